//! The turn of a guest: frames sent to it and received from it.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use trgen::{Cycle, SourceError};

use crate::clock::{FOREVER, Time};
use crate::codec::CodecError;
use crate::protocol::{Body, Class, Code, Frame, Malformed, Mode};
use crate::stream::{self, Broken};

use super::hub::LATEST;
use super::inbox::Place;
use super::player::{Player, State};
use super::report::Mark;
use super::{LOOK, Live, Rules, WarmUp, farewell};
use crate::endpoint::Terms;

/// Why a guest is lost.
#[derive(Debug)]
pub(super) struct Loss {
    pub(super) code: Code,
    pub(super) what: String,
    /// Its last input, which is not in the wire log yet, and the index of the connection.
    pub(super) heard: Option<(usize, Heard)>,
}

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

/// Input from a guest.
#[derive(Debug)]
pub(super) enum Heard {
    /// A frame.
    Frame(Box<Frame>),
    /// Bytes that are not a frame, with the reason.
    Malformed(String),
}

impl Loss {
    pub(super) fn new(code: Code, what: impl Into<String>) -> Self {
        Self { code, what: what.into(), heard: None }
    }

    pub(super) fn heard(self, link: usize, heard: Heard) -> Self {
        Self { heard: Some((link, heard)), ..self }
    }

    /// Adds the connection on which the input was received.
    pub(super) fn on(self, link: usize) -> Self {
        Self { heard: self.heard.map(|(_, heard)| (link, heard)), ..self }
    }
}

impl From<Broken> for Loss {
    fn from(broken: Broken) -> Self {
        let (code, remedy) = match &broken {
            Broken::Codec(error) => {
                let what = match error {
                    CodecError::Malformed(Malformed::Carries { .. }) => format!("{error}; correct the guest"),
                    _ => format!("{broken}; correct the guest, or use one of the same protocol version"),
                };
                return Self::new(Code::Malformed, what).heard(0, Heard::Malformed(error.to_string()));
            }
            Broken::Closed | Broken::Io(_) => (Code::Run, "see what the guest itself says of its end"),
            Broken::Stalled(_) => (Code::Stalled, "see what it is doing, or give it more time with --stall"),
            Broken::SlowReader(_) => (Code::Stalled, "let it read, or give it more time with --stall"),
            Broken::Interrupted => (Code::Run, "start it again"),
        };
        Self::new(code, format!("{broken}; {remedy}"))
    }
}

impl Live {
    /// Sends a guest its pending events and the GoAhead.
    pub(super) fn grant(&mut self, index: usize, now: Cycle) -> Result<(), Loss> {
        let mut from = self.players[index].promise(self.hub.first_notice(index));
        let until = self.until(index, from, now);
        let player = &self.players[index];
        // Later arrivals may still be preceded by messages that are not known yet.
        let mut taken = if player.is_stepped() { until.saturating_add(player.slack) } else { self.known(now) };
        if let Some(pace) = self.pace.as_mut().filter(|_| player.is_realtime()) {
            from = from.max(pace.now());
            taken = taken.min(from);
        }
        self.hand_over(index, taken, from)?;
        self.begin_turn(index, from, until)
    }

    /// The same for a causal guest: with all events up to `taken`, or up to `named`, whichever is later.
    pub(super) fn grant_until(&mut self, index: usize, taken: Time, named: Option<Place>) -> Result<(), Loss> {
        let from = self.players[index].promise(self.hub.first_notice(index));
        self.hand_over(index, taken, from)?;
        while let Some(named) = named
            && self.hub.first_place(index).is_some_and(|first| first <= named)
        {
            self.hand_over_first(index, named.time, from)?;
        }
        self.players[index].awaits = None;
        self.begin_turn(index, from, FOREVER)
    }

    fn hand_over(&mut self, index: usize, taken: Time, from: Time) -> Result<(), Loss> {
        while self.hand_over_first(index, taken, from)? {}
        Ok(())
    }

