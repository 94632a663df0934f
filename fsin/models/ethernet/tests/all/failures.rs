//! What becomes of frames when links die, to the picosecond.

#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

use std::path::Path;

use crate::common::{drain, engines, message, row};
use fsin_core::failures::Failures;
use fsin_core::topology::{self, Topology};
use fsin_ethernet::{Forwarding, Params, Transport};

/// \[ps\] A frame of 1 497 bytes of data at 1 Gb/s, with the propagation, and to the next frame.
const FRAME: u64 = 1_526 * 8 * 1_000 + 1_000;
const PERIOD: u64 = (1_526 * 8 + 96) * 1_000;

fn params(topology: &dyn Topology, failures: &str, transport: Transport) -> Params {
    let failures = Failures::parse(failures, Path::new(""), topology, 1, (1, 1)).unwrap();
    Params { propagation: 1_000, transport, forwarding: Forwarding::Static, failures, ..Params::default() }
}

/// H0 - S0 - S1 - H1: of ten frames, the fifth is on the link between the switches when it dies, the sixth and seventh
/// find no route, and the eighth comes when the link is repaired.
#[test]
fn what_is_on_the_link_is_lost() {
    let topology = row(2, 1, false);
    let dies = 4 * PERIOD + FRAME + FRAME / 2;
    let repaired = 7 * PERIOD + FRAME;
    let list = format!("link:S0-S1@{dies},repair:link:S1-S0@{repaired}");
    for (forwarding, later) in [(Forwarding::Static, 0), (Forwarding::Learning, 0), (Forwarding::Static, 1)] {
        let failures =
            params(&*topology, &list.replace(&repaired.to_string(), &(repaired + later).to_string()), Transport::None);
        for mut network in engines(&*topology, &Params { forwarding, ..failures }) {
            network.inject(message(0, 0, 1, 14_970));
            assert_eq!(drain(&mut *network).unwrap(), []);
            let totals = network.details().totals;
            let received = 7 - later;
            assert_eq!((totals.frames_sent, totals.frames_received), (10, received), "{forwarding:?}");
            assert_eq!((totals.lost_on_dead_links, totals.copies_filtered, totals.messages_lost), (1, 2 + later, 1));
            let counts = network.settled().recorder.totals();
            assert_eq!((counts.received, counts.dropped_inside, counts.generated), (received, 10 - received, 10));
            assert_eq!(totals.payload_received, received * 1_497);
            let marks: Vec<_> =
                network.settled().recorder.marks().iter().map(|mark| (mark.at.0, mark.counts.received)).collect();
            // The fourth frame has three links behind it, or is on the last one.
            assert_eq!(marks, [(dies + 1, 3), (repaired + later + 1, 4)]);
        }
    }
}

/// The oracle sends again what is lost, over the route that is left.
#[test]
fn what_is_lost_is_sent_again_where_a_route_is_left() {
    let topology = topology::parse("torus:5", 2).unwrap();
    // Node 0 to node 1: a hop, or four hops the other way.
    let dies = 2 * PERIOD + FRAME + FRAME / 2;
    let params = params(&*topology, &format!("link:0-1@{dies}"), Transport::Oracle);
    for mut network in engines(&*topology, &params) {
        network.inject(message(0, 0, 1, 6 * 1_497));
        let delivered = drain(&mut *network).unwrap();
        let totals = network.details().totals;
        assert_eq!((totals.frames_sent, totals.lost_on_dead_links, totals.retransmissions), (7, 1, 1));
        // The seventh frame of the host over its link, four links and the link of node 1.
        assert_eq!(delivered[0].delivered.0, 6 * PERIOD + 6 * FRAME);
    }
}

/// What waits at a host whose own link dies is lost, and later messages have no route.
#[test]
fn hosts_that_are_cut_off_lose_what_waits() {
    let topology = row(1, 3, false);
    let params = params(&*topology, &format!("node:H0@{}", PERIOD + 5), Transport::Oracle);
    for mut network in engines(&*topology, &params) {
        for (id, destination) in [(0, 1), (1, 2)] {
            network.inject(message(id, 0, destination, 4 * 1_497));
        }
        network.inject(message(2, 1, 2, 1_497));
        let delivered = drain(&mut *network).unwrap();
        assert_eq!(delivered.iter().map(|delivery| delivery.message.id).collect::<Vec<_>>(), [2]);
        let totals = network.details().totals;
        assert_eq!((totals.frames_received, totals.lost_on_dead_links, totals.messages_lost), (2, 7, 2));
        assert_eq!(network.inject(message(3, 1, 0, 1)), fsin_core::network::Injected::Dropped);
        assert_eq!(network.details().totals.messages_lost, 3);
    }
}
