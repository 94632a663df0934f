//! Direct networks with dead links.

use std::collections::HashSet;
use std::sync::Arc;

use trgen::catalog::{ErrorKind, SpecError};
use trgen::phrase;
use trgen::rng::{Purpose, mix2, pick};
use trgen::{Geometry, NodeId};

use super::{DeadLink, Faults, Offsets, Port, Shape, Topology, Usual};

/// Maximum number of nodes: unreachable pairs are searched one by one.
const MAX_NODES: usize = 4096;

/// A direct network without some of its links.
#[derive(Debug)]
pub(super) struct Damaged {
    /// The network without dead links.
    whole: Arc<dyn Topology>,
    /// Dead links, by the node and port that they leave.
    dead: HashSet<(NodeId, Port)>,
    /// Dead links, those that were drawn in the order of the draws.
    links: Vec<DeadLink>,
}

impl Damaged {
    /// Draws dead links, all with equal probability.
    ///
    /// # Errors
    /// More faults than links, networks that are too large.
    pub(super) fn new(whole: Box<dyn Topology>, faults: &Faults) -> Result<Self, SpecError> {
        let count = faults.count;
        if whole.nodes() > MAX_NODES {
            let what = phrase![["faults" => count], (": {} has {} nodes", whole.spec(), whole.nodes())];
            return Err(SpecError::new(
                ErrorKind::TooLarge,
                what,
                format!("use a direct network of at most {MAX_NODES} nodes"),
            ));
        }
        let mut alive = links_of_each(&*whole, faults.one_way);
        if count > alive.len() {
            let kind = if faults.one_way { "one way" } else { "both ways" };
            let what = phrase![["faults" => count], (": {} has {} links, counted {kind}", whole.spec(), alive.len())];
            return Err(SpecError::new(ErrorKind::Conflict, what, "use fewer"));
        }
        let key = mix2(faults.seed, Purpose::Setup as u64);
        let drawn = (0..count)
            .map(|fault| alive.swap_remove(pick(mix2(key, fault as u64), alive.len() as u32) as usize))
            .collect();
        Ok(Self::without(whole.into(), drawn))
    }

    /// The network without these links.
    fn without(whole: Arc<dyn Topology>, links: Vec<DeadLink>) -> Self {
        Self { whole, dead: links.iter().flat_map(DeadLink::ports).collect(), links }
    }
}

/// A topology without these links, which are some of its [links](links_both_ways). Nodes may be cut off.
pub(crate) fn damaged(whole: &Arc<dyn Topology>, dead: &[DeadLink]) -> Arc<dyn Topology> {
    match whole.switched() {
        _ if dead.is_empty() => Arc::clone(whole),
        Some(network) => {
            let ends = |link: &DeadLink| Some([(link.from, link.port), (link.to, link.back?)]);
            Arc::new(network.less(&dead.iter().filter_map(ends).collect::<Vec<_>>()))
        }
        None => Arc::new(Damaged::without(Arc::clone(whole), dead.to_vec())),
    }
}

/// All links of a topology, each once, with both directions where it has them. In a network of switches they are those
/// of endpoints too.
pub(crate) fn links_both_ways(topology: &dyn Topology) -> Vec<DeadLink> {
    let Some(network) = topology.switched() else { return links_of_each(topology, false) };
    let both = links(topology).filter_map(|(from, port)| {
        let (to, back) = (topology.neighbour(from, port)?, network.fabric().back(from, port)?);
        Some(DeadLink { from, port, to, back: Some(back) }).filter(|_| (from, port) < (to, back))
    });
    both.collect()
}

/// The links of a direct network, each once, or each direction by itself.
fn links_of_each(topology: &dyn Topology, one_way: bool) -> Vec<DeadLink> {
    let mut known: HashSet<(NodeId, Port)> = HashSet::new();
    let mut found = Vec::new();
    for (from, port) in links(topology) {
        let Some(to) = topology.neighbour(from, port).filter(|_| !known.contains(&(from, port))) else { continue };
        let back = if one_way { None } else { way_back(topology, from, port) };
        known.extend(back);
        known.insert((from, port));
        found.push(DeadLink { from, port, to, back: back.map(|(_, back)| back) });
    }
    found
}

