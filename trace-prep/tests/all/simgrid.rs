//! SimGrid's own replay runs exported traces to the end.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use trgen::trace::formats::{ReadOptions, Trace, read};
use trgen::trace::program::Event;

use crate::shared;

/// Exports `input` to a folder for SimGrid, which this command reads again.
fn export(input: &Path, output: &Path) {
    let mut command = assert_cmd::Command::cargo_bin("trace-prep").unwrap();
    command.args(["export", "-q", "--to", "simgrid-ti", "-o"]).arg(output).arg(input).assert().success();
}

fn trace(path: &Path) -> Trace {
    read(path, &ReadOptions::default()).unwrap()
}

/// Replays a trace with SimGrid on a cluster: the simulated time \[s\]. `None` without SimGrid.
fn replayed(folder: &Path, ranks: usize) -> Option<f64> {
    let index = fs::read_to_string(folder.join("index.txt")).unwrap();
    assert_eq!(index.lines().count(), ranks);
    if Command::new("smpirun").arg("-version").output().is_err() {
        shared::skipped("no smpirun on this machine (Debian: libsimgrid-dev)");
        return None;
    }
    let platform = format!(
        "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n<platform version=\"4.1\">\n\
         <cluster id=\"c\" prefix=\"n\" suffix=\"\" radical=\"0-{}\" speed=\"5Gf\" bw=\"1GBps\" lat=\"1us\"/>\n</platform>\n",
        ranks - 1
    );
    fs::write(folder.join("platform.xml"), platform).unwrap();
    let hosts = (0..ranks).fold(String::new(), |mut hosts, rank| {
        let _ = writeln!(hosts, "n{rank}");
        hosts
    });
    fs::write(folder.join("hosts"), hosts).unwrap();
    // The index names files beside it, which SimGrid searches for in the working directory.
    let said = Command::new("smpirun")
        .current_dir(folder)
        .args(["-np", &ranks.to_string(), "-platform", "platform.xml", "-hostfile", "hosts", "-replay", "index.txt"])
        .output()
        .unwrap();
    let said_text = String::from_utf8_lossy(&said.stderr).into_owned() + &String::from_utf8_lossy(&said.stdout);
    assert!(said.status.success(), "{said_text}");
    let line = said_text.lines().find_map(|line| Some(line.split_once("Simulation time ")?.1.trim().to_owned()));
    Some(line.unwrap_or_else(|| panic!("{said_text}")).parse().unwrap())
}

#[test]
fn a_real_program_is_exported_replayed_by_simgrid_and_exported_again() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (folder.path().join("first"), folder.path().join("second"));
    let original = shared::workspace().join("examples/npb-mg/mg.S.16.ti.tar.xz");
    export(&original, &first);
    export(&first, &second);
    for rank in 0..16 {
        let text = |folder: &Path| fs::read_to_string(folder.join(format!("rank-{rank}.txt"))).unwrap();
        assert_eq!(text(&first), text(&second), "rank {rank}");
    }
    // Events and bytes are those of the original, with the messages of collectives.
    let (before, after) = (trace(&original).program.totals(), trace(&first).program.totals());
    assert_eq!(after.point_to_point_messages, before.point_to_point_messages + before.collective_messages);
    assert_eq!(after.point_to_point_bytes, before.point_to_point_bytes + before.collective_bytes);
    // 1.0 ms of computing by the slowest rank; SimGrid's own replay of the original with collectives is close to that.
    if let Some(time) = replayed(&first, 16) {
        assert!((0.001..0.1).contains(&time), "{time} s");
    }
}

#[test]
fn tags_of_every_size_fit_the_numbers_of_simgrid() {
    let folder = tempfile::tempdir().unwrap();
    let (text, out) = (folder.path().join("t.trc"), folder.path().join("out"));
    let tags = [i64::MIN, -444, -1, 0, 7, i64::from(i32::MAX), 1 << 31, 1 << 40, i64::MAX];
    let lines = tags.iter().fold(String::new(), |mut lines, tag| {
        let _ = writeln!(lines, "s 0 1 {tag} 100\nr 0 1 {tag} 100");
        lines
    });
    fs::write(&text, lines).unwrap();
    export(&text, &out);
    let program = trace(&out).program;
    let mut labels: Vec<i64> = program.tasks[0]
        .iter()
        .filter_map(|event| if let Event::Send(send) = event { Some(send.tag.label) } else { None })
        .collect();
    // Labels that fit are kept.
    assert_eq!((labels[3], labels[4], labels[5]), (0, 7, i64::from(i32::MAX)));
    labels.sort_unstable();
    labels.dedup();
    assert_eq!(labels.len(), tags.len());
    assert!(labels.iter().all(|label| (0..1 << 31).contains(label)), "{labels:?}");
    replayed(&out, 2);
}

#[test]
fn wildcards_requests_and_empty_messages_are_replayed_by_simgrid() {
    let folder = tempfile::tempdir().unwrap();
    let (text, out) = (folder.path().join("all.txt"), folder.path().join("out"));
    let lines = "0 init\n1 init\n2 init\n\
                 0 irecv -555 -444 64 6\n0 irecv 1 5 0 6\n0 wait -555 0 -444\n0 waitall 1\n0 recv -555 9 32 6\n\
                 1 isend 0 3 64 6\n1 isend 0 5 0 6\n1 waitall 2\n\
                 2 compute 1e6\n2 send 0 9 32 6\n\
                 0 barrier\n1 barrier\n2 barrier\n0 finalize\n1 finalize\n2 finalize\n";
    fs::write(&text, lines).unwrap();
    export(&text, &out);
    replayed(&out, 3);
}
