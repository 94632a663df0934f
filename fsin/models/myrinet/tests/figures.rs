//! The figures of George and `VanLoon`: exact ones of two nodes, and those of eight around a switch.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{open, place};
use fsin_myrinet::reference::Reference;
use fsin_myrinet::{Myrinet, Params, fast};

const US: u64 = 1_000_000;

/// \[b/s\] Rate of links.
const RATE: f64 = 1.28e9;

fn engine(is_reference: bool, nodes: usize) -> Box<dyn Myrinet> {
    let (topology, params) = (place(&format!("fattree:{nodes},1")), Params { payload: 8_192, ..Params::default() });
    match is_reference {
        true => Box::new(Reference::new(&topology, params).unwrap()),
        false => fast::build(&topology, params).unwrap(),
    }
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
        let found = open(&mut *engine(false, 2), payload, 1.44e9, time, 1).throughput;
        let error = off(found, apet(1.0, payload));
        assert!(error.abs() < 0.1, "payload {payload}: {found} b/s, {error} %");
        let one = common::message(0, 0, 1, payload);
        let mut network = engine(power < 9, 2);
        network.inject(one);
        common::pass(&mut *network, 1_000 * US);
        let latency = network.message_latency().moments().mean().unwrap() / 1e3;
        assert!(off(latency, owal(payload)).abs() < 0.001, "payload {payload}: {latency} ns, not {}", owal(payload));
        // At an eighth of the rate every packet has it to itself.
        let found = open(&mut *engine(false, 2), payload, 1.6e8, 20 * payload * 50_000, 1).latency;
        println!("{payload}: {error:.4} %, {latency} ns, {:.4} %, open {found} ns", off(latency, owal(payload)));
    }
}

#[test]
fn eight_nodes() {
    for (payload, throughput, latency) in
        [(4, 291.0, 0.197), (64, 722.0, 0.593), (1_024, 795.0, 7.19), (8_192, 800.0, 56.5)]
    {
        let time = (payload + 7) * 6_250 * 20_000 / (payload / 16 + 1);
        let peak = open(&mut *engine(false, 8), payload, 1.44e9, time / 5, 1).throughput / 1e6;
        let light = open(&mut *engine(false, 8), payload, 1.6e8, time, 1).latency / 1e3;
        println!(
            "{payload}: {peak:.1} Mb/s, {:.2} %; {light:.4} us, {:.2} %",
            off(peak, throughput),
            off(light, latency)
        );
    }
}
