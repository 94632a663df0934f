//! Graphs in DOT, as networks of switches.
//!
//! What concerns a network is read wherever DOT allows it: `endpoints` of a node, `delay` of an edge, and both as
//! defaults (`node [endpoints=4]`) for what comes after them in the same graph or subgraph. In another place they are
//! refused; other attributes are for those who draw, and ports (`a:north` is node `a`) say nothing.
//!
//! ```text
//! text       = [ strict ] graph [ word ] body
//! body       = '{' { statement [ ';' ] } '}'
//! statement  = word '=' word | ( graph | node | edge ) { list } | end { '--' end } { list }
//! end        = word [ ':' word [ ':' word ] ] | [ subgraph [ word ] ] body
//! list       = '[' { word '=' word [ ',' | ';' ] } ']'
//! ```

use std::collections::{BTreeMap, HashMap};

use trgen::catalog::{ErrorKind, SpecError};

use super::graph::Switches;
use crate::words;

mod tokens;

use tokens::{Place, Token, Tokens};

/// Most links that are read: more than any network has that can be built.
const MAX_LINKS: usize = 1 << 20;

/// \[bytes\] Longest text.
const MAX_BYTES: usize = 1 << 20;

/// Most attributes of one node or edge.
const MAX_ATTRIBUTES: usize = 1_000;

/// Most subgraphs within each other: the reader calls itself for each of them.
const MAX_DEPTH: usize = 8;

/// Attributes as they are written.
type Pairs<'a> = Vec<(&'a str, &'a str)>;

/// Defaults for nodes and edges to come.
#[derive(Clone, Copy)]
struct Defaults {
    endpoints: u32,
    delay: u32,
}

struct Reader<'a> {
    tokens: Tokens<'a>,
    /// Braces that are open.
    open: usize,
    names: Vec<&'a str>,
    endpoints: Vec<u32>,
    known: HashMap<&'a str, usize>,
    /// Ends, cycles of delay that the edge itself tells, and those that it has otherwise.
    links: Vec<([usize; 2], Option<u32>, u32)>,
}

/// Reads an undirected graph. Switches are in the order of their names, numbers by value; each has `endpoints` unless the text
/// says otherwise.
///
/// # Errors
/// Text that is not DOT, a directed graph or more than one, endpoints or delays that are not a number, or of what has
/// none.
pub(super) fn parse(text: &str, endpoints: u32) -> Result<Switches, SpecError> {
    if text.len() > MAX_BYTES {
        let what = format!("{} bytes of DOT, and at most {MAX_BYTES} are read", text.len());
        return Err(SpecError::new(ErrorKind::TooLarge, what, "write a list of links, `A B` a line"));
    }
    let mut reader = Reader {
        tokens: Tokens::new(text),
        open: 0,
        names: Vec::new(),
        endpoints: Vec::new(),
        known: HashMap::new(),
        links: Vec::new(),
    };
    let is_strict = reader.tokens.take_keyword("strict");
    if reader.tokens.is_keyword("digraph") {
        let remedy = "make it `graph { a -- b }`: links lead both ways";
        return Err(SpecError::new(ErrorKind::Unsupported, "a directed graph", remedy));
    }
    if !reader.tokens.take_keyword("graph") {
        return Err(reader.expected("`graph`"));
    }
    if let Token::Word(_) = reader.tokens.peek() {
        reader.tokens.take();
    }
    reader.body(Defaults { endpoints, delay: 0 })?;
    reader.end()?;
    Ok(reader.sorted(is_strict))
}

/// The number that an attribute of a list has, if it is there; the last one counts. `wrong` is one that would be out of place.
fn attribute(pairs: &Pairs<'_>, right: &str, wrong: &str, of: &str) -> Result<Option<u32>, SpecError> {
    if let Some((_, value)) = pairs.iter().find(|(key, _)| *key == wrong) {
        return Err(misplaced(wrong, value, of));
    }
    let Some((key, value)) = pairs.iter().rfind(|(key, _)| *key == right) else { return Ok(None) };
    value.parse().map(Some).map_err(|_| {
        let example = if right == "delay" { "`a -- b [delay=5]`" } else { "`a [endpoints=4]`" };
        let what = format!("{key}={value} of {of} is not a number");
        SpecError::new(ErrorKind::Malformed, what, format!("write it as in {example}")).given(value)
    })
}

