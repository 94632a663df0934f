//! Application kernels.

use std::path::PathBuf;
use std::sync::Arc;

use trgen::catalog::ErrorKind;
use trgen::synthetic::{Config, traffic};
use trgen::trace::collectives::Choice;
use trgen::trace::kernels::{KernelContext, KernelSpec};
use trgen::trace::placement::PlacementContext;
use trgen::trace::program::Rounds;
use trgen::trace::timeline::Called;
use trgen::{Geometry, phrase};

use super::programs::{application, check_slow, choice_without_rules, misplaced};
use super::synthetic::misfit;
use super::{Driver, Workload, WorkloadFamily};
use crate::conflicts::{COLLECTIVES, RANKS, ROUNDS, SKIPS, TASKS};
use crate::resolve::Experiment;
use crate::settings::{Settings, SettingsError};
use crate::trouble::Trouble;

pub(super) static ROW: WorkloadFamily = WorkloadFamily {
    key: Some("kernel"),
    keys: &[TASKS, RANKS, ROUNDS, SKIPS, COLLECTIVES],
    parse: |request| {
        let settings = request.settings;
        let mut spec: KernelSpec = settings.parsed("kernel")?;
        let folder = settings.folder_of("kernel");
        spec.replace_files(|name| folder.join(name));
        let choice = choice(settings, &spec)?;
        Ok(Arc::new(Kernel { spec, choice, beside: request.beside()? }))
    },
};

/// An application kernel.
#[derive(Debug)]
struct Kernel {
    /// The kernel.
    spec: KernelSpec,
    /// Algorithms of collectives, if any are named.
    choice: Option<Choice>,
    /// Background traffic of nodes without a task.
    beside: Option<Config>,
}

/// The algorithms of collectives that the settings name, if the kernel is a collective that takes one.
fn choice(settings: &Settings, spec: &KernelSpec) -> Result<Option<Choice>, SettingsError> {
    let Some(choice) = choice_without_rules(settings, "a kernel")? else { return Ok(None) };
    let takes = spec.takes(&choice).map_err(|refusal| settings.refused("kernel", refusal))?;
    if takes {
        return Ok(Some(choice));
    }
    let what =
        phrase![["collectives"], (": `{spec}` is no collective of which it names the algorithm, or names its own")];
    let remedy =
        phrase!["leave it out, or use ", ["kernel" => "all-reduce"], ", reduce-scatter, all-gather, broadcast, ..."];
    Err(settings.error("collectives", ErrorKind::Meaningless, what, remedy))
}

/// \[nodes\] Maximum size for which kernels are built during a check: larger ones take seconds, and their runs report
/// errors soon enough.
const MOST_CHECKED: usize = 1024;

impl Kernel {
    /// What the kernel is written for on this network.
    fn context<'a>(&'a self, experiment: &Experiment, geometry: &'a Geometry) -> KernelContext<'a> {
        KernelContext {
            seed: experiment.seed,
            packet_bytes: Some(experiment.units.packet_bytes()),
            sends_end_at_departure: !experiment.network.sends_end_at_arrival(),
            collectives: self.choice.as_ref(),
            ..KernelContext::new(geometry.nodes(), Some(geometry))
        }
    }

    /// The program of the kernel on this network.
    fn program(&self, experiment: &Experiment, geometry: &Geometry) -> Result<Rounds, SettingsError> {
        let context = self.context(experiment, geometry);
        self.spec.rounds(&context).map_err(|refusal| experiment.settings().refused("kernel", refusal))
    }
}

impl Workload for Kernel {
    fn title(&self, _: &dyn Fn(&str) -> String) -> String {
        let mut spec = self.spec.clone();
        spec.replace_files(|path| path.file_name().unwrap_or_default().into());
        format!("kernel {spec}")
    }

    fn understands(&self, key: &str) -> bool {
        ROW.understands(key, self.beside.is_some())
            && !(self.beside.is_some() && (ROUNDS.contains(&key) || SKIPS.contains(&key)))
    }

    fn has_timeline(&self) -> bool {
        true
    }

    fn sources(&self) -> Option<&Config> {
        self.beside.as_ref()
    }

    fn files(&self) -> Vec<PathBuf> {
        self.spec.files()
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
        let context = PlacementContext { geometry, tasks: used, seed: experiment.seed };
        let checked = experiment.placement.check(&context);
        checked.map_err(|refusal| misplaced(experiment, tasks, geometry.nodes(), refusal))
    }

    fn build(&self, experiment: &Experiment, geometry: &Geometry) -> Result<Driver, Trouble> {
        let program = self.program(experiment, geometry)?;
        let mut notes = Vec::new();
        let driven = application(
            experiment,
            program,
            geometry,
            "kernel",
            self.beside.as_ref(),
            (Called::default(), &mut notes),
        )?;
        let known = self
            .spec
            .collectives(&self.context(experiment, geometry))
            .map_err(|refusal| experiment.settings().refused("kernel", refusal))?;
        Ok(Driver { notes, known, ..Driver::without_remarks(driven) })
    }
}
