//! Saturation loads by bisection, with confidence intervals over seeds.
//!
//! Decision: docs/decisions/0138-saturation-search.md.

use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::store::StoreError;
use crate::models::load_unit_of_files;
use fsin_core::stats::{Estimate, estimate};

/// The file of a folder that holds [`Saturations`].
const FILE: &str = "saturation.json";

/// Version of that file.
const SCHEMA: u64 = 2;

/// What a run at a load has shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Found {
    /// The network carries the load.
    Carried,
    /// It does not.
    Saturated,
    /// The longest permitted run was too short to tell.
    Undecided,
}

/// The result at a load that was tried.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Probe {
    /// \[phits/node/cycle\] Offered load.
    pub load: f64,
    /// What the run has shown.
    pub found: Found,
}

/// The largest load known to be carried, the smallest load known not to be carried, and what is undecided between them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bracket {
    /// \[phits/node/cycle\] The largest load that was carried; 0 at first, which every network carries.
    pub low: f64,
    /// \[phits/node/cycle\] The smallest load that was not carried, or a proven bound; `None` until there is one.
    pub high: Option<f64>,
    /// \[phits/node/cycle\] The smallest and the largest load that could not be decided, all between `low` and `high`.
    pub undecided: Option<(f64, f64)>,
    /// \[phits/node/cycle\] The largest load to try.
    most: f64,
    /// \[phits/node/cycle\] Width at which the bracket is narrow enough.
    tolerance: f64,
}

impl Bracket {
    /// A bracket from 0 to `most`, to be narrowed to at most `tolerance` (phits/node/cycle, both positive). No load
    /// above `bound`, which no network of these links can carry, is tried.
    #[must_use]
    pub fn new(most: f64, tolerance: f64, bound: Option<f64>) -> Self {
        Self { low: 0.0, high: bound.filter(|&bound| bound <= most), undecided: None, most, tolerance }
    }

    /// The next load to try; `None` if the bracket, or each of the parts below and above what is undecided, is narrow
    /// enough, or the largest load is carried.
    #[must_use]
    pub fn next(&self) -> Option<f64> {
        // A little slack for rounding: 0.005 is not a binary fraction.
        let is_wide = |low: f64, high: f64| high - low > self.tolerance * (1.0 + 1e-9);
        let middle = |low: f64, high: f64| Some((((low + high) / 2.0) * 1e9).round() / 1e9);
        match (self.undecided, self.high) {
            (None, None) if self.low < self.most => Some(self.most),
            (None, Some(high)) if is_wide(self.low, high) => middle(self.low, high),
            (Some((least, _)), _) if is_wide(self.low, least) => middle(self.low, least),
            (Some((_, largest)), Some(high)) if is_wide(largest, high) => middle(largest, high),
            _ => None,
        }
    }

    /// Narrows the bracket by the result of a load.
    pub fn observe(&mut self, probe: Probe) {
        let load = probe.load;
        match probe.found {
            Found::Carried => self.low = load,
            Found::Saturated => self.high = Some(load),
            Found::Undecided => {
                let (least, largest) = self.undecided.unwrap_or((load, load));
                self.undecided = Some((least.min(load), largest.max(load)));
            }
        }
        // What lies outside the bracket is decided.
        let high = self.high.unwrap_or(f64::INFINITY);
        self.undecided = self.undecided.filter(|&(least, largest)| self.low < least && largest < high);
    }

    /// The midpoint of the bracket: within half its width of the saturation load. `None` if no load saturates, or while
    /// loads are left to try.
    #[must_use]
    pub fn load(&self) -> Option<f64> {
        self.high.filter(|_| self.next().is_none()).map(|high| (self.low + high) / 2.0)
    }
}

