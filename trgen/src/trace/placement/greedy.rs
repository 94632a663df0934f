//! Greedy placement: next the task with most traffic to placed ones, on the nearest free node.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::partners::{Distance, Partners};
use super::{Row, Rule};
use crate::catalog::Component;
use crate::units::NodeId;

pub(super) const GREEDY: Row = Row {
    component: Component {
        name: "greedy",
        about: "the task with most traffic on the first node; then again and again the task with most bytes to and from those \
         placed, on the free node with the least sum of bytes x hops; of equals the lowest number",
        parameters: &[],
        source: "after Hoefler and Snir, Generic topology mapping strategies for large-scale parallel architectures, ICS 2011",
    },
    parse: |_| Ok(Rule::Greedy),
};

/// The node of each task, among `nodes` nodes. There must be at least as many nodes as tasks.
///
/// The time is proportional to nodes times pairs of communicating tasks.
pub(super) fn greedy(partners: &Partners, nodes: usize, distance: &dyn Distance) -> Vec<NodeId> {
    let tasks = partners.tasks();
    let mut places: Vec<Option<NodeId>> = vec![None; tasks];
    let mut free: Vec<NodeId> = (0..nodes).map(NodeId::at).collect();
    // [bytes] Traffic of each task with the placed tasks.
    let mut near = vec![0_u128; tasks];
    // Tasks in descending order of that traffic; entries with an outdated number of bytes are skipped.
    let mut next: BinaryHeap<(u128, Reverse<u32>)> = (0..tasks as u32).map(|task| (0, Reverse(task))).collect();
    let mut first = (0..tasks as u32).max_by_key(|&task| (partners.traffic(task), Reverse(task)));
    while let Some(task) = first.take().or_else(|| {
        let is_current = |&(bytes, Reverse(task)): &(u128, Reverse<u32>)| {
            places[task as usize].is_none() && near[task as usize] == bytes
        };
        std::iter::from_fn(|| next.pop()).find(is_current).map(|(_, Reverse(task))| task)
    }) {
        let placed: Vec<_> = partners
            .partners_of(task)
            .iter()
            .filter_map(|partner| places[partner.task as usize].map(|there| (partner, there)))
            .collect();
        let mut best: Option<(u128, usize)> = None;
        for (at, &node) in free.iter().enumerate() {
            let least = best.map_or(u128::MAX, |(cost, _)| cost);
            let mut cost = 0;
            for (partner, there) in &placed {
                cost += partner.cost(node, *there, distance);
                if cost >= least {
                    break;
                }
            }
            if cost < least {
                best = Some((cost, at));
                if cost == 0 {
                    break;
                }
            }
        }
        let Some((_, at)) = best else { break };
        places[task as usize] = Some(free.remove(at));
        for partner in partners.partners_of(task).iter().filter(|partner| places[partner.task as usize].is_none()) {
            let near = &mut near[partner.task as usize];
            *near += partner.bytes();
            next.push((*near, Reverse(partner.task)));
        }
    }
    places.into_iter().flatten().collect()
}
