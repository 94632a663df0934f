//! Graphs in DOT, as networks of switches.
//!
//! These attributes concern the network: `endpoints` of a node, and of an edge `delay`, and for networks whose links
//! differ `rate` (`"10Gb/s"`) and `propagation` (`"1us"`). They are read wherever DOT allows
//! them, also as defaults (`node [endpoints=4]`) for later statements of the same graph or subgraph. Elsewhere they are
//! rejected. Other attributes concern drawing and are ignored.

use std::collections::{BTreeMap, HashMap};

use trgen::catalog::{ErrorKind, SpecError};

use super::directed::{Directed, Speed};
use super::graph::Switches;
use crate::words;

pub(super) mod syntax;

use syntax::{Attributes, End, Fault, MAX_DEPTH, Statement};

/// Maximum number of links: more than any valid network has.
const MAX_LINKS: usize = 1 << 20;

/// \[bytes\] Maximum length of the text.
const MAX_BYTES: usize = 1 << 20;

/// Default attributes for later nodes and edges.
#[derive(Clone, Copy)]
struct Defaults {
    /// \[endpoints\] Endpoints of each later node.
    endpoints: u32,
    /// \[cycles\] Delay of each later edge.
    delay: u32,
    /// Data rate and propagation delay of each later edge.
    speed: Speed,
}

/// An edge with its own attributes and the defaults that hold for it.
#[derive(Clone, Copy)]
struct Edge {
    /// Numbers of the nodes at both ends.
    ends: [usize; 2],
    /// \[cycles\] Delay, if the edge sets it.
    delay: Option<u32>,
    /// Data rate and propagation delay, if the edge sets them.
    speed: Speed,
    /// The defaults where the edge stands.
    defaults: Defaults,
}

/// Reads the statements of an undirected graph.
#[derive(Default)]
struct Reader {
    /// Names of nodes, in the order of their first occurrence.
    names: Vec<String>,
    /// \[endpoints\] By node: its endpoints.
    endpoints: Vec<u32>,
    /// The number of each node, by name.
    known: HashMap<String, usize>,
    /// Edges between two nodes, in their order.
    links: Vec<Edge>,
}

/// Reads an undirected graph. Switches are ordered by name, numbers by value; each has `endpoints` unless the text says
/// otherwise.
///
/// # Errors
/// Text that is not DOT, a directed graph or more than one graph, endpoints or delays that are not a number or stand at
/// the wrong kind of item.
pub(super) fn parse(text: &str, endpoints: u32) -> Result<Switches, SpecError> {
    if text.len() > MAX_BYTES {
        let what = format!("{} bytes of DOT, and at most {MAX_BYTES} are read", text.len());
        return Err(SpecError::new(ErrorKind::TooLarge, what, "write a list of links, `A B` a line"));
    }
    let graph = syntax::parse(text).map_err(|fault| refusal(&fault))?;
    if graph.is_directed {
        return Err(SpecError::new(
            ErrorKind::Unsupported,
            "a directed graph",
            "make it `graph { a -- b }`: links lead both ways",
        ));
    }
    let mut reader = Reader::default();
    reader.statements(&graph.statements, Defaults { endpoints, delay: 0, speed: Speed::default() })?;
    Ok(reader.sorted(graph.is_strict))
}

/// Reads a directed graph; `None` if the graph is not directed, or the text is none.
///
/// # Errors
/// Edges whose attributes cannot be read, and graphs without hosts.
pub(super) fn directed(text: &str) -> Result<Option<Directed>, SpecError> {
    match syntax::parse(text) {
        Ok(graph) if graph.is_directed && text.len() <= MAX_BYTES => Directed::read(&graph.statements).map(Some),
        _ => Ok(None),
    }
}

/// The error of a text that is not one graph.
fn refusal(fault: &Fault) -> SpecError {
    match fault {
        Fault::Syntax { line, column, why } => {
            let what = format!("it is not DOT: line {line}, column {column}: {why}");
            SpecError::new(ErrorKind::Malformed, what, "write it as in `graph { a -- b }`")
        }
        Fault::Unclosed { braces } => {
            let what =
                format!("it is not DOT: at its end {} not closed", words::counted(*braces, "brace is", "braces are"));
            SpecError::new(ErrorKind::Malformed, what, "write it as in `graph { a -- b }`")
        }
        Fault::Deep => {
            let what = format!("subgraphs stand in each other more than {MAX_DEPTH} deep");
            SpecError::new(ErrorKind::TooLarge, what, "leave out braces that say nothing")
        }
        Fault::Several => {
            let what = "there is more than one graph";
            SpecError::new(ErrorKind::Malformed, what, "leave one graph in the file, `graph { a -- b }`")
        }
        Fault::Behind => {
            let what = "there is something behind the graph that is not DOT";
            SpecError::new(ErrorKind::Malformed, what, "leave one graph in the file, `graph { a -- b }`")
        }
    }
}

