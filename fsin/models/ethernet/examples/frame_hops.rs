//! What a frame hop costs: `cargo run --release -p fsin-ethernet --example frame_hops`; with `NAME MICROSECONDS`, one
//! network only, for counting instructions: `valgrind --tool=callgrind target/release/examples/frame_hops tree 20000`;
//! with `NAME MICROSECONDS THREADS`, by the wall clock, on several threads.
//!
//! Every host sends a message in each period, one host after the other, to destinations drawn by a hash, at half of
//! what the network carries or less. Networks named `flow` and `incast` are run as `fsin run` runs a program, with all
//! that surrounds the network: one host, or fifteen, send at once what 1 Gb/s carries in the given time.

use std::io::Write as _;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use cpu_time::ProcessTime;
use fsin_core::couple::Coupled;
use fsin_core::network::Notices;
use fsin_core::run::to_end;
use fsin_core::topology;
use fsin_ethernet::{Ethernet, Forwarding, Params, Spread, Switching, Transport, fast};
use trgen::rng::mix2;
use trgen::{Cycle, Delivery, Message, Next, NodeId, Outbox, SourceError, TrGen};

/// Name, hosts that send, \[b/s\] rate of links.
const TRANSFERS: [(&str, u32, u64); 4] = [
    ("flow", 1, 1_000_000_000),
    ("flow-100G", 1, 100_000_000_000),
    ("incast", 15, 1_000_000_000),
    ("incast-100G", 15, 100_000_000_000),
];

/// Name, topology, bytes of a message, load as a share of the rate of a host's link.
const NETWORKS: [(&str, &str, u64, f64); 8] = [
    ("tree", "fattree:8,2", 15_000, 0.5),
    ("learning", "fattree:8,2", 15_000, 0.05),
    ("short", "fattree:8,2", 40, 0.4),
    ("large", "fattree:16,3", 15_000, 0.5),
    ("cut-through", "fattree:8,3", 15_000, 0.5),
    ("torus", "torus:16x16", 15_000, 0.25),
    ("window", "fattree:8,2", 150_000, 0.3),
    ("pause", "fattree:8,2", 15_000, 0.5),
];

fn params(name: &str) -> Params {
    let base = Params { forwarding: Forwarding::Static, spread: Spread::ECMP, ..Params::default() };
    match name {
        "learning" => Params { forwarding: Forwarding::Learning, spread: Spread::ONE, ..base },
        "cut-through" => Params { switching: Switching::CutThrough, ..base },
        "window" => Params { transport: Transport::Window, ..base },
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

/// Messages that are sent at once.
struct AtOnce {
    nodes: usize,
    messages: Vec<Message>,
}

impl TrGen for AtOnce {
    fn nodes(&self) -> usize {
        self.nodes
    }

    fn generate(&mut self, _: Cycle, out: &mut Outbox) -> Result<(), SourceError> {
        self.messages.drain(..).for_each(|message| out.push(message));
        Ok(())
    }

    fn sent(&mut self, _: Cycle, _: &Message) {}

    fn delivered(&mut self, _: Cycle, _: &Delivery) {}

    fn dropped(&mut self, _: Cycle, _: &Message) {}

    fn next(&self) -> Next {
        if self.messages.is_empty() { Next::Done } else { Next::At(Cycle::FIRST) }
    }
}

/// Runs a transfer of `bytes` from each sender to the last host of a switch, and returns the frame hops.
fn transfer(senders: u32, rate: u64, bytes: u64, threads: usize) -> Result<u64, Box<dyn std::error::Error>> {
    let topology = topology::parse("fattree:16,1", 2)?;
    let params = Params { forwarding: Forwarding::Static, link_rate: rate, ..Params::default() };
    let mut network = fast::build(&*topology, params, threads)?;
    let message = |id: u32| Message { id: id.into(), source: NodeId(id), destination: NodeId(15), bytes, class: 0 };
    let mut source = AtOnce { nodes: 16, messages: (0..senders).map(message).collect() };
    let stop = AtomicBool::new(false);
    let outcome = to_end(&mut Coupled::new(&mut source, &mut *network, &stop), Cycle::NEVER, &mut |_| {});
    Ok(outcome.totals.hops)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let only = words.next();
    let microseconds: u64 = words.next().map_or(Ok(100_000), |word| word.parse())?;
    let threads: usize = words.next().map_or(Ok(1), |word| word.parse())?;
    let mut out = std::io::stdout().lock();
    for (name, senders, rate) in TRANSFERS {
        if only.as_ref().is_some_and(|only| only != name) {
            continue;
        }
        let begun = ProcessTime::now();
        let hops = transfer(senders, rate, 125 * microseconds, threads)?;
        let seconds = begun.elapsed().as_secs_f64();
        writeln!(
            out,
            "{name}: {hops} frame hops, {:.2} million a second of processor time",
            hops as f64 / seconds / 1e6
        )?;
    }
    for (name, spec, bytes, load) in NETWORKS {
        if only.as_ref().is_some_and(|only| only != name) {
            continue;
        }
        let topology = topology::parse(spec, 2)?;
        let params = params(name);
        let bits = 8 * (bytes.max(43) + params.frames_of(bytes) * 41);
        let period = (bits as f64 * 1e12 / params.link_rate as f64 / load) as u64;
        let mut network = fast::build(&*topology, params, threads)?;
        let (begun, begun_by_clock) = (ProcessTime::now(), Instant::now());
        run(&mut *network, bytes, period, microseconds * 1_000_000)?;
        network.settled();
        let seconds = if threads == 1 { begun.elapsed() } else { begun_by_clock.elapsed() }.as_secs_f64();
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