    /// Hands the first event over, if its time is at most `taken`. The turn begins at `from`.
    fn hand_over_first(&mut self, index: usize, taken: Time, from: Time) -> Result<bool, Loss> {
        let exact = self.rules.terms.mode == Mode::Exact;
        let Some((place, notice)) = self.hub.take_notice(index, taken) else { return Ok(false) };
        let player = &mut self.players[index];
        let late = match player.class {
            Class::Stepped => player.time.saturating_sub(place.time),
            // Its clock does not run while it waits: no event of that time is late.
            Class::Causal => 0,
            // It has waited since the end of its last turn.
            Class::Realtime => from.saturating_sub(place.time.max(player.time)),
        };
        let all = late + notice.arrived.as_ref().map_or(0, |arrived| arrived.deferred);
        let in_earnest = all > 0 && place.time >= player.warm;
        if in_earnest && exact {
            let what = format!("an arrival at {} ps was decided too late, which is a fault of fsin", place.time);
            return Err(Loss::new(Code::Run, what));
        }
        if in_earnest && place.delivery {
            player.late.count += 1;
            player.late.sum += u128::from(all);
            player.late.max = player.late.max.max(all);
        }
        player.notices += 1;
        if let Some(arrived) = &notice.arrived {
            self.hub.handed_over(&place, arrived, if in_earnest { late } else { 0 });
        }
        let (link, endpoint) = (notice.link, notice.endpoint);
        let body = notice.body(&place, all);
        player.put(link, endpoint, place.time + late, &body);
        self.log('>', index, link, endpoint, place.time + late, &body);
        if self.players[index].connection(link).is_full() {
            self.send(index, link)?;
        }
        Ok(true)
    }

    /// Gives a guest the turn, with all that has been put into its buffers.
    fn begin_turn(&mut self, index: usize, from: Time, until: Time) -> Result<(), Loss> {
        let player = &mut self.players[index];
        player.time = from;
        player.from = from;
        player.turns += 1;
        player.state = State::Running { until };
        let body = Body::GoAhead { until, notices: player.notices };
        player.link().put(0, from, &body);
        self.log('>', index, 0, 0, from, &body);
        // Its own connection is last: the GoAhead on it begins the turn.
        for link in (0..=self.players[index].members.len()).rev() {
            self.send(index, link)?;
        }
        Ok(())
    }

    /// Sends the buffered frames of one of a guest's connections.
    fn send(&mut self, index: usize, link: usize) -> Result<(), Loss> {
        let (stall, stop) = (self.rules.terms.stall, self.rules.stop);
        let player = &mut self.players[index];
        let flushed = player.connection(link).flush(stall, &mut |_| !stop.load(Ordering::Relaxed));
        flushed.map_err(|broken| player.on(link, broken.into()))
    }

    /// Waits until a guest's turn has ended. `others`, of which it is the first, are awaited too.
    pub(super) fn await_turn(&mut self, index: usize, others: &[usize]) -> Result<(), Ended> {
        let Rules { stop, warn, terms: Terms { stall, .. }, .. } = self.rules;
        // Start of the silence, and the number of reports on it.
        let (mut since, mut said) = (None, 0);
        loop {
            let waited = since.as_ref().map_or(Duration::ZERO, Instant::elapsed);
            let mut silence = Duration::ZERO;
            let heard = self.players[index].link().next(stall.saturating_sub(waited), &mut |idle| {
                silence = idle;
                false
            });
            match heard {
                Err(Broken::Interrupted) if !stop.load(Ordering::Relaxed) => {
                    let now = Instant::now();
                    let waited = now - *since.get_or_insert_with(|| now.checked_sub(silence).unwrap_or(now));
                    if waited >= stall {
                        return Err(Loss::from(Broken::Stalled(stall)).into());
                    }
                    if waited >= warn * (said + 1) {
                        said += 1;
                        self.say_who(others, warn * said);
                    }
                    self.hear_the_gone(&others[1..])?;
                    self.look_at_the_silent().map_err(Ended::Run)?;
                }
                Err(Broken::Stalled(_)) => return Err(Loss::from(Broken::Stalled(stall)).into()),
                Err(broken) => return Err(Loss::from(broken).into()),
                Ok(frame) => {
                    if self.hear(index, frame)? {
                        return Ok(());
                    }
                    (since, said) = (None, 0);
                }
            }
        }
    }

