//! Chakra traces: decoding, checks, replay.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod peer;
mod rules;
