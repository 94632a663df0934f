//! The words that describe nodes and links: names, synonyms, units.
//!
//! An attribute is one of the network (this table), a drawing attribute of Graphviz, or an error.

use trgen::catalog::{ErrorKind, SpecError, suggestion};

use super::super::links::Delay;
use super::drawing;
use super::statement::{Item, Places, Word};
use crate::topology::MAX_DELAY;

/// A property of nodes or edges.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Property {
    Kind,
    Endpoints,
    Rate,
    Delay,
    Queue,
    Routes,
    Count,
    Dead,
    Direction,
}

/// A property: its name, the items to which it belongs, an example, and its synonyms. Names are compared without
/// regard to case, `_` and `-`.
struct Row {
    property: Property,
    name: &'static str,
    item: Item,
    example: &'static str,
    synonyms: &'static [&'static str],
}

/// All properties.
const ROWS: &[Row] = &[
    Row { property: Property::Kind, name: "kind", item: Item::Node, example: "kind=host", synonyms: &["type", "role"] },
    Row { property: Property::Endpoints, name: "endpoints", item: Item::Node, example: "endpoints=4", synonyms: &[] },
    Row {
        property: Property::Rate,
        name: "rate",
        item: Item::Edge,
        example: "rate=\"10Gb/s\"",
        synonyms: &["bandwidth", "bw", "capacity", "speed", "datarate", "linkrate", "linkspeed"],
    },
    Row {
        property: Property::Delay,
        name: "delay",
        item: Item::Edge,
        example: "delay=\"4us\", or delay=5 in cycles",
        synonyms: &["propagation", "latency", "lat", "propagationdelay", "linkdelay", "linklatency"],
    },
    Row { property: Property::Queue, name: "queue", item: Item::Edge, example: "queue=200", synonyms: &[] },
    Row { property: Property::Routes, name: "routes", item: Item::Edge, example: "routes=\"H0,H1\"", synonyms: &[] },
    Row { property: Property::Count, name: "count", item: Item::Edge, example: "count=2", synonyms: &["multiplicity"] },
    Row { property: Property::Dead, name: "dead", item: Item::Edge, example: "dead=true", synonyms: &[] },
    Row { property: Property::Direction, name: "dir", item: Item::Edge, example: "dir=both", synonyms: &[] },
];

/// Words that mean something of a network that cannot be said so, with what to write instead.
const MEANT: &[(&str, &str)] = &[
    ("weight", COST),
    ("cost", COST),
    ("metric", COST),
    ("distance", COST),
    ("dist", COST),
    ("igp", COST),
    ("length", "give the propagation over that length: delay=\"5ns\" a metre of cable"),
    ("lanes", WIDTH),
    ("width", WIDTH),
    ("channels", WIDTH),
    ("trunk", WIDTH),
    ("buffer", QUEUE),
    ("buffersize", QUEUE),
    ("queuesize", QUEUE),
    ("queuelength", QUEUE),
    ("qsize", QUEUE),
    ("loss", "frame errors are a setting of the run: per of ethernet"),
    ("errorrate", "frame errors are a setting of the run: per of ethernet"),
    ("hosts", HOSTS),
    ("terminals", HOSTS),
    ("nodes", HOSTS),
    ("processors", HOSTS),
    ("servers", HOSTS),
];
const COST: &str = "routes are shortest in hops: give rate=\"10Gb/s\" or delay=\"4us\", or leave it out";
const WIDTH: &str = "give rate= of the whole link, or count= of parallel links";
const QUEUE: &str = "write queue=200, in frames";
const HOSTS: &str = "write endpoints=4";

/// The error of an attribute at its place.
pub(super) fn refusal(
    places: &Places<'_>,
    at: usize,
    kind: ErrorKind,
    what: impl std::fmt::Display,
    remedy: impl ToString,
) -> SpecError {
    SpecError::new(kind, format!("{}: {what}", places.of(at)), remedy.to_string())
}

/// A name without its case and separators.
fn plain(name: &str) -> String {
    name.chars().filter(|letter| !matches!(letter, '_' | '-')).flat_map(char::to_lowercase).collect()
}

