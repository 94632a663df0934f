//! Traffic for interconnection networks, behind one trait.
//!
//! [`TrGen`] drives a network model; [`source`] explains its contract. Three kinds of traffic implement it:
//!
//! - [`synthetic`]: temporal process x spatial pattern x message size;
//! - [`trace`]: programs of communicating tasks, from application kernels or from real MPI traces, replayed in causal
//!   order without their timestamps;
//! - live programs, in the `adapters` crate.
//!
//! This crate knows no router, and of a topology only the number of nodes and, where a pattern needs it, a small
//! [`Geometry`].

pub mod calendar;
pub mod catalog;
pub mod clock;
pub mod collective;
pub mod conformance;
pub mod geometry;
pub mod hashing;
pub mod message;
pub mod phrase;
pub mod quote;
pub mod recurrence;
pub mod rng;
pub mod source;
pub mod synthetic;
pub mod trace;
pub mod units;

pub use geometry::Geometry;
pub use message::{Delivery, Message};
pub use source::{
    Activity, GuestActivity, JobActivity, JobsActivity, Next, Outbox, Reads, SourceError, TaskActivity, TaskState,
    TrGen, Wait, WaitCause,
};
pub use units::{Cycle, NodeId, Picoseconds, TaskId};
