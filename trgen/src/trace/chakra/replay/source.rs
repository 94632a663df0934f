//! The replay as a source of traffic.

use std::cmp::Reverse;

use super::super::Work;
use super::Replay;
use super::agenda::{Event, Purpose};
use crate::message::{Delivery, Message};
use crate::source::{Next, Outbox, SourceError, TrGen, Wait};
use crate::trace::timeline::Timeline;
use crate::units::Cycle;

impl TrGen for Replay {
    fn nodes(&self) -> usize {
        self.nodes
    }

    fn generate(&mut self, now: Cycle, out: &mut Outbox) -> Result<(), SourceError> {
        self.last = now;
        // Nobody has asked for it.
        if self.begun.is_kept() {
            self.begun = Timeline::default();
        }
        let end = self.start_of(now.next());
        while !self.is_past_end && self.agenda.next_time().is_some_and(|time| time < end) {
            self.step();
        }
        while let Some(&Reverse((time, _, id))) = self.leaving.peek() {
            if self.cycle_from(time) > now {
                break;
            }
            self.leaving.pop();
            let (purpose, bytes) = self.messages[id];
            let (Purpose::Send { from, to, .. } | Purpose::Piece { from, to, .. }) = purpose;
            let (source, destination) = (self.placement[from as usize], self.placement[to as usize]);
            self.in_flight += 1;
            out.push(Message { id: id as u64, source, destination, bytes, class: 0 });
        }
        Ok(())
    }

    fn sent(&mut self, _: Cycle, _: &Message) {}

    fn delivered(&mut self, now: Cycle, delivery: &Delivery) {
        let id = delivery.message.id as usize;
        self.vacant.push(id);
        self.in_flight -= 1;
        let arrives = self.start_of(now.next());
        self.timeline.arrived((0, id as u64), || arrives);
        self.agenda.push(arrives, Event::Arrived(self.messages[id].0));
    }

    fn dropped(&mut self, _: Cycle, message: &Message) {
        self.vacant.push(message.id as usize);
        self.in_flight -= 1;
        self.lost += 1;
    }

    fn next(&self) -> Next {
        if self.is_past_end {
            return Next::At(Cycle::NEVER);
        }
        // Events within a cycle are processed in it; a message leaves in the first cycle that begins later.
        let event = self.agenda.next_time().map(|time| Cycle::FIRST + time / self.cycle);
        let leaving = self.leaving.peek().map(|&Reverse((time, ..))| self.cycle_from(time));
        match event.into_iter().chain(leaving).min() {
            Some(cycle) => Next::At(cycle),
            None if self.in_flight > 0 || self.ranks.iter().any(|rank| rank.unfinished > 0) => Next::Waiting,
            None => match self.ranks.iter().map(|rank| self.cycle_from(rank.end)).max() {
                Some(end) if end > self.last => Next::At(end),
                _ => Next::Done,
            },
        }
    }

    fn silent_nodes(&self) -> usize {
        let mut sends = vec![false; self.nodes];
        for (nodes, node) in self.trace.ranks.iter().zip(&self.placement) {
            sends[node.index()] |=
                nodes.iter().any(|node| matches!(node.work, Work::Send { .. } | Work::Collective { .. }));
        }
        sends.iter().filter(|&&sends| !sends).count()
    }

    fn waits(&self) -> Vec<Wait> {
        self.pending().into_iter().chain(Wait::for_lost(self.lost)).collect()
    }
}
