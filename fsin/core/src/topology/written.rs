//! Topologies as DOT, in the form that `graph:FILE` reads back: the same numbers, links, attributes and dead links.
//!
//! A node of a direct network becomes a switch with one endpoint, both of the same number.

use std::fmt::Write as _;

use trgen::NodeId;

use super::damaged::way_back;
use super::switched::{Delay, Destinations, LinkAttributes, Switched};
use super::{DeadLink, Ends, Port, Topology};

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
        Delay::Time(span) => format!("delay=\"{}\"", time(span)),
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
    let rate = rate.map(|rate| format!("rate=\"{}\"", self::rate(rate)));
    rate.into_iter().chain(delay).chain(queue.map(|queue| format!("queue={queue}"))).chain(routes).collect()
}

/// A number with the largest unit of which it is a whole multiple.
fn scaled(number: u64, units: &[(&str, u64)]) -> String {
    let (unit, size) = units.iter().find(|(_, size)| number.is_multiple_of(*size)).copied().unwrap_or(("", 1));
    format!("{}{unit}", number / size)
}

/// A time of `span` ps with its unit.
#[must_use]
pub fn time(span: u64) -> String {
    match span {
        0 => "0ps".to_owned(),
        _ => scaled(
            span,
            &[("s", 1_000_000_000_000), ("ms", 1_000_000_000), ("us", 1_000_000), ("ns", 1_000), ("ps", 1)],
        ),
    }
}

