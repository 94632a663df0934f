//! The reference engine: the definition of the model, as simple as possible. Every character is an event.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, VecDeque};
use std::sync::Arc;

use fsin_core::network::Notices;
use fsin_core::topology::Topology;
use trgen::catalog::SpecError;

use crate::engine::{Base, Instants, Simulated};
use crate::params::{Params, TICKS};
use crate::rules::hosts::Loss;
use crate::rules::wires::NONE;
use crate::{EventKind, Myrinet, PortDetails};

/// The kinds of events, in their order within an instant.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Occurrence {
    /// The leading edge of a packet's character has come through the channel of a port.
    Character { port: u32, packet: u32, index: u32 },
    /// STOP or GO has come through the channel of a port.
    Mark { port: u32, is_stop: bool },
    /// Something may begin or end: a channel is free, a connection is open, a character has come completely.
    Wake,
}

/// A character in a slack buffer.
#[derive(Clone, Copy, Debug)]
struct Character {
    /// Handle of the packet.
    packet: u32,
    /// Index of the character in the packet.
    index: u32,
    /// \[ticks\] Time at which its leading edge has arrived.
    arrived: u64,
}

/// A packet on its way through a channel.
#[derive(Clone, Copy, Debug)]
struct Passing {
    packet: u32,
    /// At a host: index of the packet's next character. A switch reads it from the slack buffer.
    next: u32,
    /// At a switch: the input from which the packet comes.
    input: u32,
    /// \[ticks\] Time from which the first character may be sent.
    opens: u64,
    /// True if the first character has begun.
    has_begun: bool,
    /// \[ticks\] Time at which the GAP has been sent; `None` until the GAP begins.
    closes: Option<u64>,
}

/// A port: the channel that leaves through it, and the input of a switch.
#[derive(Clone, Default, Debug)]
struct Port {
    /// \[ticks\] Time at which the character that occupies the channel ends.
    free: u64,
    /// The packet that passes through the channel.
    passing: Option<Passing>,
    /// The input that was granted the channel last.
    granted: u32,
    /// True if the other end has sent STOP.
    is_stopped: bool,
    /// \[ticks\] Time at which the channel was last stopped.
    stopped_at: u64,
    /// True if the input of this port wants its sender to stop.
    wants_stop: bool,
    /// True if STOP, and not GO, was the last mark sent for the input of this port.
    told_stop: bool,
    /// True if a BEAT is due on the channel.
    has_beat: bool,
    /// At a switch: the slack buffer of the input.
    slack: VecDeque<Character>,
    /// True if the packet at the head of the slack buffer has a connection.
    is_connected: bool,
    /// \[characters\] Characters of packets and GAPs that have begun on the channel.
    moved: u64,
    /// Number of STOPs sent.
    stops: u64,
    /// Number of GOs sent.
    gos: u64,
    /// \[ticks\] Time for which the channel was stopped, without the present stop.
    stopped: u64,
    /// \[characters\] The most that the slack buffer has held.
    slack_max: u32,
    /// \[characters x ticks\] Sum of departure times less sum of arrival times, which is the time integral of the
    /// buffer's content once it is empty.
    area: i128,
}

/// The reference engine.
#[derive(Debug)]
struct Reference {
    base: Base,
    /// Future events, each with its time in ticks.
    events: BinaryHeap<Reverse<(u64, Occurrence)>>,
    ports: Vec<Port>,
    /// \[ticks\] By input of a switch: the times after a character's arrival from which it may leave through an output,
    /// but for 0.
    leads: Vec<Vec<u64>>,
}

/// An empty network.
///
/// # Errors
/// Settings that are out of range or do not fit the topology.
pub fn build(topology: &Arc<dyn Topology>, params: Params) -> Result<Box<dyn Myrinet>, SpecError> {
    Ok(of(Base::new(topology, params, true)?))
}

