//! Two phases in meshes: in dimension order to a random intermediate node, and from there in dimension order to the
//! destination.
//!
//! Each phase has a class of channels of its own, in which packets wait only for channels of the same dimension or of a
//! later one; the second phase never returns to channels of the first. A packet that passes its destination in the
//! first phase goes on to the intermediate node, since the load is balanced only if that node is independent of the
//! destination.
//!
//! Sources: Valiant, *A scheme for fast parallel communication*, 1982; Nesson, Johnsson, *ROMM routing on mesh and
//! torus networks*, SPAA 1995; BookSim 2, `valiant` and `romm`.
//!
//! Decision: docs/decisions/0481-priorities-and-batches.md.

use trgen::NodeId;
use trgen::catalog::Component;

use super::table::{Build, Choice, Function, Row, Serves};
use super::{ChannelPolicy, Decisions, Draw, Hop, Phase, RoutingFunction, Visit};

/// The intermediate node is any node.
pub(super) static VALIANT: Row = Row {
    component: Component {
        name: "valiant",
        about: "meshes: in dimension order through a node that is drawn of all; two classes of channels",
        parameters: &[],
        source: "Valiant, A scheme for fast parallel communication, 1982",
    },
    aliases: &[],
    serves: Serves::Only(&["mesh"]),
    policy: ChannelPolicy::ByClass,
    why: "one for each phase",
    choice: Choice::AtFirstRouter,
    build: |build| Ok(TwoPhases::build(build, Through::Any)),
};

/// The intermediate node is on a shortest path.
pub(super) static ROMM: Row = Row {
    component: Component {
        name: "romm",
        about: "meshes: in dimension order through a node that is drawn of those on shortest paths; two classes of channels",
        parameters: &[],
        source: "Nesson, Johnsson, ROMM routing on mesh and torus networks, SPAA 1995",
    },
    build: |build| Ok(TwoPhases::build(build, Through::Between)),
    ..VALIANT
};

/// The set of which the intermediate node is drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Through {
    /// All nodes.
    Any,
    /// The nodes of the smallest box with source and destination, both included.
    Between,
}

/// Phase of a packet on its way to the intermediate node.
const TO_INTERMEDIATE: Phase = 1;
/// Phase of a packet on its way from the intermediate node.
const FROM_INTERMEDIATE: Phase = 2;

/// \[dimensions\] Greatest number with a specimen.
const MOST_DIMENSIONS: usize = 6;

/// Routes in two phases.
#[derive(Debug)]
struct TwoPhases {
    through: Through,
    /// Number of dimensions.
    dimensions: usize,
    /// By dimension: its length.
    sizes: Vec<u32>,
    /// By node and dimension: the coordinate.
    coordinates: Vec<u16>,
}

impl TwoPhases {
    fn build(build: &Build<'_>, through: Through) -> Function {
        let geometry = build.topology.geometry();
        let nodes = (0..build.topology.nodes()).map(NodeId::at);
        Function::boxed(Self {
            through,
            dimensions: geometry.sizes().len(),
            sizes: geometry.sizes().to_vec(),
            coordinates: nodes.flat_map(|node| geometry.coordinates(node)).map(|at| at as u16).collect(),
        })
    }

    /// The coordinate of a node in a dimension.
    fn at(&self, node: usize, dimension: usize) -> u32 {
        self.coordinates[node * self.dimensions + dimension].into()
    }

    /// The coordinate of the intermediate node of a packet in a dimension. The dimension is the label of its draw.
    fn drawn(&self, at: &Visit, dimension: usize, draw: &mut impl Draw) -> u32 {
        let label = dimension as u32;
        match self.through {
            Through::Any => draw.draw(label, self.sizes[dimension]),
            Through::Between => {
                let (from, to) = (self.at(at.first, dimension), self.at(at.home, dimension));
                from.min(to) + draw.draw(label, from.abs_diff(to) + 1)
            }
        }
    }

    /// True if a node is the intermediate node of a packet.
    fn is_drawn(&self, node: usize, at: &Visit, draw: &mut impl Draw) -> bool {
        (0..self.dimensions).all(|dimension| self.at(node, dimension) == self.drawn(at, dimension, draw))
    }
}

impl RoutingFunction for TwoPhases {
    fn classes(&self) -> usize {
        2
    }

    fn hops(&self, at: &Visit, draw: &mut impl Draw, mut add: impl FnMut(Hop)) {
        let is_second = at.phase == FROM_INTERMEDIATE;
        for dimension in 0..self.dimensions {
            let to = if is_second { self.at(at.home, dimension) } else { self.drawn(at, dimension, draw) };
            let here = self.at(at.here, dimension);
            if here != to {
                return add(Hop::of_class((2 * dimension + usize::from(to < here)) as u32, 1 + u8::from(is_second)));
            }
        }
    }

    fn arrives(&self, at: &Visit) -> bool {
        at.phase != TO_INTERMEDIATE
    }

    fn decisions(&self, at: &Visit, draw: &mut impl Draw) -> Decisions {
        Decisions::only(if self.is_drawn(at.here, at, draw) { FROM_INTERMEDIATE } else { TO_INTERMEDIATE })
    }

    fn hop(&self, at: &Visit, next: usize, draw: &mut impl Draw) -> Phase {
        if at.phase == TO_INTERMEDIATE && self.is_drawn(next, at, draw) { FROM_INTERMEDIATE } else { at.phase }
    }

    /// Routes depend on the order of coordinates alone.
    fn specimens(&self) -> Option<Vec<(String, usize)>> {
        let most = if self.dimensions > 3 { 2 } else { 3 };
        let sizes: Vec<String> = self.sizes.iter().map(|&size| size.min(most).to_string()).collect();
        (self.dimensions <= MOST_DIMENSIONS).then(|| vec![(format!("mesh:{}", sizes.join("x")), 2)])
    }
}
