//! Trees: up to a switch that has the destination below it, then down.
//!
//! Among several links up, and among several down into the same subtree, adaptive packets request the link with most
//! free space ahead. Static packets draw a channel at their endpoint and keep it. With channel c they leave a switch of
//! level s of a fat tree upwards by link (digit s of the source + c) mod k, in other trees by link (floor(destination /
//! k^s) + c) mod k', levels and digits counted from 0. Down they follow the digits of the destination.
//!
//! No packet goes up after it has gone down, so channels can be numbered such that packets wait for higher numbers
//! only: one channel suffices to exclude deadlock.

use trgen::NodeId;
use trgen::catalog::{Component, SpecError};

use super::{Candidate, Departure, SwitchRouting, Visit, plan};
use crate::router::RouterParams;
use crate::router::request::Input;
use crate::routing::{Avoidance, Choice, Requests, Routing, Row, Serves, Vcs};
use fsin_core::topology::Port;
use fsin_core::topology::switched::{Fabric, Stand, Switched, Tree as Plan};

pub(in crate::routing) const ADAPTIVE: Row = Row {
    component: Component {
        name: "tree:adaptive",
        about: "fattree, thintree, slimtree: up by the link with most free space ahead, open or not, of equals one drawn; \
                then down, in a slim tree by such a link too; V >= 1",
        parameters: &[],
        source: "Petrini and Vanneschi, k-ary n-trees, IPPS 1997",
    },
    aliases: &["adaptive"],
    serves: Serves::Only(&["fattree", "thintree", "slimtree"]),
    vcs: Vcs::AtLeast(1),
    dimensions: None,
    avoidance: Avoidance::Order,
    dead_links: false,
    requests: Requests::Switched { choice: Choice::MostSpace, alternatives: false },
};

pub(in crate::routing) const STATIC: Row = Row {
    component: Component {
        name: "tree:static",
        about: "fattree, thintree, slimtree: up by links that digits of the destination name; then down, where there are \
                several links by the one that the same digits name; V >= 1",
        parameters: &[],
        source: "Gomez, Gilabert, Gomez, Lopez, Duato, Deterministic versus adaptive routing in fat-trees, IPDPS 2007",
    },
    aliases: &["static", "d-mod-k"],
    serves: Serves::Only(&["fattree", "thintree", "slimtree"]),
    vcs: Vcs::AtLeast(1),
    dimensions: None,
    avoidance: Avoidance::Order,
    dead_links: false,
    requests: Requests::Switched { choice: Choice::Drawn, alternatives: false },
};

/// Routing function of a tree.
#[derive(Debug)]
pub(in crate::routing) struct Tree {
    /// True for `tree:adaptive`, false for `tree:static`.
    is_adaptive: bool,
    /// Number of endpoints, and number of the first switch.
    endpoints: u32,
    /// The construction plan of the tree.
    tree: Plan,
    /// By switch: its position, and its ports, down ports first.
    stands: Vec<(Stand, Box<[Port]>)>,
}

impl SwitchRouting for Tree {
    fn new(params: &RouterParams, network: &Switched) -> Result<Self, SpecError> {
        let (tree, fabric): (&Plan, _) = (plan(params, network)?, network.fabric());
        let switches = (fabric.endpoints()..fabric.nodes()).map(NodeId::at);
        let stands = switches.map(|switch| {
            let stand = tree.stand(switch);
            let places = stand.children * stand.strands + stand.parents;
            let ports = (0..places as usize).map(|place| fabric.port(switch, place));
            (stand, ports.collect())
        });
        Ok(Self {
            is_adaptive: params.routing == Routing::TreeAdaptive,
            endpoints: fabric.endpoints() as u32,
            tree: tree.clone(),
            stands: stands.collect(),
        })
    }

    /// Static packets keep their channel.
    #[inline]
    fn last_channels(&self, visit: &Visit<'_>, all: u32) -> u32 {
        match visit.input {
            Input::Transit(input) if !self.is_adaptive => 1 << input.vc,
            Input::Transit(_) | Input::Injection => all,
        }
    }

    fn single_candidate(&self, _fabric: &Fabric, _visit: &Visit<'_>, _home: NodeId) -> Option<Candidate> {
        None
    }

    fn candidates(
        &self,
        _fabric: &Fabric,
        visit: &Visit<'_>,
        _home: NodeId,
        all: u32,
        mut add_candidate: impl FnMut(Candidate),
    ) {
        let (stand, ports) = &self.stands[(visit.node.0 - self.endpoints) as usize];
        let below = visit.destination.0.wrapping_sub(stand.subtree * stand.span);
        let is_below = below < stand.span;
        let (first, count) = match is_below {
            true => (below / stand.child_span * stand.strands, stand.strands),
            false => (stand.children * stand.strands, stand.parents),
        };
        let vcs = self.last_channels(visit, all);
        let mut candidate =
            |place: u32| add_candidate(Candidate { port: ports[place as usize], vcs, tier: 0, hops: 1, bubble: false });
        if self.is_adaptive {
            (first..first + count).for_each(candidate);
        } else {
            let drawn_channel = vcs.trailing_zeros();
            let named = match is_below {
                true => self.tree.strand_to(stand, visit.destination),
                false => self.tree.parent_to(stand, if self.tree.is_fat() { visit.source } else { visit.destination }),
            };
            candidate(first + (named + drawn_channel) % count);
        }
    }

    fn may_weigh(&self) -> bool {
        false
    }

    fn weighs(&self, _visit: &Visit<'_>) -> bool {
        false
    }

    #[inline(always)]
    fn hop(&self, _fabric: &Fabric, _at: &Departure, _port: Port, _state: &mut [i16]) {}
}
