//! Dateline channels that break every ring: no bubble.
//!
//! Without a cycle in the channel dependency graph there is no deadlock. On a ring the cycle is broken at the
//! wrap-around. With `basic` and `improved`, a packet that still has to wrap waits for channel 0 only, and any other
//! packet can always take channel 1. With `trc`, a packet that has passed coordinate 0 takes channel 0, and others take
//! channel 1. No minimal route passes a coordinate twice.

use trgen::Geometry;
use trgen::rng::Purpose;

use super::{Head, Input, OutputVc, Requests, Surroundings, draw};
use crate::router::layout::Layout;
use fsin_core::routing::Routing;
use fsin_core::topology::Port;

/// A dimension of a grid, for computing coordinates.
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

    /// Dimension order; one of two channels is drawn, and the other is taken if the first has no room.
    #[inline(never)]
    pub(super) fn dally(&self, head: &Head<'_>, near: &impl Surroundings) -> Option<OutputVc> {
        let port = self.deterministic(head)?;
        let channels = self.dally_channels(head, port);
        let passing = self.passing(head, port, channels, near);
        let vc = match passing {
            0 => return None,
            3 => draw(head, Purpose::VirtualChannel, 2) as u8,
            one => one.trailing_zeros() as u8,
        };
        Some(OutputVc { port, vc })
    }

    /// A channel of dimension order that passes and that no packet owns.
    pub(super) fn dally_open(&self, head: &Head<'_>, near: &impl Surroundings) -> Option<OutputVc> {
        let port = self.deterministic(head)?;
        let open = self.passing(head, port, self.dally_channels(head, port), near) & near.open(port);
        (open != 0).then(|| OutputVc { port, vc: open.trailing_zeros() as u8 })
    }

    /// The channel that a packet can wait for without a cyclic dependency: the last of those that it may take.
    pub(super) fn dally_last_resort(&self, head: &Head<'_>, port: Port) -> u8 {
        self.dally_channels(head, port).ilog2() as u8
    }
}
