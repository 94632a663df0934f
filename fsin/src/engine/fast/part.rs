//! A part of a network, and one cycle of it.

use super::ring::Ring;
use super::rules::Rules;
use super::state::{Ahead, Bits, Buffer, Chain, Endpoint, NOBODY, NONE, Packet, Router, Sleepers, Stamp, after};
use crate::router::Inject;
use crate::router::arbitration::{Contender, arbiter_key, transit_first, winner};
use crate::router::congestion::Timer;
use crate::router::layout::Layout;
use crate::router::request::{Head, Input, OutputVc, Surroundings};
use crate::topology::Port;
use crate::view::Occupancy;
use trgen::NodeId;

/// The bit of [`Router::awake`] that stands for no input.
const NO_INPUT: u64 = 1 << 63;

/// At the end of a cycle the tail of the packet that owns an output channel has left an input, at a node of the part.
#[derive(Clone, Copy, Debug)]
struct Left {
    node: u32,
    output: u8,
    input: u8,
}

/// What else happens at the end of a cycle, when a tail has moved, at a node of the part.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// The tail of the packet that was leaving this input has been consumed.
    Consumed { node: u32, input: u8, packet: u32 },
    /// Serial injection has moved a tail.
    Injected { node: u32 },
}

/// What one part tells another at the end of a cycle. Nodes are the receiver's.
#[derive(Debug)]
pub(super) struct Mail<const D: usize> {
    /// Headers that have crossed a link, and the queues that they enter.
    headers: Vec<(u32, u8, Packet<D>)>,
    /// Output channels behind which a header has begun to depart.
    departures: Vec<(u32, u8)>,
    /// Output channels behind which there is room for one more packet.
    credits: Vec<(u32, u8)>,
}

impl<const D: usize> Mail<D> {
    const fn new() -> Self {
        Self { headers: Vec::new(), departures: Vec::new(), credits: Vec::new() }
    }

    fn is_empty(&self) -> bool {
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
    /// \[cycle\] In which the last phit that is on a wire moves there for the last time; 0 without delays.
    pub(super) arrives: u64,
}

/// A node beyond the border of a part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Abroad {
    pub(super) part: u32,
    pub(super) node: u32,
}

/// Some of the nodes, with consecutive numbers, and all that belongs to them. Nodes have numbers of the part's own, from
/// 0.
#[derive(Debug)]
pub(super) struct Part<L, const D: usize, const Q: usize, const P: usize> {
    pub(super) rules: Rules<L>,
    /// The number of its first node in the network.
    pub(super) first: u32,
    pub(super) clock: u64,
    /// \[cycle\] The last that was simulated, and the last in which stamps were kept from growing too old.
    previous: u64,
    capped: u64,
    pub(super) routers: Vec<Router<Q, P>>,
    pub(super) endpoints: Vec<Endpoint>,
    /// By node and port.
    sleepers: Vec<Sleepers>,
    /// By node and lane; empty where nobody asks.
    ahead: Vec<Ahead>,
    /// \[cycle\] In which the header at the head of a queue first asks, by node and lane; empty where nobody asks.
    since: Vec<u64>,
    /// The nodes whose numbers come after those of its own.
    border: Vec<Abroad>,
    /// By node and injector.
    pub(super) buffers: Vec<Buffer>,
    pub(super) packets: Vec<Packet<D>>,
    pub(super) vacant: Vec<u32>,
    /// Headers that crossed a link in the previous cycle: node, queue and packet.
    headers: Vec<(u32, u8, u32)>,
    /// Headers that are on a wire, by the cycle in which they come.
    wire: Ring<(u32, u8, u32)>,
    /// By node; empty where nobody asks.
    timers: Vec<Timer>,
    /// Nodes with heads to look at, and with source buffers to look at.
    looking: Vec<u32>,
    injecting: Vec<u32>,
    /// Kept for its memory.
    looked: Vec<u32>,
    /// What tails will do: those that cross a link, and the others.
    crossing: Ring<Left>,
    ring: Ring<Event>,
    /// By output: the inputs that ask for it, while a node decides.
    asking: [u64; 64],
    /// By part: what comes from it, and what goes to it.
    pub(super) inbox: Vec<Mail<D>>,
    pub(super) outbox: Vec<Mail<D>>,
    pub(super) report: Report,
    /// \[packets\] Headers that crossed each link, by node and port; empty while nobody looks.
    pub(super) crossed: Vec<u64>,
}

