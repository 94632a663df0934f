//! Every key under `fsin mpirun`: it changes a figure, or is refused. Nothing is ignored.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::thread;

use fsin::experiment::key;
use fsin::family::Kind;
use serde_json::{Map, Value};
use tests::keys::VALUES;
use tests::mpi::{Program, program, said};

/// Networks, and keys that show nothing there: nothing is full, and nothing waits for ever.
const NETWORKS: [(&str, &str, &[&str]); 6] = [
    // No two messages of the ring share a link.
    ("flow", "torus:4x4 --propagation 1us", &["fairness"]),
    ("vct", "torus:4x4", &["bubble", "watchdog"]),
    ("wormhole", "torus:4x4", &["unsafe-routing", "watchdog"]),
    ("ethernet", "torus:4x4", &["pause"]),
    ("myrinet", "mesh:4x4", &["unsafe-routing"]),
    // Every message takes the same time, wherever its ranks are.
    ("constant-delay", "torus:4x4", &["placement"]),
];

/// Keys on which no result depends.
const FREE: [&str; 2] = ["engine", "threads"];

/// Parts of the names of figures that depend on the host, or repeat the settings.
const OF_HOST: [&str; 8] = ["experiment", "manifest", "wall", "cpu", "memory", "sync", "host", "per_second"];

/// The figures of a run, or what was said of one that failed.
fn figures(program: &Program, network: &str, flags: &str) -> Result<Map<String, Value>, String> {
    let file = format!("{network}.json");
    let _ = fs::remove_file(program.folder().join(&file));
    let output = program.run(&format!("-n 8 --compute none -q -o {file} --network {network} {flags}"), "");
    if !output.status.success() {
        return Err(said(&output).1);
    }
    let text = fs::read_to_string(program.folder().join(file)).unwrap();
    let mut found: Map<String, Value> = serde_json::from_str(&text).unwrap();
    found.retain(|name, _| !OF_HOST.iter().any(|part| name.contains(part)));
    Ok(found)
}

#[test]
fn every_key_of_programs() {
    let Some(program) = program("ring.c") else { return };
    let check = |(network, topology, calm): (&str, &str, &[&str])| -> Vec<String> {
        let base = format!("--topology {topology}");
        let before = figures(&program, network, &base).unwrap_or_else(|why| panic!("{network}: {why}"));
        assert_eq!(figures(&program, network, &base), Ok(before.clone()), "{network} repeats");
        let ignored =
            VALUES.iter().filter(|(name, _)| *name != "topology" && !FREE.contains(name)).filter(|(name, values)| {
                let acts = |value: &&str| {
                    let is_switch = key(name).is_some_and(|key| key.kind == Kind::Switch);
                    let flag = if is_switch { format!("--{name}") } else { format!("--{name} {value}") };
                    match figures(&program, network, &format!("{base} {flag}")) {
                        Ok(found) => found != before,
                        // A conflict may name the other setting alone; a network may fail by the setting.
                        Err(why) => !why.is_empty(),
                    }
                };
                !values.iter().any(acts) && !calm.contains(name)
            });
        ignored.map(|(name, values)| format!("{network}: {name} {values:?} does nothing")).collect()
    };
    let ignored: Vec<String> = thread::scope(|scope| {
        let all = NETWORKS.map(|network| scope.spawn(move || check(network)));
        all.into_iter().flat_map(|one| one.join().unwrap()).collect()
    });
    assert!(ignored.is_empty(), "{}", ignored.join("\n"));
}

#[test]
fn what_means_nothing_to_a_program_is_refused() {
    let Some(program) = program("ring.c") else { return };
    for (flags, named) in [
        ("--format csv", "--format"),
        ("--network ethernet --port-stats none", "--port-stats"),
        ("--network constant-delay --link-loads", "--link-loads"),
        ("--placement greedy", "--placement"),
        ("--placement nowhere", "--placement"),
        ("--network wormhole --source open", "--source"),
        ("--network constant-delay --packet 8", "--packet"),
        ("--network constant-delay --phit-bytes 8", "--phit-bytes"),
    ] {
        let output = program.run(&format!("-n 8 --topology torus:4x4 {flags}"), "");
        let (_, errors) = said(&output);
        assert_eq!(output.status.code(), Some(2), "{flags}: {errors}");
        assert!(errors.contains(named), "{flags}: {errors}");
    }
}
