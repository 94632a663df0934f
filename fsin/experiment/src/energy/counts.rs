//! Counts of events, from a run or from a file.

/// What a link joins.
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

/// One direction of a link.
#[derive(Clone, PartialEq, Debug)]
pub struct Channel {
    /// What it joins.
    pub kind: ChannelKind,
    /// Its class, as tables name it.
    pub class: String,
    /// \[cycles\] Its delay; 0 if it is not known.
    pub latency: u32,
    /// \[b/s\] Its rate; 0 if it is not known.
    pub rate: f64,
    /// \[flits\] By class of packets: what it has carried. A flit has [`Counts::flit_bits`].
    pub flits: Vec<f64>,
}

impl Channel {
    /// \[flits\] Of all classes.
    #[must_use]
    pub fn carried(&self) -> f64 {
        self.flits.iter().sum()
    }
}

/// What routers have done; several that are alike where single ones are not known.
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
    /// \[flits\] That have passed.
    pub flits: f64,
    /// What each port of one router has done; `None` where it is not known.
    pub ports: Option<Ports>,
}

/// What each port of a router has done.
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
    /// \[bits\] That they have sent and received.
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
    /// \[bits\] What a flit holds.
    pub flit_bits: f64,
    /// True if a flit is what routers arbitrate, and not a byte by which a model counts.
    pub has_flits: bool,
    /// Virtual channels of a port, and \[flits\] the buffer of each; `None` where ports have no such buffers.
    pub buffers: Option<(u64, u64)>,
    /// \[bits\] That nodes have received; `None` if it is not known.
    pub delivered_bits: Option<f64>,
    /// Each direction of each link.
    pub channels: Vec<Channel>,
    /// The routers.
    pub routers: Vec<RouterCounts>,
    /// The end nodes.
    pub hosts: Vec<Hosts>,
}
