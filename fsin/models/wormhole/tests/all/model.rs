//! What must hold of the model in every cycle.

#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

use fsin_core::network::{Network, Notices};
use fsin_core::topology;
use fsin_wormhole::reference::Reference;
use fsin_wormhole::{Detailed as _, Params, Routing, Speedup, VcClasses, check};
use proptest::prelude::*;
use trgen::catalog::Allowed;
use trgen::rng::{Purpose, stream};
use trgen::{Cycle, Message, NodeId};

fn message(id: u64, source: u64, destination: u64, bytes: u64) -> Message {
    Message { id, source: NodeId(source as u32), destination: NodeId(destination as u32), bytes, class: 0 }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// Every flit that was sent and not received is in one place, every credit too, in each cycle; the stages of
    /// received packets sum up to their latencies; what is safe delivers everything.
    #[test]
    fn flits_credits_and_cycles_are_conserved(
        (spec, routing, least) in prop_oneof![
            Just(("torus:4x3", Routing::DOR, 2)),
            Just(("torus:4x4", Routing::ADAPTIVE, 3)),
            Just(("mesh:3x3", Routing::ADAPTIVE, 2)),
            Just(("hyperx:3x2:2", Routing::UGAL, 2)),
            Just(("dragonfly:p=1,a=3,h=1", Routing::VALIANT, 3)),
            Just(("fattree:2,3", Routing::ADAPTIVE, 1)),
        ],
        (more, buffer, packet_flits, speedup) in (0usize..3, 1u32..10, 1u32..9, 1u32..4),
        message_classes in 1usize..4,
        (speculative, route_delay, seed) in (any::<bool>(), 0u32..3, any::<u64>()),
    ) {
        let params = Params {
            routing, vcs: (least + more) * message_classes, message_classes, buffer, packet_flits, speculative, route_delay, seed,
            speedup: Speedup::new(speedup + 1, 2).unwrap(),
            watchdog_cycles: 2_000,
            ..Params::default()
        };
        let topology = topology::parse(spec, 2).unwrap();
        let mut network = Reference::new(&*topology, params).unwrap();
        let mut rng = stream(seed, 0, Purpose::Temporal);
        let nodes = network.nodes() as u64;
        let mut notices = Notices::default();
        let mut id = 0;
        while network.clock() <= Cycle(200) || network.in_flight() > 0 {
            for node in 0..nodes {
                if network.clock() <= Cycle(200) && rng.next_u64().is_multiple_of(8) {
                    network.inject(Message {
                        class: (id % 3) as u8,
                        ..message(id, node, rng.next_u64() % nodes, rng.next_u64() % 60)
                    });
                    id += 1;
                }
            }
            let next = network.clock().next();
            network.advance(next, &mut notices).unwrap();
            let details = network.details();
            prop_assert_eq!(network.count_flits(), details.flits_sent - details.flits_received);
            prop_assert!(network.credits_are_conserved());
            prop_assert!(network.classes_are_apart());
        }
        let details = network.details();
        let window = network.settled().recorder.window();
        prop_assert_eq!(u128::from(details.stages.total()), window.latency.moments().sum());
        prop_assert_eq!(window.counts.received, window.counts.generated);
        prop_assert_eq!(window.hops.sum(), u128::from(window.counts.hops));
    }
}

/// A message is cut into packets of full length and a rest.
#[test]
fn the_last_packet_is_as_long_as_the_rest_needs() {
    let params = Params { packet_flits: 4, flit_bytes: 8, ..Params::default() };
    assert_eq!([0, 1, 8, 9, 64, 65].map(|bytes| params.flits_of(bytes)), [1, 1, 1, 2, 8, 9]);
    assert_eq!([1, 4, 5, 8, 9].map(|flits| params.packets_of(flits)), [1, 1, 2, 2, 3]);
    let topology = topology::parse("mesh:3", 2).unwrap();
    let mut network = Reference::new(&*topology, params).unwrap();
    network.inject(message(0, 0, 2, 70));
    let mut notices = Notices::default();
    while network.in_flight() > 0 {
        network.advance(Cycle::NEVER, &mut notices).unwrap();
    }
    assert_eq!((network.details().flits_received, network.settled().recorder.totals().received), (9, 3));
}

