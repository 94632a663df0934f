//! Routings that go through a node that is drawn are free of deadlock with a class of channels for each phase, and not
//! without.

#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

use fsin_core::topology;
use fsin_wormhole::{BufferPolicy, Params, Routing, VcRanges, check};

#[test]
fn two_phases_are_proven_for_each_number_of_channels() {
    for spec in ["mesh:4x3", "mesh:5x5", "mesh:20x9", "mesh:3x2x4", "mesh:7", "mesh:2x3x2x2"] {
        let topology = topology::parse(spec, 2).unwrap();
        for (routing, least) in [(Routing::VALIANT, 2), (Routing::ROMM, 2), (Routing::BOOKSIM_MIN_ADAPT, 1)] {
            for vcs in 1..=5 {
                let found = check(&*topology, &Params { routing, vcs, ..Params::booksim() });
                assert_eq!(found.is_ok(), vcs >= least, "{spec}, {} with {vcs}: {found:?}", routing.name());
            }
            let params = Params { routing, vcs: 4, message_classes: 2, ..Params::booksim() };
            check(&*topology, &params).unwrap();
        }
    }
}

/// Routings of BookSim: its minimal one of a dragonfly has a channel before the link between groups and one from there
/// on. Of those that decide once, those of a HyperX are free of deadlock with a class of channels for each phase and
/// order, that of a dragonfly is not.
#[test]
fn routings_that_decide_once() {
    for (spec, routing, least) in [
        ("hyperx:3x3:2", Routing::BOOKSIM_UGAL, 2),
        ("hyperx:5x7:1", Routing::BOOKSIM_UGAL, 2),
        ("hyperx:2x3x2:1", Routing::BOOKSIM_UGAL, 2),
        ("hyperx:4x4:2x2", Routing::BOOKSIM_UGAL_XY_YX, 4),
        ("hyperx:9x8:1", Routing::BOOKSIM_UGAL_XY_YX, 4),
        ("fattree:4,2", Routing::ANCA, 1),
        ("dragonfly:p=2,a=4,h=2,local=10,global=100", Routing::BOOKSIM_MIN, 2),
        ("dragonfly:p=1,a=3,h=2,g=4", Routing::BOOKSIM_MIN, 2),
    ] {
        let topology = topology::parse(spec, 2).unwrap();
        for vcs in 1..=5 {
            let found = check(&*topology, &Params { routing, vcs, ..Params::booksim() });
            assert_eq!(found.is_ok(), vcs >= least, "{spec}, {} with {vcs}: {found:?}", routing.name());
        }
    }
    let dragonfly = topology::parse("dragonfly:p=2,a=4,h=2,local=10,global=100", 2).unwrap();
    let params = Params { routing: Routing::BOOKSIM_UGAL, vcs: 3, ..Params::booksim() };
    let refusal = check(&*dragonfly, &params).unwrap_err().to_string();
    assert!(refusal.contains("channels may wait for each other in a cycle"), "{refusal}");
    check(&*dragonfly, &Params { unsafe_routing: true, ..params }).unwrap();
}

/// Dimension order with express links needs no classes of channels, two orders of dimensions need two, and an escape
/// channel is enough for adaptive routing.
#[test]
fn routings_with_express_links() {
    for spec in ["cmesh:4x4:2x2:express", "cmesh:5x9:1:express", "cmesh:7x8:1:express", "cmesh:11x3:2:express"] {
        let topology = topology::parse(spec, 2).unwrap();
        for (name, least) in [("dor", 1), ("dor-no-express", 1), ("adaptive", 2), ("xy-yx", 2), ("xy-yx-no-express", 2)]
        {
            let routing: Routing = name.parse().unwrap();
            for vcs in 1..=3 {
                let found = check(&*topology, &Params { routing, vcs, ..Params::booksim() });
                assert_eq!(found.is_ok(), vcs >= least, "{spec}, {name} with {vcs}: {found:?}");
            }
        }
    }
}

/// Ranges in which a channel is of several classes of hops are refused where these keep a routing free of deadlock, and
/// so are buffers in which a channel may be left without a place.
#[test]
fn what_channels_share_is_proven() {
    let verdict = |spec: &str, change: &dyn Fn(&mut Params)| {
        let mut params = Params { vcs: 8, message_classes: 2, ..Params::booksim() };
        change(&mut params);
        check(&*topology::parse(spec, 2).unwrap(), &params)
    };
    for (ranges, is_free) in
        [("apart", true), ("together", true), ("0=0-3:1=4-7", true), ("0=0-3:1=2-5", false), ("0=0-5:1=2-7", false)]
    {
        let given = ranges.parse::<VcRanges>().unwrap();
        let on = |spec: &str| verdict(spec, &|params| params.vc_ranges = given.clone());
        assert_eq!(on("torus:4x4").is_ok(), is_free, "{ranges}");
        assert_eq!(on("mesh:4x4"), Ok(()), "{ranges}");
    }
    for (groups, size, is_free) in [(None, 1, true), (Some(8), 2, true), (Some(2), 1, false), (None, 0, false)] {
        let share = |params: &mut Params| {
            params.buffer_policy = BufferPolicy::Shared;
            (params.private_buffers, params.private_buffer) = (groups, size);
        };
        assert_eq!(verdict("torus:4x4", &share).is_ok(), is_free, "{groups:?} of {size}");
        assert_eq!(verdict("mesh:4x4", &share), Ok(()), "{groups:?} of {size}");
    }
    for (ranges, expected) in [("0=0-8", "channel 8"), ("2=0-1", "of class 2")] {
        let given = ranges.parse::<VcRanges>().unwrap();
        let refusal = verdict("mesh:4x4", &|params| params.vc_ranges = given.clone()).unwrap_err().to_string();
        assert!(refusal.contains(expected), "{refusal}");
    }
}
