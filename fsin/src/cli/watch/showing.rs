//! `fsin sweep --tui`: the points of a sweep on the terminal while they run.

use std::sync::atomic::AtomicBool;
use std::thread::JoinHandle;

use clap::{Arg, ArgAction, ArgMatches, Command};
use fsin::dashboard::{Watcher, of_experiment, of_plan, of_result};
use fsin::experiment::Experiment;
use fsin::result::RunResult;
use fsin::sweep::{Collected, Plan, Store, StoreError};
use fsin::watch::Watch;
use tui::app::App;
use tui::dashboard::{Ending, Sweeping};
use tui::terminal;
use tui::view::PointState;

use crate::cli::watch::looking::{self, spawn};
use crate::cli::{Complaint, Exit};

/// Adds the flag of this module to a command.
pub(crate) fn flags(command: Command) -> Command {
    command.arg(
        Arg::new("tui")
            .long("tui")
            .action(ArgAction::SetTrue)
            .conflicts_with("dry-run")
            .help("Show curves and points on the terminal (backend local)")
            .help_heading("Output"),
    )
}

/// The request to show a sweep, which has been checked.
pub(crate) struct Request(());

/// The request of the command line.
///
/// # Errors
/// Points run elsewhere, or there is no terminal.
pub(crate) fn request(matches: &ArgMatches, backend: &str) -> Result<Option<Request>, Complaint> {
    if !matches.get_flag("tui") {
        return Ok(None);
    }
    if backend != "local" {
        let what = format!("--tui shows points that run in this process, and --backend {backend} runs them elsewhere");
        let remedy = "leave it out, or use --backend local; `fsin collect DIR` tells how far the others are";
        return Err(Complaint::new(Exit::Usage, what, remedy));
    }
    looking::need_terminal("--tui", "leave it out: a sweep needs no terminal, and can be interrupted and resumed")?;
    Ok(Some(Request(())))
}

/// The dashboard of a sweep, to which the states of its points are reported.
pub(crate) struct Board(tui::board::Board);

impl Board {
    /// Shows a line of text.
    pub(crate) fn say(&self, line: String) {
        self.0.say(line);
    }

    /// Reports that the stop rule has left a point out.
    pub(crate) fn left_out(&self, index: usize) {
        self.0.became(index, PointState::LeftOut);
    }

    /// Reports that a point was interrupted, and has to run again.
    pub(crate) fn waits(&self, index: usize) {
        self.0.became(index, PointState::Waiting);
    }

    /// Reports that a point has failed.
    pub(crate) fn failed(&self, index: usize, why: &str) {
        self.0.became(index, PointState::Failed(why.to_owned()));
    }

    /// Reports the result of a point, which has run for `seconds`.
    pub(crate) fn done(&self, index: usize, result: &RunResult, seconds: f64) {
        self.0.became(index, of_result(result, Some(seconds)));
    }

    /// Reports that a point begins, and returns its watcher; `None` for a point without cycles.
    pub(crate) fn watcher<'a>(
        &self,
        index: usize,
        experiment: &Experiment,
        stop: &'a AtomicBool,
    ) -> Option<Box<dyn Watch + 'a>> {
        if experiment.runs.by_hosts() {
            self.0.begin_unseen(index);
            return None;
        }
        let (feed, orders) = self.0.begin(index, of_experiment(experiment));
        Some(Box::new(Watcher::new(feed, orders, stop)))
    }
}

/// The dashboard of a sweep.
pub(crate) struct Showing {
    /// `None` once the sweep has ended.
    board: Option<Board>,
    /// The thread of the dashboard.
    dashboard: Option<JoinHandle<std::io::Result<Ending>>>,
}

impl Showing {
    /// Shows the points of a plan, with the results of earlier runs. `at_once` is the number of points that run at the
    /// same time. `stop` ends the sweep when it becomes true.
    pub(crate) fn begin(
        _: Request,
        store: &Store,
        plan: &Plan,
        before: &Collected,
        at_once: usize,
        stop: &'static AtomicBool,
    ) -> Result<Self, Complaint> {
        let mut sweep = of_plan(plan, &store.root().display().to_string(), at_once);
        let states = states(store, plan, before)?;
        sweep.points.iter_mut().zip(states).for_each(|(point, state)| point.state = state);
        sweep.log.extend(plan.left_out());
        let (board, events) = tui::board::Board::new();
        let app = App::of_sweep(sweep, looking::theme());
        let dashboard = spawn(app, Sweeping::new(events, stop), stop)?;
        Ok(Self { board: Some(Board(board)), dashboard: Some(dashboard) })
    }

    /// The board to which the sweep reports the state of its points.
    pub(crate) const fn board(&self) -> Option<&Board> {
        self.board.as_ref()
    }

    /// Shows the outcome of the sweep, and waits for the user to leave the dashboard.
    pub(crate) fn end(mut self, plan: &Plan, collected: &Collected) {
        if let Some(board) = &self.board {
            // A point that ran before the stop rule applied is shown as left out, if it is not among the results.
            let mut counted = vec![false; plan.points.len()];
            let failed = collected.failed.iter().map(|&(index, _)| index);
            let rows = collected.rows.iter().map(|row| row.index);
            rows.chain(failed).chain(collected.missing.iter().copied()).for_each(|index| counted[index] = true);
            let left_out = counted.iter().enumerate().filter(|&(_, &counted)| !counted);
            left_out.for_each(|(index, _)| board.left_out(index));
        }
        self.board = None;
        if let Some(dashboard) = self.dashboard.take() {
            looking::warn_of(looking::join(dashboard));
        }
    }
}

impl Drop for Showing {
    /// Restores the terminal if a sweep fails.
    fn drop(&mut self) {
        self.board = None;
        terminal::restore();
    }
}

/// The state of each point before this run of the sweep.
fn states(store: &Store, plan: &Plan, before: &Collected) -> Result<Vec<PointState>, StoreError> {
    let mut states = vec![PointState::LeftOut; plan.points.len()];
    for row in &before.rows {
        states[row.index] = of_result(&row.result, None);
    }
    for &index in &before.missing {
        states[index] = PointState::Waiting;
    }
    // A failed point without a result is run again.
    for (index, _) in &before.failed {
        if store.result(&plan.points[*index], plan.has_checksums())?.is_none() {
            states[*index] = PointState::Waiting;
        }
    }
    Ok(states)
}
