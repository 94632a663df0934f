//! Files of the field as their authors wrote them, with the facts that another reader finds in them: unpacked, read by
//! the command as a user reads them, and judged.
//!
//! The folder lies in `shared` and is no part of the repository.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;
use serde_json::Value;

/// A row of `expected.csv`: a file, how it is read, and what is in it. Empty where it states none.
#[derive(Clone, Debug, Deserialize)]
pub struct Expected {
    /// The format, in the names of the folder.
    pub format: String,
    /// Path in the folder of unpacked files.
    pub file: String,
    /// `topology`, `flows`, `trace`, ...
    pub how: String,
    /// What the user must add.
    pub options: String,
    /// `yes`, `no`, `either` or `decision`.
    pub readable: String,
    /// A regular expression of literal words with `|` between them, for the message of a refusal.
    pub refusal: String,
    endpoints: String,
    switches: String,
    cables: String,
    rate_min_bps: String,
    rate_max_bps: String,
    delay_min_s: String,
    delay_max_s: String,
    connected: String,
    flows: String,
    flow_bytes: String,
    first_start: String,
    last_start: String,
    demands: String,
    demand_total: String,
    ranks: String,
    messages: String,
    message_bytes: String,
    /// Two hosts of a platform; empty if none are named.
    pub pair: String,
    pair_latency_s: String,
    pair_rate_bps: String,
}

/// What became of a file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Verdict {
    /// Read, with the facts.
    Right,
    /// Refused, with the reason that is true.
    Refused,
    /// Refused although it should be read.
    Unread,
    /// Read with other facts, or refused with another reason, or neither.
    Wrong,
}

/// By format: the files of each verdict, with what was said.
pub type Table = BTreeMap<String, BTreeMap<Verdict, Vec<(String, String)>>>;

/// The rows of `expected.csv`.
///
/// # Errors
/// A table that cannot be read.
pub fn expected(folder: &Path) -> Result<Vec<Expected>, csv::Error> {
    csv::Reader::from_path(folder.join("expected.csv"))?.deserialize().collect()
}

/// Unpacks every archive of the folder.
///
/// # Errors
/// An archive that `tar` does not unpack.
pub fn unpack(folder: &Path, into: &Path) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.to_string_lossy().ends_with(".tar.xz") {
            unpack_one(&path, into)?;
        }
    }
    Ok(())
}

/// Unpacks an archive.
///
/// # Errors
/// One that `tar` does not unpack.
pub fn unpack_one(archive: &Path, into: &Path) -> std::io::Result<()> {
    let status = Command::new("tar").arg("-xJf").arg(archive).arg("-C").arg(into).status()?;
    if status.success() { Ok(()) } else { Err(std::io::Error::other(format!("tar: {}", archive.display()))) }
}

/// What the command did with a file.
#[derive(Debug)]
pub struct Said {
    /// The exit code.
    pub code: Option<i32>,
    /// What is on its standard output, as JSON where it is that.
    pub found: Value,
    /// Its message, without the path and the name of the file.
    pub message: String,
}

/// Runs a command on a file.
///
/// # Errors
/// A command that cannot be started.
pub fn said(mut command: Command, file: &Path) -> std::io::Result<Said> {
    let output = command.output()?;
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let message = String::from_utf8_lossy(&output.stderr).replace(&*file.to_string_lossy(), "").replace(&name, "");
    // Long lines are broken, with marks in front.
    let message = message.split_whitespace().filter(|word| !word.chars().all(|letter| "│×╰─▶".contains(letter)));
    Ok(Said {
        code: output.status.code(),
        found: serde_json::from_slice(&output.stdout).unwrap_or(Value::Null),
        message: message.collect::<Vec<_>>().join(" "),
    })
}

impl Expected {
    /// The file, or the folder of a trace.
    #[must_use]
    pub fn path(&self, unpacked: &Path) -> PathBuf {
        unpacked.join(&self.file)
    }

