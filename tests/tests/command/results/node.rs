//! What a node does with its messages: room for replies, completion by acknowledgement, ideal times, messages of any
//! length.

use fsin::experiment::Is;
use fsin::models::ethernet::cc::Signal;
use fsin::models::ethernet::{CONTROLS, FAMILY, SPREADS, TRANSPORTS};

use super::*;

/// The result of a run.
fn result(folder: &Path, line: &str) -> Value {
    serde_json::from_str(&done(folder, &format!("run {line} --format json -q"))).unwrap()
}

/// Requests and replies at full load lock on shared channels, which is named with the nodes that refuse; with classes they
/// do not.
#[test]
fn protocol_deadlock_is_named_and_prevented_by_classes() {
    let folder = tempfile::tempdir().unwrap();
    let line = |network: &str, room: u32| {
        let process = format!("request-reply(room={room})");
        format!("run {network} --topology mesh:4x4 --temporal {process} --load 1 --cycles 200000 -q --format json")
    };
    for room in [1, 4] {
        let locked = run(folder.path(), &line("--network wormhole", room));
        let said = code_and_words(&locked, 3);
        for words in
            ["nodes refuse requests until they have sent replies", "takes no request before it has sent", "injector"]
        {
            assert!(said.contains(words), "{words}: {said}");
        }
        assert!(said.contains("--message-classes 2"), "{said}");
        let found: Value = serde_json::from_slice(&locked.stdout).unwrap();
        assert_eq!(found["failure"]["kind"], "network-deadlock", "{found}");
        let free = run(folder.path(), &line("--network wormhole --message-classes 2", room));
        let found: Value = serde_json::from_str(&code(&free, 0)).unwrap();
        assert!(found["round_trips"].as_u64().unwrap() > 10_000, "{}", found["round_trips"]);
    }
    for network in ["--network vct", "--network ethernet", "--network flow"] {
        let said = code_and_words(&run(folder.path(), &line(network, 1)), 2);
        assert!(said.contains("`room`: nodes of this network take whatever arrives"), "{network}: {said}");
    }
}

/// Flows with windows that meet nothing have a slow-down of exactly 1, by their last byte and by its acknowledgement.
#[test]
fn flows_with_windows_on_an_idle_network_have_a_slowdown_of_one() {
    let folder = tempfile::tempdir().unwrap();
    let sizes = ["1", "999", "1000", "1001", "64kB", "1MB"];
    // A round trip of the longest takes less than ten milliseconds.
    let row = |(at, bytes): (usize, &&str)| format!("{},{},{bytes},{}ms\n", at % 3, 3 + at % 4, 100 * at);
    let rows: String = sizes.iter().enumerate().map(row).collect();
    fs::write(folder.path().join("idle.csv"), format!("src,dst,bytes,start\n{rows}")).unwrap();
    for mtu in [100, 1000, 1497, 4096, 9216] {
        for (frames, completion) in [("roce", "last-byte"), ("roce", "acked"), ("hpcc", "acked")] {
            let line = format!(
                "--network ethernet:forwarding=static,transport=window --topology fattree:4,2 --link-rate 10Gb/s --frames {frames} \
                 --mtu {mtu} --flows idle.csv --message-stats --rto-initial 10ms --rto-min 10ms --completion {completion}"
            );
            let found = result(folder.path(), &line);
            for figure in ["message_slowdown_mean", "message_slowdown_max"] {
                assert_eq!(found[figure].as_f64(), Some(1.0), "{line}");
            }
            assert_eq!(found["messages_unfinished"].as_u64(), Some(0), "{line}");
        }
    }
}

