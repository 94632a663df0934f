//! Properties of a topology: links, degree, distances, and the uniform load that its links can carry.
//!
//! Decision: docs/decisions/0462-large-maps.md.

use std::collections::HashMap;

use trgen::NodeId;

use super::capacity::{Capacities, Cut, cut, cut_capacity, cuts_between};
use super::switched::Nics;
use super::{Switched, Topology};

/// \[links\] Maximum number of links that are followed to count all distances, which takes seconds.
const MOST_STEPS: usize = 1 << 29;
/// \[links\] Number of links that are followed for an estimate, if an exact count would exceed [`MOST_STEPS`].
const MOST_STEPS_OF_ESTIMATE: usize = 1 << 26;

/// \[nodes\] Maximum number of nodes of a network of switches whose minimum cuts are counted.
const MOST_CUT: usize = 1 << 16;

/// Properties of a topology, counted node by node, without formulas.
#[derive(Clone, PartialEq, Debug)]
pub struct Survey {
    /// \[nodes\] Number of endpoints.
    pub nodes: usize,
    /// \[switches\] Nodes that only forward packets; 0 in a direct network.
    pub switches: usize,
    /// \[links\] Number of directed links: a bidirectional link counts as two. Links to endpoints are included.
    pub links: usize,
    /// \[links\] Minimum out-degree of a router: a node of a direct network, or a switch.
    pub degree_min: usize,
    /// \[links\] Maximum out-degree of a router.
    pub degree_max: usize,
    /// \[hops\] Longest minimal route between endpoints.
    pub diameter: u32,
    /// \[nodes\] Number of endpoints from which distances were counted: all, unless that would take minutes. Otherwise
    /// they are spread evenly over the numbers, the mean distance is an estimate, and the diameter a lower bound.
    pub counted: usize,
    /// \[hops\] Mean length of minimal routes between different endpoints; `None` for a single node.
    pub distance_mean: Option<f64>,
    /// \[links\] Number of directed links from the lower half of the node numbers to the upper half; in a network of
    /// switches, the minimum cut between the two halves of the endpoints. `None` for networks of switches that are too
    /// large to count it.
    pub middle_links: Option<usize>,
    /// \[phits/node/cycle\] Upper bound of the uniform load that any routing could carry; `None` for a single node, and
    /// where distances or cuts are not counted. It is the least of these capacities: of all links together, and in each
    /// direction of the links that cross the middle of the node numbers, of those that cross the middle of a dimension,
    /// of those between a subtree below the top and the rest, of those between a switch and the others, and of each
    /// link that alone joins two parts.
    pub uniform_load_bound: Option<f64>,
}

impl Survey {
    /// Number of pairs of different endpoints, in both directions.
    #[must_use]
    pub const fn pairs(&self) -> u64 {
        self.nodes as u64 * (self.nodes as u64).saturating_sub(1)
    }

    /// \[hops\] Length of minimal routes, summed over all [pairs](Self::pairs); `None` where not all are counted.
    #[must_use]
    pub fn hops(&self) -> Option<u64> {
        self.is_exact().then(|| (self.distance_mean.unwrap_or(0.0) * self.pairs() as f64).round() as u64)
    }

    /// True if distances were counted from every endpoint.
    #[must_use]
    pub const fn is_exact(&self) -> bool {
        self.counted == self.nodes
    }

    /// \[messages\] What a link carries in the mean if each endpoint sends a message to each other one.
    #[must_use]
    pub fn exchange_load(&self) -> Option<f64> {
        self.hops().filter(|_| self.links > 0).map(|hops| hops as f64 / self.links as f64)
    }

    /// Counts the properties, with what links carry by their rates alone. Time and memory are proportional to nodes
    /// times links, or to links in a vertex-transitive network.
    #[must_use]
    pub fn of(topology: &dyn Topology) -> Self {
        Self::with(topology, &Capacities::of(topology))
    }

