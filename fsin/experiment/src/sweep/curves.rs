//! Results as curves, for plots, tables and comparisons.

use trgen::catalog::{ErrorKind, SpecError};
use trgen::phrase;

use super::collect::{Collected, Row};
use super::plan::{Plan, PlanAxis};
use super::reading::{Reading, cycles_differ};
use crate::conflicts::CYCLE;
use crate::result::Figure;
use crate::{Kind, canonical, key as known_key};
use fsin_core::stats::{Estimate, estimate};

/// A figure at a point of a curve.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Value {
    /// Mean over seeds, or the figure of the single run.
    pub mean: f64,
    /// Half the width of the 95 % confidence interval: over seeds, or over the batches of the single run.
    pub ci95: Option<f64>,
}

/// A point of a curve: the runs that differ only in their seed.
#[derive(Clone, PartialEq, Debug)]
pub struct Spot {
    /// Position on the axis: the value, or its index where the axis consists of words.
    pub x: f64,
    /// The value on the axis, as text.
    pub word: String,
    /// Indices of its runs in [`Collected::rows`].
    pub rows: Vec<usize>,
    /// True if any of the runs is saturated.
    pub saturated: bool,
    /// True if any of the runs was too short to tell.
    pub undecided: bool,
}

/// Spots that differ in one setting.
#[derive(Clone, PartialEq, Debug)]
pub struct Curve {
    /// The settings that distinguish the curve from others; empty if there is one curve.
    pub label: String,
    /// The distinguishing settings, as keys and values.
    pub settings: Vec<(String, String)>,
    /// The points of the curve, in the order of the axis.
    pub spots: Vec<Spot>,
    /// True for results of the baseline.
    pub is_baseline: bool,
}

/// Selection and presentation of results, where these differ from the default.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Choice {
    /// The setting along the axis.
    pub along: Option<String>,
    /// Settings with separate pictures for each value.
    pub each: Vec<String>,
    /// Settings and values: results with other values are left out. Several values of a setting are allowed.
    pub only: Vec<(String, String)>,
    /// Names in pictures, for values of settings or whole labels of curves.
    pub names: Vec<(String, String)>,
}

/// The curves of a sweep.
#[derive(Clone, PartialEq, Debug)]
pub struct Curves {
    /// The setting along the axis.
    pub axis: String,
    /// True if the values of the axis are numbers.
    pub numeric: bool,
    /// False if no setting varies that could be the axis, and there is no load either: a single trace, for example.
    pub is_along: bool,
    /// The curves, in the order of the plan.
    pub curves: Vec<Curve>,
    /// Settings with separate pictures for each value; empty by default.
    pub each: Vec<String>,
    /// The selected part of the axis, in words; empty for all of it.
    pub only: String,
    /// Names in pictures, for values of settings or whole labels of curves.
    pub names: Vec<(String, String)>,
    /// The varying settings, whose values labels distinguish.
    pub axes: Vec<PlanAxis>,
}

/// The ends of a range of numbers, `0.1..0.3`; `None` for other words.
fn range(kind: Kind, word: &str) -> Option<(f64, f64)> {
    let (low, high) = word.split_once("..").filter(|_| matches!(kind, Kind::Integer | Kind::Number))?;
    let number = |word: &str| word.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    number(low).zip(number(high))
}

impl Curves {
    /// The curves of results. The axis is the load if it varies, else the first varying setting that is a number, else
    /// the first varying setting; without any, the load.
    #[must_use]
    pub fn of(plan: &Plan, collected: &Collected) -> Self {
        Self::along(plan, collected, along(plan), |_| true)
    }

