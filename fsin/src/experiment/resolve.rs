//! From settings to a checked experiment.

use std::path::PathBuf;

use trgen::catalog::Refusal;
use trgen::synthetic::expr::Expr;
use trgen::synthetic::source::{Config, Mode};
use trgen::trace::collectives::Choice;
use trgen::trace::formats::{ComputeUnit, ReadOptions};
use trgen::trace::goal::hosts::HostParams;
use trgen::trace::jobs::{Allocation, Scheduler};
use trgen::trace::placement;
use trgen::trace::replay::{Pace, Protocol};
use trgen::{Cycle, Picoseconds};

use super::hosts::{eager, hosts, network, tasks_per_node};
use super::jobs::{JobFile, read_jobs};
use super::keys::{Heading, KEYS, Key, Kind};
use super::quantity::rate;
use super::settings::{Origin, Settings, SettingsError, toml_value};
use crate::engine::fast::MAX_THREADS;
use crate::router::detours::Detours;
use crate::router::{Arbitration, Consumption, Inject, Injection, RouterParams, SourceQueue};
use crate::router::{GlobalCc, Timeouts};
use crate::routing::{Order, Routing};
use crate::run::BatchPlan;
use crate::topology::{self, Faults, Topology};

/// What drives the network.
#[derive(Clone, PartialEq, Debug)]
pub enum Traffic {
    /// Synthetic sources.
    Synthetic(Config),
    /// Tasks of a trace.
    Trace {
        /// Where the trace is.
        path: PathBuf,
        /// How to read it.
        options: ReadOptions,
        /// What nodes without a task send; `None` for nothing.
        beside: Option<Config>,
    },
    /// Tasks of an application kernel.
    Kernel {
        /// Its name and parameters.
        spec: String,
        /// What nodes without a task send; `None` for nothing.
        beside: Option<Config>,
    },
    /// Applications that arrive one after another.
    Jobs {
        /// The jobs.
        file: JobFile,
        /// How to read their traces.
        options: ReadOptions,
        /// Which of them starts next.
        scheduler: Scheduler,
        /// On which nodes.
        allocation: Allocation,
    },
}

/// How long to run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum RunPlan {
    /// Warm up, wait for a steady state, measure in batches.
    Batch(BatchPlan),
    /// \[cycles\] Measure all of so many.
    Fixed(u64),
    /// To the end of the traffic, at most up to this cycle.
    ToEnd(Cycle),
}

/// What simulates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EngineKind {
    /// Packet by packet: the same results, much sooner.
    Fast,
    /// Phit by phit: the definition.
    Reference,
}

/// A complete, checked experiment.
#[derive(Clone, PartialEq, Debug)]
pub struct Experiment {
    /// Specification of the topology; parses.
    pub topology: String,
    /// Ways of each dimension.
    pub ways: usize,
    /// Links that are dead.
    pub faults: Faults,
    /// The router.
    pub router: RouterParams,
    /// What drives it.
    pub traffic: Traffic,
    /// Placement of tasks, for traces and kernels.
    pub placement: String,
    /// How long things take, for traces and kernels.
    pub pace: Pace,
    /// \[s\] Of one cycle.
    pub cycle_seconds: f64,
    /// Hosts of graphs.
    pub hosts: HostParams,
    /// \[ns\] L of the ideal network that takes the place of the router, if one does; its G stands in `hosts`.
    pub ideal_latency: Option<u64>,
    /// How messages of programs are sent.
    pub protocol: Protocol,
    /// Tasks that share a node.
    pub tasks_per_node: usize,
    /// How long to run.
    pub plan: RunPlan,
    /// True if meeting the limit of cycles is a failure.
    pub strict: bool,
    /// What simulates.
    pub engine: EngineKind,
    /// \[threads\] That simulate; results do not depend on it.
    pub threads: usize,
    /// True if results keep what each link carried.
    pub link_loads: bool,
    times: Times,
    /// Warnings that are known before the run.
    pub foreseen: Vec<String>,
    /// False where the topology has ways of its own.
    has_ways: bool,
    settings: Settings,
}

