//! Placements on the command line: a file of nodes is equivalent to the strategy that it spells out.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;
use std::process::Output;

use tests::command::run;
use trgen::trace::container::{Content, Header, Writer};
use trgen::trace::formats::{Application, ReadOptions, open};

fn result(folder: &Path, line: &str) -> serde_json::Value {
    let output = run(folder, &format!("{line} --format json --quiet"));
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// All tasks communicate with their neighbours in a 4 x 4 mesh.
const RUN: &str = "run --topology torus:4x4 --kernel mesh2d:tasks=16,bytes=500,iterations=2";

#[test]
fn a_file_says_what_a_strategy_says() {
    let folder = tempfile::tempdir().unwrap();
    let mut digests = Vec::new();
    for (spec, nodes) in [
        ("row", "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15"),
        ("column", "0 4 8 12\n1 5 9 13\n2 6 10 14\n3 7 11 15"),
        ("diagonal", "0,1,3,6 2,4,7,10 # and on\n5,8,11,13 9,12,14,15"),
        ("quadrant", "0 1 4 5 2 3 6 7 8 9 12 13 10 11 14 15"),
        ("shuffle", "0 2 4 6 8 10 12 14 1 3 5 7 9 11 13 15"),
    ] {
        fs::write(folder.path().join("nodes.txt"), nodes).unwrap();
        let strategy = result(folder.path(), &format!("{RUN} --placement {spec}"));
        let file = result(folder.path(), &format!("{RUN} --placement file:nodes.txt"));
        assert_eq!(strategy["digest"], file["digest"], "{spec}");
        digests.push(strategy["digest"].clone());
    }
    let consecutive = result(folder.path(), RUN);
    assert_eq!(digests[0], consecutive["digest"]);
    digests.sort_by_key(ToString::to_string);
    digests.dedup();
    assert_eq!(digests.len(), 5, "five placements differ");
}

#[test]
fn a_file_is_found_beside_the_experiment_and_from_anywhere_once_resolved() {
    let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let sub = folder.path().join("sub");
    fs::create_dir(&sub).unwrap();
    fs::write(sub.join("nodes.txt"), "3 2 1 0").unwrap();
    let kernel = "topology = \"torus:4\"\nkernel = \"all-to-all:tasks=4,bytes=100\"\n";
    fs::write(sub.join("e.toml"), format!("{kernel}placement = \"file:nodes.txt\"\n")).unwrap();
    let beside = result(folder.path(), "run sub/e.toml");
    let resolved = run(folder.path(), "config sub/e.toml");
    assert!(resolved.status.success(), "{}", said(&resolved));
    fs::write(elsewhere.path().join("r.toml"), resolved.stdout).unwrap();
    assert_eq!(result(elsewhere.path(), "run r.toml")["digest"], beside["digest"]);
    assert!(result(folder.path(), "run sub/e.toml -o out")["digest"] == beside["digest"]);
    let manifest = fs::read_to_string(folder.path().join("out/manifest.json")).unwrap();
    assert!(manifest.contains("nodes.txt") && manifest.contains("sha256"), "{manifest}");

    fs::write(sub.join("nodes.txt"), "3 2 1").unwrap();
    let short = run(folder.path(), "run sub/e.toml");
    assert_eq!(short.status.code(), Some(2));
    assert!(said(&short).contains("names 3 nodes, and 4 are needed"), "{}", said(&short));
}

#[test]
fn orders_of_grids_are_refused_where_there_is_none() {
    let folder = tempfile::tempdir().unwrap();
    for spec in ["row", "column", "diagonal", "quadrant"] {
        let line =
            format!("run --topology fattree:4,2 --routing tree:adaptive --kernel bintree:tasks=16 --placement {spec}");
        let refused = run(folder.path(), &line);
        assert_eq!(refused.status.code(), Some(2), "{spec}");
        assert!(said(&refused).contains("rows and columns"), "{}", said(&refused));
    }
}

/// The result of a run over a torus of 36 tasks that communicate with their neighbours in a mesh.
fn mesh(folder: &Path, words: &str) -> serde_json::Value {
    result(folder, &format!("run --topology torus:6x6 --kernel mesh2d:tasks=36,bytes=500 {words}"))
}

#[test]
fn placements_by_traffic_lower_bytes_times_hops() {
    let folder = tempfile::tempdir().unwrap();
    let far = |words: &str| mesh(folder.path(), words)["hop_bytes"].as_u64().unwrap();
    let bytes = mesh(folder.path(), "")["message_bytes"].as_u64().unwrap();
    // Neighbours are adjacent: one hop for every byte, the minimum of any placement.
    assert_eq!((far(""), far("--placement optimise:consecutive")), (bytes, bytes));
    let [random, greedy, optimise] =
        ["random", "greedy", "optimise:random"].map(|of| far(&format!("--placement {of}")));
    assert!(
        random > greedy && random > optimise && greedy >= bytes && optimise >= bytes,
        "{random} {greedy} {optimise}"
    );
    let run = mesh(folder.path(), "--placement optimise:random");
    let note = run["notes"].to_string();
    assert!(note.contains(&format!("from {random} to {optimise} bytes x hops; no exchange makes it less")), "{note}");
    assert_eq!(run["hops_per_byte"].as_f64().unwrap(), optimise as f64 / bytes as f64);
    let cut = mesh(folder.path(), "--placement optimise:1:random")["notes"].to_string();
    assert!(cut.contains("its rounds are used up"), "{cut}");
    // Nothing depends on threads or engine.
    for words in ["--threads 2", "--engine reference"] {
        let again = mesh(folder.path(), &format!("--placement optimise:random {words}"));
        assert_eq!((&again["digest"], &again["hop_bytes"]), (&run["digest"], &run["hop_bytes"]), "{words}");
    }
}

/// A handmade trace: tasks 0 and 3 exchange most, 1 and 2 send to 0 and 3.
const TRC: &str =
    "s 0 3 1 900\nr 0 3 1 900\ns 3 0 2 800\nr 3 0 2 800\ns 1 0 3 70\nr 1 0 3 70\ns 2 3 4 60\nr 2 3 4 60\n";

#[test]
fn hop_bytes_of_a_trace_by_hand_and_of_every_form_of_it() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("t.trc"), TRC).unwrap();
    let options = ReadOptions { recv_order: "src-dst".parse().unwrap(), ..ReadOptions::default() };
    let Application::Programs(trace) = open(&folder.path().join("t.trc"), &options).unwrap() else { panic!("a graph") };
    let (content, tasks, origin) = (Content::Programs, trace.program.tasks.len() as u32, "trc".to_owned());
    let header = Header { content, tasks, origin, collectives: Vec::new(), notes: Vec::new() };
    let mut writer = Writer::new(Vec::new(), &header).unwrap();
    writer.program(&trace.program).unwrap();
    fs::write(folder.path().join("t.trg"), writer.finish().unwrap()).unwrap();
    // A unidirectional ring of 8: 3 hops forth, 5 back.
    for (network, placement, expected) in [
        ("mesh:8", "consecutive", 3 * 900 + 3 * 800 + 70 + 60),
        ("mesh:8", "optimise", 900 + 800 + 70 + 60),
        ("torus:8 --ways 1", "consecutive", 3 * 900 + 5 * 800 + 7 * 70 + 60),
        ("fattree:2,3 --routing tree:adaptive", "consecutive", 4 * 1700 + 2 * 70 + 2 * 60),
        ("fattree:2,3 --routing tree:adaptive", "optimise", 2 * 1700 + 4 * 70 + 4 * 60),
        ("fattree:2,3 --routing tree:adaptive", "greedy", 2 * 1700 + 4 * 70 + 4 * 60),
    ] {
        let run = |trace: &str| {
            let words = format!("run --topology {network} --trace {trace} --compute 0 --placement {placement}");
            result(folder.path(), &words)
        };
        let (text, stored) = (run("t.trc --recv-order src-dst"), run("t.trg"));
        assert_eq!(text["hop_bytes"].as_u64(), Some(expected), "{network} {placement}");
        assert_eq!(text["hops_per_byte"].as_f64().unwrap(), expected as f64 / 1830.0);
        assert_eq!((&stored["hop_bytes"], &stored["digest"]), (&text["hop_bytes"], &text["digest"]));
    }
    // Several tasks per node: traffic within a node takes no hops.
    let shared = result(
        folder.path(),
        "run --topology mesh:8 --trace t.trc --recv-order src-dst --compute 0 --placement greedy --tasks-per-node 2",
    );
    assert_eq!(shared["hop_bytes"].as_u64(), Some(900 + 800));
}

