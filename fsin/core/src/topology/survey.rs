//! Properties of a topology: links, degree, distances, and the uniform load that its links can carry.

use trgen::NodeId;

use super::flow::Flow;
use super::switched::Nics;
use super::{Port, Switched, Topology};

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
    /// \[hops\] Mean length of minimal routes between different endpoints; `None` for a single node.
    pub distance_mean: Option<f64>,
    /// \[links\] Number of directed links from the lower half of the node numbers to the upper half; in a network of
    /// switches, the minimum cut between the two halves of the endpoints.
    pub middle_links: usize,
    /// \[phits/node/cycle\] Upper bound of the uniform load that any routing could carry; `None` for a single node. It
    /// is the least of four capacities: of all links together, of the links that cross the middle of the node numbers,
    /// of those that cross the middle of a dimension, and of those that leave a subtree below the top.
    pub uniform_load_bound: Option<f64>,
}

impl Survey {
    /// Number of pairs of different endpoints, in both directions.
    #[must_use]
    pub const fn pairs(&self) -> u64 {
        self.nodes as u64 * (self.nodes as u64).saturating_sub(1)
    }

    /// \[hops\] Length of minimal routes, summed over all [pairs](Self::pairs).
    #[must_use]
    pub fn hops(&self) -> u64 {
        (self.distance_mean.unwrap_or(0.0) * self.pairs() as f64).round() as u64
    }

    /// \[messages\] What a link carries in the mean if each endpoint sends a message to each other one.
    #[must_use]
    pub fn exchange_load(&self) -> Option<f64> {
        (self.links > 0).then(|| self.hops() as f64 / self.links as f64)
    }

    /// Counts the properties. Time and memory are proportional to nodes times links, or to links in a vertex-transitive
    /// network.
    #[must_use]
    pub fn of(topology: &dyn Topology) -> Self {
        let nodes = topology.nodes();
        let neighbours = links_of(topology);
        let links = neighbours.iter().map(Vec::len).sum();
        let degrees = || neighbours.iter().map(Vec::len);
        let ends = topology.endpoints();
        let starts = if topology.is_vertex_transitive() { 1 } else { ends };
        let nics = Nics::of(topology);
        let mut diameter = 0;
        let mut sum = 0u64;
        for start in 0..starts {
            // From an interface of a host, only its own packets go on to other switches.
            let home = topology.switched().map(|network| network.fabric().home(NodeId::at(start)).0.index());
            let ends_at = |node: usize| node >= ends && nics.bar(node - ends) && home != Some(node);
            let mut distances = distances(&neighbours, start, |node, there| there < ends || !ends_at(node));
            distances.truncate(ends);
            diameter = diameter.max(distances.iter().copied().max().unwrap_or(0));
            sum += distances.into_iter().map(u64::from).sum::<u64>();
        }
        let pairs = (starts * (ends - 1)) as f64;
        let distance_mean = (ends > 1).then(|| sum as f64 / pairs);
        if let Some(network) = topology.switched() {
            return Self::of_switches(network, &neighbours, diameter, distance_mean);
        }
        let half = nodes / 2;
        let middle_links = neighbours[..half].iter().flatten().filter(|&&neighbour| neighbour >= half).count();
        let uniform_load_bound = distance_mean.map(|mean| {
            let all = links as f64 / (nodes as f64 * mean);
            let middles =
                middles(topology, &neighbours).into_iter().map(|(part, cut)| cut_capacity(cut as f64, part, nodes));
            middles.fold(all.min(cut_capacity(middle_links as f64, half, nodes)), f64::min)
        });
        Self {
            nodes,
            switches: 0,
            links,
            degree_min: degrees().min().unwrap_or(0),
            degree_max: degrees().max().unwrap_or(0),
            diameter,
            distance_mean,
            middle_links,
            uniform_load_bound,
        }
    }
}

