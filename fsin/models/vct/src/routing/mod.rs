//! Routings: the virtual channels that a packet may request, and how deadlock is avoided.
//!
//! Routings of the [table of all models](fsin_core::route) are [taken](Taken) from there: nothing is to be added here.
//! This model has names and rules of its own for some. A routing of direct networks that sees hops to go, bubbles and
//! free space is a file with a [`Row`] and the rules, a `DirectRouting`; a routing of networks of switches with another
//! name or another choice of channels is a row in `switched/rows.rs`. The [table](Routing) lists them; lists,
//! explanations, checks, errors and both engines follow from it. No trait and no row has a default, and no match over
//! routings has a catch-all arm: a missing answer does not compile.
//!
//! The default routing of a topology is the first in the table that serves it, and else the first that is taken.

mod direct;
mod names;
mod row;
pub mod switched;
mod taken;

pub(crate) use direct::dally::Ring;
pub(crate) use direct::smart::{lots, lots_key};
pub use fsin_core::route::{Order, Serves};
pub use names::listed;
pub use row::{Adaptive, Avoidance, Choice, Requests, Row, Vcs, Wake};
pub use taken::Taken;

use crate::router::layout::Layout;
use crate::router::request::{Head, OutputState, OutputVc, RouteRules, Wait, WakeCondition};
use direct::DirectRouting;
use direct::given::Given;
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
            /// One of the table of all models that has no row here.
            Taken(Taken),
        }

        impl Routing {
            /// The routings with a row here, in the order of the table.
            const OWN: &[Self] = &[$(Self::$direct,)+ $(Self::$switched,)+];

            /// The properties that the routing states of itself.
            #[must_use]
            pub fn row(self) -> &'static Row {
                match self {
                    $(Self::$direct => &$direct_row,)+
                    $(Self::$switched => &$switched_row,)+
                    Self::Taken(taken) => taken.row(),
                }
            }
        }

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
                    Routing::Taken(_) => Given::request(self, head, bet, outputs),
                    $(Routing::$switched)|+ => None,
                }
            }

            /// Calls [`DirectRouting::wait`] of this routing.
            pub(crate) fn direct_wait(&self, head: &Head<'_>, outputs: &impl OutputState) -> Wait {
                match self.routing {
                    $(Routing::$direct => <$rules>::wait(self, head, outputs),)+
                    Routing::Taken(_) => Given::wait(self, head, outputs),
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
                    Routing::Taken(_) => Given::wake_conditions(self, head, wait, add_condition),
                    $(Routing::$switched)|+ => {}
                }
            }

            /// Calls [`DirectRouting::blocking_channel`] of this routing.
            pub(crate) fn direct_blocking_channel(&self, head: &Head<'_>) -> Option<OutputVc> {
                match self.routing {
                    $(Routing::$direct => <$rules>::blocking_channel(self, head),)+
                    Routing::Taken(_) => Given::blocking_channel(self, head),
                    $(Routing::$switched)|+ => None,
                }
            }
        }
    };
}

// One line for each routing that has a name or rules of its own in this model.
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
        DirectUpDown(Given) = direct::given::UPDOWN,
        DirectShortest(Given) = direct::given::SHORTEST,
        DirectRoutes(Given) = direct::given::ROW,
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
