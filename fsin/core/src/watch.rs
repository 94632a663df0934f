//! Looking at a run while it goes on.
//!
//! A [`Watch`] is asked between two cycles and sees everything read-only. It may take its time: a run that is paused is
//! one whose watch has not returned yet. So looking, pausing and stepping cannot change a result; they only cut the run
//! into other pieces, and pieces are not seen.

use trgen::TrGen;

use crate::network::Network;
use crate::run::Progress;

/// A run between two cycles.
#[derive(Clone, Copy)]
pub struct Glimpse<'a> {
    /// How far it is.
    pub progress: Progress,
    /// The network.
    pub network: &'a dyn Network,
    /// What drives it.
    pub source: &'a dyn TrGen,
}

/// Who looks at a run.
pub trait Watch {
    /// Looks, and says in how many \[cycles\] to be asked again: at the latest then (0 counts as 1), often earlier.
    fn look(&mut self, glimpse: Glimpse<'_>) -> u64;
}
