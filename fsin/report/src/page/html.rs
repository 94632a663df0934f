//! Tables of pages.

use maud::{Markup, html};

/// A table whose columns can be sorted. Cells are text; a cell that holds a number is sorted as a number. The rows of a
/// group stay together.
pub(super) struct Table {
    /// By column: its title, and whether any cell below is a number. A title is aligned with its cells.
    columns: Vec<(String, bool)>,
    /// Rows that stay together when the table is sorted.
    groups: Vec<Vec<Markup>>,
}

impl Table {
    /// A table with these column titles.
    pub(super) fn new<'a>(titles: impl IntoIterator<Item = &'a str>) -> Self {
        let columns = titles.into_iter().map(|title| (title.to_owned(), false)).collect();
        Self { columns, groups: vec![Vec::new()] }
    }

    /// Adds a row; `class` is its class in the style sheet.
    pub(super) fn row(&mut self, class: &str, cells: &[String]) {
        self.add(class, cells, None);
    }

    /// Adds a row of cells that are more than text; numbers are those of the first and of all after the second.
    pub(super) fn drawn<const N: usize>(&mut self, cells: [Markup; N]) {
        let is_number = |at: usize| at != 1;
        self.columns.iter_mut().enumerate().for_each(|(at, column)| column.1 = is_number(at));
        let row = html! {
            tr { @for (at, cell) in cells.iter().enumerate() { td class=(if is_number(at) { "n" } else { "bar" }) { (cell) } } }
        };
        if let Some(last) = self.groups.last_mut() {
            last.push(row);
        }
    }

    /// Adds a row, and hidden rows below it that a click on its cell `at` shows and hides.
    pub(super) fn group(&mut self, class: &str, cells: &[String], at: usize, rows: &[(&str, Vec<String>)]) {
        self.groups.push(Vec::new());
        self.add(class, cells, (!rows.is_empty()).then_some(at));
        for (class, cells) in rows {
            self.row(&format!("part {class}"), cells);
        }
    }

    /// Adds a row to the last group. A click on its cell `fold`, if given, shows and hides the other rows of the group.
    fn add(&mut self, class: &str, cells: &[String], fold: Option<usize>) {
        for ((_, any), cell) in self.columns.iter_mut().zip(cells) {
            *any |= is_number(cell);
        }
        let row = html! {
            tr class=[named(class)] {
                @for (column, cell) in cells.iter().enumerate() {
                    @if fold == Some(column) {
                        td class=[is_number(cell).then_some("n")] {
                            button.fold type="button" aria-expanded="true" { (cell) }
                        }
                    } @else {
                        td class=[(is_number(cell) || cell == "-").then_some("n")] { (content(cell)) }
                    }
                }
            }
        };
        if let Some(last) = self.groups.last_mut() {
            last.push(row);
        }
    }

    /// The whole table.
    pub(super) fn end(self) -> Markup {
        html! {
            div.wide {
                table.sorts {
                    thead {
                        tr {
                            @for (title, is_number) in &self.columns {
                                th class=[is_number.then_some("n")] scope="col" { button type="button" { (title) } }
                            }
                        }
                    }
                    @for rows in &self.groups {
                        tbody { @for row in rows { (row) "\n" } }
                    }
                }
            }
        }
    }
}

/// The value of the attribute `class`, which is left out if it would be empty.
fn named(class: &str) -> Option<&str> {
    (!class.is_empty()).then_some(class)
}

/// True if the text of a cell begins with a number.
fn is_number(cell: &str) -> bool {
    let first = cell.split(' ').next().unwrap_or("").replace('\u{2009}', "");
    first.parse::<f64>().is_ok()
}

/// The text of a cell. A confidence interval in it is written small.
fn content(cell: &str) -> Markup {
    html! {
        @match cell.split_once(" ± ") {
            Some((value, interval)) if is_number(cell) => { (value) " " small { "± " (interval) } }
            _ => { (cell) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_becomes_a_tag() {
        let mut table = Table::new(["<i>"]);
        table.row("\"><b>", &["<script>".to_owned()]);
        let html = table.end().into_string();
        assert!(!html.contains("<script>") && !html.contains("<i>") && !html.contains("<b>"), "{html}");
    }
}
