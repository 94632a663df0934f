//! `Guide`: the routing function of a network of switches.
//!
//! In a direct network a packet carries the hops to go in each dimension. Here it carries its destination and two words
//! of state, and route computation takes place at each switch. A **way** is a routing candidate: a port, the virtual
//! channels that the packet may take there, and the hops to go from there. Among the candidates of the first tier with
//! an open channel the packet takes the one with fewest packets ahead; ties are broken at random. Candidates of later
//! tiers are for packets that find no other: the escape channel.
//!
//! Some routings **weigh** minimal candidates against longer ones, by packets ahead times hops to go. They choose
//! before they test whether the candidate is open, so that a momentarily busy minimal port does not cause a misroute.
//!
//! Trees and cubes are the original's: their heads ignore ownership ([`Choice`]).
//!
//! Each routing states why it is free of deadlock. Where channels are classes that a packet uses in ascending order,
//! class c of C has the channels c, c + C, c + 2 C, ...
//!
//! Decision: docs/decisions/0037-switch-routing.md.

use std::sync::Arc;

use trgen::NodeId;
use trgen::catalog::{ErrorKind, SpecError};
use trgen::phrase;

use super::RouterParams;
use super::request::Input;
use fsin_core::routing::Routing;
use fsin_core::topology::Port;
use fsin_core::topology::switched::{Fabric, Plan, Switched};

mod cube;
mod dragonfly;
mod hyperx;
mod paths;
mod tree;

/// How one of the candidate channels is chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Choice {
    /// Among those that no packet owns.
    Open,
    /// The channel with most free space ahead among those that pass, owned or not; ties are broken at random.
    MostSpace,
    /// A channel is drawn before its state is examined.
    Drawn,
}

/// A routing candidate: a port that a packet may leave through.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Way {
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
    /// Where it is.
    pub node: NodeId,
    /// The queue in which it stands.
    pub input: Input,
    /// Its source.
    pub source: NodeId,
    /// Its destination.
    pub destination: NodeId,
    /// Random stream of (run seed, packet).
    pub key: u64,
    /// The state words of the packet.
    pub state: &'a [i16],
}

#[derive(Debug)]
enum Scheme {
    Tree(tree::TreeGuide),
    Dragonfly(dragonfly::DragonflyGuide),
    Hyperx(hyperx::HyperxGuide),
    Cube(cube::CubeGuide),
    Shortest(paths::Shortest),
    UpDown(paths::UpDown),
}

/// The routing function of a network of switches, for one routing.
#[derive(Debug)]
pub struct Guide {
    fabric: Arc<Fabric>,
    /// All channels, as a mask.
    all: u32,
    scheme: Scheme,
}

impl Guide {
    /// The routing function of a network for the routing and the number of channels that are set. Callers that report
    /// an error add the list of routings ([`RouterParams::check`]).
    ///
    /// # Errors
    /// A routing that does not suit this network, or too few channels for it.
    pub fn new(params: &RouterParams, network: &Switched) -> Result<Self, SpecError> {
        let fabric = Arc::clone(network.fabric());
        let vcs = params.vcs;
        let knows_the_plan_only = !matches!(params.routing, Routing::GraphShortest | Routing::GraphUpDown);
        if fabric.faults() > 0 && knows_the_plan_only {
            let what = phrase![["routing" => params.routing.name()], " cannot avoid dead links"];
            return Err(SpecError::new(ErrorKind::Conflict, what, ""));
        }
        let scheme = match (params.routing, network.plan()) {
            (Routing::TreeAdaptive | Routing::TreeStatic, Plan::Tree(plan)) => {
                Scheme::Tree(tree::TreeGuide::new(plan, &fabric, params.routing == Routing::TreeAdaptive))
            }
            (Routing::DragonflyMinimal | Routing::DragonflyValiant | Routing::DragonflyUgal, Plan::Dragonfly(plan)) => {
                Scheme::Dragonfly(dragonfly::DragonflyGuide::new(plan, &fabric, params.routing, vcs))
            }
            (Routing::HyperxDor | Routing::HyperxAdaptive, Plan::Hyperx(plan)) => {
                Scheme::Hyperx(hyperx::HyperxGuide::new(plan, &fabric, params.routing == Routing::HyperxAdaptive))
            }
            (Routing::CubeOblivious | Routing::CubeAdaptive, Plan::Cube(plan)) => {
                Scheme::Cube(cube::CubeGuide::new(plan, &fabric, params.routing == Routing::CubeAdaptive))
            }
            (Routing::GraphShortest, _) => {
                let shortest = paths::Shortest::new(&fabric, vcs, params.alternatives)?;
                if vcs < shortest.classes() {
                    let needed = shortest.classes();
                    return Err(SpecError::new(
                        ErrorKind::Malformed,
                        phrase![
                            ["routing" => "graph:shortest"],
                            " needs a virtual channel for each hop between switches, {needed} in this network, ",
                            ["vcs"],
                            " is {vcs}"
                        ],
                        phrase!["use ", ["vcs" => needed], " or more"],
                    ));
                }
                Scheme::Shortest(shortest)
            }
            (Routing::GraphUpDown, _) => Scheme::UpDown(paths::UpDown::new(&fabric)?),
            (routing, _) => {
                let what = phrase![["routing" => routing.name()], " is not for networks such as this one"];
                return Err(SpecError::new(ErrorKind::Conflict, what, ""));
            }
        };
        Ok(Self { fabric, all: ((1u64 << vcs) - 1) as u32, scheme })
    }

