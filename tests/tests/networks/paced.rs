//! Links of unlike rate in virtual cut-through and wormhole routers: closed forms of latency and throughput, from files.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use fsin::engine::{fast, reference};
use fsin::models::wormhole;
use fsin::network::{Network, Notices};
use fsin::router::{Inject, RouterParams};
use fsin::routing::Routing;
use fsin::topology::switched::{self, Pace};
use fsin::topology::{Port, Switched, Topology};
use trgen::{Cycle, Message, NodeId};

/// \[phits\] Length of packets.
const LENGTH: u64 = 8;

/// Two switches with two hosts each; the link between the switches has this rate, and both ways this delay in cycles.
fn pair(rate: &str, delays: [u32; 2]) -> Switched {
    network(&format!(
        "H0 west rate 12Gb/s\nH1 west rate 12Gb/s\nH2 east rate 12Gb/s\nH3 east rate 12Gb/s\n\
         west -> east rate {rate} delay {}\neast -> west rate {rate} delay {}\n",
        delays[0], delays[1]
    ))
}

/// The network of lines, with phits of 4 bytes.
fn network(text: &str) -> Switched {
    let described = switched::network_of_text(text, "graph:test".to_owned(), None).unwrap();
    described.in_cycles(4, 10_000_000_000).unwrap()
}

/// All engines: reference and fast of virtual cut-through with this injection, then of wormhole.
fn engines(topology: &Switched, inject: Inject) -> Vec<(&'static str, Box<dyn Network>)> {
    let params = RouterParams {
        routing: Routing::GraphUpDown,
        vcs: 1,
        packet_phits: LENGTH as u32,
        inject,
        ..RouterParams::default()
    };
    let checked = params.check(topology).unwrap();
    let boxed = || -> Box<dyn Topology> { Box::new(topology.clone()) };
    // Heads take as long through a router as the flits that follow, which so have no chance to catch up.
    let flits = wormhole::Params {
        routing: wormhole::Routing::UPDOWN,
        vcs: 4,
        route_delay: 0,
        speculative: true,
        buffer: 64,
        packet_flits: LENGTH as u32,
        ..wormhole::Params::default()
    };
    vec![
        ("vct, reference", Box::new(reference::Reference::new(boxed(), checked.clone()))),
        ("vct, fast", fast::build(boxed(), checked.clone(), 1).unwrap()),
        ("vct, two parts", fast::build_for(boxed(), checked, 2, 0).unwrap()),
        ("wormhole, reference", Box::new(wormhole::reference::Reference::new(topology, flits.clone()).unwrap())),
        ("wormhole, fast", wormhole::fast::build(topology, flits.clone(), 1).unwrap()),
        ("wormhole, two parts", wormhole::fast::build_for(topology, flits, 2, 0).unwrap()),
    ]
}

fn message(id: u64, [from, to]: [u32; 2]) -> Message {
    Message { id, source: NodeId(from), destination: NodeId(to), bytes: 4 * LENGTH, class: 0 }
}

/// \[cycles\] From the injection of a packet into an empty network to its delivery.
fn alone(network: &mut dyn Network, ends: [u32; 2]) -> u64 {
    let mut notices = Notices::default();
    network.inject(message(0, ends));
    while notices.delivered.is_empty() {
        network.advance(Cycle::NEVER, &mut notices).unwrap();
    }
    let delivery = notices.delivered[0];
    delivery.delivered.since(delivery.offered)
}

/// The links of the only shortest route, by pace and delay; `None` if there are several.
fn route(topology: &Switched, [from, to]: [u32; 2]) -> Option<Vec<(Pace, u32)>> {
    let ports = || (0..topology.fabric().ports()).map(Port::at);
    let mut ways = vec![(NodeId(from), Vec::new())];
    loop {
        match &*ways.iter().filter(|(node, _)| *node == NodeId(to)).collect::<Vec<_>>() {
            [] => {}
            [(_, links)] => return Some(links.clone()),
            [..] => return None,
        }
        let longer = ways.iter().flat_map(|(node, links)| {
            ports().filter_map(move |port| {
                let there = topology.neighbour(*node, port)?;
                let link = (topology.pace(*node, port), topology.wire(*node, port));
                Some((there, links.iter().copied().chain([link]).collect::<Vec<_>>()))
            })
        });
        ways = longer.collect();
    }
}

