//! Routing functions: geometry alone.
//!
//! A [`RoutingFunction`] says over which links a packet may leave a router, and the class of channels that it needs
//! there. It knows no credits, no virtual channels and no flow control: a [`ChannelPolicy`] turns classes into virtual
//! channels, and a network model chooses among the hops by what it can see. The [table](ROUTINGS) has a row for each
//! routing, in one vocabulary for all models. [`proof`] searches the channels of a routing for cycles.
//!
//! To add a routing: a file with a row and a function, and here its module and its row in the table. Each model takes
//! the rows whose properties it can carry.
//!
//! Decision: docs/decisions/0170-routing-functions.md, docs/decisions/0300-routings-by-properties.md.

use std::fmt::Debug;

use trgen::catalog::Table;
use trgen::rng::{mix2, pick};

mod balance;
mod booksim;
mod butterfly;
mod carries;
mod channels;
mod dragonfly;
mod express;
mod follow;
pub mod given;
mod grid;
mod hyperx;
pub mod order;
pub mod proof;
mod routers;
mod shortest;
mod table;
mod tree;
mod turn;
mod two_orders;
mod two_phases;
mod updown;

pub use balance::{Balanced, balance};
pub use carries::{Carries, listed, named, serving};
pub use channels::{ChannelPolicy, Masks, RingClasses, mask};
pub use follow::{Followed, follow};
pub use given::{LinkLoads, Paths, RouteTable};
pub use grid::{Grid, Ring, has_rings};
pub use order::Order;
pub use routers::Routers;
pub use shortest::{FAR, Links, ShortestPaths, distances_past, links};
pub use table::{Build, Choice, Function, Name, Row, Serves};
pub use updown::{UpDown, downwards};

/// All routings. One line for each. The first one that serves a network and that a model carries is its default there,
/// so those of a few networks come before those of every network.
pub static ROUTINGS: Table<Row> = Table::new(
    "routing",
    &[
        &grid::DOR,
        &grid::ADAPTIVE,
        &turn::WEST_FIRST,
        &turn::NORTH_LAST,
        &turn::NEGATIVE_FIRST,
        &turn::ODD_EVEN,
        &two_orders::MESH_DRAWN,
        &two_orders::MESH_ADAPTIVE,
        &grid::BOOKSIM_MIN_ADAPT,
        &two_phases::VALIANT,
        &two_phases::ROMM,
        &tree::ADAPTIVE,
        &tree::MINIMAL,
        &tree::STATIC,
        &tree::TWO_CHOICES,
        &dragonfly::MINIMAL,
        &dragonfly::VALIANT,
        &dragonfly::UGAL,
        &hyperx::DOR,
        &hyperx::MINIMAL,
        &hyperx::ADAPTIVE,
        &hyperx::VALIANT,
        &hyperx::UGAL,
        &hyperx::DAL,
        &butterfly::ROW,
        &updown::ROW,
        &shortest::ROW,
        &shortest::OBLIVIOUS,
        // Not the default of a model that has no rules of its own for them.
        &tree::ANCA,
        &booksim::DRAGONFLY_MINIMAL,
        &booksim::DRAGONFLY_UGAL,
        &booksim::HYPERX_UGAL,
        &booksim::HYPERX_UGAL_XY_YX,
        &grid::CUBE_DOR,
        &grid::CUBE_ADAPTIVE,
        &grid::CMESH_WITHOUT_EXPRESS,
        &two_orders::CMESH_DRAWN,
        &two_orders::CMESH_ADAPTIVE,
        &two_orders::CMESH_WITHOUT_EXPRESS,
        &two_orders::HYPERX_DRAWN,
        &two_orders::HYPERX_ADAPTIVE,
        &given::ROW,
    ],
);

