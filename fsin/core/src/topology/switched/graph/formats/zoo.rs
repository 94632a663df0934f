//! Attributes of the Internet Topology Zoo and of drawing programs, in GML and GraphML.
//!
//! Source: Knight, Nguyen, Falkner, Bowden, Roughan, The Internet Topology Zoo, IEEE JSAC 29(9), 2011.

use super::super::statement::{Attributes, Word};
use super::word;

/// Names of attributes that describe a node or a link for readers, without case.
const REMARKS: &[&str] = &[
    "asn",
    "country",
    "geolocation",
    "geomagneticlatitude",
    "geomagneticlongitude",
    "hyperedge",
    "internal",
    "key",
    "latitude",
    "linklabel",
    "linknote",
    "linkstatus",
    "linktype",
    "longitude",
    "name",
    "network",
    "nodestatus",
    "provenance",
    "state",
    "timestamp",
    "doubted",
    "city",
    "region",
    "population",
];

/// Whether a text is of the Zoo, whose words have meanings of their own.
pub(super) struct Zoo {
    is_zoo: bool,
}

impl Zoo {
    /// The Zoo's toolset signs its files.
    pub(super) fn of(text: &str) -> Self {
        Self { is_zoo: text.contains("Topology Zoo") }
    }

    /// The attributes of a node that are not remarks. The Zoo's `type` is the colour of a node.
    pub(super) fn node<'a>(&self, attributes: Attributes<'a>) -> Attributes<'a> {
        attributes.into_iter().filter(|(key, _)| !(is_remark(key) || self.is_zoo && key.text == "type")).collect()
    }

    /// The attributes of a link that are not remarks. The rate is `LinkSpeedRaw` in b/s, or `LinkSpeed` with the prefix
    /// `LinkSpeedUnits`.
    pub(super) fn edge<'a>(&self, attributes: Attributes<'a>) -> Attributes<'a> {
        let value = |name: &str| {
            attributes.iter().find(|(key, _)| key.text.eq_ignore_ascii_case(name)).map(|(_, value)| value.clone())
        };
        let rate = match (value("LinkSpeedRaw"), value("LinkSpeed"), value("LinkSpeedUnits")) {
            (Some(raw), _, _) => Some(word(format!("{}b/s", whole(&raw.text)), raw.at)),
            (None, Some(speed), Some(units)) => Some(word(format!("{}{}b/s", speed.text, units.text), speed.at)),
            (None, _, _) => None,
        };
        let is_speed = |key: &Word<'_>| {
            let name = key.text.to_ascii_lowercase();
            matches!(name.as_str(), "linkspeedraw" | "linkspeedunits") || (name == "linkspeed" && rate.is_some())
        };
        let kept = attributes.iter().filter(|(key, _)| !is_remark(key) && !is_speed(key) && key.text != "id").cloned();
        let mut kept: Attributes<'a> = kept.collect();
        kept.extend(rate.map(|rate| (word("rate", rate.at), rate)));
        kept
    }
}

fn is_remark(key: &Word<'_>) -> bool {
    let name: String = key.text.chars().filter(|letter| !matches!(letter, '_' | ' ')).collect();
    REMARKS.contains(&name.to_ascii_lowercase().as_str())
}

/// A number such as `10000000000.0` or `1.0e+10` as a whole one, if it is one.
fn whole(text: &str) -> String {
    match text.parse::<f64>() {
        Ok(number) if number >= 0.0 && number.fract() == 0.0 && number < 9e15 => format!("{number:.0}"),
        _ => text.to_owned(),
    }
}
