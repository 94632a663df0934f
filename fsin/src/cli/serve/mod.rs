//! `fsin serve`: a network for live guests.

use std::time::{Duration, Instant};

use adapters::clock::{Clock, parse_span};
use adapters::endpoint::{Endpoint, EndpointError, Terms};
use adapters::live::{Live, LostGuest, Overheads, Rules};
use adapters::protocol::{MAX_PAYLOAD, Mode};
use clap::ArgMatches;
use cpu_time::ProcessTime;
use fsin::couple::{Coupled, Failure};
use fsin::experiment::{Experiment, Kind, Origin, Settings, cycle_ratio, live_keys, live_network, variable};
use fsin::network::Network;
use fsin::report::{Costs, Format, live_figures, typed};
use fsin::run::to_end;
use fsin::switch::Switch;
use fsin::watch::Watch;
use fsin::{dashboard, topology};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use trgen::{Cycle, TrGen};
use tui::feed::Feed;
use tui::view::{About, Snapshot, Sources};

use super::guest::{address, span, token};
use super::looking::Looking;
use super::{Complaint, Exit, interrupt, manifest, memory, output};

mod flags;
mod warnings;

pub(super) use flags::command;

/// \[messages\] Of one node that have not left it.
const WINDOW: u32 = 1 << 16;
/// \[bytes\] Carried by everything on its way.
const PAYLOAD_LIMIT: u64 = 256 << 20;
/// \[ps\] Step of a run in real time that asks for none: 100 us.
const REALTIME_STEP: u64 = 100_000_000;
/// How long a handshake may take.
const HANDSHAKE: Duration = Duration::from_secs(5);
/// How long the network waits before it says for whom.
const WARN: Duration = Duration::from_secs(10);

/// Shows how many guests are there while the others are waited for.
struct Waiting {
    board: Option<Arc<Feed>>,
    wanted: usize,
    since: Instant,
    shown: Option<(Instant, usize)>,
}

impl Waiting {
    fn new(board: Option<Arc<Feed>>, wanted: usize) -> Self {
        let mut waiting = Self { board, wanted, since: Instant::now(), shown: None };
        waiting.show(wanted);
        waiting
    }

    fn show(&mut self, missing: usize) {
        let due = |(at, before): (Instant, usize)| before != missing || at.elapsed() >= Duration::from_millis(500);
        let Some(board) = self.board.as_ref().filter(|_| self.shown.is_none_or(due)) else { return };
        self.shown = Some((Instant::now(), missing));
        board.publish(Snapshot {
            phase: format!("waiting for guests: {} of {} nodes have one", self.wanted - missing, self.wanted),
            cycle: 1,
            elapsed_seconds: self.since.elapsed().as_secs_f64(),
            sources: Sources::Guests(Vec::new()),
            ..Snapshot::default()
        });
    }

    /// So many nodes have no guest yet. False once the user wants to stop.
    fn go_on(&mut self, missing: usize, stop: &AtomicBool) -> bool {
        self.show(missing.min(self.wanted));
        !stop.load(Ordering::Relaxed)
    }
}

/// What simulates, and how long its cycle is.
struct Model {
    network: Box<dyn Network>,
    clock: Clock,
    /// \[cycles\]
    response: u64,
    settings: Map<String, Value>,
    seed: u64,
    /// What the dashboard says of it; `None` for a network without routers.
    about: Option<About>,
    /// The files that it is made of, for the manifest.
    inputs: Vec<Value>,
}

