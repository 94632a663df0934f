//! The fast engine gives the results of the reference engine, bit for bit: every count, every latency histogram, every
//! batch, the digest over all deliveries, and the cyclic wait of a deadlock.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use fsin::couple::Coupled;
use fsin::difference::{self, Object, Recording};
use fsin::engine::fast;
use fsin::engine::reference::Reference;
use fsin::failures::{self, Timetable};
use fsin::network::{Injected, Network, NetworkFailure, Notices, Settled};
use fsin::router::{Arbitration, Consumption, Injection, Interface, RouterParams};
use fsin::routing::Routing;
use fsin::run::{Outcome, fixed, to_end};
use fsin::stats::Recorder;
use fsin::topology::{Survey, Topology};
use fsin::view::Occupancy;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use tests::setup::Setup;
use tests::strategies::{
    SWITCHES, all_routings, controlled, effective, fitted, fixed_cases, interfaced, interfaces, networks, routers,
    routings_of, switched_setups,
};
use trgen::clock::Clock;
use trgen::trace::kernels;
use trgen::trace::program::{Event, Program};
use trgen::trace::replay::{Pace, Replay};
use trgen::{Cycle, Message, NodeId, Picoseconds, TrGen};

/// \[cycles\] Length of each run of synthetic traffic: enough to fill small networks and to trigger the watchdog below.
const CYCLES: u64 = 1_000;
/// \[cycles\] The same with many channels, which are slow to simulate phit by phit.
const CYCLES_OF_MANY: u64 = 500;
/// Programs that take longer, over networks kept nearly empty by congestion control, are compared up to here.
const LIMIT: Cycle = Cycle(100_000);

/// The reference engine, the fast engine, and the fast engine with the network partitioned into 2, 3 or 8 parts, on the
/// same network. Some of those with 2 or 3 parts use threads in every cycle, the others hardly ever, since the networks
/// are small.
fn engines(setup: &Setup) -> [Box<dyn Network>; 3] {
    let (parts, worth) = match setup.params.seed % 12 {
        0 => (2, 0),
        1 | 2 => (3, 0),
        other => ([2, 3, 8][(other % 3) as usize], usize::MAX),
    };
    let fast = |threads| fast::build_for(setup.shape(), setup.checked(), threads, worth).expect("networks are small");
    [Box::new(Reference::new(setup.shape(), setup.checked())), fast(1), fast(parts)]
}

