//! Collectives of machines of two levels by formula, rails, unequal blocks, slow ranks, and failures under collectives.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tests::chakra::{collective, compute, file};
use tests::command::run;
use tests::shared::{skipped, workspace};

/// Nodes, and GPUs of each.
const MACHINE: (f64, f64) = (16.0, 8.0);

fn result(folder: &Path, line: &str) -> Value {
    let output = run(folder, &format!("{line} --format json -q"));
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The error of a command line that is refused, in one line.
fn refusal(folder: &Path, line: &str) -> String {
    let output = run(folder, line);
    let text = String::from_utf8_lossy(&output.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(output.status.code(), Some(2), "{line}: {text}");
    text
}

/// The time \[ns\] and the algorithm of the only collective of a run.
fn measured(result: &Value) -> (f64, String) {
    let [row] = &result["collectives"].as_array().unwrap()[..] else { panic!("{}", result["collectives"]) };
    (row["time_max_ns"].as_f64().unwrap(), row["algorithm"].as_str().unwrap().to_owned())
}

/// \[ns\] The time of a collective of `bytes` bytes by the formulas of messages that do not share links: a message of m bytes
/// within (between) nodes takes `within(m)` (`between(m)`), and one that follows another leaves `gap` after it.
fn formula(kernel: &str, bytes: f64, within: impl Fn(f64) -> f64, between: impl Fn(f64) -> f64) -> f64 {
    let (nodes, gpus) = MACHINE;
    let once = (gpus - 1.0) * within(bytes / gpus) + (nodes - 1.0) * between(bytes / gpus / nodes);
    match kernel {
        "all-reduce" => 2.0 * once,
        "all-gather" | "reduce-scatter" => once,
        "all-to-all-hierarchical" => (gpus - 1.0) * within(bytes * nodes) + (nodes - 1.0) * between(bytes * gpus),
        other => panic!("{other}"),
    }
}

#[test]
fn collectives_of_16_nodes_of_8_take_their_formula_on_ideal_links() {
    let folder = tempfile::tempdir().unwrap();
    let ideal = "--network constant-delay:delay=500ns,rate=50GB/s,links=pair";
    let time = |bytes: f64| 500.0 + (bytes / 50.0).floor();
    for (kernel, bytes) in
        [("all-reduce", 128e5), ("all-gather", 128e5), ("reduce-scatter", 128e5), ("all-to-all-hierarchical", 5000.0)]
    {
        let line = format!("run --kernel {kernel}:bytes={bytes} --topology cluster:nodes=16,gpus=8 {ideal}");
        let (found, algorithm) = measured(&result(folder.path(), &line));
        assert_eq!(algorithm, "hierarchical");
        let expected = formula(kernel, bytes, time, time);
        // A first message leaves in cycle 1, and a task ends in the cycle after its last arrival.
        assert_eq!(found, expected + 2.0, "{kernel}");
        // The same by group, without a network of levels.
        let by_group = format!("{}-hierarchical", kernel.trim_end_matches("-hierarchical"));
        let line = format!("run --kernel {by_group}:tasks=128,group=8,bytes={bytes} --topology torus:128 {ideal}");
        assert_eq!(measured(&result(folder.path(), &line)), (found, algorithm), "{kernel}");
    }
    // A share of a broadcast goes to its GPU, down a tree of four levels, and round the ring of a node.
    let line = format!("run --kernel broadcast:bytes=12800000 --topology cluster:nodes=16,gpus=8 {ideal}");
    let (found, _) = measured(&result(folder.path(), &line));
    // The sends to the GPUs are serialized: the last of seven leaves when six have left.
    let expected = (1.0 + 4.0 + 7.0) * time(128e5 / 8.0) + 6.0 * (time(128e5 / 8.0) - 500.0);
    assert!((0.0..=12.0).contains(&(found - expected)), "{found} {expected}: up to a cycle for a send before another");
}

/// Links of 400 Gb/s and 128 ns within a node, of 100 Gb/s and 1024 ns between nodes: whole cycles of vct.
const LEVELS: &str = "cluster:nodes=16,gpus=8,up-rate=400Gb/s,up-delay=128ns,out-rate=100Gb/s,out-delay=1024ns";

#[test]
fn an_all_reduce_takes_its_formula_and_what_a_model_adds() {
    let folder = tempfile::tempdir().unwrap();
    const BYTES: f64 = 12_800_000.0;
    let expected = formula("all-reduce", BYTES, |m| m / 50.0 + 256.0, |m| m / 12.5 + 2048.0);
    let (steps_within, steps_between) = (14.0, 30.0);
    for (network, most) in [
        // Fluid flows: nothing but rounding.
        ("--network flow", 1.0),
        // A frame of 1500 bytes is stored at each of two switches and sent with 38 bytes more, of 1518 for 1460.
        ("--network ethernet:forwarding=static", 0.06 * expected + steps_within * 100.0 + steps_between * 400.0),
    ] {
        let line = format!("run --kernel all-reduce:bytes={BYTES} --topology {LEVELS} {network}");
        let (found, algorithm) = measured(&result(folder.path(), &line));
        assert_eq!(algorithm, "hierarchical", "{network}");
        let more = found - expected;
        assert!((0.0..=most).contains(&more), "{network}: {found} ns, {expected} by formula");
    }
    // Packets of 64 bytes cross the routers of both GPUs and a switch; links without delays, which their queues could not
    // cover.
    let cluster = "cluster:nodes=16,gpus=8,up-rate=400Gb/s,out-rate=100Gb/s";
    let line = format!("run --kernel all-reduce:bytes=128000 --topology {cluster} --routing shortest --vcs 6");
    let (found, algorithm) = measured(&result(folder.path(), &line));
    let expected_there = formula("all-reduce", 128e3, |m| m / 50.0, |m| m / 12.5);
    assert_eq!(algorithm, "hierarchical");
    let more = found - expected_there;
    assert!(
        (0.0..=steps_within * 10.0 + steps_between * 30.0).contains(&more),
        "{found} ns, {expected_there} by formula"
    );
    // A ring of all GPUs sends nearly the whole vector twice over the slower links.
    let line = format!("run --network flow --kernel all-reduce-ring:bytes={BYTES} --topology {LEVELS}");
    let (found, algorithm) = measured(&result(folder.path(), &line));
    assert_eq!(algorithm, "ring");
    assert!(found > 2.0 * BYTES * 127.0 / 128.0 / 12.5 && found > 2.5 * expected, "{found} {expected}");
}

/// A trace in which every rank computes and takes part in a collective.
fn trace(folder: &Path, ranks: usize, kind: i64, bytes: i64) {
    fs::create_dir_all(folder.join("t")).unwrap();
    for rank in 0..ranks {
        let nodes = [compute(1, 10, &[]), collective(2, kind, bytes, "", &[1]), compute(3, 5, &[2])];
        fs::write(folder.join(format!("t/x.{rank}.et")), file(&nodes, Some("0.0.4"), true)).unwrap();
    }
}

#[test]
fn collectives_of_chakra_traces_have_levels_where_the_machine_has() {
    let folder = tempfile::tempdir().unwrap();
    let ideal = "--network constant-delay:delay=500ns,rate=50GB/s,links=pair";
    let time = |bytes: f64| 500.0 + (bytes / 50.0).floor();
    for (kind, kernel, bytes, size) in [
        (0, "all-reduce", 12_800_000, 128e5),
        (7, "reduce-scatter", 12_800_000, 128e5),
        // What a rank contributes.
        (2, "all-gather", 100_000, 128e5),
    ] {
        trace(folder.path(), 128, kind, bytes);
        let line = format!("run --trace t --topology cluster:nodes=16,gpus=8 {ideal}");
        let (found, algorithm) = measured(&result(folder.path(), &line));
        let expected = formula(kernel, size, time, time);
        assert_eq!(algorithm, "hierarchical");
        assert!((found - expected).abs() <= 1.0, "{kernel}: {found} {expected}");
        let (flat, algorithm) = measured(&result(folder.path(), &format!("{line} --hosts algorithm=ring")));
        assert_eq!(algorithm, "ring");
        let steps = if kind == 0 { 254.0 } else { 127.0 };
        assert_eq!(flat, steps * time(1e5), "{kernel}");
        // Every rank on another node than its number says: no two nodes have the same GPUs of the group.
        let (shuffled, _) = measured(&result(folder.path(), &format!("{line} --placement random")));
        assert!(shuffled == found, "all nodes have all their GPUs in the group of all ranks: {shuffled}");
    }
    let text =
        refusal(folder.path(), &format!("run --trace t --topology torus:128 {ideal} --hosts algorithm=hierarchical"));
    assert!(text.contains("needs a network whose nodes have several GPUs"), "{text}");
}

#[test]
fn slow_ranks_compute_longer_and_others_wait_for_them() {
    let folder = tempfile::tempdir().unwrap();
    trace(folder.path(), 4, 0, 4000);
    let line = "run --trace t --network constant-delay:delay=500ns,rate=1GB/s,links=pair --topology torus:4";
    let times = |line: &str| -> Vec<(f64, f64)> {
        let found = result(folder.path(), line);
        let of = |row: &Value, name: &str| row[name].as_f64().unwrap();
        found["per_task"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| (of(row, "compute_ns"), of(row, "finished_ns")))
            .collect()
    };
    let before = times(line);
    let slow = times(&format!("{line} --slow rank:2x1.5"));
    for (rank, (one, other)) in before.iter().zip(&slow).enumerate() {
        let is_slow = rank == 2;
        assert_eq!(other.0, if is_slow { 22_500.0 } else { 15_000.0 }, "rank {rank}");
        // Rank 2 begins 5 us later, and takes 2.5 us longer afterwards. Pieces of the others arrive meanwhile, so that
        // the collective loses less than it waits; no rank ends without rank 2.
        let later = other.1 - one.1;
        assert!((2500.0..=5000.0).contains(&(later - if is_slow { 2500.0 } else { 0.0 })), "rank {rank}: {later}");
    }
    // Programs and graphs.
    let matmul = "run --kernel matmul:tasks=4,n=16,madd=1000 --topology torus:2x2";
    let compute = |line: &str| -> Vec<u64> {
        let found = result(folder.path(), line);
        found["per_task"].as_array().unwrap().iter().map(|row| row["compute_cycles"].as_u64().unwrap()).collect()
    };
    let (fast, slow) = (compute(matmul), compute(&format!("{matmul} --slow rank:1-2x3")));
    assert_eq!((slow[0], slow[1], slow[2], slow[3]), (fast[0], 3 * fast[1], 3 * fast[2], fast[3]));
    fs::write(folder.path().join("g.goal"), "num_ranks 2\nrank 0 {\na: calc 1000\n}\nrank 1 {\na: calc 1000\n}\n")
        .unwrap();
    for network in ["--network loggops:L=100,G=1", "--topology torus:2"] {
        let found = result(folder.path(), &format!("run --trace g.goal {network} --slow rank:1x1.2"));
        let rows: Vec<f64> =
            found["per_task"].as_array().unwrap().iter().map(|row| row["compute_ns"].as_f64().unwrap()).collect();
        assert_eq!(rows[1] / rows[0], 1.2, "{network}: {rows:?}");
    }
    for (line, what) in [
        ("run --kernel all-reduce --slow rank:3x1.2", "rank 3 computes nothing"),
        ("run --kernel matmul:tasks=4 --slow rank:4x1.2", "there is no rank 4"),
        ("run --kernel matmul:tasks=4 --slow 3x1.2", "write rank:3x1.2"),
        ("run --trace t --slow rank:0x2 --compute 0 --topology torus:4", "removes computing"),
        ("run --slow rank:0x2", "--slow has no meaning with synthetic traffic"),
        ("run --trace t --slow rank:9x2 --topology torus:4", "there is no rank 9"),
    ] {
        let text = refusal(folder.path(), line);
        assert!(text.contains(what), "{line}: {text}");
    }
}

/// \[packets\] What the switches of 2 nodes of 4 GPUs carry: those within nodes, and those of the rails. They are numbered
/// after 8 GPUs and the router of each.
fn carried(found: &Value) -> (Vec<u64>, Vec<u64>) {
    let rows = found["link_packets"].as_array().unwrap();
    let sum = |row: &Value| row.as_array().unwrap().iter().filter_map(Value::as_u64).sum();
    (rows[16..18].iter().map(sum).collect(), rows[18..22].iter().map(sum).collect())
}

#[test]
fn messages_leave_their_node_on_the_rail_of_their_destination() {
    let folder = tempfile::tempdir().unwrap();
    // From GPU 0 of node 0 to GPU 1 of node 1, and from GPU 2 to GPU 2.
    fs::write(folder.path().join("f.csv"), "src,dst,bytes,start\n0,5,64000,0\n2,6,64000,0\n").unwrap();
    for network in [
        "--routing shortest --vcs 6",
        "--network wormhole --routing shortest --vcs 6",
        "--network flow",
        "--network ethernet:forwarding=static,ecmp=true",
    ] {
        let of = |cross: &str| {
            let line = format!("run {network} --topology cluster:nodes=2,gpus=4{cross} --flows f.csv --link-loads");
            carried(&result(folder.path(), &line))
        };
        let (within, rails) = of(",cross-rail=pxn");
        let packets = rails[2];
        assert!(packets > 0, "{network}");
        assert_eq!(rails, [0, packets, packets, 0], "{network}");
        assert_eq!(within, [packets, 0], "{network}: the rail changes in the first node");
        let (within, rails) = of("");
        assert_eq!((rails[0] + rails[1], within[0] + within[1]), (packets, packets), "{network}: {rails:?} {within:?}");
    }
    for (line, what) in [
        ("run --topology cluster:nodes=2,gpus=4,cross-rail=pxn --routing updown --cycles 10", "rule of shortest paths"),
        (
            "run --network ethernet --topology cluster:nodes=2,gpus=4,cross-rail=pxn --cycles 10",
            "rule of shortest paths",
        ),
        ("run --topology cluster:nodes=2,gpus=4,cross-rail=pxm --cycles 10", "did you mean `pxn`"),
    ] {
        let text = refusal(folder.path(), line);
        assert!(text.contains(what), "{line}: {text}");
    }
}

#[test]
fn unequal_blocks_are_conserved() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("m.csv"), "0,100,200,0\n0,0,0,0\n5,0,0,1\n0,0,700,9\n").unwrap();
    for network in
        ["--topology torus:2x2", "--network flow --topology torus:2x2", "--network ethernet --topology torus:2x2"]
    {
        let found = result(folder.path(), &format!("run --kernel all-to-all-matrix:file=m.csv {network} --node-stats"));
        let sent: Vec<u64> =
            found["per_task"].as_array().unwrap().iter().map(|row| row["bytes_sent"].as_u64().unwrap()).collect();
        assert_eq!(sent, [300, 0, 6, 700], "{network}");
        assert_eq!(found["messages"], 5, "{network}");
    }
    let line = "run --kernel moe:ranks=16,experts=64,tokens=1024,bytes=64,topk=2,skew=0.6 --topology torus:4x4";
    let (one, two) = (result(folder.path(), line), result(folder.path(), &format!("{line} --network flow")));
    assert_eq!(one["message_bytes"], two["message_bytes"], "the seed alone draws");
    assert_eq!(one["collectives"][0]["calls"], 2);
}

