//! Recording of snapshots in a file.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::time::{Duration, Instant};

use tui::stream::{write_about, write_snapshot};
use tui::view::{About, Snapshot};

/// Interval between two recorded snapshots, unless cycles are given.
const PERIOD: Duration = Duration::from_millis(100);

/// A recording in progress. A disk failure ends the recording, not the run.
#[derive(Debug)]
pub struct Recorder {
    out: BufWriter<File>,
    /// \[cycles\] Interval between snapshots; `None` for [`PERIOD`].
    every: Option<u64>,
    /// When the last snapshot was written.
    kept: Option<Instant>,
    /// The error that has ended the recording.
    failed: Option<io::Error>,
}

impl Recorder {
    /// Begins a recording in an empty file: a snapshot every `every` cycles, or, with `None`, ten times a second.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn new(file: File, about: &About, every: Option<u64>) -> io::Result<Self> {
        let mut out = BufWriter::new(file);
        write_about(&mut out, about)?;
        Ok(Self { out, every: every.map(|every| every.max(1)), kept: None, failed: None })
    }

    /// Number of cycles from `clock` to the next snapshot, if snapshots are taken at fixed cycles.
    pub(super) fn next(&self, clock: u64) -> Option<u64> {
        self.every.filter(|_| self.failed.is_none()).map(|every| every - clock % every)
    }

    /// True if a snapshot is due at this clock.
    pub(super) fn is_due(&self, clock: u64) -> bool {
        self.failed.is_none()
            && match self.every {
                Some(every) => clock.is_multiple_of(every),
                None => self.kept.is_none_or(|kept| kept.elapsed() >= PERIOD),
            }
    }

    /// Writes a snapshot.
    pub(super) fn keep(&mut self, snapshot: &Snapshot) {
        if self.failed.is_none() {
            self.failed = write_snapshot(&mut self.out, snapshot).err();
        }
        self.kept = Some(Instant::now());
    }

    /// Ends the recording.
    ///
    /// # Errors
    /// The first failure, now or earlier.
    pub fn close(mut self) -> io::Result<()> {
        match self.failed.take() {
            Some(error) => Err(error),
            None => self.out.flush(),
        }
    }
}
