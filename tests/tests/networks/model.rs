//! Guarantees of the functional router model, tested on random networks and routers.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use fsin::couple::{Coupled, Failure, Reached};
use fsin::network::{Channel, Deadlock, Injected, Network, NetworkFailure, Notices};
use fsin::router::{Injection, RouterParams};
use fsin::routing::Routing;
use fsin::run::{BatchPlan, to_end};
use proptest::prelude::*;
use tests::every_cycle::every_cycle;
use tests::parallel::parallel;
use tests::programs::{Replayed, compute, irecv, recv, send, wait};
use tests::setup::Setup;
use tests::strategies::{fitted, fixed_cases, grids, minimal_routings, routers, setups};
use trgen::trace::program::Program;
use trgen::{Cycle, Delivery, Message, Next, NodeId, Outbox, Reads, SourceError, TrGen};

/// \[hops\] Length of a shortest path, from the coordinates alone.
fn distance(setup: &Setup, from: usize, to: usize) -> u64 {
    let (name, sizes) = setup.topology.split_once(':').expect("a name and sizes");
    let (mut from, mut to, mut hops) = (from, to, 0);
    for size in sizes.split('x').map(|size| size.parse::<usize>().expect("a size is a number")) {
        let (a, b) = (from % size, to % size);
        hops += match (name, setup.ways) {
            ("mesh", _) => a.abs_diff(b),
            (_, 1) => (b + size - a) % size,
            _ => a.abs_diff(b).min(size - a.abs_diff(b)),
        };
        (from, to) = (from / size, to / size);
    }
    hops as u64
}

/// Delay and hops of a single packet in the network.
fn alone(network: &mut impl Network, from: usize, to: usize, bytes: u64) -> Result<(u64, u64), NetworkFailure> {
    let message = Message { id: 0, source: NodeId::at(from), destination: NodeId::at(to), bytes, class: 0 };
    assert_eq!(network.inject(message), Injected::Accepted, "an empty network takes a message");
    let mut notices = Notices::default();
    while network.in_flight() > 0 {
        network.advance(Cycle::NEVER, &mut notices)?;
    }
    let window = network.recorder_mut().take_window();
    assert_eq!(window.counts.received, 1);
    let [delivery] = notices.delivered[..] else { panic!("one packet, but {notices:?}") };
    let delay = window.latency.moments().max().expect("one packet was received");
    assert_eq!(delivery.delivered.since(delivery.offered), delay);
    Ok((delay, window.hops.max().expect("one packet was received")))
}

proptest! {
    #![proptest_config(fixed_cases(48))]

    /// Zero-load latency is D + L - 1 with any setting, on any shortest path. A network that has been used and is empty
    /// again behaves like a new one.
    #[test]
    fn a_packet_alone_takes_hops_plus_length_minus_one((topology, ways) in grids(96), params in routers()) {
        for routing in minimal_routings() {
            let shape = fsin::topology::parse(&topology, ways).expect("grids can be built");
            let params = fitted(RouterParams { routing, ..params.clone() }, &*shape, params.vcs / 2);
            let base = Setup::new(&topology, params.routing, params.vcs).load(0.0);
            let setup = Setup { ways, params, ..base };
            let mut network = setup.network();
            let nodes = network.nodes();
            let pairs = nodes * nodes;
            // All pairs of up to 7 nodes, otherwise some 30; with an odd step, so that sources and destinations of
            // either parity occur.
            for pair in (0..pairs).step_by((pairs / 30).max(1) | 1) {
                let (from, to) = (pair / nodes, pair % nodes);
                if from == to {
                    continue;
                }
                let hops = distance(&setup, from, to);
                let length = u64::from(setup.params.packet_phits);
                let found = alone(&mut network, from, to, 1);
                prop_assert_eq!(found, Ok((hops + length - 1, hops)), "{} to {} of {:?}", from, to, setup);
            }
        }
    }
}