fn run(
    network: &mut dyn Network,
    source: &mut dyn TrGen,
    control: impl FnOnce(&mut Coupled<'_>) -> Outcome,
) -> Outcome {
    let stop = AtomicBool::new(false);
    control(&mut Coupled::new(source, network, &stop))
}

/// Routers as in the other property tests, with packets of 1 to 20 phits, queues of 1 to 8 packets, and a watchdog
/// short enough to fire within a run.
fn wide_routers() -> impl Strategy<Value = RouterParams> {
    (interfaced(controlled(routers())), 1u32..=20, 1u32..=8, 1u64..=400).prop_map(
        |(params, packet_phits, queue, watchdog)| RouterParams {
            packet_phits,
            queue_packets: queue,
            bubble: params.bubble.min(queue),
            lbr: params.lbr.min(queue),
            watchdog_cycles: watchdog,
            ..params
        },
    )
}

/// With at most `most` channels.
fn fitted_to(params: RouterParams, topology: &str, ways: usize, more: usize, most: usize) -> RouterParams {
    let topology = fsin::topology::parse(topology, ways).expect("networks can be built");
    let least = params.routing.min_vcs(topology.shape().dimensions);
    fitted(params, &*topology, more.min(most.saturating_sub(least)))
}

/// Runs on routers with this many channels above the minimum, where the routing accepts them; the total is at most one
/// more than the end of this range.
fn synthetic(channels: RangeInclusive<usize>) -> impl Strategy<Value = Setup> {
    let most = channels.end() + 1;
    // Reactions: a node may offer two messages in a cycle.
    let patterns = prop::sample::select(vec![
        "uniform",
        "uniform",
        "hotspot(0.2,0)",
        "distribute",
        "randperm",
        "source(uniform, temporal=reactive(0.4, 2))",
    ]);
    let faults = prop_oneof![3 => Just(0usize), 1 => 1usize..=3];
    (networks(64), wide_routers(), (channels, faults), patterns, 0.0f64..=1.0).prop_map(
        move |((topology, ways), params, (more, faults), pattern, load)| {
            let params = fitted_to(params, &topology, ways, more, most);
            let orders = params.routing.orders_by_channel();
            // Detours may need more channels.
            let counts_hops = params.routing == Routing::DirectShortest;
            let load = load * f64::from(params.packet_phits.min(4));
            // The smallest networks have few links.
            let faults = faults.min(links(&topology, ways));
            let faults = if orders || counts_hops { 0 } else { faults };
            Setup { load, params, topology, ways, pattern: pattern.to_owned(), faults, paces: None }
        },
    )
}

/// \[links\] Lower bound of the number of links, counting both directions.
fn links(topology: &str, ways: usize) -> usize {
    Survey::of(&*fsin::topology::parse(topology, ways).expect("networks can be built")).links / 2
}

/// One delay per class of links.
fn of_kinds(setup: &Setup, delays: &[u32]) -> Vec<u32> {
    let kinds = setup.shape().link_classes().len().max(1);
    delays.iter().copied().cycle().take(if delays.len() > 1 { kinds } else { delays.len() }).collect()
}

/// Runs `simulate` on [all engines](engines), and returns the result of the reference engine. Refuses results that
/// differ, with the first cycle and the object in which the networks do.
fn agree<T: PartialEq + std::fmt::Debug>(
    setup: &Setup,
    simulate: impl Fn(&mut dyn Network) -> T,
) -> Result<T, TestCaseError> {
    let [reference, fast, cut] = engines(setup).map(|mut network| simulate(&mut *network));
    for (what, number, result) in [("the fast engine", 1, fast), ("the fast engine in parts", 2, cut)] {
        if reference != result {
            let failure = format!("{what} differs: {reference:?}\n{result:?}\n{setup:?}");
            let mut network = setup.network();
            let mut recording = Recording::new(&mut network);
            simulate(&mut recording);
            let (offers, end) = (recording.offers, network.clock());
            let mut build = || {
                let [reference, fast, cut] = engines(setup);
                [reference, if number == 1 { fast } else { cut }]
            };
            let found = difference::first(&mut build, &offers, end);
            return Err(TestCaseError::fail(difference::report(&failure, found)));
        }
    }
    Ok(reference)
}

/// Runs the traffic of a setup on all engines for so many cycles.
fn agree_for(setup: &Setup, cycles: u64) -> Result<Outcome, TestCaseError> {
    agree(setup, |network| run(network, &mut setup.source(), |coupled| fixed(coupled, cycles, &mut |_| {})))
}

fn check_synthetic(setup: &Setup) -> Result<(), TestCaseError> {
    agree_for(setup, if setup.params.vcs > 8 { CYCLES_OF_MANY } else { CYCLES }).map(|_| ())
}

/// A kernel, with a random computing time before every event, on some network.
fn programs() -> impl Strategy<Value = (Setup, Program, Pace)> {
    let kernels = prop::sample::select(vec![
        "all-to-all",
        "one-to-all",
        "all-to-one",
        "n-bodies",
        "mesh2d",
        "torus2d",
        "torus3d",
        "sweep2d",
        "waterfall",
    ]);
    let pace = (1u64..=5_000, prop::sample::select(vec![0.0, 0.37, 1.0]));
    (networks(24), (wide_routers(), 0usize..=5), kernels, 0u64..=1_000, 0u64..=100_000, pace).prop_map(
        |((topology, ways), (params, more), kernel, bytes, compute, (cycle, compute_scale))| {
            // A bubble that prevents deadlock; the synthetic cases compare deadlocks.
            let queue_packets = params.queue_packets.max(2);
            let params = RouterParams { queue_packets, bubble: 2, watchdog_cycles: 10_000, ..params };
            let params = fitted_to(params, &topology, ways, more, 6);
            let setup =
                Setup { topology, ways, params, pattern: "uniform".to_owned(), load: 0.0, faults: 0, paces: None };
            let nodes = setup.shape().nodes();
            let text = format!("{kernel}:tasks={nodes},bytes={bytes},iterations=2");
            let mut program = kernels::parse(&text, nodes, None).expect("these kernels take any number of tasks");
            for (task, events) in program.tasks.iter_mut().enumerate() {
                let quiet = std::mem::take(events);
                for (step, event) in quiet.into_iter().enumerate() {
                    let time = (task as u64 * 7_919 + step as u64 * 104_729) % (compute + 1);
                    events.extend([Event::Compute(Picoseconds(time)), event]);
                }
            }
            (setup, program, Pace { cycle: Clock::whole(cycle), compute_scale })
        },
    )
}

fn check_program((setup, program, pace): &(Setup, Program, Pace)) -> Result<(), TestCaseError> {
    let nodes = setup.shape().nodes();
    let placement: Vec<NodeId> = (0..nodes).map(NodeId::at).collect();
    let simulate = |network: &mut dyn Network| {
        let mut replay = Replay::new(program.clone(), &placement, nodes, *pace).expect("peers and nodes exist");
        let outcome = run(network, &mut replay, |coupled| to_end(coupled, LIMIT, &mut |_| {}));
        (outcome, replay.report())
    };
    agree(setup, simulate).map(|_| ())
}

fn check_cases<S: Strategy>(cases: u32, strategy: &S, check: fn(&S::Value) -> Result<(), TestCaseError>) {
    let result = TestRunner::new(fixed_cases(cases)).run(strategy, |value| check(&value));
    if let Err(error) = result {
        panic!("{error}");
    }
}

/// Interfaces with several messages in progress, which have something to choose from: programs that send to many nodes.
fn interfaces_under_programs() -> impl Strategy<Value = (Setup, Program, Pace)> {
    (programs(), interfaces()).prop_map(|((mut setup, program, pace), interface)| {
        setup.params = fitted(RouterParams { interface, ..setup.params.clone() }, &*setup.shape(), 3);
        (setup, program, pace)
    })
}

#[test]
fn interfaces_on_300_networks() {
    check_cases(300, &interfaces_under_programs(), check_program);
}

#[test]
#[ignore = "10 000 cases take minutes"]
fn interfaces_on_10_000_networks() {
    check_cases(10_000, &interfaces_under_programs(), check_program);
}

#[test]
fn synthetic_traffic_on_400_networks() {
    check_cases(400, &synthetic(0..=5), check_synthetic);
}

/// Networks in which many heads of `bubble:smart` wait, of the sizes whose heads are treated eight routers at once.
fn crowded() -> impl Strategy<Value = Setup> {
    let topologies = ["torus:8x8", "torus:5x3", "mesh:4x6", "torus:2x9", "torus:4x3x4", "mesh:3x3x3"];
    (prop::sample::select(topologies.to_vec()), 0usize..=1, wide_routers(), 0.1f64..=1.0).prop_map(
        |(topology, more, params, load)| {
            let more = if topology.matches('x').count() > 1 { 1 } else { more };
            let params = RouterParams {
                routing: Routing::BubbleSmart,
                injectors: 1,
                injection: Injection::Shortest,
                interface: Interface::Serial,
                consumption: Consumption::Multiple,
                lbr: 0,
                timeouts: None,
                ..params
            };
            let params = fitted_to(params, topology, 2, more, 3);
            Setup { params, ..Setup::new(topology, Routing::BubbleSmart, 3).load(load) }
        },
    )
}

#[test]
fn many_waiting_heads_in_200_networks() {
    check_cases(200, &crowded(), check_synthetic);
}

#[test]
#[ignore = "10 000 cases take minutes"]
fn many_waiting_heads_in_10_000_networks() {
    check_cases(10_000, &crowded(), check_synthetic);
}

/// With ten or more channels, where the routing accepts them.
#[test]
fn synthetic_traffic_on_40_networks_of_many_channels() {
    check_cases(40, &synthetic(9..=31), check_synthetic);
}

/// Networks of switches with enough ports or channels that masks take two, four and more words.
#[test]
fn switches_of_many_queues() {
    for (topology, vcs, load, consumption) in [
        ("fattree:9,2", 4, 1.0, Consumption::Multiple),
        ("fattree:70,1", 1, 0.8, Consumption::Multiple),
        ("fattree:70,1", 3, 1.0, Consumption::SINGLE),
        ("fattree:13,1", 20, 0.3, Consumption::Multiple),
        ("dragonfly:p=2,a=8,h=2,g=5", 6, 1.0, Consumption::Multiple),
        ("hyperx:3x3:2", 12, 0.5, Consumption::SINGLE),
        ("icube:4x3:2", 14, 1.0, Consumption::Multiple),
        ("rrg:s=10,d=5,p=3", 17, 1.0, Consumption::Multiple),
    ] {
        for (routing, least) in routings_of(topology) {
            let mut setup = Setup::new(topology, routing, vcs.max(least)).load(load);
            setup.params.consumption = consumption;
            let queues = setup.shape().shape().ports() * setup.params.vcs + setup.params.injectors;
            assert!(queues > 63, "{topology}, {routing:?}: {queues}");
            let reference = agree_for(&setup, 300).unwrap_or_else(|failure| panic!("{failure}"));
            assert!(reference.totals.received > 20, "{setup:?}");
        }
    }
}

/// Routers at the size limits of masks with half a word and with one, two, four and sixteen words. Waiting for the
/// ejection port uses the bit that stands for no queue.
#[test]
fn routers_of_just_so_many_queues() {
    for (topology, vcs, injectors, queues) in [
        ("torus:4x4", 3, 4, 16),
        ("torus:4x4", 3, 5, 17),
        ("torus:4x4", 7, 3, 31),
        ("torus:4x4", 7, 4, 32),
        ("torus:4x4", 14, 7, 63),
        ("torus:4x4", 14, 8, 64),
        ("torus:4x4", 15, 4, 64),
        ("torus:4x4", 30, 7, 127),
        ("torus:4x4", 30, 8, 128),
        ("mesh:3x2x3", 32, 63, 255),
        ("mesh:3x2x3", 32, 64, 256),
        ("fattree:4,2", 1, 8, 16),
        ("fattree:4,2", 1, 9, 17),
        ("fattree:4,2", 3, 7, 31),
        ("fattree:4,2", 3, 8, 32),
        ("fattree:4,2", 7, 7, 63),
        ("fattree:4,2", 7, 8, 64),
        ("fattree:4,2", 15, 7, 127),
        ("fattree:4,2", 15, 8, 128),
        ("fattree:4,2", 31, 7, 255),
        ("fattree:4,2", 31, 8, 256),
        ("fattree:30,1", 32, 63, 1023),
    ] {
        let switched = topology.starts_with("fattree");
        let routing = if switched { Routing::TreeAdaptive } else { Routing::BubbleSmart };
        let mut setup = Setup::new(topology, routing, vcs).load(1.0);
        setup.params = RouterParams {
            injectors,
            packet_phits: 3,
            consumption: Consumption::SINGLE,
            arbitration: Arbitration::Age,
            ..setup.params
        };
        assert_eq!(setup.shape().shape().ports() * vcs + injectors, queues, "{topology}");
        let reference = agree_for(&setup, 60).unwrap_or_else(|failure| panic!("{queues} queues: {failure}"));
        assert!(reference.totals.received > 20, "{setup:?}");
    }
}

/// Queues of exactly as many packets as a byte can count, and of more, on the way to a hot node.
#[test]
fn queues_of_just_so_many_packets() {
    for (topology, routing, packets) in [
        ("torus:4x4", Routing::BubbleOblivious, 255),
        ("torus:4x4", Routing::BubbleOblivious, 256),
        ("fattree:4,2", Routing::TreeAdaptive, 255),
        ("fattree:4,2", Routing::TreeAdaptive, 256),
    ] {
        let mut setup = Setup::new(topology, routing, 1).load(1.0).pattern("hotspot(1, 5)");
        setup.params = RouterParams {
            queue_packets: packets,
            packet_phits: 1,
            consumption: Consumption::SINGLE,
            arbitration: Arbitration::Longest,
            ..setup.params
        };
        let simulate = |network: &mut dyn Network| {
            let outcome = run(network, &mut setup.source(), |coupled| fixed(coupled, 900, &mut |_| {}));
            let mut occupancy = Occupancy::default();
            network.settled().view.expect("both engines can be looked at").occupancy(&mut occupancy);
            (outcome, occupancy.transit.into_iter().max())
        };
        let reference = agree(&setup, simulate).unwrap_or_else(|failure| panic!("{packets} packets: {failure}"));
        assert_eq!(reference.1, Some(packets), "some queue of {topology} is full");
    }
}

/// A fault in an engine is found where it arises: a message that is forgotten, and routers that take a cycle longer.
#[test]
fn the_first_difference_of_a_faulty_engine_is_named() {
    let setup = Setup::new("mesh:4x4", Routing::BubbleOblivious, 1).load(0.3);
    let mut network = setup.network();
    let mut recording = Recording::new(&mut network);
    run(&mut recording, &mut setup.source(), |coupled| fixed(coupled, 500, &mut |_| {}));
    let offers = recording.offers;
    let mut sound = || -> [Box<dyn Network>; 2] { [Box::new(setup.network()), setup.fast_network()] };
    assert_eq!(difference::first(&mut sound, &offers, Cycle(500)), None);

    // A message that the second engine forgets.
    let (at, lost) = offers[offers.len() / 2];
    let forget = || -> [Box<dyn Network>; 2] {
        [
            Box::new(setup.network()),
            Box::new(Forgetful { network: setup.fast_network(), lost: lost.id, from: lost.source }),
        ]
    };
    let found = difference::first(&mut { forget }, &offers, Cycle(500)).expect("a message is missing");
    assert_eq!(found.cycle, at, "{found}");
    // Its source is told that it is sent, or shows that it waits, in one of the two networks alone.
    let is_it = match found.object {
        Object::Notice(_, message) => (message.id, message.source) == (lost.id, lost.source),
        Object::Waiting(node) | Object::Injection(node) => node == lost.source,
        _ => false,
    };
    assert!(is_it, "{found}");

    // A router that takes a cycle longer.
    let mut slow = Setup::new("mesh:4x4", Routing::BubbleOblivious, 1).load(0.3);
    slow.params.router_delay = 1;
    let mut delayed = || -> [Box<dyn Network>; 2] { [Box::new(setup.network()), slow.fast_network()] };
    let found = difference::first(&mut delayed, &offers, Cycle(500)).expect("headers are late");
    let first_hop = offers[0].0;
    assert!((first_hop.0 + 1..first_hop.0 + 6).contains(&found.cycle.0), "{found}");
    assert!(matches!(found.object, Object::Queue(..) | Object::Link(..) | Object::Injection(_)), "{found}");
}

/// A network that accepts a message and forgets it.
struct Forgetful {
    network: Box<dyn Network>,
    /// The message, by its handle and source.
    lost: u64,
    from: NodeId,
}

impl Network for Forgetful {
    fn nodes(&self) -> usize {
        self.network.nodes()
    }

    fn clock(&self) -> Cycle {
        self.network.clock()
    }

    fn inject(&mut self, message: Message) -> Injected {
        let is_lost = (message.id, message.source) == (self.lost, self.from);
        if is_lost { Injected::Accepted } else { self.network.inject(message) }
    }

    fn advance(&mut self, until: Cycle, notices: &mut Notices) -> Result<(), NetworkFailure> {
        self.network.advance(until, notices)
    }

    fn in_flight(&self) -> u64 {
        self.network.in_flight()
    }

    fn settled(&mut self) -> Settled<'_> {
        self.network.settled()
    }

    fn recorder_mut(&mut self) -> &mut Recorder {
        self.network.recorder_mut()
    }

    fn observe(&mut self) {
        self.network.observe();
    }
}

