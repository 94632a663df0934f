//! Hosts send: what they have to send, and the next frame.

use fsin_core::messages::{Payload, Underway};
use fsin_core::network::Notices;
use trgen::rng::mix2;

use super::{Hosts, Load, Unit, Waiting};
use crate::params::Transport;
use crate::rules::flows::Next;
use crate::rules::frame::{CONTROL, Control, Frame, NONE, Trimmed};

impl Hosts {
    /// True if a host has a frame to send, now or at a known time.
    #[inline]
    pub(crate) fn has_next(&self, host: u32) -> bool {
        let state = &self.hosts[host as usize];
        !state.frames.is_empty()
            || !state.queue.is_empty()
            || self.flows.as_ref().is_some_and(|flows| flows.has_next(host))
            || self.spray.as_ref().is_some_and(|spray| spray.has_next(host))
    }

    /// True if a host has a frame to send that need not wait for a class in `paused`, a bit for each; or cannot tell.
    pub(crate) fn can_send(&self, host: u32, paused: u8) -> bool {
        if paused == 0 || !self.has_next(host) {
            return self.has_next(host);
        }
        let state = &self.hosts[host as usize];
        state.frames.iter().any(|waiting| !Self::must_wait(self.class_of(waiting.load), paused))
            || state.queue.may_send(|slot| !Self::must_wait(self.messages.get(slot).message.class, paused))
            || self.flows.as_ref().is_some_and(|flows| flows.can_send(host, paused))
    }

    /// True if a host has the last frame of a message in transmission.
    #[inline]
    pub(crate) fn is_ending(&self, host: u32) -> bool {
        self.hosts[host as usize].ending.is_some()
    }

    /// \[frames\] Frames that wait at a host.
    pub(crate) fn waiting(&self, host: u32) -> u64 {
        let of_flows = self.flows.as_ref().map_or(0, |flows| flows.waiting(host));
        let of_flows = of_flows + self.spray.as_ref().map_or(0, |spray| spray.waiting(host));
        let host = &self.hosts[host as usize];
        (host.frames.len() + host.delayed.len()) as u64 + host.queue.waiting(&self.messages) + of_flows
    }

    /// The class of a frame with this load.
    #[inline]
    fn class_of(&self, load: Load) -> u8 {
        match load {
            Load::Data { message, .. } => self.messages.get(message).message.class,
            Load::Acknowledgement { .. } | Load::Reply { .. } if self.acks_in_control => CONTROL,
            Load::Acknowledgement { connection, .. } => self.connections[connection as usize].class,
            Load::Reply { flow, .. } => self.flows.as_ref().map_or(CONTROL, |flows| flows.get(flow).class),
            Load::Piece { flow, .. } => self.spray.as_ref().map_or(0, |spray| spray.get(flow).class),
            Load::Words { .. } => CONTROL,
        }
    }

    /// True if a frame of a class must wait, where the classes in `paused` must, a bit for each.
    #[inline]
    const fn must_wait(class: u8, paused: u8) -> bool {
        class < CONTROL && paused >> class & 1 == 1
    }

    /// Takes the next frame that waits at a host and is not paused: retransmissions, segments and acknowledgements.
    #[inline]
    fn next_waiting(&mut self, number: u32, paused: u8) -> Option<Waiting> {
        if paused == 0 {
            return self.hosts[number as usize].frames.pop_front();
        }
        let frames = &self.hosts[number as usize].frames;
        let at = frames.iter().position(|waiting| !Self::must_wait(self.class_of(waiting.load), paused))?;
        self.hosts[number as usize].frames.remove(at)
    }

    /// Takes the next frame of the messages of a host that is not paused. Asks to be woken where one is due later.
    fn next_of_messages(&mut self, number: u32, now: u64, paused: u8) -> Option<Waiting> {
        if let Some(flows) = &mut self.flows {
            return match flows.next(number, now, paused) {
                Next::Frame { flow, number, is_again } => {
                    let message = flows.get(flow).message;
                    self.messages.hold(message, 1);
                    Some(Waiting { load: Load::Data { message, index: number, number }, is_again, losses: 0 })
                }
                Next::Wake(at) => {
                    self.wakes.push((number, at));
                    None
                }
                Next::Nothing => None,
            };
        }
        let messages = &self.messages;
        let may = |slot: u32| paused == 0 || !Self::must_wait(messages.get(slot).message.class, paused);
        let (message, index) = self.hosts[number as usize].queue.pop(messages, may)?;
        self.messages.hold(message, 1);
        Some(Waiting { load: Load::Data { message, index, number: index }, is_again: false, losses: 0 })
    }

