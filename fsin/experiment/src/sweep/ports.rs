//! Whether designs that are compared take packets from their networks at the same rate.

use super::collect::Collected;
use crate::result::RunResult;

impl Collected {
    /// A remark on results whose nodes consume packets at unequal rates; `None` where all rates are equal. Hot spots,
    /// gathers and all-to-all exchanges measure that rate, and not the networks.
    #[must_use]
    pub fn unequal_ports(&self) -> Option<String> {
        unequal(self.rows.iter().map(|row| &row.result))
    }
}

/// The remark on results with unequal rates.
fn unequal<'a>(results: impl Iterator<Item = &'a RunResult>) -> Option<String> {
    // By rate: the first topology that has it. Rates by another clock cannot be compared with those of the first.
    let mut rates: Vec<(f64, &str)> = Vec::new();
    let mut unit = None;
    for result in results {
        let Some(rate) = result.node_ejection_phits_per_cycle else { continue };
        if *unit.get_or_insert(result.load_unit()) != result.load_unit() {
            continue;
        }
        if !rates.iter().any(|&(known, _)| known == rate) {
            let topology = result.experiment.get("topology").and_then(|value| value.as_str());
            rates.push((rate, topology.unwrap_or("others")));
        }
    }
    (rates.len() > 1).then(|| {
        let each: Vec<_> = rates.iter().map(|(rate, topology)| format!("{rate:.4} in {topology}")).collect();
        format!(
            "nodes consume packets at unequal rates: {} phits/cycle. Hot spots, gathers and all-to-all exchanges compare \
             these ports rather than the networks; consumption single gives every node one port",
            each.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn unequal_ports_are_named_and_equal_ones_are_not() {
        let result = |topology: &str, rate| {
            let mut result = RunResult::default();
            result.node_ejection_phits_per_cycle = rate;
            result.experiment.insert("topology".to_owned(), json!(topology));
            result
        };
        let (torus, tree) = (result("torus:8x8", Some(4.0)), result("fattree:4,3", Some(1.0)));
        let said = unequal([&torus, &tree, &torus].into_iter()).unwrap();
        assert!(said.contains("4.0000 in torus:8x8, 1.0000 in fattree:4,3 phits/cycle"), "{said}");
        let mut ethernet = result("star:4", Some(1e-4));
        ethernet.experiment.insert("network".to_owned(), json!("ethernet"));
        assert_eq!(unequal([&tree, &ethernet].into_iter()), None, "a cycle is a picosecond there");
        assert_eq!(unequal([&tree, &result("torus:8x8", Some(1.0)), &result("zero", None)].into_iter()), None);
    }
}
