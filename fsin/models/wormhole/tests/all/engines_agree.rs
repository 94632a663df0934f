//! The fast engine gives what the reference gives: notices, clocks, records, stalls, stages, occupancy, deadlocks.

#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

use std::sync::Arc;

use crate::common::cases;
use fsin_core::difference::{self, Offer};
use fsin_core::failures::{self, Timetable};
use fsin_core::interface::Interface;
use fsin_core::network::{Deadlock, Figures, Network, NetworkFailure, Notices};
use fsin_core::topology::switched::Pace;
use fsin_core::topology::{self, Port, Topology};
use fsin_core::view::Occupancy;
use fsin_wormhole::fast;
use fsin_wormhole::reference::Reference;
use fsin_wormhole::{
    Allocator, BufferPolicy, Detailed as _, Hold, Params, Priority, Routing, SourceOrder, Speedup, TraverseMode,
    VcClasses, VcRanges,
};
use proptest::prelude::*;
use trgen::rng::{Purpose, mix2, stream};
use trgen::{Cycle, Message, NodeId};

/// A network and its traffic.
#[derive(Clone, Debug)]
pub(super) struct Case {
    topology: &'static str,
    pub(super) params: Params,
    /// Seed of drawn rates of the links of networks of switches; `None` where all are alike.
    paces: Option<u64>,
    /// \[cycles\] In which messages are made.
    cycles: u64,
    /// One message of a node in so many cycles.
    gap: u64,
    /// \[bytes\] Of the longest message.
    bytes: u64,
    pub(super) seed: u64,
}

impl Case {
    pub(super) fn topology(&self) -> Box<dyn Topology> {
        /// Paces that are drawn: a third of the links are fast.
        const PACES: [(u64, u64); 9] = [(1, 1), (1, 1), (1, 1), (1, 2), (1, 3), (2, 3), (5, 8), (17, 64), (63, 64)];
        let topology = topology::parse(self.topology, 2).unwrap();
        let (Some(seed), Some(network)) = (self.paces, topology.switched()) else { return topology };
        let pace = |node: NodeId, port: Port| {
            let key = mix2(mix2(seed, node.0.into()), port.0.into());
            let (flits, cycles) = PACES[(key % PACES.len() as u64) as usize];
            Pace::of(flits, cycles).unwrap()
        };
        Box::new(network.with_paces(pace))
    }
}

const PLACES: &[(&str, &[Routing])] = &[
    ("torus:4x4", &[Routing::DOR, Routing::ADAPTIVE]),
    ("torus:5x3", &[Routing::DOR, Routing::ADAPTIVE, Routing::UPDOWN]),
    ("torus:6", &[Routing::DOR, Routing::ADAPTIVE]),
    (
        "mesh:4x3",
        &[
            Routing::DOR,
            Routing::ADAPTIVE,
            Routing::SHORTEST,
            Routing::VALIANT,
            Routing::ROMM,
            Routing::BOOKSIM_MIN_ADAPT,
        ],
    ),
    ("mesh:3x2x3", &[Routing::VALIANT, Routing::ROMM]),
    ("torus:3x2x3", &[Routing::DOR, Routing::ADAPTIVE]),
    ("hypercube:3", &[Routing::DOR, Routing::ADAPTIVE]),
    ("icube:3x3:2", &[Routing::DOR, Routing::ADAPTIVE]),
    ("cmesh:3x2:2", &[Routing::DOR, Routing::ADAPTIVE, Routing::UPDOWN]),
    ("cmesh:4x5:1:express", &[Routing::DOR, Routing::ADAPTIVE, Routing::UPDOWN, Routing::SHORTEST]),
    (
        "fattree:2,3",
        &[Routing::ADAPTIVE, Routing::MINIMAL, Routing::STATIC, Routing::UPDOWN, Routing::SHORTEST, Routing::ANCA],
    ),
    ("slimtree:4,2,2", &[Routing::ADAPTIVE, Routing::MINIMAL, Routing::STATIC, Routing::UPDOWN]),
    (
        "dragonfly:p=1,a=3,h=1",
        &[
            Routing::MINIMAL,
            Routing::VALIANT,
            Routing::UGAL,
            Routing::UPDOWN,
            Routing::SHORTEST,
            Routing::BOOKSIM_UGAL,
            Routing::BOOKSIM_MIN,
        ],
    ),
    ("dragonfly:p=2,a=2,h=1,local=2,global=5", &[Routing::MINIMAL, Routing::BOOKSIM_UGAL, Routing::BOOKSIM_MIN]),
    ("hyperx:3x3:2x1", &[Routing::BOOKSIM_UGAL, Routing::BOOKSIM_UGAL_XY_YX]),
    (
        "hyperx:3x2:2",
        &[Routing::DOR, Routing::MINIMAL, Routing::ADAPTIVE, Routing::VALIANT, Routing::UGAL, Routing::UPDOWN],
    ),
    ("rrg:s=8,d=3,p=2", &[Routing::UPDOWN, Routing::SHORTEST]),
    ("fly:2,3", &[Routing::DESTINATION_TAG]),
    ("fly:3,2", &[Routing::DESTINATION_TAG]),
    ("rail:k=2,of=(fattree:2,2)", &[Routing::UPDOWN, Routing::SHORTEST]),
];

