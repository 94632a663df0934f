//! Maximum flow from one node to another; where all capacities are 1, the number of link-disjoint paths.
//!
//! Source: Dinic, Algorithm for solution of a problem of maximum flow in networks with power estimation, 1970.

use std::collections::VecDeque;

/// Level of a node that the source does not reach.
const UNREACHED: u32 = u32::MAX;

/// A graph whose arcs have capacities. Arc 2i is an arc of the graph, and arc 2i + 1 its reverse, which is free as far
/// as arc 2i carries flow.
#[derive(Default)]
pub(super) struct Flow {
    /// By arc: the node that it leads to.
    heads: Vec<u32>,
    /// By arc: how much more flow can be sent along it.
    free: Vec<u64>,
    /// By node: the arcs that leave it.
    leaving: Vec<Vec<u32>>,
}

impl Flow {
    pub(super) fn new(nodes: usize) -> Self {
        Self { leaving: vec![Vec::new(); nodes], ..Self::default() }
    }

    /// Adds an arc.
    pub(super) fn add(&mut self, from: usize, to: usize, capacity: u64) {
        let arc = self.heads.len() as u32;
        self.heads.extend([to as u32, from as u32]);
        self.free.extend([capacity, 0]);
        self.leaving[from].push(arc);
        self.leaving[to].push(arc + 1);
    }

    /// The maximum flow, which equals the capacity of the minimum cut. Consumes the flow graph.
    pub(super) fn max_flow(mut self, source: usize, sink: usize) -> u64 {
        let mut flow = 0;
        loop {
            let levels = self.levels(source);
            if levels[sink] == UNREACHED {
                return flow;
            }
            // By node: the number of its arcs that are dead ends on this level graph.
            let mut tried = vec![0; self.leaving.len()];
            while let Some(more) = self.augment(source, sink, &levels, &mut tried) {
                flow += more;
            }
        }
    }

    /// \[arcs\] By node: its distance from the source over free arcs.
    fn levels(&self, source: usize) -> Vec<u32> {
        let mut levels = vec![UNREACHED; self.leaving.len()];
        levels[source] = 0;
        let mut reached = VecDeque::from([source]);
        while let Some(here) = reached.pop_front() {
            for &arc in self.leaving[here].iter().filter(|&&arc| self.free[arc as usize] > 0) {
                let there = self.heads[arc as usize] as usize;
                if levels[there] == UNREACHED {
                    levels[there] = levels[here] + 1;
                    reached.push_back(there);
                }
            }
        }
        levels
    }

    /// Sends as much flow as can be along a path on which each arc leads one level up. `None` if no such path is left.
    /// `tried` counts by node the arcs that are known to be dead ends.
    fn augment(&mut self, source: usize, sink: usize, levels: &[u32], tried: &mut [usize]) -> Option<u64> {
        let (mut path, mut here) = (Vec::new(), source);
        while here != sink {
            let leads = |arc: &u32| {
                let there = self.heads[*arc as usize] as usize;
                self.free[*arc as usize] > 0 && levels[there] == levels[here] + 1
            };
            let rest = &self.leaving[here][tried[here]..];
            if let Some(skipped) = rest.iter().position(leads) {
                tried[here] += skipped;
                let arc = self.leaving[here][tried[here]];
                path.push(arc);
                here = self.heads[arc as usize] as usize;
            } else {
                // Back to the previous node, whose arc is a dead end.
                let arc = path.pop()?;
                here = self.heads[(arc ^ 1) as usize] as usize;
                tried[here] += 1;
            }
        }
        let more = path.iter().map(|&arc: &u32| self.free[arc as usize]).min()?;
        for arc in path {
            self.free[arc as usize] -= more;
            self.free[(arc ^ 1) as usize] += more;
        }
        Some(more)
    }
}

#[cfg(test)]
mod tests {
    use super::Flow;

    fn max_flow(nodes: usize, arcs: &[(usize, usize)]) -> u64 {
        let mut flow = Flow::new(nodes);
        arcs.iter().for_each(|&(from, to)| flow.add(from, to, 1));
        flow.max_flow(0, nodes - 1)
    }

    #[test]
    fn flows_are_those_counted_by_hand() {
        assert_eq!(max_flow(2, &[]), 0);
        assert_eq!(max_flow(2, &[(0, 1), (0, 1), (1, 0)]), 2);
        // The shortest path, 0 1 4 5, uses an arc of each of the two possible paths: it must be undone.
        assert_eq!(max_flow(6, &[(0, 1), (1, 4), (4, 5), (0, 3), (3, 4), (1, 2), (2, 5)]), 2);
        // A bottleneck of one arc between two triples.
        let (mut arcs, wide) = (vec![(3, 4)], [1, 2, 3]);
        wide.iter().for_each(|&at| arcs.extend([(0, at), (at, 3), (4, at + 4), (at + 4, 8)]));
        assert_eq!(max_flow(9, &arcs), 1);
    }

    #[test]
    fn capacities_bound_flows() {
        let mut flow = Flow::new(4);
        for (from, to, capacity) in [(0, 1, 5), (0, 2, 3), (1, 2, 4), (1, 3, 2), (2, 3, 6)] {
            flow.add(from, to, capacity);
        }
        assert_eq!(flow.max_flow(0, 3), 8);
    }
}
