//! Arrivals in continuous time, whose gaps are drawn one after the other.
//!
//! # How the model departs from reality, and who could notice
//! A node generates at most one message per cycle: of several arrivals in one cycle all but the first move to the
//! following cycles. Near one message per cycle this makes the counts more regular than those of the process itself.

use super::{Built, Entry, Process, ProcessContext, Temporal};
use crate::catalog::{Component, Parameter};
use crate::rng::Stream;
use crate::synthetic::draw::{ln, positive_unit};
use crate::synthetic::tail::{self, Tail};
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
    build: |_, context| build(&context, Gap::Draw(|rng| -ln(positive_unit(rng)))),
};

pub(super) static UNIFORM_GAPS: Entry = Entry {
    component: Component {
        name: "uniform-gaps",
        about: "gaps between the messages of a node, each drawn with equal probability from 0 to twice their mean; a \
                message is generated in the cycle in which its gap ends, or the next free one",
        parameters: &[],
        source: "Jain, The Art of Computer Systems Performance Analysis (1991), 28.1",
    },
    aliases: &[],
    build: |_, context| build(&context, Gap::Draw(|rng| 2.0 * positive_unit(rng))),
};

/// A process whose gaps have a heavy-tailed law with one parameter.
const fn heavy(
    name: &'static str,
    about: &'static str,
    parameters: &'static [Parameter],
    source: &'static str,
    build: fn(&crate::synthetic::expr::Call, ProcessContext) -> Built,
) -> Entry {
    Entry { component: Component { name, about, parameters, source }, aliases: &[], build }
}

pub(super) static PARETO: Entry = heavy(
    "pareto",
    "gaps between the messages of a node by Pareto's law, longer than x with probability proportional to x^-a; a run \
     begins in the middle of a gap",
    &[tail::PARETO],
    "Paxson and Floyd, Wide-Area Traffic: The Failure of Poisson Modeling (1995)",
    |call, context| build(&context, Gap::Tail(tail::pareto(call)?)),
);

pub(super) static LOGNORMAL: Entry = heavy(
    "lognormal",
    "gaps between the messages of a node whose logarithms have a normal distribution; a run begins in the middle of a gap",
    &[tail::LOGNORMAL],
    "Benson, Akella, Maltz, Network Traffic Characteristics of Data Centers in the Wild (2010)",
    |call, context| build(&context, Gap::Tail(tail::lognormal(call)?)),
);

pub(super) static WEIBULL: Entry = heavy(
    "weibull",
    "gaps between the messages of a node by Weibull's law: bursts with k below 1; a run begins in the middle of a gap",
    &[tail::WEIBULL],
    "Benson, Akella, Maltz, Network Traffic Characteristics of Data Centers in the Wild (2010)",
    |call, context| build(&context, Gap::Tail(tail::weibull(call)?)),
);

pub(super) static GAMMA: Entry = heavy(
    "gamma",
    "gaps between the messages of a node by the gamma distribution: bursts with k below 1; a run begins in the middle of a \
     gap",
    &[tail::GAMMA],
    "Johnson, Kotz, Balakrishnan, Continuous Univariate Distributions (1994), chapter 17",
    |call, context| build(&context, Gap::Tail(tail::gamma(call)?)),
);

/// Draws gaps whose mean is one.
#[derive(Clone, Copy, Debug)]
enum Gap {
    Draw(fn(&mut Stream) -> f64),
    Tail(Tail),
}

impl Gap {
    /// The next gap. `is_first` is true of the first one of a node: those of heavy tails are then the rest of a gap
    /// that began earlier. Otherwise all nodes would begin with a message behind them, and the load of the first
    /// messages would be another one for long.
    fn draw(&self, is_first: bool, rng: &mut Stream) -> f64 {
        match self {
            Self::Draw(draw) => draw(rng),
            Self::Tail(tail) if is_first => tail.draw_rest(rng),
            Self::Tail(tail) => tail.draw(rng),
        }
    }
}

/// Builds a process from the law of its gaps.
fn build(context: &ProcessContext, gap: Gap) -> Built {
    let node = Node { time: 0.0, last_returned: Cycle(0) };
    Ok(Temporal::Process(Box::new(Renewal { rate: context.rate()?, gap, nodes: vec![node; context.nodes] })))
}

/// The processes of this file.
#[derive(Debug)]
struct Renewal {
    /// \[message/node/cycle\] Rate of messages.
    rate: f64,
    gap: Gap,
    nodes: Vec<Node>,
}

/// State of a node.
#[derive(Clone, Copy, Debug)]
struct Node {
    /// \[cycle\] Time of the last arrival.
    time: f64,
    /// The last cycle returned.
    last_returned: Cycle,
}

impl Process for Renewal {
    fn next(&mut self, node: NodeId, from: Cycle, rng: &mut Stream) -> Cycle {
        if self.rate == 0.0 {
            return Cycle::NEVER;
        }
        let node = &mut self.nodes[node.index()];
        if from > node.last_returned {
            // The network blocked the node: a new gap begins.
            node.time = from.0 as f64;
        }
        node.time += self.gap.draw(node.last_returned == Cycle(0), rng) / self.rate;
        // Arrivals in (t-1, t] belong to cycle t. The conversion saturates.
        node.last_returned = Cycle((node.time.ceil() as u64).max(from.0.saturating_add(1)));
        node.last_returned
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, stream};
    use crate::synthetic::temporal::{ProcessContext, parse};

    #[test]
    fn gaps_end_before_twice_their_mean() {
        let context = ProcessContext { nodes: 1, load: 0.01, capacity: 1.0, mean_phits: 10.0, seed: 3 };
        let mut process = parse("uniform-gaps", context).unwrap();
        let mut rng = stream(3, 0, Purpose::Temporal);
        let (mut at, mut most) = (Cycle(0), 0);
        for _ in 0..10_000 {
            let next = process.next(NodeId(0), at, &mut rng);
            most = most.max(next.0 - at.0);
            at = next;
        }
        assert!((9_900_000..10_100_000).contains(&at.0) && (1_950..=2_001).contains(&most), "{at} {most}");
    }
}
