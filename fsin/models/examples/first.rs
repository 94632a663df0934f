//! An 8x8 torus of virtual cut-through routers under uniform traffic: `cargo run -p fsin-models --example first`.

#![allow(clippy::print_stdout, reason = "the figures are what the example is for")]

use std::error::Error;
use std::sync::atomic::AtomicBool;

use fsin_core::couple::Coupled;
use fsin_core::{run, topology};
use fsin_models::vct::{engine::fast, router::RouterParams};
use trgen::synthetic::{Config, Traffic};

fn main() -> Result<(), Box<dyn Error>> {
    let torus = topology::parse("torus:8x8", 2)?;
    let params = RouterParams::default();
    params.check(&*torus)?;
    let mut source = Traffic::new(&Config { load: 0.2, ..Config::new(torus.geometry().clone()) })?;
    let mut network = fast::build(torus, params, 1).ok_or("fewer than 2^31 nodes, please")?;
    let stop = AtomicBool::new(false);
    let outcome = run::fixed(&mut Coupled::new(&mut source, &mut *network, &stop), 10_000, &mut |_| ());
    println!("packets received: {}", outcome.totals.received);
    println!("mean latency: {:?} cycles", outcome.measured.latency.moments().mean());
    Ok(())
}
