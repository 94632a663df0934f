//! Networks of switches described by a file: one meaning ([`network`]) behind every syntax ([`dot`], [`list`], those of
//! other tools in [`formats`]).
//!
//! The file is read when the specification is parsed, and nowhere else.

mod attribute;
mod dot;
mod drawing;
mod formats;
mod given;
mod list;
mod network;
mod statement;
mod write;

use std::fs;
use std::io::Read as _;
use std::path::Path;

use trgen::NodeId;
use trgen::catalog::{Component, ErrorKind, Parameter, SpecError};

use super::{Plan, Switched, cluster};
use crate::topology::{Kind, Row, check_once, number, table::both_ways};
use network::Description;
use statement::Places;

pub use attribute::parse_rate;
pub(super) use network::unreached;
pub use write::{Syntax, rewritten};

/// Row of `graph`.
pub(in crate::topology) const GRAPH: Row = Row {
    component: Component {
        name: "graph",
        about: "hosts, switches and links of a file: lines `A B` of links both ways, DOT, directed or not, CSV, an edge list, \
                node-link JSON, GraphML or GML of networkx and others, a platform of SimGrid, a list of ns-3, BookSim's anynet, or a \
                topology of htsim, known by how it begins. Nodes named H... are hosts, and all others switches, but for kind=switch or kind=host; a host may have several links; endpoints and switches are numbered in \
                order of first appearance. `fsin topology graph:FILE` says what was understood",
        parameters: &[
            Parameter { name: "file", about: "path of the file", range: "up to 4096 switches", default: "" },
            Parameter {
                name: "endpoints",
                about: "of each switch: graph:net.txt,endpoints=4; lines `A endpoints 2`, or in DOT endpoints=2 of a node, \
                        say otherwise. Links have delay (`A B delay 4us`, or a number of cycles beyond one), rate, queue \
                        and count, in each direction if `A -> B` and `B -> A` say so; a model that does not use one refuses it",
                range: "0 to 254",
                default: "1; 0 with hosts",
            },
            Parameter {
                name: "shared",
                about: "of a platform of SimGrid: links whose directions share one bandwidth (SHARED) are taken as full duplex, \
                        each direction with all of it",
                range: "duplex",
                default: "refused",
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

/// The network of a text: in DOT or a syntax of another tool if it begins like that, else in lines; `endpoints` where
/// the specification gives it.
///
/// # Errors
/// Text of another form, and nodes and links that make no network, with their places.
pub fn network(text: &str, spec: String, endpoints: Option<u32>) -> Result<Switched, SpecError> {
    described(text, spec, endpoints, false)
}

/// [`network`], where `is_duplex` says that links of a platform whose directions share a bandwidth are full duplex.
fn described(text: &str, spec: String, endpoints: Option<u32>, is_duplex: bool) -> Result<Switched, SpecError> {
    // Some editors write a byte order mark first.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if !is_duplex && is_dot(text) {
        let text = without_lines_of_a_preprocessor(text);
        let places = Places::new(&text);
        return Description::read(&dot::parse(&text)?, &places)?.build(spec, endpoints);
    }
    let places = Places::new(text);
    let graph = match formats::reader(text) {
        _ if formats::simgrid::begins(text) => formats::simgrid::parse(text, &places, is_duplex)?,
        _ if is_duplex => {
            let what = format!("shared=duplex in `{spec}`: its links have no policy of sharing");
            return Err(SpecError::new(ErrorKind::Meaningless, what, "leave it out: it is for platforms of SimGrid"));
        }
        Some(read) => read(text, &places)?,
        None => {
            formats::check_not_foreign(text, &places)?;
            list::parse(text, &places)?
        }
    };
    Description::read(&graph, &places)?.build(spec, endpoints)
}

/// True for a text that begins as DOT does.
fn is_dot(text: &str) -> bool {
    let code = text.lines().map(|line| line.split("//").next().unwrap_or("").split('#').next().unwrap_or(""));
    let first = code.flat_map(|line| line.split(|c: char| !c.is_alphanumeric())).find(|word| !word.is_empty());
    // An object of JSON may begin with a member of this name.
    let is_json = text.trim_start().starts_with('{');
    matches!(first, Some("graph" | "digraph" | "strict")) && text.contains('{') && !is_json
}

/// The text with empty lines in place of lines that begin with #, which DOT treats as preprocessor lines. Line numbers
/// stay the same.
fn without_lines_of_a_preprocessor(text: &str) -> String {
    text.lines().map(|line| if line.starts_with('#') { "" } else { line }).collect::<Vec<_>>().join("\n")
}

/// The words of a specification such as `net.txt,endpoints=4`.
#[derive(Clone, Copy)]
struct Words<'a> {
    path: &'a str,
    endpoints: Option<&'a str>,
    shared: Option<&'a str>,
}

impl<'a> Words<'a> {
    fn new(words: &'a str) -> Self {
        let mut new = Self { path: words, endpoints: None, shared: None };
        while let Some((path, last)) = new.path.rsplit_once(',') {
            let (name, value) = last.split_once('=').unwrap_or((last, ""));
            let place = match name {
                "endpoints" => &mut new.endpoints,
                "shared" => &mut new.shared,
                _ => break,
            };
            // A word that stands twice is no parameter, and then no file has that path.
            if place.is_some() {
                break;
            }
            (*place, new.path) = (Some(value), path);
        }
        new
    }
}

/// The file from which the topology of a specification is read; `None` if it is not read from a file.
#[must_use]
pub fn file(spec: &str) -> Option<&Path> {
    let spec = cluster::inner(spec).unwrap_or(spec);
    let path = spec.strip_prefix("graph:").map(|words| Path::new(Words::new(words).path));
    path.filter(|path| !path.as_os_str().is_empty())
}

/// The specification with another file in place of its own. A specification without a file stays the same.
#[must_use]
pub fn with_file(spec: &str, path: &Path) -> String {
    if let Some(own) = cluster::inner(spec) {
        return spec.replacen(&format!("({own})"), &format!("({})", with_file(own, path)), 1);
    }
    let parameters = |words: &str| words.get(Words::new(words).path.len()..).unwrap_or("").to_owned();
    let words = spec.strip_prefix("graph:");
    words.map_or_else(|| spec.to_owned(), |words| format!("graph:{}{}", path.display(), parameters(words)))
}

/// Parses `net.txt,endpoints=4`, and reads the file.
fn parse(words: &str) -> Result<Switched, SpecError> {
    let spec = format!("graph:{words}");
    let Words { path, endpoints, shared } = Words::new(words);
    let endpoints = endpoints.map(|count| number(&spec, count, EXAMPLE)).transpose()?;
    if let Some(other) = shared.filter(|&shared| shared != "duplex") {
        let what = format!("shared={other} in `{spec}`");
        return Err(SpecError::new(ErrorKind::UnknownName, what, "write shared=duplex, or leave it out"));
    }
    if path.is_empty() {
        return Err(SpecError::new(
            ErrorKind::Malformed,
            format!("`{spec}` lacks its file"),
            format!("write it as in `{EXAMPLE}`"),
        ));
    }
    if let Some(endpoints) = endpoints.filter(|&endpoints| endpoints > 254) {
        let what = format!("{endpoints} endpoints of each switch in `{spec}`");
        return Err(SpecError::new(ErrorKind::OutOfRange, what, "use 0 to 254"));
    }
    let unreadable = |why: String| {
        SpecError::new(
            ErrorKind::Unreadable,
            format!("the file of `{spec}` cannot be read: {why}"),
            "give the path of a file of a network: fsin explain graph",
        )
    };
    if let Some((name, _)) = path.rsplit_once(',').and_then(|(_, last)| last.split_once('='))
        && !fs::exists(path).unwrap_or(true)
    {
        check_once(&spec, words)?;
        return Err(SpecError::unknown("parameter", name, &["endpoints", "shared"]));
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
    described(&text, spec, endpoints, shared.is_some()).map_err(|refusal| refusal.within(format!("{path}: ")))
}

#[cfg(test)]
mod tests;