    /// The same with these capacities of links.
    #[must_use]
    pub fn with(topology: &dyn Topology, capacities: &Capacities) -> Self {
        let nodes = topology.nodes();
        let neighbours = links_of(topology);
        let links = neighbours.iter().map(Vec::len).sum();
        let degrees = || neighbours.iter().map(Vec::len);
        let ends = topology.endpoints();
        let Lengths { diameter, sum, counted } = Lengths::of(topology, &neighbours, links);
        let pairs = (counted * (ends - 1)) as f64;
        let distance_mean = (ends > 1).then(|| sum as f64 / pairs);
        let counted = if topology.is_vertex_transitive() { ends } else { counted };
        if let Some(network) = topology.switched() {
            return Self::of_switches(network, &neighbours, capacities, (diameter, counted), distance_mean);
        }
        let half = nodes / 2;
        let middle_links = Some(neighbours[..half].iter().flatten().filter(|&&neighbour| neighbour >= half).count());
        let uniform_load_bound = distance_mean.map(|mean| {
            let all = capacities.total() / (nodes as f64 * mean);
            let of_cut = |Cut { is_lower, upwards, downwards, .. }| {
                let part = is_lower.iter().filter(|&&is_lower| is_lower).count();
                cut_capacity(f64::min(upwards, downwards), part, nodes)
            };
            cuts_between(topology, capacities).map(of_cut).fold(all, f64::min)
        });
        Self {
            nodes,
            switches: 0,
            links,
            degree_min: degrees().min().unwrap_or(0),
            degree_max: degrees().max().unwrap_or(0),
            diameter,
            counted,
            distance_mean,
            middle_links,
            uniform_load_bound,
        }
    }
}

impl Survey {
    /// The properties of a network of switches.
    fn of_switches(
        network: &Switched,
        neighbours: &[Vec<usize>],
        capacities: &Capacities,
        (diameter, counted): (u32, usize),
        distance_mean: Option<f64>,
    ) -> Self {
        let nodes = network.endpoints();
        let links: usize = neighbours.iter().map(Vec::len).sum();
        let degrees = || neighbours[nodes..].iter().map(Vec::len);
        let half = nodes / 2;
        let alike: Vec<Vec<(usize, u64)>> =
            neighbours.iter().map(|list| list.iter().map(|&there| (there, 1)).collect()).collect();
        let is_cut = neighbours.len() <= MOST_CUT;
        let middle_links = match half {
            0 => Some(0),
            _ => is_cut.then(|| cut(&alike, half, nodes) as usize),
        };
        let uniform_load_bound = distance_mean
            .filter(|_| is_cut && counted == nodes)
            .map(|mean| capacities.uniform_load(nodes, mean, network.top_subtrees()));
        Self {
            nodes,
            switches: neighbours.len() - nodes,
            links,
            degree_min: degrees().min().unwrap_or(0),
            degree_max: degrees().max().unwrap_or(0),
            diameter,
            counted,
            distance_mean,
            middle_links,
            uniform_load_bound,
        }
    }
}

/// The adjacency list of the outgoing links of each node, switches after endpoints.
#[must_use]
pub fn links_of(topology: &dyn Topology) -> Vec<Vec<usize>> {
    let neighbours = |node: usize| {
        let node = NodeId::at(node);
        topology.ports_of(node).filter_map(|port| topology.neighbour(node, port)).map(NodeId::index).collect()
    };
    (0..topology.nodes()).map(neighbours).collect()
}

/// Lengths of minimal routes.
struct Lengths {
    /// \[hops\] The longest one.
    diameter: u32,
    /// \[hops\] All of them together.
    sum: u64,
    /// \[nodes\] Number of endpoints at which they begin.
    counted: usize,
}

impl Lengths {
    /// Counts the routes that begin at the same links only once: those of the endpoints of a switch are as long.
    fn of(topology: &dyn Topology, neighbours: &[Vec<usize>], links: usize) -> Self {
        let ends = topology.endpoints();
        let nics = Nics::of(topology);
        let mut places: HashMap<&[usize], usize> = HashMap::new();
        let mut groups: Vec<Vec<usize>> = Vec::new();
        let starts = if topology.is_vertex_transitive() { 1 } else { ends };
        for (start, around) in neighbours.iter().enumerate().take(starts) {
            let place = *places.entry(around).or_insert(groups.len());
            match groups.get_mut(place) {
                Some(group) => group.push(start),
                None => groups.push(vec![start]),
            }
        }
        let step = match groups.len().saturating_mul(links) <= MOST_STEPS {
            true => 1,
            false => groups.len().div_ceil((MOST_STEPS_OF_ESTIMATE / links.max(1)).max(1)),
        };
        let mut found = Self { diameter: 0, sum: 0, counted: 0 };
        for group in groups.iter().step_by(step) {
            // From an interface of a host, only its own packets go on to other switches.
            let home = topology.switched().map(|network| network.fabric().home(NodeId::at(group[0])).0.index());
            let ends_at = |node: usize| node >= ends && nics.bar(node - ends) && home != Some(node);
            let mut distances =
                distances(neighbours, &neighbours[group[0]], |node, there| there < ends || !ends_at(node));
            distances.truncate(ends);
            // Subtracts the route from an endpoint to itself, which the search counted like one to others of its
            // switch.
            let own = |start: usize| u64::from(distances[start]);
            let all: u64 = distances.iter().map(|&hops| u64::from(hops)).sum();
            found.sum += group.iter().map(|&start| all - own(start)).sum::<u64>();
            found.counted += group.len();
            if let [only] = group[..] {
                distances[only] = 0;
            }
            found.diameter = found.diameter.max(distances.into_iter().max().unwrap_or(0));
        }
        found
    }
}

