//! Records small programs under a real MPI library, where available.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use trgen::trace::formats::{ReadOptions, Trace, read, read_bytes};
use trgen::trace::program::{Event, TagFilter};

use crate::shared;

/// An MPI library, identified by its commands.
#[derive(Clone, PartialEq, Debug)]
struct Mpi {
    compiler: String,
    fortran: String,
    launcher: String,
    /// Its launcher rejects more ranks than processors unless told otherwise, and terminates the remaining ranks when
    /// one ends. Others (MPICH and its relatives) start any number of ranks, and kill them.
    is_open_mpi: bool,
}

impl Mpi {
    /// The library whose commands end in `suffix`: empty, or Debian's suffix for libraries installed side by side. Its
    /// launcher identifies it.
    fn named(suffix: &str) -> Option<Self> {
        let name = |command: &str| format!("{command}{suffix}");
        let version = Command::new(name("mpiexec")).arg("--version").output().ok()?;
        let version = String::from_utf8_lossy(&version.stdout).into_owned();
        path_of(&name("mpicc"))?;
        Some(Self {
            compiler: name("mpicc"),
            fortran: name("mpifort"),
            launcher: name("mpiexec"),
            is_open_mpi: ["Open MPI", "OpenRTE"].iter().any(|own| version.contains(own)),
        })
    }
}

/// The file of a command on the path, with links resolved.
fn path_of(command: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).find_map(|folder| folder.join(command).canonicalize().ok())
}

/// Every MPI library of this machine, once. If there is none, a message says so: the calling test then tests nothing.
fn libraries() -> Vec<Mpi> {
    let mut found: Vec<Mpi> = Vec::new();
    for mpi in ["", ".openmpi", ".mpich"].into_iter().filter_map(Mpi::named) {
        if found.iter().all(|known| path_of(&known.compiler) != path_of(&mpi.compiler)) {
            found.push(mpi);
        }
    }
    if found.is_empty() {
        shared::skipped("no mpicc and mpiexec on this machine");
    }
    found
}

/// Compiles one of our programs.
fn build(mpi: &Mpi, folder: &Path, name: &str, options: &[&str]) -> PathBuf {
    let built = compile(&mpi.compiler, folder, &format!("{name}.c"), options);
    built.unwrap_or_else(|said| panic!("{}: {said}", mpi.compiler))
}

/// Compiles one of the programs by this compiler of an MPI library; on failure returns the compiler's output.
fn compile(compiler: &str, folder: &Path, name: &str, options: &[&str]) -> Result<PathBuf, String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(name);
    let program = folder.join("program");
    let built = Command::new(compiler).arg("-o").arg(&program).arg(source).args(options).output();
    let built = built.map_err(|error| error.to_string())?;
    if built.status.success() { Ok(program) } else { Err(String::from_utf8_lossy(&built.stderr).into_owned()) }
}

/// `trace-prep record` of a program on 4 ranks.
fn command(mpi: &Mpi, out: &Path, program: &Path) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("trace-prep"));
    command.args(["record", "--mpicc", &mpi.compiler, "-o"]).arg(out).args(["--", &mpi.launcher]);
    command.args(mpi.is_open_mpi.then_some("--oversubscribe")).args(["-n", "4"]).arg(program);
    command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    // Ranks that are asked to end get enough time even on a busy machine.
    command.env("OMPI_MCA_odls_base_sigkill_timeout", "3");
    // Logs that are left behind go to a folder of the test.
    command.env("TMPDIR", out.parent().unwrap());
    command
}

fn recording(mpi: &Mpi, out: &Path, program: PathBuf) -> assert_cmd::Command {
    let mut command = assert_cmd::Command::from_std(command(mpi, out, &program));
    command.timeout(std::time::Duration::from_secs(120));
    command
}

