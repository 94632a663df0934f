//! The search for saturation: which loads are tried, and how long their runs are.
//!
//! The caller runs experiments; so the search is the same for every program that performs it.

use serde_json::{Map, Value, json};
use trgen::catalog::{ErrorKind, SpecError};
use trgen::phrase;

use super::grid::Grid;
use super::plan::Plan;
use super::saturation::{Bracket, Found, Probe, Saturations, Search, SeedSearch};
use crate::result::{Figure, RunResult};
use crate::{Experiment, Lists, LoadBound, Origin, RunPlan, Setting, SettingsError};
use fsin_core::run::BatchPlan;

/// Figures to report for each tried load.
const FIGURES: [Figure; 11] = [
    Figure::AcceptedLoad,
    Figure::AcceptedLoadCi95,
    Figure::LatencyMean,
    Figure::Verdict,
    Figure::Saturated,
    Figure::MeasuredCycles,
    Figure::DecidingCycles,
    Figure::Converged,
    Figure::AcceptedLoadOfSenders,
    Figure::QueueGrowth,
    Figure::QueueGrowthCi95,
];

/// A tried load and its result.
#[derive(Clone, PartialEq, Debug)]
pub struct Tried {
    /// Offered load in the unit of the network, as all loads here.
    pub load: f64,
    /// The result of its last run.
    pub result: RunResult,
}

impl Tried {
    /// The load and its figures, by their names.
    #[must_use]
    pub fn row(&self) -> Map<String, Value> {
        let figures = FIGURES.map(|figure| (figure.name().to_owned(), self.result.value(figure)));
        std::iter::once(("load".to_owned(), json!(self.load))).chain(figures).collect()
    }
}

/// Range and resolution of a search.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SearchBounds {
    /// The highest load.
    pub most: f64,
    /// Target width of the bracket.
    pub tolerance: f64,
    /// Factor by which the run of a load is lengthened at most, to decide it.
    pub lengthen: u64,
}

impl SearchBounds {
    /// Default of `lengthen`.
    const LENGTHEN: u64 = 32;
    /// Default of `tolerance`.
    const TOLERANCE: f64 = 0.005;

    /// The bounds of searches for these experiments, up to the load that they have; `None` stands for defaults.
    ///
    /// # Errors
    /// Experiments without a load that could be raised.
    pub fn of(experiments: &[Experiment], tolerance: Option<f64>, lengthen: Option<u64>) -> Result<Self, SpecError> {
        let load = |experiment: &Experiment| experiment.settings().value("load").and_then(|load| load.parse().ok());
        let most = experiments.first().and_then(load).unwrap_or(1.0);
        if most <= 0.0 || !experiments.iter().all(Experiment::uses_load) {
            let what = "this experiment has no load that could be raised";
            let remedy = phrase![
                "leave out ",
                ["trace"],
                ", ",
                ["kernel"],
                ", ",
                ["flows"],
                ", ",
                ["shot"],
                " and the load= of one source, and use a ",
                ["load"],
                " above 0"
            ];
            return Err(SpecError::new(ErrorKind::Meaningless, what, remedy).of("load"));
        }
        let (tolerance, lengthen) = (tolerance.unwrap_or(Self::TOLERANCE), lengthen.unwrap_or(Self::LENGTHEN));
        Ok(Self { most, tolerance, lengthen })
    }

    /// Number of loads that a search tries.
    #[must_use]
    pub fn loads(self) -> usize {
        2 + (self.most / self.tolerance).log2().ceil().max(0.0) as usize
    }
}

/// Replaces the loads of lists by the highest one, or by 1 if there is none.
///
/// # Errors
/// Loads that cannot be read; a fixed number of cycles, which has no steady state.
pub fn keep_highest(lists: &mut Lists) -> Result<(), SettingsError> {
    if let Some(given) = lists.get("cycles") {
        let what = phrase![
            "saturation is that of a steady state, and runs of so many ",
            ["cycles"],
            " begin with an empty network"
        ];
        let remedy = phrase!["use ", ["warmup"], ", ", ["samples"], " and ", ["sample-size"], " for shorter runs"];
        let origin = given.first().map_or(Origin::Default, |setting| setting.origin.clone());
        let error = SpecError::new(ErrorKind::Meaningless, what, remedy).of("cycles");
        return Err(SettingsError { error, origin });
    }
    let highest = match lists.remove("load") {
        None => Setting { value: "1".to_owned(), origin: Origin::Default, listed: false, topology: None },
        Some(given) => {
            let first = given.first().cloned();
            let mut grid = Grid::new(Lists::from_iter([("load", given)]))?;
            let load = |setting: &Setting| setting.value.parse::<f64>().unwrap_or(f64::MAX);
            let of_list =
                grid.axes.pop().and_then(|axis| axis.values.into_iter().max_by(|a, b| load(a).total_cmp(&load(b))));
            match of_list.or(first) {
                Some(highest) => highest,
                None => return Ok(()),
            }
        }
    };
    lists.insert("load", vec![highest]);
    Ok(())
}

/// Outcome of the search of one experiment.
#[derive(Clone, PartialEq, Debug)]
pub struct Searched {
    /// The proven bound of the load, if one is known.
    pub bound: Option<LoadBound>,
    /// The interval that contains the saturation load.
    pub bracket: Bracket,
    /// The loads that were tried, in ascending order.
    pub probes: Vec<Tried>,
    /// The load at which a run failed, and why; `None` if none failed.
    pub failure: Option<(f64, String)>,
    /// False if the network has no limit: no load is tried.
    pub has_limit: bool,
}

