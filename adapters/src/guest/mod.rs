//! The guest's side: connect, send, receive, advance; every call blocks until it is done.
//!
//! ```no_run
//! use adapters::guest::{Config, Guest};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut guest = Guest::connect(&"127.0.0.1:7100".parse()?, &Config::new("ping", 0))?;
//! guest.send(1, 64, b"hello")?;
//! let answer = guest.receive_message()?;
//! println!("{} bytes from node {} at {} ps", answer.size, answer.source, guest.now());
//! guest.finish("done")?;
//! # Ok(())
//! # }
//! ```
//!
//! A **stepped** guest goes from grant to grant, like a machine whose clock runs on by itself. A **causal** guest
//! reports only when it waits: it needs far fewer turns.

mod config;
mod data;
mod error;
mod event;
pub mod program;
pub mod script;

use std::collections::VecDeque;
use std::io::ErrorKind;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

use crate::address::Address;
use crate::clock::{FOREVER, Time};
use crate::codec::Codec;
use crate::live::pace::{on_the_wall, virtual_time};
use crate::protocol::{
    Body, Class, Code, DELIVER_FIELDS, Frame, Hello, Inject, MAJOR, MAX_PAYLOAD, MINOR, MINOR_OF_AWAITS,
    MINOR_OF_IDENTIFIED, MINOR_OF_PARTS, Role, Welcome,
};
use crate::stream::{Broken, Link, Stream};
use crate::token::{self, Nonce, Nonces, Side, Token};

pub use config::{Company, Config};
pub use data::Data;
pub use error::GuestError;
pub use event::{Arrival, Event};

/// An admitted guest.
#[derive(Debug)]
pub struct Guest {
    link: Link,
    /// The endpoint's description of the run.
    welcome: Welcome,
    class: Class,
    /// True if it takes the turns of a group of connections.
    central: bool,
    /// How long it waits for its turn before it gives up.
    patience: Duration,
    /// \[ps\] Its clock. The clock of a realtime guest stands at its last action.
    time: Time,
    /// A moment of the wall clock and the virtual time at this moment; only for a realtime guest.
    anchor: Option<(Instant, Time)>,
    /// \[ps\] End of the grant; `None` while the guest does not have the turn.
    until: Option<Time>,
    /// Number of messages injected.
    injects: u64,
    /// Number of events that the endpoint has reported: Delivers and Dones.
    notices: u64,
    /// Number of turns.
    turns: u64,
    /// Events that the program has not fetched yet.
    events: VecDeque<Event>,
    /// The parts that have come of a payload that is longer than a frame.
    begun: BytesMut,
}

/// A guest's connection, for another thread that waits for its end.
#[derive(Debug)]
pub struct Lifeline(OwnedFd);

impl Lifeline {
    /// Waits until the endpoint has closed the connection, or is gone.
    pub fn wait(&self) {
        loop {
            let mut all = [PollFd::new(&self.0, PollFlags::RDHUP)];
            match poll(&mut all, None) {
                Ok(_) if !all[0].revents().is_empty() => return,
                Ok(_) | Err(Errno::INTR) => {}
                Err(_) => return,
            }
        }
    }
}

impl Guest {
    /// Connects, with retries while no endpoint listens, and performs the handshake.
    ///
    /// # Errors
    /// No endpoint listens, or it refuses the guest with a reason.
    pub fn connect(address: &Address, config: &Config) -> Result<Self, GuestError> {
        let (link, welcome) = connect(address, config)?;
        Ok(Self {
            link,
            welcome,
            class: config.class,
            central: config.role == Role::Central,
            patience: config.patience,
            time: 0,
            anchor: None,
            until: None,
            injects: 0,
            notices: 0,
            turns: 0,
            events: VecDeque::new(),
            begun: BytesMut::new(),
        })
    }

    /// The endpoint's description of the run.
    #[must_use]
    pub const fn welcome(&self) -> &Welcome {
        &self.welcome
    }

    /// \[ps\] The guest's clock.
    #[must_use]
    pub fn now(&self) -> Time {
        match self.anchor {
            Some((moment, time)) => self.time.max(time + virtual_time(moment.elapsed(), self.welcome.pace)),
            None => self.time,
        }
    }

    /// \[ps\] The guest's clock at its last action. Only for a realtime guest it is earlier than [`now`](Self::now).
    #[must_use]
    pub const fn last(&self) -> Time {
        self.time
    }

