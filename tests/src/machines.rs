//! Virtual machines of the tests, run by `fsin machines`.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Lines};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::OnceLock;

use serde_json::Value;

use crate::command::{binary, fsin, qemu_plugin};
use crate::shared::{skipped, workspace};

/// What the image is made of; without MPICH the machines run everything but MPI programs.
const NEEDED: [&str; 5] = ["qemu-system-x86_64", "busybox", "cpio", "gcc", "dpkg-deb"];

fn found(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// `fsin machines` in a folder.
#[must_use]
pub fn machines(folder: &Path, words: &[&str]) -> Command {
    let mut command = fsin(folder);
    command.env("FSIN_QEMU_PLUGIN", qemu_plugin()).arg("machines").args(words);
    command
}

/// What machines boot: the folder that `FSIN_MACHINES` names, or one beside the command under test, which is made once,
/// with CG and IS of the test programs where there is MPICH. `None`, aloud, where something is missing.
///
/// # Panics
/// When it cannot be made.
#[must_use]
pub fn image() -> Option<&'static Path> {
    static IMAGE: OnceLock<Option<PathBuf>> = OnceLock::new();
    let image = IMAGE.get_or_init(|| {
        if let Some(image) = std::env::var_os("FSIN_MACHINES") {
            return Some(PathBuf::from(image));
        }
        if NEEDED.iter().any(|program| !found(program)) {
            return None;
        }
        let target = binary().parent().expect("the command lies in a folder");
        let image = target.join("machines-image");
        // Other tests may make it at this moment.
        let lock = File::create(target.join("machines-image.lock")).expect("the folder is ours");
        lock.lock().expect("files can be locked");
        let made = |path: &Path| fs::metadata(path).and_then(|about| about.modified()).ok();
        if made(&image.join("initramfs")) < made(binary()) {
            let mut prepare = machines(target, &["prepare", "--image", "machines-image"]);
            if found("mpicc.mpich") {
                prepare.args(["cg", "is"].map(|name| mpi_program(target, name)));
            }
            let said = prepare.output().expect("fsin has just been built");
            assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
        }
        Some(image)
    });
    if image.is_none() {
        skipped(
            "no QEMU, or nothing to make machines of; apt install qemu-system-x86 busybox-static cpio gcc libc6-dev",
        );
    }
    image.as_deref()
}

/// An MPI program of the tests, compiled into a folder.
fn mpi_program(folder: &Path, name: &str) -> PathBuf {
    let program = folder.join(name);
    let source = workspace().join(format!("tests/programs/mpi/{name}.c"));
    let built = Command::new("mpicc.mpich").args(["-O2", "-w", "-o"]).arg(&program).arg(&source).arg("-lm").status();
    assert!(built.is_ok_and(|status| status.success()), "{}", source.display());
    program
}

/// `fsin machines up` with this image and these flags, separated by blanks.
#[must_use]
pub fn up(folder: &Path, image: &Path, flags: &str) -> Command {
    let mut command = machines(folder, &["up", "--image"]);
    command.arg(image).args(flags.split_whitespace());
    command
}

/// The results of machines that run a command and end.
///
/// # Panics
/// When one of them fails.
#[must_use]
pub fn results(folder: &Path, image: &Path, flags: &str, command: &str) -> Value {
    let ran = up(folder, image, flags).args(["--command", command]).output().expect("fsin has just been built");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    serde_json::from_slice(&ran.stdout).expect("results are JSON")
}

/// Machines that are up, until they are ended.
#[derive(Debug)]
pub struct Up {
    /// `fsin machines up`.
    pub child: Child,
    errors: Lines<BufReader<ChildStderr>>,
}

impl Up {
    /// Starts them, and waits until time begins.
    ///
    /// # Panics
    /// When it does not.
    #[must_use]
    pub fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("fsin has been built");
        let mut errors = BufReader::new(child.stderr.take().expect("it is piped")).lines();
        let begins = errors.by_ref().map_while(Result::ok).any(|line| line.contains("time begins"));
        assert!(begins, "time does not begin");
        Self { child, errors }
    }

    /// The processes of the machines, in their order.
    ///
    /// # Panics
    /// Where the system does not say which processes a process has started.
    #[must_use]
    pub fn processes(&self) -> Vec<u32> {
        let id = self.child.id();
        let tasks = fs::read_dir(format!("/proc/{id}/task")).expect("the process runs");
        let children = tasks.flatten().flat_map(|task| {
            let text = fs::read_to_string(task.path().join("children")).unwrap_or_default();
            text.split_whitespace().filter_map(|word| word.parse().ok()).collect::<Vec<u32>>()
        });
        let mut children: Vec<u32> = children.collect();
        children.sort_unstable();
        assert!(!children.is_empty(), "no process has been started");
        children
    }

    /// Waits for its end; its status and what else it has said.
    ///
    /// # Panics
    /// When it cannot be waited for.
    #[must_use]
    pub fn end(mut self) -> (Option<i32>, String) {
        let lines: Vec<String> = self.errors.by_ref().map_while(Result::ok).collect();
        let status = self.child.wait().expect("it is a child");
        (status.code(), words(&lines.join("\n")))
    }
}

/// The words of a message, which may have been broken into lines.
#[must_use]
pub fn words(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c == '|' || c == '│').filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}
