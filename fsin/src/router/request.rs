//! How a head asks for an output virtual channel.

use std::sync::Arc;

use trgen::NodeId;
use trgen::rng::{Purpose, mix2, pick};

use super::RouterParams;
use super::detours::Detours;
use super::guide::Guide;
use super::layout::Layout;
use crate::routing::{Order, Routing};
use crate::topology::{Offsets, Port, Topology};

mod dally;
mod double;
mod guided;
mod wants;

use dally::Ring;

/// One virtual channel of one output link of a node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct OutputVc {
    /// The link.
    pub port: Port,
    /// The channel, 0 to V-1.
    pub vc: u8,
}

impl OutputVc {
    /// Position in a table of a node's output channels, port by port.
    #[must_use]
    pub const fn index(self, vcs: usize) -> usize {
        self.port.index() * vcs + self.vc as usize
    }

    /// The channel at `index` of such a table.
    #[must_use]
    pub const fn at(index: usize, vcs: usize) -> Self {
        Self { port: Port((index / vcs) as u8), vc: (index % vcs) as u8 }
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
    /// Where it stands.
    pub node: NodeId,
    /// In which queue.
    pub input: Input,
    /// Where it goes to; not this node.
    pub destination: NodeId,
    /// Hops to go in each dimension; in a network of switches, what the packet carries for its guide.
    pub offsets: &'a [i16],
    /// Names (run seed, packet): see [`packet_key`].
    pub key: u64,
    /// \[cycle\] In which it asks: `bubble:smart` draws anew in every cycle.
    pub now: u64,
    /// True if its message has more than one packet.
    pub long: bool,
}

/// Who asks, for the draws of a request.
#[derive(Clone, Copy, Debug)]
pub struct Asker {
    /// Where the head stands.
    pub node: NodeId,
    /// Not in an injection queue.
    pub in_transit: bool,
    /// Names (run seed, packet): see [`packet_key`].
    pub key: u64,
    /// \[cycle\] In which it asks.
    pub now: u64,
}

/// What a head can see: the state that the previous cycle left at its node and at the neighbours' queues.
pub trait Surroundings {
    /// The channels of this port, as a bit mask, that no packet owns and behind which a whole packet fits (virtual
    /// cut-through). 0 where there is no (working) link.
    fn open(&self, port: Port) -> u32;
    /// True if the neighbour's queue holds as many packets as it has room for, counting those that are arriving or
    /// departing; or if there is no link.
    fn is_full(&self, output: OutputVc) -> bool;
    /// \[packets\] In the neighbour's queue, counting those that are arriving or departing as whole. The link must exist.
    fn packets_ahead(&self, output: OutputVc) -> u32;
    /// \[phits\] Free space of the neighbour's queue that this channel leads to; `None` if there is no link.
    fn space_ahead(&self, output: OutputVc) -> Option<u32>;
    /// True if this node's own transit queue of the same port and channel has room for so many packets.
    fn has_room(&self, output: OutputVc, packets: u32) -> bool;
    /// True if what holds at congested nodes only, where there are timeouts, holds at this one.
    fn restricts(&self) -> bool;
}

/// The part of every draw that names (run seed, node).
#[must_use]
pub const fn source_key(seed: u64, source: NodeId) -> u64 {
    mix2(seed, source.0 as u64)
}

/// The part of every draw that names (run seed, packet). A packet is named by its source, whose key this takes, and its
/// number there.
#[must_use]
pub const fn packet_key(source: u64, sequence: u64) -> u64 {
    mix2(source, sequence)
}

/// A draw of a packet at a place, for a purpose.
const fn draw(key: u64, node: NodeId, purpose: Purpose, bound: u32) -> u32 {
    pick(mix2(key ^ node.0 as u64, purpose as u64), bound)
}

/// The direction of a packet in a dimension in which both are equally long: true for +.
#[must_use]
pub const fn draw_direction(key: u64, dimension: usize) -> bool {
    pick(mix2(key ^ dimension as u64, Purpose::Direction as u64), 2) == 0
}

/// \[queues\] Most of a router whose masks fit in a word; one bit is for other use.
pub(crate) const WORD: usize = 63;

/// The request rules of a router.
#[derive(Clone, Debug)]
pub struct Requests<L> {
    layout: L,
    routing: Routing,
    order: Order,
    bubble: u32,
    lbr: u32,
    /// The first channel of each port, as a mask of outputs.
    escapes: u64,
    /// What a packet may ask for follows from its hops to go.
    tells_wants: bool,
    /// It does so in the same way for all packets, and ports come in the order of the deterministic route.
    wants_in_order: bool,
    /// `bubble:smart`, and nothing else to be looked at.
    is_plain: bool,
    /// Of each dimension, for routings that look at coordinates.
    rings: Box<[Ring]>,
    /// Of a network of switches.
    guide: Option<Arc<Guide>>,
    /// Of a direct network with dead links.
    detours: Option<Arc<Detours>>,
}

/// The channels of a port that a blocked head would take if they opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Interest {
    /// The adaptive ones.
    Adaptive = 0,
    /// Those of its deterministic route; also if the bubble of that ring opened.
    Deterministic = 1,
}