/// Networks of switches, which have their own routings.
fn switched() -> impl Strategy<Value = Setup> {
    (switched_setups(), wide_routers()).prop_map(|(setup, wide)| Setup {
        load: setup.load * f64::from(wide.packet_phits.min(4)),
        params: effective(RouterParams {
            packet_phits: wide.packet_phits,
            queue_packets: wide.queue_packets,
            bubble: wide.bubble,
            watchdog_cycles: wide.watchdog_cycles,
            link_delays: of_kinds(&setup, &wide.link_delays),
            router_delay: wide.router_delay,
            global_cc: wide.global_cc,
            consumption: wide.consumption,
            interface: match wide.interface {
                Interface::PerPort => Interface::Interleaved(2),
                other => other,
            },
            ..setup.params
        }),
        ..setup
    })
}

#[test]
fn synthetic_traffic_on_200_networks_of_switches() {
    check_cases(200, &switched(), check_synthetic);
}

/// Networks of switches whose links have unlike rates, injection by phits included.
fn paced() -> impl Strategy<Value = Setup> {
    (switched(), any::<u64>()).prop_map(|(setup, seed)| Setup { paces: Some(seed), ..setup })
}

#[test]
fn links_of_unlike_rate_in_300_networks() {
    check_cases(300, &paced(), check_synthetic);
}

