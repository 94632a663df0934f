//! Mostly local traffic.
//!
//! In a dimension of k < 15 nodes, where there are no offsets from 8 to k-8, the last eighth of the draws of `local` is
//! one of 8 to 22-k, and offsets go round. This is inferred from the original's path length on a 5x5 torus, 2.337 links:
//! the rule gives 2.333.

use super::offset::add;
use super::ring::translated;
use super::{Built, Entry, Pattern, PatternContext};
use crate::Geometry;
use crate::catalog::{Component, Parameter};
use crate::rng::Stream;
use crate::synthetic::draw::{below, normal};
use crate::synthetic::expr::Call;
use crate::units::NodeId;

pub(super) static LOCAL: Entry = Entry {
    component: Component {
        name: "local",
        about: "in every dimension an offset, round the edges: with probability 1/2 one of -1 to 1, with 1/4 one of 2 or \
                3 either way, with 1/8 one of 4 to 7 either way, with 1/8 one of 8 to k-8 (k < 15: to 22-k); drawn again \
                if all are 0",
        parameters: &[],
        source: "FSIN, Universidad del Pais Vasco (2017)",
    },
    aliases: &[],
    build: |call, context| {
        let sizes = context.geometry.sizes();
        match sizes.iter().position(|&size| size == 15) {
            _ if context.nodes() == 1 => Err(call.refuse_all("`local` needs two nodes or more", "a larger network")),
            Some(dimension) => Err(call.refuse_all(
                &format!("`local` is not defined for 15 nodes, and dimension {dimension} has so many"),
                "a network such as torus:16x16, or `local-gauss(1)`, which takes any",
            )),
            None => Ok(Box::new(Local { geometry: context.geometry.clone() })),
        }
    },
};

/// The pattern `local`.
#[derive(Debug)]
struct Local {
    geometry: Geometry,
}

impl Local {
    /// An offset in a dimension of `size` nodes, as a step forward.
    fn offset(size: u32, rng: &mut Stream) -> u32 {
        let (first, count) = match below(8, rng) {
            // One of -1, 0, 1, counted from -1.
            0..4 => return add(below(3, rng), size - 1, size),
            4 | 5 => (2, 2),
            6 => (4, 4),
            _ => return (8 + below(size.abs_diff(15), rng)) % size,
        };
        let draw = below(2 * count, rng);
        let offset = (first + draw / 2) % size;
        if draw.is_multiple_of(2) { offset } else { (size - offset) % size }
    }
}

impl Pattern for Local {
    fn nodes(&self) -> usize {
        self.geometry.nodes()
    }

    fn destination(&mut self, source: NodeId, rng: &mut Stream) -> Option<NodeId> {
        loop {
            let (mut step, mut stride) = (0, 1u32);
            for &size in self.geometry.sizes() {
                step += Self::offset(size, rng) * stride;
                stride = stride.wrapping_mul(size);
            }
            if step != 0 {
                return Some(translated(&self.geometry, source, NodeId(step)));
            }
        }
    }

    fn is_silent(&self, _: NodeId) -> bool {
        false
    }
}

pub(super) static LOCAL_GAUSS: Entry = Entry {
    component: Component {
        name: "local-gauss",
        about: "at a distance of floor(1 + |s g|) hops on the torus, g standard normal, drawn again beyond the farthest \
                node; each hop in a random dimension with room for it, each dimension in a random direction",
        parameters: &[Parameter {
            name: "s",
            about: "scale of the distance [hops]",
            range: "more than 0, ..=1000",
            default: "1",
        }],
        source: "INSEE, Interconnection Network Simulation and Evaluation Environment",
    },
    aliases: &[],
    build: local_gauss,
};

/// Builds the pattern `local-gauss`.
fn local_gauss(call: &Call, context: PatternContext) -> Built {
    let scale = call.number("s", f64::MIN_POSITIVE..=1000.0)?;
    let farthest = context.geometry.sizes().iter().map(|size| size / 2).sum();
    Ok(Box::new(Gauss { geometry: context.geometry.clone(), scale, farthest, steps: Vec::new() }))
}

/// The pattern `local-gauss`.
#[derive(Debug)]
struct Gauss {
    geometry: Geometry,
    /// \[hops\] Factor on the absolute value of the normal draw.
    scale: f64,
    /// \[hops\] Distance to the farthest node.
    farthest: u32,
    /// Hops per dimension of the current draw; kept to reuse the allocation.
    steps: Vec<u32>,
}

impl Pattern for Gauss {
    fn nodes(&self) -> usize {
        self.geometry.nodes()
    }

    fn destination(&mut self, source: NodeId, rng: &mut Stream) -> Option<NodeId> {
        if self.is_silent(source) {
            return None;
        }
        let distance = loop {
            // The conversion of a very large value saturates.
            let distance = (1.0 + (self.scale * normal(rng)).abs()) as u32;
            if distance <= self.farthest {
                break distance;
            }
        };
        let sizes = self.geometry.sizes();
        self.steps.clear();
        self.steps.resize(sizes.len(), 0);
        for _ in 0..distance {
            let has_room = |&dimension: &usize| self.steps[dimension] < sizes[dimension] / 2;
            let count = (0..sizes.len()).filter(has_room).count() as u32;
            let drawn = below(count, rng) as usize;
            if let Some(dimension) = (0..sizes.len()).filter(has_room).nth(drawn) {
                self.steps[dimension] += 1;
            }
        }
        let (mut step, mut stride) = (0, 1u32);
        for (&size, &hops) in sizes.iter().zip(&self.steps) {
            let hops = if hops > 0 && below(2, rng) == 1 { size - hops } else { hops };
            step += hops * stride;
            stride = stride.wrapping_mul(size);
        }
        Some(translated(&self.geometry, source, NodeId(step)))
    }

    /// True for a network of a single node.
    fn is_silent(&self, _: NodeId) -> bool {
        self.farthest == 0
    }
}
