//! Patterns made of patterns: a draw among several, or one after another.

use super::fixed::Fixed;
use super::{Built, Entry, Pattern, PatternContext, TO_ITSELF, build};
use crate::catalog::{Component, Parameter};
use crate::rng::Stream;
use crate::synthetic::draw::positive_unit;
use crate::synthetic::expr::Call;
use crate::units::NodeId;

/// Origin of both patterns.
const ALGEBRA: &str = "the algebra of CAMINOS; Camarero, Postigo, Fuentes, CAMINOS: a modular interconnection network \
                       simulator (2025)";

pub(super) static MIX: Entry = Entry {
    component: Component {
        name: "mix",
        about: "for every message one of several patterns, by their weights: mix(0.9:uniform, 0.1:hotspot(0.5,0)); a \
                node that is silent in some of them sends as the others say",
        parameters: &[Parameter {
            name: "patterns...",
            about: "weight:pattern of each",
            range: "weights more than 0; they need not sum to 1",
            default: "",
        }],
        source: ALGEBRA,
    },
    aliases: &[],
    build: mix,
};

pub(super) static COMPOSE: Entry = Entry {
    component: Component {
        name: "compose",
        about: "the first pattern, from its destination the second, and so on: compose(shuffle, transpose); all send \
                every node to one node; who comes back to itself is silent, or sends to itself",
        parameters: &[
            Parameter {
                name: "patterns...",
                about: "in the order in which they are followed",
                range: "patterns of one destination",
                default: "",
            },
            TO_ITSELF,
        ],
        source: ALGEBRA,
    },
    aliases: &[],
    build: compose,
};

/// Builds the pattern `mix`.
fn mix(call: &Call, context: PatternContext) -> Built {
    let mut parts = Vec::new();
    for &argument in call.rest() {
        let weight = argument.name.parse().ok().filter(|&weight: &f64| weight > 0.0 && weight.is_finite());
        let (Some(weight), [pattern]) = (weight, &argument.arguments[..]) else {
            let problem = format!("`{argument}` is not a weight with its pattern");
            return Err(call.refuse(argument, &problem, "write weight:pattern, such as 0.9:uniform"));
        };
        parts.push((weight, build(call.text(), &pattern.value, context)?));
    }
    if parts.is_empty() {
        return Err(call.refuse_all("`mix` of nothing", "write mix(0.9:uniform, 0.1:hotspot(0.5,0))"));
    }
    Ok(Box::new(Mix { parts }))
}

/// Several patterns. For every message, one of them is drawn by weight.
#[derive(Debug)]
struct Mix {
    /// Weights, which are positive, and patterns; at least one.
    parts: Vec<(f64, Box<dyn Pattern>)>,
}

impl Pattern for Mix {
    fn nodes(&self) -> usize {
        self.parts[0].1.nodes()
    }

    fn destination(&mut self, source: NodeId, rng: &mut Stream) -> Option<NodeId> {
        let sends = |part: &&mut (f64, Box<dyn Pattern>)| !part.1.is_silent(source);
        let total: f64 = self.parts.iter_mut().filter(sends).map(|part| part.0).sum();
        let mut rest = positive_unit(rng) * total;
        let mut chosen = None;
        for part in self.parts.iter_mut().filter(sends) {
            rest -= part.0;
            chosen = Some(part);
            if rest <= 0.0 {
                break;
            }
        }
        chosen?.1.destination(source, rng)
    }

    fn is_silent(&self, source: NodeId) -> bool {
        self.parts.iter().all(|part| part.1.is_silent(source))
    }
}

/// Builds the pattern `compose`.
fn compose(call: &Call, context: PatternContext) -> Built {
    let mut places: Vec<u32> = (0..context.nodes()).collect();
    for &argument in call.rest() {
        let pattern = build(call.text(), argument, context)?;
        let Some(map) = pattern.map() else {
            let problem = format!("`{argument}` draws its destinations, and `compose` needs one for every node");
            let remedy = "patterns such as transpose, shift(1), randperm; `mix` draws among patterns";
            return Err(call.refuse(argument, &problem, remedy));
        };
        let sends_to_itself = |node: usize| map[node] == NodeId::at(node) && !pattern.is_silent(NodeId::at(node));
        if (0..map.len()).any(sends_to_itself) {
            let problem = "who comes back to itself is a matter of `compose` as a whole";
            return Err(call.refuse(argument, problem, "write self=true behind the patterns: compose(..., self=true)"));
        }
        for place in &mut places {
            *place = map[*place as usize].0;
        }
    }
    if call.rest().is_empty() {
        return Err(call.refuse_all("`compose` of nothing", "write compose(shuffle, transpose)"));
    }
    Ok(Fixed::new(context.nodes(), |node| places[node as usize]).sending(context.sends_to_itself(call)?))
}
