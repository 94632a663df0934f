//! From settings to a checked experiment.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use trgen::catalog::ErrorKind;
use trgen::phrase;
use trgen::phrase::Phrase;
use trgen::synthetic::Config;
use trgen::trace::goal::hosts::HostParams;
use trgen::trace::placement;
use trgen::trace::replay::{Pace, Protocol};

use super::conflicts::{BATCH, ENDING, GRAPHS, JOBS, SYNTHETIC, TASKS, TRACE, Times, conflicts, is_of_ideal, task_key};
use super::hosts::{eager, hosts, network, tasks_per_node};
use super::keys::{Heading, KEYS, Key, Kind};
use super::plan::{RunPlan, plan};
use super::router::lost_pairs;
use super::settings::{Origin, Settings, SettingsError, toml_value};
use super::traffic::{Traffic, cycle_seconds, pace, placement_of, synthetic, traffic};
use super::wiring::Wiring;
use crate::engine::fast::MAX_THREADS;
use crate::router::CheckedParams;
use crate::topology::{self, Topology};

/// The source policy of workloads without a steady offered load, unless set: tasks, shots and guests wait by
/// themselves.
pub const CLOSED_LOOP: &str = "throttled";

/// Engine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EngineKind {
    /// Event-driven, packet by packet; identical results, faster.
    Fast,
    /// Phit by phit: the definition of the model.
    Reference,
}

/// A complete, checked experiment: the network that it runs over is built, and copies share it.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// The topology, with its dead links.
    pub topology: Arc<dyn Topology>,
    /// The router, for this topology.
    pub router: CheckedParams,
    /// What drives it.
    pub traffic: Traffic,
    /// Placement of tasks, for traces and kernels.
    pub placement: String,
    /// Computation speed, for traces and kernels.
    pub pace: Pace,
    /// \[s\] Cycle time.
    pub cycle_seconds: f64,
    /// Hosts of graphs.
    pub hosts: HostParams,
    /// \[ns\] L of the ideal network that replaces the router, if there is one; its G is in `hosts`.
    pub ideal_latency: Option<u64>,
    /// How messages of programs are sent.
    pub protocol: Protocol,
    /// Tasks per node.
    pub tasks_per_node: usize,
    /// Run control.
    pub plan: RunPlan,
    /// True if reaching the limit of cycles is a failure.
    pub strict: bool,
    /// Engine.
    pub engine: EngineKind,
    /// \[threads\] Of the engine; results do not depend on it.
    pub threads: usize,
    /// True if results include the load of each link.
    pub link_loads: bool,
    times: Times,
    /// Warnings known before the run.
    pub foreseen: Vec<Phrase>,
    /// False where the topology fixes the number of directions.
    has_ways: bool,
    settings: Settings,
}

impl Experiment {
    /// Checks settings and builds their experiment.
    ///
    /// # Errors
    /// The first setting that cannot be used, with its place and the remedy.
    pub fn resolve(mut settings: Settings) -> Result<Self, SettingsError> {
        let tasks = task_key(&settings)?;
        let times = Times::of(&settings, tasks.is_some());
        if times != Times::Steady && !settings.is_set("source") {
            settings.set("source", CLOSED_LOOP, Origin::Default)?;
        }
        conflicts(&settings, tasks, times)?;
        let Wiring { topology, router, has_ways } = Wiring::of(&settings)?;
        settings.settle("routing", router.routing.name());
        let waits = match (tasks, times) {
            (Some(_), _) => Some("tasks"),
            (None, Times::Shots) => Some("shots"),
            (None, _) => None,
        };
        let foreseen = lost_pairs(&settings, &*topology, &router, waits)?;
        let cycle_seconds = cycle_seconds(&settings, &router)?;
        let pace = pace(&settings, cycle_seconds)?;
        let synthetic = || synthetic(&settings, topology.geometry().clone(), &router);
        let traffic = traffic(&settings, (tasks, times), pace, synthetic)?;
        let plan = plan(&settings, tasks.is_some() || times == Times::Shots)?;
        let ideal = network(&settings)?;
        let hosts = hosts(&settings, ideal.map(|(_, gap_per_byte)| gap_per_byte))?;
        let tasks_per_node = tasks_per_node(&settings)?;
        if ideal.is_some() {
            check_ideal(&settings)?;
        }
        let (engine, threads) = engine(&settings)?;
        Ok(Self {
            topology,
            router,
            traffic,
            threads,
            placement: placement_of(&settings),
            pace,
            cycle_seconds,
            hosts,
            ideal_latency: ideal.map(|(latency, _)| latency),
            protocol: Protocol { eager_limit: eager(&settings)? },
            tasks_per_node,
            plan,
            strict: settings.choice("strict", &[("true", true), ("false", false)])?,
            link_loads: settings.is_set("link-loads")
                && settings.choice("link-loads", &[("true", true), ("false", false)])?,
            engine,
            times,
            foreseen,
            has_ways,
            settings,
        })
    }

