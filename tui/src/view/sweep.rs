//! A sweep: many runs that differ in a few settings, and their states.

use std::collections::{BTreeMap, VecDeque};

use super::{RunState, Snapshot};

/// Largest number of log lines that are kept.
const LOG_LINES: usize = 200;
/// \[share\] Part of a run that must be done before its remaining time is estimated.
const LEAST_SHARE: f64 = 0.02;

/// A figure of runs that is plotted against the axis of a sweep.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Figure {
    /// Accepted load.
    Accepted,
    /// Mean latency.
    Latency,
    /// Completion time of traces and kernels.
    Completion,
}

impl Figure {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Accepted, Self::Latency, Self::Completion];

    /// Its name, and its unit; `load_unit` is that of loads.
    #[must_use]
    pub fn title(self, load_unit: &str) -> String {
        match self {
            Self::Accepted if load_unit.is_empty() => "accepted load".to_owned(),
            Self::Accepted => format!("accepted load ({load_unit})"),
            Self::Latency => "mean latency (cycles)".to_owned(),
            Self::Completion => "completion time (cycles)".to_owned(),
        }
    }

    /// Its name in a table.
    #[must_use]
    pub const fn short(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Latency => "latency",
            Self::Completion => "completion",
        }
    }

    /// Decimals of it in a table.
    #[must_use]
    pub const fn decimals(self) -> usize {
        match self {
            Self::Accepted => 4,
            Self::Latency => 1,
            Self::Completion => 0,
        }
    }
}

/// Outcome of a run.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Figures {
    /// True if the network accepted clearly less than the offered load.
    pub saturated: bool,
    /// Accepted load, in the unit of loads.
    pub accepted: Option<f64>,
    /// \[cycles\] Mean latency.
    pub latency: Option<f64>,
    /// \[cycles\] Completion time.
    pub completion: Option<f64>,
    /// \[s\] Duration of the run; `None` if it belongs to an earlier part of the sweep.
    pub seconds: Option<f64>,
}

impl Figures {
    /// The value of one figure.
    #[must_use]
    pub const fn get(&self, figure: Figure) -> Option<f64> {
        match figure {
            Figure::Accepted => self.accepted,
            Figure::Latency => self.latency,
            Figure::Completion => self.completion,
        }
    }
}

/// Progress of a run.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Pace {
    /// Its phase: `warm-up`, `measuring`, ...
    pub phase: String,
    /// True while it is paused.
    pub paused: bool,
    /// Completed share (0 to 1) of its cycles, if its end is known.
    pub share: Option<f64>,
    /// \[cycles/s\] Recent speed.
    pub cycles_per_second: Option<f64>,
    /// \[s\] Wall-clock time since its start.
    pub seconds: f64,
}

impl From<&Snapshot> for Pace {
    fn from(snapshot: &Snapshot) -> Self {
        Self {
            phase: snapshot.phase.clone(),
            paused: snapshot.state == RunState::Paused,
            share: snapshot.share(),
            cycles_per_second: snapshot.cycles_per_second,
            seconds: snapshot.elapsed_seconds,
        }
    }
}

/// State of a point.
#[derive(Clone, PartialEq, Debug)]
pub enum PointState {
    /// It has not begun.
    Waiting,
    /// It is running.
    Running(Pace),
    /// It has results.
    Done(Figures),
    /// It has failed for this reason.
    Failed(String),
    /// Skipped: beyond saturation, where the curve has ended.
    LeftOut,
}

/// A run of a sweep.
#[derive(Clone, PartialEq, Debug)]
pub struct SweepPoint {
    /// Its settings: `routing bubble:smart, load 0.3`.
    pub name: String,
    /// Its curve, as an index into [`Sweep::curves`].
    pub curve: usize,
    /// Its position on the axis; an index into [`Sweep::words`] if that is not empty.
    pub x: f64,
    /// Its state.
    pub state: PointState,
}

