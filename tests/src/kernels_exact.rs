//! Completion times of the application kernels, and how ours are judged by them.

use std::path::Path;

use fsin::router::{RouterParams, SourceQueue};
use fsin::routing::Routing;
use fsin::topology;
use serde::Deserialize;
use trgen::trace::kernels;

use crate::programs::Replayed;

/// One row: a kernel with its usual parameters, one task per node in order.
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
    /// \[cycle\] When all tasks are done.
    pub completion_cycles_mean: f64,
    /// \[cycles\] Standard deviation over 6 seeds, where more than one was run.
    pub completion_cycles_std: Option<f64>,
    /// `yes`: to the cycle with every seed; `one seed`: to the cycle, of one seed; `no`: a mean.
    pub exact: String,
}

impl KernelRow {
    /// True if the completion time must agree to the cycle.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.exact != "no"
    }

    /// \[cycles\] Permitted difference of the mean over 6 seeds: 3 standard deviations or 4 %, whichever is more.
    #[must_use]
    pub fn tolerance(&self) -> f64 {
        if self.is_exact() {
            return 0.0;
        }
        (3.0 * self.completion_cycles_std.unwrap_or(0.0)).max(0.04 * self.completion_cycles_mean)
    }

    /// \[cycle\] Ours, with this seed.
    ///
    /// # Panics
    /// When a name is refused or the run does not come to its end.
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
/// When the file does not hold the columns that its description promises.
#[must_use]
pub fn read(path: &Path) -> Vec<KernelRow> {
    let mut reader = csv::Reader::from_path(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    reader.deserialize().map(|row| row.unwrap_or_else(|error| panic!("{}: {error}", path.display()))).collect()
}
