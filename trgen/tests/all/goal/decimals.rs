//! Decimal costs per byte are exact, and tags have 64 bits.

use proptest::prelude::*;
use trgen::trace::goal::hosts::HostParams;
use trgen::trace::goal::{ANY, Graph, ideal, patterns, text};

fn parse(lines: &str) -> Graph {
    let mut reader = text::Reader::default();
    lines.lines().for_each(|line| reader.line(line).unwrap());
    reader.finish().unwrap()
}

fn finish(graph: &Graph, params: HostParams, latency: u64) -> Vec<u64> {
    ideal::execute(graph.clone(), params, latency, &mut |_| true).finish
}

#[test]
fn a_byte_may_take_a_part_of_a_time_unit() {
    let graph = parse(
        "num_ranks 2\nrank 0 {\nsend 101b to 1\n}\nrank 1 {\nl1: recv 101b from 0\nl2: calc 7\nl2 requires l1\n}\n",
    );
    // G = 0.04, O = 0.125: 40 and 125 of 1000 ticks.
    let params = HostParams {
        overhead: 10,
        gap: 3,
        gap_per_byte: 40,
        overhead_per_byte: 125,
        rendezvous: 1 << 20,
        ticks: 1000,
        streams: false,
    };
    // o + 100 O; the message arrives at o + L, and takes o + 100 O there.
    assert_eq!(finish(&graph, params, 50), [22_500, 60_000 + 22_500 + 7_000]);
}

proptest! {
    /// Ticks are merely a smaller unit: the same as a graph in that unit.
    #[test]
    fn ticks_are_another_unit(
        (o, g, per_byte, o_per_byte, latency) in (0..2000_u64, 0..2000_u64, 0..500_u64, 0..500_u64, 0..3000_u64),
        ticks in prop_oneof![Just(1_u64), Just(10), Just(1000)],
        spec in prop_oneof![
            Just("dissemination:ranks=13,bytes=77"), Just("binomialtreebcast:ranks=21,bytes=70000"),
            Just("linear_alltoall:ranks=6,bytes=900"),
        ],
    ) {
        let graph = patterns::parse(spec).unwrap();
        let params = HostParams { overhead: o, gap: g, gap_per_byte: per_byte, overhead_per_byte: o_per_byte, ticks, ..HostParams::default() };
        let whole = HostParams { overhead: o * ticks, gap: g * ticks, ticks: 1, ..params };
        let mut in_ticks = graph.clone();
        in_ticks.scale_work(ticks as f64);
        prop_assert_eq!(finish(&graph, params, latency), finish(&in_ticks, whole, latency * ticks));
    }
}

#[test]
fn tags_of_64_bits_are_told_apart_and_keep_to_themselves() {
    let tags = [0, 4_026_531_839, 4_026_531_840, 4_294_967_294, 4_294_967_296, 1 << 40, u64::MAX - 1];
    // Large tags come before and after 32-bit numbers with which they could be confused.
    for turned in [false, true] {
        let mut order: Vec<u64> = tags.to_vec();
        if turned {
            order.reverse();
        }
        let lines = |word: &str| order.iter().map(|tag| format!("{word} tag {tag}\n")).collect::<String>();
        let graph = parse(&format!(
            "num_ranks 2\nrank 0 {{\n{}}}\nrank 1 {{\n{}}}\n",
            lines("send 8b to 1"),
            lines("recv 8b from 0")
        ));
        let numbers = |rank: usize| graph.ranks()[rank].nodes().iter().map(|node| node.tag).collect::<Vec<_>>();
        assert_eq!(numbers(0), numbers(1));
        let mut all = numbers(0);
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), tags.len());
        assert!(!all.contains(&ANY));
        let execution = ideal::execute(graph, HostParams::default(), 5, &mut |_| true);
        assert!(execution.remains.is_nothing());
    }
    // If all tags fit, they keep their values; -1 means any, in every width.
    let graph = parse(
        "num_ranks 1\nrank 0 {\nsend 1b to 0 tag 4294967294\nrecv 1b from 0 tag -1\nrecv 1b from 0 tag 4294967295\nrecv 1b from 0 tag 18446744073709551615\n}\n",
    );
    assert_eq!(
        graph.ranks()[0].nodes().iter().map(|node| node.tag).collect::<Vec<_>>(),
        [4_294_967_294, ANY, ANY, ANY]
    );
}
