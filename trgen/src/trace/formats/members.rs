//! The members of a communicator, by rank and by task.

use std::sync::Arc;

use crate::units::TaskId;

/// A list of tasks, shared by many communicators and records.
#[derive(Clone, Debug)]
pub(super) struct Members {
    /// The members, in the order of their ranks.
    by_rank: Arc<[TaskId]>,
    /// The ranks, sorted by task.
    order: Arc<[u32]>,
}

impl Members {
    /// Members in the order of their ranks.
    pub(super) fn new(by_rank: Vec<TaskId>) -> Self {
        let mut order: Vec<u32> = (0..by_rank.len() as u32).collect();
        order.sort_by_key(|&rank| by_rank[rank as usize]);
        Self { by_rank: by_rank.into(), order: order.into() }
    }

    /// Tasks 0 to `tasks` - 1.
    pub(super) fn world(tasks: usize) -> Self {
        Self::new((0..tasks).map(TaskId::at).collect())
    }

    /// The members, in the order of their ranks.
    pub(super) fn tasks(&self) -> &[TaskId] {
        &self.by_rank
    }

    /// The same list, shared.
    pub(super) fn shared(&self) -> Arc<[TaskId]> {
        Arc::clone(&self.by_rank)
    }

    /// The rank of a task, if it is a member. Takes logarithmic time, since a file may require many lookups.
    pub(super) fn rank_of(&self, task: TaskId) -> Option<usize> {
        let found = self.order.binary_search_by_key(&task, |&rank| self.by_rank[rank as usize]);
        found.ok().map(|position| self.order[position] as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_found_in_any_order_of_tasks() {
        let members = Members::new([7, 2, 9, 0].map(TaskId).to_vec());
        let ranks: Vec<Option<usize>> = [0, 2, 7, 9, 1].map(|task| members.rank_of(TaskId(task))).to_vec();
        assert_eq!(ranks, [Some(3), Some(1), Some(0), Some(2), None]);
    }
}
