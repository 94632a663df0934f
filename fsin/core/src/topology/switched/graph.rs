//! Networks of switches described by a file.
//!
//! The file is read when the specification is parsed, and nowhere else.

use std::collections::HashMap;
use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use trgen::NodeId;
use trgen::catalog::{Component, ErrorKind, Parameter, SpecError};

use super::directed::{Directed, Notes, Speed};
use super::{Link, Plan, Switched, check_nodes, dot};
use crate::topology::{Kind, MAX_DELAY, Row, check_once, number, table::both_ways};

/// Row of `graph`.
pub(in crate::topology) const GRAPH: Row = Row {
    component: Component {
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
    kind: Kind::Switched,
    example: "graph:net.txt,endpoints=4",
    build: |words, ways| both_ways(parse(words)?, ways),
};

/// The plan of a network without one: routings must use tables of distances.
#[derive(Debug)]
pub(super) struct Unplanned;

impl Plan for Unplanned {
    fn group(&self, _switch: NodeId) -> Option<u32> {
        None
    }

    fn hops(&self, _from: NodeId, _to: NodeId) -> Option<u32> {
        None
    }

    fn top_subtrees(&self) -> Option<usize> {
        None
    }
}

/// Maximum number of switches: routings keep a distance for each pair.
pub(super) const MAX_SWITCHES: usize = 4096;

/// \[bytes\] Maximum length of the file.
const MAX_BYTES: u64 = 1 << 24;

/// A valid specification, for errors.
const EXAMPLE: &str = "graph:net.txt,endpoints=4";

/// Switches, and bidirectional links between them.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(super) struct Switches {
    /// By switch: its name.
    pub(super) names: Vec<String>,
    /// \[endpoints\] By switch: the number of its endpoints.
    pub(super) endpoints: Vec<u32>,
    /// By link: the switches at both ends.
    pub(super) links: Vec<(u32, u32)>,
    /// \[cycles\] By link: delay beyond one cycle. Empty if no link has a delay.
    pub(super) delays: Vec<u32>,
    /// By link: data rate and propagation delay. Empty if no link has its own.
    pub(super) speeds: Vec<Speed>,
}