impl Survey {
    /// The properties of a network of switches.
    fn of_switches(network: &Switched, neighbours: &[Vec<usize>], diameter: u32, distance_mean: Option<f64>) -> Self {
        let nodes = network.endpoints();
        let links: usize = neighbours.iter().map(Vec::len).sum();
        let degrees = || neighbours[nodes..].iter().map(Vec::len);
        let half = nodes / 2;
        let alike: Vec<Vec<(usize, u64)>> =
            neighbours.iter().map(|list| list.iter().map(|&there| (there, 1)).collect()).collect();
        let middle_links = if half == 0 { 0 } else { cut(&alike, half, nodes) as usize };
        let uniform_load_bound = distance_mean.map(|mean| {
            // Every packet takes the link of its source, that of its destination, and links between switches.
            let arcs = arcs_of(network, neighbours);
            let between = arcs[nodes..].iter().flatten().filter(|(there, _)| *there >= nodes).map(|arc| arc.1).sum();
            let all = if mean > 2.0 { in_links(between) / (nodes as f64 * (mean - 2.0)) } else { f64::INFINITY };
            let subtree = network.top_subtrees().filter(|&count| count > 1).map_or(half, |count| nodes / count);
            let of_cut = |part| cut_capacity(in_links(cut(&arcs, part, nodes)), part, nodes);
            let leaving = if subtree == half { f64::INFINITY } else { of_cut(subtree) };
            // An endpoint sends and receives on one link.
            let ends = arcs.iter().enumerate().flat_map(|(here, list)| list.iter().map(move |arc| (here, arc)));
            let own = ends.filter(|&(here, arc)| here < nodes || arc.0 < nodes).map(|(_, arc)| arc.1).min();
            all.min(of_cut(half)).min(leaving).min(own.map_or(1.0, in_links))
        });
        Self {
            nodes,
            switches: neighbours.len() - nodes,
            links,
            degree_min: degrees().min().unwrap_or(0),
            degree_max: degrees().max().unwrap_or(0),
            diameter,
            distance_mean,
            middle_links,
            uniform_load_bound,
        }
    }
}

/// \[phits/node/cycle\] Uniform load that `links` links can carry in one direction, from `part` of the N nodes to the
/// others. Each of the `part` nodes sends the share (N - part) / (N - 1) of its packets across.
fn cut_capacity(links: f64, part: usize, nodes: usize) -> f64 {
    links * (nodes - 1) as f64 / (part as f64 * (nodes - part) as f64)
}

/// The adjacency list of the outgoing links of each node, switches after endpoints.
#[must_use]
pub fn links_of(topology: &dyn Topology) -> Vec<Vec<usize>> {
    let neighbours = |node: usize| {
        let ports = (0..topology.shape().ports()).map(|port| Port(port as u8));
        ports.filter_map(|port| topology.neighbour(NodeId::at(node), port)).map(NodeId::index).collect()
    };
    (0..topology.nodes()).map(neighbours).collect()
}

/// Parts of a capacity that a link of full rate has: a multiple of all numbers up to 12, so that the usual ratios of
/// rates are exact. Others are rounded up, by less than 2 in 100 000 of a link.
const PARTS: u64 = 55_440;

/// By node: the other ends of its outgoing links, in the order of [`links_of`], with their capacities in [`PARTS`] of
/// that of the fastest.
fn arcs_of(network: &Switched, neighbours: &[Vec<usize>]) -> Vec<Vec<(usize, u64)>> {
    let share = network.shares();
    let arcs = |(node, list): (usize, &Vec<usize>)| {
        let ports = (0..network.fabric().ports()).map(|port| Port(port as u8));
        let present = ports.filter(|&port| network.neighbour(NodeId::at(node), port).is_some());
        let capacity = |port| {
            let (rate, fastest) = share(NodeId::at(node), port);
            (u128::from(rate) * u128::from(PARTS)).div_ceil(fastest.into()) as u64
        };
        list.iter().copied().zip(present.map(capacity)).collect()
    };
    neighbours.iter().enumerate().map(arcs).collect()
}

/// \[links\] A capacity in links of the fastest rate.
fn in_links(parts: u64) -> f64 {
    parts as f64 / PARTS as f64
}

/// \[links\] The capacity of all links of a topology, in links of the fastest rate.
#[must_use]
pub fn capacity(topology: &dyn Topology) -> f64 {
    let neighbours = links_of(topology);
    match topology.switched() {
        Some(network) => in_links(arcs_of(network, &neighbours).iter().flatten().map(|arc| arc.1).sum()),
        None => neighbours.iter().map(Vec::len).sum::<usize>() as f64,
    }
}

