//! Any network of switches: up*/down*, by tables of distances.

use fsin_core::topology::Port;
use fsin_core::topology::switched::Fabric;
use fsin_core::updown::{self, Links};
use trgen::NodeId;
use trgen::catalog::{ErrorKind, SpecError};
use trgen::phrase;

use super::{Candidate, Head, Tier};

/// Most switches: tables have an entry for each pair.
const MAX_SWITCHES: usize = 8192;

/// Phase of a packet that has gone down.
const DOWN: u8 = 1;

/// Up, then down, on shortest such paths.
#[derive(Debug)]
pub(super) struct UpDown {
    all: u32,
    table: updown::UpDown,
}

impl UpDown {
    pub(super) fn new(fabric: &Fabric, all: u32) -> Result<Self, SpecError> {
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
        Ok(Self { all, table: updown::UpDown::new(links) })
    }

    pub(super) fn candidates(&self, (router, to): (usize, usize), head: &Head, into: &mut Vec<Candidate>) {
        let ports = self.table.next(router, to, head.phase == DOWN);
        into.extend(ports.map(|(port, _)| Candidate { port: port as u8, vcs: self.all, tier: Tier::Free }));
    }

    pub(super) fn hop(&self, router: usize, next: usize, phase: u8) -> u8 {
        if self.table.is_down(router, next) { DOWN } else { phase }
    }
}
