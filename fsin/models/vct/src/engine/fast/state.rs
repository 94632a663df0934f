//! State of packets, queues and routers in the fast engine.

use trgen::NodeId;

use super::chain::{Chain, Linked, NONE};
use super::mask::{Mask, Small};
use crate::engine::messages::{Slot, Unsent};
use crate::router::request::WakeCondition;
use fsin_core::slab::Slab;
use fsin_core::stats::Receipt;

pub(super) mod repetition;
mod trains;

/// A packet under way, in a network of at most `D` dimensions. Aligned, so that its 60 to 64 bytes (of at most 4
/// dimensions) lie on one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Packet<const D: usize> {
    /// The next packet in its queue or buffer.
    pub(super) next: u32,
    /// The destination's number in the whole network.
    pub(super) destination: u32,
    /// Hops to go in each dimension.
    pub(super) offsets: [i16; D],
    /// The candidate output channels at its present node, as a mask; see
    /// [`RouteRules::candidates`](crate::router::request::RouteRules::candidates).
    pub(super) candidates: u64,
    /// Random stream of (run seed, packet).
    pub(super) key: u64,
    /// \[cycle\] Cycle from which the packet's delay counts.
    pub(super) start: u64,
    /// Number of the packet among the packets of its source.
    pub(super) sequence: u64,
    /// The source's number in the whole network. The bit [`LONG`](Self::LONG) marks packets of long messages.
    source: u32,
    /// The message to which the packet belongs.
    pub(super) message: Slot,
    /// \[hops\] Hops made so far.
    pub(super) hops: u32,
    /// The upstream node, by its number in the partition; undefined in an injection queue.
    pub(super) behind: u32,
}

impl<const D: usize> Packet<D> {
    /// In `source`: the packet's message has more than one packet. Node numbers are below 2^31.
    const LONG: u32 = 1 << 31;

    /// A packet of a message; `is_long` if the message has more than one packet.
    pub(super) fn new(source: u32, destination: u32, message: Slot, is_long: bool) -> Self {
        Self {
            next: NONE,
            destination,
            offsets: [0; D],
            candidates: u64::MAX,
            key: 0,
            start: 0,
            sequence: 0,
            source: if is_long { source | Self::LONG } else { source },
            message,
            hops: 0,
            behind: NONE,
        }
    }

    /// The source's number in the whole network.
    pub(super) const fn source(&self) -> u32 {
        self.source & !Self::LONG
    }

    /// The packet's message, and the receipt of its complete ejection in cycle `now`.
    pub(super) fn receipt(&self, now: u64) -> (Slot, Receipt) {
        let receipt = Receipt {
            source: NodeId(self.source()),
            destination: NodeId(self.destination),
            sequence: self.sequence,
            latency: now - self.start,
            hops: self.hops.into(),
        };
        (self.message, receipt)
    }

    /// True if the packet's message has more than one packet.
    #[inline(always)]
    pub(super) const fn is_long(&self) -> bool {
        self.source & Self::LONG != 0
    }
}

impl<const D: usize> Linked for Packet<D> {
    #[inline(always)]
    fn next(&self) -> u32 {
        self.next
    }

    #[inline(always)]
    fn link(&mut self, next: u32) {
        self.next = next;
    }
}

/// A message at the interface of its node.
#[derive(Debug)]
pub(super) struct Waiting {
    /// The next message at the interface.
    pub(super) next: u32,
    pub(super) message: Unsent,
}

impl Linked for Waiting {
    #[inline(always)]
    fn next(&self) -> u32 {
        self.next
    }

    #[inline(always)]
    fn link(&mut self, next: u32) {
        self.next = next;
    }
}

/// A router of at most `P` ports and `Q` queues, as many as its masks have bits for.
///
/// The fields that a tail departure reads come first: they share one cache line where masks are half a word and there
/// are at most 16 queues.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(super) struct Router<M: Mask, const Q: usize, const P: usize> {
    /// Inputs with a header at their head that has no grant yet.
    pub(super) unrouted: M,
    /// Inputs to examine in the next step 3. The input [`NO_INPUT`](Self::NO_INPUT) only schedules the node.
    awake: M,
    /// Inputs with headers that have arrived and have not begun to leave.
    standing: M,
    /// Inputs that a packet is leaving.
    pub(super) leaving: M,
    /// Inputs of `leaving` at which a header has arrived since that packet began to leave, or in the same cycle.
    /// Undefined for other inputs.
    refilled: M,
    /// Output channels allocated to a packet whose tail has not left.
    pub(super) owned: M,
    /// Output channels behind which a packet fits, owned or not.
    fitting: M,
    /// Output channels whose packet waits for the link.
    pub(super) granted: M,
    /// \[packets\] By output channel: credits for the queue downstream.
    credits: [M::Small; Q],
    /// \[packets\] By queue: packets that have arrived, are arriving or are departing. A packet counts from the cycle
    /// after its header was sent until its tail leaves.
    counts: [M::Small; Q],
    /// By output channel: the input with the last grant; the owner, while the channel is owned.
    last_winner: [M::Small; Q],
    /// By port: the output channel whose packet crossed the link last.
    last_sent: [M::Small; P],
    /// By port: the node at the other end. Numbers from the partition's node count on are nodes outside it; [`NONE`]
    /// where there is no link.
    pub(super) downstream: [u32; P],
    /// By queue: packets whose headers have arrived and have not begun to leave.
    pub(super) waiting: [Chain; Q],
}

