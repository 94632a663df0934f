//! Networks of switches: endpoints send and receive, switches only forward packets.
//!
//! Endpoints have the first numbers, followed by the switches. An endpoint has one link, to its switch; where links
//! lead one way, one to the switch at which its packets enter and one from that at which they leave. It is a router
//! with one port, so the link to the first switch and the link from the last one are hops like all others. A host with
//! several links is an endpoint whose switch is its network interface ([`Nics`]).

use std::any::Any;
use std::fmt::Debug;
use std::sync::{Arc, OnceLock};

use trgen::catalog::{ErrorKind, SpecError};
use trgen::phrase;
use trgen::phrase::Phrase;
use trgen::{Geometry, NodeId};

use super::{DeadLink, Ends, MAX_DIMENSIONS, Offsets, Outputs, Port, Ports, Shape, Topology};

pub(super) mod butterfly;
mod classes;
pub(super) mod cluster;
mod colour;
pub(super) mod cube;
pub(super) mod dragonfly;
pub(super) mod dragonfly_plus;
mod faults;
pub mod graph;
pub(super) mod hyperx;
mod lattice;
mod links;
mod named;
mod nic;
mod pace;
mod plane;
mod platform;
pub(super) mod rail;
pub(super) mod random;
pub(super) mod slimfly;
pub(super) mod star;
pub(super) mod tree;

pub use butterfly::Butterfly;
pub use classes::BETWEEN_SWITCHES;
pub use cluster::Rails;
pub use cube::Cube;
pub use dragonfly::Dragonfly;
pub use dragonfly_plus::DragonflyPlus;
pub use graph::{Demands, Understood, file, network as network_of_text, parse_rate, with_file};
pub use hyperx::Hyperx;
pub use lattice::{Coordinates, Lattice};
pub use links::{Attribute, Delay, Destinations, LinkAttributes, Links, Place, Uses};
pub use nic::Nics;
pub use pace::{MAX_RATIO, Pace, PacedLink};
pub use platform::{Constraint, Routes as StatedRoutes};
pub use tree::{Stand, Tree};

/// Maximum number of nodes of a network of switches, endpoints included.
pub const MAX_NODES: usize = 1 << 22;

/// \[links\] Switches with more have no port numbers that are the same at both ends of a link, and tables of the ports
/// of all nodes have a row of its own length for each.
pub(super) const MOST_PORTS: usize = 255;

/// In [`Fabric::neighbours`]: no node.
const NOWHERE: u32 = u32::MAX;

/// A link. Each end from which it leads has an index among the links of its node: 0, 1, 2, ... (Indices may be unused.)
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Link {
    /// By end: its node, and its index among the links of that node.
    ends: [(u32, u32); 2],
    /// True if it leads from the first end to the second alone; the index of the second means nothing.
    is_one_way: bool,
}

impl Link {
    /// A link both ways.
    const fn new(ends: [(u32, u32); 2]) -> Self {
        Self { ends, is_one_way: false }
    }

    /// A link from a node, with its index there, to another.
    const fn one_way(from: (u32, u32), to: u32) -> Self {
        Self { ends: [from, (to, 0)], is_one_way: true }
    }

    /// The ends from which it leads.
    fn begins(&self) -> &[(u32, u32)] {
        &self.ends[..if self.is_one_way { 1 } else { 2 }]
    }
}

/// In [`Fabric::backs`]: the link leads one way.
const NO_WAY: u32 = u32::MAX;

/// The nodes, their ports and the links between them.
#[derive(Clone, Debug)]
pub struct Fabric {
    /// Number of endpoints.
    endpoints: usize,
    /// Number of endpoints and switches.
    nodes: usize,
    /// Maximum number of ports of a node.
    ports: usize,
    /// By [output](Outputs): the node at the other end; [`NOWHERE`] if there is none.
    neighbours: Vec<u32>,
    /// By node: the index in `places` of its first link; then the length of `places`.
    starts: Arc<[u32]>,
    /// By node and index of a link: its port.
    places: Vec<u32>,
    /// By endpoint: the switch that its link leads to.
    entries: Vec<u32>,
    /// By endpoint: the switch with a link to it, and the port of that link.
    homes: Vec<(u32, u32)>,
    /// By output: the port of the node at the other end that leads back; [`NO_WAY`] if none does.
    backs: Vec<u32>,
    /// Dead links, by the node and port that each direction leaves. They are left out of `neighbours`.
    dead: Vec<Ends>,
    /// True if links lead one way.
    is_one_way: bool,
    /// Switches that are network interfaces of hosts.
    nics: Nics,
}

