//! A shared bus: one packet at a time, nodes served in turn.
//!
//! The smallest model with contention, and the example for those who add one: this file, and a row in
//! [`MODELS`](crate::MODELS). Its capacity is one phit a cycle for all nodes together, so that N nodes saturate it at a
//! load of 1/N each.
//!
//! # How it departs from reality
//! Nodes keep any number of messages, and arbitration takes the same time whoever asks.

use std::collections::VecDeque;
use std::sync::Arc;

use fsin_core::family::{Discipline, Key, Kind, ModelFamily, NetworkSpec, PHITS_PER_NODE_CYCLE, Units, Unloaded};
use fsin_core::network::{Injected, Network, NetworkFailure, Notices, STEPS, Settled};
use fsin_core::stats::{Receipt, Recorder};
use trgen::catalog::{Component, SpecError};
use trgen::{Cycle, Delivery, Geometry, Message};

use crate::constant_delay::{nodes, units};

/// The row of this model in the table of models.
pub static BUS: ModelFamily = ModelFamily {
    component: Component {
        name: "bus",
        about: "a shared bus: one packet at a time, a phit a cycle for all nodes together, nodes served in turn",
        parameters: &[],
        source: "Hennessy, Patterson, Computer Architecture, 6th edition, appendix F",
    },
    discipline: Discipline {
        order: "messages of a node are sent and arrive in order",
        sharing: "the bus, packet by packet among nodes in turn",
        busy: "a node with one packet at a time, of its messages in their order; a send ends when its message has arrived",
    },
    aliases: &[],
    keys: &[Key::of_network(
        "bus-arbitration",
        "C",
        Kind::Integer,
        Some("1"),
        "cycles",
        "before each packet on the bus",
    )],
    shared: &["topology", "nodes", "packet", "phit-bytes", "bandwidth"],
    defaults: &[],
    short: &[("arbitration", "bus-arbitration")],
    load_unit: PHITS_PER_NODE_CYCLE,
    routings: Vec::new,
    parse: |values| {
        let (geometry, _) = nodes(values)?;
        Ok(Arc::new(Spec { geometry, units: units(values)?, arbitration: values.integer("bus-arbitration")? }))
    },
};

/// Checked settings.
#[derive(Clone, Debug)]
struct Spec {
    geometry: Geometry,
    units: Units,
    /// \[cycles\] Arbitration time before each packet on the bus.
    arbitration: u32,
}

impl NetworkSpec for Spec {
    fn build(&self) -> Result<Box<dyn Network>, SpecError> {
        let nodes = self.geometry.nodes();
        Ok(Box::new(Bus {
            spec: self.clone(),
            queues: vec![VecDeque::new(); nodes],
            turn: 0,
            on_bus: None,
            clock: Cycle::FIRST,
            waiting: 0,
            sequences: vec![0; nodes],
            recorder: Recorder::new(nodes),
        }))
    }

    fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    fn units(&self) -> Units {
        self.units
    }

    fn has_one_time_alone(&self) -> bool {
        true
    }

    fn unloaded(&self, phits: f64) -> Unloaded {
        let packet = f64::from(self.units.packet_phits);
        let packets = (phits / packet).ceil().max(1.0);
        Unloaded::shared((packets * (packet + f64::from(self.arbitration))) as u64)
    }
}

/// A message that waits for the bus or is on it.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    message: Message,
    /// Cycle of its injection.
    offered: Cycle,
    /// \[packets\] Packets of the message that have not arrived yet.
    left: u64,
}

/// The bus and the messages that wait for it.
#[derive(Debug)]
struct Bus {
    spec: Spec,
    /// By node: its messages, in the order of injection.
    queues: Vec<VecDeque<Waiting>>,
    /// The node that may send first at the next grant.
    turn: usize,
    /// The sender of the packet on the bus, and its last cycle.
    on_bus: Option<(usize, Cycle)>,
    /// The next cycle to be simulated.
    clock: Cycle,
    /// \[packets\] Accepted packets that have not been delivered yet.
    waiting: u64,
    /// By node: the number of its packets that have arrived.
    sequences: Vec<u64>,
    recorder: Recorder,
}

impl Bus {
    /// Gives the bus to the next node that has a packet. Returns that node and the last cycle of its packet, or `None`
    /// if no packet waits.
    fn grant(&mut self) -> Option<(usize, Cycle)> {
        let nodes = self.queues.len();
        let asked = (self.turn..nodes).chain(0..self.turn);
        let node = asked.into_iter().find(|&node| !self.queues[node].is_empty())?;
        self.turn = (node + 1) % nodes;
        let cycles = u64::from(self.spec.arbitration) + u64::from(self.spec.units.packet_phits);
        Some((node, self.clock + (cycles - 1)))
    }

    /// Records that the packet of `node` on the bus has arrived at the end of cycle `now`.
    fn arrive(&mut self, node: usize, now: Cycle, notices: &mut Notices) {
        let Some(first) = self.queues[node].front_mut() else { return };
        let Waiting { message, offered, .. } = *first;
        first.left -= 1;
        if first.left == 0 {
            self.queues[node].pop_front();
            notices.sent.push(message);
            notices.delivered.push(Delivery { message, offered, delivered: now });
        }
        let (source, destination) = (message.source, message.destination);
        let (sequence, latency) = (self.sequences[node], now.since(offered) + 1);
        self.sequences[node] += 1;
        self.waiting -= 1;
        self.recorder.injected(1);
        self.recorder.received(now, &Receipt { source, destination, sequence, latency, hops: 1 });
    }
}

impl Network for Bus {
    fn nodes(&self) -> usize {
        self.queues.len()
    }

    fn clock(&self) -> Cycle {
        self.clock
    }

    fn inject(&mut self, message: Message) -> Injected {
        let left = self.spec.units.packets_of(message.bytes);
        self.waiting += left;
        self.recorder.generated(left);
        self.queues[message.source.index()].push_back(Waiting { message, offered: self.clock, left });
        Injected::Accepted
    }

    fn advance(&mut self, until: Cycle, notices: &mut Notices) -> Result<(), NetworkFailure> {
        notices.clear();
        for _ in 0..STEPS {
            if !notices.is_empty() {
                break;
            }
            self.on_bus = self.on_bus.or_else(|| self.grant());
            let Some((node, last)) = self.on_bus.filter(|&(_, last)| last < until) else {
                self.clock = self.clock.max(until);
                break;
            };
            self.on_bus = None;
            self.clock = last.next();
            self.arrive(node, last, notices);
        }
        Ok(())
    }

    fn in_flight(&self) -> u64 {
        self.waiting
    }

    fn settled(&mut self) -> Settled<'_> {
        Settled::new(&self.recorder)
    }

    fn recorder_mut(&mut self) -> &mut Recorder {
        &mut self.recorder
    }
}