#[test]
fn failures_under_collectives_lose_nothing_or_say_who_waits() {
    let folder = tempfile::tempdir().unwrap();
    trace(folder.path(), 16, 0, 1_600_000);
    for network in ["--network flow --topology torus:4x4", "--network ethernet --topology torus:4x4"] {
        for work in ["--kernel all-reduce:bytes=1600000", "--trace t"] {
            let bytes = |found: &Value| -> u64 {
                found["per_task"].as_array().unwrap().iter().map(|row| row["bytes_sent"].as_u64().unwrap()).sum()
            };
            let line = format!("run {network} {work}");
            let whole = result(folder.path(), &line);
            // Another way is left: all arrives, later.
            let failed = result(folder.path(), &format!("{line} --fail link:0-1@20us"));
            assert_eq!(bytes(&failed), bytes(&whole), "{line}");
            let end = |found: &Value| found["completion_cycles"].as_u64().unwrap();
            assert!(end(&failed) > end(&whole), "{line}: {} {}", end(&failed), end(&whole));
            // None is left: the run ends, and names who waits for whom.
            let output = run(folder.path(), &format!("{line} --fail node:5@20us"));
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(3), "{line}: {text}");
            let whom = if work.starts_with("--trace") {
                "waits for a message of rank 5"
            } else {
                "waits for a message from task 5"
            };
            assert!(text.contains(whom), "{line}: {text}");
        }
    }
}

