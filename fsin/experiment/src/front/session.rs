//! Messages of a program that has a loop of its own: it sends, lets time pass, and takes what has happened.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};

use fsin_core::couple::Failure;
use fsin_core::network::{Injected, Network, Notices};
use trgen::clock::{Clock, FOREVER, Time};
use trgen::{Cycle, Message, NodeId, Outbox};

use crate::live::{live_clock, live_settings, message_network};
use crate::memory;
use crate::remedy::remedy_of;
use crate::resolve::Experiment;
use crate::settings::{Settings, SettingsError};

/// \[bytes\] The longest message.
const LONGEST: u64 = 1 << 40;

/// \[ps\] The latest time: three months.
const LATEST: Time = 1 << 63;

/// What has happened.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum EventKind {
    /// A message has arrived in full.
    Delivered,
    /// The network has lost a message, which will never arrive.
    Lost,
    /// A time that was [scheduled](Session::schedule) has come.
    Timer,
}

/// An event of a [`Session`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub struct Event {
    /// What has happened.
    pub kind: EventKind,
    /// \[ps\] When: the time of the session.
    pub time: Time,
    /// \[ps\] When the message was sent, or the timer set.
    pub since: Time,
    /// The node that sent the message; 0 of timers.
    pub source: NodeId,
    /// The node that it goes to; 0 of timers.
    pub destination: NodeId,
    /// \[bytes\] Size of the message; 0 of timers.
    pub bytes: u64,
    /// The tag of the message, which means nothing to the network; 0 of timers.
    pub tag: u64,
    /// What the sender, or the setter of the timer, has given to know it by.
    pub cookie: u64,
}

/// Why a call of a [`Session`] cannot be served.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// A node that the network does not have.
    #[error("there is no node {node}: the network has nodes 0 to {}", nodes - 1)]
    NoSuchNode {
        /// The node.
        node: u32,
        /// Number of nodes.
        nodes: usize,
    },
    /// A message of a node to itself, which this network does not carry.
    #[error("node {0} sends to itself, which takes no network: schedule an event instead")]
    ToItself(u32),
    /// A message that is too long.
    #[error("a message of {0} bytes is too long: send at most {LONGEST} bytes")]
    TooLong(u64),
    /// A time that has passed.
    #[error("{until} ps have passed: it is {now} ps")]
    Past {
        /// \[ps\] The time.
        until: Time,
        /// \[ps\] Time of the session.
        now: Time,
    },
    /// A time that is too late to be counted.
    #[error("times end at {LATEST} ps: use an earlier one")]
    TooLate,
    /// The network cannot go on. Every later call that lets time pass fails so too.
    #[error("{0}: {remedy}", remedy = remedy_of(.0))]
    Failed(#[from] Failure),
}

/// A network, and the messages that a program sends through it.
///
/// Time is counted in picoseconds from 0. A message enters the network in the first cycle that begins at or after the time
/// of its sending, and arrives at the end of a cycle. Messages of a node enter in the order in which they were sent. Results
/// depend on the settings and the calls alone.
///
/// ```
/// use fsin_experiment::{EventKind, Experiment, Session};
///
/// // A microsecond, and 50 bytes in each nanosecond.
/// let settings = Experiment::builder().network("constant-delay:delay=1us,rate=50GB/s").set("nodes", 8).settings()?;
/// let mut session = Session::new(settings)?;
/// session.send(0, 7, 5000, 1, 42)?;
/// while session.advance(10_000_000)? > 0 {
///     while let Some(event) = session.poll() {
///         assert_eq!((event.kind, event.cookie, event.time), (EventKind::Delivered, 42, 1_100_000));
///     }
/// }
/// assert_eq!(session.time(), 10_000_000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Session {
    network: Box<dyn Network>,
    clock: Clock,
    carries_to_itself: bool,
    /// \[ps\] Time of the session.
    now: Time,
    /// The cycle in which messages enter that are sent now.
    entry: Cycle,
    /// Messages that enter the network in a cycle that it has not reached, in the order of their entry.
    waiting: VecDeque<(Cycle, Message)>,
    /// Messages that the network has refused so far.
    outbox: Outbox,
    /// By number: when each message was sent that has not arrived, its tag and its cookie.
    underway: HashMap<u64, (Time, u64, u64)>,
    /// Number of messages sent.
    sent: u64,
    /// Time, number, time of the call and cookie of each timer.
    timers: BinaryHeap<Reverse<(Time, u64, Time, u64)>>,
    /// Number of timers set.
    set: u64,
    /// Events of this time that have not been polled.
    events: VecDeque<Event>,
    notices: Notices,
    /// Why the network cannot go on.
    failure: Option<Failure>,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let underway = self.underway.len();
        f.debug_struct("Session").field("now", &self.now).field("underway", &underway).finish_non_exhaustive()
    }
}

