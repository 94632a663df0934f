//! One line: a call with its arguments, checked and with sizes in bytes.

use super::unfollowed;
use crate::trace::formats::error::Fault;
use crate::trace::formats::mpi::call::{
    Call, Clocks, Comm, Creation, Message, Operation, Peer, Persistent, Record, Requests, Rooted, picoseconds,
};
use crate::trace::formats::text::{self, MAX_MESSAGE, invalid};

/// Calls without an effect on the program.
const IGNORED: &[&str] = &[
    "Init",
    "Init_thread",
    "Finalize",
    "Initialized",
    "Comm_rank",
    "Comm_size",
    "Comm_free",
    "Iprobe",
    "Test",
    "Testall",
    "Testany",
    "Get_count",
    "Get_processor_name",
    "Wtime",
    "Wtick",
    "Abort",
    "Address",
    "Get_address",
    "Op_create",
    "Op_free",
];

/// Calls with an effect on the program.
pub(super) const KNOWN: &[&str] = &[
    "Send",
    "Bsend",
    "Ssend",
    "Rsend",
    "Isend",
    "Ibsend",
    "Issend",
    "Irsend",
    "Recv",
    "Irecv",
    "Sendrecv",
    "Send_init",
    "Recv_init",
    "Start",
    "Startall",
    "Wait",
    "Waitall",
    "Waitany",
    "Cancel",
    "Request_free",
    "Barrier",
    "Bcast",
    "Reduce",
    "Allreduce",
    "Scan",
    "Exscan",
    "Alltoall",
    "Alltoallv",
    "Allgather",
    "Allgatherv",
    "Gather",
    "Gatherv",
    "Scatter",
    "Scatterv",
    "Reduce_scatter",
    "Comm_split",
    "Comm_dup",
];

/// The name of the call in a line, without `MPI_`.
pub(super) fn name(line: &str) -> &str {
    let word = line.split(':').next().unwrap_or_default();
    word.strip_prefix("MPI_").unwrap_or(word)
}

