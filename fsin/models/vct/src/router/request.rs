//! `RouteRules`: route computation and VC allocation, as the request of a head for one output virtual channel.
//!
//! **A head ignores ownership.** In each cycle it requests one output channel that *passes*: a whole packet fits behind
//! it, and the bubble and the local bubble restriction are obeyed. If another packet owns that channel, nothing is
//! granted, and the head has lost the cycle. Draws are made anew in every cycle with a request.
//!
//! Exceptions are the routings of networks of switches that the original did not have (dragonflies, HyperX, graphs),
//! and `bubble:adaptive`: they choose among channels that no packet owns. `docs/validation/original.md` compares the
//! two kinds.
//!
//! Decision: docs/decisions/0001-ownership.md.

use std::collections::HashSet;
use std::sync::Arc;

use trgen::NodeId;
use trgen::rng::{Purpose, mix2, pick};

use super::faults::Reachability;
use super::given::GivenPaths;
use super::layout::{Layout, is_switched};
use super::{CheckedParams, RouterParams};
use crate::routing::switched::RoutingFunction;
use crate::routing::{Adaptive, Avoidance, Choice, Order, Requests, Ring, Routing, Wake};
use fsin_core::failures::parts;
use fsin_core::topology::{Offsets, Port, Topology};

mod candidates;
mod switched;

pub(crate) use switched::outputs_of;

/// One virtual channel of one output link of a node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct OutputVc {
    /// The link.
    pub port: Port,
    /// The channel, 0 to V-1.
    pub vc: u8,
}

impl OutputVc {
    /// Index into a table of a node's output channels, port by port.
    #[must_use]
    pub const fn index(self, vcs: usize) -> usize {
        self.port.index() * vcs + self.vc as usize
    }

    /// The channel at index `index` of a table of a node's output channels.
    #[must_use]
    pub const fn at(index: usize, vcs: usize) -> Self {
        Self { port: Port::at(index / vcs), vc: (index % vcs) as u8 }
    }
}

/// The queue in which a head stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Input {
    /// The transit queue of packets that came through this channel of this port's direction.
    Transit(OutputVc),
    /// An injection queue.
    Injection,
}

/// A header that stands at the head of its queue and has not been routed yet.
#[derive(Clone, Copy, Debug)]
pub struct Head<'a> {
    /// The node where the head stands.
    pub node: NodeId,
    /// The queue in which it stands.
    pub input: Input,
    /// The number of that queue: transit queues in the order of [`OutputVc::index`], then injection queues.
    pub queue: usize,
    /// The packet's source.
    pub source: NodeId,
    /// The packet's destination, which is not this node.
    pub destination: NodeId,
    /// \[hops\] Hops to go in each dimension; in a network of switches, the packet's state for the routing function.
    pub offsets: &'a [i16],
    /// Random stream of (run seed, packet): see [`packet_key`].
    pub key: u64,
    /// \[cycle\] Time of the request: draws are made anew in every cycle.
    pub now: u64,
    /// True if the packet's message has more than one packet.
    pub long: bool,
}

/// The output state that a head can see: this node and the neighbours' queues at the end of the previous cycle.
pub trait OutputState {
    /// The channels of this port, as a bit mask, behind which a whole packet fits (virtual cut-through), owned or not.
    /// 0 where there is no (working) link.
    fn fitting(&self, port: Port) -> u32;
    /// Those of the fitting channels that no packet owns.
    fn open(&self, port: Port) -> u32;
    /// \[packets\] In the neighbour's queue, each arriving or departing packet counted as whole. The link must exist.
    fn packets_ahead(&self, output: OutputVc) -> u32;
    /// \[phits\] Free space of the neighbour's queue that this channel leads to; `None` if there is no link.
    fn space_ahead(&self, output: OutputVc) -> Option<u32>;
    /// True if this node's own transit queue of the same port and channel has room for this many packets.
    fn has_room(&self, output: OutputVc, packets: u32) -> bool;
    /// True if the restrictions of congested nodes hold at this node: always, if there are no timeouts.
    fn restricts(&self) -> bool;
}

