//! Random regular graphs.

use std::collections::HashSet;

use trgen::catalog::{Component, ErrorKind, Parameter, SpecError};
use trgen::rng::{Purpose, mix2, pick};

use super::graph::{MAX_MADE, Unplanned, unreached};
use super::named::Named;
use super::{Link, Switched, check_nodes};
use crate::topology::{Kind, Row, table::both_ways};

/// Row of `rrg`.
pub(in crate::topology) const RRG: Row = Row {
    component: Component {
        name: "rrg",
        about: "random regular graph (Jellyfish, rrg:s=16,d=4,p=2): s switches with d links to others, drawn by the seed, and p endpoints each",
        parameters: &[
            Parameter { name: "s", about: "switches", range: "3 to 4096, s d even", default: "" },
            Parameter {
                name: "d",
                about: "links of each switch to others",
                range: "2 to min(s - 1, 254)",
                default: "",
            },
            Parameter { name: "p", about: "endpoints of each switch", range: "1 to 254", default: "" },
            Parameter { name: "seed", about: "of the draw of the links", range: "whole number", default: "1" },
        ],
        source: "Singla, Hong, Popa, Godfrey, Jellyfish: networking data centers randomly, NSDI 2012",
    },
    kind: Kind::Switched,
    example: "rrg:s=16,d=4,p=2",
    build: |words, ways| both_ways(parse(words)?, ways),
};

/// A valid specification, for errors.
const EXAMPLE: &str = "rrg:s=16,d=4,p=2";

/// Parses `s=64,d=8,p=4,seed=1`.
fn parse(words: &str) -> Result<Switched, SpecError> {
    let spec = format!("rrg:{words}");
    let named = Named { spec: &spec, names: ["s", "d", "p", "seed"], example: EXAMPLE };
    let [Some(switches), Some(degree), Some(endpoints), seed] = named.parse(words)? else {
        return Err(named.lacks("s, d, p"));
    };
    named.within("s", switches, 3..=MAX_MADE as u32)?;
    let most = (switches - 1).min(254);
    if !(2..=most).contains(&degree) || !(switches * degree).is_multiple_of(2) {
        let what = format!("d = {degree} in `{spec}` is out of range");
        return Err(SpecError::new(ErrorKind::OutOfRange, what, format!("use 2 to {most}, with s d even")));
    }
    named.within("p", endpoints, 1..=254)?;
    let links = draw(switches, degree, seed.unwrap_or(1).into());
    let count = switches * endpoints;
    let nodes = check_nodes(&spec, Some(u64::from(count) + u64::from(switches)))?;
    let mut places = vec![0u32; switches as usize];
    let mut next = |switch: u32| {
        places[switch as usize] += 1;
        (count + switch, places[switch as usize] - 1)
    };
    let of_endpoints = (0..count).map(|endpoint| Link::new([(endpoint, 0), next(endpoint / endpoints)]));
    let mut all: Vec<Link> = of_endpoints.collect();
    all.extend(links.iter().map(|&(one, other)| Link::new([next(one), next(other)])));
    Switched::new(spec, count as usize, nodes, &all, None, Unplanned)
}

/// The links of a random regular graph that is connected. Begins with a regular graph, and swaps the ends of two random
/// links, many times for each link, wherever that creates no loop or double link.
fn draw(switches: u32, degree: u32, seed: u64) -> Vec<(u32, u32)> {
    let mut links = Vec::new();
    for switch in 0..switches {
        for jump in 1..=degree / 2 {
            links.push((switch, (switch + jump) % switches));
        }
        // An odd degree, and so an even number of switches: add a link across.
        if degree % 2 == 1 && switch < switches / 2 {
            links.push((switch, switch + switches / 2));
        }
    }
    let name = |a: u32, b: u32| (a.min(b), a.max(b));
    let mut known: HashSet<(u32, u32)> = links.iter().map(|&(a, b)| name(a, b)).collect();
    let key = mix2(mix2(seed, Purpose::Setup as u64), u64::from(switches) << 32 | u64::from(degree));
    let mut draws = 0;
    loop {
        for _ in 0..links.len() * EXCHANGES {
            let mut below = |bound: usize| {
                draws += 1;
                pick(mix2(key, draws), bound as u32) as usize
            };
            let (first, second, crossed) = (below(links.len()), below(links.len()), below(2) == 1);
            let ((a, b), (c, d)) = (links[first], links[second]);
            let (c, d) = if crossed { (d, c) } else { (c, d) };
            let (one, other) = ((a, c), (b, d));
            let new = a != c && b != d && !known.contains(&name(a, c)) && !known.contains(&name(b, d));
            if first == second || !new || name(a, c) == name(b, d) {
                continue;
            }
            known.remove(&name(a, b));
            known.remove(&name(c, d));
            known.insert(name(a, c));
            known.insert(name(b, d));
            (links[first], links[second]) = (one, other);
        }
        if unreached(switches as usize, &links).is_none() {
            return links;
        }
    }
}

/// Swap attempts for each link: several times as many as mixing needs.
const EXCHANGES: usize = 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn graphs_are_regular_simple_connected_and_their_seed_s() {
        for (switches, degree) in [(3, 2), (4, 3), (10, 3), (16, 4), (64, 8), (9, 8)] {
            let links = draw(switches, degree, 1);
            let mut counts = vec![0; switches as usize];
            let mut seen = HashSet::new();
            for &(a, b) in &links {
                assert!(a != b && seen.insert((a.min(b), a.max(b))), "{switches} {degree}");
                counts[a as usize] += 1;
                counts[b as usize] += 1;
            }
            assert!(counts.iter().all(|&count| count == degree) && unreached(switches as usize, &links).is_none());
            assert_eq!(links, draw(switches, degree, 1));
        }
        assert_ne!(draw(64, 8, 1), draw(64, 8, 2));
    }
}
