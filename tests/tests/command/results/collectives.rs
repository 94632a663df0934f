//! Figures of collectives, and timelines.

use std::collections::BTreeMap;
use std::process::Command;

use super::*;
use tests::shared::{shared_file, skipped};

fn result(folder: &Path, words: &str) -> Value {
    serde_json::from_str(&done(folder, &format!("{words} --format json -q"))).unwrap()
}

/// Rings by formula, to the cycle and to the last digit of their bandwidths.
#[test]
fn bandwidths_of_rings_are_those_of_the_table() {
    let Some(table) = shared_file("reference/fabrics-busbw.csv") else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut rows = 0;
    for row in csv::Reader::from_path(table).unwrap().deserialize() {
        let row: BTreeMap<String, String> = row.unwrap();
        let (kernel, bytes, topology) = (&row["kernel"], &row["vector_bytes"], &row["topology"]);
        let found =
            result(folder.path(), &format!("run --kernel {kernel}:bytes={bytes} --topology {topology} --vcs 2"));
        assert_eq!(found["completion_cycles"].to_string(), row["completion_cycles"], "{row:?}");
        let collective = &found["collectives"][0];
        let rate = |name: &str| format!("{:.6}", collective[name].as_f64().unwrap());
        assert_eq!(rate("algorithm_bandwidth_gb_per_s"), row["algorithm_bandwidth_GBps"], "{row:?}");
        assert_eq!(rate("bus_bandwidth_gb_per_s"), row["bus_bandwidth_GBps"], "{row:?}");
        rows += 1;
    }
    assert!(rows > 20, "{rows}");
}

/// An all-reduce beside computing, worked out by hand.
const EXPOSED: &str = "num_ranks 2
rank 0 {
a: calc 400 cpu 0
b: calc 500 cpu 0
b requires a
s1: send 501b to 1 tag 1 cpu 1
r1: recv 501b from 1 tag 1 cpu 1
s2: send 501b to 1 tag 2 cpu 1
r2: recv 501b from 1 tag 2 cpu 1
s1 requires a
r1 requires a
s2 requires r1
r2 requires r1
c: calc 200 cpu 0
c requires b
c requires s2
c requires r2
}
rank 1 {
a: calc 600 cpu 0
b: calc 500 cpu 0
b requires a
s1: send 501b to 0 tag 1 cpu 1
r1: recv 501b from 0 tag 1 cpu 1
s2: send 501b to 0 tag 2 cpu 1
r2: recv 501b from 0 tag 2 cpu 1
s1 requires a
r1 requires a
s2 requires r1
r2 requires r1
c: calc 200 cpu 0
c requires b
c requires s2
c requires r2
}
";

/// A trace event: phase, thread, begin and duration \[us\].
struct Event {
    phase: String,
    category: String,
    thread: u64,
    begin: f64,
    duration: f64,
}

/// The events of the ranks in a timeline, by the rules of the viewers: phases and fields, threads with names, complete events of a
/// thread that lie within one another or apart, asynchronous events in pairs.
fn events(text: &str) -> Vec<Event> {
    let value: Value = serde_json::from_str(text).unwrap();
    let (mut events, mut named, mut open) = (Vec::new(), Vec::new(), BTreeMap::new());
    for event in value["traceEvents"].as_array().unwrap() {
        let phase = event["ph"].as_str().unwrap();
        if event["pid"] != 1 {
            // Messages and counters of links, which other tests look at.
            assert!(["M", "X", "i", "C"].contains(&phase), "{event}");
            continue;
        }
        let thread = event["tid"].as_u64().unwrap();
        if phase == "M" {
            assert!(event["args"]["name"].as_str().is_some_and(|name| !name.is_empty()), "{event}");
            named.push((event["name"].as_str().unwrap().to_owned(), thread));
            continue;
        }
        assert!(named.contains(&("thread_name".to_owned(), thread)), "{event}");
        assert!(event["name"].as_str().is_some_and(|name| !name.is_empty()), "{event}");
        let (begin, category) = (event["ts"].as_f64().unwrap(), event["cat"].as_str().unwrap().to_owned());
        match phase {
            "X" => {
                let duration = event["dur"].as_f64().unwrap();
                assert!(begin >= 0.0 && duration >= 0.0, "{event}");
                events.push(Event { phase: phase.to_owned(), category, thread, begin, duration });
            }
            "b" => {
                assert!(open.insert((event["id"].as_u64().unwrap(), category), (thread, begin)).is_none(), "{event}");
            }
            "e" => {
                let (of, since) = open.remove(&(event["id"].as_u64().unwrap(), category.clone())).unwrap();
                assert!(of == thread && begin >= since, "{event}");
                events.push(Event {
                    phase: "async".to_owned(),
                    category,
                    thread,
                    begin: since,
                    duration: begin - since,
                });
            }
            _ => panic!("{event}"),
        }
    }
    assert!(named.contains(&("process_name".to_owned(), 0)) && open.is_empty());
    const ROUNDING: f64 = 1e-6;
    for (at, one) in events.iter().enumerate().filter(|(_, event)| event.phase == "X") {
        for other in events[at + 1..].iter().filter(|event| event.phase == "X" && event.thread == one.thread) {
            let (end, other_end) = (one.begin + one.duration, other.begin + other.duration);
            let apart = other.begin >= end - ROUNDING || one.begin >= other_end - ROUNDING;
            let within = other_end <= end + ROUNDING || end <= other_end + ROUNDING && one.begin >= other.begin;
            assert!(apart || within, "thread {}: {} to {end}, {} to {other_end}", one.thread, one.begin, other.begin);
        }
    }
    events
}

