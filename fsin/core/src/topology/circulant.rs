//! Circulant graphs: a ring, and chords of the same lengths from every node.

use trgen::Geometry;
use trgen::catalog::{Component, ErrorKind, Parameter, SpecError};

use super::cayley::{Cayley, MAX_NODES, Step};
use super::{Kind, MAX_DIMENSIONS, Row, number};

/// The parameter of the number of nodes.
const NODES: Parameter = Parameter { name: "nodes", about: "N", range: "2 to 2^24", default: "" };

/// Row of `circulant`.
pub(super) const CIRCULANT: Row = Row {
    component: Component {
        name: "circulant",
        about: "N nodes in a ring, and links to those jumps j1, j2, ... away, in both directions: circulant:N:1,5",
        parameters: &[
            NODES,
            Parameter {
                name: "jumps",
                about: "after a second colon, separated by commas; dimension i is jump i",
                range: "1 to 20 different ones of 1..=N/2, with no common divisor of all and N",
                default: "",
            },
        ],
        source: "Bermond, Comellas, Hsu, Distributed loop computer networks: a survey, JPDC 24, 1995",
    },
    kind: Kind::Direct,
    example: "circulant:64:1,8",
    build: |words, ways| Ok(Box::new(circulant(words, ways)?)),
};

/// Row of `midimew`.
pub(super) const MIDIMEW: Row = Row {
    component: Component {
        name: "midimew",
        about: "circulant of jumps b-1 and b, b = ceil(sqrt(N/2)): least diameter ceil((sqrt(2N-1)-1)/2) and mean \
                distance of all with four links",
        parameters: &[NODES],
        source: "Beivide, Herrada, Balcazar, Arruabarrena, Optimal distance networks of low degree, TC 40(10), 1991",
    },
    kind: Kind::Direct,
    example: "midimew:100",
    build: |words, ways| Ok(Box::new(midimew(words, ways)?)),
};

/// Row of `circpk`.
pub(super) const CIRCPK: Row = Row {
    component: Component {
        name: "circpk",
        about: "circulant of p^k nodes and jumps 1, p, ..., p^(k-1): circpk:5^3; for odd p: diameter k (p-1) / 2",
        parameters: &[Parameter {
            name: "p^k",
            about: "base and number of jumps",
            range: "p of 2.., k of 1..=20, up to 2^24 nodes",
            default: "",
        }],
        source: "Park and Chwa, Recursive circulants and their embeddings among hypercubes, TCS 244, 2000",
    },
    kind: Kind::Direct,
    example: "circpk:5^3",
    build: |words, ways| Ok(Box::new(circpk(words, ways)?)),
};

/// Row of `spidergon`.
pub(super) const SPIDERGON: Row = Row {
    component: Component {
        name: "spidergon",
        about: "ring of N nodes with a link across (spidergon:16): degree 3, diameter ceil(N/4)",
        parameters: &[Parameter { name: "nodes", about: "N", range: "even, 4 to 2^24", default: "" }],
        source: "Coppola, Locatelli, Maruccia, Pieralisi, Scandurra, Spidergon: a novel on-chip communication network, 2004",
    },
    kind: Kind::Direct,
    example: "spidergon:16",
    build: |words, ways| Ok(Box::new(spidergon(words, ways)?)),
};

/// Parses `64:1,8`.
fn circulant(words: &str, ways: usize) -> Result<Cayley, SpecError> {
    const EXAMPLE: &str = "circulant:64:1,8";
    let spec = format!("circulant:{words}");
    let (nodes, jumps) = words.split_once(':').unwrap_or((words, ""));
    let nodes = number(&spec, nodes, EXAMPLE)?;
    let jumps: Vec<u32> = jumps.split(',').map(|jump| number(&spec, jump, EXAMPLE)).collect::<Result<_, _>>()?;
    build(spec, nodes, &jumps, ways)
}