/// Rows that a network model takes under a name or with rules of its own.
pub mod rows {
    pub use super::butterfly::ROW as BUTTERFLY;
    pub use super::dragonfly::{
        MINIMAL as DRAGONFLY_MINIMAL, UGAL_APART as DRAGONFLY_UGAL_APART, VALIANT as DRAGONFLY_VALIANT,
    };
    pub use super::given::ROW as ROUTES;
    pub use super::grid::{CUBE_ADAPTIVE, CUBE_DOR};
    pub use super::hyperx::{
        ADAPTIVE as HYPERX_ADAPTIVE, DAL as HYPERX_DAL, DOR as HYPERX_DOR, MINIMAL as HYPERX_MINIMAL,
        UGAL as HYPERX_UGAL, VALIANT as HYPERX_VALIANT,
    };
    pub use super::shortest::ROW as SHORTEST;
    pub use super::tree::{ADAPTIVE as TREE_ADAPTIVE, STATIC as TREE_STATIC};
    pub use super::updown::ROW as UPDOWN;
}

/// State of a packet's route, whose meaning is private to each routing function; 0 at the source.
pub type Phase = u16;

/// When a head may request a hop without a risk of deadlock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tier {
    /// At any time.
    Free,
    /// Only if there is an escape hop too. In a wormhole network, only on a channel whose buffer is empty or has room
    /// for the whole packet: a head must never be behind another packet in a buffer of a channel that is part of a
    /// cycle (Ma, Wang, Enright Jerger, Shen, Gu, Whole packet forwarding, TC 64(6), 2015).
    Adaptive,
    /// If no channel of the other hops is available.
    Escape,
}

/// A hop that a packet may take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hop {
    /// The port of the router that it leaves through.
    pub port: u32,
    /// When the head may request it.
    pub tier: Tier,
    /// The class of channels, from 1 to [`RoutingFunction::classes`]; [`ANY`](Self::ANY) for all channels.
    pub class: u8,
    /// \[hops\] To the router of the destination by this hop; of meaning only with [`Choice::Weighed`].
    pub left: u8,
}

impl Hop {
    /// The class of hops that may take every channel.
    pub const ANY: u8 = 0;

    /// A hop through a port on any channel, at any time.
    #[must_use]
    pub const fn free(port: u32) -> Self {
        Self::of_class(port, Self::ANY)
    }

    /// A hop through a port on the channels of a class, at any time.
    #[must_use]
    pub const fn of_class(port: u32, class: u8) -> Self {
        Self { port, tier: Tier::Free, class, left: 1 }
    }
}

/// A packet at a router. Routers are numbered from 0: the nodes of a direct network, the switches of a network of
/// switches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Visit {
    /// Number of the source endpoint.
    pub source: u32,
    /// Number of the destination endpoint.
    pub destination: u32,
    /// The router of the source.
    pub first: usize,
    /// The router at which the packet is.
    pub here: usize,
    /// The router of the destination.
    pub home: usize,
    /// State of the route.
    pub phase: Phase,
}

/// The source of the random choices of a route. Each choice has a label: the same label yields the same choice on the
/// whole route of a packet.
pub trait Draw {
    /// A number below `bound`, which is 1 or more.
    fn draw(&mut self, label: u32, bound: u32) -> u32;
}

impl Draw for &mut dyn Draw {
    fn draw(&mut self, label: u32, bound: u32) -> u32 {
        (**self).draw(label, bound)
    }
}

/// Label of the draw of the one channel that a packet keeps on its whole route.
pub const LANE: u32 = u32::MAX;

/// Choices derived from the key of a packet.
#[derive(Clone, Copy, Debug)]
pub struct ByKey(pub u64);

impl Draw for ByKey {
    #[inline]
    fn draw(&mut self, label: u32, bound: u32) -> u32 {
        pick(mix2(self.0, label.into()), bound)
    }
}

/// The phases in which a packet may leave its first router: one, or two to choose from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Decisions {
    /// The only phase, or that of the route that is taken where both are equally good.
    pub first: Phase,
    /// The other phase.
    pub second: Option<Phase>,
}

