//! What a simulation of switches needs of hosts: the hosts themselves, or what it has to tell them.

use std::fmt::Debug;

use fsin_core::network::{NetworkFailure, Notices};

use super::event::Event;
use super::state::{Carried, Counted};
use super::{Fast, HOST, HOST_BITS, TIMER};
use crate::capture::Direction;
use crate::cc::Stamp;
use crate::engine::Base;
use crate::rules::frame::{Frame, NONE};
use crate::rules::hosts::Hosts;

/// The hosts, as ports and links deal with them.
pub(super) trait HostSide: Debug + Send + Sized {
    /// True if there are no hosts here, and the clock of those elsewhere is behind: what ports count is kept in order
    /// of time until that clock has passed it.
    const IS_APART: bool;

    /// Number of changes of links up to now.
    fn changes(&self) -> u32;

    /// A frame has been copied, to leave through `copies` more ports.
    fn copy(&mut self, unit: u32, copies: u32);

    /// A copy goes no further.
    fn filter(&mut self, unit: u32, now: u64, notices: &mut Notices);

    /// A copy was damaged.
    fn lose(&mut self, unit: u32, now: u64, notices: &mut Notices);

    /// A copy is lost because a link is dead.
    fn lose_on_dead_link(&mut self, unit: u32, now: u64, notices: &mut Notices);

    /// A frame is lost at a port for good. Hosts on threads of their own have no transport that uses it.
    fn lost_at(&mut self, _unit: u32, _port: usize) {}

    /// A copy found a queue full.
    fn drop_copy(&mut self, unit: u32, now: u64, notices: &mut Notices);

    /// A frame has crossed a link of the topology.
    fn hop(&mut self);

    /// The network cannot go on.
    fn fail(base: &mut Base<Self>, failure: NetworkFailure);

    /// Keeps what is counted at a port, where hosts are [apart](Self::IS_APART).
    fn keep(&mut self, port: usize, what: Counted);

    /// What was kept is counted: at time `at` a frame joins a queue, which it leaves at time `begin`.
    fn joins(&mut self, port: usize, at: u64, begin: u64);

    /// What was kept is counted: the length of a queue, with flow control.
    fn holds(&mut self, port: usize, length: usize);

    /// The queue of a port has been emptied.
    fn emptied(&mut self, port: usize);

    /// Shows a frame to the observer of frames.
    fn show(base: &mut Base<Self>, port: usize, frame: &Frame, direction: Direction, at: u64);

    /// A copy has come to a host.
    fn arrive(&mut self, host: u32, frame: &Frame, now: u64, notices: &mut Notices);

    /// True if a host has a frame to send.
    fn has_next(&self, host: u32) -> bool;

    /// A host has ended a transmission and its port is free.
    fn transmitted(&mut self, host: u32, notices: &mut Notices);

    /// A host has the last frame of a message in transmission.
    fn is_ending(&self, host: u32) -> bool;

    /// A switch adds a stamp to a frame.
    fn stamp(&mut self, unit: u32, stamp: Stamp);

    /// Begins to send the next frame of a host, whose port is free, if it has one of a class that is not `paused`, a
    /// bit for each.
    fn send_next(fast: &mut Fast<Self>, port: usize, paused: u8);

    /// Handles a timer.
    fn expire(fast: &mut Fast<Self>, event: &Event);

    /// Lets hosts send that may have become able to, and sets the timers of connections.
    fn serve(fast: &mut Fast<Self>);
}

impl HostSide for Hosts {
    const IS_APART: bool = false;

    #[inline(always)]
    fn changes(&self) -> u32 {
        self.changes
    }

    #[inline(always)]
    fn copy(&mut self, unit: u32, copies: u32) {
        Self::copy(self, unit, copies);
    }

    #[inline(always)]
    fn filter(&mut self, unit: u32, now: u64, notices: &mut Notices) {
        Self::filter(self, unit, now, notices);
    }

    #[inline(always)]
    fn lose(&mut self, unit: u32, now: u64, notices: &mut Notices) {
        Self::lose(self, unit, now, notices);
    }

    #[inline(always)]
    fn lose_on_dead_link(&mut self, unit: u32, now: u64, notices: &mut Notices) {
        Self::lose_on_dead_link(self, unit, now, notices);
    }

    #[inline(always)]
    fn drop_copy(&mut self, unit: u32, now: u64, notices: &mut Notices) {
        Self::drop_copy(self, unit, now, notices);
    }

