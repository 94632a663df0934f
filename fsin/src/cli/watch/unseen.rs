//! Replaces the modules `looking` and `showing` in a build without the feature `tui`, in which runs cannot be observed.
//! The names are those of these modules.

use std::sync::atomic::AtomicBool;

use crate::experiment::Experiment;
use crate::result::RunResult;
use crate::sweep::{Collected, Plan, Store};
use crate::watch::Watch;
use clap::{ArgMatches, Command};

use crate::cli::Complaint;

/// The terminal, which no dashboard takes.
pub(crate) mod terminal {
    pub(crate) const fn restore() {}

    pub(crate) const fn is_taken() -> bool {
        false
    }
}

/// No flags.
pub(crate) fn flags(command: Command) -> Command {
    command
}

/// No flag.
pub(crate) const fn asked(_: &ArgMatches) -> Option<&'static str> {
    None
}

/// There is no such request.
pub(crate) enum Request {}

/// No request.
#[expect(clippy::unnecessary_wraps, reason = "with the feature, a request can be refused")]
pub(crate) const fn request(_: &ArgMatches, _: &str) -> Result<Option<Request>, Complaint> {
    Ok(None)
}

/// No observers.
pub(crate) enum Looking {}

impl Looking {
    #[expect(clippy::unnecessary_wraps, reason = "with the feature, observers can fail to start")]
    pub(crate) const fn of_experiment(
        _: &ArgMatches,
        _: &Experiment,
        _: &'static AtomicBool,
    ) -> Result<Option<Self>, Complaint> {
        Ok(None)
    }

    pub(crate) fn watch(&mut self) -> &mut dyn Watch {
        match *self {}
    }

    pub(crate) const fn has_terminal(&self) -> bool {
        match *self {}
    }

    pub(crate) const fn end(self, _: &[String]) -> Result<(), Complaint> {
        match self {}
    }
}

/// No dashboard of a sweep.
pub(crate) enum Showing {}

impl Showing {
    pub(crate) const fn begin(
        request: Request,
        _: &Store,
        _: &Plan,
        _: &Collected,
        _: usize,
        _: &'static AtomicBool,
    ) -> Result<Self, Complaint> {
        match request {}
    }

    pub(crate) const fn board(&self) -> Option<&Board> {
        match *self {}
    }

    pub(crate) const fn end(self, _: &Plan, _: &Collected) {
        match self {}
    }
}

/// No board.
pub(crate) enum Board {}

impl Board {
    pub(crate) fn say(&self, _: String) {
        match *self {}
    }

    pub(crate) const fn left_out(&self, _: usize) {
        match *self {}
    }

    pub(crate) const fn waits(&self, _: usize) {
        match *self {}
    }

    pub(crate) const fn failed(&self, _: usize, _: &str) {
        match *self {}
    }

    pub(crate) const fn done(&self, _: usize, _: &RunResult, _: f64) {
        match *self {}
    }

    pub(crate) fn watcher<'a>(&self, _: usize, _: &Experiment, _: &'a AtomicBool) -> Option<Box<dyn Watch + 'a>> {
        match *self {}
    }
}
