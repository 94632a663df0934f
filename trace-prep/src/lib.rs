//! Preparing MPI traces for replay: what they hold, whether they are complete, and what can be made of them.
//!
//! The readers of trace formats live in `trgen::trace::formats`, because `fsin run --trace` reads them too; this crate
//! holds what examines and changes traces, and the `trace-prep` command.

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
