//! One experiment under several network models, transports, hosts or collectives, side by side: where they agree, where
//! not, and what decides.

use super::super::plot::short;
use super::super::rounded::share;
use super::html::Table;
use super::verdict;
use fsin_experiment::result::{Figure, RunResult};
use fsin_experiment::sweep::{Collected, MARGIN, Plan};
use maud::{Markup, html};

/// Settings that say by which rules the same experiment is simulated, the widest first, and what their values are called.
const COMPARED: [(&str, &str); 7] = [
    ("network", "models"),
    ("transport", "transports"),
    ("hosts", "hosts"),
    ("collectives", "collectives"),
    ("routing", "routings"),
    ("forwarding", "ways of forwarding"),
    ("paths", "choices of paths"),
];

/// Maximum number of experiments with a part of their own.
const MOST: usize = 24;

/// A time above its lower bound by less than this share is decided by that bound.
const NEAR: f64 = 0.1;

/// One value of the compared setting, in one experiment: the mean over its seeds.
#[derive(Clone, PartialEq, Debug)]
struct Side {
    /// The value.
    value: String,
    /// \[s\] When the program was complete.
    seconds: f64,
    /// \[s\] The greatest lower bound of that time, and its name.
    bound: Option<(f64, String)>,
}

/// A value of the compared setting, and the results with it.
type ResultsOf<'a> = (String, Vec<&'a RunResult>);

/// What is found of several sides.
#[derive(Clone, PartialEq, Debug)]
struct Finding {
    agree: bool,
    text: String,
}

impl Side {
    /// The mean of the results of a value; `None` if one of them has no completion time.
    fn of(value: &str, results: &[&RunResult]) -> Option<Self> {
        let count = results.len() as f64;
        let seconds = results.iter().map(|result| result.completion_seconds).sum::<Option<f64>>()? / count;
        let bound = |result: &&RunResult| {
            let cycles = result.number(Figure::CompletionCycles).filter(|&cycles| cycles > 0.0)?;
            Some(result.completion_seconds? * result.number(Figure::CompletionBound)? / cycles)
        };
        let bounds = results.iter().map(bound).sum::<Option<f64>>().map(|sum| sum / count);
        let by = results.first().and_then(|result| result.completion_bound_by.clone());
        Some(Self { value: value.to_owned(), seconds, bound: bounds.zip(by) })
    }

    /// The time as a multiple of its bound.
    fn beyond(&self) -> Option<f64> {
        self.bound.as_ref().filter(|(bound, _)| *bound > 0.0).map(|(bound, _)| self.seconds / bound)
    }
}

/// Whether the sides agree, and what decides.
fn finding(sides: &[Side]) -> Option<Finding> {
    let least = sides.iter().reduce(|least, one| if one.seconds < least.seconds { one } else { least })?;
    let most = sides.iter().reduce(|most, one| if one.seconds > most.seconds { one } else { most })?;
    let apart = if least.seconds > 0.0 { most.seconds / least.seconds - 1.0 } else { 0.0 };
    let agree = apart <= MARGIN;
    let is_near = |side: &Side| side.beyond().is_some_and(|beyond| beyond < 1.0 + NEAR);
    let bound_of = |side: &Side| {
        side.bound.as_ref().map_or_else(
            || format!("{} has no known bound", side.value),
            |(bound, by)| format!("{} is bound by its {by}, {}", side.value, time(*bound)),
        )
    };
    let text = match (&least.bound, &most.bound) {
        _ if agree && sides.iter().all(is_near) => {
            let by = least.bound.as_ref().map_or("bound", |(_, by)| by);
            format!("They agree to {}: the {by} decides, which all of them know.", share(apart))
        }
        _ if agree => format!("They agree to {}, though other things than a bound add to the time.", share(apart)),
        (Some((low, _)), Some((high, by))) if (high - low).abs() <= MARGIN * low.max(*high) => format!(
            "{} takes {} longer than {}. Their bounds agree ({by}, {}), so what decides is what comes on top: congestion, \
             latency and overhead, {} in {} and {} in {}.",
            most.value,
            share(apart),
            least.value,
            time(*low),
            time(most.seconds - high),
            most.value,
            time(least.seconds - low),
            least.value
        ),
        (Some(_), Some(_)) => format!(
            "{} takes {} longer than {}. Their bounds differ: {}, and {}. Rates, delays and costs decide before any \
             congestion: compare those settings first.",
            most.value,
            share(apart),
            least.value,
            bound_of(least),
            bound_of(most)
        ),
        _ => format!(
            "{} takes {} longer than {}; {}, and {}.",
            most.value,
            share(apart),
            least.value,
            bound_of(least),
            bound_of(most)
        ),
    };
    Some(Finding { agree, text })
}

/// A time of so many seconds, in a unit that suits it.
fn time(seconds: f64) -> String {
    verdict::time(seconds * 1e9)
}

