//! Translates the events of the locations of an OTF2 archive. A location is a process or thread.

use std::collections::HashMap;

use super::definitions::{Definitions, Kind, World};
use super::line::{Collected, Line, Message, number};
use crate::trace::collectives::{Agreement, Collective, RequestPool};
use crate::trace::formats::calls::{Caller, Calls};
use crate::trace::formats::error::Fault;
use crate::trace::formats::marks::Marks;
use crate::trace::formats::members::Members;
use crate::trace::formats::options::ReadOptions;
use crate::trace::formats::text::invalid;
use crate::trace::program::{Event, Receive, Request, Send, Tag, TagFilter};
use crate::units::{Picoseconds, TaskId};

/// State shared by all locations.
pub(super) struct Shared {
    world: World,
    /// \[1/s\] Resolution of the clock.
    ticks: u64,
    /// True if the archive states the resolution.
    ticks_stated: bool,
    /// True if records of collectives count bytes in total, false if they have the argument of one rank.
    totals: bool,
    /// Collectives called so far, by number of communicator.
    agreements: Vec<Agreement<u64>>,
    /// Largest number of events.
    limit: u64,
    /// Number of events so far.
    events: u64,
    /// Number of records of messages and regions so far.
    records: u64,
    calls: Calls,
    /// Number of collectives of one process alone.
    alone: u64,
    tally: Tally,
    marks: Marks,
}

/// Counts for warnings.
#[derive(Default)]
struct Tally {
    /// Calls that begin before the previous one has ended.
    steps_back: u64,
    /// Records of locations that are not processes.
    other_locations: u64,
    /// Calls of non-blocking collectives.
    non_blocking: u64,
    /// Calls that send or receive but have no message record.
    bare: u64,
    /// Records of one-sided operations.
    one_sided: u64,
    /// Completions of requests that were not begun.
    void_completions: u64,
    /// Calls of `v` collectives, whose blocks are taken as equal shares.
    shares: u64,
}

/// One process.
pub(super) struct Rank {
    task: usize,
    /// Events; `None` in place of a cancelled request.
    events: Vec<Option<Event>>,
    requests: RequestPool,
    /// By the number in the archive: the request, and the index of its receive, if it is one.
    outstanding: HashMap<u64, (Request, Option<usize>)>,
    /// Nesting depth of MPI regions.
    depth: u32,
    /// True in a call that sends or receives a message, until its message record.
    bare: bool,
    /// \[ticks\] Time at which the last outermost MPI region was left.
    ended: Option<u64>,
    /// Number of collectives called on each communicator.
    called: HashMap<usize, usize>,
}

impl Rank {
    pub(super) fn new(task: usize) -> Self {
        Self {
            task,
            events: Vec::new(),
            requests: RequestPool::new(),
            outstanding: HashMap::new(),
            depth: 0,
            bare: false,
            ended: None,
            called: HashMap::new(),
        }
    }

    /// The events of the task.
    pub(super) fn finish(self) -> Vec<Event> {
        self.events.into_iter().flatten().collect()
    }

    /// Receives without a recorded completion.
    fn incomplete(&self) -> usize {
        self.outstanding.values().filter(|(_, receive)| receive.is_some()).count()
    }

    /// Adds an event.
    fn push(&mut self, event: Event) {
        self.events.push(Some(event));
    }

    /// Adds a wait for a request, which is free afterwards.
    fn wait(&mut self, request: Request) {
        self.push(Event::Wait(request));
        self.requests.give_back(request);
    }
}

/// True for a call of MPI, in C or Fortran.
fn is_mpi(region: &str) -> bool {
    region.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("mpi_"))
}