    /// The next frame that a host sends, at time `now`, and the key of its draws; `None` if there is none. Classes in
    /// `paused`, a bit for each, must wait.
    pub(crate) fn next(&mut self, number: u32, now: u64, paused: u8) -> Option<(Frame, u64)> {
        if self.spray.is_some() {
            return self.next_of_spray(number, now);
        }
        let Waiting { load, is_again, losses } =
            self.next_waiting(number, paused).or_else(|| self.next_of_messages(number, now, paused))?;
        let class = self.class_of(load);
        let host = &mut self.hosts[number as usize];
        let key = mix2(u64::from(number), host.serial);
        host.serial += 1;
        self.totals.frames_sent += 1;
        let mut entropy = 0;
        let (destination, bytes) = match load {
            Load::Data { message, index, .. } => {
                let Underway { message: whole, offered, packets: frames, .. } = *self.messages.get(message);
                let payload = Payload(self.params.payload());
                if is_again {
                    self.totals.sent_again += 1;
                } else {
                    let recorder = &mut self.messages.recorder;
                    recorder.injected(1);
                    recorder.departed(now - offered.0);
                    recorder.short().injected += payload.short_of(whole.bytes, index);
                    if index + 1 == frames {
                        host.ending = Some(message);
                    }
                }
                let header = if self.params.transport == Transport::Window { self.params.segment_header } else { 0 };
                (whole.destination.0, self.params.frames.of(payload.bytes_of(whole.bytes, index) + header))
            }
            Load::Acknowledgement { connection, .. } => {
                self.totals.acknowledgements += 1;
                (self.connections[connection as usize].source, self.params.frames.of_ack(self.params.ack_bytes))
            }
            // Of `next_of_spray`.
            Load::Piece { .. } | Load::Words { .. } => return None,
            Load::Reply { flow, .. } => {
                self.totals.acknowledgements += 1;
                let source = match &self.flows {
                    Some(flows) => {
                        entropy = flows.get(flow).entropy;
                        flows.get(flow).source
                    }
                    None => NONE,
                };
                (source, self.params.frames.of_ack(self.params.ack_bytes))
            }
        };
        let mut takes_stamps = false;
        if let Some(flows) = &mut self.flows
            && let Load::Data { message, .. } = load
        {
            let flow = self.messages.get(message).more.connection;
            self.wakes.extend(flows.sent(flow, bytes, now).map(|at| (number, at)));
            entropy = flows.get(flow).entropy;
            takes_stamps = self.takes_stamps;
        }
        let changes = self.changes;
        let unit = self.units.store(Unit { load, key, copies: 1, is_received: false, losses, changes });
        if takes_stamps {
            let at = unit as usize;
            if self.stamps.len() <= at {
                self.stamps.resize_with(at + 1, Vec::new);
            }
            self.stamps[at] = self.spare.pop().unwrap_or_default();
        }
        let bytes = bytes as u16;
        self.totals.bytes_sent += u64::from(bytes);
        let (damaged_by, hops, control, is_marked) = (NONE, 0, Control::No, false);
        let source = number;
        let frame = Frame {
            unit,
            source,
            destination,
            damaged_by,
            bytes,
            hops,
            entropy,
            class,
            is_marked,
            takes_marks: matches!(load, Load::Data { .. }),
            takes_stamps,
            trimmed: Trimmed::No,
            control,
        };
        Some((frame, key))
    }

    /// Records that a host has ended a transmission and its port is free.
    pub(crate) fn transmitted(&mut self, host: u32, notices: &mut Notices) {
        if let Some(slot) = self.hosts[host as usize].ending.take() {
            self.messages.sent(slot, notices);
        }
    }
}
