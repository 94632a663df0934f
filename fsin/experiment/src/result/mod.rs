//! Results as data: a run's outcome with a field for each figure, and one table of all figures.
//!
//! [`Figure`] is the table: names, units, meanings and types. [`RunResult`] has a field for each of them. JSON, CSV,
//! tables, pictures, comparisons, pages and the documented [schema] are derived from both. This module depends neither
//! on the display of results nor on their storage.

mod csv;
mod datum;
mod json;
mod manifest;
mod of_collectives;
mod of_details;
mod of_energy;
#[cfg(feature = "live")]
mod of_guests;
mod of_hosts;
mod of_jobs;
mod of_network;
mod rows;
mod schema;
mod serial;
mod settings;
mod table;

pub use csv::{tables, write_results, write_rows};
pub use datum::{Number, Shape};
pub use json::{write_line, write_pretty};
pub use manifest::{InputFile, Manifest};
pub use of_collectives::CollectiveTimes;
pub use of_details::{FlowRow, LatencyBin, MessageClass, NodeRow, ShareRow};
pub use of_energy::{EnergyPart, EnergyRow};
#[cfg(feature = "live")]
pub use of_guests::of_guests;
pub use of_hosts::of_hosts;
pub use of_network::of_network;
pub use rows::{
    Batch, BufferRow, ClassRow, CollectiveRow, CompletionBounds, Device, FailureKind, FailureReport, GuestRow,
    HostTask, JobRow, MachineRow, MarkRow, ModelFigure, PhaseRow, PortRow, RankRow, ReplayedTask, RunningDigest,
    SentRow, ShotRow, TaskRow, WaitRow, WarningKind,
};
pub use schema::{Part, parts, schema};
pub use settings::typed;
pub use table::{Figure, RunResult};

/// The verdict of a run that is too short to tell.
const UNDECIDED: &str = fsin_core::run::Verdict::Undecided { deciding_cycles: None }.name();

/// Version of the names and meanings of figures.
pub const SCHEMA: u64 = 3;

/// Costs of a run. Unlike all other figures these depend on the machine.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Costs {
    /// \[s\] Processor time of all threads.
    pub cpu_seconds: Option<f64>,
    /// \[s\] Wall-clock time.
    pub wall_seconds: f64,
    /// \[bytes\] Peak memory of the process; `None` if the system does not report it.
    pub peak_memory_bytes: Option<u64>,
}

impl RunResult {
    /// The figures that do not depend on machine and time.
    #[must_use]
    pub fn reproducible(mut self) -> Self {
        self.retain(|figure| figure != Figure::Manifest && !figure.is_cost());
        // Threads affect nothing else.
        self.experiment.remove("threads");
        self
    }

    /// True if the network was saturated.
    #[must_use]
    pub fn is_saturated(&self) -> bool {
        self.saturated == Some(true)
    }

    /// True if the run was too short to tell whether the network carries the offered load.
    #[must_use]
    pub fn is_undecided(&self) -> bool {
        self.verdict.as_deref() == Some(UNDECIDED)
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

    /// The warnings, each with its subject; results of older versions lack the subject.
    pub fn warnings_by_kind(&self) -> impl Iterator<Item = (&str, Option<WarningKind>)> {
        let kinds = self.warning_kinds.iter().copied().map(Some).chain(std::iter::repeat(None));
        self.warnings.iter().map(String::as_str).zip(kinds)
    }

    /// The source policy, `open` or `throttled`, of synthetic traffic; `None` for other traffic.
    #[must_use]
    pub fn source_policy(&self) -> Option<&str> {
        self.experiment.get("traffic").and_then(|_| self.experiment.get("source")?.as_str())
    }

    /// The unit of its loads, which its network model declares.
    #[must_use]
    pub fn load_unit(&self) -> &'static str {
        crate::load_unit(self.experiment.get("network").and_then(serde_json::Value::as_str).unwrap_or_default())
    }

    /// True if a cycle of its network is a picosecond: so count the models whose loads are fractions of capacity.
    #[must_use]
    pub fn counts_picoseconds(&self) -> bool {
        self.load_unit() != fsin_core::family::PHITS_PER_NODE_CYCLE
    }

    /// The unit of a figure in this result; empty if it has none.
    #[must_use]
    pub fn unit(&self, figure: Figure) -> &'static str {
        if figure.is_load() { self.load_unit() } else { figure.unit() }
    }

    /// The offered load, as set in the experiment, in the [unit](Self::load_unit) of loads.
    #[must_use]
    pub fn load(&self) -> Option<f64> {
        self.experiment.get("load")?.as_f64()
    }
}
