//! A text while it is read: its places, what the specification says of the reading, and what is noted on the way.

use std::cell::RefCell;
use std::collections::BTreeMap;

use trgen::catalog::{ErrorKind, SpecError, suggestion};

use super::attribute::parse_rate;
use super::format::Format;
use super::statement::Places;

/// What the specification says of the reading: `graph:FILE,rate-unit=Gb/s`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// Endpoints of a switch that says nothing of its own.
    pub endpoints: Option<u32>,
    /// Units of numbers that have none: of rates.
    pub rate_unit: Option<String>,
    /// Of delays.
    pub delay_unit: Option<String>,
    /// Whether edges are directions of links, whatever the file says.
    pub directed: Option<bool>,
    /// True to keep only the largest of several parts that are not linked.
    pub largest: bool,
    /// Words that are taken for decoration; `*` stands for any letters at the end.
    pub ignore: Vec<String>,
    /// True to give each direction of a link whose directions share a bandwidth all of it.
    pub duplex: bool,
    /// Which module of a planned link is its rate.
    pub modules: Option<Modules>,
}

/// Modules of links that SNDlib plans.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Modules {
    /// The first one of a link.
    First,
    /// The largest one.
    Largest,
}

/// Names of options.
pub(super) const OPTIONS: [&str; 8] =
    ["endpoints", "rate-unit", "delay-unit", "directed", "part", "ignore", "shared", "modules"];

impl Options {
    /// Sets an option; `spec` is the specification, for errors.
    ///
    /// # Errors
    /// An unknown name or value.
    pub fn set(&mut self, spec: &str, name: &str, value: &str) -> Result<(), SpecError> {
        let wrong = |remedy: &str| {
            Err(SpecError::new(ErrorKind::UnknownName, format!("{name}={value} in `{spec}`"), remedy.to_owned()))
        };
        match (name, value) {
            ("rate-unit", unit) if parse_rate(&format!("1{unit}")).is_some() => self.rate_unit = Some(unit.to_owned()),
            ("rate-unit", _) => return wrong("write rate-unit=Gb/s, or another of b/s, kb/s, Mb/s, Tb/s, B/s, ..."),
            ("delay-unit", unit) if trgen::units::parse_span(&format!("1{unit}")).is_some() => {
                self.delay_unit = Some(unit.to_owned());
            }
            ("delay-unit", _) => return wrong("write delay-unit=ms, or another of ps, ns, us, s"),
            ("directed", "true") => self.directed = Some(true),
            ("directed", "false") => self.directed = Some(false),
            ("directed", _) => return wrong("write directed=true or directed=false"),
            ("part", "largest") => self.largest = true,
            ("part", _) => return wrong("write part=largest, or leave it out"),
            ("shared", "duplex") => self.duplex = true,
            ("shared", _) => return wrong("write shared=duplex, or leave it out"),
            ("modules", "first") => self.modules = Some(Modules::First),
            ("modules", "largest") => self.modules = Some(Modules::Largest),
            ("modules", _) => return wrong("write modules=first or modules=largest, or leave it out"),
            ("ignore", words) if !words.is_empty() => {
                self.ignore = words.split(':').filter(|word| !word.is_empty()).map(str::to_owned).collect();
            }
            ("ignore", _) => return wrong("name attributes of the file with `:` between them: ignore=weight:geo*"),
            _ => {
                return Err(SpecError::new(
                    ErrorKind::UnknownName,
                    format!("{name} in `{spec}`"),
                    suggestion(name, &OPTIONS).to_string(),
                ));
            }
        }
        Ok(())
    }

    /// True for a word that the specification takes for decoration.
    #[must_use]
    pub fn ignores(&self, word: &str) -> bool {
        self.ignore.iter().any(|pattern| match pattern.strip_suffix('*') {
            Some(begin) => word.get(..begin.len()).is_some_and(|own| own.eq_ignore_ascii_case(begin)),
            None => word.eq_ignore_ascii_case(pattern),
        })
    }
}

/// A text while it is read.
#[derive(Debug)]
pub struct Reading<'a> {
    /// Its lines.
    pub places: Places<'a>,
    /// What the specification says.
    pub options: &'a Options,
    /// Its format.
    pub format: &'static Format,
    noted: RefCell<Noted>,
}

/// What has been noted.
#[derive(Default, Debug)]
pub(super) struct Noted {
    pub(super) decoration: BTreeMap<String, usize>,
    pub(super) notes: Vec<String>,
    pub(super) units: Vec<String>,
    pub(super) choices: Vec<String>,
}

impl<'a> Reading<'a> {
    pub(super) fn new(text: &'a str, options: &'a Options, format: &'static Format) -> Self {
        Self { places: Places::new(text), options, format, noted: RefCell::default() }
    }

    /// Counts a word that says nothing of the network.
    pub fn decorated(&self, word: &str) {
        /// Maximum number of words that are told apart.
        const MOST: usize = 256;
        let mut noted = self.noted.borrow_mut();
        if noted.decoration.len() < MOST || noted.decoration.contains_key(word) {
            *noted.decoration.entry(super::attribute::short(word)).or_default() += 1;
        }
    }

    /// Adds a note, once. Of very many, the first are kept.
    pub fn note(&self, note: String) {
        /// Maximum number of notes.
        const MOST: usize = 256;
        let mut noted = self.noted.borrow_mut();
        if noted.notes.len() < MOST && !noted.notes.contains(&note) {
            noted.notes.push(note);
        }
    }

    /// States where a unit comes from, once.
    pub fn unit(&self, unit: String) {
        let mut noted = self.noted.borrow_mut();
        if !noted.units.contains(&unit) {
            noted.units.push(unit);
        }
    }

    /// Names an option that would read the file otherwise.
    pub fn option(&self, option: &str) {
        let mut noted = self.noted.borrow_mut();
        if !noted.choices.iter().any(|known| known == option) {
            noted.choices.push(option.to_owned());
        }
    }

    /// All that has been noted.
    pub(super) fn noted(&self) -> Noted {
        self.noted.take()
    }
}
