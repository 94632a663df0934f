//! The points of a sweep, each a complete experiment.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use trgen::catalog::{ErrorKind, SpecError};
use trgen::phrase;
use trgen::phrase::Notation;

use super::grid::Grid;
use super::sums::sha256;
use crate::carried::{Carried, reworded};
use crate::models::Networks;
use crate::models::load_unit_of_files;
use crate::{CHECKED, Experiment, Inputs, Key, Origin, Settings, SettingsError, read_text};

/// Version of the layout of a results folder: 2 has checksums.
pub(super) const LAYOUT: u64 = 2;

/// A varying setting.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub struct PlanAxis {
    /// Name of the key.
    pub key: String,
    /// The values of the setting, as words.
    pub values: Vec<String>,
}

/// One experiment of a sweep.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub struct Point {
    /// Name of the point's folder: the beginning of the identity of its experiment.
    pub id: String,
    /// By axis: the point's value.
    pub values: Vec<String>,
    /// The complete experiment, as a file that runs it. Of a stored plan, paths in it are relative to the folder of results.
    pub experiment: String,
    /// Where paths of the experiment are relative to: a file in the folder of results.
    #[serde(skip)]
    pub place: PathBuf,
}

/// A sweep as it was planned.
#[derive(Clone, Serialize, Deserialize, Debug)]
pub struct Plan {
    /// Version of the layout.
    pub layout: u64,
    /// Version of the program that made the plan.
    pub version: String,
    /// \[loads\] Number of consecutive saturated loads after which a curve ends; 0: it goes to its last load.
    pub stop_after: u64,
    /// The varying settings.
    pub axes: Vec<PlanAxis>,
    /// The points: every combination, in order.
    pub points: Vec<Point>,
    /// Combinations that are not valid experiments and were left out, with the reason.
    pub invalid: Vec<Invalid>,
    /// SHA-256 of all of the above, as hexadecimal digits; empty before layout 2.
    #[serde(default)]
    pub sha256: String,
    /// Settings of a file or the environment that no point uses, with their origins; known while the plan is made.
    #[serde(skip)]
    pub without_effect: Vec<(&'static Key, Origin)>,
}

impl Plan {
    /// The unit of the loads of all points.
    #[must_use]
    pub fn load_unit(&self) -> &'static str {
        load_unit_of_files(self.points.iter().map(|point| point.experiment.as_str()))
    }
}

/// \[hexadecimal digits\] Number of digits of an identity that name a folder. A collision among a million points is
/// practically impossible.
const DIGITS: usize = 20;

impl Plan {
    /// Checks every combination of a grid.
    ///
    /// # Errors
    /// The first combination that is not a valid experiment, unless these are left out; an empty plan. Two combinations
    /// that are the same experiment.
    pub fn new(grid: &Grid, stop_after: u64, leave_out: bool, notation: &dyn Notation) -> Result<Self, SettingsError> {
        let (mut inputs, mut networks) = (Inputs::default(), Networks::default());
        let (mut points, mut invalid): (Vec<Point>, Vec<Invalid>) = (Vec::new(), Vec::new());
        let mut known: HashMap<String, usize> = HashMap::new();
        let mut without_effect: Option<Vec<&'static Key>> = None;
        let mut checked: HashMap<Vec<Option<String>>, Result<(), SettingsError>> = HashMap::new();
        for index in 0..grid.len() {
            let values: Vec<String> = grid.values(index).iter().map(|value| value.value.clone()).collect();
            let resolved = Experiment::resolve_among(grid.settings(index)?, &mut networks).and_then(|experiment| {
                present(&mut inputs, &experiment)?;
                let about = CHECKED.iter().map(|key| experiment.settings().value(key).map(str::to_owned)).collect();
                checked.entry(about).or_insert_with(|| experiment.workload.check(&experiment)).clone()?;
                Ok(experiment)
            });
            match resolved {
                Ok(experiment) => {
                    let unused = experiment.without_effect();
                    without_effect = Some(match without_effect {
                        None => unused,
                        Some(known) => {
                            known.into_iter().filter(|key| unused.iter().any(|one| one.name == key.name)).collect()
                        }
                    });
                    let mut id = inputs.identity(&experiment);
                    id.truncate(DIGITS);
                    if let Some(other) = known.insert(id.clone(), index) {
                        return Err(no_effect(grid, other, index));
                    }
                    points.push(Point { id, values, experiment: experiment.to_toml(), place: PathBuf::new() });
                }
                Err(error) if !leave_out || (index + 1 == grid.len() && points.is_empty()) => {
                    let SettingsError { error, origin } = error;
                    let error = if grid.len() == 1 {
                        error
                    } else if leave_out {
                        error.within("no combination is a valid experiment; of the last one: ")
                    } else {
                        let what = phrase![error.what(), (" (of the combination {})", described(grid, &values))];
                        let remedy = phrase![error.remedy(), "; or leave out such combinations: ", ["skip-invalid"]];
                        error.saying(what).remedied(remedy)
                    };
                    return Err(SettingsError { error, origin });
                }
                Err(error) => {
                    let combination = described(grid, &values);
                    invalid.push(Invalid { combination, why: error.error.what().written(notation) });
                }
            }
        }
        let axes = grid.axes.iter().map(|axis| PlanAxis {
            key: axis.key.name.to_owned(),
            values: axis.values.iter().map(|value| value.value.clone()).collect(),
        });
        let plan = Self {
            layout: LAYOUT,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            stop_after,
            axes: axes.collect(),
            points,
            invalid,
            sha256: String::new(),
            without_effect: Vec::new(),
        };
        let origin = |key: &'static Key| Some((key, grid.origin(key.name)?));
        let without_effect = without_effect.unwrap_or_default().into_iter().filter_map(origin).collect();
        Ok(Self { sha256: plan.checksum(), without_effect, ..plan })
    }

