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
