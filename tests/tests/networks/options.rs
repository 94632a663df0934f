//! Delays of links and routers, congestion control, faults of direct networks: their effects, beyond the agreement of
//! both engines.

use std::collections::HashSet;

use fsin::engine::fast;
use fsin::network::{Injected, Network, Notices};
use fsin::router::faults::Reachability;
use fsin::router::{GlobalCc, RouterParams, Timeouts};
use fsin::routing::Routing;
use fsin::run::{Outcome, fixed};
use fsin::topology::Port;
use proptest::prelude::*;
use tests::setup::{Setup, accepted_load};
use tests::strategies::{SWITCHES, fitted, fixed_cases, minimal_routings, networks, routings_of};
use trgen::synthetic::{Config, Traffic};
use trgen::{Cycle, Message, NodeId};

/// Delay and hops of a single packet in a network.
fn alone(network: &mut dyn Network, from: usize, to: usize) -> (u64, u64) {
    let message = Message { id: 0, source: NodeId::at(from), destination: NodeId::at(to), bytes: 1, class: 0 };
    assert_eq!(network.inject(message), Injected::Accepted, "{from} to {to}");
    let mut notices = Notices::default();
    while network.in_flight() > 0 {
        network.advance(Cycle::NEVER, &mut notices).unwrap_or_else(|deadlock| panic!("{from} to {to}: {deadlock}"));
    }
    let window = network.recorder_mut().take_window();
    (window.latency.moments().max().expect("it was received"), window.hops.max().expect("it was received"))
}

proptest! {
    #![proptest_config(fixed_cases(32))]

    /// Zero-load latency is the sum over hops of 1 + link delay + router delay, plus L - 1; in both engines, with
    /// cycles skipped while phits are on the wire, and with a watchdog shorter than the link delay.
    #[test]
    fn zero_load_latency_counts_links_and_routers(
        (topology, ways) in networks(48),
        delays in prop::collection::vec(0u32..=60, 1..=4),
        router_delay in 0u32..=20,
        packet_phits in 1u32..=20,
    ) {
        let setup = Setup { ways, ..Setup::new(&topology, Routing::BubbleSmart, 3) };
        let base = RouterParams {
            packet_phits, router_delay, link_delays: delays, watchdog_cycles: 25, ..RouterParams::default()
        };
        let setup = Setup { params: fitted(base, &*setup.shape(), 1), ..setup };
        let shape = setup.shape();
        let mut engines: [Box<dyn Network>; 2] = [Box::new(setup.network()), setup.fast_network()];
        let nodes = shape.nodes();
        let mut sequences = vec![0; nodes];
        for pair in (0..nodes * nodes).step_by((nodes * nodes / 20).max(1) | 1) {
            let (from, to) = (pair / nodes, pair % nodes);
            if from == to {
                continue;
            }
            let source = fsin::router::request::source_key(setup.params.seed, NodeId::at(from));
            let key = fsin::router::request::packet_key(source, sequences[from]);
            sequences[from] += 1;
            let draw = &mut |dimension| fsin::router::request::draw_direction(key, dimension);
            let route = shape.offsets(NodeId::at(from), NodeId::at(to), draw);
            let (mut hops, mut expected) = (0, u64::from(packet_phits) - 1);
            for (dimension, &offset) in route.iter().enumerate().filter(|&(_, &offset)| offset != 0) {
                let delays = &setup.params.link_delays;
                let link = if delays.len() == 1 { delays[0] } else { delays[dimension] };
                let count = u64::from(offset.unsigned_abs());
                hops += count;
                expected += count * u64::from(1 + link + router_delay);
            }
            for engine in &mut engines {
                prop_assert_eq!(alone(&mut **engine, from, to), (expected, hops), "{} to {} of {:?}", from, to, setup);
            }
        }
    }
}

/// Dragonflies have separate delays for three classes of links. Delays given in a file of links are added to the common
/// delay.
#[test]
fn kinds_of_links_have_delays_of_their_own() {
    let mut setup = Setup::new("dragonfly:p=2,a=4,h=2", Routing::DragonflyMinimal, 3);
    setup.params.link_delays = vec![1, 10, 100];
    setup.params.router_delay = 3;
    let mut network = setup.fast_network();
    let body = 15;
    // To the switch and back; within a group.
    assert_eq!(alone(&mut *network, 0, 1), (2 * 5 + body, 2));
    assert_eq!(alone(&mut *network, 0, 2), (2 * 5 + 14 + body, 3));
    // Between groups: one link between groups, and zero to two within.
    let mut seen = HashSet::new();
    for to in 8..72 {
        let (delay, hops) = alone(&mut *network, 0, to);
        assert_eq!(delay, 2 * 5 + 104 + (hops - 3) * 14 + body, "to {to}");
        seen.insert(hops);
    }
    assert_eq!(seen, HashSet::from([3, 4, 5]));

    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in [
        ("net.txt", "A B delay 7\nB C\nC D delay 20\n"),
        ("net.dot", "graph { A -- B [delay=7]; B -- C; C -- D [delay=\"20\"] }"),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("a file");
        let mut setup = Setup::new(&format!("graph:{}", path.display()), Routing::GraphUpDown, 1);
        setup.params.link_delays = vec![2];
        let mut network = setup.fast_network();
        for (to, hops, wires) in [(1, 3, 7 + 3 * 2), (2, 4, 7 + 4 * 2), (3, 5, 27 + 5 * 2)] {
            assert_eq!(alone(&mut *network, 0, to), (hops + wires + body, hops), "{name} to {to}");
        }
    }
}