    /// Names the input files of all points as they are kept with the results, and returns them.
    pub fn carry(&mut self) -> Carried {
        let (mut carried, mut inputs) = (Carried::default(), Inputs::default());
        for point in &mut self.points {
            point.experiment = carried.text(&mut inputs, &point.experiment);
        }
        for (at, axis) in self.axes.iter_mut().enumerate() {
            let named = |value: &mut String| *value = carried.value(&axis.key, value);
            axis.values.iter_mut().for_each(named);
            self.points.iter_mut().filter_map(|point| point.values.get_mut(at)).for_each(named);
        }
        self.sha256 = self.checksum();
        carried
    }

    /// The plan in the folder of results `root`.
    #[must_use]
    pub(super) fn placed(mut self, root: &Path) -> Self {
        self.points.iter_mut().for_each(|point| point.place = root.join("experiment.toml"));
        self
    }

    /// SHA-256 of the plan without its checksum.
    fn checksum(&self) -> String {
        let bare = Self { sha256: String::new(), ..self.clone() };
        // Strings and numbers always have a JSON form.
        sha256(&serde_json::to_vec(&bare).unwrap_or_default())
    }

    /// True if the checksum matches the content.
    #[must_use]
    pub fn is_as_written(&self) -> bool {
        !self.has_checksums() || self.sha256 == self.checksum()
    }

    /// True if folders of points must have checksums: those of earlier layouts need not.
    #[must_use]
    pub const fn has_checksums(&self) -> bool {
        self.layout >= 2
    }

    /// Report of the combinations that are not valid experiments: a line for each reason.
    #[must_use]
    pub fn left_out(&self) -> Vec<String> {
        let mut reasons: Vec<(&str, &str, usize)> = Vec::new();
        for invalid in &self.invalid {
            let Invalid { combination, why } = invalid;
            match reasons.iter_mut().find(|(known, ..)| *known == why) {
                Some((.., count)) => *count += 1,
                None => reasons.push((why, combination, 1)),
            }
        }
        let line = |(why, first, count): (&str, &str, usize)| match count {
            1 => format!("left out, as it is no valid experiment: {first}: {why}"),
            _ => {
                format!("left out, as they are no valid experiments: {count} combinations: {why} (the first: {first})")
            }
        };
        reasons.into_iter().map(line).collect()
    }

    /// An empty plan: for results of another kind alone.
    #[must_use]
    pub fn of_nothing() -> Self {
        Self {
            layout: LAYOUT,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            stop_after: 0,
            axes: Vec::new(),
            points: Vec::new(),
            invalid: Vec::new(),
            sha256: String::new(),
            without_effect: Vec::new(),
        }
    }

    /// The plan of a single run.
    pub(super) fn of_one(point: Point) -> Self {
        Self { points: vec![point], ..Self::of_nothing() }
    }

    /// True if both plans have the same points in the same order.
    #[must_use]
    pub fn same_points(&self, other: &Self) -> bool {
        let ids = |plan: &Self| plan.points.iter().map(|point| point.id.clone()).collect::<Vec<_>>();
        self.axes == other.axes && self.stop_after == other.stop_after && ids(self) == ids(other)
    }

