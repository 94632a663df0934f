//! Axes: settings with several values, and all their combinations.

use std::collections::HashSet;

use trgen::catalog::{ErrorKind, SpecError};
use trgen::phrase;
use trgen::phrase::Phrase;

use crate::{Key, Kind, Lists, Origin, Setting, Settings, SettingsError, canonical, keys};

/// Maximum number of points of a sweep: each is checked when it is planned, and has a folder of its own.
const MAX_POINTS: usize = 100_000;

/// A setting with several values.
#[derive(Clone, Debug)]
pub struct Axis {
    /// The key of the setting.
    pub key: &'static Key,
    /// The values, in the given order: at least two, all different.
    pub values: Vec<Setting>,
}

/// An experiment with lists for some values.
#[derive(Clone, Debug)]
pub struct Grid {
    /// The varying settings: in the order of the key table, but the load and the seed last.
    pub axes: Vec<Axis>,
    /// The settings that do not vary.
    fixed: Vec<(&'static Key, Setting)>,
    /// Indices of the combinations in the sweep, where some values apply to some topologies only; `None` for all
    /// combinations.
    kept: Option<Vec<usize>>,
}

impl Grid {
    /// A grid from the given lists, with ranges expanded.
    ///
    /// # Errors
    /// A range that cannot be parsed, a repeated value, too many points.
    pub fn new(mut lists: Lists) -> Result<Self, SettingsError> {
        let (mut axes, mut fixed) = (Vec::new(), Vec::new());
        let mut restrictions = Vec::new();
        // The first key of the table.
        let mut topologies: Vec<String> = Vec::new();
        for key in keys() {
            let mut values: Vec<Setting> = Vec::new();
            let mut known = HashSet::new();
            for setting in lists.remove(key.name).unwrap_or_default() {
                for value in expanded(key, &setting)? {
                    let value = canonical(key, value);
                    if !known.insert((setting.topology.clone(), value.clone())) {
                        let what = format!("`{}` has the value {value} twice", key.name);
                        return Err(refusal(key, &setting, what, "give every value once"));
                    }
                    values.push(Setting { value, ..setting.clone() });
                }
            }
            if key.name == "topology" {
                let given = values.iter().map(|setting| setting.value.clone());
                topologies = if values.is_empty() {
                    key.default.map(str::to_owned).into_iter().collect()
                } else {
                    given.collect()
                };
            }
            if values.iter().any(|setting| setting.topology.is_some()) {
                let restriction = Restriction::new(key, values, &topologies)?;
                values = restriction.distinct();
                restrictions.push(restriction);
            }
            match values.len() {
                0 => {}
                1 => fixed.extend(values.pop().map(|value| (key, value))),
                _ => axes.push(Axis { key, values }),
            }
        }
        axes.sort_by_key(|axis| match axis.key.name {
            "load" => 1,
            "seed" => 2,
            _ => 0,
        });
        let points = axes.iter().try_fold(1_usize, |points, axis| points.checked_mul(axis.values.len()));
        if points.is_none_or(|points| points > MAX_POINTS) {
            let last = axes.iter().flat_map(|axis| &axis.values).next_back().or(fixed.last().map(|(_, value)| value));
            let what = format!(
                "the axes have more than {MAX_POINTS} combinations, of which each is a run with a folder of its own"
            );
            return Err(SettingsError {
                error: SpecError::new(ErrorKind::TooLarge, what, "give fewer values, or split the sweep"),
                origin: last.map_or(Origin::Default, |value| value.origin.clone()),
            });
        }
        let mut grid = Self { axes, fixed, kept: None };
        if !restrictions.is_empty() {
            let all = 0..grid.len();
            grid.kept = Some(all.filter(|&at| restrictions.iter().all(|one| one.keeps(&grid, at))).collect());
        }
        Ok(grid)
    }

