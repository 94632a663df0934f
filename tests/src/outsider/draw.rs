//! Experiments, drawn.

use trgen::rng::mix;

/// Draws that repeat with their seed.
#[derive(Clone, Debug)]
pub struct Draw(u64);

impl Draw {
    /// The draws of a number.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(mix(seed ^ 0x6f75_7473_6964_6572))
    }

    /// A number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        ((u128::from(mix(self.0)) * end as u128) >> 64) as usize
    }

    /// A number in [0, 1).
    pub fn share(&mut self) -> f64 {
        self.below(1 << 30) as f64 / f64::from(1 << 30)
    }

    /// True with this probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.share() < probability
    }

    /// One of several.
    pub fn of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }

    /// A number between two powers of ten, even on a logarithmic scale.
    pub fn decades(&mut self, from: f64, to: f64) -> f64 {
        10_f64.powf(from + (to - from) * self.share())
    }
}

/// A network and its traffic; the length of the run follows from the latency.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// Words of the network: flags and values.
    pub network: Vec<String>,
    /// Words of the traffic, without its load.
    pub traffic: Vec<String>,
    /// True for a program, which has no load and ends by itself.
    pub is_program: bool,
    /// The offered load.
    pub load: f64,
    /// Number of endpoints.
    pub nodes: usize,
    /// Length of the run in latencies of the network.
    pub latencies: f64,
    /// Batches after a warm-up, if it is no fixed run: their number.
    pub batches: Option<usize>,
    /// A failure, at this share of the run.
    pub failure: Option<(&'static str, f64)>,
    /// Number of threads of the run that has several.
    pub threads: usize,
    /// The seed of the run.
    pub seed: usize,
}

/// The file of the network `graph:net.txt`: switches in a ring with a chord, and hosts at three of them.
pub const GRAPH: &str = "a b\nb c\nc d\nd e\ne a\na c\n";

/// Topologies with their endpoints.
const GRIDS: [(&str, usize); 12] = [
    ("torus:4x4", 16),
    ("torus:3x5", 15),
    ("torus:2x3x2", 12),
    ("torus:7", 7),
    ("mesh:4x3", 12),
    ("mesh:2x2x3", 12),
    ("hypercube:4", 16),
    ("twisted:4x2:2", 8),
    ("circulant:13:1,5", 13),
    ("spidergon:8", 8),
    ("spinnaker:3x3", 9),
    ("midimew:10", 10),
];
const SWITCHED: [(&str, usize); 12] = [
    ("fattree:2,3", 8),
    ("fattree:4,2", 16),
    ("thintree:4,2,2", 16),
    ("dragonfly:p=1,a=2,h=1", 6),
    ("dragonfly+:p=1,l=2,s=2,h=1", 10),
    ("hyperx:3x3:2", 18),
    ("icube:3x3:2", 18),
    ("cmesh:2x2:2", 8),
    ("star:5", 5),
    ("rrg:s=8,d=3,p=1", 8),
    ("graph:net.txt,endpoints=2", 10),
    ("fly:2,3", 8),
];

/// A builder of words.
#[derive(Default)]
struct Words(Vec<String>);

impl Words {
    fn set(&mut self, flag: &str, value: impl ToString) {
        self.0.extend([format!("--{flag}"), value.to_string()]);
    }

    /// One of these values, with a probability.
    fn maybe(&mut self, draw: &mut Draw, probability: f64, flag: &str, values: &[&str]) {
        let value = draw.of(values);
        if draw.chance(probability) {
            self.set(flag, value);
        }
    }
}

/// A time from a nanosecond to 10 ms.
fn time(draw: &mut Draw) -> String {
    format!("{:.0}ns", draw.decades(0.0, 7.0))
}

