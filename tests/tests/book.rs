//! The book: its reference pages are what the command says of itself, and its links lead somewhere. Its commands are run in
//! `pages.rs`.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use tests::command::run;
use tests::pages::pages;
use tests::shared::workspace;

fn book() -> PathBuf {
    workspace().join("docs/book/src")
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
    let all = pages(&book());
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
