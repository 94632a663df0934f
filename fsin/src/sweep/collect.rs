//! Results of a sweep: the points that have run, in the order of the plan.

use serde_json::{Map, Value, json};

use super::plan::{Plan, Point};
use super::stop::StopRule;
use super::store::{Store, StoreError};
use crate::report::{COSTS, write_rows};

/// A point that has run.
#[derive(Clone, PartialEq, Debug)]
pub struct Row {
    /// Its position in the plan.
    pub index: usize,
    /// Its figures; those that depend on the machine are left out.
    pub figures: Map<String, Value>,
    /// How it was made.
    pub manifest: Value,
}

/// What has become of the points of a plan.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Collected {
    /// Points with results.
    pub rows: Vec<Row>,
    /// Points that failed, with the reason: without result, or in deadlock.
    pub failed: Vec<(usize, String)>,
    /// Points that nobody has run yet.
    pub missing: Vec<usize>,
    /// Points beyond the end of their curve, by the stop rule.
    pub left_out: usize,
}

impl Collected {
    /// True if every point of the plan has a result or is left out by the stop rule.
    #[must_use]
    pub const fn is_whole(&self) -> bool {
        self.failed.is_empty() && self.missing.is_empty()
    }

    /// Results of runs that did not come to their end, and did not fail: their figures are those of a part.
    #[must_use]
    pub fn incomplete(&self) -> usize {
        let has_failed = |index| self.failed.iter().any(|&(failed, _)| failed == index);
        let ended = |row: &Row| row.figures.get("complete") != Some(&json!(false));
        self.rows.iter().filter(|row| !ended(row) && !has_failed(row.index)).count()
    }

    /// What keeps the results from being what was planned, in words; `None` if nothing does.
    #[must_use]
    pub fn reservation(&self) -> Option<String> {
        let counts = [
            (self.incomplete(), ("result is of a run that", "results are of runs that"), " did not come to their end"),
            (self.failed.len(), ("point", "points"), " failed"),
            (self.missing.len(), ("point is", "points are"), " missing"),
        ];
        let said = counts.into_iter().filter(|(count, ..)| *count > 0).map(|(count, (one, many), rest)| match count {
            1 => format!("1 {one}{}", rest.replace("their end", "its end")),
            _ => format!("{count} {many}{rest}"),
        });
        let said: Vec<String> = said.collect();
        (!said.is_empty()).then(|| said.join(", "))
    }
}

/// The figures of a run that are the same on every machine and at any time.
#[must_use]
pub fn reproducible(figures: &Map<String, Value>) -> Map<String, Value> {
    let same = figures.iter().filter(|(name, _)| *name != "manifest" && !COSTS.contains(&name.as_str()));
    let mut same: Map<String, Value> = same.map(|(name, value)| (name.clone(), value.clone())).collect();
    // Threads change nothing else.
    if let Some(Value::Object(settings)) = same.get_mut("experiment") {
        settings.remove("threads");
    }
    same
}

/// Why a result is a failure, if it is one.
pub(crate) fn failure(figures: &Map<String, Value>) -> Option<String> {
    match figures.get("failure") {
        Some(Value::Object(failure)) => failure.get("what").and_then(Value::as_str).map(str::to_owned),
        _ if figures.get("complete") == Some(&json!(false))
            && figures.get("experiment").is_some_and(|of| of["strict"] == json!(true)) =>
        {
            Some("the limit of cycles ended the run".to_owned())
        }
        _ => None,
    }
}

/// Reads what there is.
///
/// # Errors
/// A result that is not what was written.
pub fn collect(store: &Store, plan: &Plan) -> Result<Collected, StoreError> {
    gather(store, plan, |point| store.result(point, plan.has_checksums()))
}

/// Reads what there is, whatever checksums say of it.
pub(super) fn collect_unchecked(store: &Store, plan: &Plan) -> Result<Collected, StoreError> {
    gather(store, plan, |point| match store.folder(point).exists() {
        true => store.figures(point).map(Some).map_err(|why| store.damaged(point, &why)),
        false => Ok(None),
    })
}

fn gather(
    store: &Store,
    plan: &Plan,
    read: impl Fn(&Point) -> Result<Option<Map<String, Value>>, StoreError>,
) -> Result<Collected, StoreError> {
    let mut collected = Collected::default();
    let results = plan.points.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let saturated = |result: &Option<Map<String, Value>>| {
        result.as_ref().map(|figures| figures.get("saturated") == Some(&json!(true)))
    };
    let (rule, saturated) = (StopRule::new(plan), results.iter().map(saturated).collect::<Vec<_>>());
    for (index, result) in results.into_iter().enumerate() {
        match result {
            _ if rule.leaves_out(index, &saturated) => collected.left_out += 1,
            Some(figures) => {
                collected.failed.extend(failure(&figures).map(|why| (index, why)));
                let manifest = figures.get("manifest").cloned().unwrap_or_default();
                collected.rows.push(Row { index, figures: reproducible(&figures), manifest });
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
    let rows: Vec<Map<String, Value>> = collected
        .rows
        .iter()
        .map(|row| {
            let mut whole = Map::new();
            whole.insert("point".to_owned(), json!(plan.points[row.index].id));
            whole.extend(row.figures.clone());
            whole
        })
        .collect();
    let lines: String = rows.iter().map(|row| format!("{}\n", Value::Object(row.clone()))).collect();
    store.written("results.jsonl", store.replace("results.jsonl", &lines))?;
    let mut table = Vec::new();
    let written =
        write_rows(&rows, &mut table).and_then(|()| store.replace("results.csv", &String::from_utf8_lossy(&table)));
    store.written("results.csv", written)
}
