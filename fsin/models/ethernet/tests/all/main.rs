//! The Ethernet model from outside.

mod common;
mod engines_agree;
mod exact;
mod failures;
mod family;
mod model;
mod switches;
