//! Guests as a source of traffic: keeps their clocks and the network's in step.
//!
//! # How
//! Each guest has made a **promise**: the earliest time of any future injection. A cycle of the network is simulated
//! once every promise lies beyond it, so that all its injections are known. A guest whose promise holds up the network
//! is given its **turn**: it is sent its messages and a GoAhead, and the end of its turn is awaited. The GoAhead is a
//! **grant**: it names the time up to which the guest's clock may run before its turn ends. A **step** is the longest
//! grant of a stepped guest, whose clock runs by itself; the grant of a causal guest, whose clock advances only with its
//! actions, has no limit.
//!
//! A grant reaches no further than deliveries are certain: an injection that is not known yet, at the earliest
//! promise t or later, affects nothing before t + H, where H is the interference horizon ([`Overheads::horizon`]). So
//! in exact mode a message is always handed over before the guest's clock reaches its arrival, and results do not
//! depend on the step. In quantised mode a grant is one step whatever the horizon; messages that arrive within it are
//! handed over at its end, late. In real-time mode a grant also waits for the wall clock, of which a second of virtual
//! time takes `factor` seconds.
//!
//! A guest without the turn must be silent. If its connection is closed then, the guest is lost. Closed connections are
//! detected while the network simulates ([`TrGen::attend`]), while another guest has the turn, and during waits for the
//! wall clock.
//!
//! All events are ordered by (time, source node, sequence number of the message): the order in which guests connect,
//! answer or are scheduled has no effect.
//!
//! # How the model departs from reality, and who could notice
//! - The overheads of sending and receiving are constants; those of a real stack depend on load and size.
//! - A guest cannot send messages to itself: they are rejected. Messages between guests that share a node of the
//!   network take one cycle, whatever their size.
//!
//! Decision: docs/decisions/0030-turns.md.

mod capture;
mod hub;
mod inbox;
mod latency;
mod member;
pub(crate) mod pace;
mod player;
mod region;
mod report;
mod rules;
mod sync;
mod trail;
mod turn;
mod watch;

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use trgen::{Activity, Cycle, Delivery, Message, Next, NodeId, Outbox, SourceError, TrGen, Wait, WaitCause};

use crate::clock::{FOREVER, Time};
use crate::endpoint::Connection;
use crate::protocol::{Body, Code, Mode};
use crate::stream::{self, Broken};

use hub::Hub;
use pace::Pace;
use player::{Player, State};
use region::Gate;
use sync::Synchronised;
use trail::Trail;
use turn::{Ended, Heard};

pub use capture::{Capture, Payload};
pub use latency::Latency;
pub use pace::Behind;
pub use region::Region;
pub use report::{GuestReport, LiveReport, Mark};
pub use rules::{LostGuest, Overheads, Rules, WarmUp};
pub use sync::{Ahead, Protocol, SyncCounts};
pub use trail::Waymark;
pub use watch::{Watch, WireLog};

/// Guests as a source of traffic.
pub struct Live {
    rules: Rules,
    players: Vec<Player>,
    hub: Hub,
    /// When to call `generate`.
    due: Next,
    /// The last call of `generate`.
    now: Cycle,
    tell: Box<dyn FnMut(String) + Send>,
    closed: bool,
    gate: Option<Gate>,
    pace: Option<Pace>,
    /// Synchronisation without a central order.
    sync: Option<Synchronised>,
    wire_log: Option<WireLog>,
    /// The first failure of writing a log or capture.
    unwritten: Option<String>,
    /// When connections were last checked.
    looked: Instant,
    /// When the run began.
    began: Instant,
}

/// Interval at which a frozen run checks whether to end.
const FROZEN: Duration = Duration::from_millis(200);

/// Interval between checks for lost guests.
const LOOK: Duration = Duration::from_millis(100);

