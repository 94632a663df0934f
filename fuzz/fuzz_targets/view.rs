//! Streams of snapshots from anywhere: `tui::stream` refuses them or reads them, and what it reads can be drawn.
#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use tui::app::{App, Mode, Screen};
use tui::stream::Reader;
use tui::svg::picture;
use tui::theme::{Depth, Theme};

fuzz_target!(|bytes: &[u8]| {
    let Ok(mut reader) = Reader::new(bytes) else { return };
    let mut app = App::new(Arc::new(reader.about().clone()), Mode::Replay, Theme { depth: Depth::True });
    while let Ok(Some(snapshot)) = reader.next_snapshot() {
        app.push(Arc::new(snapshot));
    }
    for screen in Screen::ALL {
        app.screen = screen;
        picture(&app, 80, 24);
    }
});
