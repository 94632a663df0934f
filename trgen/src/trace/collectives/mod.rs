//! Collective operations as point-to-point messages, by named algorithms.
//!
//! [`expand`] writes the operations of one rank of a communicator; calling it for every rank gives the whole
//! collective. The patterns are those of the literature and of MPICH; [`COLLECTIVES`] names them. A [`Choice`] selects
//! the algorithm of an operation: by default by size and number of ranks, as MPICH does.
//!
//! # How the model departs from reality, and who could notice
//! - MPICH cuts vectors at element boundaries; here they are cut at bytes. MPICH also takes the short algorithm when a
//!   reduction has fewer elements than ranks; here only the size in bytes decides. Operators are assumed to commute.
//! - Vendors' libraries choose by tables of measured times, and know which ranks share a node. A study of such a
//!   machine should name the algorithms that it uses.
//! - In Rabenseifner's reduce a root outside the power of two receives the result in one additional message.
//! - Messages of zero bytes are sent. MPICH returns early from an operation of zero bytes and omits empty blocks of the
//!   `v` operations; Open MPI sends them. Sending them keeps the messages of one rank independent of whether the counts
//!   of other ranks agree with its own, so that a trace can never hang on a recorded zero.
//! - The block that a rank keeps for itself costs nothing, and neither does the arithmetic of a reduction.
//!
//! Every exchange posts its receive before its send and waits for both, so that the patterns complete with both eager
//! and rendezvous sends.

mod agreement;
mod blocks;
mod choice;
mod exchange;
mod pieces;
mod requests;
mod shared;
mod tree;

pub use agreement::{Agreement, Disagreement};
pub use choice::{Algorithm, Choice, RULES};
pub use requests::RequestPool;

use super::program::{Event, Receive, Send, Tag, TagFilter};
pub use crate::collective::COLLECTIVES;
use crate::units::TaskId;

/// One collective operation, as called by one rank. Ranks are those of the communicator; sizes are in bytes.
///
/// Sizes are the arguments of *this* rank. In a correct program the ranks agree. If they do not, messages still match
/// (matching ignores sizes), and each message has the size given by its sender.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Collective {
    /// No rank leaves before every rank has entered.
    Barrier,
    /// The root's data reach every rank.
    Broadcast {
        /// Rank that has the data.
        root: usize,
        /// \[bytes\] Size of the data.
        bytes: u64,
    },
    /// The combined data of all ranks reach the root.
    Reduce {
        /// Rank that gets the result.
        root: usize,
        /// \[bytes\] Size of each contribution and of the result.
        bytes: u64,
    },
    /// The combined data of all ranks reach every rank.
    Allreduce {
        /// \[bytes\] Size of each contribution and of the result.
        bytes: u64,
    },
    /// Every rank has a block for every rank.
    Alltoall {
        /// \[bytes\] Size of each block.
        bytes: u64,
    },
    /// Every rank has a block for every rank, of any size.
    Alltoallv {
        /// \[bytes\] Size of the block for each rank.
        send: Vec<u64>,
        /// \[bytes\] Size of the block from each rank.
        receive: Vec<u64>,
    },
    /// A block from every rank reaches the root.
    Gather {
        /// Rank that collects.
        root: usize,
        /// \[bytes\] Size of each block.
        bytes: u64,
    },
    /// A block from every rank reaches the root, of any size.
    Gatherv {
        /// Rank that collects.
        root: usize,
        /// \[bytes\] Size of the block of this rank.
        send: u64,
        /// \[bytes\] Size of the block from each rank; used only on the root.
        receive: Vec<u64>,
    },
    /// The root has a block for every rank.
    Scatter {
        /// Rank that distributes.
        root: usize,
        /// \[bytes\] Size of each block.
        bytes: u64,
    },
    /// The root has a block for every rank, of any size.
    Scatterv {
        /// Rank that distributes.
        root: usize,
        /// \[bytes\] Size of the block for each rank; used only on the root.
        send: Vec<u64>,
        /// \[bytes\] Size of the block of this rank.
        receive: u64,
    },
    /// A block from every rank reaches every rank.
    Allgather {
        /// \[bytes\] Size of each block.
        bytes: u64,
    },
    /// A block from every rank reaches every rank, of any size.
    Allgatherv {
        /// \[bytes\] Size of the block of each rank.
        blocks: Vec<u64>,
    },
    /// The combined data of all ranks; each rank gets its block of the result.
    ReduceScatter {
        /// \[bytes\] Size of the block of the result that each rank gets.
        blocks: Vec<u64>,
    },
    /// Each rank gets the combination of the data of all ranks up to and including itself.
    Scan {
        /// \[bytes\] Size of each contribution and of the result.
        bytes: u64,
    },
    /// Each rank gets the combination of the data of all ranks before it.
    Exscan {
        /// \[bytes\] Size of each contribution and of the result.
        bytes: u64,
    },
}

