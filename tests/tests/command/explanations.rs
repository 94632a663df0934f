//! Explanations that know what binds: round trips of links, messages that follow one another, the slower direction of a
//! link, the fullest link, small packets.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;

use serde_json::Value;
use tests::command::run;

/// Writes two hosts at switches that a cable joins; all links 25 GB/s, and the rates of their traffic.
fn long_link(folder: &Path, delay: &str) {
    let links = format!("H0 s rate 25GB/s\nH1 t rate 25GB/s\ns t rate 25GB/s delay {delay}\n");
    fs::write(folder.join("long-link.txt"), links).unwrap();
    fs::write(folder.join("r09.csv"), "source,destination,rate\n0,1,0.9\n").unwrap();
}

fn json(folder: &Path, line: &str) -> Value {
    let output = run(folder, &format!("{line} --format json -q"));
    assert!(matches!(output.status.code(), Some(0 | 3)), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn words(folder: &Path, line: &str) -> String {
    let output = run(folder, line);
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The warnings and notes of a result.
fn said(result: &Value, list: &str) -> Vec<String> {
    result[list].as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

/// The number behind a flag in a text.
fn advised(text: &str, flag: &str) -> Vec<u64> {
    let flag = format!("{flag} ");
    let after = text.split(&flag).skip(1);
    after.filter_map(|rest| rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()).collect()
}

/// A link carries no more than the room behind it in a round trip: 192 phits in 4 376 cycles under vct, where credits take
/// no time; 16 flits in twice the way, of 1 877, under wormhole over a shorter cable. What the warning advises carries all.
#[test]
fn l3_a_link_carries_the_room_behind_it_in_a_round_trip() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let line = "run --topology graph:long-link.txt --traffic rates(r09.csv)";
    for (model, cable, flag, room, cycles) in
        [("vct", "700ns", "--queue", 192.0, 4376.0), ("wormhole", "300ns", "--buffer", 16.0, 3754.0)]
    {
        long_link(folder, cable);
        let measured = json(folder, &format!("{line} --network {model} --cycles 400000"));
        let accepted = 2.0 * measured["accepted_load_phits_per_node_cycle"].as_f64().unwrap();
        let bound: f64 = room / cycles;
        // A run of some hundred round trips: one burst more or less is a hundredth.
        assert!(accepted < 1.03 * bound && accepted > 0.95 * bound, "{model}: {accepted} {bound}");
        let warning = said(&measured, "warnings").into_iter().find(|text| text.contains("round trip"));
        let warning = warning.unwrap_or_else(|| panic!("{model}: {measured}"));
        let says = [format!("{room:.0} phits"), format!("{cycles:.0} cycles"), format!("{bound:.4} phits a cycle")];
        assert!(says.iter().all(|words| warning.contains(words)), "{warning}");
        let advised = advised(&warning, flag);
        assert_eq!(advised.len(), 2, "{warning}");
        for enough in advised {
            let carried = json(folder, &format!("{line} --network {model} {flag} {enough} --cycles 400000"));
            let accepted = 2.0 * carried["accepted_load_phits_per_node_cycle"].as_f64().unwrap();
            assert!(accepted > 0.87, "{model} {flag} {enough}: {accepted} of 0.9");
            let warns = said(&carried, "warnings").iter().any(|text| text.contains("round trip"));
            assert!(!warns, "{carried}");
        }
        // The same is a bound of a topology with its network, of a program, and of a search for saturation.
        let figures = words(folder, &format!("topology graph:long-link.txt --network {model} --format json"));
        let figures: Value = serde_json::from_str(&figures).unwrap();
        let of_topology = figures["uniform_load_bound_phits_per_node_cycle"].as_f64().unwrap();
        assert!((of_topology - bound).abs() < 1e-4, "{model}: {of_topology} {bound}");
        let program = json(
            folder,
            &format!("run --topology graph:long-link.txt --network {model} --kernel all-to-all:tasks=2,bytes=65536"),
        );
        let least = program["completion_bounds_cycles"]["bisection"].as_u64().unwrap() as f64;
        let completion = program["completion_cycles"].as_u64().unwrap() as f64;
        assert!(least <= completion && least > 0.8 * completion, "{model}: {least} of {completion}");
        let found = words(
            folder,
            &format!(
                "saturation --topology graph:long-link.txt --network {model} --traffic complement --warmup 20000 --samples 10 --sample-size 10000 -q"
            ),
        );
        assert!(found.contains(&format!("{bound:.4}")), "{model}: {found}");
    }
    // Without delays, and without a network, nothing is said of it.
    let plain = json(folder, "run --topology torus:4x4 --load 0.1 --cycles 2000");
    assert!(!said(&plain, "warnings").iter().any(|text| text.contains("round trip")));
    let rates = words(folder, "topology graph:long-link.txt");
    assert!(rates.contains("1.0000 phits/node/cycle at most, by the rates of links alone"), "{rates}");
}

/// A node that sends six messages one after another is not congested: the program takes what its messages take alone.
#[test]
fn l3_messages_that_follow_one_another_are_no_congestion() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for (line, share) in [
        ("--topology torus:4x4x4 --kernel torus3d:bytes=32768,tasks=64 --injectors 6 --interface per-port", 0.97),
        ("--topology torus:5x3x4 --kernel torus3d:bytes=9001,tasks=60 --injectors 6 --interface per-port", 0.9),
        ("--topology torus:7 --kernel all-reduce:algorithm=ring,bytes=280000", 0.95),
    ] {
        let found = json(folder, &format!("run {line}"));
        let completion = found["completion_cycles"].as_u64().unwrap() as f64;
        // Where what a node sends takes that long, the sequence of its messages is not looked for.
        let bound = found["completion_bound_cycles"].as_u64().unwrap() as f64;
        assert!(bound <= completion && bound > share * completion, "{line}: {bound} of {completion}");
        let notes = said(&found, "notes").join("\n");
        assert!(!notes.contains("congestion"), "{line}: {notes}");
    }
    let found = json(
        folder,
        "run --topology torus:4x4x4 --kernel torus3d:bytes=32768,tasks=64 --injectors 6 --interface per-port",
    );
    assert_eq!(found["completion_bound_by"], "sequence");
    assert!(said(&found, "notes").iter().any(|text| text.contains("messages follow one another")), "{found}");
    // The greatest bound is reported, also where a lesser one explains nine tenths of the time.
    let line = "run --topology torus:3x4 --kernel all-reduce:algorithm=ring,tasks=12,bytes=120000";
    let found = json(folder, line);
    let (bounds, completion) = (&found["completion_bounds_cycles"], found["completion_cycles"].as_u64().unwrap());
    let known: Vec<u64> = bounds.as_object().unwrap().values().filter_map(Value::as_u64).collect();
    assert_eq!(found["completion_bound_cycles"].as_u64(), known.iter().max().copied(), "{found}");
    let has_whole = known.contains(&completion);
    assert!(bounds["sequence"].is_u64() || has_whole, "{found}");
    // An all-to-all is congested, and its messages alone would take less.
    let busy = json(folder, "run --topology torus:8 --kernel all-to-all:tasks=8,bytes=8192");
    let sequence = busy["completion_bounds_cycles"]["sequence"].as_u64().unwrap();
    assert!(sequence < busy["completion_cycles"].as_u64().unwrap(), "{busy}");
}

/// A cable of 10 Gb/s one way and a quarter of that the other: four hosts, two at each end, carry 3/16 each, and not the
/// 0.47 that follow from the mean.
#[test]
fn l3_a_bound_is_that_of_the_slower_direction() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let full = |from: &str, to: &str| format!("{from} -> {to} [rate=\"10Gb/s\"]; {to} -> {from} [rate=\"10Gb/s\"];\n");
    for (ends, slow) in [(["Sa", "Sb"], "2.5Gb/s"), (["Sb", "Sa"], "2.5Gb/s")] {
        let [fast_from, slow_from] = ends;
        let hosts = [("Ha", "Sa"), ("Hb", "Sb"), ("Hc", "Sa"), ("Hd", "Sb")].map(|(host, at)| full(host, at)).concat();
        let text = format!(
            "digraph two {{\n{hosts}{fast_from} -> {slow_from} [rate=\"10Gb/s\"];\n{slow_from} -> {fast_from} [rate=\"{slow}\"];\n}}\n"
        );
        fs::write(folder.join("asym.dot"), text).unwrap();
        let figures: Value = serde_json::from_str(&words(folder, "topology graph:asym.dot --format json")).unwrap();
        let bound = figures["uniform_load_bound_phits_per_node_cycle"].as_f64().unwrap();
        assert!((bound - 0.1875).abs() < 1e-6, "{bound}");
        for model in ["vct", "wormhole"] {
            let line =
                format!("run --topology graph:asym.dot --network {model} --load 0.3 --cycles 60000 --source throttled");
            let accepted = json(folder, &line)["accepted_load_phits_per_node_cycle"].as_f64().unwrap();
            assert!(accepted < 0.3, "{model}: {accepted}");
            // What crosses the slow direction does not exceed it: half of what the two nodes behind it send, and a sixth more.
            let found = words(
                folder,
                &format!(
                    "saturation --topology graph:asym.dot --network {model} --warmup 5000 --samples 10 --sample-size 2000 -q"
                ),
            );
            assert!(found.contains("0.1875"), "{found}");
        }
        let found = json(folder, "run --topology graph:asym.dot --kernel all-to-all:tasks=4,bytes=65536");
        let bisection = found["completion_bounds_cycles"]["bisection"].as_u64().unwrap();
        let completion = found["completion_cycles"].as_u64().unwrap();
        // Four messages of 16 384 phits over a quarter of a phit in each cycle.
        assert_eq!(bisection, 4 * 16_384 * 4);
        assert!(bisection <= completion, "{bisection} {completion}");
    }
}

/// Of a ring over hashed paths the link that carried most is named, with what it carried beside the mean.
#[test]
fn l3_the_fullest_link_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let ring = "--placement random --kernel all-reduce:algorithm=ring,bytes=1MB";
    for line in [
        format!("run --network flow --topology fattree:4,2 --paths hash {ring}"),
        format!("run --network ethernet --forwarding static --ecmp true --topology fattree:4,2 {ring}"),
    ] {
        let found = json(folder, &line);
        let (completion, fullest) =
            (found["completion_cycles"].as_u64().unwrap(), found["completion_bounds_cycles"]["fullest_link"].as_u64());
        let fullest = fullest.unwrap_or_else(|| panic!("{line}: {found}"));
        assert!(fullest <= completion && fullest > completion / 4, "{line}: {fullest} of {completion}");
    }
    // What an observer counts changes no bound: the link is named with the collective.
    for line in [
        format!("run --topology fattree:4,2 {ring}"),
        format!("run --network flow --topology fattree:4,2 --paths adaptive {ring}"),
        format!("run --network wormhole --topology fattree:4,2 {ring}"),
        format!("run --network flow --topology fattree:4,2 --paths hash {ring}"),
    ] {
        let (plain, counted) = (json(folder, &line), json(folder, &format!("{line} --link-loads")));
        for figure in ["completion_bounds_cycles", "completion_bound_cycles", "completion_bound_by", "notes"] {
            assert_eq!(plain[figure], counted[figure], "{line}: {figure}");
        }
        let is_named = counted["collectives"][0]["fullest_link"].is_string();
        assert!(is_named || line.contains("wormhole"), "{line}: {counted}");
    }
    // Ethernet's hash is of the pair, so that the paths of a ring meet for ever: the link is what binds, and is named.
    let found =
        json(folder, &format!("run --network ethernet --forwarding static --ecmp true --topology fattree:4,2 {ring}"));
    assert_eq!(found["completion_bound_by"], "fullest link", "{found}");
    let notes = said(&found, "notes").join("\n");
    assert!(notes.contains("the link from 18 to 21 carries") && notes.contains("chosen by a hash"), "{notes}");
}

