//! Small files that claim large sizes: each is refused, in seconds and in little memory, with its place.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::time::{Duration, Instant};

use tests::pages::shell;

/// \[kB\] Address space of the command, which needs a tenth of it.
const MEMORY: u64 = 2_000_000;

/// Longest time, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Name of the file, its content, and the command that reads it.
const FILES: &[(&str, &str, &str)] = &[
    (
        "a.topo",
        "Nodes 16\nTiers 3\nPodsize 4\nTier 0\nDownlink_speed_Gbps 100\nRadix_Up 2\nRadix_Down 2\nDownlink_Latency_ns 1000\nTier 1\nDownlink_speed_Gbps 100\nRadix_Up 4294967294\nRadix_Down 2\nDownlink_Latency_ns 1000\nTier 2\nDownlink_speed_Gbps 400\nRadix_Down 4\nDownlink_Latency_ns 2000\n",
        "fsin topology graph:a.topo",
    ),
    (
        "b.topo",
        "Nodes 4000000000\nTiers 2\nPodsize 4000000000\nTier 0\nDownlink_speed_Gbps 100\nRadix_Up 1\nRadix_Down 4000000000\nDownlink_Latency_ns 1000\nTier 1\nDownlink_speed_Gbps 100\nRadix_Down 1\nDownlink_Latency_ns 1000\n",
        "fsin topology graph:b.topo",
    ),
    (
        "b.cm",
        "Nodes 4000000000\nConnections 1\n0->3999999999 id 1 start 0 size 1000\n",
        "fsin run --flows b.cm --topology torus:4x4",
    ),
    ("c.txt", "4000000000 1 3999999999\n0\n0 1 100Gbps 1us 0\n", "fsin topology graph:c.txt"),
    ("d.dot", "graph { a -- b [count=4000000000] }", "fsin topology graph:d.dot"),
    ("e.dot", "graph { a [endpoints=4000000000]; a -- b }", "fsin topology graph:e.dot"),
    (
        "f.xml",
        "<?xml version='1.0'?>\n<platform version='4.1'><cluster id='c' prefix='h' suffix='' radical='0-4000000000' speed='1Gf' bw='1GBps' lat='1us'/></platform>\n",
        "fsin topology graph:f.xml",
    ),
    (
        "g.xml",
        "<?xml version='1.0'?>\n<platform version='4.1'><cluster id='c' prefix='h' suffix='' radical='0-63' speed='1Gf' bw='1GBps' lat='1us' topology='TORUS' topo_parameters='2000000000,2000000000'/></platform>\n",
        "fsin topology graph:g.xml",
    ),
    ("h.csv", "src,dst,bytes,start\n0,4000000000,1000,0\n", "fsin run --flows h.csv --topology torus:4x4"),
    (
        "i.csv",
        "src,dst,bytes,start\n0,1,18446744073709551615,0\n",
        "fsin run --flows i.csv --topology torus:4x4 --max-cycles 1000",
    ),
    ("j.goal", "num_ranks 4000000000\nrank 0 {\nl1: calc 5\n}\n", "fsin run --trace j.goal --topology torus:4x4"),
    ("k.trc", "s 0 4000000000 64 0\nr 4000000000 0 64 0\n", "fsin run --trace k.trc --topology torus:4x4"),
    (
        "l.toml",
        "[[job]]\nkernel = 'all-to-all:tasks=4,bytes=64'\ncount = 4000000000\n",
        "fsin run --job-mix l.toml --topology torus:4x4",
    ),
    ("m.json", "{\"nodes\": [{\"id\": 0, \"endpoints\": 4000000000}], \"links\": []}", "fsin topology graph:m.json"),
    ("n.cfg", "topology = torus;\nk = 100000;\nn = 3;\n", "fsin run n.cfg --cycles 10"),
    (
        "o.txt",
        "link:0-1@18446744073709551615\n",
        "fsin run --topology torus:4x4 --fail o.txt --cycles 10 --routing direct:updown",
    ),
    ("p.et", "\u{ff}\u{ff}\u{ff}\u{ff}\u{7f}", "fsin run --trace p.et --topology torus:4x4"),
];

/// Specifications are input too.
const SPECS: &[&str] = &[
    "fsin topology torus:4000000000x4000000000",
    "fsin topology hypercube:40",
    "fsin topology fattree:1000,20",
    "fsin topology slimfly:q=999999937,p=1",
    "fsin topology dragonfly:p=4000000,a=4000000,h=4000000",
    "fsin run --kernel all-to-all:tasks=4000000000,bytes=1 --topology torus:4x4",
    "fsin run --traffic 'matrix(none.txt)' --topology torus:4x4",
    "fsin run --topology torus:4x4 --injection-queue 4000000000 --cycles 10",
    "fsin run --topology torus:4x4 --queue 4000000000 --cycles 10",
    "fsin run --topology torus:4x4 --link-delay 4000000000 --cycles 10",
    "fsin run --topology torus:4x4 --samples 100000 --sample-size 1 --cycles 10",
    "fsin run --network ethernet --topology star:4 --port-queue 4000000000 --cycles 10",
    "fsin run --network myrinet --topology torus:4x4 --slack 4000000000 --cycles 10",
];

#[test]
fn small_files_that_claim_large_sizes_take_little_memory() {
    let folder = tempfile::tempdir().unwrap();
    for (name, content, _) in FILES {
        fs::write(folder.path().join(name), content).unwrap();
    }
    let mut wrong = Vec::new();
    for line in FILES.iter().map(|(.., line)| *line).chain(SPECS.iter().copied()) {
        let begun = Instant::now();
        let quiet = if line.starts_with("fsin run") { "-q" } else { "" };
        let output =
            shell(folder.path(), &format!("ulimit -v {MEMORY}; timeout {} {line} {quiet} 2>&1", PATIENCE.as_secs()));
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        // What is possible is done; what is not is refused.
        let ends = matches!(output.status.code(), Some(0 | 2 | 3));
        if !ends || said.contains("panicked") || said.contains("memory allocation") {
            wrong.push(format!(
                "{line}: {:?} after {:?}: {}",
                output.status.code(),
                begun.elapsed(),
                said.chars().take(200).collect::<String>()
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
