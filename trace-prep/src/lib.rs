//! Preparation of MPI traces for replay: statistics, checks and transformations.
//!
//! The readers of trace formats are in `trgen::trace::formats` and `fsin_archives`, because `fsin run --trace` uses them
//! too; this crate checks and transforms traces, and provides the `trace-prep` command.

pub mod check;
pub mod facts;
pub mod matrix;
pub mod output;
pub mod record;
pub mod transform;
