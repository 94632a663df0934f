//! `fsin rerun`: verifies that stored results, in a folder or in a parcel, are reproducible.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use clap::ArgMatches;
use fsin::experiment::{Experiment, Inputs, Kind, RunPlan, bare_texts, key, without_folders};
use fsin::result::{Manifest, RunResult};
use fsin::sweep::{Collected, Plan, Point, Row, damage, open_unchecked};
use fsin::words::counted;
use serde_json::{Map, Value};
use trgen::Cycle;

use crate::cli::many::pack::Unpacked;
use crate::cli::run::perform::{OneOfMany, perform_one};
use crate::cli::run::progress::Points;
use crate::cli::{Complaint, Exit, Flags, interrupt, output};

/// Maximum number of differences to show for each point.
const SHOWN: usize = 5;

/// Runs stored results again.
pub(crate) fn rerun(matches: &ArgMatches) -> Result<Exit, Complaint> {
    let document = output::Document::open(matches)?;
    let named = matches.get_one::<PathBuf>("folder").cloned().unwrap_or_default();
    let parcel = if named.is_file() { Some(Unpacked::open(&named)?) } else { None };
    let folder = parcel.as_ref().map_or(named, |parcel| parcel.folder.clone());
    let (plan, collected) = open_unchecked(&folder)?;
    if collected.rows.is_empty() {
        let what = format!("{}: no point has run", folder.display());
        return Err(Complaint::new(Exit::Usage, what, "run it first: fsin sweep --resume -o DIR"));
    }
    let missing = collected.missing.len() + collected.failed.len();
    if missing > 0 && !matches.get_flag("quiet") {
        let all = plan.points.len();
        output::tell(&format!(
            "warning: {}: {missing} of {} no result to be run again",
            folder.display(),
            counted(all, "point has", "points have")
        ));
    }
    let single = plan.points.len() == 1 && folder.join("result.json").exists();
    let jobs = matches.get_one::<usize>("jobs").copied();
    let jobs = jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let quiet = matches.get_flag("quiet");
    let stopped = tell_stopped(&plan, &collected, quiet);
    let stop = interrupt::listen("stopping, without an answer; again to stop at once")?;
    let meter = Points::new(quiet, collected.rows.len());
    let next = AtomicUsize::new(0);
    let found: Mutex<Vec<(usize, Vec<String>)>> = Mutex::new(Vec::new());
    let work = || {
        while !stop.load(Ordering::Relaxed) {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(row) = collected.rows.get(number) else { return };
            let place = if single { folder.clone() } else { folder.join("points").join(&plan.points[row.index].id) };
            let differences = check(&plan, &collected, number, &place, jobs == 1);
            if let (Some(differences), Ok(mut found)) = (differences, found.lock()) {
                found.push((row.index, differences));
            }
            meter.one_more();
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, collected.rows.len()) {
            scope.spawn(work);
        }
    });
    drop(meter);
    if stop.load(Ordering::Relaxed) {
        return Ok(Exit::Interrupted);
    }
    let mut found = found.into_inner().unwrap_or_default();
    found.sort();
    let differing: Vec<_> = found.iter().filter(|(_, differences)| !differences.is_empty()).collect();
    let mut text = String::new();
    for (index, differences) in &differing {
        text.push_str(&format!("different: {}\n", plan.describe(&plan.points[*index])));
        for difference in differences.iter().take(SHOWN) {
            text.push_str(&format!("  {difference}\n"));
        }
        if differences.len() > SHOWN {
            text.push_str(&format!("  and {} more\n", differences.len() - SHOWN));
        }
    }
    text.push_str(&format!(
        "{} of {} the same to the last digit{}\n",
        found.len() - differing.len(),
        counted(found.len(), "result is", "results are"),
        match stopped {
            0 => String::new(),
            stopped => format!(" ({stopped} up to where the run was stopped)"),
        }
    ));
    document.print(&text)?;
    Ok(if differing.is_empty() { Exit::Done } else { Exit::Failed })
}

/// Runs a point again and returns the differences between the stored and the new result; `None` if the user stopped it.
/// `number` is the index of the stored result, and `alone` tells that no other point runs at the same time.
fn check(plan: &Plan, collected: &Collected, number: usize, folder: &Path, alone: bool) -> Option<Vec<String>> {
    let row = &collected.rows[number];
    let point = &plan.points[row.index];
    let is_single = point.values.is_empty() && plan.axes.is_empty();
    let mut differences = Vec::new();
    // A point of a compact sweep has no files, and its line has a checksum.
    if is_single || folder.exists() {
        check_files(folder, plan, row, is_single, &mut differences);
    }
    let experiment = match point.resolve() {
        Ok(experiment) => experiment,
        Err(error) => {
            let why = error.error.what().written(&Flags);
            return Some(vec![format!("the experiment is not valid any more: {why}")]);
        }
    };
    let inputs: Vec<String> = Inputs::default().of(&experiment).into_iter().map(|input| input.sha256).collect();
    let before = row.result.manifest.inputs.iter().map(|input| input.sha256.as_str());
    if before.ne(inputs.iter().map(String::as_str)) {
        differences.push("input files are not those that were read".to_owned());
    }
    let limit = stopped_after(row, &experiment).map(|(count, _)| count);
    match perform_one(&experiment, OneOfMany { limit, ..OneOfMany::new(interrupt::flag(), alone) }) {
        Ok(None) => return None,
        Ok(Some(mut result)) => {
            bare_texts(&mut result);
            compare("", &without_paths(&row.result), &without_paths(&result.reproducible()), &mut differences);
        }
        Err(complaint) => differences.push(format!("it does not run any more: {complaint}")),
    }
    Some(differences)
}

