//! Figures of the literature: every row of the page's tables is run, and its figure is within the bound that the page
//! states, and the one that it prints.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tests::command::fsin;
use tests::shared::workspace;

/// A row of the page.
struct Row {
    published: f64,
    /// The figure as printed, and as a number.
    ours: (String, f64),
    /// Greatest difference from the published value, as a share of it.
    within: f64,
    figure: String,
    command: String,
    /// True for the first row of its table.
    is_first: bool,
}

/// The rows of all tables.
fn rows() -> Vec<Row> {
    let page = fs::read_to_string(workspace().join("docs/book/src/literature.md")).expect("the page of the book");
    let mut rows = Vec::new();
    let mut is_first = true;
    for line in page.lines() {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let [published, ours, within, figure, command] = cells[..] else { continue };
        if !command.starts_with("`fsin ") {
            is_first = true;
            continue;
        }
        rows.push(Row {
            published: published.parse().unwrap_or_else(|_| panic!("{line}")),
            ours: (ours.to_owned(), ours.parse().unwrap_or_else(|_| panic!("{line}"))),
            within: within
                .strip_suffix(" %")
                .and_then(|share| share.parse::<f64>().ok())
                .unwrap_or_else(|| panic!("{line}"))
                / 100.0,
            figure: figure.trim_matches('`').to_owned(),
            command: command.trim_matches('`').replace('\'', ""),
            is_first,
        });
        is_first = false;
    }
    rows
}

fn check(row: &Row) {
    let quiet: &[&str] = if row.command.starts_with("fsin run") { &["--quiet"] } else { &[] };
    let words = row.command.split_whitespace().skip(1);
    let output = fsin(Path::new("."))
        .args(words)
        .args(quiet)
        .args(["--format", "json"])
        .output()
        .expect("fsin has just been built");
    assert!(output.status.success(), "{}: {}", row.command, String::from_utf8_lossy(&output.stderr));
    let result: Value = serde_json::from_slice(&output.stdout).expect("a result in JSON");
    let found = result[&row.figure].as_f64().unwrap_or_else(|| panic!("{}: no {}", row.command, row.figure));
    let decimals = row.ours.0.split_once('.').map_or(0, |(_, part)| part.len() as i32);
    assert!(
        (found - row.ours.1).abs() <= 0.51 * 10f64.powi(-decimals),
        "{}: the page has {}, found {found}",
        row.command,
        row.ours.0
    );
    let off = (found / row.published - 1.0).abs();
    assert!(off <= row.within + 1e-12, "{}: {found} is {:.2} % from {}", row.command, 100.0 * off, row.published);
}

#[test]
fn the_first_figure_of_each_table_is_within_its_bound() {
    let rows = rows();
    assert!(rows.len() >= 20, "{}", rows.len());
    let first: Vec<&Row> = rows.iter().filter(|row| row.is_first).collect();
    assert_eq!(first.len(), 6);
    first.into_iter().for_each(check);
}

#[test]
#[ignore = "minutes: every figure"]
fn every_figure_is_within_its_bound() {
    rows().iter().for_each(check);
}
