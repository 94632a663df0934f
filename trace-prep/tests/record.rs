//! Recording small programs under a real MPI library, where there is one.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::print_stderr, reason = "a test that is left out says so")]

use std::path::{Path, PathBuf};
use std::process::Command;

use trgen::trace::formats::{ReadOptions, Trace, read};
use trgen::trace::program::Event;

/// An MPI library, by its commands.
#[derive(Clone, Copy)]
struct Mpi {
    compiler: &'static str,
    launcher: &'static [&'static str],
}

/// What `mpicc` is; the tests start it as Open MPI.
const USUAL: Mpi = Mpi { compiler: "mpicc", launcher: &["mpiexec", "--oversubscribe"] };
/// As Debian names it beside another one.
const MPICH: Mpi = Mpi { compiler: "mpicc.mpich", launcher: &["mpiexec.mpich"] };

/// Compiles a program of ours; `None` where there is no such MPI.
fn build(mpi: Mpi, folder: &Path, name: &str, libraries: &[&str]) -> Option<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(format!("{name}.c"));
    let program = folder.join(name);
    let built = Command::new(mpi.compiler).arg("-o").arg(&program).arg(source).args(libraries).status();
    if built.is_err() || Command::new(mpi.launcher[0]).arg("--version").output().is_err() {
        eprintln!("SKIPPED: no {} and {} on this machine", mpi.compiler, mpi.launcher[0]);
        return None;
    }
    assert!(built.unwrap().success());
    Some(program)
}

/// `trace-prep record` of a program on 4 ranks.
fn command(mpi: Mpi, out: &Path, program: &Path) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("trace-prep"));
    command.args(["record", "--mpicc", mpi.compiler, "-o"]).arg(out).arg("--");
    command.args(mpi.launcher).args(["-n", "4"]).arg(program);
    command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    command
}

fn recording(mpi: Mpi, out: &Path, program: PathBuf) -> assert_cmd::Command {
    let mut command = assert_cmd::Command::from_std(command(mpi, out, &program));
    command.timeout(std::time::Duration::from_secs(120));
    command
}

/// Records a program that ends well and checks the trace.
fn record(mpi: Mpi, name: &str, libraries: &[&str]) -> Option<Trace> {
    let folder = tempfile::tempdir().unwrap();
    let program = build(mpi, folder.path(), name, libraries)?;
    let out = folder.path().join("out.trg");
    recording(mpi, &out, program).assert().success();
    let mut check = assert_cmd::Command::cargo_bin("trace-prep").unwrap();
    check.arg("check").arg(&out).assert().success();
    Some(read(&out, &ReadOptions::default()).unwrap())
}

fn count(trace: &Trace, is: impl Fn(&Event) -> bool) -> usize {
    trace.program.tasks.iter().flatten().filter(|event| is(event)).count()
}

#[test]
fn a_ring_is_recorded_message_by_message() {
    for mpi in [USUAL, MPICH] {
        let Some(trace) = record(mpi, "ring", &[]) else { continue };
        check_ring(&trace);
    }
}

fn check_ring(trace: &Trace) {
    let totals = trace.program.totals();
    assert_eq!(trace.program.tasks.len(), 4);
    assert_eq!((totals.point_to_point_messages, totals.point_to_point_bytes), (12, 12 * 400));
    assert_eq!(totals.collective_messages, 0);
    let Event::Send(send) = trace.program.tasks[3].iter().find(|e| matches!(e, Event::Send(_))).unwrap() else {
        return;
    };
    assert_eq!((send.to.0, send.tag.label), (0, 0));
}

#[test]
fn a_stencil_on_split_communicators_is_recorded_with_its_requests() {
    for mpi in [USUAL, MPICH] {
        let Some(trace) = record(mpi, "stencil", &[]) else { continue };
        check_stencil(&trace);
    }
}

fn check_stencil(trace: &Trace) {
    let totals = trace.program.totals();
    // 4 ranks, 5 steps, 2 sends of 64 doubles each; rank % 2 keeps halves apart.
    assert_eq!((totals.point_to_point_messages, totals.point_to_point_bytes), (40, 40 * 512));
    assert_eq!(count(trace, |e| matches!(e, Event::WaitAny(_))), 20);
    assert_eq!(count(trace, |e| matches!(e, Event::Irecv(receive, _) if receive.from.is_none())), 20);
    assert_eq!(trace.collectives["allreduce"], 20);
    for (task, events) in trace.program.tasks.iter().enumerate() {
        for event in events {
            if let Event::Send(send) | Event::Isend(send, _) = event {
                assert_eq!(send.to.index() % 2, task % 2, "a message stays in its half");
            }
        }
    }
}

#[test]
fn entry_points_of_fortran_are_recorded() {
    let Some(trace) = record(USUAL, "fortran", &["-lmpi_mpifh"]) else { return };
    let totals = trace.program.totals();
    assert_eq!((totals.point_to_point_messages, totals.point_to_point_bytes), (20, 20 * 400));
    assert_eq!(count(&trace, |event| matches!(event, Event::Wait(_))), 20);
    assert_eq!(trace.collectives["allreduce"], 4);
    // Two halves of two ranks, each an exchange.
    assert_eq!((totals.collective_messages, totals.collective_bytes), (4, 4 * 400));
}

