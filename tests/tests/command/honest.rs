//! Statements about results are true: on saturation, comparisons, omissions, and accompanying data.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::Value;
use tests::command::run;

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[track_caller]
fn done(folder: &Path, line: &str) -> Output {
    let output = run(folder, line);
    assert_eq!(output.status.code(), Some(0), "{line}: {}", said(&output));
    output
}

#[track_caller]
fn figures(folder: &Path, line: &str) -> Value {
    serde_json::from_slice(&done(folder, &format!("{line} --format json")).stdout).unwrap()
}

/// An empty network fills first: packets in flight at the end were not rejected.
#[test]
fn a_short_run_is_not_saturated_because_it_began_empty() {
    let folder = tempfile::tempdir().unwrap();
    for (load, cycles, expected) in [("0.15", 300, false), ("0.15", 5000, false), ("1", 1500, true)] {
        let run = figures(folder.path(), &format!("run --topology torus:32x32 --load {load} --cycles {cycles} -q"));
        assert_eq!(run["saturated"], expected, "load {load}, {cycles} cycles: {run}");
    }
    let line =
        "saturation --topology torus:8x8 --warmup 0 --max-conv-time 0 --samples 1 --sample-size 1000 --tolerance 0.1";
    let short = figures(folder.path(), &format!("{line} -q"));
    let found = short["saturation_load_phits_per_node_cycle"].as_f64().unwrap();
    assert!((0.6..0.95).contains(&found), "{short}");
}

/// One link for eight nodes carries 1/8 phit per node and cycle: a load of 4 % more is 97 % accepted, and queues grow.
#[test]
fn queues_that_grow_are_saturation_whatever_share_is_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let line = "run --topology dragonfly:p=2,a=4,h=2 --routing dragonfly:minimal --traffic groupshift(8,1) -q --samples 5 \
                --sample-size 4000 --warmup 4000 --max-conv-time 0";
    for (load, expected) in [("0.11", false), ("0.13", true)] {
        let run = figures(folder.path(), &format!("{line} --load {load}"));
        assert_eq!(run["saturated"], expected, "{load}: {}", run["accepted_load_phits_per_node_cycle"]);
        let growth = run["queue_growth_phits_per_node_cycle"].as_f64().unwrap();
        assert_eq!(growth > 0.003, expected, "{load}: {growth}");
        // Without a wait for a steady state, only a trend is reported.
        assert_eq!(run["converged"], if expected { Value::Bool(false) } else { Value::Null }, "{load}");
    }
}

/// Just above saturation 98 % of the load is accepted, successive periods hardly differ, and latency depends on the
/// length of the run: the run is reported as neither converged nor carried, whatever its length.
#[test]
fn latency_that_grows_with_the_run_has_not_converged() {
    let folder = tempfile::tempdir().unwrap();
    let line = "run --topology torus:4x4 -q";
    let run = |load: &str, samples: u32| figures(folder.path(), &format!("{line} --load {load} --samples {samples}"));
    let latency = [5, 20, 100].map(|samples| {
        let run = run("0.92", samples);
        assert_eq!((&run["saturated"], &run["converged"]), (&Value::Bool(true), &Value::Bool(false)), "{samples}");
        assert_eq!(run["warnings"].as_array().unwrap().len(), 1, "{}", run["warnings"]);
        let growth = ["queue_growth_phits_per_node_cycle", "queue_growth_ci95"].map(|name| run[name].as_f64().unwrap());
        assert!(growth[0] > 0.0 && growth[0] < 0.05, "{growth:?}");
        run["latency_mean_cycles"].as_f64().unwrap()
    });
    assert!(latency[0] < latency[1] && latency[1] < latency[2], "{latency:?}");
    let table = String::from_utf8(done(folder.path(), &format!("{line} --load 0.92")).stdout).unwrap();
    assert!(table.lines().next().unwrap().ends_with("SATURATED"), "{table}");
    for samples in [5, 20, 100] {
        let run = run("0.5", samples);
        assert_eq!((&run["saturated"], &run["converged"]), (&Value::Bool(false), &Value::Bool(true)), "{samples}");
    }
}

/// Queues of throttled sources are bounded: the difference between requested and accepted load reveals saturation.
#[test]
fn throttled_sources_are_held_back() {
    let folder = tempfile::tempdir().unwrap();
    for (load, expected) in [("0.5", false), ("1", true)] {
        let run = figures(folder.path(), &format!("run --topology torus:4x4 --source throttled --load {load} -q"));
        assert_eq!(run["saturated"], expected, "{load}");
        assert_eq!(run["converged"], true, "{load}: a full network is steady");
    }
}

