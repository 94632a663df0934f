//! The fast engine: packets instead of phits, changes instead of cycles.
//!
//! A started packet never pauses, so when a link takes its header in cycle s everything else is known: its header can be
//! routed at the next node from s + 1 on, its tail leaves in s + L - 1, and from s + L on the link, the output channel and
//! the space are free. The engine therefore does one thing when a header starts and one when its tail leaves, and
//! nothing for the phits in between.
//!
//! # A cycle
//! 1. Interfaces that may have something to send put a packet into a source buffer.
//! 2. Source buffers that may have something to move fill their injection queues.
//! 3. **Phase A**, at nodes with heads that are awake: heads ask, outputs are given away.
//! 4. **Phase B**, at links that are free and for which a packet waits: headers start.
//! 5. Tails that leave in this cycle, from the timing wheel: space, channels and links become free, packets arrive.
//!
//! Each step visits a list of those for whom something may have changed. A cycle in which all lists are empty is skipped.
//!
//! # What a node knows of its neighbour
//! A sender keeps the space behind each of its output channels itself, as credits in packets: one is spent when a header
//! starts, one comes back when a tail leaves the neighbour's queue. An output channel is **open** if nobody owns it and it
//! has a credit. Whole packets suffice: a channel that nobody owns has no packet arriving behind it, so L phits fit
//! exactly if fewer packets than the queue's capacity are there (one that is departing still counts: its last phit has
//! not left).
//!
//! # Who sleeps, and why waking is complete
//! A head that asked for nothing sleeps. What it could ask for depends on three things only, and each wakes it:
//! - an output channel of a port that it would take opens (somebody's tail releases it, or a credit comes back);
//! - the bubble opens: room in this node's own queue of the ring that it wants to enter. Room grows only when a tail
//!   leaves that queue (`Queue::has_room` shows that the beginning of a departure never makes room by itself);
//! - its own draws, which are functions of the packet and the node, and never change.
//!
//! A head that asked and was refused stays awake, since what it asked for has just been taken. `bubble:shortest` compares
//! free space phit by phit, which changes without events, so its heads stay awake while they are blocked.
//!
//! # Agreement
//! The [reference engine](super::reference) defines every result; property tests hold that digests and all statistics
//! are equal, bit for bit.

use trgen::{Cycle, Message, NodeId};

use super::Interface;
use super::wait::{Place, channel, cyclic_wait};
use crate::network::{Deadlock, Injected, Network, Notices};
use crate::router::RouterParams;
use crate::router::request::Requests;
use crate::stats::Recorder;
use crate::topology::{Port, Shape, Topology};

mod cycle;
mod state;
mod wheel;

use state::{Buffer, Chain, NEVER, NONE, Node, Packet, Queue};
use wheel::Wheel;

/// Most queues of a router: they are bits of a word.
pub const MAX_QUEUES: usize = 64;

/// Something that happens when a tail has moved, at the end of a cycle.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// The tail of the packet that owns this output channel (by its global number) has left.
    Left(u32),
    /// The tail of this packet, which stood in this queue (by its global number), has been consumed.
    Consumed { queue: u32, packet: u32 },
    /// Serial injection has moved a tail at this node.
    Injected(u32),
}

/// The packet-by-packet engine of the functional router.
#[derive(Debug)]
pub struct Fast {
    params: RouterParams,
    topology: Box<dyn Topology>,
    shape: Shape,
    requests: Requests,
    /// Outputs (and transit queues) of each node.
    outputs: usize,
    /// Queues of each node.
    inputs: usize,
    clock: u64,
    nodes: Vec<Node>,
    /// By node and input.
    queues: Vec<Queue>,
    /// By node and output: the input that owns it, the input that it was given to last.
    owner: Vec<u8>,
    last_winner: Vec<u8>,
    /// \[packets\] By node and output: room in the queue behind it.
    credits: Vec<u16>,
    /// By node and port: the channel that crossed the link last.
    last_vc: Vec<u8>,
    /// By node and port: inputs that sleep until an adaptive or a deterministic channel opens.
    sleepers: Vec<[u64; 2]>,
    /// By node and port: the node at the other end, and the node whose port of the same number leads here.
    downstream: Vec<u32>,
    upstream: Vec<u32>,
    /// By node and injector.
    buffers: Vec<Buffer>,
    packets: Vec<Packet>,
    vacant: Vec<u32>,
    /// By packet and dimension: hops to go.
    offsets: Vec<i16>,
    interface: Interface,
    wheel: Wheel<Event>,
    /// Nodes with heads to look at, interfaces, buffers, and (node, port) with packets that wait for the link.
    looking: Vec<u32>,
    sending: Vec<u32>,
    injecting: Vec<u32>,
    starting: Vec<u32>,
    recorder: Recorder,
    in_flight: u64,
    /// \[cycle\] The last in which a phit moves, as known so far.
    moves_until: u64,
}

