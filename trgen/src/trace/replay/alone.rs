//! The completion time of a program over a network without contention, computed without simulating the network.
//!
//! If no receive accepts messages of several senders or tags, the n-th receive of a sender and tag gets the n-th such
//! message, in any order of arrival. Then each task can be followed with a clock of its own, up to a message that has
//! not been sent yet. The result is that of a simulation, to the cycle, in a tenth of the time.
//!
//! Decision: docs/decisions/0511-clocks-of-tasks.md.

use std::collections::VecDeque;

use super::Replay;
use super::task::Task;
use crate::hashing::Table;
use crate::message::Message;
use crate::source::SourceError;
use crate::trace::program::{Event, Receive, Request, Send, Tag, TagFilter};
use crate::units::{Cycle, TaskId};

/// \[cycles\] Times of a message after its sending: until its sender knows that it is sent, and until it has arrived.
pub type Times = (u64, u64);

/// The times of a message.
pub type Rule<'a> = &'a mut dyn FnMut(&Message) -> Times;

/// The end of a request.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
enum End {
    /// There is no such request, or it has been waited for.
    #[default]
    None,
    /// It is not known yet; true if the task waits for it.
    Open(bool),
    /// \[cycle\] The first cycle in which a wait for it is over.
    At(u64),
}

/// Requests with numbers below this are kept in a vector.
const MOST: u32 = 1 << 16;

/// The ends of the requests of a task.
#[derive(Default, Debug)]
struct Ends {
    few: Vec<End>,
    others: Table<Request, End>,
}

impl Ends {
    fn of(&mut self, request: Request) -> &mut End {
        if request.0 >= MOST {
            return self.others.entry(request).or_default();
        }
        let at = request.0 as usize;
        if at >= self.few.len() {
            self.few.resize(at + 1, End::None);
        }
        &mut self.few[at]
    }
}

/// The reason why a task waits for a message that has not been sent.
#[derive(Debug)]
enum Parked {
    /// It does not wait.
    No,
    /// It waits in a blocking receive.
    Receive,
    /// It waits for these requests; the number of those without an end so far.
    Requests(Box<[Request]>, usize),
}

/// State of a task that is followed.
#[derive(Debug)]
struct Follower {
    /// \[cycle\] Its clock.
    now: u64,
    ends: Ends,
    parked: Parked,
}

/// Messages of one sender to one receiver with one tag.
#[derive(Default, Debug)]
struct Channel {
    /// \[cycle\] When messages that no receive has taken can be received.
    messages: VecDeque<u64>,
    /// Receives without a message: a request, or `None` for a blocking one.
    receives: VecDeque<Option<Request>>,
}

/// State of all tasks.
struct Following<'a> {
    rule: Rule<'a>,
    tasks: Vec<Follower>,
    channels: Vec<Channel>,
    /// By sender, receiver and tag: the number of the channel.
    numbers: Table<(TaskId, TaskId, Tag), u32>,
    /// \[cycle\] By sender and receiver: when the last message can be received. Later messages cannot be received
    /// before.
    last: Table<(TaskId, TaskId), u64>,
    /// Tasks that can go on.
    ready: Vec<TaskId>,
    /// \[cycle\] The last arrival over the network.
    arrived: u64,
}

