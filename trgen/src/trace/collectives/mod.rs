//! Collective operations as point-to-point messages, one named algorithm each.
//!
//! [`expand`] writes what one rank of a communicator does; calling it for every rank gives the whole operation. The
//! patterns are those of the literature and of MPICH; [`ALGORITHMS`] names them.
//!
//! # How the model departs from reality, and who could notice
//! - One algorithm per operation, whatever the size. A real library changes algorithm with message size and
//!   communicator; a user who studies large broadcasts or reductions (scatter + allgather, Rabenseifner) would notice.
//! - Messages of zero bytes are sent. MPICH returns early from an operation of zero bytes and leaves out empty blocks
//!   of the `v` operations; Open MPI sends them. Sending them keeps the messages of one rank independent of whether
//!   another rank's counts agree with its own, so that a trace can never hang on a recorded zero.
//! - The block that a rank keeps for itself costs nothing, and neither does the arithmetic of a reduction.
//!
//! Every exchange posts its receive before its send and waits for both, so that the patterns complete under eager and
//! rendezvous sends alike.

mod agreement;
mod exchange;
mod requests;
mod tree;

pub use agreement::{Agreement, Disagreement};
pub use requests::RequestPool;

use super::program::{Event, Receive, Send, Tag, TagFilter};
use crate::catalog::Component;
use crate::units::TaskId;

/// One collective operation, as one rank calls it. Ranks are those of the communicator; sizes are in bytes.
///
/// Sizes are what *this* rank passed. In a correct program the ranks agree; if they do not, messages still match
/// (matching never looks at sizes), and each message has the size that its sender believes in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Collective {
    /// Nobody leaves before everybody has entered.
    Barrier,
    /// The root's data reach everybody.
    Broadcast {
        /// Rank that has the data.
        root: usize,
        /// \[bytes\] Size of the data.
        bytes: u64,
    },
    /// Everybody's data, combined, reach the root.
    Reduce {
        /// Rank that gets the result.
        root: usize,
        /// \[bytes\] Size of each contribution and of the result.
        bytes: u64,
    },
    /// Everybody's data, combined, reach everybody.
    Allreduce {
        /// \[bytes\] Size of each contribution and of the result.
        bytes: u64,
    },
    /// Everybody has a block for everybody.
    Alltoall {
        /// \[bytes\] Size of each block.
        bytes: u64,
    },
    /// Everybody has a block for everybody, of any size.
    Alltoallv {
        /// \[bytes\] Size of the block for each rank.
        send: Vec<u64>,
        /// \[bytes\] Size of the block from each rank.
        receive: Vec<u64>,
    },
    /// A block from everybody reaches the root.
    Gather {
        /// Rank that collects.
        root: usize,
        /// \[bytes\] Size of each block.
        bytes: u64,
    },
    /// A block from everybody reaches the root, of any size.
    Gatherv {
        /// Rank that collects.
        root: usize,
        /// \[bytes\] Size of the block of this rank.
        send: u64,
        /// \[bytes\] Size of the block from each rank; looked at only on the root.
        receive: Vec<u64>,
    },
    /// The root has a block for everybody.
    Scatter {
        /// Rank that distributes.
        root: usize,
        /// \[bytes\] Size of each block.
        bytes: u64,
    },
    /// The root has a block for everybody, of any size.
    Scatterv {
        /// Rank that distributes.
        root: usize,
        /// \[bytes\] Size of the block for each rank; looked at only on the root.
        send: Vec<u64>,
        /// \[bytes\] Size of the block of this rank.
        receive: u64,
    },
    /// A block from everybody reaches everybody.
    Allgather {
        /// \[bytes\] Size of each block.
        bytes: u64,
    },
    /// A block from everybody reaches everybody, of any size.
    Allgatherv {
        /// \[bytes\] Size of the block of each rank.
        blocks: Vec<u64>,
    },
    /// Everybody's data, combined; each rank gets its block of the result.
    ReduceScatter {
        /// \[bytes\] Size of the block of the result that each rank gets.
        blocks: Vec<u64>,
    },
    /// Each rank gets the combination of the data of all ranks up to and with itself.
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
        /// The rank that was named.
        rank: usize,
        /// Ranks of the communicator.
        size: usize,
    },
    /// A table of block sizes has not one entry per rank.
    #[error("{found} block sizes for a communicator of {size}")]
    BlockCount {
        /// Entries of the table.
        found: usize,
        /// Ranks of the communicator.
        size: usize,
    },
}

const DISSEMINATION: Component = algorithm(
    "dissemination",
    "barrier: in round k each rank signals the rank 2^k further on; 0 bytes, ceil(log2 p) rounds",
    "Hensgen, Finkel, Manber 1988; MPICH",
);
const BINOMIAL: Component = algorithm(
    "binomial-tree",
    "broadcast, reduce, gather, scatter: tree of depth ceil(log2 p) rooted at the root; gather and scatter carry whole \
     subtrees",
    "Thakur, Rabenseifner, Gropp 2005, section 4; MPICH (short messages)",
);
const RECURSIVE_DOUBLING: Component = algorithm(
    "recursive-doubling",
    "allreduce, scan, exscan: exchange with rank xor 2^k; allreduce folds the ranks beyond a power of two into their \
     neighbours first",
    "Thakur, Rabenseifner, Gropp 2005, section 4.5; MPICH (short messages)",
);
const PAIRWISE: Component = algorithm(
    "pairwise-exchange",
    "alltoall, alltoallv, reduce_scatter: in step k send to rank + k, receive from rank - k (mod p), and wait; p - 1 \
     steps",
    "Thakur, Rabenseifner, Gropp 2005, sections 4.3 and 4.4; MPICH (long messages)",
);
const RING: Component = algorithm(
    "ring",
    "allgather, allgatherv: in each of p - 1 steps pass the newest block on to rank + 1",
    "Thakur, Rabenseifner, Gropp 2005, section 4.1; MPICH (long messages)",
);
const LINEAR: Component =
    algorithm("linear", "gatherv, scatterv: the root exchanges one message with every other rank", "MPICH");