/// The numeric attribute `right` of a list; `None` if it is not set. The last one counts. `wrong` is the attribute that
/// would be misplaced here, and `of` the kind of item.
fn attribute(list: &Attributes<'_>, right: &str, wrong: &str, of: &str) -> Result<Option<u32>, SpecError> {
    if let Some((_, value)) = list.iter().find(|&&(key, _)| key == wrong) {
        return Err(misplaced(wrong, value, of));
    }
    let Some(&(key, value)) = list.iter().rfind(|&&(key, _)| key == right) else { return Ok(None) };
    value.parse().map(Some).map_err(|_| {
        let example = if right == "delay" { "`a -- b [delay=5]`" } else { "`a [endpoints=4]`" };
        let what = format!("{key}={value} of {of} is not a number");
        SpecError::new(ErrorKind::Malformed, what, format!("write it as in {example}")).given(value)
    })
}

/// Data rate and propagation delay in a list, where they are set. The last ones count.
fn speed(list: &Attributes<'_>) -> Result<Speed, SpecError> {
    let mut speed = Speed::default();
    list.iter().try_for_each(|(key, value)| speed.read(key, value))?;
    Ok(speed)
}

/// The error of an attribute that does not belong to this kind of item, `of`.
fn misplaced(key: &str, value: &str, of: &str) -> SpecError {
    let remedy = match key {
        "delay" => "give it to an edge, `a -- b [delay=5]`, or to all that follow, `edge [delay=5]`",
        _ => "give it to a node, `a [endpoints=4]`, or to all that follow, `node [endpoints=4]`",
    };
    SpecError::new(ErrorKind::Meaningless, format!("{key}={value} of {of} has no meaning"), remedy)
}