/// A bipartition of the nodes, and the links between the parts.
#[derive(Clone, PartialEq, Debug)]
pub struct Cut {
    /// By endpoint: true for the lower part.
    pub is_lower: Vec<bool>,
    /// \[links\] Capacity from the lower part to the upper part in links of the fastest rate; in a network of switches,
    /// that of the minimum cut.
    pub upwards: f64,
    /// \[links\] The same from the upper part to the lower part.
    pub downwards: f64,
}

/// Maximum number of endpoints and switches for which paths are counted.
const MOST_SWITCHED: usize = 4096;

/// The cuts through the middle of the node numbers and, in direct networks, of each dimension; none for networks of
/// switches in which counting would take long.
#[must_use]
pub fn cuts(topology: &dyn Topology) -> Vec<Cut> {
    let neighbours = links_of(topology);
    let ends = topology.endpoints();
    let half = ends / 2;
    if half == 0 {
        return Vec::new();
    }
    if let Some(network) = topology.switched() {
        if neighbours.len() > MOST_SWITCHED {
            return Vec::new();
        }
        let arcs = arcs_of(network, &neighbours);
        let mut backwards = vec![Vec::new(); arcs.len()];
        for (here, list) in arcs.iter().enumerate() {
            list.iter().for_each(|&(there, capacity)| backwards[there].push((here, capacity)));
        }
        let is_lower = (0..ends).map(|node| node < half).collect();
        let [upwards, downwards] = [&arcs, &backwards].map(|arcs| in_links(cut(arcs, half, ends)));
        return vec![Cut { is_lower, upwards, downwards }];
    }
    let parted = |is_lower: Vec<bool>| {
        let crossing = |from: bool| {
            let links = neighbours.iter().enumerate().filter(|&(here, _)| is_lower[here] == from);
            links.flat_map(|(_, list)| list).filter(|&&there| is_lower[there] != from).count() as f64
        };
        Cut { upwards: crossing(true), downwards: crossing(false), is_lower }
    };
    let (mut all, mut stride) = (vec![parted((0..ends).map(|node| node < half).collect())], 1);
    for size in topology.geometry().sizes().iter().map(|&size| size as usize) {
        if size > 1 {
            all.push(parted((0..ends).map(|node| node / stride % size < size / 2).collect()));
        }
        stride *= size;
    }
    all
}

/// By dimension of more than one node: the nodes of its lower half, and the links that lead to the upper half.
fn middles(topology: &dyn Topology, neighbours: &[Vec<usize>]) -> Vec<(usize, usize)> {
    let (mut middles, mut stride) = (Vec::new(), 1);
    for size in topology.geometry().sizes().iter().map(|&size| size as usize) {
        let is_lower = |node: usize| node / stride % size < size / 2;
        if size > 1 {
            let leaving = |node: usize| neighbours[node].iter().filter(|&&there| !is_lower(there)).count();
            let links = (0..neighbours.len()).filter(|&node| is_lower(node)).map(leaving).sum();
            middles.push((neighbours.len() / size * (size / 2), links));
        }
        stride *= size;
    }
    middles
}

/// Capacity of the minimum cut between endpoints below `half` and the others, which equals the maximum flow between
/// them.
fn cut(arcs: &[Vec<(usize, u64)>], half: usize, endpoints: usize) -> u64 {
    let (source, sink) = (arcs.len(), arcs.len() + 1);
    let mut flow = Flow::new(arcs.len() + 2);
    for (here, list) in arcs.iter().enumerate() {
        list.iter().for_each(|&(there, capacity)| flow.add(here, there, capacity));
    }
    for endpoint in 0..endpoints {
        let (from, to) = if endpoint < half { (source, endpoint) } else { (endpoint, sink) };
        flow.add(from, to, u64::MAX >> 32);
    }
    flow.max_flow(source, sink)
}

/// \[hops\] By node: its distance from `start`, found breadth first.
fn distances(neighbours: &[Vec<usize>], start: usize, leads: impl Fn(usize, usize) -> bool) -> Vec<u32> {
    let mut distances = vec![u32::MAX; neighbours.len()];
    distances[start] = 0;
    let mut reached = vec![start];
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