impl Live {
    /// A source of these guests; `tell` receives messages for the user during the run.
    #[must_use]
    pub fn new(connections: Vec<Connection>, rules: Rules, tell: Box<dyn FnMut(String) + Send>) -> Self {
        let mut hub = Hub::new(
            rules.terms.nodes,
            rules.places.clone().unwrap_or_default(),
            rules.terms.clock,
            rules.overheads,
            rules.payload_limit,
        );
        let players: Vec<Player> = connections.into_iter().map(Player::new).collect();
        for (index, player) in players.iter().enumerate() {
            hub.seat(index, player.links().zip(player.accepts()), player.is_stepped());
        }
        hub.trail = (rules.digest_every > 0).then(|| Trail::new(rules.digest_every, rules.terms.clock));
        let gate = rules.region.clone().map(|region| Gate::new(region, players.len()));
        hub.measuring = gate.is_none();
        let pace = (rules.terms.mode == Mode::Realtime).then(|| Pace::new(rules.terms.pace));
        let (due, now) = (Next::Done, Cycle(0));
        let mut live = Self {
            rules,
            players,
            hub,
            due,
            now,
            tell,
            closed: false,
            gate,
            pace,
            sync: None,
            wire_log: None,
            unwritten: None,
            looked: Instant::now(),
            began: Instant::now(),
        };
        live.plan();
        live
    }

    /// Records the events from now on.
    #[must_use]
    pub fn watched(mut self, watch: Watch) -> Self {
        self.hub.capture = watch.capture;
        self.wire_log = watch.wire_log;
        if let Some(log) = &mut self.wire_log {
            for player in &self.players {
                self.unwritten = self.unwritten.take().or(player.introduce(log).err());
            }
        }
        self
    }

    /// Synchronises causal guests without a central order. Every message must take the same time, and no two guests may
    /// share a node of the network. With a quantum longer than that time, the mode is [`Mode::Quantised`].
    #[must_use]
    pub fn synchronised(mut self, by: Ahead) -> Self {
        self.hub.ahead = Some(by.delay);
        if let Protocol::Quantum(quantum) = by.protocol {
            self.hub.quantum = quantum;
        }
        self.sync = Some(Synchronised::new(by, self.players.len()));
        self
    }

    /// The report so far.
    #[must_use]
    pub fn report(&self) -> LiveReport {
        report::report(&self.players, &self.hub, self.pace.as_ref(), self.sync.as_ref(), self.began)
    }

    /// Ends the connections, with the reason for the end of the run.
    pub fn close(&mut self, reason: &str) {
        if std::mem::replace(&mut self.closed, true) {
            return;
        }
        for index in 0..self.players.len() {
            if self.players[index].is_playing() {
                self.end_connections(index, Code::Run, reason);
            }
        }
    }

    /// Ends a guest's connections with an error, whether or not it can be delivered.
    fn end_connections(&mut self, index: usize, code: Code, text: &str) {
        let error = Body::Error { code, text: text.to_owned() };
        self.players[index].say_everywhere(&error);
        self.log_everywhere(index, &error);
        self.players[index].all_links().for_each(stream::Link::deafen);
    }

    /// Flushes the buffers of the wire log and of the capture.
    ///
    /// # Errors
    /// A failure to write, now or before, with its remedy.
    pub fn flush(&mut self) -> Result<(), String> {
        let mut watch = Watch { wire_log: self.wire_log.take(), capture: self.hub.capture.take() };
        let flushed = watch.flush();
        (self.wire_log, self.hub.capture) = (watch.wire_log, watch.capture);
        self.unwritten.clone().map_or(flushed, Err)
    }

    /// Fails if a log or capture could not be written.
    fn check_written(&self) -> Result<(), SourceError> {
        let what =
            self.unwritten.as_deref().or_else(|| self.hub.capture.as_ref().and_then(|capture| capture.failure()));
        let what = what.or(self.hub.fault.as_deref());
        what.map_or(Ok(()), |what| Err(SourceError { what: what.to_owned() }))
    }

