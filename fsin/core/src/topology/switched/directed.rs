//! Directed graphs in DOT: hosts, switches, and what each direction of a link carries.
//!
//! Nodes whose names begin with H are hosts, in the order of their first appearance; all others are switches. Each
//! edge is one direction of a link, and needs an edge back: of parallel edges the first of each direction belong
//! together. Attributes of an edge: `comment`, the destinations of its static route (host names separated by commas
//! or blanks, or `*` for all); `rate`, such as `"1Gb/s"`; `propagation`, such as `"1us"`; `queue`, the frames that
//! may wait at the port from which it leaves; `delay` in cycles beyond one. Defaults (`edge [rate="1Gb/s"]`) hold for
//! later edges of the same graph or subgraph. Other attributes concern drawing.
//!
//! Source: the networks of LogGOPSim with OMNeT++ (Hoefler, Schneider, Lumsdaine, LogGOPSim, HPDC 2010).

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use trgen::Geometry;
use trgen::NodeId;
use trgen::catalog::{ErrorKind, SpecError};

use super::dot::syntax::{Attributes, End, Statement};
use super::{Fabric, Link, Plan, Switched, check_nodes};
use crate::topology::{MAX_DELAY, Port};

/// Destinations for which a link is the static route.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Destinations {
    /// All destinations that no other link names.
    All,
    /// These endpoints.
    Only(Vec<u32>),
}

/// What a description says of one direction of a link.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LinkNote {
    /// \[b/s\] Data rate.
    pub rate: Option<u64>,
    /// \[ps\] Propagation delay.
    pub propagation: Option<u64>,
    /// \[frames\] Room of the queue of the port from which it leaves.
    pub queue: Option<u32>,
    /// Destinations of its static route.
    pub destinations: Destinations,
    /// Position in the description: the first link that names a destination is its route.
    pub order: u32,
}

/// What a description says of all links.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Notes {
    /// Maximum number of ports of a node.
    ports: usize,
    /// By node and port: what the description says of the link that leaves there.
    links: Vec<Option<LinkNote>>,
}

impl Notes {
    /// Notes that are the same for both directions of each link, which has its index at both ends. They contain no
    /// routes.
    pub(super) fn both_ways(fabric: &Fabric, links: impl Iterator<Item = ([(u32, u32); 2], Speed)>) -> Self {
        let mut notes = Self { ports: fabric.ports(), links: vec![None; fabric.nodes() * fabric.ports()] };
        for (order, (ends, Speed { rate, propagation, queue })) in links.enumerate() {
            for (node, place) in ends {
                let port = fabric.port(NodeId(node), place as usize);
                let note = LinkNote {
                    rate,
                    propagation,
                    queue,
                    destinations: Destinations::Only(Vec::new()),
                    order: order as u32,
                };
                notes.links[node as usize * fabric.ports() + port.index()] = Some(note);
            }
        }
        notes
    }

    /// What the description says of the link that leaves a node through a port.
    #[must_use]
    pub fn of(&self, node: NodeId, port: Port) -> Option<&LinkNote> {
        self.links.get(node.index() * self.ports + port.index())?.as_ref()
    }
}

/// The edges of the graph, in their order.
#[derive(Default)]
pub(super) struct Directed {
    /// Names of the hosts.
    hosts: Vec<String>,
    /// Names of the switches.
    switches: Vec<String>,
    /// The host or switch with each name.
    known: HashMap<String, Place>,
    /// The edges, in their order.
    edges: Vec<Edge>,
}

/// A host or a switch, by its number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Place {
    Host(u32),
    Switch(u32),
}

/// Data rate and propagation delay of a link, and the queues of its ports, where they are given.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub(super) struct Speed {
    /// \[b/s\] Data rate.
    rate: Option<u64>,
    /// \[ps\] Propagation delay.
    propagation: Option<u64>,
    /// \[frames\] Room of the queue of a port.
    queue: Option<u32>,
}

