//! What a routing states of itself.

use fsin_core::route::{self, Carries, Serves};
use fsin_core::topology::{Kind, row};
use trgen::catalog::Component;

/// The answers of a routing. There are no defaults: a missing answer does not compile.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Name, definition, source.
    pub component: Component,
    /// Names in other simulators and textbooks. Several routings may share one: the topology decides which is meant.
    pub aliases: &'static [&'static str],
    /// The networks that it serves, of those that [`Requests`] are for.
    pub serves: Serves,
    /// The virtual channels that it needs.
    pub vcs: Vcs,
    /// The only number of dimensions in which it works; `None` for any.
    pub dimensions: Option<usize>,
    /// How deadlock is avoided.
    pub avoidance: Avoidance,
    /// True if it works where links are dead.
    pub dead_links: bool,
    /// \[channels\] The least number with which heads draw an output or a channel; `None` if they never do.
    pub draws_with: Option<usize>,
    /// How a head requests an output.
    pub requests: Requests,
}

impl Row {
    /// True if it serves a topology, by its specification or its name alone.
    pub(super) fn includes(&self, spec: &str) -> bool {
        let is_for_switches = matches!(self.requests, Requests::Switched { .. });
        let is_switched = row(spec).is_some_and(|topology| !matches!(topology.kind, Kind::Grid | Kind::Direct));
        self.serves.includes(spec) && is_switched == is_for_switches
    }
}

/// \[channels\] Virtual channels that a routing needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Vcs {
    /// This number or more. (`graph:shortest` states the number for one hop between switches; a network may need more.)
    AtLeast(usize),
    /// This number.
    Exactly(usize),
    /// A multiple of the number of dimensions.
    MultipleOfDimensions,
}

/// How deadlock is avoided.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Avoidance {
    /// A packet that enters a ring leaves a bubble there.
    Bubble,
    /// Dateline channels break every ring, which must wrap at a coordinate.
    Datelines,
    /// Channels are taken in an order.
    Order,
}

/// How a head requests an output.
#[derive(Clone, Copy, Debug)]
pub enum Requests {
    /// A head in a direct network requests an output by the hops to go.
    Direct {
        /// Channels that are not bound to the deterministic route.
        adaptive: Adaptive,
        /// True if every channel has its own order of dimensions, whatever the setting.
        orders_by_channel: bool,
        /// True if free space ahead is compared, phit by phit.
        compares_space: bool,
        /// The wake-up condition of a blocked head.
        wake: Wake,
        /// The routing as all models know it, if packets follow its routes, one for each pair of nodes; `None` if they
        /// go by the hops to go.
        follows: Option<&'static route::Row>,
    },
    /// A head in a network of switches requests one of the candidates of the routing function.
    Switched {
        /// How one of the candidate channels is chosen.
        choice: Choice,
        /// The routing as all models know it, and what its channels are used for here.
        carries: Carries,
    },
}

/// Adaptive channels of a direct network: all those of profitable ports from a number on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Adaptive {
    /// No channel is adaptive: every packet keeps to the deterministic route.
    Never,
    /// The channels from this one on are adaptive, for all packets.
    From(u8),
    /// The channels from this one on are adaptive for messages of one packet. Packets of longer messages keep to the
    /// deterministic route.
    ShortMessagesFrom(u8),
}

impl Adaptive {
    /// The first adaptive channel.
    #[must_use]
    pub const fn first(self) -> Option<u8> {
        match self {
            Self::Never => None,
            Self::From(first) | Self::ShortMessagesFrom(first) => Some(first),
        }
    }
}

/// The wake-up condition of a blocked head: when it must look again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wake {
    /// The head's request changes in every cycle, by the bets of `bubble:smart`. The fast engine keeps such heads
    /// together, with their bets in masks (`engine/fast/bets.rs`).
    Bets,
    /// A candidate channel opens. (Or in the next cycle, if the head may request another open channel by then.)
    Opening,
    /// A candidate channel opens; or there is no longer room behind a channel that keeps the head from requesting
    /// another one.
    OpeningOrFilling,
}

/// How one of the candidate channels of a routing function is chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Choice {
    /// One of the channels that no packet owns.
    Open,
    /// The channel with most free space ahead among those that pass, owned or not; ties are broken at random.
    MostSpace,
    /// One of the channels is drawn before its state is examined. A packet keeps the channel that was drawn: in rings
    /// with a bubble while it goes straight on, in other networks on its whole route.
    Drawn,
}
