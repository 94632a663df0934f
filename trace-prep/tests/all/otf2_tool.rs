//! Error messages when an OTF2 archive cannot be printed, or its text cannot be read; a script replaces the tool.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use tempfile::TempDir;

/// Prints the text after the magic number in the file, unless it is BROKEN.
const TOOL: &str = "#!/bin/sh\n[ \"$1 $2\" = '-A --' ] || exit 9\n\
                    if grep -q BROKEN \"$3\"; then echo 'bad chunk 3' >&2; exit 1; fi\n\
                    tail -c +7 \"$3\"\n";

struct Place(TempDir);

impl Place {
    /// An archive whose text is `text`.
    fn new(text: &str) -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        fs::create_dir(place.path("bin")).unwrap();
        fs::write(place.path("bin/otf2-print"), TOOL).unwrap();
        fs::set_permissions(place.path("bin/otf2-print"), fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(place.path("run.otf2"), format!("\x03BOTF2{text}")).unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The import of the archive, with the tool on the path.
    fn import(&self) -> assert_cmd::Command {
        let mut command = assert_cmd::Command::cargo_bin("trace-prep").unwrap();
        let path = std::env::var("PATH").unwrap_or_default();
        command.current_dir(self.0.path()).env("PATH", format!("{}:{path}", self.path("bin").display()));
        command.args(["import", "-o", "no.trg", "run.otf2"]);
        command
    }
}

/// The message of a command that fails with this exit code.
fn complaint(command: &mut assert_cmd::Command, exit: i32) -> String {
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(exit), "{text}");
    // The frame breaks long lines.
    let words = text.split(|c: char| c.is_whitespace() || c == '│').filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn each_failure_has_its_own_remedy() {
    let place = Place::new("BROKEN");
    let text = complaint(&mut place.import(), 2);
    assert!(text.contains("run.otf2: `otf2-print -A` refuses it: bad chunk 3"), "{text}");
    assert!(text.contains("print it by hand") && !text.contains("install"), "{text}");
    let text = complaint(place.import().env("PATH", place.path("")), 2);
    assert!(text.contains("`otf2-print`, which prints an OTF2 archive, cannot be run: No such file"), "{text}");
    assert!(text.contains("install the tools of OTF2"), "{text}");
    let text = complaint(place.import().env("TMPDIR", place.path("nowhere")), 1);
    assert!(text.contains("the scratch files for `otf2-print` cannot be written: No such file"), "{text}");
    assert!(text.contains("set TMPDIR") && !text.contains("install"), "{text}");
}

#[test]
fn an_error_in_the_text_is_told_by_the_archive() {
    let mut text = "=== OTF2-PRINT ===\n=== Global Definitions ===\n".to_owned();
    text += "CLOCK_PROPERTIES        Ticks per Seconds: 1000, Global Offset: 0, Length: 1, Date: UNDEFINED\n";
    text += "LOCATION          5  Name: \"T\" <12>, Type: CPU_THREAD, # Events: 60, Group: \"MPI Rank 0\" <0>\n";
    text += "=== Events ===\nEvent     Location  Timestamp  Attributes\n";
    text += "MPI_SEND 5 99999999999999999999 Receiver: 0 (\"T\" <5>), Communicator: \"\" <1>, Tag: 7, Length: 4\n";
    let said = complaint(&mut Place::new(&text).import(), 2);
    assert!(said.contains("run.otf2, as `otf2-print` prints it, line 7: "), "{said}");
    assert!(said.contains("to see the text, run `otf2-print -A ARCHIVE.otf2`"), "{said}");
    // An error that does not concern the text.
    let said = complaint(Place::new(&text).import().args(["--flop-rate", "0"]), 2);
    assert!(said.contains("run.otf2: ") && !said.contains("otf2-print"), "{said}");
    // The tool prints nothing.
    let said = complaint(&mut Place::new("").import(), 2);
    assert!(said.contains("run.otf2, as `otf2-print` prints it: is empty"), "{said}");
}