#[test]
fn graphs_and_jobs_are_placed_by_what_they_send() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join("g.goal"),
        "num_ranks 4\nrank 0 {\nl1: send 900b to 3 tag 1\n}\nrank 1 {\n}\nrank 2 {\n}\nrank 3 {\nl1: recv 900b from 0 tag 1\n}\n",
    )
    .unwrap();
    let graph = |placement: &str| {
        let run = result(folder.path(), &format!("run --topology mesh:4 --trace g.goal --placement {placement}"));
        run["hop_bytes"].as_u64().unwrap()
    };
    assert_eq!((graph("consecutive"), graph("greedy"), graph("optimise:consecutive")), (2700, 900, 900));

    let mix = "[[job]]\nkernel = \"mesh2d:tasks=16,bytes=300\"\ncount = 2\n";
    fs::write(folder.path().join("mix.toml"), mix).unwrap();
    let job = |placement: &str| {
        let words = format!("run --topology torus:8x8 --job-mix mix.toml --allocation random --placement {placement}");
        let run = result(folder.path(), &words);
        assert!(run["hop_bytes"].is_null());
        let far = |job: usize| run["jobs"][job]["hop_bytes"].as_u64().unwrap();
        assert!(run["jobs"][0]["hops_per_byte"].as_f64().unwrap() >= 1.0);
        // A job stays on its allocated nodes.
        let mut nodes: Vec<u64> =
            run["jobs"][0]["task_nodes"].as_array().unwrap().iter().map(|node| node.as_u64().unwrap()).collect();
        nodes.sort_unstable();
        (nodes, far(0) + far(1))
    };
    let (nodes, consecutive) = job("consecutive");
    let ((same, greedy), (again, optimise)) = (job("greedy"), job("optimise"));
    assert_eq!((&same, &again), (&nodes, &nodes));
    assert!(optimise <= greedy && optimise < consecutive, "{consecutive} {greedy} {optimise}");
}

