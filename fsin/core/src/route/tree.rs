//! Trees: up to a switch that has the destination below it, then down. No packet goes up after it has gone down, so
//! that the channels can be numbered in such a way that packets wait for channels of higher numbers only: one suffices.

use trgen::NodeId;
use trgen::catalog::{Component, SpecError};

use super::table::{Build, Choice, Function, Row, Serves, fabric, planned};
use super::{ChannelPolicy, Draw, Hop, LANE, RoutingFunction, Visit};
use crate::topology::Port;
use crate::topology::switched::{Stand, Tree as Plan};

const TREES: Serves = Serves::Only(&["fattree", "thintree", "slimtree"]);

/// Up by the best link.
pub static ADAPTIVE: Row = Row {
    component: Component {
        name: "adaptive",
        about: "trees: up by the link with most free space ahead, of equals one drawn; then down, in a slim tree by such a \
                link too",
        parameters: &[],
        source: "Petrini, Vanneschi, k-ary n-trees: high performance networks for massively parallel architectures, 1997",
    },
    aliases: super::grid::MINIMAL_ADAPTIVE,
    serves: TREES,
    policy: ChannelPolicy::Free,
    why: "",
    choice: Choice::Any,
    build: |build| Tree::build(build, Up::Any),
};

/// Up by digits.
pub static STATIC: Row = Row {
    component: Component {
        name: "static",
        about: "trees: up by links that digits of the destination name, in a fat tree of the source; then down, where there \
                are several links by the one that the same digits name; a channel is drawn, kept, and added to the digits",
        parameters: &[],
        source: "Gomez, Gilabert, Gomez, Lopez, Duato, Deterministic versus adaptive routing in fat-trees, IPDPS 2007",
    },
    aliases: &["d-mod-k", "tree:static"],
    serves: TREES,
    policy: ChannelPolicy::ByClass,
    why: "",
    choice: Choice::One,
    build: |build| Tree::build(build, Up::Digits),
};

/// Up at random.
pub(super) static MINIMAL: Row = Row {
    component: Component {
        name: "minimal",
        about: "trees: up by links that are drawn, then down",
        parameters: &[],
        source: "Leiserson, Fat-trees: universal networks for hardware-efficient supercomputing, 1985",
    },
    aliases: &[],
    serves: TREES,
    policy: ChannelPolicy::Free,
    why: "",
    choice: Choice::One,
    build: |build| Tree::build(build, Up::Drawn),
};

/// How one of several links is chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Up {
    /// By the model.
    Any,
    /// By digits of source and destination.
    Digits,
    /// At random.
    Drawn,
}

/// Routes of a tree.
#[derive(Debug)]
pub struct Tree {
    up: Up,
    /// The construction plan of the tree, and whether it is a fat tree.
    plan: Plan,
    is_fat: bool,
    /// Number of channels of which a packet keeps one.
    lanes: u32,
    /// By switch: its position, and its ports, those that lead down first.
    positions: Vec<(Stand, Box<[u8]>)>,
    /// The specification.
    spec: String,
}

impl Tree {
    fn build(build: &Build<'_>, up: Up) -> Result<Function, SpecError> {
        let (plan, fabric) = (planned::<Plan>(build.topology)?, fabric(build.topology)?);
        let positions = (fabric.endpoints()..fabric.nodes()).map(NodeId::at).map(|switch| {
            let stand = plan.stand(switch);
            let places = stand.children * stand.strands + stand.parents;
            let ports = (0..places as usize).map(|place| fabric.port(switch, place));
            (stand, ports.map(|Port(number)| number).collect())
        });
        Ok(Function::Tree(Self {
            up,
            positions: positions.collect(),
            is_fat: plan.is_fat(),
            plan: plan.clone(),
            lanes: if up == Up::Digits { build.vcs as u32 } else { 1 },
            spec: build.topology.spec(),
        }))
    }
}

impl RoutingFunction for Tree {
    fn classes(&self) -> usize {
        self.lanes as usize
    }

    fn has_phases(&self) -> bool {
        false
    }

    #[inline]
    fn hops(&self, at: &Visit, draw: &mut impl Draw, mut add: impl FnMut(Hop)) {
        let (stand, ports) = &self.positions[at.here];
        let below = at.destination.wrapping_sub(stand.subtree * stand.span);
        let is_below = below < stand.span;
        let (first, count) = match is_below {
            true => (below / stand.child_span * stand.strands, stand.strands),
            false => (stand.children * stand.strands, stand.parents),
        };
        let port = |place: u32| ports[place as usize];
        match self.up {
            Up::Any => (first..first + count).for_each(|place| add(Hop::free(port(place)))),
            Up::Drawn => {
                let drawn = if count > 1 { draw.draw(at.here as u32, count) } else { 0 };
                add(Hop::free(port(first + drawn)));
            }
            Up::Digits => {
                let lane = draw.draw(LANE, self.lanes);
                let end = NodeId(if self.is_fat { at.source } else { at.destination });
                let named = match is_below {
                    true => self.plan.strand_to(stand, NodeId(at.destination)),
                    false => self.plan.parent_to(stand, end),
                };
                add(Hop::of_class(port(first + (named + lane) % count), 1 + lane as u8));
            }
        }
    }

    /// A tree of the same kind of fewer levels and links: the order of channels by level is the same.
    fn specimens(&self) -> Option<Vec<(String, usize)>> {
        let (kind, words) = self.spec.split_once(':')?;
        let mut sizes: Vec<u32> = words.split(',').map(|word| word.parse().ok()).collect::<Option<_>>()?;
        let (levels, links) = sizes.split_last_mut()?;
        *levels = 3.min(*levels);
        // Fewer links up than down, where there are.
        let least = if links.len() > 1 { [4, 2] } else { [2, 2] };
        links.iter_mut().zip(least).for_each(|(size, least)| *size = least.min(*size));
        let sizes: Vec<String> = sizes.iter().map(u32::to_string).collect();
        Some(vec![(format!("{kind}:{}", sizes.join(",")), 2)])
    }
}
