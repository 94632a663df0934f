//! The state that exists once in a network, whatever its parts: messages in flight and statistics. Both follow from the
//! reports of endpoints.

use fsin_core::network::Notices;
use fsin_core::slab::Slab;
use fsin_core::stats::{Moments, Receipt, Recorder};
use trgen::{Cycle, Delivery, Message};

use super::details::Stages;
use super::interface::Unsent;
use crate::params::Params;

/// What endpoints have done in a cycle. [`Whole::read`] adds it to the state of the network.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// Messages whose last flit has been sent.
    pub(crate) sent: Vec<u32>,
    /// Packets whose tail has been received: message, length in flits, and receipt.
    pub(crate) received: Vec<(u32, u32, Receipt)>,
    /// \[cycles\] Times from the creation of packets to the beginning of their sending.
    pub(crate) waited: Moments,
    /// \[flits\] Total by which the received packets were shorter than the longest packet.
    pub(crate) short: u64,
    /// Number of links that heads have crossed.
    pub(crate) hops: u64,
    /// \[cycles\] Times of the received packets, by stage.
    pub(crate) stages: Stages,
}

/// A message of which some packets have not been received.
#[derive(Clone, Copy, Debug)]
struct Underway {
    message: Message,
    /// \[cycle\] Cycle in which the message was offered.
    offered: u64,
    /// \[packets\] Packets that have not been received.
    left: u64,
}

/// The messages in flight, and the statistics.
#[derive(Debug)]
pub(crate) struct Whole {
    params: Params,
    /// Messages in flight.
    messages: Slab<Underway>,
    pub(crate) recorder: Recorder,
    /// Times of all received packets, by stage.
    pub(crate) stages: Stages,
    /// \[packets\] Accepted packets that have not been received.
    pub(crate) in_flight: u64,
}

impl Whole {
    pub(crate) fn new(params: &Params, endpoints: usize) -> Self {
        Self {
            params: params.clone(),
            messages: Slab::new(),
            recorder: Recorder::new(endpoints),
            stages: Stages::default(),
            in_flight: 0,
        }
    }

    /// Accepts a message, which endpoint `endpoint` of a part will send.
    pub(crate) fn inject(&mut self, message: &Message, endpoint: u32, now: u64) -> Unsent {
        let flits = self.params.flits_of(message.bytes);
        let packets = self.params.packets_of(flits);
        let slot = self.messages.store(Underway { message: *message, offered: now, left: packets });
        self.in_flight += packets;
        self.recorder.generated(packets);
        self.recorder.short().generated += packets * u64::from(self.params.packet_flits) - flits;
        Unsent {
            endpoint,
            class: self.params.class_of(message),
            message: slot,
            destination: message.destination.0,
            offered: now,
            left: flits,
        }
    }

    /// Adds what endpoints have done in cycle `now`, and empties their report.
    pub(crate) fn read(&mut self, report: &mut Report, now: u64, notices: &mut Notices) {
        for message in report.sent.drain(..) {
            notices.sent.push(self.messages[message].message);
        }
        for (message, flits, receipt) in report.received.drain(..) {
            self.recorder.received(Cycle(now), &receipt);
            self.recorder.short().received += u64::from(self.params.packet_flits - flits);
            self.in_flight -= 1;
            let underway = &mut self.messages[message];
            underway.left -= 1;
            if underway.left == 0 {
                let Underway { message: whole, offered, .. } = *underway;
                notices.delivered.push(Delivery { message: whole, offered: Cycle(offered), delivered: Cycle(now) });
                self.messages.release(message);
            }
        }
        let waited = std::mem::take(&mut report.waited);
        if waited.count() > 0 {
            self.recorder.injected(waited.count());
            self.recorder.departed_after(&waited);
            self.recorder.short().injected += std::mem::take(&mut report.short);
        }
        self.recorder.hops(std::mem::take(&mut report.hops));
        self.stages.add(&std::mem::take(&mut report.stages));
    }
}

/// Sorts notices into the order that all networks have in common.
pub(crate) fn sort(notices: &mut Notices) {
    if notices.sent.len() > 1 {
        notices.sent.sort_unstable_by_key(|message| message.source);
    }
    if notices.delivered.len() > 1 {
        notices.delivered.sort_unstable_by_key(|delivery| {
            (delivery.message.destination, delivery.message.source, delivery.message.id)
        });
    }
}