prop_compose! {
    fn pipeline()(
        route_delay in prop_oneof![3 => Just(0u32), 2 => Just(1), 1 => 2u32..4],
        vc_alloc_delay in prop_oneof![3 => Just(1u32), 1 => 2u32..4],
        switch_alloc_delay in prop_oneof![3 => Just(1u32), 1 => 2u32..4],
        traverse_delay in prop_oneof![3 => Just(1u32), 1 => 2u32..4],
        link_delay in 1u32..4,
        credit_delay in 0u32..3,
        traverse_mode in prop_oneof![2 => Just(TraverseMode::Pipeline), 1 => Just(TraverseMode::Batch)],
        speculative in any::<bool>(),
        speedup in prop_oneof![3 => Just((1u32, 1u32)), 1 => Just((2, 1)), 1 => Just((3, 2)), 1 => Just((3, 1))],
    ) -> Params {
        let speedup = Speedup::new(speedup.0, speedup.1).unwrap();
        Params {
            route_delay, vc_alloc_delay, switch_alloc_delay, traverse_delay, link_delay, credit_delay, speculative,
            speedup, traverse_mode,
            ..Params::default()
        }
    }
}

fn allocator() -> impl Strategy<Value = Allocator> {
    prop_oneof![
        3 => Just(Allocator::Islip { iterations: 1 }),
        2 => Just(Allocator::Separable),
        1 => Just(Allocator::Islip { iterations: 2 }),
        1 => Just(Allocator::Wavefront),
        1 => Just(Allocator::OldestFirst),
    ]
}

fn interface() -> impl Strategy<Value = Interface> {
    prop_oneof![
        2 => Just(Interface::Serial),
        1 => (1u32..5).prop_map(Interface::Interleaved),
        1 => Just(Interface::PerPort),
    ]
}

/// Buffers that channels share, the width of the switch, and which channels classes have: as drawn, to be fitted to the
/// number of channels.
#[derive(Clone, Copy, Debug)]
struct Sharing {
    policy: BufferPolicy,
    /// Flits of a shared buffer beyond one for each channel.
    more: Option<u32>,
    groups: Option<usize>,
    private_buffer: u32,
    held_slots: Option<u32>,
    subnets: usize,
    widths: (usize, usize),
    source_order: SourceOrder,
    /// 0: apart; 1: together; else the seed of ranges.
    ranges: u64,
}

