//! Grids, direct and of switches: dimension order, and minimal adaptive routing with dimension order as the escape.
//!
//! # Freedom from deadlock
//! In dimension order, packets wait only for channels of the same dimension or of a later one, and minimal adaptive
//! routes never return to the escape channels of a dimension that they have completed. So a cycle of escape channels
//! lies within one ring (or line), and it is enough to check each ring by itself ([`Ring`]).

use std::collections::BTreeSet;

use trgen::NodeId;
use trgen::catalog::{Component, SpecError};

use super::channels::RingClasses;
use super::express;
use super::table::{Build, Choice, Function, Row, Serves, planned};
use super::{ChannelPolicy, Draw, Hop, RoutingFunction, Tier, Visit};
use crate::topology::Topology;
use crate::topology::switched::Cube;

/// Names of dimension order in other simulators and textbooks.
pub(super) const ORDER: &[&str] = &["e-cube", "dimension-order", "dim_order", "xy", "hyperx:dor", "cube:oblivious"];
/// Names of minimal adaptive routing in other simulators and textbooks.
pub(super) const MINIMAL_ADAPTIVE: &[&str] = &["minimal-adaptive", "min_adapt", "cube:adaptive", "tree:adaptive"];
const DALLY: &str = "Dally, Seitz, Deadlock-free message routing in multiprocessor interconnection networks, 1987";
const DUATO: &str = "Duato, A new theory of deadlock-free adaptive routing in wormhole networks, 1993";
/// Grids of switches: indirect cubes and concentrated meshes.
const CUBES: Serves = Serves::Only(&["icube", "cmesh"]);
const PUENTE: &str = "Puente, Izu, Beivide et al., The adaptive bubble router, JPDC 61(9), 2001";

/// Dimension order in a direct grid.
pub(super) static DOR: Row = Row {
    component: Component {
        name: "dor",
        about: "tori, meshes, hypercubes: dimension by dimension, the shorter way round; two classes of channels on rings \
                ({vc-classes}), or a bubble",
        parameters: &[],
        source: DALLY,
    },
    aliases: ORDER,
    serves: Serves::Grids,
    policy: ChannelPolicy::Dateline,
    why: "one for each class",
    choice: Choice::One,
    build: |build| Ok(Function::Grid(Grid::new(build, &Plan::direct(build.topology)))),
};

/// What BookSim calls `min_adapt` in a mesh.
pub(super) static BOOKSIM_MIN_ADAPT: Row = Row {
    component: Component {
        name: "booksim-min-adapt",
        about: "meshes: dimension order; a packet that is on channel 0 stays there, others take any channel. BookSim's min_adapt, \
                which does not adapt",
        parameters: &[],
        source: "BookSim 2, Jiang et al., ISPASS 2013",
    },
    aliases: &[],
    serves: Serves::Only(&["mesh"]),
    policy: ChannelPolicy::Free,
    why: "",
    // Only models that compute lists of candidates know the channel that a packet occupies.
    choice: Choice::Any,
    ..DOR
};

/// Minimal adaptive routing in a direct grid.
pub(super) static ADAPTIVE: Row = Row {
    component: Component {
        name: "adaptive",
        about: "tori, meshes, hypercubes: any minimal hop on adaptive channels, dimension order on escape channels",
        parameters: &[],
        source: DUATO,
    },
    aliases: MINIMAL_ADAPTIVE,
    serves: Serves::Grids,
    policy: ChannelPolicy::Escape(&ChannelPolicy::Dateline),
    why: "one of them adaptive",
    choice: Choice::Any,
    build: |build| Ok(Function::Grid(Grid::new(build, &Plan::direct(build.topology)))),
};

/// Dimension order in a grid of switches.
pub static CUBE_DOR: Row = Row {
    component: Component {
        name: "dor",
        about: "icube, cmesh: dimension by dimension, the shorter way round, by an express link that does not lead too far; two \
                classes of channels on rings ({vc-classes}), or a bubble on the channel that a packet keeps while going straight",
        parameters: &[],
        source: PUENTE,
    },
    serves: CUBES,
    build: of_switches,
    ..DOR
};

