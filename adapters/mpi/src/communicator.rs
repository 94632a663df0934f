//! Communicators, groups and error handlers.

use std::collections::BTreeMap;
use std::ffi::c_int;
use std::rc::Rc;

use trgen::rng::mix2;

use crate::abi::*;
use crate::caching::Attributes;
use crate::error::{Error, Outcome, error};
use crate::table::Table;

/// `MPI_Comm_errhandler_function`, which has further parameters that are not used.
pub(crate) type Handler = unsafe extern "C" fn(*mut c_int, *mut c_int);

/// An error handler of the program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Errhandler {
    pub(crate) function: Handler,
}

/// The topology of a communicator.
#[derive(Clone, Debug)]
pub(crate) enum Topology {
    /// A grid: the size of each dimension, and whether it is periodic.
    Cartesian { sizes: Vec<i64>, periods: Vec<bool> },
    /// A graph that all ranks know, in the form of `MPI_Graph_create`.
    Graph { index: Vec<c_int>, edges: Vec<c_int> },
    /// A distributed graph: the neighbours of this rank, and the weights of the edges from and to them.
    Neighbours { sources: Vec<c_int>, destinations: Vec<c_int>, weights: Option<(Vec<c_int>, Vec<c_int>)> },
}

/// A communicator.
#[derive(Clone, Debug)]
pub(crate) struct Comm {
    /// Distinguishes its messages from those of others; the same on all of its ranks.
    pub(crate) context: u64,
    /// Its members by rank, as ranks of the world.
    pub(crate) group: Rc<Vec<usize>>,
    /// The members of the other group, if this is an intercommunicator.
    pub(crate) remote: Option<Rc<Vec<usize>>>,
    /// The rank of this process in the communicator.
    pub(crate) rank: usize,
    /// Number of communicators made from it so far.
    pub(crate) made: u64,
    /// Number of collectives called on it so far, without those of persistent requests.
    pub(crate) collectives: u64,
    /// Number of persistent collectives initialized on it so far.
    pub(crate) prepared: u64,
    /// Number of partitioned operations initialized on it so far: by whether they send, other rank of the world and tag.
    pub(crate) partitioned: BTreeMap<(bool, usize, i64), u64>,
    /// Handle of its error handler.
    pub(crate) errhandler: c_int,
    pub(crate) attributes: Attributes,
    pub(crate) topology: Option<Rc<Topology>>,
    /// The name that the program has given; empty for none.
    pub(crate) name: String,
    /// The keys and values of its info object.
    pub(crate) info: BTreeMap<String, String>,
}

impl Comm {
    pub(crate) fn new(context: u64, group: Vec<usize>, rank: usize, name: &str) -> Self {
        Self {
            context,
            group: Rc::new(group),
            remote: None,
            rank,
            made: 0,
            collectives: 0,
            prepared: 0,
            partitioned: BTreeMap::new(),
            errhandler: ERRORS_ARE_FATAL,
            attributes: Attributes::default(),
            topology: None,
            name: name.to_owned(),
            info: BTreeMap::new(),
        }
    }

    /// Number of ranks of this rank's group.
    pub(crate) fn size(&self) -> usize {
        self.group.len()
    }

    /// The ranks of the world with which messages are exchanged.
    pub(crate) fn partners(&self) -> &Rc<Vec<usize>> {
        self.remote.as_ref().unwrap_or(&self.group)
    }

    /// The name for messages to the user.
    pub(crate) fn title(&self) -> String {
        match self.name.as_str() {
            "" if self.remote.is_some() => format!("an intercommunicator to {} ranks", self.partners().len()),
            "" => format!("a communicator of {} ranks", self.size()),
            name => name.to_owned(),
        }
    }

    /// The rank in this communicator of a rank of the world. In an intercommunicator it is a rank of the other group.
    pub(crate) fn rank_of(&self, world: usize) -> Option<usize> {
        rank_in(self.partners(), world)
    }

    /// The rank of the world of a rank in this communicator. In an intercommunicator it is a rank of the other group.
    pub(crate) fn world_of(&self, rank: c_int) -> Outcome<usize> {
        let partners = self.partners();
        let found = usize::try_from(rank).ok().and_then(|rank| partners.get(rank));
        match found {
            Some(&world) => Ok(world),
            None => {
                error(ERR_RANK, format!("rank {rank} is not one of the {} ranks of {}", partners.len(), self.title()))
            }
        }
    }

    /// The context of the next communicator that is made from this one. `first` is its first member, as a rank of the
    /// world. All members compute the same context, because they make communicators in the same order.
    pub(crate) fn next_context(&mut self, first: usize) -> u64 {
        self.made += 1;
        // The upper three bits are left to kinds of messages. Bit 32 is set, so that no result is the context of a
        // predefined communicator.
        mix2(mix2(self.context, self.made), first as u64) >> 3 | 1 << 32
    }

    /// A communicator with the same members and topology, and a context of its own.
    pub(crate) fn duplicate(&mut self) -> Self {
        // Both groups of an intercommunicator compute the same context.
        let first = match &self.remote {
            Some(remote) => self.group.iter().chain(remote.iter()).min().copied().unwrap_or(0),
            None => self.group.first().copied().unwrap_or(usize::MAX),
        };
        let context = self.next_context(first);
        Self {
            remote: self.remote.clone(),
            errhandler: self.errhandler,
            topology: self.topology.clone(),
            ..Self::new(context, self.group.to_vec(), self.rank, "")
        }
    }
}

