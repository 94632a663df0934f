//! Every topology of the registry at three sizes, against a second construction: its links by its definition, on
//! coordinates, digits and differences; or, where links are drawn or found by algebra, what its definition promises. A row
//! of the registry without one fails. The sizes share no factor, but where a definition leaves no others.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};

use fsin::route::{Build, ByKey, ChannelPolicy, Function, ROUTINGS, RoutingFunction as _, Visit};
use fsin::topology::{self, Port, TOPOLOGIES, Topology};
use trgen::NodeId;

/// Directed links.
type Links = Vec<(u32, u32)>;

/// A second construction, from the numbers in a specification.
#[derive(Clone, Copy)]
enum Second {
    /// All links, each in the directions in which it leads.
    Links(fn(&[u32]) -> Links),
    /// What must hold; the reason if it does not.
    Holds(fn(&Network, &[u32]) -> Result<(), String>),
}

use Second::{Holds, Links as All};

/// A network as lists of neighbours.
struct Network {
    endpoints: usize,
    neighbours: Vec<Vec<u32>>,
}

impl Network {
    fn of(topology: &dyn Topology) -> Self {
        let ports = || (0..topology.shape().ports()).map(Port::at);
        let of = |node| ports().filter_map(|port| Some(topology.neighbour(NodeId::at(node), port)?.0)).collect();
        Self { endpoints: topology.endpoints(), neighbours: (0..topology.nodes()).map(of).collect() }
    }

    fn links(&self) -> Links {
        let of =
            |(node, list): (usize, &Vec<u32>)| list.iter().map(move |&there| (node as u32, there)).collect::<Vec<_>>();
        self.neighbours.iter().enumerate().flat_map(of).collect()
    }

    /// The number of the switch that an endpoint is at, counted from the first switch.
    fn home(&self, endpoint: usize) -> usize {
        self.neighbours[endpoint][0] as usize - self.endpoints
    }

    /// By switch: the switches at its links, counted from the first one.
    fn switches(&self) -> Vec<Vec<usize>> {
        let between = |list: &Vec<u32>| {
            let switches = list.iter().filter(|&&there| there as usize >= self.endpoints);
            switches.map(|&there| there as usize - self.endpoints).collect()
        };
        self.neighbours[self.endpoints..].iter().map(between).collect()
    }

    /// \[hops\] Distances from a node by search.
    fn distances(&self, from: usize) -> Vec<u32> {
        let mut distances = vec![u32::MAX; self.neighbours.len()];
        distances[from] = 0;
        let mut reached = vec![from];
        let mut next = 0;
        while let Some(&here) = reached.get(next) {
            next += 1;
            for &there in &self.neighbours[here] {
                if distances[there as usize] == u32::MAX {
                    distances[there as usize] = distances[here] + 1;
                    reached.push(there as usize);
                }
            }
        }
        distances
    }

    /// Every endpoint reaches every other one.
    fn is_connected(&self) -> bool {
        self.distances(0)[..self.endpoints].iter().all(|&hops| hops < u32::MAX)
    }
}

fn require(holds: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what()) }
}

/// The coordinates of a number, lowest dimension first.
fn at(sizes: &[u32], mut number: u32) -> Vec<u32> {
    let mut digit = |&size: &u32| {
        let digit = number % size;
        number /= size;
        digit
    };
    sizes.iter().map(&mut digit).collect()
}

/// The number of coordinates.
fn number(sizes: &[u32], at: &[u32]) -> u32 {
    sizes.iter().zip(at).rev().fold(0, |number, (size, digit)| number * size + digit)
}

fn count(sizes: &[u32]) -> u32 {
    sizes.iter().product()
}

/// Links both ways.
fn both(links: impl IntoIterator<Item = (u32, u32)>) -> Links {
    links.into_iter().flat_map(|(one, other)| [(one, other), (other, one)]).collect()
}

/// Links of a grid in which a step up from `at` in a dimension leads to `next`, if anywhere.
fn grid(sizes: &[u32], next: impl Fn(&[u32], usize) -> Option<Vec<u32>>) -> Vec<(u32, u32)> {
    let steps = |node: u32| {
        let from = at(sizes, node);
        (0..sizes.len()).filter_map(|d| Some((node, number(sizes, &next(&from, d)?)))).collect::<Vec<_>>()
    };
    (0..count(sizes)).flat_map(steps).collect()
}

