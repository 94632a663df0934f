//! The front door: an experiment from its settings, and its result.
//!
//! [`Builder`] sets the keys of the command, with the same names, defaults, checks and errors. [`Experiment::run`] runs
//! what it builds, and [`Experiment::run_with`] takes [`Options`]: cancellation, progress, observers. A [`Session`] carries
//! the messages of a program that has a loop of its own.
//!
//! Decision: docs/decisions/0240-front-door.md.
//!
//! [`Experiment::run`]: crate::Experiment::run
//! [`Experiment::run_with`]: crate::Experiment::run_with

mod builder;
mod perform;
mod session;

pub use builder::Builder;
pub use perform::{Account, Options, Performed, Step};
pub use session::{Event, EventKind, Session, SessionError};
