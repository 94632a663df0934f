//! Networks of switches: their structure, the paths of their routings, and freedom from deadlock.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::AtomicBool;

use fsin::couple::Coupled;
use fsin::engine::fast;
use fsin::engine::reference::Reference;
use fsin::network::Network;
use fsin::router::RouterParams;
use fsin::router::request::{Input, OutputVc};
use fsin::routing::Routing;
use fsin::routing::switched::{RoutingFunction, Visit};
use fsin::run::fixed;
use fsin::topology::{self, Faults, Port, Survey, Switched, Topology};
use tests::setup::{Setup, checked};
use tests::strategies::{SWITCHES, routings_of};
use tests::waits::is_acyclic;
use trgen::NodeId;
use trgen::catalog::SpecError;

fn build(spec: &str) -> Box<dyn Topology> {
    topology::parse(spec, 2).unwrap_or_else(|refusal| panic!("{spec}: {refusal}: {}", refusal.remedy()))
}

/// The network with this many dead links.
fn torn(spec: &str, count: usize, seed: u64) -> Result<Box<dyn Topology>, SpecError> {
    topology::parse_with_faults(spec, 2, &Faults { count, one_way: false, seed })
}

fn function(topology: &dyn Topology, routing: Routing, vcs: usize) -> RoutingFunction {
    let params = RouterParams { routing, vcs, ..RouterParams::default() };
    RoutingFunction::new(&params, network(topology)).expect("the routing is one of this network's")
}

fn network(topology: &dyn Topology) -> &Switched {
    topology.switched().expect("it is a network of switches")
}

fn ports(topology: &dyn Topology) -> impl Iterator<Item = Port> + use<> {
    (0..topology.shape().ports()).map(Port::at)
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
        for there in ports(topology).filter_map(|port| topology.neighbour(NodeId::at(here), port)) {
            if distances[there.index()] == u32::MAX {
                distances[there.index()] = distances[here] + 1;
                reached.push(there.index());
            }
        }
    }
    distances
}

/// Links are bidirectional but in butterflies, no two that enter a node have the same port number, and endpoints have one
/// link, to a switch.
#[test]
fn links_are_mutual_and_ports_are_those_of_their_other_ends() {
    for spec in SWITCHES.into_iter().chain(["fattree:5,3", "dragonfly:p=2,a=5,h=3", "hyperx:5x4:3", "rrg:s=50,d=7,p=3"])
    {
        let topology = build(spec);
        let mut entered = HashSet::new();
        let mut links: HashMap<(NodeId, NodeId), i64> = HashMap::new();
        for node in (0..topology.nodes()).map(NodeId::at) {
            let mut degree = 0;
            for port in ports(&*topology) {
                let Some(there) = topology.neighbour(node, port) else { continue };
                degree += 1;
                assert!(entered.insert((there, port)), "{spec}: two links enter {there} by port {}", port.0);
                *links.entry((node.min(there), node.max(there))).or_default() += if node < there { 1 } else { -1 };
                assert_ne!(node, there);
            }
            if node.index() < topology.endpoints() {
                assert_eq!(degree, 1, "{spec}");
            }
        }
        let leads_back = links.values().all(|&both| both == 0);
        assert_eq!(leads_back, !spec.starts_with("fly:"), "{spec}");
        assert!(distances(&*topology, 0).iter().all(|&hops| hops < u32::MAX), "{spec}");
    }
}

