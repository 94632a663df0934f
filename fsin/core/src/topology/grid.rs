//! Tori and meshes of any number of dimensions.

use trgen::catalog::{Component, ErrorKind, Parameter, SpecError};
use trgen::phrase;
use trgen::{Geometry, NodeId};

use super::{Kind, MAX_DIMENSIONS, Offsets, Port, Row, Topology};
use crate::divisor::Divisor;

/// The parameter of the sizes.
pub(super) const SIZES: Parameter = Parameter {
    name: "sizes",
    about: "nodes in each dimension, dimension 0 first, separated by x",
    range: "1 to 20 sizes of 1..=32767",
    default: "",
};

/// Row of `torus`.
pub(super) const TORUS: Row = Row {
    component: Component {
        name: "torus",
        about: "k-ary n-cube (torus:16x16): a grid whose every dimension closes to a ring; degree 2 n, diameter the sum of floor(k / 2), mean \
                distance N / (N - 1) times the sum of floor(k^2 / 4) / k, bisection 2 N / k links each way, k the largest and \
                even",
        parameters: &[SIZES],
        source: "Dally and Seitz, The Torus Routing Chip, 1986",
    },
    kind: Kind::Grid,
    example: "torus:8x8",
    build: |words, ways| Ok(Box::new(Grid::parse("torus", words, true, ways)?)),
};

/// Row of `mesh`.
pub(super) const MESH: Row = Row {
    component: Component {
        name: "mesh",
        about: "a grid without wrap-around links (mesh:8x8); border nodes have fewer neighbours; diameter the sum of k - 1, mean distance \
                N / (N - 1) times the sum of (k^2 - 1) / (3 k), bisection N / k links each way, k the largest and even",
        parameters: &[SIZES],
        source: "Duato, Yalamanchili, Ni, Interconnection Networks, 2003, section 1.6",
    },
    kind: Kind::Grid,
    example: "mesh:8x8",
    build: |words, ways| Ok(Box::new(Grid::parse("mesh", words, false, ways)?)),
};

/// Row of `hypercube`.
pub(super) const HYPERCUBE: Row = Row {
    component: Component {
        name: "hypercube",
        about: "2^n nodes (hypercube:6), links between numbers that differ in one bit; diameter n, mean distance n 2^(n-1) / (2^n - 1), \
                bisection 2^(n-1) links each way",
        parameters: &[Parameter { name: "dimensions", about: "n", range: "1 to 20", default: "" }],
        source: "Seitz, The cosmic cube, CACM 28(1), 1985",
    },
    kind: Kind::Grid,
    example: "hypercube:8",
    build: |words, _| Ok(Box::new(Grid::hypercube(words)?)),
};

/// Maximum number of nodes: node numbers and twice their number fit 32 bits.
const MAX_NODES: usize = 1 << 31;

/// A grid of nodes, wrapped in every dimension (torus) or in none (mesh).
#[derive(Clone, Debug)]
pub struct Grid {
    /// Name of the topology.
    name: String,
    /// Dimensions and sizes.
    geometry: Geometry,
    /// By dimension: its size, as a divisor.
    sizes: Vec<Divisor>,
    /// By dimension: distance between the numbers of neighbours.
    strides: Vec<u32>,
    /// True for a torus, false for a mesh.
    wraps: bool,
    /// Number of directions of each dimension: 1 or 2.
    ways: usize,
}

impl Grid {
    /// Parses `sizes` such as `16x16` for the topology `name`.
    pub(super) fn parse(name: &str, sizes: &str, wraps: bool, ways: usize) -> Result<Self, SpecError> {
        let bad = |what: String| SpecError::new(ErrorKind::Malformed, what, format!("write sizes as in `{name}:8x8`"));
        if sizes.is_empty() {
            return Err(bad(format!("topology `{name}` needs its sizes")));
        }
        let mut parsed = Vec::new();
        for word in sizes.split('x') {
            let size: u32 =
                word.parse().map_err(|_| bad(format!("size `{word}` in `{name}:{sizes}` is not a number")))?;
            if !(1..=32_767).contains(&size) {
                let what = format!("size {size} in `{name}:{sizes}` is out of range");
                return Err(SpecError::new(ErrorKind::OutOfRange, what, "every size is 1 to 32767"));
            }
            parsed.push(size);
        }
        if parsed.len() > MAX_DIMENSIONS {
            let what = format!("`{name}:{sizes}` has {} dimensions", parsed.len());
            return Err(SpecError::new(ErrorKind::TooLarge, what, format!("use at most {MAX_DIMENSIONS}")));
        }
        let geometry = Geometry::new(&parsed).filter(|geometry| geometry.nodes() <= MAX_NODES).ok_or_else(|| {
            SpecError::new(
                ErrorKind::TooLarge,
                format!("`{name}:{sizes}` has more than 2^31 nodes"),
                "use fewer or smaller dimensions",
            )
        })?;
        if !(1..=2).contains(&ways) {
            return Err(SpecError::new(
                ErrorKind::OutOfRange,
                format!("{ways} ways per dimension do not exist"),
                "use 1 or 2",
            ));
        }
        if ways == 1 && !wraps {
            let what = "a mesh with one-way links cannot reach every node";
            return Err(
                SpecError::new(ErrorKind::Conflict, what, phrase!["use ", ["ways" => 2], ", or a torus"]).of("ways")
            );
        }
        Ok(Self::new(name, geometry, wraps, ways))
    }

