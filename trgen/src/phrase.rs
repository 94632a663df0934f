//! Texts in which settings are data.
//!
//! Errors, warnings and notes name settings (`vcs`, `load`) that a user writes in one way on a command line and in
//! another in a file, and that a program sets as fields. A [`Phrase`] keeps settings apart from words. A [`Notation`]
//! writes the settings when the phrase is shown.
//!
//! Decision: docs/decisions/0126-errors-are-data.md.
//!
//! ```
//! use trgen::phrase;
//! let text = phrase!["use ", ["vcs" => 3], " or more, or set ", ["bubble"]];
//! assert_eq!(text.to_string(), "use vcs 3 or more, or set bubble");
//! assert_eq!(text.settings().collect::<Vec<_>>(), ["vcs", "bubble"]);
//! ```

use std::fmt;

use crate::catalog::Suggestion;

/// A setting, by its key.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Setting(pub &'static str);

/// One piece of a phrase.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Piece {
    /// Plain words.
    Words(String),
    /// A setting, alone or with a value.
    Setting(Setting, Option<String>),
}

/// How a setting is written.
pub trait Notation {
    /// The setting of this key, with its value if there is one.
    fn setting(&self, key: &str, value: Option<&str>) -> String;
}

/// Writes a setting as `vcs 3`, without the syntax of a command line or a file.
#[derive(Clone, Copy, Debug)]
pub struct Plain;

impl Notation for Plain {
    fn setting(&self, key: &str, value: Option<&str>) -> String {
        value.map_or_else(|| key.to_owned(), |value| format!("{key} {value}"))
    }
}

/// Words and settings, in the order in which they are read. [Displayed](fmt::Display) in the [plain notation](Plain).
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Phrase {
    /// No two neighbours are words.
    pieces: Vec<Piece>,
}

impl Phrase {
    /// A text that names settings in braces, as tables of components do: `its share of {load}`. Braces around anything
    /// but lower-case letters and dashes are plain words.
    #[must_use]
    pub fn of_template(text: &'static str) -> Self {
        let mut phrase = Self::default();
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once('{') {
            let is_key =
                |key: &str| !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
            match behind.split_once('}').filter(|(key, _)| is_key(key)) {
                Some((key, behind)) => {
                    phrase.words(format_args!("{before}"));
                    phrase.pieces.push(Piece::Setting(Setting(key), None));
                    rest = behind;
                }
                None => {
                    phrase.words(format_args!("{before}{{"));
                    rest = behind;
                }
            }
        }
        phrase.words(format_args!("{rest}"));
        phrase
    }

    /// Adds plain words.
    pub fn words(&mut self, words: fmt::Arguments<'_>) {
        let words = words.to_string();
        match self.pieces.last_mut() {
            _ if words.is_empty() => {}
            Some(Piece::Words(last)) => last.push_str(&words),
            Some(Piece::Setting(..)) | None => self.pieces.push(Piece::Words(words)),
        }
    }

    /// Adds a setting, with its value if there is one.
    pub fn setting(&mut self, key: &'static str, value: Option<String>) {
        self.pieces.push(Piece::Setting(Setting(key), value));
    }

    /// Adds another phrase.
    pub fn push(&mut self, other: impl Into<Self>) {
        for piece in other.into().pieces {
            match piece {
                Piece::Words(words) => self.words(format_args!("{words}")),
                setting => self.pieces.push(setting),
            }
        }
    }

    /// The pieces of the phrase.
    #[must_use]
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// The keys of the settings in the phrase, in their order.
    pub fn settings(&self) -> impl Iterator<Item = &'static str> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Words(_) => None,
            Piece::Setting(Setting(key), _) => Some(*key),
        })
    }

    /// True for a phrase without pieces.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// The text, with settings as the notation writes them.
    #[must_use]
    pub fn written(&self, notation: &dyn Notation) -> String {
        let piece = |piece: &Piece| match piece {
            Piece::Words(words) => words.clone(),
            Piece::Setting(Setting(key), value) => notation.setting(key, value.as_deref()),
        };
        self.pieces.iter().map(piece).collect()
    }
}