/// The property that an attribute gives to an item; `None` for a drawing attribute.
///
/// # Errors
/// An attribute that is neither, or belongs to other items.
pub(super) fn property(
    places: &Places<'_>,
    item: Item,
    key: &Word<'_>,
    value: &Word<'_>,
) -> Result<Option<Property>, SpecError> {
    let (name, given) = (plain(&key.text), format!("{}={}", short(&key.text), short(&value.text)));
    let is_own = |row: &&Row| row.name == name || row.synonyms.contains(&name.as_str());
    if let Some(row) = ROWS.iter().find(|row| row.item == item && is_own(row)) {
        return Ok(Some(row.property));
    }
    // The name of a graph, and the number of a parallel edge, as networkx and its DOT writers give them.
    if matches!((name.as_str(), item), ("name", Item::Graph) | ("key", Item::Edge)) {
        return Ok(None);
    }
    if name == "comment" && item == Item::Edge {
        return Ok(Some(Property::Routes));
    }
    let meant = MEANT.iter().find(|(word, _)| *word == name);
    if let Some((_, remedy)) = meant.filter(|_| !drawing::is_drawing(&key.text, item) || name == "weight") {
        let what = match name.as_str() {
            "weight" => format!("{given} of {} would be ignored: only Graphviz's layout uses weight", item.name()),
            _ => format!("{given} of {} is not known", item.name()),
        };
        return Err(refusal(places, key.at, ErrorKind::UnknownName, what, remedy).given(&key.text));
    }
    if drawing::is_drawing(&key.text, item) {
        return Ok(None);
    }
    if let Some(row) = ROWS.iter().find(is_own) {
        let what = format!("{given} of {} has no meaning", item.name());
        let remedy = match row.item {
            Item::Edge => {
                format!("give it to an edge, `a -- b [{0}]`, or to all that follow, `edge [{0}]`", row.example)
            }
            _ => format!("give it to a node, `a [{0}]`, or to all that follow, `node [{0}]`", row.example),
        };
        return Err(refusal(places, key.at, ErrorKind::Meaningless, what, remedy).given(&key.text));
    }
    if let Some(items) = drawing::items(&key.text) {
        let what = format!("{given} of {} has no meaning: it is a drawing attribute of {items}", item.name());
        return Err(refusal(places, key.at, ErrorKind::Meaningless, what, "leave it out").given(&key.text));
    }
    let known: Vec<&str> = ROWS.iter().filter(|row| row.item == item).map(|row| row.name).collect();
    let what = format!("unknown attribute {given} of {}", item.name());
    let remedy = match known.is_empty() {
        true => "leave it out: only drawing attributes of Graphviz may stand here".to_owned(),
        false => format!("{} (or a drawing attribute of Graphviz)", suggestion(&name, &known)),
    };
    Err(refusal(places, key.at, ErrorKind::UnknownName, what, remedy).given(&key.text))
}

/// The part of a long word that an error shows.
pub(super) fn short(text: &str) -> String {
    text.chars().take(40).map(|letter| if letter.is_control() { '?' } else { letter }).collect()
}

/// The error of a value that cannot be read.
pub(super) fn misread(places: &Places<'_>, item: Item, key: &Word<'_>, value: &Word<'_>, why: &str) -> SpecError {
    let name = plain(&key.text);
    let row = ROWS.iter().find(|row| row.name == name || row.synonyms.contains(&name.as_str()));
    let what = format!("{}={} of {}: {why}", short(&key.text), short(&value.text), item.name());
    let remedy = format!("write it as in {}", row.map_or("routes=\"H0,H1\"", |row| row.example));
    refusal(places, value.at, ErrorKind::Malformed, what, remedy).given(&value.text)
}

/// The value of a rate.
pub(super) fn rate(places: &Places<'_>, key: &Word<'_>, value: &Word<'_>) -> Result<u64, SpecError> {
    parse_rate(&value.text).filter(|&rate| rate > 0).ok_or_else(|| {
        misread(
            places,
            Item::Edge,
            key,
            value,
            "no data rate above 0 of whole bits a second with its unit (b/s, kb/s, Mb/s, Gb/s, Tb/s)",
        )
    })
}

