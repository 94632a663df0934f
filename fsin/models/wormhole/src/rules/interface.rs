//! Endpoints: sources cut messages into packets and packets into flits; sinks put them together again.
//!
//! An endpoint has one tap, or one for each link of its router, and each tap sends at most one flit a cycle, fewer over
//! a slow link. It has a queue without bound for each message class, and sends one packet of a queue after the other;
//! classes that have a flit and a credit take turns, those of a higher priority first. A head takes the first VC of its
//! class that has a credit and that no other packet of the source has, cyclically from the one after that of the
//! queue's last packet; if that packet had another range of VCs, the head takes no VC but the first of its class. The
//! other flits of the packet wait for credits of that VC. All classes may have one queue instead, in which replies pass
//! requests. A sink takes what comes, one flit a cycle.

use std::collections::VecDeque;
use std::sync::Arc;

use fsin_core::interface::{Interface, Lane, Pending};
use fsin_core::route::Phase;
use fsin_core::stats::Receipt;
use trgen::NodeId;
use trgen::rng::{mix2, pick};

use super::buffers::Pool;
use super::channels::{SourceOrder, VcRanges};
use super::details::Stages;
use super::outages::{Identity, Outages};
use super::priority::Priority;
use super::routes::Head;
use super::whole::Report;
use super::wiring::Wiring;
use crate::params::Params;
use fsin_core::slab::Slab;
use fsin_core::topology::switched::PacedLink;

/// A flit of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Flit {
    /// Handle of its packet.
    pub(crate) packet: u32,
    pub(crate) is_head: bool,
    pub(crate) is_tail: bool,
}

/// A packet under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
    /// The message to which the packet belongs.
    message: u32,
    pub(crate) source: u32,
    pub(crate) destination: u32,
    /// \[flits\] Length of the packet.
    pub(crate) flits: u32,
    /// Random stream of (run seed, packet).
    pub(crate) key: u64,
    /// Number of the packet among the packets of its source.
    sequence: u64,
    /// \[cycle\] Cycle in which the message was offered.
    pub(crate) start: u64,
    /// \[cycle\] Cycle in which the head left the previous [stage](super::details::Stages).
    pub(crate) mark: u64,
    /// \[links\] Number of links crossed.
    pub(crate) hops: u32,
    /// \[cycles\] Time of the head in the stage `source`.
    pub(crate) source_cycles: u32,
    /// \[cycles\] Time of the head in the stage `vc_allocation`.
    pub(crate) vc_cycles: u32,
    /// \[cycles\] Time of the head in the stage `switch_allocation`.
    pub(crate) switch_cycles: u32,
    /// \[cycles\] Time of the head in the stage `traversal`.
    pub(crate) traversal_cycles: u32,
    /// \[cycles\] Time of the head in the stage `link`.
    pub(crate) link_cycles: u32,
    /// State of the route, whose meaning is private to the routing function.
    pub(crate) phase: Phase,
    /// Message class of the message.
    pub(crate) class: u8,
    /// Class that the source of traffic gave the message.
    pub(crate) source_class: u8,
}

impl Packet {
    /// The packet as the record knows it.
    pub(crate) const fn identity(&self) -> Identity {
        (NodeId(self.source), self.sequence)
    }

    /// Number of the packet among the packets of its source.
    pub(crate) const fn sequence(&self) -> u64 {
        self.sequence
    }

    /// What a routing function knows of the packet at a VC of an input port.
    #[inline(always)]
    pub(crate) const fn head(&self, (input, vc): (usize, usize)) -> Head {
        let &Self { source, destination, phase, class, .. } = self;
        Head { source, destination, phase, class, input: input as u8, vc: vc as u8 }
    }

    /// \[cycles\] Time of the head in the stage that it leaves now, in cycle `now`.
    #[inline(always)]
    pub(crate) fn end_stage(&mut self, now: u64) -> u32 {
        (now - std::mem::replace(&mut self.mark, now)) as u32
    }
}

