//! Two orders of dimensions in grids of two dimensions: x before y, or y before x, for a whole packet.
//!
//! Each order has a class of channels of its own, in which packets wait only for channels of the same dimension or of
//! the second one. At the router of the destination all channels are open.
//!
//! Sources: Seo, Ali, Lim, Rafique, *Near-optimal worst-case throughput routing for two-dimensional mesh networks*,
//! ISCA 2005 (O1TURN); BookSim 2, `xy_yx` and `adaptive_xy_yx`.

use trgen::NodeId;
use trgen::catalog::{Component, ErrorKind, SpecError};

use super::table::{Build, Choice, Function, Row, Serves, fabric, planned};
use super::{ChannelPolicy, Decisions, Draw, Hop, Phase, RoutingFunction, Visit, express};
use crate::topology::switched::{Cube, Hyperx, Lattice};

const O1TURN: &str =
    "Seo et al., Near-optimal worst-case throughput routing for two-dimensional mesh networks, ISCA 2005 (O1TURN)";

/// One of two orders, drawn, in a mesh.
pub(super) static MESH_DRAWN: Row = Row {
    component: Component {
        name: "xy-yx",
        about: "meshes, cmesh, hyperx, of 2 dimensions: x before y or y before x, drawn for each packet; a class of channels for each",
        parameters: &[],
        source: O1TURN,
    },
    aliases: &["o1turn", "xy_yx", "xyyx"],
    serves: Serves::Only(&["mesh"]),
    policy: ChannelPolicy::ByClass,
    why: "one for each order of dimensions",
    choice: Choice::AtFirstRouter,
    build: |build| TwoOrders::mesh(build, false),
};

/// The better one of two orders, in a mesh.
pub(super) static MESH_ADAPTIVE: Row = Row {
    component: Component {
        name: "adaptive-xy-yx",
        about: "meshes, cmesh, hyperx, of 2 dimensions: x before y or y before x, whichever begins with the shorter queue; of equals \
                one drawn; a class of channels for each",
        parameters: &[],
        source: O1TURN,
    },
    aliases: &["adaptive_xy_yx", "adaptive_xyyx"],
    build: |build| TwoOrders::mesh(build, true),
    ..MESH_DRAWN
};

/// As [`MESH_DRAWN`], in a concentrated mesh.
pub(super) static CMESH_DRAWN: Row =
    Row { serves: Serves::Only(&["cmesh"]), build: |build| TwoOrders::cmesh(build, false), ..MESH_DRAWN };

/// As [`MESH_ADAPTIVE`], in a concentrated mesh.
pub(super) static CMESH_ADAPTIVE: Row =
    Row { serves: Serves::Only(&["cmesh"]), build: |build| TwoOrders::cmesh(build, true), ..MESH_ADAPTIVE };

/// As [`CMESH_DRAWN`], without express links.
pub(super) static CMESH_WITHOUT_EXPRESS: Row = Row {
    component: Component {
        name: "xy-yx-no-express",
        about: "cmesh of 2 dimensions: x before y or y before x, drawn for each packet, without express links, if there are any",
        ..MESH_DRAWN.component
    },
    aliases: &["xy_yx_no_express"],
    build: |build| TwoOrders::of_mesh(build, planned::<Cube>(build.topology)?, Ports::Directions, false),
    ..CMESH_DRAWN
};

/// As [`MESH_DRAWN`], in a HyperX.
pub(super) static HYPERX_DRAWN: Row =
    Row { serves: Serves::Only(&["hyperx"]), build: |build| TwoOrders::hyperx(build, false), ..MESH_DRAWN };

/// As [`MESH_ADAPTIVE`], in a HyperX.
pub(super) static HYPERX_ADAPTIVE: Row =
    Row { serves: Serves::Only(&["hyperx"]), build: |build| TwoOrders::hyperx(build, true), ..MESH_ADAPTIVE };

/// Phase of a packet that goes along x first. In the other one it goes along y first.
const X_FIRST: Phase = 0;
/// Phase of a packet that goes along y first.
const Y_FIRST: Phase = 1;
/// Label of the draw of the order.
const COIN: u32 = 0;

/// Where the links of a router lead.
#[derive(Debug)]
enum Ports {
    /// Ports of both directions of each dimension, as in a mesh.
    Directions,
    /// The same, and express links along the border of a mesh of such sizes.
    Express([u32; 2]),
    /// By router and place in the plan of a HyperX: the port.
    Places(Box<[u32]>, usize, Hyperx),
}

