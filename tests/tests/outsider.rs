//! Whole experiments, drawn over all models and run by the command: what must hold of any of them holds.
//!
//! `FSIN_OUTSIDER=1000 FSIN_OUTSIDER_SEED=7 cargo test -p tests --test outsider drawn` draws other ones, and as many;
//! `FSIN_OUTSIDER_REFUSED=1` lists those that are no valid experiments.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tests::outsider::draw::{Drawn, experiment};
use tests::outsider::invariants::{Broken, RULES, broken};
use tests::outsider::run::{Given, Runs, runs};
use tests::parallel::parallel;
use tests::shared::aloud;

fn of_environment(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().map_or(usual, |text| text.parse().unwrap_or_else(|_| panic!("{name}={text}")))
}

/// What became of an experiment.
enum Fate {
    Refused(String),
    Held,
    Broke(String),
    /// There was no time left.
    Left,
}

/// Draws experiments, runs them, and panics with all that broke a rule.
fn drawn(count: u64, most: Duration) {
    let first = of_environment("FSIN_OUTSIDER_SEED", 2017).wrapping_mul(1 << 20);
    let begun = Instant::now();
    let fates = parallel(&(first..first.wrapping_add(count)).collect::<Vec<_>>(), |&number| {
        if begun.elapsed() > most {
            return Fate::Left;
        }
        let folder = tempfile::tempdir().unwrap();
        match runs(&experiment(number), folder.path()) {
            Ok(Err(why)) => Fate::Refused(why),
            Err(why) => Fate::Broke(format!("number {number}: {why}")),
            Ok(Ok(runs)) => match broken(&runs) {
                found if found.is_empty() => Fate::Held,
                found => {
                    let list: String =
                        found.iter().map(|Broken { rule, how }| format!("\n    {rule}: {how}")).collect();
                    let how = format!("number {number}: fsin {}{list}", runs.line);
                    aloud(&format!("{how}\n"));
                    Fate::Broke(how)
                }
            },
        }
    });
    let of = |wanted: fn(&Fate) -> bool| fates.iter().filter(|fate| wanted(fate)).count();
    let (refused, left) = (of(|fate| matches!(fate, Fate::Refused(_))), of(|fate| matches!(fate, Fate::Left)));
    let broke: Vec<&str> =
        fates.iter().filter_map(|fate| if let Fate::Broke(how) = fate { Some(how.as_str()) } else { None }).collect();
    let ran = fates.len() - refused - left;
    aloud(&format!("{ran} experiments ran, {refused} were refused, {left} left out, {} broke a rule\n", broke.len()));
    if std::env::var_os("FSIN_OUTSIDER_REFUSED").is_some() {
        fates.iter().for_each(|fate| {
            if let Fate::Refused(why) = fate {
                aloud(&format!("refused: {why}\n"));
            }
        });
    }
    assert!(broke.is_empty(), "{} of {ran}:\n{}", broke.len(), broke.join("\n"));
    assert!(2 * ran > fates.len() - left, "most of what is drawn is valid: {refused} of {} refused", fates.len());
}

#[test]
fn drawn_experiments_keep_every_rule() {
    drawn(of_environment("FSIN_OUTSIDER", 40), Duration::from_secs(600));
}

#[test]
#[ignore = "ten thousand experiments: hours"]
fn ten_thousand_experiments_keep_every_rule() {
    drawn(10_000, Duration::MAX);
}

/// An experiment of which every rule says something.
fn sound() -> Runs {
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect();
    let drawn = Drawn {
        network: words("--network vct --topology torus:4x4"),
        traffic: Vec::new(),
        is_program: false,
        load: 0.3,
        nodes: 16,
        latencies: 60.0,
        batches: None,
        failure: None,
        threads: 2,
        seed: 1,
    };
    let folder = tempfile::tempdir().unwrap();
    runs(&drawn, folder.path()).unwrap().unwrap()
}

/// A run with another figure.
fn with(given: &Given, name: &str, value: Value) -> Given {
    let mut figures = given.figures().unwrap();
    figures.insert(name.to_owned(), value);
    Given { out: Value::Object(figures).to_string(), ..given.clone() }
}