/// What kind of times the traffic has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Times {
    /// Those of a process that goes on for ever.
    Steady,
    /// Those of shots, which end.
    Shots,
    /// Those of an application alone.
    Application,
    /// Those of an application, with traffic beside it.
    Beside,
}

impl Times {
    fn of(settings: &Settings, tasks: bool) -> Self {
        // A word that cannot be read is refused where it is built.
        let process = Expr::parse(settings.word("temporal")).map_or_else(|_| String::new(), |expr| expr.name);
        match (tasks, process.as_str()) {
            (false, _) if settings.is_set("shot") => Self::Shots,
            (false, "shot") => Self::Shots,
            (false, _) => Self::Steady,
            (true, "background") => Self::Beside,
            (true, _) => Self::Application,
        }
    }
}

/// Keys that hold for some traffic or run control only.
const SYNTHETIC: &[&str] = &["traffic", "temporal", "size", "load"];
const BATCH: &[&str] =
    &["warmup", "conv-period", "conv-threshold", "max-conv-time", "samples", "sample-size", "min-batch-packets"];
const TASKS: &[&str] = &["eager", "tasks-per-node", "placement", "bandwidth"];
/// Keys of runs that end by themselves.
const ENDING: &[&str] = &["max-cycles", "strict"];
const TRACE: &[&str] = &["compute", "flop-rate", "trace-unit", "recv-order", "collectives", "network", "hosts"];
/// Keys that act where several applications run.
const JOBS: &[&str] = &["scheduler", "allocation"];
/// Keys of graphs, which no job can be.
const GRAPHS: &[&str] = &["network", "hosts"];
/// Keys that act where an ideal network takes the place of the router.
const IDEAL: &[&str] = &["trace", "network", "hosts", "compute", "flop-rate", "trace-unit", "recv-order"];

/// \[phits/node/cycle\] Largest load: the longest message that a size law knows, in every cycle.
const MAX_LOAD: f64 = (1u32 << 24) as f64;

/// Largest cycle counts: sums of several still fit 64 bits.
const MAX_CYCLES: u64 = 1 << 60;

