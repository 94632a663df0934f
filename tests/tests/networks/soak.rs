//! Every routing on every topology at full load, for a long time: no deadlock, no lost packets, and packets of minimal
//! routings take as many hops as breadth-first search finds.
#![allow(clippy::print_stdout, reason = "how many runs there were")]

use std::sync::atomic::AtomicBool;

use fsin::couple::Coupled;
use fsin::engine::fast;
use fsin::router::{GlobalCc, RouterParams, Timeouts};
use fsin::routing::{Order, Routing};
use fsin::run::fixed;
use fsin::topology::{Port, Topology};
use tests::setup::Setup;
use tests::strategies::{SWITCHES, all_routings, fitted, routings_of};
use trgen::synthetic::Traffic;
use trgen::{Cycle, Delivery, Message, Next, NodeId, Outbox, SourceError, TrGen};

/// \[cycles\] Length of each run.
const CYCLES: u64 = 200_000;

const SEEDS: [u64; 3] = [1, 7, 2026];

/// Direct networks with all special cases: odd and even rings, unidirectional, sizes 1 and 2, twists, jumps.
const DIRECT: [(&str, usize); 16] = [
    ("torus:4x4", 2),
    ("torus:5x3", 1),
    ("torus:4x3x2", 2),
    ("torus:9", 2),
    ("torus:2x1x5", 2),
    ("mesh:4x4", 2),
    ("mesh:3x2x3", 2),
    ("twisted:6x3:3", 2),
    ("twisted:3x3x3:yx=1,zy=2", 2),
    ("hypercube:4", 2),
    ("circulant:20:3,4", 2),
    ("circulant:13:1,5", 1),
    ("midimew:17", 2),
    ("circpk:3^3", 2),
    ("spidergon:14", 2),
    ("spinnaker:5x4", 2),
];

/// \[hops\] Distances between all pairs of endpoints, by breadth-first search over links.
fn distances(topology: &dyn Topology) -> Vec<Vec<u64>> {
    let ports = topology.shape().ports();
    let from = |start: usize| {
        let mut distances = vec![u64::MAX; topology.nodes()];
        distances[start] = 0;
        let mut reached = vec![start];
        let mut next = 0;
        while next < reached.len() {
            let here = reached[next];
            next += 1;
            for there in (0..ports).filter_map(|port| topology.neighbour(NodeId::at(here), Port::at(port))) {
                if distances[there.index()] == u64::MAX {
                    distances[there.index()] = distances[here] + 1;
                    reached.push(there.index());
                }
            }
        }
        distances
    };
    (0..topology.endpoints()).map(from).collect()
}

/// A source that sums the distances between source and destination of all deliveries.
struct Watched {
    source: Traffic,
    distances: Vec<Vec<u64>>,
    sum: u64,
    delivered: u64,
}

impl TrGen for Watched {
    fn nodes(&self) -> usize {
        self.source.nodes()
    }

    fn generate(&mut self, now: Cycle, outbox: &mut Outbox) -> Result<(), SourceError> {
        self.source.generate(now, outbox)
    }

    fn sent(&mut self, now: Cycle, message: &Message) {
        self.source.sent(now, message);
    }

    fn delivered(&mut self, now: Cycle, delivery: &Delivery) {
        let message = &delivery.message;
        self.sum += self.distances[message.source.index()][message.destination.index()];
        self.delivered += 1;
        self.source.delivered(now, delivery);
    }

    fn dropped(&mut self, now: Cycle, message: &Message) {
        self.source.dropped(now, message);
    }

    fn next(&self) -> Next {
        self.source.next()
    }
}

/// True if all paths of the routing are shortest ones.
fn is_minimal(routing: Routing) -> bool {
    // Through another group, or avoiding links between groups; through another switch; not below the root.
    !matches!(
        routing,
        Routing::DragonflyMinimal
            | Routing::DragonflyValiant
            | Routing::DragonflyUgal
            | Routing::HyperxAdaptive
            | Routing::GraphUpDown
    )
}

fn soak(setup: &Setup) {
    let shape = setup.shape();
    let distances = distances(&*shape);
    let mut network = fast::build(shape, setup.checked(), 1).expect("networks are small");
    let mut source = Watched { source: setup.source(), distances, sum: 0, delivered: 0 };
    let stop = AtomicBool::new(false);
    let outcome = fixed(&mut Coupled::new(&mut source, &mut *network, &stop), CYCLES, &mut |_| {});
    assert!(outcome.complete && outcome.failure.is_none(), "{setup:?}: {:?}", outcome.failure);
    let totals = &outcome.totals;
    assert_eq!(totals.generated, totals.received + totals.dropped + outcome.in_flight, "{setup:?}");
    // At least a twentieth of the ejection bandwidth, from the first cycle to the last.
    let least = CYCLES * outcome.nodes as u64 / u64::from(setup.params.packet_phits) / 20;
    assert!(totals.received >= least, "{setup:?}: {} packets of {least}", totals.received);
    let hops = &outcome.measured.hops;
    assert_eq!(hops.count(), source.delivered, "{setup:?}");
    if is_minimal(setup.params.routing) {
        let mean = source.sum as f64 / source.delivered as f64;
        let found = hops.mean().expect("packets were received");
        assert!((found - mean).abs() < 1e-9, "{setup:?}: {found} hops, shortest paths have {mean}");
    }
}