    /// Processes all frames that guests with the turn have sent; true if there was one, or a guest is lost.
    pub(super) fn hear_the_running(&mut self) -> Result<bool, SourceError> {
        let mut heard = false;
        for index in 0..self.players.len() {
            while matches!(self.players[index].state, State::Running { .. }) {
                let next = self.players[index].link().next_if_there().map_err(Loss::from);
                match next.and_then(|frame| frame.map(|frame| self.hear(index, frame)).transpose()) {
                    Ok(None) => break,
                    Ok(Some(_)) => heard = true,
                    Err(loss) => {
                        self.lose(index, &loss)?;
                        heard = true;
                    }
                }
            }
        }
        Ok(heard)
    }

    /// Hears guests that live by the wall clock until no injection can enter cycle `now` any more. While nothing is on
    /// its way in the network, and no guest is to be given its turn, until one of them has said something. True if one
    /// has.
    pub(super) fn listen(&mut self, now: Cycle) -> Result<bool, SourceError> {
        let end = self.rules.terms.clock.end(now).saturating_sub(self.rules.overheads.send);
        let promises = self.players.iter().enumerate();
        let mut promises = promises.map(|(index, player)| player.promise(self.hub.first_notice(index)));
        let is_idle = self.hub.is_empty() && promises.all(|promise| promise == FOREVER);
        while !self.rules.stop.load(Ordering::Relaxed)
            && let Some(pace) = &mut self.pace
            && self.players.iter().any(Player::runs_in_real_time)
        {
            let left = if is_idle { LOOK } else { pace.until(end).min(LOOK) };
            let running = self.players.iter().filter(|player| player.runs_in_real_time());
            if stream::await_any(running.flat_map(Player::all_links), left) {
                return self.hear_the_running();
            }
            if left.is_zero() {
                break;
            }
            self.look_at_the_silent()?;
        }
        Ok(false)
    }

    /// Processes the remaining input of those guests among these that have closed their connections.
    fn hear_the_gone(&mut self, others: &[usize]) -> Result<(), Ended> {
        for &index in others {
            let player = &self.players[index];
            if matches!(player.state, State::Running { .. }) && stream::closed(player.all_links().take(1)) == [true] {
                match self.await_turn(index, &[index]) {
                    Err(Ended::Lost(loss)) => self.lose(index, &loss).map_err(Ended::Run)?,
                    ended => ended?,
                }
            }
        }
        Ok(())
    }

    /// The first cycle in which an injection of this time can enter the network.
    pub(super) fn entry(&self, time: Time) -> Cycle {
        self.rules.terms.clock.cycle(time.saturating_add(self.rules.overheads.send))
    }

    pub(super) fn say_who(&mut self, awaited: &[usize], waited: Duration) {
        const SHOWN: usize = 8;
        let names: Vec<String> = awaited.iter().take(SHOWN).map(|&index| self.players[index].who()).collect();
        let more = match awaited.len().saturating_sub(SHOWN) {
            0 => String::new(),
            more => format!("; and perhaps {more} more"),
        };
        (self.tell)(format!("waiting for {} s for {}{more}", waited.as_secs_f64(), names.join("; ")));
    }

