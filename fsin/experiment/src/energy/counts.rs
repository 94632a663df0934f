//! Counts of events, from a run or from a file.

/// The devices that a link joins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChannelKind {
    /// A node with its router.
    Injection,
    /// A router with its node.
    Ejection,
    /// Two routers.
    Network,
}

impl ChannelKind {
    /// All kinds with their names.
    pub const ALL: [(&'static str, Self); 3] =
        [("injection", Self::Injection), ("ejection", Self::Ejection), ("network", Self::Network)];
}

/// Class of the ports at the border of a mesh, which have no link.
pub const BORDER: &str = "border";

/// One direction of a link, or a port without one.
#[derive(Clone, PartialEq, Debug)]
pub struct Channel {
    /// The devices that it joins.
    pub kind: ChannelKind,
    /// Its class, as tables name it.
    pub class: String,
    /// \[cycles\] Its delay; 0 if it is not known.
    pub latency: u32,
    /// \[b/s\] Its rate; 0 if it is not known.
    pub rate: f64,
    /// \[flits\] By class of packets: flits carried. A flit has [`Counts::flit_bits`].
    pub flits: Vec<f64>,
}

impl Channel {
    /// \[flits\] Of all classes.
    #[must_use]
    pub fn carried(&self) -> f64 {
        self.flits.iter().sum()
    }
}

/// The events of a router, or of several routers together if single ones are not counted.
#[derive(Clone, PartialEq, Debug)]
pub struct RouterCounts {
    /// Their class, as tables name it.
    pub class: String,
    /// Number of these routers.
    pub routers: u64,
    /// Number of input ports of each.
    pub inputs: usize,
    /// Number of output ports of each.
    pub outputs: usize,
    /// \[flits\] Flits that have passed.
    pub flits: f64,
    /// The events of each port of a single router; `None` if they are not counted.
    pub ports: Option<Ports>,
}

/// The events of each port of a router.
#[derive(Clone, PartialEq, Debug)]
pub struct Ports {
    /// \[flits\] By input: read from the buffer.
    pub reads: Vec<u64>,
    /// \[flits\] By input: written into the buffer.
    pub writes: Vec<u64>,
    /// \[flits\] By input x outputs + output: through the switch.
    pub traversals: Vec<u64>,
}

/// End nodes of a class.
#[derive(Clone, PartialEq, Debug)]
pub struct Hosts {
    /// Their class, as tables name it.
    pub class: String,
    /// Number of these nodes.
    pub nodes: u64,
    /// \[bits\] Bits sent and received by all of them.
    pub bits: f64,
}

/// The counts of a network, over a time.
#[derive(Clone, PartialEq, Debug)]
pub struct Counts {
    /// Name of the case; empty if there is one only.
    pub case: String,
    /// Number of the network, among several that run side by side.
    pub subnet: u64,
    /// \[cycles\] The time.
    pub cycles: f64,
    /// \[s\] The time; `None` where the length of a cycle is not known.
    pub seconds: Option<f64>,
    /// \[bits\] Width of a link in a file; `None` if it is not known.
    pub width: Option<u32>,
    /// \[bits\] Size of a flit.
    pub flit_bits: f64,
    /// True if routers arbitrate flits; false if a flit is only the unit in which a model counts.
    pub has_flits: bool,
    /// Virtual channels of a port, and \[flits\] the buffer of each; `None` where ports have no such buffers.
    pub buffers: Option<(u64, u64)>,
    /// \[bits\] Bits received by nodes; `None` if it is not known.
    pub delivered_bits: Option<f64>,
    /// Each direction of each link.
    pub channels: Vec<Channel>,
    /// The routers.
    pub routers: Vec<RouterCounts>,
    /// The end nodes.
    pub hosts: Vec<Hosts>,
}
