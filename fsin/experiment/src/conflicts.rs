//! Which settings apply to which workload.

use trgen::catalog::ErrorKind;
use trgen::phrase;
use trgen::phrase::Phrase;
use trgen::synthetic::expr::Expr;

use super::keys::{Is, Key, Need, keys};
use super::settings::{Origin, Settings, SettingsError};
use super::workload::WORKLOADS;
use fsin_core::family::{ModelFamily, NetworkSpec};
use fsin_core::topology;

/// How the workload generates messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Times {
    /// A steady process without end.
    Steady,
    /// Shots, which end.
    Shots,
    /// An application alone.
    Application,
    /// An application with background traffic beside it.
    Beside,
}

impl Times {
    /// How the workload of these settings generates messages; `tasks` says whether it has tasks.
    pub(super) fn of(settings: &Settings, tasks: bool) -> Self {
        // A word that cannot be parsed is rejected where the process is built.
        let process = Expr::parse(settings.word("temporal")).map_or_else(|_| String::new(), |expr| expr.name);
        match (tasks, process.as_str()) {
            (false, _) if settings.is_set("shot") => Self::Shots,
            (false, "shot") => Self::Shots,
            (false, _) => Self::Steady,
            (true, "background") => Self::Beside,
            (true, _) => Self::Application,
        }
    }
}

/// Keys of synthetic traffic. These keys and the following ones apply to some workloads or run controls only.
pub(super) const SYNTHETIC: &[&str] = &["traffic", "temporal", "size", "load", "scale"];
/// Keys of batch runs.
pub(super) const BATCH: &[&str] =
    &["warmup", "conv-period", "conv-threshold", "max-conv-time", "samples", "sample-size", "min-batch-packets"];
/// Keys of workloads with tasks.
pub(super) const TASKS: &[&str] = &["eager", "tasks-per-node", "placement", "bandwidth", "phit-bytes"];
/// Keys of one application alone, whose ranks have numbers.
pub(super) const RANKS: &[&str] = &["slow"];
/// Keys of one application alone, whose iterations or packets may repeat each other.
pub(super) const SKIPS: &[&str] = &["no-skip"];
/// Keys of one kernel alone, whose iterations may repeat each other.
pub(super) const ROUNDS: &[&str] = &["no-digest"];
/// Keys of finite runs.
pub(super) const ENDING: &[&str] = &["max-cycles", "strict"];
/// Keys of traces.
pub(super) const TRACE: &[&str] =
    &["compute", "flop-rate", "trace-unit", "recv-order", "collectives", "hosts", "groups", "peak", "memory-bandwidth"];
/// Keys of kernels and traces that choose algorithms of collectives.
pub(super) const COLLECTIVES: &[&str] = &["collectives"];
/// Keys that apply where several applications run.
pub(super) const JOBS: &[&str] = &["scheduler", "allocation"];
/// Keys of graphs, which are not allowed as jobs.
pub(super) const GRAPHS: &[&str] = &["hosts", "groups", "peak", "memory-bandwidth"];
/// Keys that apply where hosts compute over a wire, beside those of the model.
const WIRE: &[&str] = &[
    "trace",
    "network",
    "hosts",
    "groups",
    "peak",
    "memory-bandwidth",
    "compute",
    "slow",
    "flop-rate",
    "trace-unit",
    "recv-order",
    "collectives",
];
/// Keys that determine the length of a cycle.
pub(crate) const CYCLE: &[&str] = &["bandwidth", "phit-bytes"];

/// True if a key applies where hosts compute over a wire, and cycles are only a unit of time.
pub(super) fn is_of_wire(settings: &Settings, model: &ModelFamily, key: &str) -> bool {
    WIRE.contains(&key)
        || model.keys.iter().any(|own| own.name == key)
        || (CYCLE.contains(&key) && settings.word("trace-unit") == "cycles")
}

