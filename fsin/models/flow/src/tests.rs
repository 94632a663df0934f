//! Both engines agree, flows never exceed a capacity, and bytes are conserved.

use std::path::Path;
use std::sync::Arc;

use fsin_core::engine::Engine;
use fsin_core::failures::Failures;
use fsin_core::network::{Network, Notices};
use fsin_core::route::Name;
use fsin_core::topology::{self, Topology};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt as _, SeedableRng as _};
use trgen::{Cycle, Delivery, Message, NodeId};

use crate::engine::Flows;
use crate::wiring::Wiring;
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

fn flows(topology: &Arc<dyn Topology>, params: &Params, is_reference: bool) -> Flows {
    let wiring = Arc::new(Wiring::new(&**topology, params).unwrap());
    Flows::new(topology, &wiring, params, is_reference).unwrap()
}

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
        // The last one is longer than most messages take.
        tick: [1, 1, 5_000, 300_000_000][rng.random_range(0..4)],
        bandwidth_millionths: [1_000_000, 1_000_000, 970_000][rng.random_range(0..3)],
        paths: [Paths::Hash, Paths::Adaptive][rng.random_range(0..2)],
        connections: ["per-destination", "serial", "serial:3", "at-once"][rng.random_range(0..4)].parse().unwrap(),
        ..Params::default()
    };
    // In half of the cases, sizes and starts are such that many ends and entries coincide.
    let ties = rng.random_bool(0.5);
    let few = [2, u32::MAX][rng.random_range(0..2)];
    let count = rng.random_range(2..120);
    let mut messages: Vec<(u64, Message)> = (0..count)
        .map(|id| {
            // Few pairs in half of the cases, so that many messages wait.
            let (source, destination) = (rng.random_range(0..nodes.min(few)), rng.random_range(0..nodes));
            let bytes = if ties { 4096 * rng.random_range(0..3) } else { rng.random_range(0..100_000) };
            let start = if ties { 1_000_000 * rng.random_range(0..5) } else { rng.random_range(0..50_000_000) };
            (start, Message { id, source: NodeId(source), destination: NodeId(destination), bytes, class: 0 })
        })
        .collect();
    messages.sort_by_key(|(start, message)| (*start, message.id));
    (spec, params, messages)
}

/// All deliveries of a network to which messages are given in this order, with the digest, and its figures.
fn run(
    network: &mut Flows,
    messages: &[(u64, Message)],
    mut look: impl FnMut(&Flows),
) -> (Vec<Delivery>, u64, Vec<f64>) {
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
            return (deliveries, digest, Engine::figures(network).into_iter().map(|(_, value)| value).collect());
        }
    }
}

fn check(cases: std::ops::Range<u64>) {
    for case in cases {
        let (spec, params, messages) = drawn(case);
        let topology: Arc<dyn Topology> = Arc::from(topology::parse(&spec, 2).unwrap());
        let build = |is_reference| flows(&topology, &params, is_reference);
        let expected = run(&mut build(true), &messages, Flows::check_capacities);
        assert_eq!(expected.0.len(), messages.len(), "case {case}");
        let found = run(&mut build(false), &messages, Flows::check_capacities);
        assert_eq!(found, expected, "case {case}: {spec} {params:?}");
        let found = run(&mut build(false).always_repair(), &messages, Flows::check_capacities);
        assert_eq!(found, expected, "case {case}, repaired: {spec} {params:?}");
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
    check(0..1000);
}

/// Flows whose paths are long and meet few of the others, so that most links of a repair are never looked at.
#[test]
fn engines_agree_where_few_rates_change() {
    let topology: Arc<dyn Topology> = Arc::from(topology::parse("torus:7x6x5", 2).unwrap());
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(30);
    for bytes in [1_000_000, 8] {
        let message = |id: u64, rng: &mut Xoshiro256PlusPlus| {
            let (source, destination) = (NodeId((id % 210) as u32), NodeId(rng.random_range(0..210)));
            let bytes = 4096 * rng.random_range(1..bytes);
            (rng.random_range(0..5_u64) * 50_000_000, Message { id, source, destination, bytes, class: 0 })
        };
        let mut messages: Vec<(u64, Message)> = (0..630).map(|id| message(id, &mut rng)).collect();
        messages.sort_by_key(|(start, message)| (*start, message.id));
        let build = |is_reference| flows(&topology, &Params::default(), is_reference);
        let expected = run(&mut build(true), &messages, |_| ());
        let found = run(&mut build(false), &messages, Flows::check_capacities);
        assert_eq!(found, expected);
        assert_eq!(run(&mut build(false).always_repair(), &messages, |_| ()), expected);
    }
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
        let topology: Arc<dyn Topology> = Arc::from(topology::parse(&spec, 2).unwrap());
        for fairness in [Fairness::RoundTrip, Fairness::Split] {
            for paths in [Paths::Hash, Paths::Spray] {
                for cross_millionths in [0, 50_000] {
                    let weighted = Params { fairness, paths, cross_millionths, weight_bytes: 20_537, ..params.clone() };
                    let mut network = flows(&topology, &weighted, false);
                    let (deliveries, ..) = run(&mut network, &messages, Flows::check_capacities);
                    assert_eq!(deliveries.len(), messages.len(), "case {case}: {weighted:?}");
                }
            }
        }
    }
}