    fn log(&mut self, direction: char, index: usize, link: usize, endpoint: u16, time: Time, body: &Body) {
        if let Some(log) = &mut self.wire_log
            && self.unwritten.is_none()
        {
            self.unwritten = log.frame(direction, self.players[index].name_of(link), endpoint, time, body).err();
        }
    }

    /// Logs a frame to all connections of a guest.
    fn log_everywhere(&mut self, index: usize, body: &Body) {
        let time = self.players[index].time;
        for link in 0..=self.players[index].members.len() {
            self.log('>', index, link, 0, time, body);
        }
    }

    /// Logs the last input from a lost guest.
    fn log_heard(&mut self, index: usize, link: usize, heard: &Heard) {
        match heard {
            Heard::Frame(frame) => self.log('<', index, link, frame.endpoint, frame.time, &frame.body),
            Heard::Malformed(why) => {
                if let Some(log) = &mut self.wire_log
                    && self.unwritten.is_none()
                {
                    let player = &self.players[index];
                    self.unwritten = log.malformed(player.name_of(link), player.time, why).err();
                }
            }
        }
    }

    /// Plans the next cycle: the first that a guest holds up, or in which a message enters the network.
    fn plan(&mut self) {
        let clock = self.rules.terms.clock;
        let send = self.rules.overheads.send;
        let mut earliest = FOREVER;
        let mut playing = false;
        for (index, player) in self.players.iter().enumerate() {
            playing |= player.is_playing();
            earliest = earliest.min(player.promise(self.hub.first_notice(index)));
        }
        if let Some(pace) = self.pace.as_mut().filter(|_| self.players.iter().any(Player::runs_in_real_time)) {
            // It may send at any moment: the network does not run ahead of the wall clock.
            earliest = earliest.min(pace.now().max(clock.end(self.now)));
        }
        let phase = self.gate.as_ref().and_then(|gate| gate.next(|guest| self.players[guest].is_playing()));
        let entering = clock
            .cycle(earliest.saturating_add(send))
            .min(self.hub.first_entry())
            .min(phase.filter(|_| playing).unwrap_or(Cycle::NEVER));
        self.due = match entering {
            Cycle::NEVER if playing => Next::Waiting,
            // The run lasts until the last guest ends, even without messages.
            Cycle::NEVER => match self.last_end() {
                end if end > self.now => Next::At(end),
                _ => Next::Done,
            },
            cycle => Next::At(cycle),
        };
    }

    /// The cycle in which the last guest said goodbye.
    fn last_end(&self) -> Cycle {
        let left = self.players.iter().filter(|player| player.state == State::Left);
        let last = left.map(|player| player.time).max().unwrap_or(0);
        if last == FOREVER { Cycle(0) } else { self.rules.terms.clock.cycle(last) }
    }

    /// The guests that can still inject into cycle `now`.
    fn due_by(&self, now: Cycle) -> Vec<usize> {
        let promises = |&index: &usize| {
            let promise = self.players[index].promise(self.hub.first_notice(index));
            promise != FOREVER && self.entry(promise) <= now
        };
        (0..self.players.len()).filter(promises).collect()
    }

    /// Gives guests their turns until none can inject into cycle `now` any more.
    fn settle(&mut self, now: Cycle) -> Result<(), SourceError> {
        if self.sync.is_some() {
            return self.settle_ahead(now);
        }
        loop {
            let due = self.due_by(now);
            if due.is_empty() {
                if self.listen(now)? {
                    continue;
                }
                return Ok(());
            }
            for &index in &due {
                self.hold(index)?;
                // A guest that was busy has the turn already.
                if self.players[index].is_stopped()
                    && let Err(loss) = self.grant(index, now)
                {
                    self.lose(index, &loss)?;
                }
            }
            for (position, &index) in due.iter().enumerate() {
                let player = &self.players[index];
                if matches!(player.state, State::Running { .. }) && !player.is_realtime() {
                    match self.await_turn(index, &due[position..]) {
                        Ok(()) => {}
                        Err(Ended::Lost(loss)) => self.lose(index, &loss)?,
                        Err(Ended::Run(error)) => return Err(error),
                    }
                }
            }
        }
    }

