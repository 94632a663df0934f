//! The measured rows of the original simulator, and how ours are judged by them.
//!
//! # How a row is judged
//! Rows that differ by seed only are one **case**; the mean over its seeds is compared with the mean over ours. Cases
//! that differ by load only are one **configuration**. Its *saturation throughput* is the largest load that the
//! original accepted of any of them, and the *share* of a case is what the original accepted over that. A case is
//! *saturated* if the original accepted less than 0.97 of what the sending nodes offer (silent nodes, the fixed points
//! of a permutation, offer nothing).
//!
//! - Accepted load agrees within 2 %, of a saturated case within 4 %.
//! - Mean delay agrees within 3 % up to a share of 0.6, within 8 % beyond.
//!
//! A mean over a few seeds is known to its standard error only, the original's as well as ours: [`by_chance`] says what an
//! exact copy would do. Tolerances are not widened by it.

use std::fmt;
use std::path::Path;

use fsin::router::{Arbitration, Consumption, Inject, Injection};
use fsin::routing::{Order, Routing};
use fsin::run::BatchPlan;
use serde::Deserialize;
use statrs::distribution::{ContinuousCDF, Normal};
use trgen::TrGen;

use crate::parallel::parallel;
use crate::setup::{Setup, accepted_load};
use crate::table::Table;

/// One run of the original.
#[derive(Clone, PartialEq, Deserialize, Debug)]
struct Row {
    set: String,
    topology: String,
    mode: String,
    pattern: String,
    load: f64,
    packet_phits: u32,
    options: String,
    samples: u64,
    sample_size: u64,
    warmup: u64,
    accepted: f64,
    delay_mean: f64,
    delay_max: f64,
}

impl Row {
    /// What all loads of a configuration have in common.
    fn configuration(&self) -> String {
        let words =
            [&*self.topology, &*self.mode, &*self.pattern, &*format!("L={}", self.packet_phits), &*self.options];
        words.iter().filter(|word| !word.is_empty()).copied().collect::<Vec<_>>().join(" ")
    }

    fn setup(&self) -> Result<Setup, Missing> {
        let missing = |what: &str| Err(Missing(what.to_owned()));
        let (routing, vcs) = match &*self.mode {
            "dor1" => (Routing::BubbleOblivious, 1),
            "dor3" => (Routing::BubbleOblivious, 3),
            "smart3" => (Routing::BubbleSmart, 3),
            "random3" => (Routing::BubbleRandom, 3),
            "shortest3" => (Routing::BubbleShortest, 3),
            "trc2" => (Routing::DallyTrc, 2),
            "basic2" => (Routing::DallyBasic, 2),
            "improved2" => (Routing::DallyImproved, 2),
            "doubleob2" => (Routing::DoubleOblivious, 2),
            "doubleadap2" => (Routing::DoubleAdaptive, 2),
            "hexaob6" => (Routing::HexaOblivious, 6),
            mode => return missing(&format!("mode {mode}")),
        };
        let mut topology = match self.topology.split_once('_') {
            Some((name @ ("torus" | "mesh"), sizes)) => format!("{name}:{}", sizes.replace('_', "x")),
            // A ring, and one jump.
            Some(("circulant", numbers)) => format!("circulant:{}", numbers.replace('_', ":1,")),
            // Its third size is 1.
            Some(("spinnaker", sizes)) => format!("spinnaker:{}", sizes.trim_end_matches("_1").replace('_', "x")),
            // Its skews are options.
            Some(("ttorus", sizes)) => format!("twisted:{}", sizes.replace('_', "x")),
            _ => return missing(&format!("topology {}", self.topology)),
        };
        // The original's tornado does not wrap inside the row.
        let pattern = match &*self.pattern {
            "tornado" => "tornado-fsin",
            "hotspot" => "hotspot(0.02, 0)",
            pattern => pattern,
        };
        let skews = self.options.split_whitespace().filter_map(|option| option.strip_prefix("sk_"));
        for (index, skew) in skews.enumerate() {
            topology.push(if index == 0 { ':' } else { ',' });
            // Of x when y wraps, in both.
            topology.push_str(skew);
        }
        let mut setup = Setup::new(&topology, routing, vcs).pattern(pattern).load(self.load);
        let params = &mut setup.params;
        params.packet_phits = self.packet_phits;
        for option in self.options.split_whitespace() {
            match option.split_once('=') {
                Some(("cmode", "single")) => params.consumption = Consumption::Single,
                Some(("tql", packets)) => params.queue_packets = number(packets),
                Some(("bsize", packets)) => params.bubble = number(packets),
                Some(("lbr", packets)) => params.lbr = number(packets),
                Some(("intransit_pr", probability)) => params.in_transit_priority = f64::from(number(probability)),
                Some(("par_inj", "0")) => params.inject = Inject::Serial,
                Some(("routing", "dir")) => params.order = Order::Direction,
                Some(("amode", mode)) => params.arbitration = word(mode, &Arbitration::ALL),
                Some(("imode", "dor")) => params.injection = Injection::Dor,
                Some(("imode", "dsh")) => params.injection = Injection::DorShortest,
                Some(("imode", "shp")) => params.injection = Injection::ShortestProfitable,
                Some(("imode", "lpath")) => params.injection = Injection::LongestPath,
                Some(("ninj", injectors)) => params.injectors = number(injectors) as usize,
                Some(("sk_yx", _)) => {}
                _ => return missing(&format!("option {option}")),
            }
        }
        Ok(setup)
    }

