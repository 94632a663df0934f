//! Routing functions: which output ports and VCs a head may request at its router.
//!
//! Each file below has the routings of one kind of network: their [rows](Row) state name, source, networks, virtual
//! channels and wake-up condition, and a [`Function`] has their rules. The [table](ROUTINGS) lists them all; names,
//! checks, errors, defaults and both engines follow from it. Neither rows nor functions have default values, and no
//! match has a catch-all arm: what is missing is reported by the compiler.
//!
//! To add a routing: a row in the file of its networks, or a file of its own, and a line in the table.

use fsin_core::network::Channel;
use fsin_core::topology::Topology;
use fsin_core::topology::switched::{Fabric, Plan, Switched};
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
mod row;
mod tree;

pub(crate) use grid::{Ring, has_rings};
pub use row::{Choice, Networks, Row, Vcs, Wake};
use row::{Function, Visit};

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

/// When a head may request a candidate without a risk of deadlock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Tier {
    /// At any time.
    Free,
    /// Only if there is an escape candidate too, and only on a VC whose buffer is empty or has room for the whole
    /// packet: a head must never be behind another packet in a buffer of a channel that is part of a cycle (Ma, Wang,
    /// Enright Jerger, Shen, Gu, Whole packet forwarding, TC 64(6), 2015).
    Adaptive,
    /// Only if no VC of the other candidates is available.
    Escape,
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
    /// State of the route, whose meaning is private to each routing function; 0 at the source.
    pub(crate) phase: u8,
    /// Message class of the packet.
    pub(crate) class: u8,
}

/// The source of the random choices of a route. Each choice has a label: the same label yields the same choice on the
/// whole route of a packet.
pub(crate) trait Draw {
    /// A number below `bound`, which is 1 or more.
    fn draw(&mut self, label: u32, bound: u32) -> u32;
}

/// Choices derived from the key of a packet.
pub(crate) struct ByKey(pub(crate) u64);

