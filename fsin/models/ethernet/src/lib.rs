//! The Ethernet model: a switched network that is congested and loses frames, event by event.
//!
//! A message is cut into frames of at most 1 497 of its bytes, with 29 bytes of overhead (preamble and start delimiter
//! 8, header 14, LLC 3, check sequence 4) and at least 72 bytes on the wire. Between two frames of a port there are 96
//! bit times. [`Frames`] has other sizes. Links are full duplex. Switches have output queues with tail drop; they learn
//! addresses, with loops cut by a spanning tree, or have static routes. Hosts send lost frames again, or do not, or
//! have a sliding window.
//!
//! [`mod@reference`] defines the model; [`fast`] gives the same results at a cost that follows the frames, not the
//! time, on any number of threads. Results depend on [`Params`], the topology and the messages only.
//!
//! # Time
//! A tick is a picosecond. When the clock is at cycle c, the time is c - 1 ticks: a message that is injected in the
//! first cycle is injected at time 0, and one whose last bit arrives at time t is delivered in cycle t.
//!
//! # What is a packet
//! In the statistics that all models have in common, a packet is a frame of a message: injected when its first
//! transmission begins, received when it arrives at its destination for the first time, dropped when it is lost and not
//! sent again. Latencies begin when the message is offered. Hops count every frame that has crossed a link of the
//! topology.
//!
//! # Instants that coincide
//! At one instant ports become free before frames arrive, and timers expire last. Frames that arrive at one instant are
//! taken in the order of their ports, or of a hash ([`TieOrder`]).
//!
//! # Links that fail
//! When a link dies, the frames on it and in the queue before it are lost, and what waits at a host whose own link
//! dies; a frame of which a cut-through switch has seen the header is forwarded to its end. Tables and trees are
//! computed anew at once, and addresses are forgotten. What is lost is recovered as other losses are, unless no route
//! is left: then its message is lost. At one instant links die and are repaired before all else.
//!
//! # How the model departs from reality, and who could notice
//! - Forwarding takes no time, and only the lengths of queues bound a switch's memory. To model a switch's forwarding
//!   latency, add it to the propagation delay of links.
//! - Messages of the spanning tree are not simulated: the network begins with the tree that IEEE 802.1D finds, and has
//!   another one at the instant of a failure.
//! - A PAUSE frame holds until the next one: refreshing it is not simulated, and it is never damaged.
//! - Connections with windows are open from the start and for ever.
//! - With the transport `oracle` the sender learns of a loss at once and repeats the frame at once, so that what is
//!   lost costs the links up to the loss and no time. With `backoff` a frame that is lost again waits for a drawn time.
//! - With the transport `window`, a time-out that is not the first of its segment lasts up to an eighth longer, by a
//!   draw: RFC 6298 has no such draw, but clocks that differ.
//!
//! Sources: IEEE 802.3 (frames, gaps, PAUSE), IEEE 802.1D (bridges), RFC 5681, RFC 6298 and RFC 6582 (windows);
//! Hoefler, Schneider, Lumsdaine, LogGOPSim, HPDC 2010, with OMNeT++ (the exact figures that tests hold).

pub mod capture;
pub mod cc;
pub mod components;
mod details;
mod engine;
pub mod entropy;
pub mod family;
pub mod fast;
mod ideal;
mod params;
pub mod reference;
mod rules;
pub mod spread;
pub mod switch;
pub mod transport;
mod wire;

pub use cc::CONTROLS;
pub use details::{BINS, ByClass, Details, PortDetails, Totals};
pub use entropy::ENTROPIES;
pub use family::FAMILY;
pub use params::{
    FORWARDING, Forwarding, IN_FLIGHT, InFlight, MAX_QUEUE, MAX_TIME, PORT_STATS, Params, PortStats, RATES, RTO,
    SWITCHING, Switching, TieOrder, Transport,
};
pub use rules::frame::{CLASSES, Frames};
pub use spread::{SPREADS, Spread};
pub use switch::Switch;
pub use transport::{Spraying, TRANSPORTS};

use capture::Capture;
use fsin_core::capture::Place;
use fsin_core::family::Ends;
use fsin_core::network::Network;
use fsin_core::stats::Distribution;
use fsin_core::topology::{Port, Topology};
use rules::alive::Alive;
use rules::forwarding::Tables;
use rules::wiring::Wiring;
use trgen::catalog::SpecError;

/// An Ethernet, whichever engine simulates it.
pub trait Ethernet: Network {
    /// Measurements of this model in addition to those of every model, since the start of the run. The network must be
    /// [settled](Network::settled).
    fn details(&self) -> Details;

    /// \[ps\] Latencies of messages, from the offer of a message to the arrival of its last bit.
    fn message_latency(&self) -> &Distribution;

    /// \[frames\] Copies on links and in queues, without PAUSE frames. The network must be [settled](Network::settled).
    fn copies_in_flight(&self) -> u64;

    /// Shows all frames at these places to an observer from now on. Transmissions of frames that are waiting already
    /// may be missing. Only a network on one thread shows frames at switches.
    fn capture(&mut self, places: &[Place], observer: Box<dyn Capture>);
}

/// Checks the parameters with a topology.
///
/// # Errors
/// The first setting that cannot be used.
pub fn check(topology: &dyn Topology, params: &Params) -> Result<(), SpecError> {
    prepare(topology, params).map(|_| ())
}

/// The links that the spanning tree blocks.
///
/// # Errors
/// The first setting that cannot be used.
pub fn blocked_links(topology: &dyn Topology, params: &Params) -> Result<Vec<Ends>, SpecError> {
    Ok(prepare(topology, params)?.blocked_links())
}

/// What follows from the settings of a network that has been checked: all that takes time is done once.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    pub(crate) wiring: Wiring,
    /// The state of links at the start.
    pub(crate) alive: Alive,
    pub(crate) tables: Tables,
}

impl Prepared {
    /// The links that the spanning tree blocks.
    pub(crate) fn blocked_links(&self) -> Vec<Ends> {
        let Self { wiring, alive, tables } = self;
        let end = |port: usize| {
            let link = &wiring.links[port];
            (wiring.node(link.owner as usize), Port(link.number))
        };
        // Both ports of a blocked link are listed; each link is taken once.
        let links = tables.blocked(alive).into_iter().map(|port| (port, wiring.links[port].peer as usize));
        links.filter(|(port, peer)| port < peer).map(|(port, peer)| [end(port), end(peer)]).collect()
    }

    /// \[b/s\] By host: the data rate of its link.
    pub(crate) fn host_rates(&self) -> Vec<u64> {
        let wiring = &self.wiring;
        (0..wiring.hosts as u32).map(|host| wiring.links[wiring.host_port(host)].rate).collect()
    }

    /// Number of links between switches that routes could take, and of these the number that none takes: with static
    /// forwarding and without a [spread](Params::spread) over several paths of the links on shortest paths, with a
    /// spanning tree of all. Each direction of a link counts by itself.
    pub(crate) fn unused_links(&self) -> [usize; 2] {
        self.tables.unused(&self.wiring, &self.alive)
    }
}

/// Checks the parameters with a topology, and prepares the network.
pub(crate) fn prepare(topology: &dyn Topology, params: &Params) -> Result<Prepared, SpecError> {
    params.check()?;
    let wiring = Wiring::new(topology, params)?;
    switch::check_buffers(params, &wiring)?;
    let alive = Alive::new(topology, &wiring, params)?;
    let tables = Tables::new(topology, &wiring, params, &alive)?;
    Ok(Prepared { wiring, alive, tables })
}
