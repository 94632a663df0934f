//! The interface of a node: which of its messages are in progress, and whose packet comes next.
//!
//! An interface has lanes, each with messages of its own: one lane, or one for each link. A lane has up to a number of
//! messages in progress, whose packets it sends in turn, at most one in a cycle. A message is in progress only when all
//! earlier ones of its lane to the same destination have been sent, and all messages to a destination share a lane: so
//! messages from one node to another are sent in their order.
//!
//! Decision: docs/decisions/0202-interfaces.md.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::str::FromStr;

use trgen::NodeId;
use trgen::catalog::{ErrorKind, SpecError};
use trgen::phrase;

/// How a node's interface shares its links among its messages.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Interface {
    /// One message after another.
    Serial,
    /// \[messages\] Up to so many messages to different destinations in progress, whose packets take turns. A message
    /// whose packet finds no room keeps its turn and lets others pass.
    Interleaved(u32),
    /// Each link has an injector with messages of its own, one after another. A message belongs to the link with which
    /// its route begins in the order of dimensions; of two equally short directions one is drawn for each pair of
    /// nodes, and all its packets take it. Where the routing is adaptive, packets may leave through other links.
    PerPort,
}

impl Interface {
    /// \[messages\] Maximum number of messages in progress in a lane.
    pub const MOST: u32 = 1 << 16;

    /// Number of lanes of a node with so many links.
    #[must_use]
    pub const fn lanes(self, links: usize) -> usize {
        match self {
            Self::Serial | Self::Interleaved(_) => 1,
            Self::PerPort => links,
        }
    }

    /// \[messages\] Maximum number of messages in progress in each lane.
    #[must_use]
    pub const fn in_progress(self) -> u32 {
        match self {
            Self::Serial | Self::PerPort => 1,
            Self::Interleaved(most) => most,
        }
    }

    /// \[messages\] Room of a throttled source queue: as many messages as a node with so many links can have in
    /// progress.
    #[must_use]
    pub const fn room(self, links: usize) -> u32 {
        self.in_progress() * self.lanes(links) as u32
    }
}

impl fmt::Display for Interface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Serial => f.write_str("serial"),
            Self::Interleaved(most) => write!(f, "interleaved:{most}"),
            Self::PerPort => f.write_str("per-port"),
        }
    }
}

impl FromStr for Interface {
    type Err = SpecError;

    fn from_str(word: &str) -> Result<Self, SpecError> {
        match (word, word.strip_prefix("interleaved:").map(str::parse)) {
            ("serial", _) => Ok(Self::Serial),
            ("per-port", _) => Ok(Self::PerPort),
            (_, Some(Ok(most @ 1..=Self::MOST))) => Ok(Self::Interleaved(most)),
            _ => Err(SpecError::new(
                ErrorKind::UnknownName,
                phrase![("`{word}` is not an interface")],
                phrase![("use serial, per-port, or interleaved:N with 1 to {} messages in progress", Self::MOST)],
            )),
        }
    }
}

/// A message at an interface.
pub trait Pending: Copy {
    /// The node that it is sent to.
    fn destination(&self) -> NodeId;
}

/// A lane of an interface.
#[derive(Clone, Debug)]
pub struct Lane<T> {
    /// \[messages\] Maximum number of messages in progress.
    most: usize,
    /// Messages in progress, to different destinations, in the order of their turns. If only one is in progress at a
    /// time, the others follow it here, in their order.
    in_progress: VecDeque<T>,
    /// By destination: the other messages with their numbers, in their order.
    later: BTreeMap<NodeId, VecDeque<(u64, T)>>,
    /// Destinations to which no message is in progress, by the number of the first message in `later`.
    ready: BTreeMap<u64, NodeId>,
    /// Number of messages so far.
    count: u64,
}

impl<T: Pending> Lane<T> {
    /// An empty lane with up to `most` messages in progress.
    #[must_use]
    pub const fn new(most: u32) -> Self {
        Self {
            most: most as usize,
            in_progress: VecDeque::new(),
            later: BTreeMap::new(),
            ready: BTreeMap::new(),
            count: 0,
        }
    }

