//! Meaning of calls and their arguments. Arguments have the names of the MPI standard, in the forms of its versions.

use super::datatypes::{self, Datatypes};
use super::text::{Arg, Args, Handle, Wrong};
use crate::catalog::suggestion;
use crate::trace::formats::error::Fault;
use crate::trace::formats::mpi::call::{
    Call, Comm, Creation, EMPTY_GROUP, Group, Message, Operation, Peer, Persistent, Requests, Rooted,
};
use crate::trace::formats::text::{MAX_MESSAGE, MAX_TASKS};

/// Calls that create communicators and groups.
const CREATORS: &[&str] = &["Comm_dup", "Comm_split", "Comm_create", "Cart_create", "Cart_sub", "Comm_group"];

/// Calls that create communicators in ways that are not supported.
const UNFOLLOWED: &[&str] = &[
    "Intercomm_create",
    "Intercomm_merge",
    "Graph_create",
    "Comm_spawn",
    "Comm_spawn_multiple",
    "Comm_accept",
    "Comm_connect",
    "Comm_join",
];

/// Calls that transfer data without messages.
const ONE_SIDED: &[&str] = &["Put", "Get", "Accumulate"];

/// Calls without messages, by the beginning of their names.
const SILENT: &[&str] = &[
    "Init",
    "Finalize",
    "Initialized",
    "Abort",
    "Pcontrol",
    "Wtime",
    "Wtick",
    "Address",
    "Get_",
    "Query_thread",
    "Is_thread",
    "Comm_",
    "Group_",
    "Type_",
    "Op_",
    "Cart_",
    "Cartdim_",
    "Graph",
    "Topo_",
    "Dims_",
    "Keyval_",
    "Attr_",
    "Errhandler_",
    "Error_",
    "Add_error_",
    "Buffer_",
    "Pack",
    "Unpack",
    "Probe",
    "Iprobe",
    "Test_cancelled",
    "Info_",
    "Win_",
    "File_",
    "Grequest_",
    "Status_",
    "Request_get_status",
    "Alloc_mem",
    "Free_mem",
    "Close_port",
    "Open_port",
    "Lookup_name",
    "Publish_name",
    "Unpublish_name",
    "Register_datarep",
];

/// Calls with an effect, for suggestions.
const KNOWN: &[&str] = &[
    "MPI_Send",
    "MPI_Bsend",
    "MPI_Ssend",
    "MPI_Rsend",
    "MPI_Isend",
    "MPI_Ibsend",
    "MPI_Issend",
    "MPI_Irsend",
    "MPI_Recv",
    "MPI_Irecv",
    "MPI_Sendrecv",
    "MPI_Sendrecv_replace",
    "MPI_Send_init",
    "MPI_Recv_init",
    "MPI_Start",
    "MPI_Startall",
    "MPI_Wait",
    "MPI_Waitall",
    "MPI_Waitany",
    "MPI_Waitsome",
    "MPI_Test",
    "MPI_Testall",
    "MPI_Testany",
    "MPI_Testsome",
    "MPI_Request_free",
    "MPI_Cancel",
    "MPI_Barrier",
    "MPI_Bcast",
    "MPI_Reduce",
    "MPI_Allreduce",
    "MPI_Scan",
    "MPI_Exscan",
    "MPI_Gather",
    "MPI_Gatherv",
    "MPI_Scatter",
    "MPI_Scatterv",
    "MPI_Allgather",
    "MPI_Allgatherv",
    "MPI_Alltoall",
    "MPI_Alltoallv",
    "MPI_Alltoallw",
    "MPI_Reduce_scatter",
    "MPI_Comm_dup",
    "MPI_Comm_split",
    "MPI_Comm_create",
    "MPI_Comm_rank",
    "MPI_Comm_size",
    "MPI_Cart_create",
    "MPI_Cart_sub",
    "MPI_Init",
    "MPI_Finalize",
];

/// True if the call creates a communicator or a group, or is rejected for the attempt.
pub(super) fn creates(call: &str) -> bool {
    call.strip_prefix("MPI_")
        .is_some_and(|name| CREATORS.contains(&name) || UNFOLLOWED.contains(&name) || name.starts_with("Group_"))
}

