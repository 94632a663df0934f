//! `fsin sweep --tui`: the points of a sweep on the terminal while they run.

use std::sync::atomic::AtomicBool;
use std::thread::JoinHandle;

use fsin::dashboard::{Watcher, of_experiment, of_plan, of_result};
use fsin::experiment::Experiment;
use fsin::sweep::{Collected, Plan, Store, StoreError};
use tui::app::App;
use tui::board::Board;
use tui::dashboard::{Ending, Sweeping};
use tui::terminal;
use tui::view::PointState;

use super::Complaint;
use super::looking::{self, spawn};

/// The dashboard of a sweep.
pub(crate) struct Showing {
    board: Option<Board>,
    dashboard: Option<JoinHandle<std::io::Result<Ending>>>,
}

impl Showing {
    /// Shows the points of a plan, with the results of earlier runs. `stop` ends the sweep.
    pub(crate) fn begin(
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
        let (board, events) = Board::new();
        let app = App::of_sweep(sweep, looking::theme());
        let dashboard = spawn(app, Sweeping::new(events, stop), stop)?;
        Ok(Self { board: Some(board), dashboard: Some(dashboard) })
    }

    /// The board to which the sweep reports the state of its points.
    pub(crate) const fn board(&self) -> Option<&Board> {
        self.board.as_ref()
    }

    /// Shows the outcome of the sweep, and waits for the user to leave the dashboard.
    pub(crate) fn end(mut self, plan: &Plan, collected: &Collected) {
        if let Some(board) = &self.board {
            // Points that ran before the stop rule was decided may lie beyond saturation.
            let mut counted = vec![false; plan.points.len()];
            let failed = collected.failed.iter().map(|&(index, _)| index);
            let rows = collected.rows.iter().map(|row| row.index);
            rows.chain(failed).chain(collected.missing.iter().copied()).for_each(|index| counted[index] = true);
            let left_out = counted.iter().enumerate().filter(|&(_, &counted)| !counted);
            left_out.for_each(|(index, _)| board.became(index, PointState::LeftOut));
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
    // Points without result are tried again.
    for (index, _) in &before.failed {
        if store.result(&plan.points[*index], plan.has_checksums())?.is_none() {
            states[*index] = PointState::Waiting;
        }
    }
    Ok(states)
}

/// The watcher of a point that begins; `None` without a dashboard, or for a point without cycles.
pub(crate) fn watcher<'a>(
    board: Option<&Board>,
    index: usize,
    experiment: &Experiment,
    stop: &'a AtomicBool,
) -> Option<Watcher<'a>> {
    let board = board?;
    if experiment.wire().is_some() {
        board.begin_unseen(index);
        return None;
    }
    let (feed, orders) = board.begin(index, of_experiment(experiment));
    Some(Watcher::new(feed, orders, stop))
}
