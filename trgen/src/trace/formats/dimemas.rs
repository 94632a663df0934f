//! Dimemas traces: one line per record, fields separated by colons.
//!
//! ```text
//! #DIMEMAS:name:offset:ntasks(threads,...)...
//! d:1:COMM:MEMBERS:TASK:TASK...                     a communicator
//! 1:TASK:THREAD:SECONDS                             computing
//! 2:TASK:THREAD:DEST[:THREAD]:SIZE:TAG:COMM:TYPE    send: 0 plain, 1 rendezvous, 2 immediate, 3 both
//! 3:TASK:THREAD:SOURCE[:THREAD]:SIZE:TAG:COMM:TYPE  receive: 0 recv, 1 irecv, 2 wait for an irecv
//! 10:TASK:THREAD:OPERATION:COMM:ROOT[:THREAD]:SENT:RECEIVED[:SYNCHRONIZE]
//! 0:TASK:THREAD...                                  nothing
//! 11:TASK:THREAD...                                 a burst of a GPU
//! ```
//!
//! Since version 5.1.1 (2013) messages name the thread of the partner, and collectives end with a flag; both forms are
//! read, told apart by the number of fields. Records of user events, files and marks (20, 30, 40, `o:`, `s:`) and those
//! for nothing are skipped. Operations are numbered barrier 0,
//! bcast 1, gather 2, gatherv 3, scatter 4, scatterv 5, allgather 6, allgatherv 7, alltoall 8, alltoallv 9, reduce 10,
//! allreduce 11, reduce_scatter 12, scan 13.
//!
//! # How the model departs from reality, and who could notice
//! - Whether a send waits for its receive is a setting of the replay; types 1 and 3 do not decide it here.
//! - An immediate send is never waited for: the format does not record the wait.
//! - The sizes of the blocks of `v` operations are not recorded: each block is an equal share of the total.
//! - A communicator without a `d` record is the world communicator.
//! - Bursts of a GPU take no time, which a warning says: the format does not tell what waits for them.

use std::collections::{HashMap, VecDeque};

use super::calls::{Caller, Calls};
use super::error::{Fault, ReadError};
use super::input::Source;
use super::members::Members;
use super::options::ReadOptions;
use super::text::{self, Lines, MAX_MESSAGE, invalid};
use super::{Application, Candidate, Layout, Reader, Trace, push_compute};
use crate::catalog::Component;
use crate::trace::collectives::{Agreement, Choice, Collective, RequestPool};
use crate::trace::program::{Event, Program, Receive, Request, Send, Tag, TagFilter};
use crate::units::{Picoseconds, TaskId};

pub(super) const READER: Reader = Reader {
    component: Component {
        name: "dimemas",
        about: "header `#DIMEMAS:`, then records `1:task:thread:seconds`, `2:...` send, `3:...` receive, `10:...` collective",
        parameters: &[],
        source: "Dimemas (Girona, Labarta, Badia, EuroPVM/MPI 2000)",
    },
    find,
    read: |source, candidate, options| read(source, candidate, options).map(Application::Programs),
};

const HEADER: &str = "#DIMEMAS:";

/// The files that begin with the header.
fn find(source: &Source<'_>) -> Vec<Candidate> {
    // The header looks like a comment of other formats: its first bytes alone identify it.
    let files = source.entries().iter().filter(|entry| entry.magic.starts_with(HEADER.as_bytes()));
    files.map(|entry| Candidate { label: entry.name.clone(), layout: Layout::Whole(entry.name.clone()) }).collect()
}

/// State of one task.
#[derive(Default)]
struct Rank {
    /// The program of the task so far.
    events: Vec<Event>,
    /// Numbers for the requests of the task.
    requests: RequestPool,
    /// Receives posted and not waited for, by source, tag and communicator.
    posted: HashMap<(i64, i64, u64), VecDeque<Request>>,
    /// How many collectives the task has called on each communicator, by the number of the communicator.
    called: HashMap<usize, usize>,
}

/// State shared by all tasks.
struct Shared {
    /// Maps the identifier of each defined communicator to its number; 0 is the world.
    numbers: HashMap<u64, usize>,
    /// Members of each communicator, by number.
    members: Vec<Members>,
    /// Collectives called so far on each communicator, by number.
    agreements: Vec<Agreement<u64>>,
    /// Choice of the algorithms of collectives.
    choice: Choice,
    calls: Calls,
    /// Number of waits for a receive that was not posted.
    void_waits: u64,
    /// Number of calls of `v` collectives, whose blocks are taken as equal shares.
    shares: u64,
    /// Number of records skipped.
    passed_over: u64,
    /// Number of bursts of a GPU.
    bursts: u64,
}

