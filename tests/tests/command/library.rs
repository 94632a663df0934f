//! The library is the command without a terminal: the same keys, defaults, checks, errors and figures.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::process::Output;
use std::sync::atomic::{AtomicBool, Ordering};

use fsin::experiment::{Kind, check, keys};
use fsin::models::MODELS;
use fsin::trgen::phrase::{Notation, Phrase};
use fsin::{Builder, Experiment, Options, RunResult, Step, Trouble};
use serde_json::Value;
use tests::command::{fsin, run};
use tests::keys::VALUES;

/// Settings as flags, as the command writes them.
struct Flags;

impl Notation for Flags {
    fn setting(&self, key: &str, value: Option<&str>) -> String {
        value.map_or_else(|| format!("--{key}"), |value| format!("--{key} {value}"))
    }
}

/// A text without line breaks and the marks beside them.
fn plain(text: &str) -> String {
    text.split(|letter: char| letter.is_whitespace() || "│╭╰×|^".contains(letter))
        .filter(|word| !word.is_empty())
        .collect()
}

/// The experiment as `fsin config` prints it.
fn config(builder: Builder) -> Result<String, Trouble> {
    let experiment = builder.build()?;
    check(&experiment)?;
    Ok(experiment.to_toml())
}

/// Compares what the library and the command make of the same settings.
#[track_caller]
fn agree(what: &str, of_library: Result<String, Trouble>, of_command: &Output) -> bool {
    let [stdout, stderr] = [&of_command.stdout, &of_command.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    match of_library {
        Ok(text) => {
            assert_eq!(of_command.status.code(), Some(0), "{what}: {stderr}");
            assert_eq!(text, stdout, "{what}");
            true
        }
        Err(trouble) => {
            assert_eq!(of_command.status.code(), Some(2), "{what}: {trouble}\n{stdout}");
            // The command adds to a remedy where a flag looks like a list.
            let said = |phrase: &Phrase| plain(&phrase.written(&Flags));
            assert!(plain(&stderr).contains(&said(&trouble.what())), "{what}: {trouble}\n{stderr}");
            assert!(plain(&stderr).contains(&said(&trouble.remedy())), "{what}: {}\n{stderr}", trouble.remedy());
            false
        }
    }
}

#[test]
fn defaults_are_those_of_the_command() {
    let folder = tempfile::tempdir().unwrap();
    agree("no setting", config(Experiment::builder()), &run(folder.path(), "config"));
    for model in MODELS.rows() {
        let name = model.component.name;
        let of_command = run(folder.path(), &format!("config --network {name}"));
        agree(name, config(Experiment::builder().network(name)), &of_command);
    }
}

#[test]
fn every_key_means_what_it_means_to_the_command() {
    let folder = tempfile::tempdir().unwrap();
    let (mut accepted, mut refused) = (0, 0);
    for key in keys().iter().filter(|key| key.name != "network") {
        let values = VALUES.iter().find(|(name, _)| *name == key.name).map_or(&[][..], |(_, values)| values);
        // A model that understands it; the keys of all experiments, over the default.
        let model = MODELS.rows().iter().find(|model| model.understands(key.name)).unwrap_or(&MODELS.rows()[0]);
        let model = model.component.name;
        let is_switch = key.kind == Kind::Switch;
        for value in values.iter().copied().chain(["", "x:y"]).filter(|value| !is_switch || *value == "true") {
            let mut command = fsin(folder.path());
            command.args(["config", "--network", model]);
            command.arg(if is_switch { format!("--{}", key.name) } else { format!("--{}={value}", key.name) });
            let of_library = config(Experiment::builder().network(model).set(key.name, value));
            let what = format!("{model}, {} = {value:?}", key.name);
            match agree(&what, of_library, &command.output().unwrap()) {
                true => accepted += 1,
                false => refused += 1,
            }
        }
    }
    assert!(accepted > 60 && refused > 100, "{accepted} accepted, {refused} refused");
}

/// The figures of a run that do not depend on machine and time.
fn figures(result: RunResult) -> Value {
    serde_json::to_value(result.reproducible()).unwrap()
}

fn figures_of_command(folder: &Path, line: &str) -> Value {
    let output = run(folder, &format!("{line} --format json"));
    let result: RunResult =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    figures(result)
}

#[test]
fn figures_are_those_of_the_command() {
    let folder = tempfile::tempdir().unwrap();
    let settings: &[&[(&str, &str)]] = &[
        &[("load", "0.5"), ("samples", "3"), ("node-stats", "true")],
        &[("network", "wormhole"), ("cycles", "3000"), ("threads", "2")],
        &[("network", "ethernet"), ("topology", "fattree:4,2"), ("cycles", "20000000")],
        &[("kernel", "all-to-all:tasks=16,bytes=512"), ("placement", "random")],
        &[("routing", "dor"), ("vcs", "1"), ("bubble", "1"), ("load", "1"), ("cycles", "20000")],
    ];
    for settings in settings {
        let of_library = settings.iter().fold(Experiment::builder(), |builder, (key, value)| builder.set(key, value));
        let words = settings.iter().map(|(key, value)| match *value {
            "true" => format!(" --{key}"),
            value => format!(" --{key} {value}"),
        });
        let line: String = ["run".to_owned()].into_iter().chain(words).collect();
        let result = of_library.run().unwrap_or_else(|trouble| panic!("{line}: {trouble}"));
        // Texts name settings, and the command names flags.
        let texts = |mut figures: Value| {
            for name in ["warnings", "notes"] {
                figures[name] = Value::Null;
            }
            figures
        };
        assert_eq!(texts(figures(result)), texts(figures_of_command(folder.path(), &line)), "{line}");
    }
}

#[test]
fn settings_come_from_files_and_texts_too_and_later_ones_win() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("e.toml");
    std::fs::write(&path, "load = 0.2\ntopology = \"mesh:4x4\"\n").unwrap();
    let value = |builder: Builder, key: &str| builder.build().unwrap().settings().value(key).unwrap().to_owned();
    assert_eq!(value(Experiment::builder().load(0.1).file(&path), "load"), "0.2");
    assert_eq!(value(Experiment::builder().file(&path).load(0.1), "load"), "0.1");
    assert_eq!(value(Experiment::builder().text("seed = 7").file(&path), "seed"), "7");
    let refused = Experiment::builder().set("laod", 1).load(2.0).run().unwrap_err();
    assert!(refused.to_string().contains("laod") && refused.remedy().to_string().contains("load"), "{refused}");
    let missing = Experiment::builder().file("nowhere.toml").run().unwrap_err();
    assert!(missing.to_string().contains("nowhere.toml"), "{missing}");
}

#[test]
fn a_run_is_stopped_and_shows_its_progress_from_another_thread() {
    fn is_send<T: Send>(value: T) -> T {
        value
    }
    let experiment = is_send(Experiment::builder().topology("torus:4x4").cycles(u64::from(u32::MAX)).build().unwrap());
    let stop = AtomicBool::new(false);
    let performed = std::thread::scope(|scope| {
        let run = scope.spawn(|| {
            let mut last = 0;
            let mut progress = |step| {
                let Step::Cycles(progress) = step else { panic!("{step:?}") };
                assert!(progress.clock.0 >= last);
                last = progress.clock.0;
                if last > 50_000 {
                    stop.store(true, Ordering::Relaxed);
                }
            };
            experiment.run_with(Options::default().stop(&stop).progress(&mut progress)).unwrap()
        });
        run.join().unwrap()
    });
    assert!(!performed.result.complete && performed.failure.is_none());
    assert!(performed.result.cycles > Some(50_000));
}
