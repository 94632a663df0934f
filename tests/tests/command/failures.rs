//! Failures of links by name and time, as the command takes them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;

use serde_json::Value;
use tests::command::run;

fn stdout(folder: &Path, line: &str) -> String {
    let output = run(folder, line);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{line}: {error}");
    String::from_utf8(output.stdout).unwrap()
}

fn figures(folder: &Path, line: &str) -> Value {
    serde_json::from_str(&stdout(folder, &format!("{line} --quiet --format json"))).unwrap()
}

/// The exit status of a command, and its messages on one line.
fn refused(folder: &Path, line: &str) -> (Option<i32>, String) {
    let output = run(folder, line);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let words = text.split(|letter: char| letter.is_whitespace() || letter == '│').filter(|word| !word.is_empty());
    (output.status.code(), words.collect::<Vec<_>>().join(" "))
}

#[test]
fn topology_names_what_dies_and_when() {
    let folder = tempfile::tempdir().unwrap();
    let line = "topology mesh:3x3 --fail link:0-1@0,node:8@5us,repair:link:0-1@5us";
    let table = stdout(folder.path(), line);
    assert!(table.contains("dead          1 link: 0 X+ - 1 X-\n"), "{table}");
    let later = "later         5us: 2 links: 5 Y+ - 8 Y-, 7 X+ - 8 X- die; 1 link: 0 X+ - 1 X- is repaired\n";
    assert!(table.contains(later), "{table}");
    let found: Value = serde_json::from_str(&stdout(folder.path(), &format!("{line} --format json"))).unwrap();
    let change = &found["failures"][0];
    assert_eq!((&change["at_ps"], &change["dead_links"]), (&5_000_000.into(), &2.into()));
    assert_eq!(change["revives"][0], "0 X+ - 1 X-");
    for network in ["vct", "wormhole:routing=updown", "ethernet", "flow", "myrinet"] {
        let table = stdout(folder.path(), &format!("topology mesh:3x3 --network {network} --fail link:0-1@0"));
        assert!(table.contains("dead          1 link: 0 X+ - 1 X-"), "{network}: {table}");
    }
    let (status, text) = refused(folder.path(), "topology mesh:3x3 --network constant-delay --fail link:0-1@0");
    assert!(status == Some(2) && text.contains("constant-delay"), "{text}");
}

/// Accepted load falls while links are dead, and recovers; nothing is lost without being counted.
#[test]
fn phases_show_before_during_and_after() {
    let folder = tempfile::tempdir().unwrap();
    let fail = "--fail node:5@40ms,repair:node:5@80ms";
    for network in ["ethernet", "ethernet:transport=none", "ethernet:forwarding=static,ecmp=true", "flow"] {
        let line = format!(
            "run --network {network} --topology torus:4x4 --load 0.1 --cycles 120000000000 --link-rate 1Gb/s {fail}"
        );
        let found = figures(folder.path(), &line);
        assert_eq!(
            found["digest"],
            figures(folder.path(), &format!("{line} --engine reference"))["digest"],
            "{network}"
        );
        let phases = found["phases"].as_array().unwrap();
        let of = |name: &str| -> Vec<f64> { phases.iter().map(|phase| phase[name].as_f64().unwrap()).collect() };
        assert_eq!(of("start_cycle"), [1.0, 40_000_000_001.0, 80_000_000_001.0], "{network}");
        assert_eq!(of("dead_links"), [0.0, 4.0, 0.0], "{network}");
        assert_eq!(
            (&phases[1]["events"][0], &phases[2]["events"][0]),
            (&"node:5@40ms".into(), &"repair:node:5@80ms".into())
        );
        assert_eq!(of("cycles").iter().sum::<f64>(), 120e9);
        let accepted = of("accepted_load_phits_per_node_cycle");
        // Node 5 sends nothing that arrives, and of what others send a fifteenth is for it: 14 of 16 parts are left.
        assert!((accepted[1] / accepted[0] - 0.875).abs() < 0.05, "{network}: {accepted:?}");
        assert!((accepted[2] / accepted[0] - 1.0).abs() < 0.06, "{network}: {accepted:?}");
        for (name, total) in [("packets_received", "packets_received"), ("packets_dropped", "packets_dropped")] {
            assert_eq!(of(name).iter().sum::<f64>(), found[total].as_f64().unwrap(), "{network}");
        }
        assert!(of("packets_dropped")[1] > 0.0 && of("bytes_dropped")[1] > 0.0, "{network}");
        let count = |name: &str| found[name].as_u64().unwrap();
        let gone = count("packets_received") + count("packets_dropped") + count("packets_in_flight");
        assert_eq!(count("packets_generated"), gone, "{network}");
        let warning = found["warnings"].to_string();
        assert!(warning.contains("no route is left for 30 of 240 pairs of nodes (0 to 5, 1 to 5"), "{warning}");
    }
}

