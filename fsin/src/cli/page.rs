//! `fsin report`.

use std::path::{Path, PathBuf};

use clap::ArgMatches;
use fsin::report::{Baseline, page};
use fsin::sweep::open;

use super::{Complaint, Exit, output, plot};

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
    output::replace_file(&file, &html).map_err(|error| {
        let what = format!("cannot write {}: {error}", file.display());
        Complaint::new(Exit::Failed, what, "name a file where you may write: -o FILE")
    })?;
    if !matches.get_flag("quiet") {
        output::tell(&format!("{}: open it in a browser", file.display()));
    }
    Ok(Exit::Done)
}
