//! Strategies that draw networks and routers for property tests.

use fsin::router::{
    Arbitration, Consumption, GlobalCc, Inject, Injection, Interface, RouterParams, SourceQueue, Timeouts,
};
use fsin::routing::{Order, Routing};
use fsin::topology::Topology;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};

use crate::setup::Setup;

/// `cases` cases that are the same in every run, unless the variable `PROPTEST_RNG_SEED` names another seed;
/// `PROPTEST_CASES` is an upper bound on their number.
#[must_use]
pub fn fixed_cases(cases: u32) -> Config {
    let environment = Config::default();
    let rng_seed = match environment.rng_seed {
        RngSeed::Fixed(seed) => RngSeed::Fixed(seed),
        RngSeed::Random => RngSeed::Fixed(2017),
    };
    let bound = if std::env::var_os("PROPTEST_CASES").is_some() { environment.cases } else { u32::MAX };
    Config { cases: cases.min(bound), rng_seed, failure_persistence: None, ..environment }
}

/// Every routing for direct networks, but that of a table, which needs one.
#[must_use]
pub fn all_routings() -> Vec<Routing> {
    Routing::all().filter(|routing| !routing.is_for_switches() && !routing.is_of_table()).collect()
}

/// Those of them whose packets take minimal routes.
#[must_use]
pub fn minimal_routings() -> Vec<Routing> {
    all_routings().into_iter().filter(|routing| !routing.goes_round()).collect()
}

/// Every routing for this network of switches, with the least number of channels that it needs.
///
/// # Panics
/// When the specification is rejected.
#[must_use]
pub fn routings_of(switches: &str) -> Vec<(Routing, usize)> {
    let topology = fsin::topology::parse(switches, 2).unwrap_or_else(|refusal| panic!("{switches}: {refusal}"));
    let fits = |routing, vcs| RouterParams { routing, vcs, ..RouterParams::default() }.check(&*topology).is_ok();
    let least = |routing| (1..=12).find(|&vcs| fits(routing, vcs));
    let fitting = Routing::all().filter(|routing| routing.is_for_switches());
    fitting.filter_map(|routing| Some((routing, least(routing)?))).collect()
}

/// Small networks of switches that cover all special cases of each kind.
pub const SWITCHES: [&str; 24] = [
    "fattree:2,3",
    "fattree:4,2",
    "fattree:3,1",
    "thintree:3,2,2",
    "thintree:4,1,2",
    "slimtree:4,2,2",
    "slimtree:2,1,3",
    "slimtree:6,2,3",
    "dragonfly:p=1,a=2,h=1",
    "dragonfly:p=2,a=2,h=2,arrangement=relative",
    "dragonfly:p=1,a=3,h=2,arrangement=circulant",
    "dragonfly:p=2,a=3,h=2,g=3",
    "dragonfly:p=2,a=4,h=1,g=2,arrangement=circulant",
    "hyperx:3x3:2",
    "hyperx:2x4x2:1",
    "icube:4x3:2",
    "icube:2x1x3:1",
    "rrg:s=10,d=3,p=2",
    "rrg:s=9,d=4,p=1,seed=2",
    "cmesh:3x2:2",
    "star:5",
    "fly:2,3",
    "fly:3,2",
    "rail:k=2,of=(fattree:2,2)",
];

/// Runs on networks of switches, with all their routings.
pub fn switched_setups() -> impl Strategy<Value = Setup> {
    let patterns = prop::sample::select(vec!["uniform", "uniform", "hotspot(0.2,0)", "randperm"]);
    let fitting = SWITCHES.map(routings_of);
    (0..SWITCHES.len(), any::<prop::sample::Index>(), routers(), 0usize..=3, patterns, 0.0f64..=1.0).prop_map(
        move |(network, routing, params, more, pattern, load)| {
            let topology = SWITCHES[network];
            let routings = &fitting[network];
            let (routing, least) = routings[routing.index(routings.len())];
            let params = RouterParams {
                routing,
                vcs: least + more.min(6usize.saturating_sub(least)),
                order: Order::Dimension,
                injection: Injection::Shortest,
                lbr: 0,
                in_transit_priority: 0.0,
                alternatives: if routing == Routing::GraphShortest { more as u32 } else { 0 },
                ..params
            };
            let pattern = pattern.to_owned();
            Setup { params, topology: topology.to_owned(), ways: 2, pattern, load, faults: 0, paces: None }
        },
    )
}

/// The same router without what would have no effect: timeouts that turn nothing on, and a period of global control that
/// the watchdog does not live to see.
#[must_use]
pub fn effective(mut params: RouterParams) -> RouterParams {
    if params.lbr == 0 && params.in_transit_priority <= 0.0 {
        params.timeouts = None;
    }
    if let Some(control) = &mut params.global_cc {
        control.period = control.period.min(params.watchdog_cycles - 1);
    }
    params
}

