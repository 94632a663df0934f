//! The reference engine: every phit of every queue, every cycle, in the order in which the model is stated.
//!
//! It defines the model for other engines, so it is written to be read, not to be fast. A cycle has two phases. In
//! phase A every node makes its decisions from the state at the end of the previous cycle; in phase B phits move. No
//! decision of phase A changes what another node can see in phase A. No phit moves twice in phase B: a phit that a link
//! is about to take arrived at least one cycle before. So the order in which nodes are visited does not matter.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use trgen::{Cycle, NodeId};

use super::messages::{Slot, Unsent};
use crate::router::arbitration::{Contender, arbiter_key, round_robin, transit_first, winner};
use crate::router::congestion::{GlobalControl, Timer};
use crate::router::hop_delays::HopDelays;
use crate::router::layout::AnySize;
use crate::router::request::{Head, Input, OutputState, OutputVc, RouteRules, injector_key, packet_key, source_key};
use crate::router::{CheckedParams, Consumption, Inject, Interface, RouterParams, SourceQueue};
use fsin_core::failures::{Outage, Reconfiguration};
use fsin_core::interface::Lane;
use fsin_core::messages::Messages;
use fsin_core::network::Notices;
use fsin_core::topology::switched::{Pace, PacedLink};
use fsin_core::topology::{Offsets, Port, Shape, Topology};

mod local_view;
mod moving;
mod network;

use local_view::LocalView;

/// A packet under way. Phits refer to it by index.
#[derive(Clone, Debug)]
struct Packet {
    /// The message to which the packet belongs.
    message: Slot,
    source: NodeId,
    destination: NodeId,
    /// Number of the packet among the packets of its source.
    sequence: u64,
    /// Random stream of (run seed, packet).
    key: u64,
    /// \[hops\] Hops to go in each dimension; in a network of switches, the state for the routing function.
    offsets: Offsets,
    /// \[cycle\] Cycle from which the packet's delay counts.
    start: Cycle,
    /// \[hops\] Hops made so far.
    hops: u64,
    /// \[cycle\] Cycle from which the header can request an output at its present node. Until then the header is on the
    /// link.
    ready: Cycle,
    /// True if the packet's message has more than one packet.
    long: bool,
}

/// A phit in a queue.
#[derive(Clone, Copy, Debug)]
struct Phit {
    /// Index of its packet in [`Reference::packets`].
    packet: usize,
    /// Position in the packet: 0 is the header, L-1 the tail.
    index: u32,
    /// \[cycle\] Cycle from which it can leave its present queue. Until then it is on the link.
    ready: Cycle,
}

/// What the packet at the head of an input has been granted, from header to tail.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Grant {
    /// An output channel.
    Output(OutputVc),
    /// Ejection at this node.
    Consumption,
}

/// A physical output link, shared by its virtual channels packet by packet.
#[derive(Clone, Copy, Debug)]
struct Link {
    /// The channel whose packet is crossing.
    current: Option<u8>,
    /// The channel that crossed last.
    last: u8,
    /// When it passes phits.
    paced: PacedLink,
    /// True if the tail of the current packet has left its queue. The channel and the link become free in the cycle
    /// before the link can begin another phit.
    is_ending: bool,
    /// \[cycle\] When the header of the current packet comes off the link.
    off: Cycle,
}

