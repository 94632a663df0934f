//! What a flit hop costs: `cargo run --release -p fsin-wormhole --example flit_hops`, at half of saturation; with
//! `NAME CYCLES THREADS`, one network only, as for counting instructions:
//! `valgrind --tool=callgrind target/release/examples/flit_hops t8-1 20000`. Names that end with `four` are networks with
//! four channels near nine tenths of saturation, those that end with `all` the same with two classes on all channels,
//! priority by age, separable allocators and counts for energy; both are run by name only.

use std::io::Write as _;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use fsin_core::couple::Coupled;
use fsin_core::{run, topology};
use fsin_wormhole::{Allocator, Params, Priority, VcRanges, fast};
use trgen::synthetic::{Config, Mode, Traffic};

/// Name, topology, flits of a packet, VCs, flits of a buffer, load in flits/node/cycle.
const NETWORKS: [(&str, &str, u32, usize, u32, f64); 5] = [
    ("t8-1", "torus:8x8", 1, 2, 4, 0.22),
    ("m8-1", "mesh:8x8", 1, 2, 8, 0.20),
    ("t16-16", "torus:16x16", 16, 2, 16, 0.11),
    ("t888-8", "torus:8x8x8", 8, 2, 8, 0.18),
    ("t32-8", "torus:32x32", 8, 2, 8, 0.06),
];

/// With four channels: name, topology, flits of a packet, flits of a buffer, load in flits/node/cycle.
const FOUR: [(&str, &str, u32, u32, f64); 6] = [
    ("t8-1", "torus:8x8", 1, 4, 0.53),
    ("m8-1", "mesh:8x8", 1, 8, 0.41),
    ("m8-8", "mesh:8x8", 8, 8, 0.36),
    ("t16-16", "torus:16x16", 16, 16, 0.25),
    ("t888-8", "torus:8x8x8", 8, 8, 0.38),
    ("t32-8", "torus:32x32", 8, 8, 0.12),
];

/// A network, its load and whether all options are on.
fn cases() -> Vec<(String, &'static str, Params, f64, bool)> {
    let mut cases = Vec::new();
    for (name, spec, packet_flits, vcs, buffer, load) in NETWORKS {
        cases.push((name.to_owned(), spec, Params { packet_flits, vcs, buffer, ..Params::booksim() }, load, false));
    }
    for (name, spec, packet_flits, buffer, load) in FOUR {
        let four = Params { packet_flits, vcs: 4, buffer, ..Params::booksim() };
        let all = Params {
            message_classes: 2,
            vc_ranges: VcRanges::Together,
            priority: Priority::Age,
            vc_allocator: Allocator::Separable,
            switch_allocator: Allocator::Separable,
            ..four.clone()
        };
        cases.push((format!("{name}-four"), spec, four, load, false));
        cases.push((format!("{name}-all"), spec, all, load, true));
    }
    cases
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let only = words.next();
    let cycles = words.next().map_or(Ok(100_000), |word| word.parse())?;
    let threads = words.next().map_or(Ok(1), |word| word.parse())?;
    let mut out = std::io::stdout().lock();
    for (name, spec, params, load, is_all) in cases() {
        let is_standard = !name.ends_with("-four") && !is_all;
        if only.as_ref().map_or(!is_standard, |only| *only != name) {
            continue;
        }
        let packet_phits = params.packet_flits;
        let topology = topology::parse(spec, 2)?;
        let mut network = fast::build(&*topology, params, threads)?;
        if is_all {
            network.count_events();
        }
        let mut config = Config { load, packet_phits, mode: Mode::Open, ..Config::new(topology.geometry().clone()) };
        if is_all {
            config.pattern = "source(uniform,class=0) + source(uniform,class=1)".parse()?;
        }
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
