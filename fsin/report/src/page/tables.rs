//! Tables on the page: saturation, comparison, points.

use std::collections::HashMap;

use super::super::plot::short;
use super::super::rounded::{percent, rounded, with_interval};
use super::html::Table;
use super::{Baseline, capital};
use fsin_core::stats::estimate;
use fsin_core::words::counted;
use fsin_experiment::result::Figure;
use fsin_experiment::sweep::{
    CYCLES_DIFFER, Collected, Curves, Plan, Row, Saturations, Spot, changed_settings, compare, cycles_differ,
};
use maud::{Markup, html};

/// Figures of accepted load, the preferred one first: per sending node, as offered loads are; older results have only
/// that per node.
const ACCEPTED: [Figure; 2] = [Figure::AcceptedLoadOfSenders, Figure::AcceptedLoad];

/// A table of the saturation load of each curve, as far as the simulated loads determine it.
pub(super) fn saturation(curves: &Curves, collected: &Collected) -> Markup {
    if curves.axis != "load" || !curves.curves.iter().any(|curve| curve.spots.len() > 1) {
        return Markup::default();
    }
    let mut table = Table::new([
        "curve",
        "latency at lowest load",
        "highest load carried",
        "lowest load saturated",
        "peak accepted",
        "at load",
        "accepted at highest load",
    ]);
    for curve in &curves.curves {
        let value = |spot: &Spot, figure: Figure| spot.value(&collected.rows, figure);
        let accepted = |spot: &Spot| ACCEPTED.iter().find_map(|&figure| value(spot, figure));
        let (Some(first), Some(last)) = (curve.spots.first(), curve.spots.last()) else { continue };
        let saturated = curve.spots.iter().find(|spot| spot.saturated);
        let carried = curve.spots.iter().take_while(|spot| !spot.saturated).filter(|spot| !spot.undecided).last();
        let peak = curve.spots.iter().filter_map(|spot| accepted(spot).map(|accepted| (accepted, spot)));
        let peak = peak.max_by(|a, b| a.0.mean.total_cmp(&b.0.mean));
        let number = |value: Option<fsin_experiment::sweep::Value>| {
            value.map_or("-".to_owned(), |value| with_interval(value.mean, value.ci95))
        };
        let word = |spot: Option<&Spot>| spot.map_or("-".to_owned(), |spot| spot.word.clone());
        let label = if curve.label.is_empty() { "all" } else { &curve.label };
        table.row(
            "",
            &[
                label.to_owned(),
                number(value(first, Figure::LatencyMean)),
                word(carried),
                word(saturated),
                number(peak.map(|peak| peak.0)),
                word(peak.map(|peak| peak.1)),
                number(accepted(last)),
            ],
        );
    }
    html! {
        section {
            h2 { "Saturation" }
            (table.end())
            p.note {
                "Loads in " (collected.load_unit()) ", latency in cycles. " code { "fsin saturation" }
                " finds the load between two rows of the sweep."
            }
        }
    }
}

