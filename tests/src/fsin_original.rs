//! The measured rows of the original simulator, and the equivalent settings of ours.
//!
//! Rows that differ only by seed are one **case**. Cases that differ only by load are one **configuration**. Its
//! *saturation throughput* is the largest load that the original accepted in any of its cases; the *share* of a case is
//! its accepted load divided by that. A case is *saturated* if the original accepted less than 0.97 of the load that
//! the sending nodes offer (silent nodes, the fixed points of a permutation, offer nothing).
//! [`judging`](crate::judging) compares cases with ours.

use std::fmt;
use std::path::Path;

use fsin::router::{Arbitration, Consumption, GlobalCc, Inject, Injection, SourceQueue};
use fsin::routing::{Order, Routing};
use fsin::run::BatchPlan;
use serde::Deserialize;
use trgen::TrGen;

use crate::figure::Figure;
use crate::setup::Setup;

/// A set of measured rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Set {
    /// Configurations chosen by hand, each at several loads. The original waited for a steady state after its warm-up.
    First,
    /// Randomly drawn configurations, each at one load below saturation and at load 1. The original measured from the
    /// end of its warm-up on.
    Second,
    /// As the second, and small source buffers with serial injection, and thin trees whose number of links up does not
    /// divide that of links down, among them.
    Third,
}

impl Set {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::First, Self::Second, Self::Third];

    /// Name of its file, and in the report.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::First => "fsin-original",
            Self::Second => "fsin-original-2",
            Self::Third => "fsin-original-3",
        }
    }

    /// \[cycle\] When the original began to measure.
    const fn begin(self, warmup: u64) -> u64 {
        match self {
            Self::First => BEGIN,
            Self::Second | Self::Third => warmup,
        }
    }
}

/// \[cycle\] When the original began to measure in the [first set](Set::First), inferred from its maximum delays
/// ([`dating`](crate::dating)).
pub const BEGIN: u64 = 16_000;

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
    mean_hops: f64,
    accepted: f64,
    delay_mean: f64,
    delay_max: f64,
    inj_delay_mean: f64,
}

impl Row {
    /// The common settings of all loads of a configuration.
    fn configuration(&self) -> String {
        let words =
            [&*self.topology, &*self.mode, &*self.pattern, &*format!("L={}", self.packet_phits), &*self.options];
        words.iter().filter(|word| !word.is_empty()).copied().collect::<Vec<_>>().join(" ")
    }

    fn options(&self) -> impl Iterator<Item = (&str, &str)> {
        self.options.split_whitespace().map(move |option| {
            option.split_once('=').unwrap_or_else(|| panic!("option {option} of {self:?} is not understood"))
        })
    }

    /// # Panics
    /// On an unknown topology.
    fn topology(&self) -> String {
        let (name, numbers) = self.topology.split_once('_').unwrap_or((&self.topology, ""));
        let numbers: Vec<&str> = numbers.split('_').collect();
        match (name, &*numbers) {
            ("torus" | "mesh", sizes) => format!("{name}:{}", sizes.join("x")),
            // Its skews are options: `sk_yx` is the skew of x when y wraps, in both simulators.
            ("ttorus", sizes) => {
                let skews: Vec<String> = self
                    .options()
                    .filter_map(|(option, skew)| Some(format!("{}={skew}", option.strip_prefix("sk_")?)))
                    .collect();
                format!("twisted:{}:{}", sizes.join("x"), skews.join(","))
            }
            ("circulant", [nodes, jump]) => format!("circulant:{nodes}:1,{jump}"),
            ("spinnaker", [x, y, "1"]) => format!("spinnaker:{x}x{y}"),
            ("fattree" | "thintree" | "slimtree", numbers) => format!("{name}:{}", numbers.join(",")),
            _ => panic!("topology of {self:?} is not understood"),
        }
    }

