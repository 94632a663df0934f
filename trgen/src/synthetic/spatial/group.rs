//! Traffic between groups of consecutive nodes, as between the groups of a dragonfly.

use super::offset::add;
use super::uniform::any_other;
use super::{Built, Entry, Pattern, PatternContext};
use crate::catalog::{Component, Parameter};
use crate::rng::Stream;
use crate::synthetic::draw::below;
use crate::synthetic::expr::Call;
use crate::units::NodeId;

pub(super) static GROUPSHIFT: Entry = Entry {
    component: Component {
        name: "groupshift",
        about: "any node of the group floor(i/g) + s (mod N/g) of g nodes, all equally likely",
        parameters: &[
            Parameter { name: "g", about: "nodes per group", range: "a divisor of N", default: "" },
            Parameter { name: "s", about: "distance [groups]", range: "whole number", default: "1" },
        ],
        source: "Kim, Dally, Scott, Abts, Technology-Driven, Highly-Scalable Dragonfly Topology (ISCA 2008), worst case",
    },
    aliases: &[],
    build,
};

/// Builds the pattern `groupshift`.
fn build(call: &Call, context: PatternContext) -> Built {
    let nodes = context.nodes();
    let size = call.integer("g", 1..=i64::from(nodes))? as u32;
    if !nodes.is_multiple_of(size) {
        return Err(call.refuse_all(
            &format!("`groupshift` needs groups of equal size, and {size} does not divide {nodes} nodes"),
            "a g that divides the number of nodes",
        ));
    }
    let groups = nodes / size;
    let shift = call.integer("s", -(1 << 53)..=1 << 53)?.rem_euclid(i64::from(groups)) as u32;
    Ok(Box::new(GroupShift { nodes, size, shift }))
}

/// The pattern `groupshift`.
#[derive(Debug)]
struct GroupShift {
    nodes: u32,
    /// Number of nodes per group.
    size: u32,
    /// \[groups\] Distance to the group of the destinations, from 0.
    shift: u32,
}

impl Pattern for GroupShift {
    fn nodes(&self) -> usize {
        self.nodes as usize
    }

    fn destination(&mut self, source: NodeId, rng: &mut Stream) -> Option<NodeId> {
        if self.is_silent(source) {
            return None;
        }
        let first = add(source.0 / self.size, self.shift, self.nodes / self.size) * self.size;
        let within = if self.shift == 0 {
            any_other(NodeId(source.0 % self.size), self.size, rng).0
        } else {
            below(self.size, rng)
        };
        Some(NodeId(first + within))
    }

    /// True for groups of one node that send to themselves.
    fn is_silent(&self, _: NodeId) -> bool {
        self.shift == 0 && self.size == 1
    }
}
