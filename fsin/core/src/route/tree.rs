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

/// Up by the better of two links.
pub(super) static TWO_CHOICES: Row = Row {
    component: Component {
        name: "two-choices",
        about: "trees: up by the one of two drawn links, perhaps the same, with more free space ahead; then down",
        parameters: &[],
        source: "Mitzenmacher, The power of two choices in randomized load balancing, TPDS 12(10), 2001",
    },
    aliases: &[],
    serves: TREES,
    policy: ChannelPolicy::Free,
    why: "",
    choice: Choice::Any,
    build: |build| Tree::build(build, Up::Two),
};

/// As [`TWO_CHOICES`], once at each switch.
pub(super) static ANCA: Row = Row {
    component: Component {
        name: "anca",
        about: "trees: up by the one of two drawn links, perhaps the same, with fewer flits ahead when the packet comes to \
                the front, whatever channels are free then; then down",
        parameters: &[],
        source: "BookSim 2, Jiang et al., ISPASS 2013",
    },
    choice: Choice::ByFlits,
    ..TWO_CHOICES
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
    /// By the model, of two drawn at random.
    Two,
}

/// The position of a switch in a tree.
#[derive(Debug)]
struct Position {
    stand: Stand,
    /// Its ports, those that lead down first.
    ports: Box<[u32]>,
    /// Those that lead up, as a mask; `None` if they do not fit in a word.
    up: Option<u64>,
}

impl Position {
    fn new(stand: Stand, port: impl Fn(usize) -> Port) -> Self {
        let down = stand.children * stand.strands;
        let ports: Box<[u32]> = (0..(down + stand.parents) as usize).map(|place| port(place).0).collect();
        let up = ports[down as usize..].iter().try_fold(0, |mask, &port| Some(mask | bit_of(port)?));
        Self { stand, ports, up }
    }
}

/// A port as a mask, if it fits in a word.
const fn bit_of(port: u32) -> Option<u64> {
    1u64.checked_shl(port)
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
    /// By switch: its position.
    positions: Vec<Position>,
    /// The specification.
    spec: String,
}

impl Tree {
    fn build(build: &Build<'_>, up: Up) -> Result<Function, SpecError> {
        let (plan, fabric) = (planned::<Plan>(build.topology)?, fabric(build.topology)?);
        let positions = (fabric.endpoints()..fabric.nodes())
            .map(NodeId::at)
            .map(|switch| Position::new(plan.stand(switch), |place| fabric.port(switch, place)));
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
        let Position { stand, ports, .. } = &self.positions[at.here];
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
            Up::Two if count > 1 => {
                let mut one = |label| draw.draw(2 * at.here as u32 + label, count);
                let drawn = [one(0), one(1)];
                add(Hop::free(port(first + drawn[0])));
                if drawn[1] != drawn[0] {
                    add(Hop::free(port(first + drawn[1])));
                }
            }
            Up::Two => add(Hop::free(port(first))),
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

    #[inline(always)]
    fn free_ports(&self, at: &Visit) -> Option<u64> {
        let Position { stand, ports, up } = &self.positions[at.here];
        let below = at.destination.wrapping_sub(stand.subtree * stand.span);
        match self.up {
            Up::Any if below >= stand.span => *up,
            Up::Any if stand.strands == 1 => bit_of(ports[(below / stand.child_span) as usize]),
            _ => None,
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
        if let ("slimtree", [down, up]) = (kind, &mut *links) {
            *down -= *down % *up;
        }
        let sizes: Vec<String> = sizes.iter().map(u32::to_string).collect();
        Some(vec![(format!("{kind}:{}", sizes.join(",")), 2)])
    }
}

#[cfg(test)]
mod tests {
    use super::super::ByKey;
    use super::*;
    use crate::topology::parse;

    #[test]
    fn free_ports_are_those_of_the_hops() {
        for (spec, is_complete) in [("fattree:4,3", true), ("thintree:4,2,2", true), ("slimtree:4,2,3", false)] {
            let topology = parse(spec, 2).unwrap();
            let endpoints = topology.endpoints();
            let mut known = 0;
            let function = Tree::build(&Build::new(&ADAPTIVE, &*topology, 1, ADAPTIVE.policy), Up::Any).unwrap();
            let pairs = (0..topology.nodes() - endpoints).flat_map(|here| (0..endpoints).map(move |to| (here, to)));
            for (here, to) in pairs.clone() {
                let at = Visit { source: 0, destination: to as u32, first: 0, here, home: 0, phase: 0 };
                let mut ports = 0;
                function.hops(&at, &mut ByKey(0), |hop| ports |= 1 << hop.port);
                let free = function.free_ports(&at);
                assert!(free.is_none_or(|free| free == ports), "{spec} {at:?}");
                known += usize::from(free.is_some());
            }
            assert!(known > 0 && (known == pairs.count()) == is_complete, "{spec}: {known}");
        }
    }
}