/// The value of a delay: a number of cycles under the name `delay`, or a time.
pub(super) fn delay(places: &Places<'_>, key: &Word<'_>, value: &Word<'_>) -> Result<Delay, SpecError> {
    let refused = |why: &str| misread(places, Item::Edge, key, value, why);
    let text = value.text.trim();
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return match text.parse() {
            Ok(0) => Ok(Delay::Cycles(0)),
            _ if plain(&key.text) != "delay" => Err(refused("its unit is missing (ps, ns, us, ms, s)")),
            Ok(cycles) if cycles <= MAX_DELAY => Ok(Delay::Cycles(cycles)),
            _ => {
                Err(refused(&format!("use 0 to {MAX_DELAY} cycles, or a time with its unit"))
                    .of_kind(ErrorKind::TooLarge))
            }
        };
    }
    let span: String = text.split_whitespace().collect();
    let span = trgen::units::parse_span(&span);
    span.map(Delay::Time)
        .ok_or_else(|| refused("no time of 0 or more with its unit (ps, ns, us, ms, s), and no number of cycles"))
}

/// The value of a number.
pub(super) fn number(places: &Places<'_>, item: Item, key: &Word<'_>, value: &Word<'_>) -> Result<u32, SpecError> {
    value.text.trim().parse().map_err(|_| misread(places, item, key, value, "not a whole number"))
}

/// \[b/s\] A data rate: a number and `b/s`, `kb/s`, `Mb/s`, `Gb/s` or `Tb/s`, also written `Gbps` and `Gbit/s`; or
/// `B/s` and `Bps` with these prefixes, 8 bits each. `None` for another text, and for a rate that is no whole number of
/// bits in a second.
#[must_use]
pub fn parse_rate(text: &str) -> Option<u64> {
    let text = text.trim();
    let begin = text.find(|letter: char| letter.is_ascii_alphabetic())?;
    let (number, unit) = text.split_at(begin);
    let number = number.trim_end();
    let (prefix, bits) = [("bit/s", 1), ("b/s", 1), ("bps", 1), ("B/s", 8), ("Bps", 8)]
        .iter()
        .find_map(|&(name, bits)| Some((unit.strip_suffix(name)?, bits)))?;
    let zeros =
        [("", 0), ("k", 3), ("K", 3), ("M", 6), ("G", 9), ("T", 12)].iter().find(|(name, _)| *name == prefix)?.1;
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let is_number = |digits: &str| digits.bytes().all(|digit| digit.is_ascii_digit());
    if whole.is_empty() || !is_number(whole) || !is_number(part) || part.len() > zeros {
        return None;
    }
    let part: u64 = format!("{part:0<zeros$}").parse().unwrap_or(0);
    let units = whole.parse::<u64>().ok()?.checked_mul(10u64.pow(zeros as u32))?.checked_add(part)?;
    units.checked_mul(bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_have_units() {
        for (text, rate) in [
            ("100Mb/s", Some(100_000_000)),
            ("2.5 Gb/s", Some(2_500_000_000)),
            ("10Gbps", Some(10_000_000_000)),
            ("10 Gbit/s", Some(10_000_000_000)),
            ("50GB/s", Some(400_000_000_000)),
            ("8b/s", Some(8)),
            ("0.1b/s", None),
            ("1", None),
            ("10gbps", None),
            ("Gb/s", None),
            ("1.x0Gb/s", None),
            ("99999999999999Tb/s", None),
        ] {
            assert_eq!(parse_rate(text), rate, "{text}");
        }
    }

    #[test]
    fn no_name_has_two_meanings() {
        let names: Vec<&str> = ROWS
            .iter()
            .flat_map(|row| row.synonyms.iter().chain([&row.name]))
            .chain(MEANT.iter().map(|(name, _)| name))
            .copied()
            .collect();
        for (at, name) in names.iter().enumerate() {
            assert!(!names[..at].contains(name), "{name}");
            assert_eq!(plain(name), *name);
            assert!(
                *name == "dir" || *name == "weight" || *name == "width" || drawing::items(name).is_none(),
                "{name}"
            );
        }
    }
}