#[test]
#[ignore = "200 000 cycles of every routing on every topology take minutes"]
fn every_routing_on_every_direct_network() {
    let mut runs = 0;
    for (topology, ways) in DIRECT {
        for routing in all_routings() {
            for (seed, order) in SEEDS.into_iter().zip([Order::Dimension, Order::Direction, Order::Dimension]) {
                let base = Setup { ways, ..Setup::new(topology, routing, 3).load(1.0).seed(seed) };
                let params = RouterParams { order, ..base.params.clone() };
                let params = fitted(params, &*base.shape(), (seed % 2) as usize);
                if params.routing != routing {
                    // Not for this topology.
                    continue;
                }
                soak(&Setup { params, ..base });
                runs += 1;
            }
        }
        println!("{topology}: {runs} runs so far");
    }
    println!("{runs} runs of {CYCLES} cycles");
    assert!(runs > 300);
}

/// The same with additional delays: of links and routers, dead links, congestion control.
#[test]
#[ignore = "200 000 cycles of every routing on every topology take minutes"]
fn every_routing_with_delays_faults_and_control() {
    let mut runs = 0;
    for (topology, ways) in DIRECT {
        for routing in all_routings() {
            for (seed, faults) in [(3, 0), (5, 2)] {
                let base = Setup { ways, faults, ..Setup::new(topology, routing, 3).load(1.0).seed(seed) };
                let mut params = fitted(base.params.clone(), &*base.shape(), 0);
                if params.routing != routing || (faults > 0 && routing.orders_by_channel()) {
                    continue;
                }
                params.link_delays = vec![5];
                params.router_delay = 2;
                if faults == 0 {
                    params.global_cc = Some(GlobalCc { percent: 40.0, period: 50 });
                    params.lbr = if params.routing.uses_bubble() { 3 } else { 0 };
                    params.in_transit_priority = 1.0;
                    params.timeouts = Some(Timeouts { upper: 100, lower: 75 });
                }
                soak(&Setup { params, ..base });
                runs += 1;
            }
        }
        println!("{topology}: {runs} runs so far");
    }
    println!("{runs} runs of {CYCLES} cycles");
    assert!(runs > 200);
}

/// A packet whose only candidates at the source are adaptive channels does not take the escape channel towards the dead
/// link.
#[test]
fn packets_keep_out_of_escape_routes_that_are_cut() {
    for routing in [Routing::BubbleRandom, Routing::BubbleSmart, Routing::BubbleShortest, Routing::BubbleAdaptive] {
        for seed in 1..=24 {
            let base = Setup { ways: 1, faults: 2, ..Setup::new("circulant:13:1,5", routing, 2).load(1.0).seed(seed) };
            let params = RouterParams { link_delays: vec![5], router_delay: 2, ..base.params.clone() };
            let setup = Setup { params, ..base };
            let mut network = fast::build(setup.shape(), setup.checked(), 1).expect("networks are small");
            let mut source = setup.source();
            let stop = AtomicBool::new(false);
            let outcome = fixed(&mut Coupled::new(&mut source, &mut *network, &stop), CYCLES / 10, &mut |_| {});
            assert!(outcome.complete && outcome.failure.is_none(), "{setup:?}: {:?}", outcome.failure);
        }
    }
}

#[test]
#[ignore = "200 000 cycles of every routing on every network of switches take minutes"]
fn every_routing_on_every_network_of_switches() {
    let mut runs = 0;
    for topology in
        SWITCHES.into_iter().chain(["fattree:4,3", "thintree:4,2,3", "slimtree:4,2,3", "dragonfly:p=2,a=4,h=2"])
    {
        for (routing, vcs) in routings_of(topology) {
            for seed in SEEDS {
                soak(&Setup::new(topology, routing, vcs + (seed % 2) as usize).load(1.0).seed(seed));
                runs += 1;
            }
        }
        println!("{topology}: {runs} runs so far");
    }
    println!("{runs} runs of {CYCLES} cycles");
    assert!(runs > 150);
}