    /// A hypercube with this number of dimensions: one link for each dimension and node.
    fn hypercube(dimensions: &str) -> Result<Self, SpecError> {
        let spec = format!("hypercube:{dimensions}");
        let count = super::number(&spec, dimensions, "hypercube:8")? as usize;
        let geometry = (1..=MAX_DIMENSIONS).contains(&count).then(|| Geometry::new(&vec![2; count])).flatten();
        let geometry = geometry.ok_or_else(|| {
            SpecError::new(
                ErrorKind::TooLarge,
                format!("{count} dimensions in `{spec}` are out of range"),
                format!("use 1 to {MAX_DIMENSIONS}"),
            )
        })?;
        Ok(Self::new("hypercube", geometry, true, 1))
    }

    fn new(name: &str, geometry: Geometry, wraps: bool, ways: usize) -> Self {
        let mut stride = 1u32;
        let strides = geometry
            .sizes()
            .iter()
            .map(|&size| {
                let this = stride;
                stride = stride.wrapping_mul(size);
                this
            })
            .collect();
        let sizes = geometry.sizes().iter().map(|&size| Divisor::new(size as u16)).collect();
        Self { name: name.to_owned(), geometry, sizes, strides, wraps, ways }
    }

    /// The coordinate of a node in a dimension.
    fn coordinate(&self, node: NodeId, dimension: usize) -> u32 {
        node.0 / self.strides[dimension] % self.geometry.sizes()[dimension]
    }
}

impl Topology for Grid {
    fn spec(&self) -> String {
        if self.name == "hypercube" {
            return format!("{}:{}", self.name, self.geometry.sizes().len());
        }
        let sizes: Vec<String> = self.geometry.sizes().iter().map(u32::to_string).collect();
        format!("{}:{}", self.name, sizes.join("x"))
    }

    fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    fn ways(&self) -> usize {
        self.ways
    }

    fn is_grid(&self) -> bool {
        true
    }

    fn is_vertex_transitive(&self) -> bool {
        self.wraps
    }

    fn neighbour(&self, node: NodeId, port: Port) -> Option<NodeId> {
        let (dimension, positive) = self.shape().direction(port);
        let size = self.geometry.sizes()[dimension];
        let stride = self.strides[dimension];
        let here = self.coordinate(node, dimension);
        // A ring of one node has no link, and no packet needs one.
        let there = match (positive, self.wraps) {
            _ if size == 1 => return None,
            (true, _) if here + 1 < size => here + 1,
            (false, _) if here > 0 => here - 1,
            (true, true) => 0,
            (false, true) => size - 1,
            (_, false) => return None,
        };
        Some(NodeId(node.0 - here * stride + there * stride))
    }

    fn offsets(&self, from: NodeId, to: NodeId, positive: &mut dyn FnMut(usize) -> bool) -> Offsets {
        let mut offsets = [0i16; MAX_DIMENSIONS];
        let (mut from, mut to) = (from.0, to.0);
        let (last, has_two_ways) = (self.sizes.len() - 1, self.ways > 1);
        for (dimension, (size, offset)) in self.sizes.iter().zip(&mut offsets).enumerate() {
            let (here, there);
            // What is left after the other dimensions is the coordinate in the last one.
            ((here, from), (there, to)) = match dimension == last {
                true => ((from, 0), (to, 0)),
                false => (size.split(from), size.split(to)),
            };
            let (ahead, size) = (there as i32 - here as i32, size.number() as i32);
            let hops = if !self.wraps {
                ahead
            } else {
                let up = if ahead < 0 { ahead + size } else { ahead };
                // Unpredictable, so computed without a branch. All bits are set if the shorter direction is down.
                let down = if has_two_ways { (size - 2 * up) >> 31 } else { 0 };
                let is_tie = has_two_ways && 2 * up == size;
                if is_tie && !positive(dimension) { up - size } else { up - (size & down) }
            };
            *offset = hops as i16;
        }
        offsets
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::parse;

    fn walk(topology: &dyn Topology, from: NodeId, to: NodeId) -> usize {
        let offsets = topology.offsets(from, to, &mut |_| true);
        let mut at = from;
        let mut hops = 0;
        for (dimension, &offset) in offsets.iter().enumerate() {
            for _ in 0..offset.unsigned_abs() {
                at = topology.neighbour(at, topology.shape().port(dimension, offset > 0)).unwrap();
                hops += 1;
            }
        }
        assert_eq!(at, to);
        hops
    }

    #[test]
    fn routes_lead_there_and_are_minimal() {
        for (spec, ways, total) in [
            // Sums of distances over all ordered pairs, from the closed forms.
            ("torus:5", 2, 5 * 6),
            ("torus:6", 2, 6 * 9),
            ("torus:6", 1, 6 * 15),
            ("mesh:5", 2, 40),
            ("torus:4x4", 2, 16 * 32),
            ("torus:3x1x2", 2, 6 * (2 * 2 + 3)),
        ] {
            let topology = parse(spec, ways).unwrap();
            let nodes = topology.nodes() as u32;
            let sum: usize =
                (0..nodes * nodes).map(|pair| walk(&*topology, NodeId(pair / nodes), NodeId(pair % nodes))).sum();
            assert_eq!(sum, total, "{spec}");
        }
    }

    #[test]
    fn neighbours_are_mutual() {
        for spec in ["torus:4x3", "mesh:4x3", "torus:2x2", "torus:1x5"] {
            let topology = parse(spec, 2).unwrap();
            for node in 0..topology.nodes() {
                for port in 0..topology.shape().ports() as u32 {
                    if let Some(other) = topology.neighbour(NodeId::at(node), Port(port)) {
                        let back = Port(port ^ 1);
                        assert_eq!(topology.neighbour(other, back), Some(NodeId::at(node)), "{spec}");
                    }
                }
            }
        }
    }
}
