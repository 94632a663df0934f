//! Topologies as DOT, in the form that `graph:FILE` reads back: the same numbers, links, attributes and dead links.
//!
//! A node of a direct network becomes a switch with one endpoint, both of the same number.

use std::fmt::Write as _;

use trgen::NodeId;

use fsin_core::topology::switched::{Delay, Destinations, LinkAttributes};
use fsin_core::topology::{DeadLink, Ends, Port, Switched, Topology, rate_text, time_text, way_back};

/// One direction of a link.
struct Direction {
    from: NodeId,
    port: Port,
    to: NodeId,
    is_dead: bool,
    attributes: Vec<Attribute>,
    /// Position in the description, if there is one.
    order: Option<u32>,
}

/// What is written of a node or an edge.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Attribute {
    pub(super) key: &'static str,
    pub(super) value: String,
    /// True if DOT needs quotation marks around it.
    is_quoted: bool,
}

impl Attribute {
    fn new(key: &'static str, value: impl Into<String>) -> Self {
        Self { key, value: value.into(), is_quoted: false }
    }

    fn quoted(key: &'static str, value: impl Into<String>) -> Self {
        Self { key, value: value.into(), is_quoted: true }
    }
}

/// A node, in the order that numbers them as they are.
pub(super) struct Declared {
    /// Without quotation marks.
    pub(super) name: String,
    is_quoted: bool,
    pub(super) attributes: Vec<Attribute>,
}

/// An edge, by the numbers of its ends among the nodes.
pub(super) struct Drawn {
    pub(super) ends: [usize; 2],
    /// True if it stands for both directions.
    pub(super) is_both: bool,
    pub(super) attributes: Vec<Attribute>,
}

/// A network as it is written, whatever the syntax.
pub(super) struct Written {
    /// True if some edge stands for one direction.
    pub(super) is_directed: bool,
    pub(super) nodes: Vec<Declared>,
    pub(super) edges: Vec<Drawn>,
}

/// The graph for Graphviz, and for `graph:FILE`. Links in `blocked` are drawn as broken lines, dead links as dotted
/// ones.
#[must_use]
pub fn dot(topology: &dyn Topology, blocked: &[Ends]) -> String {
    let Written { is_directed, nodes, edges } = Written::of(topology, blocked);
    let listed = |attributes: &[Attribute]| match attributes {
        [] => String::new(),
        all => {
            let value = |of: &Attribute| if of.is_quoted { quoted(&of.value) } else { of.value.clone() };
            let all: Vec<String> = all.iter().map(|of| format!("{}={}", of.key, value(of))).collect();
            format!(" [{}]", all.join(", "))
        }
    };
    let name = |node: &Declared| if node.is_quoted { quoted(&node.name) } else { node.name.clone() };
    let mut text = format!("{} {} {{\n", if is_directed { "digraph" } else { "graph" }, quoted(&topology.spec()));
    for node in &nodes {
        let _ = writeln!(text, "  {}{};", name(node), listed(&node.attributes));
    }
    let mark = if is_directed { "->" } else { "--" };
    for edge in &edges {
        let [from, to] = edge.ends.map(|end| name(&nodes[end]));
        let _ = writeln!(text, "  {from} {mark} {to}{};", listed(&edge.attributes));
    }
    text.push_str("}\n");
    text
}

