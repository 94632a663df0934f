//! DUMPI traces through the tool that prints them, replaced by a script here.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use trgen::trace::formats::{ReadOptions, read};

const TEXTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../trgen/tests/fixtures/dumpi");
const MAGIC: &[u8] = b"\xFF\xAA\xDDDUMPI";

/// A trace of four ranks whose "binary" files are the magic number followed by the text, and a tool that removes the
/// magic number.
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

    /// The search path for programs: the tool first.
    fn command_path(&self) -> String {
        format!("{}:{}", self.path("bin").display(), std::env::var("PATH").unwrap_or_default())
    }

    /// The command, with the tool on the path, or without it.
    fn command(&self, tool: bool) -> assert_cmd::Command {
        let mut command = assert_cmd::Command::cargo_bin("trace-prep").unwrap();
        if tool {
            command.env("PATH", self.command_path());
        } else {
            command.env("PATH", self.path("trace"));
        }
        command.current_dir(self.folder.path());
        command
    }

    fn import(&self, input: &Path) -> PathBuf {
        let out = self.path("out.trg");
        // The output of the previous import: nothing is overwritten.
        let _ = std::fs::remove_file(&out);
        self.command(true).args(["import", "-o"]).arg(&out).arg(input).assert().success();
        out
    }

    /// The error message of an import of `input`.
    fn refusal(&self, input: &Path, tool: bool) -> String {
        self.complaint(self.command(tool).args(["import", "-o", "no.trg"]).arg(input), 2)
    }

    /// The message of a command that fails with this exit code.
    fn complaint(&self, command: &mut assert_cmd::Command, exit: i32) -> String {
        let output = command.output().unwrap();
        // The frame breaks long lines.
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(exit), "{text}");
        assert!(!self.path("no.trg").exists());
        text.split(|c: char| c.is_whitespace() || c == '│')
            .filter(|word| !word.is_empty())
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// Replaces text in the tool's output for a rank.
    fn alter(&self, rank: usize, from: &str, to: &str) {
        let text = fs::read_to_string(format!("{TEXTS}/halves-{rank:04}.txt")).unwrap();
        assert!(text.contains(from));
        fs::write(self.rank(rank), [MAGIC, text.replace(from, to).as_bytes()].concat()).unwrap();
    }

    fn pack(&self) {
        let mut tar = std::process::Command::new("tar");
        let packed = tar.arg("cf").arg(self.path("trace.tar")).arg("-C").arg(self.path("")).arg("trace").status();
        assert!(packed.unwrap().success());
    }
}

#[test]
fn a_trace_is_the_same_by_meta_folder_rank_and_archive() {
    let place = Place::new();
    let expected = read(Path::new(TEXTS), &ReadOptions::default()).unwrap().program;
    place.pack();
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
    assert!(text.contains("print it by hand") && !text.contains("install"), "{text}");
    let text = place.refusal(Path::new("trace"), false);
    assert!(
        text.contains("`dumpi2ascii`, which prints rank 0 of a DUMPI trace, cannot be run: No such file"),
        "{text}"
    );
    assert!(text.contains("install the tools of DUMPI (sst-dumpi)"), "{text}");
    // It exists but is not executable.
    fs::set_permissions(place.path("bin/dumpi2ascii"), fs::Permissions::from_mode(0o644)).unwrap();
    let mut command = place.command(true);
    command.env("PATH", place.path("bin")).args(["import", "-o", "no.trg", "trace"]);
    let text = place.complaint(&mut command, 2);
    assert!(text.contains("cannot be run: Permission denied"), "{text}");
    assert!(!text.contains("install"), "{text}");
}

#[test]
fn a_scratch_folder_that_cannot_be_used_is_no_fault_of_tool_or_rank() {
    let place = Place::new();
    place.pack();
    for input in ["trace/halves.meta", "trace.tar"] {
        let mut command = place.command(true);
        command.env("TMPDIR", place.path("nowhere")).args(["import", "-o", "no.trg", input]);
        // A full disk: no file may grow beyond a block.
        let mut full = assert_cmd::Command::new("sh");
        full.current_dir(place.path("")).env("PATH", place.command_path()).arg("-c");
        full.arg("trap '' XFSZ; ulimit -f 1; exec \"$0\" import -o no.trg \"$1\"");
        full.arg(assert_cmd::cargo::cargo_bin("trace-prep")).arg(input);
        for (command, expected) in [(&mut command, "No such file"), (&mut full, "File too large")] {
            let text = place.complaint(command, 1);
            let what = format!("the scratch files for `dumpi2ascii` cannot be written: {expected}");
            assert!(text.contains(&what), "{text}");
            assert!(text.contains("set TMPDIR"), "{text}");
            assert!(!text.contains("rank 0") && !text.contains("install"), "{text}");
        }
    }
}

#[test]
fn an_error_in_the_text_is_told_by_the_file_that_was_printed() {
    let place = Place::new();
    place.alter(2, "MPI_Barrier", "MPI_Sarrier");
    place.pack();
    for (input, file) in [
        ("trace/halves.meta", "trace/halves-0002.bin"),
        ("trace", "trace/halves-0002.bin"),
        ("trace.tar", "trace.tar#trace/halves-0002.bin"),
    ] {
        let text = place.refusal(Path::new(input), true);
        let expected = format!("{file}, as `dumpi2ascii` prints it, line 81: unknown call `MPI_Sarrier`");
        assert!(text.contains(&expected), "{text}");
        assert!(!text.contains(".txt"), "{text}");
    }
    // A fault of no single file: the tool prints nothing for a rank.
    fs::write(place.rank(2), MAGIC).unwrap();
    let text = place.refusal(Path::new("trace"), true);
    assert!(text.contains("trace, as `dumpi2ascii` prints it: rank 2 has no lines, but rank 3 has"), "{text}");
    assert!(text.contains("run `dumpi2ascii NAME-0000.bin`"), "{text}");
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

#[test]
fn a_folder_of_one_rank_is_not_the_trace_beside_it() {
    let place = Place::new();
    let calls = ["MPI_Init entering", "MPI_Init returning", "MPI_Finalize entering", "MPI_Finalize returning"];
    let calls = calls.map(|call| format!("{call} at walltime 1.5, cputime 1.0 seconds in thread 0.\n")).concat();
    let text = format!("version=1.1.0\nstarttime=x\nhostname=a\nusername=b\nmeshdim=0\nmeshsize=[]\n{calls}");
    for file in ["p/t-0000.bin", "p/t-0001.bin", "p/sub/t-0000.bin", "q/sub/u-0000.bin"] {
        fs::create_dir_all(place.path(file).parent().unwrap()).unwrap();
        fs::write(place.path(file), [MAGIC, text.as_bytes()].concat()).unwrap();
    }
    for (input, tasks) in [("p/t-0001.bin", 2), ("p/sub", 1), ("p/sub/t-0000.bin", 1), ("q/sub", 1), ("q", 1)] {
        let out = place.import(Path::new(input));
        assert_eq!(read(&out, &ReadOptions::default()).unwrap().program.tasks.len(), tasks, "{input}");
    }
    fs::remove_file(place.path("p/sub/t-0000.bin")).unwrap();
    fs::write(place.path("p/sub/t.meta"), "hostname=node0\nnumprocs=2\n").unwrap();
    let text = place.refusal(Path::new("p/sub"), true);
    assert!(text.contains("p/sub: there are no files t-0000.bin and so on"), "{text}");
}
