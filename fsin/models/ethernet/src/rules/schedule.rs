//! Which class of a port is served next: strict classes first, the others in turn.
//!
//! Sources: IEEE 802.1Q, 8.6.8 (strict priority); Shreedhar, Varghese, *Efficient Fair Queuing Using Deficit
//! Round-Robin*, ToN 4(3), 1996.

use std::str::FromStr;

use trgen::catalog::{ErrorKind, SpecError};
use trgen::units;

use super::frame::CLASSES;

/// \[bytes\] Least and greatest quantum of a class: a frame is sent after a bounded number of turns.
const QUANTA: std::ops::RangeInclusive<u64> = 64..=1 << 30;

/// How a class is served.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Service {
    /// A frame at each turn.
    #[default]
    RoundRobin,
    /// Before all classes that are not strict, and before strict ones of a lower number.
    Strict,
    /// So many bytes at each turn, on average.
    Deficit(u32),
}

/// How classes are served.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Schedule {
    /// By class.
    pub services: [Service; CLASSES],
}

/// What is expected of the notation.
const REMEDY: &str =
    "write classes 0 to 7, each once, as in 1:strict;2:drr=1600;3:drr=3200 (quanta of 64 B to 1 GiB), or rr";

impl FromStr for Schedule {
    type Err = SpecError;

    /// `rr`, or `CLASS:strict`, `CLASS:drr=BYTES` and `CLASS:rr`, joined by `;`.
    fn from_str(text: &str) -> Result<Self, SpecError> {
        let mut schedule = Self::default();
        if text == "rr" {
            return Ok(schedule);
        }
        let mut given = 0u8;
        for part in text.split(';') {
            let fault =
                |what: &str| SpecError::new(ErrorKind::Malformed, format!("`{part}` {what}"), REMEDY).given(text);
            let (class, service) = part.split_once(':').ok_or_else(|| fault("is not CLASS:SERVICE"))?;
            let class = class_of(class).ok_or_else(|| fault("names no class"))?;
            if given >> class & 1 == 1 {
                return Err(fault("names a class again"));
            }
            given |= 1 << class;
            schedule.services[usize::from(class)] = match service.split_once('=') {
                None if service == "strict" => Service::Strict,
                None if service == "rr" => Service::RoundRobin,
                Some(("drr", quantum)) => match units::bytes(quantum).filter(|quantum| QUANTA.contains(quantum)) {
                    Some(quantum) => Service::Deficit(quantum as u32),
                    None => return Err(fault("has no usable quantum")),
                },
                _ => return Err(fault("has an unknown service")),
            };
        }
        Ok(schedule)
    }
}

/// The class that a word names.
pub(crate) fn class_of(word: &str) -> Option<u8> {
    word.parse().ok().filter(|&class: &u8| usize::from(class) < CLASSES)
}

/// A schedule as a port uses it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// Strict classes, a bit for each.
    strict: u8,
    /// \[bytes\] By class: its quantum; 0 for a frame at each turn.
    quanta: [u32; CLASSES],
    /// \[frames\] Maximum number of control frames that are sent in succession while data wait.
    pub(super) most_ahead: u32,
}

impl Plan {
    pub(crate) fn new(schedule: &Schedule, most_ahead: u32) -> Self {
        let mut plan = Self { strict: 0, quanta: [0; CLASSES], most_ahead };
        for (class, service) in schedule.services.iter().enumerate() {
            match *service {
                Service::RoundRobin => {}
                Service::Strict => plan.strict |= 1 << class,
                Service::Deficit(quantum) => plan.quanta[class] = quantum,
            }
        }
        plan
    }
}

/// Whose turn it is at a port.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    /// The class that was last served in turn.
    last: u8,
    /// \[bytes\] By class: what it may still send at its turn.
    deficits: [u32; CLASSES],
}

impl Default for Turn {
    /// Class 0 is first.
    fn default() -> Self {
        Self { last: CLASSES as u8 - 1, deficits: [0; CLASSES] }
    }
}

