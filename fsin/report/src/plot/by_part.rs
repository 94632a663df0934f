//! Energy by parts of the network: links of each class, routers, hosts.

use super::transient::renamed;
use super::{MOST_CURVES, Picture, Scale, Style, pictures};
use fsin_experiment::result::{EnergyPart, RunResult};
use fsin_experiment::sweep::{Collected, Curve, Curves, Row, Spot};

/// The axis of these pictures, in place of a setting.
pub(super) const PART: &str = "part";

/// Pictures of power, and of the energy of programs, by parts of the network, bars for each point of the selected
/// curves: means over seeds, with the ranges of the table. Nothing for runs without energy, for models of energy with a
/// single part, and for more points than can be distinguished.
#[must_use]
pub fn by_part(curves: &Curves, collected: &Collected, style: &Style) -> Vec<Picture> {
    let points = curves.curves.iter().map(|curve| curve.spots.len()).sum::<usize>();
    if points > MOST_CURVES {
        return Vec::new();
    }
    let mut over_parts =
        Curves { axis: PART.to_owned(), numeric: false, is_along: true, curves: Vec::new(), ..curves.clone() };
    let parts = |row: usize| collected.rows[row].result.energy.as_ref().map_or(&[][..], |energy| &energy.parts);
    // Networks have different classes of links: each word in the order in which it comes first, links before routers.
    let mut words: Vec<String> = Vec::new();
    let runs = || curves.curves.iter().flat_map(|curve| &curve.spots).flat_map(|spot| &spot.rows);
    for part in runs().flat_map(|&row| parts(row)) {
        let word = word(part);
        if !words.contains(&word) {
            words.push(word);
        }
    }
    words.sort_by_key(|word| ["links", "routers", "hosts"].iter().position(|kind| word.starts_with(kind)));
    if words.len() < 2 {
        return Vec::new();
    }
    let mut rows: Vec<Row> = Vec::new();
    for curve in &curves.curves {
        for spot in &curve.spots {
            let mut settings = curve.settings.clone();
            if points > 1 {
                settings.push((curves.axis.clone(), spot.word.clone()));
            }
            let mut spots = Vec::new();
            for (number, wanted) in words.iter().enumerate() {
                let from = rows.len();
                for &row in &spot.rows {
                    let Row { index, result } = &collected.rows[row];
                    let part = parts(row).iter().find(|part| word(part) == *wanted);
                    rows.extend(part.map(|part| Row { index: *index, result: of_part(part, result) }));
                }
                if rows.len() > from {
                    let (x, rows) = (number as f64, (from..rows.len()).collect());
                    spots.push(Spot { x, word: wanted.clone(), rows, saturated: false, undecided: false });
                }
            }
            let label = over_parts.legend(&settings);
            over_parts.curves.push(Curve { label, settings, spots, is_baseline: curve.is_baseline });
        }
    }
    let collected = Collected { rows, ..Collected::default() };
    // Parts add up, and the small ones matter little: bars from 0, however much they differ.
    let scale = if style.scale == Scale::Auto { Scale::Linear } else { style.scale };
    renamed(pictures(&over_parts, &collected, &Style { scale, ..style.clone() }), "by-part")
}

/// The name of a part: `links host`, `routers`, `switch leakage`.
fn word(part: &EnergyPart) -> String {
    // Routers and hosts are of one class, of that name.
    let is_plain = part.class.is_empty() || part.part.strip_suffix('s') == Some(&part.class);
    let name = part.part.replace('_', " ");
    if is_plain { name } else { format!("{name} {}", part.class) }
}

/// The figures of a part of the network in a result of its own.
fn of_part(part: &EnergyPart, of: &RunResult) -> RunResult {
    let mut result = RunResult::default();
    result.energy_joules = Some(part.joules);
    result.energy_joules_low = Some(part.joules_low);
    result.energy_joules_high = Some(part.joules_high);
    result.energy_watts = Some(part.watts);
    result.experiment.clone_from(&of.experiment);
    result.nodes = of.nodes;
    result
}
