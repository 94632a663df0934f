//! From settings to a checked experiment.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use trgen::Geometry;
use trgen::catalog::{ErrorKind, SpecError};
use trgen::phrase;
use trgen::phrase::Phrase;
use trgen::trace::chakra::replay::Params as RankParams;
use trgen::trace::goal::hosts::HostParams;
use trgen::trace::placement::Placement;
use trgen::trace::replay::{Pace, Protocol};
use trgen::trace::slow::Slow;

use super::conflicts::{
    BATCH, CYCLE, ENDING, Times, check_needs, check_unused, conflicts, is_of_wire, task_key, unmet,
};
use super::energy;
use super::hosts::{eager, hosts, slow, tasks_per_node};
use super::inputs::with_paths;
use super::keys::{Key, Kind, keys};
use super::memory;
use super::models;
use super::models::{Networks, expand, is_of_models, model, undeclared};
use super::plan::{RunPlan, lengthen, plan, unloaded};
use super::settings::{Origin, Settings, SettingsError, toml_value};
use super::workload::{Request, Workload, cycle_seconds, is_of_workloads, pace, placement_of, scaled, workload};
use fsin_core::family::{ModelFamily, NetworkSpec, Units, Unloaded, Wire};
use fsin_core::stats::Keep;
use fsin_core::topology::{self, Topology};

/// The source policy of workloads without a steady offered load, unless set: tasks, shots and guests wait by
/// themselves.
pub const CLOSED_LOOP: &str = "throttled";

/// What executes the workload of an experiment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Runs {
    /// A network that advances in cycles.
    Network,
    /// Hosts that execute a graph, and compute arrivals from the numbers of a wire.
    Hosts(Wire),
}

impl Runs {
    /// True if hosts execute the workload: there are no cycles, packets or routers.
    #[must_use]
    pub const fn by_hosts(self) -> bool {
        matches!(self, Self::Hosts(_))
    }
}

/// A complete, checked experiment: its topology is built, and copies share it.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// The network model.
    pub model: &'static ModelFamily,
    /// The network, from which any number of equal ones can be built.
    pub network: Arc<dyn NetworkSpec>,
    /// What executes the workload.
    pub runs: Runs,
    /// Units in which the network counts.
    pub units: Units,
    /// Seed of every random draw.
    pub seed: u64,
    /// True if a node generates nothing while its interface is full.
    pub throttled: bool,
    /// The workload that drives the network.
    pub workload: Arc<dyn Workload>,
    /// Placement of tasks, for traces and kernels.
    pub placement: Placement,
    /// Computation speed, for traces and kernels.
    pub pace: Pace,
    /// \[s\] Length of a cycle.
    pub cycle_seconds: f64,
    /// Parameters of the hosts of graphs.
    pub hosts: HostParams,
    /// Parameters of the ranks of Chakra traces.
    pub ranks: RankParams,
    /// Ranks whose computations last longer.
    pub slow: Slow,
    /// How messages of programs are sent.
    pub protocol: Protocol,
    /// Number of tasks on each node.
    pub tasks_per_node: usize,
    /// What is known of the network without load; `None` without sources that go on for ever.
    pub unloaded: Option<Unloaded>,
    /// Run control.
    pub plan: RunPlan,
    /// True if reaching the limit of cycles is a failure.
    pub strict: bool,
    /// True if periods in which a kernel repeats itself are skipped.
    pub skips: bool,
    /// True if results have a digest.
    pub has_digest: bool,
    /// True if results include the load of each link.
    pub link_loads: bool,
    /// What is kept of single nodes, flows and messages.
    pub keep: Keep,
    /// Whether the histogram of packet latencies is kept.
    pub latency_histogram: bool,
    /// What slow-downs of messages are measured against.
    pub ideal: Ideal,
    /// \[bytes\] Greatest sizes of the classes of messages but the last, ascending.
    pub size_classes: Vec<u64>,
    /// The table by which energy is estimated.
    pub energy: Option<energy::Named>,
    /// How the workload generates messages.
    times: Times,
    /// Warnings known before the run.
    pub foreseen: Vec<Phrase>,
    /// The settings from which the experiment was built.
    settings: Settings,
}

