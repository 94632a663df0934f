//! Every spatial pattern of the registry at three sizes, against a second construction on coordinates, binary digits and
//! weights. A row of the registry without one fails.
//!
//! The sizes share no factor, except where a pattern is defined for powers of two alone, or for squares.

use statrs::distribution::{ContinuousCDF, Normal};
use trgen::rng::{Purpose, stream};
use trgen::synthetic::spatial::{self, PATTERNS};
use trgen::{Geometry, NodeId};

use super::patterns::{check, hot, splits};

/// Weights of all destinations of a source in a grid of these sizes.
type Weights = fn(&[u32], u32) -> Vec<f64>;

/// 35, 33 and 16 nodes.
const ANY: &[&[u32]] = &[&[5, 7], &[11, 3], &[2, 2, 4]];
/// 25, 49 and 16 nodes.
const SQUARES: &[&[u32]] = &[&[5, 5], &[7, 7], &[4, 4]];
/// Powers of two of an odd and an even exponent.
const BITS: &[&[u32]] = &[&[8], &[4, 4], &[2, 4, 4]];
/// Multiples of four.
const FOURS: &[&[u32]] = &[&[4, 5], &[4, 7], &[4, 11]];

/// The coordinates of a node.
fn at(sizes: &[u32], node: u32) -> Vec<u32> {
    let strides = (0..sizes.len()).map(|dimension| sizes[..dimension].iter().product::<u32>());
    strides.zip(sizes).map(|(stride, size)| node / stride % size).collect()
}

/// The node at coordinates.
fn node(sizes: &[u32], at: &[u32]) -> u32 {
    (0..sizes.len()).map(|dimension| at[dimension] * sizes[..dimension].iter().product::<u32>()).sum()
}

fn count(sizes: &[u32]) -> u32 {
    sizes.iter().product()
}

fn among(sizes: &[u32], is_one: impl Fn(u32) -> bool) -> Vec<f64> {
    (0..count(sizes)).map(|to| f64::from(u8::from(is_one(to)))).collect()
}

/// One destination; none if it is the source.
fn only(sizes: &[u32], source: u32, to: u32) -> Vec<f64> {
    among(sizes, |node| node == to && node != source)
}

/// One destination, by the binary digits of the source, most significant first.
fn digits(sizes: &[u32], source: u32, permute: impl Fn(&mut Vec<char>)) -> Vec<f64> {
    let width = count(sizes).ilog2() as usize;
    let mut digits: Vec<char> = format!("{source:0width$b}").chars().collect();
    permute(&mut digits);
    only(sizes, source, u32::from_str_radix(&digits.into_iter().collect::<String>(), 2).unwrap())
}

/// One destination, with each coordinate moved.
fn moved(sizes: &[u32], source: u32, by: impl Fn(usize, u32) -> u32) -> Vec<f64> {
    let to: Vec<u32> = at(sizes, source).iter().enumerate().map(|(d, x)| (x + by(d, sizes[d])) % sizes[d]).collect();
    only(sizes, source, node(sizes, &to))
}

/// \[hops\] On the torus.
fn distance(sizes: &[u32], from: u32, to: u32) -> u32 {
    let ends = at(sizes, from).into_iter().zip(at(sizes, to));
    ends.zip(sizes).map(|((one, other), size)| one.abs_diff(other).min(size - one.abs_diff(other))).sum()
}

/// Weights of distances, evenly among the nodes at each.
fn by_distance(sizes: &[u32], source: u32, weight: impl Fn(u32) -> f64) -> Vec<f64> {
    let hops: Vec<u32> = (0..count(sizes)).map(|to| distance(sizes, source, to)).collect();
    let alike = |far: u32| hops.iter().filter(|&&other| other == far).count() as f64;
    hops.iter().map(|&far| if far == 0 { 0.0 } else { weight(far) / alike(far) }).collect()
}

