//! Guarantees of the model: slack buffers, order of grants, timeouts, dead links.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::common::{message, pass, place};
use fsin_core::network::Notices;

use fsin_myrinet::{EventKind, Myrinet, Params, Routing, check, fast, reference};
use trgen::Cycle;

const NS: u64 = 1_000;
const US: u64 = 1_000_000;

/// \[characters\] The most in a slack buffer while a worm of host 0 is blocked by one of host 1, and the opposite
/// channel carries one of host 2, over many phases of the latter.
fn most_held(params: &Params) -> u32 {
    let topology = place("fattree:4,1");
    let phases = (0..97).map(|phase| {
        let mut network = reference::unchecked(&topology, params.clone()).unwrap();
        network.inject(message(0, 1, 3, 1_000));
        pass(&mut *network, 50 * NS);
        network.inject(message(1, 0, 3, 1_000));
        pass(&mut *network, 50 * NS + 131 * phase);
        network.inject(message(2, 2, 0, 1_000));
        pass(&mut *network, 200 * US);
        assert_eq!(network.in_flight(), 0);
        network.details().slack_max()
    });
    phases.max().unwrap()
}

#[test]
fn the_least_slack_is_just_enough() {
    let topology = place("fattree:4,1");
    for (link_rate, cable_length, high_mark, least) in [
        (1_280_000_000, 10.0, 56, 76),
        (640_000_000, 10.0, 20, 31),
        (5_120_000_000, 10.0, 56, 130),
        (1_280_000_000, 0.001, 5, 8),
        (1_280_000_000, 25.0, 60, 107),
    ] {
        let params = Params { link_rate, cable_length, high_mark, low_mark: 5, slack: least, ..Params::default() };
        check(&topology, &params).unwrap();
        assert_eq!(most_held(&params), least, "{params:?}");
        // A character less would overflow, and is refused.
        let refusal = check(&topology, &Params { slack: least - 1, ..params }).unwrap_err();
        assert!(refusal.remedy().to_string().contains(&least.to_string()), "{refusal}: {}", refusal.remedy());
    }
}

#[test]
fn marks_must_make_sense() {
    let topology = place("fattree:4,1");
    for (params, key) in [
        (Params { low_mark: 0, ..Params::default() }, "low-mark"),
        (Params { low_mark: 57, ..Params::default() }, "low-mark"),
        (Params { cable_length: 100.0, ..Params::default() }, "slack"),
        (Params { cable_length: f64::NAN, ..Params::default() }, "cable-length"),
        (Params { timeout: 0, ..Params::default() }, "packet-timeout"),
        (Params { faults: 1, ..Params::default() }, "faults"),
        (Params { routing: Routing::DOR, ..Params::default() }, "routing"),
    ] {
        assert_eq!(check(&topology, &params).unwrap_err().setting(), Some(key), "{params:?}");
    }
}

/// Inputs that always have a packet for an output take turns.
#[test]
fn outputs_are_granted_in_turn() {
    let topology = place("fattree:4,1");
    let mut network = reference::build(&topology, Params::default()).unwrap();
    network.events();
    for round in 0..20 {
        (0..3).for_each(|host| {
            network.inject(message(3 * round + u64::from(host), host, 3, 100));
        });
    }
    pass(&mut *network, 1_000 * US);
    let inputs: Vec<u32> = network
        .events()
        .iter()
        .filter_map(|event| match event.kind {
            EventKind::Granted { input, .. } => Some(input),
            _ => None,
        })
        .collect();
    assert_eq!(inputs.len(), 60);
    assert!(inputs.windows(4).all(|turn| turn[0] == turn[3] && turn[0] != turn[1] && turn[1] != turn[2]), "{inputs:?}");
}

/// Every hop adds its cable and the character of its route, and with `store_character` one more.
#[test]
fn latency_without_load() {
    for (spec, from, to, switches) in [("fattree:4,1", 0, 3, 1), ("fattree:3,2", 0, 8, 3), ("mesh:4x1", 0, 3, 4)] {
        for store_character in [false, true] {
            let params = Params { store_character, ..Params::default() };
            let mut network = fast::build(&place(spec), params).unwrap();
            network.inject(message(0, from, to, 64));
            pass(&mut *network, 100 * US);
            let latency = network.message_latency().moments().max().unwrap();
            // The CRC begins behind route, type and payload.
            let sent = 6_250 * (switches + 4 + 64);
            let stored = if store_character { 6_250 * switches } else { 0 };
            let cables = (switches + 1) * 500_000 / 9;
            assert!(latency.abs_diff(sent + stored + cables) <= 1, "{spec}: {latency} ps");
        }
    }
}

