//! Networks of switches described by a file: one meaning (`network`) behind every syntax: the list of links here, and
//! those of other tools as rows of the table of [formats](FORMATS).
//!
//! The file is read when the specification is parsed, and nowhere else.

mod attribute;
mod description;
mod drawing;
mod format;
mod given;
mod labels;
mod lines;
mod list;
mod network;
mod reading;
mod statement;
mod understood;

use std::fs;
use std::io::Read as _;
use std::path::Path;

use trgen::NodeId;
use trgen::catalog::{Component, ErrorKind, Parameter, SpecError};
use trgen::phrase::Phrase;

use super::{Plan, Switched, cluster};
use crate::topology::{Kind, Row, check_once, number, table::both_ways};
use reading::OPTIONS;

pub use super::MAX_NODES;
pub use attribute::{decimal, parse_rate, refusal, short};
pub use description::{Description, Kept, MAX_LINKS};
pub use format::{FORMATS, Format, LIST, Names, Read, Reader};
pub use given::{OfEdge, OfNode};
pub use labels::Labels;
pub use lines::{words, words_of};
pub(super) use network::unreached;
pub use reading::{Modules, Options, Reading};
pub use statement::{Attributes, Item, Places, Word};
pub use understood::{Demands, Understood};

/// Row of `graph`.
pub(in crate::topology) const GRAPH: Row = Row {
    component: Component {
        name: "graph",
        about: "hosts, switches and links of a file: lines `A B` of links both ways, DOT, directed or not, CSV, an edge list, \
                node-link JSON, GraphML or GML of networkx and others, a platform of SimGrid, a list of ns-3, BookSim's anynet, or a \
                topology of htsim, known by how it begins. Nodes named H... are hosts, and all others switches, but for kind=switch or kind=host; a host may have several links; endpoints and switches are numbered in \
                order of first appearance. `fsin topology graph:FILE` says what was understood",
        parameters: &[
            Parameter {
                name: "file",
                about: "path of the file",
                range: "up to 131072 switches; models with tables of routes take fewer",
                default: "",
            },
            Parameter {
                name: "endpoints",
                about: "of each switch: graph:net.txt,endpoints=4; lines `A endpoints 2`, or in DOT endpoints=2 of a node, \
                        say otherwise. Links have delay (`A B delay 4us`, or a number of cycles beyond one), rate, queue \
                        and count, in each direction if `A -> B` and `B -> A` say so; a model that does not use one refuses it",
                range: "0 to 4194303",
                default: "1; 0 with hosts",
            },
            Parameter {
                name: "rate-unit",
                about: "of rates that are numbers alone, in the whole file: graph:net.gml,rate-unit=Gb/s",
                range: "b/s, kb/s, Mb/s, Gb/s, Tb/s, B/s, ...",
                default: "that of the format, else refused",
            },
            Parameter {
                name: "delay-unit",
                about: "of delays that are numbers alone",
                range: "ps, ns, us, ms, s",
                default: "that of the format, else cycles under the name delay",
            },
            Parameter {
                name: "directed",
                about: "whether each edge is one direction of a link",
                range: "true or false",
                default: "as the file says; if no edge of it leads back, both directions",
            },
            Parameter {
                name: "part",
                about: "the largest of several parts that are not linked with each other",
                range: "largest",
                default: "refused",
            },
            Parameter {
                name: "ignore",
                about: "words of the file that are not obeyed, with `:` between them: graph:net.json,ignore=weight:geo*",
                range: "names, * at their end for any letters",
                default: "none",
            },
            Parameter {
                name: "modules",
                about: "of SNDlib: which module of a link without capacity is its rate",
                range: "first or largest",
                default: "none: without a rate",
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

    fn dimension(&self, _one: NodeId, _other: NodeId) -> Option<usize> {
        None
    }

    fn hops(&self, _from: NodeId, _to: NodeId) -> Option<u32> {
        None
    }

    fn top_subtrees(&self) -> Option<usize> {
        None
    }
}

/// Maximum number of switches. Models with tables of routes for each pair take fewer, and say so.
pub const MAX_SWITCHES: usize = 1 << 17;

/// Maximum number of switches of descriptions that are made by a rule: machines, planes, random graphs.
pub(super) const MAX_MADE: usize = 4096;

/// \[bytes\] Maximum length of the file. Fabrics of 46 000 hosts take 30 MB where each port has a line.
const MAX_BYTES: u64 = 1 << 27;

/// A valid specification, for errors.
const EXAMPLE: &str = "graph:net.txt,endpoints=4";

/// The network of a text, in whatever format of the table it is; `endpoints` where the specification gives it.
///
/// # Errors
/// Text of another form, and nodes and links that make no network, with their places.
pub fn network(text: &str, spec: String, endpoints: Option<u32>) -> Result<Switched, SpecError> {
    described(text, spec, &Options { endpoints, ..Options::default() })
}

/// The network of a list of links.
pub(in crate::topology) fn network_of_list(
    text: &str,
    spec: String,
    endpoints: Option<u32>,
) -> Result<Switched, SpecError> {
    read_as(&LIST, text, spec, &Options { endpoints, ..Options::default() })
}

/// [`network`], with what the specification says of the reading.
///
/// # Errors
/// Those of [`network`]; options that the format does not have.
pub fn described(text: &str, spec: String, options: &Options) -> Result<Switched, SpecError> {
    // Some editors write a byte order mark first.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.chars().all(char::is_whitespace) {
        let what = format!("`{spec}` has no nodes: nothing in an empty file could hang together");
        return Err(SpecError::new(ErrorKind::Malformed, what, "write a line `A B` for each link"));
    }
    read_as(format::of(text), text, spec, options)
}

/// The network of a text of a format.
fn read_as(format: &'static Format, text: &str, spec: String, options: &Options) -> Result<Switched, SpecError> {
    let read = match &format.read {
        Read::As(read) => read,
        Read::Not(remedy) => {
            let what = format!("this is {}, which is not read", format.called);
            return Err(SpecError::new(ErrorKind::Unsupported, what, Phrase::of_template(remedy)));
        }
    };
    if options.duplex && !format.has_sharing {
        let what = format!("shared=duplex in `{spec}`: its links have no policy of sharing");
        return Err(SpecError::new(ErrorKind::Meaningless, what, "leave it out: it is for platforms of SimGrid"));
    }
    let reading = Reading::new(text, options, format);
    if format.is_lines && !text.ends_with('\n') {
        reading.note("the last line has no end: if the file was cut, the rest of it is missing".to_owned());
    }
    let named = |refusal: SpecError| {
        if format.takes_the_rest { refusal } else { refusal.within(format!("{}: ", format.called)) }
    };
    let mut description = Description::new(&reading);
    read(text, &mut description).and_then(|()| description.build(spec)).map_err(named)
}

/// The words of a specification such as `net.txt,endpoints=4`.
struct Words<'a> {
    path: &'a str,
    /// Options and their values, the last one first.
    given: Vec<(&'a str, &'a str)>,
}

impl<'a> Words<'a> {
    fn new(words: &'a str) -> Self {
        let mut new = Self { path: words, given: Vec::new() };
        while let Some((path, last)) = new.path.rsplit_once(',') {
            let (name, value) = last.split_once('=').unwrap_or((last, ""));
            // A word that stands twice is no parameter, and then no file has that path.
            if !OPTIONS.contains(&name) || new.given.iter().any(|(known, _)| *known == name) {
                break;
            }
            new.given.push((name, value));
            new.path = path;
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
    let Words { path, given } = Words::new(words);
    let mut options = Options::default();
    for (name, value) in given.into_iter().rev() {
        match name {
            "endpoints" => options.endpoints = Some(number(&spec, value, EXAMPLE)?),
            _ => options.set(&spec, name, value)?,
        }
    }
    if path.is_empty() {
        return Err(SpecError::new(
            ErrorKind::Malformed,
            format!("`{spec}` lacks its file"),
            format!("write it as in `{EXAMPLE}`"),
        ));
    }
    if let Some(endpoints) = options.endpoints.filter(|&endpoints| endpoints as usize >= MAX_NODES) {
        let what = format!("{endpoints} endpoints of each switch in `{spec}`");
        return Err(SpecError::new(ErrorKind::OutOfRange, what, format!("use 0 to {}", MAX_NODES - 1)));
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
        return Err(SpecError::unknown("parameter", name, &OPTIONS));
    }
    let length = fs::metadata(path).map_err(|error| unreadable(error.to_string()))?.len();
    if length > MAX_BYTES {
        return Err(unreadable(format!("it has {length} bytes, and at most {MAX_BYTES} are read")));
    }
    // The length is known for regular files only, so what is read is limited too.
    let mut bytes = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes));
    read.map_err(|error| unreadable(error.to_string()))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(unreadable(format!("it does not end within {MAX_BYTES} bytes")));
    }
    let text = text_of(bytes)
        .map_err(|(what, remedy)| SpecError::new(ErrorKind::Unreadable, format!("{path}: {what}"), remedy))?;
    described(&text, spec, &options).map_err(|refusal| refusal.within(format!("{path}: ")))
}