/// A rule that no result can break would be no rule.
#[test]
fn every_rule_fails_on_a_mutant() {
    let runs = sound();
    assert_eq!(broken(&runs), [], "{}", runs.line);
    let base = runs.base.figures().unwrap();
    let float = |name: &str| base[name].as_f64().unwrap();
    let other = |given: &Given| with(given, "digest", json!("0123456789abcdef"));
    // Where all runs agree, but are wrong.
    let all = |name: &str, value: Value| {
        let change = |given: &Given| with(given, name, value.clone());
        Runs {
            base: change(&runs.base),
            again: change(&runs.again),
            reference: change(&runs.reference),
            threads: if runs.threads.code == Some(0) { change(&runs.threads) } else { runs.threads.clone() },
            file: change(&runs.file),
            observed: change(&runs.observed),
            ..runs.clone()
        }
    };
    // Of a program of 100 cycles: bounds, and the one that is reported.
    let program = |bounds: Value, reported: u64| {
        let base = with(&runs.base, "completion_cycles", json!(100));
        let base = with(&base, "completion_bound_cycles", json!(reported));
        Runs { base: with(&base, "completion_bounds_cycles", bounds), ..runs.clone() }
    };
    let observed = |name: &str, value: Value| Runs { observed: with(&runs.observed, name, value), ..runs.clone() };
    let bound = runs.bound.unwrap();
    let mutants: Vec<(&str, Runs)> = vec![
        ("ends properly", Runs { base: Given { code: Some(101), ..runs.base.clone() }, ..runs.clone() }),
        ("repeats", Runs { again: other(&runs.again), ..runs.clone() }),
        ("engines are equal", Runs { reference: other(&runs.reference), ..runs.clone() }),
        ("threads are equal", Runs { threads: other(&runs.base), ..runs.clone() }),
        ("flags and file are equal", Runs { file: other(&runs.file), ..runs.clone() }),
        ("observers change nothing", Runs { observed: other(&runs.observed), ..runs.clone() }),
        // What an observer has counted is its own: it raises no bound, and fills no figure of others.
        ("observers change nothing", observed("completion_bound_cycles", json!(1_u64 << 60))),
        ("observers change nothing", observed("warnings", json!(["the fullest link carries more"]))),
        ("packets are conserved", all("packets_in_flight", json!(base["packets_in_flight"].as_u64().unwrap() + 1))),
        ("no verdict against the bound", Runs { load: Some(2.0 * bound), ..all("verdict", json!("carried")) }),
        ("no verdict against the bound", Runs { has_no_limit: true, ..all("verdict", json!("saturated")) }),
        (
            "accepted is at most generated",
            all("accepted_load_phits_per_node_cycle", json!(1.001 * float("generated_load_phits_per_node_cycle"))),
        ),
        ("accepted is at most the bound", Runs { bound: Some(1e-6), ..all("accepted_load_ci95", json!(1e-9)) }),
        ("latency is at least that without load", all("latency_mean_cycles", json!(0.5 * float("hops_mean")))),
        (
            "latency is at least that without load",
            Runs { observed: with(&runs.observed, "message_slowdown_mean", json!(0.9)), ..runs.clone() },
        ),
        ("completion is at least its bounds", program(json!({"sequence": 101}), 101)),
        (
            "completion is at least its bounds",
            program(json!({"sequence": 100, "links": 99, "critical_path": null}), 99),
        ),
        (
            "JSON and CSV are equal",
            Runs {
                csv: Given {
                    out: runs.csv.out.replace(base["digest"].as_str().unwrap(), "0123456789abcdef"),
                    ..runs.csv.clone()
                },
                ..runs.clone()
            },
        ),
        ("rerun is equal", Runs { rerun: Given { code: Some(1), ..runs.rerun.clone() }, ..runs.clone() }),
    ];
    for (rule, mutant) in &mutants {
        let found = broken(mutant);
        assert!(found.iter().any(|broken| broken.rule == *rule), "{rule}: {found:?}");
    }
    for rule in RULES {
        assert!(mutants.iter().any(|(broken, _)| *broken == rule), "no mutant breaks: {rule}");
    }
}