impl Fabric {
    /// `endpoints` come first among `nodes`; each has one link, at index 0, to a switch. `colours` are the port numbers
    /// of the directed links, of each link that from the first end first; `None` if the numbers do not matter. With
    /// more than [`MOST_PORTS`] links of a switch, a link has its index as its port number at each end.
    fn new(endpoints: usize, nodes: usize, links: &[Link], colours: Option<Vec<u32>>) -> Self {
        let (mut degree, mut entering) = (vec![0u32; nodes], vec![0u32; nodes]);
        for &(node, place) in links.iter().flat_map(Link::begins) {
            degree[node as usize] = degree[node as usize].max(place + 1);
        }
        for link in links.iter().filter(|link| link.is_one_way) {
            entering[link.ends[1].0 as usize] += 1;
        }
        // Given port numbers may have gaps: those of rings of one switch.
        let coloured = colours.iter().flatten().max().map_or(0, |&most| most + 1);
        let ports = degree.iter().chain(&entering).copied().max().unwrap_or(0).max(coloured) as usize;
        // By directed link: its link, and the end of that from which it leads.
        let sides = |(number, link): (usize, &Link)| (0..link.begins().len()).map(move |end| (number, end));
        let directions: Vec<(usize, usize)> = links.iter().enumerate().flat_map(sides).collect();
        let ends_of = |(link, end): (usize, usize)| (links[link].ends[end].0, links[link].ends[1 - end].0);
        let arcs: Vec<(u32, u32)> = directions.iter().map(|&direction| ends_of(direction)).collect();
        let is_wide = ports > MOST_PORTS;
        let colours = match colours.filter(|_| !is_wide) {
            Some(colours) => colours,
            None if is_wide => directions.iter().map(|&(link, end)| links[link].ends[end].1).collect(),
            None => colour::colours(nodes, ports, &arcs),
        };
        let starts: Arc<[u32]> = std::iter::once(0)
            .chain(degree.iter().scan(0, |sum, &degree| {
                *sum += degree;
                Some(*sum)
            }))
            .collect();
        let outputs = if is_wide { starts[nodes] as usize } else { nodes * ports };
        let mut new = Self {
            endpoints,
            nodes,
            ports,
            neighbours: vec![NOWHERE; outputs],
            starts,
            places: vec![0; degree.iter().sum::<u32>() as usize],
            entries: vec![NOWHERE; endpoints],
            homes: Vec::new(),
            backs: vec![NO_WAY; outputs],
            dead: Vec::new(),
            is_one_way: links.iter().any(|link| link.is_one_way),
            nics: Nics::default(),
        };
        for (arc, (&colour, &(link, end))) in colours.iter().zip(&directions).enumerate() {
            let (node, place) = links[link].ends[end];
            let at = new.output(NodeId(node), Port(colour));
            new.neighbours[at] = arcs[arc].1;
            if !links[link].is_one_way {
                new.backs[at] = colours[if end == 0 { arc + 1 } else { arc - 1 }];
            }
            let start = new.starts[node as usize];
            new.places[(start + place) as usize] = colour;
            if let Some(entry) = new.entries.get_mut(node as usize) {
                *entry = arcs[arc].1;
            }
        }
        new.homes = vec![(NOWHERE, 0); endpoints];
        for node in endpoints..nodes {
            for place in 0..new.degree(NodeId::at(node)) {
                let port = new.port(NodeId::at(node), place);
                if let Some(there) = new.neighbour(NodeId::at(node), port)
                    && let Some(home) = new.homes.get_mut(there.index())
                {
                    *home = (node as u32, port.0);
                }
            }
        }
        new
    }

