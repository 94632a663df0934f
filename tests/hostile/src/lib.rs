//! Hostile files: what is sound, changed in ways that readers stumble over, and what reading it costs.
//!
//! A seed of each format is changed (bits, lengths of 2^63, pieces that change places, ends that are missing) by a
//! generator that a number fixes, and read. [`allocations`] counts the memory that reading takes.

pub mod allocations;
pub mod mutate;
pub mod probe;
pub mod repair;
pub mod seeds;

#[global_allocator]
static COUNTING: allocations::Counting = allocations::Counting;
