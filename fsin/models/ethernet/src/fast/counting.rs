//! What is counted at ports, at once or, where hosts are apart, when their clock has passed it.

use super::Fast;
use super::side::HostSide;
use super::state::Counted;

impl<H: HostSide> Fast<H> {
    /// Counts something at a port now, or keeps it.
    #[inline(always)]
    pub(super) fn note(&mut self, port: usize, what: Counted) {
        if H::IS_APART {
            self.base.hosts.keep(port, what);
        } else {
            self.count(port, self.base.now, what);
        }
    }

    /// Counts something at a port that happened at time `at`.
    #[inline(always)]
    pub(super) fn count(&mut self, port: usize, at: u64, what: Counted) {
        let state = &mut self.ports[port];
        match what {
            Counted::Arrived { bytes } => {
                let link = &self.base.wiring.links[port];
                state.counts.frames += 1;
                state.counts.busy += link.time(bytes);
                if link.is_visible {
                    self.base.hosts.hop();
                    if let Some(crossed) = self.base.crossed.get_mut(port) {
                        *crossed += 1;
                    }
                }
            }
            Counted::Damaged => state.counts.damaged += 1,
            Counted::Dropped { is_tied } => {
                state.counts.dropped += 1;
                state.counts.tied += u64::from(is_tied);
            }
            Counted::Waits { begin, length } => {
                state.area += u128::from(begin - at);
                if let Some(lengths) = self.base.lengths.get_mut(port) {
                    lengths.wait(at, begin);
                }
                state.counts.longest = state.counts.longest.max(u64::from(length) + 1);
                self.base.hosts.joins(port, at, begin);
            }
            Counted::Joins { length } => {
                state.counts.longest = state.counts.longest.max(u64::from(length) + 1);
                self.spend(port, at, length);
                self.base.hosts.holds(port, length as usize + 1);
            }
            Counted::Leaves { length } => {
                self.spend(port, at, length);
                self.base.hosts.holds(port, length as usize - 1);
            }
            Counted::Pauses => self.base.pauses += 1,
        }
    }

    /// Adds the time since a queue last changed, in which it had `length` frames.
    #[inline(always)]
    fn spend(&mut self, port: usize, at: u64, length: u32) {
        let state = &mut self.ports[port];
        state.area += u128::from(length) * u128::from(at - state.changed);
        state.changed = at;
        if let Some(lengths) = self.base.lengths.get_mut(port) {
            lengths.spend(length as usize, at);
        }
    }
}