/// [`build`] without the check that slack buffers never overflow: for tests of that check.
///
/// # Errors
/// As [`build`].
pub fn unchecked(topology: &Arc<dyn Topology>, params: Params) -> Result<Box<dyn Myrinet>, SpecError> {
    Ok(of(Base::new(topology, params, false)?))
}

/// The network of this state.
pub(crate) fn of(base: Base) -> Box<dyn Myrinet> {
    Box::new(Simulated(Reference::new(base)))
}

/// \[ticks\] By output of the switch of an input: the times after a character's arrival from which it may leave there,
/// each once, and without 0.
fn leads(base: &Base, input: usize) -> Vec<u64> {
    let owner = base.wires.links()[input].owner;
    if base.wires.is_host(owner) {
        return Vec::new();
    }
    let outputs = base.wires.ports(owner as usize);
    let leads: BTreeSet<u64> = outputs.map(|output| base.wires.lead(&base.params, input, output)).collect();
    leads.into_iter().filter(|&lead| lead > 0).collect()
}

impl Reference {
    /// An empty network.
    fn new(base: Base) -> Self {
        let ports = vec![Port { granted: NONE, ..Port::default() }; base.wires.links().len()];
        let leads = (0..ports.len()).map(|input| leads(&base, input)).collect();
        Self { base, events: BinaryHeap::new(), ports, leads }
    }

    /// Schedules an event for time `at` \[ticks\].
    fn add(&mut self, at: u64, occurrence: Occurrence) {
        self.events.push(Reverse((at, occurrence)));
    }

    /// Simulates everything that happens at an instant.
    fn process_instant(&mut self, at: u64, notices: &mut Notices) {
        while let Some(&Reverse((when, occurrence))) = self.events.peek() {
            if when > at {
                break;
            }
            self.events.pop();
            match occurrence {
                Occurrence::Character { port, packet, index } => self.arrive(port, packet, index, at, notices),
                Occurrence::Mark { port, is_stop } => {
                    let input = self.base.wires.links()[port as usize].peer as usize;
                    let sender = &mut self.ports[input];
                    if sender.is_stopped {
                        sender.stopped += at - sender.stopped_at;
                    }
                    (sender.is_stopped, sender.stopped_at) = (is_stop, at);
                }
                Occurrence::Wake => {}
            }
        }
        if at == self.base.next_beat {
            self.ports.iter_mut().for_each(|port| port.has_beat = true);
            self.base.next_beat += self.base.params.beat * TICKS;
        }
        while let Some(packet) = self.base.hosts.too_old(at) {
            self.remove(packet, at, notices);
        }
        for port in 0..self.ports.len() {
            self.close(port, at, notices);
        }
        for port in 0..self.ports.len() {
            self.grant(port, at);
        }
        for port in 0..self.ports.len() {
            self.send(port, at);
        }
        for port in 0..self.ports.len() {
            self.compare(port, at);
        }
    }

    /// Handles the leading edge of a character that has come through the channel of a port.
    fn arrive(&mut self, port: u32, handle: u32, index: u32, at: u64, notices: &mut Notices) {
        let link = self.base.wires.links()[port as usize];
        let packet = *self.base.hosts.packet(handle);
        if self.base.wires.outages.contains_key(&port) {
            self.base.arriving.come(port, packet.serial, at);
            if index == packet.crc() && self.base.arriving.is_damaged(&self.base.wires, port, at) {
                self.base.hosts.damage(handle);
            }
        }
        if !link.is_to_switch {
            if index == packet.crc() {
                self.base.hosts.deliver(handle, at, notices);
            }
            if index == packet.gap() {
                self.base.hosts.gap_arrived(handle);
            }
        } else {
            let input = &mut self.ports[link.peer as usize];
            input.slack.push_back(Character { packet: handle, index, arrived: at });
            input.area -= i128::from(at);
            let wakes = self.leads[link.peer as usize].iter().map(|lead| Reverse((at + lead, Occurrence::Wake)));
            self.events.extend(wakes);
        }
    }