#[test]
fn communication_that_no_computation_hides_is_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("exposed.goal"), EXPOSED).unwrap();
    let hosts = "--hosts o=0,g=0,O=0,S=2147483647,streams=true";
    let line = format!("run --trace exposed.goal --network loggops:L=100,G=1 {hosts} --timeline t.json");
    let found = result(folder.path(), &line);
    let expected = serde_json::json!([
        { "finish_ns": 1900, "compute_ns": 1100, "exposed_communication_ns": 800 },
        { "finish_ns": 2000, "compute_ns": 1300, "exposed_communication_ns": 700 },
    ]);
    assert_eq!(found["per_task"], expected);
    let events = events(&fs::read_to_string(folder.path().join("t.json")).unwrap());
    let communication = |thread: u64| {
        let of = events.iter().filter(move |event| event.thread == thread && event.category != "compute");
        let begin = of.clone().map(|event| event.begin).fold(f64::MAX, f64::min);
        (begin, of.map(|event| event.begin + event.duration).fold(0.0, f64::max))
    };
    assert_eq!((communication(0), communication(1)), ((0.4, 1.7), (0.6, 1.8)));
    // The same hosts over a network know it as well, by their own clock.
    let found =
        result(folder.path(), &format!("run --trace exposed.goal --network constant-delay:delay=600ns {hosts}"));
    let row = &found["per_task"][0];
    assert_eq!(row["compute_ns"], 1100, "{row}");
    let sum = row["compute_ns"].as_f64().unwrap() + row["exposed_communication_ns"].as_f64().unwrap();
    assert_eq!(Some(sum), row["finished_ns"].as_f64());
}

#[test]
fn every_kind_of_application_has_a_timeline() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    done(folder.path(), "run --kernel all-reduce-ring:bytes=4096 --topology torus:8 --timeline ring.json -q");
    let ring = events(&fs::read_to_string(at("ring.json")).unwrap());
    let of = |category: &str| ring.iter().filter(|event| event.category == category).count();
    assert_eq!(of("collective"), 8, "one around all of each rank");
    assert!(of("send") > 8 && of("receive") > 8);
    done(folder.path(), "run --kernel matmul:tasks=4,n=16 --topology torus:2x2 --timeline matmul.json -q");
    let matmul = events(&fs::read_to_string(at("matmul.json")).unwrap());
    assert!(matmul.iter().any(|event| event.category == "compute" && event.duration > 1.0));
    let refused = run(folder.path(), "run --cycles 100 --timeline no.json");
    code_and_words(&refused, 2);
    assert!(!at("no.json").exists());
    let refused = run(folder.path(), "run --kernel all-to-all --timeline ring.json");
    assert!(code_and_words(&refused, 2).contains("the file exists"));
}

