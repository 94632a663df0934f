//! What MPI fixes at initialisation, attributes and checks; data on their way; what outlives ranks; and command lines of
//! other launchers.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::process::Command;
use std::time::{Duration, Instant};

use tests::mpi::{Program, program, program_with, said};
use tests::shared::workspace;

const NETWORK: &str = "--network constant-delay:delay=1us";

/// Runs a part on so many ranks, which must verify itself; returns its output before that, and the digest.
fn verified(program: &Program, flags: &str, words: &str) -> (String, String) {
    let output = program.run(&format!("{flags} {NETWORK}"), words);
    let (out, errors) = said(&output);
    let verified = format!("{} VERIFIED\n", words.split(' ').next().unwrap());
    assert!(output.status.success() && out.contains(&verified), "{flags} {words}: {out}{errors}");
    let digest = errors.split("digest ").nth(1).and_then(|rest| rest.lines().next()).unwrap_or_default();
    (out.replace(&verified, ""), digest.to_owned())
}

#[test]
fn l8_operations_match_by_their_initialisation() {
    let Some(program) = program("moments.c") else { return };
    for word in ["partitioned", "persistent"] {
        for flags in ["-n 2", "-n 3", "-n 5", "-n 4 --rendezvous 0", "-n 4 --sync deterministic", "-n 3 --buffered 0"] {
            assert_eq!(verified(&program, flags, word).0, "", "{flags} {word}");
        }
    }
}

#[test]
fn l8_attributes_have_kinds_languages_and_an_order() {
    let Some(program) = program("moments.c") else { return };
    assert_eq!(verified(&program, "-n 2", "attributes").0, "");
    let output = program.run(&format!("-n 1 {NETWORK}"), "self");
    assert_eq!(said(&output).0, "self VERIFIED\n4 1 0 2 3 ");
}

#[test]
fn l8_attributes_pass_between_fortran_and_c() {
    let folder = tempfile::tempdir().unwrap();
    let object = folder.path().join("languages.o");
    let source = workspace().join("tests/programs/mpi/languages.c");
    let built = Command::new("mpicc.mpich").args(["-w", "-c", "-o"]).arg(&object).arg(source).status();
    if !built.is_ok_and(|built| built.success()) {
        return tests::shared::skipped("no compiler of MPICH (Debian: libmpich-dev)");
    }
    let Some(program) = program_with("languages.f90", &[object.display().to_string()]) else { return };
    for ranks in [1, 2, 3] {
        assert_eq!(verified(&program, &format!("-n {ranks}"), "languages").0, "");
    }
}

#[test]
fn l8_types_are_checked_where_they_are_used_and_info_is_there_at_any_time() {
    let Some(program) = program("moments.c") else { return };
    for word in ["types", "early"] {
        assert_eq!(verified(&program, "-n 2", word).0, "", "{word}");
    }
}

#[test]
fn data_of_any_length_arrive_by_either_way_with_one_digest() {
    let Some(program) = program("moments.c") else { return };
    for flags in ["-n 3", "-n 4 --rendezvous 10000", "-n 2 --collectives basic"] {
        let (_, shared) = verified(&program, flags, "lengths");
        // With a capture the data pass through the endpoint.
        let (_, carried) = verified(&program, &format!("{flags} --pcap here.pcapng"), "lengths");
        assert_eq!((shared.is_empty(), &shared), (false, &carried), "{flags}");
        std::fs::remove_file(program.folder().join("here.pcapng")).unwrap();
    }
}

#[test]
fn l8_more_than_two_gibibytes_are_on_their_way() {
    let Some(program) = program_with("leaves.c", &["-pthread".to_owned()]) else { return };
    let needed = 5_u64 << 30;
    let available = std::fs::read_to_string("/proc/meminfo").ok().and_then(|all| {
        let line =
            all.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?.trim().strip_suffix(" kB")?.parse::<u64>();
        line.ok().map(|kib| kib << 10)
    });
    if available.is_none_or(|available| available < needed) {
        return tests::shared::skipped("5 GiB of memory are not free");
    }
    verified(&program, "-n 2", "flight 6 400000000");
}

#[test]
fn l8_a_limit_of_what_is_on_its_way_is_named() {
    let Some(program) = program_with("leaves.c", &["-pthread".to_owned()]) else { return };
    // No rank may hold as much: the first message that exceeds it is refused, not the process ended by the system.
    let mut command = program
        .shell(&format!("-n 2 {NETWORK}"), "FSIN_MPI_SHARED=1000000:${FSIN_MPI_SHARED#*:} exec \"$0\" flight 4 400000");
    command.arg(program.path());
    let output = command.output().unwrap();
    let (_, errors) = said(&output);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(
        errors.contains("messages on their way hold 800000 bytes") && errors.contains("memory for 1000000"),
        "{errors}"
    );
    assert!(!errors.contains("signal 13"), "{errors}");
}

