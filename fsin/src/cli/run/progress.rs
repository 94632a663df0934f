//! A progress bar on stderr, only where that is a terminal.

use std::io::{self, IsTerminal};
use std::time::Duration;

use fsin::experiment::Step;
use fsin::run::Progress;
use indicatif::{HumanCount, ProgressBar, ProgressState, ProgressStyle};
use trgen::Cycle;

/// Template of the bar if the number of cycles is known.
const KNOWN_LENGTH: &str = "{msg} {wide_bar} {human_pos}/{human_len} cycles  {rate}  {eta} left";
/// Template of the bar if the number of cycles is not known.
const UNKNOWN_LENGTH: &str = "{spinner} {msg}  {human_pos} cycles  {rate}  {elapsed}";

/// Progress display of a run.
pub(crate) struct Meter {
    /// `None` if nothing is shown.
    bar: Option<ProgressBar>,
    /// \[cycles\] Length of the run, if it is known.
    end: Option<u64>,
}

impl Meter {
    pub(crate) fn new(quiet: bool) -> Self {
        let bar = (!quiet && io::stderr().is_terminal()).then(|| {
            let bar = ProgressBar::new_spinner();
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        });
        let mut meter = Self { bar, end: None };
        meter.restyle(None);
        meter
    }

    /// Shows the progress of the run.
    pub(crate) fn show(&mut self, step: Step) {
        match step {
            _ if self.bar.is_none() => {}
            Step::Cycles(progress) => self.cycles(progress),
            Step::Events(events) => self.events(events),
            _ => {}
        }
    }

    /// Shows the progress of a run in cycles.
    fn cycles(&mut self, progress: Progress) {
        let end = progress.end.map(|end| end.since(Cycle::FIRST));
        if end != self.end {
            self.restyle(end);
        }
        if let Some(bar) = &self.bar {
            bar.set_position(progress.clock.since(Cycle::FIRST));
            bar.set_message(match progress.end {
                Some(_) => progress.phase.to_owned(),
                None => format!("{}, {} packets in flight", progress.phase, progress.in_flight),
            });
        }
    }

    /// Shows the events of a run without cycles.
    fn events(&self, events: u64) {
        if let Some(bar) = &self.bar {
            if let Ok(style) = ProgressStyle::with_template("{spinner}  {human_pos} events  {per_sec}  {elapsed}") {
                bar.set_style(style);
            }
            bar.set_position(events);
        }
    }

    /// Sets the template and the length of the bar.
    fn restyle(&mut self, end: Option<u64>) {
        self.end = end;
        let Some(bar) = &self.bar else { return };
        let template = if end.is_some() { KNOWN_LENGTH } else { UNKNOWN_LENGTH };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.with_key("rate", |state: &ProgressState, out: &mut dyn std::fmt::Write| {
                // Writing to a text cannot fail.
                let _ = write!(out, "{} cycles/s", HumanCount(state.per_sec() as u64));
            }));
        }
        if let Some(end) = end {
            bar.set_length(end);
        }
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Progress display of the points of a sweep.
pub(crate) struct Points {
    /// `None` if nothing is shown.
    bar: Option<ProgressBar>,
}

impl Points {
    pub(crate) fn new(quiet: bool, points: usize) -> Self {
        let bar = (!quiet && points > 0 && io::stderr().is_terminal()).then(|| {
            let bar = ProgressBar::new(points as u64);
            if let Ok(style) =
                ProgressStyle::with_template("{wide_bar} {human_pos}/{human_len} points  {elapsed}  {eta} left")
            {
                bar.set_style(style);
            }
            bar.enable_steady_tick(Duration::from_millis(500));
            bar
        });
        Self { bar }
    }

    /// Counts a point that has run.
    pub(crate) fn one_more(&self) {
        self.bar.iter().for_each(|bar| bar.inc(1));
    }

    /// Removes a point that need not run from the total.
    pub(crate) fn skip(&self) {
        self.bar.iter().for_each(|bar| bar.dec_length(1));
    }

    /// Sets the number of points that have run.
    pub(crate) fn set(&self, points: usize) {
        self.bar.iter().for_each(|bar| bar.set_position(points as u64));
    }

    /// Prints a message for the user above the bar.
    pub(crate) fn print_above(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| crate::cli::output::tell(line)),
            None => crate::cli::output::tell(line),
        }
    }
}

impl Drop for Points {
    fn drop(&mut self) {
        self.bar.iter().for_each(ProgressBar::finish_and_clear);
    }
}
