//! Errors of flags that a command does not have, and others have.

use clap::Command;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};

use super::args;

/// The error of an unknown flag names the commands that have it, where some have: then nothing was misspelt, and the
/// flag with the nearest name is not what was meant.
pub(super) fn explained(mut error: Error) -> Error {
    let Some(ContextValue::String(flag)) = error.get(ContextKind::InvalidArg) else { return error };
    let owners = match flag.strip_prefix("--").map(|flag| flag.split('=').next().unwrap_or(flag)) {
        Some(name) if error.kind() == ErrorKind::UnknownArgument => owners(&args::command(), name, ""),
        _ => return error,
    };
    if owners.is_empty() {
        return error;
    }
    let text = format!("it is a flag of {}, and this command has none of this name", listed(&owners));
    error.remove(ContextKind::SuggestedArg);
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(text)]));
    error
}

/// The commands below this one that have a flag.
fn owners(command: &Command, name: &str, path: &str) -> Vec<String> {
    let mut found = Vec::new();
    for sub in command.get_subcommands() {
        let path = format!("{path} {}", sub.get_name());
        if sub.get_arguments().any(|arg| arg.get_long() == Some(name)) {
            found.push(format!("fsin{path}"));
        }
        found.extend(owners(sub, name, &path));
    }
    found
}

/// Names with commas and `and`; at most three of them.
fn listed(names: &[String]) -> String {
    const MOST: usize = 3;
    match names {
        [one] => one.clone(),
        [first @ .., last] if names.len() <= MOST => format!("{} and {last}", first.join(", ")),
        _ => format!("{} and others", names[..MOST].join(", ")),
    }
}
