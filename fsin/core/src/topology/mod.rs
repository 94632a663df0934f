//! Topologies: adjacency and minimal routes.

use std::fmt::Debug;

use trgen::catalog::{Component, ErrorKind, Parameter, SpecError};
use trgen::phrase;
use trgen::{Geometry, NodeId};

mod cayley;
mod circulant;
mod damaged;
mod distances;
mod flow;
mod grid;
mod rows;
mod survey;
pub mod switched;
mod twisted;

pub use cayley::Cayley;
pub use distances::Distances;
pub use grid::Grid;
pub use rows::{Rows, port_name};
pub use survey::{Cut, Survey, cuts, links_of};
pub use switched::{Switched, file, with_file};

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
pub struct Port(pub u8);

impl Port {
    /// Index into a table of a node's ports.
    #[must_use]
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
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

    /// \[links\] Dead links: between switches in both directions, in direct networks as they were drawn.
    fn faults(&self) -> usize {
        0
    }

    /// True if every dimension of the shape is one of the geometry, and a hop changes that coordinate by 1, or wraps.
    fn is_grid(&self) -> bool {
        false
    }

    /// True if the network is vertex-transitive.
    fn looks_alike(&self) -> bool;

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

    /// Dimensions and directions: all that port arithmetic needs.
    fn shape(&self) -> Shape {
        Shape::direct(self.geometry().sizes().len(), self.ways())
    }
}

/// The number of dimensions, and of directions in each; or the number of ports of a switch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// 1 to [`MAX_DIMENSIONS`]; [`STATE_WORDS`] in a network of switches.
    pub dimensions: usize,
    /// 1 or 2; 0 in a network of switches.
    pub ways: usize,
    /// Maximum number of ports of a switch; 0 in a direct network.
    switch_ports: usize,
}

/// State words of a packet in a network of switches, where packets of direct networks carry hops to go.
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

    /// The port of a dimension and direction of a direct network.
    #[must_use]
    #[inline]
    pub fn port(self, dimension: usize, positive: bool) -> Port {
        let way = usize::from(!positive);
        debug_assert!(way < self.ways);
        Port((dimension * self.ways + way) as u8)
    }

    /// The dimension of a port of a direct network, and whether it leads in + direction.
    #[must_use]
    #[inline]
    pub const fn direction(self, port: Port) -> (usize, bool) {
        // One or two directions: no division is needed.
        (port.index() >> (self.ways - 1), port.index() & (self.ways - 1) == 0)
    }
}

const SIZES: Parameter = Parameter {
    name: "sizes",
    about: "nodes in each dimension, dimension 0 first, separated by x",
    range: "1 to 20 sizes of 1..=32767",
    default: "",
};

