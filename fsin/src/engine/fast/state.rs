//! What the fast engine keeps of a network.

/// "None" among handles.
pub(super) const NONE: u32 = u32::MAX;

/// A packet under way.
#[derive(Clone, Debug)]
pub(super) struct Packet {
    /// The packet behind it in its queue or buffer.
    pub(super) next: u32,
    pub(super) destination: u32,
    /// Names (run seed, packet) in draws.
    pub(super) key: u64,
    /// \[cycle\] From which delay counts.
    pub(super) start: u64,
    pub(super) sequence: u64,
    pub(super) source: u32,
    pub(super) message: u32,
    pub(super) hops: u32,
}

/// A list of packets, linked through [`Packet::next`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Chain {
    first: u32,
    last: u32,
}

impl Chain {
    pub(super) const EMPTY: Self = Self { first: NONE, last: NONE };

    pub(super) const fn first(&self) -> Option<u32> {
        if self.first == NONE { None } else { Some(self.first) }
    }

    pub(super) fn push(&mut self, packets: &mut [Packet], packet: u32) {
        packets[packet as usize].next = NONE;
        if self.first == NONE {
            self.first = packet;
        } else {
            packets[self.last as usize].next = packet;
        }
        self.last = packet;
    }

    pub(super) fn pop(&mut self, packets: &[Packet]) -> Option<u32> {
        let packet = self.first()?;
        self.first = packets[packet as usize].next;
        Some(packet)
    }
}

/// A transit or injection queue. A packet counts from the cycle in which its header arrives to the one in which its tail
/// leaves; while it leaves it is no longer in the chain.
#[derive(Clone, Copy, Debug)]
pub(super) struct Queue {
    pub(super) waiting: Chain,
    /// The packet that is departing; [`NONE`] if none is.
    pub(super) leaving: u32,
    /// \[packets\] Arrived, arriving or departing.
    pub(super) count: u32,
    /// \[cycle\] In which the header of the departing packet left.
    pub(super) departed: u64,
    /// \[cycle\] In which the header of the latest packet arrived.
    pub(super) arrived: u64,
}

impl Queue {
    pub(super) const EMPTY: Self = Self { waiting: Chain::EMPTY, leaving: NONE, count: 0, departed: 0, arrived: 0 };

    /// True if a queue of `capacity` packets of `length` phits had room for `packets` packets at the end of the cycle
    /// before `now`.
    ///
    /// With k packets, a phits of the latest arrived and d phits of the first departed, the queue holds
    /// (k - 1) L + a - d phits, and this must not exceed r = capacity - packets packets. So it has room if k <= r; it has
    /// none if k >= r + 2; and if k = r + 1 it has room exactly if a <= d, that is if one packet is still arriving and
    /// another began to depart no later. A packet whose header arrives in cycle `now` itself is not there yet.
    pub(super) fn has_room(&self, packets: u32, capacity: u32, length: u64, now: u64) -> bool {
        let room = capacity - packets;
        let present = self.count - u32::from(self.count > 0 && self.arrived == now);
        present <= room
            || (present == room + 1
                && self.leaving != NONE
                && self.departed <= self.arrived
                && self.arrived < now
                && now - self.arrived < length)
    }

    /// \[phits\] In the queue at the end of the cycle before `now`.
    pub(super) fn phits(&self, length: u64, now: u64) -> u32 {
        let left = if self.leaving == NONE { 0 } else { now - self.departed };
        let missing = if self.count == 0 { 0 } else { length.saturating_sub(now - self.arrived) };
        (u64::from(self.count) * length - left - missing) as u32
    }
}

/// What a node keeps beside its queues. Masks of inputs and outputs have one bit for each queue and output channel.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// Inputs with a header at their head that has not been given anything.
    pub(super) unrouted: u64,
    /// Inputs to look at in this phase A and in the next one, by [`Fast::turn`](super::Fast). The highest bit stands for
    /// no input: it only asks for the node to be looked at.
    pub(super) awake: [u64; 2],
    /// Output channels that nobody owns and behind which a packet fits.
    pub(super) open: u64,
    /// Output channels that are owned.
    pub(super) owned: u64,
    /// Output channels whose packet waits for the link.
    pub(super) granted: u64,
    /// Ports whose link is carrying a packet.
    pub(super) busy: u32,
    /// Ports whose link has become free while packets wait for it.
    pub(super) freed: u32,
}

