//! Topologies: adjacency and minimal routes.

use std::fmt::Debug;

use trgen::catalog::{ErrorKind, SpecError};
use trgen::phrase;
use trgen::{Geometry, NodeId};

use crate::interface::Interface;
use crate::route::Order;

mod capacity;
mod cayley;
mod circulant;
mod damaged;
mod distances;
mod farthest;
mod flow;
mod grid;
mod outputs;
mod rows;
mod slice;
mod split;
mod survey;
pub mod switched;
mod table;
mod twisted;
mod written;

pub use capacity::{Capacities, Cut, cuts};
pub use cayley::Cayley;
pub use damaged::way_back;
pub(crate) use damaged::{damaged, links_both_ways};
pub use distances::Distances;
pub use farthest::Spans;
pub use grid::Grid;
pub use outputs::{Outputs, Ports};
pub use rows::{Rows, port_name};
pub use split::least_busiest_load;
pub use survey::{Survey, links_of};
pub use switched::{Switched, file, graph, with_file};
pub use table::{Kind, Row, TOPOLOGIES, parse, row};
pub use written::{dead_link_name, node_name, rate as rate_text, time as time_text};

/// Maximum number of dimensions of a topology: a hypercube of a million nodes.
pub const MAX_DIMENSIONS: usize = 20;

/// \[cycles\] Maximum delay of a link beyond one cycle.
pub const MAX_DELAY: u32 = 1 << 16;

/// Hops still to go in each dimension, signed by direction; 0 beyond the topology's dimensions.
pub type Offsets = [i16; MAX_DIMENSIONS];

/// A directed link of a node: in a direct network a dimension and a direction, in a network of switches just a number.
///
/// In direct networks ports are numbered dimension by dimension, + before - (and only + with one-way links). In all
/// networks a packet that leaves through a port arrives at the neighbour in the transit queues of the same number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Port(pub u32);

impl Port {
    /// The port of an index, which is below the number of links that a network can have.
    #[must_use]
    #[inline]
    pub const fn at(index: usize) -> Self {
        Self(index as u32)
    }

    /// Index into a table of a node's ports.
    #[must_use]
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A link by the node and port at each of its ends.
pub type Ends = [(NodeId, Port); 2];

/// A dead link.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct DeadLink {
    /// The node that it leaves.
    pub from: NodeId,
    /// The port through which it leaves.
    pub port: Port,
    /// The node at its other end.
    pub to: NodeId,
    /// The port through which the other direction leaves that node; `None` if only this direction is dead.
    pub back: Option<Port>,
}

impl DeadLink {
    /// The nodes and ports that it leaves: one or both of its ends.
    pub fn ports(&self) -> impl Iterator<Item = (NodeId, Port)> + use<> {
        let back = self.back.map(|back| (self.to, back));
        std::iter::once((self.from, self.port)).chain(back)
    }
}

/// The shape of a network. In a direct network every node sends, receives and forwards packets, and all have the same
/// number of ports. In a network of switches the first nodes are endpoints, which send and receive; the nodes after
/// them are switches.
pub trait Topology: Debug + Send + Sync {
    /// The specification that builds this topology again, such as `torus:16x16`.
    fn spec(&self) -> String;

    /// Dimensions, sizes and numbering of the endpoints.
    fn geometry(&self) -> &Geometry;

    /// Directions of each dimension: 1 (only +) or 2 (+ and -).
    fn ways(&self) -> usize;

    /// The node at the other end of a port; `None` at the border of a mesh.
    fn neighbour(&self, node: NodeId, port: Port) -> Option<NodeId>;

    /// A minimal route as offsets. Where both directions are equally long, `positive(dimension)` selects one.
    fn offsets(&self, from: NodeId, to: NodeId, positive: &mut dyn FnMut(usize) -> bool) -> Offsets;

