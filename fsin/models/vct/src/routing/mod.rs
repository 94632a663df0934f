//! Routings: the virtual channels that a packet may request, and how deadlock is avoided.
//!
//! Each routing is one file. Its [`Row`] states name, source, topologies, channels and wake-up condition; its rules are
//! a `DirectRouting` or a `SwitchRouting`. The [table](Routing) lists all; lists, explanations, checks, errors and
//! both engines follow from it. No trait and no row has a default, and no match over routings has a catch-all arm: a
//! missing answer does not compile.
//!
//! # To add a topology with a routing of its own
//! 1. `fsin-core/src/topology/switched/NAME.rs`: a row, a builder, the construction plan; one line in
//!    `topology::TOPOLOGIES`.
//! 2. `routing/switched/NAME.rs`: a row and a `SwitchRouting`; one line in the table below. Or, for all models, a file in
//!    `fsin-core/src/route` and a line in its table, and here a row in `routing/switched/shared.rs` and a line below.
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

use crate::router::RouterParams;
use crate::router::layout::Layout;
use crate::router::request::{Head, OutputState, OutputVc, RouteRules, Wait, WakeCondition};
use direct::DirectRouting;
use fsin_core::topology::switched::{Fabric, Switched};
use fsin_core::topology::{Port, Topology as _};
use switched::{Candidate, Departure, SwitchRouting, Visit};
use trgen::NodeId;
use trgen::catalog::SpecError;

/// Defines [`Routing`], the table of rows, and the static dispatch to the rules.
macro_rules! table {
    (
        direct { $($direct:ident($rules:ty) = $direct_row:path,)+ }
        switched { $($function:ident($type:ty) { $($switched:ident = $switched_row:path),+ })+ }
    ) => {
        /// A routing, by its row in the table.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Routing {
            $(#[doc = concat!("`", stringify!($direct_row), "`")] $direct,)+
            $($(#[doc = concat!("`", stringify!($switched_row), "`")] $switched,)+)+
        }

        impl Routing {
            /// Every routing, in the order of the table.
            pub const ALL: &[Self] = &[$(Self::$direct,)+ $($(Self::$switched,)+)+];

            /// The properties that the routing states of itself.
            #[must_use]
            pub const fn row(self) -> &'static Row {
                match self {
                    $(Self::$direct => &$direct_row,)+
                    $($(Self::$switched => &$switched_row,)+)+
                }
            }
        }

        /// The description of every routing.
        pub const ROUTINGS: &[Component] = &[$($direct_row.component,)+ $($($switched_row.component,)+)+];

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
                    $($(Routing::$switched)|+)|+ => None,
                }
            }

            /// Calls [`DirectRouting::wait`] of this routing.
            pub(crate) fn direct_wait(&self, head: &Head<'_>, outputs: &impl OutputState) -> Wait {
                match self.routing {
                    $(Routing::$direct => <$rules>::wait(self, head, outputs),)+
                    $($(Routing::$switched)|+)|+ => Wait::Poll,
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
                    $($(Routing::$switched)|+)|+ => {}
                }
            }

            /// Calls [`DirectRouting::blocking_channel`] of this routing.
            pub(crate) fn direct_blocking_channel(&self, head: &Head<'_>) -> Option<OutputVc> {
                match self.routing {
                    $(Routing::$direct => <$rules>::blocking_channel(self, head),)+
                    $($(Routing::$switched)|+)|+ => None,
                }
            }
        }

        /// The routing function of a network of switches. Its methods call the [`SwitchRouting`] methods of the same
        /// names.
        #[derive(Debug)]
        enum Function {
            $($function($type),)+
        }

        impl Function {
            fn new(params: &RouterParams, network: &Switched) -> Result<Self, SpecError> {
                match params.routing {
                    $($(Routing::$switched)|+ => <$type>::new(params, network).map(Self::$function),)+
                    $(Routing::$direct)|+ => Err(switched::unsuited(params.routing, &network.spec())),
                }
            }

            #[inline(always)]
            fn last_channels(&self, visit: &Visit<'_>, all: u32) -> u32 {
                match self {
                    $(Self::$function(function) => function.last_channels(visit, all),)+
                }
            }

            #[inline(always)]
            fn single_candidate(&self, fabric: &Fabric, visit: &Visit<'_>, home: NodeId) -> Option<Candidate> {
                match self {
                    $(Self::$function(function) => function.single_candidate(fabric, visit, home),)+
                }
            }

            #[inline]
            fn candidates(
                &self,
                fabric: &Fabric,
                visit: &Visit<'_>,
                home: NodeId,
                all: u32,
                add_candidate: impl FnMut(Candidate),
            ) {
                match self {
                    $(Self::$function(function) => function.candidates(fabric, visit, home, all, add_candidate),)+
                }
            }

            fn may_weigh(&self) -> bool {
                match self {
                    $(Self::$function(function) => function.may_weigh(),)+
                }
            }

            #[inline]
            fn weighs(&self, visit: &Visit<'_>) -> bool {
                match self {
                    $(Self::$function(function) => function.weighs(visit),)+
                }
            }

            #[inline(always)]
            fn hop(&self, fabric: &Fabric, at: &Departure, port: Port, state: &mut [i16]) {
                match self {
                    $(Self::$function(function) => function.hop(fabric, at, port, state),)+
                }
            }
        }
    };
}

