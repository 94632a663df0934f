//! A part of a network, and one cycle of it.

use trgen::NodeId;
use trgen::rng::{mix2, pick};

use super::ring::Ring;
use super::rules::Rules;
use super::state::{Ahead, Bits, Buffer, Chain, Endpoint, Lane, Link, NOBODY, NONE, Node, Packet, after};
use crate::router::Inject;
use crate::router::request::{Head, Input, OutputVc, Surroundings};
use crate::topology::Port;

/// The bit of [`Node::awake`] that stands for no input.
const NO_INPUT: u64 = 1 << 63;

/// What happens at the end of a cycle, when a tail has moved: the kind, and a place or a node.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    /// The tail of the packet that owns this output channel has left.
    Left(u32),
    /// The tail of the packet that was leaving this queue has been consumed.
    Consumed(u32),
    /// Serial injection has moved a tail at this node.
    Injected(u32),
}

/// What one part tells another at the end of a cycle. Places are the receiver's.
#[derive(Debug)]
pub(super) struct Mail<const D: usize> {
    /// Headers that have crossed a link, and the queues that they enter.
    headers: Vec<(u32, Packet<D>)>,
    /// Output channels behind which a header has begun to depart.
    departures: Vec<u32>,
    /// Output channels behind which there is room for one more packet.
    credits: Vec<u32>,
}

impl<const D: usize> Mail<D> {
    pub(super) const fn new() -> Self {
        Self { headers: Vec::new(), departures: Vec::new(), credits: Vec::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.headers.is_empty() && self.departures.is_empty() && self.credits.is_empty()
    }
}

/// What a part tells the whole at the end of a cycle.
#[derive(Default, Debug)]
pub(super) struct Report {
    /// Packets that have been consumed; the whole gives their handles back.
    pub(super) consumed: Vec<u32>,
    /// \[cycles\] From its start, of each packet whose header has left its injection queue.
    pub(super) waited: Vec<u64>,
    /// Nodes whose interface was held up by full source buffers and is no longer.
    pub(super) relieved: Vec<u32>,
    /// Headers that have crossed a link.
    pub(super) hops: u64,
    /// Some header has begun to move.
    pub(super) moved: bool,
}

/// A node beyond the border of a part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Abroad {
    pub(super) part: u32,
    pub(super) node: u32,
}

/// Some of the nodes, with consecutive numbers, and all that belongs to them. Nodes, lanes and links have numbers of the
/// part's own, from 0.
#[derive(Debug)]
pub(super) struct Part<const D: usize> {
    pub(super) rules: Rules,
    /// The number of its first node in the network.
    pub(super) first: u32,
    pub(super) clock: u64,
    pub(super) nodes: Vec<Node>,
    pub(super) endpoints: Vec<Endpoint>,
    pub(super) lanes: Vec<Lane>,
    /// Like `lanes`; empty where nobody asks.
    pub(super) ahead: Vec<Ahead>,
    pub(super) links: Vec<Link>,
    /// The nodes whose numbers come after those of its own.
    pub(super) border: Vec<Abroad>,
    /// By node and injector.
    pub(super) buffers: Vec<Buffer>,
    pub(super) packets: Vec<Packet<D>>,
    pub(super) vacant: Vec<u32>,
    /// Headers that crossed a link in the previous cycle: queue and packet.
    headers: Vec<(u32, u32)>,
    /// Nodes with heads to look at, and with source buffers to look at.
    looking: Vec<u32>,
    injecting: Vec<u32>,
    /// Kept for its memory.
    looked: Vec<u32>,
    ring: Ring<Event>,
    /// By output: the inputs that ask for it, while a node decides.
    asking: [u64; 64],
    /// By part: what comes from it, and what goes to it.
    pub(super) inbox: Vec<Mail<D>>,
    pub(super) outbox: Vec<Mail<D>>,
    pub(super) report: Report,
}

