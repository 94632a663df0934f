//! Checksums of results: a file `SHA256SUMS` beside them, as `sha256sum --check` reads it.
//!
//! It is written into the folder of a result before the folder gets its name, so that a result and its checksums appear
//! together. It detects accidental changes, but not changes with renewed checksums; `fsin rerun` detects both.
//!
//! Decision: docs/decisions/0125-checksums.md.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::hex;
use crate::result::{self, RunResult};

/// The file of checksums.
pub(super) const SUMS: &str = "SHA256SUMS";

/// The files of a result, in the order in which they are checked.
const FILES: [&str; 3] = ["result.json", "manifest.json", "experiment.toml"];

/// SHA-256 of a content, as hexadecimal digits.
pub(super) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Writes a result and its checksums into a new folder, flushed to disk: a rename of the folder must not become visible
/// before its files.
///
/// # Errors
/// When the folder is not writable.
pub fn write_result(folder: &Path, found: &RunResult, experiment: &str) -> io::Result<()> {
    write_files(folder, found, experiment, true)
}

/// Writes a result and its checksums into a new folder; `flushes` if they must be on disk before it is renamed.
///
/// # Errors
/// When the folder is not writable.
pub(super) fn write_files(folder: &Path, found: &RunResult, experiment: &str, flushes: bool) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let mut text = Vec::new();
    result::write_pretty(found, &mut text)?;
    let mut manifest = Vec::new();
    result::write_pretty(&found.manifest, &mut manifest)?;
    let mut sums = String::new();
    let write = |name: &str, bytes: &[u8]| {
        let mut file = File::create(folder.join(name))?;
        file.write_all(bytes)?;
        if flushes { file.sync_all() } else { Ok(()) }
    };
    let mut files = vec![(FILES[0], text), (FILES[1], manifest), (FILES[2], experiment.as_bytes().to_vec())];
    files.extend(result::tables(found)?);
    for (name, bytes) in &files {
        write(name, bytes)?;
        sums.push_str(&format!("{}  {name}\n", sha256(bytes)));
    }
    write(SUMS, sums.as_bytes())
}

/// The files of a result that fail verification, with the reason; empty if none does. A folder without checksums comes
/// from an earlier version: `required` says whether that is an error.
///
/// # Errors
/// When an existing file cannot be read.
pub fn damage(folder: &Path, required: bool) -> io::Result<Vec<String>> {
    let Some(text) = present(fs::read(folder.join(SUMS)))? else {
        return Ok(if required { vec![format!("{SUMS} is missing")] } else { Vec::new() });
    };
    let text = String::from_utf8_lossy(&text);
    let sums: BTreeMap<&str, &str> =
        text.lines().filter_map(|line| line.split_once("  ")).map(|(sum, name)| (name, sum)).collect();
    let mut damaged = Vec::new();
    for name in FILES {
        let wrong = match (present(fs::read(folder.join(name)))?, sums.get(name)) {
            (None, _) => "is missing".to_owned(),
            (Some(_), None) => format!("has no checksum in {SUMS}"),
            (Some(bytes), Some(&sum)) if sha256(&bytes) != sum => format!("does not have its checksum in {SUMS}"),
            _ => continue,
        };
        damaged.push(format!("{name} {wrong}"));
    }
    Ok(damaged)
}

/// The content of a file; `None` if there is no such file.
fn present(read: io::Result<Vec<u8>>) -> io::Result<Option<Vec<u8>>> {
    match read {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