/// Settings of every transport with every congestion control that it carries, of their tables, over every spread.
fn rows_of_hosts() -> Vec<String> {
    // Transports without acknowledgements take no word for a congestion control.
    let needs = FAMILY.keys.iter().find(|key| key.name == "cc").unwrap().needs;
    let takes =
        |transport: &str| needs.iter().all(|need| matches!(need.is, Is::Names(names) if names().contains(&transport)));
    let mut all = Vec::new();
    for transport in TRANSPORTS.rows().iter().map(|row| row.component.name) {
        let carried = CONTROLS.rows().iter().filter(|row| takes(transport) && row.transports.contains(&transport));
        let controls = carried.map(|row| {
            let marks = if row.needs.contains(&Signal::Marks) { ",ecn=step:100kB" } else { "" };
            format!(",cc={}{marks}", row.component.name)
        });
        for settings in std::iter::once(String::new()).chain(controls) {
            // Grades of queues are shares of a room in bytes, which the queues of these transports have.
            let has_room = ["uec", "ndp"].contains(&transport);
            let spreads = SPREADS.rows().iter().map(|row| row.component.name);
            let spreads = spreads.filter(|spread| has_room || !spread.ends_with("adaptive"));
            all.extend(spreads.map(|spread| format!("transport={transport}{settings},spread={spread}")));
        }
    }
    all
}

/// A flow that meets nothing has a slow-down of exactly 1, whatever its transport and its congestion control.
#[test]
fn a_flow_alone_has_a_slowdown_of_one_under_every_transport_and_congestion_control() {
    let folder = tempfile::tempdir().unwrap();
    let ecn = "ecn=step:100kB";
    let with = [
        format!("transport=window,cc=dctcp:reduction=at-once,ack-every=2,{ecn}"),
        "transport=roce,in-flight=bdp,ack-every=3".to_owned(),
        format!("transport=roce,cc=dcqcn,in-flight=bdp-scaled,{ecn}"),
        format!("transport=roce,cc=dcqcn:preset=sigcomm2015,{ecn}"),
        "transport=roce,cc=hpcc:int=exact,pause=pfc,buffer=32MB".to_owned(),
    ];
    for (bytes, start, mtu) in [("1", "3us", "1000"), ("64001", "1ms", "4096"), ("1MB", "17us", "1497")] {
        let list = format!("src,dst,bytes,start\n1,6,{bytes},{start}\n");
        fs::write(folder.path().join("alone.csv"), list).unwrap();
        for settings in rows_of_hosts().iter().chain(&with) {
            let line = format!(
                "--network ethernet:forwarding=static,{settings} --topology fattree:4,2 --link-rate 100Gb/s --frames roce \
                 --mtu {mtu} --flows alone.csv --message-stats"
            );
            let found = result(folder.path(), &line);
            assert_eq!(found["message_slowdown_max"].as_f64(), Some(1.0), "{line}: {found}");
            assert_eq!(found["messages_unfinished"].as_u64(), Some(0), "{line}");
        }
    }
}

/// The time of one flow through one switch to its acknowledgement, and HPCC's ideal time of it, by hand.
#[test]
fn acknowledged_flows_and_the_ideal_of_hpcc_follow_their_formulas() {
    let folder = tempfile::tempdir().unwrap();
    // Frames of 1048 bytes at 100 Gb/s, acknowledgements of 60.
    let (frame, ack, delay) = (83_840_u64, 4_800_u64, 500_000_u64);
    for frames in [1, 7, 10_000] {
        fs::write(folder.path().join("one.csv"), format!("src,dst,bytes,start\n0,1,{},0\n", 1000 * frames)).unwrap();
        let line = |completion: &str| {
            format!(
                "--network ethernet:forwarding=static,transport=window,window=100000000 --initial-window 100000 --topology star:2 \
                 --link-rate 100Gb/s --frames hpcc --flows one.csv --message-stats {completion}"
            )
        };
        let last = result(folder.path(), &line(""));
        let arrival = (frames + 1) * frame + 2 * delay;
        let time = |found: &Value| found["message_completion_max_cycles"].as_u64().unwrap();
        assert_eq!(time(&last), arrival, "{frames}");
        for engine in ["fast", "reference"] {
            let acked = result(folder.path(), &line(&format!("--completion acked --ideal hpcc --engine {engine}")));
            let expected = arrival + 2 * ack + 2 * delay;
            assert_eq!(time(&acked), expected, "{frames}");
            let ideal = 4 * delay + (frames + 2) * frame;
            let slowdown = acked["message_slowdown_max"].as_f64().unwrap();
            assert!((slowdown - expected as f64 / ideal as f64).abs() < 1e-12, "{frames}: {slowdown}");
            assert!(frames < 10_000 || (0.9998..1.0).contains(&slowdown), "{slowdown}");
        }
    }
    for (line, words) in [
        ("--network ethernet --topology star:4 --completion acked", "--completion"),
        ("--topology torus:4x4 --message-stats --ideal hpcc", "is the time of an acknowledged message"),
        (
            "--network ethernet:forwarding=static,transport=window --topology star:4 --message-stats --ideal hpcc",
            "completion=acked",
        ),
        ("--topology torus:4x4 --ideal hpcc", "--message-stats"),
    ] {
        let said = code_and_words(&run(folder.path(), &format!("run {line} --load 0.1 --cycles 1000 -q")), 2);
        assert!(said.contains(words), "{line}: {said}");
    }
}