/// The same router, adapted as far as necessary to this topology, with `more` virtual channels above the minimum if the
/// routing accepts them.
#[must_use]
pub fn fitted(mut params: RouterParams, topology: &dyn Topology, more: usize) -> RouterParams {
    let (shape, routing) = (topology.shape(), params.routing);
    let suits = |routing: &Routing| routing.serves(&topology.spec()) && routing.takes_dimensions(shape.dimensions);
    // Another one of the same property, as far as there is one.
    let others = || Routing::all().filter(suits).filter(|routing| !routing.is_of_table());
    let alike = || others().find(|other| other.orders_by_channel() == routing.orders_by_channel());
    // Routes for any network need links both ways, and the shortest ones a channel for each hop.
    let passes = |&vcs: &usize| RouterParams { routing, vcs, ..RouterParams::default() }.check(topology).is_ok();
    let round = if routing.goes_round() { (1..=6).find(passes) } else { Some(routing.min_vcs(shape.dimensions)) };
    params.routing = match suits(&routing) && round.is_some() {
        true => routing,
        false => alike().or_else(|| others().next()).expect("every topology has one"),
    };
    let least = match round {
        Some(least) if params.routing == routing => least,
        _ => params.routing.min_vcs(shape.dimensions),
    };
    params.vcs =
        (least..=least + more).rev().find(|&vcs| params.routing.takes_vcs(shape.dimensions, vcs)).unwrap_or(least);
    if params.routing.orders_by_channel() {
        params.order = Order::Dimension;
    }
    if params.link_delays.len() > 1 {
        let kinds = topology.link_classes().len();
        params.link_delays = params.link_delays.iter().copied().cycle().take(kinds.max(1)).collect();
    }
    if params.injection != Injection::Shortest {
        params.injectors = params.injectors.max(shape.ports());
    }
    if params.interface == Interface::PerPort && topology.switched().is_none() {
        (params.injectors, params.injection) = (shape.ports(), Injection::Dor);
    }
    effective(params)
}

/// Topologies and directions of 2 to `most` nodes: half of them grids, half all others.
pub fn networks(most: usize) -> impl Strategy<Value = (String, usize)> {
    prop_oneof![grids(most), others(most)]
}

/// Topologies that are neither tori nor meshes, of 2 to `most` nodes.
pub fn others(most: usize) -> impl Strategy<Value = (String, usize)> {
    let size = most as u32;
    let pair = (1u32..=8, 1u32..=8).prop_filter("2 nodes to `most`", move |(x, y)| (2..=size).contains(&(x * y)));
    let triple = (1u32..=4, 1u32..=4, 1u32..=4)
        .prop_filter("2 nodes to `most`", move |(x, y, z)| (2..=size).contains(&(x * y * z)));
    let kinds = prop_oneof![
        (pair.clone(), 0u32..=7).prop_map(|((x, y), skew)| format!("twisted:{x}x{y}:{}", skew % (x + 1))),
        (triple, 0u32..=3, 0u32..=3).prop_map(|((x, y, z), a, b)| format!(
            "twisted:{x}x{y}x{z}:yx={},zy={}",
            a % (x + 1),
            b % (y + 1)
        )),
        pair.prop_map(|(x, y)| format!("spinnaker:{x}x{y}")),
        (2..=size).prop_map(|nodes| format!("midimew:{nodes}")),
        (4..=size, 1u32..=9).prop_map(|(nodes, jump)| match 1 + jump % (nodes / 2) {
            1 => format!("circulant:{nodes}:1"),
            jump => format!("circulant:{nodes}:{jump},1"),
        }),
        (2..=size / 2).prop_map(|half| format!("spidergon:{}", 2 * half)),
        prop::sample::select(vec![
            "hypercube:1",
            "hypercube:3",
            "hypercube:4",
            "circpk:3^2",
            "circpk:2^4",
            "circpk:5^1"
        ])
        .prop_map(str::to_owned),
    ];
    (kinds, 1usize..=2)
}

/// Tori and meshes of 1 to 4 dimensions, tori with one-way links too, of 2 to `most` nodes.
pub fn grids(most: usize) -> impl Strategy<Value = (String, usize)> {
    let sizes = (1usize..=4).prop_flat_map(move |dimensions| {
        let longest = [most, 12, 6, 4][dimensions - 1];
        prop::collection::vec(1..=longest, dimensions)
    });
    let kind = prop_oneof![Just(("torus", 2)), Just(("mesh", 2)), Just(("torus", 1))];
    (sizes, kind)
        .prop_filter("2 nodes to `most`", move |(sizes, _)| (2..=most).contains(&sizes.iter().product::<usize>()))
        .prop_map(|(sizes, (name, ways))| {
            let sizes: Vec<String> = sizes.iter().map(usize::to_string).collect();
            (format!("{name}:{}", sizes.join("x")), ways)
        })
}

