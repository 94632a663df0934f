//! Unexpected results of a sweep, in words.

use std::collections::BTreeMap;

use super::collect::Collected;
use super::plan::Plan;
use crate::result::RunResult;
use fsin_core::stats::{Spread, estimate, mean, welch};
use fsin_core::words::counted;

/// The placement to which optimised ones are compared.
const RANDOM: &str = "random";

/// An interval is wide if half of it exceeds this share of the mean.
const WIDE: f64 = 0.2;

/// \[seeds\] Few seeds: a third value would reduce the factor of Student's t from 12.7 to 4.3, a fifth to 2.8.
const FEW: usize = 4;

/// Remarks on the results: where an optimised placement is slower than a random one, and where seeds are too few.
#[must_use]
pub fn remarks(plan: &Plan, collected: &Collected) -> Vec<String> {
    let mut remarks = of_placements(plan, collected);
    remarks.extend(of_seeds(plan, collected));
    remarks
}

/// The remark that intervals are wide because the seeds are few.
fn of_seeds(plan: &Plan, collected: &Collected) -> Option<String> {
    let seeds = plan.axes[plan.axis("seed")?].values.len();
    if seeds > FEW {
        return None;
    }
    type Pick = fn(&RunResult) -> Option<f64>;
    let figures: [(&str, Pick); 3] = [
        ("completion time", |result| result.completion_seconds),
        ("mean latency", |result| result.latency_mean_cycles),
        ("accepted load", |result| result.accepted_load_phits_per_node_cycle),
    ];
    let mut said = Vec::new();
    for (name, figure) in figures {
        let mut points: BTreeMap<Vec<&str>, Vec<f64>> = BTreeMap::new();
        for row in &collected.rows {
            let values = plan.axes.iter().zip(&plan.points[row.index].values);
            let place = values.filter(|(axis, _)| axis.key != "seed").map(|(_, value)| value.as_str()).collect();
            points.entry(place).or_default().extend(figure(&row.result));
        }
        said.extend(wide(name, points.values().map(Vec::as_slice)));
    }
    (!said.is_empty()).then(|| {
        format!(
            "{seeds} seeds give wide 95 % intervals: {}; the factor of Student's t is 12.7 for two values and 2.8 for five, so \
             that more seeds narrow them most: give 5 or more",
            said.join(", ")
        )
    })
}

/// Where intervals of a figure are wide; `None` if none is. Each point has the values of its seeds.
fn wide<'a>(figure: &str, points: impl Iterator<Item = &'a [f64]>) -> Option<String> {
    let shares: Vec<f64> = points.filter_map(estimate).filter_map(|one| Some(one.ci95? / one.mean.abs())).collect();
    let wide = shares.iter().filter(|&&share| share > WIDE).count();
    let widest = shares.iter().copied().fold(0.0, f64::max);
    (wide > 0).then(|| {
        let points = counted(shares.len(), "point", "points");
        format!("{figure} at {wide} of {points} (± {:.0} % at most)", 100.0 * widest)
    })
}

/// Where an optimised placement is slower than a random one.
fn of_placements(plan: &Plan, collected: &Collected) -> Vec<String> {
    let Some(axis) = plan.axis("placement") else { return Vec::new() };
    let values = &plan.axes[axis].values;
    let is_optimised = |placement: &&String| placement.split(':').next() == Some("optimise");
    if !values.iter().any(|placement| placement == RANDOM) {
        return Vec::new();
    }
    let mut remarks = Vec::new();
    for place in places(plan, collected, axis) {
        let random = times(plan, collected, axis, &place, RANDOM);
        for placement in values.iter().filter(is_optimised) {
            let optimised = times(plan, collected, axis, &place, placement);
            remarks.extend(slower(placement, &optimised, &random, &described(plan, axis, &place)));
        }
    }
    remarks
}

/// The remark that a placement is slower than a random one; `None` unless the difference is significant, as far as the
/// spread is known.
fn slower(placement: &str, optimised: &[f64], random: &[f64], place: &str) -> Option<String> {
    let (optimised_mean, random_mean) = (mean(optimised)?, mean(random)?);
    let difference = optimised_mean - random_mean;
    let spread = |times| Spread::of_values(times, 0.0);
    let ci95 = spread(random).zip(spread(optimised)).map(|(a, b)| welch(&a, &b));
    if difference <= ci95.unwrap_or(0.0) {
        return None;
    }
    let place = if place.is_empty() { String::new() } else { format!(" ({place})") };
    let amount = match ci95 {
        Some(ci95) => format!("{:.1} % ± {:.1} %", 100.0 * difference / random_mean, 100.0 * ci95 / random_mean),
        None => format!("{:.1} %, by one seed", 100.0 * difference / random_mean),
    };
    Some(format!(
        "{placement} is slower than random here{place}: {optimised_mean:.4e} s against {random_mean:.4e} s, {amount}; fewer bytes x hops are no less \
         congestion"
    ))
}

/// The distinct combinations of values of the other axes, without the seed, that occur in the results, in the order of
/// the plan.
fn places(plan: &Plan, collected: &Collected, axis: usize) -> Vec<Vec<String>> {
    let mut places: Vec<Vec<String>> = Vec::new();
    for row in &collected.rows {
        let place = place(plan, &plan.points[row.index].values, axis);
        if !places.contains(&place) {
            places.push(place);
        }
    }
    places
}

/// The values of a point on the other axes, without the seed.
fn place(plan: &Plan, values: &[String], axis: usize) -> Vec<String> {
    let others = plan.axes.iter().zip(values).enumerate();
    others.filter(|(at, (other, _))| *at != axis && other.key != "seed").map(|(_, (_, value))| value.clone()).collect()
}

/// The values on the other axes in words.
fn described(plan: &Plan, axis: usize, place: &[String]) -> String {
    let keys = plan.axes.iter().enumerate().filter(|(at, other)| *at != axis && other.key != "seed");
    keys.zip(place).map(|((_, other), value)| format!("{} {value}", other.key)).collect::<Vec<_>>().join(", ")
}

/// \[s\] Completion times of the runs with a placement at these values of the other axes.
fn times(plan: &Plan, collected: &Collected, axis: usize, at: &[String], placement: &str) -> Vec<f64> {
    let rows = collected.rows.iter().filter(|row| {
        let values = &plan.points[row.index].values;
        values[axis] == placement && place(plan, values, axis) == at
    });
    rows.filter_map(|row| row.result.completion_seconds).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_intervals_are_said() {
        let said = |points: &[&[f64]]| wide("time", points.iter().copied());
        assert_eq!(said(&[&[1.0, 1.5], &[2.0, 2.01]]).unwrap(), "time at 1 of 2 points (± 254 % at most)");
        assert_eq!(said(&[&[2.0, 2.01], &[1.0]]), None, "one value has no interval");
        assert_eq!(said(&[]), None);
    }

    #[test]
    fn only_what_chance_does_not_explain_is_said() {
        let said = slower("optimise", &[2.0, 2.1], &[1.0, 1.1], "vcs 2").unwrap();
        assert!(
            said.starts_with("optimise is slower than random here (vcs 2): 2.0500e0 s against 1.0500e0 s, 95.2 % ± ")
        );
        assert_eq!(slower("optimise", &[1.0, 3.0], &[1.0, 1.1], ""), None, "it may be chance");
        assert_eq!(slower("optimise", &[1.0], &[2.0], ""), None, "it is faster");
        assert!(slower("optimise", &[2.0], &[1.0], "").unwrap().contains("100.0 %, by one seed"));
        assert_eq!(slower("optimise", &[], &[1.0], ""), None);
    }
}
