//! Patterns in which every node has two destinations.

use super::{Built, Entry, Pattern, PatternContext, TO_ITSELF};
use crate::catalog::Component;
use crate::rng::Stream;
use crate::synthetic::draw::below;
use crate::synthetic::expr::Call;
use crate::units::NodeId;

/// The destinations of a source among so many nodes, each with its weight.
type Choices = fn(u32, u32) -> [(u32, u32); 2];

const fn entry(name: &'static str, about: &'static str, build: fn(&Call, PatternContext) -> Built) -> Entry {
    let component = Component { name, about, parameters: &[TO_ITSELF], source: "BookSim 2, Jiang et al., ISPASS 2013" };
    Entry { component, aliases: &[], build }
}

pub(super) static ASYMMETRIC: Entry = entry(
    "asymmetric",
    "node i sends to i mod floor(N/2), or to the node floor(N/2) further on, equally often; with self=true also to itself",
    |call, context| {
        Few::build(call, context, |nodes, source| {
            let half = nodes / 2;
            [(source % half, 1), (source % half + half, 1)]
        })
    },
);

pub(super) static DIAGONAL: Entry = entry(
    "diagonal",
    "node i sends to (i + 1) mod N, and with self=true two messages of three to itself",
    |call, context| Few::build(call, context, |nodes, source| [((source + 1) % nodes, 1), (source, 2)]),
);

/// Two destinations of each node.
#[derive(Debug)]
struct Few {
    nodes: u32,
    to_itself: bool,
    choices: Choices,
}

impl Few {
    fn build(call: &Call, context: PatternContext, choices: Choices) -> Built {
        let (nodes, to_itself) = (context.nodes(), context.sends_to_itself(call)?);
        if nodes < 2 {
            let problem = format!("`{}` needs two nodes or more", call.name());
            return Err(call.refuse_all(&problem, "use a larger network"));
        }
        Ok(Box::new(Self { nodes, to_itself, choices }))
    }

    /// The destinations of a source, with their weights.
    fn of(&self, source: NodeId) -> impl Iterator<Item = (u32, u32)> + use<> {
        let to_itself = self.to_itself;
        let choices = (self.choices)(self.nodes, source.0).into_iter();
        choices.filter(move |&(node, _)| to_itself || node != source.0)
    }
}

impl Pattern for Few {
    fn nodes(&self) -> usize {
        self.nodes as usize
    }

    fn destination(&mut self, source: NodeId, rng: &mut Stream) -> Option<NodeId> {
        let total = self.of(source).map(|(_, weight)| weight).sum();
        let mut drawn = if total > 0 { below(total, rng) } else { return None };
        for (node, weight) in self.of(source) {
            match drawn.checked_sub(weight) {
                Some(rest) => drawn = rest,
                None => return Some(NodeId(node)),
            }
        }
        None
    }

    fn shares(&self, source: NodeId) -> Option<Vec<f64>> {
        let total: u32 = self.of(source).map(|(_, weight)| weight).sum();
        let mut shares = vec![0.0; self.nodes as usize];
        for (node, weight) in self.of(source) {
            shares[node as usize] += f64::from(weight) / f64::from(total);
        }
        Some(shares)
    }

    fn is_silent(&self, source: NodeId) -> bool {
        self.of(source).next().is_none()
    }
}
