//! Configuration files of BookSim 2 as experiments.
//!
//! A file holds statements `name = value;` and comments `//`. It is an experiment over the network `wormhole` with
//! BookSim's defaults. A name at its default is read in silence; one with another value but no meaning in this run has
//! a note; a name that BookSim does not have, and a value that this project has no equal for, are refused, all of a file
//! in one error.
//!
//! Decisions: docs/decisions/0193-configurations-of-booksim.md, docs/decisions/0351-names-of-booksim.md.
//!
//! Source: Jiang and others, *A detailed and flexible cycle-accurate network-on-chip simulator*, ISPASS 2013; BookSim
//! 2.0 User's Guide.

mod names;
mod network;
mod router;
mod traffic;

use std::collections::BTreeMap;
use std::ops::Range;

use trgen::catalog::{ErrorKind, SpecError, suggestion};

use super::meaning::{Meaning, Refusal};
use names::{NAMES, Takes, is_same, row};

/// A statement of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Statement {
    value: String,
    /// \[bytes\] Its place in the text.
    span: Range<usize>,
}

/// True for a text of statements that end with a semicolon, as no TOML has.
pub(super) fn is_config(text: &str) -> bool {
    let code = text.lines().map(|line| line.split("//").next().unwrap_or("").trim());
    code.filter(|line| !line.is_empty()).take(1).any(|line| {
        let name = line.split('=').next().unwrap_or("").trim();
        line.contains('=')
            && line.ends_with(';')
            && !name.is_empty()
            && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
    })
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
    /// The statements of a text. What is no statement and what is no name of BookSim is kept as a refusal.
    fn new(text: &str) -> Self {
        let mut new = Self {
            statements: BTreeMap::new(),
            meaning: Meaning { settings: Vec::new(), notes: Vec::new() },
            refusals: Vec::new(),
            length: text.len(),
        };
        // Comments become blanks, so that places stay.
        let code: String = text
            .split_inclusive('\n')
            .map(|line| match line.find("//") {
                Some(at) => {
                    let comment = line[at..].chars();
                    let blank = comment.map(|c| if c == '\n' { "\n".to_owned() } else { " ".repeat(c.len_utf8()) });
                    format!("{}{}", &line[..at], blank.collect::<String>())
                }
                None => line.to_owned(),
            })
            .collect();
        let mut begin = 0;
        for piece in code.split_inclusive(';') {
            let lead = piece.len() - piece.trim_start().len();
            let span = begin + lead..begin + piece.len();
            begin += piece.len();
            if !piece.trim().is_empty() {
                new.statement(piece.trim(), span);
            }
        }
        new
    }

    /// Takes one statement.
    fn statement(&mut self, piece: &str, span: Range<usize>) {
        let shown = piece.escape_debug().to_string();
        let mut refuse = |kind, what: String, remedy: String| {
            self.refusals.push(Refusal { error: SpecError::new(kind, what, remedy), span: span.clone() });
        };
        let Some(statement) = piece.strip_suffix(';') else {
            let what = format!("`{shown}` does not end with a semicolon");
            return refuse(ErrorKind::Malformed, what, "write `name = value;`".to_owned());
        };
        let Some((name, value)) = statement.split_once('=') else {
            return refuse(
                ErrorKind::Malformed,
                format!("`{shown}` is no statement"),
                "write `name = value;`".to_owned(),
            );
        };
        let (name, value) = (name.trim(), value.trim().trim_matches('"'));
        let Some((known, ..)) = row(name) else {
            let names: Vec<&str> = NAMES.iter().map(|(name, ..)| *name).collect();
            let near = suggestion(name, &names);
            let remedy = if near.near.is_empty() { "leave it out".to_owned() } else { near.to_string() };
            let what = format!("`{}` is no name of BookSim 2", name.escape_debug());
            return refuse(ErrorKind::UnknownName, what, remedy);
        };
        // The last statement of a name counts.
        self.statements.insert(known, Statement { value: single(value).to_owned(), span });
    }

    /// The value of a name, and the place of its statement.
    fn value(&self, name: &'static str) -> (&str, Range<usize>) {
        match self.statements.get(name) {
            Some(statement) => (&statement.value, statement.span.clone()),
            None => (row(name).map_or("", |(_, usual, _)| usual), 0..self.length),
        }
    }

    /// True if a name has another value than its default.
    fn differs(&self, name: &'static str) -> bool {
        row(name).is_some_and(|(_, usual, _)| !is_same(self.value(name).0, usual))
    }

    /// Refuses the value of a name.
    fn refuse(&mut self, name: &'static str, what: &str, remedy: impl Into<String>) {
        let (value, span) = self.value(name);
        let what = format!("{name} = {}: {what}", value.escape_debug());
        self.refusals.push(Refusal { error: SpecError::new(ErrorKind::Unsupported, what, remedy.into()), span });
    }

    /// Notes something about the statement of a name.
    fn note(&mut self, name: &'static str, what: &str) {
        let note = format!("{name} = {}: {what}", self.value(name).0.escape_debug());
        self.meaning.notes.push(note);
    }

    /// A whole number of at least `least`; `least` itself after a refusal.
    fn whole(&mut self, name: &'static str, least: u64) -> u64 {
        let number = self.value(name).0.parse().ok().filter(|&number: &u64| number >= least && number <= 1 << 32);
        number.unwrap_or_else(|| {
            self.refuse(name, &format!("no whole number from {least} on"), "write such a number");
            least
        })
    }

    /// A number that is not negative; 0 after a refusal.
    fn number(&mut self, name: &'static str) -> f64 {
        let number = self.value(name).0.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0);
        number.unwrap_or_else(|| {
            self.refuse(name, "no number from 0 on", "write a number such as 0.1");
            0.0
        })
    }

    /// 0 or 1; false after a refusal.
    fn switch(&mut self, name: &'static str) -> bool {
        match self.value(name).0 {
            "0" => false,
            "1" => true,
            _ => {
                self.refuse(name, "neither 0 nor 1", "write 0 or 1");
                false
            }
        }
    }

    /// Sets a key of an experiment because of a name.
    fn set(&mut self, key: &'static str, value: impl ToString, because: &'static str) {
        let span = self.value(because).1;
        self.meaning.settings.push((key, value.to_string(), span));
    }

    /// Names that must have their defaults, and those that have no meaning in this run.
    fn others(&mut self) {
        for &(name, usual, takes) in NAMES {
            match takes {
                _ if !self.differs(name) => {}
                Takes::Only(remedy) => {
                    self.refuse(name, &format!("without an equal here, which is {usual}"), remedy);
                }
                Takes::Idle(why) => self.note(name, &format!("without effect: {why}")),
                Takes::Means => {}
            }
        }
    }
}

/// The only element of a list in braces; any other value as it is.
fn single(value: &str) -> &str {
    let inside = value.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).map(str::trim);
    inside.filter(|inside| !inside.contains(['{', '}', ',']) && !inside.is_empty()).unwrap_or(value)
}

/// What a configuration means. `is_there` tells whether a file that it names exists.
///
/// # Errors
/// Everything in it that is no statement, no name of BookSim, or has no equal here, in the order of the text.
pub(super) fn meaning(text: &str, is_there: &dyn Fn(&str) -> bool) -> Result<Meaning, Vec<Refusal>> {
    let mut config = Config::new(text);
    config.meaning.settings.push(("network", "wormhole".to_owned(), 0..text.len()));
    config.network();
    let file = config.value("network_file").0.to_owned();
    if config.value("topology").0 == "anynet" && !file.is_empty() && !is_there(&file) {
        config.refuse("network_file", "no such file", "its path is relative to the folder of the configuration");
    }
    config.router();
    config.traffic();
    config.others();
    if config.refusals.is_empty() {
        return Ok(config.meaning);
    }
    config.refusals.sort_by_key(|refusal| refusal.span.start);
    Err(config.refusals)
}

#[cfg(test)]
mod tests;
