//! Synthetic sources: what runs without a setting of another workload.

use std::sync::Arc;

use trgen::catalog::ErrorKind;
use trgen::phrase;
use trgen::phrase::Phrase;
use trgen::synthetic::size;
use trgen::synthetic::source::{Config, Mode};
use trgen::synthetic::spatial::of_a_grid;
use trgen::synthetic::traffic::{Misfit, Shot, Word};
use trgen::synthetic::{RoundTrips, Traffic};
use trgen::{Geometry, TrGen};

use super::{Driven, Driver, Request, Workload, WorkloadFamily};
use crate::conflicts::{SYNTHETIC, Times};
use crate::plan::samples;
use crate::resolve::Experiment;
use crate::settings::{Origin, SettingsError};
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
        format!("shot({})", settings.integer::<u64>("shot")?)
    } else {
        settings.word("temporal").to_owned()
    };
    let folder = settings.folder_of("traffic");
    Ok(Config {
        geometry: geometry.clone(),
        pattern: settings.word("traffic").to_owned(),
        process,
        shots,
        folder,
        carries_to_itself,
        nodes_refuse,
        size: size::with_files(settings.word("size"), |name| settings.folder_of("size").join(name)),
        load: load * units.capacity,
        capacity: units.capacity,
        is_padded: units.is_padded,
        packet_phits: units.packet_phits,
        phit_bytes: units.phit_bytes,
        mode: if throttled { Mode::Throttled } else { Mode::Open },
        seed,
    })
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
