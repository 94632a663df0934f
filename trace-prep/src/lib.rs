//! Preparation of MPI traces for replay: statistics, checks and transformations.
//!
//! The readers of trace formats are in `trgen::trace::formats` and `fsin_archives`, because `fsin run --trace` uses them
//! too; this crate checks and transforms traces, and provides the `trace-prep` command.

use std::ffi::OsString;

// The command is written against the library as others see it.
extern crate self as trace_prep;

pub mod check;
mod cli;
pub mod facts;
pub mod matrix;
pub mod output;
pub mod record;
pub mod transform;

/// Executes the command with these words, its name and arguments; returns its exit status.
#[must_use]
pub fn main_called(words: impl IntoIterator<Item = OsString>) -> u8 {
    cli::main(words) as u8
}
