//! A description while it is read: what readers state of nodes and edges gets its meaning at once.
//!
//! Decision: docs/decisions/0571-nothing-is-kept-of-a-text.md.

use std::sync::Arc;

use trgen::catalog::{ErrorKind, SpecError};

use super::super::platform;
use super::attribute::{self, refusal, short};
use super::given::{Direction, Kind, OfEdge, OfNode, Sets};
use super::labels::{Labels, Slots, make_room};
use super::reading::Reading;
use super::statement::{Item, Places, Word};

/// Maximum number of links: more than any valid network has.
pub const MAX_LINKS: usize = 1 << 20;

/// Maximum number of nodes that a description names: more could not hang together.
const MAX_NAMED: usize = MAX_LINKS + 1;

/// What a description says of a node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    /// \[bytes\] Offset of its first appearance.
    pub(super) at: u32,
    pub(super) own: OfNode,
    /// The defaults at its first appearance: an index into [`Description::usual`].
    pub(super) usual: u32,
}

/// An edge between two nodes.
#[derive(Clone, Copy, Debug)]
pub(super) struct OneEdge {
    /// By end: its node.
    pub(super) ends: [u32; 2],
    /// The attributes: a set of [`Description::sets`].
    pub(super) set: u32,
    /// Twice the offset \[bytes\] of the edge in the text, and 1 more if it is directed.
    place: u32,
}

impl OneEdge {
    pub(super) const fn new(ends: [u32; 2], is_directed: bool, set: u32, at: usize) -> Self {
        Self { ends, set, place: (at as u32) << 1 | is_directed as u32 }
    }

    /// What it joins: the nodes at its ends, in their order if it has a direction.
    fn joined(&self) -> (u32, u32) {
        let [one, other] = self.ends;
        if self.is_directed() { (one, other) } else { (one.min(other), one.max(other)) }
    }

    pub(super) const fn is_directed(&self) -> bool {
        self.place & 1 == 1
    }

    pub(super) fn direct(&mut self, is_directed: bool) {
        self.place = self.place & !1 | u32::from(is_directed);
    }

    /// \[bytes\] Offset of the edge.
    pub(super) const fn at(&self) -> usize {
        (self.place >> 1) as usize
    }
}

/// A description of a network while it is read. What readers state gets its meaning at once, and is not kept, so that
/// memory depends on the network and not on how it is written.
#[derive(Debug)]
pub struct Description<'a> {
    pub(super) reading: &'a Reading<'a>,
    pub(super) places: &'a Places<'a>,
    pub(super) names: Labels,
    pub(super) nodes: Vec<Node>,
    /// Defaults of nodes; the first are none.
    pub(super) usual: Vec<OfNode>,
    pub(super) edges: Vec<OneEdge>,
    /// Attributes of edges, those of many in common.
    pub(super) sets: Sets,
    /// In a strict graph: the edge between two nodes.
    single: Option<Slots>,
    /// The graph and the open subgraphs in it.
    scopes: Vec<Scope>,
    pub(super) demands: Vec<Demand>,
    pub(super) demand_unit: Option<f64>,
    pub(super) platform: Option<(Arc<dyn platform::Routes>, Option<SpecError>)>,
    pub(super) is_numbered: bool,
}

/// The defaults that hold in a graph or subgraph, and its nodes.
#[derive(Clone, Default, Debug)]
struct Scope {
    /// Index into [`Description::usual`].
    node: u32,
    /// A set of [`Description::sets`].
    edge: u32,
    /// Nodes that it names; those of the whole graph are not listed.
    members: Vec<u32>,
}

/// Traffic: the nodes, where it stands, and its value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Demand {
    pub(super) ends: [u32; 2],
    pub(super) at: u32,
    pub(super) value: f64,
}

/// Attributes of edges that are about to be joined.
#[derive(Clone, Copy, Debug)]
pub struct Kept {
    /// Those that the edge states itself, and those together with the defaults.
    own: u32,
    all: u32,
    direction: Option<Direction>,
}

impl<'a> Description<'a> {
    /// Nothing is said yet.
    pub(super) fn new(reading: &'a Reading<'a>) -> Self {
        Self {
            reading,
            places: &reading.places,
            names: Labels::default(),
            nodes: Vec::new(),
            usual: vec![OfNode::default()],
            edges: Vec::new(),
            sets: Sets::new(),
            single: None,
            scopes: vec![Scope::default()],
            demands: Vec::new(),
            demand_unit: None,
            platform: None,
            is_numbered: false,
        }
    }

    /// The text, and what the specification says of reading it.
    #[must_use]
    pub const fn reading(&self) -> &'a Reading<'a> {
        self.reading
    }

    /// At most one edge joins two nodes: a repeated one changes the attributes that it sets. Before the first edge.
    pub fn set_strict(&mut self) {
        self.single = Some(Slots::default());
    }

