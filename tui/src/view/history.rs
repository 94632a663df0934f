//! History over snapshots: rates and time series.

use std::collections::VecDeque;
use std::sync::Arc;

use super::{About, Snapshot, Sources, Task, TaskState};

/// Largest number of points. When it is reached, every second point is dropped, and later points are twice as far
/// apart.
const CAPACITY: usize = 512;

/// \[cycles\] Shortest time over which rates are computed: rates over a single step are meaningless.
const LEAST: u64 = 64;

/// What happened in a run between two snapshots.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Point {
    /// The cycle at the end of the interval.
    pub cycle: u64,
    /// \[cycles\] Length of the interval.
    pub cycles: u64,
    /// Load that sources passed to interfaces, in the unit of loads.
    pub generated: f64,
    /// Load that was injected into the network, in the unit of loads.
    pub injected: f64,
    /// Load that the network delivered, in the unit of loads.
    pub accepted: f64,
    /// \[cycles\] Latency of received packets: p50, p90, p99; absent if there were none.
    pub latency: Option<[u64; 3]>,
    /// Occupancy of the transit queues, 0 to 1.
    pub fill: f64,
    /// States of the tasks of each job, with the number of the job (0 for a single application); empty without tasks.
    pub tasks: Vec<(u32, Vec<TaskState>)>,
}

impl Point {
    /// State of a task of a job, if it was present.
    #[must_use]
    pub fn task(&self, job: u32, task: usize) -> Option<TaskState> {
        self.tasks.iter().find(|(number, _)| *number == job)?.1.get(task).copied()
    }
}

/// The points of a run so far, and the latest two snapshots.
#[derive(Clone, Default, Debug)]
pub struct History {
    points: VecDeque<Point>,
    /// Number of snapshots for each point.
    stride: usize,
    /// Number of snapshots since the latest point.
    pending: usize,
    /// Snapshot at which the next point begins.
    mark: Option<Arc<Snapshot>>,
    /// Start of the interval over which link utilisation is measured.
    base: Option<Arc<Snapshot>>,
    /// The snapshot that will replace `base`.
    next_base: Option<Arc<Snapshot>>,
    latest: Option<Arc<Snapshot>>,
}

impl History {
    /// An empty history.
    #[must_use]
    pub fn new() -> Self {
        Self { stride: 1, ..Self::default() }
    }

    /// Adds a snapshot. If it does not continue the latest one, the history begins anew.
    pub fn push(&mut self, about: &About, snapshot: Arc<Snapshot>) {
        match &self.latest {
            Some(latest) if latest.cycle > snapshot.cycle => *self = Self::new(),
            // A snapshot of the same cycle differs in its state only.
            Some(latest) if latest.cycle == snapshot.cycle => {
                self.latest = Some(snapshot);
                return;
            }
            _ => {}
        }
        self.latest = Some(Arc::clone(&snapshot));
        let far = |from: &Option<Arc<Snapshot>>| from.as_ref().is_none_or(|from| snapshot.cycle - from.cycle >= LEAST);
        if far(&self.next_base) {
            self.base = self.next_base.replace(Arc::clone(&snapshot));
        }
        if self.mark.is_some() && !far(&self.mark) {
            return;
        }
        self.pending += 1;
        let Some(mark) = &self.mark else {
            self.mark = Some(snapshot);
            self.pending = 0;
            return;
        };
        if self.pending < self.stride {
            return;
        }
        self.points.push_back(point_between(about, mark, &snapshot));
        self.mark = Some(snapshot);
        self.pending = 0;
        if self.points.len() >= CAPACITY {
            let mut at = 0;
            self.points.retain(|_| {
                at += 1;
                at % 2 == 0
            });
            self.stride *= 2;
        }
    }

    /// The points, earliest first.
    #[must_use]
    pub const fn points(&self) -> &VecDeque<Point> {
        &self.points
    }