/// Settings with drawn failures and repairs, as far as they are possible one after another.
fn with_failures(case: u64, topology: &Arc<dyn Topology>, params: Params) -> Params {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(case ^ 0xfa11);
    let (mut words, mut failures, mut at): (Vec<String>, Failures, u64) = (Vec::new(), Failures::default(), 0);
    for _ in 0..rng.random_range(1..10) {
        at += [0, 1, 1_000_000, rng.random_range(0..20_000_000)][rng.random_range(0..4)];
        let class = ["x", "hosts", "local", "global", "between-switches"][rng.random_range(0..5)];
        let name = match rng.random_bool(0.3) {
            true => format!("node:{}", rng.random_range(0..topology.nodes())),
            false => format!("class:{class}#{}", rng.random_range(1..4)),
        };
        for word in [format!("{name}@{at}"), format!("repair:{name}@{at}")] {
            let list = words.iter().cloned().chain([word.clone()]).collect::<Vec<_>>().join(",");
            if let Ok(found) = Failures::parse(&list, Path::new(""), &**topology, case, (1, 1)) {
                words.push(word);
                failures = found;
                break;
            }
        }
    }
    Params { failures, ..params }
}

#[test]
fn engines_agree_about_links_that_fail() {
    let (mut hit, mut lost) = (0, 0);
    for case in 0..400 {
        let (spec, params, messages) = drawn(case);
        let topology: Arc<dyn Topology> = Arc::from(topology::parse(&spec, 2).unwrap());
        let params = with_failures(
            case,
            &topology,
            Params { routing: [Name::SHORTEST, Name::UPDOWN][case as usize % 2], ..params },
        );
        let build = |is_reference| flows(&topology, &params, is_reference);
        let mut reference = build(true);
        let expected = run(&mut reference, &messages, Flows::check_capacities);
        for network in [&mut build(false), &mut build(false).always_repair()] {
            assert_eq!(run(network, &messages, Flows::check_capacities), expected, "case {case}: {spec} {params:?}");
        }
        let counts = Network::settled(&mut reference).recorder.totals();
        assert_eq!(counts.generated, counts.received + counts.dropped, "case {case}");
        assert_eq!(counts.injected, counts.received + counts.dropped_inside, "case {case}");
        // What was sent in bytes has arrived or is reported as lost.
        let payload = u64::from(params.packet_bytes);
        let received = payload * counts.received - counts.short.received;
        let dropped = payload * counts.dropped - counts.short.dropped;
        let sent: u64 = messages.iter().map(|(_, message)| message.bytes).sum();
        assert_eq!(received + dropped, sent, "case {case}");
        (hit, lost) = (hit + u64::from(counts.dropped_inside > 0), lost + counts.without_a_route());
        for fairness in [Fairness::RoundTrip, Fairness::Split] {
            for paths in [Paths::Spray, Paths::Adaptive] {
                let other = Params { fairness, paths, cross_millionths: 50_000, ..params.clone() };
                let mut network = flows(&topology, &other, false);
                run(&mut network, &messages, Flows::check_capacities);
                let others = Network::settled(&mut network).recorder.totals();
                assert_eq!(others.generated, others.received + others.dropped, "case {case}: {other:?}");
            }
        }
    }
    assert!(hit > 20 && lost > 100, "flows were lost under way in {hit} cases, and {lost} packets had no route");
}