    /// An option that the user must add, by name.
    #[must_use]
    pub fn option(&self, name: &str) -> Option<&str> {
        let pairs = self.options.split(',').filter_map(|pair| pair.split_once('='));
        pairs.into_iter().find(|(own, _)| *own == name).map(|(_, value)| value)
    }

    /// Judges what was said of the file.
    #[must_use]
    pub fn judge(&self, said: &Said) -> (Verdict, String) {
        if !matches!(said.code, Some(0 | 2)) {
            return (Verdict::Wrong, format!("exit {:?}: {}", said.code, said.message));
        }
        if said.code == Some(2) {
            let is_true = self.refusal.split('|').any(|word| says(&said.message, word));
            return match self.readable.as_str() {
                "yes" => (Verdict::Unread, said.message.clone()),
                "decision" => (Verdict::Refused, said.message.clone()),
                _ if is_true => (Verdict::Refused, said.message.clone()),
                _ => (Verdict::Wrong, format!("another reason: {}", said.message)),
            };
        }
        let differences = match self.how.as_str() {
            "topology" => self.network(&said.found),
            "trace" | "trace chakra" => differences(
                &said.found,
                &[
                    ("tasks", &self.ranks),
                    ("point_to_point_messages", &self.messages),
                    ("point_to_point_bytes", &self.message_bytes),
                ],
            ),
            _ => Vec::new(),
        };
        match differences.as_slice() {
            [] if self.readable == "no" => (Verdict::Wrong, "read, and not to be".to_owned()),
            [] => (Verdict::Right, String::new()),
            differences => (Verdict::Wrong, differences.join("; ")),
        }
    }

    /// Differences of a network from the facts.
    fn network(&self, found: &Value) -> Vec<String> {
        let described = &found["described"];
        let understood = &described["understood"];
        let least_and_most = |list: &str, name: &str, unit: f64| {
            let values =
                described[list].as_array().into_iter().flatten().filter_map(|entry| Some(entry[name].as_f64()? * unit));
            let values: Vec<f64> = values.collect();
            let of = |best: fn(f64, f64) -> f64| values.iter().copied().reduce(best).map_or(Value::Null, Value::from);
            (of(f64::min), of(f64::max))
        };
        let rates = least_and_most("link_rates", "bits_per_second", 1.0);
        let delays = least_and_most("link_delays", "ps", 1e-12);
        let endpoints = if found["endpoints"].is_null() { &found["nodes"] } else { &found["endpoints"] };
        let facts = [
            ("endpoints", endpoints, &self.endpoints),
            ("switches", &understood["switches"], &self.switches),
            ("links", &understood["links"], &self.cables),
            ("least rate", &rates.0, &self.rate_min_bps),
            ("greatest rate", &rates.1, &self.rate_max_bps),
            ("least delay", &delays.0, &self.delay_min_s),
            ("greatest delay", &delays.1, &self.delay_max_s),
            ("demands", &described["demands"]["pairs"], &self.demands),
            ("sum of demands", &described["demands"]["total"], &self.demand_total),
        ];
        let mut all: Vec<String> =
            facts.iter().filter_map(|(name, found, expected)| difference(name, found, expected)).collect();
        // The facts of a file that is not judged are not complete: the second reader has refused it.
        if self.readable != "decision" && self.rate_max_bps.is_empty() && !rates.1.is_null() {
            all.push(format!("a rate of {} where the file states none", rates.1));
        }
        if self.connected == "no" {
            all.push("read, and does not hang together".to_owned());
        }
        all
    }