    /// The origin of a setting, of its first value; `None` if it is not set.
    pub(super) fn origin(&self, name: &str) -> Option<Origin> {
        let of_axes = self.axes.iter().map(|axis| (axis.key, &axis.values[0]));
        let all = of_axes.chain(self.fixed.iter().map(|(key, setting)| (*key, setting)));
        all.into_iter().find(|(key, _)| key.name == name).map(|(_, setting)| setting.origin.clone())
    }

    /// Number of combinations.
    #[must_use]
    pub fn len(&self) -> usize {
        let all = || self.axes.iter().map(|axis| axis.values.len()).product();
        self.kept.as_ref().map_or_else(all, Vec::len)
    }

    /// Always false: without axes there is one combination.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The values of the axes in one combination; the last axis varies fastest.
    #[must_use]
    pub fn values(&self, index: usize) -> Vec<&Setting> {
        let mut rest = self.kept.as_ref().map_or(index, |kept| kept[index]);
        let mut values: Vec<&Setting> = Vec::with_capacity(self.axes.len());
        for axis in self.axes.iter().rev() {
            values.push(&axis.values[rest % axis.values.len()]);
            rest /= axis.values.len();
        }
        values.reverse();
        values
    }

    /// The settings of one combination.
    ///
    /// # Errors
    /// Never: the keys are known.
    pub fn settings(&self, index: usize) -> Result<Settings, SettingsError> {
        let mut settings = Settings::default();
        for (key, setting) in &self.fixed {
            settings.set(key.name, &setting.value, setting.origin.clone())?;
        }
        for (axis, setting) in self.axes.iter().zip(self.values(index)) {
            settings.set(axis.key.name, &setting.value, setting.origin.clone())?;
        }
        Ok(settings)
    }
}

/// A key with values for individual topologies.
struct Restriction {
    /// The key of the setting.
    key: &'static Key,
    /// Topologies of the sweep, each with its values.
    of: Vec<(String, Vec<Setting>)>,
}

impl Restriction {
    /// The values of each topology of a sweep: those of that topology, or else of its family.
    ///
    /// # Errors
    /// A topology without a value.
    fn new(key: &'static Key, values: Vec<Setting>, topologies: &[String]) -> Result<Self, SettingsError> {
        let values_for = |name: &str| -> Vec<Setting> {
            values.iter().filter(|setting| setting.topology.as_deref() == Some(name)).cloned().collect()
        };
        let of_one = |topology: &String| {
            let family = topology.split(':').next().unwrap_or(topology);
            let found = [values_for(topology), values_for(family)].into_iter().find(|found| !found.is_empty());
            found.map(|found| (topology.clone(), found)).ok_or_else(|| {
                let what = format!("`{}` has values of topologies, and none for {topology}", key.name);
                let remedy = format!("add one for `{family}`, or give one value for all");
                SettingsError {
                    error: SpecError::new(ErrorKind::Malformed, what, remedy).of(key.name),
                    origin: values.first().map_or(Origin::Default, |setting| setting.origin.clone()),
                }
            })
        };
        Ok(Self { key, of: topologies.iter().map(of_one).collect::<Result<_, _>>()? })
    }

    /// The distinct values, in the order of the topologies.
    fn distinct(&self) -> Vec<Setting> {
        let mut known = HashSet::new();
        self.of.iter().flat_map(|(_, values)| values).filter(|setting| known.insert(&setting.value)).cloned().collect()
    }

