//! Interfaces of nodes: what they gain, and the order that they keep.

use std::collections::{BTreeMap, VecDeque};

use fsin::network::{Injected, Network, Notices};
use fsin::router::{Consumption, Injection, Interface, RouterParams};
use fsin::routing::Routing;
use proptest::prelude::*;
use tests::setup::Setup;
use tests::strategies::{fitted, fixed_cases, grids, interfaces, routers};
use trgen::{Cycle, Message, NodeId};

/// Offers messages as early as their interfaces take them, those of each node in order, until all have arrived. Returns
/// the notices: the messages in the order in which they were sent and delivered.
fn carry(network: &mut dyn Network, messages: &[Message]) -> Notices {
    let mut offers: BTreeMap<NodeId, VecDeque<Message>> = BTreeMap::new();
    for message in messages {
        offers.entry(message.source).or_default().push_back(*message);
    }
    let (mut all, mut notices) = (Notices::default(), Notices::default());
    while network.in_flight() > 0 || offers.values().any(|offers| !offers.is_empty()) {
        for offers in offers.values_mut() {
            while let Some(message) = offers.front()
                && network.inject(*message) == Injected::Accepted
            {
                offers.pop_front();
            }
        }
        let next = network.clock() + 1;
        network.advance(next, &mut notices).expect("a bubble of two packets prevents deadlock");
        all.sent.append(&mut notices.sent);
        all.delivered.append(&mut notices.delivered);
    }
    all
}

/// A message to each of the six neighbours of node 0 of a torus of 4 x 4 x 4.
fn to_neighbours(bytes: u64) -> Vec<Message> {
    let neighbours = [1, 3, 4, 12, 16, 48].into_iter().zip(0..);
    neighbours.map(|(to, id)| Message { id, source: NodeId(0), destination: NodeId(to), bytes, class: 0 }).collect()
}

/// \[cycles\] Until six neighbours have 64 KiB each, 16 384 phits, on both engines.
fn six_neighbours(interface: Interface, injectors: usize) -> u64 {
    let mut setup = Setup::new("torus:4x4x4", Routing::BubbleSmart, 3);
    let injection = if injectors == 6 { Injection::Dor } else { Injection::Shortest };
    setup.params = RouterParams { interface, injectors, injection, ..RouterParams::default() };
    let messages = to_neighbours(64 << 10);
    let [reference, fast] = [&mut setup.network() as &mut dyn Network, &mut *setup.fast_network()].map(|network| {
        let delivered = carry(network, &messages).delivered;
        delivered.iter().map(|delivery| delivery.delivered.0).max()
    });
    assert_eq!(reference, fast);
    reference.expect("six messages arrive")
}

#[test]
fn six_neighbours_take_the_time_of_one_when_links_work_side_by_side() {
    let one = 16_384;
    assert!((6 * one..6 * one + 100).contains(&six_neighbours(Interface::Serial, 1)));
    assert!((6 * one - 2_000..6 * one + 100).contains(&six_neighbours(Interface::Serial, 6)));
    assert!((6 * one..6 * one + 100).contains(&six_neighbours(Interface::Interleaved(6), 1)));
    assert!((one..one + one / 20).contains(&six_neighbours(Interface::Interleaved(6), 6)));
    assert!((one..one + one / 20).contains(&six_neighbours(Interface::PerPort, 6)));
    // Two at a time take three rounds.
    assert!((3 * one - 2_000..3 * one + 100).contains(&six_neighbours(Interface::Interleaved(2), 6)));
}

/// Six neighbours send 1 KiB each, 256 phits, to node 0.
#[test]
fn ports_of_ejection_take_a_phit_per_cycle_each() {
    let inward: Vec<Message> = to_neighbours(1 << 10)
        .into_iter()
        .map(|Message { id, source, destination, bytes, class }| Message {
            id,
            source: destination,
            destination: source,
            bytes,
            class,
        })
        .collect();
    let mut setup = Setup::new("torus:4x4x4", Routing::BubbleSmart, 3);
    for (ports, least) in [(1, 6 * 256), (2, 3 * 256), (3, 2 * 256), (6, 256)] {
        setup.params = RouterParams { consumption: Consumption::Ports(ports), ..RouterParams::default() };
        for network in [&mut setup.network() as &mut dyn Network, &mut *setup.fast_network()] {
            let last = carry(network, &inward).delivered.iter().map(|delivery| delivery.delivered.0).max();
            assert!(last.is_some_and(|last| (least..least + least / 10 + 10).contains(&last)), "{ports}: {last:?}");
        }
    }
}