/// A rate in b/s with its unit.
#[must_use]
pub fn rate(rate: u64) -> String {
    scaled(
        rate,
        &[("Tb/s", 1_000_000_000_000), ("Gb/s", 1_000_000_000), ("Mb/s", 1_000_000), ("kb/s", 1_000), ("b/s", 1)],
    )
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

/// The name of a node for readers: from the file of the network if it gives one, else its number.
#[must_use]
pub fn node_name(topology: &dyn Topology, node: NodeId) -> String {
    topology
        .switched()
        .and_then(|network: &Switched| network.name(node))
        .map_or_else(|| node.to_string(), str::to_owned)
}

/// The name of a dead link for readers: both ends and the ports there, or the end and port at which it begins.
#[must_use]
pub fn dead_link_name(topology: &dyn Topology, dead: &DeadLink) -> String {
    let end = |node: NodeId, port: Port| {
        format!("{} {}", node_name(topology, node), super::port_name(topology, port.index()))
    };
    match dead.back {
        Some(back) => format!("{} - {}", end(dead.from, dead.port), end(dead.to, back)),
        None => format!("{} -> {}", end(dead.from, dead.port), node_name(topology, dead.to)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::switched::network_of_text as network;
    use crate::topology::{Faults, TOPOLOGIES, parse, with_faults};

    /// What a file with this text describes.
    fn read(text: &str) -> Switched {
        network(text, "graph:x".to_owned(), None).unwrap_or_else(|error| panic!("{text}\n{error}"))
    }

    /// \[hops\] By node: distances to all others.
    fn distances(topology: &dyn Topology, from: usize) -> Vec<Option<u32>> {
        let mut found = vec![None; topology.nodes()];
        let mut reached = std::collections::VecDeque::from([(from, 0)]);
        while let Some((node, hops)) = reached.pop_front() {
            if found[node].is_none() {
                found[node] = Some(hops);
                let ports = topology.ports_of(NodeId::at(node));
                reached.extend(
                    ports.filter_map(|port| Some((topology.neighbour(NodeId::at(node), port)?.index(), hops + 1))),
                );
            }
        }
        found
    }

    /// Links with all that is said of them, by their ends, dead ones included.
    fn links(topology: &dyn Topology) -> Vec<String> {
        let mut all = Vec::new();
        for node in (0..topology.nodes()).map(NodeId::at) {
            for port in topology.ports_of(node) {
                if let Some(there) = topology.neighbour(node, port) {
                    let said = topology.switched().map(|network| (network.link(node, port), network.route(node, port)));
                    all.push(format!("{node} {there} {said:?}"));
                }
            }
        }
        for dead in topology.dead_links() {
            let (one, other) = (dead.from.min(dead.to), dead.from.max(dead.to));
            all.push(format!("dead {one} {other}"));
        }
        all.sort();
        all
    }

    /// The same network, where a node of a direct network is a switch with one endpoint.
    fn check(topology: &dyn Topology, what: &str) {
        let text = dot(topology, &[]);
        let again = read(&text);
        assert_eq!(again.endpoints(), topology.endpoints(), "{what}");
        if topology.switched().is_some() {
            assert_eq!((again.nodes(), links(&again)), (topology.nodes(), links(topology)), "{what}\n{text}");
            // Written again it is the same text, but for the names of nodes that had none.
            let lines = |text: &str| text.lines().skip(1).map(|line| line.replace('"', "")).collect::<Vec<_>>();
            assert_eq!(lines(&dot(&again, &[])), lines(&text), "{what}");
            return;
        }
        let nodes = topology.nodes();
        assert_eq!(again.nodes(), 2 * nodes, "{what}");
        for node in [0, nodes / 2, nodes - 1] {
            let of_switches = distances(&again, nodes + node)[nodes..].to_vec();
            assert_eq!(of_switches, distances(topology, node), "{what}");
            let degree = |topology: &dyn Topology, node: usize| {
                let node = NodeId::at(node);
                topology.ports_of(node).filter(|&port| topology.neighbour(node, port).is_some()).count()
            };
            assert_eq!(degree(&again, nodes + node), degree(topology, node) + 1, "{what}");
        }
        let ends = |topology: &dyn Topology, first: usize| -> Vec<(usize, usize)> {
            let ends = |dead: DeadLink| (dead.from.index() - first, dead.to.index() - first);
            let mut all: Vec<_> =
                topology.dead_links().into_iter().map(ends).map(|(a, b)| (a.min(b), a.max(b))).collect();
            all.sort_unstable();
            all
        };
        assert_eq!(ends(&again, nodes), ends(topology, 0), "{what}");
    }

    #[test]
    fn every_topology_is_read_back_as_it_was_written() {
        let more = [
            "torus:2x2",
            "torus:3",
            "mesh:1x5",
            "hyperx:3x2:2",
            "thintree:4,2,3",
            "slimtree:4,2,2",
            "dragonfly:p=1,a=2,h=1",
        ];
        let examples = TOPOLOGIES.rows().iter().map(|row| row.example).filter(|example| !example.starts_with("graph:"));
        for spec in examples.chain(more) {
            let topology = parse(spec, 2).unwrap();
            if topology.nodes() > 600 {
                continue;
            }
            if topology.switched().is_some_and(|network| network.fabric().leads_one_way()) {
                // Each link once, which a description refuses.
                let text = dot(&*topology, &[]);
                assert_eq!(text.matches("->").count(), links(&*topology).len(), "{text}");
                let error = network(&text, "graph:x".to_owned(), None).unwrap_err();
                assert!(error.to_string().contains("no edge leads back"), "{error}");
                continue;
            }
            check(&*topology, spec);
            for count in [1, 2] {
                let faults = Faults { count, one_way: false, seed: 3 };
                let damaged = with_faults(parse(spec, 2).unwrap(), &faults);
                // What hangs together no more is refused when it is read.
                if let Ok(damaged) = damaged
                    && distances(&*damaged, 0).iter().all(Option::is_some)
                {
                    check(&*damaged, &format!("{spec} with {count} dead links"));
                }
            }
        }
    }

    #[test]
    fn every_description_is_read_back_as_it_was_written() {
        for text in [
            "H1 S1\nH2 S1\nH3 S2\nS1 S2 rate 10Gb/s delay 4us queue 7",
            "b a\na -> c delay 9\nc -> a delay 1\nb c count 3\nc endpoints 0\na endpoints 3",
            "graph { Hamburg [kind=switch]; x [kind=host]; x -- Hamburg; y -- Hamburg [dead=true]; y -- z; z -- Hamburg; z [endpoints=2] }",
            "digraph { H0 -> S [routes=\"*\"]; S -> H0 [routes=\"H0\"]; H1 -> T; T -> H1 [routes=\"H1\"]; S -> T [routes=\"*\", rate=\"2500Mb/s\"]; T -> S [routes=\"*\"] }",
            "graph { \"a \\\"b\\\"\" -- \"c d\"; \"c d\" -- e [delay=\"1500ps\"] }",
            "a H1\nb H0\na b\nb endpoints 2\nc b\nc endpoints 1",
        ] {
            check(&read(text), text);
        }
    }

    #[test]
    fn what_leads_one_way_cannot_be_read_back_in_silence() {
        let text = dot(&*parse("torus:4", 1).unwrap(), &[]);
        let error = network(&text, "graph:x".to_owned(), None).unwrap_err();
        assert!(error.to_string().contains("no edge leads back"), "{error}");
    }

    #[test]
    fn numbers_have_the_largest_unit_that_is_exact() {
        assert_eq!(
            [time(0), time(4_000_000), time(1_500), rate(10_000_000_000), rate(1)],
            ["0ps", "4us", "1500ps", "10Gb/s", "1b/s"]
        );
    }
}
