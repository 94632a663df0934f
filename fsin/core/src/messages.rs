//! Messages under way, from the cycle in which they are offered to that in which all their packets have arrived or are
//! lost; and how hosts cut them into packets.

use std::collections::{HashSet, VecDeque};

use trgen::recurrence::State;
use trgen::{Cycle, Message, NodeId};

use crate::network::{Injected, Notices};
use crate::slab::Slab;
use crate::stats::{Receipt, Recorder};

/// A message under way.
#[derive(Clone, Copy, Debug)]
pub struct Underway<X = ()> {
    /// The message.
    pub message: Message,
    /// \[cycle\] Clock when the message was offered.
    pub offered: Cycle,
    /// \[packets\] Number of packets of the message.
    pub packets: u64,
    /// What the model keeps of the message.
    pub more: X,
    /// \[packets\] Packets received so far.
    received: u64,
    /// \[packets\] Packets lost for good.
    lost: u64,
    /// Total by which the lost packets are shorter than full ones, in the unit of lengths of the model.
    lost_short: u64,
    /// Number of reasons of the model to keep the message.
    holds: u64,
    /// True if the source is done with the message.
    is_sent: bool,
    /// True if the delivery has been reported.
    is_delivered: bool,
}

/// The messages under way in a network, and the record of their packets. A message is identified by its slot, which is
/// used again when the message is over: sent, and all its packets received or lost.
#[derive(Debug)]
pub struct Messages<X = ()> {
    /// Number of end nodes.
    nodes: usize,
    /// By slot: the message.
    underway: Slab<Underway<X>>,
    /// \[packets\] Accepted packets that have been neither received nor dropped.
    in_flight: u64,
    /// \[messages\] Messages that have arrived and are to be [acknowledged](Self::acknowledge).
    unacknowledged: u64,
    /// Messages that have been acknowledged since they were last [told](Self::tell_known).
    known: Vec<Message>,
    /// By source and number there: packets of which a part is damaged, and which are discarded at their destination.
    damaged: HashSet<(NodeId, u64)>,
    /// \[packets\] Packets discarded so far.
    discarded: u64,
    /// The record of all measurements.
    pub recorder: Recorder,
}

impl<X> Messages<X> {
    /// No messages, in a network of this many end nodes.
    #[must_use]
    pub fn new(nodes: usize) -> Self {
        Self {
            nodes,
            underway: Slab::new(),
            in_flight: 0,
            unacknowledged: 0,
            known: Vec::new(),
            damaged: HashSet::new(),
            discarded: 0,
            recorder: Recorder::new(nodes),
        }
    }

    /// Number of end nodes.
    #[must_use]
    pub const fn nodes(&self) -> usize {
        self.nodes
    }

    /// \[packets\] Accepted packets that have been neither received nor dropped.
    #[must_use]
    #[inline]
    pub const fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// True if no packet is in flight, and no message is to be [acknowledged](Self::acknowledge).
    #[must_use]
    #[inline]
    pub const fn is_idle(&self) -> bool {
        self.in_flight == 0 && self.unacknowledged == 0
    }

    /// Accepts a message of `packets` packets (at least 1) at this clock; returns its slot. The packets are shorter
    /// than full ones by `short` in total.
    #[inline]
    pub fn accept(&mut self, message: Message, packets: u64, short: u64, offered: Cycle, more: X) -> u32 {
        self.recorder.generated(packets);
        self.recorder.short().generated += short;
        self.in_flight += packets;
        self.underway.store(Underway {
            message,
            offered,
            packets,
            more,
            received: 0,
            lost: 0,
            lost_short: 0,
            holds: 0,
            is_sent: false,
            is_delivered: false,
        })
    }

    /// Records a message that no route can carry.
    pub fn drop_at_source(&mut self, packets: u64, short: u64) -> Injected {
        self.recorder.generated(packets);
        self.recorder.dropped(packets);
        let total = self.recorder.short();
        total.generated += short;
        total.dropped += short;
        Injected::Dropped
    }

    /// The message in a slot.
    #[must_use]
    #[inline(always)]
    pub fn get(&self, slot: u32) -> &Underway<X> {
        &self.underway[slot]
    }