impl Experiment {
    /// Checks settings and builds the experiment that they mean.
    ///
    /// # Errors
    /// The first setting that cannot be used, with its place and the remedy.
    pub fn resolve(settings: Settings) -> Result<Self, SettingsError> {
        let tasks = task_key(&settings)?;
        let times = Times::of(&settings, tasks.is_some());
        conflicts(&settings, tasks, times)?;
        let ways = settings.integer("ways")?;
        if !(1..=2).contains(&ways) {
            return Err(settings.error("ways", format!("--ways {ways} is out of range"), "use 1 or 2"));
        }
        let topology = topology::parse(settings.word("topology"), ways).map_err(|refusal| {
            let key = if refusal.remedy().contains("--ways") { "ways" } else { "topology" };
            settings.refused(key, &refusal)
        })?;
        let router = router(&settings)?;
        let faults = if settings.is_set("faults") { settings.integer("faults")? } else { 0 };
        let faults = Faults { count: faults, one_way: one_way(&settings, faults)?, seed: router.seed };
        let topology = match faults.count {
            0 => topology,
            _ => topology::parse_with_faults(settings.word("topology"), ways, &faults)
                .map_err(|refusal| settings.error("faults", refusal.to_string(), refusal.remedy()))?,
        };
        if settings.is_set("ways") && topology.ways() != ways {
            let what =
                format!("--ways {ways}: every dimension of {} has links of {} way", topology.spec(), topology.ways());
            return Err(settings.error("ways", what, "leave it out"));
        }
        if !router.routing.uses_bubble() && settings.is_set("bubble") && settings.origin("bubble") == Origin::Flag {
            let what = format!("--bubble has no meaning with --routing {}, which needs none", router.routing.name());
            return Err(settings.error("bubble", what, "leave it out"));
        }
        router.check(&*topology).map_err(|refusal| {
            // The refusal names the flags that it is about: the place is that of the first one which somebody set.
            let what = refusal.to_string();
            let about = format!("{what} {}", refusal.remedy());
            let mut flags = about.split_whitespace().filter_map(|word| word.strip_prefix("--"));
            let key = flags.find(|flag| settings.is_set(flag)).unwrap_or("topology");
            let what = if what.contains("--") { what } else { format!("--{key}: {what}") };
            settings.error(key, what, refusal.remedy())
        })?;
        let waits = match (tasks, times) {
            (Some(_), _) => Some("tasks"),
            (None, Times::Shots) => Some("shots"),
            (None, _) => None,
        };
        let foreseen = lost_pairs(&settings, &*topology, &router, waits)?;
        let bandwidth = settings.word("bandwidth");
        let bits_per_second = rate(bandwidth, "b").ok_or_else(|| {
            let what = format!("--bandwidth takes a rate in bits per second, not `{bandwidth}`");
            settings.error("bandwidth", what, "write --bandwidth 10Gb/s (prefixes k, M, G, T)")
        })?;
        let cycle_seconds = f64::from(router.phit_bytes) * 8.0 / bits_per_second;
        let pace = pace(&settings, cycle_seconds)?;
        let synthetic = || synthetic(&settings, topology.geometry().clone(), &router);
        let beside = || if times == Times::Beside { synthetic().map(Some) } else { Ok(None) };
        let traffic = match tasks {
            None => Traffic::Synthetic(synthetic()?),
            Some("trace") => Traffic::Trace {
                path: settings.word("trace").into(),
                options: read_options(&settings, pace)?,
                beside: beside()?,
            },
            Some("job-mix") => Traffic::Jobs {
                file: read_jobs(&settings)?,
                options: read_options(&settings, pace)?,
                scheduler: settings.word("scheduler").parse().map_err(|error| settings.refused("scheduler", &error))?,
                allocation: settings
                    .word("allocation")
                    .parse()
                    .map_err(|error| settings.refused("allocation", &error))?,
            },
            Some(_) => Traffic::Kernel { spec: settings.word("kernel").to_owned(), beside: beside()? },
        };
        let plan = plan(&settings, tasks.is_some() || times == Times::Shots)?;
        let (mut hosts, tasks_per_node) = (hosts(&settings)?, tasks_per_node(&settings)?);
        let ideal = network(&settings)?;
        if let Some((_, gap_per_byte)) = ideal {
            hosts.gap_per_byte = gap_per_byte;
            let useless = |key: &&Key| settings.origin(key.name) == Origin::Flag && !IDEAL.contains(&key.name);
            if let Some(key) = KEYS.iter().find(useless) {
                let what = format!("--{} has no meaning with --network ideal", key.name);
                return Err(settings.error(key.name, what, "leave it out: an ideal network has L and G only"));
            }
        }
        let engine = settings.choice("engine", &[("fast", EngineKind::Fast), ("reference", EngineKind::Reference)])?;
        let threads: usize = settings.integer("threads")?;
        if !(1..=MAX_THREADS).contains(&threads) {
            let what = format!("--threads {threads} is out of range");
            return Err(settings.error("threads", what, format!("use 1 to {MAX_THREADS}")));
        }
        if threads > 1 && engine == EngineKind::Reference {
            let what = format!("--threads {threads}: the reference engine runs on one thread");
            return Err(settings.error("threads", what, "use --threads 1, or --engine fast"));
        }
        Ok(Self {
            topology: topology.spec(),
            ways,
            faults,
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
            has_ways: topology.ways() == ways,
            settings,
        })
    }