    /// Sets the time of the guest to that of its clock, before an action.
    fn tick(&mut self) {
        self.time = self.now();
    }

    /// \[ps\] The end of its grant; waits for the turn, if it has not begun yet.
    ///
    /// # Errors
    /// The run has ended.
    pub fn until(&mut self) -> Result<Time, GuestError> {
        self.await_turn()?;
        Ok(self.until.unwrap_or(self.time))
    }

    /// \[ps\] Time of the first pending event.
    #[must_use]
    pub fn next_event(&self) -> Option<Time> {
        self.events.front().map(Event::time)
    }

    /// Number of turns so far.
    #[must_use]
    pub const fn turns(&self) -> u64 {
        self.turns
    }

    /// Sends `size` bytes from the first endpoint to node `destination`, carrying `payload`.
    ///
    /// # Errors
    /// A payload longer than `size` or than agreed; the run has ended.
    pub fn send(&mut self, destination: u32, size: u64, payload: &[u8]) -> Result<(), GuestError> {
        let payload = Bytes::copy_from_slice(payload);
        self.inject(
            0,
            Inject { destination, notify: false, size, cookie: 0, unmodelled: false, identified: None, payload },
        )
    }

    /// Sends a message from one of the endpoints, now.
    ///
    /// # Errors
    /// As for [`send`](Self::send).
    pub fn inject(&mut self, endpoint: u16, inject: Inject) -> Result<(), GuestError> {
        let length = inject.payload.len() as u64;
        let room = u64::from(self.welcome.max_payload).saturating_sub(DELIVER_FIELDS.into());
        let parts = self.welcome.minor >= MINOR_OF_PARTS;
        let limit = match (parts, inject.unmodelled) {
            (true, true) => u64::MAX,
            (true, false) => inject.size,
            (false, _) => inject.size.min(room),
        };
        if length > limit {
            return Err(GuestError::Payload { length, limit });
        }
        self.await_turn()?;
        self.tick();
        let mut inject = inject;
        if self.welcome.minor < MINOR_OF_IDENTIFIED {
            inject.identified = None;
        }
        while inject.payload.len() as u64 > room {
            let part = inject.payload.split_to(room as usize);
            self.link.put(endpoint, self.time, &Body::Part(part));
            if self.link.is_full() {
                flush(&mut self.link, self.patience, "sending")?;
            }
        }
        self.injects += 1;
        self.link.put(endpoint, self.time, &Body::Inject(inject));
        // The network goes on without a realtime guest, and must learn of the message now.
        if self.link.is_full() || self.class == Class::Realtime {
            return flush(&mut self.link, self.patience, "sending");
        }
        Ok(())
    }

    /// The endpoint's last count of Delivers and Dones: to this guest, or to the whole group of a central. Waits for
    /// the turn, if it has not begun yet.
    ///
    /// # Errors
    /// The run has ended.
    pub fn notices(&mut self) -> Result<u64, GuestError> {
        self.await_turn()?;
        Ok(self.notices)
    }

    /// Ends its turn, sends nothing until its group receives an event, and waits for the next turn.
    ///
    /// # Errors
    /// The run has ended.
    pub fn wait(&mut self) -> Result<(), GuestError> {
        self.await_turn()?;
        match (self.class, self.until) {
            (Class::Stepped, Some(until)) if until != FOREVER => {
                self.time = self.time.max(until);
                self.end_turn(self.time)
            }
            (Class::Stepped, _) => self.end_turn(self.time),
            (Class::Causal | Class::Realtime, _) => self.end_turn(FOREVER),
        }
    }

    /// Ends the turn of a stepped guest whose grant is over, and promises to send nothing before `next` \[ps\] unless
    /// an event comes first. After the call [`now`](Self::now) may be later than the time that the program has reached.
    ///
    /// # Errors
    /// The run has ended.
    pub fn idle(&mut self, next: Time) -> Result<(), GuestError> {
        self.await_turn()?;
        self.time = self.time.max(self.until.filter(|&until| until != FOREVER).unwrap_or(0));
        self.end_turn(next.max(self.time))
    }

    /// Adds `more` to the count of messages that the data connections of this central's group have injected. The
    /// messages enter the network before the turn of the central ends.
    pub fn count_injects(&mut self, more: u64) {
        self.injects = self.injects.saturating_add(more);
    }