/// The training steps of the examples are what their generator writes.
#[test]
fn the_training_steps_of_the_examples_are_those_of_their_generator() {
    let generator = workspace().join("examples/ai-fabrics/step.py");
    for (example, ranks) in [("ai-fabrics", "32"), ("energy-fabrics", "1024")] {
        let archive = workspace().join("examples").join(example).join("step.tar.xz");
        let folder = tempfile::tempdir().unwrap();
        let (made, kept) = (folder.path().join("step"), folder.path().join("kept"));
        fs::create_dir_all(&kept).unwrap();
        let python = Command::new("python3").arg(&generator).arg(&made).arg(ranks).status();
        let tar = Command::new("tar").arg("-xJf").arg(archive).arg("-C").arg(&kept).status();
        if !(python.is_ok_and(|status| status.success()) && tar.is_ok_and(|status| status.success())) {
            return skipped("no Python or tar with xz: the generator of the training steps is not looked at");
        }
        // The folder in the archive, if it has one.
        let kept = if kept.join("step").is_dir() { kept.join("step") } else { kept };
        let names = |folder: &Path| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        let (new, old): (BTreeSet<_>, BTreeSet<_>) = (names(&made), names(&kept));
        assert_eq!(new, old, "{example}");
        for name in new {
            assert_eq!(fs::read(made.join(&name)).unwrap(), fs::read(kept.join(&name)).unwrap(), "{example} {name:?}");
        }
    }
}