impl Replay {
    /// The cycle after the last one of this program, which has not begun, over a network in which `rule` gives the
    /// times of each message. `None` if it has to be simulated: a receive accepts several senders or tags, the program
    /// waits for one of several requests, or lets sends wait by themselves, messages are announced first, or the program does not end.
    ///
    /// # Errors
    /// A program that cannot be read.
    pub fn completion_alone(&mut self, rule: Rule<'_>) -> Result<Option<Cycle>, SourceError> {
        if self.protocol.eager_limit.is_some() {
            return Ok(None);
        }
        let follower = || Follower { now: Cycle::FIRST.0, ends: Ends::default(), parked: Parked::No };
        let mut following = Following {
            rule,
            tasks: self.tasks.iter().map(|_| follower()).collect(),
            channels: Vec::new(),
            numbers: Table::default(),
            last: Table::default(),
            ready: (0..self.tasks.len()).rev().map(TaskId::at).collect(),
            arrived: 0,
        };
        let (mut unfinished, mut last) = (self.tasks.len(), 0);
        while let Some(id) = following.ready.pop() {
            match self.follow(id, &mut following)? {
                Followed::Finished => {
                    unfinished -= 1;
                    last = last.max(following.tasks[id.index()].now);
                }
                Followed::Parked => {}
                Followed::Unknown => return Ok(None),
            }
        }
        let end = Cycle(last.max(following.arrived).saturating_add(1));
        Ok((unfinished == 0 && end < Cycle::LAST).then_some(end))
    }

    /// Follows a task until it ends or waits for a message that has not been sent.
    fn follow(&mut self, id: TaskId, all: &mut Following<'_>) -> Result<Followed, SourceError> {
        loop {
            let Some(event) = self.tasks[id.index()].steps.next()? else { return Ok(Followed::Finished) };
            let now = all.tasks[id.index()].now;
            if let Event::Compute(time) = event {
                if let Some(last) = self.tasks[id.index()].compute(time, self.pace, Cycle(now)) {
                    all.tasks[id.index()].now = last.0.max(now);
                }
                continue;
            }
            self.tasks[id.index()].last_active = Some(Cycle(now));
            match event {
                Event::Compute(_) => {}
                // Nothing changes for it until then, so computing may begin in that cycle.
                Event::Send(send) => all.tasks[id.index()].now = all.send(&mut self.tasks, id, &send, now),
                Event::Isend(send, request) => {
                    if all.is_open(id, request) {
                        return Ok(Followed::Unknown);
                    }
                    let sent = all.send(&mut self.tasks, id, &send, now);
                    *all.tasks[id.index()].ends.of(request) = End::At(sent);
                }
                Event::Recv(receive) => {
                    let Some(key) = key(&receive, id) else { return Ok(Followed::Unknown) };
                    let channel = all.channel(key);
                    match all.channels[channel].messages.pop_front() {
                        Some(arrival) => all.go_on(&mut self.tasks, id, arrival),
                        None => {
                            all.channels[channel].receives.push_back(None);
                            all.tasks[id.index()].parked = Parked::Receive;
                            return Ok(Followed::Parked);
                        }
                    }
                }
                Event::Irecv(receive, request) => {
                    let Some(key) = key(&receive, id).filter(|_| !all.is_open(id, request)) else {
                        return Ok(Followed::Unknown);
                    };
                    let channel = all.channel(key);
                    let message = all.channels[channel].messages.pop_front();
                    if message.is_none() {
                        all.channels[channel].receives.push_back(Some(request));
                    }
                    *all.tasks[id.index()].ends.of(request) = message.map_or(End::Open(false), End::At);
                }
                Event::Wait(request) => {
                    if !all.wait(&mut self.tasks, id, Box::new([request])) {
                        return Ok(Followed::Parked);
                    }
                }
                Event::WaitAll(requests) => {
                    if !all.wait(&mut self.tasks, id, requests) {
                        return Ok(Followed::Parked);
                    }
                }
                Event::After(_) | Event::WaitAny(_) => return Ok(Followed::Unknown),
            }
        }
    }
}

/// How far a task was followed.
enum Followed {
    Finished,
    Parked,
    /// It has to be simulated.
    Unknown,
}

/// Sender, receiver and tag of the messages that a receive of a task accepts, if each is unique.
fn key(receive: &Receive, id: TaskId) -> Option<(TaskId, TaskId, Tag)> {
    match receive.tag {
        TagFilter::Exactly(tag) => Some((receive.from?, id, tag)),
        TagFilter::AnyIn(_) => None,
    }
}