/// The rank of a rank of the world among these members.
pub(crate) fn rank_in(members: &[usize], world: usize) -> Option<usize> {
    if members.get(world) == Some(&world) {
        return Some(world);
    }
    members.iter().position(|&member| member == world)
}

/// The communicators by handle.
#[derive(Debug)]
pub(crate) struct Comms {
    world: Comm,
    own: Comm,
    made: Table<Comm>,
    /// How many persistent requests hold a communicator, and whether the program has freed it meanwhile.
    held: BTreeMap<c_int, (u32, bool)>,
}

impl Comms {
    /// `MPI_COMM_WORLD` of `size` ranks and `MPI_COMM_SELF`, as `rank` has them.
    pub(crate) fn new(rank: usize, size: usize) -> Self {
        Self {
            world: Comm::new(1, (0..size).collect(), rank, "MPI_COMM_WORLD"),
            own: Comm::new(2, vec![rank], 0, "MPI_COMM_SELF"),
            made: Table::new(0x8400_0000, 1),
            held: BTreeMap::new(),
        }
    }

    /// Keeps a communicator for a persistent request, also when the program frees it.
    pub(crate) fn hold(&mut self, handle: c_int) {
        self.held.entry(handle).or_default().0 += 1;
    }

    /// Ends what [`Self::hold`] has begun.
    pub(crate) fn release(&mut self, handle: c_int) {
        let Some((count, is_freed)) = self.held.get_mut(&handle) else { return };
        *count -= 1;
        if *count == 0 {
            if *is_freed {
                self.made.remove(handle);
            }
            self.held.remove(&handle);
        }
    }

    /// The communicator of a handle.
    pub(crate) fn get(&self, handle: c_int) -> Outcome<&Comm> {
        match handle {
            COMM_WORLD => Ok(&self.world),
            COMM_SELF => Ok(&self.own),
            _ => self.made.get(handle).map_or_else(|| unknown(handle), Ok),
        }
    }

    /// The communicator of a handle, which the caller changes.
    pub(crate) fn get_mut(&mut self, handle: c_int) -> Outcome<&mut Comm> {
        match handle {
            COMM_WORLD => Ok(&mut self.world),
            COMM_SELF => Ok(&mut self.own),
            _ => self.made.get_mut(handle).map_or_else(|| unknown(handle), Ok),
        }
    }

    /// The communicator of a handle; an error for an intercommunicator, on which `what` is not defined.
    pub(crate) fn intra(&self, handle: c_int, what: &str) -> Outcome<&Comm> {
        let found = self.get(handle)?;
        match found.remote {
            Some(_) => {
                let text = format!("{what} is not defined on an intercommunicator");
                Err(Error { class: ERR_COMM, text, comm: Some(handle) })
            }
            None => Ok(found),
        }
    }

    /// Adds a communicator of the program and returns its handle.
    pub(crate) fn add(&mut self, comm: Comm) -> c_int {
        self.made.add(comm)
    }

    /// Removes a communicator of the program; an error for a predefined one.
    pub(crate) fn remove(&mut self, handle: c_int) -> Outcome {
        self.get(handle)?;
        if self.made.get(handle).is_some()
            && let Some((_, is_freed)) = self.held.get_mut(&handle)
        {
            return if std::mem::replace(is_freed, true) { unknown(handle) } else { Ok(()) };
        }
        match self.made.remove(handle) {
            Some(_) => Ok(()),
            None => error(ERR_COMM, "MPI_COMM_WORLD and MPI_COMM_SELF cannot be freed"),
        }
    }

    /// The title of the communicator with this context, for messages to the user.
    pub(crate) fn title_of(&self, context: u64) -> String {
        let handles = [COMM_WORLD, COMM_SELF].into_iter().chain(self.made.handles());
        let mut found = handles.filter_map(|handle| self.get(handle).ok()).filter(|comm| comm.context == context);
        found.next().map_or_else(|| "a communicator".to_owned(), Comm::title)
    }
}

/// The error of a handle that no communicator has.
fn unknown<T>(handle: c_int) -> Outcome<T> {
    match handle {
        COMM_NULL => error(ERR_COMM, "MPI_COMM_NULL is not a communicator"),
        _ => error(ERR_COMM, format!("{handle:#x} is not a communicator")),
    }
}

/// The groups by handle. The members of each are ranks of the world.
#[derive(Debug)]
pub(crate) struct Groups(Table<Vec<usize>>);

impl Groups {
    pub(crate) fn new() -> Self {
        Self(Table::new(0x8800_0000, 1))
    }

    /// The members of a group.
    pub(crate) fn get(&self, handle: c_int) -> Outcome<Vec<usize>> {
        match handle {
            GROUP_EMPTY => Ok(Vec::new()),
            _ => match self.0.get(handle) {
                Some(group) => Ok(group.clone()),
                None => error(ERR_GROUP, format!("{handle:#x} is not a group")),
            },
        }
    }

    /// A new handle of a group.
    pub(crate) fn add(&mut self, group: Vec<usize>) -> c_int {
        if group.is_empty() { GROUP_EMPTY } else { self.0.add(group) }
    }

    /// Removes a group, if the program has made it.
    pub(crate) fn remove(&mut self, handle: c_int) {
        self.0.remove(handle);
    }
}

#[cfg(test)]
mod tests;
