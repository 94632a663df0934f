//! Sinks of nodes that refuse messages of a class at times.
//!
//! A port of ejection has a buffer for each VC, as large as those of routers. In each cycle a node takes the flit at
//! the front of each of them, unless that is the head of a packet that it refuses. So what a node has begun to take it
//! takes to its end, and packets of other classes pass if they have VCs of their own. The credit of a flit goes back
//! when the node takes it. A node that refuses nothing takes each flit in the cycle of its arrival.
//!
//! Decision: docs/decisions/0290-nodes-that-refuse.md.

use std::collections::{BTreeMap, VecDeque};

use fsin_core::slab::Slab;
use trgen::NodeId;

use super::interface::{Flit, Packet};

/// The buffers of the ports of ejection of a part of the network.
#[derive(Debug)]
pub(crate) struct Sinks {
    /// The class of messages that nodes may refuse.
    pub(crate) class: u8,
    /// By node: true while it refuses them.
    refuses: Vec<bool>,
    /// By the VC of the output port to the node, as its engine numbers them: the flits in its buffer, at least one.
    waiting: BTreeMap<usize, VecDeque<Flit>>,
}

impl Sinks {
    /// Empty buffers, in a network of so many nodes that take everything at first.
    pub(crate) fn new(class: u8, nodes: usize) -> Self {
        Self { class, refuses: vec![false; nodes], waiting: BTreeMap::new() }
    }

    /// Lets a node take messages of the class, or refuse them.
    pub(crate) fn admit(&mut self, node: NodeId, admits: bool) {
        self.refuses[node.index()] = !admits;
    }

    /// Puts a flit that has arrived into its buffer.
    pub(crate) fn arrive(&mut self, vc: usize, flit: Flit) {
        self.waiting.entry(vc).or_default().push_back(flit);
    }

    /// True if the node refuses this flit.
    fn refuses(&self, flit: Flit, packets: &Slab<Packet>) -> bool {
        let packet = &packets[flit.packet];
        flit.is_head && packet.source_class == self.class && self.refuses[packet.destination as usize]
    }

    /// True if a node takes a flit in the present cycle.
    pub(crate) fn can_take(&self, packets: &Slab<Packet>) -> bool {
        self.waiting.values().any(|buffer| !self.refuses(buffer[0], packets))
    }

    /// Takes the flits that nodes take in a cycle, each with its VC.
    pub(crate) fn take(&mut self, packets: &Slab<Packet>) -> Vec<(usize, Flit)> {
        let taken = self.waiting.iter().map(|(&vc, buffer)| (vc, buffer[0]));
        let taken: Vec<(usize, Flit)> = taken.filter(|&(_, flit)| !self.refuses(flit, packets)).collect();
        for (vc, _) in &taken {
            let buffer = self.waiting.entry(*vc).or_default();
            buffer.pop_front();
            if buffer.is_empty() {
                self.waiting.remove(vc);
            }
        }
        taken
    }

    /// The node that refuses the flit at the front of a buffer; `None` if there is none.
    pub(crate) fn refusing(&self, vc: usize, packets: &Slab<Packet>) -> Option<NodeId> {
        let &front = self.waiting.get(&vc)?.front()?;
        self.refuses(front, packets).then(|| NodeId(packets[front.packet].destination))
    }

    /// The nodes that refuse a flit which waits for them, in the order of VCs.
    pub(crate) fn all_refusing(&self, packets: &Slab<Packet>) -> Vec<NodeId> {
        let mut nodes: Vec<NodeId> = self.waiting.keys().filter_map(|&vc| self.refusing(vc, packets)).collect();
        nodes.dedup();
        nodes
    }

    /// Number of flits in the buffers.
    pub(crate) fn flits(&self) -> usize {
        self.waiting.values().map(VecDeque::len).sum()
    }
}
