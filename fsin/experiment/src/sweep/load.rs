//! Results from a folder, of any command.

use std::fs;
use std::path::Path;

use super::collect::{Collected, Row, collect, collect_unchecked};
use super::plan::{Plan, Point};
use super::store::{Store, StoreError, parsed};
use super::sums::damage;

/// The results in the folder of a sweep, or of one run (`fsin run -o`), which is a sweep of one point.
///
/// # Errors
/// A folder of neither kind, or a result that differs from what was written.
pub fn open(folder: &Path) -> Result<(Plan, Collected), StoreError> {
    read(folder, true)
}

/// Like [`open`], for comparing results with those of new runs: checksums are not verified.
///
/// # Errors
/// A folder of neither kind, or an invalid result.
pub fn open_unchecked(folder: &Path) -> Result<(Plan, Collected), StoreError> {
    read(folder, false)
}

/// The results in a folder. Verifies checksums if `check`.
fn read(folder: &Path, check: bool) -> Result<(Plan, Collected), StoreError> {
    let store = Store::at(folder);
    let result = folder.join("result.json");
    if store.exists() || !result.exists() {
        let plan = store.plan()?;
        let collected = if check { collect(&store, &plan) } else { collect_unchecked(&store, &plan) }?;
        return Ok((plan, collected));
    }
    let wrong = |error: &dyn std::fmt::Display| StoreError {
        what: format!("{}: {error}", result.display()),
        remedy: "give a folder that `fsin run -o` or `fsin sweep -o` has filled",
        usage: true,
    };
    if let [damaged @ .., last] = &damage(folder, false).map_err(|error| wrong(&error))?[..]
        && check
    {
        let list: String = damaged.iter().map(|one| format!("{one}, ")).collect();
        return Err(StoreError {
            what: format!("{} is damaged: {list}{last}", folder.display()),
            remedy: "run it again: fsin run experiment.toml -o NEW; `fsin rerun` says what differs",
            usage: true,
        });
    }
    let text = fs::read(&result).map_err(|error| wrong(&error))?;
    let found = parsed(&text).map_err(|error| wrong(&error))?;
    let experiment = fs::read_to_string(folder.join("experiment.toml")).map_err(|error| wrong(&error))?;
    let place = folder.join("experiment.toml");
    let point = Point { id: "run".to_owned(), values: Vec::new(), experiment, place };
    let row = Row { index: 0, result: found.reproducible() };
    Ok((Plan::of_one(point), Collected { rows: vec![row], ..Collected::default() }))
}