/// Networks with back-pressure hold injection until they are empty, and then take new routes.
#[test]
fn networks_drain_before_their_routes_change() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("ring.txt"), "a b\nb c\nc d\nd a\na c\na H1\nb H2\nc H3\nd H4\n").unwrap();
    let cycles = "--cycles 3000 --fail class:CLASS#1@1000,repair:class:CLASS#1@2000";
    let times = "--cycles 240000000 --fail class:CLASS#1@80us,repair:class:CLASS#1@160us";
    let networks = [
        ("vct:routing=graph:updown", cycles, 1000),
        ("wormhole:routing=updown", cycles, 1000),
        ("wormhole:routing=shortest,vcs=8", cycles, 1000),
        ("myrinet", times, 80_000_000),
    ];
    let (mut lost, mut longest) = (0, 0.0_f64);
    for (network, how, phase) in networks {
        for (topology, class) in [
            ("torus:4x4", "x"),
            ("dragonfly:p=2,a=4,h=2", "global"),
            ("fattree:3,2", "between-switches"),
            ("graph:ring.txt", "between-switches"),
        ] {
            let network =
                if topology == "torus:4x4" { network.replace(":routing=graph:updown", "") } else { network.to_owned() };
            let line =
                format!("run --network {network} --topology {topology} --load 0.2 {}", how.replace("CLASS", class));
            let found = figures(folder.path(), &line);
            let other = figures(folder.path(), &format!("{line} --engine reference"));
            assert_eq!((&found["digest"], &found["phases"]), (&other["digest"], &other["phases"]), "{line}");
            let phases = found["phases"].as_array().unwrap();
            let of = |name: &str| -> Vec<u64> { phases.iter().map(|phase| phase[name].as_u64().unwrap()).collect() };
            assert_eq!(of("start_cycle"), [1, phase + 1, 2 * phase + 1], "{line}");
            assert_eq!(of("dead_links"), [0, 1, 0], "{line}");
            for total in ["packets_received", "packets_dropped"] {
                assert_eq!(of(total).iter().sum::<u64>(), found[total].as_u64().unwrap(), "{line}");
            }
            // All is lost through the failure; a repair loses nothing, nor does what is under way before.
            assert_eq!((of("packets_dropped")[0], of("packets_dropped")[2]), (0, 0), "{line}");
            let count = |name: &str| found[name].as_u64().unwrap();
            let gone = count("packets_received") + count("packets_dropped") + count("packets_in_flight");
            assert_eq!(count("packets_generated"), gone, "{line}");
            let rows = found["model_figures"].as_array().unwrap();
            let of = |name: &str| rows.iter().find(|row| row["name"] == name).unwrap()["value"].as_f64().unwrap();
            assert_eq!(of("reconfigurations"), 2.0, "{line}");
            let (mean, most) = (of("injection_held_mean"), of("injection_held_max"));
            assert!(mean <= most && most < phase as f64, "{line}: {mean} {most}");
            lost += count("packets_dropped");
            longest = most.max(longest);
        }
    }
    assert!(lost > 0 && longest > 0.0);
}

/// A link that is dead from the start is one that the file says is dead.
#[test]
fn dead_from_the_start_is_dead_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let network = |dead: &str| format!("a b\nb c\nc d\nd a{dead}\na c\na H1\nb H2\nc H3\nd H4\nd H5\n");
    fs::write(folder.path().join("dead.txt"), network(" dead true")).unwrap();
    fs::write(folder.path().join("whole.txt"), network("")).unwrap();
    for (network, load) in [
        ("vct:routing=updown", "--cycles 2000"),
        ("wormhole:routing=updown", "--cycles 2000"),
        ("ethernet", "--cycles 200000000"),
        ("ethernet:forwarding=static", "--cycles 200000000"),
        ("flow", "--cycles 200000000"),
        ("myrinet", "--cycles 200000000"),
    ] {
        let digest = |more: &str| {
            figures(folder.path(), &format!("run --network {network} --load 0.3 {load} {more}"))["digest"].clone()
        };
        let dead = digest("--topology graph:dead.txt");
        assert_eq!(digest("--topology graph:whole.txt --fail link:a-d@0"), dead, "{network}");
        assert_ne!(digest("--topology graph:whole.txt"), dead, "{network}");
    }
}

