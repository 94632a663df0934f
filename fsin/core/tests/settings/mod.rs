//! What a network model says of its settings, and what a run by them gives: for the tests of models.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use fsin_core::family::{ModelFamily, NetworkSpec};
use fsin_core::network::{Injected, Network, Notices};
use fsin_core::view::Occupancy;
use trgen::catalog::SpecError;
use trgen::phrase::Plain;
use trgen::rng::mix2;
use trgen::{Cycle, Message, NodeId};

mod set;

use set::parse;

/// The settings of a line, `key=value; key=value`.
fn settings(line: &str) -> BTreeMap<&str, &str> {
    line.split("; ").map(|setting| setting.split_once('=').unwrap()).collect()
}

/// An error in words.
fn refused(error: &SpecError) -> String {
    format!("refused: {}; {}", error.what().written(&Plain), error.remedy().written(&Plain))
}

/// Everything that a specification says of itself.
fn described(spec: &dyn NetworkSpec) -> String {
    let mut text = String::new();
    let mut say = |name: &str, what: &dyn std::fmt::Debug| writeln!(text, "  {name}: {what:?}").unwrap();
    say("units", &spec.units());
    say("cycle", &spec.cycle());
    say("unloaded", &(spec.unloaded(0.0), spec.unloaded(1e5)));
    say("rates", &spec.rates());
    say("settled", &spec.settled());
    say("preset", &spec.preset());
    say("dead", &(spec.dead_links(), spec.blocked_links(), spec.failures()));
    say("threads and room", &(spec.threads(), spec.room(), spec.delay(), spec.wire()));
    let flags = [
        spec.has_one_time_alone(),
        spec.chooses_by_hash(),
        spec.packets_are_payload(),
        spec.carries_to_itself(),
        spec.nodes_refuse(),
        spec.completes_when_acknowledged(),
        spec.counts_events(),
        spec.fills_interfaces(),
        spec.sends_end_at_arrival(),
    ];
    say("one time, hash, payload, to itself, refuse, acknowledged, events, full, at arrival", &flags);
    let written = |phrase: &trgen::phrase::Phrase| phrase.written(&Plain).to_string();
    for (key, why) in spec.unused() {
        say("unused", &(key, written(&why)));
    }
    for warning in spec.warnings() {
        say("warning", &written(&warning));
    }
    if let Some(error) = spec.unreachable() {
        say("unreachable", &refused(&error));
    }
    if let Some(topology) = spec.topology() {
        let links = (0..topology.nodes()).map(NodeId::at);
        let links = links.flat_map(|node| topology.ports_of(node).map(move |port| (node, port)));
        let rooms: Vec<_> = links.filter_map(|(node, port)| spec.link_room(node, port)).collect();
        say("rooms", &(rooms.first(), rooms.last(), rooms.len()));
    }
    text
}

/// What a run gives: every notice, the record, what links carried, and how full queues were.
fn run(spec: &dyn NetworkSpec) -> String {
    let mut network = match spec.build() {
        Ok(network) => network,
        Err(error) => return format!("  {}\n", refused(&error)),
    };
    network.observe();
    let mut notices = Notices::default();
    let mut text = String::new();
    let (nodes, unloaded) = (network.nodes() as u64, spec.unloaded(300.0));
    // Messages follow each other faster than they pass, so that they meet.
    let interval = (unloaded.latency / 32).max(3);
    for number in 0..128 {
        let draw = |of: u64| mix2(number, of) >> 8;
        let bytes = [0, 1, 64, 300, 1_500][draw(1) as usize % 5];
        let (source, to) = (NodeId::at((draw(2) % nodes) as usize), NodeId::at((draw(3) % nodes) as usize));
        let message = Message { id: number, source, destination: to, bytes, class: 0 };
        let is_taken = (source != to || spec.carries_to_itself()) && !network.holds_back();
        match is_taken.then(|| network.inject(message)) {
            Some(Injected::Accepted) => {}
            other => writeln!(text, "{number} {other:?}").unwrap(),
        }
        let until = network.clock() + 1 + draw(4) % (2 * interval);
        go_on(&mut *network, until, &mut notices, &mut text);
        if number % 16 == 15 {
            seen(&mut *network, &mut text);
        }
    }
    let end = network.clock() + 40 * unloaded.settles.max(1_000);
    while !network.is_idle() && network.clock() < end && go_on(&mut *network, end, &mut notices, &mut text) {}
    seen(&mut *network, &mut text);
    let (clock, in_flight) = (network.clock(), network.in_flight());
    let settled = network.settled();
    let measures = settled.figures.map(|figures| (figures.measures(), figures.ports(), figures.remarks().len()));
    writeln!(text, "{measures:?} {:?}", settled.recorder.digest()).unwrap();
    writeln!(text, "{in_flight} left at {}", clock.0).unwrap();
    text
}

/// Advances to a cycle. Returns false after a failure.
fn go_on(network: &mut dyn Network, until: Cycle, notices: &mut Notices, text: &mut String) -> bool {
    while network.clock() < until {
        let result = network.advance(until, notices);
        notices.sort();
        if !notices.is_empty() {
            writeln!(text, "{} {notices:?}", network.clock().0).unwrap();
        }
        notices.clear();
        if let Err(failure) = result {
            writeln!(text, "{failure:?}").unwrap();
            return false;
        }
        if network.is_idle() {
            return true;
        }
    }
    true
}

/// Writes what is in the queues of a network, and what links have carried.
fn seen(network: &mut dyn Network, text: &mut String) {
    let Some(view) = network.settled().view else { return };
    let mut occupancy = Occupancy::default();
    view.occupancy(&mut occupancy);
    writeln!(text, "{occupancy:?}").unwrap();
}

/// What a model says of each of these lines of settings, and what runs by them give. Where the model has a reference
/// engine, that must give the same.
pub(crate) fn said(family: &'static ModelFamily, lines: &str) -> String {
    let mut text = String::new();
    for line in lines.lines().filter(|line| !line.is_empty()) {
        writeln!(text, "{line}").unwrap();
        match parse(family, settings(line)) {
            Err(error) => writeln!(text, "  {}", refused(&error)).unwrap(),
            Ok(spec) => {
                let found = run(&*spec);
                let (sum, end) = (crc32fast::hash(found.as_bytes()), found.lines().last().unwrap_or(""));
                writeln!(text, "{}  run: {sum:08x}, {end}", described(&*spec)).unwrap();
                let mut by_reference = settings(line);
                if family.understands("engine") && by_reference.insert("engine", "reference").is_none() {
                    by_reference.remove("threads");
                    let reference = run(&*parse(family, by_reference).unwrap());
                    let differing = found.lines().zip(reference.lines()).find(|(one, other)| one != other);
                    assert_eq!(differing, None, "by the reference engine: {line}");
                    assert_eq!(found.lines().count(), reference.lines().count(), "{line}");
                }
            }
        }
    }
    text
}
