//! Locates the reference numbers and the real traces, and reports their absence. Tests of other packages also include
//! this file.

use std::io::Write;
use std::path::{Path, PathBuf};

/// The root of the workspace.
#[must_use]
pub fn workspace() -> &'static Path {
    let above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().skip(1);
    above.into_iter().find(|folder| folder.join("Cargo.lock").is_file()).expect("this package lies in the workspace")
}

/// The folder `shared` beside the workspace, which holds the reference numbers; `None` on a machine without it.
#[must_use]
pub fn shared_dir() -> Option<PathBuf> {
    let shared = std::env::var_os("FSIN_SHARED").map(PathBuf::from);
    let shared = shared.or_else(|| Some(workspace().parent()?.join("shared")))?;
    shared.is_dir().then_some(shared)
}

/// A file of the folder `shared`; those of `reference/` may stand in the repository, in `tests/reference`. If it is absent, reports that the calling test is skipped; the test should then
/// return.
#[must_use]
pub fn shared_file(name: &str) -> Option<PathBuf> {
    shared(name, Path::is_file)
}

/// The same for a folder in the folder `shared`.
#[must_use]
pub fn shared_folder(name: &str) -> Option<PathBuf> {
    shared(name, Path::is_dir)
}

fn shared(name: &str, is_it: fn(&Path) -> bool) -> Option<PathBuf> {
    // Measured rows that are small stand in the repository.
    let own = workspace().join("tests").join(name);
    if name.starts_with("reference/") && is_it(&own) {
        return Some(own);
    }
    let found = shared_dir().map(|shared| shared.join(name)).filter(|path| is_it(path));
    if found.is_none() {
        skipped(&format!("../shared/{name} beside the workspace does not exist"));
    }
    found
}

/// Writes text that is seen even if the test passes: the harness captures what the print macros write, not what is written to
/// the handle.
pub fn aloud(text: &str) {
    // A closed standard error is no reason to fail.
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// Says that the calling test, or a part of it, tests nothing on this machine, and why. The line also goes to the end of the
/// file that the variable `FSIN_SKIPPED` names, so that all of a run can be counted.
///
/// # Panics
/// When the file cannot be written: a skipped test would go uncounted.
pub fn skipped(why: &str) {
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    let line = format!("SKIPPED: {test}: {why}\n");
    aloud(&line);
    if let Some(list) = std::env::var_os("FSIN_SKIPPED") {
        let file = std::fs::OpenOptions::new().create(true).append(true).open(&list);
        file.and_then(|mut file| file.write_all(line.as_bytes())).expect("the file that FSIN_SKIPPED names");
    }
}

/// The folder for reports, created if need be: `validation` in cargo's target folder.
///
/// # Errors
/// When it cannot be created.
pub fn report_dir() -> std::io::Result<PathBuf> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace().join("target"), PathBuf::from);
    let reports = target.join("validation");
    std::fs::create_dir_all(&reports)?;
    Ok(reports)
}
