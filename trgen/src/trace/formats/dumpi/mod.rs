//! DUMPI traces (SST) as the text that `dumpi2ascii` makes of them, one file per rank.
//!
//! ```text
//! MPI_Isend entering at walltime 1296777956.739674000, cputime 0.008347000 seconds in thread 0.
//! int count=1
//! MPI_Datatype datatype=9 (MPI_INT)
//! int dest=1
//! int tag=1337
//! MPI_Comm comm=2 (MPI_COMM_WORLD)
//! MPI_Request request=[2]
//! MPI_Isend returning at walltime 1296777956.739689000, cputime 0.008362000 seconds in thread 0.
//! ```
//!
//! The text contains every MPI-2 call with its arguments, by their names in the standard. A list is `TYPE
//! NAME[LENGTH]=[A, B]`; a number that stands for an object may be followed by its name. The calls are preceded by
//! lines `key=value`, and followed by the number of calls of each kind and the sizes of datatypes. The binary form is
//! defined by its library alone; its own tool reads every version. The last number in a file's name is its rank.
//!
//! Computing is the CPU time between the end of a call and the beginning of the next one, or the wall time if the
//! process's CPU time was not recorded. Communicators are tracked through splits, duplicates, groups (of a
//! communicator, some ranks of another, all but some) and grids; where the process asked for its rank or the size, the
//! recorded answer is compared with the computed one.
//!
//! # How the model departs from reality, and who could notice
//! - A wait for any or some of several requests becomes a wait for those that completed in the recording, since the
//!   program's next steps depended on them. So does a successful test. The user of a master-worker program would
//!   notice.
//! - Numbers without a name are taken as follows: source -1 and tag -1 mean any; source -2 and every negative
//!   destination mean the null process.
//! - A grid is assumed to keep the order of ranks, whether or not the library was allowed to change it.
//! - `MPI_IN_PLACE` is not visible in the text: counts are taken as printed. In operations with a root, arguments
//!   without meaning for a rank are ignored.
//! - CPU time is that of the process: a program with threads computes longer here than it took.
//! - One-sided operations and files are omitted, with a warning. Intercommunicators, graphs and dynamically started
//!   processes are rejected.
//!
//! Decision: docs/decisions/0043-archives-through-their-tools.md.

mod binary;
mod calls;
mod datatypes;
mod text;

use std::collections::BTreeMap;

pub use self::binary::{DumpiBinaries, dumpi_binaries};
use self::datatypes::{Datatypes, StatedSizes};
use self::text::{Args, Edge};
use super::error::{Fault, ReadError};
use super::input::{Entry, Source};
use super::marks::unfinished;
use super::mpi::call::Record;
use super::mpi::{self, Each, Log, Pass};
use super::options::ReadOptions;
use super::text::Lines;
use super::{Application, Candidate, Layout, Reader, Trace};
use crate::catalog::Component;

pub(super) use self::binary::{holds_binaries, unprinted};

pub(super) const READER: Reader = Reader {
    component: Component {
        name: "dumpi-ascii",
        about: "a DUMPI trace as text: the output of `dumpi2ascii`, one file per rank",
        parameters: &[],
        source: "DUMPI, the MPI trace library of SST (Sandia National Laboratories)",
    },
    find,
    read: |source, candidate, options| read(source, candidate, options).map(Application::Programs),
};

/// True for a file that begins like the output of `dumpi2ascii`, with or without the lines before the calls.
fn is_dumpi_text(entry: &Entry) -> bool {
    let begins = |at: usize, word: &str| entry.head.get(at).is_some_and(|line| line.starts_with(word));
    begins(0, "version=") && begins(1, "starttime=") || entry.head.iter().any(|line| Edge::parse(line).is_some())
}

/// The traces as text in the source.
fn find(source: &Source<'_>) -> Vec<Candidate> {
    let mut found = mpi::families(source, is_dumpi_text);
    // Beside a whole trace in binary form, the text of some of its ranks is not a trace.
    found.retain(|candidate| match &candidate.layout {
        Layout::PerRank(files) => binary::ranks_beside(source, &files[0]) <= files.len(),
        Layout::Whole(_) | Layout::Index(_) => true,
    });
    found
}

/// Reads the text of all ranks into a trace.
fn read(source: &Source<'_>, candidate: &Candidate, options: &ReadOptions) -> Result<Trace, ReadError> {
    let mut dump = Dump::default();
    let mut trace = mpi::read(source, candidate, options, READER.component.name, &mut dump)?;
    dump.report(&mut trace);
    Ok(trace)
}

/// State over the files of all ranks.
#[derive(Default)]
struct Dump {
    /// Sizes of datatypes that the end of each rank's file states, by rank; filled in the first pass.
    stated: Vec<StatedSizes>,
    /// Number of omitted calls, by kind.
    left_out: BTreeMap<&'static str, u64>,
    /// Number of calls from a thread other than the first of its rank.
    threads: u64,
    /// Number of calls made while recording was switched off.
    not_recorded: u64,
    /// The first rank whose file holds another number of calls than its end states: rank, stated number, number held.
    miscounted: Option<(usize, u64, u64)>,
    /// Ranks without MPI_Finalize: their number, and the first of them.
    unfinished: Option<(u64, usize)>,
    /// Arguments of the current call.
    args: Args,
}