/// What a head at a node sees.
pub(super) struct Near<'a, const D: usize> {
    part: &'a Part<D>,
    node: usize,
    open: u64,
}

impl<const D: usize> Surroundings for Near<'_, D> {
    #[inline]
    fn open(&self, port: Port) -> u32 {
        self.part.rules.channels(self.open, port.index()) as u32
    }

    fn space_ahead(&self, output: OutputVc) -> Option<u32> {
        let part = self.part;
        let rules = &part.rules;
        if part.links[rules.link(self.node, output.port.index())].downstream == NONE {
            return None;
        }
        let place = rules.place(self.node, output.index(rules.vcs));
        let packets = rules.queue_packets - u32::from(part.lanes[place].credits);
        Some(rules.queue_phits() - part.ahead.get(place)?.phits(packets, rules.tail + 1, part.clock))
    }

    #[inline]
    fn has_room(&self, output: OutputVc, packets: u32) -> bool {
        let (part, rules) = (self.part, &self.part.rules);
        let lane = &part.lanes[rules.place(self.node, output.index(rules.vcs))];
        lane.has_room(packets, rules.queue_packets, rules.tail + 1, part.clock)
    }
}

impl<const D: usize> Part<D> {
    /// Nodes from number `first` on, as many as there are in `nodes`, of a network of `parts` parts.
    pub(super) fn new(
        rules: Rules,
        first: u32,
        nodes: Vec<Node>,
        links: Vec<Link>,
        border: Vec<Abroad>,
        parts: usize,
    ) -> Self {
        let inputs = rules.outputs + rules.injectors;
        let count = nodes.len();
        let endpoint = Endpoint {
            arrived: 0,
            last_consumed: inputs as u8 - 1,
            consuming: false,
            injecting: false,
            held_up: false,
            serial: 0,
            serial_busy: false,
        };
        let lane = Lane {
            waiting: Chain::EMPTY,
            leaving: NONE,
            count: 0,
            credits: rules.queue_packets as u16,
            departed: 0,
            arrived: 0,
            owner: NOBODY,
            last_winner: inputs as u8 - 1,
        };
        let lanes = count << rules.lane_bits;
        Self {
            first,
            clock: 0,
            nodes,
            endpoints: vec![endpoint; count],
            lanes: vec![lane; lanes],
            ahead: vec![Ahead::EMPTY; if rules.compares_space { lanes } else { 0 }],
            links,
            border,
            buffers: vec![Buffer { waiting: Chain::EMPTY, count: 0 }; count * rules.injectors],
            packets: Vec::new(),
            vacant: Vec::new(),
            headers: Vec::new(),
            looking: Vec::new(),
            injecting: Vec::new(),
            looked: Vec::new(),
            ring: Ring::new(rules.tail),
            asking: [0; 64],
            inbox: (0..parts).map(|_| Mail::new()).collect(),
            outbox: (0..parts).map(|_| Mail::new()).collect(),
            report: Report::default(),
            rules,
        }
    }

    /// Places to look at in the next cycle.
    pub(super) fn work(&self) -> usize {
        let mail: usize = self.inbox.iter().map(|mail| mail.headers.len() + mail.credits.len()).sum();
        self.looking.len() + self.injecting.len() + self.headers.len() + mail
    }

    /// True if somebody is to be looked at in the next cycle.
    pub(super) fn has_work(&self) -> bool {
        !(self.looking.is_empty() && self.injecting.is_empty() && self.headers.is_empty())
            || self.inbox.iter().any(|mail| !mail.is_empty())
    }

    /// The output whose lack of room keeps a queue's head where it is: true if it is the neighbour's, false if it is
    /// the bubble in the node's own.
    pub(super) fn waits_for(&self, node: usize, input: usize) -> Option<(OutputVc, bool)> {
        if self.nodes[node].unrouted & 1 << input == 0 {
            return None;
        }
        let head = self.head(node, input, self.lanes[self.rules.place(node, input)].waiting.first());
        let output = self.rules.requests.last_resort(&head)?;
        let full = self.lanes[self.rules.place(node, output.index(self.rules.vcs))].credits == 0;
        let waits = full || !self.rules.requests.bubble_open(&head, output, &self.near(node));
        waits.then_some((output, full))
    }

