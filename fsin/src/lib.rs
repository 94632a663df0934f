//! A fast functional simulator of interconnection networks.
//!
//! [`main_with`] is the whole command with components of one's own: a program that adds them to the [`Registry`] runs,
//! sweeps, plots, lists and explains them as it does those of fsin.

// The command is written against the library as others see it.
extern crate self as fsin;

pub mod catalogue;
mod cli;

#[cfg(feature = "tui")]
pub mod dashboard;

pub mod pcapng;
mod registry;

pub use fsin_core::{
    capture, couple, difference, failures, family, network, route, run, stats, topology, view, watch, words,
};
pub use fsin_experiment::{self as experiment, result, sweep};
pub use fsin_models as models;
pub use fsin_report as report;
pub use fsin_vct::{engine, router, routing};
pub use registry::Registry;

/// Executes the command that the arguments of the process give, with these components. Returns its exit status.
///
/// A registry that cannot be installed, such as one with two components of one name, is refused with exit status 2.
#[must_use]
pub fn main_with(registry: Registry) -> std::process::ExitCode {
    cli::main(registry)
}