impl Sharing {
    fn fit(self, params: Params) -> Params {
        let vcs = params.vcs;
        let groups = self.groups.map(|groups| groups.min(vcs));
        let each = if self.policy == BufferPolicy::Shifting { vcs.next_power_of_two() } else { vcs };
        let least = (groups.unwrap_or(vcs) as u32 * self.private_buffer).max(each as u32);
        let (input_speedup, output_speedup) = if params.hold == Hold::Packet { (1, 1) } else { self.widths };
        let range = |class: u64| {
            let first = mix2(self.ranges, class) % vcs as u64;
            let last = first + mix2(self.ranges, class + 100) % (vcs as u64 - first);
            (!mix2(self.ranges, class).is_multiple_of(5)).then_some((first as u8, last as u8))
        };
        let can_copy = params.interface == Interface::Serial && params.ejection_ports == 1;
        let is_single = params.message_classes == 1 || self.source_order == SourceOrder::RepliesFirst;
        Params {
            subnets: if can_copy && is_single { self.subnets } else { 1 },
            buffer_policy: self.policy,
            shared_buffer: self.more.map(|more| least + more).or((least > params.buffer * vcs as u32).then_some(least)),
            private_buffers: groups,
            private_buffer: self.private_buffer,
            held_slots: self.held_slots.filter(|_| self.policy == BufferPolicy::Limited),
            input_speedup: input_speedup.min(vcs),
            // Flits of one step go into different buffers where these are shared.
            output_speedup: if self.policy == BufferPolicy::Private { output_speedup } else { 1 },
            source_order: if params.interface == Interface::Serial { self.source_order } else { SourceOrder::InTurn },
            vc_ranges: match self.ranges {
                0 => VcRanges::Apart,
                1 => VcRanges::Together,
                _ => VcRanges::Given((0..params.message_classes as u64).map(range).collect()),
            },
            ..params
        }
    }
}

prop_compose! {
    fn sharing()(
        policy in prop_oneof![
            2 => Just(BufferPolicy::Private),
            3 => prop::sample::select(BufferPolicy::ALL.to_vec()).prop_map(|(_, policy)| policy),
        ],
        more in prop::option::of(0u32..12),
        groups in prop::option::of(1usize..4),
        private_buffer in prop_oneof![3 => Just(1u32), 1 => Just(0), 1 => 2u32..4],
        held_slots in prop::option::of(1u32..8),
        subnets in prop_oneof![2 => Just(1usize), 1 => 2usize..4],
        widths in prop_oneof![1 => Just((1usize, 1usize)), 1 => (1usize..4, 1usize..4)],
        source_order in prop_oneof![2 => Just(SourceOrder::InTurn), 1 => Just(SourceOrder::RepliesFirst)],
        ranges in prop_oneof![2 => Just(0u64), 1 => Just(1), 1 => 2u64..1_000_000],
    ) -> Sharing {
        Sharing { policy, more, groups, private_buffer, held_slots, subnets, widths, source_order, ranges }
    }
}

prop_compose! {
    /// Cases with shared buffers, wide switches and classes that share channels.
    fn sharing_case()(case in case(), sharing in sharing()) -> Case {
        Case { params: sharing.fit(case.params.clone()), ..case }
    }
}

prop_compose! {
    pub(super) fn case()(
        (topology, routing) in (0..PLACES.len()).prop_flat_map(|at| {
            let (topology, routings) = PLACES[at];
            (Just(topology), 0..routings.len()).prop_map(move |(topology, routing)| (topology, routings[routing]))
        }),
        pipeline in pipeline(),
        (vc_allocator, switch_allocator) in (allocator(), allocator()),
        message_classes in prop_oneof![3 => Just(1usize), 1 => 2usize..4],
        (vcs, buffer, packet_flits) in (1usize..6, prop_oneof![1u32..4, 4u32..12], prop_oneof![Just(1u32), 2u32..9]),
        priority in prop_oneof![2 => Just(Priority::None), 3 => prop::sample::select(Priority::ALL.to_vec()).prop_map(|(_, priority)| priority)],
        hold in prop_oneof![3 => Just(Hold::Flit), 1 => Just(Hold::Packet)],
        output_queue in prop_oneof![3 => Just(None), 1 => (1u32..4).prop_map(Some)],
        vc_classes in prop_oneof![Just(VcClasses::PerDimension), Just(VcClasses::Dateline), Just(VcClasses::Balanced)],
        (wait_for_tail_credit, vc_busy_when_full) in (prop::bool::weighted(0.2), prop::bool::weighted(0.2)),
        (cycles, gap, bytes) in (50u64..300, prop_oneof![1u64..10, 10u64..60], prop_oneof![Just(0u64), 1u64..100]),
        interfaces in (interface(), prop_oneof![3 => Just(1usize), 1 => 0usize..5]),
        seed in any::<u64>(),
    ) -> Case {
        let is_direct = topology::parse(topology, 2).unwrap().switched().is_none();
        let (interface, ejection_ports) = match interfaces {
            _ if is_direct => interfaces,
            (Interface::PerPort, _) => (Interface::Interleaved(2), 1),
            (other, _) => (other, 1),
        };
        // Missing classes are part of it: both engines find the same deadlock.
        let params = Params {
            interface, ejection_ports, vc_allocator, switch_allocator, vcs: vcs * message_classes, message_classes, buffer, packet_flits, priority, class_priorities: vec![2, 0, 1], hold, output_queue, vc_classes,
            wait_for_tail_credit, vc_busy_when_full, routing, seed, unsafe_routing: true, watchdog_cycles: 500,
            ..pipeline
        };
        Case { topology, params, paces: None, cycles, gap, bytes, seed }
    }
}

