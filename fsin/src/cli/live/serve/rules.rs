//! The rules for guests and time that a command line gives.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use adapters::endpoint::Terms;
use adapters::live::{LostGuest, Overheads, Rules};
use adapters::protocol::{MAX_PAYLOAD, Mode};
use clap::ArgMatches;
use serde_json::{Map, Value, json};

use super::flags;
use super::model::Model;
use crate::cli::live::guest::span;
use crate::cli::{Complaint, Exit};

/// \[messages\] Largest number of messages of one node that have not left it.
const WINDOW: u32 = 1 << 16;
/// \[bytes\] Largest sum of the payloads of all messages in flight.
const PAYLOAD_LIMIT: u64 = 256 << 20;
/// \[ps\] Default step of a run in real time: 100 us.
const REALTIME_STEP: u64 = 100_000_000;
/// Maximum duration of a handshake.
const HANDSHAKE: Duration = Duration::from_secs(5);
/// Default of the waits for a guest that makes no progress.
const HOLD: Duration = Duration::from_secs(60);
/// Time after which a waiting network names the guests that it waits for.
const WARN: Duration = Duration::from_secs(10);

/// The rules of a run, which ends when `stop` becomes true.
pub(in crate::cli) fn rules(
    matches: &ArgMatches,
    model: &Model,
    stop: &'static AtomicBool,
) -> Result<Rules, Complaint> {
    let word = |name: &str| matches.get_one::<String>(name).map_or("", String::as_str);
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
        let remedy = "use a shorter step, larger --send-overhead or --receive-overhead, or --mode quantised";
        return Err(Complaint::new(Exit::Usage, what, remedy));
    }
    let terms = Terms {
        nodes: model.nodes(),
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
    let lost = match word("lost-guest") {
        "drop-node" => LostGuest::DropNode,
        "freeze" => LostGuest::Freeze,
        _ => LostGuest::Abort,
    };
    let (network_nodes, payload_limit) = (terms.nodes, PAYLOAD_LIMIT);
    Ok(Rules {
        terms,
        overheads,
        lost,
        warn: WARN,
        hold: flags::guest_limit(matches).unwrap_or(HOLD),
        payload_limit,
        stop,
        warm_up,
        region,
        network_nodes,
        places: None,
        digest_every,
    })
}

/// Number of nodes that must have a guest before the run begins.
pub(super) fn wanted(matches: &ArgMatches, model: &Model) -> Result<usize, Complaint> {
    let nodes = model.nodes();
    let wanted = matches.get_one::<usize>("guests").copied().unwrap_or(nodes);
    if !(1..=nodes).contains(&wanted) {
        let what = format!("--guests {wanted} is out of range");
        return Err(Complaint::new(Exit::Usage, what, format!("use 1 to {nodes}, the nodes of the network")));
    }
    Ok(wanted)
}

/// Adds the rules to the settings of the results.
pub(in crate::cli) fn settle(settings: &mut Map<String, Value>, matches: &ArgMatches, rules: &Rules) {
    let mut set = |name: &str, value: Value| settings.insert(name.to_owned(), value);
    let Terms { pace, step, horizon, .. } = rules.terms;
    if pace > 0 {
        set("factor", json!(f64::from(pace) / 1000.0));
    }
    if let Some(region) = &rules.region {
        set("measure", json!(format!("{}..{}", region.from, region.to)));
    }
    for name in ["mode", "send-overhead", "receive-overhead", "warm-up", "lost-guest"] {
        set(name, json!(matches.get_one::<String>(name).map_or("", String::as_str)));
    }
    set("step_ps", json!(step));
    set("horizon_ps", json!(horizon));
}
