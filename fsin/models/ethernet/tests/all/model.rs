//! What must come out of the model: losses, windows, floods, storms, pauses, counts.

#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

use std::sync::{Arc, Mutex};

use crate::common::{drain, engines, graph, message, row};
use fsin_core::capture::Place;
use fsin_core::network::{Channel, Injected, NetworkFailure, Notices};
use fsin_core::stats::Moments;
use fsin_core::topology;
use fsin_core::view::Occupancy;
use fsin_ethernet::capture::{Capture, Captured, Content, Direction};
use fsin_ethernet::{
    Ethernet, Forwarding, Frames, Params, Spread, Switching, TieOrder, Transport, blocked_links, check,
};
use proptest::prelude::*;
use trgen::catalog::ErrorKind;
use trgen::{Cycle, NodeId};

/// Units of time in ps.
const US: u64 = 1_000_000;
const MS: u64 = 1_000 * US;
const SECOND: u64 = 1_000 * MS;

fn fixed(transport: Transport) -> Params {
    Params { transport, forwarding: Forwarding::Static, propagation: 1_000, ..Params::default() }
}

/// Every host sends to all others, some messages at once.
fn all_to_all(network: &mut dyn Ethernet, bytes: u64) -> u64 {
    let hosts = network.nodes() as u32;
    let pairs = (0..hosts).flat_map(|source| (1..hosts).map(move |step| (source, (source + step) % hosts)));
    let mut count = 0;
    for (source, destination) in pairs {
        assert_eq!(network.inject(message(count, source, destination, bytes)), Injected::Accepted);
        count += 1;
    }
    count
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    /// With an oracle, and with windows, every message arrives at a packet error rate of 1e-2 and with short queues.
    #[test]
    fn recovery_recovers(
        spec in prop_oneof![Just("fattree:3,2"), Just("torus:3x3"), Just("hyperx:3x2:2")],
        window in any::<bool>(),
        learning in any::<bool>(),
        queue in 2u32..30,
        bytes in 1u64..20_000,
        seed in any::<u64>(),
    ) {
        let recovery = if window { Transport::Window } else { Transport::Oracle };
        let forwarding = if learning { Forwarding::Learning } else { Forwarding::Static };
        let params = Params { transport: recovery, forwarding, per: 0.01, port_queue: queue, seed, rto_min: 20 * MS, ..Params::default() };
        let topology = topology::parse(spec, 2).unwrap();
        let mut network = fsin_ethernet::fast::build(&*topology, params.clone(), 1).unwrap();
        let count = all_to_all(&mut *network, bytes);
        let delivered = drain(&mut *network).unwrap();
        prop_assert_eq!(delivered.len() as u64, count);
        let counts = network.settled().recorder.totals();
        prop_assert_eq!((counts.received, counts.dropped), (counts.generated, 0));
        prop_assert_eq!(counts.generated, count * params.frames_of(bytes));
        prop_assert_eq!(network.details().totals.payload_received, count * bytes);
    }
}

/// Without recovery the messages that lose a frame are reported, and the others arrive.
#[test]
fn without_recovery_losses_are_reported() {
    for mut network in
        engines(&*topology::parse("fattree:4,2", 2).unwrap(), &Params { per: 0.01, ..fixed(Transport::None) })
    {
        let count = all_to_all(&mut *network, 10_000);
        let (mut notices, mut delivered, mut dropped, mut sent) = (Notices::default(), 0, 0, 0);
        while !network.is_idle() {
            network.advance(Cycle::NEVER, &mut notices).unwrap();
            (delivered, dropped) = (delivered + notices.delivered.len() as u64, dropped + notices.dropped.len() as u64);
            sent += notices.sent.len() as u64;
        }
        assert_eq!((sent, delivered + dropped), (count, count));
        // 7 frames over 2 or 4 links: a fourth of the messages, about.
        assert!((30..90).contains(&dropped), "{dropped} of {count}");
        let totals = network.details().totals;
        assert_eq!((totals.messages_lost, totals.retransmissions), (dropped, 0));
        let counts = network.settled().recorder.totals();
        assert_eq!(counts.generated, counts.received + counts.dropped);
    }
}