// The router of a 2-D torus with 3 channels.
const _: () = {
    type Usual = Router<u32, 13, 4>;
    assert!(std::mem::offset_of!(Usual, last_winner) <= 64 && size_of::<Usual>() == 256);
};

impl<M: Mask, const Q: usize, const P: usize> Router<M, Q, P> {
    /// An input number that no queue has.
    pub(super) const NO_INPUT: usize = M::SIZE - 1;

    /// A router without links, of `inputs` queues with room for `capacity` packets, and of `vcs` channels.
    pub(super) fn new(inputs: usize, capacity: usize, vcs: usize) -> Self {
        Self {
            unrouted: M::EMPTY,
            awake: M::EMPTY,
            standing: M::EMPTY,
            leaving: M::EMPTY,
            refilled: M::EMPTY,
            owned: M::EMPTY,
            fitting: M::EMPTY,
            granted: M::EMPTY,
            credits: [M::Small::of(capacity); Q],
            counts: [M::Small::of(0); Q],
            last_winner: [M::Small::of(inputs - 1); Q],
            // The array may be longer than the number of ports.
            last_sent: std::array::from_fn(|port| M::Small::of(((port + 1) * vcs - 1).min(inputs - 1))),
            downstream: [NONE; P],
            waiting: [Chain::EMPTY; Q],
        }
    }

    /// Schedules these inputs for the next step 3. Returns whether this woke the router.
    #[inline(always)]
    #[must_use]
    pub(super) fn wake(&mut self, inputs: M) -> bool {
        let asleep = self.awake.is_empty();
        self.awake = self.awake | inputs;
        asleep && !inputs.is_empty()
    }

    /// Takes the inputs whose heads are to be examined. The router is asleep afterwards.
    #[inline(always)]
    pub(super) fn take_awake(&mut self) -> M {
        std::mem::replace(&mut self.awake, M::EMPTY) & self.unrouted
    }

    /// Counts a packet in a queue from now on: its first phit has taken its place.
    #[inline(always)]
    pub(super) fn reserve(&mut self, input: usize) {
        self.counts[input].increase();
        self.refilled = self.refilled | self.leaving & M::bit(input);
    }

    /// Puts a header that has arrived into its queue. Returns whether it may request an output now.
    #[inline(always)]
    pub(super) fn enter_header<const D: usize>(
        &mut self,
        packets: &mut Slab<Packet<D>>,
        input: usize,
        packet: u32,
    ) -> bool {
        let asks = !(self.standing | self.leaving).has(input);
        self.waiting[input].push(packets, packet);
        self.standing.insert(input);
        self.unrouted = self.unrouted | M::bit_if(input, asks);
        asks
    }

    /// \[packets\] In a queue: arrived, arriving or departing.
    #[inline(always)]
    pub(super) fn count(&self, queue: usize) -> u32 {
        self.counts[queue].get() as u32
    }

    /// \[packets\] Credits of an output channel.
    #[inline(always)]
    pub(super) fn room_behind(&self, output: usize) -> u32 {
        self.credits[output].get() as u32
    }

    /// The output channel of a port whose packet crossed the link last.
    #[inline(always)]
    pub(super) fn last_sent(&self, port: usize) -> usize {
        self.last_sent[port].get()
    }

    /// The input with the last grant of an output channel; its owner, while it is owned.
    #[inline(always)]
    pub(super) fn last_winner(&self, output: usize) -> usize {
        self.last_winner[output].get()
    }

    /// The packet at the head of a queue.
    #[inline(always)]
    pub(super) fn head(&self, input: usize) -> u32 {
        self.waiting[input].first()
    }

    /// Output channels behind which a packet fits, owned or not.
    #[inline(always)]
    pub(super) const fn fitting(&self) -> M {
        self.fitting
    }

    /// Records that a packet fits behind an output channel although the channel has no credit: see
    /// [`keeps_room`](Self::keeps_room).
    #[inline(always)]
    pub(super) fn fits(&mut self, output: usize) {
        self.fitting.insert(output);
    }

