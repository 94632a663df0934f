//! Trees: up to a switch that has the destination below it, then down.
//!
//! No packet goes up after it has gone down, so that channels can be numbered such that packets wait for higher numbers
//! only: nothing locks, with one channel already.

use trgen::NodeId;

use super::Way;
use crate::topology::Port;
use crate::topology::switched::{Fabric, Stand, Tree};

/// Ways of a tree.
#[derive(Debug)]
pub(super) struct TreeGuide {
    adaptive: bool,
    endpoints: u32,
    /// By switch: where it stands, and its ports, those down first.
    stands: Vec<(Stand, Box<[Port]>)>,
}

impl TreeGuide {
    pub(super) fn new(tree: &Tree, fabric: &Fabric, adaptive: bool) -> Self {
        let switches = (fabric.endpoints()..fabric.nodes()).map(NodeId::at);
        let stands = switches.map(|switch| {
            let stand = tree.stand(switch);
            let ports = (0..(stand.children + stand.parents) as usize).map(|place| fabric.port(switch, place));
            (stand, ports.collect())
        });
        Self { adaptive, endpoints: fabric.endpoints() as u32, stands: stands.collect() }
    }

    pub(super) fn ways(&self, vcs: u32, node: NodeId, destination: NodeId, mut see: impl FnMut(Way)) {
        let (stand, ports) = &self.stands[(node.0 - self.endpoints) as usize];
        let digit = destination.0 % stand.span / stand.child_span;
        let mut way = |place: u32| see(Way { port: ports[place as usize], vcs, tier: 0, hops: 1, bubble: false });
        if destination.0 / stand.span == stand.subtree {
            way(digit);
        } else if self.adaptive {
            (0..stand.parents).for_each(|parent| way(stand.children + parent));
        } else {
            // All packets of a destination come together on their way up, those of its neighbours apart from them.
            way(stand.children + digit % stand.parents);
        }
    }
}
