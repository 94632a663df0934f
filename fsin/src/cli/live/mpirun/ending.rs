//! How a run of a program has ended, and whose fault it is.

use std::ffi::OsStr;
use std::process::ExitStatus;

use adapters::endpoint::EndpointError;
use adapters::live::Live;
use fsin::couple::Failure;
use fsin::run::Outcome;

use super::library::Folder;
use super::program;
use super::ranks::Ranks;
use super::reports::{self, Report, Unusable};
use crate::cli::live::processes;
use crate::cli::live::processes::Unknown;
use crate::cli::{Complaint, Exit, diagnostic, output};

/// How the program has ended.
pub(super) enum Ended {
    /// All ranks have finalized and ended with this status.
    Program(i32),
    /// The run has failed.
    Failed(Complaint),
}

/// The error of an endpoint that cannot work, or of a wait that was interrupted.
pub(super) fn refused(error: EndpointError) -> Complaint {
    match error {
        EndpointError::Interrupted { .. } => {
            Complaint::new(Exit::Interrupted, "interrupted before all ranks had called MPI_Init", "start it again")
        }
        error => Complaint::new(Exit::Failed, error.to_string(), error.remedy()),
    }
}

/// A run that has not begun, with the status of the program, if it has one.
pub(super) struct NotBegun {
    pub(super) complaint: Complaint,
    pub(super) status: Option<i32>,
}

impl From<Complaint> for NotBegun {
    fn from(complaint: Complaint) -> Self {
        Self { complaint, status: None }
    }
}

/// The error of a process that has ended before virtual time began.
pub(super) fn never_began(
    folder: &Folder,
    program: &OsStr,
    ranks: &Ranks,
    process: usize,
    status: ExitStatus,
) -> NotBegun {
    let status_of_program = Some(processes::code(status)).filter(|&code| code != 0);
    let failed = ranks.of(process).find_map(|rank| {
        let report = reports::read_one(folder.path(), rank).ok()?;
        Some((report.failure?, report.remedy))
    });
    if let Some((failure, remedy)) = failed {
        let remedy = remedy.unwrap_or_else(|| "correct the program".to_owned());
        let complaint = Complaint::new(Exit::Failed, failure, remedy);
        return NotBegun { complaint, status: status_of_program };
    }
    let what = format!("{} {} before MPI_Init", ranks.name(process), processes::describe_end(status));
    let complaint = match program::obstacle(program) {
        Some(obstacle) => {
            let remedy = "link it dynamically with MPICH (mpicc.mpich), and give it no more rights than you have";
            Complaint::new(Exit::Failed, format!("{what}: {obstacle}"), remedy)
        }
        None => {
            let remedy =
                "see what it has written; the program must be linked dynamically with MPICH (libmpich.so.12: see ldd)";
            Complaint::new(Exit::Failed, what, remedy)
        }
    };
    NotBegun { complaint, status: status_of_program }
}

/// The status of a program all of whose ranks have left the network.
fn status(ranks: &mut Ranks, reports: &[Result<Report, Unusable>]) -> Ended {
    let failed = |what: String, remedy: &'static str| Ended::Failed(Complaint::new(Exit::Failed, what, remedy));
    let worst = ranks.processes.poll().map_or(0, |(_, status)| processes::code(status));
    if let Some(Unknown { number, error }) = ranks.processes.unknown() {
        let what = format!("the exit status of {} is not known: {error}", ranks.name(*number));
        return failed(what, "start fsin so that it gets the signal SIGCHLD");
    }
    if let Some(killed) = ranks.launcher_killed() {
        return failed(format!("{killed}, and what its ranks have returned is not known"), "start it again");
    }
    if let Some(process) = ranks.processes.first_killed() {
        let (name, limit) = (ranks.name(process), processes::GRACE.as_secs());
        let what = format!("{name} was still running {limit} s after the end of the run, and was killed");
        return failed(what, "let the program end soon after MPI_Finalize");
    }
    let unusable = reports.iter().enumerate().find_map(|(rank, report)| Some((rank, report.as_ref().err()?)));
    match unusable {
        Some((rank, why)) if worst == 0 => {
            let what = format!("rank {rank} has ended, and its report {why}: there are no results");
            failed(what, "free some space, or set TMPDIR to a folder with space")
        }
        _ => Ended::Program(worst),
    }
}

/// Determines how the program has ended. If a rank has failed, names it.
pub(super) fn ending(outcome: &Outcome, live: &Live, ranks: &mut Ranks, reports: &[Result<Report, Unusable>]) -> Ended {
    const SHOWN: usize = 16;
    match &outcome.failure {
        None => status(ranks, reports),
        Some(Failure::TrafficDeadlock { .. }) => {
            let wait = |(rank, report): (usize, &Result<Report, Unusable>)| match report {
                Ok(report) => Some(format!("\n  rank {rank}, {}", report.awaits.as_ref()?)),
                Err(why) => Some(format!("\n  rank {rank}: what it waits for is not known, its report {why}")),
            };
            let waits: Vec<String> = reports.iter().enumerate().filter_map(wait).collect();
            let more = waits.len().saturating_sub(SHOWN);
            let tail = if more > 0 { format!("\n  ... and {more} more") } else { String::new() };
            let what = format!(
                "the program is in deadlock: nothing is on its way, and{}{tail}",
                waits[..waits.len().min(SHOWN)].concat()
            );
            let remedy = "each of these ranks waits for something that no rank does: compare calls, ranks, tags and \
                          communicators";
            Ended::Failed(Complaint::new(Exit::Watchdog, what, remedy))
        }
        Some(failure) => {
            let lost = live.report().guests.iter().position(|guest| guest.lost.is_some());
            let Some(rank) = lost else { return Ended::Failed(Complaint::of_failure(failure)) };
            if let Some(killed) = ranks.launcher_killed() {
                let what = format!("{killed}; rank {rank} was lost, and the other ranks were ended");
                return Ended::Failed(Complaint::new(Exit::Failed, what, "see who has ended it, and start it again"));
            }
            let status = ranks.status(rank);
            let own_failure = reports.get(rank).and_then(|report| report.as_ref().ok()?.failure.clone());
            if let (Some(failure), Some(code)) = (own_failure, status.and_then(|status| status.code())) {
                // The rank has printed the error to stderr itself.
                output::tell(&format!("fsin mpirun: the run has ended because of this error: {failure}"));
                return Ended::Program(code.max(1));
            }
            let how = status.map_or_else(|| "was lost".to_owned(), processes::describe_end);
            let reason = live.report().guests[rank].lost.clone().unwrap_or_default();
            let what = match status {
                Some(status) if status.success() => format!("rank {rank} ended without a call of MPI_Finalize"),
                Some(status) if status.code().is_none() => format!("rank {rank} {how}, and the other ranks were ended"),
                _ => format!("rank {rank} {how}, and the other ranks were ended: {reason}"),
            };
            let code = status.map_or(1, processes::code);
            let complaint = Complaint::new(Exit::Failed, what, "see what it has written before its end");
            if code == 0 || code == 1 {
                return Ended::Failed(complaint);
            }
            diagnostic::show(&complaint);
            Ended::Program(code)
        }
    }
}
