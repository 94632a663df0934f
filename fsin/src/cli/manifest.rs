//! The manifest of a result: what is needed to run it again, and to believe it.

use std::fs;
use std::io;
use std::path::Path;
use std::time::SystemTime;

use fsin::experiment::{Experiment, Traffic};
use fsin::report::SCHEMA;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use trgen::synthetic::{Config, traffic};

/// What is known before a run.
pub(crate) struct Opening {
    start: SystemTime,
    inputs: Vec<Value>,
}

impl Opening {
    /// Notes the time and hashes the input files.
    pub(crate) fn new(experiment: &Experiment) -> Self {
        let inputs = match &experiment.traffic {
            Traffic::Trace { path, beside, .. } => {
                hash_inputs(path).into_iter().chain(beside.iter().flat_map(pattern_inputs)).collect()
            }
            Traffic::Kernel { beside, .. } => beside.iter().flat_map(pattern_inputs).collect(),
            Traffic::Synthetic(config) => pattern_inputs(config),
        };
        Self { start: SystemTime::now(), inputs }
    }

    /// The manifest at the end of the run.
    pub(crate) fn close(self, experiment: &Experiment, cpu_seconds: f64, peak_memory_bytes: Option<u64>) -> Value {
        let time = |at: SystemTime| humantime::format_rfc3339_seconds(at).to_string();
        let toml = experiment.to_toml();
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "commit": env!("FSIN_COMMIT"),
            "target": env!("FSIN_TARGET"),
            "schema": SCHEMA,
            "experiment_sha256": hex(Sha256::digest(toml.as_bytes()).as_slice()),
            "seeds": [experiment.router.seed],
            "command": std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>(),
            "start": time(self.start),
            "end": time(SystemTime::now()),
            "host": gethostname::gethostname().to_string_lossy(),
            "cpu_seconds": cpu_seconds,
            "peak_memory_bytes": peak_memory_bytes,
            "inputs": self.inputs,
        })
    }
}

/// The same of the files that a pattern names.
fn pattern_inputs(config: &Config) -> Vec<Value> {
    traffic::files(&config.pattern).iter().flat_map(|name| hash_inputs(&config.folder.join(name))).collect()
}

/// Paths and SHA-256 of the files of a trace: the file itself, or every file of a folder. Files that cannot be read are
/// left to the reader of the trace, which says why.
fn hash_inputs(path: &Path) -> Vec<Value> {
    // `archive#member` names a trace within an archive.
    let text = path.to_string_lossy();
    let file = if path.exists() { path } else { Path::new(text.rsplit_once('#').map_or(&*text, |(file, _)| file)) };
    let mut files = vec![file.to_owned()];
    if file.is_dir() {
        files = fs::read_dir(file).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        files.sort();
    }
    files
        .iter()
        .filter_map(|file| {
            // Reading a pipe would leave nothing for the reader of the trace, and a device may have no end.
            file.metadata().ok().filter(fs::Metadata::is_file)?;
            let mut hasher = Sha256::new();
            let bytes = io::copy(&mut fs::File::open(file).ok()?, &mut hasher).ok()?;
            Some(json!({ "path": file, "bytes": bytes, "sha256": hex(hasher.finalize().as_slice()) }))
        })
        .collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// \[bytes\] Most memory that this process has held, where the system tells (Linux).
pub(crate) fn peak_memory_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}