    /// Advances the clock by `span` \[ps\]. A realtime guest sleeps until this time has passed since its last action.
    ///
    /// # Errors
    /// The run has ended.
    pub fn advance(&mut self, span: Time) -> Result<(), GuestError> {
        self.await_turn()?;
        let target = self.time.saturating_add(span);
        if self.class == Class::Realtime {
            while let Some(left) = target.checked_sub(self.now()).filter(|&left| left > 0) {
                std::thread::sleep(on_the_wall(left, self.welcome.pace));
            }
            self.tick();
            return Ok(());
        }
        // At the end of a grant not all events of that moment are known: the turn ends there.
        while let Some(until) = self.until.filter(|&until| until <= target && until != FOREVER) {
            self.time = self.time.max(until);
            self.end_turn(self.time)?;
        }
        self.time = self.time.max(target);
        Ok(())
    }

    /// The next event; waits for it.
    ///
    /// # Errors
    /// The run has ended.
    pub fn receive(&mut self) -> Result<Event, GuestError> {
        self.await_turn()?;
        loop {
            let until = self.until.unwrap_or(0);
            if let Some(event) = self.events.pop_front_if(|event| event.time() < until || until == FOREVER) {
                self.time = self.time.max(event.time());
                return Ok(event);
            }
            match self.class {
                Class::Causal | Class::Realtime => self.end_turn(FOREVER)?,
                Class::Stepped => {
                    // An endless grant is a warm-up, which ends here.
                    if until != FOREVER {
                        self.time = self.time.max(until);
                    }
                    self.end_turn(self.time)?;
                }
            }
        }
    }

    /// The next event of a causal guest up to `until` \[ps\], in the order of time; without one its clock is `until`.
    ///
    /// # Errors
    /// The run has ended.
    pub fn receive_until(&mut self, until: Time) -> Result<Option<Event>, GuestError> {
        self.await_turn()?;
        loop {
            let granted = self.until.unwrap_or(0);
            let is_known = |time: Time| time < granted || granted == FOREVER;
            if let Some(event) = self.events.pop_front_if(|event| event.time() <= until && is_known(event.time())) {
                self.time = self.time.max(event.time());
                return Ok(Some(event));
            }
            if is_known(until) {
                self.time = self.time.max(until);
                return Ok(None);
            }
            self.end_turn(until)?;
        }
    }

    /// Waits for the next event of a causal guest that expects only messages of these nodes, and departures of its own
    /// messages. Later events of other nodes may have an earlier time.
    ///
    /// # Errors
    /// The run has ended.
    pub fn receive_from(&mut self, sources: &[u32]) -> Result<Event, GuestError> {
        self.await_turn()?;
        if self.events.is_empty() && self.welcome.minor >= MINOR_OF_AWAITS {
            self.link.put(0, self.time, &Body::Awaits { sources: sources.to_vec() });
        }
        self.receive()
    }

    /// The next message; waits for it, and skips other events.
    ///
    /// # Errors
    /// The run has ended.
    pub fn receive_message(&mut self) -> Result<Arrival, GuestError> {
        loop {
            if let Event::Message(arrival) = self.receive()? {
                return Ok(arrival);
            }
        }
    }

    /// The next event up to the current time, if any.
    ///
    /// # Errors
    /// The run has ended.
    pub fn poll(&mut self) -> Result<Option<Event>, GuestError> {
        self.await_turn()?;
        self.tick();
        // A causal guest runs ahead of the network, and must wait for the network to reach its time.
        if self.class != Class::Stepped && self.events.front().is_none_or(|event| event.time() > self.time) {
            self.end_turn(self.time)?;
        }
        let now = self.time;
        Ok(self.events.pop_front_if(|event| event.time() <= now))
    }

    /// Announces that the guest computes until `until` \[ps\] and sends nothing before, whatever arrives, so that other
    /// guests go on meanwhile. Does nothing if the endpoint is older than version 1.1, or the guest does not have the
    /// turn.
    ///
    /// # Errors
    /// The run has ended.
    pub fn busy(&mut self, until: Time) -> Result<(), GuestError> {
        if self.until.is_none() || self.welcome.minor < MINOR_OF_PARTS {
            return Ok(());
        }
        self.link.put(0, self.time, &Body::Busy { until });
        flush(&mut self.link, self.patience, "announcing that it computes")
    }

