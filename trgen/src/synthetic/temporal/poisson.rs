//! Arrivals in continuous time.
//!
//! # How the model departs from reality, and who could notice
//! A node generates at most one message per cycle: of several arrivals in one cycle all but the first move to the
//! following cycles. Near one message per cycle this makes the counts more regular than those of a Poisson process.

use super::{Entry, Process, Temporal};
use crate::catalog::Component;
use crate::rng::Stream;
use crate::synthetic::draw::{ln, positive_unit};
use crate::units::{Cycle, NodeId};

pub(super) static POISSON: Entry = Entry {
    component: Component {
        name: "poisson",
        about: "messages at the points of a Poisson process in continuous time, each in the cycle in which its point \
                lies, or the next free one",
        parameters: &[],
        source: "Jain, The Art of Computer Systems Performance Analysis (1991), 30.1",
    },
    aliases: &[],
    build: |_, context| {
        let node = Node { time: 0.0, promised: Cycle(0) };
        Ok(Temporal::Process(Box::new(Poisson { rate: context.rate()?, nodes: vec![node; context.nodes] })))
    },
};

#[derive(Debug)]
struct Poisson {
    /// \[message/node/cycle\]
    rate: f64,
    nodes: Vec<Node>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    /// \[cycle\] The last arrival.
    time: f64,
    /// The last cycle returned.
    promised: Cycle,
}

impl Process for Poisson {
    fn next(&mut self, node: NodeId, from: Cycle, rng: &mut Stream) -> Cycle {
        if self.rate == 0.0 {
            return Cycle::NEVER;
        }
        let node = &mut self.nodes[node.index()];
        if from > node.promised {
            // The network blocked the node: the process has no memory and begins anew.
            node.time = from.0 as f64;
        }
        node.time -= ln(positive_unit(rng)) / self.rate;
        // Arrivals in (t-1, t] belong to cycle t. The conversion saturates.
        node.promised = Cycle((node.time.ceil() as u64).max(from.0.saturating_add(1)));
        node.promised
    }
}
