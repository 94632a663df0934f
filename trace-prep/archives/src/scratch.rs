//! Folders of this process for temporary files, which are removed with their values, and also where the process ends at
//! once: then no value is dropped.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The folders that exist.
static FOLDERS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A folder that is removed when this is dropped, or by [`remove_all`].
#[derive(Debug)]
pub struct Scratch(PathBuf);

impl Scratch {
    /// Creates a folder, which must not exist.
    ///
    /// # Errors
    /// It exists, or cannot be created.
    pub fn create(path: PathBuf) -> io::Result<Self> {
        fs::create_dir(&path)?;
        Ok(Self::adopt(path))
    }

    /// Takes a folder that exists.
    #[must_use]
    pub fn adopt(path: PathBuf) -> Self {
        folders(|folders| folders.push(path.clone()));
        Self(path)
    }

    /// Its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        folders(|folders| folders.retain(|other| *other != self.0));
        // An error does no harm: it is in the folder for temporary files.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Calls a function with the list of folders; a panic of another thread does not damage it.
fn folders<T>(change: impl FnOnce(&mut Vec<PathBuf>) -> T) -> T {
    change(&mut FOLDERS.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Removes the folders that exist. Call it before the process ends without dropping values.
pub fn remove_all() {
    // Another thread may still write into one: once more then.
    for folder in folders(std::mem::take) {
        let _ = fs::remove_dir_all(&folder).or_else(|_| fs::remove_dir_all(&folder));
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn folders_go_with_their_value_and_at_once() {
        let base = tempfile::tempdir().unwrap();
        let [one, other] = ["one", "other"].map(|name| base.path().join(name));
        let kept = Scratch::create(one.clone()).unwrap();
        fs::write(kept.path().join("file"), "text").unwrap();
        assert!(Scratch::create(one.clone()).is_err(), "it exists, and stays");
        drop(kept);
        assert!(!one.exists());
        let left = Scratch::create(other.clone()).unwrap();
        fs::create_dir(other.join("below")).unwrap();
        remove_all();
        assert!(!other.exists());
        drop(left);
    }
}
