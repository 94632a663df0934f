//! Routes as text: comma-separated values whose first line names the columns.
//!
//! Three forms: a row for each hop of each pair (`current,destination,next[,vc],source`), a row for each path
//! (`source,destination,path[,vcs]`), and, without a source, a row for each router and destination
//! (`current,destination,next[,vc]`), where several rows are several next hops. Empty lines and lines that begin with
//! `#` are skipped. Nodes are numbers, or names where the topology has some; a path is `0>4>8`. A virtual channel is a
//! number, several are `0|1`, and an empty one is any.

use std::collections::HashMap;
use std::ops::Range;

use trgen::NodeId;
use trgen::catalog::{ErrorKind, SpecError, suggestion};

use super::{Builder, Kind, MAX_CHANNELS, RouteTable, Routers, Step};
use crate::route::proof::Network as _;
use crate::topology::Topology;

/// The names of columns.
const COLUMNS: [&str; 8] = ["current", "destination", "next", "vc", "source", "port", "path", "vcs"];

/// The columns of a file: by column its position in a row.
struct Columns {
    count: usize,
    current: Option<usize>,
    destination: usize,
    next: Option<usize>,
    vc: Option<usize>,
    source: Option<usize>,
    port: Option<usize>,
    path: Option<usize>,
    vcs: Option<usize>,
}

/// An error at a line.
fn fault(line: u32, what: impl AsRef<str>, remedy: impl Into<String>) -> SpecError {
    let what = format!("line {line}: {}", what.as_ref());
    SpecError::new(ErrorKind::Unreadable, what, remedy.into())
}

impl Columns {
    fn parse(line: u32, header: &str) -> Result<Self, SpecError> {
        const FORMS: &str = "write current,destination,next,vc,source or source,destination,path,vcs";
        let names: Vec<&str> = header.split(',').map(str::trim).collect();
        let mut at: HashMap<&str, usize> = HashMap::new();
        for (position, &name) in names.iter().enumerate() {
            if !COLUMNS.contains(&name) {
                let remedy = format!("the first line names the columns; {}", suggestion(name, &COLUMNS));
                return Err(fault(line, format!("`{name}` is no column of routes"), remedy));
            }
            if at.insert(name, position).is_some() {
                return Err(fault(line, format!("column `{name}` stands twice"), "leave one of them out"));
            }
        }
        let column = |name: &str| at.get(name).copied();
        let needs = |name: &str| {
            column(name).ok_or_else(|| fault(line, format!("there is no column `{name}`"), FORMS.to_owned()))
        };
        let destination = needs("destination")?;
        let (of_paths, of_hops) = (&["path", "vcs"][..], &["current", "next", "vc", "port"][..]);
        let (of_this, others) = if column("path").is_some() { (of_paths, of_hops) } else { (of_hops, of_paths) };
        if let Some(other) = others.iter().find(|name| column(name).is_some()) {
            let what = format!("column `{other}` does not go with column `{}`", of_this[0]);
            return Err(fault(line, what, FORMS));
        }
        if column("path").is_some() {
            needs("source")?;
        } else {
            needs("current")?;
            needs("next")?;
        }
        Ok(Self {
            count: names.len(),
            current: column("current"),
            destination,
            next: column("next"),
            vc: column("vc"),
            source: column("source"),
            port: column("port"),
            path: column("path"),
            vcs: column("vcs"),
        })
    }
}

/// The nodes of a network, by the words that files use for them.
struct Nodes<'a> {
    routers: &'a Routers<'a>,
    /// The nodes that the topology names.
    names: HashMap<&'a str, usize>,
}

