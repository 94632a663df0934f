//! Patterns as graphs: the same operations, finish times and events as the reference generator and simulator.

use std::time::Instant;

use sha2::{Digest, Sha256};
use trgen::trace::goal::hosts::HostParams;
use trgen::trace::goal::{Graph, binary, ideal, patterns, text};

fn table(name: &str) -> Option<Vec<Vec<String>>> {
    let text = std::fs::read_to_string(crate::shared::shared_file(&format!("goal/{name}"))?).unwrap();
    Some(text.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect())
}

fn packed(graph: &Graph) -> Vec<u8> {
    let mut bytes = Vec::new();
    binary::write(graph, &mut bytes).unwrap();
    bytes
}

#[test]
fn generated_patterns_have_the_bytes_of_the_reference() {
    let Some(rows) = table("expected_finish.csv") else { return };
    let mut compared = std::collections::BTreeSet::new();
    for row in rows {
        let words: Vec<&str> = row[0].split('_').collect();
        let at = words.iter().position(|word| word.parse::<u32>().is_ok());
        let Some(at) = at else { continue };
        let name = words[..at].join("_");
        let Some(ranks) = words.get(at) else { continue };
        let known = patterns::components().find(|component| component.name == name);
        let Some(component) = known else { continue };
        let mut spec = format!("{name}:ranks={ranks}");
        if let (Some(bytes), true) = (words.get(at + 1), component.parameters.iter().any(|p| p.name == "bytes")) {
            spec.push_str(&format!(",bytes={bytes}"));
        }
        if let Some(segment) = words.get(at + 2).and_then(|word| word.strip_prefix('s')) {
            spec.push_str(&format!(",segment={segment}"));
        }
        let graph = patterns::parse(&spec).unwrap();
        let hash: String = Sha256::digest(packed(&graph)).iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hash, row[9], "{spec}");
        let mut written = Vec::new();
        text::write(&graph, &mut written).unwrap();
        assert!(written.starts_with(b"num_ranks"));
        compared.insert(row[0].clone());
    }
    assert!(compared.len() >= 20, "{compared:?}");
}

#[test]
fn large_patterns_finish_when_the_reference_says() {
    let Some(rows) = table("large_generated.csv") else { return };
    for row in rows {
        let mut spec = format!("{}:ranks={},bytes={}", row[0], row[1], row[2]);
        if let Some(segment) = row[3].strip_prefix("--segmentsize ") {
            spec.push_str(&format!(",segment={segment}"));
        }
        let number = |column: usize| row[column].parse::<u64>().unwrap();
        let graph = patterns::parse(&spec).unwrap();
        assert_eq!(packed(&graph).len() as u64, number(11), "{spec}");
        let params = HostParams {
            overhead: number(5),
            gap: number(6),
            gap_per_byte: number(7),
            overhead_per_byte: number(8),
            rendezvous: number(9),
            ticks: 1,
            streams: false,
        };
        let begin = Instant::now();
        let execution = ideal::execute(graph, params, number(4), &mut |_| true);
        let seconds = begin.elapsed().as_secs_f64();
        eprintln!(
            "{spec}: {} events, {seconds:.3} s, {:.1} M/s",
            execution.events,
            execution.events as f64 / seconds / 1e6
        );
        assert!(execution.remains.is_nothing(), "{spec}: {:?}", execution.remains);
        assert_eq!(
            (execution.events, execution.last()),
            (number(13), Some((number(14) as usize, number(15)))),
            "{spec}"
        );
    }
}