/// A frame may be lost before its host's port is free: it counts as in flight until its source has been told.
#[test]
fn losses_are_told_before_the_network_is_empty() {
    let params = Params { port_queue: 1, propagation: 0, ..fixed(Transport::None) };
    for mut network in engines(&*row(1, 6, false), &params) {
        (0..5).for_each(|source| {
            network.inject(message(source.into(), source, 5, 1));
        });
        let (mut notices, mut told) = (Notices::default(), [0; 3]);
        while !network.is_idle() {
            network.advance(Cycle::NEVER, &mut notices).unwrap();
            let lengths = [notices.sent.len(), notices.delivered.len(), notices.dropped.len()];
            told.iter_mut().zip(lengths).for_each(|(told, length)| *told += length);
        }
        // One is transmitted at once, and one waits.
        assert_eq!(told, [5, 2, 3]);
    }
}

/// \[b/s\] Goodput of a connection that sends `bytes` over two links with 0.5 ms each.
fn goodput(params: &Params, bytes: u64) -> (f64, fsin_ethernet::Details) {
    let params = Params { propagation: MS / 2, ..params.clone() };
    let mut network = fsin_ethernet::fast::build(&*row(1, 2, false), params, 1).unwrap();
    network.inject(message(0, 0, 1, bytes));
    let delivered = drain(&mut *network).unwrap();
    (8e12 * bytes as f64 / delivered[0].delivered.0 as f64, network.details())
}

/// A window that is full all the time brings window / round trip, or the rate of the link where that is less.
#[test]
fn windows_bound_the_goodput() {
    for segments in [10u64, 43, 100, 400] {
        let params = Params { window: segments * 1_457, ..fixed(Transport::Window) };
        let (found, details) = goodput(&params, 200_000_000);
        // Data and acknowledgement over two links each: their bits twice, and the delays.
        let round_trip = 2 * MS + 2 * (1_526 + 72) * 8_000;
        let by_window = 8e12 * (segments * 1_457) as f64 / round_trip as f64;
        let by_link = 1e9 * 1_457.0 / (1_526.0 + 12.0);
        let expected = by_window.min(by_link);
        assert!((found / expected - 1.0).abs() < 0.1, "{segments}: {found:e}, not {expected:e}");
        assert_eq!((details.totals.retransmissions, details.totals.timeouts), (0, 0));
    }
}

/// With losses the goodput is MSS / RTT x sqrt(3 / (2 p)): the sawtooth of additive increase and halving, with an
/// acknowledgement for each segment (Mathis, Semke, Mahdavi, Ott, The macroscopic behavior of the TCP congestion
/// avoidance algorithm, CCR 27(3), 1997).
#[test]
fn losses_bound_the_goodput() {
    // Two links with `per` each, and the loss of a few acknowledgements does not matter.
    for per in [1e-4, 2.5e-4, 5e-4] {
        let params = Params { window: 1 << 30, per, rto_min: 10 * MS, seed: 3, ..fixed(Transport::Window) };
        let (found, details) = goodput(&params, 400_000_000);
        let loss = 1.0 - (1.0 - per) * (1.0 - per);
        let round_trip = (2 * MS + 2 * (1_526 + 72) * 8_000) as f64;
        let expected = 8e12 * 1_457.0 / round_trip * (1.5f64 / loss).sqrt();
        assert!((found / expected - 1.0).abs() < 0.1, "{per}: {found:e}, not {expected:e}");
        assert!(details.totals.fast_retransmits > 20, "{:?}", details.totals);
    }
}