impl Experiment {
    /// What every command that runs the experiment warns of, whatever the outcome: what is known of its settings, and what
    /// its network warns of.
    pub fn warnings(&self) -> impl Iterator<Item = Phrase> + '_ {
        self.foreseen.iter().cloned().chain(self.network.warnings())
    }

    /// Checks settings and builds their experiment.
    ///
    /// # Errors
    /// The first setting that cannot be used, with its place and the remedy.
    pub fn resolve(settings: Settings) -> Result<Self, SettingsError> {
        Self::resolve_among(settings, &mut Networks::default())
    }

    /// As [`resolve`](Self::resolve), for one of many experiments: a network that one of them has made is used again.
    ///
    /// # Errors
    /// As [`resolve`](Self::resolve).
    pub fn resolve_among(mut settings: Settings, networks: &mut Networks) -> Result<Self, SettingsError> {
        let model = model(&settings)?;
        expand(&mut settings, model)?;
        let tasks = task_key(&settings)?;
        let times = Times::of(&settings, tasks.is_some());
        if times != Times::Steady && !settings.is_set("source") {
            settings.set("source", CLOSED_LOOP, Origin::Default)?;
        }
        conflicts(&settings, tasks, times)?;
        undeclared(&settings, model)?;
        check_needs(&settings)?;
        let network = networks.parse(&settings, model)?;
        check_unused(&settings, &*network)?;
        check_source(&settings, model, &*network, times)?;
        let is_timed = settings.is_set("energy") || takes_bandwidth(&*network);
        if tasks.is_none() && settings.origin("bandwidth") == Origin::Flag && !is_timed {
            let what = phrase![["bandwidth"], " has no meaning with synthetic traffic"];
            let remedy = "leave it out: no link of the topology's file has a delay with a unit of time, or a rate";
            return Err(settings.error("bandwidth", ErrorKind::Meaningless, what, remedy));
        }
        for (key, value) in network.settled() {
            settings.settle(key, &value);
        }
        let units = network.units();
        // A network that takes every message at once holds no source back, whatever a file says.
        let holds_back = !network.unused().iter().any(|(key, _)| *key == "source");
        let throttled = throttled(&settings)? && holds_back;
        let waits = match (tasks, times) {
            // Lost flows are reported; the run does not wait for them.
            (Some("flows"), _) => None,
            (Some(_), _) => Some("tasks"),
            (None, Times::Shots) => Some("shots"),
            (None, _) => None,
        };
        let foreseen = foreseen(&settings, &*network, waits)?;
        let cycle_seconds = cycle_seconds(&settings, &*network)?;
        let pace = pace(&settings, &*network, cycle_seconds)?;
        let demands = network.topology().and_then(|topology| topology.switched()?.understood()?.demands.as_ref());
        if settings.is_set("scale") {
            let bits_per_load = units.capacity * f64::from(units.phit_bytes) * 8.0 / cycle_seconds;
            let load = scaled(&settings, demands, bits_per_load)?;
            settings.settle("load", &load.to_string());
        }
        let seed = settings.integer("seed")?;
        let geometry = network.geometry();
        let request = Request {
            settings: &settings,
            times,
            pace,
            geometry,
            units,
            carries_to_itself: network.carries_to_itself(),
            nodes_refuse: network.nodes_refuse(),
            throttled,
            seed,
            demands,
        };
        let workload = workload(tasks, &request)?;
        let sources = workload.sources().filter(|_| times == Times::Steady);
        if sources.is_some() {
            memory::fits(&settings, &*network)?;
        }
        let unloaded = sources.map(|sources| unloaded(&*network, sources));
        if let Some(unloaded) = unloaded {
            lengthen(&mut settings, &*network, unloaded);
        }
        let settles = unloaded.map_or(0, |unloaded| unloaded.settles);
        let plan = plan(&settings, tasks.is_some() || times == Times::Shots, settles)?;
        let runs = network.wire().map_or(Runs::Network, Runs::Hosts);
        let gap_per_byte = match runs {
            Runs::Network => None,
            Runs::Hosts(wire) => Some(wire.gap_per_byte),
        };
        let (hosts, ranks) = hosts(&settings, gap_per_byte, pace.compute_scale, geometry.group())?;
        let slow = slow(&settings, pace.compute_scale)?;
        let tasks_per_node = tasks_per_node(&settings)?;
        if runs.by_hosts() {
            check_wire(&settings, model)?;
        }
        let ideal = ideal(&settings, &*network)?;
        let energy = energy_of(&settings, &*network, runs.by_hosts() || !model.understands("link-loads"))?;
        Ok(Self {
            model,
            network,
            runs,
            units,
            seed,
            throttled,
            placement: if workload.has_tasks() { placement_of(&settings)? } else { Placement::default() },
            workload,
            pace,
            cycle_seconds,
            hosts,
            ranks,
            slow,
            protocol: Protocol { eager_limit: eager(&settings)? },
            tasks_per_node,
            unloaded,
            plan,
            strict: settings.choice("strict", &[("true", true), ("false", false)])?,
            skips: !is_on(&settings, "no-skip")?,
            has_digest: !(tasks == Some("kernel") && times != Times::Beside && is_on(&settings, "no-digest")?),
            link_loads: model.understands("link-loads") && is_on(&settings, "link-loads")?,
            keep: Keep {
                nodes: is_on(&settings, "node-stats")?,
                flows: is_on(&settings, "flow-stats")?,
                messages: is_on(&settings, "message-stats")?,
                packets: false,
            },
            latency_histogram: is_on(&settings, "latency-histogram")?,
            ideal,
            energy,
            size_classes: size_classes(&settings)?,
            times,
            foreseen,
            settings,
        })
    }

    /// True if the load applies to this experiment: not for tasks, shots or sources with loads of their own.
    #[must_use]
    pub fn uses_load(&self) -> bool {
        self.times == Times::Steady && self.workload.sources().is_some_and(|config| config.pattern.uses_load())
    }

    /// Every setting that applies to this experiment, in the order of the key table.
    #[must_use]
    pub fn effective(&self) -> Vec<(&'static Key, String)> {
        let batch = matches!(self.plan, RunPlan::Batch(_));
        let unused = self.network.unused();
        let is_unused = |name: &str| unused.iter().any(|(key, _)| *key == name);
        self.settings.effective(|key| match key.name {
            name if self.runs.by_hosts() => is_of_wire(&self.settings, self.model, name),
            name if is_of_models(name) && !self.model.understands(name) => false,
            name if is_unused(name) || unmet(&self.settings, key).is_some() => false,
            // A model without links takes the number of nodes from it.
            "topology" => self.topology().is_some() || !self.settings.is_set("nodes"),
            "ways" => self.topology().is_some_and(|topology| self.settings.word("ways") == topology.ways().to_string()),
            "bandwidth" if takes_bandwidth(&*self.network) => true,
            // Of the time and bits of a phit.
            name if CYCLE.contains(&name) && self.energy.is_some() => true,
            "cycles" => matches!(self.plan, RunPlan::Fixed(_)),
            "shot" => self.times == Times::Shots,
            "temporal" if self.times == Times::Shots => !self.settings.is_set("shot"),
            "load" => self.uses_load(),
            "samples" => batch || self.times == Times::Shots,
            "source" => !is_source_idle(&*self.network, self.times),
            // Without these keys nothing of the kind is kept.
            "link-loads" => self.link_loads,
            "node-stats" => self.keep.nodes,
            "flow-stats" => self.keep.flows,
            "message-stats" => self.keep.messages,
            "latency-histogram" => self.latency_histogram,
            name if BATCH.contains(&name) => batch,
            name if ENDING.contains(&name) => matches!(self.plan, RunPlan::ToEnd(_)),
            name if is_of_workloads(name) => self.workload.understands(name),
            _ => true,
        })
    }

    /// The complete experiment as a file that reproduces the run.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let mut text = String::new();
        let mut heading = String::new();
        let preset = self.network.preset();
        for (key, value) in self.effective() {
            let own = models::heading(key);
            if heading != own {
                text.push_str(if heading.is_empty() { "# " } else { "\n# " });
                text.push_str(&own);
                text.push('\n');
                heading = own;
            }
            // Paths are written as absolute paths.
            let folder = match key.kind {
                Kind::Path => PathBuf::new(),
                _ => self.settings.folder_of(key.name),
            };
            // The specification of a topology that has been made names its file as it was opened.
            let (value, folder) = match self.topology().filter(|_| key.name == "topology") {
                Some(topology) => match topology.spec() {
                    spec if topology::file(&spec).is_some() => (spec, PathBuf::new()),
                    _ => (value, folder),
                },
                None => (value, folder),
            };
            let value = with_paths(key.name, value, &mut |path| absolute(&folder.join(path)));
            let origin = match &preset {
                Some((preset, keys)) if keys.contains(&key.name) => format!("  # of the preset {preset}"),
                _ => String::new(),
            };
            text.push_str(&format!("{} = {}{origin}\n", key.name, toml_value(key, &value)));
        }
        text
    }

    /// The settings that are set in a file or the environment and have no effect here. (Flags without effect are
    /// refused.)
    #[must_use]
    pub fn without_effect(&self) -> Vec<&'static Key> {
        let effective = self.effective();
        let is_noted = |key: &&Key| matches!(self.settings.origin(key.name), Origin::File { .. } | Origin::Environment);
        keys().iter().filter(is_noted).filter(|key| !effective.iter().any(|(used, _)| used.name == key.name)).collect()
    }

    /// The topology, with its dead links, where the model has one.
    #[must_use]
    pub fn topology(&self) -> Option<&Arc<dyn Topology>> {
        self.network.topology()
    }

    /// Shape of the nodes that send and receive.
    #[must_use]
    pub fn geometry(&self) -> &Geometry {
        self.network.geometry()
    }

    /// \[phits/node/cycle\] The load of a node that sends a packet in each cycle.
    #[must_use]
    pub fn load_of_a_packet(&self) -> f64 {
        f64::from(self.units.packet_phits) / self.units.capacity
    }

    /// The settings that the experiment was built from.
    #[must_use]
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }
}

