//! The meaning of a description, whatever its syntax: its statements as a network.
//!
//! A node is a host if it says `kind=host`, or if its name begins with H and it does not say `kind=switch`; all others
//! are switches, and with `kind=nic` network interfaces of hosts. A host with several links gets such an interface. A
//! switch has as many endpoints as it says, or a default says (`node [endpoints=4]`, then that of the specification);
//! else one, or none in a graph with hosts. Endpoints and switches are numbered in the order in which the nodes first
//! appear, interfaces that a host gets after them. An edge is a link both ways, or one direction of a link that needs
//! an edge back: of parallel edges, the first of each direction belong together.
//!
//! Decision: docs/decisions/0140-one-description-of-a-network.md.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use trgen::NodeId;
use trgen::catalog::{ErrorKind, SpecError};
use trgen::geometry::NodeNames;

use super::super::links::{Attribute, Given, Links, Routes, Set};
use super::super::{Fabric, Link, MAX_NODES, Switched, check_nodes};
use super::attribute::{refusal, short};
use super::description::{Demand, Description, MAX_LINKS, Node, OneEdge};
use super::format::Names;
use super::given::{Kind, OfNode};
use super::labels::Labels;
use super::understood::{Demands, Understood};
use super::{MAX_SWITCHES, Unplanned};
use crate::words::counted;

/// A link: for each direction its edge. Both are the same where it was written as one edge both ways.
#[derive(Clone, Copy, Debug)]
struct FullLink {
    edges: [u32; 2],
}

