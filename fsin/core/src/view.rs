//! Read-only view of a network between two cycles.

use crate::topology::Outputs;

/// A read-only view of routers with queues and links.
///
/// Both engines show the same state at the same clock.
pub trait View {
    /// Writes the occupancy of the routers at the beginning of the present cycle into `into`.
    fn occupancy(&self, into: &mut Occupancy);
}

/// Occupancy of routers and packet counts of links. Values "by node and port" are at the place of that port
/// among the [`Outputs`] of the topology: node x ports + port, unless a switch has very many.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Occupancy {
    /// \[phits\] Fill of the transit queues of all virtual channels at the input of a port, by node and port.
    pub transit: Vec<u32>,
    /// \[phits\] Fill of the injection queues, by node.
    pub injection: Vec<u32>,
    /// Number of packets that wait before the injection queues, in source buffers and interface, by node.
    pub waiting: Vec<u64>,
    /// Number of packets whose header has crossed the link that leaves through a port, since
    /// [`Network::observe`](crate::network::Network::observe), by node and port. Empty without it.
    pub crossed: Vec<u64>,
    /// True if nodes have different numbers of ports, so that no table of them is a rectangle.
    pub is_ragged: bool,
}

impl Occupancy {
    /// Resizes the tables for a network of this size and fills them with zeros; the link counts become empty.
    pub fn reset(&mut self, nodes: usize, ports: usize) {
        self.reset_outputs(nodes, &Outputs::alike(nodes, ports));
    }

    /// The same for these ports of all nodes.
    pub fn reset_outputs(&mut self, nodes: usize, outputs: &Outputs) {
        self.is_ragged = !outputs.are_alike();
        self.crossed.clear();
        self.waiting.clear();
        for (values, length) in [(&mut self.transit, outputs.count()), (&mut self.injection, nodes)] {
            values.clear();
            values.resize(length, 0);
        }
    }
}