impl Speed {
    /// Reads an attribute of an edge. Other attributes are ignored.
    pub(super) fn read(&mut self, key: &str, value: &str) -> Result<(), SpecError> {
        match key {
            "rate" => self.rate = Some(parse_rate(value).ok_or_else(|| misread(key, value, "rate=\"1Gb/s\""))?),
            "propagation" => {
                let span = trgen::units::parse_span(value);
                self.propagation = Some(span.ok_or_else(|| misread(key, value, "propagation=\"1us\""))?);
            }
            "queue" => self.queue = Some(value.parse().map_err(|_| misread(key, value, "queue=200"))?),
            _ => {}
        }
        Ok(())
    }

    /// These values, and those of `other` where these are not given.
    pub(super) fn or(self, other: Self) -> Self {
        Self {
            rate: self.rate.or(other.rate),
            propagation: self.propagation.or(other.propagation),
            queue: self.queue.or(other.queue),
        }
    }
}

/// The attributes of an edge.
#[derive(Clone, Default)]
struct EdgeAttributes {
    /// Data rate, propagation delay and queues.
    speed: Speed,
    /// \[cycles\] Delay beyond one cycle.
    delay: u32,
    /// Destinations of the static route, as written.
    comment: String,
}

/// An edge: one direction of a link.
struct Edge {
    /// The sending end.
    from: Place,
    /// The receiving end.
    to: Place,
    attributes: EdgeAttributes,
}

/// The two edges of a link, and the node and index at which each of them begins.
type LinkEnds = ([usize; 2], [(u32, u32); 2]);

/// The error of a graph that is not a network.
fn refusal(what: impl Into<String>, remedy: &str) -> SpecError {
    SpecError::new(ErrorKind::Malformed, what.into(), remedy.to_owned())
}

impl EdgeAttributes {
    /// These attributes, replaced by those in `attributes` where they are set.
    fn read(mut self, attributes: &Attributes<'_>) -> Result<Self, SpecError> {
        for &(key, value) in attributes {
            match key {
                "comment" => value.clone_into(&mut self.comment),
                "rate" | "propagation" | "queue" => self.speed.read(key, value)?,
                "delay" => {
                    let delay = value.parse().ok().filter(|&delay| delay <= MAX_DELAY);
                    self.delay = delay.ok_or_else(|| misread(key, value, "delay=5"))?;
                }
                _ => {}
            }
        }
        Ok(self)
    }
}

/// The error of an attribute whose value cannot be read.
fn misread(key: &str, value: &str, example: &str) -> SpecError {
    refusal(format!("{key}={value} of an edge cannot be read"), &format!("write it as in `[{example}]`")).given(value)
}

/// \[b/s\] A data rate: a number and `b/s`, `kb/s`, `Mb/s`, `Gb/s` or `Tb/s`. `None` for another text, and for a rate
/// that is no whole number of bits in a second.
#[must_use]
pub fn parse_rate(text: &str) -> Option<u64> {
    let text = text.trim();
    let begin = text.find(|letter: char| letter.is_ascii_alphabetic())?;
    let (number, unit) = text.split_at(begin);
    let (number, zeros) = (number.trim_end(), [("b/s", 0), ("kb/s", 3), ("Mb/s", 6), ("Gb/s", 9), ("Tb/s", 12)]);
    let zeros = zeros.iter().find(|(name, _)| *name == unit)?.1;
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let is_number = |digits: &str| digits.bytes().all(|digit| digit.is_ascii_digit());
    if whole.is_empty() || !is_number(whole) || !is_number(part) || part.len() > zeros {
        return None;
    }
    let part: u64 = format!("{part:0<zeros$}").parse().unwrap_or(0);
    whole.parse::<u64>().ok()?.checked_mul(10u64.pow(zeros as u32))?.checked_add(part)
}

