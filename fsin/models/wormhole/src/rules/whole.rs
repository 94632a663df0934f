//! The state that exists once in a network, whatever its parts: messages in flight and statistics. Both follow from the
//! reports of endpoints.

use fsin_core::messages::Messages;
use fsin_core::network::Notices;
use fsin_core::stats::{Moments, Receipt};
use trgen::{Cycle, Message};

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

/// The messages in flight, and the statistics.
#[derive(Debug)]
pub(crate) struct Whole {
    params: Params,
    /// Messages in flight, and the record.
    pub(crate) messages: Messages,
    /// Times of all received packets, by stage.
    pub(crate) stages: Stages,
}

impl Whole {
    pub(crate) fn new(params: &Params, endpoints: usize) -> Self {
        Self { params: params.clone(), messages: Messages::new(endpoints), stages: Stages::default() }
    }

    /// Accepts a message, which endpoint `endpoint` of a part will send.
    pub(crate) fn inject(&mut self, message: &Message, endpoint: u32, now: u64) -> Unsent {
        let flits = self.params.flits_of(message.bytes);
        let packets = self.params.packets_of(flits);
        let short = packets * u64::from(self.params.packet_flits) - flits;
        let slot = self.messages.accept(*message, packets, short, Cycle(now), ());
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
            self.messages.sent(message, notices);
        }
        for (message, flits, receipt) in report.received.drain(..) {
            let short = u64::from(self.params.packet_flits - flits);
            if self.messages.receive(message, Cycle(now), &receipt, short) {
                self.messages.deliver(message, Cycle(now), notices);
            }
        }
        let waited = std::mem::take(&mut report.waited);
        let recorder = &mut self.messages.recorder;
        if waited.count() > 0 {
            recorder.injected(waited.count());
            recorder.departed_after(&waited);
            recorder.short().injected += std::mem::take(&mut report.short);
        }
        recorder.hops(std::mem::take(&mut report.hops));
        self.stages.add(&std::mem::take(&mut report.stages));
    }
}
