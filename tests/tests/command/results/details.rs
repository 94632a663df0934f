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

/// Flows of a list that do not meet take exactly the time that they take alone, whatever the size of frames.
#[test]
fn flows_on_an_idle_network_have_a_slow_down_of_exactly_one() {
    let folder = tempfile::tempdir().unwrap();
    let sizes = [1, 999, 1_000, 1_497, 4_096, 9_216, 65_537, 1_000_000];
    let count = 40;
    let flow = |at: usize| format!("{},{},{},{}us\n", at % 8, (at + 1 + at % 7) % 8, sizes[at % sizes.len()], 300 * at);
    let list: String = (0..count).map(flow).collect();
    fs::write(folder.path().join("idle.csv"), format!("src,dst,bytes,start\n{list}")).unwrap();
    for mtu in [64, 1_000, 1_497, 4_096, 9_216] {
        for more in ["", "--frames thesis", "--switching cut-through"] {
            let frames = if more.is_empty() { "--frames roce" } else { more };
            let line = format!(
                "--network ethernet:forwarding=static --topology fattree:4,2 --link-rate 100Gb/s --propagation 1us {frames} \
                 --mtu {mtu} --flows idle.csv --message-stats --message-log {mtu}.csv"
            );
            let found = result(folder.path(), &line);
            fs::remove_file(folder.path().join(format!("{mtu}.csv"))).unwrap();
            for figure in ["mean", "p50", "p95", "p99", "p999", "max"] {
                assert_eq!(number(&found, &format!("message_slowdown_{figure}")), 1.0, "{line}: {figure}");
            }
            assert_eq!(number(&found, "messages_unfinished"), 0.0);
            let classes = found["message_classes"].as_array().unwrap();
            let messages: u64 = classes.iter().map(|class| class["messages"].as_u64().unwrap()).sum();
            assert_eq!(messages, count as u64);
        }
    }
}

/// Every pair offers and gets what the file says, within four deviations; a table and a matrix are the same.
#[test]
fn pairs_offer_and_get_the_rates_of_their_file() {
    const CYCLES: u64 = 200_000;
    let folder = tempfile::tempdir().unwrap();
    let rates = [(0, 5, 0.05), (0, 9, 0.02), (3, 9, 0.2), (7, 2, 0.01), (12, 15, 0.1), (15, 12, 0.3)];
    let table: String = rates.iter().map(|(from, to, rate)| format!("{from},{to},{rate}\n")).collect();
    fs::write(folder.path().join("table.csv"), format!("source,destination,rate\n{table}")).unwrap();
    let rate = |from: u64, to: u64| rates.iter().find(|pair| (pair.0, pair.1) == (from, to)).map_or(0.0, |pair| pair.2);
    let line = |from: u64| (0..16).map(|to| rate(from, to).to_string()).collect::<Vec<_>>().join(" ");
    let matrix: String = (0..16).map(|from| line(from) + "\n").collect();
    fs::write(folder.path().join("matrix.txt"), matrix).unwrap();
    // A phit of 4 bytes is a message; on Ethernet a message is a full frame of 1497 bytes, and rates are shares of the
    // capacity: 1538 bytes at 1 Gb/s take 12 304 ns.
    for (network, bytes, cycles, per_cycle) in [
        ("--topology torus:4x4 --packet 1", 4.0, CYCLES, 1.0),
        ("--network wormhole --topology mesh:4x4 --packet 1", 4.0, CYCLES, 1.0),
        (
            "--network ethernet:forwarding=static --topology star:16",
            1_497.0,
            12_304_000 * CYCLES / 4,
            1.0 / 12_304_000.0,
        ),
    ] {
        let run = |file: &str| {
            result(folder.path(), &format!("{network} --traffic rates({file}) --cycles {cycles} --flow-stats"))
        };
        let found = run("table.csv");
        assert_eq!(found["digest"], run("matrix.txt")["digest"], "{network}");
        let flows = found["flows"].as_array().unwrap();
        assert_eq!(flows.len(), rates.len(), "{network}");
        for flow in flows {
            let (from, to) = (flow["source"].as_u64().unwrap(), flow["destination"].as_u64().unwrap());
            let expected = rate(from, to) * per_cycle * cycles as f64;
            for (what, slack) in [("messages_offered", 0.0), ("messages_delivered", 5.0)] {
                let messages = number(flow, what);
                assert!(
                    (messages - expected).abs() < 4.0 * expected.sqrt() + slack,
                    "{network}: {flow}, not {expected}"
                );
            }
            assert_eq!(number(flow, "bytes_delivered"), bytes * number(flow, "messages_delivered"));
        }
    }
}

