//! The router of an experiment, and the effect of dead links on it.

use trgen::catalog::ErrorKind;
use trgen::phrase;
use trgen::phrase::Phrase;

use super::settings::{Settings, SettingsError};
use crate::router::faults::Reachability;
use crate::router::{Arbitration, Consumption, GlobalCc, Inject, Injection, RouterParams, SourceQueue, Timeouts};
use crate::routing::{Order, Routing};
use crate::topology::Topology;

/// The settings of the router, with the topology's default routing where none is set; not yet checked for the topology.
pub(super) fn router(settings: &Settings, topology: &dyn Topology) -> Result<RouterParams, SettingsError> {
    let spec = topology.spec();
    let routing = match (settings.value("routing"), &*Routing::serving(&spec)) {
        (None, [usual, ..]) => Ok(*usual),
        (name, _) => Routing::named(name.unwrap_or_default(), &spec),
    };
    Ok(RouterParams {
        routing: routing.map_err(|refusal| settings.refused("routing", refusal))?,
        order: settings.choice("order", &[("dim", Order::Dimension), ("dir", Order::Direction)])?,
        vcs: settings.integer("vcs")?,
        packet_phits: settings.integer("packet")?,
        phit_bytes: settings.integer("phit-bytes")?,
        queue_packets: settings.integer("queue")?,
        injection_queue_packets: settings.integer("injection-queue")?,
        injectors: settings.integer("injectors")?,
        injection: settings.choice("injection", &Injection::ALL)?,
        arbitration: settings.choice("arbitration", &Arbitration::ALL)?,
        inject: settings.choice("inject", &[("parallel", Inject::Parallel), ("serial", Inject::Serial)])?,
        consumption: settings
            .choice("consumption", &[("multiple", Consumption::Multiple), ("single", Consumption::Single)])?,
        bubble: settings.integer("bubble")?,
        lbr: settings.integer("lbr")?,
        in_transit_priority: settings.number("in-transit-priority")?,
        global_cc: global_cc(settings)?,
        timeouts: timeouts(settings)?,
        link_delays: link_delays(settings)?,
        router_delay: if settings.is_set("router-delay") { settings.integer("router-delay")? } else { 0 },
        alternatives: if settings.is_set("alternatives") { settings.integer("alternatives")? } else { 0 },
        source_queue: settings
            .choice("source", &[("open", SourceQueue::Open), ("throttled", SourceQueue::Throttled)])?,
        seed: settings.integer("seed")?,
        watchdog_cycles: settings.integer("watchdog")?,
    })
}

/// True if only one direction of each dead link is dead.
pub(super) fn one_way(settings: &Settings, faults: usize) -> Result<bool, SettingsError> {
    if !settings.is_set("fault-ways") {
        return Ok(false);
    }
    if faults == 0 {
        return Err(settings.error(
            "fault-ways",
            ErrorKind::Meaningless,
            phrase![["fault-ways"], " has no meaning without ", ["faults"]],
            "leave it out",
        ));
    }
    settings.choice("fault-ways", &[("1", true), ("2", false)])
}

fn global_cc(settings: &Settings) -> Result<Option<GlobalCc>, SettingsError> {
    let period = if settings.is_set("global-cc-period") { settings.integer("global-cc-period")? } else { 0 };
    if settings.is_set("global-cc") {
        return Ok(Some(GlobalCc { percent: settings.number("global-cc")?, period }));
    }
    if settings.is_set("global-cc-period") {
        let what = phrase![["global-cc-period"], " has no meaning without ", ["global-cc"]];
        return Err(settings.error("global-cc-period", ErrorKind::Meaningless, what, "leave it out"));
    }
    Ok(None)
}

fn timeouts(settings: &Settings) -> Result<Option<Timeouts>, SettingsError> {
    if !settings.is_set("timeout-upper") {
        if settings.is_set("timeout-lower") {
            let what = phrase![["timeout-lower"], " has no meaning without ", ["timeout-upper"]];
            return Err(settings.error("timeout-lower", ErrorKind::Meaningless, what, "set both"));
        }
        return Ok(None);
    }
    let upper: u64 = settings.integer("timeout-upper")?;
    let lower = if settings.is_set("timeout-lower") {
        settings.integer("timeout-lower")?
    } else {
        upper / 4 * 3 + upper % 4 * 3 / 4
    };
    Ok(Some(Timeouts { upper, lower }))
}

fn link_delays(settings: &Settings) -> Result<Vec<u32>, SettingsError> {
    if !settings.is_set("link-delay") {
        return Ok(Vec::new());
    }
    let word = settings.word("link-delay");
    let delays: Result<Vec<u32>, _> = word.split(':').map(str::parse).collect();
    delays.map_err(|_| {
        let what = phrase![["link-delay"], " takes cycles, not `{word}`"];
        settings.error(
            "link-delay",
            ErrorKind::Malformed,
            what,
            phrase!["write ", ["link-delay" => "4"], ", or one for each dimension: ", ["link-delay" => "1:1:8"]],
        )
    })
}

/// Routes of direct networks are minimal: the two ends of a dead link have no route to each other.
pub(super) fn no_way_round() -> Phrase {
    phrase![
        "direct networks do not go round dead links: use ",
        ["faults" => "0"],
        ", or a network of switches with ",
        ["routing" => "graph:updown"]
    ]
}

/// The effect of dead links on this traffic: unreachable pairs of nodes give a warning, or an error where a task would
/// wait for ever.
pub(super) fn lost_pairs(
    settings: &Settings,
    topology: &dyn Topology,
    router: &RouterParams,
    waits: Option<&str>,
) -> Result<Vec<Phrase>, SettingsError> {
    let Some(reachability) = Reachability::new(router, topology) else { return Ok(Vec::new()) };
    let lost = reachability.lost(topology, 4);
    let what = phrase![
        ["faults" => topology.faults()],
        ": with ",
        ["routing" => router.routing.name()],
        " no route is left for {lost}"
    ];
    match waits {
        _ if lost.count == 0 => Ok(Vec::new()),
        Some(who) => Err(settings.error(
            "faults",
            ErrorKind::Conflict,
            phrase![what, ", and {who} would wait for ever"],
            no_way_round(),
        )),
        None => Ok(vec![phrase![what, "; their messages are dropped"]]),
    }
}
