//! `fsin machines up`: machines, and the network between them.

use std::fs;
use std::sync::atomic::Ordering;
use std::time::Duration;

use adapters::address::Address;
use adapters::endpoint::{Endpoint, EndpointError, Terms};
use adapters::live::{Live, Rules};
use clap::ArgMatches;
use fsin::report::write;
use fsin::result::of_guests;
use fsin::words::counted;
use serde_json::json;
use trgen::TrGen;

use super::folder::{self, Folder};
use super::qemu::{self, PLUGIN, Plan};
use super::{ending, flags};
use crate::cli::live::{guest, serve};
use crate::cli::output::Document;
use crate::cli::run::perform::Stopwatch;
use crate::cli::{Complaint, Exit, Flags, interrupt, manifest, output};

/// How long a step or boot may take before the user is warned that the network waits.
const WARN: Duration = Duration::from_secs(60);
/// \[messages\] Largest number of frames of a machine that have not left its node.
const WINDOW: u32 = 1 << 20;

/// `fsin machines up`: starts machines and the network, and prints the results at their end.
pub(super) fn up(matches: &ArgMatches) -> Result<Exit, Complaint> {
    let count = matches.get_one::<usize>("guests").copied().unwrap_or(2);
    let nodes = flags::nodes(matches, count)?;
    let command = matches.get_one::<String>("command");
    let runners = if command.is_some() { flags::runners(matches, count)? } else { Vec::new() };
    let plugin = PLUGIN.find()?;
    let image = flags::image_of(matches)?;
    let files = qemu::files(&image)?;
    let needed = nodes.iter().max().map_or(0, |&last| last as usize + 1);
    let mut model = serve::model::model(matches, Some(needed.max(2)))?;
    if needed > model.nodes() {
        let what = format!("there is a machine at node {}, and the network has {}", needed - 1, model.nodes());
        return Err(Complaint::new(Exit::Usage, what, "use a larger --topology, or other nodes (--node)"));
    }
    let stop = interrupt::listen(interrupt::OF_A_RUN)?;
    let rules = serve::rules::rules(matches, &model, stop)?;
    let rules = Rules { terms: Terms { window: WINDOW, ..rules.terms }, warn: WARN, ..rules };
    serve::rules::settle(&mut model.settings, matches, &rules);
    for (key, value) in [("machines", json!(count)), ("node", json!(nodes)), ("command", json!(command))] {
        model.settings.insert(key.to_owned(), value);
    }
    model.inputs.extend(files.iter().flat_map(|path| manifest::input(path)));
    let document = Document::open(matches)?;
    let watch = serve::flags::watch(matches)?;
    let folder = Folder::create(flags::folder_of(matches))?;
    let address = match matches.contains_id("listen") {
        true => guest::address(matches, "listen")?,
        false => Address::Unix(folder.socket("network")),
    };
    let endpoint = Endpoint::bind(&address, None).map_err(refused)?;
    let address = endpoint.address().map_err(|error| refused(error.into()))?;
    if let Some(command) = command {
        fs::write(folder.path().join(folder::COMMAND), format!("{command}\n")).map_err(|error| {
            let what = format!("--folder {}: {error}", folder.path().display());
            Complaint::new(Exit::Failed, what, "free some space, or name another folder")
        })?;
    }
    let memory = matches.get_one::<u64>("memory").copied().unwrap_or(256);
    let plan = Plan { nodes, runners, image, plugin, memory, seed: model.seed, address: address.to_string() };
    let mut machines = plan.start(&folder)?;
    let quiet = matches.get_flag("quiet");
    if !quiet {
        let boot = if count == 1 { "boots" } else { "boot" };
        let place = folder.path().display();
        output::tell(&format!("{} {boot}; their consoles are in {place}", counted(count, "machine", "machines")));
        if command.is_none() {
            output::tell("next: fsin machines run COMMAND, fsin machines console 0, fsin machines down");
        }
    }
    let tell = move |line: String| {
        if !quiet {
            output::tell(&format!("warning: {line}"));
        }
    };
    let mut lost = None;
    let gathered = endpoint.gather(
        &rules.terms,
        count,
        &mut |_| {
            machines.poll();
            // A machine that ends before time begins has failed.
            lost = machines.first_ended();
            lost.is_none() && !stop.load(Ordering::Relaxed)
        },
        &mut |_| {},
    );
    let connections = match gathered {
        Ok(connections) => connections,
        Err(error) => {
            machines.end(true);
            let ended = |(machine, status)| ending::never_began(folder.path(), machine, status);
            return Err(lost.map_or_else(|| refused(error), ended));
        }
    };
    if !quiet {
        output::tell("all are connected: time begins");
    }
    let opening = manifest::Opening::of_guests(std::mem::take(&mut model.inputs));
    let stopwatch = Stopwatch::start();
    let (region, policy, pace) = (rules.region.clone(), rules.lost, f64::from(rules.terms.pace) / 1000.0);
    let mut live = Live::new(connections, rules, Box::new(tell)).watched(watch);
    let mut outcome = model.run(&mut live, stop, None);
    let report = live.report();
    let region = region.as_ref().and_then(|region| serve::warnings::of_region(region, live.phase()));
    let guests = serve::warnings::of_guests(&report, policy, matches.contains_id("pcap"));
    let pace = serve::warnings::of_pace(report.behind, pace);
    outcome.warnings.extend(region.into_iter().chain(pace).chain(guests).map(Into::into));
    match &outcome.failure {
        Some(failure) => live.close(&format!("the run has failed: {failure}")),
        None => live.close("the run has ended"),
    }
    let costs = stopwatch.costs(true, 1);
    machines.poll();
    let interrupted = stop.load(Ordering::Relaxed);
    let rows = ending::rows(&plan, folder.path());
    let complaint = ending::complaint(&outcome, &report, &plan, &machines, &rows, folder.path());
    machines.end(interrupted || outcome.failure.is_some());
    outcome.complete &= complaint.is_none();
    let written = live.flush();
    let manifest = opening.close_guests(model.seed, costs);
    let picoseconds = |cycle: u64| model.clock.span(cycle);
    let cycle = |time: u64| model.clock.cycle(time).0;
    let result = of_guests(&outcome, &report, &picoseconds, costs, model.settings, manifest, &Flags)
        .of_machines(&report, &cycle, rows);
    let format = serve::format(matches);
    document.write(&mut |out| write(format, &result, out))?;
    if !quiet {
        outcome.warnings.iter().for_each(|warning| output::tell(&format!("warning: {}", warning.text.written(&Flags))));
    }
    match complaint {
        _ if interrupted => Ok(Exit::Interrupted),
        Some(complaint) => Err(complaint),
        None => {
            let remedy = "the figures above are complete; the file is not";
            written.map(|()| Exit::Done).map_err(|what| Complaint::new(Exit::Failed, what, remedy))
        }
    }
}

/// The error of an endpoint that cannot work, or of a wait that was interrupted.
fn refused(error: EndpointError) -> Complaint {
    let exit = match error {
        EndpointError::Interrupted { .. } => Exit::Interrupted,
        EndpointError::Open { .. } | EndpointError::Listen { .. } => Exit::Usage,
        EndpointError::System(_) => Exit::Failed,
    };
    Complaint::new(exit, error.to_string(), error.remedy())
}
