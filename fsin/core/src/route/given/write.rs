//! Writing of routes, in the forms that are read.

use std::io::{self, Write};

use super::{MAX_CHANNELS, RouteTable, Routers};
use crate::route::proof::Network as _;

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

/// Writes the route of every pair of endpoints at different routers. Rows of hops have the port too where parallel
/// links need it.
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
    let endpoints = routers.endpoints();
    let pairs = (0..endpoints).flat_map(|source| (0..endpoints).map(move |destination| (source, destination)));
    // On butterflies a packet to its own source has a route too, which files do not state.
    for pair in pairs.filter(|(source, destination)| source != destination) {
        let (source, destination) = (routers.endpoint_name(pair.0), routers.endpoint_name(pair.1));
        let mut nodes = vec![routers.name(routers.entry(pair.0))];
        let mut sets = Vec::new();
        for (here, port, mask) in table.path(routers, pair) {
            let Some(next) = routers.next(here, port as usize) else { continue };
            let (next, set) = (routers.name(next), channels(mask));
            if form == Form::Hops {
                let here = nodes.last().map_or("", String::as_str);
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
