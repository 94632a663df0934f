//! Conversion between cycles of the network and picoseconds of what sends through it, by an exact ratio.
//!
//! Cycle 1 begins at 0 ps. An injection enters in the first cycle that begins at or after its time; events of a cycle
//! are visible at its end. Both conversions round up, and use integers only.

use crate::units::Cycle;
pub use crate::units::parse_span;

/// \[ps\] A point in time, since the start of the run.
pub type Time = u64;

/// Later than every time: the promise of a guest that is blocked.
pub const FOREVER: Time = u64::MAX;

/// The length of a cycle as a fraction of picoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Clock {
    /// \[ps\] Length of `denominator` cycles.
    numerator: u64,
    /// At least 1; without a common factor with the numerator.
    denominator: u64,
}

impl Clock {
    /// A clock whose cycle has `numerator / denominator` picoseconds; `None` if the denominator is 0 or the cycle is
    /// shorter than 1 ps.
    #[must_use]
    pub fn new(numerator: u64, denominator: u64) -> Option<Self> {
        if denominator == 0 || numerator < denominator {
            return None;
        }
        let common = gcd(numerator, denominator);
        Some(Self { numerator: numerator / common, denominator: denominator / common })
    }

    /// A clock whose cycle has a whole number of picoseconds, at least 1.
    #[must_use]
    pub const fn whole(picoseconds: u64) -> Self {
        Self { numerator: if picoseconds == 0 { 1 } else { picoseconds }, denominator: 1 }
    }

    /// Numerator and denominator, without a common factor.
    #[must_use]
    pub const fn ratio(self) -> (u64, u64) {
        (self.numerator, self.denominator)
    }

    /// \[s\] Length of a cycle.
    #[must_use]
    pub fn seconds(self) -> f64 {
        self.numerator as f64 / self.denominator as f64 * 1e-12
    }

    /// \[ps\] Length of a number of cycles, rounded up; [`FOREVER`] on overflow.
    #[must_use]
    pub fn span(self, cycles: u64) -> Time {
        let exact = (u128::from(cycles) * u128::from(self.numerator)).div_ceil(u128::from(self.denominator));
        Time::try_from(exact).unwrap_or(FOREVER)
    }

    /// Number of whole cycles in a span, rounded down.
    #[must_use]
    pub fn cycles_within(self, span: Time) -> u64 {
        if self.denominator == 1 {
            return span / self.numerator;
        }
        let cycles = u128::from(span) * u128::from(self.denominator) / u128::from(self.numerator);
        u64::try_from(cycles).unwrap_or(u64::MAX)
    }

    /// Number of cycles that a span takes, rounded up.
    #[must_use]
    pub fn cycles_for(self, span: Time) -> u64 {
        let cycles = (u128::from(span) * u128::from(self.denominator)).div_ceil(u128::from(self.numerator));
        u64::try_from(cycles).unwrap_or(u64::MAX)
    }

    /// \[ps\] The length of a cycle in whole picoseconds, for clocks that count those; `None` if rounding would change it by more
    /// than a ten-thousandth.
    #[must_use]
    pub fn nearly_whole(self) -> Option<Time> {
        let near = (self.numerator + self.denominator / 2) / self.denominator;
        let off = (u128::from(near) * u128::from(self.denominator)).abs_diff(self.numerator.into());
        (off * 10_000 <= self.numerator.into()).then_some(near)
    }

    /// \[ps\] End of a cycle, when its events are visible.
    #[must_use]
    pub fn end(self, cycle: Cycle) -> Time {
        self.span(cycle.0)
    }

    /// The first cycle that begins at or after `time`.
    #[must_use]
    pub fn cycle(self, time: Time) -> Cycle {
        if time == FOREVER {
            return Cycle::NEVER;
        }
        Cycle(self.cycles_for(time).saturating_add(1))
    }
}

/// Greatest common divisor.
const fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_directions_round_up() {
        let clock = Clock::new(6400, 2).unwrap();
        assert_eq!(clock.ratio(), (3200, 1));
        assert_eq!([0, 1, 3200, 3201].map(|time| clock.cycle(time).0), [1, 2, 2, 3]);
        assert_eq!(clock.end(Cycle(1)), 3200);
        let thirds = Clock::new(32_000, 3).unwrap();
        assert_eq!([1, 2, 3].map(|cycle| thirds.end(Cycle(cycle))), [10_667, 21_334, 32_000]);
        assert_eq!(thirds.cycle(10_667).0, 3, "10 666.7 is past when 10 667 comes");
        assert_eq!(thirds.cycle(32_000).0, 4);
        assert_eq!([10_666, 10_667, 32_000].map(|span| thirds.cycles_within(span)), [0, 1, 3]);
        assert_eq!((clock.cycles_within(6399), clock.cycles_for(6401)), (1, 3));
    }

    #[test]
    fn a_cycle_is_nearly_whole_or_refused() {
        // 4 bytes at 7.2 and 3 Tb/s, and at 3 Gb/s.
        assert_eq!(Clock::new(40, 9).and_then(Clock::nearly_whole), None);
        assert_eq!(Clock::new(32, 3).and_then(Clock::nearly_whole), None);
        assert_eq!(Clock::new(32_000_000, 3_000).and_then(Clock::nearly_whole), Some(10_667));
        assert_eq!(Clock::whole(3200).nearly_whole(), Some(3200));
    }

    #[test]
    fn spans_have_units() {
        assert_eq!(parse_span("100us"), Some(100_000_000));
        assert_eq!(parse_span("2.5ns"), Some(2500));
        assert_eq!(parse_span("1.50s"), Some(1_500_000_000_000));
        assert_eq!(parse_span("0ps"), Some(0));
        for bad in ["", "1", "us", "-1us", "0.5ps", "1.0001ns", "1e3us", "99999999s", ".5us"] {
            assert_eq!(parse_span(bad), None, "{bad}");
        }
    }

    #[test]
    fn what_does_not_fit_is_for_ever() {
        let clock = Clock::new(u64::MAX, 1).unwrap();
        assert_eq!(clock.end(Cycle(2)), FOREVER);
        assert_eq!(Clock::new(1, 1).unwrap().cycle(FOREVER), Cycle::NEVER);
        assert_eq!(Clock::new(0, 1), None);
        assert_eq!(Clock::new(1, 2), None, "less than a picosecond");
    }
}
