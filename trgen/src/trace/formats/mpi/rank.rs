//! Translation of one process's calls into events.

use std::collections::{HashMap, HashSet};

use super::call::{Call, Clocks, Comm, Message, Operation, Peer, Persistent, Record, Requests, Rooted};
use super::comms::{Communicators, Handles, Number, OWN};
use crate::trace::collectives::{Agreement, Collective, RequestPool};
use crate::trace::formats::calls::{Caller, Calls};
use crate::trace::formats::error::Fault;
use crate::trace::formats::push_compute;
use crate::trace::formats::text::invalid;
use crate::trace::program::{Event, Receive, Request, Send, Tag, TagFilter};
use crate::units::{Picoseconds, TaskId};

/// State shared by all processes during reading.
pub(super) struct Shared {
    pub(super) communicators: Communicators,
    /// Collectives called so far, by number of communicator.
    pub(super) agreements: Vec<Agreement<u64>>,
    /// Counts of collective calls.
    pub(super) calls: Calls,
    pub(super) tally: Tally,
}

/// Counts for notes and warnings.
#[derive(Default)]
pub(super) struct Tally {
    /// Waits for a request that is not outstanding.
    pub(super) waits_without_request: u64,
    /// Calls that begin before the previous one has ended.
    pub(super) clock_steps_back: u64,
    /// Gaps between calls that are measured by CPU time.
    pub(super) cpu_gaps: u64,
    /// Gaps between calls that are measured by wall time.
    pub(super) wall_gaps: u64,
    /// Collectives of one process alone.
    pub(super) alone: u64,
    /// Calls that cancel a request.
    pub(super) cancelled: u64,
    /// Requests freed before they were complete.
    pub(super) forgotten: u64,
}

/// Translates the calls of one process.
pub(super) struct Rank {
    task: usize,
    /// Handles of communicators.
    handles: Handles,
    /// The end of the last call; empty before the first.
    ended: Clocks,
    requests: RequestPool,
    /// Outstanding requests, by their handle in the program.
    outstanding: HashMap<u64, Request>,
    /// Requests of messages with the null process, which complete at once.
    with_nobody: HashSet<u64>,
    /// Persistent operations, by their request.
    prepared: HashMap<u64, Persistent>,
    /// By handle of an outstanding request: the index of its receive in `events`, in case it is cancelled.
    posted: HashMap<u64, usize>,
    /// Indices in `events` of the cancelled receives.
    cancelled: Vec<usize>,
    /// Number of collectives called on each communicator.
    called: HashMap<Number, usize>,
    /// The program of the task so far.
    pub(super) events: Vec<Event>,
}

impl Rank {
    pub(super) fn new(task: usize) -> Self {
        Self {
            task,
            handles: Handles::default(),
            ended: Clocks::default(),
            requests: RequestPool::new(),
            outstanding: HashMap::new(),
            with_nobody: HashSet::new(),
            prepared: HashMap::new(),
            posted: HashMap::new(),
            cancelled: Vec::new(),
            called: HashMap::new(),
            events: Vec::new(),
        }
    }

    /// The events of the task, and the number of its collectives on each communicator.
    pub(super) fn finish(mut self) -> (Vec<Event>, HashMap<Number, usize>) {
        self.cancelled.sort_unstable();
        let mut cancelled = self.cancelled.iter().copied().peekable();
        let mut position = 0;
        self.events.retain(|_| {
            position += 1;
            cancelled.next_if_eq(&(position - 1)).is_none()
        });
        (self.events, self.called)
    }

    /// Translates one call, and the computing time before it.
    pub(super) fn record(&mut self, shared: &mut Shared, record: &Record, line: u64) -> Result<(), Fault> {
        let gap = match (self.ended, record.begin) {
            (Clocks { cpu: Some(ended), .. }, Clocks { cpu: Some(begin), .. }) => {
                shared.tally.cpu_gaps += 1;
                begin - ended
            }
            (Clocks { wall: Some(ended), .. }, Clocks { wall: Some(begin), .. }) => {
                shared.tally.wall_gaps += 1;
                begin - ended
            }
            _ => 0,
        };
        shared.tally.clock_steps_back += u64::from(gap < 0);
        let time = u64::try_from(gap.max(0)).ok().filter(|&time| time < 1 << 63);
        let time =
            time.ok_or_else(|| invalid("time", &format!("{gap} ps"), "at most 106 days after the call before"))?;
        push_compute(&mut self.events, Picoseconds(time));
        if record.end != Clocks::default() {
            self.ended = record.end;
        }
        self.translate(shared, &record.call, line)
    }

