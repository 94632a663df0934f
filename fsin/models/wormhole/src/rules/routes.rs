//! Routing functions: which output ports and VCs a head may request where it stands.

use fsin_core::network::Channel;
use fsin_core::topology::Topology;
use fsin_core::topology::switched::{Dragonfly, Hyperx, Tree};
use trgen::catalog::{ErrorKind, SpecError};
use trgen::phrase;
use trgen::phrase::Phrase;
use trgen::rng::{mix2, pick};

use super::wiring::Wiring;
use crate::params::{Params, Routing};

mod dragonfly;
mod graph;
mod grid;
mod hyperx;
mod tree;

pub(crate) use grid::Ring;

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

fn listed(cycle: &[Channel]) -> String {
    const SHOWN: usize = 8;
    let mut text: Vec<String> = cycle.iter().take(SHOWN).map(Channel::to_string).collect();
    if cycle.len() > SHOWN {
        text.push("...".to_owned());
    }
    text.join(", ")
}

impl BuildError {
    /// What a user can do about it.
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

impl Routing {
    /// The routing of a topology for which none is given.
    #[must_use]
    pub fn usual(topology: &dyn Topology) -> Self {
        let Some(network) = topology.switched() else { return Self::DimensionOrder };
        if network.plan::<Tree>().is_some() {
            Self::Adaptive
        } else if network.plan::<Dragonfly>().is_some() || network.plan::<Hyperx>().is_some() {
            Self::Minimal
        } else {
            Self::UpDown
        }
    }
}

/// What a candidate is to a routing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Tier {
    /// Safe by itself.
    Free,
    /// Safe only beside an escape candidate, and only on a VC whose buffer is empty or has room for the whole packet: a
    /// head must never stand behind another packet in a buffer of a cyclic channel (Ma, Wang, Enright Jerger, Shen,
    /// Gu, Whole packet forwarding, TC 64(6), 2015).
    Adaptive,
    /// Requested if no VC of the others is available.
    Escape,
}

/// An output port that a head may leave through, and the VCs that it may take there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Candidate {
    pub(crate) port: u8,
    /// As a mask, not empty.
    pub(crate) vcs: u32,
    pub(crate) tier: Tier,
}

/// What a routing function knows of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Head {
    pub(crate) source: u32,
    pub(crate) destination: u32,
    /// State of the route: 0 at the source.
    pub(crate) phase: u8,
    /// Of its message.
    pub(crate) class: u8,
}

/// Where random choices of a route come from. A choice has a label, and the same label means the same choice all along.
pub(crate) trait Draw {
    /// A number below `bound`, which is 1 or more.
    fn draw(&mut self, label: u32, bound: u32) -> u32;
}

/// Choices by the key of a packet.
pub(crate) struct ByKey(pub(crate) u64);

impl Draw for ByKey {
    #[inline]
    fn draw(&mut self, label: u32, bound: u32) -> u32 {
        pick(mix2(self.0, label.into()), bound)
    }
}

/// Output ports and VCs as an adaptive head sees them.
pub(crate) trait Outputs {
    /// The VCs of a port that the head may request now, of those in the mask.
    fn available(&self, port: usize, vcs: u32, tier: Tier) -> u32;
    /// \[flits\] Credits of these VCs.
    fn credits(&self, port: usize, vcs: u32) -> u32;
    /// \[flits\] In the buffers behind these VCs, or on the way there or from there as a credit.
    fn ahead(&self, port: usize, vcs: u32) -> u32;
}

#[derive(Debug)]
enum Scheme {
    Grid(grid::Grid),
    Tree(tree::Tree),
    Dragonfly(dragonfly::Dragonfly),
    Hyperx(hyperx::Hyperx),
    UpDown(graph::UpDown),
}

/// The routing function of a network.
#[derive(Debug)]
pub(crate) struct Routes {
    scheme: Scheme,
    /// By endpoint.
    homes: Vec<u32>,
    ejections: Vec<u8>,
    /// VCs of a message class, and that of class 0 as a mask: those of the others follow.
    vcs: usize,
    all: u32,
}

