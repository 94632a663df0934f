//! A point of a curve: its value, its range, and what is said of it.

use super::canvas;
use super::scale::short;
use crate::rounded::with_interval;
use fsin_experiment::result::Figure;
use fsin_experiment::sweep::{Collected, Reading, Spot, Value};

/// A point to be drawn.
#[derive(Clone)]
pub(super) struct Mark {
    /// Position along the axis.
    pub(super) x: f64,
    /// The position as text.
    pub(super) word: String,
    /// The value in the unit of the axis.
    pub(super) value: Value,
    /// The value in the unit of the results.
    pub(super) raw: Value,
    /// True if the point is saturated.
    pub(super) saturated: bool,
    /// True if its run was too short to tell.
    pub(super) undecided: bool,
    /// \[unit of the results\] Least and greatest value in the ranges of a table of energies.
    pub(super) range: Option<(f64, f64)>,
    /// Factor from the unit of the results to that of the axis.
    pub(super) factor: f64,
}

impl Mark {
    /// What is inside its marker.
    pub(super) const fn fill(&self) -> canvas::Fill {
        match (self.saturated, self.undecided) {
            (true, _) => canvas::Fill::Hollow,
            (false, true) => canvas::Fill::Dotted,
            (false, false) => canvas::Fill::Full,
        }
    }

    /// \[unit of the axis\] Lower and upper end of the range of the value, or else of its confidence interval.
    pub(super) fn ends(&self) -> Option<(f64, f64)> {
        let range = self.range.map(|(low, high)| (low * self.factor, high * self.factor));
        range.or_else(|| self.value.ci95.map(|ci95| (self.value.mean - ci95, self.value.mean + ci95)))
    }

    /// The text of the hint at this point.
    pub(super) fn hint(&self, label: &str, x_title: &str, y_title: &str) -> String {
        let head = if label.is_empty() { String::new() } else { format!("{label}\n") };
        let value = with_interval(self.value.mean, self.value.ci95);
        let end = match (self.saturated, self.undecided) {
            (true, _) => "\nsaturated",
            (false, true) => "\nundecided: too short to tell whether it is saturated",
            (false, false) => "",
        };
        let range = match self.range.and(self.ends()) {
            Some((low, high)) => format!("\nrange of the table: {} to {}", short(low), short(high)),
            None => String::new(),
        };
        format!("{head}{x_title}: {}\n{y_title}: {value}{range}{end}", self.word)
    }
}

/// The least and greatest value of a figure of energy in the ranges of its table; `None` of other figures, and where
/// the table has no ranges.
pub(super) fn range_of(spot: &Spot, collected: &Collected, reading: Reading) -> Option<(f64, f64)> {
    if !matches!(reading.figure, Figure::EnergyJoules | Figure::EnergyWatts | Figure::EnergyPerBit) {
        return None;
    }
    let mean = |figure: Figure| spot.value(&collected.rows, figure).map(|value| value.mean);
    let (low, high) = (mean(Figure::EnergyJoulesLow)?, mean(Figure::EnergyJoulesHigh)?);
    let each = mean(reading.figure)? / mean(Figure::EnergyJoules).filter(|&joules| joules > 0.0)?;
    (low < high).then_some((low * each, high * each))
}
