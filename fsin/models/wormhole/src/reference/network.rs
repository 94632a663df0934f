//! The reference engine as a network.

use fsin_core::network::{Deadlock, Injected, Measure, Network, NetworkFailure, Notices, STEPS};
use fsin_core::stats::Recorder;
use fsin_core::view::{Occupancy, View};
use trgen::{Cycle, Message};

use super::Reference;
use crate::{Detailed, Details};

impl Network for Reference {
    fn nodes(&self) -> usize {
        self.wiring.endpoints
    }

    fn clock(&self) -> Cycle {
        Cycle(self.clock)
    }

    fn inject(&mut self, message: Message) -> Injected {
        if self.whole.in_flight == 0 {
            self.last_moved = self.last_moved.max(self.clock);
        }
        let unsent = self.whole.inject(&message, message.source.0, self.clock);
        self.ends.accept(unsent);
        Injected::Accepted
    }

    fn advance(&mut self, until: Cycle, notices: &mut Notices) -> Result<(), NetworkFailure> {
        notices.clear();
        let mut steps = 0;
        while self.clock < until.0 {
            if self.is_still() {
                self.clock = until.0;
                break;
            }
            self.cycle(notices);
            let is_stuck = self.clock.saturating_sub(self.last_moved) >= self.params.watchdog_cycles;
            self.clock += 1;
            if is_stuck && self.whole.in_flight > 0 {
                return Err(Deadlock {
                    since: Cycle(self.last_moved),
                    in_flight: self.whole.in_flight,
                    cycle: self.cyclic_wait(),
                }
                .into());
            }
            steps += 1;
            if !notices.is_empty() || steps >= STEPS {
                break;
            }
        }
        Ok(())
    }

    fn measures(&self) -> Vec<(&'static Measure, f64)> {
        self.details().measures(self.recorder().totals().received)
    }

    fn in_flight(&self) -> u64 {
        self.whole.in_flight
    }

    fn recorder(&self) -> &Recorder {
        &self.whole.recorder
    }

    fn recorder_mut(&mut self) -> &mut Recorder {
        &mut self.whole.recorder
    }

    fn view(&self) -> Option<&dyn View> {
        Some(self)
    }

    fn observe(&mut self) {
        self.whole.recorder.observe();
        self.crossed.resize(self.wiring.routers * self.wiring.ports, 0);
    }
}

impl Detailed for Reference {
    fn details(&self) -> Details {
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

impl View for Reference {
    fn occupancy(&self, into: &mut Occupancy) {
        let flits = |router: usize, port: usize| {
            let vcs = self.params.vcs;
            let inputs = &self.routers[router].inputs[port * vcs..][..vcs];
            inputs.iter().map(|input| input.buffer.len() as u32).sum()
        };
        self.wiring.show(flits, &self.crossed, into);
        into.waiting.extend((0..self.wiring.endpoints).map(|endpoint| self.ends.waiting(endpoint)));
    }
}
