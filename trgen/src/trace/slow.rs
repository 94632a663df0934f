//! Stragglers: ranks whose computations last longer than those of the others.
//!
//! Written `rank:3x1.2,rank:8-11x2`: the computations of rank 3 last 1.2 times as long, those of 8 to 11 twice.

use std::collections::BTreeMap;

use crate::catalog::{ErrorKind, SpecError};

/// Factors that are possible.
const FACTORS: std::ops::RangeInclusive<f64> = 1e-3..=1e6;
/// Most ranks that are slow.
const MOST: u32 = 1 << 20;

/// Factors of the computing times of ranks.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Slow {
    factors: BTreeMap<u32, f64>,
}

impl Slow {
    /// Parses `rank:AxF` or `rank:A-BxF`, separated by commas.
    ///
    /// # Errors
    /// Another form, a rank that stands twice, a factor out of range.
    ///
    /// # Example
    /// ```
    /// let slow = trgen::trace::slow::Slow::parse("rank:3x1.2,rank:8-11x2")?;
    /// assert_eq!((slow.factor(3), slow.factor(9), slow.factor(0)), (1.2, 2.0, 1.0));
    /// # Ok::<(), trgen::catalog::SpecError>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, SpecError> {
        let mut new = Self::default();
        for part in text.split(',').map(str::trim) {
            let read = || {
                let (ranks, factor) = part.strip_prefix("rank:")?.split_once('x')?;
                let (first, last) = ranks.split_once('-').unwrap_or((ranks, ranks));
                let (first, last) = (first.parse::<u32>().ok()?, last.parse::<u32>().ok()?);
                let factor: f64 = factor.parse().ok()?;
                (first <= last && last < MOST && FACTORS.contains(&factor)).then_some((first, last, factor))
            };
            let (first, last, factor) = read().ok_or_else(|| {
                let what = format!("`{part}` is not a rank with the factor of its computing times");
                SpecError::new(ErrorKind::Malformed, what, "write rank:3x1.2, or rank:8-11x2 for ranks 8 to 11")
            })?;
            for rank in first..=last {
                if new.factors.insert(rank, factor).is_some() {
                    let what = format!("rank {rank} stands twice in `{text}`");
                    return Err(SpecError::new(ErrorKind::Conflict, what, "give it once"));
                }
            }
        }
        Ok(new)
    }

    /// True if no rank has a factor.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.factors.is_empty()
    }

    /// The factor of a rank, 1 if it has none.
    #[must_use]
    pub fn factor(&self, rank: u32) -> f64 {
        self.factors.get(&rank).copied().unwrap_or(1.0)
    }

    /// The ranks with a factor, in ascending order, each with its factor.
    pub fn ranks(&self) -> impl Iterator<Item = (u32, f64)> + '_ {
        self.factors.iter().map(|(&rank, &factor)| (rank, factor))
    }

    /// Checks that each of these ranks exists and computes.
    ///
    /// # Errors
    /// The first that does not.
    pub fn check(&self, ranks: usize, computes: impl Fn(u32) -> bool) -> Result<(), SpecError> {
        if let Some((&rank, _)) = self.factors.range(u32::try_from(ranks).unwrap_or(u32::MAX)..).next() {
            let what = format!("there is no rank {rank}: there are {ranks}");
            return Err(SpecError::new(
                ErrorKind::OutOfRange,
                what,
                format!("ranks are numbered 0 to {}", ranks.max(1) - 1),
            ));
        }
        match self.factors.keys().find(|&&rank| !computes(rank)) {
            None => Ok(()),
            Some(rank) => {
                let what = format!("rank {rank} computes nothing, so that it cannot be slow");
                let remedy = "leave it out; a slow link is a rate in a file of the network";
                Err(SpecError::new(ErrorKind::Meaningless, what, remedy))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_slow_rank_is_refused() {
        for (text, what) in [
            ("", "``"),
            ("3x1.2", "`3x1.2`"),
            ("rank:3", "`rank:3`"),
            ("rank:3x-1", "`rank:3x-1`"),
            ("rank:3xNaN", "`rank:3xNaN`"),
            ("rank:5-3x2", "`rank:5-3x2`"),
            ("rank:1x2,rank:0-4x3", "rank 1 stands twice"),
            ("rank:0-4000000000x2", "factor"),
        ] {
            let error = Slow::parse(text).unwrap_err().to_string();
            assert!(error.contains(what), "{text}: {error}");
        }
        let slow = Slow::parse("rank:3x1.2").unwrap();
        assert!(slow.check(4, |_| true).is_ok());
        assert!(slow.check(3, |_| true).unwrap_err().to_string().contains("no rank 3"));
        assert!(slow.check(4, |rank| rank != 3).unwrap_err().to_string().contains("computes nothing"));
    }
}
