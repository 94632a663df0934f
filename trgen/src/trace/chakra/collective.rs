//! The messages of collectives.
//!
//! All-reduce, all-gather and reduce-scatter pass pieces round a ring: a rank sends its first piece when it starts, and
//! the next one when that of its predecessor has arrived. An all-to-all sends to every other rank at once; a barrier does
//! so with 0 bytes. Collectives with a root exchange one message between the root, the first rank of the group, and every
//! other rank.
//!
//! # How the model departs from reality, and who could notice
//! Libraries of collectives cut pieces into chunks that follow each other, run several rings at once, and choose trees for
//! short vectors. A study of such a choice should name it, in a trace whose collectives are expanded to messages.

use crate::trace::kind::CollectiveKind;

use CollectiveKind::{AllGather, AllReduce, AllToAll, Barrier, Broadcast, Gather, Reduce, ReduceScatter, Scatter};

/// The name of the algorithm by which a collective runs.
#[must_use]
pub const fn algorithm(kind: CollectiveKind) -> &'static str {
    match kind {
        AllReduce | AllGather | ReduceScatter => "ring",
        AllToAll | Barrier => "direct",
        Reduce | Gather | Scatter | Broadcast => "linear",
    }
}

/// One rank's part in a collective: it sends, and takes arrivals one after another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part {
    kind: CollectiveKind,
    /// Number of ranks.
    size: u32,
    /// Position of this rank in the group.
    place: u32,
    /// \[bytes\] As in [`Work::Collective`](super::Work::Collective).
    bytes: u64,
}

impl Part {
    /// The part of the rank at position `place` of a group of `size` ranks.
    #[must_use]
    pub const fn new(kind: CollectiveKind, size: u32, place: u32, bytes: u64) -> Self {
        Self { kind, size, place, bytes }
    }

    /// Number of messages that this rank receives.
    #[must_use]
    pub const fn arrivals(&self) -> u32 {
        let others = self.size - 1;
        match self.kind {
            AllReduce => 2 * others,
            AllGather | ReduceScatter | AllToAll | Barrier => others,
            Reduce | Gather if self.place == 0 => others,
            Broadcast | Scatter if self.place > 0 && others > 0 => 1,
            Reduce | Gather | Broadcast | Scatter => 0,
        }
    }

    /// Number of its first arrivals whose data are combined with its own.
    #[must_use]
    pub const fn combined(&self) -> u32 {
        match self.kind {
            AllReduce | ReduceScatter => self.size - 1,
            Reduce if self.place == 0 => self.size - 1,
            _ => 0,
        }
    }

    /// \[bytes\] Size of a piece of the vector, by its number. Pieces are as equal as whole bytes permit.
    #[must_use]
    pub const fn piece(&self, number: u32) -> u64 {
        match self.kind {
            AllGather | Broadcast | Reduce => self.bytes,
            Barrier => 0,
            AllReduce | Gather | Scatter | AllToAll | ReduceScatter => {
                let count = self.size as u64;
                self.bytes / count + ((number as u64) < self.bytes % count) as u64
            }
        }
    }

    /// \[bytes\] Size of the data of arrival `number` (from 0) of a ring or a reduction, which determines how long
    /// combining takes.
    #[must_use]
    pub const fn arriving(&self, number: u32) -> u64 {
        match self.kind {
            // The piece of arrival k is one further behind than the one sent before.
            AllReduce | ReduceScatter => self.piece((self.place + 2 * self.size - 2 - number % self.size) % self.size),
            _ => self.piece(self.place),
        }
    }

    /// Calls `send` with position in the group and size \[bytes\] of every message that this rank sends once it has taken
    /// `taken` arrivals.
    pub fn sends(&self, taken: u32, mut send: impl FnMut(u32, u64)) {
        let (size, place) = (self.size, self.place);
        let next = (place + 1) % size;
        let behind = |by: u32| (place + 2 * size - by % size) % size;
        match self.kind {
            AllReduce | AllGather | ReduceScatter => {
                if taken < self.arrivals() {
                    // A reduction begins with the piece of the rank before, so that each rank ends with its own; the sums of
                    // an all-reduce follow in the same order.
                    let first = u32::from(self.kind != AllGather);
                    send(next, self.piece(behind(taken + first)));
                }
            }
            _ if taken > 0 => {}
            AllToAll | Barrier => (1..size).map(|by| (place + by) % size).for_each(|to| send(to, self.piece(to))),
            Broadcast | Scatter if place == 0 => (1..size).for_each(|to| send(to, self.piece(to))),
            Reduce | Gather if place > 0 => send(0, self.piece(place)),
            Reduce | Gather | Broadcast | Scatter => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: [CollectiveKind; 9] =
        [AllReduce, Reduce, AllGather, Gather, Scatter, Broadcast, AllToAll, ReduceScatter, Barrier];

    /// Messages that each rank sends and receives are the same, with the sizes by definition.
    #[test]
    fn every_message_is_received_and_none_is_missing() {
        for kind in KINDS {
            for size in 1..9_u32 {
                let bytes = 1003_u64;
                let mut arrivals = vec![0_u32; size as usize];
                let mut sum = 0;
                for place in 0..size {
                    let part = Part::new(kind, size, place, bytes);
                    for taken in 0..=part.arrivals() {
                        part.sends(taken, |to, bytes| {
                            assert_ne!(to, place);
                            arrivals[to as usize] += 1;
                            sum += bytes;
                        });
                    }
                }
                for place in 0..size {
                    assert_eq!(
                        arrivals[place as usize],
                        Part::new(kind, size, place, bytes).arrivals(),
                        "{kind:?} {size}"
                    );
                }
                let others = u64::from(size - 1);
                let first = Part::new(kind, size, 0, bytes).piece(0);
                let expected = match kind {
                    AllReduce => 2 * others * bytes,
                    ReduceScatter => others * bytes,
                    AllGather => others * u64::from(size) * bytes,
                    Broadcast | Reduce => others * bytes,
                    Gather | Scatter => bytes - first,
                    AllToAll => others * bytes,
                    Barrier => 0,
                };
                assert_eq!(sum, expected, "{kind:?} {size}");
            }
        }
    }
}
