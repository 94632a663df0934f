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
//! 3. At nodes where something may have changed: heads that are awake ask and outputs are given away (phase A of the
//!    model); then links that are free take the header of a packet that waits for them (its phase B).
//! 4. Tails that leave in this cycle, from the timing wheel: space, channels and links become free, packets arrive.
//!
//! Each step visits a list. A cycle in which all lists are empty is skipped.
//!
//! Step 3 does both phases node by node, although phase B of one node comes before phase A of another. It may, because
//! what a starting header changes elsewhere cannot be seen in the same cycle: it enters the neighbour's queue, whose head
//! is looked at in the next cycle (each node has two sets of awake inputs, filled and looked at by turns), and
//! `Queue::has_room` does not count a packet that arrives in the very cycle.
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
//! - its own draws, which are functions of the packet and the node.
//!
//! A head that asked and was refused stays awake, since what it asked for has just been taken. So does a head that may
//! change its mind without an event ([`Requests::may_change_its_mind`]): `bubble:shortest` compares free space phit by
//! phit, and `bubble:smart` draws anew in every cycle.
//!
//! # Agreement
//! The [reference engine](super::reference) defines every result; property tests hold that digests and all statistics
//! are equal, bit for bit.

use trgen::{Cycle, Message, NodeId};

use super::Interface;
use super::wait::{Place, channel, cyclic_wait};
use crate::network::{Deadlock, Injected, Network, Notices};
use crate::router::RouterParams;
use crate::router::request::{OutputVc, Requests};
use crate::stats::Recorder;
use crate::topology::{Port, Shape, Topology};

mod cycle;
mod state;
mod wheel;

use state::{Buffer, Chain, Channel, Endpoint, Link, NONE, Node, Packet, Queue};
use wheel::Wheel;

/// Most queues of a router: they are bits of a word, and one bit is for other use.
pub const MAX_QUEUES: usize = 63;

/// What happens at the end of a cycle, when a tail has moved: the kind in the lowest two bits, above them the global
/// number of an output channel, a queue or a node.
mod event {
    /// The tail of the packet that owns this output channel has left.
    pub(super) const LEFT: u64 = 0;
    /// The tail of the packet that was leaving this queue has been consumed.
    pub(super) const CONSUMED: u64 = 1;
    /// Serial injection has moved a tail at this node.
    pub(super) const INJECTED: u64 = 2;
}

/// The packet-by-packet engine of the functional router.
///
/// Queues and output channels are numbered globally by node and local number, and links by node and port; the local part
/// takes a power of two, so that taking a number apart needs no division.
#[derive(Debug)]
pub struct Fast {
    params: RouterParams,
    topology: Box<dyn Topology>,
    shape: Shape,
    requests: Requests,
    /// Outputs (and transit queues) of each node.
    outputs: usize,
    /// log2 of the span of local queue numbers, and of local link numbers.
    queue_bits: u32,
    link_bits: u32,
    /// By local output: its channel, and its place in a mask of the node's outputs when moved to its port's first.
    channel_of: [OutputVc; 64],
    /// \[phits\] Length of a packet less one: the tail leaves so many cycles after the header.
    tail: u64,
    clock: u64,
    /// Which of each node's two sets of awake inputs is filled now.
    turn: usize,
    nodes: Vec<Node>,
    endpoints: Vec<Endpoint>,
    queues: Vec<Queue>,
    channels: Vec<Channel>,
    links: Vec<Link>,
    /// By node and injector.
    buffers: Vec<Buffer>,
    packets: Vec<Packet>,
    vacant: Vec<u32>,
    /// By packet and dimension: hops to go.
    offsets: Vec<i16>,
    interface: Interface,
    wheel: Wheel<u64>,
    /// Nodes with heads to look at, interfaces, and buffers.
    looking: Vec<u32>,
    sending: Vec<u32>,
    injecting: Vec<u32>,
    /// By output: the inputs that ask for it, while a node decides.
    asking: [u64; 64],
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
        let queue_bits = inputs.next_power_of_two().trailing_zeros();
        let link_bits = shape.ports().next_power_of_two().trailing_zeros();
        let link = Link { sleepers: [0; 2], downstream: NONE, upstream: NONE, last_vc: params.vcs as u8 - 1 };
        let mut links = vec![link; count << link_bits];
        let mut nodes = Vec::with_capacity(count);
        for node in 0..count {
            let mut open = 0;
            for port in 0..shape.ports() {
                if let Some(next) = topology.neighbour(NodeId::at(node), Port(port as u8)) {
                    links[node << link_bits | port].downstream = next.0;
                    links[next.index() << link_bits | port].upstream = node as u32;
                    open |= ((1u64 << params.vcs) - 1) << (port * params.vcs);
                }
            }
            nodes.push(Node { unrouted: 0, awake: [0; 2], open, owned: 0, granted: 0, busy: 0, freed: 0 });
        }
        let endpoint = Endpoint {
            sequence: 0,
            arrived: 0,
            last_consumed: inputs as u8 - 1,
            consuming: false,
            sending: false,
            injecting: false,
            serial: 0,
            serial_busy: false,
        };
        let channel = Channel { owner: 0, last_winner: inputs as u8 - 1, credits: params.queue_packets as u16 };
        Some(Self {
            requests: Requests::new(&params, shape),
            outputs,
            queue_bits,
            link_bits,
            channel_of: std::array::from_fn(|output| OutputVc::at(output, params.vcs)),
            tail: u64::from(params.packet_phits) - 1,
            clock: Cycle::FIRST.0,
            turn: 0,
            nodes,
            endpoints: vec![endpoint; count],
            queues: vec![Queue::EMPTY; count << queue_bits],
            channels: vec![channel; count << queue_bits],
            links,
            buffers: vec![Buffer { waiting: Chain::EMPTY, count: 0 }; count * params.injectors],
            packets: Vec::new(),
            vacant: Vec::new(),
            offsets: Vec::new(),
            interface: Interface::new(count, params.source_queue),
            wheel: Wheel::new(u64::from(params.packet_phits)),
            looking: Vec::new(),
            sending: Vec::new(),
            injecting: Vec::new(),
            asking: [0; 64],
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
        !(self.looking.is_empty() && self.sending.is_empty() && self.injecting.is_empty())
    }

    fn deadlock(&self) -> Deadlock {
        let blocked = self
            .nodes
            .iter()
            .enumerate()
            .find(|(_, node)| node.unrouted != 0)
            .map(|(place, node)| (place, node.unrouted.trailing_zeros() as usize));
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
        let packet = self.queues[node << self.queue_bits | input].waiting.first()?;
        let near = self.near(node);
        let head = self.head(node, input, packet);
        let output = self.requests.last_resort(&head)?;
        let index = output.index(self.params.vcs);
        if self.channels[node << self.queue_bits | index].credits == 0 {
            let next = self.links[node << self.link_bits | output.port.index()].downstream;
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
                let next = self.wheel.next(self.clock).unwrap_or(u64::MAX);
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