/// True if the bandwidth determines cycles, whatever the workload: where the file of the topology gives delays as times,
/// or rates of some links only.
fn takes_bandwidth(network: &dyn NetworkSpec) -> bool {
    // Times of failures are converted to cycles by it.
    let is_timed = network.failures().is_some_and(|failures| !failures.changes.is_empty());
    if is_timed && network.cycle().is_none() {
        return true;
    }
    let Some(switched) = network.topology().and_then(|topology| topology.switched()) else { return false };
    match (network.cycle(), switched.cycle()) {
        (Some(_), Some(_)) => switched.needs_bandwidth(),
        (cycle, _) => cycle.is_none() && switched.has_times(),
    }
}

/// The table of energies, checked for a network.
fn energy_of(
    settings: &Settings,
    network: &dyn NetworkSpec,
    has_no_links: bool,
) -> Result<Option<energy::Named>, SettingsError> {
    if !settings.is_set("energy") {
        return Ok(None);
    }
    let placed = |error: SpecError| settings.placed("energy", error);
    let named = energy::parse(settings.word("energy"), &settings.folder_of("energy")).map_err(placed)?;
    let topology = network.topology().filter(|_| !has_no_links).ok_or_else(|| placed(energy::no_links()))?;
    if named.row.needs_routers && !network.counts_events() {
        return Err(placed(energy::no_routers(named.component().name)));
    }
    named.model.check(&energy::classes_of(&**topology)).map_err(placed)?;
    let settled = network.settled();
    let buffer = settled.iter().find(|(key, _)| *key == "buffer").and_then(|(_, value)| value.parse().ok());
    if let Some(buffer) = buffer {
        let flit_bits = u64::from(network.units().phit_bytes) * 8;
        named.model.check_sizes(energy::Sizes { buffer, flit_bits }).map_err(placed)?;
    }
    Ok(Some(named))
}