/// A collective that cannot be expanded on the communicator given.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ExpandError {
    /// The calling rank or the root is not a rank of the communicator.
    #[error("rank {rank} is not in a communicator of {size}")]
    NoSuchRank {
        /// The offending rank.
        rank: usize,
        /// Ranks of the communicator.
        size: usize,
    },
    /// The algorithm does not implement this operation.
    #[error("{algorithm} is no algorithm of {operation}")]
    Algorithm {
        /// Name of the algorithm.
        algorithm: &'static str,
        /// The operation.
        operation: &'static str,
    },
    /// The algorithm does not serve so many ranks.
    #[error("{algorithm} needs {needs}, not {size}")]
    Ranks {
        /// Name of the algorithm.
        algorithm: &'static str,
        /// What it needs.
        needs: &'static str,
        /// Ranks of the communicator.
        size: usize,
    },
    /// The number of block sizes differs from the number of ranks.
    #[error("{found} block sizes for a communicator of {size}")]
    BlockCount {
        /// Entries of the table.
        found: usize,
        /// Ranks of the communicator.
        size: usize,
    },
}

/// Names of all operations, as [`Collective::name`] gives them.
pub const NAMES: &[&str] = &[
    "barrier",
    "bcast",
    "reduce",
    "allreduce",
    "alltoall",
    "alltoallv",
    "gather",
    "gatherv",
    "scatter",
    "scatterv",
    "allgather",
    "allgatherv",
    "reduce_scatter",
    "scan",
    "exscan",
];

impl Collective {
    /// The operation's name, without `MPI_`, in lower case.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Barrier => "barrier",
            Self::Broadcast { .. } => "bcast",
            Self::Reduce { .. } => "reduce",
            Self::Allreduce { .. } => "allreduce",
            Self::Alltoall { .. } => "alltoall",
            Self::Alltoallv { .. } => "alltoallv",
            Self::Gather { .. } => "gather",
            Self::Gatherv { .. } => "gatherv",
            Self::Scatter { .. } => "scatter",
            Self::Scatterv { .. } => "scatterv",
            Self::Allgather { .. } => "allgather",
            Self::Allgatherv { .. } => "allgatherv",
            Self::ReduceScatter { .. } => "reduce_scatter",
            Self::Scan { .. } => "scan",
            Self::Exscan { .. } => "exscan",
        }
    }

    /// The root, if the operation has one.
    #[must_use]
    pub const fn root(&self) -> Option<usize> {
        match self {
            Self::Broadcast { root, .. }
            | Self::Reduce { root, .. }
            | Self::Gather { root, .. }
            | Self::Gatherv { root, .. }
            | Self::Scatter { root, .. }
            | Self::Scatterv { root, .. } => Some(*root),
            _ => None,
        }
    }

    /// Checks that root and tables fit a communicator of `size` ranks.
    fn check(&self, size: usize) -> Result<(), ExpandError> {
        if let Some(root) = self.root()
            && root >= size
        {
            return Err(ExpandError::NoSuchRank { rank: root, size });
        }
        let table = |blocks: &[u64]| match blocks.len() {
            found if found == size => Ok(()),
            found => Err(ExpandError::BlockCount { found, size }),
        };
        match self {
            Self::Alltoallv { send, receive } => table(send).and(table(receive)),
            Self::Gatherv { receive, .. } => table(receive),
            Self::Scatterv { send, .. } => table(send),
            Self::Allgatherv { blocks } | Self::ReduceScatter { blocks } => table(blocks),
            _ => Ok(()),
        }
    }
}