    /// The selected curves.
    ///
    /// # Errors
    /// Settings that do not vary, values that none of them has.
    pub fn chosen(plan: &Plan, collected: &Collected, choice: &Choice) -> Result<Self, SpecError> {
        let axis_of = |flag: &'static str, key: &str| axis_of(plan, flag, key);
        let along = match &choice.along {
            Some(key) => Some(axis_of("along", key)?),
            None => along(plan),
        };
        for key in &choice.each {
            if Some(axis_of("each", key)?) == along {
                let what = phrase![["each" => key], ": curves are drawn along it"];
                return Err(SpecError::new(
                    ErrorKind::Malformed,
                    what,
                    phrase!["use ", ["along" => other_axes(plan, key)]],
                ));
            }
        }
        let mut only: Vec<(usize, Vec<String>)> = Vec::new();
        for (key, value) in &choice.only {
            let at = axis_of("only", key)?;
            let values = &plan.axes[at].values;
            let known = known_key(key);
            let within = match range(known.map_or(Kind::Word, |key| key.kind), value) {
                Some((low, high)) => {
                    let lies_within = |value: &&String| value.parse().is_ok_and(|value| (low..=high).contains(&value));
                    values.iter().filter(lies_within).cloned().collect()
                }
                None => {
                    let value = known.map_or(value.clone(), |key| canonical(key, value.clone()));
                    values.iter().filter(|known| **known == value).cloned().collect::<Vec<_>>()
                }
            };
            if within.is_empty() {
                let what = phrase![["only" => format!("{key}={value}")], ": no point of the sweep has it"];
                return Err(SpecError::new(
                    ErrorKind::Malformed,
                    what,
                    format!("its values of {key} are {}", values.join(", ")),
                ));
            }
            match only.iter_mut().find(|(axis, _)| *axis == at) {
                Some((_, values)) => values.extend(within),
                None => only.push((at, within)),
            }
        }
        let takes = |values: &[String]| only.iter().all(|(axis, any)| any.contains(&values[*axis]));
        let of_axis = only.iter().find(|(axis, _)| Some(*axis) == along);
        let words =
            of_axis.map_or(String::new(), |(axis, any)| format!("{} {}", plan.axes[*axis].key, any.join(" or ")));
        let names = choice.names.clone();
        let curves =
            Self { each: choice.each.clone(), only: words, names, ..Self::along(plan, collected, along, takes) };
        match choice.names.iter().find(|(from, _)| !curves.has(from)) {
            Some((from, to)) => {
                let what = phrase![["name" => format!("'{from}={to}'")], ": no value of what varies is `{from}`"];
                Err(SpecError::new(ErrorKind::Malformed, what, format!("its values are {}", curves.words().join(", "))))
            }
            None => Ok(curves),
        }
    }

    /// The curves of results along an axis, for the values that satisfy `takes`.
    fn along(plan: &Plan, collected: &Collected, along: Option<usize>, takes: impl Fn(&[String]) -> bool) -> Self {
        let axis = along.map(|at| &plan.axes[at]);
        let numeric = axis.is_none_or(is_numeric);
        let mut curves: Vec<Curve> = Vec::new();
        for (number, row) in collected.rows.iter().enumerate() {
            let values = &plan.points[row.index].values;
            if !takes(values) {
                continue;
            }
            let settings = settings(plan, along, values);
            let (x, word) = match (along, axis) {
                (Some(at), Some(axis)) => (position(axis, &values[at], numeric), values[at].clone()),
                _ => {
                    let load = row.result.experiment.get("load").filter(|load| load.is_number());
                    (row.result.load().unwrap_or(0.0), load.map_or("-".to_owned(), ToString::to_string))
                }
            };
            let curve = match curves.iter().position(|curve| curve.settings == settings) {
                Some(at) => &mut curves[at],
                None => {
                    let label = legend(&plan.axes, &settings);
                    curves.push(Curve { label, settings, spots: Vec::new(), is_baseline: false });
                    let last = curves.len() - 1;
                    &mut curves[last]
                }
            };
            let (saturated, undecided) = (row.result.is_saturated(), row.result.is_undecided());
            match curve.spots.iter_mut().find(|spot| spot.word == word) {
                Some(spot) => {
                    spot.rows.push(number);
                    spot.saturated |= saturated;
                    spot.undecided |= undecided;
                }
                None => curve.spots.push(Spot { x, word, rows: vec![number], saturated, undecided }),
            }
        }
        for curve in &mut curves {
            curve.spots.sort_by(|a, b| a.x.total_cmp(&b.x));
        }
        let is_along = axis.is_some() || curves.iter().flat_map(|curve| &curve.spots).any(|spot| spot.word != "-");
        let axis = axis.map_or_else(|| "load".to_owned(), |axis| axis.key.clone());
        Self {
            axis,
            numeric,
            is_along,
            curves,
            each: Vec::new(),
            only: String::new(),
            names: Vec::new(),
            axes: plan.axes.clone(),
        }
    }

    /// The values of the varying settings, except numbers along the axis and seeds.
    fn words(&self) -> Vec<&str> {
        let axes = self.axes.iter().filter(|axis| axis.key != "seed" && !(axis.key == self.axis && self.numeric));
        axes.flat_map(|axis| &axis.values).map(String::as_str).collect()
    }

    /// True if pictures show this: a value, a setting as `KEY=VALUE`, or the label of a curve.
    fn has(&self, word: &str) -> bool {
        let is_setting = |axis: &PlanAxis| {
            let value = word.strip_prefix(&*axis.key).and_then(|rest| rest.strip_prefix('='));
            value.is_some_and(|value| axis.values.iter().any(|known| known == value))
        };
        self.words().contains(&word)
            || self.axes.iter().any(is_setting)
            || self.curves.iter().any(|curve| curve.label == word)
    }