/// Routings that cannot avoid dead links are refused with the advice which can, and those can.
#[test]
fn routings_go_round_dead_links_or_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let line = |network: &str, more: &str| format!("run --network {network} --topology torus:4x4 --load 0.1 {more}");
    for network in ["wormhole:routing=dor", "flow:routing=adaptive"] {
        let (status, text) = refused(folder.path(), &line(network, "--fail link:0-1@0"));
        assert_eq!(status, Some(2), "{network}");
        assert!(
            text.contains("cannot avoid dead links") && text.contains("--routing updown") && text.contains("shortest"),
            "{text}"
        );
    }
    for (network, cycles) in
        [("wormhole:routing=updown", 2000), ("wormhole:routing=shortest,vcs=8", 2000), ("flow", 1_000_000_000)]
    {
        let found = figures(folder.path(), &line(network, &format!("--fail link:0-1@0,link:0-4@0 --cycles {cycles}")));
        assert_eq!(
            (found["packets_dropped"].as_u64(), found["dead_links"].as_array().unwrap().len()),
            (Some(0), 2),
            "{network}"
        );
    }
    for (network, topology, remedy) in [
        ("vct", "fattree:2,2", "graph:updown"),
        ("wormhole", "torus:4x4", "--routing updown"),
        ("wormhole:routing=adaptive", "fattree:2,2", "--routing updown"),
        ("myrinet:routing=dor", "torus:4x4", "--routing updown"),
    ] {
        let line = format!("run --network {network} --topology {topology} --load 0.1 --fail class:links#1@5us");
        let class = if topology == "torus:4x4" { "x" } else { "between-switches" };
        let (status, text) = refused(folder.path(), &line.replace("links", class));
        assert_eq!(status, Some(2), "{network}");
        assert!(text.contains("cannot avoid dead links") && text.contains(remedy), "{network}: {text}");
    }
    let (status, text) = refused(folder.path(), &line("wormhole:routing=updown", "--fail node:3@0"));
    assert!(status == Some(2) && text.contains("no route is left for 30 of 240 pairs"), "{text}");
    let (status, text) = refused(folder.path(), &line("ethernet:transport=window", "--fail node:3@1us"));
    assert!(status == Some(2) && text.contains("--transport oracle"), "{text}");
}

/// By model: its settings in direct networks and in networks of switches, and the bytes of a full packet.
const MODELS: [(&str, &str, &str, u64); 6] = [
    ("vct", "", "routing=graph:updown", 64),
    ("wormhole", "routing=updown", "routing=updown", 64),
    ("wormhole", "routing=shortest,vcs=12", "routing=shortest,vcs=12", 64),
    ("myrinet", "", "", 4096),
    ("ethernet", "forwarding=static", "forwarding=static", 1497),
    ("flow", "routing=shortest", "routing=shortest", 4096),
];

/// Every kind of network: how it is called, a class of its links, and the names of two of its nodes.
const NETWORKS: [(&str, &str, [&str; 2]); 4] = [
    ("torus:4x4", "x", ["5", "6"]),
    ("dragonfly:p=2,a=2,h=2", "global", ["5", "6"]),
    ("fattree:4,2", "between-switches", ["5", "6"]),
    ("graph:mine.txt", "between-switches", ["H2", "H1"]),
];

/// A ring of four switches with a chord, and four hosts at each.
fn mine(folder: &Path) {
    let hosts: String = (0..16).map(|host| format!("H{host} {}\n", ["a", "b", "c", "d"][host % 4])).collect();
    fs::write(folder.join("mine.txt"), format!("{hosts}a b\nb c\nc d\nd a\na c\n")).unwrap();
}

/// The value of `network` for a model on a network.
fn on((model, direct, switched, _): (&str, &str, &str, u64), topology: &str) -> String {
    match if topology.starts_with("torus") { direct } else { switched } {
        "" => model.to_owned(),
        words => format!("{model}:{words}"),
    }
}

