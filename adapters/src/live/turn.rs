//! The turn of a guest: frames sent to it and received from it.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use trgen::{Cycle, SourceError};

use crate::clock::{FOREVER, Time};
use crate::protocol::{Body, Class, Code, Frame, Malformed, Mode};
use crate::stream::{self, Broken};

use super::guest::Guest;
use super::hub::LATEST;
use super::inbox::NoticeKey;
use super::loss::Loss;
use super::state::{Mark, State};
use super::{CHECK_INTERVAL, Live, Rules, WarmUp, farewell};
use crate::endpoint::Terms;

/// Number of frames of one guest that are processed between two checks of the limits and of other guests.
const FRAMES_BETWEEN_CHECKS: u32 = 1024;
/// Longest wait for a complete frame between two checks.
const SLICE: Duration = Duration::from_millis(200);
/// Largest number of times that the frames of real-time guests are processed in a cycle that is due by the wall clock.
const MAX_OVERDUE: u32 = 64;

/// Why waiting for a turn has ended.
#[derive(Debug)]
pub(super) enum Ended {
    /// The guest that has the turn is lost.
    Lost(Loss),
    /// Another guest is lost, which ends the run.
    Run(SourceError),
}

impl From<Loss> for Ended {
    fn from(loss: Loss) -> Self {
        Self::Lost(loss)
    }
}

impl Live {
    /// Gives a stopped guest its turn in cycle `now`: sends its pending notices and the GoAhead.
    pub(super) fn grant(&mut self, index: usize, now: Cycle) -> Result<(), Loss> {
        let mut from = self.guests[index].promise(self.hub.first_notice(index));
        let until = self.grant_limit(index, from, now);
        let guest = &self.guests[index];
        // `taken` is the time up to which notices are handed over. A later notice must wait, because a message that is
        // not known yet may come before it.
        let mut taken =
            if guest.is_stepped() { until.saturating_add(guest.slack) } else { self.deliveries_known_until(now) };
        if let Some(pace) = self.pace.as_mut().filter(|_| guest.is_realtime()) {
            from = from.max(pace.now());
            taken = taken.min(from);
        }
        self.hand_over(index, taken, from)?;
        self.begin_turn(index, from, until)
    }

    /// Gives a causal guest its turn, with all notices up to time `taken` or up to the notice `named`, whichever is
    /// later.
    pub(super) fn grant_until(&mut self, index: usize, taken: Time, named: Option<NoticeKey>) -> Result<(), Loss> {
        let from = self.guests[index].promise(self.hub.first_notice(index));
        self.hand_over(index, taken, from)?;
        while let Some(named) = named
            && self.hub.first_key(index).is_some_and(|first| first <= named)
        {
            self.hand_over_first(index, named.time, from)?;
        }
        self.guests[index].awaits = None;
        self.begin_turn(index, from, FOREVER)
    }

    /// Hands over all notices up to time `taken`. The turn begins at `from`.
    fn hand_over(&mut self, index: usize, taken: Time, from: Time) -> Result<(), Loss> {
        while self.hand_over_first(index, taken, from)? {}
        Ok(())
    }

    /// Hands over the first notice, if its time is at most `taken`. Returns false if there is none. The turn begins at
    /// `from`.
    fn hand_over_first(&mut self, index: usize, taken: Time, from: Time) -> Result<bool, Loss> {
        let exact = self.rules.terms.mode == Mode::Exact;
        let Some((key, notice)) = self.hub.take_notice(index, taken) else { return Ok(false) };
        let guest = &mut self.guests[index];
        let late = match guest.class {
            Class::Stepped => guest.time.saturating_sub(key.time),
            // Its clock stands while it waits: an event during the wait is not late.
            Class::Causal => 0,
            // Its clock runs while it waits, which it has done since the end of its last turn.
            Class::Realtime => from.saturating_sub(key.time.max(guest.time)),
        };
        // Total lateness, and whether it counts: during a warm-up it does not.
        let all = late + notice.arrived.as_ref().map_or(0, |arrived| arrived.deferred);
        let is_counted_late = all > 0 && key.time >= guest.warm;
        if is_counted_late && exact {
            let what = format!("an arrival at {} ps was decided too late, which is a fault of fsin", key.time);
            return Err(Loss::new(Code::Run, what));
        }
        if is_counted_late && key.delivery {
            guest.late.count += 1;
            guest.late.sum += u128::from(all);
            guest.late.max = guest.late.max.max(all);
        }
        guest.notices += 1;
        if let Some(arrived) = &notice.arrived {
            self.hub.handed_over(&key, arrived, if is_counted_late { late } else { 0 });
        }
        let (link, endpoint) = (notice.link, notice.endpoint);
        let body = notice.body(&key, all);
        guest.put(link, endpoint, key.time + late, &body);
        self.log('>', index, link, endpoint, key.time + late, &body);
        if self.guests[index].connection(link).is_full() {
            self.send(index, link)?;
        }
        Ok(true)
    }

