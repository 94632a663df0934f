//! The synthetic source: process x pattern x size law behind [`TrGen`].

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::bundle::Part;
use super::due::DueNodes;
use super::size::{self, Law};
use super::spatial::{self, Pattern};
use super::spec::Spec;
use super::temporal::Process;
use super::traffic::Sources;
use crate::Geometry;
use crate::message::{Delivery, Message};
use crate::rng::{Purpose, Stream, stream};
use crate::source::{Next, Outbox, Reads, SourceError, TrGen, Wait, WaitCause};
use crate::units::{Cycle, NodeId};

/// Behaviour of a node while the network does not accept its message.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Mode {
    /// It waits, and draws the gap to its next message when the last one has been sent: at most one message per node
    /// waits.
    #[default]
    Throttled,
    /// It keeps generating: messages queue before the network without bound.
    Open,
}

/// By source: destinations with the demanded traffic, in any unit.
pub type Demands = Vec<Vec<(u32, f64)>>;

/// Synthetic sources as the user writes them, for [`Traffic::new`](super::Traffic::new).
#[derive(Clone, PartialEq, Debug)]
pub struct Config {
    /// The grid of nodes; a network without a grid has one dimension.
    pub geometry: Geometry,
    /// Spatial pattern, or several.
    pub pattern: Sources,
    /// Temporal process.
    pub process: Spec,
    /// Size law; relative paths in it are relative to the working directory.
    pub size: Spec,
    /// \[phit/node/cycle\] Offered load of every node that is not silent; 0 for none.
    pub load: f64,
    /// \[phit/cycle\] Load 1 in the unit in which patterns and processes state loads of their own.
    pub capacity: f64,
    /// True if packets all have the full length, so that the load is that of messages in full packets.
    pub is_padded: bool,
    /// \[phit\] Packet length, 1 or more; the default of the size law.
    pub packet_phits: u32,
    /// \[bytes\] Size of a phit, 1 or more.
    pub phit_bytes: u32,
    /// Behaviour of a node while the network does not accept its message.
    pub mode: Mode,
    /// Run seed.
    pub seed: u64,
    /// Number of shots, for a process `shot(messages)`.
    pub shots: u64,
    /// Base folder of relative paths in the pattern; empty for the working directory.
    pub folder: PathBuf,
    /// True if the network carries messages of a node to itself; else patterns that send them are refused.
    pub carries_to_itself: bool,
    /// True if nodes can refuse messages in the network; else traffic whose nodes do is refused.
    pub nodes_refuse: bool,
    /// By source: the demands that the file of the network states, as destinations with their values; `None` without.
    pub demands: Option<Arc<Demands>>,
}

impl Config {
    /// \[phit\] Mean size of a message of this law, as load is counted.
    pub(super) fn mean_phits(&self, law: &dyn Law) -> f64 {
        if self.is_padded { law.carried() } else { law.mean() }
    }

    /// \[phit\] Mean size of a message by the law of `size`, as load is counted; `None` if it cannot be built.
    #[must_use]
    pub fn message_phits(&self) -> Option<f64> {
        let law = size::read(&self.size, self.law_context(Path::new(""))).ok()?;
        Some(self.mean_phits(&*law))
    }

