//! Graphs in DOT, as networks of switches.
//!
//! What concerns a network is read wherever DOT allows it: `endpoints` of a node, `delay` of an edge, and both as
//! defaults (`node [endpoints=4]`) for what comes after them in the same graph or subgraph. In another place they are
//! refused; other attributes are for those who draw.

use std::collections::{BTreeMap, HashMap};
use std::thread;

use dot_parser::ast::either::Either;
use dot_parser::ast::{AttrList, AttrStmt, EdgeRHS, Graphs, NodeID, Stmt, StmtList, Subgraph};
use trgen::catalog::Refusal;

use super::graph::Switches;
use crate::words;

/// Most links that are read: more than any network has that can be built.
const MAX_LINKS: usize = 1 << 20;

/// \[bytes\] Longest text, and the memory for reading it: a few kilobytes for each edge of a chain.
const MAX_BYTES: usize = 1 << 20;
const STACK: usize = 1 << 31;

/// Most attributes of one node or edge: the parser goes through all of them for each.
const MAX_ATTRIBUTES: usize = 1_000;

/// Most subgraphs within each other: the parser reads each of them twice as often as the one around it.
const MAX_DEPTH: usize = 8;

/// Attributes as they are written.
type Pair<'a> = (&'a str, &'a str);

/// Defaults for nodes and edges to come.
#[derive(Clone, Copy)]
struct Defaults {
    endpoints: u32,
    delay: u32,
}

#[derive(Default)]
struct Reader {
    names: Vec<String>,
    endpoints: Vec<u32>,
    known: HashMap<String, usize>,
    /// Ends, cycles of delay that the edge itself tells, and those that it has otherwise.
    links: Vec<([usize; 2], Option<u32>, u32)>,
}

/// Reads an undirected graph. Switches are in the order of their names, numbers by value; each has `endpoints` unless the text
/// says otherwise.
///
/// # Errors
/// Text that is not DOT, a directed graph or more than one, endpoints or delays that are not a number, or of what has
/// none.
pub(super) fn parse(text: &str, endpoints: u32) -> Result<Switches, Refusal> {
    if text.len() > MAX_BYTES {
        let what = format!("{} bytes of DOT, and at most {MAX_BYTES} are read", text.len());
        return Err(Refusal::value(what, "write a list of links, `A B` a line"));
    }
    let Plain { text, depth, attributes, unclosed } = plain(text);
    if unclosed > 0 {
        let what =
            format!("it is not DOT: at its end {} not closed", words::counted(unclosed, "brace is", "braces are"));
        return Err(Refusal::value(what, "write it as in `graph { a -- b }`"));
    }
    if attributes > MAX_ATTRIBUTES {
        let what = format!("a node or edge has {attributes} attributes");
        return Err(Refusal::value(what, format!("use at most {MAX_ATTRIBUTES}")));
    }
    if depth > MAX_DEPTH + 1 {
        let what = format!("subgraphs stand in each other more than {MAX_DEPTH} deep");
        return Err(Refusal::value(what, "leave out braces that say nothing"));
    }
    // The parser calls itself for each edge of a chain and each attribute of a list.
    thread::scope(|scope| {
        let reader = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, || read(&text, endpoints));
        reader.ok().and_then(|reader| reader.join().ok()).unwrap_or_else(|| {
            Err(Refusal::value("there is no memory to read DOT in", "write a list of links, `A B` a line"))
        })
    })
}

/// Reads text without comments and ports.
fn read(text: &str, endpoints: u32) -> Result<Switches, Refusal> {
    // The grammar ends where a graph does: what comes after it is seen by what is put behind.
    let marked = format!("{text}\ngraph end {{}}");
    let Graphs { graphs } = Graphs::try_from(&*marked).map_err(|error| {
        // The error shows the line, which may be long.
        let shown = error.to_string();
        let place = shown.lines().next().unwrap_or_default().trim_start_matches([' ', '-', '>']);
        let why = shown.lines().next_back().unwrap_or_default().trim_start_matches([' ', '=']);
        let (line, column) = place.split_once(':').unwrap_or((place, "1"));
        let what = format!("it is not DOT: line {line}, column {column}: {why}");
        Refusal::value(what, "write it as in `graph { a -- b }`")
    })?;
    let graph = match &graphs[..] {
        [graph, end] if !end.strict => graph,
        [_] | [_, _] => {
            let what = "there is something behind the graph that is not DOT";
            return Err(Refusal::value(what, "leave one graph in the file, `graph { a -- b }`"));
        }
        _ => {
            let what = "there is more than one graph";
            return Err(Refusal::value(what, "leave one graph in the file, `graph { a -- b }`"));
        }
    };
    if graph.is_digraph {
        return Err(Refusal::value("a directed graph", "make it `graph { a -- b }`: links lead both ways"));
    }
    let mut reader = Reader::default();
    reader.statements(&graph.stmts, Defaults { endpoints, delay: 0 })?;
    Ok(reader.sorted(graph.strict))
}

/// Text as the parser wants it, and what is known of it before.
struct Plain {
    text: String,
    /// Most braces that stand in each other.
    depth: usize,
    /// Most attributes of one node or edge.
    attributes: usize,
    /// Braces that are open at the end.
    unclosed: usize,
}