    /// Gives a guest the turn from `from` to `until`, and sends all that has been put into its buffers.
    fn begin_turn(&mut self, index: usize, from: Time, until: Time) -> Result<(), Loss> {
        let cycle = self.rules.terms.clock.span(1);
        let guest = &mut self.guests[index];
        guest.time = from;
        guest.from = from;
        guest.turns += 1;
        guest.hold.turn(from, if guest.is_stepped() { 0 } else { cycle });
        guest.state = State::Running { until };
        self.check_hold(index)?;
        let guest = &mut self.guests[index];
        let body = Body::GoAhead { until, notices: guest.notices };
        guest.link().put(0, from, &body);
        self.log('>', index, 0, 0, from, &body);
        // Its own connection is last: the GoAhead on it begins the turn.
        for link in (0..=self.guests[index].members.len()).rev() {
            self.send(index, link)?;
        }
        Ok(())
    }

    /// Sends the buffered frames of one of a guest's connections.
    fn send(&mut self, index: usize, link: usize) -> Result<(), Loss> {
        let (stall, hold, stop) = (self.rules.terms.stall, self.rules.hold, self.rules.stop);
        let guest = &mut self.guests[index];
        let flushed = guest.connection(link).flush(stall, hold, &mut |_| !stop.load(Ordering::Relaxed));
        flushed.map_err(|broken| guest.with_connection(link, broken.into()))
    }

    /// Waits until the turn of guest `index` has ended. `others` are the guests that are awaited, this one first:
    /// warnings name them all.
    pub(super) fn await_turn(&mut self, index: usize, others: &[usize]) -> Result<(), Ended> {
        self.guests[index].hold.begin();
        let ended = self.await_end_of_turn(index, others);
        self.guests[index].hold.end();
        ended
    }

    /// See [`await_turn`](Self::await_turn), which measures the duration.
    fn await_end_of_turn(&mut self, index: usize, others: &[usize]) -> Result<(), Ended> {
        let Rules { stop, warn, terms: Terms { stall, .. }, .. } = self.rules;
        // Start of the silence, and the number of reports on it.
        let (mut since, mut warnings) = (None, 0);
        // Number of frames since the limits were last checked.
        let mut frames = 0;
        loop {
            let waited = since.as_ref().map_or(Duration::ZERO, Instant::elapsed);
            let slice = stall.saturating_sub(waited).min(SLICE);
            let mut silence = slice;
            // The wait is interrupted whenever the connection is idle, to check the limits and the other guests below.
            let received = self.guests[index].link().next(slice, &mut |idle| {
                silence = idle;
                false
            });
            match received {
                Err(Broken::Interrupted | Broken::Stalled(_)) if !stop.load(Ordering::Relaxed) => {
                    let now = Instant::now();
                    let waited = now - *since.get_or_insert_with(|| now.checked_sub(silence).unwrap_or(now));
                    if waited >= stall {
                        return Err(Loss::from(Broken::Stalled(stall)).into());
                    }
                    self.check_hold(index)?;
                    if waited >= warn * (warnings + 1) {
                        warnings += 1;
                        self.report_waiting(others, warn * warnings);
                    }
                    self.finish_turns_of_closed(&others[1..])?;
                    self.lose_closed_connections(Some(index)).map_err(Ended::Run)?;
                }
                Err(Broken::Stalled(_)) => return Err(Loss::from(Broken::Interrupted).into()),
                Err(broken) => return Err(Loss::from(broken).into()),
                Ok(frame) => {
                    if self.process_frame(index, frame)? {
                        return match self.guests[index].state {
                            // It has announced that it computes, and will be awaited again.
                            State::Running { .. } => Ok(self.check_hold(index)?),
                            _ => Ok(()),
                        };
                    }
                    (since, warnings, frames) = (None, 0, frames + 1);
                    if frames >= FRAMES_BETWEEN_CHECKS {
                        frames = 0;
                        if stop.load(Ordering::Relaxed) {
                            return Err(Loss::from(Broken::Interrupted).into());
                        }
                        self.check_hold(index)?;
                        self.lose_closed_connections(Some(index)).map_err(Ended::Run)?;
                    }
                }
            }
        }
    }

    /// Fails if the network has waited for a connected guest for too long since its last progress.
    pub(super) fn check_hold(&mut self, index: usize) -> Result<(), Loss> {
        let limit = self.rules.hold;
        let guest = &mut self.guests[index];
        match guest.is_connected() && guest.hold.duration() >= limit {
            true => Err(Broken::Held(limit).into()),
            false => Ok(()),
        }
    }

