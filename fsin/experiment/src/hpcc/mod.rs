//! Configurations of the simulators of HPCC, SimAI and ns3-rdma as experiments.
//!
//! A file has a line `NAME VALUE...` for each name. It means an experiment over the network `ethernet` with the
//! topology and the list of flows that it names. A missing name has the value of HPCC's published configuration; a note
//! says so if the value matters. A statement without effect on the simulation gives a note. Names that none of the
//! three simulators has, and values without an equivalent here, are refused, all of a file in one error.
//!
//! Decision: docs/decisions/0450-configurations-of-hpcc.md.
//!
//! Source: the files `config_doc.txt` of alibaba-edu/High-Precision-Congestion-Control and `config.txt` of
//! bobzhuyb/ns3-rdma; Li and others, HPCC: high precision congestion control, SIGCOMM 2019.

mod hosts;
mod names;
mod switches;

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use trgen::catalog::{ErrorKind, SpecError, suggestion};

use super::meaning::{Meaning, Refusal};
use names::{NAMES, Of, Takes, row};

/// A statement of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Statement {
    /// Its values, with a blank between two.
    value: String,
    /// \[bytes\] Its place in the text.
    span: Range<usize>,
}

/// A file that a configuration names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Found {
    /// Its full path.
    pub(super) path: String,
    /// Its text, as far as it is one.
    pub(super) text: String,
}

/// Finds a file that a configuration in a folder names: simulators resolve such paths from where they are started,
/// mostly the folder above.
pub(super) fn found(folder: &Path, file: &str) -> Option<Found> {
    let above = ["", "..", "../.."].map(|above| folder.join(above).join(file));
    let path = above.iter().find(|path| path.is_file())?.canonicalize().ok()?;
    let text = String::from_utf8_lossy(&std::fs::read(&path).ok()?).into_owned();
    Some(Found { path: path.to_str()?.to_owned(), text })
}

/// The statement of a line without its comment: `#`, or braces as in HPCC's documentation.
fn code(line: &str) -> &str {
    line.split(['#', '{']).next().unwrap_or("").trim()
}

/// True for a text whose first line is a name of capital letters and a value, as no TOML has, and that has a name of these
/// simulators.
pub(super) fn is_config(text: &str) -> bool {
    let mut lines = text.trim_start_matches('\u{feff}').lines().map(code).filter(|line| !line.is_empty()).peekable();
    let is_name = |word: &str| word.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
    let name = |line: &str| line.split_whitespace().next().unwrap_or("").to_owned();
    let begins = lines.peek().is_some_and(|first| {
        let name = name(first);
        is_name(&name) && name.starts_with(|letter: char| letter.is_ascii_uppercase()) && !first.contains('=')
    });
    begins && lines.any(|line| row(&name(line)).is_some())
}

/// A configuration while its meaning is worked out.
#[derive(Debug)]
struct Config {
    statements: BTreeMap<&'static str, Statement>,
    meaning: Meaning,
    refusals: Vec<Refusal>,
    length: usize,
}

impl Config {
    /// Reads the statements of a text. Unknown names become refusals.
    fn new(text: &str) -> Self {
        let mut new = Self {
            statements: BTreeMap::new(),
            meaning: Meaning { settings: Vec::new(), notes: Vec::new() },
            refusals: Vec::new(),
            length: text.len(),
        };
        let mut begin = 0;
        for line in text.split_inclusive('\n') {
            let of = code(line.trim_start_matches('\u{feff}'));
            let at = begin + line.find(of).unwrap_or(0);
            begin += line.len();
            if !of.is_empty() {
                new.statement(of, at..at + of.len());
            }
        }
        new
    }

    /// Takes the statement of a line.
    fn statement(&mut self, line: &str, span: Range<usize>) {
        let mut words = line.split_whitespace();
        let name = words.next().unwrap_or("");
        let Some((known, ..)) = row(name) else {
            let names: Vec<&str> = NAMES.iter().map(|(name, ..)| *name).collect();
            let near = suggestion(name, &names);
            let remedy = if near.near.is_empty() {
                "leave it out, if it changes nothing that is simulated".to_owned()
            } else {
                near.to_string()
            };
            let what = format!("`{}` is no name of HPCC, SimAI or ns3-rdma", name.escape_debug());
            return self.refusals.push(Refusal { error: SpecError::new(ErrorKind::UnknownName, what, remedy), span });
        };
        // The last statement of a name counts.
        let value = words.collect::<Vec<_>>().join(" ");
        self.statements.insert(known, Statement { value, span });
    }

    /// True if a name is given.
    fn has(&self, name: &str) -> bool {
        self.statements.contains_key(name)
    }

    /// True for a configuration of ns3-rdma.
    fn is_rdma(&self) -> bool {
        self.statements.keys().any(|name| row(name).is_some_and(|(.., of)| *of == Of::Rdma))
    }

    /// The value of a name, and the place of its statement.
    fn value(&self, name: &'static str) -> (&str, Range<usize>) {
        match self.statements.get(name) {
            Some(statement) => (&statement.value, statement.span.clone()),
            None => (row(name).map_or("", |(_, published, ..)| published), 0..self.length),
        }
    }

    /// The value of a name as a word of its own.
    fn word(&self, name: &'static str) -> String {
        self.value(name).0.to_owned()
    }

