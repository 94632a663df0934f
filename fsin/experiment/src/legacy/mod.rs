//! Words of the original simulator (FSIN, INSEE), translated into keys of an experiment.
//!
//! Only words of known meaning are translated, with the original's defaults; all others are rejected by name. A note
//! marks defects of the original that are not reproduced, and words whose meaning is inferred from their name only.
//!
//! Decision: docs/decisions/0075-legacy-words.md.

mod control;
mod network;
mod traffic;
mod words;

use trgen::catalog::{ErrorKind, SpecError};
use trgen::phrase;
use trgen::phrase::Phrase;

use super::keys::{Kind, key, keys};
use super::together;
use fsin_models::vct::routing::Routing;
use traffic::{Run, is_original, of_distances};
pub use words::glossary;
use words::{IDLE, Meaning, Takes, choose, meaning};

/// A word of the original, with its value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Word {
    /// Text before the `=`.
    pub name: String,
    /// Text after the `=`.
    pub value: String,
    /// Name of the file and number of the line, if the word is in a file.
    pub line: Option<(String, usize)>,
}

impl Word {
    /// A word of a command line.
    #[must_use]
    pub fn new(name: &str, value: &str) -> Self {
        Self { name: name.to_owned(), value: value.to_owned(), line: None }
    }

    /// The location of the word in a file, as the beginning of an error; empty if it has none.
    fn place(&self) -> String {
        self.line.as_ref().map_or(String::new(), |(file, line)| format!("{file}: line {line}: "))
    }
}

/// A word whose meaning is known.
#[derive(Clone, Debug)]
struct Known {
    /// The word as written.
    word: Word,
    /// Its meaning.
    meaning: Meaning,
}

impl Known {
    /// The canonical name of the word.
    const fn name(&self) -> &'static str {
        self.meaning.name()
    }
}

/// The translation of the original's words.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Translation {
    /// Keys and values, in the order of the key table.
    pub settings: Vec<(&'static str, String)>,
    /// Differences from the original, each with the key that it is about, if there is one.
    notes: Vec<(Option<&'static str>, Phrase)>,
    /// Keys with the words that set them, and whether those are words of the original.
    origins: Vec<(&'static str, Word, bool)>,
    /// Words that have no effect in a run of this kind.
    useless: Vec<Word>,
    /// The word being translated.
    present: Option<Word>,
    /// True if the word being translated is one of the original's.
    original: bool,
}

/// Keys whose values have arguments. With `true` the arguments are bracketed here, so that `cburst_8` is `cburst(8)`;
/// with `false` they follow a colon, so that `shift_3` is `shift:3`.
const COMPOSITE: &[(&str, bool)] = &[("temporal", true), ("size", true), ("placement", false), ("link-delay", false)];

/// The word of this name, if it is used. [`translate`] keeps only the last use of each word.
fn last<'a>(words: &'a [Known], name: &str) -> Option<&'a Known> {
    words.iter().find(|known| known.name() == name)
}

/// The error of a word, with the word's location.
fn located(known: &Known, refusal: &SpecError) -> SpecError {
    refusal.clone().within(known.word.place())
}

/// The number after a word.
fn number(known: &Known) -> Result<f64, SpecError> {
    let value: Option<f64> = known.word.value.parse().ok().filter(|value: &f64| value.is_finite() && *value >= 0.0);
    value.ok_or_else(|| {
        let what = format!("`{}` takes a number that is not negative, not `{}`", known.word.name, known.word.value);
        located(
            known,
            &SpecError::new(ErrorKind::Malformed, what, format!("write a number, or leave {} out", known.word.name)),
        )
    })
}

/// Translates words and their values; a later one overrides an earlier one of the same meaning.
///
/// # Errors
/// Every unknown word or value, by its name, with the nearest known ones, and by its line, all in one error.
pub fn translate(words: &[Word]) -> Result<Translation, SpecError> {
    let mut all: Vec<Known> = Vec::with_capacity(words.len());
    let mut refused = Vec::new();
    for word in words {
        let here = |refusal: SpecError| refusal.within(word.place());
        let meaning = match meaning(&word.name) {
            Ok(meaning) => meaning,
            Err(refusal) => {
                refused.push(here(refusal));
                continue;
            }
        };
        if word.value.is_empty() {
            refused.push(here(SpecError::new(
                ErrorKind::Malformed,
                format!("`{}` has no value", word.name),
                "write one behind the =, or leave it out",
            )));
            continue;
        }
        // The last use of a word counts.
        all.retain(|known| known.name() != meaning.name());
        all.push(Known { word: word.clone(), meaning });
    }
    match Translation::of(&all, &mut refused) {
        Some(new) if refused.is_empty() => Ok(new),
        _ => Err(together(refused)),
    }
}

