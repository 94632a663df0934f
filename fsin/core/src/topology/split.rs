//! The least load of the busiest link of an all-to-all on shortest routes.

use trgen::NodeId;

use super::Topology;

/// Steps of a search: each narrows an interval to two thirds, and 90 of them exhaust the digits of a number.
const STEPS: usize = 90;

/// \[messages\] The load of the busiest link if every node sends a message to every other one, and each pair divides
/// its message over its shortest routes so that this load is as small as possible. `None` where the links of a
/// dimension are not all alike, and for more than three dimensions.
///
/// In a vertex-transitive direct network a routing can be shifted to every node in turn; on average over all shifts the
/// links of a dimension carry the same. So it is enough to choose, for each destination of one node, the shares of
/// hops in each dimension. The least maximum over dimensions is the greatest minimum over weights of the dimensions
/// (the dual of the linear programme), a concave function of up to two free weights.
#[must_use]
pub fn least_busiest_load(topology: &dyn Topology) -> Option<f64> {
    let shape = topology.shape();
    if shape.is_switched() || !topology.is_vertex_transitive() || !(1..=3).contains(&shape.dimensions) {
        return None;
    }
    // By dimension: whether it has two links of a node, one, or none.
    let links = |dimension: usize| {
        let at = |positive| topology.neighbour(NodeId(0), shape.port(dimension, positive));
        let both = [at(true), (shape.ways == 2).then(|| at(false)).flatten()];
        if both[0] == both[1] { both[0].iter().count() } else { both.into_iter().flatten().count() }
    };
    let links: Vec<usize> = (0..shape.dimensions).map(links).collect();
    // By destination: the hops in each dimension of every shortest route.
    let routes: Vec<Vec<[f64; 3]>> = (1..topology.nodes())
        .map(|to| {
            let hops = topology.routes(NodeId(0), NodeId::at(to)).into_iter();
            let mut hops: Vec<[u16; 3]> = hops.map(|route| [0, 1, 2].map(|at| route[at].unsigned_abs())).collect();
            hops.sort_unstable();
            hops.dedup();
            let loads = |hops: [u16; 3]| {
                let load = |at: usize| f64::from(hops[at]) / links.get(at).copied().unwrap_or(0).max(1) as f64;
                [load(0), load(1), load(2)]
            };
            hops.into_iter().map(loads).collect()
        })
        .collect();
    let weighted = |weights: [f64; 3]| -> f64 {
        let of = |loads: &[f64; 3]| loads.iter().zip(weights).map(|(load, weight)| load * weight).sum::<f64>();
        routes.iter().map(|routes| routes.iter().map(of).fold(f64::INFINITY, f64::min)).sum()
    };
    Some(match shape.dimensions {
        1 => weighted([1.0, 0.0, 0.0]),
        2 => greatest(1.0, |x| weighted([x, 1.0 - x, 0.0])),
        _ => greatest(1.0, |x| greatest(1.0 - x, |y| weighted([x, y, 1.0 - x - y]))),
    })
}

/// The greatest value of a concave function between 0 and `end`.
fn greatest(end: f64, of: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (0.0, end);
    for _ in 0..STEPS {
        let (left, right) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
        if of(left) < of(right) { low = left } else { high = right }
    }
    of((low + high) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::parse;

    #[test]
    fn twisted_tori_load_all_links_alike() {
        for (spec, load) in [
            ("torus:8", 8.0),
            ("torus:4x8", 32.0),
            ("torus:4x4x8", 128.0),
            ("twisted:4x8:xy=4", 21.0),
            ("twisted:4x4x8:xz=4,yz=4", 220.0 / 3.0),
        ] {
            let found = least_busiest_load(&*parse(spec, 2).unwrap()).unwrap();
            assert!((found - load).abs() < 1e-6, "{spec}: {found}");
        }
        for spec in ["mesh:4x4", "fattree:4,2", "torus:2x2x2x2"] {
            assert_eq!(least_busiest_load(&*parse(spec, 2).unwrap()), None, "{spec}");
        }
    }
}
