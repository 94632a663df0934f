//! Turn models of meshes: adaptive routings without escape channels, which are free of deadlock because some turns are
//! never taken.
//!
//! Dimension 0 runs from west to east, dimension 1 from south to north. All hops are minimal.
//!
//! - **West-first**: a packet goes west before anything else.
//! - **North-last**: a packet goes north only when nothing else is left.
//! - **Negative-first**, in any number of dimensions: towards lower coordinates before higher ones.
//! - **Odd-even**: no turn from east to north or south in an even column, and none from north or south to west in an
//!   odd one.
//!
//! Sources: Glass, Ni, *The turn model for adaptive routing*, ISCA 1992; Chiu, *The odd-even turn model for adaptive
//! routing*, IEEE TPDS 11(7), 2000.

use trgen::NodeId;
use trgen::catalog::{Component, ErrorKind, SpecError};

use super::table::{Build, Choice, Function, Row, Serves};
use super::{ChannelPolicy, Draw, Hop, RoutingFunction, Visit};

const GLASS: &str = "Glass, Ni, The turn model for adaptive routing, ISCA 1992";

/// West first.
pub(super) static WEST_FIRST: Row = Row {
    component: Component {
        name: "west-first",
        about: "2-D meshes: west before anything else, then any minimal hop, on any channel",
        parameters: &[],
        source: GLASS,
    },
    aliases: &["west_first"],
    serves: Serves::Only(&["mesh"]),
    policy: ChannelPolicy::Free,
    why: "",
    choice: Choice::Any,
    build: |build| Turn::build(build, Model::WestFirst),
};

/// North last.
pub(super) static NORTH_LAST: Row = Row {
    component: Component {
        name: "north-last",
        about: "2-D meshes: north after everything else, before that any minimal hop, on any channel",
        parameters: &[],
        source: GLASS,
    },
    aliases: &["north_last"],
    build: |build| Turn::build(build, Model::NorthLast),
    ..WEST_FIRST
};

/// Negative first.
pub(super) static NEGATIVE_FIRST: Row = Row {
    component: Component {
        name: "negative-first",
        about: "meshes: any minimal hop to lower coordinates, then any to higher ones, on any channel",
        parameters: &[],
        source: GLASS,
    },
    aliases: &["negative_first"],
    build: |build| Turn::build(build, Model::NegativeFirst),
    ..WEST_FIRST
};

/// Odd-even.
pub(super) static ODD_EVEN: Row = Row {
    component: Component {
        name: "odd-even",
        about: "2-D meshes: minimal hops without the turns that columns of odd or even number forbid, on any channel",
        parameters: &[],
        source: "Chiu, The odd-even turn model for adaptive routing, IEEE TPDS 11(7), 2000",
    },
    aliases: &["odd_even"],
    build: |build| Turn::build(build, Model::OddEven),
    ..WEST_FIRST
};

/// The turns that are never taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Model {
    WestFirst,
    NorthLast,
    NegativeFirst,
    OddEven,
}

/// Routes of a mesh by a turn model.
#[derive(Debug)]
pub struct Turn {
    model: Model,
    dimensions: usize,
    /// By router and dimension: the coordinate.
    coordinates: Vec<u16>,
}

impl Turn {
    fn build(build: &Build<'_>, model: Model) -> Result<Function, SpecError> {
        let geometry = build.topology.geometry();
        let dimensions = geometry.sizes().len();
        if model != Model::NegativeFirst && dimensions != 2 {
            let name = build.row.component.name;
            let what = format!("{name} is for 2 dimensions, and {} has {dimensions}", build.topology.spec());
            return Err(SpecError::new(ErrorKind::Conflict, what, "use negative-first, or a mesh such as mesh:8x8")
                .of("routing"));
        }
        let nodes = (0..build.topology.nodes()).map(NodeId::at);
        let coordinates = nodes.flat_map(|node| geometry.coordinates(node)).map(|at| at as u16).collect();
        Ok(Function::Turn(Self { model, dimensions, coordinates }))
    }

    /// A coordinate of a router.
    #[inline]
    fn coordinate(&self, router: usize, dimension: usize) -> i32 {
        self.coordinates[router * self.dimensions + dimension].into()
    }
}

/// The port of a dimension and direction: both directions of each dimension have one.
const fn port(dimension: usize, positive: bool) -> u32 {
    (2 * dimension + !positive as usize) as u32
}

impl RoutingFunction for Turn {
    fn classes(&self) -> usize {
        1
    }

    fn has_phases(&self) -> bool {
        false
    }

    #[inline]
    fn hops(&self, at: &Visit, _: &mut impl Draw, mut add: impl FnMut(Hop)) {
        let mut go = |dimension: usize, positive: bool| add(Hop::free(port(dimension, positive)));
        let left = |dimension: usize| self.coordinate(at.home, dimension) - self.coordinate(at.here, dimension);
        if self.model == Model::NegativeFirst {
            let has_negative = (0..self.dimensions).any(|dimension| left(dimension) < 0);
            (0..self.dimensions)
                .filter(|&dimension| if has_negative { left(dimension) < 0 } else { left(dimension) > 0 })
                .for_each(|dimension| go(dimension, !has_negative));
            return;
        }
        let (x, y) = (left(0), left(1));
        match self.model {
            Model::WestFirst if x < 0 => go(0, false),
            Model::WestFirst => {
                if x > 0 {
                    go(0, true);
                }
                if y != 0 {
                    go(1, y > 0);
                }
            }
            Model::NorthLast => {
                if x != 0 {
                    go(0, x > 0);
                }
                if y < 0 || x == 0 && y > 0 {
                    go(1, y > 0);
                }
            }
            Model::OddEven | Model::NegativeFirst => {
                let is_odd = |router: usize| self.coordinate(router, 0) % 2 != 0;
                let (here, home) = (at.here, at.home);
                if x == 0 {
                    return go(1, y > 0);
                }
                if x < 0 {
                    go(0, false);
                    if y != 0 && !is_odd(here) {
                        go(1, y > 0);
                    }
                    return;
                }
                if y == 0 {
                    return go(0, true);
                }
                if is_odd(here) || self.coordinate(here, 0) == self.coordinate(at.first, 0) {
                    go(1, y > 0);
                }
                if is_odd(home) || x != 1 {
                    go(0, true);
                }
            }
        }
    }
}