    /// Records that the source of a message has sent its last packet before anything else can have happened to the
    /// message. The caller tells the source.
    #[inline(always)]
    pub fn sent_at_once(&mut self, slot: u32) {
        self.underway[slot].is_sent = true;
    }

    /// Records that the source of a message has sent its last packet, and tells it unless the message has arrived.
    #[inline]
    pub fn sent(&mut self, slot: u32, notices: &mut Notices) {
        let underway = &mut self.underway[slot];
        underway.is_sent = true;
        if !underway.is_delivered {
            notices.add_sent(&underway.message);
        }
        // A lost packet counts as in flight until its source has been told.
        if underway.lost > 0 {
            notices.dropped.push(underway.message);
            self.recorder.dropped_inside(underway.lost);
            self.recorder.short().dropped += underway.lost_short;
            self.in_flight -= underway.lost;
        }
        self.release_if_over(slot);
    }

    /// Records the arrival of a packet, which is shorter than a full one by `short`. Returns true if all packets of the
    /// message have arrived, which is then to be [delivered](Self::deliver).
    #[inline(always)]
    pub fn receive(&mut self, slot: u32, at: Cycle, receipt: &Receipt, short: u64) -> bool {
        self.recorder.received(at, receipt);
        self.recorder.short().received += short;
        self.in_flight -= 1;
        let underway = &mut self.underway[slot];
        underway.received += 1;
        underway.received == underway.packets
    }

    /// Records the arrival of `packets` packets of a message, which are not its last ones. The caller records each.
    pub fn receive_some(&mut self, slot: u32, packets: u64) {
        self.in_flight -= packets;
        self.underway[slot].received += packets;
    }

    /// Records the arrival of a message with all its packets, which are shorter than full ones by `short` in total.
    /// `receipt` is that of the first, and the others have the numbers that follow.
    pub fn receive_all(&mut self, slot: u32, at: Cycle, receipt: &Receipt, short: u64) {
        let packets = self.underway[slot].packets;
        self.recorder.received_together(at, receipt, packets);
        self.recorder.short().received += short;
        self.in_flight -= packets;
        self.underway[slot].received = packets;
    }

    /// Records that all packets of a message, which are shorter than full ones by `short` in total, are lost for good.
    /// None has arrived, and its source has not been told that it is sent.
    pub fn lose_all(&mut self, slot: u32, short: u64) {
        let underway = &mut self.underway[slot];
        (underway.lost, underway.lost_short) = (underway.packets, short);
    }

    /// Records that the tail of a packet, which is shorter than a full one by `short`, has come to its destination. A
    /// [damaged](Self::damage) packet is lost; with the last one of a message that is delivered.
    #[inline(always)]
    pub fn arrive(&mut self, slot: u32, at: Cycle, receipt: &Receipt, short: u64, notices: &mut Notices) {
        if self.discards(receipt) {
            self.lose(slot, short, notices);
        } else if self.receive(slot, at, receipt, short) {
            self.deliver(slot, at, notices);
        }
    }

    /// True if a packet is damaged, whose tail has come to its destination. The model then [loses](Self::lose) it.
    #[inline]
    pub fn discards(&mut self, receipt: &Receipt) -> bool {
        let is_damaged = !self.damaged.is_empty() && self.damaged.remove(&(receipt.source, receipt.sequence));
        self.discarded += u64::from(is_damaged);
        is_damaged
    }

    /// Records that a part of a packet under way is damaged; it may have been before. The packet is known by its source
    /// and its number among those of the source.
    pub fn damage(&mut self, source: NodeId, sequence: u64) {
        self.damaged.insert((source, sequence));
    }

    /// \[packets\] Packets whose tails have come to their destinations, damaged ones included.
    #[must_use]
    pub fn arrived(&self) -> u64 {
        self.recorder.totals().received + self.discarded
    }

    /// \[packets\] Packets that their sources have begun and whose tails have not come to their destinations, in a
    /// model where all [arrive](Self::arrive).
    #[must_use]
    pub fn begun(&self) -> u64 {
        self.recorder.totals().injected - self.arrived()
    }