    /// Ends the connection of a packet through a channel if its GAP has been sent.
    fn close(&mut self, port: usize, at: u64, notices: &mut Notices) {
        let Some(Passing { packet, input, closes, .. }) = self.ports[port].passing else { return };
        if closes.is_none_or(|closes| closes > at) {
            return;
        }
        self.ports[port].passing = None;
        if input == NONE {
            self.base.hosts.sent(packet, notices);
        } else {
            self.ports[input as usize].is_connected = false;
        }
        if self.base.wires.dead[port] {
            self.base.hosts.lose(packet, Loss::DeadLink, at, notices);
        }
    }

    /// Gives an output without a connection to the next input, round robin, whose head asks for it.
    fn grant(&mut self, output: usize, at: u64) {
        let owner = self.base.wires.links()[output].owner;
        if self.base.wires.is_host(owner) || self.ports[output].passing.is_some() {
            return;
        }
        let inputs = self.base.wires.ports(owner as usize);
        let asks = |&input: &usize| {
            let Port { slack, is_connected, .. } = &self.ports[input];
            let lead = self.base.wires.lead(&self.base.params, input, output);
            let head = slack.front().filter(|head| !is_connected && head.arrived + lead <= at);
            head.is_some_and(|head| {
                self.base.hosts.output(self.base.hosts.packet(head.packet), head.index) as usize == output
            })
        };
        let granted = self.ports[output].granted as usize;
        let after = inputs.clone().filter(|&input| self.ports[output].granted != NONE && input > granted);
        let Some(input) = after.chain(inputs.clone()).find(asks) else { return };
        let Some(head) = self.ports[input].slack.pop_front() else { return };
        self.ports[input].is_connected = true;
        self.ports[input].area += i128::from(at);
        let opens = at + self.base.wires.characters[output];
        let (next, input) = (head.index + 1, input as u32);
        let passing = Passing { packet: head.packet, next, input, opens, has_begun: false, closes: None };
        self.ports[output].passing = Some(passing);
        self.ports[output].granted = input;
        self.add(opens, Occurrence::Wake);
        self.base.hosts.note(at, EventKind::Granted { output: output as u32, input });
    }

    /// Begins the next character on a channel, if the channel is free.
    fn send(&mut self, port: usize, at: u64) {
        if self.ports[port].free > at {
            return;
        }
        if self.ports[port].wants_stop != self.ports[port].told_stop {
            return self.send_mark(port, at);
        }
        if std::mem::take(&mut self.ports[port].has_beat) {
            self.base.hosts.totals.beats += 1;
            return self.occupy(port, at);
        }
        if self.ports[port].is_stopped {
            return;
        }
        let owner = self.base.wires.links()[port].owner;
        if self.base.wires.is_host(owner) && self.ports[port].passing.is_none() {
            let packet = self.base.hosts.begin(owner, at, &self.base.wires);
            let passing = Passing { packet, next: 0, input: NONE, opens: at, has_begun: false, closes: None };
            self.ports[port].passing = (packet != NONE).then_some(passing);
        }
        let Some(Passing { packet, next, input, opens, has_begun, closes }) = self.ports[port].passing else { return };
        if closes.is_some() || opens > at {
            return;
        }
        if input != NONE {
            let lead = self.base.wires.lead(&self.base.params, input as usize, port);
            let from = &mut self.ports[input as usize];
            let Some(head) = from.slack.front().filter(|head| head.arrived + lead <= at) else { return };
            debug_assert_eq!((head.packet, head.index), (packet, next), "worms do not mix");
            from.slack.pop_front();
            from.area += i128::from(at);
        }
        if !has_begun {
            self.base.cross(port);
        }
        let is_last = next == self.base.hosts.packet(packet).gap();
        if let Some(passing) = &mut self.ports[port].passing {
            passing.next += 1;
            passing.has_begun = true;
            passing.closes = is_last.then_some(at + self.base.wires.characters[port]);
        }
        self.ports[port].moved += 1;
        self.occupy(port, at);
        if !self.base.wires.dead[port] {
            let occurrence = Occurrence::Character { port: port as u32, packet, index: next };
            self.add(at + self.base.wires.delays[port], occurrence);
        }
    }

