//! Synthetic sources: what runs without a setting of another workload.

use std::collections::BTreeSet;
use std::sync::Arc;

use fsin_core::topology::switched::Demands;
use trgen::catalog::ErrorKind;
use trgen::phrase;
use trgen::phrase::Phrase;
use trgen::synthetic::source::{Config, Mode};
use trgen::synthetic::spatial::of_a_grid;
use trgen::synthetic::traffic::{Misfit, Shot, Word};
use trgen::synthetic::{RoundTrips, Spec, Traffic};
use trgen::{Geometry, TrGen};

use super::{Driven, Driver, Request, Workload, WorkloadFamily};
use crate::conflicts::{SYNTHETIC, Times};
use crate::plan::samples;
use crate::resolve::Experiment;
use crate::settings::{Origin, Settings, SettingsError};
use crate::trouble::Trouble;

pub(super) static ROW: WorkloadFamily =
    WorkloadFamily { key: None, keys: &[SYNTHETIC], parse: |request| Ok(Arc::new(Synthetic(config(request)?))) };

/// Synthetic sources alone.
#[derive(Debug)]
struct Synthetic(Config);

impl Workload for Synthetic {
    fn title(&self, word: &dyn Fn(&str) -> String) -> String {
        match word("load") {
            load if load.is_empty() => word("traffic"),
            load => format!("{} load {load} {}", word("traffic"), word("temporal")),
        }
    }

    fn understands(&self, key: &str) -> bool {
        ROW.understands(key, false)
    }

    fn has_tasks(&self) -> bool {
        false
    }

    fn sources(&self) -> Option<&Config> {
        Some(&self.0)
    }

    fn check(&self, experiment: &Experiment) -> Result<(), SettingsError> {
        source(experiment, &self.0).map(|_| ())
    }

    fn build(&self, experiment: &Experiment, _: &Geometry) -> Result<Driver, Trouble> {
        let traffic = source(experiment, &self.0)?;
        let remarks: Vec<Phrase> = traffic.remarks().iter().cloned().map(Phrase::from).collect();
        let mut driver = Driver::without_remarks(Box::new(traffic));
        driver.notes.extend(remarks);
        driver.notes.extend(note_on_grids(experiment, &self.0).map(Phrase::from));
        Ok(driver)
    }
}

impl Driven for Traffic {
    /// Builds the sources of an experiment on its geometry.
    fn source(&mut self) -> &mut dyn TrGen {
        self
    }

    fn offered(&self) -> Option<f64> {
        self.offered()
    }

    fn shots(&self) -> Option<&[Shot]> {
        self.shots()
    }

    fn round_trips(&self) -> Option<&RoundTrips> {
        self.round_trips()
    }
}

/// \[phits/node/cycle\] Maximum load: the longest message of any size law, in every cycle.
const MAX_LOAD: f64 = (1u32 << 24) as f64;

/// The configuration of synthetic sources.
pub(super) fn config(request: &Request<'_>) -> Result<Config, SettingsError> {
    let Request { settings, times, geometry, units, carries_to_itself, nodes_refuse, throttled, seed, .. } = *request;
    let load = settings.number("load")?;
    if !(0.0..=MAX_LOAD).contains(&load) {
        let what = phrase![["load" => settings.word("load")], " is out of range"];
        return Err(settings.error(
            "load",
            ErrorKind::OutOfRange,
            what,
            format!("use 0 to {MAX_LOAD} {}", settings.values().unit("load")),
        ));
    }
    let shots = samples(settings)?;
    // Beside an application there are no shots: a file may set them for other runs.
    let process = if times == Times::Shots && settings.is_set("shot") {
        let word = format!("shot({})", settings.integer::<u64>("shot")?);
        word.parse().map_err(|refusal| settings.refused("shot", refusal))?
    } else {
        settings.parsed("temporal")?
    };
    let folder = settings.folder_of("traffic");
    let mut size: Spec = settings.parsed("size")?;
    size.replace_files(|name| settings.folder_of("size").join(name));
    Ok(Config {
        geometry: geometry.clone(),
        pattern: settings.parsed("traffic")?,
        process,
        shots,
        folder,
        carries_to_itself,
        nodes_refuse,
        size,
        load: load * units.capacity,
        capacity: units.capacity,
        is_padded: units.is_padded,
        packet_phits: units.packet_phits,
        phit_bytes: units.phit_bytes,
        mode: if throttled { Mode::Throttled } else { Mode::Open },
        seed,
        demands: request.demands.map(|demands| Arc::new(by_source(demands, geometry))),
    })
}

