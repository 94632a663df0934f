//! Will hold the `trace-prep` command: import, check, describe, transform and record MPI traces.
//!
//! The readers of trace formats live in `trgen::trace::formats`, because `fsin run --trace` reads them too; this crate
//! will hold what changes and records traces. Nothing is here yet.
