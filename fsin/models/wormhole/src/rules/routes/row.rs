//! What a routing declares, and the questions that its function must answer.

use fsin_core::topology::Topology;
use fsin_core::topology::switched::{Dragonfly, Hyperx, Tree};
use trgen::catalog::{Component, SpecError};

use super::{Candidate, Draw, Head, Ring};
use crate::params::{Params, Routing};

/// A routing: a row of the [table](super::ROUTINGS).
#[derive(Debug)]
pub struct Row {
    /// Name, definition, source.
    pub component: Component,
    /// The routing that the name means. Several rows may have the same name, for different networks.
    pub routing: Routing,
    /// The networks that it is for.
    pub networks: Networks,
    /// \[channels\] The virtual channels of each message class that it needs.
    pub vcs: Vcs,
    /// When a blocked head must be considered again.
    pub wake: Wake,
    /// What is decided at the first router.
    pub choice: Choice,
}

/// Kinds of networks.
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
    /// True if a topology is of this kind.
    #[must_use]
    pub fn include(self, topology: &dyn Topology) -> bool {
        match (self, topology.switched()) {
            (Self::Grids, None) => topology.is_grid(),
            (Self::Trees, Some(network)) => network.plan::<Tree>().is_some(),
            (Self::Dragonflies, Some(network)) => network.plan::<Dragonfly>().is_some(),
            (Self::Hyperx, Some(network)) => network.plan::<Hyperx>().is_some(),
            (Self::Switches, Some(_)) => true,
            (Self::Grids, Some(_)) | (Self::Trees | Self::Dragonflies | Self::Hyperx | Self::Switches, None) => false,
        }
    }

    /// True if the routings of these networks compute routes from the construction plan of a topology, so that they
    /// cannot avoid dead links.
    pub(super) const fn requires_intact_topology(self) -> bool {
        match self {
            Self::Grids | Self::Trees | Self::Dragonflies | Self::Hyperx => true,
            Self::Switches => false,
        }
    }
}

/// Virtual channels of each message class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Vcs {
    /// \[channels\] The least number.
    pub least: usize,
    /// \[channels\] The least number in a grid with a dimension that is a ring of three nodes or more.
    pub of_rings: usize,
    /// Purpose of the channels, for error messages; empty if one is enough.
    pub why: &'static str,
}

impl Vcs {
    /// VCs with the same least number in every network.
    pub(super) const fn of(least: usize, why: &'static str) -> Self {
        Self { least, of_rings: least, why }
    }
}

/// The wake-up condition of a blocked head.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wake {
    /// The head has one candidate. It wakes when a virtual channel of that port is released.
    Release,
    /// The head's request depends on credits. It wakes in every step in which its router does anything.
    Credits,
}

/// What is decided at the first router.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Choice {
    /// Nothing.
    Never,
    /// The kind of route: the only one there is, or the one with fewer flits before the packet.
    AtFirstRouter,
}

/// Where a head is on its route: numbers of routers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Visit {
    /// The router of the packet's source.
    pub(super) first: usize,
    /// The router at which the head is.
    pub(super) here: usize,
    /// The router of the packet's destination.
    pub(super) home: usize,
}

/// The routing function of one kind of network. No method has a default.
pub(super) trait Function: Sized {
    /// The function for a topology that the row serves. The number of virtual channels has been checked, unless the
    /// user permits unsafe routing.
    ///
    /// # Errors
    /// A topology for which there is no such function.
    fn new(row: &'static Row, params: &Params, topology: &dyn Topology) -> Result<Self, SpecError>;

    /// Adds to `into` every port and virtual channel that a head may request at a router other than that of its
    /// destination, in any order: one candidate or more.
    fn candidates(&self, at: Visit, head: &Head, draw: &mut impl Draw, into: &mut Vec<Candidate>);

    /// Every phase in which a packet may leave its first router.
    fn decisions(&self, at: Visit, head: &Head, draw: &mut impl Draw) -> Vec<u8>;

    /// The phase in which a packet leaves its first router. `occupancy` gives the number of flits ahead of a packet
    /// that takes a candidate.
    fn decide(&self, at: Visit, head: &Head, draw: &mut impl Draw, occupancy: impl Fn(Candidate) -> u32) -> u8;

    /// The phase of a packet after its hop from `router` to `next`.
    fn hop(&self, router: usize, next: usize, phase: u8, draw: &mut impl Draw) -> u8;

    /// The rings and lines of which a grid consists; `None` for other networks. The grid is free of deadlock if each of
    /// them is.
    fn rings(&self) -> Option<Vec<Ring>>;
}