impl<L: Layout> Requests<L> {
    /// The rules for these settings, which must have passed [`RouterParams::check`] for this topology; `layout` is that of
    /// both.
    #[must_use]
    pub fn new(params: &RouterParams, layout: L, topology: &dyn Topology) -> Self {
        let detours = Detours::new(params, topology).map(Arc::new);
        let escapes = Self::first_channels(layout);
        let tells_wants =
            params.routing.has_escape_channel() && detours.is_none() && layout.outputs() + params.injectors <= WORD;
        Self {
            wants_in_order: tells_wants && params.order == Order::Dimension && params.routing != Routing::BubbleBimodal,
            is_plain: tells_wants && params.routing == Routing::BubbleSmart && params.lbr == 0,
            tells_wants,
            escapes,
            layout,
            routing: params.routing,
            order: params.order,
            bubble: if params.routing.uses_bubble() { params.bubble } else { 0 },
            lbr: params.lbr,
            rings: Ring::of(topology.geometry()),
            detours,
            guide: topology.switched().and_then(|network| Guide::new(params, network).ok()).map(Arc::new),
        }
    }

    /// The hops that a packet has to go: a shortest route, drawn if there are several; where links are dead, one that is
    /// alive if there is any.
    #[must_use]
    pub fn route(&self, topology: &dyn Topology, from: NodeId, to: NodeId, key: u64) -> Offsets {
        let route = topology.offsets(from, to, &mut |dimension| draw_direction(key, dimension));
        match &self.detours {
            None => route,
            Some(detours) => detours.usable(topology, from, to, route).unwrap_or(route),
        }
    }

    /// False if dead links leave no route from one node to another.
    #[must_use]
    pub fn reaches(&self, topology: &dyn Topology, from: NodeId, to: NodeId) -> bool {
        self.detours.as_ref().is_none_or(|detours| detours.reaches(topology, from, to))
    }

    /// True if an adaptive channel of this port may be taken: where links are dead, only towards a live escape route.
    #[inline(always)]
    fn leads_on(&self, head: &Head<'_>, port: Port) -> bool {
        self.detours.as_ref().is_none_or(|detours| detours.leads_on(head.node, port, head.offsets))
    }

    #[inline(always)]
    fn vcs(&self) -> u8 {
        self.layout.vcs() as u8
    }

    /// The output that the deterministic route takes next.
    #[inline(always)]
    fn deterministic(&self, head: &Head<'_>) -> Option<Port> {
        self.order.next(self.layout.shape(), head.offsets)
    }

    /// The output channel that a head asks for in this cycle, or `None` if none passes.
    #[inline(always)]
    pub fn request(&self, head: &Head<'_>, near: &impl Surroundings) -> Option<OutputVc> {
        if self.layout.is_switched() {
            return self.guided(head, near).ok();
        }
        self.direct_request(head, near)
    }

    /// The same; if it asks for nothing: whether it may ask for something in a later cycle although nothing has opened.
    #[inline(always)]
    pub fn request_now(&self, head: &Head<'_>, near: &impl Surroundings) -> Result<OutputVc, bool> {
        if self.layout.is_switched() {
            return self.guided(head, near);
        }
        self.direct_request(head, near).ok_or_else(|| self.may_change_its_mind(head, near))
    }

