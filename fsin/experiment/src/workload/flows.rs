//! Flows of a list, each with its start.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use trgen::catalog::ErrorKind;
use trgen::phrase;
use trgen::synthetic::flows::{self, Flows};
use trgen::{Geometry, TrGen};

use super::{Driven, Driver, Request, Workload, WorkloadFamily};
use crate::conflicts::CYCLE;
use crate::resolve::Experiment;
use crate::settings::{Settings, SettingsError};
use crate::trouble::Trouble;

pub(super) static ROW: WorkloadFamily = WorkloadFamily {
    key: Some("flows"),
    // Starts are counted in cycles.
    keys: &[CYCLE],
    parse: |request: &Request<'_>| {
        let path = PathBuf::from(request.settings.word("flows"));
        Ok(Arc::new(List { path }))
    },
};

/// A list of flows.
#[derive(Debug)]
struct List {
    /// Path of the list.
    path: PathBuf,
}

impl List {
    /// The source of the flows.
    fn source(&self, experiment: &Experiment, geometry: &Geometry) -> Result<Flows, SettingsError> {
        let settings = experiment.settings();
        let refuse = |kind, what: String, remedy: &str| {
            let what = phrase![["flows" => self.path.display()], (": {what}")];
            settings.error("flows", kind, what, remedy.to_owned())
        };
        let text = read(settings, &self.path)?;
        let list =
            flows::parse(&text).map_err(|error| refuse(ErrorKind::Malformed, error.to_string(), error.remedy))?;
        let nodes = geometry.nodes();
        Flows::new(&list, nodes, experiment.pace.cycle).map_err(|index| {
            let node = list[index].source.max(list[index].destination);
            let what = format!("flow {} names node {node}, and the network has {nodes} nodes", index + 1);
            refuse(ErrorKind::OutOfRange, what, "name nodes of the network, from 0")
        })
    }
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
        Ok(Driver::without_remarks(Box::new(self.source(experiment, geometry)?)))
    }
}

impl Driven for Flows {
    fn source(&mut self) -> &mut dyn TrGen {
        self
    }
}
