//! The stop rule: a curve need not go on for ever after saturation.

use std::collections::BTreeMap;

use super::plan::Plan;

/// Which points the stop rule leaves out, given what is known of each: `None` for a point without result, else whether it
/// is saturated.
///
/// Points that differ in load and seed alone form a curve. It ends after [`Plan::stop_after`] loads in a row at which
/// every seed is saturated. The answer depends on results alone, not on the order in which they came: a point beyond the
/// end is left out even if somebody has run it.
#[must_use]
pub fn left_out(plan: &Plan, saturated: &[Option<bool>]) -> Vec<bool> {
    let mut out = vec![false; plan.points.len()];
    let Some(load) = plan.axis("load").filter(|_| plan.stop_after > 0) else { return out };
    let seed = plan.axis("seed");
    let mut curves: BTreeMap<Vec<&str>, Vec<(f64, usize)>> = BTreeMap::new();
    for (index, point) in plan.points.iter().enumerate() {
        let rest = point.values.iter().enumerate().filter(|&(axis, _)| axis != load && Some(axis) != seed);
        let value = point.values[load].parse().unwrap_or(f64::NAN);
        curves.entry(rest.map(|(_, value)| value.as_str()).collect()).or_default().push((value, index));
    }
    for points in curves.values_mut() {
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut in_a_row = 0;
        for same in points.chunk_by(|a, b| a.0 == b.0) {
            if in_a_row >= plan.stop_after {
                same.iter().for_each(|&(_, index)| out[index] = true);
                continue;
            }
            let all = same.iter().all(|&(_, index)| saturated[index] == Some(true));
            in_a_row = if all { in_a_row + 1 } else { 0 };
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::plan::{PlanAxis, Point};
    use super::*;

    #[test]
    fn a_curve_ends_after_saturated_loads_in_a_row() {
        let axis = |key: &str, values: &[&str]| PlanAxis {
            key: key.to_owned(),
            values: values.iter().map(|&value| value.to_owned()).collect(),
        };
        let axes = vec![axis("load", &["0.1", "0.3", "0.2", "0.4"]), axis("seed", &["1", "2"])];
        let points = axes[0].values.iter().flat_map(|load| axes[1].values.iter().map(move |seed| (load, seed)));
        let points: Vec<Point> = points
            .map(|(load, seed)| Point {
                id: String::new(),
                values: vec![load.clone(), seed.clone()],
                experiment: String::new(),
            })
            .collect();
        let plan = Plan { layout: 1, version: String::new(), stop_after: 1, axes, points, invalid: Vec::new() };
        // Saturated from 0.2 on, which stands third.
        let known = [false, false, true, true, true, true, true, true].map(Some);
        assert_eq!(left_out(&plan, &known), [false, false, true, true, false, false, true, true]);
        let mut half = known;
        half[5] = Some(false);
        assert_eq!(left_out(&plan, &half), [false, false, false, false, false, false, true, true]);
        half[5] = None;
        assert!(!left_out(&plan, &half)[2], "nothing is decided by what is not known");
        assert_eq!(left_out(&Plan { stop_after: 0, ..plan }, &known), [false; 8]);
    }
}
