//! Self-description of components, and the errors for wrong names and values.
//!
//! A pattern, kernel, topology, routing or format is one file plus one [`Component`] in its family's [`Table`]; lists,
//! explanations and the suggestions in error messages all come from there. A program can add rows of its own.

mod table;

use std::fmt;
use std::ops::RangeInclusive;

use crate::phrase;
use crate::phrase::{Phrase, Setting};

pub use table::{Described, Table};

/// How a component describes itself.
#[derive(Clone, Copy, Debug)]
pub struct Component {
    /// The name that the user writes.
    pub name: &'static str,
    /// Its definition in one line; settings stand in braces ([`Phrase::of_template`]).
    pub about: &'static str,
    /// Parameters that may follow the name.
    pub parameters: &'static [Parameter],
    /// Its origin: paper and section, or program.
    pub source: &'static str,
}

/// Defines a family of components without parameters: an enum, its table of [`Component`]s, `ALL` with the names, and
/// the parser, from one row for each. The definition of a row is also the documentation of its variant.
#[macro_export]
macro_rules! choices {
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident: $family:literal in $table:ident {
            $($variant:ident = $word:literal, $about:literal, $source:expr;)+
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        $vis enum $name {
            $(#[doc = $about] $variant,)+
        }

        #[doc = concat!("The description of every ", $family, ".")]
        $vis const $table: &[$crate::catalog::Component] = &[
            $($crate::catalog::Component { name: $word, about: $about, parameters: &[], source: $source },)+
        ];

        impl $name {
            #[doc = concat!("Every ", $family, " with its name.")]
            pub const ALL: [(&'static str, Self); $table.len()] = [$(($word, Self::$variant),)+];

            #[doc = concat!("The name that parses to this ", $family, ".")]
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::catalog::SpecError;

            fn from_str(word: &str) -> Result<Self, Self::Err> {
                let known = || Self::ALL.map(|(name, _)| name);
                let found = Self::ALL.iter().find(|(name, _)| *name == word).map(|&(_, choice)| choice);
                found.ok_or_else(|| $crate::catalog::SpecError::unknown($family, word, &known()))
            }
        }
    };
}

/// One parameter of a component.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// The name that the user writes.
    pub name: &'static str,
    /// What the parameter is, with its unit; settings stand in braces ([`Phrase::of_template`]).
    pub about: &'static str,
    /// Permitted values, in readable form: `1..`, `0..=1`, `power of two`.
    pub range: &'static str,
    /// Value when absent, with settings in braces; empty if it must be given.
    pub default: &'static str,
}

/// The kind of an error, for programs that must tell kinds apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// There is no component, key or word of this name.
    UnknownName,
    /// A number outside the permitted range.
    OutOfRange,
    /// The text is incomplete, or does not have the required form.
    Malformed,
    /// The value is valid, but has no effect together with the others.
    Meaningless,
    /// Two settings, or a setting and the network, exclude each other.
    Conflict,
    /// The value is meaningful, but not implemented for this case.
    Unsupported,
    /// The value asks for more than can be stored or counted.
    TooLarge,
    /// A file that cannot be read, or has other contents than expected.
    Unreadable,
}

/// What an error is about.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Subject {
    /// The text that was parsed. The caller knows of which setting it is the value.
    Specification,
    /// A setting.
    Setting(Setting),
    /// A component, known or not.
    Component {
        /// `traffic pattern`, `kernel`, ...
        family: &'static str,
        /// As it was written.
        name: String,
    },
}

/// What would have been accepted.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Allowed {
    /// Numbers, both ends included.
    Range(RangeInclusive<u64>),
    /// Names.
    Names(Suggestion),
}

/// Why a word or value that a user wrote cannot be used.
///
/// [Displayed](fmt::Display), it says what is wrong, in the [plain notation](crate::phrase::Plain).
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{what}")]
pub struct SpecError {
    /// What is wrong.
    what: Phrase,
    /// What the user can do.
    remedy: Phrase,
    /// The same facts as data, for programs.
    about: Box<About>,
}

