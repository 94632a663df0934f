//! Background traffic from the nodes without a task, beside a trace or kernel.
//!
//! The nodes without a task, in order, are nodes 0, 1, ... of the background traffic, which stays among them and shares
//! only links with the application. It ends when the application has sent its last message.

use super::bundle::earlier;
use crate::message::{Delivery, Message};
use crate::source::{Activity, Next, Outbox, SourceError, TrGen, Wait};
use crate::units::{Cycle, NodeId};

use super::Traffic;

/// A main source, and other traffic on the nodes that it leaves idle. Messages of the main source have even ids.
#[derive(Debug)]
pub struct Background<M> {
    /// The traffic of the application.
    main: M,
    /// The traffic of the idle nodes, which it numbers from 0.
    background: Traffic,
    /// Per node of `background`: the node of the network on which it runs.
    idle: Vec<NodeId>,
    /// Per node of the network: its index in `idle`.
    numbers: Vec<u32>,
    /// Number of messages of the main source in flight.
    in_flight: u64,
    /// Messages that the main and the background source generate in one call.
    scratch: [Outbox; 2],
}

impl<M: TrGen> Background<M> {
    /// Runs `background` on the nodes `idle` of the network of `main`. `None` unless `background` has as many nodes as
    /// `idle` lists, each of them a node of the network.
    #[must_use]
    pub fn new(main: M, background: Traffic, idle: Vec<NodeId>) -> Option<Self> {
        let nodes = main.nodes();
        if background.nodes() != idle.len() || idle.iter().any(|node| node.index() >= nodes) {
            return None;
        }
        let mut numbers = vec![0; nodes];
        for (number, node) in idle.iter().enumerate() {
            numbers[node.index()] = number as u32;
        }
        let scratch = [Outbox::new(nodes), Outbox::new(idle.len())];
        Some(Self { main, background, idle, numbers, in_flight: 0, scratch })
    }

    /// The main source.
    pub const fn main(&self) -> &M {
        &self.main
    }

    /// The main source, to be changed before the run.
    pub const fn main_mut(&mut self) -> &mut M {
        &mut self.main
    }

    /// A message of the background traffic with the id and the node numbers that `background` gave it.
    fn renumbered(&self, message: &Message) -> Message {
        let number = |node: NodeId| NodeId(self.numbers[node.index()]);
        let (source, destination) = (number(message.source), number(message.destination));
        Message { id: message.id / 2, source, destination, ..*message }
    }
}

impl<M: TrGen> TrGen for Background<M> {
    fn nodes(&self) -> usize {
        self.main.nodes()
    }

    fn generate(&mut self, now: Cycle, out: &mut Outbox) -> Result<(), SourceError> {
        let [main, background] = &mut self.scratch;
        self.main.generate(now, main)?;
        let in_flight = &mut self.in_flight;
        main.offer(|message| {
            *in_flight += 1;
            out.push(Message { id: 2 * message.id, ..message });
            true
        });
        if matches!((self.main.next(), self.in_flight), (Next::Done, _) | (Next::Waiting, 0)) {
            return Ok(());
        }
        self.background.generate(now, background)?;
        let idle = &self.idle;
        background.offer(|message| {
            let (source, destination) = (idle[message.source.index()], idle[message.destination.index()]);
            out.push_to_any(Message { id: 2 * message.id + 1, source, destination, ..message });
            true
        });
        Ok(())
    }

    fn sent(&mut self, now: Cycle, message: &Message) {
        if message.id.is_multiple_of(2) {
            self.main.sent(now, &Message { id: message.id / 2, ..*message });
        } else {
            let renumbered = self.renumbered(message);
            self.background.sent(now, &renumbered);
        }
    }

    fn known(&mut self, now: Cycle, message: &Message) {
        if message.id.is_multiple_of(2) {
            self.main.known(now, &Message { id: message.id / 2, ..*message });
        }
    }

    fn take_back(&mut self, now: Cycle, message: &Message) -> bool {
        if message.id.is_multiple_of(2) {
            let taken = self.main.take_back(now, &Message { id: message.id / 2, ..*message });
            self.in_flight -= u64::from(taken);
            return taken;
        }
        let renumbered = self.renumbered(message);
        self.background.take_back(now, &renumbered)
    }

    fn delivered(&mut self, now: Cycle, delivery: &Delivery) {
        if delivery.message.id.is_multiple_of(2) {
            self.in_flight = self.in_flight.saturating_sub(1);
            let message = Message { id: delivery.message.id / 2, ..delivery.message };
            self.main.delivered(now, &Delivery { message, ..*delivery });
        } else {
            let message = self.renumbered(&delivery.message);
            self.background.delivered(now, &Delivery { message, ..*delivery });
        }
    }

    fn dropped(&mut self, now: Cycle, message: &Message) {
        if message.id.is_multiple_of(2) {
            self.in_flight = self.in_flight.saturating_sub(1);
            self.main.dropped(now, &Message { id: message.id / 2, ..*message });
        } else {
            let renumbered = self.renumbered(message);
            self.background.dropped(now, &renumbered);
        }
    }

    fn next(&self) -> Next {
        match self.main.next() {
            Next::Done => Next::Done,
            // An application that waits with no message in flight is deadlocked, whatever the background traffic does.
            Next::Waiting if self.in_flight == 0 => Next::Waiting,
            main => earlier(main, self.background.next()),
        }
    }

    fn silent_nodes(&self) -> usize {
        let background = (0..self.idle.len()).filter(|&node| self.background.is_silent(NodeId::at(node))).count();
        // The main source counts idle nodes as silent.
        self.main.silent_nodes().saturating_sub(self.idle.len()) + background
    }

    fn waits(&self) -> Vec<Wait> {
        self.main.waits()
    }

    fn activity(&self) -> Activity {
        self.main.activity()
    }
}