/// Sizes, degrees, diameters, mean distances and cuts, by formulas.
#[test]
fn networks_are_what_their_formulas_say() {
    type Expected = (String, (usize, usize), usize, u32, f64, usize);
    let mut expected: Vec<Expected> = Vec::new();
    for (k, n) in [(2u32, 2u32), (2, 4), (3, 3), (4, 3), (5, 2), (8, 2), (10, 3)] {
        let nodes = k.pow(n);
        // k^l - k^(l-1) endpoints are 2 l hops away.
        let sum: u32 = (1..=n).map(|l| 2 * l * (k.pow(l) - k.pow(l - 1))).sum();
        let sizes = (nodes as usize, (n * k.pow(n - 1)) as usize);
        let half = (nodes / 2) as usize;
        expected.push((
            format!("fattree:{k},{n}"),
            sizes,
            2 * k as usize,
            2 * n,
            f64::from(sum) / f64::from(nodes - 1),
            half,
        ));
    }
    for (k, up, n) in [(4u32, 2u32, 3u32), (4, 2, 2), (6, 3, 2), (2, 1, 4)] {
        let nodes = k.pow(n);
        let sum: u32 = (1..=n).map(|l| 2 * l * (k.pow(l) - k.pow(l - 1))).sum();
        let switches: u32 = (0..n).map(|l| up.pow(l) * k.pow(n - 1 - l)).sum();
        // Half of the subtrees are connected with the others only at the top.
        let cut = (k / 2 * up.pow(n - 1)) as usize;
        let sizes = (nodes as usize, switches as usize);
        let degree = (k + up) as usize;
        expected.push((
            format!("thintree:{k},{up},{n}"),
            sizes,
            degree,
            2 * n,
            f64::from(sum) / f64::from(nodes - 1),
            cut,
        ));
    }
    for (sizes, p) in [(vec![4u32, 4], 4u32), (vec![2, 3, 4], 1), (vec![6], 3), (vec![5, 5], 2)] {
        let switches: u32 = sizes.iter().product();
        let n = sizes.len() as u32;
        // A dimension of size s is crossed by (s - 1) / s of all pairs of switches.
        let crossed: f64 = sizes.iter().map(|&s| f64::from(s - 1) / f64::from(s)).sum();
        let pairs = f64::from(switches * p);
        let mean = (pairs * pairs * (2.0 + crossed) - 2.0 * pairs) / (pairs * (pairs - 1.0));
        let degree = (p + sizes.iter().map(|s| s - 1).sum::<u32>()) as usize;
        let last = sizes[sizes.len() - 1];
        let cut = if last % 2 == 0 {
            (switches / last * (last / 2) * (last / 2)).min(switches * p / 2) as usize
        } else {
            usize::MAX
        };
        let name = sizes.iter().map(u32::to_string).collect::<Vec<_>>().join("x");
        expected.push((
            format!("hyperx:{name}:{p}"),
            ((switches * p) as usize, switches as usize),
            degree,
            n + 2,
            mean,
            cut,
        ));
    }
    for (spec, (nodes, switches), degree, diameter, mean, cut) in expected {
        let survey = Survey::of(&*build(&spec));
        assert_eq!((survey.nodes, survey.switches), (nodes, switches), "{spec}");
        assert_eq!((survey.degree_max, survey.diameter), (degree, diameter), "{spec}");
        let found = survey.distance_mean.unwrap();
        assert!((found - mean).abs() < 1e-9, "{spec}: {found}, by the formula {mean}");
        assert!(
            cut == usize::MAX || survey.middle_links == Some(cut),
            "{spec}: {:?} links, by the formula {cut}",
            survey.middle_links
        );
    }
    for (p, a, h) in [(1usize, 2usize, 1usize), (2, 4, 2), (2, 3, 3), (4, 8, 4)] {
        for arrangement in ["absolute", "relative", "circulant"] {
            let survey = Survey::of(&*build(&format!("dragonfly:p={p},a={a},h={h},arrangement={arrangement}")));
            let groups = a * h + 1;
            assert_eq!((survey.nodes, survey.switches), (groups * a * p, groups * a));
            assert_eq!((survey.degree_min, survey.degree_max), (p + a - 1 + h, p + a - 1 + h));
            assert!(survey.diameter <= 5);
            assert_eq!(survey.links, 2 * groups * a * p + groups * a * (a - 1) + groups * a * h);
        }
    }
}