/// An absolute path.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Rejects flags that do not apply where hosts compute over a wire.
fn check_wire(settings: &Settings, model: &ModelFamily) -> Result<(), SettingsError> {
    let useless = |key: &&Key| settings.origin(key.name) == Origin::Flag && !is_of_wire(settings, model, key.name);
    match keys().iter().find(useless) {
        None => Ok(()),
        Some(key) => {
            let what = phrase![[key.name], " has no meaning with ", ["network" => model.component.name]];
            let remedy = "leave it out: an ideal network has no routers and no cycles";
            Err(settings.error(key.name, ErrorKind::Meaningless, what, remedy))
        }
    }
}

/// True if the source policy has no effect: tasks wait by themselves, and the interfaces of most networks keep any number
/// of messages.
fn is_source_idle(network: &dyn NetworkSpec, times: Times) -> bool {
    times == Times::Application && !network.fills_interfaces()
}

/// Rejects the flag of a source policy without effect.
pub(super) fn check_source(
    settings: &Settings,
    model: &ModelFamily,
    network: &dyn NetworkSpec,
    times: Times,
) -> Result<(), SettingsError> {
    if settings.origin("source") != Origin::Flag || !is_source_idle(network, times) {
        return Ok(());
    }
    let what = phrase![
        ["source"],
        " has no meaning with tasks or guests and ",
        ["network" => model.component.name],
        ", whose interfaces keep any number of messages"
    ];
    Err(settings.error("source", ErrorKind::Meaningless, what, "leave it out"))
}