    /// Labels this moment in the results. Ends the warm-up of a stepped guest if that lasts until a mark.
    ///
    /// # Errors
    /// The run has ended.
    pub fn mark(&mut self, label: &str) -> Result<(), GuestError> {
        self.await_turn()?;
        self.tick();
        self.link.put(0, self.time, &Body::Mark { label: label.to_owned() });
        if self.class == Class::Stepped && self.until == Some(FOREVER) { self.end_turn(self.time) } else { Ok(()) }
    }

    /// The means to notice the end of the connection while the guest does something else.
    ///
    /// # Errors
    /// The system allows no more open files.
    pub fn lifeline(&self) -> std::io::Result<Lifeline> {
        self.link.duplicate().map(Lifeline)
    }

    /// Gives up: tells the endpoint the reason, which ends the run or this guest's part in it.
    pub fn give_up(mut self, reason: &str) {
        self.link.put(0, self.time, &Body::Error { code: Code::Run, text: reason.to_owned() });
        // An error here is ignored: the reason of the guest's end is another one.
        let _ = self.link.flush(Duration::from_secs(1), Duration::from_secs(1), &mut |_| true);
    }

    /// Says goodbye.
    ///
    /// # Errors
    /// The run has ended otherwise.
    pub fn finish(mut self, reason: &str) -> Result<(), GuestError> {
        self.await_turn()?;
        self.tick();
        let (injects, notices) = (self.injects, self.notices);
        self.link.put(0, self.time, &Body::Bye { reason: reason.to_owned(), injects, notices });
        flush(&mut self.link, self.patience, "saying goodbye")?;
        match next_frame(&mut self.link, self.patience, "saying goodbye")?.body {
            Body::Bye { .. } => Ok(()),
            other => Err(unexpected(&other, "saying goodbye")),
        }
    }

    /// Waits for the first turn, if it has not begun yet.
    fn await_turn(&mut self) -> Result<(), GuestError> {
        if self.until.is_none() { self.take_turn() } else { Ok(()) }
    }

    /// Ends the turn with the promise to send nothing before `next`, and waits for the next turn.
    fn end_turn(&mut self, next: Time) -> Result<(), GuestError> {
        self.tick();
        self.link.put(0, self.time, &Body::Timestamp { next, injects: self.injects });
        self.until = None;
        flush(&mut self.link, self.patience, "ending its turn")?;
        self.take_turn()
    }

    /// Receives events until the endpoint gives the turn.
    fn take_turn(&mut self) -> Result<(), GuestError> {
        let doing = "waiting for its turn";
        loop {
            let Frame { endpoint, time, body, .. } = next_frame(&mut self.link, self.patience, doing)?;
            match body {
                Body::Part(part) => self.begun.extend_from_slice(&part),
                Body::Deliver(mut deliver) => {
                    if !self.begun.is_empty() {
                        self.begun.extend_from_slice(&deliver.payload);
                        deliver.payload = self.begun.split().freeze();
                    }
                    self.notices += 1;
                    self.events.push_back(Event::Message(Arrival::new(endpoint, time, deliver)));
                }
                Body::Done { cookie } => {
                    self.notices += 1;
                    self.events.push_back(Event::Sent { time, cookie });
                }
                Body::GoAhead { until, notices } => {
                    // A central's count covers its whole group.
                    if notices != self.notices && !self.central {
                        return Err(GuestError::Counts { said: notices, heard: self.notices });
                    }
                    self.notices = notices;
                    // Events for its group advance the clock of a central, promises that of a stepped guest.
                    if self.central || matches!(self.class, Class::Stepped | Class::Realtime) {
                        self.time = self.time.max(time);
                    }
                    if self.class == Class::Realtime && self.anchor.is_none() {
                        self.anchor = Some((Instant::now(), time));
                    }
                    self.turns += 1;
                    self.until = Some(until);
                    return Ok(());
                }
                other => return Err(unexpected(&other, doing)),
            }
        }
    }
}

