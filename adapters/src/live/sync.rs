//! Turns of causal guests where the arrival of a message is known when it is sent.
//!
//! The endpoint announces a message, with the time of its arrival, as soon as it is sent. A guest may process messages
//! that arrive before its *earliest input time*, the time before which no unknown message can arrive. The endpoint
//! keeps that time for each guest, and counts the protocol messages that the guests would exchange in a real
//! distributed simulation. The network is simulated behind the guests, in the order of time, and computes each arrival
//! again.
//!
//! Decision: docs/decisions/0129-synchronisation.md.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use trgen::{Cycle, SourceError};

use crate::clock::{FOREVER, Time};
use crate::stream::{self, Broken};

use super::guest::Guest;
use super::hub::Hub;
use super::loss::Loss;
use super::state::State;
use super::{CHECK_INTERVAL, Live};

/// How guests learn up to which time they may go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Protocol {
    /// All guests stop at each multiple of this time \[ps\]. If it is longer than the delay, messages that arrive
    /// before the next multiple are handed over there, late.
    Quantum(Time),
    /// Each blocked guest promises the others the earliest arrival of anything that it may yet send.
    NullMessage,
    /// Once all guests are blocked, those whose events precede every arrival that the earliest event can cause go on.
    ConditionalEvent,
    /// Once all guests are blocked, one after another tells its next event, which is a promise and a conditional event
    /// at once, until a guest can go on.
    Combined,
    /// As `Combined`; in addition, a guest that names the sources for which it waits goes on with their messages.
    Deterministic,
}

/// Synchronisation without a central order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Synchronisation {
    /// How guests learn up to which time they may go on.
    pub protocol: Protocol,
    /// \[cycles\] Delay of every message, at least 1.
    pub delay: u64,
}

/// Costs of the synchronisation of one guest.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct SyncCounts {
    /// Rounds of protocol messages: one message to, or from, each of the others.
    pub rounds: u64,
    /// Turns that began by the protocol, and not by an awaited message of a named source.
    pub stops: u64,
}

/// State of the synchronisation.
#[derive(Debug)]
pub(super) struct Synchronised {
    /// The protocol and the delay.
    by: Synchronisation,
    /// \[ps\] Earliest input time of each guest: no message that is not known yet reaches it before this time.
    inputs: Vec<Time>,
    /// \[ps\] Promise of each guest: no message that it has not sent yet arrives before this time.
    outputs: Vec<Time>,
    /// True for each guest that has run since it last told the others its next event.
    has_news: Vec<bool>,
    /// \[ps\] For each guest that has news: the earliest time of what it has not told.
    told: Vec<Time>,
    /// The costs so far of each guest.
    pub(super) counts: Vec<SyncCounts>,
}

impl Synchronised {
    pub(super) fn new(by: Synchronisation, guests: usize) -> Self {
        Self {
            by,
            inputs: vec![0; guests],
            outputs: vec![0; guests],
            has_news: vec![true; guests],
            told: vec![0; guests],
            counts: vec![SyncCounts::default(); guests],
        }
    }

    /// Updates the promises of all guests that are blocked or have announced how long they compute, and the input
    /// times. Returns false if no promise has changed.
    fn promise(&mut self, guests: &[Guest], hub: &Hub) -> bool {
        let mut news = false;
        for (index, guest) in guests.iter().enumerate() {
            let earliest = match guest.state {
                State::Running { .. } if guest.busy > guest.time => guest.busy,
                State::Running { .. } => continue,
                _ => guest.promise(hub.first_notice(index).into_iter().chain([self.inputs[index]]).min()),
            };
            let output = hub.arrival(earliest, self.by.delay);
            if output > self.outputs[index] {
                (self.outputs[index], news) = (output, true);
                self.counts[index].rounds += 1;
            }
        }
        let (least, owner, second) = two_least(&self.outputs);
        for (index, input) in self.inputs.iter_mut().enumerate() {
            *input = (*input).max(if index == owner { second } else { least });
        }
        news
    }