impl Written {
    /// A topology as it is written.
    pub(super) fn of(topology: &dyn Topology, blocked: &[Ends]) -> Self {
        let network = topology.switched();
        let names = Names::new(topology);
        // Both directions of each link, or the only one.
        let mut links: Vec<(Direction, Option<Direction>)> = Vec::new();
        let direction = |from, port, to, is_dead| {
            let attributes = attributes(topology, &names, from, port);
            Direction {
                from,
                port,
                to,
                is_dead,
                attributes,
                order: network.and_then(|network| network.link_order(from, port)),
            }
        };
        let dead = topology.dead_links();
        for from in (0..topology.nodes()).map(NodeId::at) {
            for port in topology.ports_of(from) {
                let Some(to) = topology.neighbour(from, port) else { continue };
                let back = match network {
                    Some(network) => network.fabric().back(from, port).map(|back| (to, back)),
                    None => way_back(topology, from, port),
                };
                let one_way_dead = |dead: &&DeadLink| dead.to == from && dead.from == to && dead.back.is_none();
                match back {
                    // A link both ways is written once, from its lower end.
                    Some((_, back)) if (to, back) < (from, port) => {}
                    Some((_, back)) => {
                        links.push((direction(from, port, to, false), Some(direction(to, back, from, false))))
                    }
                    None => {
                        let lost =
                            dead.iter().find(one_way_dead).map(|dead| direction(dead.from, dead.port, dead.to, true));
                        links.push((direction(from, port, to, false), lost));
                    }
                }
            }
        }
        let both_dead = dead.iter().filter_map(|dead| Some((dead, dead.back?)));
        links.extend(both_dead.map(|(&DeadLink { from, port, to, .. }, back)| {
            (direction(from, port, to, true), Some(direction(to, back, from, true)))
        }));
        // Links of endpoints without a name are written as numbers of their switch.
        links.retain(|(there, _)| !names.is_counted(there.from) && !names.is_counted(there.to));
        let is_alike = |(there, back): &(Direction, Option<Direction>)| {
            back.as_ref().is_some_and(|back| back.attributes == there.attributes && back.is_dead == there.is_dead)
        };
        let is_directed = !links.iter().all(is_alike);
        let mut edges: Vec<(Direction, bool)> = Vec::new();
        for (there, back) in links {
            let pair = (there, back);
            let is_both = is_alike(&pair);
            edges.push((pair.0, is_both));
            edges.extend(pair.1.filter(|_| !is_both).map(|back| (back, false)));
        }
        edges.sort_by_key(|(edge, _)| edge.order);
        let position = names.positions();
        let drawn = |(mut edge, is_both): (Direction, bool)| {
            if is_directed && is_both {
                edge.attributes.push(Attribute::new("dir", "both"));
            }
            if edge.is_dead {
                edge.attributes.extend([Attribute::new("dead", "true"), Attribute::new("style", "dotted")]);
            } else if blocked.iter().any(|ends| ends.contains(&(edge.from, edge.port))) {
                edge.attributes.push(Attribute::new("style", "dashed"));
            }
            let ends = [edge.from, edge.to].map(|node| position[node.index()]);
            Drawn { ends, is_both, attributes: edge.attributes }
        };
        Self { is_directed, edges: edges.into_iter().map(drawn).collect(), nodes: names.declared }
    }
}

/// The attributes of the link that leaves a node through a port: those of its description, and in a direct network the
/// dimension as its label.
fn attributes(topology: &dyn Topology, names: &Names, node: NodeId, port: Port) -> Vec<Attribute> {
    let Some(network) = topology.switched() else {
        return vec![Attribute::new("label", topology.shape().direction(port).0.to_string())];
    };
    let LinkAttributes { rate, delay, queue } = network.link(node, port);
    let delay = delay.map(|delay| match delay {
        Delay::Cycles(cycles) => Attribute::new("delay", cycles.to_string()),
        Delay::Time(span) => Attribute::quoted("delay", time_text(span)),
    });
    let routes = match network.route(node, port) {
        Destinations::All => Some(Attribute::quoted("routes", "*")),
        Destinations::Only([]) => None,
        Destinations::Only(hosts) => {
            let hosts: Vec<&str> = hosts.iter().filter_map(|&host| network.name(NodeId(host))).collect();
            Some(Attribute::quoted("routes", hosts.join(",")))
        }
    };
    let routes = routes.filter(|_| !names.is_endpoint(node));
    let rate = rate.map(|rate| Attribute::quoted("rate", rate_text(rate)));
    let queue = queue.map(|queue| Attribute::new("queue", queue.to_string()));
    rate.into_iter().chain(delay).chain(queue).chain(routes).collect()
}

/// A word between quotation marks.
fn quoted(word: &str) -> String {
    format!("\"{}\"", trgen::quote::dot(word))
}