impl Session {
    /// The network of these settings, empty, at time 0. The settings of traffic and of the length of a run have no
    /// meaning; those of the network, `bandwidth`, `phit-bytes` and `seed` have.
    ///
    /// # Errors
    /// The first setting that cannot be used; a network that does not fit in memory, or in which some nodes cannot reach
    /// each other.
    pub fn new(settings: Settings) -> Result<Self, SettingsError> {
        let experiment = Experiment::resolve(live_settings(settings)?)?;
        memory::check(&experiment)?;
        let clock = live_clock(&experiment)?;
        let network = message_network(&experiment)?;
        Ok(Self {
            clock,
            carries_to_itself: experiment.network.carries_to_itself(),
            now: 0,
            entry: network.clock(),
            waiting: VecDeque::new(),
            outbox: Outbox::new(network.nodes()),
            underway: HashMap::new(),
            sent: 0,
            timers: BinaryHeap::new(),
            set: 0,
            events: VecDeque::new(),
            notices: Notices::default(),
            failure: None,
            network,
        })
    }

    /// Number of nodes.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.network.nodes()
    }

    /// \[ps\] The time of the session.
    #[must_use]
    pub const fn time(&self) -> Time {
        self.now
    }

    /// \[messages\] Messages that have neither arrived nor been lost.
    #[must_use]
    pub fn underway(&self) -> usize {
        self.underway.len()
    }

    /// Sends a message now. `tag` and `cookie` return with its arrival.
    ///
    /// # Errors
    /// A node that is not there, a message to itself, or of more than 2^40 bytes.
    pub fn send(
        &mut self,
        source: u32,
        destination: u32,
        bytes: u64,
        tag: u64,
        cookie: u64,
    ) -> Result<(), SessionError> {
        let nodes = self.nodes();
        for node in [source, destination] {
            if node as usize >= nodes {
                return Err(SessionError::NoSuchNode { node, nodes });
            }
        }
        if source == destination && !self.carries_to_itself {
            return Err(SessionError::ToItself(source));
        }
        if bytes > LONGEST {
            return Err(SessionError::TooLong(bytes));
        }
        let id = self.sent;
        self.sent += 1;
        self.underway.insert(id, (self.now, tag, cookie));
        let message = Message { id, source: NodeId(source), destination: NodeId(destination), bytes, class: 0 };
        self.waiting.push_back((self.entry, message));
        Ok(())
    }

    /// Sets a timer, which makes an event after `delay` picoseconds.
    ///
    /// # Errors
    /// A time beyond 2^63 ps.
    pub fn schedule(&mut self, delay: Time, cookie: u64) -> Result<(), SessionError> {
        let time = self.now.checked_add(delay).filter(|&time| time <= LATEST).ok_or(SessionError::TooLate)?;
        self.timers.push(Reverse((time, self.set, self.now, cookie)));
        self.set += 1;
        Ok(())
    }

    /// Lets time pass until something happens, or until `until` \[ps\], whichever comes first. Returns the number of
    /// events to [poll](Self::poll); 0 if nothing happens until then. Events that have not been polled hold time still.
    ///
    /// At one time, arrivals come before timers: by destination, source and order of sending; timers in the order of
    /// their setting. With `until` at [`FOREVER`] and nothing that can ever happen, returns 0 at once, and time stays.
    ///
    /// # Errors
    /// A time that has passed or is beyond 2^63 ps, or a network that cannot go on, such as one in deadlock.
    pub fn advance(&mut self, until: Time) -> Result<usize, SessionError> {
        if until < self.now {
            return Err(SessionError::Past { until, now: self.now });
        }
        if until > LATEST && until != FOREVER {
            return Err(SessionError::TooLate);
        }
        if self.events.is_empty() {
            let timer = self.timers.peek().map_or(FOREVER, |Reverse((time, ..))| *time);
            self.simulate(until.min(timer))?;
            while let Some(Reverse((time, _, since, cookie))) = self.timers.peek().copied()
                && time == self.now
                && self.events.iter().all(|event| event.kind == EventKind::Timer)
            {
                self.timers.pop();
                let (kind, zero) = (EventKind::Timer, NodeId(0));
                self.events.push_back(Event {
                    kind,
                    time,
                    since,
                    source: zero,
                    destination: zero,
                    bytes: 0,
                    tag: 0,
                    cookie,
                });
            }
        }
        Ok(self.events.len())
    }

    /// The next event of this time; `None` if there is none.
    pub fn poll(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Simulates until messages arrive, or until `until`.
    fn simulate(&mut self, until: Time) -> Result<(), SessionError> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone().into());
        }
        let end = self.first_after(until);
        loop {
            let at = self.network.clock();
            while let Some((entry, message)) = self.waiting.front().copied()
                && entry <= at
            {
                self.waiting.pop_front();
                self.outbox.push_to_any(message);
            }
            // What was dropped at its injection is lost now.
            let mut dropped = Vec::new();
            let network = &mut self.network;
            self.outbox.offer(|message| match network.inject(message) {
                Injected::Accepted => true,
                Injected::Refused => false,
                Injected::Dropped => {
                    dropped.push(message);
                    true
                }
            });
            if !dropped.is_empty() {
                (self.now, self.entry) = (self.now.max(self.clock.end(at - 1)), at);
                self.lose(&dropped);
            }
            let idle = self.network.is_idle() && self.outbox.is_empty() && self.waiting.is_empty();
            if !self.events.is_empty() || at >= end || (idle && until == FOREVER) {
                break;
            }
            let last = self.network.last();
            if at >= last {
                return Err(self.fail(Failure::ClockEnd { at: last }));
            }
            let next = self.waiting.front().map_or(end, |(entry, _)| *entry);
            let advanced = self.network.advance(end.min(next).min(last), &mut self.notices);
            if !self.notices.is_empty() {
                self.take_notices();
            }
            if let Err(failure) = advanced {
                return Err(self.fail(failure.into()));
            }
            if !self.events.is_empty() {
                return Ok(());
            }
        }
        if self.events.is_empty() && until != FOREVER && until > self.now {
            (self.now, self.entry) = (until, self.clock.cycle(until));
        }
        Ok(())
    }

    /// The first cycle that has not ended at this time.
    fn first_after(&self, time: Time) -> Cycle {
        let begins = self.clock.cycle(time);
        // The cycle before ends at or after this time.
        if begins == Cycle::NEVER || self.clock.end(begins - 1) <= time { begins } else { begins - 1 }
    }

    /// Makes events of what happened in the last cycle, at whose end it is now.
    fn take_notices(&mut self) {
        let Notices { delivered, dropped, .. } = std::mem::take(&mut self.notices);
        if delivered.is_empty() && dropped.is_empty() {
            return;
        }
        self.entry = self.network.clock();
        self.now = self.clock.end(self.entry - 1);
        for delivery in delivered {
            self.happened(EventKind::Delivered, &delivery.message);
        }
        self.lose(&dropped);
    }

    /// Makes events of messages that are lost now.
    fn lose(&mut self, messages: &[Message]) {
        for message in messages {
            self.happened(EventKind::Lost, message);
        }
    }

    /// Makes an event of a message.
    fn happened(&mut self, kind: EventKind, message: &Message) {
        // A network that loses several packets of a message reports it once.
        let Some((since, tag, cookie)) = self.underway.remove(&message.id) else { return };
        let Message { source, destination, bytes, .. } = *message;
        self.events.push_back(Event { kind, time: self.now, since, source, destination, bytes, tag, cookie });
    }

    /// The error of a network that cannot go on, now and later.
    fn fail(&mut self, failure: Failure) -> SessionError {
        self.failure = Some(failure.clone());
        failure.into()
    }
}
