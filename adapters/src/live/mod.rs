//! Guests as a source of traffic: keeps their clocks and the network's in step.
//!
//! # How
//! Each guest has made a **promise**: the earliest time of any future injection. A cycle of the network is simulated
//! once every promise lies beyond it, so that all its injections are known. A guest whose promise holds up the network
//! gets its **turn**: the endpoint sends it its messages and a GoAhead, and waits for the end of the turn. The GoAhead
//! is a **grant**: it names the time up to which the guest's clock may run before its turn ends. A **step** is the
//! longest grant of a stepped guest, whose clock runs by itself; the grant of a causal guest, whose clock advances only
//! with its actions, has no limit.
//!
//! A grant reaches no further than deliveries are certain: an injection that is not known yet, at the earliest promise
//! t or later, affects nothing before t + H, where H is the interference horizon ([`Overheads::horizon`]). So in exact
//! mode a message is always handed over before the guest's clock reaches its arrival, and results do not depend on the
//! step. In quantised mode a grant is one step whatever the horizon; messages that arrive within it are handed over at
//! its end, late. In real-time mode a grant also waits for the wall clock: a second of virtual time takes `factor`
//! seconds of wall-clock time.
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
mod digest;
mod guest;
mod hold;
mod hub;
mod inbox;
mod latency;
mod loss;
mod member;
pub(crate) mod pace;
mod region;
mod report;
mod rules;
mod state;
mod sync;
mod trail;
mod turn;
mod watch;

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use trgen::{Activity, Cycle, Delivery, Message, Next, NodeId, Outbox, SourceError, TrGen, Wait, WaitCause};

use crate::clock::{FOREVER, Time};
use crate::endpoint::Connection;
use crate::protocol::{Body, Code, Mode};
use crate::stream;

use guest::Guest;
use hub::Hub;
use pace::Pace;
use region::Gate;
use sync::Synchronised;
use trail::Trail;
use turn::Ended;

pub use capture::{Capture, Payload};
pub use latency::Latency;
pub use pace::Behind;
pub use region::Region;
pub use report::{GuestReport, LiveReport};
pub use rules::{LostGuest, Overheads, Rules, WarmUp};
pub use state::Mark;
use state::State;
pub use sync::{Protocol, SyncCounts, Synchronisation};
pub use trail::Waymark;
pub use watch::{Watch, WireLog};

/// Guests as a source of traffic.
pub struct Live {
    rules: Rules,
    guests: Vec<Guest>,
    /// The messages of the run.
    hub: Hub,
    /// When the simulation calls `generate` next.
    due: Next,
    /// The cycle of the last call of `generate`.
    now: Cycle,
    /// Receives messages for the user during the run.
    tell: Box<dyn FnMut(String) + Send>,
    /// True once the connections have been ended.
    closed: bool,
    /// The measured part of the run; `None` if all of it is measured.
    gate: Option<Gate>,
    /// Ties virtual time to the wall clock; only in real-time mode.
    pace: Option<Pace>,
    /// State of the synchronisation without a central order; `None` with turns.
    sync: Option<Synchronised>,
    /// The log of all frames, if one is written.
    wire_log: Option<WireLog>,
    /// The first failure to write the wire log.
    unwritten: Option<String>,
    /// When connections were last checked for losses.
    last_check: Instant,
    /// When the run began.
    began: Instant,
}

/// Interval between checks for lost guests.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);

impl Live {
    /// A source of traffic from the guests of these connections. `tell` receives messages for the user during the run.
    #[must_use]
    pub fn new(connections: Vec<Connection>, rules: Rules, tell: Box<dyn FnMut(String) + Send>) -> Self {
        let mut hub = Hub::new(
            rules.terms.nodes,
            rules.places.clone().unwrap_or_default(),
            rules.terms.clock,
            rules.overheads,
            rules.payload_limit,
        );
        let guests: Vec<Guest> = connections.into_iter().map(Guest::new).collect();
        for (index, guest) in guests.iter().enumerate() {
            hub.seat(index, guest.links().zip(guest.accepts()), guest.is_stepped());
        }
        hub.trail = (rules.digest_every > 0).then(|| Trail::new(rules.digest_every, rules.terms.clock));
        let gate = rules.region.clone().map(|region| Gate::new(region, guests.len()));
        hub.measuring = gate.is_none();
        let pace = (rules.terms.mode == Mode::Realtime).then(|| Pace::new(rules.terms.pace));
        let (due, now) = (Next::Done, Cycle(0));
        let mut live = Self {
            rules,
            guests,
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
            last_check: Instant::now(),
            began: Instant::now(),
        };
        live.plan();
        live
    }

