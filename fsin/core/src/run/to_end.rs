//! Traffic that ends: traces, kernels, live programs.

use trgen::Cycle;

use super::{Conductor, Outcome, Progress};
use crate::couple::{Coupled, Reached};

/// Runs until the source is done and the network is empty, at most up to cycle `limit`. Every cycle is measured, unless
/// the source has phases: then those of its first one, after the one that it begins with.
pub fn to_end(coupled: &mut Coupled<'_>, limit: Cycle, progress: &mut dyn FnMut(Progress)) -> Outcome {
    let mut conductor = Conductor::new(coupled, progress);
    let mut start = conductor.clock();
    let (mut phases, mut measuring) = (0, true);
    let end = loop {
        let reached = conductor.run("running", limit, None);
        if reached != Ok(Reached::Phase) {
            break reached;
        }
        phases += 1;
        if phases == 1 {
            conductor.coupled.network().recorder_mut().begin();
            conductor.begin_crossings();
            start = conductor.clock();
        } else if std::mem::take(&mut measuring) {
            conductor.close_sample(start);
        }
    };
    if measuring {
        conductor.close_sample(start);
    }
    let ended = end == Ok(Reached::End);
    let mut outcome = conductor.finish(end, None);
    // A run that met its limit has not come to its end.
    outcome.complete = ended;
    outcome.completion = ended.then(|| coupled.network().clock());
    outcome
}
