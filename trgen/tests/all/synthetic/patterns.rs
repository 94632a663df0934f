//! Every spatial pattern on 16, 60, 64 and 512 nodes: exact destinations of maps, the distribution of random patterns
//! (chi-square at 0.001 over 10^6 draws), and rejection where a pattern is not defined. The expected values follow here
//! from the definitions, on coordinates and weights.

use std::collections::HashMap;

use statrs::distribution::{ChiSquared, ContinuousCDF, Normal};
use trgen::rng::{Purpose, stream};
use trgen::synthetic::spatial::{self, Pattern};
use trgen::synthetic::{Config, Traffic};
use trgen::{Geometry, NodeId};

const GRIDS: [&[u32]; 4] = [&[4, 4], &[10, 6], &[8, 8], &[8, 8, 8]];

fn pattern(text: &str, grid: &Geometry) -> Box<dyn Pattern> {
    spatial::parse(text, grid, 7).unwrap_or_else(|refusal| panic!("{text}: {refusal}: {}", refusal.remedy()))
}

/// Tests draws of one source against weights per destination (not normalised; a destination of weight 0 must not
/// occur).
pub(super) fn check(text: &str, grid: &Geometry, source: u32, weights: &[f64]) {
    const DRAWS: u32 = 1_000_000;
    let mut pattern = pattern(text, grid);
    let mut rng = stream(11, u64::from(source), Purpose::Spatial);
    let total: f64 = weights.iter().sum();
    assert_eq!(pattern.is_silent(NodeId(source)), total == 0.0, "{text}: {source}");
    if total == 0.0 {
        assert_eq!(pattern.destination(NodeId(source), &mut rng), None, "{text}: {source}");
        return;
    }
    let mut counts = vec![0u32; weights.len()];
    for _ in 0..DRAWS {
        counts[pattern.destination(NodeId(source), &mut rng).unwrap().index()] += 1;
    }
    // Destinations with few draws form one class.
    let (mut statistic, mut classes, mut rare) = (0.0, 0, (0.0, 0.0));
    for (to, (&count, weight)) in counts.iter().zip(weights).enumerate() {
        let expected = f64::from(DRAWS) * weight / total;
        if expected == 0.0 {
            assert_eq!(count, 0, "{text}: {source} to {to}");
        } else if expected < 10.0 {
            rare = (rare.0 + f64::from(count), rare.1 + expected);
        } else {
            statistic += (f64::from(count) - expected).powi(2) / expected;
            classes += 1;
        }
    }
    if rare.1 > 0.0 {
        statistic += (rare.0 - rare.1).powi(2) / rare.1;
        classes += 1;
    }
    if classes > 1 {
        let limit = ChiSquared::new(f64::from(classes - 1)).unwrap().inverse_cdf(0.999);
        let sizes = grid.sizes();
        assert!(statistic < limit, "{text} on {sizes:?} from {source}: chi-square {statistic:.1}, limit {limit:.1}");
    }
}

/// Tests a pattern against weights for three sources of every grid.
fn check_everywhere(text: &str, grids: &[&[u32]], weights: impl Fn(&Geometry, u32) -> Vec<f64>) {
    for sizes in grids {
        let grid = Geometry::new(sizes).unwrap();
        let nodes = grid.nodes() as u32;
        for source in [0, (nodes / 2 + 1).min(nodes - 1), nodes - 1] {
            check(text, &grid, source, &weights(&grid, source));
        }
    }
}

fn evenly(grid: &Geometry, among: impl Fn(u32) -> bool) -> Vec<f64> {
    (0..grid.nodes() as u32).map(|to| f64::from(u8::from(among(to)))).collect()
}

/// Tests a map against its definition, on all grids.
fn check_map(text: &str, definition: impl Fn(&Geometry, u32) -> u32) {
    for sizes in GRIDS {
        let grid = Geometry::new(sizes).unwrap();
        let mut pattern = pattern(text, &grid);
        let mut rng = stream(1, 0, Purpose::Spatial);
        let whole = pattern.map().unwrap();
        let mut silent = 0;
        for node in 0..grid.nodes() as u32 {
            let expected = definition(&grid, node);
            silent += usize::from(expected == node);
            assert_eq!(whole[node as usize], NodeId(expected), "{text} on {sizes:?}");
            for _ in 0..2 {
                let to = pattern.destination(NodeId(node), &mut rng);
                assert_eq!(to, (expected != node).then_some(NodeId(expected)), "{text} on {sizes:?} from {node}");
            }
        }
        assert_eq!(pattern.silent(), silent);
    }
}

