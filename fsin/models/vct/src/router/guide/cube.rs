//! Indirect cubes: the bubble router among switches.
//!
//! `oblivious` routes in dimension order and keeps its channel while it goes straight, as in a torus. `adaptive` takes
//! any profitable port on channels from 1 on, or channel 0 in dimension order, with equal priority. A packet that
//! enters a ring on a channel of dimension order needs room for the bubble in the queue **ahead** of it, as in the
//! original, so that no ring fills up. Rings of a later dimension never wait for those of an earlier one. (Puente, Izu,
//! Beivide et al., The adaptive bubble router, JPDC 61(9), 2001.)

use trgen::NodeId;

use super::{Visit, Way};
use crate::router::request::{Input, draw_direction};
use fsin_core::topology::Port;
use fsin_core::topology::switched::{Cube, Fabric};

/// Routing function of an indirect cube.
#[derive(Debug)]
pub(super) struct CubeGuide {
    plan: Cube,
    adaptive: bool,
    first: u32,
    /// By switch and dimension.
    coordinates: Vec<u16>,
}

impl CubeGuide {
    pub(super) fn new(plan: &Cube, fabric: &Fabric, adaptive: bool) -> Self {
        let switches = (fabric.endpoints()..fabric.nodes()).map(NodeId::at);
        Self {
            adaptive,
            first: fabric.endpoints() as u32,
            coordinates: switches.flat_map(|switch| plan.coordinates(switch).map(|at| at as u16)).collect(),
            plan: plan.clone(),
        }
    }

    /// True if packets choose among channels.
    pub(super) const fn is_adaptive(&self) -> bool {
        self.adaptive
    }

    fn coordinates(&self, switch: NodeId) -> &[u16] {
        let dimensions = self.plan.sizes.len();
        &self.coordinates[(switch.0 - self.first) as usize * dimensions..][..dimensions]
    }

    /// Profitable ports, in the order of dimensions. At equal distance both ways round a ring the direction is drawn;
    /// after one hop the other way is longer.
    fn profitable<'a>(&'a self, visit: &Visit<'a>, home: NodeId) -> impl Iterator<Item = Port> + 'a {
        let (here, there, key) = (self.coordinates(visit.node), self.coordinates(home), visit.key);
        (0..here.len()).filter(|&dimension| here[dimension] != there[dimension]).map(move |dimension| {
            let size = self.plan.sizes[dimension];
            let ahead = (u32::from(there[dimension]) + size - u32::from(here[dimension])) % size;
            let positive = 2 * ahead < size || (2 * ahead == size && draw_direction(key, dimension));
            self.plan.port(dimension, positive)
        })
    }

    pub(super) fn ways(&self, vcs: u32, visit: &Visit<'_>, home: NodeId, mut see: impl FnMut(Way)) {
        // The tier marks the escape channel, which has equal priority.
        let way = |port, vcs, tier, bubble| Way { port, vcs, tier, hops: 1, bubble };
        let Some(next) = self.profitable(visit, home).next() else { return };
        if !self.adaptive {
            let kept = match visit.input {
                Input::Transit(input) if input.port == next => 1 << input.vc,
                _ => vcs,
            };
            return see(way(next, kept, 0, true));
        }
        self.profitable(visit, home).for_each(|port| see(way(port, vcs & !1, 0, false)));
        see(way(next, 1, 1, true));
    }
}
