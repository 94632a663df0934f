//! What arrives at hosts: data, headers of trimmed frames, and control frames.

use super::super::frame::Trimmed;
use super::balancer::Fate;
use super::pacer::Pull;
use super::receiver::Arrival;
use super::{Ends, Outcome, PULL_ENTROPIES, Piece, Said, Spray, Words};
use crate::transport::Answered;

impl Spray {
    /// Data of a connection, or the header of a frame whose data were cut off, have come to its destination.
    pub(crate) fn data(
        &mut self,
        handle: u32,
        piece: &Piece,
        entropy: u16,
        marks: (bool, Trimmed),
        now: u64,
    ) -> Outcome {
        if self.is_ndp {
            return self.data_of_ndp(handle, piece, marks.1, now);
        }
        let (is_marked, trimmed) = marks;
        let flow = &mut self.flows[handle];
        let destination = flow.destination;
        let of = &self.kinds[self.hosts[flow.source as usize].kind];
        if let Ends::Own(own) = &mut flow.ends {
            let (is_new, said) = own.arrived(piece.number, is_marked, trimmed, now);
            if let Some(said) = said {
                self.say(handle, destination, Words { said, entropy }, now);
            }
            return Outcome { is_new, is_over: false };
        }
        let Ends::Uec { sender, receiver } = &mut flow.ends else { return Outcome::default() };
        let Piece { number, asks, is_again, target, .. } = *piece;
        let bytes = sender.size(piece.index, of) as u32;
        let arrival = Arrival { number, bytes, is_marked, is_again, asks };
        let (is_new, said) = match trimmed {
            Trimmed::No => receiver.receive(&arrival, self.ack_every),
            _ => (false, receiver.trimmed(&arrival)),
        };
        let said = match (said, trimmed) {
            (Some(said), _) => Some(Said::Acknowledged(said)),
            (None, Trimmed::No) => None,
            (None, _) => Some(Said::Trimmed { number, is_marked, is_last_hop: trimmed == Trimmed::LastHop }),
        };
        if let Some(said) = said {
            self.say(handle, destination, Words { said, entropy }, now);
        }
        if self.has_credits {
            self.request(handle, target, trimmed != Trimmed::No, now);
        }
        Outcome { is_new, is_over: false }
    }

    /// A connection requests credit from the pacer of its destination.
    pub(super) fn request(&mut self, handle: u32, target: u64, must: bool, now: u64) {
        let flow = &mut self.flows[handle];
        let destination = flow.destination;
        self.hosts[destination as usize].pacer.request(handle, &mut flow.credit, target, must);
        if self.hosts[destination as usize].pacer.next_at.is_none() {
            self.serve(destination, now);
        }
    }

    /// The pacer of a host grants credit, or waits for a request if no connection is listed.
    pub(super) fn serve(&mut self, number: u32, now: u64) {
        let host = &mut self.hosts[number as usize];
        host.pacer.next_at = None;
        let Some(handle) = host.pacer.next() else { return };
        let flow = &mut self.flows[handle];
        let most = self.kinds[host.kind].most;
        let Some(Pull { given, .. }) = host.pacer.serve(&mut flow.credit, now, host.gap, most) else { return };
        let next_at = host.pacer.next_at;
        flow.pull_entropy = (flow.pull_entropy + 1) % PULL_ENTROPIES;
        let words = Words { said: Said::Pull { given }, entropy: flow.pull_entropy };
        self.say(handle, number, words, now);
        if let Some(at) = next_at {
            self.wake_at(number, at);
        }
    }

