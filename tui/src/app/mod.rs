//! State of the user interface, and its changes by keys.

mod choice;
mod keys;
mod prompt;

use std::sync::Arc;

use crate::theme::Theme;
use crate::view::{About, History, Layout, RunState, Snapshot, Sweep};

pub use prompt::{Prompt, Question};

/// Prefix of the log lines that explain why a run has failed.
const ERROR: &str = "error: ";

/// A command of the user to the run, or to its display.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Command {
    /// Pause.
    Pause,
    /// Resume.
    Resume,
    /// Simulate this many cycles, then pause.
    Step(u64),
    /// Simulate up to this cycle, then pause.
    RunTo(u64),
    /// \[cycles/s\] Limit the speed; `None` for no limit.
    Limit(Option<u64>),
    /// Show this point of a sweep.
    Watch(usize),
    /// End the run, with the results so far.
    Quit,
    /// Leave the dashboard of a run that has ended or belongs to another process.
    Leave,
    /// End at once, without results.
    Abort,
}

/// Origin of the displayed run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// A run of this process, controlled by keys.
    Live,
    /// A run of another process, which keys do not affect.
    Viewer,
    /// A recording.
    Replay,
}

/// A page of the dashboard.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Screen {
    /// A little of everything.
    Overview,
    /// The heat map.
    Network,
    /// The busiest links.
    Links,
    /// Percentiles and histogram.
    Latency,
    /// Nodes, tasks or guests.
    Sources,
    /// The log of the run.
    Log,
    /// The points of a sweep, and their results.
    Sweep,
}

impl Screen {
    /// The screens of a run, in the order of their keys 1 to 6.
    pub const ALL: [Self; 6] = [Self::Overview, Self::Network, Self::Links, Self::Latency, Self::Sources, Self::Log];

    /// The screens of a sweep, in the order of their keys 1 to 7.
    pub const OF_SWEEP: [Self; 7] =
        [Self::Overview, Self::Network, Self::Links, Self::Latency, Self::Sources, Self::Log, Self::Sweep];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Overview => "overview",
            Self::Network => "network",
            Self::Links => "links",
            Self::Latency => "latency",
            Self::Sources => "sources",
            Self::Log => "log",
            Self::Sweep => "sweep",
        }
    }

    /// The screen of a run of this name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|screen| screen.name() == name)
    }
}

/// Metric of the heat map.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Metric {
    /// Occupancy of transit queues.
    Queues,
    /// Utilisation of links.
    Links,
    /// Occupancy of injection queues.
    Injection,
}

impl Metric {
    /// The quantity that is 100 %.
    #[must_use]
    pub const fn of(self) -> &'static str {
        match self {
            Self::Queues => "queue capacity (phits)",
            Self::Links => "link capacity (phits/cycle)",
            Self::Injection => "injection queues (phits)",
        }
    }

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Queues => "queues",
            Self::Links => "links",
            Self::Injection => "injection",
        }
    }

    /// The metric that follows at the key of metrics.
    const fn next(self) -> Self {
        match self {
            Self::Queues => Self::Links,
            Self::Links => Self::Injection,
            Self::Injection => Self::Queues,
        }
    }
}

/// The state of the dashboard.
#[derive(Clone, Debug)]
pub struct App {
    /// The fixed properties of the run.
    pub about: Arc<About>,
    /// Its history.
    pub history: History,
    /// Its origin.
    pub mode: Mode,
    /// How it is drawn.
    pub theme: Theme,
    /// The page.
    pub screen: Screen,
    /// Metric of the heat map.
    pub metric: Metric,
    /// The dimensions across and down, for grids.
    pub axes: (usize, usize),
    /// The displayed plane: a coordinate for each dimension of a grid; those of `axes` are unused.
    pub plane: Vec<u32>,
    /// The focused router.
    pub focus: Option<usize>,
    /// True if links are ordered by the queues behind them instead of their utilisation.
    pub by_queue: bool,
    /// Number of lines above the first one shown, in a list that is longer than the screen.
    pub scroll: usize,
    /// True while the help is shown.
    pub help: bool,
    /// The current question to the user.
    pub prompt: Option<Prompt>,
    /// A temporary notice to the user.
    pub notice: Option<String>,
    /// True once the user has asked to end the run.
    pub quitting: bool,
    /// True if a run that has not begun will begin paused, because the user has asked for it.
    pub begins_paused: bool,
    /// The sweep that the run belongs to.
    pub sweep: Option<Sweep>,
    /// The point selected in the list; `None` for the one shown.
    pub chosen: Option<usize>,
}

