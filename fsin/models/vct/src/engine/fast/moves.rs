//! The last movements of packets, from which the phits in a queue follow in every cycle.

/// A past cycle in 32 bits: exact for ages below 2^32 cycles, which [`cap`](Self::cap) ensures.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Stamp(u32);

impl Stamp {
    /// \[cycles\] An age that [`cap`](Self::cap) reduces older stamps to. Ages that matter are those of moving packets,
    /// at most the longest packet.
    pub(super) const OLD: u64 = 1 << 30;

    #[inline(always)]
    pub(super) const fn new(cycle: u64) -> Self {
        Self(cycle as u32)
    }

    /// \[cycles\] Age in cycle `now`.
    #[inline(always)]
    pub(super) const fn age(self, now: u64) -> u32 {
        (now as u32).wrapping_sub(self.0)
    }

    /// Limits an age above [`OLD`](Self::OLD) to that value in cycle `now`. The last call was in cycle `previous`, when
    /// the age was below 2^32.
    pub(super) const fn cap(&mut self, previous: u64, now: u64) {
        if self.age(previous) as u64 + (now - previous) > Self::OLD {
            *self = Self::new(now.wrapping_sub(Self::OLD));
        }
    }
}

/// The last packet movements of a queue. Kept only where the phits in it must be known in every cycle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moves {
    /// When the header of the departing packet left.
    pub(super) departed: Stamp,
    /// When the header of the latest packet arrived.
    pub(super) arrived: Stamp,
}

impl Moves {
    pub(super) const NONE: Self = Self { departed: Stamp::new(0), arrived: Stamp::new(0) };

    /// \[phits\] In a queue of `count` packets of `length` phits, at the end of the cycle before `now`; `leaving` if
    /// one of the packets is departing.
    pub(super) fn phits(&self, count: u32, leaving: bool, length: u32, now: u64) -> u32 {
        let missing = if count == 0 { 0 } else { length.saturating_sub(self.arrived.age(now)) };
        self.phits_to_leave(count, leaving, length, now) - missing
    }

    /// \[phits\] The result of [`phits`](Self::phits), and phits that have not arrived yet.
    pub(super) fn phits_to_leave(&self, count: u32, leaving: bool, length: u32, now: u64) -> u32 {
        count * length - if leaving { self.departed.age(now) } else { 0 }
    }
}

/// A sender's view of the queue behind an output channel beyond its credits, phit by phit. Kept only for routings that
/// compare free space.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ahead {
    /// \[cycle\] In which the latest header was sent to that queue; long ago at first.
    pub(super) sent: u64,
    /// \[cycle\] In which the header of the packet now departing from that queue left; [`Ahead::NEVER`] if none is
    /// departing.
    pub(super) departed: u64,
}

impl Ahead {
    pub(super) const NEVER: u64 = u64::MAX;
    pub(super) const EMPTY: Self = Self { sent: 0u64.wrapping_sub(1 << 62), departed: Self::NEVER };

    /// \[phits\] In that queue, of `count` packets, at the end of the cycle before `now`.
    #[inline(always)]
    pub(super) fn phits(&self, count: u32, length: u64, now: u64) -> u32 {
        // 0 if no packet is departing.
        let left = now.saturating_sub(self.departed);
        let missing = length.saturating_sub(now.wrapping_sub(self.sent));
        (u64::from(count) * length - left - missing) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_are_exact_however_long_nothing_happens() {
        let mut stamp = Stamp::new(1_000);
        assert_eq!(stamp.age(1_003), 3);
        // Without a cap this would be 3 cycles again.
        stamp.cap(1_003, (1 << 32) + 1_003);
        assert_eq!(u64::from(stamp.age((1 << 32) + 1_003)), Stamp::OLD);
        let mut young = Stamp::new((1 << 32) - 1);
        young.cap(1 << 32, (1 << 32) + 1);
        assert_eq!(young.age((1 << 32) + 1), 2);
    }
}
