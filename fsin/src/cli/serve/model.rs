//! The network between guests.

use adapters::clock::{Clock, parse_span};
use clap::ArgMatches;
use fsin::dashboard;
use fsin::experiment::{CLOSED_LOOP, Experiment, Origin, Settings, cycle_ratio, live_keys, live_network};
use fsin::models::ConstantDelay;
use fsin::network::Network;
use fsin::result::{InputFile, typed};
use serde_json::{Map, Value, json};
use tui::view::About;

use crate::cli::args::given;
use crate::cli::{Complaint, Exit, manifest, memory};

/// The network model, and its cycle time.
pub(in crate::cli) struct Model {
    pub(in crate::cli) network: Box<dyn Network>,
    pub(in crate::cli) clock: Clock,
    /// \[cycles\]
    pub(in crate::cli) response: u64,
    pub(in crate::cli) settings: Map<String, Value>,
    pub(in crate::cli) seed: u64,
    /// Description for the dashboard; `None` for a network without routers.
    pub(in crate::cli) about: Option<About>,
    /// Its input files, for the manifest.
    pub(in crate::cli) inputs: Vec<InputFile>,
}

/// The network of a command line.
pub(in crate::cli) fn model(matches: &ArgMatches) -> Result<Model, Complaint> {
    let mut settings = Settings::default();
    let spec = matches.get_one::<String>("network").map_or("router", String::as_str);
    for key in live_keys() {
        let Some((value, origin)) = given(matches, key) else { continue };
        if origin == Origin::Flag && spec != "router" {
            let what = format!("--{} has no meaning with --network {spec}, which has no routers", key.name);
            return Err(Complaint::new(Exit::Usage, what, "leave it out, or use --network router"));
        }
        settings.set(key.name, value, origin)?;
    }
    if spec != "router" {
        return switch(matches, spec);
    }
    if !settings.is_set("source") {
        settings.set("source", CLOSED_LOOP, Origin::Default)?;
    }
    let experiment = Experiment::resolve(settings)?;
    memory::check(&experiment)?;
    let network = live_network(&experiment).map_err(|trouble| Complaint::of_trouble(trouble, experiment.settings()))?;
    let bandwidth = matches.get_one::<String>("bandwidth").map_or("", String::as_str);
    let clock = cycle_ratio(bandwidth, experiment.router.phit_bytes)
        .and_then(|(numerator, denominator)| Clock::new(numerator, denominator))
        .ok_or_else(|| {
            let what = format!("--bandwidth {bandwidth}: a phit must take 1 ps or more, at a whole number of bits/s");
            Complaint::new(Exit::Usage, what, "write --bandwidth 10Gb/s (prefixes k, M, G, T)")
        })?;
    let acts = |name: &str| live_keys().any(|key| key.name == name);
    let mut settings = typed(experiment.effective().into_iter().filter(|(key, _)| acts(key.name)).collect());
    settings.insert("network".to_owned(), json!(spec));
    settings.insert("bandwidth".to_owned(), json!(bandwidth));
    let cycle_seconds = clock.span(1) as f64 * 1e-12;
    let title = format!("{} live guests", experiment.topology.spec());
    let about = dashboard::about(&*experiment.topology, &experiment.router, title);
    let about = Some(About { cycle_seconds: Some(cycle_seconds), ..about });
    let (seed, inputs) = (experiment.router.seed, manifest::inputs(&experiment));
    Ok(Model { network, clock, response: 1, settings, seed, about, inputs })
}

/// A network of constant delay: `switch:delay=100us,nodes=2`.
fn switch(matches: &ArgMatches, spec: &str) -> Result<Model, Complaint> {
    const NANOSECOND: u64 = 1000;
    let refused = |what: String| {
        let remedy = "write --network switch:delay=100us,nodes=2; the delay is a whole number of ns, at least 1";
        Complaint::new(Exit::Usage, format!("--network {spec}: {what}"), remedy)
    };
    if matches.value_source("bandwidth") == Some(clap::parser::ValueSource::CommandLine) {
        return Err(refused("--bandwidth has no meaning with it".to_owned()));
    }
    let parameters = spec.strip_prefix("switch:").ok_or_else(|| refused("it is not a network".to_owned()))?;
    let (mut delay, mut nodes) = (None, None);
    for parameter in parameters.split(',') {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        let before = match name {
            "delay" => delay.replace(value),
            "nodes" => nodes.replace(value),
            _ => return Err(refused(format!("`{parameter}` is not known"))),
        };
        if before.is_some() {
            return Err(refused(format!("`{name}` stands twice")));
        }
    }
    let nodes = match nodes {
        Some(nodes) => nodes.parse().ok(),
        None => matches.get_one::<usize>("guests").copied(),
    };
    let delay = delay.and_then(parse_span);
    let delay = delay.filter(|&delay| delay > 0 && delay % NANOSECOND == 0);
    let delay = delay.ok_or_else(|| refused("it needs a delay".to_owned()))? / NANOSECOND;
    let nodes = nodes.filter(|nodes| (2..=1 << 20).contains(nodes));
    let nodes = nodes.ok_or_else(|| refused("it needs its number of nodes, 2 to 2^20, or --guests".to_owned()))?;
    let clock = Clock::new(NANOSECOND, 1).ok_or_else(|| refused("a nanosecond is no cycle".to_owned()))?;
    let mut settings = Map::new();
    settings.insert("network".to_owned(), json!(spec));
    let (network, response, inputs) = (Box::new(ConstantDelay::new(nodes, delay)), delay, Vec::new());
    Ok(Model { network, clock, response, settings, seed: 1, about: None, inputs })
}