#[test]
fn a_killed_rank_leaves_a_log_that_can_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = build(USUAL, folder.path(), "killed", &[]) else { return };
    let out = folder.path().join("out.trg");
    let said = recording(USUAL, &out, program).assert().code(1).get_output().stderr.clone();
    assert!(String::from_utf8_lossy(&said).contains("what its ranks recorded until then is kept"));
    let trace = read(&out, &ReadOptions::default()).unwrap();
    assert_eq!(trace.program.tasks.len(), 4);
    let sends = trace.program.tasks[1].iter().filter(|event| matches!(event, Event::Send(_))).count();
    assert!(trace.notes.iter().any(|note| note.contains("not complete: the recorded program ended with")));
    // What was in the buffer of 4 KiB is lost, and no more.
    assert!((150..=200).contains(&sends), "{sends} of 200 sends");
    // The first calls of all ranks are a trace that can be executed.
    let (part, check) = (folder.path().join("part.trg"), |path: &Path| {
        let mut command = assert_cmd::Command::cargo_bin("trace-prep").unwrap();
        command.arg("check").arg(path).output().unwrap().status.code()
    });
    let mut slice = assert_cmd::Command::cargo_bin("trace-prep").unwrap();
    slice.args(["slice", "--events", "200", "-o"]).arg(&part).arg(&out).assert().success();
    assert_eq!(check(&part), Some(0));
}

/// Sends of rank 0 and receives of rank 3 in a trace.
fn ends(out: &Path) -> (usize, usize) {
    let trace = read(out, &ReadOptions::default()).unwrap();
    let of = |task: usize, is: fn(&Event) -> bool| trace.program.tasks[task].iter().filter(|event| is(event)).count();
    (of(0, |event| matches!(event, Event::Send(_))), of(3, |event| matches!(event, Event::Recv(_))))
}

#[test]
fn a_program_that_ends_itself_leaves_all_that_it_did() {
    // MPICH kills the other ranks of one that ends; Open MPI asks them to.
    for how in ["abort", "exit"] {
        let folder = tempfile::tempdir().unwrap();
        let Some(program) = build(USUAL, folder.path(), "endless", &[]) else { return };
        let out = folder.path().join("out.trg");
        recording(USUAL, &out, program).arg(how).assert().code(1);
        let (sends, receives) = ends(&out);
        assert_eq!(sends, 40 * 3, "{how}");
        assert!((30..=40).contains(&receives), "{how}: {receives} of 40 receives");
    }
}

#[test]
fn a_rank_that_dies_leaves_all_that_it_did() {
    for how in ["abort", "fault", "exit"] {
        let folder = tempfile::tempdir().unwrap();
        let Some(program) = build(USUAL, folder.path(), "dies", &[]) else { return };
        let out = folder.path().join("out.trg");
        let said = recording(USUAL, &out, program).arg(how).assert().code(1).get_output().stderr.clone();
        assert!(String::from_utf8_lossy(&said).contains("killed (SIGKILL)"));
        // Ten rounds, all in the buffer of 4 KiB.
        let trace = read(&out, &ReadOptions::default()).unwrap();
        let sends = trace.program.tasks[1].iter().filter(|event| matches!(event, Event::Send(_))).count();
        assert_eq!(sends, 10, "{how}");
    }
}

#[cfg(unix)]
#[test]
fn an_interrupted_recording_is_kept_and_said_to_be_incomplete() {
    use std::io::{BufRead, BufReader};
    use std::os::unix::process::CommandExt;
    use std::process::Stdio;

    for mpi in [USUAL, MPICH] {
        let folder = tempfile::tempdir().unwrap();
        let Some(program) = build(mpi, folder.path(), "endless", &[]) else { continue };
        let out = folder.path().join("out.trg");
        let mut command = command(mpi, &out, &program);
        // As at a terminal: an interrupt is for the whole group. Its logs go where nobody but the test looks.
        command.process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped()).env("TMPDIR", folder.path());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        // Stays open: a launcher that cannot write any more ends in its own way.
        let mut printed = BufReader::new(child.stdout.take().unwrap());
        printed.read_line(&mut line).unwrap();
        assert_eq!(line.trim(), "thirty rounds");
        std::thread::sleep(std::time::Duration::from_millis(300));
        let group = format!("-{}", child.id());
        assert!(Command::new("kill").args(["-INT", "--", &group]).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(130), "{said}");
        assert!(said.contains("out.trg is not complete: it ends where the program was interrupted"), "{said}");
        let notes = read(&out, &ReadOptions::default()).unwrap().notes;
        assert!(
            notes.iter().any(|note| note.contains("not complete: the recorded program was interrupted")),
            "{notes:?}"
        );
        // All are within the last 4 KiB of each rank, which MPICH kills when the first of them has gone.
        let (sends, receives) = ends(&out);
        let all = (35 * 3, 35);
        assert!(
            (sends, receives) == all || mpi.compiler != USUAL.compiler,
            "{sends} sends, {receives} receives: {said}"
        );
        let left = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let left: Vec<String> = left.map(|name| name.to_string_lossy().into_owned()).collect();
        assert!(!left.iter().any(|name| name.starts_with("trace-prep-record")), "{left:?}");
    }
}