/// A lost last segment waits for the time-out: of a second, by RFC 6298.
#[test]
fn the_last_segment_waits_for_the_timer() {
    let lost = (0..1_000).find_map(|seed| {
        let params = Params { per: 0.05, seed, ..fixed(Transport::Window) };
        let [mut network, mut same] = engines(&*row(1, 2, false), &params);
        network.inject(message(0, 0, 1, 100));
        same.inject(message(0, 0, 1, 100));
        let delivered = drain(&mut *network).unwrap()[0].delivered;
        assert_eq!(drain(&mut *same).unwrap()[0].delivered, delivered);
        (delivered > Cycle(SECOND)).then_some((delivered, network.details().totals))
    });
    let (delivered, totals) = lost.expect("one of so many is lost");
    let wire = 2 * ((100 + 40 + 29) * 8_000 + 1_000);
    assert_eq!((delivered.0, totals.timeouts, totals.retransmissions), (SECOND + wire, 1, 1));
}

/// Five hosts to one: the queue of its port overflows and is counted there.
#[test]
fn queues_overflow_at_the_port() {
    for mut network in engines(&*row(1, 6, false), &Params { port_queue: 10, ..fixed(Transport::None) }) {
        (0..5).for_each(|source| {
            network.inject(message(source.into(), source, 5, 30 * 1_497));
        });
        drain(&mut *network).unwrap();
        let details = network.details();
        let (dropped, damaged) = details.losses();
        // 150 frames at five times the rate: 30 leave while they come, and 10 wait at the end.
        assert!((105..=115).contains(&dropped) && damaged == 0, "{dropped}");
        let full: Vec<_> = details.ports.iter().filter(|port| port.dropped > 0).collect();
        assert_eq!((full.len(), full[0].longest, full[0].at.place), (1, 10, Place::Switch(NodeId(6))));
        assert!(full[0].mean_queue(details.elapsed) > 5.0 && full[0].utilisation(details.elapsed) > 0.9);
        assert!(details.goodput() > 0.9e9 && details.throughput() < 1e9 && details.throughput() > details.goodput());
    }
}

/// Two hosts to a third, whose port has the room that the graph gives it, whatever the others have.
const TIGHT: &str = "digraph { edge [comment=\"*\"]; H0 -> S; H1 -> S; H2 -> S;
    S -> H0 [comment=H0]; S -> H1 [comment=H1]; S -> H2 [comment=H2, queue=7] }";

/// What is lost behind a source buffer has left the queue of its source only once.
#[test]
fn graphs_give_ports_their_queues() {
    for mut network in engines(&*graph(TIGHT), &Params { port_queue: 500, ..fixed(Transport::None) }) {
        (0..2).for_each(|source| {
            network.inject(message(source.into(), source, 2, 100 * 1_497));
        });
        drain(&mut *network).unwrap();
        let details = network.details();
        let full: Vec<_> = details.ports.iter().filter(|port| port.dropped > 0).collect();
        // 200 frames at twice the rate: 100 leave while they come, 7 wait at the end, and one is on the link.
        assert_eq!((full.len(), full[0].longest), (1, 7));
        assert!((90..=93).contains(&full[0].dropped), "{}", full[0].dropped);
        let counts = network.settled().recorder.totals();
        assert_eq!((counts.generated, counts.injected), (200, 200));
        assert_eq!((counts.dropped, counts.dropped_inside), (full[0].dropped, full[0].dropped));
    }
}

/// With flow control no output drops; a room of none, or of too many, is refused.
#[test]
fn rooms_of_graphs_are_checked() {
    let refused = |text: &str, pause: bool, kind: ErrorKind| {
        let params = Params { pause, ..fixed(Transport::None) };
        let error = check(&*graph(text), &params).unwrap_err();
        assert_eq!((error.setting(), error.kind()), (Some("topology"), kind), "{error}");
    };
    refused(TIGHT, true, ErrorKind::Meaningless);
    refused(&TIGHT.replace("queue=7", "queue=0"), false, ErrorKind::OutOfRange);
    refused(&TIGHT.replace("queue=7", "queue=20000000"), false, ErrorKind::OutOfRange);
}

