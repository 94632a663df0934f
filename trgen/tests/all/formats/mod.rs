//! Readers of traces: files, records and calls, damage, and real traces.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod collectives;
mod cut;
mod dimemas;
mod dumpi;
mod dumpi_binary;
mod exchange;
mod input;
mod otf2;
mod pmpi;
mod real;
mod robust;
mod ti;
mod trc;
