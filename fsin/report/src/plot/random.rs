//! Every text of every picture can be read: over random sweeps, networks and programs.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::json;

use super::*;
use crate::legible::{Illegible, illegible};
use crate::links;
use crate::traffic_picture;
use fsin_experiment::result::{RankRow, RunResult, SentRow};
use fsin_experiment::sweep::{Curve, Row, Spot};

/// A random sweep and the style of its pictures.
#[derive(Clone, Debug)]
struct Sweep {
    curves: usize,
    spots: usize,
    /// Whether the axis has numbers, and whether it is the load.
    numeric: bool,
    is_load: bool,
    /// Powers of ten of the least value along the axis, of the least figure, and of the range of the figures.
    powers: (i32, i32, i32),
    /// Parts of the names of curves and words, and how many of them a name has.
    words: Vec<String>,
    parts: usize,
    /// Words, each for a setting that all curves have.
    title: String,
    scale: Scale,
    panels: bool,
    trace: bool,
}

fn sweep() -> impl Strategy<Value = Sweep> {
    let word = prop_oneof![
        "[a-z]{1,12}:[a-z]{1,9}",
        "[a-z]{3,40}",
        "[a-z]{2,9}:[a-z]=[0-9]{1,4},[a-z]=[0-9]{1,4}",
        "[A-Za-z0-9_./-]{1,60}",
        "\\PC{1,30}",
        "[<>&\"' ]{1,9}x",
    ];
    let shape = (1..17_usize, 1..24_usize, any::<bool>(), any::<bool>(), (-9..12, -9..12, 0..14));
    let words = (proptest::collection::vec(word, 1..20), 1..4_usize);
    let scale = prop_oneof![Just(Scale::Auto), Just(Scale::Linear), Just(Scale::Log)];
    let style = (prop_oneof![Just(String::new()), "[a-z ]{1,90}".boxed()], scale, any::<bool>(), any::<bool>());
    (shape, words, style).prop_map(
        |((curves, spots, numeric, is_load, powers), (words, parts), (title, scale, panels, trace))| Sweep {
            curves,
            spots,
            numeric,
            is_load: is_load && numeric,
            powers,
            words,
            parts,
            title,
            scale,
            panels,
            trace,
        },
    )
}

/// A number from 0 to 1 that depends on its place.
fn share(at: usize) -> f64 {
    (at as f64 * 0.618_033_988_749_894_9).fract()
}

impl Sweep {
    /// The name of a curve or word.
    fn name(&self, number: usize) -> String {
        let parts = (0..self.parts).map(|part| self.words[(number * 7 + part) % self.words.len()].as_str());
        format!("{} {number}", parts.collect::<Vec<_>>().join(", "))
    }

    fn results(&self) -> (Curves, Collected) {
        let mut rows: Vec<Row> = Vec::new();
        let mut curves: Vec<Curve> = Vec::new();
        let (least_x, least, range) = (10_f64.powi(self.powers.0), 10_f64.powi(self.powers.1), self.powers.2);
        for number in 0..self.curves {
            let mut spots = Vec::new();
            for at in 0..self.spots {
                let place = number * 31 + at;
                let value = least * 10_f64.powf(f64::from(range) * share(place));
                let cycles = (value as u64).max(1);
                let mut result: RunResult =
                    serde_json::from_value(json!({ "experiment": { "load": 0.5 } })).expect("it is a result");
                if self.trace {
                    result.experiment.insert("trace".to_owned(), json!("app.trg"));
                }
                result.latency_mean_cycles = Some(value);
                result.latency_ci95 = Some(value * share(place + 5));
                result.accepted_load_of_senders_phits_per_node_cycle = Some(share(place));
                result.latency_p99_cycles = Some(cycles);
                result.completion_cycles = Some(cycles);
                result.completion_seconds = Some(value * 1e-9);
                rows.push(Row { index: rows.len(), result });
                let x = if self.numeric { least_x * (1.0 + at as f64) } else { at as f64 };
                let word = if self.numeric { x.to_string() } else { self.name(at + 100) };
                spots.push(Spot {
                    x,
                    word,
                    rows: vec![rows.len() - 1],
                    saturated: place.is_multiple_of(5),
                    undecided: false,
                });
            }
            let label = if self.curves > 1 { self.name(number) } else { String::new() };
            let settings = vec![("traffic".to_owned(), label.clone())];
            curves.push(Curve { label, settings, spots, is_baseline: number % 7 == 6 });
        }
        let curves = Curves {
            axis: if self.is_load { "load" } else { "vcs" }.to_owned(),
            numeric: self.numeric,
            is_along: true,
            curves,
            each: Vec::new(),
            only: String::new(),
            names: Vec::new(),
            axes: Vec::new(),
        };
        (curves, Collected { rows, ..Collected::default() })
    }
}

