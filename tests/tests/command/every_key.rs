//! Every key of every model, in every mode: it changes a result, is refused by name, or is noted. Nothing is ignored.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use fsin::experiment::{Experiment, Finished, IdealRun, Origin, Settings, Trouble, execute, execute_ideal, key, keys};
use fsin::family::{Kind, ModelFamily, Units};
use fsin::models::MODELS;
use fsin::result::{Costs, LatencyBin, Manifest, of_network};
use tests::chakra::{self, Attr};
use tests::keys::VALUES;
use trgen::catalog::ErrorKind;
use trgen::phrase::Plain;

/// A setting with its value.
type Word = (&'static str, &'static str);

/// Settings, each with its value.
type Words = &'static [Word];

/// Runs without the setting under test, by their settings: each is run once. An error if the settings are refused.
type Bases = HashMap<Vec<Word>, Result<Found, String>>;

/// Where the value of a key is set.
const FLAG: Origin = Origin::Flag;

/// What a run is compared by.
#[derive(PartialEq, Debug)]
enum Found {
    /// A run over a network, what turns its cycles and phits into figures, and its histogram of latencies, if kept.
    Network(Box<Finished>, f64, f64, u32, bool, Option<Vec<LatencyBin>>),
    /// A run over a wire.
    Wire(Box<IdealRun>),
    /// A run that could not begin, and why.
    Trouble(String),
}

/// The modes of a run: settings beside those of the network. The names of files stand for those in the folder.
const MODES: &[(&str, Words)] = &[
    ("batch", &[("load", "0.6"), ("samples", "2")]),
    ("fixed", &[("load", "0.6"), ("cycles", "600")]),
    ("reactive", &[("temporal", "reactive(0.5,1)"), ("load", "0.1"), ("cycles", "600")]),
    ("shots", &[("shot", "4"), ("samples", "2")]),
    ("kernel", &[("kernel", "all-to-all:tasks=8,bytes=3000")]),
    // The limit is met where the network is so full of the background that the kernel does not end.
    (
        "beside",
        &[("kernel", "all-to-all:tasks=8,bytes=3000"), ("temporal", "background(0.3)"), ("max-cycles", "20000")],
    ),
    ("programs", &[("trace", "ti.txt")]),
    ("trc", &[("trace", "a.trc")]),
    ("graph", &[("trace", "a.goal")]),
    ("chakra", &[("trace", "steps")]),
    ("jobs", &[("job-mix", "mix.toml")]),
    ("flows", &[("flows", "flows.csv")]),
];

/// Keys on which no result depends, by their definition; and the model, over which the tests go.
const FREE: &[&str] = &["engine", "threads", "network", "no-skip"];

/// Keys that act in circumstances that the modes of these tests do not have, with the test that has them.
const ELSEWHERE: &[(&str, &str)] = &[
    ("watchdog", "a network in deadlock: tests/tests/networks/model.rs"),
    ("unsafe-routing", "a routing that is not free of deadlock: fsin/models/wormhole/tests/all/model.rs"),
    ("inject", "injection by phits: tests/tests/networks/engines_agree.rs"),
    ("no-digest", "the digest of the written result: tests/tests/command/repetition.rs"),
];

/// The models that have the setting `routing`.
const ROUTED: &[&str] = &["vct", "wormhole", "myrinet", "flow"];

/// Other settings, in which keys of these models act that show nothing in the base.
const SCENES: &[(&[&str], Words)] = &[
    (ROUTED, &[("routing", "bubble:oblivious"), ("vcs", "1"), ("load", "1")]),
    (
        ROUTED,
        &[
            ("routing", "bubble:oblivious"),
            ("vcs", "1"),
            ("injectors", "2"),
            ("queue", "3"),
            ("load", "1"),
            ("packet", "4"),
        ],
    ),
    (ROUTED, &[("vcs", "3")]),
    // Inputs are never as full as by default where links pause.
    (&["ethernet"], &[("xoff", "1"), ("xon", "0")]),
    (&["flow"], &[("fairness", "rtt"), ("propagation", "1us")]),
    (&["flow"], &[("routing", "adaptive")]),
    // Little or nothing fills: the load of these networks varies by their sources.
    (&["zero", "myrinet"], &[("temporal", "cburst(8)")]),
];

