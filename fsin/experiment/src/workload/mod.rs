//! Workloads: what drives a network.
//!
//! A kind of workload is a file with a row, [`WorkloadFamily`]: the setting that selects it, the settings that it
//! understands, and a function from their values to a checked [`Workload`], which builds any number of equal sources.

mod flows;
mod jobs;
mod kernel;
mod programs;
mod synthetic;
mod tasks;
mod trace;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use trgen::clock::Clock;
use trgen::phrase;
use trgen::phrase::Phrase;
use trgen::synthetic::traffic::Shot;
use trgen::synthetic::{Config, RoundTrips};
use trgen::trace::flow::Flow;
use trgen::trace::formats::ReadOptions;
use trgen::trace::jobs::JobMix;
use trgen::trace::placement::Distance;
use trgen::trace::replay::{Pace, ReplayReport, Rule, TimesAlone};
use trgen::trace::timeline::{CollectiveRecord, Part, Timeline};
use trgen::{Cycle, Geometry, NodeId, SourceError, TrGen};

use crate::conflicts::{SYNTHETIC, Times};
use crate::resolve::Experiment;
use crate::settings::{Settings, SettingsError};
use crate::trouble::Trouble;
use fsin_core::family::Units;
use fsin_core::topology::Distances;
use fsin_core::topology::switched::Demands;

pub use jobs::{JobEntry, JobFile, Work};
pub(crate) use programs::{check_expanded, check_ticks, phrases, reject_inapplicable, slow_down};
pub(crate) use synthetic::scaled;
pub(crate) use tasks::{cycle_seconds, pace, placement_of, whole_cycle};
pub(crate) use trace::{of_ranks, ranks_of};

/// A kind of workload.
pub(crate) struct WorkloadFamily {
    /// The setting that an experiment of this kind has, and that has no other use; `None` for the kind without one.
    pub(crate) key: Option<&'static str>,
    /// Groups of settings that it understands, among those that only some workloads understand.
    keys: &'static [&'static [&'static str]],
    /// Checks settings.
    parse: fn(&Request<'_>) -> Result<Arc<dyn Workload>, SettingsError>,
}

/// The kinds of workload.
pub(crate) static WORKLOADS: &[&WorkloadFamily] =
    &[&synthetic::ROW, &trace::ROW, &kernel::ROW, &jobs::ROW, &flows::ROW];

impl WorkloadFamily {
    /// True if this kind understands a setting that only some do; `beside` says that synthetic sources run beside it.
    fn understands(&self, key: &str, beside: bool) -> bool {
        self.key == Some(key)
            || self.keys.iter().any(|group| group.contains(&key))
            || beside && SYNTHETIC.contains(&key)
    }
}

/// True if only some kinds of workload understand a setting.
pub(crate) fn is_of_workloads(key: &str) -> bool {
    WORKLOADS.iter().any(|family| family.understands(key, false))
}

/// What workloads are made from.
pub(crate) struct Request<'a> {
    pub(crate) settings: &'a Settings,
    /// How the workload generates messages.
    pub(crate) times: Times,
    /// Computation speed of tasks.
    pub(crate) pace: Pace,
    /// Shape of the nodes that send and receive.
    pub(crate) geometry: &'a Geometry,
    /// Units in which the network counts.
    pub(crate) units: Units,
    /// True if the network carries messages of a node to itself.
    pub(crate) carries_to_itself: bool,
    /// True if nodes can refuse messages in the network.
    pub(crate) nodes_refuse: bool,
    /// True if a node generates nothing while its interface is full.
    pub(crate) throttled: bool,
    /// Seed of every random draw.
    pub(crate) seed: u64,
    /// Traffic that the file of the network states.
    pub(crate) demands: Option<&'a Demands>,
}

impl Request<'_> {
    /// Synthetic sources beside an application, if there are any.
    fn beside(&self) -> Result<Option<Config>, SettingsError> {
        if self.times == Times::Beside { synthetic::config(self).map(Some) } else { Ok(None) }
    }
}

/// The workload of an experiment, of the kind of this setting.
pub(crate) fn workload(key: Option<&str>, request: &Request<'_>) -> Result<Arc<dyn Workload>, SettingsError> {
    let family = WORKLOADS.iter().find(|family| family.key == key).unwrap_or(&WORKLOADS[0]);
    (family.parse)(request)
}

