//! The row of the table of models: its settings, their defaults, and what is refused.

#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

use std::sync::Arc;

use fsin_core::family::NetworkSpec;
use fsin_core::network::{Network, Notices};
use fsin_core::topology;
use fsin_ethernet::{FAMILY, Params, fast};
use trgen::catalog::SpecError;
use trgen::{Cycle, Message, NodeId};

#[path = "../../../../core/tests/settings/set.rs"]
mod set;

/// What the model makes of settings, on `fattree:2,2` where they name no topology.
fn parse(set: &[(&'static str, &'static str)]) -> Result<Arc<dyn NetworkSpec>, SpecError> {
    set::parse(&FAMILY, [("topology", "fattree:2,2")].into_iter().chain(set.iter().copied()))
}

/// The digest and the measures of a few messages.
fn run(network: &mut dyn Network) -> (u64, Vec<f64>) {
    let hosts = network.nodes() as u32;
    for source in 0..hosts {
        let destination = NodeId((source + 1) % hosts);
        network.inject(Message { id: 0, source: NodeId(source), destination, bytes: 5_000, class: 0 });
    }
    let mut notices = Notices::default();
    while !network.is_idle() {
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

/// Settings of transports, congestion controls and switches that cannot work together: the setting that is named.
#[test]
fn combinations_that_cannot_work_are_refused_with_a_remedy() {
    const ROCE: (&str, &str) = ("transport", "roce");
    const WINDOW: (&str, &str) = ("transport", "window");
    const STEP: (&str, &str) = ("ecn", "step:10kB");
    const PFC: [(&str, &str); 2] = [("pause", "pfc"), ("buffer", "32MB")];
    let with_pfc = |more: &[(&'static str, &'static str)]| [&PFC[..], &[ROCE], more].concat();
    let wrong: Vec<(Vec<(&str, &str)>, &str)> = vec![
        (vec![ROCE, ("cc", "dcqcn")], "cc"),
        (vec![WINDOW, ("cc", "dctcp")], "cc"),
        (vec![WINDOW, STEP, ("cc", "dcqcn")], "cc"),
        (vec![WINDOW, ("cc", "hpcc")], "cc"),
        (vec![ROCE, STEP, ("cc", "dctcp")], "cc"),
        (vec![ROCE, ("cc", "newreno")], "cc"),
        (vec![("cc", "dcqcn"), STEP], "cc"),
        (vec![("transport", "none"), ("cc", "hpcc")], "cc"),
        (vec![ROCE, ("cc", "dcqn"), STEP], "cc"),
        (vec![ROCE, ("cc", "dcqcn:g=0"), STEP], "cc"),
        (vec![ROCE, ("cc", "dcqcn:g=3/2"), STEP], "cc"),
        (vec![ROCE, ("cc", "dcqcn:gain=1/16"), STEP], "cc"),
        (vec![ROCE, ("cc", "dcqcn:preset=mine"), STEP], "cc"),
        (vec![ROCE, ("cc", "dcqcn:alpha-interval=0"), STEP], "cc"),
        (vec![ROCE, ("cc", "dcqcn:increase-interval=0"), STEP], "cc"),
        (vec![ROCE, ("cc", "dcqcn:ai=40"), STEP], "cc"),
        (vec![ROCE, ("cc", "dcqcn:hai=fast"), STEP], "cc"),
        (vec![ROCE, ("cc", "dcqcn:min-rate=0b/s"), STEP], "cc"),
        (vec![ROCE, ("cc", "dcqcn:byte-counter=-1"), STEP], "cc"),
        (vec![ROCE, ("cc", "dcqcn:fast-recovery=x"), STEP], "cc"),
        (vec![ROCE, ("cc", "dcqcn:clamp=maybe"), STEP], "cc"),
        (vec![ROCE, ("cc", "hpcc:eta=0")], "cc"),
        (vec![ROCE, ("cc", "hpcc:int=wide")], "cc"),
        (vec![ROCE, ("cc", "hpcc:max-stage=-1")], "cc"),
        (vec![ROCE, ("cc", "hpcc:min-rate=0b/s")], "cc"),
        (vec![WINDOW, STEP, ("cc", "dctcp:reduction=half")], "cc"),
        (vec![WINDOW, STEP, ("cc", "dctcp:g=2")], "cc"),
        (vec![ROCE, ("cc", "hpcc("), STEP], "cc"),
        (vec![ROCE, ("in-flight", "all")], "in-flight"),
        (vec![ROCE, ("ack-every", "0")], "ack-every"),
        (vec![WINDOW, ("ack-every", "3")], "ack-every"),
        (vec![ROCE, ("cnp-interval", "50")], "cnp-interval"),
        (vec![ROCE, ("rto", "2h")], "rto"),
        (vec![ROCE, ("ack-class", "best")], "ack-class"),
        (vec![("spread", "random"), ("forwarding", "static")], "spread"),
        (vec![("spread", "ecmp")], "spread"),
        (vec![("spread", "one"), ("ecmp", "true"), ("forwarding", "static")], "spread"),
        (vec![("completion", "acked")], "completion"),
        (vec![ROCE, ("interface", "interleaved:2")], "interface"),
        (vec![ROCE, ("pause", "pfc")], "pause"),
        (with_pfc(&[("buffer-alpha", "0")]), "buffer-alpha"),
        (with_pfc(&[("headroom", "much")]), "headroom"),
        (with_pfc(&[("headroom", "32MB")]), "buffer"),
        (with_pfc(&[("headroom", "1000B"), ("reserve", "0"), ("buffer-alpha", "0.00001")]), "headroom"),
        (vec![ROCE, ("ecn", "step:x")], "ecn"),
        (vec![ROCE, ("ecn", "red:200kB:5kB:0.1")], "ecn"),
        (vec![ROCE, ("mark", "later"), STEP], "mark"),
        (vec![ROCE, ("classes", "9:strict")], "classes"),
    ];
    assert!(wrong.len() >= 40);
    let accepted = wrong.iter().filter_map(|(settings, named)| match parse(settings) {
        Ok(_) => Some(format!("{settings:?} is accepted")),
        Err(error) if error.setting() != Some(named) => {
            Some(format!("{settings:?} names {:?}: {error}", error.setting()))
        }
        Err(error) if error.remedy().to_string().is_empty() => Some(format!("{settings:?}: no remedy: {error}")),
        Err(_) => None,
    });
    let accepted: Vec<String> = accepted.collect();
    assert!(accepted.is_empty(), "{}", accepted.join("\n"));
}