/// A sweep so far.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Sweep {
    /// One-line description.
    pub title: String,
    /// Quantity on the axis, with its unit: `load (phits/node/cycle)`.
    pub axis: String,
    /// The unit of loads.
    pub load_unit: String,
    /// The values of the axis if they are words; empty if they are numbers.
    pub words: Vec<String>,
    /// Names of the curves.
    pub curves: Vec<String>,
    /// The points, in the order of the plan.
    pub points: Vec<SweepPoint>,
    /// Largest number of points that run at the same time.
    pub at_once: usize,
    /// \[s\] Wall-clock time since the start.
    pub elapsed_seconds: f64,
    /// The point that the other screens show.
    pub watched: Option<usize>,
    /// True once no point is running any more.
    pub over: bool,
    /// Log lines, latest last.
    pub log: VecDeque<String>,
}

/// A change of a sweep.
#[derive(Clone, PartialEq, Debug)]
pub enum Change {
    /// New state of a point.
    Point(usize, PointState),
    /// Another point, or none, is shown from now on.
    Watched(Option<usize>),
    /// \[s\] Wall-clock time since the start.
    Elapsed(f64),
    /// A log line.
    Said(String),
    /// The sweep is over.
    Over,
}

/// Number of points by state.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Counts {
    /// Points that have not begun.
    pub waiting: usize,
    /// Running points.
    pub running: usize,
    /// Points with results.
    pub done: usize,
    /// Points with results that are saturated.
    pub saturated: usize,
    /// Points that have failed.
    pub failed: usize,
    /// Points that were skipped beyond saturation.
    pub left_out: usize,
}

/// A measured position on a curve: the mean over the points that differ only in their seed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Spot {
    /// Position on the axis.
    pub x: f64,
    /// Value of the figure.
    pub value: f64,
    /// True if one of the points is saturated.
    pub saturated: bool,
}

impl Sweep {
    /// Applies a change.
    pub fn apply(&mut self, change: Change) {
        match change {
            Change::Point(at, state) => {
                if let Some(point) = self.points.get_mut(at) {
                    point.state = state;
                }
            }
            Change::Watched(point) => self.watched = point,
            Change::Elapsed(seconds) => self.elapsed_seconds = seconds,
            Change::Said(line) => {
                if self.log.len() == LOG_LINES {
                    self.log.pop_front();
                }
                self.log.push_back(line);
            }
            Change::Over => self.over = true,
        }
    }

