//! Links of unlike rates and delays: latency, throughput, and slack buffers.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use crate::common::{message, pass};
use fsin_core::topology::Topology;
use fsin_core::topology::switched::network_of_text;
use fsin_myrinet::{Myrinet, Params, check, fast, reference};
use proptest::prelude::*;
use trgen::rng::mix2;

const US: u64 = 1_000_000;

/// The network of a list of links.
fn network(text: &str) -> Arc<dyn Topology> {
    Arc::new(network_of_text(text, "graph:test".to_owned(), None).unwrap())
}

/// Both engines.
fn engines(topology: &Arc<dyn Topology>, params: &Params) -> [Box<dyn Myrinet>; 2] {
    [reference::build(topology, params.clone()).unwrap(), fast::build(topology, params.clone()).unwrap()]
}

/// \[ps\] Time of a character at a rate in Gb/s.
fn character(rate: u64) -> u64 {
    8_000 / rate
}

/// Over one switch, the route's character occupies the output for a character; then the slower link sets the pace, and
/// a faster output follows its input without outrunning it.
#[test]
fn a_packet_alone_moves_at_the_slower_rate() {
    for (from, to) in [(1, 1), (2, 1), (1, 2), (4, 1), (1, 4)] {
        let topology = network(&format!("H0 s rate {from}Gb/s delay 100ns\nH1 s rate {to}Gb/s delay 300ns\nH2 s\n"));
        for store_character in [false, true] {
            let params = Params { store_character, slack: 400, ..Params::default() };
            for mut network in engines(&topology, &params) {
                network.inject(message(0, 0, 1, 64));
                pass(&mut *network, 100 * US);
                let (comes, goes) = (character(from), character(to));
                // From the arrival of a character's leading edge until it may leave.
                let lead = if store_character { comes } else { comes.saturating_sub(goes) };
                // The connection opens with the route's character; type, payload and CRC follow: the CRC is the 70th.
                let opened = lead + goes;
                let last = [opened + 68 * goes, lead + 69 * comes].into_iter().max().unwrap();
                let latency = network.message_latency().moments().max().unwrap();
                assert_eq!(latency, 400_000 + last, "{from} to {to} Gb/s, stored {store_character}");
            }
        }
    }
}

/// Two hosts fill the slower link to a third: it carries its rate, less what is around the payload.
#[test]
fn a_link_carries_its_rate() {
    for rate in [2, 4, 8] {
        let topology = network(&format!("H0 s rate 8Gb/s\nH1 s rate 8Gb/s\nH2 s rate {rate}Gb/s\n"));
        // Enough below the low-water mark that the output does not wait for what follows GO.
        let params = Params { slack: 500, high_mark: 200, low_mark: 150, payload: 1_000, ..Params::default() };
        for mut network in engines(&topology, &params) {
            for id in 0..400 {
                network.inject(message(id, (id % 2) as u32, 2, 1_000));
            }
            pass(&mut *network, 200 * US);
            let details = network.details();
            // A packet over a switch is 4 + 1000 + 1 characters, the GAP and the slot of its route.
            let packets = 200 * US / (1_007 * character(rate));
            let received = details.totals.payload_received / 1_000;
            assert!(received.abs_diff(packets) <= 2, "{rate} Gb/s: {received} packets and not {packets}");
            let stops = details.stops_and_gos().0;
            assert!(stops > 20, "{stops} STOPs");
        }
    }
}

prop_compose! {
    /// Rates in units of 100 Mb/s and delays in ns of links between hosts and two switches, both ways.
    fn links()(list in prop::collection::vec(((1u64..60, 1u64..60), (0u64..400, 0u64..400)), 5)) -> String {
        let ends = [("H0", "a"), ("H1", "a"), ("H2", "b"), ("H3", "b"), ("a", "b")];
        let lines = ends.iter().zip(list).map(|((one, other), ((there, back), (far, near)))| {
            format!(
                "{one} -> {other} rate {}Mb/s delay {far}ns\n{other} -> {one} rate {}Mb/s delay {near}ns\n",
                there * 100, back * 100
            )
        });
        lines.collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    /// The least slack that is accepted never overflows, whatever the rates and delays of both directions; everything
    /// arrives, and the engines agree.
    #[test]
    fn slack_buffers_suffice(text in links(), high_mark in 1u32..30, store_character in any::<bool>(), seed in any::<u64>()) {
        let topology = network(&text);
        let of = |slack| Params { slack, high_mark, low_mark: high_mark.div_ceil(2), store_character, ..Params::default() };
        let least = (1..10_000).find(|&slack| check(&topology, &of(slack)).is_ok()).unwrap();
        let mut results = Vec::new();
        for mut network in engines(&topology, &of(least)) {
            for id in 0..60 {
                let draw = mix2(seed, id);
                let (from, to) = ((draw % 4) as u32, (draw / 4 % 3) as u32);
                network.inject(message(id, from, (from + 1 + to) % 4, draw / 12 % 500));
                if draw.is_multiple_of(5) {
                    let until = network.clock().0 + draw % US;
                    pass(&mut *network, until);
                }
            }
            let until = network.clock().0 + 60 * 600 * 100_000;
            pass(&mut *network, until);
            prop_assert_eq!(network.in_flight(), 0);
            let details = network.details();
            prop_assert!(details.slack_max() <= least, "{} of {}", details.slack_max(), least);
            results.push(details);
        }
        prop_assert_eq!(&results[0], &results[1]);
    }
}
