//! What can be drawn: plain data, the same in memory, on a socket and in a file.

mod about;
mod history;
mod snapshot;

pub use about::{About, Layout, MAX_LINKS};
pub use history::{History, Point};
pub use snapshot::{Guest, Latency, Packets, RunState, Snapshot, Sources, Summary, Task, TaskState};
