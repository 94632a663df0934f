//! Specifications of named numbers, `p=2,a=4,h=2`.

use std::ops::RangeInclusive;

use trgen::catalog::{ErrorKind, SpecError};

use crate::topology::{check_once, number};

/// A specification of named numbers, for errors.
pub(super) struct Named<'a, const N: usize> {
    /// The whole specification.
    pub(super) spec: &'a str,
    /// The names of its numbers.
    pub(super) names: [&'static str; N],
    /// A valid specification.
    pub(super) example: &'static str,
}

impl<const N: usize> Named<'_, N> {
    /// Parses comma-separated words `NAME=NUMBER`: by name, the number if it is given.
    ///
    /// # Errors
    /// A name that is unknown or given twice, a value that is no number.
    pub(super) fn parse(&self, words: &str) -> Result<[Option<u32>; N], SpecError> {
        check_once(self.spec, words)?;
        let mut given = [None; N];
        for word in words.split(',') {
            let (name, value) = word.split_once('=').unwrap_or((word, ""));
            let at = self.names.iter().position(|&known| known == name).ok_or_else(|| {
                let what = format!("`{word}` in `{}` is not one of {}=", self.spec, self.names.join("=, "));
                SpecError::new(ErrorKind::Malformed, what, self.as_in_the_example())
            })?;
            given[at] = Some(number(self.spec, value, self.example)?);
        }
        Ok(given)
    }

    /// The error of a specification that lacks a number.
    pub(super) fn lacks(&self, needed: &str) -> SpecError {
        let what = format!("`{}` lacks one of {needed}", self.spec);
        SpecError::new(ErrorKind::Malformed, what, self.as_in_the_example())
    }

    /// Requires a number within a range.
    ///
    /// # Errors
    /// A number out of range.
    pub(super) fn within(&self, name: &str, value: u32, range: RangeInclusive<u32>) -> Result<u32, SpecError> {
        if range.contains(&value) {
            return Ok(value);
        }
        let what = format!("{name} = {value} in `{}` is out of range", self.spec);
        Err(SpecError::new(ErrorKind::OutOfRange, what, format!("use {} to {}", range.start(), range.end())))
    }

    /// The remedy of a malformed specification.
    fn as_in_the_example(&self) -> String {
        format!("write it as in `{}`", self.example)
    }
}
