//! What switches tell hosts that are simulated elsewhere, and what they have counted ahead of the clock of hosts.

use std::collections::VecDeque;

use fsin_core::network::{NetworkFailure, Notices};

use super::super::Fast;
use super::super::counting::count;
use super::super::event::Event;
use super::super::side::HostSide;
use super::super::state::Counted;
use crate::capture::Direction;
use crate::cc::Stamp;
use crate::engine::Base;
use crate::rules::frame::Frame;

/// The time of an event \[ps\], and its order among the events of that time.
pub(super) type Moment = (u64, u64);

/// What has become of copies of frames.
#[derive(Clone, Debug)]
pub(super) enum Fate {
    /// A frame has been copied, to leave through so many more ports.
    Copied { unit: u32, copies: u32 },
    /// A copy goes no further.
    Filtered { unit: u32 },
    /// A copy was damaged.
    Lost { unit: u32 },
    /// A copy is lost because a link is dead.
    LostOnDeadLink { unit: u32 },
    /// A copy found a queue full.
    Dropped { unit: u32 },
    /// A switch has added a stamp to a frame.
    Stamped { unit: u32, stamp: Box<Stamp> },
    /// The network cannot go on.
    Failure(Box<NetworkFailure>),
}

/// In the place of hosts: what they have to be told, and what ports count that hosts have not reached yet.
#[derive(Default, Debug)]
pub(super) struct Apart {
    /// The event that is being processed.
    pub(super) moment: Moment,
    /// What hosts have to be told, in order.
    pub(super) fates: Vec<(Moment, Fate)>,
    /// True once the network cannot go on.
    pub(super) has_failed: bool,
    /// What is counted later, in order: with the port.
    kept: VecDeque<(Moment, u32, Counted)>,
    /// Frames that have crossed links of the topology, among what is counted, since this was last taken.
    pub(super) hops: u64,
    /// Number of changes of links up to now.
    pub(super) changes: u32,
    /// By port, without flow control: \[ps\] times at which the frames counted leave its queue.
    pub(super) begins: Vec<VecDeque<u64>>,
    /// By port, with flow control: \[frames\] length of its queue, as counted.
    pub(super) lengths: Vec<usize>,
}

impl Apart {
    /// Of a network with so many ports.
    pub(super) fn new(ports: usize) -> Self {
        Self { begins: vec![VecDeque::new(); ports], lengths: vec![0; ports], ..Self::default() }
    }

    fn tell(&mut self, fate: Fate) {
        self.fates.push((self.moment, fate));
    }
}

impl HostSide for Apart {
    const IS_APART: bool = true;

    fn changes(&self) -> u32 {
        self.changes
    }

    fn copy(&mut self, unit: u32, copies: u32) {
        self.tell(Fate::Copied { unit, copies });
    }

    fn filter(&mut self, unit: u32, _now: u64, _notices: &mut Notices) {
        self.tell(Fate::Filtered { unit });
    }

    fn lose(&mut self, unit: u32, _now: u64, _notices: &mut Notices) {
        self.tell(Fate::Lost { unit });
    }

    fn lose_on_dead_link(&mut self, unit: u32, _now: u64, _notices: &mut Notices) {
        self.tell(Fate::LostOnDeadLink { unit });
    }

    fn drop_copy(&mut self, unit: u32, _now: u64, _notices: &mut Notices) {
        self.tell(Fate::Dropped { unit });
    }

    fn hop(&mut self) {
        self.hops += 1;
    }

    fn fail(base: &mut Base<Self>, failure: NetworkFailure) {
        base.hosts.has_failed = true;
        base.hosts.tell(Fate::Failure(Box::new(failure)));
    }

    #[inline(always)]
    fn keep(&mut self, port: usize, what: Counted) {
        self.kept.push_back((self.moment, port as u32, what));
    }

    fn joins(&mut self, port: usize, at: u64, begin: u64) {
        let begins = &mut self.begins[port];
        while begins.front().is_some_and(|&begin| begin <= at) {
            begins.pop_front();
        }
        begins.push_back(begin);
    }

    fn holds(&mut self, port: usize, length: usize) {
        self.lengths[port] = length;
    }

    fn emptied(&mut self, port: usize) {
        self.begins[port].clear();
        self.lengths[port] = 0;
    }

    /// Captures are refused where switches are apart.
    fn show(_base: &mut Base<Self>, _port: usize, _frame: &Frame, _direction: Direction, _at: u64) {}

    fn arrive(&mut self, _host: u32, _frame: &Frame, _now: u64, _notices: &mut Notices) {}

    fn has_next(&self, _host: u32) -> bool {
        false
    }

    fn transmitted(&mut self, _host: u32, _notices: &mut Notices) {}

    fn is_ending(&self, _host: u32) -> bool {
        false
    }

    fn stamp(&mut self, unit: u32, stamp: Stamp) {
        self.tell(Fate::Stamped { unit, stamp: Box::new(stamp) });
    }

    fn send_next(_fast: &mut Fast<Self>, _port: usize, _paused: u8) {}

    fn expire(_fast: &mut Fast<Self>, _event: &Event) {}

    fn serve(_fast: &mut Fast<Self>) {}
}

impl Fast<Apart> {
    /// Counts what was kept of events up to a moment.
    pub(super) fn catch_up(&mut self, until: Moment) {
        let mut kept = std::mem::take(&mut self.base.hosts.kept);
        let passed = kept.partition_point(|(moment, ..)| *moment <= until);
        for (moment, port, what) in kept.drain(..passed) {
            let port = port as usize;
            count(&mut self.ports[port], &mut self.base, port, moment.0, what);
        }
        self.base.hosts.kept = kept;
    }
}
