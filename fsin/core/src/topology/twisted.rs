//! Variants of tori in two or three dimensions: twisted tori, and the triangular torus of SpiNNaker.

use trgen::catalog::{Component, ErrorKind, Parameter, SpecError};
use trgen::{Geometry, NodeId};

use super::cayley::{Cayley, MAX_NODES, Step};
use super::grid::SIZES;
use super::{Kind, MAX_DIMENSIONS, Offsets, Row, check_once, number};

/// Row of `twisted`.
pub(super) const TWISTED: Row = Row {
    component: Component {
        name: "twisted",
        about: "torus whose rings are shifted where they wrap; 2a x a with skew a loads all its links alike under \
                uniform traffic; 2 n links of each node",
        parameters: &[
            SIZES,
            Parameter {
                name: "skews",
                about: "after a second colon: nodes by which x shifts when y wraps, or yx=4,zx=2,... (zx: x shifts when z wraps)",
                range: "0 to the size of the dimension that is shifted; two or three dimensions, no two shift each other",
                default: "",
            },
        ],
        source: "Camara, Moreto, Vallejo, Beivide et al., Twisted torus topologies for enhanced interconnection networks, \
                 TPDS 21(12), 2010",
    },
    kind: Kind::Direct,
    example: "twisted:8x4:4",
    build: |words, ways| Ok(Box::new(twisted(words, ways)?)),
};

/// Row of `spinnaker`.
pub(super) const SPINNAKER: Row = Row {
    component: Component {
        name: "spinnaker",
        about: "triangular torus: links along X, Y and the diagonal (+1, +1); degree 6; w x w has diameter floor(2 w / 3); of \
                equally short routes between two nodes packets take the same one",
        parameters: &[Parameter {
            name: "sizes",
            about: "width and height, separated by x",
            range: "two sizes of 1.., up to 2^24 nodes",
            default: "",
        }],
        source: "Furber, Temple, Brown, High-performance computing for systems of spiking neurons, 2006",
    },
    kind: Kind::Direct,
    example: "spinnaker:12x12",
    build: |words, ways| Ok(Box::new(spinnaker(words, ways)?)),
};

/// Names of the dimensions.
const AXES: [&str; 3] = ["x", "y", "z"];

/// The sizes in a text such as `8x4`.
pub(super) fn sizes(spec: &str, words: &str, example: &str) -> Result<Geometry, SpecError> {
    let parsed: Vec<u32> = words.split('x').map(|word| number(spec, word, example)).collect::<Result<_, _>>()?;
    let geometry = Geometry::new(&parsed).filter(|geometry| geometry.nodes() <= MAX_NODES);
    geometry.filter(|_| parsed.iter().all(|size| (1..=32_767).contains(size))).ok_or_else(|| {
        SpecError::new(
            ErrorKind::OutOfRange,
            format!("the sizes in `{spec}` are out of range"),
            "every size is 1 to 32767, and all together 2^24 nodes",
        )
    })
}

/// Checks the number of directions: links both ways, or only in + direction.
fn check_ways(ways: usize) -> Result<(), SpecError> {
    if (1..=2).contains(&ways) {
        return Ok(());
    }
    Err(SpecError::new(ErrorKind::Malformed, format!("{ways} ways per dimension do not exist"), "use 1 or 2"))
}