impl Translation {
    /// The translation of words; what cannot be taken is added to `refused`. `None` if the kind of run is not known.
    fn of(all: &[Known], refused: &mut Vec<SpecError>) -> Option<Self> {
        let mut keep = |outcome: Result<(), SpecError>| {
            let refusal = outcome.err();
            let is_new = |refusal: &SpecError| refused.iter().all(|other| other.to_string() != refusal.to_string());
            let is_taken = refusal.is_none();
            refused.extend(refusal.filter(is_new));
            is_taken
        };
        let run = match Run::of(all) {
            Ok(run) => run,
            Err(refusal) => {
                keep(Err(refusal));
                return None;
            }
        };
        let mut new = Self { original: true, ..Self::default() };
        // An ideal network has no router, so there are no defaults to report.
        let ideal = last(all, "network").is_some_and(|known| known.word.value.starts_with("ideal"));
        if !ideal {
            new.usual(all);
        }
        let has_network = (ideal && last(all, "topo").is_none()) || keep(new.network(all));
        if has_network && last(all, "rmode").is_none() {
            keep(new.routing(all));
        }
        for known in all.iter().filter(|known| has_network || known.name() != "rmode") {
            new.present = Some(known.word.clone());
            new.original = is_original(known);
            keep(new.translate_one(known, all, run));
        }
        new.original = true;
        if has_network {
            keep(new.injectors(all));
            keep(new.without_choice());
            keep(new.control(all));
            keep(new.traffic(all, run));
        }
        if !ideal {
            new.unknown_defaults();
        }
        new.note_idle_words(all);
        new.settings.sort_by_key(|(name, _)| keys().iter().position(|key| key.name == *name));
        Some(new)
    }
}

/// True if a key takes a whole number, and a value is none.
fn is_no_integer(name: &str, value: &str) -> bool {
    key(name).is_some_and(|key| key.kind == Kind::Integer) && value.parse::<i64>().is_err()
}

/// True for the values of `routing` in networks with routings of their own.
pub(super) fn tree_word(value: &str) -> bool {
    matches!(value, "adaptive" | "static")
}

/// A value in the syntax of this program: the arguments of `cburst_8`, if the value of the key has arguments, become
/// `cburst(8)`.
fn composite(key: &str, value: &str) -> String {
    let Some(&(_, bracketed)) = COMPOSITE.iter().find(|(name, _)| *name == key) else { return value.to_owned() };
    match value.split_once('_') {
        // The value is already in the syntax of this program, or is a path.
        _ if value.contains([':', '(', '/']) => value.to_owned(),
        Some((name, arguments)) if bracketed => format!("{name}({})", arguments.replace('_', ",")),
        _ => value.replace('_', ":"),
    }
}

impl Translation {
    /// Differences from the original.
    pub fn notes(&self) -> impl Iterator<Item = &Phrase> {
        self.notes.iter().map(|(_, note)| note)
    }

