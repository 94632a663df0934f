//! `fsin machines prepare`: what machines boot.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use adapters::image::SOURCES;
use clap::ArgMatches;

use super::flags;
use crate::cli::{Complaint, Exit, output};

/// `fsin machines prepare`: makes the image.
pub(super) fn prepare(matches: &ArgMatches) -> Result<Exit, Complaint> {
    let image = flags::image_of(matches)?;
    let failed = |path: &Path, error: std::io::Error| {
        let what = format!("--image {}: {error}", path.display());
        Complaint::new(Exit::Failed, what, "name a folder in a place where you may write")
    };
    let programs: Vec<&PathBuf> = matches.get_many("program").into_iter().flatten().collect();
    if let Some(program) = programs.iter().find(|program| !program.is_file()) {
        let what = format!("{}: there is no such file", program.display());
        return Err(Complaint::new(Exit::Usage, what, "name programs of this host"));
    }
    // The script and its input files are kept in the image, as its sources.
    let sources = image.join("sources");
    for (name, text) in SOURCES {
        let path = sources.join(name);
        let folder = path.parent().unwrap_or(&sources);
        fs::create_dir_all(folder).and_then(|()| fs::write(&path, text)).map_err(|error| failed(&path, error))?;
    }
    let status = Command::new("sh")
        .arg(sources.join("prepare"))
        .arg(&image)
        .args(&programs)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .map_err(|error| failed(Path::new("sh"), error))?;
    if !status.success() {
        let what = format!("the image in {} could not be made", image.display());
        return Err(Complaint::new(Exit::Failed, what, "see above what is missing; it needs Debian with apt"));
    }
    if !matches.get_flag("quiet") {
        output::tell(&format!("{}: machines can boot; fsin machines up", image.display()));
    }
    Ok(Exit::Done)
}
