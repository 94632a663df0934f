//! Finite traffic: traces, kernels, live programs.
//!
//! Decision: docs/decisions/0005-clock-starts-at-1.md.

use trgen::Cycle;

use super::{Conductor, Outcome, Progress};
use crate::couple::{Coupled, Reached};

/// Runs until the source is done and the network is empty, at most up to cycle `limit`. Every cycle is measured, except
/// if the source has phases: then only the second phase is measured.
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
            conductor.coupled.network().begin_measuring();
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
    // A run that reached its limit is not complete.
    outcome.complete = ended;
    let network = coupled.network();
    outcome.completion = ended.then(|| network.instant(network.clock()));
    outcome
}
