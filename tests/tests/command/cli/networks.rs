//! Networks from files: one meaning in every syntax, and no attribute that a model ignores.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tests::command::run;

use super::{done, figures, folder, json, text};

/// Two hosts at two switches, whose link has another delay in each direction.
const ASYMMETRIC: &str = "digraph { Ha -> Sa; Sa -> Ha; Hb -> Sb; Sb -> Hb; Sa -> Sb [delay=9]; Sb -> Sa [delay=1]; }";

/// The refusal of a command, by its status, with its text.
#[track_caller]
fn refused(folder: &Path, line: &str) -> String {
    let output = run(folder, line);
    assert_eq!(output.status.code(), Some(2), "{line}: {}", String::from_utf8_lossy(&output.stdout));
    // Errors are wrapped.
    String::from_utf8_lossy(&output.stderr)
        .split(|letter: char| letter.is_whitespace() || letter == '│')
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

fn write(folder: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        fs::write(folder.join(name), text).unwrap();
    }
}

/// Each direction of a link has the delay that the file gives it, in both engines.
#[test]
fn directions_of_a_link_have_delays_of_their_own() {
    let folder = folder();
    write(folder.path(), &[("net.dot", ASYMMETRIC), ("01.txt", "0 1\n0 0\n"), ("10.txt", "0 0\n1 0\n")]);
    // A wormhole hop takes a cycle more on the link, and the pipelines of two routers.
    for (network, there, back) in [("vct", 12, 4), ("wormhole", 21, 13)] {
        let latency = |matrix: &str, more: &str| {
            let line = format!(
                "run --network {network} --topology graph:net.dot --traffic matrix({matrix}) --load 0.01 --packet 1 -q {more}"
            );
            let found = json(folder.path(), &line);
            (found["latency_max_cycles"].as_u64(), found["digest"].clone())
        };
        for engine in ["fast", "reference"] {
            let more = format!("--engine {engine} --cycles 3000");
            assert_eq!(latency("01.txt", &more).0, Some(there), "{network} {engine}");
            assert_eq!(latency("10.txt", &more).0, Some(back), "{network} {engine}");
        }
        // Beyond zero load, credits and queues are concerned.
        let both = |engine: &str| {
            let line = format!(
                "run --network {network} --topology graph:net.dot --load 0.8 --cycles 5000 -q --engine {engine}"
            );
            json(folder.path(), &line)["digest"].clone()
        };
        assert_eq!(both("fast"), both("reference"), "{network}");
    }
}

/// A number of cycles, and a time with its unit: the same delay, or refused by name.
#[test]
fn a_delay_means_the_same_in_every_model() {
    let folder = folder();
    write(
        folder.path(),
        &[("bare.txt", "a b delay 4000\n"), ("time.txt", "a b delay 12800ns\n"), ("odd.txt", "a b latency 1us\n")],
    );
    let line = |network: &str, file: &str, more: &str| {
        format!("run --network {network} --topology graph:{file} --load 0.01 --cycles 20000 -q {more}")
    };
    for network in ["vct", "wormhole"] {
        // A phit of 4 bytes at 10 Gb/s takes 3.2 ns.
        let found = |file: &str, more: &str| json(folder.path(), &line(network, file, more));
        let (bare, time) = (found("bare.txt", ""), found("time.txt", ""));
        assert_eq!(bare["digest"], time["digest"], "{network}");
        assert!(bare["latency_mean_cycles"].as_f64() > Some(4000.0));
        assert_eq!(time["experiment"]["bandwidth"], "10Gb/s", "{network}");
        let faster = found("time.txt", "--bandwidth 20Gb/s");
        assert_ne!(faster["digest"], time["digest"], "{network}");
        assert!(refused(folder.path(), &line(network, "bare.txt", "--bandwidth 20Gb/s")).contains("no meaning"));
        let odd = refused(folder.path(), &line(network, "odd.txt", ""));
        assert!(odd.contains("odd.txt: line 1, column 5: a delay of 1000000 ps is 312.500 cycles"), "{odd}");
    }
    for network in ["ethernet", "myrinet"] {
        let bare = refused(folder.path(), &line(network, "bare.txt", ""));
        assert!(
            bare.contains("bare.txt: line 1, column 5: delay=4000 of a link") && bare.contains("delay=\"4us\""),
            "{bare}"
        );
    }
    let found =
        json(folder.path(), "run --network ethernet --topology graph:time.txt --load 0.3 --cycles 900000000 -q");
    assert!(found["latency_mean_cycles"].as_f64() > Some(12_800_000.0));
}