/// Experiment number `number`.
#[must_use]
pub fn experiment(number: u64) -> Drawn {
    let draw = &mut Draw::new(number);
    let mut words = Words::default();
    let model = draw.of(&[
        "vct",
        "vct",
        "vct",
        "wormhole",
        "wormhole",
        "flow",
        "ethernet",
        "ethernet",
        "myrinet",
        "constant-delay",
        "bus",
        "zero",
    ]);
    words.set("network", model);
    let is_grid = draw.chance(0.55);
    let (topology, mut nodes) = match is_grid {
        true => GRIDS[draw.below(GRIDS.len())],
        false => SWITCHED[draw.below(SWITCHED.len())],
    };
    match model {
        "constant-delay" | "bus" | "zero" => {
            nodes = 2 + draw.below(20);
            words.set("nodes", nodes);
        }
        _ => words.set("topology", topology),
    }
    match model {
        "vct" => vct(draw, &mut words, is_grid),
        "wormhole" => wormhole(draw, &mut words, is_grid),
        "flow" => flow(draw, &mut words, is_grid),
        "ethernet" => ethernet(draw, &mut words),
        "myrinet" => myrinet(draw, &mut words, is_grid),
        "constant-delay" => {
            words.set("delay", time(draw));
            if draw.chance(0.5) {
                words.set("rate", draw.of(&["1Gb/s", "10Gb/s", "400Gb/s"]));
                words.maybe(draw, 0.3, "links", &["pair"]);
            }
        }
        "bus" => words.maybe(draw, 0.5, "bus-arbitration", &["1", "7"]),
        _ => {}
    }
    // Routings that go round dead links.
    let detours = match model {
        "vct" if is_grid => "direct:updown",
        "vct" => "graph:updown",
        _ => "updown",
    };
    let failure = (!matches!(model, "constant-delay" | "bus" | "zero") && draw.chance(0.12)).then(|| {
        let at = words.0.iter().position(|word| word == "--routing");
        match at {
            Some(at) => words.0[at + 1] = detours.to_owned(),
            None if model != "ethernet" => words.set("routing", detours),
            None => {}
        }
        let what = ["link:0-1", "node:1"][draw.below(2)];
        (what, [0.0, 0.3, 0.8][draw.below(3)])
    });
    let is_program = draw.chance(0.15);
    let mut traffic = Words::default();
    match is_program {
        true => program(draw, &mut traffic, nodes),
        false => synthetic(draw, &mut traffic, nodes),
    }
    Drawn {
        network: words.0,
        traffic: traffic.0,
        is_program,
        load: match draw.below(4) {
            0 => draw.decades(-3.0, -1.0),
            1 => 0.9 + 0.3 * draw.share(),
            _ => 0.05 + 0.8 * draw.share(),
        },
        nodes,
        latencies: draw.decades(-1.0, 2.0),
        batches: draw.chance(0.4).then(|| 2 + draw.below(9)),
        failure,
        threads: 2 + draw.below(2),
        seed: 1 + draw.below(1000),
    }
}

fn vct(draw: &mut Draw, words: &mut Words, is_grid: bool) {
    let routings: &[&str] = match is_grid {
        true => &[
            "bubble:smart",
            "bubble:adaptive",
            "bubble:shortest",
            "bubble:random",
            "bubble:oblivious",
            "double:oblivious",
            "double:adaptive",
            "dally:trc",
            "dally:basic",
            "dally:improved",
            "dally:adaptive",
            "direct:updown",
            "direct:shortest",
        ],
        false => &["graph:updown", "graph:shortest", "tree:adaptive", "tree:static", "minimal"],
    };
    words.maybe(draw, 0.4, "routing", routings);
    words.maybe(draw, 0.5, "vcs", &["2", "3", "3", "4", "6"]);
    if draw.chance(0.4) {
        words.set("link-delay", draw.decades(0.0, 4.0) as u64);
    }
    words.maybe(draw, 0.2, "router-delay", &["1", "2", "5"]);
    words.maybe(draw, 0.5, "packet", &["1", "4", "8", "16", "31"]);
    words.maybe(draw, 0.4, "queue", &["2", "4", "9", "64"]);
    words.maybe(draw, 0.2, "injection-queue", &["1", "3"]);
    if is_grid {
        words.maybe(draw, 0.3, "injectors", &["2", "4", "6"]);
        words.maybe(draw, 0.2, "order", &["dim", "dir", "long"]);
        words.maybe(draw, 0.1, "faults", &["1", "2"]);
    }
    words.maybe(draw, 0.1, "inject", &["serial", "parallel"]);
    words.maybe(draw, 0.2, "interface", &["serial", "interleaved:2"]);
    words.maybe(draw, 0.3, "consumption", &["single", "multiple", "2"]);
    words.maybe(draw, 0.3, "arbitration", &["random", "age", "rr"]);
    words.maybe(draw, 0.1, "bubble", &["2"]);
    words.maybe(draw, 0.1, "in-transit-priority", &["0.5", "1"]);
    words.maybe(draw, 0.1, "global-cc", &["10", "50"]);
}

fn wormhole(draw: &mut Draw, words: &mut Words, is_grid: bool) {
    let routings: &[&str] = match is_grid {
        true => &["dor", "adaptive", "updown", "shortest"],
        false => &["minimal", "updown", "shortest", "adaptive"],
    };
    words.maybe(draw, 0.4, "routing", routings);
    words.maybe(draw, 0.7, "vcs", &["2", "3", "4", "8"]);
    words.maybe(draw, 0.5, "packet", &["1", "4", "8", "20"]);
    words.maybe(draw, 0.5, "buffer", &["1", "4", "16", "64"]);
    if draw.chance(0.4) {
        words.set("link-delay", draw.decades(0.0, 4.0) as u64);
    }
    for flag in ["route-delay", "vc-alloc-delay", "switch-alloc-delay", "traverse-delay", "credit-delay"] {
        words.maybe(draw, 0.2, flag, &["1", "2", "4"]);
    }
    words.maybe(draw, 0.3, "speculative", &["true"]);
    words.maybe(draw, 0.2, "speedup", &["2"]);
    for flag in ["vc-allocator", "switch-allocator"] {
        words.maybe(draw, 0.2, flag, &["separable", "islip", "wavefront", "oldest-first"]);
    }
    words.maybe(draw, 0.2, "switch-hold", &["packet", "flit"]);
    words.maybe(draw, 0.2, "interface", &["serial", "interleaved:2"]);
    words.maybe(draw, 0.1, "wait-for-tail-credit", &["true"]);
    words.maybe(draw, 0.1, "preset", &["booksim"]);
}