proptest! {
    #![proptest_config(fixed_cases(64))]

    /// No packet is lost or duplicated, whatever the settings: every accepted packet has been received or dropped, or
    /// is in the network.
    #[test]
    fn packets_are_conserved_in_every_cycle(setup in setups(40)) {
        let mut network = setup.network();
        let mut uneven = None;
        let end = every_cycle(&mut setup.source(), &mut network, 400, |network, _| {
            let totals = network.settled().recorder.totals();
            let counts = (totals.received + totals.dropped + network.in_flight(), network.count_packets());
            if counts != (totals.generated, network.in_flight()) {
                uneven.get_or_insert((network.clock(), totals, network.in_flight(), network.count_packets()));
            }
        });
        prop_assert_eq!(uneven, None, "(clock, totals, in flight, counted)");
        prop_assert_eq!(end, Ok(()), "no watchdog fires in so few cycles");
        prop_assert!(setup.load == 0.0 || network.settled().recorder.totals().generated > 0 || network.nodes() == 1);
    }

    /// Runs depend on their settings and on nothing else; skipping idle cycles and splitting a run have no effect.
    #[test]
    fn the_same_settings_give_the_same_run(setup in setups(24), cuts in prop::collection::vec(1u64..90, 1..12)) {
        let plan = BatchPlan { warmup: 150, samples: 3, sample_size: 100, max_conv_time: 0, min_batch_packets: 0,
                               ..BatchPlan::default() };
        let once = setup.batch(&plan);
        prop_assert_eq!(&once, &setup.batch(&plan));

        let last = Cycle::FIRST + once.cycles;
        let in_slices = setup.run(|coupled| {
            for cut in cuts.iter().cycle() {
                let until = (coupled.network().clock() + *cut).min(last);
                if coupled.run(until) == Ok(Reached::End) {
                    coupled.pass(last).expect("an empty network cannot fail");
                }
                if coupled.network().clock() == last {
                    break;
                }
            }
            let recorder = coupled.network().settled().recorder;
            (recorder.digest(), recorder.totals())
        });
        prop_assert_eq!(in_slices, (once.digest, once.totals));

        let mut network = setup.network();
        prop_assert_eq!(every_cycle(&mut setup.source(), &mut network, once.cycles, |_, _| {}), Ok(()));
        prop_assert_eq!((network.settled().recorder.digest(), network.settled().recorder.totals()), (once.digest, once.totals));
    }
}

/// The same with channels that the routing accepts, at most `more` above the minimum.
fn fit(setup: Setup, more: usize) -> Setup {
    Setup { params: fitted(setup.params.clone(), &*setup.shape(), more), ..setup }
}

#[test]
fn another_seed_gives_another_run() {
    for routing in minimal_routings() {
        let setup = fit(Setup::new("torus:4x4", routing, 3), 1);
        let digests = [1, 2].map(|seed| setup.clone().seed(seed).fixed(1_000).digest);
        assert_ne!(digests[0], digests[1], "{}", routing.name());
    }
}

/// True if the head of a queue of node `from` can wait for room in `next`: at its own node (the bubble), or at the
/// neighbour that feeds `next`.
fn adjoins(setup: &Setup, from: Channel, next: Channel) -> bool {
    let (Channel::Transit { node: here, .. } | Channel::Injection { node: here, .. }) = from else { return false };
    let Channel::Transit { node: there, dimension, positive, .. } = next else { return false };
    let topology = setup.shape();
    here == there || topology.neighbour(here, topology.shape().port(dimension, positive)) == Some(there)
}

/// Small tori that uniform traffic of load 1 saturates (a 4x4 torus with two directions would not be), with as few
/// channels and as short queues as the routing works with.
fn saturated_tori(routing: Routing, seed: u64, bubble: u32) -> Vec<Setup> {
    let networks = match routing.takes_dimensions(2) {
        true => [("torus:4x4", 1), ("torus:3x10", 2)],
        false => [("torus:4x4x4", 1), ("torus:3x10x2", 2)],
    };
    networks
        .into_iter()
        .map(|(topology, ways)| {
            let mut setup = fit(Setup { ways, ..Setup::new(topology, routing, 1) }.load(1.0).seed(seed), 0);
            setup.params.bubble = bubble;
            setup.params.queue_packets = 2;
            setup.params.packet_phits = 4;
            setup.params.watchdog_cycles = 1_000;
            setup
        })
        .collect()
}

#[test]
fn without_a_bubble_a_saturated_torus_ends_in_a_cyclic_wait() {
    let mut setups: Vec<Setup> = (1..=3).flat_map(|seed| saturated_tori(Routing::BubbleOblivious, seed, 0)).collect();
    // The default router on the default torus is no better.
    setups.push(Setup::new("torus:8x8", Routing::BubbleOblivious, 1).load(1.0));
    setups.last_mut().expect("one has been pushed").params.bubble = 0;
    for setup in setups {
        let outcome = setup.fixed(50_000);
        let Some(Failure::Network(NetworkFailure::Deadlock(Deadlock { in_flight, cycle, since, .. }))) =
            outcome.failure
        else {
            panic!("{setup:?}: no deadlock in {} cycles", outcome.cycles);
        };
        assert!(!outcome.complete);
        assert_eq!(in_flight, outcome.in_flight);
        assert_eq!(outcome.cycles, since.0 - 1 + setup.params.watchdog_cycles, "the watchdog waits no longer");
        assert!(cycle.len() > 1, "{setup:?}: {cycle:?}");
        for (index, &channel) in cycle.iter().enumerate() {
            let next = cycle[(index + 1) % cycle.len()];
            assert!(adjoins(&setup, channel, next), "{channel} does not wait for {next} in {cycle:?}");
        }
    }
}