    /// Translates one word. `all` are all words of the run.
    fn translate_one(&mut self, known: &Known, all: &[Known], run: Run) -> Result<(), SpecError> {
        let Word { name, value, .. } = &known.word;
        match known.meaning {
            Meaning::Original(entry) => match (entry.name, entry.takes) {
                ("rmode", _) => return self.routing(all),
                // Trees and indirect cubes have it in place of request modes.
                ("routing", _) if self.has_own_routings() && tree_word(value) => return Ok(()),
                // The distances of a pattern are in the file of the trace.
                ("tracefile", _) if of_distances(all).is_some() => return Ok(()),
                ("tpattern", _) => return self.pattern(known, all, run),
                ("placement", _) => return self.placement(known, run),
                // The word has no effect, whatever its value: a file of the original holds words for all kinds of runs.
                (_, Takes::Same(key) | Takes::Choice(key, _)) if !run.knows(key, true) => {
                    self.useless.push(known.word.clone());
                    return Ok(());
                }
                // Timeouts that are off.
                ("timeout_upper" | "timeout_lower", _) if value == "-1" => return Ok(()),
                ("link_bandwidth", Takes::Same(key)) if value.parse::<f64>().is_ok() => {
                    self.set(key, format!("{value}Mb/s"))
                }
                ("plength", _) => self.packet(known, run),
                (_, Takes::Same(name)) if is_no_integer(name, value) => {
                    let what = format!("`{}={value}` is no whole number", known.word.name);
                    let remedy =
                        format!("write one number behind {}=: what others mean there is not known", known.word.name);
                    return Err(located(known, &SpecError::new(ErrorKind::Malformed, what, remedy)));
                }
                (_, Takes::Same(key)) => self.set(key, value.clone()),
                ("trace_cpu_units", _) if value.parse::<f64>().is_ok() => {
                    let what =
                        format!("`{name}={value}` is a number, and what the original counts in is not known here");
                    return Err(located(
                        known,
                        &SpecError::new(ErrorKind::Unsupported, what, format!("write ns, us, ms or cycles: {name}=us")),
                    ));
                }
                (_, Takes::Choice(key, choices)) => {
                    self.set(key, choose(name, value, choices).map_err(|refusal| located(known, &refusal))?);
                }
                // Off, as here.
                (_, Takes::Missing(_) | Takes::Refused(_)) if value == "0" => {}
                (_, Takes::Missing(what)) => {
                    let what = Phrase::of_template(what);
                    self.notes.push((None, phrase!["{name}={value}: no counterpart here, left out: ", what]));
                }
                (_, Takes::Refused(what)) => {
                    let what = phrase!["`{name}={value}` has no counterpart here: ", Phrase::of_template(what)];
                    let remedy =
                        format!("write {name}=0, or leave it out: a packet stays there until its request is granted");
                    return Err(located(known, &SpecError::new(ErrorKind::Unsupported, what, remedy)));
                }
                (_, Takes::Together | Takes::Printing | Takes::Coupling) => {}
            },
            Meaning::Ours(key) => {
                if key.kind == Kind::Switch && !matches!(&**value, "true" | "false") {
                    let what = format!("`{name}` is true or false, not `{value}`");
                    return Err(located(
                        known,
                        &SpecError::new(ErrorKind::Malformed, what, format!("write {name}=true, or leave it out")),
                    ));
                }
                self.set(key.name, composite(key.name, value));
            }
        }
        self.remark(known)
    }

    /// Sets the packet length, and the size of a phit if the value is `phits_bytes`; bytes matter to applications only.
    fn packet(&mut self, known: &Known, run: Run) {
        let Word { name, value, .. } = &known.word;
        let (phits, bytes) = value.split_once('_').map_or((&**value, None), |(phits, bytes)| (phits, Some(bytes)));
        self.set("packet", phits.to_owned());
        match bytes {
            Some(bytes) if run == Run::Application => self.set("phit-bytes", bytes.to_owned()),
            Some(bytes) => {
                let run = run.name();
                self.note("packet", format!("{name}={value}: the {bytes} bytes of a phit have no part in {run}"));
            }
            None => {}
        }
    }

    /// Raises the number of injectors to what their choice needs, as the original does by itself.
    fn injectors(&mut self, words: &[Known]) -> Result<(), SpecError> {
        let Some(known) = last(words, "imode") else { return Ok(()) };
        if self.value("injection").is_none_or(|injection| injection == "shortest") {
            return Ok(());
        }
        let shape = self.network_of()?.shape();
        let (needed, given) = (shape.ports(), self.value("injectors").map_or(Ok(1), str::parse::<usize>));
        if shape.is_switched() || given.is_ok_and(|given| given >= needed) {
            return Ok(());
        }
        let Word { name, value, .. } = &known.word;
        self.present = last(words, "ninj").map(|known| known.word.clone());
        self.set("injectors", needed.to_string());
        let given = self.present.as_ref().map_or(String::new(), |ninj| format!(" with {}={}", ninj.name, ninj.value));
        let what = format!("{needed} injectors, one for each direction, as the original takes by itself");
        self.note("injectors", format!("{name}={value}{given}: {what}"));
        Ok(())
    }

