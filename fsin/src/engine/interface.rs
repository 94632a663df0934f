//! The network interface of a node: where messages wait to be cut into packets, and where packets become messages again.

use std::collections::VecDeque;

use trgen::{Cycle, Delivery, Message};

use crate::network::{Injected, Notices};
use crate::router::SourceQueue;

/// A message that some node is sending or receiving.
#[derive(Clone, Copy, Debug)]
struct Underway {
    message: Message,
    offered: Cycle,
    /// Packets that have not entered a source buffer yet.
    to_send: u64,
    /// Packets that have not been consumed yet.
    to_receive: u64,
}

/// Names a message that is under way.
pub(super) type Slot = u32;

/// The interfaces of all nodes.
#[derive(Clone, Debug)]
pub struct Interface {
    queue: SourceQueue,
    underway: Vec<Underway>,
    vacant: Vec<Slot>,
    waiting: Vec<VecDeque<Slot>>,
}

impl Interface {
    /// Empty interfaces of `nodes` nodes.
    #[must_use]
    pub fn new(nodes: usize, queue: SourceQueue) -> Self {
        Self { queue, underway: Vec::new(), vacant: Vec::new(), waiting: vec![VecDeque::new(); nodes] }
    }

    /// Takes a message of `packets` packets (at least 1), unless its node's interface is full.
    pub fn accept(&mut self, message: Message, packets: u64, now: Cycle) -> Injected {
        let waiting = &mut self.waiting[message.source.index()];
        if self.queue == SourceQueue::Throttled && !waiting.is_empty() {
            return Injected::Refused;
        }
        let underway = Underway { message, offered: now, to_send: packets, to_receive: packets };
        let slot = match self.vacant.pop() {
            Some(slot) => {
                self.underway[slot as usize] = underway;
                slot
            }
            None => {
                self.underway.push(underway);
                (self.underway.len() - 1) as Slot
            }
        };
        waiting.push_back(slot);
        Injected::Accepted
    }

    /// Packets that have not entered a source buffer yet, of all nodes.
    #[must_use]
    pub fn packets_waiting(&self) -> u64 {
        self.waiting.iter().flatten().map(|&slot| self.underway[slot as usize].to_send).sum()
    }

    /// Packets of `node` that have not entered a source buffer yet; 0 of a node that has no interface.
    #[must_use]
    pub fn packets_waiting_at(&self, node: usize) -> u64 {
        self.waiting.get(node).into_iter().flatten().map(|&slot| self.underway[slot as usize].to_send).sum()
    }

    /// The message whose packet `node` would send next.
    #[must_use]
    pub fn front(&self, node: usize) -> Option<Slot> {
        self.waiting[node].front().copied()
    }

    /// The message in a slot, and the cycle in which it was offered.
    #[must_use]
    pub fn message(&self, slot: Slot) -> (&Message, Cycle) {
        let underway = &self.underway[slot as usize];
        (&underway.message, underway.offered)
    }

    /// A packet of the front message of `node` has entered a source buffer.
    pub fn packet_sent(&mut self, node: usize, notices: &mut Notices) {
        if let Some(&slot) = self.waiting[node].front() {
            let underway = &mut self.underway[slot as usize];
            underway.to_send -= 1;
            if underway.to_send == 0 {
                notices.sent.push(underway.message);
                self.waiting[node].pop_front();
            }
        }
    }

    /// A packet of the message in `slot` has been consumed in full.
    pub fn packet_received(&mut self, slot: Slot, now: Cycle, notices: &mut Notices) {
        let underway = &mut self.underway[slot as usize];
        underway.to_receive -= 1;
        if underway.to_receive == 0 {
            notices.delivered.push(Delivery { message: underway.message, offered: underway.offered, delivered: now });
            self.vacant.push(slot);
        }
    }
}
