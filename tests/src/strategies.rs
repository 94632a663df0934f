//! Networks and routers to draw for property tests.

use fsin::router::{Consumption, Inject, RouterParams, SourceQueue};
use fsin::routing::{Order, ROUTINGS, Routing};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};

use crate::setup::Setup;

/// `cases` cases that are the same in every run.
#[must_use]
pub fn fixed_cases(cases: u32) -> Config {
    Config { cases, rng_seed: RngSeed::Fixed(2017), failure_persistence: None, ..Config::default() }
}

/// Every routing that there is.
#[must_use]
pub fn all_routings() -> Vec<Routing> {
    let parse = |name| Routing::parse(name).expect("a routing of the table has its name");
    ROUTINGS.iter().map(|component| parse(component.name)).collect()
}

/// Topologies and ways: tori and meshes of 1 to 4 dimensions, tori with one-way links too, of 2 to `most` nodes.
pub fn networks(most: usize) -> impl Strategy<Value = (String, usize)> {
    let sizes = (1usize..=4).prop_flat_map(move |dimensions| {
        let longest = [most, 12, 6, 4][dimensions - 1];
        prop::collection::vec(1..=longest, dimensions)
    });
    let kind = prop_oneof![Just(("torus", 2)), Just(("mesh", 2)), Just(("torus", 1))];
    (sizes, kind)
        .prop_filter("2 nodes to `most`", move |(sizes, _)| (2..=most).contains(&sizes.iter().product::<usize>()))
        .prop_map(|(sizes, (name, ways))| {
            let sizes: Vec<String> = sizes.iter().map(usize::to_string).collect();
            (format!("{name}:{}", sizes.join("x")), ways)
        })
}

/// Routers with every setting drawn, of the least number of channels and up to 3 more. Bubbles from 0 on, so that
/// networks may end in deadlock.
pub fn routers() -> impl Strategy<Value = RouterParams> {
    let channels = (prop::sample::select(all_routings()), 0usize..=3);
    let queues = (2u32..=8).prop_flat_map(|queue| (Just(queue), 1u32..=4, 0..=queue, 0..=queue));
    let lengths = prop::sample::select(vec![1u32, 2, 3, 4, 8, 16]);
    let rules = (
        prop::sample::select(vec![Order::Dimension, Order::Direction]),
        prop::sample::select(vec![Inject::Parallel, Inject::Serial]),
        prop::sample::select(vec![Consumption::Multiple, Consumption::Single]),
        prop::sample::select(vec![SourceQueue::Throttled, SourceQueue::Open]),
        prop::sample::select(vec![0.0, 0.5, 1.0]),
    );
    (channels, queues, lengths, 1usize..=4, rules, any::<u64>()).prop_map(
        |((routing, more), (queue, buffer, bubble, lbr), packet_phits, injectors, rules, seed)| {
            let (order, inject, consumption, source_queue, in_transit_priority) = rules;
            RouterParams {
                routing,
                order,
                vcs: routing.min_vcs() + more,
                packet_phits,
                queue_packets: queue,
                injection_queue_packets: buffer,
                injectors,
                inject,
                consumption,
                bubble,
                lbr,
                in_transit_priority,
                source_queue,
                seed,
                ..RouterParams::default()
            }
        },
    )
}

/// Runs of uniform traffic from no load to full load, on networks of at most `most` nodes.
pub fn setups(most: usize) -> impl Strategy<Value = Setup> {
    (networks(most), routers(), 0u32..=20).prop_map(|((topology, ways), params, load)| Setup {
        topology,
        ways,
        params,
        pattern: "uniform".to_owned(),
        load: f64::from(load) / 20.0,
    })
}
