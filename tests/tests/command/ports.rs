//! Switches of any number of ports, in the models that take them, and what the others say.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;

use serde_json::Value;
use tests::command::run;

/// Models without a router that has a queue for each port.
const MODELS: [&str; 3] = ["flow", "ethernet", "constant-delay:delay=1us"];

fn json(folder: &Path, line: &str) -> Value {
    let output = run(folder, &format!("{line} --format json"));
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Ports without traffic change nothing: what 100 tasks do takes as long on a switch of 200 ports as on larger ones.
#[test]
fn a_switch_has_any_number_of_ports() {
    let folder = tempfile::tempdir().unwrap();
    for network in MODELS {
        let time = |topology: &str| {
            let kernel = "all-to-all-pairwise:tasks=100,bytes=1000";
            let result =
                json(folder.path(), &format!("run --network {network} --topology {topology} --kernel {kernel}"));
            (result["completion_cycles"].as_u64().unwrap(), result["messages"].as_u64().unwrap())
        };
        let known = time("star:200");
        assert_eq!(known.1, 9900);
        for topology in ["star:254", "star:255", "star:256", "star:512", "star:1031"] {
            assert_eq!(time(topology), known, "{network} {topology}");
        }
    }
}

/// 576 GPUs of a node behind one switch, and trees and grids of switches that are wide.
#[test]
fn other_networks_have_wide_switches_too() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("g.txt"), "a b\na endpoints 300\nb endpoints 7\n").unwrap();
    for topology in ["cluster:nodes=2,gpus=576", "cluster:nodes=1,gpus=576", "fattree:300,2", "graph:g.txt"] {
        for network in MODELS {
            let kernel = "all-reduce-ring:tasks=24,bytes=24000";
            let line = format!("run --network {network} --topology {topology} --kernel {kernel}");
            assert_eq!(json(folder.path(), &line)["messages"], 24 * 46, "{line}");
        }
    }
    // The last endpoint of a wide switch is reached, and links are counted by their own ports.
    fs::write(folder.path().join("f.csv"), "src,dst,bytes,start\n0,306,1000,0\n299,300,1000,0\n").unwrap();
    let result = json(folder.path(), "run --network flow --topology graph:g.txt --flows f.csv --link-loads");
    let rows = result["link_packets"].as_array().unwrap();
    let counted: u64 = rows.iter().flat_map(|row| row.as_array().unwrap()).filter_map(Value::as_u64).sum();
    assert_eq!(counted, 2 * 3, "two messages over three links each");
    assert_eq!(rows.iter().map(|row| row.as_array().unwrap().len()).sum::<usize>(), 2 * 308, "no port without a link");
}

#[test]
fn a_platform_of_65_536_hosts_on_one_switch_runs() {
    let folder = tempfile::tempdir().unwrap();
    let platform = "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n\
        <platform version=\"4.1\">\n<cluster id=\"one\" prefix=\"n\" suffix=\"\" radical=\"0-65535\" speed=\"1Gf\" \
        bw=\"125MBps\" lat=\"50us\"/>\n</platform>\n";
    fs::write(folder.path().join("p.xml"), platform).unwrap();
    fs::write(folder.path().join("f.csv"), "src,dst,bytes,start\n0,65535,1250000,0\n65534,7,1250000,0\n").unwrap();
    for (network, topology) in [
        ("flow", "graph:p.xml"),
        ("ethernet:forwarding=static", "graph:p.xml"),
        ("constant-delay:delay=1us", "graph:p.xml"),
        ("constant-delay:delay=1us", "star:65536"),
        ("flow", "star:65536"),
        ("ethernet:forwarding=static", "star:65536"),
    ] {
        let result = json(folder.path(), &format!("run --network {network} --topology {topology} --flows f.csv"));
        assert_eq!(result["nodes"], 65_536, "{network} {topology}");
        assert!(result["packets_generated"].as_u64() > Some(1), "{network} {topology}");
        assert_eq!(result["packets_received"], result["packets_generated"], "{network} {topology}");
        if (network, topology) == ("flow", "graph:p.xml") {
            // 1.25 MB at 125 MB/s take 10 ms, and two links of 50 us.
            let seconds = result["completion_seconds"].as_f64().unwrap();
            assert!((seconds - 10.1e-3).abs() < 1e-8, "{seconds}");
        }
    }
}

#[test]
fn models_with_a_queue_for_each_port_name_those_without() {
    let folder = tempfile::tempdir().unwrap();
    for network in ["vct", "wormhole", "myrinet"] {
        for topology in ["star:512", "star:65536", "fattree:300,2"] {
            let output = run(folder.path(), &format!("run --network {network} --topology {topology} --cycles 10"));
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{network} {topology}: {said}");
            for word in ["links", network, "255", "--network flow", "--network ethernet", "--network constant-delay"] {
                assert!(said.contains(word), "{network} {topology}: {said}");
            }
        }
    }
}
