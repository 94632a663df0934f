//! What routers keep of packets that pass in [trains](super::super::trains).

use trgen::recurrence::State;

use super::super::mask::{Mask, Small};
use super::Router;
use super::repetition::put_mask;

impl<M: Mask, const Q: usize, const P: usize> Router<M, Q, P> {
    /// True if no head of the transit queues below `outputs` has to ask for an output, no packet waits for a link, and
    /// every head of an injection queue will be examined in the next cycle.
    pub(in crate::engine::fast) fn is_flowing(&self, outputs: usize) -> bool {
        let heads = self.unrouted | self.standing & M::below(outputs);
        ((heads | self.awake) & M::below(outputs)).is_empty()
            && self.granted.is_empty()
            && (self.unrouted & !self.awake).is_empty()
    }

    /// Writes the injection queues: all but their packets.
    pub(in crate::engine::fast) fn write_injection(&self, into: &mut State, outputs: usize, injectors: usize) {
        let theirs = !M::below(outputs);
        for mask in [self.unrouted, self.awake, self.standing, self.leaving, self.refilled & self.leaving] {
            put_mask(into, mask & theirs);
        }
        self.counts[outputs..outputs + injectors].iter().for_each(|count| into.put(count.get() as u64));
    }

    /// \[packets\] In transit queues; credits that are out, of `capacity` for each output channel; and \[channels\]
    /// owned ones.
    pub(in crate::engine::fast) fn in_transit(&self, outputs: usize, capacity: usize) -> [usize; 3] {
        let counts = self.counts[..outputs].iter().map(|count| count.get()).sum();
        let credits = self.credits[..outputs].iter().map(|credits| capacity - credits.get()).sum();
        [counts, credits, (0..outputs).filter(|&output| self.owned.has(output)).count()]
    }

    /// Lets a packet be leaving a transit queue, all of it that is left.
    pub(in crate::engine::fast) fn put_leaving(&mut self, input: usize) {
        self.counts[input].increase();
        self.leaving.insert(input);
        self.refilled.erase(input);
    }

    /// Takes away the packet that is leaving a transit queue.
    pub(in crate::engine::fast) fn take_leaving(&mut self, input: usize) {
        self.counts[input].decrease();
        self.leaving.erase(input);
    }

    /// Allocates an output channel whose packet is crossing the link.
    pub(in crate::engine::fast) fn put_owned(&mut self, output: usize) {
        self.owned.insert(output);
    }

    /// Frees an output channel.
    pub(in crate::engine::fast) fn take_owned(&mut self, output: usize) {
        self.owned.erase(output);
    }

    /// Takes a credit of an output channel.
    pub(in crate::engine::fast) fn take_credit(&mut self, output: usize) {
        self.credits[output].decrease();
        if self.credits[output].get() == 0 {
            self.fitting.erase(output);
        }
    }

    /// Gives an output channel a credit back.
    pub(in crate::engine::fast) fn put_credit(&mut self, output: usize) {
        self.credits[output].increase();
        self.fitting.insert(output);
    }

    /// Remembers what arbiters remember of a packet that has gone from an input through an output channel of a port.
    pub(in crate::engine::fast) fn remember(&mut self, input: usize, output: usize, port: usize) {
        self.last_winner[output] = M::Small::of(input);
        self.last_sent[port] = M::Small::of(output);
    }
}