    /// Refuses the value of a name.
    fn refuse(&mut self, name: &'static str, what: &str, remedy: impl Into<String>) {
        let (value, span) = self.value(name);
        let what = format!("{name} {}: {what}", value.escape_debug());
        self.refusals.push(Refusal { error: SpecError::new(ErrorKind::Unsupported, what, remedy.into()), span });
    }

    /// Notes something about the statement of a name.
    fn note(&mut self, name: &'static str, what: &str) {
        let note = format!("{name} {}: {what}", self.value(name).0.escape_debug());
        self.meaning.notes.push(note);
    }

    /// A number that is not negative; `None` after a refusal.
    fn number(&mut self, name: &'static str) -> Option<f64> {
        let number = self.value(name).0.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0);
        if number.is_none() {
            self.refuse(name, "no number from 0 on", "write a number such as 1");
        }
        number
    }

    /// A whole number of at least `least`; `None` after a refusal.
    fn whole(&mut self, name: &'static str, least: u64) -> Option<u64> {
        let number = self.number(name)?;
        let is_whole = number.fract() == 0.0 && number >= least as f64 && number < 4e9;
        if !is_whole {
            self.refuse(name, &format!("no whole number from {least} on"), "write such a number");
        }
        is_whole.then_some(number as u64)
    }

    /// 0 or 1; `None` after a refusal.
    fn switch(&mut self, name: &'static str) -> Option<bool> {
        match self.value(name).0 {
            "0" => Some(false),
            "1" => Some(true),
            _ => {
                self.refuse(name, "neither 0 nor 1", "write 0 or 1");
                None
            }
        }
    }

    /// A data rate as it stands; `None` after a refusal.
    fn rate(&mut self, name: &'static str) -> Option<String> {
        let word = self.word(name);
        if fsin_core::topology::switched::parse_rate(&word).is_none() {
            self.refuse(name, "no data rate", "write one such as 50Mb/s");
            return None;
        }
        Some(word)
    }

    /// Sets a key of an experiment because of a name.
    fn set(&mut self, key: &'static str, value: impl ToString, because: &'static str) {
        let span = self.value(because).1;
        self.meaning.settings.push((key, value.to_string(), span));
    }

    /// Names whose values must be the published ones, and statements without effect, by their reasons.
    fn others(&mut self, mode: &str) {
        let mut idle: Vec<(String, Vec<&'static str>)> = Vec::new();
        let mut add = |why: String, name| match idle.iter_mut().find(|(known, _)| *known == why) {
            Some((_, names)) => names.push(name),
            None => idle.push((why, vec![name])),
        };
        let given: Vec<&names::Name> = NAMES.iter().filter(|(name, ..)| self.statements.contains_key(name)).collect();
        for &(name, published, takes, _) in given {
            match takes {
                Takes::Only(remedy) if !is_same(self.value(name).0, published) => {
                    self.refuse(name, &format!("without an equal here, which is {published}"), remedy);
                }
                Takes::Idle(why) => add(why.to_owned(), name),
                Takes::Control(modes) if !modes.contains(&mode) => {
                    add(format!("CC_MODE {mode} does not read it"), name)
                }
                Takes::Only(_) | Takes::Means | Takes::Control(_) => {}
            }
        }
        let notes = idle.into_iter().map(|(why, names)| format!("without effect: {}: {why}", names.join(", ")));
        self.meaning.notes.extend(notes);
        // Defaults of ns3-rdma are not those of HPCC.
        if self.is_rdma() {
            return;
        }
        let is_missing = |(name, published, takes, of): &&names::Name| {
            let is_read = match takes {
                Takes::Means => true,
                Takes::Control(modes) => modes.contains(&mode),
                Takes::Only(_) | Takes::Idle(_) => false,
            };
            is_read && *of == Of::Hpcc && !published.is_empty() && !self.statements.contains_key(name)
        };
        let missing: Vec<String> =
            NAMES.iter().filter(is_missing).map(|(name, published, ..)| format!("{name} {published}")).collect();
        if !missing.is_empty() {
            let note = format!("not given, and as in the published configuration of HPCC: {}", missing.join(", "));
            self.meaning.notes.push(note);
        }
    }
}

/// True if two values are the same words, or the same numbers.
fn is_same(one: &str, other: &str) -> bool {
    let is_equal = |(one, other): (&str, &str)| {
        let number = |text: &str| text.parse::<f64>().ok();
        one == other || number(one).is_some_and(|value| number(other) == Some(value))
    };
    let words = |text: &str| text.split_whitespace().count();
    words(one) == words(other) && one.split_whitespace().zip(other.split_whitespace()).all(is_equal)
}

/// What a configuration means. `find` gives the files that it names.
///
/// # Errors
/// Everything in it that is no name of these simulators, or has no equal here, in the order of the text.
pub(super) fn meaning(text: &str, find: &dyn Fn(&str) -> Option<Found>) -> Result<Meaning, Vec<Refusal>> {
    let mut config = Config::new(text);
    config.meaning.settings.push(("network", "ethernet".to_owned(), 0..text.len()));
    config.network(find);
    let mode = config.hosts();
    config.flows(find);
    config.others(&mode);
    if config.refusals.is_empty() {
        return Ok(config.meaning);
    }
    config.refusals.sort_by_key(|refusal| refusal.span.start);
    Err(config.refusals)
}

#[cfg(test)]
mod tests;
