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
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use trgen::NodeId;
use trgen::catalog::{ErrorKind, SpecError};
use trgen::geometry::NodeNames;

use super::super::links::{Attribute, Delay, Given, Links, Routes, Set};
use super::super::{Fabric, Link, MAX_NODES, Switched, check_nodes};
use super::attribute::{self, refusal, short};
use super::format::Names;
use super::given::{Direction, Kind, OfEdge, OfNode, Written};
use super::reading::Reading;
use super::statement::{Edge, End, Graph, Item, Places, Statement, Word};
use super::understood::{Demands, Understood};
use super::{MAX_SWITCHES, Unplanned};
use crate::words::counted;

/// Maximum number of links: more than any valid network has.
pub const MAX_LINKS: usize = 1 << 20;

/// What a description says of a node.
#[derive(Clone, Debug)]
struct Node {
    name: String,
    /// \[bytes\] Offset of its first appearance.
    at: usize,
    own: OfNode,
    /// The defaults at its first appearance.
    usual: OfNode,
}

/// An edge between two nodes.
#[derive(Clone, Copy, Debug)]
struct OneEdge {
    /// By end: its node.
    ends: [u32; 2],
    is_directed: bool,
    /// The attributes that the edge sets itself, and those together with the defaults: indices into
    /// [`Description::sets`].
    own: u32,
    all: u32,
    /// \[bytes\] Offset of the edge.
    at: u32,
}

/// A link: for each direction its attributes and the position of its edge.
#[derive(Clone, Copy, Debug)]
struct FullLink {
    ends: [u32; 2],
    sets: [u32; 2],
    order: [u32; 2],
    /// True if it was written as one edge both ways.
    is_both_ways: bool,
    /// \[bytes\] Offset of its first edge.
    at: u32,
}

/// The nodes and edges of a description.
pub(super) struct Description<'a> {
    reading: &'a Reading<'a>,
    places: &'a Places<'a>,
    nodes: Vec<Node>,
    known: HashMap<String, u32>,
    edges: Vec<OneEdge>,
    /// Attributes of edges, those of many in common; the first set is empty.
    sets: Vec<OfEdge>,
    /// In a strict graph: the edge between two nodes.
    single: Option<HashMap<(u32, u32), usize>>,
}

/// The defaults that hold for a statement.
#[derive(Clone, Default)]
struct Defaults {
    node: OfNode,
    /// Index into [`Description::sets`].
    edge: u32,
}

impl<'a> Description<'a> {
    /// Reads the statements of a graph.
    pub(super) fn read(graph: &Graph<'_>, reading: &'a Reading<'a>) -> Result<Self, SpecError> {
        let mut new = Self {
            reading,
            places: &reading.places,
            nodes: Vec::new(),
            known: HashMap::new(),
            edges: Vec::new(),
            sets: vec![OfEdge::default()],
            single: graph.is_strict.then(HashMap::new),
        };
        new.statements(&graph.statements, Defaults::default())?;
        Ok(new)
    }

    fn refusal(&self, at: usize, what: impl std::fmt::Display, remedy: &str) -> SpecError {
        refusal(self.places, at, ErrorKind::Malformed, what, remedy)
    }