    /// Every setting that has a part in this experiment, in the order of the key table.
    #[must_use]
    pub fn effective(&self) -> Vec<(&'static Key, String)> {
        let tasks = !matches!(self.traffic, Traffic::Synthetic(_));
        let trace = matches!(self.traffic, Traffic::Trace { .. });
        let jobs = matches!(self.traffic, Traffic::Jobs { .. });
        let batch = matches!(self.plan, RunPlan::Batch(_));
        self.settings.effective(|key| match key.name {
            "ways" => self.has_ways,
            "trace" => trace,
            "kernel" => matches!(self.traffic, Traffic::Kernel { .. }),
            "job-mix" => jobs,
            name if JOBS.contains(&name) => jobs,
            "cycles" => matches!(self.plan, RunPlan::Fixed(_)),
            "shot" => self.times == Times::Shots,
            "temporal" if self.times == Times::Shots => !self.settings.is_set("shot"),
            "load" => self.times == Times::Steady,
            "samples" => batch || self.times == Times::Shots,
            // Not to keep them is what is done without the key.
            "link-loads" => self.link_loads,
            name if SYNTHETIC.contains(&name) => self.times != Times::Application,
            name if BATCH.contains(&name) => batch,
            name if TASKS.contains(&name) => tasks,
            name if ENDING.contains(&name) => matches!(self.plan, RunPlan::ToEnd(_)),
            name if TRACE.contains(&name) => trace || jobs && !GRAPHS.contains(&name),
            _ => true,
        })
    }

    /// The complete experiment as a file that runs it again.
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
            // A path is written as seen from anywhere.
            let value = match key.kind {
                Kind::Path => std::path::absolute(&value).map_or(value, |path| path.display().to_string()),
                _ if key.name == "traffic" => {
                    let folder = folder_of(&self.settings, "traffic");
                    trgen::synthetic::traffic::with_absolute_files(&value, &folder).unwrap_or(value)
                }
                _ if key.name == "placement" => {
                    match placement::file(&value, &folder_of(&self.settings, "placement")) {
                        Some(path) => placement::with_file(&value, &std::path::absolute(&path).unwrap_or(path)),
                        None => value,
                    }
                }
                _ => value,
            };
            text.push_str(&format!("{} = {}\n", key.name, toml_value(key, &value)));
        }
        text
    }

    /// The settings that the experiment was made of.
    #[must_use]
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }
}

/// Which of `trace`, `kernel` and `job-mix` drives the network, if any; a flag overrides a file.
fn task_key(settings: &Settings) -> Result<Option<&'static str>, SettingsError> {
    let set: Vec<&'static str> =
        ["trace", "kernel", "job-mix"].into_iter().filter(|key| settings.is_set(key)).collect();
    let by_flag: Vec<&'static str> = set.iter().copied().filter(|key| settings.origin(key) == Origin::Flag).collect();
    match (&*set, &*by_flag) {
        ([], _) => Ok(None),
        ([key], _) | (_, [key]) => Ok(Some(*key)),
        ([one, other, ..], []) | (_, [one, other, ..]) => {
            Err(settings.error(other, format!("--{one} and --{other} exclude each other"), "give one of them"))
        }
    }
}

