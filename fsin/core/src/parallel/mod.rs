//! Simulation of one network on several threads: partitions of its nodes, and the threads that simulate them.
//!
//! For engines whose nodes affect each other in a later cycle only. Each partition is a box, which travels to a thread
//! at the beginning of a cycle and comes back at its end, so that partitions share nothing. What crosses from one to
//! another is mail that the caller's thread exchanges. No result depends on the number of partitions.

use trgen::catalog::{ErrorKind, SpecError};
use trgen::phrase;

use crate::family::Values;

mod division;
mod governor;
mod partitioned;
mod pool;

pub use division::Division;
pub use partitioned::{Partition, Partitioned};
pub use pool::{Pool, Work};

/// Maximum number of threads.
pub const MAX_THREADS: usize = 256;

/// The setting `threads` of a model with two engines, of which the reference engine runs on one thread.
///
/// # Errors
/// A number out of range; more than one for the reference engine.
pub fn threads(values: &dyn Values, is_reference: bool) -> Result<usize, SpecError> {
    let threads: usize = values.integer("threads")?;
    if !(1..=MAX_THREADS).contains(&threads) {
        let what = phrase![["threads" => threads], " is out of range"];
        return Err(SpecError::new(ErrorKind::OutOfRange, what, format!("use 1 to {MAX_THREADS}")).of("threads"));
    }
    if threads > 1 && is_reference {
        let what = phrase![["threads" => threads], ": the reference engine runs on one thread"];
        let remedy = phrase!["use ", ["threads" => "1"], ", or ", ["engine" => "fast"]];
        return Err(SpecError::new(ErrorKind::Conflict, what, remedy).of("threads"));
    }
    Ok(threads)
}
