//! GOAL: an application as a graph of operations per rank, instead of a sequence of events.
//!
//! A rank's operations (send, receive, calculate) start as soon as their dependencies have finished (`requires`) or
//! started (`irequires`), on the CPU and network interface given in the operation. [`text`] and [`binary`] read and
//! write the two forms of the format; [`hosts`] is the LogGOPS model that executes a graph; [`ideal`] runs it over a
//! network without congestion, [`routed`] over a simulated one; [`chain`] converts a [`Program`] to a graph.
//!
//! Source: Hoefler, Siebert, Lumsdaine, *Group Operation Assembly Language*, ICPP 2009; Hoefler, Schneider, Lumsdaine,
//! *LogGOPSim*, LSAP 2010.
//!
//! [`Program`]: super::program::Program

use std::ops::Range;

mod agenda;
pub mod binary;
pub mod chain;
mod check;
pub mod hosts;
pub mod ideal;
mod lanes;
mod order;
pub mod patterns;
mod pending;
mod progress;
mod resources;
pub mod routed;
pub mod streams;
pub mod text;
mod waiting;

pub use check::GraphError;

/// Any source, or any tag.
pub const ANY: u32 = u32::MAX;

/// \[bytes\] Largest message: 1 TiB.
pub const MAX_BYTES: u64 = 1 << 40;

/// \[time units\] Longest calculation: sums of four still fit 64 bits.
pub const MAX_CALC: u64 = 1 << 62;

/// Kind of an operation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Kind {
    /// Sends a message.
    Send = 1,
    /// Receives a message.
    Recv = 2,
    /// Computes.
    Calc = 3,
}

/// One operation of a rank. Half a cache line, since memory access dominates the time of an execution.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(align(32))]
pub struct Node {
    /// \[bytes\] of a message, or \[time units\] of a calculation (ns by convention).
    pub size: u64,
    /// The other rank; [`ANY`] in a receive from any source, 0 in a calculation.
    pub peer: u32,
    /// Tag; [`ANY`] for any, 0 in a calculation.
    pub tag: u32,
    /// Number of unmet dependencies, of both kinds; [`STARTED`] once an execution has started the operation.
    pub waits_for: u32,
    /// Index of the first dependent in [`Rank::edges`].
    first: u32,
    /// Number of dependents on the finish, which come first in the edges. Has the bit [`NEXT`] if the only one is the
    /// following operation, so that an execution need not look it up.
    on_finish: u32,
    /// Number of dependents on the start, which follow in the edges. If [`MANY`], their number is in [`Rank::many`].
    on_start: u8,
    /// Its kind.
    pub kind: Kind,
    /// CPU of its host.
    pub cpu: u8,
    /// Network interface of its host.
    pub nic: u8,
}

const _: () = assert!(size_of::<Node>() == 32);

/// Value of [`Node::waits_for`] of a started operation; no operation has this many dependencies.
pub const STARTED: u32 = u32::MAX;

/// Flag in [`Node::on_finish`].
const NEXT: u32 = 1 << 31;

/// Value of [`Node::on_start`] of an operation with this many dependents or more.
const MANY: u8 = u8::MAX;

/// The operations of one rank, in the order of the file, and their dependencies.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Rank {
    nodes: Vec<Node>,
    /// Dependents, node by node: those on the finish of the node, then those on its start, each in the order of the
    /// statements.
    edges: Vec<u32>,
    /// Number of dependents on the start of a node, where it is [`MANY`] or more; by [`Node::first`], ascending.
    many: Vec<(u32, u32)>,
}

/// An application as a graph. Dependencies are acyclic, and refer to existing operations.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Graph {
    ranks: Vec<Rank>,
    /// Rank and number of the operations without dependencies: rank by rank, sends first, then receives, then
    /// calculations.
    roots: Vec<(u32, u32)>,
    /// Highest number of a CPU and of a network interface.
    highest: (u8, u8),
    /// First tag of collectives, if receives with any tag do not match these.
    collectives_from: Option<u32>,
}