/// Parses a line.
pub(super) fn parse(line: &str) -> Result<Record, Fault> {
    let words: Vec<&str> = line.split(':').collect();
    let name = name(line);
    let args = Args { name: words[0], words: words.get(1..).unwrap_or_default() };
    if args.words.len() < 2 {
        return Err(args.wrong("NAME:BEGIN:...:END"));
    }
    let call = match name {
        "Send" | "Bsend" | "Ssend" | "Rsend" => {
            args.check_count(8, "t:buf:count:type:dest:tag:comm:t")?;
            Call::Send(args.message(2, 4)?)
        }
        "Isend" | "Ibsend" | "Issend" | "Irsend" => {
            args.check_count(9, "t:buf:count:type:dest:tag:comm:request:t")?;
            Call::Isend(args.message(2, 4)?, args.address(7)?)
        }
        "Recv" => {
            args.check_count(9, "t:buf:count:type:source:tag:comm:status:t")?;
            Call::Recv(args.message(2, 4)?)
        }
        "Irecv" => {
            args.check_count(9, "t:buf:count:type:source:tag:comm:request:t")?;
            Call::Irecv(args.message(2, 4)?, args.address(7)?)
        }
        "Sendrecv" => {
            args.check_count(14, "t:sbuf:count:type:dest:tag:rbuf:count:type:source:tag:comm:status:t")?;
            let comm = args.comm(11)?;
            Call::Sendrecv(args.message_on(2, 4, comm)?, args.message_on(7, 9, comm)?)
        }
        "Send_init" | "Bsend_init" | "Ssend_init" | "Rsend_init" => {
            args.check_count(9, "t:buf:count:type:dest:tag:comm:request:t")?;
            Call::Prepare(Persistent::Send(args.message(2, 4)?), args.address(7)?)
        }
        "Recv_init" => {
            args.check_count(9, "t:buf:count:type:source:tag:comm:request:t")?;
            Call::Prepare(Persistent::Receive(args.message(2, 4)?), args.address(7)?)
        }
        // Logs of earlier versions do not name the started operation.
        "Start" if args.words.len() > 2 => {
            args.check_count(4, "t:request:0:t")?;
            Call::Start(vec![args.address(1)?])
        }
        "Startall" if args.words.len() > 2 => {
            args.check_count(5, "t:count:requests:0:t")?;
            match args.requests(1)? {
                Requests::Each(requests) => Call::Start(requests),
                Requests::From { .. } => return Err(invalid("requests", args.words[2], "each of them, as in 64;72;")),
            }
        }
        "Cancel" => {
            args.check_count(4, "t:request:0:t")?;
            Call::Cancel(args.address(1)?)
        }
        "Request_free" => {
            args.check_count(4, "t:request:0:t")?;
            Call::Forget(args.address(1)?)
        }
        "Wait" => {
            args.check_count(4, "t:request:status:t")?;
            Call::Wait(args.address(1)?)
        }
        "Waitall" => {
            args.check_count(5, "t:count:requests:statuses:t")?;
            Call::Waitall(args.requests(1)?)
        }
        "Waitany" => {
            args.check_count(6, "t:count:requests:index:status:t")?;
            Call::Waitany(args.requests(1)?)
        }
        "Barrier" => {
            args.check_count(3, "t:comm:t")?;
            Call::Collective(Operation::Barrier, args.comm(1)?)
        }
        "Bcast" => {
            args.check_count(7, "t:buf:count:type:root:comm:t")?;
            Call::Collective(Operation::Bcast { root: args.rank(4)?, bytes: args.bytes(2)? }, args.comm(5)?)
        }
        "Reduce" => {
            args.check_count(9, "t:sbuf:rbuf:count:type:op:root:comm:t")?;
            Call::Collective(Operation::Reduce { root: args.rank(6)?, bytes: args.bytes(3)? }, args.comm(7)?)
        }
        "Allreduce" | "Scan" | "Exscan" => {
            args.check_count(8, "t:sbuf:rbuf:count:type:op:comm:t")?;
            let bytes = args.bytes(3)?;
            let operation = match name {
                "Allreduce" => Operation::Allreduce { bytes },
                "Scan" => Operation::Scan { bytes },
                _ => Operation::Exscan { bytes },
            };
            Call::Collective(operation, args.comm(6)?)
        }
        "Alltoall" | "Allgather" => {
            args.check_count(9, "t:sbuf:count:type:rbuf:count:type:comm:t")?;
            let bytes = args.bytes(2)?;
            let all = name == "Alltoall";
            let operation = if all { Operation::Alltoall { bytes } } else { Operation::Allgather { bytes } };
            Call::Collective(operation, args.comm(7)?)
        }
        "Gather" | "Scatter" => {
            args.check_count(10, "t:sbuf:count:type:rbuf:count:type:root:comm:t")?;
            let (root, bytes) = (args.rank(7)?, args.bytes(2)?.max(args.bytes(5)?));
            let rooted = Rooted { root, send: Ok(bytes), receive: Ok(bytes) };
            let operation = if name == "Gather" { Operation::Gather(rooted) } else { Operation::Scatter(rooted) };
            Call::Collective(operation, args.comm(8)?)
        }
        "Gatherv" => {
            args.check_count(10, "t:sbuf:count:type:rbuf:count;count;...:type:root:comm:t")?;
            let (send, receive) = (Ok(args.bytes(2)?), Ok(args.blocks(5, 6)?));
            Call::Collective(Operation::Gatherv(Rooted { root: args.rank(7)?, send, receive }), args.comm(8)?)
        }
        "Scatterv" => {
            args.check_count(10, "t:sbuf:count;count;...:type:rbuf:count:type:root:comm:t")?;
            let (send, receive) = (Ok(args.blocks(2, 3)?), Ok(args.bytes(5)?));
            Call::Collective(Operation::Scatterv(Rooted { root: args.rank(7)?, send, receive }), args.comm(8)?)
        }
        "Alltoallv" => {
            args.check_count(6, "t:sbuf:count;count;...:type:comm:t")?;
            Call::Collective(Operation::Alltoallv { send: args.blocks(2, 3)?, receive: None }, args.comm(4)?)
        }
        "Allgatherv" | "Reduce_scatter" => {
            args.check_count(6, "t:buf:count;count;...:type:comm:t")?;
            let blocks = args.blocks(2, 3)?;
            let gather = name == "Allgatherv";
            let operation = if gather { Operation::Allgatherv { blocks } } else { Operation::ReduceScatter { blocks } };
            Call::Collective(operation, args.comm(4)?)
        }
        "Comm_split" => {
            args.check_count(6, "t:comm:color:key:new:t")?;
            let how = Creation::Split { color: args.integer(2)?, key: args.integer(3)? };
            Call::Create { comm: args.comm(1)?, how, new: args.integer(4)? }
        }
        "Comm_dup" => {
            args.check_count(4, "t:comm:new:t")?;
            Call::Create { comm: args.comm(1)?, how: Creation::Dup, new: args.integer(2)? }
        }
        name if IGNORED.contains(&name) || name.starts_with("Type_") || unfollowed::left_out(name).is_some() => {
            Call::Ignored
        }
        _ => return Err(unfollowed::fault(words[0])),
    };
    let clocks = |word: &str| -> Result<Clocks, Fault> {
        let microseconds = || picoseconds(word, 6, "microseconds, such as 1234.567");
        Ok(Clocks { wall: if word == "-" { None } else { Some(microseconds()?) }, cpu: None })
    };
    Ok(Record { begin: clocks(args.words[0])?, end: clocks(args.words[args.words.len() - 1])?, call })
}

