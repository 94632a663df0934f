//! A task of an application as a guest: does over TGP/1 what [`Replay`](trgen::trace::replay::Replay) does in one
//! process, cycle for cycle.
//!
//! The cookie of a message is the position of its send in the sender's program. From this position the receiver derives
//! the tag of the message. Messages between a pair of tasks are received in the order in which they were sent; those of
//! a program whose sends wait by themselves ([`Step::After`]), with the same tag.
//!
//! # How the model departs from reality, and who could notice
//! A send that waits by itself begins when its task looks at the network: not while it computes.

use std::collections::{HashMap, HashSet};

use bytes::Bytes;
use trgen::TaskId;
use trgen::trace::matching::{Envelope, Mailbox, Posted};
use trgen::trace::program::{Event as Step, Program, Request, Send, Tag};

use super::script::Played;
use super::{Event, Guest, GuestError};
use crate::clock::Clock;
use crate::protocol::Inject;

/// A program, with the numbers of its messages, which receivers need.
#[derive(Debug)]
pub struct Script {
    program: Program,
    /// For each task: the sequence number of each send among those to the same destination, by position in the program.
    numbers: Vec<HashMap<u64, u64>>,
    /// True if sends wait by themselves: only messages with the same tag are numbered together.
    is_deferring: bool,
}

impl Script {
    /// A program, with task i on node i.
    #[must_use]
    pub fn new(program: Program) -> Self {
        let is_deferring = program.tasks.iter().flatten().any(|step| matches!(step, Step::After(_)));
        let numbers = program
            .tasks
            .iter()
            .map(|steps| {
                let mut counts: HashMap<(TaskId, Option<Tag>), u64> = HashMap::new();
                let sends = steps.iter().enumerate().filter_map(|(at, step)| send_of(step).map(|(send, _)| (at, send)));
                sends
                    .map(|(at, send)| {
                        let count = counts.entry((send.to, is_deferring.then_some(send.tag))).or_default();
                        *count += 1;
                        (at as u64, *count - 1)
                    })
                    .collect()
            })
            .collect();
        Self { program, numbers, is_deferring }
    }

    /// Number of tasks of the program.
    #[must_use]
    pub fn tasks(&self) -> usize {
        self.program.tasks.len()
    }

    /// Plays task `task` on the node of the same number, to its end.
    ///
    /// # Errors
    /// The run has ended before the task.
    pub fn play(&self, task: u32, mut guest: Guest) -> Result<Played, GuestError> {
        let (numerator, denominator) = guest.welcome().cycle;
        let clock = Clock::new(numerator, denominator)
            .ok_or_else(|| GuestError::Program("the endpoint's cycle is shorter than a picosecond".to_owned()))?;
        let (sent, received) = Player::new(self, task, clock).play(&mut guest)?;
        let played = Played { time: guest.now(), sent, received, turns: guest.turns() };
        guest.finish("the task is done")?;
        Ok(played)
    }
}

/// The send of a step, and its request if it is non-blocking.
fn send_of(step: &Step) -> Option<(&Send, Option<Request>)> {
    match step {
        Step::Send(send) => Some((send, None)),
        Step::Isend(send, request) => Some((send, Some(*request))),
        _ => None,
    }
}

/// Messages from one task that arrived before an earlier one.
#[derive(Debug, Default)]
struct Early {
    /// Sequence number of the next message to be received.
    seen: u64,
    /// Later messages, by sequence number.
    waiting: HashMap<u64, Envelope>,
}

/// A task in progress.
struct Player<'a> {
    script: &'a Script,
    /// Number of the task.
    task: u32,
    clock: Clock,
    /// Matches messages with posted receives.
    mailbox: Mailbox,
    /// Requests in progress.
    outstanding: HashSet<Request>,
    /// Requests that have completed and have not been waited for yet.
    completed: HashSet<Request>,
    /// Messages that arrived too early, by source task, and tag if sends wait by themselves.
    early: HashMap<(u32, Option<Tag>), Early>,
    /// Sends that wait, by their positions in the program, with the requests that they wait for.
    deferred: Vec<(&'a [Request], Vec<u64>)>,
    /// True once the message that completes a blocking step has arrived.
    served: bool,
    /// \[ps\] Time of the last activity, blocking sends excluded, as in a replay.
    busy: Option<u64>,
    /// Number of messages that entered the network.
    injected: u64,
    /// Number of messages that came from the network.
    arrived: u64,
}

