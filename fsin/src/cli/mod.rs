//! The command line: parses arguments, calls the library, prints results, and returns an exit status.

mod args;
mod describe;
mod diagnostic;
mod foreign;
mod init;
mod interrupt;
mod invocation;
mod key_flags;
#[cfg(feature = "live")]
mod live;
mod manifest;
mod many;
mod notation;
mod output;
mod run;
mod settings;
mod signals;
mod stamp;
mod stderr;
mod variables;
mod watch;

pub(crate) use diagnostic::Complaint;
use fsin::Registry;
pub(crate) use invocation::called_by;
pub(crate) use notation::Flags;
use trgen::quote::visible;

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

/// The exit status as a number: that of an interrupted command tells the signal.
pub(crate) fn status(exit: Exit) -> u8 {
    if exit == Exit::Interrupted { signals::status() as u8 } else { exit as u8 }
}

/// Prints what clap has to say of the command line, which may hold anything; returns the exit status.
fn refuse(error: &clap::Error) -> Exit {
    let plain = error.render().to_string();
    if !error.use_stderr() || visible(&plain) == plain {
        error.exit();
    }
    output::tell(plain.trim_end());
    Exit::Usage
}

/// The words of the call, with those of other commands that users know translated.
#[cfg_attr(not(feature = "live"), allow(unused_variables, reason = "only mpirun has such words"))]
fn words(command: &clap::Command) -> Result<Vec<std::ffi::OsString>, Complaint> {
    let words = invocation::words();
    #[cfg(feature = "live")]
    if words.get(1).is_some_and(|word| word == "mpirun")
        && let Some(mpirun) = command.find_subcommand("mpirun")
    {
        return live::mpirun::translated(mpirun, words);
    }
    Ok(words)
}

/// Executes the command that the arguments of the [call](invocation) give; returns its exit status.
pub(crate) fn main(registry: Registry) -> Exit {
    #[cfg(feature = "live")]
    if live::guard::is_wanted() {
        return live::guard::main();
    }
    let installed = registry.install().map_err(|error| Complaint::new(Exit::Usage, error.what(), error.remedy()));
    let command = match installed.and_then(|()| args::checked(args::command_of(&invocation::words()))) {
        Ok(command) => command,
        Err(complaint) => {
            diagnostic::show(&complaint);
            return complaint.exit;
        }
    };
    let words = match words(&command) {
        Ok(words) => words,
        Err(complaint) => {
            diagnostic::show(&complaint);
            return complaint.exit;
        }
    };
    let matches = match command.try_get_matches_from(&words) {
        Ok(matches) => matches,
        Err(error) => return refuse(&foreign::explained(error, &words)),
    };
    run::memory::watch();
    if let Err(complaint) = variables::check(&matches) {
        diagnostic::show(&complaint);
        return complaint.exit;
    }
    let result = match matches.subcommand() {
        Some(("run", matches)) => run::run(matches),
        Some(("traffic", matches)) => describe::traffic::traffic(matches),
        Some(("legacy", matches)) => run::legacy::legacy(matches),
        Some(("topology", matches)) => describe::topology::topology(matches),
        Some(("routes", matches)) => describe::routes::routes(matches),
        Some(("energy", matches)) => describe::energy::energy(matches),
        Some(("config", matches)) => run::config(matches),
        Some(("import", matches)) => match matches.subcommand() {
            Some((simulator, matches)) => run::import(simulator, matches),
            None => Ok(Exit::Usage),
        },
        Some(("list", matches)) => describe::list(matches),
        #[cfg(feature = "live")]
        Some(("serve", matches)) => live::serve::serve(matches),
        #[cfg(feature = "live")]
        Some(("mpirun", matches)) => live::mpirun::mpirun(matches),
        #[cfg(feature = "live")]
        Some(("machines", matches)) => live::machines::machines(matches),
        #[cfg(feature = "live")]
        Some(("guest", matches)) => live::guest::guest(matches),
        #[cfg(feature = "tui")]
        Some(("top", matches)) => watch::top::top(matches),
        #[cfg(feature = "tui")]
        Some(("record-view", matches)) => watch::top::record(matches),
        #[cfg(feature = "live")]
        Some(("relay", matches)) => live::relay::relay(matches),
        Some(("init", matches)) => init::init(matches),
        Some(("sweep", matches)) => many::sweep::sweep(matches),
        Some(("point", matches)) => many::sweep::point(matches),
        Some(("collect", matches)) => many::sweep::gather(matches),
        Some(("saturation", matches)) => many::saturation::saturation(matches),
        Some(("plot", matches)) => many::plot::plot(matches),
        Some(("report", matches)) => many::page::report(matches),
        Some(("compare", matches)) => many::compare::compare(matches),
        Some(("rerun", matches)) => run::rerun::rerun(matches),
        Some(("pack", matches)) => many::pack::pack(matches),
        Some(("schema", matches)) => describe::schema::schema(matches),
        Some(("generate", matches)) => describe::generate::generate(matches),
        Some(("explain", matches)) => describe::explain(matches),
        // Clap has already rejected a missing or unknown subcommand.
        _ => Ok(Exit::Usage),
    };
    result.unwrap_or_else(|complaint| {
        diagnostic::show(&complaint);
        complaint.exit
    })
}
