//! Files of the field as their authors wrote them, where they are there: each is read with the facts that another reader
//! finds, or refused with the reason that is true. The table of the book is made here.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::process::Command;

use tests::command::fsin;
use tests::corpus::{self, Expected, Said, Table, Verdict};
use tests::shared::{aloud, shared_folder, workspace};

/// The page with the table.
const PAGE: &str = "docs/book/src/reference/files.md";

/// Formats that are not judged here: configurations of BookSim have tests of their own.
const ELSEWHERE: &[&str] = &["booksim-config"];

/// The command that reads a file.
fn command(row: &Expected, file: &Path) -> Option<Command> {
    let mut command = fsin(Path::new("."));
    let shown = file.to_string_lossy();
    match row.how.as_str() {
        "topology" => command.args(["topology", &format!("graph:{shown}"), "--format", "json"]),
        "flows" => {
            let nodes = row.option("nodes").unwrap_or("512");
            command.args(["run", "--network", &format!("constant-delay:delay=1us,nodes={nodes}"), "--flows", &shown]);
            if let Some(unit) = row.option("cm-unit") {
                command.args(["--cm-unit", unit]);
            }
            command.args(["--max-cycles", "1", "--format", "json", "--quiet"])
        }
        "trace" | "trace chakra" => {
            command = Command::new(tests::command::trace_prep());
            command.args(["info", &shown, "--format", "json"])
        }
        "cdf" => {
            command.args(["run", "--network", "constant-delay:delay=1us,nodes=4", "--size", &format!("cdf(\"{shown}\")")]);
            command.args(["--cycles", "1000", "--load", "0.1", "--quiet"])
        }
        _ => return None,
    };
    Some(command)
}

/// The verdict on a file.
fn judge(row: &Expected, said: &Said) -> (Verdict, String) {
    let judged = row.judge(said);
    if row.how != "flows" || said.code != Some(0) {
        return judged;
    }
    let facts = row.flow_facts().unwrap_or_default();
    let notes = said.found["notes"].as_array().into_iter().flatten().filter_map(|note| note.as_str()).collect::<String>();
    if notes.contains(&facts) { judged } else { (Verdict::Wrong, format!("`{facts}` is not in {notes}")) }
}

#[test]
fn files_of_the_field_are_read_rightly_or_refused_with_the_reason() {
    let Some(folder) = shared_folder("corpus") else { return };
    let unpacked = tempfile::tempdir().unwrap();
    corpus::unpack(&folder, unpacked.path()).unwrap();
    let mut table = Table::new();
    let mut wrong = Vec::new();
    for row in corpus::expected(&folder).unwrap() {
        if ELSEWHERE.contains(&row.format.as_str()) {
            continue;
        }
        let file = row.path(unpacked.path());
        let Some(command) = command(&row, &file) else { continue };
        let said = corpus::said(command, &file).unwrap();
        let (verdict, what) = judge(&row, &said);
        if matches!(verdict, Verdict::Wrong) {
            wrong.push(format!("{}: {what}", row.file));
        }
        // A refusal names format or place, and a remedy.
        if said.code == Some(2) {
            assert!(said.message.contains("help: "), "{}: {}", row.file, said.message);
        }
        if matches!(verdict, Verdict::Unread) {
            aloud(&format!("{}: {what}\n", row.file));
        }
        table.entry(row.format.clone()).or_default().entry(verdict).or_default().push((row.file.clone(), what));
    }
    let text = corpus::markdown(&table);
    aloud(&text);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let page = workspace().join(PAGE);
    let written = std::fs::read_to_string(&page).unwrap_or_default();
    if std::env::var_os("UPDATE_EXAMPLES").is_some() {
        let before = written.split("| format |").next().unwrap_or("");
        let after = written.split("| format |").nth(1).and_then(|rest| rest.split_once("\n\n")).map_or("", |(_, after)| after);
        std::fs::write(&page, format!("{before}{text}\n{after}")).unwrap();
    } else {
        assert!(written.contains(text.trim_end()), "{PAGE} has another table; UPDATE_EXAMPLES=1 writes it:\n{text}");
    }
}
