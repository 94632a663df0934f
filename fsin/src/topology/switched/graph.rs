//! Networks of switches that are written in a file.
//!
//! The file is read when the specification is parsed, and nowhere else.

use std::collections::HashMap;
use std::fs;

use petgraph::dot::dot_parser::{DotAttrList, DotNodeWeight, ParseFromDot};
use petgraph::visit::EdgeRef;
use trgen::catalog::Refusal;

use super::{Link, Plan, Switched, check_nodes};
use crate::router::wires::MAX_DELAY;
use crate::topology::number;

/// Most switches: routings keep a distance for each pair.
pub(super) const MAX_SWITCHES: usize = 4096;

/// \[bytes\] Longest file.
const MAX_BYTES: u64 = 1 << 24;

const EXAMPLE: &str = "graph:net.txt,endpoints=4";

/// Switches, and links between them both ways.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(super) struct Switches {
    pub(super) names: Vec<String>,
    /// Of each switch.
    pub(super) endpoints: Vec<u32>,
    pub(super) links: Vec<(u32, u32)>,
    /// \[cycles\] Of each link, beyond one; empty if none has any.
    pub(super) delays: Vec<u32>,
}

impl Switches {
    /// The network: endpoints switch by switch, then switches in their order.
    pub(super) fn build(&self, spec: String, plan: Plan) -> Result<Switched, Refusal> {
        let count = self.names.len();
        if count > MAX_SWITCHES {
            let what = format!("`{spec}` has {count} switches");
            return Err(Refusal::value(what, format!("use at most {MAX_SWITCHES}")));
        }
        if let Some(&(switch, _)) = self.links.iter().find(|(a, b)| a == b) {
            let what = format!("a link of `{spec}` leads from switch `{}` to itself", self.names[switch as usize]);
            return Err(Refusal::value(what, "leave it out"));
        }
        if !is_connected(count, &self.links) {
            let what = format!("the switches of `{spec}` do not hang together");
            return Err(Refusal::value(what, "add links until every switch can be reached from every other"));
        }
        if let Some(delay) = self.delays.iter().find(|&&delay| delay > MAX_DELAY) {
            let what = format!("a link of `{spec}` has a delay of {delay} cycles");
            return Err(Refusal::value(what, format!("use 0 to {MAX_DELAY}")));
        }
        if let Some(at) = self.endpoints.iter().position(|&count| count > 254) {
            let what =
                format!("{} endpoints of switch `{}` in `{spec}` are out of range", self.endpoints[at], self.names[at]);
            return Err(Refusal::value(what, "use 0 to 254"));
        }
        let endpoints: u64 = self.endpoints.iter().map(|&count| u64::from(count)).sum();
        let nodes = check_nodes(&spec, endpoints.checked_add(count as u64))?;
        let mut links = Vec::new();
        let mut places = vec![0u32; count];
        let mut next = |switch: u32| {
            places[switch as usize] += 1;
            (endpoints as u32 + switch, places[switch as usize] - 1)
        };
        let homes = self.endpoints.iter().enumerate().flat_map(|(switch, &count)| (0..count).map(move |_| switch));
        for (endpoint, switch) in homes.enumerate() {
            links.push(Link::new([(endpoint as u32, 0), next(switch as u32)]));
        }
        for (link, &(one, other)) in self.links.iter().enumerate() {
            let delay = self.delays.get(link).copied().unwrap_or(0);
            links.push(Link { delay, ..Link::new([next(one), next(other)]) });
        }
        Switched::new(spec, endpoints as usize, nodes, &links, plan)
    }

    /// The number of the switch of this name.
    fn switch(&mut self, known: &mut HashMap<String, u32>, name: &str, endpoints: u32) -> u32 {
        if let Some(&number) = known.get(name) {
            return number;
        }
        let number = self.names.len() as u32;
        known.insert(name.to_owned(), number);
        self.names.push(name.to_owned());
        self.endpoints.push(endpoints);
        number
    }