/// The state of a node.
#[derive(Clone, Debug)]
struct Node {
    /// \[messages\] Messages at the node's interface.
    unsent: u32,
    /// Packets that this node has sent so far.
    sequence: u64,
    /// Messages at the node's interface, by lane.
    lanes: Vec<Lane<Unsent>>,
    /// By injector: its source buffer, as indices of packets.
    buffers: Vec<VecDeque<usize>>,
    /// Queues of phits: transit queues in the order of [`OutputVc::index`], then injection queues.
    queues: Vec<VecDeque<Phit>>,
    /// \[packets\] By queue: packets whose header has entered it and whose tail has not left it.
    held: Vec<u32>,
    /// By queue: the grant of the packet at its head.
    grants: Vec<Option<Grant>>,
    /// \[cycle\] By queue: the cycle of the first request of the header at its head; `None` if no header there requests
    /// an output.
    since: Vec<Option<Cycle>>,
    /// By queue: its bet, for routings that keep bets.
    bets: Vec<u8>,
    /// By output channel: the queue whose packet owns it.
    owner: Vec<Option<usize>>,
    /// By output channel: the queue with the last grant.
    last_winner: Vec<usize>,
    /// By port: its link.
    links: Vec<Link>,
    /// The queue that last won an ejection port.
    last_consumed: usize,
    /// Serial injection: the injector served last, and the next phit of the packet that is moving.
    serial: (usize, Option<Phit>),
    /// Congestion timer of the node; `None` without timeouts.
    timer: Option<Timer>,
}

impl Node {
    /// \[phits\] Occupied space of a queue: that of its phits, or that of its packets where links are paced.
    fn occupied(&self, queue: usize, params: &RouterParams, is_paced: bool) -> u32 {
        if is_paced { self.held[queue] * params.packet_phits } else { self.queues[queue].len() as u32 }
    }

    /// \[packets\] Packets at the node's interface.
    fn packets_unsent(&self) -> u64 {
        self.lanes.iter().flat_map(Lane::all).map(|message| message.packets).sum()
    }
}

/// The phit-by-phit engine of the functional router.
#[derive(Debug)]
pub struct Reference {
    params: RouterParams,
    topology: Arc<dyn Topology>,
    shape: Shape,
    /// The rules by which heads request outputs.
    requests: RouteRules<AnySize>,
    hop_delays: HopDelays,
    /// The rules after failures and repairs of links.
    reconfiguration: Reconfiguration<RouteRules<AnySize>>,
    /// Links that are dead at times, by the node and port that they leave.
    outages: BTreeMap<(NodeId, Port), Outage>,
    /// True if some link passes less than a phit in each cycle. Room in queues is counted in whole packets then.
    is_paced: bool,
    /// Congestion control of the whole network; `None` if there is none.
    control: Option<GlobalControl>,
    clock: Cycle,
    nodes: Vec<Node>,
    /// All packets under way. Phits refer to them by index.
    packets: Vec<Packet>,
    /// Indices of free entries of `packets`.
    vacant: Vec<usize>,
    /// Messages under way, and the record.
    messages: Messages,
    /// \[packets\] Packets whose header has left its injection queue and whose tail has not been ejected.
    in_network: u64,
    /// \[cycle\] The last cycle in which a phit moved, or will move on a link.
    last_moved: Cycle,
    /// \[packets\] Headers that crossed each link, by node and port; empty unless link statistics are enabled.
    crossed: Vec<u64>,
}

