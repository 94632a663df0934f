//! Marks of the beginning and the end of a rank: a log without its end may have been cut.

/// What stands in the files of the ranks of a trace.
#[derive(Clone, Default, Debug)]
pub(super) struct Marks {
    /// By rank: whether a beginning was seen, and an end.
    ranks: Vec<(bool, bool)>,
}

impl Marks {
    fn rank(&mut self, rank: usize) -> &mut (bool, bool) {
        if self.ranks.len() <= rank {
            self.ranks.resize(rank + 1, (false, false));
        }
        &mut self.ranks[rank]
    }

    /// The rank's log says that it begins.
    pub(super) fn begin(&mut self, rank: usize) {
        self.rank(rank).0 = true;
    }

    /// The rank's log says that it ends.
    pub(super) fn end(&mut self, rank: usize) {
        self.rank(rank).1 = true;
    }

    /// A warning if there are ranks without an end, among `ranks`. Traces that mark neither beginning nor end of any rank
    /// (programs written by hand) are not warned of.
    pub(super) fn warning(&self, mark: &str, ranks: usize) -> Option<String> {
        let some_end = self.ranks.iter().any(|&(_, ends)| ends);
        let mut without = (0..ranks).filter(|&rank| match self.ranks.get(rank) {
            Some(&(begins, ends)) => !ends && (begins || some_end),
            None => some_end,
        });
        let first = without.next()?;
        Some(unfinished(mark, 1 + without.count() as u64, first))
    }
}

/// What is said of ranks whose end is missing: how many, and the first of them.
pub(super) fn unfinished(mark: &str, ranks: u64, first: usize) -> String {
    format!("ranks without {mark}: {ranks} (the first is {first}): they may have been killed, or their logs cut")
}