/// The setting that selects a workload, if one is set; a flag overrides a file.
pub(super) fn task_key(settings: &Settings) -> Result<Option<&'static str>, SettingsError> {
    let keys = WORKLOADS.iter().filter_map(|family| family.key);
    let set: Vec<&'static str> = keys.filter(|key| settings.is_set(key)).collect();
    let by_flag: Vec<&'static str> = set.iter().copied().filter(|key| settings.origin(key) == Origin::Flag).collect();
    match (&*set, &*by_flag) {
        ([], _) => Ok(None),
        ([key], _) | (_, [key]) => Ok(Some(*key)),
        ([one, other, ..], []) | (_, [one, other, ..]) => Err(settings.error(
            other,
            ErrorKind::Conflict,
            phrase![[one], " and ", [other], " exclude each other"],
            "give one of them",
        )),
    }
}

/// Rejects flags that would have no effect.
pub(super) fn conflicts(settings: &Settings, tasks: Option<&'static str>, times: Times) -> Result<(), SettingsError> {
    let given = |keys: &[&'static str]| {
        keys.iter().copied().find(|&key| settings.is_set(key) && settings.origin(key) == Origin::Flag)
    };
    let useless = |key: &'static str, why: Phrase, remedy: Phrase| {
        let what = phrase![[key], " has no meaning ", why];
        Err(settings.error(key, ErrorKind::Meaningless, what, remedy))
    };
    if tasks != Some("job-mix")
        && let Some(key) = given(JOBS)
    {
        return useless(key, phrase!["without ", ["job-mix"]], phrase!["leave it out, or give ", ["job-mix"]]);
    }
    for (keys, repeats) in [(ROUNDS, &["kernel"][..]), (SKIPS, &["kernel", "trace"])] {
        let is_one = tasks.is_some_and(|tasks| repeats.contains(&tasks));
        if let Some(key) = given(keys).filter(|_| !is_one || times == Times::Beside) {
            let why = match (is_one, repeats) {
                (true, _) => "with traffic beside the application, which draws at random".into(),
                (_, [_]) => phrase!["without ", ["kernel"], ", whose iterations may repeat each other"],
                _ => phrase![
                    "without ",
                    ["kernel"],
                    " or ",
                    ["trace"],
                    ", whose iterations or packets may repeat each other"
                ],
            };
            return useless(key, why, "leave it out".into());
        }
    }
    if tasks == Some("flows") {
        if times == Times::Beside {
            let what = phrase!["`background` is traffic beside an application, and ", ["flows"], " is none"];
            return Err(settings.error("temporal", ErrorKind::Conflict, what, "leave it out"));
        }
        let of_tasks: Vec<&'static str> = TASKS.iter().copied().filter(|key| !CYCLE.contains(key)).collect();
        let others = [SYNTHETIC, &["shot", "cycles"], BATCH, &of_tasks[..], TRACE, RANKS];
        if let Some(key) = others.into_iter().find_map(given) {
            let why = phrase!["with ", ["flows"], ", whose file says what is sent and when"];
            return useless(key, why, phrase!["leave it out; ", ["max-cycles"], " limits the run"]);
        }
        return Ok(());
    }
    if let Some(tasks) = tasks {
        if tasks == "job-mix" {
            if times == Times::Beside {
                let what =
                    phrase!["`background` is traffic beside one application, and ", ["job-mix"], " runs several"];
                return Err(settings.error("temporal", ErrorKind::Conflict, what, "leave it out"));
            }
            if let Some(key) = given(RANKS) {
                return useless(
                    key,
                    phrase!["with ", ["job-mix"], ", whose applications each have ranks of their own"],
                    "leave it out".into(),
                );
            }
            if let Some(key) = given(GRAPHS) {
                return useless(
                    key,
                    phrase!["with ", ["job-mix"], ", whose applications are no graphs"],
                    "leave it out".into(),
                );
            }
        }
        let synthetic: &[&str] = if times == Times::Beside { &["load", "shot"] } else { SYNTHETIC };
        if let Some(key) = given(synthetic).or_else(|| given(&["shot"])).or_else(|| given(BATCH)) {
            if matches!(key, "traffic" | "size") {
                let why = phrase!["with ", [tasks], ", whose tasks say what is sent"];
                return useless(
                    key,
                    why,
                    phrase!["leave it out, or add ", ["temporal" => "background(LOAD)"], " for nodes without a task"],
                );
            }
            return useless(
                key,
                phrase!["with ", [tasks]],
                "leave it out: a trace, kernel or job sets its own pace and end".into(),
            );
        }
        if let Some(key) = given(&["cycles"]) {
            return useless(
                key,
                phrase!["with ", [tasks], ", which runs to its end"],
                phrase!["use ", ["max-cycles"], " for a limit"],
            );
        }
        if tasks == "kernel"
            && let Some(key) =
                given(&TRACE.iter().copied().filter(|key| !COLLECTIVES.contains(key)).collect::<Vec<_>>())
        {
            return useless(key, phrase!["with ", ["kernel"]], "leave it out".into());
        }
        return Ok(());
    }
    // Where a file gives times of links, the bandwidth makes them cycles. Energy depends on the time and bits of a phit.
    let has_file = topology::file(settings.word("topology")).is_some();
    let has_energy = settings.is_set("energy");
    let of_tasks = TASKS.iter().copied().filter(|&key| key != "bandwidth" || !has_file);
    let of_tasks: Vec<&'static str> = of_tasks.filter(|key| !(has_energy && CYCLE.contains(key))).collect();
    if let Some(key) = given(&of_tasks).or_else(|| given(TRACE)).or_else(|| given(RANKS)) {
        return useless(
            key,
            "with synthetic traffic".into(),
            phrase!["leave it out, or give ", ["trace"], " or ", ["kernel"]],
        );
    }
    if times == Times::Shots {
        if settings.is_set("shot") && given(&["temporal"]).is_some() {
            return useless(
                "temporal",
                phrase!["with ", ["shot"], ", which is a temporal process"],
                "leave out one of them".into(),
            );
        }
        if let Some(key) = given(&["load"]) {
            return useless(key, "with shots, which go at full speed".into(), "leave it out".into());
        }
        if let Some(key) = given(&["cycles"]) {
            return useless(
                key,
                "with shots, which run to their end".into(),
                phrase!["use ", ["samples"], " for their number"],
            );
        }
        let batch: Vec<&'static str> = BATCH.iter().copied().filter(|&key| key != "samples").collect();
        if let Some(key) = given(&batch) {
            return useless(key, "with shots, all of which are measured".into(), "leave it out".into());
        }
        return Ok(());
    }
    if let Some(key) = given(ENDING) {
        return useless(
            key,
            "with traffic that goes on for ever".into(),
            phrase!["use ", ["cycles"], " for a fixed run"],
        );
    }
    if settings.is_set("cycles")
        && let Some(key) = given(BATCH)
    {
        return useless(
            key,
            phrase!["with ", ["cycles"], ", which measures every cycle"],
            "leave out one of them".into(),
        );
    }
    Ok(())
}