    /// The first cycle from `now` on in which a tail leaves.
    pub(super) fn next_event(&self, now: u64) -> Option<u64> {
        self.ring.next(now)
    }

    /// A packet comes into a source buffer of a node.
    pub(super) fn buffer(&mut self, node: usize, injector: usize, packet: Packet<D>) {
        let handle = self.store(packet);
        let buffer = &mut self.buffers[node * self.rules.injectors + injector];
        buffer.waiting.push(&mut self.packets, handle);
        buffer.count += 1;
        self.wake_buffers(node);
    }

    fn store(&mut self, packet: Packet<D>) -> u32 {
        if let Some(handle) = self.vacant.pop() {
            self.packets[handle as usize] = packet;
            handle
        } else {
            self.packets.push(packet);
            (self.packets.len() - 1) as u32
        }
    }

    /// The injector with the least occupied source buffer and queue.
    pub(super) fn least_occupied(&self, node: usize) -> usize {
        let (rules, injectors) = (&self.rules, self.rules.injectors);
        let occupied = |&injector: &usize| {
            let lane = &self.lanes[rules.place(node, rules.outputs + injector)];
            let phits = lane.phits(rules.tail + 1, self.clock);
            (self.buffers[node * injectors + injector].count, phits, injector)
        };
        (0..injectors).min_by_key(occupied).unwrap_or(0)
    }

    /// One cycle, but for step 1.
    pub(super) fn cycle(&mut self) {
        self.open_mail();
        let mut headers = std::mem::take(&mut self.headers);
        for &(place, packet) in &headers {
            self.enter(place as usize, packet, self.clock - 1);
        }
        headers.clear();
        self.headers = headers;

        if !self.injecting.is_empty() {
            let mut injecting = std::mem::take(&mut self.injecting);
            for &node in &injecting {
                self.endpoints[node as usize].injecting = false;
                self.fill(node as usize);
            }
            // Filling wakes no buffers.
            injecting.clear();
            self.injecting = injecting;
        }
        // Who is woken from here on is looked at in the next cycle.
        std::mem::swap(&mut self.looking, &mut self.looked);
        let mut looked = std::mem::take(&mut self.looked);
        for &node in &looked {
            self.decide(node as usize);
        }
        looked.clear();
        self.looked = looked;

        let events = self.ring.turn(self.clock);
        for &event in &events {
            match event {
                Event::Left(place) => self.left(place as usize),
                Event::Consumed(place) => self.consumed(place as usize),
                Event::Injected(node) => {
                    self.endpoints[node as usize].serial_busy = false;
                    self.wake_buffers(node as usize);
                }
            }
        }
        self.ring.keep(self.clock, events);
    }

    /// What other parts did in the previous cycle.
    fn open_mail(&mut self) {
        for from in 0..self.inbox.len() {
            if self.inbox[from].is_empty() {
                continue;
            }
            let mut mail = std::mem::replace(&mut self.inbox[from], Mail::new());
            for (place, packet) in mail.headers.drain(..) {
                let packet = self.store(packet);
                self.headers.push((place, packet));
            }
            // A packet of one phit departs and is gone in the same cycle.
            for place in mail.departures.drain(..) {
                self.ahead[place as usize].departed = self.clock - 1;
            }
            for place in mail.credits.drain(..) {
                self.credit(place as usize);
            }
            self.inbox[from] = mail;
        }
    }

