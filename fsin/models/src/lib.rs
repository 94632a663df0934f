//! The network models, each behind the [`Network`](fsin_core::network::Network) trait.
//!
//! | Model | What it is |
//! |---|---|
//! | [`vct`] | virtual cut-through routers with virtual channels: a reference engine and a fast one |
//! | [`wormhole`] | flits, credits and pipelines: input-queued virtual-channel routers |
//! | [`ethernet`] | switched Ethernet, frame by frame: congestion, losses, recovery |
//! | [`myrinet`] | source routes, wormhole switches, STOP and GO, character by character |
//! | [`flow`] | fluid flows that share links max-min fairly |
//! | [`bus`] | a shared bus: one packet at a time; the example for those who add a model |
//! | [`ConstantDelay`] | every message takes the same time, or none, regardless of load |
//! | [`loggops`] | a wire without routers, for hosts that execute graphs |
//!
//! # A first run
//! An 8x8 torus under uniform traffic at 0.2 phits per node and cycle, for 10 000 cycles (`examples/first.rs`):
//! ```
//! use std::sync::atomic::AtomicBool;
//!
//! use fsin_core::couple::Coupled;
//! use fsin_core::{run, topology};
//! use fsin_models::vct::{engine::fast, router::RouterParams};
//! use trgen::synthetic::{Config, Traffic};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let torus = topology::parse("torus:8x8", 2)?;
//! let params = RouterParams::default().check(&*torus)?;
//! let mut source = Traffic::new(&Config { load: 0.2, ..Config::new(torus.geometry().clone()) })?;
//! let mut network = fast::build(torus, params, 1).ok_or("fewer than 2^31 nodes, please")?;
//! let stop = AtomicBool::new(false);
//! let outcome = run::fixed(&mut Coupled::new(&mut source, &mut *network, &stop), 10_000, &mut |_| ());
//! // 64 nodes send 0.2 phits in each cycle, in packets of 16 phits: 8000 packets in all.
//! assert!((7_500..8_500).contains(&outcome.totals.received));
//! # Ok(())
//! # }
//! ```

pub mod bus;
pub mod constant_delay;
pub mod loggops;

use fsin_core::family::ModelFamily;
pub use fsin_ethernet as ethernet;
pub use fsin_flow as flow;
pub use fsin_myrinet as myrinet;
pub use fsin_vct as vct;
pub use fsin_wormhole as wormhole;
use trgen::catalog::Table;

pub use constant_delay::ConstantDelay;

/// Every network model; the first is the default.
pub static MODELS: Table<ModelFamily> = Table::new(
    "network model",
    &[
        &vct::family::VCT,
        &wormhole::family::WORMHOLE,
        &ethernet::FAMILY,
        &myrinet::FAMILY,
        &flow::FLOW,
        &bus::BUS,
        &constant_delay::CONSTANT_DELAY,
        &constant_delay::ZERO,
        &loggops::LOGGOPS,
    ],
);
