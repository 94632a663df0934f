//! Output files that are complete or absent: written under a temporary name beside their place, then renamed.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

fn temporary(path: &Path) -> PathBuf {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    path.with_file_name(format!(".{name}.{}.partial", std::process::id()))
}

/// Writes a file with `write`; if that fails, there is none.
///
/// # Errors
/// Those of `write`, or of the file system.
pub fn file<E: From<io::Error>>(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<(), E>,
) -> Result<(), E> {
    let temporary = temporary(path);
    let written = File::create(&temporary).map_err(E::from).and_then(|file| {
        let mut out = BufWriter::with_capacity(1 << 16, file);
        write(&mut out)?;
        out.flush().map_err(E::from)
    });
    let done = written.and_then(|()| fs::rename(&temporary, path).map_err(E::from));
    if done.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    done
}

/// Fills a new folder with `write`; if that fails, there is none.
///
/// # Errors
/// Those of `write`, or of the file system; a folder or file of this name.
pub fn folder<E: From<io::Error>>(path: &Path, write: impl FnOnce(&Path) -> Result<(), E>) -> Result<(), E> {
    if path.exists() {
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, "exists already; nothing is overwritten").into());
    }
    let temporary = temporary(path);
    let written = fs::create_dir(&temporary).map_err(E::from).and_then(|()| write(&temporary));
    let done = written.and_then(|()| fs::rename(&temporary, path).map_err(E::from));
    if done.is_err() {
        let _ = fs::remove_dir_all(&temporary);
    }
    done
}
