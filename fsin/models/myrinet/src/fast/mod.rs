//! The fast engine: runs of characters between changes.
//!
//! A worm that has begun to pass through a channel goes on, a character in each character time, until STOP comes, a
//! control character takes its place, its input runs dry, it is removed, or it ends. Only these are events; what a
//! buffer holds in between follows from the runs into it and out of it. So a long packet costs per hop and per stop.
//!
//! An interruption is told to the other end one delay after the character that does not come: before that instant,
//! what the other end assumed was right.

use std::sync::Arc;

use fsin_core::network::Notices;
use fsin_core::topology::Topology;
use trgen::catalog::SpecError;

use crate::engine::{Base, Instants, Simulated};
use crate::params::{Params, TICKS};
use crate::rules::hosts::Loss;
use crate::rules::wires::NONE;
use crate::{EventKind, Myrinet, PortDetails};
use calendar::{Calendar, Event, Kind};
use state::{Input, Output, Run, Waiting};

mod buffers;
mod calendar;
mod removal;
mod state;

/// A bit of the index of a [`Kind::Start`]: the run is the first run of its packet on the link.
const NEW: u32 = 1 << 31;

/// Builds a network. Where links have unlike rates, a run of characters has no rate of its own: the
/// [reference engine](crate::reference) simulates such a network.
///
/// # Errors
/// Settings that are out of range or do not fit the topology.
pub fn build(topology: &Arc<dyn Topology>, params: Params) -> Result<Box<dyn Myrinet>, SpecError> {
    let base = Base::new(topology, params, true)?;
    if base.wires.are_alike() { Ok(Box::new(Simulated(Fast::new(base)))) } else { Ok(crate::reference::of(base)) }
}

/// The fast engine.
#[derive(Debug)]
struct Fast {
    base: Base,
    calendar: Calendar,
    /// By port: the channel that leaves through it.
    outputs: Vec<Output>,
    /// By port: its input.
    inputs: Vec<Input>,
    /// Outputs that may be granted at this instant.
    grants: Vec<u32>,
    /// Channels that may begin something at this instant.
    tries: Vec<u32>,
    /// Inputs that have changed at this instant.
    changed: Vec<u32>,
}

impl Fast {
    /// An empty network, whose links have one rate.
    fn new(base: Base) -> Self {
        let ports = base.wires.links().len();
        let longest = base.wires.delays.iter().copied().max().unwrap_or(0);
        let span = longest + u64::from(base.params.payload) * base.character;
        Self {
            outputs: vec![Output::new(); ports],
            inputs: vec![Input { output: NONE, crosses: u64::MAX, ..Input::default() }; ports],
            calendar: Calendar::new(span, base.character / ports as u64),
            grants: Vec::new(),
            tries: Vec::new(),
            changed: Vec::new(),
            base,
        }
    }

    /// Simulates everything that happens at an instant.
    fn process_instant(&mut self, at: u64, notices: &mut Notices) {
        while let Some(event) = self.calendar.pop(at, Kind::Mark) {
            let Event { kind, port, packet, index, serial, .. } = event;
            match kind {
                Kind::End => self.end(port, packet, serial, index, at),
                Kind::Start => self.start(port, packet, serial, index, at),
                Kind::Deliver => {
                    if self.inputs[port as usize].version == index && self.base.hosts.alive(packet, serial).is_some() {
                        let link = self.base.wires.links()[port as usize];
                        if self.base.arriving.is_damaged(&self.base.wires, link.peer, at) {
                            self.base.hosts.damage(packet);
                        }
                        if !self.base.wires.is_host(link.owner) {
                            continue;
                        }
                        self.base.hosts.deliver(packet, at, notices);
                        if self.base.hosts.packet(packet).has_passed {
                            self.base.hosts.gap_arrived(packet);
                        }
                    }
                }
                _ => self.mark(port, index == 1, at),
            }
        }
        if at == self.base.next_beat {
            self.beat(at);
        }
        while let Some(packet) = self.base.hosts.too_old(at) {
            self.remove(packet, at, notices);
        }
        while let Some(Event { kind, port, index, .. }) = self.calendar.pop(at, Kind::CrossMark) {
            match kind {
                Kind::Finish => self.finish(port, index, at, notices),
                Kind::Ask => self.ask_for_output(port as usize, at),
                Kind::Starve => self.starve(port, index, at),
                Kind::TryStart => self.tries.push(port),
                _ => {
                    if self.inputs[port as usize].crosses == at {
                        self.inputs[port as usize].crosses = u64::MAX;
                        self.touch(port as usize, at);
                    }
                }
            }
        }
        while let Some(output) = self.grants.pop() {
            self.grant(output as usize, at);
        }
        while let Some(port) = self.tries.pop() {
            self.try_start(port as usize, at);
        }
        while let Some(input) = self.changed.pop() {
            self.compare(input as usize, at);
        }
    }