/// Networks whose nodes have something to choose from, and messages of 0 to 4 packets.
fn volleys() -> impl Strategy<Value = (Setup, Vec<Message>)> {
    let messages = prop::collection::vec((any::<u32>(), any::<u32>(), 0u64..5), 1..120);
    (grids(27), routers(), interfaces(), messages).prop_map(|((topology, ways), params, interface, messages)| {
        let mut setup = Setup::new(&topology, params.routing, params.vcs);
        setup.ways = ways;
        // A bubble of less than 2 does not prevent deadlock.
        let bubble = params.bubble.max(2);
        setup.params = fitted(RouterParams { interface, bubble, ..params }, &*setup.shape(), 2);
        let nodes = setup.shape().nodes() as u32;
        let packet = u64::from(setup.params.packet_phits * setup.params.phit_bytes);
        let messages = messages.into_iter().zip(0..).map(|((source, destination, packets), id)| Message {
            id,
            // Half of the nodes send, so that each has several.
            source: NodeId(source % nodes.div_ceil(2)),
            destination: NodeId(destination % nodes),
            bytes: packets * packet,
            class: 0,
        });
        (setup, messages.collect())
    })
}

/// By pair of nodes: the numbers of its messages.
fn by_pair<'a>(messages: impl Iterator<Item = &'a Message>) -> BTreeMap<(NodeId, NodeId), Vec<u64>> {
    let mut pairs: BTreeMap<_, Vec<u64>> = BTreeMap::new();
    for message in messages {
        pairs.entry((message.source, message.destination)).or_default().push(message.id);
    }
    pairs
}

proptest! {
    #![proptest_config(fixed_cases(64))]

    /// Every message is sent and arrives once, and those of a pair of nodes are sent in their order.
    #[test]
    fn messages_of_a_pair_are_sent_in_order((setup, messages) in volleys()) {
        let notices = carry(&mut *setup.fast_network(), &messages);
        prop_assert_eq!(by_pair(notices.sent.iter()), by_pair(messages.iter()), "{:?}", setup);
        let mut arrived: Vec<u64> = notices.delivered.iter().map(|delivery| delivery.message.id).collect();
        arrived.sort_unstable();
        prop_assert!(arrived.into_iter().eq(0..messages.len() as u64), "{:?}", setup);
    }

    /// With one path, one channel and one injector for it they arrive in that order, whatever the arbitration.
    #[test]
    fn messages_of_a_pair_arrive_in_order_over_one_path((mut setup, messages) in volleys()) {
        // On a mesh no direction is drawn.
        let sizes: Vec<String> = setup.shape().geometry().sizes().iter().map(u32::to_string).collect();
        (setup.topology, setup.ways) = (format!("mesh:{}", sizes.join("x")), 2);
        setup.params = RouterParams {
            routing: Routing::BubbleOblivious,
            vcs: 1,
            injectors: 1,
            injection: Injection::Shortest,
            ..setup.params
        };
        setup.params = fitted(setup.params.clone(), &*setup.shape(), 0);
        let notices = carry(&mut *setup.fast_network(), &messages);
        let arrived = by_pair(notices.delivered.iter().map(|delivery| &delivery.message));
        prop_assert_eq!(arrived, by_pair(messages.iter()), "{:?}", setup);
    }

    /// An interface with one message in progress is serial.
    #[test]
    fn one_message_in_progress_is_serial((setup, messages) in volleys()) {
        let params = RouterParams { injectors: 3, injection: Injection::Shortest, ..setup.params.clone() };
        let run = |interface| {
            let params = RouterParams { interface, ..params.clone() };
            let setup = Setup { params: fitted(params, &*setup.shape(), 2), ..setup.clone() };
            let mut network = setup.fast_network();
            let end = carry(&mut *network, &messages).delivered.len();
            (end, network.clock(), network.settled().recorder.digest())
        };
        let serial = run(Interface::Serial);
        prop_assert!(serial.1 > Cycle::FIRST);
        prop_assert_eq!(serial, run(Interface::Interleaved(1)));
    }
}