/// The facts of an error. Boxed, to keep results small.
#[derive(Clone, PartialEq, Eq, Debug)]
struct About {
    /// What the error is about.
    subject: Subject,
    /// The kind of the error.
    kind: ErrorKind,
    /// The value that the user gave, if a single value is wrong.
    given: Option<String>,
    /// What would have been accepted.
    allowed: Option<Allowed>,
}

impl SpecError {
    /// An error about the specification as a whole.
    #[must_use]
    pub fn new(kind: ErrorKind, what: impl Into<Phrase>, remedy: impl Into<Phrase>) -> Self {
        let about = About { subject: Subject::Specification, kind, given: None, allowed: None };
        Self { what: what.into(), remedy: remedy.into(), about: Box::new(about) }
    }

    /// An unknown name; the remedy lists the nearest right ones, or all of them when none is near.
    #[must_use]
    pub fn unknown(family: &'static str, name: &str, known: &[&str]) -> Self {
        let near = suggestion(name, known);
        let error = Self::new(ErrorKind::UnknownName, format!("unknown {family} `{name}`"), &near).given(name);
        Self {
            about: Box::new(About { subject: Subject::Component { family, name: name.to_owned() }, ..*error.about }),
            ..error
        }
        .allowed(Allowed::Names(near))
    }

    /// A setting whose number is too small or too large.
    #[must_use]
    pub fn out_of_range(key: &'static str, value: u64, range: RangeInclusive<u64>) -> Self {
        let what = phrase![[key => value], " is out of range"];
        let remedy = format!("use {} to {}", range.start(), range.end());
        Self::new(ErrorKind::OutOfRange, what, remedy).of(key).given(value).allowed(Allowed::Range(range))
    }

    /// The same error, about a setting.
    #[must_use]
    pub fn of(mut self, key: &'static str) -> Self {
        self.about.subject = Subject::Setting(Setting(key));
        self
    }

    /// The same error, about a component.
    #[must_use]
    pub fn of_component(mut self, family: &'static str, name: &str) -> Self {
        self.about.subject = Subject::Component { family, name: name.to_owned() };
        self
    }

    /// The same error, of another kind.
    #[must_use]
    pub fn of_kind(mut self, kind: ErrorKind) -> Self {
        self.about.kind = kind;
        self
    }

    /// The same error, with the value that the user has given.
    #[must_use]
    pub fn given(mut self, value: impl ToString) -> Self {
        self.about.given = Some(value.to_string());
        self
    }

    /// The same error, with what would have been accepted.
    #[must_use]
    pub fn allowed(mut self, allowed: Allowed) -> Self {
        self.about.allowed = Some(allowed);
        self
    }

    /// The same error, with another text of what is wrong.
    #[must_use]
    pub fn saying(self, what: impl Into<Phrase>) -> Self {
        Self { what: what.into(), ..self }
    }

    /// The same error, with another remedy.
    #[must_use]
    pub fn remedied(self, remedy: impl Into<Phrase>) -> Self {
        Self { remedy: remedy.into(), ..self }
    }

    /// The same error, whose text begins with its place.
    #[must_use]
    pub fn within(self, place: impl Into<Phrase>) -> Self {
        let mut what = place.into();
        what.push(self.what);
        Self { what, ..self }
    }

    /// What is wrong.
    #[must_use]
    pub const fn what(&self) -> &Phrase {
        &self.what
    }

    /// The remedy for the user.
    #[must_use]
    pub const fn remedy(&self) -> &Phrase {
        &self.remedy
    }

    /// What the error is about.
    #[must_use]
    pub const fn subject(&self) -> &Subject {
        &self.about.subject
    }

