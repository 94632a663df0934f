//! `fsin energy`: evaluates counted events under a table of energies, without a run.

use std::path::{Path, PathBuf};

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgMatches, Command, value_parser};
use fsin::experiment::energy::{self, Counts, Estimate};
use serde_json::json;
use trgen::catalog::{Component, SpecError};

use crate::cli::output::{Document, tell};
use crate::cli::{Complaint, Exit};

/// Output formats.
const FORMATS: [&str; 3] = ["table", "json", "csv"];

/// \[bytes\] The longest file of counts.
const LONGEST: u64 = 1 << 32;

/// The text after the help.
const EXAMPLES: &str = "Examples:
  fsin run --network wormhole --topology mesh:8x8 --load 0.1 --event-counts counts.jsonl
  fsin energy counts.jsonl --energy booksim
  fsin energy counts.jsonl --energy events:chip-32nm --cycle 1ns --format csv

Exit status: 0 evaluated, 1 the figures cannot be written, 2 the command line, the counts or the table cannot be used.";

/// The command.
pub(crate) fn command() -> Command {
    Command::new("energy")
        .about("Power, energy and area of counted events, by a table of energies, without a run")
        .long_about(
            "Evaluates a file of counts, which fsin run --event-counts has written, under a table of energies: powers, areas, \
             energy per bit. One file can hold several networks. The estimates are as good as their table.",
        )
        .arg(
            Arg::new("counts")
                .value_name("FILE")
                .required(true)
                .value_parser(value_parser!(PathBuf))
                .help("Counts of events, as fsin run --event-counts writes them"),
        )
        .arg(
            Arg::new("energy")
                .long("energy")
                .value_name("TABLE")
                .required(true)
                .help("Table of energies: booksim, booksim:FILE,width=64, noxim:FILE, events:chip-32nm, events:FILE; fsin list energy-models"),
        )
        .arg(
            Arg::new("cycle")
                .long("cycle")
                .value_name("TIME")
                .help("Length of a cycle, for static powers of the tables of events: 1ns, 500ps"),
        )
        .arg(
            Arg::new("format")
                .long("format")
                .value_name("FORMAT")
                .default_value(FORMATS[0])
                .hide_default_value(true)
                .value_parser(PossibleValuesParser::new(FORMATS))
                .help("How the figures are written: table, json, csv (a row for each network) [table]"),
        )
        .arg(
            Arg::new("output")
                .short('o')
                .long("output")
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf))
                .help("File of the figures, in place of stdout"),
        )
        .after_help(EXAMPLES)
}

/// An error of what the user gave.
fn refused(error: &SpecError) -> Complaint {
    Complaint::new(Exit::Usage, error.what(), error.remedy())
}

/// \[s\] A time such as `1ns`.
fn seconds(word: &str) -> Option<f64> {
    let at = word.find(|letter: char| letter.is_ascii_alphabetic())?;
    let unit = match &word[at..] {
        "ps" => 1e-12,
        "ns" => 1e-9,
        "us" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        _ => return None,
    };
    let number: f64 = word[..at].parse().ok()?;
    (number > 0.0 && number.is_finite()).then_some(number * unit)
}

/// The text of a file of counts.
fn text_of(path: &Path) -> Result<String, Complaint> {
    let refuse = |what: String| {
        Complaint::new(
            Exit::Usage,
            format!("{}: {what}", path.display()),
            "name a file of counts, which fsin run --event-counts writes",
        )
    };
    let about = std::fs::metadata(path).map_err(|error| refuse(format!("cannot be read: {error}")))?;
    if !about.is_file() || about.len() > LONGEST {
        return Err(refuse("is no file of counts".to_owned()));
    }
    std::fs::read_to_string(path).map_err(|error| refuse(format!("cannot be read: {error}")))
}