    #[inline(always)]
    fn hop(&mut self) {
        self.messages.recorder.hops(1);
    }

    fn fail(base: &mut Base, failure: NetworkFailure) {
        base.failure.get_or_insert(failure);
    }

    fn keep(&mut self, _port: usize, _what: Counted) {}

    #[inline(always)]
    fn joins(&mut self, _port: usize, _at: u64, _begin: u64) {}

    #[inline(always)]
    fn holds(&mut self, _port: usize, _length: usize) {}

    fn emptied(&mut self, _port: usize) {}

    #[inline(always)]
    fn show(base: &mut Base, port: usize, frame: &Frame, direction: Direction, at: u64) {
        base.taps.show(&base.wiring, &base.hosts, port, frame, direction, at);
    }

    #[inline(always)]
    fn arrive(&mut self, host: u32, frame: &Frame, now: u64, notices: &mut Notices) {
        Self::arrive(self, host, frame, now, notices);
    }

    #[inline(always)]
    fn has_next(&self, host: u32) -> bool {
        Self::has_next(self, host)
    }

    #[inline(always)]
    fn transmitted(&mut self, host: u32, notices: &mut Notices) {
        Self::transmitted(self, host, notices);
    }

    #[inline(always)]
    fn is_ending(&self, host: u32) -> bool {
        Self::is_ending(self, host)
    }

    fn lost_at(&mut self, unit: u32, port: usize) {
        Self::lost_at(self, unit, port);
    }

    fn stamp(&mut self, unit: u32, stamp: Stamp) {
        Self::stamp(self, unit, stamp);
    }

    #[inline(always)]
    fn send_next(fast: &mut Fast, port: usize, paused: u8) {
        let owner = fast.base.wiring.links[port].owner;
        if let Some((frame, key)) = fast.base.hosts.next(owner, fast.base.now, paused) {
            let slot = fast.frames.store(Carried { frame, held: NONE, changes: fast.base.hosts.changes, key });
            fast.transmit(port, slot, fast.base.now);
            if fast.base.hosts.is_ending(owner) || fast.base.hosts.has_next(owner) {
                fast.schedule(port);
            }
        }
    }

    /// The deadline of a connection may have moved, or there may be none any more.
    fn expire(fast: &mut Fast, event: &Event) {
        let (hosts, now) = (&mut fast.base.hosts, fast.base.now);
        let connection = event.handle;
        if connection == NONE {
            return hosts.wake((event.order & HOST) as u32, now);
        }
        if fast.timers[connection as usize] != now {
            return;
        }
        fast.timers[connection as usize] = u64::MAX;
        match hosts.timer(connection) {
            (_, _, Some(deadline)) if deadline <= now => hosts.time_out(connection, now),
            _ => hosts.timers.push(connection),
        }
    }

    #[inline(always)]
    fn serve(fast: &mut Fast) {
        let hosts = &fast.base.hosts;
        if !hosts.timers.is_empty() || !hosts.ready.is_empty() || !hosts.wakes.is_empty() {
            fast.serve_all();
        }
    }
}

impl Fast {
    /// Lets hosts send that may have become able to, and sets the timers of connections.
    pub(super) fn serve_all(&mut self) {
        while let Some(connection) = self.base.hosts.timers.pop() {
            let at = connection as usize;
            if self.timers.len() <= at {
                self.timers.resize(at + 1, u64::MAX);
            }
            let (source, destination, deadline) = self.base.hosts.timer(connection);
            if let Some(deadline) = deadline.filter(|&deadline| deadline < self.timers[at]) {
                self.timers[at] = deadline;
                let order = TIMER | u64::from(source) << HOST_BITS | u64::from(destination);
                self.calendar.add(Event { at: deadline, order, handle: connection });
            }
        }
        let mut ready = std::mem::take(&mut self.base.hosts.ready);
        for host in ready.drain(..) {
            let port = self.base.wiring.host_port(host);
            // Otherwise it will be asked when it is free.
            if !self.ports[port].is_scheduled {
                self.send(port);
            }
        }
        self.base.hosts.ready = ready;
        // A host that has nothing to send yet may ask for it.
        while let Some((host, at)) = self.base.hosts.wakes.pop() {
            let order = TIMER | u64::from(host) << HOST_BITS | u64::from(host);
            self.calendar.add(Event { at, order, handle: NONE });
        }
    }
}
