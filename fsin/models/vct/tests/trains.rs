//! Runs in which periods within messages are passed at once equal those in which every cycle is simulated, and those of
//! the reference engine.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::print_stdout, reason = "its figures are what it is run for")]

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use fsin_core::couple::Coupled;
use fsin_core::failures::{Failures, Timetable};
use fsin_core::interface::Interface;
use fsin_core::network::Network;
use fsin_core::run::{Outcome, to_end};
use fsin_core::topology::{Topology, parse};
use fsin_vct::engine::fast::build;
use fsin_vct::engine::reference::Reference;
use fsin_vct::router::{Arbitration, Consumption, GlobalCc, Inject, Injection, RouterParams, SourceQueue, Timeouts};
use fsin_vct::routing::Routing;
use trgen::clock::Clock;
use trgen::rng::mix2;
use trgen::trace::flow::Flow;
use trgen::trace::kernels::{KernelContext, KernelSpec};
use trgen::trace::program::Rounds;
use trgen::trace::replay::{Pace, Protocol, Replay, ReplayReport};
use trgen::{Cycle, NodeId};

/// A kernel on a network, its tasks on nodes in any order.
struct Case {
    text: String,
    topology: &'static str,
    params: RouterParams,
    program: Rounds,
    placement: Vec<NodeId>,
    eager_limit: Option<u64>,
    limit: u64,
    threads: usize,
}

impl Case {
    fn topology(&self) -> Box<dyn Topology> {
        parse(self.topology, 2).unwrap()
    }

    /// The outcome of a run, without how many rounds it skipped, and the cycles that the network passed.
    fn run(&self, digest: Option<bool>) -> (Outcome, ReplayReport, Vec<Flow>, u64) {
        let params = self.params.clone().check(&*self.topology()).unwrap();
        self.run_on(build(self.topology(), params, self.threads).unwrap(), digest)
    }

    /// The same on a network.
    fn run_on(&self, mut network: Box<dyn Network>, digest: Option<bool>) -> (Outcome, ReplayReport, Vec<Flow>, u64) {
        let pace = Pace { cycle: Clock::whole(3_200), compute_scale: 1.0 };
        let nodes = network.nodes();
        let replay = Replay::in_rounds(self.program.clone(), &self.placement, nodes, pace).unwrap();
        let mut replay = replay.with_protocol(Protocol { eager_limit: self.eager_limit });
        let stop = AtomicBool::new(false);
        let mut coupled = Coupled::new(&mut replay, &mut *network, &stop);
        if let Some(digest) = digest {
            coupled = coupled.skipping(digest);
        }
        let mut outcome = to_end(&mut coupled, Cycle(self.limit), &mut |_| {});
        outcome.skipped = None;
        let mut flows: Vec<Flow> = replay.flows().collect();
        flows.sort_unstable_by_key(|flow| (flow.from, flow.to));
        (outcome, replay.report(), flows, network.cycles_skipped())
    }

    /// Compares the three ways to run. Returns the cycles that were passed.
    fn check(&self) -> u64 {
        let (full, report, flows, none) = self.run(None);
        assert_eq!(none, 0);
        let (passing, its_report, its_flows, passed) = self.run(Some(true));
        assert_eq!(passing, full, "{}", self.text);
        assert_eq!((its_report, its_flows), (report, flows), "{}", self.text);
        let (mut quick, _, _, its_passed) = self.run(Some(false));
        quick.digest = full.digest;
        assert_eq!((quick, its_passed), (full, passed), "{}", self.text);
        passed
    }
}

/// Draws, one after another.
struct Draws(u64);

impl Draws {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = mix2(self.0, 0x7261_696e);
        (self.0 >> 16) % bound
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }

    /// True in one of so many cases.
    fn rarely(&mut self, cases: u64) -> bool {
        self.below(cases) == 0
    }
}

const GRIDS: &[&str] = &[
    "tpu:4x4x4",
    "tpu:2x2x4",
    "tpu:2x2",
    "torus:4x4",
    "torus:8",
    "torus:5x3",
    "torus:3x4x2",
    "mesh:4x4",
    "mesh:7",
    "hypercube:4",
];
const TREES: &[&str] =
    &["fattree:4,3", "fattree:4,2", "fattree:2,4", "fattree:3,2", "thintree:4,2,2", "slimtree:4,2,3", "star:6"];
/// Trees with more channels at a switch than a word has bits.
const WIDE: &[&str] = &["fattree:16,2", "thintree:30,24,2", "star:70"];
const KERNELS: &[&str] = &[
    "all-reduce:algorithm=ring",
    "all-reduce:algorithm=ring",
    "all-reduce:algorithm=ring",
    "all-gather-ring",
    "all-gather-ring",
    "all-reduce:algorithm=double-tree",
    "all-to-all",
    "n-bodies",
    "torus2d",
    "one-to-all",
    "bintree",
    "waterfall",
];