/// Shares of `local` by the offset in one dimension, in steps of 1/1680 and more, by listing all offsets.
fn offsets(size: u32) -> Vec<f64> {
    let size = i64::from(size);
    let far: Vec<i64> = if size < 15 { (8..=22 - size).collect() } else { (8..=size - 8).collect() };
    let both = |range: std::ops::RangeInclusive<i64>| range.flat_map(|by| [by, -by]).collect::<Vec<i64>>();
    let mut shares = vec![0.0; size as usize];
    for (share, offsets) in [(0.5, vec![-1, 0, 1]), (0.25, both(2..=3)), (0.125, both(4..=7)), (0.125, far)] {
        for by in &offsets {
            shares[by.rem_euclid(size) as usize] += share / offsets.len() as f64;
        }
    }
    shares
}

/// Weights of `local-gauss`: shares of distances by the normal distribution, then of hops per dimension.
fn gauss(sizes: &[u32], source: u32) -> Vec<f64> {
    let normal = Normal::new(0.0, 1.0).unwrap();
    let farthest: u32 = sizes.iter().map(|size| size / 2).sum();
    let mut weights = vec![0.0; count(sizes) as usize];
    for hops in 1..=farthest {
        let share = 2.0 * (normal.cdf(f64::from(hops)) - normal.cdf(f64::from(hops - 1)));
        for (split, part) in splits(sizes, hops) {
            for signs in 0..1u32 << sizes.len() {
                let to: Vec<u32> = (0..sizes.len())
                    .map(|d| {
                        (at(sizes, source)[d] + if signs >> d & 1 == 0 { split[d] } else { sizes[d] - split[d] })
                            % sizes[d]
                    })
                    .collect();
                weights[node(sizes, &to) as usize] += share * part / f64::from(1u32 << sizes.len());
            }
        }
    }
    weights
}

