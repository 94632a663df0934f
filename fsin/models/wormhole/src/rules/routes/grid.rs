//! Grids: dimension order, and minimal adaptive routing with dimension order as the escape.
//!
//! # Freedom from deadlock
//! In dimension order, packets wait only for channels of the same dimension or of a later one, and minimal adaptive
//! routes never return to the escape channels of a dimension that they have completed. So a cycle of escape channels
//! lies within one ring (or line), and it is enough to check each ring by itself ([`Ring`]).

use fsin_core::topology::Topology;
use trgen::NodeId;
use trgen::catalog::{Component, SpecError};

use super::row::{Choice, Function, Networks, Row, Vcs, Visit, Wake};
use super::{Candidate, Draw, Head, Tier, mask};
use crate::params::{Params, Routing, VcClasses};

pub(super) static DOR: Row = Row {
    component: Component {
        name: "dor",
        about: "dimension by dimension, the shorter way round; two classes of channels on rings ({vc-classes})",
        parameters: &[],
        source: "Dally, Seitz, Deadlock-free message routing in multiprocessor interconnection networks, 1987",
    },
    routing: Routing::DimensionOrder,
    networks: Networks::Grids,
    vcs: Vcs { least: 1, of_rings: 2, why: "one for each class" },
    wake: Wake::Release,
    choice: Choice::Never,
};

pub(super) static ADAPTIVE: Row = Row {
    component: Component {
        name: "adaptive",
        about: "any minimal hop on adaptive channels, dimension order on escape channels",
        parameters: &[],
        source: "Duato, A new theory of deadlock-free adaptive routing in wormhole networks, 1993",
    },
    routing: Routing::Adaptive,
    networks: Networks::Grids,
    vcs: Vcs { least: 2, of_rings: 3, why: "one of them adaptive" },
    wake: Wake::Credits,
    choice: Choice::Never,
};

/// One dimension of a grid.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Ring {
    /// \[nodes\] Length of the dimension.
    pub(crate) size: u32,
    /// True for a ring, false for a line.
    pub(crate) wraps: bool,
    /// Number of directions: 1 for links in + direction only.
    pub(crate) ways: usize,
}