impl Reference {
    /// An empty network of this topology, for which `checked` was checked.
    #[must_use]
    pub fn new(topology: impl Into<Arc<dyn Topology>>, checked: CheckedParams) -> Self {
        let topology = topology.into();
        let params: &RouterParams = &checked;
        let shape = topology.shape();
        let layout = AnySize { shape, vcs: params.vcs };
        let outputs = shape.ports() * params.vcs;
        let inputs = outputs + params.injectors;
        let paced = PacedLink::new(Pace::FULL);
        let link = Link { current: None, last: params.vcs as u8 - 1, paced, is_ending: false, off: Cycle::FIRST };
        let node = Node {
            sequence: 0,
            unsent: 0,
            lanes: vec![Lane::new(params.interface.in_progress()); params.interface.lanes(shape.ports())],
            buffers: vec![VecDeque::new(); params.injectors],
            queues: vec![VecDeque::new(); inputs],
            held: vec![0; inputs],
            grants: vec![None; inputs],
            bets: vec![0; inputs],
            since: vec![None; inputs],
            owner: vec![None; outputs],
            last_winner: vec![inputs - 1; outputs],
            links: vec![link; shape.ports()],
            last_consumed: inputs - 1,
            serial: (0, None),
            timer: params.timeouts.map(|limits| Timer::new(limits, outputs)),
        };
        let mut nodes = vec![node; topology.nodes()];
        let network = topology.switched().filter(|network| network.is_paced());
        if let Some(network) = network {
            for (number, node) in nodes.iter_mut().enumerate() {
                for (port, link) in node.links.iter_mut().enumerate() {
                    link.paced = PacedLink::new(network.pace(NodeId::at(number), Port::at(port)));
                }
            }
        }
        Self {
            is_paced: network.is_some(),
            hop_delays: HopDelays::new(params, &*topology),
            control: GlobalControl::new(params, &*topology),
            requests: RouteRules::new(&checked, layout, &*topology),
            reconfiguration: Reconfiguration::new(RouteRules::later(&checked, layout, &*topology)),
            outages: params.timetable.outages(),
            clock: Cycle::FIRST,
            nodes,
            packets: Vec::new(),
            vacant: Vec::new(),
            messages: Messages::new(topology.endpoints()),
            in_network: 0,
            last_moved: Cycle::FIRST,
            crossed: Vec::new(),
            params: checked.into_params(),
            topology,
            shape,
        }
    }

    /// Packets in the network, source buffers and interfaces, counted one by one: for tests of conservation.
    #[must_use]
    pub fn count_packets(&self) -> u64 {
        let waiting: u64 = self.nodes.iter().map(Node::packets_unsent).sum();
        let mut seen = vec![false; self.packets.len()];
        for node in &self.nodes {
            for &packet in node.buffers.iter().flatten() {
                seen[packet] = true;
            }
            for phit in node.queues.iter().flatten().chain(&node.serial.1) {
                seen[phit.packet] = true;
            }
        }
        waiting + seen.iter().filter(|&&is| is).count() as u64
    }

    /// Number of output channels of a node, which is also its number of transit queues.
    fn outputs(&self) -> usize {
        self.shape.ports() * self.params.vcs
    }

    /// \[phits\] Free space of a queue.
    fn space(&self, node: NodeId, queue: usize) -> u32 {
        self.params.queue_phits() - self.nodes[node.index()].occupied(queue, &self.params, self.is_paced)
    }

    /// Makes the failures and repairs before the next cycle, and lets new routes take effect if the network is empty.
    fn reconfigure(&mut self, notices: &mut Notices) {
        while self.reconfiguration.change(self.clock.0) {
            self.messages.recorder.mark(self.clock);
        }
        if self.messages.begun() > 0 {
            return;
        }
        let Some(requests) = self.reconfiguration.renew(self.clock.0) else { return };
        for (source, node) in self.nodes.iter_mut().enumerate() {
            let reaches = |message: &Unsent| requests.reaches(&*self.topology, NodeId::at(source), message.destination);
            for lane in &mut node.lanes {
                let lost: Vec<Unsent> = lane.all().filter(|message| !reaches(message)).copied().collect();
                lane.retain(reaches);
                node.unsent -= lost.len() as u32;
                for Unsent { slot, packets, .. } in lost {
                    self.messages.abandon(slot, packets, 0, notices);
                }
            }
        }
        self.requests = requests;
    }

    /// Simulates one cycle.
    fn cycle(&mut self, notices: &mut Notices) {
        let (now, in_network) = (self.clock.0, self.in_network);
        let is_tripped = self.control.as_mut().is_some_and(|control| control.is_tripped(now, in_network));
        for node in 0..self.topology.endpoints() {
            if !is_tripped && !self.reconfiguration.is_held() {
                for lane in 0..self.nodes[node].lanes.len() {
                    self.generate(node, lane, notices);
                }
            }
            self.inject_packets(node);
        }
        for node in 0..self.nodes.len() {
            let standing = self.standing(node);
            let requests = self.request(node);
            self.arbitrate(node, &requests);
            self.step_timer(node, &standing);
        }
        for node in 0..self.nodes.len() {
            self.consume(node, notices);
            self.move_phits(node);
        }
    }

