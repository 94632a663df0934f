//! Sweeps: runs for every combination of values, on several threads of this process, and their pictures.

use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};

use fsin::experiment::{Lists, Origin, many_key};
use fsin::report::{Scale, Style, link_pictures, pictures};
use fsin::result::RunResult;
use fsin::sweep::{Choice, Collected, Curves, Grid, Many, Plan, Row, StopRule, remarks};
use pyo3::prelude::*;

use crate::calls::{Call, interruptible};
use crate::fault::Fault;
use crate::install;
use crate::notation::Keywords;
use crate::run::{json, perform_one};
use crate::settings::{Arguments, lists};

/// The lists of values of many experiments, and the settings of the sweep or search itself, those of `own` alone.
///
/// # Errors
/// Values that are out of range; a key of [`MANY_KEYS`](fsin::experiment::MANY_KEYS) that is not among `own`.
pub(crate) fn many(file: Option<PathBuf>, arguments: Arguments, own: &[&str]) -> Result<(Lists, Many), Fault> {
    let (mut lists, mut many) = (lists(file, arguments)?, Many::default());
    let given: Vec<&'static str> = lists.keys().copied().filter(|name| many_key(name).is_some()).collect();
    for name in given {
        let values = lists.remove(name).unwrap_or_default();
        let (Some(key), Some(setting)) = (many_key(name), values.first()) else { continue };
        match own.contains(&name) {
            true => many.set(key, &setting.value, setting.origin.clone())?,
            // A file may hold the settings of sweeps and of searches.
            false if setting.origin != Origin::Flag => {}
            false => {
                let argument = crate::notation::argument(name);
                return Err(Fault::new(format!("{argument} has no meaning here"), "leave it out").of(&argument));
            }
        }
    }
    many.replicate(&mut lists)?;
    Ok((lists, many))
}

/// Number of threads for parts of this many threads each.
pub(crate) fn jobs(asked: Option<usize>, threads: usize) -> usize {
    let processors = || std::thread::available_parallelism().map_or(1, usize::from);
    asked.unwrap_or_else(|| processors() / threads.max(1)).clamp(1, 4096)
}

/// The results of a sweep.
#[pyclass(frozen, module = "fsin._fsin")]
pub(crate) struct Swept {
    plan: Plan,
    collected: Collected,
}

/// Runs every combination of values. `tell` is called with the number of points that have run, and of all.
#[pyfunction]
pub(crate) fn sweep(
    py: Python<'_>,
    file: Option<PathBuf>,
    arguments: Arguments,
    jobs: Option<usize>,
    tell: Option<&Bound<'_, PyAny>>,
) -> PyResult<Swept> {
    install();
    let ended = interruptible(py, tell, move |call| {
        let (lists, many) = many(file, arguments, &["seeds", "stop-after", "skip-invalid"])?;
        let plan = Plan::new(&Grid::new(lists)?, many.stop_after, many.skip_invalid, &Keywords)?;
        let collected = run_all(&plan, jobs, call)?;
        Ok(Swept { plan, collected })
    })?;
    Ok(ended.value)
}

/// What has become of a point.
enum Ran {
    Done(Box<RunResult>),
    Failed(String),
}

