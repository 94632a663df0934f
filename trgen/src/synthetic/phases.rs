//! Sources one after another.
//!
//! Each source has its own clock, which runs only in its phases. Messages generated before the end of a phase may still
//! be in flight in the next one, and a message that the network has not accepted yet stays in the queue of its node.

use super::bundle::{Bundle, Part};
use crate::message::{Delivery, Message};
use crate::source::{Next, Outbox, Reads, SourceError, TrGen, Wait};
use crate::units::{Cycle, NodeId};

/// Sources in turn. If the last phase has no length it never ends; otherwise the sequence repeats.
#[derive(Debug)]
pub(super) struct Phases {
    parts: Bundle,
    /// \[cycles\] Length of each part; only the last one may be endless.
    lengths: Vec<Option<u64>>,
    /// \[cycles\] Time that each part's clock has advanced in completed phases.
    elapsed: Vec<u64>,
    /// The active part.
    current: usize,
    /// \[cycle\] The first cycle of the current phase.
    begun: Cycle,
}

impl Phases {
    /// Needs at least one part and as many lengths as parts, each 1 or more.
    pub(super) fn new(parts: Vec<Box<dyn Part>>, lengths: Vec<Option<u64>>) -> Self {
        let elapsed = vec![0; parts.len()];
        Self { parts: Bundle::new(parts), lengths, elapsed, current: 0, begun: Cycle::FIRST }
    }

    /// The first cycle after the current phase; `None` if it never ends.
    fn end(&self) -> Option<Cycle> {
        self.lengths[self.current].map(|length| self.begun + length)
    }

    /// The local clock of a part in cycle `now`.
    fn clock(&self, part: usize, now: Cycle) -> Cycle {
        let running = if part == self.current { now.since(self.begun).saturating_add(1) } else { 0 };
        Cycle(self.elapsed[part].saturating_add(running))
    }
}

impl Part for Phases {
    fn is_silent(&self, node: NodeId) -> bool {
        self.parts.is_silent(node)
    }
}

impl TrGen for Phases {
    fn nodes(&self) -> usize {
        self.parts.nodes()
    }

    fn generate(&mut self, now: Cycle, out: &mut Outbox) -> Result<(), SourceError> {
        while let (Some(end), Some(length)) = (self.end(), self.lengths[self.current])
            && now >= end
        {
            // A late call generates the messages that were due in the meantime.
            let clock = self.clock(self.current, end - 1);
            self.parts.generate(self.current, clock, out)?;
            self.elapsed[self.current] += length;
            self.current = (self.current + 1) % self.parts.len();
            self.begun = end;
        }
        let clock = self.clock(self.current, now);
        self.parts.generate(self.current, clock, out)
    }

    fn reads(&self) -> Reads {
        self.parts.reads()
    }

    fn sent(&mut self, now: Cycle, message: &Message) {
        let clock = self.clock(self.parts.owner(message), now);
        self.parts.sent(clock, message);
    }

    fn take_back(&mut self, now: Cycle, message: &Message) -> bool {
        let clock = self.clock(self.parts.owner(message), now);
        self.parts.take_back(clock, message)
    }

    fn delivered(&mut self, now: Cycle, delivery: &Delivery) {
        let clock = self.clock(self.parts.owner(&delivery.message), now);
        self.parts.delivered(clock, delivery);
    }

    fn dropped(&mut self, now: Cycle, message: &Message) {
        let clock = self.clock(self.parts.owner(message), now);
        self.parts.dropped(clock, message);
    }

    fn next(&self) -> Next {
        let own = self.parts.next(self.current);
        let Some(end) = self.end() else {
            return match own {
                Next::At(clock) => Next::At(self.begun + clock.since(Cycle(self.elapsed[self.current] + 1))),
                next => next,
            };
        };
        if (0..self.parts.len()).all(|part| self.parts.next(part) == Next::Done) {
            return Next::Done;
        }
        match own {
            Next::At(clock) => Next::At((self.begun + clock.since(Cycle(self.elapsed[self.current] + 1))).min(end)),
            Next::Waiting | Next::Done => Next::At(end),
        }
    }

    fn silent_nodes(&self) -> usize {
        self.parts.silent_nodes()
    }

    fn waits(&self) -> Vec<Wait> {
        self.parts.waits()
    }
}
