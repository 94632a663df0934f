//! Sweeps: many experiments that differ in a few settings, kept in one folder, whoever ran them.
//!
//! A [`Grid`] is an experiment with lists for values; a [`Plan`] is the list of its points, each a complete experiment
//! with an identity. A [`Store`] is the folder: `plan.json`, `journal.jsonl` and one folder per point, named by the
//! identity of its experiment, which is either absent or complete. Whoever runs points (threads, a batch system, another
//! program) does nothing but fill those folders; [`collect`] makes results of them, in the order of the plan, so that they
//! are the same bytes whoever ran what, when and how often it was interrupted.

mod apart;
mod collect;
mod compare;
mod curves;
mod grid;
mod load;
mod plan;
mod remarks;
mod saturation;
mod slurm;
mod stop;
mod store;
mod sums;

pub use crate::stats::{Estimate, ROUNDING, Spread, estimate, lag1, mean, trend, welch};
pub(crate) use apart::given;
pub use apart::{Apart, apart};
pub(crate) use collect::failure;
pub use collect::{Collected, Row, collect, reproducible, write_results};
pub use compare::{Difference, MARGIN, Samples, Verdict, compare};
pub use curves::{Choice, Curve, Curves, Spot, Value};
pub(crate) use curves::{along, is_numeric, legend, position, settings};
pub use grid::{Axis, Grid, as_several, split_at_commas};
pub use load::{open, open_unchecked};
pub use plan::{Plan, PlanAxis, Point};
pub use remarks::remarks;
pub use saturation::{Bracket, Probe, Saturations, Search, SeedSearch};
pub use slurm::{Slurm, SlurmJob};
pub use stop::StopRule;
pub use store::{Store, StoreError, Stored, replace_file};
pub use sums::{damage, write_result};
