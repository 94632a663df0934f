//! Marking of frames by the length of a queue: steps, and random early detection (RED).
//!
//! Sources: RFC 3168 (marks); Floyd, Jacobson, *Random Early Detection Gateways for Congestion Avoidance*, ToN 1(4),
//! 1993, without its average, as data centres use it (Alizadeh and others, DCTCP, SIGCOMM 2010; Zhu and others, DCQCN,
//! SIGCOMM 2015).

use std::str::FromStr;

use fsin_core::topology::switched::parse_rate;
use trgen::catalog::{ErrorKind, SpecError};
use trgen::rng::mix2;
use trgen::units;

use super::frame::CLASSES;
use super::schedule::class_of;

/// When a switch decides whether it marks a frame.
#[derive(Clone, Copy, PartialEq, Eq, Default, Hash, Debug)]
pub enum MarkAt {
    /// When its transmission begins: by what then waits behind it.
    #[default]
    Departure,
    /// When its last bit has left.
    Sent,
    /// When it arrives: by what waits before it.
    Arrival,
}

/// Every such instant with its name.
pub const MARK_AT: [(&str, MarkAt); 3] =
    [("departure", MarkAt::Departure), ("sent", MarkAt::Sent), ("arrival", MarkAt::Arrival)];

/// Bounds of a queue, between which the probability of a mark rises from 0.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Thresholds {
    /// \[bytes\] Up to this length nothing is marked.
    pub min: u64,
    /// \[bytes\] Beyond this length everything is marked; at least `min`. Where both are equal nothing is drawn.
    pub max: u64,
    /// Probability of a mark at length `max`: 0 to 1.
    pub probability: f64,
}

impl Thresholds {
    /// No mark at any length.
    pub(crate) const NEVER: Self = Self { min: u64::MAX, max: u64::MAX, probability: 0.0 };

    /// True if a frame is marked at a queue of `queue` bytes. `draw` is uniform over all numbers of 64 bits.
    #[inline]
    pub(crate) fn marks(&self, queue: u64, draw: impl FnOnce() -> u64) -> bool {
        if queue <= self.min {
            return false;
        }
        if queue > self.max {
            return true;
        }
        let probability = self.probability * (queue - self.min) as f64 / (self.max - self.min) as f64;
        // 2^64 as a float; a conversion of a larger number saturates.
        probability >= 1.0 || draw() < (probability * 18_446_744_073_709_551_616.0) as u64
    }
}

/// Thresholds, and the classes and ports to which they apply.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MarkRule {
    /// The class; `None` for all.
    pub class: Option<u8>,
    /// \[b/s\] The rate of the port; `None` for all.
    pub rate: Option<u64>,
    /// The thresholds.
    pub thresholds: Thresholds,
}

/// All rules of marking: of those that apply, the one that names the class is taken before others, then the one that
/// names the rate.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Marking {
    /// The rules.
    pub rules: Vec<MarkRule>,
}

/// What is expected of the notation.
const REMEDY: &str = "write step:BYTES or red:BYTES:BYTES:PROBABILITY (the first not above the second, 0 to 1), perhaps with \
                      CLASS= before and @RATE behind, joined by `;`: 3=step:100kB@25Gb/s;3=step:400kB@100Gb/s";

impl FromStr for Marking {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        let mut marking = Self::default();
        for part in text.split(';') {
            let fault =
                |what: &str| SpecError::new(ErrorKind::Malformed, format!("`{part}` {what}"), REMEDY).given(text);
            let (class, rest) = match part.split_once('=') {
                Some((class, rest)) => (Some(class_of(class).ok_or_else(|| fault("names no class"))?), rest),
                None => (None, part),
            };
            let (law, rate) = match rest.split_once('@') {
                Some((law, rate)) => (law, Some(parse_rate(rate).ok_or_else(|| fault("has no data rate behind @"))?)),
                None => (rest, None),
            };
            let words: Vec<&str> = law.split(':').collect();
            let size = |word: &str| units::bytes(word).ok_or_else(|| fault("has no size in bytes"));
            let thresholds = match words[..] {
                ["step", at] => Thresholds { min: size(at)?, max: size(at)?, probability: 1.0 },
                ["red", min, max, probability] => {
                    let probability = probability.parse().ok().filter(|share| (0.0..=1.0).contains(share));
                    let probability = probability.ok_or_else(|| fault("has no probability"))?;
                    Thresholds { min: size(min)?, max: size(max)?, probability }
                }
                _ => return Err(fault("is neither step nor red")),
            };
            if thresholds.min > thresholds.max {
                return Err(fault("begins above its end"));
            }
            if marking.rules.iter().any(|rule| (rule.class, rule.rate) == (class, rate)) {
                return Err(fault("is for the classes and rates of a part before it"));
            }
            marking.rules.push(MarkRule { class, rate, thresholds });
        }
        Ok(marking)
    }
}