/// A table of completion times of programs with their lower bounds; empty if no result has them.
pub(super) fn bounds(plan: &Plan, collected: &Collected) -> Markup {
    let has = |row: &&Row| row.result.completion_bound_cycles.is_some();
    let rows: Vec<_> = collected.rows.iter().filter(has).collect();
    if rows.is_empty() {
        return Markup::default();
    }
    let axes = plan.axes.iter().map(|axis| axis.key.as_str());
    let titles = [
        "injection",
        "interface",
        "ejection",
        "bisection",
        "links",
        "fullest link",
        "critical path",
        "sequence",
        "binding",
        "time / bound",
    ];
    let mut table = Table::new(axes.chain(["completion", "ms"]).chain(titles));
    for row in rows {
        let result = &row.result;
        let time = result.number(Figure::CompletionCycles);
        let mut cells = plan.points[row.index].values.clone();
        cells.push(time.map_or("-".to_owned(), short));
        cells.push(result.completion_seconds.map_or("-".to_owned(), |seconds| short(1e3 * seconds)));
        let each = result.completion_bounds_cycles.clone().unwrap_or_default();
        let of_network = [each.injection, each.interface, each.ejection, each.bisection, each.links, each.fullest_link];
        let bounds = of_network.into_iter().chain([each.critical_path, each.sequence]);
        cells.extend(bounds.map(|cycles| cycles.map_or("-".to_owned(), |cycles| short(cycles as f64))));
        cells.push(result.completion_bound_by.clone().unwrap_or_else(|| "-".to_owned()));
        let share = time.zip(result.number(Figure::CompletionBound)).filter(|(_, bound)| *bound > 0.0);
        cells.push(share.map_or("-".to_owned(), |(time, bound)| format!("{:.2}", time / bound)));
        table.row("", &cells);
    }
    html! {
        section {
            h2 { "Time and its lower bounds" }
            (table.end())
            p.note {
                "Cycles that no routing could beat with these settings: phits of the busiest node over its links, injectors \
                 or ports of consumption (injection, ejection), messages that an interface sends one after another \
                 (interface), phits that cross a middle of the network over the links there (bisection), all phits times hops over all links, \
                 what the link that carried most carried (fullest link, where paths are chosen by a hash), the program over a network \
                 that delivers at once (critical path), and over one in which every message is alone (sequence). The greatest binds; where the time \
                 is far above it, what is lost is lost to congestion, or to a latency that nothing hides."
            }
        }
    }
}

/// A table of the results of saturation searches by bisection.
pub(super) fn searches(found: &Saturations) -> Markup {
    let mut table = Table::new([
        "network",
        "saturation load",
        "± 95 %",
        "carried",
        "not carried",
        "seeds",
        "peak accepted",
        "± 95 %",
    ]);
    let number = |value: Option<f64>| value.map_or("-".to_owned(), short);
    for search in &found.searches {
        let label = search.label();
        let label = if label.is_empty() { "the experiment".to_owned() } else { label };
        let outcome = search.outcome(found.highest_load);
        let seeds = search.seeds.len().to_string();
        let (low, high) = (number(search.low), number(search.high));
        let error = number(search.load_ci95);
        let cells = [label, outcome, error, low, high, seeds, number(search.peak), number(search.peak_ci95)];
        table.row(if search.is_complete() { "" } else { "saturated" }, &cells);
    }
    html! {
        section {
            h2 { "Saturation by bisection" }
            (table.end())
            @for seed in found.searches.iter().flat_map(|search| &search.seeds) {
                @if let Some(failure) = &seed.failure {
                    p.note { "Seed " (seed.seed) ": " (failure) "." }
                }
            }
            p.note {
                "Loads in " (found.load_unit()) ", each seed to an interval of " (found.tolerance) ". Confidence is over seeds; of \
                 one seed there is none."
            }
        }
    }
}

/// A table of every point and its counterpart in the baseline, below the settings in which the two differ.
pub(super) fn comparison(baseline: &Baseline<'_>, others: &Curves, candidate: (&Curves, &Collected)) -> Markup {
    let margin = baseline.margin;
    let results = baseline.collected.rows.iter().chain(&candidate.1.rows).map(|row| &row.result);
    let (rows, alone) = compare((others, baseline.collected), candidate, margin);
    let settings = changed_settings(baseline.collected, candidate.1);
    let settings = if settings.is_empty() {
        html! { p { "Both have the same settings." } }
    } else {
        let mut table = Table::new(["setting", baseline.name, "here"]);
        for one in &settings {
            let [before, after] = one.words();
            table.row("", &[one.key.clone(), before, after]);
        }
        table.end()
    };
    let mut table = Table::new([
        "curve",
        candidate.0.axis.as_str(),
        "figure",
        baseline.name,
        "here",
        "difference",
        "change",
        "spread from",
        "verdict",
    ]);
    for row in &rows {
        let verdict = row.verdict().word();
        let of_load = row.load_verdict();
        let class = if of_load.is_empty() { verdict } else { of_load };
        table.row(
            class,
            &[
                row.curve.clone(),
                row.word.clone(),
                row.reading.name().into_owned(),
                rounded(row.baseline, row.ci95).0,
                rounded(row.candidate, row.ci95).0,
                with_interval(row.difference(), row.ci95),
                match row.baseline {
                    0.0 => "-".to_owned(),
                    baseline => percent(row.difference() / baseline.abs()),
                },
                row.samples(),
                if of_load.is_empty() { verdict.to_owned() } else { format!("{verdict} ({of_load})") },
            ],
        );
    }
    html! {
        section {
            h2 { "Against " (baseline.name) }
            (settings)
            (table.end())
            p.note {
                "± is half the 95 % confidence interval of the difference. Same: it lies within " (100.0 * margin)
                " % of the baseline; higher, lower: 0 is outside it; unclear: neither is shown, and more seeds may show it."
                @if cycles_differ(results) { " " (capital(CYCLES_DIFFER)) "." }
                @if alone > 0 { " " (counted(alone, "point is", "points are")) " in one of the two only." }
            }
        }
    }
}