    fn plan(&self) -> BatchPlan {
        BatchPlan { warmup: self.warmup, samples: self.samples, sample_size: self.sample_size, ..BatchPlan::default() }
    }
}

fn word<T: Copy>(text: &str, all: &[(&str, T)]) -> T {
    all.iter().find(|(name, _)| *name == text).unwrap_or_else(|| panic!("option value {text} is known to ours")).1
}

fn number(text: &str) -> u32 {
    text.parse().unwrap_or_else(|_| panic!("option value {text} is a whole number"))
}

/// \[cycle\] When the original began to measure, as far as its greatest delays tell ([`dating`](crate::dating)).
pub const BEGIN: u64 = 18_000;

/// When measuring begins: all cases at the same time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Begin {
    /// At [`BEGIN`].
    Usual,
    /// 100 000 cycles after the row's warm-up, to see whether a state drifts.
    Late,
}

impl Begin {
    fn of(self, plan: &BatchPlan) -> BatchPlan {
        let warmup = match self {
            Self::Usual => BEGIN,
            Self::Late => plan.warmup + 100_000,
        };
        BatchPlan { max_conv_time: 0, warmup, ..*plan }
    }

    const fn words(self) -> &'static str {
        match self {
            Self::Usual => "usual",
            Self::Late => "late",
        }
    }
}

/// Why a row cannot be compared: what is not built yet.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Missing(pub String);

/// A figure over several seeds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Figure {
    /// Mean over seeds.
    pub mean: f64,
    /// Standard deviation from seed to seed; `None` of a single seed.
    pub spread: Option<f64>,
    /// Number of seeds.
    pub seeds: usize,
}

impl Figure {
    /// Mean and spread of one value per seed; of at least one.
    #[must_use]
    pub fn of(values: &[f64]) -> Self {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Self { mean, spread: (values.len() > 1).then(|| (squares / (n - 1.0)).sqrt()), seeds: values.len() }
    }

    /// Standard error of the mean; 0 where a single seed tells nothing of it.
    #[must_use]
    pub fn error(&self) -> f64 {
        self.spread.unwrap_or(0.0) / (self.seeds as f64).sqrt()
    }
}

/// Rows of the original that differ by seed only.
#[derive(Clone, PartialEq, Debug)]
pub struct Case {
    /// What all loads of the configuration have in common.
    pub configuration: String,
    /// The same run with ours, but for the seed.
    pub setup: Setup,
    /// Run control.
    pub plan: BatchPlan,
    /// \[phit/node/cycle\] What the original accepted.
    pub accepted: Figure,
    /// \[cycles\] The original's mean delay.
    pub delay: Figure,
    /// \[cycles\] The original's greatest delay, mean over batches.
    pub greatest: Figure,
    /// Accepted over saturation throughput of the configuration.
    pub share: f64,
    /// True if the original could not accept what was offered.
    pub saturated: bool,
}

impl Case {
    /// \[relative\] Permitted difference of accepted load.
    #[must_use]
    pub fn accepted_tolerance(&self) -> f64 {
        if self.saturated { 0.04 } else { 0.02 }
    }

    /// \[relative\] Permitted difference of mean delay.
    #[must_use]
    pub fn delay_tolerance(&self) -> f64 {
        if self.share <= 0.6 { 0.03 } else { 0.08 }
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} load={}", self.configuration, self.setup.load)
    }
}