    /// Records the frames and payloads of the run from now on.
    #[must_use]
    pub fn watched(mut self, watch: Watch) -> Self {
        self.hub.capture = watch.capture;
        self.wire_log = watch.wire_log;
        if let Some(log) = &mut self.wire_log {
            for guest in &self.guests {
                self.unwritten = self.unwritten.take().or(guest.log_hello(log).err());
            }
        }
        self
    }

    /// Synchronises causal guests without a central order. Every message must take the same time, and no two guests may
    /// share a node of the network. With a quantum longer than that time, the mode is [`Mode::Quantised`].
    #[must_use]
    pub fn synchronised(mut self, by: Synchronisation) -> Self {
        self.hub.announced_delay = Some(by.delay);
        if let Protocol::Quantum(quantum) = by.protocol {
            self.hub.quantum = quantum;
        }
        self.sync = Some(Synchronised::new(by, self.guests.len()));
        self
    }

    /// The report so far.
    #[must_use]
    pub fn report(&self) -> LiveReport {
        report::report(&self.guests, &self.hub, self.pace.as_ref(), self.sync.as_ref(), self.began)
    }

    /// Ends the connections, with the reason for the end of the run.
    pub fn close(&mut self, reason: &str) {
        if std::mem::replace(&mut self.closed, true) {
            return;
        }
        for index in 0..self.guests.len() {
            if self.guests[index].is_connected() {
                self.end_connections(index, Code::Run, reason);
            }
        }
    }

    /// Sends an error to a guest on all its connections, whether or not it can be delivered, and ends them.
    fn end_connections(&mut self, index: usize, code: Code, text: &str) {
        let error = Body::Error { code, text: text.to_owned() };
        self.guests[index].send_everywhere(&error);
        self.log_everywhere(index, &error);
        self.guests[index].all_links().for_each(stream::Link::stop_reading);
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
        what.map_or(Ok(()), |what| Err(SourceError::of_run(what)))
    }

    /// Writes a frame to the wire log, if there is one. `direction` is `>` to the guest and `<` from it; `link` is the
    /// index of its connection; `time` is in picoseconds.
    fn log(&mut self, direction: char, index: usize, link: usize, endpoint: u16, time: Time, body: &Body) {
        if let Some(log) = &mut self.wire_log
            && self.unwritten.is_none()
        {
            self.unwritten = log.frame(direction, self.guests[index].name_of(link), endpoint, time, body).err();
        }
    }

    /// Writes a frame that was sent on all connections of a guest to the wire log.
    fn log_everywhere(&mut self, index: usize, body: &Body) {
        let time = self.guests[index].time;
        for link in 0..=self.guests[index].members.len() {
            self.log('>', index, link, 0, time, body);
        }
    }