/// Refuses flags that would have no effect.
fn conflicts(settings: &Settings, tasks: Option<&'static str>, times: Times) -> Result<(), SettingsError> {
    let given = |keys: &[&'static str]| {
        keys.iter().copied().find(|&key| settings.is_set(key) && settings.origin(key) == Origin::Flag)
    };
    let useless =
        |key: &str, why: &str, remedy: &str| Err(settings.error(key, format!("--{key} has no meaning {why}"), remedy));
    if tasks != Some("job-mix")
        && let Some(key) = given(JOBS)
    {
        return useless(key, "without --job-mix", "leave it out, or give --job-mix");
    }
    if let Some(tasks) = tasks {
        if tasks == "job-mix" {
            if times == Times::Beside {
                let what = "`background` is traffic beside one application, and --job-mix runs several";
                return Err(settings.error("temporal", what, "leave it out"));
            }
            if let Some(key) = given(GRAPHS) {
                return useless(key, "with --job-mix, whose applications are no graphs", "leave it out");
            }
        }
        let synthetic: &[&str] = if times == Times::Beside { &["load", "shot"] } else { SYNTHETIC };
        if let Some(key) = given(synthetic).or_else(|| given(&["shot"])).or_else(|| given(BATCH)) {
            if matches!(key, "traffic" | "size") {
                let why = format!("with --{tasks}, whose tasks say what is sent");
                return useless(key, &why, "leave it out, or add --temporal background(LOAD) for nodes without a task");
            }
            return useless(
                key,
                &format!("with --{tasks}"),
                "leave it out: a trace, kernel or job sets its own pace and end",
            );
        }
        if let Some(key) = given(&["cycles"]) {
            return useless(key, &format!("with --{tasks}, which runs to its end"), "use --max-cycles for a limit");
        }
        if tasks == "kernel"
            && let Some(key) = given(TRACE)
        {
            return useless(key, "with --kernel", "leave it out");
        }
        return Ok(());
    }
    if let Some(key) = given(TASKS).or_else(|| given(TRACE)) {
        return useless(key, "with synthetic traffic", "leave it out, or give --trace or --kernel");
    }
    if times == Times::Shots {
        if settings.is_set("shot") && given(&["temporal"]).is_some() {
            return useless("temporal", "with --shot, which is a temporal process", "leave out one of them");
        }
        if let Some(key) = given(&["load"]) {
            return useless(key, "with shots, which go at full speed", "leave it out");
        }
        if let Some(key) = given(&["cycles"]) {
            return useless(key, "with shots, which run to their end", "use --samples for their number");
        }
        let batch: Vec<&'static str> = BATCH.iter().copied().filter(|&key| key != "samples").collect();
        if let Some(key) = given(&batch) {
            return useless(key, "with shots, all of which are measured", "leave it out");
        }
        return Ok(());
    }
    if let Some(key) = given(ENDING) {
        return useless(key, "with traffic that goes on for ever", "use --cycles for a fixed run");
    }
    if settings.is_set("cycles")
        && let Some(key) = given(BATCH)
    {
        return useless(key, "with --cycles, which measures every cycle", "leave out one of them");
    }
    Ok(())
}

fn router(settings: &Settings) -> Result<RouterParams, SettingsError> {
    let routing = settings.word("routing");
    Ok(RouterParams {
        routing: Routing::parse(routing).map_err(|refusal| settings.refused("routing", &refusal))?,
        order: settings.choice("order", &[("dim", Order::Dimension), ("dir", Order::Direction)])?,
        vcs: settings.integer("vcs")?,
        packet_phits: settings.integer("packet")?,
        phit_bytes: settings.integer("phit-bytes")?,
        queue_packets: settings.integer("queue")?,
        injection_queue_packets: settings.integer("injection-queue")?,
        injectors: settings.integer("injectors")?,
        injection: settings.choice("injection", &Injection::ALL)?,
        arbitration: settings.choice("arbitration", &Arbitration::ALL)?,
        inject: settings.choice("inject", &[("parallel", Inject::Parallel), ("serial", Inject::Serial)])?,
        consumption: settings
            .choice("consumption", &[("multiple", Consumption::Multiple), ("single", Consumption::Single)])?,
        bubble: settings.integer("bubble")?,
        lbr: settings.integer("lbr")?,
        in_transit_priority: settings.number("in-transit-priority")?,
        global_cc: global_cc(settings)?,
        timeouts: timeouts(settings)?,
        link_delays: link_delays(settings)?,
        router_delay: if settings.is_set("router-delay") { settings.integer("router-delay")? } else { 0 },
        alternatives: if settings.is_set("alternatives") { settings.integer("alternatives")? } else { 0 },
        source_queue: settings
            .choice("source", &[("throttled", SourceQueue::Throttled), ("open", SourceQueue::Open)])?,
        seed: settings.integer("seed")?,
        watchdog_cycles: settings.integer("watchdog")?,
    })
}

/// Whether dead links are dead one way only.
fn one_way(settings: &Settings, faults: usize) -> Result<bool, SettingsError> {
    if !settings.is_set("fault-ways") {
        return Ok(false);
    }
    if faults == 0 {
        return Err(settings.error("fault-ways", "--fault-ways has no meaning without --faults", "leave it out"));
    }
    settings.choice("fault-ways", &[("1", true), ("2", false)])
}

