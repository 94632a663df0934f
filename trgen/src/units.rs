//! Units as types: a time is not a count, a task is not a node.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

/// A point in simulated time, or a span of it, in network cycles.
///
/// One cycle is the time that a link takes to transfer one phit. The clock of a run starts at [`Cycle::FIRST`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Cycle(pub u64);

impl Cycle {
    /// The first cycle of every run. The clock starts at 1, like that of the original simulator, so that the clock at
    /// the end of a run equals the published completion times.
    pub const FIRST: Self = Self(1);
    /// The end of every clock. A run that reaches it fails: later times could not be computed.
    pub const LAST: Self = Self(1 << 63);
    /// Later than every cycle that a run can reach.
    pub const NEVER: Self = Self(u64::MAX);

    /// The cycle after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }

    /// Cycles from `earlier` to this one; 0 if `earlier` is not earlier.
    #[must_use]
    pub const fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

impl Add<u64> for Cycle {
    type Output = Self;
    fn add(self, cycles: u64) -> Self {
        Self(self.0.saturating_add(cycles))
    }
}

impl AddAssign<u64> for Cycle {
    fn add_assign(&mut self, cycles: u64) {
        *self = *self + cycles;
    }
}

impl Sub<u64> for Cycle {
    type Output = Self;
    fn sub(self, cycles: u64) -> Self {
        Self(self.0.saturating_sub(cycles))
    }
}

impl fmt::Display for Cycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// \[bytes\] A size as people write it: a whole number, perhaps with `B`, `kB`, `MB`, `GB`, `KiB`, `MiB` or `GiB`. `None`
/// for anything else, and for sizes of 2^64 bytes and more.
///
/// ```
/// use trgen::units::bytes;
/// assert_eq!(["1500", "64kB", "1MiB", "1M", "-1B"].map(bytes), [Some(1500), Some(64_000), Some(1 << 20), None, None]);
/// ```
#[must_use]
pub fn bytes(word: &str) -> Option<u64> {
    let digits = word.find(|c: char| !c.is_ascii_digit()).unwrap_or(word.len());
    let (number, unit) = word.split_at(digits);
    let factor: u64 = match unit {
        "" | "B" => 1,
        "kB" | "KB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(factor)
}

/// An end node of the network: 0 to N-1. Endpoints come first in every numbering.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The node at `index` of a table of all nodes.
    ///
    /// # Panics
    /// When `index` exceeds 32 bits, which cannot happen in a network that fits in memory.
    #[must_use]
    pub fn at(index: usize) -> Self {
        Self(u32::try_from(index).expect("a network has fewer than 2^32 nodes"))
    }

    /// Position in a table of all nodes.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A task of an application (an MPI rank): 0 to T-1. A placement maps tasks to nodes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct TaskId(pub u32);

impl TaskId {
    /// The task at `index` of a table of all tasks.
    ///
    /// # Panics
    /// When `index` exceeds 32 bits.
    #[must_use]
    pub fn at(index: usize) -> Self {
        Self(u32::try_from(index).expect("a trace has fewer than 2^32 tasks"))
    }

    /// Position in a table of all tasks.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A span of a program's own time, in picoseconds.
///
/// In picoseconds a phit time (3.2 ns for 4 bytes at 10 Gb/s) is usually a whole number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Picoseconds(pub u64);

impl Picoseconds {
    /// Rounds a span in seconds to the nearest picosecond. `None` unless `seconds` is finite, not negative and below
    /// 2^63 ps (106 days).
    #[must_use]
    pub fn from_seconds(seconds: f64) -> Option<Self> {
        let picoseconds = (seconds * 1e12).round();
        (0.0..9.2e18).contains(&picoseconds).then_some(Self(picoseconds as u64))
    }

    /// The same span in seconds.
    #[must_use]
    pub fn seconds(self) -> f64 {
        self.0 as f64 * 1e-12
    }
}

/// An exact decimal number: `digits` divided by `ticks`, which is a power of ten.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Decimal {
    /// Numerator.
    pub digits: u64,
    /// Denominator, a power of ten.
    pub ticks: u64,
}

/// Maximum number of decimals of a [`Decimal`]. If the number is a time in ns, a clock of 64 bits that counts ticks of
/// 10^-6 ns then lasts for hours.
pub const DECIMALS: usize = 6;

impl Decimal {
    /// The largest number. Sums of such numbers over a run still fit 64 bits.
    pub const MOST: u64 = 1 << 40;

    /// A whole number.
    #[must_use]
    pub const fn whole(digits: u64) -> Self {
        Self { digits, ticks: 1 }
    }

    /// The number in these digits, with a point or without; `None` for anything else, for numbers above 2^40 and for
    /// more than six decimals.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (whole, rest) = text.split_once('.').unwrap_or((text, "0"));
        let is_number = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number(whole) || !is_number(rest) {
            return None;
        }
        let rest = rest.trim_end_matches('0');
        if rest.len() > DECIMALS {
            return None;
        }
        let ticks = 10_u64.pow(rest.len() as u32);
        let whole = whole.parse::<u64>().ok().filter(|whole| *whole <= Self::MOST / ticks)?;
        let rest = if rest.is_empty() { 0 } else { rest.parse::<u64>().ok()? };
        Some(Self { digits: whole * ticks + rest, ticks })
    }

    /// The number in units of 1/`ticks`, where `ticks` is a multiple of the denominator of this number.
    #[must_use]
    pub const fn counted_in(self, ticks: u64) -> u64 {
        self.digits * (ticks / self.ticks)
    }
}

/// \[ps\] A span with its unit, such as `100us` or `2.5ns`: units `ps`, `ns`, `us`, `ms`, `s`. `None` for anything
/// else, or for a fraction of a picosecond.
#[must_use]
pub fn parse_span(text: &str) -> Option<u64> {
    let digits = text.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
    let (number, unit) = text.split_at(digits);
    let power: usize = match unit {
        "ps" => 0,
        "ns" => 3,
        "us" => 6,
        "ms" => 9,
        "s" => 12,
        _ => return None,
    };
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let part = part.trim_end_matches('0');
    if whole.is_empty() || part.len() > power {
        return None;
    }
    format!("{whole}{part:0<power$}").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact() {
        let parsed = |text| Decimal::parse(text).map(|found| (found.digits, found.ticks));
        assert_eq!(parsed("6"), Some((6, 1)));
        assert_eq!(parsed("6.000"), Some((6, 1)));
        assert_eq!(parsed("0.04"), Some((4, 100)));
        assert_eq!(parsed("12.345678"), Some((12_345_678, 1_000_000)));
        for wrong in ["", ".", ".5", "5.", "-1", "+1", "1e3", "0.1234567", "nan", "1.2.3", "1099511627777"] {
            assert_eq!(parsed(wrong), None, "{wrong}");
        }
        assert_eq!(Decimal { digits: 4, ticks: 100 }.counted_in(1000), 40);
    }
}