/// What a node keeps for its own traffic.
#[derive(Clone, Debug)]
pub(super) struct Endpoint {
    /// Packets sent so far.
    pub(super) sequence: u64,
    /// Inputs that wait for the single consumption port.
    pub(super) arrived: u64,
    pub(super) last_consumed: u8,
    pub(super) consuming: bool,
    /// Stands in the list of interfaces to look at.
    pub(super) sending: bool,
    /// Stands in the list of source buffers to look at.
    pub(super) injecting: bool,
    /// Serial injection: the injector that was last served, and whether it still is.
    pub(super) serial: u8,
    pub(super) serial_busy: bool,
}

/// An output channel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Channel {
    /// The input that owns it, if it is owned.
    pub(super) owner: u8,
    /// The input that it was given to last.
    pub(super) last_winner: u8,
    /// \[packets\] Room in the queue behind it.
    pub(super) credits: u16,
}

/// An output link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    /// Inputs that sleep until an adaptive (0) or a deterministic (1) channel opens.
    pub(super) sleepers: [u64; 2],
    /// The node at the other end; [`NONE`] where there is no link.
    pub(super) downstream: u32,
    /// The node whose link of the same port leads here.
    pub(super) upstream: u32,
    /// The channel that crossed last.
    pub(super) last_vc: u8,
}

/// A source buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Buffer {
    pub(super) waiting: Chain,
    /// \[packets\] Waiting.
    pub(super) count: u16,
}

/// Set bits of a mask, from the lowest.
pub(super) struct Bits(pub(super) u64);

impl Iterator for Bits {
    type Item = usize;
    fn next(&mut self) -> Option<usize> {
        if self.0 == 0 {
            return None;
        }
        let bit = self.0.trailing_zeros() as usize;
        self.0 &= self.0 - 1;
        Some(bit)
    }
}

/// The first bit of `mask` after position `last`, cyclically: round robin. `mask` must not be 0.
pub(super) const fn after(mask: u64, last: u32) -> u32 {
    let above = if last >= 63 { 0 } else { mask & (u64::MAX << (last + 1)) };
    if above != 0 { above.trailing_zeros() } else { mask.trailing_zeros() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::router::arbitration::round_robin;

    #[test]
    fn round_robin_by_bits_is_round_robin() {
        for mask in 1..256u64 {
            for last in 0..8 {
                let expected = round_robin(8, last, |input| mask & 1 << input != 0);
                assert_eq!(Some(after(mask, last as u32) as usize), expected, "{mask:b} after {last}");
            }
        }
        assert_eq!(after(1 << 63, 63), 63);
    }

    #[test]
    fn room_is_what_counting_phits_says() {
        const L: u64 = 4;
        const CAPACITY: u32 = 4;
        // Every history of one packet arriving at `arrived` and one departing from `departed`, around cycle 100.
        for count in 0..=4u32 {
            for packets in 0..=4u32 {
                for arrived in 90..100u64 {
                    for departed in [None, Some(97), Some(98), Some(99)] {
                        let alone = count == 1 && departed.is_some_and(|departed| departed <= arrived);
                        if alone || (count == 0 && (departed.is_some() || 100 - arrived < L)) {
                            continue;
                        }
                        let leaving = if departed.is_some() { 0 } else { NONE };
                        let queue =
                            Queue { waiting: Chain::EMPTY, leaving, count, departed: departed.unwrap_or(0), arrived };
                        let held = queue.phits(L, 100);
                        let expected = u64::from(CAPACITY) * L - u64::from(held) >= u64::from(packets) * L;
                        let room = queue.has_room(packets, CAPACITY, L, 100);
                        assert_eq!(room, expected, "{queue:?} for {packets}");
                    }
                }
            }
        }
    }
}
