//! What the dashboard shows of a run: fills the view model of [`tui`].
//!
//! [`about()`] says once what is simulated. A [`Watcher`] looks at the run a few hundred times a second, which costs a
//! few reads of memory; it takes a snapshot only when somebody has asked for one, and does what the user wants: pause,
//! step, go slowly. [`of_plan`] and [`of_result`] say the same of a sweep.

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