/// Long messages in small packets: what longer packets would save, and what they would change. It is so.
#[test]
fn l3_small_packets_under_long_messages_are_named_with_their_cost() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let line = "run --topology torus:8x8 --kernel all-reduce:algorithm=ring,bytes=2MB --injectors 1";
    let found = json(folder, line);
    let hops = found["packet_hops"].as_u64().unwrap();
    let notes = said(&found, "notes").join("\n");
    assert_eq!(hops > 1 << 24, notes.contains("million packets times hops"), "{hops}: {notes}");
    let line = "run --topology torus:4x4 --kernel all-reduce:algorithm=ring,bytes=50MB";
    let found = json(folder, line);
    let note = said(&found, "notes").into_iter().find(|text| text.contains("million packets times hops"));
    let note = note.unwrap_or_else(|| panic!("{found}"));
    let packet = advised(&note, "--packet")[0];
    assert!(packet > 16 && note.contains("room that is counted in packets"), "{note}");
    let longer = json(folder, &format!("{line} --packet {packet}"));
    let ratio = found["packet_hops"].as_f64().unwrap() / longer["packet_hops"].as_f64().unwrap();
    assert!((ratio / (packet as f64 / 16.0) - 1.0).abs() < 0.1, "{ratio}");
    assert!(said(&longer, "notes").iter().all(|text| !text.contains("million packets times hops")));
    let times = [&found, &longer].map(|found| found["completion_cycles"].as_f64().unwrap());
    assert!((times[1] / times[0] - 1.0).abs() < 0.1, "{times:?}");
}
