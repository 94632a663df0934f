//! Pictures in the formats of papers and slides, converted from SVG. The font is built in: pictures do not depend on
//! the fonts of the host.

use std::sync::{Arc, LazyLock};

use resvg::tiny_skia::{Pixmap, Transform};
use svg2pdf::usvg;
use thiserror::Error;

/// Name of the font's family.
const FAMILY: &str = "DejaVu Sans";

/// \[dots/inch\] Size of a unit in print: 1000 units are the width of a column, 85 mm.
const DPI: f32 = 300.0;

/// \[pixels/unit\] Resolution of PNG: 600 dots per inch at the width of a column.
const PIXELS: f32 = 2.0;

/// A format converted from SVG.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Graphic {
    /// Pixels, two for each unit of the picture.
    Png,
    /// Vector graphics; 1000 units are 85 mm.
    Pdf,
}

/// A picture that cannot be converted.
#[derive(Clone, PartialEq, Eq, Error, Debug)]
#[error("cannot make {format}: {why}")]
pub struct ConvertError {
    /// The target format.
    pub format: &'static str,
    /// The reason.
    pub why: String,
}

/// Options of the conversion, with the built-in font.
static OPTIONS: LazyLock<usvg::Options<'static>> = LazyLock::new(|| {
    let mut fonts = usvg::fontdb::Database::new();
    fonts.load_font_data(dejavu::sans::regular().to_vec());
    fonts.set_sans_serif_family(FAMILY);
    usvg::Options { font_family: FAMILY.to_owned(), fontdb: Arc::new(fonts), ..usvg::Options::default() }
});

/// A picture with its texts laid out.
///
/// # Errors
/// Invalid SVG.
pub(crate) fn tree(svg: &str) -> Result<usvg::Tree, ConvertError> {
    usvg::Tree::from_str(svg, &OPTIONS).map_err(|error| ConvertError { format: "a picture", why: error.to_string() })
}

impl Graphic {
    /// The picture in this format.
    ///
    /// # Errors
    /// Invalid SVG, or a picture too large for pixels.
    pub fn of(self, svg: &str) -> Result<Vec<u8>, ConvertError> {
        let failed = |why: String| ConvertError { format: self.name(), why };
        let tree = usvg::Tree::from_str(svg, &OPTIONS).map_err(|error| failed(error.to_string()))?;
        match self {
            Self::Pdf => {
                let page = svg2pdf::PageOptions { dpi: DPI };
                svg2pdf::to_pdf(&tree, svg2pdf::ConversionOptions::default(), page)
                    .map_err(|error| failed(error.to_string()))
            }
            Self::Png => {
                let size = tree.size().to_int_size().scale_by(PIXELS);
                let pixels = size.and_then(|size| Pixmap::new(size.width(), size.height()));
                let mut pixels = pixels.ok_or_else(|| failed("the picture is too large".to_owned()))?;
                resvg::render(&tree, Transform::from_scale(PIXELS, PIXELS), &mut pixels.as_mut());
                pixels.encode_png().map_err(|error| failed(error.to_string()))
            }
        }
    }

    /// Name of the format.
    const fn name(self) -> &'static str {
        match self {
            Self::Png => "PNG",
            Self::Pdf => "PDF",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn svg(words: &str) -> String {
        format!(
            "<svg width=\"100\" height=\"40\" viewBox=\"0 0 100 40\" xmlns=\"http://www.w3.org/2000/svg\">\
             <text x=\"4\" y=\"30\" font-family=\"sans-serif\" font-size=\"27.4\">{words}</text></svg>"
        )
    }

    /// Number of inked pixels.
    fn ink(words: &str) -> usize {
        let png = Graphic::Png.of(&svg(words)).unwrap();
        let pixels = Pixmap::decode_png(&png).unwrap();
        assert_eq!((pixels.width(), pixels.height()), (200, 80));
        pixels.pixels().iter().filter(|pixel| pixel.alpha() > 127).count()
    }

    #[test]
    fn letters_are_there_and_of_the_font_that_is_built_in() {
        assert_eq!(ink(""), 0);
        let (one, both) = (ink("µ"), ink("µs"));
        assert!(one > 100 && both > one + 100, "{one}, {both}");
        let pdf = Graphic::Pdf.of(&svg("load")).unwrap();
        let has = |word: &[u8]| pdf.windows(word.len()).any(|part| part == word);
        assert!(has(b"%PDF-") && has(b"DejaVuSans") && has(b"/MediaBox [0 0 24 "), "100 units are 24 points");
    }

    #[test]
    fn the_same_picture_is_the_same_file() {
        for format in [Graphic::Png, Graphic::Pdf] {
            assert_eq!(format.of(&svg("load")), format.of(&svg("load")));
            let refused = format.of("<svg").unwrap_err();
            assert!(refused.to_string().starts_with("cannot make P"), "{refused}");
        }
    }
}
