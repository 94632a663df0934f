//! What a frame hop costs: `cargo run --release -p fsin-ethernet --example speed`; with `NAME MICROSECONDS`, one network
//! only, for counting instructions: `valgrind --tool=callgrind target/release/examples/speed tree 20000`.
//!
//! Every host sends a message as soon as the one before is sent, to destinations drawn by a hash, so that links are
//! loaded as much as their queues and the pattern allow.

use std::io::Write as _;
use std::time::Instant;

use fsin_core::network::Notices;
use fsin_core::topology;
use fsin_ethernet::{Ethernet, Forwarding, Params, Recovery, Switching, fast};
use trgen::rng::mix2;
use trgen::{Cycle, Message, NodeId};

/// Name, topology, bytes of a message.
const NETWORKS: [(&str, &str, u64); 7] = [
    ("tree", "fattree:8,2", 15_000),
    ("learning", "fattree:8,2", 15_000),
    ("short", "fattree:8,2", 40),
    ("cut-through", "fattree:8,3", 15_000),
    ("torus", "torus:16x16", 15_000),
    ("window", "fattree:8,2", 150_000),
    ("pause", "fattree:8,2", 15_000),
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

fn run(network: &mut dyn Ethernet, bytes: u64, until: Cycle) -> Result<(), Box<dyn std::error::Error>> {
    let hosts = network.nodes() as u64;
    for host in 0..hosts {
        network.inject(message(host, 0, hosts, bytes));
    }
    let mut notices = Notices::default();
    while network.clock() < until {
        network.advance(until, &mut notices)?;
        for sent in &notices.sent {
            network.inject(message(sent.source.0.into(), sent.id + 1, hosts, bytes));
        }
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let only = words.next();
    let microseconds: u64 = words.next().map_or(Ok(100_000), |word| word.parse())?;
    let mut out = std::io::stdout().lock();
    for (name, spec, bytes) in NETWORKS {
        if only.as_ref().is_some_and(|only| only != name) {
            continue;
        }
        let topology = topology::parse(spec, 2)?;
        let mut network = fast::build(&*topology, params(name))?;
        let begun = Instant::now();
        run(&mut *network, bytes, Cycle(microseconds * 1_000_000))?;
        let seconds = begun.elapsed().as_secs_f64();
        let details = network.details();
        let (dropped, _) = details.losses();
        writeln!(
            out,
            "{name}: {} frame hops, {:.2} million a second, {:.1} Gb/s of goodput, {dropped} frames dropped",
            details.frame_hops(),
            details.frame_hops() as f64 / seconds / 1e6,
            details.goodput() / 1e9,
        )?;
    }
    Ok(())
}