pub(crate) fn serve(matches: &ArgMatches) -> Result<Exit, Complaint> {
    let word = |name: &str| matches.get_one::<String>(name).map_or("", String::as_str);
    let mut model = model(matches)?;
    let overheads = Overheads {
        send: span(matches, "send-overhead")?.unwrap_or(0),
        receive: span(matches, "receive-overhead")?.unwrap_or(0),
        response: model.response,
    };
    let horizon = overheads.horizon(model.clock);
    let (mode, pace) = flags::mode(matches)?;
    let (warm_up, region) = (flags::warm_up(matches)?, flags::region(matches)?);
    let digest_every = span(matches, "digest-every")?.unwrap_or(0);
    let step = span(matches, "step")?.unwrap_or(if mode == Mode::Realtime { REALTIME_STEP } else { horizon });
    if step == 0 || (mode == Mode::Exact && step > horizon) {
        let what = format!("--step {}: in exact mode a step is 1 ps to {horizon} ps, the horizon", word("step"));
        return Err(Complaint::new(
            Exit::Usage,
            what,
            "use a shorter step, larger --send-overhead or --receive-overhead, or --mode quantised",
        ));
    }
    let nodes = model.network.nodes();
    let wanted = matches.get_one::<usize>("guests").copied().unwrap_or(nodes);
    if !(1..=nodes).contains(&wanted) {
        let what = format!("--guests {wanted} is out of range");
        return Err(Complaint::new(Exit::Usage, what, format!("use 1 to {nodes}, the nodes of the network")));
    }
    let terms = Terms {
        nodes,
        mode,
        step,
        horizon,
        clock: model.clock,
        max_payload: MAX_PAYLOAD,
        window: WINDOW,
        stall: Duration::from_secs(matches.get_one::<u64>("stall").copied().unwrap_or(60)),
        handshake: HANDSHAKE,
        token: None,
        seed: model.seed,
        pace,
    };
    let stop = interrupt::listen()?;
    let failed = |error: EndpointError| {
        let exit = match error {
            EndpointError::Interrupted { .. } => Exit::Interrupted,
            EndpointError::Open { .. } | EndpointError::Listen { .. } => Exit::Usage,
            EndpointError::System(_) => Exit::Failed,
        };
        Complaint::new(exit, error.to_string(), error.remedy())
    };
    let endpoint = Endpoint::bind(&address(matches, "listen")?, token(matches)?).map_err(failed)?;
    let watch = flags::watch(matches)?;
    let listening = endpoint.address().map_err(|error| failed(error.into()))?;
    output::tell(&format!("listening on {listening} for guests of {wanted} nodes; the horizon is {horizon} ps"));
    let about = model.about.take();
    let about = || about.unwrap_or_else(|| About::bare(word("network").to_owned(), nodes));
    let mut looking = Looking::begin(matches, about, stop)?;
    let board = looking.as_ref().map(Looking::feed);
    let on_board = looking.as_ref().is_some_and(Looking::has_terminal);
    if let Some(board) = &board {
        board.log(format!("listening on {listening} for guests of {wanted} nodes"));
    }
    let mut waiting = Waiting::new(board.clone(), wanted);
    let mut tell = move |line: String| {
        let line = format!("warning: {line}");
        if !on_board {
            output::tell(&line);
        }
        if let Some(board) = &board {
            board.log(line);
        }
    };
    let connections =
        endpoint.gather(&terms, wanted, &mut |missing| waiting.go_on(missing, stop), &mut tell).map_err(failed)?;

    let lost = match word("lost-guest") {
        "drop-node" => LostGuest::DropNode,
        "freeze" => LostGuest::Freeze,
        _ => LostGuest::Abort,
    };
    let clock = model.clock;
    let payload_limit = PAYLOAD_LIMIT;
    let rules = Rules {
        terms,
        overheads,
        lost,
        warn: WARN,
        payload_limit,
        stop,
        warm_up,
        region: region.clone(),
        digest_every,
    };
    let opening = manifest::Opening::of_guests(std::mem::take(&mut model.inputs));
    let (processor, wall) = (ProcessTime::now(), Instant::now());
    let mut live = Live::new(connections, rules, Box::new(tell)).watched(watch);
    let mut outcome = run(&mut live, &mut *model.network, stop, looking.as_mut().map(Looking::watch));
    outcome.warnings.extend(region.as_ref().and_then(|region| warnings::of_region(region, live.phase())));
    let pcap = matches.contains_id("pcap");
    outcome.warnings.extend(warnings::of_guests(&live.report(), lost, pcap));
    match &outcome.failure {
        Some(failure) => live.close(&format!("the run has failed: {failure}")),
        None if stop.load(Ordering::Relaxed) => live.close("the run was interrupted"),
        None => live.close("the run has ended"),
    }
    let costs = Costs {
        cpu_seconds: Some(processor.elapsed().as_secs_f64()),
        wall_seconds: wall.elapsed().as_secs_f64(),
        peak_memory_bytes: manifest::peak_memory_bytes(),
    };
    let words: Vec<String> = outcome.failure.iter().map(|failure| format!("error: {failure}")).collect();
    let recorded = looking.map_or(Ok(()), |looking| looking.end(&words));
    let written = live.flush();
    if let Some(factor) = (pace > 0).then_some(f64::from(pace) / 1000.0) {
        model.settings.insert("factor".to_owned(), json!(factor));
    }
    if let Some(region) = &region {
        model.settings.insert("measure".to_owned(), json!(format!("{}..{}", region.from, region.to)));
    }
    for name in ["mode", "send-overhead", "receive-overhead", "warm-up", "lost-guest"] {
        model.settings.insert(name.to_owned(), json!(word(name)));
    }
    model.settings.insert("step_ps".to_owned(), json!(step));
    model.settings.insert("horizon_ps".to_owned(), json!(horizon));
    let picoseconds = |cycle: u64| clock.span(cycle);
    let manifest = opening.close_guests(model.seed, costs.cpu_seconds, costs.peak_memory_bytes);
    let figures = live_figures(&outcome, &live.report(), &picoseconds, costs, model.settings, manifest);
    let format = match word("format") {
        "csv" => Format::Csv,
        "jsonl" => Format::Jsonl,
        _ => Format::Json,
    };
    output::print(format, &figures)?;
    for warning in &outcome.warnings {
        output::tell(&format!("warning: {warning}"));
    }
    recorded?;
    if stop.load(Ordering::Relaxed) {
        return Ok(Exit::Interrupted);
    }
    match &outcome.failure {
        Some(failure @ Failure::TrafficDeadlock { .. }) => {
            let remedy = "each of these guests waits for a message that nobody sends: see which messages they sent \
                          (--wire-log FILE), and what they wait for";
            Err(Complaint::of_failure(failure).remedied(remedy))
        }
        Some(failure) => Err(Complaint::of_failure(failure)),
        None => {
            let remedy = "the figures above are complete; the file is not";
            written.map(|()| Exit::Done).map_err(|what| Complaint::new(Exit::Failed, what, remedy))
        }
    }
}