/// The same setup with drawn failures and repairs of links, by a routing that goes round them; `None` where that does not
/// fit.
fn with_failures(setup: &Setup, draws: &[u64]) -> Option<Setup> {
    let topology: Arc<dyn Topology> = setup.shape().into();
    let timetable = Timetable::new(failures::drawn(&*topology, draws, 200), &topology);
    let mut params = RouterParams { timetable, ..setup.params.clone() };
    if topology.switched().is_some() {
        (params.routing, params.vcs) = match draws[0] % 3 {
            0 => (Routing::GraphShortest, 8),
            _ => (Routing::GraphUpDown, params.vcs),
        };
        params.alternatives *= u32::from(params.routing == Routing::GraphShortest);
    }
    let params = effective(params);
    let is_timed = !params.timetable.is_empty() && params.check(&*topology).is_ok();
    is_timed.then(|| Setup { params, ..setup.clone() })
}

fn failing() -> impl Strategy<Value = Setup> {
    let setups = prop_oneof![2 => synthetic(0..=3), 1 => switched(), 1 => paced()];
    (setups, prop::collection::vec(any::<u64>(), 1..8))
        .prop_filter_map("goes round dead links", |(setup, draws)| with_failures(&setup, &draws))
}

fn check_failing(setup: &Setup) -> Result<(), TestCaseError> {
    let outcome = agree_for(setup, CYCLES)?;
    let whole: u64 = outcome.phases.iter().map(|phase| phase.counts.generated).sum();
    let gone: u64 = outcome.phases.iter().map(|phase| phase.counts.received + phase.counts.dropped).sum();
    prop_assert_eq!(whole, gone + outcome.in_flight);
    Ok(())
}

