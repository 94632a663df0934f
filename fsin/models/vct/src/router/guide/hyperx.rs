//! HyperX: one hop in each dimension in which the packet is not aligned with its destination.
//!
//! `dor` goes through the dimensions in order: channels of a later dimension never wait for those of an earlier one, so
//! one channel suffices to exclude deadlock. `adaptive` weighs, on channels from 1 on, the last hop of each remaining
//! dimension against a deroute to any other switch of that row, which a packet may take once in each dimension. Channel
//! 0 is the escape channel, in dimension order. (After DAL: Ahn et al., SC 2009, section 4, which uses the escape
//! channel in the same way.)

use trgen::NodeId;

use super::Visit;
use super::Way;
use fsin_core::topology::Port;
use fsin_core::topology::switched::{Fabric, Hyperx};

/// Routing function of a HyperX.
#[derive(Debug)]
pub(super) struct HyperxGuide {
    plan: Hyperx,
    adaptive: bool,
    first: u32,
    /// By switch and dimension.
    coordinates: Vec<u8>,
    /// By switch and place.
    ports: Vec<Port>,
    places: usize,
}

impl HyperxGuide {
    pub(super) fn new(plan: &Hyperx, fabric: &Fabric, adaptive: bool) -> Self {
        let switches = || (fabric.endpoints()..fabric.nodes()).map(NodeId::at);
        let places = fabric.degree(NodeId::at(fabric.endpoints()));
        Self {
            adaptive,
            first: fabric.endpoints() as u32,
            coordinates: switches()
                .flat_map(|switch| plan.coordinates(switch).map(|coordinate| coordinate as u8))
                .collect(),
            ports: switches().flat_map(|switch| (0..places).map(move |place| fabric.port(switch, place))).collect(),
            places,
            plan: plan.clone(),
        }
    }

    fn coordinates(&self, switch: NodeId) -> &[u8] {
        let dimensions = self.plan.sizes.len();
        &self.coordinates[(switch.0 - self.first) as usize * dimensions..][..dimensions]
    }

    pub(super) fn ways(&self, vcs: u32, visit: &Visit<'_>, home: NodeId, mut see: impl FnMut(Way)) {
        let (here, there) = (self.coordinates(visit.node), self.coordinates(home));
        let ports = &self.ports[(visit.node.0 - self.first) as usize * self.places..][..self.places];
        let left = || (0..here.len()).filter(|&dimension| here[dimension] != there[dimension]);
        let port = |dimension: usize, to: u8| ports[self.plan.place(dimension, here[dimension].into(), to.into())];
        if !self.adaptive {
            if let Some(dimension) = left().next() {
                see(Way { port: port(dimension, there[dimension]), vcs, tier: 0, hops: 1, bubble: false });
            }
            return;
        }
        let hops = left().count() as u8;
        for dimension in left() {
            see(Way { port: port(dimension, there[dimension]), vcs: vcs & !1, tier: 0, hops, bubble: false });
            if visit.state[0] & 1 << dimension != 0 {
                continue;
            }
            for to in 0..self.plan.sizes[dimension] as u8 {
                if to != here[dimension] && to != there[dimension] {
                    see(Way { port: port(dimension, to), vcs: vcs & !1, tier: 0, hops: hops + 1, bubble: false });
                }
            }
        }
        if let Some(dimension) = left().next() {
            see(Way { port: port(dimension, there[dimension]), vcs: 1, tier: 1, hops, bubble: false });
        }
    }

    pub(super) fn weighs(&self) -> bool {
        self.adaptive
    }

    /// Records the dimensions in which the packet has been derouted.
    pub(super) fn hop(&self, node: NodeId, next: NodeId, home: NodeId, state: &mut [i16]) {
        let (before, after, there) = (self.coordinates(node), self.coordinates(next), self.coordinates(home));
        for dimension in 0..before.len() {
            if before[dimension] != after[dimension] && after[dimension] != there[dimension] {
                state[0] |= 1 << dimension;
            }
        }
    }
}
