//! Results of a sweep: the points that have run, in the order of the plan.

use serde::Serialize;

use super::plan::{Plan, Point};
use super::stop::StopRule;
use super::store::{Store, StoreError};
use crate::models::shared_load_unit;
use crate::result::{self, RunResult};

/// A point that has run.
#[derive(Clone, PartialEq, Debug)]
pub struct Row {
    /// Index of the point in the plan.
    pub index: usize,
    /// Result and manifest of the point. Only machine-independent figures are written.
    pub result: RunResult,
}

/// State of the points of a plan.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Collected {
    /// Points with results.
    pub rows: Vec<Row>,
    /// Indices of points that failed, with the reason: without result, or in deadlock.
    pub failed: Vec<(usize, String)>,
    /// Indices of points that have not been run.
    pub missing: Vec<usize>,
    /// Number of points beyond the end of their curve, by the stop rule.
    pub left_out: usize,
}

impl Collected {
    /// The unit of the loads of all results.
    #[must_use]
    pub fn load_unit(&self) -> &'static str {
        shared_load_unit(self.rows.iter().map(|row| row.result.load_unit()))
    }

    /// True if every point of the plan has a result or is left out by the stop rule.
    #[must_use]
    pub const fn is_whole(&self) -> bool {
        self.failed.is_empty() && self.missing.is_empty()
    }

    /// Number of results of runs that neither completed nor failed: their figures cover a part of the run.
    #[must_use]
    pub fn incomplete(&self) -> usize {
        let has_failed = |index| self.failed.iter().any(|&(failed, _)| failed == index);
        self.rows.iter().filter(|row| !row.result.complete && !has_failed(row.index)).count()
    }

    /// What differs from the plan, in words; `None` if all results are as planned.
    #[must_use]
    pub fn reservation(&self) -> Option<String> {
        let counts = [
            (self.incomplete(), ("result is of a run that", "results are of runs that"), " did not come to their end"),
            (self.failed.len(), ("point", "points"), " failed"),
            (self.missing.len(), ("point is", "points are"), " missing"),
        ];
        let reservations =
            counts.into_iter().filter(|(count, ..)| *count > 0).map(|(count, (one, many), rest)| match count {
                1 => format!("1 {one}{}", rest.replace("their end", "its end")),
                _ => format!("{count} {many}{rest}"),
            });
        let reservations: Vec<String> = reservations.collect();
        (!reservations.is_empty()).then(|| reservations.join(", "))
    }
}

/// Reads the available results.
///
/// # Errors
/// A result that differs from what was written.
pub fn collect(store: &Store, plan: &Plan) -> Result<Collected, StoreError> {
    gather(store, plan, |point| store.result(point, plan.has_checksums()))
}

/// Reads the available results without verifying checksums.
pub(super) fn collect_unchecked(store: &Store, plan: &Plan) -> Result<Collected, StoreError> {
    gather(store, plan, |point| match store.folder(point).exists() {
        true => store.read(point).map(Some).map_err(|why| store.damaged(point, &why)),
        false => store.compact(point)?.transpose().map_err(|why| store.damaged(point, &why)),
    })
}

/// Reads the available results, with `read` for each point.
fn gather(
    store: &Store,
    plan: &Plan,
    read: impl Fn(&Point) -> Result<Option<RunResult>, StoreError>,
) -> Result<Collected, StoreError> {
    let mut collected = Collected::default();
    let results = plan.points.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let saturated = |result: &Option<RunResult>| result.as_ref().map(RunResult::is_saturated);
    let (rule, saturated) = (StopRule::new(plan), results.iter().map(saturated).collect::<Vec<_>>());
    for (index, result) in results.into_iter().enumerate() {
        match result {
            _ if rule.leaves_out(index, &saturated) => collected.left_out += 1,
            Some(result) => {
                collected.failed.extend(result.why_failed().map(|why| (index, why.to_owned())));
                collected.rows.push(Row { index, result: result.reproducible() });
            }
            None => match store.failure(&plan.points[index]) {
                Some(why) => collected.failed.push((index, why)),
                None => collected.missing.push(index),
            },
        }
    }
    Ok(collected)
}

/// Writes `results.jsonl` and `results.csv`: one line per point, its identity first.
///
/// # Errors
/// When nothing can be written there.
pub fn write_results(store: &Store, plan: &Plan, collected: &Collected) -> Result<(), StoreError> {
    let identity = |row: &Row| plan.points[row.index].id.clone();
    let mut lines = Vec::new();
    let written = collected.rows.iter().try_for_each(|row| {
        let line = Line { point: identity(row), result: &row.result };
        result::write_line(&line, &mut lines)
    });
    let written = written.and_then(|()| store.replace("results.jsonl", &String::from_utf8_lossy(&lines)));
    store.written("results.jsonl", written)?;
    let rows = collected.rows.iter().map(|row| (vec![("point".to_owned(), identity(row))], &row.result));
    let mut table = Vec::new();
    let written = result::write_results(rows, &mut table)
        .and_then(|()| store.replace("results.csv", &String::from_utf8_lossy(&table)));
    store.written("results.csv", written)
}

/// A line of `results.jsonl`.
#[derive(Serialize)]
struct Line<'a> {
    /// Identity of the point.
    point: String,
    #[serde(flatten)]
    result: &'a RunResult,
}
