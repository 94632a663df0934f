//! Trees: up to a switch that has the destination below it, then down. No packet goes up after it has gone down, so
//! that channels can be numbered such that packets wait for higher numbers only.

use fsin_core::topology::Port;
use fsin_core::topology::switched::{Fabric, Stand, Tree as Plan};
use trgen::NodeId;

use super::{Candidate, Draw, Head, Tier};

/// Routes of a tree.
#[derive(Debug)]
pub(super) struct Tree {
    adaptive: bool,
    all: u32,
    /// By switch: where it stands, and its ports, those down first.
    stands: Vec<(Stand, Box<[Port]>)>,
}

impl Tree {
    pub(super) fn new(plan: &Plan, fabric: &Fabric, adaptive: bool, all: u32) -> Self {
        let switches = (fabric.endpoints()..fabric.nodes()).map(NodeId::at);
        let stands = switches.map(|switch| {
            let stand = plan.stand(switch);
            let places = stand.children * stand.strands + stand.parents;
            (stand, (0..places as usize).map(|place| fabric.port(switch, place)).collect())
        });
        Self { adaptive, all, stands: stands.collect() }
    }

    pub(super) const fn is_adaptive(&self) -> bool {
        self.adaptive
    }

    pub(super) fn candidates(&self, router: usize, head: &Head, draw: &mut impl Draw, into: &mut Vec<Candidate>) {
        let (stand, ports) = &self.stands[router];
        let below = head.destination.wrapping_sub(stand.subtree * stand.span);
        let (first, count) = match below < stand.span {
            true => (below / stand.child_span * stand.strands, stand.strands),
            false => (stand.children * stand.strands, stand.parents),
        };
        let mut candidate = |place: u32| {
            let port = ports[place as usize].0;
            into.push(Candidate { port, vcs: self.all, tier: Tier::Free });
        };
        if self.adaptive {
            (first..first + count).for_each(candidate);
        } else {
            let drawn = if count > 1 { draw.draw(router as u32, count) } else { 0 };
            candidate(first + drawn);
        }
    }
}
