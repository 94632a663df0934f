//! Any network of switches: up*/down*, by tables of distances.

use fsin_core::topology::{Port, Topology};
use fsin_core::updown::{self, Links};
use trgen::NodeId;
use trgen::catalog::{Component, ErrorKind, SpecError};
use trgen::phrase;

use super::row::{Choice, Function, Networks, Row, Vcs, Visit, Wake};
use super::{Candidate, Draw, Head, Ring, Tier, fabric, mask};
use crate::params::{Params, Routing};

pub(super) static UPDOWN: Row = Row {
    component: Component {
        name: "updown",
        about: "any network of switches: up to switches nearer the root, then down",
        parameters: &[],
        source: "Schroeder et al., Autonet, IEEE JSAC 9(8), 1991",
    },
    routing: Routing::UpDown,
    networks: Networks::Switches,
    vcs: Vcs::of(1, ""),
    wake: Wake::Credits,
    choice: Choice::Never,
};

/// Maximum number of switches: tables have an entry for each pair.
const MAX_SWITCHES: usize = 8192;

/// Phase of a packet that has gone down.
const DOWN: u8 = 1;

/// Shortest routes that go up and then down.
#[derive(Debug)]
pub(super) struct UpDown {
    /// All VCs, as a mask.
    all: u32,
    /// Directions of links, and distances.
    table: updown::UpDown,
}

impl Function for UpDown {
    fn new(_: &'static Row, params: &Params, topology: &dyn Topology) -> Result<Self, SpecError> {
        let fabric = fabric(topology)?;
        let count = fabric.nodes() - fabric.endpoints();
        if count > MAX_SWITCHES {
            let what = phrase![["routing" => "updown"], " takes networks of at most {MAX_SWITCHES} switches, here are {count}"];
            let remedy = phrase!["use a ", ["routing"], " of the topology's own"];
            return Err(SpecError::new(ErrorKind::TooLarge, what, remedy).of("routing"));
        }
        let links: Links = (fabric.endpoints()..fabric.nodes())
            .map(|switch| {
                let ports = (0..fabric.ports()).map(|port| Port(port as u8));
                let linked = ports.filter_map(|port| Some((port, fabric.neighbour(NodeId::at(switch), port)?)));
                let switches = linked.filter(|(_, there)| there.index() >= fabric.endpoints());
                switches.map(|(port, there)| (port.0.into(), (there.index() - fabric.endpoints()) as u32)).collect()
            })
            .collect();
        Ok(Self { all: mask(params.vcs), table: updown::UpDown::new(links) })
    }

    fn candidates(&self, at: Visit, head: &Head, _: &mut impl Draw, into: &mut Vec<Candidate>) {
        let ports = self.table.next(at.here, at.home, head.phase == DOWN);
        into.extend(ports.map(|(port, _)| Candidate { port: port as u8, vcs: self.all, tier: Tier::Free }));
    }

    fn decisions(&self, _: Visit, head: &Head, _: &mut impl Draw) -> Vec<u8> {
        vec![head.phase]
    }

    fn decide(&self, _: Visit, head: &Head, _: &mut impl Draw, _: impl Fn(Candidate) -> u32) -> u8 {
        head.phase
    }

    fn hop(&self, router: usize, next: usize, phase: u8, _: &mut impl Draw) -> u8 {
        if self.table.is_down(router, next) { DOWN } else { phase }
    }

    fn rings(&self) -> Option<Vec<Ring>> {
        None
    }
}