/// A round trip that meets nothing takes what both ways take alone, and the service between them.
#[test]
fn round_trips_alone_take_the_time_of_their_formula() {
    let folder = tempfile::tempdir().unwrap();
    // A frame of 1497 bytes takes 12 208 ns over each of two links, and their delays are 500 ns each; a message that is
    // generated in cycle c arrives in cycle c - 1 + its time.
    let way = 2 * (12_208_000 + 500_000) - 1;
    for (network, load, cycles, way) in [
        ("--topology torus:8x8", 0.002, 200_000, 1 + 16 - 1),
        ("--network ethernet:forwarding=static --topology star:8", 0.01, 100_000_000_000_u64, way),
    ] {
        for service in [1, 100] {
            let process = format!("request-reply(service={service})");
            let line = format!("{network} --traffic neighbor(1) --load {load} --cycles {cycles} --temporal {process}");
            let found = result(folder.path(), &line);
            assert_eq!(number(&found, "round_trip_min_cycles"), (2 * way + service) as f64, "{line}");
            assert!(number(&found, "round_trips") > 20.0, "{line}: {}", found["round_trips"]);
            assert!(number(&found, "round_trip_mean_cycles") < 1.5 * (2 * way + service) as f64, "{line}");
        }
    }
    // Replies are longer than requests, and keep to their class.
    let line = "--network wormhole --topology mesh:4x4 --vcs 4 --message-classes 2 --size constant(16) --load 0.2 --temporal \
                request-reply(size=constant(80)) --cycles 30000 --flow-stats";
    let found = result(folder.path(), line);
    let [generated, offered] =
        ["generated_load_phits_per_node_cycle", "offered_load_phits_per_node_cycle"].map(|of| number(&found, of));
    assert!((generated / offered - 1.0).abs() < 0.1, "{generated} of {offered}");
    let reference = result(folder.path(), &format!("{line} --engine reference"));
    for figure in ["digest", "round_trips", "round_trip_mean_cycles", "round_trip_max_cycles"] {
        assert_eq!(found[figure], reference[figure], "{figure}");
    }
}

