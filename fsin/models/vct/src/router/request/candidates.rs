//! Candidate masks: the output channels that a packet may request, where they follow from its hops to go alone. A head
//! need not be examined while none of them is open.

use super::{RouteRules, WORD};
use crate::router::layout::{Layout, is_switched};
use fsin_core::topology::Port;

impl<L: Layout> RouteRules<L> {
    /// The candidate mask of a packet with these hops to go: while none of these output channels is open, its head
    /// makes no request. All channels, where the mask depends on more than the hops.
    #[must_use]
    #[inline(always)]
    pub fn candidates(&self, offsets: &[i16], long: bool) -> u64 {
        if is_switched!(self.layout, L) || !self.masks_candidates {
            return u64::MAX;
        }
        let shape = self.layout.shape();
        // The array may be longer than the number of dimensions.
        let offsets = &offsets[..shape.dimensions];
        let channels = |port: Port| self.layout.channels(port.index());
        let escape = self.order.next(shape, offsets).map_or(0, channels);
        if long && self.long_on_escape {
            return escape & self.escapes;
        }
        let profitable = (0..shape.dimensions)
            .filter(|&dimension| offsets[dimension] != 0)
            .fold(0, |mask, dimension| mask | channels(shape.port(dimension, offsets[dimension] > 0)));
        profitable & !self.escapes | escape & self.escapes
    }

    /// The candidate mask of a packet with these [candidates](Self::candidates) after it has left through a port;
    /// `is_last` if that was its last hop in a dimension, as [`hop`](Self::hop) says.
    #[inline(always)]
    pub fn candidates_next(&self, wanted: u64, port: Port, is_last: bool, offsets: &[i16], long: bool) -> u64 {
        if !self.masks_in_order {
            return if is_last { self.candidates(offsets, long) } else { wanted };
        }
        // Unpredictable, so computed without a branch. The first adaptive channel that is left is next to the escape
        // channel of its port.
        let gone = self.layout.channels(port.index()) & u64::from(is_last).wrapping_neg();
        let adaptive = wanted & !gone & !self.escapes;
        adaptive | (adaptive & adaptive.wrapping_neg()) >> 1
    }

    /// True for `bubble:smart` where only room and bubble matter: blocked heads can be handled all together.
    #[inline(always)]
    pub const fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// The first channel of each port, as a mask of outputs: the escape channels where there are any.
    #[inline(always)]
    pub(crate) const fn escapes(&self) -> u64 {
        self.escapes
    }

    /// The first channel of each port, as a mask of outputs; for routers whose queues fit in a word.
    pub(super) fn first_channels(layout: L) -> u64 {
        let outputs = layout.outputs();
        (0..outputs.min(WORD))
            .filter(|&output| layout.channel(output).vc == 0)
            .fold(0, |mask, output| mask | 1 << output)
    }
}

#[cfg(test)]
mod tests {
    use trgen::NodeId;

    use super::*;
    use crate::router::RouterParams;
    use crate::router::layout::AnySize;
    use crate::routing::{Order, Routing};
    use fsin_core::topology::parse;

    /// On every route of packets whose hops come in random orders.
    #[test]
    fn what_is_wanted_next_is_what_is_wanted_there() {
        let mut key = 1u64;
        let mut draw = |bound: usize| {
            key = trgen::rng::mix(key + 1);
            key as usize % bound
        };
        for (spec, ways) in
            [("torus:5x6", 2), ("torus:4x3x5", 2), ("torus:5x4", 1), ("mesh:4x4", 2), ("hypercube:6", 1)]
        {
            let topology = parse(spec, ways).unwrap_or_else(|refusal| panic!("{spec}: {refusal}"));
            let shape = topology.shape();
            for routing in
                [Routing::BubbleSmart, Routing::BubbleRandom, Routing::BubbleShortest, Routing::BubbleBimodal]
            {
                for (vcs, order) in [(2, Order::Dimension), (4, Order::Dimension), (3, Order::Direction)] {
                    let params = RouterParams { routing, vcs, order, ..RouterParams::default() };
                    let checked = params.check(&*topology).unwrap_or_else(|refusal| panic!("{spec}: {refusal}"));
                    let requests = RouteRules::new(&checked, AnySize { shape, vcs }, &*topology);
                    for packet in 0..200 {
                        let long = packet % 2 == 1;
                        let (from, to) = (NodeId::at(draw(topology.nodes())), NodeId::at(draw(topology.nodes())));
                        let mut offsets = requests.route(&*topology, from, to, packet);
                        let mut wanted = requests.candidates(&offsets, long);
                        loop {
                            let left: Vec<usize> = (0..shape.dimensions).filter(|&at| offsets[at] != 0).collect();
                            if left.is_empty() {
                                break;
                            }
                            let dimension = left[draw(left.len())];
                            let port = shape.port(dimension, offsets[dimension] > 0);
                            let is_last = requests.hop(from, to, packet, port, &mut offsets);
                            wanted = requests.candidates_next(wanted, port, is_last, &offsets, long);
                            assert_eq!(
                                wanted,
                                requests.candidates(&offsets, long),
                                "{spec} {routing:?} {vcs} {offsets:?}"
                            );
                        }
                        assert_eq!(wanted, 0);
                    }
                }
            }
        }
    }
}