    /// Raises input times when all guests are blocked: guests tell the others their next event, and the arrivals of the
    /// messages that they have sent, one after another until a guest can go on. Guests that have not run since they last
    /// did so are silent: nothing of theirs has changed.
    ///
    /// The first to tell is the one of which the others know least. A guest that can go on by what it knows goes on before
    /// it tells, and then tells once of both times that it has run.
    fn tell(&mut self, guests: &[Guest], hub: &Hub) {
        let next: Vec<Time> =
            guests.iter().enumerate().map(|(index, guest)| guest.promise(hub.first_notice(index))).collect();
        let arrival = |time: Time| hub.arrival(time, self.by.delay);
        loop {
            // What the others know of the next event of each guest.
            let known = |index: usize| if self.has_news[index] { self.told[index] } else { next[index] };
            let all: Vec<Time> = (0..guests.len()).map(known).collect();
            let (least, owner, second) = two_least(&all);
            let mut is_safe = false;
            for index in 0..guests.len() {
                let others = if index == owner { second } else { least };
                let input = arrival(others).min(arrival(arrival(next[index])));
                self.inputs[index] = self.inputs[index].max(input);
                self.outputs[index] = self.outputs[index].max(arrival(all[index]));
                is_safe |= guests[index].is_stopped() && next[index] < self.inputs[index];
            }
            let first = (0..guests.len()).filter(|&index| self.has_news[index]).min_by_key(|&index| all[index]);
            let Some(first) = first.filter(|_| !is_safe) else { return };
            (self.has_news[first], self.told[first]) = (false, next[first]);
            self.counts[first].rounds += u64::from(guests[first].is_connected());
        }
    }

    /// Raises the input times when all guests are blocked. `earliest` is the time \[ps\] of the earliest event of all
    /// guests.
    fn stop_all(&mut self, earliest: Time, guests: &[Guest], hub: &Hub) {
        let (until, rounds) = match self.by.protocol {
            Protocol::Quantum(quantum) => {
                let end = self.inputs.iter().copied().max().unwrap_or(0);
                let quanta = (earliest.saturating_sub(end) / quantum).saturating_add(1);
                (end.saturating_add(quanta.saturating_mul(quantum)), quanta)
            }
            _ => (hub.arrival(earliest, self.by.delay), 1),
        };
        for (index, input) in self.inputs.iter_mut().enumerate() {
            *input = (*input).max(until);
            self.counts[index].rounds += if guests[index].is_connected() { rounds } else { 0 };
        }
    }

    /// True if none of the sources that a guest awaits can send a message that arrives before `time` \[ps\] and is not
    /// known.
    fn cannot_send_before(&self, sources: &[u32], time: Time, hub: &Hub, guest: usize) -> bool {
        sources.iter().all(|&source| {
            let owner = hub.guest_at(trgen::NodeId(source));
            hub.has_from(guest, source) || owner.is_none_or(|owner| self.outputs[owner] > time)
        })
    }
}

/// The least of these times and its index, and the least of the others.
fn two_least(all: &[Time]) -> (Time, usize, Time) {
    let (mut least, mut owner, mut second) = (FOREVER, usize::MAX, FOREVER);
    for (index, &time) in all.iter().enumerate() {
        if time < least {
            (second, least, owner) = (least, time, index);
        } else {
            second = second.min(time);
        }
    }
    (least, owner, second)
}

impl Live {
    /// Gives turns by the protocol of synchronisation until no guest can inject into cycle `now` any more.
    pub(super) fn settle_synchronised(&mut self, now: Cycle) -> Result<(), SourceError> {
        loop {
            let due = self.due_by(now);
            if due.is_empty() {
                return Ok(());
            }
            if self.grant_safe_turns()? {
                continue;
            }
            if self.guests.iter().any(|guest| matches!(guest.state, State::Running { .. })) {
                self.await_any_turn(&due)?;
                continue;
            }
            let earliest = self.guests.iter().enumerate();
            let earliest = earliest.map(|(index, guest)| guest.promise(self.hub.first_notice(index))).min();
            let (Some(sync), Some(earliest)) = (&mut self.sync, earliest) else { continue };
            match sync.by.protocol {
                Protocol::Combined | Protocol::Deterministic => sync.tell(&self.guests, &self.hub),
                _ => sync.stop_all(earliest, &self.guests, &self.hub),
            }
        }
    }

