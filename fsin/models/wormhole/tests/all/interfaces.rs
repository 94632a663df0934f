//! Interfaces of nodes: what they gain, and the order that they keep.

#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeMap;

use fsin_core::interface::Interface;
use fsin_core::network::{Network, Notices};
use fsin_core::topology;
use fsin_wormhole::{Params, Routing, fast};
use proptest::prelude::*;
use trgen::{Message, NodeId};

/// Offers all messages in the first cycle, and gives the notices of all cycles until they have arrived.
fn carry(network: &mut dyn Network, messages: &[Message]) -> Notices {
    let (mut all, mut notices) = (Notices::default(), Notices::default());
    messages.iter().for_each(|message| _ = network.inject(*message));
    while network.in_flight() > 0 {
        let next = network.clock() + 1;
        network.advance(next, &mut notices).unwrap();
        all.sent.append(&mut notices.sent);
        all.delivered.append(&mut notices.delivered);
    }
    all
}

/// \[cycles\] Until the six neighbours of node 0 of a torus of 4 x 4 x 4 have a message each, or node 0 has one from
/// each.
fn six_neighbours(bytes: u64, is_inward: bool, params: &Params) -> u64 {
    let message = |(node, id)| {
        let (source, destination) = if is_inward { (node, 0) } else { (0, node) };
        Message { id, source: NodeId(source), destination: NodeId(destination), bytes, class: 0 }
    };
    let messages: Vec<Message> = [1, 3, 4, 12, 16, 48].into_iter().zip(0..).map(message).collect();
    let mut network = fast::build(&*topology::parse("torus:4x4x4", 2).unwrap(), params.clone(), 1).unwrap();
    carry(&mut *network, &messages).delivered.iter().map(|delivery| delivery.delivered.0).max().unwrap()
}

/// Two channels and a pipeline of three stages leave a link idle between packets: one message alone takes that long.
#[test]
fn six_neighbours_take_the_time_of_one_when_links_work_side_by_side() {
    let one = 16_384;
    for (base, of_one) in [
        (Params::booksim(), one..one + one / 20),
        (Params { vcs: 4, ..Params::default() }, one..one + one / 20),
        (Params::default(), 18_400..18_500),
    ] {
        let time = |interface| six_neighbours(64 << 10, false, &Params { interface, ..base.clone() });
        assert!((6 * one..6 * of_one.end).contains(&time(Interface::Serial)));
        assert!((6 * one..6 * one + 100).contains(&time(Interface::Interleaved(6))));
        let side_by_side = time(Interface::PerPort);
        assert!(of_one.contains(&side_by_side), "{side_by_side}");
        let mut network = fast::build(&*topology::parse("torus:4x4x4", 2).unwrap(), base, 1).unwrap();
        let message = Message { id: 0, source: NodeId(0), destination: NodeId(1), bytes: 64 << 10, class: 0 };
        let alone = carry(&mut *network, &[message]).delivered[0].delivered.0;
        assert!(alone.abs_diff(side_by_side) < 20, "{alone}, {side_by_side}");
    }
}

/// Six messages of 1 KiB, 256 flits, to one node.
#[test]
fn ports_of_ejection_take_a_flit_per_cycle_each() {
    for (ejection_ports, least) in [(1, 6 * 256), (2, 3 * 256), (3, 2 * 256), (6, 256), (0, 256)] {
        let time = six_neighbours(1 << 10, true, &Params { ejection_ports, ..Params::default() });
        assert!((least..least + least / 10 + 40).contains(&time), "{ejection_ports}: {time}");
    }
}

#[test]
fn endpoints_with_one_link_refuse_what_needs_several() {
    let tree = topology::parse("fattree:2,3", 2).unwrap();
    let params = Params { routing: Routing::ADAPTIVE, ..Params::default() };
    for (params, words) in [
        (Params { interface: Interface::PerPort, ..params.clone() }, "interface has no meaning with"),
        (Params { ejection_ports: 2, ..params.clone() }, "consumption has no meaning with"),
    ] {
        let refusal = fsin_wormhole::check(&*tree, &params).unwrap_err().to_string();
        assert!(refusal.contains(words), "{refusal}");
    }
}

/// By pair of nodes: the numbers of its messages.
fn by_pair<'a>(messages: impl Iterator<Item = &'a Message>) -> BTreeMap<(NodeId, NodeId), Vec<u64>> {
    let mut pairs: BTreeMap<_, Vec<u64>> = BTreeMap::new();
    for message in messages {
        pairs.entry((message.source, message.destination)).or_default().push(message.id);
    }
    pairs
}

fn drawn() -> impl Strategy<Value = Vec<Message>> {
    let message = |((source, destination, flits), id)| Message {
        id,
        source: NodeId(source),
        destination: NodeId(destination),
        bytes: 4 * flits,
        class: 0,
    };
    prop::collection::vec((0u32..6, 0u32..12, 0u64..90), 1..120)
        .prop_map(move |messages| messages.into_iter().zip(0..).map(message).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// Messages of a pair of nodes are sent in their order; over one path on one channel they arrive in it.
    #[test]
    fn messages_of_a_pair_keep_their_order(
        messages in drawn(),
        interface in prop_oneof![(1u32..9).prop_map(Interface::Interleaved), Just(Interface::PerPort)],
        vcs in 1usize..4,
        ejection_ports in 0usize..4,
    ) {
        let params = Params { interface, vcs, ejection_ports, ..Params::default() };
        let mut network = fast::build(&*topology::parse("mesh:4x3", 2).unwrap(), params, 1).unwrap();
        let notices = carry(&mut *network, &messages);
        prop_assert_eq!(by_pair(notices.sent.iter()), by_pair(messages.iter()));
        let mut arrived = by_pair(notices.delivered.iter().map(|delivery| &delivery.message));
        if vcs > 1 {
            arrived.values_mut().for_each(|ids| ids.sort_unstable());
        }
        prop_assert_eq!(arrived, by_pair(messages.iter()));
    }

    /// An interface with one message in progress is serial.
    #[test]
    fn one_message_in_progress_is_serial(messages in drawn()) {
        let run = |interface| {
            let params = Params { interface, ..Params::default() };
            let mut network = fast::build(&*topology::parse("mesh:4x3", 2).unwrap(), params, 1).unwrap();
            carry(&mut *network, &messages);
            (network.clock(), network.settled().recorder.digest())
        };
        prop_assert_eq!(run(Interface::Serial), run(Interface::Interleaved(1)));
    }
}
