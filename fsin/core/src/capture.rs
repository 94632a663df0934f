//! Observation of packets on links, as captures of real networks hold them.
//!
//! A program above, such as a writer of pcap files, implements [`Capture`]. No result depends on what it does.

use std::fmt;

use trgen::NodeId;

/// A place where packets are observed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Place {
    /// The port of a host.
    Host(NodeId),
    /// All ports of a switch. In a direct network the switch of a node has the node's number.
    Switch(NodeId),
}

/// A port at which packets are observed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Interface {
    /// The host or switch.
    pub place: Place,
    /// Number of the port at the host or switch.
    pub port: usize,
}

impl fmt::Display for Interface {
    /// Writes, for example, `host 3` or `switch 1 port 2`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Place::Host(node) => write!(f, "host {node}"),
            Place::Switch(node) => write!(f, "switch {node} port {}", self.port),
        }
    }
}

/// A packet at a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packet<'a> {
    /// \[ps\] Time since the beginning of the run.
    pub at: u64,
    /// The port at which it is observed.
    pub interface: Interface,
    /// True if its transmission begins, false if it has arrived.
    pub is_sent: bool,
    /// The first bytes of the packet, as captures of real networks hold them.
    pub bytes: &'a [u8],
    /// \[bytes\] Length of everything that such a capture would hold of the packet.
    pub length: u32,
}

/// An observer of packets. It gets them in the order of their times.
pub trait Capture: Send {
    /// A packet is sent or received.
    fn packet(&mut self, packet: &Packet<'_>);
}