/// Numbers of threads that every case is simulated by.
pub(super) const THREADS: [usize; 3] = [1, 2, 3];

/// In one case of so many the threads work in every cycle; in the others the caller's thread simulates all parts. On a
/// machine with other things to do each meeting of threads waits until both have been given a core, so that thousands
/// of such cases do not end.
const THREADED: u64 = 4;
const SELDOM_THREADED: u64 = 64;

/// Runs [`all`]; a failure names the first cycle and the object that differ.
fn agree(case: &Case) -> Result<Option<Deadlock>, TestCaseError> {
    agree_with(case, THREADED)
}

/// As [`agree`], for thousands of cases.
fn agree_again(case: &Case) -> Result<(), TestCaseError> {
    agree_with(case, SELDOM_THREADED).map(|_| ())
}

fn agree_with(case: &Case, threaded: u64) -> Result<Option<Deadlock>, TestCaseError> {
    let mut offers = Vec::new();
    all(case, threaded, &mut offers).map_err(|failure| {
        let topology = case.topology();
        let end = Cycle(case.cycles + 20_000);
        let found = THREADS.into_iter().find_map(|threads| {
            let mut build = || -> [Box<dyn Network>; 2] {
                let reference = Reference::new(&*topology, case.params.clone()).unwrap();
                [Box::new(reference), fast::build_for(&*topology, case.params.clone(), threads, 0).unwrap()]
            };
            difference::first(&mut build, &offers, end)
        });
        TestCaseError::fail(difference::report(&failure, found))
    })
}