    /// Names of nodes are numbers by which lists of flows name them.
    pub const fn set_numbered(&mut self) {
        self.is_numbered = true;
    }

    /// \[b/s\] What a demand of 1 stands for.
    pub const fn set_demand_unit(&mut self, unit: f64) {
        self.demand_unit = Some(unit);
    }

    /// Routes that are stated link by link, and why no graph has them, if none has.
    pub fn set_platform(&mut self, routes: Arc<dyn platform::Routes>, no_graph: Option<SpecError>) {
        self.platform = Some((routes, no_graph));
    }

    /// A node with its attributes; its number.
    ///
    /// # Errors
    /// Attributes that cannot be obeyed; more nodes than a network has.
    pub fn node(&mut self, name: &Word<'_>, attributes: &[(Word<'_>, Word<'_>)]) -> Result<u32, SpecError> {
        let own = OfNode::read(self.reading, attributes)?;
        self.node_of(name, own)
    }

    /// A node with attributes that have been read.
    ///
    /// # Errors
    /// Those of [`Self::node`].
    pub fn node_of(&mut self, name: &Word<'_>, own: OfNode) -> Result<u32, SpecError> {
        let number = self.mention(name)?;
        let before = self.nodes[number as usize].own;
        if let (Some((before, at)), Some((now, again))) = (before.endpoints, own.endpoints)
            && before != now
        {
            let what =
                format!("the endpoints of `{}` stand in {} already", short(&name.text), self.places.of(at as usize));
            return Err(refusal(self.places, again as usize, ErrorKind::Conflict, what, "give them once"));
        }
        self.nodes[number as usize].own = own.or(before);
        Ok(number)
    }

    /// A node of which the format says whether it is a host; its number.
    ///
    /// # Errors
    /// More nodes than a network has.
    pub fn declare(&mut self, name: &Word<'_>, is_host: bool) -> Result<u32, SpecError> {
        self.node_of(name, OfNode::stated(is_host, name.at))
    }

    /// The number of a node; its first occurrence defines it.
    ///
    /// # Errors
    /// More nodes than a network has.
    pub fn mention(&mut self, name: &Word<'_>) -> Result<u32, SpecError> {
        let number = self.names.number(&name.text);
        if number as usize == self.nodes.len() {
            if self.nodes.len() >= MAX_NAMED {
                let what = format!("more than {MAX_NAMED} nodes");
                return Err(refusal(self.places, name.at, ErrorKind::TooLarge, what, "use a smaller network"));
            }
            let usual = self.scopes.last().map_or(0, |scope| scope.node);
            make_room(&mut self.nodes);
            self.nodes.push(Node { at: name.at as u32, own: OfNode::default(), usual });
        }
        if let [_, .., inner] = &mut self.scopes[..] {
            inner.members.push(number);
        }
        Ok(number)
    }

    /// The number of a node, if it has been named.
    #[must_use]
    pub fn number_of(&self, name: &str) -> Option<u32> {
        self.names.get(name)
    }

    /// The name of a node.
    #[must_use]
    pub fn name_of(&self, node: u32) -> &str {
        self.names.name(node)
    }

    /// The names of the nodes that are stated to be hosts, in the order of their numbers.
    #[must_use]
    pub fn stated_hosts(&self) -> Vec<&str> {
        let is_host = |&node: &usize| self.nodes[node].own.kind.is_some_and(|(kind, _)| kind == Kind::Host);
        (0..self.nodes.len()).filter(is_host).map(|node| self.name(node)).collect()
    }