    /// Step 2: from the source buffers to the injection queues.
    fn fill(&mut self, node: usize) {
        match self.rules.inject {
            Inject::Parallel => {
                for injector in 0..self.rules.injectors {
                    while self.can_fill(node, injector) {
                        self.enter_injection_queue(node, injector, 0);
                    }
                }
            }
            Inject::Serial => {
                if self.endpoints[node].serial_busy {
                    return;
                }
                let ready = (0..self.rules.injectors)
                    .filter(|&injector| self.can_fill(node, injector))
                    .fold(0u64, |ready, injector| ready | 1 << injector);
                if ready != 0 {
                    let injector = after(ready, self.endpoints[node].serial);
                    self.endpoints[node].serial = injector;
                    self.endpoints[node].serial_busy = true;
                    self.enter_injection_queue(node, injector.into(), self.clock);
                    self.ring.enter(Event::Injected(node as u32));
                }
            }
        }
    }

    /// True if a packet waits in this source buffer and the injection queue has room for it.
    fn can_fill(&self, node: usize, injector: usize) -> bool {
        let rules = &self.rules;
        !self.buffers[node * rules.injectors + injector].waiting.is_empty()
            && u32::from(self.lanes[rules.place(node, rules.outputs + injector)].count) < rules.queue_packets
    }

    /// `arrived` is the cycle of the first phit, or 0 if all phits move at once.
    fn enter_injection_queue(&mut self, node: usize, injector: usize, arrived: u64) {
        let buffer = &mut self.buffers[node * self.rules.injectors + injector];
        let packet = buffer.waiting.first();
        buffer.waiting.pop(&self.packets[packet as usize]);
        buffer.count -= 1;
        let endpoint = &mut self.endpoints[node];
        if endpoint.held_up {
            endpoint.held_up = false;
            self.report.relieved.push(node as u32);
        }
        self.enter(self.rules.place(node, self.rules.outputs + injector), packet, arrived);
    }

    /// A packet, whose header came in cycle `arrived`, stands in a queue.
    #[inline]
    fn enter(&mut self, place: usize, packet: u32, arrived: u64) {
        let lane = &mut self.lanes[place];
        lane.count += 1;
        lane.arrived = arrived;
        let first = lane.waiting.is_empty() && lane.leaving == NONE;
        lane.waiting.push(&mut self.packets, packet);
        if first {
            let (node, input) = self.rules.apart(place);
            self.wake_head(node, input);
        }
    }

    /// Step 3: heads that are awake ask, outputs that nobody owns are given away, and free links take headers.
    #[inline]
    fn decide(&mut self, at: usize) {
        let node = &mut self.nodes[at];
        let look = std::mem::take(&mut node.awake) & node.unrouted;
        if look & look.wrapping_sub(1) == 0 && node.freed == 0 && !self.rules.single_consumption {
            if look != 0 {
                self.decide_alone(at, look.trailing_zeros() as usize);
            }
        } else {
            self.decide_all(at, look);
        }
    }

    /// One head asks, and there is nobody else to be considered.
    #[inline]
    fn decide_alone(&mut self, node: usize, input: usize) {
        let place = self.rules.place(node, input);
        let packet = self.lanes[place].waiting.first();
        if self.packets[packet as usize].destination == self.first + node as u32 {
            self.nodes[node].unrouted &= !(1 << input);
            self.start_consuming(place);
            return;
        }
        let head = self.head(node, input, packet);
        let Some(output) = self.rules.requests.request(&head, &self.near(node)) else {
            self.rest(node, input, packet);
            return;
        };
        let index = output.index(self.rules.vcs);
        self.give(node, index, input as u8);
        let this = &mut self.nodes[node];
        if this.busy & 1 << output.port.index() != 0 {
            this.granted |= 1 << index;
        } else {
            self.cross(node, output);
        }
    }

