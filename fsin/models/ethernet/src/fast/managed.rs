//! Ports with classes, marks, shared buffers and PFC in the fast engine: a port is asked again when it is free.

use fsin_core::network::Notices;

use super::counting::note;
use super::event::Event;
use super::side::HostSide;
use super::state::{Carried, Counted, OnLink};
use super::{FREE, Fast, TIMER};
use crate::cc::Stamp;
use crate::rules::frame::{Control, Frame, NONE};
use crate::rules::managed::{self, Managed, Ports, Timer};
use crate::rules::tally;
use crate::rules::wiring::Wiring;

/// In the order of a timer: it is one of a port and a class. Then follow these, and its kind.
pub(super) const OF_PORT: u64 = 1 << 61;
/// In the order of a port that becomes free: the last bit of a frame leaves it, and the gap begins.
pub(super) const SENT: u64 = 1 << 61;
/// \[bits\] Width of the class and of the kind of a timer.
const CLASS_BITS: u32 = 4;

impl<H: HostSide> Ports for Fast<H> {
    type Entry = u32;

    #[inline(always)]
    fn managed(&mut self) -> &mut Managed<u32> {
        self.managed.as_mut().expect("ports are managed wherever this is called")
    }

    #[inline(always)]
    fn wiring(&self) -> &Wiring {
        &self.base.wiring
    }

    #[inline(always)]
    fn now(&self) -> u64 {
        self.base.now
    }

    #[inline(always)]
    fn frame(&self, slot: u32) -> Frame {
        self.frames[slot].frame
    }

    #[inline(always)]
    fn key(&self, slot: u32) -> u64 {
        self.frames[slot].key
    }

    fn mark(&mut self, slot: &mut u32) {
        self.frames[*slot].frame.is_marked = true;
    }

    fn trim(&mut self, slot: &mut u32, bytes: u16, is_last_hop: bool) {
        self.frames[*slot].frame.trim(bytes, is_last_hop);
    }

    fn stamp(&mut self, slot: u32, stamp: Stamp) {
        self.base.hosts.stamp(self.frames[slot].frame.unit, stamp);
    }

    #[inline(always)]
    fn is_dead(&self, port: usize) -> bool {
        self.base.alive.is_dead(port)
    }

    #[inline(always)]
    fn is_free(&self, port: usize) -> bool {
        let state = &self.ports[port];
        !state.is_scheduled && state.free_at <= self.base.now
    }

    #[inline]
    fn wait(&mut self, port: usize) {
        let state = &self.ports[port];
        if state.is_scheduled {
            return;
        }
        let owner = self.base.wiring.links[port].owner;
        let of_host = state.is_host && (self.base.hosts.is_ending(owner) || self.base.hosts.has_next(owner));
        if of_host || self.managed().queues[port].has_next() {
            self.schedule(port);
        }
    }

    #[inline]
    fn transmit(&mut self, port: usize, slot: u32) {
        let bytes = self.frames[slot].frame.bytes;
        self.managed().sent[port] += u64::from(bytes);
        let now = self.base.now;
        Fast::transmit(self, port, slot, now);
    }

    fn transmit_pause(&mut self, port: usize, class: u8, is_off: bool) {
        let frame = Frame::pause_of(&self.base.params.frames, class, is_off);
        let slot = self.frames.store(Carried { frame, held: NONE, changes: 0, key: 0 });
        Ports::transmit(self, port, slot);
    }

    #[inline]
    fn send_of_host(&mut self, port: usize) {
        if self.ports[port].is_host {
            let paused = self.managed().queues[port].paused as u8;
            H::send_next(self, port, paused);
        }
    }

    fn set_timer(&mut self, at: u64, port: usize, class: u8, timer: Timer, epoch: u32) {
        let what = u64::from(class) << CLASS_BITS | timer as u64;
        self.calendar.add(Event {
            at,
            order: TIMER | OF_PORT | (port as u64) << (2 * CLASS_BITS) | what,
            handle: epoch,
        });
        if timer.may_free() {
            self.moving += 1;
            if let Some(border) = &mut self.border {
                border.latest = border.latest.max(at);
            }
        }
    }

    /// Without gaps no event is needed: the event that frees the port marks the frame ([`Fast::mark_last`]).
    fn mark_when_sent(&mut self, port: usize, slot: u32) {
        if self.marks_at_free {
            return;
        }
        let at = self.base.now.saturating_add(self.base.wiring.links[port].time(self.frames[slot].frame.bytes));
        self.calendar.add(Event { at, order: FREE | SENT | port as u64, handle: slot });
    }

    fn hold(&mut self, slot: &mut u32, input: usize, copies: u32) {
        self.frames[*slot].held = self.hold_for(input, copies);
    }

    #[inline]
    fn let_go(&mut self, slot: u32) -> Option<usize> {
        self.let_go_of(self.frames[slot].held)
    }

    fn drop_copy(&mut self, slot: u32, notices: &mut Notices) {
        self.base.hosts.drop_copy(self.frames[slot].frame.unit, self.base.now, notices);
        self.frames.release(slot);
    }

    fn lose_on_dead_link(&mut self, slot: u32, notices: &mut Notices) {
        Fast::lose_on_dead_link(self, slot, notices);
    }

