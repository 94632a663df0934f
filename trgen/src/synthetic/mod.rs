//! Synthetic traffic: a temporal process x a spatial pattern x a size law.
//!
//! # How it is put together
//! [`temporal`] says when a node generates a message, [`spatial`] whom it goes to, [`size`] how long it is;
//! [`Synthetic`] puts the three together behind [`TrGen`](crate::TrGen). Each is a word of the user, read by [`expr`];
//! each family has one table of [`Component`](crate::catalog::Component)s, and a new member is one file and one line
//! there.
//!
//! [`Traffic`] is all that can be written: such a source, sums and phases of several, shots (bursts that the whole
//! machine shares) and reactions to what is received; [`traffic`] explains the words. [`Background`] adds traffic to an
//! application.
//!
//! # How the model departs from reality, and who could notice
//! Nodes know nothing of each other, and of what they receive no more than that something was: no message is the answer
//! to another. A user who wants round trips or real barriers should take an application kernel or a trace instead
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
//! # Ok::<(), trgen::catalog::SpecError>(())
//! ```

mod alias;
mod background;
mod bundle;
mod calendar;
mod debt;
pub(crate) mod draw;
pub mod expr;
mod phases;
mod reactive;
mod shots;
pub mod size;
pub mod source;
pub mod spatial;
pub mod temporal;
pub mod traffic;

pub use background::Background;
pub use source::{Config, Mode, Synthetic};
pub use traffic::Traffic;