/// Senders of equal rate share a queue in which frames are lost evenly where ties are drawn, which a list of flows makes
/// the default; the run ends when the last frame is lost.
#[test]
fn equal_senders_have_equal_shares() {
    let folder = tempfile::tempdir().unwrap();
    let rows: String = (1..5).map(|from| format!("{from},0,3MB,0\n")).collect();
    fs::write(folder.path().join("four.csv"), format!("src,dst,bytes,start\n{rows}")).unwrap();
    for queue in [8, 20, 64] {
        let line = format!(
            "--network ethernet:forwarding=static,transport=none,port-queue={queue} --topology star:5 --flows four.csv --flow-stats"
        );
        let found = result(folder.path(), &line);
        assert!(found["failure"].is_null() && found["complete"] == true, "{found}");
        let reference = result(folder.path(), &format!("{line} --engine reference --ties hash"));
        assert_eq!(found["digest"], reference["digest"], "queue {queue}");
        let frames = |of: &Value| of["packets_delivered"].as_f64().unwrap();
        let flows = found["flows"].as_array().unwrap();
        let all: f64 = flows.iter().map(frames).sum();
        for flow in flows {
            assert!((frames(flow) / all - 0.25).abs() < 0.02, "queue {queue}: {flow}");
        }
    }
}

/// The length of a message does not delay the end of a run, where it is carried whole.
#[test]
fn messages_of_any_length_are_carried_whole_at_once() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("long.csv"), "src,dst,bytes,start\n0,1,562949953421312,0\n").unwrap();
    for network in ["constant-delay", "constant-delay:rate=10Gb/s", "zero", "flow"] {
        let nodes = if network == "flow" { "--topology star:4" } else { "--nodes 4" };
        let found = result(folder.path(), &format!("--network {network} {nodes} --flows long.csv --message-stats"));
        assert_eq!(found["complete"], true, "{network}: {found}");
        assert_eq!(found["packets_received"], found["packets_generated"], "{network}: {found}");
    }
}

/// Transports that spray reach hosts with slow links too: a port that is slower than the fastest host has room for data.
#[test]
fn sprayed_flows_reach_slow_hosts() {
    let folder = tempfile::tempdir().unwrap();
    let links = "H0 s rate 100Gb/s delay 1us\nH1 s rate 1Gb/s delay 1us\nH2 s rate 100Gb/s delay 1us\n";
    fs::write(folder.path().join("net.txt"), links).unwrap();
    fs::write(folder.path().join("f.csv"), "src,dst,bytes,start\nH0,H1,100000,0s\nH1,H2,70000,0s\n").unwrap();
    let line =
        "--network ethernet --topology graph:net.txt --forwarding static --flows f.csv --max-cycles 100000000000";
    for transport in ["uec", "uec --trim arriving", "uec --trim off", "uec --cc both", "ndp", "ndp --trim arriving"] {
        let found = result(folder.path(), &format!("{line} --transport {transport}"));
        assert_eq!(found["complete"], true, "{transport}: {found}");
        assert_eq!(found["packets_received"], found["packets_generated"], "{transport}: {found}");
    }
    for (trim, least) in [("coin", "8300"), ("arriving", "4150"), ("off", "4150")] {
        let line = format!("{line} --transport uec --trim {trim} --port-queue 4149B");
        let output = tests::command::fsin(folder.path()).arg("run").args(line.split(' ')).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), said.contains(&format!("use {least} to"))), (Some(2), true), "{said}");
    }
}