/// How the figures of several runs become one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fold {
    /// The mean with its confidence interval.
    Interval,
    /// The mean alone: for offered load, and for costs.
    Mean,
    /// The maximum.
    Most,
}

/// A column of the table of points.
struct Column {
    /// Title of the column.
    title: &'static str,
    /// The figure below it.
    figure: Figure,
    /// How the figures of several runs become one.
    fold: Fold,
}

/// A column with these properties.
const fn column(title: &'static str, figure: Figure, fold: Fold) -> Column {
    Column { title, figure, fold }
}

/// The columns of the table of points.
const COLUMNS: &[Column] = &[
    column("offered", Figure::OfferedLoad, Fold::Mean),
    column("generated", Figure::GeneratedLoad, Fold::Interval),
    column("accepted", Figure::AcceptedLoad, Fold::Interval),
    column("queue growth", Figure::QueueGrowth, Fold::Interval),
    column("latency", Figure::LatencyMean, Fold::Interval),
    column("p50", Figure::LatencyP50, Fold::Interval),
    column("p99", Figure::LatencyP99, Fold::Interval),
    column("max", Figure::LatencyMax, Fold::Most),
    column("hops", Figure::HopsMean, Fold::Interval),
    column("fairness (Jain)", Figure::FairnessJain, Fold::Interval),
    column("completion (cycles)", Figure::CompletionCycles, Fold::Interval),
    column("completion (s)", Figure::CompletionSeconds, Fold::Interval),
    column("completion (ns)", Figure::FinishMaxNs, Fold::Interval),
    column("cycles per shot", Figure::ShotCyclesMean, Fold::Interval),
    column("warm-up (cycles)", Figure::WarmupCycles, Fold::Mean),
    column("packets", Figure::PacketsReceived, Fold::Mean),
];

impl Column {
    /// The text of the figure of one run.
    fn of_run(&self, row: &Row) -> String {
        let figure = |figure: Figure| row.result.number(figure);
        figure(self.figure).map_or("-".to_owned(), |value| with_interval(value, self.figure.ci95().and_then(figure)))
    }

    /// The text of the figures of several runs; `-` if a run lacks the figure.
    fn of_runs(&self, rows: &[&Row]) -> String {
        if let [only] = rows {
            return self.of_run(only);
        }
        let values: Option<Vec<f64>> = rows.iter().map(|row| row.result.number(self.figure)).collect();
        let Some((mean, values)) = values.and_then(|values| Some((estimate(&values)?, values))) else {
            return "-".to_owned();
        };
        match self.fold {
            Fold::Interval => with_interval(mean.mean, mean.ci95),
            Fold::Mean => short(mean.mean),
            Fold::Most => short(values.into_iter().fold(f64::MIN, f64::max)),
        }
    }
}

