//! `record`: runs an MPI program and keeps what it did.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::ArgMatches;
use trace_prep::record::{RecordError, record as run};
use trgen::trace::formats::{self, ReadOptions};

use super::store::{header, store_program};
use super::{Complaint, Exit, input, tell};

impl From<RecordError> for Complaint {
    fn from(error: RecordError) -> Self {
        let exit = if matches!(error, RecordError::Nothing { .. }) { Exit::Failed } else { Exit::Usage };
        Self::new(exit, error.to_string(), error.remedy())
    }
}

pub(super) fn record(matches: &ArgMatches) -> Result<Exit, Complaint> {
    let output = input::output(matches, "output")?;
    let quiet = input::quiet(matches);
    let command: Vec<OsString> = matches.get_many("command").into_iter().flatten().cloned().collect();
    let compiler = matches.get_one::<String>("mpicc").map_or("mpicc", String::as_str);
    let keep = matches.get_one::<PathBuf>("logs");
    let temporary = std::env::temp_dir().join(format!("trace-prep-record-{}", std::process::id()));
    let folder = keep.unwrap_or(&temporary);
    std::fs::create_dir(folder).map_err(|error| {
        let what = format!("{}: cannot create the folder for logs: {error}", folder.display());
        Complaint::new(Exit::Usage, what, "name a folder that does not exist yet, with --logs")
    })?;
    let done = (|| {
        let status = run(folder, compiler, &command)?;
        if !status.success() && !quiet {
            tell(&format!("warning: the program ended with {status}; what its ranks recorded until then is kept"));
        }
        let trace = formats::read(folder, &ReadOptions::default())?;
        if !quiet {
            trace.notes.iter().for_each(|note| tell(&format!("note: {note}")));
            trace.warnings.iter().for_each(|warning| tell(&format!("warning: {warning}")));
        }
        store_program(&output, &header(&trace, "record"), &trace.program, quiet)?;
        Ok(if status.success() { Exit::Done } else { Exit::Failed })
    })();
    if keep.is_none() {
        let _ = std::fs::remove_dir_all(folder);
    }
    done
}