    /// All minimal routes, or as many as are known; `offsets` gives one of them.
    fn routes(&self, from: NodeId, to: NodeId) -> Vec<Offsets> {
        let all = |positive: bool| self.offsets(from, to, &mut |_| positive);
        let (up, down) = (all(true), all(false));
        let ties: Vec<usize> = (0..MAX_DIMENSIONS).filter(|&dimension| up[dimension] != down[dimension]).collect();
        let route = |choice: usize| {
            let mut route = up;
            for (_, &dimension) in ties.iter().enumerate().filter(|&(bit, _)| choice >> bit & 1 != 0) {
                route[dimension] = down[dimension];
            }
            route
        };
        (0..1 << ties.len()).map(route).collect()
    }

    /// \[links\] Number of dead links. A link between switches is dead in both directions; in direct networks one
    /// direction may be dead.
    fn faults(&self) -> usize {
        0
    }

    /// The dead links.
    fn dead_links(&self) -> Vec<DeadLink> {
        Vec::new()
    }

    /// True if every dimension of the shape is one of the geometry, and a hop changes that coordinate by 1, or wraps.
    fn is_grid(&self) -> bool {
        false
    }

    /// True if the network is vertex-transitive.
    fn is_vertex_transitive(&self) -> bool;

    /// The ports of all nodes in one row.
    fn outputs(&self) -> Outputs {
        Outputs::alike(self.nodes(), self.shape().ports())
    }

    /// The ports of a node. Some may have no link.
    fn ports_of(&self, _node: NodeId) -> Ports {
        Ports::new(self.shape().ports())
    }

    /// Number of nodes, switches included.
    fn nodes(&self) -> usize {
        self.geometry().nodes()
    }

    /// Number of endpoints, which are the first nodes.
    fn endpoints(&self) -> usize {
        self.geometry().nodes()
    }

    /// The network of switches, if it is one.
    fn switched(&self) -> Option<&Switched> {
        None
    }

    /// Names of the link classes: in a direct network one for each dimension. Empty where all links are of one class.
    fn link_classes(&self) -> Vec<String> {
        (0..self.shape().dimensions).map(|dimension| format!("dimension {dimension}")).collect()
    }

    /// The class of a link, by the port through which packets leave.
    fn link_class(&self, _node: NodeId, port: Port) -> usize {
        self.shape().direction(port).0
    }

    /// \[cycles\] Delay of a link beyond one cycle, from the description of the network itself.
    fn wire(&self, _node: NodeId, _port: Port) -> u32 {
        0
    }

    /// What simulations of this network use unless told otherwise.
    fn usual(&self) -> Usual {
        Usual { order: Order::Dimension, interface: Interface::Serial }
    }

    /// Dimensions and directions: all that port arithmetic needs.
    fn shape(&self) -> Shape {
        Shape::direct(self.geometry().sizes().len(), self.ways())
    }
}

/// Properties of the machines in which a network is found, which simulations of it use unless told otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Usual {
    /// The order in which deterministic and escape routes take their hops.
    pub order: Order,
    /// The interface of a node.
    pub interface: Interface,
}

/// The number of dimensions, and of directions in each; or the number of ports of a switch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// Number of dimensions, 1 to [`MAX_DIMENSIONS`]; [`STATE_WORDS`] in a network of switches.
    pub dimensions: usize,
    /// Number of directions of each dimension, 1 or 2; 0 in a network of switches.
    pub ways: usize,
    /// Maximum number of ports of a switch; 0 in a direct network.
    switch_ports: usize,
}

/// Number of state words that a packet carries in a network of switches, in place of the hops to go in each dimension.
pub const STATE_WORDS: usize = 2;

impl Shape {
    /// The shape of a direct network.
    #[must_use]
    pub const fn direct(dimensions: usize, ways: usize) -> Self {
        Self { dimensions, ways, switch_ports: 0 }
    }

    /// The shape of a network of switches with this number of ports each.
    #[must_use]
    pub const fn switched(ports: usize) -> Self {
        Self { dimensions: STATE_WORDS, ways: 0, switch_ports: ports }
    }

