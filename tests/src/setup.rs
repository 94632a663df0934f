//! A run of synthetic traffic, from settings to outcome.

use std::sync::atomic::AtomicBool;

use fsin::couple::Coupled;
use fsin::engine::fast;
use fsin::engine::reference::Reference;
use fsin::network::Network;
use fsin::router::{CheckedParams, RouterParams, SourceQueue};
use fsin::routing::Routing;
use fsin::run::{BatchPlan, Outcome, batch, fixed};
use fsin::topology::switched::Pace;
use fsin::topology::{self, Faults, Topology};
use trgen::rng::mix2;
use trgen::synthetic::{Config, Mode, Traffic};

/// All settings of a run of synthetic traffic. The defaults are those of the original; a test changes the settings
/// under test.
#[derive(Clone, PartialEq, Debug)]
pub struct Setup {
    /// Topology in the user's syntax, such as `torus:8x8`.
    pub topology: String,
    /// Directions of each dimension: 1 or 2.
    pub ways: usize,
    /// Router, and the seed of the run.
    pub params: RouterParams,
    /// Spatial pattern in the user's syntax, or a sum of several.
    pub pattern: String,
    /// \[phit/node/cycle\] Offered load of every node that is not silent.
    pub load: f64,
    /// Number of dead links, each dead in both directions.
    pub faults: usize,
    /// Seed of drawn rates of the links of a network of switches; `None` where all are alike.
    pub paces: Option<u64>,
}

impl Setup {
    /// Uniform traffic at load 0.3 on `topology` with two directions, in packets of 16 phits from throttled sources,
    /// seed 1.
    #[must_use]
    pub fn new(topology: &str, routing: Routing, vcs: usize) -> Self {
        // Files of networks in every format, whichever test runs first.
        fsin::networks::install();
        Self {
            topology: topology.to_owned(),
            ways: 2,
            params: RouterParams { routing, vcs, source_queue: SourceQueue::Throttled, ..RouterParams::default() },
            pattern: "uniform".to_owned(),
            load: 0.3,
            faults: 0,
            paces: None,
        }
    }

    /// The same with this spatial pattern.
    #[must_use]
    pub fn pattern(mut self, pattern: &str) -> Self {
        self.pattern = pattern.to_owned();
        self
    }

    /// \[phit/node/cycle\] The same at this load.
    #[must_use]
    pub fn load(mut self, load: f64) -> Self {
        self.load = load;
        self
    }

    /// The same with this seed.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.params.seed = seed;
        self
    }

    /// The topology.
    ///
    /// # Panics
    /// When the specification is rejected.
    #[must_use]
    pub fn shape(&self) -> Box<dyn Topology> {
        let faults = Faults { count: self.faults, one_way: false, seed: self.params.seed };
        let topology = topology::parse_with_faults(&self.topology, self.ways, &faults)
            .unwrap_or_else(|refusal| panic!("{}: {refusal}: {}", self.topology, refusal.remedy()));
        match (self.paces, topology.switched()) {
            (Some(seed), Some(network)) => {
                Box::new(network.with_paces(|node, port| drawn_pace(mix2(mix2(seed, node.0.into()), port.0.into()))))
            }
            _ => topology,
        }
    }

    /// The source of traffic: it queues without bound if the router's source queue does.
    ///
    /// # Panics
    /// When a setting is rejected.
    #[must_use]
    pub fn source(&self) -> Traffic {
        let config = Config {
            pattern: self.pattern.parse().unwrap_or_else(|refusal| panic!("{self:?}: {refusal}")),
            load: self.load,
            packet_phits: self.params.packet_phits,
            phit_bytes: self.params.phit_bytes,
            mode: match self.params.source_queue {
                SourceQueue::Throttled => Mode::Throttled,
                SourceQueue::Open => Mode::Open,
            },
            seed: self.params.seed,
            ..Config::new(self.shape().geometry().clone())
        };
        Traffic::new(&config).unwrap_or_else(|misfit| panic!("{self:?}: {misfit:?}"))
    }

    /// The network, with the reference engine.
    ///
    /// # Panics
    /// When the settings are rejected.
    #[must_use]
    pub fn network(&self) -> Reference {
        Reference::new(self.shape(), self.checked())
    }

    /// The network, with the fast engine.
    ///
    /// # Panics
    /// When the settings are rejected.
    #[must_use]
    pub fn fast_network(&self) -> Box<dyn Network> {
        fast::build(self.shape(), self.checked(), 1).expect("networks are small")
    }

    /// The router, checked for the topology.
    ///
    /// # Panics
    /// When the settings are refused.
    #[must_use]
    pub fn checked(&self) -> CheckedParams {
        checked(&self.params, &*self.shape())
    }

    /// Runs it with this plan.
    #[must_use]
    pub fn batch(&self, plan: &BatchPlan) -> Outcome {
        self.run(|coupled| batch(coupled, plan, &mut |_| {}))
    }

    /// Runs it for this many cycles, all of them measured.
    #[must_use]
    pub fn fixed(&self, cycles: u64) -> Outcome {
        self.run(|coupled| fixed(coupled, cycles, &mut |_| {}))
    }

    /// Couples source and fast engine, and runs them under `control`.
    pub fn run<R>(&self, control: impl FnOnce(&mut Coupled<'_>) -> R) -> R {
        let mut source = self.source();
        let mut network = self.fast_network();
        let stop = AtomicBool::new(false);
        control(&mut Coupled::new(&mut source, &mut *network, &stop))
    }
}

/// A pace drawn by a key: a third of the links are fast.
fn drawn_pace(key: u64) -> Pace {
    const PACES: [(u64, u64); 12] =
        [(1, 1), (1, 1), (1, 1), (1, 1), (1, 2), (1, 2), (1, 3), (2, 3), (3, 4), (5, 8), (7, 64), (63, 64)];
    let (phits, cycles) = PACES[(key % PACES.len() as u64) as usize];
    Pace::of(phits, cycles).expect("ratios of small integers")
}

/// \[phit/node/cycle\] Accepted load of a run, over all nodes.
#[must_use]
pub fn accepted_load(outcome: &Outcome, packet_phits: u32) -> f64 {
    let phits = outcome.measured.counts.received * u64::from(packet_phits);
    phits as f64 / (outcome.measured_cycles() * outcome.nodes as u64) as f64
}

/// A router checked for a topology.
///
/// # Panics
/// When the settings are refused.
#[must_use]
pub fn checked(params: &RouterParams, topology: &dyn Topology) -> CheckedParams {
    params.check(topology).unwrap_or_else(|refusal| panic!("{params:?}: {refusal}: {}", refusal.remedy()))
}