/// Executes the command.
pub(crate) fn energy(matches: &ArgMatches) -> Result<Exit, Complaint> {
    let word = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let words = word("energy").unwrap_or_default();
    let named = energy::parse(words, Path::new("")).map_err(|error| refused(&error.within("--energy: ")))?;
    let cycle = match word("cycle") {
        None => None,
        Some(time) => Some(seconds(time).ok_or_else(|| {
            let what = format!("--cycle {}: no time", time.escape_debug());
            Complaint::new(Exit::Usage, what, "write a number with its unit: 1ns, 500ps")
        })?),
    };
    let Some(path) = matches.get_one::<PathBuf>("counts") else { return Ok(Exit::Usage) };
    let text = text_of(path)?;
    let place = format!("{}: ", path.display());
    let mut counts = energy::read(&text).map_err(|error| refused(&error.within(place.clone())))?;
    if let Some(cycle) = cycle {
        for one in &mut counts {
            one.seconds = Some(one.cycles * cycle);
            let rate = one.flit_bits / cycle;
            one.channels.iter_mut().for_each(|channel| channel.rate = rate);
        }
    }
    let document = Document::open(matches)?;
    let estimates: Vec<Estimate> = counts
        .iter()
        .map(|counts| named.model.estimate(counts))
        .collect::<Result<_, _>>()
        .map_err(|error| refused(&error))?;
    for (counts, estimate) in counts.iter().zip(&estimates) {
        for warning in &estimate.warnings {
            tell(&format!("warning: {}{warning}", place_of(counts)));
        }
    }
    document.print(&match word("format") {
        Some("json") => as_json(&counts, &estimates, words),
        Some("csv") => as_csv(&counts, &estimates),
        _ => as_table(&counts, &estimates, words, named.component()),
    })?;
    Ok(Exit::Done)
}

/// The name of a network before a text about it.
fn place_of(counts: &Counts) -> String {
    if counts.case.is_empty() { String::new() } else { format!("{}, network {}: ", counts.case, counts.subnet) }
}

/// A number with six significant digits.
fn six(value: f64) -> String {
    fsin::experiment::energy::six_digits(value)
}

fn as_csv(counts: &[Counts], estimates: &[Estimate]) -> String {
    let columns = |estimate: &Estimate| estimate.columns().into_iter().map(|(name, _)| name).collect::<Vec<_>>();
    let heads = estimates.first().map(columns).unwrap_or_default();
    let mut text = format!("case,subnet,{},pj_per_bit\n", heads.join(","));
    for (counts, estimate) in counts.iter().zip(estimates) {
        let known = estimate.columns();
        let value =
            |head: &String| known.iter().find(|(name, _)| name == head).map_or(String::new(), |(_, value)| six(*value));
        let values: Vec<String> = heads.iter().map(value).collect();
        let per_bit = estimate.pj_per_bit().map_or(String::new(), |bit| six(bit.value));
        let case = counts.case.replace(['"', ',', '\n', '\r'], "_");
        text.push_str(&format!("{case},{},{},{per_bit}\n", counts.subnet, values.join(",")));
    }
    text
}

fn as_json(counts: &[Counts], estimates: &[Estimate], words: &str) -> String {
    let row = |(counts, estimate): (&Counts, &Estimate)| {
        let mut row = json!({
            "case": counts.case,
            "subnet": counts.subnet,
            "table": words,
            "is_estimate": true,
            "seconds": estimate.seconds,
            "joules": estimate.joules().value,
            "joules_low": estimate.joules().low,
            "joules_high": estimate.joules().high,
            "pj_per_bit": estimate.pj_per_bit().map(|bit| bit.value),
            "warnings": estimate.warnings,
        });
        for (name, value) in estimate.columns() {
            row[name.as_str()] = json!(value);
        }
        row
    };
    let rows: Vec<_> = counts.iter().zip(estimates).map(row).collect();
    format!("{}\n", serde_json::to_string_pretty(&rows).unwrap_or_default())
}

fn as_table(counts: &[Counts], estimates: &[Estimate], words: &str, component: &Component) -> String {
    let mut text = format!("estimate by {words} ({})\n", component.source);
    for (counts, estimate) in counts.iter().zip(estimates) {
        text.push('\n');
        if !counts.case.is_empty() {
            text.push_str(&format!("{}, network {}\n", counts.case, counts.subnet));
        }
        for (name, value) in estimate.columns() {
            text.push_str(&format!("{name:<24} {:>12}\n", six(value)));
        }
        let joules = estimate.joules();
        text.push_str(&format!("{:<24} {:>12}\n", "joules", six(joules.value)));
        if joules.low < joules.high {
            text.push_str(&format!("{:<24} {:>12} to {}\n", "  range", six(joules.low), six(joules.high)));
        }
        if let Some(bit) = estimate.pj_per_bit() {
            text.push_str(&format!("{:<24} {:>12}\n", "pJ per bit delivered", six(bit.value)));
        }
    }
    text
}