fn global_cc(settings: &Settings) -> Result<Option<GlobalCc>, SettingsError> {
    let period = if settings.is_set("global-cc-period") { settings.integer("global-cc-period")? } else { 0 };
    if settings.is_set("global-cc") {
        return Ok(Some(GlobalCc { percent: settings.number("global-cc")?, period }));
    }
    if settings.is_set("global-cc-period") {
        let what = "--global-cc-period has no meaning without --global-cc";
        return Err(settings.error("global-cc-period", what, "leave it out"));
    }
    Ok(None)
}

fn timeouts(settings: &Settings) -> Result<Option<Timeouts>, SettingsError> {
    if !settings.is_set("timeout-upper") {
        if settings.is_set("timeout-lower") {
            let what = "--timeout-lower has no meaning without --timeout-upper";
            return Err(settings.error("timeout-lower", what, "set both"));
        }
        return Ok(None);
    }
    let upper: u64 = settings.integer("timeout-upper")?;
    let lower = if settings.is_set("timeout-lower") {
        settings.integer("timeout-lower")?
    } else {
        upper / 4 * 3 + upper % 4 * 3 / 4
    };
    Ok(Some(Timeouts { upper, lower }))
}

fn link_delays(settings: &Settings) -> Result<Vec<u32>, SettingsError> {
    if !settings.is_set("link-delay") {
        return Ok(Vec::new());
    }
    let word = settings.word("link-delay");
    let delays: Result<Vec<u32>, _> = word.split(':').map(str::parse).collect();
    delays.map_err(|_| {
        let what = format!("--link-delay takes cycles, not `{word}`");
        settings.error("link-delay", what, "write --link-delay 4, or one for each dimension: --link-delay 1:1:8")
    })
}

/// What dead links mean for this traffic: pairs of nodes that cannot reach each other are said, or refused where somebody
/// would wait for ever.
fn lost_pairs(
    settings: &Settings,
    topology: &dyn Topology,
    router: &RouterParams,
    waits: Option<&str>,
) -> Result<Vec<String>, SettingsError> {
    let Some(detours) = Detours::new(router, topology) else { return Ok(Vec::new()) };
    let lost = detours.lost(topology, 4);
    let what =
        format!("--faults {}: with --routing {} no route is left for {lost}", topology.faults(), router.routing.name());
    match waits {
        _ if lost.count == 0 => Ok(Vec::new()),
        Some(who) => {
            let remedy = "use fewer faults, another --seed, or an adaptive routing";
            Err(settings.error("faults", format!("{what}, and {who} would wait for ever"), remedy))
        }
        None => Ok(vec![format!("{what}; their messages are dropped")]),
    }
}

fn synthetic(settings: &Settings, geometry: trgen::Geometry, router: &RouterParams) -> Result<Config, SettingsError> {
    let load = settings.number("load")?;
    if !(0.0..=MAX_LOAD).contains(&load) {
        let what = format!("--load {} is out of range", settings.word("load"));
        return Err(settings.error("load", what, format!("use 0 to {MAX_LOAD} phits/node/cycle")));
    }
    let shots: u64 = settings.integer("samples")?;
    if shots == 0 {
        return Err(settings.error("samples", "--samples 0 is out of range", "use 1 to 2^60"));
    }
    let process = if settings.is_set("shot") {
        format!("shot({})", settings.integer::<u64>("shot")?)
    } else {
        settings.word("temporal").to_owned()
    };
    let folder = folder_of(settings, "traffic");
    Ok(Config {
        geometry,
        pattern: settings.word("traffic").to_owned(),
        process,
        shots,
        folder,
        size: settings.word("size").to_owned(),
        load,
        packet_phits: router.packet_phits,
        phit_bytes: router.phit_bytes,
        mode: match router.source_queue {
            SourceQueue::Throttled => Mode::Throttled,
            SourceQueue::Open => Mode::Open,
        },
        seed: router.seed,
    })
}

/// The placement of tasks; a file as seen from the working directory.
fn placement_of(settings: &Settings) -> String {
    let value = settings.word("placement");
    let file = placement::file(value, &folder_of(settings, "placement"));
    file.map_or_else(|| value.to_owned(), |path| placement::with_file(value, &path))
}