    /// True if the load applies to this experiment: not for tasks, shots or sources with loads of their own.
    #[must_use]
    pub fn uses_load(&self) -> bool {
        let is_for_all = |config: &Config| trgen::synthetic::traffic::uses_load(&config.pattern);
        self.times == Times::Steady && matches!(&self.traffic, Traffic::Synthetic(config) if is_for_all(config))
    }

    /// Every setting that applies to this experiment, in the order of the key table.
    #[must_use]
    pub fn effective(&self) -> Vec<(&'static Key, String)> {
        let tasks = !matches!(self.traffic, Traffic::Synthetic(_));
        let trace = matches!(self.traffic, Traffic::Trace { .. });
        let jobs = matches!(self.traffic, Traffic::Jobs { .. });
        let reads_traces = trace || matches!(&self.traffic, Traffic::Jobs { file, .. } if file.has_traces());
        let batch = matches!(self.plan, RunPlan::Batch(_));
        self.settings.effective(|key| match key.name {
            name if self.ideal_latency.is_some() => is_of_ideal(&self.settings, name),
            "ways" => self.has_ways,
            "trace" => trace,
            "kernel" => matches!(self.traffic, Traffic::Kernel { .. }),
            "job-mix" => jobs,
            name if JOBS.contains(&name) => jobs,
            "cycles" => matches!(self.plan, RunPlan::Fixed(_)),
            "shot" => self.times == Times::Shots,
            "temporal" if self.times == Times::Shots => !self.settings.is_set("shot"),
            "load" => self.uses_load(),
            "samples" => batch || self.times == Times::Shots,
            // Without the key, link loads are not kept.
            "link-loads" => self.link_loads,
            name if SYNTHETIC.contains(&name) => self.times != Times::Application,
            name if BATCH.contains(&name) => batch,
            name if TASKS.contains(&name) => tasks,
            name if ENDING.contains(&name) => matches!(self.plan, RunPlan::ToEnd(_)),
            name if GRAPHS.contains(&name) => trace,
            name if TRACE.contains(&name) => reads_traces,
            _ => true,
        })
    }

    /// The complete experiment as a file that reproduces the run.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let mut text = String::new();
        let mut heading: Option<Heading> = None;
        for (key, value) in self.effective() {
            if heading != Some(key.heading) {
                text.push_str(if heading.is_some() { "\n# " } else { "# " });
                text.push_str(key.heading.title());
                text.push('\n');
                heading = Some(key.heading);
            }
            // Paths are written as absolute paths.
            let value = match key.kind {
                Kind::Path => absolute(Path::new(&value)).display().to_string(),
                _ if key.name == "traffic" => {
                    let folder = self.settings.folder_of("traffic");
                    trgen::synthetic::traffic::with_files(&value, |name| absolute(&folder.join(name)))
                }
                _ if key.name == "topology" => {
                    let spec = self.topology.spec();
                    topology::file(&spec).map_or(value, |path| topology::with_file(&spec, &absolute(path)))
                }
                _ if key.name == "placement" => match placement::file(&value, &self.settings.folder_of("placement")) {
                    Some(path) => placement::with_file(&value, &absolute(&path)),
                    None => value,
                },
                _ => value,
            };
            text.push_str(&format!("{} = {}\n", key.name, toml_value(key, &value)));
        }
        text
    }

    /// The settings that the experiment was built from.
    #[must_use]
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }
}

/// An absolute path.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Rejects flags that do not apply to an ideal network.
fn check_ideal(settings: &Settings) -> Result<(), SettingsError> {
    let useless = |key: &&Key| settings.origin(key.name) == Origin::Flag && !is_of_ideal(settings, key.name);
    match KEYS.iter().find(useless) {
        None => Ok(()),
        Some(key) => {
            let what = phrase![[key.name], " has no meaning with ", ["network" => "ideal"]];
            Err(settings.error(
                key.name,
                ErrorKind::Meaningless,
                what,
                "leave it out: an ideal network has no routers and no cycles",
            ))
        }
    }
}

/// The engine and its number of threads.
fn engine(settings: &Settings) -> Result<(EngineKind, usize), SettingsError> {
    let engine = settings.choice("engine", &[("fast", EngineKind::Fast), ("reference", EngineKind::Reference)])?;
    let threads: usize = settings.integer("threads")?;
    if !(1..=MAX_THREADS).contains(&threads) {
        let what = phrase![["threads" => threads], " is out of range"];
        return Err(settings.error("threads", ErrorKind::OutOfRange, what, format!("use 1 to {MAX_THREADS}")));
    }
    if threads > 1 && engine == EngineKind::Reference {
        let what = phrase![["threads" => threads], ": the reference engine runs on one thread"];
        return Err(settings.error(
            "threads",
            ErrorKind::Conflict,
            what,
            phrase!["use ", ["threads" => "1"], ", or ", ["engine" => "fast"]],
        ));
    }
    Ok((engine, threads))
}