/// True for one of these calls, without `MPI_`, in C or Fortran.
fn is_call(region: &str, names: &[&str]) -> bool {
    let name = region.get(4..).unwrap_or_default().trim_end_matches('_');
    names.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// True for a call that has a message record unless its peer is the null process.
fn has_message(region: &str) -> bool {
    const NAMES: &[&str] = &[
        "send",
        "bsend",
        "ssend",
        "rsend",
        "isend",
        "ibsend",
        "issend",
        "irsend",
        "recv",
        "irecv",
        "sendrecv",
        "sendrecv_replace",
    ];
    is_call(region, NAMES)
}

/// True for a call that starts a non-blocking collective, which has no record of its own.
fn begins_collective(region: &str) -> bool {
    const NAMES: &[&str] =
        &["barrier", "bcast", "reduce", "allreduce", "alltoall", "allgather", "gather", "scatter", "scan", "exscan"];
    let lower = region.to_ascii_lowercase();
    lower.strip_prefix("mpi_i").is_some_and(|rest| NAMES.iter().any(|name| rest.starts_with(name)))
}

impl Shared {
    pub(super) fn new(definitions: Definitions, options: &ReadOptions) -> Result<Self, Fault> {
        let (ticks, totals) = (definitions.ticks, definitions.totals);
        let world = definitions.world()?;
        let agreement = |members: &Members| Agreement::new(options.collectives.clone(), members.tasks().len());
        Ok(Self {
            agreements: world.members.iter().map(agreement).collect(),
            world,
            ticks: ticks.unwrap_or(1_000_000_000),
            ticks_stated: ticks.is_some(),
            totals,
            limit: options.max_events,
            events: 0,
            records: 0,
            calls: Calls::default(),
            alone: 0,
            tally: Tally::default(),
            marks: Marks::default(),
        })
    }

    /// Number of processes.
    pub(super) fn tasks(&self) -> usize {
        self.world.members[0].tasks().len()
    }

    /// Number of records of messages and regions.
    pub(super) const fn records(&self) -> u64 {
        self.records
    }

    /// Processes one event.
    pub(super) fn event(&mut self, ranks: &mut [Rank], line: &Line<'_>, number_of_line: u64) -> Result<(), Fault> {
        let location = number("location", line.location)?;
        let Some(&task) = self.world.tasks.get(&location) else {
            self.tally.other_locations += 1;
            return Ok(());
        };
        let Some(rank) = ranks.get_mut(task.index()) else { return Ok(()) };
        let time = number("time", line.time)?;
        let before = rank.events.len();
        self.records += 1;
        match line.record {
            "ENTER" if is_mpi(line.region()) => {
                if rank.depth == 0 {
                    self.compute(rank, time)?;
                }
                rank.depth += 1;
                rank.bare = has_message(line.region());
                if is_call(line.region(), &["init", "init_thread"]) {
                    self.marks.begin(task.index());
                }
                self.tally.non_blocking += u64::from(begins_collective(line.region()));
            }
            "LEAVE" if is_mpi(line.region()) => {
                rank.depth = rank.depth.saturating_sub(1);
                if rank.depth == 0 {
                    rank.ended = Some(time);
                }
                self.tally.bare += u64::from(std::mem::take(&mut rank.bare));
                if is_call(line.region(), &["finalize"]) {
                    self.marks.end(task.index());
                }
            }
            "PROGRAM_BEGIN" | "THREAD_BEGIN" => self.marks.begin(task.index()),
            // An archive may hold only a section of a run.
            "PROGRAM_END" | "THREAD_END" | "MEASUREMENT_ON_OFF" => self.marks.end(task.index()),
            name if name.starts_with("MPI_") => {
                if rank.depth == 0 {
                    self.compute(rank, time)?;
                    rank.ended = Some(time);
                }
                rank.bare = false;
                self.message(rank, line, number_of_line)?;
            }
            name if name.starts_with("RMA_") => self.tally.one_sided += 1,
            _ => {}
        }
        self.events += (rank.events.len() - before) as u64;
        if self.events > self.limit { Err(Fault::TooManyEvents { limit: self.limit }) } else { Ok(()) }
    }

    /// Processes a record of a message or collective.
    fn message(&mut self, rank: &mut Rank, line: &Line<'_>, number_of_line: u64) -> Result<(), Fault> {
        match line.record {
            "MPI_SEND" => {
                let send = self.send(&line.message(false)?.0)?;
                rank.push(Event::Send(send));
            }
            "MPI_ISEND" => {
                let (message, number) = line.message(true)?;
                let (send, request) = (self.send(&message)?, rank.requests.take());
                rank.push(Event::Isend(send, request));
                rank.outstanding.insert(number, (request, None));
            }
            "MPI_RECV" => {
                let receive = self.receive(&line.message(false)?.0)?;
                rank.push(Event::Recv(receive));
            }
            "MPI_IRECV_REQUEST" => {
                let request = rank.requests.take();
                rank.outstanding.insert(line.request()?, (request, Some(rank.events.len())));
                // A receive of any message, replaced when the completion record states which one arrived.
                let any = Receive { from: None, tag: TagFilter::AnyIn(Tag::POINT_TO_POINT), bytes: 0 };
                rank.push(Event::Irecv(any, request));
            }
            "MPI_IRECV" => {
                let (message, number) = line.message(true)?;
                let receive = self.receive(&message)?;
                match rank.outstanding.remove(&number) {
                    Some((request, Some(posted))) => {
                        rank.events[posted] = Some(Event::Irecv(receive, request));
                        rank.wait(request);
                    }
                    // Posted before recording began: received here.
                    _ => rank.push(Event::Recv(receive)),
                }
            }
            "MPI_ISEND_COMPLETE" => match rank.outstanding.remove(&line.request()?) {
                Some((request, None)) => rank.wait(request),
                _ => self.tally.void_completions += 1,
            },
            "MPI_REQUEST_CANCELLED" => {
                if let Some((_, Some(posted))) = rank.outstanding.remove(&line.request()?) {
                    rank.events[posted] = None;
                }
            }
            "MPI_COLLECTIVE_END" => self.collective(rank, &line.collective()?, number_of_line)?,
            _ => {}
        }
        Ok(())
    }

    /// Adds the time since the last MPI region as computing.
    fn compute(&mut self, rank: &mut Rank, now: u64) -> Result<(), Fault> {
        let Some(ended) = rank.ended else { return Ok(()) };
        let Some(gap) = now.checked_sub(ended) else {
            self.tally.steps_back += 1;
            return Ok(());
        };
        let time = u128::from(gap) * 1_000_000_000_000 / u128::from(self.ticks);
        let time = u64::try_from(time).ok().filter(|&time| time < 1 << 63);
        let time = time.ok_or_else(|| invalid("time", &now.to_string(), "at most 106 days after the call before"))?;
        if time > 0 {
            rank.push(Event::Compute(Picoseconds(time)));
        }
        Ok(())
    }

    /// The task of a location.
    fn task(&self, location: u64) -> Result<TaskId, Fault> {
        let unknown = || invalid("location", &location.to_string(), "one of the processes that the archive defines");
        self.world.tasks.get(&location).copied().ok_or_else(unknown)
    }

    /// The number of a communicator.
    fn communicator(&self, id: u64) -> Result<usize, Fault> {
        let unknown = || invalid("communicator", &id.to_string(), "one that the archive defines, with its members");
        self.world.numbers.get(&id).copied().ok_or_else(unknown)
    }

    /// The tag of a message.
    fn tag(&self, message: &Message) -> Result<Tag, Fault> {
        let number = self.communicator(message.communicator)?;
        // Recorders other than Score-P write some sends on a communicator of all processes as the world's.
        let world = !self.totals && self.world.kinds[number] == Kind::Whole;
        let context = Tag::context_of(if world { 0 } else { number as u32 });
        Ok(Tag { context, label: message.label })
    }

    /// The send of a message record.
    fn send(&self, message: &Message) -> Result<Send, Fault> {
        Ok(Send { to: self.task(message.peer)?, tag: self.tag(message)?, bytes: message.bytes })
    }

    /// The receive of a message record.
    fn receive(&self, message: &Message) -> Result<Receive, Fault> {
        let (from, tag) = (Some(self.task(message.peer)?), TagFilter::Exactly(self.tag(message)?));
        Ok(Receive { from, tag, bytes: message.bytes })
    }

    /// Processes the record of a collective: adds its expansion.
    fn collective(&mut self, rank: &mut Rank, collected: &Collected<'_>, line: u64) -> Result<(), Fault> {
        const WITHOUT_MESSAGES: &[&str] = &[
            "CREATE_HANDLE",
            "DESTROY_HANDLE",
            "ALLOCATE",
            "DEALLOCATE",
            "CREATE_HANDLE_AND_ALLOCATE",
            "DESTROY_HANDLE_AND_DEALLOCATE",
        ];
        if WITHOUT_MESSAGES.contains(&collected.operation) {
            return Ok(());
        }
        let number = self.communicator(collected.communicator)?;
        if self.world.kinds[number] == Kind::Alone {
            self.alone += 1;
            return Ok(());
        }
        let members = &self.world.members[number];
        let place = members.rank_of(TaskId::at(rank.task)).ok_or_else(|| {
            let expected = "one that this process is a member of";
            invalid("communicator", &collected.communicator.to_string(), expected)
        })?;
        let collective = operation(collected, members.tasks().len() as u64, self.totals)?;
        self.tally.shares += u64::from(collective.name().ends_with('v'));
        let index = rank.called.entry(number).or_default();
        let caller = Caller { number: number as u32, members: members.tasks(), task: rank.task, rank: place, line };
        let (agreement, mut events) = (&mut self.agreements[number], Vec::new());
        self.calls.expand(&collective, &caller, index, agreement, &mut rank.requests, &mut events)?;
        rank.events.extend(events.into_iter().map(Some));
        Ok(())
    }

    /// Counts of collectives, notes, warnings.
    pub(super) fn finish(&self, ranks: &[Rank]) -> (&Calls, Vec<String>, Vec<String>) {
        let how =
            if self.totals { "with bytes in total, as Score-P counts" } else { "with bytes of one rank's argument" };
        let mut notes: Vec<String> = self.calls.note(how).into_iter().collect();
        if self.alone > 0 {
            notes.push(format!("{} collective calls of one process alone, which send nothing", self.alone));
        }
        if !self.ticks_stated {
            notes.push("the archive does not say how long a tick is: 1 ns".to_owned());
        }
        let incomplete: usize = ranks.iter().map(Rank::incomplete).sum();
        let counted = [
            ("receives without a completion (for any source and tag, never waited for)", incomplete as u64),
            (
                "calls that send or receive without a record of a message (to MPI_PROC_NULL, or the record is missing)",
                self.tally.bare,
            ),
            ("ranks that end within a call of MPI", ranks.iter().filter(|rank| rank.depth > 0).count() as u64),
            ("completions of requests that were not begun", self.tally.void_completions),
            ("calls of non-blocking collectives, which are left out", self.tally.non_blocking),
            ("records of one-sided operations, which are left out", self.tally.one_sided),
            ("calls of `v` collectives, whose blocks are taken for equal shares", self.tally.shares),
            ("records of locations that are no MPI process, which are left out", self.tally.other_locations),
            ("calls that begin before the one before has ended (no computing between them)", self.tally.steps_back),
        ];
        let counted = counted.iter().filter(|(_, count)| *count > 0);
        let mut warnings: Vec<String> = counted.map(|(what, count)| format!("{what}: {count}")).collect();
        warnings.extend(self.marks.warning("an end (MPI_Finalize, PROGRAM_END)", ranks.len()));
        (&self.calls, notes, warnings)
    }
}

/// The collective on a communicator of `size` ranks. `totals` is true if the record counts bytes in total, false if it
/// has the argument of one rank.
fn operation(collected: &Collected<'_>, size: u64, totals: bool) -> Result<Collective, Fault> {
    let &Collected { operation, root, sent, received, .. } = collected;
    let most = sent.max(received);
    let (block, share) = (if totals { most / size } else { most }, most / size);
    let shares = |total: u64| vec![total / size; size as usize];
    let root = || match root {
        Some(root) if (root as u64) < size => Ok(root),
        _ => Err(invalid(
            "root",
            &root.map_or_else(|| "NONE".to_owned(), |root| root.to_string()),
            "a rank of the communicator",
        )),
    };
    Ok(match operation {
        "BARRIER" => Collective::Barrier,
        // The root's total covers all ranks; every rank receives the data once.
        "BCAST" => Collective::Broadcast { root: root()?, bytes: if received > 0 { received } else { block } },
        "REDUCE" => Collective::Reduce { root: root()?, bytes: if sent > 0 { sent } else { block } },
        "ALLREDUCE" => Collective::Allreduce { bytes: block },
        "ALLTOALL" => Collective::Alltoall { bytes: block },
        "ALLGATHER" => Collective::Allgather { bytes: block },
        "GATHER" => Collective::Gather { root: root()?, bytes: if sent > 0 { sent } else { block } },
        "SCATTER" => Collective::Scatter { root: root()?, bytes: if received > 0 { received } else { block } },
        "SCAN" => Collective::Scan { bytes: if sent > 0 { sent } else { block } },
        "EXSCAN" => Collective::Exscan { bytes: if sent > 0 { sent } else { block } },
        "ALLTOALLV" | "ALLTOALLW" => Collective::Alltoallv { send: shares(sent), receive: shares(received) },
        "ALLGATHERV" => Collective::Allgatherv { blocks: shares(received) },
        "GATHERV" => Collective::Gatherv { root: root()?, send: sent, receive: shares(received) },
        "SCATTERV" => Collective::Scatterv { root: root()?, send: shares(sent), receive: received },
        "REDUCE_SCATTER" | "REDUCE_SCATTER_BLOCK" => Collective::ReduceScatter { blocks: vec![share; size as usize] },
        other => {
            let expected = "an operation of MPI, such as BARRIER or ALLREDUCE";
            return Err(invalid("operation", other, expected));
        }
    })
}
