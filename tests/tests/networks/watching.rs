//! Observing a run shows the same state with both engines, and changes nothing.

use std::sync::atomic::AtomicBool;

use fsin::couple::Coupled;
use fsin::engine::fast;
use fsin::engine::reference::Reference;
use fsin::network::Network;
use fsin::routing::Routing;
use fsin::run::{BatchPlan, ENDED, Outcome, batch, fixed};
use fsin::view::Occupancy;
use fsin::watch::{Glimpse, Watch};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use tests::setup::Setup;
use tests::strategies::{fixed_cases, setups};
use trgen::TrGen;

/// An observer with its own intervals, which keeps all snapshots.
struct Curious {
    /// \[cycles\] Between observations, in turn.
    gaps: Vec<u64>,
    looks: usize,
    seen: Vec<(u64, Occupancy)>,
}

impl Curious {
    fn new(gaps: &[u64]) -> Self {
        Self { gaps: gaps.to_vec(), looks: 0, seen: Vec::new() }
    }
}

impl Watch for Curious {
    fn look(&mut self, glimpse: Glimpse<'_>) -> u64 {
        let mut occupancy = Occupancy::default();
        glimpse.network.view.expect("both engines have a view").occupancy(&mut occupancy);
        let clock = glimpse.progress.clock.0;
        assert!(self.seen.last().is_none_or(|(before, _)| *before <= clock), "time goes on");
        self.seen.push((clock, occupancy));
        self.looks += 1;
        if glimpse.progress.phase == ENDED { 0 } else { self.gaps[self.looks % self.gaps.len()] }
    }
}

fn engines(setup: &Setup) -> Vec<Box<dyn Network>> {
    let mut engines: Vec<Box<dyn Network>> = vec![Box::new(Reference::new(setup.shape(), setup.checked()))];
    // With three threads, which work in every cycle.
    engines
        .extend([1, 3].into_iter().filter_map(|threads| fast::build_for(setup.shape(), setup.checked(), threads, 0)));
    engines
}

fn run(network: &mut dyn Network, source: &mut dyn TrGen, watch: Option<&mut dyn Watch>) -> Outcome {
    let stop = AtomicBool::new(false);
    let mut coupled = Coupled::new(source, network, &stop);
    if let Some(watch) = watch {
        coupled = coupled.watched(watch);
    }
    fixed(&mut coupled, 600, &mut |_| {})
}

/// An outcome without the fields that depend on observation: links are counted only for observers.
fn unlooked(outcome: Outcome) -> Outcome {
    Outcome { crossings: Vec::new(), ..outcome }
}

#[test]
fn both_engines_show_the_same_and_looking_changes_nothing() {
    let gaps = prop::collection::vec(1u64..70, 1..5);
    let mut runner = TestRunner::new(fixed_cases(24));
    runner
        .run(&(setups(32), gaps), |(setup, gaps)| {
            let mut shown: Option<(Outcome, Vec<(u64, Occupancy)>)> = None;
            for mut network in engines(&setup) {
                let mut watch = Curious::new(&gaps);
                let watched = run(&mut *network, &mut setup.source(), Some(&mut watch));
                match &shown {
                    None => {
                        let (_, last) = watch.seen.last().expect("the end is always seen");
                        let crossed: u64 = last.crossed.iter().sum();
                        prop_assert_eq!(crossed, watched.totals.hops, "every hop crosses one link");
                        shown = Some((unlooked(watched), watch.seen));
                    }
                    Some((_, seen)) => prop_assert_eq!(seen, &watch.seen, "{:?}", setup),
                }
            }
            let (watched, _) = shown.expect("there are engines");
            for mut network in engines(&setup) {
                let alone = run(&mut *network, &mut setup.source(), None);
                prop_assert!(alone.crossings.is_empty());
                prop_assert_eq!(&alone, &watched, "{:?}", setup);
            }
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn a_run_in_batches_looked_at_in_every_cycle_is_the_same() {
    let setup = Setup::new("torus:4x4", Routing::BubbleSmart, 3).load(0.4);
    let plan = BatchPlan { warmup: 300, samples: 3, sample_size: 200, ..BatchPlan::default() };
    let stop = AtomicBool::new(false);
    let run = |watch: Option<&mut dyn Watch>| {
        let mut network = engines(&setup).remove(1);
        let mut source = setup.source();
        let mut coupled = Coupled::new(&mut source, &mut *network, &stop);
        if let Some(watch) = watch {
            coupled = coupled.watched(watch);
        }
        batch(&mut coupled, &plan, &mut |_| {})
    };
    let mut every = Curious::new(&[1]);
    assert_eq!(run(None), unlooked(run(Some(&mut every))));
    assert!(every.seen.len() > 1_000);
}