/// Random stream of (run seed, node).
#[must_use]
pub const fn source_key(seed: u64, source: NodeId) -> u64 {
    mix2(seed, source.0 as u64)
}

/// Random stream of (run seed, packet). A packet is identified by its source, whose key is the argument, and its number
/// there.
#[must_use]
pub const fn packet_key(source: u64, sequence: u64) -> u64 {
    mix2(source, sequence)
}

/// A draw of a head for a purpose, in the cycle of the request.
pub(crate) const fn draw(head: &Head<'_>, purpose: Purpose, bound: u32) -> u32 {
    pick(mix2(mix2(head.key ^ head.node.0 as u64, purpose as u64), head.now), bound)
}

/// Random stream of (run seed, packet, cycle), for the choice of an injector.
#[must_use]
pub const fn injector_key(key: u64, now: u64) -> u64 {
    mix2(key, now)
}

/// The direction of a packet in a dimension in which both are equally long: true for +.
#[must_use]
pub const fn draw_direction(key: u64, dimension: usize) -> bool {
    pick(mix2(key ^ dimension as u64, Purpose::Direction as u64), 2) == 0
}

/// \[queues\] Maximum number of queues of a router whose masks fit in a word. The last bit of the word has another use.
pub(crate) const WORD: usize = 63;

/// The request rules of a router: route computation and VC allocation. The rules of each routing are in
/// [`routing`](crate::routing); here is what they share.
#[derive(Clone, Debug)]
pub struct RouteRules<L> {
    /// Dimensions, directions and channels of the router.
    pub(crate) layout: L,
    pub(crate) routing: Routing,
    /// Order of dimensions of deterministic routes.
    order: Order,
    /// The first dimension in that order.
    first_dimension: u8,
    /// \[phits\] Length of a packet.
    packet_phits: u32,
    /// \[packets\] Room that a packet must leave in a ring which it enters.
    bubble: u32,
    /// \[packets\] Local bubble restriction; 0 if there is none.
    pub(crate) lbr: u32,
    /// Seed of the run.
    pub(crate) seed: u64,
    /// The first channel of each port, as a mask of outputs.
    escapes: u64,
    /// The first adaptive channel; V if there is none.
    first_adaptive: u8,
    /// True if packets of long messages keep to the escape channel.
    long_on_escape: bool,
    /// True if free space ahead is compared phit by phit.
    compares_space: bool,
    /// True if all candidates of a head that compares free space pass where there is room for a packet; in a network of
    /// switches only.
    takes_any_roomy: bool,
    /// True if their free space is compared by masks, too.
    masks_space: bool,
    /// The wake-up condition of blocked heads; `None` in a network of switches.
    wake: Option<Wake>,
    /// True if the candidate mask of a packet is a function of its hops to go.
    masks_candidates: bool,
    /// True if the candidate mask is the same function for all packets, and ports come in the order of the
    /// deterministic route.
    masks_in_order: bool,
    /// True for `bubble:smart` where only room and bubble matter, so that blocked heads are handled together.
    is_plain: bool,
    /// By dimension: stride and size, for routings that use coordinates.
    pub(crate) rings: Box<[Ring]>,
    /// The routing function; `None` in a direct network.
    function: Option<Arc<RoutingFunction>>,
    /// The routes of a table, in a direct network.
    given: Option<Arc<GivenPaths>>,
    /// Which routes remain in a direct network with dead links; `None` if all links are alive.
    reachability: Option<Arc<Reachability>>,
    /// By endpoint: the part of the network in which it is; empty if no links die, and in a direct network whose routes
    /// do not go round dead ones.
    parts: Arc<[u32]>,
}