#[test]
fn maps_follow_their_definitions() {
    let moved = |by: fn(u32, u32) -> u32| {
        move |grid: &Geometry, node| {
            let to: Vec<u32> =
                grid.coordinates(NodeId(node)).iter().zip(grid.sizes()).map(|(&x, &k)| (x + by(k, 0)) % k).collect();
            grid.node(&to).0
        }
    };
    check_map("tornado", moved(|k, _| k.div_ceil(2) - 1));
    check_map("neighbor-all", moved(|_, _| 1));
    check_map("tornado-fsin", |grid, node| (node + (grid.sizes()[0] - 1) / 2) % grid.nodes() as u32);
    check_map("neighbor(3)", |grid, node| {
        let mut at = grid.coordinates(NodeId(node));
        at[0] = (at[0] + 3) % grid.sizes()[0];
        grid.node(&at).0
    });
    check_map("shift(5)", |grid, node| (node + 5) % grid.nodes() as u32);
    check_map("compose(shift(5), neighbor-all, shift(-5))", |grid, node| {
        let nodes = grid.nodes() as u32;
        let at: Vec<u32> =
            grid.coordinates(NodeId((node + 5) % nodes)).iter().zip(grid.sizes()).map(|(x, k)| (x + 1) % k).collect();
        (grid.node(&at).0 + nodes - 5) % nodes
    });
    // Back and forth: all are silent.
    check_map("compose(shift(5), shift(-5))", |_, node| node);
    check_map("map(block:4, shift(1))", |_, node| node / 4 * 4 + (node + 1) % 4);
    check_map("map(stride:4, shift(1))", |grid, node| (node + 4) % grid.nodes() as u32);
    check_map("map(groups:2, shift(3))", |grid, node| (node + 6) % grid.nodes() as u32);
    check_map("map(block:4, map(grid:2x2, neighbor-all))", |_, node| node ^ 3);
    check_map("compose(map(block:2, shift(1)), shift(2))", |grid, node| ((node ^ 1) + 2) % grid.nodes() as u32);
}

#[test]
fn bit_patterns_are_defined_on_powers_of_two_only() {
    for (name, definition) in [
        ("transpose", (|i, b| (0..b).map(|j| (i >> j & 1) << ((j + b / 2) % b)).sum()) as fn(u32, u32) -> u32),
        ("complement", |i, b| (1 << b) - 1 - i),
        ("butterfly", |i, b| {
            let (low, high) = (i % 2, i >> (b - 1));
            i - low - (high << (b - 1)) + high + (low << (b - 1))
        }),
        ("shuffle", |i, b| (2 * i) % (1 << b) + (i >> (b - 1))),
        ("reversal", |i, b| (0..b).map(|j| (i >> j & 1) << (b - 1 - j)).sum()),
    ] {
        for sizes in GRIDS {
            let grid = Geometry::new(sizes).unwrap();
            if grid.nodes() == 60 {
                let refusal = spatial::parse(name, &grid, 7).unwrap_err();
                assert!(refusal.to_string().contains("power of two of nodes, not 60"), "{refusal}");
                continue;
            }
            let map = pattern(name, &grid).map().unwrap();
            for node in 0..grid.nodes() as u32 {
                assert_eq!(map[node as usize].0, definition(node, grid.nodes().ilog2()), "{name} on {sizes:?}: {node}");
            }
        }
    }
}

