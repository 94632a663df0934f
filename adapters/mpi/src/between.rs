//! Collectives between the two groups of an intercommunicator, as messages.
//!
//! Each is a sequence of collectives within a group and of messages between the groups, as in MPICH: what a whole group
//! sends is gathered by its first rank and passed on by the first rank of the other group. Gathers and scatters of a
//! root are direct messages. Both groups are numbered together, first the one with the lower first rank of the world.
//!
//! Whatever the operation, messages carry blocks with their origin, also of reductions: what a rank of the other group
//! gets is combined at the end, in the order of ranks. Modelled sizes are those of the algorithm.

use std::ops::Range;
use std::rc::Rc;

use trgen::TaskId;
use trgen::trace::collectives::{Choice, Collective, ExpandError, RequestPool, expand};
use trgen::trace::program::{Event, Receive, Request, Send, Tag, TagFilter};

use crate::communicator::Comm;

/// The groups of an intercommunicator as one rank numbers them.
#[derive(Clone, Debug)]
pub(crate) struct Sides {
    /// All ranks of both groups, as ranks of the world.
    pub(crate) members: Rc<Vec<usize>>,
    /// The numbers of the ranks of this rank's group, and of the other group.
    pub(crate) own: Range<usize>,
    pub(crate) other: Range<usize>,
    /// The number of this rank.
    pub(crate) rank: usize,
}

/// Who sends in a collective with a root.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Root {
    /// This rank (`MPI_ROOT`).
    Own,
    /// Another rank of this rank's group (`MPI_PROC_NULL`): this rank does nothing.
    Beside,
    /// This rank of the other group, by its number.
    Other(usize),
}

impl Sides {
    /// The groups of an intercommunicator; `None` for a communicator with one group.
    pub(crate) fn of(comm: &Comm) -> Option<Self> {
        let remote = comm.remote.as_ref()?;
        let (first, second) = (comm.group.len(), remote.len());
        let is_first = comm.group.first() < remote.first();
        let (lower, upper) = if is_first { (&comm.group, remote) } else { (remote, &comm.group) };
        let members = Rc::new(lower.iter().chain(upper.iter()).copied().collect());
        Some(if is_first {
            Self { members, own: 0..first, other: first..first + second, rank: comm.rank }
        } else {
            Self { members, own: second..second + first, other: 0..second, rank: second + comm.rank }
        })
    }

    /// True if this rank is the first of its group.
    fn leads(&self) -> bool {
        self.rank == self.own.start
    }
}

/// The sends and receives of one rank, one after another.
#[derive(Debug)]
pub(crate) struct Script<'a> {
    sides: &'a Sides,
    choice: &'a Choice,
    tag: Tag,
    requests: RequestPool,
    events: Vec<Event>,
}

/// The result of a step.
type Step = Result<(), ExpandError>;

impl<'a> Script<'a> {
    /// An empty script of the collective with this number. `choice` says which algorithms the groups use.
    pub(crate) fn new(sides: &'a Sides, choice: &'a Choice, number: u64) -> Self {
        let tag = Tag::collective(number as i64);
        Self { sides, choice, tag, requests: RequestPool::new(), events: Vec::new() }
    }

    /// The events.
    pub(crate) fn events(self) -> Vec<Event> {
        self.events
    }

    /// A collective within the group of this rank.
    fn within(&mut self, collective: &Collective) -> Step {
        let own = &self.sides.own;
        let ranks: Vec<TaskId> = own.clone().map(TaskId::at).collect();
        let algorithm = self.choice.algorithm(collective, ranks.len());
        let rank = self.sides.rank - own.start;
        expand(collective, algorithm, &ranks, rank, self.tag, &mut self.requests, &mut self.events)
    }

    /// Messages that are sent and received at the same time: ranks by number, and sizes in bytes.
    fn exchange(&mut self, receives: &[(usize, u64)], sends: &[(usize, u64)]) {
        let mut open: Vec<Request> = Vec::new();
        for &(from, bytes) in receives {
            let request = self.requests.take();
            let from = Some(TaskId::at(from));
            self.events.push(Event::Irecv(Receive { from, tag: TagFilter::Exactly(self.tag), bytes }, request));
            open.push(request);
        }
        for &(to, bytes) in sends {
            let request = self.requests.take();
            self.events.push(Event::Isend(Send { to: TaskId::at(to), tag: self.tag, bytes }, request));
            open.push(request);
        }
        if !open.is_empty() {
            self.events.push(Event::WaitAll(open.iter().copied().collect()));
        }
        open.into_iter().for_each(|request| self.requests.give_back(request));
    }

    /// The first rank of one group sends `bytes` to the first rank of the other, which broadcasts them.
    fn pass_on(&mut self, is_sender: bool, bytes: u64) -> Step {
        let other = self.sides.other.start;
        if is_sender {
            if self.sides.leads() {
                self.exchange(&[], &[(other, bytes)]);
            }
            return Ok(());
        }
        if self.sides.leads() {
            self.exchange(&[(other, bytes)], &[]);
        }
        self.within(&Collective::Broadcast { root: 0, bytes })
    }