/// Records a program that ends normally and checks the trace.
fn record(mpi: &Mpi, name: &str, options: &[&str]) -> Trace {
    let folder = tempfile::tempdir().unwrap();
    let program = build(mpi, folder.path(), name, options);
    checked(recording(mpi, &folder.path().join("out.trg"), program), folder.path()).0
}

/// Records, and checks the trace; returns the output of the recording too.
fn checked(mut recording: assert_cmd::Command, folder: &Path) -> (Trace, String) {
    let out = folder.join("out.trg");
    let said = recording.assert().success().get_output().stderr.clone();
    let mut check = assert_cmd::Command::cargo_bin("trace-prep").unwrap();
    check.arg("check").arg(&out).assert().success();
    (read(&out, &ReadOptions::default()).unwrap(), String::from_utf8_lossy(&said).into_owned())
}

/// Bytes that the collectives of all ranks send, in the order of their calls.
fn bytes_of_collectives(trace: &Trace) -> Vec<u64> {
    let mut sums = BTreeMap::new();
    for event in trace.program.tasks.iter().flatten() {
        if let Event::Send(send) | Event::Isend(send, _) = event
            && send.tag.is_collective()
        {
            *sums.entry((send.tag.context, send.tag.label)).or_default() += send.bytes;
        }
    }
    sums.into_values().collect()
}

fn count(trace: &Trace, is: impl Fn(&Event) -> bool) -> usize {
    trace.program.tasks.iter().flatten().filter(|event| is(event)).count()
}

