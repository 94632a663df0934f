//! Windows of one-sided communication: their state on this rank, and what their messages say.
//!
//! Every access is a message that the target carries out while it is in a call of MPI, in the order of the sender's
//! messages. Nothing here knows the network or the program: `target` says what a rank does with a message, `engine` sends.
//!
//! Decision: docs/decisions/0225-one-sided.md.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ffi::c_int;
use std::rc::Rc;

use crate::abi::*;
use crate::caching::Attributes;
use crate::datatype::Type;
use crate::engine::mail::Letter;
use crate::error::{Outcome, error};
use crate::table::Table;

/// What a message of a window asks for or answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Code {
    /// Data for the target; the combination of data with those of the target.
    Put = 1,
    Accumulate,
    /// Data of the target; those before a combination; those before an exchange if they equal the first half of the data.
    Get,
    Fetch,
    Compare,
    /// The data that were asked for.
    Answer,
    /// A lock, shared or exclusive, and its answer.
    LockShared,
    LockExclusive,
    Granted,
    /// The end of a lock; its answer says that all accesses before it are complete.
    Unlock,
    /// The accesses so far; the answer says that they are complete. It is that of `Unlock`, too.
    Flush,
    Done,
    /// The beginning of an exposure, and the end of accesses to it.
    Post,
    Complete,
}

impl Code {
    const ALL: [Self; 14] = [
        Self::Put,
        Self::Accumulate,
        Self::Get,
        Self::Fetch,
        Self::Compare,
        Self::Answer,
        Self::LockShared,
        Self::LockExclusive,
        Self::Granted,
        Self::Unlock,
        Self::Flush,
        Self::Done,
        Self::Post,
        Self::Complete,
    ];

    /// True if the target accesses its window.
    pub(crate) const fn is_access(self) -> bool {
        matches!(self, Self::Put | Self::Accumulate | Self::Get | Self::Fetch | Self::Compare)
    }
}

/// A message of a window, without its data.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    pub(crate) code: Code,
    /// Names the answer that the origin waits for.
    pub(crate) id: u64,
    /// True if a fence counts the access.
    pub(crate) is_counted: bool,
    /// The predefined operation of a combination.
    pub(crate) op: c_int,
    /// Where the values lie in the window of the target, in its units of displacement, and how many there are.
    pub(crate) place: i64,
    pub(crate) count: i64,
    /// Their datatype, by its layout.
    pub(crate) ty: Option<Rc<Type>>,
}

impl Order {
    /// A message that accesses nothing.
    pub(crate) const fn of(code: Code) -> Self {
        Self { code, id: 0, is_counted: false, op: OP_NULL, place: 0, count: 0, ty: None }
    }

    /// The message with its data.
    pub(crate) fn write(&self, data: &[u8]) -> Letter {
        let mut letter = Letter::with_room(data.len());
        let out = letter.end();
        out.extend_from_slice(&[self.code as u8, u8::from(self.is_counted)]);
        for number in [self.id as i64, self.op.into(), self.place, self.count] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        match &self.ty {
            Some(ty) => ty.write_layout(out),
            None => out.extend_from_slice(&0_u64.to_le_bytes()),
        }
        out.extend_from_slice(data);
        letter
    }

    /// Reads a message; `None` if it is malformed. The second value is the place where its data begin.
    pub(crate) fn read(from: &[u8]) -> Option<(Self, usize)> {
        let (head, mut rest) = from.split_first_chunk::<2>()?;
        let code = Code::ALL.into_iter().find(|&code| code as u8 == head[0])?;
        let mut number = || {
            let (bytes, after) = rest.split_first_chunk::<8>()?;
            rest = after;
            Some(i64::from_le_bytes(*bytes))
        };
        let (id, op, place, count) = (number()? as u64, number()? as c_int, number()?, number()?);
        let (ty, rest) = Type::read_layout(rest)?;
        let ty = ty.map(Rc::new);
        let order = Self { code, id, is_counted: head[1] != 0, op, place, count, ty };
        Some((order, from.len() - rest.len()))
    }
}

/// A buffer of this rank that an answer fills.
#[derive(Clone, Debug)]
pub(crate) struct Landing {
    pub(crate) address: usize,
    pub(crate) count: i64,
    pub(crate) ty: Rc<Type>,
    /// The request that ends with the answer.
    pub(crate) request: Option<c_int>,
}

/// How a window was made, as `mpi.h` numbers it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(i32)]
pub(crate) enum Flavor {
    Create = 1,
    Allocate = 2,
    Dynamic = 3,
    Shared = 4,
}