impl Marking {
    /// By class: the rule of a port of this rate \[b/s\].
    fn rules_of(&self, rate: u64) -> [Option<&MarkRule>; CLASSES] {
        std::array::from_fn(|class| {
            let applies = |rule: &&MarkRule| {
                rule.class.is_none_or(|of| usize::from(of) == class) && rule.rate.is_none_or(|of| of == rate)
            };
            self.rules.iter().filter(applies).max_by_key(|rule| (rule.class.is_some(), rule.rate.is_some()))
        })
    }

    /// By class: the thresholds of a port of this rate \[b/s\].
    pub(crate) fn of(&self, rate: u64) -> [Thresholds; CLASSES] {
        self.rules_of(rate).map(|rule| rule.map_or(Thresholds::NEVER, |rule| rule.thresholds))
    }

    /// By class: the thresholds of a port of a rate \[b/s\]. Thresholds without a rate are for rate `whole`, and scale
    /// in proportion for other rates.
    pub(crate) fn in_proportion(&self, rate: u64, whole: u64) -> [Thresholds; CLASSES] {
        let scaled = |bytes: u64| (u128::from(bytes) * u128::from(rate) / u128::from(whole)) as u64;
        self.rules_of(rate).map(|rule| match rule {
            None => Thresholds::NEVER,
            Some(MarkRule { rate: Some(_), thresholds, .. }) => *thresholds,
            Some(MarkRule { thresholds: of, .. }) => Thresholds { min: scaled(of.min), max: scaled(of.max), ..*of },
        })
    }

    /// \[bytes\] The largest length up to which something may be left unmarked.
    #[must_use]
    pub fn most(&self) -> Option<u64> {
        self.rules.iter().map(|rule| rule.thresholds.max).max()
    }
}

/// Draws of marks. The outcome depends only on the seed, the port and the frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MarkDraws(u64);

impl MarkDraws {
    pub(crate) fn new(seed: u64) -> Self {
        const PURPOSE: u64 = 0x006d_6172_6b73;
        Self(mix2(seed, PURPOSE))
    }

    /// The draw for the frame with this key at a port.
    #[inline]
    pub(crate) fn draw(self, port: usize, key: u64) -> u64 {
        mix2(mix2(self.0, port as u64), key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_marks_above_and_never_at_its_length() {
        let step = "step:10kB".parse::<Marking>().unwrap().of(1)[3];
        let none = || -> u64 { panic!("nothing is drawn") };
        assert!([0, 9_999, 10_000].into_iter().all(|queue| !step.marks(queue, none)));
        assert!(step.marks(10_001, none) && !Thresholds::NEVER.marks(u64::MAX - 1, none));
    }

    /// Pearson's test against the probability of each of 20 lengths: the sum of 20 squares of normal variables.
    #[test]
    fn red_marks_as_often_as_it_says() {
        let red = "red:5kB:200kB:0.2".parse::<Marking>().unwrap().of(1)[0];
        let draws = MarkDraws::new(7);
        let mut sum = 0.0;
        for (port, queue) in (0..20u64).map(|at| (at as usize, 6_000 + 9_700 * at)) {
            let count = 100_000u64;
            let marked =
                (0..count).filter(|&frame| red.marks(queue, || draws.draw(port, mix2(3, frame)))).count() as f64;
            let p = 0.2 * (queue - 5_000) as f64 / 195_000.0;
            let expected = count as f64 * p;
            sum += (marked - expected).powi(2) / (expected * (1.0 - p));
        }
        // The quantiles .001 and .999 of 20 degrees of freedom.
        assert!((5.92..45.31).contains(&sum), "{sum}");
        assert!(red.marks(200_001, || u64::MAX) && !red.marks(200_000, || u64::MAX) && red.marks(200_000, || 0));
    }

    #[test]
    fn the_rule_for_the_class_and_the_rate_is_taken() {
        let marking: Marking = "step:1;step:2@10Gb/s;3=step:3;3=step:4@10Gb/s".parse().unwrap();
        let of = |rate, class: usize| marking.of(rate)[class].min;
        assert_eq!([of(1, 0), of(10_000_000_000, 0), of(1, 3), of(10_000_000_000, 3)], [1, 2, 3, 4]);
        assert_eq!(marking.most(), Some(4));
    }

    #[test]
    fn faults_are_named() {
        for text in [
            "",
            "step",
            "step:",
            "step:x",
            "red:1:2",
            "red:2:1:0.1",
            "red:1:2:1.5",
            "9=step:1",
            "step:1@x",
            "step:1;step:2",
            "ramp:1",
        ] {
            assert!(text.parse::<Marking>().is_err(), "{text}");
        }
    }
}
