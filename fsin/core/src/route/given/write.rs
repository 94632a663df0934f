//! Writing of routes, in the forms that are read.

use std::io::{self, Write};

use trgen::NodeId;

use super::{MAX_CHANNELS, RouteTable, Routers};
use crate::route::proof::Network as _;
use crate::topology::{Topology, node_name};

/// Forms of a file of routes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// A row for each hop of each pair.
    Hops,
    /// A row for each pair.
    Paths,
}

/// A set of channels as text; nothing for all.
fn channels(mask: Option<u32>) -> String {
    let named = |mask: u32| (0..MAX_CHANNELS).filter(move |vc| mask >> vc & 1 != 0).map(|vc| vc.to_string());
    mask.map_or_else(String::new, |mask| named(mask).collect::<Vec<_>>().join("|"))
}

/// The words for all nodes: their names, and the numbers of nodes whose names cannot stand in a row.
fn words(topology: &dyn Topology) -> io::Result<Vec<String>> {
    let names: Vec<String> = (0..topology.nodes()).map(|node| node_name(topology, NodeId::at(node))).collect();
    let word = |(node, name): (usize, &String)| {
        if !name.contains([',', '>', '\n']) && name.trim() == name {
            return Ok(name.clone());
        }
        let number = node.to_string();
        match names.iter().position(|other| *other == number) {
            Some(other) if other != node => {
                let what = format!("a row cannot have the name `{name}`, and `{number}` is another node: rename one");
                Err(io::Error::other(what))
            }
            _ => Ok(number),
        }
    };
    names.iter().enumerate().map(word).collect()
}

/// Writes the route of every pair of endpoints at different routers. Rows of hops have the port too where parallel
/// links need it. Nodes whose names have commas or `>` stand by their numbers.
///
/// # Errors
/// Those of writing; paths over parallel links, which only rows of hops can tell apart.
pub fn write(table: &RouteTable, routers: &Routers<'_>, form: Form, out: &mut impl Write) -> io::Result<()> {
    let has_ports = routers.has_parallel_links();
    match form {
        Form::Paths if has_ports => {
            return Err(io::Error::other("paths do not tell parallel links apart: write a row for each hop"));
        }
        Form::Paths => writeln!(out, "source,destination,path,vcs")?,
        Form::Hops => writeln!(out, "current,destination,next,vc,source{}", if has_ports { ",port" } else { "" })?,
    }
    let words = words(routers.topology)?;
    let of_router = |router: usize| words[routers.first + router].as_str();
    let endpoints = routers.endpoints();
    let pairs = (0..endpoints).flat_map(|source| (0..endpoints).map(move |destination| (source, destination)));
    // On butterflies a packet to its own source has a route too, which files do not state.
    for pair in pairs.filter(|(source, destination)| source != destination) {
        let [source, destination] = [pair.0, pair.1].map(|endpoint| words[endpoint].as_str());
        let mut nodes = vec![of_router(routers.entry(pair.0))];
        let mut sets = Vec::new();
        for (here, port, mask) in table.path(routers, pair) {
            let Some(next) = routers.next(here, port as usize) else { continue };
            let (next, set) = (of_router(next), channels(mask));
            if form == Form::Hops {
                let here = nodes.last().copied().unwrap_or_default();
                write!(out, "{here},{destination},{next},{set},{source}")?;
                writeln!(out, "{}", if has_ports { format!(",{port}") } else { String::new() })?;
            }
            nodes.push(next);
            sets.push(set);
        }
        if form == Form::Paths && !sets.is_empty() {
            let sets = if sets.iter().all(String::is_empty) { String::new() } else { sets.join(">") };
            writeln!(out, "{source},{destination},{},{sets}", nodes.join(">"))?;
        }
    }
    Ok(())
}
