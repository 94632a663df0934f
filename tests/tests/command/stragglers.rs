//! A slow rank, a late rank, a failed link: network models give designs the same order, and times that differ by more
//! than a fifth only where the book says why (`docs/book/src/howto/stragglers.md`).

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::Value;
use tests::command::run;

/// Two rounds of 50 us of computing and an all-reduce of 200 kB, 16 ranks; the late one begins 75 us later.
fn steps(late: Option<usize>) -> String {
    let mut text = String::new();
    (0..16).for_each(|rank| writeln!(text, "{rank} init").unwrap());
    for round in 0..2 {
        for rank in 0..16 {
            let flops = 250_000 + if round == 0 && late == Some(rank) { 375_000 } else { 0 };
            writeln!(text, "{rank} compute {flops}").unwrap();
        }
        (0..16).for_each(|rank| writeln!(text, "{rank} allreduce 25000 0 0").unwrap());
    }
    (0..16).for_each(|rank| writeln!(text, "{rank} finalize").unwrap());
    text
}

/// \[us\] The time of a run.
fn time(folder: &Path, line: &str) -> f64 {
    let output = run(folder, &format!("run {line} --format json -q"));
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    1e6 * found["completion_seconds"].as_f64().unwrap()
}

const DESIGNS: [&str; 2] = ["ring", "recursive-doubling"];

/// Networks in which a message takes 400 ns beside its bytes at 100 Gb/s: without paths, and with one switch.
const ONE_SWITCH: [(&str, &str); 4] = [
    ("constant-delay", "--network constant-delay:delay=400ns,rate=100Gb/s"),
    ("vct", "--topology star:16 --bandwidth 100Gb/s --packet 256 --link-delay 625"),
    (
        "wormhole",
        "--network wormhole --topology star:16 --bandwidth 100Gb/s --packet 64 --link-delay 625 --buffer 2048",
    ),
    ("ethernet", "--network ethernet --topology star:16 --link-rate 100Gb/s --propagation 200ns --frames roce"),
];

/// Networks of several switches, with routings that go round dead links.
const SEVERAL: [(&str, &str); 3] = [
    ("vct", "--topology fattree:4,2 --routing graph:shortest --bandwidth 100Gb/s --packet 256 --link-delay 625"),
    (
        "wormhole",
        "--network wormhole --topology fattree:4,2 --routing shortest --vcs 4 --bandwidth 100Gb/s --packet 64 --link-delay 625 \
         --buffer 1024",
    ),
    (
        "ethernet",
        "--network ethernet --forwarding static --ecmp true --topology fattree:4,2 --link-rate 100Gb/s --propagation 200ns \
         --frames roce",
    ),
];

#[test]
fn slow_and_late_ranks_cost_the_same_in_all_models() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("step.ti"), steps(None)).unwrap();
    fs::write(folder.join("late.ti"), steps(Some(5))).unwrap();
    let cases = ["--trace step.ti", "--trace step.ti --slow rank:3x1.5", "--trace late.ti"];
    // By model, design and case.
    let times = ONE_SWITCH.map(|(model, network)| {
        let of_design =
            |design| cases.map(|case| time(folder, &format!("{case} {network} --collectives allreduce={design}")));
        (model, DESIGNS.map(of_design))
    });
    let (_, expected) = times[0];
    for (model, [ring, doubling]) in times {
        for (design, times) in [("ring", ring), ("recursive doubling", doubling)] {
            // Which of the two costs more depends on the links of receivers, which the page explains.
            assert!(times[1..].iter().all(|&time| time > times[0]), "{model} {design}: in step, slow, late {times:?}");
        }
        for (case, (ring, doubling)) in cases.iter().zip(ring.iter().zip(doubling)) {
            assert!(*ring < doubling, "{model}, {case}: {ring} {doubling}");
        }
        for (times, expected) in [(ring, expected[0]), (doubling, expected[1])] {
            for (time, expected) in times.iter().zip(expected) {
                assert!((time / expected - 1.0).abs() < 0.2, "{model}: {time}, and {expected} without paths");
            }
        }
    }
    // Where ranks are out of step, two messages meet at a receiver, whose link constant delay does not limit: the page says it.
    let (_, [_, vct]) = times[1];
    assert!(vct[1] > 1.1 * expected[1][1], "{vct:?} {expected:?}");
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/book/src/howto/stragglers.md");
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains("the link of the receiver") && page.contains("one path for each connection"));
}

#[test]
fn a_failed_link_keeps_the_order_of_designs_in_all_models_with_links() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("step.ti"), steps(None)).unwrap();
    for (model, network) in SEVERAL {
        let of = |design: &str, fail: &str| {
            time(folder, &format!("--trace step.ti {network} --collectives allreduce={design} {fail}"))
        };
        let [ring, doubling] = DESIGNS.map(|design| [of(design, ""), of(design, "--fail link:16-20@0")]);
        assert!(ring[1] >= ring[0] && doubling[1] > doubling[0], "{model}: {ring:?} {doubling:?}");
        assert!(ring[0] < doubling[0] && ring[1] < doubling[1], "{model}: {ring:?} {doubling:?}");
        // What a dead link costs is a few per cent in each, of one of four links of a leaf.
        assert!(doubling[1] < 1.2 * doubling[0], "{model}: {doubling:?}");
    }
}
