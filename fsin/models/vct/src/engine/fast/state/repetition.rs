//! Routers, and what belongs to them, as words of a state of the whole run.

use trgen::recurrence::State;

use super::super::mask::{Mask, Small};
use super::{Chain, Endpoint, Gate, List, Router};

/// Writes a mask.
pub(in crate::engine::fast) fn put_mask<M: Mask>(into: &mut State, mask: M) {
    (0..M::SIZE).step_by(64).for_each(|first| into.put(mask.word(first)));
}

/// Writes small integers, eight in a word.
fn put_small<S: Small>(into: &mut State, all: &[S]) {
    for some in all.chunks(4) {
        into.put(some.iter().fold(0, |word, small| word << 16 | small.get() as u64));
    }
}

impl<M: Mask, const Q: usize, const P: usize> Router<M, Q, P> {
    /// Writes the router; `put_packets` writes the packets of a queue. What lies downstream never changes.
    pub(in crate::engine::fast) fn write_state(
        &self,
        into: &mut State,
        mut put_packets: impl FnMut(&mut State, Chain),
    ) {
        let Self {
            unrouted,
            awake,
            standing,
            leaving,
            refilled,
            owned,
            fitting,
            granted,
            credits,
            counts,
            last_winner,
            last_sent,
            downstream: _,
            waiting,
        } = self;
        // Undefined for queues that no packet is leaving.
        let refilled = *refilled & *leaving;
        for mask in [*unrouted, *awake, *standing, *leaving, refilled, *owned, *fitting, *granted] {
            put_mask(into, mask);
        }
        for small in [credits, counts, last_winner] {
            put_small(into, small);
        }
        put_small(into, last_sent);
        waiting.iter().for_each(|&queue| put_packets(into, queue));
    }
}

impl<M: Mask> Gate<M> {
    /// Writes the heads that sleep at the port. What lies upstream never changes.
    pub(in crate::engine::fast) fn write_state(&self, into: &mut State) {
        let Self { upstream: _, sleepers } = self;
        sleepers.iter().for_each(|&mask| put_mask(into, mask));
    }
}

impl<M: Mask> Endpoint<M> {
    /// Writes the state of a node for its own traffic.
    pub(in crate::engine::fast) fn write_state(&self, into: &mut State) {
        let &Self { arrived, last_consumed, consuming, injecting, held_up, serial, serial_busy } = self;
        put_mask(into, arrived);
        for word in [last_consumed, consuming, injecting.into(), held_up.into(), serial.into(), serial_busy.into()] {
            into.put(word.into());
        }
    }
}

impl<T: Copy + Ord + Default> List<T> {
    /// The entries in ascending order: no result depends on that of the list.
    pub(in crate::engine::fast) fn sorted(&self) -> Vec<T> {
        let mut all = self.all().to_vec();
        all.sort_unstable();
        all
    }
}