/// Every message of a collective lies in a lane in which none overlaps another, with its size and its collective, and the
/// counters of the classes of links sum to what the links carried.
#[test]
fn a_timeline_has_the_sends_of_collectives_and_what_links_carry() {
    let folder = tempfile::tempdir().unwrap();
    for (name, words, classes) in [
        ("torus", "--kernel all-reduce:bytes=10000,tasks=9 --topology torus:3x5 --vcs 2", 2),
        ("tree", "--kernel all-to-all:bytes=3000,tasks=7 --topology fattree:4,2", 2),
        ("cluster", "--kernel all-gather:bytes=20000 --topology cluster:nodes=3,gpus=2", 3),
    ] {
        let file = format!("{name}.json");
        let found = result(folder.path(), &format!("run {words} --link-loads --timeline {file}"));
        let text = fs::read_to_string(folder.path().join(&file)).unwrap();
        events(&text);
        let value: Value = serde_json::from_str(&text).unwrap();
        let all = value["traceEvents"].as_array().unwrap();
        let mut lanes: BTreeMap<u64, Vec<(f64, f64)>> = BTreeMap::new();
        let mut messages = 0;
        for event in all.iter().filter(|event| event["cat"] == "message") {
            let (begin, duration) = (event["ts"].as_f64().unwrap(), event["dur"].as_f64().unwrap());
            lanes.entry(event["tid"].as_u64().unwrap()).or_default().push((begin, begin + duration));
            let row = &found["collectives"][0];
            let of = format!("{} {} 0", row["kind"].as_str().unwrap(), row["algorithm"].as_str().unwrap());
            assert_eq!((&event["args"]["collective"], &event["name"]), (&of.clone().into(), &of.into()), "{event}");
            assert!(event["args"]["bytes"].as_u64().is_some_and(|bytes| bytes > 0), "{event}");
            messages += 1;
        }
        assert_eq!(Some(messages), found["messages"].as_u64(), "{name}");
        for lane in lanes.values_mut() {
            lane.sort_by(|one, other| one.0.total_cmp(&other.0));
            assert!(lane.windows(2).all(|pair| pair[1].0 >= pair[0].1 - 1e-6), "{name}: {lane:?}");
        }
        // Packets of 64 bytes.
        let packets: u64 = found["link_packets"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|ports| ports.as_array().unwrap())
            .filter_map(Value::as_u64)
            .sum();
        let counters: Vec<&Value> = all.iter().filter(|event| event["ph"] == "C").collect();
        let carried: u64 = counters.iter().map(|event| event["args"]["bytes"].as_u64().unwrap()).sum();
        assert_eq!(carried, 64 * packets, "{name}");
        let mut names: Vec<&str> = counters.iter().map(|event| event["name"].as_str().unwrap()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), classes, "{name}: {names:?}");
        // Nothing of the result depends on it.
        let plain = result(folder.path(), &format!("run {words} --link-loads"));
        for figure in ["digest", "completion_cycles", "link_packets", "collectives", "completion_bounds_cycles"] {
            assert_eq!(plain[figure], found[figure], "{name}: {figure}");
        }
        let (timed, plain) = (
            result(folder.path(), &format!("run {words} --timeline plain-{file}")),
            result(folder.path(), &format!("run {words}")),
        );
        for figure in ["digest", "completion_cycles", "link_packets", "collectives", "completion_bounds_cycles"] {
            assert_eq!(plain[figure], timed[figure], "{name}: {figure} without loads of links");
        }
    }
}

