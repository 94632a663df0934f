//! What a network warns of is said by every command that runs it, and by those that read what has been run.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;

use serde_json::Value;
use tests::command::{results, run, serve};
use tests::mpi::{program, said};

/// Two of four hosts have links of another rate than the one in which loads count.
const NETWORK: &str = "H0 s0 rate 100Gb/s\nH1 s0 rate 100Gb/s\nH2 s0\nH3 s0\n";
const WORDS: &str = "--network flow --topology graph:net.txt --link-rate 400Gb/s";
const WARNING: &str = "the links of 2 of 4 hosts have rate 100000000000b/s";

/// Blanks and marks of broken lines are no part of a message.
fn is_said(text: &str) -> bool {
    let words = text.split_whitespace().filter(|word| *word != "│" && *word != "|");
    words.collect::<Vec<_>>().join(" ").contains(WARNING)
}

#[test]
fn every_command_says_what_the_network_warns_of() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("net.txt"), NETWORK).unwrap();
    let point = "--load 0.1 --cycles 10000000";
    for command in [
        &format!("run {WORDS} {point}"),
        &format!("run {WORDS} --kernel all-reduce-ring:tasks=4,bytes=10000 -o r"),
        &format!("sweep {WORDS} {point} --seeds 1 -o a"),
        &format!("sweep {WORDS} {point} --seeds 1 --size constant(2) -o b"),
        &format!("saturation {WORDS} --tolerance 0.5"),
        "compare a b",
        "plot a",
    ] {
        let output = run(folder.path(), command);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(is_said(&errors), "{command}: {errors}");
    }
    for target in ["a", "r"] {
        let output = run(folder.path(), &format!("report {target} -o {target}.html"));
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(is_said(&fs::read_to_string(folder.path().join(format!("{target}.html"))).unwrap()), "{target}");
    }
    fs::write(folder.path().join("ask"), "node 0: send 1 64\nnode 1: receive").unwrap();
    let (child, address) = serve(folder.path(), &format!("{WORDS} --guests 2"));
    let guests = run(folder.path(), &format!("guest ask --connect {address} --node 0..1"));
    assert!(guests.status.success(), "{}", String::from_utf8_lossy(&guests.stderr));
    let found = results(child);
    assert!(is_said(&found["warnings"].to_string()), "{found}");
}

#[test]
fn a_program_over_a_network_says_what_the_network_warns_of() {
    let Some(program) = program("is.c") else { return };
    fs::write(program.folder().join("net.txt"), NETWORK).unwrap();
    let output = program.run(&format!("-n 4 {WORDS} --compute fixed:100ns -o result.json"), "");
    let (_, errors) = said(&output);
    assert!(output.status.success() && is_said(&errors), "{errors}");
    let found: Value =
        serde_json::from_str(&fs::read_to_string(program.folder().join("result.json")).unwrap()).unwrap();
    assert!(is_said(&found["warnings"].to_string()), "{found}");
}
