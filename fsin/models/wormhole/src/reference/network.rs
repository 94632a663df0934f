//! The reference engine as a network.

use fsin_core::engine::Engine;
use fsin_core::messages::Messages;
use fsin_core::network::{Deadlock, Injected, Measure, NetworkFailure, Notices, QueueFigures, RouterEvents};
use fsin_core::view::Occupancy;
use trgen::{Cycle, Message, NodeId};

use super::Reference;
use crate::rules::sinks::Sinks;
use crate::{Detailed, Details};

impl Engine for Reference {
    type More = ();

    fn messages(&self) -> &Messages {
        &self.whole.messages
    }

    fn messages_mut(&mut self) -> &mut Messages {
        &mut self.whole.messages
    }

    fn clock(&self) -> Cycle {
        Cycle(self.clock)
    }

    fn inject(&mut self, message: Message) -> Injected {
        if self.whole.messages.in_flight() == 0 {
            self.last_moved = self.last_moved.max(self.clock);
        }
        if !self.whole.reconfiguration.is_held() && !self.routes.reach(message.source.0, message.destination.0) {
            return self.whole.drop_at_source(&message);
        }
        let class = self.params.class_of(&message);
        let tap = self.routes.tap(message.source.0, message.destination.0, class);
        let unsent = self.whole.inject(&message, tap as u32, self.clock);
        self.ends.accept(unsent);
        Injected::Accepted
    }

    fn let_refuse(&mut self, class: u8) -> bool {
        self.sinks = Some(Sinks::new(class, self.wiring.endpoints));
        true
    }

    fn admit(&mut self, node: NodeId, admits: bool) {
        if let Some(sinks) = &mut self.sinks {
            sinks.admit(node, admits);
        }
    }

    fn step(&mut self, until: Cycle, notices: &mut Notices) -> Result<(), NetworkFailure> {
        if self.whole.reconfiguration.is_planned() {
            self.reconfigure(notices);
        }
        if self.is_still() && notices.is_empty() {
            self.clock = self.whole.reconfiguration.next_change(until.0);
            return Ok(());
        }
        self.cycle(notices);
        let mut is_stuck = self.clock.saturating_sub(self.last_moved) >= self.params.watchdog_cycles;
        if is_stuck && self.awaits_node() {
            (self.last_moved, is_stuck) = (self.clock, false);
        }
        self.clock += 1;
        let in_flight = self.whole.messages.in_flight();
        if is_stuck && in_flight > 0 {
            let (since, cycle) = (Cycle(self.last_moved), self.cyclic_wait());
            return Err(Deadlock { since, in_flight, cycle, refusing: self.refusing() }.into());
        }
        Ok(())
    }

    fn count_crossings(&mut self) {
        self.crossed.resize(self.wiring.routers * self.wiring.ports, 0);
    }

    fn count_events(&mut self) {
        self.count_crossings();
        self.traversed.resize(self.wiring.routers * self.wiring.ports * self.wiring.ports, 0);
    }

    fn events(&self) -> Option<Vec<RouterEvents>> {
        self.wiring.events(&self.traversed)
    }

    fn show(&self, into: &mut Occupancy) {
        let flits = |router: usize, port: usize| {
            let vcs = self.params.vcs;
            let inputs = &self.routers[router].inputs[port * vcs..][..vcs];
            inputs.iter().map(|input| input.buffer.len() as u32).sum()
        };
        self.wiring.show(flits, &self.crossed, into);
        let own = self.wiring.own;
        let waiting = |endpoint: usize| (0..own).map(|tap| self.ends.waiting(endpoint * own + tap)).sum::<u64>();
        into.waiting.extend((0..self.wiring.endpoints).map(waiting));
    }

    fn begin_figures(&mut self) {
        self.traversed.fill(0);
        let counts = self.count();
        self.whole.begin(counts);
    }

    fn figures(&self) -> Vec<(&'static Measure, f64)> {
        self.whole.figures(&self.count())
    }

    fn queue_figures(&self) -> Option<QueueFigures> {
        self.whole.class_figures()
    }
}

impl Reference {
    /// The counts of this model.
    fn count(&self) -> Details {
        let now = self.clock;
        Details {
            stalls: self.stalls,
            stages: self.whole.stages,
            flits_sent: self.ends.flits_sent,
            flits_received: self.ends.flits_received,
            flit_hops: self.flit_hops,
            occupancy: self.occupancy.iter().map(|&(sum, flits)| sum.wrapping_add(flits.wrapping_mul(now))).collect(),
        }
    }
}

impl Detailed for Reference {
    fn details(&mut self) -> Details {
        self.count()
    }
}