#[test]
fn each_collective_of_a_training_step_has_a_row() {
    let Some(archive) = shared_file("traces/chakra/stage_llama_8ranks.tar.xz") else { return };
    let folder = tempfile::tempdir().unwrap();
    let unpacked = Command::new("tar").arg("-xJf").arg(archive).arg("-C").arg(folder.path()).status();
    if !unpacked.is_ok_and(|status| status.success()) {
        skipped("no tar with xz: collectives of a training step are not looked at");
        return;
    }
    let line = "run --trace stage_llama_8ranks --network constant-delay:delay=500ns,rate=50GB/s,links=pair --timeline t.json -o r";
    let found = result(folder.path(), line);
    let rows = found["collectives"].as_array().unwrap();
    let calls: u64 = found["collective_calls"].as_object().unwrap().values().filter_map(Value::as_u64).sum();
    assert_eq!(rows.len() as u64, calls);
    for row in rows {
        let time = |name: &str| row[name].as_f64().unwrap_or_else(|| panic!("{name}: {row}"));
        assert!(time("first_begin_ns") <= time("last_begin_ns") && time("last_begin_ns") <= time("end_ns"), "{row}");
        assert!(time("time_min_ns") <= time("time_mean_ns") && time("time_mean_ns") <= time("time_max_ns"), "{row}");
        let bandwidth = time("bytes") / time("time_max_ns");
        assert!((time("algorithm_bandwidth_gb_per_s") / bandwidth - 1.0).abs() < 1e-12, "{row}");
        assert!(row["group"].is_string(), "groups have names: {row}");
    }
    let table = fs::read_to_string(folder.path().join("r/collectives.csv")).unwrap();
    assert_eq!(table.lines().count(), rows.len() + 1);
    for row in found["per_task"].as_array().unwrap() {
        let time = |name: &str| row[name].as_f64().unwrap();
        assert_eq!(time("finished_ns"), time("compute_ns") + time("exposed_communication_ns"), "{row}");
    }
    let events = events(&fs::read_to_string(folder.path().join("t.json")).unwrap());
    let of = |category: &str| events.iter().filter(|event| event.category == category).count() as u64;
    let taken_part: u64 = rows.iter().map(|row| row["ranks"].as_u64().unwrap()).sum();
    assert_eq!((of("collective"), of("send")), (taken_part, found["messages_point_to_point"].as_u64().unwrap()));
}

/// Kernels on ideal links take the times of the analytical back ends: rings, and exchanges of each with each.
#[test]
fn collectives_by_name_take_the_times_of_ideal_links() {
    let Some(table) = shared_file("reference/fabrics-collectives-astra.csv") else { return };
    let mut rows = 0;
    for row in csv::Reader::from_path(table).unwrap().deserialize() {
        let row: BTreeMap<String, String> = row.unwrap();
        let number = |name: &str| row[name].parse::<u64>().unwrap();
        let algorithm = match (&*row["topology"], &*row["algorithm"]) {
            ("FullyConnected", "direct") => "direct",
            ("Ring", "ring") => "ring",
            _ => continue,
        };
        let (ranks, size) = (number("npus"), number("comm_size_bytes"));
        let kernel = match &*row["kind"] {
            "all_to_all" if algorithm == "ring" => continue,
            "all_to_all" => format!("alltoall:bytes={},interleave=all", size / ranks),
            // The size there is the contribution of a rank.
            "all_gather" => format!("AllGather:bytes={},algorithm={algorithm}", size * ranks),
            kind => format!("{kind}:bytes={size},algorithm={algorithm}"),
        };
        let (rate, delay) = (number("bandwidth_GiBps") << 30, number("latency_ns"));
        let network = format!("constant-delay:delay={delay}ns,rate={rate}B/s,links=pair");
        let result = result(Path::new("."), &format!("run --kernel {kernel} --network {network} --nodes {ranks}"));
        let (found, there) = (result["completion_cycles"].as_u64().unwrap(), number("finish_ns"));
        // A cycle is 1 ns. Each step ends in a cycle, where the back ends round down, and the next begins in the one
        // after it.
        let steps = if algorithm == "ring" { 2 * ranks } else { 4 };
        assert!(found >= there && found <= there + 2 * steps + 2, "{found} {row:?}");
        rows += 1;
    }
    assert!(rows > 80, "{rows}");
}

/// A row for each group.
#[test]
fn groups_have_rows_of_their_own() {
    let kernel = "all-reduce:algorithm=double-tree,group=4,stride=2,chunks=4,bytes=65536";
    let result = result(Path::new("."), &format!("run --kernel {kernel} --topology torus:4x4 --vcs 2"));
    let rows = result["collectives"].as_array().unwrap();
    let names: Vec<&str> = rows.iter().map(|row| row["group"].as_str().unwrap()).collect();
    assert_eq!(names, ["0-6/2", "1-7/2", "8-14/2", "9-15/2"]);
    for row in rows {
        assert_eq!(
            (&row["algorithm"], &row["kind"], &row["ranks"]),
            (&"double-tree".into(), &"allreduce".into(), &4.into())
        );
        assert!(row["time_max_ns"].as_f64().unwrap() > 0.0, "{row}");
    }
}

