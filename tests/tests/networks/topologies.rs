//! Topologies compared with formulas and breadth-first search; routings checked for cyclic channel dependencies.

use std::collections::HashSet;

use fsin::router::RouterParams;
use fsin::router::layout::AnySize;
use fsin::router::request::{Head, Input, OutputState, OutputVc, RouteRules};
use fsin::routing::Order;
use fsin::topology::{self, Port, Survey, Topology};
use proptest::prelude::*;
use tests::setup::checked;
use tests::strategies::{fitted, fixed_cases, minimal_routings, networks};
use tests::waits::is_acyclic;
use trgen::NodeId;

fn build(spec: &str, ways: usize) -> Box<dyn Topology> {
    topology::parse(spec, ways).unwrap_or_else(|refusal| panic!("{spec}: {refusal}"))
}

/// \[hops\] Distances from `start` to every node, by breadth-first search over links.
fn distances(topology: &dyn Topology, start: usize) -> Vec<u32> {
    let mut distances = vec![u32::MAX; topology.nodes()];
    distances[start] = 0;
    let mut reached = vec![start];
    let mut next = 0;
    while next < reached.len() {
        let here = reached[next];
        next += 1;
        for port in 0..topology.shape().ports() {
            if let Some(there) = topology.neighbour(NodeId::at(here), Port::at(port))
                && distances[there.index()] == u32::MAX
            {
                distances[there.index()] = distances[here] + 1;
                reached.push(there.index());
            }
        }
    }
    distances
}

/// The end of a route, dimension by dimension, or in the opposite order; `None` if a link is missing.
fn walk(topology: &dyn Topology, from: NodeId, route: &[i16], backwards: bool) -> Option<NodeId> {
    let shape = topology.shape();
    let mut dimensions: Vec<usize> = (0..shape.dimensions).collect();
    if backwards {
        dimensions.reverse();
    }
    let mut at = from;
    for dimension in dimensions {
        for _ in 0..route[dimension].unsigned_abs() {
            at = topology.neighbour(at, shape.port(dimension, route[dimension] > 0))?;
        }
    }
    Some(at)
}

proptest! {
    #![proptest_config(fixed_cases(96))]

    /// Whatever is drawn, a route has as many hops as breadth-first search finds, and reaches its end in any order of
    /// dimensions. With bidirectional links, neighbours are mutual. A survey counts what the search finds.
    #[test]
    fn routes_are_shortest((spec, ways) in networks(120), draws in any::<u64>()) {
        let topology = build(&spec, ways);
        let shape = topology.shape();
        let mut longest = 0;
        for from in 0..topology.nodes() {
            let distances = distances(&*topology, from);
            for (to, &distance) in distances.iter().enumerate() {
                let mut bits = draws ^ (from * 31 + to) as u64;
                let route = topology.offsets(NodeId::at(from), NodeId::at(to), &mut |_| {
                    bits = bits.rotate_left(7).wrapping_mul(0x9E37_79B9_7F4A_7C15);
                    bits >> 63 == 0
                });
                let hops: u32 = route.iter().map(|hops| u32::from(hops.unsigned_abs())).sum();
                prop_assert_eq!(hops, distance, "{} from {} to {}", spec, from, to);
                longest = longest.max(hops);
                for backwards in [false, true] {
                    let end = walk(&*topology, NodeId::at(from), &route, backwards);
                    prop_assert_eq!(end, Some(NodeId::at(to)), "{} from {}", spec, from);
                }
            }
            for port in (0..shape.ports()).map(Port::at) {
                let (dimension, positive) = shape.direction(port);
                let Some(there) = topology.neighbour(NodeId::at(from), port) else { continue };
                let back = |positive| topology.neighbour(there, shape.port(dimension, positive));
                if shape.ways == 2 {
                    // A chord leads back by itself.
                    let mutual = back(!positive) == Some(NodeId::at(from)) || back(positive) == Some(NodeId::at(from));
                    prop_assert!(mutual, "{} {} {}", spec, from, there);
                }
            }
        }
        let survey = Survey::of(&*topology);
        prop_assert_eq!((survey.diameter, survey.nodes), (longest, topology.nodes()));
    }
}

/// Sum and maximum of distances from node 0, by a formula in the coordinates or the number of each node.
fn sum_of(nodes: u64, distance: impl Fn(u64) -> u64) -> (u64, u64) {
    (0..nodes).map(distance).fold((0, 0), |(sum, most), hops| (sum + hops, most.max(hops)))
}

