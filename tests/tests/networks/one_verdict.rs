//! A message without a receive, a receive without a message and a receive with a small buffer are reported in the same
//! way by everything that executes a trace: the router, the ideal network, programs, graphs, containers, the check.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tests::command::fsin;
use trace_prep::check;
use trgen::trace::container::{Content, Header, Writer};
use trgen::trace::formats::{ReadOptions, read};
use trgen::trace::goal::{chain, text};

/// Networks: their names here, and for `--network`.
const NETWORKS: [(&str, &str); 2] = [("router", ""), ("ideal", "ideal")];

/// The trace in three forms: the original, a graph of it, a container of it.
fn forms(folder: &Path, lines: &str) -> [PathBuf; 3] {
    let paths = ["t.ti", "t.goal", "t.trg"].map(|name| folder.join(name));
    fs::write(&paths[0], lines).unwrap();
    let program = read(&paths[0], &ReadOptions::default()).unwrap().program;
    text::write(&chain::graph(&program).unwrap(), &mut fs::File::create(&paths[1]).unwrap()).unwrap();
    let tasks = program.tasks.len() as u32;
    let origin = String::new();
    let header = Header { content: Content::Programs, tasks, origin, collectives: Vec::new(), notes: Vec::new() };
    let mut writer = Writer::new(fs::File::create(&paths[2]).unwrap(), &header).unwrap();
    writer.program(&program).unwrap();
    writer.finish().unwrap();
    paths
}

/// Runs a trace: status, figures, messages.
fn run(trace: &Path, network: &str) -> (Option<i32>, Value, String) {
    let mut command = fsin(trace.parent().unwrap());
    command.args(["run", "--format", "json", "--trace"]).arg(trace);
    if !network.is_empty() {
        command.args(["--network", network]);
    } else {
        command.args(["--topology", "torus:2x2"]);
    }
    let output = command.output().unwrap();
    let figures = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
    (output.status.code(), figures, String::from_utf8_lossy(&output.stderr).into_owned())
}

const HEAD: &str = "0 init\n1 init\n";

#[test]
fn what_has_no_counterpart_is_exit_3_everywhere() {
    // Description, lines, whether all tasks reach the end of their events.
    for (what, lines, ends) in [
        ("a message that nobody receives", "0 send 1 7 8 6\n0 send 1 9 8 6\n1 recv 0 7 8 6\n", true),
        ("one among tasks that go on", "0 send 1 9 8 6\n0 send 1 7 8 6\n1 recv 0 7 8 6\n1 compute 1e6\n", true),
        ("a request that nothing completes", "0 send 1 7 8 6\n1 irecv 0 9 8 6\n1 recv 0 7 8 6\n", true),
        ("a receive without message at the end", "0 send 1 7 8 6\n1 recv 0 7 8 6\n1 recv 0 9 8 6\n", false),
        ("a receive without message", "0 send 1 7 8 6\n1 recv 0 9 8 6\n1 recv 0 7 8 6\n", false),
        ("nothing", "0 send 1 7 8 6\n1 recv 0 7 8 6\n", true),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let lines = format!("{HEAD}{lines}");
        let forms = forms(folder.path(), &lines);
        let sound = what == "nothing";
        let program = read(&forms[0], &ReadOptions::default()).unwrap().program;
        let verdict = check::program(&program, false).unwrap();
        assert_eq!((verdict.unmatched == 0, verdict.deadlock()), (sound, !ends), "{what}: {verdict:?}");
        for form in &forms {
            for (name, network) in NETWORKS {
                let of = format!("{what}: {} over the {name}", form.display());
                let (status, figures, said) = run(form, network);
                assert_eq!(status, Some(if sound { 0 } else { 3 }), "{of}: {said}");
                assert_eq!(figures["complete"], sound, "{of}");
                assert_eq!(figures["failure"].is_null(), sound, "{of}");
                assert_eq!(figures["completion_seconds"].is_null(), !sound && waits(what), "{of}");
                assert_eq!(said.contains("error:"), !sound, "{of}: {said}");
                assert!(sound || said.contains("tag 9"), "{of} names it: {said}");
            }
        }
    }
}

/// A task that still waits for a message has no end; one whose message is never received has.
fn waits(what: &str) -> bool {
    what.starts_with("a re")
}

#[test]
fn receives_that_are_too_small_are_warned_of_everywhere() {
    let folder = tempfile::tempdir().unwrap();
    // One is posted before its message arrives, the other after.
    let lines = "0 compute 1e6\n0 send 1 7 100 6\n0 send 1 8 100 6\n1 recv 0 7 10 6\n1 compute 1e8\n1 recv 0 8 10 6\n";
    let lines = format!("{HEAD}{lines}");
    for form in forms(folder.path(), &lines) {
        for (name, network) in NETWORKS {
            let of = format!("{} over the {name}", form.display());
            let (status, figures, said) = run(&form, network);
            assert_eq!(status, Some(0), "{of}: {said}");
            let expected = "2 receives do not fit the message: MPI refuses a receive that is smaller (truncation)";
            assert!(said.contains(&format!("warning: {expected}")), "{of}: {said}");
            assert!(said.contains("a receive of 10 bytes gets 100 bytes from"), "{of}: {said}");
            let warnings = figures["warnings"].as_array().unwrap();
            assert!(warnings.iter().any(|warning| warning.as_str().unwrap().starts_with(expected)), "{of}: {figures}");
        }
    }
}

#[test]
fn a_sweep_counts_such_a_point_as_failed() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("t.ti"), format!("{HEAD}0 send 1 7 8 6\n")).unwrap();
    for network in ["router", "ideal"] {
        let mut command = fsin(folder.path());
        command.args(["sweep", "-q", "--trace", "t.ti", "--compute", "0,1", "-o", network, "--network", network]);
        if network == "router" {
            command.args(["--topology", "torus:2x2"]);
        }
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(4), "{network}: {}", String::from_utf8_lossy(&output.stderr));
    }
}
