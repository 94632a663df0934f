//! Selection of the next job to start.

use crate::choices;
use crate::units::{Cycle, NodeId};

use super::allocation::{Allocation, Pool};

choices! {
    /// Policy for starting other jobs while the first in the queue cannot start.
    pub enum Scheduler: "scheduler" in SCHEDULERS {
        Fcfs = "fcfs", "first come, first served: nobody overtakes the first job of the queue",
            "Feitelson, Rudolph, Schwiegelshohn, Parallel job scheduling - a status report, JSSPP 2004";
        FirstFit = "first-fit",
            "the first job of the queue that fits starts, whoever stands before it; large jobs may starve",
            "Aida, Effect of job size characteristics on job scheduling performance, JSSPP 2000";
        Easy = "easy",
            "EASY backfilling: a job overtakes if by the estimates it does not delay the first one of the queue",
            "Lifka, The ANL/IBM SP scheduling system, JSSPP 1995";
    }
}

/// A waiting job.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    /// Number of the job.
    pub(super) job: usize,
    /// Number of nodes that it needs.
    pub(super) size: usize,
    /// \[cycles\] Estimated run time.
    pub(super) estimate: u64,
}

/// A running job.
#[derive(Clone, Copy, Debug)]
pub(super) struct Occupied<'a> {
    pub(super) nodes: &'a [NodeId],
    /// \[cycle\] Estimated end.
    pub(super) until: Cycle,
}

/// The state on which a decision is based.
pub(super) struct Situation<'a> {
    pub(super) now: Cycle,
    /// Free and occupied nodes.
    pub(super) pool: &'a Pool,
    pub(super) allocation: Allocation,
    /// Run seed.
    pub(super) seed: u64,
    /// The running jobs.
    pub(super) running: &'a [Occupied<'a>],
}

impl Situation<'_> {
    /// Nodes for a job among the free ones of `pool`; `None` if it has to wait.
    fn find_nodes(&self, pool: &Pool, waiting: &Waiting) -> Option<Vec<NodeId>> {
        pool.find(self.allocation, waiting.size, self.seed, waiting.job)
    }

    /// The queue position of the job that starts now, and its nodes; `None` if all have to wait.
    pub(super) fn choose(&self, scheduler: Scheduler, queue: &[Waiting]) -> Option<(usize, Vec<NodeId>)> {
        let first = queue.first()?;
        if let Some(nodes) = self.find_nodes(self.pool, first) {
            return Some((0, nodes));
        }
        let others = || (1..).zip(&queue[1..]);
        match scheduler {
            Scheduler::Fcfs => None,
            Scheduler::FirstFit => {
                others().find_map(|(at, job)| self.find_nodes(self.pool, job).map(|nodes| (at, nodes)))
            }
            Scheduler::Easy => {
                let (start, reserved) = self.reservation(first)?;
                others().find_map(|(at, job)| {
                    let nodes = self.find_nodes(self.pool, job)?;
                    let over_before = self.now + job.estimate <= start;
                    let elsewhere = nodes.iter().all(|node| reserved.binary_search(node).is_err());
                    (over_before || elsewhere).then_some((at, nodes))
                })
            }
        }
    }

    /// Start time and nodes of a job if the running ones end at their estimated times.
    fn reservation(&self, first: &Waiting) -> Option<(Cycle, Vec<NodeId>)> {
        let mut ends: Vec<&Occupied<'_>> = self.running.iter().collect();
        ends.sort_by_key(|occupied| occupied.until);
        let mut pool = self.pool.clone();
        ends.into_iter().find_map(|occupied| {
            pool.give_back(occupied.nodes);
            // A job that has exceeded its estimate may end at any moment.
            self.find_nodes(&pool, first).map(|nodes| (occupied.until.max(self.now.next()), nodes))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Geometry;

    /// Eight nodes in a line; jobs run on the given ranges until the given cycles.
    fn choose(scheduler: Scheduler, running: &[(std::ops::Range<u32>, u64)], queue: &[(usize, u64)]) -> Option<usize> {
        let mut pool = Pool::new(Geometry::new(&[8]).unwrap());
        let nodes: Vec<Vec<NodeId>> = running.iter().map(|(nodes, _)| nodes.clone().map(NodeId).collect()).collect();
        nodes.iter().for_each(|nodes| pool.take(nodes));
        let running: Vec<Occupied<'_>> =
            nodes.iter().zip(running).map(|(nodes, &(_, until))| Occupied { nodes, until: Cycle(until) }).collect();
        let queue: Vec<Waiting> =
            (0..).zip(queue).map(|(job, &(size, estimate))| Waiting { job, size, estimate }).collect();
        let allocation = Allocation::Contiguous;
        let situation = Situation { now: Cycle(100), pool: &pool, allocation, seed: 1, running: &running };
        situation.choose(scheduler, &queue).map(|(at, _)| at)
    }

    #[test]
    fn nobody_overtakes_when_first_come_is_first_served() {
        let running = [(0..4, 500)];
        assert_eq!(choose(Scheduler::Fcfs, &running, &[(6, 10), (2, 10)]), None);
        assert_eq!(choose(Scheduler::Fcfs, &running, &[(4, 10), (2, 10)]), Some(0));
        assert_eq!(choose(Scheduler::FirstFit, &running, &[(6, 10), (5, 10), (2, 9999)]), Some(2));
    }

    #[test]
    fn backfilling_does_not_delay_the_first() {
        // The first needs 6 nodes and gets nodes 0 to 5 in cycle 500.
        let running = [(0..4, 500)];
        assert_eq!(
            choose(Scheduler::Easy, &running, &[(6, 10), (4, 401)]),
            None,
            "it would end in cycle 501, on node 5"
        );
        assert_eq!(choose(Scheduler::Easy, &running, &[(6, 10), (4, 400)]), Some(1));
        assert_eq!(choose(Scheduler::Easy, &running, &[(6, 10), (4, 401), (3, 1)]), Some(2), "a later one may");
        // The first gets nodes 0 to 3: nodes 4 to 7 are free for good.
        let running = [(0..2, 300), (2..5, 500)];
        assert_eq!(choose(Scheduler::Easy, &running, &[(4, 10), (3, 9999)]), Some(1));
        // A job that should have ended long ago is assumed to end in the next cycle.
        assert_eq!(choose(Scheduler::Easy, &[(0..4, 50)], &[(8, 10), (4, 1)]), Some(1));
        assert_eq!(choose(Scheduler::Easy, &[(0..4, 50)], &[(8, 10), (4, 2)]), None);
    }
}