/// Runs the points of a plan.
///
/// # Errors
/// The first point, if it cannot be resolved again: its files have changed.
fn run_all(plan: &Plan, asked: Option<usize>, call: &Call<Swept>) -> Result<Collected, Fault> {
    let threads = plan.points.first().map_or(Ok(1), |point| point.resolve().map(|one| one.network.threads()))?;
    let all = plan.points.len();
    // Low loads of every curve come first: they are cheap, and decide whether higher ones are run at all.
    let load = |index: usize| plan.axis("load").and_then(|axis| plan.points[index].values[axis].parse::<f64>().ok());
    let mut queue: Vec<usize> = (0..all).collect();
    queue.sort_by(|&a, &b| load(b).partial_cmp(&load(a)).unwrap_or(std::cmp::Ordering::Equal).then(b.cmp(&a)));
    let rule = StopRule::new(plan);
    let shared = Mutex::new((queue, vec![None; all], 0));
    let found: Mutex<Vec<(usize, Ran)>> = Mutex::new(Vec::new());
    let take = || {
        let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let index = shared.0.pop()?;
            if !rule.leaves_out(index, &shared.1) {
                return Some(index);
            }
            shared.2 += 1;
        }
    };
    let work = || {
        while !call.stop().load(Ordering::Relaxed) {
            let Some(index) = take() else { return };
            let point = &plan.points[index];
            let ran = point.resolve().map_err(Fault::from).and_then(|one| perform_one(&one, call.stop()));
            let ran = match ran {
                Ok(Some(result)) => Ran::Done(Box::new(result)),
                Ok(None) => return,
                Err(fault) => Ran::Failed(fault.what().to_owned()),
            };
            let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
            if let Ran::Done(result) = &ran {
                shared.1[index] = Some(result.is_saturated());
            }
            shared.2 += 1;
            call.progress(shared.2, all);
            drop(shared);
            found.lock().unwrap_or_else(PoisonError::into_inner).push((index, ran));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..jobs(asked, threads).min(all) {
            scope.spawn(|| call.part(work));
        }
    });
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.sort_by_key(|(index, _)| *index);
    let (_, saturated, _) = shared.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut collected = Collected { left_out: all - found.len(), ..Collected::default() };
    for (index, ran) in found {
        match ran {
            // Threads may have run points beyond the end of their curve.
            _ if rule.leaves_out(index, &saturated) => collected.left_out += 1,
            Ran::Done(result) => {
                collected.failed.extend(result.why_failed().map(|why| (index, why.to_owned())));
                collected.rows.push(Row { index, result: result.reproducible() });
            }
            Ran::Failed(why) => collected.failed.push((index, why)),
        }
    }
    Ok(collected)
}

/// Options of pictures, by the names of the flags of `fsin plot`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Look {
    along: Option<String>,
    each: Vec<String>,
    only: Vec<(String, String)>,
    names: Vec<(String, String)>,
    title: String,
    scale: String,
    panels: bool,
    saturated: bool,
    xmax: Option<f64>,
    ymax: Option<f64>,
}

/// A picture: kind, name, caption, SVG and data.
type Drawn = (&'static str, String, String, String, String);

#[pymethods]
impl Swept {
    /// The varying settings, by key and with their values.
    fn axes(&self) -> Vec<(String, Vec<String>)> {
        self.plan.axes.iter().map(|axis| (axis.key.clone(), axis.values.clone())).collect()
    }

    /// The values on the axes and the result of each point, as JSON.
    fn rows(&self) -> Vec<(Vec<String>, String)> {
        let row = |row: &Row| (self.plan.points[row.index].values.clone(), json(&row.result));
        self.collected.rows.iter().map(row).collect()
    }

    /// The points that failed, in words, and why.
    fn failed(&self) -> Vec<(String, String)> {
        let point = |index: usize| self.plan.describe(&self.plan.points[index]);
        self.collected.failed.iter().map(|(index, why)| (point(*index), why.clone())).collect()
    }

    /// Number of points that were left out, since they lie beyond saturation.
    fn left_out(&self) -> usize {
        self.collected.left_out
    }

    /// What a reader of the results should know.
    fn remarks(&self) -> Vec<String> {
        self.plan.left_out().into_iter().chain(remarks(&self.plan, &self.collected)).collect()
    }

    fn pictures(&self, look: Look) -> PyResult<Vec<Drawn>> {
        let Look { along, each, only, names, title, scale, panels, saturated, xmax, ymax } = look;
        let choice = Choice { along, each, only, names };
        let curves =
            Curves::chosen(&self.plan, &self.collected, &choice).map_err(|error| PyErr::from(Fault::from(&error)))?;
        let scale = match scale.as_str() {
            "auto" => Scale::Auto,
            "linear" => Scale::Linear,
            "log" => Scale::Log,
            other => {
                let what = format!("scale={other:?} is no scale");
                return Err(Fault::new(what, "use \"auto\", \"linear\" or \"log\"").of("scale").into());
            }
        };
        let style = Style { scale, saturated, panels, title, xmax, ymax, ..Style::default() };
        let (links, _) = link_pictures(&self.plan, &curves, &self.collected);
        let all = pictures(&curves, &self.collected, &style).into_iter().chain(links);
        Ok(all.map(|one| (one.kind, one.name, one.caption, one.svg, one.data)).collect())
    }
}
