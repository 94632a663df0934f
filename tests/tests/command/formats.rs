//! One network in every format that is read, from outside: what is understood, what a fault is called, what is written.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tests::command::run;

/// A ring of four switches with a chord of another delay, and a host at each: ends, rate, delay.
const LINKS: [(&str, &str, &str, &str); 9] = [
    ("H0", "a", "10Gb/s", ""),
    ("H1", "b", "10Gb/s", ""),
    ("H2", "c", "10Gb/s", ""),
    ("H3", "d", "10Gb/s", ""),
    ("a", "b", "40Gb/s", ""),
    ("b", "c", "40Gb/s", ""),
    ("c", "d", "40Gb/s", ""),
    ("d", "a", "40Gb/s", ""),
    ("a", "c", "40Gb/s", "4us"),
];

/// The nodes in the order of the links.
const NODES: [&str; 8] = ["H0", "a", "H1", "b", "H2", "c", "H3", "d"];

/// The text of the network: what stands before, a part for each node and each link, and what stands after.
fn text(
    begin: &str,
    node: impl Fn(usize, &str) -> String,
    link: impl Fn([usize; 2], (&str, &str, &str, &str)) -> String,
    end: &str,
) -> String {
    let number = |name: &str| NODES.iter().position(|node| *node == name).unwrap();
    let nodes: String = NODES.iter().enumerate().map(|(number, name)| node(number, name)).collect();
    let links: String = LINKS.iter().map(|&words| link([number(words.0), number(words.1)], words)).collect();
    format!("{begin}{nodes}{links}{end}")
}

/// True for a host. Where names are labels, an attribute must say so.
fn is_host(name: &str) -> bool {
    name.starts_with('H')
}

/// Nothing of a node.
fn none(_: usize, _: &str) -> String {
    String::new()
}

/// What a list of values says of the attributes that are given.
fn attributes(rate: &str, delay: &str, one: impl Fn(&str, &str) -> String, between: &str) -> String {
    let all = [("capacity", rate), ("delay", delay)].into_iter().filter(|(_, value)| !value.is_empty());
    all.map(|(name, value)| one(name, value)).collect::<Vec<_>>().join(between)
}

fn gml() -> String {
    let node = |number: usize, name: &str| {
        let kind = if is_host(name) { " kind \"host\"" } else { "" };
        format!("  node [\n    id {number}\n    label \"{name}\"{kind}\n  ]\n")
    };
    let link = |[from, to]: [usize; 2], (_, _, rate, delay): (&str, &str, &str, &str)| {
        let attributes = attributes(rate, delay, |name, value| format!("    {name} \"{value}\"\n"), "");
        format!("  edge [\n    source {from}\n    target {to}\n{attributes}  ]\n")
    };
    text("graph [\n", node, link, "]\n")
}

fn graphml() -> String {
    let begin = "<?xml version='1.0' encoding='utf-8'?>\n<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n\
                 <key id=\"delay\" for=\"edge\" attr.name=\"delay\" attr.type=\"string\" />\n\
                 <key id=\"capacity\" for=\"edge\" attr.name=\"capacity\" attr.type=\"string\" />\n\
                 <key id=\"kind\" for=\"node\" attr.name=\"kind\" attr.type=\"string\" />\n\
                 <graph edgedefault=\"undirected\">\n";
    let link = |_: [usize; 2], (from, to, rate, delay): (&str, &str, &str, &str)| {
        let data = attributes(rate, delay, |name, value| format!("<data key=\"{name}\">{value}</data>"), "\n");
        format!("<edge source=\"{from}\" target=\"{to}\">\n{data}\n</edge>\n")
    };
    let node = |_: usize, name: &str| match is_host(name) {
        true => format!("<node id=\"{name}\"><data key=\"kind\">host</data></node>\n"),
        false => format!("<node id=\"{name}\" />\n"),
    };
    text(begin, node, link, "</graph>\n</graphml>\n")
}

fn node_link() -> String {
    let node = |name: &&str| if is_host(name) { json!({ "id": name, "kind": "host" }) } else { json!({ "id": name }) };
    let nodes: Vec<Value> = NODES.iter().map(node).collect();
    let links: Vec<Value> = LINKS
        .iter()
        .map(|(from, to, rate, delay)| match *delay {
            "" => json!({ "capacity": rate, "source": from, "target": to }),
            _ => json!({ "capacity": rate, "delay": delay, "source": from, "target": to }),
        })
        .collect();
    serde_json::to_string_pretty(
        &json!({ "directed": false, "multigraph": false, "graph": {}, "nodes": nodes, "edges": links }),
    )
    .unwrap()
}

/// Numbers in place of names: hosts 0 to 3, switches 4 to 7.
fn numbered(name: &str) -> usize {
    match name.strip_prefix('H') {
        Some(host) => host.parse().unwrap(),
        None => 4 + "abcd".find(name).unwrap(),
    }
}