/// The effect of pairs of nodes that cannot reach each other: a warning, or an error where `waits` would wait for ever.
fn foreseen(settings: &Settings, network: &dyn NetworkSpec, waits: Option<&str>) -> Result<Vec<Phrase>, SettingsError> {
    let Some(lost) = network.unreachable() else { return Ok(Vec::new()) };
    match waits {
        Some(who) => {
            let what = phrase![lost.what(), ", and {who} would wait for ever"];
            Err(settings.placed(lost.setting().unwrap_or("network"), lost.saying(what)))
        }
        None => Ok(vec![phrase![lost.what(), "; their messages are dropped"]]),
    }
}

/// Whether a switch without a default is on.
fn is_on(settings: &Settings, key: &'static str) -> Result<bool, SettingsError> {
    Ok(settings.is_set(key) && settings.choice(key, &[("true", true), ("false", false)])?)
}

/// What slow-downs of messages are measured against.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ideal {
    /// The time of the message alone in the same network.
    Alone,
    /// The formula of HPCC.
    Hpcc,
}

/// What slow-downs of messages are measured against.
fn ideal(settings: &Settings, network: &dyn NetworkSpec) -> Result<Ideal, SettingsError> {
    let ideal = settings.choice("ideal", &[("alone", Ideal::Alone), ("hpcc", Ideal::Hpcc)])?;
    if ideal == Ideal::Hpcc && is_on(settings, "message-stats")? && network.hpcc_ideal().is_none() {
        let what = phrase![["ideal" => "hpcc"], " is the time of an acknowledged message on a shortest path of links that do not fail"];
        let remedy = phrase!["use ", ["network" => "ethernet:forwarding=static,transport=window,completion=acked"], ", or ", ["ideal" => "alone"]];
        return Err(settings.error("ideal", ErrorKind::Conflict, what, remedy));
    }
    Ok(ideal)
}

/// \[bytes\] The greatest sizes of the classes of messages but the last.
fn size_classes(settings: &Settings) -> Result<Vec<u64>, SettingsError> {
    let word = settings.word("size-classes");
    if word == "decades" {
        return Ok((2..20).map(|power| 10_u64.pow(power)).collect());
    }
    let sizes: Option<Vec<u64>> = word.split(':').map(trgen::synthetic::flows::bytes).collect();
    sizes.filter(|sizes| sizes.is_sorted_by(|one, next| one < next)).ok_or_else(|| {
        let what = phrase![["size-classes"], (" takes ascending sizes, not `{word}`")];
        let remedy = phrase!["write ", ["size-classes" => "10kB:100kB:1MB"], ", or ", ["size-classes" => "decades"]];
        settings.error("size-classes", ErrorKind::Malformed, what, remedy)
    })
}

/// True if a node generates nothing while its interface is full.
fn throttled(settings: &Settings) -> Result<bool, SettingsError> {
    settings.choice("source", &[("open", false), ("throttled", true)])
}