/// Follows routes from every `step`-th endpoint to every other; returns whether all paths were shortest ones, and their
/// total number of hops.
fn follow(topology: &dyn Topology, function: &RoutingFunction, step: usize) -> (bool, u64) {
    let spec = topology.spec();
    let (mut is_minimal, mut sum) = (true, 0);
    for from in (0..topology.endpoints()).step_by(step) {
        let shortest = distances(topology, from);
        for to in (0..topology.endpoints()).filter(|&to| to != from) {
            for key in 0..6u64 {
                let (mut node, destination) = (NodeId::at(from), NodeId::at(to));
                let (mut state, mut hops) = ([0i16; 2], 0);
                let mut input = Input::Injection;
                while node != destination {
                    let mut ways = Vec::new();
                    let visit = Visit { node, input, source: NodeId::at(from), destination, key, state: &state };
                    function.candidates(&visit, |way| ways.push(way));
                    assert!(!ways.is_empty() && ways.iter().all(|way| way.vcs != 0), "{spec} from {from} to {to}");
                    // Deterministic choice among the candidates, by key; a packet with adaptive routing could take any.
                    let way = ways[(key as usize * 7 + hops) % ways.len()];
                    let port = way.port;
                    input = Input::Transit(OutputVc { port, vc: way.vcs.trailing_zeros() as u8 });
                    function.hop(node, destination, key, port, &mut state);
                    node = topology.neighbour(node, port).expect("ways follow links");
                    hops += 1;
                    assert!(hops <= 40, "{spec} from {from} to {to} goes round and round");
                }
                is_minimal &= hops as u32 == shortest[to];
                sum += hops as u64;
            }
        }
    }
    (is_minimal, sum)
}

/// A packet arrives whatever candidates it takes; with routings that claim so, on a shortest path.
#[test]
fn every_way_leads_there() {
    for spec in SWITCHES {
        let topology = build(spec);
        for (routing, vcs) in routings_of(spec) {
            let (shortest, _) = follow(&*topology, &function(&*topology, routing, vcs), 1);
            assert!(shortest || goes_round(routing), "{spec} {routing:?}");
        }
    }
}

/// True if a routing is not minimal. In dragonflies the minimal ones are so among those with one link between groups.
fn goes_round(routing: Routing) -> bool {
    routing.name() == "booksim-min"
        || matches!(
            routing,
            Routing::DragonflyMinimal
                | Routing::DragonflyValiant
                | Routing::DragonflyUgal
                | Routing::HyperxAdaptive
                | Routing::HyperxValiant
                | Routing::HyperxUgal
                | Routing::GraphUpDown
        )
}

/// The same in networks of up to a thousand nodes.
#[test]
fn ways_are_shortest_up_to_a_thousand_nodes() {
    for spec in [
        "fattree:4,4",
        "fattree:9,3",
        "thintree:6,3,3",
        "slimtree:9,3,3",
        "slimtree:16,8,3",
        "hyperx:4x4x4:8",
        "hyperx:9x9:9",
        "icube:12x12:4",
        "icube:5x5x5:6",
        "icube:31:30",
        "dragonfly:p=3,a=6,h=3",
        "rrg:s=180,d=8,p=4",
    ] {
        let topology = build(spec);
        assert!((200..=1_000).contains(&topology.endpoints()), "{spec}");
        for (routing, vcs) in routings_of(spec) {
            if !goes_round(routing) {
                let step = topology.endpoints() / 3;
                assert!(follow(&*topology, &function(&*topology, routing, vcs), step).0, "{spec} {routing:?}");
            }
        }
    }
}