/// A lock that a rank holds or waits for.
type Lock = (usize, bool);

/// A window as this rank has it. Ranks are those of its communicator, except where they are said to be of the world.
#[derive(Debug)]
pub(crate) struct Window {
    /// The window's own communicator, and its context.
    pub(crate) comm: c_int,
    pub(crate) context: u64,
    pub(crate) flavor: Flavor,
    /// Address and size \[bytes\] of this rank's memory, and whether the library has allocated it.
    pub(crate) base: usize,
    pub(crate) size: i64,
    pub(crate) is_own: bool,
    /// \[bytes\] The unit in which displacements in this rank's window are given.
    pub(crate) unit: i64,
    /// Size \[bytes\] and unit of displacement \[bytes\] of all ranks.
    pub(crate) shapes: Vec<(i64, i64)>,
    /// Regions that the program has attached: address and size \[bytes\].
    pub(crate) regions: BTreeMap<usize, i64>,
    pub(crate) errhandler: c_int,
    pub(crate) attributes: Attributes,
    pub(crate) name: String,
    pub(crate) info: BTreeMap<String, String>,
    /// True between two fences.
    pub(crate) is_fenced: bool,
    /// Targets of the epoch that `MPI_Win_start` has begun.
    pub(crate) started: Option<BTreeSet<usize>>,
    /// Ranks to which this one is exposed by `MPI_Win_post`, and those of them that have completed.
    pub(crate) posted: Option<BTreeSet<usize>>,
    pub(crate) completed: BTreeSet<usize>,
    /// Ranks that have exposed themselves to this one.
    pub(crate) exposed: BTreeSet<usize>,
    /// Targets that this rank has locked: true once the lock is granted.
    pub(crate) locked: BTreeMap<usize, bool>,
    /// True after `MPI_Win_lock_all`; targets are locked with the first access.
    pub(crate) all_locked: bool,
    /// Targets with accesses since their last flush.
    pub(crate) dirty: BTreeSet<usize>,
    /// Number of answers that are expected from each target.
    pub(crate) expected: BTreeMap<usize, u64>,
    /// Accesses sent to each rank, and accesses arrived, since the last fence.
    pub(crate) sent: Vec<i32>,
    pub(crate) arrived: i32,
    /// Locks of this rank's window that are held, and those that wait, with their ranks; true for an exclusive one.
    held: Vec<Lock>,
    queue: VecDeque<Lock>,
}

impl Window {
    /// A window of `ranks` ranks, before their sizes are known.
    pub(crate) fn new(comm: c_int, context: u64, flavor: Flavor, (base, size): (usize, i64), ranks: usize) -> Self {
        Self {
            comm,
            context,
            flavor,
            base,
            size,
            is_own: false,
            unit: 1,
            shapes: Vec::new(),
            regions: BTreeMap::new(),
            errhandler: ERRORS_ARE_FATAL,
            attributes: Attributes::default(),
            name: String::new(),
            info: BTreeMap::new(),
            is_fenced: false,
            started: None,
            posted: None,
            completed: BTreeSet::new(),
            exposed: BTreeSet::new(),
            locked: BTreeMap::new(),
            all_locked: false,
            dirty: BTreeSet::new(),
            expected: BTreeMap::new(),
            sent: vec![0; ranks],
            arrived: 0,
            held: Vec::new(),
            queue: VecDeque::new(),
        }
    }

    /// Number of answers that are expected from these ranks, or from all.
    pub(crate) fn answers(&self, rank: Option<usize>) -> u64 {
        self.expected.iter().filter(|(from, _)| rank.is_none_or(|rank| rank == **from)).map(|(_, count)| count).sum()
    }

    /// True if an epoch lets this rank access a target.
    pub(crate) fn may_access(&self, target: usize) -> bool {
        self.is_fenced
            || self.all_locked
            || self.locked.contains_key(&target)
            || self.started.as_ref().is_some_and(|targets| targets.contains(&target))
    }

    /// True if an epoch of access or exposure is open.
    pub(crate) fn is_open(&self) -> bool {
        self.all_locked || !self.locked.is_empty() || self.started.is_some() || self.posted.is_some()
    }

    /// Takes a request for a lock. Returns the ranks whose locks are granted by it.
    pub(crate) fn lock(&mut self, lock: Lock) -> Vec<usize> {
        self.queue.push_back(lock);
        self.grant()
    }

    /// Ends the lock of a rank. Returns the ranks whose locks are granted by it.
    pub(crate) fn unlock(&mut self, rank: usize) -> Vec<usize> {
        if let Some(position) = self.held.iter().position(|held| held.0 == rank) {
            self.held.remove(position);
        }
        self.grant()
    }

