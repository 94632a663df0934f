//! Whole screens at three sizes, as text; colours are tested where they are made.
//!
//! After an intended change: `INSTA_UPDATE=always cargo test -p fsin-tui --test all screens::`, and look at every difference.

use std::io::Cursor;
use std::sync::Arc;

use crate::common::{self, app, guests, jobs, tasks, torus};
use crossterm::event::{KeyCode, KeyEvent};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use tui::app::{App, Command, Metric, Mode, Screen};
use tui::dashboard::{News, Recording, Source};
use tui::screens::draw;
use tui::stream::{Reader, write_about, write_snapshot};
use tui::view::{About, Layout, RunState, Snapshot, Sources};

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

/// The same screen after a last snapshot.
fn then(mut app: App, change: impl FnOnce(&mut Snapshot)) -> App {
    let mut last = app.latest().expect("the fixture has snapshots").clone();
    change(&mut last);
    app.push(Arc::new(last));
    app
}

#[test]
fn a_step_is_seen_and_so_is_a_failure() {
    let paused = then(plain(Screen::Overview), |last| {
        (last.cycle, last.end, last.state) = (2_430_123, Some(9_000_000), RunState::Paused);
    });
    assert!(picture(&paused, (80, 24)).contains("cycle 2 430 123 of 9.00 M, 27 %"));
    assert!(picture(&paused, (40, 12)).contains("cycle 2 430 123"));
    for screen in Screen::ALL {
        let failed = then(plain(screen), |last| {
            last.state = RunState::Ended;
            last.log.push("error: deadlock of the network in cycle 10000".to_owned());
        });
        assert!(picture(&failed, (80, 24)).contains(" FAILED   6: why  q: leave, and print the results"));
        assert!(picture(&failed, (40, 12)).contains(" FAILED   6: why  q: leave"));
        let ended = then(plain(screen), |last| last.state = RunState::Ended);
        assert!(picture(&ended, (80, 24)).contains(" ENDED   q: leave, and print the results"));
    }
}

#[test]
fn a_recording_that_is_held_says_so_and_so_does_one_that_was_cut() {
    for last in [RunState::Running, RunState::Ended] {
        let about = torus(&[4, 4]);
        let mut bytes = Vec::new();
        write_about(&mut bytes, &about).expect("memory is written");
        for (cycle, state) in [(1000, RunState::Running), (2000, RunState::Running), (3000, last)] {
            // An hour apart: updates come only on request.
            let snapshot = Snapshot { state, elapsed_seconds: cycle as f64 * 3.6, ..common::at(&about, cycle) };
            write_snapshot(&mut bytes, &snapshot).expect("memory is written");
        }
        let reader = Reader::new(Cursor::new(bytes)).expect("it has just been written");
        let mut recording = Recording::new(reader).expect("it has just been written");
        let shown = |recording: &mut Recording<_>| match recording.poll() {
            News::Snapshot(snapshot) => snapshot,
            other => panic!("{other:?}"),
        };
        let brief = |snapshot: &Snapshot| (snapshot.cycle, snapshot.state);
        assert_eq!(brief(&shown(&mut recording)), (1000, RunState::Running));
        recording.command(Command::Pause);
        assert_eq!(brief(&shown(&mut recording)), (1000, RunState::Paused));
        recording.command(Command::Resume);
        assert_eq!(brief(&shown(&mut recording)), (1000, RunState::Running));
        recording.command(Command::Step(1));
        assert_eq!(brief(&shown(&mut recording)), (2000, RunState::Paused));
        recording.command(Command::Step(1));
        let end = shown(&mut recording);
        if last == RunState::Ended {
            assert_eq!((brief(&end), end.phase.as_str()), ((3000, RunState::Ended), "measuring"));
        } else {
            assert_eq!((brief(&end), end.phase.as_str()), ((3000, RunState::Paused), "cut off here"));
            assert!(
                end.log.iter().any(|line| line.contains("ends at cycle 3000, before its run does")),
                "{:?}",
                end.log
            );
        }
        assert_eq!(recording.poll(), News::Nothing);
    }
}