fn ns3() -> String {
    let link = |_: [usize; 2], (from, to, rate, delay): (&str, &str, &str, &str)| {
        let delay = if delay.is_empty() { "0" } else { "0.004ms" };
        format!("{} {} {} {delay} 0\n", numbered(from), numbered(to), rate.replace("b/s", "bps"))
    };
    text("8 4 9\n4 5 6 7\n", none, link, "")
}

fn simgrid() -> String {
    let mut text = "<?xml version='1.0'?>\n<platform version=\"4.1\"><zone id=\"w\" routing=\"Floyd\">\n".to_owned();
    for name in NODES {
        let _ = match name.starts_with('H') {
            true => writeln!(text, "<host id=\"{name}\" speed=\"1Gf\"/>"),
            false => writeln!(text, "<router id=\"{name}\"/>"),
        };
    }
    for (number, (_, _, rate, delay)) in LINKS.iter().enumerate() {
        let (rate, delay) = (rate.replace("b/s", "bps"), if delay.is_empty() { "0" } else { delay });
        let _ = writeln!(
            text,
            "<link id=\"{number}\" bandwidth=\"{rate}\" latency=\"{delay}\" sharing_policy=\"SPLITDUPLEX\"/>"
        );
    }
    for (number, (from, to, ..)) in LINKS.iter().enumerate() {
        let _ =
            writeln!(text, "<route src=\"{from}\" dst=\"{to}\"><link_ctn id=\"{number}\" direction=\"UP\"/></route>");
    }
    text + "</zone></platform>\n"
}

/// A format: its text, and a fault in it: what is replaced by what, where the error says that it is, and what it says.
struct Row {
    name: &'static str,
    text: String,
    fault: [&'static str; 4],
}

/// The formats that state rates and delays of links.
fn rows() -> Vec<Row> {
    let row = |name, text, fault| Row { name, text, fault };
    let own = |_: [usize; 2], (from, to, rate, delay): (&str, &str, &str, &str)| {
        format!("{from} {to} {}\n", attributes(rate, delay, |name, value| format!("{name} {value}"), " "))
    };
    let dot = |_: [usize; 2], (from, to, rate, delay): (&str, &str, &str, &str)| {
        let list = attributes(rate, delay, |name, value| format!("{name}=\"{value}\""), ", ");
        format!("{from} -- {to} [{list}];\n")
    };
    let csv = |_: [usize; 2], (from, to, rate, delay): (&str, &str, &str, &str)| {
        format!("{from},{to},{rate},{delay},{}\n", if is_host(from) { "host" } else { "" })
    };
    vec![
        row("own list", text("", none, own, ""), ["delay 4us", "delay 4", "line 9, column 21", "as in delay=\"4us\""]),
        row(
            "DOT",
            text("graph {\n", none, dot, "}\n"),
            ["delay=\"4us\"", "dely=\"4us\"", "line 10, column 28", "delay"],
        ),
        row(
            "CSV",
            text("source,target,rate,delay,source_kind\n", none, csv, ""),
            ["a,c,40Gb/s", "a,c,40", "line 10", "10Gb/s"],
        ),
        row("node-link", node_link(), ["\"target\": \"c\"", "\"target\": \"x\"", "line", "nodes"]),
        row("GraphML", graphml(), ["target=\"c\"", "target=\"x\"", "line", "`x`"]),
        row("GML", gml(), ["capacity \"10Gb/s\"", "capacty \"10Gb/s\"", "line 37", "capacty=10Gb/s"]),
        row("ns-3", ns3(), ["4 6 40Gbps 0.004ms", "4 9 40Gbps 0.004ms", "line 11", "node 9"]),
        row("SimGrid", simgrid(), ["latency=\"4us\"", "latency=\"4uz\"", "line 19", "4uz"]),
    ]
}

/// What `fsin topology` says of a file as JSON, without its name.
fn found(folder: &Path, file: &str) -> Value {
    let output = run(folder, &format!("topology graph:{file} --format json"));
    assert!(output.status.success(), "{file}: {}", String::from_utf8_lossy(&output.stderr));
    let mut found: Value = serde_json::from_slice(&output.stdout).unwrap();
    found.as_object_mut().unwrap().remove("topology");
    // How it was understood differs with the format.
    for member in ["format", "understood", "notes", "options", "decoration"] {
        found["described"].as_object_mut().unwrap().remove(member);
    }
    found
}

#[test]
fn every_format_says_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    let rate = |rate: u64, links: u32| json!({ "bits_per_second": rate * 1_000_000_000, "links": links });
    for Row { name, text, fault: [from, to, place, what] } in rows() {
        write("net", &text);
        let says = found(folder.path(), "net");
        // Links count in both directions; a switch has one to its host, two of the ring, and two switches one of the
        // chord. Of six pairs of hosts, five are at neighbours.
        let counts = ["nodes", "switches", "links", "degree_min", "degree_max", "diameter_hops", "hops_all_pairs"];
        assert_eq!(counts.map(|count| says[count].as_u64().unwrap()), [4, 4, 18, 3, 4, 4, 2 * (5 * 3 + 4)], "{name}");
        assert_eq!(says["described"]["link_rates"], json!([rate(10, 8), rate(40, 10)]), "{name}");
        let delays = says["described"]["link_delays"].as_array().unwrap();
        assert!(delays.contains(&json!({ "ps": 4_000_000, "links": 2 })), "{name}: {delays:?}");
        // What is written says the same again.
        for syntax in ["dot", "list", "node-link"] {
            let output = run(folder.path(), &format!("topology graph:net --format {syntax}"));
            assert!(output.status.success(), "{name}, {syntax}: {}", String::from_utf8_lossy(&output.stderr));
            fs::write(folder.path().join("again"), &output.stdout).unwrap();
            assert_eq!(found(folder.path(), "again"), says, "{name} as {syntax}");
        }
        let wrong = text.replacen(from, to, 1);
        assert_ne!(wrong, text, "{name}");
        write("wrong", &wrong);
        // A number of cycles is right but for models that count none.
        let output = run(folder.path(), "topology graph:wrong --network flow");
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{name}: {error}");
        for part in ["wrong: ", place, what, "help: "] {
            assert!(error.contains(part), "{name}: `{part}` is not in {error}");
        }
    }
}