impl Turn {
    /// The class that is served next, of those whose bits `ready` has; `head` is the size \[bytes\] of the next frame
    /// of a class.
    #[inline]
    pub(crate) fn choose(&mut self, plan: &Plan, ready: u8, head: impl Fn(u8) -> u32) -> Option<u8> {
        if ready == 0 {
            return None;
        }
        let strict = ready & plan.strict;
        if strict != 0 {
            return Some(7 - strict.leading_zeros() as u8);
        }
        let last = usize::from(self.last);
        if plan.quanta[last] > 0 && ready >> last & 1 == 1 && self.pay(self.last, &head) {
            return Some(self.last);
        }
        loop {
            // The next class that is ready, behind the one that was last served.
            let behind = self.last + 1;
            let ahead = if behind < 8 { ready >> behind << behind } else { 0 };
            self.last = if ahead != 0 { ahead } else { ready }.trailing_zeros() as u8;
            let quantum = plan.quanta[usize::from(self.last)];
            if quantum == 0 {
                return Some(self.last);
            }
            self.deficits[usize::from(self.last)] += quantum;
            if self.pay(self.last, &head) {
                return Some(self.last);
            }
        }
    }

    /// The only frame that waits is served: it is of this class, which keeps no deficit.
    #[inline]
    pub(crate) const fn pass(&mut self, plan: &Plan, class: u8) {
        if plan.strict >> class & 1 == 0 {
            self.last = class;
        }
    }

    /// Takes the next frame of a class off its deficit; false if that is too small.
    fn pay(&mut self, class: u8, head: &impl Fn(u8) -> u32) -> bool {
        let deficit = &mut self.deficits[usize::from(class)];
        let left = deficit.checked_sub(head(class));
        *deficit = left.unwrap_or(*deficit);
        left.is_some()
    }

    /// The queue of a class has become empty: what it has not used is void.
    #[inline]
    pub(crate) fn emptied(&mut self, class: u8) {
        self.deficits[usize::from(class)] = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The classes served of endless queues with frames of these sizes.
    fn served(text: &str, ready: u8, sizes: [u32; CLASSES], count: usize) -> Vec<u8> {
        let (plan, mut turn) = (Plan::new(&text.parse().unwrap(), 1), Turn::default());
        (0..count).map(|_| turn.choose(&plan, ready, |class| sizes[usize::from(class)]).unwrap()).collect()
    }

    #[test]
    fn strict_classes_are_first_and_others_take_turns() {
        assert_eq!(served("rr", 0b1011, [100; 8], 7), [0, 1, 3, 0, 1, 3, 0]);
        assert_eq!(served("5:strict;6:strict", 0b0110_0001, [100; 8], 3), [6; 3]);
        assert_eq!(served("5:strict", 0b0101_0001, [100; 8], 4), [0, 4, 6, 0]);
    }

    #[test]
    fn deficits_give_each_class_its_share_of_bytes() {
        let sizes = [64, 100, 1_500, 700, 0, 0, 0, 0];
        let served = served("2:drr=1600;3:drr=3200;1:drr=64", 0b1110, sizes, 100_000);
        let bytes = |class: u8| {
            served.iter().filter(|&&one| one == class).count() as f64 * f64::from(sizes[usize::from(class)])
        };
        assert!((bytes(3) / bytes(2) - 2.0).abs() < 0.01 && (bytes(2) / bytes(1) - 25.0).abs() < 0.2);
        assert_eq!(Turn::default().choose(&Plan::new(&Schedule::default(), 1), 0, |_| 1), None);
    }

    #[test]
    fn a_class_that_becomes_empty_keeps_nothing() {
        let plan = Plan::new(&"0:drr=1000;1:drr=1000".parse().unwrap(), 1);
        let mut turn = Turn::default();
        assert_eq!(turn.choose(&plan, 0b01, |_| 100), Some(0));
        turn.emptied(0);
        assert_eq!(turn.choose(&plan, 0b11, |_| 600), Some(1));
        assert_eq!(turn.choose(&plan, 0b11, |_| 600), Some(0));
        assert_eq!(turn.choose(&plan, 0b11, |_| 600), Some(1), "1400 bytes in two turns");
    }

    #[test]
    fn faults_are_named() {
        for text in ["", "1", "8:strict", "1:drr", "1:drr=0", "1:drr=63", "1:wfq", "1:strict;1:rr", "x:rr", "1:strict;"]
        {
            assert!(text.parse::<Schedule>().is_err(), "{text}");
        }
        let parsed: Schedule = "7:strict;0:drr=16kB".parse().unwrap();
        assert_eq!((parsed.services[7], parsed.services[0]), (Service::Strict, Service::Deficit(16_000)));
    }
}