fn torus(sizes: &[u32]) -> Vec<(u32, u32)> {
    grid(sizes, |from, d| {
        let mut to = from.to_vec();
        to[d] = (from[d] + 1) % sizes[d];
        (sizes[d] > 1).then_some(to)
    })
}

fn mesh(sizes: &[u32]) -> Vec<(u32, u32)> {
    grid(sizes, |from, d| {
        let mut to = from.to_vec();
        to[d] += 1;
        (to[d] < sizes[d]).then_some(to)
    })
}

/// Endpoints at switches in their order, and links between switches.
fn at_switches(each: u32, switches: u32, links: Vec<(u32, u32)>) -> Links {
    let first = each * switches;
    let ends = (0..first).map(|end| (end, first + end / each));
    both(ends.chain(links.into_iter().map(|(one, other)| (first + one, first + other))))
}

/// Jumps on a ring, in both directions.
fn jumps(nodes: u32, jumps: &[u32]) -> Links {
    both((0..nodes).flat_map(|node| jumps.iter().map(move |jump| (node, (node + jump) % nodes)).collect::<Vec<_>>()))
}

/// A tree whose nodes of level l have labels of digits: children k, parents `up`. Two nodes of neighbouring levels are
/// linked if their labels differ in one digit at most, which is that of the upper level.
fn tree(k: u32, up: u32, n: u32) -> Links {
    let sizes = |level: u32| {
        (1..=n)
            .map(|d| {
                if d > level {
                    k
                } else if d == 1 {
                    1
                } else {
                    up
                }
            })
            .collect::<Vec<_>>()
    };
    let mut links = Vec::new();
    let mut first = 0;
    for level in 0..n {
        let (here, above) = (sizes(level), sizes(level + 1));
        let next = first + count(&here);
        for child in 0..count(&here) {
            let mut label = at(&here, child);
            for digit in 0..above[level as usize] {
                label[level as usize] = digit;
                links.push((first + child, next + number(&above, &label)));
            }
        }
        first = next;
    }
    both(links)
}

/// The groups of a network of switches: all links between each two of them, and none but `within` inside.
fn groups(network: &Network, size: usize, between: usize, within: impl Fn(usize, usize) -> bool) -> Result<(), String> {
    let switches = network.switches();
    let mut pairs: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for (switch, list) in switches.iter().enumerate() {
        let (group, own) = (switch / size, switch % size);
        let inside: BTreeSet<usize> =
            list.iter().filter(|&&there| there / size == group).map(|there| there % size).collect();
        let expected: BTreeSet<usize> = (0..size).filter(|&other| other != own && within(own, other)).collect();
        require(inside == expected, || format!("switch {switch} is linked with {inside:?} of its group"))?;
        for there in list.iter().filter(|&&there| there / size != group) {
            *pairs.entry((group, there / size)).or_default() += 1;
        }
    }
    let count = switches.len() / size;
    require(pairs.len() == count * (count - 1), || "two groups have no link".to_owned())?;
    require(pairs.values().all(|&links| links == between), || format!("{between} links between groups: {pairs:?}"))
}

/// Every switch has so many links to others, and so many endpoints in the order of their numbers.
fn regular(network: &Network, degree: usize, each: usize) -> Result<(), String> {
    let degrees: BTreeSet<usize> = network.switches().iter().map(Vec::len).collect();
    require(degrees == BTreeSet::from([degree]), || format!("links of switches: {degrees:?}, not {degree}"))?;
    let homes = (0..network.endpoints).all(|end| network.home(end) == end / each);
    require(homes && network.is_connected(), || format!("{each} endpoints at each switch, all reached"))
}