/// A workload whose settings have passed their check.
pub trait Workload: fmt::Debug + Send + Sync {
    /// The workload in a few words. `word` gives the value of a setting that applies.
    fn title(&self, word: &dyn Fn(&str) -> String) -> String;

    /// True if this setting applies to it, of those that only some workloads understand.
    fn understands(&self, key: &str) -> bool;

    /// True if tasks determine what is sent.
    fn has_tasks(&self) -> bool {
        true
    }

    /// True if its source can keep what each rank does over time.
    fn has_timeline(&self) -> bool {
        false
    }

    /// Its synthetic sources, alone or beside an application.
    fn sources(&self) -> Option<&Config> {
        None
    }

    /// Its trace, and how it is read.
    fn trace(&self) -> Option<(&Path, &ReadOptions)> {
        None
    }

    /// Files that it reads, beside those of patterns and placements.
    fn files(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Rejects what cannot be built, before a sweep begins. Traces are not read.
    ///
    /// # Errors
    /// The setting that cannot be used.
    fn check(&self, _experiment: &Experiment) -> Result<(), SettingsError> {
        Ok(())
    }

    /// Builds the source for a network of this shape.
    ///
    /// # Errors
    /// Settings that prove inconsistent, a trace that cannot be read.
    fn build(&self, experiment: &Experiment, geometry: &Geometry) -> Result<Driver, Trouble>;
}

/// A traffic source, and what it knows of itself.
pub trait Driven: fmt::Debug {
    /// The source itself.
    fn source(&mut self) -> &mut dyn TrGen;

    /// The report of the application's tasks, if there is one. The flag says whether their blocking times are known:
    /// hosts of graphs wait for many things at once.
    fn report(&self) -> Option<(ReplayReport, bool)> {
        None
    }

    /// Everything that the application has sent so far; `None` if there is no application or its nodes are not known
    /// before the run.
    fn flows(&self) -> Option<Vec<Flow>> {
        None
    }

    /// The cycle after the last one of the application over a network in which a rule gives the times of each message;
    /// `None` if that has to be simulated with a new source. Call before the application begins.
    ///
    /// # Errors
    /// A program that cannot be read.
    fn completion_alone(&mut self, _rule: Rule<'_>) -> Result<Option<Cycle>, SourceError> {
        Ok(None)
    }

    /// Finds the completion without contention while the application runs, if it can and has at most `most` messages.
    /// `rule` makes the rule of their times. Call before the application begins.
    fn keep_clocks(&mut self, _most: u64, _rule: &dyn Fn() -> Option<TimesAlone>) {}

    /// The cycle after the last one of the application, which has ended, over a network that delivers at once, and over
    /// that of the rule, if there is one; `None` where that was not found while it ran.
    fn completions_alone(&self) -> Option<(Cycle, Option<Cycle>)> {
        None
    }

    /// Puts an application that has ended back to its beginning, if it can: without reading it again, and without a record
    /// of what ranks do over time. What its report and its timeline say has to be taken before.
    fn begin_anew(&mut self) -> bool {
        false
    }

    /// True if other traffic runs beside the application.
    fn has_background(&self) -> bool {
        false
    }

    /// \[phits/cycle\] Load offered by all nodes together; `None` without a steady offered load.
    fn offered(&self) -> Option<f64> {
        None
    }

    /// The shots that have ended; `None` for other traffic.
    fn shots(&self) -> Option<&[Shot]> {
        None
    }

    /// Times from requests to their replies; `None` for other traffic.
    fn round_trips(&self) -> Option<&RoundTrips> {
        None
    }

    /// The mix of jobs, where several applications run.
    fn jobs(&self) -> Option<&JobMix> {
        None
    }

    /// Keeps what each rank does over time from now on, if the source can tell.
    fn record(&mut self) {}

    /// What each rank did over time, if that was kept.
    fn timeline(&self) -> Option<&Timeline> {
        None
    }

    /// The node of each rank, where ranks stay where they are.
    fn places(&self) -> Vec<NodeId> {
        Vec::new()
    }

