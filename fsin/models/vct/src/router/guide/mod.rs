//! How packets find their way through a network of switches.
//!
//! In a direct network a packet carries the hops that it has to go in each dimension. Here it carries its destination
//! and two words of state, and the switch where it stands knows the ways. A **way** is a port, the virtual channels
//! that the packet may take there, and how many hops it would have to go. Of the ways of the first tier that have an
//! open channel one is taken: that with fewest packets ahead, drawn among equals. Ways of later tiers are for packets
//! that find no other: the escape channel.
//!
//! Some routings **weigh**: minimal ways against longer ones, by packets ahead times hops to go. They choose before
//! they ask whether the way is open, so that a packet does not take the long way because a short one is busy for a
//! moment.
//!
//! Trees and cubes are the original's: their heads do not look at ownership ([`Choice`]).
//!
//! What keeps each routing from deadlock stands with it. Where channels are classes that a packet goes through in
//! order, class c of C has the channels c, c + C, c + 2 C, ...

use std::sync::Arc;

use trgen::NodeId;
use trgen::catalog::Refusal;

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

/// How one of the channels that the ways show is chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Choice {
    /// Among those that no packet owns.
    Open,
    /// That with most free space ahead among those that pass, owned or not; of equals one drawn.
    MostSpace,
    /// One is drawn before it is looked at.
    Drawn,
}

/// A port that a packet may leave through.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Way {
    /// The port.
    pub port: Port,
    /// The virtual channels, as a mask.
    pub vcs: u32,
    /// Ways of a tier are considered if none of those before passes.
    pub tier: u8,
    /// \[hops\] To the last switch, this way.
    pub hops: u8,
    /// True if who enters this ring must leave a bubble there.
    pub bubble: bool,
}

/// A packet at a switch, as guides see it.
#[derive(Clone, Copy, Debug)]
pub struct Visit<'a> {
    /// Where it is.
    pub node: NodeId,
    /// In which queue.
    pub input: Input,
    /// Where it came from.
    pub source: NodeId,
    /// Where it goes to.
    pub destination: NodeId,
    /// Names (run seed, packet) in draws.
    pub key: u64,
    /// What it carries.
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

/// The ways of a network of switches, for a routing.
#[derive(Debug)]
pub struct Guide {
    fabric: Arc<Fabric>,
    /// All channels, as a mask.
    all: u32,
    scheme: Scheme,
}

impl Guide {
    /// The guide of a network for the routing and the number of channels that are set. Who reports a refusal adds which
    /// routings there are ([`RouterParams::check`]).
    ///
    /// # Errors
    /// A routing that is not for this network, or too few channels for it.
    pub fn new(params: &RouterParams, network: &Switched) -> Result<Self, Refusal> {
        let fabric = Arc::clone(network.fabric());
        let vcs = params.vcs;
        let knows_the_plan_only = !matches!(params.routing, Routing::GraphShortest | Routing::GraphUpDown);
        if fabric.faults() > 0 && knows_the_plan_only {
            let what = format!("--routing {} cannot avoid dead links", params.routing.name());
            return Err(Refusal::value(what, ""));
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
                    return Err(Refusal::value(
                        format!(
                            "--routing graph:shortest needs a virtual channel for each hop between switches, {needed} in \
                             this network, --vcs is {vcs}"
                        ),
                        format!("use --vcs {needed} or more"),
                    ));
                }
                Scheme::Shortest(shortest)
            }
            (Routing::GraphUpDown, _) => Scheme::UpDown(paths::UpDown::new(&fabric)?),
            (routing, _) => {
                let what = format!("--routing {} is not for networks such as this one", routing.name());
                return Err(Refusal::value(what, ""));
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

    /// The way of a packet if it can be seen at once that there is no other, and nothing to weigh: one without a
    /// bubble.
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

    /// Shows every way of a packet, those of the same tier together.
    #[inline]
    pub fn ways(&self, visit: &Visit<'_>, mut see: impl FnMut(Way)) {
        match self.only_way(visit) {
            Some(way) => see(way),
            None => self.choices(visit, see),
        }
    }

    /// The same where there is no [only way](Self::only_way), which need not be looked for again.
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

    /// True if this packet weighs its ways of the first tier.
    #[inline]
    pub fn weighs(&self, visit: &Visit<'_>) -> bool {
        match &self.scheme {
            Scheme::Dragonfly(dragonfly) => dragonfly.weighs(visit),
            Scheme::Hyperx(hyperx) => hyperx.weighs(),
            _ => false,
        }
    }

    /// What a packet carries after it has left through a port.
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

    /// The same in other networks than trees, cubes and dragonflies.
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