impl Decisions {
    /// No choice.
    #[must_use]
    pub const fn only(first: Phase) -> Self {
        Self { first, second: None }
    }

    /// All phases, the preferred one first.
    pub fn all(self) -> impl Iterator<Item = Phase> {
        std::iter::once(self.first).chain(self.second)
    }
}

/// The routing function of a network.
///
/// ```
/// use fsin_core::route::{Draw, Hop, RoutingFunction, Visit};
///
/// /// Always round a ring in + direction.
/// #[derive(Debug)]
/// struct RoundAndRound;
///
/// impl RoutingFunction for RoundAndRound {
///     fn classes(&self) -> usize { 1 }
///
///     fn hops(&self, _: &Visit, _: &mut impl Draw, mut add: impl FnMut(Hop)) { add(Hop::free(0)) }
/// }
/// ```
pub trait RoutingFunction: Debug + Send + Sync {
    /// Number of classes of channels that keep the routes of this network free of deadlock.
    fn classes(&self) -> usize;

    /// Passes to `add` every hop that a packet may take at a router other than that of its destination, in any order:
    /// one or more.
    fn hops(&self, at: &Visit, draw: &mut impl Draw, add: impl FnMut(Hop));

    /// The ports of all [hops](Self::hops) of a packet as a mask, where these need not be listed one by one: none of
    /// them is drawn, and all of them are [free](Hop::free).
    #[inline(always)]
    fn free_ports(&self, _at: &Visit) -> Option<u64> {
        None
    }

    /// The hop of a packet that has only one, if that is evident.
    #[inline(always)]
    fn only(&self, _at: &Visit, _draw: &mut impl Draw) -> Option<Hop> {
        None
    }

    /// Every phase in which a packet may leave its first router.
    #[inline]
    fn decisions(&self, at: &Visit, _draw: &mut impl Draw) -> Decisions {
        Decisions::only(at.phase)
    }

    /// \[hops\] Length of the route to the router of the destination in the phase of the packet, where phases are
    /// [decided](Self::decisions).
    #[inline]
    fn length(&self, _at: &Visit, _draw: &mut impl Draw) -> u32 {
        1
    }

    /// The phase of a packet after its hop from `at.here` to router `next`.
    #[inline(always)]
    fn hop(&self, at: &Visit, _next: usize, _draw: &mut impl Draw) -> Phase {
        at.phase
    }

    /// True if a packet at the router of its destination is ejected there, false if it passes.
    #[inline(always)]
    fn arrives(&self, _at: &Visit) -> bool {
        true
    }

    /// \[flits\] With [`Choice::ByFlitsAtFirst`]: the first of two [decisions](Self::decisions) is taken if its flits
    /// ahead times its [length](Self::length) are at most so many more than those of the second.
    fn margin(&self) -> u32 {
        0
    }

    /// True if the phase of a packet may change after its first router, by [`hop`](Self::hop).
    #[inline]
    fn has_phases(&self) -> bool {
        true
    }

    /// By class, from 1: its virtual channels, as a mask, where the routes of the function come with their channels;
    /// such routes are trusted in nothing, and the [proof] follows all of them. `None` if a [`ChannelPolicy`] gives
    /// classes their channels.
    #[inline]
    fn channels(&self) -> Option<&[u32]> {
        None
    }

    /// Specifications of smaller networks, each with its number of [directions](crate::topology::Topology::ways), that
    /// stand for this one: it is free of deadlock if all of them are, with the same routing and the same channels.
    /// Empty if every network is. `None` if there is no such argument.
    fn specimens(&self) -> Option<Vec<(String, usize)>> {
        None
    }
}

