//! The stop rule: a curve ends soon after saturation.

use std::collections::BTreeMap;

use super::plan::Plan;

/// The rule that decides which points to leave out, given the state of each point: `None` for a point without result,
/// else whether it is saturated.
///
/// Points that differ only in load and seed form a curve. It ends after [`Plan::stop_after`] consecutive loads at
/// which every seed is saturated. The answer depends only on results, not on the order of their arrival: a point beyond
/// the end is left out even if it has been run.
#[derive(Clone, Debug)]
pub struct StopRule {
    /// \[loads\] Number of consecutive saturated loads after which a curve ends.
    stop_after: usize,
    /// By curve: the points of each load, in the order of loads.
    curves: Vec<Vec<Vec<usize>>>,
    /// By point: its curve, and the index of its load there. Empty if the plan has no stop rule.
    places: Vec<(usize, usize)>,
}

impl StopRule {
    /// The stop rule of a plan.
    #[must_use]
    pub fn new(plan: &Plan) -> Self {
        let stop_after = usize::try_from(plan.stop_after).unwrap_or(usize::MAX);
        let mut rule = Self { stop_after, curves: Vec::new(), places: Vec::new() };
        let Some(load) = plan.axis("load").filter(|_| stop_after > 0) else { return rule };
        let seed = plan.axis("seed");
        let mut curves: BTreeMap<Vec<&str>, Vec<(f64, usize)>> = BTreeMap::new();
        for (index, point) in plan.points.iter().enumerate() {
            let rest = point.values.iter().enumerate().filter(|&(axis, _)| axis != load && Some(axis) != seed);
            let value = point.values[load].parse().unwrap_or(f64::NAN);
            curves.entry(rest.map(|(_, value)| value.as_str()).collect()).or_default().push((value, index));
        }
        rule.places = vec![(0, 0); plan.points.len()];
        for (number, mut points) in curves.into_values().enumerate() {
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            let loads: Vec<Vec<usize>> =
                points.chunk_by(|a, b| a.0 == b.0).map(|same| same.iter().map(|&(_, index)| index).collect()).collect();
            for (load_index, same_load) in loads.iter().enumerate() {
                same_load.iter().for_each(|&index| rule.places[index] = (number, load_index));
            }
            rule.curves.push(loads);
        }
        rule
    }

    /// True if a point is left out. `saturated` has the state of each point, as described above.
    #[must_use]
    pub fn leaves_out(&self, point: usize, saturated: &[Option<bool>]) -> bool {
        let Some(&(curve, load_index)) = self.places.get(point) else { return false };
        let is_saturated = |points: &Vec<usize>| points.iter().all(|&index| saturated[index] == Some(true));
        self.curves[curve][..load_index].windows(self.stop_after).any(|row| row.iter().all(is_saturated))
    }
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
                place: std::path::PathBuf::new(),
            })
            .collect();
        let plan = Plan {
            layout: 1,
            version: String::new(),
            stop_after: 1,
            axes,
            points,
            invalid: Vec::new(),
            sha256: String::new(),
            without_effect: Vec::new(),
        };
        // Saturated from 0.2 on, the third load.
        let known = [false, false, true, true, true, true, true, true].map(Some);
        let left_out = |plan: &Plan, saturated: &[Option<bool>]| -> Vec<bool> {
            let rule = StopRule::new(plan);
            (0..plan.points.len()).map(|point| rule.leaves_out(point, saturated)).collect()
        };
        assert_eq!(left_out(&plan, &known), [false, false, true, true, false, false, true, true]);
        let after_two = Plan { stop_after: 2, ..plan.clone() };
        assert_eq!(left_out(&after_two, &known), [false, false, false, false, false, false, true, true]);
        let mut half = known;
        half[5] = Some(false);
        assert_eq!(left_out(&plan, &half), [false, false, false, false, false, false, true, true]);
        half[5] = None;
        assert!(!left_out(&plan, &half)[2], "nothing is decided by what is not known");
        assert_eq!(left_out(&Plan { stop_after: 0, ..plan }, &known), [false; 8]);
    }
}