impl Following<'_> {
    fn channel(&mut self, key: (TaskId, TaskId, Tag)) -> usize {
        let number = *self.numbers.entry(key).or_insert(self.channels.len() as u32) as usize;
        if number == self.channels.len() {
            self.channels.push(Channel::default());
        }
        number
    }

    /// True if a request has been started and not ended: starting it again would give two operations one name.
    fn is_open(&mut self, id: TaskId, request: Request) -> bool {
        matches!(self.tasks[id.index()].ends.of(request), End::Open(_))
    }

    /// Sends a message in cycle `now`. Returns the first cycle in which its sender knows that it is sent.
    fn send(&mut self, tasks: &mut [Task], from: TaskId, send: &Send, now: u64) -> u64 {
        let (source, destination) = (tasks[from.index()].node, tasks[send.to.index()].node);
        let (sent, mut arrival) = match source == destination {
            true => (now, now),
            false => {
                let message = Message { id: 0, source, destination, bytes: send.bytes, class: 0 };
                let (leaves, arrives) = (self.rule)(&message);
                // An event without duration is visible at the end of the cycle, like one that takes a cycle.
                let arrival = now.saturating_add(arrives.max(1));
                self.arrived = self.arrived.max(arrival - 1);
                (now.saturating_add(leaves.min(arrives).max(1)), arrival)
            }
        };
        let last = self.last.entry((from, send.to)).or_default();
        arrival = arrival.max(*last);
        *last = arrival;
        let channel = self.channel((from, send.to, send.tag));
        match self.channels[channel].receives.pop_front() {
            None => self.channels[channel].messages.push_back(arrival),
            Some(None) => {
                self.go_on(tasks, send.to, arrival);
                self.ready.push(send.to);
            }
            Some(Some(request)) => self.end(tasks, send.to, request, arrival),
        }
        sent
    }

    /// Lets a task go on in cycle `at`, or in that at which it stands if that is later.
    fn go_on(&mut self, tasks: &mut [Task], id: TaskId, at: u64) {
        let task = &mut self.tasks[id.index()];
        task.now = task.now.max(at);
        task.parked = Parked::No;
        tasks[id.index()].last_active = Some(Cycle(task.now));
    }

    /// Records the end of a request of a task, which goes on if it waited for it alone.
    fn end(&mut self, tasks: &mut [Task], id: TaskId, request: Request, at: u64) {
        let task = &mut self.tasks[id.index()];
        let is_awaited = std::mem::replace(task.ends.of(request), End::At(at)) == End::Open(true);
        if let Parked::Requests(_, open) = &mut task.parked
            && is_awaited
        {
            *open -= 1;
            if *open == 0
                && let Parked::Requests(requests, _) = std::mem::replace(&mut task.parked, Parked::No)
            {
                self.waited(tasks, id, &requests);
                self.ready.push(id);
            }
        }
    }

    /// Waits for requests. False if some have no end yet.
    fn wait(&mut self, tasks: &mut [Task], id: TaskId, requests: Box<[Request]>) -> bool {
        let task = &mut self.tasks[id.index()];
        let mut open = 0;
        for &request in &requests {
            let end = task.ends.of(request);
            if *end == End::Open(false) {
                *end = End::Open(true);
                open += 1;
            }
        }
        if open > 0 {
            task.parked = Parked::Requests(requests, open);
            return false;
        }
        self.waited(tasks, id, &requests);
        true
    }

    /// Lets a task go on that has waited for requests, which have ended.
    fn waited(&mut self, tasks: &mut [Task], id: TaskId, requests: &[Request]) {
        let ends = &mut self.tasks[id.index()].ends;
        let end = |request: &Request| match std::mem::take(ends.of(*request)) {
            End::At(at) => at,
            End::None | End::Open(_) => 0,
        };
        let last = requests.iter().map(end).max().unwrap_or(0);
        self.go_on(tasks, id, last);
    }
}
