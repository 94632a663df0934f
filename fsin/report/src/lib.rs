//! Reports: the outcome of a run, as figures with names and units.
//!
//! Every figure comes from a [`RunResult`]. [`pictures`] and [`page`] show results of sweeps.

use std::collections::BTreeSet;
use std::io::{self, Write};

use fsin_experiment::result::{self, RunResult};
use fsin_experiment::sweep::Collected;

#[cfg(feature = "plots")]
mod activity;
mod grouped;
#[cfg(feature = "plots")]
mod legible;
mod letters;
mod lines;
mod links;
mod page;
mod plot;
mod ports;
#[cfg(feature = "plots")]
mod queues;
mod ranks;
mod rounded;
mod svg;
mod table;
mod timeline;

#[cfg(feature = "plots")]
pub use activity::{activity_csv, activity_svg};
#[cfg(feature = "plots")]
pub use legible::{Illegible, illegible};
pub use links::link_pictures;
pub use page::{Baseline, Passage, ProgramRun, Subject, joint_page, page, program_page};
#[cfg(feature = "plots")]
pub use plot::{ConvertError, Graphic};
pub use plot::{Picture, Range, Scale, Style, by_part, by_size, pictures, searches, transients};
pub use ports::port_pictures;
#[cfg(feature = "plots")]
pub use queues::{PortQueue, Queues, queues_csv, queues_svg};
pub use ranks::traffic_picture;
pub use rounded::{percent, rounded, with_interval};
pub use svg::{COLOURS, Colour, escape};
pub use timeline::write_timeline;

/// Output format of results.
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

/// The formats of `--format`, by name.
pub const FORMATS: &[(&str, Format)] =
    &[("table", Format::Table), ("csv", Format::Csv), ("json", Format::Json), ("jsonl", Format::Jsonl)];

/// The source policy of the results in words; empty if they differ in it or have none.
fn sources(collected: &Collected) -> String {
    let policies: BTreeSet<_> = collected.rows.iter().filter_map(|row| row.result.source_policy()).collect();
    match (policies.len(), policies.first()) {
        (1, Some(policy)) => format!("{policy} sources"),
        _ => String::new(),
    }
}

/// Writes a result in a format.
///
/// # Errors
/// When `out` fails.
pub fn write(format: Format, result: &RunResult, out: &mut dyn Write) -> io::Result<()> {
    match format {
        Format::Table => table::write(result, out),
        Format::Csv => result::write_results([(Vec::new(), result)], out),
        Format::Json => result::write_pretty(result, out),
        Format::Jsonl => result::write_line(result, out),
    }
}
