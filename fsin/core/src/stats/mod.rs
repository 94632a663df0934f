//! Statistics: counts and distributions, in integers until the report; and means with confidence intervals.

mod details;
mod distribution;
mod estimate;
mod fairness;
mod growth;
mod period;
mod recorder;

pub use details::{Arrival, Completed, Details, Keep, NodeDetails, Share};
pub use distribution::{Distribution, Moments};
pub use estimate::{Estimate, ROUNDING, Spread, estimate, half_width_of_series, lag1, mean, trend, welch};
pub use fairness::{Fairness, fairness};
pub use growth::{Growth, Step};
pub use period::Series;
pub use recorder::{Counts, Mark, Receipt, Recorder, Short, Summary, Whole, Window};
