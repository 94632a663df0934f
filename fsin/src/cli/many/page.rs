//! `fsin report`.

use std::io::Read;
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use fsin::report::{Baseline, Subject, joint_page, page};
use fsin::sweep::{Collected, Plan, Saturations, Store, open};

use crate::cli::many::{compare, plot};
use crate::cli::{Complaint, Exit, Flags, output};

/// The first bytes of every page.
const PAGE: &[u8] = b"<!DOCTYPE html>";

/// The results of a folder.
struct Part {
    folder: PathBuf,
    plan: Plan,
    collected: Collected,
    saturations: Option<Saturations>,
}

impl Part {
    /// Reads a folder: a sweep, a run, or saturation searches.
    fn open(folder: &Path) -> Result<Self, Complaint> {
        let saturations = Saturations::load(folder)?;
        let (plan, collected) = match open(folder) {
            // The folder contains only saturation searches.
            Err(_) if saturations.is_some() && !Store::at(folder).exists() && !folder.join("result.json").exists() => {
                (Plan::of_nothing(), Collected::default())
            }
            opened => opened?,
        };
        Ok(Self { folder: folder.to_owned(), plan, collected, saturations })
    }

    /// The part for a page.
    fn subject<'a>(&'a self, name: &'a str, title: Option<&'a str>) -> Subject<'a> {
        let Self { plan, collected, saturations, .. } = self;
        Subject { name, title, plan, collected, saturations: saturations.as_ref() }
    }
}

/// The last part of the path of a folder.
fn name(folder: &Path) -> String {
    let absolute = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    absolute.file_name().map_or_else(|| "results".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// Names of folders; those of the same name are distinguished by their paths.
fn names(folders: &[&Path]) -> Vec<String> {
    let names: Vec<String> = folders.iter().map(|folder| name(folder)).collect();
    let is_alone = |name: &String| names.iter().filter(|other| *other == name).count() == 1;
    let distinct = |(name, folder): (&String, &&Path)| {
        if is_alone(name) { name.clone() } else { folder.display().to_string() }
    };
    names.iter().zip(folders).map(distinct).collect()
}

/// Writes the page of one folder, or of several.
pub(crate) fn report(matches: &ArgMatches) -> Result<Exit, Complaint> {
    let folders: Vec<PathBuf> = matches.get_many("folder").into_iter().flatten().cloned().collect();
    let title = matches.get_one::<String>("title").map(String::as_str);
    let output = matches.get_one::<PathBuf>("output");
    let parts = folders.iter().map(|folder| Part::open(folder)).collect::<Result<Vec<_>, _>>()?;
    let (html, file) = match &parts[..] {
        [part] => {
            let html = alone(part, title, matches)?;
            (html, output.cloned().unwrap_or_else(|| part.folder.join("report.html")))
        }
        parts => {
            if matches.contains_id("baseline") {
                let remedy = "compare folders one by one: fsin report DIR --baseline DIR";
                return Err(Complaint::new(Exit::Usage, "--baseline is for the page of one folder", remedy));
            }
            let Some(file) = output else {
                let what = format!("the page of {} folders needs a file", parts.len());
                return Err(Complaint::new(Exit::Usage, what, "name it: -o page.html"));
            };
            (together(parts, title, matches), file.clone())
        }
    };
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

/// The page of one folder, beside a baseline if there is one.
fn alone(part: &Part, title: Option<&str>, matches: &ArgMatches) -> Result<String, Complaint> {
    let other = matches.get_one::<PathBuf>("baseline");
    let other = other.map(|folder| Ok::<_, Complaint>((folder, open(folder)?))).transpose()?;
    let folders: Vec<&Path> =
        [&part.folder].into_iter().chain(other.iter().map(|(folder, _)| *folder)).map(|folder| &**folder).collect();
    let names = names(&folders);
    let margin = compare::margin(matches);
    let baseline = other.as_ref().zip(names.get(1)).map(|((_, (plan, collected)), name)| Baseline {
        name,
        plan,
        collected,
        margin,
    });
    let own = names.first().map_or("results", String::as_str);
    Ok(page(part.subject(own, title), baseline, plot::scale(matches), &Flags))
}

/// The page of several folders.
fn together(parts: &[Part], title: Option<&str>, matches: &ArgMatches) -> String {
    let folders: Vec<&Path> = parts.iter().map(|part| &*part.folder).collect();
    let names = names(&folders);
    let subjects: Vec<Subject<'_>> = parts.iter().zip(&names).map(|(part, name)| part.subject(name, None)).collect();
    let title = title.map_or_else(|| names.join(", "), str::to_owned);
    joint_page(&title, &subjects, plot::scale(matches), &Flags)
}

/// True for a file that is neither empty nor a page.
fn holds_something_else(file: &Path) -> bool {
    let mut begin = [0; PAGE.len()];
    let Ok(length) = std::fs::File::open(file).and_then(|mut file| file.read(&mut begin)) else { return false };
    length > 0 && !begin[..length].eq_ignore_ascii_case(PAGE)
}