/// The channels of a port whose change is a wake-up condition of a blocked head.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WakeCondition {
    /// An adaptive channel opens: no packet owns it any longer, or there is room behind it.
    Adaptive = 0,
    /// A channel of the head's deterministic route opens, or the bubble of its ring opens.
    Deterministic = 1,
    /// There is no longer room behind an adaptive channel.
    Filled = 2,
}

impl WakeCondition {
    /// Number of conditions.
    pub const COUNT: usize = 3;
}

/// How long a head without a grant may sleep.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wait {
    /// Not at all: in the next cycle it may request a channel that is open now.
    Poll,
    /// Until a candidate channel opens.
    Opening,
    /// Until a candidate channel opens, or there is no longer room behind one of the channels that keep it from
    /// requesting another one.
    OpeningOrFilling,
}

impl<L: Layout> RouteRules<L> {
    /// The rules at the start of a run for these settings, which were checked for this topology; `layout` describes
    /// both.
    #[must_use]
    pub fn new(checked: &CheckedParams, layout: L, topology: &dyn Topology) -> Self {
        let first = checked.timetable.at_first().map_or(topology, |first| &**first);
        Self::of(checked, layout, first, checked.functions(topology).first().cloned().flatten())
    }

    /// The first cycle after each change of links, and the rules that then take effect.
    #[must_use]
    pub fn later(checked: &CheckedParams, layout: L, topology: &dyn Topology) -> Vec<(u64, Self)> {
        let functions = checked.functions(topology).iter().skip(1).cloned();
        let of = |((at, topology), function): ((u64, &Arc<dyn Topology>), _)| {
            (at, Self::of(checked, layout, &**topology, function))
        };
        checked.timetable.later().zip(functions).map(of).collect()
    }

    /// The rules for a network of which these links are left, with this routing function.
    fn of(params: &RouterParams, layout: L, topology: &dyn Topology, function: Option<Arc<RoutingFunction>>) -> Self {
        let routing = params.routing;
        let (compares_space, wake, takes_roomiest) = match routing.row().requests {
            Requests::Direct { compares_space, wake, .. } => (compares_space, Some(wake), false),
            Requests::Switched { choice, .. } => (choice != Choice::Open, None, choice == Choice::MostSpace),
        };
        let takes_any_roomy = takes_roomiest && routing.row().avoidance != Avoidance::Bubble;
        let adaptive = routing.adaptive();
        let reachability = Reachability::new(params, topology).map(Arc::new);
        // The escape channel is channel 0 of each port.
        let masks_candidates =
            adaptive.first() == Some(1) && reachability.is_none() && layout.outputs() + params.injectors <= WORD;
        let long_on_escape = matches!(adaptive, Adaptive::ShortMessagesFrom(_));
        // Routings without a bubble have no restriction, as in the original.
        let lbr = if routing.uses_bubble() { params.lbr } else { 0 };
        Self {
            masks_in_order: masks_candidates && params.order == Order::Dimension && !long_on_escape,
            is_plain: masks_candidates && wake == Some(Wake::Bets) && lbr == 0,
            masks_candidates,
            escapes: Self::first_channels(layout),
            first_adaptive: adaptive.first().unwrap_or(layout.vcs() as u8),
            long_on_escape,
            takes_any_roomy,
            masks_space: takes_any_roomy && layout.outputs() + params.injectors <= WORD,
            compares_space,
            wake,
            layout,
            routing,
            order: params.order,
            first_dimension: params.order.dimensions(layout.shape().dimensions).first().map_or(0, |&first| first as u8),
            bubble: if routing.uses_bubble() { params.bubble } else { 0 },
            packet_phits: params.packet_phits,
            lbr,
            seed: params.seed,
            rings: Ring::all_of(topology.geometry()),
            given: GivenPaths::new(params, topology).map(Arc::new),
            reachability,
            function,
            parts: match topology.switched().is_some() || routing.goes_round() {
                true if topology.faults() > 0 || !params.timetable.is_empty() => {
                    parts(topology, &HashSet::new()).into()
                }
                _ => Arc::default(),
            },
        }
    }

