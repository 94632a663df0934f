//! The functional router: virtual cut-through, input-buffered, one cycle per hop.
//!
//! Each rule is written once, here; both engines call it:
//! - [`params`]: the settings;
//! - [`request`]: how a head requests an output (route computation and VC allocation);
//! - [`routing`](crate::routing): the rules of each routing;
//! - [`arbitration`]: which request is granted;
//! - [`injection`]: where a packet enters;
//! - [`layout`]: the dimensions of a router;
//! - [`congestion`]: congestion control;
//! - [`hop_delays`]: the delay of a hop;
//! - [`faults`]: reachability in direct networks with dead links;
//! - `given`: routes of a table in direct networks.
//!
//! # How the model departs from reality, and who could notice
//! - A hop costs one cycle, plus the configured delays of link and router ([`hop_delays`]). Zero-load latency of a
//!   packet of L phits over D hops is D (1 + link delay + router delay) + L - 1. A router's delay is the same for all
//!   packets, blocked or not: a comparison of router microarchitectures needs a pipelined model.
//! - Virtual channels share a link packet by packet, not phit by phit: a started packet never pauses. Average latency
//!   of short packets behind long ones is higher than with phit-level multiplexing.
//! - Free space is known at once at the other end of a link: credits take no time, however long the link is, and phits
//!   on the link already occupy their room in the queue. This matters for sizing the queues of long links: with credits
//!   that take as long as phits, queues would have to be up to twice as long for the same load.
//! - Where links have unlike rates, room is counted in whole packets: a queue has room for a packet when the tail of
//!   another one has left it, not while that one leaves as fast as the next arrives. Full queues hold a little less.
//!   Decision: docs/decisions/0219-links-of-unlike-rate.md.
//! - Every random draw (a channel, a direction at equal distance) is a function of (run seed, packet or node, purpose,
//!   cycle): results do not depend on the order in which heads are visited. The original uses one generator in that
//!   order.

pub mod arbitration;
pub mod checked;
pub mod congestion;
pub mod faults;
mod given;
pub mod hop_delays;
pub mod injection;
pub mod layout;
pub mod params;
pub mod request;

pub use arbitration::Arbitration;
pub use checked::CheckedParams;
pub use fsin_core::interface::Interface;
pub use injection::Injection;
pub(crate) use params::MAX_PACKETS;
pub use params::{Consumption, GlobalCc, Inject, MAX_QUEUES, RouterParams, SourceQueue, Timeouts};