/// A message at its source. The last of its packets has not begun to be sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unsent {
    /// The tap of the source, by its number among those of the part.
    pub(crate) endpoint: u32,
    /// Message class.
    pub(crate) class: u8,
    /// Class that the source of traffic gave it.
    pub(crate) source_class: u8,
    pub(crate) message: u32,
    pub(crate) destination: u32,
    /// \[cycle\] Cycle in which the message was offered.
    pub(crate) offered: u64,
    /// \[flits\] Flits that are in no packet yet.
    pub(crate) left: u64,
}

impl Pending for Unsent {
    fn destination(&self) -> NodeId {
        NodeId(self.destination)
    }
}

impl Unsent {
    /// The message without a packet of at most so many flits; `None` if that is the last.
    #[inline]
    fn rest(&self, flits: u64) -> Option<Self> {
        (self.left > flits).then(|| Self { left: self.left - flits, ..*self })
    }
}

/// A packet that a source has begun to send.
#[derive(Clone, Copy, Debug)]
struct Sending {
    packet: u32,
    /// \[flits\] Flits that have not been sent.
    left: u32,
    /// The subnet in which the packet is sent.
    subnet: u8,
    /// The VC of the router's input port on which the packet is sent.
    vc: u8,
    /// The message, if this is the last packet of it.
    ends: Option<u32>,
    /// True if its head has been sent: not in the cycle in which it began, if the buffer of the router then has no place
    /// for it because of another packet.
    is_on_its_way: bool,
}

/// An endpoint's queue of a message class, or of all.
#[derive(Clone, Debug)]
struct Queue {
    /// Replies, which are sent before the other messages, where one queue has all classes.
    first: VecDeque<Unsent>,
    /// Messages that are not yet cut into packets completely, sent one after another.
    unsent: VecDeque<Unsent>,
    /// In place of them: messages that take turns. `None` unless the interface is interleaved.
    lane: Option<Box<Lane<Unsent>>>,
    /// The packet that is being sent.
    sending: Option<Sending>,
    /// The VC of the last packet; [`NO_VC`] before the first one.
    last_vc: u8,
}

/// Label of the draw of a subnet; routes have those of 32 bits.
const SUBNET: u64 = 1 << 40;

/// No VC.
const NO_VC: u8 = u8::MAX;

impl Queue {
    /// The messages that take turns.
    fn lane(&self) -> impl Iterator<Item = &Lane<Unsent>> {
        self.lane.iter().map(|lane| &**lane)
    }

    /// True if a packet can be taken.
    #[inline]
    fn has_more(&self) -> bool {
        !self.unsent.is_empty() || !self.first.is_empty() || self.lane.as_ref().is_some_and(|lane| !lane.is_empty())
    }

    /// All messages, in any order.
    fn all(&self) -> impl Iterator<Item = &Unsent> {
        self.first.iter().chain(&self.unsent).chain(self.lane().flat_map(Lane::all))
    }

    /// Removes all messages but those to `keep`.
    fn retain(&mut self, keep: impl Fn(&Unsent) -> bool) {
        self.first.retain(&keep);
        self.unsent.retain(&keep);
        if let Some(lane) = &mut self.lane {
            lane.retain(keep);
        }
    }

    /// Takes a packet of at most so many flits from the message in turn. Returns the message as it was with it.
    #[inline]
    fn take(&mut self, flits: u64) -> Option<Unsent> {
        if let Some(lane) = &mut self.lane {
            return Some(lane.next(|_| Some(()), |unsent| unsent.rest(flits))?.1);
        }
        let from = if self.first.is_empty() { &mut self.unsent } else { &mut self.first };
        let front = from.front_mut()?;
        let unsent = *front;
        match unsent.rest(flits) {
            Some(rest) => *front = rest,
            None => drop(from.pop_front()),
        }
        Some(unsent)
    }