/// The nodes of the diagonal are silent: the others accept their full offered load.
#[test]
fn silent_nodes_take_nothing_from_the_load_of_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let run = figures(folder.path(), "run --topology torus:8x8 --traffic transpose --load 0.1 --samples 20 -q");
    let figure = |name: &str| run[name].as_f64().unwrap();
    assert_eq!(run["silent_nodes"], 8);
    assert!((figure("offered_load_of_senders_phits_per_node_cycle") - 0.1).abs() < 1e-12);
    let (all, senders) = ("accepted_load_phits_per_node_cycle", "accepted_load_of_senders_phits_per_node_cycle");
    assert!((figure(senders) - figure(all) * 64.0 / 56.0).abs() < 1e-12);
    assert!((figure(senders) - 0.1).abs() < 2.0 * figure("accepted_load_of_senders_ci95"), "{}", figure(senders));
    let table = String::from_utf8(
        done(folder.path(), "run --topology torus:4x4 --traffic transpose --load 0.1 --cycles 2000 -q").stdout,
    );
    assert!(table.unwrap().contains("of each sending node"));

    done(folder.path(), "sweep --topology torus:4x4 --traffic transpose --load 0.1,0.2 --cycles 4000 -q -o r");
    done(folder.path(), "plot r -q");
    let drawn = fs::read_to_string(folder.path().join("r/plots/accepted.csv")).unwrap();
    let head: Vec<&str> = drawn.lines().next().unwrap().split(',').collect();
    for row in drawn.lines().skip(1) {
        let cell = |name: &str| {
            let at = head.iter().position(|column| *column == name).unwrap();
            row.split(',').nth(at).unwrap().parse::<f64>().unwrap()
        };
        let accepted = cell("accepted_load_of_senders_phits_per_node_cycle");
        assert!((accepted / cell("load") - 1.0).abs() < 0.05, "{drawn}: 4 of 16 nodes are silent");
    }
    // The sending rate of tasks follows from the network: there is no offered load to compare with.
    done(folder.path(), "sweep --topology torus:4x4 --kernel bintree --vcs 2,3 -q -o k");
    done(folder.path(), "plot k -q");
    assert!(
        folder.path().join("k/plots/completion.csv").exists() && !folder.path().join("k/plots/accepted.csv").exists()
    );
}

#[test]
fn runs_that_measured_too_little_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let warnings = |line: &str| figures(folder.path(), line)["warnings"].as_array().unwrap().len();
    let line = "run --topology torus:4x4 -q";
    for (flags, expected) in [
        // Nothing is received, and nothing is known about saturation.
        ("--cycles 1", 2),
        ("--load 0 --cycles 1000", 1),
        ("--load 0 --samples 2", 1),
        // Too short for a verdict.
        ("--cycles 1000", 1),
        ("--cycles 20000", 0),
        ("--samples 1 --sample-size 1000", 1),
        ("--samples 1 --sample-size 10000", 0),
    ] {
        assert_eq!(warnings(&format!("{line} {flags}")), expected, "{flags}");
    }
    assert_eq!(figures(folder.path(), &format!("{line} --cycles 1"))["saturated"], Value::Null);
    // Tasks on the same node.
    assert_eq!(warnings(&format!("{line} --kernel bintree:tasks=2 --tasks-per-node 2")), 1);
    assert_eq!(warnings(&format!("{line} --kernel bintree:tasks=2")), 0);
}

#[test]
fn a_limit_of_cycles_is_told_and_strictly_a_failure() {
    let folder = tempfile::tempdir().unwrap();
    let line = "run --topology torus:4x4 --kernel bintree --max-cycles 10 -q";
    let met = figures(folder.path(), line);
    assert_eq!((&met["complete"], &met["completion_cycles"]), (&Value::Bool(false), &Value::Null));
    assert_eq!(met["warnings"].as_array().unwrap().len(), 1, "{}", met["warnings"]);
    assert_eq!(run(folder.path(), &format!("{line} --strict")).status.code(), Some(3));
}