/// Appends to `out` the operations of rank `rank` of `communicator` in this collective by `algorithm`, on which all
/// ranks must agree ([`Agreement::call`]).
///
/// `communicator` lists the tasks by rank. All messages carry `tag`, which must be the same on all ranks and differ
/// from that of other collectives that may be in progress between the same tasks ([`Tag::collective`] of the running
/// number of the collective on its communicator). Requests are taken from `requests` and given back.
///
/// # Errors
/// When `rank`, the root or a table does not fit the communicator, or the algorithm does not implement the operation;
/// nothing is appended then.
pub fn expand(
    collective: &Collective,
    algorithm: Algorithm,
    communicator: &[TaskId],
    rank: usize,
    tag: Tag,
    requests: &mut RequestPool,
    out: &mut Vec<Event>,
) -> Result<(), ExpandError> {
    let size = communicator.len();
    if rank >= size {
        return Err(ExpandError::NoSuchRank { rank, size });
    }
    collective.check(size)?;
    if !algorithm.serves(collective.name()) {
        return Err(ExpandError::Algorithm { algorithm: algorithm.name(), operation: collective.name() });
    }
    if let Some((row, kind, bytes)) = shared::vector(collective, algorithm, size) {
        let script = Script { communicator, rank, tag, requests, out };
        return shared::expand(row, kind, bytes, collective.root().unwrap_or(0), script);
    }
    let mut script = Script { communicator, rank, tag, requests, out };
    let doubling = algorithm == Algorithm::RecursiveDoubling && size.is_power_of_two();
    let same = |bytes: u64| vec![bytes; size];
    match (collective, algorithm) {
        (Collective::Barrier, Algorithm::Linear) => {
            tree::gatherv(&mut script, 0, 0, &same(0));
            tree::scatterv(&mut script, 0, &same(0), 0);
        }
        (Collective::Barrier, _) => exchange::barrier(&mut script),
        (Collective::Broadcast { root, bytes }, Algorithm::Linear) => {
            tree::scatterv(&mut script, *root, &same(*bytes), *bytes);
        }
        (Collective::Broadcast { root, bytes }, Algorithm::ScatterRing) => {
            pieces::broadcast(&mut script, *root, *bytes, false);
        }
        (Collective::Broadcast { root, bytes }, Algorithm::ScatterDoubling) => {
            pieces::broadcast(&mut script, *root, *bytes, true);
        }
        (Collective::Broadcast { root, bytes }, _) => tree::broadcast(&mut script, *root, *bytes),
        (Collective::Reduce { root, bytes }, Algorithm::Linear) => {
            tree::gatherv(&mut script, *root, *bytes, &same(*bytes));
        }
        (Collective::Reduce { root, bytes }, Algorithm::Rabenseifner) => pieces::reduce(&mut script, *root, *bytes),
        (Collective::Reduce { root, bytes }, _) => tree::reduce(&mut script, *root, *bytes),
        (Collective::Allreduce { bytes }, Algorithm::Rabenseifner) => pieces::allreduce(&mut script, *bytes),
        (Collective::Allreduce { bytes }, _) => exchange::allreduce(&mut script, *bytes),
        (Collective::Alltoall { bytes }, Algorithm::Bruck) => blocks::alltoall(&mut script, *bytes),
        (Collective::Alltoall { bytes }, Algorithm::Scattered) => {
            blocks::scattered(&mut script, |_| *bytes, |_| *bytes);
        }
        (Collective::Alltoall { bytes }, _) => exchange::pairwise(&mut script, |_| *bytes, |_| *bytes),
        (Collective::Alltoallv { send, receive }, Algorithm::Scattered) => {
            blocks::scattered(&mut script, |to| send[to], |from| receive[from]);
        }
        (Collective::Alltoallv { send, receive }, _) => {
            exchange::pairwise(&mut script, |to| send[to], |from| receive[from]);
        }
        (Collective::Gather { root, bytes }, Algorithm::Linear) => {
            tree::gatherv(&mut script, *root, *bytes, &same(*bytes));
        }
        (Collective::Gather { root, bytes }, _) => tree::gather(&mut script, *root, *bytes),
        (Collective::Gatherv { root, send, receive }, _) => tree::gatherv(&mut script, *root, *send, receive),
        (Collective::Scatter { root, bytes }, Algorithm::Linear) => {
            tree::scatterv(&mut script, *root, &same(*bytes), *bytes);
        }
        (Collective::Scatter { root, bytes }, _) => tree::scatter(&mut script, *root, *bytes),
        (Collective::Scatterv { root, send, receive }, _) => tree::scatterv(&mut script, *root, send, *receive),
        (Collective::Allgather { bytes }, Algorithm::Ring) => exchange::ring(&mut script, |_| *bytes),
        (Collective::Allgather { bytes }, _) if doubling => blocks::doubling(&mut script, |_| *bytes),
        (Collective::Allgather { bytes }, _) => blocks::allgather(&mut script, |_| *bytes),
        (Collective::Allgatherv { blocks }, Algorithm::Ring) => exchange::ring(&mut script, |block| blocks[block]),
        (Collective::Allgatherv { blocks }, _) if doubling => blocks::doubling(&mut script, |block| blocks[block]),
        (Collective::Allgatherv { blocks }, _) => blocks::allgather(&mut script, |block| blocks[block]),
        (Collective::ReduceScatter { blocks }, Algorithm::RecursiveHalving) => {
            pieces::reduce_scatter(&mut script, blocks);
        }
        (Collective::ReduceScatter { blocks }, _) => {
            exchange::pairwise(&mut script, |to| blocks[to], |_| blocks[rank]);
        }
        (Collective::Scan { bytes } | Collective::Exscan { bytes }, _) => exchange::scan(&mut script, *bytes),
    }
    Ok(())
}

