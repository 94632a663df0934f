//! Routing functions of networks of switches.
//!
//! In a direct network a packet carries the hops to go in each dimension. Here it carries its destination and two words
//! of state, and route computation takes place at each switch. A **candidate** is a port, the virtual channels that the
//! packet may take there, and the hops to go from there. Among the candidates of the first tier with an open channel
//! the packet takes the one with fewest packets ahead; ties are broken at random. Candidates of later tiers are for
//! packets that find no other: the escape channel.
//!
//! Some routings **weigh** minimal candidates against longer ones, by packets ahead times hops to go. They choose
//! before they test whether the candidate is open, so that a momentarily busy minimal port does not cause a misroute.
//!
//! The routings of trees and cubes follow the original: their heads ignore ownership ([`Choice`]).
//!
//! Each routing states why it is free of deadlock. Where channels are classes that a packet uses in ascending order,
//! class c of C has the channels c, c + C, c + 2 C, ...
//!
//! Decision: docs/decisions/0037-switch-routing.md.

use std::fmt::Debug;
use std::sync::Arc;

use trgen::NodeId;
use trgen::catalog::{ErrorKind, SpecError};
use trgen::phrase;

use super::{Choice, Function, Requests, Routing};
use crate::router::RouterParams;
use crate::router::request::Input;
use fsin_core::topology::switched::{Fabric, Plan, Switched};
use fsin_core::topology::{Port, Topology as _};

pub(super) mod cube;
pub(super) mod dragonfly;
pub(super) mod hyperx;
mod links;
pub(crate) mod shared;
pub(super) mod shortest_paths;
pub(super) mod tree;
pub(super) mod updown;

/// A routing candidate: a port that a packet may leave through.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Candidate {
    /// The port.
    pub port: Port,
    /// The virtual channels, as a mask.
    pub vcs: u32,
    /// Candidates of a tier are considered if none of an earlier tier passes.
    pub tier: u8,
    /// \[hops\] To the last switch, by this candidate.
    pub hops: u8,
    /// True if a packet that enters this ring must leave a bubble there.
    pub bubble: bool,
}

/// A packet at a switch, as the routing function sees it.
#[derive(Clone, Copy, Debug)]
pub struct Visit<'a> {
    /// The switch or endpoint where the packet is.
    pub node: NodeId,
    /// The queue in which the packet stands.
    pub input: Input,
    /// The packet's source.
    pub source: NodeId,
    /// The packet's destination.
    pub destination: NodeId,
    /// Random stream of (run seed, packet).
    pub key: u64,
    /// The state words of the packet.
    pub state: &'a [i16],
}

/// A routing function of the switches of one kind of network. There are no defaults: a missing answer does not compile.
///
/// A blocked head waits until a channel of one of its candidates opens, or polls while one is open: so the candidates
/// are its wake-up condition too.
pub(super) trait SwitchRouting: Debug + Sized {
    /// The routing function of a network, for the routing and the number of channels that are set.
    ///
    /// # Errors
    /// A network of another kind ([`plan`]), or too few channels for it.
    fn new(params: &RouterParams, network: &Switched) -> Result<Self, SpecError>;

    /// The channels that a packet may take from its last switch to its destination, `all` or some of them, as a mask.
    fn last_channels(&self, visit: &Visit<'_>, all: u32) -> u32;

    /// The single candidate of a packet before its last switch, `home`, if that is evident without weighing.
    fn single_candidate(&self, fabric: &Fabric, visit: &Visit<'_>, home: NodeId) -> Option<Candidate>;

    /// Passes every candidate of a packet without a [single candidate](Self::single_candidate) to `add_candidate`, the
    /// candidates of a tier one after the other. `all` is the mask of all channels.
    fn candidates(
        &self,
        fabric: &Fabric,
        visit: &Visit<'_>,
        home: NodeId,
        all: u32,
        add_candidate: impl FnMut(Candidate),
    );

    /// True if some packets weigh their candidates.
    fn may_weigh(&self) -> bool;

    /// True if this packet weighs its candidates of the first tier.
    fn weighs(&self, visit: &Visit<'_>) -> bool;

    /// Updates the state of a packet that leaves a switch through a port.
    fn hop(&self, fabric: &Fabric, at: &Departure, port: Port, state: &mut [i16]);
}

/// A packet that leaves a switch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Departure {
    /// The switch that the packet leaves.
    pub(super) node: NodeId,
    /// The packet's destination.
    pub(super) destination: NodeId,
    /// Random stream of (run seed, packet).
    pub(super) key: u64,
}

/// The construction plan that a routing needs.
///
/// # Errors
/// A network of another kind.
fn plan<'a, P: Plan>(params: &RouterParams, network: &'a Switched) -> Result<&'a P, SpecError> {
    network.plan().ok_or_else(|| unsuited(params.routing, &network.spec()))
}