/// Parses `16x8:8`, or `8x8x4:yx=4,zx=2`.
pub(super) fn twisted(words: &str, ways: usize) -> Result<Cayley, SpecError> {
    const EXAMPLE: &str = "twisted:8x4:4";
    let spec = format!("twisted:{words}");
    let (before, skews) = words.split_once(':').unwrap_or((words, ""));
    let geometry = sizes(&spec, before, EXAMPLE)?;
    check_ways(ways)?;
    let n = geometry.sizes().len();
    if !(2..=3).contains(&n) {
        return Err(SpecError::new(
            ErrorKind::Malformed,
            format!("`{spec}` has {n} dimensions"),
            format!("use two or three, as in `{EXAMPLE}`"),
        ));
    }
    check_once(&spec, skews)?;
    let mut shifts = vec![vec![0i64; n]; n];
    for word in skews.split(',') {
        let (pair, skew) = word.split_once('=').unwrap_or(("yx", word));
        if n == 3 && !word.contains('=') {
            let what = format!("`{word}` in `{spec}` does not say which dimension shifts which");
            return Err(SpecError::new(
                ErrorKind::Malformed,
                what,
                format!("write yx={word} for x shifting when y wraps"),
            ));
        }
        let axis = |at: usize| AXES[..n].iter().position(|&axis| pair.get(at..=at) == Some(axis));
        let axes = (axis(0), axis(1), pair.len());
        let (Some(wrapping), Some(shifted), 2) = axes else {
            let what = format!("`{pair}` in `{spec}` does not name two dimensions");
            return Err(SpecError::new(
                ErrorKind::Malformed,
                what,
                format!("write yx=4 for x shifting by 4 when y wraps, or `{EXAMPLE}`"),
            ));
        };
        let skew = number(&spec, skew, EXAMPLE)?;
        let size = geometry.sizes()[shifted];
        if wrapping == shifted || skew > size {
            let what = format!("skew {word} in `{spec}` is out of range");
            return Err(SpecError::new(
                ErrorKind::OutOfRange,
                what,
                format!("use 0 to {size}, of a dimension other than the one that wraps"),
            ));
        }
        shifts[wrapping][shifted] = i64::from(skew % size);
    }
    let order = order(&shifts).ok_or_else(|| {
        let what = format!("in `{spec}` dimensions shift each other, so that their wraps have no order");
        SpecError::new(ErrorKind::Malformed, what, "leave out one of them: yx or xy, and no circle of three")
    })?;
    let unit = |dimension: usize| (0..n).map(|coordinate| i64::from(coordinate == dimension)).collect();
    let steps: Vec<Step> = (0..n).map(|dimension| Step { by: unit(dimension), is_across: false }).collect();
    Cayley::new(spec, geometry, (shifts, order), &steps, ways)
}

/// The dimensions in an order in which each one comes before those that it shifts; `None` if the shifts are cyclic.
fn order(shifts: &[Vec<i64>]) -> Option<Vec<usize>> {
    let mut order: Vec<usize> = Vec::new();
    while order.len() < shifts.len() {
        let free = |at: usize| (0..shifts.len()).all(|by| order.contains(&by) || shifts[by][at] == 0);
        let next = (0..shifts.len()).find(|&at| !order.contains(&at) && free(at))?;
        order.push(next);
    }
    Some(order)
}

/// Parses `12x12`: the triangular torus.
fn spinnaker(words: &str, ways: usize) -> Result<Cayley, SpecError> {
    const EXAMPLE: &str = "spinnaker:12x12";
    let spec = format!("spinnaker:{words}");
    let geometry = sizes(&spec, words, EXAMPLE)?;
    check_ways(ways)?;
    if geometry.sizes().len() != 2 {
        return Err(SpecError::new(
            ErrorKind::Malformed,
            format!("`{spec}` has not two sizes"),
            format!("write it as in `{EXAMPLE}`"),
        ));
    }
    let steps = [[1, 0], [0, 1], [1, 1]].map(|by| Step { by: by.to_vec(), is_across: false });
    Ok(Cayley::new(spec, geometry, (vec![vec![0; 2]; 2], vec![0, 1]), &steps, ways)?.with_fixed(triangular))
}

