//! `fsin legacy`: words of the original simulator, translated and run.

use std::fs;
use std::path::Path;

use clap::ArgMatches;
use fsin::experiment::legacy::{Word, read, translate};
use fsin::experiment::{Kind, key};
use trgen::quote::shell;

use crate::cli::{Complaint, Exit, Flags, args, output, run};

/// The original's default file, which is read if no file is named and it exists.
const DEFAULT_FILE: &str = "fsin.conf";

/// \[bytes\] Maximum length of the file.
const MAX_BYTES: u64 = 1 << 20;

/// Translates words, prints the equivalent command line, and runs it.
pub(crate) fn legacy(matches: &ArgMatches) -> Result<Exit, Complaint> {
    let given: Vec<&String> = matches.get_many::<String>("words").into_iter().flatten().collect();
    let mut words = Vec::new();
    if given.iter().all(|word| word.contains('=')) && Path::new(DEFAULT_FILE).exists() {
        output::tell(&format!("note: {DEFAULT_FILE} is read first, as by the original"));
        words.extend(words_in_file(DEFAULT_FILE)?);
    }
    for word in given {
        match word.split_once('=') {
            Some((name, value)) => words.push(Word::new(name, value)),
            None => words.extend(words_in_file(word)?),
        }
    }
    let translation =
        translate(&words).map_err(|refusal| Complaint::new(Exit::Usage, refusal.what(), refusal.remedy()))?;
    if !matches.get_flag("quiet") {
        for note in translation.notes() {
            output::tell(&format!("note: {}", note.written(&Flags)));
        }
    }
    let mut line = command_line(&translation.settings);
    output::tell(&line.iter().map(|word| shell(word)).collect::<Vec<_>>().join(" "));
    for (flag, value) in [("--format", matches.get_one::<String>("format")), ("--output", matches.get_one("output"))] {
        line.extend(value.into_iter().flat_map(|value| [flag.to_owned(), value.clone()]));
    }
    if matches.get_flag("quiet") {
        line.push("--quiet".to_owned());
    }
    let matches = args::command()
        .try_get_matches_from(line)
        .map_err(|error| Complaint::new(Exit::Usage, error.to_string(), "see `fsin help run`"))?;
    let done = match matches.subcommand() {
        Some(("run", matches)) => run::run(matches),
        _ => Ok(Exit::Usage),
    };
    // The error names a flag, but the user wrote a word: the word is put in front.
    done.map_err(|complaint| match translation.origin(complaint.settings()) {
        Some(origin) if complaint.exit == Exit::Usage => complaint.with_subject(&origin),
        _ => complaint,
    })
}

/// The equivalent command line.
fn command_line(settings: &[(&'static str, String)]) -> Vec<String> {
    let is_switch = |name: &str| key(name).is_some_and(|key| key.kind == Kind::Switch);
    let flags = settings.iter().flat_map(|(name, value)| match (is_switch(name), value.as_str()) {
        (true, "true") => vec![format!("--{name}")],
        (true, _) => Vec::new(),
        (false, _) => vec![format!("--{name}"), value.clone()],
    });
    ["fsin", "run"].map(str::to_owned).into_iter().chain(flags).collect()
}

/// The words in a file.
fn words_in_file(path: &str) -> Result<Vec<Word>, Complaint> {
    let unreadable = |why: String| {
        let remedy = "name a file of `key=value` lines, or write words such as topo=torus_8_8";
        Complaint::new(Exit::Usage, format!("{path} cannot be read: {why}"), remedy)
    };
    let length = fs::metadata(path).map_err(|error| unreadable(error.to_string()))?.len();
    if length > MAX_BYTES {
        return Err(unreadable(format!("it has {length} bytes, and at most {MAX_BYTES} are read")));
    }
    let bytes = fs::read(path).map_err(|error| unreadable(error.to_string()))?;
    // Comments may be in an encoding older than UTF-8.
    let text = String::from_utf8_lossy(&bytes);
    read(path, &text).map_err(|refusal| Complaint::new(Exit::Usage, refusal.what(), refusal.remedy()))
}