    /// Leaves out words that choose what the network or its routing leaves no choice of: files of the original hold them
    /// for every network, where they have no effect.
    fn without_choice(&mut self) -> Result<(), SpecError> {
        if self.value("network").is_some_and(|network| !network.starts_with("vct")) {
            return Ok(());
        }
        let topology = self.network_of()?;
        let is_switched = topology.shape().is_switched();
        let routing = self.value("routing").and_then(|name| Routing::named(name, &topology.spec()).ok());
        let has_no_bubble = routing.is_some_and(|routing| !routing.uses_bubble());
        let has_no_lbr = is_switched || routing.is_some_and(Routing::uses_datelines);
        let is_one_way = topology.ways() == 1 && self.value("ways") == Some("2");
        for (key, is_idle, why) in [
            ("bubble", has_no_bubble, "this routing needs no bubble"),
            ("lbr", has_no_lbr, "this routing has no such restriction"),
            ("injection", is_switched, "endpoints of switches have one link"),
            ("in-transit-priority", is_switched, "only endpoints inject"),
            ("order", is_switched, "routes of switches have no order of dimensions"),
            ("ways", is_one_way, "this network has links of one way"),
        ] {
            if let Some((word, true)) = self.source(key).filter(|_| is_idle) {
                let note = format!("{}={}: without effect here: {why}", word.name, word.value);
                self.remove(key);
                self.notes.push((None, note.into()));
            }
        }
        Ok(())
    }

    /// Adds a note on a word, or rejects its value.
    fn remark(&mut self, known: &Known) -> Result<(), SpecError> {
        let Word { name, value, .. } = &known.word;
        match (known.name(), &**value) {
            ("imode", "dor" | "dsh") => self.note(
                "injection",
                format!("{name}={value}: the original takes the last dimension with hops to go; here it is the first"),
            ),
            ("timeout_upper", _) => self.note(
                "timeout-upper",
                "timeout_upper: as compiled for 64 bits, the original keeps a node congested for ever once it is; here \
                 timeout_lower ends that",
            ),
            ("bsize", _) if "bubble".starts_with(&**name) => {
                self.note("bubble", format!("{name}={value}: read as bsize, the packets of the bubble"));
            }
            ("intransit_pr", _) if "ipr".starts_with(&**name) => {
                self.note("in-transit-priority", format!("{name}={value}: read as intransit_pr, a probability"));
            }
            ("conv_thres", _) if number(known)? > 1.0 => {
                let what = format!("`{name}={value}` is no share: whether the original means percent is not known");
                return Err(located(known, &SpecError::new(ErrorKind::OutOfRange, what, "write a share such as 0.05")));
            }
            _ => {}
        }
        Ok(())
    }

    /// Reports defaults that are not the original's.
    fn unknown_defaults(&mut self) {
        let missing: Vec<&str> = [("rmode", "routing"), ("plength", "packet")]
            .into_iter()
            .filter_map(|(word, key)| self.source(key).is_none().then_some(word))
            .collect();
        if !missing.is_empty() {
            let what = format!(
                "not given: {}; what the original takes then is not known here, and the default of `fsin run` is taken",
                missing.join(", ")
            );
            self.notes.push((None, what.into()));
        }
    }

    /// Reports words without effect here, whatever their value.
    fn note_idle_words(&mut self, words: &[Known]) {
        for (takes, why) in IDLE {
            let idle = |known: &&Known| matches!(known.meaning, Meaning::Original(entry) if takes(entry.takes));
            let words: Vec<String> =
                words.iter().filter(idle).map(|known| format!("{}={}", known.word.name, known.word.value)).collect();
            if !words.is_empty() {
                let words = words.join(", ");
                self.notes.push((None, phrase!["without effect: {words}: ", Phrase::of_template(why)]));
            }
        }
    }

    /// Sets a key to a value, which comes from the word being translated.
    fn set(&mut self, name: &'static str, value: String) {
        self.remove(name);
        self.settings.push((name, value));
        self.origins.extend(self.present.clone().map(|word| (name, word, self.original)));
    }

    /// Removes a key and its notes.
    fn remove(&mut self, name: &str) {
        self.settings.retain(|(known, _)| *known != name);
        self.origins.retain(|(known, ..)| *known != name);
        self.notes.retain(|(about, _)| *about != Some(name));
    }

    /// Adds a note on a key that has been set.
    fn note(&mut self, about: &'static str, note: impl Into<Phrase>) {
        self.notes.push((Some(about), note.into()));
    }

    /// The word that set a key, and whether it is one of the original's.
    fn source(&self, name: &str) -> Option<(&Word, bool)> {
        self.origins.iter().find(|(key, ..)| *key == name).map(|(_, word, original)| (word, *original))
    }

    /// The word that set the first of these settings: its location, and its text.
    #[must_use]
    pub fn origin(&self, settings: &[&str]) -> Option<String> {
        let (word, _) = settings.iter().find_map(|key| self.source(key))?;
        Some(format!("{}`{}={}`", word.place(), word.name, word.value))
    }

    /// The value of a key that has been set.
    fn value(&self, name: &str) -> Option<&str> {
        self.settings.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }
}

