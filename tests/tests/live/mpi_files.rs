//! Files of MPI programs: what some ranks write, others read, and the same bytes as MPICH writes.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::process::Command;

use tests::mpi::{Program, program, said};
use tests::shared::skipped;

const NETWORK: &str = "--network constant-delay:delay=1us,nodes=8";
/// \[bytes\] The part of the file whose contents do not depend on who comes first.
const SETTLED: usize = 4 * (3 * 16 * 7 + 1024 + 4096);

/// Runs the program, which must verify itself. Returns the digest.
fn verified(program: &Program, ranks: usize, words: &str) -> String {
    let output = program.run(&format!("-n {ranks} {NETWORK}"), words);
    let (out, errors) = said(&output);
    assert_eq!(out, "files VERIFIED\n", "{ranks} ranks, {words}: {errors}");
    errors.split("digest ").nth(1).and_then(|rest| rest.lines().next()).unwrap().to_owned()
}

#[test]
fn what_some_ranks_write_others_read() {
    let Some(program) = program("files.c") else { return };
    let mut digests = Vec::new();
    for writers in [1, 2, 4, 7] {
        digests.push(verified(&program, writers, "write data"));
        for readers in [1, 3, 8] {
            verified(&program, readers, &format!("read data {writers}"));
        }
    }
    let again: Vec<String> = [1, 2, 4, 7].map(|writers| verified(&program, writers, "write data")).into();
    assert_eq!(again, digests, "coordination repeats");
}

#[test]
fn calls_and_errors_of_files_are_as_the_standard_says() {
    let Some(program) = program("files.c") else { return };
    for ranks in [1, 2, 5] {
        verified(&program, ranks, "calls data");
        verified(&program, ranks, "errors data");
    }
    let left: Vec<_> = fs::read_dir(program.folder()).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(left, ["program"], "files that were deleted are gone, and nothing else is left");
}

#[test]
fn files_are_those_of_mpich() {
    let Some(program) = program("files.c") else { return };
    let mpich = |ranks: &str, words: &[&str]| {
        let mut command = Command::new("mpiexec.mpich");
        command.current_dir(program.folder()).args(["-n", ranks, "./program"]).args(words).env_remove("LD_PRELOAD");
        command.output().ok()
    };
    let Some(written) = mpich("4", &["write", "theirs"]) else {
        return skipped("no mpiexec of MPICH (Debian: mpich)");
    };
    assert!(written.status.success(), "{:?}", said(&written));
    verified(&program, 4, "write ours");
    let part = |name: &str| fs::read(program.folder().join(name)).unwrap()[..SETTLED].to_vec();
    assert!(part("ours") == part("theirs"), "the files differ");
    verified(&program, 2, "read theirs 4");
    let read = mpich("2", &["read", "ours", "4"]).unwrap();
    assert_eq!(said(&read).0, "files VERIFIED\n", "{}", said(&read).1);
}