    /// The latest snapshot.
    #[must_use]
    pub const fn latest(&self) -> Option<&Arc<Snapshot>> {
        self.latest.as_ref()
    }

    /// \[phits/cycle\] Recent utilisation of a link (index router x ports + port); `None` if unknown.
    #[must_use]
    pub fn link_use(&self, about: &About, link: usize) -> Option<f64> {
        let (before, now) = (self.base.as_ref()?, self.latest.as_ref()?);
        let headers = now.crossed.get(link)?.checked_sub(*before.crossed.get(link)?)?;
        let cycles = now.cycle.checked_sub(before.cycle).filter(|&cycles| cycles > 0)?;
        // Only headers are counted: the other phits of a packet whose header crosses at the end of the interval cross
        // later, so that the result could exceed 1.
        Some((headers as f64 * f64::from(about.packet_phits) / cycles as f64 / about.capacity).min(1.0))
    }
}

/// The point of the interval between two snapshots.
fn point_between(about: &About, before: &Snapshot, now: &Snapshot) -> Point {
    let cycles = now.cycle.saturating_sub(before.cycle);
    let load = |before: u64, now: u64| {
        let phits = now.saturating_sub(before) as f64 * f64::from(about.packet_phits);
        let most = cycles as f64 * about.nodes as f64 * about.capacity;
        if most > 0.0 { phits / most } else { 0.0 }
    };
    let recent = &now.latency.recent;
    Point {
        cycle: now.cycle,
        cycles,
        generated: load(before.packets.generated, now.packets.generated),
        injected: load(before.packets.injected, now.packets.injected),
        accepted: load(before.packets.received, now.packets.received),
        latency: match (recent.p50, recent.p90, recent.p99) {
            (Some(p50), Some(p90), Some(p99)) => Some([p50, p90, p99]),
            _ => None,
        },
        fill: now.mean_fill(about).unwrap_or(0.0),
        tasks: match &now.sources {
            Sources::Tasks(tasks) => vec![(0, states(tasks))],
            Sources::Jobs(jobs) => jobs.listed.iter().map(|job| (job.number, states(&job.tasks))).collect(),
            Sources::Nodes(_) | Sources::Guests(_) => Vec::new(),
        },
    }
}

/// The state of each task.
fn states(tasks: &[Task]) -> Vec<TaskState> {
    tasks.iter().map(|task| task.state).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::Packets;

    fn at(cycle: u64) -> Arc<Snapshot> {
        let packets = Packets { generated: cycle, injected: cycle / 2, received: cycle / 4, ..Packets::default() };
        Arc::new(Snapshot { cycle, packets, crossed: vec![cycle / 16], ..Snapshot::default() })
    }

    fn about() -> About {
        About { packet_phits: 4, ..About::bare("test".to_owned(), 8) }
    }

    #[test]
    fn loads_are_differences_over_nodes_and_cycles() {
        let (about, mut history) = (about(), History::new());
        history.push(&about, at(0));
        history.push(&about, at(160));
        let point = &history.points()[0];
        assert_eq!((point.generated, point.injected, point.accepted), (0.5, 0.25, 0.125));
        assert_eq!(history.link_use(&about, 0), Some(0.25));
        assert_eq!(history.link_use(&about, 1), None);
    }

    #[test]
    fn a_long_run_is_kept_in_bounds_and_whole() {
        let (about, mut history) = (about(), History::new());
        for cycle in 0..10_000 {
            history.push(&about, at(cycle * 16));
        }
        assert!(history.points().len() < CAPACITY && history.points().len() >= CAPACITY / 4);
        assert!(history.points()[0].cycle < 2_000 && history.points().back().unwrap().cycle > 150_000);
        let points = history.points().len();
        history.push(&about, at(159_985));
        assert_eq!(history.points().len(), points, "a single step is no point");
        history.push(&about, at(3));
        assert!(history.points().is_empty(), "an earlier snapshot begins a new history");
    }
}
