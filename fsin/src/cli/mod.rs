//! The command line: words in, exit codes out. Everything else is the library's.

use std::process::ExitCode;

mod args;
mod compare;
mod describe;
mod diagnostic;
mod generate;
mod guest;
mod help;
mod init;
mod interrupt;
mod legacy;
mod looking;
mod manifest;
mod many;
mod memory;
mod monitor;
mod mpirun;
mod notation;
mod output;
mod page;
mod perform;
mod picture;
mod plot;
mod progress;
mod relay;
mod rerun;
mod run;
mod saturation;
mod schema;
mod serve;
mod showing;
mod sweep;
mod top;
mod topology;
mod traffic;

pub(crate) use diagnostic::Complaint;
pub(crate) use notation::Flags;

/// Exit status of the command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Exit {
    /// The work is done. A saturated network is a result, not a failure.
    Done = 0,
    /// Something failed while running.
    Failed = 1,
    /// The command line, the experiment or an input file cannot be used.
    Usage = 2,
    /// The network or the traffic is in deadlock, a message or receive is unmatched, or a strict limit was reached.
    Watchdog = 3,
    /// A sweep finished, and some of its points failed.
    PointsFailed = 4,
    /// The user interrupted; partial results were written.
    Interrupted = 130,
}

pub(crate) fn main() -> ExitCode {
    let matches = args::command().get_matches();
    memory::watch();
    let result = match matches.subcommand() {
        Some(("run", matches)) => run::run(matches),
        Some(("traffic", matches)) => traffic::traffic(matches),
        Some(("legacy", matches)) => legacy::legacy(matches),
        Some(("topology", matches)) => topology::topology(matches),
        Some(("config", matches)) => run::config(matches),
        Some(("list", matches)) => describe::list(matches),
        Some(("serve", matches)) => serve::serve(matches),
        Some(("mpirun", matches)) => mpirun::mpirun(matches),
        Some(("guest", matches)) => guest::guest(matches),
        Some(("top", matches)) => top::top(matches),
        Some(("record-view", matches)) => top::record(matches),
        Some(("relay", matches)) => relay::relay(matches),
        Some(("init", matches)) => init::init(matches),
        Some(("sweep", matches)) => sweep::sweep(matches),
        Some(("point", matches)) => sweep::point(matches),
        Some(("collect", matches)) => sweep::gather(matches),
        Some(("saturation", matches)) => saturation::saturation(matches),
        Some(("plot", matches)) => plot::plot(matches),
        Some(("report", matches)) => page::report(matches),
        Some(("compare", matches)) => compare::compare(matches),
        Some(("rerun", matches)) => rerun::rerun(matches),
        Some(("schema", matches)) => schema::schema(matches),
        Some(("generate", matches)) => generate::generate(matches),
        Some(("explain", matches)) => describe::explain(matches),
        // Clap has already rejected a missing or unknown subcommand.
        _ => Ok(Exit::Usage),
    };
    let exit = result.unwrap_or_else(|complaint| {
        diagnostic::show(&complaint);
        complaint.exit
    });
    ExitCode::from(exit as u8)
}
