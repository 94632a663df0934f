//! The reference engine: what the model is, as plainly as it can be said. Every character is an event.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;

use fsin_core::network::Notices;
use fsin_core::topology::Topology;
use trgen::catalog::SpecError;

use crate::EventKind;
use crate::params::{Params, TICKS};
use crate::rules::hosts::{Hosts, Loss};
use crate::rules::wires::{NONE, Wires};

mod network;

/// What happens, by the order within an instant.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum What {
    /// The leading edge of a packet's character has come through the channel of a port.
    Character { port: u32, packet: u32, index: u32 },
    /// STOP, or GO if not, has come through the channel of a port.
    Mark { port: u32, is_stop: bool },
    /// Something may begin or end: a channel is free, a connection is open, a character has come completely.
    Wake,
}

/// A character in a slack buffer.
#[derive(Clone, Copy, Debug)]
struct Character {
    packet: u32,
    index: u32,
    /// \[ticks\] When it may leave.
    ready: u64,
}

/// A packet on its way through a channel.
#[derive(Clone, Copy, Debug)]
struct Passing {
    packet: u32,
    /// Its next character, at a host; in a switch the slack buffer knows.
    next: u32,
    /// The input from which it comes, in a switch.
    input: u32,
    /// \[ticks\] When the first character may be sent.
    opens: u64,
    has_begun: bool,
    /// \[ticks\] When the GAP has been sent.
    closes: Option<u64>,
}

/// A port: the channel that leaves through it, and the input of a switch.
#[derive(Clone, Default, Debug)]
struct Port {
    /// \[ticks\] When the character that occupies the channel ends.
    free: u64,
    passing: Option<Passing>,
    /// The input that was granted the channel last.
    granted: u32,
    is_stopped: bool,
    stopped_at: u64,
    /// What the input wants the sender to be, and has told it.
    wants_stop: bool,
    told_stop: bool,
    has_beat: bool,
    slack: VecDeque<Character>,
    /// The packet at the head of the slack buffer has a connection.
    is_connected: bool,
    moved: u64,
    stops: u64,
    gos: u64,
    stopped: u64,
    slack_max: u32,
    /// \[characters x ticks\] Departures less arrivals.
    area: i128,
}

/// The reference engine.
#[derive(Debug)]
pub struct Reference {
    params: Params,
    wires: Wires,
    hosts: Hosts,
    /// \[ps\] The instant up to which all is simulated, and \[ticks\] the same, but for the end of time.
    clock: u64,
    now: u64,
    /// \[ticks\] Time of a character, and time from its arrival until it may leave.
    character: u64,
    ready: u64,
    next_beat: u64,
    events: BinaryHeap<Reverse<(u64, What)>>,
    ports: Vec<Port>,
    /// Packets on links of the topology since observation began, by port.
    crossed: Vec<u64>,
}

impl Reference {
    /// An empty network.
    ///
    /// # Errors
    /// Settings that are out of range or do not fit the topology.
    pub fn new(topology: &Arc<dyn Topology>, params: Params) -> Result<Self, SpecError> {
        Self::with(topology, params, true)
    }

