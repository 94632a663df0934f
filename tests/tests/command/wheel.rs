//! The Python package: its wheel is built, checked by mypy and tested in an environment of its own, against the command under
//! test. `adapters/python/tests` holds the tests.

use std::fs::read_to_string;
use std::process::Command;

use tests::command::{binary, mpi_library};
use tests::pages::python_blocks;
use tests::shared::{aloud, skipped, workspace};

/// Exit status of the script where something that it needs is missing.
const MISSING: i32 = 77;

#[test]
fn the_wheel_does_what_the_command_does() {
    let script = workspace().join("adapters/python/tests/run");
    // The command of the package is the interpreter, beside which no library lies.
    let mut tests = Command::new("bash");
    tests.arg(script).env("FSIN", binary()).env("FSIN_MPI_LIBRARY", mpi_library());
    let output = tests.output().expect("there is a shell");
    let [printed, told] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    if output.status.code() == Some(MISSING) {
        return skipped(printed.lines().last().unwrap_or("something is missing"));
    }
    assert!(output.status.success(), "{printed}\n{told}");
    // What single tests of it skip.
    told.lines()
        .chain(printed.lines())
        .filter(|line| line.starts_with("SKIPPED"))
        .for_each(|line| aloud(&format!("{line}\n")));
    run_the_page();
}

/// The blocks of the page run one after another in one program.
fn run_the_page() {
    let page = workspace().join("docs/book/src/howto/python.md");
    let blocks = python_blocks(&read_to_string(page).expect("the page"));
    assert!(blocks.len() > 5, "{blocks:#?}");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let interpreter = workspace().join("target/python/environment/bin/python");
    let output = Command::new(interpreter).current_dir(folder.path()).args(["-c", &blocks.join("\n")]).output();
    let output = output.expect("the environment that the script made");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(printed.contains("\ntopology\ndid you mean `torus`"), "{printed}");
    assert!(folder.path().join("latency.svg").is_file());
}