    /// The message of the next packet, where messages do not take turns.
    fn next(&self) -> Option<&Unsent> {
        self.first.front().or_else(|| self.unsent.front())
    }
}

/// An endpoint's state for all its message classes.
#[derive(Clone, Copy, Default, Debug)]
struct Source {
    /// Number of packets sent so far.
    sequence: u64,
    /// The message class that may send first in the next cycle.
    next_class: u8,
}

/// The endpoints of a part of the network. They have local numbers, from 0.
#[derive(Debug)]
pub(crate) struct Endpoints {
    /// \[flits\] Length of the longest packet.
    packet_flits: u64,
    /// Seed of the run.
    seed: u64,
    /// Number of links of the topology between an endpoint and its router.
    own_links: u32,
    params: Params,
    /// By tap: its number in the whole network.
    numbers: Vec<u32>,
    /// Number of taps of an endpoint.
    own: u32,
    /// By endpoint: its state for all message classes.
    sources: Vec<Source>,
    /// By endpoint and number of the queue: its queue.
    queues: Vec<Queue>,
    /// \[flits\] By endpoint and VC of the router's input port: credits.
    credits: Vec<u32>,
    /// By tap: its link, where some links pass less than a flit in each cycle; else empty.
    links: Vec<PacedLink>,
    /// Number of queues of each source.
    per_source: usize,
    /// By tap: the buffer of its router's input port, where VCs share it; else empty.
    pools: Vec<Pool>,
    /// By message class: its first VC, and the number of its VCs.
    ranges: Vec<(u8, u8)>,
    /// True if several queues of a source may use the same VC.
    shares_vcs: bool,
    /// True if there is one queue, of one class and subnet, buffers are not shared, and every link passes a flit in each
    /// cycle. There is code of its own for such endpoints.
    is_plain: bool,
    /// True if the endpoints begin no packets.
    pub(crate) is_held: bool,
    /// Links that are dead at times.
    outages: Arc<Outages>,
    /// Packets under way whose head is in this part.
    pub(crate) packets: Slab<Packet>,
    /// What the endpoints have done since the last report.
    pub(crate) report: Report,
    /// \[flits\] Flits that these sources have sent.
    pub(crate) flits_sent: u64,
    /// \[flits\] Flits that these sinks have received.
    pub(crate) flits_received: u64,
}

/// Takes the next place of a packet in the buffer of its router, if there is one.
#[cold]
fn takes_place(pool: &mut Pool, sending: &Sending) -> bool {
    let has_room = pool.room(sending.vc.into()) > 0;
    if has_room {
        pool.send(sending.vc.into(), sending.left == 1);
    }
    has_room
}

impl Endpoints {
    /// The endpoints with these taps.
    pub(crate) fn new(params: &Params, numbers: Vec<u32>, wiring: &Wiring) -> Self {
        let own = wiring.own;
        let lane = match params.interface {
            Interface::Interleaved(most) => Some(Box::new(Lane::new(most))),
            Interface::Serial | Interface::PerPort => None,
        };
        let queue = Queue { first: VecDeque::new(), unsent: VecDeque::new(), lane, sending: None, last_vc: NO_VC };
        let range = |class: usize| {
            let (first, count) = params.vcs_of(class as u8);
            (first as u8, count as u8)
        };
        let count = numbers.len();
        Self {
            packet_flits: params.packet_flits.into(),
            seed: params.seed,
            own_links: wiring.links_of_endpoint() as u32,
            links: wiring
                .paced
                .iter()
                .flat_map(|paced| numbers.iter().map(|&tap| paced.from_taps[tap as usize]))
                .collect(),
            per_source: params.queues(),
            pools: if params.shares_buffers() { vec![Pool::new(params); count] } else { Vec::new() },
            ranges: (0..params.message_classes).map(range).collect(),
            shares_vcs: params.queues() > 1 && params.vc_ranges != VcRanges::Apart,
            is_plain: params.message_classes == 1
                && params.source_order == SourceOrder::InTurn
                && params.subnets == 1
                && !params.shares_buffers()
                && wiring.paced.is_none(),
            is_held: false,
            outages: Arc::clone(&wiring.outages),
            sources: numbers
                .iter()
                .map(|&tap| Source { sequence: u64::from(tap % own as u32), next_class: 0 })
                .collect(),
            numbers,
            own: own as u32,
            queues: vec![queue; count * params.queues()],
            credits: vec![params.deepest(); count * params.vcs],
            params: params.clone(),
            packets: Slab::new(),
            report: Report::default(),
            flits_sent: 0,
            flits_received: 0,
        }
    }