/// The arguments of a call: the words of a line after its name. Methods take the index `at` of an argument, from 0.
struct Args<'a, 'w> {
    /// The name, for errors.
    name: &'a str,
    words: &'w [&'a str],
}

impl Args<'_, '_> {
    /// The error of a line with another number of arguments than `usage` shows.
    fn wrong(&self, usage: &str) -> Fault {
        let (word, found) = (self.name.chars().take(40).collect(), self.words.len());
        Fault::Arguments { word, found, usage: usage.to_owned(), remedy: Some("the line may be cut short") }
    }

    /// Checks the number of arguments.
    fn check_count(&self, expected: usize, usage: &str) -> Result<(), Fault> {
        if self.words.len() == expected { Ok(()) } else { Err(self.wrong(usage)) }
    }

    /// A whole number, possibly negative.
    fn integer(&self, at: usize) -> Result<i64, Fault> {
        self.words[at].parse().map_err(|_| invalid("argument", self.words[at], "a whole number"))
    }

    /// A number of elements.
    fn number(&self, at: usize) -> Result<u64, Fault> {
        text::whole("count", self.words[at], 1 << 24)
    }

    /// The handle of a request, which is its address.
    fn address(&self, at: usize) -> Result<u64, Fault> {
        self.words[at].parse().map_err(|_| invalid("request", self.words[at], "an address as a decimal number"))
    }

    /// A count, followed by the first address, or by all of them separated by `;`.
    fn requests(&self, at: usize) -> Result<Requests, Fault> {
        let count = self.number(at)?;
        let word = self.words[at + 1];
        if !word.contains(';') {
            return Ok(Requests::From { count, first: self.address(at + 1)? });
        }
        let address = |part: &str| part.parse().map_err(|_| invalid("request", part, "an address as a decimal number"));
        word.split(';').filter(|part| !part.is_empty()).map(address).collect::<Result<_, _>>().map(Requests::Each)
    }

    /// The rank of a root.
    fn rank(&self, at: usize) -> Result<u32, Fault> {
        self.words[at].parse().map_err(|_| invalid("root", self.words[at], "a rank"))
    }

    /// \[bytes\] Size of the datatype `id,size,extent`.
    fn element(&self, at: usize) -> Result<u64, Fault> {
        let mut parts = self.words[at].split(',');
        let size = parts.nth(1).and_then(|size| size.parse::<u64>().ok()).filter(|&size| size <= MAX_MESSAGE);
        size.filter(|_| parts.count() == 1).ok_or_else(|| invalid("datatype", self.words[at], "id,size,extent"))
    }

    /// \[bytes\] Size given by a count and the following datatype.
    fn bytes(&self, at: usize) -> Result<u64, Fault> {
        self.size(self.words[at], self.element(at + 1)?)
    }

    /// \[bytes\] Size of `count` elements of `element` bytes.
    fn size(&self, count: &str, element: u64) -> Result<u64, Fault> {
        Ok(text::whole("count", count, MAX_MESSAGE / element.max(1))? * element)
    }

    /// \[bytes\] Sizes given by counts separated by `;`, and the datatype.
    fn blocks(&self, counts: usize, kind: usize) -> Result<Vec<u64>, Fault> {
        let element = self.element(kind)?;
        self.words[counts].split(';').map(|count| self.size(count, element)).collect()
    }

    /// A communicator `id,rank,size`.
    fn comm(&self, at: usize) -> Result<Comm, Fault> {
        let parts: Vec<i64> = self.words[at].split(',').filter_map(|part| part.parse().ok()).collect();
        match parts[..] {
            [id, rank, size] if rank >= 0 && rank < size && size <= 1 << 24 => {
                Ok(Comm::Stated { id, rank: rank as u32, size: size as u32 })
            }
            _ => Err(invalid("communicator", self.words[at], "id,rank,size with rank below size")),
        }
    }

    /// A message: count and datatype at `count`; peer, tag and communicator at `peer`.
    fn message(&self, count: usize, peer: usize) -> Result<Message, Fault> {
        self.message_on(count, peer, self.comm(peer + 2)?)
    }

    /// A message on a communicator: count and datatype at `count`; peer and tag at `peer`.
    fn message_on(&self, count: usize, peer: usize, comm: Comm) -> Result<Message, Fault> {
        let word = self.words[peer];
        let peer_of = match word {
            "-1" => Peer::Any,
            "-2" => Peer::Nobody,
            _ => {
                let expected = "a rank of the communicator, -1 for any, -2 for nobody";
                Peer::Rank(word.parse().map_err(|_| invalid("rank", word, expected))?)
            }
        };
        let label = Some(self.integer(peer + 1)?).filter(|&label| label != -1);
        Ok(Message { peer: peer_of, label, bytes: self.bytes(count)?, comm })
    }
}
