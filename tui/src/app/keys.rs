//! Key bindings.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::{App, Command, Mode, Prompt, Question, Screen};
use crate::view::{Layout, RunState};

/// \[cycles\] Length of a long step.
const LONG_STEP: u64 = 1000;
/// \[cycles/s\] Bounds of the speed limit.
const LIMITS: (u64, u64) = (1, 1_000_000_000);

impl App {
    /// Handles a key; returns the resulting command, if any.
    pub fn key(&mut self, key: KeyEvent) -> Option<Command> {
        if key.kind == KeyEventKind::Release {
            return None;
        }
        self.notice = None;
        if key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL) {
            return Some(self.interrupt());
        }
        if key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) {
            return None;
        }
        if let Some(prompt) = self.prompt.take() {
            return self.answer(prompt, key.code);
        }
        if self.help {
            self.help = false;
            return None;
        }
        match key.code {
            KeyCode::Char('q') => return self.quit(),
            key if self.screen == Screen::Sweep && self.choose(key) => {}
            KeyCode::Esc => (self.focus, self.chosen) = (None, None),
            KeyCode::Enter if self.screen == Screen::Sweep => return self.watch_chosen(),
            KeyCode::Char('w') => return self.watch_next(),
            KeyCode::Char('?' | 'h') | KeyCode::F(1) => self.help = true,
            KeyCode::Char(digit @ '1'..='7') => {
                if let Some(&screen) = self.screens().get(digit as usize - '1' as usize) {
                    self.show(screen);
                }
            }
            KeyCode::Tab => self.show(self.screen_after(1)),
            KeyCode::BackTab => self.show(self.screen_after(self.screens().len() - 1)),
            KeyCode::Char('p' | ' ') => return Some(self.pause()),
            KeyCode::Char('s') => return Some(Command::Step(1)),
            KeyCode::Char('S') => return Some(Command::Step(LONG_STEP)),
            KeyCode::Char('g') => self.prompt = Some(Prompt::new(Question::RunTo)),
            KeyCode::Char('f') => self.prompt = Some(Prompt::new(Question::Focus)),
            KeyCode::Char('+' | '=') => return Some(Command::Limit(self.faster())),
            KeyCode::Char('-') => return Some(Command::Limit(Some(self.slower()))),
            KeyCode::Char('0') => return Some(Command::Limit(None)),
            KeyCode::Char('m') => self.metric = self.metric.next(),
            KeyCode::Char('o') => self.by_queue = !self.by_queue,
            KeyCode::Char('a') => self.turn_axes(),
            KeyCode::Char('[') => self.move_plane(false),
            KeyCode::Char(']') => self.move_plane(true),
            KeyCode::Char('n') => self.move_focus((1, 0)),
            KeyCode::Right if self.screen == Screen::Network => self.move_focus((1, 0)),
            KeyCode::Left if self.screen == Screen::Network => self.move_focus((-1, 0)),
            KeyCode::Down if self.screen == Screen::Network => self.move_focus((0, 1)),
            KeyCode::Up if self.screen == Screen::Network => self.move_focus((0, -1)),
            KeyCode::Down => self.scroll = self.scroll.saturating_add(1),
            KeyCode::Up => self.scroll = self.scroll.saturating_sub(1),
            KeyCode::PageDown => self.scroll = self.scroll.saturating_add(10),
            KeyCode::PageUp => self.scroll = self.scroll.saturating_sub(10),
            _ => {}
        }
        None
    }

    /// The screen `by` places after the current one, cyclically.
    fn screen_after(&self, by: usize) -> Screen {
        let screens = self.screens();
        let at = screens.iter().position(|&screen| screen == self.screen).unwrap_or(0);
        screens[(at + by) % screens.len()]
    }

    /// Switches to a screen.
    pub(super) fn show(&mut self, screen: Screen) {
        self.screen = screen;
        self.scroll = 0;
    }

    /// Handles the key of a pause: pauses or resumes the run. A run that has not begun will begin paused.
    fn pause(&mut self) -> Command {
        let starting = self.mode == Mode::Live && self.state() == RunState::Starting && self.sweep.is_none();
        if starting {
            self.begins_paused = !self.begins_paused;
            let words = if self.begins_paused { "it will begin paused (p: no)" } else { "it will not begin paused" };
            self.notice = Some(words.to_owned());
        }
        if self.begins_paused || (!starting && self.state() != RunState::Paused) {
            Command::Pause
        } else {
            Command::Resume
        }
    }

    /// Handles the key that quits: leaves the dashboard, or asks whether to end the run.
    fn quit(&mut self) -> Option<Command> {
        if self.mode != Mode::Live || self.is_over() {
            return Some(Command::Leave);
        }
        let question = if self.sweep.is_some() { Question::QuitSweep } else { Question::Quit };
        self.prompt = Some(Prompt::new(question));
        None
    }

    /// Ctrl-C: the first ends the run with partial results, the second ends the process.
    fn interrupt(&mut self) -> Command {
        match (self.mode, self.is_over(), self.quitting) {
            (Mode::Viewer | Mode::Replay, ..) | (Mode::Live, true, _) => Command::Leave,
            (Mode::Live, _, false) => {
                self.quitting = true;
                Command::Quit
            }
            (Mode::Live, _, true) => Command::Abort,
        }
    }

    /// Handles a key while there is a question to the user.
    fn answer(&mut self, mut prompt: Prompt, key: KeyCode) -> Option<Command> {
        match (prompt.question, key) {
            (_, KeyCode::Esc) | (Question::Quit | Question::QuitSweep, KeyCode::Char('n')) => None,
            (Question::Quit | Question::QuitSweep, KeyCode::Char('y') | KeyCode::Enter) => {
                self.quitting = true;
                Some(Command::Quit)
            }
            (Question::RunTo, KeyCode::Enter) => {
                let now = self.latest().map_or(0, |snapshot| snapshot.cycle);
                match prompt.number() {
                    Some(cycle) if cycle > now || self.mode == Mode::Replay => Some(Command::RunTo(cycle)),
                    Some(cycle) => {
                        self.notice = Some(format!("cycle {cycle} has passed: the clock stands at {now}"));
                        None
                    }
                    None => None,
                }
            }
            (Question::Focus, KeyCode::Enter) => {
                self.focus = match prompt.number() {
                    Some(router) if router < self.about.routers as u64 => Some(router as usize),
                    Some(router) => {
                        let last = self.about.routers.saturating_sub(1);
                        self.notice = Some(format!("there is no router {router}: they are 0 to {last}"));
                        self.focus
                    }
                    None => None,
                };
                self.show_focus();
                None
            }
            (Question::RunTo | Question::Focus, KeyCode::Char(digit @ '0'..='9')) if prompt.answer.len() < 18 => {
                prompt.answer.push(digit);
                self.prompt = Some(prompt);
                None
            }
            (_, KeyCode::Backspace) => {
                prompt.answer.pop();
                self.prompt = Some(prompt);
                None
            }
            _ => {
                self.prompt = Some(prompt);
                None
            }
        }
    }

    /// \[cycles/s\] Twice the speed limit; `None` if there is no limit or the result exceeds the greatest one.
    fn faster(&self) -> Option<u64> {
        let limit = self.latest()?.speed_limit?;
        let twice = limit.saturating_mul(2);
        (twice <= LIMITS.1).then_some(twice)
    }

    /// \[cycles/s\] Half the speed limit, or half the current speed if there is no limit; rounded down to one digit.
    fn slower(&self) -> u64 {
        let snapshot = self.latest();
        let speed = || snapshot.and_then(|snapshot| snapshot.cycles_per_second).map_or(1000, |speed| speed as u64);
        let limit = snapshot.and_then(|snapshot| snapshot.speed_limit).unwrap_or_else(speed);
        let half = (limit / 2).clamp(LIMITS.0, LIMITS.1);
        let power = 10u64.pow(half.ilog10());
        half / power * power
    }

    /// Shows the next pair of dimensions of a grid.
    fn turn_axes(&mut self) {
        let count = self.plane.len();
        let pairs: Vec<(usize, usize)> = (0..count).flat_map(|x| (x + 1..count).map(move |y| (x, y))).collect();
        if let Some(at) = pairs.iter().position(|&pair| pair == self.axes) {
            self.axes = pairs[(at + 1) % pairs.len()];
        }
    }

    /// Shows the next or previous plane of a grid. The planes are counted over all dimensions that are not shown.
    fn move_plane(&mut self, forth: bool) {
        let about = std::sync::Arc::clone(&self.about);
        let Layout::Grid { sizes } = &about.layout else { return };
        for (dimension, &size) in sizes.iter().enumerate() {
            if dimension == self.axes.0 || dimension == self.axes.1 || size == 0 {
                continue;
            }
            let at = &mut self.plane[dimension];
            *at = if forth { (*at + 1) % size } else { (*at + size - 1) % size };
            // The next dimension advances when this one wraps around.
            if *at != if forth { 0 } else { size - 1 } {
                return;
            }
        }
    }

    /// Moves the focus in the shown plane of a grid; otherwise to the next or previous router.
    fn move_focus(&mut self, (right, down): (i64, i64)) {
        let routers = self.about.routers;
        if routers == 0 {
            return;
        }
        let about = std::sync::Arc::clone(&self.about);
        let Layout::Grid { sizes } = &about.layout else {
            let at = self.focus.map_or(0, |focus| (focus as i64 + right + down).rem_euclid(routers as i64));
            self.focus = Some(at as usize);
            return;
        };
        let mut at = match self.focus {
            Some(focus) => about.coordinates(focus).unwrap_or_default(),
            None => self.plane.clone(),
        };
        if self.focus.is_none() {
            at[self.axes.0] = 0;
            at[self.axes.1] = 0;
        } else {
            for (axis, by) in [(self.axes.0, right), (self.axes.1, down)] {
                at[axis] = (i64::from(at[axis]) + by).rem_euclid(i64::from(sizes[axis]).max(1)) as u32;
            }
        }
        let place = sizes.iter().zip(&at).rev();
        self.focus = Some(place.fold(0usize, |number, (&size, &at)| number * size as usize + at as usize));
        self.show_focus();
    }

    /// Shows the plane of the focused router.
    fn show_focus(&mut self) {
        if let Some(coordinates) = self.focus.and_then(|focus| self.about.coordinates(focus)) {
            self.plane = coordinates;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::theme::{Depth, Theme};
    use crate::view::{About, Snapshot};

    fn app(sizes: &[u32]) -> App {
        let routers = sizes.iter().map(|&size| size as usize).product();
        let layout = Layout::Grid { sizes: sizes.to_vec() };
        let about = About { routers, layout, ..About::bare("test".to_owned(), routers) };
        App::new(Arc::new(about), Mode::Live, Theme { depth: Depth::Mono })
    }

    fn press(app: &mut App, keys: &str) -> Option<Command> {
        let code = |key: char| if key == '\n' { KeyCode::Enter } else { KeyCode::Char(key) };
        keys.chars().map(|key| app.key(KeyEvent::from(code(key)))).last().flatten()
    }

    #[test]
    fn keys_steer_the_run() {
        let mut app = app(&[4, 4]);
        app.push(Arc::new(Snapshot { cycle: 50, cycles_per_second: Some(5_000.0), ..Snapshot::default() }));
        assert_eq!(press(&mut app, "p"), Some(Command::Pause));
        assert_eq!(press(&mut app, "s"), Some(Command::Step(1)));
        assert_eq!(press(&mut app, "g120\n"), Some(Command::RunTo(120)));
        assert_eq!(press(&mut app, "g20\n"), None);
        assert!(app.notice.as_ref().unwrap().contains("has passed"));
        assert_eq!(press(&mut app, "-"), Some(Command::Limit(Some(2_000))));
        assert_eq!(press(&mut app, "+"), Some(Command::Limit(None)));
        assert_eq!(press(&mut app, "q"), None);
        assert_eq!(press(&mut app, "n"), None);
        assert_eq!(press(&mut app, "qy"), Some(Command::Quit));
        app.push(Arc::new(Snapshot { cycle: 60, state: RunState::Paused, ..Snapshot::default() }));
        assert_eq!(press(&mut app, " "), Some(Command::Resume));
        app.push(Arc::new(Snapshot { cycle: 70, state: RunState::Ended, ..Snapshot::default() }));
        assert_eq!(press(&mut app, "q"), Some(Command::Leave));
    }

    #[test]
    fn a_run_that_has_not_begun_can_begin_paused() {
        let mut app = app(&[4, 4]);
        assert_eq!(press(&mut app, "p"), Some(Command::Pause));
        assert!(app.notice.as_deref().is_some_and(|notice| notice.contains("will begin paused")));
        assert_eq!(press(&mut app, "p"), Some(Command::Resume));
        assert_eq!(press(&mut app, "p"), Some(Command::Pause));
        app.push(Arc::new(Snapshot { cycle: 1, state: RunState::Paused, ..Snapshot::default() }));
        assert_eq!(app.notice, None);
        assert_eq!(press(&mut app, "p"), Some(Command::Resume));
        app.push(Arc::new(Snapshot { cycle: 9, state: RunState::Running, ..Snapshot::default() }));
        assert_eq!(press(&mut app, "p"), Some(Command::Pause));
    }

    #[test]
    fn the_first_interrupt_asks_and_the_second_ends() {
        let mut app = app(&[4, 4]);
        let interrupt = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
        assert_eq!(app.key(interrupt), Some(Command::Quit));
        assert_eq!(app.key(interrupt), Some(Command::Abort));
        app.mode = Mode::Viewer;
        assert_eq!(app.key(interrupt), Some(Command::Leave));
    }

    #[test]
    fn planes_and_axes_go_round() {
        let mut app = app(&[4, 3, 2]);
        press(&mut app, "]");
        assert_eq!(app.plane, [0, 0, 1]);
        press(&mut app, "]");
        assert_eq!(app.plane, [0, 0, 0]);
        press(&mut app, "[a");
        assert_eq!((app.plane[2], app.axes), (1, (0, 2)));
        press(&mut app, "f23\n");
        assert_eq!((app.focus, app.plane.as_slice()), (Some(23), [3, 2, 1].as_slice()));
        app.screen = Screen::Network;
        app.key(KeyEvent::from(KeyCode::Right));
        assert_eq!(app.focus, Some(20));
        press(&mut app, "f24\n");
        assert!(app.notice.is_some());
        let mut line = self::app(&[5]);
        press(&mut line, "a]n");
        assert_eq!(line.focus, Some(0));
    }

    #[test]
    fn screens_have_numbers_and_an_order() {
        let mut app = app(&[4, 4]);
        press(&mut app, "4");
        assert_eq!(app.screen, Screen::Latency);
        app.key(KeyEvent::from(KeyCode::BackTab));
        assert_eq!(app.screen, Screen::Links);
        press(&mut app, "?");
        assert!(app.help);
        assert_eq!(press(&mut app, "q"), None, "any key leaves the help");
        assert!(!app.help);
    }
}
