//! `fsin run --pcap`: captures of frames, as the tools of network engineers read them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::process::Command;

use pcap_file::pcapng::{Block, PcapNgReader};
use tests::command::run;
use tests::shared::skipped;

/// A message of one byte there, and one of 3000 bytes back: frames of 1497, 1497 and 6 bytes.
const GRAPH: &str = "num_ranks 2\nrank 0 {\nl1: send 1b to 1 tag 1\nl2: recv 3000b from 1 tag 2\n}\nrank 1 {\nl1: recv 1b from 0 \
                     tag 1\nl2: send 3000b to 0 tag 2\nl2 requires l1\n}\n";
const NETWORK: &str = "digraph { H0 -> S0; S0 -> H0; H1 -> S0; S0 -> H1; }\n";
const LINE: &str =
    "run --network ethernet:rate=1Gb/s,delay=1ns --topology graph:net.dot --trace t.goal --hosts o=0,g=0";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("t.goal"), GRAPH).unwrap();
    fs::write(folder.path().join("net.dot"), NETWORK).unwrap();
    folder
}

/// \[ns\] A byte takes 577 ns over each of two links of 1 Gb/s and 1 ns, a full frame 12 209 ns.
const FIRST: [(u64, &str); 4] = [(0, "host 0"), (577, "switch 2 port 0"), (577, "switch 2 port 1"), (1_154, "host 1")];

#[test]
fn frames_are_kept_with_their_places_addresses_lengths_and_times() {
    let folder = folder();
    for engine in ["fast", "reference"] {
        let file = format!("{engine}.pcapng");
        let line = format!("{LINE} --engine {engine} --pcap {file} --pcap-at host:0,host:1,switch:2");
        let output = run(folder.path(), &line);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let bytes = fs::read(folder.path().join(&file)).unwrap();
        let mut reader = PcapNgReader::new(&bytes[..]).unwrap();
        let (mut names, mut frames) = (Vec::new(), Vec::new());
        while let Some(block) = reader.next_block() {
            match block.unwrap() {
                Block::InterfaceDescription(about) => names.push(format!("{:?}", about.options)),
                Block::EnhancedPacket(packet) => {
                    let place = names[packet.interface_id as usize].clone();
                    let at = packet.timestamp.as_nanos() as u64;
                    frames.push((at, place, packet.data.into_owned(), packet.original_len));
                }
                _ => {}
            }
        }
        assert_eq!(names.len(), 4, "a port each");
        // Four times each frame: sent and received on two links.
        assert_eq!(frames.len(), 4 * 4);
        for ((at, place), frame) in FIRST.iter().zip(&frames) {
            assert_eq!(*at, frame.0);
            assert!(frame.1.contains(place), "{place}: {}", frame.1);
            assert_eq!(frame.2, [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 4, 0, 0, 3]);
            assert_eq!(frame.3, 60, "the least frame, without check sequence");
        }
        assert!(frames.windows(2).all(|pair| pair[0].0 <= pair[1].0), "in the order of times");
        let lengths: Vec<u32> = frames.iter().filter(|frame| frame.1.contains("host 0")).map(|frame| frame.3).collect();
        assert_eq!(lengths, [60, 1514, 1514, 60]);
    }
}

#[test]
fn wireshark_reads_them() {
    let folder = folder();
    let output = run(folder.path(), &format!("{LINE} --pcap c.pcapng"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let fields = ["frame.time_epoch", "frame.interface_name", "eth.dst", "eth.src", "eth.len", "frame.len"];
    let mut tshark = Command::new("tshark");
    tshark.args(["-r", "c.pcapng", "-T", "fields"]).args(fields.iter().flat_map(|field| ["-e", field]));
    let Ok(output) = tshark.current_dir(folder.path()).output() else { return skipped("tshark is not installed") };
    let text = String::from_utf8(output.stdout).unwrap();
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(rows.len(), 2 * 4, "without --pcap-at, at all hosts: {text}");
    let (zero, one) = ("02:00:00:00:00:00", "02:00:00:00:00:01");
    assert_eq!(rows[0], ["0.000000000", "host 0", one, zero, "4", "60"]);
    assert_eq!(rows[1], ["0.000001154", "host 1", one, zero, "4", "60"]);
    assert_eq!(rows[2], ["0.000001154", "host 1", zero, one, "1500", "1514"]);
    assert_eq!(rows.last().unwrap()[4..], ["9", "60"], "6 bytes and the LLC header");
}

#[test]
fn what_cannot_be_captured_is_refused_and_leaves_no_file() {
    let folder = folder();
    for (words, told) in [
        ("run --topology torus:4x4 --pcap p", "no form on a wire"),
        ("run --network zero --topology torus:4x4 --pcap p", "no form on a wire"),
        ("run --network loggops --trace t.goal --pcap p", "no form on a wire"),
        (&format!("{LINE} --pcap p --pcap-at switch:1"), "there is no switch 1"),
        (&format!("{LINE} --pcap p --pcap-at host:2"), "there is no host 2"),
        (&format!("{LINE} --pcap p --pcap-at port:2"), "write host:3 or switch:16"),
        (&format!("{LINE} --pcap-at host:1"), "--pcap"),
        (&format!("{LINE} --pcap none/p"), "folder that can be written to"),
        ("sweep --network ethernet --topology torus:4x4 --load 0.1,0.2 -o r --pcap p", "--pcap"),
    ] {
        let output = run(folder.path(), words);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words}: {said}");
        assert!(said.contains(told), "{words}: {said}");
        assert!(!folder.path().join("p").exists(), "{words}");
    }
    // What is there is kept.
    fs::write(folder.path().join("mine"), "kept").unwrap();
    let output = run(folder.path(), &format!("{LINE} --pcap mine"));
    assert!(output.status.code() == Some(2) && fs::read_to_string(folder.path().join("mine")).unwrap() == "kept");
}
