//! Traffic by a measured distribution of distances.

use super::ring::Rings;
use super::{Built, Entry, Pattern, PatternContext};
use crate::catalog::{Component, Parameter};
use crate::rng::Stream;
use crate::synthetic::alias::Alias;
use crate::synthetic::draw::below;
use crate::synthetic::expr::Call;
use crate::synthetic::file::{Lines, numbers};
use crate::units::NodeId;

/// The parameter of both patterns.
const FILE: &[Parameter] = &[Parameter { name: "file", about: "path of the file", range: "a text file", default: "" }];

pub(super) static POPULATION: Entry = Entry {
    component: Component {
        name: "population",
        about: "at a distance on the torus drawn from the samples of a file (whole numbers of hops, separated by blanks \
                or lines), any node there equally likely",
        parameters: FILE,
        source: "INSEE, Interconnection Network Simulation and Evaluation Environment",
    },
    aliases: &[],
    build: |call, context| {
        let file = numbers(call, context.folder)?;
        let samples = file.lines.iter().flat_map(|(line, row)| row.iter().map(|&distance| (*line, distance, 1.0)));
        build(call, context, &file, samples.collect())
    },
};

pub(super) static HISTOGRAM: Entry = Entry {
    component: Component {
        name: "histogram",
        about: "at a distance on the torus drawn by the weights of a file (lines `distance weight`), any node there \
                equally likely",
        parameters: FILE,
        source: "INSEE, Interconnection Network Simulation and Evaluation Environment",
    },
    aliases: &[],
    build: |call, context| {
        let file = numbers(call, context.folder)?;
        let mut entries = Vec::new();
        for (line, row) in &file.lines {
            match row[..] {
                [distance, weight] if weight >= 0.0 => entries.push((*line, distance, weight)),
                _ => return Err(file.refuse(call, Some(*line), "not a distance and a weight", "write `3 0.25`")),
            }
        }
        build(call, context, &file, entries)
    },
};

/// Builds the pattern from entries (line of the file, distance \[hops\], weight).
fn build(call: &Call, context: PatternContext, file: &Lines, entries: Vec<(u64, f64, f64)>) -> Built {
    let rings = Rings::new(context.geometry);
    let mut weights = vec![0.0; rings.farthest()];
    for (line, distance, weight) in entries {
        if !(distance.fract() == 0.0 && (1.0..=rings.farthest() as f64).contains(&distance)) {
            let what = format!("no node is {distance} hops away");
            let remedy = format!("whole distances of 1 to {} on this network", rings.farthest());
            return Err(file.refuse(call, Some(line), &what, &remedy));
        }
        weights[distance as usize - 1] += weight;
    }
    match Alias::new(&weights) {
        Some(distances) => Ok(Box::new(Distance { rings, distances })),
        None => Err(file.refuse(call, None, "no distance has any weight", "write at least one")),
    }
}

/// The patterns `population` and `histogram`.
#[derive(Debug)]
struct Distance {
    /// Nodes by distance.
    rings: Rings,
    /// Draws the distance \[hops\] less 1.
    distances: Alias,
}

impl Pattern for Distance {
    fn nodes(&self) -> usize {
        self.rings.len() + 1
    }

    fn destination(&mut self, source: NodeId, rng: &mut Stream) -> Option<NodeId> {
        let indices = self.rings.indices_at(self.distances.draw(rng) + 1);
        let index = indices.start + below(indices.len() as u32, rng) as usize;
        Some(self.rings.node(source, index))
    }

    /// Every node has others at every distance; single nodes have been rejected.
    fn is_silent(&self, _: NodeId) -> bool {
        false
    }
}