    /// Handles the beginning of the arrival of a run at the input of a port.
    fn start(&mut self, port: u32, handle: u32, serial: u64, index: u32, at: u64) {
        let Some(&packet) = self.base.hosts.alive(handle, serial) else { return };
        let link = self.base.wires.links()[port as usize];
        let (first, is_new) = (index & !NEW, index & NEW != 0);
        let peer = link.peer as usize;
        let is_watched = self.base.wires.outages.contains_key(&port);
        if is_watched {
            self.base.arriving.come(port, serial, at);
        }
        if !link.is_to_switch || (is_watched && first <= packet.crc()) {
            let input = &mut self.inputs[peer];
            input.version = input.version.wrapping_add(1);
            let due = at + u64::from(packet.crc() - first) * self.base.character;
            let version = input.version;
            let (kind, port) = (Kind::Deliver, peer as u32);
            self.calendar.add(Event { at: due, kind, port, packet: handle, index: version, serial });
        }
        if !link.is_to_switch {
            return;
        }
        self.touch(peer, at);
        let (character, ready) = (self.base.character, self.base.ready);
        let input = &mut self.inputs[peer];
        let run = Run { is_on: true, start: at, first, length: packet.length };
        if !is_new {
            input.run = run;
            let output = input.output;
            // Only the first packet of the queue can be waited for.
            if output != NONE && input.queue.len() == 1 {
                self.retry(output, at + ready, at);
            }
            return;
        }
        // The packet before has come to its end.
        if input.run.is_on {
            let count = input.run.length - input.run.first;
            input.base += i64::from(count);
            input.area -= input.run.sum(count, character);
        }
        input.run = run;
        let wants = self.base.hosts.output(&packet, first);
        let asks = at + ready;
        input.queue.push_back(Waiting { packet: handle, first, length: packet.length, wants, asks });
        if input.queue.len() == 1 {
            self.ask_for_output(peer, at);
        }
    }

    /// Schedules a try of a channel to begin something, at instant `when`. The present instant is `at`.
    fn retry(&mut self, port: u32, when: u64, at: u64) {
        if when <= at {
            self.tries.push(port);
        } else if self.outputs[port as usize].tried != when {
            self.outputs[port as usize].tried = when;
            self.calendar.add_for(when, Kind::TryStart, port, 0);
        }
    }

    /// Handles the interruption of a run that arrives.
    fn end(&mut self, port: u32, handle: u32, serial: u64, index: u32, at: u64) {
        if self.base.hosts.alive(handle, serial).is_none() {
            return;
        }
        let link = self.base.wires.links()[port as usize];
        let peer = link.peer as usize;
        self.inputs[peer].version = self.inputs[peer].version.wrapping_add(1);
        if !link.is_to_switch {
            return;
        }
        self.touch(peer, at);
        let input = &mut self.inputs[peer];
        let count = index - input.run.first;
        input.base += i64::from(count);
        input.area -= input.run.sum(count, self.base.character);
        input.run.is_on = false;
        input.closed = index;
        if input.output == NONE || input.queue.len() != 1 {
            return;
        }
        let port = input.output;
        let output = &mut self.outputs[port as usize];
        if output.run.is_on {
            output.version = output.version.wrapping_add(1);
            let due = output.run.time(index, self.base.character);
            self.calendar.add_for(due, Kind::Starve, port, output.version);
        }
    }