    /// The name in pictures of a value or label, if it has one.
    fn name(&self, word: &str) -> Option<&str> {
        self.names.iter().rev().find(|(from, _)| from == word).map(|(_, to)| to.as_str())
    }

    /// The name in pictures of a setting's value.
    pub fn word(&self, key: &str, value: &str) -> String {
        let name = self.name(&format!("{key}={value}")).or_else(|| self.name(value));
        name.unwrap_or(value).to_owned()
    }

    /// Settings as in labels, with the given names.
    pub fn named(&self, settings: &[(String, String)]) -> String {
        if let Some(name) = self.name(&self.legend(settings)) {
            return name.to_owned();
        }
        let word = |setting: &(String, String)| {
            let (key, value) = setting;
            let name = self.name(&format!("{key}={value}")).or_else(|| self.name(value));
            name.map_or_else(|| self.legend(std::slice::from_ref(setting)), str::to_owned)
        };
        settings.iter().map(word).collect::<Vec<_>>().join(", ")
    }

    /// The curve of other results that is the counterpart of one of these: the same settings along the same axis; if
    /// both have a single curve, that one.
    #[must_use]
    pub fn counterpart<'a>(&self, curve: &Curve, others: &'a Self) -> Option<&'a Curve> {
        let lone = self.curves.len() == 1 && others.curves.len() == 1;
        let is_same = |other: &&Curve| lone || other.settings == curve.settings;
        others.curves.iter().filter(|_| self.axis == others.axis).find(is_same)
    }

    /// Joins these curves and those of a baseline for the same pictures, and also their results. Each label begins with
    /// the name of the results. Curves of the baseline follow their counterparts. `None` if the axes differ.
    #[must_use]
    pub fn with_baseline(
        &self,
        (name, collected): (&str, &Collected),
        baseline: &Self,
        (baseline_name, others): (&str, &Collected),
    ) -> Option<(Self, Collected)> {
        if self.axis != baseline.axis || self.numeric != baseline.numeric || self.is_along != baseline.is_along {
            return None;
        }
        let mut words: Vec<&str> = Vec::new();
        for spot in self.curves.iter().chain(&baseline.curves).flat_map(|curve| &curve.spots) {
            if !words.contains(&&*spot.word) {
                words.push(&spot.word);
            }
        }
        let place = |spot: &Spot| match self.numeric {
            true => spot.x,
            false => words.iter().position(|word| *word == spot.word).unwrap_or(0) as f64,
        };
        let named = |curve: &Curve, name: &str, is_baseline: bool| {
            let offset = if is_baseline { collected.rows.len() } else { 0 };
            let name = (String::new(), name.to_owned());
            let settings = [vec![name], curve.settings.clone()].concat();
            let spot = |spot: &Spot| Spot {
                x: place(spot),
                rows: spot.rows.iter().map(|row| row + offset).collect(),
                ..spot.clone()
            };
            let spots = curve.spots.iter().map(spot).collect();
            Curve { label: legend(&self.axes, &settings), settings, spots, is_baseline }
        };
        let mut curves = Vec::new();
        for curve in &self.curves {
            curves.push(named(curve, name, false));
            let mut other = self.counterpart(curve, baseline).cloned();
            // A single curve takes the settings of its counterpart.
            other.iter_mut().for_each(|other| other.settings.clone_from(&curve.settings));
            curves.extend(other.map(|other| named(&other, baseline_name, true)));
        }
        let alone = |other: &&Curve| !self.curves.iter().any(|curve| self.counterpart(curve, baseline) == Some(*other));
        curves.extend(baseline.curves.iter().filter(alone).map(|other| named(other, baseline_name, true)));
        let rows = [collected.rows.clone(), others.rows.clone()].concat();
        let curves = Self { curves, axes: self.axes.clone(), ..self.clone() };
        Some((curves, Collected { rows, ..Collected::default() }))
    }

    /// True if results differ in cycle time, so that numbers of cycles are not comparable as times: by a setting along
    /// an axis, or because [their cycles do](cycles_differ).
    #[must_use]
    pub fn cycles_differ(&self, rows: &[Row]) -> bool {
        self.axes.iter().any(|axis| CYCLE.contains(&&*axis.key)) || cycles_differ(rows.iter().map(|row| &row.result))
    }

    /// Settings as in labels.
    pub fn legend(&self, settings: &[(String, String)]) -> String {
        legend(&self.axes, settings)
    }

    /// True if any run has this figure.
    #[must_use]
    pub fn have(&self, rows: &[Row], figure: Figure) -> bool {
        rows.iter().any(|row| row.result.number(figure).is_some())
    }
}

