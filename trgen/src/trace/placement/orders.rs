//! Placements that are orders of nodes on any network.

use rand::seq::SliceRandom;

use super::{INSEE, PASCUAL, Row, Rule, needs};
use crate::catalog::{Component, ErrorKind, Parameter, SpecError};
use crate::phrase;
use crate::rng::{Purpose, stream};
use crate::units::NodeId;

pub(super) const CONSECUTIVE: Row = Row {
    component: Component { name: "consecutive", about: "task i on node i", parameters: &[], source: PASCUAL },
    parse: |_| Ok(consecutive()),
};

pub(super) const SHUFFLE: Row = Row {
    component: Component {
        name: "shuffle",
        about: "tasks dealt to nodes 0, 2, 4, ..., then 1, 3, 5, ...: the perfect shuffle; on trees of d endpoints a switch to the \
         first endpoint of every switch, then to the second one, ...: 0, d, 2d, ..., then 1, d+1, ...",
        parameters: &[],
        source: INSEE,
    },
    parse: |_| {
        Ok(Rule::order(|context| {
            let (nodes, leaf) = (context.geometry.nodes(), context.geometry.leaf() as usize);
            let stride = if leaf > 1 { leaf } else { 2 };
            Ok((0..stride).flat_map(|first| (first..nodes).step_by(stride)).map(NodeId::at).collect())
        }))
    },
};

pub(super) const SHIFT: Row = Row {
    component: Component {
        name: "shift",
        about: "task i on node (i + s) mod N",
        parameters: &[Parameter { name: "s", about: "nodes to shift by", range: "0..N", default: "" }],
        source: PASCUAL,
    },
    parse: |words| match words {
        Some(words) => Ok(shift(words)),
        None => Err(needs("shift", "the number of nodes to shift by", "shift:4")),
    },
};

pub(super) const RANDOM: Row = Row {
    component: Component {
        name: "random",
        about: "tasks on distinct nodes drawn with the seed of the run",
        parameters: &[],
        source: PASCUAL,
    },
    parse: |_| {
        Ok(Rule::order(|context| {
            let mut all: Vec<NodeId> = (0..context.geometry.nodes()).map(NodeId::at).collect();
            all.shuffle(&mut stream(context.seed, 0, Purpose::Placement));
            Ok(all)
        }))
    },
};

/// Task i on node i.
pub(super) fn consecutive() -> Rule {
    Rule::order(|context| Ok((0..context.geometry.nodes()).map(NodeId::at).collect()))
}

/// The order of nodes that begins with the node of this number. Which numbers are nodes, the network determines.
fn shift(word: &str) -> Rule {
    let (word, shift) = (word.to_owned(), word.parse::<usize>().ok());
    Rule::order(move |context| {
        let nodes = context.geometry.nodes();
        if let Some(shift) = shift.filter(|&shift| shift < nodes) {
            return Ok((0..nodes).map(|task| NodeId::at((task + shift) % nodes)).collect());
        }
        let most = nodes.saturating_sub(1);
        Err(SpecError::new(
            ErrorKind::OutOfRange,
            format!("shift `{word}` is not a number of nodes below {nodes}"),
            phrase!["write ", ["placement" => "shift:1"], " to shift:{most}"],
        ))
    })
}