    /// Puts a message into the queue of its source, which has no bound.
    #[inline]
    pub(crate) fn accept(&mut self, unsent: Unsent) {
        if !self.is_plain && self.params.source_order == SourceOrder::RepliesFirst {
            let queue = &mut self.queues[unsent.endpoint as usize];
            if unsent.class.is_multiple_of(2) {
                return queue.unsent.push_back(unsent);
            }
            // The time of a reply begins when its request has arrived, in the cycle before.
            return queue.first.push_back(Unsent { offered: unsent.offered.saturating_sub(1), ..unsent });
        }
        let queue = unsent.endpoint as usize * self.params.message_classes + usize::from(unsent.class);
        match &mut self.queues[queue].lane {
            None => self.queues[queue].unsent.push_back(unsent),
            Some(lane) => lane.push(unsent),
        }
    }

    /// Returns a credit to an endpoint, for a VC of its router's input port.
    #[inline]
    pub(crate) fn credit(&mut self, endpoint: usize, vc: usize) {
        self.credits[endpoint * self.params.vcs + vc] += 1;
        if let Some(pool) = self.pools.get_mut(endpoint) {
            pool.credit(vc);
        }
    }

    /// The tap whose queues send by a tap: another one only with several subnets.
    #[inline]
    pub(crate) fn sender(&self, tap: usize) -> usize {
        if self.params.subnets > 1 { tap - tap % self.own as usize } else { tap }
    }

    /// True if an endpoint has a flit left to send.
    #[inline]
    pub(crate) fn has_flits(&self, endpoint: usize) -> bool {
        self.queues(endpoint).iter().any(|queue| queue.sending.is_some() || queue.has_more())
    }

    /// True if an endpoint has a flit left to send of a message that its source of traffic gave another class.
    pub(crate) fn has_other_than(&self, endpoint: usize, source_class: u8) -> bool {
        self.queues(endpoint).iter().any(|queue| {
            let sending = queue.sending.map(|sending| self.packets[sending.packet].source_class);
            let mut classes = queue.all().map(|unsent| unsent.source_class).chain(sending);
            classes.any(|class| class != source_class)
        })
    }

    /// The VC of its router's input port into which an endpoint sends the last of its message classes that has a flit
    /// left; `None` if it has none.
    pub(crate) fn sends_into(&self, endpoint: usize) -> Option<usize> {
        let queues = self.queues(endpoint).iter().enumerate();
        let mut busy = queues.rev().filter(|(_, queue)| queue.sending.is_some() || queue.has_more());
        let (_, queue) = busy.next()?;
        if let Some(sending) = queue.sending {
            return Some(sending.vc.into());
        }
        let class = queue.all().next()?.class;
        let (first, count) = self.vcs_of(class);
        Some(first + search(queue.last_vc, first, count).0)
    }

    /// The first VC of a message class, and their number.
    #[inline]
    fn vcs_of(&self, class: u8) -> (usize, usize) {
        let (first, count) = self.ranges[usize::from(class)];
        (first.into(), count.into())
    }

    /// The queues of an endpoint: by message class, or one.
    #[inline]
    fn queues(&self, endpoint: usize) -> &[Queue] {
        let count = self.params.queues();
        &self.queues[endpoint * count..][..count]
    }

