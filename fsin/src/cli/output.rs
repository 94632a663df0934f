//! Where words go: results to stdout or files, everything else to stderr.

use std::fs;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};

use fsin::report::{self, Format};
use serde_json::{Map, Value};

use super::{Complaint, Exit};

/// A line for the user, on stderr. Nobody listening is no error.
pub(crate) fn tell(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// True if stderr is a terminal and nobody asked for no colour.
pub(crate) fn stderr_wants_colour() -> bool {
    io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Writes figures to stdout. A reader that has gone (a broken pipe) is no error.
pub(crate) fn print(format: Format, figures: &Map<String, Value>) -> Result<(), Complaint> {
    let written = report::write(format, figures, &mut io::stdout().lock());
    ignore_broken_pipe(written)
}

/// Writes text to stdout.
pub(crate) fn print_text(text: &str) -> Result<(), Complaint> {
    ignore_broken_pipe(io::stdout().lock().write_all(text.as_bytes()))
}

fn ignore_broken_pipe(written: io::Result<()>) -> Result<(), Complaint> {
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            let what = format!("cannot write the results to stdout: {error}");
            Err(Complaint::new(Exit::Failed, what, "free some space, or use -o DIR elsewhere"))
        }
        _ => Ok(()),
    }
}

/// Refuses a folder for results that already holds something.
pub(crate) fn check_folder(folder: &Path) -> Result<(), Complaint> {
    let occupied = match fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_some(),
        Err(error) => error.kind() != ErrorKind::NotFound,
    };
    if occupied {
        let what = format!("-o {}: something is there already", folder.display());
        return Err(Complaint::new(Exit::Usage, what, "name a folder that does not exist yet; nothing is overwritten"));
    }
    Ok(())
}

/// Keeps results in a new folder: written under a temporary name beside it, then renamed, so that a folder of this name
/// is always complete.
pub(crate) fn keep(folder: &Path, figures: &Map<String, Value>, experiment: &str) -> Result<(), Complaint> {
    let failed = |error: io::Error| {
        let what = format!("cannot keep the results in {}: {error}", folder.display());
        Complaint::new(Exit::Failed, what, "name a folder that can be created, with -o DIR")
    };
    check_folder(folder)?;
    let temporary = temporary_beside(folder);
    let written = (|| {
        fs::create_dir_all(&temporary)?;
        let mut result = fs::File::create(temporary.join("result.json"))?;
        report::write(Format::Json, figures, &mut result)?;
        let mut manifest = serde_json::to_string_pretty(&figures["manifest"])?;
        manifest.push('\n');
        fs::write(temporary.join("manifest.json"), manifest)?;
        fs::write(temporary.join("experiment.toml"), experiment)?;
        match fs::remove_dir(folder) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        fs::rename(&temporary, folder)
    })();
    if written.is_err() {
        let _ = fs::remove_dir_all(&temporary);
    }
    written.map_err(failed)
}

fn temporary_beside(folder: &Path) -> PathBuf {
    let name = folder.file_name().map_or_else(|| "results".into(), |name| name.to_string_lossy().into_owned());
    folder.with_file_name(format!(".{name}.{}.partial", std::process::id()))
}