    fn lost_at(&mut self, port: usize, slot: u32) {
        self.base.hosts.lost_at(self.frames[slot].frame.unit, port);
    }

    fn count_dropped(&mut self, port: usize, is_tied: bool) {
        note(&mut self.ports[port], &mut self.base, port, Counted::Dropped { is_tied });
    }

    fn count_trimmed(&mut self, port: usize) {
        note(&mut self.ports[port], &mut self.base, port, Counted::Trimmed);
    }

    #[inline]
    fn count_joins(&mut self, port: usize, length: u32) {
        note(&mut self.ports[port], &mut self.base, port, Counted::Joins { length });
    }

    #[inline]
    fn count_leaves(&mut self, port: usize, length: u32) {
        note(&mut self.ports[port], &mut self.base, port, Counted::Leaves { length });
    }

    fn count_pause(&mut self, port: usize) {
        note(&mut self.ports[port], &mut self.base, port, Counted::Pauses);
    }

    #[inline]
    fn tally(&mut self, port: usize, event: tally::Event) {
        note(&mut self.ports[port], &mut self.base, port, Counted::OfClass(event));
    }

    #[inline(always)]
    fn is_tied(&self, port: usize) -> bool {
        self.ports[port].entered == self.base.now
    }

    #[inline(always)]
    fn enters(&mut self, port: usize) {
        self.ports[port].entered = self.base.now;
    }
}

impl<H: HostSide> Fast<H> {
    /// Lets a frame that has come to a switch leave through some ports.
    pub(super) fn pass_on_managed(&mut self, input: usize, mut slot: u32, outputs: &[u32], notices: &mut Notices) {
        let unit = self.frames[slot].frame.unit;
        let Some((&last, others)) = outputs.split_last() else {
            self.frames.release(slot);
            return self.base.hosts.filter(unit, self.base.now, notices);
        };
        if !managed::arrive(self, input, &mut slot, outputs.len() as u32, notices) {
            return;
        }
        if !others.is_empty() {
            self.base.hosts.copy(unit, others.len() as u32);
        }
        for &output in others {
            let copy = self.frames.store(self.frames[slot]);
            self.enqueue_managed(input, output as usize, copy, notices);
        }
        self.enqueue_managed(input, last as usize, slot, notices);
    }

    /// Lets a frame that has come to a switch leave through one port.
    #[inline]
    pub(super) fn pass_through(&mut self, input: usize, mut slot: u32, output: usize, notices: &mut Notices) {
        if managed::arrive(self, input, &mut slot, 1, notices) {
            self.enqueue_managed(input, output, slot, notices);
        }
    }

    /// Lets a frame leave a switch with classes through an output, after the latency of the switch.
    #[inline]
    fn enqueue_managed(&mut self, input: usize, output: usize, slot: u32, notices: &mut Notices) {
        if self.base.params.switch_latency == 0 {
            return managed::enqueue(self, output, slot, notices);
        }
        self.delay(self.base.wiring.links[input].peer as usize, output, slot, self.base.params.switch_latency);
    }

    /// Begins the next transmission of a host, whose frames wait in no queue of its port.
    pub(super) fn send_of_managed_host(&mut self, port: usize) {
        if self.base.alive.is_dead(port) {
            return;
        }
        if Ports::is_free(self, port) { self.send_of_host(port) } else { Ports::wait(self, port) }
    }

    /// Handles a pause frame for a class that has arrived.
    pub(super) fn pause_of_class(&mut self, port: usize, slot: u32) {
        let Frame { class, control, .. } = self.frames[slot].frame;
        self.frames.release(slot);
        let is_off = control == Control::Off;
        self.stops -= u64::from(is_off);
        managed::pause_arrived(self, port, class, is_off);
    }

    /// Handles a timer of a port and a class.
    pub(super) fn expire_of_port(&mut self, event: &Event, notices: &mut Notices) {
        let what = event.order & ((1 << CLASS_BITS) - 1);
        let class = (event.order >> CLASS_BITS) as u8 & ((1 << CLASS_BITS) - 1);
        let port = ((event.order & !(TIMER | OF_PORT)) >> (2 * CLASS_BITS)) as usize;
        let Some(timer) = Timer::ALL.get(what as usize).copied() else { return };
        self.moving -= u64::from(timer.may_free());
        managed::expire(self, port, class, timer, event.handle, notices);
    }

    /// A port has become free: marks the frame that it has sent, if the queue is long.
    pub(super) fn mark_last(&mut self, port: usize) {
        let state = &self.ports[port];
        if let Some(&OnLink { mut slot, .. }) =
            state.line.back().filter(|_| !state.is_host && state.free_at == self.base.now)
            && self.frames[slot].frame.takes_marks
        {
            managed::mark_sent(self, port, &mut slot);
        }
    }

    /// The last bit of a frame has left a port.
    pub(super) fn sent(&mut self, port: usize, mut slot: u32) {
        // It is lost if the link has died.
        if self.ports[port].line.iter().any(|one| one.slot == slot) {
            managed::mark_sent(self, port, &mut slot);
        }
    }
}