/// Whole numbers of cycles for a phit add up: what a link takes beyond one cycle delays the header by as much, and the
/// slowest link each of the other phits.
#[test]
fn a_packet_alone_waits_for_the_slowest_link() {
    let ring = "H0 a rate 12Gb/s\nH1 b rate 12Gb/s\nH2 c rate 4Gb/s\nH3 d rate 12Gb/s\n\
                a b rate 6Gb/s\nb c rate 3Gb/s delay 5\nc d rate 12Gb/s\nd a rate 4Gb/s\n";
    let tree = "H0 a rate 12Gb/s\nH1 a rate 6Gb/s\nH2 b rate 3Gb/s\nH3 b rate 12Gb/s\n\
                a -> top rate 6Gb/s\ntop -> a rate 3Gb/s delay 2\ntop b rate 4Gb/s delay 1\n";
    for topology in [pair("6Gb/s", [0, 7]), pair("3Gb/s", [3, 0]), pair("1Gb/s", [0, 0]), network(ring), network(tree)]
    {
        let alike = topology.with_paces(|_, _| Pace::FULL);
        for ends in [[0, 1], [0, 2], [0, 3], [1, 2], [2, 0], [3, 1], [3, 2]] {
            let Some(links) = route(&topology, ends) else { continue };
            let own: u64 = links.iter().map(|(pace, _)| u64::from(pace.crossing() - 1)).sum();
            let slowest = links.iter().map(|(pace, _)| u64::from(pace.crossing())).max().unwrap();
            let wires: u64 = links.iter().map(|&(_, wire)| u64::from(wire)).sum();
            for inject in [Inject::Parallel, Inject::Serial] {
                let base = engines(&alike, inject);
                for ((name, mut paced), (_, mut alike)) in engines(&topology, inject).into_iter().zip(base) {
                    let expected = alone(&mut *alike, ends) + own + (slowest - 1) * (LENGTH - 1);
                    let found = alone(&mut *paced, ends);
                    assert_eq!(found, expected, "{name}, {inject:?}, {ends:?}");
                    if name.starts_with("vct") {
                        let hops = links.len() as u64;
                        assert_eq!(found, hops + wires + own + slowest * (LENGTH - 1), "{name}, {ends:?}");
                    }
                }
            }
        }
    }
}

/// Two hosts send to two others over a link: it carries its share, fractions of a cycle included.
#[test]
fn a_link_carries_its_rate_exactly() {
    for (rate, phits, cycles) in
        [("12Gb/s", 1, 1), ("6Gb/s", 1, 2), ("8Gb/s", 2, 3), ("9Gb/s", 3, 4), ("1Gb/s", 1, 12), ("7500Mb/s", 5, 8)]
    {
        let topology = pair(rate, [0, 0]);
        for (name, mut network) in engines(&topology, Inject::Parallel) {
            let (mut id, mut count, mut notices) = (0, 0, Notices::default());
            let (warm, end) = (3_000, 12_600);
            while network.clock().0 < end {
                for ends in [[0, 2], [1, 3]] {
                    // As many as the slowest link carries, and more.
                    if network.clock().0.is_multiple_of(LENGTH) {
                        network.inject(message(id, ends));
                        id += 1;
                    }
                }
                let next = Cycle(network.clock().0 + 1);
                network.advance(next, &mut notices).unwrap();
                count += if network.clock().0 > warm { notices.delivered.len() as u64 } else { 0 };
            }
            let (carried, expected) = (count * LENGTH, (end - warm) * phits / cycles);
            assert!(carried.abs_diff(expected) <= 2 * LENGTH, "{name}, {rate}: {carried} and not {expected}");
        }
    }
}

/// Where every link has the same rate, that rate is a phit a cycle, and nothing differs from a network without rates.
#[test]
fn equal_rates_are_none() {
    let same = network("H0 a rate 3Gb/s\nH1 b rate 3Gb/s\na b rate 3Gb/s\n");
    assert!(!same.is_paced());
    assert_eq!(same.cycle(), Some((32_000_000_000_000, 3_000_000_000)));
    // Links without a rate have the bandwidth: here the fastest, or the slowest.
    let text = "H0 a\nH1 b\na b rate 20Gb/s\n";
    let some = network(text);
    assert_eq!(some.pace(NodeId(0), some.fabric().port(NodeId(0), 0)), Pace::of(1, 2).unwrap());
    assert_eq!(some.cycle(), Some((32_000_000_000_000, 20_000_000_000)));
}
