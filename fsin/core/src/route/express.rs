//! Concentrated meshes with express links: dimension order, and minimal adaptive routing with that as the escape.
//!
//! A packet takes an express link of its row or column, if there is one that does not lead beyond its destination, and
//! other links for the rest. So no hop leads away from the destination, though a way that does may be shorter.
//!
//! # Freedom from deadlock
//! In dimension order a packet goes along x in one direction and then along y in one direction, by express links and
//! others: each channel begins further on than the one before. So channels wait for each other in no cycle. The same is
//! true of escape channels, as an adaptive hop leads further on too.
//!
//! Sources: Balfour and Dally, *Design tradeoffs for tiled CMP on-chip networks*, ICS 2006; BookSim 2, `dor` of
//! `cmesh`.

use trgen::catalog::SpecError;

use super::table::{Build, Function};
use super::{Draw, Hop, RoutingFunction, Tier, Visit};
use crate::topology::switched::{Cube, Lattice};

/// Routes of a concentrated mesh with express links.
#[derive(Debug)]
struct Express {
    /// By router: x and y.
    coordinates: Vec<[u32; 2]>,
    /// \[switches\] By dimension.
    sizes: [u32; 2],
    /// True for minimal adaptive routing, false for dimension order.
    is_adaptive: bool,
}

/// The routing function of a mesh of such switches: dimension order or adaptive, as its row says.
pub(super) fn build(build: &Build<'_>, lattice: &Lattice) -> Result<Function, SpecError> {
    Ok(Function::boxed(Express {
        coordinates: coordinates(lattice),
        sizes: sizes(lattice),
        is_adaptive: build.adapts(1),
    }))
}

/// The coordinates of all switches of a lattice of two dimensions.
pub(super) fn coordinates(lattice: &Lattice) -> Vec<[u32; 2]> {
    let of_two = |switch| {
        let mut at = lattice.coordinates(switch);
        [at.next().unwrap_or(0), at.next().unwrap_or(0)]
    };
    lattice.switches().map(of_two).collect()
}

/// \[switches\] The sizes of a lattice of two dimensions.
pub(super) fn sizes(lattice: &Lattice) -> [u32; 2] {
    [lattice.sizes[0], lattice.sizes[1]]
}

/// The port of the hop along a dimension towards coordinate `to`, which is not that of the switch.
#[inline]
pub(super) fn port(sizes: [u32; 2], dimension: usize, at: [u32; 2], to: u32) -> u32 {
    let straight = 2 * dimension as u32 + u32::from(to < at[dimension]);
    Cube::express(sizes, dimension, at, to).unwrap_or(straight)
}

impl RoutingFunction for Express {
    fn classes(&self) -> usize {
        1
    }

    fn hops(&self, at: &Visit, _: &mut impl Draw, mut add: impl FnMut(Hop)) {
        let (here, there) = (self.coordinates[at.here], self.coordinates[at.home]);
        let mut left = [0, 1].into_iter().filter(|&dimension| here[dimension] != there[dimension]);
        let port = |dimension: usize| port(self.sizes, dimension, here, there[dimension]);
        if !self.is_adaptive {
            return left.take(1).for_each(|dimension| add(Hop::free(port(dimension))));
        }
        let Some(first) = left.next() else { return };
        for dimension in std::iter::once(first).chain(left) {
            add(Hop { tier: Tier::Adaptive, ..Hop::free(port(dimension)) });
        }
        add(Hop { tier: Tier::Escape, ..Hop::of_class(port(first), 1) });
    }