#[test]
fn a_bubble_of_two_keeps_a_saturated_torus_going() {
    let jobs: Vec<Setup> = minimal_routings()
        .into_iter()
        .flat_map(|routing| (1..=3).flat_map(move |seed| saturated_tori(routing, seed, 2)))
        .collect();
    let outcomes = parallel(&jobs, |setup| setup.fixed(50_000));
    for (setup, outcome) in jobs.iter().zip(outcomes) {
        assert_eq!(outcome.failure, None, "{setup:?}");
        assert_eq!(outcome.cycles, 50_000);
        // Every node makes progress, not just some.
        assert!(outcome.fairness.is_some_and(|fairness| fairness.min > 0.5), "{setup:?}: {:?}", outcome.fairness);
    }
}

#[test]
fn a_receive_that_nobody_serves_ends_as_deadlock_of_the_traffic() {
    let program = Program {
        tasks: vec![
            vec![send(1, 7, 64)],
            vec![recv(Some(0), Some(7)), recv(Some(0), Some(8))],
            vec![irecv(None, None, 3), compute(50), wait(&[3])],
            vec![compute(20)],
        ],
    };
    let replayed = Replayed::of(program, "torus:4x4", RouterParams::default(), 1.0);
    let waits = replayed.waits().expect("nobody sends tag 8, nor anything to task 2");
    let [first, second] = waits else { panic!("two tasks wait, not {waits:?}") };
    for (wait, words) in [(first, ["task 1 ", "task 0", "tag 8"]), (second, ["task 2 ", "any task", "any tag"])] {
        assert!(words.iter().all(|word| wait.text.contains(word)), "{wait} names {words:?}");
    }
    assert!(!replayed.outcome.complete);
    assert_eq!(replayed.outcome.completion, None);
    // A computation of 20 cycles from cycle 1 on ends in cycle 20.
    assert_eq!(replayed.finished(), [Some(2), None, None, Some(20)]);
}

/// Injects bursts of messages from every node from time to time, regardless of their fate.
#[derive(Debug)]
struct Bursts {
    nodes: usize,
    bursts_left: u32,
    burst: u64,
    pause: u64,
    packet_bytes: u64,
    due: Cycle,
    next_id: u64,
    /// The notices that it reads.
    reads: Reads,
    /// Sent notices, by source.
    sent: Vec<Vec<u64>>,
    delivered: Vec<Delivery>,
}

impl TrGen for Bursts {
    fn nodes(&self) -> usize {
        self.nodes
    }

    fn generate(&mut self, now: Cycle, out: &mut Outbox) -> Result<(), SourceError> {
        if now < self.due || self.bursts_left == 0 {
            return Ok(());
        }
        for id in self.next_id..self.next_id + self.burst {
            for source in 0..self.nodes {
                // Destinations and sizes in turn: 1 to 3 packets, sometimes an empty payload.
                let step = 1 + (id as usize / 2) % (self.nodes - 1);
                let destination = NodeId::at((source + step) % self.nodes);
                out.push(Message {
                    id,
                    source: NodeId::at(source),
                    destination,
                    bytes: id % 4 * self.packet_bytes,
                    class: 0,
                });
            }
        }
        self.next_id += self.burst;
        self.bursts_left -= 1;
        self.due = now + self.pause;
        Ok(())
    }

    fn reads(&self) -> Reads {
        self.reads
    }

    fn sent(&mut self, _: Cycle, message: &Message) {
        self.sent[message.source.index()].push(message.id);
    }

    fn delivered(&mut self, _: Cycle, delivery: &Delivery) {
        self.delivered.push(*delivery);
    }

    fn dropped(&mut self, _: Cycle, _: &Message) {}

    fn next(&self) -> Next {
        if self.bursts_left > 0 { Next::At(self.due) } else { Next::Done }
    }
}

fn run_bursts(setup: &Setup, bursts: u32, burst: u64, pause: u64) -> Result<Bursts, Failure> {
    run_bursts_with(setup, (bursts, burst, pause), Reads::ALL).map(|(source, _)| source)
}

