//! A pattern on each part of the network, or on a renumbering of it.

use super::random::{setup, shuffled};
use super::{Built, Entry, Pattern, PatternContext, build};
use crate::Geometry;
use crate::catalog::{Component, Parameter};
use crate::rng::{Stream, mix2};
use crate::synthetic::expr::{Call, Expr};
use crate::units::NodeId;

pub(super) static MAP: Entry = Entry {
    component: Component {
        name: "map",
        about: "a pattern on other networks than the whole. block:B: every B consecutive nodes are a network of their \
                own; stride:S: so are nodes S apart; groups:B: every B consecutive nodes act as one, and a node sends \
                to that of its own position in another group; grid:8x8: the nodes in their order as a grid of these \
                sizes; random: the nodes renumbered by a permutation drawn from the seed",
        parameters: &[
            Parameter {
                name: "form",
                about: "how the nodes are taken",
                range: "block:B, stride:S, groups:B with a divisor of N; grid:SIZES with product N; random",
                default: "",
            },
            Parameter { name: "pattern", about: "the pattern", range: "any", default: "" },
        ],
        source: "the algebra of CAMINOS; Camarero, Postigo, Fuentes, CAMINOS: a modular interconnection network \
                 simulator (2025)",
    },
    aliases: &[],
    build: map,
};

/// Builds the pattern `map`.
fn map(call: &Call, context: PatternContext) -> Built {
    let (Some(form), Some(pattern)) = (call.given("form"), call.given("pattern")) else {
        return Err(call.refuse_all("`map` needs a form and a pattern", "write map(block:16, uniform)"));
    };
    let nodes = context.nodes();
    let inner = |geometry: &Geometry, seed| build(call.text(), pattern, PatternContext { geometry, seed, ..context });
    let line = |size: u32| Geometry::new(&[size]).ok_or_else(|| call.refuse(form, "0 nodes", "1 or more"));
    let divisor = |argument: &Expr| {
        let size = argument.integer().and_then(|size| u32::try_from(size).ok());
        size.filter(|&size| size > 0 && nodes.is_multiple_of(size)).ok_or_else(|| {
            let problem = format!("`{argument}` does not divide {nodes} nodes");
            call.refuse(argument, &problem, "a divisor of the number of nodes")
        })
    };
    match (form.name.as_str(), &form.arguments[..]) {
        ("block" | "stride", [argument]) => {
            let size = divisor(&argument.value)?;
            let block = form.name == "block";
            let (size, parts) = if block { (size, nodes / size) } else { (nodes / size, size) };
            let geometry = line(size)?;
            // A pattern that is drawn before the run is drawn for each part separately.
            let part = |part: u32| inner(&geometry, mix2(context.seed, u64::from(part)));
            let parts = (0..parts).map(part).collect::<Result<Vec<_>, _>>()?;
            Ok(Box::new(Parts { parts, size, block }))
        }
        ("groups", [argument]) => {
            let size = divisor(&argument.value)?;
            let geometry = line(nodes / size)?;
            // Every position has a pattern with a state of its own.
            let groups = (0..size).map(|_| inner(&geometry, context.seed)).collect::<Result<Vec<_>, _>>()?;
            Ok(Box::new(Parts { parts: groups, size: nodes / size, block: false }))
        }
        ("grid", [argument]) => {
            let sizes: Option<Vec<u32>> =
                argument.value.word().and_then(|word| word.split('x').map(|size| size.parse().ok()).collect());
            let grid = sizes.and_then(|sizes| Geometry::new(&sizes)).filter(|grid| grid.nodes() == nodes as usize);
            let Some(grid) = grid else {
                let problem = format!("`{}` is not a grid of {nodes} nodes", argument.value);
                return Err(call.refuse(
                    &argument.value,
                    &problem,
                    "sizes with x between them, such as 8x8, whose product is N",
                ));
            };
            inner(&grid, context.seed)
        }
        ("random", []) => {
            let numbers = shuffled(nodes, &mut setup(context.seed, "map"));
            let mut places = vec![0; nodes as usize];
            for (node, &number) in numbers.iter().enumerate() {
                places[number as usize] = node as u32;
            }
            Ok(Box::new(Renumbered { pattern: inner(context.geometry, context.seed)?, numbers, places }))
        }
        _ => Err(call.refuse(
            form,
            &format!("`{form}` is not a form of `map`"),
            "block:B, stride:S, groups:B, grid:8x8 or random",
        )),
    }
}

/// Equal parts of the network, each with its own pattern.
#[derive(Debug)]
struct Parts {
    parts: Vec<Box<dyn Pattern>>,
    /// Nodes per part.
    size: u32,
    /// True if a part is consecutive nodes; false if its nodes are spaced by the number of parts.
    block: bool,
}

impl Parts {
    /// The part of a node, and the node's number within the part.
    fn split(&self, node: NodeId) -> (usize, NodeId) {
        if self.block {
            ((node.0 / self.size) as usize, NodeId(node.0 % self.size))
        } else {
            let parts = self.parts.len() as u32;
            ((node.0 % parts) as usize, NodeId(node.0 / parts))
        }
    }
}

impl Pattern for Parts {
    fn nodes(&self) -> usize {
        self.parts.len() * self.size as usize
    }

    fn destination(&mut self, source: NodeId, rng: &mut Stream) -> Option<NodeId> {
        let (part, own) = self.split(source);
        let to = self.parts[part].destination(own, rng)?.0;
        let (part, parts) = (part as u32, self.parts.len() as u32);
        Some(NodeId(if self.block { part * self.size + to } else { to * parts + part }))
    }

    fn is_silent(&self, source: NodeId) -> bool {
        let (part, own) = self.split(source);
        self.parts[part].is_silent(own)
    }

    fn map(&self) -> Option<Vec<NodeId>> {
        let maps = self.parts.iter().map(|part| part.map()).collect::<Option<Vec<_>>>()?;
        let parts = self.parts.len() as u32;
        let destination = |node: usize| {
            let (part, own) = self.split(NodeId::at(node));
            let to = maps[part][own.index()].0;
            NodeId(if self.block { part as u32 * self.size + to } else { to * parts + part as u32 })
        };
        Some((0..self.nodes()).map(destination).collect())
    }
}

/// A pattern on renumbered nodes.
#[derive(Debug)]
struct Renumbered {
    pattern: Box<dyn Pattern>,
    /// Per node: its number.
    numbers: Vec<u32>,
    /// Per number: its node.
    places: Vec<u32>,
}

impl Pattern for Renumbered {
    fn nodes(&self) -> usize {
        self.numbers.len()
    }

    fn destination(&mut self, source: NodeId, rng: &mut Stream) -> Option<NodeId> {
        let to = self.pattern.destination(NodeId(self.numbers[source.index()]), rng)?;
        Some(NodeId(self.places[to.index()]))
    }

    fn is_silent(&self, source: NodeId) -> bool {
        self.pattern.is_silent(NodeId(self.numbers[source.index()]))
    }

    fn map(&self) -> Option<Vec<NodeId>> {
        let map = self.pattern.map()?;
        Some(self.numbers.iter().map(|&number| NodeId(self.places[map[number as usize].index()])).collect())
    }
}