    /// The context in which a size law is built, with files relative to `folder`.
    pub(super) const fn law_context<'a>(&self, folder: &'a Path) -> size::LawContext<'a> {
        size::LawContext { packet_phits: self.packet_phits, phit_bytes: self.phit_bytes, folder }
    }

    /// The context in which a pattern is built, with a seed of its own.
    #[must_use]
    pub fn context(&self, seed: u64) -> spatial::PatternContext<'_> {
        let Self { geometry, folder, carries_to_itself, demands, .. } = self;
        let demands = demands.as_ref().map(|demands| &demands[..]);
        spatial::PatternContext { geometry, seed, folder, carries_to_itself: *carries_to_itself, demands }
    }

    /// Uniform Bernoulli traffic at load 0.3, in packets of 16 phits of 4 bytes, open sources, seed 1.
    #[must_use]
    pub fn new(geometry: Geometry) -> Self {
        Self {
            geometry,
            pattern: "uniform".parse().expect("a word is a component"),
            process: "bernoulli".parse().expect("a word is a component"),
            size: "constant".parse().expect("a word is a component"),
            load: 0.3,
            capacity: 1.0,
            is_padded: true,
            packet_phits: 16,
            phit_bytes: 4,
            mode: Mode::Open,
            seed: 1,
            shots: 10,
            folder: PathBuf::new(),
            carries_to_itself: false,
            nodes_refuse: false,
            demands: None,
        }
    }
}

/// State of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// The cycle of its next message is in the calendar.
    Due,
    /// Throttled: it waits until its last message has been [sent](TrGen::sent).
    Blocked,
    /// It will not send again.
    Finished,
}

/// The streams from which a node draws for each message under any size law; together on one cache line.
#[derive(Debug)]
#[repr(align(64))]
struct Draws {
    temporal: Stream,
    spatial: Stream,
}

/// State of a node that changes with every message.
#[derive(Debug)]
struct Node {
    /// Number of the next message.
    sequence: u64,
    state: State,
}

/// Synthetic traffic.
///
/// A message's id is its running number at its source, from 0. The clock of gaps starts at cycle 0, so that the first
/// possible message is in [`Cycle::FIRST`]. The cost is per message, not per node and cycle.
#[derive(Debug)]
pub struct Synthetic {
    pattern: Box<dyn Pattern>,
    process: Box<dyn Process>,
    law: Box<dyn Law>,
    mode: Mode,
    phit_bytes: u64,
    /// Traffic class of all messages.
    class: u8,
    nodes: Vec<Node>,
    /// Streams of gaps and destinations, per node.
    draws: Vec<Draws>,
    /// Size streams, per node.
    sizes: Vec<Stream>,
    calendar: DueNodes,
    /// Number of blocked nodes.
    blocked: usize,
    /// \[cycles\] Time for which nodes have been blocked, summed over nodes: those that are no longer blocked count in
    /// full, the others less the cycle in which they became so.
    blocked_cycles: i128,
    /// \[phits/node/cycle\] Offered load of a node that is not silent; `None` if unknown.
    rate: Option<f64>,
    /// Number of silent nodes.
    silent: usize,
}

impl Synthetic {
    /// Builds a source from parts, which may be the caller's own. The pattern determines the number of nodes.
    #[must_use]
    pub fn from_parts(
        pattern: Box<dyn Pattern>,
        process: Box<dyn Process>,
        law: Box<dyn Law>,
        phit_bytes: u32,
        mode: Mode,
        seed: u64,
    ) -> Self {
        let count = pattern.nodes();
        let stream_of = |node, purpose| stream(seed, node as u64, purpose);
        let draws =
            |node| Draws { temporal: stream_of(node, Purpose::Temporal), spatial: stream_of(node, Purpose::Spatial) };
        let mut source = Self {
            silent: pattern.silent(),
            pattern,
            process,
            law,
            mode,
            phit_bytes: u64::from(phit_bytes),
            class: 0,
            nodes: (0..count).map(|_| Node { sequence: 0, state: State::Finished }).collect(),
            draws: (0..count).map(draws).collect(),
            sizes: (0..count).map(|node| stream_of(node, Purpose::Size)).collect(),
            calendar: DueNodes::new(),
            blocked: 0,
            blocked_cycles: 0,
            rate: None,
        };
        for node in (0..count).map(NodeId::at) {
            if !source.pattern.is_silent(node) {
                source.schedule(node, Cycle(0));
            }
        }
        source
    }