impl<'a> Nodes<'a> {
    fn new(topology: &'a dyn Topology, routers: &'a Routers<'a>) -> Self {
        let nodes = 0..topology.nodes();
        let named = |network: &'a crate::topology::Switched| {
            nodes.filter_map(|node| Some((network.name(NodeId::at(node))?, node))).collect()
        };
        Self { routers, names: topology.switched().map_or_else(HashMap::new, named) }
    }

    /// The number of the node that a word stands for.
    fn node(&self, line: u32, column: &str, word: &str) -> Result<usize, SpecError> {
        let count = self.routers.topology.nodes();
        if let Some(&node) = self.names.get(word) {
            return Ok(node);
        }
        match word.parse::<usize>() {
            Ok(node) if node < count => Ok(node),
            Ok(node) => {
                let what = format!("{column} {node}, and {} has {count} nodes", self.routers.topology.spec());
                Err(fault(line, what, format!("use 0 to {}", count - 1)))
            }
            Err(_) => {
                let what = format!("{column} `{word}` is no node of {}", self.routers.topology.spec());
                let mut names: Vec<&str> = self.names.keys().copied().collect();
                names.sort_unstable();
                let near = suggestion(word, &names).near;
                let near = near.first().map_or_else(String::new, |near| format!(", or did you mean `{near}`?"));
                Err(fault(line, what, format!("use a number from 0 to {}{near}", count - 1)))
            }
        }
    }

    /// The number of the endpoint that a word stands for.
    fn endpoint(&self, line: u32, column: &str, word: &str) -> Result<usize, SpecError> {
        let node = self.node(line, column, word)?;
        let endpoints = self.routers.endpoints();
        if node < endpoints {
            return Ok(node);
        }
        let what = format!("{column} `{word}` is a switch, which neither sends nor receives");
        Err(fault(line, what, format!("use an endpoint: 0 to {}", endpoints - 1)))
    }

    fn name(&self, node: usize) -> String {
        crate::topology::node_name(self.routers.topology, NodeId::at(node))
    }

    /// The router that a node is, or at which it is an endpoint of a network of switches.
    fn router(&self, node: usize) -> Result<usize, usize> {
        node.checked_sub(self.routers.first).ok_or(node)
    }

    /// The port that leads from a router to another one: the first of several unless the file says which.
    fn port(&self, line: u32, (here, next): (usize, usize), given: Option<u32>) -> Result<u32, SpecError> {
        let mut ports = self.routers.links(here).filter(|&(_, there)| there == next).map(|(port, _)| port as u32);
        let (from, to) = (self.routers.name(here), self.routers.name(next));
        match given {
            None => ports.next().ok_or_else(|| {
                let mut around: Vec<String> =
                    self.routers.links(here).map(|(_, there)| self.routers.name(there)).collect();
                around.dedup();
                let remedy = format!("the links of {from} lead to {}", around.join(", "));
                fault(line, format!("no link leads from {from} to {to}"), remedy)
            }),
            Some(port) if ports.by_ref().any(|one| one == port) => Ok(port),
            Some(port) => {
                let known = self.routers.links(here).filter(|&(_, there)| there == next);
                let known: Vec<String> = known.map(|(port, _)| port.to_string()).collect();
                let remedy = format!("ports that lead there: {}", known.join(", "));
                Err(fault(line, format!("port {port} of {from} does not lead to {to}"), remedy))
            }
        }
    }
}

/// A set of virtual channels as a mask; `None` for any.
fn channels(line: u32, word: &str) -> Result<Option<u32>, SpecError> {
    if word.is_empty() {
        return Ok(None);
    }
    let one = |word: &str| match word.trim().parse::<u32>() {
        Ok(vc) if vc < MAX_CHANNELS => Ok(1 << vc),
        _ => {
            let remedy =
                format!("use a number from 0 to {}, several as 0|1, or nothing for any channel", MAX_CHANNELS - 1);
            Err(fault(line, format!("`{word}` is no virtual channel"), remedy))
        }
    };
    word.split('|').try_fold(0, |mask, word| Ok(mask | one(word)?)).map(Some)
}

/// Row of a hop.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Row {
    /// The source; 0 in a file without sources.
    source: u32,
    destination: u32,
    here: u32,
    step: Step,
    line: u32,
}

/// Reads the routes of a network.
///
/// # Errors
/// What is wrong, with its line: text of another form, nodes and links that there are not, pairs without a route,
/// routes that do not end.
pub fn read(text: &str, routers: &Routers<'_>) -> Result<RouteTable, SpecError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = (1..).zip(text.lines().map(str::trim));
    let mut lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let Some((number, header)) = lines.next() else {
        let remedy = "write a line that names the columns: current,destination,next,vc,source";
        return Err(SpecError::new(ErrorKind::Unreadable, "it holds no routes", remedy));
    };
    let columns = Columns::parse(number, header)?;
    let nodes = Nodes::new(routers.topology, routers);
    match (columns.path, columns.source) {
        (Some(path), Some(source)) => paths(lines, &columns, (path, source), &nodes),
        (_, source) => {
            let kind = if source.is_some() { Kind::Paths } else { Kind::Destinations };
            let mut table = Builder::new(kind);
            let mut rows = rows(lines, &columns, &nodes, &mut table)?;
            match kind {
                Kind::Paths => by_source(&mut rows, table, routers),
                Kind::Destinations => by_destination(&mut rows, table, routers),
            }
        }
    }
}