    /// `smart3`: a request mode and its number of channels.
    ///
    /// # Panics
    /// On an unknown mode.
    fn mode(&self) -> (Routing, usize) {
        let name = self.mode.trim_end_matches(|letter: char| letter.is_ascii_digit());
        let routing = match name {
            "adaptive" if self.topology.contains("tree") => Routing::TreeAdaptive,
            "static" if self.topology.contains("tree") => Routing::TreeStatic,
            "dor" | "oblivious" => Routing::BubbleOblivious,
            "random" => Routing::BubbleRandom,
            "shortest" => Routing::BubbleShortest,
            "smart" => Routing::BubbleSmart,
            "doubleob" => Routing::DoubleOblivious,
            "doubleadap" => Routing::DoubleAdaptive,
            "hexaob" => Routing::HexaOblivious,
            "hexaadap" => Routing::HexaAdaptive,
            "trc" => Routing::DallyTrc,
            "basic" => Routing::DallyBasic,
            "improved" => Routing::DallyImproved,
            "adaptive" => Routing::DallyAdaptive,
            _ => panic!("mode of {self:?} is not understood"),
        };
        (routing, number(&self.mode[name.len()..]) as usize)
    }

    /// The equivalent settings of ours.
    ///
    /// # Panics
    /// On an unknown word.
    fn setup(&self) -> Result<Setup, Skipped> {
        let (routing, vcs) = self.mode();
        let pattern = match &*self.pattern {
            // The original's tornado does not wrap within the row.
            "tornado" => "tornado-fsin",
            // To node 0, for all messages.
            "hotspot" => "hotspot(0.02, 0)",
            pattern => pattern,
        };
        let mut setup = Setup::new(&self.topology(), routing, vcs).pattern(pattern).load(self.load);
        if let Some((_, ways)) = self.options().find(|&(option, _)| option == "nways") {
            setup.ways = number(ways) as usize;
        }
        let params = &mut setup.params;
        params.packet_phits = self.packet_phits;
        params.source_queue = SourceQueue::Throttled;
        // The value of the first set, and of the part of the second that does not state it.
        params.injection_queue_packets = 8;
        let names_iql = self.options().any(|(option, _)| option == "iql");
        let is_drawn = ["w_", "x_", "y_", "z_"].iter().any(|set| self.set.starts_with(set));
        assert!(names_iql || !is_drawn, "{self:?} does not say iql");
        let (mut triggers, mut triggered) = (None, None);
        for (option, value) in self.options() {
            match (option, value) {
                ("iql", packets) => params.injection_queue_packets = number(packets),
                ("tql", packets) => params.queue_packets = number(packets),
                ("bsize", packets) => params.bubble = number(packets),
                ("lbr", packets) => params.lbr = number(packets),
                ("intransit_pr", probability) => params.in_transit_priority = real(probability),
                ("par_inj", "0") => params.inject = Inject::Serial,
                ("routing", "dir") => params.order = Order::Direction,
                ("cmode", "single") => params.consumption = Consumption::SINGLE,
                ("amode", mode) => params.arbitration = word(mode, &Arbitration::ALL),
                ("imode", "shortest") => params.injection = Injection::Shortest,
                ("imode", "dor") => params.injection = Injection::Dor,
                ("imode", "dsh") => params.injection = Injection::DorShortest,
                ("imode", "shp") => params.injection = Injection::ShortestProfitable,
                ("imode", "lpath") => params.injection = Injection::LongestPath,
                ("ninj", injectors) => params.injectors = number(injectors) as usize,
                ("global_cc", percent) => params.global_cc = global_cc(real(percent)),
                ("trigger_rate", probability) => triggers = Some(real(probability)),
                ("triggered", messages) => triggered = Some(number(messages)),
                // Part of the topology.
                ("nways", _) => {}
                ("sk_yx" | "sk_xz", _) if self.topology.starts_with("ttorus_") => {}
                _ => panic!("option {option}={value} of {self:?} is not understood"),
            }
        }
        match (triggers, triggered) {
            (Some(probability), Some(messages)) => {
                setup.pattern = format!("source({pattern}, temporal=reactive({probability}, {messages}))");
                // The original's load excludes the reactions, ours includes them.
                setup.load = self.load / (1.0 - probability * f64::from(messages));
            }
            (None, None) => {}
            _ => panic!("{self:?} says one of trigger_rate and triggered only"),
        }
        match setup.params.check(&*setup.shape()) {
            Ok(_) => Ok(setup),
            Err(refusal) => Err(Skipped(refusal.to_string())),
        }
    }

