//! What the fronts of buffers wait for in a deadlock.

use fsin_core::network::Channel;
use fsin_core::wait::{Place, cyclic_wait};
use trgen::NodeId;

use super::{Reference, State, output_vc};
use crate::rules::routes::ByKey;
use crate::rules::wiring::End;

impl Reference {
    /// The buffers of a cyclic wait: each waits for room in the next one.
    pub(super) fn cyclic_wait(&self) -> Vec<Channel> {
        let vcs = self.params.vcs;
        let heads =
            (0..self.wiring.routers).flat_map(|router| (0..self.wiring.ports * vcs).map(move |vc| (router, vc)));
        let first = heads.into_iter().find(|&(router, vc)| !self.routers[router].inputs[vc].buffer.is_empty());
        let cycle = cyclic_wait(first, |place| self.waits_for(place));
        cycle.into_iter().map(|(router, vc)| self.wiring.input(router, vc / vcs, vc % vcs)).collect()
    }

    /// The buffer that the front of a buffer waits for: the one behind its output VC or, if it needs an output VC,
    /// behind the last VC that it would take.
    fn waits_for(&self, (router, input): Place) -> Option<Place> {
        let vcs = self.params.vcs;
        let this = &self.routers[router].inputs[input];
        let front = this.buffer.front()?;
        let (port, vc) = match this.state {
            State::Active { output, .. } => (output / vcs, output % vcs),
            _ => {
                let packet = &self.ends.packets[front.flit.packet];
                let head = packet.head((input / vcs, input % vcs));
                let mut candidates = Vec::new();
                let here = self.routes.in_subnet(router);
                self.routes.candidates(here, &head, &mut ByKey(packet.key), &mut candidates);
                let last = candidates.last()?;
                (usize::from(last.port), last.vcs.trailing_zeros() as usize)
            }
        };
        match self.wiring.out(router, port).end {
            End::Router { router, port } => Some(self.occupied((router as usize, usize::from(port) * vcs + vc))),
            End::Endpoint(_) => {
                let output = output_vc(&self.wiring, &self.params, router, port) + vc;
                let node = self.sinks.as_ref()?.refusing(output, &self.ends.packets)?;
                self.wiring.taps_of(node).find_map(|tap| {
                    let vc = self.ends.sends_into(tap)?;
                    let (router, port) = self.wiring.entry(tap);
                    Some((router, port * vcs + vc))
                })
            }
            End::Nothing => None,
        }
    }

    /// The buffer that stands in the way where one waits for room in another: that one, or the first of the same input
    /// that holds flits, if VCs share places.
    fn occupied(&self, (router, input): Place) -> Place {
        let (vcs, inputs) = (self.params.vcs, &self.routers[router].inputs);
        let first = input / vcs * vcs;
        let holds = |&input: &usize| !inputs[input].buffer.is_empty();
        let other = if holds(&input) { None } else { (first..first + vcs).find(holds) };
        (router, if self.params.shares_buffers() { other.unwrap_or(input) } else { input })
    }

    /// Nodes that refuse a packet which has come to them.
    pub(super) fn refusing(&self) -> Vec<NodeId> {
        self.sinks.as_ref().map_or_else(Vec::new, |sinks| sinks.all_refusing(&self.ends.packets))
    }

    /// True if a node that refuses a packet has nothing of another class to send: it works on that.
    pub(super) fn awaits_node(&self) -> bool {
        let Some(sinks) = &self.sinks else { return false };
        let has_other = |tap: usize| self.ends.has_other_than(tap, sinks.class);
        self.refusing().into_iter().any(|node| !self.wiring.taps_of(node).any(has_other))
    }
}