    /// Number of points by state.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for point in &self.points {
            match &point.state {
                PointState::Waiting => counts.waiting += 1,
                PointState::Running(_) => counts.running += 1,
                PointState::Done(figures) => {
                    counts.done += 1;
                    counts.saturated += usize::from(figures.saturated);
                }
                PointState::Failed(_) => counts.failed += 1,
                PointState::LeftOut => counts.left_out += 1,
            }
        }
        counts
    }

    /// The figures that some point has; accepted load and latency as long as no point has any.
    #[must_use]
    pub fn figures(&self) -> Vec<Figure> {
        let has = |figure: &Figure| {
            self.points.iter().any(|point| matches!(&point.state, PointState::Done(of) if of.get(*figure).is_some()))
        };
        // A workload with an end determines its load itself: only its completion time is of interest.
        if has(&Figure::Completion) {
            return vec![Figure::Completion];
        }
        let found: Vec<Figure> = Figure::ALL.into_iter().filter(has).collect();
        if found.is_empty() { vec![Figure::Accepted, Figure::Latency] } else { found }
    }

    /// The measured positions of a curve, in order of the axis.
    #[must_use]
    pub fn spots(&self, curve: usize, figure: Figure) -> Vec<Spot> {
        let mut found: Vec<(f64, f64, usize, bool)> = Vec::new();
        for point in self.points.iter().filter(|point| point.curve == curve) {
            let PointState::Done(figures) = &point.state else { continue };
            let Some(value) = figures.get(figure).filter(|value| value.is_finite()) else { continue };
            match found.iter_mut().find(|spot| spot.0 == point.x) {
                Some((_, sum, count, saturated)) => {
                    (*sum, *count, *saturated) = (*sum + value, *count + 1, *saturated || figures.saturated);
                }
                None => found.push((point.x, value, 1, figures.saturated)),
            }
        }
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        let spot =
            |(x, sum, count, saturated): (f64, f64, usize, bool)| Spot { x, value: sum / count as f64, saturated };
        found.into_iter().map(spot).collect()
    }

    /// The ends of the axis.
    #[must_use]
    pub fn ends(&self) -> (f64, f64) {
        let ends = self.points.iter().map(|point| (point.x, point.x));
        ends.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).unwrap_or((0.0, 0.0))
    }

    /// The next running point in the order of the plan, cyclically.
    #[must_use]
    pub fn next_running(&self, after: Option<usize>) -> Option<usize> {
        let mut running = (0..self.points.len()).filter(|&at| self.is_running(at));
        let first = running.next()?;
        let after = after.filter(|&after| first <= after);
        after.and_then(|after| running.find(|&at| at > after)).or(Some(first))
    }

    /// True if this point is running.
    #[must_use]
    pub fn is_running(&self, point: usize) -> bool {
        self.points.get(point).is_some_and(|point| matches!(point.state, PointState::Running(_)))
    }

    /// \[s\] Estimated remaining time: a point is assumed to take as long as finished ones with the nearest value on
    /// the axis. `None` while no duration is known.
    #[must_use]
    pub fn left_seconds(&self) -> Option<f64> {
        // Sum and number of the times at each value of the axis.
        let mut known: BTreeMap<u64, (f64, f64, u32)> = BTreeMap::new();
        for point in &self.points {
            let seconds = match &point.state {
                PointState::Done(figures) => figures.seconds,
                PointState::Running(pace) => estimated_duration(pace),
                _ => None,
            };
            if let Some(seconds) = seconds {
                let entry = known.entry(point.x.to_bits()).or_insert((point.x, 0.0, 0));
                (entry.1, entry.2) = (entry.1 + seconds, entry.2 + 1);
            }
        }
        let expected = |x: f64| {
            let near = known.values().min_by(|a, b| (a.0 - x).abs().total_cmp(&(b.0 - x).abs()))?;
            Some(near.1 / f64::from(near.2))
        };
        let mut expectations: BTreeMap<u64, Option<f64>> = BTreeMap::new();
        let (mut sum, mut longest) = (0.0, 0.0_f64);
        for point in &self.points {
            let left = match &point.state {
                PointState::Waiting => *expectations.entry(point.x.to_bits()).or_insert_with(|| expected(point.x)),
                PointState::Running(pace) => {
                    let whole = estimated_duration(pace).or_else(|| expected(point.x));
                    let left = whole.map(|whole| (whole - pace.seconds).max(0.0));
                    longest = longest.max(left.unwrap_or(0.0));
                    left
                }
                _ => continue,
            };
            sum += left?;
        }
        Some((sum / self.at_once.max(1) as f64).max(longest))
    }
}

