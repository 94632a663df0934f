//! Preparation of MPI traces for replay: statistics, checks and transformations.
//!
//! The readers of trace formats are in `trgen::trace::formats`, because `fsin run --trace` uses them too; this crate
//! checks and transforms traces, and provides the `trace-prep` command.

pub mod check;
pub mod dumpi;
pub mod facts;
pub mod matrix;
mod open;
pub mod otf2;
pub mod output;
pub mod record;
mod tool;
pub mod transform;

pub use open::{OpenError, open};
