//! Runs the `fsin` command as a user does.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime};

use serde_json::Value;

use crate::shared::workspace;

/// The command in `folder`, without settings from the environment of the tests.
#[must_use]
pub fn fsin(folder: &Path) -> Command {
    let mut command = Command::new(binary());
    command.current_dir(folder);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("FSIN_") {
            command.env_remove(name);
        }
    }
    // Messages are compared: fix the width, without colours.
    command.env("NO_COLOR", "1").env("COLUMNS", "120").env_remove("CLICOLOR_FORCE");
    command
}

/// Runs the command in `folder` with the arguments in `line`, which are separated by blanks.
///
/// # Panics
/// When the command cannot be started.
#[must_use]
pub fn run(folder: &Path, line: &str) -> Output {
    fsin(folder).args(line.split_whitespace()).output().expect("fsin has just been built")
}

/// Interrupts a process as Ctrl-C does, this time after it has begun to handle interrupts.
///
/// # Panics
/// When no signal can be sent.
pub fn interrupt(child: &Child, later: Duration) {
    const SIGINT: u64 = 1 << 1;
    let status = format!("/proc/{}/status", child.id());
    let handles = || {
        let text = std::fs::read_to_string(&status).ok()?;
        let mask = text.lines().find_map(|line| line.strip_prefix("SigCgt:"))?.trim().to_owned();
        Some(u64::from_str_radix(&mask, 16).ok()? & SIGINT != 0)
    };
    let asked = Instant::now();
    // Where the system does not report it, two seconds are ample.
    let patience = Duration::from_secs(if handles().is_some() { 300 } else { 2 });
    while handles() != Some(true) && asked.elapsed() < patience {
        std::thread::sleep(Duration::from_millis(5));
    }
    // In the middle of its work.
    std::thread::sleep(later + Duration::from_millis(200));
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(kill.is_ok_and(|status| status.success()), "a child that was not waited for can be sent a signal");
}

/// Starts `fsin serve` on a free port; returns it with its address.
///
/// # Panics
/// When it does not begin to listen.
#[must_use]
pub fn serve(folder: &Path, words: &str) -> (Child, String) {
    let mut serve = fsin(folder);
    serve.args(["serve", "--listen", "127.0.0.1:0"]).args(words.split_whitespace());
    let mut child =
        serve.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("what the test is made of is right");
    let mut first = String::new();
    BufReader::new(child.stderr.take().expect("what the test is made of is right"))
        .read_line(&mut first)
        .expect("what the test is made of is right");
    let address = first.split_whitespace().nth(2).unwrap_or_else(|| panic!("{first}")).to_owned();
    (child, address)
}

/// The results of a server that ends without an error.
///
/// # Panics
/// When it does not, or prints something else.
#[must_use]
pub fn results(mut child: Child) -> Value {
    let mut text = String::new();
    child
        .stdout
        .take()
        .expect("what the test is made of is right")
        .read_to_string(&mut text)
        .expect("what the test is made of is right");
    assert!(child.wait().expect("what the test is made of is right").success(), "{text}");
    serde_json::from_str(&text).expect("what the test is made of is right")
}

/// The program that prepares traces, of the same profile; built if need be.
///
/// # Panics
/// When it cannot be built.
#[must_use]
pub fn trace_prep() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| {
        let folder = binary().parent().expect("the command lies in a folder");
        let binary = folder.join(format!("trace-prep{}", std::env::consts::EXE_SUFFIX));
        let newest =
            ["trace-prep/src", "trgen/src"].iter().filter_map(|sources| newest_in(&workspace().join(sources))).max();
        if modified(&binary) < newest {
            build(folder, "trace-prep");
        }
        assert!(binary.is_file(), "no {}: run `cargo build -p trace-prep`", binary.display());
        binary
    })
}