    /// In a direct network.
    fn direct_request(&self, head: &Head<'_>, near: &impl Surroundings) -> Option<OutputVc> {
        match self.routing {
            Routing::BubbleOblivious => self.oblivious(head, near),
            Routing::BubbleRandom => self.random(head, near).or_else(|| self.escape(head, near)),
            Routing::BubbleShortest => self.shortest(head, near).or_else(|| self.escape(head, near)),
            Routing::BubbleBimodal if head.long => self.escape(head, near),
            Routing::BubbleBimodal => self.random(head, near).or_else(|| self.escape(head, near)),
            Routing::BubbleSmart => self.smart(head, near).or_else(|| self.escape(head, near)),
            Routing::DoubleOblivious | Routing::HexaOblivious => self.double(head, near, false),
            Routing::DoubleAdaptive | Routing::HexaAdaptive => self.double(head, near, true),
            Routing::DallyTrc | Routing::DallyBasic | Routing::DallyImproved => self.dally(head, near),
            Routing::DallyAdaptive => self.dally_adaptive(head, near),
            // Of networks of switches.
            _ => None,
        }
    }

    /// What a packet carries after its header has left through a port: one hop less to go. Returns whether that was the last
    /// one in its dimension, so that the packet [wants something else](Self::wants_next).
    #[inline(always)]
    pub fn hop(&self, node: NodeId, destination: NodeId, key: u64, port: Port, offsets: &mut [i16]) -> bool {
        if self.layout.is_switched() {
            self.guided_hop(node, destination, key, port, offsets);
            return false;
        }
        let (dimension, positive) = self.layout.shape().direction(port);
        offsets[dimension] -= if positive { 1 } else { -1 };
        offsets[dimension] == 0
    }

    /// What a head that asked for nothing waits for: only if something opens of what this tells, port by port, can it ask for
    /// something.
    pub fn interest(&self, head: &Head<'_>, mut tell: impl FnMut(Port, Interest)) {
        if self.layout.is_switched() {
            return self.guided_ports(head, |port| tell(port, Interest::Deterministic));
        }
        if self.routing.orders_by_channel() {
            self.double_ports(head, |port| tell(port, Interest::Deterministic));
        } else if let Some(port) = self.deterministic(head) {
            tell(port, Interest::Deterministic);
        }
        let escapes_only = head.long && self.routing == Routing::BubbleBimodal;
        if self.first_adaptive() < self.vcs() && !escapes_only {
            self.profitable(head).for_each(|port| tell(port, Interest::Adaptive));
        }
    }

    /// The first channel of a port that only packets with an adaptive [`Interest`] take; channels below it are
    /// deterministic.
    #[must_use]
    pub fn first_adaptive(&self) -> u8 {
        match self.routing {
            routing if routing.has_escape_channel() => 1,
            Routing::DallyAdaptive => 2,
            _ => self.vcs(),
        }
    }

    /// True if a head in a direct network that asked for nothing may ask for something in a later cycle although nothing has
    /// opened. `bubble:shortest` compares free space, which changes phit by phit; `bubble:smart` draws anew in every cycle,
    /// which matters while an adaptive channel of a profitable port is open; with `double:adaptive` what matters may also
    /// be that something closes.
    fn may_change_its_mind(&self, head: &Head<'_>, near: &impl Surroundings) -> bool {
        match self.routing {
            Routing::BubbleShortest => true,
            Routing::BubbleSmart => (0..self.layout.shape().dimensions)
                .any(|dimension| self.passing_adaptive(head, dimension, near).is_some()),
            Routing::DoubleAdaptive | Routing::HexaAdaptive => self.waits_for_own(head, near),
            _ => false,
        }
    }

    /// True if free space is compared: [`Surroundings::space_ahead`] is asked for.
    #[must_use]
    pub fn compare_space(&self) -> bool {
        self.routing == Routing::BubbleShortest || self.guide.as_ref().is_some_and(|guide| guide.weighs_space())
    }

    /// The channel that a blocked head waits for at last, whatever else it might take: its deterministic route. A cycle
    /// of such waits is a deadlock.
    #[must_use]
    pub fn last_resort(&self, head: &Head<'_>) -> Option<OutputVc> {
        if self.layout.is_switched() {
            return self.guided_last_resort(head);
        }
        if self.routing.orders_by_channel() {
            return self.double_last_resort(head);
        }
        let port = self.deterministic(head)?;
        let vc = match (self.routing, head.input) {
            (Routing::BubbleOblivious, Input::Transit(input)) if input.port == port => input.vc,
            (routing, _) if !routing.uses_bubble() => self.dally_last_resort(head, port),
            _ => 0,
        };
        Some(OutputVc { port, vc })
    }