    /// True if a switch has more than [`MOST_PORTS`] links.
    #[inline]
    const fn is_wide(&self) -> bool {
        self.ports > MOST_PORTS
    }

    /// The ports of all nodes in one row.
    #[must_use]
    pub fn outputs(&self) -> Outputs {
        match self.is_wide() {
            true => Outputs::unlike(self.ports, Arc::clone(&self.starts)),
            false => Outputs::alike(self.nodes, self.ports),
        }
    }

    /// The ports of a node. Some may have no link.
    #[must_use]
    pub fn ports_of(&self, node: NodeId) -> Ports {
        Ports::new(if self.is_wide() { self.degree(node) } else { self.ports })
    }

    /// The place of a port among [those of all nodes](Self::outputs).
    #[inline]
    fn output(&self, node: NodeId, port: Port) -> usize {
        let first = if self.is_wide() { self.starts[node.index()] as usize } else { node.index() * self.ports };
        first + port.index()
    }

    /// What a table by output has for a port; `None` for a port beyond those of a node with a row of its own length.
    #[inline]
    fn of_output(&self, table: &[u32], node: NodeId, port: Port) -> Option<u32> {
        if self.is_wide() && port.index() >= self.degree(node) {
            return None;
        }
        Some(table[self.output(node, port)])
    }

    /// Number of endpoints, which are the first nodes.
    #[must_use]
    #[inline]
    pub const fn endpoints(&self) -> usize {
        self.endpoints
    }

    /// Number of endpoints and switches.
    #[must_use]
    #[inline]
    pub const fn nodes(&self) -> usize {
        self.nodes
    }

    /// Maximum number of ports of a switch.
    #[must_use]
    #[inline]
    pub const fn ports(&self) -> usize {
        self.ports
    }

    /// Number of links between switches that are dead in both directions. Routings that follow the construction plan do
    /// not know of them.
    #[must_use]
    pub const fn faults(&self) -> usize {
        self.dead.len()
    }

    /// Links between switches that are dead, by the node and port that each direction leaves.
    #[must_use]
    pub fn dead(&self) -> &[Ends] {
        &self.dead
    }

    /// Number of indices of links of a node, unused ones included.
    #[must_use]
    #[inline]
    pub fn degree(&self, node: NodeId) -> usize {
        (self.starts[node.index() + 1] - self.starts[node.index()]) as usize
    }

    /// The port of the link at an index of a node.
    #[must_use]
    #[inline(always)]
    pub fn port(&self, node: NodeId, place: usize) -> Port {
        Port(self.places[self.starts[node.index()] as usize + place])
    }

    /// The node at the other end of a port.
    #[must_use]
    #[inline]
    pub fn neighbour(&self, node: NodeId, port: Port) -> Option<NodeId> {
        self.of_output(&self.neighbours, node, port).filter(|&neighbour| neighbour != NOWHERE).map(NodeId)
    }

    /// The port of the node at the other end of a port that leads back; `None` where the link leads one way.
    #[must_use]
    pub fn back(&self, node: NodeId, port: Port) -> Option<Port> {
        self.of_output(&self.backs, node, port).filter(|&back| back != NO_WAY).map(Port)
    }

    /// True if links lead one way.
    #[must_use]
    pub const fn leads_one_way(&self) -> bool {
        self.is_one_way
    }

    /// The switch at which packets of an endpoint enter the network: its [home](Self::home), unless links lead one way.
    #[must_use]
    #[inline]
    pub fn entry(&self, endpoint: NodeId) -> NodeId {
        NodeId(self.entries[endpoint.index()])
    }

    /// The switch of an endpoint, and the switch's port to it.
    #[must_use]
    #[inline]
    pub fn home(&self, endpoint: NodeId) -> (NodeId, Port) {
        let (switch, port) = self.homes[endpoint.index()];
        (NodeId(switch), Port(port))
    }
}