/// Two flows of one link of 1 byte/ns; the other link dies, and its flow joins them: every finish by hand.
#[test]
fn flows_take_other_paths_with_what_is_left_of_them() {
    let topology: Arc<dyn Topology> = Arc::from(topology::parse("torus:4", 2).unwrap());
    let failures = |list: &str| Failures::parse(list, Path::new(""), &*topology, 1, (1, 1)).unwrap();
    let message = |id, source, destination| Message {
        id,
        source: NodeId(source),
        destination: NodeId(destination),
        bytes: 4000,
        class: 0,
    };
    let times = |list: &str, messages: &[Message]| {
        let params = Params {
            link_rate: 8_000_000_000,
            node_rate: 80_000_000_000,
            failures: failures(list),
            ..Params::default()
        };
        let mut network = flows(&topology, &params, false);
        let messages: Vec<(u64, Message)> = messages.iter().map(|&message| (0, message)).collect();
        let (deliveries, ..) = run(&mut network, &messages, Flows::check_capacities);
        let times = deliveries.iter().map(|delivery| (delivery.message.id, delivery.delivered.0 / 1000));
        (times.collect::<Vec<_>>(), Network::settled(&mut network).recorder.totals().dropped)
    };
    let both = [message(0, 0, 1), message(1, 0, 3)];
    // Each alone on its link.
    assert_eq!(times("link:1-2@1ms", &both), (vec![(0, 4000), (1, 4000)], 0));
    // After 1000 bytes each, 0 goes to 1 over 3 and 2, with 1: the rest, 6000 bytes, at 1 byte/ns, evenly.
    assert_eq!(times("link:0-1@1us", &both), (vec![(0, 7000), (1, 7000)], 0));
    // The repair changes nothing for it.
    assert_eq!(times("link:0-1@1us,repair:link:0-1@2us", &both), (vec![(0, 7000), (1, 7000)], 0));
    // No route is left: its packet is lost.
    assert_eq!(times("node:1@1us", &both), (vec![(1, 4000)], 1));
    assert_eq!(times("node:1@0", &both), (vec![(1, 4000)], 1));
}

/// Messages of 1 000 bytes at 1 byte/ns; every finish by hand \[ns\], by number of the message.
#[test]
fn messages_of_a_connection_follow_each_other() {
    let topology: Arc<dyn Topology> = Arc::from(topology::parse("mesh:4", 2).unwrap());
    let times = |connections: &str, messages: &[(u64, u32, u32, u64, u8)]| {
        let params = Params {
            link_rate: 8_000_000_000,
            node_rate: 8_000_000_000,
            propagation: 100_000,
            connections: connections.parse().unwrap(),
            ..Params::default()
        };
        let messages: Vec<(u64, Message)> = (0..)
            .zip(messages)
            .map(|(id, &(start, source, destination, bytes, class))| {
                let (source, destination) = (NodeId(source), NodeId(destination));
                (start * 1000, Message { id, source, destination, bytes, class })
            })
            .collect();
        let [fast, reference] = [false, true].map(|is_reference| {
            let mut network = flows(&topology, &params, is_reference);
            let (mut deliveries, ..) = run(&mut network, &messages, Flows::check_capacities);
            deliveries.sort_by_key(|delivery| delivery.message.id);
            deliveries.iter().map(|delivery| delivery.delivered.0 / 1000).collect::<Vec<u64>>()
        });
        assert_eq!(fast, reference);
        fast
    };
    // A pair: the second enters when the first has ended, and at once they end together.
    let pair = [(0, 0, 1, 1000, 0), (0, 0, 1, 1000, 0)];
    assert_eq!(times("per-destination", &pair), [1100, 2100]);
    assert_eq!(times("serial", &pair), [1100, 2100]);
    assert_eq!(times("at-once", &pair), [2100, 2100]);
    assert_eq!(times("serial:2", &pair), [2100, 2100]);
    // Classes are connections of their own, but not in the line of a source.
    let classes = [(0, 0, 1, 1000, 0), (0, 0, 1, 1000, 1)];
    assert_eq!(times("per-destination", &classes), [2100, 2100]);
    assert_eq!(times("serial", &classes), [1100, 2100]);
    // Issued while the first is on its way, when it has left, and after it has arrived.
    let staggered = [(0, 0, 1, 1000, 0), (1050, 0, 1, 1000, 0), (2300, 0, 1, 1000, 0)];
    assert_eq!(times("per-destination", &staggered), [1100, 2150, 3400]);
    // A far destination after a near one is sent when the near one has left, and enters a link later; a near one after
    // a far one does not enter before that has arrived.
    assert_eq!(times("serial", &[(0, 0, 1, 1000, 0), (0, 0, 3, 1000, 0)]), [1100, 2300]);
    assert_eq!(times("serial", &[(0, 0, 3, 1000, 0), (0, 0, 1, 1000, 0)]), [1300, 2300]);
    // Messages of no bytes wait their turn, and one to the node itself waits for none.
    let empty = [(0, 0, 1, 1000, 0), (0, 0, 1, 0, 0), (0, 0, 0, 5, 0), (0, 0, 1, 1000, 0)];
    assert_eq!(times("per-destination", &empty), [1100, 1100, 0, 2100]);
}
