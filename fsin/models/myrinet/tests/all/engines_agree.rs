//! The fast engine and the reference engine agree: every arrival, every grant, every STOP and GO, every figure.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::common::{advance, cases, message, place};
use fsin_core::difference::{self, Offer};
use fsin_core::failures::{self, Timetable};
use fsin_core::network::{Injected, Network, Notices};
use fsin_core::stats::{Counts, Moments, Recorder};
use fsin_core::view::Occupancy;

use fsin_myrinet::{Event, Params, Routing, fast, reference};
use proptest::prelude::*;
use trgen::Cycle;
use trgen::rng::{Purpose, stream};

const NS: u64 = 1_000;
const US: u64 = 1_000_000;

#[derive(Clone, Debug)]
struct Case {
    topology: &'static str,
    params: Params,
    /// Calls of the network with messages, one in `gap` hosts sends in each, and the longest message.
    rounds: u64,
    gap: u64,
    bytes: u64,
    /// \[ps\] Longest time between two calls.
    step: u64,
    seed: u64,
}

const PLACES: [&str; 10] = [
    "fattree:2,1",
    "fattree:6,1",
    "fattree:3,2",
    "torus:4",
    "torus:3x3",
    "mesh:3x2",
    "dragonfly:p=1,a=3,h=1",
    "hyperx:3x2:2",
    "slimtree:4,2,2",
    "rail:k=2,of=(fattree:2,2)",
];

prop_compose! {
    fn case()(
        topology in 0..PLACES.len(),
        link_rate in prop_oneof![
            3 => Just(1_280_000_000u64), 1 => Just(640_000_000), 1 => Just(5_120_000_000), 1 => Just(3_000_000_000)
        ],
        cable_length in prop_oneof![2 => Just(10.0), 1 => 0.0001f64..3.0, 1 => 3.0f64..60.0],
        (low, more, room) in prop_oneof![
            2 => Just((40u32, 16u32, 0u32)), 2 => (1u32..6, 0u32..4, 0u32..3), 1 => (1u32..40, 0u32..40, 0u32..9)
        ],
        payload in prop_oneof![1 => 1u32..9, 2 => 20u32..300, 1 => Just(4_096u32)],
        store_character in any::<bool>(),
        beat in prop_oneof![2 => Just(1_000_000 * US), 1 => 2 * US..20 * US],
        timeout in prop_oneof![2 => Just(1_000_000 * US), 1 => US..8 * US, 1 => 8 * US..60 * US],
        (routing, faults) in prop_oneof![
            2 => Just((Routing::UPDOWN, 0)), 1 => Just((Routing::SHORTEST, 0)), 1 => Just((Routing::UPDOWN, 1))
        ],
        (rounds, gap, bytes) in (1u64..60, 1u64..6, prop_oneof![Just(4u64), 1u64..80, 1u64..2_000]),
        step in prop_oneof![1 => Just(6_250u64), 2 => 1u64..200 * NS, 1 => US..4 * US],
        seed in any::<u64>(),
    ) -> Case {
        let base = Params { link_rate, cable_length, high_mark: low + more, low_mark: low, ..Params::default() };
        let slack = least_slack(&base) + room;
        // Worms that wait for each other in a ring do so until then.
        let timeout = if routing == Routing::SHORTEST { timeout.min(60 * US) } else { timeout };
        let params = Params {
            slack, payload, store_character, beat, timeout, routing, unsafe_routing: true, seed,
            faults: if PLACES[topology] == "hyperx:3x2:2" { faults } else { 0 },
            ..base
        };
        Case { topology: PLACES[topology], params, rounds, gap, bytes, step, seed }
    }
}

/// As the model states it: two characters and two delays after the mark.
fn least_slack(params: &Params) -> u32 {
    let character = (8e12 * 16.0 / params.link_rate as f64).round();
    let delay = (params.cable_length / params.cable_velocity * 16e12).round().max(1.0);
    params.high_mark + 2 + (2.0 * delay / character).ceil() as u32
}

/// The part of a record that is compared quickly.
fn brief(recorder: &Recorder) -> (u64, Counts, Moments) {
    (recorder.digest(), recorder.totals(), *recorder.window().latency.moments())
}

fn sorted(mut events: Vec<Event>) -> Vec<Event> {
    events.sort_unstable();
    events
}

/// Runs [`both`]; a failure names the first cycle and the object that differ.
fn agree(case: &Case) -> Result<(u64, u64), TestCaseError> {
    let mut offers = Vec::new();
    both(case, &mut offers).map_err(|failure| {
        let topology = place(case.topology);
        let mut build = || -> [Box<dyn Network>; 2] {
            let params = case.params.clone();
            [reference::build(&topology, params.clone()).unwrap(), fast::build(&topology, params).unwrap()]
        };
        let end = offers.last().map_or(Cycle::FIRST, |(at, _)| *at) + 10_000 * US;
        TestCaseError::fail(difference::report(&failure, difference::first(&mut build, &offers, end)))
    })
}