/// Reads a file into a trace.
fn read(source: &Source<'_>, candidate: &Candidate, options: &ReadOptions) -> Result<Trace, ReadError> {
    let Layout::Whole(file) = &candidate.layout else { return Err(source.place().error(Fault::Empty)) };
    let mut result = None;
    source.visit(std::slice::from_ref(file), &mut |_, place, reader| {
        let mut lines = Lines::new(reader, place);
        let (mut ranks, mut shared): (Vec<Rank>, Option<Shared>) = (Vec::new(), None);
        let mut events = 0;
        while let Some((number, line)) = lines.next_with_hashes()? {
            let at = |fault| place.line(number).error(fault);
            let Some(shared) = &mut shared else {
                let tasks = tasks(line).map_err(at)?;
                ranks.resize_with(tasks, Rank::default);
                shared = Some(Shared::new(tasks, options.collectives.clone()));
                continue;
            };
            let grown = shared.record(&mut ranks, line, number).map_err(at)?;
            events += grown as u64;
            if events > options.max_events {
                return Err(at(Fault::TooManyEvents { limit: options.max_events }));
            }
        }
        let missing = || place.line(lines.number()).error(no_header(""));
        result = Some((ranks, shared.ok_or_else(missing)?, lines.number()));
        Ok(())
    })?;
    let (ranks, shared, lines) = result.ok_or_else(|| source.place_of(file).error(Fault::Empty))?;
    let waiting: usize = ranks.iter().flat_map(|rank| rank.posted.values()).map(VecDeque::len).sum();
    let counted = [
        ("receives that are never waited for", waiting as u64),
        ("waits for a receive that was not posted (taken for complete)", shared.void_waits),
        ("calls of `v` collectives, whose blocks are taken for equal shares", shared.shares),
        ("bursts of a GPU, which take no time here", shared.bursts),
    ];
    let counted = counted.iter().filter(|(_, count)| *count > 0);
    let warnings = counted.map(|(what, count)| format!("{what}: {count}")).collect();
    let mut notes: Vec<String> = shared.calls.note("each as one of its communicator").into_iter().collect();
    if shared.passed_over > 0 {
        notes.push(format!("{} records that are neither computing nor messages were passed over", shared.passed_over));
    }
    let program = Program { tasks: ranks.into_iter().map(|rank| rank.events).collect() };
    Ok(Trace {
        program,
        format: READER.component.name,
        lines,
        collectives: shared.calls.by_operation(),
        algorithms: shared.calls.by_algorithm(),
        called: shared.calls.called(),
        notes,
        warnings,
    })
}

/// The fault of a wrong header.
fn no_header(found: &str) -> Fault {
    invalid("header", found, "`#DIMEMAS:name:offset:ntasks(threads,...)`")
}

/// The number of tasks announced by a header. It must agree with the list of threads, one number per task.
fn tasks(header: &str) -> Result<usize, Fault> {
    let wrong = || no_header(header);
    let rest = header.strip_prefix(HEADER).ok_or_else(wrong)?;
    let fields = rest.split_once('(').map(|(fields, list)| (fields, list.split(')').next().unwrap_or_default()));
    let (fields, list) = fields.ok_or_else(wrong)?;
    let count = fields.rsplit(':').next().ok_or_else(wrong)?;
    let listed = list.split(',').count();
    let tasks = text::whole("number of tasks", count, u64::from(u32::MAX))? as usize;
    if tasks != listed {
        return Err(invalid("number of tasks", count, format!("{listed}, as many as the header lists threads for")));
    }
    Ok(tasks)
}

/// The fault of a record of another thread than the first of a task.
fn several_threads(thread: &str) -> Fault {
    let what = format!("thread {thread} of a task: only tasks of one thread are read");
    Fault::Structure { what, remedy: "trace one thread for each task" }
}

/// The fields of a record.
struct Fields<'a> {
    words: Vec<&'a str>,
    /// Number of tasks of the trace.
    tasks: usize,
}