    /// Any number of heads ask.
    fn decide_all(&mut self, node: usize, look: u64) {
        let mut starting = std::mem::take(&mut self.nodes[node].freed);
        let mut wanted = 0u64;
        for input in Bits(look) {
            let place = self.rules.place(node, input);
            let packet = self.lanes[place].waiting.first();
            if self.packets[packet as usize].destination == self.first + node as u32 {
                self.nodes[node].unrouted &= !(1 << input);
                if self.rules.single_consumption {
                    self.endpoints[node].arrived |= 1 << input;
                } else {
                    self.start_consuming(place);
                }
                continue;
            }
            let head = self.head(node, input, packet);
            match self.rules.requests.request(&head, &self.near(node)) {
                Some(output) => {
                    let output = output.index(self.rules.vcs);
                    let asking = &mut self.asking[output & 63];
                    *asking = if wanted & 1 << output == 0 { 1 << input } else { *asking | 1 << input };
                    wanted |= 1 << output;
                }
                None => self.rest(node, input, packet),
            }
        }
        if self.rules.single_consumption {
            self.consume_one(node);
        }
        for output in Bits(wanted) {
            starting |= self.grant(node, output);
        }
        for port in Bits(starting) {
            let waiting = self.rules.channels(self.nodes[node].granted, port);
            if waiting != 0 {
                let vc = after(waiting, self.links[self.rules.link(node, port)].last_vc);
                let output = OutputVc { port: Port(port as u8), vc };
                self.nodes[node].granted &= !(1 << output.index(self.rules.vcs));
                self.cross(node, output);
            }
        }
    }

    /// A head has asked for nothing: it sleeps until something that matters to it changes.
    fn rest(&mut self, node: usize, input: usize, packet: u32) {
        let head = self.head(node, input, packet);
        if self.rules.requests.may_change_its_mind(&head, &self.near(node)) {
            self.wake(node, 1 << input);
            return;
        }
        let interest = self.rules.requests.interest(&head);
        for (kind, ports) in [interest.adaptive, interest.deterministic].into_iter().enumerate() {
            for port in Bits(ports) {
                self.links[self.rules.link(node, port)].sleepers[kind] |= 1 << input;
            }
        }
    }

    /// Gives the single consumption port to one of the inputs that wait for it.
    fn consume_one(&mut self, node: usize) {
        let this = &mut self.endpoints[node];
        if this.arrived != 0 && !this.consuming {
            let input = after(this.arrived, this.last_consumed);
            this.arrived &= !(1 << input);
            this.consuming = true;
            this.last_consumed = input;
            self.start_consuming(self.rules.place(node, input.into()));
        }
    }

    /// Gives an output channel to one of the inputs that ask for it. Returns its port, as a mask, if the link is free.
    #[inline]
    fn grant(&mut self, node: usize, output: usize) -> u64 {
        let rules = &self.rules;
        let asking = self.asking[output & 63];
        let mut candidates = asking;
        if rules.in_transit_priority > 0.0 {
            let key = mix2(mix2(rules.seed ^ u64::from(self.first + node as u32), output as u64), self.clock);
            let transit = asking & ((1u64 << rules.outputs) - 1);
            let first = f64::from(pick(key, 1 << 24)) < rules.in_transit_priority * f64::from(1 << 24);
            if first && transit != 0 {
                candidates = transit;
            }
        }
        let winner = after(candidates, self.lanes[rules.place(node, output)].last_winner);
        let port = 1 << rules.port_of(output);
        self.give(node, output, winner);
        let losers = asking & !(1 << winner);
        if losers != 0 {
            self.wake(node, losers);
        }
        let this = &mut self.nodes[node];
        this.granted |= 1 << output;
        port & !this.busy
    }

    /// An output channel has a new owner.
    #[inline]
    fn give(&mut self, node: usize, output: usize, winner: u8) {
        let lane = &mut self.lanes[self.rules.place(node, output)];
        lane.last_winner = winner;
        lane.owner = winner;
        let this = &mut self.nodes[node];
        this.open &= !(1 << output);
        this.unrouted &= !(1 << winner);
    }