/// The text of a file: UTF-8, UTF-16 with its mark, or else Latin-1, as old maps are written.
///
/// # Errors
/// What packed and other binary files are, and what to do.
fn text_of(bytes: Vec<u8>) -> Result<String, (String, &'static str)> {
    const PACKED: &[(&[u8], &str, &str)] = &[
        (b"BZh", "packed with bzip2", "unpack it first: bunzip2 FILE"),
        (b"\x1f\x8b", "packed with gzip", "unpack it first: gunzip FILE"),
        (b"\xfd7zXZ", "packed with xz", "unpack it first: unxz FILE"),
        (b"\x28\xb5\x2f\xfd", "packed with zstd", "unpack it first: unzstd FILE"),
        (b"PK\x03\x04", "a zip archive", "unpack it first: unzip FILE"),
    ];
    if let Some((_, what, remedy)) = PACKED.iter().find(|(begin, ..)| bytes.starts_with(begin)) {
        return Err(((*what).to_owned(), remedy));
    }
    let wide = match bytes.get(..2) {
        Some(b"\xff\xfe") => Some(u16::from_le_bytes as fn([u8; 2]) -> u16),
        Some(b"\xfe\xff") => Some(u16::from_be_bytes as fn([u8; 2]) -> u16),
        _ => None,
    };
    if let Some(unit) = wide {
        let units: Vec<u16> = bytes[2..].as_chunks::<2>().0.iter().map(|&pair| unit(pair)).collect();
        return String::from_utf16(&units).map_err(|_| ("neither UTF-8 nor UTF-16".to_owned(), "write it as UTF-8"));
    }
    // BRITE's model ends with the NUL of its program's text; where control characters are many, this is no text.
    let controls = bytes.iter().filter(|byte| **byte < 0x20 && !matches!(**byte, b'\t' | b'\n' | b'\r' | 0x0c)).count();
    if controls > 1 + bytes.len() / 1000 {
        return Err((
            "a binary file, and no text of a network".to_owned(),
            "give a file of a network as text: fsin explain graph",
        ));
    }
    let text = String::from_utf8(bytes);
    let text = text.unwrap_or_else(|error| error.as_bytes().iter().map(|&byte| char::from(byte)).collect());
    Ok(if text.contains('\0') { text.replace('\0', " ") } else { text })
}
