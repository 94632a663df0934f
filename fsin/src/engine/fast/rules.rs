//! What all parts of a network share: settings, and the arithmetic of numbers.

use std::ops::Deref;

use crate::router::request::{OutputVc, Requests};
use crate::router::{Consumption, RouterParams};
use crate::topology::Shape;

/// Settings of the router, prepared for use in every cycle.
///
/// Lanes are numbered by node and local number, links by node and port; the local part takes a power of two, so that
/// taking a number apart needs no division. The number of a lane in its part is called its place.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    params: RouterParams,
    pub(super) requests: Requests,
    pub(super) shape: Shape,
    /// Outputs (and transit queues) of each node.
    pub(super) outputs: usize,
    /// log2 of the span of local lane numbers, and of local link numbers.
    pub(super) lane_bits: u32,
    pub(super) link_bits: u32,
    /// By local output.
    pub(super) channel_of: [OutputVc; 64],
    /// \[phits\] Length of a packet less one: the tail leaves so many cycles after the header.
    pub(super) tail: u64,
    pub(super) single_consumption: bool,
    /// Senders must know the free space behind their channels phit by phit.
    pub(super) compares_space: bool,
}

impl Deref for Rules {
    type Target = RouterParams;

    fn deref(&self) -> &RouterParams {
        &self.params
    }
}

impl Rules {
    pub(super) fn new(params: RouterParams, shape: Shape) -> Self {
        let outputs = shape.ports() * params.vcs;
        let lanes = outputs + params.injectors;
        let requests = Requests::new(&params, shape);
        Self {
            compares_space: requests.compare_space(),
            requests,
            shape,
            outputs,
            lane_bits: lanes.next_power_of_two().trailing_zeros(),
            link_bits: shape.ports().next_power_of_two().trailing_zeros(),
            channel_of: std::array::from_fn(|output| OutputVc::at(output, params.vcs)),
            tail: u64::from(params.packet_phits) - 1,
            single_consumption: params.consumption == Consumption::Single,
            params,
        }
    }

    #[inline]
    pub(super) const fn place(&self, node: usize, lane: usize) -> usize {
        node << self.lane_bits | lane
    }

    /// Node and local number of a lane.
    #[inline]
    pub(super) const fn apart(&self, place: usize) -> (usize, usize) {
        (place >> self.lane_bits, place & ((1 << self.lane_bits) - 1))
    }

    #[inline]
    pub(super) const fn link(&self, node: usize, port: usize) -> usize {
        node << self.link_bits | port
    }

    /// The port of an output channel, or of the transit queue of that number.
    #[inline]
    pub(super) const fn port_of(&self, output: usize) -> usize {
        self.channel_of[output & 63].port.index()
    }

    /// The channels of a port, moved to the lowest bits.
    #[inline]
    pub(super) const fn channels(&self, mask: u64, port: usize) -> u64 {
        mask >> (port * self.params.vcs) & ((1 << self.params.vcs) - 1)
    }
}
