//! fsin with a routing of its own: `fsin-routing run --network wormhole --topology mesh:8x8 --routing yx`.

use std::process::ExitCode;

use fsin::Registry;
use fsin_core::route::{ChannelPolicy, Choice, Draw, Function, Hop, RoutingFunction, Row, Serves, Visit};
use fsin_core::topology::Shape;
use trgen::catalog::Component;
use trgen::{Geometry, NodeId};

/// The grid, and its ports.
#[derive(Debug)]
struct HighestFirst(Geometry, Shape);

impl RoutingFunction for HighestFirst {
    fn classes(&self) -> usize {
        1
    }

    fn hops(&self, at: &Visit, _: &mut impl Draw, mut add: impl FnMut(Hop)) {
        let [here, home] = [at.here, at.home].map(|router| self.0.coordinates(NodeId::at(router)));
        let wrong = (0..self.1.dimensions).rev().find(|&dimension| here[dimension] != home[dimension]);
        if let Some(dimension) = wrong {
            add(Hop::free(self.1.port(dimension, home[dimension] > here[dimension]).0));
        }
    }
}

static YX: Row = Row {
    component: Component {
        name: "yx",
        about: "dimension order from the highest dimension down, never round a ring: for meshes",
        parameters: &[],
        source: "fsin's book",
    },
    aliases: &[],
    serves: Serves::Only(&["mesh"]),
    policy: ChannelPolicy::Free,
    why: "",
    choice: Choice::One,
    build: |of| Ok(Function::boxed(HighestFirst(of.topology.geometry().clone(), of.topology.shape()))),
};

fn main() -> ExitCode {
    let mut registry = Registry::standard();
    registry.routings.push(&YX);
    fsin::main_with(registry)
}