/// Slim trees of eight sizes: endpoints, switches, links, distances, by the formulas of their definition. Up link p of
/// switch r leads to switch k' floor(r / k) + p of the next level.
#[test]
fn l4_slim_trees_are_what_their_definition_says() {
    for (k, up, n) in [(4u32, 2u32, 2u32), (4, 2, 3), (6, 3, 2), (9, 3, 2), (9, 3, 3), (6, 2, 4), (5, 1, 3), (10, 5, 3)]
    {
        let spec = format!("slimtree:{k},{up},{n}");
        let topology = build(&spec);
        let ratio = k / up;
        let endpoints = ratio.pow(n) * up * up;
        let by_level: Vec<u32> = (0..n).map(|level| up * ratio.pow(n - 1 - level)).collect();
        let switches: u32 = by_level.iter().sum();
        let survey = Survey::of(&*topology);
        assert_eq!((survey.nodes, survey.switches), (endpoints as usize, switches as usize), "{spec}");
        // Links both ways: of endpoints, and up from all switches but those at the top.
        let links = endpoints + (switches - up) * up;
        assert_eq!(survey.links, 2 * links as usize, "{spec}");
        let mut expected: Vec<(u32, u32)> = (0..endpoints).map(|end| (end, endpoints + end / k)).collect();
        let mut first = endpoints;
        for (level, &count) in by_level.iter().enumerate().take(n as usize - 1) {
            assert_eq!(count * up, by_level[level + 1] * k, "{spec}");
            let next = first + count;
            expected.extend((0..count).flat_map(|r| (0..up).map(move |p| (first + r, next + up * (r / k) + p))));
            first = next;
        }
        let links = |node: u32| ports(&*topology).map(move |port| (NodeId(node), port));
        let mut found: Vec<(u32, u32)> = (0..topology.nodes() as u32)
            .flat_map(links)
            .filter_map(|(node, port)| Some((node.0, topology.neighbour(node, port)?.0)))
            .filter(|(node, there)| node < there)
            .collect();
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected, "{spec}");
        // k endpoints at a switch, k k below the next level, k / k' times as many at each further one.
        let below = |level: u32| match level {
            0 | 1 => k.pow(level),
            _ => k * k * ratio.pow(level - 2),
        };
        let hops = |from: u32, to: u32| 2 * (0..=n).find(|&level| from / below(level) == to / below(level)).unwrap();
        for from in 0..endpoints {
            let found = &distances(&*topology, from as usize)[..endpoints as usize];
            assert!(found.iter().enumerate().all(|(to, &far)| far == hops(from, to as u32)), "{spec} from {from}");
        }
    }
    for (spec, what) in [("slimtree:5,2,3", "no multiple"), ("slimtree:4,2,1", "without a link")] {
        assert!(topology::parse(spec, 2).unwrap_err().to_string().contains(what), "{spec}");
    }
}

/// Indirect cubes are tori of switches with two more hops; random graphs are regular, and respect Moore's bound;
/// minimal routing in a dragonfly takes as many hops as its plan says.
#[test]
fn cubes_random_graphs_and_dragonflies_are_what_their_formulas_say() {
    for (sizes, p) in [
        (vec![4u32, 4], 2u32),
        (vec![5, 3, 4], 3),
        (vec![12, 12], 4),
        (vec![31], 30),
        (vec![9, 1, 6], 1),
        (vec![4, 1], 2),
        (vec![1], 3),
        (vec![1, 1], 2),
    ] {
        let switches: u32 = sizes.iter().product();
        let nodes = switches * p;
        let torus: u32 = sizes.iter().map(|k| k * k / 4 * (switches / k)).sum();
        let words: Vec<String> = sizes.iter().map(u32::to_string).collect();
        let spec = format!("icube:{}:{p}", words.join("x"));
        let survey = Survey::of(&*build(&spec));
        assert_eq!((survey.nodes, survey.switches), (nodes as usize, switches as usize), "{spec}");
        let degree = p + 2 * sizes.iter().filter(|&&k| k > 1).count() as u32;
        assert_eq!((survey.degree_min, survey.degree_max), (degree as usize, degree as usize), "{spec}");
        assert_eq!(survey.diameter, 2 + sizes.iter().map(|k| k / 2).sum::<u32>(), "{spec}");
        let mean = 2.0 + f64::from(p * torus) / f64::from(nodes - 1);
        assert!((survey.distance_mean.unwrap() - mean).abs() < 1e-9, "{spec}");
    }
    for (s, d, p) in [(10usize, 3usize, 2usize), (60, 5, 3), (180, 8, 4), (500, 4, 2)] {
        let spec = format!("rrg:s={s},d={d},p={p}");
        let survey = Survey::of(&*build(&spec));
        assert_eq!((survey.nodes, survey.switches), (s * p, s), "{spec}");
        assert_eq!((survey.degree_min, survey.degree_max), (d + p, d + p), "{spec}");
        assert_eq!(survey.links, 2 * s * p + s * d, "{spec}");
        // At most d (d - 1)^(i - 1) switches i hops away.
        let (mut left, mut ring, mut bound) = (s - 1, d, 0);
        for hops in 1.. {
            let there = ring.min(left);
            bound += hops * there;
            (left, ring) = (left - there, ring * (d - 1));
            if left == 0 {
                assert!(survey.diameter as usize >= hops + 2, "{spec}");
                break;
            }
        }
        let mean = 2.0 + (bound * p) as f64 / (s * p - 1) as f64;
        let found = survey.distance_mean.unwrap();
        assert!((mean..1.25 * mean).contains(&found), "{spec}: {found}, the bound is {mean}");
    }
    for (p, a, h) in [(1u64, 2u64, 1u64), (2, 4, 2), (3, 6, 3)] {
        for arrangement in ["absolute", "relative", "circulant"] {
            let topology = build(&format!("dragonfly:p={p},a={a},h={h},arrangement={arrangement}"));
            let (minimal, groups) = (function(&*topology, Routing::DragonflyMinimal, 2), a * h + 1);
            let (_, sum) = follow(&*topology, &minimal, 1);
            // Six packets of each pair. Within a group: zero or one hop between switches; to each other group, from any
            // switch to any, one hop, and one more on each side unless the switch is the gateway.
            let switches = groups * a;
            let between = switches * (a - 1) + switches * (groups - 1) * (a + 2 * (a - 1));
            let pairs = switches * p * (switches * p - 1);
            assert_eq!(sum, 6 * (2 * pairs + p * p * between), "p={p} a={a} h={h} {arrangement}");
        }
    }
}

