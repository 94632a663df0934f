//! What links carry, each direction by itself, and cuts of a network.
//!
//! A bound of what a network carries is never that of the mean of two directions: of each cut it is the lesser one.
//!
//! Decision: docs/decisions/0341-bounds-of-links.md.

use trgen::NodeId;

use super::flow::Flow;
use super::{Port, Topology};

/// Parts of a capacity that a link of full rate has: a multiple of all numbers up to 12, so that the usual ratios of
/// rates are exact. Others are rounded up, by less than 2 in 100 000 of a link.
const PARTS: u64 = 55_440;

/// \[links\] A capacity in links of the fastest rate.
fn in_links(parts: u64) -> f64 {
    parts as f64 / PARTS as f64
}

/// What each link carries, in links of the fastest rate.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Capacities {
    /// Number of endpoints.
    ends: usize,
    /// True if nodes behind the endpoints are switches.
    is_switched: bool,
    /// By node: the other ends of its outgoing links, with their capacities in [`PARTS`] of that of the fastest.
    arcs: Vec<Vec<(usize, u64)>>,
}

impl Capacities {
    /// The capacities by the rates of links alone.
    #[must_use]
    pub fn of(topology: &dyn Topology) -> Self {
        Self::limited(topology, |_, _| f64::INFINITY)
    }

    /// The same, where a link carries at most `limit` of the fastest link, by node and port.
    #[must_use]
    pub fn limited(topology: &dyn Topology, limit: impl Fn(NodeId, Port) -> f64) -> Self {
        let network = topology.switched();
        let share = network.map(|network| network.shares());
        let arcs = |node: NodeId| {
            let arc = |port: Port| {
                let there = topology.neighbour(node, port)?;
                let parts = share.as_ref().map_or(PARTS, |share| {
                    let (rate, fastest) = share(node, port);
                    (u128::from(rate) * u128::from(PARTS)).div_ceil(fastest.into()) as u64
                });
                let most = (limit(node, port) * PARTS as f64).ceil();
                Some((there.index(), if most < parts as f64 { most as u64 } else { parts }))
            };
            topology.ports_of(node).filter_map(arc).collect()
        };
        Self {
            ends: topology.endpoints(),
            is_switched: network.is_some(),
            arcs: (0..topology.nodes()).map(NodeId::at).map(arcs).collect(),
        }
    }

    /// \[links\] All links together.
    #[must_use]
    pub fn total(&self) -> f64 {
        in_links(self.arcs.iter().flatten().map(|arc| arc.1).sum())
    }

