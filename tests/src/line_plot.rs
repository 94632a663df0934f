//! Pictures of a few curves, for the pages of the project.

use std::error::Error;
use std::path::Path;

use plotters::prelude::*;

/// Colours that remain distinct to colour-blind readers.
const COLOURS: [RGBColor; 4] =
    [RGBColor(0, 114, 178), RGBColor(213, 94, 0), RGBColor(0, 158, 115), RGBColor(204, 121, 167)];

/// Writes the picture of up to four curves from the origin, as SVG.
///
/// # Errors
/// The file cannot be written.
pub fn draw(
    path: &Path,
    [x_title, y_title]: [&str; 2],
    curves: &[(String, Vec<(f64, f64)>)],
) -> Result<(), Box<dyn Error>> {
    let area = SVGBackend::new(path, (720, 440)).into_drawing_area();
    area.fill(&WHITE)?;
    let points = || curves.iter().flat_map(|(_, curve)| curve);
    let right = points().map(|point| point.0).fold(0.0, f64::max);
    let top = points().map(|point| point.1).fold(0.0, f64::max);
    let mut chart = ChartBuilder::on(&area)
        .margin(16)
        .margin_left(2)
        .x_label_area_size(44)
        .y_label_area_size(70)
        .build_cartesian_2d(0.0..1.08 * right, 0.0..1.05 * top)?;
    chart.configure_mesh().x_desc(x_title).y_desc(y_title).light_line_style(WHITE).draw()?;
    for ((label, curve), colour) in curves.iter().zip(COLOURS) {
        chart
            .draw_series(LineSeries::new(curve.iter().copied(), colour.stroke_width(2)))?
            .label(label)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(2)));
        chart.draw_series(curve.iter().map(|&point| Circle::new(point, 4, colour.filled())))?;
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .background_style(WHITE)
        .border_style(BLACK)
        .draw()?;
    area.present()?;
    Ok(())
}