    /// Phase B: a free link takes the header of an output channel's packet.
    #[inline]
    fn cross(&mut self, node: usize, output: OutputVc) {
        let rules = &self.rules;
        let index = output.index(rules.vcs);
        let port = output.port.index();
        let place = rules.place(node, index);
        let link = &mut self.links[rules.link(node, port)];
        link.last_vc = output.vc;
        let next = link.downstream as usize;
        self.nodes[node].busy |= 1 << port;
        let lane = &mut self.lanes[place];
        lane.credits -= 1;
        let input = usize::from(lane.owner);
        let (dimension, positive) = rules.shape.direction(output.port);
        let injected = input >= rules.outputs;
        if rules.compares_space {
            self.ahead[place].sent = self.clock;
        }
        let handle = self.depart(rules.place(node, input));
        let packet = &mut self.packets[handle as usize];
        packet.offsets[dimension] -= if positive { 1 } else { -1 };
        packet.hops += 1;
        if injected {
            self.report.waited.push(self.clock - packet.start);
        }
        self.report.hops += 1;
        self.ring.enter(Event::Left(place as u32));
        if next < self.nodes.len() {
            self.headers.push((self.rules.place(next, index) as u32, handle));
        } else {
            let Abroad { part, node } = self.border[next - self.nodes.len()];
            let place = self.rules.place(node as usize, index) as u32;
            self.outbox[part as usize].headers.push((place, self.packets[handle as usize]));
            self.vacant.push(handle);
        }
    }

    fn start_consuming(&mut self, place: usize) {
        self.depart(place);
        self.ring.enter(Event::Consumed(place as u32));
    }

    /// The header of the first packet leaves its queue in this cycle.
    #[inline]
    fn depart(&mut self, place: usize) -> u32 {
        let lane = &mut self.lanes[place];
        let packet = lane.waiting.first();
        lane.waiting.pop(&self.packets[packet as usize]);
        lane.departed = self.clock;
        lane.leaving = packet;
        self.report.moved = true;
        if self.rules.compares_space {
            self.tell_departure(place);
        }
        packet
    }

    /// Tells the sender before a transit queue that a header has begun to leave it.
    fn tell_departure(&mut self, place: usize) {
        let (node, input) = self.rules.apart(place);
        if input >= self.rules.outputs {
            return;
        }
        let behind = self.links[self.rules.link(node, self.rules.port_of(input))].upstream as usize;
        if behind < self.nodes.len() {
            self.ahead[self.rules.place(behind, input)].departed = self.clock;
        } else {
            let Abroad { part, node } = self.border[behind - self.nodes.len()];
            self.outbox[part as usize].departures.push(self.rules.place(node as usize, input) as u32);
        }
    }

    /// Step 4: a tail has left through an output channel: channel and link are free.
    #[inline]
    fn left(&mut self, place: usize) {
        let (node, output) = self.rules.apart(place);
        let port = self.rules.port_of(output);
        let lane = &mut self.lanes[place];
        let input = std::mem::replace(&mut lane.owner, NOBODY);
        let opens = lane.credits > 0;
        let this = &mut self.nodes[node];
        this.busy &= !(1 << port);
        if self.rules.channels(this.granted, port) != 0 {
            this.freed |= 1 << port;
            self.wake(node, NO_INPUT);
        }
        if opens {
            self.open(node, output);
        }
        self.departed(node, input.into());
    }

    /// Step 4: a tail has been consumed.
    fn consumed(&mut self, place: usize) {
        let (node, input) = self.rules.apart(place);
        self.report.consumed.push(self.lanes[place].leaving);
        let this = &mut self.endpoints[node];
        if this.consuming {
            this.consuming = false;
            if this.arrived != 0 {
                self.wake(node, NO_INPUT);
            }
        }
        self.departed(node, input);
    }

