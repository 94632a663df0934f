//! Numbers from files that a pattern names.
//!
//! Numbers are separated by blanks, commas or semicolons; `#` begins a comment. A relative path is relative to the
//! folder of the experiment file that contains the pattern, else to the working directory.

use super::PatternContext;
use crate::catalog::SpecError;
use crate::synthetic::expr::{Call, Expr};

/// \[bytes\] Size limit of a file: a matrix of 4096 nodes with 15 characters per number.
const LONGEST: u64 = 256 << 20;

/// The lines of numbers in the file that the parameter `file` names, each with its line number from 1.
pub(super) fn numbers(call: &Call, context: PatternContext) -> Result<Lines, SpecError> {
    let name = call.word("file")?;
    let path = context.folder.join(&name);
    let refuse = |what: String, remedy: &str| match call.given("file") {
        Some(given) => call.refuse(given, &what, remedy),
        None => call.refuse_all(&what, remedy),
    };
    let shown = path.display();
    match std::fs::metadata(&path) {
        Ok(found) if found.len() > LONGEST => {
            let what = format!("{shown} has {} bytes", found.len());
            return Err(refuse(what, "check that it is the file you mean: at most 256 MiB"));
        }
        _ => {}
    }
    let text = std::fs::read_to_string(&path).map_err(|error| {
        refuse(format!("cannot read {shown}: {error}"), "give the path of a text file that you may read")
    })?;
    let mut lines = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let words = line.split('#').next().unwrap_or("");
        let mut row = Vec::new();
        for word in words.split([' ', '\t', ',', ';', '\r']).filter(|word| !word.is_empty()) {
            match word.parse::<f64>().ok().filter(|value| value.is_finite()) {
                Some(value) => row.push(value),
                None => {
                    return Err(refuse(
                        format!("{shown}, line {number}: `{word}` is not a number"),
                        "correct the file",
                    ));
                }
            }
        }
        if !row.is_empty() {
            lines.push((number, row));
        }
    }
    Ok(Lines { shown: shown.to_string(), lines })
}

/// Contents of a file.
#[derive(Debug)]
pub(super) struct Lines {
    /// Path of the file, for errors.
    shown: String,
    /// Line number, and the numbers of the line: at least one.
    pub(super) lines: Vec<(u64, Vec<f64>)>,
}

impl Lines {
    /// An error about one line of the file, or about all of it.
    pub(super) fn refuse(&self, call: &Call, line: Option<u64>, what: &str, remedy: &str) -> SpecError {
        let place = line.map_or_else(|| self.shown.clone(), |line| format!("{}, line {line}", self.shown));
        let argument: Option<&Expr> = call.given("file");
        match argument {
            Some(given) => call.refuse(given, &format!("{place}: {what}"), remedy),
            None => call.refuse_all(&format!("{place}: {what}"), remedy),
        }
    }
}