    /// Reads lines `A B`, `A B delay 5` and `A endpoints 2`; `#` begins a comment. Each switch has `endpoints` unless a line says
    /// otherwise.
    ///
    /// # Errors
    /// A line that is neither, by its number.
    fn parse_list(text: &str, endpoints: u32) -> Result<Self, Refusal> {
        let (mut new, mut known) = (Self::default(), HashMap::new());
        for (number, line) in text.lines().enumerate() {
            let bad = |what: &str| {
                let what = format!("line {}: {what}", number + 1);
                let remedy = "write `A B` for a link both ways, `A B delay 5`, `A endpoints 2`, or a comment after #";
                Refusal::value(what, remedy)
            };
            let words: Vec<&str> = line.split('#').next().unwrap_or("").split_whitespace().collect();
            match words[..] {
                [] => {}
                [name, "endpoints", count] => {
                    let count: u32 = count.parse().map_err(|_| bad(&format!("`{count}` is not a number")))?;
                    let switch = new.switch(&mut known, name, endpoints);
                    new.endpoints[switch as usize] = count;
                }
                [one, other] => {
                    let ends = (new.switch(&mut known, one, endpoints), new.switch(&mut known, other, endpoints));
                    new.links.push(ends);
                    new.delays.push(0);
                }
                [one, other, "delay", delay] => {
                    let ends = (new.switch(&mut known, one, endpoints), new.switch(&mut known, other, endpoints));
                    new.links.push(ends);
                    new.delays.push(delay.parse().map_err(|_| bad(&format!("`{delay}` is not a number")))?);
                }
                _ => return Err(bad(&format!("{} words", words.len()))),
            }
        }
        Ok(new)
    }

    /// Reads an undirected graph in DOT. The attribute `endpoints` of a node says how many it has, `delay` of an edge its
    /// delay. Switches are in the order of their names, numbers by value.
    ///
    /// # Errors
    /// Text that is not DOT, a directed graph, endpoints or delays that are not a number.
    fn parse_dot(text: &str, endpoints: u32) -> Result<Self, Refusal> {
        type DotGraph<'a> = petgraph::Graph<DotNodeWeight<'a>, DotAttrList<'a>>;
        let graph = <DotGraph<'_> as ParseFromDot<'_>>::try_from(text)
            .map_err(|error| Refusal::value(format!("it is not DOT: {error}"), "write it as in `graph { a -- b }`"))?;
        let mut sorted: Vec<_> = graph.node_indices().collect();
        let order = |name: &str| (name.parse::<u64>().unwrap_or(u64::MAX), name.to_owned());
        sorted.sort_by_key(|&node| order(&graph[node].id));
        let mut new = Self::default();
        let mut numbers = vec![0; sorted.len()];
        for (number, &node) in sorted.iter().enumerate() {
            let node_weight = &graph[node];
            numbers[node.index()] = number as u32;
            let own = node_weight.attr.elems.iter().rev().find(|(key, _)| *key == "endpoints");
            new.endpoints.push(match own {
                None => endpoints,
                Some((_, count)) => count.trim_matches('"').parse().map_err(|_| {
                    let what = format!("endpoints={count} of node `{}` is not a number", node_weight.id);
                    Refusal::value(what, "write it as in `a [endpoints=4]`")
                })?,
            });
            new.names.push(node_weight.id.clone());
        }
        let mut links = Vec::new();
        for edge in graph.edge_references() {
            let (a, b) = (numbers[edge.source().index()], numbers[edge.target().index()]);
            let own = edge.weight().elems.iter().rev().find(|(key, _)| *key == "delay");
            let delay: u32 = match own {
                None => 0,
                Some((_, delay)) => delay.trim_matches('"').parse().map_err(|_| {
                    Refusal::value(
                        format!("delay={delay} of an edge is not a number"),
                        "write it as in `a -- b [delay=5]`",
                    )
                })?,
            };
            links.push(((a.min(b), a.max(b)), delay));
        }
        links.sort_unstable();
        (new.links, new.delays) = links.into_iter().unzip();
        Ok(new)
    }

    /// Reads a file's text, in DOT if it begins like that.
    fn parse(text: &str, endpoints: u32) -> Result<Self, Refusal> {
        let code = text.lines().map(|line| line.split("//").next().unwrap_or("").split('#').next().unwrap_or(""));
        let first = code.flat_map(|line| line.split(|c: char| !c.is_alphanumeric())).find(|word| !word.is_empty());
        match (first, text.contains('{')) {
            (Some("digraph"), true) => {
                Err(Refusal::value("a directed graph", "make it `graph { a -- b }`: links lead both ways"))
            }
            (Some("graph" | "strict"), true) => Self::parse_dot(text, endpoints),
            _ => Self::parse_list(text, endpoints),
        }
    }
}