/// Everything goes round the ring in one direction.
const RING: &str =
    "digraph { H0 -> A; A -> H0 [comment=H0]; H1 -> B; B -> H1 [comment=H1]; H2 -> C; C -> H2 [comment=H2];
    H3 -> D; D -> H3 [comment=H3]; edge [comment=\"*\"]; A -> B; B -> C; C -> D; D -> A;
    edge [comment=\"\"]; B -> A; C -> B; D -> C; A -> D }";

/// Routes all round a ring in one direction, and PAUSE: a deadlock, whose channels are named.
#[test]
fn pauses_lock_a_ring() {
    let ring = graph(RING);
    let params = Params { pause: true, xoff: 4, xon: 2, ..fixed(Transport::Oracle) };
    let failures = engines(&*ring, &params).map(|mut network| {
        (0..4).for_each(|source| {
            network.inject(message(source.into(), source, (source + 2) % 4, 100_000));
        });
        drain(&mut *network).unwrap_err()
    });
    assert_eq!(failures[0], failures[1]);
    let NetworkFailure::Deadlock(deadlock) = &failures[0] else { panic!("{}", failures[0]) };
    let nodes = deadlock.cycle.iter().map(|channel| match channel {
        Channel::Switch { node, vc: 0, .. } => node.0,
        _ => panic!("{channel}"),
    });
    let nodes: Vec<u32> = nodes.collect();
    let mut sorted = nodes.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, [4, 5, 6, 7], "{deadlock}");
    // Without PAUSE frames are dropped, and sent again.
    for mut network in engines(&*ring, &Params { pause: false, ..params.clone() }) {
        network.inject(message(0, 0, 2, 100_000));
        assert_eq!(drain(&mut *network).unwrap().len(), 1);
    }
}

/// With PAUSE nothing is lost where queues without it overflow.
#[test]
fn pauses_lose_nothing() {
    let topology = topology::parse("fattree:4,2", 2).unwrap();
    let lossy = Params { port_queue: 60, xoff: 20, xon: 10, ..fixed(Transport::None) };
    for (params, is_lossless) in [(Params { pause: true, ..lossy.clone() }, true), (lossy, false)] {
        for mut network in engines(&*topology, &params) {
            for source in 1..16 {
                network.inject(message(source.into(), source, 0, 100_000));
            }
            let delivered = drain(&mut *network).unwrap().len();
            let details = network.details();
            assert_eq!((delivered == 15, details.losses().0 == 0), (is_lossless, is_lossless));
            assert_eq!(details.totals.pauses > 0, is_lossless);
        }
    }
}

/// A ring of switches without a spanning tree: the first frame to an unknown host circulates.
#[test]
fn floods_without_a_tree_are_storms() {
    let params = Params { spanning_tree: false, ..Params::default() };
    let topology = topology::parse("torus:5", 2).unwrap();
    let failures = engines(&*topology, &params).map(|mut network| {
        network.inject(message(0, 1, 3, 1));
        let mut notices = Notices::default();
        (0..100).find_map(|_| network.advance(network.clock() + MS, &mut notices).err()).unwrap()
    });
    assert_eq!(failures[0], failures[1]);
    let NetworkFailure::Storm(storm) = &failures[0] else { panic!("{}", failures[0]) };
    assert_eq!((storm.source_node, storm.forwarded, storm.cycle.len()), (NodeId(1), 5, 5));
    // With the tree all is well, and one link of the ring is blocked, at both ends.
    for mut network in engines(&*topology, &Params::default()) {
        network.inject(message(0, 1, 3, 1));
        assert_eq!(drain(&mut *network).unwrap().len(), 1);
    }
    let blocked = blocked_links(&*topology, &Params::default()).unwrap();
    assert_eq!(blocked.iter().map(|ends| ends.map(|(node, _)| node.0)).collect::<Vec<_>>(), [[2, 3]]);
}

/// Addresses are learnt from the first answer, and forgotten.
#[test]
fn addresses_are_learnt_and_age() {
    for (ageing, filtered) in [(300 * SECOND, 2), (10 * US, 4)] {
        let params = Params { ageing, ..Params::default() };
        for mut network in engines(&*row(1, 4, false), &params) {
            for (id, (source, destination)) in [(0, 1), (1, 0), (0, 1)].into_iter().enumerate() {
                network.inject(message(id as u64, source, destination, 1));
                drain(&mut *network).unwrap();
                let mut notices = Notices::default();
                network.advance(network.clock() + MS, &mut notices).unwrap();
            }
            // A flooded frame comes to two hosts that it is not for; the answer is never flooded, if it is soon.
            let expected = if ageing > SECOND { filtered } else { 6 };
            assert_eq!(network.details().totals.copies_filtered, expected, "{ageing}");
        }
    }
}

/// Flows are spread over the links up of a tree, each on one path.
#[test]
fn flows_are_spread_by_their_hash() {
    let topology = topology::parse("fattree:4,2", 2).unwrap();
    for (ecmp, most) in [(false, 1), (true, 4)] {
        for mut network in engines(
            &*topology,
            &Params { spread: if ecmp { Spread::ECMP } else { Spread::ONE }, ..fixed(Transport::Oracle) },
        ) {
            network.observe();
            for destination in 4..16 {
                for source in 0..4 {
                    network.inject(message(u64::from(destination), source, destination, 3_000));
                }
            }
            drain(&mut *network).unwrap();
            let mut shown = Occupancy::default();
            network.settled().view.unwrap().occupancy(&mut shown);
            let ports = topology.shape().ports();
            // The first switch sends up through these ports.
            let up = &shown.crossed[16 * ports..17 * ports];
            let used: Vec<u64> = up.iter().copied().filter(|&frames| frames > 0).collect();
            assert_eq!((used.len(), used.iter().sum::<u64>()), (most, 144), "{used:?}");
            assert!(used.iter().all(|frames| frames.is_multiple_of(3)), "{used:?}");
            assert_eq!(shown.crossed.iter().sum::<u64>(), network.settled().recorder.totals().hops);
        }
    }
}

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<Captured>>>);

