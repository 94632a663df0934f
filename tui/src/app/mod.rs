//! What the user is looking at, and what keys do to it.

mod keys;
mod prompt;

use std::sync::Arc;

use crate::theme::Theme;
use crate::view::{About, History, Layout, RunState, Snapshot};

pub use prompt::{Prompt, Question};

/// What the user wants of the run, or of what is shown of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Command {
    /// Stop time.
    Pause,
    /// Let time go on.
    Resume,
    /// Go on for so many cycles, and pause.
    Step(u64),
    /// Go on to this cycle, and pause.
    RunTo(u64),
    /// \[cycles/s\] Go no faster; `None` for as fast as possible.
    Limit(Option<u64>),
    /// End the run, with the results so far.
    Quit,
    /// Leave the dashboard of a run that is over, or of somebody else's.
    Leave,
    /// End at once, without results.
    Abort,
}

/// What is looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// A run of this process: keys steer it.
    Live,
    /// A run of another process: it goes on whatever keys do.
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
    /// What there was to be said.
    Log,
}

impl Screen {
    /// All of them, in the order of their keys 1 to 6.
    pub const ALL: [Self; 6] = [Self::Overview, Self::Network, Self::Links, Self::Latency, Self::Sources, Self::Log];

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
        }
    }

    /// The screen of this name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|screen| screen.name() == name)
    }

    fn turned(self, by: usize) -> Self {
        let at = Self::ALL.iter().position(|&screen| screen == self).unwrap_or(0);
        Self::ALL[(at + by) % Self::ALL.len()]
    }
}

/// What the heat map shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Metric {
    /// Occupancy of transit queues.
    Queues,
    /// Use of links.
    Links,
    /// Occupancy of injection queues.
    Injection,
}

impl Metric {
    /// What a share is a share of.
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
    /// What the run is.
    pub about: Arc<About>,
    /// What it was like so far.
    pub history: History,
    /// What is looked at.
    pub mode: Mode,
    /// How it is drawn.
    pub theme: Theme,
    /// The page.
    pub screen: Screen,
    /// What the heat map shows.
    pub metric: Metric,
    /// The dimensions across and down, for grids.
    pub axes: (usize, usize),
    /// The plane: a coordinate for each dimension of a grid; those of `axes` do not matter.
    pub plane: Vec<u32>,
    /// The router that is looked at.
    pub focus: Option<usize>,
    /// True if links are ordered by the queues behind them instead of their use.
    pub by_queue: bool,
    /// Lines, of a list that is longer than the screen, that have been passed.
    pub scroll: usize,
    /// True while the keys are shown.
    pub help: bool,
    /// What the user is asked.
    pub prompt: Option<Prompt>,
    /// What the user should know now.
    pub notice: Option<String>,
    /// True once the user has asked for the end.
    pub quitting: bool,
}

impl App {
    /// The overview of a run of which nothing has been seen yet.
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
        }
    }

    /// Takes a snapshot; it must have passed [`Snapshot::check`] for this run.
    pub fn push(&mut self, snapshot: Arc<Snapshot>) {
        self.history.push(&self.about, snapshot);
    }

    /// The latest snapshot.
    #[must_use]
    pub fn latest(&self) -> Option<&Snapshot> {
        self.history.latest().map(|snapshot| &**snapshot)
    }

    /// Whether time goes on.
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