#[test]
fn drawn_maps_are_permutations_and_pairings() {
    for sizes in GRIDS {
        let grid = Geometry::new(sizes).unwrap();
        for text in ["randperm", "bisect", "map(random, shift(1))", "map(random, transpose)", "map(block:4, randperm)"]
        {
            if grid.nodes() == 60 && text.contains("transpose") {
                assert!(spatial::parse(text, &grid, 7).is_err());
                continue;
            }
            let map = pattern(text, &grid).map().unwrap();
            let mut seen = map.clone();
            seen.sort_unstable();
            assert!(seen.into_iter().eq((0..grid.nodes()).map(NodeId::at)), "{text}");
            match text {
                "bisect" => {
                    assert!((0..grid.nodes()).all(|i| map[map[i].index()] == NodeId::at(i) && map[i].index() != i))
                }
                // Renumbered, a rotation is still one cycle through all nodes.
                "map(random, shift(1))" => {
                    let mut at = NodeId(0);
                    let steps = (1..).find(|_| {
                        at = map[at.index()];
                        at == NodeId(0)
                    });
                    assert_eq!(steps, Some(grid.nodes()));
                    assert_ne!(map, pattern("shift(1)", &grid).map().unwrap());
                }
                "map(block:4, randperm)" => {
                    assert!((0..grid.nodes()).all(|i| map[i].index() / 4 == i / 4));
                    // Each block draws its own permutation.
                    let of = |block: usize| (0..4).map(|i| map[block * 4 + i].index() % 4).collect::<Vec<_>>();
                    assert!((1..grid.nodes() / 4).any(|block| of(block) != of(0)));
                }
                _ => {}
            }
        }
    }
}

#[test]
fn turns_go_round_all_others() {
    for sizes in GRIDS {
        let grid = Geometry::new(sizes).unwrap();
        let nodes = grid.nodes() as u32;
        for text in ["distribute", "rsdist"] {
            for source in [0, nodes / 2, nodes - 1] {
                let mut pattern = pattern(text, &grid);
                assert_eq!(pattern.map(), None);
                let mut rng = stream(5, u64::from(source), Purpose::Spatial);
                let mut draw = || pattern.destination(NodeId(source), &mut rng).unwrap().0;
                let round: Vec<u32> = (1..nodes).map(|_| draw()).collect();
                let start = (round[0] + nodes - source - 1) % nodes;
                assert!(text == "rsdist" || start == 0);
                let expected = (0..nodes - 1).map(|k| (source + 1 + (start + k) % (nodes - 1)) % nodes);
                assert!(round.iter().copied().eq(expected), "{text} on {sizes:?} from {source}: {round:?}");
                assert_eq!(draw(), round[0], "and again");
            }
        }
    }
}

/// x < floor(X/2).
fn is_low(grid: &Geometry, node: u32) -> bool {
    grid.coordinates(NodeId(node))[0] < grid.sizes()[0] / 2
}

/// All coordinates but x and y are 0.
fn is_in_plane(grid: &Geometry, node: u32) -> bool {
    grid.coordinates(NodeId(node)).iter().skip(2).all(|&higher| higher == 0)
}

/// Endpoints of a tree have no x.
#[test]
fn semi_is_refused_on_trees() {
    for leaf in [2, 3, 5] {
        let tree = Geometry::new(&[leaf * 7]).unwrap().with_leaf(leaf).unwrap();
        assert!(spatial::parse("semi", &tree, 1).unwrap_err().to_string().contains("tree"));
        let text = format!("map(grid:{leaf}x7, semi)");
        assert!(spatial::parse(&text, &tree, 1).is_ok(), "{text}");
    }
}

#[test]
fn even_patterns() {
    check_everywhere("uniform", &GRIDS, |grid, source| evenly(grid, |to| to != source));
    check_everywhere("groupshift(4, 2)", &GRIDS, |grid, source| {
        let groups = grid.nodes() as u32 / 4;
        evenly(grid, |to| to / 4 == (source / 4 + 2) % groups)
    });
    // From x < floor(X/2) to those of z = 0; rows of one node are silent, and so is a receiver without another.
    let shapes: [&[u32]; 9] = [&[5, 3], &[5, 9], &[1], &[2], &[3, 1], &[1, 4], &[5, 3, 2], &[3, 1, 5], &[4, 2, 3, 2]];
    check_everywhere("semi", &[&GRIDS[..], &shapes].concat(), |grid, source| {
        evenly(grid, |to| to != source && is_low(grid, source) && is_low(grid, to) && is_in_plane(grid, to))
    });
    check_everywhere("map(block:4, uniform)", &GRIDS, |grid, source| {
        evenly(grid, |to| to != source && to / 4 == source / 4)
    });
    check_everywhere("map(stride:4, uniform)", &GRIDS, |grid, source| {
        evenly(grid, |to| to != source && to % 4 == source % 4)
    });
    check_everywhere("map(groups:4, uniform)", &GRIDS, |grid, source| {
        evenly(grid, |to| to % 4 == source % 4 && to != source)
    });
    check_everywhere("map(random, uniform)", &GRIDS, |grid, source| evenly(grid, |to| to != source));
}

