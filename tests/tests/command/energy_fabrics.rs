//! The example of joules of a training step: its kept figures are those of the formulas, and its page has them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::fs;

use tests::shared::workspace;

type Row = BTreeMap<String, String>;

/// \[W\] For each Gb/s: a link in copper, one in optics, one of a dimension of a slice (a quarter in optics), a port of a
/// switch; \[J/bit\] of a host.
const COPPER: f64 = 0.25e-3;
const OPTICS: f64 = 30e-3;
const MIXED: f64 = 7.69e-3;
const PORT: f64 = 15.6e-3;
const HOST: f64 = 5.5e-12;

/// \[Gb/s\]
const RATE: f64 = 400.0;

fn rows() -> Vec<Row> {
    let path = workspace().join("examples/energy-fabrics/expected.csv");
    csv::Reader::from_path(path).unwrap().deserialize().map(Result::unwrap).collect()
}

/// Links in each direction and ports of switches, counted by hand: a tree of 32 switches with 32 ports down and 32 up, and
/// 32 above them with 32 ports in use; six links of each of 1024 nodes; 33 groups of 8 routers with 4 hosts, 7 local and 4
/// global links. All bits are sent once and received once.
#[test]
fn powers_are_those_of_links_ports_and_bits() {
    let rows = rows();
    assert_eq!(rows.len(), 6);
    // 8 ranks of a group in turn, 128 in turn: 4 layers with two all-reduces of 16 KiB and one of 64 KiB of gradients.
    let ring = |ranks: f64, bytes: f64| 2.0 * (ranks - 1.0) / ranks * bytes;
    let sent = 1024.0 * 8.0 * 4.0 * (2.0 * ring(8.0, 16.0 * 1024.0) + ring(128.0, 64.0 * 1024.0));
    for row in rows {
        let number = |name: &str| row[name].parse::<f64>().unwrap();
        let is_mixed = row["experiment.energy"].ends_with("media.toml");
        let (copper, mixed, optics, ports) = match &row["experiment.topology"][..4] {
            "fatt" => (2.0 * 1024.0, 0.0, 2.0 * 1024.0, 32.0 * 64.0 + 32.0 * 32.0),
            "tpu:" => (0.0, 6.0 * 1024.0, 0.0, 6.0 * 1024.0),
            _ if is_mixed => (2.0 * 1056.0 + 264.0 * 7.0, 0.0, 264.0 * 4.0, 264.0 * 15.0),
            _ => (2.0 * 1056.0, 0.0, 264.0 * 11.0, 264.0 * 15.0),
        };
        let of_mixed = if is_mixed { MIXED } else { OPTICS };
        let watts = RATE * (copper * COPPER + mixed * of_mixed + optics * OPTICS + ports * PORT);
        let joules = watts * number("completion_seconds") + 2.0 * sent * HOST;
        let found = number("energy_joules");
        assert!((found / joules - 1.0).abs() < 1e-3, "{}: {found}, by hand {joules}", row["experiment.topology"]);
        assert!(number("energy_joules_low") < found && found < number("energy_joules_high"));
    }
}

/// Numbers in the table of the page are those that are kept.
#[test]
fn the_page_has_the_figures_that_are_kept() {
    let page = fs::read_to_string(workspace().join("examples/energy-fabrics/README.md")).unwrap();
    let rows = rows();
    let figures = |row: &Row| {
        let number = |name: &str| row[name].parse::<f64>().unwrap();
        let joules = ["energy_joules", "energy_joules_low", "energy_joules_high"].map(number);
        [vec![1e6 * number("completion_seconds"), 1e-3 * number("energy_watts")], joules.to_vec()].concat()
    };
    let kept: Vec<f64> = rows.iter().flat_map(figures).collect();
    let mut count = 0;
    for line in page.lines().filter(|line| line.starts_with("| `") && line.ends_with(" |")) {
        let words = line.split(['|', ' ']).filter(|word| word.contains('.') && word.parse::<f64>().is_ok());
        for word in words {
            let digits = word.split_once('.').map_or(0, |(_, digits)| digits.len());
            assert!(kept.iter().any(|value| format!("{value:.digits$}") == word), "{word}");
            count += 1;
        }
    }
    assert_eq!(count, 3 * 9, "a time and four figures under each table");
}
