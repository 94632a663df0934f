//! What one process's calls become.

use std::collections::HashMap;

use super::call::{Call, Message, Operation, Peer, Record, Requests};
use super::comms::{Communicators, Creation, Names, Number};
use crate::trace::collectives::{Agreement, Collective, RequestPool, expand};
use crate::trace::formats::calls::Calls;
use crate::trace::formats::error::Fault;
use crate::trace::formats::push_compute;
use crate::trace::formats::text::bad;
use crate::trace::program::{Event, Receive, Request, Send, Tag, TagFilter};
use crate::units::{Picoseconds, TaskId};

/// What all processes have in common while they are read.
pub(super) struct Shared {
    pub(super) communicators: Communicators,
    pub(super) agreements: Vec<Agreement<u64>>,
    pub(super) calls: Calls,
    pub(super) waits_without_request: u64,
    pub(super) clock_steps_back: u64,
}

pub(super) struct Rank {
    task: usize,
    names: Names,
    /// \[ps\] When the last call ended; `None` before the first.
    ended: Option<i128>,
    requests: RequestPool,
    /// By the address of the request.
    outstanding: HashMap<u64, Request>,
    /// Collectives called on each communicator.
    pub(super) called: HashMap<Number, usize>,
    pub(super) events: Vec<Event>,
}

/// \[ps\] A time in µs with up to six decimals.
fn picoseconds(word: &str) -> Result<i128, Fault> {
    let wrong = || bad("time", word, "microseconds, such as 1234.567");
    let (whole, fraction) = word.split_once('.').unwrap_or((word, ""));
    let digits = |text: &str| text.len() <= 18 && text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(fraction) {
        return Err(wrong());
    }
    let whole: i128 = whole.parse().map_err(|_| wrong())?;
    let padded: String = fraction.chars().chain("000000".chars()).take(6).collect();
    let fraction: i128 = padded.parse().map_err(|_| wrong())?;
    Ok(whole * 1_000_000 + fraction)
}

impl Rank {
    pub(super) fn new(task: usize) -> Self {
        Self {
            task,
            names: Names::default(),
            ended: None,
            requests: RequestPool::new(),
            outstanding: HashMap::new(),
            called: HashMap::new(),
            events: Vec::new(),
        }
    }

    pub(super) fn record(&mut self, shared: &mut Shared, record: Record<'_>, line: u64) -> Result<(), Fault> {
        if record.begin != "-" {
            let begin = picoseconds(record.begin)?;
            if let Some(ended) = self.ended {
                let gap = u64::try_from(begin - ended).unwrap_or_else(|_| {
                    shared.clock_steps_back += u64::from(begin < ended);
                    0
                });
                if gap >= 1 << 63 {
                    return Err(bad("time", record.begin, "at most 106 days after the call before"));
                }
                push_compute(&mut self.events, Picoseconds(gap));
            }
        }
        if record.end != "-" {
            self.ended = Some(picoseconds(record.end)?);
        }
        self.call(shared, &record.call, line)
    }

    fn call(&mut self, shared: &mut Shared, call: &Call, line: u64) -> Result<(), Fault> {
        match call {
            Call::Ignored => {}
            Call::Send(message) => {
                if let Some(send) = self.send(shared, message)? {
                    self.events.push(Event::Send(send));
                }
            }
            Call::Recv(message) => {
                if let Some(receive) = self.receive(shared, message)? {
                    self.events.push(Event::Recv(receive));
                }
            }
            Call::Isend(message, address) => {
                if let Some(send) = self.send(shared, message)? {
                    let request = self.begin(*address);
                    self.events.push(Event::Isend(send, request));
                }
            }
            Call::Irecv(message, address) => {
                if let Some(receive) = self.receive(shared, message)? {
                    let request = self.begin(*address);
                    self.events.push(Event::Irecv(receive, request));
                }
            }
            Call::Sendrecv(sent, received) => {
                let (send, receive) = (self.send(shared, sent)?, self.receive(shared, received)?);
                let mut waited = Vec::new();
                if let Some(receive) = receive {
                    let request = self.requests.take();
                    self.events.push(Event::Irecv(receive, request));
                    waited.push(request);
                }
                if let Some(send) = send {
                    let request = self.requests.take();
                    self.events.push(Event::Isend(send, request));
                    waited.push(request);
                }
                self.wait_all(waited);
            }
            Call::Wait(address) => match self.outstanding.remove(address) {
                Some(request) => {
                    self.events.push(Event::Wait(request));
                    self.requests.give_back(request);
                }
                None => shared.waits_without_request += 1,
            },
            Call::Waitall(array) => {
                let waited = self.array(array);
                let requests = waited.iter().filter_map(|address| self.outstanding.remove(address)).collect();
                self.wait_all(requests);
            }
            Call::Waitany(array) => {
                // Which one completed is not told: all stay known, and their numbers are not used again.
                let waited = self.array(array);
                let requests: Vec<Request> =
                    waited.iter().filter_map(|address| self.outstanding.get(address).copied()).collect();
                if requests.is_empty() {
                    shared.waits_without_request += 1;
                } else {
                    self.events.push(Event::WaitAny(requests.into_boxed_slice()));
                }
            }
            Call::Collective(operation, comm) => {
                let number = self.names.find(*comm, &shared.communicators, self.task)?;
                self.collective(shared, operation, number, comm.rank as usize, line)?;
            }
            Call::Split { .. } | Call::Dup { .. } => {
                if let Some(creation) = Creation::of(call, line) {
                    self.names.create(&creation, &shared.communicators, self.task);
                }
            }
        }
        Ok(())
    }

