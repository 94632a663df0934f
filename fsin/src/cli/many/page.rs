//! `fsin report`.

use std::io::Read;
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use fsin::report::{Baseline, Subject, page};
use fsin::sweep::{Collected, Plan, Saturations, Store, open};

use crate::cli::many::{compare, plot};
use crate::cli::{Complaint, Exit, Flags, output};

/// The first bytes of every page.
const PAGE: &[u8] = b"<!DOCTYPE html>";

/// Writes the page of a sweep.
pub(crate) fn report(matches: &ArgMatches) -> Result<Exit, Complaint> {
    let folder = matches.get_one::<PathBuf>("folder").cloned().unwrap_or_default();
    let saturations = Saturations::load(&folder)?;
    let (plan, collected) = match open(&folder) {
        // The folder contains only saturation searches.
        Err(_) if saturations.is_some() && !Store::at(&folder).exists() && !folder.join("result.json").exists() => {
            (Plan::of_nothing(), Collected::default())
        }
        opened => opened?,
    };
    let name = |folder: &Path| {
        let absolute = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        absolute.file_name().map_or_else(|| "results".to_owned(), |name| name.to_string_lossy().into_owned())
    };
    let baseline = match matches.get_one::<PathBuf>("baseline") {
        Some(folder) => Some((name(folder), open(folder)?)),
        None => None,
    };
    let margin = compare::margin(matches);
    let baseline = baseline.as_ref().map(|(name, (plan, collected))| Baseline { name, plan, collected, margin });
    let own = match &baseline {
        // Folders of the same name are distinguished by their paths.
        Some(baseline) if baseline.name == name(&folder) => folder.display().to_string(),
        _ => name(&folder),
    };
    let title = matches.get_one::<String>("title").map(String::as_str);
    let subject = Subject { name: &own, title, plan: &plan, collected: &collected, saturations: saturations.as_ref() };
    let html = page(subject, baseline, plot::scale(matches), &Flags);
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

/// True for a file that is neither empty nor a page.
fn holds_something_else(file: &Path) -> bool {
    let mut begin = [0; PAGE.len()];
    let Ok(length) = std::fs::File::open(file).and_then(|mut file| file.read(&mut begin)) else { return false };
    length > 0 && !begin[..length].eq_ignore_ascii_case(PAGE)
}
