//! Classes of the links of a network of switches, by its construction: groups, dimensions, machines, or levels.
//!
//! A level is the number of links from the nearest endpoint. Interfaces are parts of their hosts. Links that are dead
//! count, so that a network has the same classes whichever links are dead.
//!
//! Decision: docs/decisions/0630-classes-of-links.md.

use std::collections::{BTreeMap, VecDeque};

use trgen::NodeId;

use super::{NOWHERE, Switched};
use crate::topology::{Port, Topology};

/// The class of links to endpoints, and between hosts and their interfaces: the first one.
const TO_ENDPOINTS: &str = "to endpoints";

/// The name of the only other class where switches are alike.
pub const BETWEEN_SWITCHES: &str = "between switches";

/// Most classes by level: in a network of more levels, all links between switches are of one class.
const MOST: usize = 16;

/// The classes of a network.
#[derive(Clone, Debug)]
pub(super) struct Classes {
    pub(super) names: Vec<String>,
    /// By place of a port among those of all nodes: the class.
    of: Vec<u16>,
}

/// What distinguishes the links between two switches; in the order of the classes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Kind {
    WithinGroups,
    BetweenGroups,
    WithinNodes,
    BetweenNodes,
    Dimension(usize),
    /// The lower and the upper level.
    Levels(u32, u32),
}

impl Kind {
    fn name(self) -> String {
        match self {
            Self::WithinGroups => "within groups".to_owned(),
            Self::BetweenGroups => "between groups".to_owned(),
            Self::WithinNodes => "within nodes".to_owned(),
            Self::BetweenNodes => "between nodes".to_owned(),
            Self::Dimension(dimension) => format!("dimension {dimension}"),
            Self::Levels(one, other) if one == other => format!("within level {one}"),
            Self::Levels(one, other) => format!("level {one} to {other}"),
        }
    }
}

impl Classes {
    pub(super) fn new(network: &Switched) -> Self {
        let ends = links(network);
        let levels = levels(network, &ends);
        let kinds: Vec<Option<Kind>> =
            ends.iter().map(|&(_, [one, other])| network.kind(one, other, &levels)).collect();
        let mut numbers: BTreeMap<Kind, u16> = kinds.iter().flatten().map(|&kind| (kind, 0)).collect();
        let is_by_level = numbers.keys().all(|kind| matches!(kind, Kind::Levels(..)));
        let is_one = is_by_level && (numbers.len() == 1 || numbers.len() > MOST);
        for (number, own) in (1..).zip(numbers.values_mut()) {
            *own = if is_one { 1 } else { number };
        }
        let mut names = vec![TO_ENDPOINTS.to_owned()];
        match is_one {
            true => names.push(BETWEEN_SWITCHES.to_owned()),
            false => names.extend(numbers.keys().map(|kind| kind.name())),
        }
        let mut of = vec![0; network.outputs().count()];
        for (&(place, _), kind) in ends.iter().zip(kinds) {
            of[place] = kind.and_then(|kind| numbers.get(&kind).copied()).unwrap_or(0);
        }
        Self { names, of }
    }

    /// The class of the link at a place among the ports of all nodes.
    pub(super) fn of(&self, place: usize) -> usize {
        self.of.get(place).map_or(0, |&class| class.into())
    }
}

/// Every direction of a link: its place among the ports of all nodes, and its ends.
fn links(network: &Switched) -> Vec<(usize, [NodeId; 2])> {
    let fabric = &network.fabric;
    let outputs = fabric.outputs();
    let alive = outputs.all().filter_map(|(node, port)| Some((node, port, fabric.neighbour(node, port)?)));
    let dead = fabric.dead.iter().flat_map(|&[(one, port), (other, back)]| [(one, port, other), (other, back, one)]);
    alive.chain(dead).map(|(node, port, there)| (fabric.output(node, port), [node, there])).collect()
}

/// By node: the number of links from the nearest endpoint; what none leads to is above all others.
fn levels(network: &Switched, links: &[(usize, [NodeId; 2])]) -> Vec<u32> {
    let nodes = network.fabric.nodes;
    let mut starts = vec![0_usize; nodes + 1];
    for (_, [from, _]) in links {
        starts[from.index() + 1] += 1;
    }
    (0..nodes).for_each(|node| starts[node + 1] += starts[node]);
    let (mut next, mut there) = (starts.clone(), vec![NodeId(0); links.len()]);
    for (_, [from, to]) in links {
        there[next[from.index()]] = *to;
        next[from.index()] += 1;
    }
    let mut levels = vec![NOWHERE; nodes];
    let mut reached: VecDeque<usize> = (0..nodes).filter(|&node| network.is_host(NodeId::at(node))).collect();
    reached.iter().for_each(|&node| levels[node] = 0);
    let mut last = 0;
    while let Some(node) = reached.pop_front() {
        last = levels[node];
        for to in &there[starts[node]..starts[node + 1]] {
            if levels[to.index()] == NOWHERE {
                levels[to.index()] = last + 1;
                reached.push_back(to.index());
            }
        }
    }
    levels.iter_mut().filter(|level| **level == NOWHERE).for_each(|level| *level = last + 1);
    levels
}