/// The same messages into the reference and the fast engine on 1, 2 and 3 threads, everything compared after each call;
/// in one case of `threaded` the threads work in every cycle.
fn all(case: &Case, threaded: u64, offers: &mut Vec<Offer>) -> Result<Option<Deadlock>, TestCaseError> {
    let topology = case.topology();
    let mut reference = Reference::new(&*topology, case.params.clone()).unwrap();
    let worth = if case.seed.is_multiple_of(threaded) { 0 } else { u64::MAX };
    let mut engines = THREADS.map(|threads| fast::build_for(&*topology, case.params.clone(), threads, worth).unwrap());
    if case.seed.is_multiple_of(3) {
        reference.observe();
        engines.iter_mut().for_each(|fast| fast.observe());
    }
    if case.seed.is_multiple_of(5) {
        reference.count_events();
        engines.iter_mut().for_each(|fast| fast.count_events());
    }
    let mut rng = stream(case.seed, 0, Purpose::Temporal);
    let nodes = reference.nodes() as u64;
    let (mut expected, mut found) = (Notices::default(), Notices::default());
    let mut id = 0;
    loop {
        let now = reference.clock().0;
        if now <= case.cycles {
            for node in 0..nodes {
                if !rng.next_u64().is_multiple_of(case.gap) {
                    continue;
                }
                let message = Message {
                    id,
                    source: NodeId(node as u32),
                    destination: NodeId((rng.next_u64() % nodes) as u32),
                    bytes: rng.next_u64() % (case.bytes + 1),
                    class: (id % 3) as u8,
                };
                id += 1;
                offers.push((Cycle(now), message));
                let outcome = reference.inject(message);
                for fast in &mut engines {
                    prop_assert_eq!(outcome, fast.inject(message));
                }
            }
        }
        let is_over = now > case.cycles && reference.in_flight() == 0;
        let until = if now <= case.cycles { now + 1 + rng.next_u64() % 3 } else { now + 5_000 };
        let one = reference.advance(Cycle(until), &mut expected);
        // Half of the cases read the state after each call, the others now and then: threads go on meanwhile.
        let is_read = case.seed % 8 < 4 || now.is_multiple_of(7) || is_over || one.is_err();
        let mut shown = Occupancy::default();
        reference.settled().view.unwrap().occupancy(&mut shown);
        for (fast, threads) in engines.iter_mut().zip(THREADS) {
            let other = fast.advance(Cycle(until), &mut found);
            prop_assert_eq!(&one, &other, "{} threads", threads);
            prop_assert!(expected == found, "notices differ at {now}, {threads} threads");
            prop_assert_eq!(reference.clock(), fast.clock());
            prop_assert_eq!(reference.in_flight(), fast.in_flight());
            if !is_read {
                continue;
            }
            prop_assert!(
                reference.settled().recorder == fast.settled().recorder,
                "recorders differ at {now}, {threads} threads"
            );
            prop_assert_eq!(reference.details(), fast.details(), "at {}, {} threads", now, threads);
            let mut seen = Occupancy::default();
            fast.settled().view.unwrap().occupancy(&mut seen);
            prop_assert_eq!(&shown, &seen, "{} threads", threads);
            prop_assert_eq!(
                reference.settled().figures.and_then(Figures::queues),
                fast.settled().figures.and_then(Figures::queues),
                "{} threads",
                threads
            );
            prop_assert_eq!(
                reference.settled().figures.and_then(Figures::events),
                fast.settled().figures.and_then(Figures::events),
                "{} threads",
                threads
            );
        }
        if now.is_multiple_of(40) {
            let window = reference.recorder_mut().take_window();
            for fast in &mut engines {
                prop_assert!(window == fast.recorder_mut().take_window(), "windows differ at {now}");
            }
        }
        if let Err(failure) = one {
            let NetworkFailure::Deadlock(deadlock) = failure else { panic!("{failure}") };
            prop_assert!(!deadlock.cycle.is_empty(), "the waiting cycle is found");
            return Ok(Some(deadlock));
        }
        if is_over {
            let details = reference.details();
            let latency = reference.recorder_mut().totals();
            prop_assert_eq!(latency.received + latency.dropped, latency.generated);
            prop_assert!(latency.dropped == 0 || !case.params.timetable.is_empty());
            prop_assert_eq!(details.flits_sent, details.flits_received);
            return Ok(None);
        }
    }
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn engines_agree(case in case()) {
        agree(&case)?;
    }
}

proptest! {
    #![proptest_config(cases(100))]

    #[test]
    fn engines_agree_where_channels_share(case in sharing_case()) {
        agree(&case)?;
    }
}

proptest! {
    #![proptest_config(cases(5_000))]

    #[test]
    #[ignore = "minutes"]
    fn engines_agree_where_channels_share_five_thousand_times(case in sharing_case()) {
        agree_again(&case)?;
    }
}

proptest! {
    #![proptest_config(cases(10_000))]

    /// `cargo test --release -p fsin-wormhole --test all engines_agree:: -- --ignored`
    #[test]
    #[ignore = "minutes"]
    fn engines_agree_ten_thousand_times(case in case()) {
        agree_again(&case)?;
    }
}

/// A case with failures and repairs of links and nodes, by a routing that goes round them.
fn with_failures(case: Case, routing: Routing, draws: &[u64]) -> Case {
    let topology: Arc<dyn Topology> = case.topology().into();
    let timetable = Timetable::new(failures::drawn(&*topology, draws, 60), &topology);
    let params = Params { routing, timetable, ..case.params.clone() };
    Case { params, ..case }
}

fn avoiding() -> impl Strategy<Value = Routing> {
    prop_oneof![3 => Just(Routing::UPDOWN), 1 => Just(Routing::SHORTEST)]
}

