//! Figures of single nodes, flows, messages and packets.

use std::collections::BTreeMap;

use super::*;

/// The result of a run.
fn result(folder: &Path, line: &str) -> Value {
    serde_json::from_str(&done(folder, &format!("run {line} --format json -q"))).unwrap()
}

fn number(row: &Value, name: &str) -> f64 {
    row[name].as_f64().unwrap_or_else(|| panic!("{name} of {row}"))
}

fn sum(rows: &Value, name: &str) -> f64 {
    rows.as_array().unwrap().iter().map(|row| number(row, name)).sum()
}

/// One network of each model, and a number of cycles in which it carries some packets.
const NETWORKS: [(&str, u64); 7] = [
    ("--topology torus:4x4", 4000),
    ("--topology fattree:4,2 --vcs 2", 4000),
    ("--network wormhole --topology mesh:4x4", 4000),
    ("--network ethernet --topology fattree:4,2", 2_000_000_000),
    ("--network myrinet --topology mesh:2x2", 20_000_000_000),
    ("--network constant-delay:delay=20ns --topology torus:4x4", 4000),
    ("--network bus --topology torus:4x4", 4000),
];

#[test]
fn nodes_and_flows_add_up_to_the_totals_in_every_model() {
    let folder = tempfile::tempdir().unwrap();
    for (network, cycles) in NETWORKS {
        let line = format!("{network} --load 0.05 --cycles {cycles} --seed 3");
        let plain = result(folder.path(), &line);
        let kept = result(folder.path(), &format!("{line} --node-stats --flow-stats --latency-histogram"));
        assert_eq!(plain["digest"], kept["digest"], "{network}: keeping changes nothing");
        for absent in ["per_node", "flows", "latency_histogram", "message_classes"] {
            assert!(plain.get(absent).is_none(), "{network}: {absent}");
        }
        let received = number(&kept, "packets_received");
        assert!(received > 0.0, "{network}");
        let (nodes, flows) = (&kept["per_node"], &kept["flows"]);
        assert_eq!(sum(nodes, "packets_delivered"), received, "{network}");
        assert_eq!(sum(nodes, "packets_received"), received, "{network}");
        assert_eq!(sum(flows, "packets_delivered"), received, "{network}");
        assert_eq!(sum(&kept["latency_histogram"], "packets"), received, "{network}");
        assert_eq!(sum(nodes, "bytes_offered"), sum(flows, "bytes_offered"), "{network}");
        assert_eq!(sum(nodes, "bytes_received"), sum(flows, "bytes_delivered"), "{network}");
        let means = |rows: &Value| -> f64 {
            let rows = rows.as_array().unwrap().iter().filter(|row| number(row, "packets_delivered") > 0.0);
            rows.map(|row| number(row, "packets_delivered") * number(row, "latency_mean_cycles")).sum::<f64>()
                / received
        };
        for rows in [nodes, flows] {
            let (mean, of_all) = (means(rows), number(&kept, "latency_mean_cycles"));
            assert!((mean / of_all - 1.0).abs() < 1e-9, "{network}: {mean}, not {of_all}");
        }
    }
}

