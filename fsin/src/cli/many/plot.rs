//! The command `fsin plot`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::ArgMatches;
#[cfg(feature = "plots")]
use fsin::report::{ConvertError, Graphic};
use fsin::report::{
    Picture, Range, Scale, Style, by_part, by_size, link_pictures, pictures, port_pictures, searches, transients,
};
use fsin::sweep::{Choice, Curves, Saturations, open};
use fsin::words::counted;

use crate::cli::{Complaint, Exit, output};

/// Formats of `--format`, which are also file extensions.
pub(crate) const FORMATS: &[&str] = &[
    "svg",
    #[cfg(feature = "plots")]
    "pdf",
    #[cfg(feature = "plots")]
    "png",
    "pgf",
];

/// Draws the curves of a sweep.
pub(crate) fn plot(matches: &ArgMatches) -> Result<Exit, Complaint> {
    let folder = matches.get_one::<PathBuf>("folder").cloned().unwrap_or_default();
    let (plan, collected) = open(&folder)?;
    output::warn_of_parts(&folder, &collected);
    if !matches.get_flag("quiet") {
        output::warn_of_runs(&format!("{}: ", folder.display()), &collected);
    }
    let words = |name: &str| matches.get_many::<String>(name).into_iter().flatten().cloned();
    let choice = Choice {
        along: words("along").next(),
        each: words("each").collect(),
        only: matches.get_many::<(String, String)>("only").into_iter().flatten().cloned().collect(),
        names: matches.get_many::<(String, String)>("name").into_iter().flatten().cloned().collect(),
    };
    let curves = Curves::chosen(&plan, &collected, &choice)
        .map_err(|refusal| Complaint::new(Exit::Usage, refusal.what(), refusal.remedy()))?;
    let style = style(matches)?;
    let (pictures, others) = match (matches.get_flag("over-time"), matches.get_flag("by-size")) {
        (true, _) => (transients(&curves, &collected, &style), 0),
        (_, true) => (by_size(&curves, &collected, &style), 0),
        _ if matches.get_flag("ports") => port_pictures(&plan, &collected),
        _ => {
            let (links, others) = link_pictures(&plan, &curves, &collected);
            let parts = by_part(&curves, &collected, &style);
            (pictures(&curves, &collected, &style).into_iter().chain(parts).chain(links).collect(), others)
        }
    };
    if pictures.is_empty() && matches.get_flag("over-time") {
        let what =
            format!("{}: no run has more than one batch, so that there is no time to draw along", folder.display());
        return Err(Complaint::new(Exit::Usage, what, "run it with more --samples"));
    }
    if pictures.is_empty() && matches.get_flag("by-size") {
        let what = format!("{}: no run has kept the times of ten messages", folder.display());
        return Err(Complaint::new(Exit::Usage, what, "run it with --message-stats"));
    }
    if pictures.is_empty() && matches.get_flag("ports") {
        let what = format!("{}: no port of any run was paused or has marked a frame", folder.display());
        let remedy = "run it with --network ethernet and --pause pfc or --ecn, and without --port-stats none";
        return Err(Complaint::new(Exit::Usage, what, remedy));
    }
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
    let extension = target.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    if FORMATS.contains(&extension) && !target.exists() {
        let what = format!("-o {}: it is the name of a file, and pictures go into a folder", target.display());
        return Err(Complaint::new(Exit::Usage, what, format!("name a folder: -o DIR --format {extension}")));
    }
    let formats: Vec<&str> = matches.get_many::<String>("format").into_iter().flatten().map(String::as_str).collect();
    fs::create_dir_all(&target).map_err(|error| cannot_write(&target, &error))?;
    for picture in &pictures {
        output::replace_file(&target.join(format!("{}.csv", picture.name)), &picture.data)
            .map_err(|error| cannot_write(&target, &error))?;
        let mut extensions: Vec<&str> = Vec::new();
        for &format in &formats {
            let Some(content) = content(picture, format)? else { continue };
            let file = target.join(format!("{}.{format}", picture.name));
            output::replace_file(&file, content).map_err(|error| cannot_write(&target, &error))?;
            extensions.push(format);
        }
        if !matches.get_flag("quiet") && !extensions.is_empty() {
            let hidden = if picture.hidden.is_empty() { String::new() } else { format!(" ({})", picture.hidden) };
            let file = target.join(format!("{}.{}", picture.name, extensions.join(",")));
            output::tell(&format!("{}: {}{hidden}", file.display(), picture.caption));
        }
    }
    if !matches.get_flag("quiet") {
        if others > 0 && matches.get_flag("ports") {
            output::tell(&format!("note: no pictures of {others} further results with ports"));
        } else if others > 0 {
            output::tell(&format!(
                "note: no heat map of {others} further results with link loads: too many, or too large"
            ));
        }
        let maps = pictures.iter().filter(|picture| picture.pgf.is_none()).count();
        if maps > 0 && formats.contains(&"pgf") {
            let maps = counted(maps, "heat map", "heat maps");
            output::tell(&format!("note: {maps} of links not drawn for pgf: use --format pdf as well"));
        }
        if let names @ [_, ..] = &*earlier(&target, &pictures, &formats) {
            let (names, target) = (names.join(", "), target.display());
            output::tell(&format!("note: in {target} of an earlier plot, if not your own: {names}"));
        }
    }
    Ok(Exit::Done)
}