fn run(
    live: &mut Live,
    network: &mut dyn Network,
    stop: &AtomicBool,
    watch: Option<&mut dyn Watch>,
) -> fsin::run::Outcome {
    let coupled = Coupled::new(live, network, stop);
    let mut coupled = match watch {
        Some(watch) => coupled.watched(watch),
        None => coupled,
    };
    to_end(&mut coupled, Cycle::NEVER, &mut |_| {})
}

fn model(matches: &ArgMatches) -> Result<Model, Complaint> {
    let mut settings = Settings::default();
    let spec = matches.get_one::<String>("network").map_or("router", String::as_str);
    for key in live_keys() {
        let flag = match key.kind {
            Kind::Switch => matches.get_flag(key.name).then(|| true.to_string()),
            _ => matches.get_one::<String>(key.name).cloned(),
        };
        if flag.is_some() && spec != "router" {
            let what = format!("--{} has no meaning with --network {spec}, which has no routers", key.name);
            return Err(Complaint::new(Exit::Usage, what, "leave it out, or use --network router"));
        }
        let set = match flag {
            Some(value) => Some((value, Origin::Flag)),
            None => std::env::var_os(variable(key.name))
                .map(|value| (value.to_string_lossy().into_owned(), Origin::Environment)),
        };
        if let Some((value, origin)) = set {
            settings.set(key.name, value, origin)?;
        }
    }
    if spec != "router" {
        return switch(matches, spec);
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
    let about = topology::parse(&experiment.topology, experiment.ways).ok().map(|topology| {
        let title = format!("{} live guests", experiment.topology);
        About { cycle_seconds: Some(cycle_seconds), ..dashboard::about(&*topology, &experiment.router, title) }
    });
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
    let (network, response, inputs) = (Box::new(Switch::new(nodes, delay)), delay, Vec::new());
    Ok(Model { network, clock, response, settings, seed: 1, about: None, inputs })
}