/// A training step with a slow rank and a dead link: the first lines of the page name both, with the link that is
/// fullest.
#[test]
fn the_page_of_a_step_names_the_slow_rank_and_the_dead_link_first() {
    let Some(archive) = shared_file("traces/chakra/stage_llama_8ranks.tar.xz") else { return };
    let folder = tempfile::tempdir().unwrap();
    let unpacked = Command::new("tar").arg("-xJf").arg(archive).arg("-C").arg(folder.path()).status();
    if !unpacked.is_ok_and(|status| status.success()) {
        return skipped("no tar with xz: the page of a training step is not looked at");
    }
    let line = "run --trace stage_llama_8ranks --topology fattree:4,2 --network flow --link-rate 400Gb/s --peak 100Tflop/s \
                --memory-bandwidth 2TB/s --slow rank:3x2 --fail link:16-20@0 --link-loads -o r";
    let found = result(folder.path(), line);
    done(folder.path(), "report r -q");
    let page = fs::read_to_string(folder.path().join("r/report.html")).unwrap();
    // The section before all others.
    let first = page.split("<section").nth(1).unwrap();
    for words in
        ["Slow rank:</strong> rank 3 computes", "Dead link:</strong> 16 port 0 - 20 port 4", "Exposed communication"]
    {
        assert!(first.contains(words), "{words}: {first}");
    }
    for row in found["collectives"].as_array().unwrap() {
        let rate = |name: &str| row[name].as_f64().unwrap_or_else(|| panic!("{name}: {row}"));
        assert_eq!(rate("bus_bandwidth_bound_gb_per_s"), 50.0, "400 Gb/s: {row}");
        assert!(rate("bus_bandwidth_gb_per_s") <= 50.0 * (1.0 + 1e-9), "{row}");
        let link = row["fullest_link"].as_str().unwrap();
        assert!(!(link.contains("16") && link.contains("20")), "a dead link carries nothing: {row}");
        assert!(rate("fullest_link_load") > 0.0 && rate("fullest_link_load") <= 1.0, "{row}");
        assert!(row["last_rank"].as_u64().unwrap() < 8, "{row}");
    }
    // Shares of the time: a row for each kind and size, and below it one for each group.
    let table = page.split("id=\"collectives\"").nth(1).unwrap().split("</section>").next().unwrap();
    assert_eq!(table.matches("<button class=\"fold\"").count(), 4, "{table}");
    assert!(page.contains("id=\"ranks\"") && !page.contains("cannot be built any more"));
    // The links of a model whose packets are no setting are drawn too.
    assert!(page.contains("class=\"loads\"") || page.contains("between switches, up"), "links are drawn");
}

/// Kernels of one collective: the bound of its bandwidth is the rate of the links of a node, and it is not exceeded.
#[test]
fn bus_bandwidths_stay_below_their_bound() {
    for (kernel, network, links) in [
        ("all-reduce:bytes=1048576", "--topology torus:5 --vcs 2", 2.0),
        ("all-reduce:bytes=1048576,algorithm=double-tree", "--topology torus:3x4 --vcs 2", 4.0),
        ("all-gather:bytes=999999", "--topology star:7 --network wormhole", 1.0),
        ("all-to-all:bytes=65536", "--topology fattree:4,2 --network flow", 1.0),
        ("reduce-scatter:bytes=777777,group=4", "--topology mesh:4x4 --network flow", 4.0),
    ] {
        let found = result(Path::new("."), &format!("run --kernel {kernel} {network}"));
        for row in found["collectives"].as_array().unwrap() {
            let [bound, bandwidth] =
                ["bus_bandwidth_bound_gb_per_s", "bus_bandwidth_gb_per_s"].map(|name| row[name].as_f64().unwrap());
            assert!(bandwidth <= bound && bandwidth > 0.05 * bound, "{kernel}: {row}");
            assert!(bound <= links * 1.25 * (1.0 + 1e-9), "{kernel}: 10 Gb/s for each link: {row}");
        }
    }
    // Ranks that share a node have no such bound.
    let found = result(
        Path::new("."),
        "run --kernel all-reduce:tasks=8,bytes=4096 --topology torus:4 --vcs 2 --tasks-per-node 2",
    );
    assert!(found["collectives"][0]["bus_bandwidth_bound_gb_per_s"].is_null());
}