    /// Appends the events of one call.
    fn translate(&mut self, shared: &mut Shared, call: &Call, line: u64) -> Result<(), Fault> {
        match call {
            Call::Ignored | Call::Group { .. } => {}
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
                let send = self.send(shared, message)?;
                self.isend(send, *address);
            }
            Call::Irecv(message, address) => {
                let receive = self.receive(shared, message)?;
                self.irecv(receive, *address);
            }
            Call::Sendrecv(sent, received) => self.sendrecv(shared, sent, received)?,
            Call::Wait(address) => match self.take_outstanding(*address) {
                Some(request) => {
                    self.events.push(Event::Wait(request));
                    self.requests.give_back(request);
                }
                None if self.with_nobody.remove(address) || self.prepared.contains_key(address) => {}
                None => shared.tally.waits_without_request += 1,
            },
            Call::Waitall(array) => {
                let waited = self.outstanding_in(array);
                let requests = waited.iter().filter_map(|&address| self.take_outstanding(address)).collect();
                self.wait_all(requests);
            }
            Call::Waitany(array) => match self.any_of(array) {
                none if none.is_empty() => shared.tally.waits_without_request += 1,
                requests => self.events.push(Event::WaitAny(requests.into_boxed_slice())),
            },
            Call::Prepare(operation, address) => {
                self.prepared.insert(*address, *operation);
            }
            Call::Start(addresses) => addresses.iter().try_for_each(|&address| self.start(shared, address))?,
            Call::Cancel(address) => {
                shared.tally.cancelled += 1;
                self.cancel(*address);
            }
            Call::Forget(address) => shared.tally.forgotten += u64::from(self.forget(*address)),
            Call::Collective(operation, comm) => {
                let (number, rank) = self.handles.find(*comm, &shared.communicators, self.task)?;
                self.collective(shared, operation, number, rank, line)?;
            }
            Call::Create { new, .. } => self.handles.create(*new, &shared.communicators, self.task),
            Call::RankOf(comm, stated) => {
                let (_, rank) = self.handles.find(*comm, &shared.communicators, self.task)?;
                check_answer("rank", *stated, rank, *comm)?;
            }
            Call::SizeOf(comm, stated) => {
                let (number, _) = self.handles.find(*comm, &shared.communicators, self.task)?;
                check_answer("size", *stated, shared.communicators.members(number, self.task).len(), *comm)?;
            }
        }
        Ok(())
    }

    /// Appends a receive and a send that take place at the same time.
    fn sendrecv(&mut self, shared: &Shared, sent: &Message, received: &Message) -> Result<(), Fault> {
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
        Ok(())
    }

    /// Starts a persistent operation.
    fn start(&mut self, shared: &Shared, address: u64) -> Result<(), Fault> {
        match self.prepared.get(&address).copied() {
            Some(Persistent::Send(message)) => {
                let send = self.send(shared, &message)?;
                self.isend(send, address);
            }
            Some(Persistent::Receive(message)) => {
                let receive = self.receive(shared, &message)?;
                self.irecv(receive, address);
            }
            None => return Err(invalid("request", &address.to_string(), "one that a call such as Send_init made")),
        }
        Ok(())
    }

    /// Cancels a receive: it yields no event, and its request is complete at once.
    fn cancel(&mut self, address: u64) {
        if let Some(posted) = self.posted.remove(&address) {
            self.cancelled.push(posted);
            self.outstanding.remove(&address);
            self.with_nobody.insert(address);
        }
    }

    /// Frees a request; returns whether its operation had been started. The number is not reused, since the
    /// end of the operation is unknown.
    fn forget(&mut self, address: u64) -> bool {
        let begun = self.take_outstanding(address).is_some();
        self.prepared.remove(&address);
        self.with_nobody.remove(&address);
        begun
    }

    /// Appends a non-blocking send with the request at `address`. `None` is a send to the null process, which completes
    /// at once.
    fn isend(&mut self, send: Option<Send>, address: u64) {
        match send {
            Some(send) => {
                let request = self.new_request(address);
                self.events.push(Event::Isend(send, request));
            }
            None => drop(self.with_nobody.insert(address)),
        }
    }

    /// Appends a non-blocking receive with the request at `address`. `None` is a receive from the null process, which
    /// completes at once.
    fn irecv(&mut self, receive: Option<Receive>, address: u64) {
        match receive {
            Some(receive) => {
                let request = self.new_request(address);
                self.posted.insert(address, self.events.len());
                self.events.push(Event::Irecv(receive, request));
            }
            None => drop(self.with_nobody.insert(address)),
        }
    }

    /// A new outstanding request with this handle.
    fn new_request(&mut self, address: u64) -> Request {
        let request = self.requests.take();
        self.outstanding.insert(address, request);
        self.posted.remove(&address);
        self.with_nobody.remove(&address);
        request
    }

    /// Removes and returns the outstanding request of this handle.
    fn take_outstanding(&mut self, address: u64) -> Option<Request> {
        self.posted.remove(&address);
        self.outstanding.remove(&address)
    }

    /// Returns the handles of the outstanding requests in an array. If the log states only the address of the first
    /// request, the others follow at distances of 8 bytes (libraries whose requests are pointers) or of 4 bytes
    /// (libraries whose requests are numbers): the distance that finds more requests is taken.
    fn outstanding_in(&self, array: &Requests) -> Vec<u64> {
        let is_outstanding = |address: &u64| self.outstanding.contains_key(address);
        match array {
            Requests::Each(addresses) => addresses.iter().copied().filter(is_outstanding).collect(),
            Requests::From { count, first } => {
                // The cost depends on the outstanding requests, not on the count in the line.
                let find_spaced = |stride: u64| -> Vec<u64> {
                    if *count <= self.outstanding.len() as u64 {
                        return (0..*count)
                            .map(|index| first.wrapping_add(stride * index))
                            .filter(is_outstanding)
                            .collect();
                    }
                    let offset = |address: &u64| address.wrapping_sub(*first);
                    let within = |address: &u64| offset(address) % stride == 0 && offset(address) / stride < *count;
                    let mut found: Vec<u64> = self.outstanding.keys().copied().filter(within).collect();
                    found.sort_unstable_by_key(offset);
                    found
                };
                let (wide, narrow) = (find_spaced(8), find_spaced(4));
                if narrow.len() > wide.len() { narrow } else { wide }
            }
        }
    }

    /// Returns the outstanding requests of an array of which one completes. The log does not state which one: all
    /// remain outstanding, and their numbers are not reused.
    fn any_of(&self, array: &Requests) -> Vec<Request> {
        let waited = self.outstanding_in(array);
        waited.iter().filter_map(|address| self.outstanding.get(address).copied()).collect()
    }

    /// Appends a wait for these requests, which are free afterwards.
    fn wait_all(&mut self, requests: Vec<Request>) {
        for &request in requests.iter().rev() {
            self.requests.give_back(request);
        }
        if !requests.is_empty() {
            self.events.push(Event::WaitAll(requests.into_boxed_slice()));
        }
    }

    /// The other task of a message operation (`None` for any, or the null process), and the context of its tag.
    fn peer_and_context(&self, shared: &Shared, message: &Message) -> Result<(Option<TaskId>, u32), Fault> {
        let (number, _) = self.handles.find(message.comm, &shared.communicators, self.task)?;
        let members = shared.communicators.members(number, self.task);
        let task = match message.peer {
            Peer::Rank(rank) => Some(members.get(rank as usize).copied().ok_or_else(|| {
                let expected = format!("0 to {}, the ranks of its communicator", members.len() - 1);
                invalid("rank", &rank.to_string(), expected)
            })?),
            Peer::Any | Peer::Nobody => None,
        };
        Ok((task, Tag::context_of(number as u32)))
    }

    /// The send of a message; `None` to the null process.
    fn send(&self, shared: &Shared, message: &Message) -> Result<Option<Send>, Fault> {
        let (task, context) = self.peer_and_context(shared, message)?;
        let label = message.label.unwrap_or(-1);
        Ok(task.map(|to| Send { to, tag: Tag { context, label }, bytes: message.bytes }))
    }

    /// The receive of a message; `None` from the null process.
    fn receive(&self, shared: &Shared, message: &Message) -> Result<Option<Receive>, Fault> {
        let (from, context) = self.peer_and_context(shared, message)?;
        let any = TagFilter::AnyIn(context);
        let tag = message.label.map_or(any, |label| TagFilter::Exactly(Tag { context, label }));
        Ok((message.peer != Peer::Nobody).then_some(Receive { from, tag, bytes: message.bytes }))
    }

    /// Expands a collective that this process calls as `rank` of communicator `number`.
    fn collective(
        &mut self,
        shared: &mut Shared,
        operation: &Operation,
        number: Number,
        rank: usize,
        line: u64,
    ) -> Result<(), Fault> {
        if number == OWN {
            shared.tally.alone += 1;
            return Ok(());
        }
        let members = shared.communicators.members(number, self.task);
        let collective = collective(operation, members.len(), rank)?;
        let index = self.called.entry(number).or_default();
        let caller = Caller { number: number as u32, members, task: self.task, rank, line };
        let agreement = &mut shared.agreements[number];
        shared.calls.expand(&collective, &caller, index, agreement, &mut self.requests, &mut self.events)
    }
}