    /// In real-time mode: waits until the wall clock reaches the time of a guest's next turn.
    fn hold(&mut self, index: usize) -> Result<(), SourceError> {
        let time = self.players[index].promise(self.hub.first_notice(index));
        while let Some(pace) = &mut self.pace
            && !self.rules.stop.load(Ordering::Relaxed)
            && !pace.has_come(time)
        {
            self.look_at_the_silent()?;
        }
        if let Some(behind) = self.pace.as_mut().and_then(Pace::worth_telling) {
            let seconds = behind as f64 * 1e-12;
            (self.tell)(format!("virtual time is {seconds:.1} s behind the wall clock; raise --factor"));
        }
        Ok(())
    }

    /// Detects lost guests: those that have closed a connection while they must be silent. Checks from time to time
    /// only.
    ///
    /// # Errors
    /// If their loss ends the run.
    fn look_at_the_silent(&mut self) -> Result<(), SourceError> {
        if self.looked.elapsed() < LOOK {
            return Ok(());
        }
        self.looked = Instant::now();
        let silent = self.players.iter().enumerate().filter(|(_, player)| player.is_stopped());
        let (owners, links): (Vec<usize>, Vec<&stream::Link>) =
            silent.flat_map(|(index, player)| player.all_links().map(move |link| (index, link))).unzip();
        let mut dead: Vec<usize> = owners
            .into_iter()
            .zip(stream::closed(links.into_iter()))
            .filter_map(|(index, closed)| closed.then_some(index))
            .collect();
        dead.dedup();
        for &index in &dead {
            // Its last input may explain the loss.
            let loss = self.players[index].check().err().unwrap_or_else(|| Broken::Closed.into());
            self.lose(index, &loss)?;
        }
        if !dead.is_empty() {
            self.plan();
        }
        Ok(())
    }

    /// Called when all guests wait for messages and none is in flight: guests that have died meanwhile are lost, and
    /// the policy decides.
    fn look_for_the_dead(&mut self) -> Result<(), SourceError> {
        while self.due == Next::Waiting && self.hub.is_empty() {
            let dead = (0..self.players.len()).find_map(|index| {
                let player = &mut self.players[index];
                let loss = if player.is_playing() { player.check().err() } else { None };
                loss.map(|loss| (index, loss))
            });
            let Some((index, loss)) = dead else { return Ok(()) };
            self.lose(index, &loss)?;
            self.plan();
        }
        Ok(())
    }

    /// Handles the loss of a guest.
    fn lose(&mut self, index: usize, loss: &turn::Loss) -> Result<(), SourceError> {
        let what = format!("{}: {}", self.players[index].who(), loss.what);
        let interrupted = self.rules.stop.load(Ordering::Relaxed);
        let text = if interrupted { "the run was interrupted" } else { &loss.what };
        if let Some((link, heard)) = &loss.heard {
            self.log_heard(index, *link, heard);
        }
        self.end_connections(index, loss.code, text);
        self.players[index].state = State::Lost { why: loss.what.clone() };
        self.hub.forget(index);
        match self.rules.lost {
            _ if interrupted => {}
            LostGuest::Abort => {}
            LostGuest::DropNode => {
                (self.tell)(format!("lost {what}; the run goes on without it"));
                return Ok(());
            }
            LostGuest::Freeze => {
                (self.tell)(format!("lost {what}; the run stands still until it is interrupted"));
                while !self.rules.stop.load(Ordering::Relaxed) {
                    thread::sleep(FROZEN);
                }
            }
        }
        self.close(&format!("the run has ended because of {what}"));
        Err(SourceError { what })
    }
}

impl TrGen for Live {
    fn nodes(&self) -> usize {
        self.rules.network_nodes
    }

