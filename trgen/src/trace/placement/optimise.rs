//! Descent by exchanges: as long as two tasks, or a task and a free node, cost less the other way round, they change places.

use super::partners::{Distance, Partners};
use crate::units::NodeId;

/// What a descent came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Descent {
    /// Rounds over all tasks, the last one without an exchange counted too.
    pub rounds: u64,
    /// Exchanges.
    pub swaps: u64,
    /// \[bytes x hops\] Before.
    pub before: u128,
    /// \[bytes x hops\] After.
    pub after: u128,
    /// True if no exchange of two tasks, or of a task and a free node, makes it any less.
    pub local_optimum: bool,
}

/// Tasks on nodes. What stands on a node without a task is given a number beyond those of tasks, and has no partners.
struct State<'a> {
    partners: &'a Partners,
    distance: &'a dyn Distance,
    /// By number of task or blank.
    places: Vec<NodeId>,
    /// By node.
    occupants: Vec<u32>,
    /// \[bytes x hops\] By number: with all its partners.
    costs: Vec<u128>,
    /// \[bytes\] By number: what it costs at least, one hop to every partner.
    least: Vec<u128>,
    /// By number: exchanges so far when it or one of its partners moved last.
    moved: Vec<u64>,
    /// By number: 1 + exchanges so far when all exchanges with it were looked at last; 0 for never.
    seen: Vec<u64>,
    swaps: u64,
}

/// Exchanges tasks of a placement until no exchange helps, or `rounds` are used up.
///
/// A round visits the tasks by number; each changes places with whatever saves most, of equals with that on the lowest node.
/// An exchange is weighed by the partners of the two alone, and not again before one of them, or a partner, has moved.
pub(super) fn optimise(
    partners: &Partners,
    start: &[NodeId],
    nodes: usize,
    distance: &dyn Distance,
    rounds: u64,
) -> (Vec<NodeId>, Descent) {
    let mut state = State::new(partners, start, nodes, distance);
    // Each pair of partners has been counted at both.
    let total = |state: &State<'_>| state.costs.iter().sum::<u128>() / 2;
    let before = total(&state);
    let mut descent = Descent { rounds: 0, swaps: 0, before, after: before, local_optimum: false };
    while !descent.local_optimum && descent.rounds < rounds {
        let swaps = state.swaps;
        for task in 0..start.len() as u32 {
            if let Some(other) = state.best(task) {
                state.swap(task, other);
            }
        }
        descent.rounds += 1;
        descent.local_optimum = state.swaps == swaps;
    }
    descent.swaps = state.swaps;
    descent.after = total(&state);
    state.places.truncate(start.len());
    (state.places, descent)
}

impl<'a> State<'a> {
    fn new(partners: &'a Partners, start: &[NodeId], nodes: usize, distance: &'a dyn Distance) -> Self {
        const NOBODY: u32 = u32::MAX;
        let mut occupants = vec![NOBODY; nodes];
        let mut places = start.to_vec();
        for (task, node) in (0..).zip(start) {
            occupants[node.index()] = task;
        }
        for (node, occupant) in occupants.iter_mut().enumerate().filter(|(_, occupant)| **occupant == NOBODY) {
            *occupant = places.len() as u32;
            places.push(NodeId::at(node));
        }
        let least = (0..nodes as u32).map(|number| partners.traffic(number)).collect();
        let (costs, moved, seen) = (vec![0; nodes], vec![0; nodes], vec![0; nodes]);
        let mut state = Self { partners, distance, places, occupants, costs, least, moved, seen, swaps: 0 };
        for number in 0..nodes as u32 {
            state.costs[number as usize] = state.cost(number, state.place(number), None);
        }
        state
    }

    fn place(&self, number: u32) -> NodeId {
        self.places[number as usize]
    }

    /// \[bytes x hops\] Of a task and its partners if it stood at `node`, and `other`, if given, elsewhere.
    fn cost(&self, number: u32, node: NodeId, other: Option<(u32, NodeId)>) -> u128 {
        let partners = self.partners.of(number).iter();
        partners
            .map(|partner| {
                let there = match other {
                    Some((task, place)) if task == partner.task => place,
                    _ => self.place(partner.task),
                };
                partner.cost(node, there, self.distance)
            })
            .sum()
    }

    /// \[bytes x hops\] Of what two exchange with each other, if they stood at these nodes.
    fn between(&self, (one, here): (u32, NodeId), (other, there): (u32, NodeId)) -> u128 {
        let partners = self.partners.of(one);
        match partners.binary_search_by_key(&other, |partner| partner.task) {
            Ok(at) => partners[at].cost(here, there, self.distance),
            Err(_) => 0,
        }
    }

    /// The one with whom a task had best change places, if that saves anything.
    fn best(&mut self, task: u32) -> Option<u32> {
        let here = self.place(task);
        let index = task as usize;
        let spare = self.costs[index] - self.least[index];
        let (mut saved, mut best) = (0, None);
        for (there, &other) in (0..).map(NodeId).zip(&self.occupants) {
            let at = other as usize;
            let seen = self.seen[index].max(self.seen[at]);
            let known = seen > self.moved[index].max(self.moved[at]);
            // More than this cannot be saved.
            let most = spare + (self.costs[at] - self.least[at]);
            if other == task || known || most <= saved {
                continue;
            }
            // What the two exchange with each other is counted at both, now and then.
            let now = self.costs[index] + self.costs[at] - self.between((task, here), (other, there));
            let mine = self.cost(task, there, Some((other, here)));
            if mine + self.least[at] >= now + self.between((task, there), (other, here)) {
                continue;
            }
            let then = mine + self.cost(other, here, Some((task, there))) - self.between((task, there), (other, here));
            if let Some(gain) = now.checked_sub(then).filter(|&gain| gain > saved) {
                (saved, best) = (gain, Some(other));
            }
        }
        self.seen[index] = self.swaps + 1;
        best
    }

    /// Lets two change places, and brings up to date what they and their partners cost.
    fn swap(&mut self, one: u32, other: u32) {
        let (here, there) = (self.place(one), self.place(other));
        self.swaps += 1;
        self.places.swap(one as usize, other as usize);
        self.occupants.swap(here.index(), there.index());
        for (number, from, to) in [(one, here, there), (other, there, here)] {
            self.moved[number as usize] = self.swaps;
            for partner in self.partners.of(number) {
                let at = partner.task as usize;
                self.moved[at] = self.swaps;
                if partner.task != one && partner.task != other {
                    let place = self.places[at];
                    self.costs[at] += partner.cost(to, place, self.distance);
                    self.costs[at] -= partner.cost(from, place, self.distance);
                }
            }
        }
        for number in [one, other] {
            self.costs[number as usize] = self.cost(number, self.place(number), None);
        }
    }
}
