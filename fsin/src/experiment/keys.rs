//! The table of all settings: flags, keys of experiment files, `FSIN_*` variables and defaults are derived from it.
//!
//! Decision: docs/decisions/0003-one-table-of-keys.md.

/// The heading of a key in `--help`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Heading {
    /// Topology and router.
    Network,
    /// Workload.
    Traffic,
    /// Length of the run, and engine.
    RunControl,
}

impl Heading {
    /// The heading as users read it.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Network => "Network",
            Self::Traffic => "Traffic",
            Self::RunControl => "Run control",
        }
    }
}

/// The type of a key's value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A non-negative integer.
    Integer,
    /// A number.
    Number,
    /// A word or expression.
    Word,
    /// A path of a file or folder; relative to the experiment file if it is set there.
    Path,
    /// True or false; a flag without a value.
    Switch,
}

/// A setting.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Name in files; the flag is `--name`, the variable `FSIN_NAME`.
    pub name: &'static str,
    /// Placeholder of the value in help texts.
    pub metavar: &'static str,
    /// Type of the value.
    pub kind: Kind,
    /// Default value; `None` if the key is then absent.
    pub default: Option<&'static str>,
    /// Unit of the value, or empty.
    pub unit: &'static str,
    /// Description in one line; other settings are in braces
    /// ([`Phrase::of_template`](trgen::phrase::Phrase::of_template)).
    pub about: &'static str,
    /// Its heading in help.
    pub heading: Heading,
}

const fn key_of(
    heading: Heading,
    name: &'static str,
    metavar: &'static str,
    kind: Kind,
    default: Option<&'static str>,
    unit: &'static str,
    about: &'static str,
) -> Key {
    Key { name, metavar, kind, default, unit, about, heading }
}

use Heading::{Network, RunControl, Traffic};
use Kind::{Integer, Number, Path, Switch, Word};

