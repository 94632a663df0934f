//! The network between guests.

use std::sync::atomic::AtomicBool;

use adapters::clock::Clock;
use adapters::live::Live;
use clap::ArgMatches;
use fsin::couple::Coupled;
use fsin::dashboard;
use fsin::experiment::memory::check as check_memory;
use fsin::experiment::{
    Experiment, Key, Origin, Settings, key, live_clock, live_keys, live_network, live_settings, named,
};
use fsin::family::ForGuests;
use fsin::models::MODELS;
use fsin::network::{Figures, Network};
use fsin::result::{InputFile, typed};
use fsin::run::{Outcome, Warning, to_end};
use fsin::watch::Watch;
use serde_json::{Map, Value, json};
use trgen::{Cycle, phrase};
use tui::view::About;

use crate::cli::settings::{given, without_effect as unused};
use crate::cli::{Complaint, Exit, manifest, output};

/// The network between guests, and what a run needs to know of it.
pub(in crate::cli) struct Model {
    /// Private, so that no command can run it without its warnings.
    network: Box<dyn Network>,
    /// The experiment whose network it is.
    pub(in crate::cli) experiment: Experiment,
    /// The length of a cycle.
    pub(in crate::cli) clock: Clock,
    /// \[cycles\] Shortest response of the network to an injection.
    pub(in crate::cli) response: u64,
    /// \[cycles\] The time that every message takes, if it is known before the message is sent.
    pub(in crate::cli) delay: Option<u64>,
    /// The settings of the results.
    pub(in crate::cli) settings: Map<String, Value>,
    pub(in crate::cli) seed: u64,
    /// Description for the dashboard.
    pub(in crate::cli) about: About,
    /// Its input files, for the manifest.
    pub(in crate::cli) inputs: Vec<InputFile>,
}

impl Model {
    /// \[nodes\] Of the network.
    pub(in crate::cli) fn nodes(&self) -> usize {
        self.network.nodes()
    }

    /// Lets the network count what its links carry.
    pub(in crate::cli) fn observe(&mut self) {
        self.network.observe();
    }

    /// Runs guests and network to their end. The outcome has the warnings of experiment and model.
    pub(in crate::cli) fn run<'a>(
        &'a mut self,
        live: &'a mut Live,
        stop: &'a AtomicBool,
        watch: Option<&'a mut dyn Watch>,
    ) -> Outcome {
        let mut coupled = Coupled::new(live, &mut *self.network, stop);
        if let Some(watch) = watch {
            coupled = coupled.watched(watch);
        }
        let mut outcome = to_end(&mut coupled, Cycle::NEVER, &mut |_| {});
        drop(coupled);
        let remarks = self.network.settled().figures.map(Figures::remarks).unwrap_or_default();
        let known = self.experiment.warnings().chain(remarks).map(Warning::from);
        outcome.warnings.splice(0..0, known);
        outcome
    }
}

/// Builds the network that the command line specifies. `guests` is the number of guests, if it is given.
pub(in crate::cli) fn model(matches: &ArgMatches, guests: Option<usize>) -> Result<Model, Complaint> {
    let mut settings = Settings::default();
    for key in live_keys() {
        if let Some((value, origin)) = given(matches, key) {
            settings.set(key.name, value, origin)?;
        }
    }
    let word = settings.value("network").unwrap_or_default().to_owned();
    let model = named(&word).unwrap_or(MODELS.rows()[0]);
    let mut settings = live_settings(settings)?;
    // A network without a topology has as many nodes as guests, unless the user gives another number.
    let has_nodes = ["nodes", "topology"].into_iter().any(|key| settings.is_set(key)) || word.contains("nodes=");
    if let Some(guests) = guests
        && model.understands("nodes")
        && !has_nodes
    {
        settings.set("nodes", guests.to_string(), Origin::Flag)?;
    }
    let experiment = Experiment::resolve(settings)?;
    if !matches.get_flag("quiet") {
        unused(&experiment).iter().for_each(|warning| output::tell(&format!("warning: {warning}")));
    }
    check_memory(&experiment)?;
    // Messages of guests have no load, of which packets and phits would be the unit.
    let is_flag = |key: &&Key| matches!(given(matches, key), Some((_, Origin::Flag)));
    let lengths = ["packet", "phit-bytes"].into_iter().filter_map(key).find(is_flag);
    if let Some(key) = lengths.filter(|_| experiment.network.delay().is_some()) {
        let network = experiment.model.component.name;
        let what =
            phrase![[key.name], " has no meaning with guests and ", ["network" => network], ", which delays all alike"];
        return Err(Complaint::new(Exit::Usage, what, "leave it out"));
    }
    let ForGuests { network, response } = live_network(&experiment)?;
    let clock = live_clock(&experiment)?;
    let bandwidth = experiment.settings().value("bandwidth").unwrap_or_default();
    let acts = |name: &str| live_keys().any(|key| key.name == name);
    let mut settings = typed(experiment.effective().into_iter().filter(|(key, _)| acts(key.name)).collect());
    settings.entry("network").or_insert_with(|| json!(experiment.model.component.name));
    if experiment.network.cycle().is_none() {
        settings.insert("bandwidth".to_owned(), json!(bandwidth));
    }
    if experiment.model.understands("phit-bytes") {
        settings.insert("phit-bytes".to_owned(), json!(experiment.units.phit_bytes));
    }
    let place = experiment.topology().map_or_else(|| experiment.model.component.name.to_owned(), |shape| shape.spec());
    let about = dashboard::about(&*experiment.network, experiment.model.load_unit, format!("{place} live guests"));
    let about = About { cycle_seconds: Some(clock.seconds()), ..about };
    let (seed, inputs) = (experiment.seed, manifest::inputs(&experiment));
    let delay = experiment.network.delay();
    Ok(Model { network, experiment, clock, response, delay, settings, seed, about, inputs })
}
