//! Results of a live program beside its output: placement, loads of links, bounds, timeline, and the page with all of
//! them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;
use tests::mpi::{Program, program, said};

/// Runs a program that succeeds; returns its output and its results.
fn run(program: &Program, flags: &str, words: &str) -> (String, Value) {
    for file in ["result.json", "page.html", "timeline.json"] {
        let _ = fs::remove_file(program.folder().join(file));
    }
    let output = program.run(&format!("{flags} -o result.json"), words);
    let (out, errors) = said(&output);
    assert!(output.status.success(), "{flags}: {out}{errors}");
    (out, serde_json::from_str(&fs::read_to_string(program.folder().join("result.json")).unwrap()).unwrap())
}

#[test]
fn placement_decides_distances_and_links_carry_each_packet_as_often_as_it_hops() {
    let Some(program) = program("pingpong.c") else { return };
    let mut halves = Vec::new();
    // Nodes at 1 to 4 hops from node 0 of a torus of 4 x 4.
    for (hops, node) in [(1, 4), (2, 5), (3, 6), (4, 10)] {
        fs::write(program.folder().join("nodes.txt"), format!("0\n{node}\n")).unwrap();
        let flags = "-n 2 --topology torus:4x4 --placement file:nodes.txt --link-loads -q";
        let (out, result) = run(&program, flags, "32 10");
        let half = out.trim().strip_prefix("half ").and_then(|rest| rest.strip_suffix(" ps")).unwrap();
        halves.push(half.parse::<f64>().unwrap());
        // Each message is one packet.
        let packets = result["messages"].as_u64().unwrap();
        let carried = result["link_packets"].as_array().unwrap().iter().flat_map(|ports| ports.as_array().unwrap());
        let carried: u64 = carried.filter_map(Value::as_u64).sum();
        assert_eq!(carried, packets * hops, "{hops} hops");
        assert_eq!(result["experiment"]["placement"], "file:nodes.txt");
    }
    // Latency without load: the same for each further hop.
    let steps: Vec<f64> = halves.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(steps[0] > 0.0 && steps.iter().all(|step| (step - steps[0]).abs() < 1.0), "{halves:?}");
}

/// As of `fsin run`: what longer packets would save. The note is in the results, and on stderr unless that is to be quiet.
#[test]
fn long_messages_in_small_packets_are_named_with_their_cost() {
    let Some(program) = program("pingpong.c") else { return };
    fs::write(program.folder().join("nodes.txt"), "0\n10\n").unwrap();
    let flags = "-n 2 --topology torus:4x4 --placement file:nodes.txt --compute fixed:1us -o result.json";
    // 16 384 packets of 64 bytes over 4 links, 300 times, and a few short messages; then 256 of 4 096 bytes.
    for (packet, is_noted) in [("", true), ("--packet 1024", false)] {
        let output = program.run(&format!("{flags} {packet}"), "1048576 150");
        let (out, errors) = said(&output);
        assert!(output.status.success(), "{out}{errors}");
        let result: Value =
            serde_json::from_str(&fs::read_to_string(program.folder().join("result.json")).unwrap()).unwrap();
        let note = "million packets times hops: messages of 16168 packets of 64 bytes, in the mean";
        assert_eq!(result["notes"].to_string().contains(note), is_noted, "{}", result["notes"]);
        assert_eq!(errors.contains(&format!("note: 20 {note}")), is_noted, "{errors}");
        fs::remove_file(program.folder().join("result.json")).unwrap();
    }
}