impl Searched {
    /// The largest value of a figure over the tried loads.
    #[must_use]
    pub fn peak(&self, figure: Figure) -> Option<f64> {
        self.probes.iter().filter_map(|probe| probe.result.number(figure)).max_by(f64::total_cmp)
    }
}

/// Searches between 0 and the highest load, and calls `tried` after each load. `run` runs an experiment, and returns
/// `None` if it was stopped.
///
/// # Errors
/// Those of `run`.
pub fn search<E: From<SettingsError>>(
    experiment: &Experiment,
    bounds: SearchBounds,
    run: impl Fn(&Experiment) -> Result<Option<RunResult>, E>,
    tried: impl Fn(),
) -> Result<Searched, E> {
    let bound = LoadBound::of(experiment);
    let mut bracket = Bracket::new(bounds.most, bounds.tolerance, bound.map(|bound| bound.load));
    let mut probes: Vec<Tried> = Vec::new();
    let mut failure = None;
    let has_limit = experiment.unloaded.is_none_or(|unloaded| unloaded.is_limited);
    if !has_limit {
        bracket.low = bounds.most;
    }
    while let Some(load) = bracket.next() {
        let Some(result) = decide(experiment, load, bounds.lengthen, &run)? else { break };
        if let Some(found) = result.failure {
            failure = Some((load, found.what));
            break;
        }
        let found = match () {
            () if result.is_saturated() => Found::Saturated,
            () if result.is_undecided() => Found::Undecided,
            () => Found::Carried,
        };
        bracket.observe(Probe { load, found });
        probes.push(Tried { load, result });
        tried();
    }
    probes.sort_by(|a, b| a.load.total_cmp(&b.load));
    Ok(Searched { bound, bracket, probes, failure, has_limit })
}

/// Runs a load, and again with longer warm-up and batches until the verdict is decided or the run is `lengthen` times
/// as long. The lengths are powers of two times the given ones, so that a test of few runs is made at each of them.
/// `None` if the run was stopped.
fn decide<E: From<SettingsError>>(
    experiment: &Experiment,
    load: f64,
    lengthen: u64,
    run: &impl Fn(&Experiment) -> Result<Option<RunResult>, E>,
) -> Result<Option<RunResult>, E> {
    let mut factor = 1;
    loop {
        let mut settings = experiment.settings().clone();
        settings.set("load", load.to_string(), settings.origin("load"))?;
        if let RunPlan::Batch(BatchPlan { warmup, sample_size, .. }) = experiment.plan {
            for (key, cycles) in [("warmup", warmup), ("sample-size", sample_size)] {
                settings.set(key, cycles.saturating_mul(factor).to_string(), settings.origin(key))?;
            }
        }
        let Some(result) = run(&Experiment::resolve(settings)?)? else { return Ok(None) };
        let least = factor.saturating_mul(2);
        if !result.is_undecided() || result.failure.is_some() || least > lengthen {
            return Ok(Some(result));
        }
        let times = |(needed, measured): (u64, u64)| needed.div_ceil(measured.max(1)).next_power_of_two();
        let needed = result.deciding_cycles.zip(result.measured_cycles).map_or(2, times);
        factor = factor.saturating_mul(needed.clamp(2, 8)).min(1 << lengthen.ilog2());
    }
}

impl Saturations {
    /// The searches of all points of a plan, in its order, of which those that differ only in their seeds are one.
    #[must_use]
    pub fn of(plan: &Plan, experiments: &[Experiment], bounds: SearchBounds, found: Vec<Searched>) -> Self {
        let mut groups: Vec<(Map<String, Value>, Vec<SeedSearch>)> = Vec::new();
        for ((point, experiment), searched) in plan.points.iter().zip(experiments).zip(found) {
            let pairs = plan.axes.iter().zip(&point.values).filter(|(axis, _)| axis.key != "seed");
            let settings: Map<String, Value> = pairs.map(|(axis, value)| (axis.key.clone(), json!(value))).collect();
            let peak = searched.peak(Figure::AcceptedLoadOfSenders);
            let Searched { bound, bracket, probes, failure, has_limit } = searched;
            let seed = SeedSearch {
                seed: experiment.settings().value("seed").unwrap_or("").to_owned(),
                complete: failure.is_none() && bracket.next().is_none(),
                load: bracket.load(),
                low: bracket.low,
                high: bracket.high,
                undecided: bracket.undecided,
                has_limit,
                bound: bound.map(|bound| bound.load),
                bound_by: bound.map(|bound| bound.by.to_owned()),
                peak,
                failure: failure.map(|(load, why)| format!("at load {load}: {why}")),
                experiment: point.experiment.clone(),
                probes: probes.iter().map(Tried::row).collect(),
            };
            match groups.iter_mut().find(|(known, _)| *known == settings) {
                Some((_, seeds)) => seeds.push(seed),
                None => groups.push((settings, vec![seed])),
            }
        }
        let searches = groups.into_iter().map(|(settings, seeds)| Search::of(settings, seeds)).collect();
        Self::new(bounds.tolerance, bounds.most, searches)
    }
}
