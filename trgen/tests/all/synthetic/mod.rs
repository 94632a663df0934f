//! Synthetic traffic: expressions, patterns, processes, size laws, sources.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;
mod expr;
mod load;
mod patterns;
mod second;
mod source;
mod spatial;
mod traffic;
