//! Host parameters of graphs, and their use by the command.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::io::Read;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;
use tests::command::{fsin, run};

const GRAPH: &str = "num_ranks 2\nrank 0 {\nsend 101b to 1 nic 1\n}\nrank 1 {\nrecv 101b from 0 nic 1\n}\n";

#[test]
fn costs_of_a_byte_may_have_decimals() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("t.goal"), GRAPH).unwrap();
    let figures = |words: &str| -> Value {
        let output = run(folder.path(), &format!("run --trace t.goal --format json {words}"));
        assert!(output.status.success(), "{words}: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let found = figures("--network ideal:L=50,G=0.04 --hosts o=10,g=3,O=0.125");
    assert_eq!(found["network_gap_per_byte_ns"], 0.04);
    assert_eq!((&found["finish_min_ns"], &found["finish_max_ns"]), (&Value::from(22.5), &Value::from(82.5)));
    // Whole numbers stay whole in every notation.
    let [one, other] = ["G=6", "G=6.00"].map(|gap| figures(&format!("--network ideal:{gap}")));
    assert_eq!(one["finish_max_ns"], other["finish_max_ns"]);
    assert!(one["finish_max_ns"].is_u64());
    // 101 bytes at 0.5 ns more: 50 ns on each side, also over routers.
    let [without, with] = ["0", "0.5"]
        .map(|per_byte| figures(&format!("--topology torus:2x2 --bandwidth 8Gb/s --phit-bytes 1 --hosts O={per_byte}"))["completion_seconds"].as_f64().unwrap());
    assert!(((with - without) * 1e9 - 50.0).abs() < 1.5, "{without} {with}");
    let refused = run(folder.path(), "run --trace t.goal --network ideal:G=0.1234567");
    assert_eq!(refused.status.code(), Some(2));
}

#[test]
fn several_interfaces_of_a_host_are_one_to_a_network_and_that_is_said() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("t.goal"), GRAPH).unwrap();
    let said = |words: &str| String::from_utf8_lossy(&run(folder.path(), words).stderr).into_owned();
    assert!(said("run --trace t.goal --topology torus:2x2").contains("warning: the graph names 2 network interfaces"));
    assert!(!said("run --trace t.goal --network ideal").contains("network interfaces"));
    fs::write(folder.path().join("one.goal"), GRAPH.replace(" nic 1", "")).unwrap();
    assert!(!said("run --trace one.goal --topology torus:2x2").contains("network interfaces"));
}

#[test]
fn a_name_of_two_families_is_explained_in_the_one_that_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let said = |words: &str| String::from_utf8_lossy(&run(folder.path(), words).stdout).into_owned();
    let headings = |words: &str| {
        said(words).lines().filter(|line| line.contains("  (")).filter(|line| !line.starts_with(' ')).count()
    };
    assert!(headings("explain random") > 1, "{}", said("explain random"));
    assert!(said("explain kernels/gather").starts_with("gather  (kernels)"));
    assert_eq!(run(folder.path(), "explain traffic/gather").status.code(), Some(2));
}

#[test]
fn an_interrupt_while_a_trace_is_read_ends_the_command_at_once() {
    let folder = tempfile::tempdir().unwrap();
    // It takes some seconds to read.
    let mut text = "num_ranks 1\nrank 0 {\n".to_owned();
    (0..3_000_000).for_each(|number| text.push_str(&format!("l{number}: calc 5\n")));
    fs::write(folder.path().join("large.goal"), text + "}\n").unwrap();
    for network in ["router", "ideal"] {
        let mut command = fsin(folder.path());
        command.args(["run", "--trace", "large.goal", "--network", network]);
        if network == "router" {
            command.args(["--topology", "torus:2x2"]);
        }
        let mut child = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        tests::command::interrupt(&child, Duration::ZERO);
        let status = child.wait().unwrap();
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!(status.code(), Some(130), "{network}: {said}");
    }
}

#[test]
fn the_anchor_of_an_otf2_archive_runs_like_its_text() {
    if std::process::Command::new("otf2-print").arg("--version").output().is_err() {
        return tests::shared::skipped("no otf2-print on this machine (Debian: otf2-tools)");
    }
    let Some(traces) = tests::shared::shared_folder("traces") else { return };
    let folder = tempfile::tempdir().unwrap();
    let archive = traces.join("npb-otf2/cg.S.4.otf2.tar.xz");
    assert!(
        std::process::Command::new("tar")
            .arg("xf")
            .arg(archive)
            .arg("-C")
            .arg(folder.path())
            .status()
            .unwrap()
            .success()
    );
    let anchor = "cg.S.x_trace/eztrace_log.otf2";
    let printed =
        std::process::Command::new("otf2-print").current_dir(folder.path()).args(["-A", anchor]).output().unwrap();
    fs::write(folder.path().join("t.txt"), printed.stdout).unwrap();
    let digest = |words: &str| {
        let output = run(folder.path(), &format!("{words} --topology torus:2x2 --compute 0 --format json"));
        assert!(output.status.success(), "{words}: {}", String::from_utf8_lossy(&output.stderr));
        let figures: Value = serde_json::from_slice(&output.stdout).unwrap();
        // Every file of the archive is part of the identity of the run.
        (figures["digest"].clone(), figures["manifest"]["inputs"].as_array().map_or(0, Vec::len))
    };
    let text = digest("run --trace t.txt");
    let traced = digest(&format!("run --trace {anchor}"));
    let positional = digest(&format!("run {anchor}"));
    assert_eq!((&traced.0, &positional.0), (&text.0, &text.0));
    assert!(traced.1 > 5, "{traced:?}");
    assert_eq!(run(folder.path(), &format!("config {anchor} --topology torus:2x2")).status.code(), Some(0));
}