/// Connects, with retries while no endpoint listens, and performs the handshake.
fn connect(address: &Address, config: &Config) -> Result<(Link, Welcome), GuestError> {
    let start = Instant::now();
    let stream = loop {
        // This must be read before the attempt: a failure before the endpoint listened does not mean that it is too
        // late.
        let met = config.company.has_connected();
        match Stream::connect(address) {
            Ok(stream) => break stream,
            Err(error) if met && matches!(error.kind(), ErrorKind::ConnectionRefused | ErrorKind::NotFound) => {
                return Err(GuestError::Late { address: address.clone() });
            }
            // An invalid address stays invalid.
            Err(error) if start.elapsed() >= config.patience || error.kind() == ErrorKind::InvalidInput => {
                return Err(GuestError::Connect { address: address.clone(), error });
            }
            Err(_) => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    config.company.record_connection();
    let failed = |error| GuestError::Connect { address: address.clone(), error };
    let mut link = Link::new(stream, Codec::default(), BytesMut::new()).map_err(failed)?;
    let hello = Hello {
        major: MAJOR,
        minor: MINOR,
        capabilities: 0,
        class: config.class,
        role: config.role,
        group: config.group,
        step: config.step,
        slack: 0,
        max_payload: MAX_PAYLOAD,
        manifest: config.manifest,
        name: config.name.clone(),
        nodes: config.nodes.clone(),
    };
    link.put(0, 0, &Body::Hello(Box::new(hello)));
    let doing = "shaking hands";
    flush(&mut link, config.patience, doing)?;
    let mut answer = next_frame(&mut link, config.patience, doing)?.body;
    match (&config.token, &answer) {
        (None, Body::Challenge(_)) => return Err(GuestError::TokenWanted),
        (Some(token), Body::Challenge(endpoint)) => {
            prove(&mut link, token, *endpoint, config.patience, doing)?;
            answer = next_frame(&mut link, config.patience, doing)?.body;
        }
        (Some(_), Body::Welcome(_)) => return Err(GuestError::Unproved),
        _ => {}
    }
    match answer {
        Body::Welcome(welcome) => {
            link.set_max_payload(welcome.max_payload);
            Ok((link, *welcome))
        }
        other => Err(unexpected(&other, doing)),
    }
}

/// Proves to the endpoint that the guest knows the token, and checks the endpoint's proof of the same.
fn prove(
    link: &mut Link,
    token: &Token,
    endpoint: Nonce,
    patience: Duration,
    doing: &'static str,
) -> Result<(), GuestError> {
    let no_nonce = || GuestError::Program("the system has no random bytes for a challenge".to_owned());
    let nonces = Nonces { endpoint, guest: token::nonce().ok_or_else(no_nonce)? };
    link.put(0, 0, &Body::Challenge(nonces.guest));
    link.put(0, 0, &Body::Proof(token.proof(Side::Guest, &nonces)));
    flush(link, patience, doing)?;
    match next_frame(link, patience, doing)?.body {
        Body::Proof(proof) if token.proves(Side::Endpoint, &nonces, &proof) => Ok(()),
        Body::Proof(_) | Body::Welcome(_) => Err(GuestError::Unproved),
        other => Err(unexpected(&other, doing)),
    }
}

/// Sends what is buffered. `doing` describes the activity of the guest, for errors.
fn flush(link: &mut Link, patience: Duration, doing: &'static str) -> Result<(), GuestError> {
    match link.flush(patience, Duration::MAX, &mut |_| true) {
        Ok(()) => Ok(()),
        Err(broken) => {
            // The reason may have been sent before the connection was closed.
            while let Ok(Some(frame)) = link.next_if_there() {
                if let Body::Error { code, text } = frame.body {
                    return Err(GuestError::Refused { code, text, doing });
                }
            }
            Err(GuestError::Lost { doing, why: broken.to_string() })
        }
    }
}

/// Waits for the next frame. An Error frame becomes an error. `doing` describes the activity of the guest.
fn next_frame(link: &mut Link, patience: Duration, doing: &'static str) -> Result<Frame, GuestError> {
    match link.next(patience, &mut |_| true) {
        Ok(Frame { body: Body::Error { code, text }, .. }) => Err(GuestError::Refused { code, text, doing }),
        Ok(frame) => Ok(frame),
        Err(Broken::Closed) => Err(GuestError::Lost { doing, why: "it has closed the connection".to_owned() }),
        Err(broken) => Err(GuestError::Lost { doing, why: broken.to_string() }),
    }
}

/// The error for a frame that the endpoint may not send now.
fn unexpected(body: &Body, doing: &'static str) -> GuestError {
    GuestError::Lost { doing, why: format!("it sent a {} out of turn", body.name()) }
}