/// The settings of the network in the base: busy enough that most rules act.
fn base(model: &ModelFamily) -> Vec<(&'static str, &'static str)> {
    let topology = match model.component.name {
        "myrinet" => "mesh:4x4",
        _ => "torus:4x4",
    };
    vec![("topology", topology)]
}

/// Lengths of the runs of models that count picoseconds are longer.
fn scaled(model: &ModelFamily, name: &str, value: &str) -> String {
    const LENGTHS: &[&str] = &["warmup", "conv-period", "max-conv-time", "sample-size", "cycles", "max-cycles"];
    let factor = match model.component.name {
        "ethernet" | "myrinet" => 1_000_000,
        "flow" => 100_000,
        _ => 1,
    };
    match value.parse::<u64>() {
        // Of bytes in each ps: a queue before a link costs nothing, and a thousand flows do.
        Err(_) if model.component.name == "flow" && name == "temporal" => {
            value.replace("background(0.", "background(0.000")
        }
        Ok(cycles) if LENGTHS.contains(&name) => (cycles * factor).to_string(),
        _ => value.to_owned(),
    }
}

/// Traces, graphs and jobs.
fn files() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: String| fs::write(folder.path().join(name), text).unwrap();
    for rank in 0..4 {
        let (next, before) = ((rank + 1) % 4, (rank + 3) % 4);
        write(
            &format!("{rank}.ti"),
            format!(
                "{rank} init\n{rank} compute 50000\n{rank} isend {next} 0 4000 6\n{rank} recv {before} 0 4000 6\n{rank} waitall\n\
                 {rank} allreduce 3000 0 6\n{rank} finalize\n"
            ),
        );
    }
    write("ti.txt", (0..4).map(|rank| format!("{rank}.ti\n")).collect());
    write("a.trc", "c 0 100\ns 0 1 5 2560\nr 0 1 5 2560\nc 1 70\ns 1 0 6 64\nr 1 0 6 64\n".to_owned());
    write("b.trc", "c 0 300\ns 0 1 5 256\nr 0 1 5 256\n".to_owned());
    let graph = "num_ranks 2\nrank 0 {\ns: send 9000b to 1 tag 1\nr: recv 50b from 1 tag 2\nr requires s\n}\nrank 1 {\nr: recv \
                 9000b from 0 tag 1\nc: calc 1000\ns: send 50b to 0 tag 2\nc requires r\ns requires c\n}\n";
    write("a.goal", graph.to_owned());
    fs::create_dir(folder.path().join("steps")).unwrap();
    write("steps/groups.json", "{\"all\": [0, 1, 2]}".to_owned());
    write("turned.json", "{\"all\": [2, 0, 1]}".to_owned());
    for rank in 0..3 {
        let timed = [("num_ops", Attr::Int64(3_000_000)), ("tensor_size", Attr::Uint64(500_000))];
        let nodes = [
            chakra::compute(1, 2, &[]),
            chakra::compute(2, 3 + rank, &[]),
            chakra::Node { attributes: timed.to_vec(), ..chakra::compute(3, 0, &[2]) },
            chakra::collective(4, 5, 3000, "all", &[1]),
            chakra::collective(5, 0, 9000, "all", &[3, 4]),
        ];
        fs::write(folder.path().join(format!("steps/x.{rank}.et")), chakra::file(&nodes, None, true)).unwrap();
    }
    let job = |name: &str, tasks: u32, arrival: &str| {
        format!(
            "[[job]]\nname = \"{name}\"\nkernel = \"all-to-all:tasks={tasks},bytes=300\"\narrival = \"{arrival}\"\n"
        )
    };
    write("mix.toml", [job("a", 10, "0ns"), job("b", 10, "1ns"), job("c", 3, "2ns")].concat());
    let flows: Vec<String> =
        (0..40).map(|at| format!("{},{},3000,{}ns\n", at % 16, (at * 7 + 3) % 15, at * 5)).collect();
    let flows = flows.into_iter().filter(|line| line.split(',').next() != line.split(',').nth(1));
    let flows: String = std::iter::once("src,dst,bytes,start\n".to_owned()).chain(flows).collect();
    write("other.csv", format!("{flows}3,4,50000,90ns\n"));
    write("flows.csv", flows);
    write("other.toml", job("a", 5, "0ns"));
    // X, then Y, never round a ring.
    let pairs = (0..16).flat_map(|here| (0..16).map(move |there| (here, there))).filter(|(here, there)| here != there);
    let towards = |from: i32, to: i32| (to - from).signum();
    let next = |(here, there): (i32, i32)| match towards(here % 4, there % 4) {
        0 => here + 4 * towards(here / 4, there / 4),
        step => here + step,
    };
    let rows = pairs.map(|pair| format!("{},{},{}\n", pair.0, pair.1, next(pair)));
    write("routes.csv", std::iter::once("current,destination,next\n".to_owned()).chain(rows).collect());
    folder
}

