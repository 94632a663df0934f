//! Minimal networks, on which sources of traffic are tested.

use std::collections::BTreeMap;

use crate::message::{Delivery, Message};
use crate::units::Cycle;

/// A kind of network: every message arrives [`Toy::DELAY`] cycles after it has left the interface of its sender.
#[derive(Clone, Copy, Debug)]
pub(super) struct Toy {
    pub(super) name: &'static str,
    /// \[cycle\] How long a message occupies its node's interface, which accepts no other meanwhile; 0 for interfaces
    /// that accept any number at once.
    serial: u64,
    /// \[cycles\] Nothing is accepted in the first `closed.0` of every `closed.1` cycles.
    closed: (u64, u64),
}

impl Toy {
    /// All kinds.
    pub(super) const ALL: [Self; 3] = [
        Self { name: "constant delay", serial: 0, closed: (0, 1) },
        Self { name: "one message at a time", serial: 3, closed: (0, 1) },
        Self { name: "refuses for a while", serial: 1, closed: (40, 97) },
    ];

    /// \[cycles\] Time from the end of the transfer through the interface to the arrival.
    const DELAY: u64 = 7;
}

/// Notices of a network at the end of a cycle.
#[derive(Default, Debug)]
pub(super) struct Notices {
    /// Messages that have left the interface of their sender.
    pub(super) sent: Vec<Message>,
    /// Messages that have arrived.
    pub(super) delivered: Vec<Delivery>,
}

/// A network in use.
#[derive(Debug)]
pub(super) struct ToyNetwork {
    toy: Toy,
    /// Per node: the first cycle in which its interface accepts a message.
    free: Vec<Cycle>,
    /// By cycle: the notices of the accepted messages.
    notices: BTreeMap<Cycle, Notices>,
    /// Number of messages accepted and not delivered.
    pub(super) in_flight: u64,
}

impl ToyNetwork {
    pub(super) fn new(toy: Toy, nodes: usize) -> Self {
        Self { toy, free: vec![Cycle(0); nodes], notices: BTreeMap::new(), in_flight: 0 }
    }

    /// Offers a message; true if it is accepted.
    pub(super) fn offer(&mut self, now: Cycle, message: Message) -> bool {
        let free = &mut self.free[message.source.index()];
        if now < *free || now.0 % self.toy.closed.1 < self.toy.closed.0 {
            return false;
        }
        *free = now + self.toy.serial;
        let sent = now + self.toy.serial.saturating_sub(1);
        let delivered = sent + Toy::DELAY;
        self.notices.entry(sent).or_default().sent.push(message);
        self.notices.entry(delivered).or_default().delivered.push(Delivery { message, offered: now, delivered });
        self.in_flight += 1;
        true
    }

    /// Simulates cycle `now`.
    pub(super) fn simulate(&mut self, now: Cycle) -> Notices {
        let notices = self.notices.remove(&now).unwrap_or_default();
        self.in_flight -= notices.delivered.len() as u64;
        notices
    }

    /// The next cycle with an event.
    pub(super) fn next(&self) -> Option<Cycle> {
        self.notices.first_key_value().map(|(&cycle, _)| cycle)
    }
}
