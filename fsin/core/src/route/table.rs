//! The rows of the table of routings, and what follows from them.
//!
//! A row states what a routing is; a model takes the rows whose properties it can [carry](super::Carries).

use std::fmt;
use std::sync::Arc;

use trgen::NodeId;
use trgen::catalog::{Component, Described, ErrorKind, SpecError};
use trgen::phrase;

use super::channels::{ChannelPolicy, RingClasses};
use super::{AnyFunction, Boxed, Carries, Decisions, Draw, Hop, Phase, ROUTINGS, RoutingFunction, Visit, serving};
use super::{RouteTable, butterfly, dragonfly, given, grid, hyperx, shortest, tree, turn, updown};
use crate::topology::switched::{Fabric, Plan, Switched};
use crate::topology::{self, Kind, TOPOLOGIES, Topology};
use crate::words::joined;

/// A routing.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Name, definition, source. Several rows may have the same name, for different networks.
    pub component: Component,
    /// Other names.
    pub aliases: &'static [&'static str],
    /// The networks that it is for.
    pub serves: Serves,
    /// What its channels are used for, where flow control does nothing against deadlock.
    pub policy: ChannelPolicy,
    /// Purpose of the channels, for error messages; empty if one is enough.
    pub why: &'static str,
    /// What is left to the network model.
    pub choice: Choice,
    /// Builds the routing function.
    ///
    /// # Errors
    /// A topology for which there is none.
    pub build: fn(&Build<'_>) -> Result<Function, SpecError>,
}

impl Described for Row {
    fn component(&self) -> &Component {
        &self.component
    }

    fn aliases(&self) -> &'static [&'static str] {
        self.aliases
    }

    // The topology decides which of several routings of a name is meant.
    const SHARES_ALIASES: bool = true;
}

/// What the network model chooses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Choice {
    /// Nothing: there is one hop.
    One,
    /// One of several hops.
    Any,
    /// The phase in which a packet leaves its first router, by queue ahead times hops. After that there is one hop.
    AtFirstRouter,
    /// One of several hops, by queue ahead times hops to go.
    Weighed,
    /// One of several hops, once at each router: the first of those with the fewest flits ahead on all channels.
    ByFlits,
    /// The phase in which a packet leaves its first router, once, by flits ahead on all channels
    /// ([`RoutingFunction::margin`]). After that there is one hop.
    ByFlitsAtFirst,
}

impl Choice {
    /// True if the choice is made once by flits ahead, of which only a model with flits knows.
    #[must_use]
    pub const fn is_by_flits(self) -> bool {
        matches!(self, Self::ByFlits | Self::ByFlitsAtFirst)
    }

    /// True if the phase of a packet is decided at its first router.
    #[must_use]
    pub const fn is_at_first_router(self) -> bool {
        matches!(self, Self::AtFirstRouter | Self::ByFlitsAtFirst)
    }
}

/// The networks that a routing serves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Serves {
    /// Tori, meshes and hypercubes: direct networks whose rings, if any, wrap at a coordinate.
    Grids,
    /// All direct networks.
    Direct,
    /// The topologies of these names.
    Only(&'static [&'static str]),
    /// All networks of switches whose links lead both ways.
    Switches,
    /// Every network whose links lead both ways.
    Every,
}

impl Serves {
    /// True if a topology is among them, by its specification or its name alone; false for an unknown one.
    #[must_use]
    pub fn includes(self, spec: &str) -> bool {
        topology::row(spec).is_some_and(|row| match self {
            Self::Grids => row.kind == Kind::Grid,
            Self::Direct => matches!(row.kind, Kind::Grid | Kind::Direct),
            Self::Only(names) => names.contains(&row.component.name),
            Self::Switches => row.kind == Kind::Switched,
            Self::Every => row.kind != Kind::OneWay,
        })
    }

    /// True if the links of some of them lead both ways.
    #[must_use]
    pub fn lead_back(self) -> bool {
        TOPOLOGIES.rows().iter().any(|row| row.kind != Kind::OneWay && self.includes(row.component.name))
    }

    /// True if routes are computed from the construction plan of a topology, so that they cannot avoid dead links.
    #[must_use]
    pub const fn requires_intact_topology(self) -> bool {
        matches!(self, Self::Grids | Self::Direct | Self::Only(_))
    }
}

impl fmt::Display for Serves {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Grids => f.write_str("torus, mesh and hypercube"),
            Self::Direct => f.write_str("direct networks"),
            Self::Only(names) => f.write_str(&joined(names, "and")),
            Self::Switches => f.write_str("networks of switches"),
            Self::Every => f.write_str("every network"),
        }
    }
}

/// What a routing function is built from.
#[derive(Clone, Copy, Debug)]
pub struct Build<'a> {
    /// The routing.
    pub row: &'a Row,
    /// The network.
    pub topology: &'a dyn Topology,
    /// \[channels\] Number of virtual channels of a link.
    pub vcs: usize,
    /// The channel policy of the model.
    pub policy: ChannelPolicy,
    /// How rings are divided into classes, where that is the policy.
    pub rings: RingClasses,
    /// Maximum number of links of a router over which packets to one destination are spread, where that can be set; 0
    /// for all.
    pub alternatives: usize,
    /// Routes from a table, where a setting names one.
    pub routes: Option<&'a Arc<RouteTable>>,
    /// True if the model drops messages to which no route leads, so that routers may be cut off.
    pub may_be_parted: bool,
}

