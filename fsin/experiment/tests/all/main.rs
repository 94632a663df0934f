//! Results and refusals of experiments of every kind, each beside what it was.
//!
//! A number that changes fails here: if that is meant, CHANGELOG says so under **results change**, and the list is
//! accepted with `INSTA_UPDATE=always cargo test -p fsin-experiment`. The results are in `target/tmp/experiments`.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod inputs;
mod words;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use fsin_experiment::legacy::{Word, translate};
use fsin_experiment::result::RunResult;
use fsin_experiment::{Builder, EventKind, Experiment, Session, SessionError};
use serde_json::Value;
use trgen::phrase::Plain;

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

/// What an experiment gives: a checksum of its result with a few figures, or the error. Its result is kept in a folder
/// below `target/tmp`. It runs again from the file that it writes, which names what it reads from everywhere: the
/// folder `here`.
fn found(name: &str, kept: &str, here: &Path, builder: Builder) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(kept);
    fs::create_dir_all(&folder).unwrap();
    let here = format!("{}/", here.display());
    let found = match builder.build() {
        Err(error) => format!("refused: {error}; {}", error.error.remedy().written(&Plain)),
        Ok(experiment) => match experiment.run() {
            Err(trouble) => format!("not to the end: {trouble}"),
            Ok(result) => {
                let text = written(result).replace(&here, "");
                fs::write(folder.join(format!("{name}.json")), &text).unwrap();
                let value: Value = serde_json::from_str(&text).unwrap();
                let figures =
                    ["digest", "completion_cycles", "packets_received"].map(|figure| value[figure].to_string());
                let again = Experiment::builder().text(&experiment.to_toml()).build().unwrap();
                let again = written(again.run().unwrap()).replace(&here, "");
                let differing = text.lines().zip(again.lines()).find(|(one, other)| one != other);
                assert_eq!(differing, None, "{name} run again from its own file");
                assert_eq!(text.lines().count(), again.lines().count(), "{name} run again from its own file");
                format!("{:08x} {}", crc32fast::hash(text.as_bytes()), figures.join(" "))
            }
        },
    };
    format!("{name}: {}\n", found.replace(&here, ""))
}

/// Holds a list beside what it was.
fn same(name: &str, list: &str) {
    insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!(name, list);
    });
}

#[test]
fn results_are_those_that_they_were() {
    let here = std::env::current_dir().unwrap();
    let list: String = experiments()
        .map(|(name, text)| found(name, "experiments", &here, Experiment::builder().text(&text)))
        .collect();
    same("experiments", &list);
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

/// Words of the original, and what they are here.
#[test]
fn words_of_the_original_mean_what_they_meant() {
    let lines = [
        "topo=torus_8_8 routing=dim rmode=smart vc=bubble bsize=2 nchan=3 tql=4 iql=8 plength=16 tpattern=uniform load=0.3",
        "topo=torus_8_8 rmode=dor vc=double tpattern=hotspot_10 shotmode=1 shotsize=5 load=0.2",
        "topo=mesh_4_4 tpattern=transpose load=0.5 nsamples=4 obtained=200 warmup=1000 rseed=13",
        "topo=fattree_4_3 tpattern=complement load=0.4 r_prob=0.5 trigger_min=1 trigger_max=3",
        "topo=torus_4_4 tracefile=a.trc placement=shift_2 trace_instances=2 bandwidth=100",
        "topo=torus_8_8 shot=10 r_prob=0.5 trigger_max=2",
        "topo=icube_4_4_2 tpattern=tornado load=0.1 drop_packets=1 extract=1",
        "topo=circulant_20_3 global_cc=10 load=0.1 timeout_upper_limit=100 timeout_lower_limit=50 lbr=1",
        "topo=twisted_8_4 sk_yx=2 faults=3 load=0.1 nways=1",
        "tpology=torus_8_8 load=much",
    ];
    let mut list = String::new();
    for line in lines {
        let words: Vec<Word> = line
            .split(' ')
            .map(|word| word.split_once('=').unwrap())
            .map(|(name, value)| Word::new(name, value))
            .collect();
        let found = match translate(&words) {
            Err(error) => format!("refused: {error}"),
            Ok(found) => {
                let settings: Vec<String> =
                    found.settings.iter().map(|(key, value)| format!("{key}={value}")).collect();
                let notes: Vec<String> = found.notes().map(|note| format!("\n    {}", note.written(&Plain))).collect();
                format!("{}{}", settings.join(" "), notes.concat())
            }
        };
        writeln!(list, "{line}\n  {found}").unwrap();
    }
    same("words_of_the_original", &list);
}
