//! The table of formats: one row for each, in the order in which a text is tried.

use fsin_core::topology::graph::{Format, LIST, Names, Reader};
use trgen::catalog::Component;

use super::{
    anynet, brite, csv, dot, edge_list, foreign, gml, graphml, htsim, infiniband, json, ns3, simgrid, slurm, sndlib,
};

/// A format that is read.
const fn read(
    name: &'static str,
    called: &'static str,
    about: &'static str,
    source: &'static str,
    is: fn(&str) -> bool,
    reader: Reader,
) -> Format {
    Format::new(Component { name, about, parameters: &[], source }, called, is, reader)
}

/// All formats of other tools; the first one that knows a text counts.
#[rustfmt::skip]
static FORMATS: &[Format] = &[
    read("graphml", "GraphML", "nodes, edges and their data, as networkx and yEd write them", "Brandes, Eiglsperger, Herman, Himsolt, Marshall, GraphML progress report, GD 2001", graphml::begins, graphml::parse),
    Format { names: Names::Stated, has_times: true, has_sharing: true, ..read("simgrid", "a platform of SimGrid", "hosts, routers, links, routes and clusters of <platform>; links whose directions share one bandwidth need shared=duplex, or the model flow", "SimGrid, Platform descriptions, DTD 4.1", simgrid::begins, simgrid::parse) },
    read("sndlib-xml", "SNDlib (XML)", "nodes, links with capacities and demands, as XML", "Orlowski, Pióro, Tomaszewski, Wessäly, SNDlib 1.0, Networks 55(3), 2010", sndlib::is_xml, sndlib::parse_xml),
    read("sndlib", "SNDlib (native)", "nodes, links with capacities and demands: ?SNDlib native format", "Orlowski, Pióro, Tomaszewski, Wessäly, SNDlib 1.0, Networks 55(3), 2010", sndlib::is_native, sndlib::parse_native),
    Format::known("hwloc", "hwloc's XML, the inside of one machine", foreign::is_hwloc, foreign::MACHINE),
    Format::known("nccl", "NCCL's topology, the inside of one machine", foreign::is_nccl, foreign::MACHINE),
    Format::known("gexf", "GEXF", foreign::is_gexf, foreign::GRAPHML),
    Format::known("graphviz-xml", "XML of Graphviz", foreign::is_graphviz, foreign::GRAPHML),
    Format::known("xml", "XML of no network that is known", foreign::is_xml, foreign::GRAPHML),
    Format::known("netq", "NetQ's topology", foreign::is_netq, foreign::LINKS),
    Format::known("sndlib-json", "JSON made of an SNDlib file by another program", foreign::is_sndlib_json, foreign::SNDLIB),
    Format { decoration: &["dist", "distance", "length"], ..read("topohub-json", "TopoHub (JSON)", "node-link JSON of TopoHub, with its demands", "topohub.org", json::is_topohub, json::parse) },
    read("node-link", "node-link JSON", "{\"nodes\": [{\"id\": ...}], \"links\": [{\"source\": ..., \"target\": ...}]}, or edges in place of links", "networkx, node_link_data", json::begins, json::parse),
    Format { names: Names::Letter, ..read("dot", "DOT", "graph { a -- b } and digraph { a -> b; b -> a }, with defaults and subgraphs; nodes named H... are hosts", "Graphviz, The DOT language", dot::begins, dot::parse) },
    Format { decoration: &["dist", "distance", "length"], ..read("topohub-gml", "TopoHub (GML)", "GML of TopoHub", "topohub.org", gml::is_topohub, gml::parse) },
    read("gml", "GML", "graph [ node [ id 0 label \"a\" ] edge [ source 0 target 1 ] ]", "Himsolt, GML: a portable graph file format, Passau 1997", gml::begins, gml::parse),
    read("brite", "BRITE", "Topology: ( 20 Nodes, 37 Edges ), with delays in ms and rates in Mb/s", "Medina, Lakhina, Matta, Byers, BRITE: universal topology generation from a user's perspective, 2001", brite::begins, brite::parse),
    Format { names: Names::Stated, is_lines: true, ..read("infiniband", "an InfiniBand fabric (ibnetdiscover, ibsim)", "switches and channel adapters with their cables, whose rate is width times lane", "rdma-core, ibnetdiscover(8); ibsim, net-examples", infiniband::begins, infiniband::parse) },
    Format::known("slurm-blocks", "Slurm's topology of blocks", slurm::is_blocks, slurm::BLOCKS),
    Format { names: Names::Stated, is_lines: true, ..read("slurm", "Slurm's topology.conf", "SwitchName=s0 Nodes=n[01-04,7] and SwitchName=top Switches=s[0-1]: a link to each", "Slurm Workload Manager, topology.conf", slurm::begins, slurm::parse) },
    Format { names: Names::Stated, has_times: true, ..read("htsim", "a topology of htsim", "Nodes, Tiers, Podsize and the keys of each tier: a fat tree of two or three tiers", "csg-htsim, fat_tree_topology", htsim::begins, htsim::parse) },
    Format::known("htsim-matrix", "a connection matrix of htsim", foreign::is_cm, "it says what is sent, and over no network: {flows} FILE {cm-unit} us"),
    Format::known("containerlab", "containerlab's YAML", foreign::is_containerlab, foreign::LINKS),
    Format::known("topograph", "a model of topograph", foreign::is_topograph, foreign::LINKS),
    Format::known("infragraph", "InfraGraph's YAML", foreign::is_infragraph, foreign::LINKS),
    Format::known("astra-sim", "a network.yml of ASTRA-sim", foreign::is_astra, foreign::ASTRA),
    Format::known("noxim", "a configuration of Noxim", foreign::is_noxim, "it configures a simulator: write its network as {topology} mesh:8x8, and the rest as settings of {network} wormhole"),
    Format::known("codes", "a configuration of CODES", foreign::is_codes, "it configures a simulator: write the network that it means as {topology} dragonfly:p=4,a=8,h=4, fattree:4,3, torus:8x8, slimfly:5 ..., and the rest as settings"),
    Format::known("booksim", "a configuration of BookSim", foreign::is_booksim, "fsin import booksim FILE"),
    Format::known("ned", "NED of OMNeT++", foreign::is_ned, foreign::LINKS),
    Format::known("sst", "a script of SST", foreign::is_sst, foreign::LINKS),
    Format::known("pajek", "a network of Pajek", foreign::is_pajek, foreign::GRAPHML),
    Format::known("graph6", "graph6 or sparse6", foreign::is_graph6, foreign::GRAPHML),
    Format::known("rocketfuel", "a map of Rocketfuel with weights", foreign::is_rocketfuel, foreign::WEIGHTS),
    Format::known("inet", "a map of Inet", foreign::is_inet, "leave the lines of nodes and the third number of edges out: `A B` a line is a link"),
    Format::known("weighted", "a list of edges with a weight as third number", foreign::is_weighted, foreign::WEIGHTS),
    Format { names: Names::Stated, has_times: true, ..read("ns3", "a list of ns-3", "counts, the numbers of the switches, then `source destination rate delay error-rate` for each link, of HPCC and SimAI", "Li et al., HPCC, SIGCOMM 2019, simulation", ns3::begins, ns3::parse) },
    Format::known("matrix", "a matrix of 0 and 1, or of numbers", foreign::is_matrix, foreign::MATRIX),
    Format { names: Names::Stated, is_lines: true, ..read("anynet", "BookSim's anynet", "router R node N [latency] router S [latency] ..., latencies in cycles", "Jiang et al., A detailed and flexible cycle-accurate network-on-chip simulator, ISPASS 2013", anynet::begins, anynet::parse) },
    Format { is_lines: true, ..read("csv", "CSV", "columns source and target, and attributes of links; separated by commas, semicolons or tabs", "RFC 4180; Gephi", csv::begins, csv::parse) },
    Format { is_lines: true, ..read("edge-list", "networkx's list of edges", "u v {'rate': '10Gb/s'} for each link", "networkx, write_edgelist", edge_list::begins, edge_list::parse) },
    Format::known("yaml", "YAML", foreign::is_yaml, foreign::LINKS),
];

/// The rows of all formats, fsin's own list of links at their end.
#[must_use]
pub fn rows() -> Vec<&'static Format> {
    FORMATS.iter().chain([&LIST]).collect()
}
