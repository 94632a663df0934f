//! Figures that are known to the last picosecond.

#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

use crate::common::{drain, engines, graph, message, ping_pong, row};
use fsin_core::interface::Interface;
use fsin_ethernet::{Forwarding, Params, Switching};
use proptest::prelude::*;

const NANOSECOND: u64 = 1_000;

fn params(rate: u64, forwarding: Forwarding) -> Params {
    Params { link_rate: rate, propagation: NANOSECOND, forwarding, ..Params::default() }
}

/// Messages there and back over one switch.
#[test]
fn one_switch() {
    for (rate, bytes, there, back) in
        [(100_000_000, 1, 11_522, 23_044), (1_000_000_000, 1, 1_154, 2_308), (1_000_000_000, 40_000, 340_970, 681_940)]
    {
        // Switches that learn refuse the routes of a description.
        for (forwarding, routes) in
            [(Forwarding::Learning, false), (Forwarding::Static, false), (Forwarding::Static, true)]
        {
            for mut network in engines(&*row(1, 2, routes), &params(rate, forwarding)) {
                let found = ping_pong(&mut *network, 1, bytes);
                assert_eq!(found, [there * NANOSECOND, back * NANOSECOND], "{rate} {bytes}");
                assert_eq!(network.settled().recorder.totals().received, if bytes == 1 { 2 } else { 54 });
            }
        }
    }
}

/// Two messages at once over two switches: H0, H1 - S0 - S1 - H2, H3.
#[test]
fn two_switches() {
    for (forwarding, other, expected) in [
        // Both to the right: the second waits for the first and a gap.
        (Forwarding::Learning, (1, 3), [17_283, 24_003]),
        (Forwarding::Static, (1, 3), [17_283, 24_003]),
        // What is flooded occupies the port of H2, then comes a gap.
        (Forwarding::Learning, (3, 1), [18_242, 18_242]),
        (Forwarding::Static, (3, 1), [17_283, 17_283]),
    ] {
        let routes = forwarding == Forwarding::Static;
        for mut network in engines(&*row(2, 2, routes), &params(100_000_000, forwarding)) {
            network.inject(message(0, 0, 2, 1));
            network.inject(message(1, other.0, other.1, 1));
            let mut found: Vec<u64> =
                drain(&mut *network).unwrap().iter().map(|delivery| delivery.delivered.0).collect();
            found.sort_unstable();
            assert_eq!(found, expected.map(|at| at * NANOSECOND), "{forwarding:?} {other:?}");
        }
    }
}

/// Links have the rates and delays of the description: of hosts in a directed graph, of switches in both kinds.
#[test]
fn links_of_a_description() {
    const SLOW: &str = "[rate=\"100Mb/s\", propagation=\"3us\"]";
    let undirected = graph(&format!("graph {{ a -- b {SLOW} }}"));
    let directed = graph(&format!(
        "digraph {{ H0 -> a {SLOW}; a -> H0 {SLOW}; a -> b [delay=\"1500ps\"]; b -> a; H1 -> b; b -> H1 }}"
    ));
    let (fast, slow) = (576 * 1_000 + NANOSECOND, 576 * 10_000 + 3_000 * NANOSECOND);
    // The 500 ps more of the directed graph are on one direction.
    for (topology, there, back) in [(undirected, 2 * fast + slow, 0), (directed, slow + 2 * fast + 500, 500)] {
        for mut network in engines(&*topology, &params(1_000_000_000, Forwarding::Static)) {
            assert_eq!(ping_pong(&mut *network, 1, 1), [there, 2 * there - back]);
        }
    }
}

/// A short message of three frames behind a long one of 100 ends with the seventh frame of its host where frames take
/// turns: the first was on its way alone, and it is the long one's turn again. A second message to the long one's
/// destination waits for it.
#[test]
fn messages_take_turns_at_a_host() {
    const FRAME: u64 = 1_526 * 8 * NANOSECOND;
    const GAP: u64 = 96 * NANOSECOND;
    let nth = |number: u64| (number + 1) * FRAME + (number - 1) * GAP + 2 * NANOSECOND;
    for (interface, expected) in [
        (Interface::Serial, [nth(100), nth(103), nth(104)]),
        (Interface::Interleaved(1), [nth(100), nth(103), nth(104)]),
        (Interface::Interleaved(2), [nth(103), nth(7), nth(104)]),
        (Interface::Interleaved(9), [nth(103), nth(7), nth(104)]),
    ] {
        let params = Params { interface, ..params(1_000_000_000, Forwarding::Static) };
        for mut network in engines(&*row(1, 3, false), &params) {
            for (id, destination, frames) in [(0, 1, 100), (1, 2, 3), (2, 1, 1)] {
                network.inject(message(id, 0, destination, frames * 1_497));
            }
            let mut found = drain(&mut *network).unwrap();
            found.sort_by_key(|delivery| delivery.message.id);
            let found: Vec<u64> = found.iter().map(|delivery| delivery.delivered.0).collect();
            assert_eq!(found, expected, "{interface}");
        }
    }
}

/// A cut-through switch forwards after 22 bytes: preamble and header.
#[test]
fn cut_through() {
    let params = Params { switching: Switching::CutThrough, ..params(1_000_000_000, Forwarding::Static) };
    for mut network in engines(&*row(2, 1, false), &params) {
        let times = ping_pong(&mut *network, 1, 1_497);
        let there = 2 * (22 * 8 + 1) + 1_526 * 8 + 1;
        assert_eq!(times, [there * NANOSECOND, 2 * there * NANOSECOND]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// The formula: n frames over h equal hops, of m bytes each and no first one smaller than the last, take
    /// 8 (sum of m + (h - 1) m_largest) / b + h d + (n - 1) 96 / b.
    #[test]
    fn frames_in_a_row_take_what_the_formula_says(
        bytes in prop_oneof![0u64..100, 0u64..20_000],
        // Rates at which a bit takes whole picoseconds.
        rate in prop_oneof![
            Just(10_000_000u64), Just(100_000_000), Just(1_000_000_000), Just(2_500_000_000), Just(10_000_000_000),
            Just(100_000_000_000),
        ],
        delay in 0u64..10_000_000,
        switches in 1usize..6,
        learning in any::<bool>(),
    ) {
        let forwarding = if learning { Forwarding::Learning } else { Forwarding::Static };
        let params = Params { link_rate: rate, propagation: delay, forwarding, ..Params::default() };
        let bit = 1_000_000_000_000 / rate;
        let frames = params.frames_of(bytes);
        let whole = bytes / 1_497;
        let rest = bytes - whole * 1_497;
        let last = (rest + 29).max(72);
        let wire = whole * 1_526 + if rest > 0 || bytes == 0 { last } else { 0 };
        let largest = if whole > 0 { 1_526 } else { last };
        let hops = switches as u64 + 1;
        let expected = bit * (8 * (wire + (hops - 1) * largest) + (frames - 1) * 96) + hops * delay;
        let there = switches as u32 - 1;
        // With one switch there are two hosts at it.
        let (hosts, there) = if switches == 1 { (2, 1) } else { (1, there) };
        for mut network in engines(&*row(switches, hosts, false), &params) {
            prop_assert_eq!(ping_pong(&mut *network, there, bytes), [expected, 2 * expected]);
        }
    }
}
