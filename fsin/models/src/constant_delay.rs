//! A network of constant delay: every message arrives the same number of cycles after its injection, regardless of
//! load.
//!
//! The baseline of every comparison with a real network. A cycle is a nanosecond, as messages have no phits here.
//!
//! # How it departs from other networks
//! A delivery is announced at injection: the notices of that cycle say when the message will have arrived. That gives
//! live guests a horizon as long as the delay. A source that acts in the cycle of a notice, and not in that of
//! [`Delivery::delivered`], would act too early; no flag couples such sources.

use trgen::{Cycle, Delivery, Message};

use fsin_core::network::{Injected, Network, NetworkFailure, Notices};
use fsin_core::stats::{Receipt, Recorder};

/// A network of constant delay.
#[derive(Debug)]
pub struct ConstantDelay {
    nodes: usize,
    delay: u64,
    clock: Cycle,
    taken: Vec<Message>,
    sequences: Vec<u64>,
    recorder: Recorder,
}

impl ConstantDelay {
    /// A network of `nodes` nodes in which every message takes `delay` cycles, at least 1.
    #[must_use]
    pub fn new(nodes: usize, delay: u64) -> Self {
        Self {
            nodes,
            delay: delay.max(1),
            clock: Cycle::FIRST,
            taken: Vec::new(),
            sequences: vec![0; nodes],
            recorder: Recorder::new(nodes),
        }
    }
}

impl Network for ConstantDelay {
    fn nodes(&self) -> usize {
        self.nodes
    }

    fn clock(&self) -> Cycle {
        self.clock
    }

    fn inject(&mut self, message: Message) -> Injected {
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
        let offered = self.clock;
        // An event that begins with a cycle and takes one cycle is visible at its end.
        let delivered = offered + (self.delay - 1);
        self.taken.sort_by_key(|message| message.source);
        for message in self.taken.drain(..) {
            let Message { source, destination, .. } = message;
            let sequence = self.sequences[source.index()];
            self.sequences[source.index()] += 1;
            self.recorder.received(delivered, &Receipt { source, destination, sequence, latency: self.delay, hops: 1 });
            notices.sent.push(message);
            notices.delivered.push(Delivery { message, offered, delivered });
        }
        notices.delivered.sort_by_key(|delivery| delivery.message.destination);
        self.clock = offered.next();
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
