//! What is counted at ports, at once or, where hosts are apart, when their clock has passed it.

use super::side::HostSide;
use super::state::{Counted, PortState};
use crate::engine::Base;

/// Counts something at a port now, or keeps it. `state` is that of the port.
#[inline(always)]
pub(super) fn note<H: HostSide>(state: &mut PortState, base: &mut Base<H>, port: usize, what: Counted) {
    if H::IS_APART {
        base.hosts.keep(port, what);
    } else {
        count(state, base, port, base.now, what);
    }
}

/// Counts something at a port that happened at time `at`.
#[inline(always)]
pub(super) fn count<H: HostSide>(state: &mut PortState, base: &mut Base<H>, port: usize, at: u64, what: Counted) {
    match what {
        Counted::Arrived { time, is_visible } => {
            state.counts.frames += 1;
            state.counts.busy += time;
            if is_visible {
                base.hosts.hop();
                if let Some(crossed) = base.crossed.get_mut(port) {
                    *crossed += 1;
                }
            }
        }
        Counted::Damaged => state.counts.damaged += 1,
        Counted::Trimmed => state.counts.trimmed += 1,
        Counted::Dropped { is_tied } => {
            state.counts.dropped += 1;
            state.counts.tied += u64::from(is_tied);
        }
        Counted::Waits { begin, length } => {
            state.area += u128::from(begin - at);
            if let Some(lengths) = base.lengths.get_mut(port) {
                lengths.wait(at, begin);
            }
            state.counts.longest = state.counts.longest.max(u64::from(length) + 1);
            base.hosts.joins(port, at, begin);
        }
        Counted::Joins { length } => {
            state.counts.longest = state.counts.longest.max(u64::from(length) + 1);
            spend(state, base, port, at, length);
            base.hosts.holds(port, length as usize + 1);
        }
        Counted::Leaves { length } => {
            spend(state, base, port, at, length);
            base.hosts.holds(port, length as usize - 1);
        }
        Counted::Pauses => base.pauses += 1,
        Counted::OfClass(event) => base.tally.count(port, at, event),
    }
}

/// Adds the time since a queue last changed, in which it had `length` frames.
#[inline(always)]
fn spend<H>(state: &mut PortState, base: &mut Base<H>, port: usize, at: u64, length: u32) {
    state.area += u128::from(length) * u128::from(at - state.changed);
    state.changed = at;
    if let Some(lengths) = base.lengths.get_mut(port) {
        lengths.spend(length as usize, at);
    }
}