impl Capture for Log {
    fn frame(&mut self, captured: &Captured) {
        self.0.lock().unwrap().push(*captured);
    }
}

/// Frames are seen with their times, places and contents.
#[test]
fn frames_are_captured() {
    for mut network in engines(&*row(1, 2, false), &fixed(Transport::Oracle)) {
        let log = Log::default();
        network.capture(&[Place::Host(NodeId(1)), Place::Switch(NodeId(2))], Box::new(log.clone()));
        network.inject(message(9, 0, 1, 2_000));
        drain(&mut *network).unwrap();
        let seen = log.0.lock().unwrap().clone();
        let frame = |at: u64| 12_208_000 + at;
        let second = frame(96_000);
        let short = (503 + 29) * 8_000;
        let expected = [
            (frame(1_000), true, Direction::Received, 0, 1_526),
            (frame(1_000), true, Direction::Sent, 0, 1_526),
            (second + short + 1_000, true, Direction::Received, 1_497, 532),
            (frame(frame(2_000)), false, Direction::Received, 0, 1_526),
            (frame(second + 1_000), true, Direction::Sent, 1_497, 532),
            (frame(second + 2_000) + short, false, Direction::Received, 1_497, 532),
        ];
        let found: Vec<_> = seen
            .iter()
            .map(|seen| {
                let Content::Data { message, offset, segment: None, .. } = seen.content else { panic!("{seen:?}") };
                assert_eq!((message.id, seen.is_damaged), (9, false));
                (seen.at, matches!(seen.interface.place, Place::Switch(_)), seen.direction, offset, seen.wire_bytes)
            })
            .collect();
        assert_eq!(found, expected);
    }
}