impl Log for Dump {
    fn read(&mut self, rank: usize, pass: Pass, lines: &mut Lines<'_>, each: &mut Each<'_>) -> Result<(), ReadError> {
        // Files of an archive come in any order.
        if self.stated.len() <= rank {
            self.stated.resize_with(rank + 1, StatedSizes::default);
        }
        let mut stated = std::mem::take(&mut self.stated[rank]);
        let done = match pass {
            Pass::Communicators => self.pass(lines, Some(&mut stated), &mut Datatypes::new(None), rank, each),
            Pass::Events => self.pass(lines, None, &mut Datatypes::new(Some(&stated)), rank, each),
        };
        // The first pass stores the sizes for the second one, which frees them.
        if pass == Pass::Communicators {
            self.stated[rank] = stated;
        }
        done
    }
}

impl Dump {
    /// Processes the file of a rank and passes its calls to `each`. In the first pass, `stated` collects the sizes at
    /// the end of the file, and only calls that create communicators are passed on; in the second one it is `None`.
    fn pass(
        &mut self,
        lines: &mut Lines<'_>,
        mut stated: Option<&mut StatedSizes>,
        datatypes: &mut Datatypes<'_>,
        rank: usize,
        each: &mut Each<'_>,
    ) -> Result<(), ReadError> {
        let place = lines.place().clone();
        let events = stated.is_none();
        let mut begin = None;
        let (mut first_thread, mut calls, mut finished) = (None::<String>, 0, false);
        while let Some((number, line)) = lines.next()? {
            let here = |fault: Fault| place.line(number).error(fault);
            let Some(edge) = Edge::parse(line) else {
                if begin.is_some() {
                    if events || calls::creates(self.args.call()) {
                        self.args.keep(line, number);
                    }
                } else if let Some(size) = text::datatype(line) {
                    if let Some(stated) = stated.as_deref_mut() {
                        datatypes::record_stated(stated, size);
                    }
                } else if let (Some((called, ignored)), true) = (text::totals(line), events) {
                    self.not_recorded += ignored;
                    if ignored == 0 && called != calls {
                        self.miscounted.get_or_insert((rank, called, calls));
                    }
                } else if let Some((kind, name, _)) =
                    text::argument(line).filter(|(kind, ..)| *kind == "int" || kind.starts_with("MPI_"))
                {
                    return Err(here(stray(&format!("{kind} {name}"))));
                }
                continue;
            };
            let clocks = edge.clocks().map_err(here)?;
            if edge.enters {
                if begin.is_some() {
                    return Err(here(Fault::Structure {
                        what: format!("{} begins, and {} has not returned", edge.call, self.args.call()),
                        remedy: PRINT_AGAIN,
                    }));
                }
                begin = Some(clocks);
                calls += 1;
                self.args.begin(edge.call, number);
                continue;
            }
            let Some(begin) = begin.take().filter(|_| edge.call == self.args.call()) else {
                return Err(here(stray(&format!("{} returning", edge.call))));
            };
            finished |= edge.call == "MPI_Finalize";
            if !events && !calls::creates(edge.call) {
                continue;
            }
            if events {
                self.count_call(edge, &mut first_thread);
            }
            let line = self.args.line();
            let call = calls::meaning(&self.args, datatypes).map_err(|(line, fault)| place.line(line).error(fault))?;
            each(line, Record { begin, end: clocks, call })?;
        }
        if begin.is_some() {
            return Err(lines.error(Fault::Structure {
                what: format!("the file ends, and {} (line {}) has not returned", self.args.call(), self.args.line()),
                remedy: PRINT_AGAIN,
            }));
        }
        if calls == 0 {
            return Err(lines.error(Fault::Structure {
                what: "the file ends without a call of MPI".to_owned(),
                remedy: PRINT_AGAIN,
            }));
        }
        if events && !finished {
            self.unfinished.get_or_insert((0, rank)).0 += 1;
        }
        Ok(())
    }

    /// Counts a call that is omitted, or that a thread other than the first made.
    fn count_call(&mut self, edge: Edge<'_>, first_thread: &mut Option<String>) {
        if let Some(what) = calls::left_out(edge.call) {
            *self.left_out.entry(what).or_default() += 1;
        }
        match (edge.thread(), first_thread) {
            (Some(thread), Some(first)) => self.threads += u64::from(thread != first),
            (Some(thread), none) => *none = Some(thread.to_owned()),
            (None, _) => {}
        }
    }

    /// Adds the findings to the warnings.
    fn report(&self, trace: &mut Trace) {
        let mut warn = |count: u64, what: &str| {
            if count > 0 {
                trace.warnings.push(format!("{what}: {count}"));
            }
        };
        for (what, count) in &self.left_out {
            warn(*count, what);
        }
        warn(self.not_recorded, "calls that were made while recording was switched off, which are missing");
        warn(self.threads, "calls of other threads than the first, taken in the order of the file");
        if let Some((rank, stated, found)) = self.miscounted {
            trace
                .warnings
                .push(format!("rank {rank} made {stated} calls, as its file says at its end, which holds {found}"));
        }
        if let Some((ranks, first)) = self.unfinished {
            trace.warnings.push(unfinished("MPI_Finalize", ranks, first));
        }
    }
}

/// Remedy for a damaged text.
const PRINT_AGAIN: &str = "the text may be cut short or mixed up: print it again, by `dumpi2ascii`";

/// The fault of a line `what` outside of its call.
fn stray(what: &str) -> Fault {
    Fault::Structure { what: format!("`{what}` outside of the call that it belongs to"), remedy: PRINT_AGAIN }
}