/// Construction plan of a network of switches. The routings of a kind of network get its plan by [`Switched::plan`];
/// the methods here are for all others. None has a default, so that the compiler reports what is missing.
pub trait Plan: Any + Debug + Send + Sync {
    /// The group of a switch; `None` if switches do not form groups. Links within and between groups are of different
    /// classes.
    fn group(&self, switch: NodeId) -> Option<u32>;

    /// The dimension along which a link joins two switches, and which is its class; `None` if switches have no
    /// coordinates.
    fn dimension(&self, one: NodeId, other: NodeId) -> Option<usize>;

    /// \[hops\] Length of a minimal route between two endpoints, as given by [`Plan::hops`]; always `None` with dead
    /// links.
    fn hops(&self, from: NodeId, to: NodeId) -> Option<u32>;

    /// Number of subtrees that meet at the top of a tree; `None` for other networks.
    fn top_subtrees(&self) -> Option<usize>;
}

/// A network of switches.
#[derive(Clone, Debug)]
pub struct Switched {
    /// The specification.
    spec: String,
    /// Dimensions and sizes of the endpoints.
    geometry: Geometry,
    /// The nodes, their ports and the links between them.
    fabric: Arc<Fabric>,
    /// The construction plan.
    plan: Arc<dyn Plan>,
    /// By node: its name. Empty unless a file names the nodes; an endpoint that it does not name has an empty name.
    names: Vec<String>,
    /// What a file says of links.
    links: Option<Arc<Links>>,
    /// Where messages between the nodes of a machine of two levels leave theirs; `None` if that is free.
    rails: Option<Arc<Rails>>,
    /// Routes that a file states link by link, and why no graph has them, if none has.
    platform: Option<(Arc<dyn platform::Routes>, Option<SpecError>)>,
    /// What was understood of the file of the network, if there is one.
    understood: Option<Arc<graph::Understood>>,
    /// By node: the node of a machine of two levels in which it is, or [`NOWHERE`]; `None` for other networks.
    machines: Option<Arc<[u32]>>,
    /// Classes of links, from the first use on.
    classes: OnceLock<classes::Classes>,
}

impl Switched {
    /// `nodes` includes endpoints and switches; `colours` as in [`Fabric::new`].
    fn new(
        spec: String,
        endpoints: usize,
        nodes: usize,
        links: &[Link],
        colours: Option<Vec<u32>>,
        plan: impl Plan,
    ) -> Result<Self, SpecError> {
        let fabric = Arc::new(Fabric::new(endpoints, nodes, links, colours));
        let geometry = u32::try_from(endpoints).ok().and_then(|endpoints| Geometry::new(&[endpoints]));
        let geometry = geometry.ok_or_else(|| {
            SpecError::new(ErrorKind::Malformed, format!("`{spec}` has no endpoint"), "use one or more")
        })?;
        Ok(Self {
            spec,
            geometry,
            fabric,
            plan: Arc::new(plan),
            names: Vec::new(),
            links: None,
            rails: None,
            platform: None,
            understood: None,
            machines: None,
            classes: OnceLock::new(),
        })
    }

    /// What was understood of the file of the network, if it is read from one.
    #[must_use]
    pub fn understood(&self) -> Option<&graph::Understood> {
        self.understood.as_deref().filter(|_| graph::file(&self.spec).is_some())
    }

    /// The name of a host or switch, if a file names it.
    #[must_use]
    pub fn name(&self, node: NodeId) -> Option<&str> {
        self.names.get(node.index()).map(String::as_str).filter(|name| !name.is_empty())
    }

    /// Where messages between the nodes of a machine of two levels leave theirs; `None` if that is free.
    #[must_use]
    pub const fn rails(&self) -> Option<&Arc<Rails>> {
        self.rails.as_ref()
    }