#[test]
fn what_cannot_work_is_refused() {
    let refused = |spec: &str, ways: usize, params: &Params| {
        let error = check(&*topology::parse(spec, ways).unwrap(), params).unwrap_err();
        (error.to_string(), error.remedy().clone())
    };
    let base = Params::default;
    for (spec, params, what) in [
        ("torus:4x4", Params { vcs: 0, ..base() }, "vcs 0"),
        ("torus:4x4", Params { vcs: 33, ..base() }, "vcs 33"),
        ("torus:4x4", Params { buffer: 0, ..base() }, "buffer 0"),
        ("torus:4x4", Params { flit_bytes: 0, ..base() }, "phit-bytes 0"),
        ("torus:4x4", Params { packet_flits: 0, ..base() }, "packet 0"),
        ("torus:4x4", Params { link_delay: 0, ..base() }, "link-delay 0"),
        ("torus:4x4", Params { output_queue: Some(0), ..base() }, "output-queue 0"),
        ("torus:4x4", Params { watchdog_cycles: 3, ..base() }, "watchdog 3"),
        ("torus:4x4", Params { vcs: 1, ..base() }, "needs 2 VCs, one for each class"),
        ("torus:4x4", Params { message_classes: 0, ..base() }, "message-classes 0"),
        ("torus:4x4", Params { vcs: 3, message_classes: 2, ..base() }, "cannot be given the same number of VCs"),
        ("torus:4x4", Params { message_classes: 2, ..base() }, "needs 2 VCs for each of 2 message classes"),
        ("torus:4x4", Params { routing: Routing::ADAPTIVE, ..base() }, "needs 3 VCs"),
        ("torus:4x4", Params { routing: Routing::VALIANT, ..base() }, "routing valiant is not for torus:4x4"),
        ("hyperx:70:1", Params { routing: Routing::DOR, ..base() }, "70 ports"),
        ("midimew:12", base(), "routing dor is not for midimew:12"),
        ("dragonfly:p=1,a=3,h=1", Params { routing: Routing::VALIANT, ..base() }, "needs 3 VCs"),
    ] {
        let (said, remedy) = refused(spec, 2, &params);
        assert!(said.contains(what) && !remedy.is_empty(), "{spec}: {said}: {remedy}");
    }
    // On one-way rings packets of class 1 may go all the way round.
    let one_way = topology::parse("torus:4x4", 1).unwrap();
    let error = check(&*one_way, &base()).unwrap_err();
    assert!(error.to_string().contains("channels may wait for each other in a cycle, "), "{error}");
    assert!(error.remedy().settings().any(|setting| setting == "unsafe-routing"));
    assert_eq!(check(&*one_way, &Params { unsafe_routing: true, ..base() }), Ok(()));
    assert_eq!(check(&*one_way, &Params { vc_classes: VcClasses::Dateline, ..base() }), Ok(()));
}

#[test]
fn words_are_parsed_and_unknown_ones_refused() {
    use fsin_wormhole::{Allocator, Hold};
    for word in ["separable", "islip:1", "islip:3", "wavefront", "oldest-first"] {
        assert_eq!(word.parse::<Allocator>().unwrap().to_string(), word);
    }
    assert_eq!("islip".parse(), Ok(Allocator::Islip { iterations: 1 }));
    for word in ["islip:0", "islip:x", "wavefront:2", "wavefrunt"] {
        assert!(!word.parse::<Allocator>().unwrap_err().remedy().is_empty());
    }
    assert_eq!(("packet".parse(), "dateline".parse()), (Ok(Hold::Packet), Ok(VcClasses::Dateline)));
    assert!("wagon".parse::<Hold>().is_err() && "date".parse::<VcClasses>().is_err());
    assert_eq!("ugal".parse(), Ok(Routing::UGAL));
    let error = "uggal".parse::<Routing>().unwrap_err();
    assert!(matches!(error.accepted(), Some(Allowed::Names(names)) if names.near == ["ugal", "ugal-l"]), "{error:?}");
    for (word, speedup) in [("1", (1, 1)), ("1.5", (3, 2)), ("5/2", (5, 2)), ("2", (2, 1))] {
        let (parsed, expected) = (word.parse::<Speedup>().unwrap(), Speedup::new(speedup.0, speedup.1).unwrap());
        assert!((0..20).all(|cycle| parsed.before(cycle) == expected.before(cycle)), "{word}");
    }
    for word in ["0.5", "17", "1/2", "x", "1/0", "nan"] {
        assert!(word.parse::<Speedup>().is_err(), "{word}");
    }
    assert_eq!(Params::preset("booksim"), Ok(Params::booksim()));
    assert!(Params::preset("garnet").is_err());
}