/// The settings of a run: the base, the mode, a scene, and a key with its origin.
fn settings(
    model: &ModelFamily,
    folder: &Path,
    words: &[(&str, &str)],
    other: Option<(&str, &str, Origin)>,
) -> Settings {
    let mut settings = Settings::default();
    settings.set("network", model.component.name, FLAG).unwrap();
    // Waiting begins while the network fills, and lasts for more periods than a steady state needs.
    let lengths = [("warmup", "20"), ("conv-period", "100"), ("max-conv-time", "800"), ("sample-size", "300")];
    // In a file, what does not apply of the base is no error.
    let words = lengths.into_iter().chain(words.iter().copied()).map(|(name, value)| (name, value, file()));
    for (name, value, origin) in words.chain(other) {
        let value = match name {
            "trace" | "job-mix" | "groups" | "flows" | "routes" => folder.join(value).display().to_string(),
            _ => scaled(model, name, value),
        };
        settings.set(name, value, origin).unwrap();
    }
    settings
}

/// An experiment file.
fn file() -> Origin {
    Origin::File { path: PathBuf::from("e.toml"), text: "".into(), span: 0..0 }
}

fn run(experiment: &Experiment) -> Found {
    let stop = AtomicBool::new(false);
    if experiment.runs.by_hosts() {
        return match execute_ideal(experiment, &stop, false, &mut |_| ()) {
            Ok(run) => Found::Wire(Box::new(run)),
            Err(trouble) => Found::Trouble(trouble.to_string()),
        };
    }
    match execute(experiment, &stop, &mut |_| ()) {
        Ok(finished) => {
            // Times of programs alone are given in seconds.
            let has_seconds = finished.trace.is_some() || finished.jobs.is_some();
            let cycle_seconds = if has_seconds { experiment.cycle_seconds } else { 0.0 };
            let Units { capacity, packet_phits, .. } = experiment.units;
            let is_strict = experiment.strict && experiment.settings().is_set("max-cycles");
            let costs = Costs { cpu_seconds: None, wall_seconds: 1.0, peak_memory_bytes: None };
            let histogram = of_network(experiment, &finished, costs, Manifest::default(), &Plain).latency_histogram;
            Found::Network(Box::new(finished), cycle_seconds, capacity, packet_phits, is_strict, histogram)
        }
        Err(Trouble::Settings(error)) => {
            Found::Trouble(format!("{}: {error}", error.error.setting().unwrap_or_default()))
        }
        Err(trouble) => Found::Trouble(trouble.to_string()),
    }
}

/// What a setting does to a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Effect {
    Changes,
    Refused,
    Nothing,
}

/// The effect of a setting on a run, by a flag. What is refused as meaningless is, in a file, noted, and changes
/// nothing.
fn effect(
    model: &ModelFamily,
    folder: &Path,
    bases: &mut Bases,
    words: &[Word],
    name: &str,
    value: &str,
) -> Result<Effect, String> {
    let before = &*bases.entry(words.to_vec()).or_insert_with(|| {
        let base = Experiment::resolve(settings(model, folder, words, None));
        base.map(|experiment| run(&experiment)).map_err(|refused| refused.to_string())
    });
    let after = Experiment::resolve(settings(model, folder, words, Some((name, value, FLAG))));
    let refused = match (before, after) {
        (Err(error), Err(_)) => return Err(format!("the base is refused: {error}")),
        (Err(_), Ok(_)) => return Ok(Effect::Changes),
        (Ok(before), Ok(experiment)) => match run(&experiment) {
            Found::Trouble(what) if *before != Found::Trouble(what.clone()) => {
                return if what.contains(name) { Ok(Effect::Refused) } else { Err(format!("unnamed: {what}")) };
            }
            after if *before == after => return Ok(Effect::Nothing),
            _ => return Ok(Effect::Changes),
        },
        (Ok(_), Err(refused)) => refused.error,
    };
    // A conflict may name the other setting alone.
    let is_conflict = refused.kind() != ErrorKind::Meaningless;
    if !is_conflict && !refused.settings().any(|key| key == name) && !refused.to_string().contains(name) {
        return Err(format!("it is not named: {refused}"));
    }
    // In the file, the key would take the place of what the mode sets.
    if words.iter().any(|(of_mode, _)| *of_mode == name) {
        return Ok(Effect::Refused);
    }
    let Ok(noted) = Experiment::resolve(settings(model, folder, words, Some((name, value, file())))) else {
        return Ok(Effect::Refused);
    };
    let is_noted = noted.without_effect().iter().any(|key| key.name == name);
    let is_same = before.as_ref().is_ok_and(|before| *before == run(&noted));
    match (is_noted, is_same) {
        (true, true) | (false, false) => Ok(Effect::Refused),
        (true, false) => Err("in a file it is said to have no effect, and has one".to_owned()),
        (false, true) => Err(format!("refused as a flag ({refused}), ignored in a file")),
    }
}

