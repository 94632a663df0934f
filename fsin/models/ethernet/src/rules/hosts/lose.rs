//! Frames that are lost, and what their transport makes of it: oracle and backoff send them again.

use fsin_core::network::Notices;
use trgen::rng::mix2;

use super::{Hosts, Load, Unit, Waiting};
use crate::params::Transport;
use crate::rules::frame::NONE;

impl Hosts {
    /// Loses all frames that wait at a host, whose link has died, and those of its messages. With windows there are
    /// none: no host is cut off.
    pub(crate) fn lose_all(&mut self, number: u32, now: u64, notices: &mut Notices) {
        let host = &mut self.hosts[number as usize];
        let delayed = std::mem::take(&mut host.delayed);
        host.frames.extend(delayed.into_iter().map(|(_, waiting)| waiting));
        let ending = host.ending;
        while let Some((frame, _)) = self.next(number, now, 0) {
            // The one in transmission ends later.
            let host = &mut self.hosts[number as usize];
            let sent = host.ending.filter(|_| host.ending != ending);
            host.ending = ending;
            self.lose_on_dead_link(frame.unit, now, notices);
            if let Some(message) = sent {
                self.messages.sent(message, notices);
            }
        }
    }

    /// Handles a copy that is lost because a link is dead.
    pub(crate) fn lose_on_dead_link(&mut self, unit: u32, now: u64, notices: &mut Notices) {
        self.totals.lost_on_dead_links += 1;
        self.end_copy(unit, now, notices);
    }

    /// Handles a copy that goes no further, or has come to a host that it is not for.
    pub(crate) fn filter(&mut self, unit: u32, now: u64, notices: &mut Notices) {
        self.totals.copies_filtered += 1;
        self.end_copy(unit, now, notices);
    }

    /// Handles a lost copy.
    pub(crate) fn lose(&mut self, unit: u32, now: u64, notices: &mut Notices) {
        self.end_copy(unit, now, notices);
    }

    /// Handles a copy that found a queue full.
    pub(crate) fn drop_copy(&mut self, unit: u32, now: u64, notices: &mut Notices) {
        self.dropped_in_vain += 1;
        if let Load::Data { message, .. } = self.units[unit].load {
            self.fates[self.messages.get(message).message.source.index()][1] += 1;
        }
        self.end_copy(unit, now, notices);
    }

    /// Removes a copy. If no copy is left and none was received, the frame is lost.
    pub(super) fn end_copy(&mut self, unit: u32, now: u64, notices: &mut Notices) {
        let state = &mut self.units[unit];
        state.copies -= 1;
        self.last_ended = now;
        if state.copies > 0 {
            return;
        }
        let Unit { load, is_received, key, losses, .. } = *state;
        self.units.release(unit);
        if let (Some(flows), Load::Reply { flow, stamps, .. }) = (&mut self.flows, load) {
            flows.ended(flow);
            if stamps != NONE {
                let mut stamps_of_reply = std::mem::take(&mut self.returned[stamps]);
                stamps_of_reply.clear();
                self.spare.push(stamps_of_reply);
                self.returned.release(stamps);
            }
        }
        if let (Some(spray), Load::Piece { flow, .. } | Load::Words { flow, .. }) = (&mut self.spray, load) {
            if let Load::Words { words, .. } = load {
                spray.forget(words);
            }
            if let Some(message) = spray.ended(flow) {
                self.messages.let_go(message);
            }
            return;
        }
        let Load::Data { message, index, .. } = load else { return };
        if let Some(flows) = &mut self.flows {
            flows.ended(self.messages.get(message).more.connection);
        }
        let whole = self.messages.get(message).message;
        match self.params.transport {
            _ if is_received => {}
            Transport::Oracle | Transport::Backoff if self.has_route(whole.source, whole.destination) => {
                let waiting = Waiting { load, is_again: true, losses: losses + 1 };
                return self.send_again(whole.source.0, waiting, key, now);
            }
            // The sender finds out by acknowledgements.
            Transport::Window | Transport::Roce | Transport::Uec | Transport::Ndp | Transport::Own(_) => {}
            Transport::None | Transport::Oracle | Transport::Backoff => {
                let short = self.payload().short_of(whole.bytes, index);
                self.totals.messages_lost += u64::from(self.messages.lose(message, short, notices));
            }
        }
        self.messages.let_go(message);
    }

    /// Sends a frame again, behind what its host has ready. The oracle does so at once. With backoff, a frame that is
    /// lost again waits for a drawn time of up to 1, 2, 4, ... 1 024 times that of the longest frame on the link of the
    /// host.
    fn send_again(&mut self, host: u32, waiting: Waiting, key: u64, now: u64) {
        let sender = &mut self.hosts[host as usize];
        if self.params.transport == Transport::Oracle || waiting.losses == 1 {
            sender.frames.push_back(waiting);
            self.ready.push(host);
            return;
        }
        let longest = sender.slot << (waiting.losses - 2).min(10);
        let draw = u128::from(mix2(mix2(self.params.seed, key), waiting.losses.into()));
        let at = now.saturating_add(1 + ((draw * u128::from(longest)) >> 64) as u64);
        sender.delayed.push((at, waiting));
        self.wakes.push((host, at));
    }

    /// Makes the delayed frames of a host ready that are due at time `now`.
    pub(crate) fn wake(&mut self, host: u32, now: u64) {
        let sender = &mut self.hosts[host as usize];
        let due = sender.delayed.extract_if(.., |(at, _)| *at <= now).map(|(_, waiting)| waiting);
        sender.frames.extend(due);
        if let Some(flows) = &mut self.flows {
            let (expired, next) = flows.wake(host, now);
            self.counters.timeouts += expired;
            self.wakes.extend(next.map(|at| (host, at)));
        }
        if let Some(spray) = &mut self.spray {
            spray.wake(host, now);
            self.take_of_spray();
        }
        self.ready.push(host);
    }
}
