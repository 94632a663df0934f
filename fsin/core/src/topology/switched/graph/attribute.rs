//! The words that describe nodes and links: names, synonyms, units.
//!
//! An attribute is one of the network (this table), a drawing attribute of Graphviz, or an error.

use trgen::catalog::{ErrorKind, SpecError, letters_apart, suggestion};

use super::super::links::Delay;
use super::drawing;
use super::format::Names;
use super::reading::Reading;
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
        synonyms: &["bandwidth", "bw", "capacity", "speed", "datarate", "linkrate", "linkspeed", "linkspeedraw"],
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
    ("distance", LENGTH),
    ("dist", LENGTH),
    ("igp", COST),
    ("length", LENGTH),
    ("lanes", WIDTH),
    ("width", WIDTH),
    ("channels", WIDTH),
    ("trunk", WIDTH),
    ("buffer", QUEUE),
    ("buffersize", QUEUE),
    ("queuesize", QUEUE),
    ("queuelength", QUEUE),
    ("qsize", QUEUE),
    ("loss", LOSS),
    ("lossrate", LOSS),
    ("packetloss", LOSS),
    ("errorrate", LOSS),
    ("ber", LOSS),
    ("jitter", "delays do not vary here: leave it out, or say so with ignore=jitter"),
    ("failure", FAILURE),
    ("failurerate", FAILURE),
    ("availability", FAILURE),
    ("mtbf", FAILURE),
    ("hosts", HOSTS),
    ("terminals", HOSTS),
    ("nodes", HOSTS),
    ("processors", HOSTS),
    ("servers", HOSTS),
];
const LENGTH: &str = "give the propagation over that length: delay=\"5ns\" a metre of cable; or leave it out, or read the file \
                      with ignore=WORD";
const LOSS: &str = "frame errors are a setting of the run: per of ethernet";
const FAILURE: &str = "failures are a setting of the run: fail";
const COST: &str = "routes are shortest in hops: give rate=\"10Gb/s\" or delay=\"4us\", or leave it out, or read the file with \
                    ignore=WORD";
const WIDTH: &str = "give rate= of the whole link, or count= of parallel links";
const QUEUE: &str = "write queue=200, in frames";
const HOSTS: &str = "write endpoints=4";

