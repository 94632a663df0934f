//! Whole experiments, drawn over all models and run as a user runs them, with what must hold of any of them.
//!
//! - [`draw`]: draws an experiment: model, topology, settings, traffic, and time scales from a tenth of the
//!   latency of the network to a hundred times it;
//! - [`run`]: runs it in every way that must not matter;
//! - [`invariants`]: what must hold of these runs.

pub mod draw;
pub mod invariants;
pub mod run;
