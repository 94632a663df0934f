//! Which virtual channels the classes of messages have, and how they take turns at their source.
//!
//! Decision: docs/decisions/0551-classes-that-share-channels.md.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use trgen::catalog::{ErrorKind, SpecError};
use trgen::choices;

use crate::params::MAX_VCS;

choices! {
    /// The order in which a source sends packets of several classes.
    pub enum SourceOrder: "source order" in SOURCE_ORDERS {
        InTurn = "in-turn", "each class of messages has a queue, and queues take turns, flit by flit", "fsin's own";
        RepliesFirst = "replies-first", "one packet after the other, of all classes, and replies (classes 1 and 3) before requests; their latency counts from the cycle before they are made", "BookSim 2, Jiang et al., ISPASS 2013";
    }
}

/// The four kinds of messages of `request-reply`, each by its name; its place is its class.
const KINDS: [&str; 4] = ["read-request", "read-reply", "write-request", "write-reply"];

/// The virtual channels of each class of messages.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub enum VcRanges {
    /// Classes share none: they are divided evenly.
    #[default]
    Apart,
    /// All classes share all.
    Together,
    /// By class: the first and the last one; `None` for all.
    Given(Vec<Option<(u8, u8)>>),
}

impl VcRanges {
    /// The channels of a class, where ports have `vcs` for `classes` classes.
    pub(crate) fn of(&self, class: usize, vcs: usize, classes: usize) -> RangeInclusive<usize> {
        match self {
            Self::Apart => class * (vcs / classes)..=(class + 1) * (vcs / classes) - 1,
            Self::Together => 0..=vcs - 1,
            Self::Given(ranges) => match ranges.get(class).copied().flatten() {
                Some((first, last)) => first.into()..=last.into(),
                None => 0..=vcs - 1,
            },
        }
    }
}

impl fmt::Display for VcRanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Apart => f.write_str("apart"),
            Self::Together => f.write_str("together"),
            Self::Given(ranges) => {
                let given = ranges.iter().enumerate().filter_map(|(class, range)| range.map(|range| (class, range)));
                let words: Vec<String> =
                    given.map(|(class, (first, last))| format!("{class}={first}-{last}")).collect();
                f.write_str(&words.join(":"))
            }
        }
    }
}

impl FromStr for VcRanges {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        match text {
            "apart" => return Ok(Self::Apart),
            "together" => return Ok(Self::Together),
            _ => {}
        }
        let mut ranges: Vec<Option<(u8, u8)>> = Vec::new();
        for word in text.split(':') {
            let parsed = word.trim().split_once('=').and_then(|(kind, range)| {
                let class = KINDS.iter().position(|name| *name == kind).or_else(|| kind.parse().ok())?;
                let (first, last) = range.split_once('-').unwrap_or((range, range));
                let (first, last): (u8, u8) = (first.parse().ok()?, last.parse().ok()?);
                (class < MAX_VCS && first <= last && usize::from(last) < MAX_VCS).then_some((class, (first, last)))
            });
            let Some((class, range)) = parsed else {
                let what = format!("`{}` is no range of channels of a class", word.escape_debug());
                let remedy = format!(
                    "write apart, together, or CLASS=FIRST-LAST for each, separated by colons; a class is a number or one of {}",
                    KINDS.join(", ")
                );
                return Err(SpecError::new(ErrorKind::Malformed, what, remedy).of("vc-range").given(text));
            };
            if ranges.len() <= class {
                ranges.resize(class + 1, None);
            }
            if ranges[class].replace(range).is_some() {
                let what = format!("class {class} has two ranges of channels");
                return Err(SpecError::new(ErrorKind::Malformed, what, "give one").of("vc-range").given(text));
            }
        }
        Ok(Self::Given(ranges))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_and_written() {
        for text in ["apart", "together", "0=0-5:2=2-7", "1=3-3"] {
            assert_eq!(text.parse::<VcRanges>().unwrap().to_string(), text);
        }
        let kinds: VcRanges = "read-request=0-5:write-reply=10-15".parse().unwrap();
        assert_eq!([0, 1, 3].map(|class| kinds.of(class, 16, 4)), [0..=5, 0..=15, 10..=15]);
        assert_eq!(VcRanges::Apart.of(1, 4, 2), 2..=3);
        for text in ["", "0", "0=5-2", "0=1-32", "0=1-2:0=3-4", "read=1-2", "0=1-2:", "32=0-1", "0=a-b"] {
            assert!(text.parse::<VcRanges>().is_err(), "{text}");
        }
    }
}