/// A list of HPCC is the same as the table, and flows that meet take longer; both engines agree.
#[test]
fn lists_of_flows_are_read_in_both_forms() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("a.csv", "src,dst,bytes,start,class\n0,3,1MB,10us,3\n1,3,1000000,10us,3\n2,3,500kB,0.01ms,3\n");
    write("a.txt", "3\n0 3 3 100 1000000 0.00001\n1 3 3 100 1000000 0.00001\n2 3 3 100 500000 0.00001\n");
    let line = |list: &str, more: &str| {
        format!(
            "--network ethernet:forwarding=static --topology star:4 --link-rate 100Gb/s --frames hpcc --message-stats --flows \
             {list} {more}"
        )
    };
    let found = result(folder.path(), &line("a.csv", ""));
    assert!(number(&found, "message_slowdown_max") > 1.5, "{found}");
    for (list, more) in [("a.txt", ""), ("a.csv", "--engine reference")] {
        let other = result(folder.path(), &line(list, more));
        for figure in ["digest", "message_classes", "completion_cycles", "message_completion_p99_cycles"] {
            assert_eq!(found[figure], other[figure], "{list} {more} {figure}");
        }
    }
    // What has not ended is counted.
    let cut = result(folder.path(), &line("a.csv", "--max-cycles 60000000"));
    assert_eq!(number(&cut, "messages_unfinished"), 3.0, "{}", cut["messages_unfinished"]);
    write("far.csv", "src,dst,bytes,start\n0,1,5,0\n0,9,5,0\n");
    write("bad.csv", "src,dst,bytes,start\n0,1,5,soon\n");
    for (words, what) in [
        ("--flows far.csv", "flow 2 names node 9, and the network has 4 nodes"),
        ("--flows bad.csv", "line 2: `soon` is not a start"),
        ("--flows none.csv", "the file cannot be read"),
        ("--flows a.csv --load 0.1", "--load has no meaning with --flows"),
        ("--flows a.csv --placement random", "--placement has no meaning with --flows"),
        ("--flows a.csv --cycles 100", "--cycles has no meaning with --flows"),
        ("--flows a.csv --temporal 'background(0.1)'", "is traffic beside an application"),
    ] {
        let words = words.replace("'background(0.1)'", "background(0.1)");
        let output = run(folder.path(), &format!("run --topology star:4 {words}"));
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words}: {said}");
        assert!(said.contains(what), "{words}: {said}");
    }
}