impl App {
    /// The overview of a run without snapshots.
    #[must_use]
    pub fn new(about: Arc<About>, mode: Mode, theme: Theme) -> Self {
        let dimensions = match &about.layout {
            Layout::Grid { sizes } => sizes.len(),
            _ => 0,
        };
        Self {
            plane: vec![0; dimensions],
            about,
            history: History::new(),
            mode,
            theme,
            screen: Screen::Overview,
            metric: Metric::Queues,
            axes: (0, usize::from(dimensions > 1)),
            focus: None,
            by_queue: false,
            scroll: 0,
            help: false,
            prompt: None,
            notice: None,
            quitting: false,
            begins_paused: false,
            sweep: None,
            chosen: None,
        }
    }

    /// The list of points of a sweep that has not begun.
    #[must_use]
    pub fn of_sweep(sweep: Sweep, theme: Theme) -> Self {
        let about = Arc::new(About::bare(String::new(), 0));
        Self { screen: Screen::Sweep, sweep: Some(sweep), ..Self::new(about, Mode::Live, theme) }
    }

    /// Switches to another run, to which later snapshots belong. The view is kept as far as the network is the same.
    pub fn begin(&mut self, about: Arc<About>) {
        self.history = History::new();
        if (&about.layout, about.routers) != (&self.about.layout, self.about.routers) {
            let fresh = Self::new(Arc::clone(&about), self.mode, self.theme);
            (self.plane, self.axes, self.focus) = (fresh.plane, fresh.axes, None);
        }
        self.about = about;
    }

    /// The available screens, in the order of their keys.
    #[must_use]
    pub const fn screens(&self) -> &'static [Screen] {
        match self.sweep {
            Some(_) => &Screen::OF_SWEEP,
            None => &Screen::ALL,
        }
    }

    /// Adds a snapshot, which must have passed [`Snapshot::check`] for this run.
    pub fn push(&mut self, snapshot: Arc<Snapshot>) {
        if self.begins_paused && snapshot.state != RunState::Starting {
            // The notice is not needed any more: the status line shows the pause.
            (self.begins_paused, self.notice) = (false, None);
        }
        self.history.push(&self.about, snapshot);
    }

    /// The latest snapshot.
    #[must_use]
    pub fn latest(&self) -> Option<&Snapshot> {
        self.history.latest().map(|snapshot| &**snapshot)
    }

    /// True once nothing more will happen: the run, or its sweep, has ended.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.sweep.as_ref().map_or_else(|| self.state() == RunState::Ended, |sweep| sweep.over)
    }

    /// True once a run has failed; the last lines of its log explain why.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        let failed = |snapshot: &Snapshot| snapshot.log.iter().any(|line| line.starts_with(ERROR));
        self.sweep.is_none() && self.is_over() && self.latest().is_some_and(failed)
    }

    /// Whether the run is advancing.
    #[must_use]
    pub fn state(&self) -> RunState {
        self.latest().map_or(RunState::Starting, |snapshot| snapshot.state)
    }

    /// The share, 0 to 1, of a router by the metric of the heat map.
    #[must_use]
    pub fn heat(&self, router: usize) -> f64 {
        let Some(snapshot) = self.latest() else { return 0.0 };
        match self.metric {
            Metric::Queues => snapshot.queue_fill(&self.about, router),
            Metric::Injection => snapshot.injection_fill(&self.about, router),
            Metric::Links => {
                let ports = self.about.ports.len();
                let uses = self.about.linked_ports(router);
                let (sum, links) = uses.fold((0.0, 0), |(sum, links), (port, _)| {
                    (sum + self.history.link_use(&self.about, router * ports + port).unwrap_or(0.0), links + 1)
                });
                if links == 0 { 0.0 } else { sum / f64::from(links) }
            }
        }
    }

    /// The share, 0 to 1, of the link that leaves a router by a port, by the metric of the heat map.
    #[must_use]
    pub fn link_heat(&self, router: usize, port: usize) -> f64 {
        let Some(snapshot) = self.latest() else { return 0.0 };
        match self.metric {
            Metric::Links => self.history.link_use(&self.about, router * self.about.ports.len() + port).unwrap_or(0.0),
            Metric::Queues | Metric::Injection => snapshot.link_fill(&self.about, router, port),
        }
    }
}
