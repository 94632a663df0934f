//! Hops of minimal routes between endpoints.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use trgen::NodeId;
use trgen::trace::placement::Distance;

use super::{MAX_DIMENSIONS, Topology};

/// Maximum number of nodes of a direct network without dead links whose distances are kept in a table.
const TABLE: usize = 8192;

/// \[routers x links\] Maximum cost of filling a table, for few queries and for many: it takes a second for a figure of
/// one query, and half a minute for a placement.
const MOST: [usize; 2] = [1 << 28, 1 << 32];

/// Distances of a network.
#[derive(Debug)]
pub struct Distances(Way);

/// How distances are found.
#[derive(Debug)]
enum Way {
    /// For a direct network: by the hops in each dimension.
    Offsets(Arc<dyn Topology>),
    /// For a network of switches whose plan has a formula: by that formula.
    Formula(Arc<dyn Topology>),
    /// By a table that is computed row by row.
    Table(Table),
}

/// Distances computed on demand, row by row, breadth first.
#[derive(Debug)]
struct Table {
    /// By endpoint: its row.
    homes: Vec<u32>,
    /// \[hops\] Hops to and from the routers of the rows: 2 if these routers are switches, else 0.
    extra: u32,
    /// By row: its router.
    routers: Vec<u32>,
    /// By router: the adjacent routers, without endpoints.
    neighbours: Vec<Vec<u32>>,
    /// By router: true if no route leads through it.
    barred: Vec<bool>,
    /// \[hops\] By row and row: the distance. Each row is computed at its first use.
    rows: Vec<OnceLock<Box<[u16]>>>,
}

impl Distances {
    /// Distances for one or two queries each; `None` where they would take too long.
    #[must_use]
    pub fn few(topology: impl Into<Arc<dyn Topology>>) -> Option<Self> {
        Self::new(topology.into(), 0, MOST[0])
    }

    /// Distances for many queries; `None` where they would take too long.
    #[must_use]
    pub fn many(topology: impl Into<Arc<dyn Topology>>) -> Option<Self> {
        Self::new(topology.into(), TABLE, MOST[1])
    }

    /// Distances that are computed with a table if that costs at most `most`. A direct network without dead links gets
    /// a table if it has at most `tabled` nodes.
    fn new(topology: Arc<dyn Topology>, tabled: usize, most: usize) -> Option<Self> {
        let whole = topology.faults() == 0;
        match topology.switched() {
            None if whole && topology.nodes() > tabled => return Some(Self(Way::Offsets(topology))),
            Some(switched) if switched.hops(NodeId(0), NodeId(0)).is_some() => {
                return Some(Self(Way::Formula(topology)));
            }
            None | Some(_) => {}
        }
        let table = Table::new(&*topology);
        let links: usize = table.neighbours.iter().map(Vec::len).sum();
        let cheap = links.checked_mul(table.routers.len()).is_some_and(|steps| steps <= most);
        cheap.then_some(Self(Way::Table(table)))
    }
}

impl Distance for Distances {
    fn hops(&self, from: NodeId, to: NodeId) -> u32 {
        if from == to {
            return 0;
        }
        match &self.0 {
            Way::Offsets(topology) => {
                let offsets = topology.offsets(from, to, &mut |_| true);
                let dimensions = topology.shape().dimensions.min(MAX_DIMENSIONS);
                offsets[..dimensions].iter().map(|hops| u32::from(hops.unsigned_abs())).sum()
            }
            Way::Formula(topology) => {
                // A plan has a formula for all pairs or for none.
                topology.switched().and_then(|network| network.hops(from, to)).unwrap_or(0)
            }
            Way::Table(table) => table.hops(from, to),
        }
    }
}

impl Table {
    fn new(topology: &dyn Topology) -> Self {
        let (nodes, ends) = (topology.nodes(), topology.endpoints());
        let linked = |node: usize| {
            let node = NodeId::at(node);
            topology.ports_of(node).filter_map(move |port| topology.neighbour(node, port))
        };
        let switched = topology.switched();
        let passes = |node: &NodeId| switched.is_none() || node.index() >= ends;
        let neighbours = (0..nodes).map(|node| match passes(&NodeId::at(node)) {
            true => linked(node).filter(passes).map(|node| node.0).collect(),
            false => Vec::new(),
        });
        let (mut routers, mut known) = (Vec::new(), HashMap::new());
        let homes = (0..ends).map(|node| {
            let router = switched.map_or(node as u32, |network| network.fabric().home(NodeId::at(node)).0.0);
            *known.entry(router).or_insert_with(|| {
                routers.push(router);
                routers.len() as u32 - 1
            })
        });
        let homes = homes.collect();
        let nics = switched.map(|network| network.fabric().nics());
        let is_barred = |node: usize| nics.is_some_and(|nics| node >= ends && nics.bar(node - ends));
        let barred = (0..nodes).map(is_barred).collect();
        let rows = routers.iter().map(|_| OnceLock::new()).collect();
        let extra = if switched.is_some() { 2 } else { 0 };
        Self { homes, extra, routers, neighbours: neighbours.collect(), barred, rows }
    }