/// By name: three specifications, and the second construction from the numbers in each.
const SECOND: &[(&str, [&str; 3], Second)] = &[
    ("torus", ["torus:5x7", "torus:11x3", "torus:2x2x4"], All(|sizes| both(torus(sizes)))),
    ("mesh", ["mesh:5x7", "mesh:11x3", "mesh:2x2x4"], All(|sizes| both(mesh(sizes)))),
    (
        "twisted",
        ["twisted:8x4:4", "twisted:7x5:2", "twisted:9x3:3"],
        All(|numbers| {
            // Round the edge of dimension 1, coordinate 0 moves on by the skew.
            let (sizes, skew) = (&numbers[..2], numbers[2]);
            both(grid(sizes, |from, d| {
                let [x, y] = [from[0], from[1]];
                Some(match d {
                    0 => vec![(x + 1) % sizes[0], y],
                    _ if y + 1 < sizes[1] => vec![x, y + 1],
                    _ => vec![(x + skew) % sizes[0], 0],
                })
            }))
        }),
    ),
    ("tpu", ["tpu:4x4x4", "tpu:4x8", "tpu:8x8x12"], All(|sizes| both(torus(sizes)))),
    (
        "hypercube",
        ["hypercube:3", "hypercube:4", "hypercube:5"],
        All(|n| {
            (0..1u32 << n[0])
                .flat_map(|node| (0..n[0]).map(move |bit| (node, node ^ 1 << bit)).collect::<Vec<_>>())
                .collect()
        }),
    ),
    ("circulant", ["circulant:35:1,6", "circulant:33:2,5", "circulant:16:1,3"], All(|n| jumps(n[0], &n[1..]))),
    (
        "midimew",
        ["midimew:35", "midimew:33", "midimew:16"],
        All(|n| {
            let b = (1..).find(|b: &u32| 2 * b * b >= n[0]).unwrap();
            jumps(n[0], &[b - 1, b])
        }),
    ),
    (
        "circpk",
        ["circpk:3^3", "circpk:5^2", "circpk:7^2"],
        All(|n| {
            let steps: Vec<u32> = (0..n[1]).map(|power| n[0].pow(power)).collect();
            jumps(n[0].pow(n[1]), &steps)
        }),
    ),
    (
        "spidergon",
        ["spidergon:10", "spidergon:14", "spidergon:22"],
        All(|n| {
            let mut links = jumps(n[0], &[1]);
            links.extend((0..n[0]).map(|node| (node, (node + n[0] / 2) % n[0])));
            links
        }),
    ),
    (
        "spinnaker",
        ["spinnaker:5x7", "spinnaker:11x3", "spinnaker:4x4"],
        All(|sizes| {
            let diagonal = (0..count(sizes)).map(|node| {
                let from = at(sizes, node);
                (node, number(sizes, &[(from[0] + 1) % sizes[0], (from[1] + 1) % sizes[1]]))
            });
            both(torus(sizes).into_iter().chain(diagonal))
        }),
    ),
    ("fattree", ["fattree:2,4", "fattree:3,3", "fattree:5,2"], All(|n| tree(n[0], n[0], n[1]))),
    ("thintree", ["thintree:4,2,3", "thintree:3,2,3", "thintree:5,3,2"], All(|n| tree(n[0], n[1], n[2]))),
    (
        "slimtree",
        ["slimtree:4,2,2", "slimtree:9,3,3", "slimtree:5,1,2"],
        All(|n| {
            let (k, up, levels) = (n[0], n[1], n[2]);
            let switches = |level: u32| up * (k / up).pow(levels - 1 - level);
            let mut first = k * switches(0);
            let mut links: Vec<(u32, u32)> = (0..first).map(|end| (end, first + end / k)).collect();
            for level in 0..levels - 1 {
                let next = first + switches(level);
                links.extend(
                    (0..switches(level)).flat_map(|r| (0..up).map(move |p| (first + r, next + up * (r / k) + p))),
                );
                first = next;
            }
            both(links)
        }),
    ),
    (
        "dragonfly",
        ["dragonfly:p=2,a=4,h=2", "dragonfly:p=1,a=3,h=1", "dragonfly:p=3,a=5,h=1"],
        Holds(|network, n| {
            let (p, a, h) = (n[0] as usize, n[1] as usize, n[2] as usize);
            groups(network, a, 1, |_, _| true)?;
            require(network.endpoints == p * a * (a * h + 1), || "a h + 1 groups of p a endpoints".to_owned())?;
            regular(network, a - 1 + h, p)
        }),
    ),
    (
        "dragonfly+",
        ["dragonfly+:p=2,l=4,s=4,h=2", "dragonfly+:p=1,l=3,s=3,h=1", "dragonfly+:p=3,l=5,s=5,h=1"],
        Holds(|network, n| {
            let (p, l, s, h) = (n[0] as usize, n[1] as usize, n[2] as usize, n[3] as usize);
            require(network.endpoints == p * l * (s * h + 1), || "s h + 1 groups of p l endpoints".to_owned())?;
            groups(network, l + s, 1, |one, other| (one < l) != (other < l))
        }),
    ),
    (
        "hyperx",
        ["hyperx:5x7:2", "hyperx:3x3x2:1", "hyperx:4x4:4"],
        All(|n| {
            let (sizes, each) = (&n[..n.len() - 1], n[n.len() - 1]);
            let rows = (0..count(sizes))
                .flat_map(|one| (one + 1..count(sizes)).map(move |other| (one, other)).collect::<Vec<_>>());
            let differ = |&(one, other): &(u32, u32)| {
                at(sizes, one).iter().zip(at(sizes, other)).filter(|(a, b)| **a != *b).count() == 1
            };
            at_switches(each, count(sizes), rows.filter(differ).collect())
        }),
    ),
    (
        "icube",
        ["icube:5x7:2", "icube:3x11:1", "icube:4x4:3"],
        All(|n| {
            let (sizes, each) = (&n[..2], n[2]);
            at_switches(each, count(sizes), torus(sizes))
        }),
    ),
    (
        "cmesh",
        ["cmesh:5x7:2", "cmesh:3x11:1", "cmesh:4x4:2x2"],
        All(|n| match n {
            [x, y, each] => at_switches(*each, x * y, mesh(&n[..2])),
            _ => {
                // The endpoints are a grid of their own, of which every switch has a tile.
                let (sizes, tile) = (&n[..2], &n[2..]);
                let all = [sizes[0] * tile[0], sizes[1] * tile[1]];
                let first = count(&all);
                let home = |end| number(sizes, &[at(&all, end)[0] / tile[0], at(&all, end)[1] / tile[1]]);
                let ends = (0..first).map(|end| (end, first + home(end)));
                both(ends.chain(mesh(sizes).into_iter().map(|(one, other)| (first + one, first + other))))
            }
        }),
    ),
    (
        "fly",
        ["fly:2,3", "fly:3,2", "fly:5,2"],
        Holds(|network, n| {
            let (k, stages) = (n[0] as usize, n[1]);
            require(network.endpoints == k.pow(stages), || "k^n endpoints".to_owned())?;
            let switches = network.neighbours.len() - network.endpoints;
            require(switches == stages as usize * k.pow(stages - 1), || "n k^(n-1) switches".to_owned())?;
            // One path of n + 1 links between any two endpoints.
            for from in 0..network.endpoints {
                let mut paths = BTreeMap::from([(from, 1usize)]);
                for _ in 0..=stages {
                    let mut next: BTreeMap<usize, usize> = BTreeMap::new();
                    for (here, count) in paths {
                        network.neighbours[here]
                            .iter()
                            .for_each(|&there| *next.entry(there as usize).or_default() += count);
                    }
                    paths = next;
                }
                let is_one = (0..network.endpoints).all(|to| paths.get(&to) == Some(&1));
                require(is_one && paths.len() == network.endpoints, || format!("one path from {from}"))?;
            }
            Ok(())
        }),
    ),
    (
        "slimfly",
        ["slimfly:q=5,p=2", "slimfly:q=7,p=1", "slimfly:q=4,p=3"],
        Holds(|network, n| {
            let (q, p) = (n[0] as i32, n[1] as usize);
            let delta = [-1, 0, 1].into_iter().find(|delta| (q - delta) % 4 == 0).unwrap();
            require(network.endpoints == 2 * (q * q) as usize * p, || "2 q^2 switches".to_owned())?;
            regular(network, ((3 * q - delta) / 2) as usize, p)?;
            let farthest =
                (0..network.endpoints).map(|end| network.distances(end)[..network.endpoints].iter().max().copied());
            require(farthest.max().flatten() == Some(4), || "a diameter of 2 between switches".to_owned())
        }),
    ),
    ("star", ["star:5", "star:7", "star:16"], All(|n| both((0..n[0]).map(|end| (end, n[0]))))),
    (
        "rrg",
        ["rrg:s=35,d=4,p=2", "rrg:s=16,d=3,p=1", "rrg:s=33,d=6,p=3"],
        Holds(|network, n| {
            regular(network, n[1] as usize, n[2] as usize)?;
            let simple = network.switches().iter().enumerate().all(|(switch, list)| {
                !list.contains(&switch) && list.iter().collect::<BTreeSet<_>>().len() == list.len()
            });
            require(simple && network.endpoints == (n[0] * n[2]) as usize, || "a simple graph".to_owned())
        }),
    ),
    (
        "cluster",
        [
            "cluster:nodes=3,gpus=4,up=switch,up-rate=1GB/s,up-delay=1ns,rails=4,out=(star:3),out-rate=1GB/s,out-delay=1ns",
            "cluster:nodes=5,gpus=2,up=switch,up-rate=1GB/s,up-delay=1ns,rails=2,out=(star:5),out-rate=1GB/s,out-delay=1ns",
            "cluster:nodes=7,gpus=1,up=switch,up-rate=1GB/s,up-delay=1ns,rails=1,out=(star:7),out-rate=1GB/s,out-delay=1ns",
        ],
        Holds(|network, n| {
            let (nodes, gpus) = (n[0] as usize, n[1] as usize);
            require(network.endpoints == nodes * gpus, || "GPU g of node n is endpoint n gpus + g".to_owned())?;
            // GPUs of a node are as far from each other as those of a rail, all others further.
            let (mut near, mut far) = (BTreeSet::new(), BTreeSet::new());
            for one in 0..network.endpoints {
                for (other, &hops) in network.distances(one)[..network.endpoints].iter().enumerate() {
                    let is_near = one / gpus == other / gpus || one % gpus == other % gpus;
                    if one != other {
                        if is_near {
                            near.insert(hops)
                        } else {
                            far.insert(hops)
                        };
                    }
                }
            }
            let is_apart = far.first().is_none_or(|least| near.last().is_some_and(|most| most < least));
            require(near.len() == 1 && is_apart, || format!("near {near:?}, far {far:?}"))?;
            require(network.is_connected(), || "all reached".to_owned())
        }),
    ),
    (
        "rail",
        ["rail:k=2,of=(star:5),rate=1GB/s", "rail:k=3,of=(fattree:2,2),rate=1GB/s", "rail:k=4,of=(star:7),rate=1GB/s"],
        Holds(|network, n| {
            // A host reaches every other one, and its interface has a link to each plane.
            let planes = n[0] as usize;
            let interfaces = (0..network.endpoints).map(|end| network.neighbours[end][0] as usize);
            let degrees: BTreeSet<usize> = interfaces.map(|switch| network.neighbours[switch].len() - 1).collect();
            require(degrees == BTreeSet::from([planes]), || format!("links of hosts: {degrees:?}"))?;
            require(network.is_connected(), || "all reached".to_owned())
        }),
    ),
];