/// All hosts of a ring send two hops on, the same way round: every worm waits for the next one.
#[test]
fn a_cyclic_route_is_refused_deadlocks_and_is_broken() {
    let topology = place("torus:5");
    let safe = Params { routing: Routing::SHORTEST, timeout: 50 * US, ..Params::default() };
    assert_eq!(check(&topology, &safe).unwrap_err().setting(), Some("routing"));
    let params = Params { unsafe_routing: true, ..safe };
    let engines: [Box<dyn Myrinet>; 2] =
        [reference::build(&topology, params.clone()).unwrap(), fast::build(&topology, params.clone()).unwrap()];
    for mut network in engines {
        let mut notices = Notices::default();
        for host in 0..5 {
            network.inject(message(host, host as u32, (host as u32 + 2) % 5, 4_000));
        }
        // A packet would take 26 us.
        assert_eq!(pass(&mut *network, 49 * US), 0, "deadlock");
        let mut dropped = 0;
        while network.in_flight() > 0 {
            network.advance(Cycle(200 * US), &mut notices).unwrap();
            dropped += notices.dropped.len();
        }
        let details = network.details();
        assert_eq!((details.totals.timeouts, dropped), (5, 5));
        // Nothing is left of them: the next message finds an empty network.
        let mut shown = fsin_core::view::Occupancy::default();
        network.settled().view.unwrap().occupancy(&mut shown);
        assert_eq!(shown.transit.iter().chain(&shown.injection).sum::<u32>(), 0);
        pass(&mut *network, 200 * US);
        let before = network.message_latency().moments().count();
        network.inject(message(9, 0, 2, 64));
        pass(&mut *network, 300 * US);
        let latency = network.message_latency().moments();
        assert_eq!((latency.count() - before, latency.max()), (1, Some(6_250 * (3 + 4 + 64) + 4 * 500_000 / 9)));
    }
    // By up*/down* routes the same messages arrive.
    let mut network = fast::build(&topology, Params { timeout: 1_000 * US, ..Params::default() }).unwrap();
    for host in 0..5 {
        network.inject(message(host, host as u32, (host as u32 + 2) % 5, 4_000));
    }
    assert_eq!(pass(&mut *network, 1_000 * US), 5);
}

/// Packets on dead links are lost until two BEATs are missing; then routes go round them.
#[test]
fn dead_links_are_seen_after_two_beats() {
    let params = Params { faults: 1, beat: 50 * US, ..Params::default() };
    let mut network = fast::build(&place("hyperx:4x4:1"), params).unwrap();
    let all = |network: &mut dyn Myrinet, first: u64| {
        for (source, destination) in (0..16u32).flat_map(|one| (0..16u32).map(move |other| (one, other))) {
            if source != destination {
                network.inject(message(first + u64::from(16 * source + destination), source, destination, 8));
            }
        }
    };
    all(&mut *network, 0);
    pass(&mut *network, 99 * US);
    let lost = network.details().totals.lost_on_dead_links;
    assert!(lost > 0 && network.in_flight() == 0, "{lost}");
    pass(&mut *network, 101 * US);
    all(&mut *network, 1_000);
    pass(&mut *network, 300 * US);
    assert_eq!((network.details().totals.lost_on_dead_links, network.in_flight()), (lost, 0));
}

/// Time ends after six days; the clock goes on.
#[test]
fn the_end_of_time_is_no_trap() {
    let mut network = fast::build(&place("fattree:4,1"), Params::default()).unwrap();
    pass(&mut *network, u64::MAX);
    network.inject(message(0, 0, 1, 64));
    assert_eq!(network.clock(), Cycle(u64::MAX));
}

/// BEATs are a character on each channel in each period, whether time is skipped or not.
#[test]
fn beats_take_their_characters() {
    let params = Params { beat: 10 * US, ..Params::default() };
    let mut network = fast::build(&place("fattree:4,1"), params).unwrap();
    pass(&mut *network, 1_000 * US + 2);
    assert_eq!(network.details().totals.beats, 100 * 8);
    // A message that is offered while a BEAT begins waits for its end.
    network.inject(message(0, 0, 1, 64));
    pass(&mut *network, 1_009 * US);
    assert_eq!(network.message_latency().moments().max(), Some(542_361 + 6_249));
    // 4 006 characters and their BEATs take 25.2 us: 25 of these delay the worm, by a character each.
    let latency = |beat| {
        let mut network = fast::build(&place("fattree:8,1"), Params { beat, ..Params::default() }).unwrap();
        network.inject(message(0, 0, 1, 4_000));
        pass(&mut *network, 100 * US);
        network.message_latency().moments().max().unwrap()
    };
    assert_eq!(latency(US) - latency(1_000_000 * US), 25 * 6_250);
}
