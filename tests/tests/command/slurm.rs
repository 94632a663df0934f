//! Sweeps run by a real Slurm on this machine, with four emulated nodes. If it is not installed (Debian: slurm-wlm), or
//! the tests do not run as root, they report SKIPPED.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use tests::command::fsin;
use tests::slurm::Cluster;

#[track_caller]
fn code(output: &Output, expected: i32) {
    assert_eq!(output.status.code(), Some(expected), "{}", String::from_utf8_lossy(&output.stderr));
}

fn results(folder: &Path) -> [Vec<u8>; 2] {
    ["results.csv", "results.jsonl"].map(|name| fs::read(folder.join(name)).unwrap())
}

#[test]
fn slurm_gives_the_bytes_of_local_threads() {
    let Some(cluster) = Cluster::start() else {
        tests::shared::skipped("no Slurm that this user could start (Debian: slurm-wlm, as root)");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("good.trc"), "s 0 1 64 0\nr 1 0 64 0\n").unwrap();
    fs::write(folder.path().join("bad.trc"), "this is no trace\n").unwrap();
    // Three of six points fail; --resume tries them again, and they fail again.
    let sweep = "sweep --topology torus:4 --topology torus:8 --topology torus:4x4 --trace good.trc --trace bad.trc";
    let first = cluster.run(folder.path(), &format!("{sweep} --backend slurm --jobs 4 --pack 2 -o slurm"));
    code(&first, 4);
    let stderr = String::from_utf8_lossy(&first.stderr).into_owned();
    assert!(stderr.contains("bad.trc") && stderr.contains("3 of 6 points have results, 3 failed"), "{stderr}");
    let lost = fs::read_dir(folder.path().join("slurm/points")).unwrap().flatten().next().unwrap();
    fs::remove_dir_all(lost.path()).unwrap();
    code(&cluster.run(folder.path(), "sweep --resume --backend slurm -o slurm"), 4);
    code(&cluster.run(folder.path(), &format!("{sweep} -o local")), 4);
    assert!(results(&folder.path().join("slurm")) == results(&folder.path().join("local")));

    // Submitted and not waited for; collected later.
    let line = "sweep --topology torus:4x4 --load 0.1..0.5/5 --cycles 2000 --backend slurm";
    code(&cluster.run(folder.path(), &format!("{line} --detach -o left")), 0);
    let begun = Instant::now();
    while !cluster.queue().trim().is_empty() && begun.elapsed() < Duration::from_secs(600) {
        std::thread::sleep(Duration::from_millis(200));
    }
    code(&cluster.run(folder.path(), "collect left"), 0);
    code(&cluster.run(folder.path(), &format!("{} -o here", line.replace(" --backend slurm", ""))), 0);
    assert!(results(&folder.path().join("left")) == results(&folder.path().join("here")));

    // Ctrl-C cancels what is pending and running.
    let long = "sweep --topology torus:32x32 --load 0.1..0.9/9 --samples 100000 --backend slurm -o long";
    let mut command = fsin(folder.path());
    command.env("SLURM_CONF", cluster.conf()).args(long.split_whitespace()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let begun = Instant::now();
    while cluster.queue().trim().is_empty() && begun.elapsed() < Duration::from_secs(300) {
        std::thread::sleep(Duration::from_millis(200));
    }
    assert!(!cluster.queue().trim().is_empty(), "the array was submitted");
    tests::command::interrupt(&child, Duration::ZERO);
    code(&child.wait_with_output().unwrap(), 130);
    let begun = Instant::now();
    while !cluster.queue().trim().is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(300), "still queued: {}", cluster.queue());
        std::thread::sleep(Duration::from_millis(200));
    }
    // A task that was cancelled during its launch may outlive the daemons, which end with this test.
    let _ = Command::new("pkill").args(["-KILL", "-f", &folder.path().join("long").display().to_string()]).status();
}
