//! `--heat-map`: who sends how much to whom, as a picture.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

#[cfg(feature = "plots")]
use fsin::report::Graphic;
use fsin::report::traffic_picture;
use fsin::result::RunResult;

use crate::cli::{Complaint, Exit, output};

/// A picture to be drawn at the end of the run.
pub(super) struct Map {
    path: PathBuf,
    file: File,
    /// True for PNG, false for SVG.
    is_png: bool,
}

/// Creates the file, whose extension determines the format.
pub(super) fn open(path: &Path) -> Result<Map, Complaint> {
    let named = format!("--heat-map {}", path.display());
    let is_png = match path.extension().and_then(|end| end.to_str()) {
        Some("svg") => false,
        #[cfg(feature = "plots")]
        Some("png") => true,
        _ => {
            return Err(Complaint::new(
                Exit::Usage,
                format!("{named}: its name says no format"),
                "name a file .svg or .png",
            ));
        }
    };
    Ok(Map { path: path.to_owned(), file: output::create_file(&named, path)?, is_png })
}

impl Map {
    /// Draws the traffic of a result.
    pub(super) fn draw(mut self, result: &RunResult) -> Result<(), Complaint> {
        let named = format!("--heat-map {}", self.path.display());
        let Some(svg) = traffic_picture(result) else {
            let what = format!("{named}: there is nothing to draw: no rank sent anything, or there are more than 512");
            return Err(Complaint::new(Exit::Failed, what, "leave it out; the results (-o FILE) have the numbers"));
        };
        let content = match self.is_png {
            #[cfg(feature = "plots")]
            true => Graphic::Png.of(&svg)?,
            _ => svg.into_bytes(),
        };
        self.file.write_all(&content).map_err(|error| {
            Complaint::new(Exit::Failed, format!("{named}: {error}"), "free some space, or write elsewhere")
        })
    }
}