    /// Rejects a rule for changes of rails, where a routing does not follow it.
    ///
    /// # Errors
    /// If there is such a rule.
    pub fn check_rails(&self, routing: &Phrase) -> Result<(), SpecError> {
        if self.rails.is_none() {
            return Ok(());
        }
        let what = phrase![
            ("cross-rail=pxn in `{}` is a rule of shortest paths, and ", self.spec),
            routing.clone(),
            " has others"
        ];
        let remedy =
            phrase!["leave it out, or use ", ["routing" => "shortest"], "; ethernet: ", ["forwarding" => "static"]];
        Err(SpecError::new(ErrorKind::Conflict, what, remedy).of("topology"))
    }

    /// The nodes, their ports and the links between them.
    #[must_use]
    #[inline]
    pub const fn fabric(&self) -> &Arc<Fabric> {
        &self.fabric
    }

    /// The network's construction plan, if it is of this type.
    #[must_use]
    pub fn plan<P: Plan>(&self) -> Option<&P> {
        (&*self.plan as &dyn Any).downcast_ref()
    }

    /// The group of a node's switch or of a switch itself, as [`Plan::group`] says.
    #[must_use]
    pub fn group(&self, node: NodeId) -> Option<u32> {
        let switch = if node.index() < self.fabric.endpoints { self.fabric.home(node).0 } else { node };
        self.plan.group(switch)
    }

    /// \[hops\] Length of a minimal route between two endpoints, as [`Plan::hops`] says; `None` with dead links too.
    #[must_use]
    pub fn hops(&self, from: NodeId, to: NodeId) -> Option<u32> {
        if self.fabric.faults() > 0 { None } else { self.plan.hops(from, to) }
    }

    /// Subtrees that meet at the top of a tree, as [`Plan::top_subtrees`] says.
    #[must_use]
    pub fn top_subtrees(&self) -> Option<usize> {
        self.plan.top_subtrees()
    }
}

impl Topology for Switched {
    fn spec(&self) -> String {
        self.spec.clone()
    }

    fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    fn ways(&self) -> usize {
        2
    }

    fn neighbour(&self, node: NodeId, port: Port) -> Option<NodeId> {
        self.fabric.neighbour(node, port)
    }

    /// Returns no hops: route computation takes place at the switches.
    fn offsets(&self, _: NodeId, _: NodeId, _: &mut dyn FnMut(usize) -> bool) -> Offsets {
        [0; MAX_DIMENSIONS]
    }

    fn is_vertex_transitive(&self) -> bool {
        false
    }

    fn faults(&self) -> usize {
        self.fabric.faults()
    }

    fn dead_links(&self) -> Vec<DeadLink> {
        let both_ways = |&[(from, port), (to, back)]: &Ends| DeadLink { from, port, to, back: Some(back) };
        self.fabric.dead.iter().map(both_ways).collect()
    }

    fn link_classes(&self) -> Vec<String> {
        self.classes().names.clone()
    }

    fn link_class(&self, node: NodeId, port: Port) -> usize {
        self.class(node, port)
    }

    fn wire(&self, node: NodeId, port: Port) -> u32 {
        match self.link(node, port).delay {
            Some(Delay::Cycles(cycles)) => cycles,
            Some(Delay::Time(_)) | None => 0,
        }
    }

    fn outputs(&self) -> Outputs {
        self.fabric.outputs()
    }

    fn ports_of(&self, node: NodeId) -> Ports {
        self.fabric.ports_of(node)
    }

    fn nodes(&self) -> usize {
        self.fabric.nodes()
    }

    fn shape(&self) -> Shape {
        Shape::switched(self.fabric.ports)
    }

    fn switched(&self) -> Option<&Switched> {
        Some(self)
    }
}

/// Rejects networks that are too large. `nodes` is `None` if the count does not fit 64 bits.
fn check_nodes(spec: &str, nodes: Option<u64>) -> Result<usize, SpecError> {
    nodes.filter(|&nodes| nodes <= MAX_NODES as u64).map(|nodes| nodes as usize).ok_or_else(|| {
        let what = format!("`{spec}` has more than {MAX_NODES} endpoints and switches");
        SpecError::new(ErrorKind::TooLarge, what, "use fewer levels, groups or endpoints")
    })
}