#[test]
fn patterns_with_the_sender_itself() {
    check_everywhere("uniform(self=true)", &GRIDS, |grid, _| evenly(grid, |_| true));
    // Node 3 has a weight of 8, every other one of 1: with the rest spread over all, 7 of N + 7.
    for sizes in GRIDS {
        let nodes = sizes.iter().product::<u32>();
        let text = format!("hotspot({}, 3, self=true)", 7.0 / f64::from(nodes + 7));
        check_everywhere(&text, &[sizes], |_, _| (0..nodes).map(|to| if to == 3 { 8.0 } else { 1.0 }).collect());
    }
    let grid = Geometry::new(&[8, 8]).unwrap();
    for name in ["transpose", "shuffle", "reversal", "butterfly", "randperm"] {
        let (mut with, mut without) = (pattern(&format!("{name}(self=true)"), &grid), pattern(name, &grid));
        let mut rng = stream(1, 0, Purpose::Spatial);
        for node in (0..64).map(NodeId) {
            let expected = without.destination(node, &mut rng).unwrap_or(node);
            assert_eq!(with.destination(node, &mut rng), Some(expected), "{name}");
        }
        assert_eq!(with.silent(), 0);
        assert_eq!(with.map(), without.map());
    }
    let mut back = pattern("compose(shift(1), shift(-1), self=true)", &grid);
    assert_eq!(back.destination(NodeId(5), &mut stream(1, 0, Purpose::Spatial)), Some(NodeId(5)));
    for text in [
        "transpose(self=yes)",
        "complement(self=true)",
        "tornado(self=true)",
        "compose(transpose(self=true), shift(1))",
    ] {
        assert!(spatial::parse(text, &grid, 7).is_err(), "{text}");
    }
    // A network that carries no such messages is said so.
    let config = |carries_to_itself| Config {
        pattern: "map(block:4, uniform(self=true))".parse().unwrap(),
        carries_to_itself,
        ..Config::new(grid.clone())
    };
    assert!(Traffic::new(&config(true)).is_ok());
    let refusal = Traffic::new(&config(false)).unwrap_err().refusal;
    assert!(refusal.to_string().contains("no message of a node to itself"), "{refusal}");
}

/// `share` to the hot nodes other than the source, the rest evenly.
pub(super) fn hot(grid: &Geometry, source: u32, share: f64, hot: &[u32]) -> Vec<f64> {
    let nodes = grid.nodes() as u32;
    let others: Vec<u32> = hot.iter().copied().filter(|&node| node != source).collect();
    let share = if others.is_empty() { 0.0 } else { share };
    let weight = |to| {
        let even = if to == source { 0.0 } else { (1.0 - share) / f64::from(nodes - 1) };
        even + if others.contains(&to) { share / others.len() as f64 } else { 0.0 }
    };
    (0..nodes).map(weight).collect()
}

