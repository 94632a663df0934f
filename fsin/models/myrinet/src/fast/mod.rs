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

use crate::params::{Params, TICKS};
use crate::rules::hosts::{Hosts, Loss};
use crate::rules::wires::{NONE, Wires};
use crate::{EventKind, Myrinet};
use calendar::{Calendar, Event, Kind};
use state::{Input, Output, Run, Waiting};

mod buffers;
mod calendar;
mod network;
mod removal;
mod state;

/// A bit of the index of a [`Kind::Start`]: the run is the first run of its packet on the link.
const NEW: u32 = 1 << 31;

/// Builds a network.
///
/// # Errors
/// Settings that are out of range or do not fit the topology.
pub fn build(topology: &Arc<dyn Topology>, params: Params) -> Result<Box<dyn Myrinet>, SpecError> {
    Ok(Box::new(Fast::new(topology, params)?))
}

/// The fast engine.
#[derive(Debug)]
struct Fast {
    params: Params,
    wires: Wires,
    hosts: Hosts,
    /// \[ps\] Time up to which everything is simulated.
    clock: u64,
    /// \[ticks\] The same time as `clock`, but never later than the end of time.
    now: u64,
    /// \[ticks\] Time of a character.
    character: u64,
    /// \[ticks\] Time from the arrival of a character at a switch until it may leave.
    ready: u64,
    /// \[ticks\] Time of the next BEATs.
    next_beat: u64,
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
    /// \[packets\] By port: packets on its link, if that is a link of the topology, since observation began.
    crossed: Vec<u64>,
}

impl Fast {
    fn new(topology: &Arc<dyn Topology>, params: Params) -> Result<Self, SpecError> {
        let (wires, hosts) = crate::prepare(topology, &params, true)?;
        let character = params.character();
        let ports = wires.links().len();
        Ok(Self {
            outputs: vec![Output::new(); ports],
            inputs: vec![Input { output: NONE, crosses: u64::MAX, ..Input::default() }; ports],
            hosts,
            clock: 0,
            now: 0,
            character,
            ready: if params.store_character { character } else { 0 },
            next_beat: params.beat * TICKS,
            calendar: Calendar::default(),
            grants: Vec::new(),
            tries: Vec::new(),
            changed: Vec::new(),
            crossed: Vec::new(),
            params,
            wires,
        })
    }

    /// \[ticks\] The next instant at which something happens.
    #[inline]
    fn next_instant(&mut self) -> u64 {
        let deadline = self.hosts.next_deadline().unwrap_or(u64::MAX);
        self.calendar.next_at().min(deadline).min(self.next_beat)
    }

