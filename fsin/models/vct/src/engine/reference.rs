//! The reference engine: every phit of every queue, every cycle, in the order in which the model is stated.
//!
//! It defines the model for other engines, so it is written to be read, not to be fast. A cycle has two phases. In
//! phase A every node makes its decisions from the state at the end of the previous cycle; in phase B phits move. No
//! decision of phase A changes what another node can see in phase A. No phit moves twice in phase B: a phit that a link
//! is about to take arrived at least one cycle before. So the order in which nodes are visited does not matter.

use std::collections::VecDeque;
use std::sync::Arc;

use trgen::{Cycle, NodeId};

use super::messages::{Slot, Unsent};
use crate::router::arbitration::{Contender, arbiter_key, round_robin, transit_first, winner};
use crate::router::congestion::{GlobalControl, Timer};
use crate::router::hop_delays::HopDelays;
use crate::router::layout::AnySize;
use crate::router::request::{Head, Input, OutputState, OutputVc, RouteRules, injector_key, packet_key, source_key};
use crate::router::{CheckedParams, Consumption, Inject, Interface, RouterParams, SourceQueue};
use fsin_core::interface::Lane;
use fsin_core::messages::Messages;
use fsin_core::network::Notices;
use fsin_core::stats::Receipt;
use fsin_core::topology::{Offsets, Port, Shape, Topology};

mod local_view;
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
#[derive(Clone, Copy, Default, Debug)]
struct Link {
    /// The channel whose packet is crossing.
    current: Option<u8>,
    /// The channel that crossed last.
    last: u8,
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
        let outputs = shape.ports() * params.vcs;
        let inputs = outputs + params.injectors;
        let node = Node {
            sequence: 0,
            unsent: 0,
            lanes: vec![Lane::new(params.interface.in_progress()); params.interface.lanes(shape.ports())],
            buffers: vec![VecDeque::new(); params.injectors],
            queues: vec![VecDeque::new(); inputs],
            grants: vec![None; inputs],
            bets: vec![0; inputs],
            since: vec![None; inputs],
            owner: vec![None; outputs],
            last_winner: vec![inputs - 1; outputs],
            links: vec![Link { current: None, last: params.vcs as u8 - 1 }; shape.ports()],
            last_consumed: inputs - 1,
            serial: (0, None),
            timer: params.timeouts.map(|limits| Timer::new(limits, outputs)),
        };
        Self {
            hop_delays: HopDelays::new(params, &*topology),
            control: GlobalControl::new(params, &*topology),
            requests: RouteRules::new(&checked, AnySize { shape, vcs: params.vcs }, &*topology),
            clock: Cycle::FIRST,
            nodes: vec![node; topology.nodes()],
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
        self.params.queue_phits() - self.nodes[node.index()].queues[queue].len() as u32
    }

    /// Simulates one cycle.
    fn cycle(&mut self, notices: &mut Notices) {
        let (now, in_network) = (self.clock.0, self.in_network);
        let is_tripped = self.control.as_mut().is_some_and(|control| control.is_tripped(now, in_network));
        for node in 0..self.topology.endpoints() {
            if !is_tripped {
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
        let occupied = |injector: usize| buffered(injector) + this.queues[outputs + injector].len() as u32;
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
                        queue.extend((0..length).map(|index| Phit { packet, index }));
                    }
                }
            }
            Inject::Serial => {
                let (mut injector, mut moving) = this.serial;
                if moving.is_none() {
                    // One phit of room is enough to start: a packet that is leaving the queue goes on doing so, a phit in
                    // each cycle, so that the one that follows it never has to pause.
                    let ready = |injector: usize| {
                        !this.buffers[injector].is_empty() && this.queues[outputs + injector].len() < capacity
                    };
                    let Some(next) = round_robin(injectors, injector, ready) else { return };
                    injector = next;
                    moving = this.buffers[injector].pop_front().map(|packet| Phit { packet, index: 0 });
                }
                if let Some(phit) = moving {
                    this.queues[outputs + injector].push_back(phit);
                    let rest = phit.index + 1 < length;
                    moving = rest.then_some(Phit { index: phit.index + 1, ..phit });
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
            phits: this.queues[queue].len() as u32,
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

    /// Phase B, 1: packets drain that have arrived at their destination.
    fn consume(&mut self, node: usize, notices: &mut Notices) {
        let tail = self.params.packet_phits - 1;
        for queue in 0..self.nodes[node].queues.len() {
            let this = &mut self.nodes[node];
            if this.grants[queue] != Some(Grant::Consumption) {
                continue;
            }
            let Some(phit) = this.queues[queue].pop_front() else { continue };
            self.last_moved = self.last_moved.max(self.clock);
            if phit.index != tail {
                continue;
            }
            this.grants[queue] = None;
            let packet = &self.packets[phit.packet];
            let receipt = Receipt {
                source: packet.source,
                destination: packet.destination,
                sequence: packet.sequence,
                latency: self.clock.since(packet.start),
                hops: packet.hops,
            };
            if self.messages.receive(packet.message, self.clock, &receipt, 0) {
                self.messages.deliver(packet.message, self.clock, notices);
            }
            self.in_network -= u64::from(packet.hops > 0);
            self.vacant.push(phit.packet);
        }
    }

    /// Phase B, 2: every link moves one phit into the neighbour's queue.
    fn move_phits(&mut self, node: usize) {
        let vcs = self.params.vcs;
        let outputs = self.outputs();
        for port in (0..self.shape.ports()).map(|port| Port(port as u8)) {
            let this = &mut self.nodes[node];
            let link = &mut this.links[port.index()];
            let vc = link.current.or_else(|| {
                let owned = |vc: usize| this.owner[OutputVc { port, vc: vc as u8 }.index(vcs)].is_some();
                round_robin(vcs, link.last as usize, owned).map(|vc| vc as u8)
            });
            let Some(vc) = vc else { continue };
            let output = OutputVc { port, vc };
            let Some(queue) = this.owner[output.index(vcs)] else { continue };
            let Some(phit) = this.queues[queue].pop_front() else { continue };
            *link = Link { current: Some(vc), last: vc };
            let neighbour = self.topology.neighbour(NodeId::at(node), port);
            let neighbour = neighbour.expect("an output is granted only if space_ahead saw a neighbour");
            // Phits advance on the link for so many cycles.
            let wire = u64::from(self.hop_delays.to(neighbour.index(), port.index()));
            self.last_moved = self.last_moved.max(self.clock + wire);
            if phit.index == 0 {
                let packet = &mut self.packets[phit.packet];
                if queue >= outputs {
                    self.messages.recorder.departed(self.clock.since(packet.start));
                    self.in_network += 1;
                }
                packet.ready = self.clock.next() + wire;
                self.requests.hop(NodeId::at(node), packet.destination, packet.key, port, &mut packet.offsets);
                packet.hops += 1;
                self.messages.recorder.hops(1);
                if let Some(crossed) = self.crossed.get_mut(node * self.shape.ports() + port.index()) {
                    *crossed += 1;
                }
            }
            if phit.index == self.params.packet_phits - 1 {
                link.current = None;
                this.owner[output.index(vcs)] = None;
                this.grants[queue] = None;
            }
            self.nodes[neighbour.index()].queues[output.index(vcs)].push_back(phit);
        }
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
