//! Any trace on any hosts: Chakra traces and programs on the hosts of LogGOPS, by formula; and keys of hosts that a trace
//! does not have are refused with the reason.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;

use serde_json::Value;
use tests::chakra::{collective, compute, file, receive, send};
use tests::command::run;

/// \[ns\] The end of the last rank.
fn finish(folder: &Path, words: &str) -> u64 {
    let output = run(folder, &format!("run {words} --format json -q"));
    assert!(output.status.success(), "{words}: {}", String::from_utf8_lossy(&output.stderr));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let end = found["finish_max_ns"].as_u64();
    end.unwrap_or_else(|| (1e9 * found["completion_seconds"].as_f64().unwrap()).round() as u64)
}

/// Ranks that compute `micros`, then take part in an all-reduce of `bytes` bytes, if it waits for the computation.
fn steps(folder: &Path, ranks: usize, micros: u64, bytes: i64, waits: bool) {
    let _ = fs::remove_dir_all(folder.join("steps"));
    fs::create_dir(folder.join("steps")).unwrap();
    for rank in 0..ranks {
        let nodes = [compute(0, micros, &[]), collective(1, 0, bytes, "", if waits { &[0] } else { &[] })];
        fs::write(folder.join(format!("steps/s.{rank}.et")), file(&nodes, Some("0.0.4"), true)).unwrap();
    }
}

/// A ring all-reduce takes 2 (n - 1) messages one after another, each o to send, L on the way, and o + (s - 1) G to receive.
#[test]
fn a_ring_of_a_chakra_trace_takes_the_time_of_loggops() {
    let folder = tempfile::tempdir().unwrap();
    for (ranks, micros, piece, latency, overhead, per_byte) in [
        (3, 5, 1000, 10, 1, 0),
        (4, 1, 640, 2000, 100, 1),
        (7, 0, 77, 1_000_000_000, 1500, 6),
        (11, 12, 4096, 50_000, 0, 2),
    ] {
        steps(folder.path(), ranks, micros, (piece * ranks as u64) as i64, true);
        let messages = 2 * (ranks as u64 - 1);
        let expected = 1000 * micros + messages * (2 * overhead + latency + (piece - 1) * per_byte);
        for streams in ["", ",streams=true"] {
            let hosts = format!("--hosts o={overhead},g=0,S=1000000{streams}");
            // With streams, G is of the interface that sends.
            let found =
                finish(folder.path(), &format!("--trace steps --network loggops:L={latency},G={per_byte} {hosts}"));
            assert_eq!(found, expected, "{ranks} ranks {streams}");
        }
        // The same hosts over a network of this delay: arrivals are rounded up to cycles of 3.2 ns.
        let hosts = format!("--hosts o={overhead},g=0,S=1000000");
        let network = format!("--network constant-delay:delay={latency}ns,nodes={ranks}");
        let expected = 1000 * micros + messages * (2 * overhead + latency);
        let found = finish(folder.path(), &format!("--trace steps {network} {hosts}"));
        assert!(found >= expected && found <= expected + 16 * messages + 16, "{ranks} ranks: {found}, {expected}");
    }
}

/// A host has one CPU, and with streams one more for communication.
#[test]
fn streams_compute_beside_communication() {
    let folder = tempfile::tempdir().unwrap();
    steps(folder.path(), 5, 1000, 5000, false);
    let run =
        |hosts: &str| finish(folder.path(), &format!("--trace steps --network loggops:L=2000,G=0 --hosts {hosts}"));
    let ring = 8 * (2 * 100 + 2000);
    assert_eq!(run("o=100,g=0,streams=true"), 1_000_000);
    let held_up = run("o=100,g=0");
    assert!(held_up >= 1_000_000 + ring - 2200, "a computation of 1 ms comes first or between: {held_up}");
}

/// Messages of a Chakra trace itself: a ping and a pong.
#[test]
fn sends_and_receives_of_a_chakra_trace_take_the_time_of_loggops() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("steps")).unwrap();
    let zero = [send(0, 1, 5, 900, &[]), receive(1, 1, 6, 30, &[0])];
    let one = [receive(0, 0, 5, 900, &[]), compute(1, 3, &[0]), send(2, 0, 6, 30, &[1])];
    for (rank, nodes) in [&zero[..], &one[..]].into_iter().enumerate() {
        fs::write(folder.path().join(format!("steps/s.{rank}.et")), file(nodes, Some("0.0.4"), true)).unwrap();
    }
    let found = finish(folder.path(), "--trace steps --network loggops:L=700,G=2 --hosts o=40,g=0");
    assert_eq!(found, 2 * (2 * 40 + 700) + 2 * 899 + 2 * 29 + 3000);
}