/// The operations of one rank in one collective, under construction. Ranks are those of the communicator.
struct Script<'a> {
    /// The tasks of the communicator, by rank.
    communicator: &'a [TaskId],
    /// The rank whose operations are written.
    rank: usize,
    /// Tag of all messages.
    tag: Tag,
    requests: &'a mut RequestPool,
    /// The program of the rank, to which operations are appended.
    out: &'a mut Vec<Event>,
}

impl Script<'_> {
    /// Number of ranks of the communicator.
    fn size(&self) -> usize {
        self.communicator.len()
    }

    fn outgoing(&self, to: usize, bytes: u64) -> Send {
        Send { to: self.communicator[to], tag: self.tag, bytes }
    }

    fn incoming(&self, from: usize, bytes: u64) -> Receive {
        Receive { from: Some(self.communicator[from]), tag: TagFilter::Exactly(self.tag), bytes }
    }

    /// Appends a blocking send.
    fn send(&mut self, to: usize, bytes: u64) {
        self.out.push(Event::Send(self.outgoing(to, bytes)));
    }

    /// Appends a blocking receive.
    fn receive(&mut self, from: usize, bytes: u64) {
        self.out.push(Event::Recv(self.incoming(from, bytes)));
    }

    /// Sends and receives simultaneously, like `MPI_Sendrecv`.
    fn exchange(&mut self, to: usize, sent: u64, from: usize, received: u64) {
        let (receiving, sending) = (self.requests.take(), self.requests.take());
        self.out.push(Event::Irecv(self.incoming(from, received), receiving));
        self.out.push(Event::Isend(self.outgoing(to, sent), sending));
        self.out.push(Event::WaitAll(Box::new([receiving, sending])));
        self.requests.give_back(sending);
        self.requests.give_back(receiving);
    }
}
