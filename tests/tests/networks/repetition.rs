//! Runs whose iterations repeat each other exactly: those that skip periods equal those that simulate everything.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::atomic::AtomicBool;

use fsin::couple::Coupled;
use fsin::models::ConstantDelay;
use fsin::network::Network;
use fsin::router::{Arbitration, Consumption, Injection, RouterParams};
use fsin::routing::Routing;
use fsin::run::{Outcome, to_end};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use tests::setup::Setup;
use tests::strategies::{fitted, fixed_cases, grids, routers};
use trgen::clock::Clock;
use trgen::rng::mix2;
use trgen::trace::flow::Flow;
use trgen::trace::kernels::{KernelContext, KernelSpec};
use trgen::trace::program::Rounds;
use trgen::trace::replay::{Pace, Protocol, Replay, ReplayReport};
use trgen::{Cycle, NodeId};

/// A kernel on a network, its tasks on nodes in any order.
#[derive(Clone, Debug)]
struct Case {
    setup: Setup,
    program: Rounds,
    placement: Vec<NodeId>,
    eager_limit: Option<u64>,
    limit: u64,
}

/// How a run is made.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Skip {
    Not,
    WithDigest,
    WithoutDigest,
}

/// The outcome of a run, without how much of it was skipped, which is returned beside it.
fn run(case: &Case, network: &mut dyn Network, skip: Skip) -> (Outcome, ReplayReport, Vec<Flow>, u64) {
    let pace = Pace { cycle: Clock::whole(3_200), compute_scale: 1.0 };
    let nodes = network.nodes();
    let replay = Replay::in_rounds(case.program.clone(), &case.placement, nodes, pace).unwrap();
    let mut replay = replay.with_protocol(Protocol { eager_limit: case.eager_limit });
    let stop = AtomicBool::new(false);
    let mut coupled = Coupled::new(&mut replay, network, &stop);
    if skip != Skip::Not {
        coupled = coupled.skipping(skip == Skip::WithDigest);
    }
    let mut outcome = to_end(&mut coupled, Cycle(case.limit), &mut |_| {});
    let skipped = outcome.skipped.take().map_or(0, |skipped| skipped.periods);
    let mut flows: Vec<Flow> = replay.flows().collect();
    flows.sort_unstable_by_key(|flow| (flow.from, flow.to));
    (outcome, replay.report(), flows, skipped)
}

/// Compares the three ways to make a run. Returns the number of periods that were skipped.
fn check(case: &Case, network: &dyn Fn() -> Box<dyn Network>) -> Result<u64, TestCaseError> {
    let (full, report, flows, none) = run(case, &mut *network(), Skip::Not);
    prop_assert_eq!(none, 0);
    let (skipping, its_report, its_flows, periods) = run(case, &mut *network(), Skip::WithDigest);
    prop_assert_eq!(&skipping, &full);
    prop_assert_eq!(&its_report, &report);
    prop_assert_eq!(&its_flows, &flows);
    let (mut quick, its_report, _, its_periods) = run(case, &mut *network(), Skip::WithoutDigest);
    quick.digest = full.digest;
    prop_assert_eq!(&quick, &full);
    prop_assert_eq!((&its_report, its_periods), (&report, periods));
    Ok(periods)
}

