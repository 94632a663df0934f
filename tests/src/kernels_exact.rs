//! Completion times of the application kernels, and the criterion for ours.

use std::path::Path;

use fsin::router::{RouterParams, SourceQueue};
use fsin::routing::Routing;
use fsin::topology;
use serde::Deserialize;
use trgen::trace::kernels;

use crate::programs::Replayed;

/// One row: a kernel with its default parameters, one task per node in order.
#[derive(Clone, PartialEq, Deserialize, Debug)]
pub struct KernelRow {
    /// Kernel.
    pub kernel: String,
    /// Topology.
    pub network: String,
    /// Routing.
    pub routing: String,
    /// \[channels\]
    pub vcs: usize,
    /// \[cycle\] Completion of all tasks.
    pub completion_cycles_mean: f64,
    /// \[cycles\] Standard deviation over 6 seeds, if more than one was run.
    pub completion_cycles_std: Option<f64>,
    /// `yes`: exact to the cycle with every seed; `one seed`: exact to the cycle, for one seed; `no`: a mean.
    pub exact: String,
}

impl KernelRow {
    /// True if the completion time must agree to the cycle.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.exact != "no"
    }

    /// \[cycles\] Permitted difference of the mean over 6 seeds: 3 standard deviations or 4 %, whichever is larger.
    #[must_use]
    pub fn tolerance(&self) -> f64 {
        if self.is_exact() {
            return 0.0;
        }
        (3.0 * self.completion_cycles_std.unwrap_or(0.0)).max(0.04 * self.completion_cycles_mean)
    }

    /// \[cycle\] Completion of ours with this seed.
    ///
    /// # Panics
    /// When a name is rejected or the run does not complete.
    #[must_use]
    pub fn completion(&self, seed: u64) -> u64 {
        let network = topology::parse(&self.network, 2).unwrap_or_else(|refusal| panic!("{self:?}: {refusal}"));
        let routing = Routing::parse(&self.routing).unwrap_or_else(|refusal| panic!("{self:?}: {refusal}"));
        let program = kernels::parse(&self.kernel, network.nodes(), Some(network.geometry()))
            .unwrap_or_else(|refusal| panic!("{self:?}: {refusal}"));
        let source_queue = SourceQueue::Throttled;
        let params = RouterParams { routing, vcs: self.vcs, seed, source_queue, ..RouterParams::default() };
        Replayed::of(program, &self.network, params, 1.0).completion()
    }
}

/// Reads the rows at `path`.
///
/// # Panics
/// When the file lacks a documented column.
#[must_use]
pub fn read(path: &Path) -> Vec<KernelRow> {
    let mut reader = csv::Reader::from_path(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    reader.deserialize().map(|row| row.unwrap_or_else(|error| panic!("{}: {error}", path.display()))).collect()
}