    /// \[packets\] Packets that an endpoint has not begun to send.
    pub(crate) fn waiting(&self, endpoint: usize) -> u64 {
        self.queues(endpoint).iter().flat_map(Queue::all).map(|unsent| self.packets_of(unsent)).sum()
    }

    /// Removes the messages that `is_lost` from the queues of all endpoints, and returns them.
    pub(crate) fn give_up(&mut self, is_lost: impl Fn(&Unsent) -> bool) -> Vec<Unsent> {
        let mut lost = Vec::new();
        for queue in &mut self.queues {
            let before = lost.len();
            lost.extend(queue.all().filter(|unsent| is_lost(unsent)).copied());
            if lost.len() > before {
                queue.retain(|unsent| !is_lost(unsent));
            }
        }
        lost
    }

    /// \[packets\] Packets of a message that have not begun to be sent.
    pub(crate) const fn packets_of(&self, unsent: &Unsent) -> u64 {
        unsent.left.div_ceil(self.packet_flits)
    }

    /// \[flits\] By VC: the credits of an endpoint.
    pub(crate) fn credits(&self, endpoint: usize) -> &[u32] {
        &self.credits[endpoint * self.params.vcs..][..self.params.vcs]
    }

    /// The flit that an endpoint sends in this cycle, its VC and its subnet; `None` if it sends nothing.
    pub(crate) fn send(&mut self, endpoint: usize, now: u64) -> Option<(Flit, u8, u8)> {
        if self.is_plain {
            return self.send_of::<true>(endpoint, 0, now);
        }
        if self.waits_for_link(endpoint, now) {
            return None;
        }
        let classes = self.params.queues() as u8;
        let first = self.sources[endpoint].next_class;
        let mut turns = (first..classes).chain(0..first);
        if matches!(self.params.priority, Priority::Class | Priority::Age) {
            return self.send_by_priority(endpoint, turns, now);
        }
        turns.find_map(|class| self.send_class(endpoint, class, now))
    }

    /// Sends a flit of the class of the largest priority that has one that can be sent; of equals, the first in turn.
    fn send_by_priority(
        &mut self,
        endpoint: usize,
        turns: impl Iterator<Item = u8> + Clone,
        now: u64,
    ) -> Option<(Flit, u8, u8)> {
        let mut tried = 0u32;
        loop {
            let mut best: Option<(i64, u8)> = None;
            for class in turns.clone() {
                if tried >> class & 1 != 0 {
                    continue;
                }
                match self.priority_of(endpoint, class) {
                    None => tried |= 1 << class,
                    Some(priority) if best.is_none_or(|(most, _)| priority > most) => best = Some((priority, class)),
                    Some(_) => {}
                }
            }
            let (_, class) = best?;
            tried |= 1 << class;
            let sent = self.send_class(endpoint, class, now);
            if sent.is_some() {
                return sent;
            }
        }
    }

    /// The priority of a class at its source; `None` if the class has nothing to send.
    #[inline]
    fn priority_of(&self, endpoint: usize, class: u8) -> Option<i64> {
        let queue = &self.queues[endpoint * self.per_source + usize::from(class)];
        let start = match queue.sending {
            Some(sending) => Some(self.packets[sending.packet].start),
            None if queue.has_more() => queue.next().map(|unsent| unsent.offered),
            None => return None,
        };
        match self.params.priority {
            Priority::Class => Some(self.params.class_priority(class)),
            _ => Some(start.map_or(0, |start| -(start as i64))),
        }
    }

    /// Sends a flit of a class, if it has one that can be sent.
    #[inline]
    fn send_class(&mut self, endpoint: usize, class: u8, now: u64) -> Option<(Flit, u8, u8)> {
        let sent = self.send_of::<false>(endpoint, class, now)?;
        self.sources[endpoint].next_class = (class + 1) % self.params.queues() as u8;
        if let Some(link) = self.links.get_mut(endpoint) {
            link.begin(now);
        }
        Some(sent)
    }

