//! Operations of the program and their state.

use std::ffi::c_int;
use std::rc::Rc;

use crate::abi::*;
use crate::collective::Running;
use crate::datatype::Type;
use crate::table::Table;

/// State of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum State {
    Pending,
    Done,
}

/// The functions of a generalized request, and their argument.
#[derive(Clone, Copy, Debug)]
pub(crate) struct General {
    pub(crate) query: F,
    pub(crate) free: F,
    pub(crate) cancel: F,
    pub(crate) extra: usize,
}

/// The operation of a request.
pub(crate) enum What {
    /// A send of `bytes` bytes to a rank of the world.
    Send {
        to: usize,
        tag: i64,
        context: u64,
        bytes: u64,
        synchronous: bool,
        /// True if the message is sent only when its receive has begun.
        rendezvous: bool,
    },
    /// A receive of `count` values at address `buffer`; `from` and `tag` are `None` for wildcards.
    Receive {
        buffer: usize,
        count: i64,
        ty: Rc<Type>,
        from: Option<usize>,
        tag: Option<i64>,
        /// The ranks of the communicator from which messages come, as ranks of the world, and its context.
        members: Rc<Vec<usize>>,
        context: u64,
    },
    /// A collective; `None` while it executes.
    Collective(Option<Box<Running>>),
    General(General),
    /// A partitioned send: which parts are ready.
    Parts(Vec<bool>),
    /// A persistent request: the request of its operation in progress.
    Persistent {
        active: Option<c_int>,
    },
    /// Several operations, by their requests.
    Several(Vec<c_int>),
    /// No operation: it ended before the request was made.
    Nothing,
}

/// An operation in progress.
pub(crate) struct Request {
    /// Its operation.
    pub(crate) what: What,
    pub(crate) state: State,
    pub(crate) status: Status,
    /// Released by the program before its end.
    pub(crate) freed: bool,
    /// The number of its operation in the log, until the wait for it has been recorded.
    pub(crate) number: Option<u32>,
    /// Class and description of the error with which it has ended.
    pub(crate) failure: Option<(c_int, String)>,
    /// The communicator whose error handler gets that error; `None` for that of the call which returns it.
    pub(crate) comm: Option<c_int>,
}

impl Request {
    pub(crate) fn new(what: What, state: State) -> Self {
        Self { what, state, status: Status::EMPTY, freed: false, number: None, failure: None, comm: None }
    }

    /// The same, as an operation of a communicator.
    pub(crate) fn on(self, comm: c_int) -> Self {
        Self { comm: Some(comm), ..self }
    }

    /// A request whose operation has ended already.
    pub(crate) fn done(status: Status) -> Self {
        Self { status, ..Self::new(What::Nothing, State::Done) }
    }
}

/// The requests by handle.
pub(crate) struct Requests(Table<Request>);

impl Requests {
    pub(crate) fn new() -> Self {
        Self(Table::new(0xac00_0000, 1))
    }

    /// Adds a request and returns its handle.
    pub(crate) fn add(&mut self, request: Request) -> c_int {
        self.0.add(request)
    }

    pub(crate) fn get(&self, handle: c_int) -> Option<&Request> {
        self.0.get(handle)
    }

    pub(crate) fn get_mut(&mut self, handle: c_int) -> Option<&mut Request> {
        self.0.get_mut(handle)
    }

    pub(crate) fn remove(&mut self, handle: c_int) -> Option<Request> {
        self.0.remove(handle)
    }

    /// For a persistent request the request of its operation in progress; for another request the request itself.
    pub(crate) fn actual(&self, handle: c_int) -> c_int {
        match self.get(handle) {
            Some(Request { what: What::Persistent { active: Some(active) }, .. }) => *active,
            _ => handle,
        }
    }

    /// True for a request that is neither null nor an inactive persistent one.
    pub(crate) fn is_active(&self, handle: c_int) -> bool {
        match self.get(handle) {
            Some(Request { what: What::Persistent { active }, .. }) => active.is_some(),
            other => other.is_some(),
        }
    }

    /// True if the request of this handle has ended, or has not begun.
    pub(crate) fn is_over(&self, handle: c_int) -> bool {
        match self.get(self.actual(handle)) {
            None => true,
            Some(Request { what: What::Several(all), .. }) => all.iter().all(|&one| self.is_over(one)),
            Some(request) => request.state != State::Pending,
        }
    }

    /// Index of the first of these requests that is active and has ended.
    pub(crate) fn first_over(&self, all: &[c_int]) -> Option<usize> {
        all.iter().position(|&handle| self.is_active(handle) && self.is_over(handle))
    }

    /// The other rank of a send or receive.
    pub(super) fn peer(&self, handle: c_int) -> Option<usize> {
        match &self.get(self.actual(handle))?.what {
            What::Send { to, .. } => Some(*to),
            What::Receive { from, .. } => *from,
            _ => None,
        }
    }

    /// The requests that a wait for this request consists of, if it is a collective or stands for several operations.
    pub(super) fn parts(&self, handle: c_int) -> Option<Vec<c_int>> {
        match &self.get(self.actual(handle))?.what {
            What::Collective(_) => Some(vec![self.actual(handle)]),
            What::Several(all) => Some(all.clone()),
            _ => None,
        }
    }

    /// The ranks of the world whose messages can end a request; `None` if any rank's can.
    pub(super) fn sources(&self, handle: c_int) -> Option<Vec<usize>> {
        match &self.get(self.actual(handle))?.what {
            What::Send { to, synchronous: true, .. } | What::Send { to, rendezvous: true, .. } => Some(vec![*to]),
            What::Send { .. } => Some(Vec::new()),
            What::Receive { from, .. } => Some(vec![(*from)?]),
            What::Collective(running) => Some(running.as_ref()?.sources()),
            What::Several(all) => self.sources(*all.iter().find(|&&one| !self.is_over(one))?),
            _ => None,
        }
    }

    /// The collective of a request, if it does not execute at the moment.
    pub(super) fn running(&mut self, handle: c_int) -> Option<&mut Running> {
        match &mut self.get_mut(handle)?.what {
            What::Collective(running) => running.as_deref_mut(),
            _ => None,
        }
    }

    /// Takes a collective out of its request while it executes.
    pub(super) fn take_running(&mut self, handle: c_int) -> Option<Box<Running>> {
        match &mut self.get_mut(handle)?.what {
            What::Collective(running) => running.take(),
            _ => None,
        }
    }

    /// Ends a request, and removes it if the program has released it.
    pub(super) fn end(&mut self, handle: c_int) {
        if let Some(request) = self.get_mut(handle) {
            request.state = State::Done;
            if request.freed {
                self.remove(handle);
            }
        }
    }
}

#[cfg(test)]
mod tests;