#[test]
fn placements_are_an_axis_of_sweeps() {
    let folder = tempfile::tempdir().unwrap();
    let words = "sweep --topology torus:4x4 --kernel mesh2d:tasks=16,bytes=100 --placement random,greedy,optimise:3:random -q -o r";
    let output = run(folder.path(), words);
    assert!(output.status.success(), "{}", said(&output));
    let csv = fs::read_to_string(folder.path().join("r/results.csv")).unwrap();
    assert_eq!(csv.lines().count(), 4, "{csv}");
    assert!(["random", "greedy", "optimise:3:random", "hop_bytes"].iter().all(|word| csv.contains(word)), "{csv}");
}

#[test]
fn real_programs_take_fewer_hops_where_they_are_placed_by_what_they_send() {
    let Some(shared) = tests::shared::shared_dir() else {
        return tests::shared::skipped("there are no real traces beside this clone");
    };
    for program in ["lu", "cg"] {
        let trace = shared.join(format!("traces/npb-ti/{program}.S.16.ti.tar.xz"));
        let far = |placement: &str| {
            let words =
                format!("run --topology torus:4x4 --trace {} --compute 0 --placement {placement}", trace.display());
            result(Path::new("."), &words)["hop_bytes"].as_u64().unwrap()
        };
        let [random, greedy, optimise] = ["random", "greedy", "optimise"].map(far);
        assert!(optimise <= greedy && greedy < random, "{program}: {random} {greedy} {optimise}");
        assert!(far("optimise:consecutive") <= far("consecutive"), "{program}");
    }
}