impl Reader {
    /// Reads statements. `defaults` holds until they change it.
    fn statements(&mut self, list: &[Statement<'_>], mut defaults: Defaults) -> Result<(), SpecError> {
        for statement in list {
            match statement {
                Statement::Node(name, attributes) => {
                    let number = self.node(name, defaults);
                    let item = format!("node `{name}`");
                    if let Some(own) = attribute(attributes, "endpoints", "delay", &item)? {
                        self.endpoints[number] = own;
                    }
                }
                Statement::Edge(ends, attributes) => {
                    let delay = attribute(attributes, "delay", "endpoints", "an edge")?;
                    let speed = speed(attributes)?;
                    let mut from = Vec::new();
                    for end in ends {
                        let to = self.end(end, defaults)?;
                        if self.links.len() + from.len() * to.len() > MAX_LINKS {
                            let what = format!("more than {MAX_LINKS} links");
                            return Err(SpecError::new(
                                ErrorKind::TooLarge,
                                what,
                                "link less: a switch has at most 255 links",
                            ));
                        }
                        let pairs = from.iter().flat_map(|&a| to.iter().map(move |&b| [a, b]));
                        self.links.extend(pairs.map(|ends| Edge { ends, delay, speed, defaults }));
                        from = to;
                    }
                }
                Statement::Nodes(list) => {
                    let own = attribute(list, "endpoints", "delay", "nodes")?;
                    defaults.endpoints = own.unwrap_or(defaults.endpoints);
                }
                Statement::Edges(list) => {
                    defaults.delay = attribute(list, "delay", "endpoints", "edges")?.unwrap_or(defaults.delay);
                    defaults.speed = speed(list)?.or(defaults.speed);
                }
                // A graph or subgraph has no attribute that concerns the network.
                Statement::Graph(list) => {
                    if let Some((key, value)) = list.iter().find(|(key, _)| matches!(*key, "endpoints" | "delay")) {
                        return Err(misplaced(key, value, "a graph"));
                    }
                }
                Statement::Subgraph(list) => self.statements(list, defaults)?,
            }
        }
        Ok(())
    }

    /// The number of a node; its first occurrence defines it.
    fn node(&mut self, name: &str, defaults: Defaults) -> usize {
        if let Some(&number) = self.known.get(name) {
            return number;
        }
        self.known.insert(name.to_owned(), self.names.len());
        self.names.push(name.to_owned());
        self.endpoints.push(defaults.endpoints);
        self.names.len() - 1
    }

    /// The nodes at one end of an edge: one, or all of a subgraph, each once.
    fn end(&mut self, end: &End<'_>, defaults: Defaults) -> Result<Vec<usize>, SpecError> {
        if let End::Subgraph(list) = end {
            self.statements(list, defaults)?;
        } else if let End::Node(name) = end {
            self.node(name, defaults);
        }
        let mut members = Vec::new();
        self.members_of_end(end, &mut members);
        members.sort_unstable();
        members.dedup();
        Ok(members)
    }

    /// Adds to `into` the nodes that statements name. The statements have been read before.
    fn members(&self, list: &[Statement<'_>], into: &mut Vec<usize>) {
        for statement in list {
            match statement {
                Statement::Node(name, _) => into.extend(self.known.get(*name)),
                Statement::Edge(ends, _) => ends.iter().for_each(|end| self.members_of_end(end, into)),
                Statement::Subgraph(list) => self.members(list, into),
                Statement::Nodes(_) | Statement::Edges(_) | Statement::Graph(_) => {}
            }
        }
    }

    /// Adds to `into` the nodes at one end of an edge.
    fn members_of_end(&self, end: &End<'_>, into: &mut Vec<usize>) {
        match end {
            End::Node(name) => into.extend(self.known.get(*name)),
            End::Subgraph(list) => self.members(list, into),
        }
    }

    /// The switches by name, and the links in their order. A strict graph has at most one link between two switches,
    /// with the delay that was given last.
    fn sorted(self, strict: bool) -> Switches {
        let order = |name: &str| (name.parse::<u64>().unwrap_or(u64::MAX), name.to_owned());
        let mut sorted: Vec<usize> = (0..self.names.len()).collect();
        sorted.sort_by_key(|&node| order(&self.names[node]));
        let mut numbers = vec![0u32; sorted.len()];
        sorted.iter().enumerate().for_each(|(number, &node)| numbers[node] = number as u32);
        let ends = |[a, b]: [usize; 2]| (numbers[a].min(numbers[b]), numbers[a].max(numbers[b]));
        let mut links: Vec<((u32, u32), u32, Speed)> = Vec::new();
        let mut known: BTreeMap<(u32, u32), usize> = BTreeMap::new();
        for Edge { ends: pair, delay, speed, defaults } in self.links {
            match known.get(&ends(pair)).filter(|_| strict) {
                // A repeated edge changes only the attributes that it sets.
                Some(&at) => (links[at].1, links[at].2) = (delay.unwrap_or(links[at].1), speed.or(links[at].2)),
                None => {
                    known.insert(ends(pair), links.len());
                    links.push((ends(pair), delay.unwrap_or(defaults.delay), speed.or(defaults.speed)));
                }
            }
        }
        links.sort_unstable();
        let has_speeds = links.iter().any(|&(_, _, speed)| speed != Speed::default());
        let speeds = links.iter().filter(|_| has_speeds).map(|&(_, _, speed)| speed).collect();
        let (links, delays) = links.into_iter().map(|(ends, delay, _)| (ends, delay)).unzip();
        Switches {
            names: sorted.iter().map(|&node| self.names[node].clone()).collect(),
            endpoints: sorted.iter().map(|&node| self.endpoints[node]).collect(),
            links,
            delays,
            speeds,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Switches {
        super::parse(text, 1).unwrap_or_else(|refusal| panic!("{text}: {refusal}"))
    }

    #[test]
    fn defaults_are_for_what_comes_after_them_in_the_same_graph() {
        let net = read(
            "graph { a; node [endpoints=4, shape=box]; b; edge [delay=3]; a -- b -- c [delay=1];
             subgraph x { node [endpoints=0]; edge [delay=7]; d -- a }; e -- d; b [endpoints=2]; \"e\" -- a }",
        );
        assert_eq!(net.names, ["a", "b", "c", "d", "e"]);
        assert_eq!(net.endpoints, [1, 2, 4, 0, 4]);
        assert_eq!(net.links, [(0, 1), (0, 3), (0, 4), (1, 2), (3, 4)]);
        assert_eq!(net.delays, [1, 7, 3, 1, 3]);
    }

    #[test]
    fn subgraphs_are_linked_node_by_node() {
        let net = read("graph { {a b} -- {c; d -- c} -- a }");
        assert_eq!(net.links, [(0, 2), (0, 2), (0, 3), (0, 3), (1, 2), (1, 3), (2, 3)]);
    }

    #[test]
    fn rates_and_delays_of_links_are_noted() {
        let net =
            read("graph { edge [rate=\"1Gb/s\"]; a -- b [propagation=\"2us\"]; b -- c [rate=\"10Gb/s\"]; a -- c }");
        let speed_of = |key: &str, value: &str| {
            let mut speed = Speed::default();
            speed.read(key, value).unwrap();
            speed
        };
        let (slow, fast) = (speed_of("rate", "1Gb/s"), speed_of("rate", "10Gb/s"));
        assert_eq!(net.speeds, [slow.or(speed_of("propagation", "2us")), slow, fast]);
        assert!(read("graph { a -- b [color=red] }").speeds.is_empty());
        assert!(parse("graph { a -- b [rate=fast] }", 1).unwrap_err().to_string().contains("rate=fast"));
    }

    #[test]
    fn strict_graphs_have_one_link_between_two_switches() {
        let net = read("strict graph { edge [delay=9]; a -- b; b -- a [delay=2]; a -- b; a -- c }");
        assert_eq!((net.links, net.delays), (vec![(0, 1), (0, 2)], vec![2, 9]));
        assert_eq!(read("graph { a -- b; b -- a }").links, [(0, 1); 2]);
    }

    #[test]
    fn ports_comments_and_labels_say_nothing() {
        let plain = read("graph { a -- b; b -- c; c -- a }");
        for text in [
            "graph { a:e1 -- b:ne; b:\"x y\":sw -- c : n; c -- a:east:_ }",
            "/* {{{{{{{{{{ */ graph { a -- b // }}\n; b -- c; c -- a } // done {{{{{{{{{{",
            "graph { a [label=\"{{{{{{{{{{ /* \\\" //\"]; a -- b; b -- c; c -- a }",
        ] {
            assert_eq!(read(text), plain, "{text}");
        }
    }

    #[test]
    fn long_chains_and_lists_are_read() {
        let chain: Vec<String> = (0..4_000).map(|node| node.to_string()).collect();
        assert_eq!(read(&format!("graph {{ {} }}", chain.join(" -- "))).links.len(), 3_999);
        let list = |count: usize| format!("graph {{ a [{}][endpoints=3]; b }}", "x=1;".repeat(count));
        assert_eq!(read(&list(100_000)).endpoints, [3, 1]);
        assert!(parse(&" ".repeat(MAX_BYTES + 1), 1).unwrap_err().to_string().contains("at most"));
    }

    #[test]
    fn what_would_not_be_heeded_is_refused() {
        let deep = |depth: usize| format!("graph {{ {} a -- b {} }}", "{".repeat(depth), "}".repeat(depth));
        assert_eq!(read(&deep(MAX_DEPTH)).links, [(0, 1)]);
        let deep = deep(MAX_DEPTH + 1);
        for (text, expected) in [
            ("graph { a -- b [endpoints=2] }", "endpoints=2 of an edge has no meaning"),
            ("graph { a [delay=2] }", "delay=2 of node `a` has no meaning"),
            ("graph { node [delay=2]; a }", "delay=2 of nodes has no meaning"),
            ("graph { edge [endpoints=2]; a }", "endpoints=2 of edges has no meaning"),
            ("graph { endpoints=4; a -- b }", "endpoints=4 of a graph has no meaning"),
            ("graph { graph [\"delay\"=\"4\"]; a -- b }", "delay=4 of a graph has no meaning"),
            ("graph { node [endpoints=many]; a }", "endpoints=many of nodes is not a number"),
            ("graph { a -- b [delay=-1] }", "delay=-1 of an edge is not a number"),
            ("graph { a -- b } graph { c -- d }", "more than one graph"),
            ("graph { a -- b } c -- d", "behind the graph"),
            ("graph { a -- b } /*", "behind the graph"),
            ("graph { a -- b } strict", "behind the graph"),
            ("graph { a -- b", "1 brace is not closed"),
            (&deep, "more than 8 deep"),
        ] {
            let refusal = parse(text, 1).unwrap_err();
            assert!(refusal.to_string().contains(expected), "{text}: {refusal}");
        }
    }
}