/// The search of one seed.
#[derive(Clone, PartialEq, Serialize, Deserialize, Debug)]
pub struct SeedSearch {
    /// The seed.
    pub seed: String,
    /// True if the search was completed.
    pub complete: bool,
    /// \[phits/node/cycle\] The midpoint of `low` and `high`; `None` if no load saturated, or the search is not
    /// complete.
    #[serde(rename = "saturation_load_phits_per_node_cycle")]
    pub load: Option<f64>,
    /// \[phits/node/cycle\] The largest load that was carried.
    #[serde(rename = "saturation_low")]
    pub low: f64,
    /// \[phits/node/cycle\] The smallest load that was not carried, or the bound.
    #[serde(rename = "saturation_high")]
    pub high: Option<f64>,
    /// \[phits/node/cycle\] The smallest and the largest load for which the longest permitted run was too short.
    #[serde(rename = "undecided_loads")]
    pub undecided: Option<(f64, f64)>,
    /// False if the network carries any load, and none was tried.
    #[serde(default = "limited")]
    pub has_limit: bool,
    /// \[phits/node/cycle\] The proven bound of the load; `None` if none is known.
    #[serde(rename = "load_bound_phits_per_node_cycle")]
    pub bound: Option<f64>,
    /// What the bound is that of: `ejection`, `cut` or `links`.
    #[serde(rename = "load_bound_by")]
    pub bound_by: Option<String>,
    /// \[phits/node/cycle\] The largest accepted load at any of the tried loads.
    #[serde(rename = "peak_accepted_load_of_senders_phits_per_node_cycle")]
    pub peak: Option<f64>,
    /// Why the search was aborted, if it was: a deadlock, for example.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub failure: Option<String>,
    /// The experiment at the highest load, as a file.
    pub experiment: String,
    /// Figures of each tried load, by load.
    pub probes: Vec<Map<String, Value>>,
}

/// What older files say of every network.
const fn limited() -> bool {
    true
}

/// The searches of one combination of settings, which differ only in their seeds.
#[derive(Clone, PartialEq, Serialize, Deserialize, Debug)]
pub struct Search {
    /// The settings that distinguish this combination from the others.
    pub settings: Map<String, Value>,
    /// \[phits/node/cycle\] Saturation load: mean over seeds; `None` if one of them has none.
    #[serde(rename = "saturation_load_phits_per_node_cycle")]
    pub load: Option<f64>,
    /// \[phits/node/cycle\] Half the width of the 95 % confidence interval of `load` over seeds.
    #[serde(rename = "saturation_load_ci95")]
    pub load_ci95: Option<f64>,
    /// \[phits/node/cycle\] The least `low` of the seeds.
    #[serde(rename = "saturation_low")]
    pub low: Option<f64>,
    /// \[phits/node/cycle\] The greatest `high` of the seeds; `None` if one of them has none.
    #[serde(rename = "saturation_high")]
    pub high: Option<f64>,
    /// \[phits/node/cycle\] Mean over seeds of the largest accepted load.
    #[serde(rename = "peak_accepted_load_of_senders_phits_per_node_cycle")]
    pub peak: Option<f64>,
    /// \[phits/node/cycle\] Half the width of the 95 % confidence interval of `peak` over seeds.
    #[serde(rename = "peak_accepted_load_of_senders_ci95")]
    pub peak_ci95: Option<f64>,
    /// The searches, one for each seed.
    pub seeds: Vec<SeedSearch>,
}

impl Search {
    /// Means over the searches of all seeds.
    #[must_use]
    pub fn of(settings: Map<String, Value>, seeds: Vec<SeedSearch>) -> Self {
        let mean = |of: &dyn Fn(&SeedSearch) -> Option<f64>| -> Option<Estimate> {
            estimate(&seeds.iter().map(of).collect::<Option<Vec<f64>>>()?)
        };
        let (load, peak) = (mean(&|seed| seed.load), mean(&|seed| seed.peak));
        Self {
            settings,
            load: load.map(|load| load.mean),
            load_ci95: load.and_then(|load| load.ci95),
            low: seeds.iter().map(|seed| seed.low).min_by(f64::total_cmp),
            high: seeds
                .iter()
                .map(|seed| seed.high)
                .collect::<Option<Vec<f64>>>()
                .and_then(|all| all.into_iter().max_by(f64::total_cmp)),
            peak: peak.map(|peak| peak.mean),
            peak_ci95: peak.and_then(|peak| peak.ci95),
            seeds,
        }
    }

    /// True if all searches were completed.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.seeds.iter().all(|seed| seed.complete)
    }

    /// The settings in words; empty for a single search.
    #[must_use]
    pub fn label(&self) -> String {
        let word = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let words = self.settings.iter().map(|(key, value)| format!("{key} {}", word(value)));
        words.collect::<Vec<_>>().join(", ")
    }

    /// The saturation load in words: a load, a bound, or why there is none. `most` is the highest load that was tried.
    #[must_use]
    pub fn outcome(&self, most: f64) -> String {
        let none = self.seeds.iter().filter(|seed| seed.complete && seed.high.is_none()).count();
        match self.load {
            _ if self.seeds.iter().any(|seed| seed.failure.is_some()) => "failed".to_owned(),
            _ if !self.is_complete() => "incomplete".to_owned(),
            _ if !self.seeds.is_empty() && self.seeds.iter().all(|seed| !seed.has_limit) => "no limit".to_owned(),
            Some(load) => format!("{load:.4}"),
            None if none == self.seeds.len() && self.low == Some(most) => format!("above {most}"),
            None if none == self.seeds.len() => format!("above {}", self.low.unwrap_or(0.0)),
            None => format!("above {most} with {none} of {} seeds", self.seeds.len()),
        }
    }
}

