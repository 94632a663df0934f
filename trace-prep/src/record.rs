//! Recording: builds the profiling library with the user's own compiler wrapper and runs a program under it.
//!
//! Decisions: docs/decisions/0027-recorder-writes-text.md, docs/decisions/0098-recorder-entry-points.md.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

/// Source files of the profiling library; the first of them is compiled.
const SOURCES: [(&str, &str); 3] = [
    ("recorder.c", include_str!("../recorder/recorder.c")),
    ("log.h", include_str!("../recorder/log.h")),
    ("unfollowed.h", include_str!("../recorder/unfollowed.h")),
];

/// File name of the profiling library.
const LIBRARY: &str = "librecorder.so";

/// An empty file that a rank creates in the folder of the logs when it meets an unsupported call.
const REFUSED: &str = "refused";

/// Why recording failed.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// A file could not be written.
    #[error("{}: {error}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The cause.
        error: io::Error,
    },
    /// A program could not be started.
    #[error("cannot start `{}`: {error}", .program.to_string_lossy())]
    Start {
        /// The program.
        program: OsString,
        /// The cause.
        error: io::Error,
    },
    /// The compiler could not build the profiling library.
    #[error("`{compiler}` cannot build the profiling library:\n{output}")]
    Compile {
        /// The compiler wrapper.
        compiler: String,
        /// Its output.
        output: String,
    },
    /// No rank wrote a file.
    #[error("no rank recorded anything ({status})")]
    Nothing {
        /// Exit status of the program.
        status: ExitStatus,
    },
}

impl RecordError {
    /// The remedy for the user.
    #[must_use]
    pub const fn remedy(&self) -> &'static str {
        match self {
            Self::File { .. } => "name a folder in a place where you may write",
            Self::Start { .. } => "check the name; --mpicc names the MPI compiler wrapper (Debian: libopenmpi-dev)",
            Self::Compile { .. } => "--mpicc names the compiler wrapper of the MPI library that the program uses",
            Self::Nothing { .. } => {
                "the program must be linked dynamically with the MPI library of --mpicc, and run on this machine"
            }
        }
    }
}

/// Adds the path to an error.
fn with_path<T>(path: &Path, result: io::Result<T>) -> Result<T, RecordError> {
    result.map_err(|error| RecordError::File { path: path.to_owned(), error })
}

/// Runs `command` so that each rank writes a log of its MPI calls into the existing folder `folder`; returns the exit
/// status. The profiling library is built there by `compiler`.
///
/// # Errors
/// When the library cannot be built, the command cannot be started, or no rank wrote a log.
pub fn record(folder: &Path, compiler: &str, command: &[OsString]) -> Result<ExitStatus, RecordError> {
    let library = folder.join(LIBRARY);
    for (name, text) in SOURCES {
        let path = folder.join(name);
        with_path(&path, std::fs::write(&path, text))?;
    }
    let start = |program: OsString| move |error| RecordError::Start { program, error };
    // The recorder calls dlsym, which older C libraries have in libdl.
    let built = Command::new(compiler)
        .args(["-shared", "-fPIC", "-pthread", "-O1", "-o"])
        .args([&library, &folder.join(SOURCES[0].0)])
        .arg("-ldl")
        .output()
        .map_err(start(compiler.into()))?;
    if !built.status.success() {
        let output = String::from_utf8_lossy(&built.stderr).trim_end().to_owned();
        return Err(RecordError::Compile { compiler: compiler.to_owned(), output });
    }
    let folder = with_path(folder, std::path::absolute(folder))?;
    let mut preload = OsString::from(folder.join(LIBRARY));
    // Other preloaded libraries are kept.
    if let Some(others) = std::env::var_os("LD_PRELOAD").filter(|others| !others.is_empty()) {
        preload.push(":");
        preload.push(others);
    }
    let program = command.first().cloned().unwrap_or_default();
    let status = Command::new(&program)
        .args(command.iter().skip(1))
        .env("LD_PRELOAD", preload)
        .env("TRACE_PREP_RECORD", &folder)
        .status()
        .map_err(start(program))?;
    let our_files = SOURCES.iter().map(|(name, _)| *name).chain([LIBRARY]).map(|name| folder.join(name));
    for path in our_files {
        with_path(&path, std::fs::remove_file(&path))?;
    }
    let _ = std::fs::remove_file(folder.join(REFUSED));
    if !folder.join("rank-0.txt").exists() {
        return Err(RecordError::Nothing { status });
    }
    Ok(status)
}