/// The text with blanks for comments and for ports (`a:north` is node `a`; the parser takes ports for something else that begin like a
/// point of the compass).
fn plain(text: &str) -> Plain {
    let (mut depth, mut attributes, mut in_list) = (0usize, 0usize, false);
    let mut most = Plain { text: String::with_capacity(text.len()), depth: 0, attributes: 0, unclosed: 0 };
    let mut rest = text;
    // A port is a word or two, each behind a colon.
    let mut in_port = false;
    while let Some(letter) = rest.chars().next() {
        let length = match letter {
            '"' => {
                let end = rest[1..].match_indices('"').find(|&(at, _)| !rest[1..][..at].ends_with('\\'));
                end.map_or(rest.len(), |(at, _)| at + 2)
            }
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest[2..].find("*/").map_or(rest.len(), |at| at + 4),
            _ if letter.is_alphanumeric() || letter == '_' => {
                rest.find(|letter: char| !(letter.is_alphanumeric() || letter == '_')).unwrap_or(rest.len())
            }
            _ => letter.len_utf8(),
        };
        let token = &rest[..length];
        let is_comment = token.starts_with("//") || token.starts_with("/*");
        match letter {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            '[' => in_list = true,
            ']' => in_list = false,
            '=' if in_list => attributes += 1,
            // Lists that follow each other are of the same.
            _ if !in_list && !is_comment && !letter.is_whitespace() => attributes = 0,
            _ => {}
        }
        (most.depth, most.attributes) = (most.depth.max(depth), most.attributes.max(attributes));
        // A comment that does not end is left for the parser to refuse.
        let ends = !token.starts_with("/*") || token.len() > 3 && token.ends_with("*/");
        if letter == ':' || (in_port && !is_comment && !letter.is_whitespace()) || (is_comment && ends) {
            most.text.extend(token.chars().map(|letter| if letter == '\n' { '\n' } else { ' ' }));
        } else {
            most.text.push_str(token);
        }
        if letter == ':' {
            in_port = true;
        } else if !letter.is_whitespace() && !is_comment {
            in_port = false;
        }
        rest = &rest[length..];
    }
    most.unclosed = depth;
    most
}

/// The number that an attribute of a list has, if it is there; the last one counts. `wrong` is one that would be out of place.
fn attribute(list: &AttrList<Pair<'_>>, right: &str, wrong: &str, of: &str) -> Result<Option<u32>, Refusal> {
    let pairs = || list.elems.iter().flat_map(|list| &list.elems).map(|&(key, value)| (bare(key), bare(value)));
    if let Some((_, value)) = pairs().find(|&(key, _)| key == wrong) {
        return Err(misplaced(wrong, value, of));
    }
    let Some((key, value)) = pairs().rfind(|&(key, _)| key == right) else { return Ok(None) };
    value.parse().map(Some).map_err(|_| {
        let example = if right == "delay" { "`a -- b [delay=5]`" } else { "`a [endpoints=4]`" };
        Refusal::value(format!("{key}={value} of {of} is not a number"), format!("write it as in {example}"))
    })
}

fn misplaced(key: &str, value: &str, of: &str) -> Refusal {
    let remedy = match key {
        "delay" => "give it to an edge, `a -- b [delay=5]`, or to all that follow, `edge [delay=5]`",
        _ => "give it to a node, `a [endpoints=4]`, or to all that follow, `node [endpoints=4]`",
    };
    Refusal::value(format!("{key}={value} of {of} has no meaning"), remedy)
}

/// A word without its quotation marks.
fn bare(word: &str) -> &str {
    word.strip_prefix('"').and_then(|word| word.strip_suffix('"')).unwrap_or(word)
}

impl Reader {
    fn statements(&mut self, list: &StmtList<Pair<'_>>, mut defaults: Defaults) -> Result<(), Refusal> {
        for statement in &list.stmts {
            match statement {
                Stmt::NodeStmt(node) => {
                    let number = self.node(&node.node, defaults);
                    if let Some(attributes) = &node.attr {
                        let of = format!("node `{}`", self.names[number]);
                        if let Some(own) = attribute(attributes, "endpoints", "delay", &of)? {
                            self.endpoints[number] = own;
                        }
                    }
                }
                Stmt::EdgeStmt(edge) => {
                    let own = edge.attr.as_ref().map(|list| attribute(list, "delay", "endpoints", "an edge"));
                    let (delay, otherwise) = (own.transpose()?.flatten(), defaults.delay);
                    let mut from = self.ends(&edge.from, defaults)?;
                    let mut next: Option<&EdgeRHS<_>> = Some(&edge.next);
                    while let Some(right) = next {
                        let to = self.ends(&right.to, defaults)?;
                        if self.links.len() + from.len() * to.len() > MAX_LINKS {
                            let what = format!("more than {MAX_LINKS} links");
                            return Err(Refusal::value(what, "link less: a switch has at most 255 links"));
                        }
                        self.links
                            .extend(from.iter().flat_map(|&a| to.iter().map(move |&b| ([a, b], delay, otherwise))));
                        (from, next) = (to, right.next.as_deref());
                    }
                }
                Stmt::AttrStmt(AttrStmt::Node(list)) => {
                    let own = attribute(list, "endpoints", "delay", "nodes")?;
                    defaults.endpoints = own.unwrap_or(defaults.endpoints);
                }
                Stmt::AttrStmt(AttrStmt::Edge(list)) => {
                    defaults.delay = attribute(list, "delay", "endpoints", "edges")?.unwrap_or(defaults.delay);
                }
                Stmt::AttrStmt(AttrStmt::Graph(list)) => {
                    for (key, value) in list.elems.iter().flat_map(|list| &list.elems) {
                        of_the_graph(key, value)?;
                    }
                }
                Stmt::IDEq(key, value) => of_the_graph(key, value)?,
                Stmt::Subgraph(subgraph) => self.statements(&subgraph.stmts, defaults)?,
            }
        }
        Ok(())
    }

