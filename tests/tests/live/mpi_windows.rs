//! One-sided communication against plain memory: `tests/programs/mpi/windows.c`. Bandwidth and latency against formulas.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;

use serde_json::Value;
use tests::mpi::{Program, program, said};

/// The output of a program that ends well.
fn output(program: &Program, flags: &str, words: &str) -> String {
    let output = program.run(&format!("-q {flags}"), words);
    let (out, errors) = said(&output);
    assert!(output.status.success(), "{flags} {words}: {out}{errors}");
    out
}

#[test]
fn windows_hold_what_plain_memory_holds() {
    let Some(program) = program("windows.c") else { return };
    for ranks in [1, 2, 3, 5, 8] {
        for seed in 1..4 {
            for network in ["--network constant-delay:delay=1us", "--topology torus:4x2", "--network zero"] {
                let out = output(&program, &format!("-n {ranks} {network}"), &seed.to_string());
                assert_eq!(out, "windows VERIFIED\n", "{ranks} {network} {seed}");
            }
        }
    }
}

#[test]
fn windows_repeat_and_every_synchronisation_gives_their_results() {
    let Some(program) = program("windows.c") else { return };
    let digest = |sync: &str| {
        let _ = fs::remove_file(program.folder().join("result.json"));
        let network = "--network constant-delay:delay=1us --compute fixed:100ns";
        output(&program, &format!("-n 4 {network} --sync {sync} -o result.json"), "1 still");
        let text = fs::read_to_string(program.folder().join("result.json")).unwrap();
        let result: Value = serde_json::from_str(&text).unwrap();
        (result["guest_digest"].clone(), result["completion_cycles"].clone())
    };
    let central = digest("central");
    for sync in ["central", "null-message", "conditional-event", "combined", "deterministic"] {
        assert_eq!(digest(sync), central, "{sync}");
    }
}

#[test]
fn epochs_begin_and_end_after_the_computing_before_their_calls() {
    let Some(program) = program("epochs.c") else { return };
    // 1 ms of computing; then a notice to the other rank, or a request and its answer. Clocks are read in 1 ns.
    let expected = [("start", 1_001_000), ("lock", 1_002_000), ("flush", 1_002_000), ("unlock", 1_002_000)];
    for sync in ["central", "null-message", "conditional-event", "combined", "deterministic"] {
        let out =
            output(&program, &format!("-n 2 --network constant-delay:delay=1us --compute fixed:1ms --sync {sync}"), "");
        let found = out.lines().map(|line| line.split_once(' ').unwrap());
        let found: Vec<(&str, i64)> = found.map(|(name, took)| (name, took.parse().unwrap())).collect();
        assert_eq!(found.len(), expected.len(), "{sync}: {out}");
        for ((name, took), (wanted, time)) in found.into_iter().zip(expected) {
            assert!(name == wanted && (took - time).abs() <= 2, "{sync}: {name} took {took} ns, and not {time}");
        }
    }
}

#[test]
fn every_call_that_polls_passes_virtual_time_until_something_comes() {
    let Some(program) = program("polls.c") else { return };
    // What is sent after 5 us arrives after 6. A call that finds nothing takes 100 ns; the clock is read before the first one.
    let (tests, window) = ("61 calls, 6001 ns", "61 calls, 6101 ns");
    let expected = [
        ("Test", tests),
        ("Testall", tests),
        ("Testany", tests),
        ("Testsome", tests),
        ("Request_get_status", tests),
        ("Test, of a synchronous send", tests),
        ("Test, of a barrier", tests),
        ("Parrived", tests),
        ("Iprobe", tests),
        ("Improbe", tests),
        ("Win_test", tests),
        // These do not say whether something has come, and take their time always.
        ("Win_sync", window),
        ("Win_flush", window),
        ("Win_flush_all", window),
        ("Win_flush_local", window),
        ("Win_flush_local_all", window),
        ("Win_lock", window),
        ("Win_lock_all", window),
        // The value is read before the window is unlocked.
        ("Fetch_and_op", "62 calls, 6201 ns"),
    ];
    let expected: String = expected.iter().map(|(name, took)| format!("{name}: {took}\n")).collect();
    for sync in ["central", "null-message", "conditional-event", "combined", "deterministic"] {
        let out = output(&program, &format!("-n 2 --network constant-delay:delay=1us --sync {sync}"), "");
        assert_eq!(out, expected, "{sync}");
    }
}

#[test]
fn a_recording_of_windows_replays_to_the_cycle() {
    let Some(program) = program("windows.c") else { return };
    // A cycle of 1 ns, of which the 100 ns of a call that polls are a multiple.
    let torus = "--topology torus:2x2 --bandwidth 16Gb/s";
    output(&program, &format!("-n 4 {torus} --compute fixed:1600ns --record app.trg -o live.json"), "1");
    let mut replay = tests::command::fsin(program.folder());
    let replay = replay.args(format!("run --trace app.trg {torus} --format json").split_whitespace()).output().unwrap();
    assert!(replay.status.success(), "{}", said(&replay).1);
    let live: Value = serde_json::from_str(&fs::read_to_string(program.folder().join("live.json")).unwrap()).unwrap();
    let replayed: Value = serde_json::from_slice(&replay.stdout).unwrap();
    for figure in ["completion_cycles", "digest"] {
        assert_eq!(live[figure], replayed[figure], "{figure}");
    }
}

#[test]
fn latency_and_bandwidth_are_those_of_the_formula_and_never_above_the_rate() {
    let Some(program) = program("bandwidth.c") else { return };
    // 10 Gb/s: 0.8 ns a byte; the delay is 1 us. Half a round trip is the delay and the bytes, in whole ns; a rendezvous has
    // a request and an answer before. A window of messages takes its bytes and the delays of the last one and of the answer.
    let (delay, window) = (1000.0, 64.0);
    for bytes in [8_u32, 1000, 100_000, 300_000] {
        for (flags, exchanges) in [("", 0.0), ("--rendezvous 65536", if bytes > 65536 { 2.0 } else { 0.0 })] {
            for ranks in if bytes == 1000 { vec![2, 8] } else { vec![2] } {
                let network = "--network constant-delay:delay=1us,rate=10Gb/s";
                let out = output(&program, &format!("-n {ranks} {network} {flags}"), &format!("{bytes} {window}"));
                let found: Vec<f64> = out.split_whitespace().map(|word| word.parse().unwrap()).collect();
                let [half, rate] = found[..] else { panic!("{out}") };
                let wire = 0.8 * f64::from(bytes);
                // The clock is read twice, 1 ns each, over 10 messages.
                let expected = delay * (1.0 + exchanges) + wire.floor();
                assert!((half - expected - 0.1).abs() < 0.01, "{bytes} {flags}: {half} {expected}");
                assert!(rate <= 1.25e9, "{bytes} {flags}: {rate} bytes/s over a link of 1.25e9");
                let expected = window * f64::from(bytes) * 1e9 / (window * wire + delay * (2.0 + exchanges));
                let tolerance = if bytes < 1000 { 0.1 } else { 1e-3 };
                assert!((rate / expected - 1.0).abs() < tolerance, "{bytes} {flags}: {rate} {expected}");
            }
        }
    }
}
