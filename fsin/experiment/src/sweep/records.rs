//! One file for the small points of a sweep: `points.records`.
//!
//! A point is a line: the SHA-256 of the rest of the line, a space, the identity of the point as a JSON string, a tab, and
//! the result as JSON. The line is appended in one write, and begins with a line break of its own: a process that is
//! killed while it writes leaves a part of a line, which does not have its checksum and does not touch the next one.
//! Such a point counts as not run, and runs again. Of several lines of a point the last whole one counts.
//!
//! Decision: docs/decisions/0282-compact-sweeps.md.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::sums::sha256;

/// Name of the file.
pub(super) const NAME: &str = "points.records";

/// The file, and what has been read of it.
#[derive(Debug)]
pub(super) struct Records {
    path: PathBuf,
    read: Mutex<Index>,
}

/// What has been read.
#[derive(Default, Debug)]
struct Index {
    /// \[bytes\] Length of the lines that have been read.
    length: u64,
    /// By point: the result of its last whole line, as JSON.
    results: HashMap<String, String>,
}

impl Index {
    /// Reads a line, if it is whole.
    fn add(&mut self, line: &str) {
        let Some((sum, text)) = line.split_once(' ') else { return };
        let Some((id, result)) = text.split_once('\t').filter(|_| sha256(text.as_bytes()) == sum) else { return };
        if let Ok(id) = serde_json::from_str(id) {
            self.results.insert(id, result.to_owned());
        }
    }
}

impl Records {
    /// The file in the folder of a sweep, which need not exist.
    pub(super) fn at(root: &Path) -> Self {
        Self { path: root.join(NAME), read: Mutex::default() }
    }

    /// True if points are kept in the file.
    pub(super) fn exist(&self) -> bool {
        self.path.is_file()
    }

    /// Makes the file, if there is none.
    pub(super) fn create(&self) -> io::Result<()> {
        OpenOptions::new().create(true).append(true).open(&self.path).map(|_| ())
    }

    /// Appends the result of a point, as JSON in one line.
    pub(super) fn add(&self, id: &str, result: &str) -> io::Result<()> {
        let text = format!("{}\t{}", serde_json::to_string(id)?, result.trim_end());
        let line = format!("\n{} {text}\n", sha256(text.as_bytes()));
        OpenOptions::new().append(true).open(&self.path)?.write_all(line.as_bytes())
    }

    /// The result of a point as JSON; `None` if it is not in the file, or not whole.
    pub(super) fn get(&self, id: &str) -> io::Result<Option<String>> {
        self.with(|results| results.get(id).cloned())
    }

    /// The points in the file, in no particular order.
    pub(super) fn ids(&self) -> io::Result<Vec<String>> {
        self.with(|results| results.keys().cloned().collect())
    }

    /// Reads the lines that have been added since the last call, and answers from them.
    fn with<T>(&self, answer: impl FnOnce(&HashMap<String, String>) -> T) -> io::Result<T> {
        let mut index = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let mut file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(answer(&HashMap::new())),
            Err(error) => return Err(error),
        };
        let length = file.metadata()?.len();
        if length < index.length {
            // It is another file.
            *index = Index::default();
        }
        if length > index.length {
            file.seek(SeekFrom::Start(index.length))?;
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes)?;
            // The last line may still be written to.
            let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
            String::from_utf8_lossy(&bytes[..whole]).lines().for_each(|line| index.add(line));
            index.length += whole as u64;
        }
        Ok(answer(&index.results))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn whole_lines_are_read_wherever_a_writer_was_killed() {
        let folder = std::env::temp_dir().join(format!("fsin-records-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let folder = folder.as_path();
        let writer = Records::at(folder);
        assert!(!writer.exist() && writer.get("a").unwrap().is_none());
        writer.create().unwrap();
        writer.add("a b", "{\"x\": 1}").unwrap();
        writer.add("load=0.1", "{\"x\": 2}\n").unwrap();
        let whole = std::fs::read(folder.join(NAME)).unwrap();
        for cut in 0..=whole.len() {
            std::fs::write(folder.join(NAME), &whole[..cut]).unwrap();
            let reader = Records::at(folder);
            let found = ["a b", "load=0.1"].map(|id| reader.get(id).unwrap());
            let expected = [found[0].as_deref().is_none_or(|text| text == "{\"x\": 1}"), {
                found[1].as_deref().is_none_or(|text| text == "{\"x\": 2}")
            }];
            assert_eq!(expected, [true, true], "cut at {cut}");
            // The next writer, and a reader that has read the part of a line.
            writer.add("next", "{\"x\": 3}").unwrap();
            assert_eq!(reader.get("next").unwrap().as_deref(), Some("{\"x\": 3}"), "cut at {cut}");
            assert_eq!(Records::at(folder).get("next").unwrap().as_deref(), Some("{\"x\": 3}"));
            assert!(found[0].is_none() || reader.get("a b").unwrap() == found[0], "cut at {cut}");
        }
        let all = Records::at(folder);
        assert_eq!(all.ids().unwrap().len(), 3);
        // A changed byte.
        let mut changed = whole;
        let at = changed.iter().position(|&byte| byte == b'x').unwrap();
        changed[at] = b'y';
        std::fs::write(folder.join(NAME), &changed).unwrap();
        assert_eq!(Records::at(folder).ids().unwrap(), ["load=0.1"]);
        std::fs::remove_dir_all(folder).unwrap();
    }
}