    /// \[links\] Each link that leaves a node, in the order of its ports.
    pub fn of_node(&self, node: usize) -> impl Iterator<Item = f64> + '_ {
        self.arcs[node].iter().map(|arc| in_links(arc.1))
    }

    /// \[links\] By node: the links that leave it together.
    #[must_use]
    pub fn leaving(&self) -> Vec<f64> {
        self.arcs.iter().map(|list| in_links(list.iter().map(|arc| arc.1).sum())).collect()
    }

    /// \[links\] By node: the links that lead to it together.
    #[must_use]
    pub fn entering(&self) -> Vec<f64> {
        let mut entering = vec![0; self.arcs.len()];
        self.arcs.iter().flatten().for_each(|&(there, parts)| entering[there] += parts);
        entering.into_iter().map(in_links).collect()
    }

    /// Every link: its ends and capacity.
    fn all(&self) -> impl Iterator<Item = (usize, usize, u64)> + '_ {
        self.arcs
            .iter()
            .enumerate()
            .flat_map(|(here, list)| list.iter().map(move |&(there, parts)| (here, there, parts)))
    }

    /// The same with all links turned round.
    fn reversed(&self) -> Vec<Vec<(usize, u64)>> {
        let mut backwards = vec![Vec::new(); self.arcs.len()];
        self.all().for_each(|(here, there, parts)| backwards[there].push((here, parts)));
        backwards
    }

    /// \[phits/node/cycle\] Upper bound of the uniform load of a network of switches with this mean distance \[hops\];
    /// `subtrees` is the number of subtrees below the top, where there are some.
    pub(super) fn uniform_load(&self, nodes: usize, mean: f64, subtrees: Option<usize>) -> f64 {
        // Every packet takes the link of its source, that of its destination, and links between switches.
        let between = self.all().filter(|&(here, there, _)| here >= nodes && there >= nodes).map(|arc| arc.2).sum();
        let all = if mean > 2.0 { in_links(between) / (nodes as f64 * (mean - 2.0)) } else { f64::INFINITY };
        let half = nodes / 2;
        let subtree = subtrees.filter(|&count| count > 1).map_or(half, |count| nodes / count);
        let backwards = self.reversed();
        let of_cut = |part| {
            let least = cut(&self.arcs, part, nodes).min(cut(&backwards, part, nodes));
            cut_capacity(in_links(least), part, nodes)
        };
        let leaving = if subtree == half { f64::INFINITY } else { of_cut(subtree) };
        // An endpoint sends and receives on one link.
        let own = self.all().filter(|&(here, there, _)| here < nodes || there < nodes).map(|arc| arc.2).min();
        let parts = self.parts().into_iter().map(|part| {
            let ends = part.ends.len();
            cut_capacity(in_links(part.leaving.min(part.entering)), ends, nodes)
        });
        parts.fold(all.min(of_cut(half)).min(leaving).min(own.map_or(1.0, in_links)), f64::min)
    }

    /// Parts of a network of switches with few links to the rest: each switch with the endpoints that are joined to it
    /// alone, and what lies behind each link that alone joins two parts. Parts without an endpoint, and those with all,
    /// are left out.
    fn parts(&self) -> Vec<Part> {
        let nodes = self.arcs.len();
        let mut own: Vec<Vec<usize>> = vec![Vec::new(); nodes];
        // Neighbours among switches, several links between two of them as one, with both capacities.
        let mut between: Vec<Vec<(usize, [u64; 2])>> = vec![Vec::new(); nodes];
        let add = |list: &mut Vec<(usize, [u64; 2])>, there: usize, way: usize, parts: u64| match list
            .iter_mut()
            .find(|(other, _)| *other == there)
        {
            Some((_, both)) => both[way] += parts,
            None => {
                let mut both = [0; 2];
                both[way] = parts;
                list.push((there, both));
            }
        };
        // The switch to which alone an endpoint is joined, in both directions; others count as switches here.
        let mut homes = vec![None; nodes];
        let mut is_loose: Vec<bool> = (0..nodes).map(|node| node >= self.ends).collect();
        for (here, there, _) in self.all() {
            for (end, other) in [(here, there), (there, here)] {
                is_loose[end] |= other < self.ends || *homes[end].get_or_insert(other) != other;
            }
        }
        for end in 0..self.ends {
            match homes[end].filter(|_| !is_loose[end]) {
                Some(home) => own[home].push(end),
                None => own[end].push(end),
            }
        }
        for (here, there, parts) in self.all().filter(|&(here, there, _)| is_loose[here] && is_loose[there]) {
            add(&mut between[here], there, 0, parts);
            add(&mut between[there], here, 1, parts);
        }
        let sum = |list: &[(usize, [u64; 2])], way: usize| list.iter().map(|(_, both)| both[way]).sum();
        let mut found: Vec<Part> = (0..nodes)
            .filter(|&node| is_loose[node])
            .map(|switch| Part {
                ends: own[switch].clone(),
                leaving: sum(&between[switch], 0),
                entering: sum(&between[switch], 1),
            })
            .collect();
        found.extend(bridges(&between, &own));
        found.retain(|part| (1..self.ends).contains(&part.ends.len()));
        found
    }
}

/// A part of a network: its endpoints, and the capacity of the links between it and the rest.
struct Part {
    ends: Vec<usize>,
    leaving: u64,
    entering: u64,
}

/// What lies behind each link that alone joins two parts, depth first (Tarjan, *A note on finding the bridges of a
/// graph*, 1974).
fn bridges(between: &[Vec<(usize, [u64; 2])>], own: &[Vec<usize>]) -> Vec<Part> {
    const UNSEEN: usize = usize::MAX;
    let (mut order, mut low) = (vec![UNSEEN; between.len()], vec![UNSEEN; between.len()]);
    let mut seen = 0;
    let mut found = Vec::new();
    for root in 0..between.len() {
        if order[root] != UNSEEN || between[root].is_empty() {
            continue;
        }
        // Nodes on the way, each with its parent and the next link to follow; endpoints met so far.
        let mut ends: Vec<usize> = Vec::new();
        let mut way = vec![(root, UNSEEN, 0, 0)];
        while let Some(&mut (here, parent, ref mut next, first)) = way.last_mut() {
            if *next == 0 {
                (order[here], low[here]) = (seen, seen);
                seen += 1;
                ends.extend(&own[here]);
            }
            let Some(&(there, _)) = between[here].get(*next) else {
                way.pop();
                let Some(&(_, [up, down])) = between[here].iter().find(|(there, _)| *there == parent) else { continue };
                low[parent] = low[parent].min(low[here]);
                if low[here] > order[parent] {
                    found.push(Part { ends: ends[first..].to_vec(), leaving: up, entering: down });
                }
                continue;
            };
            *next += 1;
            if order[there] == UNSEEN {
                let first = ends.len();
                way.push((there, here, 0, first));
            } else if there != parent {
                low[here] = low[here].min(order[there]);
            }
        }
    }
    found
}

/// \[phits/node/cycle\] Uniform load that `links` links can carry in one direction, from `part` of the N nodes to the
/// others. Each of the `part` nodes sends the share (N - part) / (N - 1) of its packets across.
pub(super) fn cut_capacity(links: f64, part: usize, nodes: usize) -> f64 {
    links * (nodes - 1) as f64 / (part as f64 * (nodes - part) as f64)
}