/// A [`RoutingFunction`] whose type is not known at compile time.
pub trait AnyFunction: Debug + Send + Sync {
    /// [`RoutingFunction::classes`].
    fn any_classes(&self) -> usize;
    /// [`RoutingFunction::only`].
    fn any_only(&self, at: &Visit, draw: &mut dyn Draw) -> Option<Hop>;
    /// [`RoutingFunction::hops`].
    fn any_hops(&self, at: &Visit, draw: &mut dyn Draw, add: &mut dyn FnMut(Hop));
    /// [`RoutingFunction::decisions`].
    fn any_decisions(&self, at: &Visit, draw: &mut dyn Draw) -> Decisions;
    /// [`RoutingFunction::length`].
    fn any_length(&self, at: &Visit, draw: &mut dyn Draw) -> u32;
    /// [`RoutingFunction::hop`].
    fn any_hop(&self, at: &Visit, next: usize, draw: &mut dyn Draw) -> Phase;
    /// [`RoutingFunction::arrives`].
    fn any_arrives(&self, at: &Visit) -> bool;
    /// [`RoutingFunction::margin`].
    fn any_margin(&self) -> u32;
    /// [`RoutingFunction::has_phases`].
    fn any_has_phases(&self) -> bool;
    /// [`RoutingFunction::channels`].
    fn any_channels(&self) -> Option<&[u32]>;
    /// [`RoutingFunction::specimens`].
    fn any_specimens(&self) -> Option<Vec<(String, usize)>>;
}

impl<F: RoutingFunction> AnyFunction for F {
    fn any_classes(&self) -> usize {
        self.classes()
    }

    fn any_only(&self, at: &Visit, mut draw: &mut dyn Draw) -> Option<Hop> {
        self.only(at, &mut draw)
    }

    fn any_hops(&self, at: &Visit, mut draw: &mut dyn Draw, add: &mut dyn FnMut(Hop)) {
        self.hops(at, &mut draw, add);
    }

    fn any_decisions(&self, at: &Visit, mut draw: &mut dyn Draw) -> Decisions {
        self.decisions(at, &mut draw)
    }

    fn any_length(&self, at: &Visit, mut draw: &mut dyn Draw) -> u32 {
        self.length(at, &mut draw)
    }

    fn any_hop(&self, at: &Visit, next: usize, mut draw: &mut dyn Draw) -> Phase {
        self.hop(at, next, &mut draw)
    }

    fn any_arrives(&self, at: &Visit) -> bool {
        self.arrives(at)
    }

    fn any_margin(&self) -> u32 {
        self.margin()
    }

    fn any_has_phases(&self) -> bool {
        self.has_phases()
    }

    fn any_channels(&self) -> Option<&[u32]> {
        self.channels()
    }

    fn any_specimens(&self) -> Option<Vec<(String, usize)>> {
        self.specimens()
    }
}

/// A routing function of any type.
#[derive(Debug)]
pub struct Boxed(pub Box<dyn AnyFunction>);

impl RoutingFunction for Boxed {
    fn classes(&self) -> usize {
        self.0.any_classes()
    }

    fn only(&self, at: &Visit, draw: &mut impl Draw) -> Option<Hop> {
        self.0.any_only(at, draw)
    }

    fn hops(&self, at: &Visit, draw: &mut impl Draw, mut add: impl FnMut(Hop)) {
        self.0.any_hops(at, draw, &mut add);
    }

    fn decisions(&self, at: &Visit, draw: &mut impl Draw) -> Decisions {
        self.0.any_decisions(at, draw)
    }

    fn length(&self, at: &Visit, draw: &mut impl Draw) -> u32 {
        self.0.any_length(at, draw)
    }

    fn hop(&self, at: &Visit, next: usize, draw: &mut impl Draw) -> Phase {
        self.0.any_hop(at, next, draw)
    }

    fn arrives(&self, at: &Visit) -> bool {
        self.0.any_arrives(at)
    }

    fn margin(&self) -> u32 {
        self.0.any_margin()
    }

    fn has_phases(&self) -> bool {
        self.0.any_has_phases()
    }

    fn channels(&self) -> Option<&[u32]> {
        self.0.any_channels()
    }

    fn specimens(&self) -> Option<Vec<(String, usize)>> {
        self.0.any_specimens()
    }
}