/// Two senders to one node: the flows are those of the matrix, at the rates that were asked for.
#[test]
fn flows_are_those_of_the_traffic() {
    let folder = tempfile::tempdir().unwrap();
    let line = "--topology torus:8 --traffic shift(3) --load 0.1 --cycles 20000 --flow-stats";
    let found = result(folder.path(), line);
    let flows: Vec<(u64, u64)> = found["flows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|flow| (flow["source"].as_u64().unwrap(), flow["destination"].as_u64().unwrap()))
        .collect();
    assert_eq!(flows, (0..8).map(|node| (node, (node + 3) % 8)).collect::<Vec<_>>());
    for flow in found["flows"].as_array().unwrap() {
        let load = number(flow, "accepted_load_phits_per_cycle");
        assert!((load - 0.1).abs() < 0.03 && number(flow, "hops_mean") == 3.0, "{flow}");
    }
}

/// What `--packet-log` holds.
fn log(folder: &Path, line: &str, name: &str) -> String {
    done(folder, &format!("run {line} -q --packet-log {name}"));
    fs::read_to_string(folder.join(name)).unwrap()
}

#[test]
fn the_log_of_packets_is_that_of_every_engine_and_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    let line = "--topology torus:8x8 --load 0.4 --cycles 800";
    let fast = log(folder.path(), line, "fast.csv");
    assert_eq!(fast, log(folder.path(), &format!("{line} --engine reference"), "reference.csv"));
    assert_eq!(fast, log(folder.path(), &format!("{line} --threads 2"), "threads.csv"));
    let found = result(folder.path(), line);
    let mut lines = fast.lines();
    assert_eq!(lines.next(), Some("source,destination,number,start_cycle,arrival_cycle,latency_cycles,hops"));
    let rows: Vec<Vec<u64>> = lines.map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect()).collect();
    assert_eq!(rows.len() as f64, number(&found, "packets_received"));
    let mean = rows.iter().map(|row| row[5]).sum::<u64>() as f64 / rows.len() as f64;
    assert!((mean / number(&found, "latency_mean_cycles") - 1.0).abs() < 1e-12);
    let hops = rows.iter().map(|row| row[6]).sum::<u64>() as f64 / rows.len() as f64;
    assert!((hops / number(&found, "hops_mean") - 1.0).abs() < 1e-12);
    assert!(rows.iter().all(|row| row[3] + row[5] == row[4]));
    assert!(rows.windows(2).all(|pair| (pair[0][4], &pair[0][..3]) < (pair[1][4], &pair[1][..3])), "in order");
    for (network, cycles) in NETWORKS {
        let line = format!("{network} --load 0.05 --cycles {cycles}");
        done(folder.path(), &format!("run {line} -q --packet-log packets.jsonl"));
        let text = fs::read_to_string(folder.path().join("packets.jsonl")).unwrap();
        let found = result(folder.path(), &line);
        assert_eq!(text.lines().count() as f64, number(&found, "packets_received"), "{network}");
        assert!(text.lines().all(|line| serde_json::from_str::<Value>(line).is_ok_and(|row| row["hops"].is_u64())));
        fs::remove_file(folder.path().join("packets.jsonl")).unwrap();
    }
}

/// A message that meets nothing takes the time of a message alone, in every model; and behind another one it does not.
#[test]
fn a_message_alone_has_a_slow_down_of_one() {
    let folder = tempfile::tempdir().unwrap();
    for (network, cycles) in NETWORKS {
        // A message now and then: few of them meet another one.
        let line = format!("{network} --load 0.002 --cycles {} --message-stats", 5 * cycles);
        let found = result(folder.path(), &line);
        let class = &found["message_classes"][0];
        let slowdown = |of: &str| class[format!("slowdown_{of}")].as_f64();
        assert_eq!(slowdown("p50"), Some(1.0), "{network}: {class}");
        assert!(slowdown("mean").is_some_and(|mean| (1.0..1.2).contains(&mean)), "{network}: {class}");
        let ends = ["p50", "p90", "p99", "max"].map(|of| number(&found, &format!("message_completion_{of}_cycles")));
        assert!(ends.is_sorted(), "{network}: {ends:?}");
    }
    let line = "--topology torus:8x8 --load 0.6 --message-stats";
    let busy = result(folder.path(), line);
    assert!(number(&busy, "message_slowdown_mean") > 1.5, "{}", busy["message_slowdown_mean"]);
    let reference = result(folder.path(), &format!("{line} --engine reference"));
    for figure in ["message_classes", "message_slowdown_p99", "message_completion_p99_cycles"] {
        assert_eq!(busy[figure], reference[figure], "{figure}");
    }
}