    /// The bubble: who enters a ring must leave room in it. Who goes on in the same queue of the ring need not.
    #[inline]
    pub(crate) fn bubble_open(&self, head: &Head<'_>, output: OutputVc, near: &impl Surroundings) -> bool {
        self.bubble == 0 || head.input == Input::Transit(output) || near.has_room(output, self.bubble)
    }

    /// The channels of `vcs` (a mask) that a packet may take where no bubble is asked for: those that are open, and for a
    /// packet that leaves an injection queue those that obey the local bubble restriction.
    #[inline(always)]
    fn passing(&self, head: &Head<'_>, port: Port, vcs: u32, near: &impl Surroundings) -> u32 {
        let open = near.open(port) & vcs;
        if self.lbr == 0 || head.input != Input::Injection || !near.restricts() {
            return open;
        }
        self.keep(open, |vc| near.has_room(OutputVc { port, vc }, self.lbr))
    }

    /// The same where the bubble is asked for.
    #[inline]
    fn passing_bubble(&self, head: &Head<'_>, port: Port, vcs: u32, near: &impl Surroundings) -> u32 {
        self.keep(self.passing(head, port, vcs, near), |vc| self.bubble_open(head, OutputVc { port, vc }, near))
    }

    #[inline]
    fn keep(&self, vcs: u32, passes: impl Fn(u8) -> bool) -> u32 {
        if vcs == 0 {
            return 0;
        }
        (0..self.vcs()).filter(|&vc| vcs & 1 << vc != 0 && passes(vc)).fold(0, |kept, vc| kept | 1 << vc)
    }

    /// All channels from `first` on, as a mask.
    #[inline]
    fn channels_from(&self, first: u8) -> u32 {
        (((1u64 << self.vcs()) - 1) as u32) & !((1 << first) - 1)
    }

    #[inline]
    fn escape(&self, head: &Head<'_>, near: &impl Surroundings) -> Option<OutputVc> {
        let port = self.deterministic(head)?;
        (self.passing_bubble(head, port, 1, near) != 0).then_some(OutputVc { port, vc: 0 })
    }

    fn oblivious(&self, head: &Head<'_>, near: &impl Surroundings) -> Option<OutputVc> {
        let port = self.deterministic(head)?;
        if let Input::Transit(input) = head.input
            && input.port == port
        {
            return (self.passing_bubble(head, port, 1 << input.vc, near) != 0).then_some(input);
        }
        let passing = self.passing_bubble(head, port, self.channels_from(0), near);
        drawn_vc(head, port, passing)
    }

    /// Any profitable channel from `first_adaptive` on that passes, drawn.
    fn random(&self, head: &Head<'_>, near: &impl Surroundings) -> Option<OutputVc> {
        let adaptive = self.channels_from(self.first_adaptive());
        let passing = || self.profitable(head).map(|port| (port, self.passing(head, port, adaptive, near)));
        let count = passing().map(|(_, vcs)| vcs.count_ones()).sum();
        let mut skip = if count == 0 { return None } else { draw(head.key, head.node, Purpose::Output, count) };
        for (port, vcs) in passing() {
            if skip < vcs.count_ones() {
                return Some(OutputVc { port, vc: nth_bit(vcs, skip) });
            }
            skip -= vcs.count_ones();
        }
        None
    }

    /// Most space wins, drawn among equals, and only then must the winner pass: a channel that has most space because the
    /// packet that owns it has not started keeps its place, as in the original. (Choosing among those that pass is a
    /// better router, 9 % less delay at half load, and not the published one.)
    fn shortest(&self, head: &Head<'_>, near: &impl Surroundings) -> Option<OutputVc> {
        let adaptive = || self.profitable(head).flat_map(|port| (1..self.vcs()).map(move |vc| OutputVc { port, vc }));
        let most = adaptive().filter_map(|output| near.space_ahead(output)).max()?;
        let best = || adaptive().filter(|&output| near.space_ahead(output) == Some(most));
        let count = best().count() as u32;
        let output = best().nth(draw(head.key, head.node, Purpose::Output, count) as usize)?;
        (self.passing(head, output.port, 1 << output.vc, near) != 0).then_some(output)
    }

