//! The environment variables of this project, and the check that no other one with its prefix is set.

use std::env;

use clap::ArgMatches;
use fsin::experiment::{MANY_KEYS, keys, variable};
use trgen::catalog::suggestion;

use super::{Complaint, Exit, output};

/// Prefix of all variables.
const PREFIX: &str = "FSIN_";

/// Variables of users that set no key.
const OTHERS: &[&str] = &["FSIN_MPI_LIBRARY", "FSIN_MPI_PATIENCE", "FSIN_QEMU", "FSIN_QEMU_PLUGIN", "FSIN_TOKEN"];

/// Variables that `fsin mpirun` sets for the ranks of a program.
const OF_RANKS: &[&str] = &[
    "FSIN_MPI_ADDRESS",
    "FSIN_MPI_BUFFERED",
    "FSIN_MPI_CLOCK_READ",
    "FSIN_MPI_COLLECTIVES",
    "FSIN_MPI_COMPUTE",
    "FSIN_MPI_FOLDER",
    "FSIN_MPI_MODE",
    "FSIN_MPI_PART",
    "FSIN_MPI_SHARED",
    "FSIN_MPI_RANK",
    "FSIN_MPI_RECORD",
    "FSIN_MPI_RENDEZVOUS",
    "FSIN_MPI_SIZE",
    "FSIN_MPI_SYNC",
    "FSIN_MPI_THREAD_LIMIT",
    "FSIN_MPI_TIMELINE",
    "FSIN_MPI_TOKEN",
];

/// Variables of the project's tests and of its build.
const OF_TESTS: &[&str] = &[
    "FSIN_CASES_SEED",
    "FSIN_FIGURES",
    "FSIN_MACHINES",
    "FSIN_OUTSIDER",
    "FSIN_OUTSIDER_REFUSED",
    "FSIN_OUTSIDER_SEED",
    "FSIN_SHARED",
    "FSIN_SKIPPED",
    "FSIN_TARGET",
];

/// Every variable.
fn known() -> Vec<String> {
    let keys = keys().iter().chain(MANY_KEYS).map(|key| variable(key.name));
    let others = [OTHERS, OF_RANKS, OF_TESTS].into_iter().flatten();
    keys.chain(others.map(|&name| name.to_owned())).collect()
}

/// Rejects variables whose names nearly match one of this project, and warns of others with its prefix.
///
/// # Errors
/// The first variable that is probably misspelt.
pub(super) fn check(matches: &ArgMatches) -> Result<(), Complaint> {
    let known = known();
    let words: Vec<String> = known.iter().map(|name| name[PREFIX.len()..].to_lowercase()).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (command, of_command) = matches.subcommand().unzip();
    let is_quiet = of_command.and_then(|of_command| of_command.try_get_one::<bool>("quiet").ok().flatten().copied());
    // The points of a sweep have its environment, and the sweep has warned.
    let warns = !is_quiet.unwrap_or(false) && command != Some("point");
    let mut set: Vec<String> = env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned()).collect();
    set.sort();
    for name in &set {
        // The case is a frequent slip: no other program has variables such as fsin_load.
        let Some(rest) = name.get(..PREFIX.len()).filter(|start| start.eq_ignore_ascii_case(PREFIX)) else { continue };
        let word = &name[rest.len()..];
        if known.contains(name) {
            continue;
        }
        let near = suggestion(word, &words);
        let near: Vec<String> = near.near.iter().map(|name| format!("{PREFIX}{}", name.to_uppercase())).collect();
        if near.is_empty() {
            if !warns {
                continue;
            }
            output::tell(&format!("warning: the environment sets {name}, which is no setting: no key is called so"));
            continue;
        }
        let what = format!("the environment sets {name}, and no setting is called so");
        let remedy = format!("did you mean {}? Else unset it", near.join(", "));
        return Err(Complaint::new(Exit::Usage, what, remedy));
    }
    if warns && command == Some("mpirun") {
        for name in set.iter().filter(|name| OF_RANKS.contains(&name.as_str())) {
            output::tell(&format!("warning: {name} has no effect here: this command sets it for each rank"));
        }
    }
    Ok(())
}