    /// The hops that a packet has to go: a minimal route, drawn if there are several; where links are dead, a live
    /// route if there is any.
    #[must_use]
    pub fn route(&self, topology: &dyn Topology, from: NodeId, to: NodeId, key: u64) -> Offsets {
        self.drawn_route(topology, from, to, key).0
    }

    /// The same, and how many directions were drawn for it; the most if it may change when links die.
    #[inline(always)]
    pub(crate) fn drawn_route(&self, topology: &dyn Topology, from: NodeId, to: NodeId, key: u64) -> (Offsets, u32) {
        if let Some(given) = &self.given {
            return (given.offsets(self.layout.shape(), from, to), 0);
        }
        let mut draws = 0;
        let route = topology.offsets(from, to, &mut |dimension| {
            draws += 1;
            draw_direction(key, dimension)
        });
        match &self.reachability {
            None => (route, draws),
            Some(reachability) => (reachability.usable(topology, from, to, route).unwrap_or(route), u32::MAX),
        }
    }

    /// The only other route that another key may give, if a single direction is drawn for either.
    pub(crate) fn other_route(&self, topology: &dyn Topology, from: NodeId, to: NodeId, key: u64) -> Option<Offsets> {
        let mut draws = 0;
        let route = topology.offsets(from, to, &mut |dimension| {
            draws += 1;
            !draw_direction(key, dimension)
        });
        (draws == 1).then_some(route)
    }

    /// The hops to go of all packets from one node, of this [`source_key`], to another, where all take the same
    /// directions.
    #[must_use]
    pub fn route_of_pair(&self, topology: &dyn Topology, from: NodeId, to: NodeId, source: u64) -> Offsets {
        // Numbers of packets do not come near.
        self.route(topology, from, to, packet_key(source, u64::MAX - u64::from(to.0)))
    }

    /// The link with which the [route of a pair](Self::route_of_pair) begins in the order of dimensions; the first one
    /// if there is no hop to make.
    #[must_use]
    pub fn link_of_pair(&self, topology: &dyn Topology, from: NodeId, to: NodeId, source: u64) -> usize {
        self.first_link(from, to, &self.route_of_pair(topology, from, to, source))
    }

    /// The link with which this route between two nodes begins in the order of dimensions; the first one if there is no
    /// hop to make.
    #[must_use]
    pub(crate) fn first_link(&self, from: NodeId, to: NodeId, route: &Offsets) -> usize {
        if let Some((port, _)) = self.given.as_ref().and_then(|given| given.hop(from, to, 0)) {
            return port.index();
        }
        let shape = self.layout.shape();
        self.order.next(shape, &route[..shape.dimensions]).map_or(0, Port::index)
    }

    /// False if dead links leave no route from one node to another.
    #[must_use]
    #[inline]
    pub fn reaches(&self, topology: &dyn Topology, from: NodeId, to: NodeId) -> bool {
        (self.parts.is_empty() || self.parts.get(from.index()) == self.parts.get(to.index()))
            && self.reachability.as_ref().is_none_or(|reachability| reachability.reaches(topology, from, to))
    }

    /// True if an adaptive channel of this port may be taken: where links are dead, only towards a live escape route.
    #[inline(always)]
    pub(crate) fn leads_on(&self, head: &Head<'_>, port: Port) -> bool {
        self.reachability.as_ref().is_none_or(|reachability| reachability.leads_on(head.node, port, head.offsets))
    }

    /// The dimension with which deterministic routes begin.
    #[inline(always)]
    pub(crate) fn first_dimension(&self) -> usize {
        self.first_dimension.into()
    }

    /// Number of virtual channels of each link.
    #[inline(always)]
    pub(crate) fn vcs(&self) -> u8 {
        self.layout.vcs() as u8
    }