#[test]
fn every_key_has_another_value_here() {
    for key in keys() {
        let is_known =
            FREE.contains(&key.name) || key.name == "seed" || VALUES.iter().any(|(name, _)| *name == key.name);
        assert!(is_known, "`{}` is a new key: give it another value here", key.name);
    }
    let tested = ["vct", "wormhole", "ethernet", "myrinet", "flow", "bus", "constant-delay", "zero", "loggops"];
    assert_eq!(
        MODELS.rows().iter().map(|model| model.component.name).collect::<Vec<_>>(),
        tested,
        "a model has no test"
    );
}

/// Checks every key of a model in every mode.
fn check(name: &str) {
    let folder = files();
    let model = MODELS.rows().iter().find(|model| model.component.name == name).unwrap();
    let (mut ignored, mut bases) = (Vec::new(), Bases::new());
    let is_wire = model.component.name == "loggops";
    // In calm modes a key may rightly show nothing: one mode of each kind of workload must show it.
    let is_of_tasks =
        |mode: &str| ["kernel", "beside", "programs", "trc", "graph", "chakra", "jobs", "flows"].contains(&mode);
    for has_tasks in [false, true] {
        let modes: Vec<_> = MODES
            .iter()
            .filter(|(mode, _)| is_of_tasks(mode) == has_tasks)
            .filter(|(mode, _)| !is_wire || ["programs", "trc", "graph"].contains(mode))
            .collect();
        for (name, values) in VALUES {
            let mut calm = Vec::new();
            let mut acts = false;
            let mut tried = |mode: &str, words: &[Word]| {
                let found: Vec<Effect> = values
                    .iter()
                    .filter_map(|value| {
                        let found = effect(model, folder.path(), &mut bases, words, name, value);
                        found.map_err(|why| ignored.push(format!("{mode}: {name} {value}: {why}"))).ok()
                    })
                    .collect();
                acts |= found.contains(&Effect::Changes);
                !found.contains(&Effect::Changes) && found.contains(&Effect::Nothing)
            };
            for (mode, words) in &modes {
                let words: Vec<_> = base(model).into_iter().chain(words.iter().copied()).collect();
                if tried(mode, &words) {
                    calm.push((*mode, words));
                }
            }
            for (_, scene) in SCENES.iter().filter(|(models, _)| models.contains(&model.component.name)) {
                for (mode, words) in &calm {
                    let words = [words, *scene].concat();
                    let is_valid = Experiment::resolve(settings(model, folder.path(), &words, None)).is_ok();
                    is_valid.then(|| tried(mode, &words));
                }
            }
            if !acts && !calm.is_empty() && !ELSEWHERE.iter().any(|(known, _)| known == name) {
                let modes: Vec<&str> = calm.iter().map(|(mode, _)| *mode).collect();
                ignored.push(format!("{name} {values:?} does nothing in {}", modes.join(", ")));
            }
        }
    }
    assert!(ignored.is_empty(), "{} settings do nothing:\n{}", ignored.len(), ignored.join("\n"));
}

#[test]
fn every_key_of_vct() {
    check("vct");
}

#[test]
fn every_key_of_wormhole() {
    check("wormhole");
}

#[test]
fn every_key_of_ethernet() {
    check("ethernet");
}

#[test]
fn every_key_of_myrinet() {
    check("myrinet");
}

#[test]
fn every_key_of_flow() {
    check("flow");
}

#[test]
fn every_key_of_bus() {
    check("bus");
}

