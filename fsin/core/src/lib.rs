//! What every network model shares: the [`Network`](network::Network) trait and the one loop that couples traffic to
//! it, topologies, statistics and run control.
//!
//! Nothing here prints or reads a clock. Files are read in two places: the topology `graph:FILE` is, and the file of
//! `routes` where a model asks for the [values](family::Values) of settings. Threads are started in one place: the pool
//! of [`parallel`].
//!
//! # A network of one's own
//! A model is a [`Network`](network::Network): messages go in, notices come out. This one delivers every message in the
//! cycle after its injection. [`Coupled`](couple::Coupled) drives it with a source of traffic, and [`run`] measures:
//! ```
//! use std::sync::atomic::AtomicBool;
//!
//! use fsin_core::couple::Coupled;
//! use fsin_core::network::{Injected, Network, NetworkFailure, Notices, Settled};
//! use fsin_core::run;
//! use fsin_core::stats::{Receipt, Recorder};
//! use trgen::synthetic::{Config, Traffic};
//! use trgen::{Cycle, Delivery, Geometry, Message};
//!
//! struct NextCycle {
//!     nodes: usize,
//!     clock: Cycle,
//!     taken: Vec<Message>,
//!     recorder: Recorder,
//! }
//!
//! impl Network for NextCycle {
//!     fn nodes(&self) -> usize { self.nodes }
//!     fn clock(&self) -> Cycle { self.clock }
//!     fn in_flight(&self) -> u64 { self.taken.len() as u64 }
//!     fn settled(&mut self) -> Settled<'_> { Settled::new(&self.recorder) }
//!     fn recorder_mut(&mut self) -> &mut Recorder { &mut self.recorder }
//!
//!     fn inject(&mut self, message: Message) -> Injected {
//!         self.recorder.generated(1);
//!         self.recorder.injected(1);
//!         self.taken.push(message);
//!         Injected::Accepted
//!     }
//!
//!     fn advance(&mut self, until: Cycle, notices: &mut Notices) -> Result<(), NetworkFailure> {
//!         notices.clear();
//!         let offered = self.clock;
//!         self.clock = if self.taken.is_empty() { until } else { offered.next() };
//!         for message in self.taken.drain(..) {
//!             let Message { source, destination, id, .. } = message;
//!             let receipt = Receipt { source, destination, sequence: id, latency: 1, hops: 1 };
//!             self.recorder.received(offered, &receipt);
//!             notices.sent.push(message);
//!             notices.delivered.push(Delivery { message, offered, delivered: offered });
//!         }
//!         Ok(())
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let grid = Geometry::new(&[8, 8]).ok_or("sizes of 1 or more")?;
//! let mut source = Traffic::new(&Config { load: 0.2, ..Config::new(grid) })?;
//! let recorder = Recorder::new(64);
//! let mut network = NextCycle { nodes: 64, clock: Cycle::FIRST, taken: Vec::new(), recorder };
//! let stop = AtomicBool::new(false);
//! let outcome = run::fixed(&mut Coupled::new(&mut source, &mut network, &stop), 10_000, &mut |_| ());
//! assert_eq!(outcome.measured.latency.moments().mean(), Some(1.0));
//! # Ok(())
//! # }
//! ```

pub mod activity;
pub mod capture;
pub mod classes;
pub mod connections;
pub mod couple;
pub mod difference;
pub mod divisor;
pub mod engine;
pub mod failures;
pub mod family;
pub mod interface;
pub mod messages;
pub mod network;
pub mod parallel;
pub mod repetition;
pub mod ring;
pub mod route;
pub mod run;
pub mod slab;
pub mod stats;
pub mod topology;
pub mod view;
pub mod wait;
pub mod watch;
pub mod wiring;
pub mod words;