/// By row of the registry: a text of it, its grids, and the weights. `FILE` stands for a file of [`written`].
const SECOND: &[(&str, &str, &[&[u32]], Weights)] = &[
    ("uniform", "uniform", ANY, |sizes, source| among(sizes, |to| to != source)),
    ("transpose", "transpose", SQUARES, |sizes, source| {
        let [x, y] = at(sizes, source)[..] else { panic!("two dimensions") };
        only(sizes, source, node(sizes, &[y, x]))
    }),
    ("badperm-yarc", "badperm-yarc", SQUARES, |sizes, source| {
        let side = count(sizes).isqrt();
        among(sizes, |to| to != source && to % side == source / side)
    }),
    ("taper64", "taper64", &[&[64], &[8, 8], &[4, 4, 4]], |_, source| {
        let near = |to: u32| [0, 1, 7, 8, 9, 55, 56, 57, 63].contains(&((64 + to - source) % 64));
        let weight = |to| if to == source { 0.0 } else { 1.0 / 64.0 + if near(to) { 1.0 / 9.0 } else { 0.0 } };
        (0..64).map(weight).collect()
    }),
    ("complement", "complement", BITS, |sizes, source| only(sizes, source, count(sizes) - 1 - source)),
    ("butterfly", "butterfly", BITS, |sizes, source| {
        digits(sizes, source, |d| d.swap(0, count(sizes).ilog2() as usize - 1))
    }),
    ("shuffle", "shuffle", BITS, |sizes, source| digits(sizes, source, |d| d.rotate_left(1))),
    ("reversal", "reversal", BITS, |sizes, source| digits(sizes, source, |d| d.reverse())),
    ("tornado", "tornado", ANY, |sizes, source| moved(sizes, source, |_, size| size.div_ceil(2) - 1)),
    ("tornado-fsin", "tornado-fsin", ANY, |sizes, source| {
        only(sizes, source, (source + (sizes[0] - 1) / 2) % count(sizes))
    }),
    ("neighbor", "neighbor(-2)", ANY, |sizes, source| {
        moved(sizes, source, |d, size| if d == 0 { 2 * size - 2 } else { 0 })
    }),
    ("neighbor-all", "neighbor-all", ANY, |sizes, source| moved(sizes, source, |_, _| 1)),
    ("shift", "shift(-4)", ANY, |sizes, source| only(sizes, source, (source + count(sizes) - 4) % count(sizes))),
    ("groupshift", "groupshift(4, 2)", FOURS, |sizes, source| {
        among(sizes, |to| to / 4 == (source / 4 + 2) % (count(sizes) / 4) && to != source)
    }),
    ("asymmetric", "asymmetric", ANY, |sizes, source| {
        let half = count(sizes) / 2;
        among(sizes, |to| to % half == source % half && to < 2 * half && to != source)
    }),
    ("diagonal", "diagonal(self=true)", ANY, |sizes, source| {
        let weight = |to: u32| if to == source { 2.0 } else { f64::from(u8::from(to == (source + 1) % count(sizes))) };
        (0..count(sizes)).map(weight).collect()
    }),
    ("distribute", "distribute", ANY, |sizes, source| among(sizes, |to| to != source)),
    ("rsdist", "rsdist", ANY, |sizes, source| among(sizes, |to| to != source)),
    ("hotregion", "hotregion", ANY, |sizes, source| {
        // Eighths of a node that are in the region; the source's are drawn again.
        let part = |node: u32| f64::from(count(sizes).saturating_sub(8 * node).min(8));
        let all: f64 = (0..count(sizes)).filter(|&node| node != source).map(part).sum();
        let even = 0.75 / f64::from(count(sizes) - 1);
        (0..count(sizes)).map(|to| if to == source { 0.0 } else { even + 0.25 * part(to) / all }).collect()
    }),
    ("hotspot", "hotspot(0.3, 2, 9)", ANY, |sizes, source| hot(&Geometry::new(sizes).unwrap(), source, 0.3, &[2, 9])),
    ("semi", "semi", ANY, |sizes, source| {
        let is_low = |node| at(sizes, node)[0] < sizes[0] / 2;
        let is_in_plane = |node| at(sizes, node).iter().skip(2).all(|&z| z == 0);
        among(sizes, |to| is_low(source) && is_low(to) && is_in_plane(to) && to != source)
    }),
    ("local", "local", ANY, |sizes, source| {
        let (from, by) = (at(sizes, source), sizes.iter().map(|&size| offsets(size)).collect::<Vec<_>>());
        let share = |to: u32| -> f64 {
            at(sizes, to)
                .iter()
                .enumerate()
                .map(|(d, &x)| by[d][((x + sizes[d] - from[d]) % sizes[d]) as usize])
                .product()
        };
        (0..count(sizes)).map(|to| if to == source { 0.0 } else { share(to) }).collect()
    }),
    ("local-gauss", "local-gauss", ANY, gauss),
    ("population", "population(FILE.population)", ANY, |sizes, source| {
        by_distance(sizes, source, |far| [0.0, 3.0, 1.0, 1.0].get(far as usize).copied().unwrap_or(0.0))
    }),
    ("histogram", "histogram(FILE.histogram)", ANY, |sizes, source| {
        by_distance(sizes, source, |far| [0.0, 5.0, 0.0, 2.5].get(far as usize).copied().unwrap_or(0.0))
    }),
    ("zipf", "zipf(1.5, id)", ANY, |sizes, source| {
        let rank = |to: u32| f64::from(to - u32::from(to > source) + 1);
        (0..count(sizes)).map(|to| if to == source { 0.0 } else { rank(to).powf(-1.5) }).collect()
    }),
    ("matrix", "matrix(FILE.matrix)", ANY, |sizes, source| {
        (0..count(sizes)).map(|to| if to == source { 0.0 } else { f64::from((source + 2 * to) % 5) }).collect()
    }),
    ("rates", "rates(FILE.rates)", ANY, |sizes, source| {
        (0..count(sizes)).map(|to| if to == source { 0.0 } else { f64::from((source + 2 * to) % 5) }).collect()
    }),
    ("mix", "mix(3:uniform, 1:shift(2))", ANY, |sizes, source| {
        let even = 0.75 / f64::from(count(sizes) - 1);
        let to_shifted = |to: u32| if to == (source + 2) % count(sizes) { 0.25 } else { 0.0 };
        (0..count(sizes)).map(|to| if to == source { 0.0 } else { even + to_shifted(to) }).collect()
    }),
    ("compose", "compose(shift(3), neighbor-all)", ANY, |sizes, source| {
        let first = (source + 3) % count(sizes);
        let to: Vec<u32> = at(sizes, first).iter().zip(sizes).map(|(x, size)| (x + 1) % size).collect();
        only(sizes, source, node(sizes, &to))
    }),
    ("map", "map(stride:4, uniform)", FOURS, |sizes, source| {
        // Nodes that far apart, not so many parts: node i has those of the same remainder.
        among(sizes, |to| to % 4 == source % 4 && to != source)
    }),
];

