//! Synthetic traffic: a temporal process x a spatial pattern x a size law.
//!
//! # How it is put together
//! [`temporal`] says when a node generates a message, [`spatial`] whom it goes to, [`size`] how long it is;
//! [`Synthetic`] puts the three together behind [`TrGen`](crate::TrGen). Each is a word of the user, read by [`expr`];
//! each family has one table of [`Component`](crate::catalog::Component)s, and a new member is one file and one line
//! there.
//!
//! # How the model departs from reality, and who could notice
//! Nodes know nothing of each other and of what they receive: no message is the answer to another. A user who wants
//! round trips, barriers or bursts that many nodes share should take an application kernel or a trace instead
//! ([`crate::trace`]).
//!
//! # Example
//! ```
//! use trgen::synthetic::{Config, Synthetic};
//! use trgen::{Geometry, TrGen};
//!
//! let grid = Geometry::new(&[8, 8]).expect("sizes of 1 or more");
//! let source = Synthetic::new(&Config { pattern: "transpose".into(), load: 0.5, ..Config::new(grid) })?;
//! assert_eq!((source.nodes(), source.silent_nodes()), (64, 8));
//! # Ok::<(), trgen::catalog::Refusal>(())
//! ```

mod calendar;
mod draw;
pub mod expr;
pub mod size;
pub mod source;
pub mod spatial;
pub mod temporal;

pub use source::{Config, Mode, Synthetic};
