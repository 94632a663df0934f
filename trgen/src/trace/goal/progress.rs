//! What hosts have done: their progress, what they did over time, and the unfinished business.

use super::hosts::{Hosts, PER_UNIT};
use super::{ANY, Kind, Node};
use crate::trace::timeline::{Doing, Passage, Span, Timeline};

/// Progress of a rank.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Done {
    /// Messages sent.
    pub sends: u64,
    /// \[bytes\] Size of those messages.
    pub bytes: u64,
    /// Receives matched with a message.
    pub received: u64,
    /// \[ticks\] Length of the calculations that have started.
    pub work: u64,
    /// True if the rank has finished.
    pub is_all: bool,
}

/// Unfinished business when no further event is possible.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Remains {
    /// Operations that never started.
    pub unstarted: u64,
    /// Receives without a message.
    pub unserved: u64,
    /// Messages without a receive.
    pub unreceived: u64,
    /// The pending waits, one line each, at most 64.
    pub waits: Vec<String>,
}

impl Remains {
    /// True if everything was executed and every message received.
    #[must_use]
    pub const fn is_nothing(&self) -> bool {
        self.unstarted == 0 && self.unserved == 0 && self.unreceived == 0
    }
}

/// \[ps\] A time \[ticks\], of so many ticks per time unit.
pub(super) fn picoseconds(time: u64, ticks: u64) -> u64 {
    u64::try_from(u128::from(time) * PER_UNIT / u128::from(ticks)).unwrap_or(u64::MAX)
}

impl Hosts {
    /// Keeps what every host does over time from now on.
    pub fn record(&mut self) {
        self.timeline.record();
    }

    /// What the hosts did over time, as far as it is kept; a receive lasts from the time at which its message is taken.
    #[must_use]
    pub const fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// \[ticks\] The time during which a host calculates. `None` for hosts with several CPUs by the classic rules, where
    /// an operation may start before one that has been started.
    #[must_use]
    pub fn computing(&self, host: usize) -> Option<u64> {
        (self.params.streams || self.resources.cpus() == 1).then(|| self.hosts[host].busy.up_to(u64::MAX))
    }

    /// Keeps that a host calculates.
    #[inline]
    pub(super) fn note_calculation(&mut self, host: u32, node: u32, begin: u64, end: u64) {
        self.hosts[host as usize].busy.add(begin, end);
        self.note(host, Doing::Computing, begin, end, || format!("calc {}", node + 1));
    }

    /// Keeps that a host sends or receives.
    #[inline]
    pub(super) fn note(&mut self, rank: u32, doing: Doing, begin: u64, end: u64, name: impl FnOnce() -> String) {
        let ticks = self.params.ticks;
        let ps = |time| picoseconds(time, ticks);
        self.timeline.add(|| Span { rank, doing, name: name(), begin: ps(begin), end: ps(end) });
    }

    /// Keeps that a send begins.
    #[inline]
    pub(super) fn note_sent(&mut self, host: u32, node: u32, operation: &Node, time: u64) {
        let ticks = self.params.ticks;
        self.timeline.sent((host, node.into()), || {
            let (to, bytes) = (operation.peer, operation.size);
            Passage { from: host, to, sent: picoseconds(time, ticks), arrived: None, bytes, collective: None }
        });
    }

    /// Progress of a rank.
    #[must_use]
    pub fn done(&self, rank: usize) -> Done {
        let nodes = self.graph.ranks[rank].nodes();
        let waiting = self.hosts[rank].posted.len() as u64;
        let mut done = Done { is_all: waiting == 0, ..Done::default() };
        for node in nodes {
            match node.kind {
                _ if !node.has_started() => done.is_all = false,
                Kind::Send => {
                    done.sends += 1;
                    done.bytes = done.bytes.saturating_add(node.size);
                }
                Kind::Recv => done.received += 1,
                Kind::Calc => done.work = done.work.saturating_add(node.size),
            }
        }
        done.received -= waiting;
        done
    }

    /// The unfinished business.
    #[must_use]
    pub fn remains(&self) -> Remains {
        const SHOWN: usize = 64;
        let mut remains = Remains { unstarted: self.unstarted, ..Remains::default() };
        for (number, host) in self.hosts.iter().enumerate() {
            remains.unserved += host.posted.len() as u64;
            remains.unreceived += host.unexpected.len() as u64;
            if remains.waits.len() >= SHOWN {
                continue;
            }
            if let Some(posted) = host.posted.front() {
                let name = |value: u32| if value == ANY { "any".to_owned() } else { value.to_string() };
                let more = host.posted.len() - 1;
                let more = if more > 0 { format!(", and {more} receives more") } else { String::new() };
                let (from, tag, operation) = (name(posted.peer), name(posted.tag), posted.operation + 1);
                let what = format!("operation {operation} waits for a message from rank {from} with tag {tag}{more}");
                remains.waits.push(format!("rank {number}: {what}"));
            } else if let Some(message) = host.unexpected.front() {
                let (from, tag) = (message.peer, message.tag);
                let what = format!("a message from rank {from} with tag {tag} is received by no operation");
                remains.waits.push(format!("rank {number}: {what}"));
            }
        }
        remains
    }
}