    /// Processes one frame of a guest that has the turn; returns true at the end of the turn, and when the guest need
    /// not be awaited in it now.
    pub(super) fn hear(&mut self, index: usize, frame: Frame) -> Result<bool, Loss> {
        self.log('<', index, 0, frame.endpoint, frame.time, &frame.body);
        let entry = self.entry(frame.time);
        if let (Body::Timestamp { injects, .. } | Body::Bye { injects, .. }, State::Running { until }) =
            (&frame.body, &self.players[index].state)
        {
            let (injects, latest) = (*injects, until.saturating_add(self.players[index].slack));
            self.hear_members(index, injects, latest, matches!(frame.body, Body::Bye { .. }))?;
        }
        let player = &mut self.players[index];
        let State::Running { until } = player.state else { return Ok(true) };
        let latest = until.saturating_add(player.slack);
        let Frame { endpoint, time, body, .. } = frame;
        // A guest may give up, or announce more, before the time that it has announced.
        let begin = if matches!(body, Body::Error { .. } | Body::Busy { .. }) {
            player.time
        } else {
            player.time.max(player.busy)
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
                (player.time, player.busy) = (time, until.max(player.busy));
                Ok(true)
            }
            Body::Awaits { sources } => {
                let nodes = self.rules.terms.nodes;
                if let Some(node) = sources.iter().find(|&&node| node as usize >= nodes) {
                    let what = format!("it awaits messages of node {node}, and there are nodes 0 to {}", nodes - 1);
                    return Err(Loss::new(Code::Message, format!("{what}; correct the guest")));
                }
                player.awaits = Some(sources);
                Ok(false)
            }
            Body::Part(bytes) => {
                let begun = (player.begun.len() + bytes.len()) as u64;
                if begun > self.rules.payload_limit {
                    let what = format!("messages on their way carry more than {} bytes", self.rules.payload_limit);
                    return Err(Loss::new(Code::Limit, format!("{what}; correct the guest")));
                }
                player.begun.extend_from_slice(&bytes);
                Ok(false)
            }
            Body::Inject(mut inject) => {
                if !player.begun.is_empty() {
                    player.begun.extend_from_slice(&inject.payload);
                    inject.payload = player.begun.split().freeze();
                    if !inject.unmodelled && inject.payload.len() as u64 > inject.size {
                        let carries = Malformed::Carries { carried: inject.payload.len() as u64, size: inject.size };
                        return Err(Loss::new(Code::Message, format!("{carries}; correct the guest")));
                    }
                }
                let Some(&node) = player.nodes.get(usize::from(endpoint)) else {
                    return Err(Loss::new(Code::Message, format!("it has no endpoint {endpoint}; correct the guest")));
                };
                player.time = time;
                player.injects += 1;
                self.hub
                    .inject(node, time, inject, self.rules.terms.window)
                    .map_err(|what| Loss::new(Code::Message, format!("{what}; correct the guest")))?;
                Ok(false)
            }
            Body::Timestamp { injects, .. } | Body::Bye { injects, .. } if injects != player.injects => {
                let what = format!("it has injected {} messages and counts {injects}", player.injects);
                Err(Loss::new(Code::Order, format!("{what}; correct the guest")))
            }
            Body::Bye { notices, .. } if notices != player.notices => {
                let what = format!("it has been told of {} Delivers and Dones and counts {notices}", player.notices);
                Err(Loss::new(Code::Order, format!("{what}; correct the guest")))
            }
            Body::Timestamp { next, .. } => {
                let promise = next.max(time);
                if until != FOREVER && promise < until {
                    let what =
                        format!("it stops at {time} ps and promises {next} ps, before its grant ends at {until} ps");
                    return Err(Loss::new(Code::Order, format!("{what}; correct the guest")));
                }
                player.time = time;
                player.state = State::Stopped { next };
                if player.turns == 1 && player.is_stepped() && self.rules.warm_up != WarmUp::None {
                    (player.warm, player.warmed) = (time, Some(Instant::now()));
                }
                Ok(true)
            }
            Body::Mark { label } => {
                player.time = time;
                if let Some(gate) = &mut self.gate {
                    gate.mark(index, &label, entry);
                }
                player.keep(Mark { time, label })?;
                Ok(false)
            }
            Body::Bye { .. } => {
                player.time = time;
                player.state = State::Left;
                let (injects, notices) = (player.injects, player.notices);
                // The guest may not wait for the answer.
                let bye = farewell(injects, notices);
                player.say_everywhere(&bye);
                self.log_everywhere(index, &bye);
                self.hub.forget(index);
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