/// Table-based routings respect dead links: packets arrive, there is no cyclic wait, and both engines agree.
#[test]
fn routings_by_tables_go_round_dead_links() {
    for (spec, faults) in [
        ("fattree:4,2", 5),
        ("hyperx:3x3:2", 4),
        ("dragonfly:p=2,a=4,h=2", 12),
        ("dragonfly:p=2,a=4,h=1,g=2", 3),
        ("rrg:s=10,d=4,p=2", 6),
    ] {
        let damage = || torn(spec, faults, 3).unwrap_or_else(|refusal| panic!("{refusal}"));
        let (whole, damaged) = (build(spec), damage());
        let links = |topology: &dyn Topology| Survey::of(topology).links;
        assert_eq!(links(&*whole) - links(&*damaged), 2 * faults, "{spec}");
        for routing in [Routing::GraphShortest, Routing::GraphUpDown] {
            let params = |vcs| RouterParams { routing, vcs, ..RouterParams::default() };
            let vcs = (1..=12).find(|&vcs| params(vcs).check(&*damaged).is_ok()).expect("paths are short");
            let function = function(&*damaged, routing, vcs);
            assert!(follow(&*damaged, &function, 1).0 || routing == Routing::GraphUpDown, "{spec}");
            assert!(is_acyclic(&waits(&*damaged, &function)), "{spec} {routing:?}");
            let source = || Setup::new(spec, routing, vcs).load(1.0).source();
            let run = |network: &mut dyn Network| {
                let stop = AtomicBool::new(false);
                fixed(&mut Coupled::new(&mut source(), network, &stop), 2_000, &mut |_| {})
            };
            let router = checked(&params(vcs), &*damaged);
            let fast = run(&mut *fast::build(damage(), router.clone(), 1).expect("few ports"));
            let reference = run(&mut Reference::new(damage(), router));
            assert!(fast.totals.received > 200, "{spec} {routing:?}");
            assert_eq!(fast, reference, "{spec} {routing:?}");
        }
    }
}

