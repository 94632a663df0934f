//! Links between switches, and distances on them: for routings of any network of switches.

use std::collections::VecDeque;

use trgen::NodeId;
use trgen::catalog::{ErrorKind, SpecError};
use trgen::phrase;

use fsin_core::topology::Port;
use fsin_core::topology::switched::Fabric;

/// Maximum number of switches: tables have an entry for each pair.
const MAX_SWITCHES: usize = 8192;

/// Greater than any distance.
pub(super) const FAR: u16 = u16::MAX;

/// Links between switches, which are numbered from 0 here.
#[derive(Debug)]
pub(super) struct Links {
    /// Number of endpoints, and number of the first switch in the network.
    endpoints: usize,
    /// By switch: its ports to other switches, each with the switch that it leads to.
    pub(super) to: Vec<Vec<(Port, u32)>>,
}

impl Links {
    /// The links of a network.
    ///
    /// # Errors
    /// More than [`MAX_SWITCHES`] switches.
    pub(super) fn new(fabric: &Fabric) -> Result<Self, SpecError> {
        let switches = fabric.nodes() - fabric.endpoints();
        if switches > MAX_SWITCHES {
            let what =
                format!("routings by tables are for networks of at most {MAX_SWITCHES} switches, here are {switches}");
            return Err(SpecError::new(
                ErrorKind::TooLarge,
                what,
                phrase!["use ", ["routing"], " of the topology's own"],
            ));
        }
        let to = (fabric.endpoints()..fabric.nodes()).map(NodeId::at).map(|switch| {
            let ports = (0..=u8::MAX).map(Port).take_while(|port| port.index() < fabric.ports());
            let linked = ports.filter_map(|port| Some((port, fabric.neighbour(switch, port)?)));
            linked
                .filter(|(_, there)| there.index() >= fabric.endpoints())
                .map(|(port, there)| (port, (there.index() - fabric.endpoints()) as u32))
                .collect()
        });
        Ok(Self { endpoints: fabric.endpoints(), to: to.collect() })
    }

    /// Number of switches.
    pub(super) fn count(&self) -> usize {
        self.to.len()
    }

    /// The number of a switch here, from 0.
    pub(super) fn number(&self, switch: NodeId) -> usize {
        switch.index() - self.endpoints
    }

    /// \[hops\] By switch: its distance to switch `to`, over links for which `is_allowed(from, to)`; [`FAR`] if no such
    /// path leads there.
    pub(super) fn distances(&self, to: usize, is_allowed: impl Fn(u32, u32) -> bool) -> Vec<u16> {
        let mut distances = vec![FAR; self.count()];
        distances[to] = 0;
        let mut reached = VecDeque::from([to as u32]);
        while let Some(here) = reached.pop_front() {
            for &(_, before) in &self.to[here as usize] {
                if distances[before as usize] == FAR && is_allowed(before, here) {
                    distances[before as usize] = distances[here as usize] + 1;
                    reached.push_back(before);
                }
            }
        }
        distances
    }
}
