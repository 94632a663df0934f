//! Follows pages of Markdown as a user does: every block of commands, one after another, in one folder.
//!
//! A `console` block shows commands after the prompt `$ ` and their output; an `sh` block shows commands. Comments on
//! the lines before a block, which are invisible to readers, give further instructions:
//!
//! - `<!-- before: COMMANDS -->`: commands to run first, such as creating a file that the block assumes;
//! - `<!-- long: WHY -->`: run only by the long tests;
//! - `<!-- not run: WHY -->`: not run by any test of pages; the reason names what tests it instead.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::command::{binary, fsin};
use crate::shared::workspace;

/// Treatment of a block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fate {
    /// It is run.
    Run,
    /// It is run by the long tests.
    Long,
    /// It is not run, with the reason.
    Not(String),
}

/// A block of commands on a page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Block {
    /// Its first line, from 1.
    pub line: usize,
    /// True if it shows the output of its commands.
    pub console: bool,
    /// Its treatment.
    pub fate: Fate,
    /// Commands to run first.
    pub before: Option<String>,
    /// Its contents.
    pub text: String,
}

/// The blocks of commands of a page.
#[must_use]
pub fn blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let (mut fate, mut before) = (Fate::Run, None);
    let mut lines = page.lines().enumerate();
    while let Some((at, line)) = lines.next() {
        let said = |word: &str| line.strip_prefix(&format!("<!-- {word}: "))?.strip_suffix(" -->").map(str::to_owned);
        if let Some(commands) = said("before") {
            before = Some(commands);
        } else if let Some(why) = said("not run") {
            fate = Fate::Not(why);
        } else if said("long").is_some() {
            fate = Fate::Long;
        } else if let Some(language) = line.strip_prefix("```") {
            let text: String = lines
                .by_ref()
                .map(|(_, line)| line)
                .take_while(|&line| line != "```")
                .map(|line| format!("{line}\n"))
                .collect();
            if matches!(language, "sh" | "console" | "bash" | "shell") {
                let console = language == "console";
                blocks.push(Block { line: at + 1, console, fate: fate.clone(), before: before.take(), text });
            }
            fate = Fate::Run;
        }
    }
    blocks
}

/// The blocks of Python of a page.
#[must_use]
pub fn python_blocks(page: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut lines = page.lines();
    while lines.any(|line| line == "```python") {
        found.push(lines.by_ref().take_while(|&line| line != "```").map(|line| format!("{line}\n")).collect());
    }
    found
}

/// Commands of a `console` block, each with its output lines.
///
/// # Panics
/// When the block does not begin with a command.
#[must_use]
pub fn sessions(block: &str) -> Vec<(String, Vec<String>)> {
    let mut commands: Vec<(String, Vec<String>)> = Vec::new();
    for line in block.lines() {
        match (line.strip_prefix("$ "), commands.last_mut()) {
            (Some(command), _) => commands.push((command.to_owned(), Vec::new())),
            (None, Some((_, shown))) => shown.push(line.to_owned()),
            (None, None) => panic!("a block begins with a command, not with `{line}`"),
        }
    }
    commands
}

/// Pages of a folder and its subfolders, in order of their names.
///
/// # Panics
/// When a folder cannot be read.
#[must_use]
pub fn pages(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut found: Vec<PathBuf> = entries
        .map(|entry| entry.expect("a folder can be read").path())
        .flat_map(|path| if path.is_dir() { pages(&path) } else { vec![path] })
        .filter(|path| path.extension().is_some_and(|kind| kind == "md"))
        .collect();
    found.sort();
    found
}

/// Runs commands in a shell that finds the `fsin` under test, in a folder with the examples beside it.
///
/// # Panics
/// When there is no shell.
#[must_use]
pub fn shell(folder: &Path, commands: &str) -> Output {
    let examples = folder.join("examples");
    #[cfg(unix)]
    if !examples.exists() {
        std::os::unix::fs::symlink(workspace().join("examples"), &examples).expect("a temporary folder can be written");
    }
    let path =
        format!("{}:{}", binary().parent().expect("a file").display(), std::env::var("PATH").unwrap_or_default());
    let mut shell = Command::new("sh");
    // `fsin` gets the environment of the tests.
    for (name, value) in fsin(folder).get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    let commands = commands.replace("cargo run --release -p fsin -- ", "fsin ");
    let shell = shell.args(["-e", "-c", &commands]).env("PATH", path).current_dir(folder);
    shell.output().expect("there is a shell")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_say_what_becomes_of_a_block() {
        let page = "text\n<!-- before: fsin init > e.toml -->\n<!-- long: minutes -->\n```sh\na\nb\n```\n\n```console\n$ c\nd\n```\n\
                    <!-- not run: why -->\n```sh\ne\n```\n```toml\nx = 1\n```\n";
        let found = blocks(page);
        assert_eq!(found.len(), 3);
        assert_eq!((found[0].line, found[0].fate.clone(), found[0].text.as_str()), (4, Fate::Long, "a\nb\n"));
        assert_eq!(found[0].before.as_deref(), Some("fsin init > e.toml"));
        assert_eq!((found[1].console, found[1].fate.clone(), found[1].before.clone()), (true, Fate::Run, None));
        assert_eq!(sessions(&found[1].text), [("c".to_owned(), vec!["d".to_owned()])]);
        assert_eq!(found[2].fate, Fate::Not("why".to_owned()));
    }
}
