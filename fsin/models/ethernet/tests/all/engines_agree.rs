//! The fast engine gives the results of the reference engine, and frames are conserved.

#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use crate::common::{advance, cases, graph, message};
use crate::own;
use fsin_core::capture::Place;
use fsin_core::difference::{self, Offer};
use fsin_core::failures::Failures;
use fsin_core::interface::Interface;
use fsin_core::network::{Injected, Network, NetworkFailure, Notices};
use fsin_core::stats::{Counts, Moments, Recorder};
use fsin_core::topology::{self, Port, Topology};
use fsin_core::view::Occupancy;
use fsin_ethernet::capture::{Capture, Captured, Direction};
use fsin_ethernet::cc::{Control, STAMP_BYTES, Signal};
use fsin_ethernet::entropy::{Balancing, Rule};
use fsin_ethernet::switch::{
    Buffer, MarkAt, MarkRule, Marking, Pfc, Schedule, Service, Switch, Thresholds, Trim, TrimMode,
};
use fsin_ethernet::{
    Ethernet, Forwarding, Frames, InFlight, Params, PortStats, Spraying, Spread, Switching, TieOrder, Transport, fast,
    reference,
};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use trgen::rng::{Purpose, stream};
use trgen::{Cycle, Message, NodeId};

/// Microseconds in ps.
const US: u64 = 1_000_000;

#[derive(Clone, Debug)]
struct Case {
    topology: &'static str,
    params: Params,
    /// Calls in which messages are offered.
    rounds: u64,
    /// A host offers a message with a probability of 1 in `gap` in each step.
    gap: u64,
    /// \[bytes\] Of the longest message.
    bytes: u64,
    seed: u64,
}

