//! Channels that cut every ring open: no bubble.
//!
//! Without a cycle among the channels that packets wait for there is no deadlock. On a ring the cycle is broken where it
//! wraps: who still has to wrap waits for channel 0 only, who need not can always take channel 1 (`basic`, `improved`);
//! or who has passed coordinate 0 takes channel 0, and others channel 1 (`trc`). No minimal route passes a coordinate
//! twice.

use trgen::Geometry;

use super::{Head, Input, OutputVc, Requests, Surroundings, drawn_vc};
use crate::router::layout::Layout;
use crate::routing::Routing;
use crate::topology::Port;

/// A dimension of a grid, to find coordinates with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Ring {
    /// Distance between the numbers of neighbours.
    stride: u32,
    /// \[nodes\]
    size: u32,
}

impl Ring {
    pub(super) fn of(geometry: &Geometry) -> Box<[Self]> {
        let rings = geometry.sizes().iter().scan(1u32, |stride, &size| {
            let ring = Self { stride: *stride, size };
            *stride = stride.wrapping_mul(size);
            Some(ring)
        });
        rings.collect()
    }
}

impl<L: Layout> Requests<L> {
    /// The channels that a head may take on the output `port` of its deterministic route, as a mask.
    fn dally_channels(&self, head: &Head<'_>, port: Port) -> u32 {
        let (dimension, _) = self.layout.shape().direction(port);
        let Ring { stride, size } = self.rings[dimension];
        let coordinate = head.node.0 / stride % size;
        if self.routing == Routing::DallyTrc {
            let behind = matches!(head.input, Input::Transit(input) if input.port == port && input.vc == 0);
            return if coordinate == 0 || behind { 1 } else { 2 };
        }
        let end = i64::from(coordinate) + i64::from(head.offsets[dimension]);
        match (0..i64::from(size)).contains(&end) {
            false => 1,
            true if self.routing == Routing::DallyBasic => 2,
            true => 3,
        }
    }

    /// Dimension order, on a channel that passes.
    #[inline(never)]
    pub(super) fn dally(&self, head: &Head<'_>, near: &impl Surroundings) -> Option<OutputVc> {
        let port = self.deterministic(head)?;
        drawn_vc(head, port, self.passing(head, port, self.dally_channels(head, port), near))
    }

    /// Any profitable adaptive channel that passes; else dimension order.
    #[inline(never)]
    pub(super) fn dally_adaptive(&self, head: &Head<'_>, near: &impl Surroundings) -> Option<OutputVc> {
        self.random(head, near).or_else(|| self.dally(head, near))
    }

    /// The channel that a packet can wait for without a cycle: the last of those that it may take.
    pub(super) fn dally_last_resort(&self, head: &Head<'_>, port: Port) -> u8 {
        self.dally_channels(head, port).ilog2() as u8
    }
}
