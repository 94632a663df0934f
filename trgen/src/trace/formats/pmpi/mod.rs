//! Logs of MPI calls, one file per process and one call per line, as liballprof and this project's recorder write them.
//!
//! ```text
//! MPI_Send:<t>:<buf>:<count>:<type,size,extent>:<dest>:<tag>:<comm,rank,size>:<t>
//! MPI_Irecv:<t>:<buf>:<count>:<type,size,extent>:<source>:<tag>:<comm,rank,size>:<request>:<t>
//! MPI_Waitall:<t>:<count>:<address of the first request>:<statuses>:<t>
//! MPI_Comm_split:<t>:<comm,rank,size>:<color>:<key>:<new comm>:<t>
//! ```
//!
//! The recorder of this project differs in two ways. In place of the address of the first request, it lists the handle
//! of each request (`a;b;`). It also writes these additional lines:
//!
//! ```text
//! MPI_Send_init:<t>:<buf>:<count>:<type,size,extent>:<dest>:<tag>:<comm,rank,size>:<request>:<t>
//! MPI_Start:<t>:<request>:0:<t>
//! MPI_Startall:<t>:<count>:<request>;<request>;:0:<t>
//! MPI_Cancel:<t>:<request>:0:<t>
//! MPI_Gatherv:<t>:<buf>:<count>:<type>:<buf>:<count>;<count>;...:<type>:<root>:<comm,rank,size>:<t>
//! MPI_Scatterv:<t>:<buf>:<count>;<count>;...:<type>:<buf>:<count>:<type>:<root>:<comm,rank,size>:<t>
//! MPI_Put:<t>:<t>
//! ```
//!
//! The counts of `MPI_Gatherv` and `MPI_Scatterv` are those of the root, and 0 elsewhere. A name followed only by times
//! is a call whose arguments are not needed: it is omitted with a warning or rejected (the table in `unfollowed.rs`
//! says which). Calls on files are omitted. Of the calls on windows of shared memory, every synchronisation (fence,
//! post, start, lock) is rejected. `MPI_Cancel` cancels a receive; the recorder writes it before the wait that reports
//! the cancellation. Times are in microseconds; the time between two calls is computing. The last number in a file's
//! name is its rank. Communicators are tracked through splits and duplicates, so that a collective involves only its
//! members.
//!
//! # How the model departs from reality, and who could notice
//! - Source or tag -1 means any, peer -2 the null process (as in Open MPI; MPICH uses other numbers).
//! - `MPI_Alltoallv` records sent sizes only; receives have a size of 0, which matching ignores.
//! - A wait for any of several requests does not record which one completed: the replay takes the first that does.
//! - Calls that only test (`MPI_Test`, `MPI_Iprobe`) are omitted; their requests stay outstanding until a wait.

mod line;
mod unfollowed;

use std::collections::BTreeMap;

use super::error::ReadError;
use super::input::Source;
use super::marks::Marks;
use super::mpi::call::Call;
use super::mpi::{self, Each, Log, Pass};
use super::options::ReadOptions;
use super::text::Lines;
use super::{Application, Candidate, Reader, Trace};
use crate::catalog::Component;

pub(super) const READER: Reader = Reader {
    component: Component {
        name: "liballprof",
        about: "lines `MPI_Send:time:...:time`, one file per rank",
        parameters: &[],
        source: "liballprof (schedgen, LogGOPSim), LSAP 2010",
    },
    find: |source| {
        mpi::families(source, |entry| {
            entry.head.first().is_some_and(|line| line.starts_with("MPI_") && line.contains(':'))
        })
    },
    read: |source, candidate, options| read(source, candidate, options).map(Application::Programs),
};

/// Reads the logs of all ranks into a trace.
fn read(source: &Source<'_>, candidate: &Candidate, options: &ReadOptions) -> Result<Trace, ReadError> {
    let mut log = CallLog::default();
    let mut trace = mpi::read(source, candidate, options, READER.component.name, &mut log)?;
    let left_out = log.left_out.iter().map(|(what, count)| format!("{what}: {count}"));
    trace.warnings.extend(left_out);
    trace.warnings.extend(log.marks.warning("MPI_Finalize", trace.program.tasks.len()));
    Ok(trace)
}

/// The state of reading: findings for warnings.
#[derive(Default)]
struct CallLog {
    /// Number of omitted calls, by kind.
    left_out: BTreeMap<&'static str, u64>,
    /// Which ranks have called MPI_Init and MPI_Finalize.
    marks: Marks,
}

impl Log for CallLog {
    fn read(&mut self, rank: usize, pass: Pass, lines: &mut Lines<'_>, each: &mut Each<'_>) -> Result<(), ReadError> {
        let place = lines.place().clone();
        while let Some((number, line)) = lines.next()? {
            let record = line::parse(line).map_err(|fault| place.line(number).error(fault))?;
            match line::name(line) {
                "Init" | "Init_thread" => self.marks.begin(rank),
                "Finalize" => self.marks.end(rank),
                _ => {}
            }
            if pass == Pass::Events
                && record.call == Call::Ignored
                && let Some(what) = unfollowed::left_out(line::name(line))
            {
                *self.left_out.entry(what).or_default() += 1;
            }
            each(number, record)?;
        }
        Ok(())
    }
}