    /// True for a network of switches: ports have no dimension.
    #[must_use]
    #[inline(always)]
    pub const fn is_switched(self) -> bool {
        self.ways == 0
    }

    /// Number of ports of each node.
    #[must_use]
    #[inline(always)]
    pub const fn ports(self) -> usize {
        self.dimensions * self.ways + self.switch_ports
    }

    /// The port of a dimension and direction of a direct network. Where each dimension has one port (`ways`), as in a
    /// hypercube, that is the one in + direction.
    #[must_use]
    #[inline]
    pub fn port(self, dimension: usize, positive: bool) -> Port {
        let way = usize::from(!positive);
        debug_assert!(way < self.ways);
        Port::at(dimension * self.ways + way)
    }

    /// The dimension of a port of a direct network, and whether it leads in + direction.
    #[must_use]
    #[inline]
    pub const fn direction(self, port: Port) -> (usize, bool) {
        // With one or two directions, a shift replaces the division.
        (port.index() >> (self.ways - 1), port.index() & (self.ways - 1) == 0)
    }
}

/// Randomly drawn dead links.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Faults {
    /// Number of dead links.
    pub count: usize,
    /// True if only one direction of each link is dead.
    pub one_way: bool,
    /// Seed of the draws.
    pub seed: u64,
}

/// The topology of a specification, with some dead links.
///
/// # Errors
/// Those of [`parse`], more faults than links, links between switches that are dead one way only, endpoints that are
/// cut off. (In a direct network that depends on the routing, which belongs to the network model.)
pub fn parse_with_faults(spec: &str, ways: usize, faults: &Faults) -> Result<Box<dyn Topology>, SpecError> {
    with_faults(parse(spec, ways)?, faults)
}

/// A topology without dead links, after some have died.
///
/// # Errors
/// More faults than links, links between switches that are dead one way only, endpoints that are cut off. (In a direct
/// network that depends on the routing, which is the network model's.)
pub fn with_faults(topology: Box<dyn Topology>, faults: &Faults) -> Result<Box<dyn Topology>, SpecError> {
    if faults.count == 0 {
        return Ok(topology);
    }
    match topology.switched() {
        Some(network) if faults.one_way => {
            let what =
                phrase![["fault-ways" => 1], (": links between switches, as in {}, die both ways", network.spec())];
            Err(SpecError::new(ErrorKind::Conflict, what, "leave it out"))
        }
        Some(network) => Ok(Box::new(network.with_faults(faults.count, faults.seed)?)),
        None => Ok(Box::new(damaged::Damaged::new(topology, faults)?)),
    }
}

/// Parses a whole number in a specification; `example` is a valid specification.
fn number(spec: &str, word: &str, example: &str) -> Result<u32, SpecError> {
    word.parse().map_err(|_| {
        let what = if word.is_empty() {
            format!("`{spec}` lacks a number")
        } else {
            format!("`{word}` in `{spec}` is not a number")
        };
        SpecError::new(ErrorKind::Malformed, what, format!("write it as in `{example}`"))
    })
}

