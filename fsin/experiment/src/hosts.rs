//! Settings of hosts, and of the tasks' use of their nodes.

use trgen::catalog::ErrorKind;
use trgen::phrase;
use trgen::phrase::Phrase;
use trgen::trace::goal::Graph;
use trgen::trace::goal::hosts::HostParams;
use trgen::units::{DECIMALS, Decimal};

use super::settings::{Settings, SettingsError};

/// The number of units that `value` ticks are, as a decimal in words. A unit has `ticks` ticks, a power of ten.
pub(crate) fn in_units(value: u64, ticks: u64) -> String {
    if value.is_multiple_of(ticks) {
        return (value / ticks).to_string();
    }
    let places = ticks.ilog10() as usize;
    let rest = format!("{:0places$}", value % ticks);
    format!("{}.{}", value / ticks, rest.trim_end_matches('0'))
}

/// Where a parsed number is stored.
enum Slot<'a> {
    /// A whole number.
    Whole(&'a mut u64),
    /// A number with decimals.
    Decimal(&'a mut Decimal),
    /// `true` or `false`.
    Flag(&'a mut bool),
}

/// Parses `key=value,...` with these keys into `values`. If a key is absent, its number does not change.
fn numbers(
    settings: &Settings,
    name: &'static str,
    text: &str,
    values: &mut [(&str, Slot<'_>)],
    example: &str,
) -> Result<(), SettingsError> {
    let mut given = Vec::new();
    for part in text.split(',').filter(|part| !part.is_empty()) {
        let key = part.split_once('=').map_or(part, |(key, _)| key.trim());
        if given.contains(&key) {
            return Err(settings.error(
                name,
                ErrorKind::Conflict,
                phrase![[name], ": `{key}` stands twice in `{text}`"],
                "give it once",
            ));
        }
        given.push(key);
        let found = part.split_once('=').and_then(|(key, value)| {
            let (_, slot) = values.iter_mut().find(|(known, _)| *known == key.trim())?;
            match slot {
                Slot::Whole(slot) => {
                    **slot = value.trim().parse::<u64>().ok().filter(|number| *number <= Decimal::MOST)?
                }
                Slot::Decimal(slot) => **slot = Decimal::parse(value.trim())?,
                Slot::Flag(slot) => **slot = value.trim().parse().ok()?,
            }
            Some(())
        });
        if found.is_none() {
            let keys: Vec<&str> = values.iter().map(|(key, _)| *key).collect();
            let what = phrase![
                [name],
                (
                    ": `{part}` is not one of {} with a whole number up to 2^40 (O and G: with up to {DECIMALS} \
                     decimals; streams: true or false)",
                    keys.join(", ")
                )
            ];
            return Err(settings.error(name, ErrorKind::Malformed, what, phrase!["write ", [name => example]]));
        }
    }
    Ok(())
}

/// The parameters of the hosts of a graph. `gap_per_byte` is G of the network; `None` over routers, where G is 0.
pub(super) fn hosts(settings: &Settings, gap_per_byte: Option<Decimal>) -> Result<HostParams, SettingsError> {
    let mut params = HostParams::default();
    let gap_per_byte = gap_per_byte.unwrap_or(Decimal::whole(0));
    let mut overhead_per_byte = Decimal::whole(params.overhead_per_byte);
    if settings.is_set("hosts") {
        let HostParams { overhead, gap, rendezvous, streams, .. } = &mut params;
        let values = &mut [
            ("o", Slot::Whole(overhead)),
            ("g", Slot::Whole(gap)),
            ("O", Slot::Decimal(&mut overhead_per_byte)),
            ("S", Slot::Whole(rendezvous)),
            ("streams", Slot::Flag(streams)),
        ];
        numbers(settings, "hosts", settings.word("hosts"), values, "o=1500,g=1000,O=0,S=65535,streams=false")?;
    }
    // Ticks per ns are powers of ten, so the greater number is a multiple of the other.
    let ticks = gap_per_byte.ticks.max(overhead_per_byte.ticks);
    let (gap_per_byte, overhead_per_byte) = (gap_per_byte.counted_in(ticks), overhead_per_byte.counted_in(ticks));
    Ok(HostParams { gap_per_byte, overhead_per_byte, ticks, ..params })
}

/// What a graph whose operations use several CPUs of a host is taken for, which its text does not say. Decides when a
/// calculation releases what requires it.
pub(super) fn dialect(graph: &Graph, params: &HostParams) -> Option<Phrase> {
    let cpus = u32::from(graph.highest_resources().0) + 1;
    let (taken, other) = match params.streams {
        false => ("classic rules, a calculation releases what requires it when it begins", "streams=true"),
        true => ("streams, a calculation releases what requires it when it ends", "streams=false"),
    };
    (cpus > 1).then(|| phrase![("the operations of the graph use {cpus} CPUs of a host: {taken} (otherwise "), ["hosts" => other], ")"])
}

/// \[bytes\] Maximum size of a message that is sent eagerly; `None` if all messages are.
pub(super) fn eager(settings: &Settings) -> Result<Option<u64>, SettingsError> {
    if settings.is_set("eager") { settings.integer("eager").map(Some) } else { Ok(None) }
}

/// Number of tasks that share a node.
pub(super) fn tasks_per_node(settings: &Settings) -> Result<usize, SettingsError> {
    if !settings.is_set("tasks-per-node") {
        return Ok(1);
    }
    match settings.integer::<usize>("tasks-per-node")? {
        0 => Err(settings.error(
            "tasks-per-node",
            ErrorKind::OutOfRange,
            phrase![["tasks-per-node" => 0], ": nowhere to run"],
            "use 1 or more",
        )),
        tasks => Ok(tasks),
    }
}
