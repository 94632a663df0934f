//! What a frame hop costs: `cargo run --release -p fsin-ethernet --example frame_hops`; with `NAME MICROSECONDS`, one
//! network only, for counting instructions: `valgrind --tool=callgrind target/release/examples/frame_hops tree 20000`.
//!
//! Every host sends a message in each period, one host after the other, to destinations drawn by a hash, at half of
//! what the network carries or less.

use std::io::Write as _;

use cpu_time::ProcessTime;
use fsin_core::network::Notices;
use fsin_core::topology;
use fsin_ethernet::{Ethernet, Forwarding, Params, Recovery, Switching, fast};
use trgen::rng::mix2;
use trgen::{Cycle, Message, NodeId};

/// Name, topology, bytes of a message, load as a share of the rate of a host's link.
const NETWORKS: [(&str, &str, u64, f64); 7] = [
    ("tree", "fattree:8,2", 15_000, 0.5),
    ("learning", "fattree:8,2", 15_000, 0.05),
    ("short", "fattree:8,2", 40, 0.4),
    ("cut-through", "fattree:8,3", 15_000, 0.5),
    ("torus", "torus:16x16", 15_000, 0.25),
    ("window", "fattree:8,2", 150_000, 0.3),
    ("pause", "fattree:8,2", 15_000, 0.5),
];

fn params(name: &str) -> Params {
    let base = Params { forwarding: Forwarding::Static, ecmp: true, ..Params::default() };
    match name {
        "learning" => Params { forwarding: Forwarding::Learning, ecmp: false, ..base },
        "cut-through" => Params { switching: Switching::CutThrough, ..base },
        "window" => Params { recovery: Recovery::Window, ..base },
        // Routes up and down a tree form no cycle.
        "pause" => Params { pause: true, xoff: 50, xon: 25, ..base },
        _ => base,
    }
}

/// The message with this number of a host.
fn message(source: u64, number: u64, hosts: u64, bytes: u64) -> Message {
    let destination = (source + 1 + mix2(source, number) % (hosts - 1)) % hosts;
    let (source, destination) = (NodeId(source as u32), NodeId(destination as u32));
    Message { id: number, source, destination, bytes, class: 0 }
}

/// Sends with a period of `period` ps.
fn run(network: &mut dyn Ethernet, bytes: u64, period: u64, until: u64) -> Result<(), Box<dyn std::error::Error>> {
    let hosts = network.nodes() as u64;
    let mut notices = Notices::default();
    for turn in 0..until / (period / hosts) {
        network.inject(message(turn % hosts, turn / hosts, hosts, bytes));
        let next = Cycle((turn + 1) * (period / hosts));
        while network.clock() < next {
            network.advance(next, &mut notices)?;
        }
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let only = words.next();
    let microseconds: u64 = words.next().map_or(Ok(100_000), |word| word.parse())?;
    let mut out = std::io::stdout().lock();
    for (name, spec, bytes, load) in NETWORKS {
        if only.as_ref().is_some_and(|only| only != name) {
            continue;
        }
        let topology = topology::parse(spec, 2)?;
        let params = params(name);
        let bits = 8 * (bytes.max(43) + params.frames_of(bytes) * 41);
        let period = (bits as f64 * 1e12 / params.link_rate as f64 / load) as u64;
        let mut network = fast::build(&*topology, params)?;
        let begun = ProcessTime::now();
        run(&mut *network, bytes, period, microseconds * 1_000_000)?;
        let seconds = begun.elapsed().as_secs_f64();
        let details = network.details();
        let (dropped, _) = details.losses();
        writeln!(
            out,
            "{name}: {} frame hops, {:.2} million a second of processor time, {:.1} Gb/s of goodput, {dropped} frames dropped",
            details.frame_hops(),
            details.frame_hops() as f64 / seconds / 1e6,
            details.goodput() / 1e9,
        )?;
    }
    Ok(())
}
