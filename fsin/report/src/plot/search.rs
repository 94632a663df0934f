//! Pictures of searches for the saturation load: the results at the loads that were tried.

use std::collections::BTreeMap;

use fsin_experiment::result::RunResult;
use fsin_experiment::sweep::{Collected, Curve, Curves, Row, Saturations, Search, Spot};
use serde_json::{Map, Value};

use super::transient::renamed;
use super::{Picture, Style, pictures};

/// Accepted load and latency against the loads that were tried, a curve for each network: `accepted-search`,
/// `latency-search`.
#[must_use]
pub fn searches(found: &Saturations, style: &Style) -> Vec<Picture> {
    let mut collected = Collected::default();
    let curves: Vec<Curve> = found.searches.iter().map(|search| curve(search, &mut collected.rows)).collect();
    let curves = Curves {
        axis: "load".to_owned(),
        numeric: true,
        is_along: true,
        curves,
        each: Vec::new(),
        only: String::new(),
        names: Vec::new(),
        axes: Vec::new(),
    };
    renamed(pictures(&curves, &collected, style), "search")
}

/// The curve of a search; its runs are added to `rows`.
fn curve(search: &Search, rows: &mut Vec<Row>) -> Curve {
    // By load, all seeds together. Loads are positive, so that their bits are in order.
    let mut spots: BTreeMap<u64, Spot> = BTreeMap::new();
    for (seed, probe) in search.seeds.iter().flat_map(|seed| seed.probes.iter().map(move |probe| (seed, probe))) {
        let Some(load) = probe.get("load").and_then(Value::as_f64) else { continue };
        let Some(result) = result(probe, &seed.experiment) else { continue };
        let spot = spots.entry(load.to_bits()).or_insert_with(|| Spot {
            x: load,
            word: load.to_string(),
            rows: Vec::new(),
            saturated: false,
            undecided: false,
        });
        spot.saturated |= result.saturated == Some(true);
        spot.undecided |= result.verdict.as_deref() == Some("undecided");
        spot.rows.push(rows.len());
        rows.push(Row { index: rows.len(), result });
    }
    let settings = search.settings.iter().map(|(key, value)| {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        (key.clone(), value)
    });
    Curve {
        label: search.label(),
        settings: settings.collect(),
        spots: spots.into_values().collect(),
        is_baseline: false,
    }
}

/// Converts the figures of a load that was tried into the result of a run with these settings.
fn result(probe: &Map<String, Value>, experiment: &str) -> Option<RunResult> {
    let mut whole = probe.clone();
    let load = whole.remove("load")?;
    let settings = experiment.lines().filter_map(|line| line.split_once(" = "));
    let mut settings: Map<String, Value> =
        settings.map(|(key, value)| (key.to_owned(), Value::from(value.trim_matches('"')))).collect();
    settings.insert("load".to_owned(), load);
    whole.insert("experiment".to_owned(), Value::Object(settings));
    serde_json::from_value(Value::Object(whole)).ok()
}