/// The algorithms that collectives are expanded by.
pub const ALGORITHMS: &[Component] = &[DISSEMINATION, BINOMIAL, RECURSIVE_DOUBLING, PAIRWISE, RING, LINEAR];

const fn algorithm(name: &'static str, about: &'static str, source: &'static str) -> Component {
    Component { name, about, parameters: &[], source }
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

    /// The algorithm that [`expand`] uses for it.
    #[must_use]
    pub const fn algorithm(&self) -> &'static Component {
        match self {
            Self::Barrier => &DISSEMINATION,
            Self::Broadcast { .. } | Self::Reduce { .. } | Self::Gather { .. } | Self::Scatter { .. } => &BINOMIAL,
            Self::Allreduce { .. } | Self::Scan { .. } | Self::Exscan { .. } => &RECURSIVE_DOUBLING,
            Self::Alltoall { .. } | Self::Alltoallv { .. } | Self::ReduceScatter { .. } => &PAIRWISE,
            Self::Allgather { .. } | Self::Allgatherv { .. } => &RING,
            Self::Gatherv { .. } | Self::Scatterv { .. } => &LINEAR,
        }
    }

    /// True if root and tables fit a communicator of `size` ranks.
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

/// Appends to `out` what the rank `rank` of `communicator` does in this collective.
///
/// `communicator` lists the tasks by rank. All messages carry `tag`, which must be the same on all ranks and differ
/// from that of other collectives that may be under way between the same tasks ([`Tag::collective`] of the running
/// number of the collective on its communicator). Requests are taken from `requests` and given back.
///
/// # Errors
/// When `rank`, the root or a table does not fit the communicator; nothing is appended then.
pub fn expand(
    collective: &Collective,
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
    let mut script = Script { communicator, rank, tag, requests, out };
    match collective {
        Collective::Barrier => exchange::barrier(&mut script),
        Collective::Broadcast { root, bytes } => tree::broadcast(&mut script, *root, *bytes),
        Collective::Reduce { root, bytes } => tree::reduce(&mut script, *root, *bytes),
        Collective::Allreduce { bytes } => exchange::allreduce(&mut script, *bytes),
        Collective::Alltoall { bytes } => exchange::pairwise(&mut script, |_| *bytes, |_| *bytes),
        Collective::Alltoallv { send, receive } => exchange::pairwise(&mut script, |to| send[to], |from| receive[from]),
        Collective::Gather { root, bytes } => tree::gather(&mut script, *root, *bytes),
        Collective::Gatherv { root, send, receive } => tree::gatherv(&mut script, *root, *send, receive),
        Collective::Scatter { root, bytes } => tree::scatter(&mut script, *root, *bytes),
        Collective::Scatterv { root, send, receive } => tree::scatterv(&mut script, *root, send, *receive),
        Collective::Allgather { bytes } => exchange::ring(&mut script, |_| *bytes),
        Collective::Allgatherv { blocks } => exchange::ring(&mut script, |block| blocks[block]),
        Collective::ReduceScatter { blocks } => {
            exchange::pairwise(&mut script, |to| blocks[to], |_| blocks[rank]);
        }
        Collective::Scan { bytes } | Collective::Exscan { bytes } => exchange::scan(&mut script, *bytes),
    }
    Ok(())
}

/// One rank's part of one collective while it is being written. Ranks are those of the communicator.
struct Script<'a> {
    communicator: &'a [TaskId],
    rank: usize,
    tag: Tag,
    requests: &'a mut RequestPool,
    out: &'a mut Vec<Event>,
}

impl Script<'_> {
    fn size(&self) -> usize {
        self.communicator.len()
    }

    fn outgoing(&self, to: usize, bytes: u64) -> Send {
        Send { to: self.communicator[to], tag: self.tag, bytes }
    }

    fn incoming(&self, from: usize, bytes: u64) -> Receive {
        Receive { from: Some(self.communicator[from]), tag: TagFilter::Exactly(self.tag), bytes }
    }

    fn send(&mut self, to: usize, bytes: u64) {
        self.out.push(Event::Send(self.outgoing(to, bytes)));
    }

    fn receive(&mut self, from: usize, bytes: u64) {
        self.out.push(Event::Recv(self.incoming(from, bytes)));
    }

    /// Sends and receives at once, as `MPI_Sendrecv` does.
    fn exchange(&mut self, to: usize, sent: u64, from: usize, received: u64) {
        let (receiving, sending) = (self.requests.take(), self.requests.take());
        self.out.push(Event::Irecv(self.incoming(from, received), receiving));
        self.out.push(Event::Isend(self.outgoing(to, sent), sending));
        self.out.push(Event::WaitAll(Box::new([receiving, sending])));
        self.requests.give_back(sending);
        self.requests.give_back(receiving);
    }
}
