//! Formats of networks: one table, in which a text is recognised by what it says, whatever its file is called.
//!
//! Each format that is read is a file that turns a text into [statements](super::statement), which [`super::network`]
//! alone gives a meaning. Formats that are known and not read stand in the same table, each with its remedy, so that
//! no reader complains about a text of another format.
//!
//! Decisions: docs/decisions/0190-formats-of-networks.md, docs/decisions/0400-files-of-the-field.md.

mod anynet;
mod brite;
mod csv;
mod edge_list;
mod foreign;
mod gml;
mod graphml;
mod htsim;
mod infiniband;
mod json;
mod lines;
mod ns3;
pub(super) mod simgrid;
mod slurm;
mod sndlib;
mod speeds;

use std::borrow::Cow;

use trgen::catalog::{ErrorKind, SpecError};

use super::attribute::refusal;
use super::reading::Reading;
use super::statement::{Attributes, Edge, End, Graph, Places, Statement, Word, check_count};
use super::{dot, list};

pub(super) use lines::words_of;

/// Reads a text as the statements of a graph.
pub(super) type Reader = for<'a> fn(&'a str, &Reading<'_>) -> Result<Graph<'a>, SpecError>;

/// What the names of nodes say.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Names {
    /// A node whose name begins with H is a host.
    Letter,
    /// Nothing: a node is a switch unless an attribute says otherwise.
    Labels,
    /// Nothing: the format says which nodes are hosts.
    Stated,
}

/// What is done with a text of a format.
pub(super) enum Read {
    /// It is read.
    As(Reader),
    /// It is known and not read: the remedy, with settings in braces.
    Not(&'static str),
}

/// A format.
pub(super) struct Format {
    /// Its name, as errors begin with it.
    pub(super) name: &'static str,
    /// True for a text of this format.
    pub(super) is: fn(&str) -> bool,
    pub(super) read: Read,
    pub(super) names: Names,
    /// Words that otherwise mean something of a network, and in this format do not.
    pub(super) decoration: &'static [&'static str],
    /// True if a line is a statement, so that a text that was cut has a last line without its end.
    pub(super) is_lines: bool,
    /// True if the format requires a rate and a delay for each link: a file cannot leave them out.
    pub(super) has_times: bool,
}

/// A format that is read.
const fn read(name: &'static str, is: fn(&str) -> bool, names: Names, reader: Reader) -> Format {
    Format { name, is, read: Read::As(reader), names, decoration: &[], is_lines: false, has_times: false }
}

/// A format that is known and not read.
const fn known(name: &'static str, is: fn(&str) -> bool, remedy: &'static str) -> Format {
    Format {
        name,
        is,
        read: Read::Not(remedy),
        names: Names::Labels,
        decoration: &[],
        is_lines: false,
        has_times: false,
    }
}

/// All formats; the first one of a text counts.
#[rustfmt::skip]
pub(super) static FORMATS: &[Format] = &[
    read("GraphML", graphml::begins, Names::Labels, graphml::parse),
    Format { has_times: true, ..read("a platform of SimGrid", simgrid::begins, Names::Stated, simgrid::parse) },
    read("SNDlib (XML)", sndlib::is_xml, Names::Labels, sndlib::parse_xml),
    read("SNDlib (native)", sndlib::is_native, Names::Labels, sndlib::parse_native),
    known("hwloc's XML, the inside of one machine", foreign::is_hwloc, foreign::MACHINE),
    known("NCCL's topology, the inside of one machine", foreign::is_nccl, foreign::MACHINE),
    known("GEXF", foreign::is_gexf, foreign::GRAPHML),
    known("XML of Graphviz", foreign::is_graphviz, foreign::GRAPHML),
    known("XML of no network that is known", foreign::is_xml, foreign::GRAPHML),
    known("NetQ's topology", foreign::is_netq, foreign::LINKS),
    known("JSON made of an SNDlib file by another program", foreign::is_sndlib_json, foreign::SNDLIB),
    Format { decoration: &["dist", "distance", "length"], ..read("TopoHub (JSON)", json::is_topohub, Names::Labels, json::parse) },
    read("node-link JSON", json::begins, Names::Labels, json::parse),
    read("DOT", super::is_dot, Names::Letter, |text, _| dot::parse(text)),
    Format { decoration: &["dist", "distance", "length"], ..read("TopoHub (GML)", gml::is_topohub, Names::Labels, gml::parse) },
    read("GML", gml::begins, Names::Labels, gml::parse),
    read("BRITE", brite::begins, Names::Labels, brite::parse),
    Format { is_lines: true, ..read("an InfiniBand fabric (ibnetdiscover, ibsim)", infiniband::begins, Names::Stated, infiniband::parse) },
    known("Slurm's topology of blocks", slurm::is_blocks, slurm::BLOCKS),
    Format { is_lines: true, ..read("Slurm's topology.conf", slurm::begins, Names::Stated, slurm::parse) },
    Format { has_times: true, ..read("a topology of htsim", htsim::begins, Names::Stated, htsim::parse) },
    known("a connection matrix of htsim", foreign::is_cm, "it says what is sent, and over no network: {flows} FILE {cm-unit} us"),
    known("containerlab's YAML", foreign::is_containerlab, foreign::LINKS),
    known("a model of topograph", foreign::is_topograph, foreign::LINKS),
    known("InfraGraph's YAML", foreign::is_infragraph, foreign::LINKS),
    known("a network.yml of ASTRA-sim", foreign::is_astra, foreign::ASTRA),
    known("a configuration of Noxim", foreign::is_noxim, "it configures a simulator: write its network as {topology} mesh:8x8, and the rest as settings of {network} wormhole"),
    known("a configuration of CODES", foreign::is_codes, "it configures a simulator: write the network that it means as {topology} dragonfly:p=4,a=8,h=4, fattree:4,3, torus:8x8, slimfly:5 ..., and the rest as settings"),
    known("a configuration of BookSim", foreign::is_booksim, "fsin import booksim FILE"),
    known("NED of OMNeT++", foreign::is_ned, foreign::LINKS),
    known("a script of SST", foreign::is_sst, foreign::LINKS),
    known("a network of Pajek", foreign::is_pajek, foreign::GRAPHML),
    known("graph6 or sparse6", foreign::is_graph6, foreign::GRAPHML),
    known("a map of Rocketfuel with weights", foreign::is_rocketfuel, foreign::WEIGHTS),
    known("a map of Inet", foreign::is_inet, "leave the lines of nodes and the third number of edges out: `A B` a line is a link"),
    known("a list of edges with a weight as third number", foreign::is_weighted, foreign::WEIGHTS),
    Format { has_times: true, ..read("a list of ns-3", ns3::begins, Names::Stated, ns3::parse) },
    known("a matrix of 0 and 1, or of numbers", foreign::is_matrix, foreign::MATRIX),
    Format { is_lines: true, ..read("BookSim's anynet", anynet::begins, Names::Stated, anynet::parse) },
    Format { is_lines: true, ..read("CSV", csv::begins, Names::Labels, csv::parse) },
    Format { is_lines: true, ..read("networkx's list of edges", edge_list::begins, Names::Labels, edge_list::parse) },
    known("YAML", foreign::is_yaml, foreign::LINKS),
    Format { is_lines: true, ..read("a list of links", |_| true, Names::Letter, list::parse) },
];

