//! What threads of the program do between calls: they compute, and give way to each other.

use std::ffi::c_int;

use crate::caller::Caller;
use crate::engine::waiting;
use crate::host;
use crate::settings::Compute;
use crate::threads::{self, Turn, Wait};
use crate::world::World;

impl World {
    /// Makes this thread the one whose call is carried out.
    pub(crate) fn switch_to(&mut self, thread: u32) {
        if self.caller.thread == thread {
            return;
        }
        let mine = self.others.remove(&thread).unwrap_or(Caller { thread, ..Caller::default() });
        let other = std::mem::replace(&mut self.caller, mine);
        // Of a thread outside only its processor time is worth keeping.
        if other.is_inside || matches!(self.settings.compute, Compute::Measured(_)) {
            self.others.insert(other.thread, other);
        }
    }

    /// Gives the turn to other threads, and waits for the next one.
    pub(crate) fn give_way(&mut self, reason: Wait) -> Turn {
        let (thread, calling) = (self.caller.thread, self.caller.calling);
        let turn = threads::give_way(self, reason, calling);
        self.switch_to(thread);
        turn
    }

    /// Advances the clock by time \[ps\] that the program spends on something other than waiting.
    ///
    /// Of several threads each spends its own time: it counts from the end of its last call, in which others spend
    /// theirs, too.
    pub(crate) fn spend(&mut self, time: u64) {
        if self.guest.is_some() && threads::are_several() {
            self.computed(threads::since(), time);
            self.pass_until(threads::since().saturating_add(time));
            threads::set_since(self.now());
        } else {
            self.advance(time);
        }
    }

    /// Waits until a time \[ps\], while other threads call.
    fn pass_until(&mut self, until: u64) {
        while self.now() < until {
            if let Turn::Fetch(limit) = self.give_way(Wait::Until(until)) {
                waiting::fetch(self, limit.or(Some(until)));
            }
        }
    }

    /// Advances the clock by the computing before the current call. Every call that communicates begins with it.
    pub(crate) fn charge(&mut self) {
        if std::mem::replace(&mut self.caller.charged, true) {
            return;
        }
        match self.settings.compute {
            Compute::None => {}
            Compute::Fixed(time) => self.spend(time),
            Compute::Measured(_) => self.charge_used(),
        }
    }

    /// Advances the clock by the measured computing that has not been charged yet.
    fn charge_used(&mut self) {
        if let Compute::Measured(factor) = self.settings.compute {
            let time = (std::mem::take(&mut self.caller.used) as f64 * factor) as u64;
            self.spend(time);
        }
    }

    /// Advances the clock by what the program has computed, before the program reads a clock.
    pub(crate) fn measure(&mut self) {
        if matches!(self.settings.compute, Compute::Measured(_)) {
            self.used_until(host::processor());
            self.charge_used();
        }
    }

    /// Counts the processor time of the thread up to `now` \[ps\] as used by the program.
    fn used_until(&mut self, now: u64) {
        self.caller.used += now.saturating_sub(self.caller.left);
        self.caller.left = now;
    }

    /// \[ps\] Processor time that the program has used and that is not charged yet, when its thread has used `now`.
    pub(crate) fn uncharged(&self, now: u64) -> u64 {
        self.caller.used + now.saturating_sub(self.caller.left)
    }

    /// The program begins to compute.
    pub(crate) fn begin_computing(&mut self) {
        self.caller.left = host::processor();
    }

    /// Called when a call of the program begins.
    pub(crate) fn begin_call(&mut self, name: &'static str) {
        self.caller.calling = name;
        self.caller.charged = false;
        self.readings = 0;
        if matches!(self.settings.compute, Compute::Measured(_)) {
            self.used_until(host::processor());
        }
        *self.statistics.calls.entry(name).or_default() += 1;
    }

    /// Called when a call of the program ends.
    pub(crate) fn end_call(&mut self) {
        if matches!(self.settings.compute, Compute::Measured(_)) {
            self.begin_computing();
        }
    }

    /// The threads that wait for something, the one that has the turn first.
    pub(crate) fn callers(&self) -> impl Iterator<Item = &Caller> {
        std::iter::once(&self.caller).chain(self.others.values())
    }

    /// The level of thread support for a program that wants `wanted`.
    pub(crate) fn level_of_threads(&self, wanted: c_int) -> c_int {
        // A recording has one sequence of events for each rank, and the wall clock waits for no thread.
        let is_limited = self.settings.realtime || self.settings.deterministic || self.settings.records;
        wanted.clamp(threads::FUNNELED, if is_limited { threads::SERIALIZED } else { threads::MULTIPLE })
    }
}

/// Why a call of this thread cannot be carried out, if the program has got this level of thread support.
pub(crate) fn refused(name: &str, level: c_int, is_main: bool) -> Option<String> {
    if is_main || level >= threads::SERIALIZED {
        return None;
    }
    Some(format!(
        "{name} is called by another thread than the one that has called MPI_Init, and MPI_THREAD_FUNNELED is provided: \
         ask for MPI_THREAD_MULTIPLE (MPI_Init_thread), or let that thread make all calls of MPI"
    ))
}
