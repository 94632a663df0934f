//! Errors of flags that a command does not have, and others have.

use clap::Command;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use trgen::catalog::suggestion;

use super::args;

/// The error of an unknown flag names the flag of which it is a value (`--json` is `--format json`), or the commands that
/// have it, where some have: then nothing was misspelt, and the flag with the nearest name is not what was meant. Else that
/// is named if it is near.
pub(super) fn explained(mut error: Error) -> Error {
    let Some(ContextValue::String(flag)) = error.get(ContextKind::InvalidArg) else { return error };
    let name = match flag.strip_prefix("--").map(|flag| flag.split('=').next().unwrap_or(flag)) {
        Some(name) if error.kind() == ErrorKind::UnknownArgument => name.to_owned(),
        _ => return error,
    };
    let all = args::command();
    let owners = owners(&all, &name, "");
    let text = if let Some(flag) = of_value(&all, &name) {
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

/// The flag with a list of values of which this is one, in a command or one below it, if there is one such flag.
fn of_value(command: &Command, value: &str) -> Option<String> {
    let mut flags: Vec<String> = Vec::new();
    collect_of_value(command, value, &mut flags);
    flags.sort();
    flags.dedup();
    match &mut *flags {
        [one] => Some(std::mem::take(one)),
        _ => None,
    }
}

fn collect_of_value(command: &Command, value: &str, flags: &mut Vec<String>) {
    for arg in command.get_arguments().filter(|arg| arg.get_action().takes_values()) {
        if let Some(flag) = arg.get_long()
            && arg.get_possible_values().iter().any(|possible| possible.matches(value, false))
        {
            flags.push(flag.to_owned());
        }
    }
    command.get_subcommands().for_each(|sub| collect_of_value(sub, value, flags));
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
