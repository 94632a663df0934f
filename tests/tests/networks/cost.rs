//! What a run costs follows what moves in it, not the length of its cycles: progress is reported, and the interrupt
//! looked at, after so much work and never after so many cycles. Counted, not timed.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::atomic::AtomicBool;

use fsin::experiment::{Experiment, Finished, Origin, Settings, execute};
use serde_json::Value;

/// Steps between two reports while something moves, at most about: see `fsin_core::network::STEPS`.
const STEPS: u64 = 10_000;

/// Runs an experiment. Returns how often its progress was reported, too.
fn run(settings: &[(&str, &str)]) -> (Finished, u64) {
    let mut all = Settings::default();
    for &(name, value) in settings {
        all.set(name, value, Origin::Flag).unwrap();
    }
    let experiment = Experiment::resolve(all).unwrap_or_else(|error| panic!("{settings:?}: {}", error.error));
    let mut reports = 0;
    let finished = execute(&experiment, &AtomicBool::new(false), &mut |_| reports += 1).unwrap();
    assert_eq!(finished.outcome.failure, None, "{settings:?}");
    (finished, reports)
}

/// Few messages in very many cycles, over every model and in every kind of run.
#[test]
fn cost_follows_what_moves() {
    let ping_pongs = ("kernel", "butterfly:tasks=4,bytes=64,iterations=200");
    let cases: &[&[(&str, &str)]] = &[
        // A cycle is a picosecond.
        &[("network", "ethernet:delay=1ms"), ping_pongs],
        &[("network", "ethernet:delay=1ms,engine=reference"), ping_pongs],
        &[("network", "ethernet:queue=1,transport=window"), ("kernel", "all-to-all:tasks=9,bytes=20000")],
        &[("network", "ethernet"), ("load", "0.0001"), ("cycles", "1000000000000")],
        &[("network", "ethernet"), ("load", "0.0001")],
        // A cycle is a phit, a flit or a nanosecond, and links are long.
        &[("link-delay", "2000"), ping_pongs],
        &[("link-delay", "2000"), ("load", "0.0000001"), ("cycles", "1000000000")],
        &[("network", "wormhole"), ("link-delay", "2000"), ping_pongs],
        &[("network", "constant-delay:delay=1s"), ("nodes", "9"), ping_pongs],
    ];
    for case in cases {
        let topology = ("topology", "torus:3x3");
        let all: Vec<(&str, &str)> = match case.iter().any(|(name, _)| *name == "nodes") {
            true => case.to_vec(),
            false => [&[topology], *case].concat(),
        };
        let (finished, reports) = run(&all);
        let outcome = &finished.outcome;
        assert!(outcome.cycles > 100 * STEPS, "{case:?}: {} cycles", outcome.cycles);
        assert!(outcome.totals.received > 0, "{case:?}");
        // Each phase, each look for a steady state and each interval of the measurement begins and ends with a report.
        let intervals = outcome.intervals.len() as u64;
        let planned = if intervals == 0 { 400 } else { 50 + 2 * intervals };
        let moved = outcome.totals.hops + outcome.totals.received;
        assert!(reports <= planned + moved / 100, "{case:?}: {reports} reports of {} cycles", outcome.cycles);
    }
}

/// The same messages in ten times the time are the same work, in every kind of run.
#[test]
fn cost_does_not_follow_the_length_of_the_time() {
    const SLOW: (&str, &str) = ("network", "ethernet:rate=100Mb/s,delay=5us");
    const FAST: (&str, &str) = ("network", "ethernet:rate=1Gb/s,delay=500ns");
    // By default, and the same times tenfold.
    let batches = [
        ("warmup", "50000000000"),
        ("conv-period", "10000000000"),
        ("max-conv-time", "200000000000"),
        ("sample-size", "20000000000"),
    ];
    let (few, more) = (("load", "0.0001"), ("load", "0.01"));
    let cases: [[&[(&str, &str)]; 2]; 4] = [
        [&[FAST, few], &[&[SLOW, few], &batches[..]].concat()],
        [&[FAST, more], &[&[SLOW, more], &batches[..]].concat()],
        [&[FAST, few, ("cycles", "1000000000000")], &[SLOW, few, ("cycles", "10000000000000")]],
        [
            &[("link-delay", "2000"), ("load", "0.0000001"), ("cycles", "1000000000")],
            &[("link-delay", "20000"), ("load", "0.00000001"), ("cycles", "10000000000")],
        ],
    ];
    for case in cases {
        let [short, long] = case.map(|settings| run(&[&[("topology", "torus:3x3")], settings].concat()));
        assert_eq!(10 * short.0.outcome.cycles, long.0.outcome.cycles, "{case:?}");
        assert_eq!(short.0.outcome.totals, long.0.outcome.totals, "{case:?}: the same messages and hops");
        assert_eq!(short.1, long.1, "{case:?}: reports");
    }
}