proptest! {
    #![proptest_config(cases(150))]

    #[test]
    fn engines_agree_about_links_that_fail(
        case in prop_oneof![3 => case(), 1 => paced()], routing in avoiding(),
        draws in prop::collection::vec(any::<u64>(), 1..8),
    ) {
        // Butterflies have one route for each pair.
        prop_assume!(!case.topology.starts_with("fly"));
        agree(&with_failures(case, routing, &draws))?;
    }
}

proptest! {
    #![proptest_config(cases(5_000))]

    #[test]
    #[ignore = "minutes"]
    fn engines_agree_about_links_that_fail_five_thousand_times(
        case in prop_oneof![1 => case(), 1 => paced()], routing in avoiding(),
        draws in prop::collection::vec(any::<u64>(), 1..8),
    ) {
        prop_assume!(!case.topology.starts_with("fly"));
        agree_again(&with_failures(case, routing, &draws))?;
    }
}

prop_compose! {
    /// Networks of switches whose links have unlike rates.
    fn paced()(
        (case, seed) in (case(), any::<u64>()).prop_filter("switches", |(case, _)| {
            topology::parse(case.topology, 2).unwrap().switched().is_some()
        })
    ) -> Case {
        // Less traffic than on fast links, so that what queues up does not take long to leave.
        Case { paces: Some(seed), cycles: case.cycles.min(150), gap: case.gap + 4, ..case }
    }
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn engines_agree_on_links_of_unlike_rate(case in paced()) {
        agree(&case)?;
    }
}

proptest! {
    #![proptest_config(cases(5_000))]

    #[test]
    #[ignore = "minutes"]
    fn engines_agree_on_links_of_unlike_rate_five_thousand_times(case in paced()) {
        agree_again(&case)?;
    }
}

/// Without classes a ring locks, and the buffers of the waiting cycle are named.
#[test]
fn a_ring_without_classes_locks() {
    let params = Params { vcs: 1, buffer: 2, unsafe_routing: true, watchdog_cycles: 500, ..Params::default() };
    let case = Case { topology: "torus:6", params, paces: None, cycles: 300, gap: 2, bytes: 100, seed: 3 };
    let deadlock = agree(&case).unwrap().expect("the ring locks");
    assert!(deadlock.cycle.len() >= 6, "{deadlock:?}");
}

/// Messages and reactions to them, each class on VCs of its own: both engines give the same run, and with the classes
/// another one than without.
#[test]
fn reactions_on_channels_of_their_own_agree() {
    use fsin_core::couple::Coupled;
    use fsin_core::run;
    use trgen::synthetic::{Config, Mode, Traffic};

    for (spec, routing, vcs) in [
        ("torus:4x4", Routing::DOR, 4),
        ("mesh:4x3", Routing::ADAPTIVE, 4),
        ("mesh:4x4", "odd-even".parse().unwrap(), 2),
        ("dragonfly:p=1,a=3,h=1", Routing::UGAL, 6),
        ("hyperx:3x3:1", Routing::ADAPTIVE, 4),
    ] {
        let params = Params { routing, vcs, message_classes: 2, packet_flits: 4, ..Params::booksim() };
        let topology = topology::parse(spec, 2).unwrap();
        let digest = |network: &mut dyn Network| {
            let config = Config {
                load: 0.6,
                process: "reactive:p=0.9,min=1".parse().unwrap(),
                packet_phits: 4,
                mode: Mode::Open,
                ..Config::new(topology.geometry().clone())
            };
            let mut source = Traffic::new(&config).unwrap();
            let stop = std::sync::atomic::AtomicBool::new(false);
            run::fixed(&mut Coupled::new(&mut source, network, &stop), 2_000, &mut |_| ()).digest
        };
        let mut reference = Reference::new(&*topology, params.clone()).unwrap();
        let mut fast = fast::build_for(&*topology, params.clone(), 2, 0).unwrap();
        let expected = digest(&mut reference);
        assert_eq!(expected, digest(&mut *fast), "{spec}");
        assert_eq!(reference.details(), fast.details(), "{spec}");
        let mut together = fast::build(&*topology, Params { message_classes: 1, ..params }, 1).unwrap();
        assert_ne!(expected, digest(&mut *together), "{spec}");
    }
}
