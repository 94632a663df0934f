//! `record`: runs an MPI program and records its calls.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use clap::ArgMatches;
use trace_prep::record::{RecordError, record as run};
use trgen::trace::formats::{self, ReadOptions};

use super::store::{header, store_program};
use super::{Complaint, Exit, input, write_stderr};

/// True after the first interrupt (Ctrl-C).
static STOP: AtomicBool = AtomicBool::new(false);

impl From<RecordError> for Complaint {
    fn from(error: RecordError) -> Self {
        let exit = if matches!(error, RecordError::Nothing { .. }) { Exit::Failed } else { Exit::Usage };
        Self::new(exit, error.to_string(), error.remedy())
    }
}

/// The command `record`.
pub(super) fn record(matches: &ArgMatches) -> Result<Exit, Complaint> {
    let output = input::output(matches, "output")?;
    let quiet = input::quiet(matches);
    let command: Vec<OsString> = matches.get_many("command").into_iter().flatten().cloned().collect();
    let compiler = matches.get_one::<String>("mpicc").map_or("mpicc", String::as_str);
    let kept_logs = matches.get_one::<PathBuf>("logs");
    let temporary = std::env::temp_dir().join(format!("trace-prep-record-{}", std::process::id()));
    let folder = kept_logs.unwrap_or(&temporary);
    std::fs::create_dir(folder).map_err(|error| {
        let what = format!("{}: cannot create the folder for logs: {error}", folder.display());
        Complaint::new(Exit::Usage, what, "name a folder that does not exist yet, with --logs")
    })?;
    handle_interrupts(folder)?;
    let recorded = run(folder, compiler, &command);
    let recorded_something = recorded.is_ok();
    let stopped = STOP.load(Ordering::Relaxed);
    let done = match recorded {
        Err(_) if stopped => {
            write_stderr("interrupted before any rank recorded anything");
            Ok(Exit::Interrupted)
        }
        Err(error) => Err(error.into()),
        Ok(status) => {
            let how = match status.success() && !stopped {
                true => None,
                false if stopped => Some("was interrupted".to_owned()),
                false => Some(format!("ended with {status}")),
            };
            if let Some(how) = &how
                && !quiet
            {
                write_stderr(&format!(
                    "warning: the program {how}; what its ranks recorded until then is kept, {LOST}"
                ));
            }
            keep_recorded(folder, &output, how, quiet).map(|()| match status.success() {
                _ if stopped => Exit::Interrupted,
                true => Exit::Done,
                false => Exit::Failed,
            })
        }
    };
    if stopped && done.is_ok() && recorded_something {
        write_stderr(&format!("{} is not complete: it ends where the program was interrupted", output.display()));
    }
    if kept_logs.is_some() || (done.is_err() && recorded_something) {
        // A recording may have taken days, and must not be lost because the disk is full.
        if done.is_err() || stopped {
            write_stderr(&format!("the logs of the ranks are in {}{}", folder.display(), incomplete_suffix(stopped)));
        }
    } else {
        let _ = std::fs::remove_dir_all(folder);
    }
    done
}

/// The possible losses of a recording whose program did not end normally.
const LOST: &str = "but for the last calls of a rank that was killed (SIGKILL): up to 4 KiB of its log";

/// The end of a message about logs.
const fn incomplete_suffix(stopped: bool) -> &'static str {
    if stopped { ", not complete" } else { "" }
}

/// Installs the handler of Ctrl-C. The first interrupt, which also reaches the recorded program, sets [`STOP`]; the
/// second one ends this process at once.
fn handle_interrupts(folder: &Path) -> Result<(), Complaint> {
    let folder = folder.to_owned();
    ctrlc::set_handler(move || {
        if STOP.swap(true, Ordering::Relaxed) {
            write_stderr(&format!("ended; the logs of the ranks are in {}, not complete", folder.display()));
            std::process::exit(Exit::Interrupted as i32);
        }
        write_stderr("interrupted: waiting for the program to end; press Ctrl-C again to end at once (the logs stay, not complete)");
    })
    .map_err(|error| {
        Complaint::new(Exit::Failed, format!("cannot listen for Ctrl-C: {error}"), "run it from an ordinary shell")
    })
}

/// Reads the logs of the ranks and writes them as a container. If the program ended prematurely, the container says
/// how.
fn keep_recorded(folder: &Path, output: &Path, ended: Option<String>, quiet: bool) -> Result<(), Complaint> {
    let mut trace = formats::read(folder, &ReadOptions::default())?;
    if !quiet {
        trace.notes.iter().for_each(|note| write_stderr(&format!("note: {note}")));
        trace.warnings.iter().for_each(|warning| write_stderr(&format!("warning: {warning}")));
    }
    trace.warnings.extend(ended.map(|how| format!("not complete: the recorded program {how}")));
    store_program(output, &header(&trace, "recorded"), &trace.program, quiet)
}
