//! Tables that can be read as text and as Markdown.

use std::fmt::Write as _;

/// A table with a heading over each column.
#[derive(Clone, Debug)]
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table of these columns without rows.
    #[must_use]
    pub fn new(headings: &[&str]) -> Self {
        Self { rows: vec![headings.iter().map(|&heading| heading.to_owned()).collect()] }
    }

    /// Adds a row of as many cells as there are columns.
    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// Markdown with columns padded to equal width. All but the first column are aligned right.
    #[must_use]
    pub fn markdown(&self) -> String {
        let columns = self.rows[0].len();
        let width = |column: usize| self.rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let mut text = String::new();
        for (index, row) in self.rows.iter().enumerate() {
            for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
                // Writing to a string cannot fail.
                let _ = match column {
                    0 => write!(text, "| {cell:width$} |"),
                    _ => write!(text, " {cell:>width$} |"),
                };
            }
            text.push('\n');
            if index == 0 {
                for (column, &width) in widths.iter().enumerate() {
                    let dashes = "-".repeat(width);
                    let _ = match column {
                        0 => write!(text, "| {dashes} |"),
                        _ => write!(text, " {}: |", &dashes[..width.saturating_sub(1)]),
                    };
                }
                text.push('\n');
            }
        }
        text
    }
}
