//! What the registry holds can be run: every component of every kind, by each network model that has it.

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use fsin::catalogue::{Carrier, Kind, Member, kinds};
use fsin::experiment::{Experiment, Origin, Settings, execute};
use fsin::models::MODELS;
use fsin::route::{Routers, balance, given};
use fsin::topology::{self, TOPOLOGIES};
use tests::command::run;
use tests::shared::aloud;
use trgen::synthetic::spatial;

use super::{done, folder};

/// Settings by name and value.
type Words<'a> = Vec<(&'a str, String)>;

/// \[cycles\] Length of a short run.
const SHORT: u64 = 200;

/// The experiment of a model with these settings, of a run of so many cycles; in models that count picoseconds of 100 000
/// times as many.
fn experiment(model: &str, words: &[(&str, String)], cycles: u64) -> Result<Experiment, String> {
    let mut settings = Settings::default();
    let cycles = if matches!(model, "ethernet" | "myrinet" | "flow") { cycles * 100_000 } else { cycles };
    let has_end = words.iter().any(|(key, value)| matches!(*key, "kernel" | "job-mix") || value == "shot");
    let length = if has_end { None } else { Some(("cycles", cycles.to_string())) };
    let words = [("network", model.to_owned())].into_iter().chain(words.iter().cloned()).chain(length);
    for (key, value) in words {
        settings.set(key, value, Origin::Flag).map_err(|error| error.to_string())?;
    }
    Experiment::resolve(settings).map_err(|error| error.to_string())
}

/// Runs a model with these settings.
fn tried(model: &str, words: &[(&str, String)]) -> Result<(), String> {
    ran(&experiment(model, words, SHORT)?).map(|_| ())
}

/// Runs an experiment: the packets that were received in each tenth of it.
fn ran(experiment: &Experiment) -> Result<Vec<u64>, String> {
    let finished = execute(experiment, &AtomicBool::new(false), &mut |_| ());
    let outcome = finished.map_err(|trouble| trouble.to_string())?.outcome;
    match outcome.failure {
        None => Ok(outcome.samples.iter().map(|sample| sample.summary.counts.received).collect()),
        Some(failure) => Err(failure.to_string()),
    }
}

/// Specifications of a topology, the example of its row first. `folder` holds the file of `graph`.
fn examples(topology: &str, folder: &Path) -> Vec<String> {
    let row = TOPOLOGIES.find(topology).unwrap();
    let file = format!("graph:{}", folder.join("net.txt").display());
    let example = if topology == "graph" { file } else { row.example.to_owned() };
    // Some routings need three dimensions.
    let more = ["torus:4x4x4", "mesh:4x4x4", "hypercube:3", "twisted:4x4x4:yx=2", "circulant:27:1,3,9"];
    let more = more.into_iter().filter(|spec| spec.split(':').next() == Some(topology)).map(str::to_owned);
    std::iter::once(example).chain(more).collect()
}

/// The settings with which a model accepts a routing in a topology: the first example and the least number of channels.
fn accepted(model: &str, routing: &str, topology: &str, folder: &Path) -> Result<Words<'static>, String> {
    let mut last = String::new();
    for spec in examples(topology, folder) {
        let routes = routing.ends_with("routes").then(|| ("routes", routes_of(&spec, folder)));
        let words = |more: &[(&'static str, String)]| {
            let base = [("topology", spec.clone()), ("routing", routing.to_owned())];
            base.into_iter().chain(routes.clone()).chain(more.iter().cloned()).collect::<Words<'static>>()
        };
        let channels = (1..=16).map(|vcs: u32| words(&[("vcs", vcs.to_string())]));
        let all: Vec<Words<'static>> = match model {
            // It has no virtual channels, and refuses what can deadlock unless told otherwise.
            "myrinet" => vec![words(&[]), words(&[("unsafe-routing", "true".to_owned())])],
            "flow" => vec![words(&[])],
            // BookSim's own, which is not free of deadlock, as its page says.
            "wormhole" if (routing, topology) == ("booksim-ugal", "dragonfly") => {
                vec![words(&[("vcs", "3".to_owned()), ("unsafe-routing", "true".to_owned())])]
            }
            _ => channels.collect(),
        };
        for words in all {
            match experiment(model, &words, SHORT) {
                Ok(_) => return Ok(words),
                Err(error) => last = error,
            }
        }
    }
    Err(last)
}