/// An error at the offset `at` of a text.
pub fn refusal(
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

/// The property that an attribute gives to an item; `None` for decoration: what is drawn, and every word that says
/// nothing of the network. Such words are counted.
///
/// # Errors
/// A word that means something of the network and cannot be obeyed, belongs to other items, or nearly is one that is
/// obeyed.
pub(super) fn property(
    of: &Reading<'_>,
    item: Item,
    key: &Word<'_>,
    value: &Word<'_>,
) -> Result<Option<Property>, SpecError> {
    let places = &of.places;
    let (name, given) = (plain(&key.text), format!("{}={}", short(&key.text), short(&value.text)));
    let decoration = || {
        of.decorated(&key.text);
        Ok(None)
    };
    if of.options.ignores(&key.text) {
        return decoration();
    }
    let labels = of.format.names == Names::Labels;
    if let Some((row, _)) = called(item, &key.text) {
        // Graphviz's own directions mean nothing elsewhere.
        return if labels
            && row.property == Property::Direction
            && !matches!(&*value.text, "both" | "forward" | "back" | "none")
        {
            decoration()
        } else {
            Ok(Some(row.property))
        };
    }
    // The name of a graph, and the number of a parallel edge, as networkx and its DOT writers give them.
    if matches!((name.as_str(), item), ("name", Item::Graph) | ("key", Item::Edge)) {
        return Ok(None);
    }
    if name == "comment" && item == Item::Edge && !labels {
        return Ok(Some(Property::Routes));
    }
    let meant = MEANT.iter().find(|(word, _)| *word == name);
    // In a list of places, `hosts` and `length` of a node are facts about the place.
    let meant = meant.filter(|_| !(labels && item == Item::Node || of.format.decoration.contains(&name.as_str())));
    if let Some((_, remedy)) = meant.filter(|_| !drawing::is_drawing(&key.text, item) || name == "weight") {
        let what = match name.as_str() {
            "weight" => format!("{given} of {} would be ignored: only Graphviz's layout uses weight", item.name()),
            _ => format!("{given} of {} is not known", item.name()),
        };
        return Err(
            refusal(places, key.at, ErrorKind::UnknownName, what, remedy.replace("WORD", &key.text)).given(&key.text)
        );
    }
    if drawing::is_drawing(&key.text, item) {
        return Ok(None);
    }
    if let Some(row) =
        ROWS.iter().find(|row| row.is_called(&name)).filter(|row| !labels || row.name == name && row.item == Item::Edge)
    {
        let what = format!("{given} of {} has no meaning: it belongs to {}", item.name(), row.item.name());
        let remedy = match row.item {
            Item::Edge => format!("give it to an edge, or to all that follow, `edge [{0}]`", row.example),
            _ => format!("give it to a node, `a [{0}]`, or to all that follow, `node [{0}]`", row.example),
        };
        return Err(refusal(places, key.at, ErrorKind::Meaningless, what, remedy).given(&key.text));
    }
    let known: Vec<&str> = ROWS.iter().filter(|row| row.item == item).map(|row| row.name).collect();
    if ROWS.iter().filter(|row| row.item == item).any(|row| row.is_nearly(&name, labels)) {
        let what = format!("unknown attribute {given} of {}", item.name());
        let remedy = format!(
            "{}; if it says nothing of the network, read the file with ignore={}",
            suggestion(&name, &known),
            short(&key.text)
        );
        return Err(refusal(places, key.at, ErrorKind::UnknownName, what, remedy).given(&key.text));
    }
    if item == Item::Edge && is_quantity(&key.text) && !of.format.decoration.contains(&name.as_str()) {
        let what = format!("{given} of an edge seems to be a rate or a delay, and is not known as one");
        let remedy = format!(
            "call it rate or delay, with a unit in the value or behind the name (rate_gbps, delay_us); or leave it out, or \
             read the file with ignore={}",
            short(&key.text)
        );
        return Err(refusal(places, key.at, ErrorKind::UnknownName, what, remedy).given(&key.text));
    }
    decoration()
}

/// The unit of numbers that the name of an attribute states, as in `rate_gbps` and `Latency (us)`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Unit {
    /// \[b/s\] With its prefix.
    Rate(&'static str),
    Time(&'static str),
    Cycles,
}

impl Unit {
    /// The unit of this name. Bytes are told from bits by their capital.
    fn named(name: &str) -> Option<Self> {
        let rates = [
            ("bps", "b/s"),
            ("kbps", "kb/s"),
            ("mbps", "Mb/s"),
            ("gbps", "Gb/s"),
            ("tbps", "Tb/s"),
            ("kbit", "kb/s"),
            ("mbit", "Mb/s"),
            ("gbit", "Gb/s"),
            ("tbit", "Tb/s"),
            ("Bps", "B/s"),
            ("kBps", "kB/s"),
            ("KBps", "kB/s"),
            ("MBps", "MB/s"),
            ("GBps", "GB/s"),
            ("TBps", "TB/s"),
        ];
        let times = [
            ("ps", "ps"),
            ("ns", "ns"),
            ("us", "us"),
            ("ms", "ms"),
            ("s", "s"),
            ("nsec", "ns"),
            ("usec", "us"),
            ("msec", "ms"),
            ("sec", "s"),
        ];
        let short = name.replace("/s", "ps").replace("bitps", "bps");
        let lower = short.to_ascii_lowercase();
        let has_bytes = short.contains('B') && !short.chars().all(|letter| letter.is_ascii_uppercase());
        let name = if has_bytes { &short } else { &lower };
        let is_called = |(known, _): &&(&str, &str)| known == name;
        if lower == "cycles" {
            return Some(Self::Cycles);
        }
        let rate = rates.iter().find(is_called).map(|(_, unit)| Self::Rate(unit));
        rate.or_else(|| times.iter().find(is_called).map(|(_, unit)| Self::Time(unit)))
    }
}

/// The parts of a name, each as it is written: `linkBandwidth (Mb/s)` has `link`, `Bandwidth` and `Mb/s`.
fn parts(name: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    for word in name.split(|letter: char| !letter.is_alphanumeric() && letter != '/') {
        let mut begin = 0;
        let mut was_lower = false;
        for (at, letter) in word.char_indices() {
            if was_lower && letter.is_uppercase() {
                parts.push(&word[begin..at]);
                begin = at;
            }
            was_lower = letter.is_lowercase();
        }
        parts.push(&word[begin..]);
    }
    // `kBps` and `MBps` are one part.
    parts.retain(|part| !part.is_empty());
    if let [.., first, second] = parts[..]
        && let Some(at) = name.rfind(&*format!("{first}{second}"))
        && Unit::named(&name[at..at + first.len() + second.len()]).is_some()
    {
        parts.truncate(parts.len() - 2);
        parts.push(&name[at..at + first.len() + second.len()]);
    }
    parts
}

/// The property of items that a name means, and the unit of its numbers that the name states: `linkCapacity_mbps` is a
/// rate in Mb/s.
fn called(item: Item, name: &str) -> Option<(&'static Row, Option<Unit>)> {
    let of_item = |name: &str| ROWS.iter().find(|row| row.item == item && row.is_called(name));
    if let Some(row) = of_item(&plain(name)) {
        return Some((row, None));
    }
    let parts = parts(name);
    let rest = match &parts[..] {
        [first, rest @ ..] if !rest.is_empty() && ["link", "edge"].contains(&&*first.to_lowercase()) => rest,
        all => all,
    };
    let (rest, unit) = match rest {
        [before @ .., last] if !before.is_empty() => match Unit::named(last) {
            None => (rest, None),
            unit => (before, unit),
        },
        all => (all, None),
    };
    let row = of_item(&rest.concat().to_lowercase())?;
    let fits = match row.property {
        Property::Rate => matches!(unit, None | Some(Unit::Rate(_))),
        Property::Delay => !matches!(unit, Some(Unit::Rate(_))),
        _ => false,
    };
    fits.then_some((row, unit))
}

/// True for a name of an edge with a part that means a rate or a delay.
fn is_quantity(name: &str) -> bool {
    let parts: Vec<String> = parts(name).iter().map(|part| part.to_lowercase()).collect();
    // The unit of another attribute is none itself.
    let is_unit = parts.iter().any(|part| matches!(part.as_str(), "unit" | "units"));
    !is_unit
        && parts
            .iter()
            .any(|part| ["rate", "bandwidth", "bw", "capacity", "speed", "delay", "latency"].contains(&&**part))
}

impl Row {
    /// True for its name and its synonyms.
    fn is_called(&self, name: &str) -> bool {
        self.name == name || self.synonyms.contains(&name)
    }

    /// True for a word that was meant to be its name or a long synonym: it begins alike, and a letter or two are wrong.
    /// Where names are labels, words of all kinds stand beside those that are meant, and one letter alone may be wrong.
    fn is_nearly(&self, name: &str, labels: bool) -> bool {
        self.synonyms.iter().chain([&self.name]).filter(|known| known.len() >= 4).any(|known| {
            let most = if known.len() >= 8 && !labels { 2 } else { 1 };
            name.len() >= 3 && name.chars().next() == known.chars().next() && letters_apart(name, known) <= most
        })
    }
}

/// The part of a long word that an error shows.
#[must_use]
pub fn short(text: &str) -> String {
    text.chars().take(40).map(|letter| if letter.is_control() { '?' } else { letter }).collect()
}

/// The error of a value that cannot be read.
pub(super) fn misread(places: &Places<'_>, item: Item, key: &Word<'_>, value: &Word<'_>, why: &str) -> SpecError {
    let row = called(item, &key.text).map(|(row, _)| row);
    let what = format!("{}={} of {}: {why}", short(&key.text), short(&value.text), item.name());
    let remedy = format!("write it as in {}", row.map_or("routes=\"H0,H1\"", |row| row.example));
    refusal(places, value.at, ErrorKind::Malformed, what, remedy).given(&value.text)
}

/// The value of a rate. A number without a unit has that of the option `rate-unit`.
pub(super) fn rate(of: &Reading<'_>, key: &Word<'_>, value: &Word<'_>) -> Result<u64, SpecError> {
    let is_number = value.text.trim().parse::<f64>().is_ok_and(f64::is_finite);
    let rate = match (called(Item::Edge, &key.text), &of.options.rate_unit) {
        (Some((_, Some(Unit::Rate(unit)))), _) if is_number => {
            of.unit(format!("rates: numbers of {} are {unit}, by its name", short(&key.text)));
            parse_rate(&format!("{}{unit}", decimal(&value.text)))
        }
        (_, Some(unit)) if is_number => {
            of.unit(format!("rates: numbers are {unit}, by rate-unit"));
            parse_rate(&format!("{}{unit}", decimal(&value.text)))
        }
        _ => parse_rate(&value.text),
    };
    rate.filter(|&rate| rate > 0).ok_or_else(|| {
        let why = "no data rate above 0 with its unit (b/s, kb/s, Mb/s, Gb/s, Tb/s)";
        let error = misread(&of.places, Item::Edge, key, value, why);
        if !is_number {
            return error;
        }
        let remedy = format!(
            "write it as in rate=\"10Gb/s\", or say the unit of all numbers of the file: rate-unit=Gb/s; or leave it out: ignore={}",
            short(&key.text)
        );
        error.remedied(remedy)
    })
}

/// A number in whatever form as digits with a point: `2.5e9` as `2500000000`.
#[must_use]
pub fn decimal(text: &str) -> String {
    match text.trim().parse::<f64>() {
        Ok(number) if (0.0..9e15).contains(&number) => {
            if number.fract() == 0.0 {
                format!("{number:.0}")
            } else {
                format!("{number}")
            }
        }
        _ => text.trim().to_owned(),
    }
}

/// The value of a delay: a number of cycles under the name `delay`, or a time. A number without a unit has that of the
/// option `delay-unit`.
pub(super) fn delay(of: &Reading<'_>, key: &Word<'_>, value: &Word<'_>) -> Result<Delay, SpecError> {
    let places = &of.places;
    let refused = |why: &str| {
        let error = misread(places, Item::Edge, key, value, why);
        if value.text.trim().parse::<f64>().is_err() {
            return error;
        }
        let remedy = format!(
            "write it as in delay=\"4us\", or say the unit of all numbers of the file: delay-unit=ms; or leave it out: ignore={}",
            short(&key.text)
        );
        error.remedied(remedy)
    };
    let text = value.text.trim();
    let named = called(Item::Edge, &key.text).and_then(|(_, unit)| unit);
    let of_name = match named {
        Some(Unit::Time(unit)) => Some(unit),
        _ => None,
    };
    let of_option = of.options.delay_unit.as_deref().filter(|_| named.is_none());
    if let Some(unit) = of_name.or(of_option).filter(|_| text.parse::<f64>().is_ok()) {
        let (whose, why) = match of_name {
            Some(_) => (format!(" of {}", short(&key.text)), "its name"),
            None => (String::new(), "delay-unit"),
        };
        of.unit(format!("delays: numbers{whose} are {unit}, by {why}"));
        let span = trgen::units::parse_span(&format!("{}{unit}", decimal(text)));
        return span.map(Delay::Time).ok_or_else(|| refused("no time of 0 or more"));
    }
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return match text.parse() {
            Ok(0) => Ok(Delay::Cycles(0)),
            _ if plain(&key.text) != "delay" && named != Some(Unit::Cycles) => {
                Err(refused("its unit is missing (ps, ns, us, ms, s)"))
            }
            Ok(cycles) if cycles <= MAX_DELAY => Ok(Delay::Cycles(cycles)),
            _ => {
                let why = format!("use 0 to {MAX_DELAY} cycles, or a time with its unit");
                Err(misread(places, Item::Edge, key, value, &why).of_kind(ErrorKind::TooLarge))
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
/// `B/s` and `Bps` with these prefixes, 8 bits each; `Ki`, `Mi`, `Gi` and `Ti` are powers of 1024. The rate is that to
/// the nearest bit in a second, whatever the number of decimals. `None` for another text, and for less than half a bit
/// in a second.
#[must_use]
pub fn parse_rate(text: &str) -> Option<u64> {
    let text = text.trim();
    let begin = text.find(|letter: char| letter.is_ascii_alphabetic())?;
    let (number, unit) = text.split_at(begin);
    let number = number.trim_end();
    let (prefix, bits) = [("bit/s", 1), ("b/s", 1), ("bps", 1), ("B/s", 8), ("Bps", 8)]
        .iter()
        .find_map(|&(name, bits)| Some((unit.strip_suffix(name)?, bits)))?;
    let factor = PREFIXES.iter().find(|(name, _)| *name == prefix)?.1;
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let is_number = |digits: &str| digits.bytes().all(|digit| digit.is_ascii_digit());
    if whole.is_empty() || !is_number(whole) || !is_number(part) {
        return None;
    }
    // The decimals beyond these are less than a millionth of a bit of any unit.
    let part = &part[..part.len().min(DECIMALS)];
    let scale = 10u128.pow(part.len() as u32);
    let digits = u128::from(whole.parse::<u64>().ok()?).checked_mul(scale)? + part.parse::<u128>().unwrap_or(0);
    let rate = (digits.checked_mul(factor * bits)? + scale / 2) / scale;
    // A rate of 0 is returned, since callers refuse it with a message of their own.
    u64::try_from(rate).ok().filter(|&rate| rate > 0 || digits == 0)
}

/// Prefixes of rates, with their factors.
const PREFIXES: [(&str, u128); 10] = [
    ("", 1),
    ("k", 1000),
    ("K", 1000),
    ("M", 1_000_000),
    ("G", 1_000_000_000),
    ("T", 1_000_000_000_000),
    ("Ki", 1 << 10),
    ("Mi", 1 << 20),
    ("Gi", 1 << 30),
    ("Ti", 1 << 40),
];

/// Number of decimals of a rate that count.
const DECIMALS: usize = 18;

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
            ("46GiB/s", Some((46 * 8) << 30)),
            ("1.5 KiB/s", Some(12 * 1024)),
            ("0.5Mib/s", Some(1 << 19)),
            ("12.3456789012345Gb/s", Some(12_345_678_901)),
            ("0.1234567890123456789012345678Tb/s", Some(123_456_789_012)),
            ("25000000000.00000000000000000000b/s", Some(25_000_000_000)),
            ("1.6b/s", Some(2)),
            ("0b/s", Some(0)),
            ("1gib/s", None),
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
    fn names_say_what_they_mean_in_parts() {
        let (rate, time) = (|unit| Some(Unit::Rate(unit)), |unit| Some(Unit::Time(unit)));
        for (name, property, unit) in [
            ("LINK_CAPACITY", Property::Rate, None),
            ("link bandwidth", Property::Rate, None),
            ("edgeDelay", Property::Delay, None),
            ("bandwidth_gbps", Property::Rate, rate("Gb/s")),
            ("BANDWIDTH_MBPS", Property::Rate, rate("Mb/s")),
            ("Bandwidth (Gbit/s)", Property::Rate, rate("Gb/s")),
            ("bandwidthMBps", Property::Rate, rate("MB/s")),
            ("speed [kB/s]", Property::Rate, rate("kB/s")),
            ("dataRateMbps", Property::Rate, rate("Mb/s")),
            ("linkSpeed-bps", Property::Rate, rate("b/s")),
            ("latencyMs", Property::Delay, time("ms")),
            ("Link delay (us)", Property::Delay, time("us")),
            ("propagation_delay_ns", Property::Delay, time("ns")),
            ("latency_cycles", Property::Delay, Some(Unit::Cycles)),
        ] {
            let found = called(Item::Edge, name).map(|(row, unit)| (row.property, unit));
            assert_eq!(found, Some((property, unit)), "{name}");
        }
        for (name, is_one) in [
            ("max_bandwidth", true),
            ("avgLatency", true),
            ("rate_ms", true),
            ("NODE_CAPACITY", true),
            ("LinkSpeedUnits", false),
            ("moderated", false),
            ("colour", false),
            ("id", false),
        ] {
            assert!(called(Item::Edge, name).is_none(), "{name}");
            assert_eq!(is_quantity(name), is_one, "{name}");
        }
        assert!(called(Item::Node, "link_capacity").is_none());
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
                *name == "dir" || *name == "weight" || *name == "width" || !drawing::is_drawing(name, Item::Edge),
                "{name}"
            );
        }
    }
}
