//! Information that a reader needs and the file does not hold.

use std::str::FromStr;

use crate::catalog::{ErrorKind, SpecError};
use crate::trace::chakra::Group;
use crate::trace::collectives::Choice;
use crate::units::Picoseconds;

/// How to read a trace. The default suits the traces of this project.
#[derive(Clone, PartialEq, Debug)]
pub struct ReadOptions {
    /// \[flop/s\] Speed of a task, for formats that count operations; positive. Default 5e9.
    pub flop_rate: f64,
    /// Unit of durations, for formats that do not fix it. Default ns.
    pub compute_unit: ComputeUnit,
    /// Order of the tasks in receive lines of `.trc` files. Default: the one that matches the sends better.
    pub recv_order: RecvOrder,
    /// Algorithms that expand collectives. Default: the choice of MPICH.
    pub collectives: Choice,
    /// Groups of ranks, for formats whose collectives name them; `None`: those of the trace.
    pub groups: Option<Vec<Group>>,
    /// Name of the format; `None` to detect it by content.
    pub from: Option<String>,
    /// Most events of the whole program; about 48 bytes of memory each. Default 2^28.
    pub max_events: u64,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            flop_rate: 5e9,
            compute_unit: ComputeUnit::Nanoseconds,
            recv_order: RecvOrder::Detect,
            collectives: Choice::default(),
            groups: None,
            from: None,
            max_events: 1 << 28,
        }
    }
}

impl ReadOptions {
    /// Rejects meaningless values.
    pub(super) fn check(&self) -> Result<(), SpecError> {
        if !(self.flop_rate.is_finite() && self.flop_rate > 0.0) {
            return Err(SpecError::new(
                ErrorKind::Malformed,
                format!("a speed of {} flop/s", self.flop_rate),
                "give a positive number, for instance 5e9",
            ));
        }
        if self.compute_unit == ComputeUnit::Cycles(Picoseconds(0)) {
            return Err(SpecError::new(
                ErrorKind::Malformed,
                "a cycle of 0 ps",
                "give the time of one cycle, for instance 3200 ps",
            ));
        }
        Ok(())
    }
}

/// Options that apply to one format only, with the name of that format.
const OF_ONE_FORMAT: [(&str, &str); 6] = [
    ("flop-rate", "simgrid-ti"),
    ("trace-unit", "fsin-trc"),
    ("recv-order", "fsin-trc"),
    ("groups", "chakra"),
    ("peak", "chakra"),
    ("memory-bandwidth", "chakra"),
];

/// The options that do not apply to this format, each with the format to which it applies.
pub fn unused_options(format: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    OF_ONE_FORMAT.into_iter().filter(move |&(_, of)| of != format)
}

/// Unit of a duration in a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ComputeUnit {
    /// 1000 ps.
    Nanoseconds,
    /// 10^6 ps.
    Microseconds,
    /// 10^9 ps.
    Milliseconds,
    /// Cycles of this length.
    Cycles(Picoseconds),
}

impl ComputeUnit {
    /// Length of one unit.
    #[must_use]
    pub const fn picoseconds(self) -> Picoseconds {
        match self {
            Self::Nanoseconds => Picoseconds(1_000),
            Self::Microseconds => Picoseconds(1_000_000),
            Self::Milliseconds => Picoseconds(1_000_000_000),
            Self::Cycles(cycle) => cycle,
        }
    }
}

/// Order of the two tasks in a receive line of a `.trc` file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RecvOrder {
    /// `r src dst tag bytes`, as the format is defined.
    SrcDst,
    /// `r dst src tag bytes`, as some files in circulation are written.
    DstSrc,
    /// The order that leaves fewer messages unmatched; as defined if both leave the same number.
    Detect,
}

impl FromStr for RecvOrder {
    type Err = SpecError;

    fn from_str(word: &str) -> Result<Self, SpecError> {
        match word {
            "src-dst" => Ok(Self::SrcDst),
            "dst-src" => Ok(Self::DstSrc),
            "detect" => Ok(Self::Detect),
            _ => Err(SpecError::unknown("order of receive lines", word, &["src-dst", "dst-src", "detect"])),
        }
    }
}