#[test]
fn distances_are_those_of_the_closed_forms() {
    let mut expected: Vec<(String, usize, u64, u64)> = Vec::new();
    for n in 1..=9u32 {
        expected.push((format!("hypercube:{n}"), n as usize, u64::from(n) << (n - 1), n.into()));
    }
    for half in [2u64, 3, 4, 5, 8, 33, 128] {
        // Along the ring, or across a chord and then along the ring; a diameter of ceil(N / 4).
        let (sum, most) = sum_of(2 * half, |d| d.min(2 * half - d).min(1 + d.abs_diff(half)));
        assert_eq!(most, (2 * half).div_ceil(4));
        expected.push((format!("spidergon:{}", 2 * half), 3, sum, most));
    }
    for nodes in (6u64..200).chain([500, 613, 1000]) {
        // At most 4 d nodes at distance d: nearest are 1, 4, 8, ... until none is left.
        let most = (1..).find(|&d: &u64| 2 * d * d + 2 * d + 1 >= nodes).unwrap();
        let sum = (1..most).map(|d| 4 * d * d).sum::<u64>() + most * (nodes - (2 * (most - 1) * most + 1));
        let formula = (((2 * nodes - 1) as f64).sqrt() - 1.0) / 2.0;
        assert_eq!(most, formula.ceil() as u64);
        expected.push((format!("midimew:{nodes}"), 4, sum, most));
    }
    for (p, k) in [(3u64, 1u32), (3, 2), (3, 5), (5, 3), (7, 2), (9, 3)] {
        // Digits between -(p-1)/2 and (p-1)/2, each the number of hops of its jump.
        let sum = p.pow(k) * u64::from(k) * (p * p - 1) / (4 * p);
        expected.push((format!("circpk:{p}^{k}"), 2 * k as usize, sum, u64::from(k) * (p - 1) / 2));
    }
    for (w, h) in [(3u64, 3u64), (4, 4), (7, 7), (12, 12), (9, 5), (20, 16)] {
        // Along the diagonal where both directions agree, around either edge.
        let (sum, most) = sum_of(w * h, |node| {
            let (x, y) = ((node % w) as i64, (node / w) as i64);
            let round = [(x, y), (x - w as i64, y), (x, y - h as i64), (x - w as i64, y - h as i64)];
            let hops = |(x, y): (i64, i64)| if (x < 0) == (y < 0) { x.abs().max(y.abs()) } else { x.abs() + y.abs() };
            round.into_iter().map(|at| hops(at) as u64).min().unwrap()
        });
        if w == h {
            assert_eq!(most, 2 * w / 3);
        }
        expected.push((format!("spinnaker:{w}x{h}"), 6, sum, most));
    }
    for (w, h, skew) in [(8i64, 4i64, 4i64), (16, 8, 8), (12, 6, 6), (7, 5, 3), (10, 3, 1), (9, 4, 0), (40, 20, 20)] {
        // The nearest of all images of a node.
        let (sum, most) = sum_of((w * h) as u64, |node| {
            let (x, y) = (node as i64 % w, node as i64 / w);
            let image = |across: i64, up: i64| (x + across * w + up * skew).abs() + (y - up * h).abs();
            (-9..=9).flat_map(|up| (-9..=9).map(move |across| image(across, up))).min().unwrap() as u64
        });
        if w == 2 * h && skew == h {
            assert_eq!(most, h as u64, "the diameter of a 2a x a torus twisted by a is a");
        }
        expected.push((format!("twisted:{w}x{h}:{skew}"), 4, sum, most));
    }
    for (spec, degree, sum, most) in expected {
        let survey = Survey::of(&*build(&spec, 2));
        assert_eq!((survey.degree_min, survey.degree_max), (degree, degree), "{spec}");
        assert_eq!(u64::from(survey.diameter), most, "{spec}");
        let mean = sum as f64 / (survey.nodes - 1) as f64;
        let found = survey.distance_mean.unwrap();
        assert!((found - mean).abs() < 1e-9, "{spec}: {found}, by the formula {mean}");
    }
}

