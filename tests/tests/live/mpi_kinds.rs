//! What the MPI standard says of handles, time, groups and errors: `tests/programs/mpi/kinds.c`, one word for each part.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;

use serde_json::Value;
use tests::mpi::{Program, program, said};

const NETWORK: &str = "--network constant-delay:delay=1us";

/// Runs a part on so many ranks; its output without the line of its verification, which must be there.
fn verified(program: &Program, ranks: usize, flags: &str, word: &str) -> String {
    let output = program.run(&format!("-q -n {ranks} {NETWORK} {flags}"), word);
    let (out, errors) = said(&output);
    assert!(output.status.success(), "{word} on {ranks}: {out}{errors}");
    let verified = format!("{word} VERIFIED\n");
    assert!(out.contains(&verified), "{word} on {ranks}: {out}{errors}");
    out.replace(&verified, "")
}

#[test]
fn handles_groups_errors_and_numbers_are_as_the_standard_says() {
    let Some(program) = program("kinds.c") else { return };
    for word in ["held", "persistent", "dimensions", "sleeping", "groups", "extended", "polling", "onesided"] {
        for ranks in [2, 4, 5] {
            assert_eq!(verified(&program, ranks, "", word), "", "{word}");
        }
    }
    for ranks in [2, 4] {
        assert_eq!(verified(&program, ranks, "", "errors"), "");
    }
}

#[test]
fn groups_exchange_by_any_algorithm_and_with_rendezvous() {
    let Some(program) = program("kinds.c") else { return };
    for flags in ["--collectives basic", "--rendezvous 0", "--buffered 0 --rendezvous 3"] {
        assert_eq!(verified(&program, 5, flags, "groups"), "", "{flags}");
    }
}

/// One rank needs one node; and the ranks of a node need no other.
#[test]
fn a_network_of_one_node_carries_a_rank_and_the_ranks_of_its_node() {
    let Some(program) = program("kinds.c") else { return };
    for network in ["constant-delay:delay=1us,nodes=1", "zero:nodes=1", "bus:nodes=1"] {
        for (ranks, flags, word) in [(1, "", "held"), (4, "--ranks-per-node 4", "groups")] {
            let output = program.run(&format!("-q -n {ranks} --network {network} {flags}"), word);
            let (out, errors) = said(&output);
            let verified = output.status.success() && out.contains(&format!("{word} VERIFIED"));
            assert!(verified, "{network} {ranks}: {out}{errors}");
        }
        let output = program.run(&format!("-q -n 2 --network {network}"), "groups");
        assert_eq!(output.status.code(), Some(2), "{network}");
        assert!(said(&output).1.contains("need 2 nodes, and the network has 1"), "{}", said(&output).1);
    }
}

#[test]
fn calls_of_other_threads_are_refused_with_the_reason() {
    let Some(program) = program("kinds.c") else { return };
    let output = program.run(&format!("-n 2 {NETWORK}"), "thread");
    let (_, errors) = said(&output);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.contains("MPI_Recv is called by another thread"), "{errors}");
    assert!(errors.contains("MPI_THREAD_FUNNELED is provided"), "{errors}");
}

#[test]
fn a_reading_of_the_clock_takes_as_long_as_is_said() {
    let Some(program) = program("kinds.c") else { return };
    for (time, readings) in [("25ns", 400_001), ("1us", 10_000), ("1ms", 10)] {
        let found = verified(&program, 1, &format!("--clock-read {time}"), "reading");
        let found: i64 = found.split(' ').next().unwrap().parse().unwrap();
        // Times are numbers of floating point: the last reading may be a little early.
        assert!((found - readings).abs() <= 1, "{time}: {found}");
    }
    let output = program.run(&format!("-n 1 {NETWORK}"), "reading");
    let (_, errors) = said(&output);
    assert!(output.status.success(), "{errors}");
    assert!(errors.contains("has read the clock 8388608 times without a call of MPI"), "{errors}");
    assert!(errors.contains("--clock-read 1us"), "{errors}");
    let output = program.run(&format!("-n 1 {NETWORK} --clock-read 0ns"), "reading");
    assert_eq!(output.status.code(), Some(2), "{}", said(&output).1);
}

#[test]
fn a_rendezvous_ends_with_its_receive_and_its_deadlock_is_named() {
    let Some(program) = program("kinds.c") else { return };
    // Without a rendezvous both sends end.
    assert_eq!(verified(&program, 2, "", "crossed"), "");
    let output = program.run(&format!("-n 2 {NETWORK} --rendezvous 65536"), "crossed");
    let (_, errors) = said(&output);
    assert_eq!(output.status.code(), Some(3), "{errors}");
    let words: Vec<&str> =
        errors.split(|c: char| c.is_whitespace() || c == '|').filter(|word| !word.is_empty()).collect();
    let text = words.join(" ");
    for rank in 0..2 {
        let waits = format!(
            "rank {rank}, MPI_Send: waits for rank {} to receive its message of 1000000 bytes (rendezvous), tag 0",
            1 - rank
        );
        assert!(text.contains(&waits), "{text}");
    }
    // The send begins with the receive's sender at 0; the receive is posted at 1 ms. The answer takes a delay of 1 us, and
    // so do the data: 1001 us and 1002 us.
    let lines = |flags: &str| {
        let out = verified(&program, 2, flags, "late");
        let mut lines: Vec<String> = out.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(lines("--rendezvous 99999"), ["received after 1002 us", "sent after 1001 us"]);
    assert_eq!(lines("--rendezvous 100000"), ["received after 1000 us", "sent after 0 us"]);
    for ranks in [2, 5] {
        for flags in ["--rendezvous 1000", "--rendezvous 0 --buffered 0", "--rendezvous 1000 --sync combined"] {
            assert_eq!(verified(&program, ranks, flags, "rendezvous"), "", "{flags}");
        }
    }
    for (flags, reason) in [
        ("--rendezvous many", "it is not a size"),
        ("--rendezvous 1 --sync deterministic", "the answer of a receiver could come too late"),
    ] {
        let output = program.run(&format!("-n 2 {NETWORK} {flags}"), "late");
        assert_eq!(output.status.code(), Some(2), "{flags}");
        assert!(said(&output).1.contains(reason), "{flags}: {}", said(&output).1);
    }
}

#[test]
fn a_recording_of_rendezvous_replays_to_the_cycle() {
    let Some(program) = program("kinds.c") else { return };
    let torus = "--topology torus:2x2 --bandwidth 10Gb/s";
    let flags = format!("-q -n 4 {torus} --compute fixed:1600ns --rendezvous 1000 --record app.trg -o live.json");
    let output = program.run(&flags, "rendezvous");
    assert!(output.status.success(), "{}", said(&output).1);
    let mut replay = tests::command::fsin(program.folder());
    let words = format!("run --trace app.trg {torus} --format json");
    let output = replay.args(words.split_whitespace()).output().unwrap();
    assert!(output.status.success(), "{}", said(&output).1);
    let live: Value = serde_json::from_str(&fs::read_to_string(program.folder().join("live.json")).unwrap()).unwrap();
    let replayed: Value = serde_json::from_slice(&output.stdout).unwrap();
    for figure in ["completion_cycles", "digest"] {
        assert_eq!(live[figure], replayed[figure], "{figure}");
    }
}