#[test]
fn a_thread_that_polls_stops_nobody_for_ever() {
    let Some(program) = program_with("leaves.c", &["-pthread".to_owned()]) else { return };
    let begin = Instant::now();
    let output = program.run(&format!("-n 2 --thread-limit 0.5 {NETWORK}"), "poll");
    let (out, errors) = said(&output);
    assert!(output.status.success() && out == "poll VERIFIED\n", "{out}{errors}");
    assert!(errors.contains("the run need not repeat") && errors.contains("--thread-limit"), "{errors}");
    assert!(begin.elapsed() < Duration::from_secs(120));
}

#[test]
fn processes_that_outlive_ranks_are_ended_and_named() {
    let Some(program) = program_with("leaves.c", &["-pthread".to_owned()]) else { return };
    for flags in ["-n 2", "-n 2 --label"] {
        let begin = Instant::now();
        let output = program.run(&format!("{flags} {NETWORK}"), "child");
        let (out, errors) = said(&output);
        assert!(output.status.success() && out.contains("child VERIFIED"), "{out}{errors}");
        let (_, after) = errors.split_once("ranks had started the process ").unwrap_or_else(|| panic!("{errors}"));
        let (number, name) = after.split_once(' ').unwrap();
        assert!(name.starts_with("(sleep), which outlived them"), "{errors}");
        // An ended process remains until its parent has collected its status.
        let state = || std::fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
        let runs = || state().rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'));
        while runs() && begin.elapsed() < Duration::from_secs(120) {
            std::thread::sleep(Duration::from_millis(20));
        }
        assert!(!runs(), "{number} still runs");
        assert!(begin.elapsed() < Duration::from_secs(120));
    }
}

#[test]
fn the_exit_status_tells_the_signal() {
    let Some(program) = program_with("leaves.c", &["-pthread".to_owned()]) else { return };
    for (signal, code) in [(15, 143), (1, 129), (9, 137)] {
        let output = program.run(&format!("-n 2 {NETWORK}"), &format!("signal {signal}"));
        assert_eq!(output.status.code(), Some(code), "{}", said(&output).1);
    }
    // The same of the command itself.
    for (name, code) in [("TERM", 143), ("HUP", 129), ("INT", 130)] {
        let mut command = program.shell(&format!("-q -n 2 {NETWORK}"), "exec sleep 3600");
        let mut running = command.spawn().unwrap();
        std::thread::sleep(Duration::from_secs(3));
        let told = Command::new("kill").args([format!("-{name}"), running.id().to_string()]).status().unwrap();
        assert!(told.success());
        assert_eq!(running.wait().unwrap().code(), Some(code), "{name}");
    }
}

#[test]
fn command_lines_of_other_launchers_are_read_or_refused_with_advice() {
    let Some(program) = program_with("leaves.c", &["-pthread".to_owned()]) else { return };
    let own = program.path().display();
    let run = |words: String| {
        let mut command = tests::command::fsin(program.folder());
        command.env("FSIN_MPI_LIBRARY", tests::command::mpi_library()).args(words.split_whitespace());
        command.output().unwrap()
    };
    let output = run(format!("mpirun -np 2 {NETWORK} {own} part a -np 7 : -np 3 {own} part b : {own} part c"));
    let (out, errors) = said(&output);
    assert!(output.status.success(), "{errors}");
    let mut lines: Vec<&str> = out.lines().filter(|line| line.starts_with("rank")).collect();
    lines.sort_unstable();
    let wanted = [
        "0 of 6, part 0, a",
        "1 of 6, part 0, a",
        "2 of 6, part 1, b",
        "3 of 6, part 1, b",
        "4 of 6, part 1, b",
        "5 of 6, part 2, c",
    ];
    assert_eq!(lines, wanted.map(|rest| format!("rank {rest}")));
    for (flag, word) in
        [("--hostfile hosts", "--placement"), ("-hosts a,b", "--launcher"), ("-ppn 2", "--ranks-per-node")]
    {
        let output = run(format!("mpirun -n 2 {flag} {own}"));
        let (_, errors) = said(&output);
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert!(errors.contains(word), "{flag}: {errors}");
    }
}
