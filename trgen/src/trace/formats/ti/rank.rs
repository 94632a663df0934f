//! Translation of one rank's actions, and state shared by all ranks during reading.

use super::actions::{self, Action};
use super::outstanding::{Key, Outstanding};
use crate::trace::collectives::{Agreement, Collective, RequestPool, expand};
use crate::trace::formats::calls::{Calls, mismatch};
use crate::trace::formats::error::{Fault, Place};
use crate::trace::formats::marks::Marks;
use crate::trace::formats::options::ReadOptions;
use crate::trace::formats::{Trace, push_compute, text};
use crate::trace::program::{Event, Program, Receive, Request, Send, Tag, TagFilter};
use crate::units::{Picoseconds, TaskId};

/// State of the whole trace.
pub(super) struct Shared<'a> {
    options: &'a ReadOptions,
    /// All tasks.
    world: Vec<TaskId>,
    /// The collectives called so far. The place of a call is its line in the file of its rank.
    agreement: Agreement<u64>,
    /// Counts of collective calls.
    calls: Calls,
    /// Number of lines read.
    pub(super) lines: u64,
    /// Number of events so far.
    events: u64,
    /// Number of waits for a request that is not outstanding.
    waits_without_request: u64,
    /// Number of requests that are never waited for.
    never_waited: u64,
    /// Number of `waitall` that give a smaller number of requests than is outstanding.
    wider_waitalls: u64,
    marks: Marks,
}

impl<'a> Shared<'a> {
    pub(super) fn new(ranks: usize, options: &'a ReadOptions) -> Self {
        Self {
            options,
            world: (0..ranks).map(TaskId::at).collect(),
            agreement: Agreement::new(options.collectives.clone(), ranks),
            calls: Calls::default(),
            lines: 0,
            events: 0,
            waits_without_request: 0,
            never_waited: 0,
            wider_waitalls: 0,
            marks: Marks::default(),
        }
    }

    /// The trace, with notes and warnings.
    pub(super) fn finish(self, program: Program, format: &'static str) -> Trace {
        let note = self.calls.note(&format!("each as one of all {} ranks", self.world.len()));
        let notes = note.into_iter().collect();
        let counted = [
            ("waits that name no outstanding request (taken for complete)", self.waits_without_request),
            ("waitalls that give a smaller number than is outstanding (they wait for all)", self.wider_waitalls),
            ("requests that are never waited for", self.never_waited),
        ];
        let counted = counted.iter().filter(|(_, count)| *count > 0);
        let mut warnings: Vec<String> = counted.map(|(what, count)| format!("{what}: {count}")).collect();
        warnings.extend(self.marks.warning("`finalize`", self.world.len()));
        if self.world.len() == 1 && !self.calls.by_operation().is_empty() {
            warnings.push(
                "there is one rank, and it calls collectives: if this is its file of several, give their folder or index"
                    .to_owned(),
            );
        }
        Trace {
            program,
            format,
            lines: self.lines,
            collectives: self.calls.by_operation(),
            algorithms: self.calls.by_algorithm(),
            called: self.calls.called(),
            notes,
            warnings,
        }
    }

    /// The time of a number of floating-point operations.
    fn work(&self, operations: f64) -> Result<Picoseconds, Fault> {
        Picoseconds::from_seconds(operations / self.options.flop_rate)
            .ok_or_else(|| text::invalid("work", &operations.to_string(), "at most 106 days of computing"))
    }
}

/// State of one rank.
pub(super) struct Rank {
    rank: usize,
    /// \[bytes\] Size of an element whose line gives no datatype.
    default_bytes: u64,
    /// Requests that have not been waited for.
    outstanding: Outstanding,
    requests: RequestPool,
    /// The program of the rank so far.
    events: Vec<Event>,
    /// Number of collectives called.
    collectives: usize,
}

impl Rank {
    pub(super) fn new(rank: usize) -> Self {
        Self {
            rank,
            default_bytes: 1,
            outstanding: Outstanding::default(),
            requests: RequestPool::new(),
            events: Vec::new(),
            collectives: 0,
        }
    }