/// Formats of which each has something that it cannot say.
#[test]
fn formats_with_words_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    // BookSim: latencies in cycles. The same ring with its chord.
    let anynet = "router 0 node 0 router 1 router 3 router 2 3\nrouter 1 node 1 router 2\nrouter 2 node 2 router 3\nrouter 3 node 3\n";
    write("anynet", anynet);
    let says = found(folder.path(), "anynet");
    assert_eq!((&says["links"], &says["hops_all_pairs"]), (&18.into(), &38.into()));
    assert!(says["described"]["link_delays"].as_array().unwrap().contains(&json!({ "cycles": 2, "links": 2 })));
    // htsim: two tiers, of 8 hosts at 4 leaves under 2 switches.
    let htsim = "Nodes 8\nTiers 2\nPodsize 8\nTier 0\nDownlink_speed_Gbps 100\nRadix_Up 2\nRadix_Down 2\n\
                 Downlink_Latency_ns 1000\nTier 1\nDownlink_speed_Gbps 200\nRadix_Down 4\nDownlink_Latency_ns 2000\n";
    write("htsim", htsim);
    let says = found(folder.path(), "htsim");
    // Of 8 x 7 pairs, 8 are at one leaf and 48 two links further away.
    assert_eq!((&says["nodes"], &says["switches"], &says["links"]), (&8.into(), &6.into(), &32.into()));
    assert_eq!(says["hops_all_pairs"], 8 * 2 + 48 * 4);
    for (name, text, from, to, place, what) in [
        ("anynet", anynet, "router 2 node 2", "router 2 nod 2", "line 3", "`nod`"),
        ("htsim", htsim, "Radix_Down 4", "Radix_Down 5", "line 9", "5 links down"),
    ] {
        write("wrong", &text.replacen(from, to, 1));
        let output = run(folder.path(), "topology graph:wrong");
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && error.contains(place) && error.contains(what), "{name}: {error}");
        let output = run(folder.path(), &format!("topology graph:{name} --format dot"));
        fs::write(folder.path().join("again"), &output.stdout).unwrap();
        assert_eq!(found(folder.path(), "again"), found(folder.path(), name), "{name}");
    }
}

/// What other programs write, and what it is called here.
#[test]
fn files_of_other_programs_are_named() {
    let folder = tempfile::tempdir().unwrap();
    for (text, what, remedy) in [
        ("<?xml version='1.0' encoding='utf-8'?>\n<gexf version=\"1.2\"></gexf>\n", "GEXF", "nx.write_graphml"),
        ("*vertices 2\n1 a 0.0 0.0 ellipse\n", "Pajek", "nx.write_graphml"),
        (">>sparse6<<:DaY_~\n", "sparse6", "nx.write_graphml"),
        (",source,target\n0,a,b\n", "a column has no name", "index=False"),
        ("a,b\nb,c\n", "no columns source and target", "names of the columns"),
        ("u,v\nv,w\n", "`v` is a node here, and the name of a column", "names of the columns"),
        ("u,v,capacity\na,b,10\n", "no data rate above 0", "10Gb/s"),
        ("u v {'weight': 3}\n", "weight", "leave it out"),
    ] {
        fs::write(folder.path().join("net"), text).unwrap();
        let output = run(folder.path(), "topology graph:net");
        let error = String::from_utf8_lossy(&output.stderr);
        let error = error.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(output.status.code(), Some(2), "{text}: {error}");
        assert!(error.contains(what) && error.contains(remedy), "{text}: {error}");
    }
}