#[test]
fn what_was_not_measured_is_not_given() {
    let folder = tempfile::tempdir().unwrap();
    let line = "run --topology torus:8x8 --routing bubble:oblivious --vcs 1 --bubble 0 --load 1 --warmup 30000 -q --format json";
    let output = run(folder.path(), line);
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    let figures: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(figures["samples"], serde_json::json!([]), "{figures}");
    for name in ["fairness_min", "fairness_jain", "accepted_load_phits_per_node_cycle"] {
        assert_eq!(figures[name], Value::Null, "{name}");
    }
}

/// Two sweeps of one curve each, over different settings with the same values.
#[test]
fn points_of_different_axes_are_not_compared() {
    let folder = tempfile::tempdir().unwrap();
    let line = "sweep --topology torus:4x4 --cycles 300 -q";
    for (name, axis) in [("a", "--vcs 2,4"), ("b", "--queue 2,4"), ("c", "--vcs 2,4 --seed 2")] {
        done(folder.path(), &format!("{line} {axis} -o {name}"));
    }
    let other = run(folder.path(), "compare a b");
    assert_eq!(other.status.code(), Some(2), "{}", said(&other));
    let same = String::from_utf8(done(folder.path(), "compare a c").stdout).unwrap();
    assert!(same.contains("vcs"), "{same}");
}

#[test]
fn shots_have_the_interval_of_their_run() {
    let folder = tempfile::tempdir().unwrap();
    for (name, pattern) in [("a", "uniform"), ("b", "transpose")] {
        let line = format!(
            "sweep --topology torus:4x4 --topology torus:8x4 --traffic {pattern} --shot 20 --samples 10 -q -o {name}"
        );
        done(folder.path(), &line);
    }
    let table = String::from_utf8(done(folder.path(), "compare a b --format csv").stdout).unwrap();
    let shots: Vec<&str> = table.lines().filter(|line| line.contains("shot_cycles_mean")).collect();
    assert!(!shots.is_empty() && !shots.iter().any(|line| line.contains("unknown")), "{table}");
}

#[test]
fn seeds_beyond_what_floats_hold_are_counted_one_by_one() {
    let folder = tempfile::tempdir().unwrap();
    let line = "sweep --topology torus:4x4 --cycles 10 --seed 9007199254740993..9007199254740997 --dry-run";
    let listed = String::from_utf8(done(folder.path(), line).stdout).unwrap();
    for seed in 9_007_199_254_740_993_u64..=9_007_199_254_740_997 {
        assert!(listed.contains(&seed.to_string()), "{seed}: {listed}");
    }
    for (range, words) in [("0.1..0.9/1000000000", "2 to 100000 values"), ("0.1..0.9/1", "2 to 100000 values")] {
        let refused = run(folder.path(), &format!("sweep --load {range} --dry-run"));
        assert!(refused.status.code() == Some(2) && said(&refused).contains(words), "{}", said(&refused));
    }
}

#[test]
fn a_sweep_that_goes_on_refuses_what_its_plan_has_decided() {
    let folder = tempfile::tempdir().unwrap();
    done(folder.path(), "sweep --topology torus:4x4 --cycles 100 --load 0.1,0.2 -q -o r");
    for flag in ["--stop-after 1", "--skip-invalid"] {
        let refused = run(folder.path(), &format!("sweep --resume {flag} -o r"));
        let words = said(&refused);
        assert!(refused.status.code() == Some(2) && words.contains("as the sweep was planned"), "{words}");
    }
}

#[test]
fn combinations_that_are_left_out_are_told_by_reason() {
    let folder = tempfile::tempdir().unwrap();
    let line = "sweep --topology torus:4x4,fattree:2,2 --routing bubble:smart,tree:adaptive --cycles 50 --skip-invalid";
    let line = line.replace("torus:4x4,fattree:2,2", "torus:4x4 --topology fattree:2,2");
    let told = said(&done(folder.path(), &format!("{line} --load 0.1,0.2,0.3 --seeds 2 --dry-run")));
    let lines: Vec<&str> = told.lines().filter(|line| line.contains("no valid experiments")).collect();
    assert_eq!(lines.len(), 2, "{told}");
    assert!(lines.iter().all(|line| line.contains("6 combinations") && line.contains("the first: topology")), "{told}");
    let none = run(folder.path(), "sweep --routing bubble:smart --vcs 1 --load 0.1,0.2 --skip-invalid --dry-run");
    let words = said(&none);
    assert!(words.contains("no combination is a valid experiment") && !words.contains("--skip-invalid"), "{words}");
}

