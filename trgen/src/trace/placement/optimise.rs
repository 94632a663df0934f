//! Descent by exchanges: two tasks, or a task and a free node, are exchanged as long as this lowers the cost.

use super::partners::{Distance, Partners};
use super::{Row, Rule};
use crate::catalog::{Component, ErrorKind, Parameter, SpecError};
use crate::phrase;
use crate::units::NodeId;

pub(super) const OPTIMISE: Row = Row {
    component: Component {
        name: "optimise",
        about: "descent on bytes x hops: two tasks, or a task and a free node, change places as long as that helps; a task \
                with whatever saves most, task after task, of equals with that on the lowest node",
        parameters: &[
            Parameter {
                name: "rounds",
                about: "over all tasks, at most: optimise:10",
                range: "1..",
                default: "until no exchange helps",
            },
            Parameter {
                name: "start",
                about: "the placement that it begins with, after the rounds if there are any: optimise:10:random",
                range: "any other placement",
                default: "greedy",
            },
        ],
        source: "Heider, A computationally simplified pair-exchange algorithm for the quadratic assignment problem, 1972; \
                 bytes x hops: Agarwal, Sharma, Kale, Topology-aware task mapping for reducing communication contention on \
                 large parallel machines, IPDPS 2006",
    },
    parse: |words| {
        let (rounds, start) = words.map_or(Ok((u64::MAX, "greedy")), read)?;
        Ok(Rule::Optimise { rounds, start: Box::new(start.parse()?) })
    },
};

/// The rounds of `optimise` and its initial placement, from its parameters.
fn read(parameters: &str) -> Result<(u64, &str), SpecError> {
    let (head, tail) = parameters.split_once(':').map_or((parameters, None), |(head, tail)| (head, Some(tail)));
    let (rounds, start) = match head.parse() {
        Ok(rounds) => (rounds, tail.unwrap_or("greedy")),
        Err(_) => (u64::MAX, parameters),
    };
    if rounds == 0 || start.is_empty() || start.split(':').next() == Some("optimise") {
        let what =
            format!("`{parameters}` is no number of rounds from 1 on, and nothing that `optimise` can begin with");
        return Err(SpecError::new(
            ErrorKind::Malformed,
            what,
            phrase![
                "write ",
                ["placement" => "optimise"],
                ", optimise:10, optimise:random or optimise:10:random"
            ],
        ));
    }
    Ok((rounds, start))
}

/// Result of a descent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Descent {
    /// Rounds over all tasks, including the last one without an exchange.
    pub rounds: u64,
    /// Exchanges.
    pub swaps: u64,
    /// \[bytes x hops\] Initial cost.
    pub before: u128,
    /// \[bytes x hops\] Final cost.
    pub after: u128,
    /// True if no exchange of two tasks, or of a task and a free node, lowers the cost.
    pub local_optimum: bool,
}

/// Tasks on nodes. Each node without a task is occupied by a blank, which has a number above those of the tasks, and no
/// partners.
struct State<'a> {
    /// The tasks with which each task exchanges messages.
    partners: &'a Partners,
    distance: &'a dyn Distance,
    /// By number of a task or blank: its node.
    places: Vec<NodeId>,
    /// By node: the number of the task or blank on it.
    occupants: Vec<u32>,
    /// \[bytes x hops\] By number: cost of the traffic with all its partners.
    costs: Vec<u128>,
    /// \[bytes x hops\] By number: lower bound of that cost, with one hop to every partner.
    least: Vec<u128>,
    /// By number: count of exchanges when the task or one of its partners last moved.
    moved: Vec<u64>,
    /// By number: 1 + count of exchanges when all exchanges with the task were last examined; 0 for never.
    seen: Vec<u64>,
    /// Number of exchanges.
    swaps: u64,
}

/// Exchanges tasks of a placement until no exchange helps, or `rounds` are used up.
///
/// A round visits the tasks by number; each makes the exchange that saves most, and among equals the one with the
/// lowest node. The cost of an exchange depends on the partners of the two tasks alone. It is not computed again before
/// one of the two, or one of their partners, has moved.
pub(super) fn optimise(
    partners: &Partners,
    start: &[NodeId],
    nodes: usize,
    distance: &dyn Distance,
    rounds: u64,
) -> (Vec<NodeId>, Descent) {
    let mut state = State::new(partners, start, nodes, distance);
    // Each pair of partners is counted twice.
    let total = |state: &State<'_>| state.costs.iter().sum::<u128>() / 2;
    let before = total(&state);
    let mut descent = Descent { rounds: 0, swaps: 0, before, after: before, local_optimum: false };
    while !descent.local_optimum && descent.rounds < rounds {
        let swaps = state.swaps;
        for task in 0..start.len() as u32 {
            if let Some(other) = state.best_exchange(task) {
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

    /// The node of a task or blank.
    fn place(&self, number: u32) -> NodeId {
        self.places[number as usize]
    }

    /// \[bytes x hops\] Cost of the traffic of a task with all its partners if it were at `node` and, if given, the
    /// task `other` at that other node.
    fn cost(&self, number: u32, node: NodeId, other: Option<(u32, NodeId)>) -> u128 {
        let partners = self.partners.partners_of(number).iter();
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

    /// \[bytes x hops\] Cost of the traffic between two tasks, if they were at these nodes.
    fn between(&self, (one, here): (u32, NodeId), (other, there): (u32, NodeId)) -> u128 {
        let partners = self.partners.partners_of(one);
        match partners.binary_search_by_key(&other, |partner| partner.task) {
            Ok(at) => partners[at].cost(here, there, self.distance),
            Err(_) => 0,
        }
    }

    /// The task or blank with which an exchange saves most, if any exchange saves cost.
    fn best_exchange(&mut self, task: u32) -> Option<u32> {
        let here = self.place(task);
        let index = task as usize;
        let spare = self.costs[index] - self.least[index];
        let (mut saved, mut best) = (0, None);
        for (there, &other) in (0..).map(NodeId).zip(&self.occupants) {
            let at = other as usize;
            let seen = self.seen[index].max(self.seen[at]);
            let known = seen > self.moved[index].max(self.moved[at]);
            // Upper bound of the saving.
            let most = spare + (self.costs[at] - self.least[at]);
            if other == task || known || most <= saved {
                continue;
            }
            // Traffic between the two is counted twice, before and after.
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

    /// Exchanges two tasks or blanks, and updates their costs and those of their partners.
    fn swap(&mut self, one: u32, other: u32) {
        let (here, there) = (self.place(one), self.place(other));
        self.swaps += 1;
        self.places.swap(one as usize, other as usize);
        self.occupants.swap(here.index(), there.index());
        for (number, from, to) in [(one, here, there), (other, there, here)] {
            self.moved[number as usize] = self.swaps;
            for partner in self.partners.partners_of(number) {
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
