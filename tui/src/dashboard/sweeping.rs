//! A sweep of this process: the states of its points, and the view of one running point.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::{Duration, Instant};

use super::{News, Source};
use crate::app::Command;
use crate::board::{Event, Run};
use crate::view::{Change, Pace, PointState};

/// Interval between snapshot requests to the displayed run.
const PERIOD: Duration = Duration::from_millis(100);
/// Interval between snapshot requests to all other runs.
const PERIOD_OF_OTHERS: Duration = Duration::from_secs(1);
/// Largest number of events that are handled before the next frame is drawn.
const AT_ONCE: usize = 4096;

/// The displayed run.
#[derive(Clone, Copy, Debug)]
struct Watched {
    point: usize,
    /// The number of its latest snapshot; 0 if none has been shown.
    seen: u64,
    /// When a snapshot was requested last.
    asked: Option<Instant>,
}

/// A sweep of this process. It shows one of the running points: the one selected by the user, and when that ends, the
/// one that started last.
#[derive(Debug)]
pub struct Sweeping<'a> {
    events: Receiver<Event>,
    /// Set when the user wants the sweep to end.
    stop: &'a AtomicBool,
    /// When the sweep began.
    begun: Instant,
    /// Running points, in the order of their starts; `None` for a point that cannot be viewed.
    running: Vec<(usize, Option<Run>)>,
    /// The displayed run, if a point has been displayed that is still running.
    watched: Option<Watched>,
    /// News that the dashboard has not fetched yet.
    news: VecDeque<News>,
    /// When the progress of the other runs was updated last.
    updated: Option<Instant>,
    /// True once the sweep has ended.
    over: bool,
}

impl<'a> Sweeping<'a> {
    /// Views the sweep that sends these events. `stop` is set when the user wants it to end.
    #[must_use]
    pub fn new(events: Receiver<Event>, stop: &'a AtomicBool) -> Self {
        Self {
            events,
            stop,
            begun: Instant::now(),
            running: Vec::new(),
            watched: None,
            news: VecDeque::new(),
            updated: None,
            over: false,
        }
    }

    /// The run of a running point, if it can be viewed.
    fn run(&self, point: usize) -> Option<&Run> {
        self.running.iter().find(|&&(at, _)| at == point).and_then(|(_, run)| run.as_ref())
    }

    /// Adds a change of the sweep to the news.
    fn report(&mut self, change: Change) {
        self.news.push_back(News::Sweep(change));
    }

    /// Handles the events of the sweep.
    fn read(&mut self) {
        for _ in 0..AT_ONCE {
            match self.events.try_recv() {
                Ok(Event::Began(point, run)) => {
                    self.running.push((point, run));
                    self.report(Change::Point(point, PointState::Running(Pace::default())));
                }
                Ok(Event::Became(point, state)) => {
                    if self.watched.is_some_and(|watched| watched.point == point) {
                        // The final state stays on the screen until another point is shown.
                        self.poll_watched();
                        self.watched = None;
                    }
                    self.running.retain(|&(at, _)| at != point);
                    self.report(Change::Point(point, state));
                }
                Ok(Event::Said(line)) => self.report(Change::Said(line)),
                Err(TryRecvError::Empty) => return,
                Err(TryRecvError::Disconnected) => {
                    if !std::mem::replace(&mut self.over, true) {
                        self.report(Change::Elapsed(self.begun.elapsed().as_secs_f64()));
                        self.report(Change::Over);
                    }
                    return;
                }
            }
        }
    }

    /// Fetches the latest snapshot of the displayed run, or requests one. The first snapshot follows the description of
    /// the run.
    fn poll_watched(&mut self) {
        let Some(watched) = self.watched else { return };
        let Some(run) = self.run(watched.point) else { return };
        let about = std::sync::Arc::clone(&run.about);
        let Some((number, snapshot)) = run.feed.newer(watched.seen, Duration::ZERO) else {
            if watched.asked.is_none_or(|asked| asked.elapsed() >= PERIOD) {
                run.feed.ask();
                self.watched = Some(Watched { asked: Some(Instant::now()), ..watched });
            }
            return;
        };
        if watched.seen == 0 {
            self.news.push_back(News::Run(about));
            self.report(Change::Watched(Some(watched.point)));
        }
        self.report(Change::Point(watched.point, PointState::Running(Pace::from(&*snapshot))));
        self.news.push_back(News::Snapshot(snapshot));
        self.watched = Some(Watched { seen: number, ..watched });
    }

    /// Updates the progress of all other runs.
    fn update_others(&mut self) {
        if self.over || self.updated.is_some_and(|updated| updated.elapsed() < PERIOD_OF_OTHERS) {
            return;
        }
        self.updated = Some(Instant::now());
        let mut paces = Vec::new();
        for (point, run) in &self.running {
            let Some(run) = run else { continue };
            if self.watched.is_none_or(|watched| watched.point != *point) {
                paces.extend(run.feed.newer(0, Duration::ZERO).map(|(_, latest)| (*point, Pace::from(&*latest))));
                run.feed.ask();
            }
        }
        paces.into_iter().for_each(|(point, pace)| self.report(Change::Point(point, PointState::Running(pace))));
        self.report(Change::Elapsed(self.begun.elapsed().as_secs_f64()));
    }

    /// Shows another point. A pause and a speed limit of the previous one end.
    fn watch(&mut self, point: usize) {
        if let Some(run) = self.watched.and_then(|watched| self.run(watched.point)) {
            for command in [Command::Resume, Command::Limit(None)] {
                // An error means that the run has just ended.
                let _ = run.commands.send(command);
            }
        }
        self.watched = Some(Watched { point, seen: 0, asked: None });
    }
}

