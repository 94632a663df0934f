//! The state of a network of one partition, to recognise that a run repeats itself; and the passing of whole periods.
//!
//! Everything is written that the next cycle reads, but for three kinds of things. What never changes: rules, and what
//! links lead to. What only names packets: their numbers, and the random streams that follow from these. And handles:
//! packets are written where they are, messages in the order of their mention. Entries of lists are sorted, since no
//! result depends on their order.
//!
//! Without a draw, nothing depends on the random streams. [`compares`] says which networks draw at most the direction
//! of a packet whose destination is equally far in both; the engine notices those.
//!
//! Decision: docs/decisions/0280-repetition.md.

use trgen::recurrence::State;
use trgen::{Cycle, NodeId};

use super::super::chain::Chain;
use super::super::mask::Mask;
use super::super::rules::Rules;
use super::super::state::{Buffer, Endpoint, Packet, Sender, Waiting};
use super::{Event, Left, Part, Works};
use crate::engine::messages::{Slot, Unsent};
use crate::router::layout::Layout;
use crate::router::request::packet_key;
use crate::router::{Injection, Interface};
use fsin_core::messages::Messages;
use fsin_core::ring::Ring;

/// True if states of networks with these rules can be compared: nothing else is part of their state than what is
/// written here, and they draw nothing but directions of packets.
pub(in crate::engine::fast) fn compares<L: Layout>(rules: &Rules<L>) -> bool {
    let draws = rules.routing.row().draws_with.is_some_and(|least| rules.vcs >= least);
    let plain = rules.plain_arbitration && rules.interface == Interface::Serial && rules.injectors == 1;
    !draws
        && plain
        && rules.injection == Injection::Shortest
        && rules.global_cc.is_none()
        && rules.timeouts.is_none()
        && rules.timetable.outages().is_empty()
        && !(rules.compares_space || rules.keeps_since || rules.keeps_moves || rules.is_paced)
        && !rules.layout.is_switched()
}

impl<L: Layout> Rules<L> {
    /// True if the direction of packets from a node to another is drawn.
    pub(in crate::engine::fast) fn draws_direction(&self, from: NodeId, to: NodeId) -> bool {
        let mut is_drawn = false;
        self.topology.offsets(from, to, &mut |_| {
            is_drawn = true;
            true
        });
        is_drawn
    }
}

/// The messages that have been mentioned, in their order.
struct Mentions<'a> {
    messages: &'a Messages,
    slots: Vec<Slot>,
}

impl Mentions<'_> {
    /// Mentions the message in a slot.
    fn put(&mut self, into: &mut State, slot: Slot) {
        let before = into.messages().len();
        into.put_message(self.messages.get(slot).message.id);
        if into.messages().len() > before {
            self.slots.push(slot);
        }
    }

    /// Writes a packet.
    fn put_packet<const D: usize>(&mut self, into: &mut State, packet: &Packet<D>) {
        let &Packet {
            next: _,
            destination,
            offsets,
            candidates,
            key: _,
            start,
            sequence: _,
            message,
            hops,
            behind,
            ..
        } = packet;
        into.put(u64::from(packet.source()) << 32 | u64::from(destination));
        for some in offsets.chunks(4) {
            into.put(some.iter().fold(0, |word, &hops| word << 16 | u64::from(hops as u16)));
        }
        into.put(candidates);
        into.put_time(Cycle(start));
        into.put(u64::from(hops) << 32 | u64::from(behind));
        into.put(packet.is_long().into());
        self.put(into, message);
    }
}

/// Writes the number of some things, and the things.
fn put_all<T>(into: &mut State, all: impl ExactSizeIterator<Item = T>, mut put: impl FnMut(&mut State, T)) {
    into.put(all.len() as u64);
    all.for_each(|one| put(into, one));
}

/// The entries of a ring with their times, in an order that does not depend on that of the lists.
fn sorted<T: Copy>(ring: &Ring<T>, now: u64, key: impl Fn(&T) -> (u32, u32)) -> Vec<(u64, T)> {
    let all: Vec<(u64, T)> = ring.entries(now).map(|(at, event)| (at, *event)).collect();
    in_order(all.iter().map(|(at, event)| (*at, key(event))).collect()).into_iter().map(|place| all[place]).collect()
}

/// The places of keys, in ascending order. Sorting is compiled once, not for each kind of entry and each engine.
fn in_order(keys: Vec<(u64, (u32, u32))>) -> Vec<usize> {
    let mut places: Vec<usize> = (0..keys.len()).collect();
    places.sort_unstable_by_key(|&place| keys[place]);
    places
}

