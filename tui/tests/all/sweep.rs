//! The screens of a sweep at three sizes, as text.
//!
//! After an intended change: `INSTA_UPDATE=always cargo test -p fsin-tui --test all sweep::`, and look at every difference.

use std::sync::Arc;

use crate::common::{at, torus};
use crossterm::event::{KeyCode, KeyEvent};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use tui::app::{App, Screen};
use tui::screens::draw;
use tui::theme::{Depth, Theme};
use tui::view::{Change, Figures, Pace, PointState, Sweep, SweepPoint};

const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (200, 60)];
const THEME: Theme = Theme { depth: Depth::True };

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

/// The state of a point of this load, halfway through the sweep.
fn state(curve: usize, load: f64) -> PointState {
    let saturation = [0.62, 0.45, 0.3][curve];
    let figures = Figures {
        saturated: load > saturation,
        accepted: Some(load.min(saturation)),
        latency: Some(if load > saturation { 3000.0 * load } else { 30.0 + 12.0 / (saturation + 0.05 - load) }),
        completion: None,
        seconds: (curve > 0).then_some(1.0 + load * 4.0),
    };
    match (curve, (load * 20.0).round() as u32) {
        (2, 10) => PointState::Failed("the network is in deadlock at cycle 7012".to_owned()),
        (_, 16..) => PointState::LeftOut,
        (_, 14..) => PointState::Waiting,
        (1, 13) => PointState::Running(Pace {
            phase: "measuring".to_owned(),
            paused: false,
            share: Some(0.45),
            cycles_per_second: Some(98_765.0),
            seconds: 2.5,
        }),
        (2, 13) => PointState::Running(Pace { phase: "warm-up".to_owned(), ..Pace::default() }),
        (_, 13) => PointState::Waiting,
        _ => PointState::Done(figures),
    }
}

/// Three curves of 18 loads, halfway through the sweep.
fn sweep() -> Sweep {
    let curves = ["bubble:smart", "bubble:oblivious", "dally:trc"];
    let point = |curve: usize, step: u32| {
        let load = f64::from(step) / 20.0;
        SweepPoint { name: format!("load {load}, {}", curves[curve]), curve, x: load, state: state(curve, load) }
    };
    Sweep {
        title: "sweep results: 54 points (3 routing x 18 load)".to_owned(),
        axis: "load (phits/node/cycle)".to_owned(),
        curves: curves.map(str::to_owned).to_vec(),
        points: (0..3).flat_map(|curve| (1..=18).map(move |step| point(curve, step))).collect(),
        at_once: 2,
        elapsed_seconds: 83.0,
        watched: Some(30),
        load_unit: "phits/node/cycle".to_owned(),
        log: ["load 0.05, bubble:smart: 1.20 s".to_owned(), "failed: a very long line ".repeat(12)].into(),
        ..Sweep::default()
    }
}

/// The sweep, and its displayed point.
fn app(sweep: Sweep, screen: Screen) -> App {
    let mut app = App::of_sweep(sweep, THEME);
    app.begin(Arc::new(torus(&[16, 16])));
    (0..=10).for_each(|step| app.push(Arc::new(at(&app.about, step * 1_000))));
    app.screen = screen;
    app
}

#[test]
fn a_sweep_at_work() {
    at_all_sizes("sweep", &app(sweep(), Screen::Sweep));
}

#[test]
fn screens_of_a_run_say_which_point_they_show() {
    at_all_sizes("sweep_overview", &app(sweep(), Screen::Overview));
    let log = picture(&app(sweep(), Screen::Log), (80, 24));
    assert!(log.contains("load 0.05, bubble:smart: 1.20 s") && log.contains("  failed: a very long line"), "{log}");
    let mut before = App::of_sweep(sweep(), THEME);
    for screen in Screen::ALL {
        before.screen = screen;
        assert!(picture(&before, (80, 24)).contains("WAITING for a point"));
    }
}

#[test]
fn a_chosen_point_and_the_end() {
    let mut app = app(sweep(), Screen::Sweep);
    app.key(KeyEvent::from(KeyCode::End));
    assert!(picture(&app, (80, 24)).contains("54 c load 0.9"));
    app.key(KeyEvent::from(KeyCode::Char('q')));
    assert!(picture(&app, (80, 24)).contains("end the sweep now? points that have run are kept"));
    app.key(KeyEvent::from(KeyCode::Esc));
    app.sweep.iter_mut().for_each(|sweep| sweep.apply(Change::Over));
    let end = picture(&app, (80, 24));
    assert!(end.contains("ENDED   q: leave") && end.contains("not run"), "{end}");
}

#[test]
fn the_keys_of_a_sweep_are_explained() {
    let mut app = app(sweep(), Screen::Sweep);
    app.help = true;
    insta::assert_snapshot!("sweep_help_80x24", picture(&app, (80, 24)));
}

#[test]
fn axes_of_words_and_times_of_kernels() {
    let done = |completion: f64| {
        PointState::Done(Figures { completion: Some(completion), seconds: Some(0.25), ..Figures::default() })
    };
    let point = |(at, name): (usize, &str)| SweepPoint {
        name: name.to_owned(),
        curve: 0,
        x: at as f64,
        state: done(1000.0 * (at + 1) as f64),
    };
    let words = ["torus:4x4x4", "torus:8x8", "mesh:8x8"];
    let sweep = Sweep {
        title: "sweep kernels: 3 points (3 topology)".to_owned(),
        axis: "topology".to_owned(),
        words: words.map(str::to_owned).to_vec(),
        curves: vec![String::new()],
        points: words.into_iter().enumerate().map(point).collect(),
        over: true,
        ..Sweep::default()
    };
    insta::assert_snapshot!("sweep_kernels_80x24", picture(&App::of_sweep(sweep, THEME), (80, 24)));
}

#[test]
fn no_size_makes_a_sweep_panic() {
    let many = Sweep { curves: (0..200).map(|curve| format!("curve {curve}")).collect(), ..sweep() };
    let mut apps = [app(sweep(), Screen::Sweep), app(many, Screen::Sweep), app(Sweep::default(), Screen::Sweep)];
    for app in &mut apps {
        for chosen in [None, Some(53)] {
            app.chosen = chosen;
            for (width, height) in
                (0..60).flat_map(|width| [0, 1, 6, 7, 12, 15, 17, 40].map(|height| (width * 3, height)))
            {
                picture(app, (width, height));
            }
        }
    }
    let small = picture(&apps[0], (40, 12));
    assert!(small.contains("sweep") && small.contains("RUNNING") && small.contains("of 54 points"), "{small}");
}
