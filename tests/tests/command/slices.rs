//! Slices of pods: their names, and the figures of the tori that they mean.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;
use tests::command::run;
use tests::shared::shared_file;

fn topology(spec: &str) -> Value {
    let output = run(Path::new("."), &format!("topology {spec} --format json"));
    assert!(output.status.success(), "{spec}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn slices_have_the_figures_of_the_table() {
    let Some(table) = shared_file("reference/fabrics-slices.csv") else { return };
    let mut rows = 0;
    for row in csv::Reader::from_path(table).unwrap().deserialize() {
        let row: BTreeMap<String, String> = row.unwrap();
        let slice = topology(&format!("tpu:{}", row["slice"]));
        assert_eq!(slice["topology"], row["spec"]);
        for (column, figure) in [
            ("nodes", "nodes"),
            ("links_one_way", "links"),
            ("diameter_hops", "diameter_hops"),
            ("hops_all_pairs", "hops_all_pairs"),
            ("pairs", "pairs"),
        ] {
            assert_eq!(slice[figure].to_string(), row[column], "{row:?}");
        }
        for (column, figure, digits) in [
            ("distance_mean_hops", "distance_mean_hops", 6),
            ("link_load_mean", "all_to_all_link_load_mean", 4),
            ("uniform_load_bound", "uniform_load_bound_phits_per_node_cycle", 6),
        ] {
            let found = slice[figure].as_f64().unwrap();
            assert_eq!(format!("{found:.digits$}"), row[column], "{column}: {row:?}");
        }
        rows += 1;
    }
    assert!(rows > 10, "{rows}");
}

#[test]
fn slices_that_do_not_twist_are_refused() {
    for spec in ["tpu:4x4x12_twisted", "tpu:8x4_twisted", "tpu:6x12_twisted", "tpu:4x4x4_twisted", "tpu:4_twisted"] {
        let output = run(Path::new("."), &format!("topology {spec}"));
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{spec}: {words}");
        assert!(words.contains("does not twist") && words.contains("n x n x 2n"), "{spec}: {words}");
    }
}
