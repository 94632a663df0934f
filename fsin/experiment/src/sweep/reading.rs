//! Figures of runs whose cycles differ in length.

use std::borrow::Cow;

use crate::result::{Figure, RunResult};

/// Relative difference up to which two lengths of a cycle are the same: they are quotients of rounded numbers.
const ROUNDED: f64 = 1e-9;

/// What [`Reading::comparable`] does where cycles differ, in words.
pub const CYCLES_DIFFER: &str = "cycles differ in length: latencies are compared in seconds, loads are not compared";

/// A figure, as it is read from results.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reading {
    /// The figure.
    pub figure: Figure,
    /// True if it counts cycles, and is read in seconds.
    pub is_time: bool,
}

impl From<Figure> for Reading {
    fn from(figure: Figure) -> Self {
        Self { figure, is_time: false }
    }
}

impl Reading {
    /// The reading in which runs with these figures can be compared; `None` if there is none. Where cycles have the same
    /// length, it is the figure itself. Where they differ, it is a time if the figure counts cycles of known lengths, and
    /// there is none for loads, which are shares of a cycle.
    #[must_use]
    pub fn comparable<'a>(figure: Figure, results: impl Iterator<Item = &'a RunResult> + Clone) -> Option<Self> {
        let is_time = figure.unit() == "cycles";
        match cycles_differ(results.clone()) {
            false => Some(figure.into()),
            // The same time is a figure of its own.
            true if figure == Figure::CompletionCycles || figure.is_load() => None,
            true if is_time && results.clone().any(|result| cycle_seconds(result).is_none()) => None,
            true => Some(Self { figure, is_time }),
        }
    }

    /// The figure of a run.
    #[must_use]
    pub fn of(self, result: &RunResult) -> Option<f64> {
        Some(result.number(self.figure)? * self.factor(result)?)
    }

    /// The factor from the figure of a run, of its batches and of its shots to this reading; `None` if the length of a
    /// cycle is unknown.
    #[must_use]
    pub fn factor(self, result: &RunResult) -> Option<f64> {
        if self.is_time { cycle_seconds(result) } else { Some(1.0) }
    }

    /// The name in tables: that of the figure, with `seconds` in place of `cycles` for a time.
    #[must_use]
    pub fn name(self) -> Cow<'static, str> {
        let name = self.figure.name();
        match name.strip_suffix("_cycles").filter(|_| self.is_time) {
            Some(stem) => format!("{stem}_seconds").into(),
            None => name.into(),
        }
    }
}

/// \[s\] The length of a cycle of a run; `None` where a cycle is the time of a phit and no rate is known, as under steady
/// traffic.
#[must_use]
pub fn cycle_seconds(result: &RunResult) -> Option<f64> {
    if result.counts_picoseconds() {
        return Some(1e-12);
    }
    // The time of guests is rounded to cycles.
    let cycles = result.completion_cycles.filter(|&cycles| cycles > 0 && result.guests.is_none())?;
    Some(result.completion_seconds? / cycles as f64)
}

/// True if the cycles of runs are known to differ in length, or are of different kinds, so that numbers of cycles are not
/// comparable as times.
#[must_use]
pub fn cycles_differ<'a>(results: impl Iterator<Item = &'a RunResult> + Clone) -> bool {
    let mut kinds = results.clone().map(RunResult::counts_picoseconds);
    let mut lengths = results.filter_map(cycle_seconds);
    let of_kinds = kinds.next().is_some_and(|first| kinds.any(|kind| kind != first));
    of_kinds || lengths.next().is_some_and(|first| lengths.any(|length| (length - first).abs() > ROUNDED * first))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::*;

    fn results(all: &[Json]) -> Vec<RunResult> {
        all.iter().map(|one| serde_json::from_value(one.clone()).expect("it is a result")).collect()
    }

    /// The reading of the mean latency in these results, by name, and its value in the last one.
    fn latency(all: &[Json]) -> Option<(String, f64)> {
        let all = results(all);
        let reading = Reading::comparable(Figure::LatencyMean, all.iter())?;
        // In thousandths of a nanosecond, where it is a time.
        let unit = if reading.is_time { 1e12 } else { 1.0 };
        Some((reading.name().into_owned(), (reading.of(all.last()?)? * unit).round()))
    }

    #[test]
    fn cycles_of_different_lengths_are_read_in_seconds() {
        let run = |network: &str, completion: Option<(u64, f64)>| {
            let mut run = json!({ "experiment": { "network": network }, "latency_mean_cycles": 500.0 });
            if let Some((cycles, seconds)) = completion {
                run["completion_cycles"] = cycles.into();
                run["completion_seconds"] = seconds.into();
            }
            run
        };
        let (slow, fast) = (run("vct", Some((1000, 4e-6))), run("vct", Some((3000, 3e-6))));
        let (steady, flow) = (run("vct", None), run("flow", None));
        let own = Some(("latency_mean_cycles".to_owned(), 500.0));
        assert_eq!(latency(&[slow.clone(), run("wormhole", Some((10, 4e-8)))]), own);
        assert_eq!(latency(&[steady.clone(), run("wormhole", None)]), own);
        assert_eq!(latency(&[slow.clone(), fast]), Some(("latency_mean_seconds".to_owned(), 500_000.0)));
        assert_eq!(latency(&[slow, flow.clone()]), Some(("latency_mean_seconds".to_owned(), 500.0)));
        // A cycle of steady traffic is a phit's time on a link of any rate.
        assert_eq!(latency(&[steady.clone(), flow.clone()]), None);
        let mixed = results(&[steady, flow]);
        let load = |figure| Reading::comparable(figure, mixed.iter());
        assert_eq!(load(Figure::AcceptedLoad), None, "of phits in one, of capacity in the other");
        assert_eq!(load(Figure::CompletionSeconds), Some(Figure::CompletionSeconds.into()));
    }
}