    fn plan(&self) -> BatchPlan {
        BatchPlan { warmup: self.warmup, samples: self.samples, sample_size: self.sample_size, ..BatchPlan::default() }
    }
}

/// The original counts directions twice in the capacity to which its percentage refers, so twice the percentage is the
/// same limit in ours. A limit above 100 % has no effect, since the network never holds more packets than fit.
fn global_cc(percent: f64) -> Option<GlobalCc> {
    let percent = 2.0 * percent;
    (percent <= 100.0).then_some(GlobalCc { percent, period: 0 })
}

fn word<T: Copy>(text: &str, all: &[(&str, T)]) -> T {
    all.iter().find(|(name, _)| *name == text).unwrap_or_else(|| panic!("option value {text} is known to ours")).1
}

fn number(text: &str) -> u32 {
    text.parse().unwrap_or_else(|_| panic!("value {text} is a whole number"))
}

fn real(text: &str) -> f64 {
    text.parse().unwrap_or_else(|_| panic!("value {text} is a number"))
}

/// Why a row that was parsed cannot be compared: the error of ours on its settings.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Skipped(pub String);

/// Rows of the original that differ only by seed.
#[derive(Clone, PartialEq, Debug)]
pub struct Case {
    /// The common settings of all loads of the configuration.
    pub configuration: String,
    /// \[phit/node/cycle\] The original's value of the load.
    pub load: f64,
    /// The same run with ours, except for the seed.
    pub setup: Setup,
    /// The original's run control.
    pub plan: BatchPlan,
    /// \[cycle\] When the original began to measure.
    pub begin: u64,
    /// \[phit/node/cycle\] Load accepted by the original.
    pub accepted: Figure,
    /// \[cycles\] The original's mean delay.
    pub delay: Figure,
    /// \[cycles\] The original's maximum delay, mean over batches.
    pub greatest: Figure,
    /// \[cycles\] The original's mean injection delay.
    pub injection_delay: Figure,
    /// \[links\] The original's mean path length.
    pub hops: Figure,
    /// Accepted load over saturation throughput of the configuration; `None` if the configuration was never measured at
    /// saturation.
    pub share: Option<f64>,
    /// True if the original could not accept the offered load.
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
        if self.share.is_some_and(|share| share > 0.6) { 0.08 } else { 0.03 }
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} load={}", self.configuration, self.load)
    }
}

/// Contents of a file of rows.
#[derive(Clone, PartialEq, Debug)]
pub struct Cases {
    /// Cases to compare.
    pub cases: Vec<Case>,
    /// \[rows\] Number of rows in these cases.
    pub rows: usize,
    /// \[rows\] Number of rows that cannot be compared, by reason.
    pub skipped: Vec<(Skipped, usize)>,
}

