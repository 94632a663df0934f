//! Step 1 of interfaces that have several messages in progress.
//!
//! Decision: docs/decisions/0592-lanes-that-are-due.md.

use std::cell::Cell;

use fsin_core::interface::{Lane, Pending};
use trgen::NodeId;

use super::super::mask::Mask;
use super::super::state::{Router, Sender};
use super::Works;
use crate::engine::messages::Unsent;
use crate::router::layout::{Layout, is_switched};
use crate::router::request::packet_key;
use crate::router::{Inject, Injection, Interface};
use fsin_core::topology::Offsets;

/// A message in a lane.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine::fast) struct InLane<const D: usize> {
    pub(super) message: Unsent,
    /// In a lane of a port: the remaining hops of all its packets, which take the same directions. Kept here, since
    /// computing them for each packet takes as long as a hop.
    offsets: [i16; D],
}

impl<const D: usize> Pending for InLane<D> {
    fn destination(&self) -> NodeId {
        self.message.destination
    }
}

impl<const D: usize> InLane<D> {
    /// The message without its next packet; `None` if that is the last.
    fn rest(&self) -> Option<Self> {
        Some(Self { message: self.message.rest()?, ..*self })
    }
}

impl<L: Layout, M: Mask, const D: usize, const Q: usize, const P: usize> Works<L, M, D, Q, P> {
    /// \[packets\] Packets of the messages in the lanes of a node.
    pub(super) fn in_lanes(&self, node: usize) -> u64 {
        self.lanes.get(node).map_or(0, |lanes| lanes.iter().flat_map(Lane::all).map(|of| of.message.packets).sum())
    }

    /// The remaining hops of the packets of a message that takes the route of its pair.
    fn offsets_of_pair(&self, node: u32, message: &Unsent) -> Offsets {
        let (source, key) = (NodeId(self.first + node), self.senders[node as usize].key);
        self.rules.requests.route_of_pair(&*self.rules.topology, source, message.destination, key)
    }

    /// Puts a message into its lane of a node.
    pub(super) fn enter_lane(&mut self, node: u32, message: Unsent) {
        let (lane, offsets) = match self.rules.interface {
            Interface::Serial | Interface::Interleaved(_) => (0, [0; D]),
            Interface::PerPort => {
                let route = self.offsets_of_pair(node, &message);
                let link = self.rules.requests.first_link(NodeId(self.first + node), message.destination, &route);
                (link, std::array::from_fn(|dimension| route[dimension]))
            }
        };
        self.lanes[node as usize][lane].push(InLane { message, offsets });
        if let Some(due) = self.due.get_mut(node as usize) {
            *due |= 1 << lane;
        }
    }

    /// Recomputes the routes of all messages in lanes of ports, after the routes of the network have changed.
    pub(in crate::engine::fast) fn renew_lanes(&mut self) {
        if self.rules.interface != Interface::PerPort {
            return;
        }
        let mut all = std::mem::take(&mut self.lanes);
        for (lanes, node) in all.iter_mut().zip(0..) {
            for of in lanes.iter_mut().flat_map(Lane::all_mut) {
                let route = self.offsets_of_pair(node, &of.message);
                of.offsets = std::array::from_fn(|dimension| route[dimension]);
            }
        }
        self.lanes = all;
    }

    /// Puts one packet of each lane of a node into a source buffer if it fits, or straight into the injection queue.
    #[inline(never)]
    pub(super) fn send_from_lanes(&mut self, router: &mut Router<M, Q, P>, node: u32) {
        let Some(lanes) = self.lanes.get_mut(node as usize) else { return };
        let mut lanes = std::mem::take(lanes);
        let mut has_more = false;
        match self.due.get_mut(node as usize) {
            Some(due) => {
                let (mut left, mut again) = (std::mem::take(due), 0);
                while left != 0 {
                    let number = left.trailing_zeros() as usize;
                    left &= left - 1;
                    let lane = &mut lanes[number];
                    if !lane.is_empty() && self.send_from(router, node, number, lane) {
                        again |= 1 << number;
                    }
                }
                self.due[node as usize] |= again;
                has_more = again != 0;
            }
            None => {
                for (number, lane) in lanes.iter_mut().enumerate().filter(|(_, lane)| !lane.is_empty()) {
                    has_more |= self.send_from(router, node, number, lane);
                }
            }
        }
        self.lanes[node as usize] = lanes;
        if has_more {
            self.wake_sender(node);
        }
    }

    /// Does so for one lane, which is not empty. Returns whether it may send in the next cycle whatever happens.
    fn send_from(
        &mut self,
        router: &mut Router<M, Q, P>,
        node: u32,
        number: usize,
        lane: &mut Lane<InLane<D>>,
    ) -> bool {
        let rules = &self.rules;
        let Sender { sequence, key: source_key, .. } = self.senders[node as usize];
        let key = packet_key(source_key, sequence);
        let is_of_port = rules.interface == Interface::PerPort;
        let has_room = |injector: &usize| self.buffer_has_room(node as usize, *injector);
        // Where the message does not matter, or no injector has room, the messages need not be tried one by one.
        let common = match (is_of_port, rules.injection) {
            (true, _) => Some(number),
            (false, Injection::Shortest) => Some(self.injector(router, node as usize, &[])),
            (false, _) => None,
        };
        let any_room = match common {
            Some(injector) => has_room(&injector),
            None => (0..rules.injectors).any(|injector| has_room(&injector)),
        };
        // True if one of the messages that found no room may find some in the next cycle.
        let tries_again = Cell::new(rules.tries_injectors && rules.inject == Inject::Serial);
        let place = |of: &InLane<D>| {
            let message = &of.message;
            let injector = common.unwrap_or_else(|| {
                let (injector, draws) = self.injector_of(router, node, message, key);
                tries_again.set(tries_again.get() || self.tries_again(router, node, message, (key, draws)));
                injector
            });
            Some(injector).filter(|injector| common.is_some() || has_room(injector))
        };
        let sent = if any_room { lane.next(place, InLane::rest) } else { None };
        let Some((injector, InLane { message, offsets })) = sent else {
            self.endpoints[node as usize].held_up |= !tries_again.get();
            return tries_again.get();
        };
        let (source, topology) = (NodeId(self.first + node), &*rules.topology);
        let offsets = if is_switched!(rules.layout, L) {
            [0; D]
        } else if is_of_port {
            offsets
        } else {
            let route = rules.requests.route(topology, source, message.destination, key);
            std::array::from_fn(|dimension| route[dimension])
        };
        let packet = self.packet(node, &message, (key, sequence), offsets);
        self.buffer(router, node, injector, packet);
        self.report.injected += 1;
        self.senders[node as usize].sequence += 1;
        if message.packets == 1 {
            self.report.sent.push(message.slot);
        }
        // A full source buffer says when it has room again.
        !lane.is_empty() && (self.due.is_empty() || tries_again.get() || self.buffer_has_room(node as usize, injector))
    }
}