#[test]
fn observing_changes_nothing_and_bounds_lie_below_the_completion() {
    let Some(program) = program("is.c") else { return };
    let flags = "-n 16 --topology torus:4x4 --placement random --compute fixed:1us -q";
    let (_, plain) = run(&program, flags, "");
    let (_, observed) = run(&program, &format!("{flags} --link-loads --report page.html --timeline timeline.json"), "");
    for figure in ["guest_digest", "digest", "completion_cycles", "ranks"] {
        assert_eq!(plain[figure], observed[figure], "{figure}");
    }
    assert!(plain["link_packets"].is_null() && observed["link_packets"].is_array());
    let number = |value: &Value| value.as_u64().unwrap_or_else(|| panic!("{value}"));
    let (completion, bounds) = (number(&plain["completion_cycles"]), &plain["completion_bounds_cycles"]);
    let known: Vec<u64> =
        ["injection", "ejection", "bisection", "links", "computing"].map(|name| number(&bounds[name])).to_vec();
    assert!(known.iter().all(|&bound| bound > 0 && bound <= completion), "{bounds} {completion}");
    // Computing of the rank that computes longest, in cycles of 3.2 ns.
    let ranks = plain["ranks"].as_array().unwrap();
    let most = ranks.iter().map(|rank| number(&rank["computing_ps"])).max().unwrap();
    assert_eq!(number(&bounds["computing"]), most / 3200);
    assert_eq!(
        number(&plain["completion_bound_cycles"]),
        *known.iter().max().unwrap().max(&number(&bounds["interface"]))
    );

    // The spans of a rank are its times.
    let timeline: Value =
        serde_json::from_str(&fs::read_to_string(program.folder().join("timeline.json")).unwrap()).unwrap();
    let mut spent: BTreeMap<(u64, String), f64> = BTreeMap::new();
    for event in timeline["traceEvents"].as_array().unwrap().iter().filter(|event| event["ph"] == "X") {
        let key = (number(&event["tid"]), event["cat"].as_str().unwrap().to_owned());
        *spent.entry(key).or_default() += event["dur"].as_f64().unwrap();
    }
    for rank in ranks {
        for (name, figure) in [("compute", "computing_ps"), ("wait", "waiting_ps")] {
            let found = spent.get(&(number(&rank["rank"]), name.to_owned())).copied().unwrap_or(0.0);
            let expected = number(&rank[figure]) as f64 * 1e-6;
            assert!((found - expected).abs() < 1e-5 * expected + 1e-6, "{rank}: {name} {found} {expected}");
        }
    }
}

#[test]
fn the_page_of_a_run_has_its_parts() {
    let Some(program) = program("cg.c") else { return };
    let flags = "-n 16 --topology torus:4x4 --placement shift:5 --compute fixed:1us -q --report page.html";
    let (_, result) = run(&program, flags, "");
    let page = fs::read_to_string(program.folder().join("page.html")).unwrap();
    for part in ["bounds", "ranks", "placement", "links", "timeline", "traffic", "origin"] {
        assert!(page.contains(&format!("<section id=\"{part}\"")), "{part}");
    }
    // Rank 0 is on node 5; the title, the digest and the busiest link are there.
    assert!(page.contains("<title>(1,1): rank 0</title>"));
    assert!(page.contains("<h1>program on torus:4x4</h1>"));
    assert!(page.contains(result["guest_digest"].as_str().unwrap()));
    assert!(page.contains("rank 15: ") && page.contains("15 to 14"), "a timeline and a matrix of all ranks");
    assert!(page.contains("is bound by"), "what binds");
    // A network without routers has neither bounds nor links, and a page all the same.
    let (_, _) = run(&program, "-n 4 --network constant-delay:delay=1us --compute fixed:1us -q --report page.html", "");
    let page = fs::read_to_string(program.folder().join("page.html")).unwrap();
    assert!(page.contains("<section id=\"timeline\"") && !page.contains("<section id=\"links\""));
}

#[test]
fn a_page_is_never_written_over() {
    let Some(program) = program("ring.c") else { return };
    fs::write(program.folder().join("page.html"), "mine").unwrap();
    let output = program.run("-n 2 --topology torus:2x2 --report page.html", "");
    assert_eq!(output.status.code(), Some(2), "{}", said(&output).1);
    assert_eq!(fs::read_to_string(program.folder().join("page.html")).unwrap(), "mine");
}