/// A file of balanced routes of a topology.
fn routes_of(spec: &str, folder: &Path) -> String {
    let topology = fsin::topology::parse(spec, 2).unwrap();
    let routers = Routers::new(&*topology).unwrap();
    let balanced = balance(&routers, None, 1).unwrap();
    let path = folder.join("routes.csv");
    let mut text = Vec::new();
    given::write(&balanced.table, &routers, given::Form::Hops, &mut text).unwrap();
    fs::write(&path, text).unwrap();
    path.display().to_string()
}

fn folder_with_files() -> tempfile::TempDir {
    let folder = folder();
    fs::write(folder.path().join("net.txt"), "a b\nb c\nc a\n").unwrap();
    // A map of SNDlib, with what is sent over it.
    let map = "?SNDlib native format; type: network; version: 1.0\nNODES (\n  A ( 1.0 2.0 )\n  B ( 2.0 2.0 )\n  C ( 3.0 1.0 )\n)\n\
               LINKS (\n  AB ( A B ) 40.0 0.0 0.0 0.0 ( )\n  BC ( B C ) 40.0 0.0 0.0 0.0 ( )\n)\n\
               DEMANDS (\n  one ( A C ) 1 5.0 UNLIMITED\n  two ( C B ) 1 2.5 UNLIMITED\n)\n";
    fs::write(folder.path().join("map.txt"), map).unwrap();
    fs::write(folder.path().join("mix.toml"), "[[job]]\nkernel = \"bintree:tasks=4\"\nestimate = \"1us\"\n").unwrap();
    folder
}

