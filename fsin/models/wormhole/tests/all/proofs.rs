//! Routings that go through a node that is drawn are free of deadlock with a class of channels for each phase, and not
//! without.

#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

use fsin_core::topology;
use fsin_wormhole::{Params, Routing, check};

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