/// The cells of the row of a page's table whose first cell is this text.
fn cells(page: &str, first: &str) -> Vec<String> {
    let row = page
        .split("<tr")
        .find(|row| row.contains(&format!(">{first}</td>")))
        .unwrap_or_else(|| panic!("no row {first}"));
    let cells = row.split("<td").skip(1).filter_map(|cell| cell.split_once('>')?.1.split("</td>").next());
    cells.map(str::to_owned).collect()
}

/// The critical path of CG on 16 ranks, from the begin to the end of the rank that ends last.
#[test]
fn the_critical_path_sums_to_the_time_of_the_last_rank_to_the_picosecond() {
    let Some(program) = program("cg.c") else { return };
    for network in [
        "--topology torus:4x4",
        "--network flow --topology fattree:4,2",
        "--network constant-delay:delay=3us --nodes 16",
    ] {
        let flags = format!("-n 16 {network} --compute fixed:1us -q --report page.html");
        let (_, result) = run(&program, &flags, "");
        let page = fs::read_to_string(program.folder().join("page.html")).unwrap();
        let number = |value: &Value| value.as_u64().unwrap_or_else(|| panic!("{value}"));
        let last = result["ranks"].as_array().unwrap().iter().map(|rank| number(&rank["time_ps"])).max().unwrap();
        let whole = cells(&page, "the whole path");
        assert_eq!(whole[2].parse::<u64>().unwrap(), last, "{network}");
        assert_eq!(whole[3], "100.0 %");
        // The parts of the path follow one another from 0 on.
        let parts = page.split("in order</summary>").nth(1).unwrap().split("</details>").next().unwrap();
        let mut until = 0;
        let mut messages = 0;
        for row in parts.split("<tr").skip(2) {
            let cells: Vec<&str> =
                row.split("<td").skip(1).filter_map(|cell| cell.split_once('>')?.1.split("</td>").next()).collect();
            let [what, begin, end] = cells[..] else { panic!("{row}") };
            assert_eq!(begin.parse::<u64>().unwrap(), until, "{what}");
            until = end.parse().unwrap();
            messages += usize::from(what.starts_with("message from"));
        }
        assert!(messages > 12, "each step of CG waits for messages: {messages}");
        // Time by call, and the sizes of all messages.
        assert!(page.contains("<section id=\"calls\"") && page.contains("<section id=\"sizes\""));
        let sizes = page.split("<section id=\"sizes\"").nth(1).unwrap().split("</section>").next().unwrap();
        let counts = sizes
            .split("<tr")
            .skip(2)
            .filter_map(|row| row.split("<td").nth(2)?.split_once('>')?.1.split("</td>").next());
        let counted: u64 = counts.map(|count| count.replace('\u{2009}', "").parse::<u64>().unwrap()).sum();
        assert_eq!(counted, number(&result["messages"]), "{network}");
    }
}

/// Two ranks that answer each other: the path is their messages, each of which takes what the network takes.
#[test]
fn the_critical_path_of_a_ping_pong_is_its_messages() {
    let Some(program) = program("pingpong.c") else { return };
    let (_, _) = run(&program, "-n 2 --network constant-delay:delay=5us --nodes 2 -q --report page.html", "32 10");
    let page = fs::read_to_string(program.folder().join("page.html")).unwrap();
    let there = page.split("<tr").filter(|row| row.contains(">message from rank 0 to rank 1")).count();
    assert!(there > 0, "{page}");
    let critical = page.split("<section id=\"critical\"").nth(1).unwrap().split("</section>").next().unwrap();
    let parts = critical.split("in order</summary>").nth(1).unwrap();
    let of = |from: &str| parts.matches(&format!(">message from {from}")).count();
    assert!(of("rank 0 to rank 1") >= 10 && of("rank 1 to rank 0") >= 10, "{critical}");
}
