//! From settings to a checked experiment.

use std::path::{Path, PathBuf};

use trgen::catalog::Refusal;
use trgen::synthetic::source::{Config, Mode};
use trgen::trace::collectives::Choice;
use trgen::trace::formats::{ComputeUnit, ReadOptions};
use trgen::trace::goal::hosts::HostParams;
use trgen::trace::jobs::{Allocation, Scheduler};
use trgen::trace::placement;
use trgen::trace::replay::{Pace, Protocol};
use trgen::{Cycle, Picoseconds};

use super::conflicts::{BATCH, ENDING, GRAPHS, IDEAL, JOBS, SYNTHETIC, TASKS, TRACE, Times, conflicts, task_key};
use super::hosts::{eager, hosts, network, tasks_per_node};
use super::jobs::{JobFile, read_jobs};
use super::keys::{Heading, KEYS, Key, Kind};
use super::quantity::rate;
use super::router::{lost_pairs, one_way, router};
use super::settings::{Origin, Settings, SettingsError, toml_value};
use crate::engine::fast::MAX_THREADS;
use crate::router::{RouterParams, SourceQueue};
use crate::run::BatchPlan;
use crate::topology::{self, Faults};

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
        let spec = topology_spec(&settings);
        let topology = topology::parse(&spec, ways).map_err(|refusal| {
            let key = if refusal.remedy().contains("--ways") { "ways" } else { "topology" };
            settings.refused(key, &refusal)
        })?;
        let router = router(&settings)?;
        let faults = if settings.is_set("faults") { settings.integer("faults")? } else { 0 };
        let faults = Faults { count: faults, one_way: one_way(&settings, faults)?, seed: router.seed };
        let topology = match faults.count {
            0 => topology,
            _ => topology::parse_with_faults(&spec, ways, &faults)
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
                Kind::Path => absolute(Path::new(&value)).display().to_string(),
                _ if key.name == "traffic" => {
                    let folder = folder_of(&self.settings, "traffic");
                    trgen::synthetic::traffic::with_files(&value, |name| absolute(&folder.join(name)))
                }
                _ if key.name == "topology" => match topology::file(&self.topology) {
                    Some(path) => topology::with_file(&self.topology, &absolute(path)),
                    None => value,
                },
                _ if key.name == "placement" => {
                    match placement::file(&value, &folder_of(&self.settings, "placement")) {
                        Some(path) => placement::with_file(&value, &absolute(&path)),
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

/// A path as seen from anywhere.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// The topology; a file as seen from the working directory.
fn topology_spec(settings: &Settings) -> String {
    let spec = settings.word("topology");
    let file = topology::file(spec).map(|path| folder_of(settings, "topology").join(path));
    file.map_or_else(|| spec.to_owned(), |path| topology::with_file(spec, &path))
}

/// The placement of tasks; a file as seen from the working directory.
fn placement_of(settings: &Settings) -> String {
    let value = settings.word("placement");
    let file = placement::file(value, &folder_of(settings, "placement"));
    file.map_or_else(|| value.to_owned(), |path| placement::with_file(value, &path))
}

/// The folder that paths in a topology, pattern or placement start from: that of the experiment file if it stands in one.
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