impl Routes {
    pub(crate) fn new(params: &Params, topology: &dyn Topology, wiring: &Wiring) -> Result<Self, SpecError> {
        // Each message class has channels of its own, so that what holds of the first one holds of all.
        let params = &Params { vcs: params.vcs_of_class(), ..params.clone() };
        let all = mask(params.vcs);
        let unfit = || {
            let what = phrase![["routing" => params.routing.name()], (" is not for {}", topology.spec())];
            SpecError::new(ErrorKind::Conflict, what, remedy(topology)).of("routing")
        };
        let knows_the_plan_only = params.routing != Routing::UpDown;
        if topology.faults() > 0 && knows_the_plan_only {
            let what = phrase![["routing" => params.routing.name()], " cannot avoid dead links"];
            let remedy =
                phrase!["use ", ["routing" => "updown"], " on a network of switches, or leave out ", ["faults"]];
            return Err(SpecError::new(ErrorKind::Conflict, what, remedy).of("routing"));
        }
        let scheme = match (topology.switched(), params.routing) {
            (None, Routing::DimensionOrder | Routing::Adaptive) if topology.is_grid() => {
                Scheme::Grid(grid::Grid::new(params, topology)?)
            }
            (Some(network), Routing::UpDown) => Scheme::UpDown(graph::UpDown::new(network.fabric(), all)?),
            (Some(network), routing) => {
                use Routing::{Adaptive, Minimal, Ugal, Valiant};
                let fabric = network.fabric();
                if let (Some(plan), Adaptive | Minimal) = (network.plan::<Tree>(), routing) {
                    Scheme::Tree(tree::Tree::new(plan, fabric, routing == Adaptive, all))
                } else if let (Some(plan), Minimal | Valiant | Ugal) = (network.plan::<Dragonfly>(), routing) {
                    Scheme::Dragonfly(dragonfly::Dragonfly::new(plan, fabric, params)?)
                } else if let (Some(plan), Minimal | Adaptive | Valiant | Ugal) = (network.plan::<Hyperx>(), routing) {
                    Scheme::Hyperx(hyperx::Hyperx::new(plan, fabric, params)?)
                } else {
                    return Err(unfit());
                }
            }
            (None, _) => return Err(unfit()),
        };
        Ok(Self {
            scheme,
            homes: (0..wiring.endpoints).map(|endpoint| wiring.home(endpoint).0 as u32).collect(),
            ejections: (0..wiring.endpoints).map(|endpoint| wiring.ejection(endpoint)).collect(),
            vcs: params.vcs,
            all,
        })
    }

    /// True if which port a head requests depends on credits, so that it is looked at in every step.
    pub(crate) const fn is_adaptive(&self) -> bool {
        match &self.scheme {
            Scheme::Grid(grid) => grid.is_adaptive(),
            Scheme::Tree(tree) => tree.is_adaptive(),
            Scheme::Dragonfly(_) => false,
            Scheme::Hyperx(hyperx) => hyperx.is_adaptive(),
            Scheme::UpDown(_) => true,
        }
    }

    /// True if the phase of a head is [decided](Self::decide) at its first router.
    pub(crate) fn decides(&self) -> bool {
        match &self.scheme {
            Scheme::Dragonfly(dragonfly) => dragonfly.decides(),
            Scheme::Hyperx(hyperx) => hyperx.decides(),
            Scheme::Grid(_) | Scheme::Tree(_) | Scheme::UpDown(_) => false,
        }
    }

    /// Every port and VC that a head may request at a router, in any order. Never nothing.
    #[inline]
    pub(crate) fn candidates(&self, router: usize, head: &Head, draw: &mut impl Draw, into: &mut Vec<Candidate>) {
        into.clear();
        if let Some(arrived) = self.ejection(router, head) {
            into.push(arrived);
            return;
        }
        let to = self.homes[head.destination as usize] as usize;
        match &self.scheme {
            Scheme::Grid(grid) => grid.candidates(router, head, draw, into),
            Scheme::Tree(tree) => tree.candidates(router, head, draw, into),
            Scheme::Dragonfly(dragonfly) => {
                into.push(dragonfly.candidate((self.homes[head.source as usize] as usize, router, to), head, draw));
            }
            Scheme::Hyperx(hyperx) => hyperx.candidates((router, to), head, draw, into),
            Scheme::UpDown(up_down) => up_down.candidates((router, to), head, into),
        }
        if head.class > 0 {
            into.iter_mut().for_each(|candidate| candidate.vcs = self.of_class(head, candidate.vcs));
        }
    }

    /// VCs of the first message class, as those of the head's.
    #[inline(always)]
    const fn of_class(&self, head: &Head, vcs: u32) -> u32 {
        vcs << (head.class as usize * self.vcs)
    }

    /// The one candidate of a head, where [nothing is adaptive](Self::is_adaptive).
    #[inline(always)]
    pub(crate) fn only(
        &self,
        router: usize,
        head: &Head,
        draw: &mut impl Draw,
        spare: &mut Vec<Candidate>,
    ) -> Candidate {
        if let Some(arrived) = self.ejection(router, head) {
            return arrived;
        }
        if let Scheme::Grid(grid) = &self.scheme {
            let candidate = grid.dimension_order(router, head, draw);
            return Candidate { vcs: self.of_class(head, candidate.vcs), ..candidate };
        }
        self.candidates(router, head, draw, spare);
        spare[0]
    }

    #[inline(always)]
    fn ejection(&self, router: usize, head: &Head) -> Option<Candidate> {
        let destination = head.destination as usize;
        (self.homes[destination] as usize == router).then(|| Candidate {
            port: self.ejections[destination],
            vcs: self.of_class(head, self.all),
            tier: Tier::Free,
        })
    }