/// The same for a source that reads these notices; also the end of the run, and its digest.
fn run_bursts_with(
    setup: &Setup,
    (bursts, burst, pause): (u32, u64, u64),
    reads: Reads,
) -> Result<(Bursts, (Cycle, u64)), Failure> {
    let mut network = setup.network();
    let mut source = Bursts {
        nodes: network.nodes(),
        bursts_left: bursts,
        burst,
        pause,
        packet_bytes: u64::from(setup.params.packet_phits * setup.params.phit_bytes),
        due: Cycle::FIRST,
        next_id: 0,
        reads,
        sent: vec![Vec::new(); network.nodes()],
        delivered: Vec::new(),
    };
    let stop = AtomicBool::new(false);
    let limit = Cycle::FIRST + 1_000_000;
    let outcome = to_end(&mut Coupled::new(&mut source, &mut network, &stop), limit, &mut |_| {});
    let end = (network.clock(), network.recorder_mut().digest());
    outcome.failure.map_or(Ok((source, end)), Err)
}

proptest! {
    #![proptest_config(fixed_cases(40))]

    /// A refused message is offered again until it is accepted, before anything newer of its node: a source may ignore
    /// notices.
    #[test]
    fn what_is_refused_is_sent_later_and_in_order(
        mut setup in setups(20),
        (bursts, burst, pause) in (1u32..4, 1u64..30, 1u64..200),
    ) {
        // A bubble of less than 2 does not prevent deadlock.
        setup.params.bubble = setup.params.bubble.max(2);
        let done = run_bursts(&setup, bursts, burst, pause);
        prop_assert!(done.is_ok(), "{:?}", done.err());
        let Ok(done) = done else { return Ok(()) };
        let ids: Vec<u64> = (0..u64::from(bursts) * burst).collect();
        for sent in &done.sent {
            prop_assert_eq!(sent, &ids);
        }
        let mut arrived: Vec<(NodeId, u64)> =
            done.delivered.iter().map(|delivery| (delivery.message.source, delivery.message.id)).collect();
        arrived.sort_unstable();
        let all: Vec<(NodeId, u64)> =
            (0..done.nodes).flat_map(|node| ids.iter().map(move |&id| (NodeId::at(node), id))).collect();
        prop_assert_eq!(arrived, all, "every message arrives once");
    }

    /// Notices that a source does not read are left out, and nothing else changes: what is refused is offered again as
    /// soon as before.
    #[test]
    fn unread_notices_change_nothing(
        mut setup in setups(20),
        (bursts, burst, pause) in (1u32..4, 1u64..30, 1u64..200),
        reads in (any::<bool>(), any::<bool>()).prop_map(|(sent, delivered)| Reads { sent, delivered }),
    ) {
        setup.params.bubble = setup.params.bubble.max(2);
        let all = run_bursts_with(&setup, (bursts, burst, pause), Reads::ALL);
        let some = run_bursts_with(&setup, (bursts, burst, pause), reads);
        prop_assert!(all.is_ok() && some.is_ok(), "{:?} {:?}", all.err(), some.err());
        let (Ok((all, all_end)), Ok((some, some_end))) = (all, some) else { return Ok(()) };
        prop_assert_eq!(all_end, some_end);
        prop_assert!(reads.delivered || some.delivered.is_empty());
        prop_assert!(!reads.delivered || some.delivered == all.delivered);
        prop_assert!(!reads.sent || some.sent == all.sent);
    }

    /// With one channel and one path there is no overtaking, whatever the arbitration.
    #[test]
    fn a_deterministic_single_channel_keeps_the_order_of_a_pair(
        mut setup in setups(20),
        (bursts, burst) in (1u32..4, 1u64..30),
    ) {
        // On a mesh no direction is drawn.
        let sizes: Vec<String> = setup.shape().geometry().sizes().iter().map(u32::to_string).collect();
        setup.topology = format!("mesh:{}", sizes.join("x"));
        setup.ways = 2;
        setup.params.routing = Routing::BubbleOblivious;
        setup.params.vcs = 1;
        setup.params.injectors = 1;
        setup.params.injection = Injection::Shortest;
        setup.params.bubble = setup.params.bubble.max(2);
        let done = run_bursts(&setup, bursts, burst, 50);
        prop_assert!(done.is_ok(), "{:?}", done.err());
        let Ok(done) = done else { return Ok(()) };
        let mut pairs: BTreeMap<(NodeId, NodeId), Vec<u64>> = BTreeMap::new();
        for Delivery { message, .. } in &done.delivered {
            pairs.entry((message.source, message.destination)).or_default().push(message.id);
        }
        for (pair, ids) in pairs {
            prop_assert!(ids.is_sorted(), "{:?}: {:?}", pair, ids);
        }
    }
}
