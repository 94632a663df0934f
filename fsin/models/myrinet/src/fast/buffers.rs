//! Contents of slack buffers, and the times at which they cross a mark.

use super::state::{Input, Run};
use super::{Fast, Kind, NONE};

impl Fast {
    /// The run of characters that leave an input; a run with `is_on` false if there is none.
    #[inline(always)]
    pub(super) fn departures(&self, input: &Input) -> Run {
        match input.output {
            NONE => Run::default(),
            output => self.outputs[output as usize].run,
        }
    }

    /// \[characters\] Number that an input holds after everything that happens at instant `at`.
    #[inline]
    pub(super) fn held(&self, input: &Input, at: u64) -> i64 {
        let come = i64::from(input.run.until(at, self.base.character));
        input.base + come - i64::from(self.departures(input).until(at, self.base.character))
    }

    /// \[characters\] The most that an input has held between its last change and instant `before`, not counting the
    /// first instant. The maximum is after the last arrival, since arrivals and departures have the same period.
    pub(super) fn max_held(&self, input: &Input, before: u64) -> u32 {
        let count = input.run.before(before, self.base.character);
        if count == 0 {
            return 0;
        }
        let last = input.run.time(input.run.first + count - 1, self.base.character);
        if last <= input.since { 0 } else { self.held(input, last) as u32 }
    }

    /// Updates the maximum of an input that is about to change, and lists the input for [`compare`](Self::compare).
    #[inline]
    pub(super) fn touch(&mut self, number: usize, at: u64) {
        let input = &self.inputs[number];
        let most = if input.since < at { self.max_held(input, at) } else { 0 };
        let input = &mut self.inputs[number];
        input.max = input.max.max(most);
        input.since = at;
        if !std::mem::replace(&mut input.is_listed, true) {
            self.changed.push(number as u32);
        }
    }

    /// Compares what an input holds with its marks, and schedules the time at which it will cross one.
    pub(super) fn compare(&mut self, number: usize, at: u64) {
        let input = &self.inputs[number];
        let held = self.held(input, at) as u32;
        let input = &mut self.inputs[number];
        input.is_listed = false;
        input.max = input.max.max(held);
        let output = &mut self.outputs[number];
        if held > self.base.params.high_mark {
            output.wants_stop = true;
        } else if held < self.base.params.low_mark {
            output.wants_stop = false;
        }
        let wants_stop = output.wants_stop;
        if wants_stop != output.told_stop {
            // The character that begins at this instant has begun.
            self.interrupt(number, at + 1, at);
            if !self.outputs[number].run.is_on {
                if self.outputs[number].free <= at {
                    self.send_mark(number, at);
                } else {
                    self.retry(number as u32, self.outputs[number].free, at);
                }
            }
        }
        let crosses = self.crossing(&self.inputs[number], wants_stop).filter(|&when| when > at).unwrap_or(u64::MAX);
        if crosses != self.inputs[number].crosses {
            self.inputs[number].crosses = crosses;
            if crosses < u64::MAX {
                self.calendar.add_for(crosses, Kind::CrossMark, number as u32, 0);
            }
        }
    }

    /// \[ticks\] The time at which an input crosses the mark that it will cross next, if its runs go on.
    fn crossing(&self, input: &Input, wants_stop: bool) -> Option<u64> {
        let (come, go) = (&input.run, self.departures(input));
        // With both runs, the input holds the same number after each arrival, and the same after each departure.
        let (run, number) = match wants_stop {
            false if come.is_on && !go.is_on => (*come, i64::from(self.base.params.high_mark) - input.base),
            true if go.is_on => {
                let all = input.base + if come.is_on { i64::from(come.length - come.first) } else { 0 };
                (go, all - i64::from(self.base.params.low_mark))
            }
            _ => return None,
        };
        let number = u32::try_from(number).ok()?;
        let index = run.first.checked_add(number).filter(|&index| index < run.length)?;
        Some(run.time(index, self.base.character))
    }
}