fn misplaced(key: &str, value: &str, of: &str) -> SpecError {
    let remedy = match key {
        "delay" => "give it to an edge, `a -- b [delay=5]`, or to all that follow, `edge [delay=5]`",
        _ => "give it to a node, `a [endpoints=4]`, or to all that follow, `node [endpoints=4]`",
    };
    SpecError::new(ErrorKind::Meaningless, format!("{key}={value} of {of} has no meaning"), remedy)
}

/// Refuses an attribute of a graph or subgraph that would concern a network.
fn of_the_graph(key: &str, value: &str) -> Result<(), SpecError> {
    match key {
        "endpoints" | "delay" => Err(misplaced(key, value, "a graph")),
        _ => Ok(()),
    }
}

impl<'a> Reader<'a> {
    /// What is wrong where something else is expected than the next token.
    fn expected(&self, what: &str) -> SpecError {
        let remedy = "write it as in `graph { a -- b }`";
        let what = match (self.tokens.peek(), self.open) {
            (Token::End, open @ 1..) => {
                format!("it is not DOT: at its end {} not closed", words::counted(open, "brace is", "braces are"))
            }
            (found, _) => {
                let Place { line, column } = self.tokens.place();
                format!("it is not DOT: line {line}, column {column}: expected {what}, found {found}")
            }
        };
        SpecError::new(ErrorKind::Malformed, what, remedy)
    }