#[test]
fn l7_a_flow_completes_at_its_start_and_its_time() {
    let folder = tempfile::tempdir().unwrap();
    // The second begins when nothing of the first is on its way, not even an acknowledgement.
    let start = 100_000_000;
    fs::write(folder.path().join("f.csv"), "src,dst,bytes,start\n0,1,1000,0\n1,0,1000,100us\n").unwrap();
    // 1000 bytes and 70 around them, at 100 Gb/s over two links of 500 ns each; 1000 bytes at 10 Gb/s.
    let networks = [
        ("ethernet --link-rate 100Gb/s --frames roce", Some(1_171_200)),
        ("flow --link-rate 10Gb/s --propagation 500ns", Some(1_800_000)),
        ("ethernet:transport=window,completion=acked --frames tcp", None),
        ("myrinet", None),
    ];
    for (at, (network, time)) in networks.into_iter().enumerate() {
        let line =
            format!("--network {network} --topology star:2 --flows f.csv --message-stats --message-log {at}.jsonl");
        let found = result(folder.path(), &line);
        let text = fs::read_to_string(folder.path().join(format!("{at}.jsonl"))).unwrap();
        let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let [first, second] = &rows[..] else { panic!("{network}: {text}") };
        let of = |row: &Value, name: &str| row[name].as_u64().unwrap();
        let took = of(first, "completion_cycles");
        assert_eq!(took, time.unwrap_or(took), "{network}");
        assert_eq!([of(first, "generated_cycle"), of(second, "generated_cycle")], [0, start], "{network}");
        assert_eq!([of(second, "completion_cycles"), of(second, "alone_cycles")], [took, took], "{network}");
        assert_eq!(of(&found, "completion_cycles"), start + took, "{network}: the run ends with the last flow");
        if !network.contains("acked") {
            assert_eq!(
                [of(first, "delivered_cycle"), of(second, "delivered_cycle")],
                [took, start + took],
                "{network}"
            );
        }
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
        ("--topology torus:4x4 --cycles 100 --message-stats --size-classes 1kB:10", "takes ascending sizes"),
        ("--topology torus:4x4 --cycles 100 --message-stats --size-classes small", "takes ascending sizes"),
        ("--topology torus:4x4 --cycles 100 --size-classes 1kB", "--message-stats"),
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

/// Two seeds of two loads: classes between the bounds that are asked for, tenths of equal numbers, and a curve for each
/// load along them.
#[test]
fn slow_down_is_drawn_over_the_size_of_messages() {
    let folder = tempfile::tempdir().unwrap();
    let line = "--topology torus:4x4 --size uniform(16,320) --message-stats --size-classes 200:1kB --cycles 3000";
    done(folder.path(), &format!("sweep {line} --load 0.1,0.3 --seed 1,2 -q -o r"));
    let found = result(folder.path(), &format!("{line} --load 0.3"));
    let all = |rows: &Value| sum(rows, "messages");
    let classes: Vec<_> =
        found["message_classes"].as_array().unwrap().iter().map(|row| row["to_bytes"].as_u64()).collect();
    assert_eq!(classes, [Some(200), Some(1000), Some(u64::MAX)]);
    assert_eq!(all(&found["message_classes"]), all(&found["message_deciles"]));
    let tenths = found["message_deciles"].as_array().unwrap();
    assert_eq!(tenths.len(), 10);
    let [least, most] =
        [f64::min, f64::max].map(|pick| tenths.iter().map(|row| number(row, "messages")).reduce(pick).unwrap());
    assert!(most - least <= 1.0, "{tenths:?}");
    assert!(tenths.windows(2).all(|pair| pair[0]["to_bytes"].as_u64() <= pair[1]["from_bytes"].as_u64()), "{tenths:?}");
    done(folder.path(), "plot r --by-size -q --format svg,pgf");
    for name in ["slowdown", "slowdown-p99", "message-p99"] {
        let file = |end: &str| fs::read_to_string(folder.path().join(format!("r/plots/{name}-by-size.{end}"))).unwrap();
        // Two loads of ten tenths, each the mean of two seeds.
        assert_eq!(file("csv").lines().count(), 1 + 2 * 10, "{}", file("csv"));
        assert!(
            file("svg").contains("Messages by size") && file("svg").contains(">load 0.3</text>"),
            "{}",
            file("svg")
        );
        assert_eq!(fsin::report::illegible(&file("svg")).unwrap(), []);
    }
    done(folder.path(), "run --topology torus:4x4 --load 0.1 --cycles 1000 -q -o one");
    let told = code_and_words(&run(folder.path(), "plot one --by-size"), 2);
    assert!(told.contains("no run has kept the times of ten messages"), "{told}");
}

/// Loads that words of the traffic language state are in the unit of `--load`, in every model: of a term of a sum, and
/// of the traffic beside an application.
#[test]
fn loads_within_traffic_have_the_unit_of_load() {
    let folder = tempfile::tempdir().unwrap();
    let models = [
        "vct",
        "wormhole",
        "flow --link-rate 100Gb/s --propagation 100ns",
        "ethernet --link-rate 100Gb/s",
        "constant-delay:delay=1us,rate=100Gb/s",
        "constant-delay:delay=100ns",
        "myrinet",
    ];
    let generated = |words: &str| {
        let output = run(folder.path(), &format!("run -q --format json {words}"));
        assert!(output.status.success(), "{words}: {}", String::from_utf8_lossy(&output.stderr));
        let result: Value = serde_json::from_slice(&output.stdout).unwrap();
        result["generated_load_phits_per_node_cycle"].as_f64().unwrap()
    };
    for model in models {
        let of_run = generated(&format!("--network {model} --topology torus:4x4 --load 0.08"));
        let of_term = generated(&format!("--network {model} --topology torus:4x4 --traffic source(uniform,load=0.08)"));
        assert_eq!(of_term, of_run, "{model}");
        // A task alone computes for long; the fifteen other nodes send meanwhile, each of which generates nothing while
        // a message of its own waits.
        fs::write(folder.path().join("long.goal"), "num_ranks 1\nrank 0 {\nc: calc 3000000\n}\n").unwrap();
        let beside =
            generated(&format!("--network {model} --topology torus:4x4 --trace long.goal --temporal background(0.08)"));
        let most = 0.08 * 15.0 / 16.0;
        assert!((0.75 * most..1.05 * most).contains(&beside), "{model}: {beside}, not {most}");
    }
}
