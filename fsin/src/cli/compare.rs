//! `fsin compare`.

use std::path::PathBuf;

use clap::ArgMatches;
use fsin::report::{Format, write, write_rows};
use fsin::sweep::{Curves, Difference, compare as differences, open};
use fsin::words::counted;
use serde_json::{Map, Value, json};

use super::{Complaint, Exit, output};

/// Compares two sweeps.
pub(crate) fn compare(matches: &ArgMatches) -> Result<Exit, Complaint> {
    let folder = |name: &str| matches.get_one::<PathBuf>(name).cloned().unwrap_or_default();
    let (a, b) = (open(&folder("baseline"))?, open(&folder("candidate"))?);
    for (name, (_, collected)) in [("baseline", &a), ("candidate", &b)] {
        output::warn_of_parts(&folder(name), collected);
    }
    let (before, after) = (Curves::of(&a.0, &a.1), Curves::of(&b.0, &b.1));
    let (rows, alone) = differences((&before, &a.1), (&after, &b.1));
    if rows.is_empty() {
        let what =
            format!("{} and {} have no point in common", folder("baseline").display(), folder("candidate").display());
        return Err(Complaint::new(Exit::Usage, what, "compare sweeps over the same axes"));
    }
    if alone > 0 {
        output::tell(&format!("warning: {} in one of the two only, not compared", counted(alone, "point", "points")));
    }
    let figures: Vec<Map<String, Value>> = rows.iter().map(|row| figures(&after.axis, row)).collect();
    match matches.get_one::<String>("format").map_or("table", String::as_str) {
        "csv" => {
            let mut text = Vec::new();
            output::ignore_broken_pipe(write_rows(&figures, &mut text))?;
            output::print_text(&String::from_utf8_lossy(&text))?;
        }
        "json" => {
            let mut all = Map::new();
            all.insert("schema".to_owned(), json!(1));
            all.insert("unmatched_points".to_owned(), json!(alone));
            all.insert("differences".to_owned(), json!(figures));
            let mut text = Vec::new();
            output::ignore_broken_pipe(write(Format::Json, &all, &mut text))?;
            output::print_text(&String::from_utf8_lossy(&text))?;
        }
        _ => output::print_text(&table(&after.axis, &rows))?,
    }
    Ok(Exit::Done)
}

fn figures(axis: &str, row: &Difference) -> Map<String, Value> {
    let mut figures = Map::new();
    let mut put = |name: &str, value: Value| figures.insert(name.to_owned(), value);
    put("curve", json!(row.curve));
    put(axis, json!(row.word));
    put("figure", json!(row.figure));
    put("baseline", json!(row.baseline));
    put("candidate", json!(row.candidate));
    put("difference", json!(row.difference()));
    put("difference_ci95", json!(row.ci95));
    put("saturated", json!(row.saturated));
    put("verdict", json!(row.verdict().word()));
    figures
}

fn table(axis: &str, rows: &[Difference]) -> String {
    let wide = |pick: &dyn Fn(&Difference) -> usize, least: usize| rows.iter().map(pick).max().unwrap_or(0).max(least);
    let (curve, word) = (wide(&|row| row.curve.chars().count(), 5), wide(&|row| row.word.chars().count(), axis.len()));
    let figure = wide(&|row| row.figure.len(), 6);
    let mut text = format!(
        "{:curve$}  {axis:word$}  {:figure$}  {:>12}  {:>12}  {:>12}  {:>12}  verdict\n",
        "curve", "figure", "baseline", "candidate", "difference", "± 95 %"
    );
    for row in rows {
        let ci95 = row.ci95.map_or("-".to_owned(), |ci95| format!("{ci95:.4}"));
        let saturated = if row.saturated { " (saturated)" } else { "" };
        text.push_str(&format!(
            "{:curve$}  {:word$}  {:figure$}  {:>12.4}  {:>12.4}  {:>+12.4}  {ci95:>12}  {}{saturated}\n",
            row.curve,
            row.word,
            row.figure,
            row.baseline,
            row.candidate,
            row.difference(),
            row.verdict().word(),
        ));
    }
    text
}
