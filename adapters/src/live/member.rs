//! Data connections of a group of guests. They carry messages; the control connection of the group, its central, takes
//! part in the turns.

use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use trgen::NodeId;

use super::Live;
use super::loss::Loss;
use super::state::Mark;
use crate::clock::Time;
use crate::endpoint::Connection;
use crate::protocol::{Body, Code, Frame};
use crate::stream::{Broken, Link};

/// How long the endpoint sleeps between two checks of connections without input.
const CHECK_INTERVAL: Duration = Duration::from_micros(100);

/// A data connection.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) link: Link,
    pub(super) name: String,
    /// \[bytes\] Longest payload of a frame that the connection accepts.
    pub(super) longest: u32,
    pub(super) nodes: Vec<NodeId>,
    /// \[ps\] Time of the last frame from the connection.
    time: Time,
}

impl Member {
    pub(super) fn new(connection: Connection) -> Self {
        let Connection { link, hello, .. } = connection;
        Self {
            link,
            name: hello.name,
            longest: hello.max_payload,
            nodes: hello.nodes.into_iter().map(NodeId).collect(),
            time: 0,
        }
    }
}

impl Live {
    /// Reads the data connections of guest `index`, at least until the group has injected `injects` messages: its
    /// central has counted them, but they may still be in transit. `latest` is the latest time \[ps\] that a frame may
    /// have. A closed connection is a loss, unless the group `leaves` now.
    pub(super) fn read_data_connections(
        &mut self,
        index: usize,
        injects: u64,
        latest: Time,
        leaves: bool,
    ) -> Result<(), Loss> {
        let begin = Instant::now();
        let (stall, stop) = (self.rules.terms.stall, self.rules.stop);
        loop {
            let mut received = false;
            for member in 0..self.guests[index].members.len() {
                while let Some(frame) = self.next_data_frame(index, member, leaves)? {
                    received = true;
                    self.process_data_frame(index, member, frame, latest)?;
                }
            }
            if self.guests[index].injects >= injects || self.guests[index].members.is_empty() {
                return Ok(());
            }
            if received {
                continue;
            }
            if stop.load(Ordering::Relaxed) {
                return Err(Broken::Interrupted.into());
            }
            if begin.elapsed() >= stall {
                let found = self.guests[index].injects;
                let what = format!("it counts {injects} messages, and its data connections have brought {found}");
                return Err(Loss::new(Code::Stalled, format!("{what}; correct the count, or the guests")));
            }
            thread::sleep(CHECK_INTERVAL);
        }
    }

    /// The next frame of a data connection, if it has arrived. `leaves` is true if the group leaves now:
    /// then a closed connection is no loss.
    fn next_data_frame(&mut self, index: usize, member: usize, leaves: bool) -> Result<Option<Frame>, Loss> {
        let guest = &mut self.guests[index];
        match guest.members[member].link.next_if_there() {
            Err(Broken::Closed) if leaves => Ok(None),
            received => received.map_err(|broken| guest.with_connection(member + 1, broken.into())),
        }
    }

    /// Processes a frame of a data connection, whose time must be at most `latest`.
    fn process_data_frame(&mut self, index: usize, member: usize, frame: Frame, latest: Time) -> Result<(), Loss> {
        self.log('<', index, member + 1, frame.endpoint, frame.time, &frame.body);
        let entry = self.entry(frame.time);
        let window = self.rules.terms.window;
        let guest = &mut self.guests[index];
        let from = guest.from;
        let Member { nodes, time: last, name, .. } = &mut guest.members[member];
        let Frame { endpoint, time, body, .. } = frame;
        let refused = |code: Code, what: String| Err(Loss::new(code, format!("its data connection `{name}` {what}")));
        if time < from.max(*last) || time > latest {
            let what = format!("sends {} at {time} ps, outside {} to {latest} ps", body.a_name(), from.max(*last));
            return refused(Code::Order, format!("{what}; correct its clock"));
        }
        *last = time;
        match body {
            Body::Inject(inject) => {
                let Some(&node) = nodes.get(usize::from(endpoint)) else {
                    return refused(Code::Message, format!("has no endpoint {endpoint}; correct the guest"));
                };
                guest.injects += 1;
                guest.hold.progress();
                let taken = self.hub.inject(node, time, inject, window);
                taken.map_err(|what| Loss::new(Code::Message, format!("{what}; correct the guest")))
            }
            Body::Mark { label } => {
                if let Some(gate) = &mut self.gate {
                    gate.mark(index, &label, entry);
                }
                guest.add_mark(Mark { time, label })
            }
            Body::Error { text, .. } => refused(Code::Run, format!("has given up: {text}")),
            other => refused(Code::Order, format!("sends {}, which only its central does", other.a_name())),
        }
    }
}