/// Diameter, mean distance and, where the last dimension is the largest and even, bisection of grids, by the formulas
/// of `fsin explain`.
#[test]
fn grids_are_what_their_formulas_say() {
    for sizes in [vec![8u32, 8], vec![3, 4, 6], vec![7], vec![5, 5], vec![2, 3, 10], vec![16, 16], vec![2, 2, 2, 2]] {
        let nodes: u32 = sizes.iter().product();
        let words: Vec<String> = sizes.iter().map(u32::to_string).collect();
        let last = sizes[sizes.len() - 1];
        let splits = last % 2 == 0 && last > 2 && sizes.iter().all(|&size| size <= last);
        let share = f64::from(nodes) / f64::from(nodes - 1);
        let mean = |of: &dyn Fn(f64) -> f64| share * sizes.iter().map(|&k| of(f64::from(k))).sum::<f64>();
        let torus = (sizes.iter().map(|k| k / 2).sum::<u32>(), mean(&|k| (k * k / 4.0).floor() / k), 2 * nodes / last);
        let mesh = (sizes.iter().map(|k| k - 1).sum::<u32>(), mean(&|k| (k * k - 1.0) / (3.0 * k)), nodes / last);
        for (name, (diameter, mean, bisection)) in [("torus", torus), ("mesh", mesh)] {
            let spec = format!("{name}:{}", words.join("x"));
            let survey = Survey::of(&*build(&spec, 2));
            assert_eq!(survey.diameter, diameter, "{spec}");
            assert!((survey.distance_mean.unwrap() - mean).abs() < 1e-9, "{spec}");
            assert!(!splits || survey.middle_links == Some(bisection as usize), "{spec}: {:?}", survey.middle_links);
        }
    }
}

/// Rings, tori and meshes of every size up to a thousand nodes in one dimension, and of many in two to four.
#[test]
fn grids_of_every_size_are_what_their_formulas_say() {
    let mut all: Vec<Vec<u64>> = (2..=1_000).map(|k| vec![k]).collect();
    all.extend((1..=31).flat_map(|x| (2..=31).map(move |y| vec![x, y])));
    all.extend((1..=10).flat_map(|x| [1, 2, 5, 10].into_iter().flat_map(move |y| [2, 3, 10].map(|z| vec![x, y, z]))));
    all.extend([vec![5, 5, 5, 8], vec![2, 3, 4, 5], vec![1, 9, 1, 9], vec![2; 9]]);
    for sizes in all {
        let nodes: u64 = sizes.iter().product();
        let words: Vec<String> = sizes.iter().map(u64::to_string).collect();
        let degree = 2 * sizes.iter().filter(|&&k| k > 1).count();
        // Sums over all nodes of the hops in each dimension; a torus is the same from every node.
        let torus: u64 = sizes.iter().map(|k| k * k / 4 * (nodes / k)).sum();
        let one_way: u64 = sizes.iter().map(|k| k * (k - 1) / 2 * (nodes / k)).sum();
        for (ways, sum, diameter) in
            [(2, torus, sizes.iter().map(|k| k / 2).sum::<u64>()), (1, one_way, sizes.iter().map(|k| k - 1).sum())]
        {
            let spec = format!("torus:{}", words.join("x"));
            let survey = Survey::of(&*build(&spec, ways));
            assert_eq!((survey.degree_min, survey.degree_max), (degree * ways / 2, degree * ways / 2), "{spec}");
            assert_eq!(u64::from(survey.diameter), diameter, "{spec}, {ways} ways");
            let mean = sum as f64 / (nodes - 1) as f64;
            assert!((survey.distance_mean.unwrap() - mean).abs() < 1e-9, "{spec}, {ways} ways");
        }
        if nodes.is_multiple_of(37) || !(30..=990).contains(&nodes) {
            // Every node of a mesh is examined.
            let spec = format!("mesh:{}", words.join("x"));
            let survey = Survey::of(&*build(&spec, 2));
            let sum: u64 = sizes.iter().map(|k| k * (k * k - 1) / 3 * (nodes / k) * (nodes / k)).sum();
            let mean = sum as f64 / (nodes * (nodes - 1)) as f64;
            assert!((survey.distance_mean.unwrap() - mean).abs() < 1e-9, "{spec}");
            assert_eq!(u64::from(survey.diameter), sizes.iter().map(|k| k - 1).sum::<u64>(), "{spec}");
            let corner = sizes.iter().filter(|&&k| k > 1).count();
            let inner: usize = sizes.iter().map(|&k| (k - 1).min(2) as usize).sum();
            assert_eq!((survey.degree_min, survey.degree_max), (corner, inner), "{spec}");
        }
    }
}