    /// True if queue `input`, of `capacity` packets, in which the latest header took its place in this cycle, has room
    /// for another packet although it is full: one of its packets began to depart no later than the latest began to
    /// arrive. There is room until the tail of the departing packet has left, since the other arrives as fast.
    #[inline(always)]
    pub(super) fn keeps_room(&self, input: usize, capacity: u32) -> bool {
        self.leaving.has(input) && self.count(input) == capacity
    }

    /// Records that a full queue gains room for a packet only when a tail leaves it: see [`has_room`](Self::has_room).
    #[inline(always)]
    pub(super) fn leave_no_room(&mut self, input: usize) {
        self.refilled.erase(input);
    }

    /// Output channels that are free and behind which a packet fits.
    #[inline(always)]
    pub(super) fn open(&self) -> M {
        self.fitting & !self.owned
    }

    /// Marks output channels as having a link.
    pub(super) fn connect(&mut self, outputs: M) {
        self.fitting = self.fitting | outputs;
    }

    /// Allocates an output channel to the head of an input.
    #[inline(always)]
    pub(super) fn give(&mut self, output: usize, input: usize) {
        self.last_winner[output] = M::Small::of(input);
        self.owned.insert(output);
        self.unrouted.erase(input);
    }

    /// Begins the departure of the packet at the head of an input, `first`.
    #[inline(always)]
    pub(super) fn leave<const D: usize>(&mut self, input: usize, first: &mut Packet<D>) {
        self.waiting[input].pop(first);
        self.standing = self.standing & !M::bit_if(input, self.waiting[input].is_empty());
        self.leaving.insert(input);
        self.refilled.erase(input);
    }

    /// Frees an output channel and its link after a tail has left. Returns whether the channel is open now.
    #[inline(always)]
    pub(super) fn release(&mut self, output: usize) -> bool {
        self.owned.erase(output);
        self.fitting.has(output)
    }

    /// Lets the link of `port` take the header that was granted one of its channels, which uses one credit. Returns
    /// whether no credit is left.
    #[inline(always)]
    pub(super) fn send(&mut self, output: usize, port: usize) -> bool {
        self.last_sent[port] = M::Small::of(output);
        self.credits[output].decrease();
        let fills = self.credits[output].get() == 0;
        self.fitting = self.fitting & !M::bit_if(output, fills);
        fills
    }

    /// Gives an output channel a credit. Returns whether that opens it.
    #[inline(always)]
    pub(super) fn credit(&mut self, output: usize) -> bool {
        self.credits[output].increase();
        let opens = !(self.fitting | self.owned).has(output);
        self.fitting.insert(output);
        opens
    }

    /// Removes the packet whose tail has left a queue. Returns whether there is a next head that can be routed now.
    #[inline(always)]
    pub(super) fn depart(&mut self, input: usize) -> bool {
        self.counts[input].decrease();
        let is_next = self.standing.has(input);
        self.leaving.erase(input);
        self.unrouted = self.unrouted | M::bit_if(input, is_next);
        is_next
    }

    /// True if transit queue `input`, of `capacity` packets, had room for `packets` packets at the end of the last
    /// cycle.
    ///
    /// With k packets, a phits of the latest arrived and d phits of the first departed, a queue of packets of L phits
    /// holds (k - 1) L + a - d phits. This must not exceed r = capacity - packets packets. So the queue has room if k
    /// <= r, and none if k >= r + 2. If k = r + 1 it has room exactly if a <= d: if one packet began to depart no later
    /// than the latest, still arriving, began to arrive.
    #[inline(always)]
    pub(super) fn has_room(&self, input: usize, packets: u32, capacity: u32) -> bool {
        let room = capacity - packets;
        let count = self.count(input);
        count <= room || (count == room + 1 && (self.leaving & self.refilled).has(input))
    }

    /// True if some head sleeps and is not about to be `woken`.
    #[inline(always)]
    pub(super) fn has_sleepers(&self, woken: M) -> bool {
        !(self.unrouted & !(self.awake | woken)).is_empty()
    }
}

/// A list with a known maximum length.
#[derive(Debug)]
pub(super) struct List<T> {
    /// One element longer than the maximum: the extra element takes discarded writes.
    places: Vec<T>,
    /// Number of entries.
    count: usize,
}

impl<T: Copy + Default> List<T> {
    pub(super) const EMPTY: Self = Self { places: Vec::new(), count: 0 };

    /// Empties the list and reserves room for `most` entries.
    pub(super) fn reset(&mut self, most: usize) {
        self.count = 0;
        if self.places.len() <= most {
            self.places.resize(most + 1, T::default());
        }
    }

    pub(super) const fn len(&self) -> usize {
        self.count
    }

    /// Adds an entry if `is_present`. Computed without a branch, which would be unpredictable.
    #[inline(always)]
    pub(super) fn add(&mut self, entry: T, is_present: bool) {
        self.places[self.count] = entry;
        self.count += usize::from(is_present);
    }

