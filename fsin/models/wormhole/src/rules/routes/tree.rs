//! Trees: up to a switch that has the destination below it, then down. No packet goes up after it has gone down, so
//! that the channels can be numbered in such a way that packets wait for channels of higher numbers only.

use fsin_core::topology::switched::{Stand, Tree as Plan};
use fsin_core::topology::{Port, Topology};
use trgen::NodeId;
use trgen::catalog::{Component, SpecError};

use super::row::{Choice, Function, Networks, Row, Vcs, Visit, Wake};
use super::{Candidate, Draw, Head, Ring, Tier, mask, planned};
use crate::params::{Params, Routing};

pub(super) static ADAPTIVE: Row = Row {
    component: Component {
        name: "adaptive",
        about: "trees: the link up with most credits, then down",
        parameters: &[],
        source: "Petrini, Vanneschi, k-ary n-trees: high performance networks for massively parallel architectures, 1997",
    },
    routing: Routing::Adaptive,
    networks: Networks::Trees,
    vcs: Vcs::of(1, ""),
    wake: Wake::Credits,
    choice: Choice::Never,
};

pub(super) static MINIMAL: Row = Row {
    component: Component {
        name: "minimal",
        about: "trees: up by links that are drawn, then down",
        parameters: &[],
        source: "Leiserson, Fat-trees: universal networks for hardware-efficient supercomputing, 1985",
    },
    routing: Routing::Minimal,
    networks: Networks::Trees,
    vcs: Vcs::of(1, ""),
    wake: Wake::Release,
    choice: Choice::Never,
};

/// Routes of a tree.
#[derive(Debug)]
pub(super) struct Tree {
    /// True if the link up is chosen by credits, false if it is drawn.
    adaptive: bool,
    /// All VCs, as a mask.
    all: u32,
    /// By switch: its position in the tree, and its ports, those that lead down first.
    positions: Vec<(Stand, Box<[Port]>)>,
}

impl Function for Tree {
    fn new(row: &'static Row, params: &Params, topology: &dyn Topology) -> Result<Self, SpecError> {
        let (plan, fabric) = planned::<Plan>(topology)?;
        let switches = (fabric.endpoints()..fabric.nodes()).map(NodeId::at);
        let positions = switches.map(|switch| {
            let stand = plan.stand(switch);
            let places = stand.children * stand.strands + stand.parents;
            (stand, (0..places as usize).map(|place| fabric.port(switch, place)).collect())
        });
        let adaptive = row.wake == Wake::Credits;
        Ok(Self { adaptive, all: mask(params.vcs), positions: positions.collect() })
    }

    fn candidates(&self, at: Visit, head: &Head, draw: &mut impl Draw, into: &mut Vec<Candidate>) {
        let router = at.here;
        let (stand, ports) = &self.positions[router];
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

    fn decisions(&self, _: Visit, head: &Head, _: &mut impl Draw) -> Vec<u8> {
        vec![head.phase]
    }

    fn decide(&self, _: Visit, head: &Head, _: &mut impl Draw, _: impl Fn(Candidate) -> u32) -> u8 {
        head.phase
    }

    fn hop(&self, _: usize, _: usize, phase: u8, _: &mut impl Draw) -> u8 {
        phase
    }

    fn rings(&self) -> Option<Vec<Ring>> {
        None
    }
}