impl Description<'_> {
    fn refusal(&self, at: usize, what: impl std::fmt::Display, remedy: &str) -> SpecError {
        refusal(self.places, at, ErrorKind::Malformed, what, remedy)
    }

    /// What is said of a node, defaults included.
    fn said(&self, node: usize) -> OfNode {
        let Node { own, usual, .. } = self.nodes[node];
        own.or(self.usual[usual as usize])
    }

    pub(super) fn name(&self, node: usize) -> &str {
        self.names.name(node as u32)
    }

    /// \[bytes\] Where a node first appears.
    fn node_at(&self, node: usize) -> usize {
        self.nodes[node].at as usize
    }

    /// True for a host.
    fn is_host(&self, node: usize) -> bool {
        let is_called_so = || self.reading.format.names == Names::Letter && self.name(node).starts_with('H');
        self.said(node).kind.map_or_else(is_called_so, |(kind, _)| kind == Kind::Host)
    }

    /// True for a network interface.
    fn is_nic(&self, node: usize) -> bool {
        self.said(node).kind.is_some_and(|(kind, _)| kind == Kind::Nic)
    }

    /// Decides what edges with a direction mean, and leaves out edges from a node to itself.
    ///
    /// In files of other tools, `directed` is often how the drawing program was set: where no edge at all leads back,
    /// each edge is a link both ways. Where each one does, they are the directions of links.
    fn directions(&mut self) {
        let before = self.edges.len();
        self.edges.retain(|edge| edge.ends[0] != edge.ends[1]);
        let loops = before - self.edges.len();
        if loops > 0 {
            let what = counted(loops, "edge from a node to itself is", "edges from a node to itself are");
            self.reading.note(format!("{what} left out"));
        }
        if let Some(is_directed) = self.reading.options.directed {
            self.edges.iter_mut().for_each(|edge| edge.direct(is_directed));
            return;
        }
        // An arrow of DOT or of a list of links was written by hand, or by this program.
        if self.reading.format.names != Names::Labels {
            return;
        }
        let directed = |edge: &&OneEdge| edge.is_directed();
        let there: HashSet<[u32; 2]> = self.edges.iter().filter(directed).map(|edge| edge.ends).collect();
        let leads_back = there.iter().any(|&[from, to]| there.contains(&[to, from]));
        if !there.is_empty() && !leads_back && self.edges.iter().all(OneEdge::is_directed) {
            self.edges.iter_mut().for_each(|edge| edge.direct(false));
            self.reading
                .note("the graph is directed, and no edge leads back: each is taken for a link both ways".to_owned());
            self.reading.option("directed=true: an edge is one direction of a link, and needs one that leads back");
        }
    }

    /// Leaves out the nodes that are not in the largest part, or refuses a network of several.
    fn parts(&mut self) -> Result<(), SpecError> {
        let parts = parts(self.nodes.len(), self.edges.iter().map(|edge| edge.ends));
        let count = parts.iter().map(|&part| part as usize + 1).max().unwrap_or(0);
        if count <= 1 {
            return Ok(());
        }
        let mut sizes = vec![0usize; count];
        parts.iter().for_each(|&part| sizes[part as usize] += 1);
        if self.reading.options.largest {
            // The first one of equal size.
            let largest = (0..count).fold(0, |best, part| if sizes[part] > sizes[best] { part } else { best });
            let (nodes, edges) = (self.nodes.len(), self.edges.len());
            let mut numbers = vec![u32::MAX; nodes];
            let mut kept = Vec::with_capacity(sizes[largest]);
            let mut names = Labels::default();
            for (number, node) in self.nodes.iter().enumerate().filter(|&(number, _)| parts[number] as usize == largest)
            {
                numbers[number] = kept.len() as u32;
                kept.push(*node);
                names.number(self.names.name(number as u32));
            }
            (self.nodes, self.names) = (kept, names);
            self.demands.retain_mut(|demand| {
                demand.ends = demand.ends.map(|end| numbers[end as usize]);
                !demand.ends.contains(&u32::MAX)
            });
            self.edges.retain_mut(|edge| {
                edge.ends = edge.ends.map(|end| numbers[end as usize]);
                edge.ends[0] != u32::MAX
            });
            self.reading.note(format!(
                "the largest of {count} parts: {} of {nodes} nodes, {} of {edges} links",
                self.nodes.len(),
                self.edges.len()
            ));
            return Ok(());
        }
        let smallest = (0..count).fold(0, |best, part| if sizes[part] < sizes[best] { part } else { best });
        let members = (0..self.nodes.len()).filter(|&node| parts[node] as usize == smallest);
        let names: Vec<String> = members.clone().take(4).map(|node| format!("`{}`", short(self.name(node)))).collect();
        let more = if sizes[smallest] > names.len() { ", ..." } else { "" };
        let apart = parts.iter().position(|&part| part != parts[0]).unwrap_or(0);
        let what = format!(
            "the network does not hang together: no links lead from `{}` to `{}`; it has {count} parts, the smallest of {}: {}{more}",
            short(self.name(0)),
            short(self.name(apart)),
            counted(sizes[smallest], "node", "nodes"),
            names.join(", ")
        );
        let remedy =
            "add links until every node can be reached from every other, or keep the largest part: part=largest";
        Err(self.refusal(self.node_at(apart), what, remedy))
    }

    /// Pairs of edges that make a link, in the order of the first of them: of parallel edges, the first of each
    /// direction belong together.
    fn links(&self) -> Result<Vec<FullLink>, SpecError> {
        let count = |edge: &OneEdge| self.sets.count(edge.set) as usize;
        let closing = self.closing();
        let mut links: Vec<FullLink> = Vec::new();
        // By directed edge: its first link.
        let mut first = vec![0u32; if closing.is_empty() { 0 } else { self.edges.len() }];
        for (order, edge) in self.edges.iter().enumerate() {
            let count = count(edge);
            if links.len() + count > MAX_LINKS {
                let what = format!("more than {MAX_LINKS} links");
                return Err(refusal(self.places, edge.at(), ErrorKind::TooLarge, what, "use a smaller count"));
            }
            let back = if edge.is_directed() { u32::MAX } else { order as u32 };
            if let Some(first) = first.get_mut(order) {
                *first = links.len() as u32;
            }
            let new = count - closing.get(order).map_or(0, |&closing| closing as usize);
            links.extend(std::iter::repeat_n(FullLink { edges: [order as u32, back] }, new));
        }
        // In each group of edges between two nodes, the edges that close links do so in their order.
        for group in self.grouped().chunk_by(|&one, &other| self.pair(one) == self.pair(other)) {
            let opens = |&edge: &u32| {
                let own = &self.edges[edge as usize];
                let first = first[edge as usize];
                first..first + (count(own) as u32 - closing[edge as usize])
            };
            let closes = group.iter().flat_map(|&edge| std::iter::repeat_n(edge, closing[edge as usize] as usize));
            for (link, edge) in group.iter().flat_map(opens).zip(closes) {
                links[link as usize].edges[1] = edge;
            }
        }
        let Some(alone) = links.iter().find(|link| link.edges[1] == u32::MAX) else { return Ok(links) };
        let edge = &self.edges[alone.edges[0] as usize];
        let [from, to] = edge.ends.map(|node| short(self.name(node as usize)));
        let what = format!("no edge leads back from `{to}` to `{from}`");
        let remedy =
            "write one edge for each direction of a link, or take each edge for a link both ways: directed=false";
        Err(self.refusal(edge.at(), what, remedy))
    }

    /// The nodes at both ends of an edge, in order.
    fn pair(&self, edge: u32) -> (u32, u32) {
        let [one, other] = self.edges[edge as usize].ends;
        (one.min(other), one.max(other))
    }

    /// Edges with a direction, those between the same nodes beside each other in their order.
    fn grouped(&self) -> Vec<u32> {
        let mut directed: Vec<u32> = Vec::new();
        directed.extend((0u32..).zip(&self.edges).filter(|(_, edge)| edge.is_directed()).map(|(order, _)| order));
        directed.sort_unstable_by_key(|&edge| (self.pair(edge), edge));
        directed
    }

    /// By edge: how many of its parallel links have been opened by edges before it, in the other direction. Empty if no
    /// edge has a direction.
    fn closing(&self) -> Vec<u32> {
        let grouped = self.grouped();
        let mut closing = vec![0; if grouped.is_empty() { 0 } else { self.edges.len() }];
        for group in grouped.chunk_by(|&one, &other| self.pair(one) == self.pair(other)) {
            // Links that wait for their other direction, all of the same one.
            let (mut waiting, mut from) = (0, 0);
            for &edge in group {
                let OneEdge { ends, set, .. } = self.edges[edge as usize];
                let count = self.sets.count(set);
                if waiting == 0 || from == ends[0] {
                    (waiting, from) = (waiting + count, ends[0]);
                } else {
                    closing[edge as usize] = count.min(waiting);
                    from = if count > waiting { ends[0] } else { from };
                    waiting = count.abs_diff(waiting);
                }
            }
        }
        closing
    }

    /// The nodes at the ends of a link.
    fn ends(&self, link: &FullLink) -> [u32; 2] {
        self.edges[link.edges[0] as usize].ends
    }

    /// By direction of a link: its attributes.
    fn sets_of(&self, link: &FullLink) -> [u32; 2] {
        link.edges.map(|edge| self.edges[edge as usize].set)
    }

    /// The network. `endpoints` is the number of endpoints of a switch that says nothing of its own, where the
    /// specification gives it.
    pub(super) fn build(mut self, spec: String) -> Result<Switched, SpecError> {
        let endpoints = self.reading.options.endpoints;
        if self.nodes.is_empty() {
            let what =
                format!("`{spec}` has no switches and no hosts that links could join: nothing could hang together");
            return Err(SpecError::new(ErrorKind::Malformed, what, "write a line `A B` for each link"));
        }
        self.directions();
        self.parts()?;
        let mut full = self.links()?;
        self.check(&full)?;
        let (of_file, cables, positions) = (self.nodes.len(), full.len(), self.edges.len());
        self.check_attributes(&full)?;
        self.add_nics(&mut full)?;
        let hosts = (0..self.nodes.len()).filter(|&node| self.is_host(node)).count();
        let switches = self.nodes.len() - hosts;
        if switches > MAX_SWITCHES {
            let what = format!("`{spec}` has {switches} switches");
            return Err(SpecError::new(ErrorKind::TooLarge, what, format!("use at most {MAX_SWITCHES}")));
        }
        let usual = endpoints.unwrap_or(u32::from(hosts == 0));
        let mut own = self.endpoints(usual)?;
        let says = |node: usize| self.is_host(node) || self.said(node).endpoints.is_some();
        if (0..self.nodes.len()).all(says) {
            match endpoints {
                // The format says of each node that it is no host.
                Some(each) if own.iter().all(|&count| count == 0) => own.fill(each),
                Some(each) => {
                    let what =
                        format!("`endpoints={each}` of `{spec}` has no effect: the file says it of every switch");
                    return Err(SpecError::new(ErrorKind::Meaningless, what, "leave it out"));
                }
                None if own.iter().all(|&count| count == 0) => {
                    let what = format!("`{spec}` has no host, and its switches have no endpoints");
                    return Err(SpecError::new(ErrorKind::Malformed, what, "endpoints=1 gives each switch one"));
                }
                None => {}
            }
        }
        let count: u64 = own.iter().map(|&count| u64::from(count)).sum();
        let nodes = check_nodes(&spec, Some(count + switches as u64))?;
        let count = count as u32;
        // By node of the description: its number. By endpoint of a switch: that switch.
        let (mut numbers, mut homes, mut names) = (Vec::new(), Vec::new(), vec![String::new(); nodes]);
        let (mut endpoint, mut switch) = (0, count);
        for (node, &own) in own.iter().enumerate() {
            let number = if self.is_host(node) { endpoint } else { switch };
            if !self.is_host(node) {
                homes.extend((endpoint..endpoint + own).map(|endpoint| (endpoint, switch)));
                switch += 1;
            }
            endpoint += own;
            numbers.push(number);
            names[number as usize] = self.name(node).to_owned();
        }
        let (demands, to_themselves) = self.traffic(&numbers, &own)?;
        let mut places = vec![0u32; nodes];
        let mut next = |node: u32| {
            places[node as usize] += 1;
            (node, places[node as usize] - 1)
        };
        let mut links: Vec<Link> =
            homes.iter().map(|&(endpoint, switch)| Link::new([next(endpoint), next(switch)])).collect();
        links.extend(full.iter().map(|link| Link::new(self.ends(link).map(|node| next(numbers[node as usize])))));
        let network = Switched::new(spec, count as usize, nodes, &links, None, Unplanned)?;
        let described = self.described(&network.fabric, &full, &links[homes.len()..], &numbers, positions as u32)?;
        let mut nics = vec![false; nodes];
        (0..self.nodes.len()).for_each(|node| nics[numbers[node] as usize] = self.is_nic(node));
        let mut network =
            Switched { names, links: Some(Arc::new(described)), ..network }.with_nics(|node| nics[node.index()]);
        if let Some(apart) = network.fabric.nics().apart() {
            let [one, other] = apart.map(|nic| self.host_of(&full, &numbers, nic + count));
            self.reading.note(format!(
                "hosts forward packets of others: some reach each other in no other way, such as `{one}` and `{other}`"
            ));
        }
        let dead = full.iter().zip(&links[homes.len()..]).filter(|(link, _)| self.sets.is_dead(self.sets_of(link)[0]));
        let dead: Vec<_> = dead
            .map(|(_, link)| {
                link.ends.map(|(node, place)| (NodeId(node), network.fabric.port(NodeId(node), place as usize)))
            })
            .collect();
        let understood = self.understood(of_file, cables, positions, (demands, to_themselves), &numbers, &own);
        if !dead.is_empty() {
            network = network.without(&dead)?;
        }
        network.platform = self.platform.take();
        let named = self.names_of_endpoints(&numbers, &own, understood.numbers.clone());
        network.geometry = network.geometry.with_names(named);
        network.understood = Some(Arc::new(understood));
        Ok(network)
    }

    /// The name of the host behind an interface, or of a switch, by its number in the network.
    fn host_of(&self, links: &[FullLink], numbers: &[u32], number: u32) -> String {
        let node = numbers.iter().position(|&own| own == number).unwrap_or(0);
        let mut ends = links.iter().map(|link| self.ends(link)).filter(|ends| ends.contains(&(node as u32))).flatten();
        let host = ends.find(|&end| self.is_nic(node) && self.is_host(end as usize));
        short(self.name(host.map_or(node, |host| host as usize)))
    }

    /// The names by which traffic and placements know endpoints: those of hosts, and of switches with one endpoint.
    fn names_of_endpoints(&self, numbers: &[u32], own: &[u32], listed: Option<Vec<Option<u32>>>) -> NodeNames {
        let (mut endpoints, mut endpoint) = (HashMap::new(), 0);
        for (node, &count) in own.iter().enumerate() {
            let number = if self.is_host(node) { numbers[node] } else { endpoint };
            if count == 1 {
                endpoints.insert(self.name(node).to_owned(), NodeId(number));
            }
            endpoint += count;
        }
        NodeNames { endpoints, numbers: listed }
    }

    /// What has been understood. `numbers` are those of nodes in the network, `own` the endpoints of each, `edges` the
    /// number of those in the file.
    fn understood(
        &self,
        of_file: usize,
        links: usize,
        edges: usize,
        (demands, to_themselves): (Option<Demands>, usize),
        numbers: &[u32],
        own: &[u32],
    ) -> Understood {
        let hosts = (0..of_file).filter(|&node| self.is_host(node)).count();
        let stated = (0..of_file).any(|node| self.said(node).kind.is_some());
        let silent = (0..of_file).filter(|&node| own[node] == 0 && !self.is_nic(node)).count();
        let why = match (self.reading.format.names, hosts) {
            (Names::Stated, _) => "as the format says",
            (Names::Labels, 0) => "none is called so by an attribute: each node is a switch with its endpoints",
            (_, 0) => "none begins with H: each node is a switch with its endpoints",
            (Names::Labels, _) => "kind or type of a node",
            (Names::Letter, _) if stated => "names that begin with H, and kind",
            (Names::Letter, _) => "names that begin with H",
        };
        if self.reading.format.names == Names::Letter && hosts > 0 && !stated && silent > 0 {
            self.reading.note(format!(
                "names that begin with H are hosts, and {} no endpoint: say `NAME endpoints 1` or kind=switch if that is not meant",
                counted(silent, "switch has", "switches have")
            ));
        }
        let rated = self.edges[..edges].iter().filter(|edge| self.sets.rate(edge.set).is_some()).count();
        if rated > 0 && rated < edges {
            self.reading.note(format!("{rated} of {edges} edges have a rate, and the others that of the settings"));
        }
        if to_themselves > 0 {
            let what = counted(to_themselves, "demand of a node to itself is", "demands of nodes to themselves are");
            self.reading.note(format!("{what} left out"));
        }
        let noted = self.reading.noted();
        let mut numbered = None;
        if self.is_numbered {
            let mut endpoints = vec![None; of_file];
            for (node, &number_here) in numbers.iter().enumerate().take(self.nodes.len()) {
                if let (Ok(number), true) = (self.name(node).parse::<usize>(), self.is_host(node))
                    && let Some(place) = endpoints.get_mut(number)
                {
                    *place = Some(number_here);
                }
            }
            numbered = Some(endpoints);
        }
        Understood {
            format: self.reading.format.called,
            hosts: format!("{hosts}: {why}"),
            switches: of_file - hosts - (0..of_file).filter(|&node| self.is_nic(node)).count(),
            links,
            units: noted.units,
            decoration: noted.decoration,
            notes: noted.notes,
            options: noted.choices,
            demands,
            numbers: numbered,
        }
    }

    /// The traffic of the graph, by endpoints; that of a node without an endpoint is refused. And how many
    /// demands are of nodes to themselves.
    fn traffic(&self, numbers: &[u32], own: &[u32]) -> Result<(Option<Demands>, usize), SpecError> {
        if self.demands.is_empty() {
            return Ok((None, 0));
        }
        // The first endpoint of a switch.
        let mut first = vec![None; self.nodes.len()];
        let mut endpoint = 0;
        for (node, &count) in own.iter().enumerate() {
            first[node] = (count > 0).then_some(if self.is_host(node) { numbers[node] } else { endpoint });
            endpoint += count;
        }
        let mut pairs: BTreeMap<(u32, u32), f64> = BTreeMap::new();
        let mut to_itself = 0;
        for &Demand { ends, at, value } in &self.demands {
            let [Some(from), Some(to)] = ends.map(|node| first[node as usize]) else {
                let [source, destination] = ends.map(|node| short(self.name(node as usize)));
                let what = format!("a demand from `{source}` to `{destination}`, of which one has no endpoint");
                let remedy = "give every switch an endpoint: endpoints=1";
                return Err(refusal(self.places, at as usize, ErrorKind::Conflict, what, remedy));
            };
            if from == to {
                to_itself += 1;
                continue;
            }
            *pairs.entry((from, to)).or_default() += value;
        }
        let pairs = pairs.into_iter().map(|((from, to), value)| (from, to, value)).collect();
        Ok((Some(Demands { count: self.demands.len(), pairs, unit: self.demand_unit }), to_itself))
    }

    /// \[endpoints\] By node: its endpoints; a host is one.
    fn endpoints(&self, usual: u32) -> Result<Vec<u32>, SpecError> {
        let of = |node: usize| match (self.is_host(node), self.nodes[node].own.endpoints) {
            (true, None) => Ok(1),
            (true, Some((_, at))) => {
                let what = format!("host `{}` is given endpoints", short(self.name(node)));
                let remedy = "leave them out, or say kind=switch: a node whose name begins with H is a host";
                Err(refusal(self.places, at as usize, ErrorKind::Meaningless, what, remedy))
            }
            (false, _) => match self.said(node).endpoints {
                Some((count, at)) if count as usize >= MAX_NODES => {
                    let what = format!("{count} endpoints of switch `{}` are out of range", short(self.name(node)));
                    let remedy = format!("use 0 to {}", MAX_NODES - 1);
                    Err(refusal(self.places, at as usize, ErrorKind::OutOfRange, what, remedy))
                }
                given => Ok(given.map_or(usual, |(count, _)| count)),
            },
        };
        (0..self.nodes.len()).map(of).collect()
    }

    /// Gives each host with several links, or with one to another host, a network interface, from which they lead. The
    /// link between both has the rate of all of them, if they have rates, and no delay.
    fn add_nics(&mut self, links: &mut Vec<FullLink>) -> Result<(), SpecError> {
        // Hosts that are linked to each other have interfaces too: a link leads from one to the other.
        let mut to_hosts = BTreeSet::new();
        let mut degrees = vec![0u32; self.nodes.len()];
        for ends in links.iter().map(|link| self.ends(link)) {
            let hosts = ends.map(|node| self.is_host(node as usize));
            if hosts == [true; 2] {
                to_hosts.extend(ends);
            }
            ends.into_iter().zip(hosts).filter(|&(_, is)| is).for_each(|(node, _)| degrees[node as usize] += 1);
        }
        let mut own: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (number, link) in links.iter().enumerate() {
            for host in self.ends(link) {
                if degrees[host as usize] > 1 || to_hosts.contains(&host) {
                    own.entry(host).or_default().push(number);
                }
            }
        }
        for (host, own) in own {
            let (name, at) = (self.name(host as usize).to_owned(), self.node_at(host as usize));
            let nic = self.nodes.len() as u32;
            let free = std::iter::once(format!("{name}.nic")).chain((2..).map(|number| format!("{name}.nic{number}")));
            let called = free.into_iter().find(|name| self.names.get(name).is_none()).unwrap_or_default();
            self.names.number(&called);
            let is = OfNode { kind: Some((Kind::Nic, at as u32)), endpoints: Some((0, at as u32)) };
            self.nodes.push(Node { at: at as u32, own: is, usual: 0 });
            let mut edges = [0; 2];
            for (direction, edge) in edges.iter_mut().enumerate() {
                let given = own.iter().map(|&number| {
                    let leaves = usize::from(self.ends(&links[number])[0] != host);
                    self.sets.rate(self.sets_of(&links[number])[leaves ^ direction])
                });
                let rates: Vec<_> = given.flatten().collect();
                if !rates.is_empty() && rates.len() < own.len() {
                    let what = format!("some links of host `{}` have a rate, and others none", short(&name));
                    return Err(self.refusal(
                        at,
                        what,
                        "give all of them a rate, or none: they are those of its interface",
                    ));
                }
                let sum = rates.iter().fold(0, |sum: u64, (rate, _)| sum.saturating_add(*rate));
                let set = self.sets.of_nic(rates.first().map(|&(_, first)| (sum, first)), at);
                *edge = self.edges.len() as u32;
                let ends = if direction == 0 { [host, nic] } else { [nic, host] };
                self.edges.push(OneEdge::new(ends, false, set, at));
            }
            for number in own {
                for edge in links[number].edges {
                    let ends = &mut self.edges[edge as usize].ends;
                    ends.iter_mut().filter(|end| **end == host).for_each(|end| *end = nic);
                }
            }
            links.push(FullLink { edges });
        }
        Ok(())
    }

    /// Checks that both directions of links are dead or alive, and that a host alone has a link.
    fn check(&self, links: &[FullLink]) -> Result<(), SpecError> {
        for link in links {
            let [one, other] = self.ends(link).map(|node| node as usize);
            let name = |node: usize| short(self.name(node));
            // A kind that follows from the letter alone is a guess: the name may be that of a town.
            let is_guessed = |node: usize| self.said(node).kind.is_none();
            let names = self.reading.format.names;
            if names == Names::Letter && [one, other].into_iter().all(|node| self.is_host(node) && is_guessed(node)) {
                let what = format!("hosts `{}` and `{}` are linked", name(one), name(other));
                let remedy =
                    "say kind=switch, for a node whose name begins with H is a host; or kind=host, if hosts are linked";
                return Err(self.refusal(self.node_at(other), what, remedy));
            }
            let sets = self.sets_of(link);
            if self.sets.is_dead(sets[0]) != self.sets.is_dead(sets[1]) {
                let at = sets.iter().find_map(|&set| self.sets.places(set)[2]).unwrap_or(0);
                let what = format!("the link of `{}` and `{}` is dead one way only", name(one), name(other));
                return Err(refusal(self.places, at, ErrorKind::Unsupported, what, "say dead=true of both directions"));
            }
        }
        if links.is_empty() && self.is_host(0) {
            let what = format!("host `{}` has no link", short(self.name(0)));
            return Err(self.refusal(self.node_at(0), what, "link it to a switch"));
        }
        Ok(())
    }

    /// Checks what links say of routes, before the network takes memory.
    fn check_attributes(&self, links: &[FullLink]) -> Result<(), SpecError> {
        let mut checked = 0;
        for (link, direction) in links.iter().flat_map(|link| [(link, 0), (link, 1)]) {
            let set = self.sets_of(link)[direction];
            if set != checked {
                self.routes(set, link.edges[0] == link.edges[1], &[])?;
                checked = set;
            }
        }
        Ok(())
    }

    /// What the description says of its links, in so many positions.
    fn described(
        &self,
        fabric: &Fabric,
        full: &[FullLink],
        links: &[Link],
        numbers: &[u32],
        positions: u32,
    ) -> Result<Links, SpecError> {
        // Only the sets that links have, in the order of the description.
        let mut kept: HashMap<u32, u32> = HashMap::new();
        let (mut sets, mut given) = (Vec::new(), BTreeMap::new());
        for (link, direction) in full.iter().flat_map(|link| [(link, 0), (link, 1)]) {
            let number = self.sets_of(link)[direction];
            if let Entry::Vacant(vacant) = kept.entry(number) {
                let place = |at: Option<usize>| at.map_or_else(Default::default, |at| self.places.of(at));
                let [rate_at, delay_at, _] = self.sets.places(number).map(place);
                let routes = self.routes(number, link.edges[0] == link.edges[1], numbers)?;
                vacant.insert(sets.len() as u32);
                sets.push(Set { attributes: self.sets.attributes(number), rate_at, delay_at, routes });
            }
            let has_routes = sets[kept[&number] as usize].routes.is_some();
            // Everything leaves a host through its only link.
            let is_routed = has_routes && !self.is_host(self.ends(link)[direction] as usize);
            for (attribute, key, value, at) in self.sets.given(number) {
                if attribute != Attribute::Routes || is_routed {
                    given.entry(at).or_insert_with(|| Given {
                        attribute,
                        key: short(key),
                        value: short(value),
                        place: self.places.of(at),
                        is_demanded: self.reading.format.has_times,
                    });
                }
            }
        }
        let mut described = Links::new(fabric, sets, given.into_values().collect());
        described.set_positions(positions);
        for (full, link) in full.iter().zip(links) {
            let sets = self.sets_of(full);
            for direction in 0..2 {
                let (node, place) = link.ends[direction];
                let port = fabric.port(NodeId(node), place as usize);
                described.set(node, port, kept[&sets[direction]], full.edges[direction]);
            }
        }
        Ok(described)
    }

    /// The destinations of a static route. A `comment` that names no host is a remark, and none at all. Without
    /// `numbers` of the nodes in the network, it is checked alone.
    fn routes(&self, set: u32, is_both_ways: bool, numbers: &[u32]) -> Result<Option<Routes>, SpecError> {
        let Some((key, value, at)) = self.sets.routes(set) else { return Ok(None) };
        let words =
            || value.split(|letter: char| letter == ',' || letter.is_whitespace()).filter(|word| !word.is_empty());
        let host = |word: &str| self.names.get(word).filter(|&node| self.is_host(node as usize));
        if key.eq_ignore_ascii_case("comment") {
            let is_route = |word: &str| word == "*" || host(word).is_some() || word.starts_with('H');
            if !words().any(is_route) || (is_both_ways && !words().all(is_route)) {
                return Ok(None);
            }
        }
        if is_both_ways {
            let what = format!("{}={} of an edge both ways", short(key), short(value));
            let remedy = "a route has a direction: write an edge for each, `a -> b` and `b -> a` of a digraph";
            return Err(refusal(self.places, at, ErrorKind::Conflict, what, remedy));
        }
        if words().any(|word| word == "*") {
            return Ok(Some(Routes::All));
        }
        let mut only = Vec::new();
        for word in words() {
            match host(word) {
                Some(node) => only.extend(numbers.get(node as usize)),
                None => {
                    let what = format!("{} of an edge names `{}`, which is no host", short(key), short(word));
                    let remedy = "name hosts of the graph, or write `*`";
                    return Err(refusal(self.places, at, ErrorKind::UnknownName, what, remedy));
                }
            }
        }
        Ok((!only.is_empty()).then_some(Routes::Only(only)))
    }
}

