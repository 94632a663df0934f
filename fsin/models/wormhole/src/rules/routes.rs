//! Routing functions as this model carries them: the VCs of a hop, and the choice among hops by credits.

use fsin_core::network::Channel;
use fsin_core::route::proof::{OutputChannel, Routed};
use fsin_core::route::{
    self, Build, Carries, ChannelPolicy, Choice, Function, Hop, Masks, Phase, Row, RoutingFunction as _, Serves, Visit,
};
use fsin_core::topology::Topology;
use trgen::catalog::{ErrorKind, SpecError};
use trgen::phrase;
use trgen::phrase::Phrase;
use trgen::rng::pick;

use super::wiring::Wiring;
use crate::params::{Params, Routing};

pub(crate) use fsin_core::route::{ByKey, Draw, Tier, mask};

/// Why a routing cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BuildError {
    /// A setting that is out of range or does not fit the topology.
    #[error(transparent)]
    Setting(#[from] SpecError),
    /// Channels that may wait for each other in a cycle.
    #[error(
        "routing {routing} is not free of deadlock here: {} channels may wait for each other in a cycle: {}",
        cycle.len(),
        listed(cycle)
    )]
    Cycle {
        /// Name of the routing.
        routing: &'static str,
        /// Each waits for the next one, and the last for the first.
        cycle: Vec<Channel>,
    },
}

/// The channels of a cycle, as a list in words.
fn listed(cycle: &[Channel]) -> String {
    const SHOWN: usize = 8;
    let mut text: Vec<String> = cycle.iter().take(SHOWN).map(Channel::to_string).collect();
    if cycle.len() > SHOWN {
        text.push("...".to_owned());
    }
    text.join(", ")
}

impl BuildError {
    /// What a user can do about the error.
    #[must_use]
    pub fn remedy(&self) -> Phrase {
        match self {
            Self::Setting(error) => error.remedy().clone(),
            Self::Cycle { .. } => phrase![
                "use more ",
                ["vcs"],
                ", other ",
                ["vc-classes"],
                " or another ",
                ["routing"],
                "; ",
                ["unsafe-routing"],
                " runs it all the same"
            ],
        }
    }
}

impl From<BuildError> for SpecError {
    fn from(error: BuildError) -> Self {
        let (what, remedy) = (error.to_string(), error.remedy());
        match error {
            BuildError::Setting(refusal) => refusal,
            BuildError::Cycle { .. } => Self::new(ErrorKind::Conflict, what, remedy).of("routing"),
        }
    }
}

/// The standard routings that the model carries. The first one that serves a topology is its default. A routing that
/// weighs several hops is not among them: it would need the length of queues at every router.
const CARRIED: &[Carries] = &[
    Carries::new(&route::rows::GRID_DOR),
    Carries::new(&route::rows::GRID_ADAPTIVE),
    Carries::new(&route::rows::TREE_ADAPTIVE),
    Carries::new(&route::rows::TREE_MINIMAL),
    Carries::new(&route::rows::TREE_STATIC),
    Carries::new(&route::rows::DRAGONFLY_MINIMAL),
    Carries::new(&route::rows::DRAGONFLY_VALIANT),
    Carries::new(&route::rows::DRAGONFLY_UGAL),
    Carries::new(&route::rows::HYPERX_DOR),
    Carries::new(&route::rows::HYPERX_MINIMAL),
    Carries::new(&route::rows::HYPERX_ADAPTIVE),
    Carries::new(&route::rows::HYPERX_VALIANT),
    Carries::new(&route::rows::HYPERX_UGAL),
    Carries::new(&route::rows::UPDOWN),
    Carries::new(&route::rows::SHORTEST),
    Carries::new(&route::rows::CUBE_DOR),
    Carries::new(&route::rows::CUBE_ADAPTIVE),
];

/// The routings that the model carries, those of a program's own included.
#[must_use]
pub fn carried() -> Vec<Carries> {
    let own = route::added().filter(|row| row.choice != Choice::Weighed).map(Carries::new);
    CARRIED.iter().copied().chain(own).collect()
}

/// An output port that a head may leave through, and the VCs that it may take there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Candidate {
    /// The output port.
    pub(crate) port: u8,
    /// The VCs of the port, as a mask with at least one bit set.
    pub(crate) vcs: u32,
    /// When the head may request the candidate.
    pub(crate) tier: Tier,
}

/// What a routing function knows about a packet whose head it routes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Head {
    /// Number of the source endpoint.
    pub(crate) source: u32,
    /// Number of the destination endpoint.
    pub(crate) destination: u32,
    /// State of the route.
    pub(crate) phase: Phase,
    /// Message class of the packet.
    pub(crate) class: u8,
}

/// The state of the output ports and VCs of a router, as an adaptive head sees it.
pub(crate) trait Outputs {
    /// The VCs in the mask `vcs` that the head may request now at a port, as a mask.
    fn available(&self, port: usize, vcs: u32, tier: Tier) -> u32;
    /// \[flits\] Sum of the credits of the VCs in the mask `vcs` of a port.
    fn credits(&self, port: usize, vcs: u32) -> u32;
    /// \[flits\] Sum over the VCs in the mask `vcs` of a port: places of the next buffers that are not credits of this
    /// router. They hold flits, or flits or credits for them are on the link.
    fn occupancy(&self, port: usize, vcs: u32) -> u32;
}

impl Routing {
    /// The routing of a topology if the user names none: the first one in the table that serves it.
    #[must_use]
    pub fn default_for(topology: &dyn Topology) -> Self {
        serving(topology).first().map_or(Self::DOR, |carries| Self::of(carries.row))
    }
}
