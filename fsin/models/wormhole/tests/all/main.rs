//! The wormhole model from outside.

mod booksim;
mod common;
mod engines_agree;
mod interfaces;
mod model;
mod proofs;
mod refusals;
mod zero_load;
