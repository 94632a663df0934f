//! Observation of a run in progress.
//!
//! A [`Watch`] is called between two cycles and sees everything read-only. It may block: a paused run is one whose
//! watch has not returned yet. So observing, pausing and stepping cannot change a result. They only divide the run into
//! other pieces, and no result depends on the pieces.

use trgen::TrGen;

use crate::network::Settled;
use crate::run::Progress;

/// A run between two cycles.
#[derive(Clone, Copy)]
pub struct Glimpse<'a> {
    /// Progress of the run.
    pub progress: Progress,
    /// The state of the network.
    pub network: Settled<'a>,
    /// The traffic source.
    pub source: &'a dyn TrGen,
}

/// Observer of a run.
pub trait Watch {
    /// Observes the run, and returns the interval in \[cycles\] to the next call: that is the latest time (0 counts as
    /// 1). The call comes earlier where much happens: at least once in a bounded amount of work.
    fn look(&mut self, glimpse: Glimpse<'_>) -> u64;
}