/// What is not for the network is dropped at once.
#[test]
fn unknown_hosts_are_refused() {
    for mut network in engines(&*row(1, 2, false), &fixed(Transport::Oracle)) {
        for (source, destination) in [(0, 7), (0, 0), (0, 2)] {
            assert_eq!(network.inject(message(0, source, destination, 1)), Injected::Dropped);
        }
        assert_eq!((network.in_flight(), network.settled().recorder.totals().dropped), (0, 3));
    }
}

#[test]
fn settings_that_cannot_be_used_are_refused() {
    let row = row(1, 2, false);
    let base = Params::default;
    for (params, key, kind) in [
        (Params { link_rate: 0, ..base() }, "link-rate", ErrorKind::OutOfRange),
        (Params { link_rate: u64::MAX, ..base() }, "link-rate", ErrorKind::OutOfRange),
        (Params { propagation: u64::MAX, ..base() }, "propagation", ErrorKind::OutOfRange),
        (Params { port_queue: 0, ..base() }, "port-queue", ErrorKind::OutOfRange),
        (Params { ageing: 0, ..base() }, "ageing", ErrorKind::OutOfRange),
        (Params { per: 1.0, ..base() }, "per", ErrorKind::OutOfRange),
        (Params { per: -0.1, ..base() }, "per", ErrorKind::OutOfRange),
        (Params { per: f64::NAN, ..base() }, "per", ErrorKind::OutOfRange),
        (Params { segment: 0, ..base() }, "segment", ErrorKind::OutOfRange),
        (Params { segment: 1_497, ..base() }, "segment", ErrorKind::Conflict),
        (Params { segment_header: 1_497, ..base() }, "segment-header", ErrorKind::OutOfRange),
        (Params { ack_bytes: 1_498, ..base() }, "ack-bytes", ErrorKind::OutOfRange),
        (Params { window: 0, ..base() }, "window", ErrorKind::OutOfRange),
        (Params { initial_window: 0, ..base() }, "initial-window", ErrorKind::OutOfRange),
        (Params { dup_acks: 0, ..base() }, "dup-acks", ErrorKind::OutOfRange),
        (Params { rto_min: 0, ..base() }, "rto-min", ErrorKind::OutOfRange),
        (Params { rto_max: 1, ..base() }, "rto-max", ErrorKind::OutOfRange),
        (Params { spread: Spread::ECMP, ..base() }, "spread", ErrorKind::Meaningless),
        (Params { pause: true, xon: 500, ..base() }, "xon", ErrorKind::Conflict),
        (Params { pause: true, port_queue: 510, ..base() }, "port-queue", ErrorKind::Conflict),
        (Params { pause: true, propagation: MS, ..base() }, "port-queue", ErrorKind::Conflict),
    ] {
        let error = check(&*row, &params).unwrap_err();
        assert_eq!((error.setting(), error.kind()), (Some(key), kind), "{error}");
        assert!(!error.remedy().to_string().is_empty());
    }
    assert_eq!(check(&*row, &base()), Ok(()));
    let refused = |text: &str| {
        let error = check(&*graph(text), &Params { forwarding: Forwarding::Static, ..base() }).unwrap_err();
        assert_eq!(error.setting(), Some("topology"));
        error.to_string()
    };
    let ends =
        "digraph { H0 -> S; S -> H0 [comment=H0]; H1 -> T; T -> H1 [comment=H1]; S -> T; T -> S [comment=\"*\"] }";
    assert!(refused(ends).contains("from host 0 to host 1 end at node 2"), "{}", refused(ends));
    let round =
        "digraph { H0 -> S; S -> H0 [comment=H0]; H1 -> T; T -> H1; S -> U [comment=H1]; U -> S [comment=\"*\"];
        U -> T; T -> U [comment=\"*\"] }";
    assert!(refused(round).contains("from host 0 to host 1 lead round a loop"), "{}", refused(round));
    // A switch reaches its own hosts whatever the routes say. Switches that learn use no routes, right or wrong ones.
    let wrong = graph("digraph { H0 -> S; S -> H0 [comment=\"*\"]; H1 -> S; S -> H1; }");
    assert_eq!(check(&*wrong, &Params { forwarding: Forwarding::Static, ..base() }), Ok(()));
    let error = check(&*wrong, &base()).unwrap_err();
    assert_eq!((error.setting(), error.kind()), (Some("topology"), ErrorKind::Unsupported));
    assert!(error.to_string().contains("line 1, column 29: comment=* of a link"), "{error}");
    assert!(error.remedy().to_string().contains("forwarding=static"), "{}", error.remedy());
    let slow = "digraph { H0 -> S [rate=\"10b/s\"]; S -> H0; H1 -> S; S -> H1 }";
    assert!(refused(slow).contains("10 b/s"), "{}", refused(slow));
    for word in ["cut", "store", "cut-through"] {
        assert_eq!(word.parse::<Switching>().is_ok(), word == "cut-through");
    }
    assert!("learning".parse::<Forwarding>().is_ok() && "static".parse::<Forwarding>().is_ok());
    assert!("oracel".parse::<Transport>().unwrap_err().remedy().to_string().contains("oracle"));
}

/// Latencies in picoseconds are large, and their spread is exact all the same.
#[test]
fn the_spread_of_long_latencies_is_exact() {
    let mut moments = Moments::default();
    (0..1 << 20).for_each(|at: u64| moments.record((1 << 42) + at % 2 * 2));
    assert_eq!((moments.std(), moments.mean()), (Some(1.0), Some((1u64 << 42) as f64 + 1.0)));
    let mut moments = Moments::default();
    [0, 1 << 62].into_iter().for_each(|value| moments.record(value));
    assert_eq!(moments.std(), Some((1u64 << 61) as f64));
}

/// Five hosts send to the sixth through short queues, over links that all have rates of their own.
fn incast_over_own_rates(params: &Params) -> Box<dyn Ethernet> {
    let links: String = (0..6).map(|host| format!("H{host} -> S; S -> H{host};\n")).collect();
    let topology = graph(&format!("digraph {{ edge [rate=\"100Mb/s\", delay=\"500ps\"]\n{links} }}\n"));
    let mut network = fsin_ethernet::fast::build(&*topology, params.clone(), 1).unwrap();
    for source in 0..5 {
        network.inject(message(source.into(), source, 5, 60_000));
    }
    drain(&mut *network).unwrap();
    network
}

/// Where every link has its own rate, the rate of the others plays no part: the wait of a backoff follows the link of
/// the host.
#[test]
fn a_default_that_no_link_uses_changes_nothing() {
    for recovery in [Transport::Oracle, Transport::Backoff, Transport::None, Transport::Window] {
        let with = |link_rate| {
            let params = Params { link_rate, port_queue: 3, rto_min: 10 * MS, ..fixed(recovery) };
            let mut network = incast_over_own_rates(&params);
            (network.settled().recorder.digest(), network.details())
        };
        assert_eq!(with(1_000_000_000), with(100_000_000), "{recovery:?}");
    }
}

/// The oracle costs frames and no time: the link of the receiver is never idle, however short its queue.
#[test]
fn an_oracle_loses_no_time() {
    let end = |recovery, port_queue| {
        let network = incast_over_own_rates(&Params { port_queue, ..fixed(recovery) });
        (network.clock().0, network.details().losses().0)
    };
    let (lossless, none) = end(Transport::Oracle, 1_000);
    assert_eq!(none, 0);
    let (short, some) = end(Transport::Oracle, 4);
    // Nothing is later but what follows from the order in which the last frames come.
    let frame = 123_040_000;
    assert!(some > 100 && short < lossless + 2 * frame, "{short} and {lossless}, {some} frames lost");
    assert!(end(Transport::Backoff, 4).0 > short + 2 * frame, "a drawn wait leaves the link idle");
}

/// Four senders of equal rate to one receiver: their frames come to the switch at the same instants. By the numbers of
/// ports the first one gets nearly all, by the hash each a fourth.
#[test]
fn ties_by_hash_share_a_queue_evenly() {
    for (queue, ties) in [8, 20, 64].into_iter().flat_map(|queue| [(queue, TieOrder::Port), (queue, TieOrder::Hash)]) {
        let params = Params { port_queue: queue, ties, ..fixed(Transport::None) };
        let received = engines(&*row(1, 5, false), &params).map(|mut network| {
            // Senders 0 to 3, 10 000 frames each, every one a message: what arrives of each is counted.
            for source in 0..4 {
                (0..10_000).for_each(|id| {
                    network.inject(message(id, source, 4, 1_497));
                });
            }
            let mut received = [0u64; 4];
            for delivery in drain(&mut *network).unwrap() {
                received[delivery.message.source.index()] += 1;
            }
            received
        });
        let [reference, fast] = received;
        assert_eq!(reference, fast, "{ties:?}, queue {queue}");
        let share = |source: usize| fast[source] as f64 / fast.iter().sum::<u64>() as f64;
        match ties {
            TieOrder::Port => assert!(share(0) > 0.95, "queue {queue}: {fast:?}"),
            TieOrder::Hash => {
                assert!((0..4).all(|source| (share(source) - 0.25).abs() < 0.02), "queue {queue}: {fast:?}")
            }
        }
    }
}

/// The time of a message alone by hand: each link takes its frames one after the other, and the last one crosses both.
#[test]
fn frames_have_the_sizes_that_are_set() {
    const DELAY: u64 = 1_000;
    let presets = [Frames::THESIS, Frames::ROCE, Frames::TCP, Frames::HPCC];
    for frames in presets.into_iter().chain([Frames { mtu: 9_216, ..Frames::ROCE }, Frames { min: 600, ..Frames::TCP }])
    {
        for bytes in [1, 64, 1_000, 1_497, 5_000, 100_000] {
            let params = Params { frames, segment: 500, propagation: DELAY, ..fixed(Transport::None) };
            // 1 Gb/s: a bit takes 1 000 ps.
            let sizes: Vec<u64> = (0..params.frames_of(bytes))
                .map(|index| {
                    (bytes - index * u64::from(frames.mtu)).min(frames.mtu.into()) + u64::from(frames.overhead)
                })
                .map(|size| size.max(frames.min.into()))
                .collect();
            let (last, others) = sizes.split_last().unwrap();
            let gap = u64::from(frames.gap);
            let first: u64 = others.iter().map(|size| 8 * size + gap).sum::<u64>() + 8 * last;
            // A short last frame waits at the switch for the one before it.
            let before = others.last().map_or(0, |size| 8 * size + gap);
            let waits = before.saturating_sub(8 * last + gap) + 8 * last;
            let expected = 1_000 * (first + waits) + 2 * DELAY;
            for mut network in engines(&*row(1, 2, false), &params) {
                network.inject(message(0, 0, 1, bytes));
                let delivered = drain(&mut *network).unwrap();
                assert_eq!(delivered[0].delivered.0, expected, "{frames:?}, {bytes} bytes");
            }
        }
    }
}

/// With windows: the time from an acknowledgement to the next, of its size.
#[test]
fn acknowledgements_have_the_size_that_is_set() {
    for (frames, bytes) in [(Frames::THESIS, 72), (Frames::ROCE, 74), (Frames { ack: Some(500), ..Frames::TCP }, 500)] {
        let params = Params { frames, segment: 1_000, segment_header: 0, ..fixed(Transport::Window) };
        for mut network in engines(&*row(1, 2, false), &params) {
            network.inject(message(0, 0, 1, 1_000));
            drain(&mut *network).unwrap();
            assert_eq!(network.details().totals.bytes_sent, u64::from(frames.of(1_000)) + bytes, "{frames:?}");
        }
    }
}
