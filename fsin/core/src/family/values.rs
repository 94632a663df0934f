//! Values of settings, as a model reads them.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use trgen::NodeId;
use trgen::catalog::{Allowed, ErrorKind, SpecError, suggestion};
use trgen::phrase;
use trgen::phrase::Phrase;
use trgen::synthetic::flows::{self, Reading};

use super::Key;
use crate::failures::{Failures, Timetable};
use crate::route::{self, RouteTable, Routers};
use crate::topology::switched::{Switched, Uses, parse_rate};
use crate::topology::{self, Topology};

/// The values of all settings.
pub trait Values {
    /// The declaration of a key.
    fn key(&self, name: &str) -> Option<&'static Key>;

    /// The value of a key: as set, or its default; `None` if it is absent.
    fn value(&self, name: &str) -> Option<&str>;

    /// True if this key is set.
    fn is_set(&self, name: &str) -> bool;

    /// True if the key is set for this run in particular. It is then an error if the setting has no effect.
    fn is_insisted(&self, name: &str) -> bool;

    /// The folder to which a relative path in this key's value refers.
    fn folder_of(&self, name: &str) -> PathBuf;

    /// The text of a file that a value names; one that is compressed with gzip is decompressed.
    ///
    /// # Errors
    /// A file that cannot be read or is damaged, text that is not UTF-8, or more than `most` bytes of text.
    fn text(&self, path: &Path, most: u64) -> io::Result<String>;

    /// The unit of a key's value; empty if it has none.
    fn unit(&self, name: &str) -> &'static str {
        self.key(name).map_or("", |key| key.unit)
    }

    /// The traffic classes of the jobs that the file of `job-mix` describes, a bit for each; class 0 of a file that
    /// cannot be read, which is refused elsewhere.
    fn classes_of_jobs(&self) -> u8 {
        1
    }

    /// How to write another value of the key where the present one is written.
    fn write(&self, name: &'static str, value: &str) -> Phrase {
        phrase!["write ", [name => value]]
    }
}