/// Every link, in one direction, by the node and port that it leaves.
fn links(topology: &dyn Topology) -> impl Iterator<Item = (NodeId, Port)> {
    (0..topology.nodes())
        .map(NodeId::at)
        .flat_map(move |node| topology.ports_of(node).map(move |port| (node, port)))
        .filter(|&(node, port)| topology.neighbour(node, port).is_some())
}

/// The reverse direction of a link of a direct network; `None` for a one-way link.
#[must_use]
pub fn way_back(topology: &dyn Topology, node: NodeId, port: Port) -> Option<(NodeId, Port)> {
    let shape = topology.shape();
    let there = topology.neighbour(node, port)?;
    let (dimension, positive) = shape.direction(port);
    // The reverse port has the opposite direction, or the same direction if the link leads across.
    let opposite = (shape.ways == 2).then(|| shape.port(dimension, !positive));
    let back = opposite.into_iter().chain([port]).find(|&back| topology.neighbour(there, back) == Some(node))?;
    Some((there, back))
}

impl Topology for Damaged {
    fn spec(&self) -> String {
        self.whole.spec()
    }

    fn geometry(&self) -> &Geometry {
        self.whole.geometry()
    }

    fn ways(&self) -> usize {
        self.whole.ways()
    }

    fn neighbour(&self, node: NodeId, port: Port) -> Option<NodeId> {
        self.whole.neighbour(node, port).filter(|_| !self.dead.contains(&(node, port)))
    }

    fn offsets(&self, from: NodeId, to: NodeId, positive: &mut dyn FnMut(usize) -> bool) -> Offsets {
        self.whole.offsets(from, to, positive)
    }

    fn routes(&self, from: NodeId, to: NodeId) -> Vec<Offsets> {
        self.whole.routes(from, to)
    }

    fn is_grid(&self) -> bool {
        self.whole.is_grid()
    }

    fn is_vertex_transitive(&self) -> bool {
        false
    }

    fn faults(&self) -> usize {
        self.whole.faults() + self.links.len()
    }

    fn dead_links(&self) -> Vec<DeadLink> {
        self.whole.dead_links().into_iter().chain(self.links.iter().copied()).collect()
    }

    fn usual(&self) -> Usual {
        self.whole.usual()
    }

    fn shape(&self) -> Shape {
        self.whole.shape()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::parse;

    fn damaged(spec: &str, ways: usize, count: usize, one_way: bool) -> Damaged {
        Damaged::new(parse(spec, ways).unwrap(), &Faults { count, one_way, seed: 5 }).unwrap()
    }

    #[test]
    fn both_directions_of_a_link_die_together() {
        for (spec, ways) in [
            ("torus:4x3", 2),
            ("torus:2x5", 2),
            ("mesh:3x3", 2),
            ("hypercube:3", 2),
            ("spidergon:8", 2),
            ("torus:5", 1),
        ] {
            let whole = links(&*parse(spec, ways).unwrap()).count();
            for count in [1, 2, 4] {
                let torn = damaged(spec, ways, count, false);
                let each = if ways == 1 { 1 } else { 2 };
                assert_eq!(links(&torn).count(), whole - each * count, "{spec}");
                for &(node, port) in &torn.dead {
                    let back = way_back(&*torn.whole, node, port);
                    assert!(back.is_none_or(|back| torn.dead.contains(&back)), "{spec}");
                }
                assert_eq!(links(&damaged(spec, ways, count, true)).count(), whole - count, "{spec}");
            }
        }
    }

    #[test]
    fn more_faults_than_links_are_refused() {
        let refusal = |count, one_way| {
            Damaged::new(parse("mesh:2x2", 2).unwrap(), &Faults { count, one_way, seed: 1 })
                .err()
                .map(|r| r.to_string())
        };
        assert_eq!(refusal(4, false), None);
        assert!(refusal(5, false).unwrap().contains("4 links, counted both ways"));
        assert!(refusal(9, true).unwrap().contains("8 links, counted one way"));
    }
}