fn cases() -> impl Strategy<Value = Case> {
    let kernels = prop::sample::select(vec![
        "all-reduce-ring",
        "all-gather-ring",
        "all-to-all-pairwise",
        "all-to-one",
        "one-to-all",
        "bintree",
        "n-bodies",
        "torus2d",
        "waterfall",
        "matmul:n=8",
        "gups:messages=3",
    ]);
    let routings = prop::sample::select(vec![
        (Routing::DallyBasic, 2),
        (Routing::DallyTrc, 2),
        (Routing::BubbleSmart, 2),
        (Routing::BubbleOblivious, 1),
        (Routing::BubbleSmart, 3),
    ]);
    let delays = (prop::sample::select(vec![0u32, 0, 1, 5]), 0u32..=2);
    let sizes = (
        0u64..=2_000,
        1u64..=30,
        prop::option::of(0u64..=1_500),
        prop_oneof![4 => Just(u64::MAX / 4), 1 => 100..20_000u64],
    );
    (grids(16), routers(), routings, kernels, sizes, delays, any::<u64>()).prop_map(
        |(
            (topology, ways),
            params,
            (routing, vcs),
            kernel,
            (bytes, iterations, eager_limit, limit),
            (link, router),
            seed,
        )| {
            let mut setup = Setup::new(&topology, routing, vcs);
            (setup.ways, setup.params) = (ways, RouterParams { routing, vcs, ..params });
            let shape = setup.shape();
            setup.params = fitted(setup.params, &*shape, 0);
            let queue_packets = setup.params.queue_packets.max(2);
            setup.params = RouterParams {
                vcs: if setup.params.routing == routing { vcs } else { setup.params.vcs },
                queue_packets,
                bubble: 2.min(queue_packets),
                lbr: 0,
                injectors: 1,
                injection: Injection::Shortest,
                arbitration: if seed % 8 == 0 { setup.params.arbitration } else { Arbitration::RoundRobin },
                consumption: if seed % 3 == 0 { Consumption::SINGLE } else { Consumption::Multiple },
                in_transit_priority: 0.0,
                link_delays: vec![link],
                router_delay: router,
                timeouts: None,
                ..setup.params
            };
            let nodes = shape.nodes();
            let joint = if kernel.contains(':') { ',' } else { ':' };
            let bytes = if kernel.starts_with("matmul") { String::new() } else { format!(",bytes={bytes}") };
            let text = format!("{kernel}{joint}tasks={nodes},iterations={iterations}{bytes}");
            let program = text.parse::<KernelSpec>().unwrap().rounds(&KernelContext::new(nodes, None)).unwrap();
            let mut placement: Vec<NodeId> = (0..nodes).map(NodeId::at).collect();
            if seed % 2 == 0 {
                placement.sort_by_key(|node| mix2(seed, node.0.into()));
            }
            Case { setup, program, placement, eager_limit, limit }
        },
    )
}

/// Over many drawn cases: equal results, and many that skip something.
fn check_cases(cases: u32, network: fn(&Case) -> Box<dyn Network>, least: u32) {
    let mut runner = TestRunner::new(fixed_cases(cases));
    let skipping = std::cell::Cell::new(0);
    let result = runner.run(&self::cases(), |case| {
        let periods = check(&case, &|| network(&case))?;
        skipping.set(skipping.get() + u32::from(periods > 0));
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
    assert!(skipping.get() >= least, "only {} of {cases} cases skipped periods", skipping.get());
}

#[test]
fn skipping_changes_no_figure_of_virtual_cut_through() {
    check_cases(300, |case| case.setup.fast_network(), 60);
}

#[test]
fn skipping_changes_no_figure_of_constant_delays() {
    check_cases(
        300,
        |case| Box::new(ConstantDelay::new(case.setup.shape().nodes(), 1 + case.setup.params.seed % 40)),
        100,
    );
}

/// A long run costs what a short one does.
#[test]
fn iterations_that_repeat_each_other_cost_nothing() {
    let mut setup = Setup::new("torus:8", Routing::DallyBasic, 2);
    setup.params.seed = 5;
    let nodes = 8;
    let kernel: KernelSpec = "all-reduce-ring:bytes=4096,iterations=1000000".parse().unwrap();
    let program = kernel.rounds(&KernelContext::new(nodes, None)).unwrap();
    let placement = (0..nodes).map(NodeId::at).collect();
    let case = Case { setup, program, placement, eager_limit: None, limit: u64::MAX / 4 };
    let (outcome, report, _, periods) = run(&case, &mut *case.setup.fast_network(), Skip::WithoutDigest);
    assert!(outcome.complete && periods > 900_000, "{periods} periods");
    assert_eq!(report.tasks[0].received, 14_000_000);
}
