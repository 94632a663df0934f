//! The live dashboard of fsin: a view model of plain data, widgets that are pure functions of it, and the terminal.
//!
//! It is independent of the simulator. [`view`] is the view model: [`view::About`] holds the fixed properties of a run,
//! a [`view::Snapshot`] its state between two cycles. A simulation fills a [`feed::Feed`] on request; a sweep of many
//! runs reports on a [`board::Board`]; another process reads the same data as lines ([`stream`]), live or from a
//! recording. [`app`] is the state of the user interface, [`screens`] draw it into a buffer, [`terminal`] and
//! [`dashboard`] bring it to a terminal, [`svg`] to a picture.

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