/// Compares the rank or size (`what`) that the log states with the computed one.
fn check_answer(what: &'static str, stated: u32, found: usize, comm: Comm) -> Result<(), Fault> {
    if stated as usize == found {
        return Ok(());
    }
    let name = match comm {
        Comm::World => "MPI_COMM_WORLD".to_owned(),
        Comm::Own => "MPI_COMM_SELF".to_owned(),
        Comm::Handle(id) | Comm::Stated { id, .. } => format!("communicator {id}"),
    };
    Err(Fault::Structure {
        what: format!("the {what} of {name} is {stated} here, and {found} by the files and the calls that are given"),
        remedy: "give the files of all ranks of one run; record the calls that create communicators",
    })
}

/// The collective, as rank `own` of a communicator of `size` ranks calls it.
fn collective(operation: &Operation, size: usize, own: usize) -> Result<Collective, Fault> {
    fn known<T>(side: Result<T, String>) -> Result<T, Fault> {
        side.map_err(|what| Fault::Structure {
            what,
            remedy: "a count and a datatype of known size must tell what this rank gives or gets here",
        })
    }
    // The size that has a meaning for this rank: a root collects or distributes, every other rank has one block.
    fn block(rooted: Rooted<u64, u64>, own: usize, collects: bool) -> Result<u64, Fault> {
        let root = rooted.root as usize == own;
        known(if root == collects { rooted.receive } else { rooted.send })
    }
    let zeros = || vec![0; size];
    Ok(match operation.clone() {
        Operation::Barrier => Collective::Barrier,
        Operation::Bcast { root, bytes } => Collective::Broadcast { root: root as usize, bytes },
        Operation::Reduce { root, bytes } => Collective::Reduce { root: root as usize, bytes },
        Operation::Allreduce { bytes } => Collective::Allreduce { bytes },
        Operation::Scan { bytes } => Collective::Scan { bytes },
        Operation::Exscan { bytes } => Collective::Exscan { bytes },
        Operation::Alltoall { bytes } => Collective::Alltoall { bytes },
        Operation::Allgather { bytes } => Collective::Allgather { bytes },
        Operation::Gather(rooted) => {
            Collective::Gather { root: rooted.root as usize, bytes: block(rooted, own, true)? }
        }
        Operation::Scatter(rooted) => {
            Collective::Scatter { root: rooted.root as usize, bytes: block(rooted, own, false)? }
        }
        Operation::Gatherv(Rooted { root, send, receive }) => match root as usize {
            root if root == own => {
                let receive = known(receive)?;
                Collective::Gatherv { root, send: receive.get(own).copied().unwrap_or(0), receive }
            }
            root => Collective::Gatherv { root, send: known(send)?, receive: zeros() },
        },
        Operation::Scatterv(Rooted { root, send, receive }) => match root as usize {
            root if root == own => {
                let send = known(send)?;
                Collective::Scatterv { root, receive: send.get(own).copied().unwrap_or(0), send }
            }
            root => Collective::Scatterv { root, send: zeros(), receive: known(receive)? },
        },
        // Sizes of received data may be unknown; matching ignores them.
        Operation::Alltoallv { send, receive } => {
            Collective::Alltoallv { send, receive: receive.unwrap_or_else(zeros) }
        }
        Operation::Allgatherv { blocks } => Collective::Allgatherv { blocks },
        Operation::ReduceScatter { blocks } => Collective::ReduceScatter { blocks },
    })
}