/// The section; empty unless a setting that says by which rules programs are simulated has several values.
pub(super) fn section(plan: &Plan, collected: &Collected) -> Markup {
    let varies = |key: &str| plan.axis(key).filter(|&at| plan.axes[at].values.len() > 1);
    let Some((key, noun, axis)) = COMPARED.iter().find_map(|&(key, noun)| Some((key, noun, varies(key)?))) else {
        return Markup::default();
    };
    let seed = plan.axis("seed");
    // By experiment: the results of each value, in the order of the plan.
    let mut groups: Vec<(String, Vec<ResultsOf<'_>>)> = Vec::new();
    for row in &collected.rows {
        let values = &plan.points[row.index].values;
        let others = values.iter().enumerate().filter(|&(at, _)| at != axis && Some(at) != seed);
        let label = others.map(|(_, value)| value.as_str()).collect::<Vec<_>>().join(", ");
        let at = groups.iter().position(|(known, _)| *known == label).unwrap_or_else(|| {
            groups.push((label, Vec::new()));
            groups.len() - 1
        });
        let sides = &mut groups[at].1;
        match sides.iter_mut().find(|(known, _)| *known == values[axis]) {
            Some((_, results)) => results.push(&row.result),
            None => sides.push((values[axis].clone(), vec![&row.result])),
        }
    }
    let compared: Vec<(String, Vec<Side>, Finding)> = groups
        .into_iter()
        .filter(|(_, sides)| sides.len() > 1)
        .filter_map(|(label, sides)| {
            let sides: Vec<Side> = sides.iter().filter_map(|(value, results)| Side::of(value, results)).collect();
            let finding = finding(&sides).filter(|_| sides.len() > 1)?;
            Some((label, sides, finding))
        })
        .collect();
    if compared.is_empty() {
        return Markup::default();
    }
    let agreeing = compared.iter().filter(|(_, _, finding)| finding.agree).count();
    html! {
        section id="side-by-side" {
            h2 { (super::capital(noun)) " side by side" }
            @if compared.len() > 1 {
                p { "The " (noun) " agree to " (share(MARGIN)) " in " (agreeing) " of " (compared.len()) " experiments." }
            }
            @for (label, sides, finding) in compared.iter().take(MOST) {
                @if !label.is_empty() { h3 { (label) } }
                p { (finding.text) }
                (table(key, sides))
            }
            @if compared.len() > MOST {
                p.note { "The first " (MOST) " of " (compared.len()) " experiments." }
            }
            p.note {
                "Each time is compared with the least. A bound is the greatest of those below which no routing can come with \
                 the settings of that row; what is beyond it is congestion, latency that nothing hides, or overhead."
            }
        }
    }
}

/// The sides as a table.
fn table(key: &str, sides: &[Side]) -> Markup {
    let least = sides.iter().map(|side| side.seconds).fold(f64::INFINITY, f64::min);
    let mut table = Table::new([key, "completion (us)", "against the least", "bound (us)", "binding", "time / bound"]);
    for side in sides {
        let ratio = if least > 0.0 { side.seconds / least } else { 1.0 };
        let (bound, by) = side.bound.clone().unzip();
        table.row(
            if ratio > 1.0 + MARGIN { "higher" } else { "" },
            &[
                side.value.clone(),
                short(side.seconds * 1e6),
                format!("{ratio:.3}"),
                bound.map_or_else(|| "-".to_owned(), |bound| short(bound * 1e6)),
                by.unwrap_or_else(|| "-".to_owned()),
                side.beyond().map_or_else(|| "-".to_owned(), |beyond| format!("{beyond:.3}")),
            ],
        );
    }
    table.end()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(value: &str, seconds: f64, bound: Option<(f64, &str)>) -> Side {
        Side { value: value.to_owned(), seconds, bound: bound.map(|(bound, by)| (bound, by.to_owned())) }
    }

    #[test]
    fn it_is_said_where_models_agree_and_what_decides() {
        let said = |sides: &[Side]| finding(sides).unwrap();
        let ejection = |bound| Some((bound, "ejection"));
        let close = said(&[side("flow", 1.00e-3, ejection(1e-3)), side("vct", 1.005e-3, ejection(1e-3))]);
        assert!(close.agree && close.text.contains("the ejection decides"), "{close:?}");
        let on_top = said(&[side("flow", 1.1e-3, ejection(1e-3)), side("ethernet", 2e-3, ejection(1e-3))]);
        assert!(!on_top.agree, "{on_top:?}");
        assert!(on_top.text.starts_with("ethernet takes 81.8 % longer than flow. Their bounds agree"), "{on_top:?}");
        assert!(on_top.text.contains("1 ms in ethernet and 100 us in flow"), "{on_top:?}");
        let rates = said(&[side("flow", 1e-3, ejection(1e-3)), side("vct", 3e-3, Some((2.9e-3, "injection")))]);
        assert!(
            rates.text.contains("Their bounds differ") && rates.text.contains("its injection, 2.9 ms"),
            "{rates:?}"
        );
        let unknown = said(&[side("flow", 1e-3, ejection(1e-3)), side("zero", 1e-6, None)]);
        assert!(unknown.text.contains("zero has no known bound"), "{unknown:?}");
    }
}
