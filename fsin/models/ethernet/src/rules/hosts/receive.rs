//! Hosts receive: frames that come, and messages that are complete.

use fsin_core::messages::Underway;
use fsin_core::network::Notices;
use fsin_core::stats::Receipt;
use trgen::Cycle;

use super::{Hosts, Load, Origin, Waiting};
use crate::cc::Stamp;
use crate::rules::frame::{Frame, NONE};
use crate::rules::roce::Reply;

impl Hosts {
    /// Handles a copy that has come to a host.
    pub(crate) fn arrive(&mut self, host: u32, frame: &Frame, now: u64, notices: &mut Notices) {
        if frame.destination != host {
            return self.filter(frame.unit, now, notices);
        }
        self.totals.frames_received += 1;
        self.totals.bytes_received += u64::from(frame.bytes);
        let unit = &mut self.units[frame.unit];
        let is_first = !std::mem::replace(&mut unit.is_received, true);
        let load = unit.load;
        match load {
            Load::Data { message, index, .. } if is_first && self.flows.is_some() => {
                self.frame_of_flow(message, index, frame, now, notices);
            }
            Load::Reply { flow, stamps, expected, is_negative, is_marked } if is_first => {
                self.answered(flow, stamps, &Reply { expected, is_negative, is_marked }, now);
            }
            Load::Piece { flow, index, number, more } if is_first => {
                self.piece(flow, [index, number], more, frame, now, notices);
            }
            Load::Words { flow, words } if is_first => {
                let Some(spray) = &mut self.spray else { return };
                if spray.hear(flow, words, now).is_over && self.params.is_acked {
                    self.messages.acknowledge(spray.get(flow).message, Cycle(now));
                }
                self.take_of_spray();
            }
            Load::Data { message, index, number } if is_first => {
                let connection = self.messages.get(message).more.connection;
                if connection == NONE {
                    if self.receive(message, index, frame, now) {
                        self.deliver(message, now, notices);
                    }
                } else {
                    self.segment(message, index, number, frame, now, notices);
                }
            }
            Load::Acknowledgement { connection, number, is_marked } if is_first => {
                self.on_connection(connection, now, |connection, params, counters, out, done| {
                    connection.acknowledge(params, (number, is_marked), now, counters, done, out);
                });
            }
            _ => self.totals.duplicates += 1,
        }
        self.end_copy(frame.unit, now, notices);
    }

    /// Handles a frame that has come to the receiver of a message's own connection.
    fn frame_of_flow(&mut self, slot: u32, index: u64, frame: &Frame, now: u64, notices: &mut Notices) {
        let flow = self.messages.get(slot).more.connection;
        let Some(flows) = &mut self.flows else { return };
        let (is_new, reply) = flows.receive(flow, index, frame.is_marked, now);
        let receiver = flows.get(flow).destination;
        if let Some(Reply { expected, is_negative, is_marked }) = reply {
            let stamps = if self.takes_stamps {
                self.returned.store(std::mem::take(&mut self.stamps[frame.unit as usize]))
            } else {
                NONE
            };
            let load = Load::Reply { flow, stamps, expected, is_negative, is_marked };
            self.hosts[receiver as usize].frames.push_back(Waiting { load, is_again: false, losses: 0 });
            self.ready.push(receiver);
        }
        if !is_new {
            self.totals.duplicates += 1;
        } else if self.receive(slot, index, frame, now) {
            self.deliver(slot, now, notices);
        }
    }

    /// Handles an answer that has come to the sender of a message's own connection.
    fn answered(&mut self, flow: u32, stamps: u32, reply: &Reply, now: u64) {
        let Some(flows) = &mut self.flows else { return };
        let (message, source) = (flows.get(flow).message, flows.get(flow).source);
        let returned = if stamps == NONE { &[][..] } else { &self.returned[stamps][..] };
        let is_over = flows.answered(flow, reply, returned, now);
        self.ready.push(source);
        if is_over {
            if self.params.is_acked {
                self.messages.acknowledge(message, Cycle(now));
            }
            self.messages.let_go(message);
        }
    }

    /// A switch adds a stamp to a frame.
    #[inline]
    pub(crate) fn stamp(&mut self, unit: u32, stamp: Stamp) {
        if let Some(stamps) = self.stamps.get_mut(unit as usize) {
            stamps.push(stamp);
        }
    }

    /// Records the first arrival of a frame of a message. Returns true if all frames of the message have arrived.
    pub(super) fn receive(&mut self, slot: u32, index: u64, frame: &Frame, now: u64) -> bool {
        (self.dropped_in_vain, self.last_received) = (0, now);
        let Underway { message, offered, more: Origin { sequence, .. }, .. } = *self.messages.get(slot);
        self.fates[message.source.index()][0] += 1;
        self.totals.payload_received += u64::from(self.payload().bytes_of(message.bytes, index));
        let receipt = Receipt {
            source: message.source,
            destination: message.destination,
            sequence: sequence + index,
            latency: now - offered.0,
            hops: u64::from(frame.hops).saturating_sub(self.hidden_hops),
        };
        self.messages.receive(slot, Cycle(now), &receipt, self.payload().short_of(message.bytes, index))
    }

    /// Reports the delivery of a message whose frames have all arrived.
    pub(super) fn deliver(&mut self, slot: u32, now: u64, notices: &mut Notices) {
        self.message_latency.record(now - self.messages.get(slot).offered.0);
        self.messages.deliver(slot, Cycle(now), notices);
        if self.params.is_acked {
            self.messages.await_acknowledgement();
        }
    }
}
