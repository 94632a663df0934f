//! A fast functional simulator of interconnection networks.

#[cfg(feature = "tui")]
pub mod dashboard;

pub mod pcapng;

pub use fsin_core::{capture, couple, family, network, run, stats, topology, view, watch, words};
pub use fsin_experiment::{self as experiment, result, stamp, sweep};
pub use fsin_models as models;
pub use fsin_report as report;
pub use fsin_vct::{engine, router, routing};