/// \[hops\] By node: its distance from a node with links to `first`, found breadth first.
fn distances(neighbours: &[Vec<usize>], first: &[usize], leads: impl Fn(usize, usize) -> bool) -> Vec<u32> {
    let mut distances = vec![u32::MAX; neighbours.len()];
    let mut reached = first.to_vec();
    reached.iter().for_each(|&node| distances[node] = 1);
    let mut next = 0;
    while let Some(&here) = reached.get(next) {
        next += 1;
        for &there in &neighbours[here] {
            if distances[there] == u32::MAX && leads(here, there) {
                distances[there] = distances[here] + 1;
                reached.push(there);
            }
        }
    }
    distances
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::parse;

    /// Endpoints, switches, directed links, degrees and diameter by formula, links to endpoints included.
    #[test]
    fn counts_are_those_of_the_formulas() {
        for (spec, endpoints, switches, links, degrees, diameter) in [
            ("star:8", 8, 1, 16, (8, 8), 2),
            // 2 (3 x 4 + 3 x 4) links among switches.
            ("cmesh:4x4:4", 64, 16, 2 * 64 + 48, (6, 8), 2 + 6),
            // 31 links of the mesh, two of each of four borders.
            ("cmesh:4x5:2:express", 40, 20, 2 * 40 + 2 * (31 + 8), (5, 6), 2 + 4),
            // The Hoffman-Singleton graph: 50 switches with 7 links each.
            ("slimfly:q=5,p=4", 200, 50, 2 * 200 + 350, (11, 11), 2 + 2),
            ("slimfly:q=4,p=3", 96, 32, 2 * 96 + 32 * 6, (9, 9), 2 + 2),
            ("slimfly:q=7,p=1", 98, 98, 2 * 98 + 98 * 11, (12, 12), 2 + 2),
            // Nine groups of 4 + 4 switches: 16 links within, 8 to others.
            ("dragonfly+:p=2,l=4,s=4,h=2", 72, 72, 2 * 72 + 9 * (2 * 16 + 8), (6, 6), 2 + 3),
            // Three groups of 2 + 2 switches: 4 links within, 2 to each of the two others.
            ("dragonfly+:p=2,l=2,s=2,h=2,g=3", 12, 12, 2 * 12 + 3 * (2 * 4 + 4), (4, 4), 2 + 3),
        ] {
            let survey = Survey::of(&*parse(spec, 2).unwrap());
            assert_eq!((survey.nodes, survey.switches, survey.links), (endpoints, switches, links), "{spec}");
            assert_eq!(((survey.degree_min, survey.degree_max), survey.diameter), (degrees, diameter), "{spec}");
        }
    }

    #[test]
    fn the_bound_of_uniform_load_does_not_depend_on_the_order_of_sizes() {
        let bound = |spec: &str| Survey::of(&*parse(spec, 2).unwrap()).uniform_load_bound.unwrap();
        for (one, other) in [("torus:16x8", "torus:8x16"), ("torus:6x4x2", "torus:2x4x6"), ("mesh:9x4", "mesh:4x9")] {
            assert!((bound(one) - bound(other)).abs() < 1e-12, "{one}");
        }
        // 8 rows of 16: 2 x 8 links each way separate 64 nodes from 64.
        assert!((bound("torus:16x8") - 16.0 * 127.0 / (64.0 * 64.0)).abs() < 1e-12);
        // One link leaves each subtree of nine endpoints of 27.
        assert!((bound("thintree:3,1,3") - 26.0 / (9.0 * 18.0)).abs() < 1e-12);
    }
}