impl<L: Layout, M: Mask, const D: usize, const Q: usize, const P: usize> Part<L, M, D, Q, P> {
    /// Writes the state at the beginning of the cycle of `into`; false if that cannot be compared. The partition is the
    /// whole network, and its rules permit to [compare](compares) it.
    pub(in crate::engine::fast) fn write_state(&self, into: &mut State, messages: &Messages) -> bool {
        // Nor is it compiled where it cannot be.
        if !L::MAY_BE_DIRECT {
            return false;
        }
        let works = &self.works;
        let mail = works.inbox.iter().chain(&works.outbox).map(|mail| mail.len()).sum::<usize>();
        if mail > 0 || !works.border.is_empty() || !works.accepted.is_empty() || works.is_stopped {
            return false;
        }
        let mut mentions = Mentions { messages, slots: Vec::new() };
        for router in &self.routers {
            router.write_state(into, |into, queue| works.put_packets(into, queue, &mut mentions));
        }
        works.gates.iter().for_each(|gate| gate.write_state(into));
        works.endpoints.iter().for_each(|endpoint: &Endpoint<M>| endpoint.write_state(into));
        for &Sender { sequence: _, key: _, waiting, tried: _, is_sending } in &works.senders {
            into.put(is_sending.into());
            let all: Vec<&Waiting> = waiting.all(&works.unsent).collect();
            put_all(into, all.into_iter(), |into, waiting| {
                let Unsent { slot, destination, offered, packets, is_long } = waiting.message;
                into.put(destination.0.into());
                into.put_time(offered);
                into.put(packets << 1 | u64::from(is_long));
                mentions.put(into, slot);
            });
        }
        for &Buffer { waiting, count } in &works.buffers {
            into.put(count.into());
            works.put_packets(into, waiting, &mut mentions);
        }
        works.bets.iter().for_each(|bets| bets.write_state(into));
        put_all(into, works.single_bets.iter(), |into, bet| into.put(u64::from(*bet)));
        works.put_events(into, &mut mentions);
        for list in [&works.sending, &works.injecting] {
            let mut list = list.clone();
            list.sort_unstable();
            put_all(into, list.into_iter(), |into, node| into.put(node.into()));
        }
        put_all(into, works.looking.sorted().into_iter(), |into, node| into.put(node.into()));
        put_all(into, works.freed.sorted().into_iter(), |into, (node, port)| {
            into.put(u64::from(node) << 8 | u64::from(port));
        });
        messages.write_state(&mentions.slots, into)
    }

    /// Puts the partition into the state so many cycles later, when each source has sent `packets` packets more.
    pub(in crate::engine::fast) fn pass_periods(&mut self, cycles: u64, packets: &[u64]) {
        let works = &mut self.works;
        works.clock += cycles;
        works.previous += cycles;
        for (sender, more) in works.senders.iter_mut().zip(packets) {
            sender.sequence += more;
        }
        for packet in works.packets.all_mut() {
            let source = packet.source() as usize;
            packet.start = packet.start.wrapping_add(cycles);
            packet.sequence = packet.sequence.wrapping_add(packets.get(source).copied().unwrap_or(0));
            if let Some(sender) = works.senders.get(source) {
                packet.key = packet_key(sender.key, packet.sequence);
            }
        }
        for waiting in works.unsent.all_mut() {
            waiting.message.offered += cycles;
        }
        works.bets.iter_mut().for_each(|bets| bets.pass(cycles));
        works.crossing.pass(cycles);
        works.ring.pass(cycles);
        works.wire.pass(cycles);
    }
}

impl<L: Layout, M: Mask, const D: usize, const Q: usize, const P: usize> Works<L, M, D, Q, P> {
    /// Writes the packets of a queue.
    fn put_packets(&self, into: &mut State, queue: Chain, mentions: &mut Mentions<'_>) {
        let all: Vec<&Packet<D>> = queue.all(&self.packets).collect();
        put_all(into, all.into_iter(), |into, packet| mentions.put_packet(into, packet));
    }

    /// Writes what is on its way: headers, tails, and the ends of transfers.
    fn put_events(&self, into: &mut State, mentions: &mut Mentions<'_>) {
        let now = into.now().0;
        let keys = self.headers.iter().map(|&(node, input, _)| (0, (node, input.into()))).collect();
        put_all(into, in_order(keys).into_iter(), |into, place| {
            let (node, input, packet) = self.headers[place];
            into.put(u64::from(node) << 16 | u64::from(input));
            mentions.put_packet(into, &self.packets[packet]);
        });
        let wire = sorted(&self.wire, now, |&(node, input, _)| (node, input.into()));
        put_all(into, wire.into_iter(), |into, (at, (node, input, packet))| {
            into.put_time(Cycle(at));
            into.put(u64::from(node) << 16 | u64::from(input));
            mentions.put_packet(into, &self.packets[packet]);
        });
        let crossing = sorted(&self.crossing, now, |left: &Left| (left.node, left.input.into()));
        put_all(into, crossing.into_iter(), |into, (at, Left { node, behind, output, input })| {
            into.put_time(Cycle(at));
            into.put(u64::from(node) << 32 | u64::from(output) << 16 | u64::from(input));
            into.put(if usize::from(input) < self.rules.outputs() { behind.into() } else { 0 });
        });
        let ring = sorted(&self.ring, now, |event| match *event {
            Event::Consumed { node, input, .. } => (node, u32::from(input)),
            Event::Injected { node } => (node, u32::MAX),
        });
        put_all(into, ring.into_iter(), |into, (at, event)| {
            into.put_time(Cycle(at));
            match event {
                Event::Consumed { node, behind, input, packet } => {
                    into.put(u64::from(node) << 32 | u64::from(input));
                    into.put(if usize::from(input) < self.rules.outputs() { behind.into() } else { 0 });
                    mentions.put_packet(into, &self.packets[packet]);
                }
                Event::Injected { node } => into.put(u64::from(node) << 32 | u64::from(u32::MAX)),
            }
        });
    }
}