    /// Reads statements. `defaults` holds until they change it.
    fn statements(&mut self, list: &[Statement<'_>], mut defaults: Defaults) -> Result<(), SpecError> {
        for statement in list {
            match statement {
                Statement::Node(name, attributes) => {
                    let node = self.node(name, &defaults) as usize;
                    let mut own = OfNode::default();
                    own.read(self.reading, attributes)?;
                    let node = &mut self.nodes[node];
                    if let (Some((before, at)), Some((now, again))) = (node.own.endpoints, own.endpoints)
                        && before != now
                    {
                        let what =
                            format!("the endpoints of `{}` stand in {} already", short(&node.name), self.places.of(at));
                        return Err(refusal(self.places, again, ErrorKind::Conflict, what, "give them once"));
                    }
                    node.own = own.or(node.own);
                }
                Statement::Edge(edge) => self.edge(edge, &defaults)?,
                Statement::Defaults(Item::Node, list) => {
                    let mut own = OfNode::default();
                    own.read(self.reading, list)?;
                    defaults.node = own.or(defaults.node);
                }
                Statement::Defaults(Item::Edge, list) => {
                    let own = OfEdge::read(self.reading, list)?.or(&self.sets[defaults.edge as usize]);
                    defaults.edge = self.set(own);
                }
                // A graph or subgraph has no attribute that concerns the network.
                Statement::Defaults(Item::Graph, list) => {
                    for (key, value) in list {
                        attribute::property(self.reading, Item::Graph, key, value)?;
                    }
                }
                Statement::Subgraph(list) => self.statements(list, defaults.clone())?,
            }
        }
        Ok(())
    }

    /// Reads an edge, which joins each of its ends with the next one.
    fn edge(&mut self, edge: &Edge<'_>, defaults: &Defaults) -> Result<(), SpecError> {
        let own = OfEdge::read(self.reading, &edge.attributes)?;
        let (first, second) = match (own.is_empty(), defaults.edge) {
            // What routes mean depends on the edge.
            (true, usual) if self.sets[usual as usize].routes.is_some() => {
                let all = self.sets[usual as usize].clone();
                (0, self.set(all))
            }
            (true, usual) => (0, usual),
            (false, 0) => {
                let own = self.set(own);
                (own, own)
            }
            (false, usual) => {
                let all = own.clone().or(&self.sets[usual as usize]);
                (self.set(own), self.set(all))
            }
        };
        let direction = self.sets[second as usize].direction.as_ref().map(|given| given.value);
        let mut from: Vec<u32> = Vec::new();
        for end in &edge.ends {
            let to = self.end(end, defaults)?;
            let at = end_at(end) as u32;
            if self.edges.len() + from.len() * to.len() > MAX_LINKS {
                let what = format!("more than {MAX_LINKS} links");
                let remedy = "use fewer links, or smaller groups";
                return Err(refusal(self.places, at as usize, ErrorKind::TooLarge, what, remedy));
            }
            for &one in &from {
                for &other in &to {
                    let (is_directed, ends) = match direction {
                        None => (edge.is_directed, [one, other]),
                        Some(Direction::Both) => (false, [one, other]),
                        Some(Direction::Forward) => (true, [one, other]),
                        Some(Direction::Back) => (true, [other, one]),
                    };
                    self.add(OneEdge { ends, is_directed, own: first, all: second, at });
                }
            }
            from = to;
        }
        Ok(())
    }

    /// Keeps a set of attributes; its index.
    fn set(&mut self, set: OfEdge) -> u32 {
        self.sets.push(set);
        self.sets.len() as u32 - 1
    }

    /// Adds an edge. In a strict graph, a repeated edge changes only the attributes that it sets.
    fn add(&mut self, new: OneEdge) {
        if let Some(single) = &mut self.single {
            let [one, other] = new.ends;
            let key = if new.is_directed { (one, other) } else { (one.min(other), one.max(other)) };
            if let Some(&at) = single.get(&key) {
                let merged = self.sets[new.own as usize].clone().or(&self.sets[self.edges[at].all as usize]);
                self.edges[at].all = self.sets.len() as u32;
                self.sets.push(merged);
                return;
            }
            single.insert(key, self.edges.len());
        }
        self.edges.push(new);
    }

    /// The number of a node; its first occurrence defines it.
    fn node(&mut self, name: &Word<'_>, defaults: &Defaults) -> u32 {
        if let Some(&number) = self.known.get(&*name.text) {
            return number;
        }
        let number = self.nodes.len() as u32;
        self.known.insert(name.text.to_string(), number);
        let own = OfNode::default();
        self.nodes.push(Node { name: name.text.to_string(), at: name.at, own, usual: defaults.node });
        number
    }

    /// The nodes at one end of an edge: one, or all of a subgraph, each once.
    fn end(&mut self, end: &End<'_>, defaults: &Defaults) -> Result<Vec<u32>, SpecError> {
        match end {
            End::Subgraph(list) => self.statements(list, defaults.clone())?,
            End::Node(name) => {
                self.node(name, defaults);
            }
        }
        let mut members = Vec::new();
        self.members_of_end(end, &mut members);
        members.sort_unstable();
        members.dedup();
        Ok(members)
    }

    /// Adds to `into` the nodes that statements name. The statements have been read before.
    fn members(&self, list: &[Statement<'_>], into: &mut Vec<u32>) {
        for statement in list {
            match statement {
                Statement::Node(name, _) => into.extend(self.known.get(&*name.text)),
                Statement::Edge(edge) => edge.ends.iter().for_each(|end| self.members_of_end(end, into)),
                Statement::Subgraph(list) => self.members(list, into),
                Statement::Defaults(..) => {}
            }
        }
    }

    /// Adds to `into` the nodes at one end of an edge.
    fn members_of_end(&self, end: &End<'_>, into: &mut Vec<u32>) {
        match end {
            End::Node(name) => into.extend(self.known.get(&*name.text)),
            End::Subgraph(list) => self.members(list, into),
        }
    }

    /// True for a host.
    fn is_host(&self, node: usize) -> bool {
        let Node { name, own, usual, .. } = &self.nodes[node];
        let is_called_so = || self.reading.format.names == Names::Letter && name.starts_with('H');
        own.or(*usual).kind.map_or_else(is_called_so, |(kind, _)| kind == Kind::Host)
    }

    /// True for a network interface.
    fn is_nic(&self, node: usize) -> bool {
        let Node { own, usual, .. } = &self.nodes[node];
        own.or(*usual).kind.is_some_and(|(kind, _)| kind == Kind::Nic)
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
            self.edges.iter_mut().for_each(|edge| edge.is_directed = is_directed);
            return;
        }
        // An arrow of DOT or of a list of links was written by hand, or by this program.
        if self.reading.format.names != Names::Labels {
            return;
        }
        let directed = |edge: &&OneEdge| edge.is_directed;
        let there: HashSet<[u32; 2]> = self.edges.iter().filter(directed).map(|edge| edge.ends).collect();
        let leads_back = there.iter().any(|&[from, to]| there.contains(&[to, from]));
        if !there.is_empty() && !leads_back && self.edges.iter().all(|edge| edge.is_directed) {
            self.edges.iter_mut().for_each(|edge| edge.is_directed = false);
            self.reading
                .note("the graph is directed, and no edge leads back: each is taken for a link both ways".to_owned());
            self.reading.option("directed=true: an edge is one direction of a link, and needs one that leads back");
        }
    }

    /// Leaves out the nodes that are not in the largest part, or refuses a network of several.
    fn parts(&mut self) -> Result<(), SpecError> {
        let plain: Vec<(u32, u32)> = self.edges.iter().map(|edge| (edge.ends[0], edge.ends[1])).collect();
        let parts = parts(self.nodes.len(), &plain);
        let count = parts.iter().map(|&part| part + 1).max().unwrap_or(0);
        if count <= 1 {
            return Ok(());
        }
        let mut sizes = vec![0usize; count];
        parts.iter().for_each(|&part| sizes[part] += 1);
        if self.reading.options.largest {
            // The first one of equal size.
            let largest = (0..count).fold(0, |best, part| if sizes[part] > sizes[best] { part } else { best });
            let (nodes, edges) = (self.nodes.len(), self.edges.len());
            let mut numbers = vec![u32::MAX; nodes];
            let mut kept = Vec::with_capacity(sizes[largest]);
            for (number, node) in std::mem::take(&mut self.nodes).into_iter().enumerate() {
                if parts[number] == largest {
                    numbers[number] = kept.len() as u32;
                    kept.push(node);
                }
            }
            self.nodes = kept;
            self.known.retain(|_, number| {
                *number = numbers[*number as usize];
                *number != u32::MAX
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
        let members = (0..self.nodes.len()).filter(|&node| parts[node] == smallest);
        let names: Vec<String> =
            members.clone().take(4).map(|node| format!("`{}`", short(&self.nodes[node].name))).collect();
        let more = if sizes[smallest] > names.len() { ", ..." } else { "" };
        let apart = parts.iter().position(|&part| part != parts[0]).unwrap_or(0);
        let what = format!(
            "the network does not hang together: no links lead from `{}` to `{}`; it has {count} parts, the smallest of {}: {}{more}",
            short(&self.nodes[0].name),
            short(&self.nodes[apart].name),
            counted(sizes[smallest], "node", "nodes"),
            names.join(", ")
        );
        let remedy =
            "add links until every node can be reached from every other, or keep the largest part: part=largest";
        Err(self.refusal(self.nodes[apart].at, what, remedy))
    }

    /// Pairs of edges that make a link, in the order of the first of them.
    fn links(&self) -> Result<Vec<FullLink>, SpecError> {
        let mut open: HashMap<(u32, u32), VecDeque<usize>> = HashMap::new();
        let mut links: Vec<FullLink> = Vec::new();
        for (order, edge) in (0u32..).zip(&self.edges) {
            let [from, to] = edge.ends;
            let count = self.sets[edge.all as usize].count();
            if links.len() + count as usize > MAX_LINKS {
                let what = format!("more than {MAX_LINKS} links");
                return Err(refusal(self.places, edge.at as usize, ErrorKind::TooLarge, what, "use a smaller count"));
            }
            let new = FullLink {
                ends: edge.ends,
                sets: [edge.all; 2],
                order: [order; 2],
                is_both_ways: !edge.is_directed,
                at: edge.at,
            };
            for _ in 0..count {
                let before = open.get_mut(&(to, from)).filter(|_| edge.is_directed).and_then(VecDeque::pop_front);
                match before {
                    Some(before) => (links[before].sets[1], links[before].order[1]) = (edge.all, order),
                    None => {
                        if edge.is_directed {
                            open.entry((from, to)).or_default().push_back(links.len());
                        }
                        links.push(new);
                    }
                }
            }
        }
        let Some(&alone) = open.values().flatten().min() else { return Ok(links) };
        let FullLink { ends, at, .. } = links[alone];
        let [from, to] = ends.map(|node| short(&self.nodes[node as usize].name));
        let what = format!("no edge leads back from `{to}` to `{from}`");
        let remedy =
            "write one edge for each direction of a link, or take each edge for a link both ways: directed=false";
        Err(self.refusal(at as usize, what, remedy))
    }

    /// The network. `endpoints` is the number of endpoints of a switch that says nothing of its own, where the
    /// specification gives it.
    pub(super) fn build(mut self, spec: String, graph: &Graph<'_>) -> Result<Switched, SpecError> {
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
        let (of_file, cables) = (self.nodes.len(), full.len());
        self.add_nics(&mut full)?;
        let hosts = (0..self.nodes.len()).filter(|&node| self.is_host(node)).count();
        let switches = self.nodes.len() - hosts;
        if switches > MAX_SWITCHES {
            let what = format!("`{spec}` has {switches} switches");
            return Err(SpecError::new(ErrorKind::TooLarge, what, format!("use at most {MAX_SWITCHES}")));
        }
        let usual = endpoints.unwrap_or(u32::from(hosts == 0));
        let own = self.endpoints(usual)?;
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
            names[number as usize].clone_from(&self.nodes[node].name);
        }
        let mut places = vec![0u32; nodes];
        let mut next = |node: u32| {
            places[node as usize] += 1;
            (node, places[node as usize] - 1)
        };
        let mut links: Vec<Link> =
            homes.iter().map(|&(endpoint, switch)| Link::new([next(endpoint), next(switch)])).collect();
        links.extend(full.iter().map(|link| Link::new(link.ends.map(|node| next(numbers[node as usize])))));
        let network = Switched::new(spec, count as usize, nodes, &links, None, Unplanned)?;
        let described = self.described(&network.fabric, &full, &links[homes.len()..], &numbers)?;
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
        let dead =
            full.iter().zip(&links[homes.len()..]).filter(|(link, _)| self.sets[link.sets[0] as usize].is_dead());
        let dead: Vec<_> = dead
            .map(|(_, link)| {
                link.ends.map(|(node, place)| (NodeId(node), network.fabric.port(NodeId(node), place as usize)))
            })
            .collect();
        let understood = self.understood(graph, of_file, cables, &numbers, &own)?;
        if !dead.is_empty() {
            network = network.without(&dead)?;
        }
        network.platform.clone_from(&graph.platform);
        let named = self.names_of_endpoints(&numbers, &own, understood.numbers.clone());
        network.geometry = network.geometry.with_names(named);
        network.understood = Some(Arc::new(understood));
        Ok(network)
    }

    /// The name of the host behind an interface, or of a switch, by its number in the network.
    fn host_of(&self, links: &[FullLink], numbers: &[u32], number: u32) -> String {
        let node = numbers.iter().position(|&own| own == number).unwrap_or(0);
        let mut ends = links.iter().filter(|link| link.ends.contains(&(node as u32))).flat_map(|link| link.ends);
        let host = ends.find(|&end| self.is_nic(node) && self.is_host(end as usize));
        short(&self.nodes[host.map_or(node, |host| host as usize)].name)
    }

    /// The names by which traffic and placements know endpoints: those of hosts, and of switches with one endpoint.
    fn names_of_endpoints(&self, numbers: &[u32], own: &[u32], listed: Option<Vec<Option<u32>>>) -> NodeNames {
        let (mut endpoints, mut endpoint) = (HashMap::new(), 0);
        for (node, &count) in own.iter().enumerate() {
            let number = if self.is_host(node) { numbers[node] } else { endpoint };
            if count == 1 {
                endpoints.insert(self.nodes[node].name.clone(), NodeId(number));
            }
            endpoint += count;
        }
        NodeNames { endpoints, numbers: listed }
    }

    /// What has been understood. `numbers` are those of nodes in the network, `own` the endpoints of each.
    fn understood(
        &self,
        graph: &Graph<'_>,
        of_file: usize,
        links: usize,
        numbers: &[u32],
        own: &[u32],
    ) -> Result<Understood, SpecError> {
        let hosts = (0..of_file).filter(|&node| self.is_host(node)).count();
        let stated = self.nodes[..of_file].iter().any(|node| node.own.or(node.usual).kind.is_some());
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
        let rated = self.edges.iter().filter(|edge| self.sets[edge.all as usize].rate.is_some()).count();
        if rated > 0 && rated < self.edges.len() {
            self.reading.note(format!(
                "{} of {} edges have a rate, and the others that of the settings",
                rated,
                self.edges.len()
            ));
        }
        let demands = self.demands(graph, numbers, own)?;
        let noted = self.reading.noted();
        let mut numbered = None;
        if graph.is_numbered {
            let mut endpoints = vec![None; of_file];
            for (name, &node) in &self.known {
                if let (Ok(number), true) = (name.parse::<usize>(), self.is_host(node as usize))
                    && let Some(place) = endpoints.get_mut(number)
                {
                    *place = Some(numbers[node as usize]);
                }
            }
            numbered = Some(endpoints);
        }
        Ok(Understood {
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
        })
    }

    /// The traffic of the graph, by endpoints; that of a node without an endpoint is refused.
    fn demands(&self, graph: &Graph<'_>, numbers: &[u32], own: &[u32]) -> Result<Option<Demands>, SpecError> {
        if graph.demands.is_empty() {
            return Ok(None);
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
        for (source, destination, value) in &graph.demands {
            // In a part that is left out.
            let (Some(&from), Some(&to)) = (self.known.get(&*source.text), self.known.get(&*destination.text)) else {
                continue;
            };
            let [from, to] = [from, to].map(|node| first[node as usize]);
            let (Some(from), Some(to)) = (from, to) else {
                let what = format!(
                    "a demand from `{}` to `{}`, of which one has no endpoint",
                    short(&source.text),
                    short(&destination.text)
                );
                return Err(refusal(
                    self.places,
                    source.at,
                    ErrorKind::Conflict,
                    what,
                    "give every switch an endpoint: endpoints=1",
                ));
            };
            if from == to {
                to_itself += 1;
                continue;
            }
            *pairs.entry((from, to)).or_default() += value;
        }
        if to_itself > 0 {
            self.reading.note(format!(
                "{} left out",
                counted(to_itself, "demand of a node to itself is", "demands of nodes to themselves are")
            ));
        }
        let pairs = pairs.into_iter().map(|((from, to), value)| (from, to, value)).collect();
        Ok(Some(Demands { count: graph.demands.len(), pairs, unit: graph.demand_unit }))
    }

    /// \[endpoints\] By node: its endpoints; a host is one.
    fn endpoints(&self, usual: u32) -> Result<Vec<u32>, SpecError> {
        let of = |(number, node): (usize, &Node)| {
            let given = node.own.or(node.usual).endpoints;
            match (self.is_host(number), node.own.endpoints) {
                (true, None) => Ok(1),
                (true, Some((_, at))) => {
                    let what = format!("host `{}` is given endpoints", short(&node.name));
                    let remedy = "leave them out, or say kind=switch: a node whose name begins with H is a host";
                    Err(refusal(self.places, at, ErrorKind::Meaningless, what, remedy))
                }
                (false, _) => match given {
                    Some((count, at)) if count as usize >= MAX_NODES => {
                        let what = format!("{count} endpoints of switch `{}` are out of range", short(&node.name));
                        let remedy = format!("use 0 to {}", MAX_NODES - 1);
                        Err(refusal(self.places, at, ErrorKind::OutOfRange, what, remedy))
                    }
                    given => Ok(given.map_or(usual, |(count, _)| count)),
                },
            }
        };
        self.nodes.iter().enumerate().map(of).collect()
    }

    /// Gives each host with several links, or with one to another host, a network interface, from which they lead. The
    /// link between both has the rate of all of them, if they have rates, and no delay.
    fn add_nics(&mut self, links: &mut Vec<FullLink>) -> Result<(), SpecError> {
        let mut own: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        // Hosts that are linked to each other have interfaces too: a link leads from one to the other.
        let mut to_hosts = BTreeSet::new();
        for (number, link) in links.iter().enumerate() {
            let hosts = link.ends.iter().filter(|&&node| self.is_host(node as usize));
            hosts.clone().for_each(|&host| own.entry(host).or_default().push(number));
            if hosts.count() == 2 {
                to_hosts.extend(link.ends);
            }
        }
        own.retain(|host, links| links.len() > 1 || to_hosts.contains(host));
        for (host, own) in own {
            let Node { name, at, .. } = self.nodes[host as usize].clone();
            let nic = self.nodes.len() as u32;
            let free = std::iter::once(format!("{name}.nic")).chain((2..).map(|number| format!("{name}.nic{number}")));
            let called = free.into_iter().find(|name| !self.known.contains_key(name)).unwrap_or_default();
            self.known.insert(called.clone(), nic);
            let is = OfNode { kind: Some((Kind::Nic, at)), endpoints: Some((0, at)) };
            self.nodes.push(Node { name: called, at, own: is, usual: OfNode::default() });
            let mut sets = [0; 2];
            for (direction, set) in sets.iter_mut().enumerate() {
                let given = own.iter().map(|&number| {
                    let FullLink { ends, sets, .. } = links[number];
                    let leaves = usize::from(ends[0] != host);
                    self.sets[sets[leaves ^ direction] as usize].rate.as_deref()
                });
                let rates: Vec<&Written<u64>> = given.flatten().collect();
                if !rates.is_empty() && rates.len() < own.len() {
                    let what = format!("some links of host `{}` have a rate, and others none", short(&name));
                    return Err(self.refusal(
                        at,
                        what,
                        "give all of them a rate, or none: they are those of its interface",
                    ));
                }
                let rate = rates.first().map(|first| {
                    Box::new(Written {
                        value: rates.iter().fold(0, |sum: u64, rate| sum.saturating_add(rate.value)),
                        key: first.key.clone(),
                        text: first.text.clone(),
                        at: first.at,
                    })
                });
                let none =
                    Box::new(Written { value: Delay::Cycles(0), key: "delay".to_owned(), text: "0".to_owned(), at });
                *set = self.set(OfEdge { rate, delay: Some(none), ..OfEdge::default() });
            }
            for number in own {
                links[number].ends.iter_mut().filter(|end| **end == host).for_each(|end| *end = nic);
            }
            let order = (self.edges.len() + links.len()) as u32;
            links.push(FullLink { ends: [host, nic], sets, order: [order; 2], is_both_ways: true, at: at as u32 });
        }
        Ok(())
    }

    /// Checks that both directions of links are dead or alive, and that a host alone has a link.
    fn check(&self, links: &[FullLink]) -> Result<(), SpecError> {
        for link in links {
            let [one, other] = link.ends.map(|node| node as usize);
            let name = |node: usize| short(&self.nodes[node].name);
            // A kind that follows from the letter alone is a guess: the name may be that of a town.
            let is_guessed = |node: usize| self.nodes[node].own.or(self.nodes[node].usual).kind.is_none();
            let names = self.reading.format.names;
            if names == Names::Letter && [one, other].into_iter().all(|node| self.is_host(node) && is_guessed(node)) {
                let what = format!("hosts `{}` and `{}` are linked", name(one), name(other));
                let remedy =
                    "say kind=switch, for a node whose name begins with H is a host; or kind=host, if hosts are linked";
                return Err(self.refusal(self.nodes[other].at, what, remedy));
            }
            let [there, back] = link.sets.map(|set| &self.sets[set as usize]);
            if there.is_dead() != back.is_dead() {
                let at = there.dead.iter().chain(&back.dead).next().map_or(0, |given| given.at);
                let what = format!("the link of `{}` and `{}` is dead one way only", name(one), name(other));
                return Err(refusal(self.places, at, ErrorKind::Unsupported, what, "say dead=true of both directions"));
            }
        }
        if links.is_empty() && self.is_host(0) {
            let what = format!("host `{}` has no link", short(&self.nodes[0].name));
            return Err(self.refusal(self.nodes[0].at, what, "link it to a switch"));
        }
        Ok(())
    }

    /// What the description says of its links.
    fn described(
        &self,
        fabric: &Fabric,
        full: &[FullLink],
        links: &[Link],
        numbers: &[u32],
    ) -> Result<Links, SpecError> {
        // Only the sets that links have, in the order of the description.
        let mut kept: HashMap<u32, u32> = HashMap::new();
        let (mut sets, mut given) = (Vec::new(), BTreeMap::new());
        for (link, direction) in full.iter().flat_map(|link| [(link, 0), (link, 1)]) {
            let number = link.sets[direction];
            let of = &self.sets[number as usize];
            if let Entry::Vacant(vacant) = kept.entry(number) {
                let delay_at = of.delay.as_ref().map_or_else(Default::default, |given| self.places.of(given.at));
                let rate_at = of.rate.as_ref().map_or_else(Default::default, |given| self.places.of(given.at));
                let routes = of.routes.as_ref().map(|routes| self.routes(routes, link.is_both_ways, numbers));
                vacant.insert(sets.len() as u32);
                sets.push(Set {
                    attributes: of.attributes(),
                    rate_at,
                    delay_at,
                    routes: routes.transpose()?.flatten(),
                });
            }
            let has_routes = sets[kept[&number] as usize].routes.is_some();
            // Everything leaves a host through its only link.
            let is_routed = has_routes && !self.is_host(link.ends[direction] as usize);
            for (attribute, key, value, at) in of.given() {
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
        described.set_positions(self.edges.len() as u32);
        for (full, link) in full.iter().zip(links) {
            for direction in 0..2 {
                let (node, place) = link.ends[direction];
                let port = fabric.port(NodeId(node), place as usize);
                described.set(node, port, kept[&full.sets[direction]], full.order[direction]);
            }
        }
        Ok(described)
    }

    /// The destinations of a static route. A `comment` that names no host is a remark, and none at all.
    fn routes(
        &self,
        given: &Written<String>,
        is_both_ways: bool,
        numbers: &[u32],
    ) -> Result<Option<Routes>, SpecError> {
        let words = || {
            given.value.split(|letter: char| letter == ',' || letter.is_whitespace()).filter(|word| !word.is_empty())
        };
        let host = |word: &str| self.known.get(word).copied().filter(|&node| self.is_host(node as usize));
        if given.key.eq_ignore_ascii_case("comment") {
            let is_route = |word: &str| word == "*" || host(word).is_some() || word.starts_with('H');
            if !words().any(is_route) || (is_both_ways && !words().all(is_route)) {
                return Ok(None);
            }
        }
        if is_both_ways {
            let what = format!("{}={} of an edge both ways", short(&given.key), short(&given.value));
            let remedy = "a route has a direction: write an edge for each, `a -> b` and `b -> a` of a digraph";
            return Err(refusal(self.places, given.at, ErrorKind::Conflict, what, remedy));
        }
        if words().any(|word| word == "*") {
            return Ok(Some(Routes::All));
        }
        let mut only = Vec::new();
        for word in words() {
            match host(word) {
                Some(node) => only.push(numbers[node as usize]),
                None => {
                    let what = format!("{} of an edge names `{}`, which is no host", short(&given.key), short(word));
                    let remedy = "name hosts of the graph, or write `*`";
                    return Err(refusal(self.places, given.at, ErrorKind::UnknownName, what, remedy));
                }
            }
        }
        Ok((!only.is_empty()).then_some(Routes::Only(only)))
    }
}

/// \[bytes\] Offset of one end of an edge.
fn end_at(end: &End<'_>) -> usize {
    match end {
        End::Node(name) => name.at,
        End::Subgraph(list) => list.first().map_or(0, statement_at),
    }
}

/// \[bytes\] Offset of a statement, as far as one of its words tells it.
fn statement_at(statement: &Statement<'_>) -> usize {
    match statement {
        Statement::Node(name, _) => name.at,
        Statement::Edge(edge) => edge.ends.first().map_or(0, end_at),
        Statement::Defaults(_, list) => list.first().map_or(0, |(key, _)| key.at),
        Statement::Subgraph(list) => list.first().map_or(0, statement_at),
    }
}

/// By node: the number of its part, in the order of their first nodes.
fn parts(nodes: usize, links: &[(u32, u32)]) -> Vec<usize> {
    let mut parents: Vec<u32> = (0..nodes as u32).collect();
    let root = |parents: &mut Vec<u32>, node: u32| {
        let mut here = node;
        while parents[here as usize] != here {
            parents[here as usize] = parents[parents[here as usize] as usize];
            here = parents[here as usize];
        }
        here
    };
    for &(one, other) in links {
        let (one, other) = (root(&mut parents, one), root(&mut parents, other));
        parents[one.max(other) as usize] = one.min(other);
    }
    let (mut numbers, mut count) = (vec![usize::MAX; nodes], 0);
    let mut of = Vec::with_capacity(nodes);
    for node in 0..nodes as u32 {
        let root = root(&mut parents, node) as usize;
        if numbers[root] == usize::MAX {
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
