//! The manifest of a result: the data for reproducing and verifying it.

use std::fs;
#[cfg(feature = "live")]
use std::path::Path;
use std::time::SystemTime;

use fsin::experiment::{Carried, Experiment, Inputs};
use fsin::result::{Costs, InputFile, Manifest, SCHEMA};

use crate::cli::{invocation, stamp};

/// Manifest data known before a run.
pub(crate) struct Opening {
    /// When the run began.
    start: SystemTime,
    inputs: Vec<InputFile>,
    /// SHA-256 of the experiment; `None` of a run of guests, which no file of an experiment describes.
    experiment_sha256: Option<String>,
}

impl Opening {
    /// Records the time and hashes the input files.
    pub(crate) fn new(experiment: &Experiment) -> Self {
        let mut inputs = Inputs::default();
        let files = inputs.of(experiment).into_iter().map(InputFile::from).collect();
        let experiment_sha256 = Some(Carried::sha256(&mut inputs, experiment));
        Self { start: SystemTime::now(), inputs: files, experiment_sha256 }
    }

    /// Records the time of a run of guests, and the [`inputs`] of its network; input files of the guests are not
    /// included.
    #[cfg(feature = "live")]
    pub(crate) fn of_guests(inputs: Vec<InputFile>) -> Self {
        Self { start: SystemTime::now(), inputs, experiment_sha256: None }
    }

    /// The manifest at the end of the run.
    pub(crate) fn close(self, experiment: &Experiment, costs: Costs) -> Manifest {
        self.end(experiment.seed, costs)
    }

    /// The manifest of a run of guests, which no file of an experiment describes.
    #[cfg(feature = "live")]
    pub(crate) fn close_guests(self, seed: u64, costs: Costs) -> Manifest {
        self.end(seed, costs)
    }

    /// The complete manifest.
    fn end(self, seed: u64, costs: Costs) -> Manifest {
        Manifest {
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            commit: Some(fsin_stamp::commit!().to_owned()),
            target: Some(env!("FSIN_TARGET").to_owned()),
            schema: Some(SCHEMA),
            experiment_sha256: self.experiment_sha256,
            seeds: vec![seed],
            command: invocation::texts(),
            start: stamp::seconds(self.start),
            end: stamp::seconds(SystemTime::now()),
            cpu_seconds: costs.cpu_seconds,
            peak_memory_bytes: costs.peak_memory_bytes,
            inputs: self.inputs,
            ..Manifest::default()
        }
    }
}

/// Resets the peak of [`peak_memory_bytes`], where the system supports it (Linux).
pub(crate) fn reset_peak_memory() {
    // On other systems the peak is that of the whole life of the process.
    let _ = fs::write("/proc/self/clear_refs", "5");
}

/// The input files with their present hashes.
pub(crate) fn inputs(experiment: &Experiment) -> Vec<InputFile> {
    Inputs::default().of(experiment).into_iter().map(InputFile::from).collect()
}

/// A file with its present hash.
#[cfg(feature = "live")]
pub(crate) fn input(path: &Path) -> Vec<InputFile> {
    Inputs::default().below(path).into_iter().map(InputFile::from).collect()
}

/// \[bytes\] Peak memory of this process, where the system reports it (Linux).
pub(crate) fn peak_memory_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}
