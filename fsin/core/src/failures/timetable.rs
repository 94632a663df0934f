//! When links are dead in a run, for models that change their routes while they run.

use std::collections::BTreeMap;
use std::sync::Arc;

use trgen::NodeId;

use super::Failures;
use crate::topology::{DeadLink, Port, Topology};

/// The times in which a link is dead.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Outage(
    /// \[cycles\] The first cycle of each time, and the first one after it, in their order.
    Vec<(u64, u64)>,
);

impl Outage {
    /// True if the link is dead in one of the cycles `first` to `last`.
    #[must_use]
    pub fn meets(&self, first: u64, last: u64) -> bool {
        self.0.iter().any(|&(begins, ends)| begins <= last && first < ends)
    }
}

/// Failures and repairs of links during a run, and the network that is left after each. Times are cycles, of which the
/// first one is 1.
#[derive(Clone, Default, Debug)]
pub struct Timetable {
    failures: Failures,
    /// The network at the start and after each change; empty if nothing changes during the run.
    topologies: Vec<Arc<dyn Topology>>,
}

/// The networks that are left follow from the failures.
impl PartialEq for Timetable {
    fn eq(&self, other: &Self) -> bool {
        self.failures == other.failures
    }
}

impl Timetable {
    /// What happens to the links of a network; times of `failures` are in cycles of the model.
    #[must_use]
    pub fn new(failures: Failures, whole: &Arc<dyn Topology>) -> Self {
        let topologies = if failures.changes.is_empty() { Vec::new() } else { failures.topologies(whole) };
        Self { failures, topologies }
    }

    /// True if nothing changes during the run.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.topologies.is_empty()
    }

    /// The failures and repairs, those from the start included.
    #[must_use]
    pub const fn failures(&self) -> &Failures {
        &self.failures
    }

    /// The network at the start; `None` if nothing changes during the run.
    #[must_use]
    pub fn at_first(&self) -> Option<&Arc<dyn Topology>> {
        self.topologies.first()
    }

    /// The first cycle after each change, and the network that is left.
    pub fn later(&self) -> impl Iterator<Item = (u64, &Arc<dyn Topology>)> {
        let starts = self.failures.changes.iter().map(|change| change.at + 1);
        starts.zip(self.topologies.iter().skip(1))
    }

    /// By the node and port that it leaves: when each link is dead that is not always alive. Empty if nothing changes.
    #[must_use]
    pub fn outages(&self) -> BTreeMap<(NodeId, Port), Outage> {
        let mut outages = BTreeMap::<_, Outage>::new();
        if self.is_empty() {
            return outages;
        }
        let Failures { start, changes } = &self.failures;
        let mut dies = |links: &[DeadLink], at: u64| {
            for end in links.iter().flat_map(DeadLink::ports) {
                outages.entry(end).or_default().0.push((at, u64::MAX));
            }
        };
        dies(start, 0);
        changes.iter().for_each(|change| dies(&change.dies, change.at + 1));
        for change in changes {
            for end in change.revives.iter().flat_map(DeadLink::ports) {
                // Failures and repairs of a link alternate.
                let times = outages.get_mut(&end).map(|outage| outage.0.iter_mut());
                let before = times.into_iter().flatten().rfind(|(begins, _)| *begins <= change.at);
                if let Some((_, ends)) = before {
                    *ends = change.at + 1;
                }
            }
        }
        outages
    }
}