    /// True if this program can read the layout.
    #[must_use]
    pub const fn is_known(&self) -> bool {
        self.layout >= 1 && self.layout <= LAYOUT
    }

    /// Index of the axis with this key.
    #[must_use]
    pub fn axis(&self, key: &str) -> Option<usize> {
        self.axes.iter().position(|axis| axis.key == key)
    }

    /// A point in words: `routing bubble:smart, load 0.3`.
    #[must_use]
    pub fn describe(&self, point: &Point) -> String {
        let pairs = self.axes.iter().zip(&point.values).map(|(axis, value)| format!("{} {value}", axis.key));
        let text = pairs.collect::<Vec<_>>().join(", ");
        if text.is_empty() { "the experiment".to_owned() } else { text }
    }
}

impl Point {
    /// The experiment, checked again: it may come from another machine.
    ///
    /// # Errors
    /// A text that is not an experiment, or one of another version.
    pub fn resolve(&self) -> Result<Experiment, SettingsError> {
        self.resolve_among(&mut Networks::default())
    }

    /// As [`resolve`](Self::resolve), for one of many points: a network that one of them has made is used again.
    ///
    /// # Errors
    /// As [`resolve`](Self::resolve).
    pub fn resolve_among(&self, networks: &mut Networks) -> Result<Experiment, SettingsError> {
        let mut settings = Settings::default();
        let place = if self.place.as_os_str().is_empty() { Path::new("experiment.toml") } else { &self.place };
        read_text(place, &self.experiment, &mut settings)?;
        Experiment::resolve_among(settings, networks)
    }

    /// The experiment as a file in the folder of the point, two folders below that of the sweep.
    #[must_use]
    pub fn file(&self) -> String {
        reworded(
            &self.experiment,
            |_, path| if path.is_relative() { Path::new("../..").join(path) } else { path.to_owned() },
        )
    }

    /// True if the input files of the experiment still have the contents of the time of planning.
    #[must_use]
    pub fn is_as_planned(&self, experiment: &Experiment) -> bool {
        Inputs::default().identity(experiment).starts_with(&self.id)
    }
}

/// A combination of a grid that is not a valid experiment. In the file of a plan it is one text, `combination: why`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct Invalid {
    /// The values of the axes.
    pub combination: String,
    /// The reason, as the planning command reports it.
    pub why: String,
}

impl From<String> for Invalid {
    fn from(text: String) -> Self {
        // Names and values of axes never contain this separator, but reasons may.
        let (combination, why) = text.split_once(": ").unwrap_or(("", &text));
        Self { combination: combination.to_owned(), why: why.to_owned() }
    }
}

impl From<Invalid> for String {
    fn from(Invalid { combination, why }: Invalid) -> Self {
        format!("{combination}: {why}")
    }
}

/// Rejects a missing trace: the identity of a point includes its content.
fn present(inputs: &mut Inputs, experiment: &Experiment) -> Result<(), SettingsError> {
    match experiment.workload.trace() {
        Some((path, _)) if inputs.of(experiment).is_empty() => {
            let what = phrase![["trace" => path.display()], ": there is no such file"];
            Err(experiment.settings().error("trace", ErrorKind::Unreadable, what, "give the path of a trace"))
        }
        _ => Ok(()),
    }
}

/// The error of two combinations that are the same experiment: one of the settings in which they differ has no effect.
fn no_effect(grid: &Grid, one: usize, other: usize) -> SettingsError {
    let pairs = grid.axes.iter().zip(grid.values(one).into_iter().zip(grid.values(other)));
    let differing =
        pairs.filter(|(_, (a, b))| a.value != b.value).map(|(axis, (a, _))| (axis.key.name, a.origin.clone()));
    let (names, origins): (Vec<&str>, Vec<_>) = differing.unzip();
    let what = format!("the list of `{}` has no effect: its values give the same experiment", names.join("` and `"));
    SettingsError {
        error: SpecError::new(ErrorKind::Meaningless, what, "leave it out, or give one value"),
        origin: origins.into_iter().next().unwrap_or(Origin::Default),
    }
}

/// The combination of these values in words.
fn described(grid: &Grid, values: &[String]) -> String {
    grid.axes
        .iter()
        .zip(values)
        .map(|(axis, value)| format!("{} {value}", axis.key.name))
        .collect::<Vec<_>>()
        .join(", ")
}