    /// True if an endpoint cannot send in this cycle because its link is busy.
    pub(crate) fn waits_for_link(&self, endpoint: usize, now: u64) -> bool {
        self.links.get(endpoint).is_some_and(|link| link.next() > now)
    }

    /// The flit of one queue that an endpoint, [plain](Self::is_plain) or not, sends in this cycle, and its VC.
    #[inline]
    fn send_of<const PLAIN: bool>(&mut self, endpoint: usize, number: u8, now: u64) -> Option<(Flit, u8, u8)> {
        let at = if PLAIN { endpoint } else { endpoint * self.per_source + usize::from(number) };
        let mut is_head = self.queues[at].sending.is_none();
        if is_head {
            self.begin::<PLAIN>(endpoint, number, now)?;
        }
        let queue = &mut self.queues[at];
        let sending = queue.sending.as_mut()?;
        let tap = if PLAIN { endpoint } else { endpoint + usize::from(sending.subnet) };
        let credits = &mut self.credits[tap * self.params.vcs + usize::from(sending.vc)];
        if *credits == 0 {
            return None;
        }
        if !PLAIN && !self.pools.is_empty() && !takes_place(&mut self.pools[tap], sending) {
            return None;
        }
        *credits -= 1;
        self.flits_sent += 1;
        sending.left -= 1;
        if !PLAIN {
            is_head = !std::mem::replace(&mut sending.is_on_its_way, true);
        }
        let subnet = if PLAIN { 0 } else { sending.subnet };
        let (vc, flit) = (sending.vc, Flit { packet: sending.packet, is_head, is_tail: sending.left == 0 });
        if flit.is_tail {
            self.report.sent.extend(sending.ends);
            queue.sending = None;
        }
        Some((flit, vc, subnet))
    }

    /// The key of the random choices of the next packet of an endpoint.
    fn key_of_next(&self, endpoint: usize) -> u64 {
        let number = self.numbers[endpoint] / self.own;
        mix2(mix2(self.seed, number.into()), self.sources[endpoint].sequence)
    }

    /// The subnet of the next packet of an endpoint, drawn.
    #[cold]
    fn subnet_of_next(&self, endpoint: usize) -> u8 {
        pick(mix2(self.key_of_next(endpoint), SUBNET), self.params.subnets as u32) as u8
    }

    /// The VCs of a tap into which another packet may be sent, as a mask.
    #[cold]
    fn open_vcs(&self, endpoint: usize) -> u32 {
        let sending = self.queues(endpoint).iter().filter_map(|queue| queue.sending);
        let taken = sending.fold(0u32, |mask, sending| mask | 1 << sending.vc);
        let Some(pool) = self.pools.get(endpoint) else { return !taken };
        (0..self.params.vcs).filter(|&vc| pool.room(vc) > 0).fold(0, |mask, vc| mask | 1 << vc) & !taken
    }

