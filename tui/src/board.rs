//! Between who runs a sweep and who looks on: what becomes of its points, and how to look at those that run.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use crate::app::Command;
use crate::feed::Feed;
use crate::view::{About, PointState};

/// A run that can be looked at.
#[derive(Clone, Debug)]
pub struct Run {
    /// What it is.
    pub about: Arc<About>,
    /// What it is like.
    pub feed: Arc<Feed>,
    /// What the user wants of it.
    pub commands: Sender<Command>,
}

/// What a sweep tells who looks on.
#[derive(Debug)]
pub enum Event {
    /// A point runs; `None` if it has no cycles to be looked at.
    Began(usize, Option<Run>),
    /// A point has become this, and does not run any more.
    Became(usize, PointState),
    /// There is something to be said.
    Said(String),
}

/// Where a sweep says what becomes of its points. Nobody need look on: the sweep never waits. It is over for those who
/// look on when the board is dropped.
#[derive(Clone, Debug)]
pub struct Board(Sender<Event>);

impl Board {
    /// A board, and what is written on it.
    #[must_use]
    pub fn new() -> (Self, Receiver<Event>) {
        let (sender, events) = channel();
        (Self(sender), events)
    }

    /// A point begins. Returns where it shows itself, and the commands that it obeys: a run whose viewers have gone finds
    /// the sender gone.
    #[must_use]
    pub fn begin(&self, point: usize, about: About) -> (Arc<Feed>, Receiver<Command>) {
        let feed = Feed::new();
        let (commands, orders) = channel();
        // How far it is, is seen from the start.
        feed.ask();
        self.tell(Event::Began(point, Some(Run { about: Arc::new(about), feed: Arc::clone(&feed), commands })));
        (feed, orders)
    }

    /// A point begins that cannot be looked at.
    pub fn begin_unseen(&self, point: usize) {
        self.tell(Event::Began(point, None));
    }

    /// A point has become this.
    pub fn became(&self, point: usize, state: PointState) {
        self.tell(Event::Became(point, state));
    }

    /// There is something to be said.
    pub fn say(&self, line: impl Into<String>) {
        self.tell(Event::Said(line.into()));
    }

    fn tell(&self, event: Event) {
        // Who has left does not want to know.
        let _ = self.0.send(event);
    }
}