/// Rows that draw a permutation of their own: each is checked as one.
const DRAWN: [&str; 2] = ["randperm", "bisect"];

/// Writes the files that texts name, for a number of nodes.
fn written(folder: &std::path::Path, nodes: u32) {
    let entry = |from: u32, to: u32| if from == to { 0 } else { (from + 2 * to) % 5 };
    let line = |from: u32| (0..nodes).map(|to| entry(from, to).to_string()).collect::<Vec<_>>().join(" ");
    let matrix = (0..nodes).map(line).collect::<Vec<_>>().join("\n");
    let rates = (0..nodes)
        .map(|from| (0..nodes).map(|to| format!("0.00{}", entry(from, to))).collect::<Vec<_>>().join(" "))
        .collect::<Vec<_>>()
        .join("\n");
    for (name, text) in
        [("population", "1 1 2 1 3"), ("histogram", "1 5\n3 2.5\n"), ("matrix", &matrix), ("rates", &rates)]
    {
        std::fs::write(folder.join(format!("FILE.{name}")), text).unwrap();
    }
}

#[test]
fn l4_every_pattern_at_three_sizes() {
    let folder = tempfile::tempdir().unwrap();
    let within = format!("({}/FILE.", folder.path().display());
    for row in PATTERNS.rows() {
        let name = row.component.name;
        // Demands are those of a network's file, and no grid has them.
        if DRAWN.contains(&name) || name == "demands" {
            continue;
        }
        let second = SECOND.iter().filter(|second| second.0 == name);
        assert_eq!(second.clone().count(), 1, "`{name}` needs a second construction here");
        for &(_, text, grids, weights) in second {
            for sizes in grids {
                written(folder.path(), count(sizes));
                let (grid, text) = (Geometry::new(sizes).unwrap(), text.replace("(FILE.", &within));
                for source in [0, count(sizes) / 2, count(sizes) - 1] {
                    check(&text, &grid, source, &weights(sizes, source));
                }
            }
        }
    }
}

#[test]
fn l4_drawn_permutations_at_three_sizes() {
    for sizes in ANY {
        let (nodes, grid) = (count(sizes), Geometry::new(sizes).unwrap());
        for name in DRAWN {
            let mut pattern = spatial::parse(name, &grid, 7).unwrap();
            let mut rng = stream(1, 0, Purpose::Spatial);
            let mut to = |node: u32| pattern.destination(NodeId(node), &mut rng).map_or(node, |to| to.0);
            let map: Vec<u32> = (0..nodes).map(&mut to).collect();
            let mut sorted = map.clone();
            sorted.sort_unstable();
            assert!(sorted.into_iter().eq(0..nodes), "{name} on {sizes:?}");
            if name == "bisect" {
                assert!((0..nodes).all(|node| map[map[node as usize] as usize] == node), "{name} on {sizes:?}");
                let alone = (0..nodes).filter(|&node| map[node as usize] == node).count();
                assert_eq!(alone, (nodes % 2) as usize, "{name} on {sizes:?}");
            }
        }
    }
}
