//! Only commands write flags: below them, settings are data.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};

/// Where flags are written: commands, and what starts other programs.
const WRITE_FLAGS: [&str; 3] = ["cli", "slurm.rs", "stamp"];

#[test]
fn no_literal_below_the_commands_has_a_flag() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    for folder in ["trgen", "fsin"] {
        gather(&workspace.join(folder), &mut files);
    }
    assert!(files.len() > 150, "only {} files were found", files.len());
    let mut found = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        // Tests have notations of their own.
        let code = text.split("#[cfg(test)]").next().unwrap();
        found.extend(literals(code).filter(|text| has_flag(text)).map(|text| format!("{}: {text}", file.display())));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn a_flag_in_a_literal_is_found() {
    let code = "// \"--vcs\"\nlet a = '\"'; f(\"use \\\" --vcs 3\", '\\'', \"a -- b, var(--s1), --\")";
    let found: Vec<&str> = literals(code).collect();
    assert_eq!(found, ["use \\\" --vcs 3", "a -- b, var(--s1), --"]);
    assert_eq!(found.into_iter().map(has_flag).collect::<Vec<_>>(), [true, false]);
}

fn gather(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if WRITE_FLAGS.contains(&name) || matches!(name, "tests" | "benches" | "target") {
            continue;
        }
        if path.is_dir() {
            gather(&path, files);
        } else if name.ends_with(".rs") {
            files.push(path);
        }
    }
}

/// True if a text has two dashes and a word of two letters or more behind a blank, a bracket or a quotation mark. Variables of
/// CSS have one letter and a number, or stand in `var()`.
fn has_flag(text: &str) -> bool {
    let text = text.replace("var(--", "");
    text.match_indices("--").any(|(at, _)| {
        let begins = text[..at].chars().next_back().is_none_or(|before| " (`'\"".contains(before));
        let word: String = text[at + 2..].chars().take_while(char::is_ascii_lowercase).collect();
        begins && word.len() > 1
    })
}

/// The literals of a source file that has no raw ones with quotation marks in them.
fn literals(code: &str) -> impl Iterator<Item = &str> {
    let mut rest = code;
    std::iter::from_fn(move || {
        loop {
            let at = rest.find(['"', '\'', '/'])?;
            rest = &rest[at..];
            if let Some(behind) = rest.strip_prefix('"') {
                let end = behind.match_indices('"').find(|&(end, _)| {
                    let slashes = behind[..end].len() - behind[..end].trim_end_matches('\\').len();
                    slashes.is_multiple_of(2)
                })?;
                let (literal, behind) = behind.split_at(end.0);
                rest = &behind[1..];
                return Some(literal);
            }
            rest = if rest.starts_with("//") {
                rest.find('\n').map_or("", |end| &rest[end..])
            } else if rest.starts_with("'\\") {
                // An escape, then the end of it.
                rest.get(3..)?.find('\'').map_or("", |end| &rest[3 + end + 1..])
            } else {
                // A letter in quotation marks, a lifetime or a division.
                let mut letters = rest.char_indices().skip(1);
                match (letters.next(), letters.next()) {
                    (Some(_), Some((end, '\''))) if rest.starts_with('\'') => &rest[end + 1..],
                    _ => &rest[1..],
                }
            };
        }
    })
}