/// The topologies of `--topology`.
pub const TOPOLOGIES: &[Component] = &[
    Component {
        name: "torus",
        about: "k-ary n-cube (torus:16x16): a grid whose every dimension closes to a ring; degree 2 n, diameter the sum of floor(k / 2), mean \
                distance N / (N - 1) times the sum of floor(k^2 / 4) / k, bisection 2 N / k links each way, k the largest and \
                even",
        parameters: &[SIZES],
        source: "Dally and Seitz, The Torus Routing Chip, 1986",
    },
    Component {
        name: "mesh",
        about: "a grid without wrap-around links (mesh:8x8); border nodes have fewer neighbours; diameter the sum of k - 1, mean distance \
                N / (N - 1) times the sum of (k^2 - 1) / (3 k), bisection N / k links each way, k the largest and even",
        parameters: &[SIZES],
        source: "Duato, Yalamanchili, Ni, Interconnection Networks, 2003, section 1.6",
    },
    Component {
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
    Component {
        name: "hypercube",
        about: "2^n nodes (hypercube:6), links between numbers that differ in one bit; diameter n, mean distance n 2^(n-1) / (2^n - 1), \
                bisection 2^(n-1) links each way",
        parameters: &[Parameter { name: "dimensions", about: "n", range: "1 to 20", default: "" }],
        source: "Seitz, The cosmic cube, CACM 28(1), 1985",
    },
    Component {
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
    Component {
        name: "midimew",
        about: "circulant of jumps b-1 and b, b = ceil(sqrt(N/2)): least diameter ceil((sqrt(2N-1)-1)/2) and mean \
                distance of all with four links",
        parameters: &[NODES],
        source: "Beivide, Herrada, Balcazar, Arruabarrena, Optimal distance networks of low degree, TC 40(10), 1991",
    },
    Component {
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
    Component {
        name: "spidergon",
        about: "ring of N nodes with a link across (spidergon:16): degree 3, diameter ceil(N/4)",
        parameters: &[Parameter { name: "nodes", about: "N", range: "even, 4 to 2^24", default: "" }],
        source: "Coppola, Locatelli, Maruccia, Pieralisi, Scandurra, Spidergon: a novel on-chip communication network, 2004",
    },
    Component {
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
    Component {
        name: "fattree",
        about: "k-ary n-tree (fattree:4,3): k^n endpoints, n levels of k^(n-1) switches with k links down and, below the top, k up; \
                diameter 2 n, bisection k^n / 2",
        parameters: &[ARITY, LEVELS],
        source: "Petrini and Vanneschi, k-ary n-trees: high performance networks for massively parallel architectures, \
                 IPPS 1997",
    },
    Component {
        name: "thintree",
        about: "k:k'-ary n-thin-tree (thintree:4,2,3): k^n endpoints, switches with k links down and k' up: k'^l k^(n-l) links between \
                levels l and l + 1; diameter 2 n",
        parameters: &[ARITY, THIN_ARITY, LEVELS],
        source: "Navaridas, Miguel-Alonso, Ridruejo, Denzel, Reducing complexity in tree-like computer interconnection \
                 networks, Parallel Computing 36, 2010",
    },
    Component {
        name: "slimtree",
        about: "k:k'-ary n-slim-tree (slimtree:4,2,3): as the thin tree, with k' subtrees below the top instead of k, and k / k' links \
                (rounded down, at least 1; the last switch may have fewer) from each switch at the top into each of \
                them: k^(n-1) k' endpoints; diameter 2 n (2 (n - 1) with k' = 1)",
        parameters: &[ARITY, THIN_ARITY, LEVELS],
        source: "Navaridas, Miguel-Alonso, Ridruejo, Denzel, Reducing complexity in tree-like computer interconnection \
                 networks, Parallel Computing 36, 2010",
    },
    Component {
        name: "dragonfly",
        about: "g groups of a switches (dragonfly:p=2,a=4,h=2), all of a group linked with each other, each with p endpoints and h links to other \
                groups; at most a h + 1 groups, p a g endpoints; between two groups a h / (g - 1) links, rounded down: what \
                is left over stays free; diameter at most 5 with the links to endpoints",
        parameters: &[
            Parameter { name: "p", about: "endpoints of each switch", range: "1 to 254", default: "" },
            Parameter { name: "a", about: "switches of each group", range: "1 to 254", default: "" },
            Parameter { name: "h", about: "links of each switch to other groups", range: "1 to 254", default: "" },
            Parameter { name: "g", about: "groups", range: "2 to a h + 1", default: "a h + 1" },
            Parameter {
                name: "arrangement",
                about: "where the links of a group lead: to groups 0, 1, 2, ... (absolute), to those 1, 2, 3, ... further \
                        (relative), or 1 further, 1 back, 2 further, ... (circulant)",
                range: "absolute, relative, circulant",
                default: "absolute",
            },
        ],
        source: "Kim, Dally, Scott, Abts, Technology-driven, highly-scalable dragonfly topology, ISCA 2008; arrangements: \
                 Camarero, Vallejo, Beivide, Topological characterization of Hamming and dragonfly networks, TACO 11(4), \
                 2014",
    },
    Component {
        name: "hyperx",
        about: "switches in a grid, all of a row linked with each other in every dimension, and endpoints at each: \
                hyperx:4x4:4; with as many endpoints as a row a flattened butterfly; \
                diameter n + 2, bisection S k / 4 links each way of S switches, k the smallest and even",
        parameters: &[
            Parameter {
                name: "sizes",
                about: "switches in each dimension, separated by x",
                range: "1 to 15 sizes of 1..=254",
                default: "",
            },
            Parameter {
                name: "endpoints",
                about: "after a second colon, of each switch",
                range: "1 to 254",
                default: "",
            },
        ],
        source: "Ahn, Binkert, Davis, McLaren, Schreiber, HyperX: topology, routing, and packaging of efficient \
                 large-scale networks, SC 2009; Kim, Balfour, Dally, Flattened butterfly topology, MICRO 2007",
    },
    Component {
        name: "icube",
        about: "indirect cube: switches in a torus, and several endpoints at each: icube:4x4:2; two hops more than the torus",
        parameters: &[
            Parameter {
                name: "sizes",
                about: "switches in each dimension, separated by x",
                range: "1 to 16 sizes of 1..=32767",
                default: "",
            },
            Parameter {
                name: "endpoints",
                about: "after a second colon, of each switch",
                range: "1 to 200",
                default: "",
            },
        ],
        source: "FSIN (INSEE), icube; concentration: Dally and Towles, Principles and Practices of Interconnection \
                 Networks, 2004, section 3.3",
    },
    Component {
        name: "rrg",
        about: "random regular graph (Jellyfish, rrg:s=16,d=4,p=2): s switches with d links to others, drawn by the seed, and p endpoints each",
        parameters: &[
            Parameter { name: "s", about: "switches", range: "3 to 4096, s d even", default: "" },
            Parameter {
                name: "d",
                about: "links of each switch to others",
                range: "2 to min(s - 1, 254)",
                default: "",
            },
            Parameter { name: "p", about: "endpoints of each switch", range: "1 to 254", default: "" },
            Parameter { name: "seed", about: "of the draw of the links", range: "whole number", default: "1" },
        ],
        source: "Singla, Hong, Popa, Godfrey, Jellyfish: networking data centers randomly, NSDI 2012",
    },
    Component {
        name: "graph",
        about: "switches and links of a file: lines `A B` of links both ways, or undirected DOT (two lines of the same ends \
                are two links, but in a `strict` graph); endpoints at each switch. Endpoints are numbered switch by switch, then \
                switches: in the order of lines, in DOT in that of names; `fsin topology graph:FILE {format} dot` tells both",
        parameters: &[
            Parameter { name: "file", about: "path of the file", range: "up to 4096 switches", default: "" },
            Parameter {
                name: "endpoints",
                about: "of each switch: graph:net.txt,endpoints=4; lines `A endpoints 2`, or in DOT the attribute \
                        endpoints=2 of a node, say otherwise; `A B delay 5`, or delay=5 of an edge: 0 to 65536 cycles beyond one; \
                        defaults of DOT (node [endpoints=4]) hold",
                range: "0 to 254",
                default: "1",
            },
        ],
        source: "Graphviz, The DOT language",
    },
];

const ARITY: Parameter = Parameter { name: "k", about: "links down of each switch", range: "1 to 254", default: "" };
const THIN_ARITY: Parameter = Parameter { name: "k'", about: "links up", range: "1 to 254", default: "" };
const LEVELS: Parameter = Parameter { name: "n", about: "levels of switches", range: "1 to 254", default: "" };

const NODES: Parameter = Parameter { name: "nodes", about: "N", range: "2 to 2^24", default: "" };

/// Builds the topology of a specification such as `torus:8x8x8`, with `ways` links per dimension and node.
///
/// # Errors
/// An unknown name, sizes that do not parse or are out of range, more than 2^31 nodes, ways that the topology lacks.
pub fn parse(spec: &str, ways: usize) -> Result<Box<dyn Topology>, SpecError> {
    let (name, sizes) = spec.split_once(':').unwrap_or((spec, ""));
    Ok(match name {
        "torus" => Box::new(Grid::parse(name, sizes, true, ways)?),
        "mesh" => Box::new(Grid::parse(name, sizes, false, ways)?),
        "hypercube" => Box::new(Grid::hypercube(sizes)?),
        "twisted" => Box::new(twisted::parse(sizes, ways)?),
        "circulant" => Box::new(circulant::circulant(sizes, ways)?),
        "midimew" => Box::new(circulant::midimew(sizes, ways)?),
        "circpk" => Box::new(circulant::circpk(sizes, ways)?),
        "spidergon" => Box::new(circulant::spidergon(sizes, ways)?),
        "spinnaker" => Box::new(twisted::spinnaker(sizes, ways)?),
        "fattree" => Box::new(both_ways(spec, ways, switched::fat(sizes)?)?),
        "thintree" => Box::new(both_ways(spec, ways, switched::thin(sizes)?)?),
        "slimtree" => Box::new(both_ways(spec, ways, switched::slim(sizes)?)?),
        "dragonfly" => Box::new(both_ways(spec, ways, switched::parse_dragonfly(sizes)?)?),
        "hyperx" => Box::new(both_ways(spec, ways, switched::parse_hyperx(sizes)?)?),
        "icube" => Box::new(both_ways(spec, ways, switched::parse_cube(sizes)?)?),
        "rrg" => Box::new(both_ways(spec, ways, switched::parse_random(sizes)?)?),
        "graph" => Box::new(both_ways(spec, ways, switched::parse_graph(sizes)?)?),
        _ => {
            let known: Vec<&str> = TOPOLOGIES.iter().map(|component| component.name).collect();
            return Err(SpecError::unknown("topology", name, &known));
        }
    })
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

/// Checks for bidirectional links: networks of switches have no others.
fn both_ways(spec: &str, ways: usize, network: Switched) -> Result<Switched, SpecError> {
    match ways {
        2 => Ok(network),
        _ => Err(SpecError::new(
            ErrorKind::Conflict,
            format!("the links of {spec} lead both ways"),
            phrase!["use ", ["ways" => 2], ", or leave it out"],
        )
        .of("ways")),
    }
}

/// A whole number in a specification.
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

/// Rejects comma-separated words `NAME=VALUE` with a repeated name.
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
                let (dimension, positive) = shape.direction(Port(port as u8));
                assert_eq!(shape.port(dimension, positive), Port(port as u8));
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
            ("fattree:0,3", 2, "1 to 254"),
            ("fattree:200,200", 2, "fewer levels"),
            ("fattree:200,2", 2, "at most 255 links"),
            ("fattree:4,3", 1, "ways 2"),
            ("thintree:4,3", 2, "thintree:4,2,3"),
            ("slimtree:4,two,3", 2, "slimtree:4,2,3"),
            ("dragonfly", 2, "dragonfly:p=2,a=4,h=2"),
            ("dragonfly:p=2,a=4", 2, "dragonfly:p=2,a=4,h=2"),
            ("dragonfly:p=2,a=4,h=2,g=10", 2, "a h + 1 = 9"),
            ("dragonfly:p=2,a=4,h=2,arrangement=relativ", 2, "did you mean `relative`?"),
            ("dragonfly:p=0,a=4,h=2", 2, "1 to 254"),
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
            ("graph:/no/such/file", 2, "path of a list of links"),
        ] {
            let refusal = parse(spec, ways).unwrap_err();
            assert!(refusal.remedy().to_string().contains(expected), "{spec}: {refusal}: {}", refusal.remedy());
        }
    }
}