/// Parses `net.txt,endpoints=4`, and reads the file.
pub(in crate::topology) fn parse(words: &str) -> Result<Switched, Refusal> {
    let spec = format!("graph:{words}");
    let (path, endpoints) = match words.rsplit_once(",endpoints=") {
        Some((path, count)) => (path, number(&spec, count, EXAMPLE)?),
        None => (words, 1),
    };
    if path.is_empty() {
        return Err(Refusal::value(format!("`{spec}` lacks its file"), format!("write it as in `{EXAMPLE}`")));
    }
    if endpoints > 254 {
        return Err(Refusal::value(format!("{endpoints} endpoints of each switch in `{spec}`"), "use 0 to 254"));
    }
    let unreadable = |why: String| {
        Refusal::value(format!("the file of `{spec}` cannot be read: {why}"), "give the path of a list of links")
    };
    let length = fs::metadata(path).map_err(|error| unreadable(error.to_string()))?.len();
    if length > MAX_BYTES {
        return Err(unreadable(format!("it has {length} bytes, and at most {MAX_BYTES} are read")));
    }
    let text = fs::read_to_string(path).map_err(|error| unreadable(error.to_string()))?;
    let switches = Switches::parse(&text, endpoints)
        .map_err(|refusal| Refusal::value(format!("{path}: {refusal}"), refusal.remedy()))?;
    switches.build(spec, Plan::Graph)
}

/// True if every switch can be reached from every other; there must be one.
pub(super) fn is_connected(switches: usize, links: &[(u32, u32)]) -> bool {
    let mut linked = vec![Vec::new(); switches];
    for &(a, b) in links {
        linked[a as usize].push(b);
        linked[b as usize].push(a);
    }
    let mut seen = vec![false; switches];
    let mut reached = vec![0u32];
    let mut count = 0;
    while let Some(here) = reached.pop() {
        let Some(is_new) = seen.get_mut(here as usize).map(|seen| !std::mem::replace(seen, true)) else { return false };
        if is_new {
            count += 1;
            reached.extend(&linked[here as usize]);
        }
    }
    count == switches
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lists_and_dot_mean_the_same() {
        let list = "# three in a row\na b  # one\nb c\n\nb endpoints 0\n";
        let dot = "graph net { // three in a row\n a -- b; b -- c; b [endpoints=0, label=\"x\"]; }";
        let read = |text: &str| Switches::parse(text, 2).unwrap();
        assert_eq!(read(list), read(dot));
        assert_eq!(read(list).endpoints, [2, 0, 2]);
        assert_eq!(read("graph { 10 -- 9; 9 -- 2 }").names, ["2", "9", "10"]);
    }

    #[test]
    fn bad_files_say_where() {
        for (text, expected) in [
            ("a b\na b c\n", "line 2: 3 words"),
            ("a endpoints many", "`many` is not a number"),
            ("digraph { a -> b }", "a directed graph"),
            ("graph { a -- ", "not DOT"),
            ("graph { a [endpoints=x]; }", "endpoints=x of node `a`"),
        ] {
            let refusal = Switches::parse(text, 1).unwrap_err();
            assert!(refusal.to_string().contains(expected), "{text}: {refusal}");
        }
        for (text, expected) in [
            ("a b\nc d", "do not hang together"),
            ("a a", "to itself"),
            ("", "do not hang"),
            ("a b\na endpoints 300", "300"),
        ] {
            let built = Switches::parse(text, 1).unwrap().build("graph:x".to_owned(), Plan::Graph);
            assert!(built.unwrap_err().to_string().contains(expected), "{text}");
        }
    }

    proptest! {
        /// No text makes a reader or builder panic.
        #[test]
        fn any_text_is_read_or_refused(
            text in prop_oneof![
                "\\PC{0,80}",
                "(strict |)(graph|digraph)? ?[a-c]{0,2} ?\\{([a-c] (--|->) [a-c] ?[;\n]|[a-c]? ?\\[[a-d]=[0-9a]{1,3}\\];?|subgraph [a-c]? ?\\{|\\}|//x\n){0,8}\\}?",
                "([a-d] ([a-d]|endpoints)( [0-9a]{1,3})?\n){0,9}"
            ],
            endpoints in 0u32..3,
        ) {
            if let Ok(switches) = Switches::parse(&text, endpoints) {
                let _ = switches.build("graph:x".to_owned(), Plan::Graph);
            }
        }
    }
}
