//! Placements, as the command takes them: a file of nodes says the same as the strategy that it spells out.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;
use std::process::Output;

use tests::command::run;

fn result(folder: &Path, line: &str) -> serde_json::Value {
    let output = run(folder, &format!("{line} --format json --quiet"));
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// All tasks talk to their neighbours of a 4 x 4 mesh.
const RUN: &str = "run --topology torus:4x4 --kernel mesh2d:tasks=16,bytes=500,iterations=2";

#[test]
fn a_file_says_what_a_strategy_says() {
    let folder = tempfile::tempdir().unwrap();
    let mut digests = Vec::new();
    for (spec, nodes) in [
        ("row", "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15"),
        ("column", "0 4 8 12\n1 5 9 13\n2 6 10 14\n3 7 11 15"),
        ("diagonal", "0,5,10,15 1,6,11,12 # and on\n2,7,8,13 3,4,9,14"),
        ("quadrant", "0 1 4 5 2 3 6 7 8 9 12 13 10 11 14 15"),
        ("shuffle", "0 2 4 6 8 10 12 14 1 3 5 7 9 11 13 15"),
    ] {
        fs::write(folder.path().join("nodes.txt"), nodes).unwrap();
        let strategy = result(folder.path(), &format!("{RUN} --placement {spec}"));
        let file = result(folder.path(), &format!("{RUN} --placement file:nodes.txt"));
        assert_eq!(strategy["digest"], file["digest"], "{spec}");
        digests.push(strategy["digest"].clone());
    }
    let consecutive = result(folder.path(), RUN);
    assert_eq!(digests[0], consecutive["digest"]);
    digests.sort_by_key(ToString::to_string);
    digests.dedup();
    assert_eq!(digests.len(), 5, "five placements differ");
}

#[test]
fn a_file_is_found_beside_the_experiment_and_from_anywhere_once_resolved() {
    let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let sub = folder.path().join("sub");
    fs::create_dir(&sub).unwrap();
    fs::write(sub.join("nodes.txt"), "3 2 1 0").unwrap();
    let kernel = "topology = \"torus:4\"\nkernel = \"all-to-all:tasks=4,bytes=100\"\n";
    fs::write(sub.join("e.toml"), format!("{kernel}placement = \"file:nodes.txt\"\n")).unwrap();
    let beside = result(folder.path(), "run sub/e.toml");
    let resolved = run(folder.path(), "config sub/e.toml");
    assert!(resolved.status.success(), "{}", said(&resolved));
    fs::write(elsewhere.path().join("r.toml"), resolved.stdout).unwrap();
    assert_eq!(result(elsewhere.path(), "run r.toml")["digest"], beside["digest"]);
    assert!(result(folder.path(), "run sub/e.toml -o out")["digest"] == beside["digest"]);
    let manifest = fs::read_to_string(folder.path().join("out/manifest.json")).unwrap();
    assert!(manifest.contains("nodes.txt") && manifest.contains("sha256"), "{manifest}");

    fs::write(sub.join("nodes.txt"), "3 2 1").unwrap();
    let short = run(folder.path(), "run sub/e.toml");
    assert_eq!(short.status.code(), Some(2));
    assert!(said(&short).contains("names 3 nodes, and 4 are needed"), "{}", said(&short));
}

#[test]
fn orders_of_grids_are_refused_where_there_is_none() {
    let folder = tempfile::tempdir().unwrap();
    for spec in ["row", "column", "diagonal", "quadrant"] {
        let line =
            format!("run --topology fattree:4,2 --routing tree:adaptive --kernel bintree:tasks=16 --placement {spec}");
        let refused = run(folder.path(), &line);
        assert_eq!(refused.status.code(), Some(2), "{spec}");
        assert!(said(&refused).contains("rows and columns"), "{}", said(&refused));
    }
}
