//! The dashboard as text.

mod common;
mod screens;
mod sweep;