    /// Sets `due`, the cycle of the next call of `generate`: the first one that a guest holds up, in which a message
    /// enters the network, or in which a phase of the measurement begins.
    fn plan(&mut self) {
        let clock = self.rules.terms.clock;
        let send = self.rules.overheads.send;
        let mut earliest = FOREVER;
        let mut connected = false;
        for (index, guest) in self.guests.iter().enumerate() {
            connected |= guest.is_connected();
            earliest = earliest.min(guest.promise(self.hub.first_notice(index)));
        }
        if let Some(pace) = self.pace.as_mut().filter(|_| self.guests.iter().any(Guest::runs_in_real_time)) {
            // A guest that runs in real time may send at any moment: the network must not overtake the wall clock.
            earliest = earliest.min(pace.now().max(clock.end(self.now)));
        }
        let phase = self.gate.as_ref().and_then(|gate| gate.next(|index| self.guests[index].is_connected()));
        let entering = clock
            .cycle(earliest.saturating_add(send))
            .min(self.hub.first_entry())
            .min(phase.filter(|_| connected).unwrap_or(Cycle::NEVER));
        self.due = match entering {
            // In real time nothing is simulated for guests that are gone.
            _ if self.pace.is_some() && !connected => Next::Done,
            Cycle::NEVER if connected => Next::Waiting,
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
        let left = self.guests.iter().filter(|guest| guest.state == State::Left);
        let last = left.map(|guest| guest.time).max().unwrap_or(0);
        if last == FOREVER { Cycle(0) } else { self.rules.terms.clock.cycle(last) }
    }

    /// The indices of the guests that can still inject a message that enters in cycle `now`.
    fn due_by(&self, now: Cycle) -> Vec<usize> {
        let promises = |&index: &usize| {
            let promise = self.guests[index].promise(self.hub.first_notice(index));
            promise != FOREVER && self.entry(promise) <= now
        };
        (0..self.guests.len()).filter(promises).collect()
    }

    /// Gives guests their turns until none can inject into cycle `now` any more.
    ///
    /// # Errors
    /// If the loss of a guest ends the run.
    fn settle(&mut self, now: Cycle) -> Result<(), SourceError> {
        if self.sync.is_some() {
            return self.settle_synchronised(now);
        }
        let mut overdue = 0;
        loop {
            let due = self.due_by(now);
            if due.is_empty() {
                if self.listen(now, &mut overdue)? {
                    continue;
                }
                return Ok(());
            }
            for &index in &due {
                self.wait_for_wall_clock(index)?;
                // A guest that was busy has the turn already.
                if self.guests[index].is_stopped()
                    && let Err(loss) = self.grant(index, now)
                {
                    self.lose(index, &loss)?;
                }
            }
            for (position, &index) in due.iter().enumerate() {
                let guest = &self.guests[index];
                if matches!(guest.state, State::Running { .. }) && !guest.is_realtime() {
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
    ///
    /// # Errors
    /// If a guest is lost meanwhile, and its loss ends the run.
    fn wait_for_wall_clock(&mut self, index: usize) -> Result<(), SourceError> {
        let time = self.guests[index].promise(self.hub.first_notice(index));
        while let Some(pace) = &mut self.pace
            && !self.rules.stop.load(Ordering::Relaxed)
            && !pace.has_come(time)
        {
            self.lose_closed_connections(None)?;
        }
        if let Some(behind) = self.pace.as_mut().and_then(Pace::worth_telling) {
            let seconds = behind as f64 * 1e-12;
            (self.tell)(format!("virtual time is {seconds:.1} s behind the wall clock; raise --factor"));
        }
        Ok(())
    }

    /// Plans an earlier call of `generate`, if a new notice for the guest at `node` requires it.
    fn plan_for(&mut self, node: NodeId) {
        let Some(index) = self.hub.guest_at(node) else { return };
        let promise = self.guests[index].promise(self.hub.first_notice(index));
        if promise == FOREVER {
            return;
        }
        let cycle = self.rules.terms.clock.cycle(promise.saturating_add(self.rules.overheads.send));
        self.due = match self.due {
            Next::At(due) => Next::At(due.min(cycle)),
            Next::Waiting | Next::Done => Next::At(cycle),
        };
    }

    /// \[ps\] The time up to which a guest may run if it is granted its turn in cycle `now`. The turn begins at `from`.
    fn grant_limit(&self, index: usize, from: Time, now: Cycle) -> Time {
        let Rules { terms, .. } = &self.rules;
        let guest = &self.guests[index];
        let step = from.saturating_add(guest.step);
        if guest.is_stepped() && guest.turns == 0 {
            match self.rules.warm_up {
                WarmUp::None => {}
                WarmUp::Until(time) => return time.max(1),
                WarmUp::Mark => return FOREVER,
            }
        }
        match (guest.is_stepped(), terms.mode) {
            (false, _) => FOREVER,
            (true, Mode::Quantised | Mode::Realtime) => step,
            (true, Mode::Exact) => step.min(self.deliveries_known_until(now)),
        }
    }

    /// \[ps\] All deliveries up to this time are known in cycle `now`.
    fn deliveries_known_until(&self, now: Cycle) -> Time {
        let Overheads { response, receive, .. } = self.rules.overheads;
        self.rules.terms.clock.end(now + (response.max(1) - 1)).saturating_add(receive)
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
            let guests = &self.guests;
            gate.enter(now, |index| guests[index].is_connected());
            self.hub.measuring = gate.phase() == 1;
        }
        self.hub.enter(now, out);
        self.plan();
        settled.and_then(|()| self.lose_dead_while_waiting())
    }

    fn attend(&mut self) -> Result<(), SourceError> {
        self.lose_closed_connections(None)
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
        let connected = self.guests.iter().filter(|guest| guest.is_connected());
        connected.map(|guest| Wait { cause: WaitCause::Message, text: guest.describe() }).collect()
    }

    fn activity(&self) -> Activity {
        Activity::Guests(self.guests.iter().map(Guest::activity).collect())
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.close("the run has ended");
    }
}

/// The endpoint's answer to a guest's goodbye, with the counts of the guest's messages and notices.
fn farewell(injects: u64, notices: u64) -> Body {
    Body::Bye { reason: String::new(), injects, notices }
}