/// What a file of rows holds.
#[derive(Clone, PartialEq, Debug)]
pub struct Cases {
    /// To compare.
    pub cases: Vec<Case>,
    /// \[rows\] That those are made of.
    pub rows: usize,
    /// \[rows\] That cannot be compared yet, by reason.
    pub skipped: Vec<(Missing, usize)>,
}

/// Reads the rows at `path`.
///
/// # Panics
/// When the file does not hold the columns that its description promises.
#[must_use]
pub fn read(path: &Path) -> Cases {
    let mut reader = csv::Reader::from_path(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let rows: Vec<Row> =
        reader.deserialize().map(|row| row.unwrap_or_else(|error| panic!("{}: {error}", path.display()))).collect();
    let same_case = |a: &Row, b: &Row| {
        let key = |row: &Row| (row.set.clone(), row.configuration(), row.samples, row.sample_size, row.warmup);
        a.load == b.load && key(a) == key(b)
    };
    let mut all = Cases { cases: Vec::new(), rows: 0, skipped: Vec::new() };
    let mut groups: Vec<Vec<&Row>> = Vec::new();
    for row in &rows {
        match groups.iter_mut().find(|group| same_case(group[0], row)) {
            Some(group) => group.push(row),
            None => groups.push(vec![row]),
        }
    }
    for group in &groups {
        let first = group[0];
        let setup = match first.setup() {
            Ok(setup) => setup,
            Err(missing) => {
                match all.skipped.iter_mut().find(|(reason, _)| *reason == missing) {
                    Some((_, count)) => *count += group.len(),
                    None => all.skipped.push((missing, group.len())),
                }
                continue;
            }
        };
        all.rows += group.len();
        let mean_over_seeds =
            |pick: fn(&Row) -> f64| Figure::of(&group.iter().map(|row| pick(row)).collect::<Vec<_>>());
        let accepted = mean_over_seeds(|row| row.accepted);
        let throughput = groups
            .iter()
            .filter(|other| other[0].configuration() == first.configuration())
            .map(|other| Figure::of(&other.iter().map(|row| row.accepted).collect::<Vec<_>>()).mean)
            .fold(0.0, f64::max);
        let nodes = setup.shape().nodes();
        let sending = (nodes - setup.source().silent_nodes()) as f64 / nodes as f64;
        all.cases.push(Case {
            configuration: first.configuration(),
            plan: first.plan(),
            accepted,
            delay: mean_over_seeds(|row| row.delay_mean),
            greatest: mean_over_seeds(|row| row.delay_max),
            share: accepted.mean / throughput,
            saturated: accepted.mean < 0.97 * first.load * sending,
            setup,
        });
    }
    all
}

/// A case, and what ours measured.
#[derive(Clone, PartialEq, Debug)]
pub struct Judged {
    /// The case.
    pub case: Case,
    /// When measuring began.
    pub begin: Begin,
    /// \[phit/node/cycle\] Accepted by ours.
    pub accepted: Figure,
    /// \[cycles\] Mean delay of ours.
    pub delay: Figure,
}

/// Runs every case with every one of these seeds, on all cores.
///
/// # Panics
/// When a run fails.
#[must_use]
pub fn judge(cases: &[Case], seeds: &[u64], begin: Begin) -> Vec<Judged> {
    let mut jobs: Vec<(usize, u64)> =
        (0..cases.len()).flat_map(|case| seeds.iter().map(move |&seed| (case, seed))).collect();
    // The longest first.
    jobs.sort_by_key(|&(case, seed)| {
        let Case { setup, plan, .. } = &cases[case];
        let cycles = plan.warmup + plan.samples * plan.sample_size;
        (std::cmp::Reverse(setup.shape().nodes() as u64 * cycles), case, seed)
    });
    let mut runs: Vec<((usize, u64), [f64; 2])> = parallel(&jobs, |&(case, seed)| {
        let Case { setup, plan, .. } = &cases[case];
        let outcome = setup.clone().seed(seed).batch(&begin.of(plan));
        assert_eq!(outcome.failure, None, "{}", cases[case]);
        let delay = outcome.measured.latency.moments().mean().expect("every case delivers packets");
        ((case, seed), [accepted_load(&outcome, setup.params.packet_phits), delay])
    });
    runs.sort_by_key(|&(job, _)| job);
    let figure = |index: usize, which: usize| {
        let values: Vec<f64> =
            runs.iter().filter(|((case, _), _)| *case == index).map(|(_, figures)| figures[which]).collect();
        Figure::of(&values)
    };
    cases
        .iter()
        .enumerate()
        .map(|(index, case)| Judged { case: case.clone(), begin, accepted: figure(index, 0), delay: figure(index, 1) })
        .collect()
}

/// \[relative\] Difference, and the standard error of it.
fn difference(ours: &Figure, reference: &Figure) -> (f64, f64) {
    ((ours.mean - reference.mean) / reference.mean, ours.error().hypot(reference.error()) / reference.mean)
}

impl Judged {
    /// True if accepted load and mean delay agree.
    #[must_use]
    pub fn agrees(&self) -> bool {
        self.accepted_agrees() && self.delay_agrees()
    }

    fn accepted_agrees(&self) -> bool {
        difference(&self.accepted, &self.case.accepted).0.abs() <= self.case.accepted_tolerance()
    }

    fn delay_agrees(&self) -> bool {
        difference(&self.delay, &self.case.delay).0.abs() <= self.case.delay_tolerance()
    }

    fn verdict(&self) -> &'static str {
        match (self.accepted_agrees(), self.delay_agrees()) {
            (true, true) => "agrees",
            (false, true) => "ACCEPTED DIFFERS",
            (true, false) => "DELAY DIFFERS",
            (false, false) => "BOTH DIFFER",
        }
    }
}