    /// True if this combination of a grid has a value for its topology.
    fn keeps(&self, grid: &Grid, index: usize) -> bool {
        let word = |name: &str| {
            let axes = grid.axes.iter().zip(grid.values(index));
            let of_axes = axes.map(|(axis, value)| (axis.key, value));
            let all = of_axes.chain(grid.fixed.iter().map(|(key, value)| (*key, value)));
            all.into_iter().find(|(key, _)| key.name == name).map(|(_, setting)| setting.value.as_str())
        };
        let topology = word("topology").or_else(|| self.of.first().map(|(topology, _)| topology.as_str()));
        let values = self.of.iter().find(|(name, _)| Some(name.as_str()) == topology).map(|(_, values)| values);
        values.is_none_or(|values| values.iter().any(|setting| Some(setting.value.as_str()) == word(self.key.name)))
    }
}

/// The error of a value of a list of this key.
fn refusal(key: &'static Key, setting: &Setting, what: String, remedy: &str) -> SettingsError {
    let error = SpecError::new(ErrorKind::Malformed, what, remedy).of(key.name);
    SettingsError { error, origin: setting.origin.clone() }
}

/// The values of a word: itself, or those of a range.
fn expanded(key: &'static Key, setting: &Setting) -> Result<Vec<String>, SettingsError> {
    let word = &setting.value;
    let numeric = matches!(key.kind, Kind::Integer | Kind::Number);
    let Some((first, rest)) = word.split_once("..").filter(|_| numeric) else { return Ok(vec![word.clone()]) };
    let wrong = || {
        let remedy = if key.kind == Kind::Integer { "write 1..5 or 10..50/5" } else { "write 0.05..1.0/20" };
        let what = format!(
            "`{}` cannot read the range {word}: FIRST..LAST/COUNT, from a smaller number to a larger one",
            key.name
        );
        refusal(key, setting, what, remedy)
    };
    let (last, count) = match rest.split_once('/') {
        Some((last, count)) => (last, Some(count.trim().parse::<usize>().map_err(|_| wrong())?)),
        None => (rest, None),
    };
    if count.is_some_and(|count| !(2..=MAX_POINTS).contains(&count)) {
        return Err(too_many(key, setting));
    }
    if key.kind == Kind::Integer {
        return whole(key, setting, (first, last), count).ok_or_else(wrong)?;
    }
    let number = |word: &str| word.trim().parse::<f64>().ok().filter(|number| number.is_finite()).ok_or_else(wrong);
    let (first, last) = (number(first)?, number(last)?);
    let count = count.filter(|_| last > first).ok_or_else(wrong)?;
    let step = (last - first) / (count - 1) as f64;
    // Nine decimals: a step of a third is written as by hand.
    let value = |at: usize| ((first + step * at as f64) * 1e9).round() / 1e9;
    Ok((0..count).map(|at| value(at).to_string()).collect())
}

/// The values of an integer range; without a count, all integers between its ends. `None` if the ends are not integers
/// in ascending order.
fn whole(
    key: &'static Key,
    setting: &Setting,
    (first, last): (&str, &str),
    count: Option<usize>,
) -> Option<Result<Vec<String>, SettingsError>> {
    let number = |word: &str| crate::settings::whole(key, word.trim());
    let (first, last) = (number(first)?, number(last)?);
    let span = last.checked_sub(first).filter(|&span| span > 0)?;
    let steps = match count {
        None if span < MAX_POINTS as u64 => span,
        None => return Some(Err(too_many(key, setting))),
        Some(count) => count as u64 - 1,
    };
    if span % steps != 0 {
        let what = format!("`{}`: the range {} has values that are not whole", key.name, setting.value);
        return Some(Err(refusal(key, setting, what, "write 10..50/5")));
    }
    Some(Ok((0..=steps).map(|at| (first + at * (span / steps)).to_string()).collect()))
}

/// The error of a range with too many values.
fn too_many(key: &'static Key, setting: &Setting) -> SettingsError {
    let what = format!(
        "`{}`: the range {} has to have 2 to {MAX_POINTS} values, of which each is a run with a folder of its own",
        key.name, setting.value
    );
    refusal(key, setting, what, "write its ends and how many values it has, as in 0.05..1.0/20 or 10..50/5")
}

/// Splits a flag's list of values at commas outside brackets. Keys whose values contain commas take one value per flag.
#[must_use]
pub fn split_at_commas(key: &Key, word: &str) -> Vec<String> {
    const OWN_COMMAS: [&str; 3] = ["kernel", "hosts", "topology"];
    if key.kind == Kind::Path || OWN_COMMAS.contains(&key.name) {
        return vec![word.to_owned()];
    }
    let mut values: Vec<String> = Vec::new();
    for part in parts(word) {
        // `dcqcn:g=1/16,ai=40Mb/s,hpcc`, `flow:paths=hash,fairness=split,vct`: a parameter belongs to the name before it.
        let is_parameter = part.split(':').next().is_some_and(|name| name.contains('='));
        match values.last_mut().filter(|last| is_parameter && last.contains(':')) {
            Some(value) => *value = format!("{value},{part}"),
            None => values.push(part),
        }
    }
    values
}

/// How to write several values of a flag, if its invalid word looks like several: a list, a range, or names with
/// parameters in sequence.
#[must_use]
pub fn as_several(key: &Key, word: &str) -> Option<Phrase> {
    let flag = key.name;
    let listed = split_at_commas(key, word);
    let ranged = matches!(key.kind, Kind::Integer | Kind::Number) && word.contains("..");
    if listed.len() > 1 || ranged {
        return listed.iter().all(|value| !value.is_empty()).then(|| phrase![[flag => word]]);
    }
    // `torus:4x4,mesh:4x4`: each begins with a name, unlike `2,2` of `thintree:4,2,2`.
    let mut values: Vec<String> = Vec::new();
    for part in parts(word) {
        let begins = part.contains(':') && part.starts_with(|letter: char| letter.is_ascii_alphabetic());
        match values.last_mut().filter(|_| !begins) {
            Some(value) => *value = format!("{value},{part}"),
            None => values.push(part),
        }
    }
    let all = values.iter().fold(Phrase::default(), |mut all, value| {
        let blank = if all.is_empty() { "" } else { " " };
        all.push(phrase![blank, [flag => value]]);
        all
    });
    (values.len() > 1).then_some(all)
}

/// Splits a word at commas outside brackets.
fn parts(word: &str) -> Vec<String> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0_usize, 0);
    for (at, letter) in word.char_indices() {
        match letter {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(word[start..at].trim().to_owned());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(word[start..].trim().to_owned());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key;

    fn lists(pairs: &[(&'static str, &[&str])]) -> Lists {
        let setting =
            |value: &&str| Setting { value: (*value).to_owned(), origin: Origin::Flag, listed: true, topology: None };
        pairs.iter().map(|&(name, values)| (name, values.iter().map(setting).collect())).collect()
    }

    #[test]
    fn loads_vary_fastest_but_for_seeds() {
        let grid = Grid::new(lists(&[
            ("load", &["0.1..0.3/3"]),
            ("routing", &["bubble:smart", "dally:trc"]),
            ("seed", &["1..2"]),
            ("vcs", &["2"]),
        ]))
        .unwrap();
        assert_eq!(grid.len(), 12);
        let row = |index| grid.values(index).iter().map(|value| value.value.clone()).collect::<Vec<_>>().join(" ");
        assert_eq!(
            [row(0), row(1), row(2), row(11)],
            ["bubble:smart 0.1 1", "bubble:smart 0.1 2", "bubble:smart 0.2 1", "dally:trc 0.3 2"]
        );
        assert_eq!(grid.settings(11).unwrap().value("vcs"), Some("2"));
    }

    #[test]
    fn ranges_are_inclusive_and_tidy() {
        let values = |key_name, word: &str| {
            let setting = Setting { value: word.to_owned(), origin: Origin::Flag, listed: false, topology: None };
            expanded(key(key_name).unwrap(), &setting)
        };
        assert_eq!(values("load", "0.05..1.0/20").unwrap()[..3], ["0.05", "0.1", "0.15"]);
        assert_eq!(values("load", "0.05..1.0/20").unwrap()[19], "1");
        assert_eq!(values("vcs", "1..3").unwrap(), ["1", "2", "3"]);
        assert_eq!(values("packet", "8..32/4").unwrap(), ["8", "16", "24", "32"]);
        assert_eq!(values("traffic", "a..b").unwrap(), ["a..b"], "words have no ranges");
        for (key, wrong) in
            [("load", "0.1..0.5"), ("load", "0.5..0.1/3"), ("load", "0..1/1"), ("vcs", "1..4/3"), ("load", "a..b/3")]
        {
            assert!(values(key, wrong).is_err(), "{key} {wrong}");
        }
    }

    #[test]
    fn commas_in_brackets_do_not_split() {
        let split = |name, word| split_at_commas(key(name).unwrap(), word);
        assert_eq!(split("traffic", "uniform,hotspot(0.1,0)"), ["uniform", "hotspot(0.1,0)"]);
        assert_eq!(split("kernel", "bintree:tasks=8,bytes=4"), ["bintree:tasks=8,bytes=4"]);
        assert_eq!(split("network", "flow,vct:vcs=2,queue=8,zero"), ["flow", "vct:vcs=2,queue=8", "zero"]);
        assert_eq!(split("network", "loggops:L=2500,G=6"), ["loggops:L=2500,G=6"]);
        assert_eq!(split("cc", "dcqcn:g=1/16,ai=40Mb/s,hpcc"), ["dcqcn:g=1/16,ai=40Mb/s", "hpcc"]);
        assert_eq!(split("energy", "noxim:a.yaml,mm=1.5,booksim"), ["noxim:a.yaml,mm=1.5", "booksim"]);
    }

    #[test]
    fn several_values_of_a_flag_are_told_from_one() {
        let several = |name, word| as_several(key(name).unwrap(), word).map(|flags| flags.to_string());
        assert_eq!(several("load", "0.1,0.2").as_deref(), Some("load 0.1,0.2"));
        assert_eq!(several("load", "0.1..0.5/3").as_deref(), Some("load 0.1..0.5/3"));
        assert_eq!(
            several("topology", "torus:4x4,thintree:4,2,2").as_deref(),
            Some("topology torus:4x4 topology thintree:4,2,2")
        );
        assert_eq!(several("kernel", "bintree:tasks=8,bytes=4"), None);
        assert_eq!(several("topology", "thintree:4,2,2"), None);
        assert_eq!(several("load", "0.1,"), None);
        assert_eq!(several("traffic", "hotspot(0.1,0)"), None);
    }

    #[test]
    fn values_of_topologies_meet_their_topologies_alone() {
        let mut given = lists(&[
            ("topology", &["torus:4x4", "torus:8x8", "fattree:4,3"]),
            ("routing", &["bubble:smart", "dally:trc", "tree:static", "bubble:smart"]),
            ("seed", &["1..2"]),
        ]);
        let of = ["torus", "torus", "fattree", "torus:4x4"];
        for (setting, topology) in given.get_mut("routing").unwrap().iter_mut().zip(of) {
            setting.topology = Some(topology.to_owned());
        }
        let row = |grid: &Grid, index| {
            grid.values(index).iter().map(|value| value.value.clone()).collect::<Vec<_>>().join(" ")
        };
        let grid = Grid::new(given.clone()).unwrap();
        let rows: Vec<String> = (0..grid.len()).step_by(2).map(|index| row(&grid, index)).collect();
        assert_eq!(
            rows,
            [
                "torus:4x4 bubble:smart 1",
                "torus:8x8 bubble:smart 1",
                "torus:8x8 dally:trc 1",
                "fattree:4,3 tree:static 1"
            ]
        );
        given.insert("topology", lists(&[("topology", &["mesh:4x4"])])["topology"].clone());
        let error = Grid::new(given).unwrap_err();
        assert!(error.to_string().contains("none for mesh:4x4"), "{error}");
        assert!(error.error.remedy().to_string().contains("`mesh`"), "{error}");
    }

    #[test]
    fn a_value_given_twice_is_refused() {
        let error = Grid::new(lists(&[("load", &["0.1", "0.1..0.2/2"])])).unwrap_err();
        assert!(error.to_string().contains("0.1 twice"), "{error}");
    }
}
