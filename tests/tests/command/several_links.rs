//! Hosts with several links in files of networks: what each model makes of them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tests::command::run;

/// Four hosts with a link of 10 Gb/s to each of two switches.
const PLANES: &str = "H0 a rate 10Gb/s\nH0 b rate 10Gb/s\nH1 a rate 10Gb/s\nH1 b rate 10Gb/s\n\
                      H2 a rate 10Gb/s\nH2 b rate 10Gb/s\nH3 a rate 10Gb/s\nH3 b rate 10Gb/s\n";

/// Two leaves under a spine: two hosts with a link to both, and one at each leaf.
const LEAVES: &str = "H0 a\nH0 b\nH1 a\nH1 b\nH2 a\nH3 b\na spine\nb spine\n";

fn stdout(folder: &Path, line: &str) -> String {
    let output = run(folder, line);
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn figures(folder: &Path, line: &str) -> Value {
    serde_json::from_str(&stdout(folder, &format!("{line} --quiet --format json"))).unwrap()
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("planes.txt"), PLANES).unwrap();
    fs::write(folder.path().join("leaves.txt"), LEAVES).unwrap();
    folder
}

#[test]
fn topology_says_what_was_understood() {
    let folder = folder();
    let table = stdout(folder.path(), "topology graph:planes.txt");
    let line = "interfaces    4 hosts with several links, each behind an interface that is a hop: H0 (2), H1 (2), H2 (2), H3 (2)\n";
    assert!(table.contains(line), "{table}");
    assert!(table.contains("link rates    16 of 10Gb/s\n"), "{table}");
    let table = stdout(folder.path(), "topology graph:leaves.txt");
    assert!(
        table.contains("H0 (2), H1 (2); without rates, a host sends and receives what one link carries\n"),
        "{table}"
    );
    let found: Value = serde_json::from_str(&stdout(folder.path(), "topology graph:leaves.txt --format json")).unwrap();
    let several = json!([{ "host": "H0", "links": 2 }, { "host": "H1", "links": 2 }]);
    assert_eq!(found["described"]["hosts_with_several_links"], several);
    // H2 and H3 are apart by the spine, and not by a host: 2 + 2 hops. H0 and H1 have interfaces, 2 + 2, and to H2 2 + 1.
    assert_eq!((&found["diameter_hops"], &found["hops_all_pairs"]), (&4.into(), &json!(2 * (4 + 4 + 4 * 3))));
    // What is written says the same, forwarding included.
    for format in ["dot", "list", "node-link"] {
        let text = stdout(folder.path(), &format!("topology graph:leaves.txt --format {format}"));
        fs::write(folder.path().join("again.txt"), text).unwrap();
        let again: Value =
            serde_json::from_str(&stdout(folder.path(), "topology graph:again.txt --format json")).unwrap();
        // Here links to interfaces, which a host got, are links of the file: four more.
        let links = |found: &Value| {
            let all = found["described"]["link_delays"].as_array().unwrap();
            all.iter().map(|one| one["links"].as_u64().unwrap()).sum::<u64>()
        };
        assert_eq!((links(&found), links(&again)), (16, 20), "{format}");
        // Another file, with another rule for the kinds of nodes: the network is the same.
        let without_name = |mut found: Value| {
            let described = found["described"].as_object_mut().unwrap();
            for of_file in ["format", "understood", "notes", "link_rates", "link_delays", "link_queues"] {
                described.remove(of_file).unwrap();
            }
            found.as_object_mut().unwrap().remove("topology").map(|_| found)
        };
        assert_eq!(without_name(again), without_name(found.clone()), "{format}");
    }
}

/// Two messages of 400 000 bytes leave a host at once. Over one link of 640 Mb/s they take 10 ms; over two, each on its
/// own or packet by packet, 5 ms.
#[test]
fn two_links_carry_twice_the_rate() {
    let folder = folder();
    let links = |switch: &str| (0..3).map(|host| format!("H{host} {switch} rate 640Mb/s\n")).collect::<String>();
    fs::write(folder.path().join("one.txt"), links("a")).unwrap();
    fs::write(folder.path().join("two.txt"), links("a") + &links("b")).unwrap();
    fs::write(folder.path().join("list.csv"), "src,dst,bytes,start\n0,1,400000,0\n0,2,400000,0\n").unwrap();
    // The share of frames that is payload, and how far a model may be off.
    for (network, interface, payload, two) in [
        ("flow:paths=adaptive", "", 1.0, 5.0),
        ("flow:paths=spray", "", 1.0, 5.0),
        ("vct", "--interface interleaved:2", 1.0, 5.0),
        ("vct:routing=graph:shortest,vcs=4", "--interface interleaved:2", 1.0, 5.0),
        ("wormhole", "--interface interleaved:2", 1.0, 5.0),
        ("wormhole:routing=shortest,vcs=4", "--interface interleaved:2", 1.0, 5.0),
        ("ethernet:forwarding=static", "--interface interleaved:2", 1460.0 / 1503.0, 5.0),
        // The tree uses one link, and a worm holds the link to the interface.
        ("ethernet", "--interface interleaved:2", 1460.0 / 1503.0, 10.0),
        ("myrinet", "", 1.0, 10.0),
    ] {
        let rate = if network.starts_with("flow") || network.starts_with("eth") { "--link-rate 640Mb/s" } else { "" };
        let took = |links: &str| {
            let line =
                format!("run --network {network} {interface} {rate} --topology graph:{links}.txt --flows list.csv");
            let found = figures(folder.path(), &line);
            assert_eq!(
                found["digest"],
                figures(folder.path(), &format!("{line} --engine reference"))["digest"],
                "{line}"
            );
            found["completion_seconds"].as_f64().unwrap() * 1e3 * payload
        };
        for (links, expected) in [("one", 10.0), ("two", two)] {
            let found = took(links);
            assert!((found / expected - 1.0).abs() < 0.07, "{network}, {links}: {found} ms");
        }
    }
}

