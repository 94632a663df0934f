//! An experiment from its settings, one call for each.

use std::path::Path;

use super::{Options, Performed};
use crate::file::{NO_FILE, read_file, read_text};
use crate::resolve::Experiment;
use crate::result::RunResult;
use crate::settings::{Origin, Settings, SettingsError};
use crate::trouble::Trouble;

/// The settings of an experiment: the keys of the `fsin` command, with its defaults, checks and errors.
///
/// A later call overrides an earlier one. The first setting that cannot be used is reported by [`build`](Self::build) or
/// [`run`](Self::run). The environment is not read. Clones are independent, so that one builder can be the base of many
/// experiments.
///
/// ```
/// # use fsin_experiment::Experiment;
/// let base = Experiment::builder().topology("torus:4x4").cycles(2000);
/// for load in [0.1, 0.2] {
///     let result = base.clone().load(load).run()?;
///     assert!((result.accepted_load_phits_per_node_cycle.unwrap() - load).abs() < 0.05);
/// }
/// # Ok::<(), fsin_experiment::Trouble>(())
/// ```
#[derive(Clone, Default, Debug)]
#[must_use = "a builder does nothing until `run` or `build`"]
pub struct Builder {
    settings: Settings,
    /// The first setting that cannot be used.
    refused: Option<SettingsError>,
}