    /// The phase in which a packet leaves its first router.
    pub(crate) fn decide(&self, router: usize, head: &Head, draw: &mut impl Draw, outputs: &impl Outputs) -> u8 {
        let to = self.homes[head.destination as usize] as usize;
        let ahead = |candidate: Candidate| outputs.ahead(candidate.port.into(), self.of_class(head, candidate.vcs));
        match &self.scheme {
            Scheme::Dragonfly(dragonfly) => dragonfly.decide((router, to), head, draw, ahead),
            Scheme::Hyperx(hyperx) => hyperx.decide((router, to), head, draw, ahead),
            Scheme::Grid(_) | Scheme::Tree(_) | Scheme::UpDown(_) => head.phase,
        }
    }

    /// Every phase in which a packet may leave its first router.
    pub(crate) fn decisions(&self, router: usize, head: &Head, draw: &mut impl Draw) -> Vec<u8> {
        let to = self.homes[head.destination as usize] as usize;
        match &self.scheme {
            Scheme::Dragonfly(dragonfly) => dragonfly.decisions((router, to), head, draw),
            Scheme::Hyperx(hyperx) => hyperx.decisions((router, to), head, draw),
            Scheme::Grid(_) | Scheme::Tree(_) | Scheme::UpDown(_) => vec![head.phase],
        }
    }

    /// The phase of a packet that has reached `next` from `router`.
    #[inline]
    pub(crate) fn hop(&self, router: usize, next: usize, phase: u8, draw: &mut impl Draw) -> u8 {
        match &self.scheme {
            Scheme::Hyperx(hyperx) => hyperx.hop(next, phase, draw),
            Scheme::UpDown(up_down) => up_down.hop(router, next, phase),
            Scheme::Grid(_) | Scheme::Tree(_) | Scheme::Dragonfly(_) => phase,
        }
    }

    /// The rings that a grid consists of, whose freedom from deadlock is that of the grid.
    pub(crate) fn rings(&self) -> Option<Vec<Ring>> {
        match &self.scheme {
            Scheme::Grid(grid) => Some(grid.rings()),
            Scheme::Tree(_) | Scheme::Dragonfly(_) | Scheme::Hyperx(_) | Scheme::UpDown(_) => None,
        }
    }
}

/// What a head requests in this step: the port with most credits among candidates with an available VC, the escape
/// candidate if there is none. `key` rotates equals. Masks of VCs may come out empty: none is available.
pub(crate) fn select(candidates: &[Candidate], key: u64, outputs: &impl Outputs) -> (u8, u32) {
    let count = candidates.len();
    let first = if count > 1 { pick(key, count as u32) as usize } else { 0 };
    let mut best = None;
    for candidate in (0..count).map(|at| candidates[(first + at) % count]) {
        if candidate.tier == Tier::Escape {
            continue;
        }
        let open = outputs.available(candidate.port.into(), candidate.vcs, candidate.tier);
        let credits = outputs.credits(candidate.port.into(), open);
        if open != 0 && best.is_none_or(|(most, _, _)| credits > most) {
            best = Some((credits, candidate.port, open));
        }
    }
    if let Some((_, port, open)) = best {
        return (port, open);
    }
    let last = candidates.iter().find(|candidate| candidate.tier == Tier::Escape).unwrap_or(&candidates[0]);
    (last.port, outputs.available(last.port.into(), last.vcs, last.tier))
}

/// The VCs 0 to `vcs` - 1.
pub(crate) const fn mask(vcs: usize) -> u32 {
    if vcs >= 32 { u32::MAX } else { (1 << vcs) - 1 }
}

/// The VCs of class `class` of `count`: class, class + count, ...
fn class(class: usize, count: usize, vcs: usize) -> u32 {
    (0..vcs).filter(|vc| vc % count == class).fold(0, |mask, vc| mask | 1 << vc)
}

/// Refuses too few VCs.
fn needs(params: &Params, vcs: usize, why: &str) -> Result<(), SpecError> {
    if params.vcs >= vcs || params.unsafe_routing {
        return Ok(());
    }
    let classes = params.message_classes;
    let (given, least) = (params.vcs * classes, vcs * classes);
    let each = if classes > 1 { format!(" for each of {classes} message classes") } else { String::new() };
    let what = phrase![["routing" => params.routing.name()], " needs {vcs} VCs{each}{why}, ", ["vcs"], (" is {given}")];
    let remedy = phrase!["use ", ["vcs" => least], " or more"];
    Err(SpecError::new(ErrorKind::OutOfRange, what, remedy).of("vcs").given(given))
}

fn remedy(topology: &dyn Topology) -> &'static str {
    match topology.switched() {
        None if topology.is_grid() => "use dor or adaptive",
        None => "the wormhole model takes tori, meshes, hypercubes and networks of switches",
        Some(network) if network.plan::<Tree>().is_some() => "use adaptive, minimal or updown",
        Some(network) if network.plan::<Dragonfly>().is_some() => "use minimal, valiant, ugal or updown",
        Some(network) if network.plan::<Hyperx>().is_some() => "use minimal, adaptive, valiant, ugal or updown",
        Some(_) => "use updown",
    }
}