    /// Simulates everything that happens at an instant.
    fn process_instant(&mut self, at: u64, notices: &mut Notices) {
        while let Some(event) = self.calendar.pop(at, Kind::Mark) {
            let Event { kind, port, packet, index, serial, .. } = event;
            match kind {
                Kind::End => self.end(port, packet, serial, index, at),
                Kind::Start => self.start(port, packet, serial, index, at),
                Kind::Deliver => {
                    if self.inputs[port as usize].version == index && self.hosts.alive(packet, serial).is_some() {
                        self.hosts.deliver(packet, at, notices);
                        if self.hosts.packet(packet).has_passed {
                            self.hosts.gap_arrived(packet);
                        }
                    }
                }
                _ => self.mark(port, index == 1, at),
            }
        }
        if at == self.next_beat {
            self.beat(at);
        }
        while let Some(packet) = self.hosts.too_old(at) {
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
        let Some(&packet) = self.hosts.alive(handle, serial) else { return };
        let link = self.wires.links()[port as usize];
        let (first, is_new) = (index & !NEW, index & NEW != 0);
        let peer = link.peer as usize;
        if !link.is_to_switch {
            let input = &mut self.inputs[peer];
            input.version = input.version.wrapping_add(1);
            let due = at + u64::from(packet.crc() - first) * self.character;
            let version = input.version;
            let (kind, port) = (Kind::Deliver, peer as u32);
            self.calendar.add(Event { at: due, kind, port, packet: handle, index: version, serial });
            return;
        }
        self.touch(peer, at);
        let (character, ready) = (self.character, self.ready);
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
        let wants = self.hosts.output(&packet, first);
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
        if self.hosts.alive(handle, serial).is_none() {
            return;
        }
        let link = self.wires.links()[port as usize];
        let peer = link.peer as usize;
        if !link.is_to_switch {
            self.inputs[peer].version = self.inputs[peer].version.wrapping_add(1);
            return;
        }
        self.touch(peer, at);
        let input = &mut self.inputs[peer];
        let count = index - input.run.first;
        input.base += i64::from(count);
        input.area -= input.run.sum(count, self.character);
        input.run.is_on = false;
        input.closed = index;
        if input.output == NONE || input.queue.len() != 1 {
            return;
        }
        let port = input.output;
        let output = &mut self.outputs[port as usize];
        if output.run.is_on {
            output.version = output.version.wrapping_add(1);
            let due = output.run.time(index, self.character);
            self.calendar.add_for(due, Kind::Starve, port, output.version);
        }
    }

    /// Handles STOP or GO that has come through the channel of a port.
    fn mark(&mut self, port: u32, is_stop: bool, at: u64) {
        let sender = self.wires.links()[port as usize].peer;
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
        self.next_beat += self.params.beat * TICKS;
    }

    /// Ends the run of a channel, if there is one, with the last character that begins before `limit`. If that is the
    /// GAP, the run ends by itself.
    fn interrupt(&mut self, port: usize, limit: u64, at: u64) {
        let run = self.outputs[port].run;
        let next = run.first + run.before(limit, self.character);
        if !run.is_on || next == run.length {
            return;
        }
        let packet = self.outputs[port].packet;
        self.stop(port, next, at);
        let link = self.wires.links()[port];
        let crc = self.hosts.packet(packet).crc();
        if !self.wires.dead[port] && (link.is_to_switch || next <= crc) {
            let at = self.outputs[port].free + self.wires.delays[port];
            let serial = self.hosts.packet(packet).serial;
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
            input.area += run.sum(count, self.character);
        }
        let output = &mut self.outputs[port];
        output.moved += u64::from(count);
        output.next = next;
        output.free = run.time(next, self.character);
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
            self.hosts.sent(packet, notices);
            return;
        }
        self.grants.push(port);
        let from = &mut self.inputs[input as usize];
        from.queue.pop_front();
        from.output = NONE;
        self.ask_for_output(input as usize, at);
        if self.wires.dead[port as usize] {
            self.hosts.lose(packet, Loss::DeadLink, at, notices);
        } else if !self.wires.links()[port as usize].is_to_switch {
            self.hosts.gap_passed(packet);
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
        let ports = self.wires.ports(self.wires.links()[port].owner as usize);
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
        let opens = at + self.character;
        let output = &mut self.outputs[port];
        (output.packet, output.next, output.length) = (head.packet, head.first + 1, head.length);
        (output.input, output.granted) = (input as u32, input as u32);
        (output.opens, output.has_begun) = (opens, false);
        self.retry(port as u32, opens, at);
        self.hosts.note(at, EventKind::Granted { output: port as u32, input: input as u32 });
    }

    /// True if character `index` of the packet at the head of an input may be sent at instant `at`.
    #[inline]
    fn has_come(&self, input: &Input, index: u32, at: u64) -> bool {
        if input.queue.len() > 1 {
            return true;
        }
        match input.run.is_on {
            true => index < input.run.first || input.run.time(index, self.character) + self.ready <= at,
            false => index < input.closed,
        }
    }

    /// Handles a channel that may have sent all characters that had come to its input.
    fn starve(&mut self, port: u32, version: u32, at: u64) {
        let Output { version: current, input, run, .. } = self.outputs[port as usize];
        if version != current || !run.is_on {
            return;
        }
        let next = run.first + run.before(at, self.character);
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
        (run.time(last, self.character), kind)
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
            self.hosts.totals.beats += 1;
            return self.occupy(port, at);
        }
        if output.is_stopped {
            return;
        }
        if output.packet == NONE {
            let owner = self.wires.links()[port].owner;
            if !self.wires.is_host(owner) {
                return;
            }
            let packet = self.hosts.begin(owner, at, &self.wires);
            if packet == NONE {
                return;
            }
            (output.packet, output.next, output.length) = (packet, 0, self.hosts.packet(packet).length);
            (output.opens, output.has_begun) = (at, false);
        }
        let Output { packet, next, length, input, opens, has_begun, .. } = *output;
        if opens > at {
            return;
        }
        let run = Run { is_on: true, start: at, first: next, length };
        let (due, kind) = match input {
            NONE => (run.time(length, self.character), Kind::Finish),
            input => {
                let from = &self.inputs[input as usize];
                if !self.has_come(from, next, at) {
                    // The channel waits for characters that are under way. If none are, it tries again when they begin
                    // to come.
                    if from.run.is_on {
                        let due = from.run.time(next, self.character) + self.ready;
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
            self.cross(port);
        }
        let link = self.wires.links()[port];
        let whole = self.hosts.packet(packet);
        if !self.wires.dead[port] && (link.is_to_switch || next <= whole.crc()) {
            let (at, serial) = (at + self.wires.delays[port], whole.serial);
            let index = next | if has_begun { 0 } else { NEW };
            self.calendar.add(Event { at, kind: Kind::Start, port: port as u32, packet, index, serial });
        }
    }

    /// Counts a packet whose first character has begun on a link.
    fn cross(&mut self, port: usize) {
        if self.wires.links()[port].is_visible && !self.wires.dead[port] {
            self.hosts.recorder.hops(1);
            if let Some(crossed) = self.crossed.get_mut(port) {
                *crossed += 1;
            }
        }
    }

    /// Occupies a channel with a control character.
    fn occupy(&mut self, port: usize, at: u64) {
        self.outputs[port].free = at + self.character;
        self.retry(port as u32, at + self.character, at);
    }

    /// Sends STOP or GO through the channel of a port.
    fn send_mark(&mut self, port: usize, at: u64) {
        let output = &mut self.outputs[port];
        let is_stop = output.wants_stop;
        output.told_stop = is_stop;
        *(if is_stop { &mut output.stops } else { &mut output.gos }) += 1;
        self.occupy(port, at);
        let arrives = at + self.character + self.wires.delays[port];
        self.calendar.add_for(arrives, Kind::Mark, port as u32, u32::from(is_stop));
        self.hosts.note(at, EventKind::Mark { port: port as u32, is_stop });
    }
}