/// Minimal adaptive routing in a grid of switches.
pub static CUBE_ADAPTIVE: Row = Row {
    component: Component {
        name: "adaptive",
        about: "icube, cmesh: any minimal hop on adaptive channels; escape channels in dimension order",
        parameters: &[],
        source: PUENTE,
    },
    serves: CUBES,
    build: of_switches,
    ..ADAPTIVE
};

/// As [`CUBE_DOR`], without the express links of a concentrated mesh.
pub(super) static CMESH_WITHOUT_EXPRESS: Row = Row {
    component: Component {
        name: "dor-no-express",
        about: "cmesh: dimension by dimension, without express links, if there are any",
        parameters: &[],
        source: "BookSim 2, dor_no_express; Balfour and Dally, Design tradeoffs for tiled CMP on-chip networks, ICS 2006",
    },
    aliases: &["dor_no_express"],
    serves: Serves::Only(&["cmesh"]),
    build: |build| Ok(Function::boxed(AsItIs(Grid::new(build, &Plan::of_switches(planned(build.topology)?))))),
    ..CUBE_DOR
};

/// A grid that is proven as it is, since no network of one dimension has a routing of this name.
#[derive(Debug)]
struct AsItIs(Grid);

impl RoutingFunction for AsItIs {
    fn classes(&self) -> usize {
        self.0.classes()
    }

    fn hops(&self, at: &Visit, draw: &mut impl Draw, add: impl FnMut(Hop)) {
        self.0.hops(at, draw, add);
    }

    fn only(&self, at: &Visit, draw: &mut impl Draw) -> Option<Hop> {
        self.0.only(at, draw)
    }

    fn has_phases(&self) -> bool {
        false
    }
}

/// The function of a grid of switches: by express links where there are any.
fn of_switches(build: &Build<'_>) -> Result<Function, SpecError> {
    let cube: &Cube = planned(build.topology)?;
    if cube.is_express {
        return express::build(build, &cube.lattice);
    }
    Ok(Function::Grid(Grid::new(build, &Plan::of_switches(cube))))
}

/// One dimension of a grid.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Ring {
    /// \[nodes\] Length of the dimension.
    pub size: u32,
    /// True for a ring, false for a line.
    pub wraps: bool,
    /// Number of directions: 1 for links in + direction only.
    pub ways: usize,
}

impl Ring {
    /// True if two nodes or more form a cycle. Two nodes form none: each is the other's neighbour.
    const fn is_cycle(self) -> bool {
        self.wraps && self.size > 2
    }

    /// True if the shorter way between two coordinates leads in + direction. If both ways are equally long, `coin`
    /// decides.
    #[inline(always)]
    fn is_positive(&self, (from, to): (u32, u32), coin: impl FnOnce() -> bool) -> bool {
        if !self.wraps {
            return to > from;
        }
        if self.ways == 1 {
            return true;
        }
        let distance = if to >= from { to - from } else { to + self.size - from };
        match (2 * distance).cmp(&self.size) {
            std::cmp::Ordering::Less => true,
            std::cmp::Ordering::Greater => false,
            std::cmp::Ordering::Equal => coin(),
        }
    }
}

/// What a grid of routers consists of.
struct Plan {
    rings: Vec<Ring>,
    /// The dimensions in the order of routes.
    order: Vec<usize>,
    /// By router and dimension: the coordinate.
    coordinates: Vec<u16>,
}

impl Plan {
    /// The nodes of a direct network.
    fn direct(topology: &dyn Topology) -> Self {
        let nodes = (0..topology.nodes()).map(NodeId::at);
        let coordinates = nodes.flat_map(|node| topology.geometry().coordinates(node)).map(|at| at as u16).collect();
        let rings = rings(topology);
        Self { order: topology.usual().order.dimensions(rings.len()), rings, coordinates }
    }

