//! Networks and messages that tests share.

#![allow(dead_code, missing_docs, clippy::unwrap_used, reason = "shared by tests, each of which uses some of it")]

use proptest::test_runner::Config as ProptestConfig;
use std::io::Write as _;

use fsin_core::network::{Injected, NetworkFailure, Notices};
use fsin_core::topology::{self, Topology};
use fsin_ethernet::{Ethernet, Params, fast, reference};
use trgen::{Cycle, Delivery, Message, NodeId};

pub(crate) fn message(id: u64, source: u32, destination: u32, bytes: u64) -> Message {
    Message { id, source: NodeId(source), destination: NodeId(destination), bytes, class: 0 }
}

/// The network of a text in DOT.
pub(crate) fn graph(text: &str) -> Box<dyn Topology> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    fsin_networks::install();
    topology::parse(&format!("graph:{}", file.path().display()), 2).unwrap()
}

/// Switches in a row, `hosts` at each; with the routes of the description if `routes`.
pub(crate) fn row(switches: usize, hosts: usize, routes: bool) -> Box<dyn Topology> {
    let mut text = String::from("digraph {\n");
    let comment =
        |names: Vec<String>| if routes { format!(" [comment=\"{}\"]", names.join(",")) } else { String::new() };
    for switch in 0..switches {
        for host in switch * hosts..(switch + 1) * hosts {
            text += &format!("H{host} -> S{switch}{};\n", if routes { " [comment=\"*\"]" } else { "" });
            text += &format!("S{switch} -> H{host}{};\n", comment(vec![format!("H{host}")]));
        }
    }
    for switch in 1..switches {
        let names = |range: std::ops::Range<usize>| range.map(|host| format!("H{host}")).collect();
        let (up, down) = (names(switch * hosts..switches * hosts), names(0..switch * hosts));
        text += &format!("S{} -> S{switch}{};\n", switch - 1, comment(up));
        text += &format!("S{switch} -> S{}{};\n", switch - 1, comment(down));
    }
    graph(&(text + "}\n"))
}

/// Both engines.
pub(crate) fn engines(topology: &dyn Topology, params: &Params) -> [Box<dyn Ethernet>; 2] {
    [reference::build(topology, params.clone()).unwrap(), fast::build(topology, params.clone(), 1).unwrap()]
}

/// Runs to `until` or to the next notice: unlike a single call of [`Network::advance`], whatever happens before.
pub(crate) fn advance(network: &mut dyn Ethernet, until: Cycle, notices: &mut Notices) -> Result<(), NetworkFailure> {
    loop {
        network.advance(until, notices)?;
        if !notices.is_empty() || network.clock() >= until {
            return Ok(());
        }
    }
}

/// Runs until nothing is in flight, and returns what was delivered.
pub(crate) fn drain(network: &mut dyn Ethernet) -> Result<Vec<Delivery>, NetworkFailure> {
    let (mut notices, mut delivered) = (Notices::default(), Vec::new());
    while !network.is_idle() {
        network.advance(Cycle::NEVER, &mut notices)?;
        delivered.append(&mut notices.delivered);
    }
    Ok(delivered)
}

/// Runs until a message is delivered, and returns its instant in ps.
pub(crate) fn arrival(network: &mut dyn Ethernet) -> u64 {
    let mut notices = Notices::default();
    while notices.delivered.is_empty() {
        assert!(!network.is_idle(), "nothing will be delivered");
        network.advance(Cycle::NEVER, &mut notices).unwrap();
    }
    let at = notices.delivered[0].delivered;
    assert_eq!(network.clock(), at.next());
    at.0
}

/// Sends there, and back at the instant of the arrival; returns both instants in ps.
pub(crate) fn ping_pong(network: &mut dyn Ethernet, there: u32, bytes: u64) -> [u64; 2] {
    assert_eq!(network.inject(message(0, 0, there, bytes)), Injected::Accepted);
    let first = arrival(network);
    assert_eq!(network.inject(message(1, there, 0, bytes)), Injected::Accepted);
    [first, arrival(network)]
}

/// A configuration of so many cases. Simpler ones than the first that fails are looked for during a minute at most: each
/// may take seconds.
pub(crate) fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, max_shrink_time: 60_000, ..ProptestConfig::default() }
}