/// Another routing than the default of a kind of network.
const OTHERS: &[&str] = &["tree:static", "bubble:adaptive", "dally:trc", "bubble:random", "bubble:oblivious"];

fn case(number: u64) -> Option<Case> {
    let mut draws = Draws(number);
    let is_tree = draws.rarely(2);
    let wide = |tree| if number % 6 == 4 { WIDE[number as usize / 6 % WIDE.len()] } else { tree };
    let topology = if is_tree { wide(draws.of(TREES)) } else { draws.of(GRIDS) };
    let mut routing = if is_tree { Routing::TreeAdaptive } else { Routing::BubbleSmart };
    if draws.rarely(8) {
        routing = Routing::parse(draws.of(OTHERS)).unwrap();
    }
    let shape: Arc<dyn Topology> = parse(topology, 2).unwrap().into();
    let per_port = !is_tree && draws.below(2) == 0;
    let ports = shape.shape().ports();
    let packet_phits = draws.of(&[1, 2, 3, 4, 7, 16, 16, 16, 40]);
    let queue_packets = draws.of(&[1, 2, 3, 4, 4, 5]);
    let mut params = RouterParams {
        routing,
        vcs: if is_tree { draws.of(&[1, 2, 3, 3]) } else { draws.of(&[2, 3, 3, 4]) },
        packet_phits,
        queue_packets,
        injection_queue_packets: draws.of(&[1, 2, 3, 8]),
        interface: match (per_port, draws.below(6)) {
            (true, _) => Interface::PerPort,
            (false, 0) => Interface::Interleaved(2),
            (false, _) => Interface::Serial,
        },
        injectors: if per_port { ports } else { draws.of(&[1, 1, 1, 1, 2]) },
        injection: if per_port { Injection::Dor } else { Injection::Shortest },
        bubble: queue_packets.min(2),
        order: shape.usual().order,
        source_queue: SourceQueue::Throttled,
        seed: draws.below(1 << 40),
        ..RouterParams::default()
    };
    // What trains do without.
    if draws.rarely(4) {
        match draws.below(9) {
            0 => params.source_queue = SourceQueue::Open,
            1 => params.inject = Inject::Serial,
            2 => params.consumption = Consumption::SINGLE,
            3 => params.arbitration = draws.of(&[Arbitration::Random, Arbitration::Fifo, Arbitration::Longest]),
            4 => params.link_delays = vec![draws.of(&[1, 3])],
            5 => params.router_delay = 1,
            6 => params.in_transit_priority = 0.5,
            7 => params.timeouts = Some(Timeouts { upper: 30, lower: 10 }),
            _ => params.lbr = 1,
        }
    }
    if draws.rarely(10) {
        let (at, again) = (draws.below(3_000), draws.below(6_000));
        let events = format!("link:0-1@{at}ns,repair:link:0-1@{}ns", at + again + 1);
        let failures = Failures::parse(&events, Path::new("."), &*shape, 1, (1_000, 1)).ok()?;
        params.timetable = Timetable::new(failures, &shape);
    }
    if draws.rarely(20) {
        params.global_cc = Some(GlobalCc { percent: 20.0, period: 10 });
    }
    let nodes = shape.endpoints();
    // Mostly few tasks, since messages are long.
    let most = if draws.rarely(16) { nodes as u64 } else { 16.min(nodes as u64) };
    let tasks = if draws.rarely(3) { 2 + draws.below(most - 1) } else { most };
    let kernel = draws.of(KERNELS);
    let joint = if kernel.contains(':') { ',' } else { ':' };
    let packet_bytes = u64::from(packet_phits * 4);
    let share = if kernel.contains("reduce") { tasks } else { 1 };
    let bytes = packet_bytes * share * (20 + draws.below(if tasks > 20 { 20 } else { 60 })) + draws.of(&[0, 0, 1, 3]);
    let text = format!("{kernel}{joint}tasks={tasks},iterations={},bytes={bytes}", 1 + u64::from(draws.rarely(3)));
    let program = text.parse::<KernelSpec>().ok()?.rounds(&KernelContext::new(tasks as usize, None)).ok()?;
    let mut placement: Vec<NodeId> = (0..nodes).map(NodeId::at).collect();
    if draws.below(2) == 0 {
        let key = draws.below(1 << 40);
        placement.sort_by_key(|node| mix2(key, node.0.into()));
    }
    placement.truncate(tasks as usize);
    params.clone().check(&*shape).ok()?;
    let limit = if draws.rarely(6) { 500 + draws.below(20_000) } else { u64::MAX / 4 };
    let eager_limit = draws.rarely(4).then(|| draws.below(10_000));
    let threads = if draws.rarely(12) { 2 } else { 1 };
    let text = format!("case {number}: {topology} {text}, {params:?}");
    Some(Case { text, topology, params, program, placement, eager_limit, limit, threads })
}

