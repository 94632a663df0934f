//! The interface of a node: which of its messages are in progress, and whose packet comes next.
//!
//! An interface has lanes, each with messages of its own: one lane, or one for each link. A lane has up to a number of
//! messages in progress, whose packets it sends in turn, at most one in a cycle. A message is in progress only when all
//! earlier ones of its lane to the same destination have been sent, and all messages to a destination share a lane: so
//! messages from one node to another are sent in their order.
//!
//! Decision: docs/decisions/0202-interfaces.md.

use std::collections::{BTreeMap, VecDeque};

use trgen::NodeId;

use super::messages::Unsent;

/// A lane of an interface.
#[derive(Clone, Debug)]
pub(super) struct Lane {
    /// \[messages\] Maximum number of messages in progress.
    most: usize,
    /// Messages in progress, to different destinations, in the order of their turns.
    in_progress: VecDeque<Unsent>,
    /// By destination: the other messages with their numbers, in their order.
    later: BTreeMap<NodeId, VecDeque<(u64, Unsent)>>,
    /// Destinations to which no message is in progress, by the number of the first message in `later`.
    ready: BTreeMap<u64, NodeId>,
    /// Number of messages so far.
    count: u64,
}

impl Lane {
    /// An empty lane with up to `most` messages in progress.
    pub(super) const fn new(most: u32) -> Self {
        Self {
            most: most as usize,
            in_progress: VecDeque::new(),
            later: BTreeMap::new(),
            ready: BTreeMap::new(),
            count: 0,
        }
    }

    /// True if there is nothing to send.
    pub(super) fn is_empty(&self) -> bool {
        self.in_progress.is_empty()
    }

    /// \[packets\] Packets to be sent.
    pub(super) fn packets(&self) -> u64 {
        let later = self.later.values().flatten().map(|(_, message)| message);
        self.in_progress.iter().chain(later).map(|message| message.packets).sum()
    }

    /// Appends a message.
    pub(super) fn push(&mut self, message: Unsent) {
        let destination = message.destination;
        let is_busy = self.in_progress.iter().any(|other| other.destination == destination);
        if !is_busy && self.in_progress.len() < self.most {
            self.in_progress.push_back(message);
            return;
        }
        let others = self.later.entry(destination).or_default();
        if !is_busy && others.is_empty() {
            self.ready.insert(self.count, destination);
        }
        others.push_back((self.count, message));
        self.count += 1;
    }

    /// Takes a packet of the first message in turn for which `place` finds one. Returns that place, and the message as
    /// it was with the packet.
    pub(super) fn next<T>(&mut self, place: impl Fn(&Unsent) -> Option<T>) -> Option<(T, Unsent)> {
        let found = self.in_progress.iter().enumerate().find_map(|(turn, message)| Some((turn, place(message)?)));
        let (turn, place) = found?;
        let message = self.in_progress.remove(turn)?;
        if message.packets > 1 {
            self.in_progress.push_back(Unsent { packets: message.packets - 1, ..message });
        } else {
            self.finish(message.destination);
        }
        Some((place, message))
    }

    /// Begins another message after one to this destination has been sent.
    fn finish(&mut self, destination: NodeId) {
        if let Some(&(number, _)) = self.later.get(&destination).and_then(VecDeque::front) {
            self.ready.insert(number, destination);
        }
        let Some((_, destination)) = self.ready.pop_first() else { return };
        let Some(others) = self.later.get_mut(&destination) else { return };
        self.in_progress.extend(others.pop_front().map(|(_, message)| message));
        if others.is_empty() {
            self.later.remove(&destination);
        }
    }
}

#[cfg(test)]
mod tests {
    use trgen::{Cycle, Message};

    use super::*;

    /// The messages of the packets that a lane sends, if there is always room.
    fn sent(most: u32, messages: &[(u32, u64)]) -> Vec<u32> {
        let mut lane = Lane::new(most);
        for (slot, &(destination, packets)) in messages.iter().enumerate() {
            let destination = NodeId(destination);
            let message = Message { id: 0, source: NodeId(0), destination, bytes: 0, class: 0 };
            lane.push(Unsent::new(slot as u32, &message, packets, Cycle::FIRST));
        }
        assert_eq!(lane.packets(), messages.iter().map(|(_, packets)| packets).sum::<u64>());
        let slots = std::iter::from_fn(|| lane.next(|_| Some(()))).map(|(_, message)| message.slot).collect();
        assert!(lane.is_empty() && lane.later.is_empty() && lane.ready.is_empty());
        slots
    }

    #[test]
    fn messages_take_turns_and_those_to_one_destination_keep_their_order() {
        let messages = [(1, 3), (1, 1), (2, 2), (3, 1)];
        assert_eq!(sent(1, &messages), [0, 0, 0, 1, 2, 2, 3]);
        assert_eq!(sent(2, &messages), [0, 2, 0, 2, 0, 3, 1]);
        assert_eq!(sent(9, &messages), [0, 2, 3, 0, 2, 0, 1]);
    }

    #[test]
    fn a_message_without_room_keeps_its_turn() {
        let mut lane = Lane::new(2);
        for (slot, destination) in [(0, 7), (1, 8)] {
            let destination = NodeId(destination);
            let message = Message { id: 0, source: NodeId(0), destination, bytes: 0, class: 0 };
            lane.push(Unsent::new(slot, &message, 2, Cycle::FIRST));
        }
        let other = |message: &Unsent| (message.slot == 1).then_some(());
        assert_eq!(lane.next(other).unwrap().1.slot, 1);
        assert_eq!(lane.next(|_| Some(())).unwrap().1.slot, 0);
        assert!(lane.next(other).is_some() && lane.next(other).is_none());
    }
}
