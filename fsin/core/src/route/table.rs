//! The table of routings: one row for each, in one vocabulary for all network models.
//!
//! A row states what a routing is; a model states which rows it [carries](Carried), and with which channel policy.

use std::fmt;
use std::sync::Arc;

use trgen::NodeId;
use trgen::catalog::{Component, Described, ErrorKind, SpecError, Table};
use trgen::phrase;

use super::channels::{ChannelPolicy, RingClasses};
use super::{AnyFunction, Decisions, Draw, Hop, Phase, Private, RoutingFunction, Visit};
use super::{RouteTable, butterfly, dragonfly, given, grid, hyperx, shortest, tree, turn, updown};
use crate::family::{Carried, topologies_with};
use crate::topology::switched::{Fabric, Plan, Switched};
use crate::topology::{self, Kind, Topology};

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
}

/// Kinds of networks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Serves {
    /// Tori, meshes and hypercubes: direct networks whose rings, if any, wrap at a coordinate.
    Grids,
    /// Meshes.
    Meshes,
    /// All direct networks.
    Direct,
    /// Grids of switches: indirect cubes and concentrated meshes.
    Cubes,
    /// Trees of every kind.
    Trees,
    /// Dragonflies.
    Dragonflies,
    /// HyperX.
    Hyperx,
    /// Butterflies.
    Butterflies,
    /// All networks of switches whose links lead both ways.
    Switches,
    /// Every network whose links lead both ways.
    Every,
}

impl Serves {
    /// True if a topology is of this kind, by its specification or its name alone; false for an unknown one.
    #[must_use]
    pub fn includes(self, spec: &str) -> bool {
        topology::row(spec).is_some_and(|row| match self {
            Self::Grids => row.kind == Kind::Grid,
            Self::Meshes => row.component.name == "mesh",
            Self::Direct => matches!(row.kind, Kind::Grid | Kind::Direct),
            Self::Cubes => ["icube", "cmesh"].contains(&row.component.name),
            Self::Trees => ["fattree", "thintree", "slimtree"].contains(&row.component.name),
            Self::Dragonflies => row.component.name == "dragonfly",
            Self::Hyperx => row.component.name == "hyperx",
            Self::Butterflies => row.component.name == "fly",
            Self::Switches => row.kind == Kind::Switched,
            Self::Every => row.kind != Kind::OneWay,
        })
    }

    /// True if routes are computed from the construction plan of a topology, so that they cannot avoid dead links.
    #[must_use]
    pub const fn requires_intact_topology(self) -> bool {
        match self {
            Self::Grids
            | Self::Meshes
            | Self::Direct
            | Self::Cubes
            | Self::Trees
            | Self::Dragonflies
            | Self::Hyperx
            | Self::Butterflies => true,
            Self::Switches | Self::Every => false,
        }
    }
}

impl fmt::Display for Serves {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Grids => "torus, mesh and hypercube",
            Self::Meshes => "mesh",
            Self::Direct => "direct networks",
            Self::Cubes => "icube and cmesh",
            Self::Trees => "fattree, thintree and slimtree",
            Self::Dragonflies => "dragonfly",
            Self::Hyperx => "hyperx",
            Self::Butterflies => "fly",
            Self::Switches => "networks of switches",
            Self::Every => "every network",
        })
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
    /// From a table.
    Given(given::Given),
    /// Of a program's own.
    Private(Private),
}

impl Function {
    /// A routing function of a program's own.
    pub fn private(function: impl AnyFunction + 'static) -> Self {
        Self::Private(Private(Box::new(function)))
    }
}

/// All routings. One line for each.
pub static ROUTINGS: Table<Row> = Table::new(
    "routing",
    &[
        &grid::DOR,
        &grid::ADAPTIVE,
        &grid::CUBE_ADAPTIVE,
        &grid::CUBE_DOR,
        &turn::WEST_FIRST,
        &turn::NORTH_LAST,
        &turn::NEGATIVE_FIRST,
        &turn::ODD_EVEN,
        &tree::ADAPTIVE,
        &tree::STATIC,
        &tree::MINIMAL,
        &dragonfly::UGAL,
        &dragonfly::MINIMAL,
        &dragonfly::VALIANT,
        &hyperx::DAL,
        &hyperx::DOR,
        &hyperx::ADAPTIVE,
        &hyperx::MINIMAL,
        &hyperx::VALIANT,
        &hyperx::UGAL,
        &butterfly::ROW,
        &updown::ROW,
        &shortest::ROW,
        &given::ROW,
    ],
);