/// A program on LogGOPS hosts takes the same time over a network of constant delay as over that of LogGOPS.
#[test]
fn programs_run_on_loggops_hosts_over_any_network() {
    let folder = tempfile::tempdir().unwrap();
    let lines = |text: &str| (0..5).map(|rank| format!("{rank} {text}\n")).collect::<String>();
    let text = ["init", "compute 50000", "allreduce 1000 0", "bcast 300"].map(lines).concat();
    fs::write(folder.path().join("p.ti"), text).unwrap();
    let hosts = "--hosts o=500,g=100,S=100000 --collectives all-reduce=ring";
    let alone = finish(folder.path(), &format!("--trace p.ti --network loggops:L=3000,G=0 {hosts}"));
    let found = finish(folder.path(), &format!("--trace p.ti --network constant-delay:delay=3us,nodes=5 {hosts}"));
    // 8 messages of the ring and 3 of the tree follow one another.
    assert!(found >= alone && found <= alone + 11 * 16, "{alone} {found}");
    // The longest way in the tree of 5 ranks has 2 of them; the last calculation is 10 us.
    assert!(alone >= 10_000 + 10 * 4000, "{alone}");
    // Without hosts the program is replayed, with no overheads.
    let replayed =
        finish(folder.path(), "--trace p.ti --network constant-delay:delay=3us,nodes=5 --collectives all-reduce=ring");
    assert!(replayed + 8 * 1000 < alone, "{replayed} {alone}");
}

#[test]
fn hosts_that_a_trace_does_not_have_are_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    steps(folder.path(), 2, 1, 100, true);
    fs::write(folder.path().join("p.ti"), "0 init\n1 init\n0 send 1 0 8\n1 recv 0 0 8\n").unwrap();
    fs::write(folder.path().join("g.goal"), "num_ranks 1\nrank 0 {\na: calc 5\n}\n").unwrap();
    for (trace, hosts, reason) in [
        ("p.ti", "engines=2", "a program computes one thing after another"),
        ("p.ti", "communications=4", "a program says itself which of its sends and receives are under way at once"),
        ("p.ti", "deps=data", "a program has no dependencies but its order"),
        ("p.ti", "o=5,least=1us", "a program has recorded how long it computes"),
        ("g.goal", "engines=2", "the graph names the CPU of each of its operations"),
        ("g.goal", "algorithm=ring", "a graph holds its collectives as sends and receives"),
        ("steps", "o=5,engines=2", "a LogGOPS host has one CPU for computations"),
        ("steps", "o=5,group-delay=1us", "a LogGOPS host has the overhead o for each message"),
    ] {
        let output =
            run(folder.path(), &format!("run --trace {trace} --hosts {hosts} --network constant-delay:delay=1us"));
        let told = String::from_utf8_lossy(&output.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(output.status.code(), Some(2), "{trace} {hosts}: {told}");
        assert!(told.replace("| ", "").contains(reason), "{trace} {hosts}: {told}");
    }
}

/// A message ends in the timeline when its last byte has arrived, by either rule of the gap for each byte.
#[test]
fn a_message_lasts_until_its_last_byte() {
    let folder = tempfile::tempdir().unwrap();
    let goal = "num_ranks 2\nrank 0 {\ns: send 900b to 1 tag 0\n}\nrank 1 {\nr: recv 900b from 0 tag 0\n}\n";
    fs::write(folder.path().join("two.goal"), goal).unwrap();
    for streams in ["", ",streams=true"] {
        let words = format!("--network loggops:L=700,G=2 --hosts o=40,g=0{streams}");
        let file = format!("t{}.json", streams.len());
        let output = run(folder.path(), &format!("run --trace two.goal {words} --timeline {file} -q"));
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let value: Value = serde_json::from_str(&fs::read_to_string(folder.path().join(file)).unwrap()).unwrap();
        let events = value["traceEvents"].as_array().unwrap();
        let message = events.iter().find(|event| event["cat"] == "message").unwrap();
        let end = 1000.0 * (message["ts"].as_f64().unwrap() + message["dur"].as_f64().unwrap());
        // 40 + 700, and two for each byte or for each after the first.
        assert!((2537.0..2541.0).contains(&end), "{words}: {message}");
    }
}
