//! What drives an experiment: its source of traffic, with what is known of it.

use std::collections::BTreeMap;

use trgen::catalog::Refusal;
use trgen::synthetic::source::Config;
use trgen::synthetic::traffic::{self, Misfit, Shot, Word};
use trgen::synthetic::{Background, Traffic as Synthetic};
use trgen::trace::formats;
use trgen::trace::kernels;
use trgen::trace::placement::place;
use trgen::trace::program::Program;
use trgen::trace::replay::Replay;
use trgen::{Geometry, NodeId, TrGen};

use super::execute::Trouble;
use super::resolve::{Experiment, Traffic};
use super::settings::{Origin, SettingsError};

/// The source of traffic of an experiment.
#[derive(Debug)]
pub struct Driver {
    pub(super) kind: Kind,
    /// What a reader of the figures must know.
    pub warnings: Vec<String>,
    /// What a reader of the figures may want to know.
    pub notes: Vec<String>,
    pub(super) collectives: BTreeMap<&'static str, u64>,
}

#[derive(Debug)]
pub(super) enum Kind {
    Synthetic(Box<Synthetic>),
    Application(Box<Replay>),
    /// An application, and traffic of the nodes without a task.
    Beside(Box<Background<Replay>>),
}

impl Driver {
    /// Builds the source for a network of this shape.
    ///
    /// # Errors
    /// Settings that turn out to be unusable together, a trace that cannot be read.
    pub fn new(experiment: &Experiment, geometry: &Geometry) -> Result<Self, Trouble> {
        let mut driver = Self {
            kind: match &experiment.traffic {
                Traffic::Synthetic(config) => Kind::Synthetic(Box::new(synthetic(experiment, config)?)),
                Traffic::Kernel { spec, beside } => {
                    let program = kernel(experiment, spec, geometry)?;
                    application(experiment, program, geometry, "kernel", beside.as_ref())?
                }
                Traffic::Trace { path, options, beside } => {
                    let trace = formats::read(path, options)?;
                    return Ok(Self {
                        kind: application(experiment, trace.program, geometry, "trace", beside.as_ref())?,
                        warnings: trace.warnings,
                        notes: trace.notes,
                        collectives: trace.collectives,
                    });
                }
            },
            warnings: Vec::new(),
            notes: Vec::new(),
            collectives: BTreeMap::new(),
        };
        if let Kind::Beside(_) = driver.kind {
            driver.notes.push("packets of all figures include those of the traffic beside the application".to_owned());
        }
        Ok(driver)
    }

    /// The source itself.
    pub fn source(&mut self) -> &mut dyn TrGen {
        match &mut self.kind {
            Kind::Synthetic(traffic) => &mut **traffic,
            Kind::Application(replay) => &mut **replay,
            Kind::Beside(background) => &mut **background,
        }
    }

    /// The application, if there is one.
    #[must_use]
    pub fn replay(&self) -> Option<&Replay> {
        match &self.kind {
            Kind::Synthetic(_) => None,
            Kind::Application(replay) => Some(replay),
            Kind::Beside(background) => Some(background.main()),
        }
    }

    /// \[phit/cycle\] That all nodes together are to send; `None` where nothing steady is asked for.
    #[must_use]
    pub fn offered(&self) -> Option<f64> {
        match &self.kind {
            Kind::Synthetic(traffic) => traffic.offered(),
            Kind::Application(_) | Kind::Beside(_) => None,
        }
    }

    /// The shots that have ended, for traffic of shots.
    #[must_use]
    pub fn shots(&self) -> Option<&[Shot]> {
        match &self.kind {
            Kind::Synthetic(traffic) => traffic.shots(),
            Kind::Application(_) | Kind::Beside(_) => None,
        }
    }
}

/// A refusal, said of the setting that it is about.
fn misfit(experiment: &Experiment, misfit: &Misfit) -> SettingsError {
    let settings = experiment.settings();
    let key = match misfit.word {
        Word::Lengths => "packet",
        Word::Pattern => "traffic",
        Word::Size => "size",
        Word::Process if settings.is_set("shot") => "shot",
        Word::Process if settings.is_set("temporal") => "temporal",
        Word::Process => "load",
    };
    settings.refused(key, &misfit.refusal)
}

fn synthetic(experiment: &Experiment, config: &Config) -> Result<Synthetic, SettingsError> {
    let settings = experiment.settings();
    let traffic = Synthetic::new(config).map_err(|error| misfit(experiment, &error))?;
    if !traffic.uses_load() && settings.origin("load") == Origin::Flag {
        let what = "--load has no meaning where every source has a load of its own";
        return Err(settings.error("load", what, "leave it out, or leave out load= of one source"));
    }
    Ok(traffic)
}

fn kernel(experiment: &Experiment, spec: &str, geometry: &Geometry) -> Result<Program, SettingsError> {
    kernels::parse_seeded(spec, geometry.nodes(), Some(geometry), experiment.router.seed)
        .map_err(|refusal| experiment.settings().refused("kernel", &refusal))
}

fn application(
    experiment: &Experiment,
    program: Program,
    geometry: &Geometry,
    key: &'static str,
    beside: Option<&Config>,
) -> Result<Kind, SettingsError> {
    let settings = experiment.settings();
    let (tasks, nodes) = (program.tasks.len(), geometry.nodes());
    let placement = place(&experiment.placement, tasks, nodes, experiment.router.seed).map_err(|refusal| {
        let key = if tasks > nodes { "topology" } else { "placement" };
        settings.refused(key, &refusal)
    })?;
    let replay = Replay::new(program, &placement, nodes, experiment.pace)
        .map_err(|error| settings.error(key, format!("--{key}: {error}"), "check the trace"))?;
    let Some(config) = beside else { return Ok(Kind::Application(Box::new(replay))) };

    let mut busy = vec![false; nodes];
    for node in &placement {
        busy[node.index()] = true;
    }
    let idle: Vec<NodeId> = (0..nodes).filter(|&node| !busy[node]).map(NodeId::at).collect();
    let refused = |what: String, remedy: &str| settings.refused("temporal", &Refusal::value(what, remedy));
    let line = u32::try_from(idle.len()).ok().and_then(|count| Geometry::new(&[count]));
    let Some(line) = line else {
        let what = format!("all {nodes} nodes have a task, and none is left for `background`");
        return Err(refused(what, "use a larger network or fewer tasks, or leave it out"));
    };
    let config = Config { geometry: line, ..config.clone() };
    let traffic = traffic::background(&config).map_err(|error| misfit(experiment, &error))?;
    match Background::new(replay, traffic, idle) {
        Some(background) => Ok(Kind::Beside(Box::new(background))),
        None => Err(refused("`background` does not fit the network".to_owned(), "leave it out")),
    }
}