/// The format of a text.
pub(super) fn of(text: &str) -> &'static Format {
    FORMATS.iter().find(|format| (format.is)(text)).unwrap_or(&FORMATS[FORMATS.len() - 1])
}

/// The text from its first word on, without comments, declarations of XML and empty lines before it.
pub(super) fn head(text: &str) -> &str {
    let mut rest = text.trim_start();
    loop {
        let after = [("<!--", "-->"), ("<?", "?>"), ("/*", "*/"), ("//", "\n"), ("#", "\n")]
            .iter()
            .find_map(|(begin, end)| Some(rest.strip_prefix(begin)?.split_once(end).map_or("", |(_, after)| after)));
        match after {
            Some(after) => rest = after.trim_start(),
            None => return rest,
        }
    }
}

/// Statements under construction.
#[derive(Default)]
struct Builder<'a> {
    graph: Graph<'a>,
}

impl<'a> Builder<'a> {
    fn node(&mut self, name: Word<'a>, mut attributes: Attributes<'a>) {
        // A list that grew has room for four, and a text has a million of them.
        attributes.shrink_to_fit();
        self.graph.statements.push(Statement::Node(name, attributes));
    }

    /// A node of which the format says whether it is a host.
    fn declare(&mut self, name: Word<'a>, is_host: bool) {
        let at = name.at;
        let mut attributes = vec![implied("kind", if is_host { "host" } else { "switch" }, at)];
        if !is_host {
            attributes.push(implied("endpoints", "0", at));
        }
        self.node(name, attributes);
    }

    fn edge(&mut self, [one, other]: [Word<'a>; 2], is_directed: bool, mut attributes: Attributes<'a>) {
        attributes.shrink_to_fit();
        let ends = vec![End::Node(one), End::Node(other)];
        self.graph.statements.push(Statement::Edge(Edge { ends, is_directed, attributes }));
    }

    /// Refuses more statements than a network has, at an offset.
    fn check_count(&self, at: usize, places: &Places<'_>) -> Result<(), SpecError> {
        check_count(&self.graph.statements, at, places)
    }

    fn graph(self) -> Graph<'a> {
        self.graph
    }
}

/// A word that stands at an offset, as it is or as it is meant.
fn word<'a>(text: impl Into<Cow<'a, str>>, at: usize) -> Word<'a> {
    Word { text: text.into(), at }
}

/// An attribute that a format implies; errors name the place `at`.
fn implied<'a>(key: &'static str, value: impl Into<Cow<'a, str>>, at: usize) -> (Word<'a>, Word<'a>) {
    (word(key, at), word(value, at))
}

/// The error of a text of another form than its format has.
fn malformed(places: &Places<'_>, at: usize, what: impl std::fmt::Display, remedy: &str) -> SpecError {
    refusal(places, at, ErrorKind::Malformed, what, remedy)
}

#[cfg(test)]
mod samples;
#[cfg(test)]
mod tests;