    /// The switches of an indirect cube or concentrated mesh.
    fn of_switches(cube: &Cube) -> Self {
        let lattice = &cube.lattice;
        let ring = |&size: &u32| Ring { size, wraps: cube.wraps, ways: 2 };
        let order = (0..lattice.sizes.len()).collect();
        let coordinates = lattice.switches().flat_map(|switch| lattice.coordinates(switch).map(|at| at as u16));
        Self { rings: lattice.sizes.iter().map(ring).collect(), order, coordinates: coordinates.collect() }
    }
}

/// Routes of a grid.
#[derive(Debug)]
pub struct Grid {
    /// By dimension.
    rings: Vec<Ring>,
    /// The dimensions in the order of routes.
    order: Vec<usize>,
    /// By router and dimension: the coordinate.
    coordinates: Vec<u16>,
    /// How the channels of a ring are divided into classes.
    classes: RingClasses,
    /// True if a dimension is a ring of three nodes or more.
    has_rings: bool,
    /// True for minimal adaptive routing, false for dimension order.
    adaptive: bool,
    /// Number of ports of each dimension: 1 or 2.
    ways: usize,
}

/// Label of the draw of the direction where both ways are equally long. The dimension is added.
const TIE: u32 = 0;
/// Label of the draw of the class of channels. The dimension is added.
const CLASS: u32 = 64;

/// \[nodes\] Rings are proven up to this size. Classes and directions depend only on the order of two coordinates and
/// on the halves of a ring, so longer rings depend in the same way.
const LONGEST_RING: u32 = 64;

/// The dimensions of a direct grid.
fn rings(topology: &dyn Topology) -> Vec<Ring> {
    let shape = topology.shape();
    let sizes = topology.geometry().sizes();
    let ring = |(dimension, &size): (usize, &u32)| {
        // The last node of a dimension has a neighbour further on, if the dimension wraps.
        let mut at = vec![0; sizes.len()];
        at[dimension] = size - 1;
        let last = topology.geometry().node(&at);
        let wraps = topology.neighbour(last, shape.port(dimension, true)).is_some();
        Ring { size, wraps, ways: shape.ways }
    };
    sizes.iter().enumerate().map(ring).collect()
}

/// True if a dimension of a grid, direct or of switches, is a ring of three routers or more.
#[must_use]
pub fn has_rings(topology: &dyn Topology) -> bool {
    match planned::<Cube>(topology) {
        Ok(cube) => cube.wraps && cube.lattice.sizes.iter().any(|&size| size > 2),
        Err(_) => topology.is_grid() && rings(topology).into_iter().any(Ring::is_cycle),
    }
}

impl RoutingFunction for Grid {
    fn classes(&self) -> usize {
        1 + usize::from(self.has_rings)
    }

    fn has_phases(&self) -> bool {
        false
    }

    #[inline]
    fn hops(&self, at: &Visit, draw: &mut impl Draw, mut add: impl FnMut(Hop)) {
        if !self.adaptive {
            return add(self.dimension_order(at, draw));
        }
        let mut escape = None;
        let (here, there) = (self.coordinates(at.here), self.coordinates(at.home));
        for &dimension in self.order.iter().filter(|&&dimension| here[dimension] != there[dimension]) {
            let ends = (here[dimension].into(), there[dimension].into());
            let positive = self.rings[dimension].is_positive(ends, || draw.draw(TIE + dimension as u32, 2) == 0);
            let port = self.port(dimension, positive);
            add(Hop { tier: Tier::Adaptive, ..Hop::free(port) });
            let still_wraps = self.has_rings && wraps(ends, positive);
            escape.get_or_insert(Hop { tier: Tier::Escape, ..Hop::of_class(port, 1 + u8::from(still_wraps)) });
        }
        escape.into_iter().for_each(add);
    }