    /// Begins the next packet of a queue, if there is a packet and a VC for it; otherwise returns `None`.
    fn begin<const PLAIN: bool>(&mut self, endpoint: usize, number: u8, now: u64) -> Option<()> {
        let of = |endpoint: usize| if PLAIN { endpoint } else { endpoint * self.per_source + usize::from(number) };
        let (at, mut of_tap) = (of(endpoint), of(endpoint));
        if self.is_held || !self.queues[at].has_more() {
            return None;
        }
        let (mut tap, mut subnet, mut open) = (endpoint, 0, u32::MAX);
        if !PLAIN && self.params.subnets > 1 {
            subnet = self.subnet_of_next(endpoint);
            tap += usize::from(subnet);
            of_tap = of(tap);
        }
        if !PLAIN && (self.shares_vcs || !self.pools.is_empty()) {
            open = self.open_vcs(tap);
        }
        let last_vc = self.queues[of_tap].last_vc;
        let queue = &mut self.queues[at];
        let source = &mut self.sources[endpoint];
        // Messages of a queue of one class alone take turns.
        let class = if PLAIN { 0 } else { queue.next().map_or(number, |unsent| unsent.class) };
        let (base, vcs) = self.ranges[usize::from(class)];
        let (base, vcs) = (usize::from(base), usize::from(vcs));
        let (first, vcs) = search(last_vc, base, vcs);
        let credits = &self.credits[tap * self.params.vcs + base..][..vcs];
        let vc = (first..vcs).chain(0..first).find(|&vc| credits[vc] > 0 && open >> (base + vc) & 1 != 0)?;
        let unsent = queue.take(self.packet_flits)?;
        let flits = unsent.left.min(self.packet_flits);
        let waited = now - unsent.offered;
        let node = self.numbers[endpoint] / self.own;
        let packet = Packet {
            message: unsent.message,
            source: node,
            destination: unsent.destination,
            flits: flits as u32,
            key: mix2(mix2(self.seed, node.into()), source.sequence),
            sequence: source.sequence,
            start: unsent.offered,
            mark: now,
            hops: self.own_links,
            source_cycles: waited as u32,
            vc_cycles: 0,
            switch_cycles: 0,
            traversal_cycles: 0,
            link_cycles: 0,
            phase: 0,
            class,
            source_class: unsent.source_class,
        };
        let ends = (unsent.left == flits).then_some(unsent.message);
        source.sequence += u64::from(self.own);
        let vc = (base + vc) as u8;
        if !PLAIN && let Some(pool) = self.pools.get_mut(tap) {
            pool.own(vc.into());
        }
        let packet = self.packets.store(packet);
        queue.sending = Some(Sending { packet, left: flits as u32, subnet, vc, ends, is_on_its_way: false });
        self.queues[of_tap].last_vc = vc;
        self.report.short += self.packet_flits - flits;
        self.report.waited.record(waited);
        self.report.hops += u64::from(self.own_links);
        Some(())
    }

    /// Records that the head of a packet is granted the switch of a router, towards another router or its endpoint. Its
    /// time on links counts from here on.
    #[inline]
    pub(crate) fn head_leaves(&mut self, packet: u32, is_to_endpoint: bool) {
        let links = if is_to_endpoint { self.own_links } else { 1 };
        self.packets[packet].hops += links;
        self.report.hops += u64::from(links);
    }

    /// Lets a sink take a flit in cycle `now`.
    pub(crate) fn receive(&mut self, flit: Flit, now: u64) {
        self.flits_received += 1;
        let packet = &mut self.packets[flit.packet];
        if flit.is_head {
            packet.link_cycles += packet.end_stage(now);
        }
        if !flit.is_tail {
            return;
        }
        let serialization = packet.end_stage(now);
        if !self.outages.is_empty() && self.outages.damage(packet.destination, now - u64::from(serialization), now) {
            self.report.damaged.push(packet.identity());
        }
        self.report.stages.add(&Stages {
            source: packet.source_cycles.into(),
            vc_allocation: packet.vc_cycles.into(),
            switch_allocation: packet.switch_cycles.into(),
            traversal: packet.traversal_cycles.into(),
            link: packet.link_cycles.into(),
            serialization: serialization.into(),
        });
        let receipt = Receipt {
            source: NodeId(packet.source),
            destination: NodeId(packet.destination),
            sequence: packet.sequence,
            latency: now - packet.start,
            hops: packet.hops.into(),
        };
        self.report.received.push((packet.message, packet.flits, receipt));
        self.packets.release(flit.packet);
    }
}

/// The search for a VC of a range of `count` from `first` on, counted from the first: where it begins, and how many are
/// searched. It goes round from the one behind the last VC; where that is of another range, or there is none, the first
/// VC is the only one, as in BookSim.
#[inline]
fn search(last: u8, first: usize, count: usize) -> (usize, usize) {
    let last = usize::from(last);
    if (first..first + count).contains(&last) { ((last + 1 - first) % count, count) } else { (0, 1) }
}
