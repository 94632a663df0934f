//! The dashboard of a run: fills the view model of [`tui`].
//!
//! [`about()`] describes the simulation once. A [`Watcher`] polls the run a few hundred times a second, which costs a
//! few reads of memory. It takes a snapshot only on request, and executes the user's commands: pause, step, limit the
//! speed. [`of_plan`] and [`of_result`] do the same for a sweep.

mod about;
mod latencies;
mod recorder;
mod sampler;
mod sweep;
mod watcher;

pub use about::{about, of_experiment};
pub use recorder::Recorder;
pub use sampler::Sampler;
pub use sweep::{of_plan, of_result};
pub use watcher::Watcher;
