//! Begin and end marks of ranks: a log without its end mark may have been cut short.

/// Marks found in the files of the ranks of a trace.
#[derive(Clone, Default, Debug)]
pub(super) struct Marks {
    /// By rank: whether a begin mark and whether an end mark was found.
    ranks: Vec<(bool, bool)>,
}

impl Marks {
    /// The marks of a rank, none at first.
    fn marks_of(&mut self, rank: usize) -> &mut (bool, bool) {
        if self.ranks.len() <= rank {
            self.ranks.resize(rank + 1, (false, false));
        }
        &mut self.ranks[rank]
    }

    /// Records the begin mark of a rank.
    pub(super) fn begin(&mut self, rank: usize) {
        self.marks_of(rank).0 = true;
    }

    /// Records the end mark of a rank.
    pub(super) fn end(&mut self, rank: usize) {
        self.marks_of(rank).1 = true;
    }

    /// A warning if any of the `ranks` ranks has no end mark. There is no warning for traces without any marks
    /// (programs written by hand).
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

/// The warning on missing end marks: the number of ranks and the first of them.
pub(super) fn unfinished(mark: &str, ranks: u64, first: usize) -> String {
    format!("ranks without {mark}: {ranks} (the first is {first}): they may have been killed, or their logs cut")
}