/// Links and a node fail under way, in every model on every kind of network: each packet of a list of messages arrives or
/// is reported lost, both engines agree, and pairs that are cut off are listed.
#[test]
fn what_is_sent_arrives_or_is_reported_lost() {
    let folder = tempfile::tempdir().unwrap();
    mine(folder.path());
    for model in MODELS {
        let (name, .., bytes) = model;
        let unit = if bytes == 64 { 1 } else { 100 };
        // Three packets from node n to node 7n + 3 of 16, each 80 ns or 8 us after the one before it.
        let messages = (0..300_u64).filter(|number| number % 16 != (7 * number + 3) % 16);
        let rows = messages.map(|number| {
            format!("{},{},{},{}ns\n", number % 16, (7 * number + 3) % 16, 3 * bytes, number * 80 * unit)
        });
        let list: Vec<String> = rows.collect();
        fs::write(folder.path().join("list.csv"), format!("src,dst,bytes,start\n{}", list.concat())).unwrap();
        for (topology, class, [node, _]) in NETWORKS {
            let network = on(model, topology);
            let at = |time: u64| format!("{}ns", time * unit);
            let fail = format!(
                "class:{class}#1@{},node:{node}@{},repair:class:{class}#1@{}",
                at(8_000),
                at(12_000),
                at(18_000)
            );
            let rate = if bytes == 64 || name == "myrinet" { "" } else { "--link-rate 1Gb/s" };
            let line = format!("run --network {network} --topology {topology} --flows list.csv {rate} --fail {fail}");
            let found = figures(folder.path(), &line);
            let other = figures(folder.path(), &format!("{line} --engine reference"));
            assert_eq!((&found["digest"], &found["phases"]), (&other["digest"], &other["phases"]), "{line}");
            let count = |name: &str| found[name].as_u64().unwrap();
            assert_eq!(count("packets_in_flight"), 0, "{line}");
            assert_eq!(count("packets_generated"), count("packets_received") + count("packets_dropped"), "{line}");
            let of = |name: &str| -> u64 {
                found["phases"].as_array().unwrap().iter().map(|phase| phase[name].as_u64().unwrap()).sum()
            };
            // Bytes that were sent are those of packets that arrived, and those that are reported.
            let arrived = bytes * count("packets_received");
            assert_eq!(arrived + of("bytes_dropped"), 3 * bytes * list.len() as u64, "{line}");
            assert!(of("bytes_dropped") > 0, "{line}");
            let nodes = count("nodes");
            // Minimal routes cut off more.
            let pairs = match (name, topology) {
                ("vct", "torus:4x4") => "no route is left for ".to_owned(),
                _ => format!("no route is left for {} of {} pairs of nodes", 2 * (nodes - 1), nodes * (nodes - 1)),
            };
            assert!(found["warnings"].to_string().contains(&pairs), "{line}: {}", found["warnings"]);
        }
    }
}

/// A run ends when its last packets are lost, of whose message the source knows already.
#[test]
fn a_run_ends_with_its_last_lost_packet() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("two.txt"), "H0 a\nH1 b\na b\n").unwrap();
    fs::write(folder.path().join("list.csv"), "src,dst,bytes,start\n0,1,64000,0\n").unwrap();
    for model in MODELS {
        let network = on(model, "graph");
        let line = format!("run --network {network} --topology graph:two.txt --flows list.csv --fail link:a-b@15us");
        let found = figures(folder.path(), &line);
        let count = |name: &str| found[name].as_u64().unwrap();
        assert!(count("packets_dropped") > 0 && count("packets_in_flight") == 0, "{network}");
        // Long before the clock ends.
        assert!(count("cycles") < 1_000_000_000, "{network}: {} cycles", count("cycles"));
    }
}

