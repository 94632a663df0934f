//! What happens, and when.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What a message is for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Purpose {
    /// Node `node` of rank `from` sends it to `to`.
    Send { from: u32, node: u32, to: u32 },
    /// Part of collective number `number` of a group, counted with others of this phase or sender.
    Piece { from: u32, to: u32, group: u32, number: u32, counted: u32 },
}

/// What happens.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    /// A computation ends.
    Computed { rank: u32, node: u32 },
    /// A message has arrived.
    Arrived(Purpose),
    /// A rank has added the data of an arrival of a collective.
    Combined { rank: u32, group: u32, number: u32 },
    /// A rank has taken an arrival of a collective, or may begin to send.
    Taken { rank: u32, group: u32, number: u32 },
}

/// Events by time, then in the order of insertion.
#[derive(Clone, Default, Debug)]
pub(super) struct Agenda {
    heap: BinaryHeap<Reverse<(u64, u64, usize)>>,
    events: Vec<Event>,
    vacant: Vec<usize>,
    numbers: u64,
}

impl Agenda {
    pub(super) fn push(&mut self, time: u64, event: Event) {
        let slot = match self.vacant.pop() {
            Some(slot) => {
                self.events[slot] = event;
                slot
            }
            None => {
                self.events.push(event);
                self.events.len() - 1
            }
        };
        self.heap.push(Reverse((time, self.numbers, slot)));
        self.numbers += 1;
    }

    pub(super) fn next_time(&self) -> Option<u64> {
        self.heap.peek().map(|Reverse((time, ..))| *time)
    }

    pub(super) fn pop(&mut self) -> Option<(u64, Event)> {
        let Reverse((time, _, slot)) = self.heap.pop()?;
        self.vacant.push(slot);
        Some((time, self.events[slot]))
    }
}