    /// Differences between the notes of a run on a list of flows and the facts.
    #[must_use]
    pub fn flow_differences(&self, notes: &str) -> Vec<String> {
        let plural = if self.flows == "1" { "" } else { "s" };
        let mut all = Vec::new();
        let counts = format!("{} flow{plural} of {} bytes in all", self.flows, self.flow_bytes);
        if !notes.contains(&counts) {
            all.push(format!("`{counts}` is not in {notes}"));
        }
        let unit = match self.option("cm-unit") {
            Some("ps") => 1.0,
            Some("us") => 1e6,
            Some("ns") => 1e3,
            // Lists of ns-3 count seconds.
            _ => 1e12,
        };
        let said = notes.split_once("starts from ").and_then(|(_, rest)| rest.split_once(" to "));
        let last = said.map_or("", |(_, rest)| rest.split([',', ';', ' ']).next().unwrap_or(""));
        let spans = [(said.map_or("", |(first, _)| first), &self.first_start), (last, &self.last_start)];
        for (said, expected) in spans {
            let Ok(expected) = expected.parse::<f64>() else { continue };
            let found = trgen::units::parse_span(said).map(|ps| ps as f64);
            if found.is_none_or(|found| (found - expected * unit).abs() > 1.0 + 1e-9 * found) {
                all.push(format!("a start of `{said}` where {expected} is right"));
            }
        }
        all
    }

    /// A message over the route of the pair: its bytes, and the time \[s\] that its latency and its narrowest link let it
    /// take. `None` without a pair.
    #[must_use]
    pub fn message_of_pair(&self) -> Option<(u64, f64)> {
        let (latency, rate) = (self.pair_latency_s.parse::<f64>().ok()?, self.pair_rate_bps.parse::<f64>().ok()?);
        let bytes = (rate * 0.01 / 8.0).max(1000.0) as u64;
        (rate > 1e3).then(|| (bytes, latency + bytes as f64 * 8.0 / rate))
    }

    /// The number of ranks of a trace, where it is stated.
    #[must_use]
    pub fn tasks(&self) -> Option<usize> {
        self.ranks.parse().ok()
    }

    /// The messages of a trace, where no collectives make them a matter of algorithms.
    #[must_use]
    pub fn messages(&self) -> Option<u64> {
        self.messages.parse().ok()
    }
}

/// True if a message has a part of a regular expression, of which classes of letters, `?`, `\b` and brackets are read.
fn says(message: &str, word: &str) -> bool {
    let plain = word.replace("\\b", "").replace('?', "");
    // `[Cc]ontainerlab`: whatever the case.
    let mut letters = String::new();
    let mut rest = plain.as_str();
    while let Some((before, after)) = rest.split_once('[') {
        letters.push_str(before);
        letters.extend(after.chars().next());
        rest = after.split_once(']').map_or("", |(_, rest)| rest);
    }
    letters.push_str(rest);
    !letters.is_empty() && message.to_lowercase().contains(&letters.to_lowercase())
}

/// Differences between several facts; an absent fact is a difference.
fn differences(found: &Value, facts: &[(&str, &str)]) -> Vec<String> {
    facts.iter().filter_map(|(name, expected)| difference(name, &found[name], expected)).collect()
}

/// A fact that differs from what is expected; nothing where nothing is.
fn difference(name: &str, found: &Value, expected: &str) -> Option<String> {
    if expected.is_empty() {
        return None;
    }
    let number = expected.parse::<f64>().ok()?;
    let is_near =
        found.as_f64().is_some_and(|found| (found - number).abs() <= 1e-6 * number.abs().max(found.abs()) + 1e-12);
    (!is_near).then(|| format!("{name} {found} where {expected} is right"))
}

/// The table as Markdown: a line for each format.
#[must_use]
pub fn markdown(table: &Table) -> String {
    let mut text = "| format | files | right | refused, with the reason | not read | wrong |\n| --- | --- | --- | --- | --- | --- |\n".to_owned();
    for (format, verdicts) in table {
        let count = |verdict| verdicts.get(&verdict).map_or(0, Vec::len);
        let counts = [Verdict::Right, Verdict::Refused, Verdict::Unread, Verdict::Wrong].map(count);
        let sum: usize = counts.iter().sum();
        let [right, refused, unread, wrong] = counts;
        text.push_str(&format!("| {format} | {sum} | {right} | {refused} | {unread} | {wrong} |\n"));
    }
    text
}
