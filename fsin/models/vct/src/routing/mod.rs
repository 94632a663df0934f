//! Routings: the virtual channels that a packet may request, and how deadlock is avoided.
//!
//! A routing of direct networks is a file with a [`Row`] and the rules, a `DirectRouting`. A routing of networks of
//! switches is a row for one of the [table of all models](fsin_core::route), whose routing function has the rules. The
//! [table](Routing) lists all; lists, explanations, checks, errors and both engines follow from it. No trait and no row
//! has a default, and no match over routings has a catch-all arm: a missing answer does not compile.
//!
//! # To add a topology with a routing of its own
//! 1. `fsin-core/src/topology/switched/NAME.rs`: a row, a builder, the construction plan; one line in
//!    `topology::TOPOLOGIES`.
//! 2. `fsin-core/src/route/NAME.rs`: a row and a routing function; one line in `route::ROUTINGS`.
//! 3. Here: a row in `routing/switched/rows.rs`, and a line in the table below.
//!
//! The default routing of a topology is the first in the table that serves it.

use trgen::catalog::Component;

mod direct;
mod names;
mod row;
pub mod switched;

pub(crate) use direct::dally::Ring;
pub(crate) use direct::smart::{lots, lots_key};
pub use fsin_core::route::Order;
pub use names::listed;
pub use row::{Adaptive, Avoidance, Choice, Requests, Row, Serves, Vcs, Wake};

use crate::router::layout::Layout;
use crate::router::request::{Head, OutputState, OutputVc, RouteRules, Wait, WakeCondition};
use direct::DirectRouting;
use fsin_core::topology::Port;

/// Defines [`Routing`], the table of rows, and the static dispatch to the rules.
macro_rules! table {
    (
        direct { $($direct:ident($rules:ty) = $direct_row:path,)+ }
        switched { $($switched:ident = $switched_row:path,)+ }
    ) => {
        /// A routing, by its row in the table.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Routing {
            $(#[doc = concat!("`", stringify!($direct_row), "`")] $direct,)+
            $(#[doc = concat!("`", stringify!($switched_row), "`")] $switched,)+
        }

        impl Routing {
            /// Every routing, in the order of the table.
            pub const ALL: &[Self] = &[$(Self::$direct,)+ $(Self::$switched,)+];

            /// The properties that the routing states of itself.
            #[must_use]
            pub const fn row(self) -> &'static Row {
                match self {
                    $(Self::$direct => &$direct_row,)+
                    $(Self::$switched => &$switched_row,)+
                }
            }
        }

        /// The description of every routing.
        pub const ROUTINGS: &[Component] = &[$($direct_row.component,)+ $($switched_row.component,)+];

        /// Dispatch to the rules of a direct routing. Heads in networks of switches never get here.
        impl<L: Layout> RouteRules<L> {
            /// Calls [`DirectRouting::request`] of this routing.
            #[inline(always)]
            pub(crate) fn direct_request(
                &self,
                head: &Head<'_>,
                bet: &mut u8,
                outputs: &impl OutputState,
            ) -> Option<OutputVc> {
                match self.routing {
                    $(Routing::$direct => <$rules>::request(self, head, bet, outputs),)+
                    $(Routing::$switched)|+ => None,
                }
            }

            /// Calls [`DirectRouting::wait`] of this routing.
            pub(crate) fn direct_wait(&self, head: &Head<'_>, outputs: &impl OutputState) -> Wait {
                match self.routing {
                    $(Routing::$direct => <$rules>::wait(self, head, outputs),)+
                    $(Routing::$switched)|+ => Wait::Poll,
                }
            }

            /// Calls [`DirectRouting::wake_conditions`] of this routing.
            pub(crate) fn direct_conditions(
                &self,
                head: &Head<'_>,
                wait: Wait,
                add_condition: impl FnMut(Port, WakeCondition),
            ) {
                match self.routing {
                    $(Routing::$direct => <$rules>::wake_conditions(self, head, wait, add_condition),)+
                    $(Routing::$switched)|+ => {}
                }
            }

            /// Calls [`DirectRouting::blocking_channel`] of this routing.
            pub(crate) fn direct_blocking_channel(&self, head: &Head<'_>) -> Option<OutputVc> {
                match self.routing {
                    $(Routing::$direct => <$rules>::blocking_channel(self, head),)+
                    $(Routing::$switched)|+ => None,
                }
            }
        }
    };
}

// One line per routing. The first one that serves a topology is its default.
table! {
    direct {
        BubbleSmart(direct::smart::Smart) = direct::smart::ROW,
        BubbleAdaptive(direct::bubble::Adaptive) = direct::bubble::ADAPTIVE,
        BubbleShortest(direct::bubble::Shortest) = direct::bubble::SHORTEST,
        BubbleRandom(direct::bubble::Random<false>) = direct::bubble::RANDOM,
        BubbleOblivious(direct::oblivious::Oblivious) = direct::oblivious::ROW,
        BubbleBimodal(direct::bubble::Random<true>) = direct::bubble::BIMODAL,
        DoubleAdaptive(direct::double::Double<false, true>) = direct::double::ADAPTIVE,
        DoubleOblivious(direct::double::Double<false, false>) = direct::double::OBLIVIOUS,
        HexaAdaptive(direct::double::Double<true, true>) = direct::double::HEXA_ADAPTIVE,
        HexaOblivious(direct::double::Double<true, false>) = direct::double::HEXA_OBLIVIOUS,
        DallyAdaptive(direct::dally::Adaptive) = direct::dally::ADAPTIVE,
        DallyTrc(direct::dally::DimensionOrder<false, false>) = direct::dally::TRC,
        DallyBasic(direct::dally::DimensionOrder<true, false>) = direct::dally::BASIC,
        DallyImproved(direct::dally::DimensionOrder<true, true>) = direct::dally::IMPROVED,
        DirectUpDown(direct::given::Given) = direct::given::UPDOWN,
        DirectShortest(direct::given::Given) = direct::given::SHORTEST,
        DirectRoutes(direct::given::Given) = direct::given::ROW,
    }
    switched {
        TreeAdaptive = switched::rows::TREE_ADAPTIVE,
        TreeStatic = switched::rows::TREE_STATIC,
        DragonflyUgal = switched::rows::DRAGONFLY_UGAL,
        DragonflyMinimal = switched::rows::DRAGONFLY_MINIMAL,
        DragonflyValiant = switched::rows::DRAGONFLY_VALIANT,
        HyperxAdaptive = switched::rows::HYPERX_DAL,
        HyperxDor = switched::rows::HYPERX_DOR,
        HyperxMinimal = switched::rows::HYPERX_MINIMAL,
        HyperxMinimalAdaptive = switched::rows::HYPERX_MINIMAL_ADAPTIVE,
        HyperxValiant = switched::rows::HYPERX_VALIANT,
        HyperxUgal = switched::rows::HYPERX_UGAL,
        CmeshAdaptive = switched::rows::CMESH_ADAPTIVE,
        CmeshDor = switched::rows::CMESH_DOR,
        FlyDestinationTag = switched::rows::FLY,
        CubeAdaptive = switched::rows::CUBE_ADAPTIVE,
        CubeOblivious = switched::rows::CUBE_OBLIVIOUS,
        GraphUpDown = switched::rows::UPDOWN,
        GraphShortest = switched::rows::SHORTEST,
        GraphRoutes = switched::rows::ROUTES,
    }
}
