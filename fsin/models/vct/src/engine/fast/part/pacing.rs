//! Packets on links where some link passes less than a phit in each cycle.
//!
//! A started packet still never waits for room or for another packet, so all cycles in which its phits leave a node are
//! known when its header leaves: each phit leaves when it has arrived and the link can begin it. The cycles of all
//! phits are kept with the packet, since a packet is stretched by a slow link and contracts where its header waits.
//!
//! The queue is left with the tail; the channel and the link become free when the tail has crossed: in the cycle before
//! the link can begin another phit.
//!
//! Decision: docs/decisions/0219-links-of-unlike-rate.md.

use std::collections::VecDeque;

use fsin_core::ring::Ring;
use fsin_core::topology::switched::{Pace, PacedLink};
use fsin_core::topology::{Port, Switched};
use trgen::NodeId;

use super::super::mask::Mask;
use super::super::rules::Rules;
use super::super::state::Router;
use super::{Left, Works};
use crate::router::layout::Layout;

/// What becomes free at the end of a cycle.
#[derive(Clone, Copy, Debug)]
enum Departure {
    /// The place of a packet in a queue, which its tail has left.
    Place { node: u32, behind: u32, input: u16 },
    /// An output channel and its link, which a tail has crossed.
    Link { node: u32, output: u16 },
}

/// Links and the packets on them.
#[derive(Debug)]
pub(super) struct Pacing {
    /// By node and port: the link that leaves there.
    links: Vec<PacedLink>,
    /// \[cycles\] By node and port: from the cycle in which a phit leaves to the first in which it can leave the next
    /// node.
    hops: Vec<u32>,
    /// \[cycle\] By packet and phit: the first cycle in which the phit can leave its present node. Undefined for
    /// packets that have not left their source.
    times: Vec<u64>,
    /// \[phits\] Length of a packet.
    length: usize,
    /// \[cycles\] How far ahead departures may be.
    longest: u64,
    /// Departures to come.
    departures: Ring<Departure>,
}

impl Pacing {
    /// The links of `count` nodes from number `first` on.
    pub(super) fn new<L: Layout>(rules: &Rules<L>, first: usize, count: usize) -> Self {
        let topology = &*rules.topology;
        let ports = rules.layout.shape().ports();
        let (mut links, mut hops) = (Vec::new(), Vec::new());
        for at in 0..count * ports {
            let (node, port) = (NodeId::at(first + at / ports), Port::at(at % ports));
            let pace = topology.switched().map_or(Pace::FULL, |network| network.pace(node, port));
            let there = topology.neighbour(node, port);
            links.push(PacedLink::new(pace));
            hops.push(there.map_or(0, |there| rules.hop_delays.to(there.index(), port.index()) + 1));
        }
        let crossing = topology.switched().map_or(1, Switched::longest_crossing);
        let longest = u64::from(crossing) * u64::from(rules.packet_phits) + 2;
        let length = rules.packet_phits as usize;
        Self { links, hops, times: Vec::new(), length, longest, departures: Ring::new(longest) }
    }

    /// \[cycles\] From a header's departure, at least the longest time until its tail has crossed the link or been
    /// ejected: phits never follow each other more slowly than on the slowest link, but for the rounding of a cycle.
    pub(super) const fn longest(&self) -> u64 {
        self.longest
    }

    /// The first cycle from `now` on in which something becomes free.
    pub(super) fn next(&self, now: u64) -> Option<u64> {
        self.departures.next(now)
    }

    /// Takes the times of a packet's phits from another partition.
    pub(super) fn receive(&mut self, packet: u32, times: &mut VecDeque<u64>) {
        for kept in self.of_packet(packet) {
            *kept = times.pop_front().unwrap_or(0);
        }
    }

    /// \[cycle\] The last cycle in which the tail of a packet is on the link that its header has begun to cross.
    pub(super) fn last_off(&mut self, packet: u32) -> u64 {
        self.of_packet(packet).last().map_or(0, |ready| ready - 1)
    }

    /// By phit: the first cycle in which it can leave.
    fn of_packet(&mut self, packet: u32) -> &mut [u64] {
        let first = packet as usize * self.length;
        if self.times.len() < first + self.length {
            self.times.resize(first + self.length, 0);
        }
        &mut self.times[first..][..self.length]
    }
}

impl<L: Layout, M: Mask, const D: usize, const Q: usize, const P: usize> Works<L, M, D, Q, P> {
    /// Lets a packet, whose header leaves in this cycle, cross a link to `next`.
    pub(super) fn cross_paced(&mut self, left: Left, packet: u32, next: u32) {
        let Some(pacing) = &mut self.pacing else { return };
        let Left { node, behind, output, input } = left;
        let is_in_transit = usize::from(input) < self.rules.outputs();
        let place = self.rules.place(node, self.rules.port_of(output.into()));
        let (mut link, hop) = (pacing.links[place], u64::from(pacing.hops[place]));
        let mut last = self.clock;
        for (index, time) in pacing.of_packet(packet).iter_mut().enumerate() {
            // Injection moves a phit in each cycle, which no link outruns.
            let ready = if is_in_transit && index > 0 { *time } else { self.clock };
            last = ready.max(link.next());
            debug_assert!(index > 0 || last == self.clock, "a header leaves over a free link");
            link.begin(last);
            *time = last + hop;
        }
        pacing.links[place] = link;
        pacing.departures.add(last, Departure::Place { node, behind, input });
        pacing.departures.add(last.max(link.next() - 1), Departure::Link { node, output });
        if let Some(abroad) = next.checked_sub(self.own) {
            let part = self.border[abroad as usize].part;
            self.outbox[part as usize].times.extend(pacing.of_packet(packet).iter());
        }
        self.moves_until(last + hop - 1);
    }

    /// \[cycle\] The cycle in which the tail of a packet is ejected whose header is ejected in this one.
    pub(super) fn last_ejected(&mut self, input: usize, packet: u32) -> u64 {
        let is_in_transit = input < self.rules.outputs();
        match &mut self.pacing {
            Some(pacing) if is_in_transit => {
                let later = pacing.of_packet(packet).iter().skip(1);
                later.fold(self.clock, |last, &time| time.max(last + 1))
            }
            _ => self.clock + self.rules.tail,
        }
    }

    /// Step 4 where links are paced: the places in queues, channels and links that become free.
    pub(super) fn leave_paced(&mut self, routers: &mut [Router<M, Q, P>]) {
        let clock = self.clock;
        let Some(pacing) = &mut self.pacing else { return };
        let departures = pacing.departures.take(clock);
        self.freed.reset(departures.len());
        for &departure in &departures {
            match departure {
                Departure::Place { node, behind, input } => {
                    let router = &mut routers[node as usize];
                    if self.departed::<false>(router, node, input.into(), M::EMPTY) {
                        self.credit_behind::<false>(routers, behind, input);
                    }
                }
                Departure::Link { node, output } => {
                    let router = &mut routers[node as usize];
                    let woken = self.release::<false>(router, node, output.into());
                    self.wake(router, node, woken);
                }
            }
        }
        if let Some(pacing) = &mut self.pacing {
            pacing.departures.restore(clock, departures);
        }
    }
}
