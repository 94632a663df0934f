//! The Ethernet model from outside.

mod common;
mod data_centre;
mod engines_agree;
mod exact;
mod failures;
mod family;
mod model;
mod own;
mod sprayed;
mod steady;
mod switches;