/// Routes of direct networks of up to a thousand nodes are shortest ones, and links are mutual.
#[test]
fn routes_are_shortest_up_to_a_thousand_nodes() {
    for (spec, ways) in [
        ("torus:1000", 2),
        ("torus:31x32", 2),
        ("torus:10x10x10", 1),
        ("torus:5x5x5x8", 2),
        ("mesh:999", 2),
        ("mesh:31x32", 2),
        ("mesh:10x10x10", 2),
        ("twisted:40x20:20", 2),
        ("twisted:31x32:7", 2),
        ("twisted:10x10x10:yx=5,zx=3,zy=2", 2),
        ("hypercube:9", 2),
        ("circulant:1000:1,31", 2),
        ("circulant:997:1,60,300", 2),
        ("circulant:800:7,90", 1),
        ("midimew:1000", 2),
        ("midimew:613", 2),
        ("circpk:3^6", 2),
        ("circpk:10^3", 2),
        ("circpk:31^2", 2),
        ("spidergon:1000", 2),
        ("spidergon:998", 2),
        ("spinnaker:31x32", 2),
        ("spinnaker:24x24", 2),
    ] {
        let topology = build(spec, ways);
        let (nodes, shape) = (topology.nodes(), topology.shape());
        assert!((400..=1_000).contains(&nodes), "{spec}");
        for from in [0, nodes / 3, nodes - 1] {
            for (to, &distance) in distances(&*topology, from).iter().enumerate() {
                for positive in [false, true] {
                    let route = topology.offsets(NodeId::at(from), NodeId::at(to), &mut |_| positive);
                    let hops: u32 = route.iter().map(|hops| u32::from(hops.unsigned_abs())).sum();
                    assert_eq!(hops, distance, "{spec} from {from} to {to}");
                    assert_eq!(walk(&*topology, NodeId::at(from), &route, positive), Some(NodeId::at(to)), "{spec}");
                }
            }
        }
        let ports = || (0..shape.ports()).map(Port::at);
        for (node, port) in (0..nodes).flat_map(|node| ports().map(move |port| (NodeId::at(node), port))) {
            if let Some(there) = topology.neighbour(node, port).filter(|_| ways == 2) {
                assert!(ports().any(|back| topology.neighbour(there, back) == Some(node)), "{spec}");
            }
        }
    }
}

/// A twist of zero is a torus, with an equal digest.
#[test]
fn a_torus_twisted_by_nothing_is_a_torus() {
    let digest = |topology: &str| {
        let mut setup = tests::setup::Setup::new(topology, fsin::routing::Routing::BubbleSmart, 3);
        // An odd torus: no direction is drawn.
        setup.params.seed = 3;
        setup.fixed(2_000).digest
    };
    assert_eq!(digest("torus:7x5"), digest("twisted:7x5:0"));
    assert_eq!(digest("torus:3x3x5"), digest("twisted:3x3x5:yx=0"));
    assert_ne!(digest("torus:7x5"), digest("twisted:7x5:2"));
}

/// A node at which one channel of every link has room and no owner, and all others are full.
struct OneChannel(u8);

impl OutputState for OneChannel {
    fn fitting(&self, _: Port) -> u32 {
        1 << self.0
    }

    fn open(&self, port: Port) -> u32 {
        self.fitting(port)
    }

    fn packets_ahead(&self, output: OutputVc) -> u32 {
        u32::from(output.vc != self.0)
    }

    fn space_ahead(&self, output: OutputVc) -> Option<u32> {
        Some(u32::from(output.vc == self.0))
    }

    fn has_room(&self, _: OutputVc, _: u32) -> bool {
        true
    }

    fn restricts(&self) -> bool {
        true
    }
}

/// What a packet holds or waits for: a channel of a node, or with a bubble the ring to which it belongs.
type Held = (usize, OutputVc);