/// The fields of a row.
fn fields<'a>(line: u32, row: &'a str, columns: &Columns, into: &mut Vec<&'a str>) -> Result<(), SpecError> {
    into.clear();
    into.extend(row.split(',').map(str::trim));
    if into.len() == columns.count {
        return Ok(());
    }
    let what = format!("{} values, and the first line names {} columns", into.len(), columns.count);
    Err(fault(line, what, "give each column a value; an empty one is a value too"))
}

/// The rows of hops between routers. Rows of the links of endpoints are checked and left out.
fn rows<'a>(
    lines: impl Iterator<Item = (u32, &'a str)>,
    columns: &Columns,
    nodes: &Nodes<'_>,
    table: &mut Builder,
) -> Result<Vec<Row>, SpecError> {
    let routers = nodes.routers;
    let mut rows = Vec::new();
    let mut values = Vec::with_capacity(columns.count);
    for (line, row) in lines {
        fields(line, row, columns, &mut values)?;
        let value = |column: Option<usize>| column.map_or("", |at| values[at]);
        let destination = nodes.endpoint(line, "destination", values[columns.destination])?;
        let source = columns.source.map(|at| nodes.endpoint(line, "source", values[at])).transpose()?;
        if source == Some(destination) {
            let what = format!("a route from {} to itself", nodes.name(destination));
            return Err(fault(line, what, "leave it out: such a packet does not use links"));
        }
        let current = nodes.node(line, "current", value(columns.current))?;
        let next = nodes.node(line, "next", value(columns.next))?;
        let vc = channels(line, value(columns.vc))?;
        let port = match value(columns.port) {
            "" => None,
            word => Some(word.parse().map_err(|_| {
                fault(
                    line,
                    format!("`{word}` is no port"),
                    "use a number, or nothing for the first link that leads there",
                )
            })?),
        };
        if let (Ok(here), Ok(there)) = (nodes.router(current), nodes.router(next)) {
            let port = nodes.port(line, (here, there), port)?;
            if here == routers.home(destination) {
                let what = format!("a hop that leaves {}, where the destination is", nodes.name(current));
                return Err(fault(line, what, "leave it out: a packet that has arrived does not go on"));
            }
            let step = Step::new(port, table.class(vc).map_err(|error| error.within(format!("line {line}: ")))?);
            let (source, destination) = (source.unwrap_or(0) as u32, destination as u32);
            rows.push(Row { source, destination, here: here as u32, step, line });
            continue;
        }
        let is_first = source.is_none_or(|source| source == current)
            && nodes.router(current).is_err_and(|own| nodes.router(next) == Ok(routers.entry(own)));
        let is_last = next == destination && nodes.router(current) == Ok(routers.home(destination));
        if !is_first && !is_last {
            let what = format!("no link leads from {} to {} on this route", nodes.name(current), nodes.name(next));
            return Err(fault(line, what, "only the first hop leaves an endpoint, and only the last one leads to one"));
        }
        if vc.is_some() {
            let what = "a virtual channel on the link of an endpoint";
            return Err(fault(line, what, "leave it empty: packets may take all channels there"));
        }
    }
    Ok(rows)
}

/// The error of a pair without a route.
fn missing(routers: &Routers<'_>, (source, destination): (usize, usize), at: usize) -> SpecError {
    let (from, to) = (routers.endpoint_name(source), routers.endpoint_name(destination));
    let what = match at == routers.entry(source) {
        true => format!("there is no route from {from} to {to}"),
        false => format!("the route from {from} to {to} ends at {}", routers.name(at)),
    };
    SpecError::new(ErrorKind::Unreadable, what, "give every pair of nodes a route to its end")
}