#[test]
fn a_ring_is_recorded_message_by_message() {
    for mpi in &libraries() {
        let trace = record(mpi, "ring", &[]);
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
    for mpi in &libraries() {
        let trace = record(mpi, "stencil", &[]);
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
    for mpi in &libraries() {
        let entry_points = if mpi.is_open_mpi { "-lmpi_mpifh" } else { "-lmpichfort" };
        let trace = record(mpi, "fortran", &[entry_points]);
        let totals = trace.program.totals();
        assert_eq!((totals.point_to_point_messages, totals.point_to_point_bytes), (20, 20 * 400));
        assert_eq!(count(&trace, |event| matches!(event, Event::Wait(_))), 20);
        assert_eq!(trace.collectives["allreduce"], 4);
        // Two halves of two ranks, each an exchange.
        assert_eq!((totals.collective_messages, totals.collective_bytes), (4, 4 * 400));
    }
}

#[test]
fn what_can_be_followed_is_recorded_with_all_its_bytes() {
    for mpi in &libraries() {
        let trace = record(mpi, "followed", &[]);
        let totals = trace.program.totals();
        // Each of 4 ranks: one exchange of 80 bytes, four of 100, one of 20, four of 4, and 8 + 16 + 24.
        assert_eq!(totals.point_to_point_messages, 4 * (1 + 4 + 1 + 4 + 3));
        assert_eq!(totals.point_to_point_bytes, 4 * (80 + 400 + 20 + 16 + 48));
        let receives = |event: &Event| matches!(event, Event::Irecv(receive, _) if matches!(receive.tag, TagFilter::Exactly(tag) if tag.label == 20));
        assert_eq!(count(&trace, receives), 8, "what could not be called off has come");
        // The cancelled receive has no message.
        assert_eq!(count(&trace, |event| matches!(event, Event::Irecv(receive, _) if receive.from.is_none())), 0);
        for (operation, calls) in [("gatherv", 8), ("scatterv", 4), ("alltoallv", 8), ("reduce_scatter", 4)] {
            assert_eq!(trace.collectives.get(operation), Some(&calls), "{operation}");
        }
        let bytes = bytes_of_collectives(&trace);
        // To rank 2 twice, from rank 1; each its own twice; three blocks of 24 bytes of every rank.
        assert_eq!(bytes[..6], [4 + 8 + 16, 4 + 8 + 16, 4 + 12 + 16, 240, 240, 4 * 3 * 24]);
        assert!(bytes[6] > 0 && bytes[6] == bytes[7], "{bytes:?}");
        // A broadcast of 8 bytes on each of four communicators.
        assert_eq!(bytes[8..], [24; 4]);
    }
}

#[test]
fn threads_lose_no_message_of_each_other() {
    for mpi in &libraries() {
        let folder = tempfile::tempdir().unwrap();
        let program = build(mpi, folder.path(), "threads", &["-pthread"]);
        let (trace, said) = checked(recording(mpi, &folder.path().join("out.trg"), program), folder.path());
        if said.contains("no MPI_THREAD_MULTIPLE here") {
            shared::skipped(&format!("{} has no threads that call at once", mpi.compiler));
            continue;
        }
        let totals = trace.program.totals();
        assert_eq!((totals.point_to_point_messages, totals.point_to_point_bytes), (4 * 4 * 300, 4 * 4 * 300 * 4));
        for events in &trace.program.tasks {
            let mut sent: Vec<_> = events
                .iter()
                .filter_map(|event| if let Event::Isend(send, _) = event { Some(send.tag.label) } else { None })
                .collect();
            sent.sort_unstable();
            let all: Vec<_> = (0..4).flat_map(|thread| (0..300).map(move |i| 1000 * thread + i)).collect();
            assert_eq!(sent, all);
        }
    }
}

#[test]
fn what_the_library_refuses_is_not_recorded() {
    for mpi in &libraries() {
        let trace = record(mpi, "returns", &[]);
        let totals = trace.program.totals();
        assert_eq!((totals.point_to_point_messages, totals.point_to_point_bytes), (4 * 3, 4 * (8 + 40)));
        assert_eq!(totals.collective_messages, 0);
        assert_eq!(count(&trace, |event| matches!(event, Event::WaitAll(_))), 8);
    }
}

#[test]
fn what_fortran_calls_is_recorded_by_either_module() {
    let libraries = libraries();
    for (mpi, options) in libraries.iter().flat_map(|mpi| [(mpi, &[][..]), (mpi, &["-DF08"])]) {
        let folder = tempfile::tempdir().unwrap();
        // The wrapper may exist without its compiler, or its module for that compiler.
        let program = match compile(&mpi.fortran, folder.path(), "fortran.F90", options) {
            Ok(program) => program,
            Err(said) => {
                shared::skipped(&format!("{} cannot compile fortran.F90: {said}", mpi.fortran));
                continue;
            }
        };
        let (trace, _) = checked(recording(mpi, &folder.path().join("out.trg"), program), folder.path());
        let totals = trace.program.totals();
        assert_eq!(totals.point_to_point_messages, 4 * (1 + 3 + 1 + 1), "{options:?}");
        assert_eq!(totals.point_to_point_bytes, 4 * (32 + 48 + 8 + 4), "{options:?}");
        let bytes = bytes_of_collectives(&trace);
        // The blocks of a scatter pass through other ranks.
        assert_eq!(bytes[..], [4 + 8 + 16, 64, 120, 120, 12 * 8, 12], "{options:?}");
        let mut refused = recording(mpi, &folder.path().join("refused.trg"), folder.path().join("program"));
        is_refused(refused.arg("ibarrier"), "MPI_Ibarrier");
    }
}

/// The recording is rejected because of this call, and a rank reported it.
fn is_refused(recording: &mut assert_cmd::Command, call: &str) {
    let said = recording.assert().code(2).get_output().stderr.clone();
    let said = String::from_utf8_lossy(&said);
    let early = format!(" calls {call}, which is not followed: the trace will be refused");
    let times = said.matches(&early).count();
    // A launcher that ends a program by force may drop what its ranks have printed; the logs have it all the same.
    assert!(times == 1 || times == 0 && said.contains("the program ended with"), "{said}");
    assert!(said.contains(&format!("`{call}` is not followed")) && said.contains(" instead"), "{said}");
    assert!(said.contains("rank-0.txt:"), "{said}");
    assert!(!said.contains("does something else"), "{said}");
}

#[test]
fn what_cannot_be_followed_is_said_at_once_and_refused_by_name() {
    let kinds: [&[&str]; 6] = [
        &["MPI_Ibarrier", "MPI_Ireduce", "MPI_Ialltoallw"],
        &["MPI_Neighbor_alltoall", "MPI_Ineighbor_allgather"],
        &["MPI_Mprobe", "MPI_Improbe"],
        &[
            "MPI_Put",
            "MPI_Accumulate",
            "MPI_Fetch_and_op",
            "MPI_Get_accumulate",
            "MPI_Rget_accumulate",
            "MPI_Win_fence",
        ],
        &["MPI_Comm_create_group", "MPI_Comm_idup", "MPI_Intercomm_create"],
        &["MPI_Comm_spawn"],
    ];
    for mpi in &libraries() {
        let folder = tempfile::tempdir().unwrap();
        let program = build(mpi, folder.path(), "unfollowed", &[]);
        for calls in kinds {
            let mut recording = recording(mpi, &folder.path().join("out.trg"), program.clone());
            is_refused(recording.args(calls), calls[0]);
        }
    }
}

#[test]
fn calls_on_files_are_left_out_and_counted() {
    for mpi in &libraries() {
        let folder = tempfile::tempdir().unwrap();
        let program = build(mpi, folder.path(), "files", &[]);
        let mut recording = recording(mpi, &folder.path().join("out.trg"), program);
        recording.arg(folder.path().join("shared"));
        let (trace, said) = checked(recording, folder.path());
        let totals = trace.program.totals();
        assert_eq!((totals.point_to_point_messages, totals.point_to_point_bytes), (4, 4 * 4));
        assert_eq!(trace.collectives.values().sum::<u64>(), 4, "{:?}", trace.collectives);
        // Five calls of each rank.
        assert!(said.contains("calls on files, which are left out: 20"), "{said}");
    }
}

/// Compiles the table of calls against the declarations of the library, of which MPI 4 has nearly all; the reader knows
/// all of them.
#[test]
fn calls_that_are_passed_on_have_their_arguments_and_are_known_to_the_reader() {
    for mpi in &libraries() {
        let folder = tempfile::tempdir().unwrap();
        let program = build(mpi, folder.path(), "arguments", &[]);
        let calls = String::from_utf8(Command::new(program).output().unwrap().stdout).unwrap();
        assert!(calls.lines().count() > 250, "{calls}");
        for call in calls.lines() {
            let log = format!("MPI_Init:-:0:0:1\n{call}:2:3\nMPI_Finalize:4:-\n");
            match read_bytes("rank-0.txt", log.as_bytes(), &ReadOptions::default()) {
                Ok(trace) => assert!(trace.warnings.iter().any(|warning| warning.contains("left out")), "{call}"),
                Err(error) => assert!(error.to_string().contains(&format!("`{call}` is not followed, ")), "{error}"),
            }
        }
    }
}

#[test]
fn a_killed_rank_leaves_a_log_that_can_be_read() {
    for mpi in &libraries() {
        let folder = tempfile::tempdir().unwrap();
        let program = build(mpi, folder.path(), "killed", &[]);
        let out = folder.path().join("out.trg");
        let said = recording(mpi, &out, program).assert().code(1).get_output().stderr.clone();
        assert!(String::from_utf8_lossy(&said).contains("what its ranks recorded until then is kept"));
        let trace = read(&out, &ReadOptions::default()).unwrap();
        assert_eq!(trace.program.tasks.len(), 4);
        let sends = trace.program.tasks[1].iter().filter(|event| matches!(event, Event::Send(_))).count();
        assert!(trace.notes.iter().any(|note| note.contains("not complete: the recorded program ended with")));
        // Only the contents of the buffer of 4 KiB are lost.
        assert!((150..=200).contains(&sends), "{sends} of 200 sends");
        // The first calls of all ranks are an executable trace.
        let (part, check) = (folder.path().join("part.trg"), |path: &Path| {
            let mut command = assert_cmd::Command::cargo_bin("trace-prep").unwrap();
            command.arg("check").arg(path).output().unwrap().status.code()
        });
        let mut slice = assert_cmd::Command::cargo_bin("trace-prep").unwrap();
        slice.args(["slice", "--events", "200", "-o"]).arg(&part).arg(&out).assert().success();
        assert_eq!(check(&part), Some(0));
    }
}

/// Sends of rank 0 and receives of rank 3 in a trace.
fn ends(out: &Path) -> (usize, usize) {
    let trace = read(out, &ReadOptions::default()).unwrap();
    let of = |task: usize, is: fn(&Event) -> bool| trace.program.tasks[task].iter().filter(|event| is(event)).count();
    (of(0, |event| matches!(event, Event::Send(_))), of(3, |event| matches!(event, Event::Recv(_))))
}

#[test]
fn a_program_that_ends_itself_leaves_all_that_it_did() {
    let libraries = libraries();
    for (mpi, how) in libraries.iter().flat_map(|mpi| [(mpi, "abort"), (mpi, "exit")]) {
        let folder = tempfile::tempdir().unwrap();
        let program = build(mpi, folder.path(), "endless", &[]);
        let out = folder.path().join("out.trg");
        recording(mpi, &out, program).arg(how).assert().code(1);
        let (sends, receives) = ends(&out);
        assert_eq!(sends, 40 * 3, "{mpi:?} {how}");
        // A rank that is killed loses the contents of its buffer of 4 KiB; one that is asked to end writes them.
        let least = if mpi.is_open_mpi { 39 } else { 0 };
        assert!((least..=40).contains(&receives), "{mpi:?} {how}: {receives} of 40 receives");
    }
}

#[test]
fn a_rank_that_dies_leaves_all_that_it_did() {
    let libraries = libraries();
    for (mpi, how) in libraries.iter().flat_map(|mpi| ["abort", "fault", "exit"].map(|how| (mpi, how))) {
        let folder = tempfile::tempdir().unwrap();
        let program = build(mpi, folder.path(), "dies", &[]);
        let out = folder.path().join("out.trg");
        let said = recording(mpi, &out, program).arg(how).assert().code(1).get_output().stderr.clone();
        let said = String::from_utf8_lossy(&said);
        assert!(said.contains("killed (SIGKILL)"), "{mpi:?} {how}: {said}");
        // Ten rounds, all in the buffer of 4 KiB.
        let trace = read(&out, &ReadOptions::default()).unwrap();
        let sends = trace.program.tasks[1].iter().filter(|event| matches!(event, Event::Send(_))).count();
        assert_eq!(sends, 10, "{mpi:?} {how}");
    }
}

#[cfg(unix)]
#[test]
fn an_interrupted_recording_is_kept_and_said_to_be_incomplete() {
    use std::io::{BufRead, BufReader};
    use std::os::unix::process::CommandExt;
    use std::process::Stdio;

    for mpi in &libraries() {
        let folder = tempfile::tempdir().unwrap();
        let program = build(mpi, folder.path(), "endless", &[]);
        let out = folder.path().join("out.trg");
        let mut command = command(mpi, &out, &program);
        // As at a terminal: an interrupt reaches the whole group.
        command.process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        // Stays open: a launcher that cannot write any more ends differently.
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
        // All are within the last 4 KiB of each rank; MPICH kills the ranks when the first of them has gone.
        let (sends, receives) = ends(&out);
        let all = (35 * 3, 35);
        assert!((sends, receives) == all || !mpi.is_open_mpi, "{sends} sends, {receives} receives: {said}");
        let left = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let left: Vec<String> = left.map(|name| name.to_string_lossy().into_owned()).collect();
        assert!(!left.iter().any(|name| name.starts_with("trace-prep-record")), "{left:?}");
    }
}