/// The error of a folder into which pictures cannot be written.
pub(crate) fn cannot_write(target: &Path, error: &io::Error) -> Complaint {
    let what = format!("cannot write in {}: {error}", target.display());
    Complaint::new(Exit::Failed, what, "name a folder where you may write: -o DIR")
}

#[cfg(feature = "plots")]
impl From<ConvertError> for Complaint {
    fn from(error: ConvertError) -> Self {
        Self::new(Exit::Failed, error.to_string(), "use --format svg, which is written as it is drawn")
    }
}

/// Writes the pictures of searches into `plots` of a folder, and prints their paths unless `is_quiet`.
pub(super) fn write_searches(folder: &Path, found: &Saturations, is_quiet: bool) -> Result<(), Complaint> {
    let target = folder.join("plots");
    let pictures = searches(found, &Style::default());
    if !pictures.is_empty() {
        fs::create_dir_all(&target).map_err(|error| cannot_write(&target, &error))?;
    }
    let formats: &[&str] = if FORMATS.contains(&"png") { &["svg", "png"] } else { &["svg"] };
    for picture in &pictures {
        let file = |extension: &str| target.join(format!("{}.{extension}", picture.name));
        output::replace_file(&file("csv"), &picture.data).map_err(|error| cannot_write(&target, &error))?;
        for format in formats {
            let Some(content) = content(picture, format)? else { continue };
            output::replace_file(&file(format), content).map_err(|error| cannot_write(&target, &error))?;
        }
        if !is_quiet {
            output::tell(&format!("{}: {}", file(&formats.join(",")).display(), picture.caption));
        }
    }
    Ok(())
}

/// A picture in a format; `None` for heat maps in LaTeX source.
fn content(picture: &Picture, format: &str) -> Result<Option<Vec<u8>>, Complaint> {
    Ok(match format {
        #[cfg(feature = "plots")]
        "png" => Some(Graphic::Png.of(&picture.svg)?),
        #[cfg(feature = "plots")]
        "pdf" => Some(Graphic::Pdf.of(&picture.svg)?),
        "pgf" => picture.pgf.clone().map(String::into_bytes),
        _ => Some(picture.svg.clone().into_bytes()),
    })
}

/// The style of pictures that the flags choose.
fn style(matches: &ArgMatches) -> Result<Style, Complaint> {
    let ranges: Vec<Range> = matches.get_many::<Range>("range").into_iter().flatten().cloned().collect();
    let style = Style {
        scale: scale(matches),
        is_whole: false,
        saturated: matches.get_flag("saturated"),
        panels: matches.get_flag("panels"),
        title: matches.get_one::<String>("title").cloned().unwrap_or_default(),
        xmax: matches.get_one::<f64>("xmax").copied(),
        ymax: matches.get_one::<f64>("ymax").copied(),
        ranges,
    };
    let log =
        |range: &&Range| style.scale == Scale::Log && range.low <= 0.0 && !["x", "accepted"].contains(&&*range.of);
    if let Some(Range { of, low, high }) = style.ranges.iter().find(log) {
        let what = format!("--range {of}={low}..{high}: a logarithmic axis begins above 0");
        return Err(Complaint::new(Exit::Usage, what, "give a positive beginning, or use --scale linear"));
    }
    Ok(style)
}

/// Parses the range of an axis, `NAME=LOW..HIGH`.
pub(crate) fn range(word: &str) -> Result<Range, String> {
    let parts = word.split_once('=').and_then(|(of, ends)| ends.split_once("..").map(|(low, high)| (of, low, high)));
    let Some((of, low, high)) = parts else { return Err("write NAME=LOW..HIGH, such as latency=0..200".to_owned()) };
    if of != "x" && !Picture::KINDS.contains(&of) {
        return Err(format!("`{of}` is no axis; use x, {}", Picture::KINDS.join(", ")));
    }
    let number = |word: &str| word.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    match (number(low), number(high)) {
        (Some(low), Some(high)) if low < high => Ok(Range { of: of.to_owned(), low, high }),
        _ => Err("its ends are two numbers, the smaller one first".to_owned()),
    }
}

/// Names of pictures in a folder that are of the same kinds as the new ones, and not among them.
fn earlier(folder: &Path, pictures: &[Picture], formats: &[&str]) -> Vec<String> {
    let is_of =
        |name: &str, kind: &str| name.strip_prefix(kind).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'));
    let is_earlier =
        |name: &str| pictures.iter().any(|new| is_of(name, new.kind)) && !pictures.iter().any(|new| new.name == *name);
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = files.filter_map(|file| file.file_name().into_string().ok());
    let is_picture =
        |file: &String| file.rsplit_once('.').is_some_and(|(name, end)| formats.contains(&end) && is_earlier(name));
    let mut found: Vec<String> = names.filter(is_picture).collect();
    found.sort();
    found
}

/// The scale that `--scale` chooses.
pub(crate) fn scale(matches: &ArgMatches) -> Scale {
    match matches.get_one::<String>("scale").map_or("auto", String::as_str) {
        "linear" => Scale::Linear,
        "log" => Scale::Log,
        _ => Scale::Auto,
    }
}