/// Outcome of a run: the class of its row in the style sheet, and a word.
fn state(row: &Row) -> (&'static str, &'static str) {
    let result = &row.result;
    match () {
        () if result.failure.is_some() => ("bad", "failed"),
        () if !result.complete => ("bad", "incomplete"),
        () if result.is_saturated() => ("saturated", "saturated"),
        () if result.is_undecided() => ("undecided", "undecided"),
        () if result.converged == Some(false) => ("bad", "not steady"),
        () => ("", "done"),
    }
}

/// Outcome of several runs: the class of the worst one, and a word; or, if their states differ, the number of runs in
/// each state.
fn states(rows: &[&Row]) -> (&'static str, String) {
    let mut counts: Vec<((&str, &str), usize)> = Vec::new();
    for state in rows.iter().map(|row| state(row)) {
        match counts.iter_mut().find(|(known, _)| *known == state) {
            Some((_, count)) => *count += 1,
            None => counts.push((state, 1)),
        }
    }
    let worst =
        ["bad", "saturated", "undecided"].into_iter().find(|class| counts.iter().any(|((of, _), _)| of == class));
    let words = match &counts[..] {
        [((_, word), _)] => (*word).to_owned(),
        several => several.iter().map(|((_, word), count)| format!("{word} {count}")).collect::<Vec<_>>().join(", "),
    };
    (worst.unwrap_or(""), words)
}

/// The table of points. Points that differ only in their seeds are one row with the mean, above the rows of their runs.
pub(super) fn points(plan: &Plan, collected: &Collected) -> Markup {
    let have = |figure: Figure| collected.rows.iter().any(|row| row.result.number(figure).is_some());
    let columns: Vec<_> = COLUMNS.iter().filter(|column| have(column.figure)).collect();
    let seed = plan.axis("seed");
    let values_but_seed = |row: &Row| -> Vec<String> {
        let values = plan.points[row.index].values.iter().enumerate();
        values.filter(|&(at, _)| Some(at) != seed).map(|(_, value)| value.clone()).collect()
    };
    let mut groups: Vec<(Vec<String>, Vec<&Row>)> = Vec::new();
    let mut known: HashMap<Vec<String>, usize> = HashMap::new();
    for row in &collected.rows {
        let group = *known.entry(values_but_seed(row)).or_insert_with(|| {
            groups.push((values_but_seed(row), Vec::new()));
            groups.len() - 1
        });
        groups[group].1.push(row);
    }
    let axes = plan.axes.iter().enumerate().filter(|&(at, _)| Some(at) != seed).map(|(_, axis)| axis.key.as_str());
    let seeds = seed.map(|_| "seeds");
    let mut table = Table::new(axes.chain(seeds).chain(columns.iter().map(|column| column.title)).chain(["state"]));
    for (values, rows) in &groups {
        let (class, state_of_all) = states(rows);
        let mut cells = values.clone();
        cells.extend(seed.map(|_| rows.len().to_string()));
        cells.extend(columns.iter().map(|column| column.of_runs(rows)));
        cells.push(state_of_all);
        let Some(seed) = seed else {
            table.row(class, &cells);
            continue;
        };
        let parts = rows.iter().map(|row| {
            let (class, word) = state(row);
            let mut cells = vec![String::new(); values.len()];
            cells.push(format!("seed {}", plan.points[row.index].values[seed]));
            cells.extend(columns.iter().map(|column| column.of_run(row)));
            cells.push(word.to_owned());
            (class, cells)
        });
        table.group(class, &cells, values.len(), &parts.collect::<Vec<_>>());
    }
    let of_seeds = match seed {
        Some(_) => {
            "of several seeds, half the 95 % confidence interval of the mean over them; of one run, over its batches. Of \
         several seeds, max is the greatest, and offered, warm-up and packets are means"
        }
        None => "half the 95 % confidence interval over the batches of a run",
    };
    html! {
        section.points {
            h2 { "Points" }
            (table.end())
            p.note { "Loads in " (collected.load_unit()) ", latencies in cycles; ± is " (of_seeds) "." }
        }
    }
}