    /// The same, without the check that slack buffers never overflow: for tests of that check.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn unchecked(topology: &Arc<dyn Topology>, params: Params) -> Result<Self, SpecError> {
        Self::with(topology, params, false)
    }

    fn with(topology: &Arc<dyn Topology>, params: Params, is_checked: bool) -> Result<Self, SpecError> {
        let (wires, hosts) = crate::prepare(topology, &params, is_checked)?;
        let character = params.character();
        Ok(Self {
            ports: vec![Port { granted: NONE, ..Port::default() }; wires.links().len()],
            hosts,
            clock: 0,
            now: 0,
            character,
            ready: if params.store_character { character } else { 0 },
            next_beat: params.beat * TICKS,
            events: BinaryHeap::new(),
            crossed: Vec::new(),
            params,
            wires,
        })
    }

    fn add(&mut self, at: u64, what: What) {
        self.events.push(Reverse((at, what)));
    }

    /// \[ticks\] The next instant at which something happens.
    fn next_instant(&mut self) -> u64 {
        let deadline = self.hosts.next_deadline().unwrap_or(u64::MAX);
        let event = self.events.peek().map_or(u64::MAX, |Reverse((at, _))| *at);
        event.min(deadline).min(self.next_beat)
    }

    /// All that happens at an instant.
    fn happen(&mut self, at: u64, notices: &mut Notices) {
        while let Some(&Reverse((when, what))) = self.events.peek() {
            if when > at {
                break;
            }
            self.events.pop();
            match what {
                What::Character { port, packet, index } => self.arrive(port, packet, index, at, notices),
                What::Mark { port, is_stop } => {
                    let input = self.wires.links()[port as usize].peer as usize;
                    let sender = &mut self.ports[input];
                    if sender.is_stopped {
                        sender.stopped += at - sender.stopped_at;
                    }
                    (sender.is_stopped, sender.stopped_at) = (is_stop, at);
                }
                What::Wake => {}
            }
        }
        if at == self.next_beat {
            self.ports.iter_mut().for_each(|port| port.has_beat = true);
            self.next_beat += self.params.beat * TICKS;
        }
        while let Some(packet) = self.hosts.too_old(at) {
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

    fn arrive(&mut self, port: u32, handle: u32, index: u32, at: u64, notices: &mut Notices) {
        let link = self.wires.links()[port as usize];
        let packet = *self.hosts.packet(handle);
        if !link.is_to_switch {
            if index == packet.crc() {
                self.hosts.deliver(handle, at, notices);
            }
            if index == packet.gap() {
                self.hosts.over(handle);
            }
        } else {
            let input = &mut self.ports[link.peer as usize];
            input.slack.push_back(Character { packet: handle, index, ready: at + self.ready });
            input.area -= i128::from(at);
            if self.ready > 0 {
                self.add(at + self.ready, What::Wake);
            }
        }
    }

    /// The first character of a packet has begun on a link.
    fn cross(&mut self, port: usize) {
        if self.wires.links()[port].is_visible && !self.wires.dead[port] {
            self.hosts.recorder.hops(1);
            if let Some(crossed) = self.crossed.get_mut(port) {
                *crossed += 1;
            }
        }
    }

    /// Ends what passes through a channel, when its GAP has been sent.
    fn close(&mut self, port: usize, at: u64, notices: &mut Notices) {
        let Some(Passing { packet, input, closes, .. }) = self.ports[port].passing else { return };
        if closes.is_none_or(|closes| closes > at) {
            return;
        }
        self.ports[port].passing = None;
        if input == NONE {
            self.hosts.sent(packet, notices);
        } else {
            self.ports[input as usize].is_connected = false;
        }
        if self.wires.dead[port] {
            self.hosts.lose(packet, Loss::DeadLink, at, notices);
        }
    }

    /// Gives an output without a connection to the next input, round robin, whose head asks for it.
    fn grant(&mut self, output: usize, at: u64) {
        let owner = self.wires.links()[output].owner;
        if self.wires.is_host(owner) || self.ports[output].passing.is_some() {
            return;
        }
        let inputs = self.wires.ports(owner as usize);
        let asks = |&input: &usize| {
            let Port { slack, is_connected, .. } = &self.ports[input];
            let head = slack.front().filter(|head| !is_connected && head.ready <= at);
            head.is_some_and(|head| self.hosts.output(self.hosts.packet(head.packet), head.index) as usize == output)
        };
        let granted = self.ports[output].granted as usize;
        let after = inputs.clone().filter(|&input| self.ports[output].granted != NONE && input > granted);
        let Some(input) = after.chain(inputs.clone()).find(asks) else { return };
        let Some(head) = self.ports[input].slack.pop_front() else { return };
        self.ports[input].is_connected = true;
        self.ports[input].area += i128::from(at);
        let opens = at + self.character;
        let (next, input) = (head.index + 1, input as u32);
        let passing = Passing { packet: head.packet, next, input, opens, has_begun: false, closes: None };
        self.ports[output].passing = Some(passing);
        self.ports[output].granted = input;
        self.add(opens, What::Wake);
        self.hosts.note(at, EventKind::Granted { output: output as u32, input });
    }

    /// Begins the next character of a channel that is free.
    fn send(&mut self, port: usize, at: u64) {
        if self.ports[port].free > at {
            return;
        }
        if self.ports[port].wants_stop != self.ports[port].told_stop {
            return self.tell(port, at);
        }
        if std::mem::take(&mut self.ports[port].has_beat) {
            self.hosts.totals.beats += 1;
            return self.occupy(port, at);
        }
        if self.ports[port].is_stopped {
            return;
        }
        let owner = self.wires.links()[port].owner;
        if self.wires.is_host(owner) && self.ports[port].passing.is_none() {
            let packet = self.hosts.begin(owner, at, &self.wires);
            let passing = Passing { packet, next: 0, input: NONE, opens: at, has_begun: false, closes: None };
            self.ports[port].passing = (packet != NONE).then_some(passing);
        }
        let Some(Passing { packet, next, input, opens, has_begun, closes }) = self.ports[port].passing else { return };
        if closes.is_some() || opens > at {
            return;
        }
        if input != NONE {
            let from = &mut self.ports[input as usize];
            let Some(head) = from.slack.front().filter(|head| head.ready <= at) else { return };
            debug_assert_eq!((head.packet, head.index), (packet, next), "worms do not mix");
            from.slack.pop_front();
            from.area += i128::from(at);
        }
        if !has_begun {
            self.cross(port);
        }
        let is_last = next == self.hosts.packet(packet).gap();
        if let Some(passing) = &mut self.ports[port].passing {
            passing.next += 1;
            passing.has_begun = true;
            passing.closes = is_last.then_some(at + self.character);
        }
        self.ports[port].moved += 1;
        self.occupy(port, at);
        if !self.wires.dead[port] {
            let what = What::Character { port: port as u32, packet, index: next };
            self.add(at + self.wires.delays[port], what);
        }
    }

    /// A character occupies a channel.
    fn occupy(&mut self, port: usize, at: u64) {
        self.ports[port].free = at + self.character;
        self.add(at + self.character, What::Wake);
    }

    /// Sends STOP or GO.
    fn tell(&mut self, port: usize, at: u64) {
        let is_stop = self.ports[port].wants_stop;
        self.ports[port].told_stop = is_stop;
        *(if is_stop { &mut self.ports[port].stops } else { &mut self.ports[port].gos }) += 1;
        self.occupy(port, at);
        let arrives = at + self.character + self.wires.delays[port];
        self.add(arrives, What::Mark { port: port as u32, is_stop });
        self.hosts.note(at, EventKind::Mark { port: port as u32, is_stop });
    }

    /// Compares the slack buffer of an input with its marks.
    fn compare(&mut self, input: usize, at: u64) {
        let port = &mut self.ports[input];
        let held = port.slack.len() as u32;
        port.slack_max = port.slack_max.max(held);
        if held > self.params.high_mark {
            port.wants_stop = true;
        } else if held < self.params.low_mark {
            port.wants_stop = false;
        }
        if port.wants_stop != port.told_stop && port.free <= at {
            self.tell(input, at);
        }
    }

    /// Removes a packet everywhere.
    fn remove(&mut self, packet: u32, at: u64, notices: &mut Notices) {
        let events = std::mem::take(&mut self.events);
        let is_of = |what: &What| matches!(what, What::Character { packet: of, .. } if *of == packet);
        self.events = events.into_iter().filter(|Reverse((_, what))| !is_of(what)).collect();
        for port in 0..self.ports.len() {
            let slack = &mut self.ports[port].slack;
            let before = slack.len();
            slack.retain(|character| character.packet != packet);
            let gone = before - slack.len();
            self.ports[port].area += at as i128 * gone as i128;
            if let Some(Passing { input, .. }) = self.ports[port].passing.filter(|passing| passing.packet == packet) {
                self.ports[port].passing = None;
                if input == NONE {
                    self.hosts.sent(packet, notices);
                } else {
                    self.ports[input as usize].is_connected = false;
                }
            }
        }
        self.hosts.lose(packet, Loss::TooOld, at, notices);
    }
}
