//! Rates of links in models that count cycles: each is a ratio of small integers to that of the fastest link.
//!
//! A cycle is the time of a phit on the fastest link. A link of n/d of its rate is busy with a phit for d/n cycles. It
//! begins a phit in the cycle in which it becomes free, and keeps the fraction of a cycle: phits that follow each other
//! without a gap leave at exactly n in d cycles. The whole phit has crossed d/n cycles later, rounded up.
//!
//! Decision: docs/decisions/0219-links-of-unlike-rate.md.

/// The greatest number in a ratio of rates.
pub const MAX_RATIO: u32 = 64;

/// Rate of a link, as a ratio to that of the fastest.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Pace {
    phits: u32,
    cycles: u32,
}

impl Pace {
    /// The rate of the fastest link: a phit in each cycle.
    pub const FULL: Self = Self { phits: 1, cycles: 1 };

    /// The pace of a link of `rate` where the fastest has `fastest`, both in the same unit and not 0. `None` if the
    /// link is faster than the fastest, or if a term of their reduced ratio exceeds [`MAX_RATIO`].
    #[must_use]
    pub fn of(rate: u64, fastest: u64) -> Option<Self> {
        let divisor = gcd(rate, fastest);
        let (phits, cycles) = (rate.checked_div(divisor)?, fastest.checked_div(divisor)?);
        let is_small = (1..=u64::from(MAX_RATIO)).contains(&cycles) && (1..=cycles).contains(&phits);
        is_small.then_some(Self { phits: phits as u32, cycles: cycles as u32 })
    }

    /// The pace nearest to a ratio of at most 1; of two, the one with smaller numbers.
    #[must_use]
    pub fn nearest(rate: u64, fastest: u64) -> Self {
        let ratio = rate as f64 / fastest as f64;
        let all = (1..=MAX_RATIO).flat_map(|cycles| (1..=cycles).map(move |phits| Self { phits, cycles }));
        let distance = |pace: &Self| (pace.rate() - ratio).abs();
        all.min_by(|one, other| distance(one).total_cmp(&distance(other))).unwrap_or(Self::FULL)
    }

    /// \[phits\] That pass in [`cycles`](Self::cycles).
    #[must_use]
    pub const fn phits(self) -> u32 {
        self.phits
    }

    /// \[cycles\] In which [`phits`](Self::phits) pass.
    #[must_use]
    pub const fn cycles(self) -> u32 {
        self.cycles
    }

    /// \[phits/cycle\] The rate, 1/64 to 1.
    #[must_use]
    pub fn rate(self) -> f64 {
        f64::from(self.phits) / f64::from(self.cycles)
    }

    /// True if a phit passes in each cycle.
    #[must_use]
    pub const fn is_full(self) -> bool {
        self.phits == self.cycles
    }

    /// \[cycles\] Time that a phit takes to cross the link, in whole cycles: 1 to 64.
    #[must_use]
    pub const fn crossing(self) -> u32 {
        self.cycles.div_ceil(self.phits)
    }
}

/// The greatest common divisor.
const fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// A link of some pace, and when it is free.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PacedLink {
    pace: Pace,
    /// \[1/phits of a cycle\] Time at which it becomes free.
    free: u64,
}

impl PacedLink {
    /// A link that is free.
    #[must_use]
    pub const fn new(pace: Pace) -> Self {
        Self { pace, free: 0 }
    }

    /// \[cycle\] The first cycle in which it can begin a phit.
    #[must_use]
    #[inline]
    pub const fn next(&self) -> u64 {
        self.free / self.pace.phits as u64
    }

    /// Begins a phit in a cycle from [`next`](Self::next) on.
    #[inline]
    pub fn begin(&mut self, cycle: u64) {
        self.free = self.free.max(cycle * u64::from(self.pace.phits)) + u64::from(self.pace.cycles);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_of_small_integers_or_none() {
        let pair = |pace: Option<Pace>| pace.map(|pace| (pace.phits(), pace.cycles()));
        assert_eq!(pair(Pace::of(10, 40)), Some((1, 4)));
        assert_eq!(pair(Pace::of(25, 40)), Some((5, 8)));
        assert_eq!(pair(Pace::of(64, 64)), Some((1, 1)));
        assert_eq!(pair(Pace::of(63, 64)), Some((63, 64)));
        for (rate, fastest) in [(64, 65), (1, 65), (2, 1), (0, 1), (1, 0), (0, 0), (u64::MAX - 1, u64::MAX)] {
            assert_eq!(Pace::of(rate, fastest), None, "{rate}/{fastest}");
        }
        let nearest = |rate, fastest| pair(Some(Pace::nearest(rate, fastest)));
        assert_eq!(nearest(33, 100), Some((21, 64)));
        assert_eq!(nearest(3333, 10_000), Some((1, 3)));
        assert_eq!(nearest(1, 1000), Some((1, 64)));
        assert_eq!(nearest(999, 1000), Some((1, 1)));
        assert_eq!(nearest(2, 4), Some((1, 2)));
        assert_eq!(Pace::of(3, 4).unwrap().crossing(), 2);
        assert_eq!(Pace::FULL.crossing(), 1);
    }

    #[test]
    fn phits_without_gaps_keep_the_rate_exactly() {
        for (phits, cycles) in [(1, 1), (1, 2), (2, 3), (3, 4), (7, 64), (63, 64)] {
            let mut link = PacedLink::new(Pace::of(phits, cycles).unwrap());
            let mut begun = Vec::new();
            let mut now = 5;
            for _ in 0..3 * phits {
                now = link.next().max(now);
                begun.push(now);
                link.begin(now);
            }
            let expected: Vec<u64> = (0..3 * phits).map(|phit| 5 + phit * cycles / phits).collect();
            assert_eq!(begun, expected, "{phits}/{cycles}");
            // An idle link begins at once.
            link.begin(1_000);
            assert_eq!(link.next(), (1_000 * phits + cycles) / phits);
        }
    }
}
