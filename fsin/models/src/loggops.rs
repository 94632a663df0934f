//! The wire of the LogGOPS model: latency and gap per byte, and neither routers nor cycles.
//!
//! Only the numbers of this network are used: hosts compute arrivals from them ([`trgen::trace::goal::ideal`]). No
//! message is simulated, so [`NetworkSpec::build`] returns an error.

use std::sync::Arc;

use fsin_core::family::{Discipline, Key, Kind, ModelFamily, NetworkSpec, PHITS_PER_NODE_CYCLE, Units, Unloaded, Wire};
use fsin_core::network::Network;
use fsin_core::topology::Topology;
use trgen::Geometry;
use trgen::catalog::{Component, ErrorKind, SpecError};
use trgen::phrase;
use trgen::units::{DECIMALS, Decimal};

use crate::constant_delay::{WITHOUT_LINKS, units};

const KEYS: &[Key] = &[
    Key::of_network(
        "wire-latency",
        "NS",
        Kind::Integer,
        Some("2500"),
        "ns",
        "L of LogGOPS: time from the end of a send to the arrival",
    ),
    Key::of_network("wire-gap", "NS", Kind::Word, Some("6"), "ns/byte", "G of LogGOPS: time of a byte on the wire"),
];

/// The row of this model in the table of models.
pub static LOGGOPS: ModelFamily = ModelFamily {
    component: Component {
        name: "loggops",
        about: "an ideal network for traces and graphs: latency L and gap per byte G; o, g, O and S are those of {hosts}",
        parameters: &[],
        source: "Hoefler, Schneider, Lumsdaine, LogGOPSim, HPDC 2010",
    },
    discipline: Discipline {
        order: "messages of a pair arrive in the order in which they are sent",
        sharing: "the interface of a host, g and G apart; nothing within the network",
        busy: "a processor for o and O a message; a send ends when its processor is free, above S with its receive",
    },
    aliases: &["ideal"],
    keys: KEYS,
    shared: &[],
    defaults: &[],
    short: &[("L", "wire-latency"), ("G", "wire-gap")],
    load_unit: PHITS_PER_NODE_CYCLE,
    routings: Vec::new,
    parse: |values| {
        let latency: u64 = values.integer("wire-latency")?;
        if latency > Decimal::MOST {
            return Err(SpecError::out_of_range("wire-latency", latency, 0..=Decimal::MOST));
        }
        let gap = values.word("wire-gap");
        let gap_per_byte = Decimal::parse(gap).ok_or_else(|| {
            let what =
                phrase![["wire-gap"], (" takes ns per byte up to 2^40, with up to {DECIMALS} decimals, not `{gap}`")];
            SpecError::new(ErrorKind::Malformed, what, values.write("wire-gap", "6")).of("wire-gap")
        })?;
        let topology = values.topology(&WITHOUT_LINKS)?.into();
        Ok(Arc::new(Ideal { wire: Wire { latency, gap_per_byte }, topology, units: units(values)? }))
    },
};

/// Checked settings of the model. The topology only numbers the nodes.
#[derive(Debug)]
struct Ideal {
    wire: Wire,
    topology: Arc<dyn Topology>,
    units: Units,
}

impl NetworkSpec for Ideal {
    fn build(&self) -> Result<Box<dyn Network>, SpecError> {
        let what = phrase![["network" => "loggops"], " takes a trace or a graph"];
        let remedy = phrase!["give ", ["trace" => "FILE"], ", or use ", ["network" => "constant-delay"]];
        Err(SpecError::new(ErrorKind::Conflict, what, remedy).of("network"))
    }

    fn geometry(&self) -> &Geometry {
        self.topology.geometry()
    }

    fn units(&self) -> Units {
        self.units
    }

    fn unloaded(&self, _phits: f64) -> Unloaded {
        Unloaded::unlimited(self.wire.latency)
    }

    fn wire(&self) -> Option<Wire> {
        Some(self.wire)
    }
}