/// Every reachable pair (held, blocking) for packets of any source and destination, on any path that the routing
/// permits. The blocking channel is the last one that the packet waits for.
fn waits(topology: &dyn Topology, params: &RouterParams) -> HashSet<(Held, Held)> {
    let shape = topology.shape();
    let requests = RouteRules::new(&checked(params, topology), AnySize { shape, vcs: params.vcs }, topology);
    let name = |node: NodeId, output: OutputVc| {
        let mut ring = vec![node];
        while params.routing.uses_bubble()
            && let Some(next) = topology.neighbour(ring[ring.len() - 1], output.port)
            && next != node
        {
            ring.push(next);
        }
        (ring.iter().map(|node| node.index()).min().expect("a ring has nodes"), output)
    };
    let mut pairs = HashSet::new();
    let mut seen = HashSet::new();
    let mut states: Vec<(NodeId, NodeId, Option<OutputVc>, Vec<i16>)> = Vec::new();
    for pair in 0..topology.nodes().pow(2) {
        let (from, to) = (NodeId::at(pair / topology.nodes()), NodeId::at(pair % topology.nodes()));
        for positive in [true, false] {
            let offsets = topology.offsets(from, to, &mut |_| positive);
            states.push((from, from, None, offsets[..shape.dimensions].to_vec()));
        }
    }
    while let Some(state) = states.pop() {
        let (node, before, input, offsets) = &state;
        if offsets.iter().all(|&hops| hops == 0) || !seen.insert((*node, *input, offsets.clone())) {
            continue;
        }
        let head_input = input.map_or(Input::Injection, Input::Transit);
        let destination = NodeId(u32::MAX);
        let head = Head {
            node: *node,
            input: head_input,
            queue: input.map_or(shape.ports() * params.vcs, |input| input.index(params.vcs)),
            source: *node,
            destination,
            offsets,
            key: 1,
            now: 1,
            long: false,
        };
        let last = name(*node, requests.blocking_channel(&head).expect("it has hops to go"));
        if let Some(input) = *input {
            // The channel that it holds is that from the previous node.
            let held = name(*before, input);
            if held != last {
                pairs.insert((held, last));
            }
        }
        for vc in 0..params.vcs as u8 {
            let bets = if requests.keeps_bets() { shape.dimensions as u8 } else { 0 };
            let ask = |draw: u64| {
                let mut bet = draw as u8 % (bets + 1);
                requests.request(&Head { key: draw, now: draw, ..head }, &mut bet, &OneChannel(vc))
            };
            let mut keys = (0..48).filter_map(ask).collect::<Vec<_>>();
            keys.sort_unstable();
            keys.dedup();
            for output in keys {
                let (dimension, positive) = shape.direction(output.port);
                let mut rest = offsets.clone();
                rest[dimension] -= if positive { 1 } else { -1 };
                let next = topology.neighbour(*node, output.port).expect("a route follows links");
                states.push((next, *node, Some(output), rest));
            }
        }
    }
    pairs
}

/// The blocking channels of packets (with a bubble: rings) have acyclic dependencies: no deadlock is possible.
#[test]
fn no_routing_waits_in_a_circle() {
    for (spec, ways) in [
        ("torus:5x4", 2),
        ("torus:4x5", 1),
        ("torus:4x3x3", 2),
        ("mesh:4x3", 2),
        ("torus:6", 2),
        ("twisted:6x3:3", 2),
        ("twisted:3x3x3:yx=1,zy=2", 2),
        ("hypercube:4", 2),
        ("circulant:20:3,4", 2),
        ("midimew:17", 2),
        ("circpk:3^3", 2),
        ("spidergon:14", 2),
        ("spinnaker:5x4", 2),
    ] {
        let topology = build(spec, ways);
        for routing in minimal_routings() {
            for order in [Order::Dimension, Order::Direction] {
                let params = fitted(RouterParams { routing, order, ..RouterParams::default() }, &*topology, 0);
                let pairs = waits(&*topology, &params);
                assert!(is_acyclic(&pairs), "{spec} {} {order:?}", params.routing.name());
                assert!(topology.shape().dimensions == 1 || !pairs.is_empty(), "{spec} {}", params.routing.name());
            }
        }
    }
}

/// The search finds a cycle where there is one: a ring without bubble or dateline.
#[test]
fn a_bare_ring_waits_in_a_circle() {
    let topology = build("torus:5", 1);
    let params = RouterParams { vcs: 1, routing: fsin::routing::Routing::BubbleOblivious, ..RouterParams::default() };
    assert!(is_acyclic(&waits(&*topology, &params)), "with a bubble the ring is one");
    let vc = OutputVc { port: Port(0), vc: 0 };
    let bare = (0..5).map(|node| ((node, vc), ((node + 1) % 5, vc))).collect();
    assert!(!is_acyclic(&bare));
}