    /// Handles STOP or GO that has come through the channel of a port.
    fn mark(&mut self, port: u32, is_stop: bool, at: u64) {
        let sender = self.base.wires.links()[port as usize].peer;
        let output = &mut self.outputs[sender as usize];
        if output.is_stopped {
            output.stopped += at - output.stopped_at;
        }
        (output.is_stopped, output.stopped_at) = (is_stop, at);
        if is_stop {
            self.interrupt(sender as usize, at, at);
        } else {
            self.tries.push(sender);
        }
    }

    /// Makes a BEAT due on every channel.
    fn beat(&mut self, at: u64) {
        for port in 0..self.outputs.len() {
            self.outputs[port].has_beat = true;
            self.interrupt(port, at, at);
            self.retry(port as u32, self.outputs[port].free.max(at), at);
        }
        self.base.next_beat += self.base.params.beat * TICKS;
    }

    /// Ends the run of a channel, if there is one, with the last character that begins before `limit`. If that is the
    /// GAP, the run ends by itself.
    fn interrupt(&mut self, port: usize, limit: u64, at: u64) {
        let run = self.outputs[port].run;
        let next = run.first + run.before(limit, self.base.character);
        if !run.is_on || next == run.length {
            return;
        }
        let packet = self.outputs[port].packet;
        self.stop(port, next, at);
        let link = self.base.wires.links()[port];
        let crc = self.base.hosts.packet(packet).crc();
        if !self.base.wires.dead[port] && (link.is_to_switch || next <= crc) {
            let at = self.outputs[port].free + self.base.wires.delays[port];
            let serial = self.base.hosts.packet(packet).serial;
            self.calendar.add(Event { at, kind: Kind::End, port: port as u32, packet, index: next, serial });
        }
    }

    /// Ends the run of a channel before character `next`. All characters before it have begun.
    fn stop(&mut self, port: usize, next: u32, at: u64) {
        let Output { input, run, .. } = self.outputs[port];
        let count = next - run.first;
        if input != NONE {
            self.touch(input as usize, at);
            let input = &mut self.inputs[input as usize];
            input.base -= i64::from(count);
            input.area += run.sum(count, self.base.character);
        }
        let output = &mut self.outputs[port];
        output.moved += u64::from(count);
        output.next = next;
        output.free = run.time(next, self.base.character);
        output.run.is_on = false;
        output.version = output.version.wrapping_add(1);
    }

    /// Handles a GAP that a channel has sent.
    fn finish(&mut self, port: u32, version: u32, at: u64, notices: &mut Notices) {
        let Output { version: current, packet, input, run, .. } = self.outputs[port as usize];
        if version != current || !run.is_on {
            return;
        }
        self.stop(port as usize, run.length, at);
        let output = &mut self.outputs[port as usize];
        (output.packet, output.input) = (NONE, NONE);
        self.tries.push(port);
        if input == NONE {
            self.base.hosts.sent(packet, notices);
            return;
        }
        self.grants.push(port);
        let from = &mut self.inputs[input as usize];
        from.queue.pop_front();
        from.output = NONE;
        self.ask_for_output(input as usize, at);
        if self.base.wires.dead[port as usize] {
            self.base.hosts.lose(packet, Loss::DeadLink, at, notices);
        } else if !self.base.wires.links()[port as usize].is_to_switch {
            self.base.hosts.gap_passed(packet);
        }
    }