/// A packet occupies its buffer from the departure of its header to the ejection of its tail, L + delay and 2 cycles
/// for the turnaround: that bounds the throughput of a link. (Each packet takes one hop: no deadlock is possible
/// without a bubble.)
#[test]
fn a_long_link_needs_long_queues() {
    let load = |queue, delay| {
        let mut setup = Setup::new("torus:8", Routing::BubbleOblivious, 1).pattern("neighbor(1)").load(1.0);
        setup.params.queue_packets = queue;
        setup.params.link_delays = vec![delay];
        setup.params.bubble = 0;
        accepted_load(&setup.fixed(20_000), 16)
    };
    for (queue, delay) in [(4, 200), (4, 400), (8, 400)] {
        let (found, bound) = (load(queue, delay), f64::from(queue * 16) / f64::from(delay + 16 + 2));
        assert!((0.96 * bound..=bound).contains(&found), "{queue} packets, {delay} cycles: {found}, bound {bound}");
    }
    assert!(load(4, 0) > 0.93 && load(32, 400) > 0.93);
}

fn with(change: impl FnOnce(&mut RouterParams)) -> Outcome {
    let mut setup = Setup::new("torus:8x8", Routing::BubbleSmart, 3).load(1.0);
    change(&mut setup.params);
    setup.fixed(6_000)
}

#[test]
fn global_control_keeps_the_network_as_empty_as_asked() {
    let free = with(|_| {});
    let control = |percent, period| with(|params| params.global_cc = Some(GlobalCc { percent, period }));
    // The network never holds more packets than fit in all queues.
    assert_eq!(control(100.0, 0).digest, free.digest);
    let latency = |outcome: &Outcome| outcome.measured.latency.moments().mean().expect("packets arrive");
    let transit =
        |outcome: &Outcome| latency(outcome) - outcome.measured.injection_latency.mean().expect("headers leave");
    let (some, few) = (control(4.0, 0), control(1.0, 0));
    assert!(transit(&free) > transit(&some) && transit(&some) > transit(&few), "the emptier, the faster");
    // A hundredth of 64 x 12 x 4 packets is 30: fewer than one for two nodes, some 4 hops each.
    let few_load = accepted_load(&few, 16);
    assert!((0.2..0.6).contains(&few_load), "{few_load}");
    let rare = control(4.0, 500);
    assert!(rare.failure.is_none() && rare.digest != some.digest && rare.totals.received > 5_000);
}

/// Switches have queues too, and packets waiting while congestion control blocks injection are not lost.
#[test]
fn global_control_ends() {
    for (routing, vcs) in routings_of("fattree:4,2") {
        let mut setup = Setup::new("fattree:4,2", routing, vcs).load(1.0);
        setup.params.global_cc = Some(GlobalCc { percent: 0.0, period: 200 });
        let outcome = setup.fixed(5_000);
        assert!(outcome.failure.is_none() && outcome.totals.received > 50, "{routing:?}");
        assert_eq!(outcome.totals.generated, outcome.totals.received + outcome.in_flight);
    }
}

#[test]
fn restrictions_act_while_a_node_is_congested() {
    let restricted = |timeouts| {
        with(|params| {
            params.lbr = 3;
            params.in_transit_priority = 1.0;
            params.timeouts = timeouts;
        })
    };
    let limits = |upper, lower| Some(Timeouts { upper, lower });
    let (free, always) = (with(|_| {}), restricted(None));
    assert_eq!(restricted(limits(1 << 30, 0)).digest, free.digest, "no header waits for so long");
    let sometimes = restricted(limits(40, 30));
    assert!(sometimes.digest != free.digest && sometimes.digest != always.digest);
    assert!(sometimes.failure.is_none());
}

/// Long messages stay in the escape channel. If all are long, this is oblivious routing with one channel; if all are
/// short, it is random adaptive routing.
#[test]
fn bimodal_keeps_long_messages_in_the_escape_channel() {
    let digest = |routing, vcs, packets: u32| {
        let setup = Setup::new("torus:5x4", routing, vcs).load(0.5);
        let config = Config {
            load: setup.load,
            size: format!("uniform({0},{0})", 16 * packets).parse().expect("a law of one size"),
            packet_phits: 16,
            phit_bytes: 4,
            ..Config::new(setup.shape().geometry().clone())
        };
        let mut source = Traffic::new(&config).expect("a law of one size");
        let mut network = setup.fast_network();
        let stop = std::sync::atomic::AtomicBool::new(false);
        let outcome = fixed(&mut fsin::couple::Coupled::new(&mut source, &mut *network, &stop), 5_000, &mut |_| {});
        assert!(outcome.totals.received > 500);
        outcome.digest
    };
    assert_eq!(digest(Routing::BubbleBimodal, 3, 1), digest(Routing::BubbleRandom, 3, 1));
    assert_eq!(digest(Routing::BubbleBimodal, 3, 3), digest(Routing::BubbleOblivious, 1, 3));
    assert_ne!(digest(Routing::BubbleRandom, 3, 3), digest(Routing::BubbleOblivious, 1, 3));
}