impl Fields<'_> {
    /// Checks the number of fields.
    fn check_count(&self, permitted: &[usize], usage: &str) -> Result<(), Fault> {
        if permitted.contains(&self.words.len()) {
            return Ok(());
        }
        let (word, found) = (self.words[0].to_owned(), self.words.len() - 1);
        Err(Fault::Arguments { word, found, usage: usage.to_owned(), remedy: Some("the line may be cut short") })
    }

    /// Removes the fields of messages and collectives that were added in version 5.1.1, whose tasks have one thread
    /// here.
    fn as_before(&mut self) -> Result<(), Fault> {
        match (self.words[0], self.words.len()) {
            ("2" | "3", 9) => {
                let thread = self.words.remove(4);
                if !matches!(thread, "0" | "-1") {
                    return Err(several_threads(thread));
                }
            }
            ("10", 10) => _ = self.words.pop(),
            _ => {}
        }
        Ok(())
    }

    /// The field at index `at` as a task.
    fn task(&self, at: usize) -> Result<TaskId, Fault> {
        let task = self.words[at].parse().ok().filter(|&task| task < self.tasks);
        task.map(TaskId::at).ok_or_else(|| invalid("task", self.words[at], format!("0 to {}", self.tasks - 1)))
    }

    /// The field at index `at` as a message size.
    fn bytes(&self, at: usize) -> Result<u64, Fault> {
        text::whole("size", self.words[at], MAX_MESSAGE)
    }

    /// The field at index `at` as a number, which errors call `what`.
    fn number(&self, what: &'static str, at: usize) -> Result<u64, Fault> {
        text::whole(what, self.words[at], 1 << 53)
    }
}

impl Shared {
    fn new(tasks: usize, choice: Choice) -> Self {
        Self {
            numbers: HashMap::new(),
            members: vec![Members::world(tasks)],
            agreements: vec![Agreement::new(choice.clone(), tasks)],
            choice,
            calls: Calls::default(),
            void_waits: 0,
            shares: 0,
            passed_over: 0,
            bursts: 0,
        }
    }

    /// Processes one record; returns the number of resulting events.
    fn record(&mut self, ranks: &mut [Rank], line: &str, number: u64) -> Result<usize, Fault> {
        let mut fields = Fields { words: line.split(':').collect(), tasks: ranks.len() };
        match fields.words[0] {
            "d" => {
                self.define(&fields)?;
                return Ok(0);
            }
            "11" => {
                self.bursts += 1;
                return Ok(0);
            }
            "0" | "o" | "s" | "20" | "30" | "40" => {
                self.passed_over += 1;
                return Ok(0);
            }
            "1" => fields.check_count(&[4], "1:TASK:THREAD:SECONDS")?,
            "2" => fields.check_count(&[8, 9], "2:TASK:THREAD:DEST[:THREAD]:SIZE:TAG:COMM:TYPE")?,
            "3" => fields.check_count(&[8, 9], "3:TASK:THREAD:SOURCE[:THREAD]:SIZE:TAG:COMM:TYPE")?,
            "10" => {
                fields.check_count(
                    &[8, 9, 10],
                    "10:TASK:THREAD:OPERATION:COMM:ROOT[:THREAD]:SENT:RECEIVED[:SYNCHRONIZE]",
                )?;
            }
            other => return Err(invalid("record", other, "0, 1, 2, 3, 10, 11, or one of d, o, s, 20, 30, 40")),
        }
        fields.as_before()?;
        let task = fields.task(1)?;
        if fields.number("thread", 2)? != 0 {
            return Err(several_threads(fields.words[2]));
        }
        let rank = &mut ranks[task.index()];
        let before = rank.events.len();
        match fields.words[0] {
            "1" => {
                let seconds = text::decimal("time", fields.words[3])?;
                let time = Picoseconds::from_seconds(seconds);
                push_compute(
                    &mut rank.events,
                    time.ok_or_else(|| invalid("time", fields.words[3], "at most 106 days"))?,
                );
            }
            "2" => self.send(rank, &fields)?,
            "3" => self.receive(rank, &fields)?,
            _ => self.collective(rank, task, &fields, number)?,
        }
        Ok(rank.events.len() - before)
    }

    /// Records the communicator that a `d` record defines.
    fn define(&mut self, fields: &Fields<'_>) -> Result<(), Fault> {
        let usage = "d:1:COMM:MEMBERS:TASK:TASK...";
        if fields.words.len() < 5 {
            return fields.check_count(&[5], usage);
        }
        let (id, count) = (fields.number("communicator", 2)?, fields.number("number of members", 3)? as usize);
        fields.check_count(&[count.saturating_add(4)], usage)?;
        let members: Vec<TaskId> = (4..fields.words.len()).map(|at| fields.task(at)).collect::<Result<_, _>>()?;
        if members == self.members[0].tasks() && !self.numbers.values().any(|&number| number == 0) {
            self.numbers.insert(id, 0);
            return Ok(());
        }
        self.numbers.insert(id, self.members.len());
        self.agreements.push(Agreement::new(self.choice.clone(), members.len()));
        self.members.push(Members::new(members));
        Ok(())
    }

    /// The communicator and the tag of a send or receive.
    fn tag(&self, fields: &Fields<'_>) -> Result<(u64, Tag), Fault> {
        let (id, label) = (fields.number("communicator", 6)?, text::tag(fields.words[5])?);
        let context = Tag::context_of(self.numbers.get(&id).copied().unwrap_or(0) as u32);
        Ok((id, Tag { context, label }))
    }

