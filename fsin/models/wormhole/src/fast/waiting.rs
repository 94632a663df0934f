//! What the fronts of buffers wait for in a deadlock.

use fsin_core::wait::Place;
use trgen::NodeId;

use super::part::Part;
use super::state::State;
use crate::rules::routes::ByKey;
use crate::rules::wiring::End;

/// What the front of an input VC waits for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Awaited {
    /// Room in an input VC.
    Room(Place),
    /// A node that refuses it.
    Node(NodeId),
}

impl<const P: usize, const V: usize, const DIRECT: bool> Part<P, V, DIRECT> {
    /// The first input VC that holds a flit, with its router's number in the network.
    pub(super) fn first_waiting(&self) -> Option<Place> {
        let input_vc = self.routers.inputs().position(|(input, _)| input.len > 0)?;
        let router = self.routers.router_of(input_vc);
        Some((self.first + router, self.routers.to_model_number(input_vc - self.routers.base(router))))
    }

    /// The VC that the front of an input VC waits for, or the node that refuses it. Routers have their numbers in the
    /// network.
    pub(super) fn waits_for(&self, (router, input): Place) -> Option<Awaited> {
        let vcs = self.params.vcs;
        let input_vc = self.routers.base(router - self.first) + self.routers.to_local_number(input);
        let this = self.routers.input(input_vc);
        let (port, vc) = match this.state {
            _ if this.len == 0 => return None,
            State::Active | State::Waiting => self.routers.split(this.output.into()),
            _ => {
                let packet = &self.ends.packets[self.routers.front(input_vc).packet];
                let head = packet.head((input / vcs, input % vcs));
                let mut candidates = Vec::new();
                let here = self.routes.in_subnet(router);
                self.routes.candidates(here, &head, &mut ByKey(packet.key), &mut candidates);
                let last = candidates.last()?;
                (usize::from(last.port), last.vcs.trailing_zeros() as usize)
            }
        };
        match self.wiring.out(router, port).end {
            End::Router { router, port } => Some(Awaited::Room((router as usize, usize::from(port) * vcs + vc))),
            End::Endpoint(_) => {
                let output = self.routers.base(router - self.first) + port * V + vc;
                self.sinks.as_ref()?.refusing(output, &self.ends.packets).map(Awaited::Node)
            }
            End::Nothing => None,
        }
    }

    /// The buffer that stands in the way where one waits for room in another: that one, or the first of the same input
    /// that holds flits, if VCs share places.
    pub(super) fn occupied(&self, (router, input): Place) -> Place {
        let vcs = self.params.vcs;
        let first = input / vcs * vcs;
        let base = self.routers.base(router - self.first);
        let holds = |&input: &usize| self.routers.input(base + self.routers.to_local_number(input)).len > 0;
        let other = if holds(&input) { None } else { (first..first + vcs).find(holds) };
        (router, if self.params.shares_buffers() { other.unwrap_or(input) } else { input })
    }

    /// Nodes that refuse a packet which has come to them.
    pub(super) fn refusing(&self) -> Vec<NodeId> {
        self.sinks.as_ref().map_or_else(Vec::new, |sinks| sinks.all_refusing(&self.ends.packets))
    }
}