/// How many cases an exact copy of the original would have outside the tolerances, on average, and the probability
/// that it would have none: by the spread of the original's own seeds, for `seeds` seeds of the copy.
///
/// # Panics
/// Never: a standard deviation of a normal distribution is given only if it is positive.
#[must_use]
pub fn by_chance(cases: &[Case], seeds: usize) -> (f64, f64) {
    let inside = |figure: &Figure, tolerance: f64| match figure.spread {
        Some(spread) if spread > 0.0 => {
            let error = spread * (1.0 / figure.seeds as f64 + 1.0 / seeds as f64).sqrt() / figure.mean;
            let normal = Normal::new(0.0, error).expect("positive");
            1.0 - 2.0 * normal.cdf(-tolerance)
        }
        _ => 1.0,
    };
    let probabilities = cases
        .iter()
        .map(|case| inside(&case.accepted, case.accepted_tolerance()) * inside(&case.delay, case.delay_tolerance()));
    probabilities.fold((0.0, 1.0), |(outside, none), inside| (outside + 1.0 - inside, none * inside))
}

/// The comparison as a table. `noise` is the standard error of the difference, from the spread over the seeds of both
/// sides (a side with one seed adds none); `spread` is the standard deviation of the delay from seed to seed.
#[must_use]
pub fn table(judged: &[Judged]) -> Table {
    let mut table = Table::new(&[
        "configuration",
        "load",
        "measured",
        "share",
        "accepted ours",
        "reference",
        "difference",
        "noise",
        "tolerance",
        "delay ours",
        "spread",
        "reference",
        "spread",
        "difference",
        "noise",
        "tolerance",
        "verdict",
    ]);
    let percent = |share: f64| format!("{:+.2} %", 100.0 * share);
    let unsigned = |share: f64| format!("{:.2} %", 100.0 * share);
    let spread = |figure: &Figure| figure.spread.map_or_else(String::new, |spread| format!("{spread:.2}"));
    for one in judged {
        let case = &one.case;
        let (accepted, accepted_noise) = difference(&one.accepted, &case.accepted);
        let (delay, delay_noise) = difference(&one.delay, &case.delay);
        table.row(vec![
            case.configuration.clone(),
            case.setup.load.to_string(),
            one.begin.words().to_owned(),
            format!("{:.2}{}", case.share, if case.saturated { " saturated" } else { "" }),
            format!("{:.5}", one.accepted.mean),
            format!("{:.5}", case.accepted.mean),
            percent(accepted),
            unsigned(accepted_noise),
            unsigned(case.accepted_tolerance()),
            format!("{:.2}", one.delay.mean),
            spread(&one.delay),
            format!("{:.2}", case.delay.mean),
            spread(&case.delay),
            percent(delay),
            unsigned(delay_noise),
            unsigned(case.delay_tolerance()),
            one.verdict().to_owned(),
        ]);
    }
    table
}