/// What a head at a node sees.
pub(super) struct Near<'a, L, const Q: usize, const P: usize> {
    rules: &'a Rules<L>,
    router: &'a Router<Q, P>,
    node: usize,
    /// By node and lane.
    ahead: &'a [Ahead],
    /// By node; empty where there are no timeouts.
    timers: &'a [Timer],
    now: u64,
}

impl<L: Layout, const Q: usize, const P: usize> Surroundings for Near<'_, L, Q, P> {
    #[inline(always)]
    fn open(&self, port: Port) -> u32 {
        let layout = self.rules.layout;
        (self.router.open >> (port.index() * layout.vcs())) as u32 & layout.all_vcs()
    }

    #[inline]
    fn is_full(&self, output: OutputVc) -> bool {
        let no_link = self.router.links[output.port.index()].downstream == NONE;
        no_link || self.router.lanes[output.index(self.rules.layout.vcs())].credits == 0
    }

    #[inline]
    fn packets_ahead(&self, output: OutputVc) -> u32 {
        let credits = self.router.lanes[output.index(self.rules.layout.vcs())].credits;
        self.rules.queue_packets - u32::from(credits)
    }

    fn space_ahead(&self, output: OutputVc) -> Option<u32> {
        if self.router.links[output.port.index()].downstream == NONE {
            return None;
        }
        let rules = self.rules;
        let index = output.index(rules.layout.vcs());
        let packets = rules.queue_packets - u32::from(self.router.lanes[index].credits);
        Some(rules.queue_phits() - self.ahead.get(self.node * Q + index)?.phits(packets, rules.tail + 1, self.now))
    }

    #[inline(always)]
    fn has_room(&self, output: OutputVc, packets: u32) -> bool {
        let rules = self.rules;
        let index = output.index(rules.layout.vcs());
        let leaving = self.router.leaving & 1 << index != 0;
        self.router.lanes[index].has_room(leaving, packets, rules.queue_packets, rules.packet_phits, self.now)
    }

    #[inline(always)]
    fn restricts(&self) -> bool {
        self.timers.get(self.node).is_none_or(|timer| timer.is_congested(self.now))
    }
}

/// A header at the head of a queue, as the rules see it.
#[inline(always)]
fn head<'a, L: Layout, const D: usize>(
    rules: &Rules<L>,
    node: u32,
    input: usize,
    packet: &'a Packet<D>,
    now: u64,
) -> Head<'a> {
    Head {
        node: NodeId(node),
        input: if input < rules.outputs() { Input::Transit(rules.channel(input)) } else { Input::Injection },
        destination: NodeId(packet.destination),
        offsets: &packet.offsets[..rules.layout.shape().dimensions],
        key: packet.key,
        now,
        long: packet.is_long,
    }
}

