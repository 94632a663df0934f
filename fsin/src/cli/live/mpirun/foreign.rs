//! Words of other commands that start MPI programs, where users type them: read where they mean the same, otherwise
//! refused with what to write here.

use std::ffi::{OsStr, OsString};

use clap::Command;

use crate::cli::{Complaint, Exit};

/// Flags that stand for `-n`.
const RANKS: [&str; 3] = ["-np", "--np", "-c"];

/// Flags of others, and what to do instead.
const OTHERS: [(&[&str], &str); 3] = [
    (
        &[
            "--hostfile",
            "-hostfile",
            "--machinefile",
            "-machinefile",
            "-f",
            "--host",
            "-host",
            "-H",
            "--hosts",
            "-hosts",
            "-hostlist",
        ],
        "ranks are processes of this machine, and their nodes those of the simulated network: --placement places them, also by \
         a file. To start them on real hosts: --launcher 'mpiexec -n 64 -hosts a,b'",
    ),
    (
        &["-ppn", "--ppn", "-perhost", "--npernode", "-npernode", "-N", "--map-by", "--rank-by"],
        "--ranks-per-node R puts R consecutive ranks on a node, and --placement orders the nodes",
    ),
    (
        &[
            "--oversubscribe",
            "--bind-to",
            "-bind-to",
            "--allow-run-as-root",
            "-genv",
            "-env",
            "-genvall",
            "-x",
            "-wdir",
            "--wdir",
            "--mca",
            "-iface",
        ],
        "leave it out: ranks are processes of this machine, with the environment and the folder of this command",
    ),
];

/// The words of a call of `fsin mpirun`, with those of other commands replaced.
///
/// # Errors
/// A flag of others before the program, with what to write here.
pub(crate) fn translated(command: &Command, mut words: Vec<OsString>) -> Result<Vec<OsString>, Complaint> {
    // The name of this command and of `mpirun` come first.
    let mut at = 2;
    while let Some(word) = words.get(at).and_then(|word| word.to_str()) {
        if RANKS.contains(&word) {
            words[at] = "-n".into();
            at += 2;
            continue;
        }
        let name = word.split('=').next().unwrap_or(word);
        if let Some((_, remedy)) = OTHERS.iter().find(|(names, _)| names.contains(&name)) {
            return Err(Complaint::new(Exit::Usage, format!("{name} is no flag of fsin mpirun"), *remedy));
        }
        match values_after(command, word) {
            Some(count) => at += 1 + count,
            None => break,
        }
    }
    Ok(words)
}

/// Number of words that follow a flag of this command as its value; `None` for a word that is no such flag.
fn values_after(command: &Command, word: &str) -> Option<usize> {
    let (name, has_value) = match word.split_once('=') {
        Some((name, _)) => (name, true),
        None => (word, false),
    };
    let found = command.get_arguments().find(|arg| match name.strip_prefix("--") {
        Some(long) => arg.get_long() == Some(long),
        None => {
            name.strip_prefix('-').and_then(|short| short.chars().next()).is_some_and(|c| arg.get_short() == Some(c))
        }
    })?;
    let is_attached = has_value || !name.starts_with("--") && name.len() > 2;
    Some(usize::from(found.get_action().takes_values() && !is_attached))
}

/// A program that some of the ranks execute.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Part {
    /// Number of its ranks.
    pub(crate) ranks: usize,
    /// The program and its arguments.
    pub(crate) words: Vec<OsString>,
}

/// The programs of the words after the flags: `A args : -n 3 B args`. The first one has `first` ranks, each other one as
/// many as it says, or one.
///
/// # Errors
/// A part without a program, or with other flags.
pub(super) fn parts(words: &[OsString], first: usize) -> Result<Vec<Part>, Complaint> {
    let refused = |what: String| {
        let remedy = "write fsin mpirun -n 2 [flags] ./a args : -n 3 ./b args; flags of the network stand before the first program";
        Complaint::new(Exit::Usage, what, remedy)
    };
    let mut parts = Vec::new();
    for (number, part) in words.split(|word| word == OsStr::new(":")).enumerate() {
        let (mut ranks, mut rest) = (if number == 0 { first } else { 1 }, part);
        while let (true, [flag, more @ ..]) = (number > 0, rest) {
            let Some(flag) = flag.to_str().filter(|flag| flag.starts_with('-')) else { break };
            if flag != "-n" && !RANKS.contains(&flag) {
                return Err(refused(format!("{flag} after a colon")));
            }
            let [count, more @ ..] = more else {
                return Err(refused(format!("{flag} after a colon has no number")));
            };
            ranks = match count.to_str().and_then(|count| count.parse().ok()).filter(|&count: &usize| count > 0) {
                Some(count) => count,
                None => return Err(refused(format!("{flag} {}: not a number of ranks", count.to_string_lossy()))),
            };
            rest = more;
        }
        if rest.is_empty() {
            return Err(refused(format!("part {} of the command line has no program", number + 1)));
        }
        parts.push(Part { ranks, words: rest.to_vec() });
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn words_before_the_program_are_read_and_those_after_it_are_its_own() {
        let command = super::super::command();
        let translated = |line: &str| super::translated(&command, words(line)).map_err(|refused| refused.to_string());
        let line = "fsin mpirun --label -np 4 --network zero -- ./a -np 3";
        assert_eq!(translated(line).unwrap(), words("fsin mpirun --label -n 4 --network zero -- ./a -np 3"));
        let own = "fsin mpirun -n 4 ./a -np 3 --hostfile x";
        assert_eq!(translated(own).unwrap(), words(own));
        for flag in ["--hostfile=x", "-hosts", "-ppn", "--oversubscribe"] {
            let refused = translated(&format!("fsin mpirun -n4 --label {flag} a ./a")).unwrap_err();
            assert!(refused.contains(flag.split('=').next().unwrap()), "{refused}");
        }
    }

    #[test]
    fn parts_have_programs_and_ranks() {
        let found = super::parts(&words("./a x : -np 3 ./b : ./c -n 2"), 2).unwrap();
        let counts: Vec<usize> = found.iter().map(|part| part.ranks).collect();
        assert_eq!((counts, &found[2].words), (vec![2, 3, 1], &words("./c -n 2")));
        for line in ["./a :", ": ./a", "./a : -n 0 ./b", "./a : -n", "./a : --label 3 ./b", "./a : : ./b"] {
            assert!(super::parts(&words(line), 1).is_err(), "{line}");
        }
    }
}