impl<'a> Build<'a> {
    /// A routing in a network with so many channels.
    #[must_use]
    pub const fn new(row: &'a Row, topology: &'a dyn Topology, vcs: usize, policy: ChannelPolicy) -> Self {
        Self {
            row,
            topology,
            vcs,
            policy,
            rings: RingClasses::Dateline,
            alternatives: 0,
            routes: None,
            may_be_parted: false,
        }
    }

    /// True if the channels leave one that is adaptive, beside so many classes of escape channels.
    #[must_use]
    pub const fn adapts(&self, classes: usize) -> bool {
        self.policy.adapts(classes, self.vcs)
    }

    /// By router: true if it has an endpoint.
    #[must_use]
    pub fn homes(&self) -> Vec<bool> {
        let Some(network) = self.topology.switched() else { return vec![true; self.topology.nodes()] };
        let fabric = network.fabric();
        let mut homes = vec![false; fabric.nodes() - fabric.endpoints()];
        for endpoint in (0..fabric.endpoints()).map(NodeId::at) {
            homes[fabric.home(endpoint).0.index() - fabric.endpoints()] = true;
        }
        homes
    }

    /// The routing function.
    ///
    /// # Errors
    /// A topology for which there is none; dead links that the routing cannot avoid.
    pub fn function(&self) -> Result<Function, SpecError> {
        let name = self.row.component.name;
        if let Some(network) = self.topology.switched().filter(|_| name != shortest::ROW.component.name) {
            network.check_rails(&phrase![["routing" => name]])?;
        }
        (self.row.build)(self)
    }
}

/// The switches of a topology.
pub(super) fn fabric(topology: &dyn Topology) -> Result<&Fabric, SpecError> {
    let unfit = || SpecError::new(ErrorKind::Conflict, format!("{} has no switches", topology.spec()), "");
    topology.switched().map(|network| &**network.fabric()).ok_or_else(unfit)
}

/// The construction plan of a topology.
pub(super) fn planned<P: Plan>(topology: &dyn Topology) -> Result<&P, SpecError> {
    let unfit = || SpecError::new(ErrorKind::Conflict, format!("{} has another plan", topology.spec()), "");
    topology.switched().and_then(Switched::plan).ok_or_else(unfit)
}