/// The file of `fsin saturation -o`.
#[derive(Clone, PartialEq, Serialize, Deserialize, Debug)]
pub struct Saturations {
    /// Version of the form of the file.
    pub schema: u64,
    /// Version of the program.
    pub version: String,
    /// True if all searches were completed.
    pub complete: bool,
    /// \[phits/node/cycle\] Target width of the bracket.
    pub tolerance: f64,
    /// \[phits/node/cycle\] The highest load to try.
    pub highest_load: f64,
    /// The searches, in the order of the settings.
    pub searches: Vec<Search>,
}

impl Saturations {
    /// The unit of all loads.
    #[must_use]
    pub fn load_unit(&self) -> &'static str {
        let seeds = self.searches.iter().flat_map(|search| &search.seeds);
        load_unit_of_files(seeds.map(|seed| seed.experiment.as_str()))
    }

    /// Builds the file from searches, with their means.
    #[must_use]
    pub fn new(tolerance: f64, highest_load: f64, searches: Vec<Search>) -> Self {
        Self {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            complete: searches.iter().all(Search::is_complete),
            tolerance,
            highest_load,
            searches,
        }
    }

    /// True if the folder has such a file.
    #[must_use]
    pub fn are_in(folder: &Path) -> bool {
        folder.join(FILE).exists()
    }

    /// Reads the file of a folder; `None` if there is none.
    ///
    /// # Errors
    /// An invalid file.
    pub fn load(folder: &Path) -> Result<Option<Self>, StoreError> {
        let file = folder.join(FILE);
        let wrong = |error: &dyn std::fmt::Display| StoreError {
            what: format!("{}: {error}", file.display()),
            remedy: "remove it, or write it again: fsin saturation -o DIR",
            usage: true,
        };
        let text = match fs::read(&file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            read => read.map_err(|error| wrong(&error))?,
        };
        let found: Self = serde_json::from_slice(&text).map_err(|error| wrong(&error))?;
        match found.schema {
            SCHEMA => Ok(Some(found)),
            other => Err(wrong(&format!("version {other} of its form is not known here"))),
        }
    }

    /// Writes the file into a folder, which is created if necessary, with a table of the means beside it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn store(&self, folder: &Path) -> io::Result<()> {
        fs::create_dir_all(folder)?;
        super::replace_file(&folder.join(FILE), format!("{}\n", serde_json::to_string_pretty(self)?))?;
        let mut table = Vec::new();
        crate::result::write_rows(&self.rows(), &mut table)?;
        super::replace_file(&folder.join("saturation.csv"), table)
    }

    /// Settings and means, a row for each search.
    #[must_use]
    pub fn rows(&self) -> Vec<Map<String, Value>> {
        let row = |search: &Search| {
            let mut row = search.settings.clone();
            for (name, value) in [
                ("saturation_load_phits_per_node_cycle", search.load),
                ("saturation_load_ci95", search.load_ci95),
                ("saturation_low", search.low),
                ("saturation_high", search.high),
                ("peak_accepted_load_of_senders_phits_per_node_cycle", search.peak),
                ("peak_accepted_load_of_senders_ci95", search.peak_ci95),
            ] {
                row.insert(name.to_owned(), value.into());
            }
            row.insert("seeds".to_owned(), search.seeds.len().into());
            row.insert("complete".to_owned(), search.is_complete().into());
            row
        };
        self.searches.iter().map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seed(load: Option<f64>, complete: bool) -> SeedSearch {
        SeedSearch {
            seed: "1".to_owned(),
            complete,
            load,
            low: load.map_or(0.8, |load| load - 0.1),
            high: load.map(|load| load + 0.1),
            undecided: None,
            has_limit: true,
            bound: None,
            bound_by: None,
            peak: Some(0.5),
            failure: None,
            experiment: String::new(),
            probes: Vec::new(),
        }
    }

    #[test]
    fn confidence_is_over_seeds() {
        let search = Search::of(Map::new(), vec![seed(Some(0.5), true), seed(Some(0.6), true), seed(Some(0.7), true)]);
        // t(0.975, 2) = 4.302653; the standard deviation is 0.1.
        assert!((search.load.unwrap() - 0.6).abs() < 1e-12);
        assert!((search.load_ci95.unwrap() - 4.302_653 * 0.1 / 3_f64.sqrt()).abs() < 1e-5);
        assert_eq!((search.outcome(1.0), search.peak_ci95), ("0.6000".to_owned(), Some(0.0)));
        let one = Search::of(Map::new(), vec![seed(Some(0.5), true)]);
        assert_eq!((one.load, one.load_ci95), (Some(0.5), None));
        assert!(search.low == Some(0.4) && search.high.is_some_and(|high| (high - 0.8).abs() < 1e-12), "of all seeds");
    }

    #[test]
    fn a_mean_is_of_all_seeds_or_of_none() {
        let some = Search::of(Map::new(), vec![seed(Some(0.5), true), seed(None, true)]);
        assert_eq!((some.load, some.outcome(1.0)), (None, "above 1 with 1 of 2 seeds".to_owned()));
        assert_eq!(Search::of(Map::new(), vec![seed(None, true)]).outcome(0.8), "above 0.8");
        assert_eq!(Search::of(Map::new(), vec![seed(None, false)]).outcome(0.8), "incomplete");
    }

    #[test]
    fn what_is_kept_is_read_again() {
        let folder = std::env::temp_dir().join(format!("fsin-saturation-{}", std::process::id()));
        let settings = Map::from_iter([("vcs".to_owned(), Value::from("2"))]);
        let kept = Saturations::new(0.01, 1.0, vec![Search::of(settings, vec![seed(Some(0.5), true)])]);
        kept.store(&folder).unwrap();
        assert_eq!(Saturations::load(&folder).unwrap(), Some(kept));
        fs::write(folder.join(FILE), "{}").unwrap();
        assert!(Saturations::load(&folder).unwrap_err().what.contains(FILE));
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(Saturations::load(&folder).unwrap(), None);
    }

    /// Searches where loads from `carried` to `saturated` cannot be decided.
    fn find(carried: f64, saturated: f64, bound: Option<f64>) -> (Bracket, usize) {
        let mut bracket = Bracket::new(1.0, 0.01, bound);
        let mut probes = 0;
        while let Some(load) = bracket.next() {
            let found = match () {
                () if load < carried => Found::Carried,
                () if load < saturated => Found::Undecided,
                () => Found::Saturated,
            };
            bracket.observe(Probe { load, found });
            probes += 1;
            assert!(probes < 50 && bound.is_none_or(|bound| load < bound));
        }
        (bracket, probes)
    }

    #[test]
    fn it_closes_in_on_the_threshold() {
        let mut interrupted = Bracket::new(1.0, 0.01, None);
        interrupted.observe(Probe { load: 1.0, found: Found::Saturated });
        assert_eq!(interrupted.load(), None, "there are loads left to try");
        for threshold in [0.003, 0.25, 0.6180, 0.999] {
            let (bracket, probes) = find(threshold, threshold, None);
            assert!((bracket.load().unwrap() - threshold).abs() <= 0.005, "{bracket:?}");
            assert!(probes <= 8);
        }
    }

    #[test]
    fn what_is_undecided_lies_in_the_interval() {
        let (bracket, probes) = find(0.42, 0.47, None);
        let (least, largest) = bracket.undecided.unwrap();
        assert!(bracket.low < 0.42 && 0.42 <= least && least - bracket.low <= 0.0101, "{bracket:?}");
        assert!(
            bracket.high.is_some_and(|high| high >= 0.47 && high - largest <= 0.0101) && probes < 20,
            "{bracket:?}"
        );
    }

    #[test]
    fn nothing_above_a_proven_bound_is_tried() {
        let (bracket, _) = find(2.0, 2.0, Some(0.4375));
        assert!(bracket.high == Some(0.4375) && bracket.low >= 0.4275, "{bracket:?}");
        assert_eq!(find(0.3, 0.3, Some(2.0)), find(0.3, 0.3, None), "a bound above the largest load");
    }

    #[test]
    fn a_network_that_carries_everything_has_none() {
        let (bracket, probes) = find(2.0, 2.0, None);
        assert_eq!((bracket.low, bracket.high, probes), (1.0, None, 1));
    }
}
