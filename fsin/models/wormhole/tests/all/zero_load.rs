//! Latency without contention is the formula's, to the cycle.

#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

use fsin_core::network::{Network, Notices};
use fsin_core::topology;
use fsin_wormhole::reference::Reference;
use fsin_wormhole::{Params, Routing, Speedup};
use proptest::prelude::*;
use trgen::{Cycle, Message, NodeId};

use crate::common::{self, Experiment, Pattern};

/// \[cycles\] From creation to delivery of a packet alone in the network.
fn alone(spec: &str, params: &Params, (from, to): (u32, u32), flits: u64, wait: u64) -> u64 {
    let topology = topology::parse(spec, 2).unwrap();
    let mut network = Reference::new(&*topology, params.clone()).unwrap();
    let mut notices = Notices::default();
    network.advance(Cycle(1 + wait), &mut notices).unwrap();
    let bytes = flits * u64::from(params.flit_bytes);
    network.inject(Message { id: 0, source: NodeId(from), destination: NodeId(to), bytes, class: 0 });
    while notices.delivered.is_empty() {
        network.advance(Cycle::NEVER, &mut notices).unwrap();
    }
    let delivery = notices.delivered[0];
    delivery.delivered.since(delivery.offered)
}

proptest! {
    /// T0 = H R + (H - 1) L + 3 + (P - 1).
    #[test]
    fn a_packet_alone_takes_the_time_of_the_formula(
        (hops, flits, wait) in (0u32..8, 1u64..20, 0u64..5),
        (route_delay, vc_alloc_delay, switch_alloc_delay, traverse_delay) in (0u32..4, 1u32..4, 1u32..4, 1u32..4),
        (link_delay, speculative, speedup) in (1u32..5, any::<bool>(), 1u32..4),
    ) {
        let params = Params {
            packet_flits: 32,
            buffer: 64,
            route_delay,
            vc_alloc_delay,
            switch_alloc_delay,
            traverse_delay,
            link_delay,
            speculative,
            speedup: Speedup::new(speedup, 1).unwrap(),
            ..Params::default()
        };
        let took = alone("mesh:8", &params, (0, hops), flits, wait);
        prop_assert_eq!(took, params.zero_load_latency(u64::from(hops) + 1, flits));
    }
}

/// Every row that was measured without load: its smallest and, where ways differ, its largest latency.
#[test]
fn zero_load_rows_of_the_table() {
    let Some(rows) = common::rows("reference/booksim2.csv") else { return };
    let mut count = 0;
    for row in rows.iter().filter(|row| row["name"].starts_with("zl-")) {
        let Experiment { topology, params, pattern, .. } = common::experiment(|column| row[column].clone()).unwrap();
        let extreme = |name: &str| -> u64 {
            let text = row["extra_params"].split('|').find_map(|word| word.strip_prefix(name)).unwrap();
            text.trim_start_matches('=').parse::<f64>().unwrap() as u64
        };
        let flits = params.packet_flits.into();
        let name = &row["name"];
        let check = |(from, to): (u32, u32), routers: u64, expected: u64| {
            assert_eq!(params.zero_load_latency(routers, flits), expected, "{name}");
            assert_eq!(alone(&topology, &params, (from, to), flits, 0), expected, "{name}");
        };
        match (&pattern, topology.as_str()) {
            (Pattern::Transpose, _) => {
                check((9, 9), 1, extreme("latency_min"));
                check((7, 56), 15, extreme("latency_max"));
            }
            (Pattern::Tornado, _) => check((0, 27), 7, extreme("latency_min")),
            (Pattern::Neighbor, "torus:8x8") => check((7, 8), 3, extreme("latency_min")),
            (Pattern::Neighbor, "torus:8x8x8") => check((0, 73), 4, extreme("latency_min")),
            other => panic!("{name}: {other:?}"),
        }
        count += 1;
    }
    assert_eq!(count, 24);
}

/// Rows with buffers shorter than the way of the credits round: the throughput is that of the loop, to the flit.
#[test]
fn credit_loop_rows_of_the_table() {
    let Some(rows) = common::rows("reference/booksim2.csv") else { return };
    let (mut count, mut exact) = (0, 0);
    for row in rows.iter().filter(|row| row["name"].starts_with("rtt-")) {
        let experiment = common::experiment(|column| row[column].clone()).unwrap();
        let topology = topology::parse(&experiment.topology, 2).unwrap();
        let mut network = Reference::new(&*topology, experiment.params.clone()).unwrap();
        let measured = common::run(&experiment, &mut network);
        let network_latency = row["extra_params"].split('|').find_map(|word| word.strip_prefix("network_latency="));
        let network_latency: f64 = network_latency.unwrap().parse().unwrap();
        // Of the node whose source never ran dry.
        let accepted = row["extra_params"].split('|').find_map(|word| word.strip_prefix("throughput_max_node="));
        let accepted: f64 = accepted.unwrap().parse().unwrap();
        let name = &row["name"];
        // Where latency in the network is the same for all packets, traffic does not matter.
        if network_latency.fract() == 0.0 {
            assert_eq!(measured.network_latency, network_latency, "{name}");
            exact += 1;
        }
        if accepted > 0.9 {
            // What was offered in these cycles, and no bound of the routers.
            count += 1;
            continue;
        }
        // Whole packets are counted: a window of 3000 cycles may miss one of each node.
        let bound = f64::from(experiment.params.packet_flits) / 3000.0;
        assert!((measured.accepted - accepted).abs() <= bound, "{name}: {} not {accepted}", measured.accepted);
        count += 1;
    }
    assert_eq!((exact, count), (40, 48));
}

/// A channel of a link of L cycles has its buffer back 2 L + 3 cycles after it was filled: a long link between groups of
/// a dragonfly carries one buffer in that time by `booksim-min`, which has one channel there, and two by `minimal`,
/// which has two of three.
#[test]
fn a_long_link_carries_a_buffer_of_each_channel_in_a_round_trip() {
    const FLITS: u64 = 1600;
    let (buffer, delay) = (8, 100);
    let topology = topology::parse("dragonfly:p=2,a=4,h=2,local=10,global=100", 2).unwrap();
    for (routing, channels) in [(Routing::BOOKSIM_MIN, 1), (Routing::MINIMAL, 2)] {
        let params = Params { routing, vcs: 3, buffer, packet_flits: 1, ..Params::booksim() };
        let bytes = FLITS * u64::from(params.flit_bytes);
        let mut network = Reference::new(&*topology, params).unwrap();
        let mut notices = Notices::default();
        // From the first group to the next one: over the only link between them.
        network.inject(Message { id: 0, source: NodeId(0), destination: NodeId(8), bytes, class: 0 });
        while notices.delivered.is_empty() {
            network.advance(Cycle::NEVER, &mut notices).unwrap();
        }
        let took = notices.delivered[0].delivered.since(notices.delivered[0].offered);
        let expected = (2 * delay + 3) * FLITS / u64::from(buffer) / channels;
        assert!(
            took.abs_diff(expected) < expected / 50,
            "{}: {took} cycles, by the formula {expected}",
            routing.name()
        );
    }
}