impl Switches {
    /// The network: endpoints switch by switch, then switches in their order.
    pub(super) fn build(&self, spec: String) -> Result<Switched, SpecError> {
        let count = self.names.len();
        if count > MAX_SWITCHES {
            let what = format!("`{spec}` has {count} switches");
            return Err(SpecError::new(ErrorKind::TooLarge, what, format!("use at most {MAX_SWITCHES}")));
        }
        if let Some(&(switch, _)) = self.links.iter().find(|(a, b)| a == b) {
            let what = format!("a link of `{spec}` leads from switch `{}` to itself", self.names[switch as usize]);
            return Err(SpecError::new(ErrorKind::Malformed, what, "leave it out"));
        }
        if count == 0 {
            return Err(SpecError::new(
                ErrorKind::Malformed,
                format!("`{spec}` has no switches"),
                "write a line `A B` for each link",
            ));
        }
        if let Some(apart) = unreached(count, &self.links) {
            let (apart, first) = (&self.names[apart], &self.names[0]);
            let what =
                format!("the switches of `{spec}` do not hang together: no links lead from `{first}` to `{apart}`");
            return Err(SpecError::new(
                ErrorKind::Malformed,
                what,
                "add links until every switch can be reached from every other",
            ));
        }
        if let Some((delay, (one, other))) = self.delays.iter().zip(&self.links).find(|(delay, _)| **delay > MAX_DELAY)
        {
            let (one, other) = (&self.names[*one as usize], &self.names[*other as usize]);
            let what = format!("the link of `{spec}` from switch `{one}` to `{other}` has a delay of {delay} cycles");
            return Err(SpecError::new(ErrorKind::TooLarge, what, format!("use 0 to {MAX_DELAY}")));
        }
        if let Some(at) = self.endpoints.iter().position(|&count| count > 254) {
            let what =
                format!("{} endpoints of switch `{}` in `{spec}` are out of range", self.endpoints[at], self.names[at]);
            return Err(SpecError::new(ErrorKind::OutOfRange, what, "use 0 to 254"));
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
        let network = Switched::new(spec, endpoints as usize, nodes, &links, None, Unplanned)?;
        let inner = links[endpoints as usize..].iter().map(|link| link.ends).zip(self.speeds.iter().copied());
        let notes = (!self.speeds.is_empty()).then(|| Arc::new(Notes::both_ways(&network.fabric, inner)));
        Ok(Switched { names: self.names.clone(), notes, ..network })
    }

    /// The number of the switch with this name. A new switch gets `endpoints` endpoints.
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

    /// Reads lines `A B`, `A B delay 5` and `A endpoints 2`; `#` begins a comment. Each switch has `endpoints` unless a
    /// line says otherwise.
    ///
    /// # Errors
    /// A line of another form, by its number.
    fn parse_list(text: &str, endpoints: u32) -> Result<Self, SpecError> {
        let (mut new, mut known) = (Self::default(), HashMap::new());
        // By switch: the line that set its endpoints.
        let mut line_of_endpoints = HashMap::new();
        for (number, line) in text.lines().enumerate() {
            let bad = |what: &str| {
                let what = format!("line {}: {what}", number + 1);
                let remedy = "write `A B` for a link both ways, `A B delay 5`, `A endpoints 2`, or a comment after #";
                SpecError::new(ErrorKind::Malformed, what, remedy)
            };
            let words: Vec<&str> = line.split('#').next().unwrap_or("").split_whitespace().collect();
            match words[..] {
                [] => {}
                [name, "endpoints", count] => {
                    let count: u32 = count.parse().map_err(|_| bad(&format!("`{count}` is not a number")))?;
                    let switch = new.switch(&mut known, name, endpoints);
                    if let Some(before) = line_of_endpoints.insert(switch, number + 1) {
                        return Err(bad(&format!("the endpoints of `{name}` stand in line {before} already")));
                    }
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

    /// Parses the text of a file, in DOT if it begins like that.
    fn parse(text: &str, endpoints: u32) -> Result<Self, SpecError> {
        // Some editors write a byte order mark first.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        match is_dot(text) {
            true => dot::parse(&without_lines_of_a_preprocessor(text), endpoints),
            false => Self::parse_list(text, endpoints),
        }
    }
}

/// True for a text that begins as DOT does.
fn is_dot(text: &str) -> bool {
    let code = text.lines().map(|line| line.split("//").next().unwrap_or("").split('#').next().unwrap_or(""));
    let first = code.flat_map(|line| line.split(|c: char| !c.is_alphanumeric())).find(|word| !word.is_empty());
    matches!(first, Some("graph" | "digraph" | "strict")) && text.contains('{')
}

/// Hosts and switches of a directed graph; `None` for any other text.
fn parse_directed(text: &str) -> Result<Option<Directed>, SpecError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if is_dot(text) { dot::directed(&without_lines_of_a_preprocessor(text)) } else { Ok(None) }
}

/// The text with empty lines in place of lines that begin with #, which DOT treats as preprocessor lines. Line numbers
/// stay the same.
fn without_lines_of_a_preprocessor(text: &str) -> String {
    text.lines().map(|line| if line.starts_with('#') { "" } else { line }).collect::<Vec<_>>().join("\n")
}

/// The path in a text such as `net.txt,endpoints=4`, and the number of endpoints if it is given.
fn parts(words: &str) -> (&str, Option<&str>) {
    words.rsplit_once(",endpoints=").map_or((words, None), |(path, count)| (path, Some(count)))
}

/// The file from which the topology of a specification is read; `None` if it is not read from a file.
#[must_use]
pub fn file(spec: &str) -> Option<&Path> {
    spec.strip_prefix("graph:").map(|words| Path::new(parts(words).0)).filter(|path| !path.as_os_str().is_empty())
}

/// The specification with another file in place of its own. A specification without a file stays the same.
#[must_use]
pub fn with_file(spec: &str, path: &Path) -> String {
    match spec.strip_prefix("graph:").map(parts) {
        Some((_, Some(count))) => format!("graph:{},endpoints={count}", path.display()),
        Some((_, None)) => format!("graph:{}", path.display()),
        None => spec.to_owned(),
    }
}

/// Parses `net.txt,endpoints=4`, and reads the file.
fn parse(words: &str) -> Result<Switched, SpecError> {
    let spec = format!("graph:{words}");
    let (path, count) = parts(words);
    let endpoints = count.map_or(Ok(1), |count| number(&spec, count, EXAMPLE))?;
    if path.is_empty() {
        return Err(SpecError::new(
            ErrorKind::Malformed,
            format!("`{spec}` lacks its file"),
            format!("write it as in `{EXAMPLE}`"),
        ));
    }
    if endpoints > 254 {
        return Err(SpecError::new(
            ErrorKind::OutOfRange,
            format!("{endpoints} endpoints of each switch in `{spec}`"),
            "use 0 to 254",
        ));
    }
    let unreadable = |why: String| {
        SpecError::new(
            ErrorKind::Unreadable,
            format!("the file of `{spec}` cannot be read: {why}"),
            "give the path of a list of links",
        )
    };
    if let Some((name, _)) = path.rsplit_once(',').and_then(|(_, last)| last.split_once('='))
        && !fs::exists(path).unwrap_or(true)
    {
        check_once(&spec, words)?;
        return Err(SpecError::unknown("parameter", name, &["endpoints"]));
    }
    let length = fs::metadata(path).map_err(|error| unreadable(error.to_string()))?.len();
    if length > MAX_BYTES {
        return Err(unreadable(format!("it has {length} bytes, and at most {MAX_BYTES} are read")));
    }
    // The length is known for regular files only, so what is read is limited too.
    let mut text = String::new();
    let read = fs::File::open(path).and_then(|file| file.take(MAX_BYTES + 1).read_to_string(&mut text));
    read.map_err(|error| unreadable(error.to_string()))?;
    if text.len() as u64 > MAX_BYTES {
        return Err(unreadable(format!("it does not end within {MAX_BYTES} bytes")));
    }
    let within = |refusal: SpecError| refusal.within(format!("{path}: "));
    if let Some(directed) = parse_directed(&text).map_err(within)? {
        return directed.build(spec).map_err(within);
    }
    Switches::parse(&text, endpoints).map_err(within)?.build(spec)
}

/// The first switch that is unreachable from switch 0, if there is one.
pub(super) fn unreached(switches: usize, links: &[(u32, u32)]) -> Option<usize> {
    let mut linked = vec![Vec::new(); switches];
    for &(a, b) in links {
        linked[a as usize].push(b);
        linked[b as usize].push(a);
    }
    let mut seen = vec![false; switches];
    let mut reached = vec![0u32];
    while let Some(here) = reached.pop() {
        if seen.get_mut(here as usize).is_some_and(|seen| !std::mem::replace(seen, true)) {
            reached.extend(&linked[here as usize]);
        }
    }
    seen.iter().position(|&seen| !seen)
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
        assert_eq!(read(&format!("\u{feff}{list}")), read(list));
        assert_eq!(read(&format!("# 1 \"net.dot\"\n{dot}\n#")), read(list));
        assert_eq!(read("graph { 10 -- 9; 9 -- 2 }").names, ["2", "9", "10"]);
    }

    #[test]
    fn bad_files_say_where() {
        for (text, expected) in [
            ("a b\na b c\n", "line 2: 3 words"),
            ("a endpoints many", "`many` is not a number"),
            ("a b\na endpoints 2\n\na endpoints 2", "line 4: the endpoints of `a` stand in line 2 already"),
            ("digraph { a -> b }", "a directed graph"),
            ("graph { a -- ", "not DOT: at its end 1 brace is not closed"),
            ("graph {\n a -- \n}", "not DOT: line 3"),
            ("graph { a [endpoints=x]; }", "endpoints=x of node `a`"),
        ] {
            let refusal = Switches::parse(text, 1).unwrap_err();
            assert!(refusal.to_string().contains(expected), "{text}: {refusal}");
        }
        for (text, expected) in [
            ("a b\nc d", "no links lead from `a` to `c`"),
            ("a a", "to itself"),
            ("a b delay 65537", "from switch `a` to `b` has a delay of 65537"),
            ("# nothing", "has no switches"),
            ("a b\na endpoints 300", "300"),
        ] {
            let built = Switches::parse(text, 1).unwrap().build("graph:x".to_owned());
            assert!(built.unwrap_err().to_string().contains(expected), "{text}");
        }
    }

    proptest! {
        /// Neither the parser nor the builder panics on any text.
        #[test]
        fn any_text_is_read_or_refused(
            text in prop_oneof![
                "\\PC{0,80}",
                "(strict |)(graph|digraph)? ?[a-c]{0,2} ?\\{([a-c] (--|->) [a-c] ?[;\n]|[a-c]? ?\\[[a-d]=[0-9a]{1,3}\\];?|subgraph [a-c]? ?\\{|\\}|//x\n){0,8}\\}?",
                "([a-d] ([a-d]|endpoints)( [0-9a]{1,3})?\n){0,9}"
            ],
            endpoints in 0u32..3,
        ) {
            if let Ok(Some(directed)) = parse_directed(&text.replace('a', "H")) {
                let _ = directed.build("graph:x".to_owned());
            }
            if let Ok(switches) = Switches::parse(&text, endpoints) {
                let _ = switches.build("graph:x".to_owned());
            }
        }
    }
}