    fn word(&mut self, what: &str) -> Result<&'a str, SpecError> {
        match self.tokens.peek() {
            Token::Word(word) => {
                self.tokens.take();
                Ok(word)
            }
            _ => Err(self.expected(what)),
        }
    }

    /// Refuses whatever stands behind the graph.
    fn end(&mut self) -> Result<(), SpecError> {
        if self.tokens.peek() == Token::End {
            return Ok(());
        }
        self.tokens.take_keyword("strict");
        let is_graph = self.tokens.is_keyword("graph") || self.tokens.is_keyword("digraph");
        let what = if is_graph {
            "there is more than one graph"
        } else {
            "there is something behind the graph that is not DOT"
        };
        Err(SpecError::new(ErrorKind::Malformed, what, "leave one graph in the file, `graph { a -- b }`"))
    }

    /// Statements in braces. Returns the nodes that they name.
    fn body(&mut self, mut defaults: Defaults) -> Result<Vec<usize>, SpecError> {
        if self.tokens.peek() != Token::Sign('{') {
            return Err(self.expected("`{`"));
        }
        if self.open > MAX_DEPTH {
            let what = format!("subgraphs stand in each other more than {MAX_DEPTH} deep");
            return Err(SpecError::new(ErrorKind::TooLarge, what, "leave out braces that say nothing"));
        }
        self.tokens.take();
        self.open += 1;
        let mut members = Vec::new();
        while !self.tokens.take_sign('}') {
            self.statement(&mut defaults, &mut members)?;
            self.tokens.take_sign(';');
        }
        self.open -= 1;
        members.sort_unstable();
        members.dedup();
        Ok(members)
    }

    fn statement(&mut self, defaults: &mut Defaults, members: &mut Vec<usize>) -> Result<(), SpecError> {
        if self.tokens.take_keyword("node") {
            let own = attribute(&self.lists()?, "endpoints", "delay", "nodes")?;
            defaults.endpoints = own.unwrap_or(defaults.endpoints);
            return Ok(());
        }
        if self.tokens.take_keyword("edge") {
            defaults.delay = attribute(&self.lists()?, "delay", "endpoints", "edges")?.unwrap_or(defaults.delay);
            return Ok(());
        }
        if self.tokens.take_keyword("graph") {
            return self.lists()?.into_iter().try_for_each(|(key, value)| of_the_graph(key, value));
        }
        let is_subgraph = self.tokens.peek() == Token::Sign('{') || self.tokens.is_keyword("subgraph");
        let mut ends: Vec<Vec<usize>> = Vec::new();
        if is_subgraph {
            ends.push(self.end_of_edge(*defaults)?);
        } else {
            let name = self.word("a node, a subgraph or `}`")?;
            if self.tokens.take_sign('=') {
                let value = self.word("a value")?;
                return of_the_graph(name, value);
            }
            ends.push(vec![self.node(name, *defaults)?]);
        }
        while self.tokens.peek() == Token::Edge("--") {
            self.tokens.take();
            ends.push(self.end_of_edge(*defaults)?);
        }
        if let [one] = &ends[..] {
            if let ([node], false) = (&one[..], is_subgraph) {
                let of = format!("node `{}`", self.names[*node]);
                if let Some(own) = attribute(&self.lists()?, "endpoints", "delay", &of)? {
                    self.endpoints[*node] = own;
                }
            }
        } else {
            let own = attribute(&self.lists()?, "delay", "endpoints", "an edge")?;
            for pair in ends.windows(2) {
                if self.links.len() + pair[0].len() * pair[1].len() > MAX_LINKS {
                    let what = format!("more than {MAX_LINKS} links");
                    return Err(SpecError::new(ErrorKind::TooLarge, what, "link less: a switch has at most 255 links"));
                }
                let otherwise = defaults.delay;
                let links = |&a: &usize| pair[1].iter().map(move |&b| ([a, b], own, otherwise));
                self.links.extend(pair[0].iter().flat_map(links));
            }
        }
        members.extend(ends.into_iter().flatten());
        Ok(())
    }

    /// The nodes at one end of an edge: one, or all of a subgraph, each once.
    fn end_of_edge(&mut self, defaults: Defaults) -> Result<Vec<usize>, SpecError> {
        if self.tokens.take_keyword("subgraph") {
            if let Token::Word(_) = self.tokens.peek() {
                self.tokens.take();
            }
            return self.body(defaults);
        }
        if self.tokens.peek() == Token::Sign('{') {
            return self.body(defaults);
        }
        let name = self.word("a node or a subgraph")?;
        Ok(vec![self.node(name, defaults)?])
    }

    /// The number of a node, which is new when it is named for the first time. Passes its port.
    fn node(&mut self, name: &'a str, defaults: Defaults) -> Result<usize, SpecError> {
        for _ in 0..2 {
            if self.tokens.take_sign(':') {
                self.word("a port")?;
            }
        }
        let number = *self.known.entry(name).or_insert(self.names.len());
        if number == self.names.len() {
            self.names.push(name);
            self.endpoints.push(defaults.endpoints);
        }
        Ok(number)
    }

    /// Attributes in brackets, of all lists that follow each other.
    fn lists(&mut self) -> Result<Pairs<'a>, SpecError> {
        let mut pairs = Pairs::new();
        while self.tokens.take_sign('[') {
            while !self.tokens.take_sign(']') {
                let key = self.word("an attribute or `]`")?;
                if !self.tokens.take_sign('=') {
                    return Err(self.expected("`=`"));
                }
                pairs.push((key, self.word("a value")?));
                let _ = self.tokens.take_sign(',') || self.tokens.take_sign(';');
            }
        }
        if pairs.len() > MAX_ATTRIBUTES {
            let what = format!("a node or edge has {} attributes", pairs.len());
            return Err(SpecError::new(ErrorKind::TooLarge, what, format!("use at most {MAX_ATTRIBUTES}")));
        }
        Ok(pairs)
    }

    /// The switches by name, and the links in their order; in a strict graph there is one at most between two switches, with the
    /// delay that it was given last.
    fn sorted(self, strict: bool) -> Switches {
        let order = |name: &str| (name.parse::<u64>().unwrap_or(u64::MAX), name.to_owned());
        let mut sorted: Vec<usize> = (0..self.names.len()).collect();
        sorted.sort_by_key(|&node| order(self.names[node]));
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
            names: sorted.iter().map(|&node| self.names[node].to_owned()).collect(),
            endpoints: sorted.iter().map(|&node| self.endpoints[node]).collect(),
            links,
            delays,
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
            ("graph { a -- {b", "2 braces are not closed"),
            ("graph {\n  a -> b }", "line 2, column 5: expected a node, a subgraph or `}`, found `->`"),
            ("graph { a [endpoints] }", "line 1, column 21: expected `=`, found `]`"),
            (&deep, "more than 8 deep"),
        ] {
            let refusal = parse(text, 1).unwrap_err();
            assert!(refusal.to_string().contains(expected), "{text}: {refusal}");
        }
    }
}