/// Runs a component of a kind that does not depend on the model, and those of the settings of a model.
fn run_member(kind: &Kind, member: &Member, folder: &Path) -> Result<(), String> {
    let name = member.component.name.to_owned();
    let with = |model: &str, more: &[(&'static str, &str)]| {
        let torus = [("topology", "torus:4x4".to_owned())];
        let more = more.iter().map(|&(key, value)| (key, value.to_owned()));
        tried(model, &torus.into_iter().chain(more).collect::<Vec<_>>())
    };
    // What needs arguments names its setting when it is refused without them.
    let or_needs = |result: Result<(), String>| match result {
        Err(error) if error.contains("needs") || error.contains("a single pattern") => Ok(()),
        other => other,
    };
    let mix = folder.join("mix.toml").display().to_string();
    match kind.name.as_str() {
        "networks" if name == "loggops" => Ok(()),
        "networks" => with(&name, &[]),
        "traffic" if name == "demands" => {
            let map = format!("graph:{}", folder.join("map.txt").display());
            tried("vct", &[("topology", map), ("traffic", name)])
        }
        // It is for 64 nodes.
        "traffic" if name == "taper64" => tried("vct", &[("topology", "torus:8x8".to_owned()), ("traffic", name)]),
        "traffic" => or_needs(with("vct", &[("traffic", spatial::example(&name).unwrap_or(&name))])),
        "temporal" => or_needs(with("vct", &[("temporal", &name)])),
        "sizes" => or_needs(with("vct", &[("size", &name)])),
        "kernels" => or_needs(tried("vct", &[("topology", "torus:4x4x4".to_owned()), ("kernel", name)])),
        "placements" => or_needs(with("vct", &[("kernel", "bintree"), ("placement", &name)])),
        "schedulers" => with("vct", &[("job-mix", &mix), ("scheduler", &name)]),
        "allocations" => with("vct", &[("job-mix", &mix), ("allocation", &name)]),
        // Sums have no names; collectives and formats belong to traces and networks, whose tests read all of them.
        "sums" | "collectives" | "formats" | "network-formats" => Ok(()),
        _ => {
            let keys = kind.keys.iter().flat_map(|&key| member.carriers.iter().map(move |of| (key, of.model)));
            keys.filter(|(key, model)| model.understands(key)).try_for_each(|(key, model)| {
                let more = match key {
                    // Injectors of dimensions need one for each direction.
                    "injection" => vec![("injectors", "4")],
                    // There must be several paths to choose from.
                    "paths" => vec![("routing", "adaptive")],
                    // Who is acknowledged has connections.
                    "completion" | "ack-class" => vec![("transport", "window")],
                    "in-flight" => vec![("transport", "roce")],
                    // Grades of queues are shares of their room in bytes.
                    "spread" if ["adaptive", "hash-adaptive"].contains(&name.as_str()) => {
                        vec![("forwarding", "static"), ("transport", "uec"), ("trim", "coin")]
                    }
                    "spread" => vec![("forwarding", "static")],
                    "trim" | "entropy" => vec![("transport", "uec"), ("forwarding", "static")],
                    "transport" if ["uec", "ndp"].contains(&name.as_str()) => vec![("forwarding", "static")],
                    // The two differ where a stage takes more than a step.
                    "traverse-mode" => vec![("traverse-delay", "2")],
                    "mark" => vec![("ecn", "step:10kB")],
                    // One class has no order.
                    "source-order" => vec![("message-classes", "2"), ("vcs", "4")],
                    // A congestion control has a transport that carries it, and marks or stamps.
                    "cc" => match name.as_str() {
                        "dctcp" => vec![("transport", "window"), ("ecn", "step:10kB")],
                        "dcqcn" => vec![("transport", "roce"), ("ecn", "step:10kB")],
                        "hpcc" => vec![("transport", "roce")],
                        "nscc" | "rccc" | "both" => vec![("transport", "uec"), ("forwarding", "static")],
                        _ => vec![("transport", "window")],
                    },
                    _ => Vec::new(),
                };
                with(model.component.name, &[&[(key, name.as_str())], &more[..]].concat())
            })
        }
    }
}

#[test]
fn what_is_listed_can_be_run() {
    let folder = folder_with_files();
    let mut failed = Vec::new();
    for kind in kinds().iter().filter(|kind| !["topologies", "routings"].contains(&kind.name.as_str())) {
        for member in &kind.members {
            if let Err(error) = run_member(kind, member, folder.path()) {
                failed.push(format!("{}/{}: {error}", kind.name, member.component.name));
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn every_model_runs_every_topology_with_its_default_routing_and_every_routing_that_it_carries() {
    let folder = folder_with_files();
    let (mut failed, mut run) = (Vec::new(), 0);
    let mut check = |what: String, result: Result<(), String>| {
        run += 1;
        failed.extend(result.err().map(|error| format!("{what}: {error}")));
    };
    for model in MODELS.rows().iter().filter(|model| model.component.name != "loggops") {
        let name = model.component.name;
        let carried = (model.routings)();
        for topology in TOPOLOGIES.names() {
            let has_default = carried.iter().any(|one| one.default_of.contains(&topology));
            let has_any = carried.iter().any(|one| one.topologies.contains(&topology));
            assert_eq!(has_default, has_any, "{name} {topology}: the routing if none is named");
            // A model without routings of its own takes every network whose links lead both ways.
            let leads_back = topology::row(topology).is_some_and(|row| row.kind != topology::Kind::OneWay);
            if model.understands("topology") && (has_default || carried.is_empty() && leads_back) {
                let spec = examples(topology, folder.path())[0].clone();
                let vcs = if name == "wormhole" { vec![("vcs", "4".to_owned())] } else { Vec::new() };
                check(format!("{name} {spec}"), tried(name, &[vec![("topology", spec)], vcs].concat()));
            }
        }
        for one in &carried {
            for topology in &one.topologies {
                let words = accepted(name, one.component.name, topology, folder.path());
                let result = words.and_then(|words| tried(name, &words));
                check(format!("{name} {topology} {}", one.component.name), result);
            }
        }
    }
    assert!(run > 300, "{run} runs");
    assert!(failed.is_empty(), "{} of {run}:\n{}", failed.len(), failed.join("\n"));
}

/// Every routing that a model carries in every topology at full load: nothing is deadlocked, and packets arrive to the
/// end. Only routings that were asked for although they are not proved may deadlock.
fn soak(cycles: u64, seeds: &[u64]) {
    let folder = folder_with_files();
    let (mut failed, mut runs, mut deadlocks) = (Vec::new(), 0, 0);
    // Flows hold no buffers while they wait.
    for model in MODELS.rows().iter().filter(|model| model.component.name != "flow") {
        let name = model.component.name;
        for one in (model.routings)() {
            for topology in &one.topologies {
                let words = accepted(name, one.component.name, topology, folder.path());
                let words = words.unwrap_or_else(|error| panic!("{name} {topology} {}: {error}", one.component.name));
                let is_unsafe = words.iter().any(|(key, _)| *key == "unsafe-routing");
                for seed in seeds {
                    let more = [("load", "1".to_owned()), ("seed", seed.to_string())];
                    let words = [&words[..], &more].concat();
                    // Packets arrive in the second half too.
                    let fault = match experiment(name, &words, cycles).and_then(|experiment| ran(&experiment)) {
                        Ok(tenths) if tenths.len() == 10 && tenths[5..].iter().any(|&received| received > 0) => None,
                        // Some of the network may stand still before all of it does, which is reported.
                        Ok(_) if is_unsafe => {
                            deadlocks += 1;
                            None
                        }
                        Ok(tenths) => Some(format!("packets by tenth of the run: {tenths:?}")),
                        Err(error) if is_unsafe && error.contains("deadlock") => {
                            deadlocks += 1;
                            None
                        }
                        Err(error) => Some(error),
                    };
                    failed.extend(fault.map(|fault| format!("{name} {words:?}: {fault}")));
                    runs += 1;
                }
            }
        }
    }
    aloud(&format!("{runs} runs, {deadlocks} deadlocks of routings that were not proved\n"));
    assert!(runs > 250 * seeds.len(), "{runs} runs");
    assert!(failed.is_empty(), "{} of {runs}:\n{}", failed.len(), failed.join("\n"));
}

#[test]
fn no_routing_of_any_model_deadlocks_in_any_topology_at_full_load() {
    soak(4000, &[1]);
}

#[test]
#[ignore = "100 000 cycles of every routing of every model take minutes"]
fn no_routing_of_any_model_deadlocks_in_a_long_time() {
    soak(100_000, &[1, 7, 2026]);
}

/// Names by which both models carry a routing in a topology.
fn of_both(topology: &str, models: [&str; 2]) -> Vec<&'static str> {
    let names = |model: &str| -> Vec<&'static str> {
        let carried = (MODELS.find(model).unwrap().routings)();
        let of_topology = carried.into_iter().filter(|one| one.topologies.contains(&topology));
        of_topology.flat_map(|one| std::iter::once(one.component.name).chain(one.aliases)).collect()
    };
    let [one, other] = models.map(names);
    one.into_iter().filter(|name| other.contains(name)).collect()
}

#[test]
fn one_name_of_a_routing_sweeps_every_model_that_carries_it() {
    let folder = folder_with_files();
    let mut swept = 0;
    for topology in TOPOLOGIES.names() {
        for routing in of_both(topology, ["vct", "wormhole"]) {
            let spec = examples(topology, folder.path())[0].clone();
            let routes = (routing == "routes").then(|| routes_of(&spec, folder.path()));
            let accepts = |model: &str, vcs: u32| {
                let words = [("topology", spec.clone()), ("routing", routing.to_owned()), ("vcs", vcs.to_string())];
                let routes = routes.iter().map(|path| ("routes", path.clone()));
                experiment(model, &words.into_iter().chain(routes).collect::<Vec<_>>(), SHORT).is_ok()
            };
            let vcs = (1..=16).find(|&vcs| ["vct", "wormhole"].iter().all(|model| accepts(model, vcs)));
            let vcs = vcs.unwrap_or_else(|| panic!("{topology} {routing}: no number of channels suits both"));
            let line = format!(
                "sweep --network vct --network wormhole --topology {spec} --routing {routing} --vcs {vcs} --cycles 200 -q \
                 -o {topology}-{swept} {}",
                routes.iter().map(|path| format!("--routes {path}")).collect::<String>()
            );
            done(&run(folder.path(), &line));
            swept += 1;
        }
    }
    assert!(swept > 20, "{swept} pairs");
    let carriers = &kinds().iter().find(|kind| kind.name == "routings").unwrap().members;
    assert!(carriers.iter().flat_map(|member| &member.carriers).all(|Carrier { routing, .. }| routing.is_some()));
}