/// One link of twenty is dead in a torus: the network goes on at half of its load, and a program ends.
#[test]
fn a_torus_with_dead_links_carries_on() {
    let folder = tempfile::tempdir().unwrap();
    let torus = stdout(folder.path(), "topology torus:8x8 --format dot");
    fs::write(folder.path().join("torus.dot"), torus).unwrap();
    for (network, topology) in [
        ("wormhole:routing=updown", "torus:8x8"),
        ("wormhole:routing=shortest,vcs=16", "torus:8x8"),
        ("vct:routing=graph:updown", "graph:torus.dot"),
        ("vct:routing=graph:shortest,vcs=16", "graph:torus.dot"),
        ("myrinet", "torus:8x8"),
        ("ethernet:forwarding=static,ecmp=true", "torus:8x8"),
        ("flow:routing=shortest", "torus:8x8"),
    ] {
        let classes: &[&str] =
            if topology == "torus:8x8" { &["class:x#3", "class:y#3"] } else { &["class:between-switches#6"] };
        let fail = |at: &str| classes.iter().map(|class| format!("{class}@{at}")).collect::<Vec<_>>().join(",");
        let is_in_cycles = network.starts_with("vct") || network.starts_with("wormhole");
        let (at, cycles) = if is_in_cycles { ("2000", 8_000) } else { ("100us", 400_000_000) };
        let line = format!("run --network {network} --topology {topology}");
        let found = figures(folder.path(), &format!("{line} --load 0.5 --cycles {cycles} --fail {}", fail(at)));
        let after = &found["phases"][1];
        assert_eq!(after["dead_links"], 6, "{network}");
        let accepted = after["accepted_load_phits_per_node_cycle"].as_f64().unwrap();
        // Up*/down* carries less than half of what a torus could. Shortest paths carry it.
        let least = if network.contains("shortest") { 0.48 } else { 0.05 };
        assert!(accepted > least, "{network}: {accepted}");
        let count = |name: &str| found[name].as_u64().unwrap();
        let gone = count("packets_received") + count("packets_dropped") + count("packets_in_flight");
        assert_eq!(count("packets_generated"), gone, "{network}");
        let program = format!("{line} --kernel all-to-all:tasks=64,bytes=256 --fail {}", fail("0"));
        assert!(figures(folder.path(), &program)["completion_cycles"].as_u64() > Some(0), "{network}");
    }
}

/// The transient picture of models with back-pressure, which hold injection.
#[test]
fn a_picture_shows_the_transient() {
    let folder = tempfile::tempdir().unwrap();
    // A comma separates values of a sweep, so that events stand in files.
    fs::write(folder.path().join("cycles.txt"), "node:5@3000\n").unwrap();
    fs::write(folder.path().join("times.txt"), "node:5@500us\n").unwrap();
    for (network, topology, how) in [
        ("vct", "torus:4x4", "--sample-size 300 --fail cycles.txt"),
        ("wormhole:routing=updown", "fattree:4,2", "--sample-size 300 --fail cycles.txt"),
        ("myrinet", "fattree:4,2", "--sample-size 50000000 --fail times.txt"),
    ] {
        let name = &network[..3];
        let line = format!(
            "sweep --network {network} --topology {topology} --load 0.1,0.2 --warmup 0 --max-conv-time 0 --samples 20 {how} -o {name} -q"
        );
        stdout(folder.path(), &line);
        stdout(folder.path(), &format!("plot {name} --over-time --quiet"));
        let plots = folder.path().join(name).join("plots");
        assert!(plots.join("accepted-over-time.svg").exists(), "{network}");
        let text = fs::read_to_string(plots.join("accepted-over-time.csv")).unwrap();
        assert!(text.lines().count() > 2 * 20, "{network}: {text}");
    }
}

/// A collective that loses a message ends with who waits for whom.
#[test]
fn programs_that_hang_say_who_waits() {
    let folder = tempfile::tempdir().unwrap();
    for network in ["flow:routing=shortest", "ethernet:forwarding=static,ecmp=true"] {
        let line = format!("run --network {network} --topology torus:4x4 --kernel all-to-all:tasks=16,bytes=100000");
        // While another way is left, the program ends, and later than without failures.
        let end = |more: &str| figures(folder.path(), &format!("{line} {more}"))["completion_cycles"].as_u64().unwrap();
        assert!(end("--fail class:x#8@100us") > end(""), "{network}");
        let (status, text) = refused(folder.path(), &format!("{line} --fail node:6@100us"));
        assert_eq!(status, Some(3), "{network}: {text}");
        assert!(
            text.contains("task 0 on node 0")
                && text.contains("waits for a message from task 6")
                && text.contains("--fail let fewer"),
            "{network}: {text}"
        );
        // From the start on, it is foreseen.
        let (status, text) = refused(folder.path(), &format!("{line} --fail node:6@0"));
        assert!(status == Some(2) && text.contains("would wait for ever"), "{network}: {text}");
    }
}

