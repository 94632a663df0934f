//! Selection of a point of a sweep.

use crossterm::event::KeyCode;

use super::{App, Command, Screen};
use crate::view::Sweep;

/// Number of points that a page key skips.
const PAGE: usize = 10;

impl App {
    /// The highlighted point in the list: the selected one, else the one shown.
    #[must_use]
    pub fn chosen_point(&self) -> Option<usize> {
        self.chosen.or_else(|| self.sweep.as_ref()?.watched)
    }

    /// Shows the next running point.
    pub(super) fn watch_next(&mut self) -> Option<Command> {
        let sweep = self.sweep.as_ref()?;
        let next = sweep.next_running(sweep.watched);
        self.notice = match next {
            None => Some("no point is running".to_owned()),
            next if next == sweep.watched => Some("no other point is running".to_owned()),
            _ => None,
        };
        self.chosen = None;
        next.map(Command::Watch)
    }

    /// Shows the selected point on the screens of a run.
    pub(super) fn watch_chosen(&mut self) -> Option<Command> {
        let (sweep, point) = (self.sweep.as_ref()?, self.chosen_point()?);
        if !sweep.is_running(point) {
            self.notice = Some("this point is not running; select a running one".to_owned());
            return None;
        }
        self.chosen = None;
        self.show(Screen::Overview);
        Some(Command::Watch(point))
    }

    /// Moves the selection in the list of points. Returns false for keys that do not move it.
    pub(super) fn choose(&mut self, key: KeyCode) -> bool {
        let last = self.sweep.as_ref().map_or(0, |sweep: &Sweep| sweep.points.len()).saturating_sub(1);
        let at = self.chosen_point();
        let down = |by: usize| at.map_or(0, |at| (at + by).min(last));
        self.chosen = Some(match key {
            KeyCode::Down => down(1),
            KeyCode::PageDown => down(PAGE),
            KeyCode::Up => at.unwrap_or(0).saturating_sub(1),
            KeyCode::PageUp => at.unwrap_or(0).saturating_sub(PAGE),
            KeyCode::Home => 0,
            KeyCode::End => last,
            _ => return false,
        });
        true
    }
}

#[cfg(test)]
mod tests {
    use crossterm::event::KeyEvent;

    use super::*;
    use crate::app::Question;
    use crate::theme::{Depth, Theme};
    use crate::view::{Change, Figures, Pace, PointState, SweepPoint};

    fn app() -> App {
        let states = [
            PointState::Done(Figures::default()),
            PointState::Running(Pace::default()),
            PointState::Running(Pace::default()),
            PointState::Waiting,
        ];
        let point = |state| SweepPoint { name: String::new(), curve: 0, x: 0.0, state };
        let points = states.map(point).to_vec();
        let sweep = Sweep { points, watched: Some(1), ..Sweep::default() };
        App::of_sweep(sweep, Theme { depth: Depth::Mono })
    }

    fn press(app: &mut App, key: KeyCode) -> Option<Command> {
        app.key(KeyEvent::from(key))
    }

    #[test]
    fn the_next_running_point_is_watched() {
        let mut app = app();
        assert_eq!(press(&mut app, KeyCode::Char('w')), Some(Command::Watch(2)));
        app.sweep.iter_mut().for_each(|sweep| sweep.watched = Some(2));
        assert_eq!(press(&mut app, KeyCode::Char('w')), Some(Command::Watch(1)));
        app.sweep.iter_mut().for_each(|sweep| sweep.apply(Change::Point(1, PointState::Waiting)));
        press(&mut app, KeyCode::Char('w'));
        assert_eq!(app.notice.as_deref(), Some("no other point is running"));
    }

    #[test]
    fn a_point_is_chosen_in_the_list() {
        let mut app = app();
        assert_eq!(app.chosen_point(), Some(1));
        press(&mut app, KeyCode::Down);
        assert_eq!(app.chosen, Some(2));
        assert_eq!(press(&mut app, KeyCode::Enter), Some(Command::Watch(2)));
        assert_eq!((app.screen, app.chosen), (Screen::Overview, None));
        press(&mut app, KeyCode::Char('7'));
        press(&mut app, KeyCode::PageUp);
        assert_eq!((app.chosen, press(&mut app, KeyCode::Enter)), (Some(0), None));
        assert!(app.notice.is_some(), "it is done");
        press(&mut app, KeyCode::End);
        assert_eq!(app.chosen, Some(3));
        press(&mut app, KeyCode::Esc);
        assert_eq!(app.chosen, None);
        let mut run = App::new(app.about.clone(), app.mode, app.theme);
        press(&mut run, KeyCode::Char('7'));
        assert_eq!((press(&mut run, KeyCode::Char('w')), run.screen), (None, Screen::Overview));
    }

    #[test]
    fn a_sweep_ends_when_all_has_ended() {
        let mut app = app();
        assert_eq!(press(&mut app, KeyCode::Char('q')), None);
        assert_eq!(app.prompt.as_ref().map(|prompt| prompt.question), Some(Question::QuitSweep));
        assert_eq!(press(&mut app, KeyCode::Char('y')), Some(Command::Quit));
        assert!(app.quitting);
        app.sweep.iter_mut().for_each(|sweep| sweep.apply(Change::Over));
        assert_eq!(press(&mut app, KeyCode::Char('q')), Some(Command::Leave));
    }
}