    /// The same source, which knows that each of its nodes that is not silent offers a load of `rate`
    /// phits/node/cycle.
    #[must_use]
    pub(super) fn offering(self, rate: f64) -> Self {
        Self { rate: Some(rate), ..self }
    }

    /// The same source, whose messages have this traffic class.
    #[must_use]
    pub(super) fn of_class(self, class: u8) -> Self {
        Self { class, ..self }
    }

    /// Draws the cycle of the next message of a node that became free in cycle `from`, and enters it into the calendar.
    fn schedule(&mut self, id: NodeId, from: Cycle) {
        let node = &mut self.nodes[id.index()];
        let cycle = self.process.next(id, from, &mut self.draws[id.index()].temporal);
        if cycle == Cycle::NEVER {
            node.state = State::Finished;
        } else {
            node.state = State::Due;
            self.calendar.insert(cycle, id);
        }
    }

    /// Generates one message of a node in the cycle in which it is due.
    fn emit(&mut self, id: NodeId, cycle: Cycle, out: &mut Outbox) {
        let node = &mut self.nodes[id.index()];
        let Some(destination) = self.pattern.destination(id, &mut self.draws[id.index()].spatial) else {
            node.state = State::Finished;
            return;
        };
        let bytes = self.law.phits(&mut self.sizes[id.index()]).saturating_mul(self.phit_bytes);
        // A pattern refuses to name the sender if the network does not carry that.
        out.push_to_any(Message { id: node.sequence, source: id, destination, bytes, class: self.class });
        node.sequence += 1;
        match self.mode {
            Mode::Throttled => {
                node.state = State::Blocked;
                self.blocked += 1;
                self.blocked_cycles -= i128::from(cycle.0);
            }
            Mode::Open => self.schedule(id, cycle),
        }
    }
}

impl Part for Synthetic {
    fn is_silent(&self, node: NodeId) -> bool {
        self.pattern.is_silent(node)
    }
}

impl TrGen for Synthetic {
    fn nodes(&self) -> usize {
        self.nodes.len()
    }

    fn generate(&mut self, now: Cycle, out: &mut Outbox) -> Result<(), SourceError> {
        while let Some((cycle, node)) = self.calendar.take(now) {
            self.emit(node, cycle, out);
        }
        Ok(())
    }

    fn reads(&self) -> Reads {
        // An open-loop source goes on whether or not its messages have been sent.
        Reads { sent: self.mode == Mode::Throttled, delivered: false }
    }

    fn sent(&mut self, now: Cycle, message: &Message) {
        let node = &self.nodes[message.source.index()];
        if node.state == State::Blocked {
            self.blocked -= 1;
            self.blocked_cycles += i128::from(now.0);
            self.schedule(message.source, now);
        }
    }

    fn take_back(&mut self, now: Cycle, message: &Message) -> bool {
        // The gap to the next message begins anew; that of an open-loop source has already begun.
        self.sent(now, message);
        true
    }

    fn delivered(&mut self, _: Cycle, _: &Delivery) {}

    fn next(&self) -> Next {
        match self.calendar.next() {
            Some(cycle) => Next::At(cycle),
            None if self.blocked > 0 => Next::Waiting,
            None => Next::Done,
        }
    }

    fn silent_nodes(&self) -> usize {
        self.silent
    }

    fn held_back_phits(&self, now: Cycle) -> Option<f64> {
        let cycles = self.blocked_cycles + i128::from(now.0) * self.blocked as i128;
        self.rate.map(|rate| cycles as f64 * rate)
    }

    fn dropped(&mut self, _: Cycle, _: &Message) {}

    fn waits(&self) -> Vec<Wait> {
        let blocked = self.nodes.iter().enumerate().filter(|(_, node)| node.state == State::Blocked);
        blocked
            .map(|(index, node)| {
                let text = format!("node {index} waits for the network to take its message {}", node.sequence - 1);
                Wait { cause: WaitCause::Network, text }
            })
            .collect()
    }
}
