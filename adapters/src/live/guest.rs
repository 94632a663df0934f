//! The state of a guest, as the run knows it.

use std::time::{Duration, Instant};

use bytes::BytesMut;
use trgen::{GuestActivity, NodeId, Picoseconds};

use crate::clock::{FOREVER, Time};
use crate::endpoint::Connection;
use crate::protocol::{Body, Class, Code, DELIVER_FIELDS, MINOR_OF_PARTS};
use crate::stream::Link;

use super::hold::Hold;
use super::loss::{Input, Loss};
use super::member::Member;
use super::state::{Mark, State};
use super::watch::WireLog;

/// Longest time in which a guest reads the last frame that is sent to it.
const FAREWELL: Duration = Duration::from_secs(1);
/// Largest number of marks per guest.
const MARKS: usize = 1024;

/// Lateness of handed-over messages: the number of late ones, and the sum and maximum of their lateness \[ps\].
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Lateness {
    pub(super) count: u64,
    pub(super) sum: u128,
    pub(super) max: Time,
}

/// A guest.
#[derive(Debug)]
pub(super) struct Guest {
    /// Its own connection.
    link: Link,
    /// Data connections of its group.
    pub(super) members: Vec<Member>,
    pub(super) name: String,
    /// \[bytes\] Longest payload of a frame, of its own connection.
    longest: u32,
    /// True if its own connection accepts payloads in parts.
    parts: bool,
    /// The parts that have come of a payload that is longer than a frame.
    pub(super) begun: BytesMut,
    /// The sources of the messages for which it waits, if it has named them.
    pub(super) awaits: Option<Vec<u32>>,
    /// \[ps\] While it has the turn, it injects nothing before this time, whatever arrives.
    pub(super) busy: Time,
    /// Nodes of its own connection.
    pub(super) nodes: Vec<NodeId>,
    pub(super) class: Class,
    /// The digest of the guest that its Hello gives.
    pub(super) manifest: [u8; 32],
    /// \[ps\] Its longest grant, if it is stepped.
    pub(super) step: Time,
    /// \[ps\] By how much it may overrun the end of a grant.
    pub(super) slack: Time,
    pub(super) state: State,
    /// \[ps\] The last known value of its clock.
    pub(super) time: Time,
    /// \[ps\] Beginning of its turn.
    pub(super) from: Time,
    /// Number of messages injected.
    pub(super) injects: u64,
    /// Number of notices handed over: arrivals and departures of messages.
    pub(super) notices: u64,
    /// Number of turns.
    pub(super) turns: u64,
    /// How long the network has waited for it since its last progress.
    pub(super) hold: Hold,
    pub(super) late: Lateness,
    pub(super) marks: Vec<Mark>,
    /// \[ps\] End of its warm-up, before which lateness is not counted.
    pub(super) warm: Time,
    /// When its warm-up ended by the wall clock; `None` during its warm-up, or without one.
    pub(super) warmed: Option<Instant>,
}

impl Guest {
    pub(super) fn new(connection: Connection) -> Self {
        let Connection { link, hello, step, members, .. } = connection;
        Self {
            link,
            members: members.into_iter().map(Member::new).collect(),
            name: hello.name,
            longest: hello.max_payload,
            parts: hello.minor >= MINOR_OF_PARTS,
            begun: BytesMut::new(),
            awaits: None,
            busy: 0,
            nodes: hello.nodes.into_iter().map(NodeId).collect(),
            class: hello.class,
            manifest: hello.manifest,
            step,
            slack: hello.slack,
            state: State::Stopped { next: 0 },
            time: 0,
            from: 0,
            injects: 0,
            notices: 0,
            turns: 0,
            hold: Hold::default(),
            late: Lateness::default(),
            marks: Vec::new(),
            warm: 0,
            warmed: None,
        }
    }

    /// Writes the Hellos of its connections to the wire log.
    pub(super) fn log_hello(&self, log: &mut WireLog) -> Result<(), String> {
        log.hello(&self.name, self.class, self.step, &self.nodes)?;
        self.members.iter().try_for_each(|member| log.hello(&member.name, self.class, self.step, &member.nodes))
    }

    /// The nodes of each of its connections, its own first.
    pub(super) fn links(&self) -> impl Iterator<Item = &[NodeId]> {
        std::iter::once(self.nodes.as_slice()).chain(self.members.iter().map(|member| member.nodes.as_slice()))
    }

    /// \[bytes\] Longest payload of a frame that each of its connections accepts, its own first, and whether it accepts
    /// payloads in parts.
    pub(super) fn accepts(&self) -> impl Iterator<Item = (u32, bool)> {
        std::iter::once((self.longest, self.parts)).chain(self.members.iter().map(|member| (member.longest, false)))
    }

    /// The name of one of its connections.
    pub(super) fn name_of(&self, link: usize) -> &str {
        link.checked_sub(1).and_then(|member| self.members.get(member)).map_or(&self.name, |member| &member.name)
    }

    /// Records a mark, unless there are too many.
    pub(super) fn add_mark(&mut self, mark: Mark) -> Result<(), Loss> {
        if self.marks.len() >= MARKS {
            let what = format!("it has set more than {MARKS} marks; use fewer");
            return Err(Loss::new(Code::Limit, what));
        }
        self.marks.push(mark);
        Ok(())
    }

    /// True unless it has left or is lost.
    pub(super) fn is_connected(&self) -> bool {
        matches!(self.state, State::Stopped { .. } | State::Running { .. })
    }

    pub(super) fn is_stepped(&self) -> bool {
        self.class == Class::Stepped
    }