impl Ring {
    /// The specification of the ring by itself.
    pub(crate) fn spec(&self) -> String {
        format!("{}:{}", if self.wraps { "torus" } else { "mesh" }, self.size)
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

/// Routes of a grid.
#[derive(Debug)]
pub(super) struct Grid {
    /// The dimensions, in order.
    rings: Vec<Ring>,
    /// By router and dimension: the coordinate.
    coordinates: Vec<u16>,
    /// How the VCs of a ring are divided into classes.
    classes: VcClasses,
    /// True for minimal adaptive routing, false for dimension order.
    adaptive: bool,
    /// All VCs, as a mask.
    all: u32,
    /// By class of a ring: its VCs in dimension order routing, as a mask.
    halves: [u32; 2],
    /// By class of a ring: the escape VC, as a mask.
    escapes: [u32; 2],
    /// The adaptive VCs, as a mask.
    adaptives: u32,
    /// Number of ports of each dimension: 1 or 2.
    ways: usize,
}

/// Label of the draw of the direction where both ways are equally long. The dimension is added.
const TIE: u32 = 0;
/// Label of the draw of the class of channels. The dimension is added.
const CLASS: u32 = 64;

/// The dimensions of a grid.
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

/// True if a dimension is a ring of three nodes or more. Two nodes form no cycle: each is the other's neighbour.
pub(crate) fn has_rings(topology: &dyn Topology) -> bool {
    topology.is_grid() && rings(topology).iter().any(|ring| ring.wraps && ring.size > 2)
}

impl Function for Grid {
    fn new(row: &'static Row, params: &Params, topology: &dyn Topology) -> Result<Self, SpecError> {
        let has_rings = has_rings(topology);
        let adaptive = row.routing == Routing::Adaptive;
        let (vcs, all) = (params.vcs, mask(params.vcs));
        let escapes = if has_rings && vcs > 1 { [1, 2] } else { [1, 1] };
        let second = vcs / 2;
        let halves = match (has_rings, second) {
            (true, 1..) => [mask(vcs - second), all & !mask(vcs - second)],
            _ => [all, all],
        };
        let adaptives = all & !(escapes[0] | escapes[1]);
        let nodes = (0..topology.nodes()).map(NodeId::at);
        Ok(Self {
            coordinates: nodes.flat_map(|node| topology.geometry().coordinates(node)).map(|at| at as u16).collect(),
            rings: rings(topology),
            classes: params.vc_classes,
            adaptive: adaptive && adaptives != 0,
            all,
            halves,
            escapes,
            adaptives,
            ways: topology.shape().ways,
        })
    }

    fn candidates(&self, at: Visit, head: &Head, draw: &mut impl Draw, into: &mut Vec<Candidate>) {
        let router = at.here;
        if !self.adaptive {
            into.push(self.dimension_order(router, head, draw));
            return;
        }
        let mut escape = None;
        for dimension in 0..self.rings.len() {
            let (here, to) =
                (self.coordinate(router, dimension), self.coordinate(head.destination as usize, dimension));
            if here == to {
                continue;
            }
            let positive = self.positive(dimension, (here, to), draw);
            let port = self.port(dimension, positive);
            into.push(Candidate { port, vcs: self.adaptives, tier: Tier::Adaptive });
            if escape.is_none() {
                let still_wraps = if positive { here > to } else { here < to };
                let vcs = self.escapes[usize::from(still_wraps)];
                escape = Some(Candidate { port, vcs, tier: Tier::Escape });
            }
        }
        into.extend(escape);
    }

    fn decisions(&self, _: Visit, head: &Head, _: &mut impl Draw) -> Vec<u8> {
        vec![head.phase]
    }

    fn decide(&self, _: Visit, head: &Head, _: &mut impl Draw, _: impl Fn(Candidate) -> u32) -> u8 {
        head.phase
    }

    fn hop(&self, _: usize, _: usize, phase: u8, _: &mut impl Draw) -> u8 {
        phase
    }

    fn rings(&self) -> Option<Vec<Ring>> {
        Some(self.rings.clone())
    }
}

impl Grid {
    /// The coordinate of a router in a dimension.
    #[inline(always)]
    fn coordinate(&self, router: usize, dimension: usize) -> u32 {
        self.coordinates[router * self.rings.len() + dimension].into()
    }

    /// True if a packet goes in + direction in a dimension, from the first of `ends` to the second.
    #[inline(always)]
    fn positive(&self, dimension: usize, ends: (u32, u32), draw: &mut impl Draw) -> bool {
        self.rings[dimension].is_positive(ends, || draw.draw(TIE + dimension as u32, 2) == 0)
    }

    /// The port of a dimension and direction.
    #[inline(always)]
    fn port(&self, dimension: usize, positive: bool) -> u8 {
        (dimension * self.ways + usize::from(!positive && self.ways == 2)) as u8
    }

    /// By dimension: the coordinates of a router.
    #[inline(always)]
    fn coordinates(&self, router: usize) -> &[u16] {
        let dimensions = self.rings.len();
        &self.coordinates[router * dimensions..][..dimensions]
    }

    /// The next hop in dimension order.
    #[inline(always)]
    pub(super) fn dimension_order(&self, router: usize, head: &Head, draw: &mut impl Draw) -> Candidate {
        let (here, there) = (self.coordinates(router), self.coordinates(head.destination as usize));
        let dimension = here.iter().zip(there).position(|(here, there)| here != there).unwrap_or(0);
        let (here, to) = (u32::from(here[dimension]), u32::from(there[dimension]));
        // In dimension order, a packet enters a dimension at the coordinate of its source.
        let from = self.coordinates(head.source as usize)[dimension].into();
        let ring = &self.rings[dimension];
        let positive = ring.is_positive((from, to), || draw.draw(TIE + dimension as u32, 2) == 0);
        let vcs = match ring.wraps && ring.size > 2 {
            true => self.halves[self.ring_class(dimension, (from, here, to), positive, draw)],
            false => self.all,
        };
        Candidate { port: self.port(dimension, positive), vcs, tier: Tier::Free }
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
    ) -> usize {
        let wraps = if positive { from > to } else { from < to };
        match self.classes {
            VcClasses::PerDimension => usize::from(from > to),
            VcClasses::Dateline => {
                let still_wraps = if positive { here > to } else { here < to };
                usize::from(wraps && !still_wraps)
            }
            VcClasses::Balanced => {
                let middle = (self.rings[dimension].size - 1) / 2;
                let (low, high) = (from.min(to), from.max(to));
                if wraps {
                    1
                } else if low <= middle && middle < high {
                    0
                } else {
                    draw.draw(CLASS + dimension as u32, 2) as usize
                }
            }
        }
    }
}
