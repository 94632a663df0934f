//! Messages to stderr, and whether they have colours.

use std::io::{self, IsTerminal, Write};

use clap::{ColorChoice, ValueEnum};
use trgen::quote::visible;

use super::invocation;

/// Prints a message for the user to stderr. A closed stderr is not an error. Names in it may hold anything: a terminal
/// obeys none of it.
pub(crate) fn tell(line: &str) {
    tell_styled(&visible(line));
}

/// Prints a message to stderr as it is, with the colours that it may have.
pub(crate) fn tell_styled(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// True if messages are coloured: as `--color` says, else if stderr is a terminal and `NO_COLOR` is not set.
pub(crate) fn stderr_wants_colour() -> bool {
    match color() {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => {
            io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        }
    }
}

/// The value of `--color`, which clap must know before it parses the command line.
pub(crate) fn color() -> ColorChoice {
    let words = invocation::texts();
    let joined = words.iter().find_map(|word| word.strip_prefix("--color="));
    let apart = words.iter().position(|word| word == "--color").and_then(|at| words.get(at + 1)).map(String::as_str);
    joined.or(apart).and_then(|word| ColorChoice::from_str(word, false).ok()).unwrap_or(ColorChoice::Auto)
}
