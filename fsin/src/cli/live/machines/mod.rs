//! `fsin machines`: virtual machines on a simulated network, in lockstep with it.

use clap::{ArgMatches, Command};

use crate::cli::{Complaint, Exit};

mod agent;
mod console;
mod ending;
mod flags;
mod folder;
mod prepare;
mod qemu;
mod up;

/// The command `fsin machines`.
pub(crate) fn command() -> Command {
    Command::new("machines")
        .about("Virtual machines, with an operating system each, whose network is the simulated one")
        .long_about(
            "Virtual machines (QEMU) whose network is the simulated one. Their clocks and that of the network are kept in \
             lockstep, and count instructions: what happens, and when, is the same in every run, on any host, and does not \
             depend on the step. `fsin machines prepare` makes what they boot, once.",
        )
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands([flags::up(), flags::run(), flags::console(), flags::down(), flags::prepare()])
}

/// `fsin machines`.
pub(crate) fn machines(matches: &ArgMatches) -> Result<Exit, Complaint> {
    match matches.subcommand() {
        Some(("up", matches)) => up::up(matches),
        Some(("run", matches)) => agent::run(matches),
        Some(("console", matches)) => console::console(matches),
        Some(("down", matches)) => agent::down(matches),
        Some(("prepare", matches)) => prepare::prepare(matches),
        // Clap has already rejected a missing or unknown subcommand.
        _ => Ok(Exit::Usage),
    }
}