    /// A tail has left a queue: the next head can be routed, and there is room for one more packet.
    #[inline]
    fn departed(&mut self, node: usize, input: usize) {
        let lane = &mut self.lanes[self.rules.place(node, input)];
        lane.leaving = NONE;
        lane.count -= 1;
        if !lane.waiting.is_empty() {
            self.wake_head(node, input);
        }
        if input >= self.rules.outputs {
            let injector = input - self.rules.outputs;
            if !self.buffers[node * self.rules.injectors + injector].waiting.is_empty() {
                self.wake_buffers(node);
            }
            return;
        }
        let link = self.rules.link(node, self.rules.port_of(input));
        let this = &self.nodes[node];
        if this.unrouted & !this.awake != 0 {
            // The bubble of this ring may have opened for those who want to enter it here.
            self.wake_sleepers(link, node, 1);
            if self.rules.lbr > 0 {
                self.wake_sleepers(link, node, 0);
            }
        }
        let behind = self.links[link].upstream as usize;
        if behind < self.nodes.len() {
            self.credit(self.rules.place(behind, input));
        } else {
            let Abroad { part, node } = self.border[behind - self.nodes.len()];
            self.outbox[part as usize].credits.push(self.rules.place(node as usize, input) as u32);
        }
    }

    /// There is room for one more packet behind an output channel.
    #[inline]
    fn credit(&mut self, place: usize) {
        let lane = &mut self.lanes[place];
        lane.credits += 1;
        let opens = lane.credits == 1 && lane.owner == NOBODY;
        if self.rules.compares_space {
            self.ahead[place].departed = Ahead::NEVER;
        }
        if opens {
            let (node, output) = self.rules.apart(place);
            self.open(node, output);
        }
    }

    /// An output channel is free and has room behind it.
    #[inline]
    fn open(&mut self, node: usize, output: usize) {
        let this = &mut self.nodes[node];
        this.open |= 1 << output;
        if this.unrouted & !this.awake != 0 {
            let OutputVc { port, vc } = self.rules.channel_of[output & 63];
            let kind = usize::from(vc < self.rules.requests.first_adaptive());
            self.wake_sleepers(self.rules.link(node, port.index()), node, kind);
        }
    }

    /// Wakes the heads that sleep at a link until an adaptive (0) or deterministic (1) channel opens. Some of them may
    /// have gone on meanwhile: only those that are unrouted are looked at.
    #[inline]
    fn wake_sleepers(&mut self, link: usize, node: usize, kind: usize) {
        let woken = std::mem::take(&mut self.links[link].sleepers[kind]) & self.nodes[node].unrouted;
        if woken != 0 {
            self.wake(node, woken);
        }
    }

    /// A header has come to the head of a queue.
    #[inline]
    fn wake_head(&mut self, node: usize, input: usize) {
        self.nodes[node].unrouted |= 1 << input;
        self.wake(node, 1 << input);
    }

    /// These inputs (at least one bit) are looked at in the next step 3.
    #[inline]
    fn wake(&mut self, node: usize, inputs: u64) {
        let awake = &mut self.nodes[node].awake;
        if *awake == 0 {
            self.looking.push(node as u32);
        }
        *awake |= inputs;
    }

    fn wake_buffers(&mut self, node: usize) {
        if !self.endpoints[node].injecting {
            self.endpoints[node].injecting = true;
            self.injecting.push(node as u32);
        }
    }

    #[inline]
    pub(super) fn near(&self, node: usize) -> Near<'_, D> {
        Near { part: self, node, open: self.nodes[node].open }
    }

    #[inline]
    pub(super) fn head(&self, node: usize, input: usize, packet: u32) -> Head<'_> {
        let rules = &self.rules;
        let packet = &self.packets[packet as usize];
        Head {
            node: NodeId(self.first + node as u32),
            input: if input < rules.outputs { Input::Transit(rules.channel_of[input & 63]) } else { Input::Injection },
            offsets: &packet.offsets[..rules.shape.dimensions],
            key: packet.key,
            now: self.clock,
        }
    }
}