#[test]
fn hot_patterns_and_mixtures() {
    let weights = |grid: &Geometry, source: u32| {
        let nodes = grid.nodes() as u32;
        // Node i's share of the interval from 0 to N/8, in eighths.
        let part = |node: u32| f64::from(nodes.saturating_sub(8 * node).min(8));
        let others = f64::from(nodes) - part(source);
        let even = if others > 0.0 { 0.75 } else { 1.0 } / f64::from(nodes - 1);
        let hot = |to| if others > 0.0 { 0.25 * part(to) / others } else { 0.0 };
        (0..nodes).map(|to| if to == source { 0.0 } else { even + hot(to) }).collect()
    };
    check_everywhere("hotregion", &GRIDS, weights);
    for sizes in [&[8][..], &[9], &[15], &[6, 6], &[7, 5]] {
        let grid = Geometry::new(sizes).unwrap();
        // All of the region, and the first nodes beyond it.
        for source in 0..6 {
            check("hotregion", &grid, source, &weights(&grid, source));
        }
    }
    // Of 36 nodes, 0 to 3 weigh 2/9 each and 4 weighs 1/9, as seen by node 35.
    let shares = weights(&Geometry::new(&[6, 6]).unwrap(), 35);
    let expected = |weight: f64| 0.75 / 35.0 + 0.25 * weight;
    for (node, share) in shares.iter().enumerate().take(35) {
        let weight = if node < 4 { 2.0 / 9.0 } else { f64::from(u8::from(node == 4)) / 9.0 };
        assert!((share - expected(weight)).abs() < 1e-12, "{node}: {share}");
    }
    check_everywhere("hotspot(0.2, 1, 7)", &GRIDS, |grid, source| hot(grid, source, 0.2, &[1, 7]));
    check_everywhere("mix(3:uniform, 1:shift(2))", &GRIDS, |grid, source| {
        let mut weights: Vec<f64> = hot(grid, source, 0.75, &[]).iter().map(|weight| 0.75 * weight).collect();
        weights[(source as usize + 2) % grid.nodes()] += 0.25;
        weights
    });
    // A component in which a node is silent leaves its share to the others.
    check_everywhere("mix(1:semi, 9:compose(shift(1), shift(-1)), 1:shift(1))", &GRIDS, |grid, source| {
        let receives = |to| is_low(grid, to) && is_in_plane(grid, to);
        let mut weights = evenly(grid, |to| to != source && is_low(grid, source) && receives(to));
        let total: f64 = weights.iter().sum();
        weights[(source as usize + 1) % grid.nodes()] += total.max(1.0);
        weights
    });
}

#[test]
fn local_falls_off_with_the_distance() {
    let offset = |by: u32, k: u32| match by.min(k - by) {
        0 | 1 => 1.0 / 2.0 / 3.0,
        2 | 3 => 1.0 / 4.0 / 4.0,
        4..8 => 1.0 / 8.0 / 8.0,
        _ => 1.0 / 8.0 / f64::from(k - 15),
    };
    // 16, 60, 64 and 512 nodes.
    check_everywhere("local", &[&[16], &[60], &[64], &[32, 16], &[17, 16]], |grid, source| {
        let from = grid.coordinates(NodeId(source));
        let weight = |to: u32| -> f64 {
            let steps = grid.coordinates(NodeId(to)).into_iter().zip(&from).zip(grid.sizes());
            if to == source { 0.0 } else { steps.map(|((to, from), &k)| offset((to + k - from) % k, k)).product() }
        };
        (0..grid.nodes() as u32).map(weight).collect()
    });
    // In small dimensions offsets go round, and the last eighth is one of 8 to 22 - k.
    let small = |by: u32, k: u32| -> f64 {
        let near = [k - 1, 0, 1].map(|step| (step, 1.0 / 6.0));
        let middle = [(2u32, 1.0 / 16.0), (3, 1.0 / 16.0)].into_iter().chain((4..8).map(|step| (step, 1.0 / 64.0)));
        let both = middle.flat_map(|(step, share)| [(step % k, share), ((k - step % k) % k, share)]);
        let far = (8..23 - k).map(|step| (step % k, 1.0 / 8.0 / f64::from(15 - k)));
        near.into_iter()
            .map(|(step, share)| (step % k, share))
            .chain(both)
            .chain(far)
            .filter(|one| one.0 == by)
            .map(|one| one.1)
            .sum()
    };
    check_everywhere("local", &[&[5, 5], &[4, 4], &[8, 8], &[14], &[2, 3]], |grid, source| {
        let from = grid.coordinates(NodeId(source));
        let weight = |to: u32| -> f64 {
            let steps = grid.coordinates(NodeId(to)).into_iter().zip(&from).zip(grid.sizes());
            if to == source { 0.0 } else { steps.map(|((to, from), &k)| small((to + k - from) % k, k)).product() }
        };
        (0..grid.nodes() as u32).map(weight).collect()
    });
    for (sizes, what) in [(&[15][..], "not defined for 15 nodes"), (&[1], "two nodes or more")] {
        let refusal = spatial::parse("local", &Geometry::new(sizes).unwrap(), 1).unwrap_err();
        assert!(refusal.to_string().contains(what), "{refusal}");
    }
}

