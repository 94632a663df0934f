//! Topologies as DOT, in the form that `graph:FILE` reads back: the same numbers, links, attributes and dead links.
//!
//! A node of a direct network becomes a switch with one endpoint, both of the same number.

use std::fmt::Write as _;

use trgen::NodeId;

use fsin_core::topology::switched::{Delay, Destinations, LinkAttributes};
use fsin_core::topology::{DeadLink, Ends, Port, Topology, rate_text, time_text, way_back};

/// One direction of a link.
struct Direction {
    from: NodeId,
    port: Port,
    to: NodeId,
    is_dead: bool,
    /// Attributes, as they stand in brackets.
    attributes: Vec<String>,
    /// Position in the description, if there is one.
    order: Option<u32>,
}

/// The graph for Graphviz, and for `graph:FILE`. Links in `blocked` are drawn as broken lines, dead links as dotted
/// ones.
#[must_use]
pub fn dot(topology: &dyn Topology, blocked: &[Ends]) -> String {
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
    let mut text = format!("{} {} {{\n", if is_directed { "digraph" } else { "graph" }, quoted(&topology.spec()));
    text.push_str(&names.declarations);
    for (mut edge, is_both) in edges {
        if is_directed && is_both {
            edge.attributes.push("dir=both".to_owned());
        }
        if edge.is_dead {
            edge.attributes.push("dead=true, style=dotted".to_owned());
        } else if blocked.iter().any(|ends| ends.contains(&(edge.from, edge.port))) {
            edge.attributes.push("style=dashed".to_owned());
        }
        let (from, to, mark) = (names.of(edge.from), names.of(edge.to), if is_directed { "->" } else { "--" });
        let attributes = match edge.attributes.join(", ") {
            none if none.is_empty() => none,
            some => format!(" [{some}]"),
        };
        let _ = writeln!(text, "  {from} {mark} {to}{attributes};");
    }
    text.push_str("}\n");
    text
}

/// The attributes of the link that leaves a node through a port: those of its description, and in a direct network the
/// dimension as its label.
fn attributes(topology: &dyn Topology, names: &Names, node: NodeId, port: Port) -> Vec<String> {
    let Some(network) = topology.switched() else {
        return vec![format!("label={}", topology.shape().direction(port).0)];
    };
    let LinkAttributes { rate, delay, queue } = network.link(node, port);
    let delay = delay.map(|delay| match delay {
        Delay::Cycles(cycles) => format!("delay={cycles}"),
        Delay::Time(span) => format!("delay=\"{}\"", time_text(span)),
    });
    let routes = match network.route(node, port) {
        Destinations::All => Some("routes=\"*\"".to_owned()),
        Destinations::Only([]) => None,
        Destinations::Only(hosts) => {
            let hosts: Vec<&str> = hosts.iter().filter_map(|&host| network.name(NodeId(host))).collect();
            Some(format!("routes=\"{}\"", hosts.join(",")))
        }
    };
    let routes = routes.filter(|_| !names.is_endpoint(node));
    let rate = rate.map(|rate| format!("rate=\"{}\"", rate_text(rate)));
    rate.into_iter().chain(delay).chain(queue.map(|queue| format!("queue={queue}"))).chain(routes).collect()
}

/// A word between quotation marks.
fn quoted(word: &str) -> String {
    format!("\"{}\"", trgen::quote::dot(word))
}

/// The names of nodes in the graph.
struct Names {
    /// By node: its name.
    names: Vec<String>,
    /// By endpoint: true if it is counted among the endpoints of its switch, and no node of its own.
    counted: Vec<bool>,
    endpoints: usize,
    /// A line for each node, in the order that numbers them as they are.
    declarations: String,
}

impl Names {
    fn new(topology: &dyn Topology) -> Self {
        let Some(network) = topology.switched() else {
            let names: Vec<String> = (0..topology.nodes()).map(|node| node.to_string()).collect();
            let declarations = names.iter().fold(String::new(), |text, name| text + "  " + name + ";\n");
            return Self { counted: vec![false; names.len()], endpoints: 0, names, declarations };
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
        let name = |node: usize| match network.name(NodeId::at(node)) {
            Some(name) => quoted(name),
            None if node < endpoints => format!("H{node}"),
            None => node.to_string(),
        };
        let names: Vec<String> = (0..network.nodes()).map(name).collect();
        let mut count = vec![0u32; network.nodes()];
        (0..endpoints).filter(|&node| counted[node]).for_each(|node| count[homes[node].index()] += 1);
        let mut declarations = String::new();
        let is_called_host = |node: usize| names[node].trim_start_matches('"').starts_with('H');
        let mut next = endpoints;
        let mut switches_to = |last: usize, text: &mut String| {
            for switch in next..last {
                let kind = match network.fabric().nics().contain(switch - endpoints) {
                    true => ", kind=nic",
                    false if is_called_host(switch) => ", kind=switch",
                    false => "",
                };
                let _ = writeln!(text, "  {} [endpoints={}{kind}];", names[switch], count[switch]);
            }
            next = next.max(last);
        };
        for endpoint in 0..endpoints {
            if counted[endpoint] {
                switches_to(homes[endpoint].index() + 1, &mut declarations);
            } else {
                let kind = if is_called_host(endpoint) { "" } else { " [kind=host]" };
                let _ = writeln!(declarations, "  {}{kind};", names[endpoint]);
            }
        }
        switches_to(network.nodes(), &mut declarations);
        Self { names, counted, endpoints, declarations }
    }

    fn of(&self, node: NodeId) -> &str {
        &self.names[node.index()]
    }

    fn is_counted(&self, node: NodeId) -> bool {
        self.counted.get(node.index()).is_some_and(|&counted| counted)
    }

    fn is_endpoint(&self, node: NodeId) -> bool {
        node.index() < self.endpoints
    }
}