impl Fast {
    /// An empty network. `params` must have passed [`RouterParams::check`] for this topology.
    ///
    /// `None` if a router has more than [`MAX_QUEUES`] queues.
    #[must_use]
    pub fn new(topology: Box<dyn Topology>, params: RouterParams) -> Option<Self> {
        let shape = topology.shape();
        let outputs = shape.ports() * params.vcs;
        let inputs = outputs + params.injectors;
        if inputs > MAX_QUEUES {
            return None;
        }
        let count = topology.nodes();
        let ports = shape.ports();
        let mut downstream = vec![NONE; count * ports];
        let mut upstream = vec![NONE; count * ports];
        let mut nodes = Vec::with_capacity(count);
        for node in 0..count {
            let mut open = 0;
            for port in 0..ports {
                if let Some(next) = topology.neighbour(NodeId::at(node), Port(port as u8)) {
                    downstream[node * ports + port] = next.0;
                    upstream[next.index() * ports + port] = node as u32;
                    open |= ((1u64 << params.vcs) - 1) << (port * params.vcs);
                }
            }
            nodes.push(Node {
                unrouted: 0,
                awake: 0,
                open,
                owned: 0,
                granted: 0,
                busy: 0,
                arrived: 0,
                sequence: 0,
                last_consumed: inputs as u8 - 1,
                consuming: false,
                listed: false,
                sending: false,
                injecting: false,
                serial: 0,
                serial_busy: false,
            });
        }
        Some(Self {
            requests: Requests::new(&params, shape),
            outputs,
            inputs,
            clock: Cycle::FIRST.0,
            nodes,
            queues: vec![Queue::EMPTY; count * inputs],
            owner: vec![0; count * outputs],
            last_winner: vec![inputs as u8 - 1; count * outputs],
            credits: vec![params.queue_packets as u16; count * outputs],
            last_vc: vec![params.vcs as u8 - 1; count * ports],
            sleepers: vec![[0; 2]; count * ports],
            downstream,
            upstream,
            buffers: vec![Buffer { waiting: Chain::EMPTY, count: 0 }; count * params.injectors],
            packets: Vec::new(),
            vacant: Vec::new(),
            offsets: Vec::new(),
            interface: Interface::new(count, params.source_queue),
            wheel: Wheel::new(u64::from(params.packet_phits)),
            looking: Vec::new(),
            sending: Vec::new(),
            injecting: Vec::new(),
            starting: Vec::new(),
            recorder: Recorder::new(count),
            in_flight: 0,
            moves_until: Cycle::FIRST.0,
            shape,
            topology,
            params,
        })
    }

    /// True if some list has somebody to look at in this cycle.
    fn has_work(&self) -> bool {
        !(self.looking.is_empty() && self.sending.is_empty() && self.injecting.is_empty() && self.starting.is_empty())
    }

    fn deadlock(&self) -> Deadlock {
        let blocked = (0..self.nodes.len() * self.inputs)
            .map(|queue| (queue / self.inputs, queue % self.inputs))
            .find(|&(node, input)| self.nodes[node].unrouted & 1 << input != 0);
        let cycle = cyclic_wait(blocked, |place| self.waits_for(place));
        Deadlock {
            since: Cycle(self.moves_until),
            in_flight: self.in_flight,
            cycle: cycle.into_iter().map(|place| channel(place, self.shape, self.params.vcs)).collect(),
        }
    }

    /// The queue whose lack of room keeps this queue's head where it is.
    fn waits_for(&self, (node, input): Place) -> Option<Place> {
        if self.nodes[node].unrouted & 1 << input == 0 {
            return None;
        }
        let packet = self.queues[node * self.inputs + input].waiting.first()?;
        let near = self.near(node);
        let head = self.head(node, input, packet);
        let output = self.requests.last_resort(&head)?;
        let index = output.index(self.params.vcs);
        if self.credits[node * self.outputs + index] == 0 {
            let next = self.downstream[node * self.shape.ports() + output.port.index()];
            return (next != NONE).then_some((next as usize, index));
        }
        (!self.requests.bubble_open(&head, output, &near)).then_some((node, index))
    }
}

impl Network for Fast {
    fn nodes(&self) -> usize {
        self.nodes.len()
    }

    fn clock(&self) -> Cycle {
        Cycle(self.clock)
    }

    fn inject(&mut self, message: Message) -> Injected {
        let packets = self.params.packets_of(message.bytes);
        let injected = self.interface.accept(message, packets, Cycle(self.clock));
        if injected == Injected::Accepted {
            if self.in_flight == 0 {
                self.moves_until = self.clock;
            }
            self.in_flight += packets;
            self.recorder.generated(packets);
            self.wake_interface(message.source.index());
        }
        injected
    }

    fn advance(&mut self, until: Cycle, notices: &mut Notices) -> Result<(), Deadlock> {
        notices.clear();
        while self.clock < until.0 {
            if self.in_flight == 0 {
                self.clock = until.0;
                break;
            }
            if !self.has_work() {
                // Nothing changes until the next tail leaves; if none will, nothing ever does.
                let next = self.wheel.next(self.clock).unwrap_or(NEVER);
                let fires = self.moves_until + self.params.watchdog_cycles;
                if next > fires && fires < until.0 {
                    self.clock = self.clock.max(fires);
                    return Err(self.deadlock());
                }
                if next >= until.0 {
                    self.clock = until.0;
                    break;
                }
                self.clock = next;
            }
            self.step(notices);
            if self.clock.saturating_sub(self.moves_until) >= self.params.watchdog_cycles {
                return Err(self.deadlock());
            }
            self.clock += 1;
            if !notices.is_empty() {
                break;
            }
        }
        Ok(())
    }

    fn in_flight(&self) -> u64 {
        self.in_flight
    }

    fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    fn recorder_mut(&mut self) -> &mut Recorder {
        &mut self.recorder
    }
}