#[test]
fn messages_of_a_program_are_logged_with_their_sizes() {
    let folder = tempfile::tempdir().unwrap();
    let kernel = "--topology torus:4x4 --kernel all-to-all:tasks=16,bytes=3000";
    done(folder.path(), &format!("run {kernel} -q --message-stats --message-log m.csv -o r --node-stats"));
    let text = fs::read_to_string(folder.path().join("m.csv")).unwrap();
    let mut rows = text.lines().map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
    let head = rows.next().unwrap();
    let rows: Vec<BTreeMap<String, String>> = rows.map(|row| head.iter().cloned().zip(row).collect()).collect();
    assert_eq!(rows.len(), 16 * 15);
    for row in &rows {
        let of = |name: &str| row[name].parse::<u64>().unwrap();
        assert_eq!(
            (of("bytes"), of("delivered_cycle") - of("generated_cycle")),
            (3000, of("completion_cycles")),
            "{row:?}"
        );
        assert!(of("alone_cycles") > 0 && row["slowdown"].parse::<f64>().unwrap() >= 1.0, "{row:?}");
    }
    for (name, lines) in [("nodes.csv", 17), ("messages.csv", 2)] {
        let text = fs::read_to_string(folder.path().join("r").join(name)).unwrap();
        assert_eq!(text.lines().count(), lines, "{name}: {text}");
    }
    assert!(fs::read_to_string(folder.path().join("r/SHA256SUMS")).unwrap_or_default().contains("nodes.csv"));
}

#[test]
fn logs_are_refused_where_they_cannot_be() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join("one.goal"),
        "num_ranks 2\nrank 0 {\nl1: send 8b to 1 tag 1\n}\nrank 1 {\nl1: recv 8b from 0 tag 1\n}\n",
    )
    .unwrap();
    for (line, words) in [
        ("--network loggops --trace one.goal --packet-log p.csv", "which has no packets and no cycles"),
        ("--network loggops --trace one.goal --node-stats", "has no meaning with --network loggops"),
        ("--topology torus:4x4 --cycles 100 --packet-log p.txt", "is .csv or .jsonl"),
        ("--topology torus:4x4 --cycles 100 --message-log p.csv", "writes what --message-stats keeps"),
        ("--topology torus:4x4 --cycles 100 --packet-log none/p.csv", "--packet-log none/p.csv"),
    ] {
        let told = code_and_words(&run(folder.path(), &format!("run {line}")), 2);
        assert!(told.contains(words), "{line}: {told}");
    }
}

#[test]
fn load_and_latency_over_time_are_drawn() {
    let folder = tempfile::tempdir().unwrap();
    done(folder.path(), "sweep --topology torus:4x4 --load 0.2,0.5 --seed 1,2 --samples 5 --sample-size 400 -q -o r");
    done(folder.path(), "plot r --over-time -q --format svg,pgf");
    for (name, columns) in [("latency", 6), ("accepted", 6)] {
        let file =
            |end: &str| fs::read_to_string(folder.path().join(format!("r/plots/{name}-over-time.{end}"))).unwrap();
        let data = file("csv");
        // Two loads of five batches, of which two seeds are a mean.
        assert_eq!(data.lines().count(), 1 + 2 * 5, "{data}");
        assert!(data.lines().all(|line| line.split(',').count() >= columns), "{data}");
        assert!(
            file("svg").contains("Time since measuring began (cycles)") && file("svg").contains(">load 0.5</text>"),
            "{}",
            file("svg")
        );
        assert!(file("pgf").contains(&format!("{{{name}-over-time.csv}}")));
        assert_eq!(fsin::report::illegible(&file("svg")).unwrap(), []);
    }
    done(folder.path(), "run --topology torus:4x4 --kernel bintree:tasks=16 -q -o one");
    let told = code_and_words(&run(folder.path(), "plot one --over-time"), 2);
    assert!(told.contains("no run has more than one batch"), "{told}");
}
