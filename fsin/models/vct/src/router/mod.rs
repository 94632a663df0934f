//! The functional router: virtual cut-through, input-buffered, one cycle per hop.
//!
//! Each rule stands here once; both engines call it. [`params`] is what can be set, [`request`] is how a head asks for
//! an output, [`guide`] how packets find their way through switches, [`arbitration`] is who gets it, [`injection`]
//! where a packet enters, [`layout`] how large a router is, [`congestion`] who is held back, [`wires`] how long a hop
//! takes, [`detours`] what dead links leave of a direct network.
//!
//! # How the model departs from reality, and who could notice
//! - A hop costs one cycle, and the delays of link and router that are set ([`wires`]). Zero-load latency of a packet
//!   of L phits over D hops is D (1 + link delay + router delay) + L - 1. A router's delay is the same for all packets,
//!   whether they wait or not: who compares router microarchitectures needs a pipelined model.
//! - Virtual channels share a link packet by packet, not phit by phit: a started packet never pauses. Average latency
//!   of short packets behind long ones is higher than with phit-level multiplexing.
//! - Free space is known at once at the other end of a link: credits take no time, however long the link is, and what
//!   is on the wire has its room in the queue already. Who sizes queues for long links could notice: with credits that
//!   take as long as phits, queues would have to be up to twice as long for the same load.
//! - What is drawn (a channel, a direction at equal distance) is a function of (run seed, packet or node, purpose,
//!   cycle): results do not depend on the order in which heads are visited. The original has one generator in that
//!   order.

pub mod arbitration;
pub mod congestion;
pub mod detours;
pub mod guide;
pub mod injection;
pub mod layout;
pub mod params;
pub mod request;
pub mod wires;

pub use arbitration::Arbitration;
pub use injection::Injection;
pub use params::{Consumption, GlobalCc, Inject, MAX_QUEUES, RouterParams, SourceQueue, Timeouts};