    fn hops(&self, from: NodeId, to: NodeId) -> u32 {
        let (from, to) = (self.homes[from.index()] as usize, self.homes[to.index()] as usize);
        self.extra + u32::from(self.rows[from].get_or_init(|| self.row(from))[to])
    }

    /// \[hops\] Distances from the router of a row to those of all rows; the maximum value for unreachable ones.
    fn row(&self, from: usize) -> Box<[u16]> {
        let mut hops = vec![u16::MAX; self.neighbours.len()];
        let mut reached = vec![self.routers[from]];
        hops[self.routers[from] as usize] = 0;
        let mut next = 0;
        while let Some(&here) = reached.get(next) {
            next += 1;
            if self.barred[here as usize] && next > 1 {
                continue;
            }
            let further = hops[here as usize].saturating_add(1);
            for &there in &self.neighbours[here as usize] {
                if hops[there as usize] == u16::MAX {
                    hops[there as usize] = further;
                    reached.push(there);
                }
            }
        }
        self.routers.iter().map(|&router| hops[router as usize]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::{Faults, Port, parse, parse_with_faults};

    /// Breadth first over all nodes.
    fn searched(topology: &dyn Topology, from: usize) -> Vec<u32> {
        let mut hops = vec![u32::MAX; topology.nodes()];
        hops[from] = 0;
        let mut reached = vec![from];
        let mut next = 0;
        while let Some(&here) = reached.get(next) {
            next += 1;
            for port in 0..topology.shape().ports() {
                let Some(there) = topology.neighbour(NodeId::at(here), Port::at(port)) else { continue };
                if hops[there.index()] == u32::MAX {
                    hops[there.index()] = hops[here] + 1;
                    reached.push(there.index());
                }
            }
        }
        hops
    }

    fn check(topology: &dyn Fn() -> Box<dyn Topology>) {
        let all = topology();
        for distances in [Distances::few(topology()), Distances::many(topology())] {
            let distances = distances.unwrap();
            for from in 0..all.endpoints() {
                for (to, expected) in searched(&*all, from).into_iter().enumerate().take(all.endpoints()) {
                    let hops = distances.hops(NodeId::at(from), NodeId::at(to));
                    assert_eq!(hops, expected, "{} {from} {to}", all.spec());
                }
            }
        }
    }

    #[test]
    fn distances_are_those_of_a_search() {
        for (spec, ways) in [
            ("torus:4x5", 2),
            ("torus:5x3", 1),
            ("mesh:3x4x2", 2),
            ("twisted:8x4:4", 2),
            ("hypercube:4", 2),
            ("circulant:20:1,6", 2),
            ("midimew:25", 2),
            ("spidergon:12", 2),
            ("spinnaker:5x4", 2),
            ("fattree:3,3", 2),
            ("thintree:4,2,3", 2),
            ("slimtree:4,2,3", 2),
            ("dragonfly:p=2,a=4,h=2", 2),
            ("hyperx:3x4:2", 2),
            ("icube:3x4:2", 2),
            ("rrg:s=12,d=3,p=2", 2),
        ] {
            check(&|| parse(spec, ways).unwrap());
        }
    }

    #[test]
    fn dead_links_are_gone_round() {
        for (spec, one_way) in [("torus:4x4", false), ("torus:4x4", true), ("fattree:3,3", false)] {
            let faults = Faults { count: 3, one_way, seed: 4 };
            check(&|| parse_with_faults(spec, 2, &faults).unwrap());
        }
    }

    #[test]
    fn networks_without_a_formula_have_a_limit() {
        // 1 153 groups of 48 switches with 71 links each: a table would take hours.
        assert!(Distances::few(parse("torus:64x64x64", 2).unwrap()).is_some());
        assert!(Distances::many(parse("torus:64x64x64", 2).unwrap()).is_some());
        assert!(Distances::few(parse("dragonfly:p=1,a=48,h=24", 2).unwrap()).is_none());
    }
}
