//! Flows of a list, each with its start.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fsin_core::topology::Topology as _;
use fsin_core::words::counted;
use trgen::catalog::ErrorKind;
use trgen::phrase;
use trgen::phrase::Phrase;
use trgen::synthetic::flows::{self, Flows, Reading};
use trgen::{Geometry, NodeId, TrGen};

use super::{Driven, Driver, Request, Workload, WorkloadFamily};
use crate::conflicts::CYCLE;
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
        let names = Names::of(experiment);
        let node = |word: &str| names.node(word);
        let reading = Reading { node: &node, cm_unit: self.cm_unit, ignores_classes: self.ignores_classes };
        let list = flows::read(&text, &reading)
            .map_err(|error| refuse(ErrorKind::Malformed, error.to_string(), error.remedy))?;
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

/// Nodes as a list names them: by their names in the file of the network, else by their numbers. A network whose file
/// numbers its nodes, switches among them, has these numbers.
struct Names<'a> {
    numbers: Option<&'a [Option<u32>]>,
    /// By name of a host, or of a switch with one endpoint.
    endpoints: HashMap<&'a str, NodeId>,
}

impl<'a> Names<'a> {
    fn of(experiment: &'a Experiment) -> Self {
        let network = experiment.topology().and_then(|topology| topology.switched());
        let numbers = network.and_then(|network| network.understood()?.numbers.as_deref());
        let mut endpoints = HashMap::new();
        if let Some(network) = network.filter(|network| network.is_described()) {
            let mut homes: HashMap<NodeId, Option<NodeId>> = HashMap::new();
            for endpoint in (0..network.endpoints()).map(NodeId::at) {
                match network.name(endpoint) {
                    Some(name) => drop(endpoints.insert(name, endpoint)),
                    None => {
                        let only = homes.entry(network.fabric().home(endpoint).0);
                        only.and_modify(|only| *only = None).or_insert(Some(endpoint));
                    }
                }
            }
            let named = homes.into_iter().filter_map(|(switch, only)| Some((network.name(switch)?, only?)));
            endpoints.extend(named);
        }
        Self { numbers, endpoints }
    }

    fn node(&self, word: &str) -> Result<NodeId, String> {
        let number = word.parse::<u32>().ok();
        if let (Some(numbers), Some(number)) = (self.numbers, number) {
            return match numbers.get(number as usize) {
                Some(Some(endpoint)) => Ok(NodeId(*endpoint)),
                Some(None) => Err(format!("node {number} of the network's file is a switch")),
                None => Err(format!("node {number}, and the network's file has {} nodes", numbers.len())),
            };
        }
        self.endpoints.get(word).copied().or(number.map(NodeId)).ok_or_else(|| {
            let what: String = word.chars().take(40).collect();
            format!("`{what}` is not a node: no number, and no name of a host or of a switch with one endpoint")
        })
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
        settings.error("flows", ErrorKind::Unreadable, what, "give the path of a list of flows that you may read")
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