impl Source for Sweeping<'_> {
    fn poll(&mut self) -> News {
        if self.news.is_empty() {
            self.read();
            self.update_others();
            if self.watched.is_none() {
                let newest = self.running.iter().rev().find(|(_, run)| run.is_some());
                self.watched = newest.map(|&(point, _)| Watched { point, seen: 0, asked: None });
            }
            self.poll_watched();
        }
        match self.news.pop_front() {
            Some(news) => news,
            // After a request to end, the dashboard closes at once.
            None if self.over && self.stop.load(Ordering::Relaxed) => News::Over,
            None => News::Nothing,
        }
    }

    fn command(&mut self, command: Command) -> Option<String> {
        match command {
            Command::Quit => {
                self.stop.store(true, Ordering::Relaxed);
                return None;
            }
            Command::Leave | Command::Abort => return None,
            Command::Watch(point) if self.watched.is_some_and(|watched| watched.point == point) => return None,
            Command::Watch(point) => {
                let runs = self.run(point).is_some();
                if runs {
                    self.watch(point);
                }
                return (!runs).then(|| "this point is not running; select a running one".to_owned());
            }
            _ => {}
        }
        let sent = self.watched.and_then(|watched| {
            let run = self.run(watched.point)?;
            run.commands.send(command).ok()
        });
        // Request a snapshot soon, to show the effect.
        if let Some(watched) = &mut self.watched {
            watched.asked = None;
        }
        let ended = if self.watched.is_some() { "this point has just ended" } else { "no point is running" };
        sent.is_none().then(|| ended.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Board;
    use crate::view::{About, Figures, Snapshot};

    /// All news of the source, as text.
    fn news(source: &mut Sweeping<'_>) -> Vec<String> {
        let mut words = Vec::new();
        loop {
            match source.poll() {
                News::Nothing => return words,
                News::Run(about) => words.push(about.title.clone()),
                News::Snapshot(snapshot) => words.push(format!("cycle {}", snapshot.cycle)),
                News::Sweep(Change::Watched(Some(point))) => words.push(format!("watch {point}")),
                News::Sweep(Change::Point(point, PointState::Done(_))) => words.push(format!("done {point}")),
                News::Sweep(Change::Over) => words.push("over".to_owned()),
                News::Sweep(_) => {}
                other => {
                    words.push(format!("{other:?}"));
                    return words;
                }
            }
        }
    }

    fn about(title: &str) -> About {
        About::bare(title.to_owned(), 4)
    }

    fn at(cycle: u64) -> Snapshot {
        Snapshot { cycle, ..Snapshot::default() }
    }

    #[test]
    fn it_follows_the_newest_point_and_stays_until_that_ends() {
        let stop = AtomicBool::new(false);
        let (board, events) = Board::new();
        let mut source = Sweeping::new(events, &stop);
        assert_eq!(news(&mut source), [""; 0]);
        assert_eq!(source.command(Command::Pause).as_deref(), Some("no point is running"));
        let (first, orders) = board.begin(3, about("third"));
        assert!(first.is_wanted());
        assert_eq!(news(&mut source), [""; 0], "the picture stays until there is a new one");
        first.publish(at(7));
        assert_eq!(news(&mut source), ["third", "watch 3", "cycle 7"]);
        let (second, _others) = board.begin(4, about("fourth"));
        second.publish(at(50));
        first.publish(at(8));
        assert_eq!(news(&mut source), ["cycle 8"]);
        assert_eq!(source.command(Command::Pause), None);
        assert_eq!(orders.try_recv(), Ok(Command::Pause));
        first.publish(at(9));
        board.became(3, PointState::Done(Figures::default()));
        assert_eq!(news(&mut source), ["cycle 9", "done 3", "fourth", "watch 4", "cycle 50"]);
        drop(board);
        assert_eq!(news(&mut source), ["over"]);
        stop.store(true, Ordering::Relaxed);
        assert_eq!(source.poll(), News::Over);
    }

    #[test]
    fn a_point_that_is_left_goes_on() {
        let stop = AtomicBool::new(false);
        let (board, events) = Board::new();
        let mut source = Sweeping::new(events, &stop);
        let (first, orders) = board.begin(0, about("first"));
        first.publish(at(1));
        news(&mut source);
        let (second, others) = board.begin(1, about("second"));
        board.begin_unseen(2);
        second.publish(at(2));
        news(&mut source);
        assert_eq!(source.command(Command::Watch(1)), None);
        assert_eq!(orders.try_iter().collect::<Vec<_>>(), [Command::Resume, Command::Limit(None)]);
        assert_eq!(news(&mut source), ["second", "watch 1", "cycle 2"]);
        assert_eq!(source.command(Command::Step(5)), None);
        assert_eq!((orders.try_recv().ok(), others.try_recv().ok()), (None, Some(Command::Step(5))));
        assert!(source.command(Command::Watch(2)).is_some(), "it has no cycles");
        assert!(source.command(Command::Watch(9)).is_some());
        assert_eq!(source.command(Command::Quit), None);
        assert!(stop.load(Ordering::Relaxed));
    }

    #[test]
    fn nobody_who_has_left_holds_a_point() {
        let (board, events) = Board::new();
        drop(events);
        let (_, orders) = board.begin(0, about("alone"));
        assert_eq!(orders.try_recv(), Err(TryRecvError::Disconnected));
    }
}
