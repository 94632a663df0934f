//! Both engines agree, flows never exceed a capacity, and bytes are conserved.

use fsin_core::engine::Engine;
use fsin_core::network::{Network, Notices};
use fsin_core::topology;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt as _, SeedableRng as _};
use trgen::{Cycle, Delivery, Message, NodeId};

use crate::engine::Flows;
use crate::{Fairness, Params, Paths};

const TOPOLOGIES: &[&str] = &[
    "torus:4x4",
    "torus:8",
    "mesh:3x4",
    "star:6",
    "fattree:2,3",
    "dragonfly:p=1,a=2,h=1",
    "hyperx:3x3:2",
    "torus:3x3x3",
    "circulant:12:1,3",
];

/// A drawn network, and messages with the times \[ps\] at which they start.
fn drawn(case: u64) -> (String, Params, Vec<(u64, Message)>) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(case);
    let spec = TOPOLOGIES[rng.random_range(0..TOPOLOGIES.len())].to_owned();
    let nodes = topology::parse(&spec, 2).unwrap().endpoints() as u32;
    let rates = [1_000_000_000, 2_500_000_000, 10_000_000_000, 7_777_777_777];
    let params = Params {
        link_rate: rates[rng.random_range(0..4)],
        node_rate: rates[rng.random_range(0..4)],
        propagation: [0, 0, 1000, 777][rng.random_range(0..4)],
        tick: [1, 1, 1, 5_000][rng.random_range(0..4)],
        bandwidth_millionths: [1_000_000, 1_000_000, 970_000][rng.random_range(0..3)],
        paths: [Paths::Hash, Paths::Adaptive][rng.random_range(0..2)],
        ..Params::default()
    };
    // In half of the cases, sizes and starts are such that many ends and entries coincide.
    let ties = rng.random_bool(0.5);
    let count = rng.random_range(2..120);
    let mut messages: Vec<(u64, Message)> = (0..count)
        .map(|id| {
            let (source, destination) = (rng.random_range(0..nodes), rng.random_range(0..nodes));
            let bytes = if ties { 4096 * rng.random_range(0..3) } else { rng.random_range(0..100_000) };
            let start = if ties { 1_000_000 * rng.random_range(0..5) } else { rng.random_range(0..50_000_000) };
            (start, Message { id, source: NodeId(source), destination: NodeId(destination), bytes, class: 0 })
        })
        .collect();
    messages.sort_by_key(|(start, message)| (*start, message.id));
    (spec, params, messages)
}

/// All deliveries of a network to which messages are given in this order, with the digest.
fn run(network: &mut Flows, messages: &[(u64, Message)], mut look: impl FnMut(&Flows)) -> (Vec<Delivery>, u64) {
    let (mut deliveries, mut notices) = (Vec::new(), Notices::default());
    let mut next = messages.iter().peekable();
    loop {
        while let Some((_, message)) = next.next_if(|(start, _)| *start < Engine::clock(network).0) {
            Network::inject(network, *message);
        }
        let until = next.peek().map_or(Cycle(1 << 50), |(start, _)| Cycle(start + 1));
        network.advance(until, &mut notices).unwrap();
        deliveries.extend_from_slice(&notices.delivered);
        look(network);
        if next.peek().is_none() && Network::in_flight(network) == 0 {
            let digest = Network::recorder_mut(network).digest();
            return (deliveries, digest);
        }
    }
}

fn check(cases: std::ops::Range<u64>) {
    for case in cases {
        let (spec, params, messages) = drawn(case);
        let topology = topology::parse(&spec, 2).unwrap();
        let build = |is_reference| Flows::new(&*topology, &params, is_reference).unwrap();
        let expected = run(&mut build(true), &messages, Flows::check_capacities);
        assert_eq!(expected.0.len(), messages.len(), "case {case}");
        let found = run(&mut build(false), &messages, Flows::check_capacities);
        assert_eq!(found, expected, "case {case}: {spec} {params:?}");
        // Messages of different sources in another order: their numbers at each source are the same.
        let mut shuffled = messages.clone();
        shuffled.sort_by_key(|(start, message)| (*start, u32::MAX - message.source.0, message.id));
        if params.paths == Paths::Hash {
            let found = run(&mut build(false), &shuffled, |_| ());
            assert_eq!((found.0.len(), found.1), (messages.len(), expected.1), "case {case}: shuffled");
        }
    }
}

#[test]
fn engines_agree_on_drawn_networks() {
    check(0..300);
}

#[test]
#[ignore = "takes minutes"]
fn engines_agree_on_10_000_networks() {
    check(300..10_300);
}

#[test]
fn every_fairness_keeps_within_the_capacity_of_links() {
    for case in 0..60 {
        let (spec, params, messages) = drawn(case);
        let topology = topology::parse(&spec, 2).unwrap();
        for fairness in [Fairness::RoundTrip, Fairness::Split] {
            for paths in [Paths::Hash, Paths::Spray] {
                for cross_millionths in [0, 50_000] {
                    let weighted = Params { fairness, paths, cross_millionths, weight_bytes: 20_537, ..params.clone() };
                    let mut network = Flows::new(&*topology, &weighted, false).unwrap();
                    let (deliveries, _) = run(&mut network, &messages, Flows::check_capacities);
                    assert_eq!(deliveries.len(), messages.len(), "case {case}: {weighted:?}");
                }
            }
        }
    }
}
