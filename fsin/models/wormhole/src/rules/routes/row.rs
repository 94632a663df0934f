//! What a routing states of itself, and what it must answer.

use fsin_core::topology::Topology;
use fsin_core::topology::switched::{Dragonfly, Hyperx, Tree};
use trgen::catalog::{Component, SpecError};

use super::{Candidate, Draw, Head, Ring};
use crate::params::{Params, Routing};

/// A routing: a row of the [table](super::ROUTINGS).
#[derive(Debug)]
pub struct Row {
    /// Its word, what it is, and its source.
    pub component: Component,
    /// What the word means. A word may stand in several rows, for different networks.
    pub routing: Routing,
    /// The networks that it is for.
    pub networks: Networks,
    /// Virtual channels of each message class that it needs.
    pub vcs: Vcs,
    /// When a blocked head must look again.
    pub wake: Wake,
    /// What is settled at the first router.
    pub choice: Choice,
}

/// Networks that routings are for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Networks {
    /// Tori, meshes and hypercubes.
    Grids,
    /// Trees of every kind.
    Trees,
    /// Dragonflies.
    Dragonflies,
    /// HyperX.
    Hyperx,
    /// Any network of switches.
    Switches,
}

impl Networks {
    /// True if a topology is one of them.
    #[must_use]
    pub fn have(self, topology: &dyn Topology) -> bool {
        match (self, topology.switched()) {
            (Self::Grids, None) => topology.is_grid(),
            (Self::Trees, Some(network)) => network.plan::<Tree>().is_some(),
            (Self::Dragonflies, Some(network)) => network.plan::<Dragonfly>().is_some(),
            (Self::Hyperx, Some(network)) => network.plan::<Hyperx>().is_some(),
            (Self::Switches, Some(_)) => true,
            (Self::Grids, Some(_)) | (Self::Trees | Self::Dragonflies | Self::Hyperx | Self::Switches, None) => false,
        }
    }
}

/// Virtual channels of each message class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Vcs {
    /// At least so many.
    pub least: usize,
    /// At least so many where a dimension is a ring of three nodes or more.
    pub of_rings: usize,
    /// What they are for; empty where one suffices.
    pub why: &'static str,
}

impl Vcs {
    /// As many in every network.
    pub(super) const fn of(least: usize, why: &'static str) -> Self {
        Self { least, of_rings: least, why }
    }
}

/// The wake-up condition of a blocked head.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wake {
    /// It has one candidate; a virtual channel of that port is released.
    Release,
    /// What it requests depends on credits: it looks in every step in which its router does anything.
    Credits,
}

/// What is settled at the first router.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Choice {
    /// Nothing.
    Never,
    /// The kind of route: the only one there is, or the better one by the flits ahead.
    AtFirstRouter,
}

/// Routers, by their numbers: that of the source, that of the head, that of the destination.
#[derive(Clone, Copy, Debug)]
pub(super) struct Visit {
    pub(super) first: usize,
    pub(super) here: usize,
    pub(super) home: usize,
}

/// The routing function of one kind of network. No method has a default.
pub(super) trait Function: Sized {
    /// For a topology that the row serves, with as many virtual channels as it needs, unless the user insists on fewer.
    fn new(row: &'static Row, params: &Params, topology: &dyn Topology) -> Result<Self, SpecError>;

    /// Every port and virtual channel that a head may request at a router that is not that of its destination, in any
    /// order. Never nothing.
    fn candidates(&self, at: Visit, head: &Head, draw: &mut impl Draw, into: &mut Vec<Candidate>);

    /// Every phase in which a packet may leave its first router.
    fn decisions(&self, at: Visit, head: &Head, draw: &mut impl Draw) -> Vec<u8>;

    /// The phase in which a packet leaves its first router, where `ahead` are the flits ahead of a candidate.
    fn decide(&self, at: Visit, head: &Head, draw: &mut impl Draw, ahead: impl Fn(Candidate) -> u32) -> u8;

    /// The phase of a packet that has reached `next` from `router`.
    fn hop(&self, router: usize, next: usize, phase: u8, draw: &mut impl Draw) -> u8;

    /// The rings that a grid consists of, whose freedom from deadlock is that of the grid.
    fn rings(&self) -> Option<Vec<Ring>>;
}
