//! Hop delays of links and routers.
//!
//! A phit that leaves a router in cycle s is visible to the next router from cycle s + 1 + d on. Here d is the delay of
//! the link plus the delay of the next router. The phit takes its place in the queue when it is sent: wherever room is
//! tested, phits on the link count as standing in the queue behind the link. Credits take no time, as with d = 0.
//!
//! On a link of less than a phit in each cycle, d includes the cycles beyond one that a phit takes to cross it.
//!
//! Decisions: docs/decisions/0070-link-delays.md, docs/decisions/0219-links-of-unlike-rate.md.

use trgen::catalog::{ErrorKind, SpecError};
use trgen::phrase;

use super::RouterParams;
use fsin_core::topology::switched::{Attribute, Pace, Uses};
use fsin_core::topology::{MAX_DELAY, Port, Topology};
use trgen::NodeId;

/// The attributes of links that this model uses. Times are converted to cycles before, and rates to paces.
pub(crate) const LINKS: Uses =
    Uses { model: "vct", attributes: &[Attribute::Cycles, Attribute::Pace], any_ports: false };

/// Delays of hops beyond one cycle, by the input at which the hop ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HopDelays {
    /// \[cycles\] By port; in a network of switches by receiving node and port.
    delays: Box<[u32]>,
    /// Number of ports if `delays` is by node and port; 0 if it is by port only.
    stride: usize,
    /// \[cycles\] The longest delay.
    longest: u32,
}

impl HopDelays {
    /// The configured delays. They must have passed [`RouterParams::check`] for this topology.
    #[must_use]
    pub fn new(params: &RouterParams, topology: &dyn Topology) -> Self {
        let ports = topology.shape().ports();
        let delay = |node: NodeId, port: Port| Self::of(params, topology, node, port);
        if topology.switched().is_none() {
            let delays: Box<[u32]> = (0..ports).map(|port| delay(NodeId(0), Port::at(port))).collect();
            return Self { longest: delays.iter().copied().max().unwrap_or(0), delays, stride: 0 };
        }
        let mut delays = vec![0; topology.nodes() * ports];
        for node in (0..topology.nodes()).map(NodeId::at) {
            for port in (0..ports).map(Port::at) {
                if let Some(there) = topology.neighbour(node, port) {
                    delays[there.index() * ports + port.index()] = delay(node, port);
                }
            }
        }
        Self { longest: delays.iter().copied().max().unwrap_or(0), delays: delays.into(), stride: ports }
    }

    /// \[cycles\] Delay of the hop over the link that leaves a node through a port.
    pub(crate) fn of(params: &RouterParams, topology: &dyn Topology, node: NodeId, port: Port) -> u32 {
        let set = match &*params.link_delays {
            [] => 0,
            [all] => *all,
            several => several.get(topology.link_class(node, port)).copied().unwrap_or(0),
        };
        let pace = topology.switched().map_or(Pace::FULL, |network| network.pace(node, port));
        set + topology.wire(node, port) + params.router_delay + pace.crossing() - 1
    }

    /// \[cycles\] The longest delay; 0 if there is none.
    #[must_use]
    #[inline(always)]
    pub const fn longest(&self) -> u32 {
        self.longest
    }

    /// \[cycles\] Delay of the hop that ends at this node, in the transit queues of this port.
    #[must_use]
    #[inline]
    pub fn to(&self, node: usize, port: usize) -> u32 {
        self.delays[node * self.stride + port]
    }
}

/// Rejects delays that are out of range, and a number of delays that the network has no link classes for.
pub(super) fn check(params: &RouterParams, topology: &dyn Topology) -> Result<(), SpecError> {
    LINKS.check(topology)?;
    let delays = &params.link_delays;
    if let Some(delay) = delays.iter().chain([&params.router_delay]).find(|&&delay| delay > MAX_DELAY) {
        let key = if params.router_delay == *delay { "router-delay" } else { "link-delay" };
        let error = SpecError::out_of_range(key, u64::from(*delay), 0..=u64::from(MAX_DELAY));
        return Err(error.remedied(format!("use 0 to {MAX_DELAY} cycles")));
    }
    let kinds = topology.link_classes();
    if delays.len() > 1 && delays.len() != kinds.len() {
        let given: Vec<String> = delays.iter().map(u32::to_string).collect();
        let has = match &*kinds {
            [] | [_] => "links of one kind".to_owned(),
            kinds => format!("{} kinds of links: {}", kinds.len(), kinds.join(", ")),
        };
        let what = phrase![["link-delay" => given.join(":")], (": {} has {has}", topology.spec())];
        let remedy =
            if kinds.len() < 2 { "give one number".to_owned() } else { format!("give one number, or {}", kinds.len()) };
        return Err(SpecError::new(ErrorKind::Conflict, what, remedy));
    }
    Ok(())
}