/// Each attribute of links changes the digest of a model, or the model refuses it by its name and place.
#[test]
fn no_model_ignores_an_attribute_of_links() {
    let folder = folder();
    let graph = |attribute: &str| {
        format!(
            "digraph {{ edge [dir=both]; H0 -> S; H1 -> T; H2 -> S; H3 -> T; edge [dir=forward];\n S -> T [{attribute}];\n T -> S }}"
        )
    };
    let attributes = [
        // A hundredth is no rate of vct and wormhole.
        ("rate=\"100Mb/s\"", "ethernet myrinet"),
        ("capacity=\"100Mbps\"", "ethernet myrinet"),
        ("rate=\"5Gb/s\"", "vct wormhole ethernet myrinet"),
        ("delay=40", "vct wormhole"),
        ("latency=\"1024ns\"", "vct wormhole ethernet myrinet"),
        ("queue=2", "ethernet"),
        ("dead=true", ""),
        ("count=1", "all"),
    ];
    for network in ["vct", "wormhole", "ethernet", "myrinet", "bus", "constant-delay", "zero"] {
        let line = |name: &str| {
            let more = match network {
                "ethernet" => "--load 1.5 --transport none --traffic shift(1)",
                // The slack that a delay of 1024 ns needs.
                "myrinet" => "--load 0.05 --slack 400",
                _ => "--load 0.05",
            };
            format!("run --network {network} --topology graph:{name} {more} --cycles 40000 -q --format json")
        };
        // Cycles of ps, and long enough for some messages.
        let scale = match network {
            "ethernet" => "0000",
            "myrinet" => "00000",
            _ => "",
        };
        let name = "plain.dot";
        write(folder.path(), &[(name, &graph("color=red"))]);
        let run_of =
            |name: &str| run(folder.path(), &line(name).replace("--cycles 40000", &format!("--cycles 40000{scale}")));
        let plain = run_of(name);
        done(&plain);
        for (attribute, users) in attributes {
            write(folder.path(), &[("with.dot", &graph(attribute))]);
            let output = run_of("with.dot");
            let stderr = String::from_utf8_lossy(&output.stderr);
            match users {
                "all" => done(&output),
                users if users.split(' ').any(|user| user == network) => {
                    done(&output);
                    assert_ne!(figures(&output)["digest"], figures(&plain)["digest"], "{network} {attribute}");
                }
                _ => {
                    assert_eq!(output.status.code(), Some(2), "{network} {attribute}: {stderr}");
                    let key = attribute.split('=').next().unwrap();
                    assert!(stderr.contains("line 2,") && stderr.contains(key), "{network} {attribute}: {stderr}");
                }
            }
        }
    }
    // Static routes are used by static forwarding, and refused by all others.
    write(folder.path(), &[("routes.dot", &graph("routes=\"H1\""))]);
    let said = refused(folder.path(), "run --network ethernet --topology graph:routes.dot --cycles 100");
    assert!(
        said.contains("routes=H1 of a link: ethernet does not use it") && said.contains("forwarding=static"),
        "{said}"
    );
    assert!(refused(folder.path(), "run --topology graph:routes.dot --cycles 100").contains("routes=H1"));
}

/// A star of hosts and one switch: a byte takes 576 ns of a frame and 500 ns on each of two links.
#[test]
fn the_hosts_of_a_star_are_two_links_apart() {
    let folder = folder();
    write(folder.path(), &[("star.dot", "graph star { H0 -- S; H1 -- S; H2 -- S; H3 -- S }")]);
    let line = "run --network ethernet:forwarding=static --topology graph:star.dot --traffic shift(1) --size constant(1) --load 0.00001 --cycles 3000000000 -q";
    assert_eq!(json(folder.path(), line)["latency_p50_cycles"], 2_152_000);
}

/// The same ring in two syntaxes is numbered alike.
#[test]
fn nodes_have_the_same_numbers_in_every_syntax() {
    let folder = folder();
    let ring: Vec<(usize, usize)> = (0..12).map(|node| (node, (node + 1) % 12)).collect();
    let list: String = ring.iter().map(|(a, b)| format!("s{a} s{b}\n")).collect();
    let edges = |mark: &str| ring.iter().map(|(a, b)| format!("s{a} {mark} s{b};\n")).collect::<String>();
    write(
        folder.path(),
        &[
            ("names.txt", &list),
            ("names.dot", &format!("graph ring {{ {} }}", edges("--"))),
            ("both.dot", &format!("digraph {{ edge [dir=both]; {} }}", edges("->"))),
        ],
    );
    let found =
        |name: &str| json(folder.path(), &format!("run --topology graph:{name} --traffic shift(1) --cycles 2000 -q"));
    let expected = found("names.txt");
    assert_eq!(expected["hops_mean"], 3.0);
    for name in ["names.dot", "both.dot"] {
        assert_eq!(
            (&found(name)["hops_mean"], &found(name)["digest"]),
            (&expected["hops_mean"], &expected["digest"]),
            "{name}"
        );
    }
}