impl<'a> Player<'a> {
    fn new(script: &'a Script, task: u32, clock: Clock) -> Self {
        Self {
            script,
            task,
            clock,
            mailbox: Mailbox::default(),
            outstanding: HashSet::new(),
            completed: HashSet::new(),
            early: HashMap::new(),
            deferred: Vec::new(),
            served: false,
            busy: None,
            injected: 0,
            arrived: 0,
        }
    }

    /// Executes the whole task. Returns the numbers of messages sent and received.
    fn play(mut self, guest: &mut Guest) -> Result<(u64, u64), GuestError> {
        let script = self.script;
        let steps = script.program.tasks.get(self.task as usize).map(Vec::as_slice).unwrap_or_default();
        // The requests that the sends that follow wait for.
        let mut after: &[Request] = &[];
        for (at, step) in steps.iter().enumerate() {
            match step {
                Step::After(requests) => after = requests,
                Step::Isend(_, request) if self.is_open(after) => {
                    match self.deferred.last_mut().filter(|(requests, _)| std::ptr::eq(*requests, after)) {
                        Some((_, sends)) => sends.push(at as u64),
                        None => self.deferred.push((after, vec![at as u64])),
                    }
                    self.begin(*request, false);
                }
                Step::Compute(time) => {
                    self.compute(time.0, guest)?;
                    continue;
                }
                Step::Send(send) | Step::Isend(send, _) => {
                    let request = send_of(step).and_then(|(_, request)| request);
                    let over = !self.send(at as u64, send, guest)?;
                    match request {
                        Some(request) => self.begin(request, over),
                        None if over => {}
                        None => {
                            self.wait(guest, |player| player.served)?;
                            continue;
                        }
                    }
                }
                Step::Recv(receive) => {
                    if self.mailbox.post(Posted { receive: *receive, request: None }).is_none() {
                        self.wait(guest, |player| player.served)?;
                    }
                }
                Step::Irecv(receive, request) => {
                    let over = self.mailbox.post(Posted { receive: *receive, request: Some(*request) }).is_some();
                    self.begin(*request, over);
                }
                Step::Wait(request) => self.wait_all(std::slice::from_ref(request), guest)?,
                Step::WaitAll(all) => self.wait_all(all, guest)?,
                Step::WaitAny(any) => self.wait_any(any, guest)?,
            }
            self.busy = Some(guest.now());
        }
        Ok((self.injected, self.arrived))
    }

    /// Computes for `time` picoseconds, rounded down to whole cycles. The first of them is the current cycle, unless
    /// the task has been active in it. Afterwards the clock is within the last one.
    fn compute(&mut self, time: u64, guest: &mut Guest) -> Result<(), GuestError> {
        let (numerator, denominator) = self.clock.ratio();
        let cycles = u128::from(time) * u128::from(denominator) / u128::from(numerator);
        let cycles = u64::try_from(cycles).unwrap_or(u64::MAX);
        if cycles > 0 {
            let is_busy = self.busy == Some(guest.now());
            guest.advance(self.clock.span(cycles - u64::from(!is_busy)))?;
            self.busy = Some(guest.now());
        }
        Ok(())
    }

    /// Sends the message of the step at position `at`. Returns true if it enters the network; a message to the task
    /// itself does not.
    fn send(&mut self, at: u64, send: &Send, guest: &mut Guest) -> Result<bool, GuestError> {
        if send.to.0 == self.task {
            self.arrive(self.task, at)?;
            return Ok(false);
        }
        let Send { to, bytes, .. } = *send;
        let inject = Inject {
            destination: to.0,
            notify: true,
            size: bytes,
            cookie: at,
            unmodelled: false,
            identified: None,
            payload: Bytes::new(),
        };
        guest.inject(0, inject)?;
        self.injected += 1;
        Ok(true)
    }

    /// Starts a request; `over` if it has completed already.
    fn begin(&mut self, request: Request, over: bool) {
        if over {
            self.outstanding.remove(&request);
            self.completed.insert(request);
        } else {
            self.completed.remove(&request);
            self.outstanding.insert(request);
        }
    }