/// Impossible faults are rejected, and so are those that a routing cannot avoid.
#[test]
fn faults_that_cannot_be_avoided_are_named() {
    let refusal = |spec, faults| torn(spec, faults, 1).unwrap_err().to_string();
    assert!(refusal("fattree:2,2", 9).contains("4 links between switches"), "{}", refusal("fattree:2,2", 9));
    let cut = refusal("rrg:s=6,d=2,p=1", 3);
    assert!(cut.contains("cannot reach each other") && cut.contains("0 and "), "{cut}");
    let damaged = torn("fattree:4,2", 1, 1).expect("a fat tree has other ways");
    let params = RouterParams { routing: Routing::TreeAdaptive, ..RouterParams::default() };
    assert!(params.check(&*damaged).unwrap_err().to_string().contains("cannot avoid dead links"));
}

type Channel = (NodeId, Port, u8);

/// State of a packet: its node, its channel (and whether that belongs to a ring with a bubble), its routing state, and
/// its source, on which some routes depend.
type Place = (NodeId, Option<(Channel, bool)>, [i16; 2], NodeId);

/// Every reachable pair (held, requested) of channels: with an escape channel, only those of the last tier. Channels of
/// a ring with a bubble count as one.
fn waits(topology: &dyn Topology, function: &RoutingFunction) -> HashSet<(Channel, Channel)> {
    let mut pairs = HashSet::new();
    let ring = |(node, port, vc): Channel| {
        let (mut first, mut at) = (node, node);
        while let Some(next) = topology.neighbour(at, port).filter(|&next| next != node) {
            (first, at) = (first.min(next), next);
        }
        (first, port, vc)
    };
    let mut bubbles = HashSet::new();
    for key in 0..12u64 {
        for to in (0..topology.endpoints()).map(NodeId::at) {
            let mut seen = HashSet::new();
            let starts = (0..topology.endpoints()).map(NodeId::at);
            let mut places: Vec<Place> = starts.map(|from| (from, None, [0; 2], from)).collect();
            while let Some((node, held, state, source)) = places.pop() {
                if node == to || !seen.insert((node, held, state, source)) {
                    continue;
                }
                let mut ways = Vec::new();
                let input = held.map_or(Input::Injection, |((_, port, vc), _)| Input::Transit(OutputVc { port, vc }));
                function.candidates(&Visit { node, input, source, destination: to, key, state: &state }, |way| {
                    ways.push(way)
                });
                let last = ways.iter().map(|way| way.tier).max();
                for way in ways {
                    for vc in (0..32u8).filter(|vc| way.vcs & 1 << vc != 0) {
                        let asked = (node, way.port, vc);
                        if way.bubble {
                            bubbles.insert(asked);
                        }
                        if let Some((held, in_ring)) = held.filter(|_| Some(way.tier) == last) {
                            // A packet that continues in a ring waits only for the bubble.
                            let goes_on = in_ring && way.bubble && (held.1, held.2) == (asked.1, asked.2);
                            if !goes_on {
                                pairs.insert((held, asked));
                            }
                        }
                        let mut carried = state;
                        function.hop(node, to, key, way.port, &mut carried);
                        let next = topology.neighbour(node, way.port).expect("ways follow links");
                        places.push((next, Some((asked, way.bubble)), carried, source));
                    }
                }
            }
        }
    }
    let merged = |channel: Channel| if bubbles.contains(&channel) { ring(channel) } else { channel };
    pairs.into_iter().map(|(held, asked)| (merged(held), merged(asked))).collect()
}

/// The dependencies between channels held and requested are acyclic: no deadlock is possible. With an escape channel,
/// those of its own channels are.
#[test]
fn no_routing_waits_in_a_circle() {
    for spec in SWITCHES {
        let topology = build(spec);
        for (routing, vcs) in routings_of(spec) {
            for vcs in [vcs, vcs + 2] {
                let pairs = waits(&*topology, &function(&*topology, routing, vcs));
                assert!(!pairs.is_empty() && is_acyclic(&pairs), "{spec} {routing:?} with {vcs} channels");
            }
        }
    }
    // The search finds a cycle where there is one: shortest paths on a ring without channel classes.
    let ring = build("rrg:s=6,d=2,p=1");
    let function = function(&*ring, Routing::GraphShortest, 3);
    let merged = waits(&*ring, &function).into_iter().map(|((a, b, _), (c, d, _))| ((a, b, 0), (c, d, 0))).collect();
    assert!(!is_acyclic(&merged));
}

