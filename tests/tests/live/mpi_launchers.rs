//! MPI programs whose ranks another command starts: the results are those of local ranks, and nothing is left.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tests::mpi::{Program, program, said};
use tests::shared::skipped;
use tests::slurm::Cluster;

const FLAGS: &str = "-n 4 --network constant-delay:delay=1us,nodes=4 --compute fixed:100ns";

/// Writes a script into the folder of the program.
fn script(program: &Program, name: &str, text: &str) {
    let path = program.folder().join(name);
    fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// The command with a launcher, and a folder for temporary files that is seen to be empty at the end.
fn launched(program: &Program, launcher: &str, words: &str) -> Command {
    let mut command = program.command(FLAGS, words);
    let mut words: Vec<_> = command.get_args().map(ToOwned::to_owned).collect();
    words.splice(1..1, ["--launcher".into(), launcher.into()]);
    let temporary = program.folder().join("tmp");
    let _ = fs::create_dir(&temporary);
    let mut with = Command::new(command.get_program());
    with.args(words).current_dir(program.folder()).env("TMPDIR", temporary);
    for (name, value) in command.get_envs() {
        with.env(name, value.unwrap_or_default());
    }
    command = with;
    command
}

/// Fails if the folder of a run is left.
fn nothing_left(program: &Program) {
    let begin = Instant::now();
    let left = || fs::read_dir(program.folder().join("tmp")).unwrap().count();
    while left() > 0 {
        assert!(begin.elapsed() < Duration::from_secs(300), "a folder is left");
        thread::sleep(Duration::from_millis(50));
    }
}

/// The digest in what the command has said.
fn digest(errors: &str) -> Option<&str> {
    errors.split("digest ").nth(1)?.lines().next()
}

/// The program gives the digest of local ranks when this starts them.
fn same_digest(program: &Program, launcher: &str) {
    let (out, errors) = said(&program.run(FLAGS, ""));
    assert_eq!(out, "is VERIFIED\n", "{errors}");
    let (out, found) = said(&launched(program, launcher, "").output().unwrap());
    assert_eq!(out, "is VERIFIED\n", "{launcher}: {found}");
    assert_eq!(digest(&found), digest(&errors), "{launcher}");
    assert!(digest(&found).is_some());
    nothing_left(program);
}

#[test]
fn a_command_for_each_rank_gives_the_results_of_local_ranks() {
    let Some(program) = program("is.c") else { return };
    // As ssh does: it passes no environment on, and the number of the rank only in its own words.
    script(&program, "elsewhere", "shift; exec env -i PATH=\"$PATH\" \"$@\"");
    same_digest(&program, "./elsewhere host{rank}");
}

#[test]
fn mpiexec_starts_the_ranks() {
    let Some(program) = program("is.c") else { return };
    if Command::new("mpiexec.mpich").arg("--version").output().is_err() {
        return skipped("no mpiexec of MPICH (Debian: mpich)");
    }
    same_digest(&program, "mpiexec.mpich -n 4");
    let output = launched(&program, "mpiexec.mpich -n 3", "").output().unwrap();
    let (_, errors) = said(&output);
    assert!(!output.status.success() && errors.contains("error: PMI_SIZE=3"), "{errors}");
    assert!(errors.contains("help: start as many ranks"), "{errors}");
    nothing_left(&program);
}

#[test]
fn slurm_starts_the_ranks() {
    let Some(program) = program("is.c") else { return };
    let Some(cluster) = Cluster::start() else {
        return skipped("no Slurm that this user can start (Debian: slurm-wlm, as root)");
    };
    let (out, errors) = said(&program.run(FLAGS, ""));
    assert_eq!(out, "is VERIFIED\n", "{errors}");
    let mut command = launched(&program, "srun -n 4 -N 2 --overcommit", "");
    let (out, found) = said(&command.env("SLURM_CONF", cluster.conf()).output().unwrap());
    assert_eq!((&*out, digest(&found)), ("is VERIFIED\n", digest(&errors)), "{found}");
    nothing_left(&program);
}

#[test]
fn hosts_in_network_namespaces_are_reached_by_their_addresses() {
    let Some(program) = program("is.c") else { return };
    let Some(hosts) = Hosts::make() else {
        return skipped("no network namespaces (ip netns, as root)");
    };
    let (_, errors) = said(&program.run(FLAGS, ""));
    // Ranks 0 and 1 on one host, 2 and 3 on the other.
    script(&program, "on-host", &format!("host={}-$(($1 / 2)); shift; exec ip netns exec $host \"$@\"", hosts.name));
    let mut command = launched(&program, "./on-host {rank}", "");
    let mut words: Vec<_> = command.get_args().map(ToOwned::to_owned).collect();
    words.splice(1..1, ["--listen".into(), format!("{}:0", hosts.address).into()]);
    let mut with = Command::new(command.get_program());
    with.args(words).current_dir(program.folder());
    command.get_envs().for_each(|(name, value)| {
        with.env(name, value.unwrap_or_default());
    });
    command = with;
    let (out, found) = said(&command.output().unwrap());
    assert_eq!((&*out, digest(&found)), ("is VERIFIED\n", digest(&errors)), "{found}");
    nothing_left(&program);
}

/// Two hosts, each a network namespace, on a bridge of this one.
struct Hosts {
    name: String,
    address: String,
}

impl Hosts {
    fn make() -> Option<Self> {
        let number = std::process::id() % 200 + 20;
        let hosts = Self { name: format!("fsin{number}"), address: format!("10.213.{number}.1") };
        let ip = |words: String| {
            let done = Command::new("ip").args(words.split(' ')).stderr(Stdio::null()).status();
            done.ok().filter(std::process::ExitStatus::success).map(drop)
        };
        let name = &hosts.name;
        ip(format!("link add {name}b type bridge"))?;
        ip(format!("addr add {}/24 dev {name}b", hosts.address))?;
        ip(format!("link set {name}b up"))?;
        for host in 0..2 {
            ip(format!("netns add {name}-{host}"))?;
            ip(format!("link add {name}v{host} type veth peer name e0 netns {name}-{host}"))?;
            ip(format!("link set {name}v{host} master {name}b up"))?;
            ip(format!("-n {name}-{host} addr add 10.213.{number}.{}/24 dev e0", host + 2))?;
            ip(format!("-n {name}-{host} link set e0 up"))?;
        }
        Some(hosts)
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        for words in [
            format!("netns del {}-0", self.name),
            format!("netns del {}-1", self.name),
            format!("link del {}b", self.name),
        ] {
            let _ = Command::new("ip").args(words.split(' ')).stderr(Stdio::null()).status();
        }
    }
}

#[test]
fn a_rank_or_a_launcher_that_is_killed_is_named_and_nothing_is_left() {
    let Some(program) = program("faults.c") else { return };
    // Each rank says its process number by the name of a file.
    script(&program, "here", "rank=$1; shift; touch pid.$rank.$$; exec \"$@\"");
    let output = launched(&program, "./here {rank}", "killed").output().unwrap();
    let errors = said(&output).1;
    assert!(errors.contains("rank 1 was ended by signal 9"), "{errors}");
    nothing_left(&program);
    // One process for all ranks, which is killed while they compute.
    script(&program, "all", "touch all.$$; for rank in 0 1 2 3; do PMI_RANK=$rank PMI_SIZE=4 \"$@\" & done; wait");
    let mut child =
        launched(&program, "./all", "computes").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut begun = [0; 10];
    std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut begun[..5]).unwrap();
    let name = fs::read_dir(program.folder())
        .unwrap()
        .flatten()
        .find_map(|entry| entry.file_name().to_str()?.strip_prefix("all.").map(str::to_owned));
    let pid = name.unwrap();
    assert!(Command::new("kill").args(["-9", &pid]).status().unwrap().success());
    // The ranks go on computing; the user ends the command.
    assert!(Command::new("kill").args(["-9", &child.id().to_string()]).status().unwrap().success());
    let _ = child.wait();
    nothing_left(&program);
    let begin = Instant::now();
    let running = || {
        let path = program.folder().join("program");
        fs::read_dir("/proc")
            .unwrap()
            .flatten()
            .any(|entry| fs::read_link(entry.path().join("exe")).is_ok_and(|exe| exe == path))
    };
    while running() {
        assert!(begin.elapsed() < Duration::from_secs(300), "a rank is left");
        thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn launchers_that_cannot_be_used_are_refused_with_a_remedy() {
    let Some(program) = program("is.c") else { return };
    for (flags, reason) in [
        ("--listen 127.0.0.1:0", "ranks of this machine need no address"),
        ("--launcher ./no-such-command", "cannot start the launcher"),
        ("--launcher srun --label", "output is that of all ranks"),
        ("--launcher srun --listen unix:/tmp/s", "no address for others"),
        ("--launcher srun --listen nowhere", "not an address"),
    ] {
        let output = program.run(&format!("{FLAGS} {flags}"), "");
        assert_eq!(output.status.code(), Some(2), "{flags}: {}", said(&output).1);
        assert!(said(&output).1.contains(reason), "{flags}: {}", said(&output).1);
    }
}