/// Parses a configuration file: `key=value` or `key value`, one on a line, with blanks anywhere; `#` and `;` begin a
/// comment.
///
/// # Errors
/// A line without a value, by its number.
pub fn read(file: &str, text: &str) -> Result<Vec<Word>, SpecError> {
    // Editors of other systems write a byte order mark first.
    let lines = text
        .trim_start_matches('\u{feff}')
        .lines()
        .enumerate()
        .map(|(number, line)| (number + 1, line.split(['#', ';']).next().unwrap_or("").trim()));
    lines
        .filter(|(_, line)| !line.is_empty())
        .map(|(number, line)| {
            let (word, value) =
                line.split_once('=').or_else(|| line.split_once(char::is_whitespace)).ok_or_else(|| {
                    let what = format!("{file}: line {number}: `{line}` has no value");
                    SpecError::new(ErrorKind::Malformed, what, "write it as in `load=0.3`")
                })?;
            Ok(Word { line: Some((file.to_owned(), number)), ..Word::new(word.trim(), value.trim()) })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn translated(line: &str) -> Result<Translation, SpecError> {
        let words = line.split_whitespace().map(|word| word.split_once('=').unwrap());
        translate(&words.map(|(word, value)| Word::new(word, value)).collect::<Vec<_>>())
    }

    #[test]
    fn the_last_word_of_several_counts() {
        for (words, key, expected) in [
            ("load=0.1 load=0.2", "load", "0.2"),
            ("amode=fifo arbitration=age", "arbitration", "age"),
            ("arbitration=age amode=fifo", "arbitration", "fifo"),
            ("mode=smart3 vcs=2", "vcs", "2"),
            ("vcs=2 mode=smart3", "vcs", "3"),
            ("nchan=2 rmode=smart3", "vcs", "3"),
            ("topo=torus_8_8 topology=mesh_4_4", "topology", "mesh:4x4"),
            ("topo=ttorus_8_4 sk_yx=2 sk_yx=4", "topology", "twisted:8x4:yx=4"),
            ("tpattern=tornado traffic=uniform", "traffic", "uniform"),
        ] {
            let translation = translated(words).unwrap();
            assert_eq!(translation.value(key), Some(expected), "{words}");
            assert!(!translation.notes().any(|note| note.to_string().contains("tornado")), "{words}");
        }
    }

    #[test]
    fn what_is_overridden_is_not_spoken_of() {
        let notes = |words: &str| translated(words).unwrap().notes().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(notes("rmode=smart3 plength=16 imode=dor ninj=4").len(), 1);
        assert_eq!(notes("rmode=smart3 plength=16 imode=dor injection=shortest"), Vec::<String>::new());
        assert_eq!(notes("rmode=adaptive3 plength=16 mode=smart3"), Vec::<String>::new());
    }

    #[test]
    fn capacity_is_counted_as_the_original_does() {
        for (words, expected) in [
            ("topo=torus_8_8 global_cc=1", Some("2")),
            ("topo=torus_8_8 global_cc=50", Some("100")),
            ("topo=torus_8_8 global_cc=51", None),
            ("topo=torus_8_8 nways=1 global_cc=60", Some("60")),
            // 64 nodes with 4 ports of 2 ways, and 224 links.
            ("topo=mesh_8_8 global_cc=7", Some("16")),
            ("topo=circulant_20_3 global_cc=10", Some("20")),
            ("topo=spinnaker_6_6_1 global_cc=10", Some("20")),
            ("topo=fattree_4_2 global_cc=10", Some("20")),
            ("topo=spidergon_16 global_cc=10", Some("20")),
        ] {
            let translation = translated(words).unwrap();
            assert_eq!(translation.value("global-cc"), expected, "{words}");
            assert_eq!(
                expected.is_none(),
                translation.notes().any(|note| note.to_string().contains("never exceeded")),
                "{words}"
            );
        }
    }

    #[test]
    fn files_hold_a_word_a_line() {
        let words =
            read("f", "\u{feff}# comment\r\n\ttopo = torus_8_8 ; and another\r\n\n load 0.3\nmode=smrat3").unwrap();
        let found: Vec<(&str, &str)> = words.iter().map(|word| (&*word.name, &*word.value)).collect();
        assert_eq!(found, [("topo", "torus_8_8"), ("load", "0.3"), ("mode", "smrat3")]);
        assert!(translate(&words).unwrap_err().to_string().starts_with("f: line 5: `mode` does not know"));
        assert!(read("f", "a=1\nload\n").unwrap_err().to_string().contains("f: line 2"));
    }
}