/// The error of a routing in a network that it does not serve.
pub(crate) fn unsuited(routing: Routing, spec: &str) -> SpecError {
    let what =
        phrase![["routing" => routing.name()], (" is for {}, not for ", routing.networks()), ["topology" => spec]];
    SpecError::new(ErrorKind::Conflict, what, "")
}

/// The routing function of a network of switches, for one routing.
#[derive(Debug)]
pub struct RoutingFunction {
    fabric: Arc<Fabric>,
    /// All channels, as a mask.
    all: u32,
    /// How one of the candidate channels is chosen.
    choice: Choice,
    /// The rules of the routing.
    function: Function,
}

impl RoutingFunction {
    /// The routing function of a network for the routing and the number of channels that are set. Callers that report
    /// an error add the list of routings ([`RouterParams::check`]).
    ///
    /// # Errors
    /// A routing that does not suit this network, or too few channels for it.
    pub fn new(params: &RouterParams, network: &Switched) -> Result<Self, SpecError> {
        let fabric = Arc::clone(network.fabric());
        let choice = match params.routing.row().requests {
            Requests::Switched { choice, .. } => choice,
            Requests::Direct { .. } => return Err(unsuited(params.routing, &network.spec())),
        };
        if fabric.faults() > 0 && !params.routing.row().dead_links {
            let what = phrase![["routing" => params.routing.name()], " cannot avoid dead links"];
            return Err(SpecError::new(ErrorKind::Conflict, what, ""));
        }
        if params.routing != Routing::GraphShortest {
            network.check_rails(&phrase![["routing" => params.routing.name()]])?;
        }
        let function = Function::new(params, network)?;
        Ok(Self { fabric, all: ((1u64 << params.vcs) - 1) as u32, choice, function })
    }

    /// How one of the candidate channels is chosen.
    #[inline(always)]
    #[must_use]
    pub const fn choice(&self) -> Choice {
        self.choice
    }

    /// The single candidate of a packet, if that is evident without weighing. A single candidate needs no bubble.
    #[inline(always)]
    #[must_use]
    pub fn single_candidate(&self, visit: &Visit<'_>) -> Option<Candidate> {
        let Visit { node, destination, .. } = *visit;
        let plain = |port, vcs| Some(Candidate { port, vcs, tier: 0, hops: 1, bubble: false });
        if node.index() < self.fabric.endpoints() {
            return plain(self.fabric.port(node, 0), self.all);
        }
        let (home, port) = self.fabric.home(destination);
        if home == node {
            return plain(port, self.function.last_channels(visit, self.all));
        }
        self.function.single_candidate(&self.fabric, visit, home)
    }

    /// Passes every candidate of a packet to `add_candidate`, the candidates of a tier one after the other.
    #[inline]
    pub fn candidates(&self, visit: &Visit<'_>, mut add_candidate: impl FnMut(Candidate)) {
        match self.single_candidate(visit) {
            Some(candidate) => add_candidate(candidate),
            None => self.choices(visit, add_candidate),
        }
    }

    /// As [`candidates`](Self::candidates), for a packet that is known to have no
    /// [single candidate](Self::single_candidate).
    #[inline]
    pub fn choices(&self, visit: &Visit<'_>, add_candidate: impl FnMut(Candidate)) {
        let (home, _) = self.fabric.home(visit.destination);
        self.function.candidates(&self.fabric, visit, home, self.all, add_candidate);
    }

    /// True if some packets weigh their candidates.
    #[must_use]
    pub fn may_weigh(&self) -> bool {
        self.function.may_weigh()
    }

    /// True if this packet weighs its candidates of the first tier.
    #[inline]
    pub fn weighs(&self, visit: &Visit<'_>) -> bool {
        self.function.weighs(visit)
    }

    /// Updates the state of a packet that has left through a port.
    #[inline(always)]
    pub fn hop(&self, node: NodeId, destination: NodeId, key: u64, port: Port, state: &mut [i16]) {
        if node.index() >= self.fabric.endpoints() {
            self.function.hop(&self.fabric, &Departure { node, destination, key }, port, state);
        }
    }
}

/// The switch at the other end of a port; `None` for an endpoint.
fn next_switch(fabric: &Fabric, node: NodeId, port: Port) -> Option<NodeId> {
    fabric.neighbour(node, port).filter(|next| next.index() >= fabric.endpoints())
}

/// The channels of each of `classes` classes, as masks.
fn classes(classes: usize, vcs: usize) -> Vec<u32> {
    (0..classes).map(|class| (0..vcs).filter(|vc| vc % classes == class).fold(0, |mask, vc| mask | 1 << vc)).collect()
}