    /// Records that a source gives up the last `packets` packets of a message, which it has not begun and which are
    /// shorter than full ones by `short` in total: no route is left for them. Returns true if no packet of the message
    /// had been lost before.
    pub fn abandon(&mut self, slot: u32, packets: u64, short: u64, notices: &mut Notices) -> bool {
        self.recorder.dropped(packets);
        self.recorder.short().dropped += short;
        self.in_flight -= packets;
        let underway = &mut self.underway[slot];
        let (lost, lost_short) = (underway.lost, underway.lost_short);
        underway.lost += packets;
        underway.is_sent = true;
        notices.add_sent(&underway.message);
        notices.dropped.push(underway.message);
        self.recorder.dropped_inside(lost);
        self.recorder.short().dropped += lost_short;
        self.in_flight -= lost;
        self.release_if_over(slot);
        lost == 0
    }

    /// Reports the delivery, in cycle `at`, of a message of which all packets have arrived. A source that is not done
    /// with it (the gap after its last frame is longer than the way) is told now that it is sent, and not again.
    #[inline(always)]
    pub fn deliver(&mut self, slot: u32, at: Cycle, notices: &mut Notices) {
        let underway = &mut self.underway[slot];
        underway.is_delivered = true;
        if !underway.is_sent {
            notices.add_sent(&underway.message);
        }
        notices.add_delivered(&underway.message, underway.offered, at);
        debug_assert_eq!(underway.received, underway.packets, "a message is delivered when all of it has arrived");
        if underway.is_sent && underway.holds == 0 {
            self.underway.release(slot);
        }
    }

    /// Counts a message that has been delivered as under way until it is [acknowledged](Self::acknowledge).
    pub fn await_acknowledgement(&mut self) {
        self.unacknowledged += 1;
    }

    /// Records that the source of a message that has been delivered knows of it in cycle `at`.
    pub fn acknowledge(&mut self, slot: u32, at: Cycle) {
        self.unacknowledged -= 1;
        let message = self.underway[slot].message;
        self.recorder.acknowledged(&message, at);
        self.known.push(message);
    }

    /// Tells of what has been acknowledged.
    #[inline]
    pub fn tell_known(&mut self, notices: &mut Notices) {
        notices.known.append(&mut self.known);
    }

    /// Records that the source of a message that has been delivered will never know of it.
    pub const fn never_acknowledged(&mut self) {
        self.unacknowledged -= 1;
    }

    /// Records that a packet, which is shorter than a full one by `short`, is lost for good. Returns true for the first
    /// one of its message.
    pub fn lose(&mut self, slot: u32, short: u64, notices: &mut Notices) -> bool {
        let underway = &mut self.underway[slot];
        underway.lost += 1;
        underway.lost_short += short;
        let is_first = underway.lost == 1;
        if underway.is_sent {
            self.recorder.dropped_inside(1);
            self.recorder.short().dropped += short;
            self.in_flight -= 1;
            if is_first {
                notices.dropped.push(underway.message);
            }
        }
        self.release_if_over(slot);
        is_first
    }

    /// Writes the messages in these slots into a state of the run; false if others are under way, or packets are
    /// damaged.
    pub fn write_state(&self, slots: &[u32], into: &mut State) -> bool {
        for &slot in slots {
            let Underway {
                message: Message { id: _, source, destination, bytes, class },
                offered,
                packets,
                more: _,
                received,
                lost,
                lost_short,
                holds,
                is_sent,
                is_delivered,
            } = &self.underway[slot];
            into.put_time(*offered);
            let flags = u64::from(*is_sent) << 1 | u64::from(*is_delivered);
            let ends = u64::from(source.0) << 32 | u64::from(destination.0);
            for word in [ends, *bytes, u64::from(*class), *packets, *received, *lost, *lost_short, *holds, flags] {
                into.put(word);
            }
        }
        into.put(self.in_flight + self.unacknowledged);
        slots.len() == self.underway.len() && self.damaged.is_empty()
    }

    /// Lets so many cycles pass for all messages under way.
    pub fn pass(&mut self, cycles: u64) {
        for underway in self.underway.all_mut() {
            underway.offered += cycles;
        }
    }

    /// Keeps a message until it has been [let go](Self::let_go) `count` times more.
    #[inline]
    pub fn hold(&mut self, slot: u32, count: u64) {
        self.underway[slot].holds += count;
    }