fn flow(draw: &mut Draw, words: &mut Words, is_grid: bool) {
    words.maybe(draw, 0.3, "routing", if is_grid { &["dor", "updown", "shortest"] } else { &["updown", "shortest"] });
    words.maybe(draw, 0.7, "link-rate", &["1Gb/s", "10Gb/s", "400Gb/s"]);
    words.set("propagation", time(draw));
    words.maybe(draw, 0.3, "fairness", &["split", "rtt"]);
    words.maybe(draw, 0.3, "paths", &["spray", "adaptive"]);
    words.maybe(draw, 0.3, "tick", &["1ns", "100ns"]);
    words.maybe(draw, 0.2, "hop-delay", &["100ns"]);
    if is_grid {
        words.maybe(draw, 0.2, "node-rate", &["1Gb/s"]);
    }
}

fn ethernet(draw: &mut Draw, words: &mut Words) {
    words.maybe(draw, 0.7, "link-rate", &["100Mb/s", "1Gb/s", "100Gb/s"]);
    words.set("propagation", time(draw));
    words.maybe(draw, 0.5, "port-queue", &["1", "2", "10", "1000"]);
    words.maybe(draw, 0.5, "forwarding", &["static", "learning"]);
    words.maybe(draw, 0.3, "switching", &["cut-through"]);
    words.maybe(draw, 0.5, "recovery", &["none", "window", "oracle"]);
    if words.0.last().is_some_and(|word| word == "window") {
        words.maybe(draw, 0.4, "completion", &["acked"]);
    }
    words.maybe(draw, 0.2, "per", &["0.01", "0.2"]);
    words.maybe(draw, 0.2, "ecmp", &["true"]);
    words.maybe(draw, 0.2, "frames", &["roce", "hpcc"]);
    words.maybe(draw, 0.2, "interface", &["interleaved:2"]);
}

fn myrinet(draw: &mut Draw, words: &mut Words, is_grid: bool) {
    words.maybe(draw, 0.4, "routing", if is_grid { &["dor", "updown", "shortest"] } else { &["updown", "shortest"] });
    words.maybe(draw, 0.5, "link-rate", &["640Mb/s", "10Gb/s"]);
    words.maybe(draw, 0.5, "cable-length", &["1", "100", "3000"]);
    // Enough for the longest cable at the highest rate.
    words.set("slack", 100_000);
    words.maybe(draw, 0.4, "payload", &["64", "1000", "4096"]);
    words.maybe(draw, 0.2, "beat", &["1us", "10us"]);
    words.maybe(draw, 0.2, "packet-timeout", &["100us"]);
    words.maybe(draw, 0.2, "store-character", &["true"]);
}

fn synthetic(draw: &mut Draw, words: &mut Words, nodes: usize) {
    let patterns: &[&str] = match nodes.is_power_of_two() {
        true => &["complement", "bitrev", "hotspot(0.1,0)", "tornado", "randperm", "neighbor"],
        false => &["hotspot(0.1,0)", "tornado", "randperm", "neighbor"],
    };
    words.maybe(draw, 0.4, "traffic", patterns);
    words.maybe(
        draw,
        0.5,
        "temporal",
        &[
            "bernoulli",
            "poisson",
            "periodic",
            "cburst(4)",
            "markov(0.1,0.1)",
            "uniform-gaps",
            "reactive(0.3,1)",
            "request-reply",
        ],
    );
    words.maybe(draw, 0.4, "size", &["constant", "uniform(4,64)", "bimodal(4,64,0.2)", "discrete(1:0.5,100:0.5)"]);
    words.maybe(draw, 0.2, "source", &["throttled", "open"]);
}

fn program(draw: &mut Draw, words: &mut Words, nodes: usize) {
    let tasks = 2 + draw.below(nodes.saturating_sub(1).max(1));
    let power = 1 << tasks.ilog2();
    let bytes = draw.decades(0.0, 5.0) as u64;
    let kernel = draw.of(&[
        "all-to-all",
        "all-reduce-ring",
        "butterfly",
        "bintree",
        "all-to-one",
        "n-bodies",
        "random-waves",
        "all-reduce",
    ]);
    let tasks = if matches!(kernel, "butterfly" | "bintree") { power } else { tasks };
    words.set("kernel", format!("{kernel}:tasks={tasks},bytes={bytes}"));
    words.maybe(draw, 0.3, "placement", &["random", "shift:1"]);
    words.maybe(draw, 0.2, "eager", &["64", "100000"]);
}