    /// Number of nodes so far.
    #[must_use]
    pub const fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// An edge between two nodes, with its attributes; `is_directed` if it is one direction of a link.
    ///
    /// # Errors
    /// Attributes that cannot be obeyed; more links than a network has.
    pub fn edge(
        &mut self,
        ends: [&Word<'_>; 2],
        is_directed: bool,
        attributes: &[(Word<'_>, Word<'_>)],
    ) -> Result<(), SpecError> {
        let kept = self.keep(&OfEdge::read(self.reading, attributes)?);
        let [one, other] = [self.mention(ends[0])?, self.mention(ends[1])?];
        self.join(&[one], &[other], ends[1].at, is_directed, kept)
    }

    /// [`Self::edge`] between nodes by their numbers; `at` is the offset of the edge.
    ///
    /// # Errors
    /// Those of [`Self::edge`].
    pub fn link(
        &mut self,
        [one, other]: [u32; 2],
        at: usize,
        is_directed: bool,
        attributes: &[(Word<'_>, Word<'_>)],
    ) -> Result<(), SpecError> {
        let kept = self.keep(&OfEdge::read(self.reading, attributes)?);
        self.join(&[one], &[other], at, is_directed, kept)
    }

    /// Keeps attributes of edges that are about to be joined.
    pub fn keep(&mut self, own: &OfEdge) -> Kept {
        let usual = self.scopes.last().map_or(0, |scope| scope.edge);
        let (own, all) = match own.is_empty() {
            // What routes mean depends on the edge.
            true if self.sets.routes(usual).is_some() => (0, self.sets.again(usual)),
            true => (0, usual),
            false => {
                let all = self.sets.keep(own, usual);
                (all, all)
            }
        };
        Kept { own, all, direction: self.sets.direction(all) }
    }

    /// Joins each node of one end with each of the other; `at` is the offset of the second end.
    ///
    /// # Errors
    /// More links than a network has.
    pub fn join(
        &mut self,
        from: &[u32],
        to: &[u32],
        at: usize,
        is_directed: bool,
        kept: Kept,
    ) -> Result<(), SpecError> {
        if self.edges.len() + from.len() * to.len() > MAX_LINKS {
            let what = format!("more than {MAX_LINKS} links");
            let remedy = "use fewer links, or smaller groups";
            return Err(refusal(self.places, at, ErrorKind::TooLarge, what, remedy));
        }
        for &one in from {
            for &other in to {
                let (is_directed, ends) = match kept.direction {
                    None => (is_directed, [one, other]),
                    Some(Direction::Both) => (false, [one, other]),
                    Some(Direction::Forward) => (true, [one, other]),
                    Some(Direction::Back) => (true, [other, one]),
                };
                self.add(OneEdge::new(ends, is_directed, kept.all, at), kept.own);
            }
        }
        Ok(())
    }

    /// Adds an edge. In a strict graph, a repeated edge changes only the attributes that it sets.
    fn add(&mut self, new: OneEdge, own: u32) {
        if let Some(single) = &mut self.single {
            let hash = single.hash(new.joined());
            if let Some(at) = single.find(hash, |edge| self.edges[edge as usize].joined() == new.joined()) {
                let edge = &mut self.edges[at as usize];
                if own != 0 {
                    edge.set = self.sets.merged(own, edge.set);
                }
                return;
            }
            let edges = &self.edges;
            single.add(edges.len() as u32, hash, |single, edge| single.hash(edges[edge as usize].joined()));
        }
        make_room(&mut self.edges);
        self.edges.push(new);
    }

    /// Defaults for later items of a kind in the same graph, or attributes of the graph itself, which has none that
    /// concerns the network.
    ///
    /// # Errors
    /// Attributes that cannot be obeyed.
    pub fn defaults(&mut self, item: Item, attributes: &[(Word<'_>, Word<'_>)]) -> Result<(), SpecError> {
        match item {
            Item::Node => self.usual_node(OfNode::read(self.reading, attributes)?),
            Item::Edge => self.usual_edge(&OfEdge::read(self.reading, attributes)?),
            Item::Graph => {
                for (key, value) in attributes {
                    attribute::property(self.reading, Item::Graph, key, value)?;
                }
            }
        }
        Ok(())
    }

    /// Defaults of later nodes, which have been read.
    pub fn usual_node(&mut self, own: OfNode) {
        if let Some(scope) = self.scopes.last_mut() {
            self.usual.push(own.or(self.usual[scope.node as usize]));
            scope.node = self.usual.len() as u32 - 1;
        }
    }

    /// Defaults of later edges, which have been read.
    pub fn usual_edge(&mut self, own: &OfEdge) {
        if let Some(scope) = self.scopes.last_mut()
            && !own.is_empty()
        {
            scope.edge = self.sets.keep(own, scope.edge);
        }
    }

    /// A subgraph begins: defaults hold within it.
    pub fn open(&mut self) {
        let outer = self.scopes.last().map_or((0, 0), |scope| (scope.node, scope.edge));
        self.scopes.push(Scope { node: outer.0, edge: outer.1, members: Vec::new() });
    }

    /// The last subgraph that began ends: its nodes, each once, in the order of their numbers.
    pub fn close(&mut self) -> Vec<u32> {
        if self.scopes.len() < 2 {
            return Vec::new();
        }
        let mut members = self.scopes.pop().map(|scope| scope.members).unwrap_or_default();
        members.sort_unstable();
        members.dedup();
        if let [_, .., outer] = &mut self.scopes[..] {
            outer.members.extend(&members);
        }
        members
    }

    /// Traffic between two nodes that have been named; a value of 0 or more.
    pub fn demand(&mut self, [source, destination]: [&Word<'_>; 2], value: f64) {
        if let (Some(from), Some(to)) = (self.names.get(&source.text), self.names.get(&destination.text)) {
            self.demand_of([from, to], source.at, value);
        }
    }

    /// [`Self::demand`] between nodes by their numbers; `at` is its offset.
    pub fn demand_of(&mut self, ends: [u32; 2], at: usize, value: f64) {
        self.demands.push(Demand { ends, at: at as u32, value });
    }
}