/// The names of nodes in the graph.
struct Names {
    /// By endpoint: true if it is counted among the endpoints of its switch, and no node of its own.
    counted: Vec<bool>,
    endpoints: usize,
    /// The nodes that are written.
    declared: Vec<Declared>,
    /// By node that is written: its number in the network.
    numbers: Vec<usize>,
    nodes: usize,
}

impl Names {
    fn new(topology: &dyn Topology) -> Self {
        let nodes = topology.nodes();
        let Some(network) = topology.switched() else {
            let declare = |node: usize| Declared { name: node.to_string(), is_quoted: false, attributes: Vec::new() };
            let declared = (0..nodes).map(declare).collect();
            return Self { counted: vec![false; nodes], endpoints: 0, declared, numbers: (0..nodes).collect(), nodes };
        };
        let endpoints = network.endpoints();
        let homes: Vec<NodeId> = (0..endpoints).map(|node| network.fabric().home(NodeId::at(node)).0).collect();
        let is_named = |node: usize| network.name(NodeId::at(node)).is_some();
        // Endpoints without a name can be counted where the endpoints of a switch follow each other, switch by switch.
        let nameless: Vec<usize> = (0..endpoints).filter(|&node| !is_named(node)).collect();
        // They have links both ways then.
        let is_plain = !network.fabric().leads_one_way();
        let in_order = is_plain
            && nameless.windows(2).all(|pair| {
                homes[pair[0]] < homes[pair[1]] || (homes[pair[0]] == homes[pair[1]] && pair[0] + 1 == pair[1])
            });
        let counted: Vec<bool> = (0..endpoints).map(|node| in_order && !is_named(node)).collect();
        let mut count = vec![0u32; network.nodes()];
        (0..endpoints).filter(|&node| counted[node]).for_each(|node| count[homes[node].index()] += 1);
        let mut new = Self { counted, endpoints, declared: Vec::new(), numbers: Vec::new(), nodes };
        let mut next = endpoints;
        let mut switches_to = |last: usize, new: &mut Self| {
            for (switch, &own) in count.iter().enumerate().take(last).skip(next) {
                let mut attributes = vec![Attribute::new("endpoints", own.to_string())];
                match network.fabric().nics().contain(switch - endpoints) {
                    true => attributes.push(Attribute::new("kind", "nic")),
                    false if is_called_host(network, switch) => attributes.push(Attribute::new("kind", "switch")),
                    false => {}
                }
                new.declare(network, switch, attributes);
            }
            next = next.max(last);
        };
        for (endpoint, home) in homes.iter().enumerate().take(endpoints) {
            if new.counted[endpoint] {
                switches_to(home.index() + 1, &mut new);
            } else {
                let kind = (!is_called_host(network, endpoint)).then(|| Attribute::new("kind", "host"));
                new.declare(network, endpoint, kind.into_iter().collect());
            }
        }
        switches_to(network.nodes(), &mut new);
        new
    }

    fn declare(&mut self, network: &Switched, node: usize, attributes: Vec<Attribute>) {
        let name = network.name(NodeId::at(node));
        self.declared.push(Declared { name: name_of(network, node), is_quoted: name.is_some(), attributes });
        self.numbers.push(node);
    }

    /// By node of the network: its position among those that are written.
    fn positions(&self) -> Vec<usize> {
        let mut positions = vec![0; self.nodes];
        self.numbers.iter().enumerate().for_each(|(position, &node)| positions[node] = position);
        positions
    }

    fn is_counted(&self, node: NodeId) -> bool {
        self.counted.get(node.index()).is_some_and(|&counted| counted)
    }

    fn is_endpoint(&self, node: NodeId) -> bool {
        node.index() < self.endpoints
    }
}

/// The name of a node of a network of switches: its own, or its number.
fn name_of(network: &Switched, node: usize) -> String {
    match network.name(NodeId::at(node)) {
        Some(name) => name.to_owned(),
        None if node < network.endpoints() => format!("H{node}"),
        None => node.to_string(),
    }
}

/// True for a node whose name says that it is a host.
fn is_called_host(network: &Switched, node: usize) -> bool {
    name_of(network, node).starts_with('H')
}