/// Points of a sweep in sequence: the second, smaller one does not report the memory of the first.
#[test]
fn memory_is_that_of_the_point() {
    let folder = tempfile::tempdir().unwrap();
    done(folder.path(), "sweep --topology torus:128x128 --topology torus:4x4 --cycles 100 --jobs 1 -q -o r");
    let point = |place: fs::DirEntry| -> Value {
        serde_json::from_str(&fs::read_to_string(place.path().join("result.json")).unwrap()).unwrap()
    };
    let points: Vec<Value> =
        fs::read_dir(folder.path().join("r/points")).unwrap().map(|place| point(place.unwrap())).collect();
    let bytes = |nodes: u64| points.iter().find(|point| point["nodes"] == nodes).unwrap()["peak_memory_bytes"].as_u64();
    if let (Some(large), Some(small)) = (bytes(16_384), bytes(16)) {
        assert!(small < large, "{small} of {large} bytes");
    }
}

#[test]
fn figures_of_an_earlier_plot_are_told() {
    let folder = tempfile::tempdir().unwrap();
    done(folder.path(), "sweep --topology torus:4x4 --cycles 200 --load 0.1,0.2 --link-loads -q -o r");
    done(folder.path(), "plot r -q");
    fs::copy(folder.path().join("r/plots/latency.svg"), folder.path().join("r/plots/latency-2.svg")).unwrap();
    fs::write(folder.path().join("r/plots/mine.svg"), "<svg/>").unwrap();
    let told = said(&done(folder.path(), "plot r"));
    assert!(
        told.contains("of an earlier plot, if not your own: latency-2.svg\n") && !told.contains("mine.svg"),
        "{told}"
    );
    // Rerunning the others reports a missing point.
    let point = fs::read_dir(folder.path().join("r/points")).unwrap().next().unwrap().unwrap().path();
    fs::remove_dir_all(point).unwrap();
    let told = said(&done(folder.path(), "rerun r"));
    assert!(told.contains("1 of 2 points have no result"), "{told}");
}

#[test]
fn a_page_replaces_a_page_only() {
    let folder = tempfile::tempdir().unwrap();
    done(folder.path(), "sweep --topology torus:4x4 --cycles 200 --load 0.1,0.2 -q -o r");
    fs::write(folder.path().join("e.toml"), "load = 0.1\n").unwrap();
    let refused = run(folder.path(), "report r -o e.toml");
    assert!(refused.status.code() == Some(2) && said(&refused).contains("is no page"), "{}", said(&refused));
    assert_eq!(fs::read_to_string(folder.path().join("e.toml")).unwrap(), "load = 0.1\n");
    done(folder.path(), "report r -o page.html -q");
    done(folder.path(), "report r -o page.html -q");
}

#[test]
fn patterns_of_a_grid_say_that_switches_have_none() {
    let folder = tempfile::tempdir().unwrap();
    let line = "run --topology fattree:4,2 --routing tree:adaptive --cycles 50 --load 0.1 --traffic";
    let told = |pattern: &str| said(&done(folder.path(), &format!("{line} {pattern}")));
    assert!(told("tornado").contains("tornado is another pattern there"));
    assert!(!told("uniform").contains("another pattern"));
    let torus = said(&done(folder.path(), "run --topology torus:4x4 --cycles 50 --load 0.1 --traffic tornado"));
    assert!(!torus.contains("another pattern"), "{torus}");
}

#[test]
fn hosts_of_a_graph_are_said_where_they_act_by_default() {
    let folder = tempfile::tempdir().unwrap();
    let graph = "num_ranks 2\nrank 0 {\nl1: send 100b to 1 tag 1\n}\nrank 1 {\nl1: recv 100b from 0 tag 1\n}\n";
    fs::write(folder.path().join("g.goal"), graph).unwrap();
    let run = figures(folder.path(), "run --trace g.goal --topology torus:4 -q");
    assert!(run["notes"].to_string().contains("o=1500 ns, g=1000 ns"), "{run}");
}

#[test]
fn jobs_have_names_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let job =
        |name: &str, count: u32| format!("[[job]]\nname = \"{name}\"\ncount = {count}\nkernel = \"bintree:tasks=4\"\n");
    for mix in [job("a", 1) + &job("a", 1), job("a", 2) + &job("a-1", 1)] {
        fs::write(folder.path().join("mix.toml"), mix).unwrap();
        let refused = run(folder.path(), "run --topology torus:4x4 --job-mix mix.toml");
        assert!(
            refused.status.code() == Some(2) && said(&refused).contains("two jobs have the name"),
            "{}",
            said(&refused)
        );
    }
}

