//! Settings of hosts, of the ideal network, and of how tasks use their nodes.

use trgen::trace::goal::hosts::HostParams;

use super::settings::{Settings, SettingsError};

/// \[ns\] or \[ns/byte\] Largest parameter: sums over a run still fit 64 bits.
const MOST: u64 = 1 << 40;

/// `key=number,...` with these keys; where a key is absent its number stays.
fn numbers(
    settings: &Settings,
    name: &'static str,
    text: &str,
    values: &mut [(&str, &mut u64)],
    example: &str,
) -> Result<(), SettingsError> {
    let mut given = Vec::new();
    for part in text.split(',').filter(|part| !part.is_empty()) {
        let key = part.split_once('=').map_or(part, |(key, _)| key.trim());
        if given.contains(&key) {
            return Err(settings.error(name, format!("--{name}: `{key}` stands twice in `{text}`"), "give it once"));
        }
        given.push(key);
        let found = part.split_once('=').and_then(|(key, value)| {
            let number = value.trim().parse::<u64>().ok().filter(|number| *number <= MOST)?;
            let (_, slot) = values.iter_mut().find(|(known, _)| *known == key.trim())?;
            **slot = number;
            Some(())
        });
        if found.is_none() {
            let keys: Vec<&str> = values.iter().map(|(key, _)| *key).collect();
            let what = format!("--{name}: `{part}` is not one of {} with a whole number up to 2^40", keys.join(", "));
            return Err(settings.error(name, what, format!("write --{name} {example}")));
        }
    }
    Ok(())
}

/// The hosts of a graph; G is that of the network.
pub(super) fn hosts(settings: &Settings) -> Result<HostParams, SettingsError> {
    let mut params = HostParams { gap_per_byte: 0, ..HostParams::default() };
    if settings.is_set("hosts") {
        let HostParams { overhead, gap, overhead_per_byte, rendezvous, .. } = &mut params;
        let values = &mut [("o", overhead), ("g", gap), ("O", overhead_per_byte), ("S", rendezvous)];
        numbers(settings, "hosts", settings.word("hosts"), values, "o=1500,g=1000,O=0,S=65535")?;
    }
    Ok(params)
}

/// L and G of the ideal network; `None` for the router.
pub(super) fn network(settings: &Settings) -> Result<Option<(u64, u64)>, SettingsError> {
    const EXAMPLE: &str = "ideal:L=2500,G=6";
    if !settings.is_set("network") {
        return Ok(None);
    }
    let word = settings.word("network");
    let (name, parameters) = word.split_once(':').unwrap_or((word, ""));
    let (mut latency, mut gap_per_byte) = (2500, 6);
    match name {
        "router" if parameters.is_empty() => Ok(None),
        "ideal" => {
            let values = &mut [("L", &mut latency), ("G", &mut gap_per_byte)];
            numbers(settings, "network", parameters, values, EXAMPLE)?;
            Ok(Some((latency, gap_per_byte)))
        }
        _ => {
            let what = format!("--network does not know `{word}`");
            Err(settings.error("network", what, format!("write --network router, or --network {EXAMPLE}")))
        }
    }
}

/// \[bytes\] Largest message that is sent eagerly; `None` if all are.
pub(super) fn eager(settings: &Settings) -> Result<Option<u64>, SettingsError> {
    if settings.is_set("eager") { settings.integer("eager").map(Some) } else { Ok(None) }
}

/// Tasks that share a node.
pub(super) fn tasks_per_node(settings: &Settings) -> Result<usize, SettingsError> {
    if !settings.is_set("tasks-per-node") {
        return Ok(1);
    }
    match settings.integer::<usize>("tasks-per-node")? {
        0 => Err(settings.error("tasks-per-node", "--tasks-per-node 0: nowhere to run", "use 1 or more")),
        tasks => Ok(tasks),
    }
}
