//! Channels with an order of dimensions each.
//!
//! A packet in channel c traverses the dimensions in the order of c, with the bubble wherever it enters a ring. The
//! channels are independent virtual networks: in each of them a blocked packet can wait for its own next ring, which
//! drains by itself. So a packet may also change to a channel that passes; it never *has to* wait for one.
//!
//! The original requires the bubble of the hexa modes on channel 0 only, which can deadlock; here it is required on
//! all.

use trgen::rng::Purpose;

use super::{Head, Input, OutputVc, Requests, Surroundings, Wait, draw};
use crate::router::layout::Layout;
use fsin_core::routing::Routing;
use fsin_core::topology::Port;

impl<L: Layout> Requests<L> {
    /// The next output of a packet in the order of channel `vc`.
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

    /// The channel that a head tries first: its own; at injection one of all, drawn before its state is examined.
    fn first_channel(&self, head: &Head<'_>) -> u8 {
        match head.input {
            Input::Transit(input) => input.vc,
            Input::Injection => draw(head, Purpose::VirtualChannel, u32::from(self.vcs())) as u8,
        }
    }

    /// The output of its channel if it passes. Where it `may_change`, else the output of the next channel, cyclically,
    /// that passes.
    #[inline(never)]
    pub(super) fn double(&self, head: &Head<'_>, near: &impl Surroundings, may_change: bool) -> Option<OutputVc> {
        let (first, vcs) = (self.first_channel(head), self.vcs());
        let tries = if may_change { vcs } else { 1 };
        (0..tries).find_map(|step| self.passes(head, (first + step) % vcs, near))
    }

    /// The output of a channel, if it passes.
    fn passes(&self, head: &Head<'_>, vc: u8, near: &impl Surroundings) -> Option<OutputVc> {
        let port = self.next_in(vc, head.offsets)?;
        (self.passing_bubble(head, port, 1 << vc, near) != 0).then_some(OutputVc { port, vc })
    }

    /// True if packets may change channels under way.
    const fn may_change_channel(&self) -> bool {
        matches!(self.routing, Routing::DoubleAdaptive | Routing::HexaAdaptive)
    }

    /// While any of its channels passes and is open the head may request that channel: because it is drawn, or because
    /// those before it no longer pass.
    pub(super) fn double_wait(&self, head: &Head<'_>, near: &impl Surroundings) -> Wait {
        if matches!(head.input, Input::Transit(_)) && !self.may_change_channel() {
            return Wait::Opening;
        }
        let is_open = |output: OutputVc| near.open(output.port) & 1 << output.vc != 0;
        let any = (0..self.vcs()).any(|vc| self.passes(head, vc, near).is_some_and(is_open));
        if any { Wait::Poll } else { Wait::Opening }
    }

    /// Ports of all channels that a head might take.
    pub(super) fn double_ports(&self, head: &Head<'_>, tell: impl FnMut(Port)) {
        let vcs = match (self.routing, head.input) {
            (Routing::DoubleOblivious | Routing::HexaOblivious, Input::Transit(input)) => input.vc..input.vc + 1,
            _ => 0..self.vcs(),
        };
        vcs.filter_map(|vc| self.next_in(vc, head.offsets)).for_each(tell);
    }

    /// The blocking channel of a packet: its own, or the first for a packet that is not in the network yet.
    pub(super) fn double_last_resort(&self, head: &Head<'_>) -> Option<OutputVc> {
        let vc = match head.input {
            Input::Transit(input) => input.vc,
            Input::Injection => 0,
        };
        Some(OutputVc { port: self.next_in(vc, head.offsets)?, vc })
    }
}
