//! The search for periods that are [passed](super::trains), and their passage.

use trgen::recurrence::State;
use trgen::{Cycle, NodeId};

use super::mask::Mask;
use super::trains::{Begun, Track, Trains, flows};
use super::{Fast, Whole};
use crate::router::layout::Layout;
use fsin_core::stats::{Receipt, Series};

impl<L: Layout, M: Mask, const D: usize, const Q: usize, const P: usize> Fast<L, M, D, Q, P> {
    /// Looks for periods that can be passed, and passes them if that does not lead beyond cycle `until`. Returns whether
    /// the clock has advanced.
    #[cold]
    pub(super) fn look_for_trains(&mut self, until: u64) -> bool {
        let Some(mut trains) = self.trains.take() else { return false };
        let now = self.clock;
        let has_passed = match trains.take(now) {
            Some(begun) => {
                let passed = self.pass(&trains, begun, until);
                match passed {
                    Some(cycles) => trains.succeed(self.clock, cycles),
                    None => trains.fail(now),
                }
                passed.is_some()
            }
            None => {
                match self.begin_period(until) {
                    Some(begun) => trains.begin(begun),
                    None => trains.wait(now),
                }
                false
            }
        };
        self.trains = Some(trains);
        has_passed
    }

    /// Begins a period, if enough of them may follow.
    fn begin_period(&mut self, until: u64) -> Option<Begun> {
        let (now, cycles) = (self.clock, self.rules.tail + 1);
        let part = self.parts.only_mut()?;
        let progress = part.in_progress();
        let is_long = progress.iter().all(|(_, message)| message.packets > 2 * Trains::FEWEST);
        if progress.is_empty() || !is_long || (until - now) / cycles <= 2 * Trains::FEWEST || !part.may_flow() {
            return None;
        }
        let words = self.sides()?;
        let part = self.parts.only_mut()?;
        part.begin_sights();
        Some(Begun { at: now, words, sequences: part.sequences() })
    }

    /// The state of all that lies before the first links of packets; `None` if something else goes on.
    fn sides(&mut self) -> Option<Vec<u64>> {
        let Whole { messages, unsent, sent_at_once, in_network, work, moves_until } = &self.whole;
        if !sent_at_once.is_empty() || messages.recorder.is_in_period() || self.has_failed {
            return None;
        }
        let mut into = State::new(Cycle(self.clock));
        into.put(*in_network);
        into.put(*work as u64);
        into.put_time(Cycle(*moves_until));
        unsent.iter().for_each(|&count| into.put(count.into()));
        self.parts.only_mut()?.write_sides(&mut into);
        Some(into.into_words())
    }

    /// Ends a period, and passes as many as follow, if it is complete and they go like it. Returns their cycles.
    fn pass(&mut self, trains: &Trains, begun: Option<Begun>, until: u64) -> Option<u64> {
        let (now, cycles) = (self.clock, self.rules.tail + 1);
        let sights = self.parts.only_mut()?.end_sights()?;
        let Begun { at: _, words, sequences } = begun?;
        if !sights.is_roomy || self.sides()? != words {
            return None;
        }
        let part = self.parts.only_mut()?;
        let sent: Vec<u64> = part.sequences().iter().zip(&sequences).map(|(now, before)| now - before).collect();
        let tracks = part.tracks(flows(sights.all, cycles)?, now, &sent)?;
        let progress = part.in_progress();
        let is_in_progress = |track: &Track| {
            let (flow, destination) = (&track.flow, NodeId(track.flow.destination));
            let is = |(node, message): &(u32, crate::engine::messages::Unsent)| {
                (*node, message.slot, message.destination) == (flow.source, flow.message, destination)
            };
            progress.iter().any(is)
        };
        if tracks.len() != progress.len() || !tracks.iter().all(is_in_progress) {
            return None;
        }
        let left = progress.iter().map(|(_, message)| message.packets - 1).min()?;
        let most = Trains::MOST / tracks.len() as u64;
        let times = left.min((until - now) / cycles).min(most.max(Trains::FEWEST));
        if times < Trains::FEWEST {
            return None;
        }
        part.pass_trains(&tracks, now, times);
        self.clock += times * cycles;
        self.whole.moves_until += times * cycles;
        self.record(&tracks, times, trains.digest);
        Some(times * cycles)
    }

    /// Records the packets of so many periods.
    fn record(&mut self, tracks: &[Track], times: u64, digest: bool) {
        let cycles = self.rules.tail + 1;
        let messages = &mut self.whole.messages;
        for Track { flow, siblings, riders, .. } in tracks {
            let hops = flow.hops();
            // The packet of the period is the first, or the one before if that is still under way.
            let age = u64::from(riders[1].is_some());
            let first = Receipt {
                source: NodeId(flow.source),
                destination: NodeId(flow.destination),
                sequence: flow.sequence.wrapping_sub(age * siblings),
                latency: flow.waited + hops + cycles - 1,
                hops,
            };
            let at = Cycle(flow.begin + hops + cycles - 1 - age * cycles);
            messages.receive_some(flow.message, times);
            let recorder = &mut messages.recorder;
            recorder.injected(times);
            recorder.hops(times * hops);
            recorder.departed_together(flow.waited, times);
            recorder.received_in_series(&Series { first, at, cycles, numbers: *siblings, packets: times }, digest);
        }
    }
}
