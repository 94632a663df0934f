//! Sweeps run by a real Slurm on this machine, with four emulated nodes. If it is not installed (Debian: slurm-wlm), or
//! the tests do not run as root, they report SKIPPED.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use tests::command::fsin;

/// A Slurm that runs during the lifetime of this value.
struct Cluster {
    conf: PathBuf,
    daemons: Vec<Child>,
    _folder: tempfile::TempDir,
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for daemon in &mut self.daemons {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }
}

fn said(program: &str, words: &[&str]) -> Option<String> {
    let output = Command::new(program).args(words).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

impl Cluster {
    /// Starts one; `None` if that is impossible.
    fn start() -> Option<Self> {
        said("slurmctld", &["-V"])?;
        said("slurmd", &["-V"])?;
        if said("id", &["-u"])? != "0" {
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().display().to_string();
        let host = said("hostname", &["-s"])?;
        fs::create_dir(folder.path().join("state")).unwrap();
        for node in 1..=4 {
            fs::create_dir(folder.path().join(format!("spool-n{node}"))).unwrap();
        }
        // Ports that a concurrent run of these tests is unlikely to use.
        let port = 20_000 + std::process::id() % 20_000;
        let conf = folder.path().join("slurm.conf");
        let text = format!(
            "ClusterName=fsintest\nSlurmctldHost={host}\nSlurmctldPort={port}\nSlurmUser=root\nSlurmdUser=root\n\
             AuthType=auth/none\nCredType=cred/none\nProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\n\
             SelectType=select/cons_tres\nSelectTypeParameters=CR_CPU\nSchedulerParameters=batch_sched_delay=0\n\
             MinJobAge=10\nReturnToService=2\nStateSaveLocation={root}/state\nSlurmdSpoolDir={root}/spool-%n\n\
             SlurmctldPidFile={root}/slurmctld.pid\nSlurmdPidFile={root}/slurmd-%n.pid\n\
             SlurmctldLogFile={root}/slurmctld.log\nSlurmdLogFile={root}/slurmd-%n.log\n\
             NodeName=n[1-4] NodeHostname={host} Port=[{}-{}] CPUs=2 State=UNKNOWN\n\
             PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n",
            port + 1,
            port + 4
        );
        fs::write(&conf, text).unwrap();
        let daemon = |program: &str, words: &[&str]| {
            let mut command = Command::new(program);
            command.args(words).env("SLURM_CONF", &conf).stdout(Stdio::null()).stderr(Stdio::null());
            command.spawn().unwrap()
        };
        let mut daemons = vec![daemon("slurmctld", &["-D", "-c"])];
        daemons.extend(["n1", "n2", "n3", "n4"].map(|node| daemon("slurmd", &["-D", "-N", node])));
        let cluster = Self { conf, daemons, _folder: folder };
        let begun = Instant::now();
        loop {
            let sinfo =
                Command::new("sinfo").args(["-h", "-o", "%T %D"]).env("SLURM_CONF", &cluster.conf).output().ok()?;
            if String::from_utf8_lossy(&sinfo.stdout).trim() == "idle 4" {
                return Some(cluster);
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "Slurm is installed and does not start: {sinfo:?}");
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    fn run(&self, folder: &Path, line: &str) -> Output {
        fsin(folder).env("SLURM_CONF", &self.conf).args(line.split_whitespace()).output().unwrap()
    }

    fn queue(&self) -> String {
        let squeue = Command::new("squeue").args(["-h", "-t", "PD,R"]).env("SLURM_CONF", &self.conf).output().unwrap();
        String::from_utf8_lossy(&squeue.stdout).into_owned()
    }
}

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
    while !cluster.queue().trim().is_empty() && begun.elapsed() < Duration::from_secs(120) {
        std::thread::sleep(Duration::from_millis(200));
    }
    code(&cluster.run(folder.path(), "collect left"), 0);
    code(&cluster.run(folder.path(), &format!("{} -o here", line.replace(" --backend slurm", ""))), 0);
    assert!(results(&folder.path().join("left")) == results(&folder.path().join("here")));

    // Ctrl-C cancels what is pending and running.
    let long = "sweep --topology torus:32x32 --load 0.1..0.9/9 --samples 100000 --backend slurm -o long";
    let mut command = fsin(folder.path());
    command.env("SLURM_CONF", &cluster.conf).args(long.split_whitespace()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let begun = Instant::now();
    while cluster.queue().trim().is_empty() && begun.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(200));
    }
    assert!(!cluster.queue().trim().is_empty(), "the array was submitted");
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    code(&child.wait_with_output().unwrap(), 130);
    let begun = Instant::now();
    while !cluster.queue().trim().is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(60), "still queued: {}", cluster.queue());
        std::thread::sleep(Duration::from_millis(200));
    }
    // A task that was cancelled during its launch may outlive the daemons, which end with this test.
    let _ = Command::new("pkill").args(["-KILL", "-f", &folder.path().join("long").display().to_string()]).status();
}