#[test]
fn links_that_fail_in_300_networks() {
    check_cases(300, &failing(), check_failing);
}

#[test]
#[ignore = "5 000 cases take minutes"]
fn links_that_fail_in_5_000_networks() {
    check_cases(5_000, &failing(), check_failing);
}

#[test]
#[ignore = "5 000 cases take minutes"]
fn links_of_unlike_rate_in_5_000_networks() {
    check_cases(5_000, &paced(), check_synthetic);
}

#[test]
#[ignore = "5 000 cases take minutes"]
fn synthetic_traffic_on_5_000_networks_of_switches() {
    check_cases(5_000, &switched(), check_synthetic);
}

/// Every routing of every network of switches at full load, on one thread and on three.
#[test]
fn threads_do_not_show_in_networks_of_switches() {
    for topology in SWITCHES {
        for (routing, vcs) in routings_of(topology) {
            let setup = Setup::new(topology, routing, vcs).load(1.0);
            let results = [1, 3].map(|threads| {
                let network = fast::build_for(setup.shape(), setup.checked(), threads, 0);
                let mut network = network.expect("networks are small");
                run(&mut *network, &mut setup.source(), |coupled| fixed(coupled, 600, &mut |_| {}))
            });
            assert!(results[0].totals.received > 20, "{setup:?}");
            assert_eq!(&results[0], &results[1], "{topology} {routing:?}");
        }
    }
}