    pub(super) fn is_realtime(&self) -> bool {
        self.class == Class::Realtime
    }

    /// True if it is a real-time guest and has the turn.
    pub(super) fn runs_in_real_time(&self) -> bool {
        self.is_realtime() && matches!(self.state, State::Running { .. })
    }

    /// \[ps\] The earliest time of any future injection, given the time of its first notice.
    pub(super) fn promise(&self, first_notice: Option<Time>) -> Time {
        match self.state {
            State::Stopped { next } => next.min(first_notice.unwrap_or(FOREVER)).max(self.time),
            // The network does not wait for a real-time guest.
            State::Running { .. } if self.is_realtime() => FOREVER,
            State::Running { .. } => self.time.max(self.busy),
            State::Left | State::Lost { .. } => FOREVER,
        }
    }

    /// True if its turn has ended.
    pub(super) fn is_stopped(&self) -> bool {
        matches!(self.state, State::Stopped { .. })
    }

    /// All its connections, its own first.
    pub(super) fn all_links(&self) -> impl Iterator<Item = &Link> {
        std::iter::once(&self.link).chain(self.members.iter().map(|member| &member.link))
    }

    /// Its own connection, for a look at its state.
    pub(super) const fn own_link(&self) -> &Link {
        &self.link
    }

    /// Its own connection.
    pub(super) fn link(&mut self) -> &mut Link {
        &mut self.link
    }

    /// The connection of this index: 0 is its own, the others are data connections.
    pub(super) fn connection(&mut self, link: usize) -> &mut Link {
        match link.checked_sub(1) {
            Some(member) => &mut self.members[member].link,
            None => &mut self.link,
        }
    }

    /// Puts a frame into the send buffer of one of its connections; a payload that is too long for one frame goes in
    /// parts.
    pub(super) fn put(&mut self, link: usize, endpoint: u16, time: Time, body: &Body) {
        let room = self.longest.saturating_sub(DELIVER_FIELDS) as usize;
        match body {
            Body::Deliver(deliver) if link == 0 && deliver.payload.len() > room => {
                let mut rest = deliver.clone();
                while rest.payload.len() > room {
                    let part = Body::Part(rest.payload.split_to(room));
                    self.link.put(endpoint, time, &part);
                }
                self.link.put(endpoint, time, &Body::Deliver(rest));
            }
            _ => self.connection(link).put(endpoint, time, body),
        }
    }

    /// Adds to a loss the connection on which it happened. The text names a data connection.
    pub(super) fn with_connection(&self, link: usize, loss: Loss) -> Loss {
        let loss = loss.on_connection(link);
        match link {
            0 => loss,
            _ => Loss { what: format!("its data connection `{}`: {}", self.name_of(link), loss.what), ..loss },
        }
    }

    /// Sends a frame on all its connections, whether or not it can be delivered.
    pub(super) fn send_everywhere(&mut self, body: &Body) {
        let time = self.time;
        let members = self.members.iter_mut().map(|member| &mut member.link);
        for link in members.chain(std::iter::once(&mut self.link)) {
            link.put(0, time, body);
            let _ = link.flush(Duration::ZERO, FAREWELL, &mut |_| true);
        }
    }

    /// Checks that it has sent nothing while it does not have the turn.
    pub(super) fn check(&mut self) -> Result<(), Loss> {
        for link in 0..=self.members.len() {
            let received = self.connection(link).next_if_there().map_err(Loss::from);
            if let Some(frame) = received.map_err(|loss| self.with_connection(link, loss))? {
                let loss = match &frame.body {
                    Body::Error { text, .. } => Loss::new(Code::Run, format!("it has given up: {text}")),
                    body => {
                        let what = format!("it sends {} out of its turn; correct the guest", body.a_name());
                        Loss::new(Code::Order, what)
                    }
                };
                let loss = loss.with_last_input(link, Input::Frame(Box::new(frame)));
                return Err(self.with_connection(link, loss));
            }
        }
        Ok(())
    }

    /// Its current activity, for display.
    pub(super) fn activity(&self) -> GuestActivity {
        let state = match &self.state {
            State::Stopped { next: FOREVER } => "waits for a message",
            State::Stopped { .. } => "stopped",
            State::Running { .. } => "running",
            State::Left => "left",
            State::Lost { .. } => "lost",
        };
        GuestActivity {
            name: self.name.clone(),
            nodes: self.nodes.clone(),
            state: state.to_owned(),
            connected: self.is_connected(),
            clock: Picoseconds(self.time),
            injected: self.injects,
            notices: self.notices,
            late: self.late.count,
        }
    }

    /// Its name, nodes and state.
    pub(super) fn describe(&self) -> String {
        let all: Vec<NodeId> = self.links().flatten().copied().collect();
        let nodes = match all.as_slice() {
            [node] => format!("node {node}"),
            [first, .., last] => format!("{} nodes, {first} to {last}", all.len()),
            [] => "no node".to_owned(),
        };
        let state = match &self.state {
            State::Stopped { next: FOREVER } => format!("waiting for a message since {} ps", self.time),
            State::Stopped { next } => format!("stopped at {} ps until {next} ps", self.time),
            State::Running { until: FOREVER } => format!("running since {} ps", self.time),
            State::Running { until } => format!("running from {} ps to {until} ps", self.time),
            State::Left => format!("gone since {} ps", self.time),
            State::Lost { why } => format!("lost at {} ps: {why}", self.time),
        };
        format!("guest `{}` ({nodes}), {state}", self.name)
    }
}