    fn begin(&mut self, address: u64) -> Request {
        let request = self.requests.take();
        self.outstanding.insert(address, request);
        request
    }

    /// Those of an array of requests that are outstanding. Where only the first address is told, they stand 8 bytes apart,
    /// or 4 where requests are numbers.
    fn array(&self, array: &Requests) -> Vec<u64> {
        let known = |address: &u64| self.outstanding.contains_key(address);
        match array {
            Requests::Each(addresses) => addresses.iter().copied().filter(known).collect(),
            Requests::From { count, first } => {
                // Work follows what is outstanding, not the count that the line gives.
                let apart = |stride: u64| -> Vec<u64> {
                    if *count <= self.outstanding.len() as u64 {
                        return (0..*count).map(|index| first.wrapping_add(stride * index)).filter(known).collect();
                    }
                    let place = |address: &u64| address.wrapping_sub(*first);
                    let within = |address: &u64| place(address) % stride == 0 && place(address) / stride < *count;
                    let mut found: Vec<u64> = self.outstanding.keys().copied().filter(within).collect();
                    found.sort_unstable_by_key(place);
                    found
                };
                let (wide, narrow) = (apart(8), apart(4));
                if narrow.len() > wide.len() { narrow } else { wide }
            }
        }
    }

    fn wait_all(&mut self, requests: Vec<Request>) {
        for &request in requests.iter().rev() {
            self.requests.give_back(request);
        }
        if !requests.is_empty() {
            self.events.push(Event::WaitAll(requests.into_boxed_slice()));
        }
    }

    /// The task and the context that a message operation means.
    fn place(&self, shared: &Shared, message: &Message) -> Result<(Option<TaskId>, u32), Fault> {
        let number = self.names.find(message.comm, &shared.communicators, self.task)?;
        let task = match message.peer {
            // The parser has compared ranks with the size, and `find` the size with the members.
            Peer::Rank(rank) => shared.communicators.members[number].get(rank as usize).copied(),
            Peer::Any | Peer::Nobody => None,
        };
        Ok((task, Tag::context_of(number as u32)))
    }

    fn send(&self, shared: &Shared, message: &Message) -> Result<Option<Send>, Fault> {
        let (task, context) = self.place(shared, message)?;
        let label = message.label.unwrap_or(-1);
        Ok(task.map(|to| Send { to, tag: Tag { context, label }, bytes: message.bytes }))
    }

    fn receive(&self, shared: &Shared, message: &Message) -> Result<Option<Receive>, Fault> {
        let (from, context) = self.place(shared, message)?;
        let any = TagFilter::AnyIn(context);
        let tag = message.label.map_or(any, |label| TagFilter::Exactly(Tag { context, label }));
        Ok((message.peer != Peer::Nobody).then_some(Receive { from, tag, bytes: message.bytes }))
    }

    fn collective(
        &mut self,
        shared: &mut Shared,
        operation: &Operation,
        number: Number,
        rank: usize,
        line: u64,
    ) -> Result<(), Fault> {
        let members = &shared.communicators.members[number];
        let collective = collective(operation, members.len());
        let index = self.called.entry(number).or_default();
        let called = shared.agreements[number].call(self.task, *index, &collective, || line);
        let algorithm = called.map_err(|disagreement| Fault::CollectiveMismatch {
            index: disagreement.index + 1,
            rank: self.task as u32,
            found: disagreement.found,
            other_rank: disagreement.expected_rank as u32,
            other: disagreement.expected,
            other_place: None,
        })?;
        shared.calls.count(&collective, algorithm);
        let tag = Tag { context: Tag::context_of(number as u32) + 1, label: *index as i64 };
        *index += 1;
        let done = expand(&collective, algorithm, members, rank, tag, &mut self.requests, &mut self.events);
        done.map_err(|error| bad("collective", collective.name(), error.to_string()))
    }
}

fn collective(operation: &Operation, size: usize) -> Collective {
    match operation.clone() {
        Operation::Barrier => Collective::Barrier,
        Operation::Bcast { root, bytes } => Collective::Broadcast { root: root as usize, bytes },
        Operation::Reduce { root, bytes } => Collective::Reduce { root: root as usize, bytes },
        Operation::Allreduce { bytes } => Collective::Allreduce { bytes },
        Operation::Scan { bytes } => Collective::Scan { bytes },
        Operation::Exscan { bytes } => Collective::Exscan { bytes },
        Operation::Alltoall { bytes } => Collective::Alltoall { bytes },
        Operation::Allgather { bytes } => Collective::Allgather { bytes },
        Operation::Gather { root, bytes } => Collective::Gather { root: root as usize, bytes },
        Operation::Scatter { root, bytes } => Collective::Scatter { root: root as usize, bytes },
        // Sizes of what comes are not recorded; matching does not look at them.
        Operation::Alltoallv { send } => Collective::Alltoallv { send, receive: vec![0; size] },
        Operation::Allgatherv { blocks } => Collective::Allgatherv { blocks },
        Operation::ReduceScatter { blocks } => Collective::ReduceScatter { blocks },
    }
}
