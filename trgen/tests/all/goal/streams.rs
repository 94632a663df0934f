//! Graphs whose CPUs are streams: the finish of every host agrees with the table of `shared/reference`.

use std::collections::HashMap;
use std::fs;
use std::process::Command;

use trgen::trace::goal::hosts::HostParams;
use trgen::trace::goal::{Graph, ideal, text};

use crate::shared::{shared_file, skipped};

fn parse(text: &str) -> Graph {
    let mut reader = text::Reader::default();
    for line in text.lines() {
        reader.line(line).unwrap();
    }
    reader.finish().unwrap()
}

/// A number with up to two decimals, in hundredths.
fn hundredths(number: &str) -> u64 {
    let (whole, rest) = number.split_once('.').unwrap_or((number, ""));
    format!("{whole}{rest:0<2}").parse().unwrap()
}

#[test]
fn every_row_of_graphs_with_streams_is_met_to_the_unit() {
    let (Some(table), Some(archive)) =
        (shared_file("reference/fabrics-goal-streams.csv"), shared_file("reference/fabrics-goal-streams.tar.xz"))
    else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let unpacked = Command::new("tar").arg("xJf").arg(archive).arg("-C").arg(folder.path()).status();
    if !unpacked.is_ok_and(|status| status.success()) {
        skipped("no tar with xz: graphs with streams are not compared");
        return;
    }
    let mut graphs: HashMap<String, Graph> = HashMap::new();
    let mut rows = 0;
    for line in fs::read_to_string(table).unwrap().lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let [name, latency, overhead, gap, gap_per_byte, overhead_per_byte, rendezvous, finish, per_host] = fields[..]
        else {
            panic!("{line}")
        };
        let graph = graphs
            .entry(name.to_owned())
            .or_insert_with(|| parse(&fs::read_to_string(folder.path().join(format!("{name}.goal"))).unwrap()));
        let params = HostParams {
            overhead: overhead.parse().unwrap(),
            gap: gap.parse().unwrap(),
            gap_per_byte: hundredths(gap_per_byte),
            overhead_per_byte: hundredths(overhead_per_byte),
            rendezvous: rendezvous.parse().unwrap(),
            ticks: 100,
            streams: true,
        };
        let execution = ideal::execute(graph.clone(), params, latency.parse().unwrap(), &mut |_| true);
        assert!(execution.remains.is_nothing(), "{line}: {:?}", execution.remains);
        let ends: Vec<String> = execution.finish.iter().map(|ticks| (ticks / 100).to_string()).collect();
        assert_eq!(ends.join(";"), per_host, "{line}");
        assert_eq!(execution.last().unwrap().1 / 100, finish.parse::<u64>().unwrap(), "{line}");
        rows += 1;
    }
    assert_eq!(rows, 30);
}