    /// The next output of the deterministic route. Where links are dead, `None` unless that route is alive to its end.
    /// A packet that started on adaptive channels because the route is dead must not enter it.
    #[inline(always)]
    pub(crate) fn deterministic(&self, head: &Head<'_>) -> Option<Port> {
        let is_alive = |_: &Port| {
            self.reachability.as_ref().is_none_or(|reachability| reachability.is_alive(head.node, head.offsets))
        };
        self.order.next(self.layout.shape(), head.offsets).filter(is_alive)
    }

    /// The next hop of the table of a direct network, and its channels as a mask.
    #[inline]
    pub(crate) fn given_hop(&self, head: &Head<'_>) -> Option<(Port, u32)> {
        let given = self.given.as_deref()?;
        let (port, vcs) = given.hop(head.source, head.destination, given.made(self.layout.shape(), head))?;
        Some((port, vcs.unwrap_or(u32::MAX) & self.channels_from(0)))
    }

    /// True if each input queue keeps a bet, which [`request`](Self::request) reads and updates.
    #[inline(always)]
    pub fn keeps_bets(&self) -> bool {
        matches!(self.wake, Some(Wake::Bets))
    }

    /// The output channel that a head requests in this cycle, or `None` if none passes. Call it once in each cycle in
    /// which the header stands there without a grant. `bet` is that of its queue, 0 at first and after each grant.
    #[inline(always)]
    pub fn request(&self, head: &Head<'_>, bet: &mut u8, outputs: &impl OutputState) -> Option<OutputVc> {
        if is_switched!(self.layout, L) {
            return self.switched_request(head, outputs);
        }
        self.direct_request(head, bet, outputs)
    }

    /// The output channel that a head [requests](Self::request), if that can be granted; if not, how long the head may
    /// sleep. A head that loses the arbitration makes a request in the next cycle.
    #[inline(always)]
    pub fn request_open(&self, head: &Head<'_>, bet: &mut u8, outputs: &impl OutputState) -> Result<OutputVc, Wait> {
        if is_switched!(self.layout, L) {
            return self.switched_if_open(head, outputs);
        }
        let asked = self.request(head, bet, outputs);
        let is_open = |output: &OutputVc| outputs.open(output.port) & 1 << output.vc != 0;
        asked.filter(is_open).ok_or_else(|| self.wait(head, outputs))
    }

    /// How long a head in a direct network without a grant in this cycle may sleep.
    fn wait(&self, head: &Head<'_>, outputs: &impl OutputState) -> Wait {
        let wait = self.direct_wait(head, outputs);
        debug_assert!(wait != Wait::OpeningOrFilling || self.waits_for_filling(), "{:?}", self.routing);
        wait
    }

    /// Updates a packet's state after its header has left through a port: one hop less to go. Returns whether that was
    /// the last one in its dimension, so that the [candidate mask](Self::candidates_next) changes.
    #[inline(always)]
    pub fn hop(&self, node: NodeId, destination: NodeId, key: u64, port: Port, offsets: &mut [i16]) -> bool {
        if is_switched!(self.layout, L) {
            self.switched_hop(node, destination, key, port, offsets);
            return self.masks_space;
        }
        let (dimension, positive) = self.layout.shape().direction(port);
        offsets[dimension] -= if positive { 1 } else { -1 };
        offsets[dimension] == 0
    }

    /// The wake-up conditions of a blocked head, port by port: it can be granted nothing before one of them holds.
    pub fn wake_conditions(&self, head: &Head<'_>, wait: Wait, add_condition: impl FnMut(Port, WakeCondition)) {
        if is_switched!(self.layout, L) {
            return self.switched_conditions(head, add_condition);
        }
        self.direct_conditions(head, wait, add_condition);
    }

