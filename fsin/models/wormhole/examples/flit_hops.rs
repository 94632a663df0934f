//! What a flit hop costs: `cargo run --release -p fsin-wormhole --example flit_hops`, at half of saturation; with
//! `NAME CYCLES THREADS`, one network only, as for counting instructions:
//! `valgrind --tool=callgrind target/release/examples/flit_hops t8-1 20000`.

use std::io::Write as _;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use fsin_core::couple::Coupled;
use fsin_core::{run, topology};
use fsin_wormhole::Params;
use fsin_wormhole::fast;
use trgen::synthetic::{Config, Mode, Traffic};

/// Name, topology, flits of a packet, VCs, flits of a buffer, load in flits/node/cycle.
const NETWORKS: [(&str, &str, u32, usize, u32, f64); 5] = [
    ("t8-1", "torus:8x8", 1, 2, 4, 0.22),
    ("m8-1", "mesh:8x8", 1, 2, 8, 0.20),
    ("t16-16", "torus:16x16", 16, 2, 16, 0.11),
    ("t888-8", "torus:8x8x8", 8, 2, 8, 0.18),
    ("t32-8", "torus:32x32", 8, 2, 8, 0.06),
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let only = words.next();
    let cycles = words.next().map_or(Ok(100_000), |word| word.parse())?;
    let threads = words.next().map_or(Ok(1), |word| word.parse())?;
    let mut out = std::io::stdout().lock();
    for (name, spec, packet_flits, vcs, buffer, load) in NETWORKS {
        if only.as_ref().is_some_and(|only| only != name) {
            continue;
        }
        let params = Params { packet_flits, vcs, buffer, ..Params::booksim() };
        let topology = topology::parse(spec, 2)?;
        let mut network = fast::build(&*topology, params, threads)?;
        let config =
            Config { load, packet_phits: packet_flits, mode: Mode::Open, ..Config::new(topology.geometry().clone()) };
        let mut source = Traffic::new(&config)?;
        let stop = AtomicBool::new(false);
        let begun = Instant::now();
        let outcome = run::fixed(&mut Coupled::new(&mut source, &mut *network, &stop), cycles, &mut |_| ());
        let seconds = begun.elapsed().as_secs_f64();
        let hops = network.details().flit_hops;
        writeln!(
            out,
            "{name}: {hops} flit hops, {:.2} million a second, {:.0} cycles/s, mean latency {:.1} cycles",
            hops as f64 / seconds / 1e6,
            cycles as f64 / seconds,
            outcome.measured.latency.moments().mean().unwrap_or(0.0)
        )?;
    }
    Ok(())
}