/// A bipartition of the nodes, and the links between the parts.
#[derive(Clone, PartialEq, Debug)]
pub struct Cut {
    /// By endpoint: true for the lower part.
    pub is_lower: Vec<bool>,
    /// True if the parts are halves.
    pub is_middle: bool,
    /// \[links\] Capacity from the lower part to the upper part in links of the fastest rate; in a network of
    /// switches, that of the minimum cut.
    pub upwards: f64,
    /// \[links\] The same from the upper part to the lower part.
    pub downwards: f64,
}

/// Maximum number of endpoints and switches for which paths are counted.
const MOST_SWITCHED: usize = 4096;

/// Maximum number of parts with few links to the rest that are cut off.
const MOST_PARTS: usize = 256;

/// The cuts through the middle of the node numbers and, in direct networks, of each dimension; in networks of switches
/// also those around switches and behind single links. None for networks of switches in which counting would take long.
#[must_use]
pub fn cuts(topology: &dyn Topology, capacities: &Capacities) -> Vec<Cut> {
    let ends = topology.endpoints();
    let half = ends / 2;
    if half == 0 {
        return Vec::new();
    }
    if !capacities.is_switched {
        return cuts_between(topology, capacities).collect();
    }
    if topology.nodes() > MOST_SWITCHED {
        return Vec::new();
    }
    let is_lower = (0..ends).map(|node| node < half).collect();
    let [upwards, downwards] = [&capacities.arcs, &capacities.reversed()].map(|arcs| in_links(cut(arcs, half, ends)));
    let mut all = vec![Cut { is_lower, is_middle: true, upwards, downwards }];
    let parts = capacities.parts();
    if parts.len() <= MOST_PARTS {
        all.extend(parts.into_iter().map(|part| {
            let mut is_lower = vec![false; ends];
            part.ends.iter().for_each(|&end| is_lower[end] = true);
            let [upwards, downwards] = [part.leaving, part.entering].map(in_links);
            Cut { is_lower, is_middle: false, upwards, downwards }
        }));
    }
    all
}

/// The cuts through the middles of a direct network, one after another.
pub(super) fn cuts_between<'a>(
    topology: &'a dyn Topology,
    capacities: &'a Capacities,
) -> impl Iterator<Item = Cut> + 'a {
    let ends = topology.endpoints();
    let half = ends / 2;
    let parted = |is_lower: Vec<bool>| {
        let crossing = |from: bool| {
            let across = capacities.all().filter(|&(here, there, _)| is_lower[here] == from && is_lower[there] != from);
            in_links(across.map(|arc| arc.2).sum())
        };
        Cut { upwards: crossing(true), downwards: crossing(false), is_middle: true, is_lower }
    };
    let mut stride = 1;
    let sizes = topology.geometry().sizes().iter().map(|&size| size as usize);
    let strides = sizes.map(move |size| {
        let below = stride;
        stride *= size;
        (size, below)
    });
    let by_numbers = std::iter::once((0..ends).map(move |node| node < half).collect::<Vec<bool>>());
    let of_dimension = strides
        .filter(|&(size, _)| size > 1)
        .map(move |(size, below)| (0..ends).map(|node| node / below % size < size / 2).collect());
    by_numbers.chain(of_dimension).map(parted)
}

/// Capacity of the minimum cut between endpoints below `half` and the others, which equals the maximum flow between
/// them.
pub(super) fn cut(arcs: &[Vec<(usize, u64)>], half: usize, endpoints: usize) -> u64 {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Survey;
    use crate::topology::switched::network_of_text;

    /// What a cut carries is the lesser of its directions: links 1:2, 1:4 and 3:4 of the fastest one.
    #[test]
    fn the_bound_is_that_of_the_slower_direction() {
        for (up, down, least) in [(10, 10, 1.0), (10, 5, 0.5), (4, 12, 1.0 / 3.0), (3, 4, 0.75)] {
            for (turned, [a, b]) in [(false, ["a", "b"]), (true, ["b", "a"])] {
                let list = format!("H0 {a}\nH1 {b}\nH2 {a}\nH3 {b}\n");
                let hosts = list.lines().fold(String::new(), |text, line| {
                    let (host, switch) = line.split_once(' ').unwrap();
                    format!("{text}{host} -> {switch}\n{switch} -> {host}\n")
                });
                let text = format!("{hosts}a -> b rate {up}Gb/s\nb -> a rate {down}Gb/s\n");
                let topology = network_of_text(&text, "graph:x".to_owned(), None).unwrap();
                let bound = Survey::of(&topology).uniform_load_bound.unwrap();
                // Two nodes send two thirds of their packets over a link of `least` of the fastest.
                assert!((bound - (least * 3.0_f64 / 4.0).min(1.0)).abs() < 1e-4, "{up} {down} {turned}: {bound}");
                let cuts = cuts(&topology, &Capacities::of(&topology));
                let across = cuts.iter().filter(|cut| !cut.is_middle).map(|cut| f64::min(cut.upwards, cut.downwards));
                assert!((across.fold(f64::INFINITY, f64::min) - least).abs() < 1e-4);
            }
        }
    }
}
