//! Nodes that refuse requests until they have sent replies.

#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

use std::sync::atomic::AtomicBool;

use fsin_core::couple::{Coupled, Failure};
use fsin_core::network::{Channel, Deadlock, Network, NetworkFailure, Notices};
use fsin_core::run;
use fsin_core::topology::{self, Topology};
use fsin_wormhole::fast;
use fsin_wormhole::reference::Reference;
use fsin_wormhole::{Detailed, Details, Params, Routing};
use proptest::prelude::*;
use trgen::synthetic::{Config, Traffic};
use trgen::{Cycle, Message, NodeId};

use super::common::cases;
use super::engines_agree::{Case, THREADS, case};

/// What a run gives: its digest, the measurements of the model, why it failed.
type Given = (u64, Details, Option<Failure>);

/// Requests of up to two packets and replies of another length for so many cycles, in this network.
fn requests(
    network: &mut dyn Detailed,
    topology: &dyn Topology,
    params: &Params,
    room: &str,
    load: f64,
    cycles: u64,
) -> Given {
    let config = Config {
        load,
        process: format!("request-reply(size=constant(3){room})").parse().unwrap(),
        size: format!("uniform(1,{})", 2 * params.packet_flits).parse().unwrap(),
        packet_phits: params.packet_flits,
        phit_bytes: params.flit_bytes,
        is_padded: false,
        nodes_refuse: true,
        seed: params.seed,
        ..Config::new(topology.geometry().clone())
    };
    let mut source = Traffic::new(&config).unwrap();
    let stop = AtomicBool::new(false);
    let outcome = run::fixed(&mut Coupled::new(&mut source, network, &stop), cycles, &mut |_| ());
    (outcome.digest, network.details(), outcome.failure)
}

/// The deadlock of a run, if it has one.
fn deadlock(given: Given) -> Option<Deadlock> {
    match given.2? {
        Failure::Network(NetworkFailure::Deadlock(deadlock)) => Some(deadlock),
        other => panic!("{other}"),
    }
}

fn compare(case: &Case, room: u32, load: f64) -> Result<(), TestCaseError> {
    let (topology, params) = (case.topology(), &case.params);
    let room = format!(", room={room}");
    let expected = {
        let mut network = Reference::new(&*topology, params.clone()).unwrap();
        requests(&mut network, &*topology, params, &room, load, 1_500)
    };
    let worth = if case.seed.is_multiple_of(4) { 0 } else { u64::MAX };
    for threads in THREADS {
        let mut network = fast::build_for(&*topology, params.clone(), threads, worth).unwrap();
        let found = requests(&mut *network, &*topology, params, &room, load, 1_500);
        prop_assert_eq!(&expected, &found, "{} threads", threads);
    }
    Ok(())
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn engines_agree_where_nodes_refuse(case in case(), room in 1u32..5, load in 0.02f64..1.0) {
        compare(&case, room, load)?;
    }

    /// Room that is never filled changes nothing.
    #[test]
    fn nodes_with_enough_room_refuse_nothing(case in case(), load in 0.02f64..0.5) {
        let (topology, params) = (case.topology(), &case.params);
        let [without, with] = ["", ", room=1048576"].map(|room| {
            let mut network = fast::build(&*topology, params.clone(), 1).unwrap();
            requests(&mut *network, &*topology, params, room, load, 1_000)
        });
        prop_assert_eq!(without, with);
    }
}

proptest! {
    #![proptest_config(cases(10_000))]

    /// `cargo test --release -p fsin-wormhole --test all refusals:: -- --ignored`
    #[test]
    #[ignore = "minutes"]
    fn engines_agree_where_nodes_refuse_ten_thousand_times(case in case(), room in 1u32..5, load in 0.02f64..1.0) {
        compare(&case, room, load)?;
    }
}

/// At full load requests and replies on the same channels lock; on channels of their own they do not in 200 000 cycles.
#[test]
fn classes_prevent_the_deadlock_of_requests_and_replies() {
    for (spec, routing, vcs, room) in [
        ("mesh:4x4", Routing::DOR, 2, ", room=4"),
        ("torus:4x2", Routing::DOR, 4, ", room=1"),
        ("dragonfly:p=1,a=3,h=1", Routing::MINIMAL, 4, ", room=1"),
    ] {
        let topology = topology::parse(spec, 2).unwrap();
        let run = |message_classes: usize, room: &str| {
            let params = Params { routing, vcs, message_classes, packet_flits: 4, ..Params::default() };
            let mut network = fast::build(&*topology, params.clone(), 1).unwrap();
            deadlock(requests(&mut *network, &*topology, &params, room, 1.0, 200_000))
        };
        let found = run(1, room).unwrap_or_else(|| panic!("{spec}{room} does not lock"));
        assert!(!found.refusing.is_empty(), "{found:?}");
        let goes_through = |node: &NodeId| {
            found.cycle.iter().any(|at| matches!(at, Channel::Injection { node: other, .. } if other == node))
        };
        assert!(found.refusing.iter().any(goes_through), "{found:?}");
        assert_eq!(run(2, room), None, "{spec}{room}");
        // Without a bound nothing locks.
        let params = Params { routing, vcs, packet_flits: 4, ..Params::default() };
        let mut network = fast::build(&*topology, params.clone(), 1).unwrap();
        assert_eq!(deadlock(requests(&mut *network, &*topology, &params, "", 1.0, 20_000)), None, "{spec}");
    }
}

/// A request waits in the network as long as its node refuses it, beyond the patience of the watchdog: that node has
/// nothing to send, so it is not the network that holds it up.
#[test]
fn what_is_refused_waits() {
    let topology = topology::parse("mesh:4x1", 2).unwrap();
    let params = Params { packet_flits: 4, buffer: 2, watchdog_cycles: 100, ..Params::default() };
    let mut reference = Reference::new(&*topology, params.clone()).unwrap();
    let mut fast = fast::build(&*topology, params, 1).unwrap();
    let message = |id, class| Message { id, source: NodeId(0), destination: NodeId(3), bytes: 40, class };
    let arrivals = |network: &mut dyn Network| {
        let mut notices = Notices::default();
        let mut arrivals = Vec::new();
        assert!(network.let_refuse(0));
        network.admit(NodeId(3), false);
        network.inject(message(0, 1));
        network.inject(message(1, 0));
        while network.in_flight() > 0 {
            if network.clock() == Cycle(1_000) {
                network.admit(NodeId(3), true);
            }
            let until = if network.clock() < Cycle(1_000) { Cycle(1_000) } else { Cycle(2_000) };
            network.advance(until, &mut notices).unwrap();
            arrivals.extend(notices.delivered.iter().map(|delivery| (delivery.message.id, delivery.delivered.0)));
        }
        arrivals
    };
    let found = arrivals(&mut reference);
    assert_eq!(found, arrivals(&mut *fast));
    let [(0, first), (1, second)] = found[..] else { panic!("{found:?}") };
    // Ten flits, of which two wait in the sink, two in each router on the way and the rest in the source.
    assert!(first < 100 && (1_009..1_030).contains(&second), "{found:?}");
}