    /// The first channel of a port that only packets with an adaptive [`WakeCondition`] take; channels below it are
    /// deterministic.
    #[must_use]
    #[inline(always)]
    pub const fn first_adaptive(&self) -> u8 {
        self.first_adaptive
    }

    /// True if free space is compared: the rules call [`OutputState::space_ahead`].
    #[must_use]
    pub const fn compare_space(&self) -> bool {
        self.compares_space
    }

    /// True if heads may have to wait for [`Wait::OpeningOrFilling`].
    #[must_use]
    pub const fn waits_for_filling(&self) -> bool {
        matches!(self.wake, Some(Wake::OpeningOrFilling))
    }

    /// The blocking channel of a head, on which it depends whatever else it might take: its deterministic route. A
    /// cycle of such dependencies is a deadlock.
    #[must_use]
    pub fn blocking_channel(&self, head: &Head<'_>) -> Option<OutputVc> {
        if is_switched!(self.layout, L) {
            return self.switched_blocking_channel(head);
        }
        self.direct_blocking_channel(head)
    }

    /// The bubble: a packet that enters a ring must leave room in it. One that continues in the same queue of the ring
    /// need not.
    #[inline]
    pub(crate) fn bubble_open(&self, head: &Head<'_>, output: OutputVc, outputs: &impl OutputState) -> bool {
        self.bubble == 0 || head.input == Input::Transit(output) || outputs.has_room(output, self.bubble)
    }

    /// The channels of `vcs` (a mask) that pass where no bubble is needed: those behind which a packet fits and, for a
    /// packet that leaves an injection queue, those that obey the local bubble restriction.
    #[inline(always)]
    pub(crate) fn passing(&self, head: &Head<'_>, port: Port, vcs: u32, outputs: &impl OutputState) -> u32 {
        let fitting = outputs.fitting(port) & vcs;
        if self.lbr == 0 || head.input != Input::Injection || !outputs.restricts() {
            return fitting;
        }
        self.keep(fitting, |vc| outputs.has_room(OutputVc { port, vc }, self.lbr))
    }

    /// The channels of `vcs` (a mask) that pass where the bubble is needed: [`passing`](Self::passing) channels whose
    /// ring has room for the bubble.
    #[inline]
    pub(crate) fn passing_bubble(&self, head: &Head<'_>, port: Port, vcs: u32, outputs: &impl OutputState) -> u32 {
        self.keep(self.passing(head, port, vcs, outputs), |vc| self.bubble_open(head, OutputVc { port, vc }, outputs))
    }

    /// The channels of `vcs` (a mask) for which `passes` holds.
    #[inline]
    fn keep(&self, vcs: u32, passes: impl Fn(u8) -> bool) -> u32 {
        if vcs == 0 {
            return 0;
        }
        (0..self.vcs()).filter(|&vc| vcs & 1 << vc != 0 && passes(vc)).fold(0, |kept, vc| kept | 1 << vc)
    }

    /// All channels from `first` on, as a mask.
    #[inline]
    pub(crate) fn channels_from(&self, first: u8) -> u32 {
        (((1u64 << self.vcs()) - 1) as u32) & !((1 << first) - 1)
    }

    /// Profitable ports, in the order of dimensions.
    pub(crate) fn profitable<'a>(&'a self, head: &'a Head<'_>) -> impl Iterator<Item = Port> + use<'a, L> {
        let shape = self.layout.shape();
        let offsets = head.offsets;
        (0..shape.dimensions)
            .filter(move |&dimension| offsets[dimension] != 0)
            .map(move |dimension| shape.port(dimension, offsets[dimension] > 0))
            .filter(|&port| self.leads_on(head, port))
    }
}

/// Position of the `n`-th bit that is set, counted from 0; there must be more than `n`.
pub(crate) fn nth_bit(mut mask: u32, n: u32) -> u8 {
    for _ in 0..n {
        mask &= mask - 1;
    }
    mask.trailing_zeros() as u8
}