/// Counts of a graph.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Counts {
    /// Send operations.
    pub sends: u64,
    /// Receive operations.
    pub recvs: u64,
    /// Calculations.
    pub calcs: u64,
    /// Dependencies of both kinds.
    pub dependencies: u64,
    /// \[bytes\] Total size of the messages sent.
    pub bytes: u64,
    /// \[time units\] Total length of the calculations.
    pub work: u64,
}

impl Node {
    /// The operation without its position in a graph.
    #[must_use]
    pub const fn operation(&self) -> Operation {
        let &Self { kind, size, peer, tag, cpu, nic, .. } = self;
        Operation { kind, size, peer, tag, cpu, nic }
    }

    /// True once an execution has started the operation.
    const fn has_started(&self) -> bool {
        self.waits_for == STARTED
    }

    /// Number of dependents on the finish of the operation.
    const fn finishes(&self) -> u32 {
        self.on_finish & !NEXT
    }
}

impl Rank {
    /// The operations.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Operations that wait for `node` to finish, in the order in which they were stated.
    #[must_use]
    pub fn on_finish(&self, node: &Node) -> &[u32] {
        let first = node.first as usize;
        &self.edges[first..first + node.finishes() as usize]
    }

    /// Operations that wait for `node` to start.
    #[must_use]
    pub fn on_start(&self, node: &Node) -> &[u32] {
        let first = node.first as usize + node.finishes() as usize;
        &self.edges[first..first + self.starts(node) as usize]
    }

    /// Number of operations that wait for `node` to start.
    fn starts(&self, node: &Node) -> u32 {
        if node.on_start < MANY {
            return u32::from(node.on_start);
        }
        let place = self.many.partition_point(|&(first, _)| first < node.first);
        self.many.get(place).map_or(0, |&(_, count)| count)
    }

    /// Adds the next operation, which has `on_start` dependents on its start.
    fn push(&mut self, node: Node, on_start: u32) {
        let few = u8::try_from(on_start).ok().filter(|&few| few < MANY);
        if few.is_none() {
            self.many.push((node.first, on_start));
        }
        self.nodes.push(Node { on_start: few.unwrap_or(MANY), ..node });
    }
}

impl Graph {
    /// A graph of these ranks.
    ///
    /// # Errors
    /// A peer that is not a rank.
    pub fn new(mut ranks: Vec<Rank>) -> Result<Self, GraphError> {
        let count = ranks.len();
        let mut roots = Vec::new();
        let (mut cpu, mut nic) = (0, 0);
        for (rank, operations) in ranks.iter_mut().enumerate() {
            let first = roots.len();
            for (node, operation) in operations.nodes.iter_mut().enumerate() {
                let any = operation.kind == Kind::Recv && operation.peer == ANY;
                if operation.kind != Kind::Calc && !any && operation.peer as usize >= count {
                    return Err(GraphError::Peer { rank, node, peer: operation.peer, ranks: count });
                }
                (cpu, nic) = (operation.cpu.max(cpu), operation.nic.max(nic));
                if operation.waits_for == 0 {
                    roots.push((rank as u32, node as u32));
                }
                if operation.on_finish == 1 && operations.edges[operation.first as usize] as usize == node + 1 {
                    operation.on_finish |= NEXT;
                }
            }
            roots[first..].sort_by_key(|&(_, node)| operations.nodes[node as usize].kind);
        }
        Ok(Self { ranks, roots, highest: (cpu, nic), collectives_from: None })
    }

    /// Puts a graph that has been executed back to its beginning. Its calculations stay in ticks.
    fn begin_anew(&mut self) {
        self.roots.clear();
        for (number, rank) in (0_u32..).zip(&mut self.ranks) {
            rank.nodes.iter_mut().for_each(|node| node.waits_for = 0);
            for &dependent in &rank.edges {
                rank.nodes[dependent as usize].waits_for += 1;
            }
            let first = self.roots.len();
            let roots = (0_u32..).zip(&rank.nodes).filter(|(_, node)| node.waits_for == 0);
            self.roots.extend(roots.map(|(node, _)| (number, node)));
            self.roots[first..].sort_by_key(|&(_, node)| rank.nodes[node as usize].kind);
        }
    }

