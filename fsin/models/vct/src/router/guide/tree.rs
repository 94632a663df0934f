//! Trees: up to a switch that has the destination below it, then down.
//!
//! Among several links up, and among several down into the same subtree, adaptive packets request the link with most
//! free space ahead. Static packets draw a channel at their endpoint and keep it. With channel c they leave a switch of
//! level s of a fat tree upwards by link (digit s of the source + c) mod k, in other trees by link (digit s of the
//! destination + c) mod k', levels and digits counted from 0. Down they follow the digits of the destination.
//!
//! No packet goes up after it has gone down, so channels can be numbered such that packets wait for higher numbers
//! only: one channel suffices to exclude deadlock.

use trgen::NodeId;

use super::{Visit, Way};
use crate::router::request::Input;
use fsin_core::topology::Port;
use fsin_core::topology::switched::{Fabric, Stand, Tree};

/// Routing function of a tree.
#[derive(Debug)]
pub(super) struct TreeGuide {
    adaptive: bool,
    endpoints: u32,
    tree: Tree,
    /// By switch: its position, and its ports, down ports first.
    stands: Vec<(Stand, Box<[Port]>)>,
}

impl TreeGuide {
    pub(super) fn new(tree: &Tree, fabric: &Fabric, adaptive: bool) -> Self {
        let switches = (fabric.endpoints()..fabric.nodes()).map(NodeId::at);
        let stands = switches.map(|switch| {
            let stand = tree.stand(switch);
            let places = stand.children * stand.strands + stand.parents;
            let ports = (0..places as usize).map(|place| fabric.port(switch, place));
            (stand, ports.collect())
        });
        Self { adaptive, endpoints: fabric.endpoints() as u32, tree: tree.clone(), stands: stands.collect() }
    }

    /// True if packets choose among the links up, and among those into a subtree.
    pub(super) const fn is_adaptive(&self) -> bool {
        self.adaptive
    }

    /// The channels that a packet may take at a switch: static packets keep theirs.
    #[inline]
    pub(super) const fn channels(&self, vcs: u32, visit: &Visit<'_>) -> u32 {
        match visit.input {
            Input::Transit(input) if !self.adaptive => 1 << input.vc,
            _ => vcs,
        }
    }

    pub(super) fn ways(&self, vcs: u32, visit: &Visit<'_>, mut see: impl FnMut(Way)) {
        let (stand, ports) = &self.stands[(visit.node.0 - self.endpoints) as usize];
        let below = visit.destination.0.wrapping_sub(stand.subtree * stand.span);
        let is_below = below < stand.span;
        let (first, count) = match is_below {
            true => (below / stand.child_span * stand.strands, stand.strands),
            false => (stand.children * stand.strands, stand.parents),
        };
        let vcs = self.channels(vcs, visit);
        let mut way = |place: u32| see(Way { port: ports[place as usize], vcs, tier: 0, hops: 1, bubble: false });
        if self.adaptive {
            (first..first + count).for_each(way);
        } else {
            let own = vcs.trailing_zeros();
            let named = match is_below {
                true => self.tree.strand_to(stand, visit.destination),
                false => self.tree.parent_to(stand, if self.tree.is_fat() { visit.source } else { visit.destination }),
            };
            way(first + (named + own) % count);
        }
    }
}