#[test]
fn the_keys_of_a_viewer_and_of_a_recording_are_theirs() {
    let mut app = plain(Screen::Overview);
    app.help = true;
    for (mode, there, absent) in [
        (Mode::Live, "quit; a run ends with partial results", "hold"),
        (Mode::Viewer, "leave; the run goes on", "speed limit"),
        (Mode::Replay, "pace: half, double", "speed limit"),
    ] {
        app.mode = mode;
        let text = picture(&app, (80, 24));
        assert!(text.contains(there) && !text.contains(absent), "{text}");
        for size in [(40, 12), (60, 20)] {
            let text = picture(&app, size);
            assert!(text.contains(" q    ") && text.contains("^C"), "{text}");
            assert!(text.contains("map of") && text.contains("1-6"), "{text}");
        }
    }
}

#[test]
fn no_number_is_cut_where_there_is_little_room() {
    let at = |screen, size| picture(&plain(screen), size);
    let small = at(Screen::Sources, (40, 12));
    assert!(small.contains("least served") && !small.contains("most serv"), "{small}");
    assert!(small.contains(" 0.7 .. 0.8    27    0 (0,0)       75 %"), "{small}");
    assert!(at(Screen::Overview, (40, 12)).contains("measuring  cycle 10 000"));
    let medium = at(Screen::Latency, (60, 20));
    assert!(medium.contains("mean     p50     p99\n") && medium.contains("512.2     500    2100\n"), "{medium}");
    let links = at(Screen::Links, (60, 20));
    assert!(links.contains("use        queue"), "{links}");
    let title = at(Screen::Overview, (80, 24));
    assert!(title.contains("hotspot(0.2,102) load 0.6 bernoulli | bubble:smart vcs 3 ...\n"), "{title}");
}

#[test]
fn a_mix_of_jobs_says_how_many_there_are_and_whose_tasks_these_are() {
    at_all_sizes("jobs", &app(torus(&[4, 4]), Screen::Sources, &|cycle| Some(jobs(cycle))));
    let at = |size, cycle: u64| picture(&app(torus(&[4, 4]), Screen::Sources, &move |_| Some(jobs(cycle))), size);
    // Parts that do not fit are omitted as a whole.
    let narrow = at((80, 24), 5_000);
    assert!(
        narrow.contains("2 of 4 jobs run, 1 waiting, 1 ended; 8 tasks of those that run, 0 finished\n"),
        "{narrow}"
    );
    assert!(at((120, 40), 5_000).contains("0 finished; 4000 of 8000 events begun (50 %)\n"));
    let lines: Vec<&str> = narrow.lines().filter(|line| line.contains(" @ ")).skip(1).collect();
    assert_eq!(lines.len(), 8, "{narrow}");
    assert!(lines[0].trim_start().starts_with("halo-2") && lines[0].contains("0 @ 4"), "{narrow}");
    assert!(lines[4].trim_start().starts_with("a-long-…-to-all") && lines[4].contains("0 @ 8"), "{narrow}");
    let over = at((80, 24), 20_000);
    assert!(over.contains("all 4 jobs have ended; 4 tasks of the last to end, 4 finished\n"), "{over}");
}

#[test]
fn the_timeline_of_a_job_is_its_own() {
    // The first job ends, and the lines of the others move up.
    let text = picture(&app(torus(&[4, 4]), Screen::Sources, &|cycle| Some(jobs(cycle))), (80, 24));
    let line = text.lines().find(|line| line.contains("a-long") && line.contains("3 @ 11")).unwrap_or_default();
    let states: String =
        line.split("3 @ 11").nth(1).unwrap_or("").trim_start().chars().take_while(|&c| c != ' ').collect();
    assert_eq!(states.chars().filter(|&state| state == 'W').count(), states.chars().count(), "{text}");
    assert!(!states.is_empty());
}

#[test]
fn no_size_and_no_network_makes_a_screen_panic() {
    let empty = |about: About| app(about, Screen::Overview, &|_| Some(Sources::default()));
    let mut apps = vec![
        plain(Screen::Overview),
        app(torus(&[4, 4]), Screen::Overview, &|cycle| Some(tasks(cycle))),
        app(torus(&[5]), Screen::Overview, &|cycle| Some(guests(cycle.max(300)))),
        app(torus(&[4, 4]), Screen::Overview, &|cycle| Some(jobs(cycle))),
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
