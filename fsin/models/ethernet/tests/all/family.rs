//! The row of the table of models: its settings, their defaults, and what is refused.

#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use fsin_core::family::{Key, NetworkSpec, Values};
use fsin_core::network::{Network, Notices};
use fsin_core::topology;
use fsin_ethernet::{FAMILY, Params, fast};
use trgen::catalog::SpecError;
use trgen::{Cycle, Message, NodeId};

/// Settings of the model by name, and the defaults of those that are declared elsewhere.
struct Set(BTreeMap<&'static str, &'static str>);

impl Values for Set {
    fn key(&self, name: &str) -> Option<&'static Key> {
        FAMILY.keys.iter().find(|key| key.name == name)
    }

    fn value(&self, name: &str) -> Option<&str> {
        let elsewhere = || match name {
            "topology" => Some("fattree:2,2"),
            "ways" => Some("2"),
            "interface" => Some("serial"),
            "engine" => Some("fast"),
            "threads" => Some("1"),
            "seed" => Some("1"),
            _ => None,
        };
        let default = || self.key(name).and_then(|key| key.default).or_else(elsewhere);
        self.0.get(name).copied().or_else(default)
    }

    fn is_set(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    fn is_insisted(&self, name: &str) -> bool {
        self.is_set(name)
    }

    fn folder_of(&self, _: &str) -> PathBuf {
        PathBuf::new()
    }
}

fn parse(set: &[(&'static str, &'static str)]) -> Result<Arc<dyn NetworkSpec>, SpecError> {
    (FAMILY.parse)(&Set(set.iter().copied().collect()))
}

/// The digest and the measures of a few messages.
fn run(network: &mut dyn Network) -> (u64, Vec<f64>) {
    let hosts = network.nodes() as u32;
    for source in 0..hosts {
        let destination = NodeId((source + 1) % hosts);
        network.inject(Message { id: 0, source: NodeId(source), destination, bytes: 5_000, class: 0 });
    }
    let mut notices = Notices::default();
    while network.in_flight() > 0 {
        network.advance(Cycle::NEVER, &mut notices).unwrap();
    }
    let settled = network.settled();
    let measures = settled.figures.unwrap().measures();
    (settled.recorder.digest(), measures.into_iter().map(|(_, value)| value).collect())
}

#[test]
fn defaults_are_those_of_the_parameters() {
    let topology = topology::parse("fattree:2,2", 2).unwrap();
    let expected = run(&mut *fast::build(&*topology, Params::default(), 1).unwrap());
    let spec = parse(&[]).unwrap();
    assert!(format!("{spec:?}").contains(&format!("params: {:?}", Params::default())), "{spec:?}");
    assert_eq!(run(&mut *spec.build().unwrap()), expected);
    assert_eq!(run(&mut *parse(&[("engine", "reference")]).unwrap().build().unwrap()), expected);
    assert_ne!(run(&mut *parse(&[("link-rate", "2Gb/s")]).unwrap().build().unwrap()), expected);
    let units = spec.units();
    assert_eq!((units.phit_bytes, units.packet_phits, spec.cycle()), (1, 1_497, Some((1, 1))));
    // 1 Gb/s are 1/8000 of a byte in each ps, of which 1497 of 1538 are of messages.
    assert!((units.capacity * 8_000.0 - 1_497.0 / 1_538.0).abs() < 1e-12);
}

/// The value of a setting that follows from the others.
fn settled(set: &[(&'static str, &'static str)], key: &str) -> Option<String> {
    parse(set).unwrap().settled().into_iter().find(|(name, _)| *name == key).map(|(_, value)| value)
}

#[test]
fn sizes_of_frames_are_those_of_the_preset_and_of_what_is_set() {
    for (preset, sizes) in [
        ("thesis", ["1497", "29", "72", "96", "72", "1457", "40"]),
        ("roce", ["1497", "70", "72", "96", "72", "1497", "0"]),
        ("tcp", ["1497", "66", "72", "96", "72", "1497", "0"]),
        ("hpcc", ["1000", "48", "48", "0", "43", "1000", "0"]),
    ] {
        let keys = ["mtu", "overhead", "min-frame", "gap", "pause-bytes", "segment", "segment-header"];
        for (key, size) in keys.into_iter().zip(sizes) {
            assert_eq!(settled(&[("frames", preset)], key).unwrap(), size, "{preset} {key}");
        }
    }
    assert_eq!(settled(&[], "ack-frame"), None);
    assert_eq!(settled(&[("frames", "roce"), ("ack-frame", "90")], "ack-frame").unwrap(), "90");
    assert_eq!(settled(&[("mtu", "4096")], "segment").unwrap(), "4056");
    // Load 1 is what the link carries in full frames of these sizes.
    let units = parse(&[("frames", "hpcc"), ("mtu", "9000")]).unwrap().units();
    assert!((units.capacity * 8_000.0 - 9_000.0 / 9_048.0).abs() < 1e-12);
}

#[test]
fn settings_of_data_centres_make_the_hash_the_default_of_ties() {
    for set in [("frames", "roce"), ("mtu", "1497"), ("overhead", "29"), ("gap", "96"), ("size", "cdf(websearch)")] {
        assert_eq!(settled(&[set], "ties").unwrap(), "hash", "{set:?}");
        assert_eq!(settled(&[set, ("ties", "port")], "ties").unwrap(), "port", "{set:?}");
    }
    for set in [("frames", "thesis"), ("transport", "window"), ("size", "uniform(1,9)")] {
        assert_eq!(settled(&[set], "ties").unwrap(), "port", "{set:?}");
    }
}

#[test]
fn settings_that_cannot_be_used_are_named() {
    for (name, value) in [
        ("link-rate", "fast"),
        ("link-rate", "0b/s"),
        ("propagation", "1"),
        ("port-queue", "0"),
        ("port-queue", "-1"),
        ("switching", "wormhole"),
        ("forwarding", "hot-potato"),
        ("spanning-tree", "maybe"),
        ("ecmp", "true"),
        ("per", "1"),
        ("transport", "tcp"),
        ("xon", "x"),
        ("rto-min", "2h"),
        ("rto-max", "1ms"),
        ("window", "0"),
        ("frames", "jumbo"),
        ("mtu", "0"),
        ("mtu", "9217"),
        ("overhead", "28"),
        ("min-frame", "1025"),
        ("gap", "-1"),
        ("ack-frame", "29"),
        ("pause-bytes", "9"),
        ("ties", "coin"),
        ("topology", "ring"),
        ("engine", "slow"),
    ] {
        let error = parse(&[(name, value)]).unwrap_err();
        assert_eq!(error.setting(), Some(name), "{error}");
        assert!(!error.remedy().to_string().is_empty());
    }
    let short: Vec<&str> = FAMILY.short.iter().map(|(_, key)| *key).collect();
    assert!(short.iter().all(|name| FAMILY.understands(name)));
}
