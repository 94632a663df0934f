//! What a call of one process means, whatever the log that it was read from.

use crate::trace::formats::error::Fault;
use crate::trace::formats::text::bad;

/// A communicator as a call names it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::trace::formats) enum Comm {
    /// `MPI_COMM_WORLD`.
    World,
    /// `MPI_COMM_SELF`.
    Own,
    /// One that a call has created, by the process's own name for it.
    Handle(i64),
    /// The same, or the world, where the log tells the process's rank and the number of members beside the name.
    Told { id: i64, rank: u32, size: u32 },
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
    /// `None` for any.
    pub(in crate::trace::formats) label: Option<i64>,
    pub(in crate::trace::formats) bytes: u64,
    pub(in crate::trace::formats) comm: Comm,
}

/// What a rank gives and gets in an operation with a root. Where the log does not tell it, as it need not for the side that
/// does not count: what is wrong with it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::trace::formats) struct Rooted<S, R> {
    pub(in crate::trace::formats) root: u32,
    /// \[bytes\] Of the block, or of each one.
    pub(in crate::trace::formats) send: Result<S, String>,
    /// \[bytes\] Of the block, or of each one.
    pub(in crate::trace::formats) receive: Result<R, String>,
}

/// Which collective, and what this rank gives.
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
    /// \[bytes\] For each rank, and from each one if that is told.
    Alltoallv {
        send: Vec<u64>,
        receive: Option<Vec<u64>>,
    },
    /// \[bytes\] From each rank.
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
    /// Each of them is told.
    Each(Vec<u64>),
    /// They stand one after another in memory.
    From { count: u64, first: u64 },
}

/// How a communicator is made of another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::trace::formats) enum How {
    Dup,
    Split {
        color: i64,
        key: i64,
    },
    /// Of the members of a group, by the process's name for it.
    Group(i64),
    /// A grid of these sizes, of the first ranks.
    Grid(Vec<u64>),
    /// The grids that remain when some dimensions are left out.
    Remain(Vec<bool>),
}

impl How {
    /// The call.
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

/// How a group is made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::trace::formats) enum Group {
    /// The members of a communicator.
    Of(Comm),
    /// These ranks of another group.
    Include(i64, Vec<u32>),
    /// The ranks of another group but these.
    Exclude(i64, Vec<u32>),
    /// In a way that is not followed, or it is given up.
    Unknown,
}

/// The process's name for `MPI_GROUP_EMPTY`.
pub(in crate::trace::formats) const EMPTY_GROUP: i64 = i64::MIN;

/// An operation that may be begun again and again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::trace::formats) enum Persistent {
    Send(Message),
    Receive(Message),
}

/// A call that means something.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::trace::formats) enum Call {
    /// Of no effect on messages; its time is the program's.
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
    /// Begins persistent operations.
    Start(Vec<u64>),
    /// A receive is called off.
    Cancel(u64),
    /// A request is given up: what it stands for completes by itself.
    Forget(u64),
    Collective(Operation, Comm),
    Create {
        comm: Comm,
        how: How,
        new: i64,
    },
    Group {
        group: Group,
        new: i64,
    },
    /// The process asks for its rank, or for the number of members, and this is the answer.
    RankOf(Comm, u32),
    SizeOf(Comm, u32),
}

/// \[ps\] Readings of clocks. Only differences mean anything.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(in crate::trace::formats) struct Clocks {
    pub(in crate::trace::formats) wall: Option<i128>,
    /// CPU time of the process.
    pub(in crate::trace::formats) cpu: Option<i128>,
}

/// A call and when it began and ended.
#[derive(Debug)]
pub(in crate::trace::formats) struct Record {
    pub(in crate::trace::formats) begin: Clocks,
    pub(in crate::trace::formats) end: Clocks,
    pub(in crate::trace::formats) call: Call,
}

/// \[ps\] A time in units of 10^`digits` ps, with up to so many decimals (more are cut off).
pub(in crate::trace::formats) fn picoseconds(word: &str, digits: usize, expected: &'static str) -> Result<i128, Fault> {
    let wrong = || bad("time", word, expected);
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
