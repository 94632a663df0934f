//! What a topology is like: links, degree, distances, and how much uniform load its links bear.

use trgen::NodeId;

use super::{Port, Topology};

/// Figures of a topology, counted node by node: no formula enters.
#[derive(Clone, PartialEq, Debug)]
pub struct Survey {
    /// \[nodes\]
    pub nodes: usize,
    /// \[links\] One-way: a link both ways counts as two.
    pub links: usize,
    /// \[links\] That leave the node with fewest.
    pub degree_min: usize,
    /// \[links\] That leave the node with most.
    pub degree_max: usize,
    /// \[hops\] Longest shortest path.
    pub diameter: u32,
    /// \[hops\] Mean length of shortest paths between different nodes; `None` of a single node.
    pub distance_mean: Option<f64>,
    /// \[links\] One-way, from the lower half of the node numbers to the upper half.
    pub middle_links: usize,
    /// \[phits/node/cycle\] Most uniform load that any routing could carry: what all links together bear, or those that
    /// cross the middle of the node numbers, whichever is less. `None` of a single node.
    pub uniform_load_bound: Option<f64>,
}

impl Survey {
    /// Counts. It takes time and memory in proportion to nodes times links, or to links where all nodes are alike.
    #[must_use]
    pub fn of(topology: &dyn Topology) -> Self {
        let nodes = topology.nodes();
        let ports = topology.shape().ports();
        let neighbours: Vec<Vec<usize>> = (0..nodes)
            .map(|node| {
                let ports = (0..ports).map(|port| Port(port as u8));
                ports.filter_map(|port| topology.neighbour(NodeId::at(node), port)).map(NodeId::index).collect()
            })
            .collect();
        let links = neighbours.iter().map(Vec::len).sum();
        let degrees = || neighbours.iter().map(Vec::len);
        let starts = if topology.looks_alike() { 1 } else { nodes };
        let mut diameter = 0;
        let mut sum = 0u64;
        for start in 0..starts {
            let distances = distances(&neighbours, start);
            diameter = diameter.max(distances.iter().copied().max().unwrap_or(0));
            sum += distances.into_iter().map(u64::from).sum::<u64>();
        }
        let pairs = (starts * (nodes - 1)) as f64;
        let distance_mean = (nodes > 1).then(|| sum as f64 / pairs);
        let half = nodes / 2;
        let middle_links = neighbours[..half].iter().flatten().filter(|&&neighbour| neighbour >= half).count();
        let uniform_load_bound = distance_mean.map(|mean| {
            let all = links as f64 / (nodes as f64 * mean);
            // Each node of the lower half sends to N - half of N - 1 others beyond the middle.
            let crossing = half as f64 * (nodes - half) as f64 / (nodes - 1) as f64;
            all.min(middle_links as f64 / crossing)
        });
        Self {
            nodes,
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

/// \[hops\] From `start` to every node, breadth first.
fn distances(neighbours: &[Vec<usize>], start: usize) -> Vec<u32> {
    let mut distances = vec![u32::MAX; neighbours.len()];
    distances[start] = 0;
    let mut reached = vec![start];
    let mut next = 0;
    while let Some(&here) = reached.get(next) {
        next += 1;
        for &there in &neighbours[here] {
            if distances[there] == u32::MAX {
                distances[there] = distances[here] + 1;
                reached.push(there);
            }
        }
    }
    distances
}