/// The kind of a call that is omitted, for a warning; `None` for a call that is read.
pub(super) fn left_out(call: &str) -> Option<&'static str> {
    let name = call.strip_prefix("MPI_").unwrap_or(call);
    match name {
        name if ONE_SIDED.contains(&name) || name.starts_with("Win_") => {
            Some("calls of one-sided operations, which are left out")
        }
        name if name.starts_with("File_") || name.starts_with("MPIO_") => Some("calls on files, which are left out"),
        _ => None,
    }
}

/// The meaning of the call with the arguments `args`. A call that creates a datatype is recorded in `datatypes`.
pub(super) fn meaning(args: &Args, datatypes: &mut Datatypes<'_>) -> Result<Call, Wrong> {
    let name = args.call().strip_prefix("MPI_").unwrap_or(args.call());
    if datatypes::creates(args.call()) {
        return datatypes.record_created(args).map(|()| Call::Ignored);
    }
    let read = Reading { args, datatypes };
    Ok(match name {
        "Send" | "Bsend" | "Ssend" | "Rsend" => Call::Send(read.message(&SEND)?),
        "Isend" | "Ibsend" | "Issend" | "Irsend" => Call::Isend(read.message(&SEND)?, read.request()?),
        "Recv" => Call::Recv(read.message(&RECEIVE)?),
        "Irecv" => Call::Irecv(read.message(&RECEIVE)?, read.request()?),
        "Send_init" | "Bsend_init" | "Ssend_init" | "Rsend_init" => {
            Call::Prepare(Persistent::Send(read.message(&SEND)?), read.request()?)
        }
        "Recv_init" => Call::Prepare(Persistent::Receive(read.message(&RECEIVE)?), read.request()?),
        "Sendrecv" | "Sendrecv_replace" => Call::Sendrecv(read.message(&SEND)?, read.message(&RECEIVE)?),
        "Start" => Call::Start(vec![read.request()?]),
        "Startall" => Call::Start(read.requests()?),
        "Wait" => read.completed(args.get(REQUEST)?)?,
        "Waitall" => Call::Waitall(Requests::Each(read.requests()?)),
        "Waitany" => read.completed_any()?,
        "Waitsome" => read.completed_some()?,
        "Test" if read.flag()? => read.completed(args.get(REQUEST)?)?,
        "Testall" if read.flag()? => Call::Waitall(Requests::Each(read.requests()?)),
        "Testany" if read.flag()? => read.completed_any()?,
        "Testsome" => read.completed_some()?,
        "Test" | "Testall" | "Testany" => Call::Ignored,
        "Request_free" => Call::Forget(read.request()?),
        "Cancel" => Call::Cancel(read.request()?),
        "Comm_rank" => Call::RankOf(read.comm()?, read.small("rank")?),
        "Comm_size" => Call::SizeOf(read.comm()?, read.small("size")?),
        "Comm_dup" | "Comm_split" | "Comm_create" | "Cart_create" | "Cart_sub" => read.creation(name)?,
        name if UNFOLLOWED.contains(&name) => {
            let what = format!("MPI_{name} makes a communicator in a way that is not followed");
            return Err(args.wrong(what, "its members are not told: record a run that does without"));
        }
        "Comm_group" => Call::Group { group: Group::Of(read.comm()?), new: read.group(NEW_GROUP)? },
        name if name.starts_with("Group_") => read.group_creation(name)?,
        "Type_size" => {
            datatypes.record_size(args)?;
            Call::Ignored
        }
        _ => match read.operation(name)? {
            Some(operation) => Call::Collective(operation, read.comm()?),
            None if name.starts_with("MPIO_") || ONE_SIDED.contains(&name) => Call::Ignored,
            None if SILENT.iter().any(|silent| name.starts_with(silent)) => Call::Ignored,
            None => {
                let remedy = format!("{}; a call without messages can be removed", suggestion(args.call(), KNOWN));
                let found = args.call().to_owned();
                return Err((args.line(), Fault::UnknownWord { what: "call", found, remedy }));
            }
        },
    })
}

/// A fault as text. A collective keeps it for arguments that may have no meaning on this rank.
fn fault_text((line, fault): Wrong) -> String {
    format!("line {line}: {fault}")
}

/// Names under which the arguments of one side of a message may appear.
struct Side {
    count: &'static [&'static str],
    datatype: &'static [&'static str],
    peer: &'static [&'static str],
    tag: &'static [&'static str],
    /// True for the sender, false for the receiver.
    sends: bool,
}

