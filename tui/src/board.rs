//! The channel from a sweep to its viewers: states of the points, and access to the running ones.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use crate::app::Command;
use crate::feed::Feed;
use crate::view::{About, PointState};

/// A run that can be viewed.
#[derive(Clone, Debug)]
pub struct Run {
    /// Its fixed properties.
    pub about: Arc<About>,
    /// Its snapshots.
    pub feed: Arc<Feed>,
    /// Commands of the user.
    pub commands: Sender<Command>,
}

/// An event of a sweep.
#[derive(Debug)]
pub enum Event {
    /// A point has started; `None` if it has no cycles to display.
    Began(usize, Option<Run>),
    /// A point has ended in this state.
    Became(usize, PointState),
    /// A log line.
    Said(String),
}

/// The sweep's side of the channel. The sweep never waits for viewers, and needs none. Dropping the board ends the
/// sweep for its viewers.
#[derive(Clone, Debug)]
pub struct Board(Sender<Event>);

impl Board {
    /// A board, and the receiver of its events.
    #[must_use]
    pub fn new() -> (Self, Receiver<Event>) {
        let (sender, events) = channel();
        (Self(sender), events)
    }

    /// Reports that a point starts. Returns the feed for its snapshots, and the commands that it must obey. The sender
    /// of commands is dropped when the viewers have gone.
    #[must_use]
    pub fn begin(&self, point: usize, about: About) -> (Arc<Feed>, Receiver<Command>) {
        let feed = Feed::new();
        let (commands, orders) = channel();
        // The first snapshot is requested at once, so that progress is shown from the start.
        feed.ask();
        self.send(Event::Began(point, Some(Run { about: Arc::new(about), feed: Arc::clone(&feed), commands })));
        (feed, orders)
    }

    /// Reports the start of a point that cannot be viewed.
    pub fn begin_unseen(&self, point: usize) {
        self.send(Event::Began(point, None));
    }

    /// Reports that a point has ended in this state.
    pub fn became(&self, point: usize, state: PointState) {
        self.send(Event::Became(point, state));
    }

    /// Adds a log line.
    pub fn say(&self, line: impl Into<String>) {
        self.send(Event::Said(line.into()));
    }

    /// Sends an event to the viewers, if there are any.
    fn send(&self, event: Event) {
        // An error means that the viewers have gone.
        let _ = self.0.send(event);
    }
}