    /// What each group has gathered is passed on, first by the group with the lower first rank.
    fn pass_both(&mut self, own: u64, other: u64) -> Step {
        let is_first = self.sides.own.start == 0;
        for is_sender in [is_first, !is_first] {
            self.pass_on(is_sender, if is_sender { own } else { other })?;
        }
        Ok(())
    }

    /// A barrier.
    pub(crate) fn barrier(&mut self) -> Step {
        self.within(&Collective::Barrier)?;
        self.pass_both(1, 1)
    }

    /// A broadcast of `bytes` bytes.
    pub(crate) fn broadcast(&mut self, root: Root, bytes: u64) -> Step {
        match root {
            Root::Own => self.exchange(&[], &[(self.sides.other.start, bytes)]),
            Root::Beside => {}
            Root::Other(root) => {
                if self.sides.leads() {
                    self.exchange(&[(root, bytes)], &[]);
                }
                self.within(&Collective::Broadcast { root: 0, bytes })?;
            }
        }
        Ok(())
    }

    /// A gather or scatter: messages of these sizes \[bytes\] between the root and each rank of the other group.
    pub(crate) fn direct(&mut self, root: Root, sizes: &[u64], is_gather: bool) {
        let ends: Vec<(usize, u64)> = match root {
            Root::Own => self.sides.other.clone().zip(sizes.iter().copied()).collect(),
            Root::Beside => return,
            Root::Other(root) => vec![(root, sizes.first().copied().unwrap_or(0))],
        };
        if (root == Root::Own) == is_gather { self.exchange(&ends, &[]) } else { self.exchange(&[], &ends) }
    }

    /// An allgather, with sizes in bytes by rank of each group.
    pub(crate) fn allgather(&mut self, own: &[u64], other: &[u64]) -> Step {
        let rank = self.sides.rank - self.sides.own.start;
        let send = own.get(rank).copied().unwrap_or(0);
        self.within(&Collective::Gatherv { root: 0, send, receive: own.to_vec() })?;
        self.pass_both(own.iter().sum(), other.iter().sum())
    }

    /// An all-to-all: sizes in bytes by rank of the other group, sent to it and received from it.
    pub(crate) fn alltoall(&mut self, send: &[u64], receive: &[u64]) {
        let (own, other) = (self.sides.own.clone(), self.sides.other.clone());
        let size = own.len().max(other.len());
        let rank = self.sides.rank - own.start;
        for step in 0..size {
            let (from, to) = ((rank + size - step) % size, (rank + step) % size);
            let end = |index: usize, sizes: &[u64]| sizes.get(index).map(|&bytes| (other.start + index, bytes));
            let (from, to) = (end(from, receive), end(to, send));
            self.exchange(from.as_slice(), to.as_slice());
        }
    }

    /// A reduction of the other group for the root.
    pub(crate) fn reduce(&mut self, root: Root, bytes: u64) -> Step {
        match root {
            Root::Own => self.exchange(&[(self.sides.other.start, bytes)], &[]),
            Root::Beside => {}
            Root::Other(root) => {
                self.within(&Collective::Reduce { root: 0, bytes })?;
                if self.sides.leads() {
                    self.exchange(&[], &[(root, bytes)]);
                }
            }
        }
        Ok(())
    }

    /// A reduction of each group for all ranks of the other: of `own` and `other` bytes.
    pub(crate) fn allreduce(&mut self, own: u64, other: u64) -> Step {
        self.reduce_and_exchange(own, other)?;
        self.within(&Collective::Broadcast { root: 0, bytes: other })
    }

    /// A reduction of each group for the other, which gets blocks of these sizes \[bytes\] by rank of this group.
    pub(crate) fn reduce_scatter(&mut self, bytes: u64, blocks: &[u64]) -> Step {
        self.reduce_and_exchange(bytes, blocks.iter().sum())?;
        let rank = self.sides.rank - self.sides.own.start;
        let receive = blocks.get(rank).copied().unwrap_or(0);
        self.within(&Collective::Scatterv { root: 0, send: blocks.to_vec(), receive })
    }

    fn reduce_and_exchange(&mut self, own: u64, other: u64) -> Step {
        self.within(&Collective::Reduce { root: 0, bytes: own })?;
        if self.sides.leads() {
            let first = self.sides.other.start;
            self.exchange(&[(first, other)], &[(first, own)]);
        }
        Ok(())
    }

    /// Numbers of all ranks of both groups for all: `each` bytes of each rank.
    pub(crate) fn agree(&mut self, each: u64) -> Step {
        let (own, other) = (self.sides.own.len() as u64 * each, self.sides.other.len() as u64 * each);
        self.within(&Collective::Gather { root: 0, bytes: each })?;
        if self.sides.leads() {
            let first = self.sides.other.start;
            self.exchange(&[(first, other)], &[(first, own)]);
        }
        self.within(&Collective::Broadcast { root: 0, bytes: own + other })
    }
}