/// The error of a route that comes to a router again.
fn circle(routers: &Routers<'_>, (source, destination): (usize, usize), at: usize, line: u32) -> SpecError {
    let (from, to) = (routers.endpoint_name(source), routers.endpoint_name(destination));
    let what = format!("the route from {from} to {to} comes to {} again", routers.name(at));
    fault(line, what, "lead each hop nearer to the destination")
}

/// Table of rows with sources: each pair has one path.
fn by_source(rows: &mut [Row], mut table: Builder, routers: &Routers<'_>) -> Result<RouteTable, SpecError> {
    rows.sort_unstable();
    let mut left = &*rows;
    for source in 0..routers.endpoints() {
        for destination in 0..routers.endpoints() {
            let count =
                left.iter().take_while(|row| (row.source, row.destination) == (source as u32, destination as u32));
            let (own, rest) = left.split_at(count.count());
            left = rest;
            if let Some([one, other]) = own.array_windows().find(|[one, other]| one.here == other.here) {
                let (first, line) = (one.line.min(other.line), one.line.max(other.line));
                let what = format!(
                    "a second hop from {} on this route: line {first} has one",
                    routers.name(one.here as usize)
                );
                return Err(fault(line, what, "leave one; rows without a source may have several next hops"));
            }
            let (mut here, mut passed) = (routers.entry(source), Vec::new());
            while source != destination && here != routers.home(destination) {
                let Ok(at) = own.binary_search_by_key(&(here as u32), |row| row.here) else {
                    return Err(missing(routers, (source, destination), here));
                };
                let Row { step, line, .. } = own[at];
                if passed.contains(&here) {
                    return Err(circle(routers, (source, destination), here, line));
                }
                passed.push(here);
                table.push(step)?;
                here = routers.next(here, step.port() as usize).unwrap_or(here);
            }
            if passed.len() < own.len() {
                let lost = own.iter().find(|row| !passed.contains(&(row.here as usize)));
                let line = lost.map_or(0, |row| row.line);
                let at = lost.map_or(0, |row| row.here as usize);
                let what = format!("no packet of this route comes to {}", routers.name(at));
                return Err(fault(line, what, "leave the row out, or lead the route there"));
            }
            table.end();
        }
    }
    Ok(table.finish(routers))
}

/// Table of rows without sources: next hops by router and destination.
fn by_destination(rows: &mut [Row], mut table: Builder, routers: &Routers<'_>) -> Result<RouteTable, SpecError> {
    rows.sort_unstable_by_key(|row| (row.here, row.destination, row.step, row.line));
    let same =
        |one: &Row, other: &Row| (one.here, one.destination, one.step) == (other.here, other.destination, other.step);
    if let Some([one, other]) = rows.array_windows().find(|[one, other]| same(one, other)) {
        let what = format!("the same hop as in line {}", one.line.min(other.line));
        return Err(fault(one.line.max(other.line), what, "leave it out"));
    }
    let mut left = &*rows;
    let mut of_entry: Vec<Range<usize>> = Vec::with_capacity(routers.routers() * routers.endpoints());
    for here in 0..routers.routers() {
        for destination in 0..routers.endpoints() {
            let count = left.iter().take_while(|row| (row.here, row.destination) == (here as u32, destination as u32));
            let (own, rest) = left.split_at(count.count());
            let first = rows.len() - left.len();
            of_entry.push(first..first + own.len());
            left = rest;
            own.iter().try_for_each(|row| table.push(row.step))?;
            table.end();
        }
    }
    // Depth first from every router with an endpoint, destination by destination.
    for destination in 0..routers.endpoints() {
        let home = routers.home(destination);
        let mut is_done = vec![false; routers.routers()];
        is_done[home] = true;
        for source in (0..routers.endpoints()).filter(|&source| !is_done[routers.entry(source)]).collect::<Vec<_>>() {
            let mut path: Vec<(usize, usize)> = vec![(routers.entry(source), 0)];
            while let Some((here, tried)) = path.last_mut() {
                let (at, own) = (*here, &rows[of_entry[*here * routers.endpoints() + destination].clone()]);
                if own.is_empty() && !is_done[at] {
                    return Err(missing(routers, (source, destination), at));
                }
                let Some(row) = own.get(*tried).filter(|_| !is_done[at]) else {
                    is_done[at] = true;
                    path.pop();
                    continue;
                };
                *tried += 1;
                let next = routers.next(at, row.step.port() as usize).unwrap_or(at);
                if path.iter().any(|&(passed, _)| passed == next) {
                    return Err(circle(routers, (source, destination), next, row.line));
                }
                path.push((next, 0));
            }
        }
    }
    Ok(table.finish(routers))
}

