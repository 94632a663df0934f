//! Results and refusals of experiments of every kind, each beside what it was.
//!
//! A number that changes fails here: if that is meant, CHANGELOG says so under **results change**, and the list is
//! accepted with `INSTA_UPDATE=always cargo test -p fsin-experiment`. The results are in `target/tmp/experiments`.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use fsin_experiment::result::RunResult;
use fsin_experiment::{EventKind, Experiment, Session, SessionError};
use serde_json::Value;

/// Experiments by name: their settings, separated by semicolons. Those of other files than experiment files are lines.
const EXPERIMENTS: &str = include_str!("experiments.txt");

/// The name and the text of every experiment.
fn experiments() -> impl Iterator<Item = (&'static str, String)> {
    EXPERIMENTS.split("\n== ").skip(1).map(|block| {
        let (name, text) = block.split_once('\n').unwrap();
        (name, text.replace("; ", "\n"))
    })
}

/// A result without what depends on the machine, as JSON.
fn written(result: RunResult) -> String {
    serde_json::to_string_pretty(&result.reproducible()).unwrap()
}

#[test]
fn results_are_those_that_they_were() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("experiments");
    fs::create_dir_all(&folder).unwrap();
    let mut list = String::new();
    for (name, text) in experiments() {
        let found = match Experiment::builder().text(&text).build() {
            Err(error) => format!("refused: {error}"),
            Ok(experiment) => match experiment.run() {
                Err(trouble) => format!("not to the end: {trouble}"),
                Ok(result) => {
                    let text = written(result);
                    fs::write(folder.join(format!("{name}.json")), &text).unwrap();
                    let value: Value = serde_json::from_str(&text).unwrap();
                    let figures =
                        ["digest", "completion_cycles", "packets_received"].map(|figure| value[figure].to_string());
                    format!("{:08x} {}", crc32fast::hash(text.as_bytes()), figures.join(" "))
                }
            },
        };
        writeln!(list, "{name}: {found}").unwrap();
    }
    insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!("experiments", list);
    });
}

/// A microsecond, and 50 bytes in each nanosecond; a node sends one message after another.
#[test]
fn a_session_tells_of_every_message_and_timer_in_time() {
    let settings = Experiment::builder().network("constant-delay:delay=1us,rate=50GB/s").set("nodes", 4).settings();
    let mut session = Session::new(settings.unwrap()).unwrap();
    session.send(0, 1, 5_000, 7, 40).unwrap();
    session.send(0, 2, 5_000, 8, 41).unwrap();
    session.send(3, 2, 0, 9, 42).unwrap();
    session.schedule(1_000_000, 43).unwrap();
    session.schedule(1_150_000, 44).unwrap();
    assert!(matches!(session.send(0, 4, 1, 0, 0), Err(SessionError::NoSuchNode { node: 4, nodes: 4 })));
    assert_eq!(session.underway(), 3);
    let mut events = Vec::new();
    while session.advance(3_000_000).unwrap() > 0 {
        while let Some(event) = session.poll() {
            events.push((event.time, event.kind, event.tag, event.cookie, event.source.0, event.destination.0));
        }
    }
    let expected = [
        (1_000_000, EventKind::Delivered, 9, 42, 3, 2),
        (1_000_000, EventKind::Timer, 0, 43, 0, 0),
        (1_100_000, EventKind::Delivered, 7, 40, 0, 1),
        (1_150_000, EventKind::Timer, 0, 44, 0, 0),
        (1_200_000, EventKind::Delivered, 8, 41, 0, 2),
    ];
    assert_eq!(events, expected);
    assert_eq!((session.time(), session.underway()), (3_000_000, 0));
    assert!(matches!(session.advance(2_000_000), Err(SessionError::Past { .. })));
}
