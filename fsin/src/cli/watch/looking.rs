//! `--tui`, `--monitor` and `--record-view`: observers of a run in progress.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use adapters::address::{Address, NotAnAddress};
use clap::{Arg, ArgAction, ArgMatches, ColorChoice, Command, value_parser};
use fsin::dashboard::{Recorder, Watcher, of_experiment};
use fsin::experiment::Experiment;
use fsin::watch::Watch;
use tui::app::{App, Mode};
use tui::dashboard::{Ending, Live, Source, show};
use tui::feed::Feed;
pub(crate) use tui::terminal;
use tui::theme::{Depth, Theme};
use tui::view::{About, RunState, Snapshot};

use crate::cli::watch::monitor::Monitor;
use crate::cli::{Complaint, Exit, output, signals, stderr};

/// Adds the flags of this module to a command.
pub(crate) fn flags(command: Command) -> Command {
    command
        .next_help_heading("Output")
        .arg(
            Arg::new("tui")
                .long("tui")
                .action(ArgAction::SetTrue)
                .help("Show the run on the terminal while it goes on"),
        )
        .arg(
            Arg::new("monitor")
                .long("monitor")
                .value_name("ADDRESS")
                .help("Let `fsin top ADDRESS` show the run: 127.0.0.1:PORT or unix:PATH"),
        )
        .arg(
            Arg::new("record-view")
                .long("record-view")
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf))
                .help("Keep what the dashboard shows; `fsin top FILE` replays it"),
        )
        .arg(
            Arg::new("record-every")
                .long("record-every")
                .value_name("CYCLES")
                .value_parser(value_parser!(u64).range(1..))
                .requires("record-view")
                .help("Cycles between two snapshots of --record-view [ten a second]"),
        )
}

/// The first of the flags of this module that the command line has.
pub(crate) fn asked(matches: &ArgMatches) -> Option<&'static str> {
    ["tui", "monitor", "record-view"].into_iter().find(|flag| match *flag {
        "tui" => matches.get_flag(flag),
        flag => matches.contains_id(flag),
    })
}

/// The terminal's drawing style.
pub(crate) fn theme() -> Theme {
    let word = |name: &str| std::env::var(name).ok();
    let plain = match stderr::color() {
        ColorChoice::Always => false,
        ColorChoice::Never => true,
        ColorChoice::Auto => std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()),
    };
    Theme { depth: Depth::of(word("TERM").as_deref(), word("COLORTERM").as_deref(), plain) }
}

/// Interval at which the end of the dashboard is checked.
const TICK: Duration = Duration::from_millis(10);

/// The remedy for `--tui` without a terminal.
pub(crate) const ELSEWHERE: &str = "leave it out; or use --monitor ADDRESS, and `fsin top ADDRESS` elsewhere";

/// Returns an error if there is no terminal. `what` names the flag or argument that needs one.
pub(crate) fn need_terminal(what: &str, remedy: &str) -> Result<(), Complaint> {
    if terminal::is_there() {
        return Ok(());
    }
    Err(Complaint::new(Exit::Usage, format!("{what} needs a terminal on stdin and stderr"), remedy))
}

/// Parses an address, which must be on this machine. `what` names the flag or argument that gives it.
pub(crate) fn local_address(what: &str, word: &str) -> Result<Address, Complaint> {
    let address: Address = word
        .parse()
        .map_err(|error: NotAnAddress| Complaint::new(Exit::Usage, format!("{what}: {error}"), NotAnAddress::REMEDY))?;
    if address.is_local() {
        return Ok(address);
    }
    let what = format!("{what}: {address} can be reached from other machines, and viewers are not asked who they are");
    Err(Complaint::new(Exit::Usage, what, "use 127.0.0.1:PORT or unix:PATH, and ssh -L from elsewhere"))
}

/// All observers of a run in this process.
pub(crate) struct Looking {
    /// Passes snapshots and messages to the observers.
    feed: Arc<Feed>,
    /// Takes the snapshots.
    watcher: Watcher<'static>,
    /// The thread of the dashboard, with `--tui`.
    dashboard: Option<JoinHandle<std::io::Result<Ending>>>,
    /// The server of viewers, with `--monitor`.
    monitor: Option<Monitor>,
    /// The file of `--record-view`.
    recording: Option<PathBuf>,
    /// Keeps the command channel open if there is no dashboard to send commands.
    _commands: Option<Sender<tui::app::Command>>,
}

impl Looking {
    /// Starts the observers of an experiment; otherwise as [`Looking::begin`].
    pub(crate) fn of_experiment(
        matches: &ArgMatches,
        experiment: &Experiment,
        stop: &'static AtomicBool,
    ) -> Result<Option<Self>, Complaint> {
        Self::begin(matches, || of_experiment(experiment), stop)
    }