    /// Processes line `number`, without its rank. `place_of` gives the file of a rank.
    pub(super) fn line(
        &mut self,
        shared: &mut Shared<'_>,
        line: &str,
        number: u64,
        place_of: &dyn Fn(usize) -> Place,
    ) -> Result<(), Fault> {
        let before = self.events.len();
        match actions::parse(line, shared.world.len(), self.default_bytes)? {
            Action::Ignored => {}
            Action::Init { default_bytes } => {
                self.default_bytes = default_bytes;
                shared.marks.begin(self.rank);
            }
            Action::Finalize => shared.marks.end(self.rank),
            Action::Compute { operations } => push_compute(&mut self.events, shared.work(operations)?),
            Action::Sleep { seconds } => {
                let time = Picoseconds::from_seconds(seconds)
                    .ok_or_else(|| text::invalid("sleep", &seconds.to_string(), "at most 106 days"))?;
                push_compute(&mut self.events, time);
            }
            Action::Send { to, label, bytes } => self.events.push(Event::Send(send(to, label, bytes))),
            Action::Isend { to, label, bytes } => {
                self.isend(send(to, label, bytes));
            }
            Action::Recv { from, label, bytes } => self.events.push(Event::Recv(receive(from, label, bytes))),
            Action::Irecv { from, label, bytes } => {
                let request = self.irecv(receive(from, label, bytes));
                self.outstanding.begin(Key { from, to: self.rank as u32, label }, request);
            }
            Action::SendRecv { to, sent, from, received } => {
                let receiving = self.irecv(receive(from, Some(0), received));
                let sending = self.requests.take();
                self.events.push(Event::Isend(send(to, 0, sent), sending));
                self.wait_all(vec![receiving, sending]);
            }
            Action::Wait(key) => match self.outstanding.take(key) {
                Some(request) => {
                    self.events.push(Event::Wait(request));
                    self.requests.give_back(request);
                }
                None => shared.waits_without_request += 1,
            },
            Action::WaitAll { count } => {
                if count.is_some_and(|count| count < self.outstanding.len() as u64) {
                    shared.wider_waitalls += 1;
                }
                let all = self.outstanding.take_all();
                self.wait_all(all);
            }
            Action::Collective { collective, operations } => {
                let time = shared.work(operations)?;
                self.collective(shared, &collective, number, place_of)?;
                push_compute(&mut self.events, time);
            }
        }
        shared.events += (self.events.len() - before) as u64;
        let limit = shared.options.max_events;
        if shared.events > limit { Err(Fault::TooManyEvents { limit }) } else { Ok(()) }
    }

    /// Ends the rank; returns its events.
    pub(super) fn end(self, shared: &mut Shared<'_>, place_of: &dyn Fn(usize) -> Place) -> Result<Vec<Event>, Fault> {
        shared.never_waited += self.outstanding.len() as u64;
        let ended = shared.agreement.end(self.rank, self.collectives);
        ended.map_err(|disagreement| mismatch(self.rank, disagreement, Some(place_of)))?;
        Ok(self.events)
    }

    /// Adds a send whose request is outstanding.
    fn isend(&mut self, send: Send) {
        let request = self.requests.take();
        self.events.push(Event::Isend(send, request));
        let key = Key { from: Some(self.rank as u32), to: send.to.0, label: Some(send.tag.label) };
        self.outstanding.begin(key, request);
    }

    /// Adds a non-blocking receive; returns its request.
    fn irecv(&mut self, receive: Receive) -> Request {
        let request = self.requests.take();
        self.events.push(Event::Irecv(receive, request));
        request
    }

    /// Adds a wait for requests.
    fn wait_all(&mut self, requests: Vec<Request>) {
        for &request in requests.iter().rev() {
            self.requests.give_back(request);
        }
        if !requests.is_empty() {
            self.events.push(Event::WaitAll(requests.into_boxed_slice()));
        }
    }

    /// Adds the expansion of a collective in line `number`.
    fn collective(
        &mut self,
        shared: &mut Shared<'_>,
        collective: &Collective,
        number: u64,
        place_of: &dyn Fn(usize) -> Place,
    ) -> Result<(), Fault> {
        let index = self.collectives;
        let called = shared.agreement.call(self.rank, index, collective, || number);
        let algorithm = called.map_err(|disagreement| mismatch(self.rank, disagreement, Some(place_of)))?;
        self.collectives += 1;
        let tag = Tag::collective(index as i64);
        shared.calls.count(collective, algorithm, tag);
        let done = expand(collective, algorithm, &shared.world, self.rank, tag, &mut self.requests, &mut self.events);
        done.map_err(|error| text::invalid("collective", collective.name(), error.to_string()))
    }
}

/// A message to a rank.
fn send(to: u32, label: i64, bytes: u64) -> Send {
    Send { to: TaskId(to), tag: Tag::user(label), bytes }
}

/// A receive; `None` is any source, or any tag.
fn receive(from: Option<u32>, label: Option<i64>, bytes: u64) -> Receive {
    let tag = label.map_or(TagFilter::AnyIn(Tag::POINT_TO_POINT), |label| TagFilter::Exactly(Tag::user(label)));
    Receive { from: from.map(TaskId), tag, bytes }
}