    /// How one of the channels is chosen.
    #[inline(always)]
    #[must_use]
    pub const fn choice(&self) -> Choice {
        match &self.scheme {
            Scheme::Tree(tree) => {
                if tree.is_adaptive() {
                    Choice::MostSpace
                } else {
                    Choice::Drawn
                }
            }
            Scheme::Cube(cube) => {
                if cube.is_adaptive() {
                    Choice::MostSpace
                } else {
                    Choice::Drawn
                }
            }
            _ => Choice::Open,
        }
    }

    /// The single candidate of a packet, if that is evident without weighing: one without a bubble.
    #[inline(always)]
    #[must_use]
    pub fn only_way(&self, visit: &Visit<'_>) -> Option<Way> {
        let Visit { node, destination, .. } = *visit;
        let plain = |port| Some(Way { port, vcs: self.all, tier: 0, hops: 1, bubble: false });
        if node.index() < self.fabric.endpoints() {
            return plain(self.fabric.port(node, 0));
        }
        let (home, port) = self.fabric.home(destination);
        if home == node {
            return match &self.scheme {
                Scheme::Tree(tree) => Some(Way { vcs: tree.channels(self.all, visit), ..plain(port)? }),
                _ => plain(port),
            };
        }
        match &self.scheme {
            Scheme::Dragonfly(dragonfly) => dragonfly.only_way(&self.fabric, visit, home),
            _ => None,
        }
    }

    /// Lists every candidate of a packet, those of the same tier together.
    #[inline]
    pub fn ways(&self, visit: &Visit<'_>, mut see: impl FnMut(Way)) {
        match self.only_way(visit) {
            Some(way) => see(way),
            None => self.choices(visit, see),
        }
    }

    /// The same where there is no [only way](Self::only_way), which is not computed again.
    #[inline]
    pub fn choices(&self, visit: &Visit<'_>, see: impl FnMut(Way)) {
        let (home, _) = self.fabric.home(visit.destination);
        match &self.scheme {
            Scheme::Tree(tree) => tree.ways(self.all, visit, see),
            Scheme::Dragonfly(dragonfly) => dragonfly.ways(&self.fabric, visit, home, see),
            Scheme::Hyperx(hyperx) => hyperx.ways(self.all, visit, home, see),
            Scheme::Cube(cube) => cube.ways(self.all, visit, home, see),
            Scheme::Shortest(shortest) => shortest.ways(visit, home, see),
            Scheme::UpDown(up_down) => up_down.ways(self.all, visit, home, see),
        }
    }

    /// True if this packet weighs its candidates of the first tier.
    #[inline]
    pub fn weighs(&self, visit: &Visit<'_>) -> bool {
        match &self.scheme {
            Scheme::Dragonfly(dragonfly) => dragonfly.weighs(visit),
            Scheme::Hyperx(hyperx) => hyperx.weighs(),
            _ => false,
        }
    }

    /// The state of a packet after it has left through a port.
    #[inline(always)]
    pub fn hop(&self, node: NodeId, destination: NodeId, key: u64, port: Port, state: &mut [i16]) {
        if node.index() < self.fabric.endpoints() {
            return;
        }
        match &self.scheme {
            Scheme::Tree(_) | Scheme::Cube(_) => {}
            Scheme::Dragonfly(dragonfly) => dragonfly.hop(&self.fabric, node, destination, key, port, state),
            _ => self.hop_elsewhere(node, destination, port, state),
        }
    }

    /// The same in networks other than trees, cubes and dragonflies.
    #[inline(never)]
    fn hop_elsewhere(&self, node: NodeId, destination: NodeId, port: Port, state: &mut [i16]) {
        let next = || self.fabric.neighbour(node, port).filter(|next| next.index() >= self.fabric.endpoints());
        match &self.scheme {
            Scheme::Tree(_) | Scheme::Cube(_) | Scheme::Dragonfly(_) => {}
            Scheme::Hyperx(hyperx) => {
                if let Some(next) = next() {
                    hyperx.hop(node, next, self.fabric.home(destination).0, state);
                }
            }
            Scheme::Shortest(_) => state[0] += i16::from(next().is_some()),
            Scheme::UpDown(up_down) => {
                if let Some(next) = next() {
                    up_down.hop(node, next, state);
                }
            }
        }
    }
}

/// The channels of each of `classes` classes, as masks.
fn classes(classes: usize, vcs: usize) -> Vec<u32> {
    (0..classes).map(|class| (0..vcs).filter(|vc| vc % classes == class).fold(0, |mask, vc| mask | 1 << vc)).collect()
}
