//! Synthetic traffic: a temporal process x a spatial pattern x a size law.
//!
//! # How it is put together
//! [`temporal`] decides when a node generates a message, [`spatial`] its destination, [`size`] its length;
//! [`Synthetic`] combines the three behind [`TrGen`](crate::TrGen). The user writes each as an expression, parsed by
//! [`expr`]. Each family has one table of [`Component`](crate::catalog::Component)s; a new member is one file and one
//! line in that table.
//!
//! [`Traffic`] covers everything that the user can write: a single such source, sums and phases of several, shots
//! (bursts that the whole machine shares) and reactions to receptions; [`traffic`] explains the syntax. [`Background`]
//! adds traffic to an application, and [`flows`] has messages of a list.
//!
//! # How the model departs from reality, and who could notice
//! Nodes know nothing of each other, and react at most to the fact of a reception, or answer a request. A user who needs
//! real barriers should take an application kernel or a trace instead ([`crate::trace`]).
//!
//! # Example
//! ```
//! use trgen::synthetic::{Config, Traffic};
//! use trgen::{Geometry, TrGen};
//!
//! let grid = Geometry::new(&[8, 8]).expect("sizes of 1 or more");
//! let pattern = "transpose".parse().expect("a pattern");
//! let source = Traffic::new(&Config { pattern, load: 0.5, ..Config::new(grid) })?;
//! assert_eq!((source.nodes(), source.silent_nodes()), (64, 8));
//! # Ok::<(), trgen::synthetic::traffic::Misfit>(())
//! ```

mod alias;
mod background;
mod batches;
mod bundle;
pub mod draw;
mod due;
pub mod expr;
pub(crate) mod file;
pub mod flows;
mod groups;
mod pending;
mod phases;
mod reactive;
mod reply;
mod shots;
pub mod size;
pub mod source;
pub mod spatial;
mod spec;
mod tail;
pub mod temporal;
pub mod traffic;

pub use background::Background;
pub use groups::Group;
pub use reply::RoundTrips;
pub use source::{Config, Mode, Synthetic};
pub use spec::Spec;
pub use traffic::Traffic;