/// By node: the number of its part, in the order of their first nodes.
fn parts(nodes: usize, links: impl Iterator<Item = [u32; 2]>) -> Vec<u32> {
    let mut parents: Vec<u32> = (0..nodes as u32).collect();
    let root = |parents: &mut Vec<u32>, node: u32| {
        let mut here = node;
        while parents[here as usize] != here {
            parents[here as usize] = parents[parents[here as usize] as usize];
            here = parents[here as usize];
        }
        here
    };
    for [one, other] in links {
        let (one, other) = (root(&mut parents, one), root(&mut parents, other));
        parents[one.max(other) as usize] = one.min(other);
    }
    let (mut numbers, mut count) = (vec![u32::MAX; nodes], 0);
    let mut of = Vec::with_capacity(nodes);
    for node in 0..nodes as u32 {
        let root = root(&mut parents, node) as usize;
        if numbers[root] == u32::MAX {
            numbers[root] = count;
            count += 1;
        }
        of.push(numbers[root]);
    }
    of
}

/// The first node that is unreachable from node 0, if there is one.
pub(in super::super) fn unreached(nodes: usize, links: &[(u32, u32)]) -> Option<usize> {
    let mut linked = vec![Vec::new(); nodes];
    for &(a, b) in links {
        linked[a as usize].push(b);
        linked[b as usize].push(a);
    }
    let mut seen = vec![false; nodes];
    let mut reached = vec![0u32];
    while let Some(here) = reached.pop() {
        if seen.get_mut(here as usize).is_some_and(|seen| !std::mem::replace(seen, true)) {
            reached.extend(&linked[here as usize]);
        }
    }
    seen.iter().position(|seen| !seen)
}
