//! What can be seen of a network between two cycles, without touching it.

/// A network of routers with queues and links. Looking changes nothing.
///
/// Both engines show the same at the same clock.
pub trait View {
    /// Writes down what the routers hold before the cycle at which the clock stands.
    fn occupancy(&self, into: &mut Occupancy);
}

/// What routers hold and what links have carried. "By node and port" is at index node x ports + port.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Occupancy {
    /// \[phits\] In the transit queues of all virtual channels at the input of a port, by node and port.
    pub transit: Vec<u32>,
    /// \[phits\] In the injection queues, by node.
    pub injection: Vec<u32>,
    /// \[packets\] Before the injection queues, in source buffers and interface, by node.
    pub waiting: Vec<u64>,
    /// \[packets\] Whose header has crossed the link that leaves through a port, since
    /// [`Network::observe`](crate::network::Network::observe), by node and port. Empty without it.
    pub crossed: Vec<u64>,
}

impl Occupancy {
    /// Makes room for a network of this size, all zero but for what links have carried, which is empty.
    pub fn reset(&mut self, nodes: usize, ports: usize) {
        self.crossed.clear();
        self.waiting.clear();
        for (values, length) in [(&mut self.transit, nodes * ports), (&mut self.injection, nodes)] {
            values.clear();
            values.resize(length, 0);
        }
    }
}