impl fmt::Display for Phrase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written(&Plain))
    }
}

impl From<&str> for Phrase {
    fn from(words: &str) -> Self {
        words.to_owned().into()
    }
}

impl From<String> for Phrase {
    fn from(words: String) -> Self {
        let pieces = if words.is_empty() { Vec::new() } else { vec![Piece::Words(words)] };
        Self { pieces }
    }
}

impl From<&String> for Phrase {
    fn from(words: &String) -> Self {
        words.as_str().into()
    }
}

impl From<&Self> for Phrase {
    fn from(phrase: &Self) -> Self {
        phrase.clone()
    }
}

impl From<Setting> for Phrase {
    fn from(setting: Setting) -> Self {
        Self { pieces: vec![Piece::Setting(setting, None)] }
    }
}

impl From<&Suggestion> for Phrase {
    fn from(suggestion: &Suggestion) -> Self {
        suggestion.to_string().into()
    }
}

/// A [`Phrase`] of pieces separated by commas. A piece is a format string of [`format!`](std::format), in parentheses
/// together with its arguments if it has any; a setting as `["vcs"]`, or with a value as `["vcs" => 3]`; or anything
/// else that can become a phrase.
#[macro_export]
macro_rules! phrase {
    (@add $phrase:ident;) => {};
    (@add $phrase:ident; $words:literal $(, $($rest:tt)*)?) => {
        $phrase.words(::std::format_args!($words));
        $crate::phrase!(@add $phrase; $($($rest)*)?);
    };
    (@add $phrase:ident; ($($words:tt)*) $(, $($rest:tt)*)?) => {
        $phrase.words(::std::format_args!($($words)*));
        $crate::phrase!(@add $phrase; $($($rest)*)?);
    };
    (@add $phrase:ident; [$key:expr] $(, $($rest:tt)*)?) => {
        $phrase.setting($key, ::std::option::Option::None);
        $crate::phrase!(@add $phrase; $($($rest)*)?);
    };
    (@add $phrase:ident; [$key:expr => $value:expr] $(, $($rest:tt)*)?) => {
        $phrase.setting($key, ::std::option::Option::Some(::std::string::ToString::to_string(&$value)));
        $crate::phrase!(@add $phrase; $($($rest)*)?);
    };
    (@add $phrase:ident; $piece:expr $(, $($rest:tt)*)?) => {
        $phrase.push($piece);
        $crate::phrase!(@add $phrase; $($($rest)*)?);
    };
    () => { $crate::phrase::Phrase::default() };
    ($($pieces:tt)*) => {{
        let mut phrase = $crate::phrase::Phrase::default();
        $crate::phrase!(@add phrase; $($pieces)*);
        phrase
    }};
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Flags;

    impl Notation for Flags {
        fn setting(&self, key: &str, value: Option<&str>) -> String {
            value.map_or_else(|| format!("--{key}"), |value| format!("--{key} {value}"))
        }
    }

    #[test]
    fn a_phrase_is_written_as_the_notation_says() {
        let (least, other) = (2, phrase!["or ", ["queue"]]);
        let text = phrase!["use ", ["vcs" => least], " or {least}, ", other, "; ", ("{}", 7), " ", "more"];
        assert_eq!(text.to_string(), "use vcs 2 or 2, or queue; 7 more");
        assert_eq!(text.written(&Flags), "use --vcs 2 or 2, or --queue; 7 more");
        assert_eq!(text.settings().collect::<Vec<_>>(), ["vcs", "queue"]);
        assert_eq!(text.pieces().len(), 5, "words that follow each other are one piece");
        assert!(phrase![].is_empty() && phrase![""].is_empty() && Phrase::from("").is_empty());
    }

    #[test]
    fn a_template_names_settings_in_braces() {
        let text = Phrase::of_template("{load} is shared, {} and {A} and {a are words: {max-cycles}");
        assert_eq!(text.settings().collect::<Vec<_>>(), ["load", "max-cycles"]);
        assert_eq!(text.written(&Flags), "--load is shared, {} and {A} and {a are words: --max-cycles");
    }
}