impl Spot {
    /// A figure of this spot; `None` if one of its runs lacks it.
    #[must_use]
    pub fn value(&self, rows: &[Row], reading: impl Into<Reading>) -> Option<Value> {
        let reading = reading.into();
        let values = self.values(rows, reading)?;
        let Estimate { mean, ci95, .. } = estimate(&values)?;
        let own = || {
            let only = self.rows.first().filter(|_| self.rows.len() == 1)?;
            let result = &rows[*only].result;
            Some(result.number(reading.figure.ci95()?)? * reading.factor(result)?)
        };
        Some(Value { mean, ci95: ci95.or_else(own) })
    }

    /// A figure of every run of this spot; `None` if a run lacks it.
    #[must_use]
    pub fn values(&self, rows: &[Row], reading: Reading) -> Option<Vec<f64>> {
        self.rows.iter().map(|&row| reading.of(&rows[row].result)).collect()
    }
}

/// The axis of curves: the load if it varies, else the first varying setting that is a number, else the first varying
/// setting; never the seed.
pub fn along(plan: &Plan) -> Option<usize> {
    let candidates = || plan.axes.iter().enumerate().filter(|(_, axis)| axis.key != "seed");
    plan.axis("load")
        .or_else(|| candidates().find(|(_, axis)| is_numeric(axis)).map(|(at, _)| at))
        .or_else(|| candidates().next().map(|(at, _)| at))
}

/// The axis with that name, for a flag. Seeds are not an axis: curves are means over them.
fn axis_of(plan: &Plan, flag: &'static str, key: &str) -> Result<usize, SpecError> {
    plan.axis(key).filter(|_| key != "seed").ok_or_else(|| {
        let what = match (key, known_key(key)) {
            ("seed", _) => phrase![[flag => "seed"], ": curves are means over seeds"],
            (_, Some(_)) => phrase![[flag => key], ": it does not vary in this sweep"],
            (_, None) if key.contains(',') => phrase![[flag => key], ": give the flag once for each setting"],
            (_, None) => phrase![[flag], ": `{key}` is not a setting"],
        };
        SpecError::new(ErrorKind::Malformed, what, format!("use {}", other_axes(plan, key))).of(flag)
    })
}

/// The varying settings except one, for a remedy.
fn other_axes(plan: &Plan, key: &str) -> String {
    let others = plan.axes.iter().map(|axis| &*axis.key).filter(|&other| other != "seed" && other != key);
    match others.collect::<Vec<_>>() {
        none if none.is_empty() => "a sweep in which more varies".to_owned(),
        others => others.join(" or "),
    }
}

/// The settings that distinguish a curve from others, at a point of these values.
pub fn settings(plan: &Plan, along: Option<usize>, values: &[String]) -> Vec<(String, String)> {
    let pairs = plan.axes.iter().zip(values).enumerate();
    pairs
        .filter(|&(at, (axis, _))| Some(at) != along && axis.key != "seed")
        .map(|(_, (axis, value))| (axis.key.clone(), value.clone()))
        .collect()
}

/// The name of the curve of these settings, of a sweep over these axes.
pub fn legend(axes: &[PlanAxis], settings: &[(String, String)]) -> String {
    let values = |key: &str| axes.iter().find(|axis| axis.key == key).map_or(&[][..], |axis| &axis.values);
    settings.iter().map(|(key, value)| label(key, value, values(key))).collect::<Vec<_>>().join(", ")
}

/// True if all values of an axis are numbers.
#[must_use]
pub fn is_numeric(axis: &PlanAxis) -> bool {
    axis.values.iter().all(|value| value.parse::<f64>().is_ok())
}

/// The position of a value on an axis.
pub fn position(axis: &PlanAxis, value: &str, numeric: bool) -> f64 {
    match value.parse() {
        Ok(number) if numeric => number,
        _ => axis.values.iter().position(|known| known == value).unwrap_or(0) as f64,
    }
}

/// A setting as in a legend: words need no key, numbers do, and paths are shortened to their distinctive part.
fn label(name: &str, value: &str, all: &[String]) -> String {
    match known_key(name).map(|key| key.kind) {
        // The name of results.
        _ if name.is_empty() => value.to_owned(),
        Some(Kind::Word) => value.to_owned(),
        Some(Kind::Path) => {
            let end =
                |path: &str, parts: usize| -> Vec<String> { path.rsplit('/').take(parts).map(str::to_owned).collect() };
            let others = || all.iter().filter(|other| *other != value);
            let tells = |&parts: &usize| others().all(|other| end(other, parts) != end(value, parts));
            let parts = (1..value.split('/').count()).find(tells).unwrap_or(usize::MAX);
            end(value, parts).into_iter().rev().collect::<Vec<_>>().join("/")
        }
        Some(Kind::Switch) => format!("{name}: {value}"),
        _ => format!("{name} {value}"),
    }
}