/// Rows that are read from files: other tests have them.
const IN_FILES: [&str; 1] = ["graph"];

#[test]
fn l4_every_topology_at_three_sizes() {
    let mut wrong = Vec::new();
    for row in TOPOLOGIES.rows() {
        let name = row.component.name;
        if IN_FILES.contains(&name) {
            continue;
        }
        let Some((_, specs, second)) = SECOND.iter().find(|second| second.0 == name) else {
            wrong.push(format!("`{name}` needs a second construction here"));
            continue;
        };
        for spec in specs {
            let topology = topology::parse(spec, 2).unwrap_or_else(|refusal| panic!("{spec}: {refusal}"));
            let network = Network::of(&*topology);
            let words = spec.split_once(':').map_or("", |(_, words)| words);
            let numbers: Vec<u32> =
                words.split(|letter: char| !letter.is_ascii_digit()).filter_map(|word| word.parse().ok()).collect();
            match second {
                All(links) => {
                    let (mut found, mut expected) = (network.links(), links(&numbers));
                    found.sort_unstable();
                    expected.sort_unstable();
                    if found != expected {
                        let first = found.iter().zip(&expected).find(|(one, other)| one != other);
                        wrong.push(format!("{spec}: {} links, not {}: {first:?}", found.len(), expected.len()));
                    }
                }
                Holds(check) => wrong.extend(check(&network, &numbers).err().map(|what| format!("{spec}: {what}"))),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Routings whose routes are shortest; the others are only followed to their ends.
const SHORTEST: [&str; 12] = [
    "dor",
    "adaptive",
    "west-first",
    "north-last",
    "negative-first",
    "odd-even",
    "static",
    "two-choices",
    "xy-yx",
    "adaptive-xy-yx",
    "destination-tag",
    "shortest",
];

/// Sizes beside those of [`SECOND`], for routings of two dimensions.
const MORE: [&str; 5] = ["mesh:4x4", "cmesh:3x3:1", "cmesh:4x5:1:express", "cmesh:7x3:2:express", "hyperx:7x3:1"];

/// Follows a packet from one endpoint to another; the routers that it passes.
fn routers_on(
    topology: &dyn Topology,
    function: &Function,
    (from, to): (u32, u32),
    (key, phase): (u64, Option<usize>),
) -> Result<usize, String> {
    let endpoints = topology.endpoints();
    let first = if topology.switched().is_some() { endpoints } else { 0 };
    let (entry, home) = match topology.switched() {
        Some(network) => {
            let fabric = network.fabric();
            (fabric.entry(NodeId(from)).index() - first, fabric.home(NodeId(to)).0.index() - first)
        }
        None => (from as usize, to as usize),
    };
    let mut at = Visit { source: from, destination: to, first: entry, here: entry, home, phase: 0 };
    let decisions = function.decisions(&at, &mut ByKey(key));
    at.phase = decisions.all().nth(phase.unwrap_or(0)).unwrap_or(decisions.first);
    let mut passed = 1;
    while at.here != at.home {
        let mut hops = Vec::new();
        function.hops(&at, &mut ByKey(key), |hop| hops.push(hop));
        let hop = hops.get(key as usize % hops.len().max(1)).ok_or_else(|| format!("no hop at {at:?}"))?;
        let next = topology.neighbour(NodeId::at(at.here + first), Port(hop.port));
        let next = next
            .map(|next| next.index())
            .filter(|&next| next >= first)
            .ok_or_else(|| format!("no router at {at:?}"))?;
        let phase = function.hop(&at, next - first, &mut ByKey(key));
        at = Visit { here: next - first, phase, ..at };
        passed += 1;
        if passed > 4 * topology.nodes() {
            return Err(format!("no end at {at:?}"));
        }
    }
    Ok(passed)
}

#[test]
fn l4_every_routing_at_three_sizes() {
    let mut wrong = Vec::new();
    for row in ROUTINGS.rows().iter().filter(|row| row.policy != ChannelPolicy::Given) {
        let name = row.component.name;
        let specs = SECOND.iter().flat_map(|second| second.1).chain(MORE);
        let mut sizes = 0;
        for spec in specs.filter(|spec| row.serves.includes(spec)) {
            let topology = topology::parse(spec, 2).unwrap_or_else(|refusal| panic!("{spec}: {refusal}"));
            // Some are for two dimensions only.
            let Ok(function) = Build::new(row, &*topology, 32, row.policy).function() else { continue };
            sizes += 1;
            let network = Network::of(&*topology);
            let ends = topology.endpoints();
            for from in (0..ends).step_by(ends.div_ceil(12)) {
                let distances = network.distances(from);
                for (to, key) in (0..ends).filter(|&to| to != from).zip(1u64..) {
                    let ends = (from as u32, to as u32);
                    match routers_on(&*topology, &function, ends, (key, Some(key as usize % 2))) {
                        // Links between endpoints, or between nodes that are routers themselves.
                        Ok(passed) => {
                            let links = if topology.switched().is_some() { passed + 1 } else { passed - 1 };
                            let is_shortest = links == distances[to] as usize;
                            // A way over an express link that leads away from the destination may be shorter.
                            let must = (SHORTEST.contains(&name)
                                && (name == "shortest" || !spec.ends_with(":express")))
                                || name == "minimal" && !spec.starts_with("dragonfly");
                            if must && !is_shortest || links < distances[to] as usize {
                                wrong.push(format!(
                                    "{name} on {spec} from {from} to {to}: {links}, not {}",
                                    distances[to]
                                ));
                            }
                        }
                        Err(what) => wrong.push(format!("{name} on {spec} from {from} to {to}: {what}")),
                    }
                }
            }
        }
        if sizes < 3 {
            wrong.push(format!("{name} ({}): {sizes} sizes", row.serves));
        }
    }
    wrong.truncate(20);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
