//! The notation of failures: `link:A-B@TIME`, `node:A@TIME`, `class:NAME#N@TIME`, each with `repair:` before it or not.

use std::fs;
use std::path::Path;

use trgen::catalog::{ErrorKind, SpecError, suggestion};
use trgen::units::parse_span;

/// The kinds of things that fail.
const KINDS: [&str; 3] = ["link", "node", "class"];

/// No failures: one of several values in a sweep.
const NONE: &str = "none";

/// How each kind is written.
const FORMS: &str = "write link:A-B@5us, node:A@1ms or class:NAME#N@0, or repair: before one of them";

/// What fails or is repaired, as written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum What {
    /// The links between two nodes, whose names are joined by a hyphen.
    Link(String),
    /// All links of a node.
    Node(String),
    /// The links of a class.
    Class(String),
}

/// When something happens, as written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum At {
    /// \[cycles\] Since the start.
    Cycles(u64),
    /// \[ps\] Since the start.
    Time(u64),
}

/// A failure or a repair, as written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Event {
    /// The whole word, for errors and results.
    pub(super) word: String,
    /// Where it stands, as the beginning of an error: empty, or a file and line.
    pub(super) place: String,
    pub(super) is_repair: bool,
    pub(super) what: What,
    /// \[links\] How many of these links, which are drawn; `None` for all.
    pub(super) count: Option<usize>,
    pub(super) at: At,
}

impl Event {
    /// An error about this event.
    pub(super) fn error(&self, kind: ErrorKind, what: &str, remedy: impl Into<trgen::phrase::Phrase>) -> SpecError {
        error(&self.place, &self.word, kind, what, remedy)
    }
}

/// An error about a word.
fn error(place: &str, word: &str, kind: ErrorKind, what: &str, remedy: impl Into<trgen::phrase::Phrase>) -> SpecError {
    SpecError::new(kind, format!("{place}`{word}`: {what}"), remedy).of("fail").given(word)
}

/// The file that a value names: one that is no list of failures.
#[must_use]
pub fn file(value: &str) -> Option<&Path> {
    let is_list = begins_event(value) || value == NONE || value.contains('@') || value.is_empty();
    (!is_list).then(|| Path::new(value))
}

/// The events of a value: of a list, or of the file that it names, whose path is relative to `folder`.
pub(super) fn events(value: &str, folder: &Path) -> Result<Vec<Event>, SpecError> {
    let Some(path) = file(value) else { return list(value) };
    let path = folder.join(path);
    let text = fs::read_to_string(&path).map_err(|why| {
        let what = format!("{}: {why}", path.display());
        let remedy = "give the path of a file of failures, or a list such as link:0-1@5us";
        SpecError::new(ErrorKind::Malformed, what, remedy).of("fail").given(value)
    })?;
    lines(&path.display().to_string(), &text)
}

/// The events of a list, which are separated by commas.
fn list(value: &str) -> Result<Vec<Event>, SpecError> {
    if value == NONE {
        return Ok(Vec::new());
    }
    value.split(',').map(|word| event(word.trim(), "")).collect()
}

/// The events of a file: one or several a line, separated by commas or spaces; names in them may have spaces. From `#`
/// at the beginning of a word on, a line is a comment.
pub(super) fn lines(name: &str, text: &str) -> Result<Vec<Event>, SpecError> {
    let mut events = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        let place = format!("{name}, line {number}: ");
        let begins_word = |&at: &usize| at == 0 || line[..at].ends_with([',', ' ', '\t']);
        let comment = line.match_indices('#').map(|(at, _)| at).find(begins_word).unwrap_or(line.len());
        for word in line[..comment].split(',').flat_map(events_of) {
            events.push(event(&word, &place)?);
        }
    }
    if events.is_empty() {
        let what = format!("{name} names no failure");
        return Err(SpecError::new(ErrorKind::Malformed, what, format!("{FORMS}, one a line")).of("fail"));
    }
    Ok(events)
}

/// True if a word begins as an event does.
fn begins_event(word: &str) -> bool {
    word.split_once(':').is_some_and(|(kind, _)| kind == "repair" || KINDS.contains(&kind))
}

/// The events of a part of a line, as written: each ends with its time, or where the next one begins.
fn events_of(part: &str) -> Vec<String> {
    let mut events: Vec<String> = Vec::new();
    for word in part.split_whitespace() {
        match events.last_mut() {
            Some(event) if !event.contains('@') && !begins_event(word) => {
                event.push(' ');
                event.push_str(word);
            }
            _ => events.push(word.to_owned()),
        }
    }
    events
}

/// An event.
fn event(word: &str, place: &str) -> Result<Event, SpecError> {
    let refused = |kind, what: &str, remedy: String| Err(error(place, word, kind, what, remedy));
    let (is_repair, rest) = word.strip_prefix("repair:").map_or((false, word), |rest| (true, rest));
    let (named, time) = rest.rsplit_once('@').map_or((rest, None), |(named, time)| (named, Some(time)));
    let Some((kind, name)) = named.split_once(':') else {
        return refused(ErrorKind::Malformed, "it does not say what fails", FORMS.to_owned());
    };
    let Some(time) = time else {
        return refused(ErrorKind::Malformed, "no time is given", format!("write {word}@0 or {word}@5us"));
    };
    let at = match (time.parse(), parse_span(time)) {
        (Ok(cycles), _) => At::Cycles(cycles),
        (_, Some(span)) => At::Time(span),
        _ => {
            let what = format!("`{time}` is no time");
            return refused(
                ErrorKind::Malformed,
                &what,
                "write 0, 5us or a number of cycles (ps, ns, us, ms, s)".to_owned(),
            );
        }
    };
    let (name, count) = match name.rsplit_once('#') {
        Some((name, count)) if kind == "class" => match count.parse() {
            Ok(count) if count > 0 => (name, Some(count)),
            _ => {
                let what = format!("`{count}` is no number of links");
                return refused(ErrorKind::Malformed, &what, "write 1 or more after #".to_owned());
            }
        },
        _ => (name, None),
    };
    if name.is_empty() {
        return refused(ErrorKind::Malformed, "no name is given", FORMS.to_owned());
    }
    let name = name.to_owned();
    let what = match kind {
        "link" => What::Link(name),
        "node" => What::Node(name),
        "class" => What::Class(name),
        _ => {
            let near = suggestion(kind, &KINDS);
            return Err(error(place, word, ErrorKind::UnknownName, &format!("`{kind}` is nothing that fails"), &near));
        }
    };
    Ok(Event { word: word.to_owned(), place: place.to_owned(), is_repair, what, count, at })
}
