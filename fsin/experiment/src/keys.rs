//! The table of all settings: flags, keys of experiment files, `FSIN_*` variables and defaults are derived from it.
//!
//! Decision: docs/decisions/0003-one-table-of-keys.md.

use std::sync::LazyLock;

pub use fsin_core::family::{Heading, Is, Key, Kind, Need};
use fsin_core::family::{ModelFamily, PHITS_PER_NODE_CYCLE};
use fsin_models::MODELS;
use trgen::catalog::{ErrorKind, SpecError, suggestion};

/// A key with these properties.
const fn key_of(
    heading: Heading,
    name: &'static str,
    metavar: &'static str,
    kind: Kind,
    default: Option<&'static str>,
    unit: &'static str,
    about: &'static str,
) -> Key {
    Key { name, metavar, kind, default, unit, about, heading, needs: &[], components: &[], table: None, keeps: false }
}

use Heading::{Network, RunControl, Traffic};
use Kind::{Integer, Number, Path, Switch, Word};

/// Settings of the wait for a steady state.
const WAITS: &[Need] = &[Need::not("max-conv-time", "0")];

/// The keys of every experiment; those of network models stand with the models.
#[rustfmt::skip]
const KEYS: &[Key] = &[
    key_of(Network, "network", "MODEL[:key=value,...]", Word, None, "", "network model, and its settings: vct (the default), wormhole, constant-delay:delay=1us, loggops:L=2500,G=6 (for traces); fsin list networks"),
    key_of(Network, "topology", "SPEC", Word, Some("torus:8x8"), "", "shape and sizes: torus:16x16, mesh:8x8x8, twisted:16x8:8; fsin list topologies"),
    key_of(Network, "ways", "1|2", Integer, Some("2"), "", "directions of the links of each dimension"),
    key_of(Network, "fail", "EVENTS|FILE", Word, None, "", "failures of links by name and time, separated by commas or in a file: link:A-B@5us, node:A@1ms, class:NAME#N@0 (N links, drawn by the seed), repair:link:A-B@9us; @0 is dead from the start; none, as one of several values"),
    key_of(Traffic, "source", "open|throttled", Word, Some("open"), "", "what a full source buffer does: messages queue without bound (open loop), or the node generates nothing (throttled; the default of tasks, shots and guests)"),
    key_of(Traffic, "traffic", "PATTERN", Word, Some("uniform"), "", "destinations: transpose, hotspot(0.1,0), A + B, A@1000 then B@500"),
    key_of(Traffic, "temporal", "PROCESS", Word, Some("bernoulli"), "", "when: bernoulli, cburst(8), markov(2,0.01), reactive(0.5,1), shot(10)"),
    key_of(Traffic, "shot", "MESSAGES", Integer, None, "messages", "bursts: every node sends so many, and again when all have arrived"),
    key_of(Traffic, "size", "LAW", Word, Some("constant"), "", "message sizes: constant, uniform(4,64), bimodal(4,64,0.2), ..."),
    key_of(Traffic, "load", "X", Number, Some("0.3"), PHITS_PER_NODE_CYCLE, "offered load; other networks have a unit of their own (fsin explain ethernet)"),
    key_of(Traffic, "scale", "X", Number, None, "", "of the demands of the network's file, with {traffic} demands: a factor in place of {load}"),
    key_of(Traffic, "trace", "FILE", Path, None, "", "replay a trace instead: .trg, .trc, SimGrid TI, GOAL, Chakra, or an archive (.tar.xz) of one"),
    key_of(Traffic, "hosts", "o=..,g=..,O=..,S=..,streams=..", Word, None, "", "hosts of a GOAL graph, and, where one of these is given, of a program or Chakra trace (ns, ns, ns/byte, bytes; streams=true: a calculation holds back its dependents until it ends), absent ones: o=1500,g=1000,O=0,S=65535,streams=false; or ranks of a Chakra trace: deps=all|data, engines=N computations and communications=N sends and collectives at a time, least=TIME of one without duration, group-delay=TIME, algorithm=ring|hierarchical of collectives; absent ones: deps=all,engines=1,communications=1,least=0ns,group-delay=0ns, and hierarchical where nodes of the network have several GPUs"),
    key_of(Traffic, "groups", "FILE", Path, None, "", "groups of ranks that the collectives of a Chakra trace name, as JSON: {\"0\": [0, 1], ...}; those beside or in the trace if absent"),
    key_of(Traffic, "peak", "RATE", Word, None, "", "rate of the computations of a Chakra trace that have no recorded duration: 100Tflop/s"),
    key_of(Traffic, "memory-bandwidth", "RATE", Word, None, "", "rate of the memory of a Chakra trace's ranks, for tensors (with peak) and for adding what collectives combine: 2TB/s"),
    key_of(Traffic, "eager", "BYTES", Integer, None, "bytes", "largest message of a trace or kernel that is sent without a rendezvous; all if absent"),
    key_of(Traffic, "tasks-per-node", "N", Integer, None, "", "tasks of a trace or kernel that share a node; 1 if absent"),
    key_of(Traffic, "kernel", "NAME:key=value,...", Word, None, "", "run an application kernel instead: all-to-all:tasks=64,bytes=4096"),
    key_of(Traffic, "job-mix", "FILE", Path, None, "", "run several applications instead, which arrive and wait for nodes: a TOML file of jobs"),
    key_of(Traffic, "flows", "FILE", Path, None, "", "send the messages of a list instead, each at its start: CSV with src,dst,bytes,start[,class], the list of HPCC and SimAI, or .cm of htsim; FILE,ignore=class takes all as class 0"),
    key_of(Traffic, "cm-unit", "us|ps", Word, None, "", "unit of starts in a .cm of htsim, whose programs differ: us (UEC) or ps (NDP)").needing(&[Need::set("flows")]),
    key_of(Traffic, "scheduler", "NAME", Word, Some("fcfs"), "", "which job that waits starts next: fcfs, first-fit, easy (backfilling)"),
    key_of(Traffic, "allocation", "NAME", Word, Some("contiguous"), "", "which free nodes a job gets: contiguous, quasi-contiguous, random"),
    key_of(Traffic, "collectives", "RULES", Word, None, "", "algorithms of collectives of a trace or kernel: all-reduce=double-tree; of programs of MPI also rules: mpich (by size and ranks; the default) or basic, alone or before the others"),
    key_of(Traffic, "placement", "P", Word, Some("consecutive"), "", "nodes of the tasks of a trace or kernel: consecutive, greedy, optimise, column, diagonal, quadrant, shuffle, shift:S, random, file:F, ..."),
    key_of(Traffic, "bandwidth", "RATE", Word, Some("10Gb/s"), "", "rate of a link, where a file gives it none; a cycle is one phit on the fastest link"),
    key_of(Traffic, "compute", "SCALE", Number, Some("1"), "", "factor on computing times of a trace: 0 removes, 1 keeps"),
    key_of(Traffic, "slow", "rank:NxF,...", Word, None, "", "factors of the computing times of ranks of a trace or kernel: rank:3x1.2, rank:8-11x2"),
    key_of(Traffic, "flop-rate", "RATE", Word, Some("5Gflop/s"), "", "speed of a task, for traces that count flops"),
    key_of(Traffic, "trace-unit", "ns|us|ms|cycles", Word, Some("ns"), "", "unit of computing times in .trc files"),
    key_of(Traffic, "recv-order", "ORDER", Word, Some("detect"), "", "order of tasks in receive lines of .trc files: src-dst, dst-src, detect"),
    key_of(RunControl, "warmup", "C", Integer, Some("5000"), "cycles", "time before anything is measured"),
    key_of(RunControl, "conv-period", "C", Integer, Some("1000"), "cycles", "time between two looks at whether the state is steady").needing(WAITS),
    key_of(RunControl, "conv-threshold", "X", Number, Some("0.05"), "", "change of load and delay, as a share, that counts as steady").needing(WAITS),
    key_of(RunControl, "max-conv-time", "C", Integer, Some("20000"), "cycles", "longest wait for a steady state after the warm-up; 0 does not wait"),
    key_of(RunControl, "samples", "N", Integer, Some("10"), "", "batches to measure, 1 to 100000; with shots, how many of them"),
    key_of(RunControl, "sample-size", "C", Integer, Some("2000"), "cycles", "length of each batch"),
    key_of(RunControl, "min-batch-packets", "N", Integer, Some("30"), "packets", "a batch grows, up to 10 times, until it has received so many"),
    key_of(RunControl, "cycles", "C", Integer, None, "cycles", "a fixed run instead: no warm-up, everything is counted"),
    key_of(RunControl, "max-cycles", "C", Integer, None, "cycles", "limit of a trace, kernel or shots"),
    key_of(RunControl, "strict", "", Switch, Some("false"), "", "exit with status 3 when {max-cycles} ends a run").needing(&[Need::set("max-cycles")]),
    key_of(RunControl, "no-skip", "", Switch, None, "", "simulate every iteration of a kernel and every packet of long messages, also where they repeat each other exactly: the same results, later"),
    key_of(RunControl, "no-digest", "", Switch, None, "", "no digest of a kernel: iterations that repeat each other are skipped without hashing their deliveries"),
    key_of(RunControl, "watchdog", "C", Integer, Some("10000"), "cycles", "time without any phit moving that means deadlock"),
    key_of(RunControl, "engine", "NAME", Word, Some("fast"), "", "fast (packet by packet) or reference (phit by phit): the same results"),
    key_of(RunControl, "threads", "N", Integer, Some("1"), "", "threads to simulate with; results do not depend on it; myrinet takes 1"),
    key_of(RunControl, "seed", "N", Integer, Some("1"), "", "seed of every random draw"),
    key_of(RunControl, "link-loads", "", Switch, None, "", "keep how many packets each link carried while measuring: heat maps of fsin plot and fsin report").keeping(),
    key_of(RunControl, "node-stats", "", Switch, None, "", "keep the traffic and latency of each node: `per_node` in JSON, nodes.csv in -o DIR").keeping(),
    key_of(RunControl, "flow-stats", "", Switch, None, "", "keep the traffic and latency of each pair of nodes: `flows` in JSON, flows.csv in -o DIR").keeping(),
    key_of(RunControl, "message-stats", "", Switch, None, "", "keep the time that each message takes: percentiles, slow-down against the message alone, classes of sizes").keeping(),
    key_of(RunControl, "ideal", "NAME", Word, Some("alone"), "", "what slow-downs of messages are measured against: alone (the message alone in the same network), or hpcc (twice the delays of the path, a full frame on each link, all frames on the slowest; with acknowledged messages of ethernet)").needing(&[Need::set("message-stats")]),
    key_of(RunControl, "size-classes", "SIZES", Word, Some("decades"), "", "classes of messages by size: decades, or their greatest sizes, as in 10kB:100kB:1MB; the last has all above").needing(&[Need::set("message-stats")]),
    key_of(RunControl, "energy", "TABLE", Word, None, "", "estimate energy and power by a table: events:fabric-400g, events:FILE, booksim (chips, with {network} wormhole), booksim:FILE,width=64, noxim:FILE; fsin list energy-models").keeping(),
    key_of(RunControl, "latency-histogram", "", Switch, None, "", "keep the histogram of packet latencies: `latency_histogram` in JSON").keeping(),
];