impl<L: Layout, const D: usize, const Q: usize, const P: usize> Part<L, D, Q, P> {
    /// Nodes from number `first` on, as many as there are `routers`, of a network of `parts` parts.
    pub(super) fn new(
        rules: Rules<L>,
        first: u32,
        routers: Vec<Router<Q, P>>,
        border: Vec<Abroad>,
        parts: usize,
    ) -> Self {
        let inputs = rules.outputs() + rules.injectors;
        let count = routers.len();
        let endpoint = Endpoint {
            arrived: 0,
            last_consumed: inputs as u8 - 1,
            consuming: false,
            injecting: false,
            held_up: false,
            serial: 0,
            serial_busy: false,
        };
        Self {
            first,
            clock: 0,
            previous: 0,
            capped: 0,
            routers,
            endpoints: vec![endpoint; count],
            sleepers: vec![[0; 2]; count * P],
            ahead: vec![Ahead::EMPTY; if rules.compares_space { count * Q } else { 0 }],
            since: vec![0; if rules.keeps_since { count * Q } else { 0 }],
            border,
            buffers: vec![Buffer { waiting: Chain::EMPTY, count: 0 }; count * rules.injectors],
            packets: Vec::new(),
            vacant: Vec::new(),
            headers: Vec::new(),
            wire: Ring::new(rules.wires.longest().into()),
            timers: rules.timeouts.map_or(Vec::new(), |limits| vec![Timer::new(limits, rules.outputs()); count]),
            looking: Vec::new(),
            injecting: Vec::new(),
            looked: Vec::new(),
            crossing: Ring::new(rules.tail),
            ring: Ring::new(rules.tail),
            asking: [0; 64],
            inbox: (0..parts).map(|_| Mail::new()).collect(),
            outbox: (0..parts).map(|_| Mail::new()).collect(),
            report: Report::default(),
            crossed: Vec::new(),
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
        let router = &self.routers[node];
        if router.unrouted & 1 << input == 0 {
            return None;
        }
        let packet = &self.packets[router.lanes[input].waiting.first() as usize];
        let head = head(&self.rules, self.first + node as u32, input, packet, self.clock);
        let output = self.rules.requests.last_resort(&head)?;
        if router.links[output.port.index()].downstream == NONE {
            return None;
        }
        let full = router.lanes[output.index(self.rules.layout.vcs())].credits == 0;
        let waits = full || !self.rules.requests.bubble_open(&head, output, &self.near(node));
        waits.then_some((output, full))
    }

    /// Writes down what the routers hold before cycle `now`; `into` is of the whole network.
    pub(super) fn occupancy(&self, now: u64, into: &mut Occupancy) {
        let (rules, length) = (&self.rules, self.rules.packet_phits);
        let (ports, vcs) = (rules.layout.shape().ports(), rules.layout.vcs());
        for (node, router) in self.routers.iter().enumerate() {
            let number = self.first as usize + node;
            let phits = |lane: usize| router.lanes[lane].phits(router.leaving & 1 << lane != 0, length, now);
            for port in 0..ports {
                into.transit[number * ports + port] = (port * vcs..(port + 1) * vcs).map(phits).sum();
            }
            into.injection[number] = (rules.outputs()..rules.outputs() + rules.injectors).map(phits).sum();
            if !self.crossed.is_empty() {
                into.crossed.extend_from_slice(&self.crossed[node * P..node * P + ports]);
            }
        }
        // Headers of the previous cycle, which will stand in their queues in the next one.
        let arriving = self.inbox.iter().flat_map(|mail| &mail.headers).map(|&(node, input, _)| (node, input));
        for (node, input) in arriving.chain(self.headers.iter().map(|&(node, input, _)| (node, input))) {
            into.transit[(self.first + node) as usize * ports + rules.port_of(input.into())] += 1;
        }
    }

    /// \[packets\] In the source buffers of a node.
    pub(super) fn buffered(&self, node: usize) -> u64 {
        let injectors = self.rules.injectors;
        self.buffers[node * injectors..(node + 1) * injectors].iter().map(|buffer| u64::from(buffer.count)).sum()
    }

    /// The first cycle from `now` on in which a tail leaves, or a header comes off a wire.
    pub(super) fn next_event(&self, now: u64) -> Option<u64> {
        let (crossing, other) = (self.crossing.next(now), self.ring.next(now));
        crossing.into_iter().chain(other).chain(self.wire.next(now)).min()
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

    /// The injector of a packet with so many hops to go.
    pub(super) fn injector(&self, node: usize, offsets: &[i16]) -> usize {
        let rules = &self.rules;
        let buffered = |injector: usize| self.buffers[node * rules.injectors + injector].count;
        rules.injection.injector(
            (rules.order, rules.layout.shape()),
            offsets,
            rules.injectors,
            |injector| u32::from(buffered(injector)) < rules.injection_queue_packets,
            |injector| {
                let (router, lane) = (&self.routers[node], rules.outputs() + injector);
                let leaving = router.leaving & 1 << lane != 0;
                (buffered(injector), router.lanes[lane].phits(leaving, rules.packet_phits, self.clock))
            },
        )
    }

    /// One cycle, but for step 1.
    pub(super) fn cycle(&mut self) {
        if self.clock - self.capped >= Stamp::OLD {
            for lane in self.routers.iter_mut().flat_map(|router| &mut router.lanes) {
                lane.arrived.cap(self.previous, self.clock);
                lane.departed.cap(self.previous, self.clock);
            }
            self.capped = self.clock;
        }
        self.previous = self.clock;
        self.open_mail();
        let mut headers = std::mem::take(&mut self.headers);
        if self.rules.wires.longest() == 0 {
            self.enter_all(&headers);
        } else {
            self.receive(&headers);
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

        let headers = self.headers.len() + self.outbox.iter().map(|mail| mail.headers.len()).sum::<usize>();
        self.report.hops += headers as u64;
        self.report.moved |= headers > 0;

        let tails = self.crossing.turn(self.clock);
        for &Left { node, output, input } in &tails {
            self.left(node as usize, output.into(), input.into());
        }
        self.crossing.keep(self.clock, tails);
        let events = self.ring.turn(self.clock);
        for &event in &events {
            match event {
                Event::Consumed { node, input, packet } => {
                    self.report.consumed.push(packet);
                    self.consumed(node as usize, input.into());
                }
                Event::Injected { node } => {
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
            for (node, input, packet) in mail.headers.drain(..) {
                let packet = self.store(packet);
                self.headers.push((node, input, packet));
            }
            // A packet of one phit departs and is gone in the same cycle.
            for (node, output) in mail.departures.drain(..) {
                self.ahead[node as usize * Q + usize::from(output)].departed = self.clock - 1;
            }
            for (node, output) in mail.credits.drain(..) {
                self.credit(node as usize, output.into());
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
                        let past = self.clock.wrapping_sub(self.rules.tail + 1);
                        self.enter_injection_queue(node, injector, past);
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
                    self.ring.enter(Event::Injected { node: node as u32 });
                }
            }
        }
    }

    /// True if a packet waits in this source buffer and the injection queue has room for it.
    fn can_fill(&self, node: usize, injector: usize) -> bool {
        let rules = &self.rules;
        !self.buffers[node * rules.injectors + injector].waiting.is_empty()
            && u32::from(self.routers[node].lanes[rules.outputs() + injector].count) < rules.queue_packets
    }

    /// `arrived` is the cycle of the first phit, that of a packet's length ago if all phits move at once.
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
        self.enter(node, self.rules.outputs() + injector, packet, arrived);
    }

    /// Headers that were sent in the previous cycle stand in their queues.
    #[inline(always)]
    fn enter_all(&mut self, headers: &[(u32, u8, u32)]) {
        let (clock, keeps_since) = (self.clock, self.rules.keeps_since);
        let (routers, packets) = (&mut self.routers[..], &mut self.packets[..]);
        for &(node, input, packet) in headers {
            let router = &mut routers[node as usize];
            let input = usize::from(input);
            let lane = &mut router.lanes[input];
            lane.reserve(clock - 1);
            if lane.stand(packets, packet) && router.leaving & 1 << input == 0 {
                router.unrouted |= 1 << input;
                if router.wake(1 << input) {
                    self.looking.push(node);
                }
                if keeps_since {
                    self.since[node as usize * Q + input] = clock;
                }
            }
        }
    }

    /// Headers that were sent in the previous cycle take their places; those that have come off the wire stand there.
    fn receive(&mut self, headers: &[(u32, u8, u32)]) {
        for &(node, input, packet) in headers {
            let port = self.rules.port_of(input.into());
            let wire: u64 = self.rules.wires.to(self.first as usize + node as usize, port).into();
            self.report.arrives = self.report.arrives.max(self.clock - 1 + self.rules.tail + wire);
            if wire == 0 {
                self.enter(node as usize, input.into(), packet, self.clock - 1);
            } else {
                self.routers[node as usize].lanes[usize::from(input)].reserve(self.clock - 1);
                self.wire.put(self.clock + wire, (node, input, packet));
            }
        }
        let come = self.wire.turn(self.clock);
        for &(node, input, packet) in &come {
            self.stand(node as usize, input.into(), packet);
        }
        self.wire.keep(self.clock, come);
    }

    /// A packet, whose first phit took its place in cycle `arrived`, stands in a queue.
    fn enter(&mut self, node: usize, input: usize, packet: u32, arrived: u64) {
        self.routers[node].lanes[input].reserve(arrived);
        self.stand(node, input, packet);
    }

    /// A header has come to a queue, in which its packet has room.
    fn stand(&mut self, node: usize, input: usize, packet: u32) {
        let router = &mut self.routers[node];
        if router.lanes[input].stand(&mut self.packets, packet) && router.leaving & 1 << input == 0 {
            router.unrouted |= 1 << input;
            if router.wake(1 << input) {
                self.looking.push(node as u32);
            }
            if self.rules.keeps_since {
                self.since[node * Q + input] = self.clock;
            }
        }
    }

    /// Step 3: heads that are awake ask, outputs that nobody owns are given away, and free links take headers.
    #[inline(always)]
    fn decide(&mut self, node: usize) {
        let router = &mut self.routers[node];
        let look = std::mem::take(&mut router.awake) & router.unrouted;
        let freed = std::mem::take(&mut router.freed);
        if look & look.wrapping_sub(1) == 0 && freed == 0 && !self.rules.more_than_heads {
            if look != 0 {
                self.decide_alone(node, look.trailing_zeros() as usize);
            }
        } else if self.timers.is_empty() {
            self.decide_all(node, look, freed);
        } else {
            let standing = self.standing(node, look);
            self.decide_all(node, look, freed);
            self.time(node, standing);
        }
    }

    /// The transit queues in which a header stands that has to go on; those of `look` may have arrived.
    fn standing(&self, node: usize, look: u64) -> u64 {
        let (router, number) = (&self.routers[node], self.first + node as u32);
        let destination = |input: usize| self.packets[router.lanes[input].waiting.first() as usize].destination;
        let arrived = Bits(look).filter(|&input| destination(input) == number).fold(0, |mask, input| mask | 1 << input);
        router.unrouted & !arrived & ((1u64 << self.rules.outputs()) - 1)
    }

    /// Timers of congestion, after outputs have been given away.
    fn time(&mut self, node: usize, standing: u64) {
        let (queues, router) = (self.rules.outputs(), &mut self.routers[node]);
        let blocked = standing & router.unrouted;
        let is = |mask: u64| move |queue: usize| mask & 1 << queue != 0;
        let is_cleared = self.timers[node].step(self.clock, queues, is(standing), is(blocked));
        // Who was kept from injecting may try now.
        let injecting = router.unrouted >> queues << queues;
        if is_cleared && injecting != 0 && router.wake(injecting) {
            self.looking.push(node as u32);
        }
    }

    /// One head asks, and there is nobody else to be considered.
    #[inline(always)]
    fn decide_alone(&mut self, node: usize, input: usize) {
        let rules = &self.rules;
        let router = &mut self.routers[node];
        let handle = router.lanes[input].waiting.first();
        let packet = &mut self.packets[handle as usize];
        if packet.destination == self.first + node as u32 {
            router.unrouted &= !(1 << input);
            return self.start_consuming(node, input);
        }
        let output = match rules.requests.straight_on(input, &packet.offsets, router.open) {
            true => input,
            false => {
                let Some(output) = self.request(node, input) else { return };
                output
            }
        };
        let rules = &self.rules;
        let router = &mut self.routers[node];
        let lane = &mut router.lanes[output];
        lane.last_winner = input as u8;
        lane.owner = input as u8;
        router.open &= !(1 << output);
        router.unrouted &= !(1 << input);
        if router.busy & 1 << rules.port_of(output) != 0 {
            router.granted |= 1 << output;
            return;
        }
        let packet = &mut self.packets[handle as usize];
        let next = router.send(rules.channel(output), output, input, packet, self.clock);
        self.sent(node, output, input, next, handle);
    }

    /// Any number of heads ask.
    fn decide_all(&mut self, node: usize, look: u64, freed: u64) {
        let mut starting = freed;
        let mut wanted = 0u64;
        for input in Bits(look) {
            if let Some(output) = self.ask(node, input) {
                let asking = &mut self.asking[output & 63];
                *asking = if wanted & 1 << output == 0 { 1 << input } else { *asking | 1 << input };
                wanted |= 1 << output;
            }
        }
        if self.rules.single_consumption {
            self.consume_one(node);
        }
        for output in Bits(wanted) {
            starting |= self.grant(node, output);
        }
        for port in Bits(starting) {
            let vcs = self.rules.layout.vcs();
            let router = &mut self.routers[node];
            let waiting = router.granted >> (port * vcs) & ((1 << vcs) - 1);
            if waiting != 0 {
                let vc = after(waiting, router.links[port].last_vc);
                let output = port * vcs + usize::from(vc);
                router.granted &= !(1 << output);
                let lane = &router.lanes[output];
                let input = usize::from(lane.owner);
                let handle = router.lanes[input].waiting.first();
                let channel = OutputVc { port: Port(port as u8), vc };
                let next = router.send(channel, output, input, &self.packets[handle as usize], self.clock);
                self.sent(node, output, input, next, handle);
            }
        }
    }

    /// The output channel that the head of a queue asks for. One that has arrived turns to consumption; one that asks for
    /// nothing goes to rest.
    #[inline(always)]
    fn ask(&mut self, node: usize, input: usize) -> Option<usize> {
        let router = &mut self.routers[node];
        let packet = &self.packets[router.lanes[input].waiting.first() as usize];
        if packet.destination == self.first + node as u32 {
            router.unrouted &= !(1 << input);
            if self.rules.single_consumption {
                self.endpoints[node].arrived |= 1 << input;
            } else {
                self.start_consuming(node, input);
            }
            return None;
        }
        if self.rules.requests.straight_on(input, &packet.offsets, router.open) {
            return Some(input);
        }
        self.request(node, input)
    }

    /// The output channel that the head of a queue asks for, if it has not arrived and may not go straight on.
    #[inline(always)]
    fn request(&mut self, node: usize, input: usize) -> Option<usize> {
        let packet = &self.packets[self.routers[node].lanes[input].waiting.first() as usize];
        let head = head(&self.rules, self.first + node as u32, input, packet, self.clock);
        let output = self.rules.requests.request(&head, &self.near(node));
        if output.is_none() {
            self.rest(node, input);
        }
        output.map(|output| output.index(self.rules.layout.vcs()))
    }

    /// A head has asked for nothing: it sleeps until something that matters to it changes.
    fn rest(&mut self, node: usize, input: usize) {
        let router = &self.routers[node];
        let packet = &self.packets[router.lanes[input].waiting.first() as usize];
        let head = head(&self.rules, self.first + node as u32, input, packet, self.clock);
        let stays_awake = self.rules.requests.may_change_its_mind(&head, &self.near(node));
        let interest = self.rules.requests.interest(&head);
        let router = &mut self.routers[node];
        if stays_awake {
            if router.wake(1 << input) {
                self.looking.push(node as u32);
            }
            return;
        }
        for port in Bits(interest.adaptive) {
            self.sleepers[node * P + port][0] |= 1 << input;
        }
        for port in Bits(interest.deterministic) {
            self.sleepers[node * P + port][1] |= 1 << input;
        }
    }

    /// Gives the single consumption port to one of the inputs that wait for it.
    fn consume_one(&mut self, node: usize) {
        let this = &self.endpoints[node];
        if this.arrived != 0 && !this.consuming {
            let input = match self.rules.plain_arbitration {
                true => after(this.arrived, this.last_consumed),
                false => self.choose(node, self.rules.outputs(), this.arrived),
            };
            let this = &mut self.endpoints[node];
            this.arrived &= !(1 << input);
            this.consuming = true;
            this.last_consumed = input;
            self.start_consuming(node, input.into());
        }
    }

    /// Gives an output channel to one of the inputs that ask for it. Returns its port, as a mask, if the link is free.
    #[inline(always)]
    fn grant(&mut self, node: usize, output: usize) -> u64 {
        let rules = &self.rules;
        let asking = self.asking[output & 63];
        let chosen = if rules.plain_arbitration { None } else { Some(self.choose(node, output, asking)) };
        let router = &mut self.routers[node];
        let lane = &mut router.lanes[output];
        let winner = chosen.unwrap_or_else(|| after(asking, lane.last_winner));
        lane.last_winner = winner;
        lane.owner = winner;
        router.open &= !(1 << output);
        router.granted |= 1 << output;
        router.unrouted &= !(1 << winner);
        let losers = asking & !(1 << winner);
        if losers != 0 && router.wake(losers) {
            self.looking.push(node as u32);
        }
        1 << rules.port_of(output) & !router.busy
    }

    /// The one of the inputs `asking` (at least one) that is given an output, or the consumption port, whose number comes
    /// after those of outputs: where it is not simply the next one.
    #[inline(never)]
    fn choose(&self, node: usize, output: usize, asking: u64) -> u8 {
        let (rules, number) = (&self.rules, self.first + node as u32);
        let key = arbiter_key(rules.seed, number, output, self.clock);
        let transit = asking & ((1u64 << rules.outputs()) - 1);
        let is_output = output < rules.outputs();
        let last = match is_output {
            true => self.routers[node].lanes[output].last_winner,
            false => self.endpoints[node].last_consumed,
        };
        let priority = if self.near(node).restricts() { rules.in_transit_priority } else { 0.0 };
        let first = is_output && transit != 0 && transit_first(key, priority);
        let candidates = if first { transit } else { asking };
        let asks = |input: usize| candidates & 1 << input != 0;
        let inputs = rules.outputs() + rules.injectors;
        let winner = winner(rules.arbitration, inputs, last.into(), key, asks, |input| self.contender(node, input));
        winner.map_or(last, |input| input as u8)
    }

    fn contender(&self, node: usize, input: usize) -> Contender {
        let rules = &self.rules;
        let lane = &self.routers[node].lanes[input];
        let transit = input < rules.outputs();
        // Injection queues have been filled in this cycle already.
        let now = if transit { self.clock } else { self.clock + 1 };
        Contender {
            since: self.since.get(node * Q + input).copied().unwrap_or(0),
            phits: lane.phits(false, rules.packet_phits, now),
            start: self.packets[lane.waiting.first() as usize].start,
            vc: transit.then(|| rules.channel(input).vc),
        }
    }

    /// Phase B: a free link has taken the header of a packet from `input`, towards node `next`.
    #[inline(always)]
    fn sent(&mut self, node: usize, output: usize, input: usize, next: u32, handle: u32) {
        let rules = &self.rules;
        let packet = &mut self.packets[handle as usize];
        let port = rules.port_of(output);
        let (here, there) = (NodeId(self.first + node as u32), NodeId(packet.destination));
        rules.requests.hop(here, there, packet.key, Port(port as u8), &mut packet.offsets);
        packet.hops += 1;
        if input >= rules.outputs() {
            self.report.waited.push(self.clock - packet.start);
        }
        if let Some(crossed) = self.crossed.get_mut(node * P + port) {
            *crossed += 1;
        }
        self.crossing.enter(Left { node: node as u32, output: output as u8, input: input as u8 });
        if (next as usize) < self.routers.len() {
            self.headers.push((next, output as u8, handle));
        } else {
            let Abroad { part, node } = self.border[next as usize - self.routers.len()];
            self.outbox[part as usize].headers.push((node, output as u8, self.packets[handle as usize]));
            self.vacant.push(handle);
        }
        if self.rules.compares_space {
            self.ahead[node * Q + output].sent = self.clock;
            self.tell_departure(node, input);
        }
    }

    fn start_consuming(&mut self, node: usize, input: usize) {
        let router = &mut self.routers[node];
        let lane = &mut router.lanes[input];
        let packet = lane.waiting.first();
        lane.waiting.pop(&self.packets[packet as usize]);
        lane.departed = Stamp::new(self.clock);
        router.leaving |= 1 << input;
        self.report.moved = true;
        self.ring.enter(Event::Consumed { node: node as u32, input: input as u8, packet });
        if self.rules.compares_space {
            self.tell_departure(node, input);
        }
    }

    /// Tells the sender before a transit queue that a header has begun to leave it.
    fn tell_departure(&mut self, node: usize, input: usize) {
        if input >= self.rules.outputs() {
            return;
        }
        let behind = self.routers[node].links[self.rules.port_of(input)].upstream as usize;
        if behind < self.routers.len() {
            self.ahead[behind * Q + input].departed = self.clock;
        } else {
            let Abroad { part, node } = self.border[behind - self.routers.len()];
            self.outbox[part as usize].departures.push((node, input as u8));
        }
    }

    /// Step 4: a tail has left an input through an output channel: channel and link are free.
    #[inline(always)]
    fn left(&mut self, node: usize, output: usize, input: usize) {
        let rules = &self.rules;
        let port = rules.port_of(output);
        let router = &mut self.routers[node];
        router.busy &= !(1 << port);
        let mut woken = 0;
        if router.granted & rules.layout.channels(port) != 0 {
            router.freed |= 1 << port;
            woken = NO_INPUT;
        }
        let lane = &mut router.lanes[output];
        lane.owner = NOBODY;
        if lane.credits > 0 {
            router.open |= 1 << output;
            if router.has_sleepers(0) {
                let sleepers = &mut self.sleepers[node * P + port][rules.kind(output)];
                woken |= std::mem::take(sleepers) & router.unrouted;
            }
        }
        self.departed(node, input, woken);
    }

    /// Step 4: a tail has been consumed.
    fn consumed(&mut self, node: usize, input: usize) {
        let router = &mut self.routers[node];
        let this = &mut self.endpoints[node];
        if this.consuming {
            this.consuming = false;
            if this.arrived != 0 && router.wake(NO_INPUT) {
                self.looking.push(node as u32);
            }
        }
        self.departed(node, input, 0);
    }

    /// A tail has left a queue: the next head can be routed, and there is room for one more packet. `woken` are inputs that
    /// are to be looked at for another reason.
    #[inline(always)]
    fn departed(&mut self, node: usize, input: usize, mut woken: u64) {
        let rules = &self.rules;
        let router = &mut self.routers[node];
        let lane = &mut router.lanes[input];
        lane.count -= 1;
        router.leaving &= !(1 << input);
        if !lane.waiting.is_empty() {
            router.unrouted |= 1 << input;
            woken |= 1 << input;
            if rules.keeps_since {
                self.since[node * Q + input] = self.clock + 1;
            }
        }
        let outputs = rules.outputs();
        let port = rules.port_of(input);
        if input < outputs && router.has_sleepers(woken) {
            // The bubble of this ring may have opened for those who want to enter it here.
            let sleepers = &mut self.sleepers[node * P + port];
            woken |= std::mem::take(&mut sleepers[1]) & router.unrouted;
            if rules.lbr > 0 {
                woken |= std::mem::take(&mut sleepers[0]) & router.unrouted;
            }
        }
        if woken != 0 && router.wake(woken) {
            self.looking.push(node as u32);
        }
        if input >= outputs {
            if !self.buffers[node * rules.injectors + input - outputs].waiting.is_empty() {
                self.wake_buffers(node);
            }
            return;
        }
        let behind = router.links[port].upstream as usize;
        if behind < self.routers.len() {
            self.credit(behind, input);
        } else {
            let Abroad { part, node } = self.border[behind - self.routers.len()];
            self.outbox[part as usize].credits.push((node, input as u8));
        }
    }

    /// There is room for one more packet behind an output channel.
    #[inline(always)]
    fn credit(&mut self, node: usize, output: usize) {
        let rules = &self.rules;
        if rules.compares_space {
            self.ahead[node * Q + output].departed = Ahead::NEVER;
        }
        let router = &mut self.routers[node];
        let lane = &mut router.lanes[output];
        lane.credits += 1;
        if lane.credits == 1 && lane.owner == NOBODY {
            router.open |= 1 << output;
            if router.has_sleepers(0) {
                let (port, kind) = (rules.port_of(output), rules.kind(output));
                self.wake_sleepers(node, port, kind);
            }
        }
    }

    /// Wakes the heads that sleep at a link until an adaptive (0) or deterministic (1) channel opens.
    fn wake_sleepers(&mut self, node: usize, port: usize, kind: usize) {
        let router = &mut self.routers[node];
        let woken = std::mem::take(&mut self.sleepers[node * P + port][kind]) & router.unrouted;
        if woken != 0 && router.wake(woken) {
            self.looking.push(node as u32);
        }
    }

    fn wake_buffers(&mut self, node: usize) {
        if !self.endpoints[node].injecting {
            self.endpoints[node].injecting = true;
            self.injecting.push(node as u32);
        }
    }

    #[inline(always)]
    fn near(&self, node: usize) -> Near<'_, L, Q, P> {
        let (ahead, timers) = (&self.ahead, &self.timers);
        Near { rules: &self.rules, router: &self.routers[node], node, ahead, timers, now: self.clock }
    }
}