/// Rejects comma-separated words `NAME=VALUE` in which a name occurs twice.
fn check_once(spec: &str, words: &str) -> Result<(), SpecError> {
    let names: Vec<&str> = words.split(',').filter_map(|word| Some(word.split_once('=')?.0)).collect();
    let again = names.iter().enumerate().find(|(at, name)| names[..*at].contains(name));
    again.map_or(Ok(()), |(_, name)| {
        Err(SpecError::new(ErrorKind::Conflict, format!("`{name}` stands twice in `{spec}`"), "give it once"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_and_directions_are_inverse() {
        for ways in [1, 2] {
            let shape = parse("torus:4x4x4", ways).unwrap().shape();
            for port in 0..shape.ports() {
                let (dimension, positive) = shape.direction(Port::at(port));
                assert_eq!(shape.port(dimension, positive), Port::at(port));
            }
        }
    }

    #[test]
    fn refusals_name_the_remedy() {
        for (spec, ways, expected) in [
            ("tours:4x4", 2, "did you mean `torus`?"),
            ("torus:16x0", 2, "1 to 32767"),
            ("torus", 2, "torus:8x8"),
            ("torus:", 2, "torus:8x8"),
            ("torus:4x", 2, "torus:8x8"),
            ("torus:4xfour", 2, "torus:8x8"),
            ("torus:32767x32767x32767", 2, "fewer"),
            ("mesh:4x4", 1, "ways 2"),
            ("torus:4x4", 3, "1 or 2"),
            ("hypercube:21", 2, "1 to 20"),
            ("hypercube:n", 2, "hypercube:8"),
            ("twisted:8x4", 2, "twisted:8x4:4"),
            ("twisted:8x4:9", 2, "0 to 8"),
            ("twisted:8x4:xy=2,yx=2", 2, "one of them"),
            ("twisted:8x4:zx=2", 2, "twisted:8x4:4"),
            ("twisted:8x4x2:3", 2, "yx=3"),
            ("circulant:12", 2, "circulant:64:1,8"),
            ("circulant:12:2,4", 2, "common divisor"),
            ("circulant:12:1,7", 2, "1 to 6"),
            ("circulant:12:1,1", 2, "different"),
            ("midimew:1", 2, "2 to"),
            ("circulant:70000:1", 2, "longer jumps"),
            ("circpk:5", 2, "circpk:5^3"),
            ("circpk:2^25", 2, "2^24"),
            ("spidergon:7", 2, "even"),
            ("spinnaker:8", 2, "spinnaker:12x12"),
            ("fattree:4", 2, "fattree:4,3"),
            ("fattree:0,3", 2, "1 to 2048"),
            ("fattree:200,200", 2, "fewer levels"),
            ("fattree:4,3", 1, "ways 2"),
            ("thintree:4,3", 2, "thintree:4,2,3"),
            ("slimtree:4,two,3", 2, "slimtree:4,2,3"),
            ("dragonfly", 2, "dragonfly:p=2,a=4,h=2"),
            ("dragonfly:p=2,a=4", 2, "dragonfly:p=2,a=4,h=2"),
            ("dragonfly:p=2,a=4,h=2,g=10", 2, "a h + 1 = 9"),
            ("dragonfly:p=2,a=4,h=2,arrangement=relativ", 2, "did you mean `relative`?"),
            ("dragonfly:p=0,a=4,h=2", 2, "1 to 254"),
            ("dragonfly+:p=2,l=4", 2, "dragonfly+:p=2,l=4,s=4,h=2"),
            ("dragonfly+:p=2,l=4,s=4,h=2,g=10", 2, "2 to 9"),
            ("slimfly:q=15", 2, "such as"),
            ("slimfly:p=4", 2, "slimfly:q=5,p=4"),
            ("star:0", 2, "1 to 4194303"),
            ("star:4194304", 2, "1 to 4194303"),
            ("cmesh:4x4", 2, "cmesh:4x4:4"),
            ("hyperx:4x4", 2, "hyperx:4x4:4"),
            ("hyperx:4x0:1", 2, "1 to 254"),
            ("hyperx:200x200x200:1", 2, "fewer"),
            ("icube:4x4", 2, "icube:4x4:2"),
            ("icube:4x4:201", 2, "1 to 200"),
            ("rrg:s=16,d=4", 2, "rrg:s=16,d=4,p=2"),
            ("rrg:s=15,d=3,p=1", 2, "s d even"),
            ("rrg:s=4,d=4,p=1", 2, "2 to 3"),
            ("rrg:s=5000,d=4,p=1", 2, "4096"),
            ("graph", 2, "graph:net.txt,endpoints=4"),
            ("graph:net.txt,endpoints=many", 2, "graph:net.txt,endpoints=4"),
            ("graph:/no/such/file", 2, "path of a file of a network"),
        ] {
            let refusal = parse(spec, ways).unwrap_err();
            assert!(refusal.remedy().to_string().contains(expected), "{spec}: {refusal}: {}", refusal.remedy());
        }
    }
}