#[test]
fn kernels_with_computing_on_100_networks() {
    check_cases(100, &programs(), check_program);
}

#[test]
#[ignore = "20 000 cases take minutes"]
fn synthetic_traffic_on_15_000_networks() {
    check_cases(15_000, &synthetic(0..=5), check_synthetic);
}

#[test]
#[ignore = "20 000 cases take minutes"]
fn kernels_with_computing_on_5_000_networks() {
    check_cases(5_000, &programs(), check_program);
}

/// Several threads give the results of one, in every mode, including cycles with enough work to wake them.
#[test]
fn threads_do_not_show() {
    for routing in all_routings() {
        for (topology, packet_phits, consumption) in [
            ("torus:16x16", 16, Consumption::Multiple),
            ("mesh:8x4x8", 4, Consumption::SINGLE),
            ("torus:300", 1, Consumption::Multiple),
        ] {
            let params = RouterParams { routing, packet_phits, consumption, ..RouterParams::default() };
            let params = fitted_to(params, topology, 2, 1, 6);
            let setup = Setup { params, ..Setup::new(topology, routing, 3).load(1.0) };
            let results = [1, 2, 3, 8].map(|threads| {
                let network = fast::build(setup.shape(), setup.checked(), threads);
                let mut network = network.expect("networks are small");
                run(&mut *network, &mut setup.source(), |coupled| fixed(coupled, 600, &mut |_| {}))
            });
            assert!(results[0].totals.received > 1_000, "{setup:?}");
            for other in &results[1..] {
                assert_eq!(&results[0], other, "{topology} {routing:?}");
            }
        }
    }
}