/// Reachable pairs communicate, messages of lost pairs are dropped, and nothing hangs.
#[test]
fn pairs_that_dead_links_leave_a_route_reach_each_other() {
    for (topology, ways) in
        [("torus:4x4", 2), ("mesh:3x4", 2), ("torus:5x3", 1), ("hypercube:4", 2), ("twisted:6x3:3", 2)]
    {
        let mut counts = Vec::new();
        for routing in minimal_routings() {
            let mut setup = Setup { ways, faults: 3, ..Setup::new(topology, routing, 3).seed(4) };
            setup.params = fitted(setup.params.clone(), &*setup.shape(), 1);
            if setup.params.check(&*setup.shape()).is_err() || setup.params.routing != routing {
                assert!(routing.orders_by_channel() || routing.uses_datelines(), "{topology} {routing:?}");
                continue;
            }
            let shape = setup.shape();
            let reachability = Reachability::new(&setup.params, &*shape).expect("links are dead");
            let lost = reachability.lost(&*shape, usize::MAX);
            let pairs: HashSet<_> = lost.some.iter().copied().collect();
            assert_eq!(pairs.len(), lost.count);
            let mut network = fast::build(setup.shape(), setup.checked(), 1).expect("few queues");
            for from in 0..shape.nodes() {
                for to in (0..shape.nodes()).filter(|&to| to != from) {
                    let (source, destination) = (NodeId::at(from), NodeId::at(to));
                    if pairs.contains(&(source, destination)) {
                        let message = Message { id: 0, source, destination, bytes: 1, class: 0 };
                        assert_eq!(network.inject(message), Injected::Dropped, "{topology} {routing:?}");
                    } else {
                        // A single packet, with any of the routes that it may have drawn.
                        alone(&mut *network, from, to);
                    }
                }
            }
            assert_eq!(network.settled().recorder.totals().dropped, lost.count as u64);
            // No deadlock at full load.
            let full = setup.clone().load(1.0).fixed(6_000);
            assert!(full.failure.is_none(), "{topology} {routing:?}: {:?}", full.failure);
            assert_eq!(full.totals.generated, full.totals.received + full.totals.dropped + full.in_flight);
            assert!(full.totals.received > 1_000 && full.totals.dropped > 0);
            counts.push((routing, lost.count));
        }
        let count = |wanted| counts.iter().find(|&&(routing, _)| routing == wanted).expect("it was tried").1;
        // Neighbours across a dead link have no other minimal route, whatever the routing.
        assert!(count(Routing::BubbleSmart) >= 3 && count(Routing::BubbleSmart) < count(Routing::BubbleOblivious));
    }
}

/// Deterministic routes lose exactly the pairs all of whose routes cross a dead link.
#[test]
fn deterministic_routing_loses_the_pairs_whose_routes_are_cut() {
    let mut setup = Setup { faults: 2, ..Setup::new("torus:5x5", Routing::BubbleOblivious, 1).seed(9) };
    for order in [fsin::routing::Order::Dimension, fsin::routing::Order::Direction] {
        setup.params.order = order;
        let (shape, whole) = (setup.shape(), Setup { faults: 0, ..setup.clone() }.shape());
        let mut cut = HashSet::new();
        for pair in 0..625 {
            let (from, to) = (NodeId(pair / 25), NodeId(pair % 25));
            let (mut at, mut rest) = (from, whole.offsets(from, to, &mut |_| true));
            while let Some(port) = order.next(shape.shape(), &rest[..2]) {
                if shape.neighbour(at, port).is_none() {
                    cut.insert((from, to));
                }
                at = whole.neighbour(at, port).expect("a torus has no border");
                let Port(port) = port;
                rest[port as usize / 2] -= if port % 2 == 0 { 1 } else { -1 };
            }
        }
        let lost = Reachability::new(&setup.params, &*shape).expect("links are dead").lost(&*shape, usize::MAX);
        assert_eq!(lost.some.into_iter().collect::<HashSet<_>>(), cut);
        assert!(cut.len() >= 4 && cut.len() < 200);
    }
}

/// Every network of switches accepts a delay of all its links.
#[test]
fn switches_take_delays() {
    for topology in SWITCHES {
        let (routing, vcs) = routings_of(topology)[0];
        let mut setup = Setup::new(topology, routing, vcs);
        setup.params.link_delays = vec![5];
        let mut network = setup.fast_network();
        let last = network.nodes() - 1;
        let (delay, hops) = alone(&mut *network, 0, last);
        assert_eq!(delay, 6 * hops + 15, "{topology}");
    }
}
