//! The book: every command with the prompt `$` runs, and prints what is shown; its reference pages are what the command
//! says of itself.
//!
//! The blocks of a page run one after another in one folder, by a shell. A line `...` stands for any lines.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use tests::command::{binary, fsin, run};
use tests::shared::workspace;

fn book() -> PathBuf {
    workspace().join("docs/book/src")
}

fn pages(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        match entry.path() {
            path if path.is_dir() => pages(&path, found),
            path if path.extension().is_some_and(|kind| kind == "md") => found.push(path),
            _ => {}
        }
    }
    found.sort();
}

/// Commands of the `console` blocks of a page, each with what is shown below it.
fn commands(page: &str) -> Vec<(String, Vec<String>)> {
    let mut commands: Vec<(String, Vec<String>)> = Vec::new();
    let mut inside = false;
    for line in page.lines() {
        match line {
            "```console" => inside = true,
            "```" => inside = false,
            _ if !inside => {}
            _ => match (line.strip_prefix("$ "), commands.last_mut()) {
                (Some(command), _) => commands.push((command.to_owned(), Vec::new())),
                (None, Some((_, shown))) => shown.push(line.to_owned()),
                (None, None) => panic!("a block begins with a command, not with `{line}`"),
            },
        }
    }
    commands
}

/// True if `printed` is `shown`, whose lines `...` stand for any lines.
fn matches(shown: &[String], printed: &[&str]) -> bool {
    match (shown, printed) {
        ([], printed) => printed.is_empty(),
        ([any, shown @ ..], _) if any == "..." => (0..=printed.len()).any(|at| matches(shown, &printed[at..])),
        ([one, shown @ ..], [first, printed @ ..]) => one.trim_end() == first.trim_end() && matches(shown, printed),
        _ => false,
    }
}

#[test]
fn every_command_of_the_book_prints_what_is_shown() {
    let mut all = Vec::new();
    pages(&book(), &mut all);
    let path = format!("{}:{}", binary().parent().unwrap().display(), std::env::var("PATH").unwrap_or_default());
    let mut count = 0;
    for page in all {
        let folder = tempfile::tempdir().unwrap();
        for (command, shown) in commands(&fs::read_to_string(&page).unwrap()) {
            // That of `fsin` has the environment that tests want.
            let like = fsin(folder.path());
            let mut shell = std::process::Command::new("sh");
            for (name, value) in like.get_envs() {
                match value {
                    Some(value) => shell.env(name, value),
                    None => shell.env_remove(name),
                };
            }
            let output = shell.args(["-c", &command]).env("PATH", &path).current_dir(folder.path()).output().unwrap();
            let text =
                [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
            assert!(output.status.success(), "{}: `{command}`:\n{text}", page.display());
            let printed: Vec<&str> = text.lines().collect();
            assert!(matches(&shown, &printed), "{}: `{command}` prints:\n{text}", page.display());
            count += 1;
        }
    }
    assert!(count >= 12, "only {count} commands in the book");
}

#[test]
fn the_reference_is_what_the_command_says() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(folder.path(), "generate reference made");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let read = |folder: &Path| -> BTreeMap<String, String> {
        let entries = fs::read_dir(folder).unwrap().flatten();
        let named = entries.map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.path()));
        named.map(|(name, path)| (name, fs::read_to_string(path).unwrap())).collect()
    };
    let kept = read(&book().join("reference"));
    for (name, made) in read(&folder.path().join("made")) {
        let same = kept.get(&name) == Some(&made);
        assert!(same, "{name} is not current: fsin generate reference docs/book/src/reference");
    }
}

#[test]
fn links_and_pictures_of_the_book_exist() {
    let mut all = Vec::new();
    pages(&book(), &mut all);
    let summary = fs::read_to_string(book().join("SUMMARY.md")).unwrap();
    for page in &all {
        let text = fs::read_to_string(page).unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let file = link.split('#').next().unwrap();
            if file.is_empty() || file.contains("://") {
                continue;
            }
            assert!(page.parent().unwrap().join(file).exists(), "{}: {link} is absent", page.display());
        }
        let name = page.strip_prefix(book()).unwrap().display().to_string();
        assert!(name == "SUMMARY.md" || summary.contains(&format!("({name})")), "{name} is not in the summary");
    }
}

#[test]
fn man_page_and_completions_know_every_command() {
    let folder = tempfile::tempdir().unwrap();
    let text = |line: &str| {
        let output = run(folder.path(), line);
        assert!(output.status.success(), "{line}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let man = text("generate man");
    let bash = text("generate completions bash");
    for command in ["run", "sweep", "saturation", "plot", "report", "compare", "rerun", "collect", "init", "serve"] {
        assert!(man.contains(&format!(".SH COMMAND {}", command.to_uppercase())), "{command}");
        assert!(
            bash.contains(&format!("fsin__{command}")) || bash.contains(&format!("fsin__subcmd__{command}")),
            "{command}"
        );
    }
    for key in fsin::experiment::KEYS {
        assert!(bash.contains(&format!("--{}", key.name)), "{}", key.name);
        assert!(man.contains(&key.name.replace('-', "\\-")), "{}", key.name);
    }
    for shell in ["zsh", "fish", "powershell", "elvish"] {
        assert!(text(&format!("generate completions {shell}")).contains("saturation"), "{shell}");
    }
}
