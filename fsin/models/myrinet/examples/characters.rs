//! What a character costs: `cargo run --release -p fsin-myrinet --example characters`, with a file `graph:FILE` or
//! another topology and the payload in bytes instead of those below.
//!
//! Every host sends at half of its rate, gaps and destinations drawn by hashes, uniform over all others.

use std::io::Write as _;
use std::sync::Arc;
use std::time::Instant;

use fsin_core::network::Notices;
use fsin_core::topology::{self, Topology};
use fsin_myrinet::{Params, fast};
use trgen::rng::mix2;
use trgen::{Cycle, Message, NodeId};

const NETWORKS: [(&str, u32, f64); 5] = [
    ("graph:examples/myrinet-networks/groups-96.txt", 1_024, 0.5),
    ("graph:examples/myrinet-networks/groups-96.txt", 4_096, 0.5),
    ("graph:examples/myrinet-networks/groups-96.txt", 64, 0.5),
    ("fattree:8,1", 1_024, 0.5),
    ("fattree:8,1", 1_024, 0.9),
];

/// Number of characters that a run moves, about.
const ENOUGH: u64 = 400_000_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let mut networks = NETWORKS.to_vec();
    if let [spec, payload, load] = &words[..] {
        networks = vec![(spec, payload.parse()?, load.parse()?)];
    }
    let mut out = std::io::stdout().lock();
    for (spec, payload, load) in networks {
        let topology: Arc<dyn Topology> = topology::parse(spec, 2)?.into();
        let mut network = fast::build(&topology, Params { payload, ..Params::default() })?;
        let hosts = network.nodes() as u64;
        let mean = u64::from(payload + 7) * 6_250 * 1_000 / (load * 1_000.0) as u64;
        let mut next: Vec<(u64, u64)> = (0..hosts).map(|host| (mix2(host, 0) % (2 * mean), 0)).collect();
        let mut notices = Notices::default();
        let begun = Instant::now();
        let mut moved = 0;
        for turn in 0u64.. {
            let Some((host, (at, number))) = next.iter().copied().enumerate().min_by_key(|(_, (at, _))| *at) else {
                break;
            };
            while network.clock() < Cycle(at + 1) {
                network.advance(Cycle(at + 1), &mut notices)?;
            }
            let source = host as u64;
            let destination = (source + 1 + mix2(source, 2 * number + 1) % (hosts - 1)) % hosts;
            let (source, destination) = (NodeId(source as u32), NodeId(destination as u32));
            network.inject(Message { id: number, source, destination, bytes: payload.into(), class: 0 });
            next[host] = (at + mix2(u64::from(source.0), 2 * number + 2) % (2 * mean), number + 1);
            if turn.is_multiple_of(1_000) {
                moved = network.details().moved();
                if moved > ENOUGH {
                    break;
                }
            }
        }
        let seconds = begun.elapsed().as_secs_f64();
        let (stops, _) = network.details().stops_and_gos();
        writeln!(
            out,
            "{spec} payload {payload} load {load}: {moved} characters, {:.0} million a second, {:.3} Gb/s of goodput, \
             {stops} STOPs, {} packets in flight",
            moved as f64 / seconds / 1e6,
            network.details().goodput() / 1e9,
            network.in_flight(),
        )?;
    }
    Ok(())
}