    /// The same graph, in which receives with any tag do not match tags from `bound` on: those of collectives, which
    /// have a context of their own. The file formats of graphs cannot express this.
    #[must_use]
    pub fn with_own_tags_below(self, bound: u32) -> Self {
        Self { collectives_from: Some(bound), ..self }
    }

    /// Receives with any tag match tags below this; [`ANY`] if they match all tags.
    #[must_use]
    pub fn own_tags_below(&self) -> u32 {
        self.collectives_from.unwrap_or(ANY)
    }

    /// True if a file can hold the graph. None can where a receive with any tag must leave the messages of collectives:
    /// executed from a file, it would take them, and what they were for would wait for ever.
    #[must_use]
    pub fn fits_files(&self) -> bool {
        let takes_any = |node: &Node| node.kind == Kind::Recv && node.tag == ANY;
        self.collectives_from.is_none() || !self.ranks.iter().flat_map(Rank::nodes).any(takes_any)
    }

    /// The ranks of the graph.
    #[must_use]
    pub fn ranks(&self) -> &[Rank] {
        &self.ranks
    }

    /// Counts operations, dependencies, bytes and work.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for rank in &self.ranks {
            counts.dependencies += rank.edges.len() as u64;
            for node in &rank.nodes {
                match node.kind {
                    Kind::Send => {
                        counts.sends += 1;
                        counts.bytes = counts.bytes.saturating_add(node.size);
                    }
                    Kind::Recv => counts.recvs += 1,
                    Kind::Calc => {
                        counts.calcs += 1;
                        counts.work = counts.work.saturating_add(node.size);
                    }
                }
            }
        }
        counts
    }

    /// Multiplies every calculation by `factor` (0 to 10^6), rounded to the nearest, at most [`MAX_CALC`].
    pub fn scale_work(&mut self, factor: f64) {
        self.scale_work_of(0..self.ranks.len(), factor);
    }

    /// Multiplies the calculations of these ranks by `factor`, as [`scale_work`](Self::scale_work) does.
    ///
    /// # Panics
    /// When there are no such ranks.
    pub fn scale_work_of(&mut self, ranks: Range<usize>, factor: f64) {
        if factor == 1.0 {
            return;
        }
        for node in self.ranks[ranks].iter_mut().flat_map(|rank| &mut rank.nodes).filter(|node| node.kind == Kind::Calc)
        {
            node.size = ((node.size as f64 * factor).round() as u64).min(MAX_CALC);
        }
    }

    /// Multiplies the size of every message and receive by `factor` (0 to 10^6), rounded to the nearest; returns the
    /// largest size.
    pub fn scale_bytes(&mut self, factor: f64) -> u64 {
        let mut largest = 0;
        for node in self.ranks.iter_mut().flat_map(|rank| &mut rank.nodes).filter(|node| node.kind != Kind::Calc) {
            if factor != 1.0 {
                node.size = (node.size as f64 * factor).round() as u64;
            }
            largest = largest.max(node.size);
        }
        largest
    }

    /// Converts calculations to ticks, with `ticks` per time unit.
    fn count_in_ticks(&mut self, ticks: u64) {
        if ticks == 1 {
            return;
        }
        for node in self.ranks.iter_mut().flat_map(|rank| &mut rank.nodes).filter(|node| node.kind == Kind::Calc) {
            node.size = node.size.saturating_mul(ticks);
        }
    }

    /// Highest number of a CPU and of a network interface in any operation.
    #[must_use]
    pub const fn highest_resources(&self) -> (u8, u8) {
        self.highest
    }
}

/// An operation without a position in a graph.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operation {
    /// Its kind.
    pub kind: Kind,
    /// \[bytes\] or \[time units\], see [`Node::size`].
    pub size: u64,
    /// See [`Node::peer`].
    pub peer: u32,
    /// See [`Node::tag`].
    pub tag: u32,
    /// CPU.
    pub cpu: u8,
    /// Network interface.
    pub nic: u8,
}

impl Operation {
    /// A calculation of this length on CPU 0.
    #[must_use]
    pub const fn calc(size: u64) -> Self {
        Self { kind: Kind::Calc, size, peer: 0, tag: 0, cpu: 0, nic: 0 }
    }

