//! Reports: what a run found, as figures with names and units.
//!
//! [`figures`] computes every figure once; each format only writes them down. [`pictures`] and [`page`] show results of
//! sweeps. Only this module knows plotters.

use std::collections::BTreeSet;
use std::io::{self, Write};

use serde_json::{Map, Value};

use crate::sweep::Collected;

mod csv;
mod figures;
mod ideal;
mod jobs;
mod json;
mod lines;
mod links;
mod live;
mod page;
mod plot;
mod rounded;
mod table;

pub use csv::write_rows;
pub use figures::{COSTS, Costs, SCHEMA, figures, typed};
pub use ideal::ideal_figures;
pub use links::link_pictures;
pub use live::live_figures;
pub use page::{Baseline, Subject, page};
pub use plot::{ConvertError, Graphic, Look, Picture, Range, Scale, pictures};
pub use rounded::{percent, rounded, with_interval};

/// How results are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// For people.
    Table,
    /// A header and one line; scalar figures only.
    Csv,
    /// One object, indented.
    Json,
    /// One object on one line.
    Jsonl,
}

/// Every format by the name that `--format` knows.
pub const FORMATS: &[(&str, Format)] =
    &[("table", Format::Table), ("csv", Format::Csv), ("json", Format::Json), ("jsonl", Format::Jsonl)];

/// The source policy of an experiment, `open` or `throttled`, where synthetic sources send.
fn source_policy(experiment: &Value) -> Option<&str> {
    experiment.get("traffic").and_then(|_| experiment.get("source")?.as_str())
}

/// The source policy of results in words, empty where they differ in it or none of them has one.
fn sources(collected: &Collected) -> String {
    let policies: BTreeSet<_> =
        collected.rows.iter().filter_map(|row| source_policy(row.figures.get("experiment")?)).collect();
    match (policies.len(), policies.first()) {
        (1, Some(policy)) => format!("{policy} sources"),
        _ => String::new(),
    }
}

/// Writes figures in a format.
///
/// # Errors
/// When `out` fails.
pub fn write(format: Format, figures: &Map<String, Value>, out: &mut dyn Write) -> io::Result<()> {
    match format {
        Format::Table => table::write(figures, out),
        Format::Csv => csv::write(figures, out),
        Format::Json => json::write_pretty(figures, out),
        Format::Jsonl => json::write_line(figures, out),
    }
}
