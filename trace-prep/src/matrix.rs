//! The communication matrix: who sends how much to whom, as CSV and as a picture.

use std::io::{self, Write};

use trgen::trace::matrix::{Matrix, Pair};

/// Writes one line per pair: `source,destination,messages,bytes`.
///
/// # Errors
/// When `out` refuses.
pub fn csv(matrix: &Matrix, out: impl Write) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(["source", "destination", "messages", "bytes"])?;
    for &Pair { source, destination, messages, bytes } in matrix.pairs() {
        writer.write_record([source.to_string(), destination.to_string(), messages.to_string(), bytes.to_string()])?;
    }
    writer.flush()
}

/// Draws bytes on a logarithmic scale, sources downwards, destinations to the right. With more than 256 tasks,
/// several share a cell.
///
/// # Errors
/// When `out` refuses.
pub fn svg(matrix: &Matrix, out: &mut dyn Write) -> io::Result<()> {
    const CELLS: usize = 256;
    const SIDE: f64 = 640.0;
    let per_cell = matrix.tasks().div_ceil(CELLS).max(1);
    let cells = matrix.tasks().div_ceil(per_cell).max(1);
    let grouped = matrix.grouped(per_cell);
    let sums = grouped.pairs().iter().map(|pair| pair.bytes.max(1));
    let (least, most) = (sums.clone().min().unwrap_or(1), sums.max().unwrap_or(1));
    let size = SIDE / cells as f64;
    let (width, height) = (SIDE + 100.0, SIDE + 120.0);
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\" \
         font-size=\"14\">\n<rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n<g transform=\"translate(70,40)\">\n\
         <rect width=\"{SIDE}\" height=\"{SIDE}\" fill=\"#f4f4f4\" stroke=\"#888\"/>"
    )?;
    for &Pair { source: row, destination: column, bytes, .. } in grouped.pairs() {
        let bytes = bytes.max(1);
        let share =
            if most == least { 1.0 } else { (bytes as f64 / least as f64).ln() / (most as f64 / least as f64).ln() };
        // From light to dark blue.
        let shade = |light: f64, dark: f64| (light + (dark - light) * share).round() as u8;
        writeln!(
            out,
            "<rect x=\"{:.2}\" y=\"{:.2}\" width=\"{size:.2}\" height=\"{size:.2}\" fill=\"#{:02x}{:02x}{:02x}\"/>",
            f64::from(column) * size,
            f64::from(row) * size,
            shade(200.0, 8.0),
            shade(220.0, 48.0),
            shade(240.0, 107.0)
        )?;
    }
    let last = matrix.tasks().saturating_sub(1);
    writeln!(
        out,
        "<text x=\"0\" y=\"-12\">bytes from task (down) to task (right), {least} to {most} per cell of {per_cell} x {per_cell} tasks, log scale</text>\n\
         <text x=\"0\" y=\"{0}\">0</text><text x=\"{SIDE}\" y=\"{0}\" text-anchor=\"end\">{last}</text>\n\
         <text x=\"-8\" y=\"14\" text-anchor=\"end\">0</text><text x=\"-8\" y=\"{SIDE}\" text-anchor=\"end\">{last}</text>\n</g>\n</svg>",
        SIDE + 20.0
    )
}
