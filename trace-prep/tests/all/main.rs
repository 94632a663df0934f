//! The `trace-prep` command, and the tools that it calls.

mod cli;
mod dumpi;
mod otf2;
mod otf2_tool;
mod places;
mod record;
mod simgrid;

#[allow(dead_code, unreachable_pub, reason = "these tests need a part of it")]
#[path = "../../../tests/src/shared.rs"]
mod shared;