/// The arguments of the sending side.
const SEND: Side = Side {
    count: &["sendcount", "count"],
    datatype: &["sendtype", "datatype"],
    peer: &["dest"],
    tag: &["sendtag", "tag"],
    sends: true,
};
/// The arguments of the receiving side.
const RECEIVE: Side = Side {
    count: &["recvcount", "count"],
    datatype: &["recvtype", "datatype"],
    peer: &["source"],
    tag: &["recvtag", "tag"],
    sends: false,
};
// Names under which an argument may appear.
const REQUEST: &[&str] = &["request"];
const REQUESTS: &[&str] = &["requests", "array_of_requests", "request"];
const COMM: &[&str] = &["comm", "oldcomm", "comm_old", "old_comm"];
const NEW_COMM: &[&str] = &["newcomm", "comm_out", "comm_cart", "new_comm"];
const GROUP: &[&str] = &["group", "oldgroup", "group1"];
const NEW_GROUP: &[&str] = &["newgroup", "group_out", "group"];
const SEND_COUNTS: &[&str] = &["sendcounts", "sendcnts"];
const RECEIVE_COUNTS: &[&str] = &["recvcounts", "recvcnts", "counts"];

/// Interprets the arguments of one call.
struct Reading<'a, 't> {
    args: &'a Args,
    datatypes: &'a Datatypes<'t>,
}

