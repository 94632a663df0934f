//! `fsin plot`.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use fsin::report::{Picture, Scale, link_pictures, pictures};
use fsin::sweep::{Curves, open};

use super::{Complaint, Exit, output};

/// Draws the curves of a sweep.
pub(crate) fn plot(matches: &ArgMatches) -> Result<Exit, Complaint> {
    let folder = matches.get_one::<PathBuf>("folder").cloned().unwrap_or_default();
    let (plan, collected) = open(&folder)?;
    output::warn_of_parts(&folder, &collected);
    let curves = Curves::of(&plan, &collected);
    let mut pictures = pictures(&curves, &collected, scale(matches));
    let (links, others) = link_pictures(&plan, &curves, &collected);
    pictures.extend(links);
    if pictures.is_empty() && !collected.rows.is_empty() && !curves.is_along {
        let what =
            format!("{}: one run of traffic without a load: there is nothing to draw a curve along", folder.display());
        let remedy = format!(
            "its figures: fsin report {}; curves: fsin sweep with several values of a flag; a heat map of its links: run it \
             with --link-loads",
            folder.display()
        );
        return Err(Complaint::new(Exit::Usage, what, remedy));
    }
    if pictures.is_empty() {
        let what = format!("{}: no point has a figure that can be drawn", folder.display());
        return Err(Complaint::new(Exit::Usage, what, "run the sweep: fsin sweep --resume -o DIR"));
    }
    let target = matches.get_one::<PathBuf>("output").cloned().unwrap_or_else(|| folder.join("plots"));
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
    if others > 0 {
        output::tell(&format!("note: no heat map of {others} further results with link loads: too many, or too large"));
    }
    for name in earlier(&target, &pictures) {
        let path = target.join(name);
        output::tell(&format!("note: {} is of an earlier plot, not of these results; remove it", path.display()));
    }
    Ok(Exit::Done)
}

/// Pictures in a folder that have names such as these have, and are not among them.
fn earlier(folder: &Path, pictures: &[Picture]) -> Vec<String> {
    let base =
        |name: &str| name.trim_end_matches(|letter: char| letter.is_ascii_digit()).trim_end_matches('-').to_owned();
    let bases: BTreeSet<String> = pictures.iter().map(|picture| base(&picture.name)).collect();
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = files.filter_map(|file| Some(file.file_name().to_str()?.strip_suffix(".svg")?.to_owned()));
    let is_earlier = |name: &String| bases.contains(&base(name)) && !pictures.iter().any(|new| new.name == *name);
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