/// Keys of commands that run many experiments, which no single run has. Each is a flag of these commands, a key of
/// experiment files and a variable too, so that a file holds the whole of a sweep or a search.
#[rustfmt::skip]
pub const MANY_KEYS: &[Key] = &[
    key_of(RunControl, "seeds", "K", Integer, None, "", "replicas of every point, with K seeds from {seed} on: 1 to 10000"),
    key_of(RunControl, "stop-after", "N", Integer, None, "loads", "of a sweep: ends a curve after N saturated loads in a row; it goes to its last load if absent"),
    key_of(RunControl, "skip-invalid", "", Switch, None, "", "leave out combinations that are no valid experiments, instead of refusing all"),
    key_of(RunControl, "lengthen", "N", Integer, None, "", "of a search for saturation: factor by which warm-up and batches are lengthened at most where a load is undecided: 1 to 1000000; 32 if absent"),
    key_of(RunControl, "tolerance", "X", Number, None, "", "of a search for saturation: width of the interval that is found, in the unit of loads: 0.000001 to 0.5; 0.005 if absent"),
];

/// The key of commands on many experiments of this name.
#[must_use]
pub fn many_key(name: &str) -> Option<&'static Key> {
    MANY_KEYS.iter().find(|key| key.name == name)
}

/// Names of keys in other simulators and former names, each with the key.
const OTHER_NAMES: &[(&str, &str)] =
    &[("injection-rate", "load"), ("injection_rate", "load"), ("packet-size", "packet"), ("recovery", "transport")];