    /// Ends one reason to keep a message.
    #[inline]
    pub fn let_go(&mut self, slot: u32) {
        self.underway[slot].holds -= 1;
        self.release_if_over(slot);
    }

    /// Frees the slot of a message that is over.
    #[inline]
    fn release_if_over(&mut self, slot: u32) {
        let Underway { packets, received, lost, holds, is_sent, is_delivered, .. } = self.underway[slot];
        if is_sent && (is_delivered || lost > 0) && received + lost == packets && holds == 0 {
            self.underway.release(slot);
        }
    }
}

/// \[bytes\] Data of a full packet. A message of 0 bytes is one packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Payload(pub u32);

impl Payload {
    /// Number of packets of a message of `bytes` bytes.
    #[must_use]
    #[inline]
    pub const fn packets_of(self, bytes: u64) -> u64 {
        let packets = bytes.div_ceil(self.0 as u64);
        if packets == 0 { 1 } else { packets }
    }

    /// \[bytes\] Total by which the packets of a message of `bytes` bytes are shorter than full ones.
    #[must_use]
    pub const fn short(self, bytes: u64) -> u64 {
        (self.packets_of(bytes) * self.0 as u64).saturating_sub(bytes)
    }

    /// \[bytes\] Data of packet number `index` of a message of `bytes` bytes.
    #[must_use]
    #[inline]
    pub const fn bytes_of(self, bytes: u64, index: u64) -> u32 {
        let rest = bytes - index * self.0 as u64;
        if rest < self.0 as u64 { rest as u32 } else { self.0 }
    }

    /// \[bytes\] Number by which that packet is shorter than a full one.
    #[must_use]
    #[inline]
    pub const fn short_of(self, bytes: u64, index: u64) -> u64 {
        (self.0 - self.bytes_of(bytes, index)) as u64
    }
}

/// Messages at a host that it has not cut into packets completely, in their order.
#[derive(Clone, Default, Debug)]
pub struct SendQueue {
    /// Slots of the messages.
    messages: VecDeque<u32>,
    /// Number of the next packet of the first message.
    next: u64,
}

impl SendQueue {
    /// Appends a message.
    pub fn push(&mut self, slot: u32) {
        self.messages.push_back(slot);
    }

    /// True if the host has sent all.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// The slot of the message whose packet is next.
    #[must_use]
    #[inline]
    pub fn peek(&self) -> Option<u32> {
        self.messages.front().copied()
    }

    /// Takes the next packet: the slot of its message, and its number there.
    pub fn pop<X>(&mut self, messages: &Messages<X>) -> Option<(u32, u64)> {
        let &slot = self.messages.front()?;
        let index = self.next;
        self.next += 1;
        if self.next == messages.get(slot).packets {
            self.messages.pop_front();
            self.next = 0;
        }
        Some((slot, index))
    }

    /// Removes the messages that `is_lost`, by their slots, and returns them, each with the number of its first packet
    /// that has not been taken.
    pub fn give_up(&mut self, is_lost: impl Fn(u32) -> bool) -> Vec<(u32, u64)> {
        let (mut lost, mut next) = (Vec::new(), std::mem::take(&mut self.next));
        for slot in std::mem::take(&mut self.messages) {
            let first = std::mem::take(&mut next);
            if is_lost(slot) {
                lost.push((slot, first));
                continue;
            }
            if self.messages.is_empty() {
                self.next = first;
            }
            self.messages.push_back(slot);
        }
        lost
    }

    /// \[packets\] Packets that wait.
    #[must_use]
    pub fn waiting<X>(&self, messages: &Messages<X>) -> u64 {
        self.messages.iter().map(|&slot| messages.get(slot).packets).sum::<u64>() - self.next
    }
}

#[cfg(test)]
mod tests {
    use trgen::NodeId;

    use super::*;

    const FIRST: Cycle = Cycle::FIRST;

    fn message(id: u64) -> Message {
        Message { id, source: NodeId(0), destination: NodeId(1), bytes: 25, class: 0 }
    }

    fn receipt(sequence: u64) -> Receipt {
        Receipt { source: NodeId(0), destination: NodeId(1), sequence, latency: 3, hops: 1 }
    }