/// The same in every model on every kind of network, where a cut takes a node away from a collective.
#[test]
fn a_collective_over_a_cut_says_who_waits() {
    let folder = tempfile::tempdir().unwrap();
    mine(folder.path());
    for model in MODELS {
        for (topology, _, [_, node]) in NETWORKS {
            let network = on(model, topology);
            let at = if model.3 == 64 { "1000" } else { "50us" };
            let line = format!(
                "run --network {network} --topology {topology} --kernel all-to-all:tasks=12,bytes=20000 --fail node:{node}@{at}"
            );
            let (status, text) = refused(folder.path(), &line);
            let task = node.trim_start_matches('H');
            assert_eq!(status, Some(3), "{line}: {text}");
            for part in ["task 0 on node 0", &format!("waits for a message from task {task}"), "--fail let fewer"] {
                assert!(text.contains(part), "{line}: {text}");
            }
        }
    }
}

#[test]
fn errors_name_the_word_and_the_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let line = |fail: &str| format!("run --network flow --topology torus:4x4 --fail {fail}");
    for (fail, what, remedy) in [
        ("link:0-5@0", "`link:0-5@0`: no link joins 0 and 5", "0 has links to 1, 3, 4, 12"),
        ("link:0-1", "no time is given", "link:0-1@0"),
        ("nod:1@0", "`nod` is nothing that fails", "`node`"),
        ("no-such-file", "no-such-file", "path of a file"),
    ] {
        let (status, text) = refused(folder.path(), &line(fail));
        assert!(status == Some(2) && text.contains(what) && text.contains(remedy), "{fail}: {text}");
    }
    fs::write(folder.path().join("list.txt"), "# in May\nlink:0-1@5us\nlink:0-9@6us\n").unwrap();
    let (status, text) = refused(folder.path(), &line("list.txt"));
    assert!(status == Some(2) && text.contains("list.txt, line 3: `link:0-9@6us`"), "{text}");
}

/// A file is relative to the experiment file that names it, is read again by `rerun`, and identifies the experiment.
#[test]
fn failures_stand_in_files() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("in")).unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("in/list.txt", "link:0-1@10us # cut\nrepair:link:0-1@20us\n");
    write(
        "in/a.toml",
        "network = \"flow\"\ntopology = \"torus:4x4\"\nload = 0.5\ncycles = 100000000\nfail = \"list.txt\"\n",
    );
    let found = figures(folder.path(), "run in/a.toml -o kept");
    assert_eq!(found["phases"].as_array().unwrap().len(), 3);
    let list = figures(folder.path(), "run in/a.toml --fail link:0-1@10us,repair:link:0-1@20us");
    assert_eq!((&list["digest"], &list["phases"]), (&found["digest"], &found["phases"]));
    stdout(folder.path(), "rerun kept --quiet");
}

/// One path for each pair, round dead links: the shortest ones are as long as the distances in the network that is left,
/// those of up*/down* as `fsin routes` says; nothing is lost, where minimal routes lose pairs.
#[test]
fn a_torus_with_dead_links_keeps_all_its_pairs_with_routes_for_any_network() {
    let folder = tempfile::tempdir().unwrap();
    let all = "--topology torus:5x5 --kernel all-to-all:tasks=25,bytes=4";
    for engine in ["fast", "reference"] {
        let damaged = format!("run {all} --engine {engine} --vcs 16 --fail class:x#4@0,class:y#4@0");
        let shortest = figures(folder.path(), &format!("{damaged} --routing shortest"));
        assert_eq!(shortest["hops_mean"], shortest["hops_per_byte"]);
        let updown = figures(folder.path(), &format!("{damaged} --routing updown"));
        assert!(updown["hops_mean"].as_f64() >= shortest["hops_mean"].as_f64(), "{updown}");
        for found in [shortest, updown] {
            assert_eq!((&found["packets_received"], &found["packets_dropped"]), (&600.into(), &0.into()));
        }
        let whole = figures(folder.path(), &format!("run {all} --engine {engine} --routing updown"));
        let routes = stdout(folder.path(), "routes --topology torus:5x5 --routing updown --format json");
        let routes: Value = serde_json::from_str(&routes).unwrap();
        assert_eq!(whole["packet_hops"], routes["hops_all_pairs"]);
    }
    let (status, text) = refused(folder.path(), &format!("run {all} --fail class:x#4@0,class:y#4@0"));
    assert!(status == Some(2) && text.contains("use --routing updown, which goes round dead links"), "{text}");
    let (status, text) = refused(folder.path(), "run --topology torus:5x5 --ways 1 --routing updown --load 0.1");
    assert!(status == Some(2) && text.contains("needs links that lead both ways"), "{text}");
}
