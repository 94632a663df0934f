//! GOAL graphs: reading, rules of the hosts, the reference simulator.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::print_stderr, reason = "what was found is for who runs the tests")]

mod decimals;
mod hostile;
mod patterns;
mod plain;
mod reference;
mod streams;
