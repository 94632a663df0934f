//! The figures of George and `VanLoon`: exact ones of two nodes, and those of eight around a switch.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::common::{self, open, place};
use fsin_myrinet::{Myrinet, Params, fast};

/// \[b/s\] Rate of links.
const RATE: f64 = 1.28e9;

fn engine(nodes: usize) -> Box<dyn Myrinet> {
    let params = Params { payload: 8_192, ..Params::default() };
    fast::build(&place(&format!("fattree:{nodes},1")), params).unwrap()
}

/// \[b/s\] Of each sink, by the formula; C is 1 for two nodes.
fn apet(c: f64, payload: u64) -> f64 {
    RATE * c * payload as f64 / (payload + 7) as f64
}

/// \[ns\] By the formula, for two nodes.
fn owal(payload: u64) -> f64 {
    8e9 * (5 + payload) as f64 / RATE + 2e9 * 10.0 / 1.8e8
}

/// \[%\]
fn off(found: f64, expected: f64) -> f64 {
    100.0 * (found / expected - 1.0)
}

#[test]
fn two_nodes_have_the_exact_figures() {
    for power in 2..=13 {
        let payload = 1u64 << power;
        // So many packets that the last one, cut by the end, is less than the tolerance.
        let time = (payload + 7) * 6_250 * 1_000;
        let found = open(&mut *engine(2), payload, 1.44e9, time, 1).throughput;
        let error = off(found, apet(1.0, payload));
        assert!(error.abs() < 0.1, "payload {payload}: {found} b/s, {error} %");
        // At an eighth of the rate, at regular intervals, every packet has the way to itself.
        let period = 50_000 * payload;
        let mut network = engine(2);
        for number in 0..100 {
            network.inject(common::message(number, 0, 1, payload));
            network.inject(common::message(number, 1, 0, payload));
            common::pass(&mut *network, (number + 1) * period + 1);
        }
        let latency = network.message_latency().moments();
        assert_eq!(latency.count(), 200);
        assert!(off(latency.mean().unwrap() / 1e3, owal(payload)).abs() < 0.001, "payload {payload}");
    }
    // The paper's example: 167.36 ns.
    assert!((owal(4) - 167.361).abs() < 0.001);
}

/// Those of a plain queueing sketch: FIFO inputs, outputs in the order of requests. The paper's peak is 790 Mb/s.
#[test]
fn eight_nodes_have_the_figures_of_a_plain_queue() {
    for (payload, throughput, latency) in
        [(4, 291.0, 0.197), (64, 722.0, 0.593), (1_024, 795.0, 7.19), (8_192, 800.0, 56.5)]
    {
        // 2 000 packets of each host under load, and 6 000 at 160 Mb/s.
        let peak = open(&mut *engine(8), payload, 1.44e9, (payload + 7) * 6_250 * 4_000, 1).throughput / 1e6;
        assert!(off(peak, throughput).abs() < 2.0, "payload {payload}: {peak} Mb/s, not {throughput}");
        let light = open(&mut *engine(8), payload, 1.6e8, 6_000 * payload * 50_000, 1).latency / 1e3;
        assert!(off(light, latency).abs() < 2.0, "payload {payload}: {light} us, not {latency}");
        if payload == 8_192 {
            assert!(off(peak, 790.0).abs() < 3.0, "{peak} Mb/s");
        }
    }
}
