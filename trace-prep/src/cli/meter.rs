//! Progress on stderr, only if that is a terminal.

use std::io::{self, IsTerminal};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// Shows the current work and its progress.
pub(super) struct Meter(Option<ProgressBar>);

impl Meter {
    /// A progress line that begins with `what`; none if `quiet`, or if stderr is not a terminal.
    pub(super) fn new(quiet: bool, what: &str) -> Self {
        let bar = (!quiet && io::stderr().is_terminal()).then(|| {
            let bar = ProgressBar::new_spinner();
            if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}  {human_pos} events  {per_sec}  {elapsed}")
            {
                bar.set_style(style);
            }
            bar.set_message(what.to_owned());
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        });
        Self(bar)
    }

    /// Sets the number of events processed.
    pub(super) fn set_events(&self, events: u64) {
        if let Some(bar) = &self.0 {
            bar.set_position(events);
        }
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
