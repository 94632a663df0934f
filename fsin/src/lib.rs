//! A fast functional simulator of interconnection networks.

pub mod dashboard;
pub mod experiment;
pub mod report;
pub mod result;
pub mod stamp;
pub mod sweep;

pub use fsin_core::{couple, family, network, run, stats, topology, view, watch, words};
pub use fsin_models as models;
pub use fsin_vct::{engine, router, routing};
