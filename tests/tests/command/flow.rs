//! The flow model from outside: closed forms, worked examples, and arrivals by an independent rule.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;
use tests::command::run;
use tests::shared::shared_folder;

/// Hosts without overheads, which send every message eagerly.
const HOSTS: &str = "--hosts o=0,g=0,O=0,S=1099511627776";

fn json(folder: &Path, line: &str) -> Value {
    let output = run(folder, &format!("{line} --format json -q"));
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// \[ns\] The arrivals of messages, by source, destination, bytes and start \[ns\].
fn arrivals(folder: &Path, line: &str) -> BTreeMap<(u32, u32, u64, u64), Vec<f64>> {
    let _ = fs::remove_file(folder.join("m.csv"));
    json(folder, &format!("{line} --message-stats --message-log m.csv"));
    let mut found: BTreeMap<_, Vec<f64>> = BTreeMap::new();
    for row in csv::Reader::from_path(folder.join("m.csv")).unwrap().deserialize() {
        let row: BTreeMap<String, String> = row.unwrap();
        let number = |name: &str| row[name].parse::<u64>().unwrap();
        let start = number("generated_cycle") / 1000;
        let key = (number("source") as u32, number("destination") as u32, number("bytes"), start);
        found.entry(key).or_default().push(number("delivered_cycle") as f64 / 1000.0);
    }
    found
}

/// Compares all flows of a table with a column of it.
fn check_table(table: &str, column: &str, flags: &str, least: usize) {
    let Some(reference) = shared_folder("reference/flow") else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut cases: BTreeMap<String, Vec<BTreeMap<String, String>>> = BTreeMap::new();
    for row in csv::Reader::from_path(reference.join(table)).unwrap().deserialize() {
        let row: BTreeMap<String, String> = row.unwrap();
        cases.entry(row["case"].clone()).or_default().push(row);
    }
    let mut flows = 0;
    for (case, rows) in cases {
        let at = |end: &str| reference.join(format!("{case}.{end}")).display().to_string();
        let line = format!("run --network flow --topology graph:{} --trace {} {HOSTS} {flags}", at("dot"), at("goal"));
        let found = arrivals(folder.path(), &line);
        for row in rows {
            let number = |name: &str| row[name].parse::<u64>().unwrap();
            let key = (number("source") as u32, number("destination") as u32, number("bytes"), number("start_ns"));
            let expected: f64 = row[column].parse().unwrap();
            let nearest = found[&key].iter().map(|at| (at - expected).abs()).fold(f64::MAX, f64::min);
            assert!(nearest <= 1.0 + 1e-9 * expected, "{case} {key:?}: {:?}, not {expected}", found[&key]);
            flows += 1;
        }
    }
    assert!(flows >= least, "{flows}");
}

#[test]
fn arrivals_are_max_min_fair_on_trees() {
    check_table("expected.csv", "maxmin_arrival_ns", "--interface at-once", 700);
}

#[test]
fn weights_and_factors_are_those_of_simgrid() {
    const LV08: &str = "--weight-s 20537 --latency-factor 13.01 --bandwidth-factor 0.97 --tcp-gamma 4194304";
    check_table("rtt-expected.csv", "cm02_ns", "--fairness rtt", 600);
    check_table("rtt-expected.csv", "lv08_ns", &format!("--fairness rtt {LV08}"), 600);
    check_table("rtt-expected.csv", "lv08_cross_ns", &format!("--fairness rtt {LV08} --cross-traffic 0.05"), 600);
}

/// Platforms of SimGrid with zones whose routes are not those of the graph: the end of every flow by SimGrid under
/// CM02, on both engines.
#[test]
fn flows_of_platforms_end_when_simgrid_says() {
    let Some(reference) = shared_folder("reference/flow/platforms") else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut compared = 0;
    for name in ["n3_ft2", "n4_torus444", "n7_dfly2", "n9_dijkstra"] {
        let at = |end: &str| reference.join(format!("{name}.{end}"));
        let rows = |end: &str| -> Vec<BTreeMap<String, String>> {
            csv::Reader::from_path(at(end)).unwrap().deserialize().map(Result::unwrap).collect()
        };
        let mut expected: BTreeMap<(u32, u32, u64), Vec<f64>> = BTreeMap::new();
        for (flow, end) in rows("csv").iter().zip(rows("finish.csv")) {
            let number = |name: &str| flow[name].parse::<u64>().unwrap();
            let key = (number("src") as u32, number("dst") as u32, number("bytes"));
            expected.entry(key).or_default().push(end["finish_ns"].parse().unwrap());
        }
        for engine in ["fast", "reference"] {
            let line = format!(
                "run --network flow --topology graph:{} --flows {} --fairness rtt --weight-s 0 --latency-factor 1 \
                 --bandwidth-factor 1 --tcp-gamma 0 --cross-traffic 0 --engine {engine}",
                at("xml").display(),
                at("csv").display()
            );
            let mut found: BTreeMap<(u32, u32, u64), Vec<f64>> = BTreeMap::new();
            for ((from, to, bytes, _), times) in arrivals(folder.path(), &line) {
                found.entry((from, to, bytes)).or_default().extend(times);
            }
            for (key, ends) in &mut expected {
                let times = found.get_mut(key).unwrap();
                ends.sort_by(f64::total_cmp);
                times.sort_by(f64::total_cmp);
                assert_eq!(times.len(), ends.len(), "{name} {key:?}");
                for (time, end) in times.iter().zip(ends) {
                    assert!((time - *end).abs() <= 1.0 + 1e-6 * *end, "{name} {engine} {key:?}: {time}, not {end}");
                    compared += 1;
                }
            }
        }
    }
    assert_eq!(compared, 2 * (250 + 300 + 300 + 200));
}

/// Messages of a connection follow each other: arrivals of an independent program by the same rule, on both engines, to
/// the ps: hosts count in parts of a ns.
#[test]
fn messages_of_a_connection_follow_each_other() {
    let Some(reference) = shared_folder("reference/flow/order") else { return };
    let folder = tempfile::tempdir().unwrap();
    let rows = |file: &str| -> Vec<BTreeMap<String, String>> {
        csv::Reader::from_path(reference.join(file)).unwrap().deserialize().map(Result::unwrap).collect()
    };
    let all = rows("expected.csv");
    let mut compared = 0;
    for case in rows("cases.csv") {
        let name = &case["case"];
        let at = |end: &str| reference.join(format!("{name}.{end}")).display().to_string();
        for (flags, column) in [
            ("", "per_destination_ns"),
            ("--interface per-destination --engine reference", "per_destination_ns"),
            ("--interface serial", "serial_ns"),
            ("--interface at-once", "at_once_ns"),
        ] {
            let graph = format!("run --network flow --topology graph:{} --trace {} {HOSTS}", at("dot"), at("goal"));
            let mut found: BTreeMap<(u32, u32, u64), Vec<f64>> = BTreeMap::new();
            for ((from, to, bytes, _), times) in arrivals(folder.path(), &format!("{graph} {flags}")) {
                found.entry((from, to, bytes)).or_default().extend(times);
            }
            let mut expected: BTreeMap<(u32, u32, u64), Vec<f64>> = BTreeMap::new();
            for row in all.iter().filter(|row| &row["case"] == name) {
                let number = |name: &str| row[name].parse::<u64>().unwrap();
                let key = (number("source") as u32, number("destination") as u32, number("bytes"));
                expected.entry(key).or_default().push(row[column].parse().unwrap());
            }
            for (key, mut times) in expected {
                let found = found.get_mut(&key).unwrap();
                times.sort_by(f64::total_cmp);
                found.sort_by(f64::total_cmp);
                assert_eq!(found.len(), times.len(), "{name} {flags} {key:?}");
                for (found, expected) in found.iter().zip(times) {
                    assert!((found - expected).abs() < 0.01, "{name} {flags} {key:?}: {found}, not {expected}");
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 9_000, "{compared}");
}

/// Presets with cross traffic on platforms whose routes are stated link by link: a flow uses the links of the way back,
/// which over links of one direction each are others. Ends by SimGrid 3.32 (`network/optim:Full`, no selective update),
/// 28 November 2026.
#[test]
fn cross_traffic_goes_the_way_back_of_platforms() {
    let folder = tempfile::tempdir().unwrap();
    let flows = [(0, 4, 3_000_000), (4, 0, 1_000_000), (1, 5, 2_000_000), (2, 3, 1_500_000), (0, 1, 2_500_000)];
    let flows = flows.into_iter().chain([(5, 3, 700_000), (3, 1, 1_800_000)]);
    let rows: String = flows.clone().map(|(from, to, bytes)| format!("{from},{to},{bytes},0\n")).collect();
    fs::write(folder.path().join("six.csv"), format!("src,dst,bytes,start\n{rows}")).unwrap();
    for (policy, preset, ends) in [
        ("SPLITDUPLEX", "simgrid-cm02", [4442000.0, 2444000.0, 1676000.0, 1264000.0, 3041000.0, 562000.0, 1516000.0]),
        (
            "SPLITDUPLEX",
            "simgrid-lv08",
            [4603339.588, 2567503.918, 1775751.340, 1351009.072, 3147030.619, 603339.588, 1610802.887],
        ),
        (
            "SHARED",
            "simgrid-cm02",
            [5032904.762, 2564000.0, 1652353.027, 2007308.390, 3191000.0, 603952.381, 4072904.762],
        ),
        (
            "SHARED",
            "simgrid-lv08",
            [5223357.963, 2691215.257, 1751615.382, 2110162.400, 3301669.794, 646019.033, 4233667.241],
        ),
    ] {
        let text = format!(
            "<platform version='4.1'><cluster id='a' prefix='a-' suffix='' radical='0-5' speed='1Gf' bw='10Gbps' lat='2us' \
             sharing_policy='{policy}' topology='TORUS' topo_parameters='3,2'/></platform>"
        );
        fs::write(folder.path().join("torus.xml"), text).unwrap();
        let line = format!("run --network flow --topology graph:torus.xml --flows six.csv --flow-preset {preset}");
        let found = arrivals(folder.path(), &line);
        for ((from, to, bytes), end) in flows.clone().zip(ends) {
            let at = found[&(from, to, bytes, 0)][0];
            assert!((at - end).abs() <= 1.0 + 1e-6 * end, "{policy} {preset} {from} to {to}: {at}, not {end}");
        }
    }
}

/// The experiment that a run writes takes the routes of the platform again, and not those of the routing by default.
#[test]
fn a_written_experiment_takes_the_routes_of_its_platform_again() {
    let folder = tempfile::tempdir().unwrap();
    let text = "<platform version='4.1'><cluster id='a' prefix='a-' suffix='' radical='0-53' speed='1Gf' bw='10Gbps' lat='2us' \
                topology='DRAGONFLY' topo_parameters='3,1;3,1;3,1;2'/></platform>";
    fs::write(folder.path().join("dragonfly.xml"), text).unwrap();
    let pairs = [18, 20, 25].into_iter().flat_map(|further| (0..54).map(move |from| (from, (from + further) % 54)));
    let rows: String = pairs.map(|(from, to)| format!("{from},{to},{},0\n", 1_000_000 + from)).collect();
    fs::write(folder.path().join("flows.csv"), format!("src,dst,bytes,start\n{rows}")).unwrap();
    let line = "run --network flow --topology graph:dragonfly.xml --flows flows.csv";
    let first = json(folder.path(), &format!("{line} -o out"));
    let again = json(folder.path(), "run out/experiment.toml");
    assert_eq!(first["digest"], again["digest"]);
    assert_eq!(first["experiment"]["routing"], Value::Null, "{first}");
    let named = json(folder.path(), &format!("{line} --routing shortest"));
    assert!(named["experiment"]["routing"] == "shortest" && named["digest"] != first["digest"], "{named}");
}

/// A fat link limits each flow alone, on both engines and whatever the fairness: 3 000 000 bytes at 2 Gb/s after 3 us.
#[test]
fn a_fat_link_limits_each_flow_alone() {
    let folder = tempfile::tempdir().unwrap();
    let route = |from: u32, to: u32| {
        let links = format!("<link_ctn id='l{from}'/><link_ctn id='fat'/><link_ctn id='l{to}'/>");
        format!("<route src='h{from}' dst='h{to}'>{links}</route>")
    };
    let ends: String = (0..3)
        .map(|host| format!("<host id='h{host}' speed='1Gf'/><link id='l{host}' bandwidth='10Gbps' latency='1us'/>"))
        .collect();
    let text = format!(
        "<platform version='4.1'><zone id='all' routing='Full'>{ends}<link id='fat' bandwidth='2Gbps' latency='1us' \
         sharing_policy='FATPIPE'/>{}{}{}</zone></platform>",
        route(0, 1),
        route(0, 2),
        route(1, 2)
    );
    fs::write(folder.path().join("fat.xml"), text).unwrap();
    fs::write(folder.path().join("fat.csv"), "src,dst,bytes,start\n0,1,1000000,0\n0,2,1000000,0\n1,2,3000000,0\n")
        .unwrap();
    let line = "run --network flow --topology graph:fat.xml --flows fat.csv";
    for flags in ["", "--engine reference", "--fairness rtt", "--fairness split"] {
        let found = json(folder.path(), &format!("{line} {flags}"))["completion_seconds"].as_f64().unwrap();
        assert!((found * 1e9 - 12_003_000.0).abs() < 1.0, "{flags}: {found}");
    }
}

/// `--link-delay` takes times in this model, one for all links or one for each dimension or class, in place of
/// `--propagation`.
#[test]
fn links_take_a_time_by_dimension_or_class() {
    let folder = tempfile::tempdir().unwrap();
    for (network, ranks, expected) in [
        // 1000 bytes at 1.25 bytes/ns and the hops in each dimension.
        ("torus:4x3 --link-delay 100ns:7us", 12, [(1, 100.0), (4, 7000.0), (5, 7100.0), (6, 7200.0)]),
        ("torus:4x3 --link-delay 30ns", 12, [(1, 30.0), (4, 30.0), (5, 60.0), (6, 90.0)]),
        // To endpoints, within groups, between groups.
        (
            "dragonfly:p=1,a=2,h=1 --routing dragonfly:minimal --link-delay 10ns:200ns:3us",
            6,
            [(1, 220.0), (2, 3020.0), (3, 3220.0), (4, 3220.0)],
        ),
    ] {
        for (to, delay) in expected {
            let found = all_at_once(&format!("--topology {network}"), ranks, &[(0, to, 1000)])[0];
            assert!((found - 800.0 - delay).abs() < 1.5, "{network} to {to}: {found}");
        }
    }
    for (line, part) in [
        ("--link-delay 100", "takes times in this model"),
        ("--link-delay 1us:2us:3us", "2 kinds of links"),
        ("--link-delay 1us --propagation 2us", "both say how long"),
    ] {
        let output = run(folder.path(), &format!("run --network flow --topology torus:4x3 --load .1 {line}"));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{line}: {said}");
        assert!(said.contains(part), "{line}: {said}");
    }
}

/// Ideal links of pairs carry the messages of a pair one after another, and a node at most so many at a time.
#[test]
fn ideal_links_of_pairs_keep_the_order_of_a_node() {
    let folder = tempfile::tempdir().unwrap();
    // Four messages of 1250 bytes, a microsecond each at 10 Gb/s: two to node 1, then one each to 2 and 3.
    fs::write(folder.path().join("four.csv"), "src,dst,bytes,start\n0,1,1250,0\n0,1,1250,0\n0,2,1250,0\n0,3,1250,0\n")
        .unwrap();
    let network = "run --network constant-delay:delay=100ns,rate=10Gb/s --topology torus:4 --flows four.csv";
    for (flags, expected) in [
        ("--links pair", [1100, 1100, 1100, 2100]),
        ("--links pair --interface per-destination", [1100, 1100, 1100, 2100]),
        ("--links pair --interface serial", [1100, 2100, 3100, 4100]),
        ("--links pair --interface serial:2", [1100, 2100, 2100, 3100]),
        ("--links pair --interface serial:3", [1100, 1100, 2100, 2100]),
        ("", [1100, 2100, 3100, 4100]),
        ("--interface serial", [1100, 2100, 3100, 4100]),
    ] {
        let _ = fs::remove_file(folder.path().join("m.csv"));
        json(folder.path(), &format!("{network} {flags} --message-stats --message-log m.csv"));
        let mut found: Vec<i64> = csv::Reader::from_path(folder.path().join("m.csv"))
            .unwrap()
            .deserialize::<BTreeMap<String, String>>()
            .map(|row| row.unwrap()["delivered_cycle"].parse().unwrap())
            .collect();
        found.sort_unstable();
        let is_near = found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() <= 2);
        assert!(found.len() == 4 && is_near, "{flags}: {found:?}, not {expected:?}");
    }
    for (line, part) in [
        ("--interface at-once", "one message at a time"),
        ("--links pair --interface at-once", "one message at a time"),
        ("--interface per-destination", "--links pair"),
        ("--interface interleaved:2", "no interface of a model without packets"),
    ] {
        let output = run(folder.path(), &format!("{network} {line}"));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{line}: {said}");
        assert!(said.contains(part), "{line}: {said}");
    }
}

/// A ring of n ranks, the first of them late, takes 2 (n - 1) steps of a piece and a latency after that.
#[test]
fn a_late_rank_delays_a_ring_by_its_lateness() {
    let folder = tempfile::tempdir().unwrap();
    const LATE: u64 = 300_000;
    for n in [4_u64, 7, 16] {
        let mut text = format!("num_ranks {n}\n");
        for rank in 0..n {
            text.push_str(&format!("rank {rank} {{\n"));
            for step in 0..2 * (n - 1) {
                text.push_str(&format!("s{step}: send 500000b to {} tag {step}\n", (rank + 1) % n));
                text.push_str(&format!("r{step}: recv 500000b from {} tag {step}\n", (rank + n - 1) % n));
                if step > 0 {
                    text.push_str(&format!("s{step} requires r{}\n", step - 1));
                }
            }
            if rank == 0 {
                text.push_str(&format!("late: calc {LATE}\ns0 requires late\n"));
            }
            text.push_str("}\n");
        }
        fs::write(folder.path().join("ring.goal"), text).unwrap();
        let line = format!(
            "run --network flow --topology star:{n} --link-rate 400Gb/s --propagation 250ns --trace ring.goal {HOSTS}"
        );
        let found = json(folder.path(), &line)["completion_seconds"].as_f64().unwrap() * 1e9;
        let expected = LATE as f64 + 2.0 * (n as f64 - 1.0) * (10_000.0 + 500.0);
        assert!((found - expected).abs() < 0.01, "{n}: {found}, not {expected}");
        let rivals =
            json(folder.path(), &format!("{line} --interface at-once"))["completion_seconds"].as_f64().unwrap();
        assert!(rivals * 1e9 > LATE as f64 + (0.7 * n as f64) * (expected - LATE as f64), "{n}: {rivals}");
    }
}

/// A slice has an interface on each of its links: messages to different neighbours leave a node at once.
#[test]
fn a_node_of_a_slice_sends_over_all_its_links() {
    let folder = tempfile::tempdir().unwrap();
    let messages = [(0, 1, 1_000_000), (0, 4, 1_000_000), (0, 12, 1_000_000), (0, 3, 1_000_000)];
    fs::write(folder.path().join("g.goal"), goal(16, &messages)).unwrap();
    let last = |network: &str| {
        let line = format!("run --network flow --topology {network} --trace g.goal {HOSTS}");
        json(folder.path(), &line)["completion_cycles"].as_u64().unwrap() / 1_000_000
    };
    assert_eq!((last("tpu:4x4"), last("tpu:4x4 --injectors 2"), last("torus:4x4")), (800, 1600, 3200));
    assert_eq!((last("torus:4x4 --injectors 4"), last("torus:4x4 --node-rate 20Gb/s")), (800, 1600));
    for (flags, key) in [("torus:4x4 --injectors 5", "injectors"), ("star:16 --injectors 2", "injectors")] {
        let output = run(folder.path(), &format!("run --network flow --topology {flags} --trace g.goal {HOSTS}"));
        assert_eq!(output.status.code(), Some(2), "{flags}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(key), "{flags}");
    }
}

/// A graph in which every rank sends these messages at once: source, destination, bytes.
fn goal(ranks: u32, messages: &[(u32, u32, u64)]) -> String {
    let mut text = format!("num_ranks {ranks}\n");
    for rank in 0..ranks {
        text.push_str(&format!("rank {rank} {{\n"));
        for (tag, &(from, to, bytes)) in messages.iter().enumerate() {
            if from == rank {
                text.push_str(&format!("s{tag}: send {bytes}b to {to} tag {tag}\n"));
            }
            if to == rank {
                text.push_str(&format!("r{tag}: recv {bytes}b from {from} tag {tag}\n"));
            }
        }
        text.push_str("}\n");
    }
    text
}

/// \[ns\] The arrival of each of these messages, which start at once, over a network.
fn all_at_once(network: &str, ranks: u32, messages: &[(u32, u32, u64)]) -> Vec<f64> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("g.goal"), goal(ranks, messages)).unwrap();
    let found = arrivals(folder.path(), &format!("run --network flow {network} --trace g.goal {HOSTS}"));
    messages.iter().map(|&(from, to, bytes)| found[&(from, to, bytes, 0)][0]).collect()
}

#[test]
fn closed_forms_hold() {
    // k flows over one link: the last bytes of all arrive together. A rate of 10 Gb/s is 1.25 bytes/ns.
    let incast: Vec<_> = (1..5).map(|from| (from, 0, 1_000_000)).collect();
    assert_eq!(all_at_once("--topology star:5", 5, &incast), [3_200_000.0; 4]);
    // A parking lot: the long flow and two short ones share a link each; then the short ones are alone.
    let lot = [(0, 3, 1_000_000), (0, 1, 500_000), (1, 2, 1_000_000)];
    let found = all_at_once("--topology mesh:4 --node-rate 100Gb/s", 4, &lot);
    // Until 800 us the first link is halved; the long flow then goes on at half of the second one.
    assert_eq!(found, [1_600_000.0, 800_000.0, 1_600_000.0]);
    // Latencies are passed before anything else; a message of no bytes takes nothing more.
    let found = all_at_once("--topology mesh:3 --propagation 5us --hop-delay 1us", 3, &[(0, 2, 0), (2, 0, 1_250)]);
    assert_eq!(found, [13_000.0, 14_000.0]);
    // Static routes of a fat tree go up by the digits of the source: no two of a permutation of them share a link.
    let opposite: Vec<_> = (0..64).map(|from| (from, 63 - from, 1_000_000)).collect();
    assert_eq!(all_at_once("--topology fattree:4,3 --routing static", 64, &opposite), [800_000.0; 64]);
    // Headers pass too.
    let found = all_at_once("--topology mesh:2 --packet-bytes 1000 --header-bytes 25", 2, &[(0, 1, 10_000)]);
    assert_eq!(found, [8_200.0]);
}

#[test]
fn what_a_flow_leaves_is_given_away_but_by_split() {
    // Two flows leave node 0; one is held to a third of the link of node 3 by two others.
    let messages = [(0, 3, 1_000_000), (0, 4, 1_000_000), (1, 3, 1_000_000), (2, 3, 1_000_000)];
    let fair = all_at_once("--topology star:5", 5, &messages);
    assert_eq!(fair, [2_400_000.0, 1_200_000.0, 2_400_000.0, 2_400_000.0]);
    let split = all_at_once("--topology star:5 --fairness split", 5, &messages);
    assert_eq!(split, [2_400_000.0, 1_600_000.0, 2_400_000.0, 2_400_000.0]);
}

#[test]
fn an_all_to_all_on_a_torus_takes_what_its_busiest_link_carries() {
    let nodes = 64;
    let messages: Vec<_> = (0..nodes)
        .flat_map(|from| (0..nodes).filter(move |&to| to != from).map(move |to| (from, to, 12_500)))
        .collect();
    let last = |paths: &str| {
        let network = format!("--topology torus:4x4x4 --node-rate 1Tb/s {paths}");
        all_at_once(&network, nodes, &messages).into_iter().fold(0.0, f64::max)
    };
    // N/K (1 + 2) b/rate by dimension order, with ties one way; N K/8 b/rate where every flow takes all shortest paths.
    assert_eq!(last("--routing dor"), 16.0 * 3.0 * 10_000.0);
    assert!((last("--routing shortest --paths spray") - 64.0 * 4.0 / 8.0 * 10_000.0).abs() <= 0.001);
}

#[test]
fn worked_examples_of_round_trips_hold() {
    let folder = tempfile::tempdir().unwrap();
    let link = "S0 -- S1 [rate=\"10Gb/s\", propagation=\"0ns\"];";
    let host =
        |name: &str, at: &str, delay: &str| format!("{name} -- {at} [rate=\"10Gb/s\", propagation=\"{delay}\"];");
    let graph = |hosts: &[String]| format!("graph g {{ {link} {} }}", hosts.join(" "));
    let two = [host("H0", "S0", "1us"), host("H1", "S0", "3us"), host("H2", "S1", "0ns"), host("H3", "S1", "0ns")];
    fs::write(folder.path().join("two.dot"), graph(&two)).unwrap();
    fs::write(folder.path().join("two.goal"), goal(4, &[(0, 2, 1_000_000), (1, 3, 1_000_000)])).unwrap();
    let run = "run --network flow --topology graph:two.dot --trace two.goal";
    let found = arrivals(folder.path(), &format!("{run} {HOSTS} --fairness rtt"));
    assert_eq!((found[&(0, 2, 1_000_000, 0)][0], found[&(1, 3, 1_000_000, 0)][0]), (1_067_000.0, 1_601_000.0));
    // One flow over 10 ms, by its rate, and by a window of 4 MiB over the latency.
    let far = [host("H0", "S0", "10ms"), host("H1", "S1", "0ns")];
    fs::write(folder.path().join("far.dot"), graph(&far)).unwrap();
    fs::write(folder.path().join("far.goal"), goal(2, &[(0, 1, 100_000_000)])).unwrap();
    let far = |flags: &str| {
        let run = "run --network flow --topology graph:far.dot --trace far.goal";
        arrivals(folder.path(), &format!("{run} {HOSTS} {flags}"))[&(0, 1, 100_000_000, 0)][0]
    };
    assert_eq!(far("--fairness rtt"), 90_000_000.0);
    let lv08 = far("--flow-preset simgrid-lv08");
    assert!((lv08 - 621_684_699.178).abs() < 1.0, "{lv08}");
}

#[test]
fn a_node_sends_one_blocking_message_after_the_other() {
    let folder = tempfile::tempdir().unwrap();
    let found = json(folder.path(), "run --network flow --topology torus:16 --kernel all-to-all:bytes=1000");
    let figures = found["model_figures"].as_array().unwrap();
    let fills = figures.iter().find(|figure| figure["name"] == "fills").unwrap();
    // The run is over when the last flow ends, so there is no share to compute.
    assert_eq!(fills["value"], 15.0, "an instant for the begin of each of the 15 messages of a node");
}

/// Messages that are sent at the instant at which others arrive enter at once where links take no time, in the second part of
/// that instant: nothing may end by the rates of its first part, which hold for no time.
#[test]
fn engines_agree_where_messages_enter_at_the_instant_of_an_end() {
    let folder = Path::new(".");
    for topology in ["rrg:s=20,d=4,p=3", "torus:7x5", "fattree:6,2"] {
        for (seed, tick) in (1..9).flat_map(|seed| ["10us", "3us", "1ps"].map(|tick| (seed, tick))) {
            let kernel = "all-to-all:tasks=30,bytes=5000";
            let line =
                format!("run --network flow --topology {topology} --kernel {kernel} --tick {tick} --seed {seed}");
            let of = |engine: &str| json(folder, &format!("{line} --engine {engine}"))["digest"].to_string();
            assert_eq!(of("fast"), of("reference"), "{line}");
        }
    }
}

#[test]
fn a_tick_merges_instants_and_is_off_by_half_of_it_at_most() {
    let folder = tempfile::tempdir().unwrap();
    let messages: Vec<_> = (0..8_u32)
        .flat_map(|from| {
            (0..8).filter(move |&to| to != from).map(move |to| (from, to, 10_000 + u64::from(from * 977 + to * 131)))
        })
        .collect();
    fs::write(folder.path().join("g.goal"), goal(8, &messages)).unwrap();
    let run = |tick: &str| {
        json(folder.path(), &format!("run --network flow --topology star:8 --trace g.goal {HOSTS} --tick {tick}"))
    };
    let (exact, coarse) = (run("1ps"), run("5us"));
    let fills = |result: &Value| {
        let figures = result["model_figures"].as_array().unwrap();
        figures.iter().find(|figure| figure["name"] == "fills").unwrap()["value"].as_f64().unwrap()
    };
    assert!(fills(&coarse) < fills(&exact) / 2.0, "{} {}", fills(&coarse), fills(&exact));
    let end = |result: &Value| result["completion_cycles"].as_f64().unwrap();
    assert!((end(&coarse) / end(&exact) - 1.0).abs() < 0.1);
}

#[test]
fn a_flow_network_is_driven_by_every_kind_of_traffic() {
    let folder = tempfile::tempdir().unwrap();
    let calm = json(
        folder.path(),
        "run --network flow --topology torus:8x8 --load 0.3 --warmup 10000000 --sample-size 20000000",
    );
    assert_ne!(calm["verdict"], "saturated");
    let accepted = calm["accepted_load_phits_per_node_cycle"].as_f64().unwrap();
    assert!((accepted - 0.3).abs() < 0.03, "{accepted}");
    // Uniform traffic on a ring of 16 asks for twice what a link carries: flows pile up.
    let short = "--warmup 10000000 --conv-period 10000000 --max-conv-time 20000000 --sample-size 10000000";
    let full = json(folder.path(), &format!("run --network flow --topology torus:16 --load 0.95 {short}"));
    assert_eq!(full["verdict"], "saturated");
    for topology in ["fattree:4,3", "dragonfly:p=2,a=4,h=2", "hyperx:4x4:2", "mesh:4x4", "slimfly:q=5,p=2"] {
        for paths in ["hash", "adaptive", "spray"] {
            let line = format!(
                "run --network flow --topology {topology} --routing shortest --paths {paths} --kernel all-reduce-ring"
            );
            assert_eq!(json(folder.path(), &line)["complete"], true, "{line}");
        }
    }
    let loads = json(folder.path(), "run --network flow --topology torus:4x4 --kernel all-to-all --link-loads");
    assert!(loads["link_load_max_phits_per_cycle"].as_f64().unwrap() > 0.0);
}

/// Of messages of one size that share an overloaded link, r times its capacity, the share e^-x arrives, x = r (1 - e^-x): flows
/// grow in number with time t, as x C/B t, and one that begins at s has its bytes at t = s e^x.
#[test]
fn an_overloaded_link_accepts_whole_messages() {
    let folder = tempfile::tempdir().unwrap();
    for load in [0.6, 0.8] {
        // Nodes 0 and 1 send to node 2, which sends to either.
        let line = format!(
            "run --network flow --interface at-once --topology star:3 --traffic hotspot(1,2) --load {load} --cycles 3000000000 --link-loads"
        );
        let found = json(folder.path(), &line);
        let [generated, accepted] =
            ["generated", "accepted"].map(|what| found[format!("{what}_load_phits_per_node_cycle")].as_f64().unwrap());
        let ratio = 2.0 * generated;
        let x = (0..200).fold(1.0_f64, |x, _| ratio * (1.0 - (-x).exp()));
        let expected = (generated + ratio * (-x).exp()) / 3.0;
        assert!((accepted / expected - 1.0).abs() < 0.03, "{load}: {accepted}, {expected} expected");
        assert!(accepted < 0.9 * (generated + 1.0) / 3.0, "the link carries its capacity: {accepted}");
    }
}

/// Every step of an all-to-all by translations of a torus begins at one instant; the run is over when the last one ends.
#[test]
fn an_all_to_all_by_translations_has_an_instant_for_each_step() {
    let folder = tempfile::tempdir().unwrap();
    for (sizes, steps) in [("4x4", 15.0), ("4x2x8", 63.0)] {
        let line = format!("run --network flow --topology torus:{sizes} --kernel all-to-all:order=torus,bytes=65536");
        let found = json(folder.path(), &line);
        let figures = found["model_figures"].as_array().unwrap();
        let fills = figures.iter().find(|figure| figure["name"] == "fills").unwrap();
        assert_eq!(fills["value"], steps, "{sizes}: the begin of every step");
    }
}

/// Paths have the length of shortest routes, and links carry all that is sent, in whatever parts.
#[test]
fn split_flows_count_as_whole_ones() {
    let folder = tempfile::tempdir().unwrap();
    let run = |more: &str| {
        let line = format!("run --network flow --topology torus:5x5 --kernel all-to-all:bytes=100 --link-loads {more}");
        let found = json(folder.path(), &line);
        let links = found["link_packets"].as_array().unwrap().iter().flat_map(|node| node.as_array().unwrap().iter());
        (
            found["hops_mean"].as_f64().unwrap(),
            found["packet_hops"].clone(),
            links.filter_map(Value::as_u64).sum::<u64>(),
        )
    };
    let whole = run("--routing dor");
    assert_eq!((whole.0, whole.2), (2.5, 1500));
    // What is left of a packet on each of the 100 links is not counted.
    let (hops, sum, links) = run("--routing shortest --paths spray");
    assert_eq!((hops, sum), (whole.0, whole.1));
    assert!((1400..=1500).contains(&links), "{links}");
}

/// The closed form of the example of 65 536 accelerators, on smaller trees, and the figure that its page gives.
#[test]
fn halving_on_a_tree_takes_the_bytes_of_a_node_and_the_latency_of_each_round() {
    let folder = tempfile::tempdir().unwrap();
    let command = "run --network flow --routing static --link-rate 400Gb/s --propagation 100ns \
                   --packet-bytes 1073741824 --topology";
    let kernel = "--kernel all-reduce-halving:bytes=1073741824";
    // [ns] For a k-ary n-tree: each of the bits of a digit leads over two links for each level.
    let expected = |k: u32, n: u32| {
        let nodes = f64::from(k.pow(n));
        let links = 2 * k.ilog2() * (1..=n).map(|level| 2 * level).sum::<u32>();
        2.0 * (nodes - 1.0) / nodes * f64::from(1 << 30) / 50.0 + 100.0 * f64::from(links)
    };
    for (k, n) in [(2, 3), (4, 3), (16, 2)] {
        let found = json(folder.path(), &format!("{command} fattree:{k},{n} {kernel}"));
        let end = found["completion_cycles"].as_f64().unwrap() / 1000.0;
        // Ends are rounded to picoseconds, in each of the rounds.
        assert!((end - expected(k, n)).abs() < 0.1, "{k}-ary {n}-tree: {end} ns, {} expected", expected(k, n));
    }
    let page = fs::read_to_string(tests::shared::workspace().join("docs/book/src/howto/flow.md")).unwrap();
    assert!(page.contains(&format!("fsin {command} fattree:16,4 {kernel}\n")));
    assert!(page.contains("42 965 017.602 ns") && (expected(16, 4) - 42_965_017.602).abs() < 0.1);
}
