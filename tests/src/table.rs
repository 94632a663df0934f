//! Tables that are readable as text and as Markdown.

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

    /// Markdown with columns padded to equal width. Columns of numbers are aligned right.
    #[must_use]
    pub fn markdown(&self) -> String {
        let columns = self.rows[0].len();
        let width = |column: usize| self.rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        self.lines(&(0..columns).map(|column| width(column).max(3)).collect::<Vec<_>>())
    }

    /// The same without padding, for a page.
    #[must_use]
    pub fn compact(&self) -> String {
        self.lines(&vec![0; self.rows[0].len()])
    }

    fn lines(&self, widths: &[usize]) -> String {
        let is_number = |cell: &String| cell.starts_with(|first: char| first.is_ascii_digit() || "+-".contains(first));
        let of_numbers = |column: usize| {
            let mut cells = self.rows[1..].iter().map(|row| &row[column]).filter(|cell| !cell.is_empty()).peekable();
            cells.peek().is_some() && cells.all(is_number)
        };
        let mut text = String::new();
        for (index, row) in self.rows.iter().enumerate() {
            text.push('|');
            for (column, (cell, &width)) in row.iter().zip(widths).enumerate() {
                // Writing to a string cannot fail.
                let _ = match of_numbers(column) {
                    true => write!(text, " {cell:>width$} |"),
                    false => write!(text, " {cell:width$} |"),
                };
            }
            text.push('\n');
            if index == 0 {
                text.push('|');
                for (column, &width) in widths.iter().enumerate() {
                    let _ = match of_numbers(column) {
                        true => write!(text, " {}: |", "-".repeat(width.max(4) - 1)),
                        false => write!(text, " {} |", "-".repeat(width.max(3))),
                    };
                }
                text.push('\n');
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_numbers_are_aligned_right() {
        let mut table = Table::new(&["case", "load", ""]);
        table.row(vec!["torus".to_owned(), "1 s".to_owned(), String::new()]);
        table.row(vec!["16x4".to_owned(), "-0.25".to_owned(), "noise".to_owned()]);
        assert_eq!(
            table.compact(),
            "| case | load |  |\n| --- | ---: | --- |\n| torus | 1 s |  |\n| 16x4 | -0.25 | noise |\n"
        );
        let padded = [
            "| case  |  load |       |",
            "| ----- | ----: | ----- |",
            "| torus |   1 s |       |",
            "| 16x4  | -0.25 | noise |",
        ];
        assert!(table.markdown().lines().eq(padded));
    }
}
