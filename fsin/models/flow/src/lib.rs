//! The flow model: a message is a fluid flow over the links of its path, and flows share links fairly.
//!
//! A message enters after the latency of its path, then gets a share of every link of the path, and arrives when its
//! bytes have passed. Shares change at the entries and ends of flows alone, so that the cost of a run follows the
//! number of messages and not that of packets and hops.
//!
//! # Rules
//! - The path is that of the [routing function](fsin_core::route) at the entry: one candidate by hash, the least used
//!   one at each router, or all of them, over which the flow is split evenly at each router ([`Paths`]).
//! - The link of the node itself is part of the path. In a network of switches it is one of the topology; in a direct
//!   network each node has one for what it sends and one for what it receives.
//! - Shares are max-min fair ([`Fairness::MaxMin`]), weighted by round trips ([`Fairness::RoundTrip`]), or as if each
//!   link were split evenly among its flows, whatever they use elsewhere ([`Fairness::Split`]).
//! - Of a connection (source, destination, class) one message is in the network, unless [`Params::connections`] says
//!   otherwise; the next one starts when the last byte of the former has left its source.
//! - A message of 0 bytes, or to the own node, arrives when it enters.
//! - A message counts as sent when it has arrived.
//! - When a link dies, the flows over it take other paths at once, with what is left of them, and where no route is
//!   left they are lost whole. A repair changes nothing for flows under way. At one instant links die and are repaired
//!   first.
//!
//! # Numbers
//! A tick is a picosecond; when the clock is at cycle c, the time is c - 1 ticks. Rates are integers in 2^-50 bytes per
//! ns, and a link is divided by integer division, so that sums do not depend on an order and engines agree to the bit.
//! The end of a flow is rounded to the nearest tick. What is left of a flow is computed anew only when its rate
//! changes. At one instant flows end first, then flows enter by source and number of the message, then shares are
//! divided.
//!
//! # How the model departs from reality, and who could notice
//! - No packets, no buffers, no head-of-line blocking, no arbitration: a study of a router's design should use `vct` or
//!   `wormhole`, one of losses `ethernet`. Short messages pass without the time that their packets take to be stored.
//! - Shares adapt at once to every change. Windows that open round trip by round trip are not modelled.
//! - With weights, an entry or end far away changes all shares at the same instant.
//!
//! Sources: Bertsekas and Gallager, *Data Networks*, 1992, section 6.5 (max-min fairness); Casanova, Giersch, Legrand,
//! Quinson, Suter, *Versatile, Scalable, and Accurate Simulation of Distributed Applications and Platforms*, JPDC
//! 74(10), 2014, and Velho, Schnorr, Casanova, Legrand, *On the Validity of Flow-level TCP Network Models for Grid and
//! Cloud Simulations*, TOMACS 23(4), 2013 (weights and factors of SimGrid); Navaridas, Pascual, Erickson, Stewart,
//! Luján, *INRFlow: An interconnection networks research flow-level simulation framework*, JPDC 130, 2019.
//!
//! Decisions: docs/decisions/0205-flow-model.md, docs/decisions/0420-connections-in-order.md.

mod carried;
mod engine;
pub mod family;
mod few;
mod least;
mod params;
mod paths;
mod repair;
mod services;
mod share;
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests;
mod wiring;

pub use family::FLOW;
pub use params::{Fairness, Params, Paths};

use std::sync::Arc;

use fsin_core::network::Network;
use fsin_core::topology::Topology;
use trgen::catalog::SpecError;

/// Builds the network. The reference engine computes all shares anew at every change, the fast one those that a change
/// reaches; both give the same bits.
///
/// # Errors
/// The first setting that cannot be used.
pub fn build(topology: &Arc<dyn Topology>, params: &Params, is_reference: bool) -> Result<Box<dyn Network>, SpecError> {
    let wiring = Arc::new(wiring::Wiring::new(&**topology, params)?);
    Ok(Box::new(engine::Flows::new(topology, &wiring, params, is_reference)?))
}
