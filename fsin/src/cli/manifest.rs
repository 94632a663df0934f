//! The manifest of a result: what is needed to run it again, and to believe it.

use std::fs;
use std::time::SystemTime;

use fsin::experiment::{Experiment, Input, Inputs, hex};
use fsin::report::SCHEMA;
use fsin::stamp;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// What is known before a run.
pub(crate) struct Opening {
    start: SystemTime,
    inputs: Vec<Value>,
}

impl Opening {
    /// Notes the time and hashes the input files.
    pub(crate) fn new(experiment: &Experiment) -> Self {
        Self { start: SystemTime::now(), inputs: inputs(experiment) }
    }

    /// Notes the time of a run of guests, and the [`inputs`] of its network; those of the guests are theirs.
    pub(crate) fn of_guests(inputs: Vec<Value>) -> Self {
        Self { start: SystemTime::now(), inputs }
    }

    /// The manifest at the end of the run.
    pub(crate) fn close(
        self,
        experiment: &Experiment,
        cpu_seconds: Option<f64>,
        peak_memory_bytes: Option<u64>,
    ) -> Value {
        let hash = hex(Sha256::digest(experiment.to_toml().as_bytes()).as_slice());
        self.end(Some(hash), experiment.router.seed, cpu_seconds, peak_memory_bytes)
    }

    /// The manifest of a run of guests, which no file of an experiment describes.
    pub(crate) fn close_guests(self, seed: u64, cpu_seconds: Option<f64>, peak_memory_bytes: Option<u64>) -> Value {
        self.end(None, seed, cpu_seconds, peak_memory_bytes)
    }

    fn end(self, hash: Option<String>, seed: u64, cpu_seconds: Option<f64>, peak_memory_bytes: Option<u64>) -> Value {
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "commit": fsin_stamp::commit!(),
            "target": env!("FSIN_TARGET"),
            "schema": SCHEMA,
            "experiment_sha256": hash,
            "seeds": [seed],
            "command": std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>(),
            "start": stamp::seconds(self.start),
            "end": stamp::seconds(SystemTime::now()),
            "host": gethostname::gethostname().to_string_lossy(),
            "cpu_seconds": cpu_seconds,
            "peak_memory_bytes": peak_memory_bytes,
            "inputs": self.inputs,
        })
    }
}

/// From now on [`peak_memory_bytes`] tells of what comes, where the system lets it (Linux).
pub(crate) fn forget_peak_memory() {
    // Where it does not, the peak is that of the whole process.
    let _ = fs::write("/proc/self/clear_refs", "5");
}

/// The input files with their hashes, as of now.
pub(crate) fn inputs(experiment: &Experiment) -> Vec<Value> {
    let row = |input: Input| json!({ "path": input.path, "bytes": input.bytes, "sha256": input.sha256 });
    Inputs::default().of(experiment).into_iter().map(row).collect()
}

/// \[bytes\] Most memory that this process has held, where the system tells (Linux).
pub(crate) fn peak_memory_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}