/// Paths in a file of settings are relative to that file, for whatever reads them: sources, lengths of a run, bounds.
#[test]
fn a_run_is_the_same_from_whichever_folder_it_is_begun() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("inner");
    fs::create_dir(&inner).unwrap();
    fs::write(inner.join("sizes.txt"), "0 0\n100000 15\n2000000 100\n").unwrap();
    fs::write(inner.join("weights.csv"), "0,3,1,0\n1,0,1,1\n0,0,0,1\n1,1,1,0\n").unwrap();
    let settings = "topology = 'torus:2x2'\ntraffic = 'matrix(weights.csv)'\nsize = 'cdf(sizes.txt)'\nload = 0.1\n";
    fs::write(inner.join("one.toml"), settings).unwrap();
    let of = |from: &Path, file: &str| {
        let mut result = figures(from, &format!("run {file} -q"));
        let result = result.as_object_mut().unwrap();
        // What depends on the machine, and where files are.
        let others =
            ["cpu_seconds", "wall_seconds", "cycles_per_second", "peak_memory_bytes", "manifest", "experiment"];
        result.retain(|name, _| !others.contains(&name.as_str()));
        result.clone()
    };
    let (here, there) = (of(&inner, "one.toml"), of(folder.path(), "inner/one.toml"));
    assert!(here["cycles"].as_u64() > Some(1_000_000), "long messages make default lengths long");
    for (name, value) in &here {
        assert_eq!(there.get(name), Some(value), "{name}");
    }
}

/// Where links have no delay, or a host is slow beside the one it sends to, a message may have arrived before its source
/// is done with it: it is sent by then.
#[test]
fn programs_end_where_messages_arrive_before_their_source_is_done() {
    let folder = tempfile::tempdir().unwrap();
    let slow = |of: usize, rate: &str| {
        let slow = (0..of).map(|host| format!("H{host} -> S [rate=\"{rate}\"]; S -> H{host} [rate=\"{rate}\"];"));
        let fast = (of..4).map(|host| format!("H{host} -> S; S -> H{host};"));
        let links: String = slow.chain(fast).collect();
        let name = format!("slow-{of}-{}.dot", &rate[..3]);
        let text = format!("digraph {{ edge [propagation=\"300ns\", rate=\"10Gb/s\"]; {links} }}");
        fs::write(folder.path().join(&name), text).unwrap();
        name
    };
    let ethernet = |more: &str| format!("ethernet:forwarding=static{more} --topology star:4 --propagation 0ns");
    let myrinet = |length: f64| format!("myrinet --topology star:4 --cable-length {length}");
    let mut networks: Vec<String> =
        ["", ",switching=cut-through", ",transport=window", ",transport=uec", ",transport=ndp", ",transport=roce"]
            .map(ethernet)
            .to_vec();
    networks.extend([0.001, 0.5, 1.0, 1.124, 1.125, 1.126, 3.0].map(myrinet));
    for graph in [slow(1, "100Mb/s"), slow(2, "100Mb/s"), slow(3, "100Mb/s"), slow(1, "1Gb/s")] {
        let ethernet = |more: &str| format!("ethernet:forwarding=static{more} --topology graph:{graph}");
        networks.extend(
            ["", ",switching=cut-through", ",transport=window", ",transport=uec", ",transport=ndp", ",transport=roce"]
                .map(ethernet),
        );
    }
    networks.extend([
        "flow --topology star:4 --propagation 0ns".to_owned(),
        "constant-delay:delay=1ns,rate=1Gb/s".to_owned(),
        "vct --topology star:4".to_owned(),
        "wormhole --topology mesh:4".to_owned(),
    ]);
    for network in networks {
        for kernel in ["one-to-all:", "all-to-all:", "all-to-one:", "all-reduce:algorithm=ring,"] {
            for bytes in [0, 1, 5_000] {
                let line = format!("run -q --network {network} --kernel {kernel}tasks=4,bytes={bytes}");
                let found = run(folder.path(), &line);
                assert!(found.status.success(), "{line}: {}", said(&found));
            }
        }
    }
}