/// Routers with every setting drawn, to be [`fitted`] to a topology. Bubbles start at 0, so that networks may deadlock.
pub fn routers() -> impl Strategy<Value = RouterParams> {
    let channels = (prop::sample::select(all_routings()), 0usize..=3);
    let queues = (2u32..=8).prop_flat_map(|queue| (Just(queue), 1u32..=4, 0..=queue, 0..=queue));
    let lengths = prop::sample::select(vec![1u32, 2, 3, 4, 8, 16]);
    let rules = (
        prop::sample::select(vec![Order::Dimension, Order::Direction]),
        prop::sample::select(vec![Inject::Parallel, Inject::Serial]),
        prop::sample::select(vec![Consumption::Multiple, Consumption::SINGLE]),
        prop::sample::select(vec![SourceQueue::Throttled, SourceQueue::Open]),
        prop::sample::select(vec![0.0, 0.5, 1.0]),
    );
    let choices = (
        prop_oneof![
            Just(Arbitration::RoundRobin),
            prop::sample::select(Arbitration::ALL.map(|(_, mode)| mode).to_vec())
        ],
        prop_oneof![Just(Injection::Shortest), prop::sample::select(Injection::ALL.map(|(_, mode)| mode).to_vec())],
    );
    (channels, queues, lengths, 1usize..=4, rules, choices, any::<u64>()).prop_map(
        |((routing, more), (queue, buffer, bubble, lbr), packet_phits, injectors, rules, choices, seed)| {
            let (arbitration, injection) = choices;
            let (order, inject, consumption, source_queue, in_transit_priority) = rules;
            RouterParams {
                routing,
                order,
                vcs: routing.min_vcs(1) + more,
                arbitration,
                injection,
                packet_phits,
                queue_packets: queue,
                injection_queue_packets: buffer,
                injectors,
                inject,
                consumption,
                bubble,
                lbr,
                in_transit_priority,
                source_queue,
                seed,
                ..RouterParams::default()
            }
        },
    )
}

/// Interfaces with several messages in progress.
pub fn interfaces() -> impl Strategy<Value = Interface> {
    prop_oneof![(1u32..=9).prop_map(Interface::Interleaved), Just(Interface::PerPort)]
}

/// The same routers with all kinds of interfaces, and with several ports of ejection; half of them serial.
pub fn interfaced(routers: impl Strategy<Value = RouterParams>) -> impl Strategy<Value = RouterParams> {
    let ports = prop_oneof![3 => Just(None), 1 => (2u32..=4).prop_map(Some)];
    (routers, prop_oneof![Just(Interface::Serial), interfaces()], ports).prop_map(|(params, interface, ports)| {
        RouterParams { interface, consumption: ports.map_or(params.consumption, Consumption::Ports), ..params }
    })
}

/// The same routers with delays of links and routers, and with congestion control; half of them without either.
pub fn controlled(routers: impl Strategy<Value = RouterParams>) -> impl Strategy<Value = RouterParams> {
    let delays = prop_oneof![
        Just((Vec::new(), 0)),
        (prop::collection::vec(0u32..=40, 1..=4), prop::sample::select(vec![0u32, 0, 1, 7])),
    ];
    let global = (0u32..=100, prop::sample::select(vec![0u64, 1, 37]));
    let global = global.prop_map(|(percent, period)| GlobalCc { percent: f64::from(percent) / 4.0, period });
    let timeouts = (0u64..=60, 0u64..=60).prop_map(|(upper, lower)| Timeouts { upper, lower: lower.min(upper) });
    (routers, delays, prop::option::of(global), prop::option::of(timeouts)).prop_map(
        |(params, (link_delays, router_delay), global_cc, timeouts)| RouterParams {
            link_delays,
            router_delay,
            global_cc,
            timeouts,
            ..params
        },
    )
}

/// Runs of uniform traffic from no load to full load, on networks of at most `most` nodes.
pub fn setups(most: usize) -> impl Strategy<Value = Setup> {
    (networks(most), routers(), 0usize..=3, 0u32..=20).prop_map(|((topology, ways), params, more, load)| {
        let shape = fsin::topology::parse(&topology, ways).expect("networks can be built");
        Setup {
            params: fitted(params, &*shape, more),
            topology,
            ways,
            pattern: "uniform".to_owned(),
            load: f64::from(load) / 20.0,
            faults: 0,
            paces: None,
        }
    })
}
