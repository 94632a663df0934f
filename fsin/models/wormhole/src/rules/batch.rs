//! Stages that take in batches: what waits for a stage enters it together, and what comes meanwhile waits until it is over.
//!
//! So BookSim has route computation and switch traversal of more than one step. A pipeline takes something in each step.
//!
//! Decision: docs/decisions/0481-priorities-and-batches.md.

use trgen::choices;

/// BookSim's users know these.
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
    /// Lets something that is ready from step `ready` on, 1 or later, enter a stage of `delay` steps. Returns the last
    /// step of its batch. Calls are in the order of `ready`.
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