impl Directed {
    /// Reads the statements of a directed graph.
    pub(super) fn read(statements: &[Statement<'_>]) -> Result<Self, SpecError> {
        let mut new = Self::default();
        new.statements(statements, EdgeAttributes::default())?;
        if new.hosts.is_empty() {
            return Err(SpecError::new(
                ErrorKind::Unsupported,
                "a directed graph without hosts",
                "begin the names of hosts with H, or make it `graph { a -- b }`: links lead both ways",
            ));
        }
        Ok(new)
    }

    /// Reads statements. `defaults` are the attributes of edges that set no others; statements may change them.
    fn statements(&mut self, list: &[Statement<'_>], mut defaults: EdgeAttributes) -> Result<(), SpecError> {
        for statement in list {
            match statement {
                Statement::Node(name, attributes) => {
                    if let Some((_, value)) = attributes.iter().find(|(key, _)| *key == "endpoints") {
                        let what = format!("endpoints={value} of node `{name}` has no meaning in a directed graph");
                        return Err(
                            refusal(what, "link hosts, whose names begin with H").of_kind(ErrorKind::Meaningless)
                        );
                    }
                    self.place(name);
                }
                Statement::Edge(ends, attributes) => {
                    let own = defaults.clone().read(attributes)?;
                    let mut from = None;
                    for end in ends {
                        let End::Node(name) = end else {
                            let what = "an edge of a directed graph leads to a subgraph";
                            return Err(refusal(what, "write an edge for each node").of_kind(ErrorKind::Unsupported));
                        };
                        let to = self.place(name);
                        if let Some(from) = from.replace(to) {
                            self.edges.push(Edge { from, to, attributes: own.clone() });
                        }
                    }
                }
                Statement::Edges(attributes) => defaults = defaults.read(attributes)?,
                Statement::Nodes(_) | Statement::Graph(_) => {}
                Statement::Subgraph(list) => self.statements(list, defaults.clone())?,
            }
        }
        Ok(())
    }

    /// The host or switch with this name, which is added at its first occurrence.
    fn place(&mut self, name: &str) -> Place {
        if let Some(&place) = self.known.get(name) {
            return place;
        }
        let is_host = name.starts_with('H');
        let list = if is_host { &mut self.hosts } else { &mut self.switches };
        let number = list.len() as u32;
        list.push(name.to_owned());
        let place = if is_host { Place::Host(number) } else { Place::Switch(number) };
        self.known.insert(name.to_owned(), place);
        place
    }

    /// The name of a host or switch.
    fn name(&self, place: Place) -> &str {
        match place {
            Place::Host(number) => &self.hosts[number as usize],
            Place::Switch(number) => &self.switches[number as usize],
        }
    }

    /// Pairs of edges that make a link.
    fn links(&self) -> Result<Vec<[usize; 2]>, SpecError> {
        let mut open: HashMap<(Place, Place), VecDeque<usize>> = HashMap::new();
        let mut links = Vec::new();
        for (number, edge) in self.edges.iter().enumerate() {
            if edge.from == edge.to {
                let what = format!("an edge leads from `{}` to itself", self.name(edge.from));
                return Err(refusal(what, "leave it out"));
            }
            match open.get_mut(&(edge.to, edge.from)).and_then(VecDeque::pop_front) {
                Some(back) => links.push([back, number]),
                None => open.entry((edge.from, edge.to)).or_default().push_back(number),
            }
        }
        match open.values().flatten().min() {
            None => {
                links.sort_unstable();
                Ok(links)
            }
            Some(&alone) => {
                let (from, to) = (self.name(self.edges[alone].from), self.name(self.edges[alone].to));
                let what = format!("no edge leads back from `{to}` to `{from}`");
                Err(refusal(what, "write one edge for each direction of a link"))
            }
        }
    }

    /// The network, and what the edges say of its links.
    pub(super) fn build(&self, spec: String) -> Result<Switched, SpecError> {
        let (hosts, count) = (self.hosts.len(), self.hosts.len() + self.switches.len());
        let nodes = check_nodes(&spec, Some(count as u64))?;
        let number = |place: Place| match place {
            Place::Host(number) => number,
            Place::Switch(number) => hosts as u32 + number,
        };
        let mut places = vec![0u32; nodes];
        // By link: its two edges, and the index of the link at both ends of the first edge.
        let mut links = Vec::new();
        let mut ends = Vec::new();
        for pair in self.links()? {
            let there = &self.edges[pair[0]];
            if let (Place::Host(_), Place::Host(_)) = (there.from, there.to) {
                let what = format!("hosts `{}` and `{}` are linked", self.name(there.from), self.name(there.to));
                return Err(refusal(what, "put a switch between them"));
            }
            let mut next = |node: u32| {
                places[node as usize] += 1;
                (node, places[node as usize] - 1)
            };
            let both = [next(number(there.from)), next(number(there.to))];
            links.push(Link {
                delay: there.attributes.delay.max(self.edges[pair[1]].attributes.delay),
                ..Link::new(both)
            });
            ends.push((pair, both));
        }
        if let Some(host) = (0..hosts).find(|&host| places[host] != 1) {
            let what = format!("host `{}` has {} links", self.hosts[host], places[host]);
            return Err(refusal(what, "give each host one link"));
        }
        let plain: Vec<(u32, u32)> = links.iter().map(|link| (link.ends[0].0, link.ends[1].0)).collect();
        if let Some(apart) = super::graph::unreached(nodes, &plain) {
            let name = if apart < hosts { &self.hosts[apart] } else { &self.switches[apart - hosts] };
            let what = format!("no links lead from `{}` to `{name}`", self.hosts[0]);
            return Err(refusal(what, "add links until every node can be reached from every other"));
        }
        let plan: Arc<dyn Plan> = Arc::new(super::graph::Unplanned);
        let fabric = Fabric::new(&spec, hosts, nodes, &links, None)?;
        let notes = self.notes(&fabric, &ends)?;
        let geometry = Geometry::new(&[hosts as u32]).ok_or_else(|| refusal("no hosts", "link hosts"))?;
        let (fabric, names) = (Arc::new(fabric), self.switches.clone());
        Ok(Switched { spec, geometry, fabric, plan, names, notes: Some(Arc::new(notes)) })
    }

    /// What the edges say of their links.
    fn notes(&self, fabric: &Fabric, ends: &[LinkEnds]) -> Result<Notes, SpecError> {
        let mut notes = Notes { ports: fabric.ports(), links: vec![None; fabric.nodes() * fabric.ports()] };
        for (edges, ends) in ends {
            for (edge, (node, place)) in edges.iter().zip(ends) {
                let port = fabric.port(NodeId(*node), *place as usize);
                let attributes = &self.edges[*edge].attributes;
                let note = LinkNote {
                    rate: attributes.speed.rate,
                    propagation: attributes.speed.propagation,
                    queue: attributes.speed.queue,
                    destinations: self.destinations(&self.edges[*edge])?,
                    order: *edge as u32,
                };
                notes.links[*node as usize * fabric.ports() + port.index()] = Some(note);
            }
        }
        Ok(notes)
    }

    /// The destinations of the static route that an edge gives.
    fn destinations(&self, edge: &Edge) -> Result<Destinations, SpecError> {
        // Everything leaves a host through its only link.
        if matches!(edge.from, Place::Host(_)) {
            return Ok(Destinations::All);
        }
        let mut only = Vec::new();
        for name in edge.attributes.comment.split(|letter: char| letter == ',' || letter.is_whitespace()) {
            match (name, self.known.get(name)) {
                ("", _) => {}
                ("*", _) => return Ok(Destinations::All),
                (_, Some(&Place::Host(host))) => only.push(host),
                _ => {
                    let what = format!("comment of the edge from `{}` names `{name}`", self.name(edge.from));
                    return Err(refusal(what, "name hosts of the graph, or write `*`").of_kind(ErrorKind::UnknownName));
                }
            }
        }
        Ok(Destinations::Only(only))
    }
}

#[cfg(test)]
mod tests {
    use super::super::dot;
    use super::*;
    use crate::topology::Topology as _;

    fn build(text: &str) -> Result<Switched, SpecError> {
        dot::directed(text).and_then(|directed| directed.expect("a directed graph").build("graph:x".to_owned()))
    }

    #[test]
    fn hosts_routes_and_rates_are_read() {
        let net = build(
            "digraph { edge [rate=\"1Gb/s\", propagation=\"1us\"]; Hb -> S [comment=\"*\"]; S -> Hb [comment=\"Hb\"];
             Ha -> S [rate=\"100Mb/s\"]; S -> Ha [comment=\"Ha, Hb\", queue=200, color=red]; S -> T [comment=\"Hc\"]; T -> S [comment=\"*\"];
             Hc -> T; T -> Hc [comment=\"Hc\"] }",
        );
        let net = net.unwrap();
        assert_eq!(
            (net.endpoints(), net.nodes(), net.name(NodeId(3)), net.name(NodeId(4))),
            (3, 5, Some("S"), Some("T"))
        );
        let notes = net.notes().unwrap();
        let toward = |from: u32, to: u32| {
            let port = (0..net.fabric().ports()).map(|port| Port(port as u8));
            let port = port.into_iter().find(|&port| net.neighbour(NodeId(from), port) == Some(NodeId(to))).unwrap();
            notes.of(NodeId(from), port).unwrap()
        };
        assert_eq!(toward(1, 3).rate, Some(100_000_000));
        assert_eq!((toward(3, 1).rate, toward(3, 1).propagation), (Some(1_000_000_000), Some(1_000_000)));
        assert_eq!((toward(3, 1).queue, toward(1, 3).queue), (Some(200), None));
        assert_eq!(toward(3, 1).destinations, Destinations::Only(vec![1, 0]));
        assert_eq!(toward(3, 4).destinations, Destinations::Only(vec![2]));
        assert_eq!(toward(4, 3).destinations, Destinations::All);
        assert!(toward(3, 0).order < toward(3, 1).order);
    }

    #[test]
    fn rates_have_units() {
        for (text, rate) in [
            ("100Mb/s", Some(100_000_000)),
            ("2.5 Gb/s", Some(2_500_000_000)),
            ("8b/s", Some(8)),
            ("0.1b/s", None),
            ("1", None),
            ("Gb/s", None),
            ("1.x0Gb/s", None),
            ("99999999999999Tb/s", None),
        ] {
            assert_eq!(parse_rate(text), rate, "{text}");
        }
    }

    #[test]
    fn bad_graphs_are_refused() {
        for (text, expected) in [
            ("digraph { a -> b; b -> a }", "a directed graph without hosts"),
            ("digraph { H0 -> S; H1 -> S; S -> H1 }", "no edge leads back from `S` to `H0`"),
            ("digraph { H0 -> H1; H1 -> H0 }", "hosts `H0` and `H1` are linked"),
            ("digraph { H0 -> H0 }", "to itself"),
            ("digraph { H0 -> S; S -> H0; H0 -> T; T -> H0 }", "host `H0` has 2 links"),
            ("digraph { H0 -> S; S -> H0; T -> U; U -> T }", "no links lead from `H0` to `T`"),
            ("digraph { H0 -> S; S -> H0 [comment=\"H7\"] }", "names `H7`"),
            ("digraph { H0 -> S [rate=fast]; S -> H0 }", "rate=fast"),
            ("digraph { H0 -> S [propagation=\"1 year\"]; S -> H0 }", "propagation=1 year"),
            ("digraph { H0 -> S [queue=-1]; S -> H0 }", "queue=-1"),
            ("digraph { H0 [endpoints=2] }", "endpoints=2 of node `H0`"),
            ("digraph { H0 -> {S T} }", "to a subgraph"),
        ] {
            let refusal = build(text).unwrap_err();
            assert!(refusal.to_string().contains(expected), "{text}: {refusal}");
        }
    }
}