    /// The key of the setting that the error is about, if it is about one.
    #[must_use]
    pub const fn setting(&self) -> Option<&'static str> {
        match self.about.subject {
            Subject::Setting(Setting(key)) => Some(key),
            Subject::Specification | Subject::Component { .. } => None,
        }
    }

    /// The kind of the error.
    #[must_use]
    pub const fn kind(&self) -> ErrorKind {
        self.about.kind
    }

    /// The value that the user has given, if a single value is wrong.
    #[must_use]
    pub fn value(&self) -> Option<&str> {
        self.about.given.as_deref()
    }

    /// What would have been accepted, if that is a range or a list.
    #[must_use]
    pub const fn accepted(&self) -> Option<&Allowed> {
        self.about.allowed.as_ref()
    }

    /// The keys of all settings that the error names: in its subject, in its text, then in its remedy.
    pub fn settings(&self) -> impl Iterator<Item = &'static str> {
        self.setting().into_iter().chain(self.what.settings()).chain(self.remedy.settings())
    }
}

/// What may have been meant by an unknown name. [Displayed](fmt::Display), it asks whether it was one of the nearest
/// names, or lists all of them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Suggestion {
    /// The nearest names, the very nearest first; at most three, and empty if none is near.
    pub near: Vec<String>,
    /// All names.
    pub known: Vec<String>,
}

impl fmt::Display for Suggestion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.near.is_empty() {
            return write!(f, "known: {}", self.known.join(", "));
        }
        f.write_str("did you mean ")?;
        for (position, name) in self.near.iter().enumerate() {
            write!(f, "{}`{name}`", if position == 0 { "" } else { ", " })?;
        }
        f.write_str("?")
    }
}

/// \[letters\] How many letters must be changed, added, left out or exchanged with a neighbour to make one word of another.
#[must_use]
pub fn letters_apart(one: &str, other: &str) -> usize {
    strsim::damerau_levenshtein(one, other)
}

/// The known names that are nearest to an unknown one.
#[must_use]
pub fn suggestion(name: &str, known: &[&str]) -> Suggestion {
    /// Largest number of nearest names.
    const MOST: usize = 3;
    // Names are spelt with and without hyphens: `allreduce`, `bit_reverse`.
    let bare = |name: &str| name.to_lowercase().replace(['-', '_', ' '], "");
    let wanted = bare(name);
    // Of a name and the other spellings of it, the first is meant.
    let is_first = |&(at, candidate): &(usize, &&str)| known[..at].iter().all(|other| bare(other) != bare(candidate));
    let mut near: Vec<(usize, &str)> = known
        .iter()
        .enumerate()
        .filter(is_first)
        .map(|(_, &candidate)| (strsim::damerau_levenshtein(&wanted, &bare(candidate)), candidate))
        .filter(|&(distance, candidate)| {
            distance <= 1 + candidate.len() / 4 || (wanted.len() >= 3 && bare(candidate).contains(&wanted))
        })
        .collect();
    near.sort_unstable();
    let near = near.into_iter().take(MOST).map(|(_, name)| name.to_owned()).collect();
    Suggestion { near, known: known.iter().map(|&name| name.to_owned()).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_names_come_first() {
        let known = ["uniform", "transpose", "tornado"];
        assert_eq!(suggestion("unifrom", &known).to_string(), "did you mean `uniform`?");
        assert_eq!(suggestion("zzz", &known).to_string(), "known: uniform, transpose, tornado");
        let kernels = ["all-reduce-ring", "all-to-all", "bintree"];
        assert_eq!(suggestion("allreduce", &kernels).near, ["all-reduce-ring"]);
        assert_eq!(suggestion("all_to_all", &kernels).near, ["all-to-all"]);
        assert_eq!(suggestion("all-two-all", &["all-to-all", "AllToAll", "all_to_all"]).near, ["all-to-all"]);
        let error = SpecError::unknown("traffic pattern", "unifrom", &known);
        assert_eq!((error.kind(), error.value()), (ErrorKind::UnknownName, Some("unifrom")));
        let Some(Allowed::Names(names)) = error.accepted() else { panic!("{error:?} lists no names") };
        assert_eq!((&*names.near, names.known.len()), (&["uniform".to_owned()][..], 3));
    }
}
