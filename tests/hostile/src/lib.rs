//! Hostile files: mutations of valid files, and the cost of reading them.
//!
//! A seed file of each format is mutated (bits, lengths of 2^63, exchanged pieces, missing ends) by a deterministic
//! generator, and read. [`allocations`] counts the memory that reading takes.

pub mod allocations;
#[path = "../../src/chakra.rs"]
pub mod chakra;
pub mod mutate;
#[path = "../../../fsin/networks/src/tests/samples.rs"]
pub mod networks;
pub mod probe;
pub mod repair;
pub mod seeds;

#[global_allocator]
static COUNTING: allocations::Counting = allocations::Counting;
