//! Sweeps: many experiments that differ in a few settings, kept in one folder.
//!
//! A [`Grid`] is an experiment with lists for values; a [`Plan`] is the list of its points, each a complete experiment
//! with an identity. A [`Store`] is the folder: `plan.json`, `journal.jsonl` and one folder per point, named by the
//! identity of its experiment, which is either absent or complete. Any executor of points (threads, a batch system,
//! another program) only fills those folders. [`collect`] assembles the results in the order of the plan, so their
//! bytes do not depend on the executor, on timing or on interruptions.
//!
//! Decision: docs/decisions/0055-sweep-folders.md.

mod changed;
mod collect;
mod compare;
mod curves;
mod grid;
mod load;
mod many;
mod plan;
mod ports;
mod reading;
mod records;
mod remarks;
mod saturation;
mod search;
mod slurm;
mod stop;
mod store;
mod sums;

pub use changed::{ChangedSetting, changed_settings, inputs};
pub use collect::{Collected, Row, collect, write_results};
pub use compare::{Difference, MARGIN, Samples, Verdict, compare};
pub use curves::{Choice, Curve, Curves, Spot, Value, along, is_numeric, legend, position, settings};
pub use fsin_core::stats::{Estimate, ROUNDING, Spread, estimate, lag1, mean, trend, welch};
pub use grid::{Axis, Grid, as_several, split_at_commas};
pub use load::{open, open_unchecked};
pub use many::Many;
pub use plan::{Plan, PlanAxis, Point};
pub use reading::{CYCLES_DIFFER, Reading, cycle_seconds, cycles_differ};
pub use remarks::remarks;
pub use saturation::{Bracket, Found, Probe, Saturations, Search, SeedSearch};
pub use search::{SearchBounds, Searched, Tried, keep_highest, search};
pub use slurm::{Slurm, SlurmJob};
pub use stop::StopRule;
pub use store::{Store, StoreError, Stored, replace_file};
pub use sums::{damage, write_result};