    /// The entries.
    pub(super) fn all(&self) -> &[T] {
        &self.places[..self.count]
    }
}

/// Rarely used state of a node's port.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gate<M> {
    /// The upstream node whose link of this port leads here, numbered as in [`Router::downstream`]; [`NONE`] where
    /// there is none.
    pub(super) upstream: u32,
    /// By [`WakeCondition`]: inputs that sleep until a channel of the link changes. Some of the heads may have left
    /// meanwhile.
    sleepers: [M; WakeCondition::COUNT],
}

impl<M: Mask> Gate<M> {
    pub(super) const EMPTY: Self = Self { upstream: NONE, sleepers: [M::EMPTY; WakeCondition::COUNT] };

    /// Lets the head of an input sleep until a channel of this kind opens.
    pub(super) fn sleep(&mut self, input: usize, kind: WakeCondition) {
        self.sleepers[kind as usize].insert(input);
    }

    /// Takes the heads that sleep for channels of this kind.
    #[inline(always)]
    pub(super) fn wake(&mut self, kind: WakeCondition) -> M {
        std::mem::replace(&mut self.sleepers[kind as usize], M::EMPTY)
    }
}

/// A node's state for its own traffic.
#[derive(Clone, Copy, Debug)]
pub(super) struct Endpoint<M> {
    /// Inputs that wait for an ejection port.
    pub(super) arrived: M,
    /// The input that last won an ejection port.
    pub(super) last_consumed: u16,
    /// Number of ejection ports that packets occupy.
    pub(super) consuming: u16,
    /// True if the node is in the list of source buffers to examine.
    pub(super) injecting: bool,
    /// True if the interface holds a packet that found no room in the source buffers.
    pub(super) held_up: bool,
    /// Serial injection: the injector served last.
    pub(super) serial: u8,
    /// Serial injection: true while a packet of that injector is moving.
    pub(super) serial_busy: bool,
}

/// Packet numbering and pending messages of a node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sender {
    /// Number of packets sent so far.
    pub(super) sequence: u64,
    /// Random stream of (run seed, node).
    pub(super) key: u64,
    /// Messages with packets that have not entered a source buffer yet.
    pub(super) waiting: Chain,
    /// \[cycle\] The last cycle in which the interface sent a packet, or found no room for one.
    pub(super) tried: u64,
    /// True if the node is in the list of interfaces that may have something to send.
    pub(super) is_sending: bool,
}

/// A source buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Buffer {
    /// The packets in the buffer.
    pub(super) waiting: Chain,
    /// \[packets\] Number of packets in the buffer.
    pub(super) count: u16,
}

#[cfg(test)]
mod tests {
    use super::super::moves::{Ahead, Moves, Stamp};
    use super::*;

    /// Every history of one packet that began to arrive in cycle `arrived` and one that began to depart in cycle
    /// `departed`, before cycle 100: the mask agrees with a count of phits.
    #[test]
    fn room_is_what_counting_phits_says() {
        const L: u32 = 4;
        const CAPACITY: u32 = 4;
        for count in 0..=4u16 {
            for arrived in 90..100u64 {
                for departed in [None, Some(97), Some(98), Some(99)] {
                    let alone = count == 1 && departed.is_some_and(|departed| departed <= arrived);
                    if alone || (count == 0 && (departed.is_some() || 100 - arrived < u64::from(L))) {
                        continue;
                    }
                    let mut router = Router::<u64, 1, 1>::new(1, 4, 1);
                    router.counts[0] = count.saturating_sub(1);
                    let mut packet = Packet::<1>::new(0, 0, 0, false);
                    // A header that was sent in a cycle takes its place at the beginning of the next.
                    for now in 90..=100 {
                        if count > 0 && arrived + 1 == now {
                            router.reserve(0);
                        }
                        if departed == Some(now) {
                            router.waiting[0].push(&mut Slab::<Packet<1>>::new(), 0);
                            router.leave(0, &mut packet);
                        }
                    }
                    let moves = Moves { arrived: Stamp::new(arrived), departed: Stamp::new(departed.unwrap_or(0)) };
                    let leaving = departed.is_some();
                    let held = moves.phits(count.into(), leaving, L, 100);
                    for packets in 0..=4u32 {
                        let expected = CAPACITY * L - held >= packets * L;
                        assert_eq!(router.has_room(0, packets, CAPACITY), expected, "{moves:?}, {count} for {packets}");
                    }
                    let ahead = Ahead { sent: arrived, departed: departed.unwrap_or(Ahead::NEVER) };
                    assert_eq!(ahead.phits(count.into(), L.into(), 100), held, "{ahead:?}");
                }
            }
        }
    }
}