/// The distribution of `hops` hops, each in one of the dimensions with room left, all equally likely: hops per
/// dimension.
pub(super) fn splits(sizes: &[u32], hops: u32) -> HashMap<Vec<u32>, f64> {
    let mut splits = HashMap::from([(vec![0; sizes.len()], 1.0)]);
    for _ in 0..hops {
        let mut next: HashMap<Vec<u32>, f64> = HashMap::new();
        for (split, share) in splits {
            let open: Vec<usize> = (0..sizes.len()).filter(|&d| split[d] < sizes[d] / 2).collect();
            for &dimension in &open {
                let mut further = split.clone();
                further[dimension] += 1;
                *next.entry(further).or_default() += share / open.len() as f64;
            }
        }
        splits = next;
    }
    splits
}

#[test]
fn local_gauss_falls_off_as_the_normal_distribution() {
    let normal = Normal::new(0.0, 1.0).unwrap();
    for scale in [0.7, 3.0] {
        check_everywhere(&format!("local-gauss({scale})"), &GRIDS, |grid, source| {
            let from = grid.coordinates(NodeId(source));
            let farthest: u32 = grid.sizes().iter().map(|size| size / 2).sum();
            let mut weights = vec![0.0; grid.nodes()];
            for distance in 1..=farthest {
                let (low, high) = (f64::from(distance - 1) / scale, f64::from(distance) / scale);
                let probability = 2.0 * (normal.cdf(high) - normal.cdf(low));
                for (split, share) in splits(grid.sizes(), distance) {
                    // Every combination of directions.
                    for signs in 0..1u32 << split.len() {
                        let to: Vec<u32> = (0..split.len())
                            .map(|d| from[d] + if signs >> d & 1 == 1 { grid.sizes()[d] - split[d] } else { split[d] })
                            .collect();
                        weights[grid.node(&to).index()] += probability * share / f64::from(1 << split.len());
                    }
                }
            }
            weights
        });
    }
    assert!(pattern("local-gauss", &Geometry::new(&[1]).unwrap()).is_silent(NodeId(0)));
}

fn distance(grid: &Geometry, a: u32, b: u32) -> u32 {
    let (a, b) = (grid.coordinates(NodeId(a)), grid.coordinates(NodeId(b)));
    a.iter().zip(&b).zip(grid.sizes()).map(|((a, b), k)| a.abs_diff(*b).min(k - a.abs_diff(*b))).sum()
}