    /// Lets the head of an input ask for its output, as soon as it may.
    fn ask_for_output(&mut self, input: usize, at: u64) {
        let Input { queue, output, .. } = &self.inputs[input];
        let Some(head) = queue.front().filter(|_| *output == NONE) else { return };
        if head.asks <= at {
            self.grants.push(head.wants);
        } else {
            self.calendar.add_for(head.asks, Kind::Ask, input as u32, 0);
        }
    }

    /// Gives an output without a connection to the next input, round robin, whose head asks for it.
    fn grant(&mut self, port: usize, at: u64) {
        if self.outputs[port].packet != NONE {
            return;
        }
        let ports = self.base.wires.ports(self.base.wires.links()[port].owner as usize);
        let asks = |&input: &usize| {
            let Input { queue, output, .. } = &self.inputs[input];
            *output == NONE && queue.front().is_some_and(|head| head.wants as usize == port && head.asks <= at)
        };
        let last = self.outputs[port].granted;
        let after = if last == NONE { 0..0 } else { last as usize + 1..ports.end };
        let Some(input) = after.chain(ports).find(asks) else { return };
        let Some(&head) = self.inputs[input].queue.front() else { return };
        self.touch(input, at);
        let from = &mut self.inputs[input];
        from.base -= 1;
        from.area += i128::from(at);
        from.output = port as u32;
        let opens = at + self.base.character;
        let output = &mut self.outputs[port];
        (output.packet, output.next, output.length) = (head.packet, head.first + 1, head.length);
        (output.input, output.granted) = (input as u32, input as u32);
        (output.opens, output.has_begun) = (opens, false);
        self.retry(port as u32, opens, at);
        self.base.hosts.note(at, EventKind::Granted { output: port as u32, input: input as u32 });
    }

    /// True if character `index` of the packet at the head of an input may be sent at instant `at`.
    #[inline]
    fn has_come(&self, input: &Input, index: u32, at: u64) -> bool {
        if input.queue.len() > 1 {
            return true;
        }
        match input.run.is_on {
            true => index < input.run.first || input.run.time(index, self.base.character) + self.base.ready <= at,
            false => index < input.closed,
        }
    }

    /// Handles a channel that may have sent all characters that had come to its input.
    fn starve(&mut self, port: u32, version: u32, at: u64) {
        let Output { version: current, input, run, .. } = self.outputs[port as usize];
        if version != current || !run.is_on {
            return;
        }
        let next = run.first + run.before(at, self.base.character);
        let input = &self.inputs[input as usize];
        if self.has_come(input, next, at) {
            let (due, kind) = self.foreseen(input, &run);
            self.calendar.add_for(due, kind, port, version);
        } else {
            self.interrupt(port as usize, at, at);
        }
    }

    /// The time at which the run of a channel ends, and the kind of its end, as far as these are known of the input.
    fn foreseen(&self, input: &Input, run: &Run) -> (u64, Kind) {
        let is_open = input.queue.len() > 1 || input.run.is_on || input.closed == run.length;
        let (last, kind) = if is_open { (run.length, Kind::Finish) } else { (input.closed, Kind::Starve) };
        (run.time(last, self.base.character), kind)
    }