    /// Starts the observers that the flags request; `None` without such flags. `stop` ends the run when it becomes
    /// true.
    pub(crate) fn begin(
        matches: &ArgMatches,
        about: impl FnOnce() -> About,
        stop: &'static AtomicBool,
    ) -> Result<Option<Self>, Complaint> {
        let (tui, monitor) = (matches.get_flag("tui"), matches.get_one::<String>("monitor"));
        let recording = matches.get_one::<PathBuf>("record-view").cloned();
        if !tui && monitor.is_none() && recording.is_none() {
            return Ok(None);
        }
        if tui {
            need_terminal("--tui", ELSEWHERE)?;
        }
        let about = Arc::new(about());
        let feed = Feed::new();
        let every = matches.get_one::<u64>("record-every").copied();
        let recorder = recording.as_ref().map(|path| {
            let named = format!("--record-view {}", path.display());
            Recorder::new(output::create_file(&named, path)?, &about, every).map_err(|error| {
                Complaint::new(Exit::Usage, format!("{named}: {error}"), "name a file that can be written")
            })
        });
        let recorder = recorder.transpose()?;
        let monitor = monitor.map(|word| {
            let address = local_address("--monitor", word)?;
            Monitor::new(&address, Arc::clone(&about), Arc::clone(&feed)).map_err(|error| {
                let what = format!("--monitor {address}: {error}");
                Complaint::new(Exit::Usage, what, "use another port (0: any free one) or path")
            })
        });
        let monitor = monitor.transpose()?;
        if let Some(monitor) = &monitor {
            output::tell(&format!("fsin top {} shows this run", monitor.address));
        }
        let (commands, orders) = channel();
        let (dashboard, commands) = match tui {
            true => (Some(dashboard(&about, &feed, commands, stop)?), None),
            false => (None, Some(commands)),
        };
        let watcher = Watcher::new(Arc::clone(&feed), orders, stop).recorded(recorder);
        Ok(Some(Self { feed, watcher, dashboard, monitor, recording, _commands: commands }))
    }

    /// The observer of the run.
    pub(crate) fn watch(&mut self) -> &mut dyn Watch {
        &mut self.watcher
    }

    /// True if the terminal belongs to the dashboard.
    pub(crate) const fn has_terminal(&self) -> bool {
        self.dashboard.is_some()
    }

    /// Feed for messages to the user.
    #[cfg(feature = "live")]
    pub(crate) fn feed(&self) -> Arc<Feed> {
        Arc::clone(&self.feed)
    }

    /// Removes the recording of a run that never began: a recording with the same name would be refused.
    fn remove_recording(&mut self) {
        if let Some(path) = self.recording.take().filter(|path| !output::is_stream(path)) {
            let _ = std::fs::remove_file(path);
        }
    }

    /// Shows the last messages of a run, and waits until the user leaves the dashboard.
    pub(crate) fn end(mut self, lines: &[String]) -> Result<(), Complaint> {
        lines.iter().for_each(|line| self.feed.log(line));
        match self.feed.newer(0, Duration::ZERO) {
            Some(_) if lines.is_empty() => {}
            Some((_, last)) => self.feed.publish(Snapshot::clone(&last)),
            // The run failed before it began.
            None => {
                self.remove_recording();
                self.feed.publish(Snapshot { state: RunState::Ended, ..Snapshot::default() });
            }
        }
        self.feed.close();
        if let Some(monitor) = self.monitor.take() {
            monitor.close();
        }
        let recorded = self.watcher.close_recording();
        if let Some(dashboard) = self.dashboard.take() {
            warn_of(join(dashboard));
        }
        recorded.map_err(|error| {
            let path = self.recording.take().unwrap_or_default();
            let what = format!("--record-view {}: {error}", path.display());
            Complaint::new(Exit::Failed, what, "free some space, or record elsewhere")
        })
    }
}

impl Drop for Looking {
    /// Restores the terminal if a run fails before its end.
    fn drop(&mut self) {
        if self.feed.newer(0, Duration::ZERO).is_none() {
            self.remove_recording();
        }
        self.feed.close();
        terminal::restore();
    }
}

/// Starts the dashboard of a run in a separate thread.
fn dashboard(
    about: &Arc<About>,
    feed: &Arc<Feed>,
    commands: Sender<tui::app::Command>,
    stop: &'static AtomicBool,
) -> Result<JoinHandle<std::io::Result<Ending>>, Complaint> {
    let app = App::new(Arc::clone(about), Mode::Live, theme());
    spawn(app, Live::new(Arc::clone(feed), commands, stop), stop)
}

/// Displays `source` in a separate thread.
pub(crate) fn spawn(
    mut app: App,
    mut source: impl Source + Send + 'static,
    stop: &'static AtomicBool,
) -> Result<JoinHandle<std::io::Result<Ending>>, Complaint> {
    let run = move || {
        let ending = show(&mut app, &mut source, stop);
        if matches!(ending, Ok(Ending::Aborted)) {
            signals::leave(signals::status());
        }
        ending
    };
    thread::Builder::new().name("dashboard".to_owned()).spawn(run).map_err(|error| {
        Complaint::new(Exit::Failed, format!("--tui: no thread can be started: {error}"), "try again with less running")
    })
}

/// Reports that a dashboard has failed.
pub(crate) fn warn_of(ending: Result<Ending, String>) {
    if let Err(why) = ending {
        output::tell(&format!("warning: {why}"));
    }
}

/// Waits until the user has left the dashboard, or the terminal is gone.
///
/// # Errors
/// The dashboard has failed, in words.
pub(crate) fn join(dashboard: JoinHandle<std::io::Result<Ending>>) -> Result<Ending, String> {
    while !dashboard.is_finished() {
        if terminal::has_gone() {
            // The thread waits for keys that will never come; it ends with the process.
            terminal::restore();
            return Ok(Ending::Left);
        }
        thread::sleep(TICK);
    }
    match dashboard.join() {
        Ok(Ok(Ending::Aborted)) => signals::leave(signals::status()),
        Ok(Ok(ending)) => Ok(ending),
        Ok(Err(error)) => Err(format!("the dashboard has failed: {error}")),
        // The thread has panicked, and has printed why.
        Err(_) => Err("the dashboard has failed; the results have not".to_owned()),
    }
}
