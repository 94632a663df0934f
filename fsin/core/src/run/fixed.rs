//! A fixed number of cycles, all of them measured.

use super::steady::INTERVALS;
use super::{Conductor, Outcome, Progress};
use crate::couple::{Coupled, Failure, Reached};

/// Number of parts of a fixed run, from which a confidence interval follows.
const PARTS: u64 = 10;

/// Runs for `cycles` cycles and measures every one of them.
pub fn fixed(coupled: &mut Coupled<'_>, cycles: u64, progress: &mut dyn FnMut(Progress)) -> Outcome {
    let mut conductor = Conductor::new(coupled, progress);
    let end = measure(&mut conductor, cycles);
    conductor.finish(end, None)
}

/// Runs for `cycles` cycles, in parts that are measured one by one.
fn measure(conductor: &mut Conductor<'_, '_>, cycles: u64) -> Result<Reached, Failure> {
    let first = conductor.clock();
    let parts = PARTS.min(cycles);
    for part in 0..parts {
        let start = conductor.clock();
        // Parts differ by at most one cycle; u128 because cycles x parts may not fit.
        let target = first + (u128::from(cycles) * u128::from(part + 1) / u128::from(parts)) as u64;
        let reached = conductor.run_in_intervals("measuring", target, Some(first + cycles), INTERVALS.div_ceil(parts));
        conductor.close_sample(start);
        if reached? == Reached::Interrupted {
            return Ok(Reached::Interrupted);
        }
    }
    Ok(Reached::Target)
}