/// By source: the traffic that the file of the network states.
fn by_source(demands: &Demands, geometry: &Geometry) -> Vec<Vec<(u32, f64)>> {
    let mut rows = vec![Vec::new(); geometry.nodes()];
    for &(from, to, value) in &demands.pairs {
        if let Some(row) = rows.get_mut(from as usize).filter(|_| value > 0.0) {
            row.push((to, value));
        }
    }
    rows
}

/// The load at which every pair offers its demand times `scale`.
///
/// `bits_per_load` is what a node offers at load 1 \[b/s\].
pub(crate) fn scaled(settings: &Settings, demands: Option<&Demands>, bits_per_load: f64) -> Result<f64, SettingsError> {
    let refuse = |kind, what: Phrase, remedy: Phrase| Err(settings.error("scale", kind, what, remedy));
    let factor = settings.number("scale")?;
    if settings.origin("load") == Origin::Flag {
        return refuse(
            ErrorKind::Conflict,
            phrase![["scale"], " and ", ["load"], " exclude each other"],
            "give one of them".into(),
        );
    }
    let Some(demands) = demands.filter(|_| settings.word("traffic") == "demands") else {
        let what =
            phrase![["scale"], " has no meaning without ", ["traffic" => "demands"], ", of which it is a factor"];
        return refuse(ErrorKind::Meaningless, what, "leave it out".into());
    };
    let Some(unit) = demands.unit else {
        let what = phrase![["scale" => factor], ": the file of the network states no unit of its demands"];
        let remedy =
            phrase!["say it, graph:FILE,rate-unit=Mb/s, or give ", ["load"], ", the mean over the nodes that send"];
        return refuse(ErrorKind::Malformed, what, remedy);
    };
    if !(factor.is_finite() && factor > 0.0) {
        let what = phrase![["scale" => factor], " is out of range"];
        return refuse(ErrorKind::OutOfRange, what, "use a factor above 0".into());
    }
    let senders: BTreeSet<u32> = demands.pairs.iter().filter(|pair| pair.2 > 0.0).map(|pair| pair.0).collect();
    Ok(factor * demands.total() * unit / senders.len().max(1) as f64 / bits_per_load)
}

/// Attributes an error to the setting that it is about.
pub(super) fn misfit(experiment: &Experiment, misfit: &Misfit) -> SettingsError {
    let settings = experiment.settings();
    let key = match misfit.word {
        Word::Lengths => "packet",
        Word::Pattern => "traffic",
        Word::Size => "size",
        Word::Process if settings.is_set("shot") => "shot",
        Word::Process if settings.is_set("temporal") => "temporal",
        Word::Process => "load",
    };
    settings.refused(key, misfit.refusal.clone())
}

fn source(experiment: &Experiment, config: &Config) -> Result<Traffic, SettingsError> {
    let settings = experiment.settings();
    let traffic = Traffic::new(config).map_err(|error| misfit(experiment, &error))?;
    if !traffic.uses_load() && settings.origin("load") == Origin::Flag {
        let what = phrase![["load"], " has no meaning where every source has a load of its own"];
        return Err(settings.error(
            "load",
            ErrorKind::Meaningless,
            what,
            "leave it out, or leave out load= or rates() of one source",
        ));
    }
    Ok(traffic)
}

/// A note where grid patterns are used in a network that is not a grid.
fn note_on_grids(experiment: &Experiment, config: &Config) -> Option<String> {
    let names = of_a_grid(&config.pattern);
    let is_switched = experiment
        .topology()
        .is_some_and(|topology| topology.switched().is_some() && topology.geometry().sizes().len() < 2);
    let meet = is_switched && !names.is_empty();
    meet.then(|| {
        format!(
            "endpoints of a network of switches are one dimension, in the order of their numbers: {} is another pattern there \
             than on a grid of nodes",
            names.join(", ")
        )
    })
}
