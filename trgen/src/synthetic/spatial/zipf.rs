//! Traffic in which a few nodes receive most messages.

use super::random::{setup, shuffled};
use super::ring::Rings;
use super::{Built, Entry, Pattern, PatternContext};
use crate::catalog::{Component, Parameter};
use crate::rng::Stream;
use crate::synthetic::alias::Alias;
use crate::synthetic::draw::inverse_power;
use crate::synthetic::expr::Call;
use crate::units::NodeId;

pub(super) static ZIPF: Entry = Entry {
    component: Component {
        name: "zipf",
        about: "the other node of rank r with probability proportional to r^-s; ranks by a permutation drawn from the \
                seed (the same favourites for all), by node number, or by distance on the torus",
        parameters: &[
            Parameter { name: "s", about: "exponent; 0 is uniform", range: "0..=64", default: "1" },
            Parameter { name: "ranks", about: "who is first", range: "random, id, distance", default: "random" },
        ],
        source: "Zipf, Human Behavior and the Principle of Least Effort (1949); Dally and Towles (2004), 3.2",
    },
    aliases: &[],
    build,
};

/// Rule that assigns ranks to nodes.
#[derive(Clone, Copy)]
enum By {
    /// By a random permutation, the same for all nodes.
    Random,
    /// By node number.
    Number,
    /// By distance from the sender.
    Distance,
}

/// Builds the pattern `zipf`.
fn build(call: &Call, context: PatternContext) -> Built {
    let exponent = call.number("s", 0.0..=64.0)?;
    let by = call.choice("ranks", &[("random", By::Random), ("id", By::Number), ("distance", By::Distance)])?;
    let nodes = context.nodes();
    let weights: Vec<f64> = (1..nodes).map(|rank| inverse_power(f64::from(rank), exponent)).collect();
    let order = match by {
        By::Random => Order::global(shuffled(nodes, &mut setup(context.seed, "zipf"))),
        By::Number => Order::global((0..nodes).collect()),
        By::Distance => Order::Distance(Rings::new(context.geometry)),
    };
    Ok(Box::new(Zipf { nodes: nodes as usize, ranks: Alias::new(&weights), order }))
}

/// The pattern `zipf`.
#[derive(Debug)]
struct Zipf {
    nodes: usize,
    /// Draws the rank less 1 among the other nodes; `None` for a single node.
    ranks: Option<Alias>,
    order: Order,
}

/// Assignment of ranks to nodes.
#[derive(Debug)]
enum Order {
    /// One order of all nodes; each node skips itself.
    Global {
        nodes: Vec<u32>,
        /// Per node: its own position.
        places: Vec<u32>,
    },
    /// Every node ranks the others by distance.
    Distance(Rings),
}

impl Order {
    /// The order in which rank r belongs to the r-th of `nodes`.
    fn global(nodes: Vec<u32>) -> Self {
        let mut places = vec![0; nodes.len()];
        for (place, &node) in nodes.iter().enumerate() {
            places[node as usize] = place as u32;
        }
        Self::Global { nodes, places }
    }
}

impl Pattern for Zipf {
    fn nodes(&self) -> usize {
        self.nodes
    }

    fn destination(&mut self, source: NodeId, rng: &mut Stream) -> Option<NodeId> {
        let rank = self.ranks.as_ref()?.draw(rng);
        Some(match &self.order {
            Order::Global { nodes, places } => {
                NodeId(nodes[rank + usize::from(rank >= places[source.index()] as usize)])
            }
            Order::Distance(rings) => rings.node(source, rank),
        })
    }

    fn is_silent(&self, _: NodeId) -> bool {
        self.ranks.is_none()
    }
}
