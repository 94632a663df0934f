//! Files of the field as their authors wrote them, where they are there: each is read with the facts that another reader
//! finds, or refused with the reason that is true. The table of the book is made here.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::process::Command;

use tests::command::fsin;
use tests::corpus::{self, Expected, Said, Table, Verdict};
use tests::shared::{aloud, shared_folder, workspace};

/// The page with the table.
const PAGE: &str = "docs/book/src/howto/foreign-files.md";

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
            command.args([
                "run",
                "--network",
                "constant-delay:delay=1us,nodes=4",
                "--size",
                &format!("cdf(\"{shown}\")"),
            ]);
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
    let notes =
        said.found["notes"].as_array().into_iter().flatten().filter_map(|note| note.as_str()).collect::<String>();
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
        let after =
            written.split("| format |").nth(1).and_then(|rest| rest.split_once("\n\n")).map_or("", |(_, after)| after);
        std::fs::write(&page, format!("{before}{text}\n{after}")).unwrap();
    } else {
        // A row that the page has is the one that was made; rows that it lacks are written by UPDATE_EXAMPLES=1.
        for row in text.lines().skip(2) {
            let begin: String = row.split('|').take(2).collect::<Vec<_>>().join("|") + "|";
            let on_page = written.lines().find(|line| line.starts_with(&begin) && line.matches('|').count() == 7);
            match on_page {
                Some(line) => assert_eq!(line, row, "{PAGE}: UPDATE_EXAMPLES=1 writes it"),
                None => aloud(&format!("{PAGE} lacks {row}\n")),
            }
        }
    }
}

/// What `fsin topology` finds in a case, or its message.
fn case(name: &str) -> Option<Result<serde_json::Value, String>> {
    let file = tests::shared::shared_file(&format!("cases/second/{name}"))?;
    let output = fsin(Path::new("."))
        .args(["topology", &format!("graph:{}", file.display()), "--format", "json"])
        .output()
        .unwrap();
    Some(match output.status.code() {
        Some(0) => Ok(serde_json::from_slice(&output.stdout).unwrap()),
        Some(2) => Err(String::from_utf8_lossy(&output.stderr).split_whitespace().collect::<Vec<_>>().join(" ")),
        other => panic!("{name}: exit {other:?}"),
    })
}

/// The numbers of endpoints and of switches of the file.
fn sizes(name: &str) -> Option<(u64, u64)> {
    let found = case(name)?.unwrap_or_else(|error| panic!("{name}: {error}"));
    Some((found["nodes"].as_u64().unwrap(), found["described"]["understood"]["switches"].as_u64().unwrap()))
}

#[test]
fn a_label_is_no_type() {
    if let Some(sizes) = sizes("names-h.gml") {
        assert_eq!(sizes, (5, 5));
    }
}

#[test]
fn files_of_other_simulators_are_read() {
    for (name, expected) in [
        ("switch-latency.topo", (16, 6)),
        ("htsim-leaf_spine_tiny.topo", (32, 6)),
        ("onelink.xml", (2, 1)),
        ("cluster_backbone.xml", (100, 1)),
        ("comment.dot", (3, 3)),
    ] {
        if let Some(sizes) = sizes(name) {
            assert_eq!(sizes, expected, "{name}");
        }
    }
    let Some(list) = tests::shared::shared_file("cases/second/htsim-incast.cm") else { return };
    let line = [
        "run",
        "--network",
        "constant-delay:delay=1us,nodes=432",
        "--cm-unit",
        "us",
        "--max-cycles",
        "1",
        "--format",
        "json",
        "--quiet",
    ];
    let output = fsin(Path::new(".")).args(line).arg("--flows").arg(list).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn what_is_no_network_is_named() {
    for (name, what) in [
        ("weighted.txt", "a list of edges with a weight as third number"),
        ("dup-rate.txt", "rate of an edge stands twice"),
        ("htsim-radix.txt", "line 11"),
    ] {
        if let Some(found) = case(name) {
            let error = found.expect_err(name);
            assert!(error.contains(what) && error.contains("help: "), "{name}: {error}");
        }
    }
    if let Some(found) = case("slurm-one.conf") {
        let format = found.map_or_else(|error| error, |found| found["described"]["format"].to_string());
        assert!(format.contains("Slurm"), "{format}");
    }
}