/// The other names of a key.
pub fn other_names(name: &str) -> impl Iterator<Item = &'static str> {
    OTHER_NAMES.iter().filter(move |(_, key)| *key == name).map(|(other, _)| *other)
}

/// Every key, in the order of display: those of network models follow the other keys of the network.
#[must_use]
pub fn keys() -> &'static [Key] {
    static ALL: LazyLock<Vec<Key>> = LazyLock::new(|| {
        let (network, others): (Vec<Key>, Vec<Key>) = KEYS.iter().partition(|key| key.heading == Network);
        let models = MODELS.rows().iter().flat_map(|model| model.keys).copied();
        network.into_iter().chain(models).chain(others).collect()
    });
    &ALL
}

/// Checks the settings of network models: each is declared once, and what a model understands is declared.
///
/// # Errors
/// The first setting of which that is not true.
pub fn check_keys(models: &[&ModelFamily]) -> Result<(), SpecError> {
    let own = models.iter().flat_map(|model| model.keys.iter().map(|key| (model.component.name, key.name)));
    let others = KEYS.iter().chain(MANY_KEYS).map(|key| ("every experiment", key.name));
    let mut declared: Vec<(&str, &str)> = others.chain(own).collect();
    declared.sort_by_key(|&(_, name)| name);
    if let Some([(first, name), (second, _)]) = declared.array_windows().find(|[(_, a), (_, b)]| a == b) {
        let what = format!("setting `{name}` is declared twice: by {first} and by {second}");
        return Err(SpecError::new(ErrorKind::Conflict, what, "give that of the added network model another name"));
    }
    for model in models {
        let defaults = model.defaults.iter().map(|&(name, _)| name);
        for name in model.shared.iter().copied().chain(defaults).chain(model.short.iter().map(|&(_, name)| name)) {
            if declared.binary_search_by_key(&name, |&(_, name)| name).is_err() {
                let known: Vec<&str> = declared.iter().map(|&(_, name)| name).collect();
                let what = format!(
                    "network model {} names the setting `{name}`, which nothing declares",
                    model.component.name
                );
                return Err(SpecError::new(ErrorKind::UnknownName, what, &suggestion(name, &known)));
            }
        }
    }
    Ok(())
}

/// The key of this name.
#[must_use]
pub fn key(name: &str) -> Option<&'static Key> {
    let name = OTHER_NAMES.iter().find(|(other, _)| *other == name).map_or(name, |(_, key)| key);
    keys().iter().find(|key| key.name == name)
}
