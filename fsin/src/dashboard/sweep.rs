//! Description of a sweep for viewers.

use std::collections::HashMap;

use tui::view::{Figures, PointState, Sweep, SweepPoint};

use fsin_core::words::counted;
use fsin_experiment::key;
use fsin_experiment::result::RunResult;
use fsin_experiment::sweep::{Plan, along, is_numeric, legend, position, settings};

/// The points of a plan before any has begun. `name` is the name of the sweep, `at_once` the number of points that run
/// concurrently.
#[must_use]
pub fn of_plan(plan: &Plan, name: &str, at_once: usize) -> Sweep {
    let along = along(plan);
    let axis = along.map(|at| &plan.axes[at]);
    let numeric = axis.is_none_or(is_numeric);
    let mut numbers: HashMap<Vec<(String, String)>, usize> = HashMap::new();
    let mut curves: Vec<String> = Vec::new();
    let mut points = Vec::with_capacity(plan.points.len());
    for point in &plan.points {
        let settings = settings(plan, along, &point.values);
        let curve = *numbers.entry(settings).or_insert_with_key(|settings| {
            curves.push(legend(&plan.axes, settings));
            curves.len() - 1
        });
        let x = match (along, axis) {
            (Some(at), Some(axis)) => position(axis, &point.values[at], numeric),
            _ => 0.0,
        };
        let name = name_of(plan, along, &point.values);
        points.push(SweepPoint { name, curve, x, state: PointState::Waiting });
    }
    let sizes: Vec<String> = plan.axes.iter().map(|axis| format!("{} {}", axis.values.len(), axis.key)).collect();
    let varied = if sizes.is_empty() { String::new() } else { format!(" ({})", sizes.join(" x ")) };
    let unit = |name: &str| match name {
        "load" => Some(plan.load_unit()),
        name => key(name).map(|key| key.unit).filter(|unit| !unit.is_empty()),
    };
    let along = axis.map_or("", |axis| axis.key.as_str());
    Sweep {
        title: format!("sweep {name}: {}{varied}", counted(plan.points.len(), "point", "points")),
        axis: unit(along).map_or_else(|| along.to_owned(), |unit| format!("{along} ({unit})")),
        words: axis.filter(|_| !numeric).map_or_else(Vec::new, |axis| axis.values.clone()),
        load_unit: plan.load_unit().to_owned(),
        curves,
        points,
        at_once,
        ..Sweep::default()
    }
}

/// The name of a point for display, with the most distinctive setting first: `load 0.35, seed 1, bubble:smart`. `along`
/// is the index of the axis along which curves are drawn.
fn name_of(plan: &Plan, along: Option<usize>, values: &[String]) -> String {
    let pair = |at: usize| (plan.axes[at].key.clone(), short(&values[at]));
    let seed = plan.axis("seed").filter(|&seed| Some(seed) != along);
    let first: Vec<(String, String)> = along.into_iter().chain(seed).map(pair).collect();
    let rest = settings(plan, along, values);
    let words: Vec<String> =
        [legend(&plan.axes, &first), legend(&plan.axes, &rest)].into_iter().filter(|words| !words.is_empty()).collect();
    if words.is_empty() { "the experiment".to_owned() } else { words.join(", ") }
}

/// A value for display: a long number is rounded to four decimals, and words are unchanged.
fn short(value: &str) -> String {
    match value.parse::<f64>() {
        Ok(number) if value.len() > 6 && number.abs() < 1e6 => ((number * 1e4).round() / 1e4).to_string(),
        _ => value.to_owned(),
    }
}

/// The outcome of a point that has this result. `seconds` is the wall-clock time of the run, if it is known.
#[must_use]
pub fn of_result(result: &RunResult, seconds: Option<f64>) -> PointState {
    if let Some(why) = result.why_failed() {
        return PointState::Failed(why.to_owned());
    }
    PointState::Done(Figures {
        saturated: result.is_saturated(),
        // As for the load on the axis, the mean is over the nodes that send.
        accepted: result.accepted_load_of_senders_phits_per_node_cycle.or(result.accepted_load_phits_per_node_cycle),
        latency: result.latency_mean_cycles,
        completion: result.completion_cycles.map(|cycles| cycles as f64),
        seconds,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use fsin_experiment::sweep::{PlanAxis, Point};

    fn plan(axes: &[(&str, &[&str])], points: &[&[&str]]) -> Plan {
        let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
        let point = |values: &&[&str]| Point {
            id: String::new(),
            values: words(values),
            experiment: String::new(),
            place: std::path::PathBuf::new(),
        };
        Plan {
            layout: 1,
            version: String::new(),
            stop_after: 0,
            axes: axes.iter().map(|(key, values)| PlanAxis { key: (*key).to_owned(), values: words(values) }).collect(),
            points: points.iter().map(point).collect(),
            invalid: Vec::new(),
            without_effect: Vec::new(),
            sha256: String::new(),
        }
    }

    #[test]
    fn points_stand_on_the_curves_that_are_drawn_of_them() {
        let axes: [(&str, &[&str]); 3] =
            [("routing", &["bubble:smart", "dally:trc"]), ("load", &["0.1", "0.5"]), ("seed", &["1", "2"])];
        let points: [&[&str]; 3] =
            [&["bubble:smart", "0.1", "1"], &["bubble:smart", "0.5", "2"], &["dally:trc", "0.1", "1"]];
        let sweep = of_plan(&plan(&axes, &points), "r", 2);
        assert_eq!(sweep.title, "sweep r: 3 points (2 routing x 2 load x 2 seed)");
        assert_eq!(
            (sweep.axis.as_str(), sweep.curves),
            ("load (phits/node/cycle)", vec!["bubble:smart".into(), "dally:trc".into()])
        );
        let places: Vec<(usize, f64)> = sweep.points.iter().map(|point| (point.curve, point.x)).collect();
        assert_eq!(places, [(0, 0.1), (0, 0.5), (1, 0.1)]);
        assert_eq!(sweep.points[1].name, "load 0.5, seed 2, bubble:smart");
        assert_eq!([short("0.144444444"), short("uniform"), short("1000000000")], ["0.1444", "uniform", "1000000000"]);

        let words =
            of_plan(&plan(&[("topology", &["torus:8x8", "mesh:8x8"])], &[&["torus:8x8"], &["mesh:8x8"]]), "r", 1);
        assert_eq!((words.words.len(), words.points[1].x, words.curves.len()), (2, 1.0, 1));
        let one = of_plan(&plan(&[], &[&[]]), "r", 1);
        assert_eq!((one.points[0].name.as_str(), one.curves), ("the experiment", vec![String::new()]));
    }

    #[test]
    fn a_result_is_what_it_says() {
        let of = |result: Value| of_result(&serde_json::from_value(result).expect("it is a result"), Some(2.0));
        let done = Figures { saturated: true, accepted: Some(0.5), seconds: Some(2.0), ..Figures::default() };
        let figures =
            json!({ "saturated": true, "accepted_load_phits_per_node_cycle": 0.5, "latency_mean_cycles": null });
        assert_eq!(of(figures), PointState::Done(done));
        let failed = json!({ "failure": { "what": "deadlock at cycle 7" } });
        assert_eq!(of(failed), PointState::Failed("deadlock at cycle 7".to_owned()));
    }
}
