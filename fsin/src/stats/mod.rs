//! What is measured: counts and distributions, in integers until the report.

mod distribution;
mod fairness;
mod recorder;

pub use distribution::{Distribution, Moments};
pub use fairness::{Fairness, fairness};
pub use recorder::{Counts, Receipt, Recorder, Summary, Window};