    /// Phase A, 1: one packet of the message in turn in a lane enters an injector's source buffer, if it fits.
    fn generate(&mut self, node: usize, lane: usize, notices: &mut Notices) {
        let outputs = self.outputs();
        let params = &self.params;
        let this = &mut self.nodes[node];
        let source = NodeId::at(node);
        let source_key = source_key(params.seed, source);
        let key = packet_key(source_key, this.sequence);
        let (serving, moving) = this.serial;
        // A packet that is moving occupies the buffer with the phits that have not moved.
        let buffered = |injector: usize| {
            let rest = moving.filter(|_| serving == injector).map_or(0, |phit| params.packet_phits - phit.index);
            this.buffers[injector].len() as u32 * params.packet_phits + rest
        };
        let room = (params.injection_queue_packets - 1) * params.packet_phits;
        let has_room = |injector: usize| buffered(injector) <= room;
        let is_paced = self.is_paced;
        let occupied = |injector: usize| match is_paced {
            true => (this.buffers[injector].len() as u32 + this.held[outputs + injector]) * params.packet_phits,
            false => buffered(injector) + this.queues[outputs + injector].len() as u32,
        };
        let place = |message: &Unsent| {
            let way = injector_key(key, self.clock.0);
            let injector = match params.interface {
                Interface::PerPort => lane,
                Interface::Serial | Interface::Interleaved(_) => params.injection.injector(
                    (params.order, self.shape),
                    &self.requests.route(&*self.topology, source, message.destination, way)[..self.shape.dimensions],
                    params.injectors,
                    has_room,
                    occupied,
                ),
            };
            has_room(injector).then_some(injector)
        };
        let Some((injector, message)) = this.lanes[lane].next(place, Unsent::rest) else { return };
        let offsets = match params.interface {
            Interface::PerPort => self.requests.route_of_pair(&*self.topology, source, message.destination, source_key),
            Interface::Serial | Interface::Interleaved(_) => {
                self.requests.route(&*self.topology, source, message.destination, key)
            }
        };
        let packet = Packet {
            message: message.slot,
            source,
            destination: message.destination,
            sequence: this.sequence,
            key,
            offsets,
            start: match self.params.source_queue {
                SourceQueue::Throttled => self.clock,
                SourceQueue::Open => message.offered,
            },
            hops: 0,
            ready: self.clock,
            long: message.is_long,
        };
        this.sequence += 1;
        let position = match self.vacant.pop() {
            Some(position) => {
                self.packets[position] = packet;
                position
            }
            None => {
                self.packets.push(packet);
                self.packets.len() - 1
            }
        };
        this.buffers[injector].push_back(position);
        if message.packets == 1 {
            self.messages.sent(message.slot, notices);
            this.unsent -= 1;
        }
        self.messages.recorder.injected(1);
    }