/// \[s\] Estimated total duration of a run at its speed so far.
fn estimated_duration(pace: &Pace) -> Option<f64> {
    pace.share.filter(|&share| share > LEAST_SHARE).map(|share| pace.seconds / share)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(curve: usize, x: f64, state: PointState) -> SweepPoint {
        SweepPoint { name: String::new(), curve, x, state }
    }

    fn done(latency: f64, seconds: f64, saturated: bool) -> PointState {
        let figures = Figures { latency: Some(latency), seconds: Some(seconds), saturated, ..Figures::default() };
        PointState::Done(figures)
    }

    fn running(share: Option<f64>, seconds: f64) -> PointState {
        PointState::Running(Pace { share, seconds, ..Pace::default() })
    }

    #[test]
    fn points_are_counted_by_what_became_of_them() {
        let states = [
            done(1.0, 1.0, false),
            done(2.0, 1.0, true),
            running(None, 0.0),
            PointState::Failed("deadlock".to_owned()),
            PointState::LeftOut,
            PointState::Waiting,
        ];
        let sweep = Sweep { points: states.map(|state| point(0, 0.0, state)).to_vec(), ..Sweep::default() };
        let expected = Counts { waiting: 1, running: 1, done: 2, saturated: 1, failed: 1, left_out: 1 };
        assert_eq!(sweep.counts(), expected);
        assert_eq!(sweep.figures(), [Figure::Latency]);
        assert_eq!(Sweep::default().figures(), [Figure::Accepted, Figure::Latency]);
    }

    #[test]
    fn a_spot_is_the_mean_over_seeds() {
        let points = vec![
            point(0, 0.2, done(30.0, 1.0, true)),
            point(0, 0.1, done(10.0, 1.0, false)),
            point(1, 0.1, done(99.0, 1.0, false)),
            point(0, 0.2, done(40.0, 1.0, false)),
            point(0, 0.3, PointState::Waiting),
        ];
        let sweep = Sweep { points, ..Sweep::default() };
        let spot = |x, value, saturated| Spot { x, value, saturated };
        assert_eq!(sweep.spots(0, Figure::Latency), [spot(0.1, 10.0, false), spot(0.2, 35.0, true)]);
        assert_eq!(sweep.spots(0, Figure::Accepted), []);
        assert_eq!(sweep.ends(), (0.1, 0.3));
    }

    #[test]
    fn the_time_left_is_that_of_points_alike() {
        let mut sweep = Sweep { at_once: 1, ..Sweep::default() };
        assert_eq!(sweep.left_seconds(), Some(0.0));
        sweep.points = vec![
            point(0, 0.1, done(1.0, 2.0, false)),
            point(0, 0.8, done(1.0, 10.0, false)),
            point(1, 0.1, PointState::Waiting),
            point(1, 0.7, PointState::Waiting),
        ];
        assert_eq!(sweep.left_seconds(), Some(12.0));
        // A quarter of it took 5 s: 15 s of this one remain; a point with its value is assumed to take 15 s, the mean.
        sweep.points.push(point(1, 0.8, running(Some(0.25), 5.0)));
        sweep.points[2].state = PointState::LeftOut;
        assert_eq!(sweep.left_seconds(), Some(30.0));
        sweep.at_once = 4;
        assert_eq!(sweep.left_seconds(), Some(15.0), "no sooner than the longest one that runs");
        sweep.points.truncate(0);
        sweep.points.push(point(0, 0.1, PointState::Waiting));
        assert_eq!(sweep.left_seconds(), None, "nothing is known yet");
    }

    #[test]
    fn running_points_follow_each_other_round() {
        let states = [running(None, 0.0), PointState::Waiting, running(None, 0.0), running(None, 0.0)];
        let mut sweep = Sweep { points: states.map(|state| point(0, 0.0, state)).to_vec(), ..Sweep::default() };
        let follow = |sweep: &Sweep, after| sweep.next_running(after);
        assert_eq!([None, Some(0), Some(2), Some(3)].map(|after| follow(&sweep, after)), [0, 2, 3, 0].map(Some));
        sweep.apply(Change::Point(0, PointState::Waiting));
        assert_eq!([None, Some(0), Some(3)].map(|after| follow(&sweep, after)), [2, 2, 2].map(Some));
        sweep.apply(Change::Point(2, PointState::Waiting));
        sweep.apply(Change::Point(3, PointState::Waiting));
        assert_eq!(follow(&sweep, Some(1)), None);
    }

    #[test]
    fn the_log_is_kept_in_bounds() {
        let mut sweep = Sweep::default();
        (0..300).for_each(|line| sweep.apply(Change::Said(line.to_string())));
        assert_eq!((sweep.log.len(), sweep.log.back().map(String::as_str)), (LOG_LINES, Some("299")));
    }
}