    pub(super) fn data_of_ndp(&mut self, handle: u32, piece: &Piece, trimmed: Trimmed, now: u64) -> Outcome {
        let flow = &mut self.flows[handle];
        let (destination, key) = (flow.destination, flow.key(handle));
        let Ends::Ndp { sender, receiver, back } = &mut flow.ends else { return Outcome::default() };
        let is_trimmed = trimmed != Trimmed::No;
        let is_new = !is_trimmed && receiver.receive(piece.number);
        receiver.pulls += 1;
        let (expected, pull) = (receiver.expected, receiver.pulls);
        let entropy = back.next(u64::MAX);
        let is_whole = expected >= sender.frames;
        let host = &mut self.hosts[destination as usize];
        if is_whole {
            flow.underway -= host.pulls.forget(key);
        }
        let carries = host.pulls.carries(now, host.gap);
        // A complete message needs no more pulls.
        if !carries && !is_whole {
            host.pulls.wait(key, pull, now, host.gap);
            flow.underway += 1;
        }
        let next_at = host.pulls.next_at;
        let trimmed = is_trimmed.then_some(piece.number);
        let said = Said::Answer { expected, trimmed, pull: carries.then_some(pull) };
        self.say(handle, destination, Words { said, entropy }, now);
        if let Some(at) = next_at {
            self.wake_at(destination, at);
        }
        Outcome { is_new, is_over: false }
    }

    /// A control frame has arrived at the other end of a connection.
    pub(crate) fn hear(&mut self, handle: u32, words: u32, now: u64) -> Outcome {
        let Words { said, entropy } = self.words[words];
        let trims = self.trims;
        let flow = &mut self.flows[handle];
        let kind = self.hosts[flow.source as usize].kind;
        let of = &self.kinds[kind];
        let mut is_over = false;
        flow.heard = now;
        match (&mut flow.ends, said) {
            (Ends::Uec { sender, .. }, Said::Acknowledged(said)) => {
                let fate = if said.is_marked { Fate::Marked } else { Fate::Clear };
                let balancer = &mut flow.balancer;
                is_over = sender.acknowledged(&said, now, of, || balancer.learn(entropy, fate, now, trims));
                flow.is_over |= is_over;
                if !is_over {
                    self.ask(handle, now);
                }
            }
            (Ends::Uec { sender, .. }, Said::Trimmed { number, is_marked, is_last_hop }) => {
                if sender.trimmed(number, is_last_hop, now, of) {
                    self.ask(handle, now);
                    let trimmed = if is_last_hop { Trimmed::LastHop } else { Trimmed::Midway };
                    self.flows[handle].balancer.learn(entropy, Fate::of(trimmed, is_marked), now, trims);
                }
                self.ask(handle, now);
            }
            (Ends::Uec { sender, .. }, Said::Pull { given }) => {
                sender.pulled(given, of);
                self.ask(handle, now);
            }
            (Ends::Uec { receiver, .. }, Said::Request { number }) => {
                let said = Said::Acknowledged(receiver.requested(number));
                let destination = flow.destination;
                self.say(handle, destination, Words { said, entropy }, now);
                if self.has_credits {
                    self.request(handle, 0, true, now);
                }
            }
            (Ends::Ndp { sender, .. }, Said::Answer { expected, trimmed, pull }) => {
                is_over = sender.acknowledged(expected);
                flow.is_over |= is_over;
                if let Some(number) = trimmed.filter(|_| !sender.is_over) {
                    sender.trimmed(number);
                    flow.balancer.skip();
                }
                if let Some(pull) = pull {
                    sender.pulled(pull);
                }
                self.send_due(handle);
            }
            (Ends::Own(own), Said::Own { answer, is_marked, trimmed }) => {
                flow.balancer.learn(entropy, Fate::of(trimmed, is_marked), now, trims);
                is_over = own.answered(&Answered { now, answer, is_marked });
                flow.is_over |= is_over;
                if !is_over {
                    self.ask(handle, now);
                    self.arm(handle);
                }
            }
            (Ends::Ndp { sender, .. }, Said::Pull { given }) => {
                sender.pulled(given);
                self.send_due(handle);
            }
            _ => {}
        }
        if !is_over {
            self.watch(handle, now);
        }
        Outcome { is_new: false, is_over }
    }
}
