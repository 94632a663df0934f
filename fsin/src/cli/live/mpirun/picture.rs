//! `--heat-map`: who sends how much to whom, as a picture.

use std::path::Path;

#[cfg(feature = "plots")]
use fsin::report::Graphic;
use fsin::report::traffic_picture;
use fsin::result::RunResult;

use crate::cli::output::NewFile;
use crate::cli::{Complaint, Exit};

/// A picture to be drawn at the end of the run.
pub(super) struct Map {
    /// Its flag and name, for errors.
    named: String,
    file: NewFile,
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
    Ok(Map { file: NewFile::create(named.clone(), path)?, named, is_png })
}

impl Map {
    /// Draws the traffic of a result.
    pub(super) fn draw(self, result: &RunResult) -> Result<(), Complaint> {
        let Some(svg) = traffic_picture(result) else {
            let what =
                format!("{}: there is nothing to draw: no rank sent anything, or there are more than 512", self.named);
            return Err(Complaint::new(Exit::Failed, what, "leave it out; the results (-o FILE) have the numbers"));
        };
        let content = match self.is_png {
            #[cfg(feature = "plots")]
            true => Graphic::Png.of(&svg)?,
            _ => svg.into_bytes(),
        };
        self.file.write(&mut |out| out.write_all(&content))
    }
}
