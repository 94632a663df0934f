//! The messages of collectives: what a rank sends after which arrivals, and when its part ends.

use super::agenda::{Event, Purpose};
use super::{Doing, NANOSECOND, Replay, combining};

impl Replay {
    /// Sends what a rank sends after the arrivals of a collective that it has taken.
    pub(super) fn send_pieces(&mut self, from: u32, group: u32, number: u32, now: u64) {
        let Some(progress) = self.ranks[from as usize].progress.get_mut(&(group, number)) else { return };
        let Some((_, part)) = &progress.begun else { return };
        let (taken, layout) = (progress.taken, &self.layout);
        let mut sends = Vec::new();
        part.sends(taken, |phase, place, bytes| sends.push((layout.counted(part, group, from, phase), place, bytes)));
        progress.outstanding += sends.len() as u32;
        for (counted, place, bytes) in sends {
            let to = self.layout.rank(group, place);
            self.ranks[from as usize].report.sent_collective += 1;
            self.send(now, Purpose::Piece { from, to, group, number, counted }, bytes);
        }
    }

    /// Takes arrivals of a collective in their order, and ends it after the last one.
    pub(super) fn take_arrivals(&mut self, rank: u32, group: u32, number: u32, now: u64) {
        loop {
            let Some(progress) = self.ranks[rank as usize].progress.get_mut(&(group, number)) else { return };
            let Some((node, part)) = &progress.begun else { return };
            let node = *node;
            if progress.is_combining || progress.is_starting {
                return;
            }
            let Some((counted, count)) = part.needs(progress.combined) else {
                let is_waiting = progress.taken < progress.combined;
                if is_waiting || (part.arrivals() == 0 && progress.outstanding > 0) {
                    return;
                }
                let is_over = progress.outstanding == 0;
                let (record, share) = progress.share;
                progress.begun = None;
                if is_over {
                    self.ranks[rank as usize].progress.remove(&(group, number));
                }
                self.records[record].parts[share].end = Some(now);
                let begin = self.ranks[rank as usize].communicated(node);
                self.note(rank, node, Doing::Collective, begin, now);
                self.finish_node(rank, node, now);
                return;
            };
            if progress.arrived.get(&counted).is_none_or(|&arrived| arrived < count) {
                return;
            }
            let combining = match (self.params.memory, part.combined(progress.combined)) {
                (Some(memory), Some(bytes)) => combining(bytes, memory).saturating_mul(NANOSECOND),
                _ => 0,
            };
            if combining > 0 {
                progress.is_combining = true;
                self.agenda.push(now.saturating_add(combining), Event::Combined { rank, group, number });
                return;
            }
            self.combined(rank, group, number, now);
        }
    }

    /// The data of an arrival are in place: it is taken, after the delay of groups.
    pub(super) fn combined(&mut self, rank: u32, group: u32, number: u32, now: u64) {
        let is_part = self.trace.groups[group as usize].ranks.len() < self.ranks.len();
        let state = &mut self.ranks[rank as usize];
        let Some(progress) = state.progress.get_mut(&(group, number)) else { return };
        progress.combined += 1;
        if is_part && self.params.group_delay > 0 {
            self.agenda.push(now.saturating_add(self.params.group_delay), Event::Taken { rank, group, number });
            return;
        }
        progress.taken += 1;
        state.report.received += 1;
        self.send_pieces(rank, group, number, now);
    }
}
