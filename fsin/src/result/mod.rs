//! Results as data: what a run found, with every figure a field, and one table of all figures.
//!
//! [`Figure`] is the table: names, units, meanings and types. [`RunResult`] has a field for each of them. JSON, CSV, tables,
//! pictures, comparisons, pages and the documented [schema] follow from both. This module knows neither how results
//! are shown nor where they are kept.

mod csv;
mod datum;
mod json;
mod manifest;
mod of_guests;
mod of_hosts;
mod of_jobs;
mod of_network;
mod rows;
mod schema;
mod serial;
mod settings;
mod table;

pub use csv::{write_results, write_rows};
pub use datum::{Number, Shape};
pub use json::{write_line, write_pretty};
pub use manifest::{InputFile, Manifest};
pub use of_guests::of_guests;
pub use of_hosts::of_hosts;
pub use of_network::of_network;
pub use rows::{
    Batch, CompletionBounds, FailureKind, FailureReport, GuestRow, HostTask, JobRow, MarkRow, ReplayedTask,
    RunningDigest, ShotRow, TaskRow, WarningKind,
};
pub use schema::{Part, parts, schema};
pub use settings::typed;
pub use table::{Figure, RunResult};

/// Version of the names and meanings of figures.
pub const SCHEMA: u64 = 2;

/// What a run cost. Unlike all other figures these depend on the machine.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Costs {
    /// \[s\] Of processor time, of all threads.
    pub cpu_seconds: Option<f64>,
    /// \[s\] By the clock on the wall.
    pub wall_seconds: f64,
    /// \[bytes\] Most memory that the process held; `None` where the system does not tell.
    pub peak_memory_bytes: Option<u64>,
}

impl RunResult {
    /// The figures that are the same on every machine and at any time.
    #[must_use]
    pub fn reproducible(mut self) -> Self {
        self.retain(|figure| figure != Figure::Manifest && !figure.is_cost());
        // Threads change nothing else.
        self.experiment.remove("threads");
        self
    }

    /// True if the network was found to be saturated.
    #[must_use]
    pub fn is_saturated(&self) -> bool {
        self.saturated == Some(true)
    }

    /// Why the result is a failure, if it is one.
    #[must_use]
    pub fn why_failed(&self) -> Option<&str> {
        match &self.failure {
            Some(failure) => Some(&failure.what),
            None if !self.complete && self.experiment.get("strict") == Some(&true.into()) => {
                Some("the limit of cycles ended the run")
            }
            None => None,
        }
    }

    /// The warnings, each with what it is about; results of older versions do not say that.
    pub fn warnings_by_kind(&self) -> impl Iterator<Item = (&str, Option<WarningKind>)> {
        let kinds = self.warning_kinds.iter().copied().map(Some).chain(std::iter::repeat(None));
        self.warnings.iter().map(String::as_str).zip(kinds)
    }

    /// The source policy, `open` or `throttled`, where synthetic sources send.
    #[must_use]
    pub fn source_policy(&self) -> Option<&str> {
        self.experiment.get("traffic").and_then(|_| self.experiment.get("source")?.as_str())
    }

    /// \[phits/node/cycle\] The load that was asked for, as the experiment says it.
    #[must_use]
    pub fn load(&self) -> Option<f64> {
        self.experiment.get("load")?.as_f64()
    }
}