impl<'a> Reading<'a, '_> {
    /// \[bytes\] Size of as many elements of a datatype as an argument states.
    fn bytes(&self, count: &[&str], datatype: &[&str]) -> Result<u64, Wrong> {
        let (count, datatype) = (self.args.get(count)?, self.args.get(datatype)?);
        let size = self.datatypes.size(datatype.handle()?).map_err(|fault| datatype.fault(fault))?;
        Ok(count.count(MAX_MESSAGE / size.max(1))? * size)
    }

    /// \[bytes\] As [`Self::bytes`], for arguments that may have no meaning on this rank: the fault is returned as
    /// text.
    fn bytes_or_fault(&self, count: &[&str], datatype: &[&str]) -> Result<u64, String> {
        self.bytes(count, datatype).map_err(fault_text)
    }

    /// \[bytes\] Size of each block, with one datatype for all or one for each.
    fn blocks(&self, counts: &[&str], datatype: &[&str]) -> Result<Vec<u64>, Wrong> {
        let (counts, datatype) = (self.args.get(counts)?, self.args.get(datatype)?);
        let mut kinds = datatype.handles();
        let mut size = None;
        let mut blocks = Vec::new();
        for count in counts.handles() {
            if let Some(kind) = kinds.next() {
                size = Some(self.datatypes.size(kind?).map_err(|fault| datatype.fault(fault))?);
            }
            let size = size.ok_or_else(|| datatype.wrong("a datatype"))?;
            let bytes = u64::try_from(count?.id).ok().and_then(|count| count.checked_mul(size));
            let expected = "counts of which none is more than 2^40 bytes";
            blocks.push(bytes.filter(|&bytes| bytes <= MAX_MESSAGE).ok_or_else(|| counts.wrong(expected))?);
        }
        Ok(blocks)
    }

    /// The message of a send or receive.
    fn message(&self, side: &Side) -> Result<Message, Wrong> {
        let (peer, tag) = (self.args.get(side.peer)?, self.args.get(side.tag)?);
        let (rank, label) = (peer.handle()?, tag.handle()?);
        let any = rank.name == "MPI_ANY_SOURCE" || rank.name.is_empty() && rank.id == -1;
        let nobody = rank.name == "MPI_PROC_NULL" || rank.name.is_empty() && rank.id == -2;
        let peer = match u32::try_from(rank.id) {
            // Below the valid ranks of a destination there is only the null process.
            _ if nobody || side.sends && rank.id < 0 => Peer::Nobody,
            _ if any && !side.sends => Peer::Any,
            Ok(rank) => Peer::Rank(rank),
            Err(_) => return Err(peer.wrong("a rank, -1 for any source, -2 for nobody")),
        };
        let any_tag = label.name == "MPI_ANY_TAG" || label.id == -1;
        let bytes = if peer == Peer::Nobody { 0 } else { self.bytes(side.count, side.datatype)? };
        Ok(Message { peer, label: Some(label.id).filter(|_| !any_tag), bytes, comm: self.comm()? })
    }

    /// The argument `comm`.
    fn comm(&self) -> Result<Comm, Wrong> {
        Ok(match self.args.get(COMM)?.handle()? {
            Handle { name: "MPI_COMM_WORLD", .. } | Handle { name: "", id: 2 } => Comm::World,
            Handle { name: "MPI_COMM_SELF", .. } | Handle { name: "", id: 3 } => Comm::Own,
            Handle { id, .. } => Comm::Handle(id),
        })
    }

    /// An argument from 0 to the largest number of tasks.
    fn small(&self, name: &'static str) -> Result<u32, Wrong> {
        // The limit fits 32 bits.
        self.args.get(&[name])?.count(MAX_TASKS).map(|number| number as u32)
    }

    /// The argument `root`.
    fn root(&self) -> Result<u32, Wrong> {
        self.small("root")
    }

    /// The number of a request in an argument.
    fn request_of(arg: Arg<'_>, handle: Handle<'_>) -> Result<u64, Wrong> {
        u64::try_from(handle.id).map_err(|_| arg.wrong("a request, a number from 0 on"))
    }

    /// The argument `request`.
    fn request(&self) -> Result<u64, Wrong> {
        let arg = self.args.get(REQUEST)?;
        Self::request_of(arg, arg.handle()?)
    }

    /// The array of requests.
    fn requests(&self) -> Result<Vec<u64>, Wrong> {
        let arg = self.args.get(REQUESTS)?;
        arg.handles().map(|handle| Self::request_of(arg, handle?)).collect()
    }

    /// The meaning of a call that has completed the request in `arg`, which may be null.
    fn completed(&self, arg: Arg<'_>) -> Result<Call, Wrong> {
        let handle = arg.handle()?;
        // As for all handles of DUMPI, 0 is an error and 1 is null.
        if handle.name == "MPI_REQUEST_NULL" || (0..2).contains(&handle.id) {
            return Ok(Call::Ignored);
        }
        Self::request_of(arg, handle).map(Call::Wait)
    }

    /// The argument `flag`: true if a test has succeeded.
    fn flag(&self) -> Result<bool, Wrong> {
        Ok(self.args.get(&["flag"])?.integer()? != 0)
    }

    /// The meaning of a call that has completed one of several requests: the one at `index`, if that is recorded.
    fn completed_any(&self) -> Result<Call, Wrong> {
        let Some(index) = self.args.find(&["index"]) else {
            return Ok(Call::Waitany(Requests::Each(self.requests()?)));
        };
        // Negative if no request was active.
        let Ok(position) = usize::try_from(index.integer()?) else { return Ok(Call::Ignored) };
        let requests = self.requests()?;
        let request = requests.get(position).copied();
        request.map(Call::Wait).ok_or_else(|| index.wrong(&format!("one of {} requests", requests.len())))
    }

    /// The meaning of a call that has completed some of several requests.
    fn completed_some(&self) -> Result<Call, Wrong> {
        if self.args.get(&["outcount"])?.integer()? <= 0 {
            return Ok(Call::Ignored);
        }
        let (requests, indices) = (self.requests()?, self.args.get(&["indices", "array_of_indices"])?);
        let request = |handle: Result<Handle<'_>, Wrong>| {
            let request = usize::try_from(handle?.id).ok().and_then(|position| requests.get(position).copied());
            request.ok_or_else(|| indices.wrong(&format!("positions in a list of {} requests", requests.len())))
        };
        Ok(Call::Waitall(Requests::Each(indices.handles().map(request).collect::<Result<_, _>>()?)))
    }

    /// The communicator that a call creates.
    fn creation(&self, name: &str) -> Result<Call, Wrong> {
        let new = self.args.get(NEW_COMM)?.integer()?;
        let how = match name {
            "Comm_dup" => Creation::Dup,
            "Comm_split" => {
                let color = self.args.get(&["color", "colour"])?.handle()?;
                // The number of MPI_UNDEFINED depends on the recorded library. -1 stands for it, since colours are
                // never negative.
                let undefined = color.name == "MPI_UNDEFINED";
                Creation::Split {
                    color: if undefined { -1 } else { color.id },
                    key: self.args.get(&["key"])?.integer()?,
                }
            }
            "Comm_create" => Creation::Group(self.group(GROUP)?),
            "Cart_create" => Creation::Grid(self.args.get(&["dims"])?.counts(MAX_TASKS)?),
            _ => {
                let remain = self.args.get(&["remain_dims", "reman_dims", "remain"])?.counts(u64::MAX)?;
                Creation::Remain(remain.into_iter().map(|stays| stays != 0).collect())
            }
        };
        Ok(Call::Create { comm: self.comm()?, how, new })
    }

    /// A group in an argument.
    fn group(&self, names: &[&str]) -> Result<i64, Wrong> {
        let handle = self.args.get(names)?.handle()?;
        Ok(if handle.name == "MPI_GROUP_EMPTY" { EMPTY_GROUP } else { handle.id })
    }

    /// The group that a call creates.
    fn group_creation(&self, name: &str) -> Result<Call, Wrong> {
        let group = match name {
            "Group_incl" | "Group_excl" => {
                let ranks = self.args.get(&["ranks"])?.counts(MAX_TASKS)?;
                let ranks = ranks.into_iter().map(|rank| rank as u32).collect();
                let old = self.group(GROUP)?;
                if name == "Group_incl" { Group::Include(old, ranks) } else { Group::Exclude(old, ranks) }
            }
            "Group_union" | "Group_intersection" | "Group_difference" | "Group_range_incl" | "Group_range_excl" => {
                Group::Unknown
            }
            "Group_free" => return Ok(Call::Group { group: Group::Unknown, new: self.group(GROUP)? }),
            _ => return Ok(Call::Ignored),
        };
        Ok(Call::Group { group, new: self.group(&["newgroup", "group_out"])? })
    }

    /// The collective of this name; `None` if it is not one.
    fn operation(&self, name: &str) -> Result<Option<Operation>, Wrong> {
        // Names of count and datatype: of the only buffer, of the data sent, of the data received.
        const ONE: (&[&str], &[&str]) = (&["count"], &["datatype"]);
        const OUT: (&[&str], &[&str]) = (&["sendcount"], &["sendtype"]);
        const IN: (&[&str], &[&str]) = (&["recvcount"], &["recvtype"]);
        let one = || self.bytes(ONE.0, ONE.1);
        let sent = || self.bytes(OUT.0, OUT.1);
        let (send, receive) = (|| self.bytes_or_fault(OUT.0, OUT.1), || self.bytes_or_fault(IN.0, IN.1));
        Ok(Some(match name {
            "Barrier" => Operation::Barrier,
            "Bcast" => Operation::Bcast { root: self.root()?, bytes: one()? },
            "Reduce" => Operation::Reduce { root: self.root()?, bytes: one()? },
            "Allreduce" => Operation::Allreduce { bytes: one()? },
            "Scan" => Operation::Scan { bytes: one()? },
            "Exscan" => Operation::Exscan { bytes: one()? },
            "Alltoall" => Operation::Alltoall { bytes: sent()? },
            "Allgather" => Operation::Allgather { bytes: sent()? },
            "Gather" => Operation::Gather(Rooted { root: self.root()?, send: send(), receive: receive() }),
            "Scatter" => Operation::Scatter(Rooted { root: self.root()?, send: send(), receive: receive() }),
            "Gatherv" => {
                let receive = self.blocks(RECEIVE_COUNTS, IN.1).map_err(fault_text);
                Operation::Gatherv(Rooted { root: self.root()?, send: send(), receive })
            }
            "Scatterv" => {
                let send = self.blocks(SEND_COUNTS, OUT.1).map_err(fault_text);
                Operation::Scatterv(Rooted { root: self.root()?, send, receive: receive() })
            }
            "Allgatherv" => Operation::Allgatherv { blocks: self.blocks(RECEIVE_COUNTS, IN.1)? },
            "Reduce_scatter" => Operation::ReduceScatter { blocks: self.blocks(RECEIVE_COUNTS, ONE.1)? },
            "Alltoallv" | "Alltoallw" => Operation::Alltoallv {
                send: self.blocks(SEND_COUNTS, &["sendtype", "sendtypes"])?,
                receive: self.blocks(RECEIVE_COUNTS, &["recvtype", "recvtypes"]).ok(),
            },
            _ => return Ok(None),
        }))
    }
}
