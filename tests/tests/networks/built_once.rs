//! An experiment holds the network that it runs over: nothing of it is read or built again while it runs.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use fsin::dashboard::of_experiment;
use fsin::experiment::{Driver, Experiment, Finished, Origin, Settings, check, execute};

/// A ring of eight switches with two chords; any one of its links may die. A name with H would be that of a host.
const LINKS: &str = "A B\nB C\nC D\nD E\nE F\nF G\nG H\nH A\nA E\nC G\nH kind switch\n";

const MIX: &str = "[[job]]\nkernel = \"all-to-all:tasks=8,bytes=600\"\ncount = 2\nevery = \"2us\"\n";

/// An experiment over the network of the file of links.
fn resolved(file: &Path, others: &[(&str, &str)]) -> Experiment {
    let mut settings = Settings::default();
    let topology = format!("graph:{},endpoints=2", file.display());
    for (name, value) in [("topology", topology.as_str()), ("routing", "graph:updown"), ("link-loads", "true")] {
        settings.set(name, value, Origin::Flag).unwrap();
    }
    for &(name, value) in others {
        settings.set(name, value, Origin::Flag).unwrap();
    }
    Experiment::resolve(settings).unwrap()
}

fn run(experiment: &Experiment) -> Finished {
    check(experiment).unwrap();
    execute(experiment, &AtomicBool::new(false), &mut |_| ()).unwrap()
}

/// Directed links that carried something or nothing.
fn counted(finished: &Finished) -> usize {
    finished.links.iter().flatten().flatten().flatten().count()
}

#[test]
fn a_run_needs_the_file_of_links_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let (file, mix) = (folder.path().join("net.txt"), folder.path().join("mix.toml"));
    fs::write(&mix, MIX).unwrap();
    let mix = mix.display().to_string();
    let steady = [("load", "0.2"), ("cycles", "2000")];
    let kernel = [("kernel", "all-to-all:tasks=12,bytes=300"), ("placement", "greedy")];
    let jobs = [("job-mix", mix.as_str()), ("placement", "greedy")];
    // Each switch has two endpoints, with a link each way.
    let links = 2 * (16 + 10);
    for (what, others) in [("steady traffic", &steady), ("a kernel", &kernel), ("jobs", &jobs)] {
        for (more, dead) in [(("engine", "reference"), 0), (("threads", "2"), 0), (("faults", "1"), 1)] {
            let others = [&others[..], &[more]].concat();
            fs::write(&file, LINKS).unwrap();
            let experiment = resolved(&file, &others);
            let with_file = run(&experiment);
            fs::remove_file(&file).unwrap();
            assert_eq!(run(&experiment), with_file, "{what}, {more:?}");
            assert_eq!(counted(&with_file), links - 2 * dead, "{what}, {more:?}");
            let about = of_experiment(&experiment);
            assert_eq!((about.nodes, about.links.iter().flatten().count()), (16, links - 2 * dead));
            match what {
                "steady traffic" => assert!(with_file.outcome.totals.received > 0),
                "a kernel" => {
                    assert!(with_file.trace.as_ref().unwrap().hop_bytes.is_some());
                    // Messages that an interface sends one after another bound direct networks alone, the link that carried
                    // most those whose paths a hash chooses, and what ranks compute live programs.
                    let bounds = with_file.bounds.unwrap();
                    let unknown = bounds.named().into_iter().filter(|(_, bound)| bound.is_none());
                    assert_eq!(
                        unknown.map(|(name, _)| name).collect::<Vec<_>>(),
                        ["interface", "fullest link", "computing"],
                        "{more:?}"
                    );
                }
                _ => {
                    let jobs = with_file.jobs.as_ref().unwrap();
                    assert!(jobs.iter().all(|job| job.alone_cycles.is_some() && job.hop_bytes.is_some()));
                }
            }
        }
    }
}

#[test]
fn copies_share_the_network_which_goes_with_them() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("net.txt");
    fs::write(&file, LINKS).unwrap();
    let experiment = resolved(&file, &[("load", "0.1"), ("cycles", "10"), ("faults", "1")]);
    let topology = |experiment: &Experiment| Arc::clone(experiment.topology().unwrap());
    let held = Arc::strong_count(experiment.topology().unwrap());
    let copy = experiment.clone();
    assert!(Arc::ptr_eq(&experiment.network, &copy.network));
    drop(copy);
    run(&experiment);
    assert_eq!(Arc::strong_count(experiment.topology().unwrap()), held, "engines let go of it");
    assert_eq!((topology(&experiment).faults(), experiment.seed), (1, 1));
    assert!(Driver::new(&experiment, experiment.geometry()).is_ok());
}
