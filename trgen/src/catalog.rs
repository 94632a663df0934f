//! Self-description of components, and the errors for wrong names and values.
//!
//! A pattern, kernel, topology, routing or format is one file plus one [`Component`] in its family's table; lists,
//! explanations and the suggestions in error messages all come from there.

use std::fmt::Write as _;

/// How a component describes itself.
#[derive(Clone, Copy, Debug)]
pub struct Component {
    /// The name that the user writes.
    pub name: &'static str,
    /// Its definition in one line.
    pub about: &'static str,
    /// Parameters that may follow the name.
    pub parameters: &'static [Parameter],
    /// Its origin: paper and section, or program.
    pub source: &'static str,
}

/// One parameter of a component.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// The name that the user writes.
    pub name: &'static str,
    /// Its meaning, with its unit.
    pub about: &'static str,
    /// Permitted values, in readable form: `1..`, `0..=1`, `power of two`.
    pub range: &'static str,
    /// Default value; empty if the parameter is required.
    pub default: &'static str,
}

/// Why a name or value given by the user cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Refusal {
    /// The family has no component of this name.
    #[error("unknown {family} `{name}`")]
    UnknownName {
        /// `traffic pattern`, `kernel`, ...
        family: &'static str,
        /// The name as written.
        name: String,
        /// The remedy.
        remedy: String,
    },
    /// The name is known, but its arguments are not usable.
    #[error("{what}")]
    BadValue {
        /// The offending text and why it cannot be used.
        what: String,
        /// The remedy.
        remedy: String,
    },
}

impl Refusal {
    /// An unknown name; the remedy lists the nearest known names, or all of them when none is near.
    #[must_use]
    pub fn unknown(family: &'static str, name: &str, known: &[&str]) -> Self {
        Self::UnknownName { family, name: name.to_owned(), remedy: suggestion(name, known) }
    }

    /// A value that cannot be used.
    #[must_use]
    pub fn value(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::BadValue { what: what.into(), remedy: remedy.into() }
    }

    /// The remedy for the user.
    #[must_use]
    pub fn remedy(&self) -> &str {
        match self {
            Self::UnknownName { remedy, .. } | Self::BadValue { remedy, .. } => remedy,
        }
    }
}

/// `did you mean ...?` with the nearest known names, or the whole list.
#[must_use]
pub fn suggestion(name: &str, known: &[&str]) -> String {
    let mut near: Vec<(usize, &str)> = known
        .iter()
        .map(|&candidate| (strsim::damerau_levenshtein(&name.to_lowercase(), candidate), candidate))
        .filter(|&(distance, candidate)| {
            distance <= 1 + candidate.len() / 4 || (name.len() >= 3 && candidate.contains(name))
        })
        .collect();
    near.sort_unstable();
    if near.is_empty() {
        return format!("known: {}", known.join(", "));
    }
    let mut text = String::from("did you mean ");
    for (position, (_, candidate)) in near.iter().take(3).enumerate() {
        let _ = write!(text, "{}`{candidate}`", if position == 0 { "" } else { ", " });
    }
    text.push('?');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_names_come_first() {
        let known = ["uniform", "transpose", "tornado"];
        assert_eq!(suggestion("unifrom", &known), "did you mean `uniform`?");
        assert_eq!(suggestion("zzz", &known), "known: uniform, transpose, tornado");
    }
}