/// The folder that paths in a pattern or placement start from: that of the experiment file if it stands in one.
fn folder_of(settings: &Settings, key: &str) -> PathBuf {
    match settings.origin(key) {
        Origin::File { path, .. } => path.parent().map(Into::into).unwrap_or_default(),
        Origin::Default | Origin::Environment | Origin::Flag => PathBuf::new(),
    }
}

fn pace(settings: &Settings, cycle_seconds: f64) -> Result<Pace, SettingsError> {
    let cycle = Picoseconds::from_seconds(cycle_seconds).filter(|cycle| cycle.0 > 0).ok_or_else(|| {
        let what = format!("at --bandwidth {} a phit takes {cycle_seconds:e} s", settings.word("bandwidth"));
        settings.error("bandwidth", what, "use a rate at which a phit takes 1 ps to 100 days")
    })?;
    let compute_scale = settings.number("compute")?;
    if !(0.0..=1e6).contains(&compute_scale) {
        let what = format!("--compute {compute_scale} is out of range");
        return Err(settings.error("compute", what, "use 0 (no computing) to 1000000; 1 keeps the trace's times"));
    }
    Ok(Pace { cycle, compute_scale })
}

fn read_options(settings: &Settings, pace: Pace) -> Result<ReadOptions, SettingsError> {
    let flop_rate = settings.word("flop-rate");
    let flop_rate = rate(flop_rate, "flop").ok_or_else(|| {
        let what = format!("--flop-rate takes a rate in operations per second, not `{flop_rate}`");
        settings.error("flop-rate", what, "write --flop-rate 5Gflop/s (prefixes k, M, G, T)")
    })?;
    let units = [
        ("ns", ComputeUnit::Nanoseconds),
        ("us", ComputeUnit::Microseconds),
        ("ms", ComputeUnit::Milliseconds),
        ("cycles", ComputeUnit::Cycles(pace.cycle)),
    ];
    let recv_order = settings.word("recv-order").parse();
    Ok(ReadOptions {
        flop_rate,
        compute_unit: settings.choice("trace-unit", &units)?,
        recv_order: recv_order.map_err(|refusal: Refusal| settings.refused("recv-order", &refusal))?,
        collectives: match settings.is_set("collectives") {
            true => {
                settings.word("collectives").parse().map_err(|refusal| settings.refused("collectives", &refusal))?
            }
            false => Choice::default(),
        },
        ..ReadOptions::default()
    })
}

fn plan(settings: &Settings, ends: bool) -> Result<RunPlan, SettingsError> {
    let cycles = |name: &'static str, least: u64| {
        let value: u64 = settings.integer(name)?;
        if (least..=MAX_CYCLES).contains(&value) {
            return Ok(value);
        }
        Err(settings.error(name, format!("--{name} {value} is out of range"), format!("use {least} to 2^60")))
    };
    if ends {
        let limit = if settings.is_set("max-cycles") { Cycle::FIRST + cycles("max-cycles", 1)? } else { Cycle::NEVER };
        return Ok(RunPlan::ToEnd(limit));
    }
    if settings.is_set("cycles") {
        return Ok(RunPlan::Fixed(cycles("cycles", 1)?));
    }
    let conv_threshold = settings.number("conv-threshold")?;
    if conv_threshold < 0.0 {
        let what = format!("--conv-threshold {conv_threshold} is negative");
        return Err(settings.error("conv-threshold", what, "use a share such as 0.05"));
    }
    let plan = BatchPlan {
        warmup: cycles("warmup", 0)?,
        conv_period: cycles("conv-period", 1)?,
        conv_threshold,
        max_conv_time: cycles("max-conv-time", 0)?,
        samples: cycles("samples", 1)?,
        sample_size: cycles("sample-size", 1)?,
        min_batch_packets: settings.integer("min-batch-packets")?,
    };
    if plan.samples.saturating_mul(plan.sample_size) > MAX_CYCLES {
        let what = format!("--samples {} of {} cycles each are more than 2^60 cycles", plan.samples, plan.sample_size);
        return Err(settings.error("samples", what, "use fewer or shorter samples"));
    }
    Ok(RunPlan::Batch(plan))
}
