//! Settings of hosts, and of the tasks' use of their nodes.

use trgen::catalog::ErrorKind;
use trgen::phrase;
use trgen::phrase::Phrase;
use trgen::trace::chakra::Dependencies;
use trgen::trace::chakra::replay::Params as RankParams;
use trgen::trace::goal::Graph;
use trgen::trace::goal::hosts::HostParams;
use trgen::trace::slow::Slow;
use trgen::units::{self, DECIMALS, Decimal, parse_span};

use super::quantity::rate;
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
    /// A size, perhaps with its unit \[bytes\].
    Size(&'a mut u64),
    /// A number with decimals.
    Decimal(&'a mut Decimal),
    /// `true` or `false`.
    Flag(&'a mut bool),
    /// `all` or `data`.
    Dependencies(&'a mut Dependencies),
    /// `ring` or `hierarchical`.
    Levels(&'a mut Option<bool>),
    /// A number of operations at a time, from 1 on.
    Room(&'a mut u32),
    /// A time with its unit \[ps\].
    Time(&'a mut u64),
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
                Slot::Size(slot) => **slot = units::bytes(value.trim()).filter(|bytes| *bytes <= Decimal::MOST)?,
                Slot::Decimal(slot) => **slot = Decimal::parse(value.trim())?,
                Slot::Flag(slot) => **slot = value.trim().parse().ok()?,
                Slot::Dependencies(slot) => {
                    **slot = match value.trim() {
                        "all" => Dependencies::All,
                        "data" => Dependencies::Data,
                        _ => return None,
                    }
                }
                Slot::Levels(slot) => {
                    **slot = match value.trim() {
                        "ring" => Some(false),
                        "hierarchical" => Some(true),
                        _ => return None,
                    }
                }
                Slot::Room(slot) => **slot = value.trim().parse().ok().filter(|&room| room > 0)?,
                Slot::Time(slot) => **slot = parse_span(value.trim())?,
            }
            Some(())
        });
        if found.is_none() {
            let keys: Vec<&str> = values.iter().map(|(key, _)| *key).collect();
            let what = phrase![
                [name],
                (
                    ": `{part}` is not one of {} with its value: a whole number up to 2^40 (O and G: with up to {DECIMALS} \
                     decimals; S: a size such as 64kB), streams true or false, deps all or data, engines and communications from 1 on, least and group-delay a time, \
                     algorithm ring or hierarchical",
                    keys.join(", ")
                )
            ];
            return Err(settings.error(name, ErrorKind::Malformed, what, phrase!["write ", [name => example]]));
        }
    }
    Ok(())
}

/// Keys of `hosts` that are of LogGOPS hosts.
const OF_LOGGOPS: &[&str] = &["o", "g", "O", "S", "streams"];

/// The keys of `hosts` that are of the ranks of a Chakra trace, each with the reasons why it is none of a program, and why
/// of a graph.
const OF_CHAKRA: &[(&str, &str, &str)] = &[
    ("deps", "a program has no dependencies but its order", "a graph has one kind of dependencies"),
    (
        "engines",
        "a program computes one thing after another",
        "the graph names the CPU of each of its operations (`cpu`)",
    ),
    (
        "communications",
        "a program says itself which of its sends and receives are under way at once",
        "the graph names the network interface of each of its operations (`nic`)",
    ),
    ("least", "a program has recorded how long it computes", "every calculation of a graph has a duration"),
    (
        "group-delay",
        "the collectives of a program are the sends and receives of its library",
        "a graph holds its collectives as sends and receives",
    ),
    (
        "algorithm",
        "`collectives` names the algorithms of a program",
        "a graph holds its collectives as sends and receives",
    ),
];

/// Keys of `hosts` that a Chakra trace has on devices alone, each with the reason.
const OF_DEVICES: &[(&str, &str)] = &[
    ("engines", "has one CPU for computations"),
    ("communications", "begins each communication that is ready, when its CPU and interface are free"),
    ("group-delay", "has the overhead o for each message"),
];

/// What a trace holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Holds {
    /// Programs.
    Programs,
    /// A graph of GOAL.
    Graph,
    /// Nodes of Chakra's ranks.
    Chakra,
}

/// The keys of `hosts` that are given.
fn given(settings: &Settings) -> impl Iterator<Item = &str> {
    let word = if settings.is_set("hosts") { settings.word("hosts") } else { "" };
    word.split(',').filter_map(|part| Some(part.split_once('=')?.0.trim()))
}

/// True if `hosts` describes LogGOPS hosts.
pub(super) fn are_loggops(settings: &Settings) -> bool {
    given(settings).any(|key| OF_LOGGOPS.contains(&key))
}

/// Refuses keys of `hosts` that a trace does not have, on LogGOPS hosts or on others.
pub(super) fn check_kind(settings: &Settings, holds: Holds, on_loggops: bool) -> Result<(), SettingsError> {
    let refused = |key: &str, why: &str| {
        let what = phrase![["hosts"], (": `{key}` has no meaning here: {why}")];
        Err(settings.error("hosts", ErrorKind::Meaningless, what, phrase!["leave `{key}` out"]))
    };
    for key in given(settings) {
        if holds == Holds::Chakra {
            if let Some((_, why)) = OF_DEVICES.iter().find(|(device, _)| on_loggops && *device == key) {
                return refused(key, &format!("a LogGOPS host {why}"));
            }
        } else if let Some((_, program, graph)) = OF_CHAKRA.iter().find(|(of, ..)| *of == key) {
            return refused(key, if holds == Holds::Graph { graph } else { program });
        }
    }
    Ok(())
}

/// The parameters of the hosts of a graph, and of the ranks of a Chakra trace. `gap_per_byte` is G of the network; `None`
/// over routers, where G is 0. `scale` is the factor on computing times, and `gpus` the number of GPUs of a node of the
/// network, 1 in networks of one level.
pub(super) fn hosts(
    settings: &Settings,
    gap_per_byte: Option<Decimal>,
    scale: f64,
    gpus: u32,
) -> Result<(HostParams, RankParams), SettingsError> {
    let mut params = HostParams::default();
    let mut ranks = RankParams { scale, ..RankParams::default() };
    let mut levels = None;
    let gap_per_byte = gap_per_byte.unwrap_or(Decimal::whole(0));
    let mut overhead_per_byte = Decimal::whole(params.overhead_per_byte);
    if settings.is_set("hosts") {
        let HostParams { overhead, gap, rendezvous, streams, .. } = &mut params;
        let RankParams { dependencies, engines, communications, least, group_delay, .. } = &mut ranks;
        let values = &mut [
            ("o", Slot::Whole(overhead)),
            ("g", Slot::Whole(gap)),
            ("O", Slot::Decimal(&mut overhead_per_byte)),
            ("S", Slot::Size(rendezvous)),
            ("streams", Slot::Flag(streams)),
            ("deps", Slot::Dependencies(dependencies)),
            ("engines", Slot::Room(engines)),
            ("communications", Slot::Room(communications)),
            ("least", Slot::Time(least)),
            ("group-delay", Slot::Time(group_delay)),
            ("algorithm", Slot::Levels(&mut levels)),
        ];
        numbers(settings, "hosts", settings.word("hosts"), values, "o=1500,g=1000,O=0,S=65535,streams=false")?;
    }
    ranks.gpus = if levels == Some(false) { 1 } else { gpus };
    if levels == Some(true) && gpus == 1 {
        let what = phrase![["hosts" => "algorithm=hierarchical"], " needs a network whose nodes have several GPUs"];
        let remedy = phrase!["leave it out, or use one, such as ", ["topology" => "cluster:nodes=4,gpus=8"]];
        return Err(settings.error("hosts", ErrorKind::Conflict, what, remedy));
    }
    for (key, unit, example, slot) in
        [("peak", "flop", "100Tflop/s", &mut ranks.peak), ("memory-bandwidth", "B", "2TB/s", &mut ranks.memory)]
    {
        if settings.is_set(key) {
            let word = settings.word(key);
            let read = rate(word, unit).ok_or_else(|| {
                let what = phrase![[key], " takes a rate with its unit, not `{word}`"];
                settings.error(key, ErrorKind::Malformed, what, phrase!["write ", [key => example]])
            })?;
            *slot = Some(read);
        }
    }
    // Ticks per ns are powers of ten, so the greater number is a multiple of the other.
    let ticks = gap_per_byte.ticks.max(overhead_per_byte.ticks);
    let (gap_per_byte, overhead_per_byte) = (gap_per_byte.counted_in(ticks), overhead_per_byte.counted_in(ticks));
    Ok((HostParams { gap_per_byte, overhead_per_byte, ticks, ..params }, ranks))
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

/// Ranks whose computations last longer. `scale` is the factor on all computing times.
pub(super) fn slow(settings: &Settings, scale: f64) -> Result<Slow, SettingsError> {
    if !settings.is_set("slow") {
        return Ok(Slow::default());
    }
    if scale == 0.0 {
        let what = phrase![["slow"], " has no meaning with ", ["compute" => 0], ", which removes computing"];
        return Err(settings.error("slow", ErrorKind::Meaningless, what, "leave out one of them"));
    }
    Slow::parse(settings.word("slow")).map_err(|refusal| settings.refused("slow", refusal))
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