    /// Phase A, 2: packets move from the source buffers to the injection queues.
    fn inject_packets(&mut self, node: usize) {
        let outputs = self.outputs();
        let length = self.params.packet_phits;
        let capacity = self.params.queue_phits() as usize;
        let injectors = self.params.injectors;
        let this = &mut self.nodes[node];
        match self.params.inject {
            Inject::Parallel => {
                for injector in 0..injectors {
                    let queue = &mut this.queues[outputs + injector];
                    while queue.len() + length as usize <= capacity
                        && let Some(packet) = this.buffers[injector].pop_front()
                    {
                        queue.extend((0..length).map(|index| Phit { packet, index, ready: self.clock }));
                        this.held[outputs + injector] += 1;
                    }
                }
            }
            Inject::Serial => {
                let (mut injector, mut moving) = this.serial;
                if moving.is_none() {
                    // One phit of room is enough to start: a packet that is leaving the queue goes on doing so, a phit
                    // in each cycle, so that the one that follows it never has to pause. Slow links need room for all
                    // of it.
                    let needed = if self.is_paced { length as usize } else { 1 };
                    let ready = |injector: usize| {
                        !this.buffers[injector].is_empty() && this.queues[outputs + injector].len() + needed <= capacity
                    };
                    let Some(next) = round_robin(injectors, injector, ready) else { return };
                    injector = next;
                    let ready = self.clock;
                    moving = this.buffers[injector].pop_front().map(|packet| Phit { packet, index: 0, ready });
                    this.held[outputs + injector] += u32::from(moving.is_some());
                }
                if let Some(phit) = moving {
                    this.queues[outputs + injector].push_back(phit);
                    let rest = phit.index + 1 < length;
                    moving = rest.then_some(Phit { index: phit.index + 1, ready: self.clock.next(), ..phit });
                }
                this.serial = (injector, moving);
            }
        }
    }

    /// The packet whose header stands at the head of a queue and can request an output: it has arrived and has no grant
    /// yet.
    fn unrouted(&self, node: usize, queue: usize) -> Option<&Packet> {
        let this = &self.nodes[node];
        let phit = this.queues[queue].front().filter(|phit| phit.index == 0 && this.grants[queue].is_none())?;
        Some(&self.packets[phit.packet]).filter(|packet| packet.ready <= self.clock)
    }

