//! The state that exists once in a network, whatever its parts: messages in flight and statistics. Both follow from the
//! reports of endpoints.

use std::sync::Arc;

use fsin_core::failures::Reconfiguration;
use fsin_core::messages::Messages;
use fsin_core::network::{ArrivedFigures, ClassFigures, Injected, Measure, Notices, QueueFigures};
use fsin_core::stats::{Moments, Receipt};
use trgen::{Cycle, Message};

use super::details::{Details, Stages};
use super::interface::Unsent;
use super::outages::Identity;
use super::routes::Routes;
use crate::params::Params;

/// What endpoints have done in a cycle. [`Whole::read`] adds it to the state of the network.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// Messages whose last flit has been sent.
    pub(crate) sent: Vec<u32>,
    /// Packets whose tail has been received: message, length in flits, and receipt.
    pub(crate) received: Vec<(u32, u32, Receipt)>,
    /// Packets that a dead link has damaged.
    pub(crate) damaged: Vec<Identity>,
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
    /// Routes to come.
    pub(crate) reconfiguration: Reconfiguration<Arc<Routes>>,
    /// Packets arrived and counts when the measured time began.
    begun: Option<(u64, Details)>,
    /// By class that the source gave its messages: what has arrived since then; empty if there is one message class.
    classes: Vec<Arrived>,
}

/// Packets of a class that have arrived.
#[derive(Clone, Copy, Default, Debug)]
struct Arrived {
    /// \[flits\] Their lengths.
    flits: u64,
    /// \[cycles\] Their latencies.
    latency: Moments,
    /// \[links\] Their paths.
    hops: Moments,
}

impl Whole {
    pub(crate) fn new(params: &Params, endpoints: usize, reconfiguration: Reconfiguration<Arc<Routes>>) -> Self {
        let (messages, stages) = (Messages::new(endpoints), Stages::default());
        let classes = if params.message_classes > 1 { params.message_classes } else { 0 };
        Self {
            params: params.clone(),
            messages,
            stages,
            reconfiguration,
            begun: None,
            classes: vec![Arrived::default(); classes],
        }
    }

    /// Makes the failures and repairs of cycle `now`, before it. Returns true if endpoints then begin no packets.
    pub(crate) fn change(&mut self, now: u64) -> bool {
        while self.reconfiguration.change(now) {
            self.messages.recorder.mark(Cycle(now));
        }
        self.reconfiguration.is_held()
    }

    /// The routes that take effect in cycle `now`, before it: if links have changed and no packet is under way.
    pub(crate) fn renew(&mut self, now: u64) -> Option<Arc<Routes>> {
        if self.messages.begun() > 0 { None } else { self.reconfiguration.renew(now) }
    }

    /// True if these routes do not lead from the source of a message to its destination.
    pub(crate) fn is_lost(&self, unsent: &Unsent, routes: &Routes) -> bool {
        !routes.reach(self.messages.get(unsent.message).message.source.0, unsent.destination)
    }

    /// Records that a source gives up a message of which it has not begun all packets.
    pub(crate) fn abandon(&mut self, unsent: &Unsent, notices: &mut Notices) {
        let packets = self.params.packets_of(unsent.left);
        let short = packets * u64::from(self.params.packet_flits) - unsent.left;
        self.messages.abandon(unsent.message, packets, short, notices);
    }

    /// Records a message that no route can carry.
    pub(crate) fn drop_at_source(&mut self, message: &Message) -> Injected {
        let flits = self.params.flits_of(message.bytes);
        let packets = self.params.packets_of(flits);
        self.messages.drop_at_source(packets, packets * u64::from(self.params.packet_flits) - flits)
    }

    /// Begins the time that the figures of the model are of.
    pub(crate) fn begin(&mut self, details: Details) {
        self.begun = Some((self.messages.arrived(), details));
        self.classes.fill(Arrived::default());
    }

    /// The figures of message classes; `None` if there is one.
    pub(crate) fn class_figures(&self) -> Option<QueueFigures> {
        let figures = |(class, of): (usize, &Arrived)| ClassFigures {
            class: class as u8,
            arrived: Some(ArrivedFigures {
                packets: of.latency.count(),
                phits: of.flits,
                latency_mean: of.latency.mean(),
                hops_mean: of.hops.mean(),
            }),
            ..ClassFigures::default()
        };
        let classes: Vec<ClassFigures> = self.classes.iter().enumerate().map(figures).collect();
        (!classes.is_empty()).then(|| QueueFigures { classes, ..QueueFigures::default() })
    }

    /// The figures of the model, from its counts.
    pub(crate) fn figures(&self, details: &Details) -> Vec<(&'static Measure, f64)> {
        let arrived = self.messages.arrived();
        let mut figures = match &self.begun {
            Some((before, earlier)) => details.since(earlier).measures(arrived - before),
            None => details.measures(arrived),
        };
        figures.extend(self.reconfiguration.measures());
        figures
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
            source_class: message.class,
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
        if !report.damaged.is_empty() {
            report.damaged.drain(..).for_each(|(source, sequence)| self.messages.damage(source, sequence));
        }
        for (message, flits, receipt) in report.received.drain(..) {
            let short = u64::from(self.params.packet_flits - flits);
            if !self.classes.is_empty() {
                let class = self.params.class_of(&self.messages.get(message).message);
                let of = &mut self.classes[usize::from(class)];
                of.flits += u64::from(flits);
                of.latency.record(receipt.latency);
                of.hops.record(receipt.hops);
            }
            self.messages.arrive(message, Cycle(now), &receipt, short, notices);
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