    /// The collectives so far, where the source knows them.
    fn collectives(&self) -> Vec<CollectiveRecord> {
        Vec::new()
    }
}

/// The traffic source of an experiment.
#[derive(Debug)]
pub struct Driver {
    /// The traffic source.
    pub(crate) driven: Box<dyn Driven>,
    /// Warnings for readers of the results.
    pub warnings: Vec<Phrase>,
    /// Notes for readers of the results.
    pub notes: Vec<Phrase>,
    /// Number of calls of each collective operation that was expanded.
    pub(crate) collectives: BTreeMap<&'static str, u64>,
    /// The collectives that the application is, whose ranks have begun at 0 and not ended.
    pub(crate) known: Vec<CollectiveRecord>,
}

impl Driver {
    /// Builds the source for a network of this shape.
    ///
    /// # Errors
    /// Settings that prove inconsistent, a trace that cannot be read.
    pub fn new(experiment: &Experiment, geometry: &Geometry) -> Result<Self, Trouble> {
        let mut driver = experiment.workload.build(experiment, geometry)?;
        if driver.driven.has_background() {
            driver.notes.push("packets of all figures include those of the traffic beside the application".into());
        }
        Ok(driver)
    }

    /// The source itself.
    pub fn source(&mut self) -> &mut dyn TrGen {
        self.driven.source()
    }

    /// The collectives of a run that has ended, of cycles of this length \[ps\].
    pub(crate) fn collectives_measured(&self, clock: Clock) -> Vec<CollectiveRecord> {
        if self.known.is_empty() {
            return self.driven.collectives();
        }
        let Some((report, _)) = self.driven.report() else { return Vec::new() };
        // The clock of the completion time, which starts at 1.
        let end = |rank: u32| Some(clock.end(report.tasks.get(rank as usize)?.finished?.next()));
        let ended = |record: &CollectiveRecord| {
            let parts = record.parts.iter().map(|&part| Part { end: end(part.rank), ..part }).collect();
            CollectiveRecord { parts, ..record.clone() }
        };
        self.known.iter().map(ended).collect()
    }

    /// A source with no warnings, notes or collectives.
    #[must_use]
    pub fn without_remarks(driven: Box<dyn Driven>) -> Self {
        Self { driven, warnings: Vec::new(), notes: Vec::new(), collectives: BTreeMap::new(), known: Vec::new() }
    }
}

/// The settings that determine the result of [`Workload::check`].
pub const CHECKED: &[&str] = &[
    "topology",
    "ways",
    "packet",
    "phit-bytes",
    "traffic",
    "temporal",
    "shot",
    "size",
    "load",
    "kernel",
    "slow",
    "compute",
    "flows",
    "tasks-per-node",
    "placement",
];

/// Packets times hops from which on a run takes so long that a shorter way is worth a note.
const MANY_HOPS: f64 = (1u64 << 24) as f64;

/// Packets of a message from which on longer packets would show the same.
const MANY_PACKETS: u64 = 64;

/// A note about long messages in small packets, from what was sent: the time that longer packets would save, and what
/// they would change in the results.
#[must_use]
pub fn small_packets(experiment: &Experiment, flows: &[Flow]) -> Option<Phrase> {
    let topology = experiment.topology().filter(|_| experiment.model.understands("packet"))?;
    let units = experiment.units;
    let (mut packets, mut messages) = (0u64, 0u64);
    for flow in flows.iter().filter(|flow| flow.from != flow.to) {
        packets = packets.saturating_add(units.packets_of(flow.bytes).max(flow.messages));
        messages = messages.saturating_add(flow.messages);
    }
    let each = packets / messages.max(1);
    // Minimal routes are a hop long at least; longer ones are counted where that is quick.
    let distances = (flows.len() as u64 <= 1 << 16).then(|| Distances::few(Arc::clone(topology))).flatten();
    let hops = |flow: &Flow| distances.as_ref().map_or(1, |distances| distances.hops(flow.from, flow.to));
    let of_flow = |flow: &Flow| units.packets_of(flow.bytes).max(flow.messages) as f64 * f64::from(hops(flow));
    let hops: f64 = flows.iter().filter(|flow| flow.from != flow.to).map(of_flow).sum();
    if hops < MANY_HOPS || each < 2 * MANY_PACKETS {
        return None;
    }
    let factor = 1 << (each / MANY_PACKETS).min(64).ilog2();
    let longer = u64::from(units.packet_phits) * factor;
    Some(phrase![
        (
            "{:.0} million packets times hops: messages of {each} packets of {} bytes, in the mean; ",
            hops / 1e6,
            units.packet_bytes()
        ),
        ["packet" => longer],
        (
            " ({} bytes) would take about 1/{factor} of them and of the time, and change this: room that is counted in packets \
             holds {factor} times as many bytes, turns among messages are {factor} times as long, and messages shorter than \
             a packet may take the time of one",
            units.packet_bytes() * factor
        )
    ])
}
