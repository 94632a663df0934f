//! Searches for saturation.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use fsin::experiment::{Experiment, keys};
use fsin::sweep::{Grid, Plan, Point, Saturations, SearchBounds, keep_highest, search};
use pyo3::prelude::*;

use crate::calls::interruptible;
use crate::fault::Fault;
use crate::install;
use crate::notation::{Keywords, argument};
use crate::run::{json, perform_one};
use crate::settings::Arguments;
use crate::sweep::{jobs, many};

/// Finds the saturation load of every combination of values. Returns the file of `fsin saturation -o`, as JSON, and the
/// row of each search. `tell` is called with the number of loads tried, and of those to try at most.
#[pyfunction]
pub(crate) fn saturation(
    py: Python<'_>,
    file: Option<PathBuf>,
    arguments: Arguments,
    asked: Option<usize>,
    tell: Option<&Bound<'_, PyAny>>,
) -> PyResult<(String, String)> {
    install();
    let ended = interruptible(py, tell, move |call| {
        let (mut lists, many) = many(file, arguments, &["seeds", "skip-invalid", "tolerance", "lengthen"])?;
        if let Some(key) = keys().iter().find(|key| key.keeps && lists.contains_key(key.name)) {
            let name = argument(key.name);
            let what = format!("{name} is of single runs, and a search keeps their verdicts alone");
            return Err(Fault::new(what, "leave it out, or sweep loads around the answer with it").of(&name));
        }
        keep_highest(&mut lists)?;
        let plan = Plan::new(&Grid::new(lists)?, 0, many.skip_invalid, &Keywords)?;
        let experiments: Vec<Experiment> = plan.points.iter().map(Point::resolve).collect::<Result<_, _>>()?;
        let bounds =
            SearchBounds::of(&experiments, many.tolerance, many.lengthen).map_err(|error| Fault::from(&error))?;
        let all = bounds.loads() * experiments.len();
        let threads = experiments.first().map_or(1, |experiment| experiment.network.threads());
        let (next, tried) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let found = Mutex::new(Vec::new());
        let work = || {
            while let Some((index, experiment)) = {
                let index = next.fetch_add(1, Ordering::Relaxed);
                experiments.get(index).map(|experiment| (index, experiment))
            } {
                let run = |longer: &Experiment| perform_one(longer, call.stop());
                let tell = || call.progress(tried.fetch_add(1, Ordering::Relaxed) + 1, all);
                let searched = search(experiment, bounds, run, tell);
                found.lock().unwrap_or_else(PoisonError::into_inner).push((index, searched));
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..jobs(asked, threads).min(experiments.len()) {
                scope.spawn(|| call.part(work));
            }
        });
        let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        found.sort_by_key(|(index, _)| *index);
        let found = found.into_iter().map(|(_, searched)| searched).collect::<Result<Vec<_>, Fault>>()?;
        let saturations = Saturations::of(&plan, &experiments, bounds, found);
        Ok((json(&saturations), json(&saturations.rows())))
    })?;
    Ok(ended.value)
}