/// The condition of a key that does not hold, if there is one.
pub(super) fn unmet(settings: &Settings, key: &Key) -> Option<&'static Need> {
    key.needs.iter().find(|need| !need.holds(settings.value(need.key)))
}

/// Rejects flags whose conditions on other settings do not hold.
pub(super) fn check_needs(settings: &Settings) -> Result<(), SettingsError> {
    let is_flag = |key: &&Key| settings.origin(key.name) == Origin::Flag;
    for key in keys().iter().filter(is_flag) {
        let Some(need) = unmet(settings, key) else { continue };
        let (why, remedy) = match need.is {
            Is::Set => (phrase!["without ", [need.key]], phrase!["leave it out, or set ", [need.key]]),
            Is::Value(value) => {
                (phrase!["without ", [need.key => value]], phrase!["leave it out, or set ", [need.key => value]])
            }
            Is::NotValue(value) => (phrase!["with ", [need.key => value]], "leave out one of them".into()),
            Is::Names(names) => {
                let needed = names().join(" or ");
                (phrase!["without ", [need.key => &needed]], phrase!["leave it out, or set ", [need.key => needed]])
            }
        };
        let what = phrase![[key.name], " has no meaning ", why];
        return Err(settings.error(key.name, ErrorKind::Meaningless, what, remedy));
    }
    Ok(())
}

/// Rejects flags that the network says it does not use.
pub(super) fn check_unused(settings: &Settings, network: &dyn NetworkSpec) -> Result<(), SettingsError> {
    match network.unused().into_iter().find(|(key, _)| settings.origin(key) == Origin::Flag) {
        None => Ok(()),
        Some((key, why)) => {
            let what = phrase![[key], " has no meaning ", why];
            Err(settings.error(key, ErrorKind::Meaningless, what, "leave it out"))
        }
    }
}
