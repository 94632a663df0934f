//! Flows of a list, each with its start.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use fsin_core::words::counted;
use trgen::catalog::ErrorKind;
use trgen::phrase;
use trgen::phrase::Phrase;
use trgen::synthetic::flows::{self, Flows, Reading};
use trgen::{Geometry, TrGen};

use super::{Driven, Driver, Request, Workload, WorkloadFamily};
use crate::conflicts::CYCLE;
use crate::foreign;
use crate::resolve::Experiment;
use crate::settings::{Settings, SettingsError};
use crate::trouble::Trouble;

pub(super) static ROW: WorkloadFamily = WorkloadFamily {
    key: Some("flows"),
    // Starts are counted in cycles.
    keys: &[CYCLE, &["cm-unit"]],
    parse: |request: &Request<'_>| {
        let settings = request.settings;
        let word = settings.word("flows");
        let (path, ignores_classes) = word.strip_suffix(",ignore=class").map_or((word, false), |path| (path, true));
        let cm_unit = match settings.word("cm-unit") {
            "" => None,
            "us" => Some(1_000_000),
            "ps" => Some(1),
            other => {
                let what = phrase![["cm-unit" => other], " is no unit of htsim's lists"];
                return Err(settings.error("cm-unit", ErrorKind::UnknownName, what, "write us (UEC) or ps (NDP)"));
            }
        };
        Ok(Arc::new(List { path: PathBuf::from(path), cm_unit, ignores_classes }))
    },
};

/// A list of flows.
#[derive(Debug)]
struct List {
    /// Path of the list.
    path: PathBuf,
    /// \[ps\] What starts of htsim's lists count.
    cm_unit: Option<u64>,
    /// True to take all flows as class 0.
    ignores_classes: bool,
}

impl List {
    /// The source of the flows, and what a reader of results should know of the list.
    fn source(&self, experiment: &Experiment, geometry: &Geometry) -> Result<(Flows, Vec<Phrase>), SettingsError> {
        let settings = experiment.settings();
        let refuse = |kind, what: String, remedy: &str| {
            let what = phrase![["flows" => self.path.display()], (": {what}")];
            settings.error("flows", kind, what, remedy.to_owned())
        };
        let text = read(settings, &self.path)?;
        let node = |word: &str| experiment.geometry().find_listed(word);
        let reading = Reading { node: &node, cm_unit: self.cm_unit, ignores_classes: self.ignores_classes };
        let list = flows::read(&text, &reading).map_err(|error| {
            let refused = refuse(ErrorKind::Malformed, error.to_string(), error.remedy);
            match foreign::taken_by(&self.path, foreign::Kind::Flows) {
                Some(remedy) => settings.error("flows", ErrorKind::Malformed, refused.error.what().clone(), remedy),
                None => refused,
            }
        })?;
        if self.cm_unit.is_some() && !list.is_htsim() {
            let what = phrase![["cm-unit"], (" has no meaning: {} is {}", self.path.display(), list.format)];
            return Err(settings.error(
                "cm-unit",
                ErrorKind::Meaningless,
                what,
                "leave it out: it is for .cm of htsim",
            ));
        }
        let nodes = geometry.nodes();
        let source = Flows::of(&list, nodes, experiment.pace.cycle).map_err(|index| {
            let flow = list.flows[index];
            let node = flow.source.max(flow.destination);
            let what = format!("flow {} names node {node}, and the network has {nodes} nodes", index + 1);
            refuse(ErrorKind::OutOfRange, what, "name nodes of the network, from 0")
        })?;
        let mut notes = vec![phrase![["flows" => self.path.display()], (": {}", summary(&list))]];
        notes.extend(list.notes.iter().map(|note| phrase![["flows" => self.path.display()], (": {note}")]));
        Ok((source, notes))
    }
}

/// The list in a few words.
fn summary(list: &flows::List) -> String {
    let bytes: u128 = list.flows.iter().map(|flow| u128::from(flow.bytes)).sum();
    let starts = || list.flows.iter().map(|flow| flow.start);
    let time = |start: Option<u64>| start.map_or_else(String::new, fsin_core::topology::time_text);
    let waiting = list.links.iter().filter(|links| links.after.is_some()).count();
    let waiting = if waiting == 0 {
        String::new()
    } else {
        format!("; {waiting} wait for one of {} triggers", list.triggers.len())
    };
    format!(
        "{}, {} of {bytes} bytes in all, starts from {} to {}{waiting}",
        list.format,
        counted(list.flows.len(), "flow", "flows"),
        time(starts().min()),
        time(starts().max())
    )
}

/// The text of the list.
fn read(settings: &Settings, path: &Path) -> Result<String, SettingsError> {
    std::fs::read_to_string(path).map_err(|error| {
        let what = phrase![["flows" => path.display()], ": the file cannot be read: {error}"];
        let remedy = foreign::taken_by(path, foreign::Kind::Flows);
        let remedy = remedy.unwrap_or_else(|| "give the path of a list of flows that you may read".into());
        settings.error("flows", ErrorKind::Unreadable, what, remedy)
    })
}

impl Workload for List {
    fn title(&self, _: &dyn Fn(&str) -> String) -> String {
        format!("flows {}", self.path.file_name().unwrap_or(self.path.as_os_str()).to_string_lossy())
    }

    fn understands(&self, key: &str) -> bool {
        ROW.understands(key, false)
    }

    fn has_tasks(&self) -> bool {
        false
    }

    fn files(&self) -> Vec<PathBuf> {
        vec![self.path.clone()]
    }

    fn build(&self, experiment: &Experiment, geometry: &Geometry) -> Result<Driver, Trouble> {
        let (source, notes) = self.source(experiment, geometry)?;
        Ok(Driver { notes, ..Driver::without_remarks(Box::new(source)) })
    }
}

impl Driven for Flows {
    fn source(&mut self) -> &mut dyn TrGen {
        self
    }
}