/// Methods of keys, by the kind of their values.
macro_rules! methods {
    ($($(#[$about:meta])* $name:ident: $kind:ident = $key:literal;)+) => {
        impl Builder {
            $(
                $(#[$about])*
                #[doc = concat!("\n\nThe key `", $key, "`.")]
                pub fn $name(self, value: methods!(@type $kind)) -> Self {
                    self.set($key, methods!(@word $kind value))
                }
            )+
        }

        /// The keys that have a method, each with the kind of its value.
        #[cfg(test)]
        const METHODS: &[(&str, crate::keys::Kind)] = &[$(($key, crate::keys::Kind::$kind)),+];
    };
    (@type Word) => { impl Into<String> };
    (@type Path) => { impl AsRef<Path> };
    (@type Integer) => { u64 };
    (@type Number) => { f64 };
    (@type Switch) => { bool };
    (@word Word $value:ident) => { $value.into() };
    (@word Path $value:ident) => { $value.as_ref().display() };
    (@word $kind:ident $value:ident) => { $value };
}

methods! {
    /// The network model, and its settings: `wormhole`, `constant-delay:delay=1us`.
    network: Word = "network";
    /// Shape and sizes: `torus:16x16`, `dragonfly:2x4x2`.
    topology: Word = "topology";
    /// Directions of the links of each dimension: 1 or 2.
    ways: Integer = "ways";
    /// Number of dead links.
    faults: Integer = "faults";
    /// The routing: that of the topology if absent.
    routing: Word = "routing";
    /// Virtual channels of each link.
    vcs: Integer = "vcs";
    /// \[phits\] Length of a packet.
    packet: Integer = "packet";
    /// \[bytes\] Payload of a phit.
    phit_bytes: Integer = "phit-bytes";
    /// What a full source buffer does: `open`, or `throttled`.
    source: Word = "source";
    /// Destinations of messages: `uniform`, `transpose`, `hotspot(0.1,0)`.
    traffic: Word = "traffic";
    /// When messages are generated: `bernoulli`, `cburst(8)`.
    temporal: Word = "temporal";
    /// \[messages\] Bursts: every node sends so many, and again when all have arrived.
    shot: Integer = "shot";
    /// Sizes of messages: `constant`, `uniform(4,64)`.
    size: Word = "size";
    /// Offered load, in the unit of the network model: `[phits/node/cycle]` unless the model says otherwise.
    load: Number = "load";
    /// A trace to replay instead of synthetic traffic.
    trace: Path = "trace";
    /// Hosts of a GOAL graph: `o=1500,g=1000`.
    hosts: Word = "hosts";
    /// Groups of ranks of a Chakra trace.
    groups: Path = "groups";
    /// Rate of computations without a recorded duration: `100Tflop/s`.
    peak: Word = "peak";
    /// Rate of the memory of a Chakra trace's ranks: `2TB/s`.
    memory_bandwidth: Word = "memory-bandwidth";
    /// \[bytes\] Largest message of a program that is sent without a rendezvous.
    eager: Integer = "eager";
    /// Tasks that share a node.
    tasks_per_node: Integer = "tasks-per-node";
    /// An application kernel to run instead of synthetic traffic: `all-to-all:tasks=64,bytes=4096`.
    kernel: Word = "kernel";
    /// Several applications that arrive and wait for nodes: a TOML file of jobs.
    job_mix: Path = "job-mix";
    /// The messages of a list, each with its start.
    flows: Path = "flows";
    /// Unit of starts in a list of htsim: `us` or `ps`.
    cm_unit: Word = "cm-unit";
    /// Factor of the demands of the network's file, in place of the load.
    scale: Number = "scale";
    /// Which job that waits starts next: `fcfs`, `first-fit`, `easy`.
    scheduler: Word = "scheduler";
    /// Which free nodes a job gets: `contiguous`, `quasi-contiguous`, `random`.
    allocation: Word = "allocation";
    /// Algorithms of collectives: `allreduce=ring`.
    collectives: Word = "collectives";
    /// Nodes of tasks: `consecutive`, `greedy`, `random`.
    placement: Word = "placement";
    /// Rate of a link, which makes time of cycles: `10Gb/s`.
    bandwidth: Word = "bandwidth";
    /// Factor on computing times of a trace.
    compute: Number = "compute";
    /// Speed of a task, for traces that count operations: `5Gflop/s`.
    flop_rate: Word = "flop-rate";
    /// Factors of the computing times of ranks: `rank:3x1.2`.
    slow: Word = "slow";
    /// Unit of computing times in `.trc` files.
    trace_unit: Word = "trace-unit";
    /// Order of tasks in receive lines of `.trc` files.
    recv_order: Word = "recv-order";
    /// Table of energies of events: `events:chip-32nm`, `booksim`.
    energy: Word = "energy";
    /// \[cycles\] Time before anything is measured.
    warmup: Integer = "warmup";
    /// \[cycles\] Convergence check interval.
    conv_period: Integer = "conv-period";
    /// Change of load and delay, as a share, that counts as steady.
    conv_threshold: Number = "conv-threshold";
    /// \[cycles\] Longest wait for a steady state; 0 does not wait.
    max_conv_time: Integer = "max-conv-time";
    /// Batches to measure, 1 to 100000; with shots, how many of them.
    samples: Integer = "samples";
    /// \[cycles\] Length of each batch.
    sample_size: Integer = "sample-size";
    /// \[packets\] A batch grows until it has received so many.
    min_batch_packets: Integer = "min-batch-packets";
    /// \[cycles\] A run of fixed length: no warm-up, everything is counted.
    cycles: Integer = "cycles";
    /// \[cycles\] Limit of a trace, kernel or shots.
    max_cycles: Integer = "max-cycles";
    /// Whether a run that `max-cycles` ends has failed.
    strict: Switch = "strict";
    /// Whether every iteration of a kernel is simulated, also where they repeat each other exactly.
    no_skip: Switch = "no-skip";
    /// Whether a kernel has no digest, so that iterations that repeat each other cost nothing.
    no_digest: Switch = "no-digest";
    /// \[cycles\] Time without any phit moving that means deadlock.
    watchdog: Integer = "watchdog";
    /// `fast` (packet by packet) or `reference` (phit by phit): the same results.
    engine: Word = "engine";
    /// Threads to simulate with; results do not depend on it.
    threads: Integer = "threads";
    /// Seed of every random draw.
    seed: Integer = "seed";
    /// Keeps the load of each link: `link_packets` of the result.
    link_loads: Switch = "link-loads";
    /// Keeps traffic and latency of each node: `per_node` of the result.
    node_stats: Switch = "node-stats";
    /// Keeps traffic and latency of each pair of nodes: `flows` of the result.
    flow_stats: Switch = "flow-stats";
    /// Keeps the time of each message: `message_*` of the result.
    message_stats: Switch = "message-stats";
    /// What slow-downs of messages are measured against, for [`message_stats`](Self::message_stats): `alone`, or `hpcc`.
    ideal: Word = "ideal";
    /// The classes of messages by size, for [`message_stats`](Self::message_stats): `decades`, or their greatest sizes.
    size_classes: Word = "size-classes";
    /// Keeps the histogram of packet latencies: `latency_histogram` of the result.
    latency_histogram: Switch = "latency-histogram";
}

impl Builder {
    /// Sets any key, such as those of one network model: `set("port-queue", 100)`. The [keys](crate::keys) are those of
    /// `fsin explain`; the value is written as in a flag or a file, without quotes.
    pub fn set(mut self, key: &str, value: impl ToString) -> Self {
        if let Err(error) = self.settings.set(key, value.to_string(), Origin::Flag) {
            self.refused.get_or_insert(error);
        }
        self
    }

    /// Sets the keys of an experiment file. Files within it are relative to its folder.
    pub fn file(mut self, path: impl AsRef<Path>) -> Self {
        if let Err(error) = read_file(path.as_ref(), &mut self.settings) {
            self.refused.get_or_insert(error);
        }
        self
    }

    /// Sets the keys of the text of an experiment file: `key = value` lines, as TOML. Files within it are relative to the
    /// current folder.
    pub fn text(mut self, text: &str) -> Self {
        if let Err(error) = read_text(Path::new(NO_FILE), text, &mut self.settings) {
            self.refused.get_or_insert(error);
        }
        self
    }

    /// The settings so far.
    ///
    /// # Errors
    /// The first that cannot be used: an unknown key, a file that cannot be read.
    pub fn settings(self) -> Result<Settings, SettingsError> {
        self.refused.map_or(Ok(self.settings), Err)
    }

    /// The checked experiment, whose topology is built.
    ///
    /// # Errors
    /// The first setting that cannot be used, with the reason and the remedy.
    pub fn build(self) -> Result<Experiment, SettingsError> {
        Experiment::resolve(self.settings()?)
    }

    /// Builds the experiment and runs it to its end.
    ///
    /// # Errors
    /// As [`build`](Self::build) and [`Experiment::run`].
    pub fn run(self) -> Result<RunResult, Trouble> {
        self.build()?.run()
    }

    /// Builds the experiment and runs it with options.
    ///
    /// # Errors
    /// As [`build`](Self::build) and [`Experiment::run`].
    pub fn run_with(self, options: Options<'_>) -> Result<Performed, Trouble> {
        self.build()?.run_with(options)
    }
}

impl Experiment {
    /// A builder in which every key has its default.
    pub fn builder() -> Builder {
        Builder::default()
    }
}

#[cfg(test)]
mod tests {
    use super::METHODS;
    use crate::keys::{key, keys};
    use crate::models::is_of_models;

    /// The keys of single models are too many, and programs add theirs: they are set by name.
    #[test]
    fn every_key_of_all_experiments_has_a_method() {
        for (name, kind) in METHODS {
            assert_eq!(key(name).map(|key| key.kind), Some(*kind), "{name}");
        }
        let missing = keys().iter().map(|key| key.name).filter(|name| !METHODS.iter().any(|(known, _)| known == name));
        let missing: Vec<&str> = missing.filter(|name| !is_of_models(name)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}