/// The text of the experiment that is stored with a point.
fn planned(point: &Point, is_single: bool) -> String {
    if is_single { point.experiment.clone() } else { point.file() }
}

/// Compares the files of a stored point with each other and with the plan.
fn check_files(folder: &Path, plan: &Plan, row: &Row, is_single: bool, differences: &mut Vec<String>) {
    match damage(folder, plan.has_checksums() && !is_single) {
        Ok(damaged) => differences.extend(damaged),
        Err(error) => differences.push(error.to_string()),
    }
    match std::fs::read_to_string(folder.join("experiment.toml")) {
        Ok(text) if text == planned(&plan.points[row.index], is_single) => {}
        Ok(_) => differences.push("experiment.toml is not the experiment that was planned".to_owned()),
        Err(error) => differences.push(format!("experiment.toml: {error}")),
    }
    let manifest = std::fs::read(folder.join("manifest.json")).ok();
    let manifest: Option<Manifest> = manifest.and_then(|text| serde_json::from_slice(&text).ok());
    if manifest.as_ref() != Some(&row.result.manifest) {
        differences.push("manifest.json is not the manifest in result.json".to_owned());
    }
}

/// The number of cycles or events after which a stored run was stopped before its end, and the unit; `None` if the run
/// completed, failed, or reached its limit of cycles.
fn stopped_after(row: &Row, experiment: &Experiment) -> Option<(u64, &'static str)> {
    let result = &row.result;
    if result.failure.is_some() || result.complete {
        return None;
    }
    match (result.cycles, experiment.plan) {
        (Some(cycles), RunPlan::ToEnd(limit)) if cycles >= limit.since(Cycle::FIRST) => None,
        (Some(cycles), _) => Some((cycles, "cycles")),
        (None, _) => result.events.map(|events| (events, "events")),
    }
}

/// Lists the stored runs that were stopped before their end, and returns their number.
fn tell_stopped(plan: &Plan, collected: &Collected, quiet: bool) -> usize {
    let stopped = collected.rows.iter().filter_map(|row| {
        let experiment = plan.points[row.index].resolve().ok()?;
        stopped_after(row, &experiment)
    });
    stopped
        .inspect(|(count, unit)| {
            if !quiet {
                let what = format!("the stored run was stopped after {count} {unit}, before its end");
                output::tell(&format!("note: {what}: it is run again up to there"));
            }
        })
        .count()
}

/// The figures of a result without the paths of files. The contents of files are compared by their hashes, and a path
/// may have been relative to another folder.
fn without_paths(result: &RunResult) -> Map<String, Value> {
    let mut result = result.clone();
    result.experiment.retain(|name, _| key(name).is_none_or(|key| key.kind != Kind::Path));
    for (name, value) in &mut result.experiment {
        if let Value::String(word) = value {
            *word = without_folders(name, std::mem::take(word));
        }
    }
    result.to_map()
}

/// Adds a line for every figure that differs. `path` is the name of the object that contains the figures.
fn compare(path: &str, stored: &Map<String, Value>, new: &Map<String, Value>, differences: &mut Vec<String>) {
    for (name, value) in stored {
        compare_values(&format!("{path}{name}"), value, new.get(name).unwrap_or(&Value::Null), differences);
    }
    let added = new.iter().filter(|(name, value)| !stored.contains_key(*name) && !value.is_null());
    differences.extend(added.map(|(name, _)| format!("{path}{name} is not stored")));
}

/// Adds a line for every difference between two values; `path` is their name.
fn compare_values(path: &str, stored: &Value, new: &Value, differences: &mut Vec<String>) {
    match (stored, new) {
        (Value::Object(stored), Value::Object(new)) => compare(&format!("{path}."), stored, new, differences),
        (Value::Array(stored), Value::Array(new)) if stored.len() == new.len() => {
            for (index, (stored, new)) in stored.iter().zip(new).enumerate() {
                compare_values(&format!("{path}[{index}]"), stored, new, differences);
            }
        }
        (stored, new) if stored == new => {}
        (stored, new) => differences.push(format!("{path}: stored {stored}, now {new}")),
    }
}
