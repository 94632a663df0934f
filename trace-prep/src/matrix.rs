//! The communication matrix, as CSV and as a picture.

use std::io::{self, Write};

use trgen::trace::matrix::{Matrix, Pair};

/// Writes one line per pair: `source,destination,messages,bytes`.
///
/// # Errors
/// When writing fails.
pub fn csv(matrix: &Matrix, out: impl Write) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(["source", "destination", "messages", "bytes"])?;
    for &Pair { source, destination, messages, bytes } in matrix.pairs() {
        writer.write_record([source.to_string(), destination.to_string(), messages.to_string(), bytes.to_string()])?;
    }
    writer.flush()
}

/// \[px\] Side of the matrix, and length of the scale below it.
const SIDE: f64 = 640.0;

/// Number of colours drawn in the scale.
const STEPS: usize = 64;

/// Draws bytes on a logarithmic scale, sources downwards, destinations to the right, with the scale below. With more
/// than 256 tasks, several share a cell.
///
/// # Errors
/// When writing fails.
pub fn svg(matrix: &Matrix, out: &mut dyn Write) -> io::Result<()> {
    /// Largest number of cells per row.
    const CELLS: usize = 256;
    let per_cell = matrix.tasks().div_ceil(CELLS).max(1);
    let cells = matrix.tasks().div_ceil(per_cell).max(1);
    let grouped = matrix.grouped(per_cell);
    let scale = Scale::covering(grouped.pairs().iter().map(|pair| pair.bytes));
    let size = SIDE / cells as f64;
    let (width, height) = (SIDE + 100.0, SIDE + 180.0);
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\" \
         font-size=\"14\">\n<rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n<g transform=\"translate(70,40)\">\n\
         <rect width=\"{SIDE}\" height=\"{SIDE}\" fill=\"{NOTHING}\" stroke=\"#888\"/>"
    )?;
    for &Pair { source: row, destination: column, bytes, .. } in grouped.pairs() {
        writeln!(
            out,
            "<rect x=\"{:.2}\" y=\"{:.2}\" width=\"{size:.2}\" height=\"{size:.2}\" fill=\"{}\"/>",
            f64::from(column) * size,
            f64::from(row) * size,
            scale.map_or_else(|| NOTHING.to_owned(), |scale| shade(scale.share(bytes)))
        )?;
    }
    let last = matrix.tasks().saturating_sub(1);
    writeln!(
        out,
        "<text x=\"0\" y=\"-12\">bytes from task (down) to task (right)</text>\n\
         <text x=\"0\" y=\"{0}\">0</text><text x=\"{SIDE}\" y=\"{0}\" text-anchor=\"end\">{last}</text>\n\
         <text x=\"-8\" y=\"14\" text-anchor=\"end\">0</text><text x=\"-8\" y=\"{SIDE}\" text-anchor=\"end\">{last}</text>",
        SIDE + 20.0
    )?;
    if let Some(scale) = scale {
        scale.draw(per_cell, out)?;
    }
    writeln!(out, "</g>\n</svg>")
}

/// Colour of cells without traffic.
const NOTHING: &str = "#f4f4f4";

/// Colour of a share (0 to 1): from light to dark blue.
fn shade(share: f64) -> String {
    let part = |light: f64, dark: f64| (light + (dark - light) * share).round() as u8;
    format!("#{:02x}{:02x}{:02x}", part(200.0, 8.0), part(220.0, 48.0), part(240.0, 107.0))
}

/// The logarithmic scale from bytes to shades.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Scale {
    /// \[bytes\] Least traffic of a cell with messages; 0 if all its messages are empty.
    least: u64,
    /// \[bytes\] Most traffic of a cell.
    most: u64,
}

impl Scale {
    /// The scale that covers the traffic of these cells; `None` without cells.
    fn covering(bytes: impl Iterator<Item = u64> + Clone) -> Option<Self> {
        Some(Self { least: bytes.clone().min()?, most: bytes.max()? })
    }

    /// Position of a value on the scale: 0 for the least, 1 for the most traffic.
    fn share(self, bytes: u64) -> f64 {
        let log = |bytes: u64| (bytes.max(1) as f64).ln();
        let span = log(self.most) - log(self.least);
        if span > 0.0 { ((log(bytes) - log(self.least)) / span).clamp(0.0, 1.0) } else { 1.0 }
    }

    /// \[bytes\] Value of the middle shade.
    fn middle(self) -> u64 {
        let (least, most) = (self.least.max(1) as f64, self.most.max(1) as f64);
        (least.sqrt() * most.sqrt()).round() as u64
    }

    /// Draws the scale with its values below the matrix.
    fn draw(self, per_cell: usize, out: &mut dyn Write) -> io::Result<()> {
        let top = SIDE + 50.0;
        // A scale of a single value is drawn as one shade at the right end.
        let (from, steps) = if self.share(self.least) < 1.0 { (0.0, STEPS) } else { (SIDE * 0.9, 1) };
        let step = (SIDE - from) / steps as f64;
        for number in 0..steps {
            let share = if steps > 1 { number as f64 / (steps - 1) as f64 } else { 1.0 };
            let x = from + number as f64 * step;
            writeln!(
                out,
                "<rect x=\"{x:.2}\" y=\"{top}\" width=\"{step:.2}\" height=\"16\" fill=\"{}\"/>",
                shade(share)
            )?;
        }
        let values = [(0.0, "start", self.least), (SIDE / 2.0, "middle", self.middle()), (SIDE, "end", self.most)];
        for (x, anchor, bytes) in values.into_iter().filter(|value| steps > 1 || value.1 == "end") {
            writeln!(out, "<text x=\"{x}\" y=\"{}\" text-anchor=\"{anchor}\">{bytes} B</text>", top + 34.0)?;
        }
        let cell = if per_cell == 1 {
            "bytes of each pair of tasks".to_owned()
        } else {
            format!("bytes of each cell of {per_cell} x {per_cell} tasks")
        };
        let none = if self.least == 0 { " (0 B shown as 1 B)" } else { "" };
        let title = format!("{cell}, logarithmic scale{none}; grey: no messages");
        writeln!(out, "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{title}</text>", SIDE / 2.0, top + 58.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shades_go_by_factors() {
        let scale = Scale::covering([400u64, 4, 40].into_iter()).unwrap();
        assert_eq!((scale.share(4), scale.share(400), scale.middle()), (0.0, 1.0, 40));
        assert!((scale.share(40) - 0.5).abs() < 1e-9);
        assert_eq!(Scale::covering([].into_iter()), None);
        // One size, including messages of zero bytes.
        assert_eq!(Scale { least: 8, most: 8 }.share(8), 1.0);
        assert_eq!((Scale { least: 0, most: 9 }.share(0), Scale { least: 0, most: 9 }.middle()), (0.0, 3));
        let huge = Scale { least: u64::MAX - 1, most: u64::MAX };
        assert!(huge.middle() > 1 << 63 && (0.0..=1.0).contains(&huge.share(u64::MAX)));
    }
}