    /// The number of a node, which is new when it is named for the first time.
    fn node(&mut self, id: &NodeID, defaults: Defaults) -> usize {
        let name = bare(&id.id);
        if let Some(&number) = self.known.get(name) {
            return number;
        }
        self.known.insert(name.to_owned(), self.names.len());
        self.names.push(name.to_owned());
        self.endpoints.push(defaults.endpoints);
        self.names.len() - 1
    }

    /// The nodes at one end of an edge: one, or all of a subgraph, each once.
    fn ends(&mut self, end: &Either<NodeID, Subgraph<Pair<'_>>>, defaults: Defaults) -> Result<Vec<usize>, Refusal> {
        match end {
            Either::Left(id) => Ok(vec![self.node(id, defaults)]),
            Either::Right(subgraph) => {
                self.statements(&subgraph.stmts, defaults)?;
                let mut members = Vec::new();
                self.members(&subgraph.stmts, &mut members);
                members.sort_unstable();
                members.dedup();
                Ok(members)
            }
        }
    }

    /// The nodes that statements name, which have been read.
    fn members(&self, list: &StmtList<Pair<'_>>, into: &mut Vec<usize>) {
        let end = |end: &Either<NodeID, Subgraph<_>>, into: &mut Vec<usize>| match end {
            Either::Left(id) => into.extend(self.known.get(bare(&id.id))),
            Either::Right(subgraph) => self.members(&subgraph.stmts, into),
        };
        for statement in &list.stmts {
            match statement {
                Stmt::NodeStmt(node) => into.extend(self.known.get(bare(&node.node.id))),
                Stmt::EdgeStmt(edge) => {
                    end(&edge.from, into);
                    let mut next: Option<&EdgeRHS<_>> = Some(&edge.next);
                    while let Some(right) = next {
                        end(&right.to, into);
                        next = right.next.as_deref();
                    }
                }
                Stmt::Subgraph(subgraph) => self.members(&subgraph.stmts, into),
                Stmt::AttrStmt(_) | Stmt::IDEq(..) => {}
            }
        }
    }

    /// The switches by name, and the links in their order; in a strict graph there is one at most between two switches, with the
    /// delay that it was given last.
    fn sorted(self, strict: bool) -> Switches {
        let order = |name: &str| (name.parse::<u64>().unwrap_or(u64::MAX), name.to_owned());
        let mut sorted: Vec<usize> = (0..self.names.len()).collect();
        sorted.sort_by_key(|&node| order(&self.names[node]));
        let mut numbers = vec![0u32; sorted.len()];
        sorted.iter().enumerate().for_each(|(number, &node)| numbers[node] = number as u32);
        let ends = |[a, b]: [usize; 2]| (numbers[a].min(numbers[b]), numbers[a].max(numbers[b]));
        let mut links: Vec<((u32, u32), u32)> = Vec::new();
        let mut known: BTreeMap<(u32, u32), usize> = BTreeMap::new();
        for (link, own, otherwise) in self.links {
            match known.get(&ends(link)).filter(|_| strict) {
                // An edge that is repeated changes what it tells, and nothing else.
                Some(&at) => links[at].1 = own.unwrap_or(links[at].1),
                None => {
                    known.insert(ends(link), links.len());
                    links.push((ends(link), own.unwrap_or(otherwise)));
                }
            }
        }
        links.sort_unstable();
        let (links, delays) = links.into_iter().unzip();
        Switches {
            names: sorted.iter().map(|&node| self.names[node].clone()).collect(),
            endpoints: sorted.iter().map(|&node| self.endpoints[node]).collect(),
            links,
            delays,
        }
    }
}

/// An attribute of a graph or subgraph, which has none that concerns a network.
fn of_the_graph(key: &str, value: &str) -> Result<(), Refusal> {
    match bare(key) {
        key @ ("endpoints" | "delay") => Err(misplaced(key, bare(value), "a graph")),
        _ => Ok(()),
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
        assert_eq!(read(&list(MAX_ATTRIBUTES - 1)).endpoints, [3, 1]);
        assert!(parse(&list(MAX_ATTRIBUTES), 1).unwrap_err().to_string().contains("has 1001 attributes"));
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