    fn generate(&mut self, now: Cycle, out: &mut Outbox) -> Result<(), SourceError> {
        self.now = now;
        let settled = self.settle(now).and_then(|()| self.check_written());
        if let Some(gate) = &mut self.gate {
            let players = &self.players;
            gate.enter(now, |guest| players[guest].is_playing());
            self.hub.measuring = gate.phase() == 1;
        }
        self.hub.enter(now, out);
        self.plan();
        settled.and_then(|()| self.look_for_the_dead())
    }

    fn attend(&mut self) -> Result<(), SourceError> {
        self.look_at_the_silent()
    }

    fn sent(&mut self, now: Cycle, message: &Message) {
        let source = self.hub.ends(message).map(|(source, _)| source);
        self.hub.sent(now, message);
        source.into_iter().for_each(|source| self.plan_for(source));
    }

    fn delivered(&mut self, now: Cycle, delivery: &Delivery) {
        let destination = self.hub.ends(&delivery.message).map(|(_, destination)| destination);
        self.hub.delivered(now, delivery);
        destination.into_iter().for_each(|destination| self.plan_for(destination));
        if self.due == Next::Waiting && self.hub.is_empty() {
            // Nothing will ever happen again, unless a waiting guest has died.
            self.due = Next::At(now.next());
        }
    }

    fn dropped(&mut self, now: Cycle, message: &Message) {
        self.hub.dropped(now, message);
        if self.due == Next::Waiting && self.hub.is_empty() {
            self.due = Next::At(now.next());
        }
    }

    fn next(&self) -> Next {
        self.due
    }

    fn phase(&self) -> u64 {
        self.gate.as_ref().map_or(0, Gate::phase)
    }

    fn silent_nodes(&self) -> usize {
        match &self.rules.places {
            Some(places) => self.rules.network_nodes - places.iter().collect::<BTreeSet<_>>().len(),
            None => self.hub.empty_nodes(),
        }
    }

    fn waits(&self) -> Vec<Wait> {
        let playing = self.players.iter().filter(|player| player.is_playing());
        playing.map(|player| Wait { cause: WaitCause::Message, text: player.who() }).collect()
    }

    fn activity(&self) -> Activity {
        Activity::Guests(self.players.iter().map(Player::activity).collect())
    }
}

impl Live {
    /// A notice for the guest at `node` may make it due.
    fn plan_for(&mut self, node: NodeId) {
        let Some(index) = self.hub.guest_at(node) else { return };
        let promise = self.players[index].promise(self.hub.first_notice(index));
        if promise == FOREVER {
            return;
        }
        let cycle = self.rules.terms.clock.cycle(promise.saturating_add(self.rules.overheads.send));
        self.due = match self.due {
            Next::At(due) => Next::At(due.min(cycle)),
            Next::Waiting | Next::Done => Next::At(cycle),
        };
    }

    /// \[ps\] Limit of a grant in cycle `now`.
    fn until(&self, index: usize, from: Time, now: Cycle) -> Time {
        let Rules { terms, .. } = &self.rules;
        let player = &self.players[index];
        let step = from.saturating_add(player.step);
        if player.is_stepped() && player.turns == 0 {
            match self.rules.warm_up {
                WarmUp::None => {}
                WarmUp::Until(time) => return time.max(1),
                WarmUp::Mark => return FOREVER,
            }
        }
        match (player.is_stepped(), terms.mode) {
            (false, _) => FOREVER,
            (true, Mode::Quantised | Mode::Realtime) => step,
            (true, Mode::Exact) => step.min(self.known(now)),
        }
    }

    /// \[ps\] In cycle `now`: all deliveries up to this time are known.
    fn known(&self, now: Cycle) -> Time {
        let Overheads { response, receive, .. } = self.rules.overheads;
        self.rules.terms.clock.end(now + (response.max(1) - 1)).saturating_add(receive)
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.close("the run has ended");
    }
}

/// The endpoint's goodbye.
fn farewell(injects: u64, notices: u64) -> Body {
    Body::Bye { reason: String::new(), injects, notices }
}
