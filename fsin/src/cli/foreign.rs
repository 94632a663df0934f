//! Errors of flags that a command does not have, and others have.

use std::ffi::OsString;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use clap::{Arg, Command};
use trgen::catalog::suggestion;

use super::args;

/// The error of an unknown flag names the flag of the called command of which it is a value (`--json` is `--format json`),
/// or the commands that have it, where some have: then nothing was misspelt, and the flag with the nearest name is not what
/// was meant. Else that is named if it is near. `words` are those of the call.
pub(super) fn explained(mut error: Error, words: &[OsString]) -> Error {
    let Some(ContextValue::String(flag)) = error.get(ContextKind::InvalidArg) else { return error };
    let name = match flag.strip_prefix("--").map(|flag| flag.split('=').next().unwrap_or(flag)) {
        Some(name) if error.kind() == ErrorKind::UnknownArgument => name.to_owned(),
        _ => return error,
    };
    let all = args::command();
    let owners = owners(&all, &name, "");
    let text = if let Some(flag) = of_value(called(&all, words), &name) {
        Some(format!("`--{flag} {name}` is what this means"))
    } else if owners.is_empty() {
        None
    } else {
        Some(format!("it is a flag of {}, and this command has none of this name", listed(&owners)))
    };
    if text.is_none() {
        let is_near = |suggested: &str| {
            let suggested = suggested.trim_start_matches('-');
            !suggestion(&name, &[suggested]).near.is_empty()
        };
        let is_near = match error.get(ContextKind::SuggestedArg) {
            Some(ContextValue::String(one)) => is_near(one),
            Some(ContextValue::Strings(several)) => several.iter().any(|one| is_near(one)),
            _ => return error,
        };
        if is_near {
            return error;
        }
    }
    error.remove(ContextKind::SuggestedArg);
    // The line of usage has the flag that was suggested.
    error.remove(ContextKind::Usage);
    if let Some(text) = text {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(text)]));
    }
    error
}

/// The command that these words call: the first words that name a command, and commands below it.
fn called<'a>(all: &'a Command, words: &[OsString]) -> &'a Command {
    let below = |command: &'a Command, word: &OsString| command.find_subcommand(word).unwrap_or(command);
    words.iter().skip(1).take_while(|word| !word.to_string_lossy().starts_with('-')).fold(all, below)
}

/// The flag of a command with a list of values of which this is one, if there is one such flag.
fn of_value<'a>(command: &'a Command, value: &str) -> Option<&'a str> {
    let takes = |arg: &&Arg| {
        arg.get_action().takes_values()
            && arg.get_possible_values().iter().any(|possible| possible.matches(value, false))
    };
    let mut flags = command.get_arguments().filter(takes).filter_map(Arg::get_long);
    flags.next().filter(|_| flags.next().is_none())
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