/// `fsin topology` says what was understood of a file, and writes what it reads.
#[test]
fn what_was_understood_is_said_and_written() {
    let folder = folder();
    write(
        folder.path(),
        &[
            ("hosts.dot", "graph g { H1 -- S1; H2 -- S1; H3 -- S2; S1 -- S2 [rate=\"10Gb/s\", propagation=\"2us\"]; }"),
            (
                "capacity.dot",
                "digraph { H0 -> S0 [capacity=\"10Gbps\"]; S0 -> H0 [capacity=\"10Gbps\"]; H1 -> S0; S0 -> H1 }",
            ),
        ],
    );
    let said = text(&run(folder.path(), "topology graph:hosts.dot"));
    for line in [
        "nodes         3 endpoints, 2 switches\n",
        "hosts         3 by name: H1, H2, H3\n",
        "link rates    2 of 10Gb/s, 6 as the network's settings say\n",
        "link delays   2 of 2us, 6 as the network's settings say\n",
        "phits/node/cycle at most if links without a rate are as fast as the fastest, by the rates of links alone",
    ] {
        assert!(said.contains(line), "{said}");
    }
    let described = figures(&run(folder.path(), "topology graph:capacity.dot --format json"))["described"].clone();
    assert_eq!(
        described["link_rates"],
        serde_json::json!([{ "bits_per_second": null, "links": 2 }, { "bits_per_second": 10_000_000_000_u64, "links": 2 }])
    );
    for spec in ["graph:hosts.dot", "fattree:2,3", "dragonfly:p=1,a=2,h=1", "mesh:3x3"] {
        fs::write(folder.path().join("out.dot"), text(&run(folder.path(), &format!("topology {spec} --format dot"))))
            .unwrap();
        let (before, after) = (
            figures(&run(folder.path(), &format!("topology {spec} --format json"))),
            figures(&run(folder.path(), "topology graph:out.dot --format json")),
        );
        assert_eq!(before["nodes"], after["nodes"], "{spec}");
        if spec != "mesh:3x3" {
            for name in ["switches", "links", "diameter_hops", "distance_mean_hops", "middle_links"] {
                assert_eq!(before[name], after[name], "{spec} {name}");
            }
        }
    }
    let weight = |edge: &str| {
        fs::write(folder.path().join("w.dot"), format!("graph {{ a -- b [{edge}] }}")).unwrap();
        refused(folder.path(), "topology graph:w.dot")
    };
    assert!(weight("weight=3").contains("w.dot: DOT: line 1, column 17: weight=3 of an edge would be ignored"));
    assert!(weight("Rat=3").contains("did you mean `rate`?"));
}

/// Two equal lines of a file are two links, which the table says.
#[test]
fn links_that_stand_twice_are_named() {
    let folder = folder();
    fs::write(folder.path().join("twice.txt"), "a b\na b\nb c\nc a\n").unwrap();
    let said = text(&run(folder.path(), "topology graph:twice.txt"));
    assert!(said.contains("parallel      1 pair of switches with several links, such as a and b with 2\n"), "{said}");
    assert!(!text(&run(folder.path(), "topology mesh:4x4")).contains("parallel"));
}

/// Dead links are named in the table, the figures, the drawings, and the results of a run.
#[test]
fn dead_links_are_named_everywhere() {
    let folder = folder();
    for (spec, network, routing) in [
        ("mesh:4x4", "vct:faults=1", ""),
        ("fattree:2,3", "vct:faults=2,routing=graph:updown", ""),
        ("fattree:2,3", "myrinet:faults=1", ""),
    ] {
        let line = format!("topology {spec} --network {network}");
        let found = figures(&run(folder.path(), &format!("{line} --format json")))["dead_links"].clone();
        let names: Vec<&str> = found.as_array().unwrap().iter().map(|dead| dead["name"].as_str().unwrap()).collect();
        let count = if network.contains('2') { 2 } else { 1 };
        assert_eq!(names.len(), count, "{network}");
        let table = text(&run(folder.path(), &line));
        let svg = text(&run(folder.path(), &format!("{line} --format svg")));
        for name in &names {
            assert!(table.contains(name) && svg.contains(&format!("<title>dead: {name}</title>")), "{name}: {table}");
        }
        let load = if network.contains("myrinet") { "--cycles 100000000" } else { "--cycles 500" };
        let output = run(
            folder.path(),
            &format!(
                "run --topology {spec} --network {network} {routing} --load 0.05 {load} -q -o r-{count}{} ",
                network.len()
            ),
        );
        let stderr = String::from_utf8_lossy(&output.stderr);
        if stderr.contains("no route is left") {
            continue;
        }
        done(&output);
        let table = text(&output);
        let kept = fs::read_to_string(folder.path().join(format!("r-{count}{}/result.json", network.len()))).unwrap();
        let kept: Value = serde_json::from_str(&kept).unwrap();
        assert_eq!(kept["dead_links"], serde_json::json!(names), "{network}");
        assert!(table.contains(&format!("{:<30} {count}: {}", "dead links", names.join(", "))), "{table}");
    }
    // What a file says is dead is drawn and read again.
    write(folder.path(), &[("ring.txt", "a b\nb c\nc a dead true\n")]);
    let drawn = text(&run(folder.path(), "topology graph:ring.txt --format dot"));
    assert_eq!(drawn.matches("dead=true, style=dotted").count(), 1, "{drawn}");
    assert!(text(&run(folder.path(), "topology graph:ring.txt")).contains("dead          1 link: c port "));
}
