//! Application kernels.

use std::path::PathBuf;
use std::sync::Arc;

use trgen::Geometry;
use trgen::synthetic::{Config, traffic};
use trgen::trace::kernels::{self, KernelContext};
use trgen::trace::placement;
use trgen::trace::program::Rounds;

use super::programs::{application, check_slow, misplaced};
use super::synthetic::misfit;
use super::{Driver, Workload, WorkloadFamily};
use crate::conflicts::{RANKS, ROUNDS, TASKS};
use crate::resolve::Experiment;
use crate::settings::SettingsError;
use crate::trouble::Trouble;

pub(super) static ROW: WorkloadFamily = WorkloadFamily {
    key: Some("kernel"),
    keys: &[TASKS, RANKS, ROUNDS],
    parse: |request| {
        let folder = request.settings.folder_of("kernel");
        let spec = kernels::with_files(request.settings.word("kernel"), |name| folder.join(name));
        Ok(Arc::new(Kernel { spec, beside: request.beside()? }))
    },
};

/// An application kernel.
#[derive(Debug)]
struct Kernel {
    /// Name and parameters of the kernel.
    spec: String,
    /// Background traffic of nodes without a task.
    beside: Option<Config>,
}

/// \[nodes\] Maximum size for which kernels are built during a check: larger ones take seconds, and their runs report
/// errors soon enough.
const MOST_CHECKED: usize = 1024;

impl Kernel {
    /// The program of the kernel on this network.
    fn program(&self, experiment: &Experiment, geometry: &Geometry) -> Result<Rounds, SettingsError> {
        let context = KernelContext {
            seed: experiment.seed,
            packet_bytes: Some(experiment.units.packet_bytes()),
            sends_end_at_departure: !experiment.network.sends_end_at_arrival(),
            ..KernelContext::new(geometry.nodes(), Some(geometry))
        };
        kernels::rounds(&self.spec, &context).map_err(|refusal| experiment.settings().refused("kernel", refusal))
    }
}

impl Workload for Kernel {
    fn title(&self, _: &dyn Fn(&str) -> String) -> String {
        format!("kernel {}", kernels::with_files(&self.spec, |path| path.file_name().unwrap_or_default().into()))
    }

    fn understands(&self, key: &str) -> bool {
        ROW.understands(key, self.beside.is_some()) && !(self.beside.is_some() && ROUNDS.contains(&key))
    }

    fn has_timeline(&self) -> bool {
        true
    }

    fn sources(&self) -> Option<&Config> {
        self.beside.as_ref()
    }

    fn files(&self) -> Vec<PathBuf> {
        kernels::files(&self.spec)
    }

    fn check(&self, experiment: &Experiment) -> Result<(), SettingsError> {
        let geometry = experiment.geometry();
        if let Some(config) = &self.beside {
            traffic::background(config).map_err(|error| misfit(experiment, &error))?;
        }
        if geometry.nodes() > MOST_CHECKED {
            return Ok(());
        }
        let program = self.program(experiment, geometry)?.first;
        check_slow(experiment, &program)?;
        let tasks = program.tasks.len();
        let used = tasks.div_ceil(experiment.tasks_per_node);
        placement::check(&experiment.placement, used, geometry, experiment.seed)
            .map_err(|refusal| misplaced(experiment, tasks, geometry.nodes(), refusal))
    }

    fn build(&self, experiment: &Experiment, geometry: &Geometry) -> Result<Driver, Trouble> {
        let program = self.program(experiment, geometry)?;
        let mut notes = Vec::new();
        let driven = application(experiment, program, geometry, "kernel", self.beside.as_ref(), &mut notes)?;
        let known = kernels::collectives(&self.spec, geometry.nodes(), Some(geometry))
            .map_err(|refusal| experiment.settings().refused("kernel", refusal))?;
        Ok(Driver { notes, known, ..Driver::without_remarks(driven) })
    }
}