    /// Appends the send of a record.
    fn send(&mut self, rank: &mut Rank, fields: &Fields<'_>) -> Result<(), Fault> {
        let (_, tag) = self.tag(fields)?;
        let send = Send { to: fields.task(3)?, tag, bytes: fields.bytes(4)? };
        match fields.words[7] {
            "0" | "1" => rank.events.push(Event::Send(send)),
            "2" | "3" => {
                let request = rank.requests.take();
                rank.events.push(Event::Isend(send, request));
            }
            other => return Err(invalid("type of a send", other, "0 plain, 1 rendezvous, 2 immediate, 3 both")),
        }
        Ok(())
    }

    /// Appends the receive, or the wait for one, of a record.
    fn receive(&mut self, rank: &mut Rank, fields: &Fields<'_>) -> Result<(), Fault> {
        let (id, tag) = self.tag(fields)?;
        let from = if fields.words[3] == "-1" { None } else { Some(fields.task(3)?) };
        let key = (from.map_or(-1, |task| i64::from(task.0)), tag.label, id);
        let tag = if tag.label == -1 { TagFilter::AnyIn(tag.context) } else { TagFilter::Exactly(tag) };
        let receive = Receive { from, tag, bytes: fields.bytes(4)? };
        match fields.words[7] {
            "0" => rank.events.push(Event::Recv(receive)),
            "1" => {
                let request = rank.requests.take();
                rank.events.push(Event::Irecv(receive, request));
                rank.posted.entry(key).or_default().push_back(request);
            }
            "2" => match rank.posted.get_mut(&key).and_then(VecDeque::pop_front) {
                Some(request) => {
                    rank.events.push(Event::Wait(request));
                    rank.requests.give_back(request);
                }
                None => self.void_waits += 1,
            },
            other => return Err(invalid("type of a receive", other, "0 recv, 1 irecv, 2 wait")),
        }
        Ok(())
    }

    /// Expands the collective of a record.
    fn collective(&mut self, rank: &mut Rank, task: TaskId, fields: &Fields<'_>, line: u64) -> Result<(), Fault> {
        let id = fields.number("communicator", 4)?;
        let number = self.numbers.get(&id).copied().unwrap_or(0);
        let members = self.members[number].clone();
        let place = members.rank_of(task);
        let outside = || invalid("communicator", fields.words[4], "one that this task is a member of");
        let place = place.ok_or_else(outside)?;
        let collective = operation(fields, members.tasks().len())?;
        self.shares += u64::from(collective.name().ends_with('v'));
        let index = rank.called.entry(number).or_default();
        let caller = Caller { number: number as u32, members: members.tasks(), task: task.index(), rank: place, line };
        let agreement = &mut self.agreements[number];
        self.calls.expand(&collective, &caller, index, agreement, &mut rank.requests, &mut rank.events)
    }
}

/// The collective of a record 10, on a communicator of `size` ranks.
fn operation(fields: &Fields<'_>, size: usize) -> Result<Collective, Fault> {
    let last = fields.words.len() - 1;
    let (sent, received) = (fields.bytes(last - 1)?, fields.bytes(last)?);
    let bytes = sent.max(received);
    let shares = |total: u64| vec![total / size as u64; size];
    let root = || {
        let root = fields.words[5].parse().ok().filter(|&root| root < size);
        root.ok_or_else(|| invalid("root", fields.words[5], format!("0 to {}", size - 1)))
    };
    Ok(match fields.words[3] {
        "0" => Collective::Barrier,
        "1" => Collective::Broadcast { root: root()?, bytes },
        "2" => Collective::Gather { root: root()?, bytes: if sent > 0 { sent } else { received } },
        "3" => Collective::Gatherv { root: root()?, send: sent, receive: shares(received) },
        "4" => Collective::Scatter { root: root()?, bytes: if received > 0 { received } else { sent } },
        "5" => Collective::Scatterv { root: root()?, send: shares(sent), receive: received },
        "6" => Collective::Allgather { bytes: if sent > 0 { sent } else { received } },
        "7" => Collective::Allgatherv { blocks: shares(received) },
        "8" => Collective::Alltoall { bytes },
        "9" => Collective::Alltoallv { send: shares(sent), receive: shares(received) },
        "10" => Collective::Reduce { root: root()?, bytes },
        "11" => Collective::Allreduce { bytes },
        "12" => Collective::ReduceScatter { blocks: shares(sent) },
        "13" => Collective::Scan { bytes },
        other => return Err(invalid("operation", other, "0 (barrier) to 13 (scan)")),
    })
}
