//! The view model: plain data, the same in memory, on a socket and in a file.

mod about;
mod history;
mod snapshot;
mod sweep;

pub use about::{About, Layout, MAX_LINKS};
pub use history::{History, Point};
pub use snapshot::{Guest, Job, Jobs, Latency, Packets, RunState, Snapshot, Sources, Summary, Task, TaskState};
pub use sweep::{Change, Counts, Figure, Figures, Pace, PointState, Spot, Sweep, SweepPoint};