/// The same messages into both, everything compared after each call. Returns STOPs and packets lost.
fn both(case: &Case, offers: &mut Vec<Offer>) -> Result<(u64, u64), TestCaseError> {
    let topology = place(case.topology);
    let mut reference = reference::build(&topology, case.params.clone()).unwrap();
    let mut fast = fast::build(&topology, case.params.clone()).unwrap();
    reference.observe();
    fast.observe();
    reference.events();
    fast.events();
    let hosts = topology.endpoints() as u64;
    let mut rng = stream(case.seed, 0, Purpose::Temporal);
    let (mut expected, mut found) = (Notices::default(), Notices::default());
    // By message: whether it has been sent, delivered, dropped.
    let mut fates: Vec<[bool; 3]> = Vec::new();
    let (mut round, mut idle) = (0, 0);
    while idle < 2 {
        let now = reference.clock().0;
        prop_assert_eq!(now, fast.clock().0);
        let is_offering = round < case.rounds;
        for host in (0..hosts).filter(|_| is_offering) {
            let destination = rng.next_u64() % hosts;
            if !rng.next_u64().is_multiple_of(case.gap) || destination == host {
                continue;
            }
            let bytes = rng.next_u64() % (case.bytes + 1);
            let new = message(fates.len() as u64, host as u32, destination as u32, bytes);
            fates.push([false; 3]);
            offers.push((Cycle(now), new));
            let outcome = reference.inject(new);
            prop_assert_eq!(outcome, fast.inject(new));
            if outcome == Injected::Dropped {
                // No notice follows.
                fates.last_mut().into_iter().for_each(|fate| *fate = [true, false, true]);
            }
        }
        let until = now + 1 + rng.next_u64() % case.step;
        let until = if is_offering { until } else { now + 30 * US };
        prop_assert_eq!(advance(&mut *reference, Cycle(until), &mut expected), Ok(()));
        prop_assert_eq!(advance(&mut *fast, Cycle(until), &mut found), Ok(()));
        let (one, other) = (sorted(reference.events()), sorted(fast.events()));
        if one != other {
            let at = one.iter().zip(&other).position(|(one, other)| one != other).unwrap_or(one.len().min(other.len()));
            prop_assert!(false, "at {now}: {:?}, not {:?}", other.get(at), one.get(at));
        }
        prop_assert_eq!(&expected, &found);
        prop_assert_eq!(reference.details(), fast.details(), "at {}", now);
        prop_assert_eq!(reference.in_flight(), fast.in_flight());
        prop_assert_eq!(brief(reference.settled().recorder), brief(fast.settled().recorder), "at {}", now);
        let (mut shown, mut seen) = (Occupancy::default(), Occupancy::default());
        reference.settled().view.unwrap().occupancy(&mut shown);
        fast.settled().view.unwrap().occupancy(&mut seen);
        prop_assert_eq!(shown, seen);
        let counts = reference.settled().recorder.totals();
        prop_assert_eq!(counts.generated, counts.received + counts.dropped + reference.in_flight());
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
        round += 1;
        idle += u64::from(!is_offering && reference.in_flight() == 0);
        prop_assert!(round < 100_000, "messages are still under way");
    }
    for [sent, delivered, dropped] in fates {
        prop_assert!(sent && delivered != dropped);
    }
    prop_assert!(reference.settled().recorder == fast.settled().recorder, "recorders differ");
    prop_assert_eq!(reference.message_latency(), fast.message_latency());
    let details = reference.details();
    prop_assert!(details.slack_max() <= case.params.slack, "{} in a slack buffer", details.slack_max());
    Ok((details.stops_and_gos().0, details.totals.timeouts + details.totals.lost_on_dead_links))
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn engines_agree(case in case()) {
        agree(&case)?;
    }
}

proptest! {
    #![proptest_config(cases(10_000))]

    /// `cargo test --release -p fsin-myrinet --test all engines_agree:: -- --ignored`
    #[test]
    #[ignore = "minutes"]
    fn engines_agree_ten_thousand_times(case in case()) {
        agree(&case)?;
    }
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn engines_agree_about_links_that_fail(case in case(), draws in prop::collection::vec(any::<u64>(), 1..8)) {
        agree(&with_failures(case, &draws))?;
    }
}

proptest! {
    #![proptest_config(cases(5_000))]

    #[test]
    #[ignore = "minutes"]
    fn engines_agree_about_links_that_fail_five_thousand_times(
        case in case(), draws in prop::collection::vec(any::<u64>(), 1..8),
    ) {
        agree(&with_failures(case, &draws))?;
    }
}

/// A case with failures and repairs of links and nodes.
fn with_failures(case: Case, draws: &[u64]) -> Case {
    let topology = place(case.topology);
    let span = case.rounds * case.step / 4 + 1;
    let timetable = Timetable::new(failures::drawn(&*topology, draws, span), &topology);
    Case { params: Params { timetable, faults: 0, ..case.params.clone() }, ..case }
}

/// The drawn networks do stop, and do lose packets: what agrees is not idle.
#[test]
fn worms_are_stopped_and_removed() {
    let base = Params { slack: 30, high_mark: 4, low_mark: 2, payload: 300, ..Params::default() };
    let case =
        Case { topology: "fattree:6,1", params: base, rounds: 40, gap: 1, bytes: 2_000, step: 200 * NS, seed: 3 };
    let (stops, lost) = agree(&case).unwrap();
    assert!(stops > 100 && lost == 0, "{stops} STOPs, {lost} lost");
    // Routes round a ring wait for each other.
    let params = Params { timeout: 5 * US, routing: Routing::SHORTEST, unsafe_routing: true, ..case.params };
    let (_, lost) = agree(&Case { topology: "torus:5", params, ..case }).unwrap();
    assert!(lost > 10, "{lost} lost");
}