/// Defines [`Function`], with static dispatch to the functions of the table.
macro_rules! functions {
    ($($(#[$doc:meta])* $variant:ident($type:ty),)+) => {
        /// The routing function of a network.
        #[derive(Debug)]
        pub enum Function {
            $($(#[$doc])* $variant($type),)+
        }

        impl RoutingFunction for Function {
            fn classes(&self) -> usize {
                match self { $(Self::$variant(function) => function.classes(),)+ }
            }

            #[inline]
            fn hops(&self, at: &Visit, draw: &mut impl Draw, add: impl FnMut(Hop)) {
                match self { $(Self::$variant(function) => function.hops(at, draw, add),)+ }
            }

            #[inline(always)]
            fn free_ports(&self, at: &Visit) -> Option<u64> {
                match self { $(Self::$variant(function) => function.free_ports(at),)+ }
            }

            #[inline(always)]
            fn only(&self, at: &Visit, draw: &mut impl Draw) -> Option<Hop> {
                match self { $(Self::$variant(function) => function.only(at, draw),)+ }
            }

            #[inline]
            fn decisions(&self, at: &Visit, draw: &mut impl Draw) -> Decisions {
                match self { $(Self::$variant(function) => function.decisions(at, draw),)+ }
            }

            #[inline]
            fn length(&self, at: &Visit, draw: &mut impl Draw) -> u32 {
                match self { $(Self::$variant(function) => function.length(at, draw),)+ }
            }

            #[inline(always)]
            fn hop(&self, at: &Visit, next: usize, draw: &mut impl Draw) -> Phase {
                match self { $(Self::$variant(function) => function.hop(at, next, draw),)+ }
            }

            #[inline(always)]
            fn arrives(&self, at: &Visit) -> bool {
                match self { $(Self::$variant(function) => function.arrives(at),)+ }
            }

            fn margin(&self) -> u32 {
                match self { $(Self::$variant(function) => function.margin(),)+ }
            }

            #[inline]
            fn has_phases(&self) -> bool {
                match self { $(Self::$variant(function) => function.has_phases(),)+ }
            }

            #[inline]
            fn channels(&self) -> Option<&[u32]> {
                match self { $(Self::$variant(function) => function.channels(),)+ }
            }

            fn specimens(&self) -> Option<Vec<(String, usize)>> {
                match self { $(Self::$variant(function) => function.specimens(),)+ }
            }
        }
    };
}

functions! {
    /// Of grids.
    Grid(grid::Grid),
    /// Of meshes, by turns.
    Turn(turn::Turn),
    /// Of trees.
    Tree(tree::Tree),
    /// Of dragonflies.
    Dragonfly(dragonfly::Dragonfly),
    /// Of HyperX.
    Hyperx(hyperx::Hyperx),
    /// Of butterflies.
    Butterfly(butterfly::Butterfly),
    /// Up*/down*.
    UpDown(updown::UpDown),
    /// Shortest paths.
    Shortest(shortest::Shortest),
    /// Shortest paths, drawn.
    Oblivious(shortest::Oblivious),
    /// From a table.
    Given(given::Given),
    /// Of any type.
    Boxed(Boxed),
}

impl Function {
    /// A routing function of any type, with dynamic dispatch. One that is worth static dispatch has a variant.
    pub fn boxed(function: impl AnyFunction + 'static) -> Self {
        Self::Boxed(Boxed(Box::new(function)))
    }
}

/// The name of a routing, which is the same in all models.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Name(&'static str);

impl Name {
    /// Dimension order.
    pub const DOR: Self = Self("dor");
    /// Any minimal hop, with an escape; in trees any link up.
    pub const ADAPTIVE: Self = Self("adaptive");
    /// Shortest paths by the construction plan.
    pub const MINIMAL: Self = Self("minimal");
    /// Through a group or switch that is drawn.
    pub const VALIANT: Self = Self("valiant");
    /// Dimension order in which packets on channel 0 stay on channel 0.
    pub const BOOKSIM_MIN_ADAPT: Self = Self("booksim-min-adapt");
    /// Through a random node on a shortest path.
    pub const ROMM: Self = Self("romm");
    /// Minimal or Valiant.
    pub const UGAL: Self = Self("ugal");
    /// Minimal in a dragonfly, on channel 0 and then 1.
    pub const BOOKSIM_MIN: Self = Self("booksim-min");
    /// Minimal or through a node that is drawn, by flits ahead, once.
    pub const BOOKSIM_UGAL: Self = Self("booksim-ugal");
    /// The same in two orders of dimensions.
    pub const BOOKSIM_UGAL_XY_YX: Self = Self("booksim-ugal-xy-yx");
    /// In trees, up by the better of two links, once at each switch.
    pub const ANCA: Self = Self("anca");
    /// Up*/down*.
    pub const UPDOWN: Self = Self("updown");
    /// Shortest paths by tables.
    pub const SHORTEST: Self = Self("shortest");
    /// A shortest path that each packet draws.
    pub const OBLIVIOUS: Self = Self("oblivious");
    /// From a table.
    pub const ROUTES: Self = Self("routes");
    /// By digits of source and destination.
    pub const STATIC: Self = Self("static");
    /// Minimal or once in each dimension round.
    pub const DAL: Self = Self("dal");
    /// By the digits of the destination.
    pub const DESTINATION_TAG: Self = Self("destination-tag");

    /// The routing that a word means, which is a name or another name of it.
    ///
    /// # Errors
    /// An unknown word.
    pub fn parse(word: &str) -> Result<Self, SpecError> {
        let rows = || ROUTINGS.rows().iter().copied();
        let named = rows().find(|row| row.component.name == word);
        let found = named.or_else(|| rows().find(|row| row.aliases.contains(&word)));
        found.map(|row| Self(row.component.name)).ok_or_else(|| SpecError::unknown("routing", word, &words()))
    }

    /// The word that a user writes.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.0
    }

    /// The name under which a model has the routing that is meant in a network of this specification: a name of a
    /// routing may be another name of one that serves it, as `adaptive` on a graph is of `shortest`.
    #[must_use]
    pub fn served(self, routings: &[Carries], spec: &str) -> Self {
        let is_own = serving(routings, spec).any(|carries| carries.row.component.name == self.0);
        let mut others = serving(routings, spec).filter(|_| !is_own);
        let other = others.find(|carries| carries.row.aliases.contains(&self.0));
        other.map_or(self, |carries| Self(carries.row.component.name))
    }

    /// The row of this name, or with this other name, that serves a topology, by its specification.
    #[must_use]
    pub fn row(self, spec: &str) -> Option<&'static Row> {
        let serving = || ROUTINGS.rows().iter().copied().filter(|row| row.serves.includes(spec));
        let named = serving().find(|row| row.component.name == self.0);
        named.or_else(|| serving().find(|row| row.aliases.contains(&self.0)))
    }
}

impl std::str::FromStr for Name {
    type Err = SpecError;

    fn from_str(word: &str) -> Result<Self, SpecError> {
        Self::parse(word)
    }
}

/// Every name and other name, each once.
fn words() -> Vec<&'static str> {
    let mut words: Vec<&str> = Vec::new();
    let rows = || ROUTINGS.rows().iter();
    let names = rows().map(|row| row.component.name);
    for word in names.chain(rows().flat_map(|row| row.aliases.iter().copied())) {
        if !words.contains(&word) {
            words.push(word);
        }
    }
    words
}
