//! Text as HTML.

/// Text that stands for itself in HTML, also within quotes.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            _ => escaped.push(letter),
        }
    }
    escaped
}

/// A table whose columns sort; cells are text. A cell of a number sorts as one.
pub(super) struct Table {
    html: String,
}

impl Table {
    /// With these titles of columns.
    pub(super) fn new<'a>(titles: impl IntoIterator<Item = &'a str>) -> Self {
        let mut html = "<div class=\"wide\"><table class=\"sorts\"><thead><tr>".to_owned();
        for title in titles {
            html.push_str(&format!("<th scope=\"col\"><button type=\"button\">{}</button></th>", escape(title)));
        }
        html.push_str("</tr></thead><tbody>\n");
        Self { html }
    }

    /// Adds a row; `class` marks it.
    pub(super) fn row(&mut self, class: &str, cells: &[String]) {
        self.html.push_str(&format!("<tr class=\"{class}\">"));
        for cell in cells {
            let number =
                cell.split(' ').next().is_some_and(|first| first.replace('\u{2009}', "").parse::<f64>().is_ok());
            self.html.push_str(if number { "<td class=\"n\">" } else { "<td>" });
            self.html.push_str(&escape(cell));
            self.html.push_str("</td>");
        }
        self.html.push_str("</tr>\n");
    }

    /// The whole table.
    pub(super) fn end(self) -> String {
        self.html + "</tbody></table></div>\n"
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