/// The command under test, in the parent of the folder of the test binaries. Cargo does not build it for tests of
/// another package, so it is built here if it is missing or older than its sources.
///
/// # Panics
/// When it cannot be built.
#[must_use]
pub fn binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| {
        let test = std::env::current_exe().expect("a running test has a path");
        let folder = test.parent().and_then(Path::parent).expect("tests lie in PROFILE/deps");
        let binary = folder.join(format!("fsin{}", std::env::consts::EXE_SUFFIX));
        let sources =
            ["fsin/src", "fsin/core/src", "fsin/experiment/src", "fsin/models", "trgen/src", "adapters/src", "tui/src"];
        let newest = sources.iter().filter_map(|sources| newest_in(&workspace().join(sources))).max();
        if modified(&binary) < newest {
            build(folder, "fsin");
        }
        assert!(binary.is_file(), "no {}: run `cargo build -p fsin` with the profile of the tests", binary.display());
        binary
    })
}

/// The library that ranks of MPI programs load, beside the command; built here like the command.
///
/// # Panics
/// When it cannot be built.
#[must_use]
pub fn mpi_library() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| library("libfsin_mpi.so", "fsin-mpi", &[]))
}

/// The plugin of QEMU, likewise.
///
/// # Panics
/// When it cannot be built.
#[must_use]
pub fn qemu_plugin() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| library("libfsin_qemu_plugin.so", "fsin-qemu-plugin", &[]))
}

/// The folder of the C library, likewise.
///
/// # Panics
/// When it cannot be built.
#[must_use]
pub fn c_library() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    let library = LIBRARY.get_or_init(|| library("libfsin_c.so", "fsin-c", &["fsin/core/src", "fsin/experiment/src"]));
    library.parent().expect("a library lies in a folder")
}

/// A library of a package, built here if it is missing or older than its sources: adapters, traffic, and others.
fn library(file: &str, package: &str, others: &[&str]) -> PathBuf {
    let folder = binary().parent().expect("the command lies in a folder");
    let library = folder.join(file);
    let sources = ["adapters", "trgen/src"].iter().chain(others);
    let newest = sources.filter_map(|sources| newest_in(&workspace().join(sources))).max();
    if modified(&library) < newest {
        build(folder, package);
    }
    assert!(library.is_file(), "no {}: run `cargo build -p {package}`", library.display());
    library
}

/// Builds a package into `folder`, which is named after the profile. Together with the command, which is built already:
/// alone, it would have other features of what both depend on, and compile that again.
fn build(folder: &Path, package: &str) {
    let profile = match folder.file_name().and_then(|name| name.to_str()) {
        Some("debug") | None => "dev",
        Some(profile) => profile,
    };
    let target = folder.parent().expect("the folder of a profile lies in the target folder");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(cargo)
        .current_dir(workspace())
        .args(["build", "--quiet", "--package", "fsin", "--package", package, "--profile", profile, "--target-dir"])
        .arg(target)
        .status();
    assert!(built.is_ok_and(|status| status.success()), "`cargo build -p {package} --profile {profile}` failed");
}

/// Runs a headless browser on a page, with additional arguments; returns its output on stdout and stderr. `None` if
/// there is no Chromium.
#[must_use]
pub fn browser(page: &Path, words: &[&str]) -> Option<(String, String)> {
    const ALONE: &[&str] = &[
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--enable-logging=stderr",
    ];
    let profile = format!("--user-data-dir={}", page.with_extension("profile").display());
    let mut command = Command::new("chromium");
    let output = command.args(ALONE).args(words).args([profile, format!("file://{}", page.display())]).output().ok()?;
    Some((String::from_utf8_lossy(&output.stdout).into_owned(), String::from_utf8_lossy(&output.stderr).into_owned()))
}

/// Modification time of the newest source below a folder.
fn newest_in(folder: &Path) -> Option<SystemTime> {
    let entries = std::fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    entries
        .filter_map(|path| {
            if path.is_dir() {
                newest_in(&path)
            } else {
                // The page's style and script and the first experiment are also part of the binary.
                let kinds = ["rs", "toml", "css", "js"];
                let is_source = path.extension().is_some_and(|name| kinds.iter().any(|&kind| name == kind));
                modified(&path).filter(|_| is_source)
            }
        })
        .max()
}

fn modified(path: &Path) -> Option<SystemTime> {
    path.metadata().ok()?.modified().ok()
}
