//! Follows pages of Markdown as a user does: every block of commands, one after another, in one folder.
//!
//! A `console` block shows commands after the prompt `$ ` and their output; an `sh` block shows commands. Comments on
//! the lines before a block, which are invisible to readers, give further instructions:
//!
//! - `<!-- before: COMMANDS -->`: commands to run first, in the same shell, such as creating a file that the block assumes;
//! - `<!-- needs: TOOLS -->`: tools without which it is skipped, aloud;
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
    /// Tools without which it is skipped.
    pub needs: Vec<String>,
    /// Its contents.
    pub text: String,
}

/// The blocks of commands of a page.
#[must_use]
pub fn blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let (mut fate, mut before, mut needs) = (Fate::Run, None, Vec::new());
    let mut lines = page.lines().enumerate();
    while let Some((at, line)) = lines.next() {
        let said = |word: &str| line.strip_prefix(&format!("<!-- {word}: "))?.strip_suffix(" -->").map(str::to_owned);
        if let Some(commands) = said("before") {
            before = Some(commands);
        } else if let Some(tools) = said("needs") {
            needs = tools.split_whitespace().map(str::to_owned).collect();
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
                let needs = std::mem::take(&mut needs);
                blocks.push(Block { line: at + 1, console, fate: fate.clone(), before: before.take(), needs, text });
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

/// Lines that begin with a command in blocks that no test runs, by their numbers from 1: those of other languages, such as
/// `text`.
#[must_use]
pub fn hidden_commands(page: &str) -> Vec<usize> {
    const COMMANDS: [&str; 13] = [
        "fsin ",
        "trace-prep ",
        "cargo ",
        "pip ",
        "python3 ",
        "sh ",
        "bash ",
        "cc ",
        "c++ ",
        "make ",
        "./",
        "sudo ",
        "apt ",
    ];
    let mut found = Vec::new();
    let mut language = None;
    for (at, line) in page.lines().enumerate() {
        match (line.trim_start().strip_prefix("```"), language) {
            (Some(word), None) => language = Some(word),
            (Some(_), Some(_)) => language = None,
            (None, Some("" | "text" | "txt" | "plain")) => {
                // The output of a run may begin with the name of a program, but not with a command and its flags.
                let line = line.trim_start().trim_start_matches("$ ");
                if COMMANDS.iter().any(|command| line.starts_with(command)) {
                    found.push(at + 1);
                }
            }
            _ => {}
        }
    }
    found
}

/// Runs commands in a shell that finds the `fsin` under test, in a folder with the folders of the repository that pages name
/// beside it, as in a clone. The folder is the home of the user; what cargo has built is what the tests have been built with.
///
/// # Panics
/// When there is no shell.
#[must_use]
pub fn shell(folder: &Path, commands: &str) -> Output {
    let built = binary().parent().expect("a file");
    let target = folder.join(".target");
    #[cfg(unix)]
    for (name, of) in ["examples", "adapters"]
        .map(|name| (folder.join(name), workspace().join(name)))
        .into_iter()
        .chain([(target.join("release"), built.to_owned())])
    {
        if !name.exists() {
            let made = fs::create_dir_all(name.parent().expect("it is below the folder"))
                .and_then(|()| std::os::unix::fs::symlink(of, &name));
            made.expect("a temporary folder can be written");
        }
    }
    let path = format!("{}:{}", built.display(), std::env::var("PATH").unwrap_or_default());
    let mut shell = Command::new("sh");
    // `fsin` gets the environment of the tests.
    for (name, value) in fsin(folder).get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    let commands = commands.replace("cargo run --release -p fsin -- ", "fsin ");
    // What these build and install is there.
    const DONE: [&str; 3] = ["cargo build --release -p fsin", "cargo install fsin", "cargo install trace-prep"];
    let is_build = |line: &&str| DONE.iter().any(|done| line.starts_with(done)) && !line.contains("&&");
    let commands: Vec<&str> = commands.lines().filter(|line| !is_build(line)).collect();
    let shell = shell.args(["-e", "-c", &commands.join("\n")]).env("PATH", path).current_dir(folder);
    shell.env("HOME", folder).env("CARGO_TARGET_DIR", target);
    shell.output().expect("there is a shell")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_in_blocks_of_text_are_found() {
        let page = "fsin run\n```text\nvirtual time\nfsin run --load 0.1\n    cc a.c\n```\n```sh\nfsin run\n```\n```\n$ ./a\n```\n";
        assert_eq!(hidden_commands(page), [4, 5, 11]);
    }

    #[test]
    fn comments_say_what_becomes_of_a_block() {
        let page = "text\n<!-- before: fsin init > e.toml -->\n<!-- needs: cc make -->\n<!-- long: minutes -->\n```sh\na\nb\n```\n\n```console\n$ c\nd\n```\n\
                    <!-- not run: why -->\n```sh\ne\n```\n```toml\nx = 1\n```\n";
        let found = blocks(page);
        assert_eq!(found.len(), 3);
        assert_eq!((found[0].line, found[0].fate.clone(), found[0].text.as_str()), (5, Fate::Long, "a\nb\n"));
        assert_eq!(found[0].before.as_deref(), Some("fsin init > e.toml"));
        assert_eq!(found[0].needs, ["cc", "make"]);
        assert_eq!((found[1].console, found[1].fate.clone(), found[1].before.clone()), (true, Fate::Run, None));
        assert_eq!(sessions(&found[1].text), [("c".to_owned(), vec!["d".to_owned()])]);
        assert_eq!(found[2].fate, Fate::Not("why".to_owned()));
    }
}
