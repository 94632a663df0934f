//! The measured part of a run, between two marks.

use trgen::Cycle;

/// The labels that open and close the measurement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Region {
    /// Measurement begins when every guest has set this mark.
    pub from: String,
    /// Measurement ends when the first guest sets this mark, after its own [`from`](Self::from).
    pub to: String,
}

/// When the two marks of one guest take effect; `None` for a mark that it has not set yet.
#[derive(Clone, Copy, Default, Debug)]
struct Marked {
    /// The mark that opens the measurement.
    from: Option<Cycle>,
    /// The mark that closes it.
    to: Option<Cycle>,
}

/// Determines when the measurement opens and closes.
#[derive(Debug)]
pub(super) struct Gate {
    region: Region,
    /// By guest.
    marked: Vec<Marked>,
    /// 0 before, 1 during, 2 after measurement.
    phase: u64,
}

impl Gate {
    pub(super) fn new(region: Region, guests: usize) -> Self {
        Self { region, marked: vec![Marked::default(); guests], phase: 0 }
    }

    /// Records a mark that takes effect in cycle `at`. Only the first of each label counts.
    pub(super) fn mark(&mut self, guest: usize, label: &str, at: Cycle) {
        let marked = &mut self.marked[guest];
        if label == self.region.from {
            marked.from.get_or_insert(at);
        } else if label == self.region.to && marked.from.is_some() {
            marked.to.get_or_insert(at);
        }
    }

    /// The cycle in which the next phase begins, if known. Only guests for which `is_connected` are waited for.
    pub(super) fn next(&self, is_connected: impl Fn(usize) -> bool) -> Option<Cycle> {
        let opens = self.opens(is_connected)?;
        match self.phase {
            0 => Some(opens),
            1 => self.marked.iter().filter_map(|marked| marked.to).min().map(|closes| closes.max(opens)),
            _ => None,
        }
    }

    /// The cycle in which measurement begins, if it is known.
    fn opens(&self, is_connected: impl Fn(usize) -> bool) -> Option<Cycle> {
        let missing =
            self.marked.iter().enumerate().any(|(guest, marked)| marked.from.is_none() && is_connected(guest));
        // Once measurement has begun, later marks of other guests change nothing.
        if missing && self.phase == 0 { None } else { self.marked.iter().filter_map(|marked| marked.from).max() }
    }

    /// Enters the phases that have begun by cycle `now`.
    pub(super) fn enter(&mut self, now: Cycle, is_connected: impl Fn(usize) -> bool) {
        while self.next(&is_connected).is_some_and(|cycle| cycle <= now) {
            self.phase += 1;
        }
    }

    /// 0 before, 1 during, 2 after measurement.
    pub(super) fn phase(&self) -> u64 {
        self.phase
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_opens_with_the_last_guest_and_closes_with_the_first() {
        let mut gate = Gate::new(Region { from: "a".to_owned(), to: "b".to_owned() }, 3);
        gate.mark(0, "b", Cycle(1));
        gate.mark(0, "a", Cycle(5));
        gate.mark(1, "a", Cycle(9));
        assert_eq!(gate.next(|_| true), None, "guest 2 is waited for");
        assert_eq!(gate.next(|guest| guest != 2), Some(Cycle(9)), "unless it has gone");
        gate.mark(2, "a", Cycle(7));
        gate.mark(1, "b", Cycle(30));
        gate.mark(2, "b", Cycle(20));
        gate.enter(Cycle(8), |_| true);
        assert_eq!(gate.phase(), 0);
        gate.enter(Cycle(9), |_| true);
        assert_eq!(
            (gate.phase(), gate.next(|_| true)),
            (1, Some(Cycle(20))),
            "what guest 0 said too early does not count"
        );
        gate.enter(Cycle(50), |_| true);
        assert_eq!((gate.phase(), gate.next(|_| true)), (2, None));
    }
}