/// Reads the rows of `set` at `path`.
///
/// # Panics
/// When the file lacks a documented column, or a row cannot be parsed.
#[must_use]
pub fn read(path: &Path, set: Set) -> Cases {
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
            Err(skipped) => {
                match all.skipped.iter_mut().find(|(reason, _)| *reason == skipped) {
                    Some((_, count)) => *count += group.len(),
                    None => all.skipped.push((skipped, group.len())),
                }
                continue;
            }
        };
        all.rows += group.len();
        let mean_over_seeds =
            |group: &[&Row], pick: fn(&Row) -> f64| Figure::of(&group.iter().map(|row| pick(row)).collect::<Vec<_>>());
        let accepted = mean_over_seeds(group, |row| row.accepted);
        let nodes = setup.shape().nodes();
        let sending = (nodes - setup.source().silent_nodes()) as f64 / nodes as f64;
        let offered = |load: f64| load * sending * setup.load / first.load;
        let is_saturated = |load: f64, accepted: f64| accepted < 0.97 * offered(load);
        let loads: Vec<(f64, f64)> = groups
            .iter()
            .filter(|other| other[0].configuration() == first.configuration())
            .map(|other| (other[0].load, mean_over_seeds(other, |row| row.accepted).mean))
            .collect();
        // The offered load cannot exceed 1.
        let is_full = loads.iter().any(|&(load, accepted)| load >= 1.0 || is_saturated(load, accepted));
        let throughput = loads.iter().map(|&(_, accepted)| accepted).fold(0.0, f64::max);
        let plan = first.plan();
        all.cases.push(Case {
            configuration: first.configuration(),
            load: first.load,
            begin: set.begin(plan.warmup),
            plan,
            accepted,
            delay: mean_over_seeds(group, |row| row.delay_mean),
            greatest: mean_over_seeds(group, |row| row.delay_max),
            injection_delay: mean_over_seeds(group, |row| row.inj_delay_mean),
            hops: mean_over_seeds(group, |row| row.mean_hops),
            share: is_full.then_some(accepted.mean / throughput),
            saturated: is_saturated(first.load, accepted.mean),
            setup,
        });
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(topology: &str, mode: &str, options: &str) -> Row {
        Row {
            set: "t_".to_owned(),
            topology: topology.to_owned(),
            mode: mode.to_owned(),
            pattern: "uniform".to_owned(),
            load: 0.3,
            packet_phits: 16,
            options: options.to_owned(),
            samples: 10,
            sample_size: 2_000,
            warmup: 6_000,
            mean_hops: 4.0,
            accepted: 0.3,
            delay_mean: 30.0,
            delay_max: 100.0,
            inj_delay_mean: 5.0,
        }
    }

    #[test]
    fn the_words_of_the_original_are_translated() {
        for (topology, mode, options, expected) in [
            ("ttorus_4_4_8", "smart2", "sk_xz=4", ("twisted:4x4x8:xz=4", Routing::BubbleSmart, 2)),
            ("circulant_64_8", "doubleob4", "", ("circulant:64:1,8", Routing::DoubleOblivious, 4)),
            ("spinnaker_8_8_1", "shortest3", "", ("spinnaker:8x8", Routing::BubbleShortest, 3)),
            ("thintree_4_2_3", "adaptive2", "", ("thintree:4,2,3", Routing::TreeAdaptive, 2)),
            ("torus_8_8", "adaptive3", "", ("torus:8x8", Routing::DallyAdaptive, 3)),
        ] {
            let setup = row(topology, mode, options).setup().unwrap();
            assert_eq!((&*setup.topology, setup.params.routing, setup.params.vcs), expected);
            assert_eq!(setup.params.source_queue, SourceQueue::Throttled);
        }
        let limit =
            |percent| row("torus_8_8", "smart3", &format!("global_cc={percent}")).setup().unwrap().params.global_cc;
        assert_eq!(limit(5), Some(GlobalCc { percent: 10.0, period: 0 }));
        assert_eq!(limit(60), None);
        let setup = row("torus_8_8", "smart3", "trigger_rate=0.5 triggered=1").setup().unwrap();
        assert_eq!(setup.pattern, "source(uniform, temporal=reactive(0.5, 1))");
        assert_eq!(setup.load, 0.6);
    }

    #[test]
    fn what_is_not_understood_is_not_skipped() {
        for (topology, mode, options) in
            [("torus_8_8", "smart3", "new=1"), ("torus_8_8", "clever3", ""), ("moebius_8_8", "smart3", "")]
        {
            let row = row(topology, mode, options);
            assert!(std::panic::catch_unwind(|| row.setup()).is_err(), "{topology} {mode} {options}");
        }
        // Parsed, but rejected.
        assert!(row("torus_8_8", "hexaob6", "").setup().is_err());
    }
}