    /// Records that a request has completed.
    fn complete(&mut self, request: Request) {
        if self.outstanding.remove(&request) {
            self.completed.insert(request);
        }
    }

    /// True if some of these requests have not completed.
    fn is_open(&self, requests: &[Request]) -> bool {
        requests.iter().any(|request| self.outstanding.contains(request))
    }

    /// Begins the deferred sends whose requests have completed.
    fn release(&mut self, guest: &mut Guest) -> Result<(), GuestError> {
        let steps = &self.script.program.tasks[self.task as usize];
        while let Some(place) = self.deferred.iter().position(|(requests, _)| !self.is_open(requests)) {
            for at in self.deferred.remove(place).1 {
                let Some((send, Some(request))) = steps.get(at as usize).and_then(send_of) else { continue };
                if !self.send(at, send, guest)? {
                    self.complete(request);
                }
            }
        }
        Ok(())
    }

    /// Processes events until `done` is true, and resets `served`.
    fn wait(&mut self, guest: &mut Guest, done: impl Fn(&Self) -> bool) -> Result<(), GuestError> {
        while !done(self) {
            let event = guest.receive()?;
            self.process(event)?;
            self.release(guest)?;
        }
        self.served = false;
        Ok(())
    }

    /// Waits until all of these requests have completed.
    fn wait_all(&mut self, all: &[Request], guest: &mut Guest) -> Result<(), GuestError> {
        self.wait(guest, |player| all.iter().all(|request| !player.outstanding.contains(request)))?;
        for request in all {
            self.completed.remove(request);
        }
        Ok(())
    }

    /// Waits until one of these requests has completed, and marks the first one that has as waited for.
    fn wait_any(&mut self, any: &[Request], guest: &mut Guest) -> Result<(), GuestError> {
        // All events up to the current time are processed first: they may complete requests.
        while let Some(event) = guest.poll()? {
            self.process(event)?;
            self.release(guest)?;
        }
        if any.iter().any(|request| self.completed.remove(request)) {
            return Ok(());
        }
        if any.iter().any(|request| self.outstanding.contains(request)) {
            self.wait(guest, |player| any.iter().any(|request| player.completed.contains(request)))?;
            let _ = any.iter().any(|request| self.completed.remove(request));
        }
        Ok(())
    }

    /// Processes an event.
    fn process(&mut self, event: Event) -> Result<(), GuestError> {
        match event {
            Event::Sent { cookie, .. } => self.sent(cookie),
            Event::Message(arrival) => {
                self.arrived += 1;
                self.arrive(arrival.source, arrival.cookie)?;
            }
        }
        Ok(())
    }

    /// Completes the send of the step at position `at`, whose message has left.
    fn sent(&mut self, at: u64) {
        let steps = &self.script.program.tasks[self.task as usize];
        match steps.get(at as usize).and_then(send_of) {
            Some((_, Some(request))) => self.complete(request),
            _ => self.served = true,
        }
    }

    /// Processes the message that task `from` sends in the step at position `at` of its program.
    fn arrive(&mut self, from: u32, at: u64) -> Result<(), GuestError> {
        let unknown = || GuestError::Program(format!("task {from} sends a message that is not in its program"));
        let tasks = &self.script.program.tasks;
        let step = tasks.get(from as usize).and_then(|steps| steps.get(at as usize)).ok_or_else(unknown)?;
        let (send, _) = send_of(step).ok_or_else(unknown)?;
        let number = *self.script.numbers[from as usize].get(&at).ok_or_else(unknown)?;
        let early = self.early.entry((from, self.script.is_deferring.then_some(send.tag))).or_default();
        early.waiting.insert(number, Envelope { from: TaskId(from), tag: send.tag, announced: None });
        let mut over = Vec::new();
        while let Some(envelope) = early.waiting.remove(&early.seen) {
            early.seen += 1;
            over.extend(self.mailbox.arrive(envelope));
        }
        for posted in over {
            match posted.request {
                Some(request) => self.complete(request),
                None => self.served = true,
            }
        }
        Ok(())
    }
}