    /// Processes the frames that guests with the turn have sent, up to [`FRAMES_BETWEEN_CHECKS`] of each. Returns true
    /// if there was one, or a guest is lost.
    pub(super) fn process_pending_frames(&mut self) -> Result<bool, SourceError> {
        let mut received = false;
        for index in 0..self.guests.len() {
            for _ in 0..FRAMES_BETWEEN_CHECKS {
                if !matches!(self.guests[index].state, State::Running { .. }) {
                    break;
                }
                let next = self.guests[index].link().next_if_there().map_err(Loss::from);
                match next.and_then(|frame| frame.map(|frame| self.process_frame(index, frame)).transpose()) {
                    Ok(None) => break,
                    Ok(Some(_)) => received = true,
                    Err(loss) => {
                        self.lose(index, &loss)?;
                        received = true;
                    }
                }
            }
        }
        Ok(received)
    }

    /// Processes the frames of real-time guests until no injection can enter in cycle `now` any more. If the network is
    /// empty and no guest is due for its turn, waits until one of them sends a frame. True if one has sent a frame.
    /// `overdue` counts the calls in which the cycle was due by the wall clock: after [`MAX_OVERDUE`] of them the network
    /// goes on, and hears later frames in later cycles.
    pub(super) fn listen(&mut self, now: Cycle, overdue: &mut u32) -> Result<bool, SourceError> {
        let end = self.rules.terms.clock.end(now).saturating_sub(self.rules.overheads.send);
        let promises = self.guests.iter().enumerate();
        let mut promises = promises.map(|(index, guest)| guest.promise(self.hub.first_notice(index)));
        let is_idle = self.hub.is_empty() && promises.all(|promise| promise == FOREVER);
        while !self.rules.stop.load(Ordering::Relaxed)
            && let Some(pace) = &mut self.pace
            && self.guests.iter().any(Guest::runs_in_real_time)
        {
            let left = if is_idle { CHECK_INTERVAL } else { pace.until(end).min(CHECK_INTERVAL) };
            if left.is_zero() {
                if *overdue >= MAX_OVERDUE {
                    break;
                }
                *overdue += 1;
            }
            let running = self.guests.iter().filter(|guest| guest.runs_in_real_time());
            if stream::await_any(running.flat_map(Guest::all_links), left) {
                return self.process_pending_frames();
            }
            if left.is_zero() {
                break;
            }
            self.lose_closed_connections(None)?;
        }
        Ok(false)
    }

    /// Processes the remaining input of those of these guests that have the turn and have closed their connections.
    fn finish_turns_of_closed(&mut self, others: &[usize]) -> Result<(), Ended> {
        for &index in others {
            let guest = &self.guests[index];
            if matches!(guest.state, State::Running { .. }) && stream::closed(guest.all_links().take(1)) == [true] {
                match self.await_turn(index, &[index]) {
                    Err(Ended::Lost(loss)) => self.lose(index, &loss).map_err(Ended::Run)?,
                    ended => ended?,
                }
            }
        }
        Ok(())
    }

    /// The first cycle in which an injection at `time` \[ps\] can enter the network.
    pub(super) fn entry(&self, time: Time) -> Cycle {
        self.rules.terms.clock.cycle(time.saturating_add(self.rules.overheads.send))
    }

    /// Tells the user for whom the run is waiting, and for how long.
    pub(super) fn report_waiting(&mut self, awaited: &[usize], waited: Duration) {
        const SHOWN: usize = 8;
        let names: Vec<String> = awaited.iter().take(SHOWN).map(|&index| self.guests[index].describe()).collect();
        let more = match awaited.len().saturating_sub(SHOWN) {
            0 => String::new(),
            more => format!("; and perhaps {more} more"),
        };
        (self.tell)(format!("waiting for {} s for {}{more}", waited.as_secs_f64(), names.join("; ")));
    }