// One line per routing; those that share a routing function of switches stand together. The first one that serves a
// topology is its default.
table! {
    direct {
        BubbleSmart(direct::smart::Smart) = direct::smart::ROW,
        BubbleAdaptive(direct::adaptive::Adaptive) = direct::adaptive::ROW,
        BubbleShortest(direct::shortest::Shortest) = direct::shortest::ROW,
        BubbleRandom(direct::random::Random) = direct::random::ROW,
        BubbleOblivious(direct::oblivious::Oblivious) = direct::oblivious::ROW,
        BubbleBimodal(direct::bimodal::Bimodal) = direct::bimodal::ROW,
        DoubleAdaptive(direct::double::Double<false, true>) = direct::double::ADAPTIVE,
        DoubleOblivious(direct::double::Double<false, false>) = direct::double::OBLIVIOUS,
        HexaAdaptive(direct::double::Double<true, true>) = direct::double::HEXA_ADAPTIVE,
        HexaOblivious(direct::double::Double<true, false>) = direct::double::HEXA_OBLIVIOUS,
        DallyAdaptive(direct::dally::Adaptive) = direct::dally::ADAPTIVE,
        DallyTrc(direct::dally::DimensionOrder<false, false>) = direct::dally::TRC,
        DallyBasic(direct::dally::DimensionOrder<true, false>) = direct::dally::BASIC,
        DallyImproved(direct::dally::DimensionOrder<true, true>) = direct::dally::IMPROVED,
        DirectRoutes(direct::given::Given) = direct::given::ROW,
    }
    switched {
        Tree(switched::tree::Tree) { TreeAdaptive = switched::tree::ADAPTIVE, TreeStatic = switched::tree::STATIC }
        Dragonfly(switched::dragonfly::Dragonfly) {
            DragonflyUgal = switched::dragonfly::UGAL,
            DragonflyMinimal = switched::dragonfly::MINIMAL,
            DragonflyValiant = switched::dragonfly::VALIANT
        }
        Hyperx(switched::hyperx::Hyperx) { HyperxAdaptive = switched::hyperx::ADAPTIVE, HyperxDor = switched::hyperx::DOR }
        Shared(switched::shared::Shared) {
            HyperxMinimal = switched::shared::HYPERX_MINIMAL,
            HyperxMinimalAdaptive = switched::shared::HYPERX_MINIMAL_ADAPTIVE,
            HyperxValiant = switched::shared::HYPERX_VALIANT,
            HyperxUgal = switched::shared::HYPERX_UGAL,
            CmeshAdaptive = switched::shared::CMESH_ADAPTIVE,
            CmeshDor = switched::shared::CMESH_DOR,
            FlyDestinationTag = switched::shared::FLY,
            GraphRoutes = switched::shared::ROUTES
        }
        Cube(switched::cube::Cube) { CubeAdaptive = switched::cube::ADAPTIVE, CubeOblivious = switched::cube::OBLIVIOUS }
        UpDown(switched::updown::UpDown) { GraphUpDown = switched::updown::ROW }
        ShortestPaths(switched::shortest_paths::ShortestPaths) { GraphShortest = switched::shortest_paths::ROW }
    }
}
