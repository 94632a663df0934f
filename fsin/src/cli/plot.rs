//! `fsin plot`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use fsin::report::{Picture, Scale, link_pictures, pictures};
use fsin::sweep::{Choice, Curves, open};

use super::{Complaint, Exit, output};

/// Draws the curves of a sweep.
pub(crate) fn plot(matches: &ArgMatches) -> Result<Exit, Complaint> {
    let folder = matches.get_one::<PathBuf>("folder").cloned().unwrap_or_default();
    let (plan, collected) = open(&folder)?;
    output::warn_of_parts(&folder, &collected);
    let words = |name: &str| matches.get_many::<String>(name).into_iter().flatten().cloned();
    let choice = Choice {
        along: words("along").next(),
        each: words("each").collect(),
        only: matches.get_many::<(String, String)>("only").into_iter().flatten().cloned().collect(),
    };
    let curves = Curves::chosen(&plan, &collected, &choice)
        .map_err(|refusal| Complaint::new(Exit::Usage, refusal.to_string(), refusal.remedy()))?;
    let mut pictures = pictures(&curves, &collected, scale(matches));
    let (links, others) = link_pictures(&plan, &curves, &collected);
    pictures.extend(links);
    if pictures.is_empty() && !collected.rows.is_empty() && !curves.is_along {
        let runs = match &collected.rows[..] {
            [_] => "one run of traffic without a load",
            _ => "runs that differ in their seeds alone",
        };
        let what = format!("{}: {runs}: there is nothing to draw a curve along", folder.display());
        let remedy = format!(
            "its figures: fsin report {}; curves: fsin sweep with several values of a flag; a heat map of its links: run it \
             with --link-loads",
            folder.display()
        );
        return Err(Complaint::new(Exit::Usage, what, remedy));
    }
    if pictures.is_empty() && !choice.only.is_empty() {
        let what = format!("{}: no result has all the values of --only", folder.display());
        return Err(Complaint::new(Exit::Usage, what, "leave some out; `fsin collect DIR` says what has run"));
    }
    if pictures.is_empty() {
        let what = format!("{}: no point has a figure that can be drawn", folder.display());
        return Err(Complaint::new(Exit::Usage, what, "run the sweep: fsin sweep --resume -o DIR"));
    }
    let target = matches.get_one::<PathBuf>("output").cloned().unwrap_or_else(|| folder.join("plots"));
    if target.exists() && !target.is_dir() {
        let what = format!("-o {}: it is a file, and pictures go into a folder", target.display());
        return Err(Complaint::new(Exit::Usage, what, "name a folder: -o DIR"));
    }
    let written: io::Result<()> = fs::create_dir_all(&target).and_then(|()| {
        for picture in &pictures {
            output::replace_file(&target.join(format!("{}.svg", picture.name)), &picture.svg)?;
            output::replace_file(&target.join(format!("{}.csv", picture.name)), &picture.data)?;
            if !matches.get_flag("quiet") {
                output::tell(&format!(
                    "{}: {}",
                    target.join(format!("{}.svg", picture.name)).display(),
                    picture.caption
                ));
            }
        }
        Ok(())
    });
    written.map_err(|error| {
        let what = format!("cannot write in {}: {error}", target.display());
        Complaint::new(Exit::Failed, what, "name a folder where you may write: -o DIR")
    })?;
    if !matches.get_flag("quiet") {
        if others > 0 {
            output::tell(&format!(
                "note: no heat map of {others} further results with link loads: too many, or too large"
            ));
        }
        if let names @ [_, ..] = &*earlier(&target, &pictures) {
            let (names, target) = (names.join(", "), target.display());
            output::tell(&format!("note: in {target} of an earlier plot, if not your own: {names}"));
        }
    }
    Ok(Exit::Done)
}

/// Pictures in a folder that are of the kinds of these, and not among them.
fn earlier(folder: &Path, pictures: &[Picture]) -> Vec<String> {
    let is_of =
        |name: &str, kind: &str| name.strip_prefix(kind).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'));
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = files.filter_map(|file| Some(file.file_name().to_str()?.strip_suffix(".svg")?.to_owned()));
    let is_earlier = |name: &String| {
        pictures.iter().any(|new| is_of(name, new.kind)) && !pictures.iter().any(|new| new.name == *name)
    };
    let mut found: Vec<String> = names.filter(is_earlier).map(|name| format!("{name}.svg")).collect();
    found.sort();
    found
}

/// The scale that `--scale` names.
pub(crate) fn scale(matches: &ArgMatches) -> Scale {
    match matches.get_one::<String>("scale").map_or("auto", String::as_str) {
        "linear" => Scale::Linear,
        "log" => Scale::Log,
        _ => Scale::Auto,
    }
}
