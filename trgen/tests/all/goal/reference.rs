//! Real GOAL graphs: finish times of every host, counts and bytes agree with the tables beside them.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;

use sha2::{Digest, Sha256};
use trgen::trace::goal::hosts::HostParams;
use trgen::trace::goal::{Graph, binary, ideal, text};

fn graph_file(name: &str) -> Option<PathBuf> {
    crate::shared::shared_file(&format!("goal/{name}"))
}

fn parse(text: &str) -> Graph {
    let mut reader = text::Reader::default();
    for line in text.lines() {
        reader.line(line).unwrap();
    }
    reader.finish().unwrap()
}

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// Rows of a table of this folder, by column name.
fn rows(name: &str) -> Option<Vec<HashMap<String, String>>> {
    let text = fs::read_to_string(graph_file(name)?).unwrap();
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let row = |line: &str| names.iter().zip(line.split(',')).map(|(n, v)| ((*n).to_owned(), v.to_owned())).collect();
    Some(lines.map(row).collect())
}

#[test]
fn every_row_of_the_reference_is_met_to_the_unit() {
    let (Some(rows), Some(per_host)) = (rows("expected_finish.csv"), rows("expected_finish_per_host.csv")) else {
        return;
    };
    let mut expected: HashMap<(String, String), Vec<u64>> = HashMap::new();
    for row in per_host {
        let finish = expected.entry((row["workload"].clone(), row["params"].clone())).or_default();
        assert_eq!(row["host"].parse::<usize>().unwrap(), finish.len());
        finish.push(row["finish"].parse().unwrap());
    }
    let mut graphs: HashMap<String, Graph> = HashMap::new();
    for row in &rows {
        let name = &row["workload"];
        let number = |column: &str| row[column].parse::<u64>().unwrap();
        if !graphs.contains_key(name) {
            let bytes = fs::read(graph_file(&format!("{name}.goal")).unwrap()).unwrap();
            assert_eq!(hash(&bytes), row["text_sha256_16"], "{name}");
            let graph = parse(std::str::from_utf8(&bytes).unwrap());
            let counts = graph.counts();
            let found = (graph.ranks().len() as u64, counts.sends, counts.recvs, counts.calcs, counts.dependencies);
            assert_eq!(found, (number("ranks"), number("sends"), number("recvs"), number("calcs"), number("deps")));
            let mut packed = Vec::new();
            binary::write(&graph, &mut packed).unwrap();
            assert_eq!(packed.len() as u64, number("bin_bytes"), "{name}");
            assert_eq!(hash(&packed), row["bin_sha256_16"], "{name}");
            assert_eq!(binary::read(packed.as_slice()).unwrap(), graph, "{name}");
            let mut again = Vec::new();
            text::write(&graph, &mut again).unwrap();
            assert_eq!(parse(std::str::from_utf8(&again).unwrap()), graph, "{name}");
            graphs.insert(name.clone(), graph);
        }
        let params = HostParams {
            overhead: number("o"),
            gap: number("g"),
            gap_per_byte: number("G"),
            overhead_per_byte: number("O"),
            rendezvous: number("S"),
            ticks: 1,
            streams: false,
        };
        let execution = ideal::execute(graphs[name].clone(), params, number("L"), &mut |_| true);
        let at = format!("{name} {}", row["params"]);
        assert!(execution.remains.is_nothing(), "{at}: {:?}", execution.remains);
        assert_eq!(execution.finish, expected[&(name.clone(), row["params"].clone())], "{at}");
        assert_eq!(execution.events, number("events"), "{at}");
        assert_eq!(execution.last(), Some((number("argmax_host") as usize, number("max_finish"))), "{at}");
        assert_eq!(execution.finish.iter().sum::<u64>(), number("sum_finish"), "{at}");
    }
    assert_eq!(rows.len(), 170);
}