/// The same frames at a hundredth of the rate are the same work.
#[test]
fn cost_does_not_follow_the_rate() {
    let reports = |rate: &str, delay: &str| {
        let network = format!("ethernet:rate={rate},delay={delay},forwarding=static");
        let kernel = "all-to-one:tasks=16,bytes=1500000";
        let (finished, reports) = run(&[("topology", "fattree:16,1"), ("network", &network), ("kernel", kernel)]);
        (finished.outcome.totals, finished.outcome.cycles, reports)
    };
    let (slow, fast) = (reports("1Gb/s", "500ns"), reports("100Gb/s", "5ns"));
    assert_eq!(slow.0, fast.0, "the same hops and losses");
    assert!(slow.1 > 90 * fast.1, "{} and {} cycles", slow.1, fast.1);
    assert_eq!(slow.2, fast.2, "reports");
}

/// A rank computes for some times \[ns\] in sequence, sends 10 bytes, and computes again.
fn graph(before: &[u64], after: &[u64]) -> String {
    let calc = |&time: &u64| format!("calc {time}");
    let mut operations: Vec<String> = before.iter().map(calc).collect();
    operations.push("send 10b to 1 tag 0".to_owned());
    operations.extend(after.iter().map(calc));
    let mut text = "num_ranks 2\nrank 0 {\n".to_owned();
    for (at, operation) in operations.iter().enumerate() {
        text += &format!("a{at}: {operation}\n");
        if at > 0 {
            text += &format!("a{at} requires a{}\n", at - 1);
        }
    }
    text + "}\nrank 1 {\na: recv 10b from 0 tag 0\n}\n"
}

/// Times that no clock can hold end a run with a failure, whichever sum exceeds it and over every model.
#[test]
fn clocks_end_with_a_failure() {
    let folder = tempfile::tempdir().unwrap();
    // The longest calculation of the format. Two of them take as long as a clock can count.
    const HALF: u64 = 1 << 62;
    let networks = [
        ("loggops", 1),
        ("constant-delay:nodes=2", 1),
        ("vct --topology torus:4x4", 1),
        ("wormhole --topology torus:4x4", 1),
        ("myrinet --topology fattree:4,2", 1),
        // A cycle is a picosecond. A frame begins before the end and arrives behind it.
        ("ethernet:rate=1kb/s --topology fattree:4,2", 1_000),
    ];
    for (network, per_unit) in networks {
        let nearly = [HALF / per_unit, HALF / per_unit - 1];
        let cases: [(&[u64], &[u64]); 3] = [(&nearly, &[]), (&[HALF; 3], &[]), (&[], &[HALF; 3])];
        for (before, after) in cases {
            std::fs::write(folder.path().join("g.goal"), graph(before, after)).unwrap();
            let line = format!("run --trace g.goal --network {network} --format json");
            let output = tests::command::run(folder.path(), &line);
            let errors = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(3), "{line}, {before:?}, {after:?}: {errors}");
            let result: Value = serde_json::from_slice(&output.stdout).unwrap();
            let said = (&result["complete"], &result["failure"]["kind"]);
            assert_eq!(said, (&false.into(), &"clock-end".into()), "{line}, {before:?}, {after:?}: {errors}");
        }
    }
}

/// A sweep of more points than folders make sense for is refused at once.
#[test]
fn a_million_points_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for axes in ["--load 0..1/1000000", "--load 0.1..0.9/1000 --seeds 1000"] {
        let output = tests::command::run(folder.path(), &format!("sweep {axes} --dry-run -o r"));
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("100000") && said.contains("folder"), "{said}");
    }
}
