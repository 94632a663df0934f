//! What the command writes in a form that it reads, it reads.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;

use serde_json::Value;
use tests::command::run;
use tests::shared::workspace;

/// A topology of every kind, at a size of its own.
const TOPOLOGIES: [&str; 29] = [
    "torus:4x4",
    "torus:3x5x2",
    "torus:7",
    "mesh:5x3",
    "twisted:4x2:2",
    "tpu:4x4x4",
    "hypercube:4",
    "circulant:16:1,4",
    "midimew:13",
    "circpk:5^2",
    "spidergon:10",
    "spinnaker:4x4",
    "fattree:4,2",
    "fattree:2,3",
    "thintree:4,2,3",
    "slimtree:6,3,2",
    "dragonfly:p=2,a=4,h=2",
    "dragonfly+:p=2,l=4,s=4,h=2",
    "hyperx:4x3:2",
    "icube:4x3:2",
    "cmesh:4x3:4",
    "fly:2,3",
    "slimfly:q=5,p=4",
    "star:5",
    "star:1",
    "cluster:nodes=8,gpus=4,up-rate=400GB/s,up-delay=500ns,out-rate=400Gb/s,out-delay=1us",
    "rail:k=2,of=(star:8)",
    "rrg:s=16,d=4,p=2",
    "graph:net.txt",
];

fn figures(folder: &Path, line: &str) -> Option<Value> {
    let output = run(folder, line);
    output.status.success().then(|| serde_json::from_slice(&output.stdout).unwrap())
}

#[test]
fn a_topology_that_is_written_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("net.txt"), "a b\nb c\nc a\n").unwrap();
    let listed = String::from_utf8(run(folder, "list topologies").stdout).unwrap();
    for line in listed.lines() {
        let name = line.split_whitespace().next().unwrap();
        assert!(TOPOLOGIES.iter().any(|spec| spec.split(':').next() == Some(name)), "{name} is not tried here");
    }
    let mut written = 0;
    for spec in TOPOLOGIES {
        for more in ["", " --ways 1", " --fail link:0-1@0", " --fail node:1@0"] {
            for format in ["dot", "list", "csv", "node-link"] {
                let file = format!("net.{format}");
                let _ = fs::remove_file(folder.join(&file));
                let output = run(folder, &format!("topology {spec}{more} --format {format} -o {file}"));
                if !output.status.success() {
                    assert_eq!(output.status.code(), Some(2), "{spec}{more} {format}");
                    assert!(!folder.join(&file).exists(), "what is refused leaves no file");
                    assert!(
                        format != "dot" || !more.is_empty() || spec == "fly:2,3",
                        "{spec}: DOT states every network"
                    );
                    continue;
                }
                written += 1;
                let back = figures(folder, &format!("topology graph:{file} --format json"));
                let Some(back) = back else { panic!("{spec}{more}: graph: refuses what was written as {format}") };
                let original = figures(folder, &format!("topology {spec}{more} --format json")).unwrap();
                assert_eq!(back["nodes"], original["nodes"], "{spec}{more} {format}");
            }
        }
    }
    assert!(written > 150, "{written}");
}

#[test]
fn routes_experiments_and_results_that_are_written_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let done = |line: &str| {
        let output = run(folder, line);
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    for (number, topology) in ["torus:5x3", "mesh:3x4", "fattree:2,3", "dragonfly:p=1,a=2,h=1"].iter().enumerate() {
        let routing = if number < 2 { "dor" } else { "minimal" };
        done(&format!("routes --topology {topology} --routing {routing} -o r{number}.csv"));
        done(&format!("routes --topology {topology} --routes r{number}.csv"));
        done(&format!(
            "run --network wormhole --vcs 4 --topology {topology} --routes r{number}.csv --load 0.1 --cycles 500 -q"
        ));
    }
    done("config --topology torus:4x4 --network wormhole --vcs 4 --load 0.2 --cycles 500 -o e.toml");
    done("run e.toml -q");
    fs::write(folder.join("first.toml"), done("init")).unwrap();
    done("sweep first.toml --cycles 200 --dry-run");
    // Programs as traces, and back.
    let trace = workspace().join("examples/npb-mg/mg.S.16.ti.tar.xz");
    done(&format!("run --topology torus:4x4 --trace {} -q", trace.display()));
}