/// Rates and delays of links that differ, and two links side by side.
const MIXED: &str = "digraph { edge [propagation=\"300ns\"];
    H0 -> S; S -> H0; H1 -> S [rate=\"100Mb/s\"]; S -> H1 [rate=\"100Mb/s\", propagation=\"2us\"];
    edge [rate=\"10Gb/s\"]; S -> T; T -> S; S -> T [rate=\"1Gb/s\", delay=\"7ps\"]; T -> S; T -> U; U -> T;
    U -> S; S -> U; H2 -> T; T -> H2; H3 -> U; U -> H3; H4 -> U [rate=\"2.5Gb/s\"]; U -> H4 [rate=\"2.5Gb/s\"] }";

const PLACES: [&str; 11] = [
    "mixed",
    "torus:3x3",
    "mesh:4",
    "torus:5",
    "hypercube:3",
    "fattree:2,3",
    "fattree:3,2",
    "hyperx:3x2:2",
    "dragonfly:p=1,a=3,h=1",
    "icube:2x2:2",
    "fattree:6,1",
];

fn place(name: &str) -> Box<dyn Topology> {
    if name == "mixed" { graph(MIXED) } else { topology::parse(name, 2).unwrap() }
}

prop_compose! {
    fn case()(
        topology in 0..PLACES.len(),
        (rate, delay) in (
            prop_oneof![Just(1_000_000_000u64), Just(100_000_000), Just(10_000_000_000), Just(3_000_000_000)],
            prop_oneof![0u64..2_000, 0u64..5 * US],
        ),
        queue in prop_oneof![3 => 1u32..6, 1 => 6u32..40],
        cut in any::<bool>(),
        (forwarding, ecmp) in prop_oneof![
            Just((Forwarding::Learning, false)), Just((Forwarding::Static, false)), Just((Forwarding::Static, true))
        ],
        per in prop_oneof![2 => Just(0.0), 1 => Just(0.01), 1 => Just(0.1)],
        transport in prop_oneof![Just(Transport::Oracle), Just(Transport::Backoff), Just(Transport::None), Just(Transport::Window), Just(Transport::Roce)],
        spanning_tree in prop::bool::weighted(0.9),
        pause in prop_oneof![2 => Just(None), 1 => (1u32..6, 0u32..6).prop_map(Some)],
        ageing in prop_oneof![3 => Just(300_000_000 * US), 1 => 1u64..200 * US],
        (segment, window, initial_window, dup_acks, rto) in
            (prop_oneof![Just(1_457u32), 20u32..400], 500u64..20_000, 1u32..5, 1u32..5, 20u64..2_000),
        (rounds, gap, bytes) in (1u64..40, prop_oneof![1u64..5, 5u64..40], prop_oneof![Just(0u64), 1u64..2_000, 1u64..9_000]),
        frames in prop_oneof![
            2 => Just(Frames::THESIS), 1 => Just(Frames::ROCE), 1 => Just(Frames::TCP), 1 => Just(Frames::HPCC),
            1 => Just(Frames { mtu: 9_216, ..Frames::ROCE }), 1 => Just(Frames { mtu: 500, gap: 7, ack: Some(1_000), ..Frames::TCP }),
        ],
        hash in any::<bool>(),
        seed in any::<u64>(),
    ) -> Case {
        let base = Params { link_rate: rate, propagation: delay, port_queue: queue, spread: if ecmp { Spread::ECMP } else { Spread::ONE }, per, transport, spanning_tree, ageing, forwarding, ..Params::default() };
        let (xoff, xon) = pause.map_or((2, 1), |(xoff, xon)| (xoff, xon.min(xoff - 1)));
        let params = Params {
            switching: if cut { Switching::CutThrough } else { Switching::StoreAndForward },
            pause: pause.is_some(),
            port_queue: if pause.is_some() { 10_000 } else { queue },
            port_stats: if seed % 3 == 0 { PortStats::Histogram } else { PortStats::Figures },
            xoff, xon, segment: segment.min(frames.mtu - 40), window, initial_window, dup_acks, seed, frames,
            ties: if hash { TieOrder::Hash } else { TieOrder::Port },
            is_acked: transport.acknowledges() && seed % 5 < 2,
            interface: match seed % 8 {
                most @ 1..4 if !transport.acknowledges() => Interface::Interleaved(most as u32),
                _ => Interface::Serial,
            },
            rto_initial: rto * US, rto_min: rto * US, rto_max: 64 * rto * US,
            // A class of control frames takes ports with classes, which are drawn below.
            acks_in_control: (transport == Transport::Roce).then_some(false),
            ..base
        };
        Case { topology: PLACES[topology], params, rounds, gap, bytes, seed }
    }
}

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<Captured>>>);

impl Log {
    /// Frames at the same instant by place.
    fn sorted(&self) -> Vec<Captured> {
        let mut frames = self.0.lock().unwrap().clone();
        frames.sort_by_key(|seen| (seen.at, seen.interface, seen.direction == Direction::Sent));
        frames
    }
}

impl Capture for Log {
    fn frame(&mut self, captured: &Captured) {
        self.0.lock().unwrap().push(*captured);
    }
}

/// The part of a record that is compared quickly.
fn brief(recorder: &Recorder) -> (u64, Counts, Moments) {
    (recorder.digest(), recorder.totals(), *recorder.window().latency.moments())
}

/// Every frame that was sent, or made by flooding, is received, filtered, lost, or under way.
fn conserved(network: &mut dyn Ethernet) -> Result<(), TestCaseError> {
    let details = network.details();
    let totals = &details.totals;
    let (dropped, damaged) = details.losses();
    let gone = totals.frames_received + totals.copies_filtered + dropped + damaged + totals.lost_on_dead_links;
    prop_assert_eq!(totals.frames_sent + totals.copies_made, gone + network.copies_in_flight());
    for port in &details.ports {
        let Some(lengths) = port.lengths else { continue };
        prop_assert_eq!(lengths.iter().sum::<u64>(), details.elapsed);
        // A bin begins with half of what the next one begins with.
        let least = (0..31).map(|bin| u128::from(lengths[bin + 1]) << bin).sum::<u128>();
        prop_assert!(least <= port.area && port.area <= 2 * least);
    }
    let counts = network.settled().recorder.totals();
    let under_way = counts.generated - counts.received - counts.dropped;
    prop_assert_eq!(under_way, network.in_flight());
    Ok(())
}

/// The same messages into both, everything compared after each call. A failure names the first cycle and the object
/// that differ.
fn agree(case: &Case) -> Result<Option<NetworkFailure>, TestCaseError> {
    let mut offers = Vec::new();
    observed(case, &mut offers).map_err(|failure| {
        let topology = place(case.topology);
        let end = offers.last().map_or(Cycle::FIRST, |(at, _)| *at) + 1_000_000 * US;
        let found = case.threads().into_iter().find_map(|threads| {
            let mut build = || -> [Box<dyn Network>; 2] {
                let params = case.params.clone();
                let fast = fast::build_for(&*topology, params.clone(), threads, 0).unwrap();
                [reference::build(&*topology, params).unwrap(), fast]
            };
            difference::first(&mut build, &offers, end)
        });
        TestCaseError::fail(format!("{}\n{case:?}", difference::report(&failure, found)))
    })
}

/// Says now and then how many cases have begun, where output is shown (`--nocapture`).
#[allow(clippy::print_stdout, reason = "it is for who watches")]
fn said(what: &'static str) {
    static BEGUN: Mutex<BTreeMap<&str, u32>> = Mutex::new(BTreeMap::new());
    let mut begun = BEGUN.lock().unwrap();
    let count = begun.entry(what).or_default();
    *count += 1;
    if count.is_multiple_of(250) {
        println!("{what}: case {count}");
    }
}

impl Case {
    /// Numbers of threads that it is simulated by: one, and one of two to eight.
    fn threads(&self) -> [usize; 2] {
        [1, 2 + (self.seed >> 32) as usize % 7]
    }
}

/// Runs [`all`] on the engines of a case, with observers of frames in half of the cases. In one case of sixteen the
/// threads work in every window; in the others the caller's thread simulates all parts, which takes a fraction of the
/// time on a machine with other things to do.
fn observed(case: &Case, offers: &mut Vec<Offer>) -> Result<Option<NetworkFailure>, TestCaseError> {
    let topology = place(case.topology);
    let mut reference = reference::build(&*topology, case.params.clone()).unwrap();
    let worth = if case.seed.is_multiple_of(16) { 0 } else { u64::MAX };
    let mut fast =
        case.threads().map(|threads| fast::build_for(&*topology, case.params.clone(), threads, worth).unwrap());
    let hosts = topology.endpoints() as u64;
    let logs = [Log::default(), Log::default()];
    if case.seed.is_multiple_of(2) {
        reference.observe();
        fast.iter_mut().for_each(|fast| fast.observe());
        let switch = NodeId(if topology.switched().is_some() { hosts as u32 } else { 0 });
        let sites = [Place::Host(NodeId(1)), Place::Switch(switch)];
        reference.capture(&sites, Box::new(logs[0].clone()));
        fast[0].capture(&sites, Box::new(logs[1].clone()));
    }
    all(case, &mut *reference, &mut fast, hosts, &logs, offers)
}

fn all(
    case: &Case,
    reference: &mut dyn Ethernet,
    engines: &mut [Box<dyn Ethernet>],
    hosts: u64,
    logs: &[Log; 2],
    offers: &mut Vec<Offer>,
) -> Result<Option<NetworkFailure>, TestCaseError> {
    let mut rng = stream(case.seed, 0, Purpose::Temporal);
    let (mut expected, mut found) = (Notices::default(), Notices::default());
    // By message: whether it has been sent, delivered, dropped.
    let mut fates: Vec<[bool; 3]> = Vec::new();
    let mut steps = 0;
    loop {
        let now = reference.clock().0;
        for fast in &*engines {
            prop_assert_eq!(now, fast.clock().0);
        }
        let is_offering = steps < case.rounds;
        if is_offering {
            for host in 0..hosts {
                let destination = rng.next_u64() % hosts;
                if !rng.next_u64().is_multiple_of(case.gap) || destination == host {
                    continue;
                }
                let bytes = rng.next_u64() % (case.bytes + 1);
                let used = case.params.switch.used;
                let nth =
                    if used.count_ones() == 1 { 0 } else { (rng.next_u64() % u64::from(used.count_ones())) as usize };
                let class = (0..8).filter(|class| used >> class & 1 == 1).nth(nth).unwrap();
                let new = Message { class, ..message(fates.len() as u64, host as u32, destination as u32, bytes) };
                fates.push([false; 3]);
                offers.push((Cycle(now), new));
                let outcome = reference.inject(new);
                for fast in &mut *engines {
                    prop_assert_eq!(outcome, fast.inject(new));
                }
                if outcome == Injected::Dropped {
                    *fates.last_mut().unwrap() = [true, false, true];
                }
            }
        }
        let is_over = !is_offering && reference.is_idle();
        // Long enough for most that is still under way: acknowledgements, copies.
        let until = if is_offering { now + 1 + rng.next_u64() % (10 * US) } else { now + 50_000 * US };
        let one = advance(reference, Cycle(until), &mut expected);
        conserved(reference)?;
        let mut shown = Occupancy::default();
        reference.settled().view.unwrap().occupancy(&mut shown);
        // Half of the cases read the state after each call, the others now and then: threads go on meanwhile.
        let is_read = case.seed % 16 < 8 || steps % 7 == 0 || is_over || one.is_err();
        for (fast, threads) in engines.iter_mut().zip(case.threads()) {
            let other = advance(&mut **fast, Cycle(until), &mut found);
            prop_assert_eq!(&one, &other, "{} threads", threads);
            prop_assert_eq!(&expected, &found, "{} threads", threads);
            prop_assert_eq!((reference.in_flight(), reference.is_idle()), (fast.in_flight(), fast.is_idle()));
            if !is_read && threads > 1 {
                continue;
            }
            let (these, those) = (brief(reference.settled().recorder), brief(fast.settled().recorder));
            prop_assert_eq!(these, those, "at {}, {} threads", now, threads);
            prop_assert_eq!(reference.details(), fast.details(), "at {}, {} threads", now, threads);
            prop_assert_eq!(reference.settled().figures.unwrap().ports(), fast.settled().figures.unwrap().ports());
            conserved(&mut **fast)?;
            prop_assert_eq!(reference.copies_in_flight(), fast.copies_in_flight());
            let mut seen = Occupancy::default();
            fast.settled().view.unwrap().occupancy(&mut seen);
            prop_assert_eq!(&shown, &seen, "{} threads", threads);
        }
        for sent in &expected.sent {
            prop_assert!(!std::mem::replace(&mut fates[sent.id as usize][0], true), "sent twice");
        }
        for delivery in &expected.delivered {
            prop_assert!(fates[delivery.message.id as usize][0], "delivered before it was sent");
            prop_assert!(!std::mem::replace(&mut fates[delivery.message.id as usize][1], true), "delivered twice");
            prop_assert!(delivery.delivered.next() == reference.clock() && delivery.offered < delivery.delivered);
        }
        for dropped in &expected.dropped {
            let [sent, delivered, before] = &mut fates[dropped.id as usize];
            prop_assert!(*sent && !*delivered && !std::mem::replace(before, true), "lost after it was sent, and once");
        }
        if let Err(failure) = one {
            return Ok(Some(failure));
        }
        steps += 1;
        prop_assert!(steps < 100_000, "messages are still under way");
        if is_over {
            break;
        }
    }
    for [sent, delivered, dropped] in fates {
        prop_assert!(sent && delivered != dropped);
        let has_no_time_out =
            matches!(case.params.transport, Transport::None | Transport::Ndp | Transport::Own(WITHOUT_TIME_OUT));
        prop_assert!(delivered || has_no_time_out || !case.params.failures.is_empty());
    }
    let details = reference.details();
    for fast in engines {
        prop_assert!(reference.settled().recorder == fast.settled().recorder, "recorders differ");
        prop_assert_eq!(reference.message_latency(), fast.message_latency());
    }
    prop_assert_eq!(logs[0].sorted(), logs[1].sorted());
    let (dropped, damaged) = details.losses();
    let losses_are_due = (case.params.pause || is_lossless(&case.params), case.params.per > 0.0);
    prop_assert!(dropped == 0 || !losses_are_due.0, "flow control loses nothing");
    prop_assert!(damaged == 0 || losses_are_due.1);
    Ok(None)
}

/// True if PFC keeps switches from dropping anything.
fn is_lossless(params: &Params) -> bool {
    params.failures.is_empty()
        && params.switch.pfc.is_some_and(|pfc| {
            let is_exact = pfc.headroom.is_none() && pfc.watchdog.is_none() && pfc.quanta.is_none();
            is_exact && params.switch.used & !pfc.classes == 0
        })
}

/// The case with classes, and perhaps marks, a shared buffer and PFC.
fn with_classes(case: Case, draws: &[u64; 6]) -> Case {
    let [used, services, marks, buffer, pfc, more] = *draws;
    let used = match used % 4 {
        0 => 1,
        1 => 0b1000,
        2 => 0b0101_0010,
        _ => (used >> 8) as u8 | 0b100,
    };
    let service = |class: u32| match services >> (4 * class) & 7 {
        0 | 1 => Service::Strict,
        2 | 3 => Service::Deficit(64 + (services >> (3 * class) & 0xFFF) as u32),
        _ => Service::RoundRobin,
    };
    let schedule = Schedule { services: std::array::from_fn(|class| service(class as u32)) };
    let (min, more_bytes) = (marks >> 8 & 0x3FFF, marks >> 24 & 0xFFFF);
    let rules = vec![MarkRule {
        class: Some(2).filter(|_| marks % 3 == 0),
        rate: None,
        thresholds: Thresholds { min, max: min + more_bytes * (marks >> 4 & 1), probability: 0.3 },
    }];
    let has_pfc = pfc % 3 > 0;
    let has_buffer = has_pfc || buffer % 2 == 0;
    let pfc = Pfc {
        classes: if pfc >> 4 & 3 == 0 { 0b1010_1010 } else { u8::MAX },
        headroom: Some(200 + (pfc >> 8) % 20_000).filter(|_| pfc >> 6 & 3 == 0),
        xon_offset: (pfc >> 24) % 5_000,
        quanta: Some(200 + (pfc >> 32) as u32 % 3_000).filter(|_| pfc >> 52 & 3 == 0),
        response: ((pfc >> 40) % US) * (pfc >> 54 & 1),
        watchdog: Some(1 + (pfc >> 20) % (300 * US)).filter(|_| pfc >> 55 & 3 == 0),
    };
    let alpha = [0.125, 0.5, 1.0, 8.0, 0.3][(buffer >> 8) as usize % 5];
    let switch = Switch {
        class: 0,
        marks_at_hosts: None,
        trim: None,
        headers_per_frame: 100_000,
        used,
        schedule: Some(schedule),
        marking: Some(Marking { rules }).filter(|_| marks % 4 > 0),
        mark_at: if marks >> 6 & 1 == 0 { MarkAt::Departure } else { MarkAt::Arrival },
        buffer: has_buffer.then_some(Buffer { bytes: 1, alpha, reserve: (buffer >> 16) % 5_000 }),
        pfc: has_pfc.then_some(pfc),
    };
    let is_roce = more % 4 == 0 && case.params.interface == Interface::Serial;
    let transport = if is_roce { Transport::Roce } else { case.params.transport };
    let controls: &[&str] = match (transport, switch.marking.is_some()) {
        (Transport::Roce, true) => &["dcqcn", "dcqcn:preset=sigcomm2015", "hpcc", "hpcc:max-stage=3"],
        (Transport::Roce, false) => &["hpcc", "hpcc:int=exact"],
        (Transport::Window, true) => &["dctcp", "dctcp:reduction=at-once"],
        _ => &[],
    };
    let controls: Vec<Option<Control>> =
        controls.iter().map(|text| Some(Control::parse(text).unwrap())).chain([None]).collect();
    let control = controls[(more >> 40) as usize % controls.len()].clone();
    let has_stamps = control.as_ref().is_some_and(|control| control.needs(Signal::Stamps));
    let in_flight = [InFlight::None, InFlight::Bdp, InFlight::BdpScaled][(more >> 48) as usize % 3];
    let params = Params {
        switch,
        control,
        frames: Frames { stamps: if has_stamps { STAMP_BYTES } else { 0 }, ..case.params.frames },
        in_flight: if transport == Transport::Roce { in_flight } else { InFlight::None },
        ack_every: 1
            + (more >> 56) as u32
                % match transport {
                    Transport::Roce => 9,
                    _ if transport.acknowledges() => 2,
                    _ => 1,
                },
        pause: false,
        switching: Switching::StoreAndForward,
        transport,
        is_acked: case.params.is_acked && transport.acknowledges(),
        acks_in_control: [None, Some(false), Some(true)][(more >> 8) as usize % 3],
        port_queue: 1 + (more >> 16) as u32 % 40,
        ..case.params.clone()
    };
    let topology = place(case.topology);
    // The least buffer that is permitted, and some bytes more.
    let with = |bytes: u64| {
        let mut params = params.clone();
        params.switch.buffer.iter_mut().for_each(|buffer| buffer.bytes = bytes);
        params
    };
    let is_possible = |bytes: u64| fsin_ethernet::check(&*topology, &with(bytes)).is_ok();
    let (mut least, mut most) = (0_u64, 1 << 38);
    while has_buffer && most - least > 1 {
        let middle = least.midpoint(most);
        if is_possible(middle) { most = middle } else { least = middle }
    }
    Case { params: with(most + (buffer >> 30) % 60_000), ..case }
}

proptest! {
    #![proptest_config(cases(100))]

    #[test]
    fn engines_agree_about_classes(case in case(), draws in any::<[u64; 6]>()) {
        let case = with_classes(case, &draws);
        let is_tree = case.params.spanning_tree && case.params.forwarding == Forwarding::Learning;
        let failure = agree(&case)?;
        prop_assert!(!is_tree || !matches!(failure, Some(NetworkFailure::Deadlock(_))), "{:?}", failure);
    }

    #[test]
    fn engines_agree_about_classes_and_failures(
        case in case(), draws in any::<[u64; 6]>(), failures in prop::collection::vec(any::<u64>(), 1..6)
    ) {
        agree(&with_failures(with_classes(case, &draws), &failures))?;
    }

    /// Frames of one length on links of one rate, without delays.
    #[test]
    fn engines_agree_about_classes_at_the_same_instants(case in case(), draws in any::<[u64; 6]>()) {
        let (link_rate, propagation, segment) = (1_000_000_000, 0, case.params.frames.mtu - 40);
        let params = Params { link_rate, propagation, segment, ..case.params.clone() };
        agree(&with_classes(Case { params, bytes: 0, gap: 1 + case.gap % 4, ..case }, &draws))?;
    }
}

proptest! {
    #![proptest_config(cases(10_000))]

    /// `cargo test --release -p fsin-ethernet --test all engines_agree:: -- --ignored`
    #[test]
    #[ignore = "minutes"]
    fn engines_agree_about_classes_ten_thousand_times(
        case in case(), draws in any::<[u64; 6]>(), failures in prop::collection::vec(any::<u64>(), 0..6)
    ) {
        said("classes");
        agree(&with_failures(with_classes(case, &draws), &failures))?;
    }
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn engines_agree(case in case()) {
        match agree(&case)? {
            None => {}
            Some(NetworkFailure::Storm(storm)) => {
                prop_assert!(!case.params.spanning_tree && case.params.forwarding == Forwarding::Learning);
                prop_assert!(storm.cycle.len() > 1);
            }
            Some(NetworkFailure::Livelock(livelock)) => {
                prop_assert!(case.params.transport == Transport::Oracle && livelock.dropped > 100_000);
            }
            Some(NetworkFailure::Deadlock(deadlock)) => {
                // The links of a tree form no cycle.
                let is_tree = case.params.spanning_tree && case.params.forwarding == Forwarding::Learning;
                prop_assert!(case.params.pause && !is_tree);
                prop_assert!(deadlock.cycle.len() > 1, "{:?}", deadlock);
            }
        }
    }
}

proptest! {
    #![proptest_config(cases(400))]

    /// Frames of one length on links of one rate, without delays: many events at the same instants, and PAUSE.
    #[test]
    fn engines_agree_about_ties(case in case(), xoff in 1u32..4) {
        let (link_rate, propagation, segment) = (1_000_000_000, 0, case.params.frames.mtu - 40);
        let params = Params { link_rate, propagation, pause: true, xoff, xon: xoff - 1, segment, ..case.params };
        agree(&Case { params: Params { port_queue: 10_000, ..params }, bytes: 0, gap: 1 + case.gap % 4, ..case })?;
    }
}

/// A transport from outside that never takes a frame as lost.
const WITHOUT_TIME_OUT: &str = "own-without-time-out";

/// The case with a transport that sprays, and queues of two levels unless ports have others.
fn with_spraying(case: Case, draws: &[u64; 4]) -> Case {
    let [kind, switch, senders, sizes] = *draws;
    let is_ndp = kind.is_multiple_of(3);
    let frames = if sizes % 3 == 0 { case.params.frames } else { Frames { mtu: 300, ..Frames::UEC } };
    // Each header that arrives is answered: with longer answers, hosts of slow links would say for ever what they lack.
    let frames = Frames { ack: frames.ack.map(|bytes| bytes.min(64)), ..frames };
    let mode = match switch % 4 {
        0 | 1 => TrimMode::Coin,
        2 => TrimMode::Arriving,
        _ if is_ndp => TrimMode::Arriving,
        _ => TrimMode::Off,
    };
    let longest = u64::from(frames.longest());
    let room = (switch >> 3 & 3 > 0).then(|| longest * (2 + (switch >> 5) % 7) + (switch >> 9) % longest);
    let trim = Trim { mode, room, size: 64.min(frames.longest()) };
    let has_trim = is_ndp || switch >> 20 & 7 > 0;
    let spread = ["ecmp", "ecmp:hash=digit", "round-robin", "adaptive", "hash-adaptive"];
    let spread = spread[(switch >> 24) as usize % if has_trim { 5 } else { 3 }];
    let control = ["nscc", "rccc", "both", "nscc:qa-gate=2"][(senders & 3) as usize];
    let rules = [Rule::Oblivious, Rule::Bitmap, Rule::Reps, Rule::RepsLegacy, Rule::Mixed, Rule::Single, Rule::Cycle];
    let marking = match switch >> 32 & 3 {
        0 => None,
        1 => Some("step:700".parse().unwrap()),
        _ => Some("red:300:3000:0.5".parse().unwrap()),
    };
    let has_marks = marking.is_some() || has_trim && !is_ndp;
    let params = Params {
        transport: if is_ndp { Transport::Ndp } else { Transport::Uec },
        control: (!is_ndp && senders >> 2 & 3 > 0).then(|| Control::parse(control).unwrap()),
        spraying: Spraying {
            ack_every: [1, 1_000, 16_384][(senders >> 4) as usize % 3],
            base_of_pairs: senders >> 8 & 1 == 1,
            base_on_trim: senders >> 9 & 1 == 1,
            initial_window: 1 + (senders >> 10) % 20,
        },
        balancing: Balancing {
            rule: rules[(senders >> 16) as usize % 7],
            paths: 1 << ((senders >> 20) % 6),
            draws: senders >> 24 & 1 == 1,
        },
        switch_latency: [0, 0, 1, 300_000][(switch >> 36) as usize % 4],
        forwarding: Forwarding::Static,
        spread: spread.parse().unwrap(),
        switching: Switching::StoreAndForward,
        pause: false,
        // Time-outs follow the time that a full queue takes; what is lost without one is found after a hundred of them.
        port_queue: case.params.port_queue.min(40),
        interface: Interface::Serial,
        acks_in_control: None,
        is_acked: senders >> 25 & 1 == 1,
        segment: frames.mtu.saturating_sub(40).max(1),
        segment_header: 0,
        frames,
        switch: Switch {
            trim: has_trim.then_some(trim),
            // Headers and requests of some cases fill a link: after 100 000 of them a case would take minutes.
            headers_per_frame: [1, 10, 10, 300][(switch >> 48) as usize % 4],
            marking,
            mark_at: if has_trim {
                [MarkAt::Sent, MarkAt::Sent, MarkAt::Departure][(switch >> 40) as usize % 3]
            } else {
                MarkAt::Departure
            },
            marks_at_hosts: [None, Some(true), Some(false)][(switch >> 44) as usize % 3].filter(|_| has_marks),
            ..Switch::default()
        },
        ..case.params.clone()
    };
    Case { params, ..case }
}

proptest! {
    #![proptest_config(cases(40))]

    #[test]
    fn engines_agree_about_transports_that_spray(
        case in case(), draws in any::<[u64; 4]>(), failures in prop::collection::vec(any::<u64>(), 0..6)
    ) {
        agree(&with_failures(with_spraying(case, &draws), &failures))?;
    }

    /// With time-outs and without: what is lost then is given up at the same instant.
    #[test]
    fn engines_agree_about_a_transport_from_outside(
        case in case(), draws in any::<[u64; 4]>(), window in 1_usize..40, has_time_out in any::<bool>(),
        failures in prop::collection::vec(any::<u64>(), 0..6)
    ) {
        let case = with_spraying(case, &draws);
        let transport = Transport::Own(if has_time_out { "own" } else { WITHOUT_TIME_OUT });
        let connections = Some(own::connections(window, has_time_out));
        let params = Params { transport, connections, control: None, ..case.params.clone() };
        agree(&with_failures(Case { params, ..case }, &failures))?;
    }

    /// Frames of one length on links of one rate, without delays.
    #[test]
    fn engines_agree_about_spraying_at_the_same_instants(case in case(), draws in any::<[u64; 4]>()) {
        let case = with_spraying(case, &draws);
        let params = Params { link_rate: 1_000_000_000, propagation: 0, ..case.params.clone() };
        agree(&Case { params, gap: 1 + case.gap % 4, ..case })?;
    }
}

proptest! {
    #![proptest_config(cases(10_000))]

    /// `cargo test --release -p fsin-ethernet --test all engines_agree:: -- --ignored`
    #[test]
    #[ignore = "minutes"]
    fn engines_agree_about_transports_that_spray_ten_thousand_times(
        case in case(), draws in any::<[u64; 4]>(), failures in prop::collection::vec(any::<u64>(), 0..6)
    ) {
        said("transports that spray");
        agree(&with_failures(with_spraying(case, &draws), &failures))?;
    }
}

/// Headers of trimmed frames fill a slow link for seconds, since each that arrives has its frame sent and trimmed
/// again: data pass among them, and requests that were lost meanwhile do not hold up the end.
#[test]
fn data_pass_headers_that_fill_a_link() {
    let frames = Frames { mtu: 300, ..Frames::UEC };
    let params = Params {
        link_rate: 10_000_000_000,
        propagation: 0,
        forwarding: Forwarding::Static,
        spread: Spread::ECMP,
        transport: Transport::Uec,
        control: Some(Control::parse("nscc").unwrap()),
        is_acked: true,
        segment: 300,
        segment_header: 0,
        frames,
        switch: Switch {
            trim: Some(Trim { mode: TrimMode::Coin, room: Some(1_777), size: 64 }),
            mark_at: MarkAt::Sent,
            ..Switch::default()
        },
        ..Params::default()
    };
    for headers_per_frame in [10, 100_000] {
        let switch = Switch { headers_per_frame, ..params.switch.clone() };
        let params = Params { switch, ..params.clone() };
        let case = Case { topology: "mixed", params, rounds: 8, gap: 1, bytes: 1_380, seed: 7 };
        assert_eq!(agree(&case).unwrap(), None, "{headers_per_frame}");
    }
}

/// A port of a slow link has its share of the room, which may be less than a frame: frames pass all the same.
#[test]
fn frames_pass_ports_of_slow_links() {
    let case = |control: Option<&str>, mode| {
        let frames = Frames { mtu: 300, ..Frames::UEC };
        let trim = Trim { mode, room: Some(7 * 364 + 38), size: 64 };
        let params = Params {
            link_rate: 1_000_000_000,
            propagation: 0,
            forwarding: Forwarding::Static,
            spread: Spread::ECMP,
            transport: if control.is_some() { Transport::Uec } else { Transport::Ndp },
            control: control.map(|word| Control::parse(word).unwrap()),
            is_acked: true,
            segment: 300,
            segment_header: 0,
            frames,
            switch: Switch { trim: Some(trim), mark_at: MarkAt::Sent, ..Switch::default() },
            ..Params::default()
        };
        Case { topology: "mixed", params, rounds: 5, gap: 1, bytes: 1_380, seed: 7 }
    };
    for control in ["nscc", "rccc", "both"] {
        for mode in [TrimMode::Coin, TrimMode::Arriving, TrimMode::Off] {
            assert_eq!(agree(&case(Some(control), mode)).unwrap(), None, "{control}, {mode:?}");
        }
    }
    assert_eq!(agree(&case(None, TrimMode::Coin)).unwrap(), None);
}

/// A case with up to eight failures and repairs of links and nodes, as far as they are possible one after another.
fn with_failures(case: Case, draws: &[u64]) -> Case {
    let topology = place(case.topology);
    let links: Vec<String> = (0..topology.nodes())
        .flat_map(|node| (0..topology.shape().ports()).map(move |port| (NodeId::at(node), Port::at(port))))
        .filter_map(|(node, port)| {
            let name = |node| topology::node_name(&*topology, node);
            Some(format!("link:{}-{}", name(node), name(topology.neighbour(node, port)?)))
        })
        .collect();
    let mut case = case;
    let (mut words, mut at): (Vec<String>, u64) = (Vec::new(), 0);
    for &draw in draws {
        at += [0, 1, draw % (20 * US), draw % (200 * US)][(draw >> 8) as usize % 4];
        let name = match (draw >> 16) % 8 {
            0 => format!(
                "node:{}",
                topology::node_name(&*topology, NodeId::at((draw >> 24) as usize % topology.nodes()))
            ),
            _ => links[(draw >> 24) as usize % links.len()].clone(),
        };
        let mut with = |word: String| {
            let list = words.iter().cloned().chain([word.clone()]).collect::<Vec<_>>().join(",");
            let Ok(failures) = Failures::parse(&list, Path::new(""), &*topology, 1, (1, 1)) else { return false };
            let params = Params { failures, ..case.params.clone() };
            let is_possible = fsin_ethernet::check(&*topology, &params).is_ok();
            if is_possible {
                words.push(word);
                case.params = params;
            }
            is_possible
        };
        let _ = with(format!("{name}@{at}")) || with(format!("repair:{name}@{at}"));
    }
    case
}

proptest! {
    #![proptest_config(cases(600))]

    #[test]
    fn engines_agree_about_links_that_fail(case in case(), draws in prop::collection::vec(any::<u64>(), 1..8)) {
        agree(&with_failures(case, &draws))?;
    }

    /// Frames of one length on links of one rate, without delays: links die while other things happen.
    #[test]
    fn engines_agree_about_failures_at_the_same_instants(
        case in case(), draws in prop::collection::vec(any::<u64>(), 1..8), pause in any::<bool>(), steps in 1u64..4,
    ) {
        let (link_rate, propagation, segment) = (1_000_000_000, 0, case.params.frames.mtu - 40);
        let params = Params { link_rate, propagation, pause, xoff: 2, xon: 1, segment, ..case.params };
        // In long queues without flow control a storm takes minutes to be noticed.
        let port_queue = if pause { 10_000 } else { params.port_queue.min(40) };
        let case = Case { params: Params { port_queue, ..params }, bytes: 0, gap: 1, ..case };
        let mut case = with_failures(case, &draws);
        let shortest = (u64::from(8 * case.params.frames.of(0)) + u64::from(case.params.frames.gap)) * 1_000;
        for change in &mut case.params.failures.changes {
            change.at = change.at.next_multiple_of(shortest) + steps - 1;
        }
        case.params.failures.changes.dedup_by_key(|change| change.at);
        if fsin_ethernet::check(&*place(case.topology), &case.params).is_ok() {
            agree(&case)?;
        }
    }
}

proptest! {
    #![proptest_config(cases(10_000))]

    /// `cargo test --release -p fsin-ethernet --test all engines_agree:: -- --ignored`
    #[test]
    #[ignore = "minutes"]
    fn engines_agree_ten_thousand_times(case in case()) {
        said("whole networks");
        agree(&case)?;
    }
}

/// Frames that are on their way when the tree changes come by links that lead elsewhere now. Were addresses learnt from
/// them, frames would be sent there, and sent again, for ever.
#[test]
fn frames_of_the_tree_before_teach_no_addresses() {
    let (topology, seed) = ("dragonfly:p=1,a=3,h=1", 10_444_469_925_728_694_111);
    let frames = Frames { mtu: 500, gap: 7, ack: Some(1_000), ..Frames::TCP };
    let fail = "link:18-20@10494001";
    let failures = Failures::parse(fail, Path::new(""), &*place(topology), 1, (1, 1)).unwrap();
    let (link_rate, propagation, port_queue, ties) = (1_000_000_000, 0, 10_000, TieOrder::Hash);
    let params =
        Params { link_rate, propagation, port_queue, segment: 460, frames, ties, failures, seed, ..Params::default() };
    assert_eq!(agree(&Case { topology, params, rounds: 22, gap: 1, bytes: 0, seed }).unwrap(), None);
}

/// Hosts that lose their frames at the same instants, and send them again at once, would do so for ever: that is
/// reported, and a drawn wait ends it.
#[test]
fn collisions_of_hosts_end_or_are_reported() {
    let seed = 15_496_061_213_261_450_309;
    let params = Params { link_rate: 100_000_000, propagation: 1_576, port_queue: 1, seed, ..Params::default() };
    let case = |recovery| {
        let params = Params { transport: recovery, ..params.clone() };
        agree(&Case { topology: "hyperx:3x2:2", params, rounds: 26, gap: 1, bytes: 0, seed }).unwrap()
    };
    assert_eq!(case(Transport::Backoff), None);
    let failure = case(Transport::Oracle);
    assert!(matches!(failure, Some(NetworkFailure::Livelock(_))), "{failure:?}");
}

/// Many connections that lose their segments at the same instants do not do so for ever.
#[test]
fn collisions_of_time_outs_end() {
    let params = Params {
        link_rate: 10_000_000_000,
        propagation: 898,
        port_queue: 1,
        transport: Transport::Window,
        ageing: 167 * US,
        window: 19_254,
        initial_window: 4,
        dup_acks: 4,
        rto_initial: 1_327 * US,
        rto_min: 1_327 * US,
        rto_max: 84_928 * US,
        ..Params::default()
    };
    for seed in 0..20 {
        let params = Params { seed, ..params.clone() };
        let case = Case { topology: "fattree:3,2", params, rounds: 36, gap: 1, bytes: 1_253, seed };
        assert_eq!(agree(&case).unwrap(), None);
    }
}

/// The clock stops while switches are ahead of it, with flow control: what they have counted is not shown.
#[test]
fn switches_ahead_of_the_clock_show_what_it_has_reached() {
    let (seed, frames) = (7_646_197_044_349_747_650, Frames { mtu: 9_216, ..Frames::ROCE });
    let params = Params {
        propagation: 0,
        port_queue: 10_000,
        forwarding: Forwarding::Static,
        frames,
        interface: Interface::Interleaved(2),
        pause: true,
        xoff: 1,
        xon: 0,
        seed,
        ..Params::default()
    };
    let case = Case { topology: "mixed", params, rounds: 5, gap: 4, bytes: 8_472, seed };
    assert_eq!(agree(&case).unwrap(), None);
}

/// A class without PFC loses frames although others have it: a connection that lost its last frame sends it again.
#[test]
fn a_lost_tail_of_a_class_without_pfc_is_sent_again() {
    let seed = 3_306_062_554_927_901_943;
    let frames = Frames { mtu: 500, gap: 7, ack: Some(1_000), ..Frames::TCP };
    let switch = Switch {
        class: 0,
        marks_at_hosts: None,
        trim: None,
        headers_per_frame: 100_000,
        used: 1,
        schedule: None,
        marking: None,
        mark_at: MarkAt::Departure,
        buffer: Some(Buffer { bytes: 2_213, alpha: 0.3, reserve: 1_999 }),
        pfc: Some(Pfc {
            classes: 0b1010_1010,
            headroom: None,
            xon_offset: 4_466,
            quanta: None,
            response: 155_882,
            watchdog: None,
        }),
    };
    let params = Params {
        link_rate: 1_000_000_000,
        propagation: 0,
        segment: 460,
        transport: Transport::Roce,
        acks_in_control: Some(false),
        frames,
        switch,
        seed,
        ..Params::default()
    };
    let case = Case { topology: "hypercube:3", params, rounds: 10, gap: 1, bytes: 0, seed };
    assert_eq!(agree(&case).unwrap(), None);
}