#[test]
fn every_key_of_networks_of_constant_delay() {
    check("constant-delay");
    check("zero");
}

#[test]
fn every_key_of_loggops() {
    check("loggops");
}

#[test]
fn every_condition_names_a_key_and_a_value_that_it_can_have() {
    for one in keys() {
        for need in one.needs {
            let other = key(need.key).unwrap_or_else(|| panic!("{}: no key {}", one.name, need.key));
            assert_ne!(other.name, one.name);
        }
    }
}

/// What a command does with a setting beside those that it has anyway: `Err` if it is refused, without the setting's
/// name in the message, or done without any change.
fn effect_of_flag(base: &str, name: &str, value: &str, before: &str) -> Result<Effect, String> {
    let is_switch = key(name).is_some_and(|key| key.kind == Kind::Switch);
    let flag = if is_switch { format!("--{name}") } else { format!("--{name} {value}") };
    let output = tests::command::run(Path::new("."), &format!("{base} {flag}"));
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    match output.status.code() {
        Some(0) if out != before => Ok(Effect::Changes),
        Some(0) if err.contains(name) => Ok(Effect::Refused),
        Some(0) => Ok(Effect::Nothing),
        // More tasks than nodes is a matter of the topology, and a value that this model lacks one of its setting.
        Some(2) if err.contains(name) || err.contains("--topology") => Ok(Effect::Refused),
        _ => Err(format!("{name} {value}: {err}")),
    }
}

/// Every key is an axis of a sweep over some model: its plan has another point. The models before it refuse the key by
/// name.
#[test]
fn every_key_of_sweeps() {
    let mut ignored = Vec::new();
    let plans = ["vct", "wormhole", "ethernet", "myrinet", "flow"].map(|network| {
        let base = format!("sweep --network {network} --topology mesh:4x4 --load 0.5 --dry-run -q");
        let before = tests::command::run(Path::new("."), &base);
        assert_eq!(before.status.code(), Some(0), "{base}");
        (network, base, String::from_utf8(before.stdout).unwrap())
    });
    for (name, values) in VALUES.iter().filter(|(name, _)| *name != "topology") {
        for (network, base, before) in &plans {
            let found: Vec<_> = values.iter().map(|value| effect_of_flag(base, name, value, before)).collect();
            ignored.extend(found.iter().filter_map(|found| found.as_ref().err().cloned()));
            if found.contains(&Ok(Effect::Changes)) {
                break;
            }
            if found.contains(&Ok(Effect::Nothing)) {
                ignored.push(format!("{network}: {name} does nothing"));
            }
        }
    }
    assert!(ignored.is_empty(), "{}", ignored.join("\n"));
}

/// Every key changes what a search prints, or is refused by name.
#[test]
fn every_key_of_searches() {
    // In networks of one switch, with traffic of one class, and at loads that fill nothing to the brim.
    let of_ethernet =
        ["forwarding", "spanning-tree", "pause", "per", "ecmp", "port-queue", "min-frame", "ties", "classes", "ecn"];
    let calm = [("vct", &["injection-queue"][..]), ("ethernet", &of_ethernet[..])];
    let mut ignored = Vec::new();
    for (network, topology) in [("vct", "torus:4x4"), ("ethernet", "fattree:4,1")] {
        let calm = calm.iter().find(|(name, _)| *name == network).map_or(&[][..], |(_, calm)| calm);
        let base = format!(
            "saturation --network {network} --topology {topology} --lengthen 1 --tolerance 0.2 -q --format json"
        );
        let before = tests::command::run(Path::new("."), &base);
        assert_eq!(before.status.code(), Some(0), "{base}");
        let before = String::from_utf8(before.stdout).unwrap();
        for (name, values) in VALUES.iter().filter(|(name, _)| !["topology", "network"].contains(name)) {
            let found: Vec<_> = values.iter().map(|value| effect_of_flag(&base, name, value, &before)).collect();
            ignored.extend(found.iter().filter_map(|found| found.as_ref().err().cloned()));
            let acts = found.iter().any(|found| matches!(found, Ok(Effect::Changes | Effect::Refused)));
            if !acts && !calm.contains(name) && !ELSEWHERE.iter().any(|(known, _)| known == name) {
                ignored.push(format!("{network}: {name} {values:?} does nothing"));
            }
        }
    }
    assert!(ignored.is_empty(), "{}", ignored.join("\n"));
}