/// \[cycles\] A packet without contention is consumed after its hops and its length.
#[test]
fn zero_load_latency_is_hops_and_length() {
    for spec in SWITCHES {
        for (routing, vcs) in routings_of(spec) {
            let outcome = Setup::new(spec, routing, vcs).load(0.002).fixed(100_000);
            let measured = &outcome.measured;
            assert!(measured.counts.received > 30, "{spec}");
            let hops = measured.hops.mean().expect("packets were received");
            let mean = measured.latency.moments().mean().expect("packets were received");
            // One packet in a hundred meets another one.
            assert!((mean - (hops + 15.0)).abs() < 0.5, "{spec} {routing:?}: {mean} cycles over {hops} hops");
        }
    }
}

/// Where two groups have several links, a packet leaves by one at its own switch, if there is any.
#[test]
fn minimal_routes_of_dragonflies_leave_by_the_switch_s_own_links() {
    for (spec, own) in [
        ("dragonfly:p=2,a=4,h=2,g=2", 4 * 2),
        ("dragonfly:p=2,a=4,h=2,g=3", 3 * 8),
        ("dragonfly:p=1,a=4,h=3,g=4,arrangement=relative", 4 * 12),
        ("dragonfly:p=2,a=4,h=2,g=5,arrangement=circulant", 5 * 8),
    ] {
        let topology = build(spec);
        let function = function(&*topology, Routing::DragonflyMinimal, 2);
        let group = |switch: NodeId| (switch.index() - topology.endpoints()) / 4;
        let mut found = HashSet::new();
        for switch in (topology.endpoints()..topology.nodes()).map(NodeId::at) {
            for destination in (0..topology.endpoints()).map(NodeId::at) {
                let to = group(network(&*topology).fabric().home(destination).0);
                let leads = |port| topology.neighbour(switch, port).filter(|next| next.index() >= topology.endpoints());
                let has_own = ports(&*topology).filter_map(leads).any(|next| group(next) == to);
                if to == group(switch) || !has_own {
                    continue;
                }
                found.insert((switch, to));
                for key in 0..8 {
                    let visit = Visit {
                        node: switch,
                        input: Input::Injection,
                        source: destination,
                        destination,
                        key,
                        state: &[0; 2],
                    };
                    function.candidates(&visit, |way| {
                        assert_eq!(leads(way.port).map(group), Some(to), "{spec}: {visit:?}")
                    });
                }
            }
        }
        assert_eq!(found.len(), own, "{spec}");
    }
}

/// `ugal` compares two candidates that begin with different links, from every endpoint and towards every other group.
#[test]
fn ugal_weighs_different_links() {
    for (spec, switches) in
        [("dragonfly:p=2,a=4,h=2", 4), ("dragonfly:p=2,a=4,h=2,arrangement=relative", 4), ("dragonfly:p=4,a=8,h=4", 8)]
    {
        let topology = build(spec);
        let function = function(&*topology, Routing::DragonflyUgal, 3);
        let fabric = network(&*topology).fabric();
        let group = |switch: NodeId| (switch.index() - topology.endpoints()) / switches;
        for key in 0..5 {
            for source in (0..topology.endpoints()).map(NodeId::at) {
                let node = fabric.entry(source);
                for destination in (0..topology.endpoints()).step_by(3).map(NodeId::at) {
                    let visit = Visit { node, input: Input::Injection, source, destination, key, state: &[0; 2] };
                    let mut ports = Vec::new();
                    function.candidates(&visit, |way| ports.push(way.port));
                    let are_apart = group(node) != group(fabric.home(destination).0);
                    assert_eq!(ports.len(), 1 + usize::from(are_apart), "{spec}: {visit:?}");
                    assert!(!are_apart || ports[0] != ports[1], "{spec}: {visit:?}");
                }
            }
        }
    }
}
