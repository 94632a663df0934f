//! Statistics: counts and distributions, in integers until the report; and means with confidence intervals.

mod distribution;
mod estimate;
mod fairness;
mod recorder;

pub use distribution::{Distribution, Moments};
pub use estimate::{Estimate, ROUNDING, Spread, estimate, lag1, mean, trend, welch};
pub use fairness::{Fairness, fairness};
pub use recorder::{Counts, Receipt, Recorder, Short, Summary, Whole, Window};