impl dyn Values + '_ {
    /// The value of a key that always has one.
    #[must_use]
    pub fn word(&self, name: &str) -> &str {
        self.value(name).unwrap_or("")
    }

    /// The value of a key as an integer below 2^63, the range of integers in an experiment file.
    ///
    /// # Errors
    /// A value of another form.
    pub fn integer<T: FromStr>(&self, name: &'static str) -> Result<T, SpecError> {
        if self.word(name).parse().is_ok_and(|value: u64| i64::try_from(value).is_err()) {
            return Err(self.too_large(name));
        }
        let is_size = self.unit(name) == "bytes";
        self.parse(
            name,
            if is_size { "a size such as 1500, 64kB or 1MiB" } else { "a whole number that is not negative" },
        )
    }

    /// The value of a key as an integer; `absent` where it is not set.
    ///
    /// # Errors
    /// A value that is no integer.
    pub fn integer_or<T: FromStr>(&self, name: &'static str, absent: T) -> Result<T, SpecError> {
        if self.is_set(name) { self.integer(name) } else { Ok(absent) }
    }

    /// The value of a key as a finite number.
    ///
    /// # Errors
    /// A value of another form.
    pub fn number(&self, name: &'static str) -> Result<f64, SpecError> {
        let number: f64 = self.parse(name, "a number").map_err(|error| {
            let point = self.word(name).replacen(',', ".", 1);
            match point.parse::<f64>() {
                Ok(_) => error.remedied(self.write(name, &point)),
                Err(_) => error,
            }
        })?;
        if number.is_finite() { Ok(number) } else { Err(self.refused(name, "a finite number")) }
    }

    /// The value of a key as one of a few words.
    ///
    /// # Errors
    /// A word that is not one of these.
    pub fn choice<T: Copy>(&self, name: &'static str, choices: &[(&str, T)]) -> Result<T, SpecError> {
        let value = self.word(name);
        choices.iter().find(|(word, _)| *word == value).map(|&(_, choice)| choice).ok_or_else(|| {
            let known: Vec<&str> = choices.iter().map(|&(word, _)| word).collect();
            let near = suggestion(value, &known);
            let error = SpecError::new(ErrorKind::UnknownName, phrase![[name], " does not know `{value}`"], &near);
            error.given(value).allowed(Allowed::Names(near)).of(name)
        })
    }

    /// The value of a key as a type that parses itself.
    ///
    /// # Errors
    /// A word that the type does not know.
    pub fn parsed<T: FromStr<Err = SpecError>>(&self, name: &'static str) -> Result<T, SpecError> {
        self.word(name).parse().map_err(|refusal: SpecError| match refusal.setting() {
            Some(_) => refusal,
            None => refusal.within(phrase![[name], ": "]).of(name),
        })
    }

    /// The value of a key that is true or false.
    ///
    /// # Errors
    /// A word that is not one of these.
    pub fn switch(&self, name: &'static str) -> Result<bool, SpecError> {
        if self.value(name).is_none() {
            return Ok(false);
        }
        self.choice(name, &[("true", true), ("false", false)])
    }

    /// \[ps\] The value of a key as a time span: a whole number and `ps`, `ns`, `us`, `ms` or `s`.
    ///
    /// # Errors
    /// A value of another form, or no value.
    pub fn span(&self, name: &'static str) -> Result<u64, SpecError> {
        let word = self.word(name);
        trgen::units::parse_span(word).ok_or_else(|| {
            let what = match word {
                "" => phrase![[name], " is not given"],
                _ => phrase![[name], " takes a time, not `{word}`"],
            };
            let example = self.key(name).and_then(|key| key.default).unwrap_or("100ns");
            let remedy = phrase![self.write(name, example), " (ps, ns, us, ms, s)"];
            SpecError::new(ErrorKind::Malformed, what, remedy).of(name)
        })
    }

    /// The topology that `topology` and `ways` name; a file is relative to the folder of its setting.
    ///
    /// # Errors
    /// A topology that cannot be used, or whose file gives links an attribute that the model does not use.
    pub fn topology(&self, uses: &Uses) -> Result<Box<dyn Topology>, SpecError> {
        let topology = self.named_topology()?;
        uses.check(&*topology)?;
        Ok(topology)
    }

    /// The topology, as `topology` gives it, with delays of links in cycles and rates as paces. A cycle is a phit on
    /// the fastest link, and at `bandwidth` where no link has a rate.
    ///
    /// # Errors
    /// As `topology`; a delay that is no whole number of cycles; a rate that is no ratio of small integers to that of
    /// the fastest link.
    pub fn topology_in_cycles(&self, uses: &Uses) -> Result<Box<dyn Topology>, SpecError> {
        let topology = self.named_topology()?;
        uses.check_before_conversion(&*topology)?;
        let topology = match topology.switched() {
            Some(network) if network.has_times() || network.has_rates() => {
                Box::new(network.in_cycles(self.integer("phit-bytes")?, self.link_rate()?)?)
            }
            _ => topology,
        };
        uses.check(&*topology)?;
        Ok(topology)
    }

    /// The topology that `topology` and `ways` name.
    fn named_topology(&self) -> Result<Box<dyn Topology>, SpecError> {
        let ways = self.integer("ways")?;
        self.topology_of(ways)
    }

    /// The topology that `topology` names, with links of this many directions.
    ///
    /// # Errors
    /// A topology that cannot be used.
    pub fn topology_of(&self, ways: usize) -> Result<Box<dyn Topology>, SpecError> {
        if !(1..=2).contains(&ways) {
            let what = phrase![["ways" => ways], " is out of range"];
            return Err(SpecError::new(ErrorKind::OutOfRange, what, "use 1 or 2").of("ways"));
        }
        let spec = self.word("topology");
        let file = topology::file(spec).map(|path| self.folder_of("topology").join(path));
        let spec = file.map_or_else(|| spec.to_owned(), |path| topology::with_file(spec, &path));
        let topology = topology::parse(&spec, ways).map_err(|refusal| {
            let key = refusal.setting().unwrap_or("topology");
            refusal.within(phrase![[key], ": "]).of(key)
        })?;
        if self.is_set("ways") && topology.ways() != ways {
            let what = phrase![
                ["ways" => ways],
                (": every dimension of {} has links of {} way", topology.spec(), topology.ways())
            ];
            return Err(SpecError::new(ErrorKind::Conflict, what, "leave it out").of("ways"));
        }
        Ok(topology)
    }

    /// The routes of the file of `routes` in a topology; `None` where it is not set.
    ///
    /// # Errors
    /// Another value of `routing`; a file that cannot be read, or whose routes are not those of the topology, with the
    /// line at fault.
    pub fn routes(&self, topology: &dyn Topology) -> Result<Option<Arc<RouteTable>>, SpecError> {
        /// \[bytes\] Longest text of a file.
        const MOST: u64 = 1 << 32;
        if !self.is_set("routes") {
            return Ok(None);
        }
        let own = route::rows::ROUTES.component.name;
        // A model may have a name of its own for the routing of a kind of network: `graph:routes`.
        if self.is_set("routing") && self.word("routing").rsplit(':').next() != Some(own) {
            let what = phrase![["routes"], " gives the routes, and ", ["routing" => self.word("routing")], " others"];
            return Err(SpecError::new(ErrorKind::Conflict, what, "leave out one of them").of("routes"));
        }
        let path = Path::new(self.word("routes"));
        let within = |error: SpecError| error.within(phrase![["routes"], (": {}: ", path.display())]).of("routes");
        let text = self.text(path, MOST).map_err(|error| {
            let what = phrase![["routes"], (": {} cannot be read: {error}", path.display())];
            let remedy = "give a file of comma-separated values, plain or compressed with gzip";
            SpecError::new(ErrorKind::Unreadable, what, remedy).of("routes")
        })?;
        let routers = Routers::new(topology).map_err(within)?;
        Ok(Some(Arc::new(route::given::read(&text, &routers).map_err(within)?)))
    }

    /// The traffic classes of the messages of a run, a bit for each: of its list of flows, of its jobs, or of its
    /// source of traffic, whose messages have class `own`. Class 0 alone of a list that cannot be read, which is
    /// refused elsewhere.
    #[must_use]
    pub fn classes(&self, own: u8) -> u8 {
        /// \[bytes\] Longest text of a list.
        const MOST: u64 = 1 << 32;
        if self.is_set("flows") {
            let word = self.word("flows");
            let (path, ignores_classes) = word.strip_suffix(",ignore=class").map_or((word, false), |path| (path, true));
            let text = self.text(&self.folder_of("flows").join(path), MOST).unwrap_or_default();
            // Classes do not depend on nodes, which the network may name: each word is another node.
            let known = RefCell::new(HashMap::new());
            let node = |word: &str| {
                let mut known = known.borrow_mut();
                let next = known.len() as u32;
                Ok(NodeId(*known.entry(word.to_owned()).or_insert(next)))
            };
            let of = Reading { node: &node, cm_unit: Some(1), ignores_classes };
            let flows = flows::read(&text, &of).map(|list| list.flows).unwrap_or_default();
            let mask = flows.iter().fold(0, |mask, flow| mask | 1u8 << flow.class);
            return if mask == 0 { 1 } else { mask };
        }
        if self.is_set("job-mix") {
            return self.classes_of_jobs();
        }
        let reacts = ["reactive", "request-reply"].iter().any(|word| self.word("temporal").starts_with(word));
        1u8.checked_shl(own.into()).unwrap_or(1) | if reacts { 0b10 } else { 0 }
    }

    /// What `fail` says of a topology, in a model whose cycle is a picosecond; nothing where it is not set.
    ///
    /// # Errors
    /// Those of [`Failures::parse`].
    pub fn failures(&self, topology: &dyn Topology) -> Result<Failures, SpecError> {
        self.failures_in(topology, (1, 1))
    }

    /// The same in a model with cycles of this length.
    fn failures_in(&self, topology: &dyn Topology, cycle: (u64, u64)) -> Result<Failures, SpecError> {
        match self.value("fail") {
            Some(value) => Failures::parse(value, &self.folder_of("fail"), topology, self.integer("seed")?, cycle)
                .map_err(|refusal| refusal.within(phrase![["fail"], ": "])),
            None => Ok(Failures::default()),
        }
    }

    /// \[ps\] Length of a cycle of a model in which it is the time of a phit on a link, as numerator and denominator;
    /// `topology` is one [in cycles](Self::topology_in_cycles).
    fn cycle(&self, topology: &dyn Topology) -> Result<(u64, u64), SpecError> {
        if let Some(cycle) = topology.switched().and_then(Switched::cycle) {
            return Ok(cycle);
        }
        let phit: u64 = self.integer("phit-bytes")?;
        let picoseconds = phit.checked_mul(8_000_000_000_000).ok_or_else(|| self.too_large("phit-bytes"))?;
        Ok((picoseconds, self.link_rate()?))
    }

    /// \[b/s\] The rate of a link to which no file gives one.
    fn link_rate(&self) -> Result<u64, SpecError> {
        let word = self.word("bandwidth");
        parse_rate(word).filter(|&rate| rate > 0).ok_or_else(|| {
            let what = phrase![["bandwidth"], " takes a rate in bits per second, not `{word}`"];
            let remedy = phrase![self.write("bandwidth", "10Gb/s"), " (prefixes k, M, G, T)"];
            SpecError::new(ErrorKind::Malformed, what, remedy).of("bandwidth")
        })
    }

    /// What `fail` says of a topology in a model that changes its routes while it runs, and the network in which the
    /// run begins: without the links that are dead from the start, if no link changes later; otherwise with all links,
    /// of which routes take those that are alive. A cycle is a picosecond if `is_picosecond`, and else the time of a
    /// phit.
    ///
    /// # Errors
    /// Those of [`Failures::parse`], and endpoints that are cut off from the start, unless the model `drops` their
    /// messages.
    pub fn timetable(
        &self,
        whole: Arc<dyn Topology>,
        is_picosecond: bool,
        drops: bool,
    ) -> Result<(Arc<dyn Topology>, Timetable), SpecError> {
        let is_counted = is_picosecond || self.value("fail").is_none();
        let cycle = if is_counted { (1, 1) } else { self.cycle(&*whole)? };
        let failures = self.failures_in(&*whole, cycle)?;
        if !drops && let Some(lost) = failures.unreachable(&*whole) {
            let remedy = phrase![
                "let fewer links fail, or use ",
                ["network" => "ethernet"],
                " or ",
                ["network" => "flow"],
                ", which drop such messages"
            ];
            return Err(lost.remedied(remedy));
        }
        let topology = if failures.changes.is_empty() { failures.at_first(&whole) } else { Arc::clone(&whole) };
        Ok((topology, Timetable::new(failures, &whole)))
    }

    /// Names `fail` as the cause of an error about the routing, where the routing was chosen because of it and not set.
    #[must_use]
    pub fn because_of_failures(&self, error: SpecError) -> SpecError {
        match self.is_set("fail") && !self.is_set("routing") {
            true => error.within(phrase![["fail"], ": "]),
            false => error,
        }
    }

    /// The value of a key as a `T`; `what` names the type in an error.
    fn parse<T: FromStr>(&self, name: &'static str, what: &str) -> Result<T, SpecError> {
        let word = self.word(name);
        word.parse().map_err(|_| {
            if word.bytes().all(|byte| byte.is_ascii_digit()) && !word.is_empty() {
                return self.too_large(name);
            }
            self.refused(name, what)
        })
    }

    /// The error of a number that is too large for the key's type.
    fn too_large(&self, name: &'static str) -> SpecError {
        let what = phrase![[name => self.word(name)], " is too large"];
        SpecError::new(ErrorKind::TooLarge, what, self.example(name)).of(name)
    }

    /// The error of a value that is not `what`.
    fn refused(&self, name: &'static str, what: &str) -> SpecError {
        let unit = self.unit(name);
        let unit = if unit.is_empty() { String::new() } else { format!(" ({unit})") };
        let value = self.word(name);
        let what = phrase![[name], " takes {what}{unit}, not `{value}`"];
        SpecError::new(ErrorKind::Malformed, what, self.example(name)).of(name)
    }

    /// How to write a valid value in place of the invalid one.
    fn example(&self, name: &'static str) -> Phrase {
        let usual = |unit| match unit {
            "percent" => "50",
            "" => "1",
            _ => "1000",
        };
        self.write(name, self.key(name).map_or("1000", |key| key.default.unwrap_or_else(|| usual(key.unit))))
    }
}
