//! DUMPI traces by way of the tool that prints them, which a script stands for here.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use trgen::trace::formats::{ReadOptions, read};

const TEXTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../trgen/tests/fixtures/dumpi");
const MAGIC: &[u8] = b"\xFF\xAA\xDDDUMPI";

/// A trace of four ranks whose "binary" files are the mark of the format and the text, and a tool that takes the mark off.
struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let place = Self { folder };
        fs::create_dir(place.path("trace")).unwrap();
        fs::create_dir(place.path("bin")).unwrap();
        for rank in 0..4 {
            let text = fs::read(format!("{TEXTS}/halves-{rank:04}.txt")).unwrap();
            fs::write(place.rank(rank), [MAGIC, &text].concat()).unwrap();
        }
        let meta = "hostname=node0\nnumprocs=4\nusername=nobody\nstartime=1\nfileprefix=halves\nversion=1\n";
        fs::write(place.path("trace/halves.meta"), meta).unwrap();
        let tool = "#!/bin/sh\n[ $# = 1 ] || exit 9\n\
                    if grep -q BROKEN \"$1\"; then echo 'reading' >&2; echo 'bad record at byte 77' >&2; exit 1; fi\n\
                    tail -c +9 \"$1\"\n";
        fs::write(place.path("bin/dumpi2ascii"), tool).unwrap();
        fs::set_permissions(place.path("bin/dumpi2ascii"), fs::Permissions::from_mode(0o755)).unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn rank(&self, rank: usize) -> PathBuf {
        self.path(&format!("trace/halves-{rank:04}.bin"))
    }

    /// The command, with the tool on the path, or without it.
    fn command(&self, tool: bool) -> assert_cmd::Command {
        let mut command = assert_cmd::Command::cargo_bin("trace-prep").unwrap();
        let path = std::env::var("PATH").unwrap_or_default();
        if tool {
            command.env("PATH", format!("{}:{path}", self.path("bin").display()));
        } else {
            command.env("PATH", self.path("trace"));
        }
        command.current_dir(self.folder.path());
        command
    }

    fn import(&self, input: &Path) -> PathBuf {
        let out = self.path("out.trg");
        self.command(true).args(["import", "-o"]).arg(&out).arg(input).assert().success();
        out
    }

    /// What an import of `input` is refused with.
    fn refusal(&self, input: &Path, tool: bool) -> String {
        let output = self.command(tool).args(["import", "-o", "no.trg"]).arg(input).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(!self.path("no.trg").exists());
        // The frame around a long line breaks it.
        let text = String::from_utf8(output.stderr).unwrap();
        text.split(|c: char| c.is_whitespace() || c == '│')
            .filter(|word| !word.is_empty())
            .collect::<Vec<_>>()
            .join(" ")
    }
}

#[test]
fn a_trace_is_the_same_by_meta_folder_rank_and_archive() {
    let place = Place::new();
    let expected = read(Path::new(TEXTS), &ReadOptions::default()).unwrap().program;
    let archive = place.path("trace.tar");
    let packed =
        std::process::Command::new("tar").arg("cf").arg(&archive).arg("-C").arg(place.path("")).arg("trace").status();
    assert!(packed.unwrap().success());
    for input in ["trace/halves.meta", "trace", "trace/halves-0002.bin", "trace.tar", "trace.tar#trace/halves.meta"] {
        let out = place.import(Path::new(input));
        assert!(read(&out, &ReadOptions::default()).unwrap().program == expected, "{input}");
        place.command(true).arg("check").arg(input).assert().success();
    }
    // Texts of some ranks beside the trace do not count.
    fs::copy(format!("{TEXTS}/halves-0000.txt"), place.path("trace/halves-0000.txt")).unwrap();
    let out = place.import(Path::new("trace"));
    assert!(read(&out, &ReadOptions::default()).unwrap().program == expected);
}

#[test]
fn a_failure_of_the_tool_names_rank_and_remedy() {
    let place = Place::new();
    fs::write(place.rank(2), [MAGIC, b"BROKEN"].concat()).unwrap();
    let text = place.refusal(Path::new("trace/halves.meta"), true);
    assert!(text.contains("halves-0002.bin: `dumpi2ascii` refuses rank 2: bad record at byte 77"), "{text}");
    let text = place.refusal(Path::new("trace"), false);
    assert!(text.contains("rank 0 of a DUMPI trace, which `dumpi2ascii` prints: No such file"), "{text}");
    assert!(text.contains("install the tools of DUMPI (sst-dumpi)"), "{text}");
}

#[test]
fn missing_ranks_are_named() {
    let place = Place::new();
    fs::remove_file(place.rank(3)).unwrap();
    let text = place.refusal(Path::new("trace/halves.meta"), true);
    assert!(text.contains("has 4 ranks, as its .meta file says, and there are files of 3"), "{text}");
    fs::copy(place.rank(2), place.rank(3)).unwrap();
    fs::remove_file(place.rank(1)).unwrap();
    let text = place.refusal(Path::new("trace/halves.meta"), true);
    assert!(text.contains("rank 1 has no lines"), "{text}");
    (0..4).for_each(|rank| drop(fs::remove_file(place.rank(rank))));
    let text = place.refusal(Path::new("trace/halves.meta"), true);
    assert!(text.contains("there are no files halves-0000.bin"), "{text}");
}
