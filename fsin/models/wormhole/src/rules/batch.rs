//! Stages that work in batches: all heads or flits that wait for a stage enter it together, and later ones wait until
//! the batch is complete.
//!
//! BookSim's route computation and switch traversal work like this if they take more than one step. A pipeline accepts
//! new work in every step.
//!
//! Decision: docs/decisions/0481-priorities-and-batches.md.

use trgen::choices;

/// Source of these modes.
const BOOKSIM: &str = "BookSim 2, Jiang et al., ISPASS 2013";

choices! {
    /// How stages of more than one step take what comes.
    pub enum TraverseMode: "traverse mode" in TRAVERSE_MODES {
        Pipeline = "pipeline", "route computation and switch traversal take something in each step", BOOKSIM;
        Batch = "batch", "what waits for one of these stages enters it together, and the next when it is over", BOOKSIM;
    }
}

/// The last batch of a stage of a router.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Batch {
    /// \[step\] Its first step.
    start: u64,
    /// \[step\] Its last step.
    end: u64,
}

impl Batch {
    /// Enters a head or flit that is ready from step `ready` on, 1 or later, into a stage of `delay` steps. Returns the
    /// last step of its batch. Calls must be in the order of `ready`.
    pub(crate) fn join(&mut self, ready: u64, delay: u64) -> u64 {
        if self.start < ready {
            let start = ready.max(self.end + 1);
            *self = Self { start, end: start + delay - 1 };
        }
        self.end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_meanwhile_waits() {
        let mut batch = Batch::default();
        assert_eq!([10, 10, 11, 12, 13, 14, 20].map(|ready| batch.join(ready, 3)), [12, 12, 15, 15, 15, 18, 22]);
        let mut one = Batch::default();
        assert_eq!([5, 5, 6, 9].map(|ready| one.join(ready, 1)), [5, 5, 6, 9]);
    }
}
