//! Sources of traffic keep their contract, and the battery that checks it finds each fault.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod battery;
mod replay;