impl Switched {
    /// True for an endpoint, and for the interface of one.
    fn is_host(&self, node: NodeId) -> bool {
        let switch = node.index().checked_sub(self.fabric.endpoints);
        switch.is_none_or(|switch| self.fabric.nics.contain(switch))
    }

    /// What distinguishes a link; `None` for one to an endpoint.
    fn kind(&self, one: NodeId, other: NodeId, levels: &[u32]) -> Option<Kind> {
        let ends = [one, other];
        if ends.iter().any(|end| end.index() < self.fabric.endpoints) {
            return None;
        }
        if let [Some(one), Some(other)] = ends.map(|end| self.plan.group(end)) {
            return Some(if one == other { Kind::WithinGroups } else { Kind::BetweenGroups });
        }
        if let Some(machines) = &self.machines {
            let [one, other] = ends.map(|end| machines[end.index()]);
            return Some(if one == other && one != NOWHERE { Kind::WithinNodes } else { Kind::BetweenNodes });
        }
        if let Some(dimension) = self.plan.dimension(one, other) {
            return Some(Kind::Dimension(dimension));
        }
        let [one, other] = ends.map(|end| levels[end.index()]);
        (one.min(other) > 0).then(|| Kind::Levels(one.min(other), one.max(other)))
    }

    /// The class of the link that leaves a node through a port.
    pub(super) fn class(&self, node: NodeId, port: Port) -> usize {
        self.classes().of(self.fabric.output(node, port))
    }

    pub(super) fn classes(&self) -> &Classes {
        self.classes.get_or_init(|| Classes::new(self))
    }
}

#[cfg(test)]
mod tests {
    use crate::topology::{Faults, Topology, parse, parse_with_faults};

    /// The classes with the number of their links, each direction counted.
    fn counted(topology: &dyn Topology) -> Vec<(String, usize)> {
        let names = topology.link_classes();
        let mut counts = vec![0; names.len()];
        for (node, port) in topology.outputs().all() {
            if topology.neighbour(node, port).is_some() {
                counts[topology.link_class(node, port)] += 1;
            }
        }
        names.into_iter().zip(counts).collect()
    }

    #[test]
    fn classes_are_those_of_the_construction() {
        // Endpoints x 2, then links by hand.
        for (spec, expected) in [
            ("star:12", &[("to endpoints", 24)][..]),
            ("fattree:3,2", &[("to endpoints", 18), ("between switches", 18)]),
            ("fattree:2,4", &[("to endpoints", 32), ("level 1 to 2", 32), ("level 2 to 3", 32), ("level 3 to 4", 32)]),
            ("thintree:4,2,3", &[("to endpoints", 128), ("level 1 to 2", 64), ("level 2 to 3", 32)]),
            ("dragonfly:p=2,a=4,h=2", &[("to endpoints", 144), ("within groups", 108), ("between groups", 72)]),
            // Rows of three and of four switches, all joined.
            ("hyperx:3x4:2", &[("to endpoints", 48), ("dimension 0", 24), ("dimension 1", 36)]),
            ("icube:3x4:2", &[("to endpoints", 48), ("dimension 0", 24), ("dimension 1", 24)]),
            ("rrg:s=12,d=3,p=2", &[("to endpoints", 48), ("between switches", 36)]),
            // Stages: a link of each of two ports of four switches leads on.
            ("fly:2,3", &[("to endpoints", 16), ("level 1 to 2", 8), ("level 2 to 3", 8)]),
            ("cluster:nodes=3,gpus=4", &[("to endpoints", 24), ("within nodes", 24), ("between nodes", 24)]),
            // A network card for two GPUs: they share what leaves the node.
            ("cluster:nodes=3,gpus=4,rails=2", &[("to endpoints", 24), ("within nodes", 24), ("between nodes", 36)]),
            ("rail:k=2,of=(fattree:3,2)", &[("to endpoints", 54), ("between switches", 36)]),
        ] {
            let expected: Vec<(String, usize)> =
                expected.iter().map(|&(name, count)| (name.to_owned(), count)).collect();
            assert_eq!(counted(&*parse(spec, 2).unwrap()), expected, "{spec}");
        }
    }

    #[test]
    fn dead_links_change_no_class() {
        for spec in ["fattree:2,4", "thintree:4,2,3", "hyperx:3x4:2", "rrg:s=12,d=3,p=2"] {
            let whole = parse(spec, 2).unwrap();
            let damaged = parse_with_faults(spec, 2, &Faults { count: 3, one_way: false, seed: 5 }).unwrap();
            assert_eq!(whole.link_classes(), damaged.link_classes(), "{spec}");
            for (node, port) in whole.outputs().all() {
                assert_eq!(whole.link_class(node, port), damaged.link_class(node, port), "{spec} {node} {}", port.0);
            }
        }
    }
}