/// Parses `100`: two chords that minimize the diameter of this number of nodes.
fn midimew(words: &str, ways: usize) -> Result<Cayley, SpecError> {
    let spec = format!("midimew:{words}");
    let nodes = number(&spec, words, "midimew:100")?;
    // The least b with 2 b^2 >= N. (Three nodes have no room for a chord of 2.)
    let long = (1..).find(|&long: &u64| 2 * long * long >= u64::from(nodes)).unwrap_or(1) as u32;
    let jumps: Vec<u32> =
        [long.saturating_sub(1), long].into_iter().filter(|&jump| jump > 0 && 2 * jump <= nodes).collect();
    build(spec, nodes, &jumps, ways)
}

/// Parses `5^3`: chords of the powers of the base.
fn circpk(words: &str, ways: usize) -> Result<Cayley, SpecError> {
    const EXAMPLE: &str = "circpk:5^3";
    let spec = format!("circpk:{words}");
    let (base, count) = words.split_once('^').unwrap_or((words, ""));
    let (base, count) = (number(&spec, base, EXAMPLE)?, number(&spec, count, EXAMPLE)?);
    let fits = base >= 2 && (1..=MAX_DIMENSIONS as u32).contains(&count);
    let nodes = base.checked_pow(count).filter(|&nodes| fits && nodes as usize <= MAX_NODES).ok_or_else(|| {
        let what = format!("`{spec}` is out of range");
        SpecError::new(
            ErrorKind::TooLarge,
            what,
            format!("use a base of 2 or more and 1 to {MAX_DIMENSIONS} jumps, at most 2^24 nodes"),
        )
    })?;
    let jumps: Vec<u32> = (0..count).map(|power| base.pow(power)).collect();
    build(spec, nodes, &jumps, ways)
}

/// Parses `16`: a ring with links across.
fn spidergon(words: &str, ways: usize) -> Result<Cayley, SpecError> {
    let spec = format!("spidergon:{words}");
    let nodes = number(&spec, words, "spidergon:16")?;
    if nodes < 4 || !nodes.is_multiple_of(2) {
        let what = format!("{nodes} nodes in `{spec}` are out of range");
        return Err(SpecError::new(ErrorKind::OutOfRange, what, "use an even number, 4 or more"));
    }
    build(spec, nodes, &[1, nodes / 2], ways)
}

/// Builds the circulant graph of `nodes` nodes whose chords have the lengths `jumps`.
fn build(spec: String, nodes: u32, jumps: &[u32], ways: usize) -> Result<Cayley, SpecError> {
    let bad = |what: String, remedy: String| Err(SpecError::new(ErrorKind::OutOfRange, what, remedy));
    if !(2..=MAX_NODES as u32).contains(&nodes) {
        return bad(format!("{nodes} nodes in `{spec}` are out of range"), "use 2 to 2^24 nodes".to_owned());
    }
    if !(1..=2).contains(&ways) {
        return bad(format!("{ways} ways per dimension do not exist"), "use 1 or 2".to_owned());
    }
    if jumps.len() > MAX_DIMENSIONS {
        return bad(format!("`{spec}` has {} jumps", jumps.len()), format!("use at most {MAX_DIMENSIONS}"));
    }
    if let Some(jump) = jumps.iter().find(|&&jump| !(1..=nodes / 2).contains(&jump)) {
        return bad(format!("jump {jump} in `{spec}` is out of range"), format!("use 1 to {}", nodes / 2));
    }
    if let Some((_, jump)) = jumps.iter().enumerate().find(|&(at, jump)| jumps[..at].contains(jump)) {
        return bad(format!("`{spec}` has jump {jump} twice"), "use different jumps".to_owned());
    }
    let divisor = jumps.iter().fold(nodes, |divisor, &jump| greatest_common_divisor(divisor, jump));
    if divisor > 1 {
        let what = format!("`{spec}` falls into {divisor} networks without links between them");
        return bad(what, "use jumps that have no common divisor with the number of nodes".to_owned());
    }
    let geometry = Geometry::new(&[nodes]);
    let geometry = geometry.ok_or_else(|| SpecError::new(ErrorKind::Malformed, "no nodes", "use 2 to 2^24 nodes"))?;
    let steps: Vec<Step> =
        jumps.iter().map(|&jump| Step { by: vec![jump.into()], is_across: 2 * jump == nodes }).collect();
    Cayley::new(spec, geometry, (vec![vec![0]], vec![0]), &steps, ways)
}

fn greatest_common_divisor(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}
