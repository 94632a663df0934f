//! Networks and traffic that tests share.

#![allow(dead_code, missing_docs, clippy::unwrap_used, reason = "shared by tests, each of which uses some of it")]

use proptest::test_runner::Config as ProptestConfig;
use std::sync::Arc;

use fsin_core::network::{NetworkFailure, Notices};
use fsin_core::topology::{self, Topology};
use fsin_myrinet::Myrinet;
use trgen::rng::mix2;
use trgen::{Cycle, Message, NodeId};

pub(crate) fn message(id: u64, source: u32, destination: u32, bytes: u64) -> Message {
    Message { id, source: NodeId(source), destination: NodeId(destination), bytes, class: 0 }
}

pub(crate) fn place(spec: &str) -> Arc<dyn Topology> {
    topology::parse(spec, 2).unwrap().into()
}

/// Runs to `until` or to the next notice: unlike a single call of `Network::advance`, whatever happens before.
pub(crate) fn advance(
    network: &mut dyn Myrinet,
    until: Cycle,
    notices: &mut Notices,
) -> std::result::Result<(), NetworkFailure> {
    loop {
        network.advance(until, notices)?;
        if !notices.is_empty() || network.clock() >= until {
            return Ok(());
        }
    }
}

/// Advances to a cycle. Returns the messages delivered.
pub(crate) fn pass(network: &mut dyn Myrinet, until: u64) -> u64 {
    let (mut notices, mut delivered) = (Notices::default(), 0);
    while network.clock() < Cycle(until) {
        network.advance(Cycle(until), &mut notices).unwrap();
        delivered += notices.delivered.len() as u64;
    }
    delivered
}

/// What open traffic gave.
pub(crate) struct Result {
    /// \[b/s\] Of payload at each sink, after a quarter of the time.
    pub(crate) throughput: f64,
    /// \[ns\] Mean latency of all messages.
    pub(crate) latency: f64,
}

/// Every host sends messages of `bytes`, at `rate` b/s of payload, for `time` ps; gaps are drawn with equal probability
/// between 0 and twice their mean, destinations among all others.
pub(crate) fn open(network: &mut dyn Myrinet, bytes: u64, rate: f64, time: u64, seed: u64) -> Result {
    let hosts = network.nodes() as u64;
    let mean = 8e12 * bytes as f64 / rate;
    let share = |key: u64| (key >> 11) as f64 / (1u64 << 53) as f64;
    let gap = |host: u64, number: u64| 2.0 * mean * share(mix2(mix2(seed, host), 2 * number));
    let mut next: Vec<(f64, u64)> = (0..hosts).map(|host| (gap(host, 0), 0)).collect();
    let mut before = 0;
    let begin = time / 4;
    let mut is_measuring = false;
    loop {
        let (host, (at, number)) =
            next.iter().copied().enumerate().min_by(|(_, one), (_, other)| one.0.total_cmp(&other.0)).unwrap();
        let cycle = (at as u64 + 1).min(time + 1);
        if !is_measuring && cycle > begin {
            pass(network, begin + 1);
            before = network.details().totals.payload_received;
            is_measuring = true;
        }
        pass(network, cycle);
        if cycle > time {
            break;
        }
        let draw = mix2(mix2(seed, host as u64), 2 * number + 1);
        let destination = (host as u64 + 1 + draw % (hosts - 1)) % hosts;
        network.inject(message(number, host as u32, destination as u32, bytes));
        next[host] = (at + gap(host as u64, number + 1), number + 1);
    }
    let received = network.details().totals.payload_received - before;
    let latency = network.message_latency().moments().mean().unwrap() / 1e3;
    Result { throughput: 8e12 * received as f64 / (time - begin) as f64 / hosts as f64, latency }
}

/// A configuration of so many cases. Simpler ones than the first that fails are looked for during a minute at most: each
/// may take seconds.
pub(crate) fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, max_shrink_time: 60_000, ..ProptestConfig::default() }
}
