//! Experiments beside the files that they read, and every sample of a network file, each with what it gives.

use std::fs;
use std::path::Path;

use fsin_experiment::Experiment;

use super::{found, same};

#[path = "../../../networks/src/tests/samples.rs"]
mod samples;

/// Experiments by name, with the files beside them.
const INPUTS: &str = include_str!("inputs.txt");

/// What an experiment gives that reads these files.
fn with_files<'a>(name: &str, settings: &str, files: impl IntoIterator<Item = (&'a str, String)>) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("inputs").join(name);
    fs::create_dir_all(&folder).unwrap();
    let experiment = ("experiment.toml", settings.replace("; ", "\n"));
    files.into_iter().chain([experiment]).for_each(|(file, text)| fs::write(folder.join(file), text).unwrap());
    found(name, "with-files", &folder, Experiment::builder().file(folder.join("experiment.toml")))
}

#[test]
fn files_give_what_they_gave() {
    let list: String = INPUTS
        .split("\n== ")
        .skip(1)
        .map(|block| {
            let (name, text) = block.split_once('\n').unwrap();
            let (settings, files) = text.split_once("\n-- ").unwrap();
            let files = files.split("\n-- ").map(|file| file.split_once('\n').unwrap());
            with_files(name, settings, files.map(|(file, text)| (file, format!("{}\n", text.trim_end()))))
        })
        .collect();
    same("files", &list);
}

#[test]
fn networks_of_files_carry_what_they_carried() {
    let samples = samples::ALL.into_iter().enumerate();
    let list: String = samples
        .flat_map(|(number, text)| {
            ["vct", "flow", "ethernet"].map(|model| {
                let settings =
                    format!("network = \"{model}\"; topology = \"graph:network\"; kernel = \"all-to-all:bytes=3000\"");
                with_files(&format!("network-{number}-{model}"), &settings, [("network", text.to_owned())])
            })
        })
        .collect();
    same("network_files", &list);
}