/// Routes in two orders of dimensions.
#[derive(Debug)]
struct TwoOrders {
    /// By router: x and y.
    coordinates: Vec<[u16; 2]>,
    ports: Ports,
    /// True if the shorter queue decides.
    is_adaptive: bool,
    /// A smaller network of the same kind.
    specimen: &'static str,
}

impl TwoOrders {
    fn build(
        build: &Build<'_>,
        coordinates: impl Iterator<Item = Vec<u32>>,
        ports: Ports,
        is_adaptive: bool,
        specimen: &'static str,
    ) -> Result<Function, SpecError> {
        let of_two = |at: Vec<u32>| <[u32; 2]>::try_from(at).ok().map(|at| at.map(|at| at as u16));
        let coordinates: Option<Vec<[u16; 2]>> = coordinates.map(of_two).collect();
        let Some(coordinates) = coordinates else {
            let what =
                format!("{} is for 2 dimensions, and {} has others", build.row.component.name, build.topology.spec());
            let error = SpecError::new(ErrorKind::Conflict, what, "use dor, or a network of 2 dimensions");
            return Err(error.of("routing"));
        };
        Ok(Function::boxed(Self { coordinates, ports, is_adaptive, specimen }))
    }

    fn mesh(build: &Build<'_>, is_adaptive: bool) -> Result<Function, SpecError> {
        let nodes = (0..build.topology.nodes()).map(|node| build.topology.geometry().coordinates(NodeId::at(node)));
        Self::build(build, nodes, Ports::Directions, is_adaptive, "mesh:4x4")
    }

    fn cmesh(build: &Build<'_>, is_adaptive: bool) -> Result<Function, SpecError> {
        let cube = planned::<Cube>(build.topology)?;
        let ports = if cube.is_express { Ports::Express(express::sizes(&cube.lattice)) } else { Ports::Directions };
        Self::of_mesh(build, cube, ports, is_adaptive)
    }

    fn of_mesh(build: &Build<'_>, cube: &Cube, ports: Ports, is_adaptive: bool) -> Result<Function, SpecError> {
        let specimen = if matches!(ports, Ports::Express(_)) { "cmesh:5x6:1:express" } else { "cmesh:4x4:1" };
        Self::build(build, of_switches(&cube.lattice), ports, is_adaptive, specimen)
    }

    fn hyperx(build: &Build<'_>, is_adaptive: bool) -> Result<Function, SpecError> {
        let (plan, fabric) = (planned::<Hyperx>(build.topology)?, fabric(build.topology)?);
        let places = fabric.degree(NodeId::at(fabric.endpoints()));
        let of_switch = |switch| (0..places).map(move |place| fabric.port(switch, place).0);
        let ports = Ports::Places(plan.lattice.switches().flat_map(of_switch).collect(), places, plan.clone());
        Self::build(build, of_switches(&plan.lattice), ports, is_adaptive, "hyperx:3x3:1")
    }
}

/// The coordinates of all switches.
fn of_switches(lattice: &Lattice) -> impl Iterator<Item = Vec<u32>> + '_ {
    lattice.switches().map(|switch| lattice.coordinates(switch).collect())
}

impl RoutingFunction for TwoOrders {
    fn classes(&self) -> usize {
        2
    }

    fn hops(&self, at: &Visit, _: &mut impl Draw, mut add: impl FnMut(Hop)) {
        let (here, there) = (self.coordinates[at.here], self.coordinates[at.home]);
        let order = if at.phase == X_FIRST { [0, 1] } else { [1, 0] };
        let Some(dimension) = order.into_iter().find(|&dimension| here[dimension] != there[dimension]) else { return };
        let port = match &self.ports {
            Ports::Directions => (2 * dimension + usize::from(there[dimension] < here[dimension])) as u32,
            &Ports::Express(sizes) => express::port(sizes, dimension, here.map(u32::from), there[dimension].into()),
            Ports::Places(ports, places, plan) => {
                let place = plan.place(dimension, here[dimension].into(), there[dimension].into());
                ports[at.here * places + place]
            }
        };
        add(Hop::of_class(port, 1 + at.phase as u8));
    }

    fn decisions(&self, _: &Visit, draw: &mut impl Draw) -> Decisions {
        let [first, second] = if draw.draw(COIN, 2) == 0 { [X_FIRST, Y_FIRST] } else { [Y_FIRST, X_FIRST] };
        Decisions { first, second: self.is_adaptive.then_some(second) }
    }

    fn has_phases(&self) -> bool {
        false
    }

    /// Routes depend on the order of coordinates alone; express links lead further on as all others do.
    fn specimens(&self) -> Option<Vec<(String, usize)>> {
        Some(vec![(self.specimen.to_owned(), 2)])
    }
}