/// Runs a test over random values that are the same in every run.
fn over<S: Strategy>(strategy: S, cases: u32, test: impl Fn(S::Value) -> Result<(), TestCaseError>) {
    let mut runner = TestRunner::new_with_rng(
        Config { cases, failure_persistence: None, ..Config::default() },
        proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha),
    );
    if let Err(error) = runner.run(&strategy, test) {
        panic!("{error}");
    }
}

fn sweeps(cases: u32) {
    over(sweep(), cases, |sweep| {
        let (curves, collected) = sweep.results();
        let style = Style {
            scale: sweep.scale,
            panels: sweep.panels,
            title: sweep.title.clone(),
            saturated: sweep.trace,
            ..Style::default()
        };
        let drawn = pictures(&curves, &collected, &style);
        prop_assert!(!drawn.is_empty());
        for picture in drawn {
            let found = illegible(&picture.svg).map_err(|error| TestCaseError::fail(error.to_string()))?;
            prop_assert!(found.is_empty(), "{}: {:?}\n{}", picture.name, &found[..found.len().min(5)], picture.svg);
            let height = |svg: &str| {
                let (_, rest) = svg.split_once("height=\"")?;
                rest.split('"').next()?.parse::<i32>().ok()
            };
            prop_assert!(height(&picture.svg).is_some_and(|height| height < 6000), "{}", picture.name);
        }
        Ok(())
    });
}

#[test]
fn every_text_of_the_pictures_of_random_sweeps_can_be_read() {
    sweeps(60);
}

#[test]
#[ignore = "minutes"]
fn every_text_of_the_pictures_of_very_many_random_sweeps_can_be_read() {
    sweeps(5000);
}

#[test]
fn every_text_of_heat_maps_can_be_read() {
    let specs = [
        "torus:4",
        "torus:64",
        "torus:1x8",
        "torus:16x16",
        "torus:31x7",
        "mesh:3x40",
        "torus:4x4x4",
        "torus:2x9x30",
        "mesh:8x8x2",
        "fattree:4,2",
        "fattree:4,3",
        "thintree:8,4,2",
        "dragonfly:p=2,a=4,h=2",
        "dragonfly:p=2,a=8,h=2,g=16",
        "hypercube:5",
    ];
    let title = "dragonfly:p=2,a=8,h=2,g=16, dragonfly:ugal, groupshift(16,1), bimodal(16,64,0.5), load 0.4375";
    for spec in specs {
        let topology = fsin_core::topology::parse(spec, 2).unwrap_or_else(|error| panic!("{spec}: {error:?}"));
        let net = links::Net::of(&*topology);
        let Some(map) = links::Map::of(&net) else { panic!("{spec} has no map") };
        let loads: Vec<f64> = (0..net.links.len()).map(share).collect();
        for (top, title) in [(0.05, ""), (0.33, "uniform"), (1.0, title)] {
            let svg = links::svg(&map, &loads, links::Scale::up_to(top), title, links::Paint::Colour);
            let found: Vec<Illegible> = illegible(&svg).expect("a map is a picture");
            assert!(found.is_empty(), "{spec}: {:?}", &found[..found.len().min(5)]);
        }
    }
}

#[test]
fn every_text_of_traffic_matrices_can_be_read() {
    for (ranks, most) in [(1, 7), (2, 1_000_000_007), (16, 999_999), (512, 123_456_789_012_345)] {
        let row = |rank: u64| RankRow {
            rank,
            sent: (0..ranks).map(|to| SentRow { to, messages: 1, bytes: 1 + most / (1 + rank + to) }).collect(),
            ..RankRow::default()
        };
        let mut result = RunResult::default();
        result.ranks = Some((0..ranks).map(row).collect());
        let svg = traffic_picture(&result).expect("something was sent");
        let found = illegible(&svg).expect("a matrix is a picture");
        assert!(found.is_empty(), "{ranks}: {:?}", &found[..found.len().min(5)]);
    }
}