/// A host forwards nothing: two leaves that both have are joined by the spine alone.
#[test]
fn hosts_do_not_forward() {
    let folder = folder();
    fs::write(folder.path().join("list.csv"), "src,dst,bytes,start\n2,3,64000,0\n3,2,64000,0\n").unwrap();
    for network in [
        "vct",
        "vct:routing=graph:shortest,vcs=4",
        "wormhole",
        "wormhole:routing=shortest,vcs=4",
        "ethernet",
        "ethernet:forwarding=static,ecmp=true",
        "flow",
        "flow:routing=updown",
        "myrinet",
        "myrinet:routing=shortest",
    ] {
        let line = format!("run --network {network} --topology graph:leaves.txt --flows list.csv");
        let found = figures(folder.path(), &line);
        assert!(found["packets_received"].as_u64() > Some(0), "{network}");
        // Without the spine there is no way but through a host.
        let cut = figures(folder.path(), &format!("{line} --fail link:a-spine@0"));
        assert_eq!(cut["packets_received"], found["packets_received"], "{network}");
        if !network.starts_with("flow") {
            // Over the spine: two leaves, the spine, and the links of both hosts. By an interface as many.
            assert_eq!((found["hops_mean"].as_f64(), cut["hops_mean"].as_f64()), (Some(4.0), Some(4.0)), "{network}");
        }
        let spineless = figures(folder.path(), &format!("{line} --fail node:H0@1,node:H1@1,link:a-spine@1"));
        let lost = |found: &Value| found["packets_dropped"].as_u64();
        assert!(lost(&spineless) > Some(0) && lost(&cut) == Some(0), "{network}: {spineless}");
    }
}

/// Links of a host with several are called by the host.
#[test]
fn failures_name_the_links_of_a_host() {
    let folder = folder();
    let line = "topology graph:planes.txt --fail link:H0-a@0,node:H1@5us,class:to-endpoints#1@6us";
    let table = stdout(folder.path(), line);
    assert!(table.contains("dead          1 link: a port"), "{table}");
    assert!(table.contains("later         5us: 3 links: "), "{table}");
    // One of the links of the interfaces, and not that between a host and its own.
    let drawn = table.lines().find(|line| line.contains("6us: ")).unwrap();
    assert!(drawn.contains("1 link: a port") || drawn.contains("1 link: b port"), "{table}");
    for network in ["vct", "wormhole", "ethernet:forwarding=static", "flow:routing=shortest", "myrinet"] {
        let (cycles, rate) = match network {
            "vct" | "wormhole" => ("--cycles 6000 --fail link:H0-a@1us", ""),
            _ => ("--cycles 200000000 --fail link:H0-a@50us", "--link-rate 1Gb/s"),
        };
        let planes = PLANES.replace("10Gb/s", "640Mb/s");
        fs::write(folder.path().join("slow.txt"), planes).unwrap();
        let line = format!("run --network {network} --topology graph:slow.txt --load 0.3 {cycles} {rate}");
        let found = figures(folder.path(), &line);
        assert_eq!(
            found["digest"],
            figures(folder.path(), &format!("{line} --engine reference"))["digest"],
            "{network}"
        );
        let phases = found["phases"].as_array().unwrap();
        assert_eq!(phases[1]["dead_links"], 1, "{network}");
        // The other plane is left.
        assert!(phases[1]["packets_received"].as_u64() > Some(0), "{network}: {phases:?}");
        assert!(!found["warnings"].to_string().contains("no route is left"), "{network}");
    }
}

/// What cannot be is refused with its place; a model without links refuses their attributes.
#[test]
fn refusals_name_their_place() {
    let folder = folder();
    for (text, network, what, remedy) in [
        ("H0 a rate 1Gb/s\nH0 b\nH1 a\na b\n", "flow", "some links of host `H0` have a rate", "all of them"),
        (
            "H0 a rate 1Gb/s\nH0 b rate 1Gb/s\nH1 a\na b\n",
            "constant-delay:delay=1us",
            "a network without links does not use rates",
            "use a model with links",
        ),
    ] {
        fs::write(folder.path().join("net"), text).unwrap();
        let output = run(folder.path(), &format!("run --topology graph:net --network {network} --load 0.1"));
        let error = String::from_utf8_lossy(&output.stderr);
        let error = error.split_whitespace().filter(|word| *word != "|").collect::<Vec<_>>().join(" ");
        assert!(output.status.code() == Some(2) && error.contains(what) && error.contains(remedy), "{text}: {error}");
    }
}

/// Planes with both engines, by every routing that serves them.
#[test]
fn planes_are_carried_by_every_routing() {
    let folder = folder();
    for (network, cycles) in [
        ("vct:routing=graph:updown", 4_000_u64),
        ("vct:routing=graph:shortest,vcs=6", 4_000),
        ("wormhole:routing=updown", 4_000),
        ("wormhole:routing=shortest,vcs=6", 4_000),
        ("ethernet:forwarding=static", 400_000_000),
        ("ethernet", 400_000_000),
        ("flow:routing=updown", 400_000_000),
        ("myrinet", 400_000_000),
    ] {
        let line = format!("run --network {network} --topology rail:k=2,of=(fattree:2,2) --load 0.2 --cycles {cycles}");
        let found = figures(folder.path(), &line);
        assert_eq!(
            found["digest"],
            figures(folder.path(), &format!("{line} --engine reference"))["digest"],
            "{network}"
        );
        assert_ne!(found["verdict"], "saturated", "{network}");
    }
}
