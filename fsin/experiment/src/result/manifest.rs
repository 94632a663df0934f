//! The manifest of a result: what is needed to run it again, and to believe it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::inputs::Input;

/// What is needed to run an experiment again, and to believe its result. Of older versions some fields may be empty.
#[derive(Clone, PartialEq, Default, Serialize, Deserialize, Debug, JsonSchema)]
#[serde(default)]
pub struct Manifest {
    /// Version of the program.
    pub version: Option<String>,
    /// Commit that it was built of.
    pub commit: Option<String>,
    /// Platform that it was built for.
    pub target: Option<String>,
    /// Version of the names and meanings of figures.
    pub schema: Option<u64>,
    /// SHA-256 of the experiment; null of a run of guests, which no file describes.
    pub experiment_sha256: Option<String>,
    /// Every seed that was drawn from.
    pub seeds: Vec<u64>,
    /// The command line, word by word.
    pub command: Vec<String>,
    /// When it began, in UTC.
    pub start: Option<String>,
    /// When it ended, in UTC.
    pub end: Option<String>,
    /// \[s\] Processor time of all threads.
    pub cpu_seconds: Option<f64>,
    /// \[bytes\] Most memory that the process held.
    pub peak_memory_bytes: Option<u64>,
    /// The files that were read.
    pub inputs: Vec<InputFile>,
    /// What other versions say beside.
    #[serde(flatten)]
    #[schemars(skip)]
    pub others: Map<String, Value>,
}

/// A file that was read.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize, Debug, JsonSchema)]
#[serde(default)]
pub struct InputFile {
    /// As it was named.
    pub path: String,
    /// \[bytes\] Its length.
    pub bytes: u64,
    /// SHA-256 of its content, 64 hexadecimal digits.
    pub sha256: String,
}

impl From<Input> for InputFile {
    fn from(Input { path, bytes, sha256, .. }: Input) -> Self {
        Self { path: path.to_string_lossy().into_owned(), bytes, sha256 }
    }
}
