//! Live guests in threads, coupled to a network in this process.

use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use adapters::address::Address;
use adapters::clock::{Clock, Time};
use adapters::endpoint::{Connection, Endpoint, Terms};
use adapters::guest::{Config, Guest, GuestError};
use adapters::live::{Live, LiveReport, LostGuest, Overheads, Region, Rules, WarmUp};
use adapters::protocol::Mode;
use fsin::couple::Coupled;
use fsin::network::Network;
use fsin::run::{Outcome, to_end};
use trgen::Cycle;

use crate::programs::CYCLE;

/// Never set: the run is not interrupted.
static NEVER: AtomicBool = AtomicBool::new(false);

/// Settings of a run of guests.
#[derive(Clone, Debug)]
pub struct Table {
    /// The terms for guests.
    pub terms: Terms,
    /// Overheads between guests and network.
    pub overheads: Overheads,
    /// Policy for lost guests.
    pub lost: LostGuest,
    /// True for TCP, false for a Unix socket.
    pub tcp: bool,
    /// How stepped guests begin.
    pub warm_up: WarmUp,
    /// Limit of the waits for a guest that makes no progress.
    pub hold: Duration,
    /// The measured part of the run.
    pub region: Option<Region>,
    /// \[ps\] Interval between running digests; 0 for none.
    pub digest_every: Time,
}

impl Table {
    /// Exact mode, no overheads, cycles of 3200 ps, over TCP.
    #[must_use]
    pub fn new(nodes: usize) -> Self {
        Self::with(nodes, Overheads { send: 0, receive: 0, response: 1 })
    }

    /// The same with these overheads; steps are as long as the horizon.
    ///
    /// # Panics
    /// Never: the cycle is not empty.
    #[must_use]
    pub fn with(nodes: usize, overheads: Overheads) -> Self {
        let clock = Clock::new(CYCLE.0, 1).expect("a cycle lasts 3200 ps");
        let horizon = overheads.horizon(clock);
        let terms = Terms {
            nodes,
            mode: Mode::Exact,
            step: horizon,
            horizon,
            clock,
            max_payload: 1 << 20,
            window: 1 << 16,
            stall: Duration::from_secs(60),
            handshake: Duration::from_secs(20),
            token: None,
            seed: 1,
            pace: 0,
        };
        let (warm_up, region) = (WarmUp::None, None);
        let hold = Duration::from_secs(60);
        Self { terms, overheads, lost: LostGuest::Abort, tcp: true, warm_up, hold, region, digest_every: 0 }
    }

    /// The rules for guests.
    #[must_use]
    pub fn rules(&self) -> Rules {
        Rules {
            terms: self.terms.clone(),
            overheads: self.overheads,
            lost: self.lost,
            warn: Duration::from_secs(10),
            hold: self.hold,
            payload_limit: 1 << 28,
            stop: &NEVER,
            warm_up: self.warm_up,
            region: self.region.clone(),
            network_nodes: self.terms.nodes,
            places: None,
            digest_every: self.digest_every,
        }
    }

    /// Listens, has `connect` start guests that connect to the address, and gathers guests for `wanted` nodes.
    ///
    /// # Panics
    /// When the endpoint fails.
    pub fn gather(&self, wanted: usize, connect: impl FnOnce(&Address)) -> Vec<Connection> {
        let folder = tempfile::tempdir().expect("the system has room for a folder");
        let address = if self.tcp {
            "127.0.0.1:0".parse().expect("an address")
        } else {
            Address::Unix(folder.path().join("fsin.sock"))
        };
        let endpoint = Endpoint::bind(&address, self.terms.token.clone()).unwrap_or_else(|error| panic!("{error}"));
        connect(&endpoint.address().expect("a bound socket has an address"));
        endpoint.gather(&self.terms, wanted, &mut |_| true, &mut |_| ()).unwrap_or_else(|error| panic!("{error}"))
    }
}

/// The actions of a connected guest.
pub type Part = Box<dyn FnOnce(Guest) -> Result<(), GuestError> + Send>;

/// Starts each guest in its own thread, in this order.
pub fn start(address: &Address, parts: Vec<(Config, Part)>) -> Vec<thread::JoinHandle<Result<(), GuestError>>> {
    parts
        .into_iter()
        .map(|(config, part)| {
            let address = address.clone();
            thread::spawn(move || part(Guest::connect(&address, &config)?))
        })
        .collect()
}

/// Runs guests over `network` to their end.
///
/// # Panics
/// When a guest fails.
pub fn play(table: &Table, network: &mut dyn Network, parts: Vec<(Config, Part)>) -> (Outcome, LiveReport) {
    let (outcome, report, guests) = attempt(table, network, parts);
    assert_eq!(outcome.failure, None);
    for guest in guests {
        guest.unwrap_or_else(|error| panic!("a guest failed: {error}"));
    }
    (outcome, report)
}

/// The same, whatever the outcome.
///
/// # Panics
/// When a guest panics.
pub fn attempt(
    table: &Table,
    network: &mut dyn Network,
    parts: Vec<(Config, Part)>,
) -> (Outcome, LiveReport, Vec<Result<(), GuestError>>) {
    let wanted = parts.iter().map(|(config, _)| config.nodes.len()).sum();
    let mut threads = Vec::new();
    let connections = table.gather(wanted, |address| threads = start(address, parts));
    let mut live = Live::new(connections, table.rules(), Box::new(|_| ()));
    let stop = AtomicBool::new(false);
    let outcome = to_end(&mut Coupled::new(&mut live, network, &stop), Cycle::NEVER, &mut |_| {});
    live.close("the run has ended");
    let guests = threads.into_iter().map(|thread| thread.join().expect("guests do not panic")).collect();
    (outcome, live.report(), guests)
}
