//! Meaning of one process's calls, independent of the format of the log.

use crate::trace::formats::error::Fault;
use crate::trace::formats::text::invalid;

/// A communicator as a call refers to it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::trace::formats) enum Comm {
    /// `MPI_COMM_WORLD`.
    World,
    /// `MPI_COMM_SELF`.
    Own,
    /// One that a call has created, by its handle in the process.
    Handle(i64),
    /// A communicator by its handle, with the rank of the process in it and its size, as some logs state them.
    Stated { id: i64, rank: u32, size: u32 },
}

/// The other side of a message, as a rank of the communicator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::trace::formats) enum Peer {
    Any,
    /// `MPI_PROC_NULL`.
    Nobody,
    Rank(u32),
}

/// A message operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::trace::formats) struct Message {
    pub(in crate::trace::formats) peer: Peer,
    /// Tag; `None` for any.
    pub(in crate::trace::formats) label: Option<i64>,
    pub(in crate::trace::formats) bytes: u64,
    pub(in crate::trace::formats) comm: Comm,
}

/// The sizes that a rank sends and receives in an operation with a root. The log may lack a size that has no meaning
/// for the rank; the text of the error stands in its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::trace::formats) struct Rooted<S, R> {
    pub(in crate::trace::formats) root: u32,
    /// \[bytes\] Size of the block, or of each one.
    pub(in crate::trace::formats) send: Result<S, String>,
    /// \[bytes\] Size of the block, or of each one.
    pub(in crate::trace::formats) receive: Result<R, String>,
}

/// A collective, with the arguments of this rank.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::trace::formats) enum Operation {
    Barrier,
    Bcast {
        root: u32,
        bytes: u64,
    },
    Reduce {
        root: u32,
        bytes: u64,
    },
    Allreduce {
        bytes: u64,
    },
    Scan {
        bytes: u64,
    },
    Exscan {
        bytes: u64,
    },
    Alltoall {
        bytes: u64,
    },
    Allgather {
        bytes: u64,
    },
    Gather(Rooted<u64, u64>),
    Gatherv(Rooted<u64, Vec<u64>>),
    Scatter(Rooted<u64, u64>),
    Scatterv(Rooted<Vec<u64>, u64>),
    /// \[bytes\] Sizes of the blocks for each rank, and from each rank if recorded.
    Alltoallv {
        send: Vec<u64>,
        receive: Option<Vec<u64>>,
    },
    /// \[bytes\] Sizes of the blocks from each rank.
    Allgatherv {
        blocks: Vec<u64>,
    },
    ReduceScatter {
        blocks: Vec<u64>,
    },
}

/// An array of requests.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::trace::formats) enum Requests {
    /// The handles of all requests.
    Each(Vec<u64>),
    /// `count` handles that are consecutive in memory, from the address `first` on.
    From { count: u64, first: u64 },
}

/// How a new communicator is derived from an existing one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::trace::formats) enum Creation {
    Dup,
    Split {
        color: i64,
        key: i64,
    },
    /// From the members of a group, by its handle in the process.
    Group(i64),
    /// A grid of these sizes, of the first ranks.
    Grid(Vec<u64>),
    /// Subgrids that keep some dimensions.
    Remain(Vec<bool>),
}

impl Creation {
    /// Name of the call.
    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::Dup => "dup",
            Self::Split { .. } => "split",
            Self::Group(_) => "create",
            Self::Grid(_) => "cart_create",
            Self::Remain(_) => "cart_sub",
        }
    }
}

/// How a group is derived.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::trace::formats) enum Group {
    /// The members of a communicator.
    Of(Comm),
    /// These ranks of another group.
    Include(i64, Vec<u32>),
    /// The ranks of another group but these.
    Exclude(i64, Vec<u32>),
    /// In a way that is not supported, or the group is freed.
    Unknown,
}

/// The handle of `MPI_GROUP_EMPTY`.
pub(in crate::trace::formats) const EMPTY_GROUP: i64 = i64::MIN;

/// A persistent operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::trace::formats) enum Persistent {
    Send(Message),
    Receive(Message),
}

/// A call, as far as it affects messages. A `u64` is the handle of a request in the process.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::trace::formats) enum Call {
    /// A call without effect on messages; its time counts as computing.
    Ignored,
    Send(Message),
    Isend(Message, u64),
    Recv(Message),
    Irecv(Message, u64),
    Sendrecv(Message, Message),
    Wait(u64),
    Waitall(Requests),
    Waitany(Requests),
    /// A persistent operation and its request.
    Prepare(Persistent, u64),
    /// Starts persistent operations.
    Start(Vec<u64>),
    /// Cancels a receive.
    Cancel(u64),
    /// Frees a request; its operation completes by itself.
    Forget(u64),
    Collective(Operation, Comm),
    Create {
        comm: Comm,
        how: Creation,
        /// Handle of the new communicator.
        new: i64,
    },
    Group {
        group: Group,
        /// Handle of the new group.
        new: i64,
    },
    /// The process asks for its rank, with this result.
    RankOf(Comm, u32),
    /// The process asks for the size of a communicator, with this result.
    SizeOf(Comm, u32),
}

/// \[ps\] Clock readings, of which only differences have a meaning.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(in crate::trace::formats) struct Clocks {
    pub(in crate::trace::formats) wall: Option<i128>,
    /// CPU time of the process.
    pub(in crate::trace::formats) cpu: Option<i128>,
}

/// A call with the times of its beginning and end.
#[derive(Debug)]
pub(in crate::trace::formats) struct Record {
    pub(in crate::trace::formats) begin: Clocks,
    pub(in crate::trace::formats) end: Clocks,
    pub(in crate::trace::formats) call: Call,
}

/// \[ps\] Parses a time in units of 10^`digits` ps, with up to `digits` decimals (further ones are truncated).
/// `expected` describes the unit in errors.
pub(in crate::trace::formats) fn picoseconds(word: &str, digits: usize, expected: &'static str) -> Result<i128, Fault> {
    let wrong = || invalid("time", word, expected);
    let (whole, fraction) = word.split_once('.').unwrap_or((word, ""));
    let plain = |text: &str| text.len() <= 18 && text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !plain(whole) || !plain(fraction) {
        return Err(wrong());
    }
    let whole: i128 = whole.parse().map_err(|_| wrong())?;
    let padded: String = fraction.chars().chain(std::iter::repeat('0')).take(digits).collect();
    let fraction: i128 = padded.parse().map_err(|_| wrong())?;
    Ok(whole * 10_i128.pow(digits as u32) + fraction)
}