impl Draw for ByKey {
    #[inline]
    fn draw(&mut self, label: u32, bound: u32) -> u32 {
        pick(mix2(self.0, label.into()), bound)
    }
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

/// Defines the table of rows, and the static dispatch to the routing functions. One line for each routing.
macro_rules! table {
    ($($row:path => $scheme:ident,)+; $($function:ident($type:ty),)+) => {
        /// Every routing. The first one that serves a topology is its default.
        pub static ROUTINGS: &[&Row] = &[$(&$row),+];

        /// By row: its routing function.
        const BUILDERS: &[Builder] = &[$(build::$scheme),+];

        type Builder = fn(&'static Row, &Params, &dyn Topology) -> Result<Scheme, SpecError>;

        #[derive(Debug)]
        enum Scheme {
            $($function($type),)+
        }

        #[allow(non_snake_case, reason = "functions bear the names of variants")]
        mod build {
            use super::*;

            $(pub(super) fn $function(row: &'static Row, params: &Params, of: &dyn Topology) -> Result<Scheme, SpecError> {
                <$type>::new(row, params, of).map(Scheme::$function)
            })+
        }

        impl Scheme {
            fn candidates(&self, at: Visit, head: &Head, draw: &mut impl Draw, into: &mut Vec<Candidate>) {
                match self {
                    $(Self::$function(function) => function.candidates(at, head, draw, into),)+
                }
            }

            fn decisions(&self, at: Visit, head: &Head, draw: &mut impl Draw) -> Vec<u8> {
                match self {
                    $(Self::$function(function) => function.decisions(at, head, draw),)+
                }
            }

            /// The phase in which a packet leaves its first router, chosen by the flits ahead of it at the outputs.
            fn decide(&self, at: Visit, head: &Head, draw: &mut impl Draw, occupancy: impl Fn(Candidate) -> u32) -> u8 {
                match self {
                    $(Self::$function(function) => function.decide(at, head, draw, occupancy),)+
                }
            }

            fn hop(&self, router: usize, next: usize, phase: u8, draw: &mut impl Draw) -> u8 {
                match self {
                    $(Self::$function(function) => function.hop(router, next, phase, draw),)+
                }
            }

            /// The rings and lines of which a grid consists; `None` for other networks. The grid is free of deadlock if
            /// each of them is.
            fn rings(&self) -> Option<Vec<Ring>> {
                match self {
                    $(Self::$function(function) => function.rings(),)+
                }
            }
        }
    };
}

table! {
    grid::DOR => Grid,
    grid::ADAPTIVE => Grid,
    tree::ADAPTIVE => Tree,
    tree::MINIMAL => Tree,
    dragonfly::MINIMAL => Dragonfly,
    dragonfly::VALIANT => Dragonfly,
    dragonfly::UGAL => Dragonfly,
    hyperx::MINIMAL => Hyperx,
    hyperx::ADAPTIVE => Hyperx,
    hyperx::VALIANT => Hyperx,
    hyperx::UGAL => Hyperx,
    graph::UPDOWN => UpDown,;
    Grid(grid::Grid),
    Tree(tree::Tree),
    Dragonfly(dragonfly::Dragonfly),
    Hyperx(hyperx::Hyperx),
    UpDown(graph::UpDown),
}

/// The rows that serve a topology, with their indices in the table.
fn serving(topology: &dyn Topology) -> impl Iterator<Item = (usize, &'static Row)> {
    ROUTINGS.iter().copied().enumerate().filter(|(_, row)| row.networks.include(topology))
}

impl Routing {
    /// The routing of a topology if the user names none: the first one in the table that serves it.
    #[must_use]
    pub fn default_for(topology: &dyn Topology) -> Self {
        serving(topology).next().map_or(Self::DimensionOrder, |(_, row)| row.routing)
    }
}

/// The routing function of a network.
#[derive(Debug)]
pub(crate) struct Routes {
    /// The routing, as it declares itself.
    row: &'static Row,
    /// The routing function of the network.
    scheme: Scheme,
    /// By endpoint: its router.
    homes: Vec<u32>,
    /// By endpoint: the port of its router that leads to it.
    ejections: Vec<u8>,
    /// Number of VCs of each message class. Those of class 0 come first, then those of class 1, and so on.
    vcs: usize,
    /// The VCs of message class 0, as a mask.
    all: u32,
}

impl Routes {
    pub(crate) fn new(params: &Params, topology: &dyn Topology, wiring: &Wiring) -> Result<Self, SpecError> {
        let name = params.routing.name();
        let Some((number, row)) = serving(topology).find(|(_, row)| row.routing == params.routing) else {
            let what = phrase![["routing" => name], (" is not for {}", topology.spec())];
            return Err(SpecError::new(ErrorKind::Conflict, what, remedy(topology)).of("routing"));
        };
        if topology.faults() > 0 && row.networks.requires_intact_topology() {
            let what = phrase![["routing" => name], " cannot avoid dead links"];
            let remedy =
                phrase!["use ", ["routing" => "updown"], " on a network of switches, or leave out ", ["faults"]];
            return Err(SpecError::new(ErrorKind::Conflict, what, remedy).of("routing"));
        }
        // Each message class has channels of its own, all of the same number: routings know those of class 0 only.
        let params = &Params { vcs: params.vcs_of_class(), ..params.clone() };
        check_vcs(row, params, grid::has_rings(topology))?;
        Ok(Self {
            row,
            scheme: BUILDERS[number](row, params, topology)?,
            homes: (0..wiring.endpoints).map(|endpoint| wiring.home(endpoint).0 as u32).collect(),
            ejections: (0..wiring.endpoints).map(|endpoint| wiring.ejection(endpoint)).collect(),
            vcs: params.vcs,
            all: mask(params.vcs),
        })
    }

    /// True if the port that a head requests depends on credits. The choice is then made anew in every step.
    pub(crate) fn is_adaptive(&self) -> bool {
        self.row.wake == Wake::Credits
    }

    /// True if the phase of a head is [decided](Self::decide) at its first router.
    pub(crate) fn decides(&self) -> bool {
        self.row.choice == Choice::AtFirstRouter
    }

    /// The router of an endpoint.
    fn home(&self, endpoint: u32) -> usize {
        self.homes[endpoint as usize] as usize
    }

    /// Where a head is on its route when it is at router `here`.
    fn visit(&self, here: usize, head: &Head) -> Visit {
        Visit { first: self.home(head.source), here, home: self.home(head.destination) }
    }

    /// Fills `into` with every port and VC that a head may request at a router, in any order: one candidate or more.
    #[inline]
    pub(crate) fn candidates(&self, router: usize, head: &Head, draw: &mut impl Draw, into: &mut Vec<Candidate>) {
        into.clear();
        if let Some(arrived) = self.ejection(router, head) {
            into.push(arrived);
            return;
        }
        self.scheme.candidates(self.visit(router, head), head, draw, into);
        if head.class > 0 {
            into.iter_mut().for_each(|candidate| candidate.vcs = self.of_class(head, candidate.vcs));
        }
    }

    /// Converts a mask of VCs of message class 0 to a mask for the message class of the head.
    #[inline(always)]
    const fn of_class(&self, head: &Head, vcs: u32) -> u32 {
        vcs << (head.class as usize * self.vcs)
    }

    /// The only candidate of a head, if the routing is not [adaptive](Self::is_adaptive). `scratch` is scratch memory.
    #[inline(always)]
    pub(crate) fn only(
        &self,
        router: usize,
        head: &Head,
        draw: &mut impl Draw,
        scratch: &mut Vec<Candidate>,
    ) -> Candidate {
        if let Some(arrived) = self.ejection(router, head) {
            return arrived;
        }
        // The most frequent routing, without the list of candidates.
        if let Scheme::Grid(grid) = &self.scheme {
            let candidate = grid.dimension_order(router, head, draw);
            return Candidate { vcs: self.of_class(head, candidate.vcs), ..candidate };
        }
        self.candidates(router, head, draw, scratch);
        scratch[0]
    }

    /// The candidate that leads to the destination, if the destination is an endpoint of this router.
    #[inline(always)]
    fn ejection(&self, router: usize, head: &Head) -> Option<Candidate> {
        let destination = head.destination as usize;
        (self.homes[destination] as usize == router).then(|| Candidate {
            port: self.ejections[destination],
            vcs: self.of_class(head, self.all),
            tier: Tier::Free,
        })
    }

    /// The phase in which a packet leaves its first router, chosen by what is before it at the outputs.
    pub(crate) fn decide(&self, router: usize, head: &Head, draw: &mut impl Draw, outputs: &impl Outputs) -> u8 {
        let occupancy =
            |candidate: Candidate| outputs.occupancy(candidate.port.into(), self.of_class(head, candidate.vcs));
        self.scheme.decide(self.visit(router, head), head, draw, occupancy)
    }

    /// Every phase in which a packet may leave its first router.
    pub(crate) fn decisions(&self, router: usize, head: &Head, draw: &mut impl Draw) -> Vec<u8> {
        self.scheme.decisions(self.visit(router, head), head, draw)
    }

    /// The phase of a packet after its hop from `router` to `next`.
    #[inline]
    pub(crate) fn hop(&self, router: usize, next: usize, phase: u8, draw: &mut impl Draw) -> u8 {
        self.scheme.hop(router, next, phase, draw)
    }

    /// The rings of which a grid consists: the grid is free of deadlock if each of them is. `None` for other networks.
    pub(crate) fn rings(&self) -> Option<Vec<Ring>> {
        self.scheme.rings()
    }
}

/// What a head requests in this step, as a port and a mask of VCs: among the candidates with an available VC, the one
/// with most credits; if there is none, the escape candidate. `key` breaks ties. The mask is empty if no VC is
/// available.
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

/// The switches of a topology.
fn fabric(topology: &dyn Topology) -> Result<&Fabric, SpecError> {
    let unfit =
        || SpecError::new(ErrorKind::Conflict, format!("{} has no switches", topology.spec()), remedy(topology));
    topology.switched().map(|network| &**network.fabric()).ok_or_else(unfit)
}

/// The construction plan of a topology, and its switches.
fn planned<P: Plan>(topology: &dyn Topology) -> Result<(&P, &Fabric), SpecError> {
    let unfit =
        || SpecError::new(ErrorKind::Conflict, format!("{} has another plan", topology.spec()), remedy(topology));
    let plan = topology.switched().and_then(Switched::plan).ok_or_else(unfit)?;
    Ok((plan, fabric(topology)?))
}

/// The VCs 0 to `vcs` - 1.
pub(crate) const fn mask(vcs: usize) -> u32 {
    if vcs >= 32 { u32::MAX } else { (1 << vcs) - 1 }
}

/// The VCs of a class out of `count`, if VCs are assigned to classes in turn: class, class + count, ..., as a mask.
fn vc_class(class: usize, count: usize, vcs: usize) -> u32 {
    (0..vcs).filter(|vc| vc % count == class).fold(0, |mask, vc| mask | 1 << vc)
}

/// Refuses fewer VCs than a routing needs, unless the user permits unsafe routing.
fn check_vcs(row: &Row, params: &Params, has_rings: bool) -> Result<(), SpecError> {
    let Vcs { least, of_rings, why } = row.vcs;
    let least = if has_rings { of_rings } else { least };
    if params.vcs >= least || params.unsafe_routing {
        return Ok(());
    }
    let classes = params.message_classes;
    let given = params.vcs * classes;
    let each = if classes > 1 { format!(" for each of {classes} message classes") } else { String::new() };
    let name = params.routing.name();
    let what = phrase![["routing" => name], " needs {least} VCs{each}, {why}, ", ["vcs"], (" is {given}")];
    let remedy = phrase!["use ", ["vcs" => least * classes], " or more"];
    Err(SpecError::new(ErrorKind::OutOfRange, what, remedy).of("vcs").given(given))
}

/// Advice to the user: the routings that serve a topology.
fn remedy(topology: &dyn Topology) -> String {
    let names: Vec<&str> = serving(topology).map(|(_, row)| row.component.name).collect();
    match &names[..] {
        [] => "the wormhole model takes tori, meshes, hypercubes and networks of switches".to_owned(),
        [one] => format!("use {one}"),
        [first @ .., last] => format!("use {} or {last}", first.join(", ")),
    }
}
