//! Traffic by a measured communication matrix.

use super::file::numbers;
use super::{Built, Entry, Pattern, PatternContext};
use crate::catalog::{Component, Parameter};
use crate::rng::Stream;
use crate::synthetic::alias::Alias;
use crate::synthetic::expr::Call;
use crate::units::NodeId;

pub(super) static MATRIX: Entry = Entry {
    component: Component {
        name: "matrix",
        about: "node i sends to node j with probability proportional to entry j of line i of a file of N lines of N \
                weights; what a node has for itself takes no network and is left out; a node without others is silent",
        parameters: &[Parameter { name: "file", about: "path of the file", range: "a text file", default: "" }],
        source: "Vetter and Mueller, Communication Characteristics of Large-Scale Scientific Applications (2002)",
    },
    aliases: &[],
    build,
};

/// Builds the pattern `matrix`.
fn build(call: &Call, context: PatternContext) -> Built {
    let nodes = context.nodes() as usize;
    let file = numbers(call, context)?;
    if file.lines.len() != nodes {
        let what = format!("{} lines of numbers for {nodes} nodes", file.lines.len());
        return Err(file.refuse(call, None, &what, "one line of weights for each node"));
    }
    let mut rows = Vec::with_capacity(nodes);
    for (source, (line, weights)) in file.lines.iter().enumerate() {
        if weights.len() != nodes {
            let what = format!("{} weights for {nodes} nodes", weights.len());
            return Err(file.refuse(call, Some(*line), &what, "one weight for each node"));
        }
        if let Some(weight) = weights.iter().find(|&&weight| weight < 0.0) {
            return Err(file.refuse(
                call,
                Some(*line),
                &format!("weight {weight} is negative"),
                "weights of 0 or more",
            ));
        }
        let others = || weights.iter().enumerate().filter(|&(to, &weight)| to != source && weight > 0.0);
        let values: Vec<f64> = others().map(|(_, &weight)| weight).collect();
        if values.is_empty() {
            rows.push(None);
            continue;
        }
        let Some(choice) = Alias::new(&values) else {
            return Err(file.refuse(call, Some(*line), "the sum of the weights is not finite", "smaller weights"));
        };
        rows.push(Some(Row { to: others().map(|(to, _)| to as u32).collect(), choice }));
    }
    Ok(Box::new(Matrix { rows }))
}

/// The pattern `matrix`.
#[derive(Debug)]
struct Matrix {
    /// The destinations of each node; `None` for silent nodes.
    rows: Vec<Option<Row>>,
}

/// The destinations of one node.
#[derive(Debug)]
struct Row {
    /// Destinations with a weight above 0.
    to: Vec<u32>,
    /// Draws an index in `to`.
    choice: Alias,
}

impl Pattern for Matrix {
    fn nodes(&self) -> usize {
        self.rows.len()
    }

    fn destination(&mut self, source: NodeId, rng: &mut Stream) -> Option<NodeId> {
        let row = self.rows[source.index()].as_ref()?;
        Some(NodeId(row.to[row.choice.draw(rng)]))
    }

    fn is_silent(&self, source: NodeId) -> bool {
        self.rows[source.index()].is_none()
    }
}