    /// Processes one frame of a guest that has the turn. Returns true if the caller need not wait for further frames:
    /// at the end of the turn, or when the guest has announced that it computes.
    pub(super) fn process_frame(&mut self, index: usize, frame: Frame) -> Result<bool, Loss> {
        self.log('<', index, 0, frame.endpoint, frame.time, &frame.body);
        let entry = self.entry(frame.time);
        if let (Body::Timestamp { injects, .. } | Body::Bye { injects, .. }, State::Running { until }) =
            (&frame.body, &self.guests[index].state)
        {
            let (injects, latest) = (*injects, until.saturating_add(self.guests[index].slack));
            self.read_data_connections(index, injects, latest, matches!(frame.body, Body::Bye { .. }))?;
        }
        let guest = &mut self.guests[index];
        let State::Running { until } = guest.state else { return Ok(true) };
        let latest = until.saturating_add(guest.slack);
        let Frame { endpoint, time, body, .. } = frame;
        // A guest that has announced until when it computes may still give up or announce a later time before then.
        let begin = if matches!(body, Body::Error { .. } | Body::Busy { .. }) {
            guest.time
        } else {
            guest.time.max(guest.busy)
        };
        if time < begin || time > latest {
            let name = body.a_name();
            let what = format!("{name} at {time} ps lies outside its turn, {begin} to {latest} ps");
            return Err(Loss::new(Code::Order, format!("{what}; correct the guest's clock")));
        }
        match body {
            Body::Busy { until } if until > LATEST => {
                let what = format!("it is busy until {until} ps, and {LATEST} ps is the latest");
                Err(Loss::new(Code::Order, format!("{what}; correct the guest")))
            }
            Body::Busy { until } => {
                (guest.time, guest.busy) = (time, until.max(guest.busy));
                Ok(true)
            }
            Body::Awaits { sources } => {
                let nodes = self.rules.terms.nodes;
                if let Some(node) = sources.iter().find(|&&node| node as usize >= nodes) {
                    let what = format!("it awaits messages of node {node}, and there are nodes 0 to {}", nodes - 1);
                    return Err(Loss::new(Code::Message, format!("{what}; correct the guest")));
                }
                guest.awaits = Some(sources);
                Ok(false)
            }
            Body::Part(bytes) => {
                let begun = (guest.begun.len() + bytes.len()) as u64;
                if begun > self.rules.payload_limit {
                    return Err(Loss::new(Code::Limit, format!("{}; send less at once", self.hub.too_much())));
                }
                guest.begun.extend_from_slice(&bytes);
                Ok(false)
            }
            Body::Inject(mut inject) => {
                if !guest.begun.is_empty() {
                    guest.begun.extend_from_slice(&inject.payload);
                    inject.payload = guest.begun.split().freeze();
                    if !inject.unmodelled && inject.payload.len() as u64 > inject.size {
                        let carries = Malformed::Carries { carried: inject.payload.len() as u64, size: inject.size };
                        return Err(Loss::new(Code::Message, format!("{carries}; correct the guest")));
                    }
                }
                let Some(&node) = guest.nodes.get(usize::from(endpoint)) else {
                    return Err(Loss::new(Code::Message, format!("it has no endpoint {endpoint}; correct the guest")));
                };
                guest.time = time;
                guest.injects += 1;
                guest.hold.progress();
                self.hub
                    .inject(node, time, inject, self.rules.terms.window)
                    .map_err(|what| Loss::new(Code::Message, format!("{what}; correct the guest")))?;
                Ok(false)
            }
            Body::Timestamp { injects, .. } | Body::Bye { injects, .. } if injects != guest.injects => {
                let what = format!("it has injected {} messages and counts {injects}", guest.injects);
                Err(Loss::new(Code::Order, format!("{what}; correct the guest")))
            }
            Body::Bye { notices, .. } if notices != guest.notices => {
                let what = format!("it has been told of {} Delivers and Dones and counts {notices}", guest.notices);
                Err(Loss::new(Code::Order, format!("{what}; correct the guest")))
            }
            Body::Timestamp { next, .. } => {
                let promise = next.max(time);
                if until != FOREVER && promise < until {
                    let what =
                        format!("it stops at {time} ps and promises {next} ps, before its grant ends at {until} ps");
                    return Err(Loss::new(Code::Order, format!("{what}; correct the guest")));
                }
                guest.time = time;
                guest.state = State::Stopped { next };
                if guest.turns == 1 && guest.is_stepped() && self.rules.warm_up != WarmUp::None {
                    (guest.warm, guest.warmed) = (time, Some(Instant::now()));
                }
                Ok(true)
            }
            Body::Mark { label } => {
                guest.time = time;
                if let Some(gate) = &mut self.gate {
                    gate.mark(index, &label, entry);
                }
                guest.add_mark(Mark { time, label })?;
                Ok(false)
            }
            Body::Bye { .. } => {
                guest.time = time;
                guest.state = State::Left;
                let (injects, notices) = (guest.injects, guest.notices);
                // An error of sending does not matter: the guest need not wait for the answer.
                let bye = farewell(injects, notices);
                guest.send_everywhere(&bye);
                self.log_everywhere(index, &bye);
                self.hub.drop_inbox(index);
                Ok(true)
            }
            Body::Error { text, .. } => Err(Loss::new(Code::Run, format!("it has given up: {text}"))),
            other => {
                let what = format!("{} does not belong into a guest's turn; correct the guest", other.a_name());
                Err(Loss::new(Code::Order, what))
            }
        }
    }
}