fn file(name: &str, text: &str) -> String {
    let path = std::env::temp_dir().join(format!("trgen-{}-{name}", std::process::id()));
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

#[test]
fn distances_come_from_files() {
    let samples = file("samples", "1 1 2, 3 # comment\n4\n1\n");
    let histogram = file("histogram", "# distance weight\n1 0.5\n\n3 0.3\n4 0.2\n2 0\n");
    let by = |shares: [f64; 4]| {
        move |grid: &Geometry, source: u32| {
            let at = |d: u32| (0..grid.nodes() as u32).filter(|&to| distance(grid, source, to) == d).count() as f64;
            let share = |to| match distance(grid, source, to) {
                d @ 1..=4 => shares[d as usize - 1] / at(d),
                _ => 0.0,
            };
            (0..grid.nodes() as u32).map(share).collect::<Vec<f64>>()
        }
    };
    check_everywhere(&format!("population({samples})"), &GRIDS, by([3.0, 1.0, 1.0, 1.0]));
    check_everywhere(&format!("histogram({histogram})"), &GRIDS, by([0.5, 0.0, 0.3, 0.2]));
}

#[test]
fn matrices_come_from_files() {
    for sizes in GRIDS {
        let grid = Geometry::new(sizes).unwrap();
        let nodes = grid.nodes() as u32;
        // Node 1 is silent, node 2 only sends to itself and is silent too.
        let weight = |from: u32, to: u32| match from {
            1 => 0.0,
            2 => f64::from(u8::from(to == 2)),
            _ => f64::from((from * 7 + to * 3) % 11),
        };
        let row = |from| (0..nodes).map(|to| weight(from, to).to_string()).collect::<Vec<_>>().join(" ");
        let text = (0..nodes).map(row).collect::<Vec<_>>().join("\n");
        let name = file(&format!("matrix{nodes}"), &text);
        for source in [0, 1, 2, nodes - 1] {
            let weights: Vec<f64> = (0..nodes).map(|to| if to == source { 0.0 } else { weight(source, to) }).collect();
            check(&format!("matrix({name})"), &grid, source, &weights);
        }
        assert_eq!(pattern(&format!("matrix({name})"), &grid).silent(), 2);
    }
}

#[test]
fn unusable_files_are_refused() {
    let grid = Geometry::new(&[4, 4]).unwrap();
    let refused = |pattern: &str, text: &str| {
        let name = file(&format!("bad-{}", pattern.len() + text.len() * 100), text);
        let refusal = spatial::parse(&format!("{pattern}({name})"), &grid, 1).unwrap_err();
        refusal.to_string()
    };
    assert!(refused("population", "1 2\n5\n").contains("line 2: no node is 5 hops away"));
    assert!(refused("population", "0").contains("line 1: no node is 0 hops away"));
    assert!(refused("population", "1.5").contains("no node is 1.5 hops"));
    assert!(refused("population", "# nothing\n").contains("no distance has any weight"));
    assert!(refused("population", "1 far").contains("line 1: `far` is not a number"));
    assert!(refused("histogram", "1 0.5 7").contains("line 1: not a distance and a weight"));
    assert!(refused("histogram", "1 -0.5").contains("not a distance and a weight"));
    assert!(refused("histogram", "1 0").contains("no distance has any weight"));
    assert!(refused("matrix", "1 2\n").contains("1 lines of numbers for 16 nodes"));
    let lines = |line: &str| [line; 16].join("\n");
    assert!(refused("matrix", &lines("1 2 3")).contains("line 1: 3 weights for 16 nodes"));
    assert!(refused("matrix", &lines(&["-1"; 16].join(","))).contains("weight -1 is negative"));
    assert!(refused("matrix", &lines(&["inf"; 16].join(","))).contains("`inf` is not a number"));
    for (text, expected) in [
        (
            "from,to,weight\n",
            "line 1: `from,to,weight` names no columns source, destination and weight or bytes or messages",
        ),
        ("source,destination,bytes\n0,16,1\n", "line 2: destination 16 is no node"),
        ("source,destination,bytes\n0,1.5,1\n", "destination 1.5 is no node"),
        ("source,destination,bytes\n\n0,1\n", "line 3: 2 numbers in 3 columns"),
        ("source,destination,bytes\n0,1,2\n0,1,3\n", "line 3: the pair 0,1 stands in line 2 already"),
        ("source,destination,bytes\n0,1,-2\n", "line 2: weight -2 is negative"),
        ("source,destination,bytes\n0,1,x\n", "line 2: `x` is not a number"),
    ] {
        let found = refused("matrix", text);
        assert!(found.contains(expected), "{found}");
    }
    assert!(
        refused("rates", "source,destination,bytes\n0,1,1\n").contains("names no columns source, destination and rate")
    );
    assert!(refused("rates", "source,destination,rate\n3,3,1\n").contains("line 2: node 3 has rate 1 for itself"));
    let missing = spatial::parse("matrix(no/such/file)", &grid, 1).unwrap_err().to_string();
    assert!(missing.contains("cannot read no/such/file") && missing.contains("\n         ^"), "{missing}");
    assert!(spatial::parse("matrix", &grid, 1).unwrap_err().to_string().contains("needs its parameter file"));
}

#[test]
fn ranks_by_number_and_by_distance() {
    for exponent in [0.5, 1.0, 2.0, 3.0] {
        check_everywhere(&format!("zipf({exponent}, id)"), &GRIDS, |grid, source| {
            let rank = |to: u32| f64::from(if to > source { to } else { to + 1 });
            let weight = |to| if to == source { 0.0 } else { rank(to).powf(-exponent) };
            (0..grid.nodes() as u32).map(weight).collect()
        });
        check_everywhere(&format!("zipf({exponent}, ranks=distance)"), &GRIDS, |grid, source| {
            // The nearest first; at equal distance in the order of their steps.
            let (own, nodes) = (grid.coordinates(NodeId(source)), grid.nodes() as u32);
            let step = |to: u32| {
                let moved: Vec<u32> = grid
                    .coordinates(NodeId(to))
                    .iter()
                    .zip(&own)
                    .zip(grid.sizes())
                    .map(|((to, from), size)| (to + size - from) % size)
                    .collect();
                grid.node(&moved).0
            };
            let mut others: Vec<u32> = (0..nodes).filter(|&to| to != source).collect();
            others.sort_by_key(|&to| (distance(grid, source, to), step(to)));
            let mut weights = vec![0.0; nodes as usize];
            for (rank, to) in (1..).zip(others) {
                weights[to as usize] = f64::from(rank).powf(-exponent);
            }
            weights
        });
    }
}

#[test]
fn ranks_by_a_drawn_permutation() {
    for sizes in GRIDS {
        let grid = Geometry::new(sizes).unwrap();
        let nodes = grid.nodes() as u32;
        // The draws reveal a source's preferences; all sources have the same order, each without itself.
        let order = |source: u32, seed| {
            let mut pattern = spatial::parse("zipf(3)", &grid, seed).unwrap();
            let mut rng = stream(3, u64::from(source), Purpose::Spatial);
            let mut counts = vec![0; nodes as usize];
            for _ in 0..200_000 {
                counts[pattern.destination(NodeId(source), &mut rng).unwrap().index()] += 1;
            }
            let mut order: Vec<u32> = (0..nodes).filter(|&to| to != source).collect();
            order.sort_by_key(|&to| std::cmp::Reverse(counts[to as usize]));
            (order, counts)
        };
        let (first, counts) = order(0, 7);
        let (second, _) = order(nodes - 1, 7);
        // Ranks 1 to 4 have clearly different probabilities.
        let shared: Vec<u32> = first.iter().copied().filter(|&to| to != nodes - 1).take(3).collect();
        assert!(second.iter().copied().filter(|&to| to != 0).take(3).eq(shared), "{sizes:?}");
        assert_ne!(order(0, 8).0[..4], first[..4], "depends on the seed");
        let mut sorted: Vec<u32> = counts.into_iter().filter(|&count| count > 0).collect();
        sorted.sort_unstable_by(|a, b| b.cmp(a));
        assert!((f64::from(sorted[0]) / f64::from(sorted[1]) - 8.0).abs() < 0.4, "{sorted:?}");
    }
    // s = 0 is uniform, and a single node is silent.
    check_everywhere("zipf(0)", &GRIDS, |grid, source| evenly(grid, |to| to != source));
    assert!(pattern("zipf", &Geometry::new(&[1]).unwrap()).is_silent(NodeId(0)));
}

#[test]
fn the_algebra_refuses_what_it_cannot_mean() {
    let grid = Geometry::new(&[4, 4]).unwrap();
    for (text, what, caret) in [
        ("mix", "`mix` of nothing", 0),
        ("mix(uniform)", "`uniform` is not a weight with its pattern", 4),
        ("mix(0:uniform)", "is not a weight", 4),
        ("mix(0.5:unifrom, 0.5:tornado)", "unknown traffic pattern `unifrom`", 8),
        ("compose()", "`compose` of nothing", 0),
        ("compose(shuffle, uniform)", "`uniform` draws its destinations", 17),
        ("compose(shuffle, distribute)", "`distribute` draws its destinations", 17),
        ("map(block:16)", "needs a form and a pattern", 0),
        ("map(block:5, uniform)", "`5` does not divide 16 nodes", 10),
        ("map(block:0, uniform)", "`0` does not divide 16 nodes", 10),
        ("map(grid:3x5, uniform)", "`3x5` is not a grid of 16 nodes", 9),
        ("map(upside-down, uniform)", "is not a form of `map`", 4),
        ("map(block:3, transpose)", "`3` does not divide", 10),
        ("zipf(-1)", "s = -1 is out of range", 5),
        ("zipf(1, ranks=alphabet)", "ranks does not know `alphabet`", 14),
        ("local-gauss(0)", "s = 0 is out of range", 12),
    ] {
        let refusal = spatial::parse(text, &grid, 1).unwrap_err().to_string();
        assert!(refusal.contains(what), "{text}: {refusal}");
        assert!(refusal.ends_with(&format!("\n  {text}\n  {:caret$}^", "")), "{text}: {refusal}");
    }
    // The inner pattern is rejected where the whole would not be.
    let grid = Geometry::new(&[8, 6]).unwrap();
    assert!(spatial::parse("map(block:12, transpose)", &grid, 1).unwrap_err().to_string().contains("not 12"));
    assert!(spatial::parse("map(block:16, transpose)", &grid, 1).is_ok());
}
