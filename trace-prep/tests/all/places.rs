//! Output paths of the command: it never overwrites anything, and every error names the path.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;

use assert_cmd::Command;

use crate::shared;

/// Every command that writes, without its output flag; `app.ti`, `app.trg` exist.
const WRITERS: [&str; 12] = [
    "import app.ti -o",
    "expand calls.ti -o",
    "export app.ti --to goal -o",
    "export app.ti --to simgrid-ti -o",
    "export app.ti --to trg -o",
    "matrix app.ti -o",
    "matrix app.ti --svg",
    "scale app.ti --compute 2 -o",
    "slice app.ti --tasks 0..1 -o",
    "merge app.ti app.trg -o",
    "remap app.ti --permutation reverse -o",
    "generate waterfall:tasks=4,bytes=8 -o",
];

/// Exit status and stderr of the command in a folder.
fn run(folder: &Path, words: &str) -> (i32, String) {
    let mut command = Command::cargo_bin("trace-prep").unwrap();
    let output = command.current_dir(folder).args(words.split_whitespace()).output().unwrap();
    (output.status.code().unwrap(), String::from_utf8_lossy(&output.stderr).into_owned())
}

fn desk() -> tempfile::TempDir {
    let desk = tempfile::tempdir().unwrap();
    let trace = "0 init\n1 init\n0 send 1 7 100 6\n1 recv 0 7 100 6\n0 compute 5\n1 compute 5\n";
    fs::write(desk.path().join("app.ti"), trace).unwrap();
    fs::write(desk.path().join("calls.ti"), "0 init\n1 init\n0 barrier\n1 barrier\n").unwrap();
    assert_eq!(run(desk.path(), "import -q app.ti -o app.trg").0, 0);
    desk
}

/// Names in a folder.
fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn nothing_is_overwritten() {
    let desk = desk();
    let folder = desk.path();
    fs::write(folder.join("file"), "mine").unwrap();
    fs::create_dir(folder.join("folder")).unwrap();
    fs::write(folder.join("folder/file"), "mine").unwrap();
    let before = names(folder);
    let record = "record -o TARGET -- no-such-program";
    for words in WRITERS.map(|words| format!("{words} TARGET")).iter().map(String::as_str).chain([record]) {
        for (target, what) in [("file", "a file of this name exists"), ("folder", "a folder of this name exists")] {
            let (status, said) = run(folder, &words.replace("TARGET", target));
            assert_eq!(status, 2, "{words}: {said}");
            assert!(said.contains(&format!("{target}: {what}")), "{words}: {said}");
            assert!(said.contains("nothing is overwritten"), "{words}: {said}");
        }
    }
    assert_eq!(names(folder), before);
    for file in ["file", "folder/file"] {
        assert_eq!(fs::read_to_string(folder.join(file)).unwrap(), "mine");
    }
    assert_eq!(names(&folder.join("folder")), ["file"]);
}

#[test]
fn one_name_for_two_outputs_is_refused() {
    let desk = desk();
    let (status, said) = run(desk.path(), "matrix app.ti --svg out -o out");
    assert_eq!(status, 2, "{said}");
    assert!(said.contains("-o and --svg name the same file"), "{said}");
    assert!(!desk.path().join("out").exists());
}

#[test]
fn a_place_that_refuses_is_named() {
    let desk = desk();
    let folder = desk.path();
    let before = names(folder);
    for words in WRITERS.into_iter().chain(["record -o TARGET -- no-such-program"]) {
        for (target, what) in [
            ("no/such/x", "no/such/x: there is no folder no/such"),
            ("app.ti/x", "app.ti/x: there is no folder app.ti"),
        ] {
            let words = if words.contains("TARGET") { words.to_owned() } else { format!("{words} TARGET") };
            let (status, said) = run(folder, &words.replace("TARGET", target));
            assert_eq!(status, 2, "{words}: {said}");
            assert!(said.contains(what) && said.contains("help: "), "{words}: {said}");
        }
    }
    let (status, said) = run(folder, "record -o out --logs no/such/logs -- no-such-program");
    assert_eq!(status, 2, "{said}");
    assert!(said.contains("no/such/logs: cannot create"), "{said}");
    assert_eq!(names(folder), before);
}

#[test]
fn a_stdout_that_is_full_is_named() {
    if !Path::new("/dev/full").exists() {
        shared::skipped("no /dev/full");
        return;
    }
    let desk = desk();
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin("trace-prep"));
    let output = command.current_dir(desk.path()).args(["info", "app.ti", "-q"]).stdout(full).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("cannot write to stdout"), "{said}");
}