/// The route of packets in a triangular torus: hops along X, Y and the diagonal.
///
/// Candidates are the diagonal as far as Y goes, then X; the diagonal as far as X goes, then Y; X and Y. They are
/// evaluated for the differences of coordinates as they are, with Y wrapped, with X wrapped, and with both wrapped. The
/// first of the shortest candidates is the route. One of them is minimal: a route that wraps more often is no shorter.
fn triangular(geometry: &Geometry, ways: usize, from: NodeId, to: NodeId) -> Offsets {
    let (from, to) = (geometry.coordinates(from), geometry.coordinates(to));
    let straight = |at: usize| to[at] as i32 - from[at] as i32;
    let wrapped = |at: usize| {
        let size = geometry.sizes()[at] as i32;
        straight(at) - if straight(at) > 0 { size } else { -size }
    };
    let (dx, dy) = (straight(0), straight(1));
    let tries = [(dx, dy), (dx, wrapped(1)), (wrapped(0), dy), (wrapped(0), wrapped(1))];
    let candidates = tries.into_iter().flat_map(|(dx, dy)| [[dx - dy, 0, dy], [0, dy - dx, dx], [dx, dy, 0]]);
    // With one-way links all hops are in + direction.
    let possible = candidates.filter(|route| ways == 2 || route.iter().all(|&hops| hops >= 0));
    // A tie goes to the first.
    let route = possible.min_by_key(|route| route.iter().map(|hops| hops.unsigned_abs()).sum::<u32>());
    let mut offsets = [0; MAX_DIMENSIONS];
    for (offset, hops) in offsets.iter_mut().zip(route.unwrap_or_default()) {
        *offset = hops as i16;
    }
    offsets
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Topology;

    fn route(network: &Cayley, from: u32, to: u32) -> [i16; 3] {
        let mut drawn = false;
        let offsets = network.offsets(NodeId(from), NodeId(to), &mut |_| {
            drawn = true;
            true
        });
        assert!(!drawn, "nothing is drawn");
        [offsets[0], offsets[1], offsets[2]]
    }

    #[test]
    fn packets_of_a_triangular_torus_take_the_first_of_the_shortest_routes() {
        let network = spinnaker("6x6", 2).unwrap();
        let node = |x: u32, y: u32| x + 6 * y;
        // Hops along X, Y and the diagonal.
        for ((from, to), expected) in [
            (((0, 0), (2, 1)), [1, 0, 1]),
            (((0, 0), (1, 2)), [0, 1, 1]),
            (((0, 0), (2, 2)), [0, 0, 2]),
            (((2, 0), (1, 1)), [-1, 1, 0]),
            (((2, 2), (0, 1)), [-1, 0, -1]),
            (((0, 0), (0, 0)), [0, 0, 0]),
            // Three hops east, or west: the coordinates as they are.
            (((0, 0), (3, 0)), [3, 0, 0]),
            (((3, 0), (0, 0)), [-3, 0, 0]),
            (((0, 0), (3, 3)), [0, 0, 3]),
            (((3, 3), (0, 0)), [0, 0, -3]),
            // (3, -3): 6 hops as they are; with Y wrapped (3, 3), 3 hops.
            (((0, 3), (3, 0)), [0, 0, 3]),
            // (3, 1): 3 hops as they are; with X wrapped (-3, 1), 4 hops.
            (((0, 0), (3, 1)), [2, 0, 1]),
            // (4, 2): 4 hops as they are; Y wrapped (4, -4) 8; X wrapped (-2, 2) 4, which is not shorter; both (-2, -4)
            // 4.
            (((0, 0), (4, 2)), [2, 0, 2]),
            // (2, 4): 4 hops, the diagonal as far as X goes, then Y.
            (((0, 0), (2, 4)), [0, 2, 2]),
            // (-4, -2), and (4, -2), which is 6 hops as it is: with X wrapped it is (-2, -2).
            (((4, 2), (0, 0)), [-2, 0, -2]),
            (((0, 2), (4, 0)), [0, 0, -2]),
            // (1, 5): with Y wrapped it is (1, -1), by X and Y; with both wrapped (-5, -1).
            (((0, 0), (1, 5)), [1, -1, 0]),
        ] {
            let ((fx, fy), (tx, ty)): ((u32, u32), (u32, u32)) = (from, to);
            assert_eq!(route(&network, node(fx, fy), node(tx, ty)), expected, "{from:?} to {to:?}");
        }
    }

    #[test]
    fn fixed_routes_are_among_the_shortest_ones() {
        for (sizes, ways) in [("6x6", 2), ("7x5", 2), ("2x9", 2), ("1x5", 2), ("8x3", 1), ("5x7", 1), ("6x9", 2)] {
            let network = spinnaker(sizes, ways).unwrap();
            let nodes = network.nodes() as u32;
            for (from, to) in (0..nodes).flat_map(|from| (0..nodes).map(move |to| (from, to))) {
                let route = route(&network, from, to);
                let mut shortest = network.routes(NodeId(from), NodeId(to)).into_iter();
                let found = shortest.any(|one| one[..3] == route);
                assert!(found, "{sizes}, {ways} ways, {from} to {to}: {route:?}");
            }
        }
    }
}
