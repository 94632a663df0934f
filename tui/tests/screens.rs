//! Whole screens at three sizes, as text; colours are tested where they are made.
//!
//! After an intended change: `INSTA_UPDATE=always cargo test -p tui --test screens`, and look at every difference.

mod common;

use std::sync::Arc;

use common::{app, guests, tasks, torus};
use crossterm::event::{KeyCode, KeyEvent};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use tui::app::{App, Metric, Mode, Screen};
use tui::screens::draw;
use tui::view::{About, Layout, Sources};

const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (200, 60)];

fn picture(app: &App, (width, height): (u16, u16)) -> String {
    let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
    draw(app, buffer.area, &mut buffer);
    let row = |y: u16| (0..width).map(|x| buffer[(x, y)].symbol()).collect::<String>();
    (0..height).map(|y| format!("{}\n", row(y).trim_end())).collect()
}

fn at_all_sizes(name: &str, app: &App) {
    for size in SIZES {
        insta::assert_snapshot!(format!("{name}_{}x{}", size.0, size.1), picture(app, size));
    }
}

fn plain(screen: Screen) -> App {
    app(torus(&[16, 16]), screen, &|_| None)
}

#[test]
fn every_screen_of_a_torus() {
    for screen in Screen::ALL {
        at_all_sizes(screen.name(), &plain(screen));
    }
}

#[test]
fn a_router_that_is_looked_at() {
    let mut app = plain(Screen::Network);
    app.focus = Some(102);
    at_all_sizes("focus", &app);
    app.metric = Metric::Links;
    at_all_sizes("focus_links", &app);
}

#[test]
fn a_plane_of_three_dimensions() {
    let mut app = app(torus(&[8, 8, 4]), Screen::Network, &|_| None);
    for key in ['a', ']'] {
        app.key(KeyEvent::from(KeyCode::Char(key)));
    }
    at_all_sizes("plane", &app);
}

#[test]
fn tasks_and_guests() {
    at_all_sizes("tasks", &app(torus(&[4, 4]), Screen::Sources, &|cycle| Some(tasks(cycle))));
    at_all_sizes("guests", &app(torus(&[4, 4]), Screen::Sources, &|cycle| Some(guests(cycle.max(300)))));
}

#[test]
fn stages_of_a_tree_and_groups_of_a_dragonfly() {
    for name in ["stage", "group"] {
        let rows = (0..4u32).map(|row| (row * 4..row * 4 + 4).collect()).collect();
        let mut app = app(torus(&[4, 4]), Screen::Network, &|_| None);
        app.about =
            Arc::new(About { layout: Layout::Rows { name: name.to_owned(), rows }, ..About::clone(&app.about) });
        app.metric = Metric::Injection;
        insta::assert_snapshot!(format!("{name}s"), picture(&app, (80, 24)));
    }
}

#[test]
fn help_and_questions_and_what_is_over() {
    let mut app = plain(Screen::Overview);
    app.help = true;
    at_all_sizes("help", &app);
    app.help = false;
    app.key(KeyEvent::from(KeyCode::Char('q')));
    assert!(picture(&app, (80, 24)).contains("end the run now, with partial results? y / n"));
    app.prompt = None;
    app.mode = Mode::Viewer;
    assert!(picture(&app, (80, 24)).contains("RUNNING (viewer)"));
    let mut none = App::new(app.about.clone(), Mode::Live, app.theme);
    for screen in Screen::ALL {
        none.screen = screen;
        assert!(picture(&none, (80, 24)).contains("WAITING for the run"));
    }
}

#[test]
fn no_size_and_no_network_makes_a_screen_panic() {
    let empty = |about: About| app(about, Screen::Overview, &|_| Some(Sources::default()));
    let mut apps = vec![
        plain(Screen::Overview),
        app(torus(&[4, 4]), Screen::Overview, &|cycle| Some(tasks(cycle))),
        app(torus(&[5]), Screen::Overview, &|cycle| Some(guests(cycle.max(300)))),
        empty(About::bare("a switch".to_owned(), 4)),
    ];
    for app in &mut apps {
        for screen in Screen::ALL {
            app.screen = screen;
            for focus in [None, Some(3)] {
                app.focus = focus.filter(|&focus| focus < app.about.routers);
                for (width, height) in
                    (0..60).flat_map(|width| [0, 1, 5, 6, 7, 9, 12, 15].map(|height| (width * 2, height)))
                {
                    picture(app, (width, height));
                }
            }
        }
    }
}

#[test]
fn the_smallest_terminal_that_is_used_shows_where_one_is() {
    for screen in Screen::ALL {
        let text = picture(&plain(screen), (40, 12));
        assert!(text.contains(screen.name()) && text.contains("RUNNING"), "{text}");
    }
}