/// Table of whole paths.
fn paths<'a>(
    lines: impl Iterator<Item = (u32, &'a str)>,
    columns: &Columns,
    (path, source): (usize, usize),
    nodes: &Nodes<'_>,
) -> Result<RouteTable, SpecError> {
    let routers = nodes.routers;
    let endpoints = routers.endpoints();
    let mut table = Builder::new(Kind::Paths);
    // By pair: the line of its path, and its hops.
    let mut given: Vec<Option<(u32, Range<usize>)>> = vec![None; endpoints * endpoints];
    let mut steps: Vec<Step> = Vec::new();
    let mut values = Vec::with_capacity(columns.count);
    for (line, row) in lines {
        fields(line, row, columns, &mut values)?;
        let destination = nodes.endpoint(line, "destination", values[columns.destination])?;
        let source = nodes.endpoint(line, "source", values[source])?;
        if let Some((first, _)) = &given[source * endpoints + destination] {
            return Err(fault(line, format!("a second path of this pair: line {first} has one"), "leave one of them"));
        }
        // Names may have spaces, in a path whose nodes are separated by `>`, and of a single node.
        let by_spaces = !values[path].contains('>') && !nodes.names.contains_key(values[path]);
        let separator = if by_spaces { ' ' } else { '>' };
        let words = values[path].split(separator).map(str::trim).filter(|word| !word.is_empty());
        let mut visited = words.map(|word| nodes.node(line, "path:", word)).collect::<Result<Vec<_>, _>>()?;
        let (from, to) = (routers.entry(source), routers.home(destination));
        // In a network of switches, endpoints may stand at the ends.
        if routers.first > 0 {
            if visited.first() == Some(&source) {
                visited.remove(0);
            }
            visited.pop_if(|last| *last == destination);
        }
        let visited = visited.into_iter().map(|node| nodes.router(node));
        let visited = visited.collect::<Result<Vec<usize>, usize>>().map_err(|node| {
            let what = format!("a path over {}, which is an endpoint", nodes.name(node));
            fault(line, what, "endpoints stand at the ends of a path only")
        })?;
        let ends = (visited.first().copied(), visited.last().copied());
        if ends != (Some(from), Some(to)) && !(from == to && visited.is_empty()) {
            let what = format!("the path does not lead from {} to {}", nodes.name(source), nodes.name(destination));
            let remedy = format!("begin it with {}, and end it with {}", routers.name(from), routers.name(to));
            return Err(fault(line, what, remedy));
        }
        if let Some(&again) =
            visited.iter().enumerate().find(|&(at, node)| visited[..at].contains(node)).map(|(_, node)| node)
        {
            return Err(circle(routers, (source, destination), again, line));
        }
        let hops = visited.len().saturating_sub(1);
        let word = columns.vcs.map_or("", |at| values[at]);
        let sets: Vec<&str> = if word.is_empty() { vec![""; hops] } else { word.split(['>', ' ']).collect() };
        if sets.len() != hops {
            let what = format!("{} channels, and the path has {hops} hops between routers", sets.len());
            return Err(fault(line, what, "give each hop its channel, as in 0>0>1, or leave all out"));
        }
        let begin = steps.len();
        for (ends, set) in visited.array_windows().zip(sets) {
            let &[here, next] = ends;
            let class = table.class(channels(line, set)?).map_err(|error| error.within(format!("line {line}: ")))?;
            steps.push(Step::new(nodes.port(line, (here, next), None)?, class));
        }
        given[source * endpoints + destination] = Some((line, begin..steps.len()));
    }
    for (pair, path) in given.into_iter().enumerate() {
        let (source, destination) = (pair / endpoints, pair % endpoints);
        match path {
            Some((_, own)) => steps[own].iter().try_for_each(|&step| table.push(step))?,
            None if source == destination || routers.entry(source) == routers.home(destination) => {}
            None => return Err(missing(routers, (source, destination), routers.entry(source))),
        }
        table.end();
    }
    Ok(table.finish(routers))
}
