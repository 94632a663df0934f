//! The Ethernet model from outside: figures of ports, the spanning tree that is shown, the unit of its loads, and the
//! table of `docs/validation/ethernet.md`.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;
use tests::command::{fsin, run};
use tests::shared::{aloud, shared_dir, skipped, workspace};

/// Fifteen hosts send to the last one at once, over one switch with queues of 20 frames.
const INCAST: &str = "run --network ethernet:queue=20,transport=oracle --topology fattree:16,1 --traffic hotspot(1,15) \
                      --load 0.1 --cycles 5000000000";

fn text(line: &str) -> String {
    let output = run(Path::new("/"), line);
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn json(line: &str) -> Value {
    serde_json::from_str(&text(&format!("{line} --format json"))).unwrap()
}

fn sum(ports: &[Value], figure: &str) -> f64 {
    ports.iter().map(|port| port[figure].as_f64().unwrap()).sum()
}

#[test]
fn ports_have_figures() {
    let result = json(&format!("{INCAST} --port-stats histogram"));
    let ports = result["ports"].as_array().unwrap();
    assert_eq!(ports.len(), 32, "a port of each host, and one of the switch to each");
    let of_model = |name: &str| {
        let figures = result["model_figures"].as_array().unwrap();
        figures.iter().find(|figure| figure["name"] == name).unwrap()["value"].as_f64().unwrap()
    };
    assert_eq!(sum(ports, "dropped"), of_model("frames_dropped"));
    assert_eq!(sum(ports, "packets"), of_model("frame_hops"));
    let busiest = ports.iter().find(|port| port["of"] == "switch" && port["to_node"] == 15).unwrap();
    assert_eq!((&busiest["node"], &busiest["to"]), (&16.into(), &"host".into()));
    assert!(busiest["dropped"].as_u64().unwrap() > 0, "{busiest}");
    assert_eq!(
        (busiest["dropped"].as_f64().unwrap(), busiest["queue_max_packets"].as_u64()),
        (sum(ports, "dropped"), Some(20))
    );
    assert_eq!(busiest["queue_mean_packets"].as_f64().unwrap(), of_model("mean_queue"));
    let shares: Vec<f64> = busiest["queue_shares"].as_array().unwrap().iter().map(|s| s.as_f64().unwrap()).collect();
    assert_eq!(shares.len(), 6, "0, 1, 2 to 3, 4 to 7, 8 to 15, 16 to 20 frames");
    assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{shares:?}");
    // The engines agree, and what is kept changes nothing else.
    let same = json(&format!("{INCAST} --port-stats histogram --engine reference"));
    assert_eq!(same["ports"], result["ports"]);
    let plain = json(INCAST);
    assert!(plain["ports"][0].get("queue_shares").unwrap().is_null());
    assert_eq!(plain["digest"], result["digest"]);
    assert!(json(&format!("{INCAST} --port-stats none")).get("ports").is_none());
    let table = text(INCAST);
    let head = table.lines().position(|line| line.starts_with("port ") && line.contains("queue max")).unwrap();
    let first = table.lines().nth(head + 1).unwrap();
    assert!(first.starts_with("switch 16 port 15") && first.contains("host 15") && first.contains(" 20 "), "{table}");
    assert!(table.contains("more ports in JSON (`ports`)"), "{table}");
}

#[test]
fn the_spanning_tree_is_shown() {
    let ring = text("topology torus:5 --network ethernet");
    assert!(ring.contains("blocked       1 link, both ways: 2 port 0 - 3 port 1\n"), "{ring}");
    let found: Value = serde_json::from_str(&text("topology fattree:4,2 --network ethernet --format json")).unwrap();
    // 8 switches with 16 links between them: 7 make a tree.
    assert_eq!(found["blocked_links"].as_array().unwrap().len(), 9);
    for (format, broken) in [("dot", "style=dashed"), ("svg", "stroke-dasharray")] {
        let drawn = text(&format!("topology fattree:4,2 --network ethernet --format {format}"));
        assert_eq!(drawn.matches(broken).count(), 9, "{format}");
        let whole = text(&format!("topology fattree:4,2 --format {format}"));
        assert!(!whole.contains(broken));
    }
    let by_rate = text("topology fattree:4,2 --network ethernet:forwarding=static");
    assert!(!by_rate.contains("blocked") && by_rate.contains("fraction of capacity at most"), "{by_rate}");
    let refused = run(Path::new("/"), "topology torus:5 --network bus");
    assert_eq!(refused.status.code(), Some(2));
}

/// Texts have the unit of load that the network model declares.
/// The warnings of a run, whatever its end.
fn warnings(line: &str) -> String {
    let output = run(Path::new("/"), &format!("{line} --format json"));
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    result["warnings"].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect::<Vec<_>>().join("; ")
}

/// Routes that leave links without a frame are named at every figure that they explain.
#[test]
fn links_that_carry_nothing_are_said() {
    let of = |network: &str| {
        warnings(&format!("run --topology fattree:4,2 --network {network} --load 0.1 --cycles 200000000"))
    };
    // Four leaf switches with four ways up each: one way up is used, and the three ways down from its root to the others.
    let fixed = of("ethernet:forwarding=static");
    assert!(
        fixed.contains("16 of 32 links between the switches of fattree:4,2 on such paths carry nothing"),
        "{fixed}"
    );
    let tree = of("ethernet");
    assert!(tree.contains("the spanning tree blocks 18 of 32 links"), "{tree}");
    let spread = of("ethernet:forwarding=static,ecmp=true");
    assert!(!spread.contains("carry nothing"), "{spread}");
    let one_path =
        warnings("run --topology torus:4 --network ethernet:forwarding=static --load 0.1 --cycles 200000000");
    assert!(!one_path.contains("carry nothing"), "{one_path}");
}

/// Coinciding arrivals at a full queue go by the number of the port: a result of such shares says so.
#[test]
fn shares_that_follow_the_numbers_of_ports_are_said() {
    let of = |network: &str| {
        warnings(&format!(
            "run --topology fattree:5,1 --network {network} --kernel all-to-one:tasks=5,bytes=3000000 --seed 1"
        ))
    };
    let tied = of("ethernet:forwarding=static,queue=8,transport=none");
    assert!(tied.contains("shares of senders follow the numbers of ports"), "{tied}");
    let long = of("ethernet:forwarding=static,queue=10000");
    assert!(!long.contains("numbers of ports"), "{long}");
}

#[test]
fn loads_have_the_unit_of_their_network() {
    let folder = tempfile::tempdir().unwrap();
    let ethernet = "--network ethernet --topology fattree:4,1 --cycles 100000000";
    let table = text(&format!("run {ethernet} --load 0.2"));
    assert!(table.contains("offered load                   0.20000 fraction of capacity\n"), "{table}");
    assert!(!table.contains("phits/node/cycle"), "{table}");
    assert!(text("run --topology torus:4x4 --cycles 500").contains("0.30000 phits/node/cycle\n"));
    assert!(text("explain ethernet").contains("unit of load: fraction of capacity"));
    for (line, unit) in [("--network ethernet", "fraction of capacity"), ("--vcs 2", "phits/node/cycle")] {
        let refused = run(folder.path(), &format!("run {line} --load x"));
        let said = String::from_utf8(refused.stderr).unwrap();
        assert!(said.contains(&format!("takes a number ({unit})")), "{said}");
        let refused = run(folder.path(), &format!("run {line} --load 1e300"));
        assert!(String::from_utf8(refused.stderr).unwrap().contains(&format!("use 0 to 16777216 {unit}")));
    }
    let done = run(folder.path(), &format!("sweep {ethernet} --load 0.1,0.2 -q -o r"));
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert!(run(folder.path(), "plot r -q").status.success() && run(folder.path(), "report r -q").status.success());
    let drawn = std::fs::read_to_string(folder.path().join("r/plots/accepted.svg")).unwrap();
    let page = std::fs::read_to_string(folder.path().join("r/report.html")).unwrap();
    for text in [&drawn, &page] {
        // Lines of a picture are broken.
        assert!(text.contains("fraction of") && !text.contains("phits/node/cycle"));
    }
    let found = text(
        "saturation --network ethernet --topology fattree:4,1 --tolerance 0.4 --warmup 10000000 --samples 2 \
         --sample-size 50000000 --max-conv-time 0 --min-batch-packets 1",
    );
    assert!(found.contains("fraction of capacity") && !found.contains("phits/node/cycle"), "{found}");
}

/// \[ns\] Of a byte in full frames at 1 Gb/s, with their overhead and gap: 8 x 1538 / 1497.
const GAP: &str = "8.2191";

/// Networks of 64 hosts, and the mean hops of a message between two of them, links of hosts included.
const NETWORKS: [(&str, f64); 2] = [
    // 7 hosts at the same switch, 56 at others.
    ("fattree:8,2", (7.0 * 2.0 + 56.0 * 4.0) / 63.0),
    ("thintree:4,1,3", (3.0 * 2.0 + 12.0 * 4.0 + 48.0 * 6.0) / 63.0),
];

/// \[ns\] L with which half a frame, 748 bytes, takes over LogGOPS what it takes over so many links of 1 Gb/s and 500 ns.
fn latency(hops: f64) -> u64 {
    let wire = 8.0 * (748.0 + 29.0) + 500.0;
    (hops * wire - 747.0 * GAP.parse::<f64>().unwrap()).round() as u64
}

/// \[us\] The end of the last host or task.
fn finish(network: &str, trace: &Path, hosts: &str) -> (f64, Value) {
    let line = format!("run {network} {hosts} --format json --quiet");
    let output = fsin(Path::new("/")).args(line.split_whitespace()).arg("--trace").arg(trace).output().unwrap();
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    let time = result["finish_max_ns"].as_f64().map(|ns| ns / 1e3);
    (time.or(result["completion_seconds"].as_f64().map(|seconds| seconds * 1e6)).unwrap(), result)
}

/// A row of the table: finish times over LogGOPS and over Ethernet, and their difference in per cent, for each network.
fn row(name: &str, trace: &Path, hosts: &str) -> String {
    let mut row = format!("| {name} |");
    for (at, (topology, hops)) in NETWORKS.into_iter().enumerate() {
        let wire = format!("--network loggops:L={},G={GAP}", latency(hops));
        let (ideal, result) = finish(&wire, trace, hosts);
        if at == 0 {
            let _ = write!(row, " {} | {} |", result["tasks"], result["messages"]);
        }
        let switched = format!("--network ethernet:forwarding=static,ecmp=true --topology {topology}");
        let (found, _) = finish(&switched, trace, "");
        let _ = write!(row, " {ideal:.2} | {found:.2} | {:+.2} % |", 100.0 * (found / ideal - 1.0));
    }
    row
}

/// Hosts of programs that were recorded, over LogGOPS: their own time is in the trace. Over switches they have no others.
const PLAIN: &str = "--hosts o=0,g=0,O=0,S=1000000000";

/// Files with most bytes, which take too long.
const LONG: [&str; 3] = ["allreduce_ring_32_16777216", "resnet_16", "cg.A.64.nocompute"];

fn page() -> String {
    std::fs::read_to_string(workspace().join("docs/validation/ethernet.md")).unwrap()
}

#[test]
fn some_graphs_end_when_the_table_says() {
    let Some(shared) = shared_dir() else { return skipped("no folder `shared` beside the workspace") };
    let page = page();
    for name in ["linear_alltoall_8_1000", "dissemination_64_1", "stencil2d_4x4_i5"] {
        let row = row(name, &shared.join(format!("goal/{name}.goal")), "");
        assert!(page.contains(&row), "docs/validation/ethernet.md lacks {row}");
    }
}

/// `cargo test -p tests --release --test networks ethernet:: -- --ignored --nocapture` prints the table.
#[test]
#[ignore = "minutes: all graphs and traces of up to 64 tasks"]
fn all_graphs_and_traces_end_when_the_table_says() {
    let Some(shared) = shared_dir() else { return skipped("no folder `shared` beside the workspace") };
    let mut rows = Vec::new();
    let files = |folder: &str, end: &'static str| {
        let entries = std::fs::read_dir(shared.join(folder)).unwrap().map(|entry| entry.unwrap().path());
        let mut found: Vec<_> = entries.filter(|path| path.to_string_lossy().ends_with(end)).collect();
        found.sort();
        found.into_iter().map(move |path| {
            let name = path.file_name().unwrap().to_string_lossy().trim_end_matches(end).to_owned();
            (name, path)
        })
    };
    for (name, trace) in files("goal", ".goal") {
        let text = std::fs::read_to_string(&trace).unwrap();
        let ranks: usize = text.split_whitespace().nth(1).unwrap().parse().unwrap();
        if ranks > 64 {
            skipped(&format!("{name}: {ranks} tasks, and the networks have 64 hosts"));
            continue;
        }
        if LONG.contains(&name.as_str()) {
            skipped(&format!("{name}: too long"));
            continue;
        }
        rows.push(row(&name, &trace, ""));
    }
    for (name, trace) in files("traces/npb-ti", ".ti.tar.xz") {
        if LONG.contains(&name.as_str()) {
            skipped(&format!("{name}: too long"));
            continue;
        }
        rows.push(row(&name, &trace, PLAIN));
    }
    skipped("traces/npb-pmpi, traces/npb-otf2: their computing times mean nothing (shared/traces/README.md)");
    skipped("NPB of classes W and C, and of class A with computing times: there are no traces");
    aloud(&format!("{}\n", rows.join("\n")));
    let page = page();
    for row in rows {
        assert!(page.contains(&row), "docs/validation/ethernet.md lacks {row}");
    }
}
