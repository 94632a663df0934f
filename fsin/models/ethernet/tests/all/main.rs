//! The Ethernet model from outside.

mod common;
mod engines_agree;
mod exact;
mod family;
mod model;