    #[test]
    fn a_lost_packet_is_in_flight_until_the_message_is_sent() {
        let (mut messages, mut notices) = (Messages::<()>::new(2), Notices::default());
        let slot = messages.accept(message(7), 3, 5, FIRST, ());
        assert!(messages.lose(slot, 0, &mut notices));
        assert_eq!((messages.in_flight(), notices.is_empty()), (3, true));
        messages.sent(slot, &mut notices);
        assert_eq!((messages.in_flight(), &notices.sent, &notices.dropped), (2, &vec![message(7)], &vec![message(7)]));
        assert!(!messages.lose(slot, 5, &mut notices));
        assert!(!messages.receive(slot, FIRST, &receipt(0), 0), "one of three has arrived, and two are lost");
        let totals = messages.recorder.totals();
        assert_eq!((messages.in_flight(), totals.dropped_inside, totals.received), (0, 2, 1));
        assert_eq!((totals.short.generated, totals.short.dropped, notices.dropped.len()), (5, 5, 1));
    }

    #[test]
    fn damaged_packets_are_lost_where_they_arrive_and_abandoned_ones_at_their_source() {
        let (mut messages, mut notices) = (Messages::<()>::new(2), Notices::default());
        let slot = messages.accept(message(7), 5, 6, FIRST, ());
        messages.recorder.injected(3);
        messages.damage(NodeId(0), 1);
        messages.damage(NodeId(0), 1);
        (0..3).for_each(|sequence| messages.arrive(slot, FIRST, &receipt(sequence), 0, &mut notices));
        let totals = messages.recorder.totals();
        assert_eq!((totals.received, messages.begun(), messages.in_flight(), notices.is_empty()), (2, 0, 3, true));
        assert!(!messages.abandon(slot, 2, 6, &mut notices), "a packet has been lost before");
        let totals = messages.recorder.totals();
        assert_eq!((totals.dropped, totals.dropped_inside, totals.short.dropped, messages.in_flight()), (3, 1, 6, 0));
        assert_eq!((&notices.sent, &notices.dropped), (&vec![message(7)], &vec![message(7)]));
        assert_eq!(messages.accept(message(8), 1, 0, FIRST, ()), slot, "the message is over");
    }

    #[test]
    fn slots_are_used_again_when_messages_are_over() {
        let (mut messages, mut notices) = (Messages::<()>::new(2), Notices::default());
        let first = messages.accept(message(0), 1, 0, FIRST, ());
        messages.hold(first, 1);
        messages.sent(first, &mut notices);
        assert!(messages.receive(first, FIRST, &receipt(0), 0));
        messages.deliver(first, FIRST, &mut notices);
        let second = messages.accept(message(1), 1, 0, FIRST, ());
        assert_ne!(first, second, "the model still holds the first one");
        messages.let_go(first);
        assert_eq!(messages.accept(message(2), 1, 0, FIRST, ()), first);
    }

    #[test]
    fn messages_are_cut_in_order() {
        let (mut messages, mut queue) = (Messages::<()>::new(2), SendQueue::default());
        let payload = Payload(10);
        for id in 0..2 {
            let (packets, short) = (payload.packets_of(25), payload.short(25));
            queue.push(messages.accept(message(id), packets, short, FIRST, ()));
        }
        assert_eq!((queue.pop(&messages), queue.waiting(&messages)), (Some((0, 0)), 5));
        let (mut first, mut second) = (queue.clone(), queue.clone());
        assert_eq!((first.give_up(|slot| slot == 0), first.pop(&messages)), (vec![(0, 1)], Some((1, 0))));
        assert_eq!((second.give_up(|slot| slot == 1), second.pop(&messages)), (vec![(1, 0)], Some((0, 1))));
        let rest: Vec<_> = std::iter::from_fn(|| queue.pop(&messages)).collect();
        assert_eq!(rest, [(0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]);
        assert!(queue.is_empty());
        assert_eq!(
            [0, 1, 2].map(|index| (payload.bytes_of(25, index), payload.short_of(25, index))),
            [(10, 0), (10, 0), (5, 5)]
        );
        assert_eq!((payload.packets_of(0), payload.short(0), payload.bytes_of(0, 0)), (1, 10, 0));
    }
}