/// Computing is free: a program whose tasks compute a million times longer than they communicate takes as many steps of
/// the network as the same program without computing.
#[test]
fn long_computing_is_jumped_over() {
    let setup = Setup::new("torus:4x4", Routing::BubbleSmart, 3);
    let quiet = kernels::parse("all-to-all:tasks=16,bytes=1024", 16, None).expect("a kernel for 16 tasks");
    let mut busy = quiet.clone();
    for events in &mut busy.tasks {
        let before = std::mem::take(events);
        events.extend(before.into_iter().flat_map(|event| [Event::Compute(Picoseconds(3_200_000_000_000)), event]));
    }
    let placement: Vec<NodeId> = (0..16).map(NodeId::at).collect();
    let pace = Pace { cycle: Clock::whole(3_200), compute_scale: 1.0 };
    let [quiet, busy] = [quiet, busy].map(|program| {
        let mut network = setup.fast_network();
        let mut replay = Replay::new(program, &placement, 16, pace).expect("peers and nodes exist");
        // Phit by phit, these cycles would take days.
        run(&mut *network, &mut replay, |coupled| to_end(coupled, Cycle(u64::MAX / 4), &mut |_| {}))
    });
    assert_eq!(quiet.totals.received, busy.totals.received);
    assert!(busy.cycles > 1_000_000 * quiet.cycles, "{} and {} cycles", quiet.cycles, busy.cycles);
}