    /// A message of `size` bytes to `peer`.
    #[must_use]
    pub const fn send(size: u64, peer: u32, tag: u32) -> Self {
        Self { kind: Kind::Send, size, peer, tag, cpu: 0, nic: 0 }
    }

    /// A message of `size` bytes from `peer`.
    #[must_use]
    pub const fn recv(size: u64, peer: u32, tag: u32) -> Self {
        Self { kind: Kind::Recv, size, peer, tag, cpu: 0, nic: 0 }
    }
}

/// When a dependent may start.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum After {
    /// When the dependency has finished (`requires`).
    Finish,
    /// When the dependency has started (`irequires`).
    Start,
}

/// A rank under construction. Building it begins the next one, in the same memory.
#[derive(Clone, Default, Debug)]
pub struct RankBuilder {
    nodes: Vec<Node>,
    /// Dependencies in the order in which they were stated: dependent, dependency, kind.
    stated: Vec<(u32, u32, After)>,
    /// Number of dependents on the start of each node, then the index of the next dependent of each node on its finish
    /// and on its start; empty between ranks.
    starts: Vec<u32>,
    next: Vec<[u32; 2]>,
}

impl RankBuilder {
    /// The number of operations so far, which is also the number of the next operation.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.nodes.len()
    }

    /// True if there is no operation yet.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Adds an operation and returns its number.
    ///
    /// # Errors
    /// Sizes beyond [`MAX_BYTES`] or [`MAX_CALC`], more than 2^30 operations.
    pub fn add(&mut self, operation: Operation) -> Result<u32, GraphError> {
        let Operation { kind, size, peer, tag, cpu, nic } = operation;
        let limit = if kind == Kind::Calc { MAX_CALC } else { MAX_BYTES };
        if size > limit {
            return Err(GraphError::Size { size, limit });
        }
        if self.nodes.len() >= check::MAX_NODES {
            return Err(GraphError::TooManyNodes);
        }
        let number = self.nodes.len() as u32;
        self.nodes.push(Node { size, peer, tag, waits_for: 0, first: 0, on_finish: 0, on_start: 0, kind, cpu, nic });
        Ok(number)
    }

    /// States that `dependent` waits for `other`, both of which exist.
    ///
    /// # Errors
    /// A number without an operation; more than 2^30 dependencies.
    pub fn depend(&mut self, dependent: u32, other: u32, after: After) -> Result<(), GraphError> {
        let missing = [dependent, other].into_iter().find(|&number| number as usize >= self.nodes.len());
        if let Some(number) = missing {
            return Err(GraphError::NoSuchNode { number, nodes: self.nodes.len() });
        }
        if self.stated.len() >= check::MAX_NODES {
            return Err(GraphError::TooManyNodes);
        }
        self.stated.push((dependent, other, after));
        Ok(())
    }

    /// Builds the rank, with its dependencies in order. The builder is empty afterwards.
    ///
    /// # Errors
    /// Cyclic dependencies.
    pub fn build(&mut self) -> Result<Rank, GraphError> {
        let Self { nodes, stated, starts, next } = self;
        starts.resize(nodes.len(), 0);
        for &(dependent, other, after) in &*stated {
            nodes[dependent as usize].waits_for += 1;
            match after {
                After::Finish => nodes[other as usize].on_finish += 1,
                After::Start => starts[other as usize] += 1,
            }
        }
        let mut total = 0;
        let mut rank = Rank { nodes: Vec::with_capacity(nodes.len()), edges: vec![0; stated.len()], ..Rank::default() };
        for (node, on_start) in nodes.drain(..).zip(starts.drain(..)) {
            next.push([total, total + node.on_finish]);
            rank.push(Node { first: total, ..node }, on_start);
            total += node.on_finish + on_start;
        }
        for (dependent, other, after) in stated.drain(..) {
            let slot = &mut next[other as usize][usize::from(after == After::Start)];
            rank.edges[*slot as usize] = dependent;
            *slot += 1;
        }
        next.clear();
        check::acyclic(&rank)?;
        Ok(rank)
    }
}