    /// Occupies a channel with a character.
    fn occupy(&mut self, port: usize, at: u64) {
        let free = at + self.base.wires.characters[port];
        self.ports[port].free = free;
        self.add(free, Occurrence::Wake);
    }

    /// Sends STOP or GO through the channel of a port.
    fn send_mark(&mut self, port: usize, at: u64) {
        let is_stop = self.ports[port].wants_stop;
        self.ports[port].told_stop = is_stop;
        *(if is_stop { &mut self.ports[port].stops } else { &mut self.ports[port].gos }) += 1;
        self.occupy(port, at);
        let arrives = self.ports[port].free + self.base.wires.delays[port];
        self.add(arrives, Occurrence::Mark { port: port as u32, is_stop });
        self.base.hosts.note(at, EventKind::Mark { port: port as u32, is_stop });
    }

    /// Compares the slack buffer of an input with its marks.
    fn compare(&mut self, input: usize, at: u64) {
        let port = &mut self.ports[input];
        let held = port.slack.len() as u32;
        port.slack_max = port.slack_max.max(held);
        if held > self.base.params.high_mark {
            port.wants_stop = true;
        } else if held < self.base.params.low_mark {
            port.wants_stop = false;
        }
        if port.wants_stop != port.told_stop && port.free <= at {
            self.send_mark(input, at);
        }
    }

    /// Removes a packet from all channels, buffers and hosts.
    fn remove(&mut self, packet: u32, at: u64, notices: &mut Notices) {
        let events = std::mem::take(&mut self.events);
        let is_of =
            |occurrence: &Occurrence| matches!(occurrence, Occurrence::Character { packet: of, .. } if *of == packet);
        self.events = events.into_iter().filter(|Reverse((_, occurrence))| !is_of(occurrence)).collect();
        for port in 0..self.ports.len() {
            let slack = &mut self.ports[port].slack;
            let before = slack.len();
            slack.retain(|character| character.packet != packet);
            let gone = before - slack.len();
            self.ports[port].area += at as i128 * gone as i128;
            if let Some(Passing { input, .. }) = self.ports[port].passing.filter(|passing| passing.packet == packet) {
                self.ports[port].passing = None;
                if input == NONE {
                    self.base.hosts.sent(packet, notices);
                } else {
                    self.ports[input as usize].is_connected = false;
                }
            }
        }
        self.base.hosts.lose(packet, Loss::TooOld, at, notices);
    }
}

impl Instants for Reference {
    fn base(&self) -> &Base {
        &self.base
    }

    fn base_mut(&mut self) -> &mut Base {
        &mut self.base
    }

    fn next_event(&mut self) -> u64 {
        self.events.peek().map_or(u64::MAX, |Reverse((at, _))| *at)
    }

    fn process(&mut self, at: u64, notices: &mut Notices) {
        self.process_instant(at, notices);
    }

    fn begin(&mut self, port: usize, at: u64) {
        // A BEAT of the empty network, which has been skipped, occupies the channel: no event tells of its end.
        let free = self.ports[port].free;
        if free > at {
            self.add(free, Occurrence::Wake);
        }
        self.send(port, at);
    }

    fn free_all(&mut self, at: u64) {
        for (port, character) in self.ports.iter_mut().zip(&self.base.wires.characters) {
            port.free = at + character;
        }
    }

    fn port(&self, port: usize, now: u64, of: PortDetails) -> PortDetails {
        let port = &self.ports[port];
        PortDetails {
            moved: port.moved,
            stops: port.stops,
            gos: port.gos,
            stopped: port.stopped + if port.is_stopped { now - port.stopped_at } else { 0 },
            slack_max: port.slack_max,
            slack_area: (port.area + port.slack.len() as i128 * i128::from(now)).unsigned_abs(),
            ..of
        }
    }

    fn held(&self, port: usize, _now: u64) -> u32 {
        self.ports[port].slack.len() as u32
    }
}
