//! fsin with a network model of its own: `fsin-network run --network crossbar --topology torus:8x8`.

use std::process::ExitCode;
use std::sync::Arc;

use fsin::Registry;
use fsin::models::constant_delay::{ConstantDelay, Passage, nodes, units};
use fsin_core::family::{Discipline, ModelFamily, NetworkSpec, PHITS_PER_NODE_CYCLE, Units, Unloaded};
use fsin_core::network::Network;
use trgen::catalog::{Component, SpecError};
use trgen::{Cycle, Geometry, Message};

static CROSSBAR: ModelFamily = ModelFamily {
    component: Component { name: "crossbar", about: "an ideal crossbar", parameters: &[], source: "fsin's book" },
    discipline: Discipline { order: "of all messages to a node", sharing: "outputs, in turn", busy: "nobody" },
    aliases: &[],
    keys: &[],
    shared: &["topology", "nodes", "packet", "phit-bytes", "bandwidth"],
    defaults: &[],
    short: &[],
    load_unit: PHITS_PER_NODE_CYCLE,
    routings: Vec::new,
    parse: |values| Ok(Arc::new(Spec(nodes(values)?.0, units(values)?))),
};

/// Shape of the nodes, and lengths of packets and phits.
#[derive(Debug)]
struct Spec(Geometry, Units);

impl NetworkSpec for Spec {
    fn build(&self) -> Result<Box<dyn Network>, SpecError> {
        let (nodes, units, phits) = (self.0.nodes(), self.1, u64::from(self.1.packet_phits));
        let mut free = vec![Cycle::FIRST; nodes]; // By node: the first cycle in which its output is free.
        let delay = move |now, message: &Message| {
            let output = &mut free[message.destination.index()];
            *output = (*output).max(now) + units.packets_of(message.bytes) * phits;
            Passage { leaves: 0, arrives: output.since(now) }
        };
        Ok(Box::new(ConstantDelay::ruled(nodes, Box::new(delay)).in_packets(phits * u64::from(units.phit_bytes))))
    }

    fn geometry(&self) -> &Geometry {
        &self.0
    }

    fn units(&self) -> Units {
        self.1
    }

    fn unloaded(&self, phits: f64) -> Unloaded {
        Unloaded::shared(phits.ceil() as u64)
    }
}

fn main() -> ExitCode {
    let mut registry = Registry::standard();
    registry.models.push(&CROSSBAR);
    fsin::main_with(registry)
}