    /// Grants all turns that may begin. Returns false if there are none.
    fn grant_safe_turns(&mut self) -> Result<bool, SourceError> {
        let mut granted = false;
        loop {
            for index in 0..self.guests.len() {
                let Some(sync) = &mut self.sync else { return Ok(granted) };
                if !self.guests[index].is_stopped() {
                    continue;
                }
                let earliest = self.guests[index].promise(self.hub.first_notice(index));
                let is_safe = earliest < sync.inputs[index];
                let listens = sync.by.protocol == Protocol::Deterministic;
                let named = self.guests[index].awaits.as_ref().filter(|_| listens).and_then(|sources| {
                    let key = self.hub.first_from(index, sources)?;
                    sync.cannot_send_before(sources, key.time, &self.hub, index).then_some(key)
                });
                let named = named.filter(|key| key.time >= sync.inputs[index]);
                if !is_safe && named.is_none() {
                    continue;
                }
                if !std::mem::replace(&mut sync.has_news[index], true) {
                    sync.told[index] = earliest;
                }
                sync.counts[index].stops += u64::from(named.is_none());
                let until = sync.inputs[index].saturating_sub(1);
                granted = true;
                if let Err(loss) = self.grant_until(index, until, named) {
                    self.lose(index, &loss)?;
                }
            }
            let Some(sync) = &mut self.sync else { return Ok(granted) };
            if granted || sync.by.protocol != Protocol::NullMessage || !sync.promise(&self.guests, &self.hub) {
                return Ok(granted);
            }
        }
    }

    /// Waits until one of the guests that have the turn sends a frame, and processes it. `due` are the guests for which
    /// the network waits: warnings name them, and the limits hold for those of them that have the turn.
    fn await_any_turn(&mut self, due: &[usize]) -> Result<(), SourceError> {
        let awaited: Vec<usize> =
            due.iter().copied().filter(|&index| matches!(self.guests[index].state, State::Running { .. })).collect();
        for &index in &awaited {
            self.guests[index].hold.begin();
        }
        let ended = self.await_frame(due, &awaited);
        for &index in &awaited {
            self.guests[index].hold.end();
        }
        ended
    }

    /// See [`await_any_turn`](Self::await_any_turn), which measures how long the network waits for the `awaited` guests.
    fn await_frame(&mut self, due: &[usize], awaited: &[usize]) -> Result<(), SourceError> {
        let (begin, mut warnings) = (Instant::now(), 0);
        loop {
            if self.rules.stop.load(Ordering::Relaxed) {
                return self.lose(due[0], &Loss::from(Broken::Interrupted));
            }
            for &index in awaited {
                if let Err(loss) = self.check_hold(index) {
                    return self.lose(index, &loss);
                }
            }
            if self.process_pending_frames()? {
                return Ok(());
            }
            if let Some(&index) = awaited.first().filter(|_| begin.elapsed() >= self.rules.terms.stall) {
                return self.lose(index, &Loss::from(Broken::Stalled(self.rules.terms.stall)));
            }
            let running = self.guests.iter().filter(|guest| matches!(guest.state, State::Running { .. }));
            stream::await_any(running.flat_map(Guest::all_links), CHECK_INTERVAL);
            self.lose_closed_connections(None)?;
            let warn: Duration = self.rules.warn;
            if begin.elapsed() >= warn * (warnings + 1) {
                warnings += 1;
                self.report_waiting(due, warn * warnings);
            }
        }
    }
}