    #[inline(always)]
    fn only(&self, at: &Visit, draw: &mut impl Draw) -> Option<Hop> {
        (!self.adaptive).then(|| self.dimension_order(at, draw))
    }

    /// Each ring by itself, in a direct network of one dimension.
    fn specimens(&self) -> Option<Vec<(String, usize)>> {
        let distinct: BTreeSet<Ring> = self.rings.iter().copied().filter(|ring| ring.size > 1).collect();
        let of_ring = |ring: Ring| {
            let size = if ring.size > LONGEST_RING { LONGEST_RING - ring.size % 2 } else { ring.size };
            (format!("{}:{size}", if ring.wraps { "torus" } else { "mesh" }), ring.ways)
        };
        Some(distinct.into_iter().filter(|ring| ring.ways > 1 || ring.size > 2).map(of_ring).collect())
    }
}

/// True if a way from one coordinate to another leads over the wrap-around link.
const fn wraps((from, to): (u32, u32), positive: bool) -> bool {
    if positive { from > to } else { from < to }
}

impl Grid {
    fn new(build: &Build<'_>, plan: &Plan) -> Self {
        Self {
            ways: plan.rings.first().map_or(1, |ring| ring.ways),
            has_rings: plan.rings.iter().any(|ring| ring.is_cycle()),
            rings: plan.rings.clone(),
            order: plan.order.clone(),
            coordinates: plan.coordinates.clone(),
            classes: build.rings,
            adaptive: build.adapts(1 + usize::from(plan.rings.iter().any(|ring| ring.is_cycle()))),
        }
    }

    /// The port of a dimension and direction.
    #[inline(always)]
    fn port(&self, dimension: usize, positive: bool) -> u32 {
        (dimension * self.ways + usize::from(!positive && self.ways == 2)) as u32
    }

    /// By dimension: the coordinates of a router.
    #[inline(always)]
    fn coordinates(&self, router: usize) -> &[u16] {
        let dimensions = self.rings.len();
        &self.coordinates[router * dimensions..][..dimensions]
    }

    /// The next hop in dimension order.
    #[inline(always)]
    pub fn dimension_order(&self, at: &Visit, draw: &mut impl Draw) -> Hop {
        let (here, there) = (self.coordinates(at.here), self.coordinates(at.home));
        let is_left = |&dimension: &usize| here[dimension] != there[dimension];
        let dimension = self.order.iter().copied().find(is_left).unwrap_or(0);
        let (here, to) = (u32::from(here[dimension]), u32::from(there[dimension]));
        // In dimension order, a packet enters a dimension at the coordinate of its source.
        let from = self.coordinates(at.first)[dimension].into();
        let ring = &self.rings[dimension];
        let positive = ring.is_positive((from, to), || draw.draw(TIE + dimension as u32, 2) == 0);
        let class = match ring.is_cycle() {
            true => 1 + self.ring_class(dimension, (from, here, to), positive, draw),
            false => Hop::ANY,
        };
        Hop::of_class(self.port(dimension, positive), class)
    }

    /// The class (0 or 1) of the next channel of a packet that entered the ring at coordinate `from`, is at `here` and
    /// leaves it at `to`.
    #[inline(always)]
    fn ring_class(
        &self,
        dimension: usize,
        (from, here, to): (u32, u32, u32),
        positive: bool,
        draw: &mut impl Draw,
    ) -> u8 {
        let will_wrap = wraps((from, to), positive);
        match self.classes {
            RingClasses::PerDimension => u8::from(from > to),
            RingClasses::Dateline => u8::from(will_wrap && !wraps((here, to), positive)),
            RingClasses::Balanced => {
                let middle = (self.rings[dimension].size - 1) / 2;
                let (low, high) = (from.min(to), from.max(to));
                if will_wrap {
                    1
                } else if low <= middle && middle < high {
                    0
                } else {
                    draw.draw(CLASS + dimension as u32, 2) as u8
                }
            }
        }
    }
}