    /// A packet at the head of a queue, as the rules see it.
    fn head<'a>(&self, node: usize, queue: usize, packet: &'a Packet) -> Head<'a> {
        let input = if queue < self.outputs() {
            Input::Transit(OutputVc::at(queue, self.params.vcs))
        } else {
            Input::Injection
        };
        Head {
            node: NodeId::at(node),
            input,
            queue,
            source: packet.source,
            destination: packet.destination,
            offsets: &packet.offsets[..self.shape.dimensions],
            key: packet.key,
            now: self.clock.0,
            long: packet.long,
        }
    }

    /// Phase A, 3: route computation. Returns the request of every queue.
    fn request(&mut self, node: usize) -> Vec<Option<Grant>> {
        let mut bets = std::mem::take(&mut self.nodes[node].bets);
        let view = LocalView { engine: self, node: NodeId::at(node) };
        let ask = |(queue, bet): (usize, &mut u8)| {
            let packet = self.unrouted(node, queue)?;
            if packet.destination.index() == node {
                return Some(Grant::Consumption);
            }
            self.requests.request(&self.head(node, queue, packet), bet, &view).map(Grant::Output)
        };
        let requests = bets.iter_mut().enumerate().map(ask).collect();
        self.nodes[node].bets = bets;
        requests
    }

    /// A queue as an arbiter sees it; `None` if no header at its head makes a request.
    fn contender(&self, node: usize, queue: usize) -> Option<Contender> {
        let packet = self.unrouted(node, queue)?;
        let this = &self.nodes[node];
        Some(Contender {
            since: this.since[queue].unwrap_or(self.clock).0,
            phits: this.occupied(queue, &self.params, self.is_paced),
            start: packet.start.0,
            vc: (queue < self.outputs()).then(|| OutputVc::at(queue, self.params.vcs).vc),
        })
    }

    /// Phase A, 4: allocation of ejection ports, then of each free output channel.
    fn arbitrate(&mut self, node: usize, requests: &[Option<Grant>]) {
        let outputs = self.outputs();
        let inputs = requests.len();
        let contenders: Vec<Option<Contender>> = (0..inputs).map(|queue| self.contender(node, queue)).collect();
        let view = LocalView { engine: self, node: NodeId::at(node) };
        let priority = if view.restricts() { self.params.in_transit_priority } else { 0.0 };
        let this = &mut self.nodes[node];
        for (since, contender) in this.since.iter_mut().zip(&contenders) {
            *since = contender.map(|contender| Cycle(contender.since));
        }
        let choose = |last: usize, key: u64, asks: &dyn Fn(usize) -> bool| {
            let contender = |queue: usize| contenders[queue].expect("who asks is a header at the head of its queue");
            winner(self.params.arbitration, inputs, last, key, asks, contender)
        };
        let key = |output: usize| arbiter_key(self.params.seed, node as u32, output, self.clock.0);
        match self.params.consumption {
            Consumption::Multiple => {
                for (grant, request) in this.grants.iter_mut().zip(requests) {
                    if *request == Some(Grant::Consumption) {
                        *grant = *request;
                    }
                }
            }
            Consumption::Ports(ports) => {
                let busy = this.grants.iter().filter(|grant| **grant == Some(Grant::Consumption)).count();
                for _ in busy..ports as usize {
                    let grants = &this.grants;
                    let arrived = |queue: usize| requests[queue] == Some(Grant::Consumption) && grants[queue].is_none();
                    let Some(winner) = choose(this.last_consumed, key(outputs), &arrived) else { break };
                    this.grants[winner] = Some(Grant::Consumption);
                    this.last_consumed = winner;
                }
            }
        }
        for output in 0..outputs {
            if this.owner[output].is_some() {
                continue;
            }
            let wanted = Some(Grant::Output(OutputVc::at(output, self.params.vcs)));
            let (last, key) = (this.last_winner[output], key(output));
            let in_transit = |queue: usize| queue < outputs && requests[queue] == wanted;
            let first = transit_first(key, priority);
            let winner = if first { choose(last, key, &in_transit) } else { None };
            if let Some(winner) = winner.or_else(|| choose(last, key, &|queue| requests[queue] == wanted)) {
                this.grants[winner] = wanted;
                this.bets[winner] = 0;
                this.owner[output] = Some(winner);
                this.last_winner[output] = winner;
            }
        }
        for (since, given) in this.since.iter_mut().zip(&this.grants) {
            // A queue whose header has been granted an output has a new header next, which has made no request yet.
            *since = since.filter(|_| given.is_none());
        }
    }

    /// By transit queue: whether a header with further hops to go stands at its head. Empty without timers.
    fn standing(&self, node: usize) -> Vec<bool> {
        let goes_on = |queue| self.unrouted(node, queue).is_some_and(|packet| packet.destination.index() != node);
        let watched = if self.nodes[node].timer.is_some() { self.outputs() } else { 0 };
        (0..watched).map(goes_on).collect()
    }

    /// Phase A, 5: congestion timers. `standing` is the result of [`standing`](Self::standing) before outputs were
    /// allocated.
    fn step_timer(&mut self, node: usize, standing: &[bool]) {
        let (now, outputs) = (self.clock.0, self.outputs());
        let Node { timer: Some(timer), grants, .. } = &mut self.nodes[node] else { return };
        let stands = |queue: usize| standing[queue];
        timer.step(now, outputs, stands, |queue| stands(queue) && grants[queue].is_none());
    }

    /// The queue, as node and number, whose lack of room blocks the head of this queue.
    fn waits_for(&self, node: usize, queue: usize) -> Option<(usize, usize)> {
        let packet = self.unrouted(node, queue)?;
        let head = self.head(node, queue, packet);
        let output = self.requests.blocking_channel(&head)?;
        let view = LocalView { engine: self, node: NodeId::at(node) };
        let index = output.index(self.params.vcs);
        if view.space_ahead(output)? < self.params.packet_phits {
            return Some((self.topology.neighbour(NodeId::at(node), output.port)?.index(), index));
        }
        (!self.requests.bubble_open(&head, output, &view)).then_some((node, index))
    }
}