/// Every key, in the order of display.
#[rustfmt::skip]
pub const KEYS: &[Key] = &[
    key_of(Network, "topology", "SPEC", Word, Some("torus:8x8"), "", "shape and sizes: torus:16x16, mesh:8x8x8, twisted:16x8:8; fsin list topologies"),
    key_of(Network, "ways", "1|2", Integer, Some("2"), "", "directions of the links of each dimension"),
    key_of(Network, "vcs", "N", Integer, Some("3"), "", "virtual channels of each link"),
    key_of(Network, "routing", "MANAGEMENT:MODE", Word, None, "", "deadlock avoidance and request mode, such as dally:trc; bubble:smart for tori and meshes, else that of the topology (fsin explain dragonfly) if absent"),
    key_of(Network, "order", "dim|dir", Word, Some("dim"), "", "order of deterministic and escape routes: X Y Z, or X+ Y+ Z+ X- Y- Z-"),
    key_of(Network, "faults", "N", Integer, None, "", "dead links, drawn by the seed: of a direct network, or between switches with graph:updown or graph:shortest; 0 if absent"),
    key_of(Network, "fault-ways", "1|2", Integer, None, "", "directions of a link that die together; 1: for direct networks; 2 if absent"),
    key_of(Network, "link-delay", "D[:D...]", Word, None, "cycles", "delay of links beyond one cycle, of all or of each dimension, 1:1:8 (dragonfly: to endpoints : within : between groups); without load H hops of L phits take H (1 + link-delay + router-delay) + L - 1; 0 if absent"),
    key_of(Network, "router-delay", "C", Integer, None, "cycles", "delay of each router that a hop leads to, before a header can ask there; 0 if absent"),
    key_of(Network, "alternatives", "K", Integer, None, "", "with graph:shortest: links of a switch that packets of one destination are spread over; all if absent"),
    key_of(Network, "packet", "PHITS", Integer, Some("16"), "phits", "length of every packet"),
    key_of(Network, "phit-bytes", "B", Integer, Some("4"), "bytes", "payload of a phit"),
    key_of(Network, "queue", "PACKETS", Integer, Some("4"), "packets", "room of each transit and injection queue; fewer phits than the delay of a link cannot keep a channel of it busy"),
    key_of(Network, "injection-queue", "PACKETS", Integer, Some("8"), "packets", "room of each source buffer"),
    key_of(Network, "injectors", "I", Integer, Some("1"), "", "injection queues of each node"),
    key_of(Network, "injection", "MODE", Word, Some("shortest"), "", "injector of a new packet: shortest (the least occupied), dor, longest-path, ...; fsin list injections"),
    key_of(Network, "inject", "parallel|serial", Word, Some("parallel"), "", "from source buffer to injection queue: whatever fits at once, or a phit per cycle"),
    key_of(Network, "consumption", "multiple|single", Word, Some("multiple"), "", "consumption ports: one for each queue, or one per node"),
    key_of(Network, "arbitration", "MODE", Word, Some("rr"), "", "who gets a contended output: rr (round robin), fifo, longest, random, age, highest-vc"),
    key_of(Network, "bubble", "B", Integer, Some("2"), "packets", "room that a packet must find, its own place included, where it enters a ring or, on a mesh, a row; 0: none, and a torus may deadlock"),
    key_of(Network, "lbr", "B", Integer, Some("0"), "packets", "local bubble restriction: room that an injected packet must find, its own place included, on every channel"),
    key_of(Network, "in-transit-priority", "P", Number, Some("0"), "", "probability, 0 to 1, that transit queues are served before injection queues"),
    key_of(Network, "global-cc", "PERCENT", Number, None, "percent", "congestion control: nothing enters while packets in the network exceed this share of the room of all transit queues"),
    key_of(Network, "global-cc-period", "C", Integer, None, "cycles", "time between two counts of packets for global control; every cycle if absent"),
    key_of(Network, "timeout-upper", "C", Integer, None, "cycles", "lbr and in-transit-priority act at congested nodes only: where a header has waited for longer than this"),
    key_of(Network, "timeout-lower", "C", Integer, None, "cycles", "a node is no longer congested when a header has waited for less than this; 75 % of timeout-upper if absent"),
    key_of(Traffic, "source", "open|throttled", Word, Some("open"), "", "what a full source buffer does: messages queue without bound (open loop), or the node generates nothing (throttled; the default of tasks, shots and guests)"),
    key_of(Traffic, "traffic", "PATTERN", Word, Some("uniform"), "", "destinations: transpose, hotspot(0.1,0), A + B, A@1000 then B@500"),
    key_of(Traffic, "temporal", "PROCESS", Word, Some("bernoulli"), "", "when: bernoulli, cburst(8), markov(2,0.01), reactive(0.5,1), shot(10)"),
    key_of(Traffic, "shot", "MESSAGES", Integer, None, "messages", "bursts: every node sends so many, and again when all have arrived"),
    key_of(Traffic, "size", "LAW", Word, Some("constant"), "", "message sizes: constant, uniform(4,64), bimodal(4,64,0.2), ..."),
    key_of(Traffic, "load", "X", Number, Some("0.3"), "phits/node/cycle", "offered load"),
    key_of(Traffic, "trace", "FILE", Path, None, "", "replay a trace instead: .trg, .trc, SimGrid TI, GOAL, or an archive (.tar.xz) of one"),
    key_of(Traffic, "network", "router|ideal:...", Word, None, "", "what carries a trace: router (the default), or ideal:L=2500,G=6 (LogGOPS; ns, ns/byte)"),
    key_of(Traffic, "hosts", "o=..,g=..,O=..,S=..", Word, None, "", "hosts of a GOAL graph (ns, ns, ns/byte, bytes); absent ones: o=1500,g=1000,O=0,S=65535"),
    key_of(Traffic, "eager", "BYTES", Integer, None, "bytes", "largest message of a trace or kernel that is sent without a rendezvous; all if absent"),
    key_of(Traffic, "tasks-per-node", "N", Integer, None, "", "tasks of a trace or kernel that share a node; 1 if absent"),
    key_of(Traffic, "kernel", "NAME:key=value,...", Word, None, "", "run an application kernel instead: all-to-all:tasks=64,bytes=4096"),
    key_of(Traffic, "job-mix", "FILE", Path, None, "", "run several applications instead, which arrive and wait for nodes: a TOML file of jobs"),
    key_of(Traffic, "scheduler", "NAME", Word, Some("fcfs"), "", "which job that waits starts next: fcfs, first-fit, easy (backfilling)"),
    key_of(Traffic, "allocation", "NAME", Word, Some("contiguous"), "", "which free nodes a job gets: contiguous, quasi-contiguous, random"),
    key_of(Traffic, "collectives", "RULES", Word, None, "", "algorithms of collectives in a trace: mpich (by size and ranks; the default), basic, or exceptions: allreduce=ring"),
    key_of(Traffic, "placement", "P", Word, Some("consecutive"), "", "nodes of the tasks of a trace or kernel: consecutive, greedy, optimise, column, diagonal, quadrant, shuffle, shift:S, random, file:F, ..."),
    key_of(Traffic, "bandwidth", "RATE", Word, Some("10Gb/s"), "", "rate of a link; a cycle is one phit at this rate"),
    key_of(Traffic, "compute", "SCALE", Number, Some("1"), "", "factor on computing times of a trace: 0 removes, 1 keeps"),
    key_of(Traffic, "flop-rate", "RATE", Word, Some("5Gflop/s"), "", "speed of a task, for traces that count flops"),
    key_of(Traffic, "trace-unit", "ns|us|ms|cycles", Word, Some("ns"), "", "unit of computing times in .trc files"),
    key_of(Traffic, "recv-order", "ORDER", Word, Some("detect"), "", "order of tasks in receive lines of .trc files: src-dst, dst-src, detect"),
    key_of(RunControl, "warmup", "C", Integer, Some("5000"), "cycles", "time before anything is measured"),
    key_of(RunControl, "conv-period", "C", Integer, Some("1000"), "cycles", "time between two looks at whether the state is steady"),
    key_of(RunControl, "conv-threshold", "X", Number, Some("0.05"), "", "change of load and delay, as a share, that counts as steady"),
    key_of(RunControl, "max-conv-time", "C", Integer, Some("20000"), "cycles", "longest wait for a steady state after the warm-up; 0 does not wait"),
    key_of(RunControl, "samples", "N", Integer, Some("10"), "", "batches to measure, 1 to 100000; with shots, how many of them"),
    key_of(RunControl, "sample-size", "C", Integer, Some("2000"), "cycles", "length of each batch"),
    key_of(RunControl, "min-batch-packets", "N", Integer, Some("30"), "packets", "a batch grows, up to 10 times, until it has received so many"),
    key_of(RunControl, "cycles", "C", Integer, None, "cycles", "a fixed run instead: no warm-up, everything is counted"),
    key_of(RunControl, "max-cycles", "C", Integer, None, "cycles", "limit of a trace, kernel or shots"),
    key_of(RunControl, "strict", "", Switch, Some("false"), "", "exit with status 3 when {max-cycles} ends a run"),
    key_of(RunControl, "watchdog", "C", Integer, Some("10000"), "cycles", "time without any phit moving that means deadlock"),
    key_of(RunControl, "engine", "NAME", Word, Some("fast"), "", "fast (packet by packet) or reference (phit by phit): the same results"),
    key_of(RunControl, "threads", "N", Integer, Some("1"), "", "threads to simulate with; results do not depend on it"),
    key_of(RunControl, "seed", "N", Integer, Some("1"), "", "seed of every random draw"),
    key_of(RunControl, "link-loads", "", Switch, None, "", "keep how many packets each link carried while measuring: heat maps of fsin plot and fsin report"),
];

/// The key of this name.
#[must_use]
pub fn key(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}
