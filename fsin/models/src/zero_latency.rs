//! A network without latency or capacity limits: it accepts every message at once and delivers it in the same cycle.
//!
//! For studies of traffic alone. Sources that wait for deliveries (shots, reactions and applications) then show only
//! their own times.

use trgen::{Cycle, Delivery, Message};

use fsin_core::network::{Injected, Network, NetworkFailure, Notices};
use fsin_core::stats::{Receipt, Recorder};

/// A zero-latency network with an observer of every message.
pub struct ZeroLatency<'a> {
    nodes: usize,
    clock: Cycle,
    /// Messages accepted in this cycle.
    taken: Vec<Message>,
    /// Messages so far, by source.
    sequences: Vec<u64>,
    recorder: Recorder,
    see: &'a mut (dyn FnMut(Cycle, &Message) + Send),
}

impl<'a> ZeroLatency<'a> {
    /// A network of `nodes` nodes that passes every message to `see` in the cycle in which it accepts the message.
    pub fn new(nodes: usize, see: &'a mut (dyn FnMut(Cycle, &Message) + Send)) -> Self {
        Self {
            nodes,
            clock: Cycle::FIRST,
            taken: Vec::new(),
            sequences: vec![0; nodes],
            recorder: Recorder::new(nodes),
            see,
        }
    }
}

impl Network for ZeroLatency<'_> {
    fn nodes(&self) -> usize {
        self.nodes
    }

    fn clock(&self) -> Cycle {
        self.clock
    }

    fn inject(&mut self, message: Message) -> Injected {
        (self.see)(self.clock, &message);
        self.recorder.generated(1);
        self.recorder.injected(1);
        self.taken.push(message);
        Injected::Accepted
    }

    fn advance(&mut self, until: Cycle, notices: &mut Notices) -> Result<(), NetworkFailure> {
        notices.clear();
        if self.taken.is_empty() {
            self.clock = self.clock.max(until);
            return Ok(());
        }
        let now = self.clock;
        self.taken.sort_unstable_by_key(|message| (message.source, message.id));
        for message in self.taken.drain(..) {
            let Message { source, destination, .. } = message;
            let sequence = self.sequences[source.index()];
            self.sequences[source.index()] += 1;
            self.recorder.received(now, &Receipt { source, destination, sequence, latency: 0, hops: 0 });
            notices.sent.push(message);
            notices.delivered.push(Delivery { message, offered: now, delivered: now });
        }
        self.clock = now.next();
        Ok(())
    }

    fn in_flight(&self) -> u64 {
        self.taken.len() as u64
    }

    fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    fn recorder_mut(&mut self) -> &mut Recorder {
        &mut self.recorder
    }
}
