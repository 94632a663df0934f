//! The reference engine as an [`Engine`], and its observable state.

use std::collections::VecDeque;

use trgen::{Cycle, Message};

use super::Reference;
use crate::engine::messages::Unsent;
use crate::engine::wait::channel;
use crate::router::request::source_key;
use crate::router::{Interface, SourceQueue};
use fsin_core::engine::Engine;
use fsin_core::messages::Messages;
use fsin_core::network::{Deadlock, Injected, Measure, NetworkFailure, Notices};
use fsin_core::view::Occupancy;
use fsin_core::wait::cyclic_wait;

impl Engine for Reference {
    type More = ();

    fn messages(&self) -> &Messages {
        &self.messages
    }

    fn messages_mut(&mut self) -> &mut Messages {
        &mut self.messages
    }

    fn clock(&self) -> Cycle {
        self.clock
    }

    fn inject(&mut self, message: Message) -> Injected {
        let packets = self.params.packets_of(message.bytes);
        if !self.reconfiguration.is_held()
            && !self.requests.reaches(&*self.topology, message.source, message.destination)
        {
            return self.messages.drop_at_source(packets, 0);
        }
        let room = self.params.interface.room(self.shape.ports());
        let unsent = self.nodes[message.source.index()].unsent;
        if self.params.source_queue == SourceQueue::Throttled && unsent >= room {
            return Injected::Refused;
        }
        if self.messages.in_flight() == 0 {
            self.last_moved = self.clock;
        }
        let slot = self.messages.accept(message, packets, 0, self.clock, ());
        let lane = match self.params.interface {
            Interface::Serial | Interface::Interleaved(_) => 0,
            Interface::PerPort => {
                let Message { source, destination, .. } = message;
                let key = source_key(self.params.seed, source);
                self.requests.link_of_pair(&*self.topology, source, destination, key)
            }
        };
        let this = &mut self.nodes[message.source.index()];
        this.lanes[lane].push(Unsent::new(slot, &message, packets, self.clock));
        this.unsent += 1;
        Injected::Accepted
    }

    fn refuses_until_sent(&self) -> bool {
        !self.reconfiguration.is_planned()
    }

    fn holds_back(&mut self) -> bool {
        let (now, packets) = (self.clock.0, self.in_network);
        self.control.as_mut().is_some_and(|control| control.is_tripped(now, packets))
    }

    fn withhold(&mut self, message: &Message) {
        let packets = self.params.packets_of(message.bytes);
        self.messages.recorder.withheld(packets);
    }

    fn step(&mut self, until: Cycle, notices: &mut Notices) -> Result<(), NetworkFailure> {
        if self.reconfiguration.is_planned() {
            self.reconfigure(notices);
        }
        if self.messages.in_flight() == 0 && notices.is_empty() {
            self.clock = Cycle(self.reconfiguration.next_change(until.0));
            return Ok(());
        }
        self.cycle(notices);
        if self.clock.since(self.last_moved) >= self.params.watchdog_cycles {
            let blocked = (0..self.nodes.len())
                .flat_map(|node| (0..self.nodes[node].queues.len()).map(move |queue| (node, queue)))
                .find(|&(node, queue)| self.unrouted(node, queue).is_some());
            let cycle = cyclic_wait(blocked, |(node, queue)| self.waits_for(node, queue));
            return Err(Deadlock {
                since: self.last_moved,
                in_flight: self.messages.in_flight(),
                cycle: cycle.into_iter().map(|place| channel(place, self.shape, self.params.vcs)).collect(),
                refusing: Vec::new(),
            }
            .into());
        }
        self.clock = self.clock.next();
        Ok(())
    }

    fn figures(&self) -> Vec<(&'static Measure, f64)> {
        self.reconfiguration.measures()
    }

    fn count_crossings(&mut self) {
        self.crossed.resize(self.nodes.len() * self.shape.ports(), 0);
    }

    fn show(&self, into: &mut Occupancy) {
        let (ports, vcs) = (self.shape.ports(), self.params.vcs);
        into.reset(self.nodes.len(), ports);
        for (node, this) in self.nodes.iter().enumerate() {
            let occupied = |queue| this.occupied(queue, &self.params, self.is_paced);
            for queue in 0..ports * vcs {
                into.transit[node * ports + queue / vcs] += occupied(queue);
            }
            into.injection[node] = (ports * vcs..this.queues.len()).map(occupied).sum();
            let buffered: usize = this.buffers.iter().map(VecDeque::len).sum();
            into.waiting.push(buffered as u64 + this.packets_unsent());
        }
        into.crossed.extend_from_slice(&self.crossed);
    }
}