    /// Lets a channel begin what it has to send, if it is free.
    fn try_start(&mut self, port: usize, at: u64) {
        let output = &mut self.outputs[port];
        if output.run.is_on {
            return;
        }
        if output.free > at {
            let free = output.free;
            return self.retry(port as u32, free, at);
        }
        if output.wants_stop != output.told_stop {
            return self.send_mark(port, at);
        }
        if std::mem::take(&mut output.has_beat) {
            self.base.hosts.totals.beats += 1;
            return self.occupy(port, at);
        }
        if output.is_stopped {
            return;
        }
        if output.packet == NONE {
            let owner = self.base.wires.links()[port].owner;
            if !self.base.wires.is_host(owner) {
                return;
            }
            let packet = self.base.hosts.begin(owner, at, &self.base.wires);
            if packet == NONE {
                return;
            }
            (output.packet, output.next, output.length) = (packet, 0, self.base.hosts.packet(packet).length);
            (output.opens, output.has_begun) = (at, false);
        }
        let Output { packet, next, length, input, opens, has_begun, .. } = *output;
        if opens > at {
            return;
        }
        let run = Run { is_on: true, start: at, first: next, length };
        let (due, kind) = match input {
            NONE => (run.time(length, self.base.character), Kind::Finish),
            input => {
                let from = &self.inputs[input as usize];
                if !self.has_come(from, next, at) {
                    // The channel waits for characters that are under way. If none are, it tries again when they begin
                    // to come.
                    if from.run.is_on {
                        let due = from.run.time(next, self.base.character) + self.base.ready;
                        self.retry(port as u32, due, at);
                    }
                    return;
                }
                self.touch(input as usize, at);
                self.foreseen(&self.inputs[input as usize], &run)
            }
        };
        let output = &mut self.outputs[port];
        (output.run, output.has_begun) = (run, true);
        output.version = output.version.wrapping_add(1);
        self.calendar.add_for(due, kind, port as u32, output.version);
        if !has_begun {
            self.base.cross(port);
        }
        let link = self.base.wires.links()[port];
        let whole = self.base.hosts.packet(packet);
        if !self.base.wires.dead[port] && (link.is_to_switch || next <= whole.crc()) {
            let (at, serial) = (at + self.base.wires.delays[port], whole.serial);
            let index = next | if has_begun { 0 } else { NEW };
            self.calendar.add(Event { at, kind: Kind::Start, port: port as u32, packet, index, serial });
        }
    }

    /// Occupies a channel with a control character.
    fn occupy(&mut self, port: usize, at: u64) {
        self.outputs[port].free = at + self.base.character;
        self.retry(port as u32, at + self.base.character, at);
    }

    /// Sends STOP or GO through the channel of a port.
    fn send_mark(&mut self, port: usize, at: u64) {
        let output = &mut self.outputs[port];
        let is_stop = output.wants_stop;
        output.told_stop = is_stop;
        *(if is_stop { &mut output.stops } else { &mut output.gos }) += 1;
        self.occupy(port, at);
        let arrives = at + self.base.character + self.base.wires.delays[port];
        self.calendar.add_for(arrives, Kind::Mark, port as u32, u32::from(is_stop));
        self.base.hosts.note(at, EventKind::Mark { port: port as u32, is_stop });
    }
}

impl Instants for Fast {
    fn base(&self) -> &Base {
        &self.base
    }

    fn base_mut(&mut self) -> &mut Base {
        &mut self.base
    }

    #[inline]
    fn next_event(&mut self) -> u64 {
        self.calendar.next_at()
    }

    fn process(&mut self, at: u64, notices: &mut Notices) {
        self.process_instant(at, notices);
    }

    fn begin(&mut self, port: usize, at: u64) {
        self.try_start(port, at);
    }

    fn free_all(&mut self, at: u64) {
        let free = at + self.base.character;
        self.outputs.iter_mut().for_each(|output| output.free = free);
    }

    fn port(&self, port: usize, now: u64, of: PortDetails) -> PortDetails {
        let (output, input, character) = (&self.outputs[port], &self.inputs[port], self.base.character);
        let run = self.departures(input);
        let come = input.run.sum(input.run.until(now, character), character);
        let gone = run.sum(run.until(now, character), character);
        let area = input.area - come + gone + i128::from(self.held(input, now)) * i128::from(now);
        PortDetails {
            moved: output.moved + u64::from(output.run.until(now, character)),
            stops: output.stops,
            gos: output.gos,
            stopped: output.stopped + if output.is_stopped { now - output.stopped_at } else { 0 },
            slack_max: input.max.max(self.max_held(input, now + 1)),
            slack_area: area.unsigned_abs(),
            ..of
        }
    }

    fn held(&self, port: usize, now: u64) -> u32 {
        self.held(&self.inputs[port], now) as u32
    }
}
