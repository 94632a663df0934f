//! Traffic that ends: traces, kernels, live programs.

use trgen::Cycle;

use super::{Conductor, Outcome, Progress};
use crate::couple::{Coupled, Reached};

/// Runs until the source is done and the network is empty, at most up to cycle `limit`. Every cycle is measured.
pub fn to_end(coupled: &mut Coupled<'_>, limit: Cycle, progress: &mut dyn FnMut(Progress)) -> Outcome {
    let mut conductor = Conductor::new(coupled, progress);
    let start = conductor.clock();
    let end = conductor.run("running", limit, None);
    conductor.close_sample(start);
    let ended = end == Ok(Reached::End);
    let mut outcome = conductor.finish(end, None);
    // A run that met its limit has not come to its end.
    outcome.complete = ended;
    outcome.completion = ended.then(|| coupled.network().clock());
    outcome
}