    /// True if there is nothing to send.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.in_progress.is_empty()
    }

    /// All messages, in any order.
    pub fn all(&self) -> impl Iterator<Item = &T> {
        self.in_progress.iter().chain(self.later.values().flatten().map(|(_, message)| message))
    }

    /// All messages, in any order. Their destinations must stay the same.
    pub fn all_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.in_progress.iter_mut().chain(self.later.values_mut().flatten().map(|(_, message)| message))
    }

    /// Appends a message.
    pub fn push(&mut self, message: T) {
        if self.most == 1 {
            self.in_progress.push_back(message);
            return;
        }
        let destination = message.destination();
        let is_busy = self.in_progress.iter().any(|other| other.destination() == destination);
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

    /// Removes all messages but those to `keep`, of which turns and order stay the same.
    pub fn retain(&mut self, keep: impl Fn(&T) -> bool) {
        let mut later: Vec<(u64, T)> = std::mem::take(&mut self.later).into_values().flatten().collect();
        later.sort_unstable_by_key(|(number, _)| *number);
        let all =
            std::mem::take(&mut self.in_progress).into_iter().chain(later.into_iter().map(|(_, message)| message));
        (self.ready, self.count) = (BTreeMap::new(), 0);
        all.filter(keep).for_each(|message| self.push(message));
    }

    /// Takes a packet of the first message in turn for which `place` finds one; `rest` is the message without that
    /// packet, or `None` if it was the last. Returns the place, and the message as it was with the packet.
    pub fn next<P>(&mut self, place: impl Fn(&T) -> Option<P>, rest: impl FnOnce(&T) -> Option<T>) -> Option<(P, T)> {
        let mut turns = self.in_progress.iter().take(self.most).enumerate();
        let (turn, place) = turns.find_map(|(turn, message)| Some((turn, place(message)?)))?;
        if self.most == 1 {
            let first = self.in_progress.front_mut()?;
            let message = *first;
            match rest(&message) {
                Some(rest) => *first = rest,
                None => drop(self.in_progress.pop_front()),
            }
            return Some((place, message));
        }
        let message = self.in_progress.remove(turn)?;
        match rest(&message) {
            Some(rest) => self.in_progress.push_back(rest),
            None => self.finish(message.destination()),
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
    use super::*;

    /// A message: its number, destination and packets.
    #[derive(Clone, Copy, Debug)]
    struct Plain(u32, u32, u32);

    impl Pending for Plain {
        fn destination(&self) -> NodeId {
            NodeId(self.1)
        }
    }

    fn rest(&Plain(number, destination, packets): &Plain) -> Option<Plain> {
        (packets > 1).then(|| Plain(number, destination, packets - 1))
    }

    /// The messages of the packets that a lane sends, if there is always room.
    fn sent(most: u32, messages: &[(u32, u32)]) -> Vec<u32> {
        let mut lane = Lane::new(most);
        for (&(destination, packets), number) in messages.iter().zip(0..) {
            lane.push(Plain(number, destination, packets));
        }
        assert_eq!(lane.all().count(), messages.len());
        let numbers = std::iter::from_fn(|| lane.next(|_| Some(()), rest)).map(|(_, message)| message.0).collect();
        assert!(lane.is_empty() && lane.later.is_empty() && lane.ready.is_empty());
        numbers
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
        lane.push(Plain(0, 7, 2));
        lane.push(Plain(1, 8, 2));
        let other = |message: &Plain| (message.0 == 1).then_some(());
        assert_eq!(lane.next(other, rest).unwrap().1.0, 1);
        assert_eq!(lane.next(|_| Some(()), rest).unwrap().1.0, 0);
        assert!(lane.next(other, rest).is_some() && lane.next(other, rest).is_none());
    }

    #[test]
    fn what_is_left_keeps_its_order() {
        let mut lane = Lane::new(2);
        let messages = [Plain(0, 7, 2), Plain(1, 8, 1), Plain(2, 9, 1), Plain(3, 7, 1), Plain(4, 5, 1)];
        messages.into_iter().for_each(|message| lane.push(message));
        assert_eq!(lane.next(|_| Some(()), rest).unwrap().1.0, 0);
        lane.retain(|message| message.1 != 8);
        let numbers: Vec<u32> =
            std::iter::from_fn(|| lane.next(|_| Some(()), rest)).map(|(_, message)| message.0).collect();
        assert_eq!(numbers, [0, 2, 3, 4]);
    }

    #[test]
    fn words_mean_what_they_say() {
        for word in ["serial", "per-port", "interleaved:1", "interleaved:65536"] {
            assert_eq!(word.parse::<Interface>().unwrap().to_string(), word);
        }
        for word in ["", "interleaved", "interleaved:0", "interleaved:65537", "parallel"] {
            assert!(word.parse::<Interface>().unwrap_err().to_string().contains("is not an interface"), "{word}");
        }
    }
}
