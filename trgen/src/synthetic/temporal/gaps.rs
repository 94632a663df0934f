//! Gaps of bounded length.

use super::{Entry, Process, Temporal};
use crate::catalog::Component;
use crate::rng::Stream;
use crate::synthetic::draw::positive_unit;
use crate::units::{Cycle, NodeId};

pub(super) static UNIFORM_GAPS: Entry = Entry {
    component: Component {
        name: "uniform-gaps",
        about: "gaps between the messages of a node, each drawn with equal probability from 0 to twice their mean; a \
                message is generated in the cycle in which its gap ends, or the next free one",
        parameters: &[],
        source: "Jain, The Art of Computer Systems Performance Analysis (1991), 28.1",
    },
    aliases: &[],
    build: |_, context| {
        let node = Node { time: 0.0, promised: Cycle(0) };
        Ok(Temporal::Process(Box::new(UniformGaps { rate: context.rate()?, nodes: vec![node; context.nodes] })))
    },
};

#[derive(Debug)]
struct UniformGaps {
    /// \[message/node/cycle\]
    rate: f64,
    nodes: Vec<Node>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    /// \[cycle\] The end of the last gap.
    time: f64,
    /// The last cycle returned.
    promised: Cycle,
}

impl Process for UniformGaps {
    fn next(&mut self, node: NodeId, from: Cycle, rng: &mut Stream) -> Cycle {
        if self.rate == 0.0 {
            return Cycle::NEVER;
        }
        let node = &mut self.nodes[node.index()];
        if from > node.promised {
            // The network blocked the node: a new gap begins.
            node.time = from.0 as f64;
        }
        node.time += 2.0 * positive_unit(rng) / self.rate;
        // The conversion saturates.
        node.promised = Cycle((node.time.ceil() as u64).max(from.0.saturating_add(1)));
        node.promised
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, stream};
    use crate::synthetic::temporal::{ProcessContext, read};

    #[test]
    fn gaps_end_before_twice_their_mean() {
        let context = ProcessContext { nodes: 1, load: 0.01, mean_phits: 10.0, seed: 3 };
        let Temporal::Process(mut process) = read("uniform-gaps", context).unwrap() else { panic!("a process") };
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
