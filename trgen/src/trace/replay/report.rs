//! What a replay tells of its tasks.

use super::task::Outstanding;
use crate::trace::program::{Receive, Send, Tag, TagFilter};
use crate::units::Cycle;

/// What one task did.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct TaskReport {
    /// \[cycles\] Of computing.
    pub compute_cycles: u64,
    /// \[cycles\] Blocked in sends.
    pub blocked_on_send_cycles: u64,
    /// \[cycles\] Blocked in receives.
    pub blocked_on_receive_cycles: u64,
    /// \[cycles\] Blocked in waits for requests.
    pub blocked_on_wait_cycles: u64,
    /// Messages sent by point-to-point operations.
    pub sent_point_to_point: u64,
    /// Messages sent by expanded collectives.
    pub sent_collective: u64,
    /// \[bytes\] Sent.
    pub sent_bytes: u64,
    /// Messages received.
    pub received: u64,
    /// \[cycle\] In which its last event was done.
    pub finished: Option<Cycle>,
}

impl TaskReport {
    pub(super) fn count_sent(&mut self, send: &Send) {
        if send.tag.is_collective() {
            self.sent_collective += 1
        } else {
            self.sent_point_to_point += 1
        }
        self.sent_bytes = self.sent_bytes.saturating_add(send.bytes);
    }
}

/// What all tasks did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReplayReport {
    /// Each task.
    pub tasks: Vec<TaskReport>,
    /// Messages that have arrived and that nobody has received.
    pub unreceived: u64,
    /// Tasks that have not done all their events.
    pub unfinished: usize,
}

/// What a receive waits for, in words.
pub(super) fn wanted(receive: &Receive) -> String {
    let from = receive.from.map_or_else(|| "from any task".to_owned(), |task| format!("from task {task}"));
    let tag = match receive.tag {
        TagFilter::Exactly(tag) if tag.is_collective() => format!("of collective {}", tag.label),
        TagFilter::Exactly(Tag { label, .. }) => format!("with tag {label}"),
        TagFilter::AnyIn(_) => "with any tag".to_owned(),
    };
    format!("{from} {tag}")
}

/// What an outstanding request waits for, in words.
pub(super) fn request(outstanding: Option<&Outstanding>) -> String {
    match outstanding {
        Some(Outstanding::Receive(receive)) => format!("a message {}", wanted(receive)),
        Some(Outstanding::Send(to)) => format!("its send to task {to}"),
        None => "a request".to_owned(),
    }
}
