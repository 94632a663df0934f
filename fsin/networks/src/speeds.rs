//! The rate of a link in the words of the Internet Topology Zoo, which others took over.
//!
//! `LinkSpeedRaw` is the rate in b/s, and `LinkSpeed` with the prefix `LinkSpeedUnits` the same in words.
//!
//! Source: Knight, Nguyen, Falkner, Bowden, Roughan, The Internet Topology Zoo, IEEE JSAC 29(9), 2011.

use super::word;
use fsin_core::topology::graph::{Attributes, Reading, Word, decimal};

/// Attributes of a link with `rate` in place of the Zoo's words.
pub(crate) fn plain<'a>(attributes: Attributes<'a>, of: &Reading<'_>) -> Attributes<'a> {
    let value = |name: &str| {
        attributes
            .iter()
            .find(|(key, _)| key.text.eq_ignore_ascii_case(name) && !of.options.ignores(&key.text))
            .map(|(_, value)| value.clone())
    };
    let rate = match (value("LinkSpeedRaw"), value("LinkSpeed"), value("LinkSpeedUnits")) {
        (Some(raw), _, _) => Some(word(format!("{}b/s", decimal(&raw.text)), raw.at)),
        (None, Some(speed), Some(units)) => Some(word(format!("{}{}b/s", decimal(&speed.text), units.text), speed.at)),
        (None, _, _) => None,
    };
    let Some(rate) = rate else { return attributes };
    of.unit("rates: LinkSpeedRaw is in b/s (Internet Topology Zoo)".to_owned());
    let is_speed = |key: &Word<'_>| {
        ["linkspeedraw", "linkspeedunits", "linkspeed"].iter().any(|name| key.text.eq_ignore_ascii_case(name))
    };
    let mut kept: Attributes<'a> = attributes.into_iter().filter(|(key, _)| !is_speed(key)).collect();
    kept.push((word("LinkSpeedRaw", rate.at), rate));
    kept
}
