//! The live dashboard of fsin: a view model of plain data, widgets that are pure functions of it, and the terminal.
//!
//! It knows no simulator. [`view`] is what can be drawn: [`view::About`] says once what a run is, and a
//! [`view::Snapshot`] what it was like between two cycles. Who runs a simulation fills a [`feed::Feed`] when somebody
//! asks for it; a sweep of many runs writes on a [`board::Board`]; who looks on from another process reads the same
//! data as lines ([`stream`]), live or from a recording. [`app`] is what the user is looking at, [`screens`] draw it
//! into a buffer, [`terminal`] and [`dashboard`] bring it to a terminal, [`svg`] to a picture.

pub mod app;
pub mod board;
pub mod dashboard;
pub mod feed;
pub mod screens;
pub mod stream;
pub mod svg;
pub mod terminal;
pub mod theme;
pub mod view;
pub mod widgets;