    fn has_phases(&self) -> bool {
        false
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use trgen::NodeId;

    use super::super::grid::CUBE_DOR;
    use super::*;
    use crate::route::{ByKey, ChannelPolicy};
    use crate::topology::{self, Port, Topology};

    /// The switch behind a port of another one, both counted from the first.
    fn behind(topology: &dyn Topology, switch: usize, port: u32) -> Option<usize> {
        let first = topology.endpoints();
        let there = topology.neighbour(NodeId::at(first + switch), Port::at(port as usize))?;
        there.index().checked_sub(first)
    }

    /// \[links\] Of a way of so many switches along a row or column of `size`: the express link is taken if it does not
    /// lead beyond.
    fn along(size: usize, way: usize, is_border: bool) -> usize {
        let reach = size.div_ceil(2);
        if is_border && way >= reach { 1 + way - reach } else { way }
    }

    #[test]
    fn links_and_hops_are_those_of_the_formulas() {
        for [wide, high] in [[4, 4], [5, 9], [7, 8], [11, 3]] {
            let topology = topology::parse(&format!("cmesh:{wide}x{high}:1:express"), 2).unwrap();
            let links: usize =
                (0..wide * high).map(|at| (0..6).filter(|&port| behind(&*topology, at, port).is_some()).count()).sum();
            let mesh = (wide - 1) * high + wide * (high - 1);
            for (at, port) in (0..wide * high).flat_map(|at| (0..6).map(move |port| (at, port))) {
                let first = topology.endpoints();
                let Some(there) = behind(&*topology, at, port) else { continue };
                let twins = (0..wide * high).filter(|&other| behind(&*topology, other, port) == Some(there)).count();
                assert_eq!(twins, 1, "links with number {port} to switch {}", first + there);
            }
            assert_eq!(links, 2 * (mesh + 2 * (wide / 2) + 2 * (high / 2)), "{wide}x{high}");
            let build = Build::new(&CUBE_DOR, &*topology, 1, ChannelPolicy::Free);
            let function = build.function().unwrap();
            for (from, to) in (0..wide * high).flat_map(|from| (0..wide * high).map(move |to| (from, to))) {
                let (source, destination) = (from as u32, to as u32);
                let mut at = Visit { source, destination, first: from, here: from, home: to, phase: 0 };
                let mut taken = 0;
                while at.here != to {
                    let mut hops = Vec::new();
                    function.hops(&at, &mut ByKey(0), |hop| hops.push(hop));
                    assert_eq!(hops.len(), 1, "{at:?}");
                    at.here = behind(&*topology, at.here, hops[0].port).unwrap();
                    taken += 1;
                }
                let [(x, y), (to_x, to_y)] = [from, to].map(|at| (at % wide, at / wide));
                let expected = along(wide, x.abs_diff(to_x), y == 0 || y + 1 == high)
                    + along(high, y.abs_diff(to_y), to_x == 0 || to_x + 1 == wide);
                assert_eq!(taken, expected, "{wide}x{high}: {from} to {to}");
            }
        }
    }

    /// Express links lead over half of a row or column of the border, and have ports of their own behind those of the
    /// mesh.
    #[test]
    fn express_links_have_ports_of_their_own() {
        let topology = topology::parse("cmesh:4x4:2x2:express", 2).unwrap();
        for (switch, port, there) in [(0, 4, 2), (3, 4, 1), (0, 5, 8), (12, 4, 14), (15, 4, 13), (15, 5, 7), (7, 5, 15)]
        {
            assert_eq!(behind(&*topology, switch, port), Some(there), "{switch} {port}");
        }
        assert_eq!((topology.endpoints(), topology.nodes()), (64, 80));
        let lengths = topology::parse("cmesh:4x4:2x2:spaced:express", 2).unwrap();
        // Cycles beyond the first: 2 of a tile, 4 of two tiles.
        assert_eq!([0, 4].map(|port| lengths.wire(NodeId::at(64), Port::at(port))), [1, 3]);
    }

    #[test]
    fn what_has_no_border_has_no_express_links() {
        for spec in ["cmesh:4x2:1:express", "cmesh:4:1:express", "cmesh:4x4x4:1:express", "icube:4x4:2:express"] {
            assert!(topology::parse(spec, 2).is_err(), "{spec}");
        }
    }
}
