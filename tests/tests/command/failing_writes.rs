//! A disk that is full, and memory that is used up, at any moment: what a command keeps is whole or absent, and a
//! sweep goes on where
//! it was stopped.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tests::command::{fsin, run};
use tests::shared::{skipped, workspace};

/// The library that makes calls fail, if there is a compiler of C.
fn library(folder: &Path) -> Option<PathBuf> {
    let library = folder.join("fails.so");
    let source = workspace().join("tests/programs/fails.c");
    let compiled =
        Command::new("cc").args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(source).arg("-ldl").output();
    match compiled {
        Ok(output) if output.status.success() => Some(library),
        Ok(output) => panic!("{}", String::from_utf8_lossy(&output.stderr)),
        Err(_) => {
            skipped("no cc");
            None
        }
    }
}

fn failing(folder: &Path, library: &Path, line: &str, call: usize, memory: bool) -> Output {
    let mut command = fsin(folder);
    command.args(line.split_whitespace()).env("LD_PRELOAD", library).env("FAILS", call.to_string());
    if memory {
        command.env("FAILS_ALLOCATION", "1");
    }
    command.output().unwrap()
}

/// What a command that keeps results leaves, and how that is checked.
struct Kept {
    line: &'static str,
    /// The file or folder.
    name: &'static str,
    /// A command that reads it.
    read: &'static str,
}

const KEPT: [Kept; 5] = [
    Kept { line: "run --topology graph:net.txt --cycles 300 -q -o kept", name: "kept", read: "rerun kept -q" },
    Kept {
        line: "run --kernel all-to-all:tasks=8,bytes=64 --topology torus:8 --link-loads -q -o kept",
        name: "kept",
        read: "rerun kept -q",
    },
    Kept { line: "config --topology torus:4x4 -o kept", name: "kept", read: "run kept --cycles 10 -q" },
    Kept { line: "topology torus:4x4 --format dot -o kept", name: "kept", read: "topology graph:kept" },
    Kept {
        line: "routes --topology torus:4x4 --routing dor -o kept",
        name: "kept",
        read: "routes --topology torus:4x4 --routes kept",
    },
];

#[test]
fn what_is_kept_is_whole_or_absent_whichever_write_fails() {
    let tools = tempfile::tempdir().unwrap();
    let Some(library) = library(tools.path()) else { return };
    for Kept { line, name, read } in KEPT {
        for call in 1.. {
            let folder = tempfile::tempdir().unwrap();
            fs::write(folder.path().join("net.txt"), "a b\nb c\nc a\n").unwrap();
            let output = failing(folder.path(), &library, line, call, false);
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            if output.status.success() {
                assert!(call > 1 && folder.path().join(name).exists(), "{line}: call {call}");
                assert!(run(folder.path(), read).status.success(), "{line}: call {call}");
                // No call of that number.
                break;
            }
            assert!(matches!(output.status.code(), Some(1 | 2)), "{line}: call {call}: {:?}: {said}", output.status);
            assert!(said.contains("No space left") && !said.contains("panicked"), "{line}: call {call}: {said}");
            assert!(!folder.path().join(name).exists(), "{line}: call {call} leaves a part: {said}");
            assert!(call < 200, "{line}: it never succeeds");
        }
    }
}

#[test]
fn a_sweep_goes_on_whichever_write_failed() {
    let tools = tempfile::tempdir().unwrap();
    let Some(library) = library(tools.path()) else { return };
    let line = "sweep --topology graph:net.txt --load 0.1,0.2 --cycles 300 -j 1 -q -o r";
    let expected = {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("net.txt"), "a b\nb c\nc a\n").unwrap();
        assert!(run(folder.path(), line).status.success());
        fs::read(folder.path().join("r/results.csv")).unwrap()
    };
    for call in (1..60).step_by(3) {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("net.txt"), "a b\nb c\nc a\n").unwrap();
        let output = failing(folder.path(), &library, line, call, false);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!said.contains("panicked"), "call {call}: {said}");
        let again = run(folder.path(), &format!("{line} --resume"));
        assert!(again.status.success(), "call {call}: {said}{}", String::from_utf8_lossy(&again.stderr));
        assert_eq!(fs::read(folder.path().join("r/results.csv")).unwrap(), expected, "call {call}");
        assert!(run(folder.path(), "rerun r -q").status.success(), "call {call}");
    }
}

#[test]
fn what_is_kept_is_whole_or_absent_whichever_allocation_fails() {
    let tools = tempfile::tempdir().unwrap();
    let Some(library) = library(tools.path()) else { return };
    let Kept { line, name, read } = &KEPT[0];
    for call in [1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233] {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("net.txt"), "a b\nb c\nc a\n").unwrap();
        let output = failing(folder.path(), &library, line, call, true);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let is_there = folder.path().join(name).exists();
        assert!(output.status.success() == is_there || !is_there, "{line}: allocation {call}: {said}");
        if is_there {
            assert!(run(folder.path(), read).status.success(), "{line}: allocation {call}: {said}");
        }
    }
}
