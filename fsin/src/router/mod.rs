//! The functional router: virtual cut-through, input-buffered, one cycle per hop.
//!
//! Each rule stands here once; both engines call it. [`params`] is what can be set, [`request`] is how a head asks for an
//! output, [`guide`] how packets find their way through switches, [`arbitration`] is who gets it, [`injection`] where a packet enters, [`layout`] how large a router is.
//!
//! # How the model departs from reality, and who could notice
//! - A hop costs one cycle: no pipeline, no wire length. Zero-load latency is hops + packet length - 1. Who compares
//!   router microarchitectures needs a pipelined model.
//! - Virtual channels share a link packet by packet, not phit by phit: a started packet never pauses. Average latency of
//!   short packets behind long ones is higher than with phit-level multiplexing.
//! - Free space is known at once at the other end of a link: credits take no time.
//! - What is drawn (a channel, a direction at equal distance) is a function of (run seed, packet, node, purpose), and for
//!   `bubble:smart` of the cycle: results do not depend on the order in which heads are visited. In all other modes a head
//!   whose surroundings have not changed decides the same again; the original drew anew in every cycle.

pub mod arbitration;
pub mod guide;
pub mod injection;
pub mod layout;
pub mod params;
pub mod request;

pub use arbitration::Arbitration;
pub use injection::Injection;
pub use params::{Consumption, Inject, RouterParams, SourceQueue};
