//! The command line: parses arguments, calls the library, prints results, and returns an exit status.

use std::process::ExitCode;

mod args;
#[cfg(feature = "live")]
mod beside;
mod compare;
mod describe;
#[cfg(feature = "live")]
mod descriptors;
mod diagnostic;
mod foreign;
mod generate;
#[cfg(feature = "live")]
mod guard;
#[cfg(feature = "live")]
mod guest;
mod help;
mod init;
mod interrupt;
mod legacy;
mod log;
#[cfg(feature = "tui")]
mod looking;
#[cfg(feature = "live")]
mod machines;
mod manifest;
mod many;
mod memory;
#[cfg(feature = "tui")]
mod monitor;
#[cfg(feature = "live")]
mod mpirun;
mod notation;
mod output;
mod page;
mod pcap;
mod perform;
mod picture;
mod plot;
#[cfg(feature = "live")]
mod processes;
mod progress;
#[cfg(feature = "live")]
mod relay;
mod rerun;
mod run;
mod saturation;
mod schema;
#[cfg(feature = "live")]
mod serve;
mod settings;
#[cfg(feature = "tui")]
mod showing;
mod sweep;
#[cfg(feature = "tui")]
mod top;
mod topology;
mod traffic;
#[cfg(not(feature = "tui"))]
mod unseen;
mod variables;

pub(crate) use diagnostic::Complaint;
use fsin::Registry;
pub(crate) use notation::Flags;
use trgen::quote::visible;
#[cfg(not(feature = "tui"))]
use unseen as looking;
#[cfg(not(feature = "tui"))]
use unseen as showing;

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

/// Prints what clap has to say of the command line, which may hold anything; returns the exit status.
fn refuse(error: &clap::Error) -> ExitCode {
    let plain = error.render().to_string();
    if !error.use_stderr() || visible(&plain) == plain {
        error.exit();
    }
    output::tell(plain.trim_end());
    ExitCode::from(Exit::Usage as u8)
}

/// Executes the command that the arguments of the process give.
pub(crate) fn main(registry: Registry) -> ExitCode {
    #[cfg(feature = "live")]
    if guard::is_wanted() {
        return guard::main();
    }
    let installed = registry.install().map_err(|error| Complaint::new(Exit::Usage, error.what(), error.remedy()));
    let command = match installed.and_then(|()| args::checked(args::command())) {
        Ok(command) => command,
        Err(complaint) => {
            diagnostic::show(&complaint);
            return ExitCode::from(complaint.exit as u8);
        }
    };
    let matches = match command.try_get_matches() {
        Ok(matches) => matches,
        Err(error) => return refuse(&foreign::explained(error)),
    };
    memory::watch();
    if let Err(complaint) = variables::check(&matches) {
        diagnostic::show(&complaint);
        return ExitCode::from(complaint.exit as u8);
    }
    let result = match matches.subcommand() {
        Some(("run", matches)) => run::run(matches),
        Some(("traffic", matches)) => traffic::traffic(matches),
        Some(("legacy", matches)) => legacy::legacy(matches),
        Some(("topology", matches)) => topology::topology(matches),
        Some(("config", matches)) => run::config(matches),
        Some(("list", matches)) => describe::list(matches),
        #[cfg(feature = "live")]
        Some(("serve", matches)) => serve::serve(matches),
        #[cfg(feature = "live")]
        Some(("mpirun", matches)) => mpirun::mpirun(matches),
        #[cfg(feature = "live")]
        Some(("machines", matches)) => machines::machines(matches),
        #[cfg(feature = "live")]
        Some(("guest", matches)) => guest::guest(matches),
        #[cfg(feature = "tui")]
        Some(("top", matches)) => top::top(matches),
        #[cfg(feature = "tui")]
        Some(("record-view", matches)) => top::record(matches),
        #[cfg(feature = "live")]
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
