//! A real Slurm on this machine, with four emulated nodes.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::command::fsin;

/// A Slurm that runs during the lifetime of this value.
#[derive(Debug)]
pub struct Cluster {
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
    ///
    /// # Panics
    /// When it is installed and does not start.
    #[must_use]
    pub fn start() -> Option<Self> {
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
            assert!(begun.elapsed() < Duration::from_secs(300), "Slurm is installed and does not start: {sinfo:?}");
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    /// Runs `fsin` in a folder, with the words of this line.
    ///
    /// # Panics
    /// When it cannot be started.
    #[must_use]
    pub fn run(&self, folder: &Path, line: &str) -> Output {
        fsin(folder).env("SLURM_CONF", &self.conf).args(line.split_whitespace()).output().unwrap()
    }

    /// The file that names this Slurm to its commands, for the variable `SLURM_CONF`.
    #[must_use]
    pub fn conf(&self) -> &Path {
        &self.conf
    }

    /// The jobs that wait or run.
    ///
    /// # Panics
    /// When it cannot be asked.
    #[must_use]
    pub fn queue(&self) -> String {
        let squeue = Command::new("squeue").args(["-h", "-t", "PD,R"]).env("SLURM_CONF", &self.conf).output().unwrap();
        String::from_utf8_lossy(&squeue.stdout).into_owned()
    }
}
