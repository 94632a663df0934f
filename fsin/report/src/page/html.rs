//! Text as HTML.

use crate::svg::escape;

/// A table whose columns sort; cells are text. A cell of a number sorts as one. Groups keep their rows together.
pub(super) struct Table {
    /// Titles of columns, and whether any cell below is a number: titles are aligned with their cells.
    columns: Vec<(String, bool)>,
    rows: String,
}

impl Table {
    /// A table with these column titles.
    pub(super) fn new<'a>(titles: impl IntoIterator<Item = &'a str>) -> Self {
        Self { columns: titles.into_iter().map(|title| (title.to_owned(), false)).collect(), rows: String::new() }
    }

    /// Adds a row; `class` marks it.
    pub(super) fn row(&mut self, class: &str, cells: &[String]) {
        self.begin(class);
        cells.iter().enumerate().for_each(|(column, cell)| self.cell(column, cell));
        self.rows.push_str("</tr>\n");
    }

    /// Adds a row with hidden rows, which a click on its cell `at` shows and hides.
    pub(super) fn group(&mut self, class: &str, cells: &[String], at: usize, rows: &[(&str, Vec<String>)]) {
        self.rows.push_str("</tbody><tbody>\n");
        self.begin(class);
        for (column, cell) in cells.iter().enumerate() {
            if column == at && !rows.is_empty() {
                self.rows.push_str(&format!(
                    "<td class=\"n\"><button type=\"button\" class=\"fold\" aria-expanded=\"true\">{}</button></td>",
                    escape(cell)
                ));
            } else {
                self.cell(column, cell);
            }
        }
        self.rows.push_str("</tr>\n");
        for (class, cells) in rows {
            self.row(&format!("part {class}"), cells);
        }
    }

    fn begin(&mut self, class: &str) {
        self.rows.push_str(&format!("<tr class=\"{class}\">"));
    }

    fn cell(&mut self, column: usize, cell: &str) {
        let first = cell.split(' ').next().unwrap_or("").replace('\u{2009}', "");
        let is_number = first.parse::<f64>().is_ok();
        if let Some((_, any)) = self.columns.get_mut(column) {
            *any |= is_number;
        }
        self.rows.push_str(if is_number || cell == "-" { "<td class=\"n\">" } else { "<td>" });
        match cell.split_once(" ± ") {
            Some((value, interval)) if is_number => {
                self.rows.push_str(&format!("{} <small>± {}</small>", escape(value), escape(interval)));
            }
            _ => self.rows.push_str(&escape(cell)),
        }
        self.rows.push_str("</td>");
    }

    /// The whole table.
    pub(super) fn end(self) -> String {
        let title = |(title, is_number): &(String, bool)| {
            let class = if *is_number { " class=\"n\"" } else { "" };
            format!("<th scope=\"col\"{class}><button type=\"button\">{}</button></th>", escape(title))
        };
        let titles: String = self.columns.iter().map(title).collect();
        format!(
            "<div class=\"wide\"><table class=\"sorts\"><thead><tr>{titles}</tr></thead><tbody>\n{}</tbody></table></div>\n",
            self.rows
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_becomes_a_tag() {
        assert_eq!(escape("<b a=\"'&"), "&lt;b a=&quot;&#39;&amp;");
        let mut table = Table::new(["<i>"]);
        table.row("", &["<script>".to_owned()]);
        let html = table.end();
        assert!(!html.contains("<script>") && !html.contains("<i>"), "{html}");
    }
}