/// Cases in which links that two pairs may take, though they did not in the period, must be told from others.
const TELLING: &[u64] = &[200_261];

/// `TRAINS` in the environment is the number of cases.
#[test]
fn trains_change_no_figure() {
    let number = |name| std::env::var(name).ok().and_then(|cases| cases.parse().ok());
    let (first, cases): (u64, u64) = (number("TRAINS_FROM").unwrap_or(0), number("TRAINS").unwrap_or(90));
    let (mut run, mut passing, mut cycles) = (0, [0; 2], 0);
    for case in (first..).filter_map(case).take(cases as usize).chain(TELLING.iter().copied().filter_map(case)) {
        let passed = case.check();
        run += 1;
        cycles += passed;
        let is_switched = case.topology().switched().is_some();
        passing[usize::from(is_switched)] += u32::from(passed > 0);
    }
    println!("{run} cases, {passing:?} of direct networks and of switches passed cycles: {cycles}");
    assert!(passing.iter().all(|&passing| passing * 30 >= cases as u32), "{passing:?} of {run} passed cycles");
}

/// Phit by phit the reference engine takes long: networks of at most so many nodes, and so many cycles of each case.
const COMPARED: (usize, u64) = (48, 1_000);

/// `ENGINES` in the environment is the number of cases.
#[test]
fn the_reference_engine_says_the_same() {
    let cases = std::env::var("ENGINES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(100);
    let (nodes, cycles) = COMPARED;
    let is_small = |case: &Case| case.topology().nodes() <= nodes;
    for case in (1_000_000..).filter_map(case).filter(is_small).take(cases) {
        let case = Case { limit: case.limit.min(cycles), ..case };
        let params = case.params.clone().check(&*case.topology()).unwrap();
        let expected = case.run_on(Box::new(Reference::new(case.topology(), params)), None);
        assert_eq!(case.run(None), expected, "{}", case.text);
    }
}

/// An all-reduce of so many bytes by a ring of all nodes, or the first 64, with the defaults of the command.
fn ring(topology: &'static str, bytes: u64) -> Case {
    let shape = parse(topology, 2).unwrap();
    let is_tree = shape.switched().is_some();
    let params = RouterParams {
        routing: if is_tree { Routing::TreeAdaptive } else { Routing::BubbleSmart },
        order: shape.usual().order,
        vcs: 3,
        packet_phits: 16,
        queue_packets: 4,
        injection_queue_packets: 8,
        interface: if is_tree { Interface::Serial } else { Interface::PerPort },
        injectors: if is_tree { 1 } else { shape.shape().ports() },
        injection: if is_tree { Injection::Shortest } else { Injection::Dor },
        source_queue: SourceQueue::Throttled,
        ..RouterParams::default()
    };
    let nodes = shape.endpoints().min(64);
    let text = format!("all-reduce:algorithm=ring,tasks={nodes},bytes={bytes}");
    Case {
        program: text.parse::<KernelSpec>().unwrap().rounds(&KernelContext::new(nodes, None)).unwrap(),
        text,
        topology,
        params,
        placement: (0..nodes).map(NodeId::at).collect(),
        eager_limit: None,
        limit: u64::MAX / 4,
        threads: 1,
    }
}

/// `TRAINS_RING` in the environment is the number of bytes.
#[test]
fn long_messages_are_passed_nearly_whole() {
    let given = std::env::var("TRAINS_RING").ok().and_then(|bytes| bytes.parse().ok());
    for topology in ["tpu:4x4x4", "fattree:4,3", "fattree:16,2"] {
        if std::env::var("TRAINS_ON").is_ok_and(|on| on != topology) {
            continue;
        }
        let mode = match std::env::var("TRAINS_MODE").as_deref() {
            Ok("full") => None,
            Ok("quick") => Some(false),
            _ => Some(true),
        };
        let (outcome, _, _, passed) = ring(topology, given.unwrap_or(4 << 20)).run(mode);
        let cycles = outcome.completion.unwrap().0;
        println!("{topology}: {passed} of {cycles} cycles passed, {} hops", outcome.totals.hops);
        assert!(mode.is_none() || passed * 10 > cycles * 9 || given.is_some(), "{topology}: {passed} of {cycles}");
    }
}