    /// The port that brings a head nearer in a dimension, and its adaptive channels that pass.
    #[inline]
    fn passing_adaptive(&self, head: &Head<'_>, dimension: usize, near: &impl Surroundings) -> Option<(Port, u32)> {
        let offset = head.offsets[dimension];
        if offset == 0 {
            return None;
        }
        let port = self.layout.shape().port(dimension, offset > 0);
        let vcs = if self.leads_on(head, port) { self.passing(head, port, self.channels_from(1), near) } else { 0 };
        (vcs != 0).then_some((port, vcs))
    }

    /// Straight ahead in the same adaptive channel; else one [drawn](Self::drawn_by_dimension).
    fn smart(&self, head: &Head<'_>, near: &impl Surroundings) -> Option<OutputVc> {
        let passing = |dimension| self.passing_adaptive(head, dimension, near);
        if let Input::Transit(input) = head.input
            && let Some((port, vcs)) = passing(self.layout.shape().direction(input.port).0)
            && port == input.port
            && vcs & 1 << input.vc != 0
        {
            return Some(input);
        }
        let asker = Asker { node: head.node, in_transit: head.input != Input::Injection, key: head.key, now: head.now };
        self.drawn_by_dimension(&asker, passing)
    }

    /// Dimension by dimension one channel, drawn before it is looked at: if it is not among those that pass, the next
    /// dimension has its turn. An injected packet begins with the first dimension, one in transit with a drawn one.
    ///
    /// The draws are anew in every cycle, as in the original. A draw that stays the same while a head is blocked has it
    /// wait for one channel; delays of permutations on a mesh then come out 4 % to 8 % too low.
    #[inline(always)]
    fn drawn_by_dimension(&self, asker: &Asker, passing: impl Fn(usize) -> Option<(Port, u32)>) -> Option<OutputVc> {
        let dimensions = self.layout.shape().dimensions;
        let now = mix2(asker.key ^ u64::from(asker.node.0), asker.now);
        let count = u32::from(self.vcs()) - 1;
        let mut dimension = if asker.in_transit { pick(now, dimensions as u32) as usize } else { 0 };
        let mut drawn = None;
        for _ in 0..dimensions {
            let (port, vcs) = passing(dimension).unwrap_or((Port(0), 0));
            let vc = 1 + if count == 1 { 0 } else { pick(mix2(now, dimension as u64), count) as u8 };
            let passes = vcs >> vc & 1 != 0;
            // Whether the first one passes is seldom foretold: of few dimensions all are looked at.
            drawn = if drawn.is_none() & passes { Some(OutputVc { port, vc }) } else { drawn };
            if dimensions > 3 && drawn.is_some() {
                break;
            }
            dimension = if dimension + 1 == dimensions { 0 } else { dimension + 1 };
        }
        drawn
    }

    /// Ports that bring the packet nearer, in the order of dimensions.
    fn profitable<'a>(&'a self, head: &'a Head<'_>) -> impl Iterator<Item = Port> + use<'a, L> {
        let shape = self.layout.shape();
        let offsets = head.offsets;
        (0..shape.dimensions)
            .filter(move |&dimension| offsets[dimension] != 0)
            .map(move |dimension| shape.port(dimension, offsets[dimension] > 0))
            .filter(|&port| self.leads_on(head, port))
    }
}

/// One of these channels (a mask) of a port, drawn.
fn drawn_vc(head: &Head<'_>, port: Port, vcs: u32) -> Option<OutputVc> {
    let vc = match vcs.count_ones() {
        0 => return None,
        1 => vcs.trailing_zeros() as u8,
        count => nth_bit(vcs, draw(head.key, head.node, Purpose::VirtualChannel, count)),
    };
    Some(OutputVc { port, vc })
}

/// Position of the `n`-th bit that is set, from 0; there must be more than `n`.
fn nth_bit(mut mask: u32, n: u32) -> u8 {
    for _ in 0..n {
        mask &= mask - 1;
    }
    mask.trailing_zeros() as u8
}
