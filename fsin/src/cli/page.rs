//! `fsin report`.

use std::io::Read;
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use fsin::report::{Baseline, page};
use fsin::sweep::open;

use super::{Complaint, Exit, output, plot};

/// What every page begins with.
const PAGE: &[u8] = b"<!DOCTYPE html>";

/// Writes the page of a sweep.
pub(crate) fn report(matches: &ArgMatches) -> Result<Exit, Complaint> {
    let folder = matches.get_one::<PathBuf>("folder").cloned().unwrap_or_default();
    let (plan, collected) = open(&folder)?;
    let name = |folder: &Path| {
        let absolute = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        absolute.file_name().map_or_else(|| "results".to_owned(), |name| name.to_string_lossy().into_owned())
    };
    let baseline = match matches.get_one::<PathBuf>("baseline") {
        Some(folder) => Some((name(folder), open(folder)?)),
        None => None,
    };
    let baseline = baseline.as_ref().map(|(name, (plan, collected))| Baseline { name, plan, collected });
    let title = matches.get_one::<String>("title").cloned().unwrap_or_else(|| name(&folder));
    let html = page(&title, &plan, &collected, baseline, plot::scale(matches));
    let file = matches.get_one::<PathBuf>("output").cloned().unwrap_or_else(|| folder.join("report.html"));
    if !output::is_stream(&file) && holds_something_else(&file) {
        let what = format!("-o {}: the file exists and is no page", file.display());
        return Err(Complaint::new(Exit::Usage, what, "name another file; only an earlier page is replaced"));
    }
    output::replace_file(&file, &html).map_err(|error| {
        let what = format!("cannot write {}: {error}", file.display());
        Complaint::new(Exit::Failed, what, "name a file where you may write: -o FILE")
    })?;
    if !matches.get_flag("quiet") {
        output::tell(&format!("{}: open it in a browser", file.display()));
    }
    Ok(Exit::Done)
}

/// True of a file that is neither empty nor HTML.
fn holds_something_else(file: &Path) -> bool {
    let mut begin = [0; PAGE.len()];
    let Ok(length) = std::fs::File::open(file).and_then(|mut file| file.read(&mut begin)) else { return false };
    length > 0 && !begin[..length].eq_ignore_ascii_case(PAGE)
}