/// The rows that a program has added to those of this library.
pub fn added() -> impl Iterator<Item = &'static Row> {
    ROUTINGS.rows().iter().copied().skip(ROUTINGS.standard().len())
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
    /// Minimal or Valiant.
    pub const UGAL: Self = Self("ugal");
    /// Up*/down*.
    pub const UPDOWN: Self = Self("updown");
    /// Shortest paths by tables.
    pub const SHORTEST: Self = Self("shortest");
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

    /// The row of this name that serves a topology, by its specification.
    #[must_use]
    pub fn row(self, spec: &str) -> Option<&'static Row> {
        ROUTINGS.rows().iter().copied().find(|row| row.component.name == self.0 && row.serves.includes(spec))
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

/// A routing as a network model carries it.
#[derive(Clone, Copy, Debug)]
pub struct Carries {
    /// The routing.
    pub row: &'static Row,
    /// What its channels are used for in this model.
    pub policy: ChannelPolicy,
}

impl Carries {
    /// A routing with its own channel policy.
    #[must_use]
    pub const fn new(row: &'static Row) -> Self {
        Self { row, policy: row.policy }
    }

    /// A routing whose flow control leaves bubbles.
    #[must_use]
    pub const fn with_bubble(row: &'static Row) -> Self {
        Self { row, policy: row.policy.with_bubble() }
    }

    /// \[channels\] The least number of channels in a network with this function.
    #[must_use]
    pub fn least(&self, function: &Function) -> usize {
        self.policy.least(function.classes())
    }

    /// What is listed of the routing. `is_default` is true of the topologies in which it is the default.
    #[must_use]
    pub fn listed(&self, is_default: impl Fn(&str) -> bool) -> Carried {
        let (mut fewest, mut most) = (usize::MAX, 0);
        let is_given = self.policy == ChannelPolicy::Given || std::ptr::eq(self.row, &given::ROW);
        let topologies = topologies_with(|row, example| {
            let (Some(topology), true) = (example, !is_given && self.row.serves.includes(row.component.name)) else {
                return self.row.serves.includes(row.component.name);
            };
            // Of channels that are enough for the adaptive ones.
            let build = Build::new(self.row, topology, 32, self.policy);
            let Ok(least) = build.function().map(|function| self.least(&function)) else { return false };
            // One channel of several is kept: any number will do.
            let least = if least == 32 { 1 } else { least };
            (fewest, most) = (fewest.min(least), most.max(least));
            true
        });
        let count = match fewest == most {
            _ if is_given => "as many as they name".to_owned(),
            true => format!("{fewest} or more"),
            false => format!("{fewest} or more, {most} in some networks"),
        };
        let why = if self.row.why.is_empty() { String::new() } else { format!(": {}", self.row.why) };
        Carried {
            component: &self.row.component,
            aliases: self.row.aliases.to_vec(),
            default_of: topologies.iter().copied().filter(|name| is_default(name)).collect(),
            topologies,
            channels: format!("{}; {count}{why}", self.policy),
        }
    }
}

/// Those of a model's routings that serve a topology, by its specification or its name alone; the first one is the
/// default.
pub fn serving<'a>(routings: &'a [Carries], spec: &'a str) -> impl Iterator<Item = &'a Carries> {
    routings.iter().filter(move |carries| carries.row.serves.includes(spec))
}

/// What is listed of a model's routings.
#[must_use]
pub fn listed(routings: &[Carries]) -> Vec<Carried> {
    let default = |carries: &Carries, name: &str| {
        serving(routings, name).next().is_some_and(|first| std::ptr::eq(first.row, carries.row))
    };
    routings.iter().map(|carries| carries.listed(|name| default(carries, name))).collect()
}
