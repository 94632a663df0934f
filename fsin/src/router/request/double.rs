//! Channels with an order of dimensions each.
//!
//! A packet in channel c goes through the dimensions in the order of c, with the bubble wherever it enters a ring. Among
//! themselves the channels are like networks that do not know of each other: in each of them a packet that waits can
//! wait for its own next ring, which empties by itself. So a packet may also change to a channel that passes; it never
//! *has to* wait for one.

use trgen::rng::Purpose;

use super::{Head, Input, OutputVc, Requests, Surroundings, draw};
use crate::router::layout::Layout;
use crate::routing::Routing;
use crate::topology::Port;

impl<L: Layout> Requests<L> {
    /// The output that a packet takes next in the order of channel `vc`.
    fn next_in(&self, vc: u8, offsets: &[i16]) -> Option<Port> {
        let shape = self.layout.shape();
        let (n, vc) = (shape.dimensions, usize::from(vc));
        let in_turn = |step: usize| match self.routing {
            // 0 to 2: XYZ, YZX, ZXY; 3 to 5: the reverse of these.
            Routing::HexaOblivious | Routing::HexaAdaptive if vc >= 3 => (vc - 3 + 2 - step) % 3,
            _ => (vc + step) % n,
        };
        let dimension = (0..n).map(in_turn).find(|&dimension| offsets[dimension] != 0)?;
        Some(shape.port(dimension, offsets[dimension] > 0))
    }

    /// Its own channel; at injection, and where `may_change` also when there is no room for it in its own, another one
    /// that passes, drawn. A packet whose channel has room but carries another packet now waits for it.
    #[inline(never)]
    pub(super) fn double(&self, head: &Head<'_>, near: &impl Surroundings, may_change: bool) -> Option<OutputVc> {
        if let Input::Transit(input) = head.input {
            let own = self.passes(head, input.vc, near);
            if own.is_some() || !may_change || self.has_room_in_own(head, near) {
                return own;
            }
        }
        let passing = || (0..self.vcs()).filter_map(|vc| self.passes(head, vc, near));
        let count = passing().count() as u32;
        let drawn = if count < 2 { 0 } else { draw(head.key, head.node, Purpose::VirtualChannel, count) };
        passing().nth(drawn as usize)
    }

    /// The output of a channel, if it passes.
    fn passes(&self, head: &Head<'_>, vc: u8, near: &impl Surroundings) -> Option<OutputVc> {
        let port = self.next_in(vc, head.offsets)?;
        (self.passing_bubble(head, port, 1 << vc, near) != 0).then_some(OutputVc { port, vc })
    }

    /// True if a packet in transit has room ahead in its own channel, and the bubble, whoever owns the channel now.
    fn has_room_in_own(&self, head: &Head<'_>, near: &impl Surroundings) -> bool {
        let own = self.double_last_resort(head);
        own.is_some_and(|output| !near.is_full(output) && self.bubble_open(head, output, near))
    }

    /// True if a head waits for its own channel although another one passes: as soon as there is no room in its own, it
    /// may take that.
    pub(super) fn waits_for_own(&self, head: &Head<'_>, near: &impl Surroundings) -> bool {
        matches!(head.input, Input::Transit(_)) && (0..self.vcs()).any(|vc| self.passes(head, vc, near).is_some())
    }

    /// Ports of all channels that a head might take.
    pub(super) fn double_ports(&self, head: &Head<'_>, tell: impl FnMut(Port)) {
        let vcs = match (self.routing, head.input) {
            (Routing::DoubleOblivious | Routing::HexaOblivious, Input::Transit(input)) => input.vc..input.vc + 1,
            _ => 0..self.vcs(),
        };
        vcs.filter_map(|vc| self.next_in(vc, head.offsets)).for_each(tell);
    }

    /// A packet waits at last for its own channel, one that is not in the network yet for any: the first.
    pub(super) fn double_last_resort(&self, head: &Head<'_>) -> Option<OutputVc> {
        let vc = match head.input {
            Input::Transit(input) => input.vc,
            Input::Injection => 0,
        };
        Some(OutputVc { port: self.next_in(vc, head.offsets)?, vc })
    }
}