    /// Grants locks in the order in which they were requested.
    fn grant(&mut self) -> Vec<usize> {
        let mut granted = Vec::new();
        while let Some(&(rank, is_exclusive)) = self.queue.front() {
            let is_free = self.held.is_empty() || !is_exclusive && self.held.iter().all(|held| !held.1);
            if !is_free {
                break;
            }
            self.queue.pop_front();
            self.held.push((rank, is_exclusive));
            granted.push(rank);
        }
        granted
    }

    /// The address of values in this rank's window; an error if they do not lie within it.
    pub(crate) fn address(&self, place: i64, count: i64, ty: &Type) -> Outcome<usize> {
        if self.flavor != Flavor::Dynamic {
            let start = start_within(self.size, place.checked_mul(self.unit), count, ty)?;
            return Ok(self.base.wrapping_add_signed(start as isize));
        }
        let is_within =
            |(&base, &size): (&usize, &i64)| start_within(size, place.checked_sub(base as i64), count, ty).is_ok();
        if count == 0 || self.regions.iter().any(is_within) {
            return Ok(place as usize);
        }
        error(ERR_RMA_RANGE, format!("{} bytes at {place:#x}, where nothing is attached", ty.bytes(count)))
    }

    /// An error if values at this place do not lie within the window of a target.
    pub(crate) fn check_place(&self, target: usize, place: i64, count: i64, ty: &Type) -> Outcome {
        if self.flavor == Flavor::Dynamic {
            return Ok(());
        }
        if place < 0 {
            return error(ERR_DISP, format!("displacement {place} is negative"));
        }
        let (size, unit) = self.shapes.get(target).copied().unwrap_or((0, 1));
        start_within(size, place.checked_mul(unit), count, ty).map(drop)
    }
}

/// Checks that values which start at `start` \[bytes\] lie within `size` bytes; returns `start`.
fn start_within(size: i64, start: Option<i64>, count: i64, ty: &Type) -> Outcome<i64> {
    let bounds = start
        .zip(span(count, ty))
        .and_then(|(start, (low, high))| Some((start, start.checked_add(low)?, start.checked_add(high)?)));
    match bounds {
        Some((start, ..)) if count == 0 || ty.size == 0 => Ok(start),
        Some((start, first, end)) if first >= 0 && end <= size => Ok(start),
        Some((_, first, end)) => error(ERR_RMA_RANGE, format!("bytes {first} to {end} of a window of {size}")),
        None => error(ERR_RMA_RANGE, "bytes beyond all memory"),
    }
}

/// \[bytes\] Offsets of the first byte of `count` values and of the one after the last; `None` if they overflow.
fn span(count: i64, ty: &Type) -> Option<(i64, i64)> {
    let (first, last) = ty.true_bounds();
    let rest = (count - 1).max(0).checked_mul(ty.extent())?;
    Some((first.checked_add(rest.min(0))?, last.checked_add(rest.max(0))?))
}

/// The windows by handle and context.
#[derive(Debug)]
pub(crate) struct Windows {
    handles: Table<u64>,
    all: BTreeMap<u64, Window>,
    /// Number of the next answer.
    pub(crate) next: u64,
}

impl Windows {
    pub(crate) fn new() -> Self {
        Self { handles: Table::new(0xa000_0000, 1), all: BTreeMap::new(), next: 0 }
    }

    /// Adds a window and returns its handle.
    pub(crate) fn add(&mut self, window: Window) -> c_int {
        let handle = self.handles.add(window.context);
        self.all.insert(window.context, window);
        handle
    }

    /// True if there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(crate) fn get(&self, handle: c_int) -> Outcome<&Window> {
        let found = self.handles.get(handle).and_then(|context| self.all.get(context));
        found.map_or_else(|| error(ERR_WIN, format!("{handle:#x} is not a window")), Ok)
    }

    pub(crate) fn get_mut(&mut self, handle: c_int) -> Outcome<&mut Window> {
        let found = self.handles.get(handle).and_then(|context| self.all.get_mut(context));
        found.map_or_else(|| error(ERR_WIN, format!("{handle:#x} is not a window")), Ok)
    }

    /// The window with this context.
    pub(crate) fn of_context(&mut self, context: u64) -> Option<&mut Window> {
        self.all.get_mut(&context)
    }

    /// Removes a window.
    pub(crate) fn remove(&mut self, handle: c_int) -> Option<Window> {
        self.handles.remove(handle).and_then(|context| self.all.remove(&context))
    }
}

pub(crate) mod target;
#[cfg(test)]
mod tests;
